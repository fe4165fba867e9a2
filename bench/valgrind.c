/* valgrind.c - counts what a peer executes where neither the processor's counter nor its trap flag
 * can: steps of milliseconds, in virtual machines.
 *
 * Two runs differ only in their number of steps, so that the difference of their counts is that of
 * the steps, whatever loading costs. */
#include "valgrind.h"

#include "process.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { WORDS = 8 };

/* The sum over threads of what the tool writes at its end; 0: it wrote nothing. */
static double read_log(const char *name) {
  static const char label[] = "Total instructions: ";
  char line[512];
  double sum = 0;
  FILE *file = fopen(name, "r");
  while (file && fgets(line, sizeof line, file)) {
    const char *at = strstr(line, label);
    if (at) sum += strtod(at + strlen(label), NULL);
  }
  if (file) (void)fclose(file);
  return sum;
}

static bool make_steps(const char *const *argv, int32_t steps) {
  tbi_process process;
  char engine[64], trouble[256], question[64];
  double made = 0;
  if (!tbi_process_greet(&process, argv, engine, trouble, sizeof trouble)) return false;
  (void)snprintf(question, sizeof question, "step %d 1e9\n", (int)steps);
  bool ok = tbi_process_ask(&process, question, &made, 1) && made == steps;
  return tbi_process_stop(&process) && ok;
}

static double count_run(const tbi_valgrind *v, int32_t steps) {
  char log[256], option[300];
  FILE *file = tbi_process_file(log, ".log");
  if (!file) return (double)NAN;
  (void)fclose(file);
  (void)snprintf(option, sizeof option, "--log-file=%s", log);
  const char *argv[6 + WORDS] = {"valgrind", "--tool=exp-bbv", "--instr-count-only=yes",
                                 "--bb-out-file=/dev/null", option};
  for (int i = 0; i < WORDS && v->argv[i]; ++i)
    argv[5 + i] = v->argv[i];
  double count = make_steps(argv, steps) ? read_log(log) : 0;
  (void)unlink(log);
  return count > 0 ? count : (double)NAN;
}

double tbi_valgrind_count(const tbi_valgrind *v) {
  double before = count_run(v, v->warm);
  if (isnan(before)) return before;
  return (count_run(v, v->warm + v->steps) - before) / v->steps;
}

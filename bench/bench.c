/* bench.c - the command line of `tabi bench`. */
#include "bench.h"

#include "measure.h"
#include "process.h"
#include "workload_batch.h"
#include "workload_box_drop.h"
#include "workload_contact.h"
#include "workload_dynamics.h"
#include "workload_engines.h"
#include "workload_turn.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

const char tbi_bench_text[] =
    "Measures tabi on this machine.  Every row is a function of a workload: microseconds and\n"
    "instructions per call, and the error of its result.  NAME selects rows by the start of\n"
    "their name; without one, all rows are measured.\n\n"
    "examples:\n"
    "  tabi bench dynamics                 rigid-body algorithms: a robot, chains and trees\n"
    "  tabi bench dynamics/robot --peers   one robot, compared with MuJoCo\n"
    "  tabi bench dynamics/chain100/aba    one row\n"
    "  tabi bench contact                  whole steps: a standing robot, soles with many contact\n"
    "                                      points, piles of boxes\n"
    "  tabi bench contact/stand --peers    the standing robot, compared with MuJoCo\n"
    "  tabi bench drop                     a box falls on springs: largest stable time steps\n"
    "  tabi bench engines --peers          the same scenes in tabi, MuJoCo, Bullet, ODE and DART\n"
    "  tabi bench engines/pile100 --peers  one of these scenes\n"
    "  tabi bench batch --peers            many worlds at once, and MuJoCo on as many threads\n"
    "  tabi bench turn                     worlds of one thread, one step each in turn\n\n"
    "options:\n"
    "  --list               list the names of all rows\n"
    "  --peers              measure other engines too; says which are not installed\n"
    "  --model FILE         robot with a free base; default: models/humanoid36.urdf.  For MJCF,\n"
    "                       contact/stand holds the posture of the first keyframe\n"
    "  --count              count instructions by single-stepping where the processor has no\n"
    "                       counter; slow\n"
    "  --calls N            make N calls of each row and print nothing, for profilers\n"
    "  --worlds N           worlds of batch; default 1024\n"
    "  --threads T          threads of batch; default 1\n"
    "  --json               print one JSON object instead of tables\n";

static const struct {
  void (*list)(tbi_bench_visit *visit, void *user);
  int (*run)(const tbi_bench_options *options, tbi_report *report);
} workloads[] = {
    {tbi_bench_dynamics_list, tbi_bench_dynamics},
    {tbi_bench_contact_list,  tbi_bench_contact },
    {tbi_bench_drop_list,     tbi_bench_drop    },
    {tbi_bench_engines_list,  tbi_bench_engines },
    {tbi_bench_batch_list,    tbi_bench_batch   },
    {tbi_bench_turn_list,     tbi_bench_turn    }
};
enum { NWORKLOAD = sizeof workloads / sizeof workloads[0] };

void tbi_bench_shipped_file(const char *name, char *path, size_t size) {
  char self[3072];
  char *slash = tbi_process_self(self, sizeof self) ? strrchr(self, '/') : NULL;
  if (slash) *slash = '\0';
  (void)snprintf(path, size, "%s/" TABI_DATA_FROM_BIN "/%s", slash ? self : ".", name);
  if (access(path, R_OK) != 0) (void)snprintf(path, size, TABI_DATA "/%s", name);
}

void tbi_bench_shipped_robot(char *path, size_t size) {
  tbi_bench_shipped_file("models/humanoid36.urdf", path, size);
}

void tbi_bench_progress(const tbi_bench_options *options, const char *what) {
  if (!options->json || !isatty(STDERR_FILENO)) return;
  (void)fprintf(stderr, "\r\033[K%s", what);
  (void)fflush(stderr);
}

int tbi_bench_fail(const tabi_error *err) {
  char text[1024];
  (void)tabi_error_text(err, "error", text, sizeof text);
  (void)fprintf(stderr, "%s\n", text);
  return err->status == TABI_ERR_MEMORY ? TBI_BENCH_INTERNAL : TBI_BENCH_INPUT;
}

bool tbi_bench_wants(const tbi_bench_options *options, const char *row) {
  for (int32_t i = 0; i < options->nname; ++i) {
    size_t length = strlen(options->names[i]);
    if (strncmp(row, options->names[i], length) != 0) continue;
    if (row[length] == '\0' || row[length] == '/') return true;
  }
  return options->nname == 0;
}

static void print_row(void *user, const char *row) {
  if (tbi_bench_wants(user, row)) (void)puts(row);
}

static int usage_error(const char *what, const char *word) {
  (void)fprintf(stderr, "tabi: error: %s '%s'; see tabi help bench\n", what, word);
  return TBI_BENCH_USAGE;
}

/* The value of an option that has one, as "--calls N"; *i moves on to it. */
static const char *value_of(const char *option, int argc, char **argv, int *i) {
  if (strcmp(argv[*i], option) != 0 || *i + 1 >= argc) return NULL;
  return argv[++*i];
}

static bool parse_calls(const char *text, int32_t *calls) {
  char *end = NULL;
  long n = strtol(text, &end, 10);
  if (*end != '\0' || n < 1 || n > 1000000000) return false;
  *calls = (int32_t)n;
  return true;
}

/* Names are moved to the front of argv. */
static int parse(int argc, char **argv, tbi_bench_options *options) {
  *options = (tbi_bench_options){.names = argv};
  const struct {
    const char *name;
    bool *flag;
  } switches[] = {
      {"--list",  &options->list },
      {"--json",  &options->json },
      {"--peers", &options->peers},
      {"--count", &options->count}
  };
  for (int i = 0; i < argc; ++i) {
    const char *value = NULL;
    bool known = false;
    for (size_t s = 0; s < sizeof switches / sizeof switches[0]; ++s)
      if (strcmp(argv[i], switches[s].name) == 0) known = *switches[s].flag = true;
    if (known) continue;
    if ((value = value_of("--model", argc, argv, &i))) {
      options->model = value;
    } else if ((value = value_of("--calls", argc, argv, &i))) {
      if (!parse_calls(value, &options->calls)) return usage_error("not a number of calls:", value);
    } else if ((value = value_of("--worlds", argc, argv, &i))) {
      if (!parse_calls(value, &options->worlds))
        return usage_error("not a number of worlds:", value);
    } else if ((value = value_of("--threads", argc, argv, &i))) {
      if (!parse_calls(value, &options->threads) || options->threads > 256)
        return usage_error("not a number of threads:", value);
    } else if (argv[i][0] == '-') {
      return usage_error("unknown option, or one without its value:", argv[i]);
    } else {
      argv[options->nname++] = argv[i];
    }
  }
  return TBI_BENCH_OK;
}

/* Counts the rows below one name. */
typedef struct name_use {
  tbi_bench_options only;
  int32_t count;
} name_use;

static void count_row(void *user, const char *row) {
  name_use *use = user;
  use->count += tbi_bench_wants(&use->only, row);
}

static int check_names(const tbi_bench_options *options) {
  for (int32_t i = 0; i < options->nname; ++i) {
    name_use use = {
        .only = {.nname = 1, .names = &options->names[i]}
    };
    for (size_t w = 0; w < NWORKLOAD; ++w)
      workloads[w].list(count_row, &use);
    if (use.count == 0) return usage_error("no row has the name", options->names[i]);
  }
  return TBI_BENCH_OK;
}

static int measure(const tbi_bench_options *options) {
  tbi_report report = {0};
  int code = TBI_BENCH_OK;
  tbi_measure_pin();
  for (size_t w = 0; w < NWORKLOAD && code == TBI_BENCH_OK; ++w)
    code = workloads[w].run(options, &report);
  tbi_bench_progress(options, "");
  bool object = code == TBI_BENCH_OK && options->json && options->calls == 0;
  if (object && !tbi_report_print_json(&report)) code = TBI_BENCH_INTERNAL;
  tbi_report_free(&report);
  return code;
}

int tbi_bench_run(int argc, char **argv) {
  tbi_bench_options options;
  int code = parse(argc, argv, &options);
  if (code == TBI_BENCH_OK) code = check_names(&options);
  if (code != TBI_BENCH_OK) return code;
  if (!options.list) return measure(&options);
  for (size_t w = 0; w < NWORKLOAD; ++w)
    workloads[w].list(print_row, &options);
  return TBI_BENCH_OK;
}

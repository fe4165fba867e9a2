/* instruction_count.c - counts instructions by the trap flag: the processor interrupts after every
 * one, and the handler of that signal counts.
 *
 * Thousands of times slower than the call, but exact, the same on every run, and possible where a
 * virtual machine hides the counters of the processor. */
#include "instruction_count.h"

#include <math.h>

#ifdef __x86_64__

#include <signal.h>
#include <stdbool.h>
#include <string.h>
#include <ucontext.h>

static const double longest_call = 5e-4; /* s */
enum { TRAP_FLAG = 0x100 };

static volatile sig_atomic_t stepping;
static volatile int64_t steps;

/* The flags return to the processor with the handler's end, so this is where stepping starts and
 * ends too. */
static void on_trap(int number, siginfo_t *info, void *context) {
  (void)number;
  (void)info;
  greg_t *flags = &((ucontext_t *)context)->uc_mcontext.gregs[REG_EFL];
  *flags = stepping ? *flags | TRAP_FLAG : *flags & ~(greg_t)TRAP_FLAG;
  ++steps;
}

static double count_steps(const tbi_subject *subject, int32_t calls) {
  struct sigaction action, before;
  memset(&action, 0, sizeof action);
  action.sa_sigaction = on_trap;
  action.sa_flags = SA_SIGINFO;
  if (sigaction(SIGTRAP, &action, &before) != 0) return nan("");
  steps = 0;
  stepping = 1;
  bool ok = raise(SIGTRAP) == 0;
  subject->run(subject->self, calls);
  stepping = 0;
  ok = sigaction(SIGTRAP, &before, NULL) == 0 && ok;
  if (!ok) return nan("");
  return (double)steps;
}

double tbi_count_instructions(const tbi_subject *subject) {
  if (subject->best > longest_call) return nan("");
  double without = count_steps(subject, 0);
  return count_steps(subject, 1) - without;
}

#else

double tbi_count_instructions(const tbi_subject *subject) {
  (void)subject;
  return nan("");
}

#endif

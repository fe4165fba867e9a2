/* measure.c - CPU time in alternating blocks, and the processor's own instruction counter.
 *
 * The minimum over blocks estimates the undisturbed cost; the median says how far a typical block
 * is from it.  A block is long enough (about a millisecond) for the clock's resolution to vanish
 * and short enough for many to escape interruption. */
#include "measure.h"

#include <linux/perf_event.h>
#include <math.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static const double block_seconds = 1e-3;

void tbi_measure_pin(void) {
  int cpu = sched_getcpu();
  if (cpu < 0) return;
  cpu_set_t set;
  CPU_ZERO(&set);
  CPU_SET((unsigned)cpu, &set);
  // without the right to pin, the measurement is only noisier
  (void)sched_setaffinity(0, sizeof set, &set);
}

double tbi_measure_clock(void) {
  struct timespec now = {0};
  if (clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now) != 0) return nan("");
  return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* Doubles the block until it is long enough; warms caches and branch predictors on the way. */
static void calibrate(tbi_subject *subject) {
  subject->calls = subject->unit > 0 ? subject->unit : 1;
  double seconds = subject->run(subject->self, subject->calls);
  while (seconds < block_seconds && subject->calls < 1 << 24) {
    subject->calls *= 2;
    seconds = subject->run(subject->self, subject->calls);
  }
}

static int compare_doubles(const void *a, const void *b) {
  double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

void tbi_measure_time(tbi_subject *subjects, int32_t count) {
  for (int32_t i = 0; i < count; ++i)
    calibrate(&subjects[i]);
  for (int32_t block = 0; block < TBI_MEASURE_BLOCKS; ++block)
    for (int32_t i = 0; i < count; ++i) {
      tbi_subject *s = &subjects[i];
      s->times[block] = s->run(s->self, s->calls) / s->calls;
    }
  for (int32_t i = 0; i < count; ++i) {
    tbi_subject *s = &subjects[i];
    qsort(s->times, TBI_MEASURE_BLOCKS, sizeof s->times[0], compare_doubles);
    s->best = s->times[0];
    s->median = s->times[TBI_MEASURE_BLOCKS / 2];
  }
}

double tbi_measure_instructions(const tbi_subject *subject) {
  struct perf_event_attr attr;
  memset(&attr, 0, sizeof attr);
  attr.size = sizeof attr;
  attr.type = PERF_TYPE_HARDWARE;
  attr.config = PERF_COUNT_HW_INSTRUCTIONS;
  attr.disabled = 1;
  attr.exclude_kernel = 1;
  attr.exclude_hv = 1;
  int counter = (int)syscall(SYS_perf_event_open, &attr, 0, -1, -1, 0);
  if (counter < 0) return nan("");

  uint64_t count = 0;
  (void)ioctl(counter, PERF_EVENT_IOC_ENABLE, 0);
  subject->run(subject->self, subject->calls);
  (void)ioctl(counter, PERF_EVENT_IOC_DISABLE, 0);
  ssize_t got = read(counter, &count, sizeof count);
  (void)close(counter);
  if (got != sizeof count || count == 0) return nan("");
  return (double)count / subject->calls;
}

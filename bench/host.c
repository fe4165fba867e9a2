/* host.c - steps an engine and looks at the clock, so that all are timed by the same lines. */
#include "host.h"

#include "count.h"
#include "measure.h"

#include <math.h>

static const double glance = 1e-3; /* s between looks at the clock, which cost time too */

void tbi_host_close(tbi_host *host) {
  if (host->self) host->engine->close(host->self);
  host->self = NULL;
}

const char *tbi_host_reset(tbi_host *host) {
  const char *trouble = "it does not start";
  tbi_host_close(host);
  host->self = host->engine->open(host, &trouble);
  host->at = 0;
  return host->self ? NULL : trouble;
}

static double run(void *self, int32_t calls) {
  tbi_host *host = self;
  const tbi_plain *p = host->plain;
  double start = tbi_measure_clock();
  for (int32_t i = 0; i < calls; ++i) {
    int32_t row = host->at < p->nstep ? host->at : p->nstep - 1;
    host->engine->step(host->self, row < 0 ? NULL : p->aim + (size_t)row * (size_t)p->nbody);
    ++host->at;
  }
  return tbi_measure_clock() - start;
}

tbi_host_time tbi_host_step(tbi_host *host, int32_t steps, double budget) {
  tbi_host_time t = {0};
  int32_t next = 1;
  while (t.steps < steps && t.seconds < budget) {
    int32_t count = next < steps - t.steps ? next : steps - t.steps;
    double seconds = run(host, count);
    t.seconds += seconds;
    t.steps += count;
    t.contacts += (double)count * host->engine->contacts(host->self);
    if (seconds < glance) next = 2 * count;
  }
  if (t.steps > 0) t.contacts /= t.steps;
  return t;
}

double tbi_host_count(tbi_host *host) {
  tbi_subject subject = {.run = run, .self = host, .calls = 1};
  subject.best = run(host, 1);
  double instructions = tbi_measure_instructions(&subject);
  return isnan(instructions) ? tbi_count_instructions(&subject) : instructions;
}

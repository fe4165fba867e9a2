/* engine.c - steps an engine and looks at the clock, so that all are timed by the same lines. */
#include "engine.h"

#include "instruction_count.h"
#include "measure.h"

#include <math.h>

static const double glance = 1e-3; /* s between looks at the clock, which cost time too */

void tbi_engine_close(tbi_engine_instance *instance) {
  if (instance->self) instance->engine->close(instance->self);
  instance->self = NULL;
}

const char *tbi_engine_reset(tbi_engine_instance *instance) {
  const char *trouble = "it does not start";
  tbi_engine_close(instance);
  instance->self = instance->engine->open(instance, &trouble);
  instance->at = 0;
  return instance->self ? NULL : trouble;
}

static double run(void *self, int32_t calls) {
  tbi_engine_instance *instance = self;
  const tbi_neutral_scene *p = instance->neutral;
  double start = tbi_measure_clock();
  for (int32_t i = 0; i < calls; ++i) {
    int32_t row = instance->at < p->nstep ? instance->at : p->nstep - 1;
    instance->engine->step(instance->self,
                           row < 0 ? NULL : p->aim + (size_t)row * (size_t)p->nbody);
    ++instance->at;
  }
  return tbi_measure_clock() - start;
}

tbi_engine_time tbi_engine_step(tbi_engine_instance *instance, int32_t steps, double budget) {
  tbi_engine_time t = {0};
  int32_t next = 1;
  while (t.steps < steps && t.seconds < budget) {
    int32_t count = next < steps - t.steps ? next : steps - t.steps;
    double seconds = run(instance, count);
    t.seconds += seconds;
    t.steps += count;
    t.contacts += (double)count * instance->engine->contacts(instance->self);
    if (seconds < glance) next = 2 * count;
  }
  if (t.steps > 0) t.contacts /= t.steps;
  return t;
}

double tbi_engine_count(tbi_engine_instance *instance) {
  tbi_subject subject = {.run = run, .self = instance, .calls = 1};
  subject.best = run(instance, 1);
  double instructions = tbi_measure_instructions(&subject);
  return isnan(instructions) ? tbi_count_instructions(&subject) : instructions;
}

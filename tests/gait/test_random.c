/* test_random.c - a thousand bipeds (fewer under sanitizers) from random postures, pushed by random
 * torques, mostly to their fall: whatever happens, only the changes of the published table occur,
 * and those that were added where soles do not pull; impacts take energy; feet that touch push and
 * are on the ground; and every end has a name. */
#include "gait/biped.h"

#include "support/rng.h"

#include <stdio.h>
#include <string.h>

enum { RUNS = TEST_SHORT ? 40 : 1000 };

/* The published changes, written down once more from the drawing of the gaits. */
static const char *const published[][2] = {
    {"1",  "2" },
    {"1",  "1'"},
    {"2",  "3" },
    {"2",  "2'"},
    {"2",  "1" },
    {"3",  "4" },
    {"4",  "1" },
    {"1'", "2'"},
    {"1'", "1" },
    {"2'", "3'"},
    {"2'", "2" },
    {"2'", "1'"},
    {"3'", "4" },
    {"3'", "3" },
 /* not drawn, but without them a landed foot would pull */
    {"3",  "1" },
    {"3'", "1'"},
};
#define NPUBLISHED (sizeof published / sizeof published[0])

static const char *const gaits[] = {"1", "2", "3", "4", "1'", "2'", "3'"};
#define NGAIT (sizeof gaits / sizeof gaits[0])

typedef struct tally {
  int visited[NGAIT];
  int outcome[TABI_GAIT_OUTCOME_COUNT];
  int changes, steps, zeno_holds;
  double worst_gain, worst_pull, worst_height;
} tally;

static bool is_published(const char *from, const char *to) {
  for (size_t i = 0; i < NPUBLISHED; ++i) {
    if (strcmp(from, published[i][0]) == 0 && strcmp(to, published[i][1]) == 0) return true;
  }
  return false;
}

static void visit(tally *t, const char *mode) {
  for (size_t i = 0; i < NGAIT; ++i)
    t->visited[i] += strcmp(mode, gaits[i]) == 0;
}

static void check_events(const biped *b, tally *t) {
  int32_t count;
  const tabi_gait_event *event = tabi_world_gait_events(b->world, &count);
  for (int32_t i = 0; i < count; ++i) {
    const tabi_gait_event *e = &event[i];
    bool impact = strstr(e->cause, "lands") || strstr(e->cause, "returns");
    if (impact) t->worst_gain = fmax(t->worst_gain, -e->dissipated);
    visit(t, e->to);
    ++t->changes;
    if (strcmp(e->from, e->to) == 0 || b->def.guards == TABI_GAIT_STRICT) continue;
    if (!is_published(e->from, e->to)) fail_msg("%s to %s by '%s'", e->from, e->to, e->cause);
  }
}

static void check_contacts(const biped *b, tally *t) {
  int32_t count;
  const tabi_contact *contact = tabi_world_contacts(b->world, &count);
  tabi_gait_state s = tabi_world_gait_state(b->world);
  if (s.outcome != TABI_GAIT_ONGOING) return;
  for (int32_t i = 0; i < count; ++i)
    t->worst_height = fmax(t->worst_height, fabs(contact[i].gap));
  t->worst_pull = fmax(t->worst_pull, -s.normal);
  if (b->def.guards == TABI_GAIT_STRICT)
    t->worst_pull = fmax(t->worst_pull, -fmin(s.heel_force, s.toe_force));
}

static void randomise(biped *b, rng *r) {
  for (int i = 0; i < BIPED_ANGLES; ++i)
    b->angle[i] = biped_six[i] + rng_between(r, -0.35, 0.35);
  for (int k = 0; k < 2; ++k) {
    b->force[0].amplitude[k] *= rng_between(r, -1, 3);
    b->force[0].period[k] = rng_between(r, 1.5, 5);
    b->force[1].amplitude[k] *= rng_between(r, 0, 2);
  }
  b->def.friction = rng_between(r, 0, 1.2);
  if (rng_below(r, 4) == 0) b->def.impact = TABI_GAIT_COULOMB;
  if (rng_below(r, 4) == 0) b->def.pivot_damping = 0;
}

static void run(biped *b, tally *t) {
  b->timestep = 0.02;
  biped_open(b);
  visit(t, tabi_world_gait_state(b->world).mode);
  while (tabi_world_time(b->world) < 2 && biped_step(b)) {
    check_events(b, t);
    check_contacts(b, t);
  }
  tabi_gait_state s = tabi_world_gait_state(b->world);
  ++t->outcome[s.outcome];
  t->steps += s.steps;
  t->zeno_holds += s.zeno_holds;
  biped_close(b);
}

static void judge(const tally *t, const char *name) {
  for (size_t i = 0; i < NGAIT; ++i)
    print_message("%s: gait %s entered %d times\n", name, gaits[i], t->visited[i]);
  for (int i = 0; i < TABI_GAIT_OUTCOME_COUNT; ++i)
    print_message("%s: %d %s\n", name, t->outcome[i], tabi_gait_outcome_text((tabi_gait_outcome)i));
  print_message("%s: %d changes, %d steps, %d crowds; gain %.1e J, pull %.1e N, height %.1e m\n",
                name, t->changes, t->steps, t->zeno_holds, t->worst_gain, t->worst_pull,
                t->worst_height);
  assert_true(t->worst_gain < 1e-9);
  assert_true(t->worst_pull < 1e-6);
  assert_true(t->worst_height < 1e-9);
  for (size_t i = 0; i < NGAIT && !TEST_SHORT; ++i)
    assert_true(t->visited[i] > 0);
}

static void as_published(void **state) {
  (void)state;
  tally t = {0};
  for (uint64_t seed = 1; seed <= RUNS * 7 / 10; ++seed) {
    rng r = rng_make(seed);
    biped b = biped_default();
    randomise(&b, &r);
    run(&b, &t);
  }
  judge(&t, "published");
}

static void strict(void **state) {
  (void)state;
  tally t = {0};
  for (uint64_t seed = 1; seed <= RUNS * 3 / 10; ++seed) {
    rng r = rng_make(1000000 + seed);
    biped b = biped_default();
    b.def.guards = TABI_GAIT_STRICT;
    if (rng_below(&r, 2) == 0) b.def.support_friction = rng_between(&r, 0.1, 1);
    randomise(&b, &r);
    run(&b, &t);
  }
  judge(&t, "strict");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(as_published),
      cmocka_unit_test(strict),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

/* test_memory.c - a step allocates nothing, whatever the contact method, and a world is one block.
 */
#include "support/heap.h"
#include "support/near.h"
#include "support/rng.h"
#include "support/scene_build.h"

#include <stdlib.h>

/* every shape that rests on another one, and a robot with every sensor */
static scene begin_all(void) {
  scene s = scene_begin();
  rng r = rng_make(2);
  int32_t stuff = scene_material(&s, 0.5, 0.1);
  scene_plane(&s, 0, stuff);
  const tabi_shape_type type[4] = {TABI_SHAPE_SPHERE, TABI_SHAPE_CAPSULE, TABI_SHAPE_CYLINDER,
                                   TABI_SHAPE_BOX};
  for (int i = 0; i < 12; ++i) {
    double x = 1 + rng_between(&r, -0.1, 0.1);
    double y = rng_between(&r, -0.1, 0.1);
    v3 at = v3_make(x, y, 0.15 + 0.2 * i);
    int32_t link = scene_free(&s, 1, v3_make(0.01, 0.01, 0.01), at);
    v3 size = i % 4 == 3 ? v3_make(0.2, 0.15, 0.1) : v3_make(0.07, 0.1, 0);
    scene_shape(&s, type[i % 4], link, size, stuff);
  }
  (void)scene_humanoid(&s, 0.64869739811465);
  tabi_sensor_def sensor = tabi_sensor_def_default();
  sensor.link = tabi_builder_find_link(s.builder, "l_foot");
  sensor.joint = tabi_builder_find_joint(s.builder, "l_ankle_roll");
  sensor.noise[0] = 0.1;
  sensor.delay = 0.01;
  for (int i = 0; i < TABI_SENSOR_COUNT; ++i) {
    sensor.type = (tabi_sensor_type)i;
    assert_int_equal(tabi_builder_add_sensor(s.builder, &sensor), i);
  }
  return s;
}

static long calls_in(void (*change)(tabi_world_def *def)) {
  scene s = begin_all();
  tabi_world_def def = scene_def(&s);
  change(&def);
  long before = heap_calls();
  scene_open(&s, &def);
  assert_int_equal(heap_calls() - before, 1);
  scene_crouch(&s, 2000, 50, true);
  before = heap_calls();
  /* impulse as published gives energy without end, in time */
  scene_run(&s, (int64_t)((TEST_SHORT || def.contact >= TABI_CONTACT_METHODS ? 0.25 : 0.6) /
                          def.timestep));
  (void)tabi_world_energy(s.world);
  long calls = heap_calls() - before;
  int32_t count;
  (void)tabi_world_contacts(s.world, &count);
  assert_true(count >= 8); /* the soles, and what has fallen by then */
  scene_close(&s);
  return calls;
}

static void as_cone(tabi_world_def *def) { def->contact = TABI_CONTACT_CONE; }
static void as_lcp(tabi_world_def *def) { def->contact = TABI_CONTACT_LCP; }
static void as_exact(tabi_world_def *def) { def->contact = TABI_CONTACT_EXACT; }
static void as_fallback(tabi_world_def *def) {
  def->fallback = TABI_FALLBACK_EXACT;
  def->iterations = 2;
}
static void as_paper(tabi_world_def *def) { def->contact = TABI_CONTACT_CONE_PAPER; }
static void as_dense(tabi_world_def *def) {
  def->contact = TABI_CONTACT_CONE_PAPER;
  def->cone.storage = TABI_STORAGE_DENSE;
}
static void as_dense_lcp(tabi_world_def *def) {
  def->contact = TABI_CONTACT_LCP_PAPER;
  def->lcp.storage = TABI_STORAGE_DENSE;
}
static void as_penalty(tabi_world_def *def) { def->contact = TABI_CONTACT_PENALTY; }
static void as_penalty_paper(tabi_world_def *def) { def->contact = TABI_CONTACT_PENALTY_PAPER; }
/* explicit springs need small steps */
static void as_penalty_rk4(tabi_world_def *def) {
  def->contact = TABI_CONTACT_PENALTY;
  def->integrator = TABI_RK4;
  def->timestep = 4e-4;
}
static void as_impulse(tabi_world_def *def) { def->contact = TABI_CONTACT_IMPULSE; }
static void as_impulse_paper(tabi_world_def *def) { def->contact = TABI_CONTACT_IMPULSE_PAPER; }
static void as_midpoint(tabi_world_def *def) { def->integrator = TABI_MIDPOINT; }
static void as_rk4(tabi_world_def *def) { def->integrator = TABI_RK4; }
static void as_euler(tabi_world_def *def) { def->integrator = TABI_EULER; }

static void steps_allocate_nothing(void **state) {
  (void)state;
  assert_int_equal(calls_in(as_cone), 0);
  assert_int_equal(calls_in(as_lcp), 0);
  assert_int_equal(calls_in(as_exact), 0);
  assert_int_equal(calls_in(as_fallback), 0);
  assert_int_equal(calls_in(as_paper), 0);
  assert_int_equal(calls_in(as_dense), 0);
  assert_int_equal(calls_in(as_dense_lcp), 0);
  assert_int_equal(calls_in(as_midpoint), 0);
  assert_int_equal(calls_in(as_rk4), 0);
  assert_int_equal(calls_in(as_euler), 0);
}

static void soft_and_impulsive_steps_too(void **state) {
  (void)state;
  assert_int_equal(calls_in(as_penalty), 0);
  assert_int_equal(calls_in(as_penalty_paper), 0);
  assert_int_equal(calls_in(as_penalty_rk4), 0);
  assert_int_equal(calls_in(as_impulse), 0);
  assert_int_equal(calls_in(as_impulse_paper), 0);
}

/* the counter itself works */
static void counter_counts(void **state) {
  (void)state;
  long before = heap_calls();
  void *volatile block = malloc(8);
  free(block);
  assert_int_equal(heap_calls() - before, 2);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(counter_counts),
      cmocka_unit_test(steps_allocate_nothing),
      cmocka_unit_test(soft_and_impulsive_steps_too),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

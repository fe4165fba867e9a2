/* test_arrays.c - the arrays of a batch, rollouts, worlds that are looked at, and worlds that lanes
 * cannot step. */
#include "stand.h"
#include "support/near.h"

#include <stdlib.h>
#include <string.h>

static tabi_batch_def plain(int32_t worlds) {
  tabi_batch_def def = tabi_batch_def_default();
  def.worlds = worlds;
  def.threads = 2;
  return def;
}

static void arrays_have_their_sizes(void **state) {
  (void)state;
  stand t = stand_open();
  int32_t feet[2] = {tabi_model_find_link(t.model, "robot/l_foot"),
                     tabi_model_find_link(t.model, "robot/r_foot")};
  tabi_batch_def def = plain(5);
  def.nfoot = 2;
  def.foot = feet;
  tabi_batch *b = stand_batch(&t, def);
  int32_t n;
  assert_non_null(tabi_batch_array(b, TABI_BATCH_Q, &n));
  assert_int_equal(n, t.nq);
  assert_non_null(tabi_batch_array(b, TABI_BATCH_CERTIFICATE, &n));
  assert_int_equal(n, TABI_BATCH_TOLD);
  assert_null(tabi_batch_array(b, TABI_BATCH_MASS, &n));
  assert_int_equal(n, 0);
  assert_string_equal(tabi_batch_field_name(TABI_BATCH_TARGET), "target");
  assert_string_equal(tabi_batch_field_name(TABI_BATCH_DELAY), "delay");
  assert_true(tabi_batch_memory(b) < 12000);
  /* the feet bear the weight */
  tabi_batch_step(b, 1500, NULL);
  const double *foot = tabi_batch_array(b, TABI_BATCH_FOOT, &n);
  assert_int_equal(n, 12);
  for (int32_t i = 0; i < 5; ++i)
    assert_near(foot[12 * i + 2] + foot[12 * i + 8], 9.81 * tabi_model_mass(t.model), 0.5);
  assert_int_equal(tabi_batch_steps(b)[4], 1500);
  tabi_batch_destroy(b);
  stand_close(&t);
}

static void active_masks_are_obeyed(void **state) {
  (void)state;
  stand t = stand_open();
  tabi_batch *b = stand_batch(&t, plain(11));
  stand_scatter(b, 0.1);
  uint8_t active[11] = {0};
  active[4] = active[10] = 1;
  uint64_t before[11];
  for (int32_t i = 0; i < 11; ++i)
    before[i] = stand_hash(b, i);
  assert_int_equal(tabi_batch_step(b, 3, active), 0);
  for (int32_t i = 0; i < 11; ++i) {
    assert_true((stand_hash(b, i) != before[i]) == (active[i] != 0));
    assert_int_equal(tabi_batch_steps(b)[i], active[i] ? 3 : 0);
  }
  tabi_batch_destroy(b);
  stand_close(&t);
}

static void rollout_is_steps(void **state) {
  (void)state;
  enum { WORLDS = 9, STEPS = 12 };
  stand t = stand_open();
  tabi_batch *a = stand_batch(&t, plain(WORLDS));
  tabi_batch *b = stand_batch(&t, plain(WORLDS));
  size_t rows = (size_t)WORLDS * STEPS;
  double *targets = calloc(rows * (size_t)t.nv, sizeof *targets);
  double *q = calloc(rows * (size_t)t.nq, sizeof *q);
  double *v = calloc(rows * (size_t)t.nv, sizeof *v);
  for (size_t i = 0; i < rows * (size_t)t.nv; ++i)
    targets[i] = t.target[i % (size_t)t.nv] + 0.01 * (double)(i % 7);
  const tabi_batch_inputs inputs = {.target = targets};
  assert_int_equal(tabi_batch_rollout(a, STEPS, &inputs, q, v), 0);
  double *target = tabi_batch_array(b, TABI_BATCH_TARGET, NULL);
  const double *q_b = tabi_batch_array(b, TABI_BATCH_Q, NULL);
  for (int32_t step = 0; step < STEPS; ++step) {
    for (int32_t i = 0; i < WORLDS; ++i)
      memcpy(target + (ptrdiff_t)i * t.nv, targets + ((ptrdiff_t)i * STEPS + step) * t.nv,
             sizeof *target * (size_t)t.nv);
    tabi_batch_step(b, 1, NULL);
    for (int32_t i = 0; i < WORLDS; ++i)
      assert_memory_equal(q_b + (ptrdiff_t)i * t.nq, q + ((ptrdiff_t)i * STEPS + step) * t.nq,
                          sizeof *q * (size_t)t.nq);
  }
  free(targets);
  free(q);
  free(v);
  tabi_batch_destroy(a);
  tabi_batch_destroy(b);
  stand_close(&t);
}

static void a_world_can_be_looked_at(void **state) {
  (void)state;
  stand t = stand_open();
  tabi_batch *b = stand_batch(&t, plain(4));
  stand_scatter(b, 0.05);
  tabi_batch_step(b, 50, NULL);
  tabi_world *world = tabi_world_create(t.model, &t.world_def, NULL);
  assert_int_equal(tabi_batch_save(b, 2, world, NULL), TABI_OK);
  const double *q = tabi_batch_array(b, TABI_BATCH_Q, NULL);
  assert_near_n(tabi_world_q(world), q + 2 * (ptrdiff_t)t.nq, (size_t)t.nq, 1e-14);
  /* both go on alike */
  tabi_world_step(world, NULL);
  tabi_batch_step(b, 1, NULL);
  assert_near_n(tabi_world_q(world), q + 2 * (ptrdiff_t)t.nq, (size_t)t.nq, 1e-7);
  assert_int_equal(tabi_batch_load(b, 0, world, NULL), TABI_OK);
  assert_near_n(tabi_world_q(world), q, (size_t)t.nq, 1e-14);
  tabi_world_destroy(world);
  tabi_batch_destroy(b);
  stand_close(&t);
}

/* a method that lanes do not have: the same bits as worlds by themselves */
static void other_worlds_are_stepped_one_by_one(void **state) {
  (void)state;
  stand t = stand_open();
  t.world_def.contact = TABI_CONTACT_LCP;
  tabi_batch *b = stand_batch(&t, plain(5));
  assert_int_equal(tabi_batch_lanes(b), 0);
  assert_string_equal(tabi_batch_reason(b), "the contact method is not cone");
  tabi_world *world = tabi_world_create(t.model, &t.world_def, NULL);
  assert_int_equal(tabi_batch_save(b, 3, world, NULL), TABI_OK);
  for (int i = 0; i < 20; ++i)
    assert_int_equal(tabi_world_step_or_grow(world, NULL), TABI_OK);
  assert_int_equal(tabi_batch_step(b, 20, NULL), 0);
  const double *q = tabi_batch_array(b, TABI_BATCH_Q, NULL);
  assert_memory_equal(tabi_world_q(world), q + 3 * (ptrdiff_t)t.nq, sizeof *q * (size_t)t.nq);
  tabi_world_destroy(world);
  tabi_batch_destroy(b);
  stand_close(&t);
}

/* a pendulum at rest, with a gyro and an encoder */
static tabi_model *make_pendulum(void) {
  tabi_builder *builder = tabi_builder_create();
  tabi_link_def link = tabi_link_def_default();
  link.mass = 1;
  link.inertia[0] = link.inertia[1] = link.inertia[2] = 0.1;
  tabi_joint_def joint = tabi_joint_def_default();
  joint.type = TABI_JOINT_CONTINUOUS;
  joint.parent = TABI_WORLD;
  joint.child = tabi_builder_add_link(builder, &link);
  joint.axis[0] = joint.axis[2] = 0;
  joint.axis[1] = 1;
  int32_t hinge = tabi_builder_add_joint(builder, &joint);
  tabi_sensor_def gyro = tabi_sensor_def_default();
  gyro.type = TABI_SENSOR_GYRO;
  gyro.link = joint.child;
  gyro.noise[1] = 0.1;
  gyro.range[1] = 2.1;
  (void)tabi_builder_add_sensor(builder, &gyro);
  tabi_sensor_def encoder = tabi_sensor_def_default();
  encoder.type = TABI_SENSOR_ENCODER;
  encoder.joint = hinge;
  encoder.resolution[0] = 0.25;
  (void)tabi_builder_add_sensor(builder, &encoder);
  tabi_model *model = tabi_builder_build(builder, NULL);
  tabi_builder_destroy(builder);
  assert_non_null(model);
  return model;
}

/* turning at 2 rad/s: the mean and the spread of the noise, the range, and whole multiples */
static void sensors_are_as_imperfect_as_they_say(void **state) {
  (void)state;
  enum { WORLDS = 400 };
  tabi_model *model = make_pendulum();
  tabi_batch_def def = plain(WORLDS);
  tabi_batch *b = tabi_batch_create(model, NULL, &def, NULL);
  assert_non_null(b);
  assert_true(tabi_batch_lanes(b) > 0);
  int32_t n;
  double *v = tabi_batch_array(b, TABI_BATCH_V, NULL);
  double *q = tabi_batch_array(b, TABI_BATCH_Q, NULL);
  const double *reading = tabi_batch_array(b, TABI_BATCH_SENSOR, &n);
  assert_int_equal(n, 4);
  for (int32_t i = 0; i < WORLDS; ++i) {
    v[i] = 2;
    q[i] = 0.6;
  }
  assert_int_equal(tabi_batch_step(b, 1, NULL), 0);
  double below = 0;
  double square = 0;
  for (int32_t i = 0; i < WORLDS; ++i) {
    const double *row = reading + 4 * (ptrdiff_t)i;
    double error = fmin(row[1] - 2, 0);
    below += row[1] < 2;
    square += error * error;
    assert_true(row[1] <= 2.1);
    assert_near(row[0], 0, 1e-12);
    assert_near(row[3], 0.5, 1e-12);
  }
  /* half of the readings are below the truth, and these spread as the noise says */
  assert_near(below / WORLDS, 0.5, 0.1);
  assert_near(sqrt(square / below), 0.1, 0.02);
  tabi_batch_destroy(b);
  tabi_model_destroy(model);
}

static void bad_defs_are_refused(void **state) {
  (void)state;
  stand t = stand_open();
  tabi_error err;
  tabi_batch_def def = plain(0);
  assert_null(tabi_batch_create(t.model, NULL, &def, &err));
  assert_string_equal(err.message, "batch: worlds must be >= 1");
  def = plain(1);
  def.lanes = 3;
  assert_null(tabi_batch_create(t.model, NULL, &def, &err));
  def = plain(1);
  def.push_link = 1000;
  assert_null(tabi_batch_create(t.model, NULL, &def, &err));
  assert_string_equal(err.message, "batch: push_link: no such link");
  def.def_size = 0;
  assert_null(tabi_batch_create(t.model, NULL, &def, &err));
  tabi_batch *b = stand_batch(&t, plain(2));
  const int32_t none = 2;
  assert_int_equal(tabi_batch_reset(b, &none, 1, NULL, NULL, &err), TABI_ERR_ARGUMENT);
  double *nothing = calloc((size_t)t.nq, sizeof *nothing);
  assert_int_equal(tabi_batch_reset(b, NULL, 1, nothing, NULL, &err), TABI_ERR_ARGUMENT);
  assert_int_equal(tabi_batch_status(b)[0], TABI_ERR_ARGUMENT);
  free(nothing);
  tabi_batch_destroy(b);
  stand_close(&t);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(arrays_have_their_sizes),
      cmocka_unit_test(active_masks_are_obeyed),
      cmocka_unit_test(rollout_is_steps),
      cmocka_unit_test(a_world_can_be_looked_at),
      cmocka_unit_test(other_worlds_are_stepped_one_by_one),
      cmocka_unit_test(sensors_are_as_imperfect_as_they_say),
      cmocka_unit_test(bad_defs_are_refused),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

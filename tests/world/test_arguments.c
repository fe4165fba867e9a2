/* test_arguments.c - arguments of the section `world` of tabi.h: indices out of range and NULL
 * where there must be an object or an array fail an assertion. */
#include "support/must_fail.h"
#include "support/scene_build.h"

static scene s;
static tabi_world *world;
static double room[64];

/* a box on a plane and a pendulum with a motor and a gyro, tied by a rod to the world */
static int open_all(void **state) {
  (void)state;
  s = scene_begin();
  int32_t stuff = scene_material(&s, 0.5, 0);
  scene_plane(&s, 0, stuff);
  (void)scene_box(&s, 2, v3_make(0.2, 0.2, 0.1), v3_make(0, 0, 0.05), stuff);
  tabi_joint_def hinge =
      scene_hinge(TABI_JOINT_CONTINUOUS, TABI_WORLD, v3_make(2, 0, 2), v3_make(0, 1, 0));
  int32_t bar = scene_link(&s, 1, v3_make(0, 0, -0.5), v3_make(0.1, 0.1, 0.1), hinge);
  tabi_actuator_def motor = tabi_actuator_def_default();
  motor.joint = 1;
  (void)tabi_builder_add_actuator(s.builder, &motor);
  tabi_sensor_def gyro = tabi_sensor_def_default();
  gyro.type = TABI_SENSOR_GYRO;
  gyro.link = bar;
  (void)tabi_builder_add_sensor(s.builder, &gyro);
  tabi_connection_def spring = tabi_connection_def_default();
  spring.type = TABI_CONNECTION_SPRING;
  spring.a = TABI_WORLD;
  spring.b = bar;
  spring.stiffness = 1;
  (void)tabi_builder_add_connection(s.builder, &spring);
  scene_open(&s, NULL);
  world = s.world;
  must_fail_begin();
  return 0;
}

static int close_all(void **state) {
  (void)state;
  must_fail_end();
  scene_close(&s);
  return 0;
}

#ifndef TABI_NO_ASSERT

static void test_no_world(void **state) {
  (void)state;
  int32_t count;
  const double at[3] = {0, 0, 1};
  const tabi_servo servo = {.kp = 1};
  tabi_ray_hit hit;
  MUST_FAIL((tabi_world_def_default(NULL), 0));
  MUST_FAIL(tabi_world_create(NULL, NULL, NULL));
  MUST_FAIL(tabi_workspace_create(NULL, NULL, NULL));
  MUST_FAIL(tabi_workspace_size(NULL));
  MUST_FAIL(tabi_world_model(NULL));
  MUST_FAIL((tabi_world_get_def(NULL), 0));
  MUST_FAIL(tabi_world_step(NULL, NULL));
  MUST_FAIL(tabi_world_error(NULL));
  MUST_FAIL(tabi_world_q(NULL));
  MUST_FAIL(tabi_world_v(NULL));
  MUST_FAIL(tabi_world_set_state(NULL, room, room, NULL));
  MUST_FAIL(tabi_world_steps(NULL));
  MUST_FAIL(tabi_world_time(NULL));
  MUST_FAIL(tabi_world_dynamics(NULL));
  MUST_FAIL(tabi_world_set_servo(NULL, 0, &servo));
  MUST_FAIL(tabi_world_set_motion(NULL, 0, NULL));
  MUST_FAIL(tabi_world_set_control(NULL, 0, 0));
  MUST_FAIL(tabi_world_apply(NULL, 0, at, at, at));
  MUST_FAIL(tabi_world_contacts(NULL, &count));
  MUST_FAIL(tabi_world_contact_wrench(NULL, 0, at, room, room + 3));
  MUST_FAIL((tabi_world_certificate(NULL), 0));
  MUST_FAIL((tabi_world_balance(NULL, 0), 0));
  MUST_FAIL((tabi_world_connection(NULL, 0), 0));
  MUST_FAIL(tabi_world_ray(NULL, at, at, 1, &hit));
  MUST_FAIL(tabi_world_sensor(NULL, 0, room));
  MUST_FAIL((tabi_world_energy(NULL), 0));
  MUST_FAIL(tabi_world_snapshot_size(NULL));
  MUST_FAIL(tabi_world_save(NULL, room));
  MUST_FAIL(tabi_world_restore(NULL, room, sizeof room));
  MUST_FAIL(tabi_world_continue(NULL, world, NULL));
  MUST_FAIL(tabi_world_hash(NULL));
  MUST_FAIL((tabi_world_stats(NULL), 0));
  MUST_FAIL(tabi_world_set_clock(NULL, NULL, NULL));
}

static void test_indices(void **state) {
  (void)state;
  const double at[3] = {0, 0, 1};
  const tabi_servo servo = {.kp = 1};
  MUST_FAIL((tabi_world_balance(world, -2), 0));
  MUST_FAIL((tabi_world_balance(world, 999), 0));
  MUST_FAIL((tabi_world_connection(world, -2), 0));
  MUST_FAIL((tabi_world_connection(world, 999), 0));
  MUST_FAIL(tabi_world_sensor(world, -2, room));
  MUST_FAIL(tabi_world_sensor(world, 999, room));
  MUST_FAIL(tabi_world_set_control(world, -2, 0));
  MUST_FAIL(tabi_world_set_control(world, 999, 0));
  MUST_FAIL(tabi_world_set_servo(world, -2, &servo));
  MUST_FAIL(tabi_world_set_servo(world, 999, &servo));
  MUST_FAIL((tabi_world_get_servo(world, -1), 0));
  MUST_FAIL((tabi_world_get_servo(world, 999), 0));
  MUST_FAIL(tabi_world_set_motion(world, -1, NULL));
  MUST_FAIL(tabi_world_set_motion(world, 999, NULL));
  MUST_FAIL(tabi_world_apply(world, -2, at, at, at));
  MUST_FAIL(tabi_world_apply(world, 999, at, at, at));
  MUST_FAIL(tabi_world_contact_wrench(world, -2, at, room, room + 3));
  MUST_FAIL(tabi_world_contact_wrench(world, 999, at, room, room + 3));
  MUST_FAIL((tabi_world_balance(world, 2), 0)); /* the first that is too large */
  MUST_FAIL(tabi_world_apply(world, 2, at, at, at));
  MUST_FAIL(tabi_world_contact_wrench(world, 2, at, room, room + 3));
  MUST_FAIL((tabi_world_connection(world, 1), 0));
  MUST_FAIL(tabi_world_sensor(world, 1, room));
  MUST_FAIL(tabi_world_set_control(world, 1, 0));
  MUST_FAIL(tabi_world_set_servo(world, 0, &servo)); /* a free joint has seven coordinates */
  MUST_FAIL(tabi_contact_describe(TABI_CONTACT_COUNT));
  MUST_FAIL(tabi_contact_name(TABI_CONTACT_COUNT));
  MUST_FAIL(tabi_integrator_name(TABI_INTEGRATOR_COUNT));
  MUST_FAIL(tabi_stage_name(TABI_STAGE_COUNT));
}

static void test_pointers(void **state) {
  (void)state;
  const double at[3] = {0, 0, 1};
  const double none[3] = {0, 0, 0};
  tabi_ray_hit hit;
  MUST_FAIL(tabi_contact_find(NULL));
  MUST_FAIL(tabi_integrator_find(NULL));
  MUST_FAIL(tabi_world_set_state(world, NULL, room, NULL));
  MUST_FAIL(tabi_world_set_state(world, room, NULL, NULL));
  MUST_FAIL(tabi_world_set_servo(world, 1, NULL));
  MUST_FAIL(tabi_world_apply(world, 0, NULL, at, at));
  MUST_FAIL(tabi_world_apply(world, 0, at, NULL, at));
  MUST_FAIL(tabi_world_apply(world, 0, at, at, NULL));
  MUST_FAIL(tabi_world_contacts(world, NULL));
  MUST_FAIL(tabi_world_contact_wrench(world, 0, NULL, room, room + 3));
  MUST_FAIL(tabi_world_contact_wrench(world, 0, at, NULL, room + 3));
  MUST_FAIL(tabi_world_contact_wrench(world, 0, at, room, NULL));
  MUST_FAIL(tabi_world_sensor(world, 0, NULL));
  MUST_FAIL(tabi_world_save(world, NULL));
  MUST_FAIL(tabi_world_restore(world, NULL, tabi_world_snapshot_size(world)));
  MUST_FAIL(tabi_world_continue(world, NULL, NULL));
  MUST_FAIL(tabi_world_continue(world, world, NULL));
  MUST_FAIL(tabi_world_ray(world, NULL, at, 1, &hit));
  MUST_FAIL(tabi_world_ray(world, at, NULL, 1, &hit));
  MUST_FAIL(tabi_world_ray(world, at, at, 1, NULL));
  MUST_FAIL(tabi_world_ray(world, at, none, 1, &hit));
  MUST_FAIL(tabi_world_ray(world, at, at, -1, &hit));
}

#endif

/* the same calls with good arguments pass */
static void test_good_calls(void **state) {
  (void)state;
  const double at[3] = {0, 0, 1};
  const tabi_servo servo = {.kp = 1};
  tabi_world_set_servo(world, 1, &servo);
  tabi_world_set_control(world, 0, 0.5);
  tabi_world_apply(world, 1, at, at, at);
  assert_int_equal(tabi_world_step(world, NULL), TABI_OK);
  assert_int_equal(tabi_world_sensor(world, 0, room), 3);
  assert_true(tabi_world_connection(world, 0).gap > 0);
  assert_near(tabi_world_balance(world, 1).com[0], 2, 1e-3);
  assert_int_equal(tabi_world_balance(world, TABI_WORLD).ncorner, 0);
  tabi_world_contact_wrench(world, 1, at, room, room + 3);
  assert_near(room[2], 0, 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup_teardown(test_good_calls, open_all, close_all),
#ifndef TABI_NO_ASSERT
      cmocka_unit_test_setup_teardown(test_no_world, open_all, close_all),
      cmocka_unit_test_setup_teardown(test_indices, open_all, close_all),
      cmocka_unit_test_setup_teardown(test_pointers, open_all, close_all),
#endif
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

/* test_drive_limits.c - implicit servos and actuators keep their limits of force: closed forms of
 * one joint, robots that stand or fall by them, the work they do, snapshots. */
#include "support/near.h"
#include "support/scene_build.h"

#include <stdlib.h>

#define H 1e-3

/* An arm that a servo must hold level: 37.7 kg at 1 m ask for 370 N m. */
#define MASS   (370 / GRAVITY)
#define MOMENT (MASS + 2.0)
#define LIMIT  139.0

static int32_t add_arm(scene *s, double effort) {
  tabi_joint_def hinge =
      scene_hinge(TABI_JOINT_CONTINUOUS, TABI_WORLD, v3_zero(), v3_make(0, -1, 0));
  hinge.effort = effort;
  return scene_link(s, MASS, v3_make(1, 0, 0), v3_make(2, 2, 2), hinge);
}

static void set_integrator(scene *s, tabi_integrator integrator) {
  tabi_world_def def = scene_def(s);
  def.integrator = integrator;
  scene_open(s, &def);
}

/* it falls as it must with 139 N m, in the first step and whatever the stiffness */
static void weak_joint_falls(void **state) {
  (void)state;
  for (int power = 3; power < 9; ++power) {
    double kp = pow(10, power);
    scene s = scene_begin();
    int32_t arm = add_arm(&s, LIMIT);
    int32_t strong = add_arm(&s, 400);
    scene_open(&s, NULL);
    /* the targets ask for twice and four times the limit at once */
    tabi_servo servo = {.kp = kp, .kd = 2e-3 * kp, .target = 600 / kp, .implicit = true};
    tabi_world_set_servo(s.world, scene_joint(&s, arm), &servo);
    servo.target = 370 / kp;
    tabi_world_set_servo(s.world, scene_joint(&s, strong), &servo);
    scene_run(&s, 1);
    tabi_effort effort = tabi_world_effort(s.world, scene_joint(&s, arm));
    assert_near(effort.applied, LIMIT, 0);
    assert_near(effort.limit, LIMIT, 0);
    assert_true(effort.commanded > LIMIT);
    assert_near(scene_v(&s, arm)[0], H * (LIMIT - 370) / MOMENT, 1e-15);
    scene_run(&s, 300);
    assert_true(scene_q(&s, arm)[0] < -0.2);
    effort = tabi_world_effort(s.world, scene_joint(&s, arm));
    assert_near(effort.applied, LIMIT, 0);
    /* what needs less than its limit holds */
    effort = tabi_world_effort(s.world, scene_joint(&s, strong));
    assert_near(effort.applied, 370, 1e-6);
    assert_near(effort.commanded, effort.applied, 0);
    assert_near(scene_q(&s, strong)[0], 0, 1e-8);
    scene_close(&s);
  }
}

/* The work of 139 N m is what the arm gains; energy and work agree to the error of the integrator.
 */
static void work_is_counted(void **state) {
  (void)state;
  for (int i = 0; i < TABI_INTEGRATOR_COUNT; ++i) {
    scene s = scene_begin();
    int32_t arm = add_arm(&s, LIMIT);
    set_integrator(&s, (tabi_integrator)i);
    double start = scene_energy(&s);
    tabi_servo servo = {.kp = 1e5, .kd = 100, .target = 0.02, .implicit = true};
    tabi_world_set_servo(s.world, scene_joint(&s, arm), &servo);
    scene_run(&s, 400);
    tabi_energy energy = tabi_world_energy(s.world);
    double work = LIMIT * scene_q(&s, arm)[0];
    print_message("%s: work %.6g J, %.6g as counted; energy off by %.2g J\n",
                  tabi_integrator_name((tabi_integrator)i), work, energy.work,
                  scene_energy(&s) - start - work);
    /* rk4 counts by the mean of the velocities before and after */
    assert_near(energy.work, work, i == TABI_RK4 ? 1e-4 : 1e-9);
    assert_near(scene_energy(&s) - start, work, 0.5);
    scene_close(&s);
  }
}

/* A position actuator with a range of its own, within and beyond it, beside the servo that has the
 * same limit. */
static void actuators_keep_ranges(void **state) {
  (void)state;
  scene s = scene_begin();
  int32_t driven = add_arm(&s, INFINITY);
  tabi_actuator_def a = tabi_actuator_def_default();
  a.joint = tabi_builder_find_joint(s.builder, "joint0");
  a.gear = -4;
  a.gain = 1e4;
  a.bias[1] = -1e4;
  a.bias[2] = -50;
  a.force_min = -LIMIT / 4;
  a.force_max = 1e4;
  tabi_builder_add_actuator(s.builder, &a);
  int32_t servo_arm = add_arm(&s, LIMIT);
  scene_open(&s, NULL);
  tabi_world_set_control(s.world, 0, -4 * 0.01);
  tabi_servo servo = {.kp = 1.6e5, .kd = 800, .target = 0.01, .implicit = true};
  tabi_world_set_servo(s.world, scene_joint(&s, servo_arm), &servo);
  for (int k = 0; k < 300; ++k) {
    scene_run(&s, 1);
    tabi_effort one = tabi_world_effort(s.world, scene_joint(&s, driven));
    tabi_effort other = tabi_world_effort(s.world, scene_joint(&s, servo_arm));
    assert_near(one.applied, other.applied, 1e-9);
    assert_true(one.applied <= LIMIT);
  }
  assert_near(tabi_world_effort(s.world, scene_joint(&s, driven)).applied, LIMIT, 0);
  assert_near(scene_q(&s, driven)[0], scene_q(&s, servo_arm)[0], 1e-12);
  scene_close(&s);
}

/* the effort limit bounds servo and actuators together; joint forces are beside it */
static void limit_bounds_the_sum(void **state) {
  (void)state;
  for (int i = 0; i < TABI_INTEGRATOR_COUNT; ++i) {
    scene s = scene_begin();
    int32_t arm = add_arm(&s, 10);
    tabi_actuator_def motor = tabi_actuator_def_default();
    motor.joint = tabi_builder_find_joint(s.builder, "joint0");
    motor.force_min = -8;
    motor.force_max = 8;
    tabi_builder_add_actuator(s.builder, &motor);
    set_integrator(&s, (tabi_integrator)i);
    tabi_world_set_control(s.world, 0, 20);
    tabi_effort effort = tabi_world_effort(s.world, scene_joint(&s, arm));
    assert_near(effort.limit, 8, 0); /* of the motor alone */
    assert_near(effort.applied, 0, 0);
    tabi_servo servo = {.kp = 1e3, .target = 0.005, .implicit = true};
    tabi_world_set_servo(s.world, scene_joint(&s, arm), &servo);
    const double tau = 3;
    assert_int_equal(tabi_world_step(s.world, &tau), TABI_OK);
    effort = tabi_world_effort(s.world, scene_joint(&s, arm));
    assert_near(effort.limit, 10, 0);
    assert_near(effort.applied, 10 + tau, 0);
    assert_true(effort.commanded > 20 + tau);
    scene_close(&s);
  }
}

/* how often motors of a humanoid that lands with stiff servos are at their limits, and beyond */
static int32_t land(tabi_contact_kind contact, tabi_integrator integrator) {
  scene s = scene_begin();
  scene_plane(&s, 0, scene_material(&s, 0.8, 0));
  scene_humanoid(&s, 0.85);
  tabi_world_def def = scene_def(&s);
  def.contact = contact;
  def.integrator = integrator;
  scene_open(&s, &def);
  scene_crouch(&s, 2000, 50, true);
  int32_t count = 0;
  for (int k = 0; k < 400; ++k) {
    scene_run(&s, 1);
    for (int32_t j = 0; j < tabi_model_njoint(s.model); ++j) {
      if (tabi_model_joint_v(s.model, j).count != 1) continue;
      tabi_effort e = tabi_world_effort(s.world, j);
      assert_true(fabs(e.applied) <= e.limit * (1 + 1e-12));
      assert_true(fabs(e.commanded) >= fabs(e.applied));
      count += fabs(e.applied) == e.limit && e.limit > 0;
    }
  }
  scene_close(&s);
  return count;
}

static void landing_keeps_limits(void **state) {
  (void)state;
  for (int contact = 0; contact < TABI_CONTACT_GAIT; ++contact) {
    for (int i = 0; i < TABI_INTEGRATOR_COUNT; ++i) {
      bool published = tabi_contact_describe((tabi_contact_kind)contact)->implicit_only;
      if (published && i != TABI_SEMI_IMPLICIT) continue;
      int32_t count = land((tabi_contact_kind)contact, (tabi_integrator)i);
      print_message("%s, %s: %d times at a limit\n", tabi_contact_name((tabi_contact_kind)contact),
                    tabi_integrator_name((tabi_integrator)i), count);
      assert_true(count > 10);
    }
  }
}

/* a step from a snapshot has the same bits, in the midst of limits too */
static void snapshots_keep_sides(void **state) {
  (void)state;
  scene s = scene_begin();
  scene_plane(&s, 0, scene_material(&s, 0.8, 0));
  scene_humanoid(&s, 0.85);
  scene_open(&s, NULL);
  scene_crouch(&s, 2000, 50, true);
  size_t size = tabi_world_snapshot_size(s.world);
  void *snapshot = malloc(size);
  assert_non_null(snapshot);
  for (int k = 0; k < 20; ++k) {
    scene_run(&s, 10);
    tabi_world_save(s.world, snapshot);
    scene_run(&s, 5);
    uint64_t hash = tabi_world_hash(s.world);
    assert_int_equal(tabi_world_restore(s.world, snapshot, size), TABI_OK);
    scene_run(&s, 5);
    assert_true(tabi_world_hash(s.world) == hash);
  }
  free(snapshot);
  scene_close(&s);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(weak_joint_falls),      cmocka_unit_test(work_is_counted),
      cmocka_unit_test(actuators_keep_ranges), cmocka_unit_test(limit_bounds_the_sum),
      cmocka_unit_test(landing_keeps_limits),  cmocka_unit_test(snapshots_keep_sides),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

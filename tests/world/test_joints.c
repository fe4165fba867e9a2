/* test_joints.c - what acts at joints: forces from outside, servos, springs, limits, dry friction,
 * couplings. */
#include "support/near.h"
#include "support/scene_build.h"

#define H 1e-3

/* a slider of some mass along an axis, without gravity along x */
static int32_t add_slider(scene *s, double mass, v3 axis, const tabi_joint_def *like) {
  tabi_joint_def joint = *like;
  joint.type = TABI_JOINT_PRISMATIC;
  joint.parent = TABI_WORLD;
  v3_store(axis, joint.axis);
  return scene_link(s, mass, v3_zero(), v3_make(0.1, 0.1, 0.1), joint);
}

static const v3 sideways = {1, 0, 0};
static const v3 upward = {0, 0, 1};

/* v = f / m t for a push, in the one step it is meant for and no longer */
static void push_accelerates(void **state) {
  (void)state;
  scene s = scene_begin();
  int32_t body = scene_free(&s, 4, v3_make(0.2, 0.3, 0.4), v3_zero());
  tabi_world_def def = scene_def(&s);
  def.gravity[2] = 0;
  scene_open(&s, &def);
  for (int k = 0; k < 100; ++k) {
    scene_push(&s, body, v3_make(8, -4, 2));
    scene_run(&s, 1);
  }
  scene_run(&s, 100);
  const double *v = scene_v(&s, body);
  assert_near(v[0], 0.2, 1e-14);
  assert_near(v[1], -0.1, 1e-14);
  assert_near(v[2], 0.05, 1e-14);
  assert_near(v3_norm(v3_load(v + 3)), 0, 1e-15);
  /* away from the centre it turns the body: w = r x f t / I */
  const double force[3] = {0, 3, 0};
  const double torque[3] = {0, 0, 0.6};
  double point[3];
  v3_store(v3_add(v3_load(scene_q(&s, body)), v3_make(0.4, 0, 0)), point);
  tabi_world_apply(s.world, body, force, torque, point);
  scene_run(&s, 1);
  assert_near(scene_v(&s, body)[5], (0.4 * 3 + 0.6) / 0.4 * H, 1e-14);
  scene_close(&s);
}

/* the work of a push is the energy it brings: exact where positions move with the mean */
static void work_is_counted(void **state) {
  (void)state;
  tabi_joint_def plain = tabi_joint_def_default();
  scene s = scene_begin();
  int32_t slider = add_slider(&s, 2, sideways, &plain);
  tabi_world_def def = scene_def(&s);
  def.integrator = TABI_MIDPOINT;
  scene_open(&s, &def);
  const double tau = 5;
  for (int k = 0; k < 1000; ++k)
    assert_int_equal(tabi_world_step(s.world, &tau), TABI_OK);
  tabi_energy energy = tabi_world_energy(s.world);
  assert_near(scene_v(&s, slider)[0], 2.5, 1e-12);
  assert_near(energy.kinetic, 6.25, 1e-11);
  assert_near(energy.work, 6.25, 1e-11);
  scene_close(&s);
}

/* where a servo brings a slider of 1 kg in 2 s */
static double servo_reaches(double kp, double kd, bool implicit, double *speed) {
  tabi_joint_def plain = tabi_joint_def_default();
  scene s = scene_begin();
  int32_t slider = add_slider(&s, 1, sideways, &plain);
  scene_open(&s, NULL);
  tabi_servo servo = {.kp = kp, .kd = kd, .target = 0.3, .implicit = implicit};
  tabi_world_set_servo(s.world, scene_joint(&s, slider), &servo);
  double farthest = 0;
  for (int k = 0; k < 2000; ++k) {
    scene_run(&s, 1);
    farthest = fmax(farthest, scene_q(&s, slider)[0]);
  }
  double q = scene_q(&s, slider)[0];
  *speed = scene_v(&s, slider)[0];
  print_message("servo %g, %g%s: off by %.2g, overshoot %.2g\n", kp, kd,
                implicit ? " implicit" : "", q - 0.3, farthest - 0.3);
  scene_close(&s);
  return q;
}

static void servos_reach(void **state) {
  (void)state;
  double speed;
  assert_near(servo_reaches(400, 40, false, &speed), 0.3, 1e-9);
  assert_near(speed, 0, 1e-9);
  assert_near(servo_reaches(400, 40, true, &speed), 0.3, 1e-9);
  assert_near(speed, 0, 1e-9);
  assert_near(servo_reaches(1e8, 0, true, &speed), 0.3, 1e-6);
  assert_near(servo_reaches(1e8, 1e3, true, &speed), 0.3, 1e-9);
  assert_near(servo_reaches(1e8, 1e8, true, &speed), 0.3 * (1 - exp(-2)), 1e-3);
}

/* a servo with a target rate follows a ramp; an explicit one obeys the effort limit */
static void servos_follow_and_obey(void **state) {
  (void)state;
  tabi_joint_def plain = tabi_joint_def_default();
  tabi_joint_def weak = plain;
  weak.effort = 3;
  scene s = scene_begin();
  int32_t ramp = add_slider(&s, 1, sideways, &plain);
  int32_t limited = add_slider(&s, 2, sideways, &weak);
  scene_open(&s, NULL);
  tabi_servo full = {.kp = 1e6, .kd = 1e4, .target = 100};
  tabi_world_set_servo(s.world, scene_joint(&s, limited), &full);
  for (int k = 0; k < 1000; ++k) {
    tabi_servo servo = {
        .kp = 1e4, .kd = 200, .target = 0.5 * H * (k + 1), .target_rate = 0.5, .implicit = true};
    tabi_world_set_servo(s.world, scene_joint(&s, ramp), &servo);
    scene_run(&s, 1);
  }
  assert_near(scene_q(&s, ramp)[0], 0.5, 1e-9);
  assert_near(scene_v(&s, ramp)[0], 0.5, 1e-9);
  assert_near(scene_v(&s, limited)[0], 3.0 / 2, 1e-12);
  scene_close(&s);
}

/* force = gear * clamp(gain u + ...) of an actuator */
static void actuators_drive(void **state) {
  (void)state;
  tabi_joint_def plain = tabi_joint_def_default();
  scene s = scene_begin();
  int32_t slider = add_slider(&s, 2, sideways, &plain);
  tabi_actuator_def motor = tabi_actuator_def_default();
  motor.joint = tabi_builder_find_joint(s.builder, "joint0");
  motor.gear = 10;
  motor.gain = 3;
  motor.control_max = 2;
  motor.force_max = 5;
  int32_t index = tabi_builder_add_actuator(s.builder, &motor);
  scene_open(&s, NULL);
  const double input[3] = {1, 100, -1};
  const double force[3] = {30, 50, -30};
  double expected = 0;
  for (int i = 0; i < 3; ++i) {
    tabi_world_set_control(s.world, index, input[i]);
    scene_run(&s, 100);
    expected += force[i] / 2 * 0.1;
    assert_near(scene_v(&s, slider)[0], expected, 1e-12);
  }
  scene_close(&s);
}

/* a mass hung from a spring of 1e6 N/m comes to rest m g / k below */
static void springs_bear(void **state) {
  (void)state;
  tabi_joint_def spring = tabi_joint_def_default();
  spring.stiffness = 1e6;
  spring.damping = 1e3;
  scene s = scene_begin();
  int32_t mass = add_slider(&s, 1.5, upward, &spring);
  scene_open(&s, NULL);
  double farthest = 0;
  for (int k = 0; k < 2000; ++k) {
    scene_run(&s, 1);
    farthest = fmin(farthest, scene_q(&s, mass)[0]);
  }
  double sag = 1.5 * GRAVITY / 1e6;
  print_message("spring of 1e6 N/m under 1.5 kg: sag off by %.2g of %.3g m, farthest %.3g\n",
                -scene_q(&s, mass)[0] - sag, sag, -farthest);
  assert_near(scene_q(&s, mass)[0], -sag, 1e-12);
  assert_near(scene_v(&s, mass)[0], 0, 1e-12);
  assert_true(farthest > -2 * sag);
  scene_close(&s);
}

/* without a damper too it stays in bounds, whatever the start: no energy comes from the step */
static void springs_stay_stable(void **state) {
  (void)state;
  const double stiffness[3] = {1e3, 1e6, 1e9};
  for (int i = 0; i < 3; ++i) {
    tabi_joint_def spring = tabi_joint_def_default();
    spring.stiffness = stiffness[i];
    scene s = scene_begin();
    int32_t mass = add_slider(&s, 1.5, sideways, &spring);
    scene_open(&s, NULL);
    const double start = 1e-3;
    const double rest = 0;
    scene_set(&s, mass, &start, &rest);
    double energy = scene_energy(&s);
    for (int k = 0; k < 5000; ++k) {
      scene_run(&s, 1);
      assert_true(scene_energy(&s) <= energy * (1 + 1e-9));
    }
    scene_close(&s);
  }
}

/* pushed into its limit with ten times its weight, a joint stays within */
static void hold_limits(tabi_contact_kind contact) {
  tabi_joint_def joint = tabi_joint_def_default();
  joint.lower = -0.5;
  joint.upper = 0.5;
  scene s = scene_begin();
  int32_t slider = add_slider(&s, 1, sideways, &joint);
  joint.type = TABI_JOINT_REVOLUTE;
  joint.axis[1] = 1;
  joint.axis[2] = 0;
  int32_t arm = scene_link(&s, 1, v3_make(0.3, 0, 0), v3_make(0.01, 0.01, 0.01), joint);
  tabi_world_def def = scene_def(&s);
  def.contact = contact;
  scene_open(&s, &def);
  double beyond = 0;
  double settled = 0;
  for (int k = 0; k < 4000; ++k) {
    int sign = k < 2000 ? 1 : -1;
    const double tau[2] = {sign * 100, sign * 30};
    assert_int_equal(tabi_world_step(s.world, tau), TABI_OK);
    beyond = fmax(beyond, fabs(scene_q(&s, slider)[0]) - 0.5);
    beyond = fmax(beyond, fabs(scene_q(&s, arm)[0]) - 0.5);
    if (k % 2000 < 1500) continue;
    settled = fmax(settled, fmax(fabs(scene_v(&s, slider)[0]), fabs(scene_v(&s, arm)[0])));
  }
  print_message("limits, %s: %.2g beyond, speed there %.2g\n", tabi_contact_name(contact), beyond,
                settled);
  assert_true(beyond < 1e-6);
  /* penalty stops at its tolerance, the sweeps of others are exact for two rows */
  assert_true(settled < (contact == TABI_CONTACT_PENALTY ? 1e-8 : 1e-9));
  /* released, it comes free */
  const double off[2] = {50, 0};
  for (int k = 0; k < 50; ++k)
    assert_int_equal(tabi_world_step(s.world, off), TABI_OK);
  assert_true(scene_q(&s, slider)[0] > -0.49);
  scene_close(&s);
}

static void limits_hold(void **state) {
  (void)state;
  for (int contact = 0; contact < TABI_CONTACT_GAIT; ++contact)
    hold_limits((tabi_contact_kind)contact);
}

/* A box on the floor, tied by a rod to a post: pulled away it stays on its circle, whatever the
 * floor is made of. */
static void rod_holds_on_any_floor(void **state) {
  (void)state;
  for (int contact = 0; contact < TABI_CONTACT_GAIT; ++contact) {
    scene s = scene_begin();
    int32_t stuff = scene_material(&s, 0.3, 0);
    scene_plane(&s, 0, stuff);
    int32_t box = scene_box(&s, 1, v3_make(0.2, 0.2, 0.1), v3_make(1, 0, 0.05), stuff);
    tabi_connection_def rod = tabi_connection_def_default();
    rod.type = TABI_CONNECTION_ROD;
    rod.b = box;
    rod.pos_a[2] = 0.05;
    rod.length = 1;
    tabi_builder_add_connection(s.builder, &rod);
    tabi_world_def def = scene_def(&s);
    def.contact = (tabi_contact_kind)contact;
    scene_open(&s, &def);
    double gap = 0;
    for (int k = 0; k < 1000; ++k) {
      scene_push(&s, box, v3_make(5, 5, 0));
      scene_run(&s, 1);
      gap = fmax(gap, tabi_world_connection(s.world, 0).gap);
    }
    print_message("rod, %s: open by %.2g m\n", tabi_contact_name(def.contact), gap);
    assert_true(gap < 1e-7);
    assert_true(scene_q(&s, box)[1] > 0.3);
    scene_close(&s);
  }
}

/* a joint that starts outside is brought back, gently */
static void limits_take_back(void **state) {
  (void)state;
  tabi_joint_def joint = tabi_joint_def_default();
  joint.lower = -0.5;
  joint.upper = 0.5;
  scene s = scene_begin();
  int32_t slider = add_slider(&s, 1, sideways, &joint);
  scene_open(&s, NULL);
  const double outside = 0.8;
  const double rest = 0;
  scene_set(&s, slider, &outside, &rest);
  double fastest = 0;
  for (int k = 0; k < 2000; ++k) {
    scene_run(&s, 1);
    fastest = fmax(fastest, fabs(scene_v(&s, slider)[0]));
  }
  print_message("limits: taken back to %.6f with %.2g m/s\n", scene_q(&s, slider)[0], fastest);
  assert_true(scene_q(&s, slider)[0] < 0.5 + 1e-4);
  assert_true(fastest <= 0.5 + 1e-9);
  scene_close(&s);
}

/* below its limit dry friction holds still, above it leaves f - limit; it stops what moves */
static void dry_friction(void **state) {
  (void)state;
  tabi_joint_def joint = tabi_joint_def_default();
  joint.friction = 2;
  scene s = scene_begin();
  int32_t slider = add_slider(&s, 0.5, sideways, &joint);
  scene_open(&s, NULL);
  const double below = 1.99;
  const double above = 2.5;
  for (int k = 0; k < 1000; ++k)
    assert_int_equal(tabi_world_step(s.world, &below), TABI_OK);
  assert_near(scene_q(&s, slider)[0], 0, 1e-12);
  for (int k = 0; k < 1000; ++k)
    assert_int_equal(tabi_world_step(s.world, &above), TABI_OK);
  assert_near(scene_v(&s, slider)[0], (2.5 - 2) / 0.5, 1e-9);
  scene_run(&s, 1000);
  assert_near(scene_v(&s, slider)[0], 0, 1e-12);
  scene_close(&s);
}

/* q = 0.1 + 0.5 p - 0.2 p^2 while p is driven about */
static void couplings_follow(void **state) {
  (void)state;
  tabi_joint_def plain = tabi_joint_def_default();
  scene s = scene_begin();
  int32_t leader = add_slider(&s, 1, sideways, &plain);
  int32_t follower = add_slider(&s, 2, sideways, &plain);
  tabi_coupling_def def = tabi_coupling_def_default();
  def.leader = tabi_builder_find_joint(s.builder, "joint0");
  def.joint = tabi_builder_find_joint(s.builder, "joint1");
  const double coef[5] = {0.1, 0.5, -0.2};
  for (int i = 0; i < 5; ++i)
    def.coef[i] = coef[i];
  tabi_builder_add_coupling(s.builder, &def);
  scene_open(&s, NULL);
  const double start = 0.1;
  const double rest = 0;
  scene_set(&s, follower, &start, &rest);
  double worst = 0;
  for (int k = 0; k < 3000; ++k) {
    const double tau[2] = {3 * cos(2 * M_PI * H * k), 0};
    assert_int_equal(tabi_world_step(s.world, tau), TABI_OK);
    double p = scene_q(&s, leader)[0];
    double off = scene_q(&s, follower)[0] - (0.1 + 0.5 * p - 0.2 * p * p);
    worst = fmax(worst, fabs(off));
  }
  print_message("coupling: off by %.2g m\n", worst);
  assert_true(worst < 1e-5);
  scene_close(&s);
}

/* a plain mimic is one inertia: (m1 + s^2 m2) a = f */
static void coupling_shares(void **state) {
  (void)state;
  tabi_joint_def plain = tabi_joint_def_default();
  scene s = scene_begin();
  int32_t leader = add_slider(&s, 1, sideways, &plain);
  int32_t follower = add_slider(&s, 2, sideways, &plain);
  tabi_coupling_def def = tabi_coupling_def_default();
  def.leader = tabi_builder_find_joint(s.builder, "joint0");
  def.joint = tabi_builder_find_joint(s.builder, "joint1");
  def.coef[1] = -0.5;
  tabi_builder_add_coupling(s.builder, &def);
  scene_open(&s, NULL);
  const double tau[2] = {3, 0};
  for (int k = 0; k < 500; ++k)
    assert_int_equal(tabi_world_step(s.world, tau), TABI_OK);
  assert_near(scene_v(&s, leader)[0], 3 / (1 + 0.25 * 2) * 0.5, 1e-9);
  assert_near(scene_v(&s, follower)[0], -0.5 * scene_v(&s, leader)[0], 1e-9);
  scene_close(&s);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(push_accelerates),       cmocka_unit_test(work_is_counted),
      cmocka_unit_test(servos_reach),           cmocka_unit_test(servos_follow_and_obey),
      cmocka_unit_test(actuators_drive),        cmocka_unit_test(springs_bear),
      cmocka_unit_test(springs_stay_stable),    cmocka_unit_test(limits_hold),
      cmocka_unit_test(limits_take_back),       cmocka_unit_test(dry_friction),
      cmocka_unit_test(couplings_follow),       cmocka_unit_test(coupling_shares),
      cmocka_unit_test(rod_holds_on_any_floor),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

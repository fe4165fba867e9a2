/* test_sensors.c - what perfect sensors measure, against closed forms: pendulums, arms, plates and
 * beams, and balances that hold whatever moves.  What is done to the readings is in
 * test_readings.c, robots are in test_sensors_robot.c. */
#include "support/near.h"
#include "support/rng.h"
#include "support/scene_build.h"

#include <stdlib.h>

#define H 1e-3

/* a sensor in a frame on a link, or at a joint, as its type asks */
static int32_t add_sensor(scene *s, tabi_sensor_type type, int32_t at, v3 pos, q4 turn) {
  tabi_sensor_def def = tabi_sensor_def_default();
  def.type = type;
  def.link = def.joint = at;
  v3_store(pos, def.pos);
  q_store(turn, def.quat);
  int32_t sensor = tabi_builder_add_sensor(s->builder, &def);
  assert_true(sensor != TABI_NONE);
  return sensor;
}

static int32_t last_joint(const scene *s) { return tabi_builder_njoint(s->builder) - 1; }

static void read(const scene *s, int32_t sensor, double *value) {
  int32_t size = tabi_world_sensor(s->world, sensor, value);
  assert_int_equal(size, tabi_sensor_type_size(tabi_model_sensor(s->model, sensor).type));
}

static void expect(const scene *s, int32_t sensor, const double *wanted, double tolerance) {
  double value[TABI_SENSOR_MAX];
  int32_t size = tabi_world_sensor(s->world, sensor, value);
  assert_near_n(value, wanted, (size_t)size, tolerance);
}

/* A rod on a hinge about y, its centre l below and c beside it: force along it
 * m (l w^2 + g cos), across m (l w' + g sin), and the moment of both about the hinge, of which
 * there is none about the axis.  Once more in a frame farther down that is turned. */
static void pendulum_pulls_at_its_hinge(void **state) {
  (void)state;
  const double m = 2;
  const double l = 0.7;
  const double c = 0.1;
  const double moment = 0.05;
  const double start = 0.8;
  const double rate = -3;
  const double angle = start + 0.5 * H * rate; /* what swings is felt at the middle of the step */
  scene s = scene_begin();
  tabi_joint_def hinge =
      scene_hinge(TABI_JOINT_CONTINUOUS, TABI_WORLD, v3_make(1, 2, 3), v3_make(0, 1, 0));
  int32_t rod = scene_link(&s, m, v3_make(0, c, -l), v3_make(moment, moment, 0), hinge);
  int32_t at_hinge =
      add_sensor(&s, TABI_SENSOR_FORCE_TORQUE, last_joint(&s), v3_zero(), q_identity());
  q4 quarter = q_exp(v3_make(0, 0, 0.5 * M_PI));
  int32_t below =
      add_sensor(&s, TABI_SENSOR_FORCE_TORQUE, last_joint(&s), v3_make(0, 0, -l), quarter);
  scene_open(&s, NULL);
  scene_set(&s, rod, &start, &rate);
  scene_run(&s, 1);

  /* at angle a about y the centre is at -l (sin a, 0, cos a) */
  double turning = -m * GRAVITY * l * sin(angle) / (moment + m * l * l);
  double along = m * (l * rate * rate + GRAVITY * cos(angle));
  double across = -m * (l * turning + GRAVITY * sin(angle));
  const double wanted[6] = {across, 0, along, c * along, 0, -c * across};
  expect(&s, at_hinge, wanted, 1e-9);
  /* axes turned about z: x becomes y; the moment about the centre's height */
  const double moved[6] = {0, -across, along, l * across, -c * along, -c * across};
  expect(&s, below, moved, 1e-9);
  scene_close(&s);
}

/* At rest on a plate an accelerometer feels g upwards in its own axes; falling it feels nothing. */
static void accelerometer_at_rest_and_falling(void **state) {
  (void)state;
  scene s = scene_begin();
  int32_t stuff = scene_material(&s, 0.5, 0);
  scene_plane(&s, 0, stuff);
  int32_t box = scene_box(&s, 2, v3_make(0.2, 0.2, 0.1), v3_make(0, 0, 0.05), stuff);
  int32_t stone = scene_free(&s, 1, v3_make(0.1, 0.2, 0.3), v3_make(3, 0, 5));
  q4 tilt = q_exp(v3_make(0.3, -0.5, 0.9));
  int32_t resting = add_sensor(&s, TABI_SENSOR_ACCELEROMETER, box, v3_make(0.05, 0.03, 0), tilt);
  int32_t falling = add_sensor(&s, TABI_SENSOR_ACCELEROMETER, stone, v3_zero(), tilt);
  scene_open(&s, NULL);
  scene_set_velocity(&s, stone, v3_make(1, 2, 3), v3_make(0.5, 1, 2));
  scene_run(&s, 200);
  m3 rot = q_matrix(tilt);
  double up[3];
  v3_store(m3_tmulv(&rot, v3_make(0, 0, GRAVITY)), up);
  expect(&s, resting, up, 1e-6);
  const double none[3] = {0, 0, 0};
  expect(&s, falling, none, 1e-9);
  scene_close(&s);
}

/* On an arm that turns about z: r w^2 inwards, r w' along, g up; the gyro next to it says w. */
static void accelerometer_on_an_arm(void **state) {
  (void)state;
  const double r = 0.4;
  const double moment = 0.3;
  const double rate = 7;
  const double torque = 5;
  scene s = scene_begin();
  tabi_joint_def hinge =
      scene_hinge(TABI_JOINT_CONTINUOUS, TABI_WORLD, v3_zero(), v3_make(0, 0, 1));
  int32_t arm = scene_link(&s, 1, v3_zero(), v3_make(moment, moment, moment), hinge);
  int32_t ahead = add_sensor(&s, TABI_SENSOR_ACCELEROMETER, arm, v3_make(r, 0, 0.1), q_identity());
  q4 quarter = q_exp(v3_make(0, 0, 0.5 * M_PI));
  int32_t turned = add_sensor(&s, TABI_SENSOR_ACCELEROMETER, arm, v3_make(r, 0, 0), quarter);
  int32_t gyro =
      add_sensor(&s, TABI_SENSOR_GYRO, arm, v3_make(r, 0, 0), q_exp(v3_make(M_PI, 0, 0)));
  scene_open(&s, NULL);
  scene_set(&s, arm, NULL, &rate);
  assert_int_equal(tabi_world_step(s.world, &torque), TABI_OK);
  const double along = r * torque / moment;
  const double inwards = -r * rate * rate;
  const double felt[3] = {inwards, along, GRAVITY};
  expect(&s, ahead, felt, 1e-10);
  const double felt_turned[3] = {along, -inwards, GRAVITY};
  expect(&s, turned, felt_turned, 1e-10);
  const double spin[3] = {0, 0, -(rate + H * torque / moment)};
  expect(&s, gyro, spin, 1e-12);
  scene_close(&s);
}

/* The rate of a tumbling body in the axes of the sensor, after the step. */
static void gyro_of_a_tumbling_body(void **state) {
  (void)state;
  rng r = rng_make(4);
  scene s = scene_begin();
  int32_t stone = scene_free(&s, 1, v3_make(0.1, 0.2, 0.25), v3_zero());
  q4 mount = q_exp(v3_make(1, -0.4, 0.2));
  int32_t gyro = add_sensor(&s, TABI_SENSOR_GYRO, stone, v3_make(1, 1, 1), mount);
  scene_open(&s, NULL);
  for (int k = 0; k < 20; ++k) {
    scene_turn(&s, stone,
               q_normalize((q4){rng_between(&r, -1, 1), rng_between(&r, -1, 1), 0.3, 1}));
    scene_set_velocity(&s, stone, v3_zero(), v3_make(rng_between(&r, -9, 9), 3, -2));
    scene_run(&s, 3);
    double lin[3];
    double ang[3];
    double pos[3];
    double quat[4];
    const tabi_dynamics *d = tabi_world_dynamics(s.world);
    tabi_dynamics_link_velocity(d, stone, lin, ang);
    tabi_dynamics_link_pose(d, stone, pos, quat);
    m3 rot = q_matrix(q_mul(q_load(quat), mount));
    double wanted[3];
    v3_store(m3_tmulv(&rot, v3_load(ang)), wanted);
    expect(&s, gyro, wanted, 1e-13);
  }
  scene_close(&s);
}

/* Encoders read positions; torque sensors what acted: a joint force, a servo of each kind (the
 * implicit one at the end of the step, the explicit one at its effort limit), and an actuator. */
static void encoders_and_drives(void **state) {
  (void)state;
  scene s = scene_begin();
  tabi_joint_def hinge = scene_hinge(TABI_JOINT_REVOLUTE, TABI_WORLD, v3_zero(), v3_make(0, 1, 0));
  hinge.effort = 2;
  hinge.damping = 0.5;
  int32_t arm[4];
  int32_t drive[4];
  int32_t encoder[4];
  for (int i = 0; i < 4; ++i) {
    hinge.effort = i == 1 ? 100 : 2;
    arm[i] = scene_link(&s, 1, v3_make(0.3, 0, 0), v3_make(0.01, 0.01, 0.01), hinge);
    drive[i] = add_sensor(&s, TABI_SENSOR_JOINT_TORQUE, last_joint(&s), v3_zero(), q_identity());
    encoder[i] = add_sensor(&s, TABI_SENSOR_ENCODER, last_joint(&s), v3_zero(), q_identity());
  }
  tabi_actuator_def motor = tabi_actuator_def_default();
  motor.joint = last_joint(&s);
  motor.gear = 3;
  tabi_builder_add_actuator(s.builder, &motor);
  scene_open(&s, NULL);
  tabi_servo stiff = {.kp = 300, .kd = 4, .target = 0.2, .target_rate = 0.1, .implicit = true};
  tabi_servo strong = {.kp = 300, .kd = 4, .target = 0.2};
  tabi_world_set_servo(s.world, scene_joint(&s, arm[1]), &stiff);
  tabi_world_set_servo(s.world, scene_joint(&s, arm[2]), &strong);
  tabi_world_set_control(s.world, 0, 0.4);
  const double tau[4] = {1.25, 0, 0, 0};
  for (int k = 0; k < 5; ++k)
    assert_int_equal(tabi_world_step(s.world, tau), TABI_OK);
  double q = scene_q(&s, arm[1])[0];
  double v = scene_v(&s, arm[1])[0];
  const double wanted[4] = {1.25, 300 * (0.2 - q) + 4 * (0.1 - v), 2, 1.2};
  for (int i = 0; i < 4; ++i) {
    expect(&s, drive[i], &wanted[i], 1e-9);
    expect(&s, encoder[i], scene_q(&s, arm[i]), 0);
  }
  scene_close(&s);
}

/* A joint that does not move transmits what is behind it: the tip welded to an arm weighs on its
 * weld, pushes on the tip count and those on the arm do not. */
static void weld_carries_what_is_behind(void **state) {
  (void)state;
  const double m = 0.5;
  const double rate = 4;
  scene s = scene_begin();
  tabi_joint_def hinge =
      scene_hinge(TABI_JOINT_CONTINUOUS, TABI_WORLD, v3_zero(), v3_make(0, 0, 1));
  int32_t arm = scene_link(&s, 3, v3_make(0.2, 0, 0), v3_make(0.1, 0.1, 0.1), hinge);
  tabi_joint_def weld = scene_hinge(TABI_JOINT_FIXED, arm, v3_make(0.5, 0, 0), v3_make(0, 0, 1));
  int32_t tip = scene_link(&s, m, v3_make(0.1, 0, 0), v3_make(0.01, 0.01, 0.01), weld);
  int32_t felt = add_sensor(&s, TABI_SENSOR_FORCE_TORQUE, last_joint(&s), v3_zero(), q_identity());
  scene_open(&s, NULL);
  scene_set(&s, arm, NULL, &rate);
  scene_push(&s, arm, v3_make(0, 0, 100));
  scene_push(&s, tip, v3_make(1, 0, 2));
  scene_run(&s, 1);
  double inwards = -m * 0.6 * rate * rate - 1;
  double up = m * GRAVITY - 2;
  const double wanted[6] = {inwards, 0, up, 0, -0.1 * m * GRAVITY, 0};
  expect(&s, felt, wanted, 1e-9);
  scene_run(&s, 1); /* pushes are for one step */
  double value[6];
  read(&s, felt, value);
  assert_near(value[2], m * GRAVITY, 1e-9);
  scene_close(&s);
}

/* A plate that stands on a load cell in the world, and a box on it: the cell bears both, and the
 * plate knows where the box stands. */
static void plate_weighs_a_box(void **state) {
  (void)state;
  scene s = scene_begin();
  int32_t stuff = scene_material(&s, 0.5, 0);
  tabi_joint_def weld =
      scene_hinge(TABI_JOINT_FIXED, TABI_WORLD, v3_make(0, 0, 1), v3_make(0, 0, 1));
  int32_t base = scene_link(&s, 7, v3_zero(), v3_make(1, 1, 1), weld);
  weld = scene_hinge(TABI_JOINT_FIXED, base, v3_zero(), v3_make(0, 0, 1));
  int32_t plate = scene_link(&s, 5, v3_zero(), v3_make(1, 1, 1), weld);
  int32_t cell = add_sensor(&s, TABI_SENSOR_FORCE_TORQUE, last_joint(&s), v3_zero(), q_identity());
  scene_shape(&s, TABI_SHAPE_BOX, plate, v3_make(2, 2, 0.1), stuff);
  int32_t box = scene_box(&s, 2, v3_make(0.2, 0.2, 0.2), v3_make(0.3, -0.2, 1.15), stuff);
  int32_t centre = add_sensor(&s, TABI_SENSOR_PRESSURE_CENTRE, base, v3_make(0, 0, 0.05),
                              q_exp(v3_make(M_PI, 0, 0)));
  int32_t touch[2] = {add_sensor(&s, TABI_SENSOR_CONTACT, base, v3_zero(), q_identity()),
                      add_sensor(&s, TABI_SENSOR_CONTACT, box, v3_zero(), q_identity())};
  scene_open(&s, NULL);
  scene_run(&s, 300);
  double weight = 2 * GRAVITY;
  /* the cell holds the plate up against weight and moment of the box */
  const double wanted[6] = {0, 0, 7 * GRAVITY, -0.2 * weight, -0.3 * weight, 0};
  expect(&s, cell, wanted, 1e-6);
  /* z of this sensor points down, into the plate, as the box pushes */
  const double where[3] = {0.3, 0.2, weight};
  expect(&s, centre, where, 1e-6);
  const double touched[2] = {1, weight};
  expect(&s, touch[0], touched, 1e-6);
  expect(&s, touch[1], touched, 1e-6);
  scene_set_velocity(&s, box, v3_make(0, 0, 1), v3_zero());
  scene_run(&s, 20);
  const double none[3] = {0, 0, 0};
  expect(&s, touch[1], none, 0);
  expect(&s, centre, none, 0);
  scene_close(&s);
}

/* A beam on a hinge and a connection that bears the other end: each takes half its weight, with
 * the connection rigid, or a spring of the right stretch, whatever the integrator. */
static void beam_shares_its_weight(tabi_connection_type type, tabi_integrator integrator) {
  const double m = 4;
  scene s = scene_begin();
  tabi_joint_def hinge =
      scene_hinge(TABI_JOINT_CONTINUOUS, TABI_WORLD, v3_make(0, 0, 1), v3_make(0, 1, 0));
  int32_t beam = scene_link(&s, m, v3_make(0.5, 0, 0), v3_make(0.1, 0.4, 0.4), hinge);
  int32_t felt = add_sensor(&s, TABI_SENSOR_FORCE_TORQUE, last_joint(&s), v3_zero(), q_identity());
  tabi_connection_def hold = tabi_connection_def_default();
  hold.type = type;
  hold.a = integrator == TABI_RK4 ? beam : TABI_WORLD; /* either way round */
  hold.b = integrator == TABI_RK4 ? TABI_WORLD : beam;
  double *on_beam = integrator == TABI_RK4 ? hold.pos_a : hold.pos_b;
  double *on_world = integrator == TABI_RK4 ? hold.pos_b : hold.pos_a;
  on_beam[0] = on_world[0] = 1;
  on_world[2] = type == TABI_CONNECTION_BALL ? 1 : 2;
  hold.stiffness = 500;
  hold.length = 1 - 0.5 * m * GRAVITY / hold.stiffness;
  if (type == TABI_CONNECTION_ROD) hold.length = 1;
  tabi_builder_add_connection(s.builder, &hold);
  tabi_world_def def = scene_def(&s);
  def.integrator = integrator;
  scene_open(&s, &def);
  scene_run(&s, 50);
  const double wanted[6] = {0, 0, 0.5 * m * GRAVITY, 0, 0, 0};
  expect(&s, felt, wanted, 1e-8);
  scene_close(&s);
}

static void beams_share_their_weight(void **state) {
  (void)state;
  for (int i = 0; i < TABI_INTEGRATOR_COUNT; ++i) {
    beam_shares_its_weight(TABI_CONNECTION_BALL, (tabi_integrator)i);
    beam_shares_its_weight(TABI_CONNECTION_ROD, (tabi_integrator)i);
    beam_shares_its_weight(TABI_CONNECTION_SPRING, (tabi_integrator)i);
  }
}

/* A body with three limbs: one of them a loop closed by a connection, two coupled. */
static int32_t add_spider(scene *s, int32_t stuff) {
  int32_t body = scene_box(s, 3, v3_make(0.3, 0.2, 0.1), v3_make(0, 0, 0.35), stuff);
  int32_t limb[4];
  for (int i = 0; i < 4; ++i) {
    v3 at = v3_make(i % 2 ? -0.12 : 0.12, i < 2 ? -0.1 : 0.1, 0);
    tabi_joint_def hinge =
        scene_hinge(TABI_JOINT_REVOLUTE, body, at, v3_make(0.2, i < 2 ? 1 : -1, 0.1));
    hinge.lower = -0.6;
    hinge.upper = 0.6;
    hinge.damping = 0.1;
    hinge.stiffness = 20;
    hinge.friction = 0.05;
    hinge.rotor_inertia = 1e-4;
    hinge.gear = 10;
    limb[i] = scene_link(s, 0.5, v3_make(0, 0, -0.1), v3_make(2e-3, 3e-3, 1e-3), hinge);
    scene_shape(s, TABI_SHAPE_SPHERE, limb[i], v3_make(0.08, 0, 0), stuff);
  }
  tabi_coupling_def mimic = tabi_coupling_def_default();
  mimic.joint = last_joint(s);
  mimic.leader = mimic.joint - 1;
  mimic.coef[1] = -0.7;
  tabi_builder_add_coupling(s->builder, &mimic);
  tabi_connection_def rod = tabi_connection_def_default();
  rod.type = TABI_CONNECTION_ROD;
  rod.a = limb[0];
  rod.b = limb[1];
  rod.pos_a[2] = rod.pos_b[2] = -0.15;
  rod.length = 0.24;
  tabi_builder_add_connection(s->builder, &rod);
  return body;
}

/* Nothing carries a free body: the force at a free joint is zero, whatever the limbs do behind it
 * and whatever solved the step.  This closes the balance of contacts, connections, couplings,
 * limits, servos, pushes and inertia.  Under rk4 forces vary within the step, so that the balance
 * is of first order; and springs of penalty that first touch within one are not in its list of
 * contacts, which is made at the start. */
static void nothing_carries_a_free_body(tabi_contact_kind contact, tabi_integrator integrator) {
  scene s = scene_begin();
  int32_t stuff = scene_material(&s, 0.6, 0.1);
  scene_plane(&s, 0, stuff);
  int32_t body = add_spider(&s, stuff);
  int32_t joint = tabi_builder_find_joint(s.builder, "joint0");
  int32_t felt =
      add_sensor(&s, TABI_SENSOR_FORCE_TORQUE, joint, v3_make(0.1, 0.2, 0.3), q_identity());
  tabi_world_def def = scene_def(&s);
  def.contact = contact;
  def.integrator = integrator;
  if (contact == TABI_CONTACT_PENALTY) def.timestep = 2e-4;
  scene_open(&s, &def);
  scene_set_velocity(&s, body, v3_make(0.5, -0.2, -1), v3_make(1, 2, -1));
  tabi_servo servo = {.kp = 30, .kd = 0.5, .target = 0.2, .implicit = true};
  tabi_world_set_servo(s.world, 1, &servo);
  double worst = 0;
  double pushed = 0;
  for (double end = 0.25; tabi_world_time(s.world) < end;) {
    scene_push(&s, body + 2, v3_make(3, 1, 0));
    scene_run(&s, 1);
    double value[6];
    read(&s, felt, value);
    worst = fmax(worst, v3_norm(v3_load(value)) + v3_norm(v3_load(value + 3)));
    pushed = fmax(pushed, v3_norm(scene_impulse(&s, body + 1)) / def.timestep);
  }
  print_message("%s, %s: %.2g N against at most %.2g N at one foot\n", tabi_contact_name(contact),
                tabi_integrator_name(integrator), worst, pushed);
  assert_true(pushed > 50);
  bool touches_within = contact == TABI_CONTACT_PENALTY && integrator == TABI_RK4;
  if (!touches_within) assert_true(worst < (integrator == TABI_RK4 ? 0.01 : 1e-9) * pushed);
  scene_close(&s);
}

static void nothing_carries_free_bodies(void **state) {
  (void)state;
  for (int contact = 0; contact < TABI_CONTACT_GAIT; ++contact) {
    for (int integrator = 0; integrator < TABI_INTEGRATOR_COUNT; ++integrator)
      nothing_carries_a_free_body((tabi_contact_kind)contact, (tabi_integrator)integrator);
  }
}

/* Sensors only look: the same bits with and without, and by questions in between. */
static void sensors_only_look(void **state) {
  (void)state;
  uint64_t hash[2];
  for (int with = 0; with < 2; ++with) {
    scene s = scene_begin();
    int32_t stuff = scene_material(&s, 0.6, 0.1);
    scene_plane(&s, 0, stuff);
    int32_t body = add_spider(&s, stuff);
    for (int type = 0; with && type < TABI_SENSOR_COUNT; ++type) {
      (void)add_sensor(&s, (tabi_sensor_type)type, body + 1, v3_zero(), q_identity());
    }
    tabi_world_def def = scene_def(&s);
    def.contact = TABI_CONTACT_LCP; /* which draws random numbers */
    scene_open(&s, &def);
    scene_run(&s, 300);
    hash[with] = tabi_world_hash(s.world);
    scene_close(&s);
  }
  assert_true(hash[0] == hash[1]);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(pendulum_pulls_at_its_hinge),
      cmocka_unit_test(accelerometer_at_rest_and_falling),
      cmocka_unit_test(accelerometer_on_an_arm),
      cmocka_unit_test(gyro_of_a_tumbling_body),
      cmocka_unit_test(encoders_and_drives),
      cmocka_unit_test(weld_carries_what_is_behind),
      cmocka_unit_test(plate_weighs_a_box),
      cmocka_unit_test(beams_share_their_weight),
      cmocka_unit_test(nothing_carries_free_bodies),
      cmocka_unit_test(sensors_only_look),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

/* test_sensors.c - sensors in lanes say what those of a world say: force-torque sensors, gyros and
 * accelerometers everywhere in random trees, all that look at contacts under a foot, and delays. */
#include "stand.h"
#include "support/near.h"
#include "support/random_model.h"

#include <stdlib.h>
#include <string.h>

#define H 1e-3

/* -- random trees */

/* nothing that needs rows */
static void make_plain(random_plan *plan) {
  for (int32_t i = 0; i < plan->nlink; ++i) {
    plan->links[i].joint.friction = 0;
    plan->links[i].joint.lower = -HUGE_VAL;
    plan->links[i].joint.upper = HUGE_VAL;
  }
}

static void add_sensor(tabi_builder *b, rng *r, tabi_sensor_type type, int32_t link,
                       int32_t joint) {
  tabi_sensor_def sensor = tabi_sensor_def_default();
  double length = 0;
  sensor.type = type;
  sensor.link = link;
  sensor.joint = joint;
  for (int i = 0; i < 3; ++i)
    sensor.pos[i] = rng_between(r, -0.2, 0.2);
  for (int i = 0; i < 4; ++i) {
    sensor.quat[i] = rng_between(r, -1, 1);
    length += sensor.quat[i] * sensor.quat[i];
  }
  for (int i = 0; i < 4; ++i)
    sensor.quat[i] /= sqrt(length);
  (void)tabi_builder_add_sensor(b, &sensor);
}

/* the same model, with sensors at all links and joints, welded ones too if asked */
static tabi_model *with_sensors(const tabi_model *model, uint64_t seed, bool welds) {
  tabi_builder *b = tabi_builder_create();
  rng r = rng_make(seed);
  double gravity[3];
  tabi_model_gravity(model, gravity);
  tabi_builder_set_gravity(b, gravity);
  for (int32_t i = 0; i < tabi_model_nlink(model); ++i) {
    tabi_link_def link = tabi_model_link(model, i);
    (void)tabi_builder_add_link(b, &link);
    add_sensor(b, &r, TABI_SENSOR_ACCELEROMETER, i, TABI_NONE);
    add_sensor(b, &r, TABI_SENSOR_GYRO, i, TABI_NONE);
  }
  for (int32_t j = 0; j < tabi_model_njoint(model); ++j) {
    tabi_joint_def joint = tabi_model_joint(model, j);
    (void)tabi_builder_add_joint(b, &joint);
    if (welds || joint.type != TABI_JOINT_FIXED)
      add_sensor(b, &r, TABI_SENSOR_FORCE_TORQUE, TABI_NONE, j);
  }
  tabi_error err;
  tabi_model *made = tabi_builder_build(b, &err);
  if (!made) fail_msg("%s", err.message);
  tabi_builder_destroy(b);
  return made;
}

static bool floats(const tabi_model *model) {
  for (int32_t j = 0; j < tabi_model_njoint(model); ++j)
    if (tabi_model_joint(model, j).type == TABI_JOINT_FREE) return true;
  return false;
}

/* of floating trees a world restores momentum after the step, which only forces do not feel */
static bool is_compared(const tabi_model *model, int32_t sensor) {
  return tabi_model_sensor(model, sensor).type == TABI_SENSOR_FORCE_TORQUE || !floats(model);
}

/* to 1e-8 of the largest, and `allowed` */
static void compare_readings(const tabi_world *world, const double *reading, double allowed) {
  const tabi_model *model = tabi_world_model(world);
  for (int32_t i = 0; i < tabi_model_nsensor(model); ++i) {
    double value[TABI_SENSOR_MAX];
    int32_t size = tabi_world_sensor(world, i, value);
    double most = 1;
    for (int32_t k = 0; k < size; ++k)
      most = fmax(most, fabs(value[k]));
    if (is_compared(model, i)) assert_near_n(reading, value, (size_t)size, 1e-8 * most + allowed);
    reading += size;
  }
}

/* whether lanes took the model */
static bool check_tree(uint64_t seed) {
  random_plan *plan = calloc(1, sizeof *plan);
  random_plan_make(plan, seed, seed % 3 == 0 ? RANDOM_FLOATING : RANDOM_ANY);
  make_plain(plan);
  tabi_model *bare = random_plan_build(plan, NULL);
  tabi_model *model = with_sensors(bare, seed, seed % 2 == 0);
  int32_t nq = tabi_model_nq(model);
  int32_t nv = tabi_model_nv(model);
  double *q = calloc((size_t)nq + 2 * (size_t)nv + 1, sizeof *q);
  double *v = q + nq;
  double *tau = v + nv;
  random_plan_state(plan, model, q, v, tau);
  tabi_world_def def = tabi_world_def_default(model);
  def.timestep = H;
  tabi_batch_def batch_def = tabi_batch_def_default();
  batch_def.worlds = 3;
  batch_def.threads = 1;
  tabi_batch *b = nv > 0 ? tabi_batch_create(model, &def, &batch_def, NULL) : NULL;
  bool taken = b && tabi_batch_lanes(b) > 0;
  if (taken) {
    int32_t n;
    tabi_world *world = tabi_world_create(model, &def, NULL);
    assert_int_equal(tabi_world_set_state(world, q, v, NULL), TABI_OK);
    for (int32_t i = 0; i < 3; ++i) {
      double *torque = tabi_batch_array(b, TABI_BATCH_TORQUE, NULL) + (ptrdiff_t)i * nv;
      assert_int_equal(tabi_batch_reset(b, &i, 1, q, v, NULL), TABI_OK);
      memcpy(torque, tau, sizeof *tau * (size_t)nv);
    }
    assert_int_equal(tabi_world_step(world, tau), TABI_OK);
    assert_int_equal(tabi_batch_step(b, 1, NULL), 0);
    const double *reading = tabi_batch_array(b, TABI_BATCH_SENSOR, &n);
    compare_readings(world, reading + 2 * (ptrdiff_t)n, 0);
    tabi_world_destroy(world);
  }
  tabi_batch_destroy(b);
  tabi_model_destroy(model);
  tabi_model_destroy(bare);
  free(q);
  free(plan);
  return taken;
}

static void sensors_in_trees_say_what_worlds_say(void **state) {
  (void)state;
  int taken = 0;
  for (uint64_t seed = 1; seed <= 150; ++seed)
    taken += check_tree(seed);
  print_message("[          ] %d of 150 models in lanes\n", taken);
  assert_true(taken > 60);
}

/* -- contacts */

static void add_box(tabi_builder *b, int32_t link, const double size[3], const double pos[3]) {
  tabi_shape_def shape = tabi_shape_def_default();
  shape.type = TABI_SHAPE_BOX;
  shape.link = link;
  memcpy(shape.size, size, sizeof shape.size);
  memcpy(shape.pos, pos, sizeof shape.pos);
  (void)tabi_builder_add_shape(b, &shape);
}

static int32_t add_link(tabi_builder *b, tabi_joint_type type, int32_t parent, double mass,
                        const double pos[3]) {
  tabi_link_def link = tabi_link_def_default();
  link.mass = mass;
  link.inertia[0] = link.inertia[1] = link.inertia[2] = 0.01 * mass;
  tabi_joint_def joint = tabi_joint_def_default();
  joint.type = type;
  joint.parent = parent;
  joint.child = tabi_builder_add_link(b, &link);
  joint.axis[1] = 1;
  joint.axis[2] = 0;
  memcpy(joint.pos, pos, sizeof joint.pos);
  joint.damping = type == TABI_JOINT_CONTINUOUS ? 5 : 0;
  joint.stiffness = type == TABI_JOINT_CONTINUOUS ? 400 : 0;
  (void)tabi_builder_add_joint(b, &joint);
  return joint.child;
}

/* a block, a leg and a foot of two welded parts, of which the lower one touches the floor */
static tabi_model *make_leg(tabi_joint_type root, double delay) {
  const double start[3] = {0.3, -0.2, 0.62};
  const double hip[3] = {0.05, 0, 0};
  const double ankle[3] = {0, 0.02, -0.45};
  const double below[3] = {0.03, 0, -0.05};
  const double middle[3] = {0};
  const double sole_size[3] = {0.25, 0.12, 0.1};
  const double floor_size[3] = {5, 5, 1};
  const double floor_at[3] = {0, 0, -0.5};
  const tabi_sensor_type looks[] = {TABI_SENSOR_CONTACT, TABI_SENSOR_PRESSURE_CENTRE,
                                    TABI_SENSOR_ZMP, TABI_SENSOR_GYRO, TABI_SENSOR_ACCELEROMETER};
  tabi_builder *b = tabi_builder_create();
  int32_t block = add_link(b, root, TABI_WORLD, 5, start);
  int32_t leg = add_link(b, TABI_JOINT_CONTINUOUS, block, 2, hip);
  int32_t ankle_link = add_link(b, TABI_JOINT_CONTINUOUS, leg, 1, ankle);
  int32_t sole = add_link(b, TABI_JOINT_FIXED, ankle_link, 0.5, below);
  add_box(b, sole, sole_size, middle);
  if (root == TABI_JOINT_FREE) add_box(b, TABI_WORLD, floor_size, floor_at);
  for (int32_t joint = 0; joint < 4; ++joint) {
    tabi_sensor_def sensor = tabi_sensor_def_default();
    sensor.type = TABI_SENSOR_FORCE_TORQUE;
    sensor.joint = joint;
    sensor.delay = delay;
    (void)tabi_builder_add_sensor(b, &sensor);
    sensor.type = TABI_SENSOR_ENCODER;
    if (joint == 1 || joint == 2) (void)tabi_builder_add_sensor(b, &sensor);
  }
  for (size_t i = 0; i < sizeof looks / sizeof *looks; ++i)
    for (int32_t link = ankle_link; link <= sole; ++link) {
      tabi_sensor_def sensor = tabi_sensor_def_default();
      sensor.type = looks[i];
      sensor.link = link;
      sensor.pos[2] = -0.05;
      sensor.delay = delay * (double)(i % 2);
      (void)tabi_builder_add_sensor(b, &sensor);
    }
  tabi_error err;
  tabi_model *model = tabi_builder_build(b, &err);
  if (!model) fail_msg("%s", err.message);
  tabi_builder_destroy(b);
  return model;
}

/* A world and a batch of three in the same state. */
typedef struct both {
  tabi_model *model;
  tabi_world *world;
  tabi_batch *b;
  const double *reading; /* of the last world of the batch */
} both;

static both open_both(tabi_joint_type root, double delay, double speed) {
  both t = {.model = make_leg(root, delay)};
  tabi_world_def def = tabi_world_def_default(t.model);
  def.timestep = H;
  def.tolerance = 1e-13;
  def.iterations = 5000;
  tabi_batch_def batch_def = tabi_batch_def_default();
  batch_def.worlds = 3;
  batch_def.threads = 1;
  tabi_error err;
  t.b = tabi_batch_create(t.model, &def, &batch_def, &err);
  if (!t.b) fail_msg("%s", err.message);
  assert_string_equal(tabi_batch_reason(t.b), "");
  t.world = tabi_world_create(t.model, &def, NULL);
  double q[16];
  double v[16] = {speed};
  tabi_model_initial_q(t.model, q);
  assert_int_equal(tabi_world_set_state(t.world, q, v, NULL), TABI_OK);
  for (int32_t i = 0; i < 3; ++i)
    assert_int_equal(tabi_batch_reset(t.b, &i, 1, q, v, NULL), TABI_OK);
  int32_t n;
  t.reading = tabi_batch_array(t.b, TABI_BATCH_SENSOR, &n);
  t.reading += 2 * (ptrdiff_t)n;
  return t;
}

static void close_both(both *t) {
  tabi_world_destroy(t->world);
  tabi_batch_destroy(t->b);
  tabi_model_destroy(t->model);
}

static double velocities_apart(const both *t) {
  int32_t n;
  const double *v = tabi_batch_array(t->b, TABI_BATCH_V, &n);
  double most = 0;
  for (int32_t k = 0; k < n; ++k)
    most = fmax(most, fabs(v[2 * n + k] - tabi_world_v(t->world)[k]));
  return most;
}

/* every step from the state of the batch: it lands, tips over and comes to rest */
static void sensors_of_contacts_say_what_worlds_say(void **state) {
  (void)state;
  enum { STEPS = 1500 };
  both t = open_both(TABI_JOINT_FREE, 0, 0.3);
  int touching = 0;
  int agreeing = 0;
  for (int i = 0; i < STEPS; ++i) {
    assert_int_equal(tabi_batch_save(t.b, 2, t.world, NULL), TABI_OK);
    assert_int_equal(tabi_world_step(t.world, NULL), TABI_OK);
    assert_int_equal(tabi_batch_step(t.b, 1, NULL), 0);
    /* forces differ where velocities do, by what it takes to make the difference in a step */
    double apart = velocities_apart(&t);
    agreeing += apart < 1e-10;
    compare_readings(t.world, t.reading, 10 * apart / H);
    int32_t count;
    (void)tabi_world_contacts(t.world, &count);
    touching += count > 0;
  }
  print_message("[          ] %d of %d steps with contacts, %d with equal velocities\n", touching,
                STEPS, agreeing);
  assert_true(touching > STEPS / 2);
  assert_true(agreeing > STEPS * 9 / 10);
  close_both(&t);
}

/* from the first step on, however many steps a call makes */
static void delays_are_those_of_worlds(void **state) {
  (void)state;
  for (int32_t k = 1; k <= 4; k += 3) {
    both t = open_both(TABI_JOINT_PLANAR, 7e-3, 0.3);
    for (int i = 0; i < 50; ++i) {
      for (int32_t j = 0; j < k; ++j)
        assert_int_equal(tabi_world_step(t.world, NULL), TABI_OK);
      assert_int_equal(tabi_batch_step(t.b, k, NULL), 0);
      compare_readings(t.world, t.reading, 0);
    }
    close_both(&t);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(sensors_in_trees_say_what_worlds_say),
      cmocka_unit_test(sensors_of_contacts_say_what_worlds_say),
      cmocka_unit_test(delays_are_those_of_worlds),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

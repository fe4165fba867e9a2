/* test_humanoids.c - the humanoids that come with tabi: what they weigh and measure, that left and
 * right mirror each other, that nothing is found wrong with them, that they stand for their whole
 * scenes, that the rubber in the feet of humanoid36 can be locked, that its world is small, and
 * that it has room for all contacts of a robot that falls. */
#include "support/load.h"
#include "support/near.h"
#include "tabi/tabi_io.h"

#include <stdio.h>
#include <string.h>

typedef struct humanoid {
  const char *name;
  int32_t njoint; /* that move, without the base */
  double mass, height, hip;
} humanoid;

static const humanoid robots[] = {
    {"humanoid20", 20, 6,  0.48,  0.235},
    {"humanoid36", 36, 58, 1.539, 0.705},
    {"figure40",   34, 70, 1.75,  0.93 },
};

#define NROBOT (sizeof robots / sizeof *robots)

/* half of what a box or ball measures along the world's z, when all joints are at zero; cylinders
 * lie or stand, and none reaches as far as these */
static double half_height(const tabi_shape_def *shape) {
  if (shape->type == TABI_SHAPE_BOX) return shape->size[2] / 2;
  return shape->type == TABI_SHAPE_SPHERE ? shape->size[0] : 0;
}

static void measure(const humanoid *h) {
  tabi_model *model = load_shipped_model(h->name);
  assert_near(tabi_model_mass(model), h->mass, 1e-9);
  assert_int_equal(tabi_model_nv(model), 6 + h->njoint);
  double q[64];
  const double v[64] = {0};
  double low = INFINITY;
  double high = -INFINITY;
  tabi_model_initial_q(model, q);
  tabi_dynamics *d = tabi_dynamics_create(model, NULL);
  tabi_dynamics_set_state(d, q, v);
  for (int32_t i = 0; i < tabi_model_nshape(model); ++i) {
    tabi_shape_def shape = tabi_model_shape(model, i);
    double pos[3];
    double quat[4];
    tabi_dynamics_link_pose(d, shape.link, pos, quat);
    low = fmin(low, pos[2] + shape.pos[2] - half_height(&shape));
    high = fmax(high, pos[2] + shape.pos[2] + half_height(&shape));
  }
  assert_near(low, -h->hip, 1e-9);
  assert_near(high - low, h->height, 1e-9);
  tabi_dynamics_destroy(d);
  tabi_model_destroy(model);
}

static void test_sizes(void **state) {
  (void)state;
  for (size_t i = 0; i < NROBOT; ++i)
    measure(&robots[i]);
}

/* Name of the right counterpart of a left thing; false: it is none. */
static bool right_of(const char *left, char *right, size_t size) {
  if (!left || strncmp(left, "l_", 2) != 0) return false;
  (void)snprintf(right, size, "r_%s", left + 2);
  return true;
}

static int compare_links(const tabi_model *model) {
  int pairs = 0;
  for (int32_t i = 0; i < tabi_model_nlink(model); ++i) {
    tabi_link_def l = tabi_model_link(model, i);
    char name[64];
    if (!right_of(l.name, name, sizeof name)) continue;
    tabi_link_def r = tabi_model_link(model, tabi_model_find_link(model, name));
    const double com[3] = {l.com[0], -l.com[1], l.com[2]};
    const double inertia[6] = {l.inertia[0],  l.inertia[1], l.inertia[2],
                               -l.inertia[3], l.inertia[4], -l.inertia[5]};
    assert_near(r.mass, l.mass, 0);
    for (int k = 0; k < 3; ++k)
      assert_near(r.com[k], com[k], 0);
    for (int k = 0; k < 6; ++k)
      assert_near(r.inertia[k], inertia[k], 0);
    ++pairs;
  }
  return pairs;
}

/* Turns about y are the same on both sides, those about x and z opposite. */
static void compare_joints(const tabi_model *model) {
  for (int32_t i = 0; i < tabi_model_njoint(model); ++i) {
    tabi_joint_def l = tabi_model_joint(model, i);
    char name[64];
    if (!right_of(l.name, name, sizeof name)) continue;
    tabi_joint_def r = tabi_model_joint(model, tabi_model_find_joint(model, name));
    bool same = l.axis[1] != 0 || l.type == TABI_JOINT_PRISMATIC;
    assert_near(r.lower, same ? l.lower : -l.upper, 0);
    assert_near(r.upper, same ? l.upper : -l.lower, 0);
    assert_near(r.effort, l.effort, 0);
    assert_near(r.velocity, l.velocity, 0);
    assert_true(isfinite(l.effort) && isfinite(l.velocity));
    const double pos[3] = {l.pos[0], -l.pos[1], l.pos[2]};
    assert_near_n(r.pos, pos, 3, 0);
    assert_near_n(r.axis, l.axis, 3, 0);
  }
}

static void test_mirrored(void **state) {
  (void)state;
  for (size_t i = 0; i < NROBOT; ++i) {
    tabi_model *model = load_shipped_model(robots[i].name);
    assert_true(compare_links(model) >= 10);
    compare_joints(model);
    tabi_model_destroy(model);
  }
}

static void refuse(void *user, const tabi_error *finding) {
  (void)user;
  fail_msg("%s:%d: %s", finding->file, (int)finding->line, finding->message);
}

static void test_no_findings(void **state) {
  (void)state;
  for (size_t i = 0; i < NROBOT; ++i) {
    tabi_model *model = load_shipped_model(robots[i].name);
    assert_int_equal(tabi_model_check(model, refuse, NULL), 0);
    tabi_model_destroy(model);
  }
}

static tabi_scene *load_with(const char *name, const char *const *set, int32_t nset) {
  tabi_scene_def def = tabi_scene_def_default();
  def.set = set;
  def.nset = nset;
  return load_shipped_scene(name, &def);
}

static void run(tabi_scene *scene, tabi_world *world, double until) {
  while (tabi_world_time(world) < until) {
    step_world(scene, world);
  }
}

/* After the whole scene the pelvis is where it began but for a hundredth of its height, by which
 * servos give way under the weight, upright, and at rest. */
static void stand(const char *name, tabi_contact_kind contact) {
  tabi_scene *scene = load_with(name, NULL, 0);
  tabi_world *world = open_world_with(scene, contact);
  int32_t pelvis = tabi_model_find_link(tabi_scene_model(scene), "robot/pelvis");
  double start[3];
  double pos[3];
  double quat[4];
  double lin[3];
  double ang[3];
  tabi_dynamics_link_pose(tabi_world_dynamics(world), pelvis, start, quat);
  run(scene, world, tabi_scene_duration(scene));
  tabi_dynamics_link_pose(tabi_world_dynamics(world), pelvis, pos, quat);
  tabi_dynamics_link_velocity(tabi_world_dynamics(world), pelvis, lin, ang);
  for (int k = 0; k < 3; ++k) {
    assert_near(pos[k], start[k], 0.01 * start[2]);
    assert_near(lin[k], 0, 1e-4);
    assert_near(quat[1 + k], 0, 0.01);
  }
  tabi_world_destroy(world);
  tabi_scene_destroy(scene);
}

static void test_stand_humanoid20(void **state) {
  (void)state;
  stand("stand_humanoid20", TABI_CONTACT_CONE);
  stand("stand_humanoid20", TABI_CONTACT_EXACT);
}

static void test_stand_figure40(void **state) {
  (void)state;
  stand("stand_figure40", TABI_CONTACT_CONE);
  stand("stand_figure40", TABI_CONTACT_EXACT);
}

/* Locked, humanoid36 has six degrees of freedom less.  Unlocked, with the springs that its file
 * wishes for, it sinks by what the rubber gives: half of its weight on 1e6 N/m. */
static void test_bushes(void **state) {
  (void)state;
  static const char *const set[] = {
      "robots.robot.lock=[]",
      "robots.robot.controller.joints={l_bush_z: {kp: 1e6, kd: 0}, r_bush_z: {kp: 1e6, kd: 0}, "
      "l_bush_pitch: {kp: 2.5e3, kd: 0}, r_bush_pitch: {kp: 2.5e3, kd: 0}, "
      "l_bush_roll: {kp: 2.5e3, kd: 0}, r_bush_roll: {kp: 2.5e3, kd: 0}}",
  };
  tabi_scene *locked = load_with("stand", NULL, 0);
  assert_int_equal(tabi_model_nv(tabi_scene_model(locked)), 36);
  tabi_scene_destroy(locked);
  tabi_scene *scene = load_with("stand", set, 2);
  const tabi_model *model = tabi_scene_model(scene);
  assert_int_equal(tabi_model_nv(model), 42);
  tabi_world *world = open_world_with(scene, TABI_CONTACT_CONE);
  run(scene, world, 2);
  const double *q = tabi_world_q(world);
  double left = q[tabi_model_joint_q(model, tabi_model_find_joint(model, "robot/l_bush_z")).first];
  double right = q[tabi_model_joint_q(model, tabi_model_find_joint(model, "robot/r_bush_z")).first];
  /* the feet lie below the rubber */
  double carried = (58 - 2 * 1.8) * 9.81 / 2;
  assert_near(left, carried / 1e6, 0.02 * carried / 1e6);
  assert_near(right, left, 1e-6);
  tabi_world_destroy(world);
  tabi_scene_destroy(scene);
}

#define MOST_MEMORY ((size_t)304 * 1024)

static void test_memory(void **state) {
  (void)state;
  tabi_scene *scene = load_with("stand", NULL, 0);
  tabi_world *world = open_world_with(scene, TABI_CONTACT_CONE);
  assert_in_range(tabi_world_stats(world).memory, 1, MOST_MEMORY);
  tabi_world_destroy(world);
  tabi_scene_destroy(scene);
}

/* Dropped without control on its face, its back, its side and its head, it never needs half of the
 * room that there is by default. */
static void test_falls(void **state) {
  (void)state;
  static const char *const turned[] = {
      "robots.robot.rpy=[0, 1.5, 0]", "robots.robot.rpy=[0, -1.5, 0]",
      "robots.robot.rpy=[1.5, 0.2, 0]", "robots.robot.rpy=[2.9, 0.3, 0]"};
  for (size_t i = 0; i < sizeof turned / sizeof *turned; ++i) {
    const char *const set[] = {turned[i], "robots.robot.xyz=[0, 0, 1]"};
    tabi_scene *scene = load_with("stand", set, 2);
    tabi_world *world = open_world_with(scene, TABI_CONTACT_CONE);
    int32_t max = 0;
    while (tabi_world_time(world) < 1.2) {
      if (tabi_world_step(world, NULL) != TABI_OK) fail_msg("%s", tabi_world_error(world)->message);
      int32_t count;
      (void)tabi_world_contacts(world, &count);
      max = count > max ? count : max;
    }
    assert_in_range(max, 4, tabi_world_get_def(world).max_contacts / 2);
    tabi_world_destroy(world);
    tabi_scene_destroy(scene);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_sizes),          cmocka_unit_test(test_mirrored),
      cmocka_unit_test(test_no_findings),    cmocka_unit_test(test_stand_humanoid20),
      cmocka_unit_test(test_stand_figure40), cmocka_unit_test(test_bushes),
      cmocka_unit_test(test_memory),         cmocka_unit_test(test_falls),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

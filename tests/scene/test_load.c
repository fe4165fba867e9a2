/* test_load.c - bodies, materials, forces and settings of a scene, and what they become. */
#include "support/load.h"
#include "support/near.h"
#include "tabi/tabi_io.h"

#include <stdio.h>
#include <string.h>

static tabi_scene *load_with(const char *text, const char *const *set, int32_t nset) {
  tabi_scene_def def = tabi_scene_def_default();
  def.set = set;
  def.nset = nset;
  return load_scene_text(text, "dir/s.yaml", &def);
}

static tabi_scene *load(const char *text) { return load_with(text, NULL, 0); }

static tabi_link_def link_of(const tabi_scene *scene, const char *name) {
  int32_t link = tabi_model_find_link(tabi_scene_model(scene), name);
  assert_int_not_equal(link, TABI_NONE);
  return tabi_model_link(tabi_scene_model(scene), link);
}

static void test_defaults(void **state) {
  (void)state;
  tabi_scene *scene = load("bodies: [{name: a, fixed: true}]\n");
  tabi_world_def def = tabi_scene_world_def(scene);
  assert_string_equal(tabi_scene_name(scene), "");
  assert_near(def.timestep, 1e-3, 0);
  assert_near(tabi_scene_duration(scene), 5, 0);
  assert_near_n(def.gravity, ((const double[3]){0, 0, -9.81}), 3, 0);
  assert_int_equal(def.contact, TABI_CONTACT_CONE);
  assert_int_equal(def.integrator, TABI_SEMI_IMPLICIT);
  assert_true(def.lcp.static_friction);
  assert_int_equal(tabi_scene_nrobot(scene), 0);
  assert_int_equal(tabi_scene_get_log(scene).every, 1);
  assert_true(tabi_scene_get_log(scene).forces);
  tabi_scene_destroy(scene);
}

/* keys of the soft and the impulsive model, and words that other models leave alone */
static void test_soft_settings(void **state) {
  (void)state;
  tabi_scene *scene =
      load("integrator: euler\ncontact: {model: penalty, tangential_stiffness: 0.25}\n"
           "bodies: [{name: a, fixed: true}]\n");
  tabi_world_def def = tabi_scene_world_def(scene);
  assert_int_equal(def.contact, TABI_CONTACT_PENALTY);
  assert_int_equal(def.integrator, TABI_EULER);
  assert_near(def.penalty.tangential_stiffness, 0.25, 0);
  tabi_scene_destroy(scene);
  for (int i = 0; i < 2; ++i) {
    const char *const text[2] = {
        "contact: {model: penalty, variant: paper, seed: 3}\n",
        "contact: {model: impulse, variant: paper, tangential_stiffness: 2}\n"};
    scene = load(text[i]);
    assert_int_equal(tabi_scene_world_def(scene).contact,
                     i == 0 ? TABI_CONTACT_PENALTY_PAPER : TABI_CONTACT_IMPULSE_PAPER);
    tabi_scene_destroy(scene);
  }
}

static void test_settings(void **state) {
  (void)state;
  tabi_scene *scene = load("name: all of it\ntimestep: 2e-3\nduration: 7\ngravity: [1, 2, 3]\n"
                           "integrator: rk4\n"
                           "contact: {model: lcp, iterations: 50, tolerance: 1e-6, seed: 12,\n"
                           "  max_contacts: 99, allowed_depth: 1e-4, correction: 0.3,\n"
                           "  correction_speed: 0.5, warm_start: 0.9, variant: paper,\n"
                           "  storage: dense, static: off}\n"
                           "bodies: [{name: a, fixed: true}]\n"
                           "log: {every: 5, forces: false, signals: [a]}\n");
  tabi_world_def def = tabi_scene_world_def(scene);
  assert_string_equal(tabi_scene_name(scene), "all of it");
  assert_near(def.timestep, 2e-3, 0);
  assert_near(tabi_scene_duration(scene), 7, 0);
  assert_near_n(def.gravity, ((const double[3]){1, 2, 3}), 3, 0);
  assert_int_equal(def.contact, TABI_CONTACT_LCP_PAPER);
  assert_int_equal(def.integrator, TABI_RK4);
  assert_int_equal(def.iterations, 50);
  assert_near(def.tolerance, 1e-6, 0);
  assert_int_equal(def.seed, 12);
  assert_int_equal(def.max_contacts, 99);
  assert_near(def.allowed_depth, 1e-4, 0);
  assert_near(def.correction, 0.3, 0);
  assert_near(def.correction_speed, 0.5, 0);
  assert_near(def.warm_start, 0.9, 0);
  assert_int_equal(def.lcp.storage, TABI_STORAGE_DENSE);
  assert_false(def.lcp.static_friction);
  tabi_scene_log log = tabi_scene_get_log(scene);
  assert_int_equal(log.every, 5);
  assert_false(log.forces);
  assert_int_equal(log.nsignal, 1);
  assert_string_equal(log.signals[0], "a");
  tabi_scene_destroy(scene);
}

static void test_set(void **state) {
  (void)state;
  const char *const set[] = {"bodies.box.mass=3", "contact.model=lcp", "timestep=0.01",
                             "materials.wood.friction=0.1"};
  tabi_scene *scene = load_with("materials: {wood: {friction: 0.5}}\n"
                                "bodies: [{name: box, mass: 1, shape: {sphere: 0.1},"
                                " material: wood}]\n",
                                set, 4);
  assert_near(link_of(scene, "box").mass, 3, 0);
  assert_int_equal(tabi_scene_world_def(scene).contact, TABI_CONTACT_LCP);
  assert_near(tabi_scene_world_def(scene).timestep, 0.01, 0);
  assert_near(tabi_model_material(tabi_scene_model(scene), 0).friction, 0.1, 0);
  tabi_scene_destroy(scene);
}

#define BODY(shape) "bodies: [{name: a, mass: 6, shape: {" shape "}}]\n"

static void check_inertia(const char *text, double xx, double yy, double zz) {
  tabi_scene *scene = load(text);
  tabi_link_def link = link_of(scene, "a");
  const double expected[6] = {xx, yy, zz};
  assert_near(link.mass, 6, 1e-15);
  assert_near_n(link.inertia, expected, 6, 1e-14);
  tabi_scene_destroy(scene);
}

/* Moments of solids of 6 kg, by hand. */
static void test_inertia(void **state) {
  (void)state;
  check_inertia(BODY("box: [1, 2, 3]"), 0.5 * (4 + 9), 0.5 * (1 + 9), 0.5 * (1 + 4));
  check_inertia(BODY("sphere: 0.5"), 0.6, 0.6, 0.6);
  check_inertia(BODY("cylinder: [0.5, 2]"), 6 * (0.75 + 4) / 12, 6 * (0.75 + 4) / 12, 0.75);
  // a capsule of radius 1 and length 2: the ball weighs 2/5 of it, the cylinder 3/5
  double cylinder = 3.6 * (3 + 4) / 12;
  double ball = 2.4 * (0.4 - 9.0 / 64 + 1.375 * 1.375);
  check_inertia(BODY("capsule: [1, 2]"), cylinder + ball, cylinder + ball, 3.6 / 2 + 2.4 * 0.4);
  check_inertia("bodies: [{name: a, mass: 6, inertia: [1, 2, 2.5], shape: {sphere: 1}}]\n", 1, 2,
                2.5);
  // a cube by its corners
  check_inertia("bodies: [{name: a, mass: 6, shape: {hull: [[-1,-1,-1],[1,-1,-1],[-1,1,-1],"
                "[1,1,-1],[-1,-1,1],[1,-1,1],[-1,1,1],[1,1,1]]}}]\n",
                4, 4, 4);
}

static void test_density(void **state) {
  (void)state;
  tabi_scene *scene = load("bodies: [{name: a, density: 500, shape: {box: [0.1, 0.2, 0.3]}}]\n");
  assert_near(link_of(scene, "a").mass, 3, 1e-14);
  tabi_scene_destroy(scene);
}

static void test_start(void **state) {
  (void)state;
  tabi_scene *scene =
      load("bodies:\n"
           "  - {name: slope, fixed: true, shape: {plane: {}}, xyz: [0, 0, 1], rpy: [0, 0.3, 0]}\n"
           "  - {name: a, mass: 1, shape: {sphere: 0.1}, xyz: [1, 2, 3],\n"
           "     rpy: [0.1, 0.2, 0.3], lin: [4, 5, 6], ang: [7, 8, 9]}\n"
           "  - {name: b, mass: 1, shape: {sphere: 0.1}, quat: [0, 1, 0, 0]}\n");
  assert_int_equal(tabi_model_nv(tabi_scene_model(scene)), 12);
  tabi_world *world = open_world(scene, NULL);
  const tabi_dynamics *d = tabi_world_dynamics(world);
  double pos[3];
  double quat[4];
  double lin[3];
  double ang[3];
  tabi_dynamics_link_pose(d, 0, pos, quat);
  assert_near_n(pos, ((const double[3]){0, 0, 1}), 3, 1e-15);
  assert_near_n(quat, ((const double[4]){cos(0.15), 0, sin(0.15), 0}), 4, 1e-15);
  tabi_dynamics_link_pose(d, 1, pos, quat);
  tabi_dynamics_link_velocity(d, 1, lin, ang);
  assert_near_n(pos, ((const double[3]){1, 2, 3}), 3, 1e-15);
  assert_near_n(lin, ((const double[3]){4, 5, 6}), 3, 1e-14);
  assert_near_n(ang, ((const double[3]){7, 8, 9}), 3, 1e-14);
  // about x, then y, then z: the last row of the rotation
  assert_near(2 * (quat[1] * quat[3] - quat[0] * quat[2]), -sin(0.2), 1e-15);
  assert_near(2 * (quat[2] * quat[3] + quat[0] * quat[1]), cos(0.2) * sin(0.1), 1e-15);
  tabi_dynamics_link_pose(d, 2, pos, quat);
  assert_near_n(quat, ((const double[4]){0, 1, 0, 0}), 4, 1e-15);
  tabi_world_destroy(world);
  tabi_scene_destroy(scene);
}

/* A ball slides on a floor of another material: what friction does it feel? */
static double friction_between(const char *pairs) {
  char text[1024];
  (void)snprintf(text, sizeof text,
                 "materials: {a: {friction: 0.9, kinetic: 0.4}, b: {friction: 0.4}}\n%s"
                 "bodies:\n"
                 "  - {name: floor, fixed: true, shape: {plane: {}}, material: a}\n"
                 "  - {name: box, mass: 1, shape: {box: [1, 1, 0.1]}, xyz: [0, 0, 0.05],\n"
                 "     lin: [10, 0, 0], material: b}\n",
                 pairs);
  tabi_scene *scene = load(text);
  tabi_world *world = open_world(scene, NULL);
  for (int i = 0; i < 20; ++i)
    assert_int_equal(tabi_world_step(world, NULL), TABI_OK);
  int32_t count = 0;
  const tabi_contact *contact = tabi_world_contacts(world, &count);
  assert_true(count > 0);
  double friction = contact[0].friction;
  tabi_world_destroy(world);
  tabi_scene_destroy(scene);
  return friction;
}

static void test_materials(void **state) {
  (void)state;
  assert_near(friction_between(""), 0.4, 1e-15);
  assert_near(friction_between("pairs: [[a, b, {friction: 0.3}]]\n"), 0.3, 1e-15);
  assert_near(friction_between("pairs: [[b, a, {kinetic: 0.25}]]\n"), 0.25, 1e-15);
  // one for all, whatever stands elsewhere
  assert_near(friction_between("contact: {friction: 0.03}\n"), 0.03, 0);
  assert_near(friction_between("contact: {friction: 0}\npairs: [[b, a, {friction: 2}]]\n"), 0, 0);
}

/* Force from 0.01 to 0.02 s on 2 kg, without gravity: v = 3/2 * 0.01. */
static void test_force(void **state) {
  (void)state;
  tabi_scene *scene = load("gravity: [0, 0, 0]\n"
                           "bodies: [{name: a, mass: 2, shape: {sphere: 0.1}},\n"
                           "         {name: b, mass: 2, shape: {sphere: 0.1}, xyz: [9, 0, 0]}]\n"
                           "forces:\n"
                           "  - {body: a, force: [3, 0, 0], from: 0.01, to: 0.02}\n"
                           "  - {body: b, force: [0, 0, 4], at: [0.5, 0, 0], to: 0.01}\n");
  tabi_world *world = open_world(scene, NULL);
  for (int i = 0; i < 50; ++i) {
    step_world(scene, world);
  }
  double lin[3];
  double ang[3];
  tabi_dynamics_link_velocity(tabi_world_dynamics(world), 0, lin, ang);
  assert_near_n(lin, ((const double[3]){0.015, 0, 0}), 3, 1e-12);
  assert_near_n(ang, ((const double[3]){0, 0, 0}), 3, 1e-12);
  // the point is half a metre beside the centre; torque -2 N m about y for 10 ms on 0.008 kg m^2
  tabi_dynamics_link_velocity(tabi_world_dynamics(world), 1, lin, ang);
  assert_near(lin[2], 0.02, 1e-12);
  assert_true(ang[1] < -2.2 && ang[1] > -2.51);
  tabi_world_destroy(world);
  tabi_scene_destroy(scene);
}

/* A world of another scene, whose state is larger, is refused and stays as it is. */
static void test_foreign_world(void **state) {
  (void)state;
  tabi_scene *small = load("bodies: [{name: a, mass: 1, shape: {sphere: 0.1}}]\n");
  tabi_scene *large = load("bodies:\n  - {name: a, mass: 1, shape: {sphere: 0.1}, xyz: [1, 2, 3]}\n"
                           "  - {name: b, mass: 1, shape: {sphere: 0.1}}\n");
  tabi_world *world = open_world(large, NULL);
  tabi_error err = {0};
  assert_int_equal(tabi_scene_reset(small, world, &err), TABI_ERR_ARGUMENT);
  assert_non_null(strstr(err.message, "was not made of this scene's model"));
  assert_int_equal(tabi_scene_reset(small, world, NULL), TABI_ERR_ARGUMENT);
  assert_near_n(tabi_world_q(world), ((const double[3]){1, 2, 3}), 3, 0);
  tabi_world_destroy(world);
  world = open_world(small, NULL);
  assert_int_equal(tabi_scene_reset(large, world, &err), TABI_ERR_ARGUMENT);
  tabi_world_destroy(world);
  tabi_scene_destroy(small);
  tabi_scene_destroy(large);
}

/* Changes without their array are refused with an error. */
static void test_bad_def(void **state) {
  (void)state;
  static const char text[] = "bodies: [{name: a, fixed: true}]\n";
  const char *const nothing[1] = {NULL};
  const struct {
    const char *const *set;
    int32_t nset;
  } bad[] = {
      {NULL,    1 },
      {nothing, 1 },
      {nothing, -1},
  };
  for (size_t i = 0; i < sizeof bad / sizeof *bad; ++i) {
    tabi_scene_def def = tabi_scene_def_default();
    def.set = bad[i].set;
    def.nset = bad[i].nset;
    tabi_error err = {0};
    assert_null(tabi_scene_load_text(text, sizeof text - 1, "s.yaml", &def, &err));
    assert_int_equal(err.status, TABI_ERR_ARGUMENT);
    assert_non_null(strstr(err.message, "tabi_scene_def"));
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_defaults),      cmocka_unit_test(test_settings),
      cmocka_unit_test(test_soft_settings), cmocka_unit_test(test_set),
      cmocka_unit_test(test_inertia),       cmocka_unit_test(test_density),
      cmocka_unit_test(test_start),         cmocka_unit_test(test_materials),
      cmocka_unit_test(test_force),         cmocka_unit_test(test_foreign_world),
      cmocka_unit_test(test_bad_def),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

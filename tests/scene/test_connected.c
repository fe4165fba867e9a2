/* test_connected.c - connections of every type in small scenes: what they hold stays, what they
 * leave free moves as mechanics has it. */
#include "math/quat.h"
#include "support/load.h"
#include "support/near.h"
#include "tabi/tabi_io.h"

static scene_world start(const char *text) {
  return scene_world_open(load_scene_text(text, "dir/s.yaml", NULL));
}

/* Until a time; all connections but springs stay closed within 1e-6. */
static void go(scene_world *r, double time) {
  while (tabi_world_time(r->world) < time - 1e-9) {
    step_world(r->scene, r->world);
    const tabi_model *model = tabi_scene_model(r->scene);
    for (int32_t i = 0; i < tabi_model_nconnection(model); ++i) {
      tabi_connection_state state = tabi_world_connection(r->world, i);
      if (tabi_model_connection(model, i).type == TABI_CONNECTION_SPRING) continue;
      if (!(fabs(state.gap) < 1e-6 && fabs(state.turn) < 1e-6))
        fail_msg("%g s: gap %g, turn %g", tabi_world_time(r->world), state.gap, state.turn);
    }
  }
}

static void pose(scene_world *r, const char *name, double pos[3], double quat[4]) {
  int32_t link = tabi_model_find_link(tabi_scene_model(r->scene), name);
  tabi_dynamics_link_pose(tabi_world_dynamics(r->world), link, pos, quat);
}

static void velocity(scene_world *r, const char *name, double lin[3], double ang[3]) {
  int32_t link = tabi_model_find_link(tabi_scene_model(r->scene), name);
  tabi_dynamics_link_velocity(tabi_world_dynamics(r->world), link, lin, ang);
}

static double energy(scene_world *r) {
  tabi_energy e = tabi_world_energy(r->world);
  return e.kinetic + e.potential + e.spring;
}

/* A bar hung by its end swings and spins as long as it likes. */
static void test_ball(void **state) {
  (void)state;
  scene_world r =
      start("bodies: [{name: bar, mass: 2, shape: {box: [0.1, 0.12, 1]}, xyz: [0.5, 0, 2],\n"
            "  rpy: [0, 1.5707963267948966, 0], lin: [0, 1.5, 0], ang: [0, 0, 3]}]\n"
            "connections: [{type: ball, a: world, b: bar, at: [0, 0, 2]}]\n");
  double before = energy(&r);
  go(&r, 2);
  assert_near(energy(&r), before, 2e-3 * 2 * 9.81);
  scene_world_close(&r);
}

/* A door on a leaning axis falls open and turns about nothing else. */
static void test_hinge(void **state) {
  (void)state;
  scene_world r =
      start("bodies: [{name: door, mass: 5, shape: {box: [0.8, 0.04, 1.8]}, xyz: [0.4, 0, 1]}]\n"
            "connections: [{type: hinge, a: door, b: world, at: [-0.4, 0, 0], axis: [0, 1, 4]}]\n");
  v3 axis = v3_scale(1 / sqrt(17), v3_make(0, 1, 4));
  double turned = 0;
  for (int i = 1; i <= 20; ++i) {
    double lin[3];
    double ang[3];
    go(&r, 0.1 * i);
    velocity(&r, "door", lin, ang);
    turned = fmax(turned, v3_norm(v3_load(ang)));
    assert_near(v3_norm(v3_cross(axis, v3_load(ang))), 0, 1e-4);
  }
  assert_true(turned > 0.5);
  scene_world_close(&r);
}

/* Two bodies made one: the smaller rides along, and together they fall as one would. */
static void test_fixed(void **state) {
  (void)state;
  scene_world r = start(
      "bodies:\n"
      "  - {name: big, mass: 3, shape: {box: [0.4, 0.3, 0.2]}, xyz: [0, 0, 5], ang: [1, 2, 3]}\n"
      "  - {name: small, mass: 1, shape: {sphere: 0.1}, xyz: [0.5, 0.1, 5], lin: [-0.3, 1.5, "
      "-0.9], ang: [1, 2, 3]}\n"
      "connections: [{type: fixed, a: big, b: small}]\n");
  double big[3];
  double small[3];
  double quat[4];
  double other[4];
  go(&r, 0.7);
  pose(&r, "big", big, quat);
  pose(&r, "small", small, other);
  m3 rot = q_matrix(q_load(quat));
  v3 arm = m3_tmulv(&rot, v3_sub(v3_load(small), v3_load(big)));
  assert_near(arm.x, 0.5, 1e-6);
  assert_near(arm.y, 0.1, 1e-6);
  assert_near(arm.z, 0, 1e-6);
  assert_near_n(other, quat, 4, 1e-6);
  scene_world_close(&r);
}

/* A slider: 2 N along x and across push 2 kg for 1 s; it moves 0.5 m along x and nowhere else. */
static void test_axes(void **state) {
  (void)state;
  scene_world r =
      start("bodies: [{name: box, mass: 2, shape: {box: [0.2, 0.2, 0.2]}, xyz: [0, 0, 1]}]\n"
            "connections: [{type: axes, a: world, b: box, at: [0, 0, 1],\n"
            "  axes: [y, z, rx, ry, rz]}]\n"
            "forces: [{body: box, force: [2, 2, 0], at: [0, 0, 0.1]}]\n");
  double pos[3];
  double quat[4];
  go(&r, 1);
  pose(&r, "box", pos, quat);
  assert_near(pos[0], 0.5, 1e-3);
  assert_near(pos[1], 0, 1e-6);
  assert_near(pos[2], 1, 1e-6);
  assert_near(quat[0], 1, 1e-6);
  scene_world_close(&r);
}

/* A dumb-bell of two balls and a rod without mass spins at the rate it began with. */
static void test_rod(void **state) {
  (void)state;
  scene_world r =
      start("gravity: [0, 0, 0]\n"
            "bodies:\n"
            "  - {name: a, mass: 1, shape: {sphere: 0.1}, xyz: [0.5, 0, 0], lin: [0, 2, 0]}\n"
            "  - {name: b, mass: 1, shape: {sphere: 0.1}, xyz: [-0.5, 0, 0], lin: [0, -2, 0]}\n"
            "connections: [{type: rod, a: a, b: b, at: [0, 0, 0], at_b: [0, 0, 0]}]\n");
  double pos[3];
  double quat[4];
  double turn = 2 * acos(-1) / 4; // s, of one round at 4 rad/s
  go(&r, turn);
  pose(&r, "a", pos, quat);
  assert_near(pos[0], 0.5, 0.01);
  assert_near(pos[1], 0, 0.01);
  assert_near(energy(&r), 4, 4e-3);
  scene_world_close(&r);
}

/* Dropped where its spring is at rest, a mass m swings about m g / k below that and is at twice the
 * depth after half a period, pi sqrt(m / k). */
static void test_spring(void **state) {
  (void)state;
  scene_world r =
      start("bodies: [{name: ball, mass: 2, shape: {sphere: 0.1}, xyz: [0, 0, 1]}]\n"
            "connections: [{type: spring, a: world, b: ball, at: [0, 0, 2], at_b: [0, 0, 0],\n"
            "  stiffness: 50}]\n");
  double pos[3];
  double quat[4];
  double before = energy(&r);
  go(&r, acos(-1) * sqrt(2.0 / 50)); // half a period
  pose(&r, "ball", pos, quat);
  assert_near(pos[2], 1 - 2 * 2 * 9.81 / 50, 5e-3);
  assert_near(energy(&r), before, 0.1);
  scene_world_close(&r);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_ball), cmocka_unit_test(test_hinge), cmocka_unit_test(test_fixed),
      cmocka_unit_test(test_axes), cmocka_unit_test(test_rod),   cmocka_unit_test(test_spring),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

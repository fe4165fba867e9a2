/* test_over_time.c - what a scene prescribes over time: forces that are sines or come from tables.
 */
#include "support/load.h"
#include "support/near.h"
#include "support/scratch.h"
#include "tabi/tabi_io.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static tabi_scene *load(const char *text) { return load_scene(scratch_text("s.yaml", text), NULL); }

/* Forces that change over time on 2 kg for half a second: a sine of half a period, 3 N at 1 Hz,
 * gives v = 2 F / (m w), and 4 N/s from a table, linear between its rows, h^2 exactly. */
static void test_force_over_time(void **state) {
  (void)state;
  (void)scratch_text("push.csv", "time, fx, tz\n0, 0, 0\n1, 4, 0\n");
  tabi_scene *scene = load("gravity: [0, 0, 0]\n"
                           "bodies: [{name: a, mass: 2, shape: {sphere: 0.1}},\n"
                           "         {name: b, mass: 2, shape: {sphere: 0.1}, xyz: [9, 0, 0]}]\n"
                           "forces:\n"
                           "  - {body: a, force: [3, 0, 0], sine: {frequency: 1}}\n"
                           "  - {body: b, table: push.csv}\n");
  tabi_world *world = open_world(scene, NULL);
  for (int i = 0; i < 500; ++i)
    step_world(scene, world);
  assert_near(tabi_world_v(world)[0], 3 / (2 * M_PI), 1e-5 * 3 / (2 * M_PI));
  assert_near(tabi_world_v(world)[6], 0.25, 1e-12);
  tabi_world_destroy(world);
  tabi_scene_destroy(scene);
}

static scene_world open_text(const char *text) { return scene_world_open(load(text)); }

static void run(scene_world *s, int steps) {
  for (int i = 0; i < steps; ++i)
    step_world(s->scene, s->world);
}

static const double *position_of(const scene_world *s, const char *body) {
  int32_t joint = tabi_model_find_joint(tabi_scene_model(s->scene), body);
  assert_int_not_equal(joint, TABI_NONE);
  return tabi_world_q(s->world) + tabi_model_joint_q(tabi_scene_model(s->scene), joint).first;
}

static double velocity_of(const scene_world *s, const char *joint) {
  const tabi_model *model = tabi_scene_model(s->scene);
  return tabi_world_v(
      s->world)[tabi_model_joint_v(model, tabi_model_find_joint(model, joint)).first];
}

/* A box of 2 kg is put on a belt of 0.5 m/s, friction 0.5: it slides for v / (mu g), falls back by
 * v^2 / (2 mu g), and the belt does twice the work that the box keeps.  Its shape stays. */
static void belt_carries_a_box(void **state) {
  (void)state;
  static const char *const contact[] = {"cone", "lcp", "exact", "penalty", "impulse"};
  for (int i = 0; i < 5; ++i) {
    char text[512];
    (void)snprintf(text, sizeof text,
                   "contact: {model: %s}\n"
                   "bodies:\n"
                   "  - {name: belt, shape: {box: [4, 1, 0.2]}, xyz: [0, 0, -0.1],\n"
                   "     motion: {velocity: [0.5, 0, 0], in_place: true}}\n"
                   "  - {name: box, mass: 2, shape: {box: [0.2, 0.2, 0.2]}, xyz: [0, 0, 0.1]}\n",
                   contact[i]);
    scene_world s = open_text(text);
    run(&s, 2000);
    double back = 0.25 / (2 * 0.5 * 9.81);
    assert_near(position_of(&s, "box")[0], 2 * 0.5 - back, 5e-4);
    assert_near(velocity_of(&s, "box"), 0.5, 1e-6);
    assert_near(tabi_world_energy(s.world).work, 2 * 0.5 * 0.5, 0.01);
    assert_near_n(position_of(&s, "belt"), ((const double[]){0, 0, -0.1, 1, 0, 0, 0}), 7, 0);
    scene_world_close(&s);
  }
}

/* A turntable turns by 4 rad and carries along what lies on it with that velocity. */
static void turntable_turns(void **state) {
  (void)state;
  scene_world s =
      open_text("bodies:\n"
                "  - {name: floor, fixed: true, shape: {plane: {}}, xyz: [0, 0, -0.2]}\n"
                "  - {name: disc, shape: {cylinder: [1, 0.2]}, xyz: [0, 0, -0.1],\n"
                "     motion: {angular: [0, 0, 2]}}\n"
                "  - {name: box, mass: 2, shape: {box: [0.2, 0.2, 0.2]},\n"
                "     xyz: [0.5, 0, 0.1], lin: [0, 1, 0], ang: [0, 0, 2]}\n");
  run(&s, 2000);
  const double *disc = position_of(&s, "disc");
  assert_near_n(disc, ((const double[]){0, 0, -0.1, cos(2), 0, 0, sin(2)}), 7, 1e-11);
  const double *box = position_of(&s, "box");
  assert_near(hypot(box[0], box[1]), 0.5, 0.005);
  assert_near(atan2(box[1], box[0]), 4 - 2 * M_PI, 0.01);
  scene_world_close(&s);
}

/* A lift follows the positions of its table, and lifts a box with the work that this takes. */
static void lift_follows_its_table(void **state) {
  (void)state;
  (void)scratch_text("lift.csv", "time, z\n0, 7\n0.2, 7\n1.2, 7.5\n");
  scene_world s = open_text("bodies:\n"
                            "  - {name: deck, mass: 3, shape: {box: [1, 1, 0.2]},\n"
                            "     xyz: [0, 0, -0.1], motion: {table: lift.csv}}\n"
                            "  - {name: box, mass: 2, shape: {box: [0.2, 0.2, 0.2]},\n"
                            "     xyz: [0, 0, 0.1]}\n");
  run(&s, 700);
  assert_near(position_of(&s, "deck")[2], 0.15, 1e-12);
  assert_near(position_of(&s, "box")[2], 0.35, 1e-5);
  assert_near(tabi_world_energy(s.world).work, 5 * 9.81 * 0.25 + 0.5 * 5 * 0.25, 0.4);
  run(&s, 1300);
  assert_near(position_of(&s, "deck")[2], 0.4, 1e-12);
  scene_world_close(&s);
}

/* A shaker whose velocity is a sine moves by the integral of it, to the last digit or so. */
static void shaker_follows_its_sine(void **state) {
  (void)state;
  scene_world s = open_text("bodies:\n"
                            "  - {name: deck, motion: {velocity: [0.4, 0, 0],\n"
                            "     sine: {frequency: 2, phase: 0.5}}}\n");
  run(&s, 300);
  double w = 4 * M_PI;
  assert_near(position_of(&s, "deck")[0], 0.4 / w * (cos(0.5) - cos(w * 0.3 + 0.5)), 1e-13);
  scene_world_close(&s);
}

#define CART_MASS "<inertia ixx='1e-9' iyy='1e-9' izz='1e-9'/></inertial></link>"

/* A cart on a rail, with a limit at 1 m, and a pendulum of 1 m. */
static const char cart[] =
    "<robot name='cart'><link name='base'/>"
    "<link name='cart'><inertial><mass value='3'/>" CART_MASS
    "<link name='bob'><inertial><origin xyz='0 0 -1'/><mass value='1'/>" CART_MASS
    "<joint name='rail' type='prismatic'><parent link='base'/><child link='cart'/>"
    "<axis xyz='1 0 0'/><limit lower='-1' upper='1' effort='0' velocity='9'/></joint>"
    "<joint name='swing' type='continuous'><parent link='cart'/><child link='bob'/>"
    "<axis xyz='0 1 0'/></joint></robot>";

/* Under a constant acceleration a of the cart its pendulum rests at atan(a / g), past the limit of
 * the rail too; the cart does the work that both gain. */
static void cart_carries_its_pendulum(void **state) {
  (void)state;
  static const char *const integrator[] = {"semi-implicit", "midpoint", "rk4", "euler"};
  (void)scratch_text("cart.urdf", cart);
  (void)scratch_text("ramp.csv", "time, velocity\n0, 0\n10, 10\n");
  for (int i = 0; i < 4; ++i) {
    char text[512];
    (void)snprintf(text, sizeof text,
                   "integrator: %s\nrobots:\n"
                   "  - {name: r, model: cart.urdf, base: fixed, posture: {swing: %.17g},\n"
                   "     motion: {rail: {table: ramp.csv}}}\n",
                   integrator[i], atan(1 / 9.81));
    scene_world s = open_text(text);
    double before = tabi_world_energy(s.world).kinetic + tabi_world_energy(s.world).potential;
    run(&s, 2000);
    tabi_energy energy = tabi_world_energy(s.world);
    assert_near(position_of(&s, "r/swing")[0], atan(1 / 9.81), 1e-4);
    assert_near(position_of(&s, "r/rail")[0], 2, 1e-11);
    assert_near(energy.kinetic + energy.potential - before, energy.work, 1e-3 * energy.work);
    scene_world_close(&s);
  }
}

/* What is told is part of the state: a world that is restored, without its scene, goes on alike. */
static void motion_is_in_snapshots(void **state) {
  (void)state;
  static char snapshot[1 << 16];
  const char *text =
      "bodies:\n"
      "  - {name: disc, shape: {cylinder: [1, 0.2]}, xyz: [0, 0, -0.1],\n"
      "     motion: {angular: [0, 0, 2], in_place: true}}\n"
      "  - {name: box, mass: 2, shape: {box: [0.2, 0.2, 0.2]}, xyz: [0.4, 0, 0.1]}\n";
  scene_world s = open_text(text);
  scene_world other = open_text(text);
  run(&s, 100);
  size_t size = tabi_world_snapshot_size(s.world);
  assert_true(size <= sizeof snapshot);
  tabi_world_save(s.world, snapshot);
  assert_int_equal(tabi_world_restore(other.world, snapshot, size), TABI_OK);
  for (int i = 0; i < 100; ++i) {
    assert_int_equal(tabi_world_step(s.world, NULL), TABI_OK);
    assert_int_equal(tabi_world_step(other.world, NULL), TABI_OK);
  }
  assert_true(tabi_world_hash(s.world) == tabi_world_hash(other.world));
  assert_true(tabi_world_energy(s.world).work == tabi_world_energy(other.world).work);
  assert_true(tabi_world_energy(s.world).work > 0);
  scene_world_close(&s);
  scene_world_close(&other);
}

/* Numbers that are no velocity are refused, the state stays; a joint without motion is free. */
static void motion_is_checked_and_ends(void **state) {
  (void)state;
  scene_world s = open_text("bodies: [{name: deck, motion: {velocity: [1, 0, 0]}}]\n");
  run(&s, 10);
  uint64_t before = tabi_world_hash(s.world);
  const tabi_motion bad = {
      .v = {0, NAN}
  };
  tabi_world_set_motion(s.world, 0, &bad);
  assert_int_equal(tabi_world_step(s.world, NULL), TABI_ERR_ARGUMENT);
  assert_non_null(strstr(tabi_world_error(s.world)->message, "motion of joint 'deck': nan"));
  assert_true(tabi_world_hash(s.world) == before);
  tabi_world_set_motion(s.world, 0, NULL);
  assert_int_equal(tabi_world_step(s.world, NULL), TABI_OK);
  assert_near_n(tabi_world_v(s.world), ((const double[]){1, 0, -9.81e-3}), 3, 1e-15);
  scene_world_close(&s);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_force_over_time),    cmocka_unit_test(belt_carries_a_box),
      cmocka_unit_test(turntable_turns),         cmocka_unit_test(lift_follows_its_table),
      cmocka_unit_test(shaker_follows_its_sine), cmocka_unit_test(cart_carries_its_pendulum),
      cmocka_unit_test(motion_is_in_snapshots),  cmocka_unit_test(motion_is_checked_and_ends),
  };
  return cmocka_run_group_tests(tests, scratch_begin, scratch_end);
}

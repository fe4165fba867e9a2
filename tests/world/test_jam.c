/* test_jam.c - default cone in jams, where sweeps and a few Newton steps do not get there: what
 * locks itself holds, a rope around a drum holds up to Euler's limit, also by the sweeps of lcp,
 * and no energy appears; nor by friction of impulse. */
#include "math/vec.h"
#include "support/load.h"
#include "support/near.h"

#include <stdio.h>
#include <string.h>

typedef struct outcome {
  double moved, gain; /* m, and J above the lowest energy so far */
  double depth;       /* m */
  int64_t unsettled;
} outcome;

static double energy_of(tabi_world *world) {
  tabi_energy e = tabi_world_energy(world);
  return e.kinetic + e.potential + e.spring - e.work;
}

static outcome run_by(const char *text, const char *name, int steps, tabi_contact_kind contact) {
  tabi_scene *scene = load_scene_text(text, "jam.yaml", NULL);
  tabi_world *world = open_world_with(scene, contact);
  int32_t link = tabi_model_find_link(tabi_scene_model(scene), name);
  assert_true(link >= 0);
  outcome o = {0};
  double start[3], end[3], quat[4];
  double lowest = energy_of(world);
  tabi_dynamics_link_pose(tabi_world_dynamics(world), link, start, quat);
  for (int i = 0; i < steps; ++i) {
    step_world(scene, world);
    tabi_certificate c = tabi_world_certificate(world);
    assert_true(c.contact_work <= 1e-9);
    o.unsettled += !c.converged;
    o.depth = fmax(o.depth, c.gap);
    lowest = fmin(lowest, energy_of(world));
    o.gain = fmax(o.gain, energy_of(world) - lowest);
  }
  tabi_dynamics_link_pose(tabi_world_dynamics(world), link, end, quat);
  o.moved = v3_norm(v3_sub(v3_load(end), v3_load(start)));
  tabi_world_destroy(world);
  tabi_scene_destroy(scene);
  return o;
}

static outcome run(const char *text, const char *name, int steps) {
  return run_by(text, name, steps, TABI_CONTACT_CONE);
}

/* A block between a slippery floor and the rounded end of an arm on a hinge, pulled against the
 * arm.  With the arm's angle to the normal below the angle of friction the pull tightens the grip:
 * nothing moves, whatever the force.  tan(angle) = friction / 1.05. */
static void sprag_holds(void **state) {
  (void)state;
  static const double forces[] = {1, 10, 100};
  for (int i = 0; i < 3; ++i) {
    double reach = 0.2, friction = 0.3;
    double angle = atan(friction / 1.05);
    char text[2048];
    (void)snprintf(
        text, sizeof text,
        "name: sprag\n"
        "materials: {arm: {friction: %g}, floor: {friction: 0}, block: {friction: 1}}\n"
        "pairs: [[arm, block, {friction: %g}], [floor, block, {friction: 0}]]\n"
        "bodies:\n"
        "  - {name: floor, fixed: true, shape: {plane: {}}, material: floor}\n"
        "  - {name: block, mass: 1, shape: {box: [1, 0.2, 0.1]}, xyz: [0, 0, 0.05], material: "
        "block}\n"
        "  - {name: arm, mass: 0.2, inertia: [1e-3, 1e-3, 1e-3], shape: {sphere: 0.02}, xyz: "
        "[0, 0, 0.12], material: arm}\n"
        "connections:\n"
        "  - {type: hinge, a: arm, b: world, at: [%.17g, 0, %.17g], axis: [0, 1, 0]}\n"
        "forces:\n"
        "  - {body: block, force: [%g, 0, 0]}\n",
        friction, friction, -reach * sin(angle), 0.1 + reach * cos(angle), -forces[i]);
    outcome o = run(text, "block", 500);
    print_message("sprag, %g N: moved %g m, gained %g J, %g m deep, %d steps unsettled\n",
                  forces[i], o.moved, o.gain, o.depth, (int)o.unsettled);
    assert_true(o.moved < 1e-6);
    assert_true(o.gain < 1e-9);
    assert_true(o.depth < 1e-8);
  }
}

enum { BEADS = 13, ROPE_TEXT = 16384 };

/* Light beads on a fixed drum, joined by rods, over half a turn, with a mass on either end: they
 * hold while the ratio of the weights is below that of the polygon of beads, which is
 * (cos(b) + friction sin(b)) / (cos(b) - friction sin(b)) per bead with half the angle b between
 * beads; the beads at the ends turn the rope by half as much, and make one together. */
static void rope(double share, char text[ROPE_TEXT]) {
  double friction = 0.3, drum = 0.2, bead = 0.005, turn = acos(-1) / (BEADS - 1);
  double inner =
      (cos(turn / 2) + friction * sin(turn / 2)) / (cos(turn / 2) - friction * sin(turn / 2));
  double limit = pow(inner, BEADS - 1);
  double radius = drum + bead;
  char *at = text, *end = text + ROPE_TEXT;
  at += snprintf(at, (size_t)(end - at),
                 "name: capstan\nmaterials: {p: {friction: %g}}\nbodies:\n"
                 "  - {name: drum, fixed: true, shape: {cylinder: [%g, 0.1]}, rpy: "
                 "[1.5707963267948966, 0, 0], material: p}\n",
                 friction, drum);
  for (int i = 0; i < BEADS; ++i)
    at += snprintf(at, (size_t)(end - at),
                   "  - {name: b%d, mass: 1e-4, shape: {sphere: %g}, xyz: [%.17g, 0, %.17g], "
                   "material: p}\n",
                   i, bead, radius * cos(turn * i), radius * sin(turn * i));
  double weight[2] = {1, share * limit};
  for (int i = 0; i < 2; ++i)
    at += snprintf(at, (size_t)(end - at),
                   "  - {name: w%d, mass: %.17g, shape: {sphere: 0.01}, xyz: [%.17g, 0, -0.3]}\n",
                   i, weight[i], i ? -radius : radius);
  at += snprintf(at, (size_t)(end - at), "connections:\n");
  for (int i = 0; i < BEADS; ++i) {
    at += snprintf(at, (size_t)(end - at),
                   "  - {type: axes, a: b%d, b: world, at: [0, 0, 0], axes: [y, rx, ry, rz]}\n", i);
    if (i > 0)
      at += snprintf(at, (size_t)(end - at),
                     "  - {type: rod, a: b%d, b: b%d, at: [0, 0, 0], at_b: [0, 0, 0]}\n", i - 1, i);
  }
  for (int i = 0; i < 2; ++i)
    at += snprintf(at, (size_t)(end - at),
                   "  - {type: axes, a: w%d, b: world, at: [0, 0, 0], axes: [x, y, rx, ry, rz]}\n"
                   "  - {type: rod, a: b%d, b: w%d, at: [0, 0, 0], at_b: [0, 0, 0]}\n",
                   i, i ? BEADS - 1 : 0, i);
  assert_true(at < end);
}

static void capstan_holds(void **state) {
  (void)state;
  static char text[ROPE_TEXT];
  rope(0.95, text);
  outcome holds = run(text, "w1", 300);
  rope(1.2, text);
  outcome slips = run(text, "w1", 300);
  print_message("capstan: moved %g m below its limit, %g m above\n", holds.moved, slips.moved);
  assert_true(holds.moved < 1e-9);
  assert_true(slips.moved > 1e-3);
}

/* Sweeps alone need more than 120 of them at first. */
static void capstan_holds_by_lcp(void **state) {
  (void)state;
  static char text[ROPE_TEXT];
  rope(0.95, text);
  outcome holds = run_by(text, "w1", 300, TABI_CONTACT_LCP);
  print_message("capstan by lcp: moved %g m, gained %g J, %g m deep, %d steps unsettled\n",
                holds.moved, holds.gain, holds.depth, (int)holds.unsettled);
  assert_true(holds.moved < 1e-4);
  assert_true(holds.depth < 1e-4);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(sprag_holds),
      cmocka_unit_test(capstan_holds),
      cmocka_unit_test(capstan_holds_by_lcp),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

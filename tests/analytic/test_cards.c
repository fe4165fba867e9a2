/* test_cards.c - two cards that lean against each other along their upper edges.
 *
 * By symmetry they push each other horizontally, by H.  About the foot of a card of weight G,
 * length l and thickness w that leans by an angle t, H l cos t = G (l sin t - w cos t) / 2, and the
 * floor must hold H by friction: they stand if mu > tan(t) / 2 - w / (2 l).  With the normal of one
 * card's face between them they would need more than twice as much. */
#include "support/load.h"
#include "support/near.h"

#include <stdio.h>

#define LENGTH 0.09
#define WIDTH  0.003

/* a box, or the same as the hull of its corners */
static const char *shape_text(bool hull) {
  return hull ? "{hull: [[-0.0015, -0.03, -0.045], [0.0015, -0.03, -0.045], [-0.0015, 0.03, "
                "-0.045], "
                "[0.0015, 0.03, -0.045], [-0.0015, -0.03, 0.045], [0.0015, -0.03, 0.045], "
                "[-0.0015, 0.03, 0.045], [0.0015, 0.03, 0.045]]}"
              : "{box: [0.003, 0.06, 0.09]}";
}

/* How far a card has sunk after half a second, of what it can. */
static double sink(double lean, double friction, bool hull, tabi_contact_kind contact) {
  double x = 0.5 * (WIDTH * cos(lean) + LENGTH * sin(lean));
  double z = 0.5 * (LENGTH * cos(lean) + WIDTH * sin(lean));
  char text[2048];
  (void)snprintf(text, sizeof text,
                 "materials: {paper: {friction: %.17g}}\n"
                 "bodies:\n"
                 "  - {name: floor, fixed: true, shape: {plane: {}}, material: paper}\n"
                 "  - {name: left, mass: 0.01, shape: %s, xyz: [%.17g, 0, %.17g],\n"
                 "     rpy: [0, %.17g, 0], material: paper}\n"
                 "  - {name: right, mass: 0.01, shape: %s, xyz: [%.17g, 0, %.17g],\n"
                 "     rpy: [0, %.17g, 0], material: paper}\n",
                 friction, shape_text(hull), -x, z, lean, shape_text(hull), x, z, -lean);
  tabi_scene *scene = load_scene_text(text, "cards.yaml", NULL);
  tabi_world *world = open_world_with(scene, contact);
  for (int i = 0; i < 500; ++i)
    step_world(scene, world);
  double pos[3];
  double quat[4];
  tabi_dynamics_link_pose(tabi_world_dynamics(world),
                          tabi_model_find_link(tabi_scene_model(scene), "left"), pos, quat);
  tabi_world_destroy(world);
  tabi_scene_destroy(scene);
  return (z - pos[2]) / z;
}

/* The pyramid of lcp holds as much as the cone, and up to sqrt(2) times as much along its diagonal.
 */
static void check_critical(bool hull, tabi_contact_kind contact) {
  double slip = contact == TABI_CONTACT_LCP ? 0.98 / sqrt(2) : 0.98;
  for (int i = 0; i < 6; ++i) {
    double lean = 0.15 + 0.11 * i;
    double critical = 0.5 * (tan(lean) - WIDTH / LENGTH);
    assert_true(sink(lean, 1.02 * critical, hull, contact) < 1e-3);
    assert_true(sink(lean, slip * critical, hull, contact) > 0.02);
  }
}

static void boxes_lean(void **state) {
  (void)state;
  check_critical(false, TABI_CONTACT_CONE);
  check_critical(false, TABI_CONTACT_EXACT);
  check_critical(false, TABI_CONTACT_IMPULSE);
  check_critical(false, TABI_CONTACT_LCP);
}

static void hulls_lean(void **state) {
  (void)state;
  check_critical(true, TABI_CONTACT_CONE);
  check_critical(true, TABI_CONTACT_EXACT);
  check_critical(true, TABI_CONTACT_IMPULSE);
  check_critical(true, TABI_CONTACT_LCP);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(boxes_lean),
      cmocka_unit_test(hulls_lean),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

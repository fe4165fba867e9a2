/* test_ellipsoid.c - ellipsoids that rock on the floor, and bodies whose centre of mass is not in
 * their middle.
 *
 * Lying on the end of its semi-axis c, an ellipsoid touches the floor where its curvature in the
 * plane of c and a has the radius a^2/c.  Rocking in that plane by small angles it has
 *
 *   w^2 = m g (a^2/c - c) / (m (a^2 + c^2)/5 + m c^2),
 *
 * the last term only if it rolls.  A ball with its centre of mass e below its middle has
 * w^2 = m g e / (I + m (r - e)^2). */
#include "support/load.h"
#include "support/near.h"

#include <stdio.h>
#include <string.h>

#define G 9.81

/* The angle about y of the body. */
static double tilt(tabi_world *world, const tabi_scene *scene) {
  double pos[3];
  double quat[4];
  int32_t link = tabi_model_find_link(tabi_scene_model(scene), "body");
  tabi_dynamics_link_pose(tabi_world_dynamics(world), link, pos, quat);
  return 2 * atan2(quat[2], quat[0]);
}

/* The mean time between crossings of zero, by which half a turn of the phase takes. */
static double half_period(const char *body, double friction, tabi_contact_kind contact) {
  char text[512];
  (void)snprintf(text, sizeof text,
                 "timestep: 2e-4\n"
                 "materials: {m: {friction: %g}}\n"
                 "bodies:\n"
                 "  - {name: floor, fixed: true, shape: {plane: {}}, material: m}\n"
                 "  - {name: body, material: m, rpy: [0, 0.005, 0], %s}\n",
                 friction, body);
  tabi_scene *scene = load_scene_text(text, "rock.yaml", NULL);
  tabi_world *world = open_world_with(scene, contact);
  double first = 0;
  double last = 0;
  int crossings = 0;
  double before = tilt(world, scene);
  for (int i = 1; i <= 20000 && crossings < 9; ++i) {
    step_world(scene, world);
    double now = tilt(world, scene);
    if (now * before < 0) {
      last = 2e-4 * (i - now / (now - before));
      if (crossings++ == 0) first = last;
    }
    before = now;
  }
  assert_int_equal(crossings, 9);
  tabi_world_destroy(world);
  tabi_scene_destroy(scene);
  return (last - first) / 8;
}

static void check_rocking(double a, double b, double c, double friction,
                          tabi_contact_kind contact) {
  char body[256];
  double z = sqrt(a * a * sin(0.005) * sin(0.005) + c * c * cos(0.005) * cos(0.005));
  (void)snprintf(body, sizeof body,
                 "density: 700, shape: {ellipsoid: [%g, %g, %g]}, "
                 "xyz: [0, 0, %.17g]",
                 a, b, c, z);
  double inertia = (a * a + c * c) / 5 + (friction > 0 ? c * c : 0);
  double rate = sqrt(G * (a * a / c - c) / inertia);
  double found = M_PI / half_period(body, friction, contact);
  print_message("ellipsoid %g %g %g, friction %g: %g rad/s, %g wanted\n", a, b, c, friction, found,
                rate);
  assert_near(found / rate, 1, 1e-3);
}

static void test_rocking(void **state) {
  (void)state;
  static const tabi_contact_kind kinds[] = {TABI_CONTACT_CONE, TABI_CONTACT_EXACT};
  for (int i = 0; i < 2; ++i) {
    check_rocking(0.2, 0.3, 0.1, 1, kinds[i]);
    check_rocking(0.2, 0.3, 0.1, 0, kinds[i]);
    check_rocking(0.3, 0.35, 0.15, 1, kinds[i]);
  }
}

/* A toy that stands up again. */
static void test_low_centre(void **state) {
  (void)state;
  const double r = 0.1;
  const double e = 0.04;
  double rate = sqrt(2 * G * e / (0.006 + 2 * (r - e) * (r - e)));
  double half = half_period("mass: 2, shape: {sphere: 0.1}, com: [0, 0, -0.04], "
                            "inertia: [0.006, 0.006, 0.005], xyz: [0, 0, 0.1]",
                            1, TABI_CONTACT_CONE);
  assert_near(M_PI / half / rate, 1, 1e-3);
}

/* Mass and moments of the solid, and a centre that is given. */
static void test_mass(void **state) {
  (void)state;
  tabi_scene *scene =
      load_scene_text("bodies: [{name: e, density: 1000, shape: {ellipsoid: [0.1, 0.2, 0.3]}},\n"
                      "  {name: f, mass: 3, shape: {box: [1, 1, 1]}, com: [0.1, -0.2, 0.3]},\n"
                      "  {name: g, mass: 3, com: [0, 0, 1], inertia: [1, 2, 2]}]\n",
                      "m.yaml", NULL);
  const tabi_model *model = tabi_scene_model(scene);
  tabi_link_def e = tabi_model_link(model, 0);
  assert_near(e.mass, 1000 * 4 * M_PI / 3 * 0.006, 1e-9);
  const double moments[3] = {0.04 + 0.09, 0.01 + 0.09, 0.01 + 0.04};
  for (int i = 0; i < 3; ++i)
    assert_near(e.inertia[i], e.mass * moments[i] / 5, 1e-12);
  tabi_link_def f = tabi_model_link(model, 1);
  assert_near_n(f.com, ((const double[3]){0.1, -0.2, 0.3}), 3, 0);
  assert_near(f.inertia[0], 0.5, 1e-15);
  tabi_link_def g = tabi_model_link(model, 2);
  assert_near(g.com[2], 1, 0);
  tabi_scene_destroy(scene);
}

static void test_refused(void **state) {
  (void)state;
  static const char *const scenes[][2] = {
      {"bodies: [{name: e, mass: 1, shape: {ellipsoid: [1, 2]}}]\n",      "ellipsoid"  },
      {"bodies: [{name: e, mass: 1, shape: {ellipsoid: [1, 2, 0]}}]\n",   "must be > 0"},
      {"bodies: [{name: e, mass: 1, shape: {sphere: 1}, com: [0, 1]}]\n", "com"        },
      {"bodies: [{name: e, mass: 1, shape: {elipsoid: [1, 2, 3]}}]\n",    "ellipsoid"  },
  };
  for (size_t i = 0; i < sizeof scenes / sizeof *scenes; ++i) {
    tabi_error err = {0};
    const char *text = scenes[i][0];
    assert_null(tabi_scene_load_text(text, strlen(text), "r.yaml", NULL, &err));
    assert_non_null(strstr(err.message, scenes[i][1]));
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_rocking),
      cmocka_unit_test(test_low_centre),
      cmocka_unit_test(test_mass),
      cmocka_unit_test(test_refused),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

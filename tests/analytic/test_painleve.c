/* test_painleve.c - Painleve's rod: a uniform rod slides on its tip, leaning towards where it goes.
 *
 * With th its angle to the floor, A = 1 + 3 cos th (cos th - mu sin th) is what a normal force does
 * to the tip.  Where A < 0 no force can keep the tip from going in: rigid mechanics has no motion,
 * but time stepping finds the impulse that stops the slip (impact without collision).  It has to
 * obey Coulomb's law like any other, and to take energy, not to give it. */
#include "support/near.h"
#include "support/scene_build.h"

#define LENGTH 1.0
#define TIP    1e-4 /* radius of the ball at its end */

static double paradox(double angle, double mu) {
  return 1 + 3 * cos(angle) * (cos(angle) - mu * sin(angle));
}

/* the rod stands on its tip at the origin, its centre at x > 0, so that sliding to -x pushes the
 * tip ahead of the centre */
static int32_t add_rod(scene *s, double angle, int32_t material) {
  double inertia = LENGTH * LENGTH / 12;
  v3 centre = v3_make(0.5 * LENGTH * cos(angle), 0, 0.5 * LENGTH * sin(angle) + TIP);
  int32_t rod = scene_free(s, 1, v3_make(inertia, inertia, 1e-4), centre);
  tabi_shape_def tip = tabi_shape_def_default();
  tip.type = TABI_SHAPE_SPHERE;
  tip.link = rod;
  tip.size[0] = TIP;
  tip.pos[2] = -0.5 * LENGTH;
  tip.material = material;
  tabi_builder_add_shape(s->builder, &tip);
  return rod;
}

typedef struct outcome {
  double gain;     /* J, above the energy at the start */
  double impulse;  /* N s, largest in a step */
  int32_t stalled; /* steps that did not reach the tolerance */
} outcome;

static outcome slide(tabi_contact_kind contact, double degrees, double mu, double timestep) {
  double angle = degrees * M_PI / 180;
  scene s = scene_begin();
  int32_t stuff = scene_material(&s, mu, 0);
  scene_plane(&s, 0, stuff);
  int32_t rod = add_rod(&s, angle, stuff);
  tabi_world_def def = scene_def(&s);
  def.contact = contact;
  def.timestep = timestep;
  scene_open(&s, &def);
  scene_turn(&s, rod, scene_tilt(0.5 * M_PI - angle));
  scene_set_velocity(&s, rod, v3_make(-3, 0, 0), v3_zero());
  double start = scene_energy(&s);
  outcome out = {0};
  for (int k = 0; k * timestep < 0.2; ++k) {
    scene_run(&s, 1);
    out.gain = fmax(out.gain, scene_energy(&s) - start);
    out.impulse = fmax(out.impulse, v3_norm(scene_impulse(&s, rod)));
    out.stalled += !tabi_world_certificate(s.world).converged;
  }
  scene_close(&s);
  return out;
}

static void check(tabi_contact_kind contact) {
  const double mu[3] = {1.4, 2, 3};
  const double degrees[3] = {62, 60, 50};
  for (int i = 0; i < 3; ++i) {
    assert_true(paradox(degrees[i] * M_PI / 180, mu[i]) < 0);
    for (int k = 0; k < 2; ++k) {
      double timestep = k == 0 ? 1e-3 : 1e-4;
      outcome out = slide(contact, degrees[i], mu[i], timestep);
      print_message("%s, mu %g, %g degrees, %g ms: largest impulse %.3g Ns, gain %.1e J\n",
                    tabi_contact_name(contact), mu[i], degrees[i], 1e3 * timestep, out.impulse,
                    out.gain);
      assert_true(out.gain < 1e-9);
      assert_int_equal(out.stalled, 0);
      /* an impact, which no shorter step makes smaller: weight alone would give 1e-2 and 1e-3 */
      assert_true(out.impulse > 0.1);
    }
  }
}

static void stops_by_cone(void **state) {
  (void)state;
  check(TABI_CONTACT_CONE);
}

static void stops_by_exact(void **state) {
  (void)state;
  check(TABI_CONTACT_EXACT);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(stops_by_cone),
      cmocka_unit_test(stops_by_exact),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

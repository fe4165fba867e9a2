/* test_cradle.c - Newton's cradle: five equal balls in a row, e = 1, one comes in.
 *
 * Apart by a little, impacts follow one another and one ball leaves with all the speed.  Touching,
 * they are one impact of four contacts, and Newton's law holds at each for its own closing speed,
 * which is zero but at the first.  So the first ball comes back and the other four leave together,
 * with momentum and energy kept: not what a cradle does, but what that law says (docs/contact.md).
 */
#include "support/near.h"
#include "support/scene_build.h"

#define BALLS  5
#define RADIUS 0.05

/* velocities along x after the run */
static void swing(tabi_contact_kind contact, double apart, tabi_impacts impacts, double v[BALLS]) {
  scene s = scene_begin();
  int32_t steel = scene_material(&s, 0, 1);
  int32_t ball[BALLS];
  for (int i = 0; i < BALLS; ++i) {
    double x = i == 0 ? -0.1 : (2 * RADIUS + apart) * i;
    ball[i] = scene_ball(&s, 1, RADIUS, v3_make(x, 0, 0), steel);
  }
  tabi_world_def def = scene_def(&s);
  def.gravity[2] = 0;
  def.contact = contact;
  def.impacts = impacts;
  def.iterations = 1000;
  scene_open(&s, &def);
  scene_set_velocity(&s, ball[0], v3_make(1, 0, 0), v3_zero());
  scene_run(&s, 300);
  for (int i = 0; i < BALLS; ++i)
    v[i] = scene_v(&s, ball[i])[0];
  print_message("%s, %g mm apart: %.6f %.6f %.6f %.6f %.6f\n", tabi_contact_name(contact),
                1e3 * apart, v[0], v[1], v[2], v[3], v[4]);
  scene_close(&s);
}

static void one_leaves(void **state) {
  (void)state;
  const tabi_contact_kind kind[2] = {TABI_CONTACT_CONE, TABI_CONTACT_EXACT};
  for (int k = 0; k < 2; ++k) {
    double v[BALLS];
    swing(kind[k], 5e-3, TABI_IMPACTS_SIMULTANEOUS, v);
    for (int i = 0; i < BALLS; ++i)
      assert_near(v[i], i == BALLS - 1 ? 1 : 0, 1e-9);
  }
}

/* the first contact alone closes, with speed 1: it opens with speed 1, the others stay together */
static void all_leave(void **state) {
  (void)state;
  const tabi_contact_kind kind[2] = {TABI_CONTACT_CONE, TABI_CONTACT_EXACT};
  for (int k = 0; k < 2; ++k) {
    double v[BALLS];
    swing(kind[k], 0, TABI_IMPACTS_SIMULTANEOUS, v);
    double momentum = 0;
    double energy = 0;
    for (int i = 0; i < BALLS; ++i) {
      momentum += v[i];
      energy += v[i] * v[i];
      if (i > 0) assert_near(v[i], 0.4, 1e-6);
    }
    assert_near(v[0], -0.6, 1e-6);
    assert_near(momentum, 1, 1e-9);
    assert_near(energy, 1, 1e-6);
  }
}

/* the blow runs through the row within the step, whether the balls touch or not */
static void one_leaves_in_sequence(void **state) {
  (void)state;
  const tabi_contact_kind kind[4] = {TABI_CONTACT_CONE, TABI_CONTACT_EXACT, TABI_CONTACT_LCP,
                                     TABI_CONTACT_IMPULSE};
  const double apart[3] = {0, 1e-6, 2e-4};
  for (int k = 0; k < 12; ++k) {
    double v[BALLS];
    swing(kind[k % 4], apart[k / 4], TABI_IMPACTS_SEQUENTIAL, v);
    for (int i = 0; i < BALLS; ++i)
      assert_near(v[i], i == BALLS - 1 ? 1 : 0, 1e-8);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(one_leaves),
      cmocka_unit_test(all_leave),
      cmocka_unit_test(one_leaves_in_sequence),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

/* test_pyramid.c - static friction of `lcp`: a square pyramid with axes at a random angle.
 *
 * A push at an angle phi from the axes is held up to mu / max(|cos phi|, |sin phi|) of the normal
 * force: mu along the axes, sqrt(2) mu between them. */
#include "support/near.h"
#include "support/scene_build.h"

#define MU         0.5
#define DIRECTIONS 36

/* A ball that slides along x, y and z but cannot turn, so that its only contact carries all. */
static int32_t open_runner(scene *s) {
  *s = scene_begin();
  int32_t stuff = scene_material(s, MU, 0);
  scene_plane(s, 0, stuff);
  v3 unit = v3_make(1e-3, 1e-3, 1e-3);
  int32_t link = TABI_WORLD;
  const v3 axis[3] = {
      {1, 0, 0},
      {0, 1, 0},
      {0, 0, 1}
  };
  for (int i = 0; i < 3; ++i) {
    v3 pos = v3_make(0, 0, i == 0 ? 0.1 : 0);
    link = scene_link(s, i == 2 ? 2 : 1e-6, v3_zero(), unit,
                      scene_hinge(TABI_JOINT_PRISMATIC, link, pos, axis[i]));
  }
  scene_shape(s, TABI_SHAPE_SPHERE, link, v3_make(0.1, 0, 0), stuff);
  tabi_world_def def = scene_def(s);
  def.contact = TABI_CONTACT_LCP;
  scene_open(s, &def);
  return link;
}

static bool holds(double share, double direction) {
  scene s;
  int32_t link = open_runner(&s);
  double size = share * (2 + 2e-6) * GRAVITY;
  for (int k = 0; k < 10; ++k) {
    scene_push(&s, link, v3_make(size * cos(direction), size * sin(direction), 0));
    scene_run(&s, 1);
  }
  const double *v = tabi_world_v(s.world);
  bool held = hypot(v[0], v[1]) < 1e-6;
  scene_close(&s);
  return held;
}

static double threshold(double direction) {
  double low = 0.5 * MU;
  double high = 2 * MU;
  while (high - low > 1e-3 * MU) {
    double middle = 0.5 * (low + high);
    *(holds(middle, direction) ? &low : &high) = middle;
  }
  return low;
}

/* how far the thresholds are from a pyramid turned by an angle, as a share */
static double misfit(const double *found, double angle) {
  double worst = 0;
  for (int i = 0; i < DIRECTIONS; ++i) {
    double phi = 2 * M_PI * i / DIRECTIONS - angle;
    double expected = MU / fmax(fabs(cos(phi)), fabs(sin(phi)));
    worst = fmax(worst, fabs(found[i] / expected - 1));
  }
  return worst;
}

static void single_contact(void **state) {
  (void)state;
  double found[DIRECTIONS];
  double least = INFINITY;
  double most = 0;
  for (int i = 0; i < DIRECTIONS; ++i) {
    found[i] = threshold(2 * M_PI * i / DIRECTIONS);
    least = fmin(least, found[i]);
    most = fmax(most, found[i]);
  }
  double best = INFINITY;
  double best_angle = 0;
  for (int i = 0; i < 900; ++i) {
    double angle = 0.5 * M_PI * i / 900;
    double error = misfit(found, angle);
    if (error < best) best_angle = angle;
    best = fmin(best, error);
  }
  print_message(
      "lcp, one contact: holds %.4f to %.4f at mu %.2f; a pyramid at %.3f rad within %.2g\n", least,
      most, MU, best_angle, best);
  assert_true(least > 0.98 * MU && least < 1.02 * MU);
  assert_true(most > 1.38 * MU && most < 1.02 * sqrt(2) * MU);
  assert_true(best < 0.02);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(single_contact)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}

/* test_pyramid.c - static friction of `lcp`: a square pyramid with axes at a random angle.
 *
 * A push at an angle phi from the axes is held up to mu / max(|cos phi|, |sin phi|) of the normal
 * force: mu along the axes, sqrt(2) mu between them.  Many contacts, each with axes of its own,
 * come near to a circle. */
#include "support/near.h"
#include "support/scene_build.h"

#define MU         0.5
#define DIRECTIONS 36

static tabi_world_def lcp_def(scene *s) {
  tabi_world_def def = scene_def(s);
  def.contact = TABI_CONTACT_LCP;
  return def;
}

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
  tabi_world_def def = lcp_def(s);
  scene_open(s, &def);
  return link;
}

/* A table on twelve small balls in a circle, its frame at their level. */
static int32_t open_table(scene *s) {
  *s = scene_begin();
  int32_t stuff = scene_material(s, MU, 0);
  scene_plane(s, 0, stuff);
  int32_t link = scene_free(s, 2, v3_make(0.5, 0.5, 1), v3_zero());
  for (int i = 0; i < 12; ++i) {
    tabi_shape_def ball = tabi_shape_def_default();
    ball.link = link;
    ball.pos[0] = 0.5 * cos(2 * M_PI * i / 12);
    ball.pos[1] = 0.5 * sin(2 * M_PI * i / 12);
    ball.pos[2] = 0.01;
    ball.size[0] = 0.01;
    ball.material = stuff;
    tabi_builder_add_shape(s->builder, &ball);
  }
  tabi_world_def def = lcp_def(s);
  scene_open(s, &def);
  return link;
}

typedef int32_t open_fn(scene *s);

static bool holds(open_fn *open, double share, double direction) {
  scene s;
  int32_t link = open(&s);
  double size = share * tabi_model_mass(s.model) * GRAVITY;
  for (int k = 0; k < 10; ++k) {
    scene_push(&s, link, v3_make(size * cos(direction), size * sin(direction), 0));
    scene_run(&s, 1);
  }
  const double *v = tabi_world_v(s.world);
  bool held = hypot(v[0], v[1]) < 1e-6;
  scene_close(&s);
  return held;
}

static double threshold(open_fn *open, double direction) {
  double low = 0.5 * MU;
  double high = 2 * MU;
  while (high - low > 1e-3 * MU) {
    double middle = 0.5 * (low + high);
    *(holds(open, middle, direction) ? &low : &high) = middle;
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
  double min = INFINITY;
  double max = 0;
  for (int i = 0; i < DIRECTIONS; ++i) {
    found[i] = threshold(open_runner, 2 * M_PI * i / DIRECTIONS);
    min = fmin(min, found[i]);
    max = fmax(max, found[i]);
  }
  double best = INFINITY;
  double best_angle = 0;
  for (int i = 0; i < 900; ++i) {
    double angle = 0.5 * M_PI * i / 900;
    double error = misfit(found, angle);
    if (error < best) best_angle = angle;
    best = fmin(best, error);
  }
  /* its edges lie between the directions above */
  max = fmax(max, threshold(open_runner, best_angle + 0.25 * M_PI));
  print_message(
      "lcp, one contact: holds %.4f to %.4f at mu %.2f; a pyramid at %.3f rad within %.2g\n", min,
      max, MU, best_angle, best);
  assert_true(min > 0.98 * MU && min < 1.02 * MU);
  assert_true(max > 1.38 * MU && max < 1.02 * sqrt(2) * MU);
  assert_true(best < 0.02);
}

static void many_contacts(void **state) {
  (void)state;
  double min = INFINITY;
  double max = 0;
  double mean = 0;
  for (int i = 0; i < DIRECTIONS; ++i) {
    double found = threshold(open_table, 2 * M_PI * i / DIRECTIONS);
    min = fmin(min, found);
    max = fmax(max, found);
    mean += found / DIRECTIONS;
  }
  print_message("lcp, 12 contacts: holds %.4f to %.4f, mean %.4f at mu %.2f\n", min, max, mean, MU);
  assert_true(max / min < 1.15);
  assert_true(mean > MU && mean < sqrt(2) * MU);
}

/* Without static friction a body at rest is not held: on a slope that mu would hold it creeps at
 * the speed from which sliding friction acts, 1e-3 m/s. */
static void without_static_friction(void **state) {
  (void)state;
  double speed[2];
  for (int on = 0; on < 2; ++on) {
    scene s = scene_begin();
    int32_t stuff = scene_material(&s, MU, 0);
    scene_plane(&s, 0.2, stuff);
    v3 up = v3_make(sin(0.2), 0, cos(0.2));
    int32_t block = scene_box(&s, 1, v3_make(0.2, 0.2, 0.1), v3_scale(0.05, up), stuff);
    tabi_world_def def = lcp_def(&s);
    def.lcp.static_friction = on == 1;
    scene_open(&s, &def);
    scene_turn(&s, block, scene_tilt(0.2));
    scene_run(&s, 2000);
    speed[on] = v3_norm(v3_sub(v3_load(scene_q(&s, block)), v3_scale(0.05, up))) / 2;
    scene_close(&s);
  }
  print_message("lcp on a slope: %.2g m/s without static friction, %.2g m/s with\n", speed[0],
                speed[1]);
  assert_true(speed[0] > 1e-4 && speed[0] < 1e-2);
  assert_true(speed[1] < 1e-9);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(single_contact),
      cmocka_unit_test(many_contacts),
      cmocka_unit_test(without_static_friction),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

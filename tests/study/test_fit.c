/* test_fit.c - parameters found again in recordings with noise, and what data cannot tell. */
#include "support/near.h"
#include "support/scratch.h"

#include "base/random.h"
#include "study/statistics.h"
#include "tabi/tabi_study.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* a mass of 2 kg on a spring of 500 N/m with a damper of 6 N s/m, let go 0.1 m above rest */
#define SCENE                                                                            \
  "timestep: 1e-3\n"                                                                     \
  "duration: 1\n"                                                                        \
  "gravity: [0, 0, 0]\n"                                                                 \
  "integrator: midpoint\n"                                                               \
  "bodies:\n"                                                                            \
  "  - {name: anchor, fixed: true, shape: {sphere: 0.01}, xyz: [0, 0, 0]}\n"             \
  "  - {name: mass, mass: 2, shape: {sphere: 0.01}, xyz: [0, 0, 1.1]}\n"                 \
  "connections:\n"                                                                       \
  "  - {name: bush, type: spring, a: anchor, b: mass, at: [0, 0, 0], at_b: [0, 0, 0],\n" \
  "     stiffness: 300, damping: 3, rest: 1}\n"

#define FIT                                                            \
  "scene: bush.yaml\n"                                                 \
  "parameters:\n"                                                      \
  "  stiffness: {set: connections.bush.stiffness, log: [100, 2000]}\n" \
  "  damping: {set: connections.bush.damping, log: [1, 50]}\n"         \
  "data:\n"                                                            \
  "  - {file: bush.csv, signals: {mass.z: z}, sigma: 0.002}\n"

/* what the scene does with 500 N/m and 6 N s/m, every 5 ms, with noise of 2 % of the amplitude */
static void record(const char *name, uint64_t *random, double noise) {
  enum { ROWS = 201, EVERY = 5, SIZE = 40000 };
  static double truth[ROWS];
  char *text = calloc(1, SIZE);
  if (truth[0] == 0) {
    const char *set[] = {"connections.bush.stiffness=500", "connections.bush.damping=6"};
    tabi_scene_def def = tabi_scene_def_default();
    def.set = set;
    def.nset = 2;
    tabi_scene *scene = tabi_scene_load_text(SCENE, strlen(SCENE), "bush.yaml", &def, NULL);
    assert_non_null(scene);
    tabi_world_def settings = tabi_scene_world_def(scene);
    tabi_world *world = tabi_world_create(tabi_scene_model(scene), &settings, NULL);
    assert_int_equal(tabi_scene_reset(scene, world, NULL), TABI_OK);
    for (int i = 0; i < ROWS * EVERY; ++i) {
      if (i % EVERY == 0) truth[i / EVERY] = tabi_world_q(world)[2];
      assert_int_equal(tabi_world_step(world, NULL), TABI_OK);
    }
    tabi_world_destroy(world);
    tabi_scene_destroy(scene);
  }
  scratch_append(text, SIZE, "time,z\n");
  for (int i = 0; i < ROWS; ++i) {
    double z = truth[i];
    if (random) z += noise * tbi_normal_quantile(0.5 * 0x1p-53 + tbi_random_unit(random));
    scratch_append(text, SIZE, "%.6f,%.12f\n", 1e-3 * EVERY * i, z);
  }
  (void)scratch_text(name, text);
  free(text);
}

static tabi_fit *solve(const char *text) {
  tabi_error err = {0};
  (void)scratch_text("bush.yaml", SCENE);
  tabi_fit *fit = tabi_fit_load(scratch_text("fit.yaml", text), NULL, NULL, NULL, &err);
  if (!fit) print_error("%s:%d: %s\n", err.file, err.line, err.message);
  assert_non_null(fit);
  tabi_status status = tabi_fit_solve(fit, 1, &err);
  if (status != TABI_OK) print_error("%s:%d: %s\n", err.file, err.line, err.message);
  assert_int_equal(status, TABI_OK);
  return fit;
}

static void test_exact_data(void **state) {
  (void)state;
  record("bush.csv", NULL, 0);
  tabi_fit *fit = solve(FIT);
  assert_true(tabi_fit_converged(fit));
  assert_int_equal(tabi_fit_nparameter(fit), 2);
  assert_string_equal(tabi_fit_get(fit, 0).name, "stiffness");
  assert_near(tabi_fit_get(fit, 0).value, 500, 1e-3);
  assert_near(tabi_fit_get(fit, 1).value, 6, 1e-4);
  assert_near(tabi_fit_correlation(fit, 0, 0), 1, 1e-12);
  assert_near(tabi_fit_correlation(fit, 0, 1), tabi_fit_correlation(fit, 1, 0), 1e-12);
  tabi_fit_curve curve;
  assert_true(tabi_fit_get_curve(fit, 0, &curve));
  assert_int_equal(curve.count, 201);
  assert_false(tabi_fit_get_curve(fit, 1, &curve));
  tabi_fit_destroy(fit);
}

/* 95 % intervals hold the truth in about 95 % of recordings */
static void test_intervals_cover(void **state) {
  (void)state;
  enum { REPEATS = TEST_SHORT ? 20 : 200 };
  int inside[2] = {0};
  int near_truth = 0;
  uint64_t random = 17;
  for (int repeat = 0; repeat < REPEATS; ++repeat) {
    record("bush.csv", &random, 0.002);
    tabi_fit *fit = solve(FIT);
    tabi_fit_parameter k = tabi_fit_get(fit, 0);
    tabi_fit_parameter d = tabi_fit_get(fit, 1);
    inside[0] += k.low <= 500 && 500 <= k.high;
    inside[1] += d.low <= 6 && 6 <= d.high;
    near_truth += fabs(k.value / 500 - 1) < 0.01;
    assert_true(k.identifiable && d.identifiable);
    assert_near(tabi_fit_rms(fit), 1, 0.25);
    tabi_fit_destroy(fit);
  }
  assert_in_range(inside[0], REPEATS * 90 / 100, REPEATS);
  assert_in_range(inside[1], REPEATS * 90 / 100, REPEATS);
  assert_int_equal(near_truth, REPEATS);
  if (REPEATS >= 200) {
    assert_in_range(inside[0], 180, 198);
    assert_in_range(inside[1], 180, 198);
  }
}

/* without sigma the noise is estimated; several starts end in the same place; outliers are borne */
static void test_options(void **state) {
  (void)state;
  uint64_t random = 5;
  record("bush.csv", &random, 0.002);
  tabi_fit *fit = solve("scene: bush.yaml\n"
                        "starts: 3\n"
                        "parameters:\n"
                        "  stiffness: {set: connections.bush.stiffness, log: [100, 2000]}\n"
                        "  damping: {set: connections.bush.damping, uniform: [1, 50]}\n"
                        "data: [{file: bush.csv, signals: {mass.z: z}}]\n");
  assert_near_rel(tabi_fit_get(fit, 0).value / 500, 1, 0.01);
  assert_near(tabi_fit_rms(fit), 0.002, 0.0005);
  double error = tabi_fit_get(fit, 0).error;
  tabi_fit_destroy(fit);
  fit = solve(FIT "loss: huber\n");
  assert_near_rel(tabi_fit_get(fit, 0).error / error, 1, 0.3);
  assert_near(tabi_fit_rms(fit), 1, 0.25);
  tabi_fit_destroy(fit);
}

/* A value that is off by 500 standard deviations is drawn as such, and does little harm. */
static void test_an_outlier(void **state) {
  (void)state;
  uint64_t random = 5;
  record("bush.csv", &random, 0.002);
  (void)scratch_text("outlier.csv", "time,z\n0.1,2\n");
  tabi_fit_curve curve;
  tabi_fit *fit = solve(FIT "  - {file: outlier.csv, signals: {mass.z: z}, sigma: 0.002}\n"
                            "loss: huber\n");
  assert_near_rel(tabi_fit_get(fit, 0).value / 500, 1, 0.01);
  assert_true(tabi_fit_get_curve(fit, 1, &curve));
  assert_int_equal(curve.count, 1);
  assert_true(curve.residual[0] < -450 && curve.residual[0] > -550);
  tabi_fit_destroy(fit);
}

/* the mass and the stiffness only act by their ratio in free motion, and a shape does not matter */
static void test_what_cannot_be_told(void **state) {
  (void)state;
  record("bush.csv", NULL, 0);
  tabi_fit *fit = solve("scene: bush.yaml\n"
                        "parameters:\n"
                        "  stiffness: {set: connections.bush.stiffness, log: [100, 2000]}\n"
                        "  friction: {set: contact.friction, uniform: [0.1, 1]}\n"
                        "data: [{file: bush.csv, signals: {mass.z: z}, sigma: 0.002}]\n");
  assert_true(tabi_fit_get(fit, 0).identifiable);
  assert_false(tabi_fit_get(fit, 1).identifiable);
  tabi_fit_destroy(fit);
  fit = solve("scene: bush.yaml\n"
              "parameters:\n"
              "  stiffness: {set: connections.bush.stiffness, log: [100, 2000]}\n"
              "  damping: {set: connections.bush.damping, log: [1, 50]}\n"
              "  mass: {set: bodies.mass.mass, log: [0.5, 8]}\n"
              "data: [{file: bush.csv, signals: {mass.z: z}, sigma: 0.002}]\n");
  assert_true(tabi_fit_correlation(fit, 0, 2) > 0.99);
  for (int32_t i = 0; i < 3; ++i)
    assert_false(tabi_fit_get(fit, i).identifiable);
  tabi_fit_destroy(fit);
}

static void test_a_bound_in_the_way(void **state) {
  (void)state;
  record("bush.csv", NULL, 0);
  tabi_fit *fit = solve("scene: bush.yaml\n"
                        "parameters:\n"
                        "  stiffness: {set: connections.bush.stiffness, log: [600, 2000]}\n"
                        "  damping: {set: connections.bush.damping, log: [1, 50]}\n"
                        "data: [{file: bush.csv, signals: {mass.z: z}, sigma: 0.002}]\n");
  assert_true(tabi_fit_get(fit, 0).at_bound);
  assert_near_rel(tabi_fit_get(fit, 0).value / 600, 1, 1e-3);
  assert_false(tabi_fit_get(fit, 1).at_bound);
  tabi_fit_destroy(fit);
}

static void test_what_is_refused(void **state) {
  (void)state;
  static const struct {
    const char *text, *words;
  } cases[] = {
      {"scene: bush.yaml\nparameters: {k: {set: a, uniform: [0, 1]}}\n", "data is missing" },
      {"scene: bush.yaml\nparameters: {k: {set: a, normal: [0, 1]}}\ndata: [{file: bush.csv, "
       "signals: {mass.z: z}}]\n",                                "give its bounds" },
      {"scene: bush.yaml\nparameters: {k: {set: a, uniform: [0, 1]}}\ndata: [{file: none.csv, "
       "signals: {mass.z: z}}]\n",                                "cannot open"     },
      {"scene: bush.yaml\nparameters: {k: {set: a, uniform: [0, 1]}}\ndata: [{file: bush.csv, "
       "signals: {mass.z: zz}}]\n",                               "no column 'zz'"  },
      {"scene: bush.yaml\nloss: huber\nparameters: {k: {set: a, uniform: [0, 1]}}\ndata: [{file: "
       "bush.csv, signals: {mass.z: z}}]\n",                      "give sigma"      },
      {"scene: bush.yaml\nloss: cubes\nparameters: {k: {set: a, uniform: [0, 1]}}\ndata: [{file: "
       "bush.csv, signals: {mass.z: z}}]\n",                      "squares or huber"},
  };
  record("bush.csv", NULL, 0);
  (void)scratch_text("bush.yaml", SCENE);
  for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i) {
    tabi_error err = {0};
    assert_null(tabi_fit_load(scratch_text("bad.yaml", cases[i].text), NULL, NULL, NULL, &err));
    if (!strstr(err.message, cases[i].words)) fail_msg("case %zu: %s", i, err.message);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_exact_data),
      cmocka_unit_test(test_intervals_cover),
      cmocka_unit_test(test_options),
      cmocka_unit_test(test_an_outlier),
      cmocka_unit_test(test_what_cannot_be_told),
      cmocka_unit_test(test_a_bound_in_the_way),
      cmocka_unit_test(test_what_is_refused),
  };
  return cmocka_run_group_tests(tests, scratch_begin, scratch_end);
}

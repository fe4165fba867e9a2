/* test_study.c - studies from files: parameters, measures of runs, and what is refused. */
#include "support/near.h"
#include "support/scratch.h"

#include "slope.h"
#include "tabi/tabi_study.h"

#include <math.h>
#include <string.h>

static tabi_study *load(const char *text) {
  tabi_error err = {0};
  (void)scratch_text("slope.yaml", SLOPE_SCENE);
  tabi_study *study = tabi_study_load(scratch_text("study.yaml", text), NULL, &err);
  if (!study) print_error("%s:%d: %s\n", err.file, err.line, err.message);
  assert_non_null(study);
  return study;
}

static void test_study_has_what_its_file_says(void **state) {
  (void)state;
  tabi_study *study = load(SLOPE_STUDY);
  assert_int_equal(tabi_study_nrun(study), 40);
  assert_int_equal(tabi_study_nparameter(study), 2);
  assert_int_equal(tabi_study_nmeasure(study), 3);
  assert_string_equal(tabi_study_parameter_name(study, 1), "mass");
  assert_string_equal(tabi_study_measure_name(study, 0), "speed");
  assert_false(tabi_study_measure_is_boolean(study, 0));
  assert_null(tabi_study_choice(study, 0, 0));
  int below = 0;
  for (int64_t run = 0; run < 40; ++run) {
    double friction = tabi_study_value(study, run, 0);
    double mass = tabi_study_value(study, run, 1);
    assert_true(friction > 0.1 && friction < 0.5 && mass > 0.5 && mass < 2);
    below += mass < 1; /* the logarithm is uniform */
    assert_true(tabi_study_seed(study, run) > 0);
  }
  assert_int_equal(below, 20);
  assert_int_not_equal(tabi_study_seed(study, 0), tabi_study_seed(study, 1));
  tabi_study_destroy(study);
}

/* v = g (sin a - mu cos a) t, whatever the mass; a box that is held stays */
static void test_runs_slide_as_coulomb_says(void **state) {
  (void)state;
  tabi_study *study = load(SLOPE_STUDY);
  double measure[3];
  int slid = 0;
  for (int64_t run = 0; run < 40; ++run) {
    tabi_study_row row = {.measure = measure};
    tabi_error err = {0};
    assert_int_equal(tabi_study_run(study, run, NULL, &row, &err), TABI_OK);
    assert_string_equal(row.status, "ok");
    double friction = tabi_study_value(study, run, 0);
    double cosine = 1 / sqrt(1 + 0.09);
    double pull = 9.81 * cosine * (0.3 - friction); /* m/s^2 along the slope */
    double speed = fmax(0, pull * 0.2) * cosine;    /* along x */
    assert_near(measure[0], speed, 1e-5);
    assert_true(isnan(measure[1]) == !(speed > 0.05));
    if (speed > 0.05) assert_near(measure[1], 0.05 / (pull * cosine), 4e-3);
    assert_true(measure[2] < 0.0479);
    slid += speed > 0;
  }
  assert_int_equal(slid, 20);
  tabi_study_destroy(study);
}

static void test_choices_and_grids(void **state) {
  (void)state;
  tabi_study *study = load("scene: slope.yaml\n"
                           "sampling: grid\n"
                           "parameters:\n"
                           "  method: {set: contact.model, choices: [cone, lcp, exact]}\n"
                           "  friction: {set: contact.friction, grid: [0.2, 0.4, 5]}\n"
                           "measures: {speed: {signal: box.vx, statistic: max}}\n");
  assert_int_equal(tabi_study_nrun(study), 15);
  assert_string_equal(tabi_study_choice(study, 0, 0), "cone");
  assert_string_equal(tabi_study_choice(study, 7, 0), "lcp");
  assert_near(tabi_study_value(study, 7, 1), 0.3, 1e-15);
  assert_near(tabi_study_value(study, 14, 1), 0.4, 1e-15);
  tabi_study_destroy(study);
}

typedef struct refusal {
  const char *text;
  int line;
  const char *words;
} refusal;

#define HEAD "scene: slope.yaml\nruns: 4\n"
#define GOOD "parameters: {f: {set: contact.friction, uniform: [0, 1]}}\n"
#define ENDS "measures: {z: {signal: box.z, statistic: min}}\n"

static void test_what_is_refused(void **state) {
  (void)state;
  static const refusal cases[] = {
      {"runs: 4\n" GOOD ENDS,                                                 1, "scene is missing"      },
      {"scene: nowhere.yaml\nruns: 4\n" GOOD ENDS,                            1, "nowhere.yaml"          },
      {HEAD ENDS,                                                             1, "parameters are missing"},
      {HEAD GOOD,                                                             1, "measures are missing"  },
      {"scene: slope.yaml\n" GOOD ENDS,                                       1, "runs must be"          },
      {HEAD "sampling: lattin\n" GOOD ENDS,                                   3, "none of random, latin" },
      {HEAD "sampling: grid\n" GOOD ENDS,                                     4, "needs grid or choices" },
      {HEAD "sampling: saltelli\n" GOOD ENDS,                                 2, "multiple of 3"         },
      {HEAD "parameters: {f: {uniform: [0, 1]}}\n" ENDS,                      3, "set is missing"        },
      {HEAD "parameters: {f: {set: contact.friction}}\n" ENDS,                3, "give one of uniform"   },
      {HEAD "parameters: {f: {set: a, uniform: [2, 1]}}\n" ENDS,              3, "2 is above 1"          },
      {HEAD "parameters: {f: {set: a, log: [0, 1]}}\n" ENDS,                  3, "above 0"               },
      {HEAD "parameters: {f: {set: a, normal: [0, -1]}}\n" ENDS,              3, "standard deviation"    },
      {HEAD "parameters: {'a b': {set: a, uniform: [0, 1]}}\n" ENDS,          3, "letters, digits"       },
      {HEAD "parameters: {f: {set: a, grid: [0, 1, 1.5]}}\n" ENDS,            3, "number must be"        },
      {HEAD "parameters: {f: {set: a, uniform: [0, 1], speed: 2}}\n" ENDS,    3, "speed"                 },
      {HEAD GOOD "measures: {z: fel}\n",                                      4, "none of fell"          },
      {HEAD GOOD "measures: {z: {signal: box.zz, statistic: min}}\n",         4, "did you mean 'box.z'"  },
      {HEAD GOOD "measures: {z: {signal: box.z}}\n",                          4, "give statistic"        },
      {HEAD GOOD "measures: {z: {when: box.z}}\n",                            4, "when is a signal"      },
      {HEAD GOOD "measures: {z: {signal: box, statistic: min}}\n",            4, "name one"              },
      {HEAD "parameters: {f: {set: bodies.bx.mass, uniform: [1, 2]}}\n" ENDS, 3, "bx"                    },
      {HEAD GOOD ENDS "until: fell\n",                                        5, "is not fall"           },
      {HEAD GOOD ENDS "stop: {measure: z}\n",                                 5, "measure and width"     },
      {HEAD GOOD ENDS "stop: {measure: x, width: 1}\n",                       5, "no measure is called"  },
      {HEAD "sampling: latin\n" GOOD ENDS "stop: {measure: z, width: 1}\n",   6, "random or sobol"       },
  };
  (void)scratch_text("slope.yaml", SLOPE_SCENE);
  for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i) {
    tabi_error err = {0};
    const char *path = scratch_text("bad.yaml", cases[i].text);
    assert_null(tabi_study_load(path, NULL, &err));
    if (!strstr(err.message, cases[i].words) || err.line != cases[i].line)
      fail_msg("case %zu: %s:%d: %s", i, err.file, err.line, err.message);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_study_has_what_its_file_says),
      cmocka_unit_test(test_runs_slide_as_coulomb_says),
      cmocka_unit_test(test_choices_and_grids),
      cmocka_unit_test(test_what_is_refused),
  };
  return cmocka_run_group_tests(tests, scratch_begin, scratch_end);
}

/* test_experiment.c - what experiments are made of: criteria, series, pictures, forces read off a
 * world.
 */
#include "experiment_report.h"
#include "figure.h"
#include "outline.h"
#include "simulation.h"
#include "support/near.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const tbi_experiment experiment = {.id = "p0/test", .paper = "P0", .shows = "nothing"};

static tbi_trial fresh(void) { return (tbi_trial){.experiment = &experiment}; }

/* bounds count as inside, NAN never does, and a trial that checks nothing does not pass */
static void criteria(void **state) {
  (void)state;
  tbi_trial trial = fresh();
  assert_false(tbi_trial_passes(&trial));
  tbi_expect_within(&trial, "at the edge", "m", 2, 1, 2);
  tbi_expect_below(&trial, "below", "", 0.5, 1);
  tbi_expect_above(&trial, "above", "", 2, 1);
  tbi_expect_word(&trial, "word", "falls", "falls", true);
  assert_true(tbi_trial_passes(&trial));
  assert_string_equal(trial.criterion[0].expected, "1 to 2 m");
  assert_string_equal(trial.criterion[0].measured, "2 m");
  tbi_expect_below(&trial, "at the limit", "", 1, 1);
  assert_int_equal(trial.criterion[4].verdict, TBI_FAIL);
  tbi_expect_within(&trial, "unknown", "", (double)NAN, 1, 2);
  tbi_expect_below(&trial, "unknown", "", (double)NAN, 1);
  tbi_expect_above(&trial, "unknown", "", (double)NAN, 1);
  for (int i = 5; i < 8; ++i)
    assert_int_equal(trial.criterion[i].verdict, TBI_FAIL);
  assert_false(tbi_trial_passes(&trial));
}

/* a reason excuses the variant that it is given for, which then differs; a criterion that is met
 * needs none */
static void reason_lets_differ(void **state) {
  (void)state;
  tbi_trial trial = fresh();
  trial.variant = TBI_PUBLISHED;
  tbi_may_differ(&trial, "the paper says so", NULL);
  tbi_expect_below(&trial, "missed", "", 2, 1);
  tbi_expect_below(&trial, "met", "", 0, 1);
  assert_int_equal(trial.criterion[0].verdict, TBI_DIFFERS);
  assert_string_equal(trial.criterion[0].reason, "the paper says so");
  assert_int_equal(trial.criterion[1].verdict, TBI_PASS);
  assert_null(trial.criterion[1].reason);
  assert_true(tbi_trial_passes(&trial));
  assert_int_equal(tbi_trial_differs(&trial), 1);
  tbi_may_differ(&trial, NULL, NULL);
  tbi_expect_below(&trial, "missed without a reason", "", 2, 1);
  assert_false(tbi_trial_passes(&trial));

  trial = fresh();
  tbi_may_differ(&trial, "no excuse for ours", NULL);
  tbi_expect_below(&trial, "missed", "", 2, 1);
  assert_int_equal(trial.criterion[0].verdict, TBI_FAIL);
}

static void read_all(FILE *file, char *text, size_t size) {
  rewind(file);
  text[fread(text, 1, size - 1, file)] = '\0';
}

/* criteria of one name share a line, published before ours, with the worse verdict and its reason
 */
static void variants_side_by_side(void **state) {
  (void)state;
  tbi_trial trial = fresh();
  trial.variant = TBI_PUBLISHED;
  tbi_may_differ(&trial, "rows one by one", NULL);
  tbi_expect_below(&trial, "error", "deg", 6.5, 1);
  trial.variant = TBI_OURS;
  tbi_expect_below(&trial, "error", "deg", 0.25, 1);
  FILE *file = tmpfile();
  assert_non_null(file);
  tbi_print_trial(&trial, file);
  char text[1024];
  read_all(file, text, sizeof text);
  (void)fclose(file);
  assert_non_null(strstr(text, "error      < 1 deg   6.5 deg    0.25 deg  differs\n"));
  assert_non_null(strstr(text, "differs: rows one by one\n"));
}

/* numbers are numbers, what is not finite is null, words are words */
static void criteria_as_json(void **state) {
  (void)state;
  tbi_trial trial = fresh();
  tbi_expect_below(&trial, "small", "N", 0.25, 1);
  tbi_expect_below(&trial, "unknown", "N", (double)INFINITY, 1);
  tbi_expect_word(&trial, "word", "falls", "stands", false);
  json_t *object = tbi_json_trials(&trial, 1);
  json_t *one = json_array_get(json_object_get(object, "experiments"), 0);
  assert_string_equal(json_string_value(json_object_get(one, "id")), "p0/test");
  assert_true(json_is_false(json_object_get(one, "pass")));
  json_t *criteria = json_object_get(one, "criteria");
  assert_int_equal(json_array_size(criteria), 3);
  json_t *measured = json_object_get(json_array_get(criteria, 0), "measured");
  assert_near(json_real_value(measured), 0.25, 0);
  assert_true(json_is_null(json_object_get(json_array_get(criteria, 1), "measured")));
  measured = json_object_get(json_array_get(criteria, 2), "measured");
  assert_string_equal(json_string_value(measured), "stands");
  json_decref(object);
}

static void series_as_csv(void **state) {
  (void)state;
  static const char *const names[] = {"time", "force", NULL};
  char folder[] = "/tmp/test_trial_XXXXXX";
  assert_non_null(mkdtemp(folder));
  tbi_trial trial = fresh();
  trial.folder = folder;
  tbi_series series;
  tbi_series_init(&series, names);
  for (int i = 0; i < 1000; ++i) {
    const double row[2] = {1e-3 * i, -0.5 * i};
    tbi_series_add(&series, row);
  }
  assert_near(tbi_series_at(&series, 999, 1), -499.5, 0);
  tabi_error err = {0};
  assert_int_equal(tbi_series_write(&series, &trial, ".csv", &err), TABI_OK);
  FILE *file = fopen(trial.file[0], "r");
  assert_non_null(file);
  char line[64];
  assert_non_null(fgets(line, sizeof line, file));
  assert_string_equal(line, "time,force\n");
  for (int i = 0; i < 1000; ++i)
    assert_non_null(fgets(line, sizeof line, file));
  assert_string_equal(line, "0.999,-499.5\n");
  assert_null(fgets(line, sizeof line, file));
  assert_int_equal(fclose(file), 0);
  assert_int_equal(unlink(trial.file[0]), 0);
  assert_int_equal(rmdir(folder), 0);
  tbi_series_free(&series);
}

/* a box on a floor, turned by 45 degrees about the vertical */
static void open_box(tbi_simulation *sim) {
  tabi_builder *builder = tabi_builder_create();
  tabi_shape_def shape = tabi_shape_def_default();
  shape.type = TABI_SHAPE_PLANE;
  shape.link = TABI_WORLD;
  (void)tabi_builder_add_shape(builder, &shape);
  tabi_link_def link = tabi_link_def_default();
  link.name = "box";
  link.mass = 2;
  for (int i = 0; i < 3; ++i)
    link.inertia[i] = 0.05;
  tabi_joint_def joint = tabi_joint_def_default();
  joint.type = TABI_JOINT_FREE;
  joint.parent = TABI_WORLD;
  joint.child = tabi_builder_add_link(builder, &link);
  joint.initial_q[0] = 3;
  joint.initial_q[2] = 0.1;
  joint.initial_q[3] = cos(0.125 * 3.14159265358979324);
  joint.initial_q[6] = sin(0.125 * 3.14159265358979324);
  (void)tabi_builder_add_joint(builder, &joint);
  shape.type = TABI_SHAPE_BOX;
  shape.link = joint.child;
  for (int i = 0; i < 3; ++i)
    shape.size[i] = 0.2;
  (void)tabi_builder_add_shape(builder, &shape);
  tabi_error err = {0};
  tabi_model *model = tabi_builder_build(builder, &err);
  tabi_builder_destroy(builder);
  assert_non_null(model);
  tabi_world_def def = tabi_world_def_default(model);
  assert_int_equal(tbi_simulation_open_model(sim, model, &def, &err), TABI_OK);
}

/* the outline of the box is a rectangle sqrt(2) as wide as it is high; the floor has none */
static void picture_of_a_box(void **state) {
  (void)state;
  tbi_simulation sim;
  open_box(&sim);
  char *text = NULL;
  size_t size = 0;
  FILE *script = open_memstream(&text, &size);
  assert_int_equal(tbi_outline_draw(&tbi_camera_side, sim.world, 7, script), 8);
  assert_int_equal(fclose(script), 0);
  const char *from = strstr(text, "set object 7 polygon from ");
  assert_non_null(from);
  double min[2] = {INFINITY, INFINITY}, max[2] = {-INFINITY, -INFINITY};
  int corners = 0;
  for (char *at = strstr(text, "from ") + 5; at; ++corners) {
    for (int k = 0; k < 2; ++k) {
      double value = strtod(at, &at);
      min[k] = fmin(min[k], value);
      max[k] = fmax(max[k], value);
      ++at;
    }
    at = strncmp(at, "to ", 3) == 0 ? at + 3 : NULL;
  }
  assert_int_equal(corners, 5); /* the first again at the end */
  assert_near(min[0], 3 - 0.1 * sqrt(2), 1e-3);
  assert_near(max[0], 3 + 0.1 * sqrt(2), 1e-3);
  assert_near(min[1], 0, 1e-3);
  assert_near(max[1], 0.2, 1e-3);
  free(text);
  tbi_simulation_close(&sim);
}

/* the floor carries the box, without a moment about its centre */
static void force_of_the_floor(void **state) {
  (void)state;
  tbi_simulation sim;
  open_box(&sim);
  tabi_error err = {0};
  for (int i = 0; i < 50; ++i)
    assert_int_equal(tbi_simulation_step(&sim, &err), TABI_OK);
  const double centre[3] = {3, 0, 0};
  double weight = 2 * 9.81;
  int32_t of[2] = {tbi_simulation_link(&sim, "box"), TABI_WORLD};
  for (int i = 0; i < 2; ++i) {
    double force[3], moment[3];
    tbi_simulation_contact_force(&sim, of[i], centre, force, moment);
    assert_near(force[2], weight, 1e-6 * weight);
    for (int k = 0; k < 3; ++k)
      assert_near(moment[k], 0, 1e-6 * weight);
  }
  tbi_simulation_close(&sim);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(criteria),
      cmocka_unit_test(reason_lets_differ),
      cmocka_unit_test(variants_side_by_side),
      cmocka_unit_test(criteria_as_json),
      cmocka_unit_test(series_as_csv),
      cmocka_unit_test(picture_of_a_box),
      cmocka_unit_test(force_of_the_floor),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

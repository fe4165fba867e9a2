/* test_results.c - rows of studies: the same whoever did them, kept, merged, summed up. */
#include "support/near.h"
#include "support/scratch.h"

#include "slope.h"
#include "tabi/tabi_study.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static tabi_study *load(void) {
  tabi_error err = {0};
  (void)scratch_text("slope.yaml", SLOPE_SCENE);
  tabi_study *study = tabi_study_load(scratch_text("study.yaml", SLOPE_STUDY), NULL, &err);
  assert_non_null(study);
  return study;
}

static tabi_results *create(const char *name, const tabi_study *study) {
  tabi_error err = {0};
  tabi_results *results = tabi_results_create(scratch_path(name), study, &err);
  if (!results) print_error("%s: %s\n", err.file, err.message);
  assert_non_null(results);
  return results;
}

static void sweep(const tabi_study *study, tabi_results *results, tabi_sweep_def def) {
  tabi_error err = {0};
  assert_int_equal(tabi_sweep(study, results, &def, &err), TABI_OK);
}

static void assert_same_rows(tabi_results *a, tabi_results *b) {
  double measure[2][3];
  tabi_study_row one = {.measure = measure[0]};
  tabi_study_row other = {.measure = measure[1]};
  for (int64_t run = 0; run < 40; ++run) {
    assert_true(tabi_results_get(a, run, &one));
    assert_true(tabi_results_get(b, run, &other));
    assert_true(one.hash == other.hash);
    for (int i = 0; i < 3; ++i)
      assert_memory_equal(&measure[0][i], &measure[1][i], sizeof(double));
  }
}

/* three threads, one thread, three shards merged backwards: the same rows */
static void test_rows_do_not_depend_on_who_did_them(void **state) {
  (void)state;
  tabi_study *study = load();
  tabi_results *threads = create("threads.sqlite", study);
  tabi_results *single = create("single.sqlite", study);
  tabi_sweep_def def = tabi_sweep_def_default();
  def.jobs = 3;
  sweep(study, threads, def);
  def.jobs = 1;
  sweep(study, single, def);
  assert_int_equal(tabi_results_count(threads), 40);
  assert_same_rows(threads, single);
  def.shards = 3;
  static const char *const name[3] = {"s0.sqlite", "s1.sqlite", "s2.sqlite"};
  for (def.shard = 0; def.shard < 3; ++def.shard) {
    tabi_results *shard = create(name[def.shard], study);
    sweep(study, shard, def);
    assert_int_equal(tabi_results_count(shard), def.shard == 0 ? 14 : 13);
    tabi_results_close(shard);
  }
  tabi_results *merged = create("merged.sqlite", study);
  tabi_error err = {0};
  for (int i = 2; i >= 0; --i)
    assert_int_equal(tabi_results_merge(merged, scratch_path(name[i]), &err), TABI_OK);
  assert_int_equal(tabi_results_merge(merged, scratch_path(name[1]), &err), TABI_OK);
  assert_int_equal(tabi_results_count(merged), 40);
  assert_same_rows(threads, merged);
  tabi_results_close(threads);
  tabi_results_close(single);
  tabi_results_close(merged);
  tabi_study_destroy(study);
}

static int64_t runs_until_known(const char *name, const tabi_study *study, int32_t jobs) {
  tabi_sweep_def def = tabi_sweep_def_default();
  def.jobs = jobs;
  tabi_results *results = create(name, study);
  sweep(study, results, def);
  int64_t count = tabi_results_count(results);
  for (int64_t run = 0; run < count; ++run)
    assert_true(tabi_results_has(results, run));
  tabi_measure_summary summary;
  tabi_error err = {0};
  assert_int_equal(tabi_results_summary(results, 0, &summary, &err), TABI_OK);
  assert_true(summary.mean.high - summary.mean.low <= 0.03);
  // a file that is good enough gets no further runs
  sweep(study, results, def);
  assert_int_equal(tabi_results_count(results), count);
  tabi_results_close(results);
  return count;
}

/* the interval decides, and the same runs are done by any number of threads */
static void test_a_rule_ends_a_study(void **state) {
  (void)state;
  static const char text[] = "scene: slope.yaml\n"
                             "runs: 2000\n"
                             "parameters:\n"
                             "  friction: {set: contact.friction, uniform: [0.1, 0.5]}\n"
                             "measures:\n"
                             "  speed: {signal: box.vx, statistic: last}\n"
                             "stop: {measure: speed, width: 0.03}\n";
  tabi_error err = {0};
  (void)scratch_text("slope.yaml", SLOPE_SCENE);
  tabi_study *study = tabi_study_load(scratch_text("stop.yaml", text), NULL, &err);
  assert_non_null(study);
  assert_true(tabi_study_may_stop(study));
  int64_t count = runs_until_known("three.sqlite", study, 3);
  assert_true(count >= 100 && count < 1000 && count % 100 == 0);
  assert_int_equal(runs_until_known("one.sqlite", study, 1), count);
  tabi_sweep_def def = tabi_sweep_def_default();
  def.shards = 2;
  tabi_results *results = create("shard.sqlite", study);
  assert_int_equal(tabi_sweep(study, results, &def, &err), TABI_ERR_ARGUMENT);
  tabi_results_close(results);
  tabi_study_destroy(study);
}

static bool stop_after_ten(void *user, int64_t done, int64_t total) {
  int64_t *seen = user;
  assert_true(done <= total);
  *seen = done;
  return done < 10;
}

/* stopped and continued, also from the file alone */
static void test_results_are_continued(void **state) {
  (void)state;
  tabi_study *study = load();
  tabi_results *results = create("part.sqlite", study);
  tabi_sweep_def def = tabi_sweep_def_default();
  int64_t seen = 0;
  def.jobs = 1;
  def.progress = stop_after_ten;
  def.progress_user = &seen;
  sweep(study, results, def);
  assert_int_equal(tabi_results_count(results), 10);
  assert_true(tabi_results_has(results, 9) && !tabi_results_has(results, 10));
  tabi_results_close(results);
  tabi_study_destroy(study);
  tabi_error err = {0};
  results = tabi_results_open(scratch_path("part.sqlite"), NULL, &err);
  assert_non_null(results);
  assert_int_equal(tabi_results_count(results), 10);
  sweep(tabi_results_study(results), results, tabi_sweep_def_default());
  assert_int_equal(tabi_results_count(results), 40);
  study = load();
  tabi_results *whole = create("whole.sqlite", study);
  sweep(study, whole, tabi_sweep_def_default());
  assert_same_rows(results, whole);
  tabi_results_close(whole);
  tabi_results_close(results);
  tabi_study_destroy(study);
}

static void test_foreign_files_are_refused(void **state) {
  (void)state;
  tabi_study *study = load();
  tabi_results_close(create("mine.sqlite", study));
  (void)scratch_text("noise.sqlite", "this is no data base, but a text of some length\n");
  tabi_error err = {0};
  assert_null(tabi_results_create(scratch_path("noise.sqlite"), study, &err));
  assert_null(tabi_results_open(scratch_path("none.sqlite"), NULL, &err));
  tabi_study_destroy(study);
  (void)scratch_text("slope.yaml", SLOPE_SCENE "# another scene\n");
  study = tabi_study_load(scratch_path("study.yaml"), NULL, &err);
  assert_non_null(study);
  assert_null(tabi_results_create(scratch_path("mine.sqlite"), study, &err));
  assert_non_null(strstr(err.message, "another study"));
  tabi_results *other = create("other.sqlite", study);
  assert_int_not_equal(tabi_results_merge(other, scratch_path("mine.sqlite"), &err), TABI_OK);
  tabi_results_close(other);
  tabi_study_destroy(study);
}

/* friction decides, mass does not; the measure that half of the runs have counts those */
static void test_summary_and_effects(void **state) {
  (void)state;
  tabi_study *study = load();
  tabi_results *results = create("sum.sqlite", study);
  sweep(study, results, tabi_sweep_def_default());
  tabi_measure_summary speed;
  tabi_measure_summary moving;
  tabi_error err = {0};
  assert_int_equal(tabi_results_summary(results, 0, &speed, &err), TABI_OK);
  assert_int_equal(tabi_results_summary(results, 1, &moving, &err), TABI_OK);
  assert_int_equal(speed.count, 40);
  assert_true(moving.count < 20 && moving.count > 14);
  assert_true(speed.mean.low < speed.mean.value && speed.mean.value < speed.mean.high);
  assert_near(speed.min, 0, 1e-6);
  assert_near(tabi_study_value(study, speed.max_run, 0), 0.1, 0.011);
  tabi_effect friction;
  tabi_effect mass;
  assert_int_equal(tabi_results_effect(results, 0, 0, &friction, &err), TABI_OK);
  assert_int_equal(tabi_results_effect(results, 1, 0, &mass, &err), TABI_OK);
  assert_true(friction.main > 0.6 && mass.main < 0.2);
  assert_true(isnan(friction.first.value));
  double p = 0;
  assert_int_equal(tabi_results_compare(results, results, 0, &p, &err), TABI_OK);
  assert_near(p, 1, 1e-9);
  tabi_results_close(results);
  tabi_study_destroy(study);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_rows_do_not_depend_on_who_did_them),
      cmocka_unit_test(test_a_rule_ends_a_study),
      cmocka_unit_test(test_results_are_continued),
      cmocka_unit_test(test_foreign_files_are_refused),
      cmocka_unit_test(test_summary_and_effects),
  };
  return cmocka_run_group_tests(tests, scratch_begin, scratch_end);
}

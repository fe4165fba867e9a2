/* test_biped_sample.c - walks from many postures: that every piece of work is done once on any
 * number of threads, that results do not depend on that number, and statistics against numbers
 * worked out by hand. */
#include "biped_sample.h"
#include "parallel.h"
#include "support/near.h"

#include <math.h>
#include <string.h>

enum { PIECES = 100 };

static void count_call(void *user, int32_t index) { ++((int *)user)[index]; }

static void every_piece_once(void **state) {
  (void)state;
  static const int32_t threads[] = {0, 1, 2, 7, 200};
  for (size_t t = 0; t < sizeof threads / sizeof *threads; ++t) {
    int calls[PIECES] = {0};
    tbi_parallel(PIECES, threads[t], count_call, calls);
    for (int i = 0; i < PIECES; ++i)
      assert_int_equal(calls[i], 1);
  }
  tbi_parallel(0, 0, count_call, NULL);
}

static tbi_biped_sample sample_of(double friction) {
  return (tbi_biped_sample){
      .def = {.scene = "biped_walk.yaml", .friction = friction, .timestep = 0.005, .spread = 0.02},
      .nwalk = 4,
  };
}

static void assert_same(const tbi_biped_walk *a, const tbi_biped_walk *b) {
  assert_int_equal(a->nstep, b->nstep);
  assert_memory_equal(a->step, b->step, sizeof a->step);
  assert_int_equal(a->outcome, b->outcome);
  assert_true(a->time == b->time && a->pulled == b->pulled);
}

/* to the bit, and postures do differ */
static void any_number_of_threads(void **state) {
  (void)state;
  tabi_error err = {0};
  tbi_biped_sample one[] = {sample_of(0.5), sample_of(0.3)};
  tbi_biped_sample many[] = {sample_of(0.5), sample_of(0.3)};
  assert_int_equal(tbi_biped_samples_run(one, 2, 1, &err), TABI_OK);
  assert_int_equal(tbi_biped_samples_run(many, 2, 5, &err), TABI_OK);
  for (int s = 0; s < 2; ++s)
    for (int i = 0; i < one[s].nwalk; ++i)
      assert_same(&one[s].walk[i], &many[s].walk[i]);
  assert_true(one[0].walk[0].step[0][TBI_BIPED_TIME] != one[0].walk[1].step[0][TBI_BIPED_TIME]);
  tbi_biped_samples_free(one, 2);
  tbi_biped_samples_free(many, 2);
}

/* the first failure is told, and nothing is lost */
static void a_scene_that_is_missing(void **state) {
  (void)state;
  tabi_error err = {0};
  tbi_biped_sample sample = sample_of(0.5);
  sample.def.scene = "no_such_walk.yaml";
  assert_int_not_equal(tbi_biped_samples_run(&sample, 1, 2, &err), TABI_OK);
  assert_non_null(strstr(err.file, "no_such_walk.yaml"));
  tbi_biped_samples_free(&sample, 1);
}

static tbi_biped_walk walk_of(int32_t nstep, const double *touchdown) {
  tbi_biped_walk w = {.nstep = nstep, .time = 10};
  for (int32_t i = 0; i < nstep; ++i)
    w.step[i][TBI_BIPED_TOUCHDOWN] = touchdown[i];
  return w;
}

/* Four walks of 4, 3, 2 and 0 steps. */
static void statistics(void **state) {
  (void)state;
  tbi_biped_walk walk[] = {
      walk_of(4, (const double[]){0.4, 0.3, 0.35, 0.1}),
      walk_of(3, (const double[]){0.6, 0.5, 0.2}),
      walk_of(2, (const double[]){0.2, 0.3}),
      walk_of(0, NULL),
  };
  tbi_biped_sample sample = {.nwalk = 4, .walk = walk};
  int32_t least = -1, most = -1;
  double largest = 0;
  walk[0].pulled = 1;
  walk[1].outcome = TABI_GAIT_FELL;
  assert_near(tbi_biped_trend(&walk[0]), -4.0 / 6, 1e-15);
  assert_near(tbi_biped_trend(&walk[1]), -1, 0);
  assert_near(tbi_biped_trend(&walk[2]), 1, 0);
  assert_true(isnan(tbi_biped_trend(&walk[3])));
  assert_near(tbi_biped_share_that_shrinks(&sample, -0.6), 50, 0);
  assert_near(tbi_biped_share_of_steps(&sample, 2, 3), 50, 0);
  assert_near(tbi_biped_share_of_outcome(&sample, TABI_GAIT_FELL), 25, 0);
  assert_near(tbi_biped_median_steps(&sample), 2.5, 0);
  assert_near(tbi_biped_mean_steps(&sample), 2.25, 0);
  assert_near(tbi_biped_pull(&sample, &largest), 2.5, 1e-14);
  assert_near(largest, 10, 0);
  tbi_biped_range_of_steps(&sample, &least, &most);
  assert_int_equal(least, 0);
  assert_int_equal(most, 4);
  assert_int_equal(tbi_biped_common_steps(&sample), 3);
  assert_near(tbi_biped_mean(&sample, TBI_BIPED_TOUCHDOWN, 0), 0.4, 1e-15);
  assert_near(tbi_biped_quantile(&sample, TBI_BIPED_TOUCHDOWN, 0, 0.25), 0.3, 1e-15);
  assert_true(isnan(tbi_biped_mean(&sample, TBI_BIPED_TOUCHDOWN, 4)));
}

/* a mean that rises by a third of a millimetre does not fall, however much walks scatter */
static void falls(void **state) {
  (void)state;
  static const double shrinks[] =
      {
          0.4, 0.3, 0.2
  },
                      rises[] = {0.4, 0.3, 0.301},
                      scattered[2][3] = {{0.4, 0.2, 0.1}, {0.4, 0.1, 0.2}};
  tbi_biped_walk walk[3];
  tbi_biped_sample sample = {.nwalk = 3, .walk = walk};
  for (int i = 0; i < 3; ++i)
    walk[i] = walk_of(3, shrinks);
  assert_true(tbi_biped_falls(&sample, TBI_BIPED_TOUCHDOWN));
  walk[0] = walk_of(3, rises);
  walk[1] = walk_of(3, scattered[0]);
  walk[2] = walk_of(3, scattered[1]);
  assert_false(tbi_biped_falls(&sample, TBI_BIPED_TOUCHDOWN));
  assert_false(tbi_biped_falls(&sample, TBI_BIPED_SLIP)); /* all zero */
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(every_piece_once),
      cmocka_unit_test(any_number_of_threads),
      cmocka_unit_test(a_scene_that_is_missing),
      cmocka_unit_test(statistics),
      cmocka_unit_test(falls),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

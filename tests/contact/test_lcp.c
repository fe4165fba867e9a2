/* test_lcp.c - the LCP method: its bounds and complementarity on random models, its pyramid by
 * hand, and the same answer from ports and from the dense matrix. */
#include "support/block.h"
#include "support/make_problem.h"
#include "support/near.h"

#define MODELS   30
#define POINTS   8
#define ROWS     4
#define SLIDING  1e-3
#define ACCURACY 1e-7 /* m/s, of a converged solution */

static tbi_solution solve(made_problem *made, const tabi_world_def *def) {
  return made_solve(made, def, tbi_lcp.memsize, tbi_lcp.solve);
}

/* f between its bounds; u zero between them, not below at the lower, not above at the upper one */
static void expect_bounded(double f, double u, double lower, double upper, double size) {
  double slack = 1e-9 * size;
  assert_true(f >= lower - slack && f <= upper + slack);
  if (f > lower + slack) assert_true(u <= ACCURACY);
  if (f < upper - slack) assert_true(u >= -ACCURACY);
}

static void expect_point(const tbi_point *c, v3 u) {
  double size = fmax(c->impulse[0], 1e-3);
  double max = c->friction * c->impulse[0];
  expect_bounded(c->impulse[0], u.x - c->target, 0.0, INFINITY, size);

  double speed = sqrt(c->slip[0] * c->slip[0] + c->slip[1] * c->slip[1]);
  bool slides = speed > SLIDING;
  double y = slides ? -c->slip[0] / speed : cos(c->angle);
  double z = slides ? -c->slip[1] / speed : sin(c->angle);
  double along = y * c->impulse[1] + z * c->impulse[2];
  double across = y * c->impulse[2] - z * c->impulse[1];
  expect_bounded(along, y * u.y + z * u.z, slides ? 0.0 : -max, max, size);
  if (slides) {
    assert_near(across, 0.0, 1e-12 * size);
  } else {
    expect_bounded(across, y * u.z - z * u.y, -max, max, size);
  }
}

static void expect_law(const made_problem *made) {
  for (int32_t i = 0; i < made->p->npoint; ++i)
    expect_point(&made->p->point[i], made_point_velocity(made, i));
  for (int32_t i = 0; i < made->p->nrow; ++i) {
    const tbi_row *row = &made->p->row[i];
    expect_bounded(row->impulse, made_row_velocity(made, i) - row->target, row->lower, row->upper,
                   fmax(fabs(row->impulse), 1e-3));
  }
}

static void random_models(void **state) {
  (void)state;
  made_check_random(tbi_lcp.memsize, tbi_lcp.solve, expect_law);
}

static void dense_is_the_same(void **state) {
  (void)state;
  for (uint64_t seed = 1; seed <= MODELS; ++seed)
    made_compare_dense(seed, tbi_lcp_paper.memsize, tbi_lcp_paper.solve);
}

/* A block held at one point keeps still while the load is at most mu / max(|cos|, |sin|) of the
 * weight, the angle counted from the axes: mu along them, sqrt(2) mu between. */
static void pyramid_of_rest(void **state) {
  (void)state;
  const double mu = 0.5;
  const double axis = 0.3;
  for (int i = 0; i < 36; ++i) {
    double angle = 3.14159265358979324 * i / 18.0;
    double share = mu / fmax(fabs(cos(angle - axis)), fabs(sin(angle - axis)));
    for (int side = -1; side <= 1; side += 2) {
      /* one percent below and above the limit */
      double load = share * (1.0 + 0.01 * side);
      block b;
      block_open(&b, load, angle, mu);
      b.point->angle = axis;
      b.point->slip[0] = b.point->slip[1] = 0.0;
      tabi_world_def def = made_def(1);
      tbi_solution solution = solve(&b.made, &def);
      assert_true(solution.converged);
      expect_law(&b.made);
      v3 u = made_point_velocity(&b.made, 0);
      bool held = sqrt(u.y * u.y + u.z * u.z) < 1e-12;
      assert_true(held == (side < 0));
      block_close(&b);
    }
  }
}

/* a sliding block: friction mu against its slip, and not beyond the stop */
static void slides_along_one_direction(void **state) {
  (void)state;
  const double mu = 0.5;
  for (int i = 0; i < 36; ++i) {
    double angle = 3.14159265358979324 * i / 18.0;
    for (int fast = 0; fast <= 1; ++fast) {
      double load = fast ? 2.0 : 0.2;
      block b;
      block_open(&b, load, angle, mu);
      tabi_world_def def = made_def(1);
      assert_true(solve(&b.made, &def).converged);
      expect_law(&b.made);
      v3 u = made_point_velocity(&b.made, 0);
      double left = (fast ? load - mu : 0.0) * BLOCK_FALL;
      assert_near(u.y, left * cos(angle), 1e-12);
      assert_near(u.z, left * sin(angle), 1e-12);
      block_close(&b);
    }
  }
}

static void static_friction_can_be_left_out(void **state) {
  (void)state;
  block b;
  block_open(&b, 0.3, 1.0, 0.5);
  b.point->slip[0] = b.point->slip[1] = 0.0;
  /* a warm start from friction is taken back */
  b.point->impulse[1] = 0.1;
  b.point->impulse[2] = -0.2;
  tabi_world_def def = made_def(1);
  def.lcp.static_friction = false;
  assert_true(solve(&b.made, &def).converged);
  assert_near(b.point->impulse[1], 0.0, 0.0);
  assert_near(b.point->impulse[2], 0.0, 0.0);
  assert_near(b.point->impulse[0], BLOCK_MASS * BLOCK_FALL, 1e-12);
  made_expect_consistent(&b.made);
  block_close(&b);
}

static void opens_above_its_target(void **state) {
  (void)state;
  block b;
  block_open(&b, 0.3, 1.0, 0.5);
  b.point->target = -2.0 * BLOCK_FALL; /* a gap that this step cannot close */
  tabi_world_def def = made_def(1);
  tbi_solution solution = solve(&b.made, &def);
  assert_true(solution.converged);
  for (int k = 0; k < 3; ++k)
    assert_near(b.point->impulse[k], 0.0, 0.0);
  /* a rebound */
  b.point->target = 3.0;
  solve(&b.made, &def);
  assert_near(made_point_velocity(&b.made, 0).x, 3.0, 1e-12);
  block_close(&b);
}

static void warm_start_ends_at_once(void **state) {
  (void)state;
  for (uint64_t seed = 1; seed <= MODELS; ++seed) {
    made_problem made;
    tabi_model *model = made_random(&made, seed, RANDOM_FLOATING, POINTS, ROWS);
    tabi_world_def def = made_def(POINTS);
    if (solve(&made, &def).converged) {
      def.tolerance = 1e-9;
      tbi_solution again = solve(&made, &def);
      assert_true(again.converged);
      assert_int_equal(again.iterations, 1);
    }
    made_close(&made);
    tabi_model_destroy(model);
  }
}

static void keeps_to_its_iterations(void **state) {
  (void)state;
  made_problem made;
  tabi_model *model = made_random(&made, 3, RANDOM_FLOATING, POINTS, ROWS);
  tabi_world_def def = made_def(POINTS);
  def.iterations = 5;
  def.tolerance = -1.0;
  tbi_solution solution = solve(&made, &def);
  assert_int_equal(solution.iterations, 5);
  assert_false(solution.converged);
  made_close(&made);
  tabi_model_destroy(model);

  /* nothing to solve is solved */
  model = made_random(&made, 3, RANDOM_FLOATING, 0, 0);
  def.tolerance = 0.0;
  solution = solve(&made, &def);
  assert_true(solution.converged);
  made_close(&made);
  tabi_model_destroy(model);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(random_models),
      cmocka_unit_test(dense_is_the_same),
      cmocka_unit_test(pyramid_of_rest),
      cmocka_unit_test(slides_along_one_direction),
      cmocka_unit_test(static_friction_can_be_left_out),
      cmocka_unit_test(opens_above_its_target),
      cmocka_unit_test(warm_start_ends_at_once),
      cmocka_unit_test(keeps_to_its_iterations),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

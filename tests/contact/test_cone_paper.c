/* test_cone_paper.c - the cone's solver as published: inside the cone always, Coulomb's law where
 * one contact stands alone, and the same answer from ports and from the dense matrix. */
#include "contact/formulation.h"

#include "support/block.h"
#include "support/make_problem.h"
#include "support/near.h"

#define MODELS   30
#define ACCURACY 1e-7 /* m/s, of a converged solution */

static tbi_solution solve(made_problem *made, tabi_world_def *def) {
  return made_solve(made, def, tbi_cone_paper.memsize, tbi_cone_paper.solve);
}

/* Row by row: the normal's own law; friction inside the cone; at rest where it is well inside.
 * On the cone the method promises no more than friction that does not push. */
static void expect_point(const tbi_point *c, v3 u) {
  double normal = c->impulse[0];
  double max = c->friction * normal;
  double size = fmax(normal, 1e-3);
  double friction = sqrt(c->impulse[1] * c->impulse[1] + c->impulse[2] * c->impulse[2]);
  assert_true(normal >= 0.0);
  assert_true(u.x - c->target >= -ACCURACY);
  if (normal > 1e-9 * size) assert_true(u.x - c->target <= ACCURACY);
  assert_true(friction <= max * (1.0 + 1e-12));
  if (friction < max - 1e-6 * size) {
    assert_near(u.y, 0.0, ACCURACY);
    assert_near(u.z, 0.0, ACCURACY);
  }
  assert_true(c->impulse[1] * u.y + c->impulse[2] * u.z <= ACCURACY * size);
}

static void expect_law(const made_problem *made) {
  for (int32_t i = 0; i < made->p->npoint; ++i)
    expect_point(&made->p->point[i], made_point_velocity(made, i));
  for (int32_t i = 0; i < made->p->nrow; ++i) {
    const tbi_row *row = &made->p->row[i];
    double u = made_row_velocity(made, i) - row->target;
    assert_true(row->impulse >= row->lower && row->impulse <= row->upper);
    if (row->impulse > row->lower) assert_true(u <= ACCURACY);
    if (row->impulse < row->upper) assert_true(u >= -ACCURACY);
  }
}

static void random_models(void **state) {
  (void)state;
  made_check_random(tbi_cone_paper.memsize, tbi_cone_paper.solve, expect_law);
}

static void dense_is_the_same(void **state) {
  (void)state;
  for (uint64_t seed = 1; seed <= MODELS; ++seed)
    made_compare_dense(seed, tbi_cone_paper.memsize, tbi_cone_paper.solve);
}

/* holds up to mu in every direction, beyond it slips with friction mu against the slip */
static void isotropic(void **state) {
  (void)state;
  const double mu = 0.5;
  for (int i = 0; i < 36; ++i) {
    double angle = 3.14159265358979324 * i / 18.0;
    for (int slips = 0; slips <= 1; ++slips) {
      double load = mu * (slips ? 1.01 : 0.99);
      block b;
      block_open(&b, load, angle, mu);
      tabi_world_def def = made_def(1);
      assert_true(solve(&b.made, &def).converged);
      v3 u = made_point_velocity(&b.made, 0);
      double left = slips ? (load - mu) * BLOCK_FALL : 0.0;
      assert_near(u.x, 0.0, 1e-12);
      assert_near(u.y, left * cos(angle), 1e-12);
      assert_near(u.z, left * sin(angle), 1e-12);
      made_expect_consistent(&b.made);
      block_close(&b);
    }
  }
}

static void without_friction(void **state) {
  (void)state;
  block b;
  block_open(&b, 1.0, 0.5, 0.0);
  b.point->impulse[1] = 0.3; /* a warm start outside the cone is taken back */
  tabi_world_def def = made_def(1);
  assert_true(solve(&b.made, &def).converged);
  assert_near(b.point->impulse[0], BLOCK_MASS * BLOCK_FALL, 1e-12);
  assert_near(b.point->impulse[1], 0.0, 0.0);
  assert_near(b.point->impulse[2], 0.0, 0.0);
  made_expect_consistent(&b.made);
  block_close(&b);
}

/* the dense matrix takes memory only where it is asked for */
static void memory_on_demand(void **state) {
  (void)state;
  block b;
  block_open(&b, 0.0, 0.0, 0.0);
  tabi_world_def def = made_def(100);
  size_t sparse = tbi_cone_paper.memsize(b.model, &def);
  def.cone.storage = TABI_STORAGE_DENSE;
  size_t dense = tbi_cone_paper.memsize(b.model, &def);
  assert_true(sparse > 0 && sparse < 200000);
  assert_true(dense - sparse >= sizeof(double) * 300 * 300);
  block_close(&b);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(random_models),    cmocka_unit_test(dense_is_the_same),
      cmocka_unit_test(isotropic),        cmocka_unit_test(without_friction),
      cmocka_unit_test(memory_on_demand),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

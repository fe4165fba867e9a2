/* test_memory.c - no dynamics call may allocate. */
#include "support/heap.h"
#include "support/near.h"
#include "support/random_model.h"

#include "dynamics/dynamics.h"
#include "tabi/tabi.h"

#include <stdlib.h>

typedef struct numbers {
  double *q, *v, *tau, *vector, *matrix;
} numbers;

static void call_everything(const tabi_model *model, tabi_dynamics *d, const numbers *n) {
  double a[4], b[4];
  tabi_dynamics_set_state(d, n->q, n->v);
  tabi_dynamics_inverse(d, n->tau, n->vector);
  tabi_dynamics_forward(d, n->tau, n->vector);
  tabi_dynamics_mass_matrix(d, n->matrix);
  for (int32_t link = 0; link < tabi_model_nlink(model); ++link) {
    tabi_dynamics_link_pose(d, link, a, b);
    tabi_dynamics_link_velocity(d, link, a, b);
    tabi_dynamics_point_jacobian(d, link, a, n->matrix);
    tabi_dynamics_point_jacobian_rate(d, link, a, n->matrix);
    tabi_dynamics_angular_jacobian(d, link, n->matrix);
    tabi_dynamics_angular_jacobian_rate(d, link, n->matrix);
  }
  tabi_dynamics_com(d, a);
  tabi_dynamics_com_jacobian(d, n->matrix);
  tabi_dynamics_com_jacobian_rate(d, n->matrix);
  (void)tabi_dynamics_kinetic(d);
  (void)tabi_dynamics_potential(d);
  tabi_dynamics_momentum(d, a, b);
  tabi_dynamics_momentum_matrix(d, n->matrix);
  tabi_dynamics_momentum_bias(d, a, b);
  tbi_forward_aba(d, n->tau, n->vector);
  tbi_forward_ltdl(d, n->tau, n->vector);
  tbi_forward_ada(d, n->tau, n->vector);
  tabi_model_integrate(model, n->q, n->v, 1e-3, n->q);
}

static void test_no_call_allocates(void **state) {
  (void)state;
  static random_plan plan;
  for (uint64_t seed = 1; seed <= 50; ++seed) {
    random_plan_make(&plan, seed, RANDOM_ANY);
    tabi_model *model = random_plan_build(&plan, NULL);
    tabi_dynamics *d = tabi_dynamics_create(model, NULL);
    size_t nq = (size_t)tabi_model_nq(model), nv = (size_t)tabi_model_nv(model);
    size_t entries = (nv + 6) * (nv + 6);
    double *block = calloc(nq + 3 * nv + entries + 1, sizeof *block);
    assert_non_null(block);
    numbers n = {block, block + nq, block + nq + nv, block + nq + 2 * nv, block + nq + 3 * nv};
    random_plan_state(&plan, model, n.q, n.v, n.tau);
    long before = heap_calls();
    call_everything(model, d, &n);
    assert_int_equal(heap_calls() - before, 0);
    free(block);
    tabi_dynamics_destroy(d);
    tabi_model_destroy(model);
  }
}

/* the counter works: making a workspace does allocate, once, and freeing it is one call */
static void test_the_counter_counts(void **state) {
  (void)state;
  static random_plan plan;
  random_plan_make(&plan, 1, RANDOM_ANY);
  tabi_model *model = random_plan_build(&plan, NULL);
  long before = heap_calls();
  tabi_dynamics *d = tabi_dynamics_create(model, NULL);
  assert_int_equal(heap_calls() - before, 1);
  tabi_dynamics_destroy(d);
  assert_int_equal(heap_calls() - before, 2);
  tabi_model_destroy(model);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_no_call_allocates),
      cmocka_unit_test(test_the_counter_counts),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

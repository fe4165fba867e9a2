/* test_random.c - random trees of all joint types: a lane step solves
 *     (M + diagonal) (v+ - v) = h (tau + springs and dampers - bias),
 * made here from the mass matrix and the bias of tabi_dynamics. */
#include "support/near.h"
#include "support/random_model.h"
#include "tabi/tabi_batch.h"

#include <stdlib.h>
#include <string.h>

#define H 1e-3

/* nothing that needs rows */
static void make_plain(random_plan *plan) {
  for (int32_t i = 0; i < plan->nlink; ++i) {
    plan->links[i].joint.friction = 0;
    plan->links[i].joint.lower = -HUGE_VAL;
    plan->links[i].joint.upper = HUGE_VAL;
  }
}

/* x = a^-1 x, by elimination without pivots: a is positive definite */
static void solve(double *a, double *x, int32_t n) {
  for (int32_t k = 0; k < n; ++k) {
    for (int32_t i = k + 1; i < n; ++i) {
      double f = a[i * n + k] / a[k * n + k];
      for (int32_t j = k; j < n; ++j)
        a[i * n + j] -= f * a[k * n + j];
      x[i] -= f * x[k];
    }
  }
  for (int32_t i = n - 1; i >= 0; --i) {
    for (int32_t j = i + 1; j < n; ++j)
      x[i] -= a[i * n + j] * x[j];
    x[i] /= a[i * n + i];
  }
}

static void add_joint(const tabi_model *model, int32_t joint, const double *q, const double *v,
                      double *mass, double *force) {
  tabi_joint_def def = tabi_model_joint(model, joint);
  tabi_range dofs = tabi_model_joint_v(model, joint);
  int32_t nv = tabi_model_nv(model);
  for (int32_t k = dofs.first; k < dofs.first + dofs.count; ++k) {
    bool springs = dofs.count == 1 && def.stiffness > 0;
    double stiffness = springs ? def.stiffness : 0;
    mass[k * nv + k] += H * def.damping + H * H * stiffness;
    force[k] -= def.damping * v[k];
    if (springs) {
      double at = q[tabi_model_joint_q(model, joint).first];
      force[k] -= stiffness * (at + H * v[k] - def.rest_position);
    }
  }
}

/* v+ */
static void expect(const tabi_model *model, const double *q, const double *v, const double *tau,
                   double *after) {
  int32_t nv = tabi_model_nv(model);
  double *mass = calloc((size_t)nv * (size_t)nv, sizeof *mass);
  double *bias = calloc((size_t)nv, sizeof *bias);
  tabi_dynamics *d = tabi_dynamics_create(model, NULL);
  tabi_dynamics_set_state(d, q, v);
  tabi_dynamics_mass_matrix(d, mass);
  tabi_dynamics_inverse(d, NULL, bias);
  for (int32_t k = 0; k < nv; ++k)
    after[k] = tau[k] - bias[k];
  for (int32_t j = 0; j < tabi_model_njoint(model); ++j)
    add_joint(model, j, q, v, mass, after);
  for (int32_t k = 0; k < nv; ++k)
    after[k] *= H;
  solve(mass, after, nv);
  for (int32_t k = 0; k < nv; ++k)
    after[k] += v[k];
  tabi_dynamics_destroy(d);
  free(mass);
  free(bias);
}

/* whether lanes took the model */
static bool check_model(uint64_t seed, random_kind kind) {
  random_plan *plan = calloc(1, sizeof *plan);
  random_plan_make(plan, seed, kind);
  make_plain(plan);
  tabi_model *model = random_plan_build(plan, NULL);
  int32_t nq = tabi_model_nq(model);
  int32_t nv = tabi_model_nv(model);
  double *q = calloc(2 * ((size_t)nq + 3 * (size_t)nv) + 1, sizeof *q);
  double *v = q + nq;
  double *tau = v + nv;
  double *after = tau + nv;
  double *moved = after + nv;
  random_plan_state(plan, model, q, v, tau);
  tabi_world_def world = tabi_world_def_default(model);
  world.timestep = H;
  tabi_batch_def def = tabi_batch_def_default();
  def.worlds = 3;
  def.threads = 1;
  tabi_batch *b = nv > 0 ? tabi_batch_create(model, &world, &def, NULL) : NULL;
  bool taken = b && tabi_batch_lanes(b) > 0;
  for (int32_t i = 0; taken && i < 3; ++i) {
    double *torque = tabi_batch_array(b, TABI_BATCH_TORQUE, NULL) + (ptrdiff_t)i * nv;
    assert_int_equal(tabi_batch_reset(b, &i, 1, q, v, NULL), TABI_OK);
    memcpy(torque, tau, sizeof *tau * (size_t)nv);
  }
  if (taken) {
    const double *v_after = tabi_batch_array(b, TABI_BATCH_V, NULL);
    const double *q_after = tabi_batch_array(b, TABI_BATCH_Q, NULL);
    expect(model, q, v, tau, after);
    assert_int_equal(tabi_batch_step(b, 1, NULL), 0);
    assert_near_n(v_after + 2 * (ptrdiff_t)nv, after, (size_t)nv, 1e-8);
    tabi_model_integrate(model, q, v_after, H, moved);
    assert_near_n(q_after, moved, (size_t)nq, 1e-12);
  }
  tabi_batch_destroy(b);
  tabi_model_destroy(model);
  free(q);
  free(plan);
  return taken;
}

static void lane_steps_obey_the_equation_of_motion(void **state) {
  (void)state;
  int taken = 0;
  for (uint64_t seed = 1; seed <= 150; ++seed)
    taken += check_model(seed, seed % 2 ? RANDOM_ANY : RANDOM_FLOATING);
  print_message("[          ] %d of 150 models in lanes\n", taken);
  assert_true(taken > 60);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(lane_steps_obey_the_equation_of_motion)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}

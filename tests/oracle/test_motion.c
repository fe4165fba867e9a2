/* test_motion.c - poses, mass matrix, bias and acceleration at random states. */
#include "oracle/twins.h"
#include "support/rng.h"

#include <stdlib.h>

#define STATES    20
#define TOLERANCE 1e-9 /* relative to the largest entry, or to 1 */

static double *room(size_t count) {
  double *block = calloc(count + 1, sizeof *block);
  assert_non_null(block);
  return block;
}

/* Joints anywhere, quaternions of any rotation; velocities and torques of a few units. */
static void draw_state(const twins *t, rng *r, double *tau) {
  rng_fill(r, 2.0, t->data->qpos, t->mj->nq);
  rng_fill(r, 3.0, t->data->qvel, t->mj->nv);
  rng_fill(r, 10.0, tau, t->mj->nv);
  for (int j = 0; j < t->mj->njnt; ++j) {
    double *q = t->data->qpos + t->mj->jnt_qposadr[j];
    if (t->mj->jnt_type[j] == mjJNT_FREE) rng_direction(r, q + 3, 4);
    if (t->mj->jnt_type[j] == mjJNT_BALL) rng_direction(r, q, 4);
  }
}

/* MuJoCo's pipeline without contacts, limits, springs and actuators. */
static void run_mujoco(const twins *t, double *bias) {
  mj_kinematics(t->mj, t->data);
  mj_comPos(t->mj, t->data);
  mj_crb(t->mj, t->data);
  mj_factorM(t->mj, t->data);
  mj_comVel(t->mj, t->data);
  mj_rne(t->mj, t->data, 0, bias);
}

static void compare_poses(const twins *t) {
  for (int b = 1; b < t->mj->nbody; ++b) {
    double pos[3];
    double quat[4];
    double rotation[9];
    tabi_dynamics_link_pose(t->dynamics, t->links[b], pos, quat);
    mju_quat2Mat(rotation, quat);
    assert_near_n(pos, t->data->xpos + 3 * (size_t)b, 3, TOLERANCE);
    assert_near_n(rotation, t->data->xmat + 9 * (size_t)b, 9, TOLERANCE);
  }
}

/* Turns M, column by column and then row by row, into tabi's order and axes. */
static void compare_mass_matrix(const twins *t) {
  size_t nv = t->nv;
  double *theirs = room(nv * nv);
  double *half = room(nv * nv);
  double *line = room(nv);
  double *turned = room(nv);
  double *expected = room(nv * nv);
  double *ours = room(nv * nv);
  mj_fullM(t->mj, theirs, t->data->qM);
  for (size_t i = 0; i < nv; ++i)
    twins_v(t, t->data->qpos, theirs + i * nv, half + i * nv);
  for (size_t k = 0; k < nv; ++k) {
    for (size_t i = 0; i < nv; ++i)
      line[i] = half[i * nv + k];
    twins_v(t, t->data->qpos, line, turned);
    for (size_t i = 0; i < nv; ++i)
      expected[i * nv + k] = turned[i];
  }
  tabi_dynamics_mass_matrix(t->dynamics, ours);
  assert_near_n(ours, expected, nv * nv, TOLERANCE);
  double *all[] = {theirs, half, line, turned, expected, ours};
  for (size_t i = 0; i < sizeof all / sizeof *all; ++i)
    free(all[i]);
}

static void compare_forces(const twins *t, const double *bias, const double *tau) {
  size_t nv = t->nv;
  double *theirs = room(nv);
  double *expected = room(nv);
  double *ours = room(nv);
  double *our_tau = room(nv);
  twins_v(t, t->data->qpos, bias, expected);
  tabi_dynamics_inverse(t->dynamics, NULL, ours);
  assert_near_n(ours, expected, nv, TOLERANCE);
  // the acceleration is M^-1 (tau - bias)
  for (size_t i = 0; i < nv; ++i)
    expected[i] = tau[i] - bias[i];
  mj_solveM(t->mj, t->data, theirs, expected, 1);
  twins_v(t, t->data->qpos, theirs, expected);
  twins_v(t, t->data->qpos, tau, our_tau);
  tabi_dynamics_forward(t->dynamics, our_tau, ours);
  assert_near_n(ours, expected, nv, TOLERANCE);
  free(theirs);
  free(expected);
  free(ours);
  free(our_tau);
}

void twins_test_motion(const char *file) {
  twins t;
  twins_open(&t, file);
  double *tau = room(t.nv);
  double *bias = room(t.nv);
  double *q = room(t.nq);
  double *v = room(t.nv);
  rng r = rng_make(7);
  for (int i = 0; i < STATES; ++i) {
    draw_state(&t, &r, tau);
    run_mujoco(&t, bias);
    twins_q(&t, t.data->qpos, q);
    twins_v(&t, t.data->qpos, t.data->qvel, v);
    tabi_dynamics_set_state(t.dynamics, q, v);
    compare_poses(&t);
    compare_mass_matrix(&t);
    compare_forces(&t, bias, tau);
  }
  free(tau);
  free(bias);
  free(q);
  free(v);
  twins_close(&t);
}

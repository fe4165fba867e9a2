/* test_parts.c - the parts of gait against what they stand for.
 *
 * The equation of every mode is solved once more in the robot's own coordinates, with a floating
 * base and a row for every coordinate that a mode constrains.  Foot trees, changes of support and
 * snapshots must not change the motion. */
#include "gait/biped.h"

#include "math/linalg.h"
#include "math/lu.h"
#include "support/rng.h"
#include "world/world.h"

#include <stdlib.h>
#include <string.h>

#define NV   11
#define ROWS 6

/* The same problem in the robot's coordinates. */
typedef struct lagrange {
  tabi_dynamics *d;
  int32_t foot[2];
  int rows;
  double row[ROWS][NV], column[ROWS][NV], drift[ROWS];
} lagrange;

/* A constrained point of a foot: along x (axis 0) or z (axis 2); returns the row. */
static int constrain(lagrange *p, const double *v, int foot, const double at[3], int axis) {
  double pos[3], quat[4], jacobian[3 * NV], rate[3 * NV];
  tabi_dynamics_link_pose(p->d, p->foot[foot], pos, quat);
  m3 rot = q_matrix(q_load(quat));
  v3_store(v3_add(v3_load(pos), m3_mulv(&rot, v3_load(at))), pos);
  tabi_dynamics_point_jacobian(p->d, p->foot[foot], pos, jacobian);
  tabi_dynamics_point_jacobian_rate(p->d, p->foot[foot], pos, rate);
  memcpy(p->row[p->rows], jacobian + (ptrdiff_t)axis * NV, sizeof p->row[0]);
  memcpy(p->column[p->rows], jacobian + (ptrdiff_t)axis * NV, sizeof p->row[0]);
  p->drift[p->rows] = tbi_dot(rate + (ptrdiff_t)axis * NV, v, NV);
  return p->rows++;
}

/* friction of a point against its normal force: the force of row `normal` has a part along x too */
static void rub(lagrange *p, int normal, int foot, const double at[3], double coefficient) {
  double keep[NV];
  double v[NV] = {0};
  int along = constrain(p, v, foot, at, 0);
  memcpy(keep, p->row[along], sizeof keep);
  --p->rows;
  for (int k = 0; k < NV; ++k)
    p->column[normal][k] -= coefficient * keep[k];
}

/* accelerations and forces under joint forces tau */
static void solve(lagrange *p, const double *tau, double *qdd, double *force) {
  enum { MAX = NV + ROWS };
  double mass[NV * NV], bias[NV], matrix[MAX * MAX] = {0}, x[MAX];
  int32_t pivot[MAX];
  int n = NV + p->rows;
  tabi_dynamics_mass_matrix(p->d, mass);
  tabi_dynamics_inverse(p->d, NULL, bias);
  for (int i = 0; i < NV; ++i) {
    for (int j = 0; j < NV; ++j)
      matrix[i * n + j] = mass[i * NV + j];
    for (int c = 0; c < p->rows; ++c) {
      matrix[i * n + NV + c] = -p->column[c][i];
      matrix[(NV + c) * n + i] = p->row[c][i];
    }
    x[i] = tau[i] - bias[i];
  }
  for (int c = 0; c < p->rows; ++c)
    x[NV + c] = -p->drift[c];
  assert_true(tbi_lu_factor(n, matrix, pivot));
  tbi_lu_solve(n, matrix, pivot, x);
  memcpy(qdd, x, sizeof *qdd * NV);
  memcpy(force, x + NV, sizeof *force * (size_t)p->rows);
}

static const double heel[3] = {-0.5, 0, -0.5};
static const double toe[3] = {0.5, 0, -0.5};

/* the feet of a phase, constrained as the table says; forces come in this order:
 * support heel z, support toe z, support x (those it has), swing heel z, swing toe z, swing x */
typedef struct foot_rows {
  int heel, toe, along, swing_heel, swing_toe, swing_along;
} foot_rows;

static foot_rows constrain_feet(lagrange *p, const tbi_gait_run *run, const double *v) {
  const tbi_gait_phase *phase = &run->memory->phase;
  const tbi_gait_mode *mode = tbi_gait_mode_now(run);
  int own = phase->support;
  int swing = 1 - own;
  foot_rows r = {-1, -1, -1, -1, -1, -1};
  p->rows = 0;
  if (mode->support != TBI_ON_TOE) r.heel = constrain(p, v, own, heel, 2);
  if (mode->support != TBI_ON_HEEL) r.toe = constrain(p, v, own, toe, 2);
  const double *stand = mode->support == TBI_ON_HEEL ? heel : toe;
  if (!phase->support_slip_sign) r.along = constrain(p, v, own, stand, 0);
  double drag = run->gait->def.support_friction * phase->support_slip_sign;
  if (phase->support_slip_sign && r.heel >= 0) rub(p, r.heel, own, heel, drag);
  if (phase->support_slip_sign && r.toe >= 0) rub(p, r.toe, own, toe, drag);
  drag = run->gait->def.friction * phase->slip_sign;
  if (mode->swing == TBI_BY_HEEL || mode->swing == TBI_BY_FACE) {
    r.swing_heel = constrain(p, v, swing, heel, 2);
    rub(p, r.swing_heel, swing, heel, drag);
  }
  if (mode->swing == TBI_BY_TOE || mode->swing == TBI_BY_FACE) {
    r.swing_toe = constrain(p, v, swing, toe, 2);
    rub(p, r.swing_toe, swing, toe, drag);
  }
  if (tbi_gait_swing_sticks(run) && mode->swing != TBI_AWAY)
    r.swing_along = constrain(p, v, swing, mode->swing == TBI_BY_TOE ? toe : heel, 0);
  return r;
}

static double at(const double *force, int row) { return row < 0 ? 0 : force[row]; }

/* A random state of a phase: everything moves that may, and constrained feet are level. */
static void randomise(tbi_gait_run *run, rng *r) {
  tbi_gait_phase *phase = &run->memory->phase;
  phase->support = rng_below(r, 2);
  phase->mode = rng_below(r, TBI_GAIT_MODES);
  phase->slip_sign = rng_below(r, 3) - 1;
  phase->support_slip_sign = rng_below(r, 3) - 1;
  if (tbi_gait_mode_now(run)->swing == TBI_AWAY) phase->slip_sign = 0;
  const tbi_foot_tree *tree = tbi_gait_tree(run);
  memset(run->q, 0, sizeof *run->q * (size_t)tree->model->nv);
  memset(run->v, 0, sizeof *run->v * (size_t)tree->model->nv);
  tbi_gait_select_dofs(run);
  for (int32_t i = 0; i < run->nactive; ++i) {
    run->q[run->active[i]] = rng_between(r, -0.8, 0.8);
    run->v[run->active[i]] = rng_between(r, -2, 2);
  }
  if (tbi_gait_mode_now(run)->swing != TBI_BY_FACE) return;
  /* the ankle that levels the swing foot */
  tbi_gait_update_kinematics(run, false);
  int32_t ankle =
      tabi_model_find_joint(run->gait->model, phase->support ? "left_ankle" : "right_ankle");
  int32_t k = tree->dof[tabi_model_joint_v(run->gait->model, ankle).first];
  run->q[k] -= run->rows.error[1] / run->rows.row[1][k];
  tbi_gait_update_kinematics(run, false);
  assert_near(run->rows.error[1], 0, 1e-12);
  double speed = 0;
  for (int32_t i = 0; i < tree->model->nv; ++i)
    speed += run->rows.row[1][i] * run->v[i];
  run->v[k] -= speed / run->rows.row[1][k];
}

/* Every mode, with both feet, slipping or not: accelerations and all forces are those of the robot
 * in its own coordinates. */
static void equations(void **state) {
  (void)state;
  biped b = biped_default();
  b.def.support_friction = 0.3;
  b.def.pivot_damping = 0;
  biped_open(&b);
  tbi_gait_run *run = b.world->gait;
  lagrange p = {.d = tabi_dynamics_create(b.model, NULL)};
  for (int i = 0; i < 2; ++i)
    p.foot[i] = b.def.foot[i].link;
  rng r = rng_make(7);
  for (int i = 0; i < 400; ++i) {
    double q[NV], v[NV], tau[NV] = {0}, qdd[NV], force[ROWS];
    randomise(run, &r);
    tbi_gait_update_kinematics(run, tbi_gait_swing_sticks(run));
    assert_true(tbi_gait_accelerate(run, 0.3));
    tbi_gait_robot_state(run, q, v);
    for (int32_t k = 0; k < NV; ++k) {
      int32_t at_tree = tbi_gait_tree(run)->dof[k];
      if (at_tree != TABI_NONE) tau[k] = run->drive[at_tree] + run->passive[at_tree];
    }
    tabi_dynamics_set_state(p.d, q, v);
    foot_rows rows = constrain_feet(&p, run, v);
    solve(&p, tau, qdd, force);
    double scale = 1;
    for (int32_t k = 0; k < NV; ++k)
      scale = fmax(scale, fabs(qdd[k]));
    for (int32_t k = 0; k < NV; ++k) {
      int32_t at_tree = tbi_gait_tree(run)->dof[k];
      if (at_tree == TABI_NONE) continue;
      assert_near(run->acceleration[at_tree] / scale, qdd[k] / scale, 1e-9);
    }
    tbi_sole_forces sole = tbi_gait_sole_forces(run);
    double size = 1;
    for (int k = 0; k < p.rows; ++k)
      size = fmax(size, fabs(force[k]));
    assert_near(sole.heel[0] / size, at(force, rows.heel) / size, 1e-9);
    assert_near(sole.toe[0] / size, at(force, rows.toe) / size, 1e-9);
    assert_near(sole.heel[1] / size, at(force, rows.swing_heel) / size, 1e-9);
    assert_near(sole.toe[1] / size, at(force, rows.swing_toe) / size, 1e-9);
    if (rows.along >= 0) assert_near(sole.along[0] / size, force[rows.along] / size, 1e-9);
    if (rows.swing_along >= 0)
      assert_near(sole.along[1] / size, force[rows.swing_along] / size, 1e-9);
  }
  tabi_dynamics_destroy(p.d);
  biped_close(&b);
}

/* Support passes to the swing foot: nothing of the robot moves or changes its speed, but for the
 * slip that was left, which all of it loses. */
static void change_of_support(void **state) {
  (void)state;
  biped b = biped_default();
  biped_open(&b);
  tbi_gait_run *run = b.world->gait;
  rng r = rng_make(11);
  const tbi_gait_change *swap = NULL; /* the first of the table */
  for (int32_t i = 0; i < tbi_gait_change_count && !swap; ++i) {
    if (tbi_gait_changes[i].jump == TBI_SWAP) swap = &tbi_gait_changes[i];
  }
  for (int i = 0; i < 50 && swap; ++i) {
    double q[NV], v[NV], q_after[NV], v_after[NV];
    do
      randomise(run, &r);
    while (run->memory->phase.mode != swap->from || run->memory->phase.support_slip_sign != 0);
    run->memory->outcome = TABI_GAIT_ONGOING;
    tbi_gait_update_kinematics(run, false);
    /* a foot that is down neither rises nor turns, but slips */
    assert_true(tbi_gait_project(run, NULL, false, run->v));
    tbi_gait_update_kinematics(run, false);
    double height = run->rows.error[0];
    tbi_gait_robot_state(run, q, v);
    double slip = tbi_gait_slip(run);
    run->nevent = 0;
    tbi_gait_apply_change(run, swap, 1);
    tbi_gait_refresh(run, 1);
    tbi_gait_robot_state(run, q_after, v_after);
    /* the random foot is not on the ground, the support foot is */
    q[1] -= height;
    v[0] -= slip;
    assert_near_n(q_after, q, NV, 1e-12);
    assert_near_n(v_after, v, NV, 1e-12);
  }
  biped_close(&b);
}

/* A gait that goes on from a snapshot has the bits of one that was never interrupted. */
static void snapshots(void **state) {
  (void)state;
  biped b = biped_default();
  b.timestep = 0.01;
  biped_open(&b);
  for (int i = 0; i < 111; ++i)
    assert_true(biped_step(&b));
  size_t size = tabi_world_snapshot_size(b.world);
  void *snapshot = malloc(size);
  tabi_world_save(b.world, snapshot);
  for (int i = 0; i < 60; ++i)
    assert_true(biped_step(&b));
  uint64_t hash = tabi_world_hash(b.world);
  tabi_gait_state first = tabi_world_gait_state(b.world);
  assert_int_equal(tabi_world_restore(b.world, snapshot, size), TABI_OK);
  for (int i = 0; i < 60; ++i)
    assert_true(biped_step(&b));
  tabi_gait_state second = tabi_world_gait_state(b.world);
  assert_true(hash == tabi_world_hash(b.world));
  assert_string_equal(first.mode, second.mode);
  assert_int_equal(first.steps, second.steps);
  assert_true(first.work == second.work && first.absorbed == second.absorbed);
  assert_true(first.heel_force == second.heel_force && first.normal == second.normal);
  free(snapshot);
  biped_close(&b);
}

/* A gait that is put back to its start later goes as at first: its forces begin anew. */
static void second_start(void **state) {
  (void)state;
  biped b = biped_default();
  double q[NV], v[NV], first[NV];
  b.timestep = 0.01;
  biped_open(&b);
  memcpy(q, tabi_world_q(b.world), sizeof q);
  memcpy(v, tabi_world_v(b.world), sizeof v);
  for (int i = 0; i < 40; ++i)
    assert_true(biped_step(&b));
  memcpy(first, tabi_world_q(b.world), sizeof first);
  assert_int_equal(tabi_world_set_state(b.world, q, v, NULL), TABI_OK);
  assert_near(tabi_world_gait_state(b.world).support_since, 0.4, 1e-12);
  for (int i = 0; i < 40; ++i)
    assert_true(biped_step(&b));
  assert_near_n(tabi_world_q(b.world), first, NV, 1e-9);
  biped_close(&b);
}

/* After Zeno behaviour nothing is released, but not for longer than the hold: a sole that pulls
 * when that is over tips at once, also within a step. */
static void end_of_a_hold(void **state) {
  (void)state;
  biped b = biped_default();
  b.def.guards = TABI_GAIT_STRICT;
  b.timestep = 5e-3;
  biped_open(&b);
  tbi_gait_memory *memory = b.world->gait->memory;
  assert_string_not_equal(tabi_world_gait_state(b.world).mode, "1"); /* it leans back */
  memory->phase.mode = tabi_gait_find_mode("1");
  memory->hold_until = 1e-3;
  int32_t count = 0;
  assert_true(biped_step(&b));
  const tabi_gait_event *event = tabi_world_gait_events(b.world, &count);
  assert_true(count > 0);
  assert_near(event->time, 1e-3, 1e-15);
  assert_near(tabi_world_gait_state(b.world).pulled, 1e-3, 1e-12);
  for (int i = 0; i < 10 && biped_step(&b); ++i)
    assert_near(tabi_world_gait_state(b.world).pulled, 1e-3, 1e-12);
  biped_close(&b);
}

/* Two soles have four ends. */
static void contact_capacity(void **state) {
  (void)state;
  biped b = biped_default();
  biped_open(&b);
  tabi_error err = {0};
  tabi_world_def def = b.world->def;
  def.max_contacts = 3;
  assert_null(tabi_world_create(b.model, &def, &err));
  assert_non_null(strstr(err.message, "max_contacts >= 4"));
  biped_close(&b);
}

/* A gait that has ended stays where it is, and says why. */
static void the_end(void **state) {
  (void)state;
  biped b = biped_default();
  b.force[1].amplitude[1] = 0; /* nothing holds it up */
  biped_open(&b);
  while (biped_step(&b)) {
  }
  assert_int_equal(tabi_world_gait_state(b.world).outcome, TABI_GAIT_FELL);
  uint64_t hash = tabi_world_hash(b.world);
  assert_int_equal(tabi_world_step(b.world, NULL), TABI_ERR_ENDED);
  assert_non_null(strstr(tabi_world_error(b.world)->message, "fell"));
  assert_true(hash == tabi_world_hash(b.world));
  biped_close(&b);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(equations),     cmocka_unit_test(change_of_support),
      cmocka_unit_test(snapshots),     cmocka_unit_test(second_start),
      cmocka_unit_test(end_of_a_hold), cmocka_unit_test(contact_capacity),
      cmocka_unit_test(the_end),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

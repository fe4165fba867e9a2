/* equation.c - accelerations and contact forces in a mode: P3, eq. (9), with (8), (11) and (12).
 *
 *   [ M   -(jc' - K s jt')   -jr' ] [ q''   ]   [ tau - h - g - D q' ]
 *   [ jc         0             0  ] [ f_n   ] = [ -jc. q'            ]
 *   [ jr         0             0  ] [ tau_n ]   [ -jr. q'            ]
 *
 * for the free velocities only.  Of the swing foot, jc is the Jacobian of the height of the contact
 * point, jt that of its position along the ground, jr that of the foot's pitch.  s is the sign of
 * the slip and K the coefficient of friction, which makes the matrix unsymmetric.
 *
 * Beyond the paper: a contact point that sticks has jt as a row of its own.  On a support foot that
 * slips acts friction of K times its load, which is the reaction of the locked z joint: the row of
 * x then has K s times the row of z added. */
#include "base/assertion.h"
#include "gait/gait.h"
#include "math/linalg.h"
#include "math/lu.h"

#include <string.h>

static int32_t size(const tbi_gait_run *run) { return tbi_gait_tree(run)->model->nv; }

/* P3, table of states: q0 is free on the toe, y0 (here x) while the support foot slips. */
void tbi_gait_select_dofs(tbi_gait_run *run) {
  TBI_ASSERT(run->memory->phase.mode >= 0 && run->memory->phase.mode < TBI_GAIT_MODES);
  tbi_support_contact support = tbi_gait_mode_now(run)->support;
  const bool is_free[TBI_GROUND_JOINTS] = {
      [TBI_ALONG_X] = run->memory->phase.support_slip_sign != 0,
      [TBI_ABOUT_TOE] = support == TBI_ON_TOE,
      [TBI_ABOUT_HEEL] = support == TBI_ON_HEEL,
  };
  run->nactive = 0;
  for (int32_t k = 0; k < size(run); ++k) {
    if (k >= TBI_GROUND_JOINTS || is_free[k]) run->active[run->nactive++] = k;
  }
}

void tbi_gait_point_motion(const tbi_gait_run *run, const tbi_gait_point *point, double pos[3],
                           double vel[3]) {
  const tabi_dynamics *d = tbi_gait_dynamics(run);
  double ang[3];
  tbi_frame frame = tbi_link_frame(d, point->link);
  v3 arm = m3_mulv(&frame.rot, point->pos);
  tabi_dynamics_link_velocity(d, point->link, vel, ang);
  v3_store(v3_add(frame.pos, arm), pos);
  v3_store(v3_add(v3_load(vel), v3_cross(v3_load(ang), arm)), vel);
}

/* Rows of the contact point: its height, jc, whose force brings friction with it (P3, eqs. 11 and
 * 12); and its position along the ground, jt, if it sticks. */
static void add_point_rows(tbi_gait_run *run, const tbi_gait_point *point, bool sticks) {
  int32_t nv = size(run);
  tbi_constraint_rows *rows = &run->rows;
  double pos[3], vel[3];
  tbi_gait_point_motion(run, point, pos, vel);
  tabi_dynamics_point_jacobian(tbi_gait_dynamics(run), point->link, pos, run->jacobian);
  tabi_dynamics_point_jacobian_rate(tbi_gait_dynamics(run), point->link, pos, run->rate);
  const double *along = run->jacobian;
  const double *up = run->jacobian + 2 * (ptrdiff_t)nv;
  double drag = run->gait->def.friction * run->memory->phase.slip_sign;
  memcpy(rows->row[0], up, sizeof *up * (size_t)nv);
  for (int32_t k = 0; k < nv; ++k)
    rows->column[0][k] = up[k] - drag * along[k];
  rows->drift[0] = tbi_dot(run->rate + 2 * (ptrdiff_t)nv, run->v, nv);
  rows->error[0] = pos[2];
  rows->count = 1;
  if (!sticks) return;
  memcpy(rows->row[1], along, sizeof *along * (size_t)nv);
  memcpy(rows->column[1], along, sizeof *along * (size_t)nv);
  rows->drift[1] = tbi_dot(run->rate, run->v, nv);
  rows->error[1] = 0;
  rows->count = 2;
}

/* The row of the swing foot's pitch, jr (P3, eq. 10), about -y as all angles here. */
static void add_pitch_row(tbi_gait_run *run) {
  TBI_ASSERT(run->rows.count > 0 && run->rows.count < TBI_GAIT_MAX_ROWS);
  int32_t nv = size(run);
  const tbi_foot_tree *tree = tbi_gait_tree(run);
  tabi_dynamics_angular_jacobian(tbi_gait_dynamics(run), tree->heel[1].link, run->jacobian);
  int32_t i = run->rows.count++;
  for (int32_t k = 0; k < nv; ++k)
    run->rows.row[i][k] = run->rows.column[i][k] = -run->jacobian[nv + k];
  run->rows.drift[i] = 0;
  run->rows.error[i] = tbi_gait_swing_pitch(run);
}

const tbi_gait_point *tbi_gait_contact_point(const tbi_gait_run *run) {
  const tbi_foot_tree *tree = tbi_gait_tree(run);
  return tbi_gait_mode_now(run)->swing == TBI_BY_TOE ? &tree->toe[1] : &tree->heel[1];
}

double tbi_gait_swing_pitch(const tbi_gait_run *run) {
  const tbi_foot_tree *tree = tbi_gait_tree(run);
  double heel[3], toe[3], vel[3];
  tbi_gait_point_motion(run, &tree->heel[1], heel, vel);
  tbi_gait_point_motion(run, &tree->toe[1], toe, vel);
  return atan2(toe[2] - heel[2], toe[0] - heel[0]);
}

bool tbi_gait_swing_sticks(const tbi_gait_run *run) {
  return run->memory->phase.slip_sign == 0 && tbi_gait_mode_now(run)->swing != TBI_BY_FACE;
}

void tbi_gait_update_kinematics(tbi_gait_run *run, bool sticks) {
  tbi_swing_contact swing = tbi_gait_mode_now(run)->swing;
  tbi_kinematics(tbi_gait_dynamics(run), run->q, run->v);
  tabi_dynamics_mass_matrix(tbi_gait_dynamics(run), run->mass);
  run->rows.count = 0;
  if (swing == TBI_AWAY) return;
  add_point_rows(run, tbi_gait_contact_point(run), sticks);
  if (swing == TBI_BY_FACE) add_pitch_row(run);
}

/* Feed-forward torques, tau = sum of J' f (P3, eq. 20). */
static void add_feed_forward(tbi_gait_run *run, double t) {
  const tabi_gait *gait = run->gait;
  const tbi_foot_tree *tree = tbi_gait_tree(run);
  int32_t nv = tree->model->nv;
  for (int32_t i = 0; i < gait->def.nforce; ++i) {
    const tabi_gait_force *force = &gait->force[i];
    double pos[3], vel[3], f[2];
    for (int k = 0; k < 2; ++k) {
      double turns = force->period[k] > 0 ? (t - run->memory->support_since) / force->period[k] : 0;
      f[k] = force->amplitude[k] * cos(6.283185307179586477 * turns);
    }
    tbi_gait_point_motion(run, &tree->force[i], pos, vel);
    tabi_dynamics_point_jacobian(tbi_gait_dynamics(run), tree->force[i].link, pos, run->jacobian);
    for (int32_t k = TBI_GROUND_JOINTS; k < nv; ++k)
      run->drive[k] += run->jacobian[k] * f[0] + run->jacobian[2 * (ptrdiff_t)nv + k] * f[1];
  }
}

/* Driving and passive joint forces of the robot, feed-forward torques included. */
static void compute_joint_forces(tbi_gait_run *run, double t) {
  const tabi_model *robot = run->gait->model;
  const tbi_foot_tree *tree = tbi_gait_tree(run);
  size_t bytes = sizeof(double) * (size_t)tree->model->nv;
  memset(run->drive, 0, bytes);
  memset(run->passive, 0, bytes);
  for (int32_t k = 0; k < robot->nv; ++k) {
    if (tree->dof[k] == TABI_NONE) continue;
    run->robot_q[robot->dof_q[k]] = run->q[tree->dof[k]];
    run->robot_v[k] = run->v[tree->dof[k]];
  }
  run->joint_forces(run->user, run->robot_q, run->robot_v, run->robot_drive, run->robot_passive);
  for (int32_t k = 0; k < robot->nv; ++k) {
    if (tree->dof[k] == TABI_NONE) continue;
    run->drive[tree->dof[k]] = run->robot_drive[k];
    run->passive[tree->dof[k]] = run->robot_passive[k];
  }
  for (int32_t k = TBI_ABOUT_TOE; k <= TBI_ABOUT_HEEL; ++k)
    run->passive[k] = -run->gait->def.pivot_damping * run->v[k];
  add_feed_forward(run, t);
}

double tbi_gait_damping(const tbi_gait_run *run, int32_t dof) {
  TBI_ASSERT(dof >= 0 && dof < size(run));
  const tabi_model *robot = run->gait->model;
  const tbi_foot_tree *tree = tbi_gait_tree(run);
  if (dof == TBI_ABOUT_TOE || dof == TBI_ABOUT_HEEL) return run->gait->def.pivot_damping;
  for (int32_t i = 0; i < robot->nv; ++i) {
    if (tree->dof[i] == dof) return robot->dof_damping[i];
  }
  return 0;
}

/* The factor with which the row of z enters that of x. */
static double support_drag(const tbi_gait_run *run) {
  if (run->memory->phase.support_slip_sign == 0) return 0;
  return run->gait->def.support_friction * run->memory->phase.support_slip_sign;
}

/* One row of the equation of motion, the first block of P3's eq. (9), and its right-hand side. */
static void fill_motion_row(tbi_gait_run *run, int32_t i) {
  int32_t nv = size(run);
  int32_t n = run->nactive + run->rows.count;
  int32_t k = run->active[i];
  double *to = run->matrix + (ptrdiff_t)i * n;
  double drag = k == TBI_ALONG_X ? support_drag(run) : 0;
  const double *own = run->mass + (ptrdiff_t)k * nv;
  const double *z = run->mass + (ptrdiff_t)TBI_ALONG_Z * nv;
  for (int32_t j = 0; j < run->nactive; ++j)
    to[j] = own[run->active[j]] + drag * z[run->active[j]];
  if (run->damping > 0) to[i] += run->damping * tbi_gait_damping(run, k);
  for (int32_t c = 0; c < run->rows.count; ++c)
    to[run->nactive + c] = -run->rows.column[c][k] - drag * run->rows.column[c][TBI_ALONG_Z];
  run->rhs[i] = run->drive[k] + run->passive[k] - run->bias[k] - drag * run->bias[TBI_ALONG_Z];
}

/* The constraint rows, the other blocks of P3's eq. (9); target NULL: zero. */
static void fill_constraint_rows(tbi_gait_run *run, const double *target) {
  int32_t n = run->nactive + run->rows.count;
  for (int32_t c = 0; c < run->rows.count; ++c) {
    double *to = run->matrix + (ptrdiff_t)(run->nactive + c) * n;
    for (int32_t j = 0; j < run->nactive; ++j)
      to[j] = run->rows.row[c][run->active[j]];
    for (int32_t j = 0; j < run->rows.count; ++j)
      to[run->nactive + j] = 0;
    run->rhs[run->nactive + c] = target ? target[c] : 0;
  }
}

static bool solve(tbi_gait_run *run) {
  int32_t n = run->nactive + run->rows.count;
  if (!tbi_lu_factor(n, run->matrix, run->pivot)) return false;
  tbi_lu_solve(n, run->matrix, run->pivot, run->rhs);
  return true;
}

/* The solution of the free velocities, with zero for the locked ones. */
static void scatter_solution(const tbi_gait_run *run, double *x) {
  memset(x, 0, sizeof *x * (size_t)size(run));
  for (int32_t i = 0; i < run->nactive; ++i)
    x[run->active[i]] = run->rhs[i];
}

/* The reaction of a locked joint between ground and sole, by the equation of motion (P3, eq. 8). */
static double reaction(const tbi_gait_run *run, int32_t joint) {
  TBI_ASSERT(joint >= 0 && joint < TBI_GROUND_JOINTS);
  int32_t nv = size(run);
  double sum = run->bias[joint] + tbi_dot(run->mass + (ptrdiff_t)joint * nv, run->acceleration, nv);
  for (int32_t c = 0; c < run->rows.count; ++c)
    sum -= run->rows.column[c][joint] * run->rhs[run->nactive + c];
  return sum;
}

/* Forces from the solution; heel and toe share the load as in P3's eq. (14), with the weight and
 * shear of the foot included. */
static void read_forces(tbi_gait_run *run) {
  const tbi_gait_phase *phase = &run->memory->phase;
  tbi_swing_contact swing = tbi_gait_mode_now(run)->swing;
  const double *force = run->rhs + run->nactive;
  tbi_gait_forces f = {0};
  if (swing != TBI_AWAY) {
    f.normal = force[0];
    f.friction = tbi_gait_swing_sticks(run)
                     ? force[1]
                     : -run->gait->def.friction * phase->slip_sign * f.normal;
    if (swing == TBI_BY_FACE) f.turn = force[1];
  }
  f.load = reaction(run, TBI_ALONG_Z);
  f.along = phase->support_slip_sign ? -support_drag(run) * f.load : reaction(run, TBI_ALONG_X);
  switch (tbi_gait_mode_now(run)->support) {
  case TBI_FLAT:
    f.heel = -reaction(run, TBI_ABOUT_TOE) / tbi_gait_tree(run)->sole;
    break;
  case TBI_ON_HEEL:
    f.heel = f.load;
    break;
  case TBI_ON_TOE:
    break;
  }
  f.toe = f.load - f.heel;
  run->forces = f;
}

/* P3, eq. (9) */
bool tbi_gait_accelerate(tbi_gait_run *run, double t) {
  TBI_ASSERT(run->nactive > 0 && run->nactive <= size(run));
  double target[TBI_GAIT_MAX_ROWS];
  tabi_dynamics *d = tbi_gait_dynamics(run);
  compute_joint_forces(run, t);
  tbi_rnea_forces(d, v4_from(run->gravity), NULL);
  tbi_gather(d, run->bias);
  for (int32_t i = 0; i < run->nactive; ++i)
    fill_motion_row(run, i);
  for (int32_t c = 0; c < run->rows.count; ++c)
    target[c] = -run->rows.drift[c];
  fill_constraint_rows(run, target);
  if (!solve(run)) return false;
  scatter_solution(run, run->acceleration);
  read_forces(run);
  return true;
}

bool tbi_gait_evaluate(tbi_gait_run *run, double t) {
  tbi_gait_update_kinematics(run, tbi_gait_swing_sticks(run));
  return tbi_gait_accelerate(run, t);
}

/* The linear system of P3's eqs. (15) to (19):  M (x+ - x) = J' I,  J x+ = target. */
bool tbi_gait_project(tbi_gait_run *run, const double *target, bool friction, double *x) {
  TBI_ASSERT(run->nactive > 0 && x && x != run->rhs);
  int32_t nv = size(run);
  int32_t n = run->nactive + run->rows.count;
  double *const *column = friction ? run->rows.column : run->rows.row;
  for (int32_t i = 0; i < run->nactive; ++i) {
    const double *own = run->mass + (ptrdiff_t)run->active[i] * nv;
    double *to = run->matrix + (ptrdiff_t)i * n;
    for (int32_t j = 0; j < run->nactive; ++j)
      to[j] = own[run->active[j]];
    for (int32_t c = 0; c < run->rows.count; ++c)
      to[run->nactive + c] = -column[c][run->active[i]];
    run->rhs[i] = tbi_dot(own, x, nv);
  }
  fill_constraint_rows(run, target);
  if (!solve(run)) return false;
  scatter_solution(run, x);
  return true;
}

double tbi_gait_kinetic_energy(const tbi_gait_run *run) {
  int32_t nv = size(run);
  double sum = 0;
  for (int32_t k = 0; k < nv; ++k)
    sum += 0.5 * run->v[k] * tbi_dot(run->mass + (ptrdiff_t)k * nv, run->v, nv);
  return sum;
}

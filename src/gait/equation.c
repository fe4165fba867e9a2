/* equation.c - accelerations and contact forces in a mode.
 *
 *   [ M   -(jc' - K s jt')   -jr' ] [ q''   ]   [ tau - h - g - D q' ]
 *   [ jc         0             0  ] [ f_n   ] = [ -jc. q'            ]
 *   [ jr         0             0  ] [ tau_n ]   [ -jr. q'            ]
 *
 * for the free velocities only.  jc is the height of the touching point, jt its way along the
 * ground, jr the angle of the foot, s the sign of the slip and K its friction, which makes the
 * matrix unsymmetric.  A point that sticks has jt as a row of its own.  A supporting foot that
 * slips feels friction against its load, which is the reaction of the locked z joint: its row is
 * that of x plus K s times that of z. */
#include "gait/gait.h"
#include "math/lu.h"

#include <string.h>

static int32_t size(const tbi_walk *w) { return tbi_walk_view(w)->model->nv; }

void tbi_walk_activate(tbi_walk *w) {
  tbi_stance support = tbi_walk_mode(w)->support;
  const bool is_free[TBI_GROUND_JOINTS] = {
      [TBI_ALONG_X] = w->memory->phase.support_slide != 0,
      [TBI_ABOUT_TOE] = support == TBI_ON_TOE,
      [TBI_ABOUT_HEEL] = support == TBI_ON_HEEL,
  };
  w->nactive = 0;
  for (int32_t k = 0; k < size(w); ++k) {
    if (k >= TBI_GROUND_JOINTS || is_free[k]) w->active[w->nactive++] = k;
  }
}

static tabi_dynamics *seen(const tbi_walk *w) { return w->view[w->memory->phase.support]; }

void tbi_walk_point(const tbi_walk *w, const tbi_gait_point *point, double pos[3], double vel[3]) {
  const tabi_dynamics *d = seen(w);
  double ang[3];
  tbi_frame frame = tbi_link_frame(d, point->link);
  v3 arm = m3_mulv(&frame.rot, point->pos);
  tabi_dynamics_link_velocity(d, point->link, vel, ang);
  v3_store(v3_add(frame.pos, arm), pos);
  v3_store(v3_add(v3_load(vel), v3_cross(v3_load(ang), arm)), vel);
}

static double dot(int32_t n, const double *a, const double *b) {
  double sum = 0;
  for (int32_t k = 0; k < n; ++k)
    sum += a[k] * b[k];
  return sum;
}

/* height of the touching point, with the friction that its force brings; and the point itself, if
 * it sticks */
static void hold_point(tbi_walk *w, const tbi_gait_point *point, bool sticks) {
  int32_t nv = size(w);
  tbi_held *held = &w->held;
  double pos[3], vel[3];
  tbi_walk_point(w, point, pos, vel);
  tabi_dynamics_point_jacobian(seen(w), point->link, pos, w->jacobian);
  tabi_dynamics_point_jacobian_rate(seen(w), point->link, pos, w->rate);
  const double *along = w->jacobian;
  const double *up = w->jacobian + 2 * (ptrdiff_t)nv;
  double drag = w->gait->def.friction * w->memory->phase.slide;
  memcpy(held->row[0], up, sizeof *up * (size_t)nv);
  for (int32_t k = 0; k < nv; ++k)
    held->column[0][k] = up[k] - drag * along[k];
  held->drift[0] = dot(nv, w->rate + 2 * (ptrdiff_t)nv, w->v);
  held->error[0] = pos[2];
  held->count = 1;
  if (!sticks) return;
  memcpy(held->row[1], along, sizeof *along * (size_t)nv);
  memcpy(held->column[1], along, sizeof *along * (size_t)nv);
  held->drift[1] = dot(nv, w->rate, w->v);
  held->error[1] = 0;
  held->count = 2;
}

/* the angle of the other foot, about -y as all angles here */
static void hold_angle(tbi_walk *w) {
  int32_t nv = size(w);
  const tbi_view *view = tbi_walk_view(w);
  double heel[3], toe[3], vel[3];
  tbi_walk_point(w, &view->heel[1], heel, vel);
  tbi_walk_point(w, &view->toe[1], toe, vel);
  tabi_dynamics_angular_jacobian(seen(w), view->heel[1].link, w->jacobian);
  int32_t i = w->held.count++;
  for (int32_t k = 0; k < nv; ++k)
    w->held.row[i][k] = w->held.column[i][k] = -w->jacobian[nv + k];
  w->held.drift[i] = 0;
  w->held.error[i] = atan2(toe[2] - heel[2], toe[0] - heel[0]);
}

bool tbi_walk_sticks(const tbi_walk *w) {
  return w->memory->phase.slide == 0 && tbi_walk_mode(w)->other != TBI_BY_FACE;
}

void tbi_walk_look(tbi_walk *w, bool grip) {
  const tbi_view *view = tbi_walk_view(w);
  tbi_touch_kind other = tbi_walk_mode(w)->other;
  tbi_kinematics(seen(w), w->q, w->v);
  tabi_dynamics_mass_matrix(seen(w), w->mass);
  w->held.count = 0;
  if (other == TBI_AWAY) return;
  hold_point(w, other == TBI_BY_TOE ? &view->toe[1] : &view->heel[1], grip);
  if (other == TBI_BY_FACE) hold_angle(w);
}

/* Joint forces: those of the robot, and those that act as forces at points would. */
static void push_points(tbi_walk *w, double t) {
  const tabi_gait *gait = w->gait;
  const tbi_view *view = tbi_walk_view(w);
  int32_t nv = view->model->nv;
  for (int32_t i = 0; i < gait->def.nforce; ++i) {
    const tabi_gait_force *force = &gait->force[i];
    double pos[3], vel[3], f[2];
    for (int k = 0; k < 2; ++k) {
      double turns = force->period[k] > 0 ? (t - w->memory->since) / force->period[k] : 0;
      f[k] = force->amplitude[k] * cos(6.283185307179586477 * turns);
    }
    tbi_walk_point(w, &view->force[i], pos, vel);
    tabi_dynamics_point_jacobian(seen(w), view->force[i].link, pos, w->jacobian);
    for (int32_t k = TBI_GROUND_JOINTS; k < nv; ++k)
      w->drive[k] += w->jacobian[k] * f[0] + w->jacobian[2 * (ptrdiff_t)nv + k] * f[1];
  }
}

static void pull_joints(tbi_walk *w, double t) {
  const tabi_model *robot = w->gait->model;
  const tbi_view *view = tbi_walk_view(w);
  size_t bytes = sizeof(double) * (size_t)view->model->nv;
  memset(w->drive, 0, bytes);
  memset(w->passive, 0, bytes);
  for (int32_t k = 0; k < robot->nv; ++k) {
    if (view->dof[k] == TABI_NONE) continue;
    w->robot_q[robot->dof_q[k]] = w->q[view->dof[k]];
    w->robot_v[k] = w->v[view->dof[k]];
  }
  w->joint_forces(w->user, w->robot_q, w->robot_v, w->robot_drive, w->robot_passive);
  for (int32_t k = 0; k < robot->nv; ++k) {
    if (view->dof[k] == TABI_NONE) continue;
    w->drive[view->dof[k]] = w->robot_drive[k];
    w->passive[view->dof[k]] = w->robot_passive[k];
  }
  for (int32_t k = TBI_ABOUT_TOE; k <= TBI_ABOUT_HEEL; ++k)
    w->passive[k] = -w->gait->def.pivot_damping * w->v[k];
  push_points(w, t);
}

double tbi_walk_damping(const tbi_walk *w, int32_t k) {
  const tabi_model *robot = w->gait->model;
  const tbi_view *view = tbi_walk_view(w);
  if (k == TBI_ABOUT_TOE || k == TBI_ABOUT_HEEL) return w->gait->def.pivot_damping;
  for (int32_t i = 0; i < robot->nv; ++i) {
    if (view->dof[i] == k) return robot->dof_damping[i];
  }
  return 0;
}

/* the coefficient with which the row of z enters that of x */
static double support_drag(const tbi_walk *w) {
  if (w->memory->phase.support_slide == 0) return 0;
  return w->gait->def.support_friction * w->memory->phase.support_slide;
}

/* one row of the equation, and its right side */
static void fill_row(tbi_walk *w, int32_t i) {
  int32_t nv = size(w);
  int32_t n = w->nactive + w->held.count;
  int32_t k = w->active[i];
  double *to = w->matrix + (ptrdiff_t)i * n;
  double drag = k == TBI_ALONG_X ? support_drag(w) : 0;
  const double *own = w->mass + (ptrdiff_t)k * nv;
  const double *z = w->mass + (ptrdiff_t)TBI_ALONG_Z * nv;
  for (int32_t j = 0; j < w->nactive; ++j)
    to[j] = own[w->active[j]] + drag * z[w->active[j]];
  if (w->damping > 0) to[i] += w->damping * tbi_walk_damping(w, k);
  for (int32_t c = 0; c < w->held.count; ++c)
    to[w->nactive + c] = -w->held.column[c][k] - drag * w->held.column[c][TBI_ALONG_Z];
  w->rhs[i] = w->drive[k] + w->passive[k] - w->bias[k] - drag * w->bias[TBI_ALONG_Z];
}

/* target NULL: zero */
static void fill_held(tbi_walk *w, const double *target) {
  int32_t n = w->nactive + w->held.count;
  for (int32_t c = 0; c < w->held.count; ++c) {
    double *to = w->matrix + (ptrdiff_t)(w->nactive + c) * n;
    for (int32_t j = 0; j < w->nactive; ++j)
      to[j] = w->held.row[c][w->active[j]];
    for (int32_t j = 0; j < w->held.count; ++j)
      to[w->nactive + j] = 0;
    w->rhs[w->nactive + c] = target ? target[c] : 0;
  }
}

static bool solve(tbi_walk *w) {
  int32_t n = w->nactive + w->held.count;
  if (!tbi_lu_factor(n, w->matrix, w->pivot)) return false;
  tbi_lu_solve(n, w->matrix, w->pivot, w->rhs);
  return true;
}

static void spread(const tbi_walk *w, double *x) {
  memset(x, 0, sizeof *x * (size_t)size(w));
  for (int32_t i = 0; i < w->nactive; ++i)
    x[w->active[i]] = w->rhs[i];
}

/* what a locked joint between ground and sole has to give */
static double reaction(const tbi_walk *w, int32_t joint) {
  int32_t nv = size(w);
  double sum = w->bias[joint] + dot(nv, w->mass + (ptrdiff_t)joint * nv, w->acceleration);
  for (int32_t c = 0; c < w->held.count; ++c)
    sum -= w->held.column[c][joint] * w->rhs[w->nactive + c];
  return sum;
}

static void read_forces(tbi_walk *w) {
  const tbi_phase *phase = &w->memory->phase;
  tbi_touch_kind other = tbi_walk_mode(w)->other;
  const double *force = w->rhs + w->nactive;
  tbi_gait_forces f = {0};
  if (other != TBI_AWAY) {
    f.normal = force[0];
    f.friction = tbi_walk_sticks(w) ? force[1] : -w->gait->def.friction * phase->slide * f.normal;
    if (other == TBI_BY_FACE) f.turn = force[1];
  }
  f.load = reaction(w, TBI_ALONG_Z);
  f.along = phase->support_slide ? -support_drag(w) * f.load : reaction(w, TBI_ALONG_X);
  switch (tbi_walk_mode(w)->support) {
  case TBI_FLAT:
    f.heel = -reaction(w, TBI_ABOUT_TOE) / tbi_walk_view(w)->sole;
    break;
  case TBI_ON_HEEL:
    f.heel = f.load;
    break;
  case TBI_ON_TOE:
    break;
  }
  f.toe = f.load - f.heel;
  w->forces = f;
}

bool tbi_walk_accelerate(tbi_walk *w, double t) {
  double target[TBI_MAX_ROWS];
  tabi_dynamics *d = seen(w);
  pull_joints(w, t);
  tbi_rnea_forces(d, v4_from(w->gravity), NULL);
  tbi_gather(d, w->bias);
  for (int32_t i = 0; i < w->nactive; ++i)
    fill_row(w, i);
  for (int32_t c = 0; c < w->held.count; ++c)
    target[c] = -w->held.drift[c];
  fill_held(w, target);
  if (!solve(w)) return false;
  spread(w, w->acceleration);
  read_forces(w);
  return true;
}

bool tbi_walk_project(tbi_walk *w, const double *target, bool rub, double *x) {
  int32_t nv = size(w);
  int32_t n = w->nactive + w->held.count;
  double *const *column = rub ? w->held.column : w->held.row;
  for (int32_t i = 0; i < w->nactive; ++i) {
    const double *own = w->mass + (ptrdiff_t)w->active[i] * nv;
    double *to = w->matrix + (ptrdiff_t)i * n;
    for (int32_t j = 0; j < w->nactive; ++j)
      to[j] = own[w->active[j]];
    for (int32_t c = 0; c < w->held.count; ++c)
      to[w->nactive + c] = -column[c][w->active[i]];
    w->rhs[i] = dot(nv, own, x);
  }
  fill_held(w, target);
  if (!solve(w)) return false;
  spread(w, x);
  return true;
}

double tbi_walk_kinetic(const tbi_walk *w) {
  int32_t nv = size(w);
  double sum = 0;
  for (int32_t k = 0; k < nv; ++k)
    sum += 0.5 * w->v[k] * dot(nv, w->mass + (ptrdiff_t)k * nv, w->v);
  return sum;
}

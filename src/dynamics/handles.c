/* handles.c - the links of assembled trees as handles (P2, Yamane and Nakamura).
 *
 * A contact is a joint between links of trees that are assembled, so it needs their a = b + Lambda
 * f in the whole tree, for one contact after another.  A body's chain (ada.h) hangs from the rest
 * by one joint alone.  With the parent held, P = Lambda of the chain, and that joint has
 *
 *     Z = R' P^-1 R + J,   T = P^-1 R Z^-1
 *
 * so that of a force f and a torque tau on the chain, f - T (R'f + tau) reaches the parent, and a
 * motion m of the parent gives the chain  m - R T'm  and the joint  -T'm.  Hence, root to leaf,
 *
 *     Lambda = R Z^-1 R' + (1 - R T') Lambda_parent (1 - T R')
 *
 * Forces that come one after another are passed on along the path between their bodies only: going
 * up a body tells its parent what it got, going down it takes over how its parent has moved.  A
 * round along the branches is linear in the number of bodies, however many there are with forces.
 */
#include "dynamics/handles.h"

#include "base/assertion.h"
#include "math/linalg.h"

#include <string.h>

void tbi_handles_place(tbi_layout *at, const tabi_model *model, tbi_handles *handles) {
  handles->handle = tbi_layout_take(at, model->nbody, sizeof *handles->handle);
  handles->current = tbi_layout_take(at, model->ntree, sizeof *handles->current);
  handles->owner = tbi_layout_take(at, model->nv, sizeof *handles->owner);
  handles->place = tbi_layout_take(at, model->nv, sizeof *handles->place);
}

static void add(double to[6], const double x[6]) {
  for (int i = 0; i < 6; ++i)
    to[i] += x[i];
}

/* Z^-1 (R'f + tau) of the joint above, its parent being held */
static void joint_velocity(const tbi_handle *h, int ndof, const double force[6], const double *tau,
                           double *x) {
  for (int k = 0; k < ndof; ++k)
    x[k] = tbi_dot(h->axis[k], force, 6) + (tau ? tau[k] : 0);
  tbi_cholesky_solve(ndof, h->z[0], TBI_ADA_DOFS, x);
}

/* a force on the parent instead of one at the child's point */
static void move_force(const tbi_ada_body *ada, double force[6]) {
  sv f = tbi_sv_load(force);
  f.ang = v4_add(f.ang, v4_cross(ada->arm, f.lin));
  tbi_sv_store(f, force);
}

/* the force on the parent that comes of one on the body: f - T R'f */
static void pass_up(const tbi_handles *handles, int32_t body, double force[6]) {
  const tbi_handle *h = &handles->handle[body];
  const tbi_ada_body *ada = &handles->d->ada[body];
  double along[TBI_ADA_DOFS];
  for (int k = 0; k < ada->ndof; ++k)
    along[k] = tbi_dot(h->axis[k], force, 6);
  for (int k = 0; k < ada->ndof; ++k) {
    for (int i = 0; i < 6; ++i)
      force[i] -= along[k] * h->held[k][i];
  }
  move_force(ada, force);
}

/* the motion of the body that comes of one of its parent, m - R T'm; the joint loses T'm */
static void pass_down(const tbi_handles *handles, int32_t body, double motion[6], double *lost) {
  const tbi_handle *h = &handles->handle[body];
  const tbi_ada_body *ada = &handles->d->ada[body];
  tbi_sv_store(tbi_seen_from(tbi_sv_load(motion), ada->arm), motion);
  for (int k = 0; k < ada->ndof; ++k)
    lost[k] = tbi_dot(h->held[k], motion, 6);
  for (int k = 0; k < ada->ndof; ++k) {
    for (int i = 0; i < 6; ++i)
      motion[i] -= lost[k] * h->axis[k][i];
  }
}

static void multiply(double a[6][6], const double x[6], double to[6]) {
  for (int i = 0; i < 6; ++i)
    to[i] = tbi_dot(a[i], x, 6);
}

/* R, and Z and T with the parent held */
static void hold_parent(const tabi_dynamics *d, const tbi_ada_body *ada, const double *diagonal,
                        tbi_handle *h) {
  double p[6][6];
  memcpy(p, ada->lambda, sizeof p);
  tbi_cholesky(6, p[0], 6);
  double y[TBI_ADA_DOFS][6];
  for (int k = 0; k < ada->ndof; ++k) {
    tbi_sv_store(tbi_seen_from(d->axis[ada->dof[k]], ada->at), h->axis[k]);
    memcpy(y[k], h->axis[k], sizeof y[k]);
    tbi_cholesky_solve(6, p[0], 6, y[k]);
    for (int l = 0; l <= k; ++l)
      h->z[k][l] = tbi_dot(h->axis[k], y[l], 6);
    h->z[k][k] += diagonal[ada->dof[k]];
  }
  tbi_cholesky(ada->ndof, h->z[0], TBI_ADA_DOFS);
  for (int i = 0; i < 6; ++i) {
    double column[TBI_ADA_DOFS];
    for (int k = 0; k < ada->ndof; ++k)
      column[k] = y[k][i];
    tbi_cholesky_solve(ada->ndof, h->z[0], TBI_ADA_DOFS, column);
    for (int k = 0; k < ada->ndof; ++k)
      h->held[k][i] = column[k];
  }
}

/* row by row, as it is symmetric */
static void fill_lambda(tbi_handles *handles, int32_t body) {
  const tbi_ada_body *ada = &handles->d->ada[body];
  tbi_handle *h = &handles->handle[body];
  for (int i = 0; i < 6; ++i) {
    double force[6] = {0};
    double x[TBI_ADA_DOFS];
    double lost[TBI_ADA_DOFS];
    force[i] = 1;
    joint_velocity(h, ada->ndof, force, NULL, x);
    memset(h->lambda[i], 0, sizeof h->lambda[i]);
    if (ada->parent != TABI_WORLD) {
      pass_up(handles, body, force);
      multiply(handles->handle[ada->parent].lambda, force, h->lambda[i]);
      pass_down(handles, body, h->lambda[i], lost);
    }
    for (int k = 0; k < ada->ndof; ++k) {
      for (int j = 0; j < 6; ++j)
        h->lambda[i][j] += x[k] * h->axis[k][j];
    }
  }
}

void tbi_handles_make(tbi_handles *handles, const tabi_dynamics *d, const double *diagonal) {
  TBI_ASSERT(d->ada && diagonal);
  handles->d = d;
  for (int32_t i = 0; i < d->model->nbody; ++i) {
    if (d->ada[i].ndof == 0) continue;
    for (int32_t k = 0; k < d->ada[i].ndof; ++k) {
      handles->owner[d->ada[i].dof[k]] = i;
      handles->place[d->ada[i].dof[k]] = k;
    }
    hold_parent(d, &d->ada[i], diagonal, &handles->handle[i]);
    fill_lambda(handles, i);
  }
}

void tbi_handles_start(tbi_handles *handles, const double *v) {
  const tabi_dynamics *d = handles->d;
  for (int32_t i = d->model->nbody - 1; i >= 0; --i)
    if (d->ada[i].ndof > 0) handles->current[d->model->body[i].tree] = i; /* at last the root */
  for (int32_t i = 0; i < d->model->nbody; ++i) {
    const tbi_ada_body *ada = &d->ada[i];
    tbi_handle *h = &handles->handle[i];
    if (ada->ndof == 0) continue;
    memset(h->untold, 0, sizeof h->untold);
    memset(h->above, 0, sizeof h->above);
    if (ada->parent != TABI_WORLD)
      memcpy(h->above, handles->handle[ada->parent].motion, sizeof h->above);
    tbi_sv_store(tbi_seen_from(tbi_sv_load(h->above), ada->arm), h->motion);
    for (int k = 0; k < ada->ndof; ++k) {
      h->x[k] = v[ada->dof[k]];
      for (int j = 0; j < 6; ++j)
        h->motion[j] += h->x[k] * h->axis[k][j];
    }
  }
}

/* what the parent's motion has become since the last time */
static void follow_parent(tbi_handles *handles, int32_t body, double motion[6]) {
  tbi_handle *h = &handles->handle[body];
  const tbi_ada_body *ada = &handles->d->ada[body];
  const double *parent = handles->handle[ada->parent].motion;
  double lost[TBI_ADA_DOFS];
  for (int i = 0; i < 6; ++i)
    motion[i] = parent[i] - h->above[i];
  pass_down(handles, body, motion, lost);
  for (int k = 0; k < ada->ndof; ++k)
    h->x[k] -= lost[k];
  memcpy(h->above, parent, sizeof h->above);
}

/* the joint above and the parent get to know all forces; the motion of the body has them already */
static void tell_parent(tbi_handles *handles, int32_t body) {
  tbi_handle *h = &handles->handle[body];
  const tbi_ada_body *ada = &handles->d->ada[body];
  double x[TBI_ADA_DOFS];
  joint_velocity(h, ada->ndof, h->untold, NULL, x);
  for (int k = 0; k < ada->ndof; ++k)
    h->x[k] += x[k];
  if (ada->parent != TABI_WORLD) {
    double known[6];
    pass_up(handles, body, h->untold);
    tbi_handles_push(handles, ada->parent, h->untold);
    follow_parent(handles, body, known);
  }
  memset(h->untold, 0, sizeof h->untold);
}

/* The path from one body to another of its tree: up to the body returned, then down along `next`.
 * A parent has a lower number than its children. */
static int32_t find_path(const tbi_handles *handles, int32_t from, int32_t to) {
  while (from != to) {
    int32_t *upper = from > to ? &from : &to;
    int32_t parent = handles->d->ada[*upper].parent;
    TBI_ASSERT(parent != TABI_WORLD); /* the bodies are of one tree */
    if (upper == &to) handles->handle[parent].next = to;
    *upper = parent;
  }
  return from;
}

const double *tbi_handles_reach(tbi_handles *handles, int32_t body) {
  int32_t *current = &handles->current[handles->d->model->body[body].tree];
  int32_t top = find_path(handles, *current, body);
  for (; *current != top; *current = handles->d->ada[*current].parent)
    tell_parent(handles, *current);
  while (*current != body) {
    double more[6];
    *current = handles->handle[*current].next;
    follow_parent(handles, *current, more);
    add(handles->handle[*current].motion, more);
  }
  return handles->handle[body].motion;
}

void tbi_handles_push(tbi_handles *handles, int32_t body, const double force[6]) {
  tbi_handle *h = &handles->handle[body];
  double more[6];
  multiply(h->lambda, force, more);
  add(h->motion, more);
  add(h->untold, force);
}

void tbi_handles_response(const tbi_handles *handles, int32_t on, const double force[6], int32_t of,
                          double motion[6]) {
  int32_t top = find_path(handles, on, of);
  double passed[6];
  double lost[TBI_ADA_DOFS];
  memcpy(passed, force, sizeof passed);
  for (; on != top; on = handles->d->ada[on].parent)
    pass_up(handles, on, passed);
  multiply(handles->handle[top].lambda, passed, motion);
  while (top != of) {
    top = handles->handle[top].next;
    pass_down(handles, top, motion, lost);
  }
}

double tbi_handles_reach_joint(tbi_handles *handles, int32_t dof) {
  int32_t body = handles->owner[dof];
  int32_t parent = handles->d->ada[body].parent;
  (void)tbi_handles_reach(handles, body);
  tell_parent(handles, body);
  if (parent != TABI_WORLD) handles->current[handles->d->model->body[body].tree] = parent;
  return handles->handle[body].x[handles->place[dof]];
}

/* Z^-1 of one velocity, and the force -T of its torque on the parent */
static void unit_torque(const tbi_handles *handles, int32_t dof, double *x, double on_parent[6]) {
  int32_t body = handles->owner[dof];
  const tbi_handle *h = &handles->handle[body];
  const tbi_ada_body *ada = &handles->d->ada[body];
  double unit[TBI_ADA_DOFS] = {0};
  const double none[6] = {0};
  unit[handles->place[dof]] = 1;
  joint_velocity(h, ada->ndof, none, unit, x);
  for (int i = 0; i < 6; ++i)
    on_parent[i] = -h->held[handles->place[dof]][i];
  move_force(ada, on_parent);
}

double tbi_handles_joint_response(const tbi_handles *handles, int32_t dof) {
  int32_t body = handles->owner[dof];
  const tbi_ada_body *ada = &handles->d->ada[body];
  double x[TBI_ADA_DOFS];
  double lost[TBI_ADA_DOFS];
  double on_parent[6];
  double motion[6];
  unit_torque(handles, dof, x, on_parent);
  if (ada->parent == TABI_WORLD) return x[handles->place[dof]];
  multiply(handles->handle[ada->parent].lambda, on_parent, motion);
  pass_down(handles, body, motion, lost);
  return x[handles->place[dof]] - lost[handles->place[dof]];
}

void tbi_handles_turn(tbi_handles *handles, int32_t dof, double torque) {
  int32_t body = handles->owner[dof];
  tbi_handle *h = &handles->handle[body];
  const tbi_ada_body *ada = &handles->d->ada[body];
  double x[TBI_ADA_DOFS];
  double on_parent[6];
  unit_torque(handles, dof, x, on_parent);
  for (int k = 0; k < ada->ndof; ++k) {
    h->x[k] += torque * x[k];
    for (int i = 0; i < 6; ++i)
      h->motion[i] += torque * x[k] * h->axis[k][i];
  }
  for (int i = 0; i < 6; ++i)
    on_parent[i] *= torque;
  if (ada->parent != TABI_WORLD) tbi_handles_push(handles, ada->parent, on_parent);
}

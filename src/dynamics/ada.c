/* ada.c - forward dynamics by assembly and disassembly (Yamane and Nakamura 2002, on trees).
 *
 * Every body starts as a chain of its own, with handles where its joints are.  Taken at one point,
 * a body's handles share one acceleration: a = b + Lambda f.  The point is the body's own origin;
 * at the tree's, Lambda would hold (arm / radius of gyration)^2 and its inverse lose the digits.
 * Joining the chain of a child (Lambda_a, b_a) to that of its parent (Lambda_b, b_b, moved to the
 * child's point) by a joint with free directions R, torque tau and rotor inertia J asks for the
 * joint force f and qdd:
 *
 *     P f - R qdd = -pi,    P = Lambda_a + Lambda_b,    pi = b_a - b_b - drift
 *     R' f + J qdd = tau
 *
 * solved by Y = P^-1 R, Z = R'Y + J, T = Y Z^-1, W = T Y' - P^-1:
 *
 *     f = W pi + T tau,     qdd = T' pi + Z^-1 tau
 *
 * With J = 0 this W is the paper's -C (C'PC)^-1 C'.  The parent's chain becomes
 * Lambda_b + Lambda_b W Lambda_b and b_b - Lambda_b f.  Disassembly goes back in reverse order,
 * when the forces from outside are final.
 *
 * Lambda, P, W and T depend on the posture alone: assembled once, they serve any number of forces,
 * for which only b is assembled again.
 *
 * Inverse inertias need mass: a massless link between two joints is part of one joint with the
 * velocities of both.
 *
 * Who calls it: penalty-paper (contact/penalty_assembly.c), whose contacts are joints of the
 * assembly (handles.c). */
#include "dynamics/ada.h"

#include "base/assertion.h"
#include "math/linalg.h"

#include <string.h>

static bool is_massless(const tbi_body *body) {
  double e[3];
  tbi_s3_eigenvalues(body->inertia, e);
  return body->mass <= 0 || e[0] <= 0;
}

/* the joint above a body with the massless bodies that stand in between */
static void collect_joint(const tabi_model *model, int32_t body, tbi_ada_body *ada) {
  ada->ndof = 0;
  int32_t at = body;
  do {
    const tbi_body *b = &model->body[at];
    for (int32_t k = 0; k < b->nv && ada->ndof < TBI_ADA_DOFS; ++k) {
      ada->dof[ada->ndof++] = b->v + k;
    }
    at = b->parent;
  } while (at != TABI_WORLD && is_massless(&model->body[at]));
  ada->parent = at;
  TBI_ASSERT(ada->ndof > 0); /* a body hangs from a moving joint */
}

int32_t tbi_ada_obstacle(const tabi_model *model) {
  for (int32_t i = 0; i < model->nbody; ++i) {
    if (!is_massless(&model->body[i])) {
      int32_t dofs = model->body[i].nv;
      int32_t at = model->body[i].parent;
      for (; at != TABI_WORLD && is_massless(&model->body[at]); at = model->body[at].parent) {
        dofs += model->body[at].nv;
      }
      if (dofs > TBI_ADA_DOFS) return i;
      continue;
    }
    int32_t children = 0;
    for (int32_t j = i + 1; j < model->nbody; ++j)
      children += model->body[j].parent == i;
    if (children != 1 || model->body[i].mass > 0) return i;
  }
  return TABI_NONE;
}

void tbi_invert6(double a[6][6], double inverse[6][6]) {
  tbi_cholesky(6, a[0], 6);
  for (int k = 0; k < 6; ++k) {
    memset(inverse[k], 0, sizeof inverse[k]);
    inverse[k][k] = 1;
    tbi_cholesky_solve(6, a[0], 6, inverse[k]);
  }
}

/* the inertia of a body with its centre at c, as a matrix */
static void spread_inertia(double mass, v4 c, const m4 *moment, double a[6][6]) {
  body_inertia inertia = inertia_make(mass, c, moment);
  for (int k = 0; k < 6; ++k) {
    double unit[6] = {0};
    unit[k] = 1;
    tbi_sv_store(inertia_mulv(&inertia, tbi_sv_load(unit)), a[k]);
  }
}

/* the body alone: lambda by its inertia and the load beside it */
static void start_lambda(const tabi_dynamics *d, int32_t index, const tbi_body_load *beside,
                         tbi_ada_body *ada) {
  const tbi_body *body = &d->model->body[index];
  const tbi_body_state *state = &d->body[index];
  v4 c = m4_mulv3(&state->rot, body->com);
  m4 moment = m4_rotate_sym(&state->rot, body->inertia);
  ada->at = state->pos;
  double a[6][6];
  spread_inertia(body->mass, c, &moment, a);
  for (int i = 0; beside && i < 6; ++i) {
    for (int k = 0; k < 6; ++k)
      a[i][k] += beside->inertia[i][k];
  }
  tbi_invert6(a, ada->own);
  memcpy(ada->lambda, ada->own, sizeof ada->lambda);
}

/* gravity, gyroscopic forces and the load beside it */
static void gather_force(const tabi_dynamics *d, int32_t index, const tbi_body_load *beside,
                         tbi_ada_body *ada) {
  const tbi_body *body = &d->model->body[index];
  const tbi_body_state *state = &d->body[index];
  v4 c = m4_mulv3(&state->rot, body->com);
  m4 moment = m4_rotate_sym(&state->rot, body->inertia);
  sv vel = tbi_seen_from(state->vel, ada->at);
  body_inertia inertia = inertia_make(body->mass, c, &moment);
  sv force = sv_scale(-1, sv_cross_force(vel, inertia_mulv(&inertia, vel)));
  sv fall = {v4_from(v3_load(d->model->gravity)), v4_zero()};
  tbi_sv_store(sv_add(force, inertia_mulv(&inertia, fall)), ada->force);
  for (int i = 0; beside && i < 6; ++i)
    ada->force[i] += beside->force[i];
}

static void gather_drift(const tabi_dynamics *d, int32_t index, tbi_ada_body *ada) {
  sv drift = sv_zero();
  for (int32_t at = index; at != ada->parent; at = d->model->body[at].parent) {
    drift = sv_add(drift, d->body[at].drift);
  }
  tbi_sv_store(tbi_seen_from(drift, ada->at), ada->drift);
}

/* P^-1 at this body's point: accelerations of both chains per force of the joint */
static void join_lambdas(const tbi_ada_body *ada, double p_inverse[6][6]) {
  double p[6][6];
  for (int i = 0; i < 6; ++i) {
    double by_parent[6]; /* i-th acceleration per force at the parent's point, then at this one */
    for (int j = 0; j < 6; ++j)
      by_parent[j] = ada->above_lambda[j][i];
    tbi_sv_store(tbi_seen_from(tbi_sv_load(by_parent), ada->arm), by_parent);
    for (int j = 0; j < 6; ++j)
      p[i][j] = ada->lambda[i][j] + by_parent[j];
  }
  tbi_invert6(p, p_inverse);
}

/* Y and the factor of Z */
static void project(const tabi_dynamics *d, const double *diagonal, double p_inverse[6][6], int n,
                    tbi_ada_body *ada, double y[][6]) {
  for (int k = 0; k < n; ++k) {
    double r[6];
    tbi_sv_store(tbi_seen_from(d->axis[ada->dof[k]], ada->at), r);
    for (int i = 0; i < 6; ++i)
      y[k][i] = tbi_dot(p_inverse[i], r, 6);
    for (int l = 0; l <= k; ++l)
      ada->z[k][l] = tbi_dot(r, y[l], 6);
    ada->z[k][k] += diagonal[ada->dof[k]];
  }
  tbi_cholesky(n, ada->z[0], TBI_ADA_DOFS);
}

/* Z, T and W */
static void solve_joint(const tabi_dynamics *d, const double *diagonal, tbi_ada_body *ada) {
  int n = ada->ndof;
  double p_inverse[6][6];
  double y[TBI_ADA_DOFS][6];
  join_lambdas(ada, p_inverse);
  project(d, diagonal, p_inverse, n, ada, y);
  for (int i = 0; i < 6; ++i) {
    double column[TBI_ADA_DOFS];
    for (int k = 0; k < n; ++k)
      column[k] = y[k][i];
    tbi_cholesky_solve(n, ada->z[0], TBI_ADA_DOFS, column);
    for (int j = 0; j < 6; ++j)
      ada->w[i][j] = -p_inverse[i][j];
    for (int k = 0; k < n; ++k) {
      ada->t[k][i] = column[k];
      for (int j = 0; j < 6; ++j)
        ada->w[i][j] += column[k] * y[k][j];
    }
  }
}

/* let the parent's lambda take in the child's */
static void join_lambda(const tbi_ada_body *child, tbi_ada_body *parent) {
  double wl[6][6];
  for (int i = 0; i < 6; ++i) {
    for (int j = 0; j < 6; ++j)
      wl[j][i] = tbi_dot(child->w[i], child->above_lambda[j], 6);
  }
  for (int i = 0; i < 6; ++i) {
    for (int j = 0; j < 6; ++j)
      parent->lambda[i][j] += tbi_dot(child->above_lambda[i], wl[j], 6);
  }
}

static void assemble_lambda(const tabi_dynamics *d, const double *diagonal, int32_t index) {
  tbi_ada_body *ada = &d->ada[index];
  memset(ada->above_lambda, 0, sizeof ada->above_lambda);
  ada->arm = v4_zero();
  if (ada->parent != TABI_WORLD) {
    const tbi_ada_body *parent = &d->ada[ada->parent];
    ada->arm = v4_sub(ada->at, parent->at);
    for (int k = 0; k < 6; ++k)
      tbi_sv_store(tbi_seen_from(tbi_sv_load(parent->lambda[k]), ada->arm), ada->above_lambda[k]);
  }
  solve_joint(d, diagonal, ada);
  if (ada->parent != TABI_WORLD) join_lambda(ada, &d->ada[ada->parent]);
}

/* what the joint's own torque does: T tau and Z^-1 tau */
static void apply_torque(const double *tau, tbi_ada_body *ada) {
  memset(ada->force0, 0, sizeof ada->force0);
  for (int k = 0; k < ada->ndof; ++k) {
    ada->qdd0[k] = tau ? tau[ada->dof[k]] : 0;
    for (int i = 0; i < 6; ++i)
      ada->force0[i] += ada->t[k][i] * ada->qdd0[k];
  }
  tbi_cholesky_solve(ada->ndof, ada->z[0], TBI_ADA_DOFS, ada->qdd0);
}

/* f = W pi + T tau for the relative acceleration pi */
static void joint_force(const tbi_ada_body *ada, const double pi[6], double force[6]) {
  for (int i = 0; i < 6; ++i)
    force[i] = ada->force0[i] + tbi_dot(ada->w[i], pi, 6);
}

/* the temporary force of a joint, and what it does to the parent's chain */
static void assemble_bias(const tabi_dynamics *d, const double *tau, int32_t index) {
  tbi_ada_body *ada = &d->ada[index];
  apply_torque(tau, ada);
  memset(ada->above_bias, 0, sizeof ada->above_bias);
  if (ada->parent == TABI_WORLD) return;
  tbi_ada_body *parent = &d->ada[ada->parent];
  tbi_sv_store(tbi_seen_from(tbi_sv_load(parent->bias), ada->arm), ada->above_bias);
  double pi[6];
  double force[6];
  for (int i = 0; i < 6; ++i)
    pi[i] = ada->bias[i] - ada->above_bias[i] - ada->drift[i];
  joint_force(ada, pi, force);
  for (int i = 0; i < 6; ++i)
    parent->bias[i] -= tbi_dot(ada->above_lambda[i], force, 6);
}

/* the final force of a joint and its acceleration, the forces from outside being known */
static void disassemble(const tabi_dynamics *d, int32_t index, double *qdd) {
  tbi_ada_body *ada = &d->ada[index];
  double none[6] = {0};
  double *outer = ada->parent == TABI_WORLD ? none : d->ada[ada->parent].outer;
  double pi[6];
  for (int i = 0; i < 6; ++i) {
    double above = ada->above_bias[i];
    for (int k = 0; k < 6; ++k)
      above += ada->above_lambda[k][i] * outer[k];
    pi[i] = ada->bias[i] - above - ada->drift[i];
  }
  joint_force(ada, pi, ada->outer);
  sv reaction = tbi_sv_load(ada->outer);
  reaction.ang = v4_add(reaction.ang, v4_cross(ada->arm, reaction.lin));
  tbi_sv_store(sv_sub(tbi_sv_load(outer), reaction), outer);
  for (int k = 0; k < ada->ndof; ++k)
    qdd[ada->dof[k]] = ada->qdd0[k] + tbi_dot(ada->t[k], pi, 6);
}

void tbi_ada_assemble(tabi_dynamics *d, const double *diagonal, const tbi_body_load *beside) {
  TBI_ASSERT(d->ada && diagonal);
  TBI_CHECK_SLOW(tbi_ada_obstacle(d->model) == TABI_NONE);
  for (int32_t i = 0; i < d->model->nbody; ++i)
    if (d->ada[i].ndof > 0) start_lambda(d, i, beside ? &beside[i] : NULL, &d->ada[i]);
  for (int32_t i = d->model->nbody - 1; i >= 0; --i)
    if (d->ada[i].ndof > 0) assemble_lambda(d, diagonal, i);
}

void tbi_ada_solve(tabi_dynamics *d, const double *tau, double *qdd) {
  for (int32_t i = 0; i < d->model->nbody; ++i) {
    tbi_ada_body *ada = &d->ada[i];
    for (int k = 0; k < 6 && ada->ndof > 0; ++k)
      ada->bias[k] = tbi_dot(ada->own[k], ada->force, 6);
  }
  for (int32_t i = d->model->nbody - 1; i >= 0; --i)
    if (d->ada[i].ndof > 0) assemble_bias(d, tau, i);
  for (int32_t i = 0; i < d->model->nbody; ++i)
    if (d->ada[i].ndof > 0) disassemble(d, i, qdd);
}

void tbi_load_point(tbi_body_load *beside, v3 point, const m4 *frame, v3 start, v3 added_mass,
                    v3 bias) {
  const v4 axis[3] = {frame->x, frame->y, frame->z};
  const double first[3] = {start.x, start.y, start.z};
  const double mass[3] = {added_mass.x, added_mass.y, added_mass.z};
  for (int k = 0; k < 3; ++k) {
    double w[6];
    tbi_sv_store((sv){axis[k], v4_cross(v4_from(point), axis[k])}, w);
    double force = first[k] - mass[k] * v3_dot(v4_to(axis[k]), bias);
    for (int i = 0; i < 6; ++i) {
      beside->force[i] += force * w[i];
      for (int j = 0; j < 6; ++j)
        beside->inertia[i][j] += mass[k] * w[i] * w[j];
    }
  }
}

void tbi_forward_ada(tabi_dynamics *d, const double *tau, double *qdd) {
  tbi_forward_ada_loaded(d, tau, NULL, qdd);
}

void tbi_forward_ada_loaded(tabi_dynamics *d, const double *tau, const tbi_body_load *beside,
                            double *qdd) {
  tbi_ada_assemble(d, d->model->dof_rotor, beside);
  for (int32_t i = 0; i < d->model->nbody; ++i) {
    if (d->ada[i].ndof == 0) continue;
    gather_force(d, i, beside ? &beside[i] : NULL, &d->ada[i]);
    gather_drift(d, i, &d->ada[i]);
  }
  tbi_ada_solve(d, tau, qdd);
}

size_t tbi_ada_memsize(const tabi_model *model) {
  return sizeof(tbi_ada_body) * (size_t)model->nbody;
}

/* which joints there are to join */
void tbi_ada_make(tabi_dynamics *d, void *memory) {
  d->ada = memory;
  for (int32_t i = 0; i < d->model->nbody; ++i) {
    d->ada[i].ndof = 0;
    if (!is_massless(&d->model->body[i])) collect_joint(d->model, i, &d->ada[i]);
  }
}

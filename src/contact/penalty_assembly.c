/* penalty_assembly.c - contacts as joints of the assembly (P2, Yamane and Nakamura).
 *
 * A contact is a joint with six free directions between two links, or a link and the ground, moved
 * by its spring and damper.  Nothing is constrained: W = 0, its force tau goes through as it is,
 * and joins nothing (Lambda stays).  Its relative velocity changes over the step h by (4)
 *
 *     du = h (a0 + P tau),     P = Lambda_a + Lambda_b  [- Lambda_ab - Lambda_ba on one tree]
 *
 * a0 being the acceleration by all that was assembled before.  With tau at the end of the step and
 * the derivatives of tau alone, that is tau = (1 + S P)^-1 (tau_0 - h K u - S a0), S = h D + h^2 K
 * (penalty_paper.c, in impulses, at points without moments).
 *
 *   assemble      joints: Lambda and b of every chain                          dynamics/ada.c
 *                 joints that close loops                                      penalty_loops.c
 *   disassemble   velocities without contacts
 *   assemble      contacts, after all joints, branch by branch                 dynamics/handles.c
 *   disassemble   under the contact forces, which are final, as forces from outside
 *
 * Each contact reads a0 and P of its links where the assembly has them, and is told what those
 * before it did along the path from there: all of it is linear in links and contacts.  Joint limits
 * and dry friction of joints, of which the paper does not speak, come before the contacts in the
 * same way.
 *
 * Everything is a change of velocity by impulses; velocity products and gravity are among the
 * impulses on the bodies. */
#include "contact/penalty_assembly.h"

#include "base/assertion.h"
#include "contact/penalty_spring.h"

#include <string.h>

size_t tbi_penalty_assembly_place(tbi_penalty_assembly *t, void *memory, const tabi_model *model,
                                  const tabi_world_def *def) {
  tbi_layout at = {memory, 0};
  tbi_handles_place(&at, model, &t->handles);
  tbi_penalty_loops_place(&at, model, &t->closed);
  t->ada = tbi_layout_take(&at, (int64_t)tbi_ada_memsize(model), 1);
  t->change = tbi_layout_take(&at, model->nv, sizeof *t->change);
  t->child = tbi_layout_take(&at, model->nbody, sizeof *t->child);
  t->sibling = tbi_layout_take(&at, model->nbody, sizeof *t->sibling);
  t->first = tbi_layout_take(&at, model->nbody, sizeof *t->first);
  t->next = tbi_layout_take(&at, def->max_contacts, sizeof *t->next);
  return at.used;
}

/* ---- impulses on bodies, and what they do */

/* a wrench about the tree's origin, taken at the body's point */
static void load_wrench(const tbi_penalty_assembly *t, int32_t body, double share, sv wrench,
                        double to[6]) {
  wrench.ang = v4_sub(wrench.ang, v4_cross(t->d->ada[body].at, wrench.lin));
  double own[6];
  tbi_sv_store(wrench, own);
  for (int i = 0; i < 6; ++i)
    to[i] += share * own[i];
}

static void load_bodies(tbi_penalty_assembly *t) {
  for (int32_t i = 0; i < t->d->model->nbody; ++i) {
    tbi_ada_body *ada = &t->d->ada[i];
    if (ada->ndof == 0) continue;
    memset(ada->force, 0, sizeof ada->force);
    memset(ada->drift, 0, sizeof ada->drift);
    load_wrench(t, i, 1, t->body_impulse[i], ada->force);
  }
}

/* the change of velocity by all impulses of bodies and joints, and of rows, into t->change */
static void disassemble(tbi_penalty_assembly *t, bool rows) {
  memcpy(t->change, t->joint_impulse, sizeof *t->change * (size_t)t->d->model->nv);
  for (int32_t i = 0; rows && i < t->p->nrow; ++i)
    t->change[t->p->row[i].dof] += t->p->row[i].impulse;
  tbi_ada_solve(t->d, t->change, t->change);
  if (t->loops->count > 0) tbi_penalty_loops_close(&t->closed, t->change);
}

/* v_new, and its twists into d->acc */
static void move(tbi_penalty_assembly *t) {
  const tabi_model *model = t->d->model;
  sv *twist = t->d->acc;
  twist[TABI_WORLD] = sv_zero();
  for (int32_t k = 0; k < model->nv; ++k)
    t->v_new[k] = t->d->v[k] + t->change[k];
  for (int32_t i = 0; i < model->nbody; ++i) {
    const tbi_body *body = &model->body[i];
    twist[i] = twist[body->parent];
    for (int32_t k = body->v; k < body->v + body->nv; ++k)
      twist[i] = sv_axpy(twist[i], t->v_new[k], t->d->axis[k]);
  }
}

void tbi_penalty_assembly_free(tbi_penalty_assembly *t) {
  tbi_ada_make(t->d, t->ada);
  tbi_ada_assemble(t->d, t->diagonal, NULL);
  t->closed.d = t->d;
  t->closed.loops = t->loops;
  if (t->loops->count > 0) tbi_penalty_loops_make(&t->closed);
  load_bodies(t);
  disassemble(t, false);
  move(t);
}

/* ---- the order of assembly: down the branches, at every body the points that end there */

static int32_t body_of(const tbi_penalty_assembly *t, int32_t port) {
  return port == TABI_NONE ? TABI_WORLD : t->p->port[port].body;
}

static void list_branches(tbi_penalty_assembly *t) {
  for (int32_t i = 0; i < t->d->model->nbody; ++i)
    t->child[i] = t->first[i] = TABI_NONE;
  for (int32_t i = t->d->model->nbody - 1; i >= 0; --i) {
    int32_t parent = t->d->ada[i].parent;
    if (t->d->ada[i].ndof == 0 || parent == TABI_WORLD) continue;
    t->sibling[i] = t->child[parent];
    t->child[parent] = i;
  }
  for (int32_t i = t->p->npoint - 1; i >= 0; --i) {
    int32_t a = body_of(t, t->p->point[i].port_a);
    int32_t b = body_of(t, t->p->point[i].port_b);
    int32_t last = a > b ? a : b;
    t->next[i] = t->first[last];
    t->first[last] = i;
  }
}

/* the body after this one, children before siblings; TABI_NONE: the tree is done */
static int32_t next_body(const tbi_penalty_assembly *t, int32_t body) {
  if (t->child[body] != TABI_NONE) return t->child[body];
  for (; t->d->ada[body].parent != TABI_WORLD; body = t->d->ada[body].parent)
    if (t->sibling[body] != TABI_NONE) return t->sibling[body];
  return TABI_NONE;
}

/* ---- one contact */

/* the wrench on a side of an impulse on b, at the body's point */
static void wrench_on(const tbi_penalty_assembly *t, int32_t body, v4 arm, v4 impulse,
                      double to[6]) {
  memset(to, 0, 6 * sizeof *to);
  load_wrench(t, body, 1, (sv){impulse, v4_cross(arm, impulse)}, to);
}

static double dot(const double a[6], const double b[6]) {
  double sum = 0;
  for (int i = 0; i < 6; ++i)
    sum += a[i] * b[i];
  return sum;
}

/* how the point moves along its axes by impulses along them on the side `on`, as the side `of`
 * sees it */
static void add_response(const tbi_penalty_assembly *t, tbi_point *c, bool on_b, bool of_b) {
  const v4 axis[3] = {c->frame.x, c->frame.y, c->frame.z};
  int32_t on = body_of(t, on_b ? c->port_b : c->port_a);
  int32_t of = body_of(t, of_b ? c->port_b : c->port_a);
  for (int j = 0; j < 3; ++j) {
    double force[6];
    double motion[6];
    wrench_on(t, on, on_b ? c->arm_b : c->arm_a, axis[j], force);
    tbi_handles_response(&t->handles, on, force, of, motion);
    for (int i = 0; i < 3; ++i) {
      double along[6];
      wrench_on(t, of, of_b ? c->arm_b : c->arm_a, axis[i], along);
      c->w[i][j] += on_b == of_b ? dot(along, motion) : -dot(along, motion);
    }
  }
}

/* P, in the frame of the point */
static void fill_response(tbi_penalty_assembly *t, tbi_point *c) {
  memset(c->w, 0, sizeof c->w);
  if (c->port_a != TABI_NONE) add_response(t, c, false, false);
  if (c->port_b != TABI_NONE) add_response(t, c, true, true);
  bool one_tree = c->port_a != TABI_NONE && c->port_b != TABI_NONE &&
                  t->p->port[c->port_a].tree == t->p->port[c->port_b].tree;
  if (one_tree) {
    add_response(t, c, false, true);
    add_response(t, c, true, false);
  }
  c->immobile = false;
  if (t->loops->count > 0) tbi_penalty_loops_brace_point(&t->closed, t->p, c);
  c->mobility = (c->w[0][0] + c->w[1][1] + c->w[2][2]) / 3;
  if (!(c->mobility > 0)) c->mobility = 1; /* on the axis of its only joint, say */
}

/* the velocity of a body as a twist at its tree's origin; the world's is zero */
static sv twist_of(tbi_penalty_assembly *t, int32_t port) {
  if (port == TABI_NONE) return sv_zero();
  int32_t body = body_of(t, port);
  sv own = tbi_sv_load(tbi_handles_reach(&t->handles, body));
  return tbi_seen_from(own, v4_scale(-1, t->d->ada[body].at));
}

static void push(tbi_penalty_assembly *t, int32_t port, v4 arm, v4 impulse) {
  if (port == TABI_NONE) return;
  int32_t body = body_of(t, port);
  double force[6];
  wrench_on(t, body, arm, impulse, force);
  (void)tbi_handles_reach(&t->handles, body);
  tbi_handles_push(&t->handles, body, force);
  for (int i = 0; i < 6; ++i)
    t->d->ada[body].force[i] += force[i];
}

static void assemble_point(tbi_penalty_assembly *t, tbi_point *c) {
  memset(c->impulse, 0, sizeof c->impulse);
  fill_response(t, c);
  if (c->gap >= 0 || c->immobile) return;
  sv a = twist_of(t, c->port_a);
  sv b = twist_of(t, c->port_b);
  v3 u = tbi_point_velocity(c, a, b);
  u = v3_add(u, tbi_penalty_loops_point_velocity(&t->closed, t->p, c));
  v3 r = tbi_penalty_paper_impulse(c, t->def, u);
  v3_store(r, c->impulse);
  if (t->loops->count > 0) tbi_penalty_loops_push_point(&t->closed, t->p, c);
  v4 impulse = m4_mulv3(&c->frame, r);
  push(t, c->port_b, c->arm_b, impulse);
  push(t, c->port_a, c->arm_a, v4_scale(-1, impulse));
}

static void assemble_points(tbi_penalty_assembly *t) {
  list_branches(t);
  for (int32_t i = 0; i < t->d->model->nbody; ++i) {
    if (t->d->ada[i].ndof == 0 || t->d->ada[i].parent != TABI_WORLD) continue;
    for (int32_t body = i; body != TABI_NONE; body = next_body(t, body))
      for (int32_t k = t->first[body]; k != TABI_NONE; k = t->next[k])
        assemble_point(t, &t->p->point[k]);
  }
}

/* one row: what brings it to its target within its bounds */
static void assemble_row(tbi_penalty_assembly *t, tbi_row *row) {
  double u = tbi_handles_reach_joint(&t->handles, row->dof);
  row->w = tbi_handles_joint_response(&t->handles, row->dof);
  if (t->loops->count > 0) {
    u += tbi_penalty_loops_row_velocity(&t->closed, row->dof);
    row->w = tbi_penalty_loops_brace_row(&t->closed, row->dof, row->w);
  }
  double wanted = row->w > 0 ? row->impulse + (row->target - u) / row->w : row->impulse;
  wanted = tbi_min(tbi_max(wanted, row->lower), row->upper);
  tbi_handles_turn(&t->handles, row->dof, wanted - row->impulse);
  if (t->loops->count > 0) tbi_penalty_loops_push_row(&t->closed, row->dof, wanted - row->impulse);
  row->impulse = wanted;
}

/* ---- all of them */

/* velocities without contacts and rows */
static void note_free(tbi_penalty_assembly *t) {
  for (int32_t k = 0; k < t->p->nport; ++k)
    t->p->free[k] = t->d->acc[t->p->port[k].body];
  for (int32_t i = 0; i < t->p->nrow; ++i)
    t->p->row[i].base = t->v_new[t->p->row[i].dof];
}

tbi_solution tbi_penalty_assembly_solve(tbi_penalty_assembly *t) {
  TBI_ASSERT(t->d && t->p && t->v_new);
  TBI_ASSERT(t->p->npoint <= t->def->max_contacts);
  note_free(t);
  if (t->p->nrow + t->p->npoint > 0) {
    if (t->p->nrow > 0) {
      disassemble(t, true);
      move(t);
    }
    tbi_handles_make(&t->handles, t->d, t->diagonal);
    tbi_handles_start(&t->handles, t->v_new);
    for (int32_t i = 0; i < t->p->nrow; ++i)
      assemble_row(t, &t->p->row[i]);
    assemble_points(t);
    disassemble(t, true);
    move(t);
  }
  for (int32_t k = 0; k < t->p->nport; ++k)
    t->p->velocity[k] = t->d->acc[t->p->port[k].body];
  tbi_problem_receive(t->p);
  tbi_spring_energy energy = tbi_springs_update(t->p, t->def, true);
  return (tbi_solution){.iterations = 1,
                        .converged = true,
                        .stored = energy.stored,
                        .found = energy.found,
                        .elastic = energy.after};
}

/* penalty_tree.c - Newton's method of penalty in time linear in bodies and points (P2, coupled).
 *
 * With D the slope of the springs and g by how much impulses miss their law, a Newton step
 *     dr + D W dr = g,   W = J M^-1 J'
 * is  (M + J'DJ) x = J'g,  dr = g - D J x,  and x is the change of velocity that dr makes.  A point
 * that touches the ground adds its D to the inertia of its body alone, so M + J'DJ is eliminated
 * from the leaves to the root as M is in aba.c; but D is not symmetric where friction slides, and
 * so neither is what is left at a body: A S and A' S differ.
 *
 *   factor, leaf to root:  U = A S,  V = A' S,  d = S . U + diagonal,  A -= U V' / d,  A_p += A
 *   solve, leaf to root:   e = rhs - S . p,   p += U e / d,   p_p += p
 *          root to leaf:   x = (e - V . a) / d,   a += S x
 *
 * The velocity is followed along the Newton steps.  Rows are so stiff that x has half the digits
 * only, so it is then made anew from the impulses, and the steps go on from there. */
#include "contact/penalty_tree.h"

#include "base/assertion.h"
#include "base/layout.h"
#include "contact/penalty_spring.h"
#include "math/linalg.h"
#include "problem/sweep.h"

#include <string.h>

enum { NEWTON_STEPS = 40, HALVINGS = 6, ROUNDS = 4 };

size_t tbi_penalty_tree_place(tbi_penalty_tree *t, void *memory, const tabi_model *model,
                              const tabi_world_def *def) {
  tbi_layout at = {memory, 0};
  int64_t points = def->max_contacts;
  int64_t rows = (int64_t)model->nv * TBI_ROW_KINDS;
  t->load = tbi_layout_take(&at, model->nbody, sizeof *t->load);
  t->right = tbi_layout_take(&at, model->nv, sizeof *t->right);
  t->left = tbi_layout_take(&at, model->nv, sizeof *t->left);
  double **by_velocity[] = {&t->row_load, &t->inverse, &t->rhs, &t->x, &t->v};
  for (size_t i = 0; i < sizeof by_velocity / sizeof by_velocity[0]; ++i)
    *by_velocity[i] = tbi_layout_take(&at, model->nv, sizeof(double));
  double **by_unknown[] = {&t->r, &t->f, &t->dr, &t->trial};
  for (size_t i = 0; i < sizeof by_unknown / sizeof by_unknown[0]; ++i)
    *by_unknown[i] = tbi_layout_take(&at, 3 * points + rows, sizeof(double));
  t->slope = tbi_layout_take(&at, 9 * points + rows, sizeof *t->slope);
  return at.used;
}

/* a' b */
static v4 transposed_mulv(const m4 *a, v4 b) {
  return v4_make(v4_dot(a->x, b), v4_dot(a->y, b), v4_dot(a->z, b));
}

static void add(tbi_articulated *a, const tbi_articulated *b) {
  a->lin_lin = m4_add(&a->lin_lin, &b->lin_lin);
  a->ang_lin = m4_add(&a->ang_lin, &b->ang_lin);
  a->lin_ang = m4_add(&a->lin_ang, &b->lin_ang);
  a->ang_ang = m4_add(&a->ang_ang, &b->ang_ang);
}

/* take one velocity out; false: it has no inertia left */
static bool eliminate(tbi_penalty_tree *t, int32_t k, tbi_articulated *a) {
  sv s = t->d->axis[k];
  sv u = {v4_add(m4_mulv(&a->lin_lin, s.lin), m4_mulv(&a->lin_ang, s.ang)),
          v4_add(m4_mulv(&a->ang_lin, s.lin), m4_mulv(&a->ang_ang, s.ang))};
  sv v = {v4_add(transposed_mulv(&a->lin_lin, s.lin), transposed_mulv(&a->ang_lin, s.ang)),
          v4_add(transposed_mulv(&a->lin_ang, s.lin), transposed_mulv(&a->ang_ang, s.ang))};
  double d = sv_dot(s, u) + t->diagonal[k] + t->row_load[k];
  if (!(d > 0)) return false;
  t->right[k] = u;
  t->left[k] = v;
  t->inverse[k] = 1 / d;
  sv u_d = sv_scale(1 / d, u);
  a->lin_lin = m4_less_product(&a->lin_lin, u_d.lin, v.lin);
  a->ang_lin = m4_less_product(&a->ang_lin, u_d.ang, v.lin);
  a->lin_ang = m4_less_product(&a->lin_ang, u_d.lin, v.ang);
  a->ang_ang = m4_less_product(&a->ang_ang, u_d.ang, v.ang);
  return true;
}

static bool factor(tbi_penalty_tree *t) {
  const tabi_model *model = t->d->model;
  for (int32_t i = 0; i < model->nbody; ++i) {
    tbi_articulate(&t->d->body[i].inertia, &t->d->articulated[i]);
    add(&t->d->articulated[i], &t->load[i]);
  }
  for (int32_t i = model->nbody - 1; i >= 0; --i) {
    const tbi_body *body = &model->body[i];
    tbi_articulated *own = &t->d->articulated[i];
    for (int32_t k = body->v + body->nv - 1; k >= body->v; --k)
      if (!eliminate(t, k, own)) return false;
    add(&t->d->articulated[body->parent], own);
  }
  return true;
}

/* solves for x with t->rhs at joints and -d->force at bodies; its twists go to d->acc */
static void solve(tbi_penalty_tree *t) {
  const tabi_model *model = t->d->model;
  sv *force = t->d->force;
  sv *twist = t->d->acc;
  for (int32_t i = model->nbody - 1; i >= 0; --i) {
    const tbi_body *body = &model->body[i];
    sv p = force[i];
    for (int32_t k = body->v + body->nv - 1; k >= body->v; --k) {
      t->x[k] = (t->rhs[k] - sv_dot(t->d->axis[k], p)) * t->inverse[k];
      p = sv_axpy(p, t->x[k], t->right[k]);
    }
    force[body->parent] = sv_add(force[body->parent], p);
  }
  twist[TABI_WORLD] = sv_zero();
  for (int32_t i = 0; i < model->nbody; ++i) {
    const tbi_body *body = &model->body[i];
    sv a = twist[body->parent];
    for (int32_t k = body->v; k < body->v + body->nv; ++k) {
      t->x[k] -= sv_dot(t->left[k], a) * t->inverse[k];
      a = sv_axpy(a, t->x[k], t->d->axis[k]);
    }
    twist[i] = a;
  }
}

static int32_t body_of(const tbi_penalty_tree *t, const tbi_point *c) {
  TBI_ASSERT((c->port_a == TABI_NONE) != (c->port_b == TABI_NONE)); /* one side is the world */
  return t->p->port[c->port_a == TABI_NONE ? c->port_b : c->port_a].body;
}

/* the velocity of a point under the twists in d->acc */
static v3 velocity_at(const tbi_penalty_tree *t, const tbi_point *c) {
  sv twist = t->d->acc[body_of(t, c)];
  return tbi_point_velocity(c, twist, twist);
}

/* subtracts the wrench of an impulse at a point from d->force of its body */
static void push(tbi_penalty_tree *t, const tbi_point *c, const double r[3]) {
  v4 impulse = m4_combine(&c->frame, r[0], r[1], r[2]);
  bool on_b = c->port_a == TABI_NONE;
  sv *force = &t->d->force[body_of(t, c)];
  *force = sv_axpy(*force, on_b ? -1 : 1, tbi_wrench(on_b ? c->arm_b : c->arm_a, impulse));
}

/* J'DJ of one point: the wrench against each unit motion of its body */
static void load_point(tbi_penalty_tree *t, const tbi_point *c, const double slope[9]) {
  v4 arm = c->port_a == TABI_NONE ? c->arm_b : c->arm_a;
  tbi_articulated own;
  m4 *of_lin[2] = {&own.lin_lin, &own.ang_lin};
  m4 *of_ang[2] = {&own.lin_ang, &own.ang_ang};
  const v4 unit[3] = {v4_make(1, 0, 0), v4_make(0, 1, 0), v4_make(0, 0, 1)};
  v4 force[6];
  for (int k = 0; k < 6; ++k) {
    v4 at = k < 3 ? unit[k] : v4_cross(unit[k - 3], arm);
    v4 u = transposed_mulv(&c->frame, at);
    double f[3];
    for (ptrdiff_t i = 0; i < 3; ++i)
      f[i] = slope[3 * i] * v4_x(u) + slope[3 * i + 1] * v4_y(u) + slope[3 * i + 2] * v4_z(u);
    force[k] = m4_combine(&c->frame, f[0], f[1], f[2]);
  }
  for (int i = 0; i < 2; ++i) {
    v4 w[6];
    for (int k = 0; k < 6; ++k)
      w[k] = i == 0 ? force[k] : v4_cross(arm, force[k]);
    *of_lin[i] = (m4){w[0], w[1], w[2]};
    *of_ang[i] = (m4){w[3], w[4], w[5]};
  }
  add(&t->load[body_of(t, c)], &own);
}

/* a bound of what an impulse does to its point: as if its body were alone */
static double mobility_of(const tbi_penalty_tree *t, const tbi_point *c) {
  int32_t i = body_of(t, c);
  const tbi_body *body = &t->d->model->body[i];
  double e[3];
  tbi_s3_eigenvalues(body->inertia, e);
  v4 centre = v4_scale(1 / body->mass, t->d->body[i].inertia.h);
  v4 arm = v4_sub(c->port_a == TABI_NONE ? c->arm_b : c->arm_a, centre);
  return 1 / body->mass + v4_dot(arm, arm) / e[0];
}

/* the twists of a velocity into d->acc */
static void spread(tbi_penalty_tree *t, const double *v) {
  const tabi_model *model = t->d->model;
  sv *twist = t->d->acc;
  twist[TABI_WORLD] = sv_zero();
  for (int32_t i = 0; i < model->nbody; ++i) {
    const tbi_body *body = &model->body[i];
    sv own = twist[body->parent];
    for (int32_t k = body->v; k < body->v + body->nv; ++k)
      own = sv_axpy(own, v[k], t->d->axis[k]);
    twist[i] = own;
  }
}

/* the largest miss of r under the velocity v; fills f, slope and, with the twists of v, d->acc */
static double miss_all(tbi_penalty_tree *t, const double *r, const double *v) {
  const tbi_problem *p = t->p;
  spread(t, v);
  double worst = 0;
  memset(t->slope, 0, sizeof *t->slope * 9 * (size_t)p->npoint);
  for (int32_t i = 0; i < p->npoint; ++i) {
    const tbi_point *c = &p->point[i];
    const double *own = r + (ptrdiff_t)3 * i;
    v3 missed = v3_scale(-1, v3_load(own));
    if (tbi_spring_acts(c)) {
      tbi_spring s = tbi_spring_of(c, t->def, 1);
      missed = tbi_spring_miss(&s, velocity_at(t, c), v3_load(own), t->slope + (ptrdiff_t)9 * i);
    }
    v3_store(missed, t->f + (ptrdiff_t)3 * i);
    worst = tbi_max(worst, v3_norm(missed) * c->mobility);
  }
  for (int32_t i = 0; i < p->nrow; ++i) {
    const tbi_row *row = &p->row[i];
    ptrdiff_t at = (ptrdiff_t)3 * p->npoint + i;
    tbi_law law = {.size = 1, .mobility = row->w, .lower = row->lower, .upper = row->upper};
    worst = tbi_max(worst, tbi_row_miss(&law, r[at], v[row->dof] - row->target, &t->f[at],
                                        &t->slope[(ptrdiff_t)9 * p->npoint + i]));
  }
  return worst;
}

static void begin(tbi_penalty_tree *t) {
  const tabi_model *model = t->d->model;
  memset(t->load, 0, sizeof *t->load * (size_t)model->nbody);
  memset(t->row_load, 0, sizeof *t->row_load * (size_t)model->nv);
  memset(t->rhs, 0, sizeof *t->rhs * (size_t)model->nv);
  for (int32_t i = 0; i < model->nbody; ++i)
    t->d->force[i] = sv_zero();
}

/* impulses on the right-hand side */
static void push_all(tbi_penalty_tree *t, const double *r) {
  const tbi_problem *p = t->p;
  for (int32_t i = 0; i < p->npoint; ++i)
    push(t, &p->point[i], r + (ptrdiff_t)3 * i);
  for (int32_t i = 0; i < p->nrow; ++i)
    t->rhs[p->row[i].dof] += r[(ptrdiff_t)3 * p->npoint + i];
}

/* x and dr from f and slope */
static bool newton_step(tbi_penalty_tree *t) {
  const tbi_problem *p = t->p;
  const double *row_slope = t->slope + (ptrdiff_t)9 * p->npoint;
  begin(t);
  push_all(t, t->f);
  for (int32_t i = 0; i < p->npoint; ++i)
    load_point(t, &p->point[i], t->slope + (ptrdiff_t)9 * i);
  for (int32_t i = 0; i < p->nrow; ++i)
    t->row_load[p->row[i].dof] += row_slope[i];
  if (!factor(t)) return false;
  solve(t);
  for (int32_t i = 0; i < p->npoint; ++i) {
    v3 u = velocity_at(t, &p->point[i]);
    for (ptrdiff_t k = 3 * (ptrdiff_t)i; k < 3 * (ptrdiff_t)(i + 1); ++k) {
      const double *d = t->slope + 3 * k;
      t->dr[k] = t->f[k] - (d[0] * u.x + d[1] * u.y + d[2] * u.z);
    }
  }
  for (int32_t i = 0; i < p->nrow; ++i) {
    ptrdiff_t at = (ptrdiff_t)3 * p->npoint + i;
    t->dr[at] = t->f[at] - row_slope[i] * t->x[p->row[i].dof];
  }
  return true;
}

/* v and x for the impulses r, none if NULL; M alone is factored */
static void move_by(tbi_penalty_tree *t, const double *r, double *v) {
  const tabi_model *model = t->d->model;
  begin(t);
  if (r) push_all(t, r);
  for (int32_t k = 0; k < model->nv; ++k)
    t->rhs[k] += t->impulse[k];
  (void)factor(t);
  solve(t);
  for (int32_t k = 0; k < model->nv; ++k)
    v[k] = t->d->v[k] + t->x[k];
}

/* from t->r; a step that does not help is halved; how many there were */
static int32_t follow_newton(tbi_penalty_tree *t) {
  int32_t nv = t->d->model->nv;
  int32_t n = 3 * t->p->npoint + t->p->nrow;
  int32_t steps = 0;
  double size = miss_all(t, t->r, t->v_new);
  while (size > t->def->tolerance && steps < NEWTON_STEPS) {
    ++steps;
    if (!newton_step(t)) break;
    double share = 1;
    for (int halved = 0; halved < HALVINGS; ++halved) {
      for (int32_t k = 0; k < n; ++k)
        t->trial[k] = t->r[k] + share * t->dr[k];
      for (int32_t k = 0; k < nv; ++k)
        t->v[k] = t->v_new[k] + share * t->x[k];
      double now = miss_all(t, t->trial, t->v);
      bool better = now < size;
      if (better || halved == HALVINGS - 1) size = now;
      if (better) break;
      share *= 0.5;
    }
    memcpy(t->r, t->trial, sizeof *t->r * (size_t)n);
    memcpy(t->v_new, t->v, sizeof *t->v * (size_t)nv);
  }
  return steps;
}

void tbi_penalty_tree_free(tbi_penalty_tree *t) { move_by(t, NULL, t->v_new); }

/* impulses from points and rows, the scale of their laws from the factor of M, and velocities
 * without impulses, which v_new still has */
static void read_start(tbi_penalty_tree *t) {
  tbi_problem *p = t->p;
  spread(t, t->v_new);
  for (int32_t k = 0; k < p->nport; ++k)
    p->free[k] = t->d->acc[p->port[k].body];
  for (int32_t i = 0; i < p->npoint; ++i) {
    tbi_point *c = &p->point[i];
    c->mobility = mobility_of(t, c);
    memcpy(t->r + (ptrdiff_t)3 * i, c->impulse, sizeof c->impulse);
  }
  for (int32_t i = 0; i < p->nrow; ++i) {
    p->row[i].w = t->inverse[p->row[i].dof];
    p->row[i].base = t->v_new[p->row[i].dof];
    t->r[(ptrdiff_t)3 * p->npoint + i] = p->row[i].impulse;
  }
}

static void write_end(tbi_penalty_tree *t) {
  tbi_problem *p = t->p;
  for (int32_t i = 0; i < p->npoint; ++i)
    memcpy(p->point[i].impulse, t->r + (ptrdiff_t)3 * i, sizeof p->point[i].impulse);
  for (int32_t i = 0; i < p->nrow; ++i)
    p->row[i].impulse = t->r[(ptrdiff_t)3 * p->npoint + i];
  for (int32_t k = 0; k < p->nport; ++k)
    p->velocity[k] = t->d->acc[p->port[k].body];
  tbi_problem_receive(p);
}

tbi_solution tbi_penalty_tree_solve(tbi_penalty_tree *t) {
  TBI_ASSERT(t->d && t->p && t->v_new);
  TBI_ASSERT(t->p->npoint <= t->def->max_contacts);
  tbi_solution solution = {.iterations = 0};
  read_start(t);
  move_by(t, t->r, t->v_new);
  for (int round = 0; round < ROUNDS; ++round) {
    solution.iterations += follow_newton(t);
    move_by(t, t->r, t->v_new);
    solution.converged = miss_all(t, t->r, t->v_new) <= t->def->tolerance;
    if (solution.converged) break;
  }
  write_end(t);
  tbi_spring_energy energy = tbi_springs_update(t->p, t->def, false);
  solution.stored = energy.stored;
  solution.found = energy.found;
  solution.elastic = energy.after;
  return solution;
}

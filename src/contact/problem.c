/* problem.c - sets up the contact problem of a step: ports, their responses, points and rows.
 *
 *   touches, limits ... --> which bodies and joints are touched --> ports, tree by tree
 *   path of a port      --> Y = D^-1/2 L^-T J',  velocity = J v + Y' z
 *   two ports of a tree --> G = Y_k' Y_l over the velocities that both paths share
 *   a touch             --> frame, arms, answers of its ports, 3x3 response, target velocity
 */
#include "contact/problem.h"

#include "base/assertion.h"
#include "contact/half_solve.h"
#include "contact/setup.h"
#include "contact/sweep.h"

#include <string.h>

/* a point whose normal moves this much less than its ports could does not move: the normal impulse
 * that stops it would be without bounds */
#define HELD 1e-8

/* where Q' of a sum stands behind it */
static inline int32_t tie_place(const tbi_problem *p, int32_t cluster) {
  return p->model->nv + p->model->cluster_tie[cluster];
}

static inline sv block_mul(const tbi_block *g, sv m) {
  sv u = sv_scale(v4_x(m.lin), g->column[0]);
  u = sv_axpy(u, v4_y(m.lin), g->column[1]);
  u = sv_axpy(u, v4_z(m.lin), g->column[2]);
  u = sv_axpy(u, v4_x(m.ang), g->column[3]);
  u = sv_axpy(u, v4_y(m.ang), g->column[4]);
  return sv_axpy(u, v4_z(m.ang), g->column[5]);
}

void tbi_problem_spread(tbi_problem *p, int32_t from, int32_t except, sv m) {
  int32_t cluster = p->port[from].cluster;
  int32_t first = p->cluster_port[cluster];
  for (int32_t k = first; k < first + p->cluster_ports[cluster]; ++k) {
    if (k == from || k == except) continue;
    p->velocity[k] = sv_add(p->velocity[k], block_mul(tbi_problem_block(p, k, from), m));
  }
}

static void add_port(tbi_setup *s, int32_t tree, int32_t body) {
  tbi_problem *p = &s->problem;
  int32_t dof = tbi_last_dof(&s->model->body[body]);
  int32_t cluster = s->model->tree_cluster[tree];
  int32_t stride = tbi_path_stride(s->model, dof);
  int64_t tail = s->used_y + 6 * (int64_t)stride;
  p->port[p->nport] = (tbi_port){tree, cluster, body, dof, stride, s->used_y, tail, 0};
  s->used_y = tail + 6 * (int64_t)p->cluster_ties[cluster];
  s->body_port[body] = p->nport++;
  ++p->cluster_ports[cluster];
}

static void number_ports(tbi_setup *s) {
  const tabi_model *model = s->model;
  tbi_problem *p = &s->problem;
  p->nport = 0;
  s->used_y = 0;
  for (int32_t c = 0; c < p->model->ncluster; ++c)
    p->cluster_ports[c] = 0;
  for (int32_t k = 0; k < model->ntree; ++k) {
    int32_t tree = model->tree_order[k];
    int32_t end = tree + 1 < model->ntree ? model->tree_body[tree + 1] : model->nbody;
    for (int32_t i = model->tree_body[tree]; i < end; ++i) {
      if (s->body_port[i] == TBI_MARKED) add_port(s, tree, i);
    }
  }
}

/* where the blocks of each cluster stand; false: too many ports in one */
static bool place_blocks(tbi_setup *s) {
  tbi_problem *p = &s->problem;
  int64_t blocks = 0;
  int32_t first = 0;
  for (int32_t c = 0; c < p->model->ncluster; ++c) {
    int32_t n = p->cluster_ports[c];
    if (blocks + (int64_t)n * n > s->max_blocks) return false;
    p->cluster_port[c] = first;
    for (int32_t k = 0; k < n; ++k)
      p->port[first + k].block = (int32_t)(blocks + (int64_t)k * n);
    first += n;
    blocks += (int64_t)n * n;
  }
  return true;
}

/* J' of the port, root first, one column after another; the padding is zero */
static void load_axes(const tbi_setup *s, const tbi_port *port, double *y) {
  int32_t stride = port->stride;
  memset(y, 0, sizeof *y * 6 * (size_t)stride);
  int32_t depth = s->model->dof_depth[port->dof];
  for (int32_t k = port->dof; k >= 0; k = s->model->dof_parent[k], --depth) {
    sv axis = s->d->axis[k];
    y[depth] = v4_x(axis.lin);
    y[stride + depth] = v4_y(axis.lin);
    y[2 * stride + depth] = v4_z(axis.lin);
    y[3 * stride + depth] = v4_x(axis.ang);
    y[4 * stride + depth] = v4_y(axis.ang);
    y[5 * stride + depth] = v4_z(axis.ang);
  }
}

/* T = Q' Y for columns along the path of dof */
static void fill_tail(const tbi_setup *s, int32_t cluster, int32_t dof, int32_t columns,
                      int64_t from) {
  const tabi_model *model = s->model;
  const int32_t *path = model->dof_path + model->dof_row[dof];
  int32_t stride = tbi_path_stride(model, dof);
  int32_t ties = s->problem.cluster_ties[cluster];
  double *tail = s->y + from + (int64_t)columns * stride;
  for (int32_t t = 0; t < ties; ++t) {
    const double *q = tbi_ties_basis(&s->ties, cluster, t);
    for (int32_t c = 0; c < columns; ++c) {
      const double *y = s->y + from + (int64_t)c * stride;
      double sum = 0;
      for (int32_t j = 0; j <= model->dof_depth[dof]; ++j)
        sum += y[j] * q[model->dof_local[path[j]]];
      tail[(int64_t)c * ties + t] = sum;
    }
  }
}

static void fill_y(const tbi_setup *s, const tbi_port *port) {
  load_axes(s, port, s->scratch);
  tbi_half_solve(s->d, s->pivot_root, port->dof, 6, s->scratch, s->y + port->y);
  fill_tail(s, port->cluster, port->dof, 6, port->y);
}

static double dot_path(const double *a, const double *b, int32_t n) {
  v4 sum = v4_zero();
  int32_t whole = n / 4 * 4;
  for (int32_t j = 0; j < whole; j += 4) {
    sum = v4_add(sum, v4_mul(v4_load(a + j), v4_load(b + j)));
  }
  double rest = 0;
  for (int32_t j = whole; j < n; ++j)
    rest += a[j] * b[j];
  return v4_sum(sum) + rest;
}

static sv make_sv(const double a[6]) {
  return (sv){v4_make(a[0], a[1], a[2]), v4_make(a[3], a[4], a[5])};
}

/* what impulses, given for all velocities, do at a port: Y' x */
static void along_port(const tbi_problem *p, const tbi_port *port, const double *x, double u[6]) {
  const int32_t *path = p->model->dof_path + p->model->dof_row[port->dof];
  const double *y = p->y + port->y;
  int32_t n = p->model->dof_depth[port->dof] + 1;
  for (int c = 0; c < 6; ++c)
    u[c] = tbi_path_dot(path, y + (int64_t)c * port->stride, n, x);
}

/* the same for a sum, of which ties take their share */
sv tbi_port_answer(const tbi_problem *p, int32_t k, const double *sum) {
  const tbi_port *port = &p->port[k];
  double u[6];
  along_port(p, port, sum, u);
  int32_t ties = p->cluster_ties[port->cluster];
  const double *tail = p->y + port->tail;
  for (int c = 0; c < 6; ++c)
    u[c] -= dot_path(tail + (int64_t)c * ties, sum + tie_place(p, port->cluster), ties);
  return make_sv(u);
}

static sv free_velocity(const tbi_setup *s, const tbi_port *port) {
  double u[6];
  along_port(&s->problem, port, s->z, u);
  return sv_add(s->d->body[port->body].vel, make_sv(u));
}

/* how many velocities two paths have in common */
static int32_t shared_path(const tabi_model *model, int32_t a, int32_t b) {
  while (a != b) {
    if (a < 0 || b < 0) return 0;
    if (model->dof_depth[a] >= model->dof_depth[b]) {
      a = model->dof_parent[a];
    } else {
      b = model->dof_parent[b];
    }
  }
  return a < 0 ? 0 : model->dof_depth[a] + 1;
}

/* what ties take from the response of port k to port l.  Where they leave nothing, a trace of it
 * stays, so that nobody divides by zero. */
static double tied_response(const tbi_problem *p, const tbi_port *k, const tbi_port *l, int i,
                            int j, double value) {
  int32_t ties = p->cluster_ties[k->cluster];
  if (ties == 0) return value;
  const double *tail_k = p->y + k->tail + (int64_t)i * ties;
  const double *tail_l = p->y + l->tail + (int64_t)j * ties;
  double trace = k == l && i == j ? 1e-12 * value : 0;
  return value - dot_path(tail_k, tail_l, ties) + trace;
}

/* G_kl and its transpose G_lk */
static void fill_block(const tbi_setup *s, int32_t k, int32_t l) {
  const tbi_problem *p = &s->problem;
  const tbi_port *port_k = &p->port[k];
  const tbi_port *port_l = &p->port[l];
  const double *yk = s->y + port_k->y;
  const double *yl = s->y + port_l->y;
  int32_t n = shared_path(s->model, port_k->dof, port_l->dof);
  double g[6][6];
  double t[6][6];
  for (int j = 0; j < 6; ++j) {
    for (int i = k == l ? j : 0; i < 6; ++i) {
      double value =
          dot_path(yk + (int64_t)i * port_k->stride, yl + (int64_t)j * port_l->stride, n);
      value = tied_response(p, port_k, port_l, i, j, value);
      g[j][i] = t[i][j] = value;
      if (k == l) g[i][j] = value;
    }
  }
  tbi_block *kl = &p->block[port_k->block + (l - p->cluster_port[port_k->cluster])];
  tbi_block *lk = &p->block[port_l->block + (k - p->cluster_port[port_l->cluster])];
  for (int j = 0; j < 6; ++j) {
    kl->column[j] = make_sv(g[j]);
    if (k != l) lk->column[j] = make_sv(t[j]);
  }
}

static void fill_ports(tbi_setup *s) {
  tbi_problem *p = &s->problem;
  for (int32_t k = 0; k < p->nport; ++k) {
    fill_y(s, &p->port[k]);
    p->velocity[k] = p->free[k] = free_velocity(s, &p->port[k]);
    for (int32_t l = p->cluster_port[p->port[k].cluster]; l <= k; ++l)
      fill_block(s, k, l);
  }
}

static int32_t port_of_shape(const tbi_setup *s, int32_t shape) {
  int32_t body = s->shape_body[shape];
  return body == TABI_WORLD ? TABI_NONE : s->body_port[body];
}

/* the change of the ports' velocities per impulse along one axis of the frame */
static void answer(const tbi_problem *p, const tbi_point *c, v4 axis, sv *a, sv *b) {
  bool coupled = c->port_a != TABI_NONE && c->port_b != TABI_NONE &&
                 p->port[c->port_a].cluster == p->port[c->port_b].cluster;
  sv on_a = sv_scale(-1, tbi_wrench(c->arm_a, axis));
  sv on_b = tbi_wrench(c->arm_b, axis);
  *a = *b = sv_zero();
  if (c->port_a != TABI_NONE) *a = block_mul(tbi_problem_block(p, c->port_a, c->port_a), on_a);
  if (c->port_b != TABI_NONE) *b = block_mul(tbi_problem_block(p, c->port_b, c->port_b), on_b);
  if (coupled) {
    *a = sv_add(*a, block_mul(tbi_problem_block(p, c->port_a, c->port_b), on_b));
    *b = sv_add(*b, block_mul(tbi_problem_block(p, c->port_b, c->port_a), on_a));
  }
}

/* For the shortcut of cone.c.  With fewer than three freedoms an inverse would be noise: then one
 * that never passes for sticking, so that coulomb.c is asked. */
static s3 stick_inverse(s3 w) {
  double trace = w.xx + w.yy + w.zz;
  double volume = w.xx * (w.yy * w.zz - w.yz * w.yz) - w.xy * (w.xy * w.zz - w.yz * w.xz) +
                  w.xz * (w.xy * w.yz - w.yy * w.xz);
  return volume > 1e-9 * trace * trace * trace ? s3_inverse(w) : (s3){-1, 0, 0, 0, 0, 0};
}

/* what w's diagonal could be about, if neither ties nor the place of the point took from it */
static double loose_mobility(const tbi_problem *p, int32_t k, v4 arm) {
  if (k == TABI_NONE) return 0;
  const tbi_port *port = &p->port[k];
  const double *y = p->y + port->y;
  double square[2] = {0, 0};
  for (int c = 0; c < 6; ++c) {
    const double *column = y + (int64_t)c * port->stride;
    square[c / 3] += dot_path(column, column, port->stride);
  }
  return square[0] + v4_dot(arm, arm) * square[1];
}

static void fill_response(const tbi_problem *p, tbi_point *c) {
  const v4 axis[3] = {c->frame.x, c->frame.y, c->frame.z};
  for (int j = 0; j < 3; ++j) {
    answer(p, c, axis[j], &c->answer_a[j], &c->answer_b[j]);
    v3 u = tbi_point_velocity(c, c->answer_a[j], c->answer_b[j]);
    c->w[0][j] = u.x;
    c->w[1][j] = u.y;
    c->w[2][j] = u.z;
  }
  /* a direction that nothing can move in (a planar mechanism, say) must not divide by zero */
  double trace = c->w[0][0] + c->w[1][1] + c->w[2][2];
  for (int i = 0; i < 3; ++i)
    c->w[i][i] += 1e-12 * trace;
  double loose = loose_mobility(p, c->port_a, c->arm_a) + loose_mobility(p, c->port_b, c->arm_b);
  c->held = c->w[0][0] <= HELD * loose;
  c->mobility = (c->held ? loose : trace) / 3;
  if (c->mobility == 0) c->mobility = 1; /* on the axis of its only joint, say */
  const s3 w = {c->w[0][0], c->w[1][1], c->w[2][2], c->w[0][1], c->w[0][2], c->w[1][2]};
  s3_store(stick_inverse(w), c->inverse);
}

static sv body_velocity(const tbi_setup *s, int32_t shape) {
  return s->d->body[s->shape_body[shape]].vel;
}

static v4 arm_to(const tbi_setup *s, int32_t shape, v3 point) {
  return v4_from(v3_sub(point, tbi_tree_origin(s->d, s->shape_body[shape])));
}

static void fill_point(tbi_setup *s, int32_t index, tbi_point *c) {
  const tbi_touch *touch = &s->touch[index];
  c->port_a = port_of_shape(s, touch->shape_a);
  c->port_b = port_of_shape(s, touch->shape_b);
  c->touch = index;
  c->id = tbi_touch_id(touch);
  c->arm_a = arm_to(s, touch->shape_a, touch->point);
  c->arm_b = arm_to(s, touch->shape_b, touch->point);
  c->frame = tbi_contact_frame(touch->normal);
  c->gap = touch->gap;
  c->angle = 0;
  c->stretch = v3_zero();
  for (int i = 0; i < 3; ++i)
    c->impulse[i] = 0;
  v3 before =
      tbi_point_velocity(c, body_velocity(s, touch->shape_a), body_velocity(s, touch->shape_b));
  c->slip[0] = before.y;
  c->slip[1] = before.z;
  c->approach = s->approach[index] = before.x;
}

/* stable sort of the touches by their two ports, least significant first, by counting; leaves their
 * order in s->order */
static void sort_touches(tbi_setup *s) {
  int32_t n = s->ntouch;
  int32_t *order = s->order;
  int32_t *other = s->order + n;
  for (int32_t i = 0; i < n; ++i)
    order[i] = i;
  for (int pass = 0; pass < 2; ++pass) {
    int32_t *count = s->count;
    memset(count, 0, sizeof *count * ((size_t)s->problem.nport + 2));
    for (int32_t i = 0; i < n; ++i) {
      const tbi_touch *touch = &s->touch[i];
      ++count[port_of_shape(s, pass == 0 ? touch->shape_b : touch->shape_a) + 2];
    }
    for (int32_t k = 1; k < s->problem.nport + 2; ++k)
      count[k] += count[k - 1];
    for (int32_t i = 0; i < n; ++i) {
      const tbi_touch *touch = &s->touch[order[i]];
      int32_t port = port_of_shape(s, pass == 0 ? touch->shape_b : touch->shape_a);
      other[count[port + 1]++] = order[i];
    }
    int32_t *swap = order;
    order = other;
    other = swap;
  }
}

static void group_points(tbi_problem *p) {
  p->ngroup = 0;
  for (int32_t i = 0; i < p->npoint; ++i) {
    const tbi_point *c = &p->point[i];
    tbi_group *last = p->ngroup > 0 ? &p->group[p->ngroup - 1] : NULL;
    if (last && last->port_a == c->port_a && last->port_b == c->port_b) {
      ++last->count;
    } else {
      p->group[p->ngroup++] = (tbi_group){c->port_a, c->port_b, i, 1};
    }
  }
}

/* the same along the one column of a row */
static inline double along_path(const tabi_model *model, int32_t dof, const double *y,
                                const double *x) {
  const int32_t *path = model->dof_path + model->dof_row[dof];
  return tbi_path_dot(path, y, model->dof_depth[dof] + 1, x);
}

/* Y of one joint: D^-1/2 L^-T of a unit vector, whose first step is the joint's own row of L */
static void fill_row_y(tbi_setup *s, tbi_row *row) {
  const tabi_model *model = s->model;
  const int32_t *path = model->dof_path + model->dof_row[row->dof];
  const double *own = s->d->row + model->dof_row[row->dof];
  int32_t depth = model->dof_depth[row->dof];
  double *x = s->scratch;
  double *y = s->y + s->used_y;
  for (int32_t j = 0; j < depth; j += 4)
    v4_save(v4_scale(-1, v4_load(own + j)), x + j);
  y[depth] = s->pivot_root[row->dof];
  for (int32_t j = depth - 1; j >= 0; --j) {
    double value = x[j];
    y[j] = value * s->pivot_root[path[j]];
    tbi_path_subtract(x, value, s->d->row + model->dof_row[path[j]], j);
  }
  row->y = s->used_y;
  row->tail = row->y + tbi_path_stride(model, row->dof);
  s->used_y = row->tail + s->problem.cluster_ties[row->cluster];
  fill_tail(s, row->cluster, row->dof, 1, row->y);
}

static void fill_row(tbi_setup *s, tbi_row *row) {
  const tabi_model *model = s->model;
  row->cluster = model->tree_cluster[model->body[model->dof_body[row->dof]].tree];
  fill_row_y(s, row);
  const double *y = s->y + row->y;
  const double *tail = s->y + row->tail;
  double loose = dot_path(y, y, model->dof_depth[row->dof] + 1);
  row->w = loose - dot_path(tail, tail, s->problem.cluster_ties[row->cluster]);
  row->inverse = row->w > 1e-12 * loose ? 1 / row->w : 0; /* ties may hold it */
  row->base = s->problem.before[row->dof];
}

static void fill_rows(tbi_setup *s) {
  tbi_problem *p = &s->problem;
  /* velocities without constraints, all at once: v + L^-1 D^-1/2 z */
  for (int32_t k = 0; k < s->model->nv; ++k)
    p->before[k] = s->pivot_root[k] * s->z[k];
  tbi_ltdl_solve_lower(s->d, p->before);
  for (int32_t k = 0; k < s->model->nv; ++k)
    p->before[k] += s->d->v[k];
  for (int32_t i = 0; i < p->nrow; ++i)
    fill_row(s, &p->row[i]);
}

/* Rows are many and most robots have no ties: the inline ones leave tails to be looked at last. */
static inline double row_answer(const tbi_problem *p, const tbi_row *row, const double *sum) {
  double u = along_path(p->model, row->dof, p->y + row->y, sum);
  int32_t ties = p->cluster_ties[row->cluster];
  if (ties == 0) return u;
  return u - dot_path(p->y + row->tail, sum + tie_place(p, row->cluster), ties);
}

static inline void row_push(const tbi_problem *p, const tbi_row *row, double impulse, double *sum) {
  const int32_t *path = p->model->dof_path + p->model->dof_row[row->dof];
  const double *y = p->y + row->y;
  for (int32_t j = 0; j <= p->model->dof_depth[row->dof]; ++j)
    sum[path[j]] += impulse * y[j];
  int32_t ties = p->cluster_ties[row->cluster];
  if (ties == 0) return;
  const double *tail = p->y + row->tail;
  double *tie = sum + tie_place(p, row->cluster);
  for (int32_t t = 0; t < ties; ++t)
    tie[t] += impulse * tail[t];
}

double tbi_row_answer(const tbi_problem *p, const tbi_row *row, const double *sum) {
  return row_answer(p, row, sum);
}

double tbi_row_velocity(const tbi_problem *p, const tbi_row *row) {
  return row->base + row_answer(p, row, p->sum);
}

void tbi_row_push(const tbi_problem *p, const tbi_row *row, double impulse, double *sum) {
  row_push(p, row, impulse, sum);
}

static inline double row_visit(tbi_problem *p, tbi_row *row) {
  double impulse =
      row->impulse + (row->target - (row->base + row_answer(p, row, p->sum))) * row->inverse;
  impulse = tbi_min(tbi_max(impulse, row->lower), row->upper);
  double change = impulse - row->impulse;
  if (change == 0) return 0;
  row->impulse = impulse;
  row_push(p, row, change, p->sum);
  return fabs(change * row->w);
}

double tbi_row_visit(tbi_problem *p, tbi_row *row) { return row_visit(p, row); }

void tbi_port_push(const tbi_problem *p, int32_t k, sv wrench, double *sum) {
  const tbi_port *port = &p->port[k];
  v3 lin = v4_to(wrench.lin);
  v3 ang = v4_to(wrench.ang);
  const double m[6] = {lin.x, lin.y, lin.z, ang.x, ang.y, ang.z};
  const double *y = p->y + port->y;
  const double *tail = p->y + port->tail;
  const int32_t *path = p->model->dof_path + p->model->dof_row[port->dof];
  int32_t ties = p->cluster_ties[port->cluster];
  double *tie = sum + tie_place(p, port->cluster);
  for (int32_t j = 0; j <= p->model->dof_depth[port->dof]; ++j) {
    double part = 0;
    for (int c = 0; c < 6; ++c)
      part += y[(int64_t)c * port->stride + j] * m[c];
    sum[path[j]] += part;
  }
  for (int c = 0; c < 6; ++c) {
    for (int32_t t = 0; t < ties; ++t)
      tie[t] += tail[(int64_t)c * ties + t] * m[c];
  }
}

void tbi_problem_sum(tbi_problem *p) {
  for (int32_t i = 0; i < p->nport; ++i) {
    tbi_port_push(p, i, sv_sub(p->received[i], p->summed[i]), p->sum);
    p->summed[i] = p->received[i];
  }
}

/* let the ports feel what rows have added to the sum since it was `before` */
static void tell_ports(tbi_problem *p) {
  for (int32_t k = 0; k < p->nsum; ++k)
    p->before[k] = p->sum[k] - p->before[k];
  for (int32_t i = 0; i < p->nport; ++i) {
    p->velocity[i] = sv_add(p->velocity[i], tbi_port_answer(p, i, p->before));
  }
}

double tbi_rows_sweep(tbi_problem *p) {
  if (p->nrow == 0) return 0;
  tbi_problem_sum(p);
  memcpy(p->before, p->sum, sizeof *p->sum * (size_t)p->nsum);
  double change = 0;
  for (int32_t i = 0; i < p->nrow; ++i)
    change = tbi_max(change, row_visit(p, &p->row[i]));
  if (change > 0) tell_ports(p);
  return change;
}

static void mark_touched(tbi_setup *s) {
  for (int32_t i = 0; i < s->model->nbody; ++i)
    s->body_port[i] = TABI_NONE;
  for (int32_t i = 0; i < s->ntouch; ++i) {
    int32_t a = s->shape_body[s->touch[i].shape_a];
    int32_t b = s->shape_body[s->touch[i].shape_b];
    if (a != TABI_WORLD) s->body_port[a] = TBI_MARKED;
    if (b != TABI_WORLD) s->body_port[b] = TBI_MARKED;
  }
}

static void solve_ties(tbi_setup *s) {
  tbi_problem *p = &s->problem;
  tbi_ties_solve(&s->ties, s->d, s->pivot_root, s->z, s->scratch);
  p->cluster_ties = s->ties.rank;
  p->nsum = s->model->nv + s->model->cluster_tie[s->model->ncluster];
}

static void begin_problem(tbi_setup *s) {
  s->problem.npoint = s->ntouch;
  s->problem.model = s->model;
  s->problem.y = s->y;
}

static void number_touched(tbi_setup *s) {
  mark_touched(s);
  number_ports(s);
}

static void fill_points(tbi_setup *s) {
  sort_touches(s);
  for (int32_t i = 0; i < s->problem.npoint; ++i)
    fill_point(s, s->order[i], &s->problem.point[i]);
}

void tbi_setup_points(tbi_setup *s) {
  begin_problem(s);
  s->problem.cluster_ties = s->ties.rank;
  number_touched(s);
  fill_points(s);
}

bool tbi_setup_problem(tbi_setup *s) {
  tbi_problem *p = &s->problem;
  begin_problem(s);
  solve_ties(s);
  number_touched(s);
  if (!place_blocks(s)) return false;
  fill_ports(s);
  fill_points(s);
  for (int32_t i = 0; i < p->npoint; ++i)
    fill_response(p, &p->point[i]);
  group_points(p);
  if (p->nrow > 0) fill_rows(s);
  return true;
}

void tbi_problem_start(tbi_problem *p) {
  memset(p->sum, 0, sizeof *p->sum * (size_t)p->nsum);
  for (int32_t k = 0; k < p->nport; ++k)
    p->received[k] = p->summed[k] = sv_zero();
  for (int32_t i = 0; i < p->npoint; ++i) {
    const tbi_point *c = &p->point[i];
    v4 impulse = m4_combine(&c->frame, c->impulse[0], c->impulse[1], c->impulse[2]);
    if (c->port_a != TABI_NONE) {
      p->received[c->port_a] = sv_sub(p->received[c->port_a], tbi_wrench(c->arm_a, impulse));
    }
    if (c->port_b != TABI_NONE) {
      p->received[c->port_b] = sv_add(p->received[c->port_b], tbi_wrench(c->arm_b, impulse));
    }
  }
  for (int32_t i = 0; i < p->nrow; ++i) {
    if (p->row[i].impulse != 0) tbi_row_push(p, &p->row[i], p->row[i].impulse, p->sum);
  }
  tbi_problem_sum(p);
  for (int32_t k = 0; k < p->nport; ++k)
    p->velocity[k] = sv_add(p->free[k], tbi_port_answer(p, k, p->sum));
}

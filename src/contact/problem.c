/* problem.c - sets up the contact problem of a step: ports, their responses, points and rows.
 *
 *   touches, limits ... --> which bodies and joints are touched --> ports, tree by tree
 *   path of a port      --> Y = D^-1/2 L^-T J',  velocity = J v + Y' z
 *   two ports of a tree --> G = Y_k' Y_l over the velocities that both paths share
 *   a touch             --> frame, arms, answers of its ports, 3x3 response, target velocity
 */
#include "contact/problem.h"

#include "base/assertion.h"
#include "contact/setup.h"
#include "contact/sweep.h"

#include <string.h>

static inline sv block_mul(const tbi_block *g, sv m) {
  sv u = sv_scale(v4_x(m.lin), g->column[0]);
  u = sv_axpy(u, v4_y(m.lin), g->column[1]);
  u = sv_axpy(u, v4_z(m.lin), g->column[2]);
  u = sv_axpy(u, v4_x(m.ang), g->column[3]);
  u = sv_axpy(u, v4_y(m.ang), g->column[4]);
  return sv_axpy(u, v4_z(m.ang), g->column[5]);
}

void tbi_problem_spread(tbi_problem *p, int32_t from, int32_t except, sv m) {
  int32_t tree = p->port[from].tree;
  int32_t first = p->tree_port[tree];
  for (int32_t k = first; k < first + p->tree_ports[tree]; ++k) {
    if (k == from || k == except) continue;
    p->velocity[k] = sv_add(p->velocity[k], block_mul(tbi_problem_block(p, k, from), m));
  }
}

static int32_t path_stride(const tabi_model *model, int32_t dof) {
  return (model->dof_depth[dof] + 4) / 4 * 4;
}

static int32_t last_dof(const tbi_body *body) { return body->v + body->nv - 1; }

static void add_port(tbi_setup *s, int32_t tree, int32_t body, int32_t dof) {
  tbi_problem *p = &s->problem;
  int32_t stride = path_stride(s->model, dof);
  p->port[p->nport] = (tbi_port){tree, body, dof, stride, s->used_y, 0};
  s->used_y += 6 * (int64_t)stride;
  s->body_port[body] = p->nport++;
  ++p->tree_ports[tree];
}

/* ports of what was marked; those of a tree stand together.  False: too many in one tree */
static bool number_ports(tbi_setup *s) {
  const tabi_model *model = s->model;
  tbi_problem *p = &s->problem;
  p->nport = 0;
  s->used_y = 0;
  int64_t blocks = 0;
  for (int32_t tree = 0; tree < model->ntree; ++tree) {
    int32_t end = tree + 1 < model->ntree ? model->tree_body[tree + 1] : model->nbody;
    p->tree_port[tree] = p->nport;
    p->tree_ports[tree] = 0;
    for (int32_t i = model->tree_body[tree]; i < end; ++i) {
      const tbi_body *body = &model->body[i];
      if (s->body_port[i] == TBI_MARKED) add_port(s, tree, i, last_dof(body));
    }
    int64_t n = p->tree_ports[tree];
    if (blocks + n * n > s->max_blocks) return false;
    for (int32_t k = 0; k < n; ++k) {
      p->port[p->tree_port[tree] + k].block = (int32_t)(blocks + k * n);
    }
    blocks += n * n;
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

/* to -= a * from over the first n numbers, and no further than a whole vector */
static inline void subtract(double *to, double a, const double *from, int32_t n) {
  for (int32_t j = 0; j < n; j += 4)
    v4_save(v4_axpy(v4_load(to + j), -a, v4_load(from + j)), to + j);
}

/* Y = D^-1/2 L^-T x for columns of x along the path of dof.  What has been finished is moved out of
 * the way, because the steps below work on whole vectors and spoil what lies behind. */
static void half_solve(const tbi_setup *s, int32_t dof, int32_t columns, double *x, double *y) {
  const tabi_model *model = s->model;
  int32_t stride = path_stride(model, dof);
  int32_t depth = model->dof_depth[dof];
  memset(y, 0, sizeof *y * (size_t)columns * (size_t)stride);
  for (int32_t k = dof; k >= 0; k = model->dof_parent[k], --depth) {
    const double *row = s->d->row + model->dof_row[k];
    double root = s->pivot_root[k];
    for (int32_t c = 0; c < columns; ++c) {
      double *column = x + (int64_t)c * stride;
      double value = column[depth];
      y[(int64_t)c * stride + depth] = value * root;
      subtract(column, value, row, depth);
    }
  }
}

static void fill_y(const tbi_setup *s, const tbi_port *port) {
  load_axes(s, port, s->scratch);
  half_solve(s, port->dof, 6, s->scratch, s->y + port->y);
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

/* what a sum of impulses, given for all velocities, does at a port: Y' x */
static sv port_answer(const tbi_problem *p, const tbi_port *port, const double *x) {
  const int32_t *path = p->model->dof_path + p->model->dof_row[port->dof];
  const double *y = p->y + port->y;
  int32_t n = p->model->dof_depth[port->dof] + 1;
  double u[6];
  for (int c = 0; c < 6; ++c)
    u[c] = tbi_path_dot(path, y + (int64_t)c * port->stride, n, x);
  return make_sv(u);
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
  for (int32_t j = 0; j < 6; ++j) {
    for (int32_t i = k == l ? j : 0; i < 6; ++i) {
      double value =
          dot_path(yk + (int64_t)i * port_k->stride, yl + (int64_t)j * port_l->stride, n);
      g[j][i] = t[i][j] = value;
      if (k == l) g[i][j] = value;
    }
  }
  tbi_block *kl = &p->block[port_k->block + (l - p->tree_port[port_k->tree])];
  tbi_block *lk = &p->block[port_l->block + (k - p->tree_port[port_l->tree])];
  for (int j = 0; j < 6; ++j) {
    kl->column[j] = make_sv(g[j]);
    if (k != l) lk->column[j] = make_sv(t[j]);
  }
}

static void fill_ports(tbi_setup *s) {
  tbi_problem *p = &s->problem;
  for (int32_t k = 0; k < p->nport; ++k) {
    fill_y(s, &p->port[k]);
    p->velocity[k] = sv_add(s->d->body[p->port[k].body].vel, port_answer(p, &p->port[k], s->z));
    p->received[k] = sv_zero();
    p->summed[k] = sv_zero();
    for (int32_t l = p->tree_port[p->port[k].tree]; l <= k; ++l)
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
                 p->port[c->port_a].tree == p->port[c->port_b].tree;
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

/* two tangents, the same for the same normal: from the world axis least along it */
static m4 contact_frame(v3 n) {
  v3 away = fabs(n.x) < 0.6 ? v3_make(1, 0, 0) : v3_make(0, 1, 0);
  v3 t = v3_sub(away, v3_scale(v3_dot(away, n), n));
  t = v3_scale(1 / v3_norm(t), t);
  return (m4){v4_from(n), v4_from(t), v4_from(v3_cross(n, t))};
}

/* For the shortcut of cone.c.  With fewer than three freedoms an inverse would be noise: then one
 * that never passes for sticking, so that coulomb.c is asked. */
static s3 stick_inverse(s3 w) {
  double trace = w.xx + w.yy + w.zz;
  double volume = w.xx * (w.yy * w.zz - w.yz * w.yz) - w.xy * (w.xy * w.zz - w.yz * w.xz) +
                  w.xz * (w.xy * w.yz - w.yy * w.xz);
  return volume > 1e-9 * trace * trace * trace ? s3_inverse(w) : (s3){-1, 0, 0, 0, 0, 0};
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
  c->frame = contact_frame(touch->normal);
  c->angle = 0;
  for (int i = 0; i < 3; ++i)
    c->impulse[i] = 0;
  fill_response(&s->problem, c);
  v3 before =
      tbi_point_velocity(c, body_velocity(s, touch->shape_a), body_velocity(s, touch->shape_b));
  c->slip[0] = before.y;
  c->slip[1] = before.z;
  s->approach[index] = before.x;
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

/* the same for the one column of a row */
static inline double along_path(const tabi_model *model, int32_t dof, const double *y,
                                const double *x) {
  const int32_t *path = model->dof_path + model->dof_row[dof];
  return tbi_path_dot(path, y, model->dof_depth[dof] + 1, x);
}

/* Y of one joint: D^-1/2 L^-T of a unit vector, whose first step is the joint's own row of L */
static void fill_row_y(tbi_setup *s, int32_t dof, int64_t *at) {
  const tabi_model *model = s->model;
  const int32_t *path = model->dof_path + model->dof_row[dof];
  const double *own = s->d->row + model->dof_row[dof];
  int32_t depth = model->dof_depth[dof];
  double *x = s->scratch;
  double *y = s->y + s->used_y;
  for (int32_t j = 0; j < depth; j += 4)
    v4_save(v4_scale(-1, v4_load(own + j)), x + j);
  y[depth] = s->pivot_root[dof];
  for (int32_t j = depth - 1; j >= 0; --j) {
    double value = x[j];
    y[j] = value * s->pivot_root[path[j]];
    subtract(x, value, s->d->row + model->dof_row[path[j]], j);
  }
  *at = s->used_y;
  s->used_y += path_stride(model, dof);
}

static void fill_row(tbi_setup *s, tbi_row *row) {
  const tabi_model *model = s->model;
  fill_row_y(s, row->dof, &row->y);
  const double *y = s->y + row->y;
  int32_t n = model->dof_depth[row->dof] + 1;
  row->w = dot_path(y, y, n);
  row->base = s->problem.before[row->dof];
  if (row->leader == TABI_NONE) return;
  fill_row_y(s, row->leader, &row->leader_y);
  const double *by = s->y + row->leader_y;
  int32_t shared = shared_path(model, row->dof, row->leader);
  row->w += row->slope * row->slope * dot_path(by, by, model->dof_depth[row->leader] + 1);
  row->w -= 2 * row->slope * dot_path(y, by, shared);
  row->base -= row->slope * s->problem.before[row->leader];
}

static void fill_rows(tbi_setup *s) {
  tbi_problem *p = &s->problem;
  /* velocities without constraints, all at once: v + L^-1 D^-1/2 z */
  for (int32_t k = 0; k < s->model->nv; ++k)
    p->before[k] = s->pivot_root[k] * s->z[k];
  tbi_ltdl_solve_lower(s->d, p->before);
  for (int32_t k = 0; k < s->model->nv; ++k)
    p->before[k] += s->d->v[k];
  for (int32_t i = 0; i < p->nrow; ++i) {
    fill_row(s, &p->row[i]);
    p->row[i].inverse = 1 / p->row[i].w;
  }
}

static inline double row_velocity(const tbi_problem *p, const tbi_row *row) {
  double u = row->base + along_path(p->model, row->dof, p->y + row->y, p->sum);
  if (row->leader == TABI_NONE) return u;
  return u - row->slope * along_path(p->model, row->leader, p->y + row->leader_y, p->sum);
}

double tbi_row_velocity(const tbi_problem *p, const tbi_row *row) { return row_velocity(p, row); }

/* an impulse at a joint, into the sum */
static void push_joint(tbi_problem *p, int32_t dof, const double *y, double impulse) {
  const int32_t *path = p->model->dof_path + p->model->dof_row[dof];
  for (int32_t j = 0; j <= p->model->dof_depth[dof]; ++j) {
    p->sum[path[j]] += impulse * y[j];
  }
}

static void push_row(tbi_problem *p, const tbi_row *row, double impulse) {
  push_joint(p, row->dof, p->y + row->y, impulse);
  if (row->leader == TABI_NONE) return;
  push_joint(p, row->leader, p->y + row->leader_y, -row->slope * impulse);
}

static double visit_row(tbi_problem *p, tbi_row *row) {
  double impulse = row->impulse + (row->target - row_velocity(p, row)) * row->inverse;
  impulse = tbi_min(tbi_max(impulse, row->lower), row->upper);
  double change = impulse - row->impulse;
  if (change == 0) return 0;
  row->impulse = impulse;
  push_row(p, row, change);
  return fabs(change * row->w);
}

void tbi_problem_sum(tbi_problem *p) {
  for (int32_t i = 0; i < p->nport; ++i) {
    const tbi_port *port = &p->port[i];
    sv news = sv_sub(p->received[i], p->summed[i]);
    v3 lin = v4_to(news.lin);
    v3 ang = v4_to(news.ang);
    const double m[6] = {lin.x, lin.y, lin.z, ang.x, ang.y, ang.z};
    const double *y = p->y + port->y;
    const int32_t *path = p->model->dof_path + p->model->dof_row[port->dof];
    for (int32_t j = 0; j <= p->model->dof_depth[port->dof]; ++j) {
      double part = 0;
      for (int c = 0; c < 6; ++c)
        part += y[(int64_t)c * port->stride + j] * m[c];
      p->sum[path[j]] += part;
    }
    p->summed[i] = p->received[i];
  }
}

/* let the ports feel what rows have added to the sum since it was `before` */
static void tell_ports(tbi_problem *p) {
  for (int32_t k = 0; k < p->model->nv; ++k)
    p->before[k] = p->sum[k] - p->before[k];
  for (int32_t i = 0; i < p->nport; ++i) {
    p->velocity[i] = sv_add(p->velocity[i], port_answer(p, &p->port[i], p->before));
  }
}

double tbi_rows_sweep(tbi_problem *p) {
  if (p->nrow == 0) return 0;
  tbi_problem_sum(p);
  memcpy(p->before, p->sum, sizeof *p->sum * (size_t)p->model->nv);
  double change = 0;
  for (int32_t i = 0; i < p->nrow; ++i)
    change = tbi_max(change, visit_row(p, &p->row[i]));
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

bool tbi_setup_problem(tbi_setup *s) {
  tbi_problem *p = &s->problem;
  p->npoint = s->ntouch;
  p->ntree = s->model->ntree;
  p->model = s->model;
  p->y = s->y;
  mark_touched(s);
  if (!number_ports(s)) return false;
  fill_ports(s);
  sort_touches(s);
  for (int32_t i = 0; i < p->npoint; ++i)
    fill_point(s, s->order[i], &p->point[i]);
  group_points(p);
  if (p->nrow > 0) fill_rows(s);
  memset(p->sum, 0, sizeof *p->sum * (size_t)s->model->nv);
  return true;
}

/* the impulses that points and rows start from, made known to all */
void tbi_problem_start(tbi_problem *p) {
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
    if (p->row[i].impulse != 0) push_row(p, &p->row[i], p->row[i].impulse);
  }
  tbi_problem_sum(p);
  for (int32_t k = 0; k < p->nport; ++k) {
    p->velocity[k] = sv_add(p->velocity[k], port_answer(p, &p->port[k], p->sum));
  }
}

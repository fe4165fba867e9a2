/* ports.c - the ports of bodies in contact, and the responses between them.
 *
 *   bodies in contact   --> ports, tree by tree
 *   path of a port      --> Y = D^-1/2 L^-T J',  velocity = J v + Y' z
 *   two ports of a tree --> G = Y_k' Y_l over the velocities that both paths share
 */
#include "problem/ports.h"

#include "base/assertion.h"
#include "problem/half_solve.h"

#include <string.h>

void tbi_problem_spread(tbi_problem *p, int32_t from, int32_t except, sv m) {
  TBI_ASSERT(from >= 0 && from < p->nport);
  int32_t cluster = p->port[from].cluster;
  int32_t first = p->cluster_port[cluster];
  for (int32_t k = first; k < first + p->cluster_ports[cluster]; ++k) {
    if (k == from || k == except) continue;
    p->velocity[k] = sv_add(p->velocity[k], tbi_problem_response(p, k, from, m));
  }
}

/* -- numbering */

static void mark_touched(tbi_setup *s) {
  for (int32_t i = 0; i < s->model->nbody; ++i)
    s->body_port[i] = TABI_NONE;
  for (int32_t i = 0; i < s->ncandidate; ++i) {
    int32_t a = s->shape_body[s->candidate[i].shape_a];
    int32_t b = s->shape_body[s->candidate[i].shape_b];
    if (a != TABI_WORLD) s->body_port[a] = TBI_MARKED;
    if (b != TABI_WORLD) s->body_port[b] = TBI_MARKED;
  }
}

static void add_port(tbi_setup *s, int32_t tree, int32_t body) {
  TBI_ASSERT(s->body_port[body] == TBI_MARKED);
  tbi_problem *p = &s->problem;
  int32_t dof = tbi_last_dof(&s->model->body[body]);
  int32_t cluster = s->model->tree_cluster[tree];
  int32_t length = s->model->dof_depth[dof] + 1;
  int64_t tail = s->used_ports + length;
  p->port[p->nport] = (tbi_port){.tree = tree,
                                 .cluster = cluster,
                                 .body = body,
                                 .dof = dof,
                                 .length = length,
                                 .y = s->used_ports,
                                 .tail = tail};
  s->used_ports = tail + p->cluster_loops[cluster];
  s->body_port[body] = p->nport++;
  ++p->cluster_ports[cluster];
}

void tbi_ports_number(tbi_setup *s) {
  const tabi_model *model = s->model;
  tbi_problem *p = &s->problem;
  mark_touched(s);
  p->nport = 0;
  s->used_ports = 0;
  for (int32_t c = 0; c < p->model->ncluster; ++c)
    p->cluster_ports[c] = 0;
  for (int32_t i = 0; i < model->nbody; ++i) {
    int32_t body = model->body_named[i];
    if (s->body_port[body] == TBI_MARKED) add_port(s, model->body[body].tree, body);
  }
}

bool tbi_ports_place_blocks(tbi_setup *s) {
  tbi_problem *p = &s->problem;
  int64_t blocks = 0;
  int32_t first = 0;
  for (int32_t c = 0; c < p->model->ncluster; ++c) {
    int32_t n = p->cluster_ports[c];
    if (blocks + tbi_block_count(n) > s->max_blocks) return false;
    p->cluster_port[c] = first;
    for (int32_t k = 0; k < n; ++k)
      p->port[first + k].block = (int32_t)(blocks + tbi_block_count(k));
    first += n;
    blocks += tbi_block_count(n);
  }
  return true;
}

/* -- responses */

/* T = Q' Y */
static void fill_tail(const tbi_setup *s, const tbi_port *port) {
  const tabi_model *model = s->model;
  const int32_t *path = model->dof_path + model->dof_row[port->dof];
  const sv *y = s->port_y + port->y;
  for (int32_t t = 0; t < s->problem.cluster_loops[port->cluster]; ++t) {
    const double *q = tbi_loops_basis(&s->loops, port->cluster, t);
    sv sum = sv_zero();
    for (int32_t j = 0; j < port->length; ++j)
      sum = sv_axpy(sum, q[model->dof_local[path[j]]], y[j]);
    s->port_y[port->tail + t] = sum;
  }
}

static void fill_y(const tbi_setup *s, tbi_port *port) {
  sv *y = s->port_y + port->y;
  tbi_half_solve_twists(s->d, s->pivot_root, port->dof, y);
  sv square = sv_zero();
  for (int32_t j = 0; j < port->length; ++j)
    square = (sv){v4_add(square.lin, v4_mul(y[j].lin, y[j].lin)),
                  v4_add(square.ang, v4_mul(y[j].ang, y[j].ang))};
  port->loose_lin = v4_sum(square.lin);
  port->loose_ang = v4_sum(square.ang);
  fill_tail(s, port);
}

/* what impulses, given for all velocities, do at a port: Y' x */
static sv along_port(const tbi_problem *p, const tbi_port *port, const double *x) {
  const int32_t *path = p->model->dof_path + p->model->dof_row[port->dof];
  const sv *y = p->port_y + port->y;
  sv u = sv_zero();
  for (int32_t j = 0; j < port->length; ++j)
    u = sv_axpy(u, x[path[j]], y[j]);
  return u;
}

/* the same for a sum, under loop constraints */
sv tbi_port_response(const tbi_problem *p, int32_t k, const double *sum) {
  TBI_ASSERT(k >= 0 && k < p->nport);
  const tbi_port *port = &p->port[k];
  sv u = along_port(p, port, sum);
  const double *loop = sum + tbi_loop_offset(p, port->cluster);
  for (int32_t t = 0; t < p->cluster_loops[port->cluster]; ++t)
    u = sv_axpy(u, -loop[t], p->port_y[port->tail + t]);
  return u;
}

void tbi_port_push(const tbi_problem *p, int32_t k, sv wrench, double *sum) {
  TBI_ASSERT(k >= 0 && k < p->nport);
  const tbi_port *port = &p->port[k];
  const sv *y = p->port_y + port->y;
  const sv *tail = p->port_y + port->tail;
  const int32_t *path = p->model->dof_path + p->model->dof_row[port->dof];
  double *loop = sum + tbi_loop_offset(p, port->cluster);
  for (int32_t j = 0; j < port->length; ++j)
    sum[path[j]] += sv_dot(y[j], wrench);
  for (int32_t t = 0; t < p->cluster_loops[port->cluster]; ++t)
    loop[t] += sv_dot(tail[t], wrench);
}

int32_t tbi_paths_shared(const tabi_model *model, int32_t a, int32_t b) {
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

/* block += share * the sum of a_i b_i' */
static inline void add_products(tbi_block *g, double share, const sv *a, const sv *b, int32_t n) {
  for (int32_t i = 0; i < n; ++i) {
    sv left = sv_scale(share, a[i]);
    g->column[0] = sv_axpy(g->column[0], v4_x(b[i].lin), left);
    g->column[1] = sv_axpy(g->column[1], v4_y(b[i].lin), left);
    g->column[2] = sv_axpy(g->column[2], v4_z(b[i].lin), left);
    g->column[3] = sv_axpy(g->column[3], v4_x(b[i].ang), left);
    g->column[4] = sv_axpy(g->column[4], v4_y(b[i].ang), left);
    g->column[5] = sv_axpy(g->column[5], v4_z(b[i].ang), left);
  }
}

static void load_block(const tbi_block *g, double a[6][6]) {
  for (int j = 0; j < 6; ++j) {
    v3_store(v4_to(g->column[j].lin), a[j]);
    v3_store(v4_to(g->column[j].ang), a[j] + 3);
  }
}

/* 1e-12 of the diagonal: where loop constraints leave nothing of a response, it keeps divisors
 * above zero. */
static tbi_block trace_of(const tbi_block *g) {
  double a[6][6];
  load_block(g, a);
  return (tbi_block){
      .column = {{v4_make(1e-12 * a[0][0], 0, 0), v4_zero()},
                 {v4_make(0, 1e-12 * a[1][1], 0), v4_zero()},
                 {v4_make(0, 0, 1e-12 * a[2][2]), v4_zero()},
                 {v4_zero(), v4_make(1e-12 * a[3][3], 0, 0)},
                 {v4_zero(), v4_make(0, 1e-12 * a[4][4], 0)},
                 {v4_zero(), v4_make(0, 0, 1e-12 * a[5][5])}}
  };
}

/* what loop constraints take from a response */
static void subtract_loops(const tbi_problem *p, const tbi_port *k, const tbi_port *l,
                           tbi_block *g) {
  int32_t loops = p->cluster_loops[k->cluster];
  if (loops == 0) return;
  tbi_block trace = trace_of(g);
  add_products(g, -1, p->port_y + k->tail, p->port_y + l->tail, loops);
  if (k != l) return;
  for (int j = 0; j < 6; ++j)
    g->column[j] = sv_add(g->column[j], trace.column[j]);
}

/* G_kl, for l <= k */
static void fill_block(const tbi_setup *s, int32_t k, int32_t l) {
  TBI_ASSERT(l <= k && s->problem.port[k].cluster == s->problem.port[l].cluster);
  const tbi_problem *p = &s->problem;
  const tbi_port *port_k = &p->port[k];
  const tbi_port *port_l = &p->port[l];
  int32_t n = tbi_paths_shared(s->model, port_k->dof, port_l->dof);
  tbi_block g;
  for (int j = 0; j < 6; ++j)
    g.column[j] = sv_zero();
  add_products(&g, 1, s->port_y + port_k->y, s->port_y + port_l->y, n);
  subtract_loops(p, port_k, port_l, &g);
  *tbi_problem_block(p, k, l) = g;
}

static bool is_zero(v4 a) { return v4_all_le(v4_abs(a), v4_zero()); }

static bool is_decoupled(const tbi_block *g) {
  bool zero = true;
  for (int i = 0; i < 3; ++i)
    zero = zero && is_zero(g->column[i].ang) && is_zero(g->column[3 + i].lin);
  return zero;
}

void tbi_ports_fill(tbi_setup *s) {
  tbi_problem *p = &s->problem;
  for (int32_t k = 0; k < p->nport; ++k) {
    tbi_port *port = &p->port[k];
    fill_y(s, port);
    p->free[k] = sv_add(s->d->body[port->body].vel, along_port(p, port, s->z));
    p->velocity[k] = p->free[k];
    for (int32_t l = p->cluster_port[port->cluster]; l <= k; ++l)
      fill_block(s, k, l);
    port->decoupled = is_decoupled(tbi_problem_block(p, k, k));
  }
}

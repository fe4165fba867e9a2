/* factored_newton.c - dr + D W dr = g in the coordinates of the clusters.
 *
 * With v = sum of Y_i' dr_i, W = Y S Y':
 *
 *   (1 + sum of Y_i' D_i Y_i S) v = sum of Y_i' g_i,     dr_i = g_i - D_i Y_i S v
 *
 * A point has Y_i = C' Y with Y (6 columns along the path) of its port and C (6x3) the wrenches of
 * its three impulses.  So the points of a group are first summed up to 6x6, C D C', and only the
 * sums are spread along the paths.  Couples add their part, a eliminated (couple_step).  One node
 * of the block matrix is one cluster: velocities, leaves first, then loops.  In that order the
 * elimination of a tree fills nothing in. */
#include "contact/factored_newton.h"

#include "base/assertion.h"
#include "problem/loops.h"

#include <string.h>

/* D times mobility above which the solution is refined once, against rounding */
#define STIFF 1e5

/* the coordinates of its cluster on which one port or row acts */
typedef struct limb {
  int32_t n;          /* how many */
  int32_t *position;  /* of each in the node: [n] */
  double *y;          /* Y, then T, column by column: six columns of a port, one of a row */
  int32_t velocities; /* the first of the n; the others are loop constraints */
  int32_t node;       /* index of the cluster in its island */
} limb;

/* Y and T of a port (twists) or of a row (numbers) */
typedef struct element {
  int32_t cluster, dof;
  const sv *twist, *twist_tail;
  const double *y, *tail;
} element;

static element port_element(const tbi_problem *p, int32_t k) {
  const tbi_port *port = &p->port[k];
  return (element){.cluster = port->cluster,
                   .dof = port->dof,
                   .twist = p->port_y + port->y,
                   .twist_tail = p->port_y + port->tail};
}

static element row_element(const tbi_problem *p, const tbi_row *row) {
  return (element){
      .cluster = row->cluster, .dof = row->dof, .y = p->y + row->y, .tail = p->y + row->tail};
}

static int32_t node_size(const tbi_problem *p, int32_t cluster) {
  return tbi_cluster_dofs(p->model, cluster) + p->cluster_loops[cluster];
}

/* numbers from..from + count of six columns */
static void load_twists(const limb *l, int32_t from, int32_t count, const sv *twist) {
  for (int32_t j = 0; j < count; ++j) {
    double m[6];
    v3_store(v4_to(twist[j].lin), m);
    v3_store(v4_to(twist[j].ang), m + 3);
    for (int c = 0; c < 6; ++c)
      l->y[(int64_t)c * l->n + from + j] = m[c];
  }
}

static limb load_limb(const tbi_factored *f, element e, int which) {
  const tabi_model *model = f->p->model;
  const int32_t *path = model->dof_path + model->dof_row[e.dof];
  int32_t dofs = tbi_cluster_dofs(model, e.cluster);
  int32_t loops = f->p->cluster_loops[e.cluster];
  TBI_ASSERT(dofs > 0 && loops <= f->longest);
  limb l = {.velocities = model->dof_depth[e.dof] + 1, .node = f->node[e.cluster]};
  l.n = l.velocities + loops;
  l.position = f->position + which * f->longest;
  l.y = f->limb + 6 * f->longest * which;
  for (int32_t j = 0; j < l.velocities; ++j)
    l.position[j] = dofs - 1 - model->dof_local[path[j]];
  for (int32_t t = 0; t < loops; ++t)
    l.position[l.velocities + t] = dofs + t;
  if (e.twist) {
    load_twists(&l, 0, l.velocities, e.twist);
    load_twists(&l, l.velocities, loops, e.twist_tail);
  } else {
    TBI_ASSERT(e.y && e.tail);
    memcpy(l.y, e.y, sizeof *l.y * (size_t)l.velocities);
    memcpy(l.y + l.velocities, e.tail, sizeof *l.y * (size_t)loops);
  }
  return l;
}

/* to[j] = the sum of m[e] times column e of six, each of n numbers */
static inline void combine_six(double *restrict to, const double *restrict column, const double *m,
                               int32_t n) {
  const double *c1 = column + n;
  const double *c2 = c1 + n;
  const double *c3 = c2 + n;
  const double *c4 = c3 + n;
  const double *c5 = c4 + n;
  for (int32_t j = 0; j < n; ++j)
    to[j] = ((((m[0] * column[j] + m[1] * c1[j]) + m[2] * c2[j]) + m[3] * c3[j]) + m[4] * c4[j]) +
            m[5] * c5[j];
}

/* where the product of two limbs goes */
typedef struct product {
  double *block, *right, *row; /* block (k, l), and scratch: six columns and one */
  int32_t width;               /* of the block */
} product;

static product product_of(const tbi_factored *f, tbi_blocklu *lu, const limb *k, const limb *l) {
  double *right = f->limb + 12 * f->longest;
  product to = {tbi_blocklu_block(lu, k->node, l->node), right, right + 6 * f->longest,
                f->size[l->node]};
  TBI_ASSERT(to.block);
  return to;
}

static inline void add_row(const product *to, const limb *k, const limb *l, int32_t i,
                           const double *row) {
  double *line = to->block + (ptrdiff_t)k->position[i] * to->width;
  for (int32_t j = 0; j < l->n; ++j)
    line[l->position[j]] += row[j];
}

/* block (k, l) += Y_k m Y_l' S, with m of 6 x 6 */
static void add_product_of_ports(const product *to, const limb *k, const limb *l, const double *m) {
  for (int c = 0; c < 6; ++c) {
    double *right = to->right + (ptrdiff_t)c * l->n; /* m Y_l' S */
    combine_six(right, l->y, m + (ptrdiff_t)6 * c, l->n);
    for (int32_t j = l->velocities; j < l->n; ++j)
      right[j] = -right[j];
  }
  for (int32_t i = 0; i < k->n; ++i) {
    double y[6];
    for (int c = 0; c < 6; ++c)
      y[c] = k->y[(ptrdiff_t)c * k->n + i];
    combine_six(to->row, to->right, y, l->n);
    add_row(to, k, l, i, to->row);
  }
}

/* the same with one number m */
static void add_product_of_rows(const product *to, const limb *k, const limb *l, double m) {
  for (int32_t j = 0; j < l->n; ++j)
    to->right[j] = j < l->velocities ? m * l->y[j] : -(m * l->y[j]);
  for (int32_t i = 0; i < k->n; ++i) {
    for (int32_t j = 0; j < l->n; ++j)
      to->row[j] = k->y[i] * to->right[j];
    add_row(to, k, l, i, to->row);
  }
}

/* the same between two free bodies: all sizes are 6 */
static void add_product_of_bodies(tbi_blocklu *lu, const limb *k, const limb *l, const double *m) {
  double right[36];
  double *block = tbi_blocklu_block(lu, k->node, l->node);
  TBI_ASSERT(block);
  for (int c = 0; c < 6; ++c) {
    double row[6] = {0};
    for (int e = 0; e < 6; ++e) {
      for (int j = 0; j < 6; ++j)
        row[j] += m[6 * c + e] * l->y[6 * e + j];
    }
    memcpy(right + (ptrdiff_t)6 * c, row, sizeof row);
  }
  for (int i = 0; i < 6; ++i) {
    double row[6] = {0};
    for (int c = 0; c < 6; ++c) {
      for (int j = 0; j < 6; ++j)
        row[j] += k->y[6 * c + i] * right[6 * c + j];
    }
    double *to = block + (ptrdiff_t)6 * k->position[i];
    for (int j = 0; j < 6; ++j)
      to[l->position[j]] += row[j];
  }
}

static void add_product(const tbi_factored *f, tbi_blocklu *lu, const limb *k, const limb *l,
                        const double *m, int32_t inner) {
  bool bodies = f->size[k->node] == 6 && f->size[l->node] == 6 && k->velocities == 6 &&
                l->velocities == 6 && inner == 6;
  if (bodies) {
    add_product_of_bodies(lu, k, l, m);
    return;
  }
  product to = product_of(f, lu, k, l);
  if (inner == 6) {
    add_product_of_ports(&to, k, l, m);
  } else {
    add_product_of_rows(&to, k, l, m[0]);
  }
}

/* 6x6, row by row */
typedef struct stiffness {
  double m[36];
} stiffness;

/* F D F': from the frame of a point to world axes */
static m3 turned(const tbi_point *c, const double *d) {
  m3 frame = m4_to(&c->frame);
  m3 own = {
      {{d[0], d[1], d[2]}, {d[3], d[4], d[5]}, {d[6], d[7], d[8]}}
  };
  m3 half = m3_mul(&frame, &own);
  m3 back = m3_transpose(&frame);
  return m3_mul(&half, &back);
}

/* += C D C' for wrenches about an origin, e being D in world axes */
static void add_stiffness(stiffness *k, const m3 *e, v3 arm) {
  double m[6][6];
  for (int i = 0; i < 3; ++i) {
    v3 row = m3_row(e, i);
    v3_store(row, m[i]);
    v3_store(v3_cross(arm, row), m[i] + 3);
  }
  for (int j = 0; j < 6; ++j) {
    v3 low = v3_cross(arm, v3_make(m[0][j], m[1][j], m[2][j]));
    m[3][j] = low.x;
    m[4][j] = low.y;
    m[5][j] = low.z;
  }
  for (int i = 0; i < 36; ++i)
    k->m[i] += m[i / 6][i % 6];
}

/* the wrenches on the left or on the right, or both, about another origin, from which the first one
 * is seen at d */
static stiffness shift_left(const stiffness *k, v3 d) {
  stiffness s = *k;
  for (int j = 0; j < 6; ++j) {
    v3 more = v3_cross(d, v3_make(k->m[j], k->m[6 + j], k->m[12 + j]));
    s.m[18 + j] += more.x;
    s.m[24 + j] += more.y;
    s.m[30 + j] += more.z;
  }
  return s;
}

static stiffness shift_right(const stiffness *k, v3 d) {
  stiffness s = *k;
  for (int i = 0; i < 6; ++i) {
    double *row = s.m + (ptrdiff_t)6 * i;
    v3 more = v3_cross(d, v3_load(row));
    row[3] += more.x;
    row[4] += more.y;
    row[5] += more.z;
  }
  return s;
}

static stiffness negative(const stiffness *k) {
  stiffness s;
  for (int i = 0; i < 36; ++i)
    s.m[i] = -k->m[i];
  return s;
}

static bool is_zero(const double *d) {
  for (int i = 0; i < 9; ++i) {
    if (d[i] != 0) return false;
  }
  return true;
}

/* adds what is between the two ports of a point, summed about the origin of a */
static void spread_between(const tbi_factored *f, tbi_blocklu *lu, const tbi_point *c,
                           const stiffness *sum) {
  const tbi_problem *p = f->p;
  v3 from_b = v4_to(v4_sub(c->arm_b, c->arm_a));
  limb a = load_limb(f, port_element(p, c->port_a), 0);
  limb b = load_limb(f, port_element(p, c->port_b), 1);
  stiffness less = negative(sum);
  stiffness ab = shift_right(&less, from_b);
  stiffness ba = shift_left(&less, from_b);
  stiffness half = shift_left(sum, from_b);
  stiffness bb = shift_right(&half, from_b);
  add_product(f, lu, &a, &a, sum->m, 6);
  add_product(f, lu, &b, &b, bb.m, 6);
  add_product(f, lu, &a, &b, ab.m, 6);
  add_product(f, lu, &b, &a, ba.m, 6);
}

/* the side whose origin stiffnesses are summed about */
static v3 arm_of(const tbi_point *c) { return v4_to(c->port_a != TABI_NONE ? c->arm_a : c->arm_b); }

/* adds a sum of stiffnesses at a point, or at others with the same ports, which all see the two
 * origins equally far apart */
static void spread(const tbi_factored *f, tbi_blocklu *lu, const tbi_point *c,
                   const stiffness *sum) {
  if (c->port_a != TABI_NONE && c->port_b != TABI_NONE) {
    spread_between(f, lu, c, sum);
    return;
  }
  int32_t port = c->port_a != TABI_NONE ? c->port_a : c->port_b;
  limb own = load_limb(f, port_element(f->p, port), 0);
  add_product(f, lu, &own, &own, sum->m, 6);
}

/* the points of one group; returns the first law behind it */
static const tbi_law_block *add_group(const tbi_factored *f, tbi_blocklu *lu,
                                      const tbi_group *group, const tbi_law_block *d) {
  const tbi_problem *p = f->p;
  stiffness sum = {0};
  bool idle = true;
  for (int32_t i = group->first; i < group->first + group->count; ++i, ++d) {
    const tbi_point *c = &p->point[i];
    if (is_zero(d->m)) continue;
    idle = false;
    m3 e = turned(c, d->m);
    add_stiffness(&sum, &e, arm_of(c));
  }
  if (!idle) spread(f, lu, &p->point[group->first], &sum);
  return d;
}

/* A couple in a Newton step.  Its rows of  dr + D u = g  with u_a = w (da - share dp_n)  leave
 *     u_a = kappa (g_a - D_al u_l - share dp_n),   kappa = w / (1 + w D_aa),
 * and dp_n = g_n - D_n u of its point; so dl follows from the velocities alone. */
typedef struct couple_step {
  const tbi_couple *c;
  const double *d, *point_d; /* D of the couple and of its point */
  int32_t at, normal;        /* unknowns: its first, and the normal of its point */
  double share, kappa;
} couple_step;

static couple_step couple_step_of(const tbi_island *island, const tbi_law_block *d, int32_t k) {
  int32_t i = island->npoint + island->nrow + k;
  const tbi_law *law = &island->w.law[i];
  const tbi_couple *c = tbi_island_couple(island, i);
  int32_t normal = island->couple_normal[k];
  return (couple_step){
      .c = c,
      .d = d[i].m,
      .point_d = d[normal / 3].m,
      .at = law->at,
      .normal = normal,
      .share = tbi_couple_share(c),
      .kappa = law->mobility / (1 + law->mobility * d[i].m[0]),
  };
}

/* += a moment along `moment` for a unit of lin . velocity + ang . turning */
static void add_moment(stiffness *k, v4 moment, v4 lin, v4 ang) {
  double left[3];
  double right[6];
  v3_store(v4_to(moment), left);
  v3_store(v4_to(lin), right);
  v3_store(v4_to(ang), right + 3);
  for (int i = 0; i < 3; ++i) {
    for (int j = 0; j < 6; ++j)
      k->m[6 * (i + 3) + j] += left[i] * right[j];
  }
}

static void add_couple(const tbi_island *island, const couple_step *s) {
  const tbi_couple *c = s->c;
  const tbi_point *at = &island->all->p->point[c->point];
  stiffness sum = {0};
  for (int j = 0; j < 2; ++j) {
    const double *row = s->d + (ptrdiff_t)3 * (j + 1);
    v4 moment = v4_scale(c->lever, c->axis[j]);
    v4 turning = v4_zero();
    for (int k = 0; k < 2; ++k) {
      double own = row[k + 1] - s->kappa * row[0] * s->d[k + 1];
      turning = v4_add(turning, v4_scale(c->lever * own, c->axis[k]));
    }
    add_moment(&sum, moment, v4_zero(), turning);
    v4 normal = m4_combine(&at->frame, s->point_d[0], s->point_d[1], s->point_d[2]);
    v4 by_normal = v4_scale(s->kappa * s->share * row[0], normal);
    add_moment(&sum, moment, by_normal, v4_cross(v4_from(arm_of(at)), by_normal));
  }
  spread(island->all, island->lu, at, &sum);
}

static void assemble(const tbi_island *island, const tbi_law_block *d) {
  const tbi_factored *f = island->all;
  const tbi_law_block *law = d;
  tbi_blocklu_clear(island->lu);
  for (int32_t c = 0; c < island->ncluster; ++c) {
    double *block = tbi_blocklu_block(island->lu, c, c);
    for (int32_t i = 0; i < f->size[c]; ++i)
      block[(int64_t)i * f->size[c] + i] = 1;
  }
  for (int32_t g = 0; g < island->ngroup; ++g)
    law = add_group(f, island->lu, &f->p->group[island->group[g]], law);
  for (int32_t i = 0; i < island->nrow; ++i, ++law) {
    if (law->m[0] == 0) continue;
    limb l = load_limb(f, row_element(f->p, &f->p->row[island->row[i]]), 0);
    add_product(f, island->lu, &l, &l, law->m, 1);
  }
  for (int32_t k = 0; k < island->ncouple; ++k) {
    couple_step s = couple_step_of(island, d, k);
    if (!is_zero(s.d)) add_couple(island, &s);
  }
}

/* the arena has the elimination order and the factor of one island at a time */
static bool begin(tbi_island *island) {
  tbi_factored *f = island->all;
  const tbi_problem *p = f->p;
  if (f->in_arena == island) return island->lu != NULL;
  f->in_arena = island;
  for (int32_t c = 0; c < island->ncluster; ++c)
    f->size[c] = node_size(p, island->cluster[c]);
  int64_t npair = 0;
  for (int32_t g = 0; g < island->ngroup; ++g) {
    const tbi_group *group = &p->group[island->group[g]];
    if (group->port_a == TABI_NONE || group->port_b == TABI_NONE) continue;
    f->pair[npair][0] = f->node[p->port[group->port_a].cluster];
    f->pair[npair++][1] = f->node[p->port[group->port_b].cluster];
  }
  island->lu = tbi_blocklu_begin(f->arena, f->arena_size, island->ncluster, f->size, npair,
                                 (const int32_t(*)[2])f->pair);
  return island->lu != NULL;
}

/* copies f->sum (by velocity and loop constraint) to f->x (node by node), or back */
static void carry(const tbi_island *island, bool to_nodes) {
  const tbi_factored *f = island->all;
  const tabi_model *model = f->p->model;
  double *x = f->x;
  for (int32_t c = 0; c < island->ncluster; ++c) {
    int32_t cluster = island->cluster[c];
    int32_t dofs = tbi_cluster_dofs(model, cluster);
    const int32_t *dof = model->dof_order + model->cluster_dof[cluster];
    for (int32_t i = 0; i < f->size[c]; ++i) {
      double *sum = i < dofs ? f->sum + dof[dofs - 1 - i]
                             : f->sum + model->nv + model->cluster_loop[cluster] + (i - dofs);
      if (to_nodes) {
        x[i] = *sum;
      } else {
        *sum = x[i];
      }
    }
    x += f->size[c];
  }
}

/* row . u */
static double dot(const double row[3], const double u[3]) {
  return row[0] * u[0] + row[1] * u[1] + row[2] * u[2];
}

/* dr = g - D u of laws with three unknowns, u being in dr */
static void finish_laws(int32_t count, const tbi_law_block *d, const double *g, double *dr) {
  for (int32_t i = 0; i < count; ++i, ++d, g += 3, dr += 3) {
    const double u[3] = {dr[0], dr[1], dr[2]};
    const double *row = d->m;
    for (int k = 0; k < 3; ++k, row += 3)
      dr[k] = g[k] - dot(row, u);
  }
}

/* the same of all */
static void finish(const tbi_island *island, const tbi_law_block *d, const double *g, double *dr) {
  int32_t rows = 3 * island->npoint;
  int32_t couples = tbi_island_couples_at(island);
  finish_laws(island->npoint, d, g, dr);
  d += island->npoint;
  for (int32_t i = 0; i < island->nrow; ++i)
    dr[rows + i] = g[rows + i] - d[i].m[0] * dr[rows + i];
  finish_laws(island->ncouple, d + island->nrow, g + couples, dr + couples);
}

/* g as it is without a, in dr */
static void eliminate_bounds(const tbi_island *island, const tbi_law_block *d, const double *g,
                             double *dr) {
  memcpy(dr, g, sizeof *dr * (size_t)island->w.nunknown);
  for (int32_t k = 0; k < island->ncouple; ++k) {
    couple_step s = couple_step_of(island, d, k);
    double by_bound = s.kappa * (g[s.at] - s.share * g[s.normal]);
    dr[s.at + 1] -= s.d[3] * by_bound;
    dr[s.at + 2] -= s.d[6] * by_bound;
  }
}

/* u_a from all other velocities */
static void recover_bounds(const tbi_island *island, const tbi_law_block *d, const double *g,
                           double *u) {
  for (int32_t k = 0; k < island->ncouple; ++k) {
    couple_step s = couple_step_of(island, d, k);
    double normal = g[s.normal] - dot(s.point_d, u + s.normal);
    double turning = s.d[1] * u[s.at + 1] + s.d[2] * u[s.at + 2];
    u[s.at] = s.kappa * (g[s.at] - turning - s.share * normal);
  }
}

/* dr = g - D Y S (1 + Y' D Y S)^-1 Y' g */
static void solve(const tbi_island *island, const tbi_law_block *d, const double *g, double *dr) {
  tbi_factored *f = island->all;
  bool couples = island->ncouple > 0;
  if (couples) eliminate_bounds(island, d, g, dr);
  tbi_island_collect(island, couples ? dr : g, f->port, f->sum);
  carry(island, true);
  tbi_blocklu_solve(island->lu, f->x);
  carry(island, false);
  tbi_island_response(island, f->sum, f->port, dr);
  if (couples) recover_bounds(island, d, g, dr);
  finish(island, d, g, dr);
}

/* A small proximal term makes D large, and g - D u a small difference of large numbers. */
static bool is_stiff(const tbi_island *island, const tbi_law_block *d) {
  for (int32_t i = 0; i < island->w.nlaw; ++i) {
    if (d[i].m[0] * island->w.law[i].mobility > STIFF) return true;
  }
  return false;
}

/* one step of iterative refinement */
static void refine(const tbi_island *island, const tbi_law_block *d, const double *g, double *dr) {
  tbi_factored *f = island->all;
  int32_t n = island->w.nunknown;
  island->w.multiply(island->w.self, dr, f->left);
  finish(island, d, g, f->left);
  for (int32_t i = 0; i < n; ++i)
    f->left[i] -= dr[i];
  solve(island, d, f->left, f->more);
  for (int32_t i = 0; i < n; ++i)
    dr[i] += f->more[i];
}

bool tbi_factored_newton(void *self, const tbi_law_block *d, const double *g, double *dr) {
  tbi_island *island = self;
  if (!begin(island)) return false;
  assemble(island, d);
  if (!tbi_blocklu_factor(island->lu)) return false;
  solve(island, d, g, dr);
  if (is_stiff(island, d)) refine(island, d, g, dr);
  return true;
}

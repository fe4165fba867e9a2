/* factored.c - islands, their laws, and the product W r: from points to ports, along their paths
 * into one sum over velocities and loop constraints, and back.  The Newton step is in
 * factored_newton.c. */
#include "contact/factored.h"

#include "base/assertion.h"
#include "contact/cone.h"
#include "contact/factored_newton.h"
#include "problem/loops.h"
#include "problem/sweep.h"

#include <string.h>

#define MAX_ARENA ((int64_t)32 << 20) /* bytes */
#define ROUNDING  1e-11               /* share of the energy that flows through an island */

static int64_t count_coordinates(const tabi_model *model) {
  return (int64_t)model->nv + model->cluster_loop[model->ncluster];
}

/* bytes that blocklu needs if all of so many clusters with n coordinates are in contact with each
 * other, up to MAX_ARENA */
static int64_t arena_size(int64_t n, int64_t nodes) {
  int64_t need = 8 * n * n + 16 * n + 16 * nodes * nodes + 128 * nodes + 512;
  return need < MAX_ARENA ? need : MAX_ARENA;
}

void tbi_factored_place(tbi_layout *at, const tabi_model *model, int64_t points, int64_t rows,
                        tbi_factored *f) {
  tbi_factored_place_islands(at, model, points, rows, f);
  tbi_factored_place_newton(at, model, points, rows, count_coordinates(model), f);
}

void tbi_factored_place_islands(tbi_layout *at, const tabi_model *model, int64_t points,
                                int64_t rows, tbi_factored *f) {
  int64_t clusters = model->ncluster;
  f->island = tbi_layout_take(at, clusters, sizeof *f->island);
  f->node = tbi_layout_take(at, clusters, sizeof *f->node);
  f->island_of = tbi_layout_take(at, clusters, sizeof *f->island_of);
  f->cluster = tbi_layout_take(at, clusters, sizeof *f->cluster);
  f->group = tbi_layout_take(at, points, sizeof *f->group);
  f->row = tbi_layout_take(at, rows, sizeof *f->row);
  int64_t couples = tbi_model_has_couples(model) ? points : 0;
  f->couple = tbi_layout_take(at, couples, sizeof *f->couple);
  f->couple_normal = tbi_layout_take(at, couples, sizeof *f->couple_normal);
  f->law = tbi_layout_take(at, points + rows, sizeof *f->law);
  f->law_point = tbi_layout_take(at, points + rows, sizeof *f->law_point);
  f->q = tbi_layout_take(at, 3 * points + rows, sizeof *f->q);
  f->port = tbi_layout_take(at, model->nbody, sizeof *f->port);
  f->sum = tbi_layout_take(at, count_coordinates(model), sizeof *f->sum);
}

void tbi_factored_place_newton(tbi_layout *at, const tabi_model *model, int64_t points,
                               int64_t rows, int64_t max, tbi_factored *f) {
  int64_t coordinates = count_coordinates(model);
  int64_t clusters = model->ncluster;
  max = max < coordinates ? max : coordinates;
  f->arena_size = (size_t)arena_size(max, max < clusters ? max : clusters);
  f->x = tbi_layout_take(at, coordinates, sizeof *f->x);
  f->left = tbi_layout_take(at, 3 * points + rows, sizeof *f->left);
  f->more = tbi_layout_take(at, 3 * points + rows, sizeof *f->more);
  f->size = tbi_layout_take(at, clusters, sizeof *f->size);
  f->pair = tbi_layout_take(at, points, sizeof *f->pair);
  f->longest = model->longest_limb;
  f->position = tbi_layout_take(at, 2 * f->longest, sizeof *f->position);
  f->limb = tbi_layout_take(at, (3 * 6 + 1) * f->longest, sizeof *f->limb);
  f->arena = tbi_layout_take(at, (int64_t)f->arena_size, 1);
}

static int32_t find_root(int32_t *parent, int32_t c) {
  while (parent[c] != c) {
    parent[c] = parent[parent[c]];
    c = parent[c];
  }
  return c;
}

/* a group's cluster: of either side that is not the world */
static int32_t group_cluster(const tbi_problem *p, const tbi_group *group) {
  return p->port[group->port_b != TABI_NONE ? group->port_b : group->port_a].cluster;
}

static bool joins_clusters(const tbi_problem *p, const tbi_group *group) {
  return group->port_a != TABI_NONE && group->port_b != TABI_NONE &&
         p->port[group->port_a].cluster != p->port[group->port_b].cluster;
}

/* loop constraints may fix the joint of a row */
static bool is_immobile(const tbi_row *row) { return row->inverse == 0; }

/* Numbers the islands by union-find: here f->node is the parent of a cluster in the forest of
 * clusters in contact. */
static void find_islands(tbi_factored *f) {
  const tbi_problem *p = f->p;
  int32_t clusters = p->model->ncluster;
  for (int32_t c = 0; c < clusters; ++c) {
    f->node[c] = c;
    f->island_of[c] = p->cluster_ports[c] > 0 ? 0 : TABI_NONE;
  }
  for (int32_t i = 0; i < p->nrow; ++i) {
    if (!is_immobile(&p->row[i])) f->island_of[p->row[i].cluster] = 0;
  }
  for (int32_t g = 0; g < p->ngroup; ++g) {
    const tbi_group *group = &p->group[g];
    if (!joins_clusters(p, group)) continue;
    int32_t a = find_root(f->node, p->port[group->port_a].cluster);
    int32_t b = find_root(f->node, p->port[group->port_b].cluster);
    /* the lower number leads, so that islands stand in the order of their first clusters */
    f->node[a > b ? a : b] = a < b ? a : b;
  }
  f->nisland = 0;
  for (int32_t c = 0; c < clusters; ++c) {
    if (f->island_of[c] == TABI_NONE) continue;
    int32_t root = find_root(f->node, c);
    if (root == c) {
      f->island[f->nisland] = (tbi_island){.all = f};
      f->island_of[c] = f->nisland++;
    } else {
      f->island_of[c] = f->island_of[root];
    }
  }
}

static tbi_island *island_of_group(const tbi_factored *f, const tbi_group *group) {
  return &f->island[f->island_of[group_cluster(f->p, group)]];
}

static tbi_island *island_of_couple(const tbi_factored *f, const tbi_couple *c) {
  const tbi_point *at = &f->p->point[c->point];
  return island_of_group(f, &(tbi_group){at->port_a, at->port_b, c->point, 1});
}

static void count_members(tbi_factored *f) {
  const tbi_problem *p = f->p;
  for (int32_t c = 0; c < p->model->ncluster; ++c) {
    if (f->island_of[c] != TABI_NONE) ++f->island[f->island_of[c]].ncluster;
  }
  for (int32_t g = 0; g < p->ngroup; ++g) {
    tbi_island *island = island_of_group(f, &p->group[g]);
    ++island->ngroup;
    island->npoint += p->group[g].count;
  }
  for (int32_t i = 0; i < p->nrow; ++i) {
    if (!is_immobile(&p->row[i])) ++f->island[f->island_of[p->row[i].cluster]].nrow;
  }
  for (int32_t k = 0; k < p->ncouple; ++k)
    ++island_of_couple(f, &p->couple[k])->ncouple;
}

static void multiply(void *self, const double *r, double *wr);
static void sweep(void *self, double *r);

/* where an island's lists and laws start; the counts begin again from zero */
static void place_members(tbi_factored *f) {
  int32_t cluster = 0;
  int32_t group = 0;
  int32_t row = 0;
  int32_t couple = 0;
  int32_t law = 0;
  int32_t unknown = 0;
  for (int32_t i = 0; i < f->nisland; ++i) {
    tbi_island *island = &f->island[i];
    int32_t nlaw = island->npoint + island->nrow + island->ncouple;
    int32_t nunknown = tbi_island_couples_at(island) + 3 * island->ncouple;
    island->cluster = f->cluster + cluster;
    island->group = f->group + group;
    island->row = f->row + row;
    island->couple = f->couple + couple;
    island->couple_normal = f->couple_normal + couple;
    island->law_point = f->law_point + law;
    island->w = (tbi_delassus){.self = island,
                               .nlaw = nlaw,
                               .nunknown = nunknown,
                               .law = f->law + law,
                               .q = f->q + unknown,
                               .multiply = multiply,
                               .sweep = sweep,
                               .newton = tbi_factored_newton};
    cluster += island->ncluster;
    group += island->ngroup;
    row += island->nrow;
    couple += island->ncouple;
    law += nlaw;
    unknown += nunknown;
    island->ncluster = island->ngroup = island->nrow = island->ncouple = 0;
  }
}

/* points and rows that cannot move get no impulses */
static void drop_immobile(tbi_problem *p) {
  for (int32_t i = 0; i < p->npoint; ++i) {
    if (p->point[i].immobile) memset(p->point[i].impulse, 0, sizeof p->point[i].impulse);
  }
  for (int32_t i = 0; i < p->nrow; ++i) {
    if (is_immobile(&p->row[i])) p->row[i].impulse = 0;
  }
}

static void list_members(tbi_factored *f) {
  const tbi_problem *p = f->p;
  for (int32_t c = 0; c < p->model->ncluster; ++c) {
    if (f->island_of[c] == TABI_NONE) continue;
    tbi_island *island = &f->island[f->island_of[c]];
    f->node[c] = island->ncluster;
    f->cluster[island->cluster - f->cluster + island->ncluster++] = c;
  }
  for (int32_t g = 0; g < p->ngroup; ++g) {
    tbi_island *island = island_of_group(f, &p->group[g]);
    f->group[island->group - f->group + island->ngroup++] = g;
  }
  for (int32_t i = 0; i < p->nrow; ++i) {
    if (is_immobile(&p->row[i])) continue;
    tbi_island *island = &f->island[f->island_of[p->row[i].cluster]];
    f->row[island->row - f->row + island->nrow++] = i;
  }
  for (int32_t k = 0; k < p->ncouple; ++k) {
    tbi_island *island = island_of_couple(f, &p->couple[k]);
    f->couple[island->couple - f->couple + island->ncouple++] = k;
  }
}

/* immobile points keep a law, but without friction and with zero normal velocity */
static tbi_law point_law(const tbi_point *c, int32_t at) {
  TBI_ASSERT(c->mobility > 0);
  return (tbi_law){
      .at = at, .size = 3, .mobility = c->mobility, .friction = c->immobile ? 0 : c->friction};
}

static sv side(const sv *port, int32_t k) { return k == TABI_NONE ? sv_zero() : port[k]; }

/* velocities of points by those of their ports */
static void read_points(const tbi_island *island, const sv *port, double *u) {
  const tbi_problem *p = island->all->p;
  for (int32_t g = 0; g < island->ngroup; ++g) {
    const tbi_group *group = &p->group[island->group[g]];
    sv a = side(port, group->port_a);
    sv b = side(port, group->port_b);
    for (int32_t i = group->first; i < group->first + group->count; ++i, u += 3)
      v3_store(tbi_point_velocity(&p->point[i], a, b), u);
  }
}

static void subtract_targets(const tbi_island *island, double *u) {
  const tbi_problem *p = island->all->p;
  for (int32_t g = 0; g < island->ngroup; ++g) {
    const tbi_group *group = &p->group[island->group[g]];
    for (int32_t i = group->first; i < group->first + group->count; ++i, u += 3) {
      const tbi_point *c = &p->point[i];
      u[0] = c->immobile ? 0 : u[0] - c->target;
      if (!p->still) continue;
      u[1] -= p->still[i][0];
      u[2] -= p->still[i][1];
    }
  }
  for (int32_t i = 0; i < island->nrow; ++i)
    u[i] -= p->row[island->row[i]].target;
}

/* velocities of couples at their levers, by those of ports; a left alone */
static void read_couples(const tbi_island *island, const sv *port, double *u) {
  const tbi_problem *p = island->all->p;
  for (int32_t k = 0; k < island->ncouple; ++k, u += 3) {
    const tbi_couple *c = &p->couple[island->couple[k]];
    tbi_couple_velocity(p, c, port, u + 1);
    u[1] *= c->lever;
    u[2] *= c->lever;
  }
}

/* The laws of an island's couples, behind those of points and rows.  Couples follow each other as
 * their points do. */
static void write_couples(tbi_factored *f, const tbi_island *island, int32_t at) {
  const tbi_problem *p = f->p;
  int32_t first = island->npoint + island->nrow;
  ptrdiff_t laws = island->w.law - f->law + first;
  double *q = f->q + (island->w.q - f->q);
  int32_t *normal = f->couple_normal + (island->couple_normal - f->couple_normal);
  read_couples(island, p->free, q + at);
  int32_t point = 0; /* law of the couple's point */
  for (int32_t k = 0; k < island->ncouple; ++k, at += 3) {
    int32_t whose = p->couple[island->couple[k]].point;
    f->law[laws + k] =
        (tbi_law){.at = at, .size = 3, .mobility = p->point[whose].mobility, .friction = 1};
    f->law_point[laws + k] = TABI_NONE;
    q[at] = 0;
    while (island->law_point[point] != whose)
      ++point;
    normal[k] = 3 * point;
  }
}

void tbi_factored_write_laws(tbi_factored *f, const tbi_island *island) {
  const tbi_problem *p = f->p;
  tbi_law *law = f->law + (island->w.law - f->law);
  int32_t *whose = f->law_point + (island->w.law - f->law);
  double *q = f->q + (island->w.q - f->q);
  int32_t at = 0;
  for (int32_t g = 0; g < island->ngroup; ++g) {
    const tbi_group *group = &p->group[island->group[g]];
    for (int32_t i = group->first; i < group->first + group->count; ++i, at += 3) {
      *law++ = point_law(&p->point[i], at);
      *whose++ = i;
    }
  }
  read_points(island, p->free, q);
  for (int32_t i = 0; i < island->nrow; ++i, ++at) {
    const tbi_row *row = &p->row[island->row[i]];
    TBI_ASSERT(row->w > 0);
    *law++ = (tbi_law){
        .at = at, .size = 1, .mobility = row->w, .lower = row->lower, .upper = row->upper};
    *whose++ = TABI_NONE;
    q[at] = row->base;
  }
  write_couples(f, island, at);
  subtract_targets(island, q);
}

void tbi_factored_find_islands(tbi_factored *f, tbi_problem *p) {
  TBI_ASSERT(p->model && p->nport >= 0);
  f->p = p;
  f->in_arena = NULL;
  drop_immobile(p);
  find_islands(f);
  count_members(f);
  place_members(f);
  list_members(f);
}

void tbi_factored_begin(tbi_factored *f, tbi_problem *p) {
  tbi_factored_find_islands(f, p);
  for (int32_t i = 0; i < f->nisland; ++i)
    tbi_factored_write_laws(f, &f->island[i]);
}

void tbi_island_read(const tbi_island *island, double *r) {
  TBI_ASSERT(island->w.nlaw == island->npoint + island->nrow + island->ncouple);
  const tbi_problem *p = island->all->p;
  for (int32_t g = 0; g < island->ngroup; ++g) {
    const tbi_group *group = &p->group[island->group[g]];
    for (int32_t i = group->first; i < group->first + group->count; ++i, r += 3)
      memcpy(r, p->point[i].impulse, 3 * sizeof *r);
  }
  for (int32_t i = 0; i < island->nrow; ++i)
    r[i] = p->row[island->row[i]].impulse;
  r += island->nrow;
  for (int32_t k = 0; k < island->ncouple; ++k, r += 3) {
    const tbi_couple *c = &p->couple[island->couple[k]];
    r[0] = tbi_couple_bound(p, c) / c->lever;
    r[1] = c->impulse[0] / c->lever;
    r[2] = c->impulse[1] / c->lever;
  }
}

/* a is the bound to within a residual; the couple shall be within it to the last bit */
static void write_couple(const tbi_problem *p, tbi_couple *c, const double *r) {
  double bound = tbi_couple_bound(p, c);
  double size = c->lever * sqrt(r[1] * r[1] + r[2] * r[2]);
  double share = size > bound ? bound / size : 1;
  c->impulse[0] = share * c->lever * r[1];
  c->impulse[1] = share * c->lever * r[2];
}

void tbi_island_write(const tbi_island *island, const double *r) {
  TBI_ASSERT(island->w.nlaw == island->npoint + island->nrow + island->ncouple);
  const tbi_problem *p = island->all->p;
  for (int32_t g = 0; g < island->ngroup; ++g) {
    const tbi_group *group = &p->group[island->group[g]];
    for (int32_t i = group->first; i < group->first + group->count; ++i, r += 3)
      memcpy(p->point[i].impulse, r, 3 * sizeof *r);
  }
  for (int32_t i = 0; i < island->nrow; ++i)
    p->row[island->row[i]].impulse = r[i];
  r += island->nrow;
  for (int32_t k = 0; k < island->ncouple; ++k, r += 3)
    write_couple(p, &p->couple[island->couple[k]], r);
}

void tbi_island_drop_couples(const tbi_island *island, double *r) {
  double *own = r + tbi_island_couples_at(island);
  for (int32_t k = 0; k < island->ncouple; ++k, own += 3)
    if (r[island->couple_normal[k]] == 0) own[0] = own[1] = own[2] = 0;
}

void tbi_island_velocity(const tbi_island *island, double *u) {
  tbi_problem *p = island->all->p;
  read_points(island, p->velocity, u);
  for (int32_t i = 0; i < island->nrow; ++i)
    u[3 * island->npoint + i] = tbi_row_velocity(p, &p->row[island->row[i]]);
  subtract_targets(island, u);
  /* a is at its bound, as tbi_island_read has it */
  double *own = u + tbi_island_couples_at(island);
  read_couples(island, p->velocity, own);
  for (int32_t k = 0; k < island->ncouple; ++k, own += 3)
    own[0] = 0;
}

double tbi_island_gain(const tbi_island *island, const double *r, const double *q,
                       const double *u) {
  const tbi_delassus *w = &island->w;
  double gain = 0;
  for (int32_t i = 0; i < w->nlaw; ++i) {
    const tbi_law *law = &w->law[i];
    const tbi_point *point = tbi_island_point(island, i);
    int32_t first = tbi_island_couple(island, i) ? 1 : 0; /* a does no work */
    /* w->q is relative to the point's target, q and u to a target that may be reduced */
    for (int32_t k = law->at + first; k < law->at + law->size; ++k)
      gain += 0.5 * r[k] * (2 * w->q[k] + (u[k] - q[k]));
    if (point) gain += r[law->at] * (point->target - tbi_max(point->resting_target, 0));
  }
  return gain;
}

bool tbi_island_adds_energy(const tbi_island *island, const double *r, const double *u) {
  const tbi_delassus *w = &island->w;
  double flow = 0;
  for (int32_t k = 0; k < w->nunknown; ++k)
    flow += 0.5 * fabs(r[k]) * (fabs(w->q[k]) + fabs(u[k]));
  return tbi_island_gain(island, r, w->q, u) > ROUNDING * flow;
}

/* the wrenches of impulses at the points, port by port */
static void add_wrenches(const tbi_island *island, const double *r, sv *port) {
  const tbi_problem *p = island->all->p;
  for (int32_t g = 0; g < island->ngroup; ++g) {
    const tbi_group *group = &p->group[island->group[g]];
    sv a = sv_zero();
    sv b = sv_zero();
    for (int32_t i = group->first; i < group->first + group->count; ++i, r += 3) {
      const tbi_point *c = &p->point[i];
      v4 impulse = m4_combine(&c->frame, r[0], r[1], r[2]);
      a = sv_sub(a, tbi_wrench(c->arm_a, impulse));
      b = sv_add(b, tbi_wrench(c->arm_b, impulse));
    }
    if (group->port_a != TABI_NONE) port[group->port_a] = sv_add(port[group->port_a], a);
    if (group->port_b != TABI_NONE) port[group->port_b] = sv_add(port[group->port_b], b);
  }
}

/* the same for those of couples, r being theirs */
static void add_moments(const tbi_island *island, const double *r, sv *port) {
  const tbi_problem *p = island->all->p;
  for (int32_t k = 0; k < island->ncouple; ++k, r += 3) {
    const tbi_couple *c = &p->couple[island->couple[k]];
    const tbi_point *at = &p->point[c->point];
    sv on_b = {v4_zero(), v4_scale(c->lever, tbi_couple_moment(c, r + 1))};
    if (at->port_a != TABI_NONE) port[at->port_a] = sv_sub(port[at->port_a], on_b);
    if (at->port_b != TABI_NONE) port[at->port_b] = sv_add(port[at->port_b], on_b);
  }
}

static void clear_sum(const tbi_problem *p, int32_t cluster, double *sum) {
  const tabi_model *model = p->model;
  for (int32_t k = model->cluster_dof[cluster]; k < model->cluster_dof[cluster + 1]; ++k)
    sum[model->dof_order[k]] = 0;
  double *loop = sum + model->nv + model->cluster_loop[cluster];
  memset(loop, 0, sizeof *loop * (size_t)p->cluster_loops[cluster]);
}

void tbi_island_collect(const tbi_island *island, const double *r, sv *port, double *sum) {
  const tbi_problem *p = island->all->p;
  for (int32_t c = 0; c < island->ncluster; ++c) {
    int32_t cluster = island->cluster[c];
    clear_sum(p, cluster, sum);
    for (int32_t k = 0; k < p->cluster_ports[cluster]; ++k)
      port[p->cluster_port[cluster] + k] = sv_zero();
  }
  add_wrenches(island, r, port);
  add_moments(island, r + tbi_island_couples_at(island), port);
  for (int32_t c = 0; c < island->ncluster; ++c) {
    int32_t first = p->cluster_port[island->cluster[c]];
    for (int32_t k = first; k < first + p->cluster_ports[island->cluster[c]]; ++k)
      tbi_port_push(p, k, port[k], sum);
  }
  for (int32_t i = 0; i < island->nrow; ++i) {
    double impulse = r[3 * island->npoint + i];
    if (impulse != 0) tbi_row_push(p, &p->row[island->row[i]], impulse, sum);
  }
}

/* velocities of an island's ports by a sum of impulses */
static void move_by(const tbi_island *island, const double *sum, sv *port) {
  const tbi_problem *p = island->all->p;
  for (int32_t c = 0; c < island->ncluster; ++c) {
    int32_t first = p->cluster_port[island->cluster[c]];
    for (int32_t k = first; k < first + p->cluster_ports[island->cluster[c]]; ++k)
      port[k] = tbi_port_response(p, k, sum);
  }
}

void tbi_island_response(const tbi_island *island, const double *sum, sv *port, double *u) {
  const tbi_problem *p = island->all->p;
  move_by(island, sum, port);
  read_points(island, port, u);
  for (int32_t i = 0; i < island->nrow; ++i)
    u[3 * island->npoint + i] = tbi_row_response(p, &p->row[island->row[i]], sum);
  read_couples(island, port, u + tbi_island_couples_at(island));
}

void tbi_island_row_response(const tbi_island *island, int32_t k, double *u) {
  TBI_ASSERT(k >= 0 && k < island->nrow && island->ncouple == 0);
  const tbi_problem *p = island->all->p;
  double *sum = island->all->sum;
  sv *port = island->all->port;
  for (int32_t c = 0; c < island->ncluster; ++c)
    clear_sum(p, island->cluster[c], sum);
  tbi_row_push(p, &p->row[island->row[k]], 1, sum);
  move_by(island, sum, port);
  read_points(island, port, u);
  for (int32_t i = k; i < island->nrow; ++i)
    u[3 * island->npoint + i] = tbi_row_response(p, &p->row[island->row[i]], sum);
}

static void multiply(void *self, const double *r, double *wr) {
  const tbi_island *island = self;
  tbi_factored *f = island->all;
  tbi_island_collect(island, r, f->port, f->sum);
  tbi_island_response(island, f->sum, f->port, wr);
  for (int32_t k = 0; k < island->ncouple; ++k) {
    const tbi_law *law = &island->w.law[island->npoint + island->nrow + k];
    double share = tbi_couple_share(&f->p->couple[island->couple[k]]);
    wr[law->at] = law->mobility * (r[law->at] - share * r[island->couple_normal[k]]);
  }
}

/* velocities of an island's ports from problem->sum */
static void move_ports(const tbi_island *island) {
  tbi_problem *p = island->all->p;
  for (int32_t c = 0; c < island->ncluster; ++c) {
    int32_t first = p->cluster_port[island->cluster[c]];
    for (int32_t k = first; k < first + p->cluster_ports[island->cluster[c]]; ++k) {
      p->velocity[k] = sv_add(p->free[k], tbi_port_response(p, k, p->sum));
      p->summed[k] = p->received[k];
    }
  }
}

/* problem->sum must be up to date if there are rows */
static double visit_all(const tbi_island *island) {
  tbi_problem *p = island->all->p;
  double change = 0;
  for (int32_t i = 0; i < island->nrow; ++i)
    change = tbi_max(change, tbi_row_visit(p, &p->row[island->row[i]]));
  if (change > 0) move_ports(island);
  for (int32_t g = 0; g < island->ngroup; ++g)
    change = tbi_max(change, tbi_cone_visit(p, &p->group[island->group[g]]));
  for (int32_t k = 0; k < island->ncouple; ++k)
    change = tbi_max(change, tbi_couple_visit(p, &p->couple[island->couple[k]]));
  return change;
}

void tbi_island_sum(const tbi_island *island) {
  tbi_problem *p = island->all->p;
  for (int32_t c = 0; c < island->ncluster; ++c) {
    int32_t first = p->cluster_port[island->cluster[c]];
    for (int32_t k = first; k < first + p->cluster_ports[island->cluster[c]]; ++k) {
      tbi_port_push(p, k, sv_sub(p->received[k], p->summed[k]), p->sum);
      p->summed[k] = p->received[k];
    }
  }
}

double tbi_island_sweep(const tbi_island *island) {
  if (island->nrow > 0) tbi_island_sum(island);
  return visit_all(island);
}

static void sweep(void *self, double *r) {
  const tbi_island *island = self;
  tbi_problem *p = island->all->p;
  tbi_island_write(island, r);
  tbi_island_collect(island, r, p->received, p->sum);
  move_ports(island);
  (void)visit_all(island);
  tbi_island_read(island, r);
}

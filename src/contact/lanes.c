/* lanes.c - colours, packs, and what is left to visit one by one.
 *
 *   groups, in the order of the problem  --> the first colour that neither of its ports has
 *   groups of a colour, longest first    --> packs of eight
 *
 * All that takes a few nanoseconds a group, so nothing of it is kept from step to step: a step
 * depends on its own contacts alone. */
#include "contact/lanes.h"

#include "base/assertion.h"
#include "contact/cone.h"
#include "problem/couples.h"
#include "problem/sweep.h"

#include <string.h>

enum {
  COLOURS = 64, /* bits of a port's colours */
  LENGTHS = 8,  /* groups with more points are as good as those with so many, to the sort */
  MIN_CLUSTERS = 8,
  FIRST_ROWS = 16, /* rows of which there is memory, with one more for four points */
  ROW_POINTS = 4,
};

bool tbi_lanes_may_help(const tabi_model *model, const tabi_world_def *def) {
  return model->ncluster >= MIN_CLUSTERS && def->max_contacts >= TBI_LANES_POINTS;
}

void tbi_lanes_place(tbi_layout *at, const tabi_model *model, const tabi_world_def *def,
                     tbi_lanes *lanes) {
  bool used = tbi_lanes_may_help(model, def);
  int64_t points = used ? def->max_contacts : 0;
  int64_t ports = used ? model->nbody : 0;
  lanes->max_rows = used ? FIRST_ROWS + points / ROW_POINTS : 0;
  lanes->row = tbi_layout_take(at, lanes->max_rows, sizeof *lanes->row);
  lanes->pack = tbi_layout_take(at, lanes->max_rows, sizeof *lanes->pack);
  lanes->alone = tbi_layout_take(at, points, sizeof *lanes->alone);
  lanes->lane_of = tbi_layout_take(at, points, sizeof *lanes->lane_of);
  lanes->colours = tbi_layout_take(at, ports, sizeof *lanes->colours);
  lanes->colour = tbi_layout_take(at, points, sizeof *lanes->colour);
  lanes->sorted = tbi_layout_take(at, points, sizeof *lanes->sorted);
  lanes->world = tbi_layout_take(at, used ? 8 : 0, sizeof *lanes->world);
  lanes->before = tbi_layout_take(at, ports, sizeof *lanes->before);
  lanes->way = tbi_layout_take(at, ports, sizeof *lanes->way);
}

/* -- colours */

enum { CLOSED = COLOURS }; /* in place of a colour: visited alone */

/* the colours that a port still has; a port that lanes cannot take has none */
static uint64_t colours_left(const tbi_lanes *lanes, int32_t port) {
  return port == TABI_NONE ? UINT64_MAX : ~lanes->colours[port];
}

static void open_ports(tbi_lanes *lanes) {
  const tbi_problem *p = lanes->p;
  for (int32_t k = 0; k < p->nport; ++k)
    lanes->colours[k] = p->cluster_ports[p->port[k].cluster] == 1 ? 0 : UINT64_MAX;
  for (int32_t i = 0; i < p->nrow; ++i) {
    int32_t cluster = p->row[i].cluster;
    if (p->cluster_ports[cluster] == 1) lanes->colours[p->cluster_port[cluster]] = UINT64_MAX;
  }
}

/* bounds of couples follow the normal impulse of their point within a sweep */
static void close_groups_with_couples(tbi_lanes *lanes) {
  const tbi_problem *p = lanes->p;
  int32_t g = 0;
  for (int32_t k = 0; k < p->ncouple; ++k) {
    while (p->couple[k].point >= p->group[g].first + p->group[g].count)
      ++g;
    lanes->colour[g] = CLOSED;
  }
}

static void colour_group(tbi_lanes *lanes, int32_t g) {
  const tbi_group *group = &lanes->p->group[g];
  uint64_t left = colours_left(lanes, group->port_a) & colours_left(lanes, group->port_b);
  if (left == 0) lanes->colour[g] = CLOSED;
  if (lanes->colour[g] == CLOSED) return;
  uint64_t first = left & -left;
  lanes->colour[g] = (uint8_t)__builtin_ctzll(first);
  if (group->port_a != TABI_NONE) lanes->colours[group->port_a] |= first;
  if (group->port_b != TABI_NONE) lanes->colours[group->port_b] |= first;
}

/* where the groups of a colour with so many points start, longer ones first */
typedef struct bins {
  int32_t first[COLOURS + 1][LENGTHS + 1];
} bins;

static int32_t *bin_of(const tbi_lanes *lanes, int32_t g, bins *at) {
  int32_t count = lanes->p->group[g].count;
  return &at->first[lanes->colour[g]][LENGTHS - (count < LENGTHS ? count : LENGTHS)];
}

/* a counting sort; ends with the start of every colour in at->first[..][0] */
static void sort_groups(tbi_lanes *lanes, bins *at) {
  memset(at, 0, sizeof *at);
  int32_t groups = lanes->p->ngroup;
  for (int32_t g = 0; g < groups; ++g)
    ++*bin_of(lanes, g, at);
  int32_t sum = 0;
  int32_t start[COLOURS + 1];
  for (int c = 0; c <= COLOURS; ++c) {
    start[c] = sum;
    for (int k = 0; k <= LENGTHS; ++k) {
      int32_t own = at->first[c][k];
      at->first[c][k] = sum;
      sum += own;
    }
  }
  for (int32_t g = 0; g < groups; ++g)
    lanes->sorted[(*bin_of(lanes, g, at))++] = g;
  for (int c = 0; c <= COLOURS; ++c)
    at->first[c][0] = start[c];
}

/* -- packs */

/* numbers of a v4 into one lane */
static void put(tbi_lane *to, int lane, v4 x) {
  to[0][lane] = v4_x(x);
  to[1][lane] = v4_y(x);
  to[2][lane] = v4_z(x);
}

static double larger_eigenvalue(double yy, double zz, double yz) {
  double half = 0.5 * (yy - zz);
  return 0.5 * (yy + zz) + sqrt(half * half + yz * yz);
}

/* -0 becomes 0, as it does in a sum: rows that are left early do not add */
static double unsigned_zero(double x) { return x + 0; }

static void drop_signs_of_zeros(tbi_problem *p) {
  for (int32_t k = 0; k < p->nport; ++k)
    p->velocity[k] = sv_add(p->velocity[k], sv_zero());
}

/* what cannot move has all zero, so that it gets no impulse */
static void fill_law(const tbi_point *c, const double *still, tbi_lane_row *row, int lane) {
  bool moves = !c->immobile;
  for (int k = 0; k < 3; ++k)
    row->impulse[k][lane] = unsigned_zero(c->impulse[k]);
  for (int k = 0; k < 6; ++k)
    row->inverse[k][lane] = moves ? c->inverse[k] : 0;
  row->target[0][lane] = c->target;
  row->target[1][lane] = still ? still[0] : 0;
  row->target[2][lane] = still ? still[1] : 0;
  row->friction[lane] = moves ? c->friction : 0;
  row->normal_inverse[lane] = moves ? 1 / c->w[0][0] : 0;
  row->coupling[0][lane] = c->w[1][0];
  row->coupling[1][lane] = c->w[2][0];
  row->slide[lane] = moves ? 1 / larger_eigenvalue(c->w[1][1], c->w[2][2], c->w[1][2]) : 0;
  row->mobility[lane] = c->mobility;
}

static void fill_block(const tbi_problem *p, int32_t port, tbi_lane block[6][6], int lane) {
  for (int k = 0; k < 6; ++k) {
    sv column = port == TABI_NONE ? sv_zero() : tbi_problem_block(p, port, port)->column[k];
    put(block[k], lane, column.lin);
    put(block[k] + 3, lane, column.ang);
  }
}

static void fill_lane(const tbi_problem *p, int32_t i, tbi_lane_port port[2], tbi_lane_row *row,
                      int lane) {
  const tbi_point *c = &p->point[i];
  put(row->axis[0], lane, c->frame.x);
  put(row->axis[1], lane, c->frame.y);
  put(row->axis[2], lane, c->frame.z);
  put(port[0].arm, lane, c->port_a == TABI_NONE ? v4_zero() : c->arm_a);
  put(port[1].arm, lane, c->port_b == TABI_NONE ? v4_zero() : c->arm_b);
  fill_law(c, p->still ? p->still[i] : NULL, row, lane);
}

/* a row is an array of lanes; one without a contact parts, as NAN does not stick */
static void clear_lane(tbi_lane_port port[2], tbi_lane_row *row, int lane) {
  tbi_lane *at = (tbi_lane *)row;
  for (size_t k = 0; k < sizeof *row / sizeof *at; ++k)
    at[k][lane] = 0;
  row->inverse[0][lane] = (double)NAN;
  put(port[0].arm, lane, v4_zero());
  put(port[1].arm, lane, v4_zero());
}

static double *twist_of(const tbi_lanes *lanes, int32_t port) {
  return port == TABI_NONE ? lanes->world : (double *)&lanes->p->velocity[port];
}

/* the i-th contacts of the groups of a pack */
static void make_row(const tbi_lanes *lanes, const tbi_group *const *group, int32_t i,
                     tbi_lane_port port[2]) {
  tbi_lane_row *row = &lanes->row[lanes->nrow + i];
  for (int lane = 0; lane < TBI_SWEEP_LANES; ++lane) {
    if (i >= group[lane]->count) {
      clear_lane(port, row, lane);
      continue;
    }
    int32_t point = group[lane]->first + i;
    fill_lane(lanes->p, point, port, row, lane);
    lanes->lane_of[point] = (lanes->nrow + i) * TBI_SWEEP_LANES + lane;
  }
  lanes->width.respond(&port[0], &port[1], row);
}

/* one pack of up to eight groups, the first of which has the most points */
static void make_pack(tbi_lanes *lanes, const int32_t *g, int32_t count, int32_t rows) {
  const tbi_problem *p = lanes->p;
  const tbi_group none = {TABI_NONE, TABI_NONE, 0, 0};
  const tbi_group *group[TBI_SWEEP_LANES];
  tbi_lane_pack *pack = &lanes->pack[lanes->npack++];
  tbi_lane_port port[2];
  *pack = (tbi_lane_pack){.row = lanes->nrow, .rows = rows};
  for (int lane = 0; lane < TBI_SWEEP_LANES; ++lane) {
    group[lane] = lane < count ? &p->group[g[lane]] : &none;
    pack->a[lane] = twist_of(lanes, group[lane]->port_a);
    pack->b[lane] = twist_of(lanes, group[lane]->port_b);
    fill_block(p, group[lane]->port_a, port[0].block, lane);
    fill_block(p, group[lane]->port_b, port[1].block, lane);
  }
  for (int32_t i = 0; i < rows; ++i)
    make_row(lanes, group, i, port);
  lanes->nrow += rows;
}

static void leave_alone(tbi_lanes *lanes, const int32_t *g, int32_t count) {
  for (int32_t i = 0; i < count; ++i) {
    const tbi_group *group = &lanes->p->group[g[i]];
    lanes->alone[lanes->nalone++] = g[i];
    for (int32_t k = group->first; k < group->first + group->count; ++k)
      lanes->lane_of[k] = TABI_NONE;
  }
}

static int32_t longest(const tbi_problem *p, const int32_t *g, int32_t count) {
  int32_t most = 0;
  for (int32_t i = 0; i < count; ++i)
    most = p->group[g[i]].count > most ? p->group[g[i]].count : most;
  return most;
}

static void pack_groups(tbi_lanes *lanes, const bins *at) {
  lanes->npack = lanes->nrow = lanes->nalone = 0;
  memset(lanes->world, 0, 8 * sizeof *lanes->world);
  for (int c = 0; c < COLOURS; ++c) {
    int32_t end = at->first[c + 1][0];
    for (int32_t i = at->first[c][0]; i < end; i += TBI_SWEEP_LANES) {
      int32_t count = end - i < TBI_SWEEP_LANES ? end - i : TBI_SWEEP_LANES;
      int32_t rows = longest(lanes->p, lanes->sorted + i, count);
      if (lanes->nrow + rows <= lanes->max_rows) {
        make_pack(lanes, lanes->sorted + i, count, rows);
      } else {
        leave_alone(lanes, lanes->sorted + i, count);
      }
    }
  }
  int32_t closed = at->first[CLOSED][0];
  leave_alone(lanes, lanes->sorted + closed, lanes->p->ngroup - closed);
}

bool tbi_lanes_begin(tbi_lanes *lanes, tbi_problem *p) {
  lanes->p = p;
  lanes->width = tbi_lanes_widest();
  if (p->npoint < TBI_LANES_POINTS || lanes->max_rows == 0) return false;
  bins at;
  open_ports(lanes);
  memset(lanes->colour, 0, sizeof *lanes->colour * (size_t)p->ngroup);
  close_groups_with_couples(lanes);
  for (int32_t g = 0; g < p->ngroup; ++g)
    colour_group(lanes, g);
  sort_groups(lanes, &at);
  pack_groups(lanes, &at);
  drop_signs_of_zeros(p);
  return lanes->npack > 0;
}

/* -- sweeps */

tbi_lanes_width tbi_lanes_widest(void) {
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx512f"))
    return (tbi_lanes_width){tbi_lanes_sweep8, tbi_lanes_respond8};
  if (__builtin_cpu_supports("avx2"))
    return (tbi_lanes_width){tbi_lanes_sweep4, tbi_lanes_respond4};
#endif
  return (tbi_lanes_width){tbi_lanes_sweep2, tbi_lanes_respond2};
}

static double visit_alone(const tbi_lanes *lanes) {
  double change = tbi_rows_sweep(lanes->p);
  for (int32_t i = 0; i < lanes->nalone; ++i)
    change = tbi_max(change, tbi_cone_visit(lanes->p, &lanes->p->group[lanes->alone[i]]));
  return tbi_max(change, tbi_couples_sweep(lanes->p));
}

static bool has_alone(const tbi_lanes *lanes) {
  return lanes->nalone > 0 || lanes->p->nrow + lanes->p->nloop + lanes->p->ncouple > 0;
}

/* x += share way, way = share way + step */
static inline void go_on(double *x, double *way, const double *step, double share, int32_t n) {
  for (int32_t i = 0; i < n; ++i) {
    double further = share * way[i];
    x[i] += further;
    way[i] = further + step[i];
  }
}

/* the impulses of all points in lanes and the twists of their ports; a share of zero begins anew */
static void carry_on(const tbi_lanes *lanes, double share) {
  for (int32_t r = 0; r < lanes->nrow; ++r) {
    tbi_lane_row *row = &lanes->row[r];
    if (share == 0) memset(row->way, 0, sizeof row->way);
    go_on(row->impulse[0], row->way[0], row->step[0], share, 3 * TBI_SWEEP_LANES);
  }
  for (int32_t k = 0; k < lanes->p->nport; ++k) {
    if (share == 0) lanes->way[k] = sv_zero();
    sv further = sv_scale(share, lanes->way[k]);
    sv step = sv_sub(lanes->p->velocity[k], lanes->before[k]);
    lanes->p->velocity[k] = sv_add(lanes->p->velocity[k], further);
    lanes->way[k] = sv_add(further, step);
  }
}

static void end(const tbi_lanes *lanes) {
  tbi_problem *p = lanes->p;
  for (int32_t i = 0; i < p->npoint; ++i) {
    if (lanes->lane_of[i] == TABI_NONE) continue;
    const tbi_lane_row *row = &lanes->row[lanes->lane_of[i] / TBI_SWEEP_LANES];
    for (int k = 0; k < 3; ++k)
      p->point[i].impulse[k] = row->impulse[k][lanes->lane_of[i] % TBI_SWEEP_LANES];
  }
  tbi_problem_receive_more(p);
}

int32_t tbi_lanes_solve(tbi_lanes *lanes, tbi_lanes_limits limits, bool *converged) {
  TBI_ASSERT(limits.sweeps > 0 && limits.tolerance >= 0);
  const tbi_problem *p = lanes->p;
  double last = 0;
  int32_t sweeps = 0;
  *converged = false;
  while (sweeps < limits.sweeps && !*converged) {
    memcpy(lanes->before, p->velocity, sizeof *p->velocity * (size_t)p->nport);
    tbi_lanes_change change = lanes->width.sweep(lanes->pack, lanes->npack, lanes->row);
    bool settled = tbi_is_settled(change.largest, ++sweeps, limits.tolerance);
    if (!settled && sweeps < limits.sweeps)
      carry_on(lanes, change.square < last ? change.square / last : 0);
    last = change.square;
    double alone = has_alone(lanes) ? visit_alone(lanes) : 0;
    *converged = settled && tbi_is_settled(alone, sweeps, limits.tolerance);
  }
  while (has_alone(lanes) && !*converged && sweeps < limits.alone) {
    double alone = visit_alone(lanes);
    ++sweeps;
    if (alone <= limits.tolerance) break;
  }
  end(lanes);
  return sweeps;
}

/* small_island.c - W from the blocks between ports: an impulse at a point moves the ports of its
 * clusters, and those move their points.  Rows, of which there are few, are multiplied out. */
#include "contact/small_island.h"

#include "math/lu.h"
#include "problem/ports.h"
#include "problem/sweep.h"

#include <string.h>

enum {
  UNKNOWNS = TBI_SMALL_ISLAND_UNKNOWNS,
  POINTS = UNKNOWNS / 3,
  STRIDE = (UNKNOWNS + TBI_PADDING - 1) / TBI_PADDING * TBI_PADDING,
  SCRATCH = UNKNOWNS * (UNKNOWNS + TBI_PADDING)
};

/* of a point: its velocity in its frame by the six numbers of each port's twist */
typedef struct jacobian {
  v4 a[6], b[6];
} jacobian;

void tbi_small_island_place(tbi_layout *at, tbi_small_island *small) {
  _Static_assert(POINTS * sizeof(jacobian) <= SCRATCH * sizeof(double),
                 "jacobians share the memory of 1 + D W");
  small->matrix = tbi_layout_take(at, (int64_t)UNKNOWNS * STRIDE, sizeof *small->matrix);
  small->scratch = tbi_layout_take(at, SCRATCH, sizeof *small->scratch);
  small->row = tbi_layout_take(at, STRIDE, sizeof *small->row);
  small->active = tbi_layout_take(at, UNKNOWNS, sizeof *small->active);
}

static const double *row_of(const tbi_small_island *small, int32_t at) {
  return small->matrix + (ptrdiff_t)at * small->stride;
}

static void multiply(void *self, const double *r, double *wr) {
  const tbi_small_island *small = self;
  size_t n = (size_t)small->w.nunknown;
  memset(small->row, 0, sizeof *small->row * (size_t)small->stride);
  for (int32_t j = 0; j < small->w.nunknown; ++j) {
    /* as W is symmetric */
    if (r[j] != 0) tbi_padded_axpy(r[j], row_of(small, j), small->row, small->stride);
  }
  memcpy(wr, small->row, n * sizeof *wr);
}

/* -- sweeps */

/* the impulse of a contact that neither sticks nor opens: the normal by its own equation, then the
 * tangent against its slip, cut to the disk */
static v3 slip_step(const tbi_point *c, v3 p, v3 u) {
  double normal = tbi_max(p.x - u.x / c->w[0][0], 0);
  double d = normal - p.x;
  double half = 0.5 * (c->w[1][1] - c->w[2][2]);
  double larger = c->w[2][2] + half + sqrt(half * half + c->w[1][2] * c->w[1][2]);
  double slide = 1 / larger;
  double y = p.y - slide * (u.y + c->w[1][0] * d);
  double z = p.z - slide * (u.z + c->w[2][0] * d);
  double max = c->friction * normal;
  double square = y * y + z * z;
  double keep = square > max * max ? max / sqrt(square) : 1;
  return v3_make(normal, keep * y, keep * z);
}

static void visit_point(const tbi_small_island *small, const tbi_point *c, int32_t at, double *r) {
  if (c->immobile) return;
  const double *q = small->w.q + at;
  v3 p = v3_load(r + at);
  v3 u = v3_make(q[0] + tbi_padded_dot(row_of(small, at), r, small->stride),
                 q[1] + tbi_padded_dot(row_of(small, at + 1), r, small->stride),
                 q[2] + tbi_padded_dot(row_of(small, at + 2), r, small->stride));
  v3 stuck = v3_sub(p, s3_mulv(s3_load(c->inverse), u));
  double max = c->friction * stuck.x;
  bool sticks = stuck.x >= 0 && stuck.y * stuck.y + stuck.z * stuck.z <= max * max;
  v3_store(sticks ? stuck : slip_step(c, p, u), r + at);
}

static void visit_row(const tbi_small_island *small, const tbi_law *law, double *r) {
  double u = small->w.q[law->at] + tbi_padded_dot(row_of(small, law->at), r, small->stride);
  double wanted = r[law->at] - u / law->mobility;
  r[law->at] = tbi_min(tbi_max(wanted, law->lower), law->upper);
}

static void sweep(void *self, double *r) {
  const tbi_small_island *small = self;
  size_t n = (size_t)small->w.nunknown;
  double *own = small->row;
  memset(own, 0, sizeof *own * (size_t)small->stride);
  memcpy(own, r, n * sizeof *r);
  for (int32_t i = 0; i < small->w.nlaw; ++i) {
    const tbi_law *law = &small->w.law[i];
    const tbi_point *c = tbi_island_point(small->island, i);
    if (c) {
      visit_point(small, c, law->at, own);
    } else {
      visit_row(small, law, own);
    }
  }
  memcpy(r, own, n * sizeof *r);
}

/* -- Newton steps */

static bool is_open(const tbi_law *law, const double *d) {
  for (int32_t k = 0; k < law->size * law->size; ++k)
    if (d[k] != 0) return false;
  return true;
}

/* An open law says dr = g.  Lists the unknowns of all others; dr is zero there. */
static int32_t list_active(const tbi_small_island *small, const tbi_law_block *d, const double *g,
                           double *dr) {
  int32_t count = 0;
  for (int32_t i = 0; i < small->w.nlaw; ++i) {
    const tbi_law *law = &small->w.law[i];
    bool open = is_open(law, d[i].m);
    for (int32_t k = law->at; k < law->at + law->size; ++k) {
      dr[k] = open ? g[k] : 0;
      if (!open) small->active[count++] = k;
    }
  }
  return count;
}

/* the rows of (1 + D W | g) of one law, without open unknowns; returns where the next begin */
static double *write_law(const tbi_small_island *small, const tbi_law *law, const double *d,
                         const double *g, const double *dr, int32_t count, double *to) {
  int32_t n = small->w.nunknown;
  for (int32_t k = 0; k < law->size; ++k, d += law->size) {
    double *row = small->row;
    memset(row, 0, sizeof *row * (size_t)small->stride);
    for (int32_t l = 0; l < law->size; ++l)
      if (d[l] != 0) tbi_padded_axpy(d[l], row_of(small, law->at + l), row, small->stride);
    double right = g[law->at + k];
    for (int32_t j = 0; j < n; ++j)
      right -= row[j] * dr[j];
    row[law->at + k] += 1;
    for (int32_t j = 0; j < count; ++j)
      *to++ = row[small->active[j]];
    *to++ = right;
    for (ptrdiff_t j = count + 1; j < tbi_lu_width(count); ++j)
      *to++ = 0;
  }
  return to;
}

/* (1 + D W) dr = g */
static bool newton(void *self, const tbi_law_block *d, const double *g, double *dr) {
  const tbi_small_island *small = self;
  int32_t count = list_active(small, d, g, dr);
  double *to = small->scratch;
  for (int32_t i = 0; i < small->w.nlaw; ++i) {
    const tbi_law *law = &small->w.law[i];
    if (!is_open(law, d[i].m)) to = write_law(small, law, d[i].m, g, dr, count, to);
  }
  double *x = small->row;
  if (!tbi_lu_solve_once(count, small->scratch, x)) return false;
  for (int32_t j = 0; j < count; ++j)
    dr[small->active[j]] = x[j];
  return true;
}

/* -- the matrix */

static void fill_side(v4 arm, const m4 *frame, double sign, v4 column[6]) {
  v4 x = v4_scale(sign, v4_cross(arm, frame->x));
  v4 y = v4_scale(sign, v4_cross(arm, frame->y));
  v4 z = v4_scale(sign, v4_cross(arm, frame->z));
  column[0] = v4_make(sign * v4_x(frame->x), sign * v4_x(frame->y), sign * v4_x(frame->z));
  column[1] = v4_make(sign * v4_y(frame->x), sign * v4_y(frame->y), sign * v4_y(frame->z));
  column[2] = v4_make(sign * v4_z(frame->x), sign * v4_z(frame->y), sign * v4_z(frame->z));
  column[3] = v4_make(v4_x(x), v4_x(y), v4_x(z));
  column[4] = v4_make(v4_y(x), v4_y(y), v4_y(z));
  column[5] = v4_make(v4_z(x), v4_z(y), v4_z(z));
}

/* the velocity of a point by a twist of one side */
static inline v4 add_side(v4 u, const v4 column[6], sv twist) {
  u = v4_axpy(u, v4_x(twist.lin), column[0]);
  u = v4_axpy(u, v4_y(twist.lin), column[1]);
  u = v4_axpy(u, v4_z(twist.lin), column[2]);
  u = v4_axpy(u, v4_x(twist.ang), column[3]);
  u = v4_axpy(u, v4_y(twist.ang), column[4]);
  return v4_axpy(u, v4_z(twist.ang), column[5]);
}

/* what a wrench at one port does to all ports of its cluster */
static void push_port(const tbi_problem *p, int32_t port, sv wrench, sv *velocity) {
  if (port == TABI_NONE) return;
  int32_t cluster = p->port[port].cluster;
  int32_t first = p->cluster_port[cluster];
  for (int32_t k = first; k < first + p->cluster_ports[cluster]; ++k)
    velocity[k] = sv_add(velocity[k], tbi_problem_response(p, k, port, wrench));
}

static void stop_ports(const tbi_island *island) {
  const tbi_problem *p = island->all->p;
  for (int32_t i = 0; i < island->ncluster; ++i) {
    int32_t cluster = island->cluster[i];
    for (int32_t k = 0; k < p->cluster_ports[cluster]; ++k)
      island->all->port[p->cluster_port[cluster] + k] = sv_zero();
  }
}

/* Velocities by an impulse along one axis at a point, of it and those that follow: a row of W and,
 * as it is symmetric, a column. */
static void fill_axis(const tbi_small_island *small, const tbi_island *island, int32_t point,
                      int axis) {
  const jacobian *of = (const jacobian *)(const void *)small->scratch;
  const tbi_point *c = tbi_island_point(island, point);
  const v4 along[3] = {c->frame.x, c->frame.y, c->frame.z};
  tbi_sides on = tbi_point_wrenches(c, along[axis]);
  const sv *velocity = island->all->port;
  int32_t n = small->stride;
  int32_t at = 3 * point + axis;
  stop_ports(island);
  push_port(island->all->p, c->port_a, on.a, island->all->port);
  push_port(island->all->p, c->port_b, on.b, island->all->port);
  for (int32_t i = point; i < island->npoint; ++i) {
    const tbi_point *to = tbi_island_point(island, i);
    v4 u = v4_zero();
    if (to->port_a != TABI_NONE) u = add_side(u, of[i].a, velocity[to->port_a]);
    if (to->port_b != TABI_NONE) u = add_side(u, of[i].b, velocity[to->port_b]);
    double *row = small->matrix + (ptrdiff_t)at * n + (ptrdiff_t)3 * i;
    v3_store(v4_to(u), row);
    for (ptrdiff_t k = 0; k < 3; ++k)
      small->matrix[((ptrdiff_t)3 * i + k) * n + at] = row[k];
  }
}

static void fill_points(const tbi_small_island *small, const tbi_island *island) {
  jacobian *of = (jacobian *)(void *)small->scratch;
  for (int32_t i = 0; i < island->npoint; ++i) {
    const tbi_point *c = tbi_island_point(island, i);
    fill_side(c->arm_a, &c->frame, -1, of[i].a);
    fill_side(c->arm_b, &c->frame, 1, of[i].b);
  }
  for (int32_t i = 0; i < island->npoint; ++i)
    for (int axis = 0; axis < 3; ++axis)
      fill_axis(small, island, i, axis);
}

static void fill_row(const tbi_island *island, const tbi_small_island *small, int32_t at) {
  double *unit = small->row;
  double *row = small->matrix + (ptrdiff_t)at * small->stride;
  memset(unit, 0, sizeof *unit * (size_t)small->stride);
  unit[at] = 1;
  island->w.multiply(island->w.self, unit, row);
  for (int32_t i = 0; i < island->w.nunknown; ++i)
    small->matrix[(ptrdiff_t)i * small->stride + at] = row[i];
}

static void fill_up(const tbi_small_island *small) {
  int32_t n = small->w.nunknown;
  for (int32_t i = 0; i < n; ++i)
    memset(small->matrix + (ptrdiff_t)i * small->stride + n, 0,
           sizeof *small->matrix * (size_t)(small->stride - n));
}

bool tbi_small_island_make(tbi_small_island *small, const tbi_island *island) {
  int32_t n = island->w.nunknown;
  if (n > TBI_SMALL_ISLAND_UNKNOWNS || island->ncouple > 0) return false;
  small->w = island->w;
  small->w.self = small;
  small->island = island;
  small->stride = (int32_t)tbi_padded_size(n);
  small->w.multiply = multiply;
  small->w.sweep = sweep;
  small->w.newton = newton;
  fill_points(small, island);
  for (int32_t i = 3 * island->npoint; i < n; ++i)
    fill_row(island, small, i);
  fill_up(small);
  return true;
}

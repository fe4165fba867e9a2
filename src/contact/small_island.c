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
  SCRATCH = UNKNOWNS * (UNKNOWNS + TBI_PADDING),
  WIDE = 32 /* numbers of a product at a time */
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

/* numbers at..at + width of W r, W being symmetric */
static inline void multiply_part(const tbi_small_island *small, const double *r, int32_t at,
                                 int32_t width) {
  double sum[WIDE] = {0};
  for (int32_t j = 0; j < small->w.nunknown; ++j) {
    const double *row = row_of(small, j) + at;
    for (int32_t k = 0; k < width; ++k)
      sum[k] += r[j] * row[k];
  }
  memcpy(small->row + at, sum, sizeof *sum * (size_t)width);
}

/* sums stay in registers as long as that is possible */
static void multiply(void *self, const double *r, double *wr) {
  const tbi_small_island *small = self;
  int32_t at = 0;
  for (; at + WIDE <= small->stride; at += WIDE)
    multiply_part(small, r, at, WIDE);
  for (; at < small->stride; at += TBI_PADDING)
    multiply_part(small, r, at, TBI_PADDING);
  memcpy(wr, small->row, sizeof *wr * (size_t)small->w.nunknown);
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

/* dr + D W dr = g, with small->active: an open law says dr = g, so the first `count` are the
 * unknowns of all others, and from `known` to the end stand those that are open and not zero. */
typedef struct step {
  const double *g;
  double *dr;
  int32_t count, known;
} step;

/* also sets dr of open laws, and of all others to zero */
static step list_active(const tbi_small_island *small, const tbi_law_block *d, const double *g,
                        double *dr) {
  step s = {.g = g, .dr = dr, .known = UNKNOWNS};
  for (int32_t i = 0; i < small->w.nlaw; ++i) {
    const tbi_law *law = &small->w.law[i];
    bool open = is_open(law, d[i].m);
    for (int32_t k = law->at; k < law->at + law->size; ++k) {
      dr[k] = open ? g[k] : 0;
      if (!open) small->active[s.count++] = k;
      if (dr[k] != 0) small->active[--s.known] = k;
    }
  }
  return s;
}

/* small->row = d W of one law, d being a row of its D */
static void combine(const tbi_small_island *small, const tbi_law *law, const double *d) {
  const double *w = row_of(small, law->at);
  double *row = small->row;
  int32_t n = small->stride;
  if (law->size == 1) {
    for (int32_t j = 0; j < n; ++j)
      row[j] = d[0] * w[j];
  } else {
    for (int32_t j = 0; j < n; ++j)
      row[j] = d[0] * w[j] + d[1] * w[n + j] + d[2] * w[2 * n + j];
  }
}

/* The rows of (1 + D W | g - D W dr) of one law, without open unknowns; returns where the next
 * begin. */
static double *write_law(const tbi_small_island *small, const tbi_law *law, const double *d,
                         const step *s, double *to) {
  ptrdiff_t width = tbi_lu_width(s->count);
  for (int32_t k = law->at; k < law->at + law->size; ++k, d += law->size, to += width) {
    combine(small, law, d);
    double right = s->g[k];
    for (int32_t j = UNKNOWNS - 1; j >= s->known; --j)
      right -= small->row[small->active[j]] * s->dr[small->active[j]];
    small->row[k] += 1;
    for (int32_t j = 0; j < s->count; ++j)
      to[j] = small->row[small->active[j]];
    to[s->count] = right;
    memset(to + s->count + 1, 0, sizeof *to * (size_t)(width - s->count - 1));
  }
  return to;
}

/* (1 + D W) dr = g */
static bool newton(void *self, const tbi_law_block *d, const double *g, double *dr) {
  const tbi_small_island *small = self;
  step s = list_active(small, d, g, dr);
  double *to = small->scratch;
  for (int32_t i = 0; i < small->w.nlaw; ++i) {
    const tbi_law *law = &small->w.law[i];
    if (!is_open(law, d[i].m)) to = write_law(small, law, d[i].m, &s, to);
  }
  double *x = small->row;
  if (!tbi_lu_solve_once(s.count, small->scratch, x)) return false;
  for (int32_t j = 0; j < s.count; ++j)
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

/* velocities of a port by impulses along the three axes at a point; numbers in memory reach all
 * lanes of a vector at once */
typedef struct twists {
  double by[3][6];
} twists;

/* the velocity of a point by a twist of one side */
static inline v4 add_side(v4 u, const v4 column[6], const double twist[6]) {
  for (int k = 0; k < 6; ++k)
    u = v4_axpy(u, twist[k], column[k]);
  return u;
}

/* what a wrench at one port does to another, of its cluster or not */
static inline sv push_port(const tbi_problem *p, int32_t port, sv wrench, int32_t to) {
  if (port == TABI_NONE || p->port[port].cluster != p->port[to].cluster) return sv_zero();
  return tbi_problem_response(p, to, port, wrench);
}

static void respond(const tbi_problem *p, const tbi_point *c, const tbi_sides on[3], int32_t to,
                    twists *v) {
  for (int axis = 0; to != TABI_NONE && axis < 3; ++axis) {
    sv u = sv_add(push_port(p, c->port_a, on[axis].a, to), push_port(p, c->port_b, on[axis].b, to));
    v3_store(v4_to(u.lin), v->by[axis]);
    v3_store(v4_to(u.ang), v->by[axis] + 3);
  }
}

/* Velocities by impulses along the three axes at a point, of it and those that follow: rows of W
 * and, as it is symmetric, columns. */
static void fill_point(const tbi_small_island *small, const tbi_island *island, int32_t point) {
  const tbi_problem *p = island->all->p;
  const jacobian *of = (const jacobian *)(const void *)small->scratch;
  const tbi_point *c = tbi_island_point(island, point);
  const tbi_sides on[3] = {tbi_point_wrenches(c, c->frame.x), tbi_point_wrenches(c, c->frame.y),
                           tbi_point_wrenches(c, c->frame.z)};
  twists a;
  twists b;
  respond(p, c, on, c->port_a, &a);
  respond(p, c, on, c->port_b, &b);
  const tbi_point *last = c; /* whose ports have moved like this */
  for (int32_t i = point; i < island->npoint; ++i) {
    const tbi_point *to = tbi_island_point(island, i);
    if (to->port_a != last->port_a) respond(p, c, on, to->port_a, &a);
    if (to->port_b != last->port_b) respond(p, c, on, to->port_b, &b);
    last = to;
    for (ptrdiff_t axis = 0; axis < 3; ++axis) {
      v4 u = v4_zero();
      if (to->port_a != TABI_NONE) u = add_side(u, of[i].a, a.by[axis]);
      if (to->port_b != TABI_NONE) u = add_side(u, of[i].b, b.by[axis]);
      ptrdiff_t at = (ptrdiff_t)3 * point + axis;
      double *row = small->matrix + at * small->stride + (ptrdiff_t)3 * i;
      v3_store(v4_to(u), row);
      for (ptrdiff_t k = 0; k < 3; ++k)
        small->matrix[((ptrdiff_t)3 * i + k) * small->stride + at] = row[k];
    }
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
    fill_point(small, island, i);
}

/* Rows before the k-th have filled in what they have in common with it. */
static void fill_row(const tbi_small_island *small, const tbi_island *island, int32_t k) {
  int32_t at = 3 * island->npoint + k;
  double *row = small->matrix + (ptrdiff_t)at * small->stride;
  tbi_island_row_response(island, k, row);
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
  for (int32_t k = 0; k < island->nrow; ++k)
    fill_row(small, island, k);
  fill_up(small);
  return true;
}

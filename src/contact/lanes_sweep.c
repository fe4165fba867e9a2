/* lanes_sweep.c - the sweep of lanes.h on vectors of TBI_LANES_WIDTH numbers; this file is compiled
 * once for each width.  Compilers take vectors that are wider than the machine's through memory. */
#include "contact/lane_rows.h"

#include <math.h>
#include <string.h>

#define JOIN(name, width)    name##width
#define NAME_OF(name, width) JOIN(name, width)
#define NAME(name)           NAME_OF(name, TBI_LANES_WIDTH)

enum { WIDTH = TBI_LANES_WIDTH };

typedef double vec __attribute__((vector_size(8 * TBI_LANES_WIDTH)));
typedef long long mask __attribute__((vector_size(8 * TBI_LANES_WIDTH)));

static inline vec load(const double *from) {
  vec x;
  memcpy(&x, from, sizeof x);
  return x;
}
static inline void store(vec x, double *to) { memcpy(to, &x, sizeof x); }
static inline vec choose(mask which, vec yes, vec no) {
  return (vec)((which & (mask)yes) | (~which & (mask)no));
}
static inline vec larger(vec x, vec y) { return choose(x > y, x, y); }
static inline vec absolute(vec x) { return (vec)((mask)x & INT64_MAX); }
static inline vec root(vec x) {
  for (int i = 0; i < WIDTH; ++i)
    x[i] = sqrt(x[i]);
  return x;
}

/* twists of the ports of some lanes */
typedef struct twists {
  vec v[6];
} twists;

static inline twists gather(double *const *from) {
  double x[6][WIDTH];
  for (int i = 0; i < WIDTH; ++i) {
    for (int k = 0; k < 3; ++k) {
      x[k][i] = from[i][k];
      x[3 + k][i] = from[i][4 + k];
    }
  }
  return (twists){
      {load(x[0]), load(x[1]), load(x[2]), load(x[3]), load(x[4]), load(x[5])}
  };
}
static inline void scatter(const twists *t, double *const *to) {
  for (int i = 0; i < WIDTH; ++i) {
    for (int k = 0; k < 3; ++k) {
      to[i][k] = t->v[k][i];
      to[i][4 + k] = t->v[3 + k][i];
    }
  }
}

static inline vec dot3(const tbi_lane *row, int at, const vec *x) {
  return (load(row[0] + at) * x[0] + load(row[1] + at) * x[1]) + load(row[2] + at) * x[2];
}

/* along axis k, less its target */
static inline vec velocity(const tbi_lane_row *c, int at, int k, const vec a[6], const vec b[6]) {
  const vec between[3] = {b[0] - a[0], b[1] - a[1], b[2] - a[2]};
  vec turning = dot3(c->moment_b[k], at, b + 3) + dot3(c->moment_a[k], at, a + 3);
  return dot3(c->axis[k], at, between) + turning - load(c->target[k] + at);
}

/* the step of a contact that sticks */
static inline vec stick(const tbi_lane_row *c, int at, int x, int y, int z, const vec u[3]) {
  return -((load(c->inverse[x] + at) * u[0] + load(c->inverse[y] + at) * u[1]) +
           load(c->inverse[z] + at) * u[2]);
}

/* the projected step of one that does not */
static inline void slip(const tbi_lane_row *c, int at, const vec p[3], const vec u[3], vec d[3]) {
  vec normal = p[0] - u[0] * load(c->normal_inverse + at);
  const vec zero = {0};
  normal = larger(normal, zero);
  d[0] = normal - p[0];
  vec slide = load(c->slide + at);
  vec y = p[1] - slide * (u[1] + load(c->coupling[0] + at) * d[0]);
  vec z = p[2] - slide * (u[2] + load(c->coupling[1] + at) * d[0]);
  vec max = load(c->friction + at) * normal;
  vec square = y * y + z * z;
  mask outside = square > max * max;
  vec one = zero + 1;
  vec keep = choose(outside, max / root(choose(outside, square, one)), one);
  d[1] = keep * y - p[1];
  d[2] = keep * z - p[2];
}

static inline void push(const tbi_lane change[3][6], int at, const vec d[3], vec v[6]) {
  for (int k = 0; k < 6; ++k)
    v[k] += (load(change[0][k] + at) * d[0] + load(change[1][k] + at) * d[1]) +
            load(change[2][k] + at) * d[2];
}

static inline bool all(mask which) {
  long long every = -1;
  for (int i = 0; i < WIDTH; ++i)
    every &= which[i];
  return every != 0;
}

/* of some lanes, as tbi_lanes_change */
typedef struct changes {
  vec largest, square;
} changes;

static inline void visit(tbi_lane_row *c, int at, vec a[6], vec b[6], changes *to) {
  const vec p[3] = {load(c->impulse[0] + at), load(c->impulse[1] + at), load(c->impulse[2] + at)};
  const vec u[3] = {velocity(c, at, 0, a, b), velocity(c, at, 1, a, b), velocity(c, at, 2, a, b)};
  const vec held[3] = {stick(c, at, 0, 3, 4, u), stick(c, at, 3, 1, 5, u),
                       stick(c, at, 4, 5, 2, u)};
  vec d[3];
  const vec stuck[3] = {p[0] + held[0], p[1] + held[1], p[2] + held[2]};
  vec max = load(c->friction + at) * stuck[0];
  mask sticks = (stuck[0] >= 0) & (stuck[1] * stuck[1] + stuck[2] * stuck[2] <= max * max);
  /* what is open and parts stays as it is */
  mask parts = (p[0] == 0) & (p[1] == 0) & (p[2] == 0) & (u[0] >= 0) & ~sticks;
  const vec none = {0};
  if (all(parts)) {
    for (int k = 0; k < 3; ++k)
      store(none, c->step[k] + at);
    return;
  }
  slip(c, at, p, u, d);
  for (int k = 0; k < 3; ++k) {
    d[k] = choose(parts, none, choose(sticks, held[k], d[k]));
    store(d[k], c->step[k] + at);
    store(p[k] + d[k], c->impulse[k] + at);
  }
  push((const tbi_lane(*)[6])c->change_a, at, d, a);
  push((const tbi_lane(*)[6])c->change_b, at, d, b);
  vec size = larger(absolute(d[0]), larger(absolute(d[1]), absolute(d[2])));
  vec mobility = load(c->mobility + at);
  to->largest = larger(mobility * size, to->largest);
  to->square += mobility * ((d[0] * d[0] + d[1] * d[1]) + d[2] * d[2]);
}

/* -- rows */

static inline void cross(const vec a[3], const vec b[3], vec c[3]) {
  c[0] = a[1] * b[2] - a[2] * b[1];
  c[1] = a[2] * b[0] - a[0] * b[2];
  c[2] = a[0] * b[1] - a[1] * b[0];
}

static inline void load3(tbi_lane *from, int at, vec x[3]) {
  for (int k = 0; k < 3; ++k)
    x[k] = load(from[k] + at);
}

/* of component k, to a unit impulse f with the moment m */
static inline vec response(tbi_lane block[6][6], int k, int at, const vec f[3], const vec m[3]) {
  vec lin = f[0] * load(block[0][k] + at) + f[1] * load(block[1][k] + at);
  vec ang = m[0] * load(block[3][k] + at) + m[1] * load(block[4][k] + at);
  return (lin + f[2] * load(block[2][k] + at)) + (ang + m[2] * load(block[5][k] + at));
}

/* of one side; `opposite`: of impulses on b, as a feels them */
static inline void respond(tbi_lane_port *port, int at, bool opposite, tbi_lane axis[3][3],
                           tbi_lane moment[3][3], tbi_lane change[3][6]) {
  vec arm[3];
  load3(port->arm, at, arm);
  for (int i = 0; i < 3; ++i) {
    vec f[3];
    vec m[3];
    load3(axis[i], at, f);
    cross(arm, f, m);
    for (int k = 0; k < 3; ++k)
      store(opposite ? -m[k] : m[k], moment[i][k] + at);
    for (int k = 0; k < 6; ++k) {
      vec v = response(port->block, k, at, f, m);
      store(opposite ? -v : v, change[i][k] + at);
    }
  }
}

void NAME(tbi_lanes_respond)(tbi_lane_port *a, tbi_lane_port *b, tbi_lane_row *row) {
  for (int at = 0; at < TBI_SWEEP_LANES; at += WIDTH) {
    respond(a, at, true, row->axis, row->moment_a, row->change_a);
    respond(b, at, false, row->axis, row->moment_b, row->change_b);
  }
}

/* -- sweeps */

tbi_lanes_change NAME(tbi_lanes_sweep)(const tbi_lane_pack *pack, int32_t count,
                                       tbi_lane_row *row) {
  changes change[TBI_SWEEP_LANES / WIDTH];
  memset(change, 0, sizeof change);
  for (int32_t i = 0; i < count; ++i, ++pack) {
    for (int at = 0; at < TBI_SWEEP_LANES; at += WIDTH) {
      twists a = gather(pack->a + at);
      twists b = gather(pack->b + at);
      for (int32_t r = pack->row; r < pack->row + pack->rows; ++r)
        visit(&row[r], at, a.v, b.v, &change[at / WIDTH]);
      scatter(&a, pack->a + at);
      scatter(&b, pack->b + at);
    }
  }
  tbi_lanes_change all = {0};
  for (int i = 0; i < TBI_SWEEP_LANES; ++i) {
    const changes *own = &change[i / WIDTH];
    all.largest = own->largest[i % WIDTH] > all.largest ? own->largest[i % WIDTH] : all.largest;
    all.square += own->square[i % WIDTH];
  }
  return all;
}

/* lanes_plain.c - the reference of lanes_sweep.c: the same operations in the same order, one lane
 * after another, with branches. */
#include "contact/lane_rows.h"

#include <math.h>

/* the twist of a port, without padding */
typedef struct twist {
  double v[6];
} twist;

static twist read_twist(const double *from) {
  return (twist){
      {from[0], from[1], from[2], from[4], from[5], from[6]}
  };
}

static void write_twist(const twist *x, double *to) {
  for (int k = 0; k < 3; ++k) {
    to[k] = x->v[k];
    to[4 + k] = x->v[3 + k];
  }
}

static double dot3(const tbi_lane *row, int lane, const double *x) {
  return (row[0][lane] * x[0] + row[1][lane] * x[1]) + row[2][lane] * x[2];
}

/* along axis k, less its target */
static double velocity(const tbi_lane_row *c, int lane, int k, const twist *a, const twist *b) {
  const double between[3] = {b->v[0] - a->v[0], b->v[1] - a->v[1], b->v[2] - a->v[2]};
  double turning = dot3(c->moment_b[k], lane, b->v + 3) + dot3(c->moment_a[k], lane, a->v + 3);
  return dot3(c->axis[k], lane, between) + turning - c->target[k][lane];
}

/* the step of a contact that sticks; false: it would leave its cone */
static bool stick(const tbi_lane_row *c, int lane, const double u[3], double d[3]) {
  static const int entry[3][3] = {
      {0, 3, 4},
      {3, 1, 5},
      {4, 5, 2}
  };
  double stuck[3];
  for (int k = 0; k < 3; ++k) {
    const int *e = entry[k];
    d[k] = -((c->inverse[e[0]][lane] * u[0] + c->inverse[e[1]][lane] * u[1]) +
             c->inverse[e[2]][lane] * u[2]);
    stuck[k] = c->impulse[k][lane] + d[k];
  }
  double max = c->friction[lane] * stuck[0];
  return stuck[0] >= 0 && stuck[1] * stuck[1] + stuck[2] * stuck[2] <= max * max;
}

/* what is open and parts stays as it is */
static bool part(const tbi_lane_row *c, int lane, const double u[3], double d[3]) {
  d[0] = d[1] = d[2] = 0;
  return c->impulse[0][lane] == 0 && c->impulse[1][lane] == 0 && c->impulse[2][lane] == 0 &&
         u[0] >= 0;
}

static void slip(const tbi_lane_row *c, int lane, const double u[3], double d[3]) {
  double p = c->impulse[0][lane];
  double normal = p - u[0] * c->normal_inverse[lane];
  normal = normal > 0 ? normal : 0;
  d[0] = normal - p;
  double t[2];
  for (int k = 0; k < 2; ++k)
    t[k] = c->impulse[1 + k][lane] - c->slide[lane] * (u[1 + k] + c->coupling[k][lane] * d[0]);
  double max = c->friction[lane] * normal;
  double square = t[0] * t[0] + t[1] * t[1];
  double keep = square > max * max ? max / sqrt(square) : 1;
  for (int k = 0; k < 2; ++k)
    d[1 + k] = keep * t[k] - c->impulse[1 + k][lane];
}

static void push(const tbi_lane change[3][6], int lane, const double d[3], twist *v) {
  for (int k = 0; k < 6; ++k)
    v->v[k] += (change[0][k][lane] * d[0] + change[1][k][lane] * d[1]) + change[2][k][lane] * d[2];
}

static void visit(tbi_lane_row *c, int lane, twist *a, twist *b, tbi_lanes_change *to) {
  double u[3];
  for (int k = 0; k < 3; ++k)
    u[k] = velocity(c, lane, k, a, b);
  double d[3];
  if (!stick(c, lane, u, d) && !part(c, lane, u, d)) slip(c, lane, u, d);
  double size = 0;
  for (int k = 0; k < 3; ++k) {
    c->step[k][lane] = d[k];
    c->impulse[k][lane] += d[k];
    size = fabs(d[k]) > size ? fabs(d[k]) : size;
  }
  push((const tbi_lane(*)[6])c->change_a, lane, d, a);
  push((const tbi_lane(*)[6])c->change_b, lane, d, b);
  double change = c->mobility[lane] * size;
  to->largest = change > to->largest ? change : to->largest;
  to->square += c->mobility[lane] * ((d[0] * d[0] + d[1] * d[1]) + d[2] * d[2]);
}

tbi_lanes_change tbi_lanes_sweep_plain(const tbi_lane_pack *pack, int32_t count,
                                       tbi_lane_row *row) {
  tbi_lanes_change change[TBI_SWEEP_LANES] = {0};
  for (int32_t i = 0; i < count; ++i, ++pack) {
    for (int lane = 0; lane < TBI_SWEEP_LANES; ++lane) {
      twist a = read_twist(pack->a[lane]);
      twist b = read_twist(pack->b[lane]);
      for (int32_t r = pack->row; r < pack->row + pack->rows; ++r)
        visit(&row[r], lane, &a, &b, &change[lane]);
      write_twist(&a, pack->a[lane]);
      write_twist(&b, pack->b[lane]);
    }
  }
  tbi_lanes_change all = {0};
  for (int lane = 0; lane < TBI_SWEEP_LANES; ++lane) {
    all.largest = change[lane].largest > all.largest ? change[lane].largest : all.largest;
    all.square += change[lane].square;
  }
  return all;
}

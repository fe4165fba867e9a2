/* vec.h - vectors of three, by value. */
#ifndef TBI_VEC_H
#define TBI_VEC_H

#include <math.h>

/* without the care for NaN that makes fmax and fmin calls */
static inline double tbi_max(double a, double b) { return a > b ? a : b; }
static inline double tbi_min(double a, double b) { return a < b ? a : b; }

typedef struct v3 {
  double x, y, z;
} v3;

static inline v3 v3_make(double x, double y, double z) { return (v3){x, y, z}; }
static inline v3 v3_zero(void) { return (v3){0, 0, 0}; }
static inline v3 v3_load(const double *a) { return (v3){a[0], a[1], a[2]}; }
static inline void v3_store(v3 a, double *to) {
  to[0] = a.x;
  to[1] = a.y;
  to[2] = a.z;
}

static inline v3 v3_add(v3 a, v3 b) { return (v3){a.x + b.x, a.y + b.y, a.z + b.z}; }
static inline v3 v3_sub(v3 a, v3 b) { return (v3){a.x - b.x, a.y - b.y, a.z - b.z}; }
static inline v3 v3_neg(v3 a) { return (v3){-a.x, -a.y, -a.z}; }
static inline v3 v3_scale(double s, v3 a) { return (v3){s * a.x, s * a.y, s * a.z}; }
/* a + s b */
static inline v3 v3_axpy(v3 a, double s, v3 b) {
  return (v3){a.x + s * b.x, a.y + s * b.y, a.z + s * b.z};
}
static inline double v3_dot(v3 a, v3 b) { return a.x * b.x + a.y * b.y + a.z * b.z; }
static inline v3 v3_cross(v3 a, v3 b) {
  return (v3){a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x};
}
/* x with column[0] x.x + column[1] x.y + column[2] x.z = b, by Cramer's rule. */
static inline v3 v3_solve(const v3 column[3], v3 b) {
  double det = v3_dot(column[0], v3_cross(column[1], column[2]));
  return (v3){v3_dot(b, v3_cross(column[1], column[2])) / det,
              v3_dot(column[0], v3_cross(b, column[2])) / det,
              v3_dot(column[0], v3_cross(column[1], b)) / det};
}
static inline double v3_norm(v3 a) { return sqrt(v3_dot(a, a)); }

#endif

/* simd.h - vectors of three, padded with a zero to four doubles, through the compiler's vector
 * extension: no intrinsics, the same bits whatever the machine has.
 *
 * With AVX a v4 is one vector.  Without, it is two halves: compilers keep those in registers, but
 * take a vector wider than the machine's through memory (measured: seven times slower). */
#ifndef TBI_SIMD_H
#define TBI_SIMD_H

#include "math/mat.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

typedef double v2 __attribute__((vector_size(16)));

#ifdef __AVX__
typedef double v4 __attribute__((vector_size(32)));
static inline v4 v4_make(double x, double y, double z) { return (v4){x, y, z, 0}; }
static inline v4 v4_splat(double s) { return (v4){s, s, s, s}; }
static inline double v4_x(v4 a) { return a[0]; }
static inline double v4_y(v4 a) { return a[1]; }
static inline double v4_z(v4 a) { return a[2]; }
static inline v4 v4_add(v4 a, v4 b) { return a + b; }
static inline v4 v4_sub(v4 a, v4 b) { return a - b; }
static inline v4 v4_mul(v4 a, v4 b) { return a * b; }
static inline v4 v4_scale(double s, v4 a) { return s * a; }
/* the order of the sum is part of the promise of equal bits */
static inline double v4_sum(v4 a) { return (a[0] + a[2]) + (a[1] + a[3]); }
/* (y, z, x) */
static inline v4 v4_rotated(v4 a) { return __builtin_shufflevector(a, a, 1, 2, 0, 3); }
typedef long long v4_bits __attribute__((vector_size(32)));
static inline v4 v4_abs(v4 a) { return (v4)((v4_bits)a & INT64_MAX); }
/* whether all four numbers of a are at most those of b */
static inline bool v4_all_le(v4 a, v4 b) {
  v4_bits le = a <= b;
  return ((le[0] & le[2]) & (le[1] & le[3])) != 0;
}
#else
typedef struct v4 {
  v2 lo, hi;
} v4;
static inline v4 v4_make(double x, double y, double z) {
  return (v4){
      {x, y},
      {z, 0}
  };
}
static inline v4 v4_splat(double s) {
  return (v4){
      {s, s},
      {s, s}
  };
}
static inline double v4_x(v4 a) { return a.lo[0]; }
static inline double v4_y(v4 a) { return a.lo[1]; }
static inline double v4_z(v4 a) { return a.hi[0]; }
static inline v4 v4_add(v4 a, v4 b) { return (v4){a.lo + b.lo, a.hi + b.hi}; }
static inline v4 v4_sub(v4 a, v4 b) { return (v4){a.lo - b.lo, a.hi - b.hi}; }
static inline v4 v4_mul(v4 a, v4 b) { return (v4){a.lo * b.lo, a.hi * b.hi}; }
static inline v4 v4_scale(double s, v4 a) { return (v4){s * a.lo, s * a.hi}; }
static inline double v4_sum(v4 a) {
  v2 pair = a.lo + a.hi;
  return pair[0] + pair[1];
}
static inline v4 v4_rotated(v4 a) {
  return (v4){__builtin_shufflevector(a.lo, a.hi, 1, 2), __builtin_shufflevector(a.lo, a.hi, 0, 3)};
}
typedef long long v2_bits __attribute__((vector_size(16)));
static inline v4 v4_abs(v4 a) {
  return (v4){(v2)((v2_bits)a.lo & INT64_MAX), (v2)((v2_bits)a.hi & INT64_MAX)};
}
static inline bool v4_all_le(v4 a, v4 b) {
  v2_bits le = (a.lo <= b.lo) & (a.hi <= b.hi);
  return (le[0] & le[1]) != 0;
}
#endif

/* four numbers in a row of memory */
static inline v4 v4_load(const double *from) {
  v4 a;
  memcpy(&a, from, sizeof a);
  return a;
}
static inline void v4_save(v4 a, double *to) { memcpy(to, &a, sizeof a); }

static inline v4 v4_zero(void) { return v4_make(0, 0, 0); }
static inline v4 v4_from(v3 a) { return v4_make(a.x, a.y, a.z); }
static inline v3 v4_to(v4 a) { return (v3){v4_x(a), v4_y(a), v4_z(a)}; }
/* a + s b */
static inline v4 v4_axpy(v4 a, double s, v4 b) { return v4_add(a, v4_scale(s, b)); }
static inline double v4_dot(v4 a, v4 b) { return v4_sum(v4_mul(a, b)); }
static inline v4 v4_cross(v4 a, v4 b) {
  return v4_rotated(v4_sub(v4_mul(a, v4_rotated(b)), v4_mul(v4_rotated(a), b)));
}

/* 3x3 by columns */
typedef struct m4 {
  v4 x, y, z;
} m4;

static inline m3 m4_to(const m4 *a) {
  return m3_from_columns(v4_to(a->x), v4_to(a->y), v4_to(a->z));
}
static inline m4 m4_from_sym(s3 a) {
  return (m4){v4_make(a.xx, a.xy, a.xz), v4_make(a.xy, a.yy, a.yz), v4_make(a.xz, a.yz, a.zz)};
}
static inline m4 m4_add(const m4 *a, const m4 *b) {
  return (m4){v4_add(a->x, b->x), v4_add(a->y, b->y), v4_add(a->z, b->z)};
}
/* a - u w' */
static inline m4 m4_less_product(const m4 *a, v4 u, v4 w) {
  return (m4){v4_axpy(a->x, -v4_x(w), u), v4_axpy(a->y, -v4_y(w), u), v4_axpy(a->z, -v4_z(w), u)};
}
/* columns of a, as many of each as the three numbers say */
static inline v4 m4_combine(const m4 *a, double x, double y, double z) {
  return v4_axpy(v4_axpy(v4_scale(x, a->x), y, a->y), z, a->z);
}
static inline v4 m4_mulv(const m4 *a, v4 b) { return m4_combine(a, v4_x(b), v4_y(b), v4_z(b)); }
static inline v4 m4_mulv3(const m4 *a, v3 b) { return m4_combine(a, b.x, b.y, b.z); }
static inline m4 m4_mul3(const m4 *a, const m3 *b) {
  return (m4){m4_mulv3(a, m3_column(b, 0)), m4_mulv3(a, m3_column(b, 1)),
              m4_mulv3(a, m3_column(b, 2))};
}
/* r times a turn about z: the third column stays */
static inline m4 m4_turn_z(const m4 *r, double sine, double cosine) {
  return (m4){v4_axpy(v4_scale(cosine, r->x), sine, r->y),
              v4_axpy(v4_scale(cosine, r->y), -sine, r->x), r->z};
}
/* r a r': the first product column by column, the second by the rows of r */
static inline m4 m4_rotate_sym(const m4 *r, s3 a) {
  m4 ra = {m4_combine(r, a.xx, a.xy, a.xz), m4_combine(r, a.xy, a.yy, a.yz),
           m4_combine(r, a.xz, a.yz, a.zz)};
  return (m4){m4_combine(&ra, v4_x(r->x), v4_x(r->y), v4_x(r->z)),
              m4_combine(&ra, v4_y(r->x), v4_y(r->y), v4_y(r->z)),
              m4_combine(&ra, v4_z(r->x), v4_z(r->y), v4_z(r->z))};
}

#endif

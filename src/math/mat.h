/* mat.h - 3x3 matrices, general (by rows) and symmetric, by value. */
#ifndef TBI_MAT_H
#define TBI_MAT_H

#include "math/vec.h"

#include <stdbool.h>

typedef struct m3 {
  double m[3][3];
} m3;

/* Symmetric: the six that differ, in the order of tabi_link_def. */
typedef struct s3 {
  double xx, yy, zz, xy, xz, yz;
} s3;

static inline m3 m3_identity(void) {
  return (m3){
      {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}
  };
}
static inline v3 m3_row(const m3 *a, int i) { return (v3){a->m[i][0], a->m[i][1], a->m[i][2]}; }
static inline v3 m3_column(const m3 *a, int j) { return (v3){a->m[0][j], a->m[1][j], a->m[2][j]}; }
static inline m3 m3_from_columns(v3 x, v3 y, v3 z) {
  return (m3){
      {{x.x, y.x, z.x}, {x.y, y.y, z.y}, {x.z, y.z, z.z}}
  };
}

static inline v3 m3_mulv(const m3 *a, v3 b) {
  return (v3){a->m[0][0] * b.x + a->m[0][1] * b.y + a->m[0][2] * b.z,
              a->m[1][0] * b.x + a->m[1][1] * b.y + a->m[1][2] * b.z,
              a->m[2][0] * b.x + a->m[2][1] * b.y + a->m[2][2] * b.z};
}
/* transpose(a) b */
static inline v3 m3_tmulv(const m3 *a, v3 b) {
  return (v3){a->m[0][0] * b.x + a->m[1][0] * b.y + a->m[2][0] * b.z,
              a->m[0][1] * b.x + a->m[1][1] * b.y + a->m[2][1] * b.z,
              a->m[0][2] * b.x + a->m[1][2] * b.y + a->m[2][2] * b.z};
}
static inline m3 m3_mul(const m3 *a, const m3 *b) {
  m3 c;
  for (int i = 0; i < 3; ++i) {
    for (int j = 0; j < 3; ++j) {
      c.m[i][j] = a->m[i][0] * b->m[0][j] + a->m[i][1] * b->m[1][j] + a->m[i][2] * b->m[2][j];
    }
  }
  return c;
}
static inline m3 m3_transpose(const m3 *a) {
  return m3_from_columns(m3_row(a, 0), m3_row(a, 1), m3_row(a, 2));
}

/* The rotation about a unit vector by an angle (Rodrigues). */
static inline m3 m3_about(v3 a, double sine, double cosine) {
  v3 t = v3_scale(1 - cosine, a);
  v3 s = v3_scale(sine, a);
  return (m3){
      {{cosine + t.x * a.x, t.x * a.y - s.z, t.x * a.z + s.y},
       {t.x * a.y + s.z, cosine + t.y * a.y, t.y * a.z - s.x},
       {t.x * a.z - s.y, t.y * a.z + s.x, cosine + t.z * a.z}}
  };
}

static inline s3 s3_zero(void) { return (s3){0, 0, 0, 0, 0, 0}; }
static inline s3 s3_load(const double *a) { return (s3){a[0], a[1], a[2], a[3], a[4], a[5]}; }
static inline void s3_store(s3 a, double *to) {
  to[0] = a.xx;
  to[1] = a.yy;
  to[2] = a.zz;
  to[3] = a.xy;
  to[4] = a.xz;
  to[5] = a.yz;
}
static inline s3 s3_add(s3 a, s3 b) {
  return (s3){a.xx + b.xx, a.yy + b.yy, a.zz + b.zz, a.xy + b.xy, a.xz + b.xz, a.yz + b.yz};
}
static inline v3 s3_mulv(s3 a, v3 b) {
  return (v3){a.xx * b.x + a.xy * b.y + a.xz * b.z, a.xy * b.x + a.yy * b.y + a.yz * b.z,
              a.xz * b.x + a.yz * b.y + a.zz * b.z};
}
/* r a transpose(r) */
static inline s3 s3_rotate(const m3 *r, s3 a) {
  v3 x = s3_mulv(a, m3_row(r, 0));
  v3 y = s3_mulv(a, m3_row(r, 1));
  v3 z = s3_mulv(a, m3_row(r, 2));
  return (s3){v3_dot(m3_row(r, 0), x), v3_dot(m3_row(r, 1), y), v3_dot(m3_row(r, 2), z),
              v3_dot(m3_row(r, 0), y), v3_dot(m3_row(r, 0), z), v3_dot(m3_row(r, 1), z)};
}
/* m (|c|^2 1 - c c'): inertia of a point mass at c */
static inline s3 s3_point_mass(double m, v3 c) {
  v3 h = v3_scale(m, c);
  return (s3){h.y * c.y + h.z * c.z,
              h.x * c.x + h.z * c.z,
              h.x * c.x + h.y * c.y,
              -h.x * c.y,
              -h.x * c.z,
              -h.y * c.z};
}

/* Whether an inverse is more than noise: the determinant against the cube of the trace. */
static inline bool s3_is_regular(s3 a) {
  double trace = a.xx + a.yy + a.zz;
  double determinant = a.xx * (a.yy * a.zz - a.yz * a.yz) - a.xy * (a.xy * a.zz - a.yz * a.xz) +
                       a.xz * (a.xy * a.yz - a.yy * a.xz);
  return determinant > 1e-9 * trace * trace * trace;
}
/* by cofactors; fit for well-conditioned matrices */
static inline s3 s3_inverse(s3 a) {
  double xx = a.yy * a.zz - a.yz * a.yz;
  double xy = a.xz * a.yz - a.xy * a.zz;
  double xz = a.xy * a.yz - a.xz * a.yy;
  double d = 1 / (a.xx * xx + a.xy * xy + a.xz * xz);
  return (s3){d * xx, d * (a.xx * a.zz - a.xz * a.xz), d * (a.xx * a.yy - a.xy * a.xy), d * xy,
              d * xz, d * (a.xy * a.xz - a.xx * a.yz)};
}

/* Eigenvalues in ascending order. */
void tbi_s3_eigenvalues(s3 s, double value[3]);

#endif

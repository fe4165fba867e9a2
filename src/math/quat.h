/* quat.h - unit quaternions (w, x, y, z) and the rotations they stand for. */
#ifndef TBI_QUAT_H
#define TBI_QUAT_H

#include "math/mat.h"

typedef struct q4 {
  double w, x, y, z;
} q4;

static inline q4 q_identity(void) { return (q4){1, 0, 0, 0}; }
static inline q4 q_load(const double *a) { return (q4){a[0], a[1], a[2], a[3]}; }
static inline void q_store(q4 a, double *to) {
  to[0] = a.w;
  to[1] = a.x;
  to[2] = a.y;
  to[3] = a.z;
}
static inline q4 q_mul(q4 a, q4 b) {
  return (q4){
      a.w * b.w - a.x * b.x - a.y * b.y - a.z * b.z, a.w * b.x + a.x * b.w + a.y * b.z - a.z * b.y,
      a.w * b.y - a.x * b.z + a.y * b.w + a.z * b.x, a.w * b.z + a.x * b.y - a.y * b.x + a.z * b.w};
}
static inline double q_norm(q4 a) { return sqrt(a.w * a.w + a.x * a.x + a.y * a.y + a.z * a.z); }
static inline q4 q_scale(double s, q4 a) { return (q4){s * a.w, s * a.x, s * a.y, s * a.z}; }
static inline q4 q_normalize(q4 a) { return q_scale(1 / q_norm(a), a); }

/* Rotation matrix of a quaternion of any length but zero. */
static inline m3 q_matrix(q4 a) {
  double s = 2 / (a.w * a.w + a.x * a.x + a.y * a.y + a.z * a.z);
  double xs = s * a.x;
  double ys = s * a.y;
  double zs = s * a.z;
  return (m3){
      {{1 - (a.y * ys + a.z * zs), a.x * ys - a.w * zs, a.x * zs + a.w * ys},
       {a.x * ys + a.w * zs, 1 - (a.x * xs + a.z * zs), a.y * zs - a.w * xs},
       {a.x * zs - a.w * ys, a.y * zs + a.w * xs, 1 - (a.x * xs + a.y * ys)}}
  };
}

/* The quaternion of a rotation matrix with w >= 0, by the largest of its four parts. */
static inline q4 q_from_matrix(const m3 *r) {
  double xx = r->m[0][0];
  double yy = r->m[1][1];
  double zz = r->m[2][2];
  q4 q;
  if (xx + yy + zz >= 0) {
    q = (q4){1 + xx + yy + zz, r->m[2][1] - r->m[1][2], r->m[0][2] - r->m[2][0],
             r->m[1][0] - r->m[0][1]};
  } else if (xx >= yy && xx >= zz) {
    q = (q4){r->m[2][1] - r->m[1][2], 1 + xx - yy - zz, r->m[0][1] + r->m[1][0],
             r->m[0][2] + r->m[2][0]};
  } else if (yy >= zz) {
    q = (q4){r->m[0][2] - r->m[2][0], r->m[0][1] + r->m[1][0], 1 - xx + yy - zz,
             r->m[1][2] + r->m[2][1]};
  } else {
    q = (q4){r->m[1][0] - r->m[0][1], r->m[0][2] + r->m[2][0], r->m[1][2] + r->m[2][1],
             1 - xx - yy + zz};
  }
  return q_scale((q.w < 0 ? -1 : 1) / q_norm(q), q);
}

/* The shortest rotation that takes z to a unit vector. */
static inline m3 q_matrix_to(v3 axis) {
  if (axis.z < -1 + 1e-12)
    return (m3){
        {{1, 0, 0}, {0, -1, 0}, {0, 0, -1}}
    };
  return q_matrix((q4){1 + axis.z, -axis.y, axis.x, 0});
}

/* The rotation by the vector r: about its direction, by its length. */
static inline q4 q_exp(v3 r) {
  double half = 0.5 * v3_norm(r);
  /* sin(h)/h, by its series where the quotient would be 0/0 */
  double s = half > 1e-4 ? sin(half) / half : 1 - half * half / 6;
  return (q4){cos(half), 0.5 * s * r.x, 0.5 * s * r.y, 0.5 * s * r.z};
}

#endif

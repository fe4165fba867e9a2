/* spatial.h - six-dimensional vectors and inertias, in world axes at one common origin O.
 *
 * A motion is (velocity of the body-fixed point at O, angular velocity), a force is (force, moment
 * about O): Plücker coordinates with the linear part first.  Because everything is taken at the
 * same point and axes, the recursions over a tree need no coordinate transforms. */
#ifndef TBI_SPATIAL_H
#define TBI_SPATIAL_H

#include "math/simd.h"

typedef struct sv {
  v4 lin, ang;
} sv;

static inline sv sv_zero(void) { return (sv){v4_zero(), v4_zero()}; }
static inline sv sv_add(sv a, sv b) { return (sv){v4_add(a.lin, b.lin), v4_add(a.ang, b.ang)}; }
static inline sv sv_sub(sv a, sv b) { return (sv){v4_sub(a.lin, b.lin), v4_sub(a.ang, b.ang)}; }
static inline sv sv_scale(double s, sv a) { return (sv){v4_scale(s, a.lin), v4_scale(s, a.ang)}; }
/* a + s b */
static inline sv sv_axpy(sv a, double s, sv b) {
  return (sv){v4_axpy(a.lin, s, b.lin), v4_axpy(a.ang, s, b.ang)};
}
/* six columns, as many of each as the six numbers of m say; in two sums, which do not wait for each
 * other */
static inline sv sv_combine(const sv column[6], sv m) {
  sv lin = sv_axpy(sv_scale(v4_x(m.lin), column[0]), v4_y(m.lin), column[1]);
  sv ang = sv_axpy(sv_scale(v4_x(m.ang), column[3]), v4_y(m.ang), column[4]);
  return sv_add(sv_axpy(lin, v4_z(m.lin), column[2]), sv_axpy(ang, v4_z(m.ang), column[5]));
}
/* the same where the other halves are zero */
static inline sv sv_combine_halves(const sv column[6], sv m) {
  v4 lin = v4_axpy(v4_scale(v4_x(m.lin), column[0].lin), v4_y(m.lin), column[1].lin);
  v4 ang = v4_axpy(v4_scale(v4_x(m.ang), column[3].ang), v4_y(m.ang), column[4].ang);
  return (sv){v4_axpy(lin, v4_z(m.lin), column[2].lin), v4_axpy(ang, v4_z(m.ang), column[5].ang)};
}
/* power of a force on a motion */
static inline double sv_dot(sv a, sv b) {
  return v4_sum(v4_add(v4_mul(a.lin, b.lin), v4_mul(a.ang, b.ang)));
}
/* the products with six columns: the transpose of sv_combine */
static inline sv sv_project(const sv column[6], sv m) {
  return (sv){v4_make(sv_dot(column[0], m), sv_dot(column[1], m), sv_dot(column[2], m)),
              v4_make(sv_dot(column[3], m), sv_dot(column[4], m), sv_dot(column[5], m))};
}
/* v x m: rate of the motion m that is carried along by v */
static inline sv sv_cross(sv v, sv m) {
  return (sv){v4_add(v4_cross(v.ang, m.lin), v4_cross(v.lin, m.ang)), v4_cross(v.ang, m.ang)};
}
/* v x* f: rate of the force f that is carried along by v */
static inline sv sv_cross_force(sv v, sv f) {
  return (sv){v4_cross(v.ang, f.lin), v4_add(v4_cross(v.lin, f.lin), v4_cross(v.ang, f.ang))};
}
/* velocity of the point x (from O) under the motion v */
static inline v4 sv_at(sv v, v4 x) { return v4_add(v.lin, v4_cross(v.ang, x)); }

/* Inertia of a rigid body: mass, first moment m c and moment of inertia, both about O. */
typedef struct body_inertia {
  m4 moment;
  v4 h;
  double mass;
} body_inertia;

/* m (|c|^2 1 - c c'): moment of a point mass at c, with h = m c */
static inline m4 moment_of_point(v4 h, v4 c) {
  double hc = v4_dot(h, c);
  return (m4){v4_axpy(v4_make(hc, 0, 0), -v4_x(c), h), v4_axpy(v4_make(0, hc, 0), -v4_y(c), h),
              v4_axpy(v4_make(0, 0, hc), -v4_z(c), h)};
}
/* a body of mass m with its centre at c and its moment about the centre given */
static inline body_inertia inertia_make(double m, v4 c, const m4 *about_com) {
  v4 h = v4_scale(m, c);
  m4 moved = moment_of_point(h, c);
  return (body_inertia){m4_add(about_com, &moved), h, m};
}
static inline body_inertia inertia_add(const body_inertia *a, const body_inertia *b) {
  return (body_inertia){m4_add(&a->moment, &b->moment), v4_add(a->h, b->h), a->mass + b->mass};
}
static inline sv inertia_mulv(const body_inertia *i, sv v) {
  return (sv){v4_axpy(v4_cross(v.ang, i->h), i->mass, v.lin),
              v4_add(v4_cross(i->h, v.lin), m4_mulv(&i->moment, v.ang))};
}

#endif

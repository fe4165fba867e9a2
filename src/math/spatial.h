/* spatial.h - six-dimensional vectors and inertias, in world axes at one common origin O.
 *
 * A motion is (velocity of the body-fixed point at O, angular velocity), a force is (force, moment
 * about O): Plücker coordinates with the linear part first.  Because everything is taken at the
 * same point and axes, the recursions over a tree need no coordinate transforms. */
#ifndef TBI_SPATIAL_H
#define TBI_SPATIAL_H

#include "math/mat.h"

typedef struct sv {
  v3 lin, ang;
} sv;

static inline sv sv_zero(void) {
  return (sv){
      {0, 0, 0},
      {0, 0, 0}
  };
}
static inline sv sv_add(sv a, sv b) { return (sv){v3_add(a.lin, b.lin), v3_add(a.ang, b.ang)}; }
static inline sv sv_sub(sv a, sv b) { return (sv){v3_sub(a.lin, b.lin), v3_sub(a.ang, b.ang)}; }
static inline sv sv_scale(double s, sv a) { return (sv){v3_scale(s, a.lin), v3_scale(s, a.ang)}; }
/* a + s b */
static inline sv sv_axpy(sv a, double s, sv b) {
  return (sv){v3_axpy(a.lin, s, b.lin), v3_axpy(a.ang, s, b.ang)};
}
/* power of a force on a motion */
static inline double sv_dot(sv a, sv b) { return v3_dot(a.lin, b.lin) + v3_dot(a.ang, b.ang); }
/* v x m: rate of the motion m that is carried along by v */
static inline sv sv_cross(sv v, sv m) {
  return (sv){v3_add(v3_cross(v.ang, m.lin), v3_cross(v.lin, m.ang)), v3_cross(v.ang, m.ang)};
}
/* v x* f: rate of the force f that is carried along by v */
static inline sv sv_cross_force(sv v, sv f) {
  return (sv){v3_cross(v.ang, f.lin), v3_add(v3_cross(v.lin, f.lin), v3_cross(v.ang, f.ang))};
}
/* velocity of the point x (from O) under the motion v */
static inline v3 sv_at(sv v, v3 x) { return v3_add(v.lin, v3_cross(v.ang, x)); }

/* Inertia of a rigid body: mass, first moment m c and moment of inertia, both about O. */
typedef struct body_inertia {
  double mass;
  v3 h;
  s3 moment;
} body_inertia;

static inline body_inertia inertia_zero(void) {
  return (body_inertia){
      0, {0,  0, 0},
       { 0, 0, 0, 0, 0, 0}
  };
}
/* a body of mass m with its centre at c and its moment about the centre given */
static inline body_inertia inertia_make(double m, v3 c, s3 about_com) {
  return (body_inertia){m, v3_scale(m, c), s3_add(about_com, s3_point_mass(m, c))};
}
static inline body_inertia inertia_add(body_inertia a, body_inertia b) {
  return (body_inertia){a.mass + b.mass, v3_add(a.h, b.h), s3_add(a.moment, b.moment)};
}
static inline sv inertia_mulv(const body_inertia *i, sv v) {
  return (sv){v3_add(v3_scale(i->mass, v.lin), v3_cross(v.ang, i->h)),
              v3_add(v3_cross(i->h, v.lin), s3_mulv(i->moment, v.ang))};
}

#endif

/* composites.h - CoM and inverse dynamics of a floating robot of which few joints move: the bodies
 * between moving joints form one composite rigid body.  A tenth of the work of the kinematics of
 * all bodies. */
#ifndef TBI_COMPOSITES_H
#define TBI_COMPOSITES_H

#include "dynamics/dynamics.h"

/* In its own axes, of which z is that of its joint; the first composite body has the axes of the
 * floating body. */
typedef struct tbi_composite {
  int32_t parent; /* composite body; -1: the first, which floats */
  int32_t q, v;   /* index of the position and velocity of its joint */
  bool slides;
  tbi_frame place; /* of its joint in the parent's axes, from the parent's joint */
  double mass;
  v3 moment;  /* kg m, first moment of mass, from its joint */
  s3 inertia; /* kg m^2, about its joint */
} tbi_composite;

/* Motion of a composite body, in world axes. */
typedef struct tbi_composite_motion {
  v4 omega, alpha; /* angular velocity and acceleration */
  v4 acceleration; /* of its joint */
} tbi_composite_motion;

typedef struct tbi_composites {
  int32_t count;
  int32_t q, v;            /* first of the floating body */
  tbi_frame zero_floating; /* its frame at zero */
  double mass;
  tbi_composite *composite;      /* [count] */
  m4 *rot;                       /* [count] axes in the last posture, in the world */
  v4 *pos;                       /* [count] and joints, from the floating body */
  tbi_composite_motion *motion;  /* [count] scratch */
  double *angle, *sine, *cosine; /* [count] */
  v3 origin;                     /* of the floating body in the world */
} tbi_composites;

/* A point fixed to a composite body, from its joint. */
typedef struct tbi_composite_point {
  int32_t composite;
  v3 at;
} tbi_composite_point;

/* The tree of a floating body: joints with moves[q] move, the others stay as in q[nq].  `d` is
 * scratch; afterwards it holds that posture with moving joints at zero.  tbi_composites_free gives
 * the memory back, also after a failure. */
tabi_status tbi_composites_make(tbi_composites *composites, tabi_dynamics *d, int32_t floating,
                                const double *q, const bool *moves, tabi_error *err);
void tbi_composites_free(tbi_composites *composites);
/* A point of a body, with `d` as tbi_composites_make left it; `point` is in the world. */
tbi_composite_point tbi_composites_attach(const tbi_composites *composites, const tabi_dynamics *d,
                                          int32_t body, v3 point);

/* The CoM in the world for a posture q[nq]. */
v3 tbi_composites_com(tbi_composites *composites, const double *q);
/* The same with the floating body elsewhere. */
v3 tbi_composites_com_at(tbi_composites *composites, const tbi_frame *floating, const double *q);
/* Inverse dynamics in the last posture: the force, and the moment about the floating body, that the
 * velocities v[nv] and accelerations a[nv] require, in the world. */
void tbi_composites_wrench(const tbi_composites *composites, const double *v, const double *a,
                           v3 gravity, v3 *force, v3 *moment);
/* Where a point is in that posture. */
v3 tbi_composites_point(const tbi_composites *composites, const tbi_composite_point *point);

#endif

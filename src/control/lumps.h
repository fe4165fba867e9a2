/* lumps.h - mass centre and momentum of a floating robot of which few joints move: what lies
 * between those that do is one rigid lump.  A tenth of the work of the kinematics of all bodies. */
#ifndef TBI_LUMPS_H
#define TBI_LUMPS_H

#include "dynamics/dynamics.h"

/* In its own axes, of which z is that of its joint; the first lump has those of the floating body.
 */
typedef struct tbi_lump {
  int32_t parent; /* lump; of the first, which floats, -1 */
  int32_t q, v;   /* position and velocity that turn or move it */
  bool slides;
  tbi_frame place; /* of its joint in the parent's axes, from the parent's joint */
  double mass;
  v3 moment;  /* mass times mass centre, from its joint */
  s3 inertia; /* about its joint */
} tbi_lump;

/* How a lump moves, all in the world. */
typedef struct tbi_lump_motion {
  v4 turn, turning; /* angular velocity and acceleration */
  v4 acceleration;  /* of its joint */
} tbi_lump_motion;

typedef struct tbi_lumps {
  int32_t count;
  int32_t q, v;     /* first of the floating body */
  tbi_frame floats; /* where that is at zero */
  double mass;
  tbi_lump *lump;                /* [count] */
  m4 *rot;                       /* [count] their axes as they were last, in the world */
  v4 *pos;                       /* [count] and joints, from the floating body */
  tbi_lump_motion *motion;       /* [count] scratch */
  double *angle, *sine, *cosine; /* [count] */
  v3 origin;                     /* of the floating body in the world */
} tbi_lumps;

/* A point that moves with a lump, from its joint. */
typedef struct tbi_lump_point {
  int32_t lump;
  v3 at;
} tbi_lump_point;

/* A floating body with all that hangs on it: joints with moves[q] move, the others stand as in
 * q[nq].  `d` is scratch, and holds that posture with joints that move at zero afterwards.
 * tbi_lumps_free gives the memory back, also after a failure. */
tabi_status tbi_lumps_make(tbi_lumps *lumps, tabi_dynamics *d, int32_t floating, const double *q,
                           const bool *moves, tabi_error *err);
void tbi_lumps_free(tbi_lumps *lumps);
/* The lump of a body, with the scratch as tbi_lumps_make left it; `point` is in the world. */
tbi_lump_point tbi_lumps_attach(const tbi_lumps *lumps, const tabi_dynamics *d, int32_t body,
                                v3 point);

/* The mass centre in the world for a posture q[nq]. */
v3 tbi_lumps_centre(tbi_lumps *lumps, const double *q);
/* The same with the floating body elsewhere. */
v3 tbi_lumps_centre_at(tbi_lumps *lumps, const tbi_frame *floating, const double *q);
/* In the posture that was last asked for: the force and its moment about the floating body that the
 * velocities v[nv] and accelerations a[nv] need, in the world. */
void tbi_lumps_push(const tbi_lumps *lumps, const double *v, const double *a, v3 gravity, v3 *force,
                    v3 *moment);
/* Where a point is in that posture. */
v3 tbi_lumps_point(const tbi_lumps *lumps, const tbi_lump_point *point);

#endif

/* balance.h - accelerations of base and legs that carry out tasks of feet, centre of mass and waist
 * as well as the ground allows, and the joint torques for them. */
#ifndef TBI_BALANCE_H
#define TBI_BALANCE_H

#include "dynamics/dynamics.h"
#include "tabi/tabi_control.h"

enum { TBI_BALANCE_MAX = 6 + 2 * TABI_LEG_MAX, TBI_SUPPORT_MAX = 2 * TABI_SOLE_MAX };

/* A sole at the state that was set. */
typedef struct tbi_sole_state {
  tbi_frame frame;       /* in the world */
  v3 velocity, rotation; /* m/s of its middle, rad/s */
} tbi_sole_state;

typedef struct tbi_balance {
  const tabi_model *model;
  tabi_dynamics *d;             /* the state, set by tbi_balance_set */
  int32_t tree, waist, foot[2]; /* bodies */
  tbi_frame sole[2];            /* in the frames of these bodies */
  m3 level;                     /* axes forward, left, up in those of the waist's body */
  int32_t hip[2], ankle[2];     /* bodies behind these joints */
  double straight[2];           /* m, from hip to ankle of a straight leg */
  int32_t njoint[2];
  int32_t n; /* unknowns: six of the base, then the legs */
  int32_t dof[TBI_BALANCE_MAX];
  double effort[TBI_BALANCE_MAX]; /* N m, limits of the legs' joints */
  double mass, gravity, size;     /* kg, m/s^2, m: height of the CoM */
  double friction;                /* coefficient that forces keep to */
  double half[2][2];              /* m, half lengths and widths of the soles */
  double *qdd, *tau;              /* [nv] */
  /* at the state that was set: */
  v3 com, com_rate;
  tbi_sole_state at[2];
  m3 waist_axes; /* forward, left, up */
  v3 waist_rate;
} tbi_balance;

/* What is wanted. */
typedef struct tbi_balance_goal {
  v3 com;              /* m/s^2 */
  v3 waist;            /* rad/s^2 */
  v3 foot[2], turn[2]; /* m/s^2 and rad/s^2, of the soles */
  bool stance[2];
  bool stands;     /* no step will help: the CoM counts for more than the waist */
  double ground;   /* m, height of the ground */
  double cop[2];   /* m, where the centre of pressure is wanted: two feet share the load by it */
  int32_t ncorner; /* where the centre of pressure may be, counter-clockwise, world */
  double corner[TBI_SUPPORT_MAX][2];
} tbi_balance_goal;

typedef struct tbi_balance_result {
  double cop[2];   /* m */
  double share[2]; /* of the weight on each foot */
} tbi_balance_result;

tabi_status tbi_balance_make(tbi_balance *b, const tabi_model *model, const tabi_biped *biped,
                             tabi_error *err);
void tbi_balance_free(tbi_balance *b);
/* Sets the state: q[nq], v[nv]. */
void tbi_balance_set(tbi_balance *b, const double *q, const double *v);
/* b->qdd and b->tau; joints outside the legs do not accelerate. */
tbi_balance_result tbi_balance_solve(tbi_balance *b, const tbi_balance_goal *goal);

/* The right foot's share t of the force of both, with the centre of pressure at t along + r from
 * the middle of the left sole: r is the shortest over the sizes of the soles, and inside both where
 * it can be. */
double tbi_balance_share(const tbi_balance *b, const double along[2], const double from[2]);

/* Share of its length to which a leg is stretched from hip to ankle. */
double tbi_balance_stretch(const tbi_balance *b, int side);
/* Finds hips and ankles in the state that was set. */
void tbi_balance_measure_legs(tbi_balance *b, const tabi_biped *biped);

#endif

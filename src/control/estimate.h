/* estimate.h - the state of a walking robot by its sensors: encoders, a gyro and an accelerometer
 * in the base, and force sensors above the feet. */
#ifndef TBI_ESTIMATE_H
#define TBI_ESTIMATE_H

#include "control/balance.h"
#include "world/world.h"

/* Sensors of the world's model; all or none. */
typedef struct tbi_estimator {
  const tabi_model *model;
  int32_t base; /* body */
  int32_t gyro, accelerometer, force[2];
  int32_t ankle[2]; /* bodies behind the force sensors */
  double below[2];  /* kg, of these with all that hangs from them */
  int32_t *encoder; /* [njoint] or TABI_NONE; NULL: the state is known without sensors */
} tbi_estimator;

/* What is remembered, beside q and v of what was seen. */
typedef struct tbi_estimate {
  bool started;
  m3 rot;         /* axes of the base's link in the world */
  v3 pos, vel;    /* of its origin */
  bool stands[2]; /* the foot is taken to stand at ... */
  v3 anchor[2];
} tbi_estimate;

/* What is known of a robot, as its sensors saw it. */
typedef struct tbi_seen {
  double *q, *v;       /* [nq], [nv] */
  const double *asked; /* [nv] accelerations that were asked for */
  double load[2];      /* N, on the feet */
} tbi_seen;

/* One update: `seen` holds the last estimate and gets the new one.  b gets the kinematics. */
void tbi_estimate_update(const tbi_estimator *e, tbi_estimate *now, const tabi_world *world,
                         tbi_balance *b, double timestep, tbi_seen *seen);
/* The state now: what was seen goes on for the delays of the sensors as it was asked to. */
void tbi_estimate_predict(const tbi_estimator *e, const tbi_estimate *now, const tabi_world *world,
                          const tbi_seen *seen, double *q, double *v);
/* Says which feet stand, after an update: one that begins to is anchored where it is, at the height
 * of the ground that was seen there; NAN if none was. */
void tbi_estimate_set_stance(tbi_estimate *now, const tbi_balance *b, const bool stands[2],
                             double ground);

#endif

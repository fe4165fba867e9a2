/* twins.h - one MJCF file loaded twice, by tabi and by MuJoCo, and the way from one's numbers to
 * the other's.
 *
 * Both number joints by themselves; names bring them together.  A free joint's angular velocity
 * is in body axes there and in world axes here; everything else is the same. */
#ifndef TEST_TWINS_H
#define TEST_TWINS_H

#include "support/near.h"
#include "tabi/tabi_io.h"

#include <mujoco/mujoco.h>

typedef struct twins {
  tabi_model *tabi;
  tabi_dynamics *dynamics;
  mjModel *mj;
  mjData *data;
  size_t nq, nv;
  int32_t *joints; /* tabi's joint for each of MuJoCo's */
  int32_t *links;  /* tabi's link for each of MuJoCo's bodies; TABI_WORLD for the world */
} twins;

/* Skips the running test if `file` is not there. */
void twins_open(twins *t, const char *file);
void twins_close(twins *t);

/* Numbers of joint j of MuJoCo's in q and v. */
size_t twins_nq(const twins *t, int j);
size_t twins_nv(const twins *t, int j);

/* MuJoCo's positions in tabi's order. */
void twins_q(const twins *t, const double *qpos, double *q);
/* Velocities, accelerations or forces at qpos, in tabi's order and axes. */
void twins_v(const twins *t, const double *qpos, const double *qvel, double *v);

void twins_test_motion(const char *file);
void twins_test_parts(const char *file);
void twins_test_loops(const char *file);

#endif

/* bouts.h - which engines meet in which scenes. */
#ifndef TBI_BENCH_BOUTS_H
#define TBI_BENCH_BOUTS_H

#include "judge.h"

enum {
  TBI_TABI,
  TBI_TABI_EXACT,
  TBI_TABI_EXACT14,
  TBI_TABI_MIDPOINT,
  TBI_TABI_RK4,
  TBI_MUJOCO,
  TBI_MUJOCO_RK4,
  TBI_MUJOCO_CG,
  TBI_MUJOCO_NOSLIP,
  TBI_MUJOCO_FINE,
  TBI_BULLET,
  TBI_BULLET_FINE,
  TBI_BULLET_HARD,
  TBI_ODE,
  TBI_ODE_FINE,
  TBI_ODE_STEP,
  TBI_DART,
  TBI_DART_PGS,
  TBI_DUELLISTS
};
extern const tbi_duellist tbi_duellists[TBI_DUELLISTS];

typedef struct tbi_bout {
  const char *name;
  tabi_status (*open)(const struct tbi_bout *bout, tbi_bench_scene *base, tabi_error *err);
  double timestep;
  int32_t size;
  int32_t settle;   /* steps that tabi makes before anyone starts, until all is at rest */
  int32_t warm;     /* steps that each engine makes before the clock runs */
  int32_t steps;    /* in motion: steps of a run, from the start; 0: blocks of steps at rest */
  tbi_judge *judge; /* NULL: only speed and overlap; else a run of `steps` */
  unsigned engines; /* bits */
} tbi_bout;

/* Why one of the engines that people know is not in a bout; NULL: it is, or needs no excuse. */
const char *tbi_bout_absence(const tbi_bout *bout, int32_t engine);

extern const tbi_bout tbi_bouts[];
extern const int32_t tbi_nbout;

/* The scene of a bout, at its start. */
tabi_status tbi_bout_open(const tbi_bout *bout, tbi_duel_scene *scene, tabi_error *err);

#endif

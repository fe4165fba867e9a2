/* mujoco_many.h - many worlds of one model on threads. */
#ifndef TBI_BENCH_MUJOCO_MANY_H
#define TBI_BENCH_MUJOCO_MANY_H

#include <mujoco/mujoco.h>

/* How the worlds start and move, as bench/workload_batch.c. */
typedef struct tbi_many {
  double sway, scatter;
  int worlds, threads;
  int warm_up, stretch; /* steps */
  const double *plan;   /* [nplan][nu], inputs of every step; NULL: they jump by sway */
  int nplan;
} tbi_many;

/* s of all processors for one step of one world, the best of a few stretches, and the mean number
 * of contacts; -1: no memory. */
double tbi_mujoco_many(const mjModel *model, const tbi_many *many, double *contacts);

#endif

/* comparisons.h - which engines are compared in which scenes. */
#ifndef TBI_BENCH_COMPARISONS_H
#define TBI_BENCH_COMPARISONS_H

#include "accuracy.h"

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
  TBI_ENGINE_CONFIGS
};
extern const tbi_engine_config tbi_engine_configs[TBI_ENGINE_CONFIGS];

typedef struct tbi_comparison {
  const char *name;
  tabi_status (*open)(const struct tbi_comparison *comparison, tbi_bench_scene *base,
                      tabi_error *err);
  double timestep;
  int32_t size;
  int32_t settle; /* steps that tabi makes before any engine starts, until all is at rest */
  int32_t warm;   /* steps that each engine makes before the clock runs */
  int32_t steps;  /* in motion: steps of a run, from the start; 0: blocks of steps at rest */
  tbi_accuracy_test *accuracy; /* NULL: only speed and penetration; else a run of `steps` */
  unsigned engines;            /* bits */
} tbi_comparison;

/* Why a well-known engine is not in a comparison; NULL: it is, or needs no reason.
 */
const char *tbi_comparison_absence(const tbi_comparison *comparison, int32_t engine);

extern const tbi_comparison tbi_comparisons[];
extern const int32_t tbi_ncomparison;

/* The scene of a comparison, at its start. */
tabi_status tbi_comparison_open(const tbi_comparison *comparison, tbi_engine_scene *scene,
                                tabi_error *err);

#endif

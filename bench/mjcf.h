/* mjcf.h - a model and its states as MJCF, so that other engines measure the same robot. */
#ifndef TBI_BENCH_MJCF_H
#define TBI_BENCH_MJCF_H

#include "tabi/tabi.h"

#include <stdio.h>

typedef struct tbi_mjcf_def {
  const tabi_model *model;
  tabi_dynamics *dynamics; /* is set to the states */
  int32_t nstate;          /* one keyframe for each; may be 0 */
  const double *q, *v;     /* nstate rows */
  bool touching;           /* shapes, limits, dampers, friction and servos too */
  const tabi_servo *servo; /* by joint; NULL: none */
  int32_t contacts;        /* that may come; 0: a guess */
} tbi_mjcf_def;

/* Returns NULL, or what the model has that cannot be written. */
const char *tbi_mjcf_write(const tbi_mjcf_def *def, FILE *file);

#endif

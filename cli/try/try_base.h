/* try_base.h - whether the base of a robot floats, where its file does not say. */
#ifndef TBI_TRY_BASE_H
#define TBI_TRY_BASE_H

#include "common/cli.h"

typedef struct tbi_try_base {
  bool free;
  const char *why;
} tbi_try_base;

/* Whether the base floats only because a URDF or SDF file says nothing of it. */
bool tbi_try_base_is_open(const tabi_model *model);
/* At its start posture; false: out of memory. */
bool tbi_try_base_decide(const tabi_model *model, tbi_try_base *base);

#endif

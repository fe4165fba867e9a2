/* plain_model.h - a tabi model in one state as a plain scene. */
#ifndef TBI_BENCH_PLAIN_MODEL_H
#define TBI_BENCH_PLAIN_MODEL_H

#include "plain.h"
#include "tabi/tabi.h"

/* Bodies have the numbers that they have in the model.  `dynamics` is set to the state; `servo` is
 * by joint and may be NULL.  Returns NULL, or what the model has that a plain scene has not;
 * `plain` is to be freed in any case. */
const char *tbi_plain_from_model(tbi_plain *plain, const tabi_model *model, tabi_dynamics *dynamics,
                                 const double *q, const double *v, const tabi_servo *servo);

/* All bodies in the state that `dynamics` is set to. */
void tbi_plain_states(const tabi_model *model, const tabi_dynamics *dynamics,
                      tbi_plain_state *state);

#endif

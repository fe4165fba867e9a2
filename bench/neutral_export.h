/* neutral_export.h - a tabi model in one state as an engine-neutral scene. */
#ifndef TBI_BENCH_NEUTRAL_EXPORT_H
#define TBI_BENCH_NEUTRAL_EXPORT_H

#include "neutral_scene.h"
#include "tabi/tabi.h"

/* Bodies have the numbers that they have in the model.  `dynamics` is set to the state; `servo` is
 * by joint and may be NULL.  Returns NULL, or what the model has that a neutral scene has not;
 * `neutral` is to be freed in any case. */
const char *tbi_neutral_scene_from_model(tbi_neutral_scene *neutral, const tabi_model *model,
                                         tabi_dynamics *dynamics, const double *q, const double *v,
                                         const tabi_servo *servo);

/* All bodies in the state that `dynamics` is set to. */
void tbi_neutral_states(const tabi_model *model, const tabi_dynamics *dynamics,
                        tbi_neutral_state *state);

#endif

/* tabi_engine.h - tabi as an engine among others; `more` of its instance is a tbi_engine_scene. */
#ifndef TBI_BENCH_TABI_ENGINE_H
#define TBI_BENCH_TABI_ENGINE_H

#include "engine.h"
#include "tabi/tabi.h"

/* Settings: "default"; "rk4"; "midpoint"; "exact"; "exact14", to a residual of 1e-14 and without
 * position correction. */
extern const tbi_engine tbi_tabi_engine;

tabi_world *tbi_tabi_engine_world(void *self);

#endif

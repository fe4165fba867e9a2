/* stage_timing.h - the time that each stage of a step takes: `tabi run --stats`. */
#ifndef TBI_STAGE_TIMING_H
#define TBI_STAGE_TIMING_H

#include "common/cli.h"

/* From here on the stages of the world's steps are timed. */
void tbi_stage_timing_begin(tabi_world *world);
/* Nothing if they were not.  `seconds` is what control and steps took together. */
void tbi_stage_timing_print(const tabi_world *world, double seconds, FILE *out);
/* Microseconds a step by stage; null if they were not timed. */
json_t *tbi_stage_timing_json(const tabi_world *world, double seconds);

#endif

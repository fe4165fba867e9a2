/* walk_metrics.h - measures a walk after every step: falls, slip, forces, tracking of the plan. */
#ifndef TBI_WALK_METRICS_H
#define TBI_WALK_METRICS_H

#include "walk_sim.h"

void tbi_walk_metrics_begin(tbi_walk_sim *walk);
void tbi_walk_metrics_step(tbi_walk_sim *walk);

#endif

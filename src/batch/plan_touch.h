/* plan_touch.h - where the bodies of a plan may touch planes and each other. */
#ifndef TBI_PLAN_TOUCH_H
#define TBI_PLAN_TOUCH_H

#include "batch/plan.h"

/* Fills pairs, points, planes, segments, couples and slots of a plan whose bodies are there, or its
 * reason.  False: out of memory. */
bool tbi_plan_touch(tbi_plan *p, bool self_collision);

#endif

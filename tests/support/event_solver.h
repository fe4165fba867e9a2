/* event_solver.h - the event-driven integrator with its memory, for a group of tests. */
#ifndef EVENT_SOLVER_H
#define EVENT_SOLVER_H

#include "integrate/events.h"

#define EVENT_SOLVER_MAX 4 /* equations */

extern tbi_events event_solver;

int event_solver_setup(void **state);
int event_solver_teardown(void **state);

#endif

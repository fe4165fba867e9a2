/* event_solver.c - see event_solver.h. */
#include "support/event_solver.h"

#include <stdlib.h>

tbi_events event_solver;
static void *memory;

int event_solver_setup(void **state) {
  (void)state;
  tbi_layout count = {NULL, 0};
  tbi_events_place(&event_solver, &count, EVENT_SOLVER_MAX);
  memory = malloc(count.used);
  if (!memory) return -1;
  tbi_layout place = {memory, 0};
  tbi_events_place(&event_solver, &place, EVENT_SOLVER_MAX);
  return 0;
}

int event_solver_teardown(void **state) {
  (void)state;
  free(memory);
  memory = NULL;
  return 0;
}

/* formulation.h - the seam between the world and a contact method.
 *
 * A formulation either solves the problem that the world has set up, or takes over the whole
 * advance.  A further one is one file, one line in formulations.c and one enum value. */
#ifndef TBI_FORMULATION_H
#define TBI_FORMULATION_H

#include "problem/problem.h"

typedef struct tbi_solution {
  int32_t iterations;
  bool converged;
  bool handed_over, tempered; /* see tabi_certificate */
} tbi_solution;

typedef struct tbi_formulation {
  const char *name; /* the word used by scenes, command, bench and documents */
  /* Drives the impulses of problem->point and ->row, and problem->velocity with them, from where
   * they stand (warm start) until the change of velocity in a sweep is below def->tolerance or
   * def->iterations is reached.  scratch holds memsize bytes; random is the world's generator. */
  size_t (*memsize)(const tabi_model *model, const tabi_world_def *def);
  tbi_solution (*solve)(tbi_problem *problem, const tabi_world_def *def, void *scratch);
  /* NULL, or what is tried first, before responses are made for sweeps: the whole solution by a
   * guess that is proved.  False: impulses of points are as they were. */
  bool (*solve_at_once)(tbi_problem *problem, const tabi_world_def *def, void *scratch);
} tbi_formulation;

extern const tbi_formulation *const tbi_formulations[TABI_CONTACT_COUNT];

extern const tbi_formulation tbi_cone;
extern const tbi_formulation tbi_exact;
extern const tbi_formulation tbi_impulse;
extern const tbi_formulation tbi_lcp;
extern const tbi_formulation tbi_penalty;

#endif

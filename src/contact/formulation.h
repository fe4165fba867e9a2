/* formulation.h - the interface between the world and a contact method: one table of methods.
 *
 * An entry solves the problem that the world has set up (`solve`), or takes over the velocity of
 * the step (`advance_velocity`) or the whole of it (`advance`).  What else a method can do is told
 * by capabilities, so that no caller has to know which method runs.
 *
 * A published variant is an entry of its own beside its method.  A further entry is one file, one
 * line in formulations.c and one value of tabi_contact_kind. */
#ifndef TBI_FORMULATION_H
#define TBI_FORMULATION_H

#include "problem/problem.h"

typedef struct tbi_solution {
  int32_t iterations;
  bool converged;
  bool fallback, energy_limited, too_large; /* see tabi_certificate */
  double stored;                            /* J, by which springs of contacts were loaded */
  double found;   /* J, of springs that the step left for the next to begin with */
  double elastic; /* J, of all springs after the step */
} tbi_solution;

typedef struct tbi_formulation {
  tabi_contact_info info;
  /* defaults, for a def that leaves them open */
  double tolerance;
  int32_t iterations;
  /* capabilities that only the world needs */
  bool predicts_joints; /* dry friction of joints may be predicted and verified; else: rows */
  bool random_axes;     /* a new point draws the angle of its friction axes */
  bool as_published;    /* friction by slip_speed alone, all impacts of a step at once */
  bool sweeps_loops;    /* loop constraints are rows of its sweeps, held over the step by rk4; else
                           they are eliminated beforehand, and by rk4 in every stage */
  /* energy that a step would add is limited afterwards (energy_limit.c) */
  bool limits_rebounds;  /* if something rebounds */
  bool limits_unsettled; /* and if sweeps ended before they converged */
  bool middle;           /* obeys tbi_problem.still: may be solved at the middle of the step */

  /* Bytes of scratch memory. */
  size_t (*memsize)(const tabi_model *model, const tabi_world_def *def);
  /* Drives the impulses of problem->point and ->row, and problem->velocity with them, from where
   * they stand (warm start) to def->tolerance, within def->iterations. */
  tbi_solution (*solve)(tbi_problem *problem, const tabi_world_def *def, void *scratch);
  /* NULL, or tried first, before responses are made for sweeps: predicts that all contacts stick,
   * solves for that directly and verifies it.  False: impulses of points are as they were. */
  bool (*solve_direct)(tbi_problem *problem, const tabi_world_def *def, void *scratch);
  /* NULL, or tried first: the new velocity and all impulses by an elimination of its own, without
   * a problem.  False: this is no such step, and all is as it was. */
  bool (*advance_velocity)(tabi_world *world, tbi_solution *solution);
  /* NULL, or instead of everything between forces and the new state. */
  tabi_status (*advance)(tabi_world *world, const double *tau);
} tbi_formulation;

extern const tbi_formulation *const tbi_formulations[TABI_CONTACT_COUNT];

/* Whether the method obeys rolling and torsional friction under the integrator of the def: springs
 * of explicit steps know no couples. */
static inline bool tbi_obeys_couples(const tabi_world_def *def) {
  const tabi_contact_info *info = tabi_contact_describe(def->contact);
  bool is_explicit = def->integrator == TABI_RK4 || def->integrator == TABI_EULER;
  return info->couples && !(info->compliant && is_explicit);
}

extern const tbi_formulation tbi_cone;
extern const tbi_formulation tbi_cone_paper;
extern const tbi_formulation tbi_exact;
extern const tbi_formulation tbi_gait; /* world/gait_step.c */
extern const tbi_formulation tbi_impulse;
extern const tbi_formulation tbi_impulse_paper;
extern const tbi_formulation tbi_lcp;
extern const tbi_formulation tbi_lcp_paper;
extern const tbi_formulation tbi_penalty;
extern const tbi_formulation tbi_penalty_paper;

/* The velocity of a step of penalty, and of its published variant, in linear time:
 * world/penalty_step.c, since it works in the memory of the step. */
bool tbi_penalty_advance_velocity(tabi_world *world, tbi_solution *solution);
bool tbi_penalty_paper_advance_velocity(tabi_world *world, tbi_solution *solution);

#endif

/* energy_limit.h - no energy from rebounds, nor from sweeps that ended early, for the methods that
 * solve Coulomb's law with Newton's restitution.
 *
 * Newton's law of restitution gives every point its own rebound, for its own closing speed.  With
 * friction, or at several points at once, this may add energy (Kane and Levinson 1985).  An island
 * in which it would is solved again, by exact, with the largest share of its rebounds that does
 * not. */
#ifndef TBI_ENERGY_LIMIT_H
#define TBI_ENERGY_LIMIT_H

#include "contact/formulation.h"

/* Whether a method needs it for a model: something rebounds, or unsettled steps are to be limited.
 */
bool tbi_energy_is_limited(const tbi_formulation *method, const tabi_model *model);

size_t tbi_energy_limit_memsize(const tabi_model *model, const tabi_world_def *def);
/* Looks at what the solution of a problem does to the energy, and replaces it where it adds some;
 * exact_def: def with the tolerance and iterations of exact. */
void tbi_energy_limit(tbi_problem *p, const tabi_world_def *exact_def, void *scratch,
                      tbi_solution *solution);

#endif

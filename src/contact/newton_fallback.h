/* newton_fallback.h - Newton's method for what sweeps of cone leave, within a small budget, so that
 * no step costs much more than the sweeps that it replaces. */
#ifndef TBI_NEWTON_FALLBACK_H
#define TBI_NEWTON_FALLBACK_H

#include "contact/formulation.h"

size_t tbi_newton_fallback_memsize(const tabi_model *model, const tabi_world_def *def);
/* Improves the impulses of all islands that sweeps have not settled, and adds what that took to the
 * solution; heaps, if they had their budget of sweeps, stay as they are.  False: there are more
 * points than there is memory for, and nothing is done. */
bool tbi_newton_fallback(tbi_problem *p, const tabi_world_def *def, bool budgeted, void *scratch,
                         tbi_solution *solution);

#endif

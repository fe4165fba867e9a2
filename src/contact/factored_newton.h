/* factored_newton.h - the interface between factored.c and factored_newton.c. */
#ifndef TBI_FACTORED_NEWTON_H
#define TBI_FACTORED_NEWTON_H

#include "contact/factored.h"

/* Impulses of an island's laws into wrenches at its ports and the sum over its coordinates. */
void tbi_island_collect(const tbi_island *island, const double *r, sv *port, double *sum);
/* The velocity responses of its ports and laws to a sum over its coordinates. */
void tbi_island_response(const tbi_island *island, const double *sum, sv *port, double *u);

/* tbi_delassus.newton of an island. */
bool tbi_factored_newton(void *self, const tbi_law_block *d, const double *g, double *dr);

#endif

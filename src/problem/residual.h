/* residual.h - how well a solution obeys the laws of contact, the same for every method. */
#ifndef TBI_RESIDUAL_H
#define TBI_RESIDUAL_H

#include "problem/problem.h"

/* The certificate of the problem as it stands; weight of all that moves in N. */
tabi_certificate tbi_residual(const tbi_problem *p, double weight);

#endif

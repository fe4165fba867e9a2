/* residual.h - how well a solution obeys the laws of contact, the same for every method. */
#ifndef TBI_RESIDUAL_H
#define TBI_RESIDUAL_H

#include "problem/problem.h"

/* The certificate of the problem as it stands; weight of all that moves in N. */
tabi_certificate tbi_residual(const tbi_problem *p, double weight);

/* J, kinetic energy that the impulses of contacts and rows have brought. */
typedef struct tbi_work {
  double all;
  double correction; /* the part of it by which depth corrections push bodies apart */
} tbi_work;
/* v: the new velocity [nv], which the rows have reached; compliant: springs push the points, which
 * have no targets. */
tbi_work tbi_residual_work(const tbi_problem *p, const double *v, bool compliant);

#endif

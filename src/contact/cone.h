/* cone.h - Gauss-Seidel with the true cone, for those who want some of it. */
#ifndef TBI_CONE_H
#define TBI_CONE_H

#include "problem/problem.h"

/* One turn of the points of a group, each solved exactly; the largest change of a velocity. */
double tbi_cone_visit(tbi_problem *p, const tbi_group *group);
/* One turn of all rows and all points. */
double tbi_cone_sweep(tbi_problem *p);

#endif

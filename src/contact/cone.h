/* cone.h - sweeps of cone.c, which other solvers use too. */
#ifndef TBI_CONE_H
#define TBI_CONE_H

#include "problem/problem.h"

/* Solves each point of a group exactly, in turn; returns the largest change of velocity. */
double tbi_cone_visit(tbi_problem *p, const tbi_group *group);
/* The same for all rows, all points and their couples. */
double tbi_cone_sweep(tbi_problem *p);

#endif

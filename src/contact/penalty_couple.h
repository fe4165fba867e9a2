/* penalty_couple.h - couples of rolling and torsional friction as springs: elastic up to their
 * bound, then plastic.
 *
 *   l = cut(-h k_l (s + h w) - h d_l w),   |l| <= rho p_n,   s: the angle since it stuck
 *   k_l = k_t rho^2,   d_l = d rho^2 + 2 sqrt(k_l / mobility)
 *
 * k_t and d being the point's tangential stiffness and damping: a couple deflects as two springs at
 * the distance rho would, and its motion is damped about critically. */
#ifndef TBI_PENALTY_COUPLE_H
#define TBI_PENALTY_COUPLE_H

#include "contact/penalty_spring.h"
#include "problem/couples.h"

/* The spring of a couple, in impulses and velocities at its lever; share as in tbi_spring_of. */
typedef struct tbi_couple_spring {
  double start[2];   /* r0 */
  double added_mass; /* S */
  double mobility;   /* of its law */
} tbi_couple_spring;

tbi_couple_spring tbi_couple_spring_of(const tbi_problem *p, const tbi_couple *c,
                                       const tabi_world_def *def, double share);
/* By how much the unknowns r = (a, l) of tbi_island_couple miss the law under the velocity u; f and
 * slope are for the Newton step. */
double tbi_couple_miss(const tbi_couple_spring *s, const double r[3], const double u[3],
                       double f[3], double slope[9]);
/* The deflection of every couple after the step.  Adds their energy. */
void tbi_couple_springs_update(tbi_problem *p, const tabi_world_def *def, tbi_spring_energy *sum);

#endif

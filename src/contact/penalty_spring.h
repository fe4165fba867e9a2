/* penalty_spring.h - the law of penalty at one point or row, as Newton's method asks for it: by how
 * much an impulse misses it, and how it changes with the velocity. */
#ifndef TBI_PENALTY_SPRING_H
#define TBI_PENALTY_SPRING_H

#include "contact/penalty_law.h"
#include "contact/surface.h"
#include "friction/coulomb_newton.h"
#include "problem/problem.h"

/* S of a row times its mobility: so stiff that the error of the row is rounding. */
#define TBI_ROW_STIFF 1e8

/* r = cut(start - added_mass u): an impulse over the step. */
typedef struct tbi_spring {
  tbi_spring_law law;
  v3 start;      /* r0 */
  v3 added_mass; /* S */
} tbi_spring;

/* Springs act at all points that may close within the step, also at those that do not overlap yet:
 * a point in free fall for one more step would end inside the surface, and its spring with an
 * energy that nobody has put there. */
static inline bool tbi_spring_acts(const tbi_point *c) { return !c->immobile; }

/* share: factor on r0 and S, 1 or less while springs harden (penalty.c) */
tbi_spring tbi_spring_of(const tbi_point *c, const tabi_world_def *def, double share);

/* r0 - S u before it is cut */
static inline v3 tbi_spring_uncut(const tbi_spring *s, v3 u) {
  return v3_make(s->start.x - s->added_mass.x * u.x, s->start.y - s->added_mass.y * u.y,
                 s->start.z - s->added_mass.z * u.z);
}

/* cut(r0 - S u) - r of a point with the velocity u, and its slope -d/du, row by row. */
v3 tbi_spring_miss(const tbi_spring *s, v3 u, v3 r, double slope[9]);

/* A row's impulse r stays within bounds while its velocity u, target taken off, is zero.  Returns
 * by how much it misses that, as a velocity; f and slope are for the Newton step. */
double tbi_row_miss(const tbi_law *law, double r, double u, double *f, double *slope);

/* J, of the springs of all points, by overlap and tangential deflection. */
typedef struct tbi_spring_energy {
  double stored; /* by how much the step has loaded them */
  double found;  /* of overlaps that began within the step, which no spring has resisted yet */
  double after;  /* after the step */
} tbi_spring_energy;

/* The tangential deflection of every point after the step.  drops: under the law of
 * tbi_spring_law_dropping */
tbi_spring_energy tbi_springs_update(tbi_problem *p, const tabi_world_def *def, bool drops);

#endif

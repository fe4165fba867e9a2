/* couples.h - rolling and torsional friction: couples at points of contact.
 *
 * With p_n the normal impulse of the point and w the velocity at which b turns against a, split
 * along the normal and the tangents, a couple l (an impulse, on b) obeys
 *
 *   torsional   |l_n| <= rho_t p_n,   = rho_t p_n against w_n where w_n is not zero
 *   rolling     |l_t| <= rho_r p_n,   = rho_r p_n against w_t where w_t is not zero
 *
 * with lengths rho.  Sliding, spinning and rolling have a bound each, which know nothing of each
 * other.  Each law is that of a Coulomb contact with the coefficient 1 whose normal impulse is
 * rho p_n, so the solvers of Coulomb's law solve it, too: friction/coulomb.c in sweeps, and as one
 * more law of an island (contact/factored.c) Newton's method. */
#ifndef TBI_COUPLES_H
#define TBI_COUPLES_H

#include "problem/problem.h"

typedef struct tbi_couple {
  int32_t point;
  double friction; /* m, rho */
  v4 axis[2];      /* world: the two tangents; or the normal, and zero */
  double w[2][2];  /* rad/s about the axes per N m s; of an axis that is zero as the first */
  double lever;    /* m: l / lever moves lever w as an impulse at the point moves its velocity */
  double deflection[2]; /* rad, since it stuck: penalty's springs */
  double impulse[2];    /* N m s, on b about the axes */
} tbi_couple;

/* Whether a material, or some material or pair of a model, has rolling or torsional friction. */
static inline bool tbi_has_couples(const tabi_material_def *surface) {
  return surface->rolling_friction > 0 || surface->torsional_friction > 0;
}
bool tbi_model_has_couples(const tabi_model *model);
/* How many laws with three unknowns so many points have, with their couples. */
static inline int64_t tbi_point_laws(const tabi_model *model, int64_t points) {
  return tbi_model_has_couples(model) ? 3 * points : points;
}

/* Lists the couples of all points by their surfaces, without impulses, in problem->couple. */
void tbi_couples_list(tbi_problem *p);
/* Fills their levers; points must have their responses. */
void tbi_couples_respond(tbi_problem *p);
/* Adds their impulses to what ports have received. */
void tbi_couples_receive(tbi_problem *p);

/* The wrenches of impulses about the axes; the velocities about them (rad/s), from those of ports.
 */
v4 tbi_couple_moment(const tbi_couple *c, const double l[2]);
void tbi_couple_velocity(const tbi_problem *p, const tbi_couple *c, const sv *port, double w[2]);
/* The bound of its impulse, by the present impulse of its point. */
static inline double tbi_couple_bound(const tbi_problem *p, const tbi_couple *c) {
  return c->friction * p->point[c->point].impulse[0];
}

/* Gauss-Seidel update of one couple, or all; returns the largest change of velocity, m/s at the
 * lever. */
double tbi_couple_visit(tbi_problem *p, tbi_couple *c);
double tbi_couples_sweep(tbi_problem *p);

#endif

/* step_problem.h - the contact problem that a world has just solved, in full: W by unit impulses,
 * q, and the laws, so that a test can judge the impulses of the step without the solver's help.
 *
 * Unknowns: three for every contact (normal, two tangents), then one for every row (joint limit,
 * dry friction). */
#ifndef TEST_STEP_PROBLEM_H
#define TEST_STEP_PROBLEM_H

#include "friction/coulomb_newton.h"
#include "tabi/tabi.h"

#include <stddef.h>

typedef struct step_problem {
  int32_t ncontact, nrow, n;
  tbi_law *law; /* contacts, then rows */
  double *w;    /* [n n] row by row */
  double *q;    /* [n] velocity without impulses, less the one that is wanted */
  double *r;    /* [n] impulses of the step */
} step_problem;

/* Of the last step of a world. */
step_problem step_problem_read(const tabi_world *world);
void step_problem_free(step_problem *problem);

/* Puts the impulses of all rows into q: what is left is a problem of contacts alone. */
void step_problem_fix_rows(step_problem *problem);

/* u = W r + q */
void step_problem_velocity(const step_problem *problem, const double *r, double *u);
/* |w (r - P(r - u~ / w))| / |q|, w the mobility of a contact or row: 0 for a solution */
double step_problem_residual(const step_problem *problem, const double *r);
/* Of W, with singular values below 1e-12 of the largest as zeros. */
int32_t step_problem_rank(const step_problem *problem);

/* The contacts as a problem that tabi can solve by itself; rows are left out. */
tabi_friction_problem *step_problem_make(const step_problem *problem);
/* The same as a file in the layout of docs/solve.md. */
void step_problem_save(const step_problem *problem, const char *path);

#endif

/* tabi_friction.h - friction problems: contacts without a robot.
 *
 * Find the impulses r such that u = W r + q obeys Signorini's condition and Coulomb's law at every
 * contact.  Components per contact: normal, two tangents. */
#ifndef TABI_FRICTION_H
#define TABI_FRICTION_H

#include "tabi_model.h"

TABI_BEGIN

typedef struct tabi_friction_problem tabi_friction_problem;

typedef struct tabi_friction_problem_def {
  uint32_t def_size;
  int32_t ncontact;
  const int32_t *row;     /* [ncontact + 1] where the blocks of a contact begin; row[0] = 0 */
  const int32_t *column;  /* of every block of W: the contact whose impulse it multiplies */
  const double *block;    /* 3x3, row by row, of every block */
  const double *q;        /* [3 ncontact] */
  const double *friction; /* [ncontact] coefficients, >= 0 */
  tabi_place place;
} tabi_friction_problem_def;

TABI_API tabi_friction_problem_def tabi_friction_problem_def_default(void);
TABI_API tabi_friction_problem *tabi_friction_problem_create(const tabi_friction_problem_def *def,
                                                             tabi_error *err);
TABI_API void tabi_friction_problem_destroy(tabi_friction_problem *problem); /* NULL is fine */
TABI_API int32_t tabi_friction_problem_ncontact(const tabi_friction_problem *problem);

typedef enum tabi_friction_solver {
  TABI_FRICTION_EXACT, /* Newton's method, to the tolerance also for ill-conditioned problems */
  TABI_FRICTION_CONE,  /* Gauss-Seidel, each contact solved exactly */
  TABI_FRICTION_LCP,   /* Gauss-Seidel row by row, friction in a square pyramid */
  TABI_FRICTION_COUNT,
} tabi_friction_solver;

typedef struct tabi_friction_solve_def {
  uint32_t def_size;
  tabi_friction_solver solver;
  double tolerance;       /* of the scaled residual */
  int32_t max_iterations; /* sweeps; of exact: factorisations.  0: 10000, exact 2000 */
} tabi_friction_solve_def;

typedef struct tabi_friction_result {
  int32_t islands;        /* independent parts, solved one by one */
  int32_t iterations;     /* sweeps and factorisations, max over islands */
  int32_t factorisations; /* of all islands */
  double residual;        /* |r - P(r - u~)| / |q| over all contacts, P the projection on the cone,
                             u~ = u + (mu |u_t|, 0, 0) */
  double scaled;          /* |w (r - P(r - u~ / w))| / |q|, w a third of the trace of the contact's
                             own block: does not depend on units */
  bool converged;         /* scaled met the tolerance, or ten times what rounding leaves */
} tabi_friction_result;

/* exact, 1e-10 */
TABI_API tabi_friction_solve_def tabi_friction_solve_def_default(void);
/* r[3 ncontact] holds the start (zeros if none is known) and becomes the solution, or the best that
 * was found.  def may be NULL.  Allocates. */
TABI_API tabi_status tabi_friction_problem_solve(const tabi_friction_problem *problem,
                                                 const tabi_friction_solve_def *def, double *r,
                                                 tabi_friction_result *result, tabi_error *err);
/* The words used by the command; TABI_NONE for a word that is none of them. */
TABI_API const char *tabi_friction_solver_name(tabi_friction_solver solver);
TABI_API int32_t tabi_friction_solver_find(const char *name);

TABI_END

#endif

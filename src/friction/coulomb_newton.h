/* coulomb_newton.h - Coulomb's law with De Saxce's shift, solved by Gauss-Seidel and Newton's
 * method to a residual, whatever the conditioning.  It is the friction solver `exact`, and below
 * the contact method exact and the fallbacks of cone and lcp.
 *
 *   u = W r + q;   contact: r in its cone, u + (mu |u_t|, 0, 0) in the dual cone, both orthogonal;
 *                  row: r within its bounds, u of the other sign where a bound holds
 *
 * The solver (coulomb_newton.c) knows W, the Delassus operator, only by its products, so that W may
 * be stored as blocks (stored problems) or as the factors of a robot (never formed). */
#ifndef TBI_COULOMB_NEWTON_H
#define TBI_COULOMB_NEWTON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* One contact (three unknowns: normal, two tangents) or one row (one unknown). */
typedef struct tbi_law {
  int32_t at;          /* its first unknown */
  int32_t size;        /* 3 or 1 */
  double mobility;     /* trace of its own block of W / size: scales r against u; > 0 */
  double friction;     /* of a contact */
  double lower, upper; /* of a row: bounds of r */
} tbi_law;

/* 3x3, row by row; a row uses the first number only. */
typedef struct tbi_law_block {
  double m[9];
} tbi_law_block;

/* W and q of one island: contacts and rows that feel each other. */
typedef struct tbi_delassus {
  void *self;
  int32_t nlaw, nunknown;
  const tbi_law *law;
  const double *q; /* [nunknown] */
  /* wr = W r */
  void (*multiply)(void *self, const double *r, double *wr);
  /* one sweep of Gauss-Seidel over all laws, whose solution it leaves as it is */
  void (*sweep)(void *self, double *r);
  /* solves  dr + D W dr = g  with D block by block; false: singular, or the memory did not suffice
   */
  bool (*newton)(void *self, const tbi_law_block *d, const double *g, double *dr);
} tbi_delassus;

typedef struct tbi_newton_result {
  int32_t sweeps, factorisations;
  double residual; /* sqrt(sum of mobility^2 |r - P(r - u~ / mobility)|^2), in units of u */
  bool converged;
} tbi_newton_result;

size_t tbi_newton_memsize(int32_t nlaw, int32_t nunknown);
/* Improves r (given: the start) until the residual is at most `tolerance` (in units of u) or
 * `budget` factorisations are used up; r is the best that was seen. */
tbi_newton_result tbi_newton_solve(const tbi_delassus *w, double tolerance, int32_t budget,
                                   double *r, void *scratch);
/* From r, so many sweeps at most and, if steps of Newton's method follow, as long as their rate
 * promises convergence; then so many of these steps, and from the residual `enough` on only as long
 * as each halves it: for callers that go on in their own way. */
typedef struct tbi_newton_effort {
  int32_t sweeps, factorisations;
  double enough;
} tbi_newton_effort;
size_t tbi_newton_refine_memsize(int32_t nlaw, int32_t nunknown);
tbi_newton_result tbi_newton_refine(const tbi_delassus *w, double tolerance, tbi_newton_effort most,
                                    double *r, void *scratch);
/* Of all solutions the one in which contacts share their load like equal springs, whatever r is
 * given: r only helps to find it, and stays as it is where the result is not converged.  Memory as
 * for tbi_newton_refine. */
tbi_newton_result tbi_newton_share_load(const tbi_delassus *w, double tolerance, int32_t budget,
                                        double *r, void *scratch);
/* The residual of r, with u = W r + q given. */
double tbi_newton_residual(const tbi_delassus *w, const double *r, const double *u);

#endif

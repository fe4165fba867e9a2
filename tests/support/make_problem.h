/* make_problem.h - contact problems without a world: a model at a state, points of contact where
 * the test wants them, joint rows, and the memory of it all.
 *
 * Shapes are not needed: in a candidate, shape i stands for moving body i and shape nbody for the
 * world. */
#ifndef TEST_MAKE_PROBLEM_H
#define TEST_MAKE_PROBLEM_H

#include "contact/formulation.h"
#include "problem/setup.h"

#include "support/random_model.h"
#include "support/rng.h"

typedef struct made_problem {
  const tabi_model *model;
  tabi_dynamics *d;
  tbi_setup setup;
  tbi_problem *p; /* setup.problem */
  double *rhs;    /* impulse of all other forces: [nv] */
  tbi_candidate *candidate;
  void *blocks[32]; /* all memory but d */
  int nblock;
} made_problem;

/* Touches and rows are copied. */
void made_open(made_problem *made, const tabi_model *model, const double *q, const double *v,
               double timestep);
void made_fill(made_problem *made, const tbi_candidate *candidate, int32_t ncandidate,
               const tbi_row *row, int32_t nrow);
void made_close(made_problem *made);

/* Ports back to free motion, nothing received. */
void made_clear(made_problem *made);
/* Ports back to where the impulses of points and rows, as they stand, put them. */
void made_restart(made_problem *made);
/* From there: solve, in memory of exactly the size asked for. */
typedef size_t made_memsize(const tabi_model *model, const tabi_world_def *def);
typedef tbi_solution made_solver(tbi_problem *problem, const tabi_world_def *def, void *scratch);
tbi_solution made_solve(made_problem *made, const tabi_world_def *def, made_memsize *memsize,
                        made_solver *solve);

/* Fails unless the ports are where the impulses put them and remember what they received. */
void made_expect_consistent(made_problem *made);
/* Solves many random problems. Three quarters have to converge, and those pass the check. */
void made_check_random(made_memsize *memsize, made_solver *solve,
                       void (*check)(const made_problem *made));
/* Random contacts under 20 sweeps on ports, on the dense matrix by blocks and on the one by test
 * forces: fails unless equal. */
void made_compare_dense(uint64_t seed, made_memsize *memsize, made_solver *solve);

/* A def with what the solvers read. */
tabi_world_def made_def(int32_t max_contacts);

/* Velocity of a point in its frame, and of a row, as the ports stand. */
v3 made_point_velocity(const made_problem *made, int32_t point);
double made_row_velocity(const made_problem *made, int32_t row);

/* Random candidates between bodies, and bodies and world, near the bodies; rows of every kind.
 * Being at rest satisfies them all, so there is a solution. */
void made_random_candidates(const made_problem *made, rng *r, tbi_candidate *candidate,
                            int32_t count);
void made_random_rows(const made_problem *made, rng *r, tbi_row *row, int32_t count);
/* Random friction, targets, slip and axes of the points. */
void made_random_surfaces(made_problem *made, rng *r);

/* A random model at a random state, opened, without candidates. */
tabi_model *made_open_random(made_problem *made, uint64_t seed, random_kind kind, double timestep);
/* One random model with `points` candidates and at most `rows` rows, opened and filled. */
tabi_model *made_random(made_problem *made, uint64_t seed, random_kind kind, int32_t points,
                        int32_t rows);

#endif

/* impulse_work.h - what the parts of `impulse` share: the points and rows of one island, what each
 * of them does at present, and the matrix between them.
 *
 *   impulse.c           the passes from top to bottom
 *   impulse_solve.c     the impulses of active points and rows
 *   impulse_friction.c  which points stick, which slide, and in which direction
 *   impulse_share.c     static friction in proportion to normals
 *   impulse_energy.c    the limit to what rebounds and friction add to the energy
 *   impulse_paper.c     the published loop
 *   impulse_fallback.c  islands whose passes cycle, or that are too large */
#ifndef TBI_IMPULSE_WORK_H
#define TBI_IMPULSE_WORK_H

#include "contact/exact_island.h"
#include "math/pseudo.h"

#define TBI_MIN_APPROACH 1e-10 /* m/s or rad/s: slower velocities count as zero */
#define TBI_NO_GAIN      1e-12 /* J per point and row: energy by rounding */

typedef enum tbi_contact_mode {
  TBI_FREE,   /* a point without impulse */
  TBI_STICKS, /* a point or row whose velocity, all components of it, is prescribed */
  TBI_SLIDES, /* a point with a prescribed normal velocity and kinetic friction */
  TBI_BOUND,  /* a row whose impulse is at a bound */
} tbi_contact_mode;

/* The present mode of a point or row. */
typedef struct tbi_part {
  tbi_contact_mode mode;
  double along[2]; /* direction of the friction of a point that slides */
  bool turned;     /* slid, and then stuck since friction would have turned it back */
  bool let_go;     /* was released since it pulled; only penetration makes it active again */
  double bound;    /* impulse of a row at a bound */
} tbi_part;

typedef struct tbi_impulse_island {
  const tbi_island *island;
  tbi_part *part; /* by law */
  int32_t n;
  double *m;              /* M, n x n */
  double *q;              /* velocities without impulses, less their targets: [n] */
  double *f, *u;          /* impulses, and velocities with them: [n] */
  double *last;           /* impulses of the step before: [n] */
  double friction;        /* factor on all friction coefficients, 0 to 1 */
  bool energy_limited;    /* rebounds or friction were reduced */
  bool stops;             /* every active point sticks first, whatever its slip before the step */
  bool missed;            /* the passes have ended, but not at the law */
  int32_t *fixed, nfixed; /* unknowns whose velocities are prescribed, normals first */
  int32_t nnormal;        /* of them, those before the tangents: normals and rows */
  struct {
    int32_t law, fixed; /* the point's law, and which of `fixed` its normal is */
  } * sliding;          /* points that slide with friction */
  int32_t nsliding;
  double *root, *kept; /* scratch of impulse_share.c: roots of weights, impulses before: [n] */
  double *a, *x; /* scratch: M and right-hand side of the fixed unknowns, or of the sliding ones */
  tbi_pseudo pseudo; /* factor of the fixed unknowns' M */
} tbi_impulse_island;

/* NULL: a row. */
static inline const tbi_point *tbi_impulse_point(const tbi_impulse_island *c, int32_t law) {
  return tbi_island_point(c->island, law);
}

static inline double *tbi_impulse_row(const tbi_impulse_island *c, int32_t i) {
  return c->m + (size_t)i * (size_t)c->n;
}

/* The first modes, with that share of all rebounds: points that would penetrate or had an impulse
 * in the step before are active. */
void tbi_impulse_start(tbi_impulse_island *c, double rebound);
/* The passes, with a share of all rebounds and of all friction; returns their number, negative if
 * they cycle. */
int32_t tbi_impulse_settle(tbi_impulse_island *c, double rebound, double friction);

/* Lists the fixed unknowns and the sliding points, and factors the M of the fixed. */
void tbi_impulse_factor(tbi_impulse_island *c);
/* Impulses that are not solved for: free points, rows at a bound, friction of sliding points. */
void tbi_impulse_follow(tbi_impulse_island *c);
/* u = M f + q. */
void tbi_impulse_multiply(tbi_impulse_island *c);
/* M f = -q for the fixed unknowns, with the friction of sliding points; false: it is singular. */
bool tbi_impulse_solve_fixed(tbi_impulse_island *c);

/* The kinetic friction coefficient of a point. */
double tbi_impulse_kinetic(const tbi_impulse_island *c, const tbi_point *point);
/* The mode of a point that becomes active, by its slip before the step. */
tbi_part tbi_impulse_fixed_point(const tbi_impulse_island *c, const tbi_point *point);
/* Points beyond static friction slide; sliding points whose velocity friction would reverse stick.
 * False: nothing changed. */
bool tbi_impulse_change_friction(tbi_impulse_island *c);
/* Turns the friction of sliding points towards the opposite of their slip after the step.  False:
 * it opposes it already, or drives it. */
bool tbi_impulse_turn_friction(tbi_impulse_island *c);
/* Whether velocities miss what their modes ask for: points that were not allowed to change once
 * more, or that ask for what contradicts each other. */
bool tbi_impulse_misses(const tbi_impulse_island *c);
/* Shares the tangents of sticking points so that as few as possible are beyond their cones; normals
 * and velocities stay.  c->u is that of c->f. */
void tbi_impulse_share_friction(tbi_impulse_island *c);
/* A point that pulls if it sticks and penetrates if it is free has to slide: with the friction of
 * its slip before the step, or against its velocity when free.  It never sticks again, so the cycle
 * ends. */
void tbi_impulse_slide_in(tbi_impulse_island *c, int32_t law);

/* Solves with the largest share of rebounds that adds no energy, or without rebounds and with the
 * largest such share of friction.  Returns the passes as tbi_impulse_settle. */
int32_t tbi_impulse_limit_energy(tbi_impulse_island *c);

typedef struct tbi_impulse_exact {
  tbi_exact_memory memory;
  double *target; /* m/s, with the whole rebound, of each point of an island */
} tbi_impulse_exact;

void tbi_impulse_exact_place(tbi_layout *at, int64_t points, int64_t rows, tbi_impulse_exact *e);
/* Drives the impulses of an island, from where they stand in the problem, to Coulomb's law with the
 * largest share of all rebounds that adds no energy. */
tbi_solution tbi_impulse_fall_back(const tbi_impulse_exact *e, const tbi_island *island,
                                   const tabi_world_def *given);

/* Finds the impulses c->f of one island; c->m and c->last are filled.  Returns the number of
 * passes; zero or negative: without success, and exact takes over.  */
typedef int32_t tbi_impulse_passes(tbi_impulse_island *c);

/* As the functions of a formulation, island by island. */
size_t tbi_impulse_memsize(const tabi_model *model, const tabi_world_def *def);
tbi_solution tbi_impulse_solve(tbi_problem *p, const tabi_world_def *def, void *scratch,
                               tbi_impulse_passes *passes);

#endif

/* impulse_work.h - what the parts of `impulse` share: the points and rows of one island, what each
 * of them does at present, and the matrix between them.
 *
 *   impulse.c           the passes from top to bottom
 *   impulse_solve.c      the impulses of active points and rows
 *   impulse_friction.c  who sticks, who slides, and where to
 *   impulse_energy.c    what impulses add to the energy, and what is done against it
 *   impulse_paper.c     the published loop
 *   impulse_fallback.c     islands whose passes cycle, or that are too large */
#ifndef TBI_IMPULSE_WORK_H
#define TBI_IMPULSE_WORK_H

#include "contact/exact_island.h"
#include "math/pseudo.h"

#define TBI_GOES_IN 1e-10 /* m/s or rad/s: slower than this nothing has to be stopped */
#define TBI_NO_GAIN 1e-12 /* J, for every point and row: no more than rounding gives */

typedef enum tbi_contact_mode { TBI_FREE, TBI_STICKS, TBI_SLIDES, TBI_BOUND } tbi_contact_mode;

/* What a point or row does. */
typedef struct tbi_part {
  tbi_contact_mode mode;
  double along[2]; /* of the friction of a point that slides */
  bool turned;     /* slid, and was stopped */
  bool let_go;     /* pulled; only going in brings it back */
  double bound;    /* impulse of a row at a bound */
} tbi_part;

typedef struct tbi_impulse_island {
  const tbi_island *island;
  tbi_part *part; /* by law */
  int32_t n;
  double *m;       /* M, n x n */
  double *q;       /* velocities without impulses, targets taken off */
  double *f, *u;   /* impulses, and velocities with them */
  double *last;    /* impulses of the step before */
  double friction; /* share of all coefficients */
  bool stops;      /* slip before the step does not count */
  int32_t *fixed, nfixed;
  struct {
    int32_t law, fixed; /* the point's law, and which of `fixed` its normal is */
  } * sliding;          /* points that slide with friction */
  int32_t nsliding;
  double *a, *x; /* of the fixed unknowns */
  tbi_pseudo pseudo;
} tbi_impulse_island;

/* NULL: a row. */
static inline const tbi_point *tbi_impulse_point(const tbi_impulse_island *c, int32_t law) {
  return tbi_island_point(c->island, law);
}

static inline double *tbi_impulse_row(const tbi_impulse_island *c, int32_t i) {
  return c->m + (size_t)i * (size_t)c->n;
}

/* Active is what would penetrate or was active before, with that share of all rebounds. */
void tbi_impulse_start(tbi_impulse_island *c, double rebound);
/* The passes, with a share of all rebounds and of all friction; how many it took, negative if they
 * went in circles. */
int32_t tbi_impulse_settle(tbi_impulse_island *c, double rebound, double friction);

/* The unknowns whose velocities are asked for, normals first, and the factor of their M. */
void tbi_impulse_factor(tbi_impulse_island *c);
/* Impulses that follow from others or from a bound. */
void tbi_impulse_follow(tbi_impulse_island *c);
/* u = M f + q. */
void tbi_impulse_multiply(tbi_impulse_island *c);
/* M f = -q for the fixed unknowns, with the friction that goes with it; false: there is none. */
bool tbi_impulse_solve_fixed(tbi_impulse_island *c);

double tbi_impulse_kinetic(const tbi_impulse_island *c, const tbi_point *point);
/* What an active point does, by its slip before the step. */
tbi_part tbi_impulse_fixed_point(const tbi_impulse_island *c, const tbi_point *point);
/* Points beyond static friction slide the way they were pulled; those that friction would turn back
 * stick.  False: nothing changed. */
bool tbi_impulse_change_friction(tbi_impulse_island *c);
/* A point that pulls if it sticks, and goes in if it is free, has to slide: as before the step, or
 * against where it goes when it is free.  It does not stick any more, to end the cycle. */
void tbi_impulse_slide_in(tbi_impulse_island *c, int32_t law);

/* J: what impulses f add to the energy, beyond what taking back overlap does on purpose, if they
 * change velocities from q to u. */
double tbi_impulse_gain(const tbi_island *island, const double *f, const double *q,
                        const double *u);
/* The largest share of rebounds, or of friction without any, that gives no energy. */
int32_t tbi_impulse_limit_energy(tbi_impulse_island *c);

typedef struct tbi_impulse_exact {
  tbi_exact_memory room;
  double *target; /* with the whole rebound, by point of an island */
} tbi_impulse_exact;

void tbi_impulse_exact_place(tbi_layout *at, int64_t points, int64_t rows, tbi_impulse_exact *e);
/* Drives the impulses of an island, from where they stand in the problem, to Coulomb's law with the
 * largest share of all rebounds that gives no energy. */
tbi_solution tbi_impulse_fall_back(const tbi_impulse_exact *e, const tbi_island *island,
                                   const tabi_world_def *def);

/* The impulses of one island, from the island_work as it was begun: how many passes that took; zero
 * or negative: in vain, and exact takes over.  Sets *energy_limited if that is so. */
typedef int32_t tbi_impulse_passes(tbi_impulse_island *c, bool *energy_limited);

/* As the functions of a formulation, island by island. */
size_t tbi_impulse_memsize(const tabi_model *model, const tabi_world_def *def);
tbi_solution tbi_impulse_solve(tbi_problem *p, const tabi_world_def *def, void *scratch,
                               tbi_impulse_passes *passes);

#endif

/* factored.h - the contact matrix W of a problem as an operator, never formed.
 *
 *   W = Y S Y',   S = 1 for velocities, -1 for independent loop constraints
 *
 * A point acts on the coordinates (velocities and independent loop constraints of its clusters)
 * through its ports, so W times impulses costs as much as the paths of ports and rows, and a Newton
 * step needs the factor of a matrix of the size of the coordinates, however many points there are.
 * Clusters in contact with each other make up an island; islands are independent of each other. */
#ifndef TBI_FACTORED_H
#define TBI_FACTORED_H

#include "base/layout.h"
#include "friction/coulomb_newton.h"
#include "math/blocklu.h"
#include "problem/couples.h"

struct tbi_factored;

typedef struct tbi_island {
  tbi_delassus w; /* its laws: points group by group, then rows, then couples (couples.h) */
  struct tbi_factored *all;
  const int32_t *cluster, *group, *row; /* indices of its members in the problem */
  const int32_t *couple;                /* likewise */
  const int32_t *couple_normal;         /* which unknown the normal impulse of its point is */
  int32_t ncluster, ngroup, nrow, npoint, ncouple;
  const int32_t *law_point; /* the point of a law; TABI_NONE: the law of a row or couple */
  tbi_blocklu *lu;          /* NULL: its elimination order is not made yet */
} tbi_island;

typedef struct tbi_factored {
  tbi_problem *p;
  int32_t nisland;
  tbi_island *island;

  int32_t *node;                  /* index of a cluster in its island; see find_islands() */
  int32_t *island_of;             /* of a cluster, or TABI_NONE */
  int32_t *cluster, *group, *row; /* members, island by island */
  int32_t *couple, *couple_normal;
  tbi_law *law; /* island by island, as what follows */
  int32_t *law_point;
  double *q; /* velocities without impulses, less their targets */
  /* scratch */
  sv *port;    /* wrenches at ports, then their responses */
  double *sum; /* by velocity and loop, as problem->sum */
  /* of Newton steps */
  double *x;                  /* as sum, node by node */
  double *left, *more;        /* of refine(): residual and correction, by unknown */
  int32_t *size;              /* coordinates of each node of an island */
  int32_t (*pair)[2];         /* nodes in contact with each other */
  int32_t *position;          /* of two limbs (factored_newton.c) */
  double *limb;               /* numbers of two limbs, a product, a row */
  int64_t longest;            /* the most coordinates on which one port acts */
  void *arena;                /* memory of blocklu */
  size_t arena_size;          /* bytes */
  const tbi_island *in_arena; /* whose lu is in it */
} tbi_factored;

/* The point of a law, or NULL for a row or couple. */
static inline const tbi_point *tbi_island_point(const tbi_island *island, int32_t law) {
  int32_t point = island->law_point[law];
  return point == TABI_NONE ? NULL : &island->all->p->point[point];
}

/* The couple of a law, or NULL for a point or row.
 *
 * Its unknowns, in units of impulses and velocities by its lever, are (a, l / lever) with the law
 * of a contact whose coefficient is 1.  That a is friction / lever times the normal impulse of its
 * point, and so at least zero, is the normal part of that law:
 *
 *   u_a = mobility (a - friction / lever p_n)
 *
 * To this W is not symmetric: p_n does not feel a. */
static inline tbi_couple *tbi_island_couple(const tbi_island *island, int32_t law) {
  int32_t k = law - island->npoint - island->nrow;
  return k < 0 ? NULL : &island->all->p->couple[island->couple[k]];
}
/* The first unknown of its first couple. */
static inline int32_t tbi_island_couples_at(const tbi_island *island) {
  return 3 * island->npoint + island->nrow;
}
/* friction / lever */
static inline double tbi_couple_share(const tbi_couple *c) { return c->friction / c->lever; }

/* Takes the memory for problems with at most that many points and couples, and rows. */
void tbi_factored_place(tbi_layout *at, const tabi_model *model, int64_t points, int64_t rows,
                        tbi_factored *f);
/* The two parts of it: all but Newton steps, and what Newton steps need in islands of so many
 * points, rows and coordinates (max). */
void tbi_factored_place_islands(tbi_layout *at, const tabi_model *model, int64_t points,
                                int64_t rows, tbi_factored *f);
void tbi_factored_place_newton(tbi_layout *at, const tabi_model *model, int64_t points,
                               int64_t rows, int64_t max, tbi_factored *f);
/* Finds the islands of a problem and fills their laws.  Points and rows that cannot move lose their
 * impulses; such rows belong to no island. */
void tbi_factored_begin(tbi_factored *f, tbi_problem *p);
/* The two parts of it, for those who need the laws of few islands. */
void tbi_factored_find_islands(tbi_factored *f, tbi_problem *p);
void tbi_factored_write_laws(tbi_factored *f, const tbi_island *island);
/* The impulses of an island's points and rows, as its laws order them. */
void tbi_island_read(const tbi_island *island, double *r);
void tbi_island_write(const tbi_island *island, const double *r);
/* Couples of points without impulse lose theirs, in r. */
void tbi_island_drop_couples(const tbi_island *island, double *r);
/* One sweep of cone over an island; the problem's velocities must be up to date with its impulses.
 * Returns the largest change of velocity. */
double tbi_island_sweep(const tbi_island *island);
/* tbi_problem_sum for the ports of one island. */
void tbi_island_sum(const tbi_island *island);
/* Velocities of the laws, less their targets, by the problem's velocities and sum. */
void tbi_island_velocity(const tbi_island *island, double *u);
/* J, by which impulses r that change velocities from q to u (both less their targets) increase the
 * energy, without the part that depth correction adds on purpose. */
double tbi_island_gain(const tbi_island *island, const double *r, const double *q, const double *u);
/* Whether that is more than rounding, for velocities u = W r + q of the island's own q. */
bool tbi_island_adds_energy(const tbi_island *island, const double *r, const double *u);
/* Velocities by a unit impulse at the k-th joint row of an island, of its points and its rows from
 * the k-th on. */
void tbi_island_row_response(const tbi_island *island, int32_t k, double *u);

#endif

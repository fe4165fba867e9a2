/* factored.h - the contact matrix W of a problem as an operator, never formed.
 *
 *   W = Y S Y',   S = 1 for velocities, -1 for independent loops
 *
 * A point or row reaches the coordinates (velocities and loops of its clusters) through its ports,
 * so W times impulses costs as much as their ports' paths, and a Newton step needs the factor of a
 * matrix of the size of the coordinates, however many points there are.  Clusters that touch each
 * other make up an island; islands do not feel each other. */
#ifndef TBI_FACTORED_H
#define TBI_FACTORED_H

#include "base/layout.h"
#include "friction/coulomb_newton.h"
#include "math/blocklu.h"
#include "problem/problem.h"

struct tbi_factored;

typedef struct tbi_island {
  tbi_delassus w; /* its laws: points group by group, then rows */
  struct tbi_factored *all;
  const int32_t *cluster, *group, *row; /* which belong to it */
  int32_t ncluster, ngroup, nrow, npoint;
  const int32_t *law_point; /* the point of a law; TABI_NONE: it is of a row */
  tbi_blocklu *lu;          /* NULL: not ordered yet */
} tbi_island;

typedef struct tbi_factored {
  tbi_problem *p;
  int32_t nisland;
  tbi_island *island;

  int32_t *node;      /* of a cluster in its island; while islands are sought, see islands() */
  int32_t *island_of; /* of a cluster */
  int32_t *cluster, *group, *row; /* island by island */
  tbi_law *law;
  int32_t *law_point;
  double *q;
  /* scratch */
  sv *port;    /* wrenches at ports, then their responses */
  double *sum; /* by velocity and loop, as problem->sum */
  /* of Newton steps */
  double *x;           /* as sum, node by node */
  double *left, *more; /* by unknown */
  int32_t *size;       /* of the nodes of an island */
  int32_t (*pair)[2];  /* of nodes that touch */
  int32_t *position;   /* of two limbs */
  double *limb;        /* two limbs, a product, a row */
  int64_t longest;     /* coordinates that a port reaches, at most */
  void *arena;         /* of blocklu */
  size_t arena_size;
  const tbi_island *in_arena;
} tbi_factored;

/* The point of a law, or NULL for a row. */
static inline const tbi_point *tbi_island_point(const tbi_island *island, int32_t law) {
  int32_t point = island->law_point[law];
  return point == TABI_NONE ? NULL : &island->all->p->point[point];
}

/* Takes the memory for problems with at most that many points and rows. */
void tbi_factored_place(tbi_layout *at, const tabi_model *model, int64_t points, int64_t rows,
                        tbi_factored *f);
/* Its two parts: all but Newton steps, and what these need in islands of so many points, rows and
 * coordinates, from one step to the next. */
void tbi_factored_place_islands(tbi_layout *at, const tabi_model *model, int64_t points,
                                int64_t rows, tbi_factored *f);
void tbi_factored_place_newton(tbi_layout *at, const tabi_model *model, int64_t points,
                               int64_t rows, int64_t max, tbi_factored *f);
/* Finds the islands of a problem and writes down their laws.  What loops hold loses its impulses;
 * such rows belong to no island. */
void tbi_factored_begin(tbi_factored *f, tbi_problem *p);
/* The impulses of an island's points and rows, as its laws order them. */
void tbi_island_read(const tbi_island *island, double *r);
void tbi_island_write(const tbi_island *island, const double *r);
/* One sweep of cone over an island, of a problem whose velocities are in step with its impulses;
 * returns the largest change of velocity.  As tbi_problem_sum. */
double tbi_island_sweep(const tbi_island *island);
void tbi_island_sum(const tbi_island *island);
/* Velocities as the problem stands, its sum included, targets taken off. */
void tbi_island_velocity(const tbi_island *island, double *u);

#endif

/* load_sharing.h - a rule that knows no order, for islands whose load sharing is not unique. */
#ifndef TBI_LOAD_SHARING_H
#define TBI_LOAD_SHARING_H

#include "contact/formulation.h"
#include "contact/load_effect.h"
#include "contact/small_island.h"

typedef struct tbi_sharing_memory {
  int32_t *loaded;         /* by cluster: points that carry a load; of tbi_load_is_open */
  double *r, *u;           /* impulses and velocities of one island */
  double *kept;            /* impulses before traces are dropped */
  void *newton;            /* memory of tbi_newton_refine; may include u and kept */
  tbi_small_island *small; /* may be NULL */
  tbi_load_memory load;    /* used before kept, newton and small, which may include it */
} tbi_sharing_memory;

/* Coordinates of the largest island whose load sharing is decided. */
int64_t tbi_load_coordinates(const tabi_model *model);
/* Whether some loaded point is at its cone, under the present impulses: mostly none is. */
bool tbi_load_may_be_open(const tbi_problem *p);
/* Whether then the motion of some bodies depends on how points share their load. */
bool tbi_load_is_open(const tbi_problem *p, int32_t *loaded);
/* The same for one island.  If so, and if its impulses obey the law up to a residual of `solved`,
 * they are replaced by those in which points share their load like equal springs, to a residual of
 * `tolerance` (both m/s).  Returns the factorisations that it took; 0: the impulses are as they
 * were.  The problem's velocities are not brought up to date. */
int32_t tbi_island_share_load(const tbi_sharing_memory *memory, const tbi_island *island,
                              double tolerance, double solved);

/* All that for a problem that cone has solved.  Adds what it took to the solution. */
size_t tbi_share_loads_memsize(const tabi_model *model, const tabi_world_def *def);
void tbi_share_loads(tbi_problem *p, const tabi_world_def *def, void *scratch,
                     tbi_solution *solution);

#endif

/* friction.h - stored friction problems: W as 3x3 blocks, solved island by island.
 *
 *   friction.c          the public face: making, solving, residuals
 *   friction_islands.c  contacts that feel each other, put side by side
 *   friction_blocks.c   W of an island as a tbi_delassus */
#ifndef TBI_FRICTION_H
#define TBI_FRICTION_H

#include "friction/coulomb_newton.h"
#include "math/blocklu.h"
#include "tabi/tabi.h"

typedef struct tbi_friction_block {
  double m[3][3];
} tbi_friction_block;

struct tabi_friction_problem {
  int32_t ncontact;
  int32_t *row;    /* [ncontact + 1] first block of a contact */
  int32_t *column; /* contact of a block */
  tbi_friction_block *block;
  double *q; /* [3 ncontact] */
  double *friction;
};

/* W and q of the contacts of an island, numbered from zero. */
typedef struct tbi_friction_island {
  int32_t ncontact;
  const int32_t *row; /* [ncontact + 1] */
  const int32_t *column;
  const tbi_friction_block *block;
  const tbi_friction_block *own; /* [ncontact] symmetric, regular: for solving a contact alone */
  const tbi_law *law;
  const double *q;
  const int32_t *contact; /* numbers in the problem */
  /* of the factorisation */
  tbi_blocklu *lu;
  int32_t *node;    /* of a contact */
  int32_t *place;   /* of a contact in the unknowns of the factorisation */
  int32_t *width;   /* unknowns of the node of a contact */
  double **target;  /* where a block goes */
  double **corner;  /* where the own block of a contact goes */
  double *unknowns; /* [3 ncontact] */
} tbi_friction_island;

typedef struct tbi_friction_islands {
  int32_t count;
  tbi_friction_island *island;
  void *memory; /* of all but lu */
} tbi_friction_islands;

/* False: out of memory. */
bool tbi_friction_islands_create(tbi_friction_islands *islands,
                                 const tabi_friction_problem *problem);
void tbi_friction_islands_destroy(tbi_friction_islands *islands);

/* Orders the factorisation of an island in memory that is moved and grown as needed; false: out of
 * memory. */
bool tbi_friction_factor_begin(tbi_friction_island *island, void **memory, size_t *size);
tbi_delassus tbi_friction_delassus(tbi_friction_island *island);

/* u = W r of one contact, without q. */
void tbi_friction_row(const tbi_friction_island *island, int32_t contact, const double *r,
                      double u[3]);

#endif

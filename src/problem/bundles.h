/* bundles.h - which loop constraints are eliminated together, in which order, and what they touch.
 *
 * A bundle is the loop constraints of one connection, coupling or tendon.  Their columns (loops.h)
 * differ from zero only along the paths from their bodies to the roots.  Taking a bundle out of the
 * others spreads its numbers over those that share some with it.  Bundles that touch little go
 * first: in a row of n mechanisms every other one, then every other one of the rest.  So the
 * numbers of all columns together grow like n log n, and not with the square of n.
 *
 * All this follows from the model alone.  Where it would not save half of the work, as in a cluster
 * with one connection, the cluster is one bundle. */
#ifndef TBI_BUNDLES_H
#define TBI_BUNDLES_H

#include "base/layout.h"
#include "model/model.h"

/* The numbers of a column that may differ from zero, ascending: velocities, then slacks. */
typedef struct tbi_support {
  int32_t *at;
  int32_t count;
  int32_t dofs; /* how many of them are velocities */
  bool solid;   /* they follow one another without gaps */
} tbi_support;

typedef struct tbi_bundle {
  int32_t ties;           /* loop constraints, at most */
  tbi_support support;    /* of its columns, when those of the bundles before are taken out */
  int32_t *next, *before; /* bundles that share numbers with it, taken later and earlier */
  int32_t nnext, nbefore;
  /* of this step */
  int32_t loop, count; /* its first loop in the cluster, and their number */
  int32_t pivot, rank; /* its first pivot, and their number */
} tbi_bundle;

typedef struct tbi_bundles {
  int32_t *of_owner; /* of a connection, coupling or tendon, or TABI_NONE: model/clusters.h */
  int32_t *slack;    /* by owner: the number of a column that is the slack of its first loop */
  int32_t *cluster_bundle, *cluster_count; /* first bundle of a cluster and their number */
  int32_t *sequence;                       /* bundles as they are taken, cluster by cluster */
  tbi_bundle *bundle;
  int32_t *all;  /* 0, 1, 2, ..: support of columns without zeros */
  int32_t *mark; /* scratch: [the widest column] */
} tbi_bundles;

/* How many velocities and how many loops a cluster has at most. */
static inline int32_t tbi_cluster_dofs(const tabi_model *model, int32_t cluster) {
  return model->cluster_dof[cluster + 1] - model->cluster_dof[cluster];
}
static inline int32_t tbi_cluster_max_loops(const tabi_model *model, int32_t cluster) {
  return model->cluster_loop[cluster + 1] - model->cluster_loop[cluster];
}
/* the velocities of a cluster, and one more number for each loop: its slack if it is a spring */
static inline int32_t tbi_cluster_width(const tabi_model *model, int32_t cluster) {
  return tbi_cluster_dofs(model, cluster) + tbi_cluster_max_loops(model, cluster);
}

/* Takes memory, and with memory finds all but what belongs to a step. */
void tbi_bundles_place(tbi_layout *at, const tabi_model *model, tbi_bundles *bundles);
/* Makes all bundles of a cluster one: its pivots are the best of all. */
void tbi_bundles_unite(tbi_bundles *bundles, const tabi_model *model, int32_t cluster);

#endif

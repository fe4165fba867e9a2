/* kinematic_tree.h - kinematic trees with random states, on which rigid-body algorithms are
 * measured. */
#ifndef TBI_BENCH_KINEMATIC_TREE_H
#define TBI_BENCH_KINEMATIC_TREE_H

#include "dynamics/dynamics.h"

enum { TBI_BENCH_TREE_STATES = 16, TBI_BENCH_TREE_SPRINGS = 100 };

typedef enum tbi_bench_tree_shape {
  TBI_BENCH_TREE_ROBOT,
  TBI_BENCH_TREE_CHAIN,
  TBI_BENCH_TREE_BINARY
} tbi_bench_tree_shape;

/* A model, random states of it, and the dynamics they are set in. */
typedef struct tbi_bench_tree {
  tabi_model *model;
  tabi_dynamics *dynamics;
  int32_t nq, nv;
  double *q, *v, *tau, *qdd; /* TBI_BENCH_TREE_STATES rows each */
  double *out;               /* nv: results, which are not read */
  tbi_body_load *load;       /* by body, of the springs: filled before each use */
} tbi_bench_tree;

/* `links` links on revolute joints with axes x, y, z in turn, standing in the world. */
tabi_model *tbi_bench_tree_model(tbi_bench_tree_shape shape, int32_t links, tabi_error *err);

/* Takes the model over, also when it fails. */
tabi_status tbi_bench_tree_init(tbi_bench_tree *tree, tabi_model *model, tabi_error *err);
void tbi_bench_tree_free(tbi_bench_tree *tree);

static inline const double *tbi_bench_tree_q(const tbi_bench_tree *tree, int32_t state) {
  return tree->q + (size_t)state * (size_t)tree->nq;
}
static inline const double *tbi_bench_tree_v(const tbi_bench_tree *tree, int32_t state) {
  return tree->v + (size_t)state * (size_t)tree->nv;
}
static inline const double *tbi_bench_tree_tau(const tbi_bench_tree *tree, int32_t state) {
  return tree->tau + (size_t)state * (size_t)tree->nv;
}
static inline const double *tbi_bench_tree_qdd(const tbi_bench_tree *tree, int32_t state) {
  return tree->qdd + (size_t)state * (size_t)tree->nv;
}

#endif

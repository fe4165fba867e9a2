/* algorithm.h - the rigid-body algorithms as rows to measure, and their errors. */
#ifndef TBI_BENCH_ALGORITHM_H
#define TBI_BENCH_ALGORITHM_H

#include "kinematic_tree.h"

typedef struct tbi_algorithm {
  const char *name;
  /* a whole call: from (q, v) of a state to the result in tree->out */
  void (*call)(const tbi_bench_tree *tree, int32_t state);
  bool (*fits)(const tabi_model *model); /* whether it can take the model; NULL: any */
} tbi_algorithm;

enum { TBI_ALGORITHMS = 6 };
extern const tbi_algorithm tbi_algorithms[TBI_ALGORITHMS];

/* The largest error over all states, one for each algorithm:
 * kinematics  kinetic energy against v'Mv/2, relative
 * the others  |M qdd + bias - tau| of each row over the sum of the sizes of its terms, where the
 *             algorithm gave tau (rnea) or qdd; with springs, tau holds what they push at that qdd.
 * M and bias are those of crba and rnea. */
tabi_status tbi_algorithm_errors(const tbi_bench_tree *tree, double errors[TBI_ALGORITHMS]);

#endif

/* mjcf.h - a tree and its states as MJCF, so that other engines measure the same robot. */
#ifndef TBI_BENCH_MJCF_H
#define TBI_BENCH_MJCF_H

#include "tree.h"

#include <stdio.h>

/* One keyframe for each state.  Returns NULL, or what the tree has that cannot be written. */
const char *tbi_mjcf_write(const tbi_bench_tree *tree, FILE *file);

#endif

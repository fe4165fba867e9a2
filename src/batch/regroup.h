/* regroup.h - which worlds step together. */
#ifndef TBI_REGROUP_H
#define TBI_REGROUP_H

#include "batch/batch.h"

/* Sorts b->order: worlds that cost alike stand side by side, those that do not step come last. */
void tbi_regroup(tabi_batch *b, const uint8_t *active);

#endif

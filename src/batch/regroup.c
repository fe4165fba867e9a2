/* regroup.c - which worlds step together.
 *
 * A group pays for the contacts that any of its worlds has, and for the sweeps of the slowest.  So
 * worlds are sorted by what pushed in the step before, and among equals by how many sweeps it took.
 * What a world does is the same in every group. */
#include "batch/regroup.h"

#include <math.h>
#include <string.h>

enum { SWEEP_BITS = 16, SLOT_BITS = 47 };

/* contacts by neighbouring slots, which are mostly of one body, in a few bits; those at rest last
 */
static uint64_t key_of(const tabi_batch *b, int32_t world, const uint8_t *active) {
  const tbi_warm_world *warm = &b->warm[world];
  const double *told = tbi_batch_row(b, TABI_BATCH_CERTIFICATE, world);
  if (b->status[world] != TABI_OK || (active && !active[world])) return UINT64_MAX;
  uint64_t touched = 0;
  for (int32_t i = 0; i < warm->ncontact; ++i)
    touched |= (uint64_t)1 << (warm->slot[i] * SLOT_BITS / b->plan->nslot);
  double sweeps = fmin(fmax(told[TABI_BATCH_SWEEPS], 0), (1 << SWEEP_BITS) - 1);
  return touched << SWEEP_BITS | (uint64_t)sweeps;
}

/* two sorted runs of up to `width` into one */
static void merge(const tabi_batch *b, const int32_t *from, int32_t *to, int32_t first,
                  int32_t width) {
  int32_t end = b->worlds;
  int32_t middle = first + width < end ? first + width : end;
  int32_t last = middle + width < end ? middle + width : end;
  int32_t i = first;
  int32_t j = middle;
  for (int32_t k = first; k < last; ++k) {
    bool left = i < middle && (j >= last || b->key[from[i]] <= b->key[from[j]]);
    to[k] = from[left ? i++ : j++];
  }
}

/* stable, so that worlds that are alike keep their places */
void tbi_regroup(tabi_batch *b, const uint8_t *active) {
  for (int32_t i = 0; i < b->worlds; ++i)
    b->key[i] = key_of(b, i, active);
  int32_t *from = b->order;
  int32_t *to = b->order + b->worlds;
  for (int32_t width = 1; width < b->worlds; width *= 2) {
    for (int32_t first = 0; first < b->worlds; first += 2 * width)
      merge(b, from, to, first, width);
    int32_t *swap = from;
    from = to;
    to = swap;
  }
  if (from != b->order) memcpy(b->order, from, sizeof *from * (size_t)b->worlds);
}

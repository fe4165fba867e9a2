/* friction_blocks.c - the tbi_delassus of an island, for W stored as 3x3 blocks.
 *
 * Contacts that feel the same others (those between the same two bodies) are one node of the
 * factorisation: its blocks are dense and its loops long.  A row of  dr + D W dr = g  is as large
 * as its D, between zero and 1e14; rows are made alike before pivots are compared. */
#include "friction/friction.h"

#include "base/array.h"
#include "base/assertion.h"
#include "base/random.h"
#include "friction/coulomb.h"

#include <stdlib.h>
#include <string.h>

#define FIRST_MEMORY ((size_t)64 * 1024)

void tbi_friction_row(const tbi_friction_island *island, int32_t contact, const double *r,
                      double u[3]) {
  double sum[3] = {0, 0, 0};
  for (int32_t b = island->row[contact]; b < island->row[contact + 1]; ++b) {
    const tbi_friction_block *w = &island->block[b];
    const double *x = r + 3 * (ptrdiff_t)island->column[b];
    for (int k = 0; k < 3; ++k)
      sum[k] += w->m[k][0] * x[0] + w->m[k][1] * x[1] + w->m[k][2] * x[2];
  }
  memcpy(u, sum, sizeof sum);
}

static void multiply(void *self, const double *r, double *wr) {
  const tbi_friction_island *island = self;
  for (int32_t i = 0; i < island->ncontact; ++i)
    tbi_friction_row(island, i, r, wr + 3 * (ptrdiff_t)i);
}

/* The own block used to solve a contact alone may differ from that of W: at the fixed point, where
 * the impulse does not change, nothing of it is left. */
static void sweep(void *self, double *r) {
  const tbi_friction_island *island = self;
  for (int32_t i = 0; i < island->ncontact; ++i) {
    const tbi_friction_block *own = &island->own[i];
    double *mine = r + 3 * (ptrdiff_t)i;
    double u[3];
    tbi_friction_row(island, i, r, u);
    for (int k = 0; k < 3; ++k) {
      u[k] += island->q[3 * i + k];
      for (int l = 0; l < 3; ++l)
        u[k] -= own->m[k][l] * mine[l];
    }
    v3_store(tbi_coulomb(own->m, v3_load(u), island->law[i].friction), mine);
  }
}

/* One row of blocks of  s (1 + D W),  s making it about one; returns s. */
static double put_row(const tbi_friction_island *island, int32_t i, const double *d) {
  double size = 0;
  for (int k = 0; k < 9; ++k)
    size = tbi_max(size, fabs(d[k]));
  double s = 1 / (1 + size * island->law[i].mobility);
  double *corner = island->corner[i];
  for (int k = 0; k < 3; ++k)
    corner[k * island->width[i] + k] = s;
  if (size == 0) return s;
  for (int32_t b = island->row[i]; b < island->row[i + 1]; ++b) {
    const tbi_friction_block *w = &island->block[b];
    double *to = island->target[b];
    int32_t width = island->width[island->column[b]];
    for (int k = 0; k < 3; ++k) {
      const double *e = d + (ptrdiff_t)3 * k;
      for (int l = 0; l < 3; ++l)
        to[k * width + l] += s * (e[0] * w->m[0][l] + e[1] * w->m[1][l] + e[2] * w->m[2][l]);
    }
  }
  return s;
}

static bool newton(void *self, const tbi_law_block *d, const double *g, double *dr) {
  const tbi_friction_island *island = self;
  TBI_ASSERT(island->lu); /* tbi_friction_factor_begin() */
  double *x = island->unknowns;
  tbi_blocklu_clear(island->lu);
  for (int32_t i = 0; i < island->ncontact; ++i) {
    double s = put_row(island, i, d[i].m);
    for (int k = 0; k < 3; ++k)
      x[island->place[i] + k] = s * g[3 * i + k];
  }
  if (!tbi_blocklu_factor(island->lu)) return false;
  tbi_blocklu_solve(island->lu, x);
  bool finite = true;
  for (int32_t i = 0; i < island->ncontact; ++i) {
    for (int k = 0; k < 3; ++k) {
      dr[3 * i + k] = x[island->place[i] + k];
      finite = finite && isfinite(dr[3 * i + k]);
    }
  }
  return finite;
}

tbi_delassus tbi_friction_delassus(tbi_friction_island *island) {
  return (tbi_delassus){
      .self = island,
      .nlaw = island->ncontact,
      .nunknown = 3 * island->ncontact,
      .law = island->law,
      .q = island->q,
      .multiply = multiply,
      .sweep = sweep,
      .newton = newton,
  };
}

/* A number that contacts with the same neighbours share, themselves counted as their own; that
 * others share it too is next to impossible, and would only cost time. */
static void mark_neighbours(const tbi_friction_island *island, uint64_t *mark) {
  for (int32_t i = 0; i < island->ncontact; ++i) {
    uint64_t seed = (uint64_t)i;
    mark[i] = tbi_random_next(&seed);
  }
  for (int32_t i = 0; i < island->ncontact; ++i) {
    for (int32_t b = island->row[i]; b < island->row[i + 1]; ++b) {
      uint64_t seed = (uint64_t)island->column[b];
      if (island->column[b] != i) mark[i] += tbi_random_next(&seed);
    }
  }
}

/* Gives contacts their nodes; size has room for one node per contact.  Returns how many. */
static int32_t group(tbi_friction_island *island, const uint64_t *mark, int32_t *size) {
  int32_t nnode = 0;
  for (int32_t i = 0; i < island->ncontact; ++i) {
    int32_t node = nnode;
    /* contacts with the same neighbours are neighbours */
    for (int32_t b = island->row[i]; b < island->row[i + 1]; ++b) {
      int32_t j = island->column[b];
      if (j < i && mark[j] == mark[i]) node = island->node[j];
    }
    if (node == nnode) size[nnode++] = 0;
    island->node[i] = node;
    island->place[i] = size[node];
    size[node] += 3;
  }
  return nnode;
}

/* Where each block of W goes. */
static void aim(tbi_friction_island *island, const int32_t *size) {
  for (int32_t i = 0; i < island->ncontact; ++i)
    island->width[i] = size[island->node[i]];
  for (int32_t i = 0; i < island->ncontact; ++i) {
    /* place still counts inside the node */
    ptrdiff_t down = island->place[i];
    int32_t last = -1;
    double *block = NULL;
    for (int32_t b = island->row[i]; b < island->row[i + 1]; ++b) {
      int32_t j = island->column[b];
      if (island->node[j] != last) {
        block = tbi_blocklu_block(island->lu, island->node[i], island->node[j]);
      }
      last = island->node[j];
      TBI_ASSERT(block); /* its pair was named in tbi_friction_factor_begin() */
      island->target[b] = block + down * island->width[j] + island->place[j];
    }
    block = tbi_blocklu_block(island->lu, island->node[i], island->node[i]);
    island->corner[i] = block + down * island->width[i] + down;
  }
}

static bool order(tbi_friction_island *island, int32_t nnode, const int32_t *size,
                  const int32_t (*pair)[2], void **memory, size_t *memory_size) {
  for (;;) {
    island->lu =
        tbi_blocklu_begin(*memory, *memory_size, nnode, size, island->row[island->ncontact], pair);
    if (island->lu) return true;
    size_t wanted = *memory_size < FIRST_MEMORY ? FIRST_MEMORY : 2 * *memory_size;
    free(*memory);
    *memory = malloc(wanted);
    *memory_size = *memory ? wanted : 0;
    if (!*memory) return false;
  }
}

bool tbi_friction_factor_begin(tbi_friction_island *island, void **memory, size_t *size) {
  TBI_ASSERT(island->ncontact > 0 && memory && size);
  size_t n = (size_t)island->ncontact;
  size_t nblock = (size_t)island->row[island->ncontact];
  uint64_t *mark = malloc(n * (sizeof *mark + sizeof(int32_t)) + nblock * sizeof(int32_t[2]));
  if (!mark) return false;
  int32_t(*pair)[2] = (void *)(mark + n);
  int32_t *sizes = (int32_t *)(void *)(pair + nblock);
  mark_neighbours(island, mark);
  int32_t nnode = group(island, mark, sizes);
  for (int32_t i = 0; i < island->ncontact; ++i) {
    for (int32_t b = island->row[i]; b < island->row[i + 1]; ++b) {
      pair[b][0] = island->node[i];
      pair[b][1] = island->node[island->column[b]];
    }
  }
  bool good = order(island, nnode, sizes, (const int32_t(*)[2])pair, memory, size);
  if (good) {
    aim(island, sizes);
    int32_t start = 0;
    for (int32_t k = 0; k < nnode; ++k) {
      int32_t width = sizes[k];
      sizes[k] = start;
      start += width;
    }
    for (int32_t i = 0; i < island->ncontact; ++i)
      island->place[i] += sizes[island->node[i]];
  }
  free(mark);
  return good;
}

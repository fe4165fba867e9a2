/* friction_islands.c - the connected parts of W, each with its own row of blocks. */
#include "friction/friction.h"

#include "base/assertion.h"
#include "base/layout.h"
#include "math/vec.h"

#include <stdlib.h>
#include <string.h>

/* Added to the own block of a contact that is solved alone, as a share of its mobility: contacts
 * with fewer than three freedoms have a singular one. */
#define REGULAR 1e-12

/* All arrays, for all islands one after another. */
typedef struct pieces {
  tbi_friction_island *island;
  int32_t *contact, *number, *part;
  int32_t *row, *column;
  tbi_friction_block *block, *own;
  tbi_law *law;
  double *q, *unknowns;
  int32_t *node, *place, *width;
  double **target, **corner;
} pieces;

static size_t lay_out(pieces *p, void *memory, int64_t n, int64_t nblock) {
  tbi_layout at = {memory, 0};
  p->island = tbi_layout_take(&at, n, sizeof *p->island);
  p->contact = tbi_layout_take(&at, n, sizeof *p->contact);
  p->number = tbi_layout_take(&at, n, sizeof *p->number);
  p->part = tbi_layout_take(&at, n, sizeof *p->part);
  /* every island has one more */
  p->row = tbi_layout_take(&at, 2 * n, sizeof *p->row);
  p->column = tbi_layout_take(&at, nblock, sizeof *p->column);
  p->block = tbi_layout_take(&at, nblock, sizeof *p->block);
  p->own = tbi_layout_take(&at, n, sizeof *p->own);
  p->law = tbi_layout_take(&at, n, sizeof *p->law);
  p->q = tbi_layout_take(&at, 3 * n, sizeof *p->q);
  p->unknowns = tbi_layout_take(&at, 3 * n, sizeof *p->unknowns);
  p->node = tbi_layout_take(&at, n, sizeof *p->node);
  p->place = tbi_layout_take(&at, n, sizeof *p->place);
  p->width = tbi_layout_take(&at, n, sizeof *p->width);
  p->target = tbi_layout_take(&at, nblock, sizeof *p->target);
  p->corner = tbi_layout_take(&at, n, sizeof *p->corner);
  return at.used;
}

static int32_t find_root(int32_t *part, int32_t i) {
  while (part[i] != i) {
    part[i] = part[part[i]];
    i = part[i];
  }
  return i;
}

static bool is_zero(const tbi_friction_block *block) {
  for (int k = 0; k < 9; ++k) {
    if (block->m[k / 3][k % 3] != 0) return false;
  }
  return true;
}

/* Sorts the contacts by island, keeping their order inside each; fills contact, number (in the
 * island) and the sizes. */
static int32_t sort_contacts(pieces *p, const tabi_friction_problem *problem) {
  int32_t n = problem->ncontact;
  for (int32_t i = 0; i < n; ++i)
    p->part[i] = i;
  for (int32_t i = 0; i < n; ++i) {
    for (int32_t b = problem->row[i]; b < problem->row[i + 1]; ++b) {
      if (is_zero(&problem->block[b])) continue;
      int32_t a = find_root(p->part, i);
      int32_t c = find_root(p->part, problem->column[b]);
      /* the root is the first contact of its island */
      p->part[a > c ? a : c] = a < c ? a : c;
    }
  }
  int32_t count = 0;
  int32_t *island_of = p->node; /* of a root; free until the factorisation */
  for (int32_t i = 0; i < n; ++i) {
    int32_t root = find_root(p->part, i);
    if (root == i) {
      island_of[i] = count;
      p->island[count++] = (tbi_friction_island){0};
    }
    p->number[i] = p->island[island_of[root]].ncontact++;
    p->place[i] = island_of[root];
  }
  TBI_ASSERT(count <= n);
  int32_t first = 0;
  for (int32_t k = 0; k < count; ++k) {
    p->island[k].contact = p->contact + first;
    first += p->island[k].ncontact;
  }
  for (int32_t i = 0; i < n; ++i) {
    ptrdiff_t start = p->island[p->place[i]].contact - p->contact;
    p->contact[start + p->number[i]] = i;
  }
  return count;
}

static void fill_law(pieces *p, const tabi_friction_problem *problem, int32_t at, int32_t i,
                     const tbi_friction_block *sum) {
  double mobility = (sum->m[0][0] + sum->m[1][1] + sum->m[2][2]) / 3;
  TBI_ASSERT(!(mobility < 0)); /* check_blocks() */
  for (int k = 0; k < 3; ++k) {
    for (int l = 0; l < 3; ++l) {
      p->own[at].m[k][l] = (sum->m[k][l] + sum->m[l][k]) / 2 + (k == l ? REGULAR * mobility : 0);
    }
  }
  p->law[at] = (tbi_law){.size = 3, .mobility = mobility, .friction = problem->friction[i]};
  memcpy(p->q + 3 * (ptrdiff_t)at, problem->q + 3 * (ptrdiff_t)i, 3 * sizeof *p->q);
}

/* The blocks of one island, from block number `next` on; returns the number after its last. */
static int32_t fill_island(pieces *p, const tabi_friction_problem *problem, int32_t k,
                           int32_t next) {
  tbi_friction_island *island = &p->island[k];
  int32_t first = (int32_t)(island->contact - p->contact);
  int32_t *row = p->row + first + k;
  int32_t begin = next;
  for (int32_t i = 0; i < island->ncontact; ++i) {
    int32_t from = island->contact[i];
    tbi_friction_block own = {0};
    row[i] = next - begin;
    for (int32_t b = problem->row[from]; b < problem->row[from + 1]; ++b) {
      if (is_zero(&problem->block[b])) continue;
      p->column[next] = p->number[problem->column[b]];
      p->block[next++] = problem->block[b];
      for (int e = 0; e < 9 && problem->column[b] == from; ++e)
        own.m[e / 3][e % 3] += problem->block[b].m[e / 3][e % 3];
    }
    fill_law(p, problem, first + i, from, &own);
    p->law[first + i].at = 3 * i;
  }
  row[island->ncontact] = next - begin;
  island->row = row;
  island->column = p->column + begin;
  island->block = p->block + begin;
  island->target = p->target + begin;
  island->own = p->own + first;
  island->law = p->law + first;
  island->q = p->q + 3 * (ptrdiff_t)first;
  island->unknowns = p->unknowns + 3 * (ptrdiff_t)first;
  island->node = p->node + first;
  island->place = p->place + first;
  island->width = p->width + first;
  island->corner = p->corner + first;
  return next;
}

bool tbi_friction_islands_create(tbi_friction_islands *islands,
                                 const tabi_friction_problem *problem) {
  pieces p;
  int32_t nblock = problem->row[problem->ncontact];
  *islands = (tbi_friction_islands){0};
  islands->memory = calloc(1, lay_out(&p, NULL, problem->ncontact, nblock) + 1);
  if (!islands->memory) return false;
  (void)lay_out(&p, islands->memory, problem->ncontact, nblock);
  islands->count = sort_contacts(&p, problem);
  islands->island = p.island;
  int32_t next = 0;
  for (int32_t k = 0; k < islands->count; ++k)
    next = fill_island(&p, problem, k, next);
  TBI_ASSERT(next <= nblock);
  return true;
}

void tbi_friction_islands_destroy(tbi_friction_islands *islands) { free(islands->memory); }

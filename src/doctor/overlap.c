/* overlap.c - one collision pass in a posture, gathered by links. */
#include "doctor/overlap.h"

#include "base/array.h"
#include "base/error.h"
#include "collision/collision.h"

#include <stdlib.h>
#include <string.h>

#define MAX_CANDIDATES 1000000

typedef struct pass {
  const tabi_model *model;
  const double *q; /* NULL: initial */
  bool joined;     /* looks at pairs that connections join, and only at these */
  tabi_dynamics *dynamics;
  tbi_collision *collision;
  double *numbers; /* q, v and margin, all in zeros but q */
  char *memory;    /* of the collision workspace */
  tbi_candidate *candidate;
  int32_t count;
} pass;

static void pass_free(pass *p) {
  tabi_dynamics_destroy(p->dynamics);
  free(p->numbers);
  free(p->memory);
  free(p->candidate);
}

/* Collides with more and more room until all points fit. */
static tabi_status fill_candidates(pass *p, const double *margin, tabi_error *err) {
  for (int32_t max = 1024; max <= MAX_CANDIDATES; max *= 4) {
    free(p->candidate);
    p->candidate = malloc((size_t)max * sizeof *p->candidate);
    if (!p->candidate) return tbi_error_memory(err);
    p->count = tbi_collide(p->collision, p->dynamics, margin, p->candidate, max);
    if (p->count >= 0) return TABI_OK;
  }
  p->count = 0;
  return tbi_error_set(err, TABI_ERR_CAPACITY, (tabi_place){NULL, 0},
                       "more than a million contact points");
}

static tabi_status pass_run(pass *p, tabi_error *err) {
  const tabi_model *model = p->model;
  size_t nq = (size_t)model->nq;
  size_t nv = (size_t)model->nv;
  p->dynamics = tabi_dynamics_create(model, err);
  if (!p->dynamics) return err->status;
  p->numbers = calloc(nq + nv + (size_t)model->nshape + 1, sizeof *p->numbers);
  size_t size = tbi_collision_memsize(model);
  p->memory = tbi_block_alloc(size + tbi_collision_scratch(model));
  if (!p->numbers || !p->memory) return tbi_error_memory(err);
  tabi_model_initial_q(model, p->numbers);
  if (p->q) memcpy(p->numbers, p->q, nq * sizeof *p->q);
  tabi_dynamics_set_state(p->dynamics, p->numbers, p->numbers + nq);
  p->collision = tbi_collision_make(model, p->memory, p->memory + size);
  if (p->joined) tbi_collision_ignore_connections(p->collision);
  return fill_candidates(p, p->numbers + nq + nv, err);
}

/* by links, then the deepest first */
typedef struct entry {
  int32_t link_a, link_b;
  tbi_overlap overlap;
} entry;

static int compare_numbers(double a, double b) { return (a > b) - (a < b); }

static int by_links(const void *left, const void *right) {
  const entry *a = left;
  const entry *b = right;
  if (a->link_a != b->link_a) return a->link_a < b->link_a ? -1 : 1;
  if (a->link_b != b->link_b) return a->link_b < b->link_b ? -1 : 1;
  return compare_numbers(b->overlap.depth, a->overlap.depth);
}

static int by_depth(const void *left, const void *right) {
  const entry *a = left;
  const entry *b = right;
  int order = compare_numbers(b->overlap.depth, a->overlap.depth);
  return order != 0 ? order : by_links(left, right);
}

static entry entry_of(const pass *p, const tbi_candidate *t) {
  int32_t a = p->model->shape[t->shape_a].link;
  int32_t b = p->model->shape[t->shape_b].link;
  bool swap = t->shape_b < t->shape_a;
  tbi_overlap overlap = {swap ? t->shape_b : t->shape_a, swap ? t->shape_a : t->shape_b, -t->gap,
                         tbi_collision_connection(p->collision, t->shape_a, t->shape_b)};
  return a < b ? (entry){a, b, overlap} : (entry){b, a, overlap};
}

/* The deepest of each pair of links, these by depth; returns their number. */
static int32_t gather(const pass *p, double depth, entry *entries) {
  int32_t count = 0;
  for (int32_t i = 0; i < p->count; ++i) {
    if (!(p->candidate[i].gap < -depth)) continue;
    entry found = entry_of(p, &p->candidate[i]);
    if (!p->joined || found.overlap.connection != TABI_NONE) entries[count++] = found;
  }
  qsort(entries, (size_t)count, sizeof *entries, by_links);
  int32_t kept = 0;
  for (int32_t i = 0; i < count; ++i) {
    bool first = kept == 0 || entries[i].link_a != entries[kept - 1].link_a ||
                 entries[i].link_b != entries[kept - 1].link_b;
    if (first) entries[kept++] = entries[i];
  }
  qsort(entries, (size_t)kept, sizeof *entries, by_depth);
  return kept;
}

static tabi_status find(pass *p, double depth, tbi_overlap *overlap, int32_t max, int32_t *count,
                        tabi_error *err) {
  *count = 0;
  tabi_status status = pass_run(p, err);
  entry *entries = NULL;
  if (status == TABI_OK && p->count > 0) {
    entries = malloc((size_t)p->count * sizeof *entries);
    if (!entries) status = tbi_error_memory(err);
  }
  if (entries) *count = gather(p, depth, entries);
  for (int32_t i = 0; i < *count && i < max; ++i)
    overlap[i] = entries[i].overlap;
  free(entries);
  pass_free(p);
  return status;
}

tabi_status tbi_overlaps_find(const tabi_model *model, double depth, tbi_overlap *overlap,
                              int32_t max, int32_t *count, tabi_error *err) {
  pass p = {.model = model};
  return find(&p, depth, overlap, max, count, err);
}

tabi_status tbi_overlaps_find_joined(const tabi_model *model, const double *q, double depth,
                                     tbi_overlap *overlap, int32_t max, int32_t *count,
                                     tabi_error *err) {
  pass p = {.model = model, .q = q, .joined = true};
  return find(&p, depth, overlap, max, count, err);
}

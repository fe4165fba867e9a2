/* overlap.c - one collision pass in a posture, gathered by links. */
#include "doctor/overlap.h"

#include "base/array.h"
#include "base/assertion.h"
#include "base/error.h"
#include "collision/collision.h"

#include <stdlib.h>
#include <string.h>

#define MAX_CANDIDATES 1000000

tabi_status tbi_posture_pass_make(tbi_posture_pass *pass, tabi_error *err) {
  const tabi_model *model = pass->model;
  size_t count = (size_t)model->nq + (size_t)model->nv + (size_t)model->nshape;
  size_t size = tbi_collision_memsize(model);
  pass->dynamics = tabi_dynamics_create(model, err);
  if (!pass->dynamics) return err->status;
  pass->numbers = calloc(count + 1, sizeof *pass->numbers);
  pass->memory = tbi_block_alloc(size + tbi_collision_scratch(model));
  if (!pass->numbers || !pass->memory) return tbi_error_memory(err);
  pass->collision = tbi_collision_make(model, pass->memory, pass->memory + size);
  for (int32_t i = 0; i < model->nshape; ++i)
    pass->numbers[model->nq + model->nv + i] = 0.5 * pass->margin;
  if (pass->ignore_connections) tbi_collision_ignore_connections(pass->collision);
  return TABI_OK;
}

void tbi_posture_pass_free(tbi_posture_pass *pass) {
  tabi_dynamics_destroy(pass->dynamics);
  free(pass->numbers);
  free(pass->memory);
  free(pass->candidate);
}

static tabi_status grow(tbi_posture_pass *pass, tabi_error *err) {
  int32_t capacity = pass->capacity > 0 ? 4 * pass->capacity : 1024;
  if (capacity > MAX_CANDIDATES) {
    return tbi_error_set(err, TABI_ERR_CAPACITY, (tabi_place){NULL, 0},
                         "more than a million contact points");
  }
  free(pass->candidate);
  pass->candidate = malloc((size_t)capacity * sizeof *pass->candidate);
  pass->capacity = pass->candidate ? capacity : 0;
  return pass->candidate ? TABI_OK : tbi_error_memory(err);
}

/* Collides with more and more room until all points fit. */
tabi_status tbi_posture_pass_run(tbi_posture_pass *pass, const double *q, tabi_error *err) {
  TBI_ASSERT(pass->numbers && pass->dynamics);
  size_t nq = (size_t)pass->model->nq;
  size_t nv = (size_t)pass->model->nv;
  memcpy(pass->numbers, q, nq * sizeof *q);
  tabi_dynamics_set_state(pass->dynamics, pass->numbers, pass->numbers + nq);
  tabi_status status = pass->capacity > 0 ? TABI_OK : grow(pass, err);
  pass->count = -1;
  while (status == TABI_OK && pass->count < 0) {
    pass->count = tbi_collide(pass->collision, pass->dynamics, pass->numbers + nq + nv,
                              pass->candidate, pass->capacity);
    if (pass->count < 0) status = grow(pass, err);
  }
  if (status != TABI_OK) pass->count = 0;
  return status;
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

static entry entry_of(const tbi_posture_pass *p, const tbi_candidate *t) {
  int32_t a = p->model->shape[t->shape_a].link;
  int32_t b = p->model->shape[t->shape_b].link;
  bool swap = t->shape_b < t->shape_a;
  tbi_overlap overlap = {swap ? t->shape_b : t->shape_a, swap ? t->shape_a : t->shape_b, -t->gap,
                         tbi_collision_connection(p->collision, t->shape_a, t->shape_b)};
  return a < b ? (entry){a, b, overlap} : (entry){b, a, overlap};
}

/* The deepest of each pair of links, these by depth; returns their number. */
static int32_t gather(const tbi_posture_pass *p, double depth, entry *entries) {
  int32_t count = 0;
  for (int32_t i = 0; i < p->count; ++i) {
    if (!(p->candidate[i].gap < -depth)) continue;
    entry found = entry_of(p, &p->candidate[i]);
    if (!p->ignore_connections || found.overlap.connection != TABI_NONE) entries[count++] = found;
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

static tabi_status find(tbi_posture_pass *p, const double *q, double depth, tbi_overlap *overlap,
                        int32_t max, int32_t *count, tabi_error *err) {
  *count = 0;
  p->margin = fmax(-depth, 0);
  tabi_status status = tbi_posture_pass_make(p, err);
  if (status == TABI_OK) status = tbi_posture_pass_run(p, q, err);
  entry *entries = NULL;
  if (status == TABI_OK && p->count > 0) {
    entries = malloc((size_t)p->count * sizeof *entries);
    if (!entries) status = tbi_error_memory(err);
  }
  if (entries) *count = gather(p, depth, entries);
  for (int32_t i = 0; i < *count && i < max; ++i)
    overlap[i] = entries[i].overlap;
  free(entries);
  tbi_posture_pass_free(p);
  return status;
}

tabi_status tbi_overlaps_find(const tabi_model *model, const double *q, double depth,
                              tbi_overlap *overlap, int32_t max, int32_t *count, tabi_error *err) {
  tbi_posture_pass p = {.model = model};
  return find(&p, q, depth, overlap, max, count, err);
}

tabi_status tbi_overlaps_find_joined(const tabi_model *model, const double *q, double depth,
                                     tbi_overlap *overlap, int32_t max, int32_t *count,
                                     tabi_error *err) {
  tbi_posture_pass p = {.model = model, .ignore_connections = true};
  return find(&p, q, depth, overlap, max, count, err);
}

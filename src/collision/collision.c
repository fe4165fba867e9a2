/* collision.c - the workspace, and one pass over all shapes. */
#include "collision/collision.h"

#include "base/assertion.h"
#include "base/layout.h"
#include "collision/separation.h"
#include "collision/workspace.h"

static int32_t count_items(const tabi_model *model) {
  int32_t count = 0;
  for (int32_t i = 0; i < model->nshape; ++i)
    count += model->shape[i].collides ? 1 : 0;
  return count;
}

static bool is_ground(const tabi_shape_def *shape) {
  return shape->type == TABI_SHAPE_TRIANGLES || shape->type == TABI_SHAPE_HEIGHTFIELD;
}

static int32_t count_ground(const tabi_model *model) {
  int32_t count = 0;
  for (int32_t i = 0; i < model->nshape; ++i)
    count += model->shape[i].collides && is_ground(&model->shape[i]) ? 1 : 0;
  return count;
}

static bool may_meet(const tabi_shape_def *a, const tabi_shape_def *b) {
  return (a->group & b->mask) || (b->group & a->mask);
}

/* Pairs that groups let meet, counted where that does not take long. */
static int64_t count_allowed(const tabi_model *model, int32_t nitem) {
  const int32_t few = 1000;
  if (nitem > few) return (int64_t)nitem * (nitem - 1) / 2;
  int64_t count = 0;
  for (int32_t a = 0; a < model->nshape; ++a) {
    if (!model->shape[a].collides) continue;
    for (int32_t b = a + 1; b < model->nshape; ++b)
      count += model->shape[b].collides && may_meet(&model->shape[a], &model->shape[b]);
  }
  return count;
}

/* at most every pair that may meet, and not more than a pile of things needs */
static int32_t count_pairs(const tabi_model *model, int32_t nitem) {
  int64_t all = count_allowed(model, nitem);
  int64_t enough = (int64_t)nitem * TBI_PAIRS_PER_SHAPE;
  int64_t pairs = all < enough ? all : enough;
  return pairs > INT32_MAX ? INT32_MAX : (int32_t)pairs;
}

static void place_arrays(tbi_layout *at, tbi_collision *c) {
  c->fitting = tbi_layout_take(at, c->nitem, sizeof *c->fitting);
  c->cover = tbi_layout_take(at, c->nitem, sizeof *c->cover);
  c->filter = tbi_layout_take(at, c->nitem, sizeof *c->filter);
  c->placed = tbi_layout_take(at, c->nitem, sizeof *c->placed);
  c->wide = tbi_layout_take(at, c->nitem, sizeof *c->wide);
  c->idle = tbi_layout_take(at, c->nitem, sizeof *c->idle);
  c->solid = tbi_layout_take(at, c->nitem, sizeof *c->solid);
  c->plane = tbi_layout_take(at, c->nitem, sizeof *c->plane);
  c->ground = tbi_layout_take(at, c->nground, sizeof *c->ground);
  c->trimesh = tbi_layout_take(at, c->nground, sizeof *c->trimesh);
  c->swept = tbi_layout_take(at, c->nitem, sizeof *c->swept);
  c->pair = tbi_layout_take(at, c->max_pairs, sizeof *c->pair);
  c->exclusion = tbi_layout_take(at, (int64_t)c->max_exclusions + 1, sizeof *c->exclusion);
  c->shaped = tbi_layout_take(at, c->model->nbody, sizeof *c->shaped);
  c->welded = tbi_layout_take(at, c->nhome, sizeof *c->welded);
  bool separates = c->nseparation > 0;
  c->separation = tbi_layout_take(at, c->nseparation, sizeof *c->separation);
  c->travel = tbi_layout_take(at, separates ? c->model->nbody : 0, sizeof *c->travel);
  c->tree_travel = tbi_layout_take(at, separates ? c->model->ntree : 0, sizeof *c->tree_travel);
  c->limb = tbi_layout_take(at, separates ? c->nitem : 0, sizeof *c->limb);
}

static void place_scratch(tbi_layout *at, tbi_collision *c) {
  c->bounds = tbi_layout_take(at, c->nitem, sizeof *c->bounds);
  c->spare = tbi_layout_take(at, c->max_pairs, sizeof *c->spare);
  c->bucket = tbi_layout_take(at, (int64_t)c->nitem + 1, sizeof *c->bucket);
}

/* Room for the triangles of all ground; makes them where there is memory. */
static void place_ground(tbi_layout *at, tbi_collision *c) {
  const tabi_model *model = c->model;
  int32_t ground = 0;
  for (int32_t i = 0, item = 0; i < model->nshape; ++i) {
    const tabi_shape_def *shape = &model->shape[model->shape_named[i]];
    if (!shape->collides) continue;
    tbi_trimesh counted = {0};
    tbi_trimesh *trimesh = at->base ? &c->trimesh[ground] : &counted;
    if (is_ground(shape)) {
      tbi_trimesh_place(at, &model->mesh[shape->mesh], trimesh);
      if (at->base) {
        tbi_trimesh_make(trimesh);
        c->solid[item].ground = trimesh;
        c->ground[ground++] = item;
      }
    }
    ++item;
  }
}

static tbi_collision sizes_of(const tabi_model *model) {
  int32_t nitem = count_items(model);
  return (tbi_collision){.model = model,
                         .nitem = nitem,
                         .nground = count_ground(model),
                         .max_pairs = count_pairs(model, nitem),
                         .nseparation = tbi_separation_count(model),
                         .max_exclusions = model->nexclusion2 / 2 + model->nconnection,
                         .nhome = model->nconnection > 0 ? model->nbody + model->nlink + 1 : 0};
}

size_t tbi_collision_memsize(const tabi_model *model) {
  tbi_layout at = {NULL, 0};
  tbi_collision counted = sizes_of(model);
  tbi_layout_take(&at, 1, sizeof counted);
  place_arrays(&at, &counted);
  place_ground(&at, &counted);
  return at.used;
}

size_t tbi_collision_scratch(const tabi_model *model) {
  tbi_layout at = {NULL, 0};
  tbi_collision counted = sizes_of(model);
  place_scratch(&at, &counted);
  return at.used;
}

int32_t tbi_collision_max_pairs(const tabi_model *model) {
  return count_pairs(model, count_items(model));
}

void tbi_collision_place_scratch(tbi_collision *collision, void *scratch) {
  TBI_ASSERT((uintptr_t)scratch % 64 == 0);
  tbi_layout at = {scratch, 0};
  place_scratch(&at, collision);
}

tbi_collision *tbi_collision_make(const tabi_model *model, void *memory, void *scratch) {
  TBI_ASSERT(memory && (uintptr_t)memory % 64 == 0);
  tbi_layout at = {memory, 0};
  tbi_collision *c = tbi_layout_take(&at, 1, sizeof *c);
  *c = sizes_of(model);
  place_arrays(&at, c);
  place_ground(&at, c);
  tbi_collision_place_scratch(c, scratch);
  for (int32_t i = 0, item = 0; i < model->nshape; ++i) {
    int32_t shape = model->shape_named[i];
    if (model->shape[shape].collides) c->fitting[item++].shape = shape;
  }
  tbi_shapes_make(c);
  tbi_filter_make(c);
  tbi_broadphase_make(c);
  tbi_separation_make(c);
  return c;
}

void tbi_collision_leave_idle(tbi_collision *c, const bool *idle) {
  if (!idle && !c->leaves_idle) return;
  c->leaves_idle = idle != NULL;
  for (int32_t item = 0; item < c->nitem; ++item) {
    int32_t tree = c->cover[item].tree;
    bool now = idle && (tree == TABI_NONE || idle[tree]);
    if (now != c->idle[item]) c->listed = false;
    c->idle[item] = now;
  }
}

/* One pass. */
typedef struct pass {
  tbi_collision *c;
  const tabi_dynamics *d;
  const double *margin;
  tbi_candidate *candidate;
  int32_t count, max; /* count is -1 when there are more than max */
} pass;

static void collide_pair(pass *p, tbi_item_pair pair) {
  tbi_collision *c = p->c;
  int32_t shape_a = c->cover[pair.a].shape;
  int32_t shape_b = c->cover[pair.b].shape;
  TBI_CHECK_SLOW(p->margin[shape_a] >= 0 && p->margin[shape_b] >= 0);
  double margin = p->margin[shape_a] + p->margin[shape_b];
  if (tbi_separation_holds(c, p->d, pair, margin)) return;
  const tbi_solid *a = tbi_shapes_place(c, p->d, pair.a);
  const tbi_solid *b = tbi_shapes_place(c, p->d, pair.b);
  tbi_pair_point points[TBI_PAIR_ROOM];
  int32_t found = tbi_pair_collide(a, b, margin, points);
  tbi_separation_learn(c, pair, found > 0);
  TBI_ASSERT(found <= TBI_PAIR_POINTS);
  if (found > p->max - p->count) {
    p->count = -1;
    return;
  }
  for (int32_t i = 0; i < found; ++i) {
    const tbi_pair_point *at = &points[i];
    p->candidate[p->count++] =
        (tbi_candidate){shape_a, shape_b, at->feature, at->point, at->normal, at->gap};
  }
}

static void collide_listed(pass *p) {
  const tbi_collision *c = p->c;
  for (int32_t i = 0; i < c->npair && p->count >= 0; ++i)
    if (tbi_broadphase_near(c, c->pair[i])) collide_pair(p, c->pair[i]);
}

/* So many pairs that they were not listed: all of them one by one, in the same order. */
static void collide_all(pass *p) {
  const tbi_collision *c = p->c;
  for (int32_t a = 0; a < c->nitem; ++a) {
    for (int32_t b = a + 1; b < c->nitem && p->count >= 0; ++b) {
      tbi_item_pair pair = {a, b};
      if (c->idle[a] && c->idle[b]) continue;
      if (tbi_filter_allows(c, a, b) && tbi_broadphase_near(c, pair)) collide_pair(p, pair);
    }
  }
}

/* Whether pair[npair] are all that can be near. */
static bool list_pairs(tbi_collision *c, const double *margin) {
  tbi_shapes_widen(c, margin, false);
  c->listed = tbi_broadphase_list(c);
  if (c->listed) return true;
  tbi_shapes_widen(c, margin, true);
  return tbi_broadphase_list(c);
}

static void place_planes(tbi_collision *c, const tabi_dynamics *d) {
  for (int32_t i = 0; i < c->nplane; ++i)
    (void)tbi_shapes_place(c, d, c->plane[i]);
}

int32_t tbi_collide(tbi_collision *collision, const tabi_dynamics *d, const double *margin,
                    tbi_candidate *candidate, int32_t max) {
  tbi_collision *c = collision;
  TBI_ASSERT(d->model == c->model && max >= 0);
  pass p = {c, d, margin, candidate, 0, max};
  bool within = tbi_shapes_bound(c, d, margin);
  tbi_separation_advance(c, d);
  if (c->plane_moves) place_planes(c, d);
  if ((c->listed && within && !c->plane_moves) || list_pairs(c, margin)) {
    collide_listed(&p);
  } else {
    collide_all(&p);
  }
  return p.count;
}

/* collision.c - the workspace, and one pass over all shapes. */
#include "collision/collision.h"

#include "base/assertion.h"
#include "base/layout.h"
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

/* at most every pair there is, and not more than a pile of things needs */
static int32_t count_pairs(int32_t nitem) {
  int64_t all = (int64_t)nitem * (nitem - 1) / 2;
  int64_t enough = (int64_t)nitem * TBI_PAIRS_PER_SHAPE;
  int64_t pairs = all < enough ? all : enough;
  return pairs > INT32_MAX ? INT32_MAX : (int32_t)pairs;
}

static void place_arrays(tbi_layout *at, tbi_collision *c) {
  c->fitting = tbi_layout_take(at, c->nitem, sizeof *c->fitting);
  c->filter = tbi_layout_take(at, c->nitem, sizeof *c->filter);
  c->solid = tbi_layout_take(at, c->nitem, sizeof *c->solid);
  c->bounds = tbi_layout_take(at, c->nitem, sizeof *c->bounds);
  c->plane = tbi_layout_take(at, c->nitem, sizeof *c->plane);
  c->ground = tbi_layout_take(at, c->nground, sizeof *c->ground);
  c->trimesh = tbi_layout_take(at, c->nground, sizeof *c->trimesh);
  c->swept = tbi_layout_take(at, c->nitem, sizeof *c->swept);
  c->pair = tbi_layout_take(at, c->max_pairs, sizeof *c->pair);
  c->spare = tbi_layout_take(at, c->max_pairs, sizeof *c->spare);
  c->bucket = tbi_layout_take(at, (int64_t)c->nitem + 1, sizeof *c->bucket);
  c->exclusion = tbi_layout_take(at, (int64_t)c->nexclusion + 1, sizeof *c->exclusion);
  c->shaped = tbi_layout_take(at, c->model->nbody, sizeof *c->shaped);
}

/* Room for the triangles of all ground; makes them where there is memory. */
static void place_ground(tbi_layout *at, tbi_collision *c) {
  const tabi_model *model = c->model;
  int32_t ground = 0;
  for (int32_t i = 0, item = 0; i < model->nshape; ++i) {
    if (!model->shape[i].collides) continue;
    tbi_trimesh counted = {0};
    tbi_trimesh *trimesh = at->base ? &c->trimesh[ground] : &counted;
    if (is_ground(&model->shape[i])) {
      tbi_trimesh_place(at, &model->mesh[model->shape[i].mesh], trimesh);
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
                         .max_pairs = count_pairs(nitem),
                         .nexclusion = model->nexclusion2 / 2};
}

size_t tbi_collision_memsize(const tabi_model *model) {
  tbi_layout at = {NULL, 0};
  tbi_collision counted = sizes_of(model);
  tbi_layout_take(&at, 1, sizeof counted);
  place_arrays(&at, &counted);
  place_ground(&at, &counted);
  return at.used;
}

tbi_collision *tbi_collision_make(const tabi_model *model, void *memory) {
  tbi_layout at = {memory, 0};
  tbi_collision *c = tbi_layout_take(&at, 1, sizeof *c);
  *c = sizes_of(model);
  place_arrays(&at, c);
  place_ground(&at, c);
  for (int32_t i = 0, item = 0; i < model->nshape; ++i) {
    if (model->shape[i].collides) c->fitting[item++].shape = i;
  }
  tbi_shapes_make(c);
  tbi_filter_make(c);
  tbi_broadphase_make(c);
  return c;
}

/* Appends the points of one pair; the new count, or -1 when they do not fit. */
static int32_t touch_pair(const tbi_collision *c, const double *reach, tbi_item_pair pair,
                          tbi_touch *touch, int32_t count, int32_t max) {
  int32_t shape_a = c->fitting[pair.a].shape;
  int32_t shape_b = c->fitting[pair.b].shape;
  tbi_pair_point points[TBI_PAIR_ROOM];
  int32_t found = tbi_pair_collide(&c->solid[pair.a], &c->solid[pair.b],
                                   reach[shape_a] + reach[shape_b], points);
  TBI_ASSERT(found <= TBI_PAIR_POINTS);
  if (found > max - count) return -1;
  for (int32_t i = 0; i < found; ++i) {
    const tbi_pair_point *p = &points[i];
    touch[count++] = (tbi_touch){shape_a, shape_b, p->feature, p->point, p->normal, p->gap};
  }
  return count;
}

/* So many pairs that they were not listed: all of them one by one, in the same order. */
static int32_t touch_all(const tbi_collision *c, const double *reach, tbi_touch *touch,
                         int32_t max) {
  int32_t count = 0;
  for (int32_t a = 0; a < c->nitem; ++a) {
    for (int32_t b = a + 1; b < c->nitem; ++b) {
      if (!tbi_broadphase_near(c, reach, a, b)) continue;
      count = touch_pair(c, reach, (tbi_item_pair){a, b}, touch, count, max);
      if (count < 0) return -1;
    }
  }
  return count;
}

int32_t tbi_collide(tbi_collision *collision, const tabi_dynamics *d, const double *reach,
                    tbi_touch *touch, int32_t max) {
  tbi_collision *c = collision;
  TBI_ASSERT(d->model == c->model);
  tbi_shapes_place(c, d, reach);
  if (!tbi_broadphase_find(c, reach)) return touch_all(c, reach, touch, max);
  int32_t count = 0;
  for (int32_t i = 0; i < c->npair && count >= 0; ++i)
    count = touch_pair(c, reach, c->pair[i], touch, count, max);
  return count;
}

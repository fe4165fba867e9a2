/* lane_ground.c - shapes of one world of a group against what stands there: a few pairs, found one
 * by one as collision/collision.c finds them, so that a world in lanes has the contacts that
 * tabi_world_step would find. */
#include "batch/lane_ground.h"

#include "batch/lane_read.h"
#include "batch/plan_ground.h"

#include <string.h>

enum { ROOM = 4 * TBI_PATCH_SLOTS, PAIR_BITS = 16 };

/* A patch in one lane. */
typedef struct place {
  const tbi_lane_work *w;
  const tbi_plan_patch *patch;
  int32_t lane;
  tbi_solid solid;
  v3 centre;
  double margin;
} place;

static double at(const tbi_lane_work *w, const double *array, int64_t i, int32_t lane) {
  return tbi_lane_at(w, array, i, lane);
}

static v3 at3(const tbi_lane_work *w, const double *array, int64_t i, int32_t lane) {
  return tbi_lane_at3(w, array, i, lane);
}

static void put(const tbi_lane_work *w, double *array, int64_t i, int32_t lane, double x) {
  array[i * w->lanes + lane] = x;
}

static void put3(const tbi_lane_work *w, double *array, int64_t i, int32_t lane, v3 x) {
  put(w, array, i, lane, x.x);
  put(w, array, i + 1, lane, x.y);
  put(w, array, i + 2, lane, x.z);
}

static void put_mask(double *array, int32_t lane, bool on) {
  int64_t bits = on ? -1 : 0;
  memcpy(array + lane, &bits, sizeof bits);
}

static bool get_mask(const double *array, int32_t lane) {
  int64_t bits;
  memcpy(&bits, array + lane, sizeof bits);
  return bits != 0;
}

static place place_of(const tbi_lane_work *w, int32_t index, int32_t lane) {
  const tbi_plan *p = w->plan;
  const tbi_plan_patch *patch = &p->patch[index];
  const tbi_plan_body *body = &p->body[patch->body];
  int64_t from = 24 * (int64_t)patch->body;
  m3 rot = m3_from_columns(at3(w, w->kept, from, lane), at3(w, w->kept, from + 3, lane),
                           at3(w, w->kept, from + 6, lane));
  v3 origin =
      v3_add(at3(w, w->origin, 3 * (int64_t)body->tree, lane), at3(w, w->kept, from + 9, lane));
  place here = {.w = w,
                .patch = patch,
                .lane = lane,
                .solid = p->ground->moving[index].solid,
                .margin = at(w, w->ground_margin, 0, lane)};
  here.solid.pos = v3_add(origin, m3_mulv(&rot, here.solid.pos));
  for (int i = 0; i < 3; ++i)
    here.solid.axis[i] = m3_mulv(&rot, here.solid.axis[i]);
  here.centre = v3_add(origin, m3_mulv(&rot, v3_load(patch->centre)));
  return here;
}

/* whether the ball around the shape comes near the box of a standing one, and near its faces */
static bool is_near(const place *here, const tbi_plan_stand *stand, const tbi_solid *standing) {
  const double centre[3] = {here->centre.x, here->centre.y, here->centre.z};
  double reach = here->patch->reach + here->margin;
  for (int i = 0; i < 3; ++i)
    if (centre[i] + reach < stand->low[i] || centre[i] - reach > stand->high[i]) return false;
  if (!standing->ground) return true;
  double low[3];
  double high[3];
  v3 local = tbi_solid_local(standing, v3_sub(here->centre, standing->pos));
  v3_store(v3_sub(local, v3_make(reach, reach, reach)), low);
  v3_store(v3_add(local, v3_make(reach, reach, reach)), high);
  if (standing->type == TABI_SHAPE_HEIGHTFIELD) high[2] = INFINITY;
  tbi_trimesh_walk walk = tbi_trimesh_begin(standing->ground, low, high);
  return tbi_trimesh_next(&walk) != TABI_NONE;
}

static bool is_round(tabi_shape_type type) {
  return type == TABI_SHAPE_SPHERE || type == TABI_SHAPE_CAPSULE || type == TABI_SHAPE_ELLIPSOID;
}

/* points of one standing shape, with normals from it, where forces act as world/candidates.c says
 */
static int32_t meet(const place *here, int32_t index, int32_t stand, tbi_pair_point *out) {
  const struct tbi_plan_ground *g = here->w->plan->ground;
  int32_t item = g->stand[stand];
  const tbi_solid *standing = &g->c->solid[item];
  if (!is_near(here, &here->w->plan->stand[stand], standing)) return 0;
  bool first = item < g->moving[index].item; /* as the world's collision has them */
  int32_t count = first ? tbi_pair_collide(standing, &here->solid, here->margin, out)
                        : tbi_pair_collide(&here->solid, standing, here->margin, out);
  double share = 0.5 * ((int)is_round(here->solid.type) - (int)is_round(standing->type));
  for (int32_t i = 0; i < count; ++i) {
    if (!first) out[i].normal = v3_neg(out[i].normal);
    out[i].point = v3_axpy(out[i].point, share * out[i].gap, out[i].normal);
    out[i].feature |= (uint32_t)stand << PAIR_BITS;
  }
  return count;
}

/* at most as many points as there are slots */
static int32_t gather(const place *here, int32_t index, const int32_t *near, int32_t count,
                      tbi_pair_point *found) {
  tbi_pair_point pair[TBI_PAIR_ROOM];
  int32_t n = 0;
  for (int32_t i = 0; i < count; ++i) {
    int32_t more = meet(here, index, near[i], pair);
    if (n + more > ROOM) n = tbi_manifold_reduce(found, n, TBI_PATCH_SLOTS);
    memcpy(found + n, pair, sizeof *pair * (size_t)more);
    n += more;
  }
  return n > TBI_PATCH_SLOTS ? tbi_manifold_reduce(found, n, TBI_PATCH_SLOTS) : n;
}

static int64_t mark_at(const place *here, int32_t i) {
  return here->patch->slot - here->w->plan->patch_slot + i;
}

/* the slot in which a point pushed in the step before, or TABI_NONE */
static int32_t slot_before(const place *here, const tbi_pair_point *point) {
  const tbi_lane_work *w = here->w;
  for (int32_t i = 0; i < TBI_PATCH_SLOTS; ++i) {
    if (at(w, w->mark, mark_at(here, i), here->lane) != point->feature) continue;
    if (at(w, w->impulse, 3 * ((int64_t)here->patch->slot + i), here->lane) > 0) return i;
  }
  return TABI_NONE;
}

/* points that pushed before keep their slots, others take what is left, in order */
static uint32_t choose_slots(const place *here, const tbi_pair_point *found, int32_t count,
                             int32_t *slot) {
  const tbi_lane_work *w = here->w;
  uint32_t taken = 0;
  for (int32_t i = 0; i < count; ++i) {
    slot[i] = slot_before(here, &found[i]);
    if (slot[i] != TABI_NONE && taken >> slot[i] & 1) slot[i] = TABI_NONE;
    if (slot[i] != TABI_NONE) taken |= 1u << slot[i];
  }
  for (int32_t i = 0; i < count; ++i) {
    if (slot[i] != TABI_NONE) continue;
    slot[i] = 0;
    while (taken >> slot[i] & 1)
      ++slot[i];
    taken |= 1u << slot[i];
    put(w, w->mark, mark_at(here, slot[i]), here->lane, found[i].feature);
    put3(w, w->impulse, 3 * ((int64_t)here->patch->slot + slot[i]), here->lane, v3_zero());
    if (w->plan->nroll > 0)
      put3(w, w->roll_impulse, 3 * ((int64_t)here->patch->slot + slot[i]), here->lane, v3_zero());
  }
  return taken;
}

static double *record_of(const tbi_lane_work *w, const tbi_plan_patch *patch, int32_t slot) {
  return w->slot + (ptrdiff_t)TBI_SLOT_SIZE * (patch->slot + slot) * w->lanes;
}

/* what lanes have in which nothing is found */
static void clear_record(const tbi_lane_work *w, double *record) {
  for (int32_t lane = 0; lane < w->lanes; ++lane) {
    put3(w, record, TBI_SLOT_FRAME, lane, v3_make(0, 0, 1));
    put3(w, record, TBI_SLOT_ARM_B, lane, v3_zero());
    put(w, record, TBI_SLOT_GAP, lane, 0);
    put_mask(record + (ptrdiff_t)TBI_SLOT_ON * w->lanes, lane, false);
  }
}

static uint32_t fill_lane(const place *here, const tbi_pair_point *found, int32_t count,
                          uint32_t used) {
  const tbi_lane_work *w = here->w;
  int32_t slot[TBI_PATCH_SLOTS];
  uint32_t taken = choose_slots(here, found, count, slot);
  for (int32_t i = 0; i < count; ++i) {
    double *record = record_of(w, here->patch, slot[i]);
    if (!(used >> slot[i] & 1)) clear_record(w, record);
    put3(w, record, TBI_SLOT_FRAME, here->lane, found[i].normal);
    put3(w, record, TBI_SLOT_ARM_B, here->lane, found[i].point);
    put(w, record, TBI_SLOT_GAP, here->lane, found[i].gap);
    put_mask(record + (ptrdiff_t)TBI_SLOT_ON * w->lanes, here->lane, true);
  }
  return taken;
}

uint32_t tbi_lane_ground(const tbi_lane_work *w, int32_t patch, const int32_t *near,
                         int32_t count) {
  TBI_ASSERT(patch >= 0 && patch < w->plan->npatch);
  uint32_t used = 0;
  for (int32_t lane = 0; lane < w->lanes; ++lane) {
    tbi_pair_point found[ROOM];
    if (!get_mask(w->alive, lane)) continue;
    place here = place_of(w, patch, lane);
    int32_t n = gather(&here, patch, near, count, found);
    used |= fill_lane(&here, found, n, used);
  }
  return used;
}

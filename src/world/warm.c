/* warm.c - warm starts: impulses from step to step, for each pair of shapes.  Both lists are sorted
 * by id, so one pass along both finds the points that persist.  Impulses are kept in world axes:
 * frames may turn.
 *
 * Where a box lies flat on another, rounding decides which of the two faces names the points.  So
 * the impulses of points that are gone are shared by the new points of the same pair. */
#include "base/assertion.h"
#include "base/random.h"
#include "contact/surface.h"
#include "world/world.h"

#define TURN 6.283185307179586 /* 2 pi */

/* both shapes of a tbi_candidate_id */
static uint64_t pair_of(uint64_t id) { return id >> 16; }

static tbi_point *point_of(const tabi_world *w, int32_t candidate) {
  return &w->setup.problem.point[w->setup.point_of[candidate]];
}

static void set_impulse(tbi_point *c, double share, v3 impulse) {
  v4 shared = v4_from(v3_scale(share, impulse));
  c->impulse[0] = v4_dot(shared, c->frame.x);
  c->impulse[1] = v4_dot(shared, c->frame.y);
  c->impulse[2] = v4_dot(shared, c->frame.z);
}

/* A contact that slid in the step before has kinetic friction, however slow it is; one that stuck
 * between compliant surfaces has static friction, however fast they deflect.  For all others their
 * speed has decided already. */
static void set_slipping(const tabi_world *w, tbi_point *c, int32_t before) {
  if (w->method->as_published || before < TBI_STICKING) return;
  if (before < TBI_SLIDING && c->slipping == TBI_SLIDING && !w->method->info.compliant) return;
  c->slipping = (uint8_t)(before < TBI_SLIDING ? before : TBI_SLIDING);
  c->friction = tbi_point_friction(c, c->slipping == TBI_SLIDING);
}

static int32_t slipping_before(const tabi_world *w, const tbi_warm *old) {
  return w->state.slipping[old - w->state.warm];
}

/* The angle of lcp's axes is random, and belongs to the contact: it follows from the world's seed
 * and from the id, which does not depend on the order of a file (model/named_order.c). */
static double angle_of(const tabi_world *w, uint64_t id) {
  uint64_t mixed = id;
  uint64_t random = w->state.head->seed ^ tbi_random_next(&mixed);
  return TURN * tbi_random_unit(&random);
}

/* Candidates first..end and old..old_end are of one pair. */
static void start_pair(tabi_world *w, int32_t first, int32_t end, const tbi_warm *old,
                       const tbi_warm *old_end) {
  int32_t fresh = 0;
  v3 gone = v3_zero();
  int32_t slipping = TBI_NOT_PUSHING; /* of those that are gone */
  for (int32_t t = first; t < end; ++t) {
    tbi_point *c = point_of(w, t);
    for (; old < old_end && old->id < c->id; ++old) {
      gone = v3_add(gone, old->impulse);
      if (slipping_before(w, old) > slipping) slipping = slipping_before(w, old);
    }
    if (old < old_end && old->id == c->id) {
      set_impulse(c, w->def.warm_start, old->impulse);
      c->angle = old->angle;
      c->deflection = old->deflection;
      set_slipping(w, c, slipping_before(w, old));
      ++old;
      continue;
    }
    if (w->method->random_axes) c->angle = angle_of(w, c->id);
    /* from here on point_of lists the new points of the pair, in front */
    w->setup.point_of[first + fresh++] = w->setup.point_of[t];
  }
  for (; old < old_end; ++old) {
    gone = v3_add(gone, old->impulse);
    if (slipping_before(w, old) > slipping) slipping = slipping_before(w, old);
  }
  for (int32_t t = first; t < first + fresh; ++t) {
    set_impulse(point_of(w, t), w->def.warm_start / fresh, gone);
    set_slipping(w, point_of(w, t), slipping);
  }
}

void tbi_world_warm_start(tabi_world *w) {
  TBI_ASSERT(w->state.head->nwarm <= w->def.max_contacts);
  const tbi_problem *p = &w->setup.problem;
  const tbi_warm *old = w->state.warm;
  const tbi_warm *end = old + w->state.head->nwarm;
  /* the points in the order of their candidates, which is that of their ids */
  for (int32_t i = 0; i < p->npoint; ++i)
    w->setup.point_of[p->point[i].candidate] = i;
  for (int32_t first = 0; first < p->npoint;) {
    uint64_t pair = pair_of(point_of(w, first)->id);
    int32_t behind = first;
    while (behind < p->npoint && pair_of(point_of(w, behind)->id) == pair)
      ++behind;
    while (old < end && pair_of(old->id) < pair)
      ++old;
    const tbi_warm *old_end = old;
    while (old_end < end && pair_of(old_end->id) == pair)
      ++old_end;
    start_pair(w, first, behind, old, old_end);
    first = behind;
    old = old_end;
  }
}

int64_t tbi_world_find_warm(const tabi_world *w, uint64_t id) {
  int64_t low = 0;
  int64_t high = w->state.head->nwarm;
  while (low < high) {
    int64_t middle = (low + high) / 2;
    if (w->state.warm[middle].id < id) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low < w->state.head->nwarm && w->state.warm[low].id == id ? low : -1;
}

void tbi_world_keep_warm(tabi_world *w) {
  TBI_ASSERT(w->setup.problem.npoint <= w->def.max_contacts);
  const tbi_problem *p = &w->setup.problem;
  if (tbi_world_is_middle(w)) tbi_middle_keep(w); /* compares with what was kept before */
  tbi_world_keep_swinging(w);
  w->state.head->nwarm = p->npoint + tbi_sleep_contacts(w);
  for (int32_t i = 0; i < p->npoint; ++i) {
    const tbi_point *c = &p->point[i];
    v4 impulse = m4_combine(&c->frame, c->impulse[0], c->impulse[1], c->impulse[2]);
    int32_t slot = tbi_contact_slot(w, c->candidate);
    w->state.warm[slot] = (tbi_warm){
        .id = c->id,
        .impulse = v4_to(impulse),
        .angle = c->angle,
        .deflection = c->deflection,
    };
    w->state.slipping[slot] = (uint8_t)c->slipping;
  }
}

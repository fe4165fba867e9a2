/* lane_ground_touch.h - in lanes, which bodies are near to what stands in the world, and the slots
 * of the points that lane_ground.c finds there. */
#ifndef TBI_LANE_GROUND_TOUCH_H
#define TBI_LANE_GROUND_TOUCH_H

#include "batch/lane_ground.h"
#include "batch/lane_touch.h"

/* A shape of a patch in the world. */
typedef struct lane_patch {
  const tbi_plan_patch *plan;
  lane_pose pose;
  ln3 origin; /* of its tree */
  ln3 centre;
  ln speed, spin;
  ln margin; /* m, up to which points are looked for */
} lane_patch;

static lane_patch place_patch(const tbi_lane_work *w, const tbi_plan_patch *patch) {
  const tbi_plan_body *b = &w->plan->body[patch->body];
  lane_patch at = {.plan = patch,
                   .pose = pose_load(lane_at(w->kept, LANE_POSE * (int64_t)patch->body)),
                   .origin = ln3_load(lane_at(w->origin, 3 * (int64_t)b->tree))};
  ln3 centre = ln33_mul_splat(&at.pose.rot, patch->centre);
  at.centre = ln3_add(ln3_add(at.origin, at.pose.pos), centre);
  at.speed = ln3_norm(ln6_at(at.pose.vel, at.pose.pos));
  at.spin = ln3_norm(at.pose.vel.ang);
  at.margin = LANE_MARGIN + fall_of(w) + w->plan->h * (at.speed + at.spin * patch->margin_radius);
  return at;
}

LANE_INLINE lm meets_box(const tbi_plan_stand *stand, ln3 low, ln3 high) {
  return ln_le(low.x, ln_splat(stand->high[0])) & ln_le(ln_splat(stand->low[0]), high.x) &
         ln_le(low.y, ln_splat(stand->high[1])) & ln_le(ln_splat(stand->low[1]), high.y) &
         ln_le(low.z, ln_splat(stand->high[2])) & ln_le(ln_splat(stand->low[2]), high.z);
}

LANE_INLINE ln3 ln3_plus(ln3 a, ln d) { return (ln3){a.x + d, a.y + d, a.z + d}; }

/* the standing shapes that some shape of some lane may reach, which are few where many stand */
static int32_t find_stands(tbi_lane_work *w) {
  const tbi_plan *p = w->plan;
  lm alive = ln_bits(ln_load(w->alive));
  ln3 low = ln3_zero();
  ln3 high = ln3_zero();
  for (int32_t i = 0; i < p->npatch; ++i) {
    lane_patch at = place_patch(w, &p->patch[i]);
    ln reach = at.plan->reach + at.margin;
    ln3 least = ln3_plus(at.centre, -reach);
    ln3 most = ln3_plus(at.centre, reach);
    low = i == 0 ? least
                 : (ln3){ln_min(low.x, least.x), ln_min(low.y, least.y), ln_min(low.z, least.z)};
    high = i == 0 ? most
                  : (ln3){ln_max(high.x, most.x), ln_max(high.y, most.y), ln_max(high.z, most.z)};
  }
  int32_t count = 0;
  for (int32_t i = 0; i < p->nstand; ++i)
    if (lm_any(alive & meets_box(&p->stand[i], low, high))) w->near[count++] = i;
  return count;
}

/* A point is taken by the rule of touch_points(). */
static void touch_ground(tbi_lane_work *w, const lane_patch *at, int32_t slot) {
  const double *record = lane_slot(w, slot);
  double h = w->plan->h;
  ln3 normal = ln3_load(record + (ptrdiff_t)TBI_SLOT_FRAME * TBI_LANES);
  ln3 place = ln3_load(record + (ptrdiff_t)TBI_SLOT_ARM_B * TBI_LANES);
  lane_contact c = {.gap = lane_get(record, TBI_SLOT_GAP),
                    .frame = contact_frame(normal),
                    .arm_b = ln3_sub(place, at->origin),
                    .arm_a = ln3_zero(),
                    .turning = at->pose.vel.ang};
  c.velocity = ln6_at(at->pose.vel, c.arm_b);
  ln closing = ln_max(-ln3_dot(normal, c.velocity), ln_zero());
  ln sway = LANE_SWAY * h * (at->speed + at->spin * at->plan->margin_radius);
  ln margin = LANE_MARGIN + fall_of(w) + sway + h * closing;
  c.on = lane_slot_on(record) & ln_le(c.gap, margin);
  if (lm_any(c.on)) lane_take_slot(w, slot, &c);
}

static void touch_patch(tbi_lane_work *w, int32_t index, int32_t nnear) {
  const tbi_plan *p = w->plan;
  lane_patch at = place_patch(w, &p->patch[index]);
  lm alive = ln_bits(ln_load(w->alive));
  ln reach = at.plan->reach + at.margin;
  ln3 low = ln3_plus(at.centre, -reach);
  ln3 high = ln3_plus(at.centre, reach);
  int32_t *near = w->near + p->nstand;
  int32_t count = 0;
  for (int32_t i = 0; i < nnear; ++i) {
    int32_t stand = w->near[i];
    if (!p->meets[(ptrdiff_t)index * p->nstand + stand]) continue;
    if (lm_any(alive & meets_box(&p->stand[stand], low, high))) near[count++] = stand;
  }
  if (count == 0) return;
  lane_put(w->ground_margin, 0, at.margin);
  uint32_t used = tbi_lane_ground(w, index, near, count);
  int32_t first = w->nactive;
  for (int32_t i = 0; i < TBI_PATCH_SLOTS; ++i)
    if (used >> i & 1) touch_ground(w, &at, at.plan->slot + i);
  tie_bundle(w, &at.plan->bundle, at.plan->body, &at.pose, at.plan->centre, first);
}

/* all patches, when the bodies are at their places */
static void lane_touch_ground(tbi_lane_work *w) {
  int32_t nnear = find_stands(w);
  for (int32_t i = 0; nnear > 0 && i < w->plan->npatch; ++i)
    touch_patch(w, i, nnear);
}

#endif

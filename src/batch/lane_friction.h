/* lane_friction.h - dry friction of joints in lanes, predicted and verified, by the rules of
 * world/active_set/joint_friction.c.
 *
 * A joint that is predicted to stick is taken out of M: its 1/D is zero in that lane.  One that is
 * predicted to slip feels a known impulse.  All others have rows.  Lanes in which a prediction
 * fails get rows there and are solved again. */
#ifndef TBI_LANE_FRICTION_H
#define TBI_LANE_FRICTION_H

#include "batch/lane_touch.h"

#define LANE_FIRM      0.98 /* share of its bound up to which a joint is predicted to stick on */
#define LANE_SLOW      1e-7 /* m/s or rad/s: what slips slower, and than it changes, may stop */
#define LANE_ROW_STEPS 16   /* for which a joint keeps its row after a prediction has failed */
enum { LANE_FRICTION_ATTEMPTS = 3 }; /* after which all joints of a lane get rows */

LANE_INLINE bool has_friction(const tbi_plan *p, int32_t k) {
  return p->drives[k] && p->dof_friction[k] > 0;
}

/* lanes in which a limit is near the joint; set_limits() has looked */
LANE_INLINE lm near_limit(const tbi_lane_work *w, int32_t k) {
  return ln_bits(lane_get(w->row_near, 2 * (int64_t)k)) |
         ln_bits(lane_get(w->row_near, 2 * (int64_t)k + 1));
}

static void lane_predict_friction(tbi_lane_work *w) {
  const tbi_plan *p = w->plan;
  for (int32_t k = 0; k < p->nv; ++k) {
    if (!has_friction(p, k)) continue;
    ln bound = ln_splat(p->dof_friction[k] * p->h);
    ln last = lane_get(w->row, 3 * (int64_t)k);
    ln v = lane_get(w->v, k);
    ln speed = ln_abs(v);
    ln doubt = lane_get(w->doubt, k);
    lm sure = ln_le(doubt, ln_zero());
    lm stays = ln_le(speed, ln_splat(p->def.tolerance)) & ln_lt(ln_abs(last), LANE_FIRM * bound) &
               ~near_limit(w, k);
    lm slips = ln_le(bound, ln_abs(last)) & ln_lt(last * v, ln_zero()) &
               ln_lt(LANE_SLOW + 2 * ln_abs(lane_get(w->change, k)), speed);
    lane_put(w->stick, k, ln_of(stays & sure));
    lane_put(w->slip, k, ln_of(slips & sure & ~stays));
    lane_put(w->doubt, k, ln_max(doubt - 1, ln_zero()));
  }
}

/* the impulse of joints that slip; rows begin where the step before has left them */
static void lane_apply_friction(tbi_lane_work *w, lm todo) {
  const tbi_plan *p = w->plan;
  for (int32_t k = 0; k < p->nv; ++k) {
    if (!has_friction(p, k)) continue;
    double *impulse = lane_at(w->row, 3 * (int64_t)k);
    lm slip = ln_bits(lane_get(w->slip, k));
    lm row = ~slip & ~ln_bits(lane_get(w->stick, k));
    ln bound = ln_splat(p->dof_friction[k] * p->h);
    ln against = ln_select(ln_lt(ln_zero(), lane_get(w->v, k)), -bound, bound);
    ln known = ln_where(slip, against);
    lane_put(w->joint, k, lane_get(w->joint, k) + known);
    ln warm = ln_where(row, ln_load(impulse)) + known;
    ln_save(ln_select(todo, warm, ln_load(impulse)), impulse);
  }
}

/* impulses of contacts on bodies, about the origins of their trees */
static void gather_pushes(tbi_lane_work *w) {
  const tbi_plan *p = w->plan;
  for (int32_t i = 0; i < p->nbody; ++i)
    ln6_save(ln6_zero(), lane_at(w->push_on, 6 * (int64_t)i));
  for (int32_t i = 0; i < w->nactive; ++i) {
    const tbi_plan_slot *slot = &p->slot[w->active[i]];
    const double *record = lane_slot(w, w->active[i]);
    ln33 frame = ln33_load(record + (ptrdiff_t)TBI_SLOT_FRAME * TBI_LANES);
    ln3 f = ln33_mulv(&frame, ln3_load(lane_at(w->impulse, 3 * (int64_t)w->active[i])));
    double *to = lane_at(w->push_on, 6 * (int64_t)slot->body_b);
    ln3 arm = ln3_load(record + (ptrdiff_t)TBI_SLOT_ARM_B * TBI_LANES);
    ln6 couple = ln6_zero();
    if (p->nroll > 0)
      couple.ang = ln33_mulv(&frame, ln3_load(lane_at(w->roll_impulse, 3 * (int64_t)w->active[i])));
    ln6_save(ln6_add(ln6_load(to), ln6_add(ln6_force_at(arm, f), couple)), to);
    if (slot->body_a == TABI_WORLD) continue;
    to = lane_at(w->push_on, 6 * (int64_t)slot->body_a);
    arm = ln3_load(record + (ptrdiff_t)TBI_SLOT_ARM_A * TBI_LANES);
    ln6_save(ln6_sub(ln6_load(to), ln6_add(ln6_force_at(arm, f), couple)), to);
  }
}

/* The impulses that hold stuck joints, by inverse dynamics with the change of all twists. */
static void find_reactions(tbi_lane_work *w, lm todo) {
  const tbi_plan *p = w->plan;
  gather_pushes(w);
  for (int32_t i = p->nbody - 1; i >= 0; --i) {
    const tbi_plan_body *b = &p->body[i];
    lane_inertia mass = inertia_load(lane_at(w->mass, 10 * (int64_t)i));
    ln6 f = inertia_times(&mass, ln6_load(lane_at(w->gain, 6 * (int64_t)i)));
    f = ln6_sub(f, ln6_load(lane_at(w->force, 6 * (int64_t)i)));
    f = ln6_sub(f, ln6_load(lane_at(w->push_on, 6 * (int64_t)i)));
    if (!b->leaf) f = ln6_add(f, ln6_load(lane_at(w->gather, 6 * ((int64_t)b->depth + 1))));
    if (has_friction(p, b->v)) {
      double *impulse = lane_at(w->row, 3 * (int64_t)b->v);
      lm stick = todo & ln_bits(lane_get(w->stick, b->v));
      ln held = ln6_dot(lane_axis(w, b->v), f) - lane_get(w->joint, b->v);
      ln_save(ln_select(stick, held, ln_load(impulse)), impulse);
    }
    if (b->depth == 0) continue;
    double *to = lane_at(w->gather, 6 * (int64_t)b->depth);
    ln6_save(b->last_child ? f : ln6_add(ln6_load(to), f), to);
  }
}

/* lanes in which the prediction of a joint fails */
static lm check_friction(tbi_lane_work *w, int32_t k, lm todo) {
  lm stick = ln_bits(lane_get(w->stick, k));
  lm slip = ln_bits(lane_get(w->slip, k));
  ln impulse = lane_get(w->row, 3 * (int64_t)k);
  ln bound = ln_splat(w->plan->dof_friction[k] * w->plan->h);
  lm wrong = (stick & ~ln_le(ln_abs(impulse), bound)) |
             (slip & ~ln_lt(impulse * lane_get(w->v_new, k), ln_zero()));
  wrong &= todo;
  if (!lm_any(wrong)) return wrong;
  lane_put(w->stick, k, ln_of(stick & ~wrong));
  lane_put(w->slip, k, ln_of(slip & ~wrong));
  lane_put(w->doubt, k, ln_select(wrong, ln_splat(LANE_ROW_STEPS), lane_get(w->doubt, k)));
  return wrong;
}

static lm lane_verify_friction(tbi_lane_work *w, lm todo, int attempt) {
  const tbi_plan *p = w->plan;
  lm failed = lm_none();
  lm sticks = lm_none();
  if (!p->any_friction) return failed;
  for (int32_t k = 0; k < p->nv; ++k)
    if (has_friction(p, k)) sticks |= todo & ln_bits(lane_get(w->stick, k));
  if (lm_any(sticks)) find_reactions(w, todo);
  for (int32_t k = 0; k < p->nv; ++k)
    if (has_friction(p, k)) failed |= check_friction(w, k, todo);
  for (int32_t k = 0; k < p->nv; ++k) {
    if (!has_friction(p, k)) continue;
    lm stick = ln_bits(lane_get(w->stick, k));
    if (attempt >= LANE_FRICTION_ATTEMPTS) {
      lane_put(w->slip, k, ln_of(~failed & ln_bits(lane_get(w->slip, k))));
      lane_put(w->stick, k, ln_of(~failed & stick));
    }
    lm still = stick & todo & ~failed;
    lane_put(w->v_new, k, ln_select(still, ln_zero(), lane_get(w->v_new, k)));
  }
  return failed;
}

#endif

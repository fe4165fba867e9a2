/* lane_roll.h - rolling and torsional friction in lanes: the laws of problem/couples.h.
 *
 * A couple acts at a point of contact, bounded by a length times its normal impulse: about the
 * normal, and about the tangents.  Inside its bound it stops the turning; beyond it takes a
 * projected step, as contacts that slip do. */
#ifndef TBI_LANE_ROLL_H
#define TBI_LANE_ROLL_H

#include "batch/lane_touch.h"

#define LANE_WEAK 1e-9 /* of the response, added: bodies may turn about one axis only */

LANE_INLINE bool has_roll(const tbi_plan_slot *slot) {
  return slot->surface.torsional > 0 || slot->surface.rolling > 0;
}

LANE_INLINE double *roll_columns(const tbi_lane_work *w, const tbi_plan_slot *slot) {
  return lane_at(w->roll_column, 3 * slot->column);
}

/* columns and responses of couples about the normal and the tangents */
static void set_up_roll(tbi_lane_work *w, int32_t index) {
  const tbi_plan_slot *slot = &w->plan->slot[index];
  const double *contact = lane_slot(w, index);
  double *record = lane_roll(w, index);
  ln33 frame = ln33_load(contact + (ptrdiff_t)TBI_SLOT_FRAME * TBI_LANES);
  ln3 o = ln3_zero();
  ln6 f[3] = {
      {o, frame.x},
      {o, frame.y},
      {o, frame.z}
  };
  ln6 back[3] = {
      {o, ln3_neg(frame.x)},
      {o, ln3_neg(frame.y)},
      {o, ln3_neg(frame.z)}
  };
  ln s[6];
  climb_both(w, slot, f, back, roll_columns(w, slot));
  sum_squares(slot, roll_columns(w, slot), s);
  ln trace = s[0] + s[1] + s[2];
  for (int i = 0; i < 6; ++i)
    lane_put(record, TBI_ROLL_W + i, i < 3 ? s[i] + LANE_WEAK * trace : s[i]);
  ln mean = 0.5 * (s[1] + s[2]) + LANE_WEAK * trace;
  ln half = 0.5 * (s[1] - s[2]);
  lm turns = ln_lt(ln_zero(), trace);
  ln most = mean + ln_sqrt(half * half + s[5] * s[5]);
  lane_put(record, TBI_ROLL_SHARE, 1.0 / ln_select(turns, most, ln_splat(1)));
  ln mobility = ln_where(turns, lane_get(contact, TBI_SLOT_W));
  ln spin = ln_select(turns, lane_get(record, TBI_ROLL_W), ln_splat(1));
  lane_put(record, TBI_ROLL_LEVER, ln_sqrt(mobility / spin));
  lane_put(record, TBI_ROLL_LEVER + 1, ln_sqrt(mobility / ln_select(turns, mean, ln_splat(1))));
}

/* the couple about the tangents for the velocities y and z about them */
LANE_INLINE void roll_step(const double *record, ln bound, ln y, ln z, ln3 l, ln3 *d) {
  ln tt = lane_get(record, TBI_ROLL_W + 1);
  ln ss = lane_get(record, TBI_ROLL_W + 2);
  ln ts = lane_get(record, TBI_ROLL_W + 5);
  ln share = lane_get(record, TBI_ROLL_SHARE);
  ln determinant = tt * ss - ts * ts;
  lm regular = ln_lt(ln_zero(), determinant);
  ln inverse = 1.0 / ln_select(regular, determinant, ln_splat(1));
  ln stop_y = l.y - (ss * y - ts * z) * inverse;
  ln stop_z = l.z - (tt * z - ts * y) * inverse;
  lm stops = regular & ln_le(stop_y * stop_y + stop_z * stop_z, bound * bound);
  ln to_y = ln_select(stops, stop_y, l.y - share * y);
  ln to_z = ln_select(stops, stop_z, l.z - share * z);
  ln size = ln_sqrt(to_y * to_y + to_z * to_z);
  lm beyond = ln_lt(bound, size) & ~stops;
  ln scale = ln_select(beyond, bound / ln_select(beyond, size, ln_splat(1)), ln_splat(1));
  d->y = scale * to_y - l.y;
  d->z = scale * to_z - l.z;
}

/* both couples of a contact; returns the change of its turning, in m/s at its levers */
static ln visit_roll(tbi_lane_work *w, int32_t index, lm go) {
  const tbi_plan_slot *slot = &w->plan->slot[index];
  const double *record = lane_roll(w, index);
  lm on = go & ln_bits(lane_get(lane_slot(w, index), TBI_SLOT_MOVES));
  if (!lm_any(on)) return ln_zero();
  double *impulse = lane_at(w->roll_impulse, 3 * (int64_t)index);
  const double *y = roll_columns(w, slot);
  ln push = lane_get(w->impulse, 3 * (int64_t)index);
  ln response[6];
  for (int i = 0; i < 6; ++i)
    response[i] = lane_get(record, TBI_ROLL_W + i);
  ln3 l = ln3_load(impulse);
  ln3 u = ln3_add(ln3_load(lane_at((double *)record, TBI_ROLL_BEFORE)), read_path(w, slot, y));
  ln3 d = ln3_zero();
  if (slot->surface.torsional > 0) {
    ln bound = slot->surface.torsional * push;
    lm turns = ln_lt(ln_zero(), response[0]);
    ln stop = l.x - ln_where(turns, u.x / ln_select(turns, response[0], ln_splat(1)));
    d.x = ln_clamp(stop, -bound, bound) - l.x;
  }
  if (slot->surface.rolling > 0)
    roll_step(record, slot->surface.rolling * push, u.y + response[3] * d.x,
              u.z + response[4] * d.x, l, &d);
  d = ln3_where(on, d);
  ln3_save(ln3_add(l, d), impulse);
  push_path(w, slot, y, d);
  ln rolled = ln_max(ln_abs(response[1] * d.y + response[5] * d.z),
                     ln_abs(response[5] * d.y + response[2] * d.z));
  return ln_max(lane_get(record, TBI_ROLL_LEVER) * response[0] * ln_abs(d.x),
                lane_get(record, TBI_ROLL_LEVER + 1) * rolled);
}

#endif

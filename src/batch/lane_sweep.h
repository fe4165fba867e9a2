/* lane_sweep.h - contacts, joint limits and dry friction in lanes: Gauss-Seidel on the impulses z
 * along the paths, each lane until its residual is small.
 *
 * A contact that sticks is solved as a whole.  One that slips takes a projected step: its direction
 * is that of the tangential impulse that would stop it, its size that of the friction which the
 * normal impulse gives, and both grow together.  The fixed points are the solutions of Coulomb's
 * law, as those of contact/cone.c; the exact slip root would cost four times as much in lanes. */
#ifndef TBI_LANE_SWEEP_H
#define TBI_LANE_SWEEP_H

#include "batch/lane_bundle.h"
#include "batch/lane_friction.h"
#include "batch/lane_roll.h"

#define LANE_NEAR_LIMIT 1e-4 /* rad or m */
enum { LANE_RETRY = 4 };     /* sweeps until bundles that did not stick are tried again */
#define LANE_JAMS   0.2 /* share of its response that a normal impulse with friction must keep */
#define LANE_ENOUGH 1e4 /* s/m, times the tolerance: share of what the first sweep changes */

/* -- rows of joints */

static void set_limits(tbi_lane_work *w, int32_t k, ln q, ln ahead, lm alive) {
  const tbi_plan *p = w->plan;
  double h = p->h;
  const double bound[2] = {p->dof_lower[k], p->dof_upper[k]};
  for (int side = 0; side < 2; ++side) {
    ln distance = side == 0 ? q - bound[0] : bound[1] - q;
    lm near = ln_lt(distance, ahead) & alive;
    ln back = ln_min(-distance * (p->def.correction / h), ln_splat(p->def.correction_speed));
    ln speed = ln_select(ln_le(ln_zero(), distance), -distance / h, back);
    lane_put(w->row_near, 2 * (int64_t)k + side, ln_of(near));
    lane_put(w->row_limit, 2 * (int64_t)k + side, side == 0 ? speed : -speed);
    double *impulse = lane_at(w->row, 3 * (int64_t)k + 1 + side);
    ln_save(ln_where(near, p->def.warm_start * ln_load(impulse)), impulse);
    if (lm_any(near)) w->limited[k] = 1;
  }
}

/* how far each joint is from its limits */
static void lane_find_limits(tbi_lane_work *w) {
  const tbi_plan *p = w->plan;
  lm alive = ln_bits(ln_load(w->alive));
  for (int32_t k = 0; k < p->nv; ++k) {
    w->limited[k] = 0;
    bool bounded = p->drives[k] && (p->dof_lower[k] > -HUGE_VAL || p->dof_upper[k] < HUGE_VAL);
    if (!bounded) continue;
    ln q = lane_get(w->q, p->dof_q[k]);
    ln ahead = LANE_NEAR_LIMIT + 2 * p->h * ln_abs(lane_get(w->v, k));
    set_limits(w, k, q, ahead, alive);
  }
}

/* which velocities need a row in some lane: by a limit, or by friction that is not predicted */
static void lane_list_rows(tbi_lane_work *w, lm todo) {
  const tbi_plan *p = w->plan;
  lm rowed = lm_none();
  w->nrows = 0;
  for (int32_t k = 0; k < p->nv; ++k) {
    lm row = w->limited[k] ? near_limit(w, k) : lm_none();
    if (has_friction(p, k)) row |= ~ln_bits(lane_get(w->stick, k)) & ~ln_bits(lane_get(w->slip, k));
    row &= todo;
    rowed |= row;
    lane_put(w->row_on, k, ln_of(row));
    if (lm_any(row)) w->rows[w->nrows++] = k;
  }
  ln_save(ln_of(rowed), w->rowed);
}

/* y along the path of a velocity, its own place first */
static void fill_row(tbi_lane_work *w, int32_t k) {
  double *y = lane_at(w->row_column, w->row_start[k]);
  ln own = lane_get(w->root, k);
  ln sum = own * own;
  ln6 f = ln6_scale(-own, lane_response(w, k));
  ln_save(own, y);
  for (int32_t j = w->plan->dof_parent[k]; j >= 0; j = w->plan->dof_parent[j]) {
    ln e = lane_get(w->root, j) * ln6_dot(lane_axis(w, j), f);
    f = ln6_axpy(f, -e, lane_response(w, j));
    y += TBI_LANES;
    ln_save(e, y);
    sum += e * e;
  }
  lane_put(w->row_w, 2 * (int64_t)k, sum);
  lm moves = ln_lt(ln_zero(), sum);
  lane_put(w->row_w, 2 * (int64_t)k + 1, ln_where(moves, 1.0 / ln_select(moves, sum, ln_splat(1))));
}

LANE_INLINE void push_row(tbi_lane_work *w, int32_t k, ln d) {
  const double *y = lane_at(w->row_column, w->row_start[k]);
  for (int32_t j = k; j >= 0; j = w->plan->dof_parent[j], y += TBI_LANES)
    lane_put(w->z, j, lane_get(w->z, j) + ln_load(y) * d);
}

LANE_INLINE ln read_row(const tbi_lane_work *w, int32_t k) {
  const double *y = lane_at(w->row_column, w->row_start[k]);
  ln u = lane_get(w->v, k);
  for (int32_t j = k; j >= 0; j = w->plan->dof_parent[j], y += TBI_LANES)
    u += ln_load(y) * lane_get(w->z, j);
  return u;
}

static void lane_set_up_rows(tbi_lane_work *w) {
  for (int32_t i = 0; i < w->nrows; ++i) {
    int32_t k = w->rows[i];
    const double *impulse = lane_at(w->row, 3 * (int64_t)k);
    lm row = has_friction(w->plan, k)
                 ? ~ln_bits(lane_get(w->slip, k)) & ~ln_bits(lane_get(w->stick, k))
                 : lm_none();
    ln warm = ln_where(row, lane_get(impulse, 0));
    fill_row(w, k);
    push_row(w, k, warm + lane_get(impulse, 1) + lane_get(impulse, 2));
  }
}

/* Dry friction and both limits of a joint, solved together: friction alone leaves a velocity, and
 * where that is beyond a limit, the limit gives the velocity and friction opposes it.  Returns the
 * change of velocity. */
static ln visit_row(tbi_lane_work *w, int32_t k, lm go) {
  lm on = go & ln_bits(lane_get(w->row_on, k));
  if (!lm_any(on)) return ln_zero();
  ln response = lane_get(w->row_w, 2 * (int64_t)k);
  ln inverse = lane_get(w->row_w, 2 * (int64_t)k + 1);
  double *impulse = lane_at(w->row, 3 * (int64_t)k);
  lm row = lm_none();
  if (has_friction(w->plan, k))
    row = ~ln_bits(lane_get(w->slip, k)) & ~ln_bits(lane_get(w->stick, k));
  ln bound = ln_where(row, ln_splat(w->plan->dof_friction[k] * w->plan->h));
  ln rubs = ln_where(row, lane_get(impulse, 0));
  ln held = rubs + lane_get(impulse, 1) + lane_get(impulse, 2);
  ln u = read_row(w, k) - response * held; /* without any of them */
  ln friction = ln_clamp(-u * inverse, -bound, bound);
  ln lower = ln_zero();
  ln upper = ln_zero();
  if (w->limited[k]) {
    ln v = u + response * friction;
    ln low = lane_get(w->row_limit, 2 * (int64_t)k);
    ln high = lane_get(w->row_limit, 2 * (int64_t)k + 1);
    lm below = ln_bits(lane_get(w->row_near, 2 * (int64_t)k)) & ln_lt(v, low);
    lm above = ln_bits(lane_get(w->row_near, 2 * (int64_t)k + 1)) & ln_lt(high, v) & ~below;
    ln goal = ln_select(below, low, high);
    ln against =
        ln_select(ln_lt(ln_zero(), goal), -bound, ln_select(ln_lt(goal, ln_zero()), bound, rubs));
    ln limit = (goal - u) * inverse - against;
    friction = ln_select(below | above, against, friction);
    lower = ln_where(below, ln_max(limit, ln_zero()));
    upper = ln_where(above, ln_min(limit, ln_zero()));
  }
  ln d = ln_where(on, friction + lower + upper - held);
  if (lm_any(row)) lane_put(impulse, 0, ln_select(on & row, friction, lane_get(impulse, 0)));
  lane_put(impulse, 1, ln_select(on, lower, lane_get(impulse, 1)));
  lane_put(impulse, 2, ln_select(on, upper, lane_get(impulse, 2)));
  ln change = ln_abs(d * response);
  if (lm_any(ln_lt(ln_zero(), change))) push_row(w, k, d);
  return change;
}

/* -- contacts */

LANE_INLINE ln largest(ln3 u) { return ln_max(ln_abs(u.x), ln_max(ln_abs(u.y), ln_abs(u.z))); }

/* The change of impulse of a contact that slips or opens; u is above its target.  Where the
 * tangential impulse ends on its disc, in the direction s, it grows with the normal one: n is then
 * what makes u + W_nn (n - p_n) + W_nt . (mu n s - p_t) zero, if that response to n is sound. */
LANE_INLINE ln3 slip_step(const double *record, ln3 p, ln3 u) {
  ln nn = lane_get(record, TBI_SLOT_W);
  ln nt = lane_get(record, TBI_SLOT_W + 3);
  ln ns = lane_get(record, TBI_SLOT_W + 4);
  ln mu = lane_get(record, TBI_SLOT_FRICTION);
  ln normal = ln_max(p.x - u.x * lane_get(record, TBI_SLOT_NORMAL), ln_zero());
  ln d = normal - p.x;
  ln share = lane_get(record, TBI_SLOT_TANGENT);
  ln y = p.y - share * (u.y + nt * d);
  ln z = p.z - share * (u.z + ns * d);
  ln size = ln_sqrt(y * y + z * z);
  lm beyond = ln_lt(mu * normal, size);
  ln inverse = mu / ln_select(beyond, size, ln_splat(1));
  ln along = nn + inverse * (nt * y + ns * z);
  lm sound = beyond & ln_lt(LANE_JAMS * nn, along);
  ln rest = nn * p.x + nt * p.y + ns * p.z - u.x;
  normal = ln_select(sound, ln_max(rest / ln_select(sound, along, ln_splat(1)), ln_zero()), normal);
  ln scale = ln_select(beyond, inverse * normal, ln_splat(1));
  return (ln3){normal - p.x, scale * y - p.y, scale * z - p.z};
}

/* one contact; returns the change of its velocity */
static ln visit_contact(tbi_lane_work *w, int32_t index, lm go) {
  const tbi_plan_slot *slot = &w->plan->slot[index];
  double *record = lane_slot(w, index);
  double *impulse = lane_at(w->impulse, 3 * (int64_t)index);
  lm on = go & ln_bits(lane_get(record, TBI_SLOT_MOVES));
  if (!lm_any(on)) return ln_zero();
  ln3 p = ln3_load(impulse);
  const double *y = lane_at(w->column, 3 * slot->column);
  ln3 u = ln3_add(ln3_load(lane_at(record, TBI_SLOT_BEFORE)), read_path(w, slot, y));
  u.x -= lane_get(record, TBI_SLOT_TARGET);
  ln inverse[6];
  for (int i = 0; i < 6; ++i)
    inverse[i] = lane_get(record, TBI_SLOT_INVERSE + i);
  ln3 stick = ln3_neg(sym_mulv(inverse, u));
  ln3 held = ln3_add(p, stick);
  ln most = lane_get(record, TBI_SLOT_FRICTION) * held.x;
  lm sticks = ln_le(ln_zero(), held.x) & ln_le(held.y * held.y + held.z * held.z, most * most);
  ln3 d = stick;
  ln change = largest(u);
  if (lm_any(on & ~sticks)) {
    ln3 slip = slip_step(record, p, u);
    ln moved = ln_max(ln_abs(slip.x) * lane_get(record, TBI_SLOT_W),
                      ln_max(ln_abs(slip.y), ln_abs(slip.z)) / lane_get(record, TBI_SLOT_TANGENT));
    d = ln3_select(sticks, stick, slip);
    change = ln_select(sticks, change, moved);
  }
  d = ln3_where(on, d);
  ln3_save(ln3_add(p, d), impulse);
  push_path(w, slot, y, d);
  return ln_where(on, change);
}

/* columns and responses of all active slots; z with the impulses they start from */
static void lane_set_up_contacts(tbi_lane_work *w) {
  lm loose = lm_none();
  lm touched = lm_none();
  for (int32_t i = 0; i < w->nbundle; ++i)
    set_up_bundle(w, &w->bundles[i]);
  set_up_joint(w);
  for (int32_t i = 0; i < w->nactive; ++i) {
    const tbi_plan_slot *slot = &w->plan->slot[w->active[i]];
    double *record = lane_slot(w, w->active[i]);
    if (!w->bundled[w->active[i]]) fill_columns(w, slot, record);
    if (w->bundled[w->active[i]] < 2 || has_roll(slot)) loose |= lane_slot_on(record);
    touched |= lane_slot_on(record);
    fill_response(w, slot, record);
    if (has_roll(slot)) set_up_roll(w, w->active[i]);
  }
  ln_save(ln_of(loose), w->loose);
  ln_save(ln_of(touched), w->touched);
  for (int32_t i = 0; i < w->nactive; ++i) {
    const tbi_plan_slot *slot = &w->plan->slot[w->active[i]];
    int64_t at = 3 * (int64_t)w->active[i];
    push_path(w, slot, lane_at(w->column, 3 * slot->column), ln3_load(lane_at(w->impulse, at)));
    if (has_roll(slot))
      push_path(w, slot, roll_columns(w, slot), ln3_load(lane_at(w->roll_impulse, at)));
  }
}

/* -- sweeps */

/* From sweep to sweep impulses go on along the ways that led there, as nonsmooth nonlinear
 * conjugate gradients (Silcowitz and others 2010), begun anew where a sweep changes more than the
 * one before. What a sweep has changed is measured by its energy, which is the square of the change
 * of z. */
LANE_INLINE ln energy_of_sweep(const tbi_lane_work *w) {
  ln sum = ln_zero();
  for (int32_t k = 0; k < w->plan->nv; ++k) {
    ln d = lane_get(w->z, k) - lane_get(w->start_z, k);
    sum += d * d;
  }
  return sum;
}

/* x becomes the start of the next sweep */
LANE_INLINE void go_beyond(double *x, double *start, double *way, ln share) {
  ln now = ln_load(x);
  ln before = share * ln_load(way);
  ln next = now + before;
  ln_save(before + (now - ln_load(start)), way);
  ln_save(next, start);
  ln_save(next, x);
}

LANE_INLINE void begin_way(const double *x, double *start, double *way, size_t count) {
  memcpy(start, x, count * sizeof(double) * TBI_LANES);
  memset(way, 0, count * sizeof(double) * TBI_LANES);
}

/* sweeps begin here */
static void begin_ways(tbi_lane_work *w) {
  begin_way(w->z, w->start_z, w->way_z, (size_t)w->plan->nv);
  for (int32_t i = 0; i < w->nrows; ++i) {
    int64_t j = 3 * (int64_t)w->rows[i];
    begin_way(lane_at(w->row, j), lane_at(w->start_row, j), lane_at(w->way_row, j), 3);
  }
  for (int32_t i = 0; i < w->nactive; ++i) {
    int64_t j = 3 * (int64_t)w->active[i];
    begin_way(lane_at(w->impulse, j), lane_at(w->start_impulse, j), lane_at(w->way_impulse, j), 3);
    if (w->plan->nroll > 0)
      begin_way(lane_at(w->roll_impulse, j), lane_at(w->start_roll, j), lane_at(w->way_roll, j), 3);
  }
}

LANE_INLINE void go_beyond_all(double *x, double *start, double *way, int64_t first, int64_t count,
                               ln share) {
  for (int64_t j = first; j < first + count; ++j)
    go_beyond(lane_at(x, j), lane_at(start, j), lane_at(way, j), share);
}

/* z is linear in the impulses, so all are moved alike; the next sweep projects them again */
static void extrapolate(tbi_lane_work *w, ln share) {
  go_beyond_all(w->z, w->start_z, w->way_z, 0, w->plan->nv, share);
  for (int32_t i = 0; i < w->nrows; ++i)
    go_beyond_all(w->row, w->start_row, w->way_row, 3 * (int64_t)w->rows[i],
                  w->limited[w->rows[i]] ? 3 : 1, share);
  for (int32_t i = 0; i < w->nactive; ++i) {
    int64_t j = 3 * (int64_t)w->active[i];
    go_beyond_all(w->impulse, w->start_impulse, w->way_impulse, j, 3, share);
    if (w->plan->nroll > 0) go_beyond_all(w->roll_impulse, w->start_roll, w->way_roll, j, 3, share);
  }
}

/* Rows, then feet and other bundles as far as they stick, then what is left point by point.  What
 * did not stick is tried again in every fourth sweep. */
static ln sweep_once(tbi_lane_work *w, lm go, int32_t sweep, lm *stuck) {
  ln change = ln_zero();
  int32_t next = 0;
  bool all = sweep % LANE_RETRY == 0;
  for (int32_t i = 0; i < w->nrows; ++i)
    change = ln_max(change, visit_row(w, w->rows[i], go));
  lm done = visit_joint(w, all ? go : go & *stuck, &change);
  *stuck = done;
  lm left = go & ~done;
  for (int32_t b = 0; b < w->nbundle; ++b) {
    const tbi_lane_bundle *bundle = &w->bundles[b];
    for (; next < bundle->first; ++next)
      change = ln_max(change, visit_contact(w, w->active[next], go));
    lm rest = bundle->foot ? left : go;
    if (all && lm_any(rest)) rest &= ~visit_bundle(w, bundle, rest, &change);
    for (; lm_any(rest) && next < bundle->first + bundle->count; ++next)
      change = ln_max(change, visit_contact(w, w->active[next], rest));
    next = bundle->first + bundle->count;
  }
  for (; next < w->nactive; ++next)
    change = ln_max(change, visit_contact(w, w->active[next], go));
  for (int32_t i = 0; w->plan->nroll > 0 && i < w->nactive; ++i)
    if (has_roll(&w->plan->slot[w->active[i]]))
      change = ln_max(change, visit_roll(w, w->active[i], go));
  return change;
}

/* Sweeps the lanes of a mask until each has settled, within the budget. */
static void lane_solve_contacts(tbi_lane_work *w, lm todo) {
  const tabi_world_def *def = &w->plan->def;
  ln last = lane_get(w->told, TBI_TOLD_RESIDUAL);
  ln sweeps = lane_get(w->told, TBI_TOLD_SWEEPS);
  ln before = ln_zero();
  ln enough = ln_splat(def->tolerance);
  lm stuck = lm_none();
  /* in a lane where feet are all that touches, one solution is enough */
  lm alone = ~ln_bits(ln_load(w->rowed)) & ~ln_bits(ln_load(w->loose));
  lm go = todo & (ln_bits(ln_load(w->rowed)) | ln_bits(ln_load(w->touched)));
  last = ln_select(todo, ln_zero(), last);
  begin_ways(w);
  for (int32_t sweep = 0; sweep < def->iterations && lm_any(go); ++sweep) {
    if (sweep > 0) {
      ln energy = energy_of_sweep(w);
      lm less = go & ln_lt(energy, before);
      extrapolate(w, ln_where(less, energy / ln_select(less, before, ln_splat(1))));
      before = energy;
    }
    ln change = sweep_once(w, go, sweep, &stuck);
    change = ln_select(stuck & alone, ln_min(change, ln_splat(def->tolerance)), change);
    last = ln_select(go, change, last);
    sweeps = ln_select(go, sweeps + 1, sweeps);
    if (sweep == 0) enough = ln_max(enough, LANE_ENOUGH * def->tolerance * change);
    go = go & ln_lt(enough, change);
  }
  lane_put(w->told, TBI_TOLD_RESIDUAL, last);
  lane_put(w->told, TBI_TOLD_SWEEPS, sweeps);
}

#endif

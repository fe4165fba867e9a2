/* lane_step.c - one time step of TBI_LANES worlds of a model at once; compiled for several widths.
 *
 *   forces -> kinematics and contacts -> factor -> problem -> sweeps -> velocity -> verify -> move
 *
 * Nothing here allocates, branches on a single lane or depends on what other lanes hold. */
#include "batch/lane_drive.h"
#include "batch/lane_ground_touch.h"
#include "batch/lane_sweep.h"
#include "model/limits.h"

enum { ATTEMPTS = 6 }; /* to find the drives at their limits of force */
#define MAX_ANGLE 1e6  /* rad, up to which ln_sincos is accurate */

/* a wrench at a point of one body, world axes */
static void apply_push(tbi_lane_work *w, int32_t i, const lane_pose *pose) {
  double *to = lane_at(w->force, 6 * (int64_t)i);
  ln6 push = ln6_load(w->push);
  ln3 arm = ln3_add(pose->pos, ln33_mul_splat(&pose->rot, w->push_point));
  ln6 wrench = ln6_force_at(arm, push.lin);
  wrench.ang = ln3_add(wrench.ang, push.ang);
  ln6_save(ln6_axpy(ln6_load(to), ln_splat(w->plan->h), wrench), to);
}

static void move_bodies(tbi_lane_work *w) {
  const tbi_plan *p = w->plan;
  w->nactive = 0;
  w->nbundle = 0;
  w->nfeet = 0;
  lane_find_sines(w);
  lane_begin_stack(w);
  for (int32_t i = 0; i < p->nbody; ++i) {
    const tbi_plan_body *b = &p->body[i];
    if (b->depth == 0) lane_find_origin(w, b);
    lane_pose pose = move_body(w, i);
    bias_impulse(w, i, &pose);
    if (i == w->push_body) apply_push(w, i, &pose);
    if (b->npair > 0) lane_touch_planes(w, i, &pose);
  }
  if (p->npatch > 0) lane_touch_ground(w);
  for (int32_t i = 0; i < p->nsegment; ++i)
    place_segment(w, i);
  for (int32_t i = 0; i < p->ncouple; ++i)
    touch_couple(w, &p->couple[i]);
  lane_drop_slots(w);
}

/* the velocity at the end of the step */
static void find_velocity(tbi_lane_work *w) {
  lm todo = ln_bits(ln_load(w->alive));
  lane_put(w->told, TBI_TOLD_SWEEPS, ln_zero());
  lane_put(w->told, TBI_TOLD_ATTEMPTS, ln_zero());
  for (int attempt = 0; attempt < ATTEMPTS && lm_any(todo); ++attempt) {
    lane_set_drives(w);
    if (w->plan->any_friction) lane_apply_friction(w, todo);
    lane_list_rows(w, todo);
    lane_factor(w);
    lane_set_up_rows(w);
    lane_set_up_contacts(w);
    lane_solve_contacts(w, todo);
    lane_new_velocity(w, todo);
    ln attempts = lane_get(w->told, TBI_TOLD_ATTEMPTS);
    lane_put(w->told, TBI_TOLD_ATTEMPTS, ln_select(todo, attempts + 1, attempts));
    lm rubs = lane_verify_friction(w, todo, attempt);
    todo = rubs | lane_verify_drives(w, todo);
  }
}

/* what the step tells of its contacts */
static void tell(tbi_lane_work *w) {
  ln overlap = ln_zero();
  ln contacts = ln_zero();
  for (int32_t i = 0; i < w->nactive; ++i) {
    const double *record = lane_slot(w, w->active[i]);
    lm on = lane_slot_on(record);
    ln push = lane_get(w->impulse, 3 * (int64_t)w->active[i]);
    overlap = ln_max(overlap, ln_where(on, -lane_get(record, TBI_SLOT_GAP)));
    contacts += ln_where(on & ln_lt(ln_zero(), push), ln_splat(1));
  }
  lane_put(w->told, TBI_TOLD_OVERLAP, overlap);
  lane_put(w->told, TBI_TOLD_CONTACTS, contacts);
}

/* a quaternion turned by a rotation vector, from the left or, of a ball joint, from the right */
static void turn(tbi_lane_work *w, int32_t q, ln3 r, bool child_frame, lm todo) {
  ln half = 0.5 * ln3_norm(r);
  ln sine;
  ln cosine;
  ln_sincos(half, &sine, &cosine);
  lm small = ln_le(half, ln_splat(1e-4));
  ln s = 0.5 * ln_select(small, 1 - half * half / 6.0, sine / ln_select(small, ln_splat(1), half));
  ln a[4] = {cosine, s * r.x, s * r.y, s * r.z};
  ln b[4];
  for (int i = 0; i < 4; ++i)
    b[i] = lane_get(w->q, q + i);
  const ln *l = child_frame ? b : a;
  const ln *m = child_frame ? a : b;
  ln to[4] = {l[0] * m[0] - l[1] * m[1] - l[2] * m[2] - l[3] * m[3],
              l[0] * m[1] + l[1] * m[0] + l[2] * m[3] - l[3] * m[2],
              l[0] * m[2] - l[1] * m[3] + l[2] * m[0] + l[3] * m[1],
              l[0] * m[3] + l[1] * m[2] - l[2] * m[1] + l[3] * m[0]};
  ln scale = 1.0 / ln_sqrt(to[0] * to[0] + to[1] * to[1] + to[2] * to[2] + to[3] * to[3]);
  for (int i = 0; i < 4; ++i)
    lane_put(w->q, q + i, ln_select(todo, scale * to[i], b[i]));
}

static ln3 turn_rate(const tbi_lane_work *w, int32_t k) {
  return (ln3){lane_get(w->v_new, k), lane_get(w->v_new, k + 1), lane_get(w->v_new, k + 2)};
}

static void move_body_on(tbi_lane_work *w, const tbi_plan_body *b, lm todo) {
  ln h = ln_splat(w->plan->h);
  int32_t straight = b->type == TABI_JOINT_BALL ? 0 : b->type == TABI_JOINT_FREE ? 3 : b->nv;
  for (int32_t i = 0; i < straight; ++i) {
    ln q = lane_get(w->q, b->q + i);
    lane_put(w->q, b->q + i, ln_select(todo, q + h * lane_get(w->v_new, b->v + i), q));
  }
  if (b->type == TABI_JOINT_BALL) turn(w, b->q, ln3_scale(h, turn_rate(w, b->v)), true, todo);
  if (b->type == TABI_JOINT_FREE)
    turn(w, b->q + 3, ln3_scale(h, turn_rate(w, b->v + 3)), false, todo);
}

/* lanes whose new velocity, and where it leads, are numbers that a state may have */
static lm find_sound(const tbi_lane_work *w) {
  const tbi_plan *p = w->plan;
  lm sound = lm_all();
  for (int32_t k = 0; k < p->nv; ++k)
    sound &= ln_le(ln_abs(lane_get(w->v_new, k)), ln_splat(TBI_MAX_SPEED));
  for (int32_t i = 0; i < p->nbody; ++i) {
    const tbi_plan_body *b = &p->body[i];
    int32_t straight = b->type == TABI_JOINT_BALL ? 0 : b->type == TABI_JOINT_FREE ? 3 : b->nv;
    for (int32_t j = 0; j < straight; ++j) {
      bool angle = b->nv == 1 ? b->type != TABI_JOINT_PRISMATIC : j == 2 && b->nv == 3;
      ln after = lane_get(w->q, b->q + j) + p->h * lane_get(w->v_new, b->v + j);
      sound &= ln_le(ln_abs(after), ln_splat(angle ? MAX_ANGLE : TBI_MAX_POSITION));
    }
  }
  return sound;
}

static void move(tbi_lane_work *w) {
  const tbi_plan *p = w->plan;
  lm alive = ln_bits(ln_load(w->alive));
  lm sound = find_sound(w) & alive;
  for (int32_t i = 0; i < p->nbody; ++i)
    move_body_on(w, &p->body[i], sound);
  for (int32_t k = 0; k < p->nv; ++k) {
    ln before = lane_get(w->v, k);
    ln after = lane_get(w->v_new, k);
    lane_put(w->change, k, ln_select(sound, after - before, lane_get(w->change, k)));
    lane_put(w->v, k, ln_select(sound, after, before));
  }
  lm failed = ln_bits(ln_load(w->failed)) | (alive & ~sound);
  ln_save(ln_of(failed), w->failed);
  ln_save(ln_of(sound), w->alive);
}

#define JOIN2(a, b) a##b
#define JOIN(a, b)  JOIN2(a, b)

void JOIN(tbi_lane_step_, TBI_LANES)(tbi_lane_work *w) {
  lane_base_forces(w);
  lane_predict_drives(w);
  move_bodies(w);
  lane_find_limits(w);
  if (w->plan->any_friction) lane_predict_friction(w);
  find_velocity(w);
  tell(w);
  move(w);
}

/* lane_touch.h - where shapes touch in lanes: the rules of collision/pair_plane.c and
 * world/candidates.c, for the slots that some lane needs. */
#ifndef TBI_LANE_TOUCH_H
#define TBI_LANE_TOUCH_H

#include "batch/lane_tree.h"

#define LANE_MARGIN     1e-4 /* m, at which shapes are looked at even when nothing moves */
#define LANE_SWAY       0.25 /* share of a body's motion that may turn towards a plane in a step */
#define LANE_FLAT_TILT  1e-6 /* of cylinders, as collision/pair_plane.c */
#define LANE_STEEP_TILT 0.02

LANE_INLINE double *lane_slot(const tbi_lane_work *w, int64_t slot) {
  return w->slot + TBI_SLOT_SIZE * slot * TBI_LANES;
}
LANE_INLINE double *lane_roll(const tbi_lane_work *w, int64_t slot) {
  return w->roll + TBI_ROLL_SIZE * slot * TBI_LANES;
}
LANE_INLINE lm lane_slot_on(const double *record) { return ln_bits(lane_get(record, TBI_SLOT_ON)); }

/* A contact in the lanes of a mask. */
typedef struct lane_contact {
  lm on;
  ln gap;
  ln33 frame;
  ln3 arm_b, arm_a;
  ln3 velocity, turning; /* of b against a, world axes */
} lane_contact;

/* least normal velocity: up to touching, or out of what is deeper than allowed */
LANE_INLINE ln target_of(const tbi_plan *p, ln gap) {
  ln deep = ln_max(-gap - p->def.allowed_depth, ln_zero());
  ln out = ln_min(deep * (p->def.correction / p->h), ln_splat(p->def.correction_speed));
  return ln_select(ln_lt(ln_zero(), gap), -gap / p->h, out);
}

/* the coefficient of friction, by the slip before the step */
LANE_INLINE ln friction_of(const tbi_lane_work *w, const tbi_plan_surface *s, ln3 before) {
  ln factor = lane_get(w->friction, 0);
  if (s->kinetic == s->friction && s->viscous == 0) return factor * s->friction;
  ln slip = ln_sqrt(before.y * before.y + before.z * before.z);
  lm slides = ln_lt(ln_splat(s->slip_speed), slip);
  return factor * ln_select(slides, ln_splat(s->kinetic), ln_splat(s->friction)) +
         s->viscous * slip;
}

/* what rolling and torsional friction starts from */
static void take_roll(tbi_lane_work *w, int32_t slot, const lane_contact *c) {
  double *impulse = lane_at(w->roll_impulse, 3 * (int64_t)slot);
  ln3 warm = ln3_scale(ln_splat(w->plan->def.warm_start), ln3_load(impulse));
  ln3_save(ln3_where(c->on, warm), impulse);
  ln3_save(ln33_tmulv(&c->frame, c->turning), lane_at(lane_roll(w, slot), TBI_ROLL_BEFORE));
}

static void lane_take_slot(tbi_lane_work *w, int32_t slot, const lane_contact *c) {
  double *record = lane_slot(w, slot);
  ln3 before = ln33_tmulv(&c->frame, c->velocity);
  ln friction = friction_of(w, &w->plan->slot[slot].surface, before);
  ln33_save(&c->frame, lane_at(record, TBI_SLOT_FRAME));
  ln3_save(c->arm_b, lane_at(record, TBI_SLOT_ARM_B));
  ln3_save(c->arm_a, lane_at(record, TBI_SLOT_ARM_A));
  ln3_save(before, lane_at(record, TBI_SLOT_BEFORE));
  lane_put(record, TBI_SLOT_GAP, c->gap);
  lane_put(record, TBI_SLOT_TARGET, target_of(w->plan, c->gap));
  lane_put(record, TBI_SLOT_FRICTION, friction);
  lane_put(record, TBI_SLOT_ON, ln_of(c->on));
  double *impulse = lane_at(w->impulse, 3 * (int64_t)slot);
  ln3 warm = ln3_scale(ln_splat(w->plan->def.warm_start), ln3_load(impulse));
  ln3_save(ln3_where(c->on, warm), impulse);
  if (w->plan->nroll > 0) take_roll(w, slot, c);
  w->active[w->nactive++] = slot;
  w->bundled[slot] = 0;
  w->seen[slot] = 1;
}

/* A body over a plane. */
typedef struct lane_over {
  const tbi_plan_body *body;
  const tbi_plan_plane *plane;
  const lane_pose *pose;
  ln3 normal; /* body axes */
  ln height;  /* of the body's origin */
  ln speed, spin;
  ln rise;   /* m/s, of the body's origin along the normal */
  ln3 slope; /* what a place of the body, in its axes, adds to that */
  lm alive;
} lane_over;

LANE_INLINE ln fall_of(const tbi_lane_work *w) {
  return 2 * w->plan->h * w->plan->h * ln3_norm(ln3_load(w->gravity));
}

LANE_INLINE ln margin_of(const tbi_lane_work *w, const lane_over *o, double radius) {
  return LANE_MARGIN + fall_of(w) + w->plan->h * (o->speed + o->spin * radius);
}

/* a point of the body's surface (from the tree's origin) at a height of gap */
static void touch_plane(tbi_lane_work *w, const lane_over *o, const tbi_plan_pair *pair,
                        int32_t slot, ln gap, ln3 point, lm on) {
  const double *frame = o->plane->frame;
  lane_contact c = {
      .on = on,
      .gap = gap,
      .frame = {ln3_splat(frame), ln3_splat(frame + 3), ln3_splat(frame + 6)},
      .arm_a = ln3_zero(),
      .turning = o->pose->vel.ang,
  };
  c.arm_b = pair->round ? point : ln3_axpy(point, -0.5 * gap, c.frame.x);
  c.velocity = ln6_at(o->pose->vel, c.arm_b);
  lane_take_slot(w, slot, &c);
}

/* A point is taken if it comes near by its own speed along the normal; of the motion of its body a
 * share is left for what contacts elsewhere do to it in this step. */
static void touch_points(tbi_lane_work *w, const lane_over *o, const tbi_plan_pair *pair) {
  double h = w->plan->h;
  ln margin = LANE_MARGIN + fall_of(w) + LANE_SWAY * h * (o->speed + o->spin * pair->margin_radius);
  for (int32_t i = 0; i < pair->nslot; ++i) {
    const tbi_plan_point *at = &w->plan->point[pair->point + i];
    ln3 local = ln3_splat(at->pos);
    ln gap = o->height + ln3_dot(o->normal, local) - at->radius;
    ln closing = ln_max(-(o->rise + ln3_dot(o->slope, local)), ln_zero());
    lm on = ln_le(gap, margin + h * closing) & o->alive;
    if (!lm_any(on)) continue;
    ln3 point = ln3_add(o->pose->pos, ln33_mulv(&o->pose->rot, local));
    point = ln3_axpy(point, ln_splat(-at->radius), ln3_splat(o->plane->frame));
    touch_plane(w, o, pair, pair->slot + i, gap, point, on);
  }
}

/* one of eight directions from the axis to a rim, as collision/pair_plane.c has them */
static ln3 rim_direction(const tbi_plan_pair *pair, int32_t i) {
  ln3 x = ln3_splat(pair->axes);
  ln3 y = ln3_splat(pair->axes + 3);
  if (i < 4) return ln3_scale(ln_splat(i & 1 ? -1 : 1), i < 2 ? x : y);
  ln3 along = ln3_scale(ln_splat(i & 1 ? -M_SQRT1_2 : M_SQRT1_2), x);
  return ln3_axpy(along, ln_splat(i & 2 ? -M_SQRT1_2 : M_SQRT1_2), y);
}

/* the lowest points of both rims, and of the lower rim eight fixed ones while it lies flat */
static void touch_cylinder(tbi_lane_work *w, const lane_over *o, const tbi_plan_pair *pair,
                           ln margin) {
  ln3 axis = ln3_splat(pair->axes + 6);
  ln3 centre = ln3_splat(pair->centre);
  ln along = ln3_dot(o->normal, axis);
  ln3 lean = ln3_axpy(ln3_neg(o->normal), along, axis);
  ln tilt = ln3_norm(lean);
  lm tilted = ln_lt(ln_splat(LANE_FLAT_TILT), tilt);
  lm flat = ln_lt(tilt, ln_splat(LANE_STEEP_TILT));
  ln inverse = ln_where(tilted, 1.0 / ln_select(tilted, tilt, ln_splat(1)));
  ln3 lowest = ln3_scale(inverse, lean);
  lm up = ln_lt(ln_zero(), along);
  for (int32_t i = 0; i < pair->nslot; ++i) {
    bool fixed = i >= 2;
    double half = (fixed ? i < 10 : i == 0) ? -pair->size[2] : pair->size[2];
    ln3 outward = lowest;
    lm on = tilted;
    if (fixed) {
      outward = rim_direction(pair, (i - 2) % 8);
      lm own = ~ln_lt(ln_splat(0.999), ln3_dot(outward, lowest));
      on = flat & own & (i < 10 ? up : ~up);
    }
    ln3 local = ln3_axpy(ln3_axpy(centre, ln_splat(half), axis), ln_splat(pair->size[0]), outward);
    ln gap = o->height + ln3_dot(o->normal, local);
    on = on & ln_le(gap, margin) & o->alive;
    if (!lm_any(on)) continue;
    ln3 point = ln3_add(o->pose->pos, ln33_mulv(&o->pose->rot, local));
    touch_plane(w, o, pair, pair->slot + i, gap, point, on);
  }
}

static void touch_ellipsoid(tbi_lane_work *w, const lane_over *o, const tbi_plan_pair *pair,
                            ln margin) {
  ln3 local = ln3_splat(pair->centre);
  ln3 part[3];
  ln square = ln_zero();
  for (int i = 0; i < 3; ++i) {
    ln3 axis = ln3_splat(pair->axes + 3 * (ptrdiff_t)i);
    ln along = pair->size[i] * ln3_dot(o->normal, axis);
    square += along * along;
    part[i] = ln3_scale(pair->size[i] * along, axis);
  }
  ln inverse = 1.0 / ln_sqrt(square);
  for (int i = 0; i < 3; ++i)
    local = ln3_axpy(local, -inverse, part[i]);
  ln gap = o->height + ln3_dot(o->normal, local);
  lm on = ln_le(gap, margin) & o->alive;
  if (!lm_any(on)) return;
  ln3 point = ln3_add(o->pose->pos, ln33_mulv(&o->pose->rot, local));
  touch_plane(w, o, pair, pair->slot, gap, point, on);
}

/* points of one shape, which may be solved together; a bundle of fewer points than a lane needs is
 * one that this lane does not use */
static void tie_bundle(tbi_lane_work *w, const tbi_plan_bundle *tied, int32_t body,
                       const lane_pose *pose, const double *centre, int32_t first) {
  if (tied->index == TABI_NONE || w->nactive == first) return;
  if (tied->foot) w->feet[w->nfeet++] = w->nbundle;
  tbi_lane_bundle *bundle = &w->bundles[w->nbundle++];
  *bundle = (tbi_lane_bundle){.body = body,
                              .foot = tied->foot,
                              .first = first,
                              .count = w->nactive - first,
                              .column = tied->column,
                              .record = lane_at(w->bundle, TBI_BUNDLE_SIZE * (int64_t)tied->index)};
  ln3 at = ln3_add(pose->pos, ln33_mul_splat(&pose->rot, centre));
  ln3_save(at, lane_at(bundle->record, TBI_BUNDLE_CENTRE));
  for (int32_t i = first; i < w->nactive; ++i)
    w->bundled[w->active[i]] = tied->foot ? 2 : 1; /* 2: of a foot */
}

static void touch_pair(tbi_lane_work *w, const lane_over *o, const tbi_plan_pair *pair) {
  ln margin = margin_of(w, o, pair->margin_radius);
  ln above = o->height + ln3_dot(o->normal, ln3_splat(pair->centre)) - pair->reach;
  if (!lm_any(ln_le(above, margin) & o->alive)) return;
  int32_t first = w->nactive;
  switch (pair->kind) {
  case TBI_TOUCH_CYLINDER:
    touch_cylinder(w, o, pair, margin);
    break;
  case TBI_TOUCH_ELLIPSOID:
    touch_ellipsoid(w, o, pair, margin);
    break;
  default:
    touch_points(w, o, pair);
  }
  tie_bundle(w, &pair->bundle, (int32_t)(o->body - w->plan->body), o->pose, pair->centre, first);
}

/* all planes that a body may reach in this step */
static void lane_touch_planes(tbi_lane_work *w, int32_t i, const lane_pose *pose) {
  const tbi_plan *p = w->plan;
  const tbi_plan_body *b = &p->body[i];
  ln3 origin = ln3_add(ln3_load(lane_at(w->origin, 3 * (int64_t)b->tree)), pose->pos);
  lane_over o = {.body = b, .pose = pose, .alive = ln_bits(ln_load(w->alive))};
  o.speed = ln3_norm(ln6_at(pose->vel, pose->pos));
  o.spin = ln3_norm(pose->vel.ang);
  ln margin = margin_of(w, &o, b->radius) + b->radius;
  bool near = false;
  for (int32_t k = b->first_pair; k < b->first_pair + b->npair; ++k) {
    const tbi_plan_pair *pair = &p->pair[k];
    if (k == b->first_pair || o.plane != &p->plane[pair->plane]) {
      o.plane = &p->plane[pair->plane];
      ln3 normal = ln3_splat(o.plane->frame);
      o.height = ln3_dot(normal, origin) - o.plane->height;
      o.normal = ln33_tmulv(&pose->rot, normal);
      o.rise = ln3_dot(normal, ln6_at(pose->vel, pose->pos));
      o.slope = ln33_tmulv(&pose->rot, ln3_cross(normal, pose->vel.ang));
      near = lm_any(ln_le(o.height, margin) & o.alive);
    }
    if (near) touch_pair(w, &o, pair);
  }
}

/* -- shapes of moving bodies */

/* the closest points of two segments, as shares of them (Ericson, Real-Time Collision Detection,
 * section 5.1.9), with all cases in the bits */
LANE_INLINE void closest_shares(ln3 d1, ln3 d2, ln3 r, ln *s, ln *t) {
  const ln one = ln_splat(1);
  const ln zero = ln_zero();
  const ln tiny = ln_splat(1e-18);
  ln a = ln_max(ln3_dot(d1, d1), tiny);
  ln e = ln_max(ln3_dot(d2, d2), tiny);
  ln b = ln3_dot(d1, d2);
  ln c = ln3_dot(d1, r);
  ln f = ln3_dot(d2, r);
  ln denominator = a * e - b * b;
  lm askew = ln_lt(1e-12 * a * e, denominator);
  ln first = (b * f - c * e) / ln_select(askew, denominator, one);
  *s = ln_select(askew, ln_clamp(first, zero, one), ln_splat(0.5));
  ln wanted = (b * *s + f) / e;
  *t = ln_clamp(wanted, zero, one);
  *s = ln_clamp((b * *t - c) / a, zero, one);
}

LANE_INLINE ln33 contact_frame(ln3 n) {
  const double x[3] = {1, 0, 0};
  const double y[3] = {0, 1, 0};
  ln3 away = ln3_select(ln_lt(ln_abs(n.x), ln_splat(0.6)), ln3_splat(x), ln3_splat(y));
  ln3 t = ln3_sub(away, ln3_scale(ln3_dot(away, n), n));
  t = ln3_scale(1.0 / ln3_norm(t), t);
  return (ln33){n, t, ln3_cross(n, t)};
}

/* once for each, since a segment may meet many others */
static void place_segment(const tbi_lane_work *w, int32_t index) {
  const tbi_plan_segment *segment = &w->plan->segment[index];
  const tbi_plan_body *b = &w->plan->body[segment->body];
  lane_pose pose = pose_load(lane_at(w->kept, LANE_POSE * (int64_t)segment->body));
  lane_over o = {.speed = ln3_norm(ln6_at(pose.vel, pose.pos)), .spin = ln3_norm(pose.vel.ang)};
  double *to = lane_at(w->segment, TBI_SEGMENT_SIZE * (int64_t)index);
  ln3 at = ln3_add(ln3_load(lane_at(w->origin, 3 * (int64_t)b->tree)), pose.pos);
  ln3 end = ln3_add(at, ln33_mul_splat(&pose.rot, segment->end[0]));
  ln3 along = ln3_sub(ln3_add(at, ln33_mul_splat(&pose.rot, segment->end[1])), end);
  ln3_save(end, lane_at(to, TBI_SEGMENT_END));
  ln3_save(along, lane_at(to, TBI_SEGMENT_ALONG));
  ln3_save(ln3_axpy(end, ln_splat(0.5), along), lane_at(to, TBI_SEGMENT_MIDDLE));
  lane_put(to, TBI_SEGMENT_MARGIN, margin_of(w, &o, segment->margin_radius));
}

/* A segment of a couple. */
typedef struct lane_segment {
  ln3 end, along; /* world */
  ln margin;
} lane_segment;

LANE_INLINE lane_segment segment_at(const double *from) {
  return (lane_segment){ln3_load(from + (ptrdiff_t)TBI_SEGMENT_END * TBI_LANES),
                        ln3_load(from + (ptrdiff_t)TBI_SEGMENT_ALONG * TBI_LANES),
                        lane_get(from, TBI_SEGMENT_MARGIN)};
}

LANE_INLINE ln3 origin_of(const tbi_lane_work *w, const tbi_plan_segment *segment) {
  return ln3_load(lane_at(w->origin, 3 * (int64_t)w->plan->body[segment->body].tree));
}

LANE_INLINE ln6 twist_of(const tbi_lane_work *w, const tbi_plan_segment *segment) {
  return ln6_load(lane_at(w->kept, LANE_POSE * (int64_t)segment->body + 12));
}

/* whether the balls around two segments come near in some lane */
LANE_INLINE bool may_meet(const tbi_lane_work *w, const tbi_plan_couple *couple) {
  const double *a = lane_at(w->segment, TBI_SEGMENT_SIZE * (int64_t)couple->a);
  const double *b = lane_at(w->segment, TBI_SEGMENT_SIZE * (int64_t)couple->b);
  ln3 apart = ln3_sub(ln3_load(b + (ptrdiff_t)TBI_SEGMENT_MIDDLE * TBI_LANES),
                      ln3_load(a + (ptrdiff_t)TBI_SEGMENT_MIDDLE * TBI_LANES));
  ln reach = couple->reach + lane_get(a, TBI_SEGMENT_MARGIN) + lane_get(b, TBI_SEGMENT_MARGIN);
  return lm_any(ln_le(ln3_dot(apart, apart), reach * reach) & ln_bits(ln_load(w->alive)));
}

static void touch_couple(tbi_lane_work *w, const tbi_plan_couple *couple) {
  const tbi_plan_segment *sa = &w->plan->segment[couple->a];
  const tbi_plan_segment *sb = &w->plan->segment[couple->b];
  if (!may_meet(w, couple)) return;
  lane_segment a = segment_at(lane_at(w->segment, TBI_SEGMENT_SIZE * (int64_t)couple->a));
  lane_segment b = segment_at(lane_at(w->segment, TBI_SEGMENT_SIZE * (int64_t)couple->b));
  ln s;
  ln t;
  closest_shares(a.along, b.along, ln3_sub(a.end, b.end), &s, &t);
  ln3 on_a = ln3_axpy(a.end, s, a.along);
  ln3 on_b = ln3_axpy(b.end, t, b.along);
  ln3 apart = ln3_sub(on_b, on_a);
  ln distance = ln3_norm(apart);
  ln gap = distance - sa->radius - sb->radius;
  lm on = ln_le(gap, a.margin + b.margin) & ln_bits(ln_load(w->alive)) &
          ln_lt(ln_splat(1e-9), distance);
  if (!lm_any(on)) return;
  const double up[3] = {0, 0, 1};
  ln3 normal = ln3_scale(1.0 / ln_select(on, distance, ln_splat(1)), apart);
  normal = ln3_select(on, normal, ln3_splat(up));
  ln3 point = ln3_axpy(on_a, sa->radius + 0.5 * gap, normal);
  lane_contact c = {.on = on,
                    .gap = gap,
                    .frame = contact_frame(normal),
                    .arm_a = ln3_sub(point, origin_of(w, sa)),
                    .arm_b = ln3_sub(point, origin_of(w, sb))};
  ln6 twist_a = twist_of(w, sa);
  ln6 twist_b = twist_of(w, sb);
  c.velocity = ln3_sub(ln6_at(twist_b, c.arm_b), ln6_at(twist_a, c.arm_a));
  c.turning = ln3_sub(twist_b.ang, twist_a.ang);
  lane_take_slot(w, couple->slot, &c);
}

/* -- the problem of a contact */

/* y = D^-1/2 L^-T of three wrenches, up a piece of a path */
LANE_INLINE void climb(tbi_lane_work *w, const int32_t *path, int32_t count, ln6 f[3], double *y) {
  for (int32_t j = 0; j < count; ++j) {
    ln6 axis = lane_axis(w, path[j]);
    ln6 U = lane_response(w, path[j]);
    ln root = lane_get(w->root, path[j]);
    for (int c = 0; c < 3; ++c) {
      ln e = root * ln6_dot(axis, f[c]);
      f[c] = ln6_axpy(f[c], -e, U);
      lane_put(y, 3 * (int64_t)j + c, e);
    }
  }
}

/* wrenches on b, and the opposite ones on a */
static void climb_both(tbi_lane_work *w, const tbi_plan_slot *slot, ln6 f[3], ln6 back[3],
                       double *y) {
  const int32_t *path = w->plan->path + slot->path;
  climb(w, path, slot->only_b, f, y);
  if (slot->body_a == TABI_WORLD) return;
  climb(w, path + slot->only_b, slot->only_a, back, lane_at(y, 3 * (int64_t)slot->only_b));
  for (int c = 0; c < 3; ++c)
    f[c] = ln6_add(f[c], back[c]);
  int32_t own = slot->only_b + slot->only_a;
  climb(w, path + own, slot->shared, f, lane_at(y, 3 * (int64_t)own));
}

static void fill_columns(tbi_lane_work *w, const tbi_plan_slot *slot, const double *record) {
  ln33 frame = ln33_load(record + (ptrdiff_t)TBI_SLOT_FRAME * TBI_LANES);
  ln3 arm_b = ln3_load(record + (ptrdiff_t)TBI_SLOT_ARM_B * TBI_LANES);
  ln3 arm_a = ln3_load(record + (ptrdiff_t)TBI_SLOT_ARM_A * TBI_LANES);
  ln6 f[3] = {ln6_force_at(arm_b, frame.x), ln6_force_at(arm_b, frame.y),
              ln6_force_at(arm_b, frame.z)};
  ln6 back[3] = {ln6_force_at(arm_a, ln3_neg(frame.x)), ln6_force_at(arm_a, ln3_neg(frame.y)),
                 ln6_force_at(arm_a, ln3_neg(frame.z))};
  climb_both(w, slot, f, back, lane_at(w->column, 3 * slot->column));
}

LANE_INLINE int32_t path_length(const tbi_plan_slot *slot) {
  return slot->only_b + slot->only_a + slot->shared;
}

/* y y' summed over a path: nn tt ss nt ns ts */
LANE_INLINE void sum_squares(const tbi_plan_slot *slot, const double *y, ln s[6]) {
  for (int i = 0; i < 6; ++i)
    s[i] = ln_zero();
  for (int32_t j = 0; j < path_length(slot); ++j) {
    ln3 c = ln3_load(y + 3 * (ptrdiff_t)j * TBI_LANES);
    s[0] += c.x * c.x;
    s[1] += c.y * c.y;
    s[2] += c.z * c.z;
    s[3] += c.x * c.y;
    s[4] += c.x * c.z;
    s[5] += c.y * c.z;
  }
}

/* the 3x3 response of the point and its inverse */
static void fill_response(const tbi_lane_work *w, const tbi_plan_slot *slot, double *record) {
  ln s[6];
  sum_squares(slot, lane_at(w->column, 3 * slot->column), s);
  ln trace = s[0] + s[1] + s[2];
  for (int i = 0; i < 3; ++i)
    s[i] += 1e-12 * trace;
  ln cx = s[1] * s[2] - s[5] * s[5];
  ln cy = s[4] * s[5] - s[3] * s[2];
  ln cz = s[3] * s[5] - s[4] * s[1];
  ln determinant = s[0] * cx + s[3] * cy + s[4] * cz;
  lm moves = ln_lt(ln_zero(), determinant);
  ln inverse = 1.0 / ln_select(moves, determinant, ln_splat(1));
  const ln six[6] = {cx * inverse,
                     (s[0] * s[2] - s[4] * s[4]) * inverse,
                     (s[0] * s[1] - s[3] * s[3]) * inverse,
                     cy * inverse,
                     cz * inverse,
                     (s[3] * s[4] - s[0] * s[5]) * inverse};
  for (int i = 0; i < 6; ++i) {
    lane_put(record, TBI_SLOT_W + i, s[i]);
    lane_put(record, TBI_SLOT_INVERSE + i, six[i]);
  }
  ln mean = 0.5 * (s[1] + s[2]);
  ln half = 0.5 * (s[1] - s[2]);
  ln tangent = ln_select(moves, mean + ln_sqrt(half * half + s[5] * s[5]), ln_splat(1));
  lane_put(record, TBI_SLOT_TANGENT, 1.0 / tangent);
  lane_put(record, TBI_SLOT_NORMAL, 1.0 / ln_select(moves, s[0], ln_splat(1)));
  lane_put(record, TBI_SLOT_MOVES, ln_of(moves & lane_slot_on(record)));
}

/* z += Y d */
LANE_INLINE void push_path(tbi_lane_work *w, const tbi_plan_slot *slot, const double *y, ln3 d) {
  const int32_t *path = w->plan->path + slot->path;
  int32_t length = path_length(slot);
  for (int32_t j = 0; j < length; ++j) {
    double *z = lane_at(w->z, path[j]);
    ln3 c = ln3_load(y + 3 * (ptrdiff_t)j * TBI_LANES);
    ln_save(ln_load(z) + ln3_dot(c, d), z);
  }
}

/* Y' z */
LANE_INLINE ln3 read_path(const tbi_lane_work *w, const tbi_plan_slot *slot, const double *y) {
  const int32_t *path = w->plan->path + slot->path;
  int32_t length = path_length(slot);
  ln3 u = ln3_zero();
  for (int32_t j = 0; j < length; ++j)
    u = ln3_axpy(u, lane_get(w->z, path[j]), ln3_load(y + 3 * (ptrdiff_t)j * TBI_LANES));
  return u;
}

/* what was held before and is not touched now leaves nothing */
static void lane_drop_slots(tbi_lane_work *w) {
  for (int32_t i = 0; i < w->nheld; ++i) {
    if (w->seen[w->held[i]]) continue;
    ln3_save(ln3_zero(), lane_at(w->impulse, 3 * (int64_t)w->held[i]));
    if (w->plan->nroll > 0) ln3_save(ln3_zero(), lane_at(w->roll_impulse, 3 * (int64_t)w->held[i]));
  }
  for (int32_t i = 0; i < w->nactive; ++i) {
    w->held[i] = w->active[i];
    w->seen[w->active[i]] = 0;
  }
  w->nheld = w->nactive;
}

#endif

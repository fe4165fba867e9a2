/* lane_bundle.h - the points of one shape on a plane that push, solved together while they stick.
 *
 * Gauss-Seidel over the corners of a sole converges slowly, since they move as one body.  With G
 * the 6x6 response of the body, A the matrix that takes impulses of the points to a wrench, B = A
 * A' and u the velocities that are left, the twist that fits them best is V = B^-1 A u.  The wrench
 * m = -G^-1 V takes it away, and d = A' B^-1 m are the smallest impulses that add up to it.  Where
 * all points stay within their cones this is done; where not, they are visited one by one. */
#ifndef TBI_LANE_BUNDLE_H
#define TBI_LANE_BUNDLE_H

#include "batch/lane_touch.h"

enum { LANE_MATRIX = 21 }; /* lower triangle of 6x6, row by row */
#define LANE_REGULAR 1e-9  /* share of a diagonal that elimination must leave */
/* Two feet of a robot whose joints stick cannot move apart: the matrix of both is singular, and
 * what they do to each other is not unique.  This share of its diagonal, added to it, makes that
 * small. */
#define LANE_GIVE 1e-6

/* -- 6x6 */

/* Cholesky's factor, with the inverse diagonal; returns the lanes in which there is one */
LANE_INLINE lm factor6(ln *a) {
  lm sound = lm_all();
  for (int i = 0; i < 6; ++i) {
    ln *row = a + i * (i + 1) / 2;
    for (int j = 0; j < i; ++j) {
      const ln *other = a + j * (j + 1) / 2;
      ln sum = row[j];
      for (int k = 0; k < j; ++k)
        sum -= row[k] * other[k];
      row[j] = sum * other[j];
    }
    ln rest = row[i];
    for (int k = 0; k < i; ++k)
      rest -= row[k] * row[k];
    lm regular = ln_lt(LANE_REGULAR * row[i], rest);
    sound &= regular;
    row[i] = 1.0 / ln_sqrt(ln_select(regular, rest, ln_splat(1)));
  }
  return sound;
}

LANE_INLINE void solve6(const ln *l, ln *x) {
  for (int i = 0; i < 6; ++i) {
    const ln *row = l + i * (i + 1) / 2;
    for (int k = 0; k < i; ++k)
      x[i] -= row[k] * x[k];
    x[i] *= row[i];
  }
  for (int i = 5; i >= 0; --i) {
    for (int k = i + 1; k < 6; ++k)
      x[i] -= l[k * (k + 1) / 2 + i] * x[k];
    x[i] *= l[i * (i + 1) / 2 + i];
  }
}

LANE_INLINE ln6 solved6(const double *factor, ln6 b) {
  ln l[LANE_MATRIX];
  ln x[6] = {b.lin.x, b.lin.y, b.lin.z, b.ang.x, b.ang.y, b.ang.z};
  for (int i = 0; i < LANE_MATRIX; ++i)
    l[i] = lane_get(factor, i);
  solve6(l, x);
  return (ln6){
      {x[0], x[1], x[2]},
      {x[3], x[4], x[5]}
  };
}

/* -- set-up */

LANE_INLINE double *bundle_columns(const tbi_lane_work *w, const tbi_lane_bundle *b) {
  return lane_at(w->bundle_column, 6 * b->column);
}

/* y of six unit wrenches at the centre, up the path of the body; G from them */
static void climb_units(tbi_lane_work *w, const tbi_lane_bundle *b, ln *g) {
  const tbi_plan_body *body = &w->plan->body[b->body];
  const int32_t *path = w->plan->path + body->path;
  double *y = bundle_columns(w, b);
  ln3 c = ln3_load(lane_at(b->record, TBI_BUNDLE_CENTRE));
  const ln one = ln_splat(1);
  const ln o = ln_zero();
  ln6 f[6] = {
      {{one, o, o}, {o, c.z, -c.y}},
      {{o, one, o}, {-c.z, o, c.x}},
      {{o, o, one}, {c.y, -c.x, o}},
      {{o, o, o},   {one, o, o}   },
      {{o, o, o},   {o, one, o}   },
      {{o, o, o},   {o, o, one}   }
  };
  for (int i = 0; i < LANE_MATRIX; ++i)
    g[i] = o;
  for (int32_t j = 0; j < body->length; ++j) {
    ln6 axis = lane_axis(w, path[j]);
    ln6 U = lane_response(w, path[j]);
    ln root = lane_get(w->root, path[j]);
    ln e[6];
    for (int i = 0; i < 6; ++i) {
      e[i] = root * ln6_dot(axis, f[i]);
      f[i] = ln6_axpy(f[i], -e[i], U);
      lane_put(y, 6 * (int64_t)j + i, e[i]);
    }
    for (int i = 0, at = 0; i < 6; ++i)
      for (int k = 0; k <= i; ++k, ++at)
        g[at] += e[i] * e[k];
  }
}

/* columns of a point from those of the units: n . (lin + ang x arm) */
static void combine_columns(tbi_lane_work *w, const tbi_lane_bundle *b, int32_t index) {
  const tbi_plan_slot *slot = &w->plan->slot[index];
  const double *record = lane_slot(w, index);
  const double *unit = bundle_columns(w, b);
  double *y = lane_at(w->column, 3 * slot->column);
  ln33 frame = ln33_load(record + (ptrdiff_t)TBI_SLOT_FRAME * TBI_LANES);
  ln3 arm = ln3_sub(ln3_load(record + (ptrdiff_t)TBI_SLOT_ARM_B * TBI_LANES),
                    ln3_load(lane_at(b->record, TBI_BUNDLE_CENTRE)));
  const ln6 push[3] = {ln6_force_at(arm, frame.x), ln6_force_at(arm, frame.y),
                       ln6_force_at(arm, frame.z)};
  for (int32_t j = 0; j < slot->only_b; ++j) {
    ln6 e = ln6_load(unit + 6 * (ptrdiff_t)j * TBI_LANES);
    for (int c = 0; c < 3; ++c)
      lane_put(y, 3 * (int64_t)j + c, ln6_dot(e, push[c]));
  }
}

/* adds A A' of one point: force and moment of unit impulses */
LANE_INLINE void add_point(ln *m, ln3 r, lm on) {
  ln one = ln_where(on, ln_splat(1));
  ln x = ln_where(on, r.x);
  ln y = ln_where(on, r.y);
  ln z = ln_where(on, r.z);
  m[0] += one;
  m[2] += one;
  m[5] += one;
  /* rows of the moment: r x f */
  m[7] -= z;
  m[8] += y;
  m[9] += y * y + z * z;
  m[10] += z;
  m[12] -= x;
  m[13] -= x * y;
  m[14] += x * x + z * z;
  m[15] -= y;
  m[16] += x;
  m[18] -= x * z;
  m[19] -= y * z;
  m[20] += x * x + y * y;
}

/* which points push in which lanes, and both factors */
static void set_up_bundle(tbi_lane_work *w, const tbi_lane_bundle *b) {
  ln g[LANE_MATRIX];
  ln m[LANE_MATRIX];
  ln3 centre = ln3_load(lane_at(b->record, TBI_BUNDLE_CENTRE));
  lm touched = lm_none();
  climb_units(w, b, g);
  for (int i = 0; i < LANE_MATRIX; ++i)
    m[i] = ln_zero();
  for (int32_t i = b->first; i < b->first + b->count; ++i) {
    int32_t index = w->active[i];
    double *record = lane_slot(w, index);
    lm on = lane_slot_on(record) & ln_lt(ln_zero(), lane_get(w->impulse, 3 * (int64_t)index));
    combine_columns(w, b, index);
    add_point(m, ln3_sub(ln3_load(lane_at(record, TBI_SLOT_ARM_B)), centre), on);
    lane_put(record, TBI_SLOT_HELD, ln_of(on));
    touched |= lane_slot_on(record);
  }
  for (int i = 0; i < LANE_MATRIX; ++i)
    lane_put(b->record, TBI_BUNDLE_WHOLE + i, g[i]);
  lm sound = factor6(g) & factor6(m);
  for (int i = 0; i < LANE_MATRIX; ++i) {
    lane_put(b->record, TBI_BUNDLE_RESPONSE + i, g[i]);
    lane_put(b->record, TBI_BUNDLE_POINTS + i, m[i]);
  }
  lane_put(b->record, TBI_BUNDLE_SOUND, ln_of(sound));
  lane_put(b->record, TBI_BUNDLE_ABSENT, ln_of(~touched));
}

/* -- visits */

LANE_INLINE ln6 read_units(const tbi_lane_work *w, const tbi_lane_bundle *b) {
  const tbi_plan_body *body = &w->plan->body[b->body];
  const int32_t *path = w->plan->path + body->path;
  const double *y = bundle_columns(w, b);
  ln6 twist = ln6_zero();
  for (int32_t j = 0; j < body->length; ++j)
    twist = ln6_axpy(twist, lane_get(w->z, path[j]), ln6_load(y + 6 * (ptrdiff_t)j * TBI_LANES));
  return twist;
}

LANE_INLINE void push_units(tbi_lane_work *w, const tbi_lane_bundle *b, ln6 wrench) {
  const tbi_plan_body *body = &w->plan->body[b->body];
  const int32_t *path = w->plan->path + body->path;
  const double *y = bundle_columns(w, b);
  for (int32_t j = 0; j < body->length; ++j) {
    ln more = ln6_dot(ln6_load(y + 6 * (ptrdiff_t)j * TBI_LANES), wrench);
    lane_put(w->z, path[j], lane_get(w->z, path[j]) + more);
  }
}

/* A point of a bundle, from its centre. */
typedef struct lane_member {
  double *record, *impulse;
  ln33 frame;
  ln3 arm;
  lm on, held;
} lane_member;

LANE_INLINE lane_member member_of(const tbi_lane_work *w, const tbi_lane_bundle *b, int32_t i) {
  double *record = lane_slot(w, w->active[i]);
  return (lane_member){
      .record = record,
      .impulse = lane_at(w->impulse, 3 * (int64_t)w->active[i]),
      .frame = ln33_load(lane_at(record, TBI_SLOT_FRAME)),
      .arm = ln3_sub(ln3_load(lane_at(record, TBI_SLOT_ARM_B)),
                     ln3_load(lane_at(b->record, TBI_BUNDLE_CENTRE))),
      .on = lane_slot_on(record),
      .held = ln_bits(lane_get(record, TBI_SLOT_HELD)),
  };
}

/* what is left of a point's velocity, in its frame */
LANE_INLINE ln3 left_over(const lane_member *m, ln6 twist) {
  ln3 u = ln3_add(ln3_load(lane_at(m->record, TBI_SLOT_BEFORE)),
                  ln33_tmulv(&m->frame, ln6_at(twist, m->arm)));
  u.x -= lane_get(m->record, TBI_SLOT_TARGET);
  return u;
}

/* A u over the points that push, and the largest of u */
static ln6 gather_left(const tbi_lane_work *w, const tbi_lane_bundle *b, ln6 twist, ln *largest) {
  ln6 sum = ln6_zero();
  for (int32_t i = b->first; i < b->first + b->count; ++i) {
    lane_member m = member_of(w, b, i);
    ln3 u = ln3_where(m.held, left_over(&m, twist));
    *largest = ln_max(*largest, ln_max(ln_abs(u.x), ln_max(ln_abs(u.y), ln_abs(u.z))));
    sum = ln6_add(sum, ln6_force_at(m.arm, ln33_mulv(&m.frame, u)));
  }
  return sum;
}

/* the lanes in which all impulses stay in their cones, no other point closes, and nothing is left
 * above the tolerance */
static lm check_members(const tbi_lane_work *w, const tbi_lane_bundle *b, ln6 share, ln6 after) {
  ln tolerance = ln_splat(w->plan->def.tolerance);
  lm good = lm_all();
  for (int32_t i = b->first; i < b->first + b->count; ++i) {
    lane_member m = member_of(w, b, i);
    ln3 d = ln33_tmulv(&m.frame, ln6_at(share, m.arm));
    ln3 p = ln3_add(ln3_load(m.impulse), d);
    ln3 u = left_over(&m, after);
    ln most = lane_get(m.record, TBI_SLOT_FRICTION) * p.x;
    lm sticks = ln_lt(ln_zero(), p.x) & ln_le(p.y * p.y + p.z * p.z, most * most);
    ln rest = ln_max(ln_abs(u.x), ln_max(ln_abs(u.y), ln_abs(u.z)));
    lm open = ln_le(-tolerance, u.x);
    good &= (m.held & sticks & ln_le(rest, tolerance)) | (m.on & ~m.held & open) | ~m.on;
  }
  return good;
}

LANE_INLINE void push_bundle(tbi_lane_work *w, const tbi_lane_bundle *b, ln6 wrench, ln6 share,
                             lm good) {
  for (int32_t i = b->first; i < b->first + b->count; ++i) {
    lane_member m = member_of(w, b, i);
    ln3 d = ln33_tmulv(&m.frame, ln6_at(share, m.arm));
    ln3_save(ln3_add(ln3_load(m.impulse), ln3_where(good & m.held, d)), m.impulse);
  }
  push_units(w, b, (ln6){ln3_where(good, wrench.lin), ln3_where(good, wrench.ang)});
}

/* Solves a bundle in the lanes where it sticks; these are done for this sweep. */
static lm visit_bundle(tbi_lane_work *w, const tbi_lane_bundle *b, lm go, ln *change) {
  lm todo = go & ln_bits(lane_get(b->record, TBI_BUNDLE_SOUND));
  if (!lm_any(todo)) return todo;
  ln largest = ln_zero();
  ln6 before = read_units(w, b);
  ln6 left = gather_left(w, b, before, &largest);
  const double *points = lane_at(b->record, TBI_BUNDLE_POINTS);
  ln6 twist = ln6_scale(ln_splat(-1), solved6(points, left));
  ln6 wrench = solved6(lane_at(b->record, TBI_BUNDLE_RESPONSE), twist);
  ln6 share = solved6(points, wrench);
  lm good = todo & check_members(w, b, share, ln6_add(before, twist));
  if (!lm_any(good)) return good;
  push_bundle(w, b, wrench, share, good);
  *change = ln_max(*change, ln_where(good, largest));
  return good;
}

/* -- feet: the bundles that the plan has chosen, all of them at once */

LANE_INLINE const tbi_lane_bundle *foot_of(const tbi_lane_work *w, int k) {
  return &w->bundles[w->feet[k]];
}

LANE_INLINE double *joint_row(const tbi_lane_work *w, int i) {
  return lane_at(w->joint_matrix, (int64_t)i * (i + 1) / 2);
}

static int32_t count_common(const tbi_plan *p, const tbi_plan_body *a, const tbi_plan_body *b) {
  int32_t n = 0;
  while (n < a->length && n < b->length &&
         p->path[a->path + a->length - 1 - n] == p->path[b->path + b->length - 1 - n])
    ++n;
  return n;
}

/* the response of bundle k to wrenches at bundle l < k, along what their paths share */
static void fill_cross(tbi_lane_work *w, int k, int l, lm both) {
  const tbi_lane_bundle *a = foot_of(w, k);
  const tbi_lane_bundle *b = foot_of(w, l);
  const tbi_plan_body *body_a = &w->plan->body[a->body];
  const tbi_plan_body *body_b = &w->plan->body[b->body];
  int32_t common = count_common(w->plan, body_a, body_b);
  const double *ya = lane_at(bundle_columns(w, a), 6 * ((int64_t)body_a->length - common));
  const double *yb = lane_at(bundle_columns(w, b), 6 * ((int64_t)body_b->length - common));
  for (int i = 0; i < 6; ++i) {
    double *row = lane_at(joint_row(w, 6 * k + i), 6 * (int64_t)l);
    for (int j = 0; j < 6; ++j) {
      ln sum = ln_zero();
      for (int32_t at = 0; at < common; ++at)
        sum += lane_get(ya, 6 * (int64_t)at + i) * lane_get(yb, 6 * (int64_t)at + j);
      lane_put(row, j, ln_where(both, sum));
    }
  }
}

static lm factor_joint(tbi_lane_work *w, int n) {
  lm sound = lm_all();
  for (int i = 0; i < n; ++i) {
    double *row = joint_row(w, i);
    ln whole = lane_get(row, i);
    ln rest = whole;
    for (int j = 0; j < i; ++j) {
      const double *other = joint_row(w, j);
      ln sum = lane_get(row, j);
      for (int k = 0; k < j; ++k)
        sum -= lane_get(row, k) * lane_get(other, k);
      sum *= lane_get(other, j);
      lane_put(row, j, sum);
      rest -= sum * sum;
    }
    lm regular = ln_lt(LANE_REGULAR * whole, rest);
    sound &= regular;
    lane_put(row, i, 1.0 / ln_sqrt(ln_select(regular, rest, ln_splat(1))));
  }
  return sound;
}

static void solve_joint(const tbi_lane_work *w, int n, ln *x) {
  for (int i = 0; i < n; ++i) {
    const double *row = joint_row(w, i);
    for (int k = 0; k < i; ++k)
      x[i] -= lane_get(row, k) * x[k];
    x[i] *= lane_get(row, i);
  }
  for (int i = n - 1; i >= 0; --i) {
    for (int k = i + 1; k < n; ++k)
      x[i] -= lane_get(joint_row(w, k), i) * x[k];
    x[i] *= lane_get(joint_row(w, i), i);
  }
}

/* The matrix of all feet; in lanes that do not touch there, a bundle is a unit matrix by itself.
 * Leaves the lanes that can be solved so in w->together. */
static void set_up_joint(tbi_lane_work *w) {
  lm together = lm_none();
  int n = w->nfeet;
  if (n > 0) {
    together = lm_all();
    for (int k = 0; k < n; ++k) {
      const double *record = foot_of(w, k)->record;
      lm sound = ln_bits(lane_get(record, TBI_BUNDLE_SOUND));
      together &= sound | ln_bits(lane_get(record, TBI_BUNDLE_ABSENT));
      for (int l = 0; l < k; ++l)
        fill_cross(w, k, l, sound & ln_bits(lane_get(foot_of(w, l)->record, TBI_BUNDLE_SOUND)));
      for (int i = 0, at = 0; i < 6; ++i)
        for (int j = 0; j <= i; ++j, ++at)
          lane_put(joint_row(w, 6 * k + i), 6 * k + j,
                   ln_select(sound,
                             (i == j ? 1 + LANE_GIVE : 1) * lane_get(record, TBI_BUNDLE_WHOLE + at),
                             ln_splat(i == j ? 1 : 0)));
    }
    if (lm_any(together)) together &= factor_joint(w, 6 * n);
  }
  ln_save(ln_of(together), w->together);
}

LANE_INLINE void set6(ln *x, ln6 a) {
  x[0] = a.lin.x;
  x[1] = a.lin.y;
  x[2] = a.lin.z;
  x[3] = a.ang.x;
  x[4] = a.ang.y;
  x[5] = a.ang.z;
}

/* what the share added to the diagonal leaves of the twist that was asked for */
LANE_INLINE ln6 given_way(const tbi_lane_bundle *b, ln6 wrench) {
  ln d[6];
  for (int i = 0; i < 6; ++i)
    d[i] = LANE_GIVE * lane_get(b->record, TBI_BUNDLE_WHOLE + i * (i + 3) / 2);
  return (ln6){
      {d[0] * wrench.lin.x, d[1] * wrench.lin.y, d[2] * wrench.lin.z},
      {d[3] * wrench.ang.x, d[4] * wrench.ang.y, d[5] * wrench.ang.z}
  };
}

/* Solves all feet in the lanes where all of them stick. */
static lm visit_joint(tbi_lane_work *w, lm go, ln *change) {
  lm good = go & ln_bits(ln_load(w->together));
  int n = w->nfeet;
  if (!lm_any(good)) return good;
  ln largest = ln_zero();
  ln x[6 * TBI_FEET];
  ln6 after[TBI_FEET];
  ln6 share[TBI_FEET];
  for (int k = 0; k < n; ++k) {
    const tbi_lane_bundle *b = foot_of(w, k);
    lm sound = ln_bits(lane_get(b->record, TBI_BUNDLE_SOUND));
    ln6 before = read_units(w, b);
    ln6 left = gather_left(w, b, before, &largest);
    ln6 twist = solved6(lane_at(b->record, TBI_BUNDLE_POINTS), left);
    twist = (ln6){ln3_where(sound, ln3_neg(twist.lin)), ln3_where(sound, ln3_neg(twist.ang))};
    after[k] = ln6_add(before, twist);
    set6(x + 6 * (ptrdiff_t)k, twist);
  }
  solve_joint(w, 6 * n, x);
  for (int k = 0; k < n; ++k) {
    const tbi_lane_bundle *b = foot_of(w, k);
    const ln *y = x + 6 * (ptrdiff_t)k;
    const ln6 wrench = {
        {y[0], y[1], y[2]},
        {y[3], y[4], y[5]}
    };
    share[k] = solved6(lane_at(b->record, TBI_BUNDLE_POINTS), wrench);
    good &= check_members(w, b, share[k], ln6_sub(after[k], given_way(b, wrench)));
  }
  if (!lm_any(good)) return good;
  for (int k = 0; k < n; ++k) {
    const ln *y = x + 6 * (ptrdiff_t)k;
    const ln6 wrench = {
        {y[0], y[1], y[2]},
        {y[3], y[4], y[5]}
    };
    lm sound = ln_bits(lane_get(foot_of(w, k)->record, TBI_BUNDLE_SOUND));
    push_bundle(w, foot_of(w, k), wrench, share[k], good & sound);
  }
  *change = ln_max(*change, ln_where(good, largest));
  return good;
}

#endif

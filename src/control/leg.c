/* leg.c - see leg.h.
 *
 * Numerical, so that any chain of six hinges will do.  The
 * residual r(angle) is the vector from the foot to its place and the rotation between them, and
 *
 *   (J'J + damping 1) step = J' r
 *
 * with damping proportional to the square of the residual, so that convergence is quadratic: a
 * short step needs no further check.  Joints at a limit that would leave their range are fixed in a
 * step.
 *
 * Where the first three axes meet in a point, as in a hip, they do not move that point.  The last
 * three joints then place it alone, and the first three provide the remaining rotation: a short
 * step takes two systems of three equations. */
#include "control/leg.h"

#include "base/assertion.h"
#include "base/error.h"
#include "base/random.h"
#include "math/linalg.h"
#include "math/trig.h"

#include <string.h>

enum { N = TBI_LEG_JOINTS, MAX_PATH = 64, MAX_STEPS = 100, MAX_STARTS = 50 };
#define CONVERGED  1e-13 /* stop here */
#define SHORT      1e-6  /* rad: a step whose square is not worth another look */
#define TOLERANCE  1e-10
#define COINCIDENT 1e-12 /* m, between points that are one */

static bool is_hinge(tabi_joint_type type) {
  return type == TABI_JOINT_REVOLUTE || type == TABI_JOINT_CONTINUOUS;
}

static tbi_frame turned(v3 axis, double angle) {
  return (tbi_frame){q_matrix(q_exp(v3_scale(angle, axis))), v3_zero()};
}

/* The joints from the foot up to the waist; -1 if the foot is not below the waist. */
static int32_t path_to_waist(const tabi_model *model, int32_t waist, int32_t foot, int32_t *path) {
  TBI_ASSERT(foot >= 0 && foot < tabi_model_nlink(model));
  int32_t count = 0;
  for (int32_t link = foot; link != waist; ++count) {
    int32_t joint = link == TABI_WORLD ? TABI_NONE : tabi_model_link_joint(model, link);
    if (joint == TABI_NONE || count == MAX_PATH) return -1;
    path[count] = joint;
    link = tabi_model_joint(model, joint).parent;
  }
  return count;
}

/* The motion of a joint that is no part of the leg, fixed as in q. */
static tbi_frame passive_frame(const tabi_model *model, int32_t joint, const double *q) {
  tabi_joint_def def = tabi_model_joint(model, joint);
  double value =
      tabi_model_joint_q(model, joint).count == 1 ? q[tabi_model_joint_q(model, joint).first] : 0;
  if (is_hinge(def.type)) return turned(v3_load(def.axis), value);
  tbi_frame frame = tbi_frame_identity();
  if (def.type == TABI_JOINT_PRISMATIC) frame.pos = v3_scale(value, v3_load(def.axis));
  return frame;
}

/* Adds a joint at `place` in the frame behind the one before it. */
static void take_joint(const tabi_model *model, int32_t joint, const tbi_frame *place, tbi_leg *leg,
                       int32_t i) {
  TBI_ASSERT(i >= 0 && i < N && tabi_model_joint_q(model, joint).count == 1);
  tabi_joint_def def = tabi_model_joint(model, joint);
  m3 axes = q_matrix_to(v3_load(def.axis));
  bool limited = def.type == TABI_JOINT_REVOLUTE;
  leg->joint[i] = joint;
  leg->q[i] = tabi_model_joint_q(model, joint).first;
  leg->place[i] = (tbi_frame){m3_mul(&place->rot, &axes), place->pos};
  leg->lower[i] = limited ? def.lower : -HUGE_VAL;
  leg->upper[i] = limited ? def.upper : HUGE_VAL;
}

/* The frame behind a joint of the leg, from the frame whose z is its axis. */
static tbi_frame behind(const tabi_model *model, int32_t joint) {
  m3 axes = q_matrix_to(v3_load(tabi_model_joint(model, joint).axis));
  return (tbi_frame){m3_transpose(&axes), v3_zero()};
}

tabi_status tbi_leg_find(const tabi_model *model, int32_t waist, int32_t foot, const double *q,
                         tbi_leg *leg, tabi_error *err) {
  TBI_ASSERT(waist >= 0 && waist < tabi_model_nlink(model) && q);
  const tabi_place nowhere = {NULL, 0};
  const char *name = tabi_model_link(model, foot).name;
  int32_t path[MAX_PATH];
  int32_t count = path_to_waist(model, waist, foot, path);
  if (count < 0) {
    return tbi_error_set(err, TABI_ERR_ARGUMENT, nowhere,
                         "foot '%.80s' is not below the waist in the tree", name);
  }
  int32_t found = 0;
  tbi_frame frame = tbi_frame_identity();
  for (int32_t i = count - 1; i >= 0; --i) {
    tabi_joint_def def = tabi_model_joint(model, path[i]);
    tbi_frame own = tbi_frame_load(def.pos, def.quat);
    frame = tbi_frame_mul(&frame, &own);
    if (found < N && is_hinge(def.type)) {
      take_joint(model, path[i], &frame, leg, found++);
      frame = behind(model, path[i]);
    } else {
      tbi_frame still = passive_frame(model, path[i], q);
      frame = tbi_frame_mul(&frame, &still);
    }
  }
  leg->foot = frame;
  leg->meets = found == N && v3_norm(leg->place[1].pos) < COINCIDENT &&
               v3_norm(leg->place[2].pos) < COINCIDENT;
  if (found == N) return TABI_OK;
  return tbi_error_set(err, TABI_ERR_ARGUMENT, nowhere,
                       "the leg to foot '%.80s' has %d hinges; six are needed", name, (int)found);
}

/* What the joints do to whatever is behind them, and for each its axis and a point on it, all in
 * the waist's frame; the foot itself is elsewhere. */
typedef struct bent {
  m4 rot;
  v4 foot;
  v4 axis[N], point[N];
} bent;

static void bend(const tbi_leg *leg, const double *angle, bent *to) {
  double sine[N];
  double cosine[N];
  tbi_sincos(N, angle, sine, cosine);
  m4 rot = {v4_make(1, 0, 0), v4_make(0, 1, 0), v4_make(0, 0, 1)};
  v4 at = v4_zero();
  for (int i = 0; i < N; ++i) {
    at = v4_add(at, m4_mulv3(&rot, leg->place[i].pos));
    rot = m4_mul3(&rot, &leg->place[i].rot);
    to->axis[i] = rot.z;
    to->point[i] = at;
    rot = m4_turn_z(&rot, sine[i], cosine[i]);
  }
  to->rot = rot;
  to->foot = v4_add(at, m4_mulv3(&rot, leg->foot.pos));
}

tbi_frame tbi_leg_forward(const tbi_leg *leg, const double *angle) {
  bent now;
  bend(leg, angle, &now);
  m3 rot = m4_to(&now.rot);
  return (tbi_frame){m3_mul(&rot, &leg->foot.rot), v4_to(now.foot)};
}

/* The rotation vector from one attitude to another.  Half the sum of the cross products of their
 * axes points along it and is as long as its sine. */
static v3 rotation_between(const m4 *from, const m4 *to) {
  v4 twice = v4_add(v4_cross(from->x, to->x), v4_cross(from->y, to->y));
  v3 along = v3_scale(0.5, v4_to(v4_add(twice, v4_cross(from->z, to->z))));
  double cosine =
      0.5 * (v4_dot(from->x, to->x) + v4_dot(from->y, to->y) + v4_dot(from->z, to->z) - 1);
  double square = v3_dot(along, along);
  if (cosine > 0.9) return v3_scale(1 + square * (1.0 / 6 + square * (3.0 / 40)), along);
  m3 a = m4_to(from);
  m3 b = m4_to(to);
  m3 back = m3_transpose(&a);
  m3 rotation = m3_mul(&b, &back);
  q4 q = q_from_matrix(&rotation);
  v3 part = {q.x, q.y, q.z};
  double sine = v3_norm(part);
  return v3_scale(2 * atan2(sine, q.w) / sine, part);
}

/* The goal of the foot: its position, and the axes behind the last joint. */
typedef struct goal {
  m4 rot;
  v4 foot;
} goal;

static goal goal_of(const tbi_leg *leg, const tbi_frame *place) {
  m3 back = m3_transpose(&leg->foot.rot);
  m3 rot = m3_mul(&place->rot, &back);
  return (goal){
      {v4_from(m3_column(&rot, 0)), v4_from(m3_column(&rot, 1)), v4_from(m3_column(&rot, 2))},
      v4_from(place->pos)
  };
}

/* From the foot to its goal: translation and rotation vector. */
typedef struct pose_error {
  v4 translation, rotation;
} pose_error;

static pose_error pose_error_of(const bent *now, const goal *place) {
  return (pose_error){v4_sub(place->foot, now->foot),
                      v4_from(rotation_between(&now->rot, &place->rot))};
}

typedef struct residual {
  double r[N];
  double jacobian[N][N]; /* [joint][component]: how the foot moves */
  double size;           /* maximum of |translation| and |rotation| */
} residual;

static void fill_residual(const bent *leg_now, const pose_error *error, residual *now) {
  v3_store(v4_to(error->translation), now->r);
  v3_store(v4_to(error->rotation), now->r + 3);
  now->size = sqrt(tbi_max(v4_dot(error->translation, error->translation),
                           v4_dot(error->rotation, error->rotation)));
  for (int i = 0; i < N; ++i) {
    v4 arm = v4_sub(leg_now->foot, leg_now->point[i]);
    v3_store(v4_to(v4_cross(leg_now->axis[i], arm)), now->jacobian[i]);
    v3_store(v4_to(leg_now->axis[i]), now->jacobian[i] + 3);
  }
}

static void measure(const tbi_leg *leg, const goal *place, const double *angle, residual *now) {
  bent leg_now;
  bend(leg, angle, &leg_now);
  pose_error error = pose_error_of(&leg_now, place);
  fill_residual(&leg_now, &error, now);
}

static double squared(const double *r) {
  double sum = 0;
  for (int i = 0; i < N; ++i)
    sum += r[i] * r[i];
  return sum;
}

/* The damped step; joints at a limit are fixed. */
static void damped_step(const residual *now, double damping, const bool *at_limit, double *step) {
  double matrix[N][N];
  for (int i = 0; i < N; ++i) {
    step[i] = at_limit[i] ? 0 : tbi_dot(now->jacobian[i], now->r, N);
    for (int j = 0; j <= i; ++j)
      matrix[i][j] =
          at_limit[i] || at_limit[j] ? 0 : tbi_dot(now->jacobian[i], now->jacobian[j], N);
    matrix[i][i] += at_limit[i] ? 1 : damping;
  }
  tbi_cholesky(N, matrix[0], N);
  tbi_cholesky_solve(N, matrix[0], N, step);
}

/* Whether no limit was in the way. */
static bool move(const tbi_leg *leg, const double *angle, const double *step, double *to) {
  bool whole = true;
  for (int i = 0; i < N; ++i) {
    double target = angle[i] + step[i];
    to[i] = tbi_min(tbi_max(target, leg->lower[i]), leg->upper[i]);
    whole = whole && to[i] == target;
  }
  return whole;
}

static bool find_joints_at_limits(const tbi_leg *leg, const residual *now, const double *angle,
                                  bool *at_limit) {
  bool any = false;
  for (int i = 0; i < N; ++i) {
    at_limit[i] = false;
    if (angle[i] > leg->lower[i] && angle[i] < leg->upper[i]) continue;
    double pull = tbi_dot(now->jacobian[i], now->r, N);
    at_limit[i] =
        (angle[i] <= leg->lower[i] && pull < 0) || (angle[i] >= leg->upper[i] && pull > 0);
    any = any || at_limit[i];
  }
  return any;
}

/* Whether a step converges: it is short, and removes the residual to first order. */
static bool converges(const residual *now, const double *step) {
  for (int k = 0; k < N; ++k) {
    double left = now->r[k];
    for (int i = 0; i < N; ++i)
      left -= now->jacobian[i][k] * step[i];
    if (fabs(left) > 0.1 * TOLERANCE || fabs(step[k]) > SHORT) return false;
  }
  return true;
}

/* The share of each column in a sum of three, by Cramer; none of them is finite if the columns lie
 * in a plane. */
static void shares(const v4 *column, v4 sum, double *share) {
  v4 across = v4_cross(column[1], column[2]);
  v4 beside = v4_cross(column[0], sum);
  double scale = 1 / v4_dot(column[0], across);
  share[0] = scale * v4_dot(sum, across);
  share[1] = scale * v4_dot(beside, column[2]);
  share[2] = -scale * v4_dot(beside, column[1]);
}

/* Newton's step of a leg whose first three axes meet; whether it is short and keeps the limits. */
static bool step_about_hip(const tbi_leg *leg, const bent *now, const pose_error *error,
                           double *angle) {
  v4 hip = now->point[0];
  v4 column[3];
  double step[N];
  for (int i = 0; i < 3; ++i)
    column[i] = v4_cross(now->axis[3 + i], v4_sub(hip, now->point[3 + i]));
  v4 moved = v4_add(error->translation, v4_cross(error->rotation, v4_sub(hip, now->foot)));
  shares(column, moved, step + 3);
  v4 rotation = error->rotation;
  for (int i = 3; i < N; ++i)
    rotation = v4_axpy(rotation, -step[i], now->axis[i]);
  shares(now->axis, rotation, step);
  double to[N];
  bool good = move(leg, angle, step, to);
  for (int i = 0; i < N; ++i)
    good = good && fabs(step[i]) <= SHORT;
  if (good) memcpy(angle, to, sizeof to);
  return good;
}

/* From where the residual is known already. */
static bool descend(const tbi_leg *leg, const goal *target, residual *first, double *angle) {
  residual other;
  residual *now = first;
  residual *next = &other;
  double damping = tbi_min(1e-6, tbi_max(now->size * now->size, 1e-14));
  for (int i = 0; i < MAX_STEPS && now->size > CONVERGED; ++i) {
    bool at_limit[N];
    double step[N];
    double to[N];
    bool free = !find_joints_at_limits(leg, now, angle, at_limit);
    damped_step(now, damping, at_limit, step);
    free = move(leg, angle, step, to) && free;
    if (free && converges(now, step)) {
      memcpy(angle, to, sizeof to);
      return true;
    }
    measure(leg, target, to, next);
    if (squared(next->r) < squared(now->r)) {
      residual *last = now;
      now = next;
      next = last;
      memcpy(angle, to, sizeof to);
      damping = tbi_max(tbi_min(damping * 0.1, now->size * now->size), 1e-14);
    } else {
      /* nothing better to be found beside rounding */
      if (now->size < TOLERANCE) break;
      damping = tbi_min(tbi_max(damping * 10, 1e-7), 1e3);
    }
  }
  return now->size <= TOLERANCE;
}

bool tbi_leg_solve(const tbi_leg *leg, const tbi_frame *place, double *angle) {
  TBI_CHECK_SLOW(fabs(v3_norm(m3_column(&place->rot, 0)) - 1) < 1e-6);
  const double none[N] = {0};
  goal target = goal_of(leg, place);
  bent start;
  (void)move(leg, angle, none, angle);
  bend(leg, angle, &start);
  pose_error error = pose_error_of(&start, &target);
  if (leg->meets && step_about_hip(leg, &start, &error, angle)) return true;
  residual first;
  fill_residual(&start, &error, &first);
  return descend(leg, &target, &first, angle);
}

static double between(uint64_t *random, double lower, double upper) {
  double low = fmax(lower, -1.5);
  double high = fmin(upper, 1.5);
  return low + (high - low) * tbi_random_unit(random);
}

bool tbi_leg_search(const tbi_leg *leg, const tbi_frame *place, double *angle) {
  uint64_t random = 1;
  double best[N];
  memcpy(best, angle, sizeof best);
  if (tbi_leg_solve(leg, place, angle)) return true;
  for (int start = 0; start < MAX_STARTS; ++start) {
    double trial[N];
    for (int i = 0; i < N; ++i)
      trial[i] = between(&random, leg->lower[i], leg->upper[i]);
    if (!tbi_leg_solve(leg, place, trial)) continue;
    memcpy(angle, trial, sizeof trial);
    return true;
  }
  memcpy(angle, best, sizeof best);
  return false;
}

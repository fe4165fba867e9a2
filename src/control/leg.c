/* leg.c - see leg.h.
 *
 * General instead of by formulas for one order of axes: any six hinges in a row will do.  The
 * residual r(angle) is the vector from the foot to its place and the rotation between them, and
 *
 *   (J'J + damping 1) step = J' r
 *
 * with damping that falls tenfold when the residual does and rises when it does not, so the end is
 * quadratic.  Joints that stand at a limit and would leave it take no part in a step. */
#include "control/leg.h"

#include "base/error.h"
#include "base/random.h"
#include "math/linalg.h"

#include <string.h>

enum { N = TBI_LEG_JOINTS, MAX_PATH = 64, MAX_STEPS = 100, MAX_STARTS = 50 };
#define GOAL   1e-13 /* stop here */
#define MISSED 1e-10

static bool turns(tabi_joint_type type) {
  return type == TABI_JOINT_REVOLUTE || type == TABI_JOINT_CONTINUOUS;
}

static tbi_frame turned(v3 axis, double angle) {
  return (tbi_frame){q_matrix(q_exp(v3_scale(angle, axis))), v3_zero()};
}

/* The joints from the foot up to the waist; -1 when the waist is not above the foot. */
static int32_t climb(const tabi_model *model, int32_t waist, int32_t foot, int32_t *path) {
  int32_t count = 0;
  for (int32_t link = foot; link != waist; count++) {
    int32_t joint = link == TABI_WORLD ? TABI_NONE : tabi_model_link_joint(model, link);
    if (joint == TABI_NONE || count == MAX_PATH) return -1;
    path[count] = joint;
    link = tabi_model_joint(model, joint).parent;
  }
  return count;
}

/* What a joint that is no part of the leg does to the frame behind it. */
static tbi_frame standing(const tabi_model *model, int32_t joint, const double *q) {
  tabi_joint_def def = tabi_model_joint(model, joint);
  double value =
      tabi_model_joint_q(model, joint).count == 1 ? q[tabi_model_joint_q(model, joint).first] : 0;
  if (turns(def.type)) return turned(v3_load(def.axis), value);
  tbi_frame frame = tbi_frame_identity();
  if (def.type == TABI_JOINT_PRISMATIC) frame.pos = v3_scale(value, v3_load(def.axis));
  return frame;
}

static void take_joint(const tabi_model *model, int32_t joint, tbi_leg *leg, int32_t i) {
  tabi_joint_def def = tabi_model_joint(model, joint);
  bool limited = def.type == TABI_JOINT_REVOLUTE;
  leg->joint[i] = joint;
  leg->axis[i] = v3_load(def.axis);
  leg->lower[i] = limited ? def.lower : -HUGE_VAL;
  leg->upper[i] = limited ? def.upper : HUGE_VAL;
}

tabi_status tbi_leg_find(const tabi_model *model, int32_t waist, int32_t foot, const double *q,
                         tbi_leg *leg, tabi_error *err) {
  const tabi_place nowhere = {NULL, 0};
  const char *name = tabi_model_link(model, foot).name;
  int32_t path[MAX_PATH];
  int32_t count = climb(model, waist, foot, path);
  if (count < 0) {
    return tbi_error_set(err, TABI_ERR_ARGUMENT, nowhere, "foot '%.80s' does not hang on the waist",
                         name);
  }
  int32_t found = 0;
  tbi_frame frame = tbi_frame_identity();
  for (int32_t i = count - 1; i >= 0; i--) {
    tabi_joint_def def = tabi_model_joint(model, path[i]);
    tbi_frame own = tbi_frame_load(def.pos, def.quat);
    frame = tbi_frame_mul(&frame, &own);
    if (found < N && turns(def.type)) {
      leg->before[found] = frame;
      take_joint(model, path[i], leg, found++);
      frame = tbi_frame_identity();
    } else {
      tbi_frame still = standing(model, path[i], q);
      frame = tbi_frame_mul(&frame, &still);
    }
  }
  leg->after = frame;
  if (found == N) return TABI_OK;
  return tbi_error_set(err, TABI_ERR_ARGUMENT, nowhere,
                       "the leg to foot '%.80s' has %d joints that turn; six are needed", name,
                       (int)found);
}

/* The foot, and for each joint its axis and a point on it, all in the waist's frame. */
static tbi_frame forward(const tbi_leg *leg, const double *angle, v3 *axis, v3 *point) {
  tbi_frame frame = tbi_frame_identity();
  for (int i = 0; i < N; i++) {
    tbi_frame turn = turned(leg->axis[i], angle[i]);
    frame = tbi_frame_mul(&frame, &leg->before[i]);
    axis[i] = m3_mulv(&frame.rot, leg->axis[i]);
    point[i] = frame.pos;
    frame = tbi_frame_mul(&frame, &turn);
  }
  return tbi_frame_mul(&frame, &leg->after);
}

tbi_frame tbi_leg_forward(const tbi_leg *leg, const double *angle) {
  v3 axis[N];
  v3 point[N];
  return forward(leg, angle, axis, point);
}

/* The rotation vector from one attitude to another. */
static v3 rotation_between(const m3 *from, const m3 *to) {
  m3 back = m3_transpose(from);
  m3 turn = m3_mul(to, &back);
  q4 q = q_from_matrix(&turn);
  v3 part = {q.x, q.y, q.z};
  double sine = v3_norm(part);
  double angle = 2 * atan2(sine, q.w);
  return v3_scale(sine > 1e-9 ? angle / sine : 2, part);
}

typedef struct residual {
  double r[N];
  double jacobian[N][N]; /* [joint][component]: how the foot moves */
  double size;           /* the worse of |place missed| and |rotation missed| */
} residual;

static residual measure(const tbi_leg *leg, const tbi_frame *place, const double *angle) {
  v3 axis[N];
  v3 point[N];
  tbi_frame foot = forward(leg, angle, axis, point);
  residual now;
  v3 missed = v3_sub(place->pos, foot.pos);
  v3 turn = rotation_between(&foot.rot, &place->rot);
  v3_store(missed, now.r);
  v3_store(turn, now.r + 3);
  now.size = fmax(v3_norm(missed), v3_norm(turn));
  for (int i = 0; i < N; i++) {
    v3_store(v3_cross(axis[i], v3_sub(foot.pos, point[i])), now.jacobian[i]);
    v3_store(axis[i], now.jacobian[i] + 3);
  }
  return now;
}

static double squared(const double *r) {
  double sum = 0;
  for (int i = 0; i < N; i++)
    sum += r[i] * r[i];
  return sum;
}

static double dot(const double *a, const double *b) {
  double sum = 0;
  for (int i = 0; i < N; i++)
    sum += a[i] * b[i];
  return sum;
}

/* The damped step; the joints of `held` stay. */
static void damped_step(const residual *now, double damping, const bool *held, double *step) {
  double matrix[N][N];
  for (int i = 0; i < N; i++) {
    step[i] = held[i] ? 0 : dot(now->jacobian[i], now->r);
    for (int j = 0; j <= i; j++)
      matrix[i][j] = held[i] || held[j] ? 0 : dot(now->jacobian[i], now->jacobian[j]);
    matrix[i][i] += held[i] ? 1 : damping;
  }
  tbi_cholesky(N, matrix[0], N);
  tbi_cholesky_solve(N, matrix[0], N, step);
}

static void move(const tbi_leg *leg, const double *angle, const double *step, double *to) {
  for (int i = 0; i < N; i++)
    to[i] = fmin(fmax(angle[i] + step[i], leg->lower[i]), leg->upper[i]);
}

static void hold_limits(const tbi_leg *leg, const residual *now, const double *angle, bool *held) {
  for (int i = 0; i < N; i++) {
    double pull = dot(now->jacobian[i], now->r);
    held[i] = (angle[i] <= leg->lower[i] && pull < 0) || (angle[i] >= leg->upper[i] && pull > 0);
  }
}

bool tbi_leg_solve(const tbi_leg *leg, const tbi_frame *place, double *angle) {
  const double none[N] = {0};
  move(leg, angle, none, angle);
  residual now = measure(leg, place, angle);
  double damping = 1e-6;
  for (int i = 0; i < MAX_STEPS && now.size > GOAL; i++) {
    bool held[N];
    double step[N];
    double to[N];
    hold_limits(leg, &now, angle, held);
    damped_step(&now, damping, held, step);
    move(leg, angle, step, to);
    residual next = measure(leg, place, to);
    if (squared(next.r) < squared(now.r)) {
      now = next;
      memcpy(angle, to, sizeof to);
      damping = fmax(damping * 0.1, 1e-14);
    } else {
      /* nothing better to be found beside rounding */
      if (now.size < MISSED) break;
      damping = fmin(damping * 10, 1e3);
    }
  }
  return now.size <= MISSED;
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
  for (int start = 0; start < MAX_STARTS; start++) {
    double trial[N];
    for (int i = 0; i < N; i++)
      trial[i] = between(&random, leg->lower[i], leg->upper[i]);
    if (!tbi_leg_solve(leg, place, trial)) continue;
    memcpy(angle, trial, sizeof trial);
    return true;
  }
  memcpy(angle, best, sizeof best);
  return false;
}

/* try_posture.c - a posture that limits and couplings of joints and connections allow.
 *
 * A joint that starts outside its limits would be thrown into them, one that starts beside the
 * joint it follows would be thrown there: energy from nowhere. */
#include "try/try_posture.h"

#include "try/try_close.h"

#include <math.h>

#define INSIDE 0.01 /* rad or m from a limit */

static void enter_limits(const tabi_model *model, int32_t joint, double *q) {
  tabi_joint_def def = tabi_model_joint(model, joint);
  tabi_range range = tabi_model_joint_q(model, joint);
  if (range.count != 1 || !(def.lower <= def.upper)) return;
  double *x = q + range.first;
  double room = fmin(INSIDE, 0.5 * (def.upper - def.lower));
  if (*x < def.lower || *x > def.upper) *x = fmax(def.lower + room, fmin(def.upper - room, *x));
}

/* Where a coupling wants its joint, in *to; false for those of tendons. */
static bool find_follower(const tabi_model *model, int32_t coupling, const double *q, int32_t *to,
                          double *wanted) {
  tabi_coupling_def c = tabi_model_coupling(model, coupling);
  if (c.joint == TABI_NONE) return false;
  tabi_range follower = tabi_model_joint_q(model, c.joint);
  tabi_range from = c.leader == TABI_NONE ? (tabi_range){0} : tabi_model_joint_q(model, c.leader);
  double x = from.count == 1 ? q[from.first] : 0;
  *wanted = c.coef[0] + x * (c.coef[1] + x * (c.coef[2] + x * (c.coef[3] + x * c.coef[4])));
  *to = follower.first;
  return follower.count == 1;
}

/* Leaders may follow others: as often as there are couplings, at most. */
static void follow_leaders(const tabi_model *model, double *q) {
  int32_t count = tabi_model_ncoupling(model);
  bool changed = true;
  for (int32_t pass = 0; pass < count && changed; ++pass) {
    changed = false;
    for (int32_t i = 0; i < count; ++i) {
      int32_t to;
      double wanted;
      if (!find_follower(model, i, q, &to, &wanted) || wanted == q[to]) continue;
      q[to] = wanted;
      changed = true;
    }
  }
}

int32_t tbi_try_open_coupling(const tabi_model *model, const double *q, double *gap) {
  int32_t widest = TABI_NONE;
  *gap = 0;
  for (int32_t i = 0; i < tabi_model_ncoupling(model); ++i) {
    int32_t to;
    double wanted;
    if (!find_follower(model, i, q, &to, &wanted) || !(fabs(q[to] - wanted) > *gap)) continue;
    *gap = fabs(q[to] - wanted);
    widest = i;
  }
  return widest;
}

bool tbi_try_posture(const tabi_model *model, int32_t keyframe, double *q, double *open) {
  tabi_model_initial_q(model, q);
  if (keyframe != TABI_NONE) (void)tabi_model_posture(model, keyframe, q, NULL);
  for (int32_t i = 0; i < tabi_model_njoint(model); ++i)
    enter_limits(model, i, q);
  follow_leaders(model, q);
  return tbi_try_close(model, q, open);
}

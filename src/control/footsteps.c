/* footsteps.c - see footsteps.h. */
#include "control/footsteps.h"

#include "base/assertion.h"
#include "base/error.h"

#include <stdlib.h>

tabi_footstep tabi_footstep_default(void) {
  return (tabi_footstep){.single_support = 0.75, .double_support = 0.1, .lift = 0.05};
}

tabi_footstep tabi_footstep_arc(double radius, double angle) {
  tabi_footstep step = tabi_footstep_default();
  step.forward = radius * sin(angle);
  step.sideways = radius * (1 - cos(angle));
  step.turn = angle;
  return step;
}

/* A place moved by x forward and y to the left. */
static tbi_foot_place moved(const tbi_foot_place *from, double x, double y, double turn) {
  double c = cos(from->yaw);
  double s = sin(from->yaw);
  v3 way = {c * x - s * y, s * x + c * y, 0};
  return (tbi_foot_place){v3_add(from->pos, way), from->yaw + turn};
}

/* How far a foot is to the left of the middle. */
static double offset(tabi_side side, double spacing) {
  TBI_ASSERT(side == TABI_LEFT || side == TABI_RIGHT);
  return side == TABI_LEFT ? spacing / 2 : -spacing / 2;
}

static bool is_valid(const tabi_footstep *step) {
  return isfinite(step->forward) && isfinite(step->sideways) && isfinite(step->turn) &&
         isfinite(step->lift) && step->lift >= 0 && isfinite(step->single_support) &&
         step->single_support > 0 && isfinite(step->double_support) && step->double_support > 0;
}

/* Lateral distance of the feet, across their mean direction; negative when they have crossed. */
static double separation(const tbi_stride *stride) {
  double yaw = 0.5 * (stride->to.yaw + stride->stance.yaw);
  v3 way = v3_sub(stride->to.pos, stride->stance.pos);
  double left = -sin(yaw) * way.x + cos(yaw) * way.y;
  return stride->swing == TABI_LEFT ? left : -left;
}

static tabi_status check(const tbi_plan_def *def, int32_t i, const tbi_stride *stride,
                         tabi_error *err) {
  const tabi_place nowhere = {NULL, 0};
  if (!is_valid(&def->walk->step[i])) {
    return tbi_error_set(err, TABI_ERR_ARGUMENT, nowhere,
                         "step %d: must be finite, with both supports longer than 0 and a lift of "
                         "at least 0; start from tabi_footstep_default()",
                         (int)i + 1);
  }
  if (separation(stride) >= def->clearance) return TABI_OK;
  return tbi_error_set(err, TABI_ERR_ARGUMENT, nowhere,
                       "step %d: the feet come to stand %.3f m apart and need %.3f m; step "
                       "sideways with the other foot",
                       (int)i + 1, separation(stride), def->clearance);
}

tabi_status tbi_plan_make(tbi_plan *plan, const tbi_plan_def *def, tabi_error *err) {
  TBI_ASSERT(def->walk->nstep >= 0 && (def->walk->nstep == 0 || def->walk->step));
  const tabi_walk_def *walk = def->walk;
  *plan = (tbi_plan){.nstride = walk->nstep};
  plan->stride = calloc((size_t)walk->nstep + 1, sizeof *plan->stride);
  if (!plan->stride) return tbi_error_memory(err);
  tbi_foot_place foot[2];
  for (int side = 0; side < 2; ++side)
    foot[side] = moved(&def->middle, 0, offset((tabi_side)side, def->spacing), 0);
  plan->initial[0] = foot[0];
  plan->initial[1] = foot[1];
  tabi_side swing = walk->first;
  double time = walk->stand_before;
  for (int32_t i = 0; i < walk->nstep; ++i) {
    const tabi_footstep *step = &walk->step[i];
    tabi_side stance = swing == TABI_LEFT ? TABI_RIGHT : TABI_LEFT;
    /* the middle beside the stance foot moves, and the swing foot is put down beside it */
    tbi_foot_place middle = moved(&foot[stance], 0, -offset(stance, def->spacing), 0);
    middle = moved(&middle, step->forward, step->sideways, step->turn);
    plan->stride[i] = (tbi_stride){.swing = swing,
                                   .from = foot[swing],
                                   .to = moved(&middle, 0, offset(swing, def->spacing), 0),
                                   .stance = foot[stance],
                                   .start = time,
                                   .lift_off = time + step->double_support,
                                   .land = time + step->double_support + step->single_support,
                                   .lift = step->lift};
    tabi_status status = check(def, i, &plan->stride[i], err);
    if (status != TABI_OK) return status;
    foot[swing] = plan->stride[i].to;
    time = plan->stride[i].land;
    plan->shift = step->double_support;
    swing = stance;
  }
  plan->stopped = time + plan->shift;
  plan->end = plan->stopped + walk->stand_after;
  return TABI_OK;
}

void tbi_plan_free(tbi_plan *plan) {
  free(plan->stride);
  plan->stride = NULL;
}

/* The step in progress, or the last one before; -1 before the first. */
static int32_t stride_at(const tbi_plan *plan, double time) {
  TBI_ASSERT(plan->nstride == 0 || plan->stride);
  int32_t low = -1;
  int32_t high = plan->nstride;
  while (high - low > 1) {
    int32_t middle = low + (high - low) / 2;
    if (plan->stride[middle].start <= time) {
      low = middle;
    } else {
      high = middle;
    }
  }
  return low;
}

static v3 middle_of(const tbi_foot_place *a, const tbi_foot_place *b) {
  return v3_scale(0.5, v3_add(a->pos, b->pos));
}

static v3 zmp_at(const tbi_plan *plan, int32_t index, double time) {
  if (index < 0) return middle_of(&plan->initial[0], &plan->initial[1]);
  const tbi_stride *stride = &plan->stride[index];
  v3 from = index > 0 ? stride[-1].stance.pos : middle_of(&plan->initial[0], &plan->initial[1]);
  v3 to = stride->stance.pos;
  double share = (time - stride->start) / (stride->lift_off - stride->start);
  if (time > stride->land) {
    from = to;
    to = middle_of(&stride->to, &stride->stance);
    share = (time - stride->land) / plan->shift;
  }
  return v3_axpy(from, tbi_min(tbi_max(share, 0), 1), v3_sub(to, from));
}

tbi_plan_state tbi_plan_at(const tbi_plan *plan, double time) {
  int32_t index = stride_at(plan, time);
  tbi_plan_state now = {
      .foot = {plan->initial[0], plan->initial[1]}
  };
  if (index >= 0) {
    const tbi_stride *stride = &plan->stride[index];
    double share = (time - stride->lift_off) / (stride->land - stride->lift_off);
    now.lifted[stride->swing] = share > 0 && share < 1;
    now.foot[stride->swing] =
        tbi_swing(&stride->from, &stride->to, stride->lift, tbi_min(tbi_max(share, 0), 1));
    now.foot[stride->swing == TABI_LEFT ? TABI_RIGHT : TABI_LEFT] = stride->stance;
  }
  v3 zmp = zmp_at(plan, index, time);
  now.zmp[0] = zmp.x;
  now.zmp[1] = zmp.y;
  return now;
}

double tbi_plan_left_share(const tbi_plan_state *plan, const double zmp[2]) {
  TBI_ASSERT(!plan->lifted[TABI_LEFT] || !plan->lifted[TABI_RIGHT]);
  if (plan->lifted[TABI_LEFT]) return 0;
  if (plan->lifted[TABI_RIGHT]) return 1;
  v3 right = plan->foot[TABI_RIGHT].pos;
  v3 way = v3_sub(plan->foot[TABI_LEFT].pos, right);
  double along = way.x * (zmp[0] - right.x) + way.y * (zmp[1] - right.y);
  return tbi_min(tbi_max(along / (way.x * way.x + way.y * way.y), 0), 1);
}

/* lane_read.h - numbers of one world of a group, one by one: what sensors and ground need. */
#ifndef TBI_LANE_READ_H
#define TBI_LANE_READ_H

#include "base/assertion.h"
#include "batch/lane_work.h"
#include "model/model.h"

/* Number i of an array, in one lane. */
static inline double tbi_lane_at(const tbi_lane_work *w, const double *array, int64_t i,
                                 int32_t lane) {
  return array[i * w->lanes + lane];
}

static inline v3 tbi_lane_at3(const tbi_lane_work *w, const double *array, int64_t i,
                              int32_t lane) {
  return v3_make(tbi_lane_at(w, array, i, lane), tbi_lane_at(w, array, i + 1, lane),
                 tbi_lane_at(w, array, i + 2, lane));
}

/* The origin of the tree of a body of the plan; that of the world. */
static inline v3 tbi_lane_origin(const tbi_lane_work *w, int32_t place, int32_t lane) {
  if (place == TABI_WORLD) return v3_zero();
  return tbi_lane_at3(w, w->origin, 3 * (int64_t)w->plan->body[place].tree, lane);
}

/* A body at the start of the step; accelerations are those of the step. */
typedef struct tbi_lane_pose {
  m3 rot;
  v3 pos;                        /* from the origin of its tree */
  v3 lin, ang, acc_lin, acc_ang; /* accelerations minus gravity */
} tbi_lane_pose;

/* Of a body that keeps its pose, or of the world. */
static inline tbi_lane_pose tbi_lane_pose_of(const tbi_lane_work *w, int32_t place, int32_t lane) {
  if (place == TABI_WORLD)
    return (tbi_lane_pose){.rot = m3_identity(),
                           .acc_lin = v3_neg(tbi_lane_at3(w, w->gravity, 0, lane))};
  TBI_ASSERT(w->plan->body[place].keeps_pose);
  int64_t from = 24 * (int64_t)place;
  double per_s = 1 / w->plan->h;
  v3 gain_lin = tbi_lane_at3(w, w->gain, 6 * (int64_t)place, lane);
  v3 gain_ang = tbi_lane_at3(w, w->gain, 6 * (int64_t)place + 3, lane);
  return (tbi_lane_pose){
      .rot = m3_from_columns(tbi_lane_at3(w, w->kept, from, lane),
                             tbi_lane_at3(w, w->kept, from + 3, lane),
                             tbi_lane_at3(w, w->kept, from + 6, lane)),
      .pos = tbi_lane_at3(w, w->kept, from + 9, lane),
      .lin = tbi_lane_at3(w, w->kept, from + 12, lane),
      .ang = tbi_lane_at3(w, w->kept, from + 15, lane),
      .acc_lin = v3_axpy(tbi_lane_at3(w, w->kept, from + 18, lane), per_s, gain_lin),
      .acc_ang = v3_axpy(tbi_lane_at3(w, w->kept, from + 21, lane), per_s, gain_ang),
  };
}

/* Acceleration minus gravity of a point that moves with a body. */
static inline v3 tbi_lane_acceleration(const tbi_lane_pose *body, v3 arm) {
  v3 velocity = v3_add(body->lin, v3_cross(body->ang, arm));
  v3 turning = v3_cross(body->ang, velocity);
  return v3_add(v3_add(body->acc_lin, v3_cross(body->acc_ang, arm)), turning);
}

#endif

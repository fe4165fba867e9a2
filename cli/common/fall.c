/* fall.c - the bases of robots compared with their initial state. */
#include "common/fall.h"

#include <stdlib.h>

/* The z axis of a link, by its quaternion. */
static void z_axis(const double quat[4], double axis[3]) {
  axis[0] = 2 * (quat[1] * quat[3] + quat[0] * quat[2]);
  axis[1] = 2 * (quat[2] * quat[3] - quat[0] * quat[1]);
  axis[2] = 1 - 2 * (quat[1] * quat[1] + quat[2] * quat[2]);
}

static void base_state(const tbi_fall *fall, const tabi_dynamics *dynamics, int32_t robot,
                       double state[4]) {
  double pos[3];
  double quat[4];
  int32_t base = tabi_scene_get_robot(fall->scene, robot).base;
  tabi_dynamics_link_pose(dynamics, base, pos, quat);
  state[0] = pos[2];
  z_axis(quat, state + 1);
}

bool tbi_fall_begin(tbi_fall *fall, const tabi_scene *scene, const tabi_dynamics *dynamics) {
  int32_t nrobot = tabi_scene_nrobot(scene);
  *fall = (tbi_fall){.scene = scene};
  fall->start = calloc((size_t)nrobot + 1, sizeof *fall->start);
  if (!fall->start) return false;
  for (int32_t i = 0; i < nrobot; ++i)
    base_state(fall, dynamics, i, fall->start[i]);
  return true;
}

void tbi_fall_free(tbi_fall *fall) {
  free(fall->start);
  fall->start = NULL;
}

bool tbi_fall_lies(const tbi_fall *fall, const tabi_dynamics *dynamics) {
  for (int32_t i = 0; i < tabi_scene_nrobot(fall->scene); ++i) {
    double now[4];
    const double *start = fall->start[i];
    base_state(fall, dynamics, i, now);
    double upright = now[1] * start[1] + now[2] * start[2] + now[3] * start[3];
    if ((start[0] > 0 && now[0] < start[0] / 2) || upright < 0.5) return true;
  }
  return false;
}

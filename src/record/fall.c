/* fall.c - centres of mass and bases of robots compared with their initial state.
 *
 * The height is that of the centre of mass above the fixed ground below it, not z: the root of a
 * robot may lie between its feet, and the ground at any height.  Rays look for the ground and pass
 * what moves. */
#include "base/assertion.h"
#include "base/error.h"
#include "math/quat.h"
#include "tabi/tabi_record.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct tabi_fall {
  const tabi_scene *scene;
  tabi_world *ground; /* for rays; stays in its initial state, or NULL: there is no robot */
  tabi_stance *start; /* of every robot */
};

/* whether a link is part of a robot: "robot/link" */
static bool belongs(const char *link, const char *robot) {
  size_t length = strlen(robot);
  return link && strncmp(link, robot, length) == 0 && link[length] == '/';
}

static v3 centre_of(const tabi_fall *fall, const tabi_dynamics *dynamics, const char *robot) {
  const tabi_model *model = tabi_scene_model(fall->scene);
  double mass = 0;
  v3 sum = {0, 0, 0};
  for (int32_t i = 0; i < tabi_model_nlink(model); ++i) {
    tabi_link_def link = tabi_model_link(model, i);
    if (!belongs(link.name, robot) || link.mass <= 0) continue;
    double pos[3];
    double quat[4];
    tabi_dynamics_link_pose(dynamics, i, pos, quat);
    m3 turn = q_matrix(q_load(quat));
    v3 at = v3_add(v3_load(pos), m3_mulv(&turn, v3_load(link.com)));
    mass += link.mass;
    sum = v3_add(sum, v3_scale(link.mass, at));
  }
  return mass > 0 ? v3_scale(1 / mass, sum) : sum;
}

/* otherwise: the ground where there is none below the robot */
static tabi_stance stance_of(const tabi_fall *fall, const tabi_dynamics *dynamics, int32_t robot,
                             double otherwise) {
  tabi_scene_robot which = tabi_scene_get_robot(fall->scene, robot);
  double pos[3];
  double quat[4];
  double centre[3];
  tabi_dynamics_link_pose(dynamics, which.base, pos, quat);
  v3_store(centre_of(fall, dynamics, which.name), centre);
  double ground = tabi_world_ground_below(fall->ground, centre);
  tabi_stance stance = {.ground = isnan(ground) ? otherwise : ground};
  stance.height = centre[2] - stance.ground;
  m3 turn = q_matrix(q_load(quat));
  v3_store(m3_mulv(&turn, (v3){0, 0, 1}), stance.axis);
  return stance;
}

/* Where the scene starts, which may be far from where the files of its robots do. */
static bool find_start(tabi_fall *fall, const double *q, const double *v, tabi_error *err) {
  int32_t nrobot = tabi_scene_nrobot(fall->scene);
  if (nrobot == 0) return true;
  fall->ground = tabi_world_create(tabi_scene_model(fall->scene), NULL, err);
  if (!fall->ground || tabi_world_set_state(fall->ground, q, v, err) != TABI_OK) return false;
  fall->start = calloc((size_t)nrobot, sizeof *fall->start);
  if (!fall->start) return tbi_error_memory(err) == TABI_OK;
  for (int32_t i = 0; i < nrobot; ++i)
    fall->start[i] = stance_of(fall, tabi_world_dynamics(fall->ground), i, 0);
  return true;
}

tabi_fall *tabi_fall_create(const tabi_scene *scene, const double *q, const double *v,
                            tabi_error *err) {
  TBI_ASSERT(scene && q && v);
  tabi_fall *fall = calloc(1, sizeof *fall);
  if (!fall) {
    tbi_error_memory(err);
    return NULL;
  }
  fall->scene = scene;
  if (find_start(fall, q, v, err)) return fall;
  tabi_fall_destroy(fall);
  return NULL;
}

void tabi_fall_destroy(tabi_fall *fall) {
  if (!fall) return;
  free(fall->start);
  tabi_world_destroy(fall->ground);
  free(fall);
}

tabi_stance tabi_fall_start(const tabi_fall *fall, int32_t robot) {
  TBI_ASSERT(fall && robot >= 0 && robot < tabi_scene_nrobot(fall->scene));
  return fall->start[robot];
}

tabi_stance tabi_fall_stance(const tabi_fall *fall, const tabi_dynamics *dynamics, int32_t robot) {
  TBI_ASSERT(fall && dynamics && robot >= 0 && robot < tabi_scene_nrobot(fall->scene));
  return stance_of(fall, dynamics, robot, fall->start[robot].ground);
}

bool tabi_fall_lies(const tabi_fall *fall, const tabi_dynamics *dynamics) {
  TBI_ASSERT(fall && dynamics);
  for (int32_t i = 0; i < tabi_scene_nrobot(fall->scene); ++i) {
    tabi_scene_robot robot = tabi_scene_get_robot(fall->scene, i);
    if (robot.moving != robot.base) continue;
    const tabi_stance *start = &fall->start[i];
    tabi_stance now = tabi_fall_stance(fall, dynamics, i);
    double upright = v3_dot(v3_load(now.axis), v3_load(start->axis));
    if ((start->height > 0 && now.height < start->height / 2) || upright < 0.5) return true;
  }
  return false;
}

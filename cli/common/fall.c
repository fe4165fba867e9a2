/* fall.c - centres of mass and bases of robots compared with their initial state.
 *
 * The height is that of the centre of mass above the fixed ground below it, not z: the root of a
 * robot may lie between its feet, and the ground at any height.  Rays look for the ground, in a
 * world that stays in its initial state, and what moves is passed over: below a shape that the ray
 * meets, it goes on. */
#include "common/fall.h"

#include "common/extent.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_SHAPES = 64 }; /* that a ray passes */

/* The z axis of a link, by its quaternion. */
static void z_axis(const double quat[4], double axis[3]) {
  axis[0] = 2 * (quat[1] * quat[3] + quat[0] * quat[2]);
  axis[1] = 2 * (quat[2] * quat[3] - quat[0] * quat[1]);
  axis[2] = 1 - 2 * (quat[1] * quat[1] + quat[2] * quat[2]);
}

static bool is_fixed(const tabi_model *model, int32_t link) {
  return link == TABI_WORLD || tabi_model_link_body(model, link) == TABI_WORLD;
}

/* z of the fixed ground below a point; NAN: there is none */
static double ground_below(const tbi_fall *fall, const double point[3]) {
  const tabi_model *model = tabi_scene_model(fall->scene);
  const double down[3] = {0, 0, -1};
  double from[3] = {point[0], point[1], point[2]};
  for (int i = 0; i < MOST_SHAPES; ++i) {
    tabi_ray_hit hit;
    if (!tabi_world_ray(fall->ground, from, down, HUGE_VAL, &hit)) return (double)NAN;
    if (is_fixed(model, hit.link)) return hit.point[2];
    tbi_extent shape = tbi_extent_of_shape(model, tabi_world_dynamics(fall->ground), hit.shape);
    from[2] = fmin(shape.lower[2], hit.point[2]) - 1e-9;
  }
  return (double)NAN;
}

/* whether a link is part of a robot: "robot/link" */
static bool belongs(const char *link, const char *robot) {
  size_t length = strlen(robot);
  return link && strncmp(link, robot, length) == 0 && link[length] == '/';
}

/* where a point of a link is: p + c + 2 (w u x c + u x (u x c)) with the quaternion (w, u) */
static void place(const tabi_dynamics *dynamics, int32_t link, const double c[3], double to[3]) {
  double pos[3];
  double q[4];
  tabi_dynamics_link_pose(dynamics, link, pos, q);
  const double *u = q + 1;
  double a[3] = {u[1] * c[2] - u[2] * c[1], u[2] * c[0] - u[0] * c[2], u[0] * c[1] - u[1] * c[0]};
  double b[3] = {u[1] * a[2] - u[2] * a[1], u[2] * a[0] - u[0] * a[2], u[0] * a[1] - u[1] * a[0]};
  for (int k = 0; k < 3; ++k)
    to[k] = pos[k] + c[k] + 2 * (q[0] * a[k] + b[k]);
}

static void centre_of(const tbi_fall *fall, const tabi_dynamics *dynamics, const char *robot,
                      double centre[3]) {
  const tabi_model *model = tabi_scene_model(fall->scene);
  double mass = 0;
  double sum[3] = {0};
  for (int32_t i = 0; i < tabi_model_nlink(model); ++i) {
    tabi_link_def link = tabi_model_link(model, i);
    double at[3];
    if (!belongs(link.name, robot) || link.mass <= 0) continue;
    place(dynamics, i, link.com, at);
    mass += link.mass;
    for (int k = 0; k < 3; ++k)
      sum[k] += link.mass * at[k];
  }
  for (int k = 0; k < 3; ++k)
    centre[k] = mass > 0 ? sum[k] / mass : 0;
}

static tbi_stance stance_of(const tbi_fall *fall, const tabi_dynamics *dynamics,
                            const tabi_scene_robot *robot, double otherwise) {
  tbi_stance stance = {.ground = otherwise};
  double pos[3];
  double quat[4];
  double centre[3];
  tabi_dynamics_link_pose(dynamics, robot->base, pos, quat);
  centre_of(fall, dynamics, robot->name, centre);
  double ground = ground_below(fall, centre);
  if (!isnan(ground)) stance.ground = ground;
  stance.height = centre[2] - stance.ground;
  z_axis(quat, stance.axis);
  return stance;
}

/* Where the scene starts, which may be far from where the files of its robots do. */
static tabi_world *ground_of(const tabi_scene *scene, const tbi_fall_state *state,
                             tabi_error *err) {
  tabi_world *ground = tabi_world_create(tabi_scene_model(scene), NULL, err);
  if (ground && tabi_world_set_state(ground, state->q, state->v, err) == TABI_OK) return ground;
  tabi_world_destroy(ground);
  return NULL;
}

tabi_status tbi_fall_begin(tbi_fall *fall, const tabi_scene *scene, const tbi_fall_state *state,
                           tabi_error *err) {
  int32_t nrobot = tabi_scene_nrobot(scene);
  *fall = (tbi_fall){.scene = scene};
  if (nrobot == 0) return TABI_OK;
  fall->ground = ground_of(scene, state, err);
  if (!fall->ground) return err->status;
  fall->start = calloc((size_t)nrobot, sizeof *fall->start);
  if (!fall->start) {
    tbi_fall_free(fall);
    tbi_fail(err, TABI_ERR_MEMORY, (tabi_place){NULL, 0}, "out of memory");
    return TABI_ERR_MEMORY;
  }
  for (int32_t i = 0; i < nrobot; ++i) {
    tabi_scene_robot robot = tabi_scene_get_robot(scene, i);
    fall->start[i] = stance_of(fall, state->dynamics, &robot, 0);
  }
  return TABI_OK;
}

void tbi_fall_free(tbi_fall *fall) {
  free(fall->start);
  tabi_world_destroy(fall->ground);
  fall->start = NULL;
  fall->ground = NULL;
}

tbi_stance tbi_fall_stance(const tbi_fall *fall, const tabi_dynamics *dynamics, int32_t robot) {
  tabi_scene_robot which = tabi_scene_get_robot(fall->scene, robot);
  return stance_of(fall, dynamics, &which, fall->start[robot].ground);
}

bool tbi_fall_lies(const tbi_fall *fall, const tabi_dynamics *dynamics) {
  for (int32_t i = 0; i < tabi_scene_nrobot(fall->scene); ++i) {
    tabi_scene_robot robot = tabi_scene_get_robot(fall->scene, i);
    if (robot.moving != robot.base) continue;
    const tbi_stance *start = &fall->start[i];
    tbi_stance now = stance_of(fall, dynamics, &robot, start->ground);
    double upright =
        now.axis[0] * start->axis[0] + now.axis[1] * start->axis[1] + now.axis[2] * start->axis[2];
    if ((start->height > 0 && now.height < start->height / 2) || upright < 0.5) return true;
  }
  return false;
}

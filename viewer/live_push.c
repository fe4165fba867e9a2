/* live_push.c - a damped spring between a point of a link and the pointer of a viewer.
 *
 * With stiffness k and damping d, and the mass m that the point has, the force is that of the end
 * of the step, f = k (target - x - h v') - d v' with v' = v + h f / m (implicit Euler), so that the
 * spring is stable on light links.  m is 1 over the trace of J M^-1 J', a lower bound of the
 * effective mass in every direction. */
#include "live_world.h"
#include "viewer_error.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define STRETCH 0.5  /* m, at which the spring pulls with the weight of the robot */
#define GRAVITY 9.81 /* m/s^2, of scenes without */

static int32_t root_of(const tabi_model *model, int32_t link) {
  for (;;) {
    int32_t joint = tabi_model_link_joint(model, link);
    int32_t parent = joint == TABI_NONE ? TABI_WORLD : tabi_model_joint(model, joint).parent;
    if (parent == TABI_WORLD) return link;
    link = parent;
  }
}

/* kg, of the tree that a link belongs to */
static double tree_mass(const tabi_model *model, int32_t link) {
  int32_t root = root_of(model, link);
  double mass = 0;
  for (int32_t i = 0; i < tabi_model_nlink(model); ++i) {
    if (root_of(model, i) == root) mass += tabi_model_link(model, i).mass;
  }
  return mass;
}

static double gravity_of(const tabi_scene *scene) {
  tabi_world_def def = tabi_scene_world_def(scene);
  double size = sqrt(def.gravity[0] * def.gravity[0] + def.gravity[1] * def.gravity[1] +
                     def.gravity[2] * def.gravity[2]);
  return size > 0 ? size : GRAVITY;
}

/* v rotated by a quaternion (w, x, y, z). */
static void rotate(const double q[4], const double v[3], double out[3]) {
  double t[3] = {2 * (q[2] * v[2] - q[3] * v[1]), 2 * (q[3] * v[0] - q[1] * v[2]),
                 2 * (q[1] * v[1] - q[2] * v[0])};
  out[0] = v[0] + q[0] * t[0] + q[2] * t[2] - q[3] * t[1];
  out[1] = v[1] + q[0] * t[1] + q[3] * t[0] - q[1] * t[2];
  out[2] = v[2] + q[0] * t[2] + q[1] * t[1] - q[2] * t[0];
}

/* The point in the world, and its velocity. */
static void find_point(const tabi_dynamics *d, const tbi_live_push *push, double point[3],
                       double velocity[3]) {
  double origin[3];
  double quat[4];
  double arm[3];
  double lin[3];
  double ang[3];
  tabi_dynamics_link_pose(d, push->link, origin, quat);
  tabi_dynamics_link_velocity(d, push->link, lin, ang);
  rotate(quat, push->point, arm);
  for (int i = 0; i < 3; ++i)
    point[i] = origin[i] + arm[i];
  velocity[0] = lin[0] + ang[1] * arm[2] - ang[2] * arm[1];
  velocity[1] = lin[1] + ang[2] * arm[0] - ang[0] * arm[2];
  velocity[2] = lin[2] + ang[0] * arm[1] - ang[1] * arm[0];
}

/* 1/kg: the trace of J M^-1 J', by the accelerations that forces of 1 N add. */
static double mobility(tabi_dynamics *d, int32_t nv, const double *jacobian, double *work) {
  double *unloaded = work;
  double *loaded = work + nv;
  double trace = 0;
  tabi_dynamics_forward(d, NULL, unloaded);
  for (int axis = 0; axis < 3; ++axis) {
    const double *row = jacobian + (ptrdiff_t)axis * nv;
    tabi_dynamics_forward(d, row, loaded);
    for (int32_t i = 0; i < nv; ++i)
      trace += row[i] * (loaded[i] - unloaded[i]);
  }
  return trace;
}

static tabi_status find_mass(tbi_live_world *live, tbi_live_push *push, tabi_error *err) {
  int32_t nv = tabi_model_nv(tabi_scene_model(live->scene));
  double *work = calloc(5 * (size_t)nv, sizeof *work);
  tabi_dynamics *d = tabi_dynamics_create(tabi_scene_model(live->scene), err);
  if (!work || !d) {
    bool refused = work && err && err->status == TABI_ERR_MODEL;
    free(work);
    tabi_dynamics_destroy(d);
    return refused ? err->status : tbi_memory_error(err);
  }
  tabi_dynamics_set_state(d, tabi_world_q(live->world), tabi_world_v(live->world));
  double point[3];
  double velocity[3];
  find_point(d, push, point, velocity);
  tabi_dynamics_point_jacobian(d, push->link, point, work);
  double trace = mobility(d, nv, work, work + 3 * (ptrdiff_t)nv);
  tabi_dynamics_destroy(d);
  free(work);
  if (!(trace > 0)) return tbi_argument_error(err, "push: this point cannot move");
  push->mass = 1 / trace;
  return TABI_OK;
}

tabi_status tbi_live_world_push(tbi_live_world *live, const tbi_request *request, tabi_error *err) {
  const tabi_model *model = tabi_scene_model(live->scene);
  if (request->link >= tabi_model_nlink(model))
    return tbi_argument_error(err, "push: there is no such link");
  if (tabi_model_link_body(model, request->link) == TABI_WORLD)
    return tbi_argument_error(err, "push: this link is fixed to the world");
  if (tabi_contact_describe(tabi_scene_world_def(live->scene).contact)->planar_biped)
    return tbi_argument_error(err, "push: contact method gait takes no external forces");
  tbi_live_push push = {.active = true, .link = request->link};
  memcpy(push.point, request->point, sizeof push.point);
  memcpy(push.target, request->target, sizeof push.target);
  double mass = tree_mass(model, request->link);
  push.stiffness = request->gain * mass * gravity_of(live->scene) / STRETCH;
  push.damping = 2 * sqrt(push.stiffness * mass);
  tabi_status status = find_mass(live, &push, err);
  if (status == TABI_OK) live->push = push;
  return status;
}

void tbi_live_world_release(tbi_live_world *live) { live->push = (tbi_live_push){0}; }

static void pull(tbi_live_world *live) {
  const tbi_live_push *push = &live->push;
  double h = tabi_scene_world_def(live->scene).timestep;
  double k = push->stiffness;
  double d = push->damping;
  double share = 1 / (1 + h * (d + h * k) / push->mass);
  double point[3];
  double velocity[3];
  double force[3];
  const double torque[3] = {0, 0, 0};
  find_point(tabi_world_dynamics(live->world), push, point, velocity);
  for (int i = 0; i < 3; ++i)
    force[i] = share * (k * (push->target[i] - point[i] - h * velocity[i]) - d * velocity[i]);
  tabi_world_apply(live->world, push->link, force, torque, point);
}

/* Forces of a failed step stay for the next; those of the spring are taken back. */
static tabi_status step_pulled(tbi_live_world *live) {
  bool pulls = live->push.active && tbi_live_world_save(live->world, &live->before);
  if (!pulls) return tabi_world_step_or_grow(live->world, NULL);
  pull(live);
  tabi_status status = tabi_world_step_or_grow(live->world, NULL);
  if (status == TABI_OK) return TABI_OK;
  (void)tabi_world_restore(live->world, live->before.bytes, live->before.size);
  return status;
}

tabi_status tbi_live_world_step(tbi_live_world *live, tabi_error *err) {
  tabi_scene_control(live->scene, live->world);
  tabi_status status = step_pulled(live);
  live->failed = status != TABI_OK && status != TABI_ERR_ENDED;
  if (status == TABI_OK) return TABI_OK;
  *err = *tabi_world_error(live->world);
  tbi_live_world_release(live);
  return status;
}

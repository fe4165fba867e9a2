/* try_gains.c - gains from inertias and effort limits.
 *
 * A servo of frequency w that carries the inertia I has kp = w^2 I, and is critically damped by
 * kd = 2 w I.  What a joint carries is what lies behind it, and behind the joints that are coupled
 * to it; a joint of a limb on which the robot stands, or on which it may come to stand as it
 * settles, carries all the rest, taken as points at the origins of links.  A motor with a limit
 * gives all it has not before a hundredth of a radian or metre, so kp is at most a hundred times
 * its effort.  Of a robot whose file has motors, joints without any are passive. */
#include "try/try_gains.h"

#include "common/extent.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define PI        3.14159265358979323846
#define FREQUENCY (2 * PI * 8) /* rad/s */
#define FULL      0.01         /* rad or m at which a motor gives all it has */
#define REACH     0.3          /* share of the height within which a limb may come to stand */

typedef struct robot {
  const tabi_model *model;
  tabi_dynamics *d;
  double *mass, *jacobian; /* [nv x nv], [3 x nv] */
  double *along;           /* [nv] velocities of all joints for a unit of one */
  double reach;            /* m, z below which a limb may come to stand */
} robot;

static int32_t actuator_of(const tabi_model *model, int32_t joint, bool position) {
  for (int32_t i = 0; i < tabi_model_nactuator(model); ++i) {
    tabi_actuator_def actuator = tabi_model_actuator(model, i);
    if (actuator.joint == joint && (!position || actuator.bias[1] != 0)) return i;
  }
  return TABI_NONE;
}

bool tbi_try_holds(const tabi_model *model, int32_t joint) {
  return actuator_of(model, joint, true) != TABI_NONE;
}

static double most_of(const tabi_actuator_def *a) {
  double most = fmax(fabs(a->force_min), fabs(a->force_max));
  if (a->bias[1] == 0 && a->bias[2] == 0) {
    double low = a->gain * a->control_min + a->bias[0];
    double high = a->gain * a->control_max + a->bias[0];
    most = fmin(most, fmax(fabs(low), fabs(high)));
  }
  return fabs(a->gear) * most;
}

double tbi_try_motor_limit(const tabi_model *model, int32_t joint) {
  double sum = 0;
  bool any = false;
  for (int32_t i = 0; i < tabi_model_nactuator(model); ++i) {
    tabi_actuator_def actuator = tabi_model_actuator(model, i);
    if (actuator.joint != joint) continue;
    sum += most_of(&actuator);
    any = true;
  }
  return any ? sum : HUGE_VAL;
}

static bool is_driven(const tabi_model *model, int32_t joint) {
  if (tabi_model_joint_v(model, joint).count != 1 || tbi_try_holds(model, joint)) return false;
  for (int32_t i = 0; i < tabi_model_ncoupling(model); ++i) {
    if (tabi_model_coupling(model, i).joint == joint) return false;
  }
  return tabi_model_nactuator(model) == 0 || actuator_of(model, joint, false) != TABI_NONE;
}

static bool is_behind(const tabi_model *model, int32_t link, int32_t child) {
  while (link != TABI_WORLD && link != child)
    link = tbi_parent_link(model, link);
  return link == child;
}

static bool moves(const tabi_model *model, const tabi_shape_def *shape) {
  return shape->collides && shape->link != TABI_WORLD &&
         tabi_model_link_body(model, shape->link) != TABI_WORLD;
}

/* Whether a link carries a shape that stands, or soon may. */
static bool may_stand(const robot *r, int32_t child) {
  for (int32_t i = 0; i < tabi_model_nshape(r->model); ++i) {
    tabi_shape_def shape = tabi_model_shape(r->model, i);
    bool counts = moves(r->model, &shape) && is_behind(r->model, shape.link, child);
    if (counts && tbi_extent_of_shape(r->d, i).lower[2] <= r->reach) return true;
  }
  return false;
}

static double find_reach(const robot *r) {
  double lowest = HUGE_VAL;
  double highest = -HUGE_VAL;
  for (int32_t i = 0; i < tabi_model_nshape(r->model); ++i) {
    tabi_shape_def shape = tabi_model_shape(r->model, i);
    if (!moves(r->model, &shape)) continue;
    tbi_extent e = tbi_extent_of_shape(r->d, i);
    lowest = fmin(lowest, e.lower[2]);
    highest = fmax(highest, e.upper[2]);
  }
  return lowest + REACH * (highest - lowest);
}

/* How a point of the child moves with the velocity of its joint, squared. */
static double lever2(const robot *r, int32_t child, int32_t dof, const double point[3]) {
  size_t nv = (size_t)tabi_model_nv(r->model);
  double sum = 0;
  tabi_dynamics_point_jacobian(r->d, child, point, r->jacobian);
  for (size_t k = 0; k < 3; ++k)
    sum += r->jacobian[k * nv + (size_t)dof] * r->jacobian[k * nv + (size_t)dof];
  return sum;
}

/* What is not behind the joint, seen from it. */
static double inertia_before(const robot *r, int32_t child, int32_t dof) {
  double sum = 0;
  for (int32_t i = 0; i < tabi_model_nlink(r->model); ++i) {
    if (is_behind(r->model, i, child)) continue;
    double pos[3];
    double quat[4];
    tabi_dynamics_link_pose(r->d, i, pos, quat);
    sum += tabi_model_link(r->model, i).mass * lever2(r, child, dof, pos);
  }
  return sum;
}

static void follow_couplings(const robot *r, int32_t joint) {
  size_t nv = (size_t)tabi_model_nv(r->model);
  int32_t count = tabi_model_ncoupling(r->model);
  memset(r->along, 0, nv * sizeof *r->along);
  r->along[tabi_model_joint_v(r->model, joint).first] = 1;
  // a leader may follow another joint: each round goes one coupling further
  bool more = true;
  for (int32_t round = 0; round < count && more; ++round) {
    more = false;
    for (int32_t i = 0; i < count; ++i) {
      tabi_coupling_def c = tabi_model_coupling(r->model, i);
      if (c.joint == TABI_NONE || c.joint == joint || c.leader == TABI_NONE) continue;
      double *follower = &r->along[tabi_model_joint_v(r->model, c.joint).first];
      double v = c.coef[1] * r->along[tabi_model_joint_v(r->model, c.leader).first];
      more |= v != *follower;
      *follower = v;
    }
  }
}

/* What moves with a joint, seen from it. */
static double inertia_behind(const robot *r, int32_t joint) {
  size_t nv = (size_t)tabi_model_nv(r->model);
  double sum = 0;
  follow_couplings(r, joint);
  for (size_t i = 0; i < nv; ++i) {
    if (r->along[i] == 0) continue;
    for (size_t k = 0; k < nv; ++k)
      sum += r->along[i] * r->mass[i * nv + k] * r->along[k];
  }
  return sum;
}

static tbi_try_gain gain_of(const robot *r, int32_t joint, bool floats) {
  tabi_joint_def def = tabi_model_joint(r->model, joint);
  int32_t dof = tabi_model_joint_v(r->model, joint).first;
  double inertia = inertia_behind(r, joint);
  bool stands = floats && may_stand(r, def.child);
  if (stands) inertia = fmax(inertia, inertia_before(r, def.child, dof));
  double kp = FREQUENCY * FREQUENCY * inertia;
  if (isfinite(def.effort) && def.effort > 0) kp = fmin(kp, def.effort / FULL);
  return (tbi_try_gain){kp, 2 * sqrt(kp * inertia)};
}

static void fill(robot *r, tbi_try_gain *gain) {
  bool floats = tbi_base_joint(r->model) != TABI_NONE;
  tabi_dynamics_mass_matrix(r->d, r->mass);
  r->reach = find_reach(r);
  for (int32_t i = 0; i < tabi_model_njoint(r->model); ++i)
    gain[i] = is_driven(r->model, i) ? gain_of(r, i, floats) : (tbi_try_gain){0, 0};
}

bool tbi_try_gains(const tabi_model *model, const double *q, tbi_try_gain *gain) {
  size_t nv = (size_t)tabi_model_nv(model);
  robot r = {.model = model, .d = tabi_dynamics_create(model, NULL)};
  double *v = calloc(nv + 1, sizeof *v);
  r.mass = calloc(nv * nv + 1, sizeof *r.mass);
  r.jacobian = calloc(3 * nv + 1, sizeof *r.jacobian);
  r.along = calloc(nv + 1, sizeof *r.along);
  bool good = r.d && v && r.mass && r.jacobian && r.along;
  if (good) {
    tabi_dynamics_set_state(r.d, q, v);
    fill(&r, gain);
  }
  free(v);
  free(r.mass);
  free(r.jacobian);
  free(r.along);
  tabi_dynamics_destroy(r.d);
  return good;
}

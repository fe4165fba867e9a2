/* stabiliser.c - tracking control of the linear inverted pendulum (Kajita et al. 2010, "Biped
 * walking stabilization based on linear inverted pendulum tracking").
 *
 *   gyro, accelerometer --> tilt --+
 *   encoders --------------------- + --> CoM, its velocity --+
 *   force sensors --> centres of pressure --> ZMP ---------- + --> desired ZMP
 *                                                                     |
 *   targets of the legs <-- feet turn and sink <-- desired centres of pressure of both feet
 *
 * Damping control of the feet: a foot whose centre of pressure is not the desired one turns at a
 * rate proportional to the missing moment, and slowly returns to the plan.  The same holds for the
 * heights of both feet and the difference of their loads. */
#include "base/assertion.h"
#include "base/error.h"
#include "control/attitude.h"
#include "control/walk.h"
#include "math/trig.h"
#include "world/world.h"

#include <stdlib.h>
#include <string.h>

#define PI            3.14159265358979323846
#define SOLE_MARGIN   0.01 /* m, distance of a desired centre of pressure from the edge of a sole */
#define MAX_FOOT_TURN 0.2  /* rad, of a foot */
#define MAX_FOOT_LIFT 0.05 /* m */
#define MIN_LOAD_SHARE                                                      \
  0.05 /* share of the weight below which the centre of pressure is unknown \
        */
#define SLACK \
  1e-9 /* share of the time between two updates, for times that are equal but for rounding */

static const tabi_place nowhere = {NULL, 0};

/* The ground force on a foot, in level axes along it, from the middle of its sole. */
typedef struct foot_load {
  double force;  /* N, upwards */
  double cop[2]; /* m, centre of pressure */
} foot_load;

/* The plan at a time, and sine and cosine of the yaws of both feet and of the waist. */
typedef struct plan_sample {
  double time;
  tabi_walk_state plan;
  double sine[3], cosine[3];
} plan_sample;

/* State of the controller. */
typedef struct memory {
  bool started;
  v3 up;               /* in the waist's axes */
  double com_error[2]; /* m */
  double com_rate_error[2];
  double foot_turn[2][2];
  double foot_height;
  double zmp[2], zmp_desired[2];
} memory;

/* A joint whose angle is measured, or without an encoder taken to be at its target. */
typedef struct measured_joint {
  int32_t joint, q;
  int32_t encoder; /* or TABI_NONE */
} measured_joint;

struct tabi_stabiliser {
  tabi_stabiliser_def def;
  const tabi_model *model;
  const tabi_walk *walk;
  tbi_walker walker;
  double weight;
  double gain[3];
  tbi_frame sensor[2];      /* of force, from the middle of the sole */
  m3 gyro, accelerometer;   /* their axes to those of the waist */
  measured_joint *measured; /* [nmeasured] those that move the CoM */
  int32_t nmeasured;
  tbi_composite_point sole[2]; /* its middle */
  double *target, *rate;       /* [njoint] */
  double *q;                   /* [nq] */
  /* targets of the legs in the last updates, the newest first */
  double past_target[3][2][TBI_LEG_JOINTS];
  memory now;
  plan_sample next_plan; /* for the next update, if that comes when expected */
};

/* -- creation */

tabi_stabiliser_def tabi_stabiliser_def_default(void) {
  return (tabi_stabiliser_def){
      .def_size = sizeof(tabi_stabiliser_def),
      .force = {TABI_NONE, TABI_NONE},
      .gyro = TABI_NONE,
      .accelerometer = TABI_NONE,
      .pole = {-13,       -4       },
      .delay = 0.04,
      .foot_damping = 25,
      .height_damping = 3500,
      .return_standing = 1.5,
      .return_lifted = 0.08,
      .speed_filter = 6,
      .attitude_time = 2
  };
}

static bool positive(double value) { return isfinite(value) && value > 0; }

static tabi_status check_sensor(const tabi_model *model, int32_t sensor, tabi_sensor_type type,
                                tabi_error *err) {
  if (sensor >= 0 && sensor < tabi_model_nsensor(model) &&
      tabi_model_sensor(model, sensor).type == type)
    return TABI_OK;
  return tbi_error_set(err, TABI_ERR_ARGUMENT, nowhere,
                       "stabiliser: sensor %d is not a sensor of type %s; give the model one",
                       (int)sensor, tabi_sensor_type_name(type));
}

static tabi_status check(const tabi_model *model, const tabi_stabiliser_def *def, tabi_error *err) {
  if (def->def_size != sizeof *def) {
    return tbi_error_set(err, TABI_ERR_ARGUMENT, nowhere,
                         "tabi_stabiliser_def was not made by tabi_stabiliser_def_default()");
  }
  if (!def->walk || def->walk->model != model) {
    return tbi_error_set(err, TABI_ERR_ARGUMENT, nowhere,
                         "stabiliser: walk must be a walk of this model");
  }
  bool fine = positive(-def->pole[0]) && positive(-def->pole[1]) && positive(def->delay) &&
              positive(def->foot_damping) && positive(def->height_damping) &&
              positive(def->return_standing) && positive(def->return_lifted) &&
              positive(def->speed_filter) && positive(def->attitude_time);
  if (!fine) {
    return tbi_error_set(err, TABI_ERR_ARGUMENT, nowhere,
                         "stabiliser: poles must be negative, all other numbers positive");
  }
  tabi_status status = check_sensor(model, def->gyro, TABI_SENSOR_GYRO, err);
  if (status == TABI_OK)
    status = check_sensor(model, def->accelerometer, TABI_SENSOR_ACCELEROMETER, err);
  for (int side = 0; side < 2 && status == TABI_OK; ++side)
    status = check_sensor(model, def->force[side], TABI_SENSOR_FORCE_TORQUE, err);
  return status;
}

/* The axes of a sensor in those of the waist, if it is on the same body. */
static tabi_status find_axes(const tabi_stabiliser *s, int32_t sensor, m3 *axes, tabi_error *err) {
  const tabi_model *model = s->model;
  tabi_sensor_def def = tabi_model_sensor(model, sensor);
  if (tabi_model_link_body(model, def.link) != s->walker.body) {
    return tbi_error_set(err, TABI_ERR_ARGUMENT, nowhere,
                         "stabiliser: sensor '%.80s' is not on the waist",
                         def.name ? def.name : "");
  }
  int32_t child = tabi_model_joint(model, s->walker.floating).child;
  tbi_frame mount = tbi_frame_load(def.pos, def.quat);
  tbi_frame back = tbi_frame_inverse(&model->link_home[child].frame);
  tbi_frame frame = tbi_frame_mul(&s->walker.in_waist, &back);
  frame = tbi_frame_mul(&frame, &model->link_home[def.link].frame);
  *axes = tbi_frame_mul(&frame, &mount).rot;
  return TABI_OK;
}

static tbi_frame link_frame(const tbi_walker *walker, int32_t link) {
  double pos[3];
  double quat[4];
  tabi_dynamics_link_pose(walker->dynamics, link, pos, quat);
  return tbi_frame_load(pos, quat);
}

/* The frame of a sole whose foot's link is somewhere. */
static tbi_frame sole_frame(const tbi_walker *walker, int side) {
  tbi_frame foot = link_frame(walker, walker->link[side]);
  tbi_frame back = tbi_frame_inverse(&walker->foot[side]);
  return tbi_frame_mul(&foot, &back);
}

/* Frames of the force sensors from their soles, in the initial posture of the walk. */
static void place_force_sensors(tabi_stabiliser *s) {
  (void)tbi_walker_com(&s->walker, s->walk->initial_q);
  for (int side = 0; side < 2; ++side) {
    tabi_sensor_def def = tabi_model_sensor(s->model, s->def.force[side]);
    tbi_frame mount = tbi_frame_load(def.pos, def.quat);
    tbi_frame link = link_frame(&s->walker, tabi_model_joint(s->model, def.joint).child);
    tbi_frame sole = sole_frame(&s->walker, side);
    tbi_frame back = tbi_frame_inverse(&sole);
    link = tbi_frame_mul(&back, &link);
    s->sensor[side] = tbi_frame_mul(&link, &mount);
  }
}

/* Joints of the legs and joints with encoders move; the soles are attached to the composites. */
static tabi_status make_composites(tabi_stabiliser *s, const bool *moves, tabi_error *err) {
  tbi_walker *walker = &s->walker;
  tabi_status status = tbi_composites_make(&walker->composites, walker->dynamics, walker->body,
                                           s->walk->initial_q, moves, err);
  if (status != TABI_OK) return status;
  for (int side = 0; side < 2; ++side) {
    int32_t body = tabi_model_link_body(s->model, walker->link[side]);
    v3 middle = sole_frame(walker, side).pos;
    s->sole[side] = tbi_composites_attach(&walker->composites, walker->dynamics, body, middle);
  }
  return TABI_OK;
}

/* The encoder at a joint, the last of several. */
static int32_t find_encoder(const tabi_model *model, int32_t joint) {
  for (int32_t i = tabi_model_nsensor(model) - 1; i >= 0; --i) {
    tabi_sensor_def def = tabi_model_sensor(model, i);
    if (def.type == TABI_SENSOR_ENCODER && def.joint == joint) return i;
  }
  return TABI_NONE;
}

static tabi_status find_measured_joints(tabi_stabiliser *s, tabi_error *err) {
  bool *moves = calloc((size_t)tabi_model_nq(s->model) + 1, sizeof *moves);
  if (!moves) return tbi_error_memory(err);
  tbi_walker_mark_legs(&s->walker, moves);
  for (int32_t j = 0; j < tabi_model_njoint(s->model); ++j) {
    tabi_range range = tabi_model_joint_q(s->model, j);
    if (range.count != 1) continue;
    int32_t encoder = find_encoder(s->model, j);
    if (encoder != TABI_NONE) moves[range.first] = true;
    if (moves[range.first]) s->measured[s->nmeasured++] = (measured_joint){j, range.first, encoder};
  }
  tabi_status status = make_composites(s, moves, err);
  free(moves);
  return status;
}

static tabi_status make(tabi_stabiliser *s, tabi_error *err) {
  size_t njoint = (size_t)tabi_model_njoint(s->model);
  tabi_status status = tbi_walker_copy(&s->walker, &s->walk->walker, err);
  if (status != TABI_OK) return status;
  s->measured = calloc(njoint, sizeof *s->measured);
  s->target = calloc(2 * njoint + (size_t)tabi_model_nq(s->model), sizeof *s->target);
  if (!s->measured || !s->target) return tbi_error_memory(err);
  s->rate = s->target + njoint;
  s->q = s->rate + njoint;
  status = find_axes(s, s->def.gyro, &s->gyro, err);
  if (status == TABI_OK) status = find_axes(s, s->def.accelerometer, &s->accelerometer, err);
  if (status != TABI_OK) return status;
  place_force_sensors(s);
  status = find_measured_joints(s, err);
  if (status != TABI_OK) return status;
  s->weight = s->walk->gravity * tbi_walker_mass(&s->walker);
  tabi_lipm_gains(s->walk->com_height, s->walk->gravity, s->def.delay, s->def.pole, s->gain);
  tabi_stabiliser_reset(s);
  return TABI_OK;
}

tabi_stabiliser *tabi_stabiliser_create(const tabi_model *model, const tabi_stabiliser_def *def,
                                        tabi_error *err) {
  TBI_ASSERT(model && def);
  if (check(model, def, err) != TABI_OK) return NULL;
  tabi_stabiliser *s = calloc(1, sizeof *s);
  if (!s) {
    (void)tbi_error_memory(err);
    return NULL;
  }
  s->def = *def;
  s->model = model;
  s->walk = def->walk;
  if (make(s, err) == TABI_OK) return s;
  tabi_stabiliser_destroy(s);
  return NULL;
}

void tabi_stabiliser_destroy(tabi_stabiliser *stabiliser) {
  if (!stabiliser) return;
  tbi_walker_free(&stabiliser->walker);
  free(stabiliser->measured);
  free(stabiliser->target);
  free(stabiliser);
}

void tabi_stabiliser_reset(tabi_stabiliser *stabiliser) {
  TBI_ASSERT(stabiliser);
  tabi_stabiliser *s = stabiliser;
  size_t njoint = (size_t)tabi_model_njoint(s->model);
  s->now = (memory){
      .up = {0, 0, 1}
  };
  s->next_plan.time = NAN;
  memcpy(s->q, s->walk->initial_q, (size_t)tabi_model_nq(s->model) * sizeof *s->q);
  tabi_trajectory_sample(s->walk->joints, 0, s->target, NULL);
  memset(s->rate, 0, njoint * sizeof *s->rate);
  for (int side = 0; side < 2; ++side) {
    for (int i = 0; i < TBI_LEG_JOINTS; ++i) {
      double target = s->target[s->walker.leg[side].joint[i]];
      s->past_target[0][side][i] = s->past_target[1][side][i] = s->past_target[2][side][i] = target;
    }
  }
}

/* -- estimation */

/* The sensor measures the force of the leg on the foot; that of the ground is opposite, but for the
 * weight of the foot. */
static foot_load measure_foot(const tabi_stabiliser *s, const tabi_world *world, int side) {
  const double *reading = tbi_world_reading(world, s->def.force[side]);
  const tbi_frame *frame = &s->sensor[side];
  v3 f = v3_neg(m3_mulv(&frame->rot, v3_load(reading)));
  v3 n = v3_neg(m3_mulv(&frame->rot, v3_load(reading + 3)));
  if (f.z < MIN_LOAD_SHARE * s->weight)
    return (foot_load){
        0, {0, 0}
    };
  v3 o = frame->pos;
  return (foot_load){
      f.z, {o.x - (n.y + o.z * f.x) / f.z, o.y + (n.x - o.z * f.y) / f.z}
  };
}

static void sample_plan(const tabi_walk *walk, double time, plan_sample *at) {
  at->time = time;
  at->plan = tabi_walk_at(walk, time);
  const double yaw[3] = {at->plan.foot_yaw[0], at->plan.foot_yaw[1], at->plan.waist_yaw};
  tbi_sincos(3, yaw, at->sine, at->cosine);
}

/* Axes that were turned about z, then about their own y, then about their own x, by the sines and
 * cosines of these angles, x first. */
static m3 axes_of(const double sine[3], const double cosine[3]) {
  v3 along = {cosine[1], sine[1] * sine[0], sine[1] * cosine[0]};
  v3 left = {0, cosine[0], -sine[0]};
  v3 up = {-sine[1], cosine[1] * sine[0], cosine[1] * cosine[0]};
  v3 x = v3_axpy(v3_scale(cosine[2], along), -sine[2], left);
  v3 y = v3_axpy(v3_scale(sine[2], along), cosine[2], left);
  return (m3){
      {{x.x, x.y, x.z}, {y.x, y.y, y.z}, {up.x, up.y, up.z}}
  };
}

static void estimate_attitude(tabi_stabiliser *s, const tabi_world *world, const plan_sample *at,
                              double timestep) {
  const double *rate = tbi_world_reading(world, s->def.gyro);
  const double *measured = tbi_world_reading(world, s->def.accelerometer);
  /* without the planned acceleration, gravity remains */
  double stiffness = s->walk->gravity / s->walk->com_height;
  double c = at->cosine[2];
  double y = at->sine[2];
  double ax = stiffness * (at->plan.com[0] - at->plan.zmp[0]);
  double ay = stiffness * (at->plan.com[1] - at->plan.zmp[1]);
  v3 planned = {c * ax + y * ay, -y * ax + c * ay, 0};
  v3 gravity = m3_mulv(&s->accelerometer, v3_load(measured));
  if (v3_norm(gravity) > 0) gravity = v3_sub(gravity, planned);
  s->now.up = tbi_attitude_update(s->now.up, m3_mulv(&s->gyro, v3_load(rate)), gravity, timestep,
                                  s->def.attitude_time);
}

/* The CoM by kinematics from the loaded feet, which are assumed to stand as planned. */
static v3 estimate_com(tabi_stabiliser *s, const tabi_world *world, const plan_sample *at,
                       const foot_load *foot) {
  for (int32_t i = 0; i < s->nmeasured; ++i) {
    const measured_joint *measured = &s->measured[i];
    bool commanded = measured->encoder == TABI_NONE;
    s->q[measured->q] =
        commanded ? s->target[measured->joint] : *tbi_world_reading(world, measured->encoder);
  }
  double sine[3] = {0, 0, at->sine[2]};
  double cosine[3] = {1, 1, at->cosine[2]};
  tbi_attitude_slope(s->now.up, sine, cosine);
  tbi_frame waist = {axes_of(sine, cosine), v3_load(at->plan.waist)};
  tbi_frame floating = tbi_frame_mul(&waist, &s->walker.in_waist);
  v3 com = tbi_composites_com_at(&s->walker.composites, &floating, s->q);
  double total = foot[0].force + foot[1].force;
  v3 shift = v3_zero();
  for (int side = 0; side < 2; ++side) {
    v3 off = v3_sub(v3_load(at->plan.foot[side]),
                    tbi_composites_point(&s->walker.composites, &s->sole[side]));
    shift = v3_axpy(shift, foot[side].force / total, off);
  }
  return v3_add(com, shift);
}

/* A point of a foot in the world. */
static void foot_point(const plan_sample *at, int side, const double *cop, double *to) {
  double c = at->cosine[side];
  double s = at->sine[side];
  to[0] = at->plan.foot[side][0] + c * cop[0] - s * cop[1];
  to[1] = at->plan.foot[side][1] + s * cop[0] + c * cop[1];
}

static void estimate(tabi_stabiliser *s, const tabi_world *world, const plan_sample *at,
                     const foot_load *foot, double timestep) {
  memory *now = &s->now;
  double total = foot[0].force + foot[1].force;
  estimate_attitude(s, world, at, timestep);
  if (total <= 0) {
    /* after a flight there is no velocity to be taken from the last position */
    now->started = false;
    return;
  }
  v3 com = estimate_com(s, world, at, foot);
  const double error[2] = {com.x - at->plan.com[0], com.y - at->plan.com[1]};
  double lag = 1 / (2 * PI * s->def.speed_filter);
  double point[2][2];
  for (int side = 0; side < 2; ++side)
    foot_point(at, side, foot[side].cop, point[side]);
  for (int i = 0; i < 2; ++i) {
    double speed = now->started ? (error[i] - now->com_error[i]) / timestep : 0;
    now->com_rate_error[i] += timestep / (lag + timestep) * (speed - now->com_rate_error[i]);
    now->com_error[i] = error[i];
    now->zmp[i] = (foot[0].force * point[0][i] + foot[1].force * point[1][i]) / total;
  }
  now->started = true;
}

/* -- control */

static double clamp(double value, double limit) { return tbi_min(tbi_max(value, -limit), limit); }

/* Damping control of an ankle (Kajita et al. 2010): turns a foot so that its centre of pressure
 * moves to the desired one.  Lowering the toe moves it forward, lowering the left edge to the left.
 */
static void turn_foot(tabi_stabiliser *s, int side, bool lifted, const foot_load *foot,
                      const double *desired, double timestep) {
  double back = lifted ? s->def.return_lifted : s->def.return_standing;
  double *turn = s->now.foot_turn[side];
  double moment[2] = {0, 0};
  if (!lifted && foot->force > 0) {
    double x = clamp(desired[0], fmax(s->walker.length / 2 - SOLE_MARGIN, 0));
    double y = clamp(desired[1], fmax(s->walker.width / 2 - SOLE_MARGIN, 0));
    moment[0] = -(y - foot->cop[1]) * foot->force;
    moment[1] = (x - foot->cop[0]) * foot->force;
  }
  for (int i = 0; i < 2; ++i) {
    double speed = moment[i] / s->def.foot_damping - turn[i] / back;
    turn[i] = clamp(turn[i] + timestep * speed, MAX_FOOT_TURN);
  }
}

/* Share of the weight on the left foot, for a desired ZMP. */
static double left_share(const tabi_walk_state *plan, const double zmp[2]) {
  const tbi_plan_state standing = {
      .foot = {{.pos = v3_load(plan->foot[0])}, {.pos = v3_load(plan->foot[1])}},
      .lifted = {plan->lifted[0],                 plan->lifted[1]                },
  };
  return tbi_plan_left_share(&standing, zmp);
}

/* The desired ZMP by state feedback (tabi_lipm_gains), its distribution to both feet, and damping
 * control of their rotations and of the difference of their heights (Kajita et al. 2010). */
static void update_feet(tabi_stabiliser *s, const plan_sample *at, const foot_load *foot,
                        double timestep) {
  const tabi_walk_state *plan = &at->plan;
  memory *now = &s->now;
  double total = foot[0].force + foot[1].force;
  for (int i = 0; i < 2; ++i) {
    now->zmp_desired[i] = plan->zmp[i];
    if (total <= 0) continue;
    now->zmp_desired[i] += s->gain[0] * now->com_error[i] + s->gain[1] * now->com_rate_error[i] +
                           s->gain[2] * (now->zmp[i] - plan->zmp[i]);
  }
  double left = left_share(plan, now->zmp_desired);
  double off[2];
  for (int i = 0; i < 2; ++i)
    off[i] = now->zmp_desired[i] - left * plan->foot[0][i] - (1 - left) * plan->foot[1][i];
  for (int side = 0; side < 2; ++side) {
    double c = at->cosine[side];
    double y = at->sine[side];
    const double desired[2] = {c * off[0] + y * off[1], -y * off[0] + c * off[1]};
    turn_foot(s, side, plan->lifted[side], &foot[side], desired, timestep);
  }
  bool both = !plan->lifted[0] && !plan->lifted[1];
  double load_error = both ? (2 * left - 1) * total - (foot[0].force - foot[1].force) : 0;
  double back = both ? s->def.return_standing : s->def.return_lifted;
  double speed = load_error / s->def.height_damping - now->foot_height / back;
  now->foot_height = clamp(now->foot_height + timestep * speed, MAX_FOOT_LIFT);
}

/* Sets a leg to the extrapolation of its last targets, or to the last one. */
static void predict_leg(tabi_stabiliser *s, int side, bool along) {
  for (int i = 0; i < TBI_LEG_JOINTS; ++i) {
    double last = s->past_target[0][side][i];
    double further = 2 * last - 3 * s->past_target[1][side][i] + s->past_target[2][side][i];
    s->q[s->walker.leg[side].q[i]] = along ? last + further : last;
  }
}

static void store_target(tabi_stabiliser *s, int side) {
  for (int i = 0; i < TBI_LEG_JOINTS; ++i) {
    double target = s->q[s->walker.leg[side].q[i]];
    s->past_target[2][side][i] = s->past_target[1][side][i];
    s->past_target[1][side][i] = s->past_target[0][side][i];
    s->past_target[0][side][i] = target;
    s->target[s->walker.leg[side].joint[i]] = target;
  }
}

/* Frames of both soles and of the waist, with the feet turned and sunk from their plan. */
static void place_soles(const tabi_stabiliser *s, const plan_sample *at, tbi_frame sole[2],
                        tbi_frame *waist) {
  const double sink = s->now.foot_height / 2;
  double sine[2][2];
  double cosine[2][2];
  tbi_sincos(4, s->now.foot_turn[0], sine[0], cosine[0]);
  for (int side = 0; side < 2; ++side) {
    const double up[3] = {sine[side][0], sine[side][1], at->sine[side]};
    const double level[3] = {cosine[side][0], cosine[side][1], at->cosine[side]};
    sole[side] = (tbi_frame){axes_of(up, level), v3_load(at->plan.foot[side])};
    sole[side].pos.z += side == TABI_LEFT ? -sink : sink;
  }
  *waist = (tbi_frame){tbi_yaw_axes(at->sine[2], at->cosine[2]), v3_load(at->plan.waist)};
}

/* Targets of the legs at a time; a target that cannot be reached leaves the leg near the last one.
 */
static void update_targets(tabi_stabiliser *s, const plan_sample *at, double timestep) {
  int32_t njoint = tabi_model_njoint(s->model);
  memcpy(s->rate, s->target, sizeof *s->rate * (size_t)njoint);
  tabi_trajectory_sample(s->walk->joints, at->time, s->target, NULL);
  tbi_frame sole[2];
  tbi_frame waist;
  place_soles(s, at, sole, &waist);
  for (int side = 0; side < 2; ++side) {
    predict_leg(s, side, true);
    if (!tbi_walker_set_foot(&s->walker, (tabi_side)side, &waist, &sole[side], false, s->q)) {
      predict_leg(s, side, false);
      (void)tbi_walker_set_foot(&s->walker, (tabi_side)side, &waist, &sole[side], false, s->q);
    }
    store_target(s, side);
  }
  for (int32_t j = 0; j < njoint; ++j)
    s->rate[j] = (s->target[j] - s->rate[j]) / timestep;
}

void tabi_stabiliser_update(tabi_stabiliser *stabiliser, const tabi_world *world, double timestep) {
  TBI_ASSERT(stabiliser && world && timestep > 0);
  tabi_stabiliser *s = stabiliser;
  TBI_ASSERT(world->model->njoint == s->model->njoint &&
             world->model->nsensor == s->model->nsensor);
  double time = tabi_world_time(world);
  if (!(fabs(s->next_plan.time - time) <= SLACK * timestep))
    sample_plan(s->walk, time, &s->next_plan);
  const foot_load foot[2] = {measure_foot(s, world, 0), measure_foot(s, world, 1)};
  estimate(s, world, &s->next_plan, foot, timestep);
  update_feet(s, &s->next_plan, foot, timestep);
  sample_plan(s->walk, time + timestep, &s->next_plan);
  update_targets(s, &s->next_plan, timestep);
}

const double *tabi_stabiliser_target(const tabi_stabiliser *stabiliser) {
  TBI_ASSERT(stabiliser);
  return stabiliser->target;
}

const double *tabi_stabiliser_rate(const tabi_stabiliser *stabiliser) {
  TBI_ASSERT(stabiliser);
  return stabiliser->rate;
}

tabi_stabiliser_state tabi_stabiliser_get_state(const tabi_stabiliser *stabiliser) {
  TBI_ASSERT(stabiliser);
  const memory *now = &stabiliser->now;
  tabi_stabiliser_state state = {.foot_height = now->foot_height};
  tbi_attitude_tilt(now->up, state.tilt);
  memcpy(state.com_error, now->com_error, sizeof state.com_error);
  memcpy(state.com_rate_error, now->com_rate_error, sizeof state.com_rate_error);
  memcpy(state.zmp, now->zmp, sizeof state.zmp);
  memcpy(state.zmp_desired, now->zmp_desired, sizeof state.zmp_desired);
  memcpy(state.foot_turn, now->foot_turn, sizeof state.foot_turn);
  return state;
}

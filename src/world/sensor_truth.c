/* sensor_truth.c - what sensors would say if they were perfect.
 *
 * Forces and accelerations are means over the step, at the posture of its start: that is where the
 * step's own equation of motion holds,
 *     M (v+ - v) / h + bias = joint forces + J' (impulses of contacts and connections) / h + ...,
 * whatever solved it.  So the wrench that a joint transmits is found by inverse dynamics with the
 * accelerations (v+ - v) / h: that of all links behind the joint, less what else acts on them.  It
 * is summed link by link, not body by body, so that joints which do not move have one too. */
#include "world/world.h"

#include <string.h>

static int32_t body_of(const tabi_world *w, int32_t link) {
  return link == TABI_WORLD ? TABI_WORLD : w->model->link_home[link].body;
}

static int32_t tree_of(const tabi_world *w, int32_t body) {
  return body == TABI_WORLD ? TABI_WORLD : w->model->body[body].tree;
}

/* the link on which a link hangs, or TABI_WORLD */
static int32_t parent_of(const tabi_model *model, int32_t link) {
  int32_t joint = model->link_home[link].joint;
  return joint == TABI_NONE ? TABI_WORLD : model->joint[joint].parent;
}

/* a force at a point as a wrench about the origin of the link's tree */
static sv wrench_on(const tabi_world *w, int32_t link, v3 force, v3 point) {
  v3 arm = v3_sub(point, tbi_tree_origin(w->d, body_of(w, link)));
  return (sv){v4_from(force), v4_from(v3_cross(arm, force))};
}

/* acceleration, with the world falling up, of a point that moves with a body */
static v3 acceleration_at(const tabi_world *w, int32_t body, v4 arm) {
  const tbi_body_state *state = &w->d->body[body];
  v4 turning = v4_cross(state->vel.ang, sv_at(state->vel, arm));
  return v4_to(v4_add(sv_at(w->d->acc[body], arm), turning));
}

/* what accelerates one link, by Newton and Euler about its centre of mass */
static sv inertial_wrench(const tabi_world *w, int32_t link) {
  const tabi_link_def *def = &w->model->link[link];
  const tbi_link_home *home = &w->model->link_home[link];
  const tbi_body_state *state = &w->d->body[home->body];
  m3 body = m4_to(&state->rot);
  m3 rot = m3_mul(&body, &home->frame.rot);
  v3 com = v3_add(home->frame.pos, m3_mulv(&home->frame.rot, v3_load(def->com)));
  v4 arm = v4_add(state->pos, m4_mulv3(&state->rot, com));
  v3 force = v3_scale(def->mass, acceleration_at(w, home->body, arm));
  s3 inertia = s3_rotate(&rot, s3_load(def->inertia));
  v3 turn = v4_to(state->vel.ang);
  v3 moment = s3_mulv(inertia, v4_to(w->d->acc[home->body].ang));
  moment = v3_add(moment, v3_cross(turn, s3_mulv(inertia, turn)));
  moment = v3_add(moment, v3_cross(v4_to(arm), force));
  return (sv){v4_from(force), v4_from(moment)};
}

/* accelerations of the bodies that some sensor needs, with the world falling up (see rnea.c) */
static void accelerate(tabi_world *w, const double *qdd) {
  const tabi_model *model = w->model;
  tabi_dynamics *d = w->d;
  d->acc[TABI_WORLD] = (sv){v4_scale(-1, v4_from(v3_load(w->def.gravity))), v4_zero()};
  for (int32_t i = 0; i < w->sensors.nbody; ++i) {
    int32_t index = w->sensors.body[i];
    const tbi_body *body = &model->body[index];
    sv a = sv_add(d->acc[body->parent], d->body[index].drift);
    for (int32_t k = body->v; k < body->v + body->nv; ++k)
      a = sv_axpy(a, qdd[k], d->axis[k]);
    d->acc[index] = a;
  }
}

static void begin_loads(tabi_world *w) {
  tbi_sensors *s = &w->sensors;
  memset(s->load + TABI_WORLD, 0, sizeof *s->load * ((size_t)w->model->nlink + 1));
  for (int32_t i = 0; i < s->nfelt; ++i) {
    int32_t link = s->felt[i];
    s->load[link] = sv_sub(inertial_wrench(w, link), s->external[link]);
  }
}

/* connections pull at b where its frame is, and with the opposite at a */
static void unload_connections(tabi_world *w) {
  sv *load = w->sensors.load;
  for (int32_t i = 0; i < w->model->nconnection; ++i) {
    const tabi_connection_def *def = &w->model->connection[i];
    const tabi_connection_state *state = &w->connection[i];
    v3 at = v3_load(def->pos_b);
    if (def->b != TABI_WORLD) {
      tbi_frame home = tbi_link_frame(w->d, def->b);
      at = v3_add(home.pos, m3_mulv(&home.rot, at));
    }
    v3 force = v3_load(state->force);
    sv couple = {v4_zero(), v4_from(v3_load(state->torque))};
    load[def->b] = sv_sub(load[def->b], sv_add(wrench_on(w, def->b, force, at), couple));
    load[def->a] = sv_add(load[def->a], sv_add(wrench_on(w, def->a, force, at), couple));
  }
}

/* a wrench about the origin of one body's tree, about that of another's */
static sv moved(const tabi_world *w, sv wrench, int32_t from, int32_t to) {
  if (tree_of(w, from) == tree_of(w, to)) return wrench;
  v3 arm = v3_sub(tbi_tree_origin(w->d, from), tbi_tree_origin(w->d, to));
  wrench.ang = v4_add(wrench.ang, v4_cross(v4_from(arm), wrench.lin));
  return wrench;
}

/* links hand what they need on to their parents; how those that are not felt fare does not matter
 */
static void gather_loads(tabi_world *w) {
  const tabi_model *model = w->model;
  const tbi_sensors *s = &w->sensors;
  sv *load = s->load;
  for (int32_t i = s->nfelt - 1; i >= 0; --i) {
    int32_t link = s->felt[i];
    int32_t parent = parent_of(model, link);
    if (parent == TABI_WORLD) continue;
    sv handed = moved(w, load[link], body_of(w, link), body_of(w, parent));
    load[parent] = sv_add(load[parent], handed);
  }
}

/* one side of a contact; a link does not stand on its own tree */
static void add_contact(tabi_world *w, const tabi_contact *c, int32_t link, int32_t other,
                        double rate) {
  tbi_sensors *s = &w->sensors;
  int32_t tree = tree_of(w, body_of(w, link));
  v3 point = v3_load(c->point);
  v3 force = v3_scale(rate, v3_load(c->impulse));
  sv wrench = wrench_on(w, link, force, point);
  if (s->feels_forces) s->load[link] = sv_sub(s->load[link], wrench);
  if (!s->feels_contacts) return;
  s->push[link].normal += fabs(rate) * v3_dot(v3_load(c->impulse), v3_load(c->normal));
  if (tree == tree_of(w, body_of(w, other))) return;
  tbi_push *both[2] = {&s->push[link], &s->tree_push[tree]};
  for (int i = 0; i < 2; ++i) {
    both[i]->wrench = sv_add(both[i]->wrench, wrench);
    both[i]->height += force.z * point.z;
  }
}

/* what is welded to a link is part of it */
static void weld_pushes(tabi_world *w) {
  const tabi_model *model = w->model;
  tbi_sensors *s = &w->sensors;
  for (int32_t i = model->nlink - 1; i >= 0; --i) {
    int32_t link = model->link_order[i];
    int32_t joint = model->link_home[link].joint;
    if (joint == TABI_NONE || model->joint[joint].type != TABI_JOINT_FIXED) continue;
    tbi_push *parent = &s->push[model->joint[joint].parent];
    parent->wrench = sv_add(parent->wrench, s->push[link].wrench);
    parent->normal += s->push[link].normal;
  }
}

static void sum_contacts(tabi_world *w) {
  const tabi_model *model = w->model;
  tbi_sensors *s = &w->sensors;
  double rate = 1 / w->def.timestep;
  for (int32_t i = TABI_WORLD; i < model->nlink && s->feels_contacts; ++i)
    s->push[i] = (tbi_push){.normal = 0};
  for (int32_t i = TABI_WORLD; i < model->ntree && s->feels_contacts; ++i)
    s->tree_push[i] = (tbi_push){.normal = 0};
  for (int32_t i = 0; i < w->ncontact; ++i) {
    const tabi_contact *c = &w->contact[i];
    add_contact(w, c, c->link_a, c->link_b, -rate);
    add_contact(w, c, c->link_b, c->link_a, rate);
  }
  if (s->feels_contacts) weld_pushes(w);
}

static tbi_frame frame_of(const tabi_world *w, const tabi_sensor_def *def, int32_t link) {
  tbi_frame home = tbi_link_frame(w->d, link);
  tbi_frame mount = tbi_frame_load(def->pos, def->quat);
  return tbi_frame_mul(&home, &mount);
}

/* a wrench on a link as force and moment at the sensor, in its axes */
static void wrench_at(const tabi_world *w, int32_t link, sv wrench, const tbi_frame *frame,
                      double value[6]) {
  v3 force = v4_to(wrench.lin);
  v3 arm = v3_sub(tbi_tree_origin(w->d, body_of(w, link)), frame->pos);
  v3 moment = v3_add(v4_to(wrench.ang), v3_cross(arm, force));
  v3_store(m3_tmulv(&frame->rot, force), value);
  v3_store(m3_tmulv(&frame->rot, moment), value + 3);
}

/* where a wrench has no moment about x and y, in the plane at a height */
static void centre_of(const double wrench[6], double height, double centre[2]) {
  const double *force = wrench;
  const double *moment = wrench + 3;
  if (force[2] <= 0) return;
  centre[0] = (height * force[0] - moment[1]) / force[2];
  centre[1] = (height * force[1] + moment[0]) / force[2];
}

static void pressure_centre(const tabi_world *w, const tabi_sensor_def *def, double *value) {
  tbi_frame frame = frame_of(w, def, def->link);
  double wrench[6];
  wrench_at(w, def->link, w->sensors.push[def->link].wrench, &frame, wrench);
  centre_of(wrench, 0, value);
  value[2] = wrench[2];
}

/* in the level plane where the contacts are, by the mean of their heights */
static void zero_moment_point(const tabi_world *w, const tabi_sensor_def *def, double *value) {
  int32_t body = body_of(w, def->link);
  if (body == TABI_WORLD) return;
  const tbi_push *push = &w->sensors.tree_push[tree_of(w, body)];
  v3 origin = tbi_tree_origin(w->d, body);
  double wrench[6];
  v3_store(v4_to(push->wrench.lin), wrench);
  v3_store(v4_to(push->wrench.ang), wrench + 3);
  value[3] = wrench[2];
  if (wrench[2] <= 0) return;
  value[2] = push->height / wrench[2];
  centre_of(wrench, value[2] - origin.z, value);
  value[0] += origin.x;
  value[1] += origin.y;
}

/* what joint forces, servos and actuators gave; implicit servos, and all of gait, at the end of the
 * step */
static double drive_of(const tabi_world *w, int32_t joint) {
  int32_t index = w->model->joint_body[joint];
  if (index == TABI_NONE) return 0;
  const tbi_body *body = &w->model->body[index];
  const tabi_servo *servo = &w->servo[joint];
  if (tbi_world_walks(w)) return tbi_walk_drive(&w->walk, body->v);
  double force = w->force[body->v];
  if (!servo->implicit || tbi_world_is_explicit(w)) return force;
  double v = w->v_new[body->v];
  double q = w->q[body->q] + w->def.timestep * v;
  return force + servo->kp * (servo->target - q) + servo->kd * (servo->target_rate - v);
}

static void measure(const tabi_world *w, const tabi_sensor_def *def, double *value) {
  tbi_frame frame;
  int32_t link = def->link;
  switch (def->type) {
  case TABI_SENSOR_FORCE_TORQUE:
    link = w->model->joint[def->joint].child;
    frame = frame_of(w, def, link);
    wrench_at(w, link, w->sensors.load[link], &frame, value);
    break;
  case TABI_SENSOR_ACCELEROMETER: {
    frame = frame_of(w, def, link);
    v3 arm = v3_sub(frame.pos, tbi_tree_origin(w->d, body_of(w, link)));
    v3 felt = acceleration_at(w, body_of(w, link), v4_from(arm));
    v3_store(m3_tmulv(&frame.rot, felt), value);
    break;
  }
  case TABI_SENSOR_JOINT_TORQUE:
    value[0] = drive_of(w, def->joint);
    break;
  case TABI_SENSOR_CONTACT:
    value[1] = w->sensors.push[link].normal;
    value[0] = value[1] > 0 ? 1 : 0;
    break;
  case TABI_SENSOR_PRESSURE_CENTRE:
    pressure_centre(w, def, value);
    break;
  case TABI_SENSOR_ZMP:
    zero_moment_point(w, def, value);
    break;
  default:
    break;
  }
}

void tbi_truth_of_step(tabi_world *w) {
  const tabi_model *model = w->model;
  tbi_sensors *s = &w->sensors;
  double *qdd = w->bias; /* has had its time */
  bool walks = tbi_world_walks(w);
  if (walks) tbi_walk_acceleration(&w->walk, qdd);
  for (int32_t k = 0; k < model->nv && !walks; ++k)
    qdd[k] = (w->v_new[k] - w->v[k]) / w->def.timestep;
  if (walks) {
    tbi_kinematics(w->d, w->q_new, w->v_new);
  } else if (w->def.integrator == TABI_RK4) {
    /* its stages have moved the bodies away from where the step began */
    tbi_kinematics(w->d, w->q, w->v);
  }
  accelerate(w, qdd);
  if (s->feels_forces) begin_loads(w);
  sum_contacts(w);
  if (s->feels_forces) {
    unload_connections(w);
    gather_loads(w);
  }
  memset(s->truth, 0, sizeof *s->truth * TABI_SENSOR_MAX * (size_t)model->nsensor);
  for (int32_t i = 0; i < model->nsensor; ++i)
    measure(w, &model->sensor[i], s->truth + TABI_SENSOR_MAX * (int64_t)i);
}

/* a joint that was locked stands where it was */
static double position_of(const tabi_world *w, int32_t joint) {
  int32_t body = w->model->joint_body[joint];
  return body == TABI_NONE ? w->model->joint[joint].start[0] : w->q[w->model->body[body].q];
}

void tbi_truth_of_state(tabi_world *w) {
  const tabi_model *model = w->model;
  (void)tabi_world_dynamics(w);
  for (int32_t i = 0; i < model->nsensor; ++i) {
    const tabi_sensor_def *def = &model->sensor[i];
    double *value = w->sensors.truth + TABI_SENSOR_MAX * (int64_t)i;
    if (def->type == TABI_SENSOR_ENCODER) value[0] = position_of(w, def->joint);
    if (def->type != TABI_SENSOR_GYRO) continue;
    tbi_frame frame = frame_of(w, def, def->link);
    v3 turn = v4_to(w->d->body[body_of(w, def->link)].vel.ang);
    v3_store(m3_tmulv(&frame.rot, turn), value);
  }
}

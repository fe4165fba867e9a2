/* sensor_truth.c - what sensors would say if they were perfect.
 *
 * Forces and accelerations are means over the step, at the posture of its start, or of its middle
 * (middle.c): that is where the step's own equation of motion holds,
 *     M (v+ - v) / h + bias = joint forces + J' (impulses of contacts and connections) / h + ...,
 * whatever solved it.  So the wrench that a joint transmits is found by inverse dynamics with the
 * accelerations (v+ - v) / h: that of all links behind the joint, less what else acts on them.  It
 * is summed link by link, so that joints which do not move have one too; but links of a body with
 * no sensor between them are accelerated as one.
 *
 * Bases that float get a twist afterwards, which restores momentum (momentum.c).  No force gave it,
 * so that force sensors do not feel it; accelerometers see it as part of the motion.  Neither
 * feels that velocities were scaled (energy_balance.c). */
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
  v4 arm = v4_from(v3_sub(point, tbi_tree_origin(w->d, body_of(w, link))));
  v4 push = v4_from(force);
  return (sv){push, v4_cross(arm, push)};
}

/* acceleration minus gravity of a point that moves with a body */
static v4 acceleration_at(const tabi_world *w, int32_t body, v4 arm) {
  const tbi_body_state *state = &w->d->body[body];
  v4 turning = v4_cross(state->vel.ang, sv_at(state->vel, arm));
  return v4_add(sv_at(w->d->acc[body], arm), turning);
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
  v3 force = v3_scale(def->mass, v4_to(acceleration_at(w, home->body, arm)));
  s3 inertia = s3_rotate(&rot, s3_load(def->inertia));
  v3 turn = v4_to(state->vel.ang);
  v3 moment = s3_mulv(inertia, v4_to(w->d->acc[home->body].ang));
  moment = v3_add(moment, v3_cross(turn, s3_mulv(inertia, turn)));
  moment = v3_add(moment, v3_cross(v4_to(arm), force));
  return (sv){v4_from(force), v4_from(moment)};
}

/* the same for a body, see rnea.c */
static sv inertial_wrench_of_body(const tabi_world *w, int32_t body) {
  const tbi_body_state *state = &w->d->body[body];
  sv momentum = inertia_mulv(&state->inertia, state->vel);
  return sv_add(inertia_mulv(&state->inertia, w->d->acc[body]),
                sv_cross_force(state->vel, momentum));
}

/* accelerations minus gravity of the bodies that some sensor needs (see rnea.c) */
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

/* Takes the twists that restored momentum out of accelerations, or adds them again: the axes of a
 * free joint are the same for all bodies of the tree. */
static void add_twists(tabi_world *w, double rate) {
  const tabi_model *model = w->model;
  for (int32_t i = 0; w->floating.any && i < w->sensors.nbody; ++i) {
    int32_t body = w->sensors.body[i];
    int32_t tree = model->body[body].tree;
    if (!tbi_world_is_restored(w, tree)) continue;
    int32_t base = model->body[model->tree_body[tree]].v;
    for (int32_t k = 0; k < 6; ++k)
      w->d->acc[body] =
          sv_axpy(w->d->acc[body], rate * w->floating.tree[tree].change[k], w->d->axis[base + k]);
  }
}

static void begin_loads(tabi_world *w) {
  tbi_sensors *s = &w->sensors;
  for (int32_t i = 0; i < s->nfelt; ++i) {
    int32_t link = s->felt[i];
    sv load = sv_zero();
    if (s->feeling[link] == TBI_FELT_LINK) load = inertial_wrench(w, link);
    if (s->feeling[link] == TBI_FELT_BODY) load = inertial_wrench_of_body(w, body_of(w, link));
    s->load[link] = w->state.head->external ? sv_sub(load, s->external[link]) : load;
  }
}

/* a wrench that acts on a felt link itself, its joint need not transmit */
static void unload(tabi_world *w, int32_t link, double sign, sv wrench) {
  sv *load = &w->sensors.load[link];
  if (w->sensors.feeling[link] != TBI_FELT_NOT) *load = sv_axpy(*load, -sign, wrench);
}

/* connections pull at b where its frame is, and with the opposite at a */
static void unload_connections(tabi_world *w) {
  for (int32_t i = 0; i < w->model->nconnection; ++i) {
    const tabi_connection_def *def = &w->model->connection[i];
    const tabi_connection_state *state = &w->solution.connection[i];
    v3 at = v3_load(def->pos_b);
    if (def->b != TABI_WORLD) {
      tbi_frame home = tbi_link_frame(w->d, def->b);
      at = v3_add(home.pos, m3_mulv(&home.rot, at));
    }
    v3 force = v3_load(state->force);
    sv couple = {v4_zero(), v4_from(v3_load(state->torque))};
    unload(w, def->b, 1, sv_add(wrench_on(w, def->b, force, at), couple));
    unload(w, def->a, -1, sv_add(wrench_on(w, def->a, force, at), couple));
  }
}

/* a wrench about the origin of one body's tree, about that of another's */
static sv moved(const tabi_world *w, sv wrench, int32_t from, int32_t to) {
  if (tree_of(w, from) == tree_of(w, to)) return wrench;
  v3 arm = v3_sub(tbi_tree_origin(w->d, from), tbi_tree_origin(w->d, to));
  wrench.ang = v4_add(wrench.ang, v4_cross(v4_from(arm), wrench.lin));
  return wrench;
}

/* a felt link adds its load to that of its parent, if that is felt too */
static void gather_loads(tabi_world *w) {
  const tabi_model *model = w->model;
  const tbi_sensors *s = &w->sensors;
  sv *load = s->load;
  for (int32_t i = s->nfelt - 1; i >= 0; --i) {
    int32_t link = s->felt[i];
    int32_t parent = parent_of(model, link);
    if (s->feeling[parent] == TBI_FELT_NOT) continue;
    sv handed = moved(w, load[link], body_of(w, link), body_of(w, parent));
    load[parent] = sv_add(load[parent], handed);
  }
}

/* one side of a contact; wrench and height count contacts with other trees only */
static void add_contact(tabi_world *w, const tabi_contact *c, int32_t link, int32_t other,
                        double rate) {
  tbi_sensors *s = &w->sensors;
  if (!s->feels_contacts && s->feeling[link] == TBI_FELT_NOT) return;
  int32_t tree = tree_of(w, body_of(w, link));
  v3 point = v3_load(c->point);
  v3 force = v3_scale(rate, v3_load(c->impulse));
  sv wrench = wrench_on(w, link, force, point);
  wrench.ang = v4_add(wrench.ang, v4_scale(rate, v4_from(v3_load(c->couple))));
  unload(w, link, 1, wrench);
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
  for (int32_t i = 0; i < w->solution.ncontact; ++i) {
    const tabi_contact *c = &w->solution.contact[i];
    add_contact(w, c, c->link_a, c->link_b, -rate);
    add_contact(w, c, c->link_b, c->link_a, rate);
  }
  if (s->feels_contacts) weld_pushes(w);
}

/* A sensor's axes in the world and its place from the origin of its tree. */
typedef struct mounted {
  m4 axes;
  v4 pos;
} mounted;

static mounted mount_of(const tabi_world *w, const tbi_sensor_site *site) {
  const tbi_body_state *state = &w->d->body[site->body];
  return (mounted){m4_mul3(&state->rot, &site->mount.rot),
                   v4_add(state->pos, m4_mulv3(&state->rot, site->mount.pos))};
}

/* a vector of the world in the axes of a sensor */
static void see(const mounted *at, v4 vector, double *value) {
  value[0] = v4_dot(at->axes.x, vector);
  value[1] = v4_dot(at->axes.y, vector);
  value[2] = v4_dot(at->axes.z, vector);
}

/* a wrench about the origin of a sensor's tree as force and moment at the sensor, in its axes */
static void see_wrench(const mounted *at, sv wrench, double value[6]) {
  see(at, wrench.lin, value);
  see(at, v4_sub(wrench.ang, v4_cross(at->pos, wrench.lin)), value + 3);
}

/* where a wrench has no moment about x and y, in the plane at a height */
static void centre_of(const double wrench[6], double height, double centre[2]) {
  const double *force = wrench;
  const double *moment = wrench + 3;
  if (force[2] <= 0) return;
  centre[0] = (height * force[0] - moment[1]) / force[2];
  centre[1] = (height * force[1] + moment[0]) / force[2];
}

static void pressure_centre(const tabi_world *w, const tbi_sensor_site *site, double *value) {
  mounted at = mount_of(w, site);
  double wrench[6];
  see_wrench(&at, w->sensors.push[site->link].wrench, wrench);
  value[0] = value[1] = 0;
  centre_of(wrench, 0, value);
  value[2] = wrench[2];
}

/* in the level plane where the contacts are, by the mean of their heights */
static void zero_moment_point(const tabi_world *w, const tbi_sensor_site *site, double *value) {
  memset(value, 0, sizeof *value * (size_t)site->size);
  if (site->body == TABI_WORLD) return;
  const tbi_push *push = &w->sensors.tree_push[tree_of(w, site->body)];
  v3 origin = tbi_tree_origin(w->d, site->body);
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

/* what joint forces, servos and actuators gave */
static double drive_of(const tabi_world *w, int32_t joint) {
  int32_t body = w->model->joint_body[joint];
  return body == TABI_NONE ? 0 : w->solution.applied[w->model->body[body].v];
}

static void measure(const tabi_world *w, int32_t sensor, double *value) {
  const tabi_sensor_def *def = &w->model->sensor[sensor];
  const tbi_sensor_site *site = &w->sensors.site[sensor];
  mounted at;
  switch (def->type) {
  case TABI_SENSOR_FORCE_TORQUE:
    at = mount_of(w, site);
    see_wrench(&at, w->sensors.load[site->link], value);
    break;
  case TABI_SENSOR_ACCELEROMETER:
    at = mount_of(w, site);
    see(&at, acceleration_at(w, site->body, at.pos), value);
    break;
  case TABI_SENSOR_JOINT_TORQUE:
    value[0] = drive_of(w, def->joint);
    break;
  case TABI_SENSOR_CONTACT:
    value[1] = w->sensors.push[site->link].normal;
    value[0] = value[1] > 0 ? 1 : 0;
    break;
  case TABI_SENSOR_PRESSURE_CENTRE:
    pressure_centre(w, site, value);
    break;
  case TABI_SENSOR_ZMP:
    zero_moment_point(w, site, value);
    break;
  default:
    break;
  }
}

/* At the end of the step, as its forces left it.  What momentum.c has changed of a base is taken
 * back by add_twists. */
static double unscaled_velocity(tabi_world *w, int32_t dof) {
  double v = w->solution.v_new[dof];
  if (!w->floating.balanced && !w->floating.any) return v;
  const tabi_model *model = w->model;
  int32_t tree = model->body[model->dof_body[dof]].tree;
  bool base = model->dof_body[dof] == model->tree_body[tree] && tbi_world_is_restored(w, tree);
  return base ? v : v / w->floating.tree[tree].scale;
}

void tbi_truth_of_step(tabi_world *w) {
  const tabi_model *model = w->model;
  tbi_sensors *s = &w->sensors;
  double *qdd = w->scratch.dofs;
  bool gait = tbi_world_has_gait(w);
  if (gait) tbi_gait_acceleration(w->gait, qdd);
  for (int32_t k = 0; k < model->nv && !gait; ++k)
    qdd[k] = (unscaled_velocity(w, k) - w->state.v[k]) / w->def.timestep;
  if (gait) {
    tbi_kinematics(w->d, w->solution.q_new, w->solution.v_new);
  } else if (w->def.integrator == TABI_MIDPOINT && tbi_world_is_middle(w)) {
    tbi_kinematics(w->d, w->free.q_middle, w->free.v_bias);
  } else if (w->def.integrator == TABI_RK4 || w->floating.any || w->floating.balanced) {
    /* its stages, or momentum.c, have moved the bodies away from where the step began */
    tbi_kinematics(w->d, w->state.q, w->state.v);
  }
  tbi_world_feel_swinging(w);
  accelerate(w, qdd);
  add_twists(w, -1 / w->def.timestep);
  if (s->feels_forces) begin_loads(w);
  add_twists(w, 1 / w->def.timestep);
  sum_contacts(w);
  if (s->feels_forces) {
    unload_connections(w);
    gather_loads(w);
  }
  for (int32_t i = 0; i < model->nsensor; ++i)
    measure(w, i, s->truth + TABI_SENSOR_MAX * (int64_t)i);
}

/* a joint that was locked stands where it was */
static double position_of(const tabi_world *w, int32_t joint) {
  int32_t body = w->model->joint_body[joint];
  return body == TABI_NONE ? w->model->joint[joint].initial_q[0]
                           : w->state.q[w->model->body[body].q];
}

void tbi_truth_of_state(tabi_world *w) {
  const tabi_model *model = w->model;
  (void)tbi_world_dynamics(w);
  for (int32_t i = 0; i < model->nsensor; ++i) {
    const tabi_sensor_def *def = &model->sensor[i];
    double *value = w->sensors.truth + TABI_SENSOR_MAX * (int64_t)i;
    if (def->type == TABI_SENSOR_ENCODER) value[0] = position_of(w, def->joint);
    if (def->type != TABI_SENSOR_GYRO) continue;
    mounted at = mount_of(w, &w->sensors.site[i]);
    see(&at, w->d->body[w->sensors.site[i].body].vel.ang, value);
  }
}

/* world.c - making a world, and what can be asked of it. */
#include "world/memory.h"

#include "base/assertion.h"
#include "base/error.h"
#include "contact/surface.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

tabi_world_def tabi_world_def_default(const tabi_model *model) {
  TBI_ASSERT(model);
  tabi_world_def def = {
      .def_size = sizeof(tabi_world_def),
      .contact = TABI_CONTACT_CONE,
      .integrator = TABI_SEMI_IMPLICIT,
      .timestep = model->timestep,
      .tolerance = -1,
      .max_contacts = 0,
      .allowed_depth = -1,
      .correction = 0.2,
      .correction_speed = 0.5,
      .warm_start = 1,
      .friction = -1,
      .seed = 1,
      .lcp = {.static_friction = true},
      .penalty = {.tangential_stiffness = 1},
  };
  memcpy(def.gravity, model->gravity, sizeof def.gravity);
  return def;
}

static bool in_range(double x, double low, double high) { return x >= low && x <= high; }

/* what a def asks of its contact method that the method cannot do, or NULL */
static const char *method_complaint(const tabi_model *model, const tabi_world_def *def,
                                    const tabi_contact_info *info) {
  bool is_explicit = def->integrator == TABI_RK4 || def->integrator == TABI_EULER;
  if (info->implicit_only && is_explicit) return "this published variant needs semi-implicit steps";
  if (!info->planar_biped) return NULL;
  if (!(def->gait.biped && def->gait.biped->model == model))
    return "contact method gait needs a tabi_gait made for this model";
  if (def->max_contacts > 0 && def->max_contacts < 4)
    return "contact method gait needs max_contacts >= 4, or 0";
  return NULL;
}

/* what is wrong with a def, or NULL */
static const char *complaint(const tabi_model *model, const tabi_world_def *def) {
  if (def->def_size != sizeof *def) return "tabi_world_def was not made by its default function";
  if ((unsigned)def->contact >= TABI_CONTACT_COUNT) return "unknown contact method";
  if ((unsigned)def->integrator >= TABI_INTEGRATOR_COUNT) return "unknown integrator";
  if ((unsigned)def->fallback >= TABI_FALLBACK_COUNT) return "unknown fallback";
  if ((unsigned)def->impacts >= TABI_IMPACTS_COUNT) return "unknown impacts";
  if (!in_range(def->timestep, 1e-7, 0.1)) return "timestep must be in [1e-7, 0.1]";
  if (!(v3_norm(v3_load(def->gravity)) <= TBI_MAX_GRAVITY))
    return "gravity must be at most 1e6 m/s^2";
  if (isnan(def->tolerance)) return "tolerance must be a number";
  if (def->iterations != 0 && def->iterations < 2) return "iterations must be >= 2";
  if (def->budget < 0) return "budget must be >= 0";
  if (def->max_contacts < 0 || def->max_contacts > TBI_MAX_CONTACTS)
    return "max_contacts must be in [0, 1000000]";
  if (!(def->allowed_depth <= 1)) return "allowed_depth must be at most 1, or negative";
  if (!in_range(def->correction, 0, 1)) return "correction must be in [0, 1]";
  if (!in_range(def->correction_speed, 0, TBI_MAX_SPEED)) return "correction_speed must be >= 0";
  if (!in_range(def->warm_start, 0, 1)) return "warm_start must be in [0, 1]";
  if (!in_range(def->penalty.tangential_stiffness, 0, 1e3))
    return "penalty.tangential_stiffness must be in [0, 1000]";
  if ((unsigned)def->cone.storage >= TABI_STORAGE_COUNT ||
      (unsigned)def->lcp.storage >= TABI_STORAGE_COUNT)
    return "unknown storage";
  if (!(def->friction < HUGE_VAL)) return "friction must be finite, or negative";
  return method_complaint(model, def, tabi_contact_describe(def->contact));
}

/* the farthest point of a shape from the origin of its body */
static double radius_of(const tabi_model *model, int32_t index) {
  const tabi_shape_def *shape = &model->shape[index];
  const double *size = shape->size;
  double radius = 0;
  switch (shape->type) {
  case TABI_SHAPE_SPHERE:
    radius = size[0];
    break;
  case TABI_SHAPE_CAPSULE:
    radius = size[0] + 0.5 * size[1];
    break;
  case TABI_SHAPE_CYLINDER:
    radius = sqrt(size[0] * size[0] + 0.25 * size[1] * size[1]);
    break;
  case TABI_SHAPE_BOX:
    radius = 0.5 * v3_norm(v3_load(size));
    break;
  case TABI_SHAPE_ELLIPSOID:
    radius = fmax(fmax(size[0], size[1]), size[2]);
    break;
  case TABI_SHAPE_MESH:
    for (int32_t i = 0; i < model->mesh[shape->mesh].nvertex; ++i) {
      const double *vertex = model->mesh[shape->mesh].vertices + 3 * (size_t)i;
      radius = fmax(radius, v3_norm(v3_load(vertex)));
    }
    break;
  default:
    break;
  }
  radius += v3_norm(v3_load(shape->pos));
  if (shape->link != TABI_WORLD) radius += v3_norm(model->link_home[shape->link].frame.pos);
  return radius;
}

static void fill_constants(tabi_world *w) {
  const tabi_model *model = w->model;
  tbi_surface_fill(model, w->def.friction, w->constants.surface);
  for (int32_t s = 0; s < model->nshape; ++s) {
    int32_t link = model->shape[s].link;
    w->constants.shape_body[s] = link == TABI_WORLD ? TABI_WORLD : model->link_home[link].body;
    w->constants.shape_radius[s] = radius_of(model, s);
  }
  double mass = 0;
  for (int32_t i = 0; i < model->nbody; ++i)
    mass += model->body[i].mass;
  w->constants.weight = mass * v3_norm(v3_load(w->def.gravity));
  for (int32_t i = 0; i < model->nlink; ++i)
    w->constants.lifts = w->constants.lifts || model->link[i].buoyancy != 0;
}

static void initialise(tabi_world *w) {
  const tabi_model *model = w->model;
  w->state.head->seed = w->def.seed;
  w->state.head->state_size = (int64_t)w->state_size;
  w->state.head->contact_size = (int64_t)tbi_world_contact_size(w);
  tabi_model_initial_q(model, w->state.q);
  if (!tbi_world_joins(w)) {
    w->d = tbi_dynamics_make(model, w->d, w->scratch.shared);
    w->collision = tbi_collision_make(model, w->collision, w->scratch.shared);
  }
  tbi_world_claim_workspace(w);
  tbi_setup *s = &w->setup;
  s->model = model;
  s->d = w->d;
  s->shape_body = w->constants.shape_body;
  fill_constants(w);
  tbi_world_find_drives(w);
  tbi_world_start_tendons(w);
  tbi_world_order_loops(w);
  tbi_world_find_bases(w);
  tbi_world_find_hanging(w);
  tbi_sleep_start(w);
  if (tbi_world_has_gait(w)) tbi_world_make_gait(w);
  tbi_sensors_start(w);
}

void tbi_world_def_complete(tabi_world_def *def) {
  const tbi_formulation *method = tbi_formulations[def->contact];
  if (def->tolerance < 0) def->tolerance = method->tolerance;
  if (def->iterations == 0) def->iterations = method->iterations;
  /* explicit integrators do not move along the velocity that contacts were solved for, and leave
   * them deeper */
  bool loose = def->integrator == TABI_RK4 || def->integrator == TABI_EULER;
  if (def->allowed_depth < 0) def->allowed_depth = loose ? 1e-4 : 5e-6;
  def->sleep = def->sleep && def->integrator == TABI_SEMI_IMPLICIT && !method->info.compliant &&
               !method->info.planar_biped;
  if (def->fallback == TABI_FALLBACK_DEFAULT) {
    bool newton = method->info.newton && def->tolerance > 0;
    def->fallback = newton ? TABI_FALLBACK_NEWTON : TABI_FALLBACK_NONE;
  }
}

tabi_status tbi_world_def_check(const tabi_model *model, const tabi_world_def *def,
                                tabi_error *err) {
  const char *wrong = complaint(model, def);
  if (wrong) return tbi_error_set(err, TABI_ERR_ARGUMENT, (tabi_place){NULL, 0}, "%s", wrong);
  return tbi_sensors_check(model, def, err);
}

tabi_world *tabi_world_create(const tabi_model *model, const tabi_world_def *def, tabi_error *err) {
  tabi_world_def defaults = tabi_world_def_default(model);
  if (!def) def = &defaults;
  if (tbi_world_def_check(model, def, err) != TABI_OK) return NULL;
  if (tbi_dynamics_check_size(model, err) != TABI_OK) return NULL;
  tabi_world *w = tbi_world_alloc(model, def, err);
  if (!w) return NULL;
  initialise(w);
  if (tbi_dynamics_check(tbi_world_dynamics(w), err) == TABI_OK) return w;
  tabi_world_destroy(w);
  return NULL;
}

void tabi_world_destroy(tabi_world *world) {
  if (!world) return;
  tbi_world_leave(world);
  free(world->grown);
  free(world);
}

const tabi_model *tabi_world_model(const tabi_world *world) {
  TBI_ASSERT(world);
  return world->model;
}

tabi_world_def tabi_world_get_def(const tabi_world *world) {
  TBI_ASSERT(world);
  return world->def;
}

const tabi_error *tabi_world_error(const tabi_world *world) {
  TBI_ASSERT(world);
  return &world->error;
}

const double *tabi_world_q(const tabi_world *world) {
  TBI_ASSERT(world);
  return world->state.q;
}

const double *tabi_world_v(const tabi_world *world) {
  TBI_ASSERT(world);
  return world->state.v;
}

int64_t tabi_world_steps(const tabi_world *world) {
  TBI_ASSERT(world);
  return world->state.head->steps;
}

double tabi_world_time(const tabi_world *world) {
  TBI_ASSERT(world);
  return (double)world->state.head->steps * world->def.timestep;
}

tabi_dynamics *tbi_world_dynamics(tabi_world *world) {
  TBI_ASSERT(world);
  tbi_world_claim_posture(world);
  if (!world->current) tbi_sleep_pose(world);
  world->current = true;
  return world->d;
}

const tabi_dynamics *tabi_world_dynamics(tabi_world *world) { return tbi_world_dynamics(world); }

tabi_certificate tabi_world_certificate(const tabi_world *world) {
  TBI_ASSERT(world);
  return world->solution.certificate;
}

tabi_energy tabi_world_energy(tabi_world *world) {
  tabi_dynamics *d = tbi_world_dynamics(world);
  double com[3];
  tabi_dynamics_com(d, com);
  double height = v3_dot(v3_load(world->def.gravity), v3_load(com));
  return (tabi_energy){
      .kinetic = tabi_dynamics_kinetic(d) + tbi_world_tendon_kinetic(world),
      .potential = -world->model->mass * height,
      .spring = tbi_world_spring_energy(world),
      .work = world->state.head->work,
  };
}

tabi_status tabi_world_set_state(tabi_world *world, const double *q, const double *v,
                                 tabi_error *err) {
  TBI_ASSERT(world && (world->model->nv == 0 || (q && v)));
  const tabi_model *model = world->model;
  if (!tbi_world_is_motion(model, q, v)) {
    return tbi_error_set(err, TABI_ERR_ARGUMENT, (tabi_place){NULL, 0},
                         "state: no position may exceed %g and no speed %g, and quaternions need "
                         "length",
                         TBI_MAX_POSITION, TBI_MAX_SPEED);
  }
  tbi_world_claim_workspace(world);
  memcpy(world->state.v, v, sizeof *v * (size_t)model->nv);
  tbi_world_forget_motion(world);
  tbi_sleep_forget(world);
  /* moving by zero velocity normalises the quaternions */
  memset(world->solution.v_move, 0, sizeof *world->solution.v_move * (size_t)model->nv);
  tabi_model_integrate(model, q, world->solution.v_move, 0, world->state.q);
  if (tbi_world_has_gait(world))
    tbi_gait_begin(world->gait, tabi_world_time(world), world->state.q, world->state.v);
  world->current = false;
  tbi_sensors_refill(world);
  return TABI_OK;
}

void tabi_world_set_servo(tabi_world *world, int32_t joint, const tabi_servo *servo) {
  TBI_ASSERT(world && servo);
  TBI_ASSERT(joint >= 0 && joint < world->model->njoint);
  TBI_ASSERT(tbi_joint_nq(world->model->joint[joint].type) == 1);
  world->state.servo[joint] = *servo;
}

tabi_servo tabi_world_get_servo(const tabi_world *world, int32_t joint) {
  TBI_ASSERT(world && joint >= 0 && joint < world->model->njoint);
  return world->state.servo[joint];
}

void tabi_world_set_control(tabi_world *world, int32_t actuator, double u) {
  TBI_ASSERT(world && actuator >= 0 && actuator < world->model->nactuator);
  world->state.control[actuator] = u;
}

void tbi_world_lift(tabi_world *w) {
  const double still[3] = {0, 0, 0};
  for (int32_t i = 0; i < w->model->nlink; ++i) {
    const tabi_link_def *link = &w->model->link[i];
    if (link->buoyancy == 0) continue;
    double force[3];
    double point[3];
    tbi_frame frame = tbi_link_frame(tbi_world_dynamics(w), i);
    v3_store(v3_scale(-link->buoyancy * link->mass, v3_load(w->def.gravity)), force);
    v3_store(v3_add(frame.pos, m3_mulv(&frame.rot, v3_load(link->com))), point);
    tabi_world_apply(w, i, force, still, point);
  }
  w->state.head->lifted = true;
}

void tabi_world_apply(tabi_world *world, int32_t link, const double force[3],
                      const double torque[3], const double point[3]) {
  TBI_ASSERT(world && force && torque && point);
  TBI_ASSERT(link >= 0 && link < world->model->nlink);
  int32_t body = world->model->link_home[link].body;
  sv *felt = world->sensors.feels_forces ? &world->sensors.external[link] : NULL;
  if (body == TABI_WORLD && !felt) return;
  tabi_dynamics *d = tbi_world_dynamics(world);
  v3 arm = v3_sub(v3_load(point), tbi_tree_origin(d, body));
  v3 moment = v3_add(v3_load(torque), v3_cross(arm, v3_load(force)));
  sv wrench = {v4_from(v3_load(force)), v4_from(moment)};
  if (felt) *felt = sv_add(*felt, wrench);
  if (body != TABI_WORLD) world->state.external[body] = sv_add(world->state.external[body], wrench);
  world->state.head->external = true;
}

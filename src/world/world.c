/* world.c - a world's memory and what can be asked of it. */
#include "world/world.h"

#include "base/array.h"
#include "base/assertion.h"
#include "base/error.h"
#include "base/layout.h"
#include "contact/surface.h"
#include "integrate/rk4.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define MAX_BLOCKS ((int64_t)1 << 16)

tabi_world_def tabi_world_def_default(const tabi_model *model) {
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

/* what a def asks of its contact method that this cannot do, or NULL */
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
  if (!in_range(def->timestep, 1e-7, 0.1)) return "timestep must be in [1e-7, 0.1]";
  if (!(v3_norm(v3_load(def->gravity)) < 1e6)) return "gravity must be finite";
  if (isnan(def->tolerance)) return "tolerance must be a number";
  if (def->iterations != 0 && def->iterations < 2) return "iterations must be >= 2";
  if (def->max_contacts < 0) return "max_contacts must be >= 0";
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

static int64_t row_count(const tabi_model *model) { return (int64_t)model->nv * TBI_ROW_KINDS; }

static void place_state(tbi_layout *at, const tabi_model *model, tabi_world *w) {
  size_t start = at->used;
  w->state.head = tbi_layout_take(at, 1, sizeof *w->state.head);
  w->state.q = tbi_layout_take(at, model->nq, sizeof *w->state.q);
  w->state.v = tbi_layout_take(at, model->nv, sizeof *w->state.v);
  w->state.servo = tbi_layout_take(at, model->njoint, sizeof *w->state.servo);
  w->state.control = tbi_layout_take(at, model->nactuator, sizeof *w->state.control);
  w->state.external = tbi_layout_take(at, model->nbody, sizeof *w->state.external);
  w->state.warm = tbi_layout_take(at, w->def.max_contacts, sizeof *w->state.warm);
  w->state.row_impulse = tbi_layout_take(at, row_count(model), sizeof *w->state.row_impulse);
  w->state.row_steps = tbi_layout_take(at, model->nv, sizeof *w->state.row_steps);
  tbi_sensors_place_state(at, w);
  tbi_world_place_gait_state(at, w);
  w->state_size = at->used - start;
}

static int64_t longest_path(const tabi_model *model) {
  int32_t depth = 0;
  for (int32_t k = 0; k < model->nv; ++k) {
    if (model->dof_depth[k] > depth) depth = model->dof_depth[k];
  }
  return depth + 4;
}

static int64_t count_rows(const tabi_model *model) {
  int64_t count = 0;
  for (int32_t k = 0; k < model->nv; ++k) {
    if (model->dof_q[k] == TABI_NONE) continue;
    count += isfinite(model->dof_lower[k]) ? 1 : 0;
    count += isfinite(model->dof_upper[k]) ? 1 : 0;
    count += model->dof_friction[k] > 0 ? 1 : 0;
  }
  return count;
}

static int32_t tree_end(const tabi_model *model, int32_t tree) {
  return tree + 1 < model->ntree ? model->tree_body[tree + 1] : model->nbody;
}

/* adds what the bodies of a tree need if all are touched that may be; returns their number */
static int64_t count_ports_of(const tabi_model *model, int32_t tree, tbi_capacity *capacity) {
  int64_t count = 0;
  for (int32_t i = model->tree_body[tree]; i < tree_end(model, tree); ++i) {
    const tbi_body *body = &model->body[i];
    if (!body->collides) continue;
    ++count;
    capacity->port_y += (int64_t)model->dof_depth[body->v + body->nv - 1] + 1 +
                        tbi_cluster_room(model, model->tree_cluster[tree]);
  }
  capacity->ports += count;
  return count;
}

/* ports of one cluster have a block for every two of them, and each its own */
static tbi_capacity count_capacity(const tabi_model *model) {
  tbi_capacity capacity = {.rows = count_rows(model)};
  int32_t cluster = TABI_NONE;
  int64_t own = 0; /* its ports */
  for (int32_t k = 0; k < model->ntree; ++k) {
    int32_t tree = model->tree_order[k];
    if (model->tree_cluster[tree] != cluster) {
      capacity.blocks += tbi_block_count(own);
      own = 0;
      cluster = model->tree_cluster[tree];
    }
    own += count_ports_of(model, tree, &capacity);
  }
  capacity.blocks += tbi_block_count(own);
  if (capacity.blocks > MAX_BLOCKS) capacity.blocks = MAX_BLOCKS;
  return capacity;
}

/* numbers in Y of all joints, and tails if every possible row is there */
static int64_t count_row_y(const tabi_model *model) {
  int64_t count = model->nrow;
  for (int32_t k = 0; k < model->nv; ++k) {
    if (model->dof_q[k] == TABI_NONE) continue;
    int32_t tree = model->body[model->dof_body[k]].tree;
    count += (int64_t)TBI_ROW_KINDS * tbi_cluster_room(model, model->tree_cluster[tree]);
  }
  return count;
}

/* what is used one after another in a step: by collision, by the factor, by the blocks */
static int64_t shared_size(const tabi_model *model, int64_t blocks) {
  size_t size = (size_t)blocks * sizeof(tbi_block);
  size_t collision = tbi_collision_scratch(model);
  size_t masses = tbi_masses_memsize(model);
  if (size < collision) size = collision;
  return (int64_t)(size < masses ? masses : size);
}

static void place_problem(tbi_layout *at, const tabi_model *model, tabi_world *w) {
  tbi_setup *s = &w->setup;
  tbi_problem *p = &s->problem;
  int64_t points = w->def.max_contacts;
  int64_t ports = w->capacity.ports;
  s->max_blocks = w->capacity.blocks;
  p->port = tbi_layout_take(at, ports, sizeof *p->port);
  p->free = tbi_layout_take(at, ports, sizeof *p->free);
  p->velocity = tbi_layout_take(at, ports, sizeof *p->velocity);
  p->received = tbi_layout_take(at, ports, sizeof *p->received);
  p->summed = tbi_layout_take(at, ports, sizeof *p->summed);
  int64_t sums = (int64_t)model->nv + model->cluster_loop[model->ncluster];
  p->sum = tbi_layout_take(at, sums, sizeof *p->sum);
  p->before = tbi_layout_take(at, sums, sizeof *p->before);
  w->scratch.shared = tbi_layout_take(at, shared_size(model, s->max_blocks), 1);
  p->block = w->scratch.shared;
  p->cluster_port = tbi_layout_take(at, model->ncluster, sizeof *p->cluster_port);
  p->cluster_ports = tbi_layout_take(at, model->ncluster, sizeof *p->cluster_ports);
  p->point = tbi_layout_take(at, points, sizeof *p->point);
  p->row = tbi_layout_take(at, w->capacity.rows, sizeof *p->row);
  p->group = tbi_layout_take(at, points, sizeof *p->group);
  s->order = tbi_layout_take(at, 2 * points, sizeof *s->order);
  s->point_of = tbi_layout_take(at, points, sizeof *s->point_of);
  s->count = tbi_layout_take(at, ports + 2, sizeof *s->count);
  s->body_port = tbi_layout_take(at, model->nbody, sizeof *s->body_port);
  s->pivot_root = tbi_layout_take(at, model->nv, sizeof *s->pivot_root);
  s->port_y = tbi_layout_take(at, w->capacity.port_y, sizeof *s->port_y);
  s->y = tbi_layout_take(at, count_row_y(model), sizeof *s->y);
  s->scratch = tbi_layout_take(at, longest_path(model), sizeof *s->scratch);
  tbi_loops_place(at, model, &s->loops);
}

static void place_step(tbi_layout *at, const tabi_model *model, tabi_world *w) {
  int64_t points = w->def.max_contacts;
  w->constants.surface =
      tbi_layout_take(at, tbi_surface_count(model), sizeof *w->constants.surface);
  w->constants.shape_body = tbi_layout_take(at, model->nshape, sizeof *w->constants.shape_body);
  w->constants.shape_radius = tbi_layout_take(at, model->nshape, sizeof *w->constants.shape_radius);
  w->d = tbi_layout_take(at, (int64_t)tbi_dynamics_memsize(model), 1);
  w->collision = tbi_layout_take(at, (int64_t)tbi_collision_memsize(model), 1);
  w->candidates.list = tbi_layout_take(at, points, sizeof *w->candidates.list);
  bool staged = w->method->info.compliant && w->def.integrator == TABI_RK4;
  w->candidates.stage_list =
      tbi_layout_take(at, staged ? points : 0, sizeof *w->candidates.stage_list);
  w->solution.connection = tbi_layout_take(at, model->nconnection, sizeof *w->solution.connection);
  w->constants.loops = tbi_layout_take(at, (int64_t)model->nconnection + model->ncoupling,
                                       sizeof *w->constants.loops);
  w->candidates.margin = tbi_layout_take(at, model->nshape, sizeof *w->candidates.margin);
  double **vectors[] = {
      &w->forces.drive,    &w->forces.passive,
      &w->forces.diagonal, &w->forces.joint_impulse,
      &w->free.u,          &w->free.z,
      &w->solution.v_new,  &w->solution.v_move,
      &w->scratch.dofs,    &w->active_set.friction_impulse,
  };
  for (size_t i = 0; i < sizeof vectors / sizeof vectors[0]; ++i) {
    *vectors[i] = tbi_layout_take(at, model->nv, sizeof(double));
  }
  bool needs_free = w->def.integrator == TABI_MIDPOINT || w->method->advance_velocity;
  w->free.v_free = tbi_layout_take(at, needs_free ? model->nv : 0, sizeof *w->free.v_free);
  w->forces.body_impulse = tbi_layout_take(at, model->nbody, sizeof *w->forces.body_impulse);
  w->active_set.friction = tbi_layout_take(at, model->nv, sizeof *w->active_set.friction);
  w->active_set.limited = tbi_layout_take(at, model->nv, sizeof *w->active_set.limited);
  w->active_set.stuck = tbi_layout_take(at, model->nv, sizeof *w->active_set.stuck);
  w->solution.q_new = tbi_layout_take(at, model->nq, sizeof *w->solution.q_new);
  if (w->def.integrator == TABI_RK4)
    w->scratch.stage =
        tbi_layout_take(at, model->nv + tbi_rk4_scratch(model), sizeof *w->scratch.stage);
  w->candidates.impact_time = tbi_layout_take(at, model->ntree, sizeof *w->candidates.impact_time);
  tbi_layout listed = *at;
  w->solution.contact = tbi_layout_take(&listed, points, sizeof *w->solution.contact);
  size_t scratch = w->method->memsize ? w->method->memsize(model, &w->def) : 0;
  w->scratch.method = tbi_layout_take(at, (int64_t)scratch, 1);
  if (listed.used > at->used) *at = listed;
  tbi_world_place_gait(at, w);
  if (tbi_world_falls_back(w)) {
    w->scratch.fallback = tbi_layout_take(at, (int64_t)tbi_exact.memsize(model, &w->def), 1);
  }
  place_problem(at, model, w);
}

static void place(tbi_layout *at, const tabi_model *model, tabi_world *w) {
  place_state(at, model, w);
  place_step(at, model, w);
  tbi_sensors_place(at, w);
}

/* whether a body is a tree of its own, as things are that lie in heaps */
static bool is_lone(const tabi_model *model, int32_t body) {
  int32_t tree = model->body[body].tree;
  return tree_end(model, tree) - model->tree_body[tree] == 1;
}

static bool is_rough(const tabi_shape_def *shape) {
  return shape->type == TABI_SHAPE_TRIANGLES || shape->type == TABI_SHAPE_HEIGHTFIELD;
}

static int32_t default_contacts_of(const tabi_model *model, const tabi_shape_def *shape) {
  int32_t body = shape->link == TABI_WORLD ? TABI_WORLD : model->link_home[shape->link].body;
  if (body == TABI_WORLD) return shape->type == TABI_SHAPE_PLANE ? 0 : 4;
  if (is_lone(model, body)) return 12;
  bool flat = shape->type == TABI_SHAPE_BOX || shape->type == TABI_SHAPE_MESH;
  return flat ? 4 : 2;
}

/* The contact capacity by default, as many as shapes reasonably have at once: of a robot's, few
 * touch, with the corners of one side at most; on ground made of triangles all of them may, with
 * all the points of a pair. */
static int32_t default_contacts(const tabi_model *model) {
  int32_t smooth = 4;
  int32_t rough = 64;
  bool has_rough = false;
  for (int32_t i = 0; i < model->nshape; ++i) {
    const tabi_shape_def *shape = &model->shape[i];
    if (!shape->collides) continue;
    smooth += default_contacts_of(model, shape);
    rough += 12;
    has_rough = has_rough || is_rough(shape);
  }
  return has_rough ? rough : smooth;
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
}

static void start(tabi_world *w) {
  const tabi_model *model = w->model;
  w->state.head->random = w->def.seed;
  tabi_model_initial_q(model, w->state.q);
  w->d = tbi_dynamics_make(model, w->d, w->scratch.shared);
  w->collision = tbi_collision_make(model, w->collision, w->scratch.shared);
  tbi_setup *s = &w->setup;
  s->model = model;
  s->d = w->d;
  s->z = w->free.z;
  s->candidate = w->candidates.list;
  s->shape_body = w->constants.shape_body;
  fill_constants(w);
  tbi_world_order_loops(w);
  if (tbi_world_has_gait(w)) tbi_world_make_gait(w);
  tbi_sensors_start(w);
}

/* what was left to the method and the integrator */
static void set_defaults(tabi_world_def *def) {
  const tbi_formulation *method = tbi_formulations[def->contact];
  if (def->tolerance < 0) def->tolerance = method->tolerance;
  if (def->iterations == 0) def->iterations = method->iterations;
  /* integrators that do not end a step where the contacts are solved for leave them deeper */
  bool loose = def->integrator == TABI_RK4 || def->integrator == TABI_EULER;
  if (def->allowed_depth < 0) def->allowed_depth = loose ? 1e-4 : 5e-6;
  if (def->fallback == TABI_FALLBACK_DEFAULT) {
    bool newton = method->info.newton && def->tolerance > 0;
    def->fallback = newton ? TABI_FALLBACK_NEWTON : TABI_FALLBACK_NONE;
  }
}

tabi_world *tabi_world_create(const tabi_model *model, const tabi_world_def *def, tabi_error *err) {
  tabi_world_def defaults = tabi_world_def_default(model);
  if (!def) def = &defaults;
  if (complaint(model, def)) {
    (void)tbi_error_set(err, TABI_ERR_ARGUMENT, (tabi_place){NULL, 0}, "%s", complaint(model, def));
    return NULL;
  }
  if (tbi_sensors_check(model, def, err) != TABI_OK) return NULL;
  tabi_world counted = {.model = model,
                        .method = tbi_formulations[def->contact],
                        .def = *def,
                        .capacity = count_capacity(model)};
  if (counted.def.max_contacts == 0) counted.def.max_contacts = default_contacts(model);
  counted.fallback_def = counted.def;
  counted.fallback_def.contact = TABI_CONTACT_EXACT;
  set_defaults(&counted.def);
  set_defaults(&counted.fallback_def);
  tbi_layout at = {NULL, 0};
  tbi_layout_take(&at, 1, sizeof counted);
  place(&at, model, &counted);
  tabi_world *w = tbi_block_alloc(at.used);
  if (!w) {
    (void)tbi_error_memory(err);
    return NULL;
  }
  *w = counted;
  w->memory = at.used;
  at = (tbi_layout){(char *)w, 0};
  tbi_layout_take(&at, 1, sizeof *w);
  place(&at, model, w);
  start(w);
  return w;
}

void tabi_world_destroy(tabi_world *world) { free(world); }

const tabi_model *tabi_world_model(const tabi_world *world) { return world->model; }
tabi_world_def tabi_world_get_def(const tabi_world *world) { return world->def; }
const tabi_error *tabi_world_error(const tabi_world *world) { return &world->error; }
const double *tabi_world_q(const tabi_world *world) { return world->state.q; }
const double *tabi_world_v(const tabi_world *world) { return world->state.v; }
int64_t tabi_world_steps(const tabi_world *world) { return world->state.head->steps; }

double tabi_world_time(const tabi_world *world) {
  return (double)world->state.head->steps * world->def.timestep;
}

tabi_dynamics *tbi_world_dynamics(tabi_world *world) {
  if (!world->current) tbi_kinematics(world->d, world->state.q, world->state.v);
  world->current = true;
  return world->d;
}

const tabi_dynamics *tabi_world_dynamics(tabi_world *world) { return tbi_world_dynamics(world); }

tabi_certificate tabi_world_certificate(const tabi_world *world) {
  return world->solution.certificate;
}

tabi_energy tabi_world_energy(tabi_world *world) {
  tabi_dynamics *d = tbi_world_dynamics(world);
  double com[3];
  tabi_dynamics_com(d, com);
  double height = v3_dot(v3_load(world->def.gravity), v3_load(com));
  return (tabi_energy){
      .kinetic = tabi_dynamics_kinetic(d),
      .potential = -world->model->mass * height,
      .spring = tbi_world_spring_energy(world),
      .work = world->state.head->work,
  };
}

tabi_status tabi_world_set_state(tabi_world *world, const double *q, const double *v,
                                 tabi_error *err) {
  const tabi_model *model = world->model;
  if (!tbi_world_is_motion(model, q, v)) {
    return tbi_error_set(err, TABI_ERR_ARGUMENT, (tabi_place){NULL, 0},
                         "state: positions must be finite, quaternions have length, and no speed "
                         "exceed %g",
                         TBI_MAX_SPEED);
  }
  const double none = 0;
  memcpy(world->state.v, v, sizeof *v * (size_t)model->nv);
  /* moving by nothing makes the quaternions unit */
  for (int32_t i = 0; i < model->nv; ++i)
    world->solution.v_move[i] = none;
  tabi_model_integrate(model, q, world->solution.v_move, 0, world->state.q);
  if (tbi_world_has_gait(world))
    tbi_gait_begin(&world->gait, tabi_world_time(world), world->state.q, world->state.v);
  world->current = false;
  tbi_sensors_refill(world);
  return TABI_OK;
}

void tabi_world_set_servo(tabi_world *world, int32_t joint, const tabi_servo *servo) {
  TBI_ASSERT(joint >= 0 && joint < world->model->njoint);
  TBI_ASSERT(tbi_joint_nq(world->model->joint[joint].type) == 1);
  world->state.servo[joint] = *servo;
}

void tabi_world_set_control(tabi_world *world, int32_t actuator, double u) {
  TBI_ASSERT(actuator >= 0 && actuator < world->model->nactuator);
  world->state.control[actuator] = u;
}

void tabi_world_apply(tabi_world *world, int32_t link, const double force[3],
                      const double torque[3], const double point[3]) {
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

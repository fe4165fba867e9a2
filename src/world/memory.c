/* memory.c - where everything of a world stands: its own part, and the workspace of its steps.
 *
 *   world      tabi_world | state | constants, loops, connections, sensors, gait
 *   made       d, collision: what is made for a model; the workspace's, if it is given
 *   contacts   the part of the state that there is of each contact
 *   workspace  all that a step makes anew: candidates, forces, active set, problem, scratch
 *
 * All of it is one block, unless a workspace is given.  When a world grows, contacts and workspace
 * move to another block; everything else stays where it is, and pointers to it stay valid. */
#include "world/memory.h"

#include "base/array.h"
#include "base/assertion.h"
#include "base/error.h"
#include "contact/surface.h"
#include "integrate/rk4.h"
#include "problem/couples.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static int64_t row_count(const tabi_model *model) { return (int64_t)model->nv * TBI_ROW_KINDS; }

static void place_state(tbi_layout *at, const tabi_model *model, tabi_world *w) {
  size_t start = at->used;
  w->state.head = tbi_layout_take(at, 1, sizeof *w->state.head);
  w->state.q = tbi_layout_take(at, model->nq, sizeof *w->state.q);
  w->state.v = tbi_layout_take(at, model->nv, sizeof *w->state.v);
  w->state.v_change = tbi_layout_take(at, tbi_world_nchange(w), sizeof *w->state.v_change);
  w->state.momentum = tbi_layout_take(at, model->ntree, sizeof *w->state.momentum);
  w->state.servo = tbi_layout_take(at, model->njoint, sizeof *w->state.servo);
  w->state.control = tbi_layout_take(at, model->nactuator, sizeof *w->state.control);
  w->state.tendon_hold = tbi_layout_take(at, model->ntendon, sizeof *w->state.tendon_hold);
  w->state.told_v = tbi_layout_take(at, model->nv, sizeof *w->state.told_v);
  w->state.told = tbi_layout_take(at, model->nv, sizeof *w->state.told);
  w->state.in_place = tbi_layout_take(at, model->nv, sizeof *w->state.in_place);
  w->state.external = tbi_layout_take(at, model->nbody, sizeof *w->state.external);
  w->state.row_impulse = tbi_layout_take(at, row_count(model), sizeof *w->state.row_impulse);
  int64_t drives = (int64_t)model->njoint + model->nactuator;
  w->state.saturated = tbi_layout_take(at, drives, sizeof *w->state.saturated);
  w->state.row_steps = tbi_layout_take(at, model->nv, sizeof *w->state.row_steps);
  tbi_sensors_place_state(at, w);
  tbi_world_place_gait_state(at, w);
  int32_t sleepers = w->def.sleep ? model->ntree : 0;
  w->state.quiet = tbi_layout_take(at, sleepers, sizeof *w->state.quiet);
  w->state.bed = tbi_layout_take(at, sleepers, sizeof *w->state.bed);
  w->state_size = at->used - start;
}

static void place_contact_state(tbi_layout *at, tabi_world *w) {
  int64_t points = w->def.max_contacts;
  w->state.warm = tbi_layout_take(at, points, sizeof *w->state.warm);
  w->state.slipping = tbi_layout_take(at, points, sizeof *w->state.slipping);
  w->state.couple = tbi_layout_take(at, w->has_couples ? points : 0, sizeof *w->state.couple);
  int64_t rolling = tbi_world_is_middle(w) ? points : 0;
  w->state.rolling = tbi_layout_take(at, rolling, sizeof *w->state.rolling);
  w->state.contact = tbi_layout_take(at, w->def.sleep ? points : 0, sizeof *w->state.contact);
}

/* velocities on the longest path, padded to whole vectors */
static int64_t longest_path(const tabi_model *model) {
  int32_t depth = 0;
  for (int32_t k = 0; k < model->nv; ++k) {
    if (model->dof_depth[k] > depth) depth = model->dof_depth[k];
  }
  return depth + 4;
}

/* limits and dry friction of all joints */
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

/* adds the ports of a tree whose colliding bodies are all in contact; returns their number */
static int64_t count_ports_of(const tabi_model *model, int32_t tree, tbi_capacity *capacity) {
  int64_t count = 0;
  for (int32_t i = model->tree_body[tree]; i < tree_end(model, tree); ++i) {
    const tbi_body *body = &model->body[i];
    if (!body->collides) continue;
    ++count;
    capacity->port_y += (int64_t)model->dof_depth[body->v + body->nv - 1] + 1 +
                        tbi_cluster_max_loops(model, model->tree_cluster[tree]);
  }
  capacity->ports += count;
  return count;
}

/* a cluster has one block for every pair of its ports, a port with itself included */
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
  if (capacity.blocks > TBI_FIRST_BLOCKS) capacity.blocks = TBI_FIRST_BLOCKS;
  return capacity;
}

/* numbers in Y of all joints, and tails if every possible row is there */
static int64_t count_row_y(const tabi_model *model) {
  int64_t count = model->nrow;
  for (int32_t k = 0; k < model->nv; ++k) {
    if (model->dof_q[k] == TABI_NONE) continue;
    int32_t tree = model->body[model->dof_body[k]].tree;
    count += (int64_t)TBI_ROW_KINDS * tbi_cluster_max_loops(model, model->tree_cluster[tree]);
  }
  return count;
}

/* bytes of scratch.shared: collision, the factor of M and the blocks use it one after another */
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
  p->couple = tbi_layout_take(at, w->has_couples ? 2 * points : 0, sizeof *p->couple);
  p->row = tbi_layout_take(at, w->capacity.rows, sizeof *p->row);
  int64_t loops = s->sweeps_loops ? model->cluster_loop[model->ncluster] : 0;
  p->loop_row = tbi_layout_take(at, loops, sizeof *p->loop_row);
  p->group = tbi_layout_take(at, points, sizeof *p->group);
  s->order = tbi_layout_take(at, 2 * points, sizeof *s->order);
  s->still = tbi_layout_take(at, tbi_world_is_middle(w) ? points : 0, sizeof *s->still);
  s->point_of = at->base ? s->order + points : NULL; /* once order has been read */
  s->count = tbi_layout_take(at, ports + 2, sizeof *s->count);
  s->body_port = tbi_layout_take(at, model->nbody, sizeof *s->body_port);
  s->pivot_root = tbi_layout_take(at, model->nv, sizeof *s->pivot_root);
  s->port_y = tbi_layout_take(at, w->capacity.port_y, sizeof *s->port_y);
  s->y = tbi_layout_take(at, count_row_y(model), sizeof *s->y);
  s->scratch = tbi_layout_take(at, longest_path(model), sizeof *s->scratch);
}

/* joint vectors and what goes with them */
static void place_vectors(tbi_layout *at, const tabi_model *model, tabi_world *w) {
  double **vectors[] = {
      &w->forces.drive,
      &w->forces.passive,
      &w->forces.give,
      &w->forces.diagonal,
      &w->forces.joint_impulse,
      &w->free.u,
      &w->free.z,
      &w->solution.v_new,
      &w->solution.v_move,
      &w->scratch.dofs,
      &w->active_set.friction_impulse,
  };
  for (size_t i = 0; i < sizeof vectors / sizeof vectors[0]; ++i)
    *vectors[i] = tbi_layout_take(at, model->nv, sizeof(double));
  bool needs_free = w->def.integrator == TABI_MIDPOINT || w->method->advance_velocity;
  w->free.v_free = tbi_layout_take(at, needs_free ? model->nv : 0, sizeof *w->free.v_free);
  w->forces.body_impulse = tbi_layout_take(at, model->nbody, sizeof *w->forces.body_impulse);
  w->active_set.friction = tbi_layout_take(at, model->nv, sizeof *w->active_set.friction);
  int64_t drives = (int64_t)model->njoint + model->nactuator;
  w->active_set.saturated = tbi_layout_take(at, drives, sizeof *w->active_set.saturated);
  w->active_set.soft = tbi_layout_take(at, model->nv, sizeof *w->active_set.soft);
  w->active_set.limited = tbi_layout_take(at, model->nv, sizeof *w->active_set.limited);
  w->active_set.stuck = tbi_layout_take(at, model->nv, sizeof *w->active_set.stuck);
  w->solution.q_new = tbi_layout_take(at, model->nq, sizeof *w->solution.q_new);
  bool middle = tbi_world_is_middle(w);
  bool some = tbi_world_nchange(w) > 0;
  w->free.q_middle = tbi_layout_take(at, some ? model->nq : 0, sizeof *w->free.q_middle);
  w->free.v_bias = tbi_layout_take(at, some ? model->nv : 0, sizeof *w->free.v_bias);
  w->free.bias = tbi_layout_take(at, middle ? model->nbody : 0, sizeof *w->free.bias);
}

static void place_candidates(tbi_layout *at, const tabi_model *model, tabi_world *w) {
  int64_t points = w->def.max_contacts;
  bool staged = w->method->info.compliant && w->def.integrator == TABI_RK4;
  w->candidates.list = tbi_layout_take(at, points, sizeof *w->candidates.list);
  w->candidates.stage_list =
      tbi_layout_take(at, staged ? points : 0, sizeof *w->candidates.stage_list);
  w->candidates.margin = tbi_layout_take(at, model->nshape, sizeof *w->candidates.margin);
  w->candidates.impact_time = tbi_layout_take(at, model->ntree, sizeof *w->candidates.impact_time);
}

static void place_impacts(tbi_layout *at, const tabi_model *model, tabi_world *w) {
  /* rk4 and euler hold the impulses of a step as forces over all of it */
  bool is_explicit = w->def.integrator == TABI_RK4 || w->def.integrator == TABI_EULER;
  w->impacts.sequential = w->def.impacts == TABI_IMPACTS_SEQUENTIAL && w->method->info.rebounds &&
                          !w->method->as_published && !is_explicit;
  bool on = w->impacts.sequential;
  int64_t points = on ? w->def.max_contacts : 0;
  int64_t ports = on ? w->capacity.ports : 0;
  int64_t sums = on ? (int64_t)model->nv + model->cluster_loop[model->ncluster] : 0;
  v3 **by_point[] = {&w->impacts.impulse, &w->impacts.early, &w->impacts.warm,
                     &w->impacts.approach};
  for (size_t i = 0; i < sizeof by_point / sizeof by_point[0]; ++i)
    *by_point[i] = tbi_layout_take(at, points, sizeof(v3));
  sv **by_port[] = {&w->impacts.received, &w->impacts.velocity, &w->impacts.kept};
  for (size_t i = 0; i < sizeof by_port / sizeof by_port[0]; ++i)
    *by_port[i] = tbi_layout_take(at, ports, sizeof(sv));
  w->impacts.gap = tbi_layout_take(at, points, sizeof *w->impacts.gap);
  w->impacts.time = tbi_layout_take(at, points, sizeof *w->impacts.time);
  w->impacts.struck = tbi_layout_take(at, points, sizeof *w->impacts.struck);
  w->impacts.sum = tbi_layout_take(at, sums, sizeof *w->impacts.sum);
  w->impacts.early_sum = tbi_layout_take(at, sums, sizeof *w->impacts.early_sum);
  w->impacts.v_early = tbi_layout_take(at, on ? model->nv : 0, sizeof *w->impacts.v_early);
}

/* the contact list takes over the method's scratch at the end of a step */
static void place_scratch(tbi_layout *at, const tabi_model *model, tabi_world *w) {
  tbi_layout listed = *at;
  w->solution.contact = tbi_layout_take(&listed, w->def.max_contacts, sizeof *w->solution.contact);
  size_t method = w->method->memsize ? w->method->memsize(model, &w->def) : 0;
  w->scratch.method = tbi_layout_take(at, (int64_t)method, 1);
  if (listed.used > at->used) *at = listed;
  if (w->def.sleep) w->solution.contact = w->state.contact;
  int64_t stage = w->def.integrator == TABI_RK4 ? model->nv + tbi_rk4_scratch(model) : 0;
  w->scratch.stage = tbi_layout_take(at, stage, sizeof *w->scratch.stage);
  size_t fallback = tbi_world_falls_back(w) ? tbi_exact.memsize(model, &w->def) : 0;
  w->scratch.fallback = tbi_layout_take(at, (int64_t)fallback, 1);
  size_t limit = w->limits_energy ? tbi_energy_limit_memsize(model, &w->def) : 0;
  w->scratch.energy_limit = tbi_layout_take(at, (int64_t)limit, 1);
  size_t gait = tbi_world_gait_state_size(w);
  w->scratch.gait_before = tbi_layout_take(at, (int64_t)gait, 1);
}

static void place_correction(tbi_layout *at, const tabi_model *model, tabi_world *w) {
  w->correction.cluster = tbi_layout_take(at, model->ncluster, sizeof *w->correction.cluster);
  w->correction.target = (double *)(void *)w->setup.order; /* which is read before */
}

static void place_workspace(tbi_layout *at, tabi_world *w) {
  place_candidates(at, w->model, w);
  place_vectors(at, w->model, w);
  place_scratch(at, w->model, w);
  w->sleep.slot =
      tbi_layout_take(at, w->def.sleep ? w->def.max_contacts : 0, sizeof *w->sleep.slot);
  place_problem(at, w->model, w);
  place_correction(at, w->model, w);
  place_impacts(at, w->model, w);
}

/* what is made for a model and brought to the state of a world */
static void place_made(tbi_layout *at, tabi_world *w) {
  w->d = tbi_layout_take(at, (int64_t)tbi_dynamics_memsize(w->model), 1);
  w->collision = tbi_layout_take(at, (int64_t)tbi_collision_memsize(w->model), 1);
}

static size_t made_size(tabi_world *outline) {
  tbi_layout at = {NULL, 0};
  place_made(&at, outline);
  return at.used;
}

/* Whether a world may have those of the workspace. */
static bool may_share(tabi_world *outline) {
  const tabi_workspace *shared = outline->def.workspace;
  if (!shared) return false;
  return shared->users > 0 ? shared->model == outline->model
                           : shared->made_size >= made_size(outline);
}

static void place_world(tbi_layout *at, tabi_world *w) {
  const tabi_model *model = w->model;
  w->gait = tbi_layout_take(at, tbi_world_has_gait(w) ? 1 : 0, sizeof *w->gait);
  place_state(at, model, w);
  w->constants.surface =
      tbi_layout_take(at, tbi_surface_count(model), sizeof *w->constants.surface);
  w->constants.shape_body = tbi_layout_take(at, model->nshape, sizeof *w->constants.shape_body);
  w->constants.shape_radius = tbi_layout_take(at, model->nshape, sizeof *w->constants.shape_radius);
  w->constants.loops = tbi_layout_take(at, model->nowner, sizeof *w->constants.loops);
  w->constants.joint_dof = tbi_layout_take(at, model->njoint, sizeof *w->constants.joint_dof);
  w->constants.effort = tbi_layout_take(at, model->nv, sizeof *w->constants.effort);
  w->constants.most_force = tbi_layout_take(at, model->njoint, sizeof *w->constants.most_force);
  w->constants.looped = tbi_layout_take(at, model->nv, sizeof *w->constants.looped);
  w->floating.tree = tbi_layout_take(at, model->ntree, sizeof *w->floating.tree);
  int32_t sleepers = w->def.sleep ? model->ntree : 0;
  bool **of_sleep[] = {&w->sleep.restless, &w->sleep.still, &w->sleep.idle};
  for (size_t i = 0; i < sizeof of_sleep / sizeof of_sleep[0]; ++i)
    *of_sleep[i] = tbi_layout_take(at, sleepers, sizeof(bool));
  w->sleep.busy = tbi_layout_take(at, sleepers, sizeof *w->sleep.busy);
  w->sleep.first = tbi_layout_take(at, sleepers, sizeof *w->sleep.first);
  place_made(w->shares ? &(tbi_layout){w->def.workspace->made, 0} : at, w);
  w->solution.connection = tbi_layout_take(at, model->nconnection, sizeof *w->solution.connection);
  w->solution.commanded = tbi_layout_take(at, model->nv, sizeof *w->solution.commanded);
  w->solution.applied = tbi_layout_take(at, model->nv, sizeof *w->solution.applied);
  tbi_loops_place(at, model, &w->setup.loops);
  tbi_tendons_place(at, model, &w->tendons);
  tbi_world_place_gait(at, w);
  tbi_sensors_place(at, w);
}

/* a world of which only model, method, defs and capacity are set */
static tabi_world outline_of(const tabi_model *model, const tabi_world_def *def) {
  tabi_world w = {.model = model,
                  .method = tbi_formulations[def->contact],
                  .def = *def,
                  .grows = def->max_contacts == 0,
                  .capacity = count_capacity(model)};
  if (w.grows) w.def.max_contacts = tbi_world_default_contacts(model);
  w.fallback_def = w.def;
  w.fallback_def.contact = TABI_CONTACT_EXACT;
  tbi_world_def_complete(&w.def);
  tbi_world_def_complete(&w.fallback_def);
  w.limits_energy = tbi_energy_is_limited(w.method, model);
  /* exact has loops eliminated */
  w.setup.sweeps_loops = w.method->sweeps_loops && !tbi_world_falls_back(&w);
  w.has_couples = tbi_obeys_couples(&w.def) && tbi_model_has_couples(model);
  return w;
}

static size_t workspace_size(tabi_world *outline) {
  tbi_layout at = {NULL, 0};
  place_workspace(&at, outline);
  return at.used;
}

static tabi_status check_workspace(const tabi_workspace *shared, size_t needed, tabi_error *err) {
  if (!shared || shared->size >= needed) return TABI_OK;
  return tbi_error_set(err, TABI_ERR_ARGUMENT, (tabi_place){NULL, 0},
                       "the workspace has %zu bytes and this world needs %zu; make the workspace "
                       "for the largest model and def, with max_contacts given",
                       shared->size, needed);
}

/* bytes of what a world has of each contact, and of its workspace unless that is given */
static size_t contact_size(tabi_world *outline) {
  tbi_layout at = {NULL, 0};
  place_contact_state(&at, outline);
  return at.used + (outline->def.workspace ? 0 : workspace_size(outline));
}

/* places it there, and lets everything that points into the workspace do so */
static void place_contacts(tabi_world *w, void *block) {
  tbi_layout at = {block, 0};
  place_contact_state(&at, w);
  if (w->def.workspace) {
    at = (tbi_layout){w->def.workspace->bytes, 0};
  } else {
    at = (tbi_layout){at.base + at.used, 0};
  }
  place_workspace(&at, w);
  w->setup.z = w->free.z;
  w->setup.candidate = w->candidates.list;
}

tabi_world *tbi_world_alloc(const tabi_model *model, const tabi_world_def *def, tabi_error *err) {
  tabi_world outline = outline_of(model, def);
  if (check_workspace(def->workspace, workspace_size(&outline), err) != TABI_OK) return NULL;
  outline.shares = may_share(&outline);
  tbi_layout at = {NULL, 0};
  tbi_layout_take(&at, 1, sizeof outline);
  place_world(&at, &outline);
  size_t own = at.used;
  outline.memory = own + contact_size(&outline);
  tabi_world *w = tbi_block_alloc(outline.memory);
  if (!w) {
    (void)tbi_error_memory(err);
    return NULL;
  }
  *w = outline;
  at = (tbi_layout){(char *)w, 0};
  tbi_layout_take(&at, 1, sizeof *w);
  place_world(&at, w);
  place_contacts(w, (char *)w + own);
  return w;
}

/* -- growth */

static void copy_contact_state(const tabi_world *to, const tabi_world *from) {
  tbi_contact_array array[TBI_CONTACT_ARRAYS];
  tbi_contact_array source[TBI_CONTACT_ARRAYS];
  tbi_world_contact_arrays(to, array);
  tbi_world_contact_arrays(from, source);
  for (int i = 0; i < TBI_CONTACT_ARRAYS; ++i)
    memcpy(array[i].at, source[i].at, array[i].size * (size_t)from->state.head->nwarm);
}

/* worlds of other defs or capacities have their scratch elsewhere in a workspace */
static void place_scratch_of(tabi_world *w) {
  tbi_dynamics_place_masses(w->d, w->scratch.shared);
  tbi_collision_place_scratch(w->collision, w->scratch.shared);
}

tabi_status tbi_world_resize(tabi_world *w, int32_t contacts, int64_t blocks, tabi_error *err) {
  TBI_ASSERT(contacts >= w->state.head->nwarm && blocks >= 0);
  tbi_world_claim_posture(w);
  tabi_world resized = *w;
  resized.def.max_contacts = resized.fallback_def.max_contacts = contacts;
  resized.capacity.blocks = blocks;
  tabi_status status = check_workspace(w->def.workspace, workspace_size(&resized), err);
  if (status != TABI_OK) return status;
  size_t size = contact_size(&resized);
  void *block = tbi_block_alloc(size);
  if (!block) return tbi_error_memory(err);
  place_contacts(&resized, block);
  copy_contact_state(&resized, w);
  resized.memory += size - w->grown_size;
  resized.grown = block;
  resized.grown_size = size;
  resized.solution.ncontact = 0; /* the list was in the workspace */
  free(w->grown);
  *w = resized;
  place_scratch_of(w);
  return TABI_OK;
}

/* -- worlds that share */

static void claim_made(tabi_world *w) {
  w->current = false;
  w->def.workspace->posed = w;
  place_scratch_of(w);
  tbi_sleep_refresh(w);
}

bool tbi_world_joins(tabi_world *w) {
  tabi_workspace *shared = w->def.workspace;
  if (!w->shares) return false;
  shared->model = w->model;
  if (shared->users++ > 0) {
    claim_made(w);
    return true;
  }
  memset(shared->made, 0, shared->made_size);
  shared->posed = w;
  return false;
}

void tbi_world_leave(const tabi_world *w) {
  if (!w->shares) return;
  tabi_workspace *shared = w->def.workspace;
  --shared->users;
  if (shared->posed == w) shared->posed = NULL;
}

void tbi_world_claim_posture(tabi_world *w) {
  if (w->shares && w->def.workspace->posed != w) claim_made(w);
}

void tbi_world_claim_workspace(tabi_world *w) {
  tabi_workspace *shared = w->def.workspace;
  tbi_world_claim_posture(w);
  if (!shared || shared->last == w) return;
  w->solution.ncontact = 0;
  shared->last = w;
}

/* -- workspace */

tabi_workspace *tabi_workspace_create(const tabi_model *model, const tabi_world_def *def,
                                      tabi_error *err) {
  tabi_world_def defaults = tabi_world_def_default(model);
  if (!def) def = &defaults;
  if (tbi_world_def_check(model, def, err) != TABI_OK) return NULL;
  tabi_world outline = outline_of(model, def);
  size_t size = workspace_size(&outline);
  size_t made = made_size(&outline);
  tbi_layout at = {NULL, 0};
  tbi_layout_take(&at, 1, sizeof(tabi_workspace));
  size_t made_at = at.used;
  tbi_layout_take(&at, (int64_t)made, 1);
  tabi_workspace *workspace = tbi_block_alloc(at.used + size);
  if (!workspace) {
    (void)tbi_error_memory(err);
    return NULL;
  }
  *workspace = (tabi_workspace){.size = size,
                                .bytes = (char *)workspace + at.used,
                                .made = (char *)workspace + made_at,
                                .made_size = made};
  return workspace;
}

void tabi_workspace_destroy(tabi_workspace *workspace) { free(workspace); }

size_t tabi_workspace_size(const tabi_workspace *workspace) {
  TBI_ASSERT(workspace);
  return workspace->size;
}

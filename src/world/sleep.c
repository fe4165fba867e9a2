/* sleep.c - what rests is not computed until something wakes it.
 *
 * An island is the trees that contacts hold together, also contacts that do not push; what cannot
 * move holds nothing together.  It falls asleep at the end of a step if for SETTLED seconds each of
 * its trees had no more kinetic energy than its mass has at the speed allowed_depth / SETTLED: what
 * rests moves by less than the depth that contacts leave uncorrected.  Its velocity is then zero.
 *
 * Asleep, its joints are stuck (active_set), it is not paired with what does not move either
 * (collision), the recursions of the dynamics leave it out (tbi_dynamics_limit), and its contacts
 * and their impulses stay in the state as they were.
 *
 * It wakes as a whole, at the start of a step in which something drives one of its trees, and
 * before the step is solved if something that moves may touch it within the step.  The solution
 * then starts from the impulses that its contacts had.
 *
 * What somebody may look at or drive never sleeps: trees with actuators, servos, joint forces,
 * wrenches, sensors, connections, tendons, buoyancy, prescribed motion. */
#include "base/assertion.h"
#include "world/world.h"

#include <math.h>
#include <string.h>

#define SETTLED   0.5  /* s */
#define MIN_DEPTH 1e-6 /* m, in place of a smaller allowed_depth */

/* -- which trees never sleep, once */

static void mark_link(tabi_world *w, int32_t link) {
  int32_t body = link == TABI_WORLD ? TABI_WORLD : w->model->link_home[link].body;
  if (body != TABI_WORLD) w->sleep.restless[w->model->body[body].tree] = true;
}

static void mark_joint(tabi_world *w, int32_t joint) {
  int32_t body = joint == TABI_NONE ? TABI_NONE : w->model->joint_body[joint];
  if (body != TABI_NONE) w->sleep.restless[w->model->body[body].tree] = true;
}

static void mark_tendon(tabi_world *w, int32_t tendon) {
  int32_t cluster = tbi_tendon_cluster(w->model, tendon);
  for (int32_t t = 0; t < w->model->ntree; ++t)
    if (w->model->tree_cluster[t] == cluster) w->sleep.restless[t] = true;
}

static void find_restless(tabi_world *w) {
  const tabi_model *model = w->model;
  for (int32_t t = 0; t < model->ntree; ++t)
    w->sleep.restless[t] = tbi_tree_has_loops(model, t);
  for (int32_t i = 0; i < model->nactuator; ++i)
    mark_joint(w, model->actuator[i].joint);
  for (int32_t i = 0; i < model->ntendon; ++i)
    mark_tendon(w, i);
  for (int32_t i = 0; i < model->nconnection; ++i) {
    mark_link(w, model->connection[i].a);
    mark_link(w, model->connection[i].b);
  }
  for (int32_t i = 0; i < model->nsensor; ++i)
    mark_link(w, model->sensor[i].link);
  for (int32_t i = 0; i < model->nlink; ++i)
    if (model->link[i].buoyancy != 0) mark_link(w, i);
}

/* -- who is awake */

static int32_t tree_of_shape(const tabi_world *w, int32_t shape) {
  int32_t body = w->constants.shape_body[shape];
  return body == TABI_WORLD ? TABI_NONE : w->model->body[body].tree;
}

static bool is_asleep(const tabi_world *w, int32_t tree) {
  return tree != TABI_NONE && w->state.bed[tree] != 0;
}

static bool contact_sleeps(const tabi_world *w, const tabi_contact *c) {
  return is_asleep(w, tree_of_shape(w, c->shape_a)) || is_asleep(w, tree_of_shape(w, c->shape_b));
}

static void add_busy(tabi_world *w, tabi_range bodies) {
  tabi_range *last = w->sleep.nbusy > 0 ? &w->sleep.busy[w->sleep.nbusy - 1] : NULL;
  if (last && last->first + last->count == bodies.first) {
    last->count += bodies.count;
  } else {
    w->sleep.busy[w->sleep.nbusy++] = bodies;
  }
}

static void limit_dynamics(tabi_world *w) {
  tbi_dynamics_limit(w->d, w->sleep.posed ? w->sleep.busy : NULL, w->sleep.nbusy);
}

/* state.bed -> all else that follows from it */
static void list_busy(tabi_world *w) {
  w->sleep.nbusy = 0;
  for (int32_t t = 0; t < w->model->ntree; ++t)
    if (!is_asleep(w, t)) add_busy(w, tbi_tree_bodies(w->model, t));
  w->sleep.ncontact = w->sleep.npush = 0;
  for (int64_t i = 0; i < w->state.head->nwarm; ++i) {
    if (!contact_sleeps(w, &w->state.contact[i])) continue;
    v3 impulse = v3_load(w->state.contact[i].impulse);
    w->sleep.npush += v3_dot(impulse, impulse) > 0;
    ++w->sleep.ncontact;
  }
  limit_dynamics(w);
}

/* what does not move is not paired */
static void pair_moving(tabi_world *w) {
  for (int32_t t = 0; t < w->model->ntree; ++t)
    w->sleep.idle[t] = is_asleep(w, t) || w->sleep.still[t];
  tbi_collision_leave_idle(w->collision, w->sleep.idle);
}

void tbi_sleep_start(tabi_world *w) {
  if (!w->def.sleep) return;
  find_restless(w);
  tbi_sleep_refresh(w);
}

void tbi_sleep_refresh(tabi_world *w) {
  w->sleep.posed = false;
  if (w->def.sleep) {
    list_busy(w);
  } else {
    tbi_dynamics_limit(w->d, NULL, 0);
    tbi_collision_leave_idle(w->collision, NULL);
  }
}

void tbi_sleep_pose(tabi_world *w) {
  tbi_kinematics(w->d, w->state.q, w->state.v);
  if (!w->def.sleep || w->sleep.posed) return;
  w->sleep.posed = true;
  limit_dynamics(w);
}

int32_t tbi_sleep_contacts(const tabi_world *w) { return w->def.sleep ? w->sleep.ncontact : 0; }

void tbi_sleep_forget(tabi_world *w) {
  if (!w->def.sleep) return;
  memset(w->state.bed, 0, sizeof *w->state.bed * (size_t)w->model->ntree);
  memset(w->state.quiet, 0, sizeof *w->state.quiet * (size_t)w->model->ntree);
  tbi_sleep_refresh(w);
}

/* -- waking */

static void wake_island(tabi_world *w, int32_t tree) {
  int32_t bed = w->state.bed[tree];
  for (int32_t t = 0; t < w->model->ntree; ++t) {
    if (w->state.bed[t] != bed) continue;
    w->state.bed[t] = 0;
    w->state.quiet[t] = 0;
  }
}

/* whether nothing of a tree can move in this step: all its joints are told to stay */
static bool is_still(const tabi_world *w, int32_t tree) {
  tabi_range dofs = tbi_tree_dofs(w->model, tree);
  for (int32_t k = dofs.first; k < dofs.first + dofs.count; ++k)
    if (!w->state.told[k] || w->state.v[k] != 0 || w->state.told_v[k] != 0) return false;
  return true;
}

void tbi_sleep_begin(tabi_world *w) {
  if (!w->def.sleep) return;
  bool woke = false;
  tbi_world_find_driven(w);
  for (int32_t t = 0; t < w->model->ntree; ++t) {
    w->sleep.still[t] = w->state.head->prescribes && is_still(w, t);
    if (!is_asleep(w, t) || !w->floating.tree[t].driven) continue;
    wake_island(w, t);
    woke = true;
  }
  if (woke) list_busy(w);
  pair_moving(w);
}

bool tbi_sleep_wake_touched(tabi_world *w, const tbi_candidate *list, int32_t count) {
  if (!w->def.sleep) return false;
  bool woke = false;
  for (int32_t i = 0; i < count; ++i) {
    const int32_t tree[2] = {tree_of_shape(w, list[i].shape_a), tree_of_shape(w, list[i].shape_b)};
    for (int k = 0; k < 2; ++k) {
      if (!is_asleep(w, tree[k])) continue;
      wake_island(w, tree[k]);
      woke = true;
    }
  }
  if (!woke) return false;
  list_busy(w);
  pair_moving(w);
  return true;
}

/* -- in a step */

void tbi_sleep_hold(tabi_world *w) {
  for (int32_t k = 0; w->def.sleep && k < w->model->nv; ++k) {
    if (!tbi_dof_sleeps(w, k)) continue;
    w->active_set.friction[k] = TBI_FRICTION_NONE;
    w->active_set.limited[k] = 0;
  }
}

void tbi_sleep_move(tabi_world *w) {
  const tabi_model *model = w->model;
  memcpy(w->solution.q_new, w->state.q, sizeof *w->state.q * (size_t)model->nq);
  for (int32_t r = 0; r < w->sleep.nbusy; ++r)
    tbi_model_integrate_bodies(model, w->sleep.busy[r].first,
                               w->sleep.busy[r].first + w->sleep.busy[r].count, w->state.q,
                               w->solution.v_move, w->def.timestep, w->solution.q_new);
}

/* -- contacts of those asleep, among those of the step */

/* Moves them to the front, in order; their number. */
static int64_t gather_sleeping(tabi_world *w, const tbi_contact_array *array) {
  int64_t kept = 0;
  for (int64_t i = 0; i < w->state.head->nwarm; ++i) {
    if (!contact_sleeps(w, &w->state.contact[i])) continue;
    for (int k = 0; i > kept && k < TBI_CONTACT_ARRAYS; ++k)
      memmove((char *)array[k].at + array[k].size * (size_t)kept,
              (char *)array[k].at + array[k].size * (size_t)i, array[k].size);
    ++kept;
  }
  return kept;
}

/* The order is that of ids, as without sleep. */
void tbi_sleep_make_slots(tabi_world *w) {
  if (!w->def.sleep) return;
  tbi_contact_array array[TBI_CONTACT_ARRAYS];
  tbi_world_contact_arrays(w, array);
  int64_t from = gather_sleeping(w, array) - 1;
  int32_t candidate = w->setup.ncandidate - 1;
  TBI_ASSERT(from + 1 + w->setup.ncandidate <= w->def.max_contacts);
  for (int64_t to = from + 1 + candidate; to >= 0; --to) {
    bool sleeps = candidate < 0 ||
                  (from >= 0 && w->state.warm[from].id >
                                    tbi_candidate_id(w->model, &w->candidates.list[candidate]));
    if (!sleeps) {
      w->sleep.slot[candidate--] = (int32_t)to;
      continue;
    }
    for (int k = 0; k < TBI_CONTACT_ARRAYS; ++k)
      memmove((char *)array[k].at + array[k].size * (size_t)to,
              (char *)array[k].at + array[k].size * (size_t)from, array[k].size);
    --from;
  }
}

/* -- falling asleep */

static double mass_of(const tabi_model *model, int32_t tree) {
  tabi_range bodies = tbi_tree_bodies(model, tree);
  double mass = 0;
  for (int32_t i = bodies.first; i < bodies.first + bodies.count; ++i)
    mass += model->body[i].mass;
  return mass;
}

static double kinetic_of(const tabi_world *w, int32_t tree) {
  return tbi_kinetic(w->d, tbi_tree_bodies(w->model, tree), tbi_tree_dofs(w->model, tree));
}

static bool is_quiet(const tabi_world *w, int32_t tree) {
  if (w->sleep.restless[tree] || w->floating.tree[tree].driven) return false;
  double speed = fmax(w->def.allowed_depth, MIN_DEPTH) / SETTLED;
  return kinetic_of(w, tree) <= 0.5 * mass_of(w->model, tree) * speed * speed;
}

/* counts the steps for which trees have been quiet; whether some tree may fall asleep */
static bool count_quiet(tabi_world *w, int32_t needed) {
  bool any = false;
  for (int32_t t = 0; t < w->model->ntree; ++t) {
    if (is_asleep(w, t)) continue;
    int32_t *quiet = &w->state.quiet[t];
    *quiet = !is_quiet(w, t) ? 0 : *quiet < needed ? *quiet + 1 : needed;
    any = any || *quiet == needed;
  }
  return any;
}

static int32_t first_of(int32_t *first, int32_t t) {
  while (first[t] != t)
    t = first[t] = first[first[t]];
  return t;
}

/* sleep.first: the first tree of the island of each */
static void find_islands(tabi_world *w) {
  int32_t *first = w->sleep.first;
  for (int32_t t = 0; t < w->model->ntree; ++t)
    first[t] = t;
  for (int64_t i = 0; i < w->state.head->nwarm; ++i) {
    int32_t a = tree_of_shape(w, w->state.contact[i].shape_a);
    int32_t b = tree_of_shape(w, w->state.contact[i].shape_b);
    if (a == TABI_NONE || b == TABI_NONE || w->sleep.still[a] || w->sleep.still[b]) continue;
    a = first_of(first, a);
    b = first_of(first, b);
    first[a > b ? a : b] = a > b ? b : a;
  }
}

/* An island sleeps if the last of its trees may; the bed of a tree is 1 + the first one. */
static bool lay_down(tabi_world *w, int32_t needed) {
  const int32_t *quiet = w->state.quiet;
  bool *up = w->sleep.idle; /* of first trees: some tree of the island may not sleep */
  bool any = false;
  for (int32_t t = 0; t < w->model->ntree; ++t)
    up[t] = false;
  for (int32_t t = 0; t < w->model->ntree; ++t)
    if (!is_asleep(w, t) && quiet[t] < needed) up[first_of(w->sleep.first, t)] = true;
  for (int32_t t = 0; t < w->model->ntree; ++t) {
    if (is_asleep(w, t) || up[first_of(w->sleep.first, t)]) continue;
    tabi_range dofs = tbi_tree_dofs(w->model, t);
    w->solution.certificate.contact_work -= kinetic_of(w, t);
    memset(w->state.v + dofs.first, 0, sizeof *w->state.v * (size_t)dofs.count);
    w->state.bed[t] = 1 + first_of(w->sleep.first, t);
    any = true;
  }
  return any;
}

void tbi_sleep_end(tabi_world *w) {
  if (!w->def.sleep) return;
  int32_t needed = (int32_t)ceil(SETTLED / w->def.timestep);
  (void)tbi_world_dynamics(w); /* the next step uses the same kinematics */
  if (!count_quiet(w, needed)) return;
  find_islands(w);
  if (!lay_down(w, needed)) return;
  w->current = false;
  tbi_sleep_refresh(w);
  for (int64_t i = 0; i < w->state.head->nwarm; ++i) {
    tabi_contact *c = &w->state.contact[i];
    if (contact_sleeps(w, c)) v3_store(v3_zero(), c->velocity);
  }
}

/* -- what users see */

bool tabi_world_sleeps(const tabi_world *world, int32_t link) {
  TBI_ASSERT(world && link >= 0 && link < world->model->nlink);
  int32_t body = world->model->link_home[link].body;
  return world->def.sleep && body != TABI_WORLD && is_asleep(world, world->model->body[body].tree);
}

int32_t tabi_world_count_asleep(const tabi_world *world) {
  TBI_ASSERT(world);
  int32_t count = 0;
  for (int32_t t = 0; world->def.sleep && t < world->model->ntree; ++t)
    if (is_asleep(world, t)) count += tbi_tree_bodies(world->model, t).count;
  return count;
}

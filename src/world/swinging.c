/* swinging.c - what hangs from the world and nothing drives is solved for at the middle of the
 * step.
 *
 * Solved at the start of the step and moved along the new velocity, positions are half a step ahead
 * of velocities: energy swings by (h/2) sum of m g.v, and a pendulum that starts at a given
 * position and velocity has a phase that is wrong in proportion to h.  Robots do not notice, since
 * servos and contacts decide where they go.  Passive mechanisms do.  So the trees of a cluster that
 * the world holds are taken to the middle of the step,
 *     q_m = q + h/2 v,   v+ solved for there,   q+ = q_m + h/2 v+,
 * which is of second order and keeps their energy, also where the integrator is semi-implicit or
 * solves contacts at the start of the step, if
 *   - nothing drives them: no joint forces, servos, external wrenches, prescribed motion, tendons
 *     with more than springs and dampers;
 *   - nothing may touch them in this step, and no joint may reach a limit: gaps are those of the
 *     start.
 * Bias forces and loop constraints are as in middle.c, without its second look at bias forces.
 *
 * All others have the same bits as without this. */
#include "base/assertion.h"
#include "world/active_set/active_set.h"

#include <math.h>

/* -- what is driven */

static int32_t tree_of_dof(const tabi_model *model, int32_t dof) {
  return model->body[model->dof_body[dof]].tree;
}

static bool has_servo(const tabi_world *w, int32_t joint) {
  return w->state.servo[joint].kp != 0 || w->state.servo[joint].kd != 0;
}

/* The last bodies first, for a robot's limbs are driven, its base is not. */
bool tbi_world_drives_tree(const tabi_world *w, int32_t tree) {
  tabi_range bodies = tbi_tree_bodies(w->model, tree);
  for (int32_t i = bodies.first + bodies.count - 1; i >= bodies.first; --i) {
    const tbi_body *body = &w->model->body[i];
    if (has_servo(w, body->joint)) return true;
    for (int32_t k = body->v; k < body->v + body->nv; ++k)
      if (w->forces.drive[k] != 0 || w->state.told[k]) return true;
    bool pushed = w->state.head->external;
    if (pushed && sv_dot(w->state.external[i], w->state.external[i]) > 0) return true;
  }
  return false;
}

void tbi_world_find_driven(tabi_world *w) {
  for (int32_t t = 0; t < w->model->ntree; ++t)
    w->floating.tree[t].driven = tbi_world_drives_tree(w, t);
}

/* -- what swings */

/* whether a tendon has springs, dampers and inertia only, and nothing that drives or holds it */
static bool is_passive(const tabi_model *model, int32_t tendon) {
  const tabi_tendon_def *def = &model->tendon[tendon];
  for (int32_t a = 0; a < model->nactuator; ++a)
    if (model->actuator[a].tendon == tendon) return false;
  return def->friction == 0 && isinf(def->lower) && isinf(def->upper);
}

/* what such a tendon moves does not swing */
static void hold_tendon(tabi_world *w, int32_t tendon) {
  int32_t cluster = tbi_tendon_cluster(w->model, tendon);
  for (int32_t t = 0; t < w->model->ntree; ++t)
    if (w->model->tree_cluster[t] == cluster) w->floating.tree[t].hangs = false;
}

/* whether a tree moves as one rigid body, which free_motion.c turns */
static bool is_rigid(const tabi_model *model, int32_t tree) {
  return tbi_is_lone(model, model->tree_body[tree]) && !tbi_tree_has_loops(model, tree);
}

void tbi_world_find_hanging(tabi_world *w) {
  w->floating.hangs = false;
  for (int32_t t = 0; t < w->model->ntree; ++t) {
    bool floats = w->floating.tree[t].based;
    bool flies = w->def.integrator == TABI_MIDPOINT && !is_rigid(w->model, t);
    bool hangs = tbi_world_may_swing(w) && (!floats || flies);
    w->floating.tree[t].hangs = hangs;
  }
  for (int32_t i = 0; i < w->model->ntendon; ++i)
    if (!is_passive(w->model, i)) hold_tendon(w, i);
  for (int32_t t = 0; t < w->model->ntree; ++t)
    w->floating.hangs = w->floating.hangs || w->floating.tree[t].hangs;
}

static void stop_cluster(tabi_world *w, int32_t tree) {
  const tabi_model *model = w->model;
  if (!w->floating.tree[tree].swings) return;
  for (int32_t t = 0; t < model->ntree; ++t)
    if (model->tree_cluster[t] == model->tree_cluster[tree]) w->floating.tree[t].swings = false;
}

static void stop_touched(tabi_world *w, int32_t shape) {
  int32_t body = w->constants.shape_body[shape];
  if (body != TABI_WORLD) stop_cluster(w, w->model->body[body].tree);
}

/* limits that get rows at once, and those that a joint may reach by the middle of the step */
static bool is_near_limit(const tabi_world *w, int32_t dof) {
  const tabi_model *model = w->model;
  if (model->dof_q[dof] == TABI_NONE) return false;
  double q = w->state.q[model->dof_q[dof]];
  double ahead = TBI_NEAR_LIMIT + 2 * w->def.timestep * fabs(w->state.v[dof]);
  return q - model->dof_lower[dof] < ahead || model->dof_upper[dof] - q < ahead;
}

static bool find_swinging(tabi_world *w) {
  tbi_floating *tree = w->floating.tree;
  tbi_world_find_driven(w);
  for (int32_t t = 0; t < w->model->ntree; ++t)
    tree[t].swings = tree[t].hangs && !tbi_tree_sleeps(w, t);
  for (int32_t t = 0; t < w->model->ntree; ++t)
    if (tree[t].driven) stop_cluster(w, t);
  for (int32_t i = 0; i < w->setup.ncandidate; ++i) {
    stop_touched(w, w->candidates.list[i].shape_a);
    stop_touched(w, w->candidates.list[i].shape_b);
  }
  for (int32_t k = 0; k < w->model->nv; ++k)
    if (is_near_limit(w, k)) stop_cluster(w, tree_of_dof(w->model, k));
  bool any = false;
  for (int32_t t = 0; t < w->model->ntree; ++t)
    any = any || tree[t].swings;
  return any;
}

void tbi_world_swing(tabi_world *w) {
  const tabi_model *model = w->model;
  w->floating.swings = w->floating.hangs && find_swinging(w);
  if (!w->floating.swings) return;
  tbi_world_measure_swinging(w);
  for (int32_t t = 0; t < model->ntree; ++t) {
    if (!w->floating.tree[t].swings) continue;
    tabi_range bodies = tbi_tree_bodies(model, t);
    tbi_model_integrate_bodies(model, bodies.first, bodies.first + bodies.count, w->state.q,
                               w->state.v, 0.5 * w->def.timestep, w->free.q_middle);
    tbi_kinematics_of_tree(w->d, t, w->free.q_middle, w->state.v);
  }
}

void tbi_world_feel_swinging(tabi_world *w) {
  for (int32_t t = 0; w->floating.swings && t < w->model->ntree; ++t)
    if (w->floating.tree[t].swings)
      tbi_kinematics_of_tree(w->d, t, w->free.q_middle, w->free.v_bias);
}

/* -- what the next step extrapolates from */

/* joints that hit their limits change velocities at once */
static void find_jumps(tabi_world *w) {
  const tbi_problem *p = &w->setup.problem;
  for (int32_t t = 0; t < w->model->ntree; ++t)
    w->floating.tree[t].jumps = !w->floating.tree[t].swings;
  for (int32_t i = 0; i < p->nrow; ++i) {
    const tbi_row *row = &p->row[i];
    bool limit = row->id % TBI_ROW_KINDS != TBI_ROW_FRICTION;
    bool begins = row->impulse != 0 && w->state.row_impulse[row->id] == 0;
    if (limit && begins) w->floating.tree[tree_of_dof(w->model, row->dof)].jumps = true;
  }
}

void tbi_world_keep_swinging(tabi_world *w) {
  if (!w->floating.hangs) return;
  find_jumps(w);
  for (int32_t k = 0; k < w->model->nv; ++k) {
    const tbi_floating *tree = &w->floating.tree[tree_of_dof(w->model, k)];
    if (tree->hangs) w->state.v_change[k] = tree->jumps ? 0 : w->solution.v_new[k] - w->state.v[k];
  }
}

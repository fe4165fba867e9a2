/* gait.c - the definition of a gait, its checks, both foot trees; and the memory of a run. */
#include "gait/gait.h"

#include "base/array.h"
#include "base/assertion.h"
#include "base/error.h"

#include <stdlib.h>
#include <string.h>

#define ALIGNED    1e-9 /* rad, tolerance of axes */
#define MAX_LENGTH 1e6  /* m */
#define MAX_FORCE  1e15 /* N */

tabi_gait_def tabi_gait_def_default(void) {
  return (tabi_gait_def){
      .def_size = sizeof(tabi_gait_def),
      .foot = {{.link = TABI_NONE}, {.link = TABI_NONE}},
      .initial_mode = "1",
      .friction = 0.5,
      .support_friction = HUGE_VAL,
      .slip_stop = 0.01,
      .scuff = 5e-3,
      .sink = 5e-3,
  };
}

const char *tabi_gait_outcome_text(tabi_gait_outcome outcome) {
  static const char *const text[TABI_GAIT_OUTCOME_COUNT] = {
      [TABI_GAIT_ONGOING] = "walks",
      [TABI_GAIT_TOE_FIRST] = "came down on the toe first",
      [TABI_GAIT_SCUFFED] = "scuffed the ground with the swinging toe",
      [TABI_GAIT_SANK] = "the heel left behind sank into the ground",
      [TABI_GAIT_BEHIND] = "landed level with the supporting foot or behind it",
      [TABI_GAIT_JOINT_LIMIT] = "a joint reached its limit",
      [TABI_GAIT_FELL] = "fell",
      [TABI_GAIT_FLEW] = "the supporting foot left the ground",
      [TABI_GAIT_JAMMED] = "jammed: no finite contact force",
  };
  return (unsigned)outcome < TABI_GAIT_OUTCOME_COUNT ? text[outcome] : "unknown";
}

int32_t tabi_gait_find_mode(const char *name) {
  TBI_ASSERT(name);
  for (int32_t i = 0; i < TBI_GAIT_MODES; ++i) {
    if (strcmp(name, tbi_gait_modes[i].name) == 0) return i;
  }
  return TABI_NONE;
}

static bool is_link(const tabi_model *model, int32_t link) {
  return link >= 0 && link < model->nlink;
}

/* Finite and at most MAX_LENGTH. */
static bool are_lengths(const double *x, int count) {
  for (int i = 0; i < count; ++i) {
    if (!(fabs(x[i]) <= MAX_LENGTH)) return false;
  }
  return true;
}

static bool is_foot(const tabi_model *model, const tabi_gait_foot *foot) {
  return is_link(model, foot->link) && are_lengths(foot->heel, 3) && are_lengths(foot->toe, 3);
}

static bool is_force(const tabi_gait_force *force) {
  for (int i = 0; i < 2; ++i) {
    if (!(fabs(force->amplitude[i]) <= MAX_FORCE && force->period[i] >= 0)) return false;
  }
  return are_lengths(force->point, 3);
}

static bool are_numbers(const tabi_gait_def *def) {
  bool good =
      fabs(def->min_stride) <= MAX_LENGTH && def->scuff <= MAX_LENGTH && def->sink <= MAX_LENGTH;
  for (int32_t i = 0; i < def->nforce; ++i)
    good = good && is_force(&def->force[i]);
  for (int32_t i = 0; i < def->nfloor; ++i)
    good = good && are_lengths(&def->floor[i].height, 1);
  return good;
}

static bool are_links_known(const tabi_model *model, const tabi_gait_def *def) {
  for (int32_t i = 0; i < def->nforce; ++i) {
    if (!is_link(model, def->force[i].link[0]) || !is_link(model, def->force[i].link[1]))
      return false;
  }
  for (int32_t i = 0; i < def->nfloor; ++i) {
    if (!is_link(model, def->floor[i].link)) return false;
  }
  return true;
}

/* What is wrong with a def, or NULL. */
static const char *find_def_error(const tabi_model *model, const tabi_gait_def *def) {
  if (def->def_size != sizeof *def) return "tabi_gait_def was not made by tabi_gait_def_default()";
  if (!is_foot(model, &def->foot[0]) || !is_foot(model, &def->foot[1]))
    return "a foot needs a link, and a heel and a toe within 1e6 m of it";
  if (def->foot[0].link == def->foot[1].link) return "the feet must be two links";
  if (def->initial_support != 0 && def->initial_support != 1)
    return "initial_support must be 0 or 1";
  if (!def->initial_mode || tabi_gait_find_mode(def->initial_mode) == TABI_NONE)
    return "initial_mode must be a mode, such as 1 or 4";
  if ((unsigned)def->events > TABI_GAIT_STEP || (unsigned)def->guards > TABI_GAIT_PAPER ||
      (unsigned)def->impact > TABI_GAIT_COULOMB)
    return "events, guards and impact must be values of their enums";
  if (!(def->friction >= 0 && def->friction < 1e6)) return "friction must be in [0, 1e6)";
  if (!(def->support_friction >= 0)) return "support_friction must be >= 0";
  if (!(def->slip_stop > 0)) return "slip_stop must be > 0";
  if (!(def->pivot_damping >= 0 && def->pivot_damping <= MAX_FORCE))
    return "pivot_damping must be in [0, 1e15]";
  if (!(def->scuff >= 0 && def->sink >= 0)) return "scuff and sink must be >= 0";
  if (def->nforce < 0 || def->nfloor < 0) return "nforce and nfloor must be >= 0";
  if ((def->nforce > 0 && !def->force) || (def->nfloor > 0 && !def->floor))
    return "force and floor must have nforce and nfloor items";
  if (!are_links_known(model, def)) return "forces and floors need links of the robot";
  if (!are_numbers(def)) return "lengths must be at most 1e6 m, forces 1e15 N, and periods >= 0";
  return NULL;
}

/* What keeps a body from being one of a planar biped, or NULL; finds the base. */
static const char *find_body_error(tabi_gait *gait, const tabi_dynamics *d, int32_t i) {
  const tbi_body *body = &gait->model->body[i];
  bool planar = body->type == TABI_JOINT_PLANAR && body->parent == TABI_WORLD;
  bool hinge = body->type == TABI_JOINT_REVOLUTE || body->type == TABI_JOINT_CONTINUOUS;
  if (planar) gait->base = i;
  if (!planar && body->parent == TABI_WORLD)
    return "the base joint must be planar, with its normal along y";
  if (!planar && !hinge) return "all joints but the base must be hinges";
  if (fabs(fabs(v4_to(d->body[i].rot.z).y) - 1) > ALIGNED)
    return "all joints must turn about the y axis";
  if (planar && gait->model->dof_damping[body->v] > 0) return "the base joint must not be damped";
  if (gait->model->dof_friction[body->v] > 0) return "dry friction of joints is not supported";
  return NULL;
}

/* Whether the toes are ahead of the heels in the initial posture. */
static bool find_feet(tabi_gait *gait, const tabi_gait_def *def, const tabi_dynamics *d) {
  for (int i = 0; i < 2; ++i) {
    const tabi_gait_foot *foot = &def->foot[i];
    gait->foot[i] = tbi_link_frame(d, foot->link);
    v3 along = v3_sub(v3_load(foot->toe), v3_load(foot->heel));
    along = m3_mulv(&gait->foot[i].rot, along);
    if (!(along.x > 1e-6 && fabs(along.y) < ALIGNED)) return false;
  }
  return true;
}

/* What keeps a robot from being a planar biped, or NULL. */
static const char *find_model_error(tabi_gait *gait, const tabi_gait_def *def, tabi_dynamics *d) {
  const tabi_model *model = gait->model;
  const char *found =
      model->ntree == 1 ? NULL : "the scene must hold one robot and nothing that moves";
  tbi_kinematics(d, model->start, d->v);
  gait->base = TABI_NONE;
  for (int32_t i = 0; i < model->nbody && !found; ++i)
    found = find_body_error(gait, d, i);
  if (model->ncoupling + model->nconnection + model->ntendon > 0)
    found = "couplings, connections and tendons are not supported";
  if (!found && !find_feet(gait, def, d))
    found = "toes must be ahead of heels, at the same y, in the initial posture";
  return found;
}

static bool place_arrays(tabi_gait *gait, const tabi_gait_def *def, tbi_layout *at) {
  const tabi_model *model = gait->model;
  gait->force = tbi_layout_take(at, def->nforce, sizeof *gait->force);
  gait->floor = tbi_layout_take(at, model->nlink + (int64_t)def->nfloor, sizeof *gait->floor);
  for (int side = 0; side < 2; ++side) {
    tbi_foot_tree *tree = &gait->tree[side];
    tree->dof = tbi_layout_take(at, model->nv, sizeof *tree->dof);
    tree->link = tbi_layout_take(at, model->nlink, sizeof *tree->link);
    tree->at = tbi_layout_take(at, model->nlink, sizeof *tree->at);
    tree->force = tbi_layout_take(at, def->nforce, sizeof *tree->force);
  }
  return true;
}

/* By default all links but the feet must stay above the ground. */
static void fill_floors(tabi_gait *gait, const tabi_gait_def *def) {
  int32_t count = 0;
  for (int32_t i = 0; i < def->nfloor; ++i)
    gait->floor[count++] = def->floor[i];
  for (int32_t i = 0; i < gait->model->nlink && def->nfloor == 0; ++i) {
    bool foot = i == def->foot[0].link || i == def->foot[1].link;
    if (!foot && gait->tree[0].link[i] != TABI_NONE) gait->floor[count++] = (tabi_gait_floor){i, 0};
  }
  gait->def.nfloor = count;
  gait->def.floor = gait->floor;
}

static void fill_points(tabi_gait *gait, int side) {
  tbi_foot_tree *tree = &gait->tree[side];
  const tabi_gait_foot *own = &gait->def.foot[side];
  const tabi_gait_foot *swing = &gait->def.foot[1 - side];
  tree->heel[0] = tbi_foot_tree_point(tree, own->link, own->heel);
  tree->toe[0] = tbi_foot_tree_point(tree, own->link, own->toe);
  tree->heel[1] = tbi_foot_tree_point(tree, swing->link, swing->heel);
  tree->toe[1] = tbi_foot_tree_point(tree, swing->link, swing->toe);
  for (int32_t i = 0; i < gait->def.nforce; ++i) {
    const tabi_gait_force *force = &gait->force[i];
    tree->force[i] = tbi_foot_tree_point(tree, force->link[side], force->point);
  }
}

/* Links fixed to the world are in no tree. */
static bool do_links_move(const tabi_gait *gait) {
  const int32_t *seen = gait->tree[0].link;
  const tabi_gait_def *def = &gait->def;
  bool good = true;
  for (int32_t i = 0; i < def->nforce; ++i)
    good = good && seen[def->force[i].link[0]] != TABI_NONE &&
           seen[def->force[i].link[1]] != TABI_NONE;
  for (int32_t i = 0; i < def->nfloor; ++i)
    good = good && seen[def->floor[i].link] != TABI_NONE;
  return good;
}

/* Both trees; false: see the error. */
static bool make_trees(tabi_gait *gait, tabi_error *err) {
  const tabi_gait_foot *foot = gait->def.foot;
  const char *wrong = NULL;
  for (int side = 0; side < 2; ++side) {
    tbi_foot_tree *tree = &gait->tree[side];
    if (!tbi_foot_tree_create(tree, gait->model, &foot[side], &gait->foot[side], err)) return false;
    if (tree->link[foot[1 - side].link] == TABI_NONE)
      wrong = "no joints lead from one foot to the other";
  }
  if (!wrong && !do_links_move(gait)) wrong = "forces and floors need links that move";
  if (wrong) (void)tbi_error_set(err, TABI_ERR_MODEL, (tabi_place){NULL, 0}, "gait: %s", wrong);
  return !wrong;
}

static bool fill(tabi_gait *gait, const tabi_gait_def *def, tabi_error *err) {
  gait->def = *def;
  gait->initial_mode = tabi_gait_find_mode(def->initial_mode);
  gait->def.initial_mode = tbi_gait_modes[gait->initial_mode].name;
  gait->def.force = gait->force;
  for (int32_t i = 0; i < def->nforce; ++i)
    gait->force[i] = def->force[i];
  gait->base_link = gait->model->joint[gait->model->body[gait->base].joint].child;
  if (!make_trees(gait, err)) return false;
  fill_points(gait, 0);
  fill_points(gait, 1);
  fill_floors(gait, def);
  return true;
}

tabi_gait *tabi_gait_create(const tabi_model *model, const tabi_gait_def *def, tabi_error *err) {
  TBI_ASSERT(model && def);
  tabi_gait counted = {.model = model};
  tabi_dynamics *d = tabi_dynamics_create(model, err);
  if (!d) return NULL;
  const char *wrong = find_def_error(model, def);
  if (!wrong) wrong = find_model_error(&counted, def, d);
  tabi_dynamics_destroy(d);
  if (wrong) {
    (void)tbi_error_set(err, TABI_ERR_ARGUMENT, (tabi_place){NULL, 0}, "gait: %s", wrong);
    return NULL;
  }
  tbi_layout at = {NULL, 0};
  tbi_layout_take(&at, 1, sizeof counted);
  place_arrays(&counted, def, &at);
  tabi_gait *gait = tbi_block_alloc(at.used);
  if (!gait) {
    (void)tbi_error_memory(err);
    return NULL;
  }
  *gait = counted;
  at = (tbi_layout){(char *)gait, 0};
  tbi_layout_take(&at, 1, sizeof *gait);
  place_arrays(gait, def, &at);
  if (fill(gait, def, err)) return gait;
  tabi_gait_destroy(gait);
  return NULL;
}

void tabi_gait_destroy(tabi_gait *gait) {
  if (!gait) return;
  tbi_foot_tree_destroy(&gait->tree[0]);
  tbi_foot_tree_destroy(&gait->tree[1]);
  free(gait);
}

tabi_gait_def tabi_gait_get_def(const tabi_gait *gait) {
  TBI_ASSERT(gait);
  return gait->def;
}

void tbi_gait_place_state(tbi_gait_run *run, tbi_layout *layout) {
  TBI_ASSERT(run->gait);
  int32_t nv = run->gait->tree[0].model->nv;
  run->memory = tbi_layout_take(layout, 1, sizeof *run->memory);
  run->q = tbi_layout_take(layout, nv, sizeof *run->q);
  run->v = tbi_layout_take(layout, nv, sizeof *run->v);
}

static bool in_range(int32_t number, int32_t min, int32_t max) {
  return number >= min && number <= max;
}

static bool are_finite(const double *number, int32_t count) {
  for (int32_t i = 0; i < count; ++i) {
    if (!isfinite(number[i])) return false;
  }
  return true;
}

bool tbi_gait_is_state(const tbi_gait_memory *memory, const double *q, const double *v,
                       int32_t nv) {
  TBI_ASSERT(memory && q && v && nv > 0);
  const tbi_gait_phase *phase = &memory->phase;
  const tbi_progress *progress = &memory->progress;
  const double numbers[] = {memory->support_since, memory->landed_at, memory->touchdown,
                            memory->impact_loss,   memory->pulled,    memory->hold_until,
                            progress->length};
  for (int32_t i = 0; i < TBI_MAX_GUARDS; ++i) {
    if (!in_range(progress->side[i], -1, 1)) return false;
  }
  return in_range(phase->support, 0, 1) && in_range(phase->mode, 0, TBI_GAIT_MODES - 1) &&
         in_range(phase->slip_sign, -1, 1) && in_range(phase->support_slip_sign, -1, 1) &&
         in_range(memory->outcome, 0, TABI_GAIT_OUTCOME_COUNT - 1) &&
         in_range(memory->steps, 0, INT32_MAX / 2) &&
         in_range(memory->zeno_holds, 0, INT32_MAX / 2) &&
         in_range(progress->nrecent, 0, 2 * TBI_RECENT_EVENTS) && progress->length >= 0 &&
         are_finite(numbers, sizeof numbers / sizeof *numbers) &&
         are_finite(memory->ledger, TBI_GAIT_LEDGERS) &&
         are_finite(progress->recent, TBI_RECENT_EVENTS) && are_finite(q, nv) && are_finite(v, nv);
}

void tbi_gait_make(tbi_gait_run *run) {
  TBI_ASSERT(run->memory && run->dynamics[0] && run->dynamics[1] && run->joint_forces);
  for (int side = 0; side < 2; ++side)
    run->dynamics[side] =
        tbi_dynamics_make(run->gait->tree[side].model, run->dynamics[side], run->masses[side]);
}

void tbi_gait_place(tbi_gait_run *run, tbi_layout *layout) {
  const tabi_model *robot = run->gait->model;
  int64_t nv = run->gait->tree[0].model->nv;
  int64_t unknowns = nv + TBI_GAIT_MAX_ROWS;
  for (int side = 0; side < 2; ++side) {
    const tabi_model *model = run->gait->tree[side].model;
    run->dynamics[side] = tbi_layout_take(layout, (int64_t)tbi_dynamics_memsize(model), 1);
    run->masses[side] = tbi_layout_take(layout, (int64_t)tbi_masses_memsize(model), 1);
  }
  double **vectors[] = {&run->bias,       &run->drive,    &run->passive, &run->acceleration,
                        &run->correction, &run->q_before, &run->v_before};
  for (size_t i = 0; i < sizeof vectors / sizeof vectors[0]; ++i)
    *vectors[i] = tbi_layout_take(layout, nv, sizeof(double));
  double **robot_vectors[] = {&run->robot_v, &run->robot_drive, &run->robot_passive};
  for (size_t i = 0; i < sizeof robot_vectors / sizeof robot_vectors[0]; ++i)
    *robot_vectors[i] = tbi_layout_take(layout, robot->nv, sizeof(double));
  run->robot_q = tbi_layout_take(layout, robot->nq, sizeof *run->robot_q);
  run->mass = tbi_layout_take(layout, nv * nv, sizeof *run->mass);
  run->jacobian = tbi_layout_take(layout, 3 * nv, sizeof *run->jacobian);
  run->rate = tbi_layout_take(layout, 3 * nv, sizeof *run->rate);
  for (int c = 0; c < TBI_GAIT_MAX_ROWS; ++c) {
    run->rows.row[c] = tbi_layout_take(layout, nv, sizeof(double));
    run->rows.column[c] = tbi_layout_take(layout, nv, sizeof(double));
  }
  run->matrix = tbi_layout_take(layout, unknowns * unknowns, sizeof *run->matrix);
  run->rhs = tbi_layout_take(layout, unknowns, sizeof *run->rhs);
  run->pivot = tbi_layout_take(layout, unknowns, sizeof *run->pivot);
  run->active = tbi_layout_take(layout, nv, sizeof *run->active);
  run->y = tbi_layout_take(layout, 2 * nv + TBI_GAIT_LEDGERS, sizeof *run->y);
  run->event = tbi_layout_take(layout, TBI_GAIT_MAX_EVENTS, sizeof *run->event);
  tbi_events_place(&run->events, layout, (int32_t)(2 * nv + TBI_GAIT_LEDGERS));
}

/* rows.c - the rows of the problem: joint limits and dry friction of the active set. */
#include "world/active_set/active_set.h"

#include "base/assertion.h"

/* velocity that takes back a share of an error, up to a cap */
static double correction(const tabi_world *w, double error) {
  double wanted = w->def.correction * error / w->def.timestep;
  return fmin(fmax(wanted, -w->def.correction_speed), w->def.correction_speed);
}

static tbi_row *add_row(tabi_world *w, int32_t dof, uint64_t id) {
  TBI_ASSERT(w->setup.problem.nrow < w->capacity.rows);
  tbi_row *row = &w->setup.problem.row[w->setup.problem.nrow++];
  *row = (tbi_row){.dof = dof, .id = id};
  row->impulse = w->def.warm_start * w->state.row_impulse[id];
  return row;
}

/* the distance to the limit may be used up in this step; beyond it, some is taken back */
static double limit_speed(const tabi_world *w, int32_t dof, double distance) {
  int32_t tree = w->model->body[w->model->dof_body[dof]].tree;
  return distance >= 0 ? -distance / tbi_tree_remaining(w, tree) : correction(w, -distance);
}

static void add_limits(tabi_world *w, int32_t dof) {
  const tabi_model *model = w->model;
  double q = w->d->q[model->dof_q[dof]];
  if (w->active_set.limited[dof] & 1 << TBI_ROW_LOWER) {
    tbi_row *row = add_row(w, dof, tbi_row_id(dof, TBI_ROW_LOWER));
    row->target = limit_speed(w, dof, q - model->dof_lower[dof]);
    row->upper = INFINITY;
  }
  if (w->active_set.limited[dof] & 1 << TBI_ROW_UPPER) {
    tbi_row *row = add_row(w, dof, tbi_row_id(dof, TBI_ROW_UPPER));
    row->target = -limit_speed(w, dof, model->dof_upper[dof] - q);
    row->lower = -INFINITY;
  }
}

static void add_friction(tabi_world *w, int32_t dof) {
  tbi_row *row = add_row(w, dof, tbi_row_id(dof, TBI_ROW_FRICTION));
  row->upper = w->model->dof_friction[dof] * w->def.timestep;
  row->lower = -row->upper;
}

/* The order of rows is that of bodies by name; only joints with one coordinate have rows. */
void tbi_make_rows(tabi_world *w) {
  TBI_ASSERT(w->def.timestep > 0);
  const tabi_model *model = w->model;
  w->setup.problem.nrow = 0;
  for (int32_t i = 0; i < model->nbody; ++i) {
    int32_t dof = model->body[model->body_named[i]].v;
    if (model->dof_q[dof] == TABI_NONE || w->active_set.friction[dof] == TBI_FRICTION_STICKS)
      continue;
    add_limits(w, dof);
    if (w->active_set.friction[dof] >= TBI_FRICTION_ROW) add_friction(w, dof);
  }
}

void tbi_keep_rows(tabi_world *w) {
  int64_t n = (int64_t)w->model->nv * TBI_ROW_KINDS;
  for (int64_t i = 0; i < n; ++i)
    if (!tbi_dof_sleeps(w, (int32_t)(i / TBI_ROW_KINDS))) w->state.row_impulse[i] = 0;
  for (int32_t i = 0; i < w->setup.problem.nrow; ++i) {
    const tbi_row *row = &w->setup.problem.row[i];
    w->state.row_impulse[row->id] = row->impulse;
  }
  tbi_keep_joint_friction(w);
}

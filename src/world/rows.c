/* rows.c - constraints of single coordinates: joint limits and dry friction. */
#include "world/world.h"

#define NEAR 0.01 /* rad or m: limits farther away than this and two steps are left out */

/* velocity that takes back a share of an error, up to a cap */
static double correction(const tabi_world *w, double error) {
  double wanted = w->def.correction * error / w->def.timestep;
  return fmin(fmax(wanted, -w->def.correction_speed), w->def.correction_speed);
}

static tbi_row *add_row(tabi_world *w, int32_t dof, uint64_t id) {
  tbi_row *row = &w->setup.problem.row[w->setup.problem.nrow++];
  *row = (tbi_row){.dof = dof, .id = id};
  row->impulse = w->def.warm_start * w->row_impulse[id];
  return row;
}

/* room to the limit may be used up in this step, and is taken back where it is negative */
static double limit_speed(const tabi_world *w, double room) {
  return room >= 0 ? -room / w->def.timestep : correction(w, -room);
}

static void add_limits(tabi_world *w, int32_t dof) {
  const tabi_model *model = w->model;
  double q = w->q[model->dof_q[dof]];
  /* what pulls in this step may be much faster than what moved before */
  double speed = tbi_max(fabs(w->v[dof]), fabs(w->v_free[dof]));
  double ahead = NEAR + 2 * w->def.timestep * speed;
  double below = q - model->dof_lower[dof];
  double above = model->dof_upper[dof] - q;
  if (below < ahead) {
    tbi_row *row = add_row(w, dof, tbi_row_id(dof, TBI_ROW_LOWER));
    row->target = limit_speed(w, below);
    row->upper = INFINITY;
  }
  if (above < ahead) {
    tbi_row *row = add_row(w, dof, tbi_row_id(dof, TBI_ROW_UPPER));
    row->target = -limit_speed(w, above);
    row->lower = -INFINITY;
  }
}

static void add_friction(tabi_world *w, int32_t dof) {
  tbi_row *row = add_row(w, dof, tbi_row_id(dof, TBI_ROW_FRICTION));
  row->upper = w->model->dof_friction[dof] * w->def.timestep;
  row->lower = -row->upper;
}

void tbi_world_rows(tabi_world *w) {
  const tabi_model *model = w->model;
  w->setup.problem.nrow = 0;
  for (int32_t dof = 0; dof < model->nv; ++dof) {
    if (model->dof_q[dof] == TABI_NONE || w->grip[dof] == TBI_GRIP_STICKS) continue;
    add_limits(w, dof);
    if (w->grip[dof] == TBI_GRIP_ROW) add_friction(w, dof);
  }
}

void tbi_world_keep_rows(tabi_world *w) {
  int64_t n = (int64_t)w->model->nv * TBI_ROW_KINDS;
  for (int64_t i = 0; i < n; ++i)
    w->row_impulse[i] = 0;
  for (int32_t i = 0; i < w->setup.problem.nrow; ++i) {
    const tbi_row *row = &w->setup.problem.row[i];
    w->row_impulse[row->id] = row->impulse;
  }
  tbi_world_keep_grips(w);
}

/* rows.c - constraints of single coordinates: joint limits and dry friction.
 *
 * Limits that are far get no rows.  If the solution reaches one all the same, it is found again
 * with a row there. */
#include "world/world.h"

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

enum { LOWER = 1 << TBI_ROW_LOWER, UPPER = 1 << TBI_ROW_UPPER };

void tbi_world_guess_limits(tabi_world *w, const double *v, double near) {
  const tabi_model *model = w->model;
  for (int32_t dof = 0; dof < model->nv; ++dof) {
    w->limited[dof] = 0;
    if (model->dof_q[dof] == TABI_NONE) continue;
    double q = w->q[model->dof_q[dof]];
    double ahead = near + 2 * w->def.timestep * tbi_max(fabs(w->v[dof]), fabs(v[dof]));
    if (q - model->dof_lower[dof] < ahead) w->limited[dof] |= LOWER;
    if (model->dof_upper[dof] - q < ahead) w->limited[dof] |= UPPER;
  }
}

bool tbi_world_prove_limits(tabi_world *w) {
  const tabi_model *model = w->model;
  bool good = true;
  for (int32_t dof = 0; dof < model->nv; ++dof) {
    if (model->dof_q[dof] == TABI_NONE || w->stuck[dof]) continue;
    double after = w->q[model->dof_q[dof]] + w->def.timestep * w->v_new[dof];
    uint8_t reached = 0;
    if (after < model->dof_lower[dof]) reached |= LOWER;
    if (after > model->dof_upper[dof]) reached |= UPPER;
    if ((reached & ~w->limited[dof]) == 0) continue;
    w->limited[dof] |= reached;
    good = false;
  }
  return good;
}

static void add_limits(tabi_world *w, int32_t dof) {
  const tabi_model *model = w->model;
  double q = w->q[model->dof_q[dof]];
  if (w->limited[dof] & LOWER) {
    tbi_row *row = add_row(w, dof, tbi_row_id(dof, TBI_ROW_LOWER));
    row->target = limit_speed(w, q - model->dof_lower[dof]);
    row->upper = INFINITY;
  }
  if (w->limited[dof] & UPPER) {
    tbi_row *row = add_row(w, dof, tbi_row_id(dof, TBI_ROW_UPPER));
    row->target = -limit_speed(w, model->dof_upper[dof] - q);
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
    if (w->grip[dof] >= TBI_GRIP_ROW) add_friction(w, dof);
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

/* grip.c - dry friction of joints without rows, by guess and proof.
 *
 * From step to step most joints go on as they were: those that stuck stick, those that moved move.
 * A joint that is guessed to stick is taken out of M; one that is guessed to slip feels a known
 * impulse.  Neither is an unknown then.  When all else is solved for, the guess is proved: a joint
 * that sticks needs an impulse within its bounds, one that slips must not have turned.  Joints that
 * fail get rows, and the step is solved again. */
#include "world/world.h"

#include <math.h>
#include <string.h>

#define NEAR_LIMIT 0.02 /* rad or m, where limits may want a word */
/* Guesses are made where they are likely to be right, since a wrong one costs another solution. */
#define FIRM 0.9  /* share of its bound up to which a joint is thought to go on sticking */
#define FAST 1e-3 /* rad/s or m/s from which on it is thought to go on slipping */

static double bound_of(const tabi_world *w, int32_t dof) {
  return w->model->dof_friction[dof] * w->def.timestep;
}

static bool is_near_limit(const tabi_world *w, int32_t dof) {
  double q = w->q[w->model->dof_q[dof]];
  return q - w->model->dof_lower[dof] < NEAR_LIMIT || w->model->dof_upper[dof] - q < NEAR_LIMIT;
}

static tbi_grip guess(const tabi_world *w, int32_t dof) {
  double bound = bound_of(w, dof);
  double last = w->row_impulse[tbi_row_id(dof, TBI_ROW_FRICTION)];
  double v = w->v[dof];
  if (fabs(v) <= w->def.tolerance) {
    return fabs(last) < FIRM * bound && !is_near_limit(w, dof) ? TBI_GRIP_STICKS : TBI_GRIP_ROW;
  }
  return fabs(v) > FAST && fabs(last) == bound && last * v < 0 ? TBI_GRIP_SLIPS : TBI_GRIP_ROW;
}

/* Ties share impulses in a way that hides what a joint needs. */
static bool suits(const tabi_world *w) {
  return w->ntied == 0 && w->model->cluster_tie[w->model->ncluster] == 0 &&
         w->def.contact != TABI_CONTACT_PENALTY && !w->def.paper && !w->def.dense;
}

void tbi_world_guess_grips(tabi_world *w) {
  bool guesses = suits(w);
  for (int32_t k = 0; k < w->model->nv; ++k) {
    w->grip[k] = TBI_GRIP_NONE;
    if (w->model->dof_q[k] == TABI_NONE || w->model->dof_friction[k] <= 0) continue;
    w->grip[k] = guesses ? guess(w, k) : TBI_GRIP_ROW;
  }
  memcpy(w->impulse, w->z, sizeof *w->z * (size_t)w->model->nv);
}

void tbi_world_apply_grips(tabi_world *w) {
  for (int32_t k = 0; k < w->model->nv; ++k) {
    w->stuck[k] = w->grip[k] == TBI_GRIP_STICKS;
    w->grip_impulse[k] = 0;
    if (w->grip[k] == TBI_GRIP_SLIPS) w->grip_impulse[k] = copysign(bound_of(w, k), -w->v[k]);
    w->z[k] = w->impulse[k] + w->grip_impulse[k];
  }
}

/* A joint that is held loses what speed it still had, within the tolerance; its momentum M v goes
 * to the others. */
static void stop(tabi_world *w, int32_t dof) {
  const tabi_model *model = w->model;
  const int32_t *path = model->dof_path + model->dof_row[dof];
  const double *row = w->d->row + model->dof_row[dof];
  int32_t depth = model->dof_depth[dof];
  for (int32_t j = 0; j <= depth; ++j)
    w->z[path[j]] += row[j] * w->v[dof];
  for (int32_t k = dof + 1; k < model->nv; ++k) {
    bool hangs = model->dof_depth[k] > depth && model->dof_path[model->dof_row[k] + depth] == dof;
    if (hangs) w->z[k] += w->d->row[model->dof_row[k] + depth] * w->v[dof];
  }
}

void tbi_world_stop_grips(tabi_world *w) {
  for (int32_t k = 0; k < w->model->nv; ++k) {
    if (w->stuck[k] && w->v[k] != 0) stop(w, k);
  }
  memcpy(w->pull, w->z, sizeof *w->z * (size_t)w->model->nv);
}

/* Impulses of all that pushes, at the joints, as elimination leaves them at those that stick. */
static void gather_impulses(const tabi_world *w, double *x) {
  const tbi_problem *p = &w->setup.problem;
  memcpy(x, w->pull, sizeof *x * (size_t)w->model->nv);
  for (int32_t i = 0; i < p->nport; ++i) {
    const tbi_port *port = &p->port[i];
    const int32_t *path = w->model->dof_path + w->model->dof_row[port->dof];
    for (int32_t j = 0; j < port->length; ++j)
      x[path[j]] += sv_dot(w->d->axis[path[j]], p->received[i]);
  }
  for (int32_t i = 0; i < p->nrow; ++i)
    x[p->row[i].dof] += p->row[i].impulse;
  tbi_ltdl_solve_transposed(w->d, x);
}

/* What a joint that sticks has to give for the velocities v_new. */
static double needed(const tabi_world *w, int32_t dof, double gathered) {
  const int32_t *path = w->model->dof_path + w->model->dof_row[dof];
  const double *row = w->stuck_row + w->model->dof_row[dof];
  double sum = -gathered;
  for (int32_t j = 0; j < w->model->dof_depth[dof]; ++j)
    sum += row[j] * (w->v_new[path[j]] - w->v[path[j]]);
  return sum;
}

/* Nothing of what sticks can give way to a point that cannot move. */
static bool is_jammed(const tabi_world *w) {
  const tbi_problem *p = &w->setup.problem;
  for (int32_t i = 0; i < p->npoint; ++i) {
    if (p->point[i].held) return true;
  }
  return false;
}

static void give_up(tabi_world *w) {
  for (int32_t k = 0; k < w->model->nv; ++k) {
    if (w->grip[k] != TBI_GRIP_NONE) w->grip[k] = TBI_GRIP_ROW;
  }
}

static bool any(const tabi_world *w, tbi_grip grip) {
  for (int32_t k = 0; k < w->model->nv; ++k) {
    if (w->grip[k] == grip) return true;
  }
  return false;
}

static bool prove(tabi_world *w, int32_t dof, const double *gathered) {
  if (w->grip[dof] == TBI_GRIP_SLIPS) return w->grip_impulse[dof] * w->v_new[dof] < 0;
  if (w->grip[dof] != TBI_GRIP_STICKS) return true;
  w->grip_impulse[dof] = needed(w, dof, gathered[dof]);
  return fabs(w->grip_impulse[dof]) <= bound_of(w, dof);
}

bool tbi_world_prove_grips(tabi_world *w, int attempt) {
  bool sticks = any(w, TBI_GRIP_STICKS);
  if (!sticks && !any(w, TBI_GRIP_SLIPS)) return true;
  if (sticks && is_jammed(w)) {
    give_up(w);
    return false;
  }
  double *gathered = w->bias; /* has had its time */
  if (sticks) gather_impulses(w, gathered);
  bool good = true;
  for (int32_t k = 0; k < w->model->nv; ++k) {
    if (prove(w, k, gathered)) continue;
    w->grip[k] = TBI_GRIP_ROW;
    good = false;
  }
  for (int32_t k = 0; good && k < w->model->nv; ++k) {
    if (w->stuck[k]) w->v_new[k] = 0;
  }
  if (!good && attempt > 0) give_up(w);
  return good;
}

void tbi_world_keep_grips(tabi_world *w) {
  for (int32_t k = 0; k < w->model->nv; ++k) {
    if (w->grip[k] == TBI_GRIP_STICKS || w->grip[k] == TBI_GRIP_SLIPS)
      w->row_impulse[tbi_row_id(k, TBI_ROW_FRICTION)] = w->grip_impulse[k];
  }
}

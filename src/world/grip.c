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

/* Guesses are made where they are likely to be right, since a wrong one costs another solution. */
enum {
  MOST_GUESSES = 3, /* after which all joints with friction get rows */
  DOUBT = 16,       /* steps */
};
#define FIRM 0.98 /* share of its bound up to which a joint is thought to go on sticking */
#define SLOW 1e-4 /* m/s or rad/s: what slips slower may stop */

static double bound_of(const tabi_world *w, int32_t dof) {
  return w->model->dof_friction[dof] * w->def.timestep;
}

/* Whether limits have nothing against its staying where it is. */
static bool may_stay(const tabi_world *w, int32_t dof) {
  double q = w->q[w->model->dof_q[dof]];
  double beyond = fmax(w->model->dof_lower[dof] - q, q - w->model->dof_upper[dof]);
  return w->def.correction * beyond <= w->def.tolerance * w->def.timestep &&
         w->row_impulse[tbi_row_id(dof, TBI_ROW_LOWER)] == 0 &&
         w->row_impulse[tbi_row_id(dof, TBI_ROW_UPPER)] == 0;
}

static tbi_grip guess(const tabi_world *w, int32_t dof) {
  double bound = bound_of(w, dof);
  double last = w->row_impulse[tbi_row_id(dof, TBI_ROW_FRICTION)];
  double v = w->v[dof];
  if (w->doubt[dof] > 0) return TBI_GRIP_ROW;
  if (fabs(v) <= w->def.tolerance) {
    return fabs(last) < FIRM * bound && may_stay(w, dof) ? TBI_GRIP_STICKS : TBI_GRIP_ROW;
  }
  return fabs(last) == bound && last * v < 0 && fabs(v) > SLOW ? TBI_GRIP_SLIPS : TBI_GRIP_ROW;
}

/* Ties share impulses in a way that hides what a joint needs. */
static bool suits(const tabi_world *w) {
  return w->ntied == 0 && w->model->cluster_tie[w->model->ncluster] == 0 &&
         w->method->predicts_joints;
}

void tbi_world_guess_grips(tabi_world *w) {
  bool guesses = suits(w);
  for (int32_t k = 0; k < w->model->nv; ++k) {
    w->grip[k] = TBI_GRIP_NONE;
    if (w->model->dof_q[k] == TABI_NONE || w->model->dof_friction[k] <= 0) continue;
    w->grip[k] = guesses ? guess(w, k) : TBI_GRIP_ROW;
  }
}

void tbi_world_apply_grips(tabi_world *w) {
  w->stops = false;
  for (int32_t k = 0; k < w->model->nv; ++k) {
    w->stuck[k] = w->grip[k] == TBI_GRIP_STICKS;
    if (w->stuck[k] && w->v[k] != 0) w->stops = true;
    w->grip_impulse[k] = 0;
    if (w->grip[k] == TBI_GRIP_SLIPS) w->grip_impulse[k] = copysign(bound_of(w, k), -w->v[k]);
    w->z[k] = w->impulse[k] + w->grip_impulse[k];
  }
}

/* A joint that is held loses what speed it still had, within the tolerance; its momentum goes to
 * the others. */
static void stop(tabi_world *w) {
  const tabi_model *model = w->model;
  sv *twist = w->d->acc; /* ties, which would want it, rule grips out */
  twist[TABI_WORLD] = sv_zero();
  for (int32_t i = 0; i < model->nbody; ++i) {
    const tbi_body *body = &model->body[i];
    twist[i] = twist[body->parent];
    for (int32_t k = body->v; k < body->v + body->nv; ++k)
      if (w->stuck[k]) twist[i] = sv_axpy(twist[i], w->v[k], w->d->axis[k]);
    w->d->flow[i] = sv_add(w->d->flow[i], inertia_mulv(&w->d->body[i].inertia, twist[i]));
  }
}

void tbi_world_set_flow(tabi_world *w) {
  for (int32_t i = 0; i < w->model->nbody; ++i)
    w->d->flow[i] = w->thrust[i];
  if (w->stops) stop(w);
}

/* the last of those that stick on the way from a velocity to the root, or TABI_NONE */
static int32_t last_stuck(const tabi_world *w, int32_t dof) {
  int32_t last = TABI_NONE;
  for (int32_t k = dof; k >= 0; k = w->model->dof_parent[k])
    if (w->stuck[k]) last = k;
  return last;
}

/* A wrench on the body that `dof` moves asks what sticks on its way to the root for so much. */
static void ask(const tabi_world *w, int32_t dof, sv wrench, double *asked) {
  const tabi_dynamics *d = w->d;
  int32_t last = last_stuck(w, dof);
  for (int32_t k = dof; last != TABI_NONE && k >= last; k = w->model->dof_parent[k]) {
    double e = sv_dot(d->axis[k], wrench);
    asked[k] += e;
    wrench = sv_axpy(wrench, -d->D_inv[k] * e, d->U[k]);
  }
}

/* What joints that stick have to give for the change of velocity that was just solved for, which
 * d->flow still holds as twists: against all that pushes, as elimination leaves it to them, and for
 * what the motion of their parents takes. */
static void find_needed(tabi_world *w) {
  const tbi_problem *p = &w->setup.problem;
  const tabi_model *model = w->model;
  const tabi_dynamics *d = w->d;
  for (int32_t i = 0; i < p->nport; ++i)
    ask(w, p->port[i].dof, p->received[i], w->bias);
  for (int32_t i = 0; i < p->nrow; ++i) {
    int32_t k = p->row[i].dof;
    ask(w, model->dof_parent[k], sv_scale(-d->D_inv[k] * p->row[i].impulse, d->U[k]), w->bias);
  }
  for (int32_t k = 0; k < model->nv; ++k) {
    if (!w->stuck[k]) continue;
    sv carried = d->flow[model->body[model->dof_body[k]].parent];
    w->grip_impulse[k] = sv_dot(d->U[k], carried) - w->bias[k];
  }
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
    if (w->grip[k] == TBI_GRIP_STICKS || w->grip[k] == TBI_GRIP_SLIPS) w->grip[k] = TBI_GRIP_ROW;
  }
}

static bool any(const tabi_world *w, tbi_grip grip) {
  for (int32_t k = 0; k < w->model->nv; ++k) {
    if (w->grip[k] == grip) return true;
  }
  return false;
}

static bool is_proved(const tabi_world *w, int32_t dof) {
  if (w->grip[dof] == TBI_GRIP_SLIPS) return w->grip_impulse[dof] * w->v_new[dof] < 0;
  if (w->grip[dof] != TBI_GRIP_STICKS) return true;
  return fabs(w->grip_impulse[dof]) <= bound_of(w, dof);
}

bool tbi_world_prove_grips(tabi_world *w, int attempt) {
  bool sticks = any(w, TBI_GRIP_STICKS);
  if (!sticks && !any(w, TBI_GRIP_SLIPS)) return true;
  if (sticks && is_jammed(w)) {
    give_up(w);
    return false;
  }
  if (sticks) find_needed(w);
  bool good = true;
  for (int32_t k = 0; k < w->model->nv; ++k) {
    if (is_proved(w, k)) continue;
    w->grip[k] = TBI_GRIP_FAILED;
    good = false;
  }
  for (int32_t k = 0; good && k < w->model->nv; ++k) {
    if (w->stuck[k]) w->v_new[k] = 0;
  }
  if (!good && attempt >= MOST_GUESSES) give_up(w);
  return good;
}

void tbi_world_keep_grips(tabi_world *w) {
  for (int32_t k = 0; k < w->model->nv; ++k) {
    if (w->grip[k] == TBI_GRIP_STICKS || w->grip[k] == TBI_GRIP_SLIPS)
      w->row_impulse[tbi_row_id(k, TBI_ROW_FRICTION)] = w->grip_impulse[k];
    if (w->grip[k] == TBI_GRIP_FAILED) {
      w->doubt[k] = DOUBT;
    } else if (w->doubt[k] > 0) {
      --w->doubt[k];
    }
  }
}

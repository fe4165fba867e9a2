/* blame.c - which body made a step diverge.
 *
 * Once a number is not finite, so are those of all neighbours, and the first of them in the file is
 * nobody's fault.  A mass that fits no other in the scene is the likeliest cause; without one it is
 * the body that is too fast, or was the fastest before. */
#include "base/error.h"
#include "world/world.h"

#include <math.h>

#define ODD 1e5 /* times heavier or lighter than most: a mistake in a mass */

static const char *name_of(const tabi_model *model, int32_t body) {
  const char *name = model->link[model->joint[model->body[body].joint].child].name;
  return name ? name : "(unnamed)";
}

/* kg, the geometric mean of all masses but the given body's; 0: there are none */
static double mass_of_others(const tabi_model *model, int32_t body) {
  double sum = 0;
  int32_t count = 0;
  for (int32_t i = 0; i < model->nbody; ++i) {
    if (i == body || !(model->body[i].mass > 0)) continue;
    sum += log(model->body[i].mass);
    ++count;
  }
  return count > 0 ? exp(sum / count) : 0;
}

/* the body whose mass is farthest from the mean, in orders of magnitude */
static int32_t oddest_mass(const tabi_model *model) {
  double mean = mass_of_others(model, TABI_NONE);
  int32_t odd = TABI_NONE;
  double most = 0;
  for (int32_t i = 0; i < model->nbody; ++i) {
    if (!(model->body[i].mass > 0)) continue;
    double distance = fabs(log(model->body[i].mass / mean));
    if (distance <= most) continue;
    most = distance;
    odd = i;
  }
  return odd;
}

/* A velocity and its number. */
typedef struct culprit {
  int32_t dof; /* or TABI_NONE */
  double velocity;
} culprit;

static culprit fastest(const double *v, int32_t count, double above) {
  culprit found = {TABI_NONE, above};
  for (int32_t k = 0; k < count; ++k) {
    if (!isfinite(v[k]) || !(fabs(v[k]) >= fabs(found.velocity))) continue;
    found = (culprit){k, v[k]};
  }
  return found;
}

/* what is too fast, or else was the fastest before */
static culprit find_culprit(const tabi_world *w) {
  int32_t nv = w->model->nv;
  culprit found = fastest(w->solution.v_new, nv, TBI_MAX_SPEED);
  if (found.dof == TABI_NONE) found = fastest(w->solution.v_move, nv, TBI_MAX_SPEED);
  return found.dof == TABI_NONE ? fastest(w->state.v, nv, 0) : found;
}

static tabi_status blame_mass(tabi_world *w, int32_t body, double others) {
  return tbi_error_set(&w->error, TABI_ERR_DIVERGED, (tabi_place){NULL, 0},
                       "step %lld (%g s): diverged; '%s' has a mass of %g kg among others of about "
                       "%g kg; correct it or try a smaller time step",
                       (long long)w->state.head->steps, tabi_world_time(w), name_of(w->model, body),
                       w->model->body[body].mass, others);
}

tabi_status tbi_world_blame(tabi_world *w) {
  const tabi_model *model = w->model;
  int32_t odd = oddest_mass(model);
  double others = odd == TABI_NONE ? 0 : mass_of_others(model, odd);
  double ratio = others > 0 ? model->body[odd].mass / others : 1;
  if (ratio > ODD || ratio < 1 / ODD) return blame_mass(w, odd, others);
  culprit found = find_culprit(w);
  if (found.dof == TABI_NONE) {
    return tbi_error_set(&w->error, TABI_ERR_DIVERGED, (tabi_place){NULL, 0},
                         "step %lld (%g s): diverged", (long long)w->state.head->steps,
                         tabi_world_time(w));
  }
  return tbi_error_set(&w->error, TABI_ERR_DIVERGED, (tabi_place){NULL, 0},
                       "step %lld (%g s): diverged at '%s', velocity %g; try a smaller time step "
                       "or softer gains",
                       (long long)w->state.head->steps, tabi_world_time(w),
                       name_of(model, model->dof_body[found.dof]), found.velocity);
}

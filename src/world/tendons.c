/* tendons.c - forces and impulses along tendons, see tendons.h.
 *
 * With f(u) = -k e - d u + sum of actuators, e being how far the tendon is beyond its rest lengths,
 * the impulse of a step along the tendon is h f at the end of the step, or at its start under rk4
 * and euler, less m (u+ - u) of its inertia: in all  load - give u+,  which is what a spring of
 * loops.h is.  Where the tendon is held u+ is known, and so is this impulse. */
#include "world/tendons.h"

#include "base/assertion.h"
#include "dynamics/tendon.h"
#include "world/world.h"

static double clamp(double x, double low, double high) { return tbi_min(tbi_max(x, low), high); }

void tbi_tendons_place(tbi_layout *at, const tabi_model *model, tbi_tendons *t) {
  int32_t driven = model->ntendon > 0 ? model->nactuator : 0;
  t->tendon = tbi_layout_take(at, model->ntendon, sizeof *t->tendon);
  t->arm = tbi_layout_take(at, model->ntendon_dof, sizeof *t->arm);
  t->mobility = tbi_layout_take(at, model->ntendon, sizeof *t->mobility);
  t->clamp = tbi_layout_take(at, driven, sizeof *t->clamp);
}

static const double *arms_of(const tabi_world *w, int32_t tendon) {
  return w->tendons.arm + w->model->tendon_first[tendon];
}

/* the rate of a tendon under velocities v */
static double rate_of(const tabi_world *w, int32_t tendon, const double *v) {
  const int32_t *dof = tbi_tendon_dofs(w->model, tendon);
  const double *arm = arms_of(w, tendon);
  double rate = 0;
  for (int32_t k = 0; k < tbi_tendon_ndof(w->model, tendon); ++k)
    rate += arm[k] * v[dof[k]];
  return rate;
}

static void add_along(const tabi_world *w, int32_t tendon, double force, double *to) {
  const int32_t *dof = tbi_tendon_dofs(w->model, tendon);
  const double *arm = arms_of(w, tendon);
  for (int32_t k = 0; k < tbi_tendon_ndof(w->model, tendon); ++k)
    to[dof[k]] += arm[k] * force;
}

void tbi_world_measure_tendons(tabi_world *w) {
  for (int32_t i = 0; i < w->model->ntendon; ++i) {
    tbi_tendon *t = &w->tendons.tendon[i];
    t->length = tbi_tendon_measure(w->d, i, w->tendons.arm + w->model->tendon_first[i]);
    t->rate = rate_of(w, i, w->d->v);
  }
}

void tbi_world_start_tendons(tabi_world *w) {
  const tabi_model *model = w->model;
  if (model->ntendon == 0) return;
  tabi_dynamics *d = tbi_world_dynamics(w);
  tbi_world_measure_tendons(w);
  tbi_aba_factor(d, model->dof_rotor, NULL);
  for (int32_t i = 0; i < model->ntendon; ++i) {
    double *x = w->scratch.dofs;
    memset(x, 0, sizeof *x * (size_t)model->nv);
    add_along(w, i, 1, x);
    tbi_aba_solve(d, x);
    double mobility = rate_of(w, i, x);
    w->tendons.mobility[i] =
        mobility > 0 ? mobility / (1 + model->tendon[i].inertia * mobility) : 0;
  }
  w->current = false;
}

/* -- laws */

/* how far a length is beyond the rest lengths */
static double deflection(const tabi_tendon_def *def, double length) {
  return tbi_max(length - def->rest_upper, 0) + tbi_min(length - def->rest_lower, 0);
}

/* s, from the posture at which a tendon was measured to the end of the step */
static double remaining(const tabi_world *w, const tbi_tendon *t) {
  const tabi_model *model = w->model;
  int32_t i = (int32_t)(t - w->tendons.tendon);
  if (tbi_tendon_ndof(model, i) == 0) return w->def.timestep;
  return tbi_tree_remaining(w, model->body[model->dof_body[*tbi_tendon_dofs(model, i)]].tree);
}

/* the length at the start of the step; d may be at its middle */
static double start_length(const tabi_world *w, const tbi_tendon *t) {
  return t->length - (w->def.timestep - remaining(w, t)) * t->rate;
}

/* N, of the sum that an actuator clamps, at a length and rate of its tendon */
static double actuator_sum(const tabi_actuator_def *a, double u, double length, double rate) {
  double input = clamp(u, a->control_min, a->control_max);
  return a->gain * input + a->bias[0] + a->gear * (a->bias[1] * length + a->bias[2] * rate);
}

/* N s/m, by which the force of an actuator along its tendon falls with the rate at the end of the
 * step; 0: it is explicit */
static double give_of(const tabi_world *w, const tabi_actuator_def *a) {
  double give = -a->gear * a->gear * (a->bias[2] + w->def.timestep * a->bias[1]);
  bool falls = a->bias[1] <= 0 && a->bias[2] <= 0 && give > 0;
  return falls && !tbi_world_is_explicit(w) ? give : 0;
}

/* the same sum where the tendon has the rate u at the end of the step */
static double sum_at_end(const tabi_world *w, const tabi_actuator_def *a, double control,
                         const tbi_tendon *t, double u) {
  double start = start_length(w, t);
  if (give_of(w, a) == 0) return actuator_sum(a, control, start, t->rate);
  return actuator_sum(a, control, start + w->def.timestep * u, u);
}

/* N, along its tendon */
static double actuator_force(const tabi_world *w, int32_t index, const tbi_tendon *t, double u) {
  const tabi_actuator_def *a = &w->model->actuator[index];
  double sum = sum_at_end(w, a, w->state.control[index], t, u);
  return a->gear * clamp(sum, a->force_min, a->force_max);
}

/* -- prediction */

/* a limit that is about to be met, or holds since the step before */
static tbi_tendon_hold predict_limit(const tabi_world *w, int32_t i) {
  const tabi_tendon_def *def = &w->model->tendon[i];
  const tbi_tendon *t = &w->tendons.tendon[i];
  double next = t->length + remaining(w, t) * t->rate;
  double slop = 1e-6 + 2 * w->def.timestep * fabs(t->rate);
  if (next < def->lower) return TBI_TENDON_LOWER;
  if (next > def->upper) return TBI_TENDON_UPPER;
  if (w->state.tendon_hold[i] == TBI_TENDON_LOWER && t->length - def->lower < slop)
    return TBI_TENDON_LOWER;
  if (w->state.tendon_hold[i] == TBI_TENDON_UPPER && def->upper - t->length < slop)
    return TBI_TENDON_UPPER;
  return TBI_TENDON_FREE;
}

static void predict_clamps(tabi_world *w) {
  const tabi_model *model = w->model;
  for (int32_t k = 0; k < model->nactuator; ++k) {
    const tabi_actuator_def *a = &model->actuator[k];
    if (a->tendon == TABI_NONE) continue;
    const tbi_tendon *t = &w->tendons.tendon[a->tendon];
    double fall = w->def.timestep * give_of(w, a) * w->tendons.mobility[a->tendon];
    double end = sum_at_end(w, a, w->state.control[k], t, t->rate) / (1 + fall);
    w->tendons.clamp[k] = TBI_CLAMP_NONE;
    if (end < a->force_min) w->tendons.clamp[k] = TBI_CLAMP_MIN;
    if (end > a->force_max) w->tendons.clamp[k] = TBI_CLAMP_MAX;
  }
}

void tbi_predict_tendons(tabi_world *w) {
  for (int32_t i = 0; i < w->model->ntendon; ++i) {
    const tabi_tendon_def *def = &w->model->tendon[i];
    tbi_tendon *t = &w->tendons.tendon[i];
    t->slack = false;
    t->friction = 0;
    t->hold = (uint8_t)predict_limit(w, i);
    if (t->hold != TBI_TENDON_FREE || def->friction == 0) continue;
    if (fabs(t->rate) <= w->def.tolerance) {
      t->hold = TBI_TENDON_STICKS;
    } else {
      t->friction = t->rate > 0 ? -def->friction : def->friction;
    }
  }
  if (w->model->ntendon > 0) predict_clamps(w);
}

/* -- what follows from it */

/* m/s, of a limit: the distance may be used up in this step; beyond it, some is taken back */
static double limit_speed(const tabi_world *w, const tbi_tendon *t, double distance) {
  if (distance >= 0) return -distance / remaining(w, t);
  double back = -w->def.correction * distance / w->def.timestep;
  return tbi_min(back, w->def.correction_speed);
}

static double target_of(const tabi_world *w, int32_t i) {
  const tabi_tendon_def *def = &w->model->tendon[i];
  const tbi_tendon *t = &w->tendons.tendon[i];
  if (t->hold == TBI_TENDON_LOWER) return limit_speed(w, t, t->length - def->lower);
  if (t->hold == TBI_TENDON_UPPER) return -limit_speed(w, t, def->upper - t->length);
  return 0;
}

static bool is_loaded(const tabi_tendon_def *def, const tbi_tendon *t, double length) {
  if (def->stiffness == 0 || t->slack) return false;
  return def->rest_lower == def->rest_upper || deflection(def, length) != 0;
}

/* spring, damper and inertia */
static void apply_passive(tabi_world *w, int32_t i) {
  const tabi_tendon_def *def = &w->model->tendon[i];
  tbi_tendon *t = &w->tendons.tendon[i];
  double h = w->def.timestep;
  double start = start_length(w, t);
  t->known = h * t->friction;
  t->give = def->inertia;
  t->load = def->inertia * t->rate;
  t->stiffness = t->damping = 0;
  if (tbi_world_is_explicit(w)) {
    t->known -= h * (def->stiffness * deflection(def, start) + def->damping * t->rate);
    return;
  }
  t->damping = def->damping;
  if (is_loaded(def, t, start)) t->stiffness = def->stiffness;
}

static void apply_actuator(tabi_world *w, int32_t index) {
  const tabi_actuator_def *a = &w->model->actuator[index];
  tbi_tendon *t = &w->tendons.tendon[a->tendon];
  double h = w->def.timestep;
  double give = give_of(w, a);
  switch ((tbi_actuator_clamp)w->tendons.clamp[index]) {
  case TBI_CLAMP_MIN:
    t->known += h * a->gear * a->force_min;
    break;
  case TBI_CLAMP_MAX:
    t->known += h * a->gear * a->force_max;
    break;
  case TBI_CLAMP_NONE:
    if (give > 0) {
      t->give += h * give;
      t->load += h * a->gear * sum_at_end(w, a, w->state.control[index], t, 0);
    } else {
      t->known += h * actuator_force(w, index, t, 0);
    }
    break;
  }
}

/* a tendon that is held moves as is known: so does the impulse of all that depends on it */
static void apply_hold(tabi_world *w, int32_t i) {
  const tabi_tendon_def *def = &w->model->tendon[i];
  tbi_tendon *t = &w->tendons.tendon[i];
  double h = w->def.timestep;
  double u = t->target = target_of(w, i);
  double end = start_length(w, t) + h * u;
  if (t->stiffness > 0) t->known -= h * def->stiffness * deflection(def, end);
  t->known += t->load - (t->give + h * t->damping) * u;
  t->stiffness = t->damping = t->give = t->load = 0;
}

void tbi_apply_tendons(tabi_world *w) {
  const tabi_model *model = w->model;
  if (model->ntendon == 0) return;
  for (int32_t i = 0; i < model->ntendon; ++i)
    apply_passive(w, i);
  for (int32_t k = 0; k < model->nactuator; ++k)
    if (model->actuator[k].tendon != TABI_NONE) apply_actuator(w, k);
  for (int32_t i = 0; i < model->ntendon; ++i) {
    if (w->tendons.tendon[i].hold != TBI_TENDON_FREE) apply_hold(w, i);
    add_along(w, i, w->tendons.tendon[i].known, w->free.u);
  }
}

static double limit_error(const tabi_tendon_def *def, const tbi_tendon *t) {
  if (t->hold == TBI_TENDON_LOWER) return t->length - def->lower;
  if (t->hold == TBI_TENDON_UPPER) return t->length - def->upper;
  return 0;
}

bool tbi_world_tendon_loop(const tabi_world *w, int32_t i, tbi_loop *loop) {
  const tabi_model *model = w->model;
  const tabi_tendon_def *def = &model->tendon[i];
  const tbi_tendon *t = &w->tendons.tendon[i];
  double h = w->def.timestep;
  *loop = (tbi_loop){.cluster = tbi_tendon_cluster(model, i),
                     .owner = model->nconnection + model->ncoupling + i,
                     .body_a = TABI_WORLD,
                     .body_b = TABI_WORLD,
                     .dof = TABI_NONE,
                     .leader = TABI_NONE,
                     .velocity = t->rate};
  loop->tendon[0] =
      (tbi_arms){tbi_tendon_ndof(model, i), tbi_tendon_dofs(model, i), arms_of(w, i), 1};
  loop->drift = tbi_tendon_drift(w->d, i);
  if (t->hold != TBI_TENDON_FREE) {
    loop->is_given = true;
    loop->target = t->target;
    loop->error = limit_error(def, t);
    return true;
  }
  loop->stiffness = t->stiffness;
  loop->damping = t->damping;
  loop->give = t->give;
  loop->load = t->load - h * def->inertia * loop->drift;
  loop->error = deflection(def, t->length);
  return tbi_loop_is_spring(loop);
}

/* -- verification */

/* the impulse that holds a tendon */
static double holding_impulse(const tabi_world *w, int32_t tendon) {
  int32_t owner = w->model->nconnection + w->model->ncoupling + tendon;
  for (int32_t i = 0; i < w->setup.loops.count; ++i)
    if (w->setup.loops.loop[i].owner == owner) return w->setup.loops.loop[i].impulse;
  return 0;
}

static bool verify_held(tabi_world *w, int32_t i) {
  tbi_tendon *t = &w->tendons.tendon[i];
  double impulse = holding_impulse(w, i);
  double bound = w->def.timestep * w->model->tendon[i].friction;
  switch ((tbi_tendon_hold)t->hold) {
  case TBI_TENDON_LOWER:
    if (impulse >= 0) return true;
    break;
  case TBI_TENDON_UPPER:
    if (impulse <= 0) return true;
    break;
  default:
    if (fabs(impulse) <= bound) return true;
    t->friction = copysign(w->model->tendon[i].friction, impulse);
    break;
  }
  t->hold = TBI_TENDON_FREE;
  return false;
}

static bool verify_free(tabi_world *w, int32_t i) {
  const tabi_tendon_def *def = &w->model->tendon[i];
  tbi_tendon *t = &w->tendons.tendon[i];
  double u = rate_of(w, i, w->solution.v_new);
  double next = t->length + remaining(w, t) * u;
  double beyond = deflection(def, start_length(w, t));
  tbi_tendon_hold hold = TBI_TENDON_FREE;
  if (t->friction * u > 0) hold = TBI_TENDON_STICKS;
  if (next < def->lower) hold = TBI_TENDON_LOWER;
  if (next > def->upper) hold = TBI_TENDON_UPPER;
  if (hold != TBI_TENDON_FREE) {
    t->hold = (uint8_t)hold;
    t->friction = 0;
    return false;
  }
  /* a spring with two rest lengths pulls towards them, and not beyond */
  bool banded = def->rest_lower < def->rest_upper;
  if (banded && t->stiffness > 0 && beyond * (beyond + w->def.timestep * u) < 0) {
    t->slack = true;
    return false;
  }
  return true;
}

static bool verify_clamp(tabi_world *w, int32_t index) {
  const tabi_actuator_def *a = &w->model->actuator[index];
  const tbi_tendon *t = &w->tendons.tendon[a->tendon];
  double u = rate_of(w, a->tendon, w->solution.v_new);
  double sum = sum_at_end(w, a, w->state.control[index], t, u);
  uint8_t clamped = TBI_CLAMP_NONE;
  if (sum < a->force_min) clamped = TBI_CLAMP_MIN;
  if (sum > a->force_max) clamped = TBI_CLAMP_MAX;
  if (clamped == w->tendons.clamp[index]) return true;
  w->tendons.clamp[index] = clamped;
  return give_of(w, a) == 0;
}

bool tbi_verify_tendons(tabi_world *w, int attempt) {
  const tabi_model *model = w->model;
  bool verified = true;
  if (model->ntendon == 0 || attempt >= TBI_TENDON_ATTEMPTS) return true;
  for (int32_t i = 0; i < model->ntendon; ++i) {
    bool held = w->tendons.tendon[i].hold != TBI_TENDON_FREE;
    if (!(held ? verify_held(w, i) : verify_free(w, i))) verified = false;
  }
  for (int32_t k = 0; k < model->nactuator; ++k)
    if (model->actuator[k].tendon != TABI_NONE && !verify_clamp(w, k)) verified = false;
  return verified;
}

/* -- after the solution */

static void keep_actuators(tabi_world *w) {
  const tabi_model *model = w->model;
  for (int32_t k = 0; k < model->nactuator; ++k) {
    int32_t tendon = model->actuator[k].tendon;
    if (tendon == TABI_NONE) continue;
    const tabi_actuator_def *a = &model->actuator[k];
    double u = rate_of(w, tendon, w->solution.v_new);
    double sum = sum_at_end(w, a, w->state.control[k], &w->tendons.tendon[tendon], u);
    double force = a->gear * clamp(sum, a->force_min, a->force_max);
    add_along(w, tendon, a->gear * sum, w->solution.commanded);
    add_along(w, tendon, force, w->solution.applied);
    add_along(w, tendon, force, w->forces.drive);
  }
}

void tbi_world_keep_tendons(tabi_world *w) {
  const tabi_model *model = w->model;
  if (model->ntendon == 0) return;
  for (int32_t i = 0; i < model->ntendon; ++i) {
    tbi_tendon *t = &w->tendons.tendon[i];
    double gained = rate_of(w, i, w->solution.v_new) - t->rate;
    double impulse = t->known + holding_impulse(w, i) + model->tendon[i].inertia * gained;
    t->force = impulse / w->def.timestep;
    w->state.tendon_hold[i] = t->hold;
    add_along(w, i, t->known, w->forces.joint_impulse);
  }
  keep_actuators(w);
}

/* -- at a state */

void tbi_world_pull_tendons(tabi_world *w, double *force) {
  const tabi_model *model = w->model;
  tbi_world_measure_tendons(w);
  for (int32_t i = 0; i < model->ntendon; ++i) {
    const tabi_tendon_def *def = &model->tendon[i];
    const tbi_tendon *t = &w->tendons.tendon[i];
    double spring = def->stiffness * deflection(def, t->length);
    add_along(w, i, t->friction - spring - def->damping * t->rate, force);
  }
  for (int32_t k = 0; k < model->nactuator; ++k) {
    const tabi_actuator_def *a = &model->actuator[k];
    if (a->tendon == TABI_NONE) continue;
    const tbi_tendon *t = &w->tendons.tendon[a->tendon];
    double sum = actuator_sum(a, w->state.control[k], t->length, t->rate);
    add_along(w, a->tendon, a->gear * clamp(sum, a->force_min, a->force_max), force);
  }
}

double tbi_world_tendon_energy(const tabi_world *w) {
  double energy = 0;
  for (int32_t i = 0; i < w->model->ntendon; ++i) {
    const tabi_tendon_def *def = &w->model->tendon[i];
    if (def->stiffness == 0) continue;
    double length = tbi_tendon_measure(w->d, i, w->tendons.arm + w->model->tendon_first[i]);
    double beyond = deflection(def, length);
    energy += 0.5 * def->stiffness * beyond * beyond;
  }
  return energy;
}

double tbi_world_tendon_kinetic(const tabi_world *w) {
  double energy = 0;
  for (int32_t i = 0; i < w->model->ntendon; ++i) {
    if (w->model->tendon[i].inertia == 0) continue;
    (void)tbi_tendon_measure(w->d, i, w->tendons.arm + w->model->tendon_first[i]);
    double rate = rate_of(w, i, w->d->v);
    energy += 0.5 * w->model->tendon[i].inertia * rate * rate;
  }
  return energy;
}

tabi_tendon_state tabi_world_tendon(tabi_world *world, int32_t tendon) {
  TBI_ASSERT(world && tendon >= 0 && tendon < world->model->ntendon);
  (void)tbi_world_dynamics(world);
  double *arm = world->tendons.arm + world->model->tendon_first[tendon];
  double length = tbi_tendon_measure(world->d, tendon, arm);
  return (tabi_tendon_state){.length = length,
                             .rate = rate_of(world, tendon, world->state.v),
                             .force = world->tendons.tendon[tendon].force};
}

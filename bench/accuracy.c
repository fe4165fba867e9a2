/* accuracy.c - the measures of error.  States are looked at before each step, as SimBenchmark does.
 */
#include "accuracy.h"

#include "penetration.h"

#include <math.h>
#include <string.h>

static const double patience = 40; /* s of CPU time that a run may take */

static double dot(const double a[3], const double b[3]) {
  return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

/* y = R(quat)^T x */
static void to_body(const double quat[4], const double x[3], double y[3]) {
  const double back[4] = {quat[0], -quat[1], -quat[2], -quat[3]};
  tbi_neutral_rotate(back, x, y);
}

double tbi_accuracy_kinetic_energy(const tbi_neutral_scene *neutral,
                                   const tbi_neutral_state *state) {
  double energy = 0;
  for (int32_t i = 0; i < neutral->nbody; ++i) {
    const tbi_neutral_body *b = &neutral->body[i];
    const double *m = b->inertia;
    double w[3];
    to_body(state[i].quat, state[i].angular, w);
    energy += b->mass * (dot(state[i].linear, state[i].linear) / 2);
    energy += (m[0] * w[0] * w[0] + m[1] * w[1] * w[1] + m[2] * w[2] * w[2]) / 2;
    energy += m[3] * w[0] * w[1] + m[4] * w[0] * w[2] + m[5] * w[1] * w[2];
  }
  return energy;
}

double tbi_accuracy_energy(const tbi_neutral_scene *neutral, const tbi_neutral_state *state) {
  double energy = tbi_accuracy_kinetic_energy(neutral, state);
  for (int32_t i = 0; i < neutral->nbody; ++i)
    energy -= neutral->body[i].mass * dot(neutral->gravity, state[i].com);
  return energy;
}

/* Where a point of a body is; of the world, body -1, the point itself. */
static void place(const tbi_neutral_scene *neutral, const tbi_neutral_state *state, int32_t body,
                  const double point[3], double at[3]) {
  memcpy(at, point, 3 * sizeof(double));
  if (body < 0) return;
  double arm[3];
  for (int k = 0; k < 3; ++k)
    arm[k] = point[k] - neutral->body[body].com[k];
  tbi_neutral_rotate(state[body].quat, arm, at);
  for (int k = 0; k < 3; ++k)
    at[k] += state[body].com[k];
}

static double apart(const tbi_neutral_scene *neutral, const tbi_neutral_state *state,
                    const int32_t body[2], const double a[3], const double b[3]) {
  double at[2][3], off[3];
  place(neutral, state, body[0], a, at[0]);
  place(neutral, state, body[1], b, at[1]);
  for (int k = 0; k < 3; ++k)
    off[k] = at[0][k] - at[1][k];
  return sqrt(dot(off, off));
}

double tbi_accuracy_joint_gap(const tbi_neutral_scene *neutral, const tbi_neutral_state *state) {
  const double origin[3] = {0};
  double widest = 0;
  for (int32_t i = 0; i < neutral->nbody; ++i) {
    const tbi_neutral_body *b = &neutral->body[i];
    const int32_t pair[2] = {i, b->parent};
    if (b->joint != TBI_NEUTRAL_HINGE) continue;
    widest = fmax(widest, apart(neutral, state, pair, origin, b->pos));
  }
  for (int32_t i = 0; i < neutral->nconnection; ++i) {
    const tbi_neutral_connection *t = &neutral->connection[i];
    widest = fmax(widest, apart(neutral, state, t->body, t->pos[0], t->pos[1]));
  }
  return widest;
}

double tbi_accuracy_speed(const tbi_neutral_scene *neutral, const tbi_neutral_state *state) {
  double fastest = 0;
  for (int32_t i = 0; i < neutral->nbody; ++i) {
    double speed = sqrt(dot(state[i].linear, state[i].linear));
    // not fmax, which would pass over what is not a number
    if (!(speed <= fastest)) fastest = speed;
  }
  return fastest;
}

/* A run that is looked at before each step. */
typedef struct run {
  tbi_engine_run *c;
  tbi_neutral_state *state;
  double seconds, contacts, steps;
} run;

static bool look(run *r) { return tbi_engine_run_state(r->c, r->state); }

static bool go(run *r, int32_t steps) {
  tbi_engine_time t = tbi_engine_run_step(r->c, steps, patience);
  r->seconds += t.seconds;
  r->contacts += t.contacts * t.steps;
  r->steps += t.steps;
  return t.steps == steps && r->seconds < patience;
}

static tbi_accuracy verdict(const run *r, bool ok, double error) {
  return (tbi_accuracy){.error = ok ? error : (double)NAN,
                        .energy = (double)NAN,
                        .steps = (int32_t)r->steps,
                        .seconds = r->seconds / r->steps,
                        .contacts = r->contacts / r->steps};
}

/* The body of a link of the model. */
static int32_t body_of(const run *r, int32_t link) {
  const tbi_neutral_scene *neutral = &r->c->scene->neutral;
  int32_t body = 0;
  for (int32_t i = 0; i < neutral->nbody; ++i)
    if (neutral->body[i].link == link) body = i;
  return body;
}

tbi_accuracy tbi_accuracy_creep(tbi_engine_run *c, int32_t steps, tbi_neutral_state *state) {
  run r = {.c = c, .state = state};
  double from[3], off[3], h = c->scene->timestep;
  int32_t wait = (int32_t)(0.5 / h);
  bool ok = tbi_engine_run_reset(c) && go(&r, wait) && look(&r);
  memcpy(from, state[0].com, sizeof from);
  ok = ok && go(&r, steps) && look(&r);
  for (int k = 0; k < 3; ++k)
    off[k] = state[0].com[k] - from[k];
  return verdict(&r, ok, sqrt(dot(off, off)) / (steps * h));
}

/* Friction below is f1 = mu1 (M + 25 m) g; each ball takes f2 = (F - f1) / M / (3.5 / m + 25 / M),
 * so that the plate gains (F - f1 - 25 f2) / M and a ball f2 / m. */
tbi_accuracy tbi_accuracy_rolling(tbi_engine_run *c, int32_t steps, tbi_neutral_state *state) {
  run r = {.c = c, .state = state};
  const double pull = 150, mass = 10, ball = 1;
  const double along[3] = {0.5, sqrt(0.75), 0};
  double below = 0.4 * (mass + 25 * ball) * -c->scene->neutral.gravity[2];
  double above = (pull - below) / mass / (3.5 / ball + 25 / mass);
  const double gain[2] = {(pull - below - 25 * above) / mass, above / ball};
  const double force[3] = {pull * along[0], pull * along[1], 0};
  double error = 0;
  bool ok = tbi_engine_run_reset(c) && tbi_engine_run_push(c, body_of(&r, 0), force);
  for (int32_t n = 0; n < steps && ok; ++n) {
    ok = look(&r);
    for (int32_t link = 0; link < 2; ++link) {
      double off[3];
      for (int k = 0; k < 3; ++k)
        off[k] =
            state[body_of(&r, link)].linear[k] - gain[link] * n * c->scene->timestep * along[k];
      error += dot(off, off) / steps;
    }
    ok = ok && go(&r, 1);
  }
  return verdict(&r, ok, error);
}

/* Mean square change of energy from here on. */
static bool energy_drift(run *r, int32_t steps, double *error) {
  const tbi_neutral_scene *neutral = &r->c->scene->neutral;
  bool ok = look(r);
  double start = tbi_accuracy_energy(neutral, r->state);
  *error = 0;
  for (int32_t n = 0; n < steps && ok; ++n) {
    double off = tbi_accuracy_energy(neutral, r->state) - start;
    *error += off * off / steps;
    ok = go(r, 1) && look(r);
  }
  return ok;
}

tbi_accuracy tbi_accuracy_bouncing(tbi_engine_run *c, int32_t steps, tbi_neutral_state *state) {
  run r = {.c = c, .state = state};
  double error = 0;
  bool ok = tbi_engine_run_reset(c) && energy_drift(&r, steps, &error);
  return verdict(&r, ok, error);
}

tbi_accuracy tbi_accuracy_depths(tbi_engine_run *c, int32_t steps, tbi_neutral_state *state) {
  run r = {.c = c, .state = state};
  double error = 0;
  bool ok = tbi_engine_run_reset(c);
  for (int32_t n = 0; n < steps && ok; ++n) {
    double deepest = 0, squares = 0;
    ok =
        look(&r) && tbi_penetration_all(&c->scene->neutral, state, &deepest, &squares) && go(&r, 1);
    error += squares / steps;
  }
  return verdict(&r, ok, error);
}

tbi_accuracy tbi_accuracy_loops(tbi_engine_run *c, int32_t steps, tbi_neutral_state *state) {
  run r = {.c = c, .state = state};
  const tbi_neutral_scene *neutral = &c->scene->neutral;
  double gap = 0, kinetic = 0, change = 0;
  bool ok = tbi_engine_run_reset(c) && look(&r);
  double start = ok ? tbi_accuracy_energy(neutral, state) : 0;
  for (int32_t n = 0; n < steps && ok; ++n) {
    ok = go(&r, 1) && look(&r) && isfinite(tbi_accuracy_speed(neutral, state));
    gap = fmax(gap, tbi_accuracy_joint_gap(neutral, state));
    kinetic = fmax(kinetic, tbi_accuracy_kinetic_energy(neutral, state));
    change = fmax(change, fabs(tbi_accuracy_energy(neutral, state) - start));
  }
  tbi_accuracy v = verdict(&r, ok, gap);
  if (ok) v.energy = change / kinetic;
  return v;
}

static void momentum(const run *r, double p[3]) {
  const tbi_neutral_scene *neutral = &r->c->scene->neutral;
  p[0] = p[1] = p[2] = 0;
  for (int32_t i = 0; i < neutral->nbody; ++i)
    for (int k = 0; k < 3; ++k)
      p[k] += neutral->body[i].mass * r->state[i].linear[k];
}

tbi_accuracy tbi_accuracy_momentum(tbi_engine_run *c, int32_t steps, tbi_neutral_state *state) {
  run r = {.c = c, .state = state};
  double error = 0, start[3] = {0};
  bool ok = tbi_engine_run_reset(c) && look(&r);
  if (ok) momentum(&r, start);
  for (int32_t n = 0; n < steps && ok; ++n) {
    double off[3];
    momentum(&r, off);
    for (int k = 0; k < 3; ++k)
      off[k] -= start[k];
    error += dot(off, off) / steps;
    ok = go(&r, 1) && look(&r);
  }
  return verdict(&r, ok, error);
}

tbi_accuracy tbi_accuracy_flight(tbi_engine_run *c, int32_t steps, tbi_neutral_state *state) {
  run r = {.c = c, .state = state};
  const tbi_neutral_scene *neutral = &c->scene->neutral;
  double mass = 0, error = 0;
  for (int32_t i = 0; i < neutral->nbody; ++i)
    mass += neutral->body[i].mass;
  const double up[3] = {0, 0, -2 * mass * neutral->gravity[2]}, none[3] = {0};
  int32_t base = body_of(&r, 0);
  bool ok = tbi_engine_run_reset(c) && tbi_engine_run_push(c, base, up) && go(&r, steps / 3);
  ok = ok && tbi_engine_run_push(c, base, none) && energy_drift(&r, steps - steps / 3, &error);
  return verdict(&r, ok, error);
}

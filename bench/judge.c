/* judge.c - the measures of error.  States are looked at before each step, as SimBenchmark does. */
#include "judge.h"

#include "overlap.h"

#include <math.h>
#include <string.h>

static const double patience = 40; /* s of CPU time that a run may take */

static double dot(const double a[3], const double b[3]) {
  return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

/* y = R(quat)^T x */
static void to_body(const double quat[4], const double x[3], double y[3]) {
  const double back[4] = {quat[0], -quat[1], -quat[2], -quat[3]};
  tbi_plain_turn(back, x, y);
}

double tbi_judge_kinetic(const tbi_plain *plain, const tbi_plain_state *state) {
  double energy = 0;
  for (int32_t i = 0; i < plain->nbody; ++i) {
    const tbi_plain_body *b = &plain->body[i];
    const double *m = b->inertia;
    double w[3];
    to_body(state[i].quat, state[i].angular, w);
    energy += b->mass * (dot(state[i].linear, state[i].linear) / 2);
    energy += (m[0] * w[0] * w[0] + m[1] * w[1] * w[1] + m[2] * w[2] * w[2]) / 2;
    energy += m[3] * w[0] * w[1] + m[4] * w[0] * w[2] + m[5] * w[1] * w[2];
  }
  return energy;
}

double tbi_judge_energy(const tbi_plain *plain, const tbi_plain_state *state) {
  double energy = tbi_judge_kinetic(plain, state);
  for (int32_t i = 0; i < plain->nbody; ++i)
    energy -= plain->body[i].mass * dot(plain->gravity, state[i].com);
  return energy;
}

/* Where a point of a body is; of the world, body -1, the point itself. */
static void place(const tbi_plain *plain, const tbi_plain_state *state, int32_t body,
                  const double point[3], double at[3]) {
  memcpy(at, point, 3 * sizeof(double));
  if (body < 0) return;
  double arm[3];
  for (int k = 0; k < 3; ++k)
    arm[k] = point[k] - plain->body[body].com[k];
  tbi_plain_turn(state[body].quat, arm, at);
  for (int k = 0; k < 3; ++k)
    at[k] += state[body].com[k];
}

static double apart(const tbi_plain *plain, const tbi_plain_state *state, const int32_t body[2],
                    const double a[3], const double b[3]) {
  double at[2][3], off[3];
  place(plain, state, body[0], a, at[0]);
  place(plain, state, body[1], b, at[1]);
  for (int k = 0; k < 3; ++k)
    off[k] = at[0][k] - at[1][k];
  return sqrt(dot(off, off));
}

double tbi_judge_gap(const tbi_plain *plain, const tbi_plain_state *state) {
  const double origin[3] = {0};
  double widest = 0;
  for (int32_t i = 0; i < plain->nbody; ++i) {
    const tbi_plain_body *b = &plain->body[i];
    const int32_t pair[2] = {i, b->parent};
    if (b->joint != TBI_PLAIN_HINGE) continue;
    widest = fmax(widest, apart(plain, state, pair, origin, b->pos));
  }
  for (int32_t i = 0; i < plain->ntie; ++i) {
    const tbi_plain_tie *t = &plain->tie[i];
    widest = fmax(widest, apart(plain, state, t->body, t->pos[0], t->pos[1]));
  }
  return widest;
}

double tbi_judge_speed(const tbi_plain *plain, const tbi_plain_state *state) {
  double fastest = 0;
  for (int32_t i = 0; i < plain->nbody; ++i) {
    double speed = sqrt(dot(state[i].linear, state[i].linear));
    // not fmax, which would pass over what is not a number
    if (!(speed <= fastest)) fastest = speed;
  }
  return fastest;
}

/* A run that is looked at before each step. */
typedef struct run {
  tbi_contender *c;
  tbi_plain_state *state;
  double seconds, contacts, steps;
} run;

static bool look(run *r) { return tbi_contender_state(r->c, r->state); }

static bool go(run *r, int32_t steps) {
  tbi_host_time t = tbi_contender_step(r->c, steps, patience);
  r->seconds += t.seconds;
  r->contacts += t.contacts * t.steps;
  r->steps += t.steps;
  return t.steps == steps && r->seconds < patience;
}

static tbi_judgement verdict(const run *r, bool ok, double error) {
  return (tbi_judgement){.error = ok ? error : (double)NAN,
                         .energy = (double)NAN,
                         .steps = (int32_t)r->steps,
                         .seconds = r->seconds / r->steps,
                         .contacts = r->contacts / r->steps};
}

/* The body of a link of the model. */
static int32_t body_of(const run *r, int32_t link) {
  const tbi_plain *plain = &r->c->scene->plain;
  int32_t body = 0;
  for (int32_t i = 0; i < plain->nbody; ++i)
    if (plain->body[i].link == link) body = i;
  return body;
}

tbi_judgement tbi_judge_creep(tbi_contender *c, int32_t steps, tbi_plain_state *state) {
  run r = {.c = c, .state = state};
  double from[3], off[3], h = c->scene->timestep;
  int32_t wait = (int32_t)(0.5 / h);
  bool ok = tbi_contender_reset(c) && go(&r, wait) && look(&r);
  memcpy(from, state[0].com, sizeof from);
  ok = ok && go(&r, steps) && look(&r);
  for (int k = 0; k < 3; ++k)
    off[k] = state[0].com[k] - from[k];
  return verdict(&r, ok, sqrt(dot(off, off)) / (steps * h));
}

/* Friction below is f1 = mu1 (M + 25 m) g; each ball takes f2 = (F - f1) / M / (3.5 / m + 25 / M),
 * so that the plate gains (F - f1 - 25 f2) / M and a ball f2 / m. */
tbi_judgement tbi_judge_rolling(tbi_contender *c, int32_t steps, tbi_plain_state *state) {
  run r = {.c = c, .state = state};
  const double pull = 150, mass = 10, ball = 1;
  const double along[3] = {0.5, sqrt(0.75), 0};
  double below = 0.4 * (mass + 25 * ball) * -c->scene->plain.gravity[2];
  double above = (pull - below) / mass / (3.5 / ball + 25 / mass);
  const double gain[2] = {(pull - below - 25 * above) / mass, above / ball};
  const double force[3] = {pull * along[0], pull * along[1], 0};
  double error = 0;
  bool ok = tbi_contender_reset(c) && tbi_contender_push(c, body_of(&r, 0), force);
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
  const tbi_plain *plain = &r->c->scene->plain;
  bool ok = look(r);
  double start = tbi_judge_energy(plain, r->state);
  *error = 0;
  for (int32_t n = 0; n < steps && ok; ++n) {
    double off = tbi_judge_energy(plain, r->state) - start;
    *error += off * off / steps;
    ok = go(r, 1) && look(r);
  }
  return ok;
}

tbi_judgement tbi_judge_bouncing(tbi_contender *c, int32_t steps, tbi_plain_state *state) {
  run r = {.c = c, .state = state};
  double error = 0;
  bool ok = tbi_contender_reset(c) && energy_drift(&r, steps, &error);
  return verdict(&r, ok, error);
}

tbi_judgement tbi_judge_depths(tbi_contender *c, int32_t steps, tbi_plain_state *state) {
  run r = {.c = c, .state = state};
  double error = 0;
  bool ok = tbi_contender_reset(c);
  for (int32_t n = 0; n < steps && ok; ++n) {
    double deepest = 0, squares = 0;
    ok = look(&r) && tbi_overlap_all(&c->scene->plain, state, &deepest, &squares) && go(&r, 1);
    error += squares / steps;
  }
  return verdict(&r, ok, error);
}

tbi_judgement tbi_judge_loops(tbi_contender *c, int32_t steps, tbi_plain_state *state) {
  run r = {.c = c, .state = state};
  const tbi_plain *plain = &c->scene->plain;
  double gap = 0, kinetic = 0, change = 0;
  bool ok = tbi_contender_reset(c) && look(&r);
  double start = ok ? tbi_judge_energy(plain, state) : 0;
  for (int32_t n = 0; n < steps && ok; ++n) {
    ok = go(&r, 1) && look(&r) && isfinite(tbi_judge_speed(plain, state));
    gap = fmax(gap, tbi_judge_gap(plain, state));
    kinetic = fmax(kinetic, tbi_judge_kinetic(plain, state));
    change = fmax(change, fabs(tbi_judge_energy(plain, state) - start));
  }
  tbi_judgement v = verdict(&r, ok, gap);
  if (ok) v.energy = change / kinetic;
  return v;
}

static void momentum(const run *r, double p[3]) {
  const tbi_plain *plain = &r->c->scene->plain;
  p[0] = p[1] = p[2] = 0;
  for (int32_t i = 0; i < plain->nbody; ++i)
    for (int k = 0; k < 3; ++k)
      p[k] += plain->body[i].mass * r->state[i].linear[k];
}

tbi_judgement tbi_judge_momentum(tbi_contender *c, int32_t steps, tbi_plain_state *state) {
  run r = {.c = c, .state = state};
  double error = 0, start[3] = {0};
  bool ok = tbi_contender_reset(c) && look(&r);
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

tbi_judgement tbi_judge_flight(tbi_contender *c, int32_t steps, tbi_plain_state *state) {
  run r = {.c = c, .state = state};
  const tbi_plain *plain = &c->scene->plain;
  double mass = 0, error = 0;
  for (int32_t i = 0; i < plain->nbody; ++i)
    mass += plain->body[i].mass;
  const double up[3] = {0, 0, -2 * mass * plain->gravity[2]}, none[3] = {0};
  int32_t base = body_of(&r, 0);
  bool ok = tbi_contender_reset(c) && tbi_contender_push(c, base, up) && go(&r, steps / 3);
  ok = ok && tbi_contender_push(c, base, none) && energy_drift(&r, steps - steps / 3, &error);
  return verdict(&r, ok, error);
}

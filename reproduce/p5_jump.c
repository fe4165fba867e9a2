/* p5_jump.c - humanoid20 jumps: it crouches, pushes off, flies, and lands on its feet.
 *
 * The controller has one number to plan, the height of the centre of mass over the soles, and a
 * table of postures for it in which the soles are level, the centre is above their middle, and the
 * trunk leans so that legs which stretch or bend give no angular momentum.
 *
 *   stand | crouch | wait | push: speed rises to `speed` | fly: legs shorten | land: legs give way
 *
 * Landing begins when the floor is felt, at the speed that the time of flight tells.  In the air
 * the centre of mass must follow a parabola of curvature -g; positions are advanced by the new
 * velocity, so a fit finds it exactly where a comparison with the state at take-off would not.
 *
 * The published loop and `impulse`, with restitution and two coefficients of friction. */
#include "measure.h"
#include "p5_pictures.h"
#include "walk_sim.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { POSTURES = 256, STANDING = 192, LOW = 32, OFF = 208, LEG = 3, PICTURES = 9 };

static const double least_bend = 0.35, most_bend = 1.9; /* rad, of the knees */
static const double speed = 0.9;                        /* m/s, of the centre of mass */
static const double crouch_begin = 0.5, crouch_time = 0.6, push_begin = 1.4;

enum { TIME, FORCE, HEIGHT, AHEAD, TILT, NCOLUMN };
static const char *const columns[] = {"time",  "force_N",          "com_z",
                                      "com_x", "pelvis_pitch_rad", NULL};

/* One in which soles are level. */
typedef struct posture {
  double height;     /* m, of the centre of mass over the soles */
  double pitch;      /* rad, of the pelvis */
  double angle[LEG]; /* rad, of hip, knee, ankle */
} posture;

typedef enum phase { STAND, FLY, LAND } phase;

typedef struct jump {
  tbi_walk_sim walk; /* the robot, its joints, and the plan to stand */
  tabi_dynamics *dynamics;
  double *q, *v, *target, *rate;
  int32_t joint[2][LEG];           /* hip, knee, ankle */
  posture table[POSTURES];         /* by rising height */
  double sole[3];                  /* from the origin of the left foot's link */
  double stand, low, off, landing; /* m, of the centre of mass over the soles */
  phase now;
  double since, at, sinking; /* s, m, m/s: when and how a phase began */
  double flown;              /* s, from the last touch to the first */
  tbi_p5_contacts contacts;
} jump;

/* -- postures */

static void set_posture(jump *j, const posture *p) {
  const tabi_model *model = j->walk.planned_model;
  j->q[3] = cos(0.5 * p->pitch);
  j->q[4] = j->q[6] = 0;
  j->q[5] = sin(0.5 * p->pitch);
  for (int side = 0; side < 2; ++side)
    for (int i = 0; i < LEG; ++i)
      j->q[tabi_model_joint_q(model, j->joint[side][i]).first] = p->angle[i];
}

/* Finds the height of the centre of mass over the soles, and returns by how much it is ahead of
 * their middle. */
static double measure_posture(jump *j, posture *p) {
  double com[3], foot[3], quat[4];
  set_posture(j, p);
  tabi_dynamics_set_state(j->dynamics, j->q, j->v);
  tabi_dynamics_com(j->dynamics, com);
  tabi_dynamics_link_pose(j->dynamics, j->walk.foot[TABI_LEFT], foot, quat);
  p->height = com[2] - foot[2] - j->sole[2];
  return com[0] - foot[0] - j->sole[0];
}

/* Legs with bent knees, turned at the hips until the centre of mass is above the soles. */
static posture find_posture(jump *j, double bend, double pitch) {
  posture p = {.pitch = pitch};
  double low = -0.8, high = 0.8;
  for (int i = 0; i < 40; ++i) {
    double middle = 0.5 * (low + high);
    p.angle[0] = middle - 0.5 * bend - pitch;
    p.angle[1] = bend;
    p.angle[2] = -(pitch + p.angle[0] + p.angle[1]);
    /* legs that turn back put the feet behind */
    *(measure_posture(j, &p) > 0 ? &high : &low) = middle;
  }
  return p;
}

/* Angular momentum on the way from one posture to another in 1 s. */
static double spin(jump *j, const posture *from, const posture *to) {
  const tabi_model *model = j->walk.planned_model;
  double lin[3], ang[3];
  set_posture(j, to);
  j->v[4] = to->pitch - from->pitch;
  for (int side = 0; side < 2; ++side)
    for (int i = 0; i < LEG; ++i)
      j->v[tabi_model_joint_v(model, j->joint[side][i]).first] = to->angle[i] - from->angle[i];
  tabi_dynamics_set_state(j->dynamics, j->q, j->v);
  tabi_dynamics_momentum(j->dynamics, lin, ang);
  memset(j->v, 0, sizeof *j->v * (size_t)tabi_model_nv(model));
  return ang[1];
}

/* The posture with other knees that is reached without angular momentum. */
static posture next_posture(jump *j, const posture *from, double bend) {
  const double try = 0.01;
  posture level = find_posture(j, bend, from->pitch);
  posture leant = find_posture(j, bend, from->pitch + try);
  double a = spin(j, from, &level), b = spin(j, from, &leant);
  return find_posture(j, bend, from->pitch - try * a / (b - a));
}

static double bend_of(int row) {
  return most_bend + (least_bend - most_bend) * row / (POSTURES - 1);
}

static void make_table(jump *j) {
  double foot[3], quat[4];
  tabi_walk_initial_q(j->walk.plan, j->q);
  tabi_dynamics_set_state(j->dynamics, j->q, j->v);
  tabi_dynamics_link_pose(j->dynamics, j->walk.foot[TABI_LEFT], foot, quat);
  tabi_walk_state plan = tabi_walk_at(j->walk.plan, 0);
  for (int k = 0; k < 3; ++k)
    j->sole[k] = plan.foot[TABI_LEFT][k] - foot[k];
  j->table[STANDING] = find_posture(j, bend_of(STANDING), 0);
  for (int i = STANDING + 1; i < POSTURES; ++i)
    j->table[i] = next_posture(j, &j->table[i - 1], bend_of(i));
  for (int i = STANDING - 1; i >= 0; --i)
    j->table[i] = next_posture(j, &j->table[i + 1], bend_of(i));
}

/* Angles at a height, straight between rows of the table. */
static void posture_at(const jump *j, double height, double angle[LEG]) {
  int i = 0;
  while (i < POSTURES - 2 && j->table[i + 1].height < height)
    i++;
  const posture *a = &j->table[i], *b = a + 1;
  double part = fmin(fmax((height - a->height) / (b->height - a->height), 0), 1);
  for (int k = 0; k < LEG; ++k)
    angle[k] = a->angle[k] + part * (b->angle[k] - a->angle[k]);
}

/* -- the controller */

/* From one value to another in a time, at rest at both ends. */
static double ease(double from, double to, double part) {
  double s = fmin(fmax(part, 0), 1);
  return from + (to - from) * s * s * s * (10 + s * (6 * s - 15));
}

/* From a value and its rate to another at rest. */
static double settle(double from, double rate, double to, double time, double duration) {
  double s = fmin(time / duration, 1), r = 1 - s;
  return from * r * r * (1 + 2 * s) + rate * duration * s * r * r + to * s * s * (3 - 2 * s);
}

static double push_time(const jump *j) { return 2 * (j->off - j->low) / speed; }

/* Height of the centre of mass over the soles that is wanted. */
static double wanted(const jump *j, double time) {
  double t = time - j->since;
  if (j->now == LAND) {
    double duration = 2 * (j->at - j->low) / j->sinking;
    if (t < duration + 0.3) return settle(j->at, -j->sinking, j->low, t, duration);
    return ease(j->low, j->stand, (t - duration - 0.3) / 0.6);
  }
  t = time - push_begin;
  if (t <= 0) return ease(j->stand, j->low, (time - crouch_begin) / crouch_time);
  double s = t / push_time(j);
  if (s < 1) return j->low + speed * push_time(j) * s * s * s * (1 - 0.5 * s);
  return settle(j->off, speed, j->landing, t - push_time(j), 0.08);
}

static double floor_force(const jump *j) {
  const double origin[3] = {0};
  double force[3], moment[3];
  tbi_simulation_contact_force(&j->walk.sim, TABI_WORLD, origin, force, moment);
  return force[2];
}

static void change_phase(jump *j, double time) {
  bool touches = floor_force(j) > 0;
  if (j->now == STAND && !touches && time > push_begin) {
    j->now = FLY;
    j->since = time;
  } else if (j->now == FLY && touches && time > j->since + 0.05) {
    j->flown = time - j->since;
    j->sinking = 0.5 * 9.81 * j->flown;
    j->at = wanted(j, time);
    j->now = LAND;
    j->since = time;
  }
}

static tabi_status step(jump *j, tabi_error *err) {
  tbi_simulation *sim = &j->walk.sim;
  double time = tbi_simulation_time(sim), angle[LEG];
  change_phase(j, time);
  posture_at(j, wanted(j, time + sim->timestep), angle);
  for (int side = 0; side < 2; ++side)
    for (int i = 0; i < LEG; ++i) {
      int32_t joint = j->joint[side][i];
      j->rate[joint] = (angle[i] - j->target[joint]) / sim->timestep;
      j->target[joint] = angle[i];
    }
  tabi_pd_apply_targets(j->walk.pd, sim->world, j->target, j->rate);
  return tbi_simulation_step(sim, err);
}

static tabi_status open_jump(jump *j, tabi_contact_kind contact, double restitution,
                             tabi_error *err) {
  static const char *const names[2][LEG] = {
      {"l_hip_pitch", "l_knee", "l_ankle_pitch"},
      {"r_hip_pitch", "r_knee", "r_ankle_pitch"},
  };
  *j = (jump){0};
  tbi_walk_sim_def def = tbi_walk_sim_humanoid20();
  def.contact = contact;
  def.friction = tbi_p5_floor.friction;
  def.kinetic = tbi_p5_floor.kinetic;
  def.restitution = restitution;
  tabi_status status = tbi_walk_sim_open(&j->walk, &def, err);
  if (status != TABI_OK) return status;
  const tabi_model *model = j->walk.planned_model;
  size_t nq = (size_t)tabi_model_nq(model), nv = (size_t)tabi_model_nv(model);
  size_t njoint = (size_t)tabi_model_njoint(model);
  j->dynamics = tabi_dynamics_create(model, err);
  j->q = calloc(nq + nv + 2 * njoint, sizeof *j->q);
  if (!j->dynamics || !j->q) return tbi_no_memory(err);
  j->v = j->q + nq;
  j->target = j->v + nv;
  j->rate = j->target + njoint;
  for (int side = 0; side < 2; ++side)
    for (int i = 0; i < LEG; ++i)
      j->joint[side][i] = tbi_simulation_joint(&j->walk.sim, names[side][i]);
  make_table(j);
  return TABI_OK;
}

/* Standing at rest. */
static tabi_status start(jump *j, tabi_error *err) {
  double foot[3], quat[4];
  const posture *stand = &j->table[STANDING];
  j->stand = j->landing = stand->height;
  j->low = j->table[LOW].height;
  j->off = j->table[OFF].height;
  set_posture(j, stand);
  tabi_dynamics_set_state(j->dynamics, j->q, j->v);
  tabi_dynamics_link_pose(j->dynamics, j->walk.foot[TABI_LEFT], foot, quat);
  j->q[2] -= foot[2] + j->sole[2];
  for (int side = 0; side < 2; ++side)
    for (int i = 0; i < LEG; ++i)
      j->target[j->joint[side][i]] = stand->angle[i];
  return tabi_world_set_state(j->walk.sim.world, j->q, j->v, err);
}

static void close_jump(jump *j) {
  tbi_walk_sim_close(&j->walk);
  tabi_dynamics_destroy(j->dynamics);
  free(j->q);
}

/* -- what is measured */

static void add_row(jump *j, tbi_series *series) {
  tbi_simulation *sim = &j->walk.sim;
  double com[3];
  const double *q = tabi_world_q(sim->world);
  tabi_dynamics_com(tabi_world_dynamics(sim->world), com);
  const double row[NCOLUMN] = {tbi_simulation_time(sim), floor_force(j), com[2], com[0],
                               2 * atan2(q[5], q[3])};
  tbi_series_add(series, row);
}

static tabi_status simulate(jump *j, double duration, tbi_p5_pictures *pictures,
                            tbi_variant variant, tbi_series *series, tabi_error *err) {
  static const double times[PICTURES] = {0.4, 1.3, 1.5, 1.56, 1.61, 1.66, 1.72, 1.85, 2.9};
  int64_t steps = llround(duration / j->walk.sim.timestep);
  for (int64_t i = 0; i < steps; ++i) {
    double time = tbi_simulation_time(&j->walk.sim);
    int32_t taken = pictures ? pictures->taken[variant] : PICTURES;
    if (taken < PICTURES && time >= times[taken] - 1e-9)
      tbi_p5_pictures_take(pictures, variant, &j->walk.sim, tabi_world_q(j->walk.sim.world)[0]);
    tabi_status status = step(j, err);
    if (status != TABI_OK) return status;
    add_row(j, series);
    tbi_p5_watch(&j->contacts, &j->walk.sim);
  }
  return TABI_OK;
}

typedef struct flight {
  double duration, rise; /* s, m above take-off */
  double gravity;        /* m/s^2, of the parabola that fits best */
  double off;            /* largest distance from it, against the rise */
  double force;          /* N, largest in the air */
} flight;

/* z = a + b s + c s^2 over s from -1 to 1, by the polynomials that are orthogonal there. */
static flight fit(const tbi_series *series, int32_t first, int32_t last) {
  double sum[3] = {0}, norm[3] = {0}, highest = 0;
  int32_t n = last - first;
  double half = 0.5 * n * (tbi_series_at(series, 1, TIME) - tbi_series_at(series, 0, TIME));
  double square = (n + 2.0) / (3.0 * n); /* mean of s^2 over n + 1 points */
  flight f = {.duration = 2 * half};
  for (int32_t i = first; i <= last; ++i) {
    double s = 2.0 * (i - first) / n - 1, z = tbi_series_at(series, i, HEIGHT);
    const double base[3] = {1, s, s * s - square};
    for (int k = 0; k < 3; ++k) {
      sum[k] += z * base[k];
      norm[k] += base[k] * base[k];
    }
    highest = fmax(highest, z);
    f.force = fmax(f.force, tbi_series_at(series, i, FORCE));
  }
  f.gravity = -2 * sum[2] / norm[2] / (half * half);
  f.rise = highest - tbi_series_at(series, first, HEIGHT);
  for (int32_t i = first; i <= last; ++i) {
    double s = 2.0 * (i - first) / n - 1;
    double z = sum[0] / norm[0] + sum[1] / norm[1] * s + sum[2] / norm[2] * (s * s - square);
    f.off = fmax(f.off, fabs(z - tbi_series_at(series, i, HEIGHT)) / f.rise);
  }
  return f;
}

/* The longest time without force. */
static flight find_flight(const tbi_series *series) {
  int32_t begin = 0, best = 0, length = 0;
  for (int32_t i = 0; i < series->nrow; ++i) {
    if (tbi_series_at(series, i, FORCE) > 0) begin = i + 1;
    if (i + 1 - begin <= length) continue;
    length = i + 1 - begin;
    best = begin;
  }
  return length > 4 ? fit(series, best, best + length - 1) : (flight){0};
}

static bool stands(const tbi_series *series, const jump *j) {
  double height = tbi_series_at(series, series->nrow - 1, HEIGHT);
  return fabs(height - j->stand) < 0.05 * j->stand;
}

static void check(tbi_trial *trial, const tbi_series *series, const jump *j) {
  flight f = find_flight(series);
  tbi_expect_above(trial, "flight", "s", f.duration, 0.1);
  tbi_expect_within(trial, "force in flight", "N", f.force, 0, 0);
  tbi_expect_within(trial, "curvature of the parabola", "m/s^2", f.gravity, 0.99 * 9.81,
                    1.01 * 9.81);
  tbi_expect_below(trial, "distance from it against its rise", "%", 100 * f.off, 1);
  tbi_expect_above(trial, "rise of the centre of mass in flight", "mm", 1e3 * f.rise, 20);
  tbi_may_differ(trial, tbi_p5_cut, NULL);
  bool still = stands(series, j);
  tbi_expect_word(trial, "stands at the end", "yes", still ? "yes" : "falls", still);
  tbi_may_differ(trial, NULL, NULL);
  tbi_p5_expect_impacts(trial, &j->contacts, NULL);
  tbi_p5_expect_no_gain(trial, &j->contacts);
}

static tabi_status run_one(tbi_trial *trial, tbi_p5_pictures *pictures, tbi_series *series,
                           tabi_error *err) {
  jump j;
  tabi_status status = open_jump(&j, tbi_p5_contact(trial->variant), tbi_p5_floor.restitution, err);
  if (status == TABI_OK) status = start(&j, err);
  double begun = tbi_measure_clock();
  if (status == TABI_OK) {
    status = simulate(&j, trial->quick ? 3 : 5, pictures, trial->variant, series, err);
  }
  if (status == TABI_OK) {
    double seconds = (tbi_measure_clock() - begun) / series->nrow;
    check(trial, series, &j);
    if (!trial->quick) tbi_p5_expect_speed(trial, seconds);
  }
  close_jump(&j);
  return status;
}

/* Other coefficients of restitution: after how many of them it stands. */
static tabi_status check_ladder(tbi_trial *trial, tabi_error *err) {
  enum { RUNGS = 6 };
  int32_t count = 0;
  tabi_status status = TABI_OK;
  for (int i = 0; i < RUNGS && status == TABI_OK; ++i) {
    tbi_series series;
    tbi_series_init(&series, columns);
    jump j;
    status = open_jump(&j, tbi_p5_contact(trial->variant), 0.1 * i, err);
    if (status == TABI_OK) status = start(&j, err);
    if (status == TABI_OK) status = simulate(&j, 5, NULL, trial->variant, &series, err);
    count += status == TABI_OK && stands(&series, &j);
    close_jump(&j);
    tbi_series_free(&series);
  }
  tbi_may_differ(trial, tbi_p5_cut, NULL);
  tbi_expect_within(trial, "stands with e = 0, 0.1, ... 0.5, times", "", count, RUNGS, RUNGS);
  tbi_may_differ(trial, NULL, NULL);
  return status;
}

static tabi_status run_all(tbi_trial *trial, tbi_p5_pictures *pictures, tbi_series *series,
                           tabi_error *err) {
  tabi_status status = run_one(trial, pictures, series, err);
  return status == TABI_OK && !trial->quick ? check_ladder(trial, err) : status;
}

static void plot(FILE *script) {
  (void)fputs("set xrange [1:3]\nset size 0.5,0.42\nset yrange [0:*]\n"
              "set ylabel 'force of the floor, mean over 10 ms [N]'\n"
              "plot $published using 1:2 with lines lt 2 title 'published',\\\n"
              " $ours using 1:2 with lines lt 1 title 'ours'\n"
              "set origin 0.5,0\nset ylabel 'centre of mass [m]'\n"
              "plot $published using 1:3 with lines lt 2 title 'published',\\\n"
              " $ours using 1:3 with lines lt 1 title 'ours'\n",
              script);
}

static tabi_status run(tbi_trial *trial, tabi_error *err) {
  const tbi_p5_motion motion = {.columns = columns,
                                .spacing = 0.4,
                                .height = 0.5,
                                .run = run_all,
                                .plot = plot,
                                .samples = 10};
  return tbi_p5_run_motion(trial, &motion, err);
}

const tbi_experiment tbi_p5_jump = {
    .id = "p5/jump",
    .paper = "P5, Fig. 6",
    .shows = "a small humanoid of 26 degrees of freedom jumps, steps of 1 ms",
    .reconstructed = "the same surfaces, threshold and integrator; robot, controller, gains",
    .run = run,
};

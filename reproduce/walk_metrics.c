/* walk_metrics.c - see walk_metrics.h.  A step begins with its double support; single support is
 * while the plan lifts a foot. */
#include "walk_metrics.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static const double fallen = 0.75; /* of the initial height of the centre of mass */
static const double in_air = 2e-3; /* m, planned height above which a foot counts as in the air */

const char *const tbi_walk_columns[] = {
    "time",  "left_force_N", "right_force_N", "left_roll_Nm",        "com_x",
    "com_y", "com_z",        "left_sensor_N", "left_sensor_roll_Nm", NULL};

const char tbi_walk_sim_creeps[] =
    "rk4 ends with another velocity than the one that contacts were solved for, as it holds their "
    "forces over its stages, and no law takes back how far a foot has crept";

static const char steps_in_force[] =
    "the force really changes from one sample to the next where a foot lands, and where our "
    "walking pattern passes on to its next step; what the next sample takes back is judged beside "
    "it";

static const char blow_by_blow[] =
    "a rigid foot lands on one corner after another, each a blow; the paper shows rubber feet";

void tbi_walk_expect_calm(tbi_trial *trial, bool rubber, const char *where, double noise,
                          double jitter) {
  const char *blows = rubber ? NULL : blow_by_blow;
  char name[64];
  tbi_may_differ(trial, steps_in_force, steps_in_force);
  (void)snprintf(name, sizeof name, "noise of the ankle's force%s / weight", where);
  tbi_expect_below(trial, name, "%", 100 * noise, 2);
  tbi_may_differ(trial, blows, blows);
  (void)snprintf(name, sizeof name, "what the next sample takes back%s / weight", where);
  tbi_expect_below(trial, name, "%", 100 * jitter, 2);
  tbi_may_differ(trial, NULL, NULL);
}

void tbi_walk_expect_grip(tbi_trial *trial, double slip) {
  tbi_may_differ(trial, tbi_walk_sim_creeps, NULL);
  tbi_expect_below(trial, "slip of the stance foot", "mm", 1e3 * slip, 0.1);
  tbi_may_differ(trial, NULL, NULL);
}

static void get_com(tbi_walk_sim *m, double com[3]) {
  tabi_dynamics_com(tabi_world_dynamics(m->sim.world), com);
}

void tbi_walk_metrics_begin(tbi_walk_sim *walk) {
  double com[3];
  get_com(walk, com);
  walk->weight = 9.81 * tabi_model_mass(walk->sim.model);
  walk->start_height = com[2];
  walk->metrics = (tbi_walk_metrics){.stance_load = 1, .weight = walk->weight};
  walk->ankle[TABI_LEFT] = tabi_model_find_sensor(walk->sim.model, "l_force");
  walk->ankle[TABI_RIGHT] = tabi_model_find_sensor(walk->sim.model, "r_force");
}

static void measure_foot_forces(tbi_walk_sim *m) {
  for (int side = 0; side < 2; ++side) {
    double about[3], quat[4], moment[3];
    tabi_dynamics_link_pose(tabi_world_dynamics(m->sim.world), m->foot[side], about, quat);
    tbi_simulation_contact_force(&m->sim, m->foot[side], about, m->force[side], moment);
    if (side == TABI_LEFT) m->roll = moment[0];
    if (m->toes[side] == TABI_NONE) continue;
    double toes[3];
    tbi_simulation_contact_force(&m->sim, m->toes[side], about, toes, moment);
    for (int k = 0; k < 3; ++k)
      m->force[side][k] += toes[k];
    if (side == TABI_LEFT) m->roll += moment[0];
  }
}

/* When a step of the plan begins; that after the last is its end. */
static double begin_of(const tbi_walk_sim *m, int32_t step) {
  double begin = m->def.stand_before;
  for (int32_t i = 1; i < step; ++i)
    begin += m->def.step[i - 1].double_support + m->def.step[i - 1].single_support;
  return begin;
}

/* The mean force of the step that ended. */
static void measure_mean_force(tbi_walk_sim *m, double time) {
  double total = m->force[0][2] + m->force[1][2];
  int32_t next = m->now.step + 1;
  if (next <= m->def.nstep + 1 && time > begin_of(m, next) + 0.5 * m->sim.timestep) {
    if (m->now.step > 0) {
      double error = fabs(m->now.sum / (m->now.samples * m->weight) - 1);
      m->metrics.force_error = fmax(m->metrics.force_error, error);
    }
    m->now.step = next;
    m->now.sum = 0;
    m->now.samples = 0;
  }
  m->now.sum += total;
  ++m->now.samples;
}

static void measure_stance(tbi_walk_sim *m, int stands, double time) {
  double pos[3], quat[4], up = m->force[stands][2];
  tabi_dynamics_link_pose(tabi_world_dynamics(m->sim.world), m->foot[stands], pos, quat);
  if (!m->now.single) memcpy(m->now.stood, pos, sizeof m->now.stood);
  m->metrics.slip =
      fmax(m->metrics.slip, hypot(pos[0] - m->now.stood[0], pos[1] - m->now.stood[1]));
  const tabi_footstep *step = &m->def.step[m->now.step > 0 ? m->now.step - 1 : 0];
  double since = time - begin_of(m, m->now.step) - step->double_support;
  double left = step->single_support - since;
  if (since > 0.25 * step->single_support && left > 0.25 * step->single_support)
    m->metrics.stance_load = fmin(m->metrics.stance_load, up / (m->force[0][2] + m->force[1][2]));
}

/* What the sensors in the ankles feel: the joint's parent on its child. */
static void read_sensors(tbi_walk_sim *m) {
  for (int side = 0; side < 2; ++side) {
    double wrench[TABI_SENSOR_MAX];
    (void)tabi_world_sensor(m->sim.world, m->ankle[side], wrench);
    m->felt[side] = -wrench[2];
    if (side == TABI_LEFT) m->felt_roll = -wrench[3];
  }
}

static void measure_noise(tbi_walk_sim *m) {
  for (int side = 0; side < 2; ++side) {
    double rise = m->felt[side] - m->now.felt[side], before = m->now.rise[side];
    double back = rise * before < 0 ? fmin(fabs(rise), fabs(before)) : 0;
    if (m->now.step > 0) {
      m->metrics.noise = fmax(m->metrics.noise, fabs(rise) / m->weight);
      m->metrics.jitter = fmax(m->metrics.jitter, back / m->weight);
    }
    m->now.felt[side] = m->felt[side];
    m->now.rise[side] = rise;
  }
}

void tbi_walk_metrics_step(tbi_walk_sim *walk) {
  tbi_walk_sim *m = walk;
  double time = tbi_simulation_time(&m->sim), com[3];
  tabi_walk_state plan = tabi_walk_at(m->plan, time);
  measure_foot_forces(m);
  get_com(m, com);
  measure_mean_force(m, time);
  read_sensors(m);
  measure_noise(m);
  bool single = plan.lifted[0] || plan.lifted[1];
  if (single) measure_stance(m, plan.lifted[0] ? TABI_RIGHT : TABI_LEFT, time);
  m->now.single = single;
  for (int side = 0; side < 2; ++side)
    if (plan.foot[side][2] > in_air)
      m->metrics.swing_force = fmax(m->metrics.swing_force, m->force[side][2]);
  m->metrics.penetration = fmax(m->metrics.penetration, tbi_simulation_max_penetration(&m->sim));
  m->metrics.com_error =
      fmax(m->metrics.com_error, hypot(com[0] - plan.com[0], com[1] - plan.com[1]));
  if (com[2] > fallen * m->start_height) return;
  m->metrics.fall_time = time;
  m->metrics.fall_step = m->now.step;
}

void tbi_walk_sim_record(tbi_walk_sim *walk, tbi_series *series) {
  double com[3];
  get_com(walk, com);
  const double row[TBI_WALK_COLUMNS] = {tbi_simulation_time(&walk->sim),
                                        walk->force[TABI_LEFT][2],
                                        walk->force[TABI_RIGHT][2],
                                        walk->roll,
                                        com[0],
                                        com[1],
                                        com[2],
                                        walk->felt[TABI_LEFT],
                                        walk->felt_roll};
  tbi_series_add(series, row);
}

/* march_watch.c - see march_watch.h.  A step begins with its double support; a foot stands alone
 * while the plan lifts the other. */
#include "march_watch.h"

#include <math.h>
#include <string.h>

static const double fallen = 0.75; /* of the height of the mass centre */
static const double in_air = 2e-3; /* m, planned height at which a foot touches nothing */

const char *const tbi_march_columns[] = {"time",  "left_force_N", "right_force_N", "left_roll_Nm",
                                         "com_x", "com_y",        "com_z",         NULL};

static void mass_centre(tbi_march *m, double com[3]) {
  tabi_dynamics_com(tabi_world_dynamics(m->stage.world), com);
}

void tbi_march_watch_start(tbi_march *march) {
  double com[3];
  mass_centre(march, com);
  march->weight = 9.81 * tabi_model_mass(march->stage.model);
  march->start_height = com[2];
  march->seen = (tbi_march_seen){.load = 1};
}

static void feel_feet(tbi_march *m) {
  for (int side = 0; side < 2; ++side) {
    double about[3], quat[4], moment[3];
    tabi_dynamics_link_pose(tabi_world_dynamics(m->stage.world), m->foot[side], about, quat);
    tbi_stage_contact_force(&m->stage, m->foot[side], about, m->force[side], moment);
    if (side == TABI_LEFT) m->roll = moment[0];
    if (m->toes[side] == TABI_NONE) continue;
    double toes[3];
    tbi_stage_contact_force(&m->stage, m->toes[side], about, toes, moment);
    for (int k = 0; k < 3; ++k)
      m->force[side][k] += toes[k];
    if (side == TABI_LEFT) m->roll += moment[0];
  }
}

/* When a step of the plan begins; that after the last is its end. */
static double begin_of(const tbi_march *m, int32_t step) {
  double begin = m->def.stand_before;
  for (int32_t i = 1; i < step; ++i)
    begin += m->def.step[i - 1].double_support + m->def.step[i - 1].single_support;
  return begin;
}

/* The mean force of the step that ended. */
static void watch_force(tbi_march *m, double time) {
  double total = m->force[0][2] + m->force[1][2];
  int32_t next = m->now.step + 1;
  if (next <= m->def.nstep + 1 && time > begin_of(m, next) + 0.5 * m->stage.timestep) {
    if (m->now.step > 0) {
      double error = fabs(m->now.sum / (m->now.samples * m->weight) - 1);
      m->seen.force_error = fmax(m->seen.force_error, error);
    }
    m->now.step = next;
    m->now.sum = 0;
    m->now.samples = 0;
  }
  m->now.sum += total;
  ++m->now.samples;
}

static void watch_single(tbi_march *m, int stands, double time) {
  double pos[3], quat[4], up = m->force[stands][2];
  tabi_dynamics_link_pose(tabi_world_dynamics(m->stage.world), m->foot[stands], pos, quat);
  if (!m->now.single) memcpy(m->now.stood, pos, sizeof m->now.stood);
  m->seen.slip = fmax(m->seen.slip, hypot(pos[0] - m->now.stood[0], pos[1] - m->now.stood[1]));
  const tabi_footstep *step = &m->def.step[m->now.step > 0 ? m->now.step - 1 : 0];
  double since = time - begin_of(m, m->now.step) - step->double_support;
  double left = step->single_support - since;
  if (since > 0.25 * step->single_support && left > 0.25 * step->single_support)
    m->seen.load = fmin(m->seen.load, up / (m->force[0][2] + m->force[1][2]));
}

/* How much the force on a foot changed that stood alone before and still does. */
static void watch_noise(tbi_march *m) {
  for (int side = 0; side < 2; ++side) {
    double up = m->force[side][2];
    bool alone = up > 0 && m->force[1 - side][2] == 0;
    if (alone && m->now.alone[side])
      m->seen.noise = fmax(m->seen.noise, fabs(up - m->now.before[side]) / m->weight);
    m->now.alone[side] = alone;
    m->now.before[side] = up;
  }
}

void tbi_march_watch(tbi_march *march) {
  tbi_march *m = march;
  double time = tbi_stage_time(&m->stage), com[3];
  tabi_walk_state plan = tabi_walk_at(m->walk, time);
  feel_feet(m);
  mass_centre(m, com);
  watch_force(m, time);
  watch_noise(m);
  bool single = plan.lifted[0] || plan.lifted[1];
  if (single) watch_single(m, plan.lifted[0] ? TABI_RIGHT : TABI_LEFT, time);
  m->now.single = single;
  for (int side = 0; side < 2; ++side)
    if (plan.foot[side][2] > in_air)
      m->seen.swing_force = fmax(m->seen.swing_force, m->force[side][2]);
  m->seen.depth = fmax(m->seen.depth, tbi_stage_depth(&m->stage));
  m->seen.off = fmax(m->seen.off, hypot(com[0] - plan.com[0], com[1] - plan.com[1]));
  if (com[2] > fallen * m->start_height) return;
  m->seen.fell = time;
  m->seen.fell_step = m->now.step;
}

void tbi_march_note(tbi_march *march, tbi_series *series) {
  double com[3];
  mass_centre(march, com);
  const double row[TBI_MARCH_COLUMNS] = {tbi_stage_time(&march->stage),
                                         march->force[TABI_LEFT][2],
                                         march->force[TABI_RIGHT][2],
                                         march->roll,
                                         com[0],
                                         com[1],
                                         com[2]};
  tbi_series_add(series, row);
}

/* biped_walk.c - see biped_walk.h. */
#include "biped_walk.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

const char *const tbi_biped_modes[TBI_BIPED_MODES] = {"1", "2", "3", "4", "1'", "2'", "3'"};

int tbi_biped_mode(const char *name) {
  for (int i = 0; i < TBI_BIPED_MODES; ++i)
    if (strcmp(name, tbi_biped_modes[i]) == 0) return i;
  return -1;
}

/* Between 0 and 1: splitmix64 of a number. */
static double random_of(uint64_t number) {
  uint64_t x = (number + 1) * 0x9e3779b97f4a7c15U;
  x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9U;
  x = (x ^ x >> 27) * 0x94d049bb133111ebU;
  return (double)((x ^ x >> 31) >> 11) * 0x1p-53;
}

static tabi_status set_posture(tbi_simulation *sim, int32_t posture, double spread) {
  static const char *const joints[] = {"biped/left_ankle", "biped/left_knee",  "biped/left_hip",
                                       "biped/right_hip",  "biped/right_knee", "biped/right_ankle",
                                       "biped/torso",      "biped/neck"};
  enum { NJOINT = sizeof joints / sizeof *joints, MAX_Q = 32 };
  double q[MAX_Q];
  if (posture == 0) return TABI_OK;
  memcpy(q, tabi_world_q(sim->world), sizeof *q * (size_t)tabi_model_nq(sim->model));
  for (int i = 0; i < NJOINT; ++i) {
    int32_t joint = tbi_simulation_joint(sim, joints[i]);
    double random = random_of((uint64_t)posture * NJOINT + (uint64_t)i);
    q[tabi_model_joint_q(sim->model, joint).first] += spread * (2 * random - 1);
  }
  return tabi_world_set_state(sim->world, q, tabi_world_v(sim->world), NULL);
}

static bool is_listed(const tabi_gait_event *e) {
  static const char *const listed[] = {"1>2",  "1'>2'", "1>1'", "2>2'", "2>3",  "2'>3'", "3>4",
                                       "3'>4", "4>1",   "1'>1", "2'>2", "3'>3", "2>1",   "2'>1'"};
  if (strcmp(e->from, e->to) == 0) return true;
  char change[16];
  (void)snprintf(change, sizeof change, "%s>%s", e->from, e->to);
  for (size_t i = 0; i < sizeof listed / sizeof *listed; ++i)
    if (strcmp(change, listed[i]) == 0) return true;
  return false;
}

static void note_step(tbi_biped_walk *w, const tabi_gait_event *e) {
  if (w->nstep == TBI_BIPED_STEPS) return;
  double *step = w->step[w->nstep++];
  step[TBI_BIPED_TOUCHDOWN] = e->touchdown;
  step[TBI_BIPED_SLIP] = e->slip;
  step[TBI_BIPED_STRIDE] = e->stride;
  step[TBI_BIPED_PUSH] = e->mean_normal;
  step[TBI_BIPED_TIME] = e->time;
}

static void note_events(tbi_biped_walk *w, const tbi_simulation *sim) {
  int32_t count = 0;
  const tabi_gait_event *event = tabi_world_gait_events(sim->world, &count);
  for (int32_t i = 0; i < count; ++i) {
    w->unlisted += !is_listed(&event[i]);
    if (strstr(event[i].cause, "lands") || strstr(event[i].cause, "returns")) {
      w->gained = fmax(w->gained, -event[i].dissipated);
    }
    if (strcmp(event[i].cause, "slip ends") == 0) note_step(w, &event[i]);
  }
}

static void note_state(tbi_biped_walk *w, const tabi_gait_state *s) {
  int mode = tbi_biped_mode(s->mode);
  if (mode >= 0) w->visited[mode] = true;
  bool heel_down = s->mode[0] == '2' || s->mode[0] == '3';
  bool toe_down = s->mode[0] == '3' || s->mode[0] == '4';
  if (heel_down) w->open = fmax(w->open, fabs(s->heel[1]));
  if (toe_down) w->open = fmax(w->open, fabs(s->toe[1]));
  if (heel_down || toe_down) w->least_normal = fmin(w->least_normal, s->normal);
}

/* A foot that ends the walk by landing has had no time to slip. */
static void note_end(tbi_biped_walk *w, const tbi_simulation *sim) {
  tabi_gait_def def = tabi_gait_get_def(tabi_scene_world_def(sim->scene).gait.biped);
  tabi_gait_state s = tabi_world_gait_state(sim->world);
  bool landed = s.mode[0] == '2' || s.mode[0] == '3';
  w->outcome = s.outcome;
  w->time = tbi_simulation_time(sim);
  w->pulled = s.pulled;
  w->mode = tbi_biped_mode(s.mode);
  w->slips_on = landed && s.outcome != TABI_GAIT_BEHIND && fabs(s.slip) > def.slip_stop;
}

static tabi_status step_all(tbi_biped_walk *w, tbi_simulation *sim, tbi_biped_watch *watch,
                            void *user, tabi_error *err) {
  tabi_status status = TABI_OK;
  double end = tabi_scene_duration(sim->scene) - 1e-9;
  while (status == TABI_OK && tbi_simulation_time(sim) < end) {
    status = tbi_simulation_step(sim, err);
    if (status != TABI_OK && status != TABI_ERR_ENDED) return status;
    note_events(w, sim);
    tabi_gait_state s = tabi_world_gait_state(sim->world);
    if (status != TABI_OK) continue;
    note_state(w, &s);
    if (watch) watch(user, sim);
  }
  note_end(w, sim);
  return TABI_OK;
}

tabi_status tbi_biped_walk_run(tbi_biped_walk *walk, const tbi_biped_def *def, int32_t posture,
                               tbi_biped_watch *watch, void *user, tabi_error *err) {
  char timestep[48], friction[48];
  (void)snprintf(timestep, sizeof timestep, "timestep=%g", def->timestep);
  (void)snprintf(friction, sizeof friction, "gait.friction=%g", def->friction);
  const char *const set[] = {timestep,
                             friction,
                             def->located ? "gait.events=located" : "gait.events=step",
                             def->strict ? "gait.guards=strict" : "gait.guards=paper",
                             def->change[0],
                             def->change[1],
                             def->change[2],
                             NULL};
  *walk = (tbi_biped_walk){.least_normal = INFINITY};
  tbi_simulation sim;
  tabi_status status = tbi_simulation_open(&sim, def->scene, set, err);
  if (status == TABI_OK) status = set_posture(&sim, posture, def->spread);
  if (status == TABI_OK) status = step_all(walk, &sim, watch, user, err);
  tbi_simulation_close(&sim);
  return status;
}

double tbi_biped_trend(const tbi_biped_walk *walk) {
  int32_t sum = 0, pairs = 0;
  for (int32_t i = 0; i < walk->nstep; ++i)
    for (int32_t j = 0; j < i; ++j, ++pairs) {
      double change = walk->step[i][TBI_BIPED_TOUCHDOWN] - walk->step[j][TBI_BIPED_TOUCHDOWN];
      sum += (change > 0) - (change < 0);
    }
  return pairs > 0 ? (double)sum / pairs : (double)NAN;
}

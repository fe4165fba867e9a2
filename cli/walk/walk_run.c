/* walk_run.c - runs a walk and measures it.
 *
 * Torques are those that were asked for, with the damping of servos, cut to the limits, as the
 * drives do.  The error of the ZMP is the distance of the measured one from the desired, in single
 * support, when the foot has been down for a quarter of the swing. */
#include "walk/walk_run.h"

#include "run/run_html.h"
#include "run/run_summary.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

typedef struct walking {
  tabi_scene *scene;
  tabi_world *world;
  tabi_stepper *stepper;
  const tabi_model *model;
  int32_t leg[2 * TABI_LEG_MAX]; /* joints */
  int32_t nleg;
  tbi_run_summary summary;
  tbi_run_html html;
  double start[3], share; /* m; largest torque over its limit */
  int64_t beyond, updates;
} walking;

static double now(void) {
  struct timespec t;
  (void)clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* Of the joint and of its actuators. */
static double effort_limit(const tabi_model *model, int32_t joint) {
  double limit = tabi_model_joint(model, joint).effort;
  for (int32_t i = 0; i < tabi_model_nactuator(model); ++i) {
    tabi_actuator_def a = tabi_model_actuator(model, i);
    if (a.joint != joint) continue;
    double most = fmin(fabs(a.force_max), fabs(a.gain * a.control_max));
    if (a.bias[1] != 0) most = fabs(a.force_max);
    limit = fmin(limit, fabs(a.gear) * most);
  }
  return limit > 0 ? limit : (double)INFINITY;
}

static void look_at_joints(walking *w, tbi_walk_run *run) {
  const double *tau = tabi_stepper_torque(w->stepper);
  bool beyond = false;
  for (int32_t i = 0; i < w->nleg; ++i) {
    int32_t dof = tabi_model_joint_v(w->model, w->leg[i]).first;
    double limit = effort_limit(w->model, w->leg[i]);
    double commanded = tabi_world_effort(w->world, w->leg[i]).commanded;
    double asked = fmax(fabs(tau[dof]), fabs(commanded));
    double applied = fmin(asked, limit);
    double share = isfinite(limit) ? applied / limit : 1e-9 * applied;
    beyond = beyond || asked > limit;
    if (share >= w->share) {
      w->share = share;
      run->peak_joint = w->leg[i];
      run->peak = applied;
      run->peak_limit = limit;
    }
    double fastest = tabi_model_joint(w->model, w->leg[i]).velocity;
    if (fastest > 0 && fabs(tabi_world_v(w->world)[dof]) > fastest) run->fast_joint = w->leg[i];
  }
  w->beyond += beyond;
  ++w->updates;
}

static void look_at_zmp(walking *w, const tabi_stepper_state *s, tbi_walk_run *run) {
  if (s->phase != TABI_STEPPER_SINGLE ||
      s->remaining < 0.1 * tabi_stepper_get_limits(w->stepper).step_time ||
      s->remaining > 0.6 * tabi_stepper_get_limits(w->stepper).step_time)
    return;
  tabi_balance balance = tabi_world_balance(w->world, tabi_scene_get_robot(w->scene, 0).moving);
  if (!(balance.force[2] > 0)) return;
  double off = hypot(balance.zmp[0] - s->cop[0], balance.zmp[1] - s->cop[1]);
  run->zmp_error = fmax(run->zmp_error, off);
}

static double farthest_slip(const walking *w) {
  int32_t count = 0;
  double farthest = 0;
  const tabi_ledger_entry *entry = tabi_ledger_entries(w->summary.slip_ledger.ledger, &count);
  for (int32_t i = 0; i < count; ++i) {
    if (entry[i].status == TABI_CONTACT_SLIP) farthest = fmax(farthest, entry[i].distance);
  }
  return farthest;
}

static int step_all(walking *w, tbi_walk_run *run) {
  double h = tabi_scene_world_def(w->scene).timestep;
  int64_t steps = (int64_t)fmax(1, round(tabi_scene_duration(w->scene) / h));
  double seconds = 0;
  run->status = "ok";
  for (int64_t i = 0; i < steps; ++i) {
    double before = now();
    tabi_scene_control(w->scene, w->world);
    tabi_status status = tabi_world_step_or_grow(w->world, NULL);
    seconds += now() - before;
    if (status != TABI_OK) {
      run->status = status == TABI_ERR_CAPACITY ? "too many contacts" : "diverged";
      break;
    }
    tabi_stepper_state s = tabi_stepper_get_state(w->stepper);
    tbi_run_summary_step(&w->summary);
    look_at_joints(w, run);
    look_at_zmp(w, &s, run);
    run->fell = run->fell || s.phase == TABI_STEPPER_FALLEN;
    run->realtime = tabi_world_time(w->world) / seconds;
    if (!tbi_run_html_step(&w->html)) return TBI_EXIT_INTERNAL;
  }
  return TBI_EXIT_OK;
}

static void judge(walking *w, tbi_walk_run *run) {
  tabi_stepper_state s = tabi_stepper_get_state(w->stepper);
  double com[3];
  tabi_dynamics_com(tabi_world_dynamics(w->world), com);
  run->steps_done = s.steps;
  run->distance = hypot(com[0] - w->start[0], com[1] - w->start[1]);
  run->slip = farthest_slip(w);
  run->fell = run->fell || tbi_run_summary_fell(&w->summary) || strcmp(run->status, "ok") != 0;
  run->saturated = w->updates > 0 ? (double)w->beyond / (double)w->updates : 0;
  run->limits_kept = run->fast_joint == TABI_NONE;
}

static int run_begun(walking *w, const char *html, tbi_walk_run *run) {
  tabi_dynamics_com(tabi_world_dynamics(w->world), w->start);
  if (!tbi_run_html_open(&w->html, html, w->scene, w->world)) return TBI_EXIT_INTERNAL;
  int code = step_all(w, run);
  if (!tbi_run_html_close(&w->html)) code = TBI_EXIT_INTERNAL;
  if (code == TBI_EXIT_OK) judge(w, run);
  return code;
}

int tbi_walk_run_scene(tabi_scene *scene, const tabi_biped *biped, int32_t steps, const char *html,
                       tbi_walk_run *run) {
  tabi_error err = {0};
  tabi_world_def def = tabi_scene_world_def(scene);
  walking w = {.scene = scene, .model = tabi_scene_model(scene)};
  *run = (tbi_walk_run){.steps_planned = steps, .peak_joint = TABI_NONE, .fast_joint = TABI_NONE};
  w.stepper = tabi_scene_stepper(scene, 0);
  for (int side = 0; side < 2; ++side) {
    for (int32_t i = 0; i < biped->leg[side].njoint; ++i)
      w.leg[w.nleg++] = biped->leg[side].joint[i];
  }
  w.world = tabi_world_create(w.model, &def, &err);
  bool begun = w.stepper && w.world && tabi_scene_reset(scene, w.world, &err) == TABI_OK &&
               tbi_run_summary_begin(&w.summary, scene, w.world, &err) == TABI_OK;
  int code = begun ? run_begun(&w, html, run) : tbi_print_error(&err);
  if (begun) tbi_run_summary_free(&w.summary);
  tabi_world_destroy(w.world);
  return code;
}

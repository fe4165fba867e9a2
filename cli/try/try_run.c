/* try_run.c - runs a robot and judges whether it stands.
 *
 * Every run must keep the laws: no energy from nowhere, by the bound of the scene, and no torque
 * beyond its limit.  It stands if it did not fall, its base tilts by at most 15 degrees against the
 * start, and its centre of mass keeps at least 85 % of its height.  With a fixed base it holds
 * still if no joint moves faster than 0.05 rad/s or m/s at the end, or went farther than 0.3 rad or
 * m. */
#include "try/try_run.h"

#include "run/run_html.h"
#include "run/run_summary.h"
#include "try/try_cause.h"
#include "try/try_stiff.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define MOST_TILT    15.0 /* deg */
#define LEAST_HEIGHT 0.85
#define STILL        0.05 /* rad/s or m/s */
#define NEAR         0.3  /* rad or m */
#define ROUNDING     1e-12
#define TORN         1e-3 /* m or rad by which a connection starts open */

typedef struct trial {
  tabi_scene *scene;
  tabi_world *world;
  tbi_run_summary summary;
  tbi_run_html html;
  double *start;               /* q[nq] */
  char lacks[TBI_CAUSE_SIZE];  /* what could let it fall, as it was put down */
  char pushed[TBI_CAUSE_SIZE]; /* what could give it energy from the first step on */
} trial;

static double now(void) {
  struct timespec t;
  (void)clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static const char *joint_name(const trial *t, int32_t joint) {
  const char *name = tabi_model_joint(tabi_scene_model(t->scene), joint).name;
  return name ? name : "(unnamed)";
}

/* No law is broken by a robot that lacks what it needs. */
static void blame(tbi_try_run *run, const char *lacks) {
  char what[sizeof run->why];
  if (lacks[0] == '\0') return;
  (void)snprintf(what, sizeof what, "%s", run->why);
  (void)snprintf(run->why, sizeof run->why, "cannot hold itself: %.140s; %s", what, lacks);
}

/* What cannot be closed within the limits of joints pulls at them from the first step on. */
static void blame_connection(tbi_try_run *run) {
  char lacks[TBI_CAUSE_SIZE];
  (void)snprintf(lacks, sizeof lacks,
                 "a connection starts open by %.2g m or rad, as joint limits ask", run->open);
  if (strncmp(run->why, "cannot", 6) != 0) blame(run, lacks);
}

static bool holds_still(const trial *t, tbi_try_run *run) {
  const tabi_model *model = tabi_scene_model(t->scene);
  for (int32_t i = 0; i < tabi_model_njoint(model); ++i) {
    tabi_range q = tabi_model_joint_q(model, i);
    tabi_range v = tabi_model_joint_v(model, i);
    if (v.count != 1 || tbi_try_is_beside(model, i)) continue;
    double way = fabs(tabi_world_q(t->world)[q.first] - t->start[q.first]);
    double speed = fabs(tabi_world_v(t->world)[v.first]);
    const char *unit = tabi_model_joint(model, i).type == TABI_JOINT_PRISMATIC ? "m" : "rad";
    if (way > NEAR) {
      (void)snprintf(run->why, sizeof run->why, "joint '%.80s' went %.2g %s from its start",
                     joint_name(t, i), way, unit);
    } else if (speed > STILL) {
      (void)snprintf(run->why, sizeof run->why, "joint '%.80s' moves by %.2g %s/s at the end",
                     joint_name(t, i), speed, unit);
    }
    if (way > NEAR || speed > STILL) {
      char lacks[TBI_CAUSE_SIZE];
      tbi_try_joint_cause(t->world, i, lacks);
      blame(run, lacks);
      return false;
    }
  }
  return true;
}

static double farthest_slip(const trial *t) {
  int32_t count = 0;
  double farthest = 0;
  int32_t nlink = tabi_model_nlink(tabi_scene_model(t->scene));
  double *sum = calloc((size_t)nlink + 1, sizeof *sum);
  const tabi_ledger_entry *entry = tabi_ledger_entries(t->summary.slip_ledger.ledger, &count);
  for (int32_t i = 0; i < count && sum; ++i) {
    if (entry[i].status != TABI_CONTACT_SLIP || entry[i].link < 0) continue;
    sum[entry[i].link] += entry[i].distance;
    farthest = fmax(farthest, sum[entry[i].link]);
  }
  free(sum);
  return farthest;
}

static bool is_lawful(const trial *t, tbi_try_run *run) {
  double bound = t->summary.checks.bound.energy_gain;
  bool kept = fabs(run->torque_value) <= (1 + ROUNDING) * run->torque_limit;
  if (!(run->energy_gain <= bound)) {
    (void)snprintf(run->why, sizeof run->why, "gains energy, %.1e of its range, at most %.0e",
                   run->energy_gain, bound);
    if (!(run->open > TORN)) blame(run, t->pushed);
  } else if (!kept) {
    (void)snprintf(run->why, sizeof run->why, "%.3g at joint '%.80s' is beyond its limit %.3g",
                   run->torque_value, run->torque_name, run->torque_limit);
  }
  return run->energy_gain <= bound && kept;
}

static bool is_upright(const trial *t, tbi_try_run *run) {
  if (tbi_run_summary_fell(&t->summary)) {
    (void)snprintf(run->why, sizeof run->why, "it fell");
  } else if (!(run->tilt <= MOST_TILT)) {
    (void)snprintf(run->why, sizeof run->why, "its base tilts by %.0f degrees", run->tilt);
  } else if (!(run->height_end >= LEAST_HEIGHT * run->height_start)) {
    (void)snprintf(run->why, sizeof run->why, "it sank to %.0f %% of its height",
                   100 * run->height_end / run->height_start);
  }
  bool upright = run->why[0] == '\0';
  if (!upright) blame(run, t->lacks);
  return upright;
}

static void judge(const trial *t, tbi_try_run *run) {
  const tbi_run_summary *s = &t->summary;
  tabi_stance start = tabi_fall_start(s->fall, 0);
  tabi_stance end = tabi_fall_stance(s->fall, tabi_world_dynamics(t->world), 0);
  double cos = 0;
  for (int k = 0; k < 3; ++k)
    cos += start.axis[k] * end.axis[k];
  run->tilt = acos(fmin(1, fmax(-1, cos))) * 57.295779513082323;
  run->height_start = start.height;
  run->height_end = end.height;
  run->slip = farthest_slip(t);
  run->penetration = s->checks.penetration.value;
  run->energy_gain = tabi_run_checks_gain(&s->checks);
  run->us_per_step = s->steps > 0 ? 1e6 * s->seconds / (double)s->steps : 0;
  // what swings on a driven arm has an energy that swings, too: first say that it swings
  run->stands = strcmp(run->status, "ok") == 0 && (run->floats || holds_still(t, run)) &&
                is_lawful(t, run) && (!run->floats || is_upright(t, run));
  if (run->why[0] == '\0' && !run->stands)
    (void)snprintf(run->why, sizeof run->why, "%s", run->status);
  if (!run->stands && run->open > TORN) blame_connection(run);
}

/* the joint that has come nearest to its limit */
static void note_torques(const trial *t, tbi_try_run *run) {
  const tabi_model *model = tabi_scene_model(t->scene);
  for (int32_t i = 0; i < tabi_model_njoint(model); ++i) {
    if (tabi_model_joint_v(model, i).count != 1) continue;
    tabi_effort e = tabi_world_effort(t->world, i);
    bool nearer = fabs(e.applied) * run->torque_limit > fabs(run->torque_value) * e.limit;
    if (!isfinite(e.limit) || (run->torque_joint != TABI_NONE && !nearer)) continue;
    run->torque_joint = i;
    run->torque_value = e.applied;
    run->torque_limit = e.limit;
  }
}

static void name_torque(const trial *t, tbi_try_run *run) {
  if (run->torque_joint == TABI_NONE) return;
  (void)snprintf(run->torque_name, sizeof run->torque_name, "%s", joint_name(t, run->torque_joint));
}

/* what could let it fall, as it was put down */
static void find_lack(trial *t) {
  tbi_try_support_cause(t->world, t->lacks);
  if (t->lacks[0] == '\0' && tbi_try_is_too_soft(t->world)) {
    (void)snprintf(t->lacks, sizeof t->lacks,
                   "its servos are too soft to keep it from tipping over");
  }
}

static int step_all(trial *t, tbi_try_run *run) {
  double h = tabi_scene_world_def(t->scene).timestep;
  int64_t steps = (int64_t)fmax(1, round(tabi_scene_duration(t->scene) / h));
  run->status = "ok";
  run->torque_joint = TABI_NONE;
  for (int64_t i = 0; i < steps; ++i) {
    double before = now();
    tabi_scene_control(t->scene, t->world);
    tabi_status status = tabi_world_step_or_grow(t->world, NULL);
    t->summary.seconds += now() - before;
    if (status != TABI_OK) {
      run->status = status == TABI_ERR_CAPACITY ? "too many contacts" : "diverged";
      break;
    }
    tbi_run_summary_step(&t->summary);
    if (i == 0) tbi_try_start_cause(t->world, t->start, t->pushed);
    if (i == 0 && run->floats) find_lack(t);
    note_torques(t, run);
    if (!tbi_run_html_step(&t->html)) return TBI_EXIT_INTERNAL;
  }
  return TBI_EXIT_OK;
}

static int run_begun(trial *t, const char *html, tbi_try_run *run) {
  size_t nq = (size_t)tabi_model_nq(tabi_scene_model(t->scene));
  t->start = calloc(nq + 1, sizeof *t->start);
  if (!t->start) return tbi_out_of_memory();
  memcpy(t->start, tabi_world_q(t->world), nq * sizeof *t->start);
  if (!tbi_run_html_open(&t->html, html, t->scene, t->world)) return TBI_EXIT_INTERNAL;
  int code = step_all(t, run);
  if (!tbi_run_html_close(&t->html)) code = TBI_EXIT_INTERNAL;
  name_torque(t, run);
  if (code == TBI_EXIT_OK) judge(t, run);
  return code;
}

int tbi_try_run_scene(tabi_scene *scene, const char *html, tbi_try_run *run) {
  tabi_error err = {0};
  tabi_world_def def = tabi_scene_world_def(scene);
  trial t = {.scene = scene};
  t.world = tabi_world_create(tabi_scene_model(scene), &def, &err);
  bool begun = t.world && tabi_scene_reset(scene, t.world, &err) == TABI_OK &&
               tbi_run_summary_begin(&t.summary, scene, t.world, &err) == TABI_OK;
  int code = begun ? run_begun(&t, html, run) : tbi_print_error(&err);
  if (begun) tbi_run_summary_free(&t.summary);
  free(t.start);
  tabi_world_destroy(t.world);
  return code;
}

json_t *tbi_try_run_json(const tbi_try_run *run) {
  json_t *torque = json_null();
  if (run->torque_joint != TABI_NONE)
    torque =
        json_pack("{ss so so}", "joint", run->torque_name, "value",
                  tbi_json_number(run->torque_value), "limit", tbi_json_number(run->torque_limit));
  json_t *why = run->stands ? json_null() : tbi_json_text(run->why);
  return json_pack("{ss ss sb so so so so so so so so so}", "contact", run->contact, "status",
                   run->status, "stands", (int)run->stands, "height_start",
                   tbi_json_number(run->height_start), "height_end",
                   tbi_json_number(run->height_end), "tilt_deg", tbi_json_number(run->tilt), "slip",
                   tbi_json_number(run->slip), "penetration_max", tbi_json_number(run->penetration),
                   "energy_gain", tbi_json_number(run->energy_gain), "us_per_step",
                   tbi_json_number(run->us_per_step), "torque_peak", torque, "why", why);
}

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

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define MOST_TILT    15.0 /* deg */
#define LEAST_HEIGHT 0.85
#define STILL        0.05 /* rad/s or m/s */
#define NEAR         0.3  /* rad or m */
#define ROUNDING     1e-12

typedef struct trial {
  tabi_scene *scene;
  tabi_world *world;
  tbi_run_summary summary;
  tbi_run_html html;
  double *start; /* q[nq] */
} trial;

static double now(void) {
  struct timespec t;
  (void)clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static bool floats(const tabi_scene *scene) {
  tabi_scene_robot robot = tabi_scene_get_robot(scene, 0);
  return robot.moving == robot.base;
}

static bool holds_still(const trial *t) {
  const tabi_model *model = tabi_scene_model(t->scene);
  for (int32_t i = 0; i < tabi_model_njoint(model); ++i) {
    tabi_range q = tabi_model_joint_q(model, i);
    tabi_range v = tabi_model_joint_v(model, i);
    if (v.count != 1) continue;
    double way = tabi_world_q(t->world)[q.first] - t->start[q.first];
    if (fabs(way) > NEAR || fabs(tabi_world_v(t->world)[v.first]) > STILL) return false;
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
  bool upright = !tbi_run_summary_fell(s) && run->tilt <= MOST_TILT &&
                 end.height >= LEAST_HEIGHT * start.height;
  bool lawful = run->energy_gain <= s->checks.bound.energy_gain &&
                fabs(run->torque_value) <= (1 + ROUNDING) * run->torque_limit;
  run->stands =
      strcmp(run->status, "ok") == 0 && lawful && (floats(t->scene) ? upright : holds_still(t));
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
  const char *name = tabi_model_joint(tabi_scene_model(t->scene), run->torque_joint).name;
  (void)snprintf(run->torque_name, sizeof run->torque_name, "%s", name ? name : "(unnamed)");
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
  return json_pack("{ss ss sb so so so so so so so so}", "contact", run->contact, "status",
                   run->status, "stands", (int)run->stands, "height_start",
                   tbi_json_number(run->height_start), "height_end",
                   tbi_json_number(run->height_end), "tilt_deg", tbi_json_number(run->tilt), "slip",
                   tbi_json_number(run->slip), "penetration_max", tbi_json_number(run->penetration),
                   "energy_gain", tbi_json_number(run->energy_gain), "us_per_step",
                   tbi_json_number(run->us_per_step), "torque_peak", torque);
}

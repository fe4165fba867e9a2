/* workload_batch.c - the workload "batch": robot-steps a second and core.
 *
 * The robots start scattered, each by its own seed, and go on for a while before the clock runs.
 * In "fall" the targets of all servos jump at random every 20 steps, so that robots fall and
 * struggle on the ground; in "stand" they stay.  MuJoCo steps as many worlds of the same model with
 * as many threads.  Time is the processors' time of all threads: what others do on the machine
 * counts little. */
#include "workload_batch.h"

#include "peer.h"
#include "scene.h"
#include "tabi/tabi_batch.h"

#include <math.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { WORLDS = 1024, PERIOD = 20, WARM_UP = 400, STRETCH = 200, BLOCKS = 5, ROW_NAME = 48 };
enum { ENOUGH = 100000 }; /* steps of all worlds in a stretch */

typedef struct subject {
  const char *name;
  double sway;    /* rad or m, range of the targets */
  double scatter; /* rad, of the posture at the start */
  bool self_collision;
} subject;

static const subject subjects[] = {
    {"stand", 0,   0,   false},
    {"fall",  1.0, 0.2, true },
};
enum { NSUBJECT = sizeof subjects / sizeof *subjects };

/* 0: the scalar worlds; -1: MuJoCo */
static const int32_t engines[] = {8, 4, 2, 1, 0, -1};
enum { NENGINE = sizeof engines / sizeof *engines };

static void row_name(char name[ROW_NAME], const subject *s, int32_t lanes) {
  if (lanes > 0) (void)snprintf(name, ROW_NAME, "batch/%s/lanes%d", s->name, (int)lanes);
  if (lanes <= 0)
    (void)snprintf(name, ROW_NAME, "batch/%s/%s", s->name, lanes == 0 ? "worlds" : "mujoco");
}

void tbi_bench_batch_list(tbi_bench_visit *visit, void *user) {
  for (int32_t s = 0; s < NSUBJECT; ++s)
    for (int32_t e = 0; e < NENGINE; ++e) {
      char name[ROW_NAME];
      row_name(name, &subjects[s], engines[e]);
      visit(user, name);
    }
}

/* one of them is measured at a time, with its own threads */
static void unpin(void) {
  cpu_set_t all;
  CPU_ZERO(&all);
  for (int i = 0; i < CPU_SETSIZE; ++i)
    CPU_SET((size_t)i, &all);
  (void)sched_setaffinity(0, sizeof all, &all);
}

static double process_clock(void) {
  struct timespec now;
  (void)clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* -- the robot */

typedef struct robot {
  tbi_bench_scene scene;
  double *kp, *kd, *target; /* [nv] */
  int32_t worlds, threads;
} robot;

/* the shipped scene, with its servos; or the robot of --model as `contact/stand` has it */
static tabi_status load_scene(const tbi_bench_options *options, const subject *s,
                              tbi_bench_scene *scene, tabi_error *err) {
  char path[4096];
  if (options->model) return tbi_bench_scene_robot(scene, options->model, err);
  tbi_bench_shipped_file("scenes/stand.yaml", path, sizeof path);
  const char *change =
      s->self_collision ? "robots.robot.self_collision=true" : "robots.robot.self_collision=false";
  tabi_scene_def def = tabi_scene_def_default();
  def.set = &change;
  def.nset = 1;
  tabi_scene *loaded = tabi_scene_load(path, &def, err);
  if (!loaded) return err->status;
  const tabi_model *model = tabi_scene_model(loaded);
  tabi_world *world = tabi_world_create(model, NULL, err);
  size_t njoint = (size_t)tabi_model_njoint(model);
  *scene = (tbi_bench_scene){.owner = loaded};
  scene->model = (tabi_model *)model; /* freed with its owner */
  scene->q = calloc((size_t)tabi_model_nq(model), sizeof *scene->q);
  scene->servo = calloc(njoint, sizeof *scene->servo);
  bool whole = world && scene->q && scene->servo;
  if (whole) {
    (void)tabi_scene_reset(loaded, world, err);
    tabi_scene_control(loaded, world);
    memcpy(scene->q, tabi_world_q(world), sizeof *scene->q * (size_t)tabi_model_nq(model));
    for (int32_t j = 0; j < (int32_t)njoint; ++j)
      if (tabi_model_joint_v(model, j).count == 1) scene->servo[j] = tabi_world_get_servo(world, j);
  }
  tabi_world_destroy(world);
  return whole ? TABI_OK : TABI_ERR_MEMORY;
}

static tabi_status load_robot(const tbi_bench_options *options, const subject *s, robot *r,
                              tabi_error *err) {
  *r = (robot){.worlds = options->worlds > 0 ? options->worlds : WORLDS,
               .threads = options->threads > 0 ? options->threads : 1};
  tabi_status status = load_scene(options, s, &r->scene, err);
  if (status != TABI_OK) return status;
  const tabi_model *model = r->scene.model;
  size_t nv = (size_t)tabi_model_nv(model);
  r->kp = calloc(3 * nv + 1, sizeof *r->kp);
  if (!r->kp) return TABI_ERR_MEMORY;
  r->kd = r->kp + nv;
  r->target = r->kd + nv;
  for (int32_t j = 0; j < tabi_model_njoint(model); ++j) {
    tabi_range dof = tabi_model_joint_v(model, j);
    if (dof.count != 1 || !r->scene.servo) continue;
    r->kp[dof.first] = r->scene.servo[j].kp;
    r->kd[dof.first] = r->scene.servo[j].kd;
    r->target[dof.first] = r->scene.servo[j].target;
  }
  return TABI_OK;
}

static void free_robot(robot *r) {
  tbi_bench_scene_free(&r->scene);
  free(r->kp);
}

/* -- tabi */

static double draw(uint64_t *state) {
  *state = *state * 6364136223846793005U + 1442695040888963407U;
  return (double)(*state >> 40) / (double)(1 << 24) - 0.5;
}

/* targets of every world, and of actuators their inputs, around where they hold */
static void set_targets(const robot *r, const subject *s, tabi_batch *b, uint64_t *seed) {
  int32_t nv;
  int32_t nu;
  double *target = tabi_batch_array(b, TABI_BATCH_TARGET, &nv);
  double *control = tabi_batch_array(b, TABI_BATCH_CONTROL, &nu);
  for (ptrdiff_t i = 0; i < (ptrdiff_t)r->worlds * nv; ++i)
    target[i] = r->target[i % nv] + s->sway * draw(seed);
  for (ptrdiff_t i = 0; i < (ptrdiff_t)r->worlds * nu; ++i)
    control[i] = (r->scene.control ? r->scene.control[i % nu] : 0) + s->sway * draw(seed);
}

static void begin(const robot *r, const subject *s, tabi_batch *b) {
  for (int32_t i = 0; i < r->worlds; ++i) {
    (void)tabi_batch_reset(b, &i, 1, r->scene.q, NULL, NULL);
    if (s->scatter > 0) tabi_batch_scatter(b, i, (uint64_t)i + 1, s->scatter, 5 * s->scatter);
  }
}

/* s of all processors for so many steps of every world */
static double run(const robot *r, const subject *s, tabi_batch *b, uint64_t *seed, int32_t steps) {
  double time = 0;
  for (int32_t i = 0; i < steps; ++i) {
    if (i % PERIOD == 0) set_targets(r, s, b, seed);
    double start = process_clock();
    (void)tabi_batch_step(b, 1, NULL);
    time += process_clock() - start;
  }
  return time;
}

/* steps of a block */
static int32_t stretch_of(const robot *r) {
  int32_t steps = ENOUGH / r->worlds / PERIOD * PERIOD;
  return steps < PERIOD ? PERIOD : steps > STRETCH ? STRETCH : steps;
}

/* the mean of what the certificates of all worlds tell */
static double mean_told(const robot *r, tabi_batch *b, int which) {
  const double *told = tabi_batch_array(b, TABI_BATCH_CERTIFICATE, NULL);
  double sum = 0;
  for (int32_t i = 0; i < r->worlds; ++i)
    sum += told[(ptrdiff_t)i * TABI_BATCH_TOLD + which];
  return sum / r->worlds;
}

static bool measure(const robot *r, const subject *s, int32_t lanes, tbi_row *row,
                    tabi_error *err) {
  tabi_world_def world = tabi_world_def_default(r->scene.model);
  tabi_batch_def def = tabi_batch_def_default();
  world.timestep = 1e-3;
  def.worlds = r->worlds;
  def.threads = r->threads;
  def.lanes = lanes;
  def.scalar = lanes == 0;
  def.kp = r->kp;
  def.kd = r->kd;
  tabi_batch *b = tabi_batch_create(r->scene.model, &world, &def, err);
  if (!b) return false;
  uint64_t seed = 1;
  double best = HUGE_VAL;
  int32_t stretch = stretch_of(r);
  begin(r, s, b);
  (void)run(r, s, b, &seed, WARM_UP);
  for (int i = 0; i < BLOCKS; ++i)
    best = fmin(best, run(r, s, b, &seed, stretch) / stretch / r->worlds);
  row->lanes = tabi_batch_lanes(b);
  row->us = 1e6 * best;
  row->per_second = 1 / best;
  row->memory = (double)tabi_batch_memory(b);
  row->contacts = mean_told(r, b, TABI_BATCH_CONTACTS);
  row->iterations = mean_told(r, b, TABI_BATCH_SWEEPS);
  row->residual = mean_told(r, b, TABI_BATCH_RESIDUAL);
  row->depth = mean_told(r, b, TABI_BATCH_OVERLAP);
  (void)snprintf(row->note, sizeof row->note, "%s", tabi_batch_reason(b));
  tabi_batch_destroy(b);
  return true;
}

/* -- MuJoCo */

static bool measure_peer(const robot *r, const subject *s, tbi_row *row, char *trouble,
                         size_t size) {
  tbi_peer peer;
  tabi_dynamics *d = tabi_dynamics_create(r->scene.model, NULL);
  double *v = calloc((size_t)tabi_model_nv(r->scene.model) + 1, sizeof *v);
  tbi_mjcf_def def = {.model = r->scene.model,
                      .dynamics = d,
                      .nstate = 1,
                      .q = r->scene.q,
                      .v = v,
                      .touching = true,
                      .servo = r->scene.servo};
  bool ok = d && v && tbi_peer_start_world(&peer, &def, r->scene.file, trouble, size);
  if (ok) {
    char question[160];
    double answer[2];
    (void)snprintf(question, sizeof question, "many %g %g %d %d %d %d\n", s->sway, s->scatter,
                   (int)r->worlds, (int)r->threads, WARM_UP / 2, stretch_of(r) / 4 + 1);
    ok = tbi_process_ask(&peer.process, question, answer, 2) && answer[0] > 0;
    if (ok) {
      row->us = 1e6 * answer[0];
      row->per_second = 1 / answer[0];
      row->contacts = answer[1];
    } else {
      (void)snprintf(trouble, size, "MuJoCo did not step so many worlds");
    }
    (void)snprintf(row->engine, sizeof row->engine, "%s", peer.engine);
    tbi_peer_stop(&peer);
  }
  tabi_dynamics_destroy(d);
  free(v);
  return ok;
}

/* -- rows */

static tbi_row *add_row(tbi_report *report, const robot *r, const subject *s, int32_t lanes) {
  tbi_row *row = tbi_report_add(report);
  if (!row) return NULL;
  row_name(row->name, s, lanes);
  row->subject = s->name;
  row->function = lanes < 0 ? "mujoco" : lanes == 0 ? "worlds" : "lanes";
  row->dof = tabi_model_nv(r->scene.model);
  row->links = tabi_model_nlink(r->scene.model);
  row->worlds = r->worlds;
  row->threads = r->threads;
  return row;
}

static void print_rows(const tbi_report *report, int32_t first) {
  for (int32_t i = first; i < report->nrow; ++i) {
    const tbi_row *row = &report->rows[i];
    if (!(row->per_second > 0)) {
      (void)printf("%-22s %s\n", row->name, row->note);
      continue;
    }
    (void)printf("%-22s %7d %7d %10.0f %8.3f %7.0f", row->name, (int)row->worlds, (int)row->threads,
                 row->per_second, row->us, row->memory > 0 ? row->memory : 0);
    if (row->ratio > 0) (void)printf(" %7.1f", row->ratio);
    (void)printf("%s%s\n", row->note[0] ? "  " : "", row->note);
  }
}

/* how many times faster than the peer, which is the last */
static void find_ratios(tbi_report *report, int32_t first) {
  const tbi_row *peer = &report->rows[report->nrow - 1];
  if (strcmp(peer->function, "mujoco") != 0 || !(peer->per_second > 0)) return;
  for (int32_t i = first; i < report->nrow - 1; ++i)
    report->rows[i].ratio = report->rows[i].per_second / peer->per_second;
}

/* a width that this machine does not have gives no row */
static bool has_lanes(const tabi_model *model, int32_t lanes) {
  tabi_batch_def def = tabi_batch_def_default();
  def.threads = 1;
  def.lanes = lanes;
  tabi_batch *b = tabi_batch_create(model, NULL, &def, NULL);
  tabi_batch_destroy(b);
  return b != NULL;
}

static int measure_subject(const tbi_bench_options *options, const subject *s, tbi_report *report) {
  robot r;
  tabi_error err = {0};
  int32_t first = report->nrow;
  tabi_status status = load_robot(options, s, &r, &err);
  for (int32_t e = 0; status == TABI_OK && e < NENGINE; ++e) {
    char name[ROW_NAME];
    row_name(name, s, engines[e]);
    if (!tbi_bench_wants(options, name) || (engines[e] < 0 && !options->peers)) continue;
    if (engines[e] > 0 && !has_lanes(r.scene.model, engines[e])) continue;
    tbi_bench_progress(options, name);
    tbi_row *row = add_row(report, &r, s, engines[e]);
    if (!row) break;
    char trouble[160] = "";
    bool ok = engines[e] < 0 ? measure_peer(&r, s, row, trouble, sizeof trouble)
                             : measure(&r, s, engines[e], row, &err);
    if (!ok)
      (void)snprintf(row->note, sizeof row->note, "%.150s", engines[e] < 0 ? trouble : err.message);
  }
  if (report->nrow > first) find_ratios(report, first);
  if (!options->json) print_rows(report, first);
  free_robot(&r);
  return status == TABI_OK ? TBI_BENCH_OK : tbi_bench_fail(&err);
}

static bool wants_subject(const tbi_bench_options *options, const subject *s) {
  for (int32_t e = 0; e < NENGINE; ++e) {
    char name[ROW_NAME];
    row_name(name, s, engines[e]);
    if (tbi_bench_wants(options, name)) return true;
  }
  return false;
}

int tbi_bench_batch(const tbi_bench_options *options, tbi_report *report) {
  int code = TBI_BENCH_OK;
  bool head = false;
  /* threads do not fit on one processor, and profilers count single worlds better */
  if (options->calls > 0 || options->count || options->nname == 0) return code;
  for (int32_t s = 0; s < NSUBJECT && code == TBI_BENCH_OK; ++s) {
    if (!wants_subject(options, &subjects[s])) continue;
    if (!head) unpin();
    if (!head && !options->json)
      (void)printf("%-22s %7s %7s %10s %8s %7s %7s\n", "workload", "worlds", "threads", "steps/s",
                   "us", "bytes", "ratio");
    head = true;
    code = measure_subject(options, &subjects[s], report);
  }
  return code;
}

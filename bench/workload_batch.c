/* workload_batch.c - the workload "batch": robot-steps a second and core.
 *
 * The robots start scattered, each by its own seed, and go on for a while before the clock runs.
 * In "fall" the targets of all servos jump at random every 20 steps, so that robots fall and
 * struggle on the ground, in "ground" on a mesh of triangles; in "stand" they stay, and in "walk"
 * they follow scenes/walk.yaml.  All engines make these 20 steps of a world at once, in "walk" one.
 * MuJoCo steps as many worlds of the same model with as many threads: the model that tabi has, and,
 * of a robot in a file of its own, also that file as it is.  Time is the processors' time of all
 * threads: what others do on the machine counts little. */
#include "workload_batch.h"

#include "peer.h"
#include "probe.h"
#include "scene.h"
#include "tabi/tabi_batch.h"

#include <math.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { WORLDS = 1024, PERIOD = 20, STRETCH = 200, BLOCKS = 5, ROW_NAME = 48 };
enum { ENOUGH = 100000 }; /* steps of all worlds in a stretch */

typedef struct subject {
  const char *name;
  const char *file; /* of the scene, or of the robot on a mesh */
  double sway;      /* rad or m, range of the targets */
  double scatter;   /* rad, of the posture at the start */
  int32_t warm_up;  /* steps before the clock runs */
  bool walks;       /* targets of every step are those of the scene's controller */
  bool self_collision;
  bool triangles; /* the ground is a mesh */
} subject;

static const subject subjects[] = {
    {"stand",  "scenes/stand.yaml",      0,   0,   400,  false, false, false},
    {"walk",   "scenes/walk.yaml",       0,   0,   2000, true,  false, false},
    {"fall",   "scenes/stand.yaml",      1.0, 0.2, 400,  false, true,  false},
    {"ground", "models/humanoid36.urdf", 1.0, 0.2, 400,  false, true,  true },
};
enum { NSUBJECT = sizeof subjects / sizeof *subjects };

/* lanes; or one of: */
enum { WORLDS_ALONE = 0, MUJOCO = -1, MUJOCO_OWN = -2 };
static const int32_t engines[] = {8, 4, 2, 1, WORLDS_ALONE, MUJOCO, MUJOCO_OWN};
enum { NENGINE = sizeof engines / sizeof *engines };

static const char *engine_name(int32_t engine) {
  if (engine > 0) return "lanes";
  return engine == WORLDS_ALONE ? "worlds" : engine == MUJOCO ? "mujoco" : "mujoco-own";
}

static void row_name(char name[ROW_NAME], const subject *s, int32_t engine) {
  char width[12] = "";
  if (engine > 0) (void)snprintf(width, sizeof width, "%d", (int)engine);
  (void)snprintf(name, ROW_NAME, "batch/%s/%s%s", s->name, engine_name(engine), width);
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

static double seconds(clockid_t clock) {
  struct timespec now;
  (void)clock_gettime(clock, &now);
  return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* -- the robot */

typedef struct robot {
  tbi_bench_scene scene;
  double *kp, *kd, *target; /* [nv] */
  double *plan;             /* [nplan][nv], targets of every step; or none */
  int32_t nplan;
  int32_t worlds, threads;
} robot;

/* the shipped scene, with its servos; or the robot of --model as `contact/stand` has it */
static tabi_status load_scene(const tbi_bench_options *options, const subject *s,
                              tbi_bench_scene *scene, tabi_error *err) {
  char path[4096];
  if (options->model) return tbi_bench_scene_robot(scene, options->model, err);
  tbi_bench_shipped_file(s->file, path, sizeof path);
  if (s->triangles) return tbi_bench_scene_mesh_ground(scene, path, err);
  return tbi_bench_scene_load(scene, path, s->self_collision, err);
}

static double target_of(const tabi_world *world, int32_t joint) {
  return tabi_world_get_servo(world, joint).target;
}

/* the targets of the scene's controller, while its robot tracks them in a world of its own */
static tabi_status record_plan(robot *r, int32_t steps, tabi_error *err) {
  const tabi_model *model = r->scene.model;
  size_t nv = (size_t)tabi_model_nv(model);
  tabi_world_def def = tabi_scene_world_def(r->scene.owner);
  tabi_world *world = tabi_world_create(model, &def, err);
  r->plan = calloc((size_t)steps * nv + 1, sizeof *r->plan);
  tabi_status status =
      world && r->plan ? tabi_scene_reset(r->scene.owner, world, err) : TABI_ERR_MEMORY;
  for (; status == TABI_OK && r->nplan < steps; ++r->nplan) {
    tabi_scene_control(r->scene.owner, world);
    for (int32_t j = 0; j < tabi_model_njoint(model); ++j) {
      tabi_range dof = tabi_model_joint_v(model, j);
      if (dof.count == 1) r->plan[(size_t)r->nplan * nv + (size_t)dof.first] = target_of(world, j);
    }
    status = tabi_world_step_or_grow(world, NULL);
  }
  tabi_world_destroy(world);
  return status;
}

/* steps of a block */
static int32_t stretch_of(const robot *r) {
  int32_t steps = ENOUGH / r->worlds / PERIOD * PERIOD;
  return steps < PERIOD ? PERIOD : steps > STRETCH ? STRETCH : steps;
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
  bool planned = s->walks && r->scene.owner;
  return planned ? record_plan(r, s->warm_up + BLOCKS * stretch_of(r), err) : TABI_OK;
}

static void free_robot(robot *r) {
  tbi_bench_scene_free(&r->scene);
  free(r->kp);
  free(r->plan);
}

/* -- tabi */

static double draw(uint64_t *state) {
  *state = *state * 6364136223846793005U + 1442695040888963407U;
  return (double)(*state >> 40) / (double)(1 << 24) - 0.5;
}

/* targets of every world, and of actuators their inputs, around where they hold */
static void set_targets(const robot *r, const subject *s, tabi_batch *b, int32_t step,
                        uint64_t *seed) {
  int32_t nv;
  int32_t nu;
  double *target = tabi_batch_array(b, TABI_BATCH_TARGET, &nv);
  double *control = tabi_batch_array(b, TABI_BATCH_CONTROL, &nu);
  const double *held = r->plan ? r->plan + (ptrdiff_t)(step % r->nplan) * nv : r->target;
  for (ptrdiff_t i = 0; i < (ptrdiff_t)r->worlds * nv; ++i)
    target[i] = held[i % nv] + s->sway * draw(seed);
  for (ptrdiff_t i = 0; i < (ptrdiff_t)r->worlds * nu; ++i)
    control[i] = (r->scene.control ? r->scene.control[i % nu] : 0) + s->sway * draw(seed);
}

static void begin(const robot *r, const subject *s, tabi_batch *b) {
  for (int32_t i = 0; i < r->worlds; ++i) {
    (void)tabi_batch_reset(b, &i, 1, r->scene.q, NULL, NULL);
    if (s->scatter > 0) tabi_batch_scatter(b, i, (uint64_t)i + 1, s->scatter, 5 * s->scatter);
  }
}

/* A batch and the best of its times, s a step and world. */
typedef struct runner {
  tabi_batch *b;
  uint64_t seed;
  double processors, clock;
} runner;

/* steps of every world from first to end */
static void run(const robot *r, const subject *s, runner *t, int32_t first, int32_t end) {
  double processors = 0;
  double clock = 0;
  int32_t together = r->plan ? 1 : PERIOD;
  for (int32_t i = first; i < end; i += together) {
    set_targets(r, s, t->b, i, &t->seed);
    double start = seconds(CLOCK_PROCESS_CPUTIME_ID);
    double start_clock = seconds(CLOCK_MONOTONIC);
    (void)tabi_batch_step(t->b, together, NULL);
    processors += seconds(CLOCK_PROCESS_CPUTIME_ID) - start;
    clock += seconds(CLOCK_MONOTONIC) - start_clock;
  }
  double steps = (double)(end - first) * r->worlds;
  t->processors = fmin(t->processors, processors / steps);
  t->clock = fmin(t->clock, clock / steps);
}

/* the mean of what the certificates of all worlds tell */
static double mean_told(const robot *r, tabi_batch *b, int which) {
  const double *told = tabi_batch_array(b, TABI_BATCH_CERTIFICATE, NULL);
  double sum = 0;
  for (int32_t i = 0; i < r->worlds; ++i)
    sum += told[(ptrdiff_t)i * TABI_BATCH_TOLD + which];
  return sum / r->worlds;
}

/* scattered, and gone on for a while */
static bool open_runner(const robot *r, const subject *s, int32_t lanes, int32_t threads, runner *t,
                        tabi_error *err) {
  tabi_world_def world = tabi_world_def_default(r->scene.model);
  tabi_batch_def def = tabi_batch_def_default();
  world.timestep = 1e-3;
  def.worlds = r->worlds;
  def.threads = threads;
  def.lanes = lanes;
  def.scalar = lanes == 0;
  def.kp = r->kp;
  def.kd = r->kd;
  *t = (runner){.b = tabi_batch_create(r->scene.model, &world, &def, err), .seed = 1};
  if (!t->b) return false;
  begin(r, s, t->b);
  run(r, s, t, 0, s->warm_up);
  t->processors = t->clock = HUGE_VAL;
  return true;
}

static void fill_row(const robot *r, const runner *t, tbi_row *row) {
  row->lanes = tabi_batch_lanes(t->b);
  row->us = 1e6 * t->processors;
  row->per_second = 1 / t->processors;
  row->memory = (double)tabi_batch_memory(t->b);
  row->contacts = mean_told(r, t->b, TABI_BATCH_CONTACTS);
  row->iterations = mean_told(r, t->b, TABI_BATCH_SWEEPS);
  row->residual = mean_told(r, t->b, TABI_BATCH_RESIDUAL);
  row->depth = mean_told(r, t->b, TABI_BATCH_OVERLAP);
  (void)snprintf(row->note, sizeof row->note, "%s", tabi_batch_reason(t->b));
}

/* with more threads than one, blocks of all threads, of one, and of the probe take turns */
static bool measure(const robot *r, const subject *s, int32_t lanes, tbi_row *row,
                    tabi_error *err) {
  runner all;
  runner one = {.clock = HUGE_VAL};
  double probe[2] = {HUGE_VAL, HUGE_VAL};
  int32_t stretch = stretch_of(r);
  bool threaded = r->threads > 1;
  bool whole = open_runner(r, s, lanes, r->threads, &all, err);
  whole = whole && (!threaded || open_runner(r, s, lanes, 1, &one, err));
  for (int32_t i = 0, at = s->warm_up; whole && i < BLOCKS; ++i, at += stretch) {
    run(r, s, &all, at, at + stretch);
    if (!threaded) continue;
    run(r, s, &one, at, at + stretch);
    probe[0] = fmin(probe[0], tbi_bench_probe(1));
    probe[1] = fmin(probe[1], tbi_bench_probe(r->threads));
  }
  if (whole) fill_row(r, &all, row);
  if (whole && threaded) {
    row->scaling = one.clock / all.clock;
    row->probe = r->threads * probe[0] / probe[1];
  }
  tabi_batch_destroy(all.b);
  tabi_batch_destroy(one.b);
  return whole;
}

/* -- MuJoCo */

/* the plan as inputs of MuJoCo's servos, which are 0 where the robot holds its first posture; a
 * file that is empty means none */
static bool write_plan(const robot *r, char name[256]) {
  const tabi_model *model = r->scene.model;
  int32_t nv = tabi_model_nv(model);
  name[0] = '\0';
  if (!r->plan) return true;
  FILE *file = tbi_process_file(name, ".bin");
  if (!file) return false;
  for (int32_t step = 0; step < r->nplan; ++step)
    for (int32_t j = 0; j < tabi_model_njoint(model); ++j) {
      int32_t k = tabi_model_joint_v(model, j).first;
      if (!(r->scene.servo[j].kp > 0)) continue;
      double input = r->plan[(ptrdiff_t)step * nv + k] - r->target[k];
      (void)fwrite(&input, sizeof input, 1, file);
    }
  return fclose(file) == 0;
}

/* file NULL: the model that tabi has */
static bool measure_peer(const robot *r, const subject *s, const char *file, tbi_row *row,
                         char *trouble, size_t size) {
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
  bool ok = d && v && tbi_peer_start_world(&peer, &def, file, trouble, size);
  if (ok) {
    char question[480];
    char plan[256];
    double answer[2];
    ok = write_plan(r, plan);
    (void)snprintf(question, sizeof question, "many %g %g %d %d %d %d %s\n", s->sway, s->scatter,
                   (int)r->worlds, (int)r->threads, (int)s->warm_up, (int)stretch_of(r), plan);
    ok = ok && tbi_process_ask(&peer.process, question, answer, 2) && answer[0] > 0;
    if (plan[0]) (void)remove(plan);
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
  row->function = engine_name(lanes);
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
    if (row->scaling > 0)
      (void)printf("  %.2f times one thread, arithmetic %.2f", row->scaling, row->probe);
    (void)printf("%s%s\n", row->note[0] ? "  " : "", row->note);
  }
}

/* how many times faster than MuJoCo on the same model, or else on the robot's own file */
static void find_ratios(tbi_report *report, int32_t first) {
  const tbi_row *peer = NULL;
  for (int32_t i = report->nrow - 1; i >= first; --i) {
    const tbi_row *row = &report->rows[i];
    if (strncmp(row->function, "mujoco", 6) == 0 && row->per_second > 0) peer = row;
  }
  for (int32_t i = first; peer && i < report->nrow; ++i)
    if (&report->rows[i] != peer)
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
    if (engines[e] == MUJOCO_OWN && !r.scene.file) continue;
    if (engines[e] > 0 && !has_lanes(r.scene.model, engines[e])) continue;
    tbi_bench_progress(options, name);
    tbi_row *row = add_row(report, &r, s, engines[e]);
    if (!row) break;
    char trouble[160] = "";
    const char *file = engines[e] == MUJOCO_OWN ? r.scene.file : NULL;
    bool ok = engines[e] < 0 ? measure_peer(&r, s, file, row, trouble, sizeof trouble)
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
  if (s->triangles && options->model) return false; /* a file of its own may bring a floor */
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

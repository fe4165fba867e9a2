/* workload_contact.c - the workload "contact".
 *
 * A scene comes to rest under the default method.  From there every method goes on for a while,
 * and then the same stretch of 50 steps is measured again and again from a snapshot.  Over that
 * stretch the contacts, iterations, depth and residuals are taken too.  The peer starts where tabi
 * came to rest, and goes on for a while as well.  A robot that settles and boxes that fall are
 * measured in the midst of it, by every method from the same moment. */
#include "workload_contact.h"

#include "instruction_count.h"
#include "measure.h"
#include "peer.h"
#include "scene.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double timestep = 1e-3; /* s */
enum { STRETCH = 50, SWEEPS = 20, ROW_NAME = 48 };

/* A way to solve a step. */
typedef struct method {
  const char *name;
  tabi_contact_kind contact;
  bool fixed;  /* 20 sweeps, whatever they achieve */
  bool sleeps; /* what rests does */
} method;

enum { CONE, LCP, EXACT, PENALTY, IMPULSE, CONE20, DENSE20, SLEEP, NMETHOD };
static const method methods[NMETHOD] = {
    [CONE] = {"cone",    TABI_CONTACT_CONE,       false, false},
    [LCP] = {"lcp",     TABI_CONTACT_LCP,        false, false},
    [EXACT] = {"exact",   TABI_CONTACT_EXACT,      false, false},
    [PENALTY] = {"penalty", TABI_CONTACT_PENALTY,    false, false},
    [IMPULSE] = {"impulse", TABI_CONTACT_IMPULSE,    false, false},
    [CONE20] = {"cone20",  TABI_CONTACT_CONE,       true,  false},
    [DENSE20] = {"dense20", TABI_CONTACT_CONE_PAPER, true,  false},
    [SLEEP] = {"sleep",   TABI_CONTACT_CONE,       false, true }
};
enum { FALL_ASLEEP = 600 }; /* steps that take what rests to sleep */

typedef enum scene_kind {
  STAND,
  HULL_FEET,
  MESH_GROUND,
  SETTLE,
  POINTS,
  STACK,
  PILE,
  FALL,
  SNAKE
} scene_kind;

typedef struct subject_scene {
  const char *name;
  scene_kind kind;
  int32_t size;
  unsigned methods; /* bits */
  bool peer;        /* beside the first method */
} subject_scene;

enum {
  AT_ONCE = 1 << PENALTY | 1 << IMPULSE, /* all points together */
  ALL = 1 << CONE | 1 << LCP | 1 << EXACT | AT_ONCE,
  FIXED = 1 << CONE20 | 1 << DENSE20,
};

static const subject_scene scenes[] = {
    {"stand",      STAND,       0,    ALL,                                  true },
    {"hullfeet",   HULL_FEET,   0,    1 << CONE,                            false},
    {"meshground", MESH_GROUND, 0,    1 << CONE,                            false},
    {"settle",     SETTLE,      0,    1 << CONE | 1 << EXACT,               false},
    {"points8",    POINTS,      8,    FIXED | AT_ONCE,                      false},
    {"points16",   POINTS,      16,   FIXED | AT_ONCE,                      false},
    {"points40",   POINTS,      40,   FIXED | AT_ONCE,                      false},
    {"points100",  POINTS,      100,  FIXED | AT_ONCE,                      false},
    {"points200",  POINTS,      200,  FIXED | AT_ONCE,                      false},
    {"points400",  POINTS,      400,  FIXED | AT_ONCE,                      false},
    {"points1000", POINTS,      1000, 1 << CONE20,                          false},
    {"stack10",    STACK,       10,   1 << CONE | 1 << EXACT,               false},
    {"pile10",     PILE,        10,   1 << CONE | 1 << EXACT | 1 << CONE20, false},
    {"pile20",     PILE,        20,   1 << CONE | 1 << EXACT | 1 << CONE20, true },
    {"pile50",     PILE,        50,   1 << CONE | 1 << EXACT | 1 << CONE20, false},
    {"pile100",    PILE,        100,  1 << CONE | 1 << EXACT | 1 << CONE20, true },
    {"pile300",    PILE,        300,  1 << CONE | 1 << CONE20 | 1 << SLEEP, false},
    {"fall20",     FALL,        20,   1 << CONE | 1 << EXACT,               false},
    {"fall100",    FALL,        100,  1 << CONE | 1 << EXACT,               false},
    {"snake100",   SNAKE,       100,  1 << PENALTY,                         false},
    {"snake200",   SNAKE,       200,  1 << PENALTY,                         false},
    {"snake400",   SNAKE,       400,  1 << PENALTY,                         false},
};
enum { NSCENE = sizeof scenes / sizeof scenes[0] };

/* Steps to come to rest, and those that a method or a peer then makes for itself. */
static const struct {
  const char *series;
  int32_t min_steps, max_steps, own, peer;
} kinds[] = {
    [STAND] = {NULL,     1000, 1000, 1000, 1000},
      [HULL_FEET] = {NULL,     1000, 1000, 1000, 0   },
    [MESH_GROUND] = {NULL,     1000, 1000, 1000, 0   },
      [SETTLE] = {NULL,     100,  100,  0,    0   },
    [POINTS] = {"points", 200,  200,  50,   50  },
      [STACK] = {NULL,     1000, 8000, 50,   1000},
    [PILE] = {"pile",   1000, 8000, 50,   1000},
      [FALL] = {NULL,     300,  300,  0,    0   },
    [SNAKE] = {"snake",  20,   20,   300,  0   }
};
static const double at_rest = 1e-6; /* m/s or rad/s */

static void row_name(char name[ROW_NAME], const subject_scene *which, int32_t m) {
  (void)snprintf(name, ROW_NAME, "contact/%s/%s", which->name, methods[m].name);
}

static bool wants_row(const tbi_bench_options *options, const subject_scene *which, int32_t m) {
  char name[ROW_NAME];
  row_name(name, which, m);
  return (which->methods >> m & 1) && tbi_bench_wants(options, name);
}

static bool wants_scene(const tbi_bench_options *options, const subject_scene *which) {
  for (int32_t m = 0; m < NMETHOD; ++m)
    if (wants_row(options, which, m)) return true;
  return false;
}

void tbi_bench_contact_list(tbi_bench_visit *visit, void *user) {
  for (size_t s = 0; s < NSCENE; ++s)
    for (int32_t m = 0; m < NMETHOD; ++m) {
      char name[ROW_NAME];
      row_name(name, &scenes[s], m);
      if (scenes[s].methods >> m & 1) visit(user, name);
    }
}

/* A world that runs over its stretch again and again. */
typedef struct job {
  tabi_world *world;
  void *snapshot; /* the start of the stretch */
  size_t size;
  int32_t at; /* steps into the stretch */
} job;

/* What the stretch looks like. */
typedef struct quality {
  double contacts, iterations; /* mean */
  double depth, residual, cone, speed;
} quality;

static void free_job(job *j) {
  tabi_world_destroy(j->world);
  free(j->snapshot);
  *j = (job){0};
}

/* A world with memory for its snapshot, or an error. */
static tabi_status make_job(job *j, const tabi_model *model, const method *how, tabi_error *err) {
  tabi_world_def def = tabi_world_def_default(model);
  def.timestep = timestep;
  def.contact = how->contact;
  def.sleep = how->sleeps;
  def.cone.storage = TABI_STORAGE_DENSE; /* of cone-paper */
  if (how->fixed) {
    def.tolerance = 0;
    def.iterations = SWEEPS;
  }
  *j = (job){.world = tabi_world_create(model, &def, err)};
  if (!j->world) return err->status;
  j->size = tabi_world_snapshot_size(j->world);
  j->snapshot = malloc(j->size);
  if (j->snapshot) return TABI_OK;
  free_job(j);
  *err = (tabi_error){.status = TABI_ERR_MEMORY, .message = "out of memory"};
  return TABI_ERR_MEMORY;
}

/* Steps on and starts the stretch there. */
static tabi_status settle(job *j, int32_t steps, tabi_error *err) {
  for (int32_t i = 0; i < steps; ++i) {
    tabi_status status = tabi_world_step_or_grow(j->world, NULL);
    if (status == TABI_OK) continue;
    *err = *tabi_world_error(j->world);
    return status;
  }
  tabi_world_save(j->world, j->snapshot);
  j->at = 0;
  return TABI_OK;
}

static tabi_status come_to_rest(job *j, scene_kind kind, tabi_error *err) {
  enum { MORE = 250 };
  tabi_status status = settle(j, kinds[kind].min_steps, err);
  for (int32_t n = kinds[kind].min_steps; n < kinds[kind].max_steps && status == TABI_OK;
       n += MORE) {
    if (tbi_bench_scene_fastest(j->world) <= at_rest && tabi_world_certificate(j->world).converged)
      break;
    status = settle(j, MORE, err);
  }
  return status;
}

/* Returning to the start is not in the time. */
static double run_here(void *self, int32_t calls) {
  job *j = self;
  double seconds = 0;
  while (calls > 0) {
    if (j->at == STRETCH) {
      (void)tabi_world_restore(j->world, j->snapshot, j->size);
      j->at = 0;
    }
    int32_t count = STRETCH - j->at < calls ? STRETCH - j->at : calls;
    double start = tbi_measure_clock();
    for (int32_t i = 0; i < count; ++i)
      if (tabi_world_step_or_grow(j->world, NULL) != TABI_OK) return nan("");
    seconds += tbi_measure_clock() - start;
    j->at += count;
    calls -= count;
  }
  return seconds;
}

static double run_peer(void *self, int32_t calls) { return tbi_peer_run(self, "step", calls); }

static void look_at_step(tabi_world *world, quality *look) {
  int32_t count = 0;
  const tabi_contact *contact = tabi_world_contacts(world, &count);
  tabi_certificate c = tabi_world_certificate(world);
  look->contacts += (double)count / STRETCH;
  look->iterations += (double)c.iterations / STRETCH;
  for (int32_t i = 0; i < count; ++i)
    look->depth = fmax(look->depth, -contact[i].gap);
  look->residual = fmax(look->residual, fmax(c.complementarity, c.dissipation));
  look->cone = fmax(look->cone, c.cone);
}

static quality look_at_stretch(job *j) {
  quality look = {0};
  (void)tabi_world_restore(j->world, j->snapshot, j->size);
  for (int32_t i = 0; i < STRETCH; ++i) {
    (void)tabi_world_step_or_grow(j->world, NULL);
    look_at_step(j->world, &look);
  }
  look.speed = tbi_bench_scene_fastest(j->world);
  j->at = STRETCH;
  return look;
}

static tabi_status open_scene(const tbi_bench_options *options, const subject_scene *which,
                              tbi_bench_scene *scene, tabi_error *err) {
  char path[4096];
  tbi_bench_shipped_robot(path, sizeof path);
  if (which->kind == PILE || which->kind == FALL) {
    return tbi_bench_scene_pile(scene, which->size, err);
  }
  if (which->kind == SNAKE) return tbi_bench_scene_snake(scene, which->size, err);
  if (which->kind == STACK) return tbi_bench_scene_stack(scene, which->size, err);
  if (which->kind == HULL_FEET) return tbi_bench_scene_hull_feet(scene, path, err);
  if (which->kind == MESH_GROUND) return tbi_bench_scene_mesh_ground(scene, path, err);
  if (which->kind == POINTS) return tbi_bench_scene_points(scene, path, which->size, err);
  return tbi_bench_scene_robot(scene, options->model ? options->model : path, err);
}

/* A scene at rest, and a job for each method asked for. */
typedef struct stage {
  const subject_scene *which;
  tbi_bench_scene scene;
  job rest;
  job jobs[NMETHOD]; /* world NULL: not asked for */
} stage;

static void free_stage(stage *s) {
  free_job(&s->rest);
  for (int32_t m = 0; m < NMETHOD; ++m)
    free_job(&s->jobs[m]);
  tbi_bench_scene_free(&s->scene);
}

static tabi_status start_job(job *j, const method *how, const job *rest, tabi_error *err) {
  /* the state of a world that may sleep has more in it */
  if (how->sleeps) return tabi_world_continue(j->world, rest->world, err);
  return tabi_world_restore(j->world, rest->snapshot, rest->size);
}

static tabi_status make_stage(stage *s, const tbi_bench_options *options, tabi_error *err) {
  tabi_status status = open_scene(options, s->which, &s->scene, err);
  if (status == TABI_OK) status = make_job(&s->rest, s->scene.model, &methods[CONE], err);
  if (status == TABI_OK) status = tbi_bench_scene_start(&s->scene, s->rest.world, err);
  if (status == TABI_OK) status = come_to_rest(&s->rest, s->which->kind, err);
  for (int32_t m = 0; m < NMETHOD && status == TABI_OK; ++m) {
    job *j = &s->jobs[m];
    if (!wants_row(options, s->which, m)) continue;
    status = make_job(j, s->scene.model, &methods[m], err);
    if (status == TABI_OK) status = start_job(j, &methods[m], &s->rest, err);
    if (status == TABI_OK)
      status = settle(j, methods[m].sleeps ? FALL_ASLEEP : kinds[s->which->kind].own, err);
  }
  return status;
}

/* A peer that cannot take part is left out, with the reason. */
static bool start_peer(tbi_peer *peer, const stage *s, tbi_peer_rest *rest, tbi_report *report) {
  char trouble[512];
  tabi_dynamics *dynamics = tabi_dynamics_create(s->scene.model, NULL);
  if (!dynamics) return false;
  tbi_mjcf_def def = {.model = s->scene.model,
                      .dynamics = dynamics,
                      .nstate = 1,
                      .q = tabi_world_q(s->rest.world),
                      .v = tabi_world_v(s->rest.world),
                      .touching = true,
                      .servo = s->scene.servo};
  bool ok = tbi_peer_start_world(peer, &def, s->scene.file, trouble, sizeof trouble);
  tabi_dynamics_destroy(dynamics);
  if (ok &&
      !tbi_peer_settle(peer, timestep, kinds[s->which->kind].peer, s->scene.file != NULL, rest)) {
    (void)snprintf(trouble, sizeof trouble, "%s does not come to rest", peer->engine);
    tbi_peer_stop(peer);
    ok = false;
  }
  if (ok)
    (void)snprintf(report->engine, sizeof report->engine, "%s", peer->engine);
  else
    (void)fprintf(stderr, "tabi: warning: %s measured without a peer: %s\n", s->which->name,
                  trouble);
  return ok;
}

/* The second step of the stretch, so that every run counts the same one. */
static double count_step(const tbi_bench_options *options, tbi_subject *subject, job *j) {
  double instructions = tbi_measure_instructions(subject);
  if (!isnan(instructions) || !options->count) return instructions;
  j->at = STRETCH;
  (void)run_here(j, 1);
  return tbi_count_instructions(subject);
}

static tbi_row *add_row(const tbi_bench_options *options, stage *s, int32_t m, tbi_subject *subject,
                        tbi_report *report) {
  tbi_row *row = tbi_report_add(report);
  if (!row) return NULL;
  quality look = look_at_stretch(&s->jobs[m]);
  row_name(row->name, s->which, m);
  row->subject = s->which->name;
  row->function = methods[m].name;
  row->series = kinds[s->which->kind].series;
  row->links = tabi_model_nlink(s->scene.model);
  row->dof = tabi_model_nv(s->scene.model);
  row->us = 1e6 * subject->best;
  row->us_median = 1e6 * subject->median;
  row->instructions = count_step(options, subject, &s->jobs[m]);
  row->contacts = look.contacts;
  row->size = s->which->kind == SNAKE ? row->links : row->contacts;
  row->iterations = look.iterations;
  row->depth = look.depth;
  row->residual = look.residual;
  row->cone = look.cone;
  row->speed = look.speed;
  return row;
}

/* All methods, and the peer after them. */
static bool measure_stage(const tbi_bench_options *options, stage *s, tbi_report *report) {
  tbi_subject subjects[NMETHOD + 1];
  int32_t which[NMETHOD], count = 0;
  tbi_peer peer;
  tbi_peer_rest rest = {0};
  bool with_peer = options->peers && s->which->peer && start_peer(&peer, s, &rest, report);
  for (int32_t m = 0; m < NMETHOD; ++m) {
    if (!s->jobs[m].world) continue;
    subjects[count] = (tbi_subject){.run = run_here, .self = &s->jobs[m], .unit = STRETCH};
    which[count++] = m;
  }
  if (with_peer) subjects[count] = (tbi_subject){.run = run_peer, .self = &peer, .unit = STRETCH};
  tbi_measure_time(subjects, count + with_peer);
  if (with_peer) tbi_peer_stop(&peer);

  for (int32_t i = 0; i < count; ++i) {
    tbi_row *row = add_row(options, s, which[i], &subjects[i], report);
    if (!row) return false;
    if (i > 0 || !with_peer) continue;
    row->peer_us = 1e6 * subjects[count].best;
    row->peer_us_median = 1e6 * subjects[count].median;
    row->peer_contacts = rest.contacts;
    row->peer_iterations = rest.iterations;
    row->peer_depth = rest.depth;
  }
  return true;
}

static void make_calls(const tbi_bench_options *options, stage *s) {
  for (int32_t m = 0; m < NMETHOD; ++m)
    if (s->jobs[m].world) (void)run_here(&s->jobs[m], options->calls);
}

static int run_scene(const tbi_bench_options *options, const subject_scene *which,
                     tbi_report *report) {
  tabi_error err = {0};
  stage s = {.which = which};
  bool ok = make_stage(&s, options, &err) == TABI_OK;
  if (ok && options->calls > 0) make_calls(options, &s);
  if (ok && options->calls == 0 && !measure_stage(options, &s, report)) {
    err = (tabi_error){.status = TABI_ERR_MEMORY, .message = "out of memory"};
    ok = false;
  }
  free_stage(&s);
  return ok ? TBI_BENCH_OK : tbi_bench_fail(&err);
}

int tbi_bench_contact(const tbi_bench_options *options, tbi_report *report) {
  int code = TBI_BENCH_OK;
  int32_t first_row = report->nrow;
  for (size_t s = 0; s < NSCENE && code == TBI_BENCH_OK; ++s) {
    int32_t scene_row = report->nrow;
    if (!wants_scene(options, &scenes[s])) continue;
    tbi_bench_progress(options, scenes[s].name);
    code = run_scene(options, &scenes[s], report);
    if (code == TBI_BENCH_OK && !options->json && report->nrow > scene_row)
      tbi_report_print_contact(report, scene_row, scene_row == first_row);
  }
  if (code == TBI_BENCH_OK && report->nrow > first_row && !options->json) {
    tbi_report_print_growth(report, first_row, "contacts");
    tbi_report_print_growth(report, first_row, "links");
  }
  return code;
}

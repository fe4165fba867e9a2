/* workload_engines.c - the workload "engines": every engine that a scene is for, in turn.
 *
 * At rest, all engines have come to their own rest, and then blocks of steps alternate between
 * them.  In motion, a run is made from the start, again and again, the engines taking turns, and
 * once more to see how deep shapes are in each other. Scenes with a known answer are run once for
 * their error, which is their time too. */
#include "workload_engines.h"

#include "comparisons.h"
#include "measure.h"
#include "penetration.h"

#include <malloc.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BLOCKS = 15, RUNS = 5, WATCH = 10, ROW_NAME = 48 };
/* s of CPU time */
static const double block = 0.02;
static const double warm_up = 10;  /* of the steps before the clock runs, at most */
static const double enough = 4;    /* of blocks, after which no other follows */
static const double repeated = 1;  /* of runs, likewise */
static const double patience = 60; /* of one run, at most */

static void row_name(char name[ROW_NAME], const tbi_comparison *comparison, int32_t engine) {
  (void)snprintf(name, ROW_NAME, "engines/%s/%s", comparison->name,
                 tbi_engine_configs[engine].name);
}

/* Whether it is asked for, be it in the comparison or not. */
static bool is_named(const tbi_bench_options *options, const tbi_comparison *comparison,
                     int32_t engine) {
  char name[ROW_NAME];
  row_name(name, comparison, engine);
  bool peer = tbi_engine_configs[engine].program != NULL;
  if (peer && (!options->peers || options->calls > 0)) return false;
  return tbi_bench_wants(options, name) && tbi_engine_config_available(&tbi_engine_configs[engine]);
}

static bool wants_row(const tbi_bench_options *options, const tbi_comparison *comparison,
                      int32_t engine) {
  return (comparison->engines >> engine & 1) && is_named(options, comparison, engine);
}

static bool wants_comparison(const tbi_bench_options *options, const tbi_comparison *comparison) {
  for (int32_t e = 0; e < TBI_ENGINE_CONFIGS; ++e)
    if (wants_row(options, comparison, e)) return true;
  return false;
}

void tbi_bench_engines_list(tbi_bench_visit *visit, void *user) {
  for (int32_t b = 0; b < tbi_ncomparison; ++b)
    for (int32_t e = 0; e < TBI_ENGINE_CONFIGS; ++e) {
      char name[ROW_NAME];
      row_name(name, &tbi_comparisons[b], e);
      if (tbi_comparisons[b].engines >> e & 1) visit(user, name);
    }
}

/* An engine in a comparison, and what was measured of it. */
typedef struct entry {
  tbi_engine_run c;
  int32_t engine, block; /* block: steps of one */
  int32_t ntime;
  double times[BLOCKS]; /* s of a step */
  double contacts, error, energy, warm;
  double deepest;   /* m, the largest penetration on the way of a run in motion */
  double spent;     /* s of CPU time while measured */
  const char *note; /* NULL: nothing to say */
} entry;

typedef struct measurement {
  const tbi_comparison *comparison;
  tbi_engine_scene scene;
  tbi_neutral_state *state; /* scratch */
  entry entries[TBI_ENGINE_CONFIGS];
  int32_t count;
  char absence[TBI_ENGINE_CONFIGS][160]; /* why an engine that was wanted is not there */
  double kinetic;                        /* J, at the start */
  double led[3];                         /* where the first of them has brought the first body */
} measurement;

static void close_meeting(measurement *m) {
  for (int32_t i = 0; i < m->count; ++i)
    tbi_engine_run_close(&m->entries[i].c);
  tbi_engine_scene_free(&m->scene);
  free(m->state);
}

/* A row with the reason in place of numbers. */
static bool add_absence(tbi_report *report, const measurement *m, int32_t engine, const char *why) {
  tbi_row *row = tbi_report_add(report);
  if (!row) return false;
  row_name(row->name, m->comparison, engine);
  row->subject = m->comparison->name;
  row->function = tbi_engine_configs[engine].name;
  row->settings = tbi_engine_configs[engine].settings;
  row->links = tabi_model_nlink(m->scene.base.model);
  row->dof = tabi_model_nv(m->scene.base.model);
  (void)snprintf(row->engine, sizeof row->engine, "%s", tbi_engine_configs[engine].program);
  (void)snprintf(row->note, sizeof row->note, "left out: %.140s", why);
  return true;
}

/* Engines that cannot take part are left out, with the reason. */
static tabi_status open_meeting(measurement *m, const tbi_bench_options *options, tabi_error *err) {
  tabi_status status = tbi_comparison_open(m->comparison, &m->scene, err);
  if (status != TABI_OK) return status;
  m->state = calloc((size_t)m->scene.neutral.nbody + 1, sizeof *m->state);
  if (!m->state) {
    *err = (tabi_error){.status = TABI_ERR_MEMORY, .message = "out of memory"};
    return err->status;
  }
  for (int32_t e = 0; e < TBI_ENGINE_CONFIGS; ++e) {
    char trouble[512];
    entry *to = &m->entries[m->count];
    if (!wants_row(options, m->comparison, e)) continue;
    *to = (entry){.engine = e, .error = (double)NAN, .energy = (double)NAN, .deepest = (double)NAN};
    if (tbi_engine_run_open(&to->c, &tbi_engine_configs[e], &m->scene, trouble, sizeof trouble))
      ++m->count;
    else
      (void)snprintf(m->absence[e], sizeof m->absence[e], "%.140s", trouble);
  }
  if (m->count > 0 && tbi_engine_run_state(&m->entries[0].c, m->state))
    m->kinetic = tbi_accuracy_kinetic_energy(&m->scene.neutral, m->state);
  return TABI_OK;
}

static const char *absence(const measurement *m, int32_t engine) {
  return m->absence[engine][0] ? m->absence[engine] : tbi_comparison_absence(m->comparison, engine);
}

/* A peer that made no step has gone. */
static void note_time(entry *e, tbi_engine_time t) {
  if (t.steps <= 0) {
    e->note = "left out: it stopped, or took minutes for a step";
    return;
  }
  if (e->ntime < BLOCKS) e->times[e->ntime++] = t.seconds / t.steps;
  e->spent += t.seconds;
  e->contacts = t.contacts;
}

static void measure_rest(measurement *m) {
  for (int32_t i = 0; i < m->count; ++i) {
    entry *e = &m->entries[i];
    tbi_engine_time t = tbi_engine_run_step(&e->c, m->comparison->warm, warm_up);
    e->warm = t.steps;
    double steps = t.steps > 0 ? block / (t.seconds / t.steps) : 1;
    e->block = steps > 5000 ? 5000 : steps > 1 ? (int32_t)steps : 1;
  }
  for (int32_t n = 0; n < BLOCKS; ++n)
    for (int32_t i = 0; i < m->count; ++i) {
      entry *e = &m->entries[i];
      if (e->note || e->spent > enough) continue;
      note_time(e, tbi_engine_run_step(&e->c, e->block, patience));
    }
}

/* Runs that take long are made once. */
static void measure_motion(measurement *m) {
  for (int32_t n = 0; n < RUNS; ++n)
    for (int32_t i = 0; i < m->count; ++i) {
      entry *e = &m->entries[i];
      // an engine starts where it was opened
      bool moved = n > 0 || m->comparison->accuracy;
      if (e->note || (moved && (e->spent > repeated || !tbi_engine_run_reset(&e->c)))) continue;
      tbi_engine_time t = tbi_engine_run_step(&e->c, m->comparison->steps, patience);
      e->warm = t.steps;
      // half a run is another motion
      bool whole = t.steps == 0 || t.steps == m->comparison->steps;
      if (!whole && !m->comparison->accuracy) e->note = "left out: a run takes more than a minute";
      if (whole) note_time(e, t);
    }
}

static void note_depth(measurement *m, entry *e) {
  double depth = 0, squares = 0;
  if (tbi_engine_run_state(&e->c, m->state) &&
      tbi_penetration_all(&m->scene.neutral, m->state, &depth, &squares))
    e->deepest = fmax(e->deepest, depth);
}

/* A run once more, without a clock, to see how deep shapes are in each other on the way. */
static void watch_motion(measurement *m) {
  for (int32_t i = 0; i < m->count; ++i) {
    entry *e = &m->entries[i];
    if (e->note || !tbi_engine_run_reset(&e->c)) continue;
    for (int32_t left = m->comparison->steps; left > 0; left -= WATCH) {
      if (tbi_engine_run_step(&e->c, left < WATCH ? left : WATCH, patience).steps <= 0) break;
      note_depth(m, e);
    }
  }
}

/* Whether the accuracy test pushes bodies, which a run for time does not. */
static bool is_pushed(const tbi_comparison *comparison) {
  return comparison->accuracy == tbi_accuracy_rolling ||
         comparison->accuracy == tbi_accuracy_flight;
}

static void measure_error(measurement *m) {
  for (int32_t i = 0; i < m->count; ++i) {
    entry *e = &m->entries[i];
    tbi_accuracy v = m->comparison->accuracy(&e->c, m->comparison->steps, m->state);
    note_time(e, (tbi_engine_time){v.steps, v.seconds * v.steps, v.contacts});
    e->error = v.error;
    e->energy = v.energy;
    e->warm = v.steps;
  }
  // the run again, without the accuracy test between its steps
  if (!is_pushed(m->comparison)) measure_motion(m);
}

static int compare_doubles(const void *a, const void *b) {
  double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

/* How far from the first engine's the first body has come, of those that follow a motion. */
static double astray(measurement *m, const entry *e) {
  const double *com = m->state[0].com;
  if (e == &m->entries[0]) memcpy(m->led, com, sizeof m->led);
  return hypot(hypot(com[0] - m->led[0], com[1] - m->led[1]), com[2] - m->led[2]);
}

/* What moves without gravity and contacts keeps its kinetic energy; NAN for others. */
static double energy_gain(const measurement *m) {
  const double *g = m->scene.neutral.gravity;
  bool still = g[0] != 0 || g[1] != 0 || g[2] != 0 || m->comparison->accuracy;
  if (still || !(m->kinetic > 0)) return (double)NAN;
  return fabs(tbi_accuracy_kinetic_energy(&m->scene.neutral, m->state) / m->kinetic - 1);
}

/* Overlap and speed at the end, by the same measure for all. */
static void look(measurement *m, entry *e, tbi_row *row) {
  const tbi_neutral_scene *neutral = &m->scene.neutral;
  double deepest = 0, squares = 0;
  if (!tbi_engine_run_state(&e->c, m->state)) return;
  row->speed = tbi_accuracy_speed(neutral, m->state);
  if (!isfinite(row->speed)) {
    (void)snprintf(row->note, sizeof row->note, "flew apart");
    return;
  }
  if (neutral->nstep > 0) row->error = astray(m, e);
  if (isnan(row->energy)) row->energy = energy_gain(m);
  row->gap = tbi_accuracy_joint_gap(neutral, m->state);
  if (tbi_penetration_all(neutral, m->state, &deepest, &squares)) row->depth = deepest;
  tabi_world *world = tbi_engine_run_world(&e->c);
  if (!world) return;
  tabi_certificate certificate = tabi_world_certificate(world);
  row->residual = fmax(certificate.complementarity, certificate.dissipation);
  row->cone = certificate.cone;
  row->iterations = certificate.iterations;
  // a world is one block
  row->memory = (double)malloc_usable_size(world);
}

/* Steps of tabi are counted one by one, some of a run in motion; those of a peer in one go. */
static double count_instructions(const measurement *m, entry *e) {
  enum { SAMPLES = 8 };
  const double slow = 50, max_time = 8, plenty = 5e5; /* valgrind's factor, s, instructions */
  const tbi_comparison *comparison = m->comparison;
  double count = 0, n = floor(max_time / (slow * e->times[0]));
  int32_t steps = n < 1 ? 1 : n > 2000 ? 2000 : (int32_t)n, samples = 0;
  if (e->c.who->program && comparison->steps > 0)
    return tbi_engine_run_count(&e->c, 0, steps < comparison->steps ? steps : comparison->steps);
  if (e->c.who->program || comparison->steps == 0)
    return tbi_engine_run_count(&e->c, steps < 20 ? 1 : 20, steps < 50 ? steps : 50);
  if (!tbi_engine_run_reset(&e->c)) return (double)NAN;
  while (samples < SAMPLES && !(count > plenty)) {
    (void)tbi_engine_run_step(&e->c, comparison->steps / (SAMPLES + 1), patience);
    count += tbi_engine_run_count(&e->c, 0, 1);
    ++samples;
  }
  return count / samples;
}

static bool add_row(const tbi_bench_options *options, measurement *m, entry *e,
                    tbi_report *report) {
  tbi_row *row = tbi_report_add(report);
  if (!row) return false;
  row_name(row->name, m->comparison, e->engine);
  row->subject = m->comparison->name;
  row->function = tbi_engine_configs[e->engine].name;
  (void)snprintf(row->engine, sizeof row->engine, "%s", e->c.engine);
  row->settings = tbi_engine_configs[e->engine].settings;
  row->links = tabi_model_nlink(m->scene.base.model);
  row->dof = tabi_model_nv(m->scene.base.model);
  row->contacts = e->contacts;
  row->error = e->error;
  row->energy = e->energy;
  row->deepest = e->deepest;
  row->steps = e->warm;
  if (m->comparison->warm > e->warm)
    (void)snprintf(row->note, sizeof row->note, "after %.0f steps of its own only", e->warm);
  if (e->note) {
    (void)snprintf(row->note, sizeof row->note, "%s", e->note);
    return true;
  }
  if (e->ntime > 0) {
    qsort(e->times, (size_t)e->ntime, sizeof e->times[0], compare_doubles);
    row->us = 1e6 * e->times[0];
    row->us_median = 1e6 * e->times[e->ntime / 2];
  }
  look(m, e, row);
  if (options->count && !is_pushed(m->comparison)) row->instructions = count_instructions(m, e);
  return true;
}

static int run_comparison(const tbi_bench_options *options, const tbi_comparison *comparison,
                          tbi_report *report) {
  tabi_error err = {0};
  measurement *m = calloc(1, sizeof *m);
  if (!m) return TBI_BENCH_INTERNAL;
  m->comparison = comparison;
  bool ok = open_meeting(m, options, &err) == TABI_OK;
  if (ok && options->calls > 0) {
    for (int32_t i = 0; i < m->count; ++i)
      (void)tbi_engine_run_step(&m->entries[i].c, options->calls, HUGE_VAL);
  } else if (ok) {
    void (*const measure)(measurement *) = comparison->accuracy ? measure_error
                                           : comparison->steps  ? measure_motion
                                                                : measure_rest;
    measure(m);
    if (measure == measure_motion) watch_motion(m);
    for (int32_t i = 0; i < m->count; ++i)
      if (!add_row(options, m, &m->entries[i], report)) ok = false;
    for (int32_t e = 0; e < TBI_ENGINE_CONFIGS; ++e)
      if (absence(m, e) && is_named(options, comparison, e) &&
          !add_absence(report, m, e, absence(m, e)))
        ok = false;
    if (!ok) err = (tabi_error){.status = TABI_ERR_MEMORY, .message = "out of memory"};
  }
  close_meeting(m);
  free(m);
  return ok ? TBI_BENCH_OK : tbi_bench_fail(&err);
}

/* Which packages bring the engines that are not there, each once. */
static void name_missing(const tbi_bench_options *options) {
  for (int32_t e = 0; e < TBI_ENGINE_CONFIGS && options->peers; ++e) {
    const tbi_engine_config *who = &tbi_engine_configs[e];
    bool first = e == 0 || strcmp(who->name, who->program ? who->program : "") == 0;
    if (first && !tbi_engine_config_available(who))
      (void)fprintf(
          stderr,
          "tabi: note: no tabi-bench-%s beside tabi; install %s (tools/install-packages.sh "
          "bench), then build with cmake -DTABI_PEERS=ON\n",
          who->program, who->package);
  }
}

int tbi_bench_engines(const tbi_bench_options *options, tbi_report *report) {
  int code = TBI_BENCH_OK;
  int32_t first_row = report->nrow;
  bool any = false;
  // alone, tabi has little to say here that "contact" does not say
  if (options->nname == 0 && !options->peers) return TBI_BENCH_OK;
  for (int32_t b = 0; b < tbi_ncomparison && code == TBI_BENCH_OK; ++b) {
    int32_t bout_row = report->nrow;
    if (!wants_comparison(options, &tbi_comparisons[b])) continue;
    if (!any) name_missing(options);
    any = true;
    tbi_bench_progress(options, tbi_comparisons[b].name);
    code = run_comparison(options, &tbi_comparisons[b], report);
    if (code == TBI_BENCH_OK && !options->json && report->nrow > bout_row)
      tbi_report_print_engines(report, bout_row, bout_row == first_row);
  }
  return code;
}

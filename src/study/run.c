/* run.c - one run of a study: its scene, its world, its measures. */
#include "study/run.h"
#include "base/assertion.h"
#include "base/error.h"

#include "study/lanes.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { SETTING_SIZE = 512 };

static int32_t count_paths(const tabi_study *study) {
  int32_t count = 0;
  for (int32_t i = 0; i < study->nparameter; ++i)
    count += study->parameter[i].npath;
  return count;
}

/* "path=value" for every path of every parameter */
static bool fill_settings(const tabi_study *study, const double *value,
                          char (*text)[SETTING_SIZE]) {
  for (int32_t i = 0; i < study->nparameter; ++i) {
    const tbi_parameter *parameter = &study->parameter[i];
    for (int32_t path = 0; path < parameter->npath; ++path) {
      if (!tbi_parameter_setting(parameter, path, value[i], *text++, SETTING_SIZE)) return false;
    }
  }
  return true;
}

/* An error in a value of a parameter is one of the study. */
static void blame_parameter(const tabi_study *study, char (*text)[SETTING_SIZE], tabi_error *err) {
  if (!err || err->file[0] == '\0') return;
  for (int32_t i = 0; i < study->nparameter; ++i) {
    const tbi_parameter *parameter = &study->parameter[i];
    for (int32_t path = 0; path < parameter->npath; ++path, ++text) {
      if (strncmp(err->file, *text, sizeof err->file - 1) != 0) continue;
      tabi_error why = *err;
      tbi_error_set(err, why.status, (tabi_place){study->path, parameter->line},
                    "parameter '%s', %.100s: %s", parameter->name, *text, why.message);
      return;
    }
  }
}

/* set[nset + count] has place for the texts behind the first nset. */
static tabi_scene *load_scene(const tabi_study *study, const char **set, int32_t nset,
                              char (*text)[SETTING_SIZE], int32_t count, tabi_error *err) {
  tabi_scene_def def = study->def;
  for (int32_t i = 0; i < count; ++i)
    set[nset + i] = text[i];
  def.set = set;
  def.nset = nset + count;
  return tabi_scene_load_text(study->scene_text, study->scene_size, study->scene, &def, err);
}

tabi_scene *tbi_study_scene_at(const tabi_study *study, const double *value, const char **set,
                               int32_t nset, tabi_error *err) {
  int32_t count = count_paths(study);
  char(*text)[SETTING_SIZE] = calloc((size_t)count + 1, sizeof *text);
  const char **all = calloc((size_t)(nset + count) + 1, sizeof *all);
  tabi_scene *scene = NULL;
  if (!text || !all) {
    tbi_error_memory(err);
  } else if (!fill_settings(study, value, text)) {
    tbi_error_set(err, TABI_ERR_PARSE, (tabi_place){study->path, 1},
                  "a path or choice of a parameter is longer than %d characters", SETTING_SIZE / 2);
  } else {
    if (nset > 0) memcpy(all, set, (size_t)nset * sizeof *all);
    scene = load_scene(study, all, nset, text, count, err);
    if (!scene) blame_parameter(study, text, err);
  }
  free(text);
  free(all);
  return scene;
}

tabi_scene *tbi_study_scene(const tabi_study *study, int64_t run, tabi_error *err) {
  char seed[64];
  const char *set[] = {seed};
  double value[TBI_STUDY_MAX_PARAMETERS];
  tbi_message_format(seed, sizeof seed, "contact.seed=%d", tabi_study_seed(study, run));
  for (int32_t i = 0; i < study->nparameter; ++i)
    value[i] = tabi_study_value(study, run, i);
  return tbi_study_scene_at(study, value, set, 1, err);
}

double tbi_run_clock(void) {
  struct timespec t;
  (void)clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static const char *status_of(tabi_status status) {
  if (status == TABI_OK || status == TABI_ERR_ENDED) return "ok";
  return status == TABI_ERR_DIVERGED ? "diverged" : "failed";
}

bool tbi_trial_begin(const tabi_study *study, int64_t run, const char *log, tbi_trial *t,
                     tabi_error *err) {
  t->scene = tbi_study_scene(study, run, err);
  if (!t->scene) return false;
  tabi_world_def def = tabi_scene_world_def(t->scene);
  t->world = tabi_world_create(tabi_scene_model(t->scene), &def, err);
  if (!t->world || tabi_scene_reset(t->scene, t->world, err) != TABI_OK) return false;
  t->measuring = tbi_measuring_create(study->measure, study->nmeasure, t->scene, t->world, err);
  if (!t->measuring) return false;
  if (log) t->recorder = tabi_recorder_create(log, t->scene, t->world, err);
  return !log || t->recorder;
}

int64_t tbi_trial_steps(const tbi_trial *t) {
  double timestep = tabi_scene_world_def(t->scene).timestep;
  return (int64_t)fmax(1, round(tabi_scene_duration(t->scene) / timestep));
}

/* The status of the last step; *err is that of the log. */
static tabi_status step_all(tbi_trial *t, bool until_fall, tabi_error *err) {
  int64_t steps = tbi_trial_steps(t);
  for (int64_t i = 0; i < steps; ++i) {
    tabi_scene_control(t->scene, t->world);
    tabi_status status = tabi_world_step_or_grow(t->world, NULL);
    if (status != TABI_OK) return status;
    tbi_measuring_step(t->measuring);
    if (t->recorder && tabi_recorder_step(t->recorder, err) != TABI_OK) return TABI_OK;
    if (until_fall && i % TBI_FALL_EVERY == 0 && tbi_measuring_fell(t->measuring)) return TABI_OK;
  }
  return TABI_OK;
}

void tbi_trial_tell(const tbi_trial *t, tabi_status status, double start, tabi_study_row *row) {
  row->status = status_of(status);
  tbi_measuring_end(t->measuring, row->measure);
  row->hash = tabi_world_hash(t->world);
  row->seconds = tbi_run_clock() - start;
}

void tbi_trial_end(tbi_trial *t, tabi_error *err) {
  tabi_error closing = {0};
  tabi_status status = tabi_recorder_close(t->recorder, &closing);
  if (status != TABI_OK && err && err->status == TABI_OK) *err = closing;
  tbi_measuring_destroy(t->measuring);
  tabi_world_destroy(t->world);
  tabi_scene_destroy(t->scene);
}

bool tbi_run_is_refused(const tabi_error *failed) {
  return failed->status == TABI_ERR_PARSE || failed->status == TABI_ERR_MODEL ||
         failed->status == TABI_ERR_ARGUMENT;
}

void tbi_run_refuse(const tabi_study *study, double start, tabi_study_row *row) {
  row->status = "failed";
  row->hash = 0;
  for (int32_t i = 0; i < study->nmeasure; ++i)
    row->measure[i] = (double)NAN;
  row->seconds = tbi_run_clock() - start;
}

static tabi_status run_in_world(const tabi_study *study, int64_t run, const char *log,
                                tabi_study_row *row, tabi_error *err) {
  double start = tbi_run_clock();
  tbi_trial t = {0};
  tabi_error failed = {0};
  row->run = run;
  row->engine = TABI_ENGINE_WORLD;
  bool begun = tbi_trial_begin(study, run, log, &t, &failed);
  if (begun) tbi_trial_tell(&t, step_all(&t, study->until_fall, &failed), start, row);
  tbi_trial_end(&t, &failed);
  if (err && failed.status != TABI_OK) *err = failed;
  if (begun || !tbi_run_is_refused(&failed)) return failed.status;
  tbi_run_refuse(study, start, row);
  return TABI_OK;
}

tabi_status tabi_study_run(const tabi_study *study, int64_t run, const char *log,
                           tabi_study_row *row, tabi_error *err) {
  TBI_ASSERT(study && run >= 0 && run < study->design.runs && row && row->measure);
  tabi_engine engine = row->engine == TABI_ENGINE_OF_STUDY ? study->engine : row->engine;
  if (engine == TABI_ENGINE_WORLD) return run_in_world(study, run, log, row, err);
  tabi_error failed = {0};
  tbi_run_lanes *lanes = tbi_run_lanes_create(study, &failed);
  tabi_status status = lanes ? tbi_run_lanes_do(lanes, &run, 1, log, row, &failed) : failed.status;
  tbi_run_lanes_destroy(lanes);
  if (err && failed.status != TABI_OK) *err = failed;
  return status;
}

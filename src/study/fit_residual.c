/* fit_residual.c - runs of a scene at values of its parameters, compared with recordings. */
#include "base/assertion.h"
#include "base/error.h"
#include "study/fit.h"
#include "study/workers.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define FAR 1e3 /* residual of a run that diverged, in sigmas */

double tbi_fit_value(const tbi_parameter *parameter, double z) {
  double u = 1 / (1 + exp(-z));
  /* the logistic of large numbers is 0 or 1 by rounding */
  return tbi_parameter_value(parameter, fmin(1 - 1e-15, fmax(1e-15, u)));
}

/* -- one run */

/* A recording that is compared with a run. */
typedef struct follower {
  const tbi_fit_recording *recording;
  int32_t *index; /* of its signals among all */
  double *before; /* values of these at the step before */
  int64_t row;    /* that is due */
  double *to;     /* residuals: [nsignal][nrow] */
} follower;

typedef struct playing {
  tabi_scene *scene;
  tabi_world *world;
  tabi_observer *observer;
  tabi_signals *signals;
  double *value;      /* of all signals */
  follower *follower; /* recordings of the run: [count] */
  int32_t count;
  double *to; /* residuals of all recordings of the fit */
} playing;

static bool find_signals(const playing *p, const follower *f, tabi_error *err) {
  const tbi_fit_recording *r = f->recording;
  int32_t all = tabi_signals_count(p->signals);
  for (int32_t k = 0; k < r->nsignal; ++k) {
    f->index[k] = TABI_NONE;
    for (int32_t i = 0; i < all && f->index[k] == TABI_NONE; ++i) {
      if (strcmp(tabi_signals_get(p->signals, i).name, r->signal[k].name) == 0) f->index[k] = i;
    }
    if (f->index[k] != TABI_NONE) continue;
    const char *near = tabi_signals_nearest(p->signals, r->signal[k].name);
    tbi_error_set(err, TABI_ERR_PARSE, r->place, "the scene has no signal '%.80s'%s%s%s",
                  r->signal[k].name, near ? "; did you mean '" : "", near ? near : "",
                  near ? "'?" : "");
    return false;
  }
  return true;
}

/* Only signals of the recordings are evaluated. */
static bool want_signals(const playing *p, tabi_error *err) {
  bool *wanted = calloc((size_t)tabi_signals_count(p->signals) + 1, sizeof *wanted);
  if (!wanted) return tbi_error_memory(err) == TABI_OK;
  for (int32_t i = 0; i < p->count; ++i) {
    for (int32_t k = 0; k < p->follower[i].recording->nsignal; ++k)
      wanted[p->follower[i].index[k]] = true;
  }
  tabi_signals_want(p->signals, wanted);
  free(wanted);
  return true;
}

/* An error in a change of the scene is one of the recording that asks for it. */
static void blame_recording(const tbi_fit_recording *r, tabi_error *err) {
  for (int32_t i = 0; i < r->nset; ++i) {
    if (strncmp(err->file, r->set[i], sizeof err->file - 1) != 0) continue;
    tabi_error why = *err;
    tbi_error_set(err, why.status, r->place, "data: %.100s: %s", r->set[i], why.message);
    return;
  }
}

static bool follow(const playing *p, follower *f, tabi_error *err) {
  f->index = calloc((size_t)f->recording->nsignal + 1, sizeof *f->index);
  f->before = calloc((size_t)f->recording->nsignal + 1, sizeof *f->before);
  if (!f->index || !f->before) return tbi_error_memory(err) == TABI_OK;
  return find_signals(p, f, err);
}

/* All recordings of a trial. */
static bool choose_recordings(const tabi_fit *fit, int32_t trial, playing *p, tabi_error *err) {
  p->follower = calloc((size_t)fit->nrecording + 1, sizeof *p->follower);
  if (!p->follower) return tbi_error_memory(err) == TABI_OK;
  for (int32_t i = 0; i < fit->nrecording; ++i) {
    const tbi_fit_recording *r = &fit->recording[i];
    if (r->trial == trial)
      p->follower[p->count++] = (follower){.recording = r, .to = p->to + r->first};
  }
  return true;
}

static bool begin(const tabi_fit *fit, const double *z, playing *p, tabi_error *err) {
  TBI_ASSERT(p->count > 0 && p->follower[0].recording);
  const tbi_fit_recording *r = p->follower[0].recording;
  double value[TBI_STUDY_MAX_PARAMETERS];
  for (int32_t i = 0; i < fit->study.nparameter; ++i)
    value[i] = tbi_fit_value(&fit->study.parameter[i], z[i]);
  p->scene = tbi_study_scene_at(&fit->study, value, r->set, r->nset, err);
  if (!p->scene) {
    blame_recording(r, err);
    return false;
  }
  tabi_world_def def = tabi_scene_world_def(p->scene);
  p->world = tabi_world_create(tabi_scene_model(p->scene), &def, err);
  if (!p->world || tabi_scene_reset(p->scene, p->world, err) != TABI_OK) return false;
  p->observer = tabi_observer_create(p->scene, p->world, err);
  p->signals = p->observer ? tabi_signals_create(p->scene, err) : NULL;
  if (!p->signals) return false;
  p->value = calloc((size_t)tabi_signals_count(p->signals) + 1, sizeof *p->value);
  if (!p->value) return tbi_error_memory(err) == TABI_OK;
  for (int32_t i = 0; i < p->count; ++i) {
    if (!follow(p, &p->follower[i], err)) return false;
  }
  return want_signals(p, err);
}

static void end(playing *p) {
  for (int32_t i = 0; i < p->count; ++i) {
    free(p->follower[i].index);
    free(p->follower[i].before);
  }
  free(p->follower);
  free(p->value);
  tabi_signals_destroy(p->signals);
  tabi_observer_destroy(p->observer);
  tabi_world_destroy(p->world);
  tabi_scene_destroy(p->scene);
}

/* Rows up to the present time, by straight lines between steps. */
static void take_rows(follower *f, const double *now_value, double before, double now) {
  const tbi_fit_recording *r = f->recording;
  double scale = r->sigma > 0 ? 1 / r->sigma : 1;
  TBI_ASSERT(f->index && f->before);
  for (; f->row < r->nrow && r->time[f->row] <= now + 1e-12; ++f->row) {
    double share = now > before ? (r->time[f->row] - before) / (now - before) : 1;
    for (int32_t k = 0; k < r->nsignal; ++k) {
      double after = now_value[f->index[k]];
      double value = f->before[k] + fmin(1, fmax(0, share)) * (after - f->before[k]);
      double miss = scale * (value - r->signal[k].value[f->row]);
      f->to[(int64_t)k * r->nrow + f->row] = isfinite(miss) ? miss : FAR;
    }
  }
  for (int32_t k = 0; k < r->nsignal; ++k)
    f->before[k] = now_value[f->index[k]];
}

/* What is compared with the step from one time to another. */
static void look(const playing *p, double before, double now) {
  tabi_signals_eval(p->signals, tabi_observer_look(p->observer), p->value);
  for (int32_t i = 0; i < p->count; ++i)
    take_rows(&p->follower[i], p->value, before, now);
}

/* The rest of a recording whose run diverged. */
static void give_up(follower *f) {
  const tbi_fit_recording *r = f->recording;
  for (int32_t k = 0; k < r->nsignal; ++k) {
    for (int64_t row = f->row; row < r->nrow; ++row)
      f->to[(int64_t)k * r->nrow + row] = FAR;
  }
  f->row = r->nrow;
}

/* A recording that is not at its end, or NULL. */
static const follower *find_open(const playing *p) {
  for (int32_t i = 0; i < p->count; ++i) {
    if (p->follower[i].row < p->follower[i].recording->nrow) return &p->follower[i];
  }
  return NULL;
}

static void play(const playing *p) {
  double timestep = tabi_scene_world_def(p->scene).timestep;
  int64_t steps = (int64_t)round(tabi_scene_duration(p->scene) / timestep);
  look(p, 0, 0);
  for (int64_t i = 0; i < steps && find_open(p); ++i) {
    double before = tabi_world_time(p->world);
    tabi_scene_control(p->scene, p->world);
    if (tabi_world_step_or_grow(p->world, NULL) != TABI_OK) {
      for (int32_t k = 0; k < p->count; ++k)
        give_up(&p->follower[k]);
      return;
    }
    look(p, before, tabi_world_time(p->world));
  }
}

/* -- all of them */

typedef struct batch {
  const tabi_fit *fit;
  const double *z;
  double *to;
} batch;

static void check_end(const playing *p, tabi_error *err) {
  const follower *open = find_open(p);
  if (!open) return;
  const tbi_fit_recording *r = open->recording;
  tbi_error_set(err, TABI_ERR_PARSE, r->place,
                "the recording lasts to %g s, the scene to %g s; give the scene a longer duration",
                r->time[r->nrow - 1], tabi_scene_duration(p->scene));
}

/* Task: a trial at a point. */
static tabi_status run_task(void *of, int64_t task, tabi_error *err) {
  const batch *b = of;
  int64_t point = task / b->fit->ntrial;
  playing p = {.to = b->to + point * b->fit->nresidual};
  tabi_error failed = {0};
  if (choose_recordings(b->fit, (int32_t)(task % b->fit->ntrial), &p, &failed) &&
      begin(b->fit, b->z + point * b->fit->study.nparameter, &p, &failed)) {
    play(&p);
    check_end(&p, &failed);
  }
  end(&p);
  if (failed.status != TABI_OK) *err = failed;
  return failed.status;
}

#define BOUND 1.345 /* sigmas, beyond which a residual counts by its size (P. J. Huber, 1964) */

/* What has the square that a residual counts for. */
static double huber(double r) {
  double size = fabs(r);
  return size <= BOUND ? r : copysign(sqrt(2 * BOUND * size - BOUND * BOUND), r);
}

static double huber_back(double h) {
  double size = fabs(h);
  return size <= BOUND ? h : copysign((h * h + BOUND * BOUND) / (2 * BOUND), h);
}

void tbi_fit_undo_loss(const tabi_fit *fit, double *residual) {
  for (int64_t i = 0; fit->huber && i < fit->nresidual; ++i)
    residual[i] = huber_back(residual[i]);
}

tabi_status tbi_fit_residuals(const tabi_fit *fit, const double *z, int32_t count, int32_t jobs,
                              double *to, tabi_error *err) {
  batch b = {fit, z, to};
  tabi_status status = tbi_workers_run(run_task, &b, (int64_t)count * fit->ntrial, jobs, err);
  if (status != TABI_OK || !fit->huber) return status;
  for (int64_t i = 0; i < count * fit->nresidual; ++i)
    to[i] = huber(to[i]);
  return TABI_OK;
}

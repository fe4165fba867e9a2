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

/* Signals of a recording before and after a step. */
typedef struct playing {
  const tbi_fit_recording *recording;
  tabi_scene *scene;
  tabi_world *world;
  tabi_observer *observer;
  tabi_signals *signals;
  int32_t *index; /* of the recording's signals among all */
  double *value;  /* of all */
  double *before; /* of the recording's, at the step before */
  int64_t row;    /* that is due */
  double *to;     /* residuals of the recording: [nsignal][nrow] */
} playing;

static bool find_signals(playing *p, tabi_error *err) {
  const tbi_fit_recording *r = p->recording;
  int32_t all = tabi_signals_count(p->signals);
  for (int32_t k = 0; k < r->nsignal; ++k) {
    p->index[k] = TABI_NONE;
    for (int32_t i = 0; i < all && p->index[k] == TABI_NONE; ++i) {
      if (strcmp(tabi_signals_get(p->signals, i).name, r->signal[k].name) == 0) p->index[k] = i;
    }
    if (p->index[k] != TABI_NONE) continue;
    const char *near = tabi_signals_nearest(p->signals, r->signal[k].name);
    tbi_error_set(err, TABI_ERR_PARSE, r->place, "the scene has no signal '%.80s'%s%s%s",
                  r->signal[k].name, near ? "; did you mean '" : "", near ? near : "",
                  near ? "'?" : "");
    return false;
  }
  return true;
}

/* Only signals of the recording are evaluated. */
static bool want_signals(playing *p, tabi_error *err) {
  bool *wanted = calloc((size_t)tabi_signals_count(p->signals) + 1, sizeof *wanted);
  if (!wanted) return tbi_error_memory(err) == TABI_OK;
  for (int32_t k = 0; k < p->recording->nsignal; ++k)
    wanted[p->index[k]] = true;
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

static bool begin(const tabi_fit *fit, const double *z, playing *p, tabi_error *err) {
  const tbi_fit_recording *r = p->recording;
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
  p->index = calloc((size_t)r->nsignal + 1, sizeof *p->index);
  p->before = calloc((size_t)r->nsignal + 1, sizeof *p->before);
  p->value = calloc((size_t)tabi_signals_count(p->signals) + 1, sizeof *p->value);
  if (!p->index || !p->before || !p->value) return tbi_error_memory(err) == TABI_OK;
  return find_signals(p, err) && want_signals(p, err);
}

static void end(playing *p) {
  free(p->index);
  free(p->before);
  free(p->value);
  tabi_signals_destroy(p->signals);
  tabi_observer_destroy(p->observer);
  tabi_world_destroy(p->world);
  tabi_scene_destroy(p->scene);
}

/* Rows up to the present time, by straight lines between steps. */
static void take_rows(playing *p, double before, double now) {
  const tbi_fit_recording *r = p->recording;
  double scale = r->sigma > 0 ? 1 / r->sigma : 1;
  for (; p->row < r->nrow && r->time[p->row] <= now + 1e-12; ++p->row) {
    double share = now > before ? (r->time[p->row] - before) / (now - before) : 1;
    for (int32_t k = 0; k < r->nsignal; ++k) {
      double after = p->value[p->index[k]];
      double value = p->before[k] + fmin(1, fmax(0, share)) * (after - p->before[k]);
      double miss = scale * (value - r->signal[k].value[p->row]);
      p->to[(int64_t)k * r->nrow + p->row] = isfinite(miss) ? miss : FAR;
    }
  }
  for (int32_t k = 0; k < r->nsignal; ++k)
    p->before[k] = p->value[p->index[k]];
}

static void look(playing *p) {
  tabi_signals_eval(p->signals, tabi_observer_look(p->observer), p->value);
}

/* False: the scene ends before the recording. */
static bool play(playing *p) {
  const tbi_fit_recording *r = p->recording;
  double timestep = tabi_scene_world_def(p->scene).timestep;
  int64_t steps = (int64_t)round(tabi_scene_duration(p->scene) / timestep);
  look(p);
  take_rows(p, 0, 0);
  for (int64_t i = 0; i < steps && p->row < r->nrow; ++i) {
    double before = tabi_world_time(p->world);
    tabi_scene_control(p->scene, p->world);
    tabi_status status = tabi_world_step_or_grow(p->world, NULL);
    if (status != TABI_OK) {
      for (int32_t k = 0; k < r->nsignal; ++k) {
        for (int64_t row = p->row; row < r->nrow; ++row)
          p->to[(int64_t)k * r->nrow + row] = FAR;
      }
      return true;
    }
    look(p);
    take_rows(p, before, tabi_world_time(p->world));
  }
  return p->row == r->nrow;
}

/* -- all of them */

typedef struct batch {
  const tabi_fit *fit;
  const double *z;
  double *to;
} batch;

/* Task: a recording at a point. */
static tabi_status run_task(void *of, int64_t task, tabi_error *err) {
  const batch *b = of;
  int64_t point = task / b->fit->nrecording;
  const tbi_fit_recording *r = &b->fit->recording[task % b->fit->nrecording];
  playing p = {.recording = r, .to = b->to + point * b->fit->nresidual + r->first};
  tabi_error failed = {0};
  if (begin(b->fit, b->z + point * b->fit->study.nparameter, &p, &failed) && !play(&p)) {
    tbi_error_set(
        &failed, TABI_ERR_PARSE, r->place,
        "the recording lasts to %g s, the scene to %g s; give the scene a longer duration",
        r->time[r->nrow - 1], tabi_scene_duration(p.scene));
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
  tabi_status status = tbi_workers_run(run_task, &b, (int64_t)count * fit->nrecording, jobs, err);
  if (status != TABI_OK || !fit->huber) return status;
  for (int64_t i = 0; i < count * fit->nresidual; ++i)
    to[i] = huber(to[i]);
  return TABI_OK;
}

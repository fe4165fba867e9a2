/* tabi_study.h - studies: many runs of one scene over what is not known exactly.
 *
 * A study names a scene, parameters with their distributions, and measures of a run
 * (docs/studies.md):
 *
 *   tabi_study *study = tabi_study_load("slippery.yaml", NULL, &err);
 *   tabi_results *results = tabi_results_create("slippery.sqlite", study, &err);
 *   tabi_sweep(study, results, NULL, &err);
 *
 * A run follows from its number alone: any thread, process or machine may do it, and its row in the
 * results is the same but for the seconds it took.  Results are SQLite files that may be merged in
 * any order. */
#ifndef TABI_STUDY_H
#define TABI_STUDY_H

#include "tabi_record.h"

TABI_BEGIN

/* An estimate with its 95 % interval. */
typedef struct tabi_interval {
  double value, low, high;
} tabi_interval;

/* Of the probability behind `hits` of `count` yes (E. B. Wilson, 1927). */
TABI_API tabi_interval tabi_wilson_interval(int64_t hits, int64_t count);
/* Of the mean, by Student's t; infinitely wide for a single value. */
TABI_API tabi_interval tabi_mean_interval(const double *value, int64_t count);

/* -------------------------------------------------------------------------------- studies */

typedef struct tabi_study tabi_study;

/* def: how to load its scene; def->set is changed before the parameters.  NULL: the default. */
TABI_API tabi_study *tabi_study_load(const char *path, const tabi_scene_def *def, tabi_error *err);
/* The same from memory; `path` names it in messages, and the scene is looked for beside it. */
TABI_API tabi_study *tabi_study_load_text(const char *text, size_t size, const char *path,
                                          const tabi_scene_def *def, tabi_error *err);
TABI_API void tabi_study_destroy(tabi_study *study); /* NULL is fine */

/* With a rule `stop` this is the most. */
TABI_API int64_t tabi_study_nrun(const tabi_study *study);
/* Whether a rule may end it before.  Then its runs belong into one sweep, not into shards. */
TABI_API bool tabi_study_may_stop(const tabi_study *study);
TABI_API int32_t tabi_study_nparameter(const tabi_study *study);
TABI_API int32_t tabi_study_nmeasure(const tabi_study *study);
TABI_API const char *tabi_study_parameter_name(const tabi_study *study, int32_t parameter);
TABI_API const char *tabi_study_measure_name(const tabi_study *study, int32_t measure);
/* Whether a measure is yes or no, 1 or 0. */
TABI_API bool tabi_study_measure_is_boolean(const tabi_study *study, int32_t measure);

/* The value of a parameter in a run.  Of choices it is the number of the one chosen, from 0, and
 * tabi_study_choice gives its text; NULL for parameters that are numbers. */
TABI_API double tabi_study_value(const tabi_study *study, int64_t run, int32_t parameter);
TABI_API const char *tabi_study_choice(const tabi_study *study, int64_t run, int32_t parameter);
/* Of the random numbers of a run, as contact.seed of its scene. */
TABI_API int32_t tabi_study_seed(const tabi_study *study, int64_t run);

/* ----------------------------------------------------------------------------------- runs */

/* What steps runs. */
typedef enum tabi_engine {
  TABI_ENGINE_OF_STUDY, /* what the study says */
  TABI_ENGINE_WORLD,    /* each in a tabi_world of its own */
  TABI_ENGINE_BATCH,    /* some at once in lanes, tabi_batch.h */
} tabi_engine;
TABI_API const char *tabi_engine_name(tabi_engine engine); /* "world", "batch" */
/* What the study says. */
TABI_API tabi_engine tabi_study_engine(const tabi_study *study);
/* TABI_ERR_ARGUMENT and why if an engine cannot step its runs. */
TABI_API tabi_status tabi_study_check_engine(const tabi_study *study, tabi_engine engine,
                                             tabi_error *err);

typedef struct tabi_study_row {
  int64_t run;
  tabi_engine engine; /* what stepped it; before a run, what shall */
  const char *status; /* "ok", "diverged", or "failed": the scene refuses its parameters */
  char version[16];   /* of the tabi that did it, "1.2.3"; empty: this one */
  uint64_t hash;      /* of the final state */
  double seconds;     /* of wall time */
  double *measure;    /* [nmeasure]; NAN: it has none */
} tabi_study_row;

/* Does a run by row->engine and fills row->measure, which the caller provides, and the rest of the
 * row.  log: file for tabi_recorder, or NULL; lanes record motion without forces.  A run that
 * diverges is a result, and so is one whose parameters the scene refuses: TABI_OK, and err tells
 * which and why.  Several threads may do runs of one study. */
TABI_API tabi_status tabi_study_run(const tabi_study *study, int64_t run, const char *log,
                                    tabi_study_row *row, tabi_error *err);

/* -------------------------------------------------------------------------------- results */

typedef struct tabi_results tabi_results;

/* A new file, or one of the same study, which is then completed; another study's is refused. */
TABI_API tabi_results *tabi_results_create(const char *path, const tabi_study *study,
                                           tabi_error *err);
/* A file that is there, whose study is read from it. */
TABI_API tabi_results *tabi_results_open(const char *path, const tabi_scene_def *def,
                                         tabi_error *err);
TABI_API void tabi_results_close(tabi_results *results); /* NULL is fine */
TABI_API const tabi_study *tabi_results_study(const tabi_results *results);

/* What was added lasts when the process is killed. */
TABI_API tabi_status tabi_results_add(tabi_results *results, const tabi_study_row *row,
                                      tabi_error *err);
TABI_API bool tabi_results_has(const tabi_results *results, int64_t run);
TABI_API int64_t tabi_results_count(const tabi_results *results);
/* Takes over the rows of another file of the same study.  Rows that both have must be equal but for
 * their seconds. */
TABI_API tabi_status tabi_results_merge(tabi_results *results, const char *path, tabi_error *err);
/* The row of a run; false: it is not there.  row->measure is the caller's. */
TABI_API bool tabi_results_get(tabi_results *results, int64_t run, tabi_study_row *row);

/* A measure over all runs that have one: the probability, or the mean. */
typedef struct tabi_measure_summary {
  tabi_interval mean;
  int64_t count;    /* runs that have it */
  double deviation; /* standard deviation */
  double min, median, max;
  int64_t min_run, max_run;
} tabi_measure_summary;
TABI_API tabi_status tabi_results_summary(tabi_results *results, int32_t measure,
                                          tabi_measure_summary *summary, tabi_error *err);
/* How far a parameter decides a measure. */
typedef struct tabi_effect {
  double main;                /* share of the variance that it explains alone */
  tabi_interval first, total; /* Sobol' indices; NAN unless the sampling is saltelli */
} tabi_effect;
TABI_API tabi_status tabi_results_effect(tabi_results *results, int32_t parameter, int32_t measure,
                                         tabi_effect *effect, tabi_error *err);
/* The probability of a difference as large as that between two results of a measure, if both come
 * from one distribution. */
TABI_API tabi_status tabi_results_compare(tabi_results *results, tabi_results *other,
                                          int32_t measure, double *p, tabi_error *err);

/* --------------------------------------------------------------------------------- sweeps */

typedef struct tabi_sweep_def {
  uint32_t def_size;
  int32_t jobs;          /* threads; 0: one for each processor */
  tabi_engine engine;    /* what steps the runs */
  int64_t shard, shards; /* of every `shards` runs the one with this remainder */
  /* after every run, by one thread at a time; false: no further run begins */
  bool (*progress)(void *user, int64_t done, int64_t total);
  void *progress_user;
} tabi_sweep_def;
TABI_API tabi_sweep_def tabi_sweep_def_default(void);

/* Does all runs of the study that the results do not have.  With a rule `stop` it looks at the
 * interval after every 100 runs, so that the same runs are done whatever the number of threads.
 * def may be NULL. */
TABI_API tabi_status tabi_sweep(const tabi_study *study, tabi_results *results,
                                const tabi_sweep_def *def, tabi_error *err);

/* ------------------------------------------------------------------------ identification */

/* Parameters of a scene fitted to recordings of a real robot (docs/studies.md):
 *
 *   tabi_fit *fit = tabi_fit_load("bush.yaml", NULL, NULL, NULL, &err);
 *   tabi_fit_solve(fit, 0, &err);
 *   double stiffness = tabi_fit_get(fit, 0).value; */
typedef struct tabi_fit tabi_fit;

typedef struct tabi_fit_parameter {
  const char *name;
  double value;
  double error;      /* standard error */
  double low, high;  /* 95 % interval */
  bool identifiable; /* false: the data leave it nearly anywhere between its bounds */
  bool at_bound;     /* the data want it beyond one of its bounds */
} tabi_fit_parameter;

/* A column of a recording. */
typedef struct tabi_column {
  int64_t count;
  double *time, *value; /* s, rising; by malloc, and whoever asked for it frees */
} tabi_column;
/* Reads the column of that name. */
typedef tabi_status tabi_column_reader(void *user, const char *path, const char *name,
                                       tabi_column *column, tabi_error *err);
/* Recordings are CSV tables; those whose names end in .mcap, .h5 or .hdf5 are read by `reader`,
 * NULL: they are refused.  Columns of a recording are interpolated to the times of the first. */
TABI_API tabi_fit *tabi_fit_load(const char *path, const tabi_scene_def *def,
                                 tabi_column_reader *reader, void *user, tabi_error *err);
TABI_API void tabi_fit_destroy(tabi_fit *fit); /* NULL is fine */
/* Levenberg and Marquardt's method, derivatives by runs in parallel; jobs 0: one thread for each
 * processor. */
TABI_API tabi_status tabi_fit_solve(tabi_fit *fit, int32_t jobs, tabi_error *err);

TABI_API int32_t tabi_fit_nparameter(const tabi_fit *fit);
/* After tabi_fit_solve. */
TABI_API tabi_fit_parameter tabi_fit_get(const tabi_fit *fit, int32_t parameter);
TABI_API double tabi_fit_correlation(const tabi_fit *fit, int32_t a, int32_t b);
/* Root mean square of the residuals, in standard deviations of the noise where these are given. */
TABI_API double tabi_fit_rms(const tabi_fit *fit);
TABI_API bool tabi_fit_converged(const tabi_fit *fit);

/* The residuals of a signal of a recording over time, for plots; false: there is none such. */
typedef struct tabi_fit_curve {
  const char *file, *signal;
  const double *time, *measured, *residual; /* [count]; residual: simulated - measured, scaled */
  int64_t count;
} tabi_fit_curve;
TABI_API bool tabi_fit_get_curve(const tabi_fit *fit, int32_t curve, tabi_fit_curve *to);

TABI_END

#endif

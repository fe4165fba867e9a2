/* study.h - a study in memory, and the readers of its parts.
 *
 *   study.c         the file: scene, sampling, parameters, measures
 *   parameter.c     distributions: from a point of the unit cube to values of the scene
 *   sampling.h      which points the runs are
 *   measure.h       what is kept of a run
 *   run.h           one run in a world
 *   lanes.h         some runs at once in a batch
 *   results.c       rows in SQLite files
 *   analysis.c      what the rows tell
 *   statistics.h    in which way
 *   sweep.c         all runs, on all processors (workers.h)
 *   fit.h           parameters that make a scene move as recorded */
#ifndef TBI_STUDY_H
#define TBI_STUDY_H

#include "base/text.h"
#include "io/fields.h"
#include "study/measure.h"
#include "study/sampling.h"
#include "tabi/tabi_study.h"

#define TBI_STUDY_MAX_RUNS       100000000
#define TBI_STUDY_MAX_PARAMETERS 64
#define TBI_STUDY_MAX_MEASURES   64
#define TBI_STUDY_MAX_LEVELS     100000 /* of one parameter */

typedef enum tbi_distribution {
  TBI_DISTRIBUTION_UNIFORM, /* from, to */
  TBI_DISTRIBUTION_LOG,     /* from, to: uniform in the logarithm */
  TBI_DISTRIBUTION_NORMAL,  /* mean, standard deviation */
  TBI_DISTRIBUTION_CHOICES, /* texts, equally likely */
  TBI_DISTRIBUTION_GRID,    /* from, to, number of values */
  TBI_DISTRIBUTION_COUNT,
} tbi_distribution;

typedef struct tbi_parameter {
  const char *name;
  int32_t line;      /* of the study */
  const char **path; /* of the scene, all of which get the value: [npath] */
  int32_t npath;
  tbi_distribution distribution;
  double a, b;         /* its two numbers */
  int32_t levels;      /* of choices and grids; 0: a continuum */
  const char **choice; /* [levels], or NULL */
} tbi_parameter;

/* The study ends when the interval of a measure is this narrow; width 0: never before its runs. */
typedef struct tbi_stop {
  int32_t measure;
  double width;
} tbi_stop;

struct tabi_study {
  tbi_text_pool pool;
  const char *path;       /* of the study, whole */
  const char *text;       /* as read */
  const char *scene;      /* path of the scene, whole */
  const char *scene_text; /* as it was when the study began */
  size_t scene_size;
  tabi_scene_def def;         /* how to load scenes; its texts are in the pool */
  tabi_builder_cache *robots; /* of all runs */
  tbi_design design;
  tbi_parameter *parameter;
  int32_t *levels; /* of all parameters, for a grid */
  int32_t nparameter;
  tbi_measure *measure;
  int32_t nmeasure;
  tbi_stop stop;
  bool until_fall; /* a run ends when a robot lies */
  tabi_engine engine;
  uint64_t model; /* hash of the model of run 0: tells whether robots are as they were */
};

/* parameter.c */
bool tbi_parameter_read(tbi_first_error *error, tbi_text_pool *pool, const tbi_yaml_node *node,
                        tbi_parameter *parameter);
void tbi_parameter_free(tbi_parameter *parameter);
/* The value at a coordinate u in (0, 1); of choices their number. */
double tbi_parameter_value(const tbi_parameter *parameter, double u);
/* "path=value" of one of its paths; false: it does not fit. */
bool tbi_parameter_setting(const tbi_parameter *parameter, int32_t path, double value, char *text,
                           size_t size);

/* What studies and fits share: their text and path, how scenes are loaded; the scene's text. */
bool tbi_study_begin(tabi_study *study, tbi_first_error *error, const char *text, const char *path,
                     const tabi_scene_def *def);
bool tbi_study_find_scene(tabi_study *study, tbi_first_error *error, const tbi_yaml_node *node,
                          const char *scene);
void tbi_study_end(tabi_study *study);

/* run.c: the scene of a run, and that at given values of the parameters with further changes. */
tabi_scene *tbi_study_scene(const tabi_study *study, int64_t run, tabi_error *err);
tabi_scene *tbi_study_scene_at(const tabi_study *study, const double *value, const char **set,
                               int32_t nset, tabi_error *err);

#endif

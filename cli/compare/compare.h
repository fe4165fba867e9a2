/* compare.h - runs side by side, for `tabi compare`.
 *
 *   tbi_source ----samples----> tbi_run_metrics      metrics of one run
 *   a scene or a log     \---> tbi_reference    the first run, which the others are compared with
 *                                               |
 *                              tbi_compared ----+--> a table, JSON */
#ifndef TBI_COMPARE_H
#define TBI_COMPARE_H

#include "common/cli.h"
#include "tabi/tabi_record.h"

enum { TBI_MAX_RUNS = 12, TBI_RUN_NAME = 32 };
_Static_assert((int)TBI_MAX_RUNS >= (int)TABI_CONTACT_COUNT, "all contact methods can be compared");

/* ------------------------------------------------------------------------------- metrics */

typedef enum tbi_metric {
  TBI_FALL,
  TBI_FORCE_MEAN,
  TBI_FORCE_PEAK,
  TBI_FORCE_JUMP,
  TBI_CONTACT_PEAK,
  TBI_ZMP_ERROR,
  TBI_ZMP_NOISE,
  TBI_SLIP,
  TBI_SLIP_ENERGY,
  TBI_CREEP,
  TBI_PENETRATION,
  TBI_ENERGY_START,
  TBI_ENERGY_END,
  TBI_ENERGY_GAIN,
  TBI_GAP,
  TBI_GAP_99,
  TBI_COMPLEMENTARITY,
  TBI_COMPLEMENTARITY_99,
  TBI_CONE,
  TBI_CONE_99,
  TBI_DISSIPATION,
  TBI_DISSIPATION_99,
  TBI_STALLED,
  TBI_STEP_TIME,
  TBI_POSITION_ERROR,
  TBI_ANGLE_ERROR,
  TBI_NMETRIC
} tbi_metric;

typedef struct tbi_metric_row {
  const char *name;  /* in JSON and after --tolerance, in SI units */
  const char *label; /* in the table, with the unit that is used there */
  double scale;      /* from SI to that unit */
  bool differs;      /* a tolerance is about the difference from the reference, not the number */
} tbi_metric_row;

extern const tbi_metric_row tbi_metric_rows[TBI_NMETRIC];

/* ------------------------------------------------------------------------------- sources */

/* Where the samples of a run come from. */
typedef struct tbi_source {
  const char *path;
  tabi_scene *scene;
  tabi_recording *recording; /* NULL: the scene is run now */
  tabi_world *world;         /* of a scene that is run now */
  tabi_observer *observer;
  tabi_sample sample; /* of a log */
  tabi_contact_kind contact;
  tabi_integrator integrator;
  double timestep, spacing; /* s, of steps and of samples */
  int64_t next, count;      /* samples that were given, and all */
  double seconds;           /* of control and steps, of a run made now */
  tabi_error failure;       /* of a step; TABI_OK: there was none */
} tbi_source;

/* Both return an exit code and fill err.  tbi_source_close also after a failure.  A time above 0
 * ends a log early. */
int tbi_source_open_scene(tbi_source *source, const char *path, const tabi_scene_def *def,
                          tabi_error *err);
int tbi_source_open_log(tbi_source *source, const char *path, const tabi_scene_def *def,
                        double time, tabi_error *err);
void tbi_source_close(tbi_source *source);
/* Whether a file is a log, by its first bytes. */
bool tbi_source_is_log(const char *path);

/* The start, then every step or what the log holds; NULL after the last, and when a step fails or
 * (with err) a log cannot be read. */
const tabi_sample *tbi_source_next(tbi_source *source, tabi_error *err);
/* Whether the gait of contact method gait had ended after the last sample. */
bool tbi_source_gait_ended(tbi_source *source);

/* ------------------------------------------------------------------------------- metrics of a run
 */

/* Contact of one link, summed over a run. */
typedef struct tbi_link_metrics {
  int32_t link;
  double stick_time, slip_time; /* s */
  double creep, slip;           /* m, while it stuck and while it slipped */
  double energy;                /* J */
} tbi_link_metrics;

/* Metrics of a run, updated sample by sample. */
typedef struct tbi_run_metrics {
  const tabi_scene *scene;
  tabi_dynamics *dynamics;
  tabi_ledger *ledger;
  tabi_fall *fall;
  double (*residual)[4]; /* [capacity], of every sample: gap, complementarity, cone, dissipation */
  int64_t count, capacity;
  const tabi_sample_contact **contact; /* [contact_capacity], of a sample, in another order */
  int32_t contact_capacity;
  double (*zmp)[2][2];       /* of every robot: the two samples before */
  int32_t *zmp_known;        /* how many of them */
  double zmp_square;         /* m^2, sum */
  int64_t zmp_count;         /* of how many */
  double force_sum, force;   /* N; of the last sample */
  double energy;             /* J, lowest so far or at the start, without work */
  double first, last;        /* s */
  int64_t samples;           /* the first is the start */
  tbi_link_metrics *link;    /* at the end: those that touched anything */
  int32_t nlink;             /* of these */
  double value[TBI_NMETRIC]; /* SI; NaN: none */
} tbi_run_metrics;

bool tbi_run_metrics_begin(tbi_run_metrics *metrics, const tabi_scene *scene, tabi_error *err);
bool tbi_run_metrics_add(tbi_run_metrics *metrics, const tabi_sample *sample, tabi_error *err);
bool tbi_run_metrics_end(tbi_run_metrics *metrics, tabi_error *err);
void tbi_run_metrics_free(tbi_run_metrics *metrics);

/* ------------------------------------------------------------------------------ reference */

/* Runs whose difference in any coordinate exceeds this, m or rad, have diverged. */
#define TBI_DIVERGENCE 1e-3

/* A coordinate of a joint. */
typedef struct tbi_coordinate {
  int32_t joint, dof;
  bool turns; /* rad; otherwise m */
} tbi_coordinate;

/* The state over time of the first run. */
typedef struct tbi_reference {
  const tabi_scene *scene;
  int32_t nq, nv, nrobot;
  tbi_coordinate *coordinate; /* [nv] */
  double *time, *q;           /* [count], [count x nq] */
  double *zmp;                /* [count x nrobot x 2]; NaN: none */
  double *off;                /* [nv] */
  double spacing;             /* s between samples */
  int64_t count, capacity;
} tbi_reference;

/* Where a run first differs from the reference. */
typedef struct tbi_divergence {
  bool diverged;
  double time; /* s */
  int32_t dof; /* index in v */
  double off;  /* m or rad */
} tbi_divergence;

/* How far another run is from the reference. */
typedef struct tbi_deviation {
  double spacing;         /* s between its samples */
  int64_t at;             /* where in the reference it is looked for */
  int64_t pairs;          /* of samples at the same time */
  double until;           /* s, the last of them */
  double position, angle; /* m and rad, at most */
  double zmp_square;      /* m^2, sum */
  int64_t zmp_count;
  tbi_divergence divergence;
} tbi_deviation;

bool tbi_reference_begin(tbi_reference *reference, const tabi_scene *scene, double spacing);
bool tbi_reference_add(tbi_reference *reference, const tabi_sample *sample);
void tbi_reference_free(tbi_reference *reference);
/* Compares samples that are nearest in time, none twice. */
void tbi_reference_compare(tbi_reference *reference, tbi_deviation *deviation,
                           const tabi_sample *sample);
/* Whether another scene has the same joints; if not, says which differ. */
bool tbi_reference_fits(const tbi_reference *reference, const tabi_scene *scene, char *text,
                        size_t size);
/* The signal (docs/signals.md) of a coordinate. */
void tbi_reference_signal(const tbi_reference *reference, int32_t dof, char *text, size_t size);

/* -------------------------------------------------------------------------------- results */

typedef struct tbi_run {
  char name[TBI_RUN_NAME]; /* of its column */
  tbi_source source;
  tbi_run_metrics metrics;
  tbi_deviation deviation;
} tbi_run;

/* A method that cannot run the scene. */
typedef struct tbi_refusal {
  const char *name;
  tabi_error reason;
} tbi_refusal;

typedef struct tbi_tolerance {
  tbi_metric metric;
  double limit;
} tbi_tolerance;

typedef struct tbi_compared {
  tbi_run run[TBI_MAX_RUNS];
  int32_t nrun;
  bool methods; /* of one scene */
  tbi_refusal refusal[TABI_CONTACT_COUNT];
  int32_t nrefusal;
  tbi_tolerance tolerance[TBI_NMETRIC];
  int32_t ntolerance;
  tbi_reference reference;
} tbi_compared;

/* Reads "zmp_error=0.005,slip=0.001"; false after a usage error was printed. */
bool tbi_tolerances_parse(tbi_compared *compared, const char *text);
/* Whether a run is outside of a tolerance; what has no number is. */
bool tbi_compared_exceeds(const tbi_compared *compared, int32_t run,
                          const tbi_tolerance *tolerance);
bool tbi_compared_within(const tbi_compared *compared);

void tbi_compared_print(const tbi_compared *compared, FILE *out);
int tbi_compared_print_json(const tbi_compared *compared, const tbi_findings *warnings, FILE *out);

#endif

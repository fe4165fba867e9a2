/* compare.h - runs side by side, for `tabi compare`.
 *
 *   tbi_source ----samples----> tbi_account      what one run comes to
 *   a scene or a log     \---> tbi_reference    the first run, which the others are held against
 *                                               |
 *                              tbi_compared ----+--> a table, JSON */
#ifndef TBI_COMPARE_H
#define TBI_COMPARE_H

#include "common/cli.h"
#include "common/fall.h"
#include "tabi/tabi_record.h"

enum { TBI_MAX_RUNS = 8, TBI_RUN_NAME = 32 };

/* ------------------------------------------------------------------------------- figures */

typedef enum tbi_figure {
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
  TBI_NFIGURE
} tbi_figure;

typedef struct tbi_figure_row {
  const char *name;  /* in JSON and after --tolerance, in SI units */
  const char *label; /* in the table, with the unit that is used there */
  double scale;      /* from SI to that unit */
  bool differs;      /* a tolerance is about the difference from the reference, not the number */
} tbi_figure_row;

extern const tbi_figure_row tbi_figure_rows[TBI_NFIGURE];

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
/* Whether a file begins as logs do. */
bool tbi_source_is_log(const char *path);

/* The start, then every step or what the log holds; NULL after the last, and when a step fails or
 * (with err) a log cannot be read. */
const tabi_sample *tbi_source_next(tbi_source *source, tabi_error *err);
/* Whether a walk under contact method gait had ended after the last sample. */
bool tbi_source_over(tbi_source *source);

/* ------------------------------------------------------------------------------ accounts */

/* What the contacts of a link came to. */
typedef struct tbi_link_account {
  int32_t link;
  double stick_time, slip_time; /* s */
  double creep, slip;           /* m, while it stuck and while it slipped */
  double energy;                /* J */
} tbi_link_account;

/* A run, as its samples come. */
typedef struct tbi_account {
  const tabi_scene *scene;
  tabi_dynamics *dynamics;
  tabi_ledger *ledger;
  tbi_fall fall;
  double (*residual)[4]; /* [capacity], of every sample: gap, complementarity, cone, dissipation */
  int64_t count, capacity;
  const tabi_sample_contact **contact; /* [contact_capacity], of a sample, in another order */
  int32_t contact_capacity;
  double (*zmp)[2][2];       /* of every robot: the two samples before */
  int32_t *zmp_known;        /* how many of them */
  double zmp_square;         /* m^2, sum */
  int64_t zmp_count;         /* of how many */
  double force_sum, force;   /* N; of the last sample */
  double energy;             /* J, at the start, less the work before it */
  double first, last;        /* s */
  int64_t samples;           /* the first is the start */
  tbi_link_account *link;    /* at the end: those that touched anything */
  int32_t nlink;             /* of these */
  double value[TBI_NFIGURE]; /* SI; NaN: none */
} tbi_account;

bool tbi_account_begin(tbi_account *account, const tabi_scene *scene, tabi_error *err);
bool tbi_account_add(tbi_account *account, const tabi_sample *sample, tabi_error *err);
bool tbi_account_end(tbi_account *account, tabi_error *err);
void tbi_account_free(tbi_account *account);

/* ------------------------------------------------------------------------------ reference */

/* Farther apart than this in any coordinate, m or rad, and runs have parted. */
#define TBI_PARTED 1e-3

/* A coordinate of a joint. */
typedef struct tbi_place {
  int32_t joint, dof;
  bool turns; /* rad; otherwise m */
} tbi_place;

/* The state over time of the first run. */
typedef struct tbi_reference {
  const tabi_scene *scene;
  int32_t nq, nv, nrobot;
  tbi_place *place; /* [nv] */
  double *time, *q; /* [count], [count x nq] */
  double *zmp;      /* [count x nrobot x 2]; NaN: none */
  double *off;      /* [nv] */
  double spacing;   /* s between samples */
  int64_t count, capacity;
} tbi_reference;

/* When, where and by how much a run first left the reference. */
typedef struct tbi_parting {
  bool parted;
  double time; /* s */
  int32_t dof; /* index in v */
  double off;  /* m or rad */
} tbi_parting;

/* How far another run is from it. */
typedef struct tbi_distance {
  double spacing;         /* s between its samples */
  int64_t at;             /* where in the reference it is looked for */
  int64_t pairs;          /* of samples at the same time */
  double until;           /* s, the last of them */
  double position, angle; /* m and rad, at most */
  double zmp_square;      /* m^2, sum */
  int64_t zmp_count;
  tbi_parting parting;
} tbi_distance;

bool tbi_reference_begin(tbi_reference *reference, const tabi_scene *scene, double spacing);
bool tbi_reference_add(tbi_reference *reference, const tabi_sample *sample);
void tbi_reference_free(tbi_reference *reference);
/* Frames nearest in time are held against each other, none twice. */
void tbi_reference_compare(tbi_reference *reference, tbi_distance *distance,
                           const tabi_sample *sample);
/* Whether another scene has the same joints; if not, says which differ. */
bool tbi_reference_fits(const tbi_reference *reference, const tabi_scene *scene, char *text,
                        size_t size);
/* The signal (docs/signals.md) that a coordinate is seen by. */
void tbi_reference_signal(const tbi_reference *reference, int32_t dof, char *text, size_t size);

/* -------------------------------------------------------------------------------- results */

typedef struct tbi_run {
  char name[TBI_RUN_NAME]; /* of its column */
  tbi_source source;
  tbi_account account;
  tbi_distance distance;
} tbi_run;

/* A method that cannot have the scene. */
typedef struct tbi_refusal {
  const char *name;
  tabi_error reason;
} tbi_refusal;

typedef struct tbi_tolerance {
  tbi_figure figure;
  double limit;
} tbi_tolerance;

typedef struct tbi_compared {
  tbi_run run[TBI_MAX_RUNS];
  int32_t nrun;
  bool methods; /* of one scene */
  tbi_refusal refusal[TABI_CONTACT_COUNT];
  int32_t nrefusal;
  tbi_tolerance tolerance[TBI_NFIGURE];
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
int tbi_compared_print_json(const tbi_compared *compared, FILE *out);

#endif

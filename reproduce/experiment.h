/* experiment.h - an experiment of a paper, redone and judged.
 *
 * An experiment is one file with a `tbi_experiment` in it and one line in reproduce.c.  It runs its
 * simulations, writes what it logged and the paper's figure (series.h, figure.h, view.h), and
 * compares what it measured with what the paper shows. */
#ifndef TBI_EXPERIMENT_H
#define TBI_EXPERIMENT_H

#include "tabi/tabi.h"
#include "tabi/tabi_io.h"

enum { TBI_MAX_CRITERIA = 24, TBI_MAX_FILES = 8, TBI_PATH_SIZE = 1024 };

typedef struct tbi_criterion {
  char name[64], unit[16];
  char expected[48];
  double number;     /* measured */
  char measured[48]; /* the same as text, or what is no number */
  bool is_number, pass;
} tbi_criterion;

struct tbi_experiment;

/* One run of an experiment. */
typedef struct tbi_trial {
  const struct tbi_experiment *experiment;
  bool quick;         /* shorter, with the same criteria */
  const char *folder; /* that files are written to */
  int32_t ncriterion;
  tbi_criterion criterion[TBI_MAX_CRITERIA];
  int32_t nfile;
  char file[TBI_MAX_FILES][TBI_PATH_SIZE]; /* written */
  bool no_gnuplot;                         /* a figure could not be drawn for want of it */
  double seconds;                          /* that it took */
} tbi_trial;

typedef struct tbi_experiment {
  const char *id;    /* "p1/cost" */
  const char *paper; /* "P1, Fig. 8" */
  const char *shows; /* what the paper shows, a sentence */
  tabi_status (*run)(tbi_trial *trial, tabi_error *err);
} tbi_experiment;

extern const tbi_experiment *const tbi_experiments[];
extern const int32_t tbi_nexperiment;

/* ------------------------------------------------------------------------------ criteria */

/* low <= measured <= high */
void tbi_judge_within(tbi_trial *trial, const char *name, const char *unit, double measured,
                      double low, double high);
void tbi_judge_below(tbi_trial *trial, const char *name, const char *unit, double measured,
                     double limit);
void tbi_judge_above(tbi_trial *trial, const char *name, const char *unit, double measured,
                     double limit);
/* What is a word, not a number. */
void tbi_judge_word(tbi_trial *trial, const char *name, const char *expected, const char *measured,
                    bool pass);
bool tbi_trial_passes(const tbi_trial *trial);

/* A word on a terminal about what is done now; "" takes it away. */
void tbi_trial_progress(const tbi_trial *trial, const char *what);

/* The file of the trial with an ending, "DIR/p1-cost.svg", noted as written. */
const char *tbi_trial_file(tbi_trial *trial, const char *ending);

/* -------------------------------------------------------------------------------- stages */

/* Where scenes and models are: installed beside the command, or in the sources it was built from;
 * name as in "scenes/stack.yaml". */
void tbi_shipped_path(const char *name, char path[TBI_PATH_SIZE]);

/* A scene and a world in its start, or a world with a model of its own. */
typedef struct tbi_stage {
  tabi_scene *scene; /* NULL: none */
  tabi_model *own;   /* NULL: the scene's */
  const tabi_model *model;
  tabi_world *world;
  double timestep;
} tbi_stage;

/* A scene of the folder scenes/, with changes, the last of which is NULL; `set` itself may be NULL.
 * tbi_stage_close also after a failure. */
tabi_status tbi_stage_open(tbi_stage *stage, const char *name, const char *const *set,
                           tabi_error *err);
/* The same with a model, which the stage then owns, in its start. */
tabi_status tbi_stage_open_model(tbi_stage *stage, tabi_model *model, const tabi_world_def *def,
                                 tabi_error *err);
void tbi_stage_close(tbi_stage *stage);
/* Controllers, forces and a step. */
tabi_status tbi_stage_step(tbi_stage *stage, tabi_error *err);
double tbi_stage_time(const tbi_stage *stage);
/* A link by name; the scene must have it. */
int32_t tbi_stage_link(const tbi_stage *stage, const char *name);
int32_t tbi_stage_joint(const tbi_stage *stage, const char *name);

/* Kinetic, potential and spring energy without the work that was done, J. */
double tbi_stage_energy(tbi_stage *stage);
/* The deepest overlap at the start of the last step, m. */
double tbi_stage_depth(const tbi_stage *stage);
/* Force on the link in the last step, world axes, and its moment about a point; link TABI_WORLD: on
 * everything that moves, from what stands still. */
void tbi_stage_contact_force(const tbi_stage *stage, int32_t link, const double about[3],
                             double force[3], double moment[3]);

#endif

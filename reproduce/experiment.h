/* experiment.h - an experiment of a paper, repeated and checked against what the paper shows.
 *
 * An experiment is one file with a `tbi_experiment` in it and one line in reproduce.c.  It runs its
 * simulations under the published algorithm and under tabi's own, writes what it logged and the
 * paper's figure (series.h, figure.h, outline.h), and compares what it measured with what the paper
 * shows. */
#ifndef TBI_EXPERIMENT_H
#define TBI_EXPERIMENT_H

#include "tabi/tabi.h"
#include "tabi/tabi_io.h"

enum { TBI_MAX_CRITERIA = 72, TBI_MAX_FILES = 8, TBI_PATH_SIZE = 1024 };

/* Whose algorithm a criterion judges: tabi's, or the paper's with its integrator, time step and
 * number of iterations. */
typedef enum tbi_variant { TBI_OURS, TBI_PUBLISHED, TBI_VARIANTS } tbi_variant;

typedef enum tbi_verdict {
  TBI_PASS,
  TBI_DIFFERS, /* what the paper says is not what happens here; the reason is known */
  TBI_FAIL,
} tbi_verdict;

typedef struct tbi_criterion {
  char name[64], unit[16];
  char expected[48];
  double number;     /* measured */
  char measured[48]; /* the same as text, or what is no number */
  bool is_number;
  tbi_variant variant;
  tbi_verdict verdict;
  const char *reason; /* of TBI_DIFFERS */
} tbi_criterion;

struct tbi_experiment;

/* One run of an experiment. */
typedef struct tbi_trial {
  const struct tbi_experiment *experiment;
  bool quick;          /* shorter, with the same criteria */
  const char *method;  /* contact method, put behind the names of criteria; NULL: nothing */
  tbi_variant variant; /* whose algorithm the next criteria judge */
  const char *reason[TBI_VARIANTS]; /* see tbi_may_differ */
  const char *folder;               /* that files are written to */
  int32_t ncriterion;
  tbi_criterion criterion[TBI_MAX_CRITERIA];
  int32_t nfile;
  char file[TBI_MAX_FILES][TBI_PATH_SIZE]; /* written */
  bool no_gnuplot;                         /* a figure could not be drawn: no gnuplot */
  double seconds;                          /* that it took */
} tbi_trial;

typedef struct tbi_experiment {
  const char *id;            /* "p1/cost" */
  const char *paper;         /* "P1, Fig. 8" */
  const char *shows;         /* what the paper shows, a sentence */
  const char *reconstructed; /* what the paper does not print and was chosen here; NULL: nothing */
  tabi_status (*run)(tbi_trial *trial, tabi_error *err);
  tabi_contact_kind contact; /* where several papers share `run`: the method of this one */
  bool own;                  /* not in the paper: no reproduction */
} tbi_experiment;

extern const tbi_experiment *const tbi_experiments[];
extern const int32_t tbi_nexperiment;

/* ------------------------------------------------------------------------------ criteria */

/* How many times as fast a core of today is taken to be as a Pentium III of 1 GHz or a Pentium 4 of
 * 1.8 GHz (P2, P5): three times the clock and as many times the work per cycle; and as a Pentium D
 * of 3.2 GHz (P1, P4). */
enum { TBI_CORE_TO_PENTIUM_4 = 10, TBI_CORE_TO_PENTIUM_D = 5 };

/* Criteria with the same name in both variants are printed side by side.  One that is not met fails
 * the experiment, unless trial->reason of its variant says why that differs from the paper. */

/* Why the next criteria may be missed by the published algorithm and by ours; NULL: they must not.
 * Ours may miss what the paper claims, no criterion of our own. */
void tbi_may_differ(tbi_trial *trial, const char *published, const char *ours);

/* low <= measured <= high */
void tbi_expect_within(tbi_trial *trial, const char *name, const char *unit, double measured,
                       double low, double high);
void tbi_expect_below(tbi_trial *trial, const char *name, const char *unit, double measured,
                      double limit);
void tbi_expect_above(tbi_trial *trial, const char *name, const char *unit, double measured,
                      double limit);
/* A result that is a word, not a number. */
void tbi_expect_word(tbi_trial *trial, const char *name, const char *expected, const char *measured,
                     bool pass);
/* Whether no criterion has failed; how many differ. */
bool tbi_trial_passes(const tbi_trial *trial);
int32_t tbi_trial_differs(const tbi_trial *trial);

/* Shows on a terminal what is done now; "" clears the line. */
void tbi_trial_progress(const tbi_trial *trial, const char *what);

/* The file of the trial with an ending, "DIR/p1-cost.svg", noted as written. */
const char *tbi_trial_file(tbi_trial *trial, const char *ending);

/* Where scenes and models are: installed beside the command, or in the sources it was built from;
 * name as in "scenes/stack.yaml". */
void tbi_shipped_path(const char *name, char path[TBI_PATH_SIZE]);

#endif

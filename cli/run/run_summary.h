/* run_summary.h - the summary that `tabi run` prints: sums and extremes over all steps. */
#ifndef TBI_RUN_SUMMARY_H
#define TBI_RUN_SUMMARY_H

#include "common/cli.h"
#include "run/gait_summary.h"
#include "run/run_checks.h"
#include "run/slip_ledger.h"

typedef struct tbi_run_summary {
  const tabi_scene *scene;
  tabi_world *world;
  int64_t steps;
  double from;    /* s, time of the first step; 0 except for resumed runs */
  double seconds; /* s of wall time for control and steps */
  double contacts, iterations;
  int32_t contacts_max;
  tabi_certificate worst;          /* largest residuals, each over all steps */
  int64_t stalled;                 /* steps that did not reach the tolerance */
  int64_t fallbacks;               /* steps in which the fallback took over */
  int64_t energy_limited;          /* steps in which impulse limited energy */
  int64_t too_large;               /* steps with islands too large for the fallback */
  double energy_start, energy_end; /* J */
  tabi_run_checks checks;
  double loop_gap, loop_turn; /* m and rad, of connections */
  double loop_missed;         /* m/s or rad/s, of contradicting connections */
  tbi_gait_summary gait;
  tabi_observer *observer;
  const tabi_sample *sample; /* of the last step */
  tbi_slip_ledger slip_ledger;
  tabi_fall *fall;
} tbi_run_summary;

/* The world is in its initial state. */
tabi_status tbi_run_summary_begin(tbi_run_summary *summary, const tabi_scene *scene,
                                  tabi_world *world, tabi_error *err);
void tbi_run_summary_free(tbi_run_summary *summary);
/* After every step. */
void tbi_run_summary_step(tbi_run_summary *summary);

/* Whether a robot has fallen or its gait has ended. */
bool tbi_run_summary_fell(const tbi_run_summary *summary);

/* After the last step: what there is to say about it.  Those with status TABI_OK are notes, the
 * others warnings. */
void tbi_run_summary_find(tbi_run_summary *summary, const char *path, tbi_findings *findings);

void tbi_run_summary_print(const tbi_run_summary *summary, FILE *out);
/* loaded, found: the warnings of the scene and of the run */
int tbi_run_summary_print_json(const tbi_run_summary *summary, const char *path,
                               const tbi_findings *loaded, const tbi_findings *found, FILE *out);

/* Connections (connection_summary.c): after every step; at the end. */
void tbi_connection_summary_step(tbi_run_summary *summary);
void tbi_connection_summary_print(const tbi_run_summary *summary, FILE *out);
json_t *tbi_connection_summary_json(const tbi_run_summary *summary);
void tbi_connection_summary_find(const tbi_run_summary *summary, tbi_findings *findings);

#endif

/* reproduce.c - the table of experiments, and the run of one. */
#include "reproduce.h"

#include "series.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

extern const tbi_experiment tbi_p1_cone_vs_pyramid, tbi_p1_bush_oscillation, tbi_p1_cost,
    tbi_p4_slope, tbi_p4_closed_link, tbi_p4_cost;

const tbi_experiment *const tbi_experiments[] = {
    &tbi_p1_cone_vs_pyramid, &tbi_p1_bush_oscillation, &tbi_p1_cost,
    &tbi_p4_slope,           &tbi_p4_closed_link,      &tbi_p4_cost,
};
const int32_t tbi_nexperiment = sizeof tbi_experiments / sizeof tbi_experiments[0];

const tbi_experiment *tbi_experiment_find(const char *id) {
  for (int32_t i = 0; i < tbi_nexperiment; i++)
    if (strcmp(tbi_experiments[i]->id, id) == 0) return tbi_experiments[i];
  return NULL;
}

static double now(void) {
  struct timespec t;
  (void)clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

tabi_status tbi_trial_run(tbi_trial *trial, tabi_error *err) {
  if (mkdir(trial->folder, 0777) != 0 && errno != EEXIST) {
    return tbi_cannot_write(trial->folder, err);
  }
  double begun = now();
  tbi_trial_progress(trial, "running");
  tabi_status status = trial->experiment->run(trial, err);
  tbi_trial_progress(trial, "");
  trial->seconds = now() - begun;
  if (status != TABI_ERR_DIVERGED) return status;
  tbi_judge_word(trial, "runs to its end", "yes", err->message, false);
  return TABI_OK;
}

/* reproduce.c - the table of experiments, and the run of one. */
#include "reproduce.h"

#include "series.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

/* one line for each, here and in the table */
extern const tbi_experiment tbi_p1_cone_vs_pyramid;
extern const tbi_experiment tbi_p1_bush_oscillation;
extern const tbi_experiment tbi_p1_stepping;
extern const tbi_experiment tbi_p1_walk;
extern const tbi_experiment tbi_p1_push;
extern const tbi_experiment tbi_p1_cost;
extern const tbi_experiment tbi_p2_box_drop;
extern const tbi_experiment tbi_p2_figure_walk;
extern const tbi_experiment tbi_p3_walk;
extern const tbi_experiment tbi_p4_slope;
extern const tbi_experiment tbi_p4_anisotropy;
extern const tbi_experiment tbi_p4_closed_link;
extern const tbi_experiment tbi_p4_stepping;
extern const tbi_experiment tbi_p4_fall;
extern const tbi_experiment tbi_p4_cost;
extern const tbi_experiment tbi_p5_walk;
extern const tbi_experiment tbi_p5_fall;
extern const tbi_experiment tbi_p5_jump;
extern const tbi_experiment tbi_p5_restitution;
extern const tbi_experiment tbi_p5_stick_slip;
extern const tbi_experiment tbi_p5_energy;

const tbi_experiment *const tbi_experiments[] = {
    &tbi_p1_cone_vs_pyramid,  // Figs. 1, 2
    &tbi_p1_bush_oscillation, // Fig. 5
    &tbi_p1_stepping,         // Figs. 6, 7
    &tbi_p1_walk,             // three runs
    &tbi_p1_push,             // of our own
    &tbi_p1_cost,             // Fig. 8
    &tbi_p2_box_drop,         // Table 1, Fig. 2
    &tbi_p2_figure_walk,      // Fig. 3
    &tbi_p3_walk,             // Figs. 4 to 9
    &tbi_p4_slope,            // Fig. 2
    &tbi_p4_anisotropy,       // (20), (21)
    &tbi_p4_closed_link,      // Fig. 3
    &tbi_p4_stepping,         // Fig. 4
    &tbi_p4_fall,             // Fig. 6
    &tbi_p4_cost,             // Fig. 7
    &tbi_p5_walk,             // Fig. 4
    &tbi_p5_fall,             // Fig. 5
    &tbi_p5_jump,             // Fig. 6
    &tbi_p5_restitution,      // Fig. 1
    &tbi_p5_stick_slip,       // equations (25) to (28)
    &tbi_p5_energy,           // of our own
};
const int32_t tbi_nexperiment = sizeof tbi_experiments / sizeof tbi_experiments[0];

const tbi_experiment *tbi_experiment_find(const char *id) {
  for (int32_t i = 0; i < tbi_nexperiment; ++i)
    if (strcmp(tbi_experiments[i]->id, id) == 0) return tbi_experiments[i];
  return NULL;
}

static double now(void) {
  struct timespec t;
  (void)clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static bool make_folder(const char *path) {
  struct stat there;
  if (mkdir(path, 0777) == 0) return true;
  if (errno != EEXIST) return false;
  if (stat(path, &there) == 0 && S_ISDIR(there.st_mode)) return true;
  errno = ENOTDIR;
  return false;
}

tabi_status tbi_trial_run(tbi_trial *trial, tabi_error *err) {
  if (!make_folder(trial->folder)) return tbi_cannot_write(trial->folder, err);
  double begun = now();
  tbi_trial_progress(trial, "running");
  tabi_status status = trial->experiment->run(trial, err);
  tbi_trial_progress(trial, "");
  trial->seconds = now() - begun;
  if (status != TABI_ERR_DIVERGED) return status;
  tbi_expect_word(trial, "runs to its end", "yes", err->message, false);
  return TABI_OK;
}

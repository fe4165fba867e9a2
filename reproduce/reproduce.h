/* reproduce.h - the experiments that were asked for, one after another. */
#ifndef TBI_REPRODUCE_H
#define TBI_REPRODUCE_H

#include "experiment.h"

/* The experiment with an id, or NULL. */
const tbi_experiment *tbi_experiment_find(const char *id);

/* Runs an experiment; the trial has it and its options set.  A simulation that diverges is a
 * criterion that was not met; other errors are reported. */
tabi_status tbi_trial_run(tbi_trial *trial, tabi_error *err);

#endif

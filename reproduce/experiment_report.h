/* experiment_report.h - results of experiments as text or as JSON. */
#ifndef TBI_EXPERIMENT_REPORT_H
#define TBI_EXPERIMENT_REPORT_H

#include "experiment.h"

#include <jansson.h>
#include <stdio.h>

/* One experiment: what the paper shows, criterion by criterion, and the files. */
void tbi_print_trial(const tbi_trial *trial, FILE *out);
/* A line for each experiment. */
void tbi_print_summary(const tbi_trial *trials, int32_t count, FILE *out);
/* {"experiments": [...]}, or NULL without memory. */
json_t *tbi_json_trials(const tbi_trial *trials, int32_t count);

#endif

/* signal_outputs.c - see signal_outputs.h. */
#include "run/signal_outputs.h"

#include <stdlib.h>

bool tbi_signal_outputs_open(tbi_signal_outputs *outputs, const tbi_run_summary *summary,
                             const char *csv, const char *plot, int64_t steps) {
  *outputs = (tbi_signal_outputs){.summary = summary};
  tabi_observer_skip_balance(summary->observer, !csv && !plot);
  outputs->signals = tabi_signals_create(summary->scene, NULL);
  if (outputs->signals)
    outputs->value = calloc((size_t)tabi_signals_count(outputs->signals), sizeof *outputs->value);
  if (!outputs->value) {
    (void)tbi_out_of_memory();
    return false;
  }
  if (!tbi_run_plot_open(&outputs->plot, plot, summary, outputs->signals, steps) ||
      !tbi_csv_log_open(&outputs->log, csv, summary->scene, summary->world, outputs->signals)) {
    return false;
  }
  if (!outputs->plot.path) return true;
  tabi_signals_eval(outputs->signals, tabi_observer_look(summary->observer), outputs->value);
  tbi_run_plot_step(&outputs->plot, outputs->value);
  return true;
}

void tbi_signal_outputs_spark(tbi_signal_outputs *outputs, int64_t steps) {
  tabi_observer_skip_balance(outputs->summary->observer, false);
  tbi_sparks_begin(&outputs->sparks, outputs->signals, steps);
}

void tbi_signal_outputs_step(tbi_signal_outputs *outputs) {
  bool row = tbi_csv_log_due(&outputs->log);
  if (!row && !outputs->plot.path && !outputs->sparks.wanted) return;
  tabi_signals_eval(outputs->signals, outputs->summary->sample, outputs->value);
  if (row) tbi_csv_log_row(&outputs->log, outputs->value);
  if (outputs->plot.path) tbi_run_plot_step(&outputs->plot, outputs->value);
  tbi_sparks_step(&outputs->sparks, outputs->value);
}

bool tbi_signal_outputs_close(tbi_signal_outputs *outputs, bool draw) {
  bool fine = tbi_csv_log_close(&outputs->log);
  fine &= tbi_run_plot_close(&outputs->plot, draw);
  tabi_signals_destroy(outputs->signals);
  free(outputs->value);
  outputs->signals = NULL;
  outputs->value = NULL;
  return fine;
}

/* gauges.c - see gauges.h. */
#include "run/gauges.h"

#include <stdlib.h>

bool tbi_gauges_open(tbi_gauges *gauges, const tbi_tally *tally, const char *csv, const char *plot,
                     int64_t steps) {
  *gauges = (tbi_gauges){.tally = tally};
  tabi_observer_skip_balance(tally->observer, !csv && !plot);
  gauges->signals = tabi_signals_create(tally->scene, NULL);
  if (gauges->signals)
    gauges->value = calloc((size_t)tabi_signals_count(gauges->signals), sizeof *gauges->value);
  if (!gauges->value) {
    (void)tbi_out_of_memory();
    return false;
  }
  if (!tbi_run_plot_open(&gauges->plot, plot, tally, gauges->signals, steps) ||
      !tbi_log_open(&gauges->log, csv, tally->scene, tally->world, gauges->signals)) {
    return false;
  }
  if (!gauges->plot.path) return true;
  tabi_signals_eval(gauges->signals, tabi_observer_look(tally->observer), gauges->value);
  tbi_run_plot_step(&gauges->plot, gauges->value);
  return true;
}

void tbi_gauges_spark(tbi_gauges *gauges, int64_t steps) {
  tabi_observer_skip_balance(gauges->tally->observer, false);
  tbi_sparks_begin(&gauges->sparks, gauges->signals, steps);
}

void tbi_gauges_step(tbi_gauges *gauges) {
  bool row = tbi_log_due(&gauges->log);
  if (!row && !gauges->plot.path && !gauges->sparks.wanted) return;
  tabi_signals_eval(gauges->signals, gauges->tally->sample, gauges->value);
  if (row) tbi_log_row(&gauges->log, gauges->value);
  if (gauges->plot.path) tbi_run_plot_step(&gauges->plot, gauges->value);
  tbi_sparks_step(&gauges->sparks, gauges->value);
}

bool tbi_gauges_close(tbi_gauges *gauges, bool draw) {
  bool fine = tbi_log_close(&gauges->log);
  fine &= tbi_run_plot_close(&gauges->plot, draw);
  tabi_signals_destroy(gauges->signals);
  free(gauges->value);
  gauges->signals = NULL;
  gauges->value = NULL;
  return fine;
}

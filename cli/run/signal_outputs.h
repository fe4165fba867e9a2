/* signal_outputs.h - signals of a run for the CSV file, the plot and the sparklines: evaluated once
 * for all of them, and not at all if none is wanted. */
#ifndef TBI_SIGNAL_OUTPUTS_H
#define TBI_SIGNAL_OUTPUTS_H

#include "plot/sparkline.h"
#include "run/csv_log.h"
#include "run/run_plot.h"

typedef struct tbi_signal_outputs {
  const tbi_run_summary *summary;
  tabi_signals *signals;
  double *value; /* of all signals */
  tbi_csv_log log;
  tbi_run_plot plot;
  tbi_sparks sparks;
} tbi_signal_outputs;

/* For a run of so many steps from the present time on; paths may be NULL.  Prints what is wrong. */
bool tbi_signal_outputs_open(tbi_signal_outputs *outputs, const tbi_run_summary *summary,
                             const char *csv, const char *plot, int64_t steps);
/* Sparklines are wanted. */
void tbi_signal_outputs_spark(tbi_signal_outputs *outputs, int64_t steps);
/* After every step of the summary. */
void tbi_signal_outputs_step(tbi_signal_outputs *outputs);
/* Draws when all went well so far; prints what is wrong.  Sparklines stay until they are printed.
 */
bool tbi_signal_outputs_close(tbi_signal_outputs *outputs, bool draw);

#endif

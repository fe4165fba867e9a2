/* gauges.h - signals of a world while it runs: the CSV file, the figure, and lines in the terminal.
 * They are evaluated once for all, and not at all when nobody asks. */
#ifndef TBI_GAUGES_H
#define TBI_GAUGES_H

#include "plot/sparkline.h"
#include "run/log.h"
#include "run/run_plot.h"

typedef struct tbi_gauges {
  const tbi_tally *tally;
  tabi_signals *signals;
  double *value; /* of all signals */
  tbi_log log;
  tbi_run_plot plot;
  tbi_sparks sparks;
} tbi_gauges;

/* For a run of so many steps from the present time on; paths may be NULL.  Prints what is wrong. */
bool tbi_gauges_open(tbi_gauges *gauges, const tbi_tally *tally, const char *csv, const char *plot,
                     int64_t steps);
/* Lines in the terminal are wanted. */
void tbi_gauges_spark(tbi_gauges *gauges, int64_t steps);
/* After every step of the tally. */
void tbi_gauges_step(tbi_gauges *gauges);
/* Draws when all went well so far; prints what is wrong.  What the terminal shall show stays. */
bool tbi_gauges_close(tbi_gauges *gauges, bool draw);

#endif

/* sweep_report.h - one HTML page about a study, with replays of its extreme runs beside it. */
#ifndef TBI_SWEEP_REPORT_H
#define TBI_SWEEP_REPORT_H

#include "sweep/sweep_summary.h"

/* False after an error was printed. */
bool tbi_sweep_report_write(const tbi_sweep_summary *summary, const char *path);

#endif

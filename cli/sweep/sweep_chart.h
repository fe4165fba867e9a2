/* sweep_chart.h - charts of a study as SVG inside a page. */
#ifndef TBI_SWEEP_CHART_H
#define TBI_SWEEP_CHART_H

#include "sweep/sweep_table.h"

/* The mean of a measure, or its probability, over a parameter, with its 95 % interval: runs in
 * groups of equal size. */
void tbi_chart_response(const tbi_sweep_table *table, int32_t parameter, int32_t measure,
                        FILE *out);
/* The same over two parameters, as colours. */
void tbi_chart_map(const tbi_sweep_table *table, int32_t across, int32_t up, int32_t measure,
                   FILE *out);
/* A bar from 0 to 1 with its interval; NAN: none. */
void tbi_chart_share(double value, double low, double high, FILE *out);

#endif

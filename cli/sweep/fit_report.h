/* fit_report.h - the result of a fit as text, JSON and one HTML page. */
#ifndef TBI_FIT_REPORT_H
#define TBI_FIT_REPORT_H

#include "common/cli.h"
#include "tabi/tabi_study.h"

void tbi_fit_print(const tabi_fit *fit, FILE *out);
/* {parameters, correlation, residual, not_identifiable, converged}; NULL: out of memory */
json_t *tbi_fit_json(const tabi_fit *fit);
/* False after an error was printed. */
bool tbi_fit_write_page(const tabi_fit *fit, const char *title, const char *path);

#endif

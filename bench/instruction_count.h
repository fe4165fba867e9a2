/* instruction_count.h - instructions where the processor does not count them: one step at a time.
 */
#ifndef TBI_BENCH_INSTRUCTION_COUNT_H
#define TBI_BENCH_INSTRUCTION_COUNT_H

#include "measure.h"

/* Instructions for one call of a measured subject, or NAN on processors other than x86-64 and where
 * the call is so long that counting would take minutes. */
double tbi_count_instructions(const tbi_subject *subject);

#endif

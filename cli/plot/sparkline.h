/* sparkline.h - key signals of a run as lines of characters:
 *
 *     force         ▁▇▆▆▆▆▅▅▅▅▅▅▅▅▅▅▅▅▅▅▅▅▅▅  0 to 613 N */
#ifndef TBI_SPARKLINE_H
#define TBI_SPARKLINE_H

#include "tabi/tabi_record.h"

#include <stdio.h>

enum { TBI_SPARK_CELLS = 48, TBI_SPARK_LINES = 3 };

typedef struct tbi_spark {
  const char *name;
  int32_t signal[2];            /* the larger of both; TABI_NONE: there is none */
  const char *unit;             /* NULL: the line is left out */
  bool logarithmic;             /* and zero is left out */
  double least, most;           /* of all; NaN: none yet */
  double cell[TBI_SPARK_CELLS]; /* the largest of each part of the time, or NaN */
} tbi_spark;

typedef struct tbi_sparks {
  bool wanted;
  int64_t steps, at;
  tbi_spark line[TBI_SPARK_LINES];
} tbi_sparks;

/* Whether stdout shows them: a terminal, with letters in UTF-8. */
bool tbi_sparks_possible(void);
/* For so many steps. */
void tbi_sparks_begin(tbi_sparks *sparks, const tabi_signals *signals, int64_t steps);
/* After every step; the values of all signals. */
void tbi_sparks_step(tbi_sparks *sparks, const double *value);
void tbi_sparks_print(const tbi_sparks *sparks, FILE *out);

#endif

/* march_watch.h - looks at a march after every step. */
#ifndef TBI_MARCH_WATCH_H
#define TBI_MARCH_WATCH_H

#include "march.h"

void tbi_march_watch_start(tbi_march *march);
void tbi_march_watch(tbi_march *march);
/* A row of tbi_march_columns. */
void tbi_march_note(tbi_march *march, tbi_series *series);

#endif

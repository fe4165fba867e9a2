/* march_watch.h - looks at a march after every step. */
#ifndef TBI_MARCH_WATCH_H
#define TBI_MARCH_WATCH_H

#include "march.h"

void tbi_march_watch_start(tbi_march *march);
void tbi_march_watch(tbi_march *march);

#endif

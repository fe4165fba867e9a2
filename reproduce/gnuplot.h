/* gnuplot.h - figures are drawn by gnuplot, a program of its own. */
#ifndef TBI_GNUPLOT_H
#define TBI_GNUPLOT_H

#include <stdbool.h>
#include <stdio.h>

/* Whether it can be started. */
bool tbi_gnuplot_found(void);
/* Has it read a script from its beginning; what it draws goes to a file. */
bool tbi_gnuplot_draw(FILE *script, const char *path);
/* Text in single quotes for gnuplot: quotes are doubled, nothing else means anything. */
void tbi_gnuplot_quote(FILE *script, const char *text);

#endif

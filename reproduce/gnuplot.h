/* gnuplot.h - figures are drawn by gnuplot, a program of its own. */
#ifndef TBI_GNUPLOT_H
#define TBI_GNUPLOT_H

#include <stdbool.h>
#include <stdio.h>

/* Whether it can be started. */
bool tbi_gnuplot_found(void);
/* Has it read a script from its beginning; what it draws goes to a file.  errno is ENXIO where the
 * file is a pipe that nobody reads. */
bool tbi_gnuplot_draw(FILE *script, const char *path);
/* The first commands of every figure: what kind of file a path asks for by its ending (svg, png,
 * pdf), so many pixels of a screen large, and the style that all figures share.  False: another
 * ending; nothing is written. */
bool tbi_gnuplot_begin(FILE *script, const char *path, int width, int height);
enum { TBI_GNUPLOT_COLOURS = 8 }; /* linetypes of that style */
/* Text in single quotes for gnuplot: quotes are doubled, nothing else means anything. */
void tbi_gnuplot_quote(FILE *script, const char *text);

#endif

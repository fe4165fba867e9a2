/* plot.h - figures of signals over time, of one run or of several, one above the other.
 *
 *   tbi_plot *plot = tbi_plot_create(signals, patterns, count);
 *   int run = tbi_plot_add_run(plot, "cone", signals, 0, 5);
 *   tbi_plot_add(plot, run, value);         for every sample, value by tabi_signals_eval
 *   tbi_plot_draw(plot, "f.svg", title);    svg, png or pdf */
#ifndef TBI_PLOT_H
#define TBI_PLOT_H

#include "common/cli.h"
#include "tabi/tabi_record.h"

/* What a figure can hold; more is left out. */
enum { TBI_PLOT_SIGNALS = 64, TBI_PLOT_RUNS = 12 };

typedef struct tbi_plot tbi_plot;

/* Whether a file has an ending that can be drawn; prints a usage error of a command if not. */
bool tbi_plot_path(const char *command, const char *option, const char *path);
/* Whether gnuplot is there; if not, prints that as an error or a warning. */
bool tbi_plot_possible(const char *path, const char *word);

/* A figure of what patterns mean (tabi_signals_match), by unit; count 0: an overview.  NULL: out of
 * memory. */
tbi_plot *tbi_plot_create(const tabi_signals *signals, const char *const *pattern, int count);
void tbi_plot_destroy(tbi_plot *plot); /* NULL is fine */
/* A further run with signals of its own, where those of the figure are looked for by name.  Returns
 * its number; -1: out of memory, or of room. */
int tbi_plot_add_run(tbi_plot *plot, const char *name, const tabi_signals *signals, double from,
                     double to);
/* The values of all signals of a run, in the order of time; a run that has no room is left out. */
void tbi_plot_add(tbi_plot *plot, int number, const double *value);
/* Prints what is wrong and returns the exit code. */
int tbi_plot_draw(tbi_plot *plot, const char *path, const char *title);
/* How many panels and curves there are. */
void tbi_plot_size(const tbi_plot *plot, int *panels, int *curves);

#endif

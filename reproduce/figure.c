/* figure.c - see figure.h. */
#include "figure.h"

#include "gnuplot.h"

enum { MAX_ROWS = 1000 };

tabi_status tbi_figure_open(tbi_figure *figure, tbi_trial *trial, int width, int height,
                            tabi_error *err) {
  *figure = (tbi_figure){.trial = trial, .script = tmpfile()};
  if (!figure->script) return tbi_cannot_write("a temporary file", err);
  (void)tbi_gnuplot_begin(figure->script, ".svg", width, height);
  return TABI_OK;
}

void tbi_figure_data(tbi_figure *figure, const char *name, const tbi_series *series) {
  (void)fprintf(figure->script, "$%s << END\n", name);
  tbi_series_print(series, 1 + series->nrow / MAX_ROWS, figure->script);
  (void)fputs("END\n", figure->script);
}

tabi_status tbi_figure_close(tbi_figure *figure, const char *ending, tabi_error *err) {
  tbi_trial *trial = figure->trial;
  tabi_status status = TABI_OK;
  if (!tbi_gnuplot_found()) {
    trial->no_gnuplot = true;
  } else {
    const char *path = tbi_trial_file(trial, ending);
    if (!path || !tbi_gnuplot_draw(figure->script, path)) {
      *err = (tabi_error){.status = TABI_ERR_FILE, .line = 1};
      (void)snprintf(err->file, sizeof err->file, "%s", path ? path : ending);
      (void)snprintf(err->message, sizeof err->message,
                     "gnuplot could not draw the figure; is the folder given with --out writable?");
      status = err->status;
    }
  }
  tbi_figure_drop(figure);
  return status;
}

void tbi_figure_drop(tbi_figure *figure) {
  if (figure->script) (void)fclose(figure->script);
  figure->script = NULL;
}

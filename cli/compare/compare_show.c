/* compare_show.c - samples go on to the figure and, from scenes that are run now, to the replay; a
 * log has its replay made from the file. */
#include "compare/compare_show.h"

#include "html.h"

#include <stdlib.h>

bool tbi_show_want(tbi_show *show, const char *figure, const char *page, tabi_error *err) {
  *show = (tbi_show){.figure = figure, .page = page};
  if (page && tbi_html_check(page, err) != TABI_OK) return false;
  if (figure && !tbi_plot_possible(figure, "warning")) show->figure = NULL;
  return true;
}

static bool begin_curves(tbi_show *show, int32_t index, const tbi_run *run, tabi_error *err) {
  const tbi_source *s = &run->source;
  tabi_signals *signals = show->signals[index] = tabi_signals_create(s->scene, err);
  if (!signals) return false;
  free(show->value);
  show->value = calloc((size_t)tabi_signals_count(signals) + 1, sizeof *show->value);
  if (!show->plot) show->plot = tbi_plot_create(signals, NULL, 0);
  double from = 0;
  if (s->recording) {
    tabi_recording_info info = tabi_recording_get_info(s->recording);
    from = (double)info.first * info.timestep;
  }
  double to = from + (double)s->count * s->spacing;
  show->number[index] =
      show->plot ? tbi_plot_add_run(show->plot, run->name, signals, from, to) : -1;
  if (show->value && show->number[index] >= 0) return true;
  tbi_fail(err, TABI_ERR_MEMORY, (tabi_place){NULL, 0}, "out of memory");
  return false;
}

static bool begin_replay(tbi_show *show, int32_t index, const tbi_run *run, tabi_error *err) {
  const tbi_source *s = &run->source;
  show->replay[index] = s->recording ? tbi_replay_load(s->path, NULL, err)
                                     : tbi_replay_create(s->scene, s->world, err);
  return show->replay[index] != NULL;
}

bool tbi_show_begin(tbi_show *show, int32_t index, const tbi_run *run, tabi_error *err) {
  show->first = true;
  show->live = show->page && !run->source.recording;
  if (show->figure && !begin_curves(show, index, run, err)) return false;
  return !show->page || begin_replay(show, index, run, err);
}

bool tbi_show_sample(tbi_show *show, int32_t index, const tabi_sample *sample, tabi_error *err) {
  if (show->figure) {
    tabi_signals_eval(show->signals[index], sample, show->value);
    tbi_plot_add(show->plot, show->number[index], show->value);
  }
  // the replay has the start, and that of a log is whole
  bool first = show->first;
  show->first = false;
  if (first || !show->live) return true;
  return tbi_replay_step(show->replay[index], err) == TABI_OK;
}

int tbi_show_end(tbi_show *show, const tbi_compared *compared) {
  const char *title = tabi_scene_name(compared->run[0].source.scene);
  int code = show->figure ? tbi_plot_draw(show->plot, show->figure, title) : TBI_EXIT_OK;
  if (code != TBI_EXIT_OK || !show->page) return code;
  tabi_error err = {0};
  if (tbi_html_write(show->page, show->replay, compared->nrun, &err) == TABI_OK) return TBI_EXIT_OK;
  tbi_print_diagnostic(&err, "error");
  return TBI_EXIT_INTERNAL;
}

void tbi_show_free(tbi_show *show) {
  for (int i = 0; i < TBI_MAX_RUNS; ++i) {
    tabi_signals_destroy(show->signals[i]);
    tbi_replay_destroy(show->replay[i]);
  }
  tbi_plot_destroy(show->plot);
  free(show->value);
  *show = (tbi_show){0};
}

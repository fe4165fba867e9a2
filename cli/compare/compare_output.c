/* compare_output.c - samples go on to the figure and, from scenes that are run now, to the replays;
 * a log has its replay made from the file. */
#include "compare/compare_output.h"

#include "html.h"

#include <stdlib.h>

bool tbi_compare_output_prepare(tbi_compare_output *output, const char *figure, const char *page,
                                tabi_error *err) {
  *output = (tbi_compare_output){.figure = figure, .page = page};
  if (page && tbi_html_check(page, err) != TABI_OK) return false;
  if (figure && !tbi_plot_possible(figure, "warning")) output->figure = NULL;
  return true;
}

static bool begin_curves(tbi_compare_output *output, int32_t index, const tbi_run *run,
                         tabi_error *err) {
  const tbi_source *s = &run->source;
  tabi_signals *signals = output->signals[index] = tabi_signals_create(s->scene, err);
  if (!signals) return false;
  free(output->value);
  output->value = calloc((size_t)tabi_signals_count(signals) + 1, sizeof *output->value);
  if (!output->plot) output->plot = tbi_plot_create(signals, NULL, 0);
  double from = 0;
  if (s->recording) {
    tabi_recording_info info = tabi_recording_get_info(s->recording);
    from = (double)info.first * info.timestep;
  }
  double to = from + (double)s->count * s->spacing;
  output->number[index] =
      output->plot ? tbi_plot_add_run(output->plot, run->name, signals, from, to) : -1;
  if (output->value && output->number[index] >= 0) return true;
  tbi_fail(err, TABI_ERR_MEMORY, (tabi_place){NULL, 0}, "out of memory");
  return false;
}

static bool begin_replay(tbi_compare_output *output, int32_t index, const tbi_run *run,
                         tabi_error *err) {
  const tbi_source *s = &run->source;
  output->replay[index] = s->recording ? tbi_replay_load(s->path, NULL, err)
                                       : tbi_replay_create(s->scene, s->world, err);
  return output->replay[index] != NULL;
}

bool tbi_compare_output_begin(tbi_compare_output *output, int32_t index, const tbi_run *run,
                              tabi_error *err) {
  output->first = true;
  output->live = output->page && !run->source.recording;
  if (output->figure && !begin_curves(output, index, run, err)) return false;
  return !output->page || begin_replay(output, index, run, err);
}

bool tbi_compare_output_sample(tbi_compare_output *output, int32_t index, const tabi_sample *sample,
                               tabi_error *err) {
  if (output->figure) {
    tabi_signals_eval(output->signals[index], sample, output->value);
    tbi_plot_add(output->plot, output->number[index], output->value);
  }
  // the replay has the start, and that of a log is whole
  bool first = output->first;
  output->first = false;
  if (first || !output->live) return true;
  return tbi_replay_step(output->replay[index], err) == TABI_OK;
}

int tbi_compare_output_end(tbi_compare_output *output, const tbi_compared *compared) {
  const char *title = tabi_scene_name(compared->run[0].source.scene);
  int code = output->figure ? tbi_plot_draw(output->plot, output->figure, title) : TBI_EXIT_OK;
  if (code != TBI_EXIT_OK || !output->page) return code;
  tabi_error err = {0};
  if (tbi_html_write(output->page, output->replay, compared->nrun, &err) == TABI_OK)
    return TBI_EXIT_OK;
  tbi_print_diagnostic(&err, "error");
  return TBI_EXIT_INTERNAL;
}

void tbi_compare_output_free(tbi_compare_output *output) {
  for (int i = 0; i < TBI_MAX_RUNS; ++i) {
    tabi_signals_destroy(output->signals[i]);
    tbi_replay_destroy(output->replay[i]);
  }
  tbi_plot_destroy(output->plot);
  free(output->value);
  *output = (tbi_compare_output){0};
}

/* run_plot.c - see run_plot.h. */
#include "run/run_plot.h"

#include "gnuplot.h"

#include <stdlib.h>

#define MAX_POINTS 4000 /* of a gait */

static bool fail(const char *path, const char *message) {
  tabi_error err;
  tbi_fail(&err, TABI_ERR_FILE, (tabi_place){path, 1}, "%s", message);
  tbi_print_diagnostic(&err, "error");
  return false;
}

static bool open_gait(tbi_run_plot *plot, int64_t steps) {
  int32_t nv = tabi_model_nv(tabi_scene_model(plot->summary->scene));
  plot->every = 1 + steps / MAX_POINTS;
  plot->torque = calloc((size_t)nv + 1, sizeof *plot->torque);
  if (!plot->torque) return fail(plot->path, "out of memory");
  plot->script = tmpfile();
  if (!plot->script) return fail(plot->path, "no temporary file could be made");
  (void)fputs("$run << END\n", plot->script);
  return true;
}

bool tbi_run_plot_open(tbi_run_plot *plot, const char *path, const tbi_run_summary *summary,
                       const tabi_signals *signals, int64_t steps) {
  *plot = (tbi_run_plot){.summary = summary};
  if (!path || !tbi_plot_possible(path, "warning")) return true;
  plot->path = path;
  if (summary->gait.active) return open_gait(plot, steps);
  double from = tabi_world_time(summary->world);
  double to = from + (double)steps * tabi_scene_world_def(summary->scene).timestep;
  plot->plot = tbi_plot_create(signals, NULL, 0);
  if (plot->plot && tbi_plot_add_run(plot->plot, "", signals, from, to) >= 0) return true;
  return fail(path, "out of memory");
}

void tbi_run_plot_step(tbi_run_plot *plot, const double *value) {
  const tbi_run_summary *summary = plot->summary;
  if (plot->plot) tbi_plot_add(plot->plot, 0, value);
  if (!plot->script) return;
  // a gait that is resumed may end before a step that is due
  bool due = !plot->begun || tabi_world_steps(summary->world) % plot->every == 0;
  if (due) tbi_gait_plot_row(plot->script, summary->world, &summary->gait, plot->torque);
  plot->begun = true;
}

static bool draw_walk(const tbi_run_plot *plot) {
  const tbi_run_summary *summary = plot->summary;
  tbi_gait_plot_commands(plot->script, plot->path, summary->scene, summary->world, &summary->gait);
  return tbi_gnuplot_draw(plot->script, plot->path) ||
         fail(plot->path,
              "gnuplot could not draw the figure; does its folder exist, with room on the disk?");
}

static bool draw_overview(const tbi_run_plot *plot) {
  const tabi_scene *scene = plot->summary->scene;
  const char *name = tabi_scene_name(scene);
  char title[200];
  (void)snprintf(title, sizeof title, "%s%s%s", name, name[0] ? ", " : "",
                 tabi_contact_name(tabi_scene_world_def(scene).contact));
  return tbi_plot_draw(plot->plot, plot->path, title) == TBI_EXIT_OK;
}

bool tbi_run_plot_close(tbi_run_plot *plot, bool draw) {
  bool fine = true;
  if (draw && plot->plot) fine = draw_overview(plot);
  if (draw && plot->script) fine = draw_walk(plot);
  tbi_plot_destroy(plot->plot);
  if (plot->script) (void)fclose(plot->script);
  free(plot->torque);
  *plot = (tbi_run_plot){0};
  return fine;
}

/* run_plot.c - a script for gnuplot in a temporary file, and gnuplot reading it. */
#include "run_plot.h"

#include "gnuplot.h"
#include "tally.h"

#include <stdlib.h>

#define MAX_POINTS 4000

static bool fail(const char *path, const char *message) {
  tabi_error err;
  tbi_fail(&err, TABI_ERR_FILE, (tabi_place){path, 1}, "%s", message);
  tbi_print_diagnostic(&err, "error");
  return false;
}

bool tbi_run_plot_open(tbi_run_plot *plot, const char *path, const tbi_tally *tally,
                       int64_t steps) {
  *plot = (tbi_run_plot){.path = path, .tally = tally};
  if (!path) return true;
  if (!tbi_gnuplot_found()) {
    return fail(path, "gnuplot cannot be started; install it or leave --plot out");
  }
  plot->every = 1 + steps / MAX_POINTS;
  int32_t nv = tabi_model_nv(tabi_scene_model(tally->scene));
  plot->torque = calloc((size_t)nv + 1, sizeof *plot->torque);
  if (!plot->torque) return fail(path, "out of memory");
  plot->script = tmpfile();
  if (!plot->script) return fail(path, "no temporary file could be made");
  (void)fputs("$run << END\n", plot->script);
  // a walk may be over before its first step
  if (tally->gait.walks) tbi_gait_plot_row(plot->script, tally->world, &tally->gait, plot->torque);
  return true;
}

void tbi_run_plot_step(tbi_run_plot *plot) {
  const tbi_tally *tally = plot->tally;
  if (!plot->script || tabi_world_steps(tally->world) % plot->every != 0) return;
  if (tally->gait.walks) {
    tbi_gait_plot_row(plot->script, tally->world, &tally->gait, plot->torque);
    return;
  }
  double force[3];
  tbi_ground_force(tally->world, tabi_scene_world_def(tally->scene).timestep, force);
  tabi_energy e = tabi_world_energy(tally->world);
  tabi_certificate c = tabi_world_certificate(tally->world);
  (void)fprintf(plot->script, "%.9g %.9g %.9g %.9g %.9g %.9g\n", tabi_world_time(tally->world),
                force[2], e.kinetic + e.potential + e.spring, c.gap, c.complementarity,
                c.dissipation);
}

static void write_commands(const tbi_run_plot *plot) {
  FILE *script = plot->script;
  const tbi_tally *tally = plot->tally;
  if (tally->gait.walks) {
    tbi_gait_plot_commands(script, tally->scene, tally->world, &tally->gait);
    return;
  }
  (void)fputs("END\n"
              "set terminal svg size 900,900 dynamic background rgb 'white' font 'sans,13'\n",
              script);
  const char *name = tabi_scene_name(tally->scene);
  (void)fputs("set multiplot layout 3,1 title ", script);
  tbi_gnuplot_quote(script, name);
  (void)fprintf(script, " . '%s%s'", name[0] ? ", " : "",
                tabi_contact_name(tabi_scene_world_def(tally->scene).contact));
  (void)fputs(" noenhanced\nset grid\nset lmargin 14\nset key above\n"
              "set ylabel 'vertical contact force [N]'\n"
              "plot $run using 1:2 with lines notitle lc rgb '#1f77b4'\n"
              "set ylabel 'energy [J]'\n"
              "plot $run using 1:3 with lines notitle lc rgb '#2ca02c'\n"
              "set xlabel 'time [s]'\nset ylabel 'residual'\n"
              "set logscale y\nset yrange [1e-16:*]\nset format y '%.0e'\n"
              "plot $run using 1:($4 + 1e-16) with lines title 'gap [m]', \\\n"
              "     $run using 1:($5 + 1e-16) with lines title 'complementarity [m/s]', \\\n"
              "     $run using 1:($6 + 1e-16) with lines title 'dissipation [m/s]'\n"
              "unset multiplot\n",
              script);
}

bool tbi_run_plot_close(tbi_run_plot *plot, bool draw) {
  free(plot->torque);
  plot->torque = NULL;
  if (!plot->script) return true;
  bool fine = true;
  if (draw) {
    write_commands(plot);
    fine = tbi_gnuplot_draw(plot->script, plot->path) ||
           fail(plot->path, "gnuplot could not draw the figure; does its folder exist?");
  }
  (void)fclose(plot->script);
  plot->script = NULL;
  return fine;
}

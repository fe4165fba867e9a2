/* picture_strip.c - see picture_strip.h. */
#include "picture_strip.h"

#include "outline.h"
#include "simulation.h"

#include <math.h>

tabi_status tbi_picture_strip_open(tbi_picture_strip *strip, tbi_trial *trial, double spacing,
                                   double height, tabi_error *err) {
  *strip = (tbi_picture_strip){.spacing = spacing, .height = height, .object = 1};
  return tbi_figure_open(&strip->figure, trial, 900, 520, err);
}

void tbi_picture_strip_take(tbi_picture_strip *strip, const tbi_simulation *sim, double x) {
  if (strip->taken == TBI_MAX_PICTURES) return;
  tbi_camera camera = tbi_camera_side;
  camera.shift[0] = strip->spacing * strip->taken - x;
  strip->object = tbi_outline_draw(&camera, sim->world, strip->object, strip->figure.script);
  strip->time[strip->taken++] = tbi_simulation_time(sim);
}

tabi_status tbi_picture_strip_close(tbi_picture_strip *strip, const tbi_series *run,
                                    const char *plot, tabi_error *err) {
  FILE *script = strip->figure.script;
  double left = -0.6 * strip->spacing, right = strip->spacing * (strip->taken - 0.4);
  tbi_figure_data(&strip->figure, "run", run);
  for (int32_t i = 0; i < strip->taken; ++i)
    (void)fprintf(script, "set label %d '%.2f s' at %g,%g center\n", i + 1, strip->time[i],
                  strip->spacing * i, -0.12 * strip->height);
  (void)fprintf(script,
                "set multiplot\nset size 1,0.5\nset origin 0,0.5\nunset key\nunset tics\n"
                "unset border\nunset grid\nset size ratio -1\nset lmargin 1\nset rmargin 1\n"
                "set xrange [%g:%g]\nset yrange [%g:%g]\n"
                "set arrow 1 from %g,0 to %g,0 nohead lw 2 lc rgb '#666666'\n"
                "plot -10 notitle\nunset object\nunset arrow\nunset label\nset size noratio\n"
                "set size 1,0.5\nset origin 0,0\nset border\nset tics nomirror\n"
                "set grid lc rgb '#dddddd'\nunset lmargin\nunset rmargin\n"
                "set xrange [0:*]\nset yrange [*:*]\nset key top right\nset xlabel 'time [s]'\n",
                left, right, -0.2 * strip->height, 1.1 * strip->height, left, right);
  (void)fprintf(script, "%s\nunset multiplot\n", plot);
  return tbi_figure_close(&strip->figure, ".svg", err);
}

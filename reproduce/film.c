/* film.c - see film.h. */
#include "film.h"

#include "outline.h"
#include "simulation.h"

#include <math.h>

tabi_status tbi_film_open(tbi_film *film, tbi_trial *trial, double spacing, double height,
                          tabi_error *err) {
  *film = (tbi_film){.spacing = spacing, .height = height, .object = 1};
  return tbi_figure_open(&film->figure, trial, 900, 520, err);
}

void tbi_film_take(tbi_film *film, const tbi_simulation *sim, double x) {
  if (film->taken == TBI_FILM_PICTURES) return;
  tbi_camera camera = tbi_camera_side;
  camera.shift[0] = film->spacing * film->taken - x;
  film->object = tbi_outline_draw(&camera, sim->world, film->object, film->figure.script);
  film->time[film->taken++] = tbi_simulation_time(sim);
}

tabi_status tbi_film_close(tbi_film *film, const tbi_series *run, const char *plot,
                           tabi_error *err) {
  FILE *script = film->figure.script;
  double left = -0.6 * film->spacing, right = film->spacing * (film->taken - 0.4);
  tbi_figure_data(&film->figure, "run", run);
  for (int32_t i = 0; i < film->taken; ++i)
    (void)fprintf(script, "set label %d '%.2f s' at %g,%g center\n", i + 1, film->time[i],
                  film->spacing * i, -0.12 * film->height);
  (void)fprintf(script,
                "set multiplot\nset size 1,0.5\nset origin 0,0.5\nunset key\nunset tics\n"
                "unset border\nunset grid\nset size ratio -1\nset lmargin 1\nset rmargin 1\n"
                "set xrange [%g:%g]\nset yrange [%g:%g]\n"
                "set arrow 1 from %g,0 to %g,0 nohead lw 2 lc rgb '#666666'\n"
                "plot -10 notitle\nunset object\nunset arrow\nunset label\nset size noratio\n"
                "set size 1,0.5\nset origin 0,0\nset border\nset tics nomirror\n"
                "set grid lc rgb '#dddddd'\nunset lmargin\nunset rmargin\n"
                "set xrange [0:*]\nset yrange [*:*]\nset key top right\nset xlabel 'time [s]'\n",
                left, right, -0.2 * film->height, 1.1 * film->height, left, right);
  (void)fprintf(script, "%s\nunset multiplot\n", plot);
  return tbi_figure_close(&film->figure, ".svg", err);
}

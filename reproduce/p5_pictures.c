/* p5_pictures.c - see p5_pictures.h. */
#include "p5_pictures.h"

#include "outline.h"

#include <math.h>

/* Where a row's floor is in the figure. */
static double floor_of(const tbi_p5_pictures *p, tbi_variant variant) {
  return variant == TBI_PUBLISHED ? 1.3 * p->height : 0;
}

void tbi_p5_pictures_take(tbi_p5_pictures *p, tbi_variant variant, const tbi_simulation *sim,
                          double x) {
  int32_t *taken = &p->taken[variant];
  if (*taken == TBI_P5_MAX_PICTURES) return;
  tbi_camera camera = tbi_camera_side;
  camera.shift[0] = p->spacing * *taken - x;
  camera.shift[1] = floor_of(p, variant);
  p->object = tbi_outline_draw(&camera, sim->world, p->object, p->figure.script);
  p->time[(*taken)++] = tbi_simulation_time(sim);
}

/* The rows; what the script plots then comes below, at "origin 0,0", with "size 1,0.42". */
static void draw_rows(const tbi_p5_pictures *p) {
  FILE *script = p->figure.script;
  int32_t count = p->taken[TBI_OURS];
  double left = -0.6 * p->spacing,
         right = p->spacing * (count - 1) + fmax(0.6 * p->spacing, p->height);
  for (int32_t i = 0; i < count; ++i)
    (void)fprintf(script, "set label %d '%.2f s' at %g,%g center\n", (int)i + 1, p->time[i],
                  p->spacing * i, -0.12 * p->height);
  for (int v = 0; v < TBI_VARIANTS; ++v)
    (void)fprintf(script,
                  "set label %d '%s' at %g,%g left\n"
                  "set arrow %d from %g,%g to %g,%g nohead lw 2 lc rgb '#666666'\n",
                  20 + v, tbi_p5_name((tbi_variant)v), left,
                  floor_of(p, (tbi_variant)v) + 1.1 * p->height, 1 + v, left,
                  floor_of(p, (tbi_variant)v), right, floor_of(p, (tbi_variant)v));
  (void)fprintf(script,
                "set multiplot\nset size 1,0.58\nset origin 0,0.42\nunset key\nunset tics\n"
                "unset border\nunset grid\nset size ratio -1\nset lmargin 1\nset rmargin 1\n"
                "set xrange [%g:%g]\nset yrange [%g:%g]\nplot -10 notitle\n"
                "unset object\nunset arrow\nunset label\nset size noratio\nset size 1,0.42\n"
                "set origin 0,0\nset border\nset tics nomirror\nset grid lc rgb '#dddddd'\n"
                "unset lmargin\nunset rmargin\nset xrange [0:*]\nset yrange [*:*]\n"
                "set key top right\nset xlabel 'time [s]'\n",
                left, right, -0.2 * p->height, 2.5 * p->height);
}

/* A block of data called $name: means of so many rows each, since blows last for one. */
static void write_means(tbi_figure *figure, const char *name, const tbi_series *series,
                        int32_t rows) {
  (void)fprintf(figure->script, "$%s << END\n", name);
  for (int32_t first = 0; first + rows <= series->nrow; first += rows) {
    for (int32_t k = 0; k < series->ncolumn; ++k) {
      double sum = 0;
      for (int32_t i = first; i < first + rows; ++i)
        sum += tbi_series_at(series, i, k);
      (void)fprintf(figure->script, " %.6g", sum / rows);
    }
    (void)fputs("\n", figure->script);
  }
  (void)fputs("END\n", figure->script);
}

static tabi_status run_variants(tbi_trial *trial, const tbi_p5_motion *motion,
                                tbi_p5_pictures *pictures, tbi_series *series, tabi_error *err) {
  static const char *const endings[] = {[TBI_OURS] = "-ours.csv", [TBI_PUBLISHED] = ".csv"};
  tabi_status status = TABI_OK;
  for (int v = TBI_VARIANTS - 1; v >= 0 && status == TABI_OK; --v) {
    trial->variant = (tbi_variant)v;
    status = motion->run(trial, pictures, &series[v], err);
    if (status == TABI_OK) status = tbi_series_write(&series[v], trial, endings[v], err);
  }
  return status;
}

static tabi_status draw(const tbi_p5_motion *motion, tbi_p5_pictures *pictures,
                        const tbi_series *series, tabi_error *err) {
  for (int v = 0; v < TBI_VARIANTS; ++v)
    write_means(&pictures->figure, tbi_p5_name((tbi_variant)v), &series[v], motion->samples);
  draw_rows(pictures);
  motion->plot(pictures->figure.script);
  (void)fputs("unset multiplot\n", pictures->figure.script);
  return tbi_figure_close(&pictures->figure, ".svg", err);
}

tabi_status tbi_p5_run_motion(tbi_trial *trial, const tbi_p5_motion *motion, tabi_error *err) {
  tbi_p5_pictures pictures = {.spacing = motion->spacing, .height = motion->height, .object = 1};
  tabi_status status = tbi_figure_open(&pictures.figure, trial, 900, 720, err);
  if (status != TABI_OK) return status;
  tbi_series series[TBI_VARIANTS];
  for (int v = 0; v < TBI_VARIANTS; ++v)
    tbi_series_init(&series[v], motion->columns);
  status = run_variants(trial, motion, &pictures, series, err);
  if (status == TABI_OK) {
    status = draw(motion, &pictures, series, err);
  } else {
    tbi_figure_drop(&pictures.figure);
  }
  for (int v = 0; v < TBI_VARIANTS; ++v)
    tbi_series_free(&series[v]);
  return status;
}

/* p4_slope.c - boxes fall on a slope; friction holds them, or they slide down.
 *
 * scenes/boxes_slope.yaml under `cone`.  With a coefficient above the slope's tangent they come to
 * rest, with one below it they end up sliding as one block would. */
#include "figure.h"
#include "outline.h"
#include "simulation.h"

#include <math.h>

static const double slope = 0.3, gravity = 9.81; /* rad, m/s^2, of the scene */

enum { NBOX = 4, SNAPSHOTS = 5 };
static const double spacing = 2; /* m, between pictures */
static const double snapshot_time[SNAPSHOTS] = {0, 0.3, 0.5, 1, 3};

static const char *const columns[] = {"time", "fastest_mps", "depth_m", "energy_gain_J", NULL};

typedef struct fall {
  tbi_series series;
  double depth, gain;     /* largest, m and J */
  double fastest;         /* m/s, of the boxes at the end */
  double acceleration[2]; /* m/s^2 down the slope at the end: least and largest of the boxes */
} fall;

/* Speeds down the slope. */
static void speeds_of(const tbi_simulation *sim, double along[NBOX], double *fastest) {
  const double *v = tabi_world_v(sim->world);
  *fastest = 0;
  for (int i = 0; i < NBOX; ++i, v += 6) {
    along[i] = v[0] * cos(slope) - v[2] * sin(slope);
    *fastest = fmax(*fastest, sqrt(v[0] * v[0] + v[1] * v[1] + v[2] * v[2]));
  }
}

/* The time from which on accelerations are measured. */
static const double last_part = 0.5;

static tabi_status step_to_end(tbi_simulation *sim, fall *f, tbi_figure *figure, double duration,
                               tabi_error *err) {
  double start = tbi_simulation_energy(sim), before[NBOX] = {0}, along[NBOX] = {0};
  int64_t steps = llround(duration / sim->timestep);
  int shot = 0, number = 1;
  for (int64_t i = 0; i <= steps; ++i) {
    double time = tbi_simulation_time(sim);
    if (figure && shot < SNAPSHOTS && time >= snapshot_time[shot] - 1e-9) {
      tbi_camera camera = tbi_camera_side;
      camera.by_body = true;
      camera.shift[0] = spacing * shot++;
      number = tbi_outline_draw(&camera, sim->world, number, figure->script);
    }
    if (i == steps) break;
    tabi_status status = tbi_simulation_step(sim, err);
    if (status != TABI_OK) return status;
    speeds_of(sim, along, &f->fastest);
    const double row[] = {tbi_simulation_time(sim), f->fastest, tbi_simulation_max_penetration(sim),
                          tbi_simulation_energy(sim) - start};
    tbi_series_add(&f->series, row);
    f->depth = fmax(f->depth, row[2]);
    f->gain = fmax(f->gain, row[3]);
    if (i == steps - llround(last_part / sim->timestep) - 1)
      for (int b = 0; b < NBOX; ++b)
        before[b] = along[b];
  }
  for (int b = 0; b < NBOX; ++b) {
    double a = (along[b] - before[b]) / last_part;
    f->acceleration[0] = b > 0 ? fmin(f->acceleration[0], a) : a;
    f->acceleration[1] = b > 0 ? fmax(f->acceleration[1], a) : a;
  }
  return TABI_OK;
}

static tabi_status run_fall(fall *f, const char *friction, tbi_figure *figure, double duration,
                            tabi_error *err) {
  const char *const set[] = {friction, "contact.model=cone", NULL};
  tbi_simulation sim;
  tabi_status status = tbi_simulation_open(&sim, "boxes_slope.yaml", set, err);
  if (status == TABI_OK) status = step_to_end(&sim, f, figure, duration, err);
  tbi_simulation_close(&sim);
  return status;
}

static void check(tbi_trial *trial, const fall *held, const fall *sliding) {
  double law = gravity * (sin(slope) - 0.2 * cos(slope));
  tbi_expect_below(trial, "mu 0.5 > tan: max penetration", "mm", 1e3 * held->depth, 1);
  tbi_expect_below(trial, "mu 0.5: energy gained", "J", held->gain, 1e-3);
  tbi_expect_below(trial, "mu 0.5: fastest box at the end", "m/s", held->fastest, 1e-2);
  tbi_expect_below(trial, "mu 0.2 < tan: max penetration", "mm", 1e3 * sliding->depth, 1);
  tbi_expect_below(trial, "mu 0.2: energy gained", "J", sliding->gain, 1e-3);
  tbi_expect_within(trial, "mu 0.2: min acceleration of a box", "m/s2", sliding->acceleration[0],
                    0.99 * law, 1.01 * law);
  tbi_expect_within(trial, "mu 0.2: max acceleration of a box", "m/s2", sliding->acceleration[1],
                    0.99 * law, 1.01 * law);
}

static tabi_status finish_figure(tbi_figure *figure, const fall *held, const fall *sliding,
                                 tabi_error *err) {
  FILE *script = figure->script;
  tbi_figure_data(figure, "held", &held->series);
  tbi_figure_data(figure, "sliding", &sliding->series);
  (void)fprintf(script,
                "set multiplot\nset size 1,0.46\nset origin 0,0.54\nunset key\nunset tics\n"
                "unset border\nunset grid\nset size ratio -1\nset lmargin 1\nset rmargin 1\n"
                "set xrange [-0.8:9.3]\nset yrange [-0.5:1.9]\n");
  for (int i = 0; i < SNAPSHOTS; ++i) {
    double middle = spacing * i, left = -0.7, right = 1.2;
    (void)fprintf(script,
                  "set arrow %d from %g,%g to %g,%g nohead lw 2 lc rgb '#666666'\n"
                  "set label %d '%g s' at %g,1.85 center\n",
                  i + 1, middle + left, -left * tan(slope), middle + right, -right * tan(slope),
                  i + 1, snapshot_time[i], middle);
  }
  (void)fputs(
      "plot -10 notitle\nunset object\nunset arrow\nunset label\nset size noratio\n"
      "set size 1,0.54\nset origin 0,0\nset border\nset tics nomirror\nset grid lc rgb '#dddddd'\n"
      "unset lmargin\nunset rmargin\n"
      "set xrange [0:*]\nset yrange [1e-8:20]\nset logscale y\nset format y '10^{%L}'\n"
      "set xlabel 'time [s]'\nset ylabel 'fastest box [m/s]'\nset key bottom left\n"
      "plot $sliding using 1:2 with lines lt 2 title '{/Symbol m} = 0.2',\\\n"
      " $held using 1:2 with lines lt 1 title '{/Symbol m} = 0.5'\n"
      "unset multiplot\n",
      script);
  return tbi_figure_close(figure, ".svg", err);
}

static tabi_status run(tbi_trial *trial, tabi_error *err) {
  double duration = trial->quick ? 3.01 : 5;
  fall held = {0}, sliding = {0};
  tbi_series_init(&held.series, columns);
  tbi_series_init(&sliding.series, columns);
  tbi_figure figure;
  tabi_status status = tbi_figure_open(&figure, trial, 900, 560, err);
  if (status != TABI_OK) return status;
  status = run_fall(&held, "materials.wood.friction=0.5", &figure, duration, err);
  if (status == TABI_OK) {
    status = run_fall(&sliding, "materials.wood.friction=0.2", NULL, duration, err);
  }
  if (status == TABI_OK) check(trial, &held, &sliding);
  if (status == TABI_OK) status = tbi_series_write(&held.series, trial, ".csv", err);
  if (status == TABI_OK) status = tbi_series_write(&sliding.series, trial, "-sliding.csv", err);
  if (status == TABI_OK) {
    status = finish_figure(&figure, &held, &sliding, err);
  } else {
    tbi_figure_drop(&figure);
  }
  tbi_series_free(&held.series);
  tbi_series_free(&sliding.series);
  return status;
}

const tbi_experiment tbi_p4_slope = {
    .id = "p4/slope",
    .paper = "P4, Fig. 2",
    .shows = "boxes that fall on a slope and on each other are simulated stably, many contacts at "
             "once",
    .run = run,
};

/* p5_fall.c - a small humanoid falls, its joints without control.
 *
 * scenes/p5_fall.yaml under `impulse`.  The paper shows pictures of it and the time of a step; what
 * can be checked is that it comes to rest on the floor, which then carries its weight. */
#include "figure.h"
#include "measure.h"
#include "outline.h"
#include "simulation.h"

#include <math.h>

enum { TIME, FORCE, KINETIC, HEIGHT, NCOLUMN, PICTURES = 6, ROW_STEPS = 10 };
static const char *const columns[] = {"time", "force_N", "kinetic_J", "pelvis_m", NULL};
static const double picture_time[PICTURES] = {0, 0.2, 0.45, 0.7, 0.85, 1.2};
static const double spacing = 0.5; /* m, between pictures */

typedef struct fall {
  tbi_series series;
  double sum;         /* N, of steps since the last row */
  double depth, gain; /* largest, m and J */
  double seconds;     /* of a step, mean */
} fall;

/* The floor's force now, upward. */
static double floor_force(const tbi_simulation *sim) {
  const double origin[3] = {0};
  double force[3], moment[3];
  tbi_simulation_contact_force(sim, TABI_WORLD, origin, force, moment);
  return force[2];
}

/* A row for every few steps: blows last for one, so their force is spread over the row. */
static void add_row(tbi_simulation *sim, fall *f) {
  f->sum += floor_force(sim);
  if (tabi_world_steps(sim->world) % ROW_STEPS != 0) return;
  const double row[NCOLUMN] = {tbi_simulation_time(sim), f->sum / ROW_STEPS,
                               tabi_world_energy(sim->world).kinetic, tabi_world_q(sim->world)[2]};
  tbi_series_add(&f->series, row);
  f->sum = 0;
}

static tabi_status simulate(tbi_simulation *sim, fall *f, double duration, FILE *script,
                            tabi_error *err) {
  int64_t steps = llround(duration / sim->timestep);
  double start = tbi_simulation_energy(sim), seconds = 0;
  int picture = 0, number = 1;
  for (int64_t i = 0; i < steps; ++i) {
    if (picture < PICTURES && tbi_simulation_time(sim) >= picture_time[picture] - 1e-9) {
      tbi_camera camera = tbi_camera_side;
      camera.shift[0] = spacing * picture++ - 0.7 * tabi_world_q(sim->world)[0];
      number = tbi_outline_draw(&camera, sim->world, number, script);
    }
    double before = tbi_measure_clock();
    tabi_status status = tbi_simulation_step(sim, err);
    seconds += tbi_measure_clock() - before;
    if (status != TABI_OK) return status;
    add_row(sim, f);
    f->depth = fmax(f->depth, tbi_simulation_max_penetration(sim));
    f->gain = fmax(f->gain, tbi_simulation_energy(sim) - start);
  }
  f->seconds = seconds / (double)steps;
  return TABI_OK;
}

static void check(tbi_trial *trial, const tbi_simulation *sim, const fall *f) {
  int32_t last = f->series.nrow - 1;
  double weight = 9.81 * tabi_model_mass(sim->model);
  tbi_expect_within(trial, "simulated without divergence", "s",
                    tbi_series_at(&f->series, last, TIME), trial->quick ? 1.6 : 5, 5);
  tbi_expect_below(trial, "final height of the pelvis", "m",
                   tbi_series_at(&f->series, last, HEIGHT), 0.1);
  tbi_expect_below(trial, "final kinetic energy", "J", tbi_series_at(&f->series, last, KINETIC),
                   1e-6);
  tbi_expect_within(trial, "final force of the floor / weight", "",
                    tbi_series_at(&f->series, last, FORCE) / weight, 0.99, 1.01);
  tbi_expect_below(trial, "max penetration", "mm", 1e3 * f->depth, 1);
  tbi_expect_below(trial, "energy gained", "J", f->gain, 1e-3);
  tbi_expect_below(trial, "time per step (paper: 4 ms)", "ms", 1e3 * f->seconds, 4);
}

static tabi_status finish_figure(tbi_figure *figure, const fall *f, double weight,
                                 tabi_error *err) {
  FILE *script = figure->script;
  tbi_figure_data(figure, "run", &f->series);
  for (int i = 0; i < PICTURES; ++i)
    (void)fprintf(script, "set label %d '%g s' at %g,-0.06 center\n", i + 1, picture_time[i],
                  spacing * i + 0.02);
  (void)fprintf(script,
                "set multiplot\nset size 1,0.5\nset origin 0,0.5\nunset key\nunset tics\n"
                "unset border\nunset grid\nset size ratio -1\nset lmargin 1\nset rmargin 1\n"
                "set xrange [-0.25:3.05]\nset yrange [-0.12:0.5]\n"
                "set arrow 1 from -0.25,0 to 3.05,0 nohead lw 2 lc rgb '#666666'\n"
                "plot -10 notitle\nunset object\nunset arrow\nunset label\nset size noratio\n"
                "set size 1,0.5\nset origin 0,0\nset border\nset tics nomirror\n"
                "set grid lc rgb '#dddddd'\nunset lmargin\nunset rmargin\nset xrange [0:2]\n"
                "set yrange [0:7]\nset key top right\nset xlabel 'time [s]'\n"
                "set ylabel 'floor reaction / weight'\n"
                "plot 1 with lines lc rgb '#999999' dt 2 notitle,\\\n"
                " $run using 1:($2/%g) with lines lt 1 notitle\nunset multiplot\n",
                weight);
  return tbi_figure_close(figure, ".svg", err);
}

static tabi_status run_stage(tbi_trial *trial, tbi_simulation *sim, fall *f, tabi_error *err) {
  tbi_figure figure;
  tabi_status status = tbi_figure_open(&figure, trial, 900, 480, err);
  if (status != TABI_OK) return status;
  status = simulate(sim, f, trial->quick ? 1.6 : 5, figure.script, err);
  if (status == TABI_OK) {
    check(trial, sim, f);
    status = tbi_series_write(&f->series, trial, ".csv", err);
  }
  if (status == TABI_OK) {
    return finish_figure(&figure, f, 9.81 * tabi_model_mass(sim->model), err);
  }
  tbi_figure_drop(&figure);
  return status;
}

static tabi_status run(tbi_trial *trial, tabi_error *err) {
  fall f = {0};
  tbi_series_init(&f.series, columns);
  tbi_simulation sim;
  tabi_status status = tbi_simulation_open(&sim, "p5_fall.yaml", NULL, err);
  if (status == TABI_OK) status = run_stage(trial, &sim, &f, err);
  tbi_simulation_close(&sim);
  tbi_series_free(&f.series);
  return status;
}

const tbi_experiment tbi_p5_fall = {
    .id = "p5/fall",
    .paper = "P5, Fig. 5",
    .shows = "a small humanoid of 26 degrees of freedom falls down, steps of 1 ms",
    .run = run,
};

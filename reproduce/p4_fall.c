/* p4_fall.c - 19 steps on rubber feet: without the stabiliser the robot falls, with it it does not,
 * and on rigid feet it needs none.
 *
 * The walk of walk_sim.h under `cone`.  The run that falls is simulated twice: once to learn when
 * it falls, and once more to draw the moments before and after. */
#include "figure.h"
#include "outline.h"
#include "walk_sim.h"

#include <math.h>

enum { RUNS = 3, PICTURES = 6, QUICK_STEPS = 6 };

static const struct {
  const char *name, *ending;
  bool bush, stabilised, falls;
} kinds[RUNS] = {
    {"rigid feet, no stabiliser",   "-rigid.csv",      false, false, false},
    {"rubber feet, no stabiliser",  ".csv",            true,  false, true },
    {"rubber feet with stabiliser", "-stabilised.csv", true,  true,  false},
};
enum { RIGID, OPEN_LOOP, STABILISED };

static const double spacing = 1.1; /* m, between pictures */

static tbi_walk_sim_def walk_of(const tbi_trial *trial, int kind) {
  tbi_walk_sim_def def = tbi_walk_sim_humanoid36();
  tbi_walk_sim_add_nineteen_steps(&def);
  if (trial->quick && !kinds[kind].falls) def.nstep = QUICK_STEPS;
  def.bush = kinds[kind].bush;
  def.stabilised = kinds[kind].stabilised;
  def.contact = TABI_CONTACT_CONE;
  return def;
}

static tabi_status run_kind(tbi_trial *trial, int kind, tbi_series *series, double *fell,
                            tabi_error *err) {
  tbi_walk_sim_def def = walk_of(trial, kind);
  tbi_walk_metrics metrics = {0};
  tbi_trial_progress(trial, kinds[kind].name);
  tabi_status status = tbi_walk_sim_run(&def, series, &metrics, err);
  if (status != TABI_OK) return status;
  char outcome[48];
  if (metrics.fall_time > 0) {
    (void)snprintf(outcome, sizeof outcome, "falls in step %d, %.2f s", (int)metrics.fall_step,
                   metrics.fall_time);
  } else {
    (void)snprintf(outcome, sizeof outcome, "completes %d steps", (int)def.nstep);
  }
  tbi_expect_word(trial, kinds[kind].name, kinds[kind].falls ? "falls" : "completes", outcome,
                  kinds[kind].falls == (metrics.fall_time > 0));
  *fell = metrics.fall_time;
  return tbi_series_write(series, trial, kinds[kind].ending, err);
}

/* Pictures around the fall, seen from the side and from ahead. */
static tabi_status draw_fall(tbi_trial *trial, double fell, FILE *script, tabi_error *err) {
  tbi_walk_sim_def def = walk_of(trial, OPEN_LOOP);
  tbi_walk_sim walk;
  tabi_status status = tbi_walk_sim_open(&walk, &def, err);
  int number = 1, picture = 0;
  while (status == TABI_OK && picture < PICTURES) {
    double time = fell + 0.3 * (picture - PICTURES + 2);
    if (tbi_simulation_time(&walk.sim) >= time) {
      const double *q = tabi_world_q(walk.sim.world);
      tbi_camera side = tbi_camera_side, front = tbi_camera_front;
      side.shift[0] = spacing * picture - q[0];
      side.shift[1] = 1.8;
      front.shift[0] = spacing * picture + q[1];
      number = tbi_outline_draw(&side, walk.sim.world, number, script);
      number = tbi_outline_draw(&front, walk.sim.world, number, script);
      (void)fprintf(script, "set label '%.2f s' at %g,-0.15 center\n", time, spacing * picture);
      ++picture;
    }
    status = tbi_walk_sim_step(&walk, err);
  }
  tbi_walk_sim_close(&walk);
  return status;
}

static tabi_status draw(tbi_trial *trial, const tbi_series *series, double fell, tabi_error *err) {
  tbi_figure figure;
  tabi_status status = tbi_figure_open(&figure, trial, 900, 700, err);
  if (status != TABI_OK) return status;
  status = draw_fall(trial, fell, figure.script, err);
  if (status != TABI_OK) {
    tbi_figure_drop(&figure);
    return status;
  }
  static const char *const names[RUNS] = {"rigid", "open_loop", "stabilised"};
  for (int i = 0; i < RUNS; ++i)
    tbi_figure_data(&figure, names[i], &series[i]);
  double right = spacing * PICTURES - 0.5;
  (void)fprintf(figure.script,
                "set multiplot\nset size 1,0.6\nset origin 0,0.4\nunset key\nunset tics\n"
                "unset border\nunset grid\nset size ratio -1\nset lmargin 1\nset rmargin 1\n"
                "set xrange [-0.6:%g]\nset yrange [-0.25:3.5]\n"
                "set label 'from the right' at -0.6,3.4\nset label 'from ahead' at -0.6,1.6\n"
                "set arrow 1 from -0.6,0 to %g,0 nohead lw 2 lc rgb '#666666'\n"
                "set arrow 2 from -0.6,1.8 to %g,1.8 nohead lw 2 lc rgb '#666666'\n"
                "plot -10 notitle\nunset object\nunset arrow\nunset label\nset size noratio\n"
                "set size 1,0.4\nset origin 0,0\nset border\nset tics nomirror\n"
                "set grid lc rgb '#dddddd'\nset lmargin 9\nset rmargin 2\nset xrange [0:20.2]\n"
                "set yrange [0.4:0.9]\nset key bottom right\nset xlabel 'time [s]'\n"
                "set ylabel 'centre of mass [m]'\n",
                right, right, right);
  for (int i = 0; i < RUNS; ++i)
    (void)fprintf(figure.script, "%s $%s using %d:%d with lines lt %d lw 2 title '%s'%s",
                  i == 0 ? "plot" : "", names[i], TBI_WALK_TIME + 1, TBI_WALK_COM_Z + 1, i + 1,
                  kinds[i].name, i < RUNS - 1 ? ",\\\n" : "\n");
  (void)fputs("unset multiplot\n", figure.script);
  return tbi_figure_close(&figure, ".svg", err);
}

static tabi_status run(tbi_trial *trial, tabi_error *err) {
  tbi_series series[RUNS];
  double fell[RUNS] = {0};
  for (int i = 0; i < RUNS; ++i)
    tbi_series_init(&series[i], tbi_walk_columns);
  tabi_status status = TABI_OK;
  for (int i = 0; i < RUNS && status == TABI_OK; ++i)
    status = run_kind(trial, i, &series[i], &fell[i], err);
  if (status == TABI_OK) status = draw(trial, series, fell[OPEN_LOOP], err);
  for (int i = 0; i < RUNS; ++i)
    tbi_series_free(&series[i]);
  return status;
}

const tbi_experiment tbi_p4_fall = {
    .id = "p4/fall",
    .paper = "P4, Fig. 6",
    .shows = "with rubber bushes and without its stabiliser the robot falls as the real one does; "
             "with both, or with neither, it completes 19 steps",
    .run = run,
};

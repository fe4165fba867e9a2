/* p4_fall.c - 19 steps on rubber feet: without the stabiliser the robot falls, with it it does not,
 * and on rigid feet it needs none.
 *
 * The walk of march.h under `cone`.  The run that falls is simulated twice: once to learn when it
 * falls, and once more to draw the moments before and after. */
#include "figure.h"
#include "march.h"
#include "view.h"

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
enum { RIGID, BLIND, STABILISED };

static const double spacing = 1.1; /* m, between pictures */

static tbi_march_def march_of(const tbi_trial *trial, int kind) {
  tbi_march_def def = tbi_march_humanoid36();
  tbi_march_nineteen(&def);
  if (trial->quick && !kinds[kind].falls) def.nstep = QUICK_STEPS;
  def.bush = kinds[kind].bush;
  def.stabilised = kinds[kind].stabilised;
  def.contact = TABI_CONTACT_CONE;
  return def;
}

static tabi_status run_kind(tbi_trial *trial, int kind, tbi_series *series, double *fell,
                            tabi_error *err) {
  tbi_march_def def = march_of(trial, kind);
  tbi_march_seen seen = {0};
  tbi_trial_progress(trial, kinds[kind].name);
  tabi_status status = tbi_march_run(&def, series, &seen, err);
  if (status != TABI_OK) return status;
  char outcome[48];
  if (seen.fell > 0) {
    (void)snprintf(outcome, sizeof outcome, "falls in step %d, %.2f s", (int)seen.fell_step,
                   seen.fell);
  } else {
    (void)snprintf(outcome, sizeof outcome, "completes %d steps", (int)def.nstep);
  }
  tbi_judge_word(trial, kinds[kind].name, kinds[kind].falls ? "falls" : "completes", outcome,
                 kinds[kind].falls == (seen.fell > 0));
  *fell = seen.fell;
  return tbi_series_write(series, trial, kinds[kind].ending, err);
}

/* Pictures around the fall, seen from the side and from ahead. */
static tabi_status draw_fall(tbi_trial *trial, double fell, FILE *script, tabi_error *err) {
  tbi_march_def def = march_of(trial, BLIND);
  tbi_march march;
  tabi_status status = tbi_march_open(&march, &def, err);
  int number = 1, picture = 0;
  while (status == TABI_OK && picture < PICTURES) {
    double time = fell + 0.3 * (picture - PICTURES + 2);
    if (tbi_stage_time(&march.stage) >= time) {
      const double *q = tabi_world_q(march.stage.world);
      tbi_view side = tbi_view_side, front = tbi_view_front;
      side.shift[0] = spacing * picture - q[0];
      side.shift[1] = 1.8;
      front.shift[0] = spacing * picture + q[1];
      number = tbi_view_draw(&side, march.stage.world, number, script);
      number = tbi_view_draw(&front, march.stage.world, number, script);
      (void)fprintf(script, "set label '%.2f s' at %g,-0.15 center\n", time, spacing * picture);
      ++picture;
    }
    status = tbi_march_step(&march, err);
  }
  tbi_march_close(&march);
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
  static const char *const names[RUNS] = {"rigid", "blind", "stabilised"};
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
                "set ylabel 'mass centre [m]'\n",
                right, right, right);
  for (int i = 0; i < RUNS; ++i)
    (void)fprintf(figure.script, "%s $%s using %d:%d with lines lt %d lw 2 title '%s'%s",
                  i == 0 ? "plot" : "", names[i], TBI_MARCH_TIME + 1, TBI_MARCH_COM_Z + 1, i + 1,
                  kinds[i].name, i < RUNS - 1 ? ",\\\n" : "\n");
  (void)fputs("unset multiplot\n", figure.script);
  return tbi_figure_close(&figure, ".svg", err);
}

static tabi_status run(tbi_trial *trial, tabi_error *err) {
  tbi_series series[RUNS];
  double fell[RUNS] = {0};
  for (int i = 0; i < RUNS; ++i)
    tbi_series_init(&series[i], tbi_march_columns);
  tabi_status status = TABI_OK;
  for (int i = 0; i < RUNS && status == TABI_OK; ++i)
    status = run_kind(trial, i, &series[i], &fell[i], err);
  if (status == TABI_OK) status = draw(trial, series, fell[BLIND], err);
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

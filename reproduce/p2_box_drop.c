/* p2_box_drop.c - a box falls on a floor of springs: the largest time step at which each integrator
 * succeeds.
 *
 * The drops are those of bench/box_drop.c.  The last good step of a method is the largest of the
 * grid before the first that fails; whole drops with it are timed.  Published is implicit
 * integration by assembly and disassembly (penalty-paper), ours solves all contacts together
 * (penalty). */
#include "box_drop.h"
#include "figure.h"
#include "measure.h"
#include "outline.h"
#include "p2_situations.h"
#include "series.h"

#include <math.h>

enum { EULER, RK4, IMPLICIT_A, IMPLICIT_B };
enum { METHOD, STEP, OUTCOME, DEPTH, NCOLUMN };
static const char *const columns[] = {"method", "step_s", "outcome", "depth_m", NULL};

/* s, of the drops that are drawn, as in Fig. 2; the digits of Euler's are hardly legible */
static const double implicit_step = 2e-3, euler_step = 0.25e-3;

typedef struct limit {
  double step;    /* s, the last good one */
  double seconds; /* of CPU time, for a simulated second with it */
} limit;

static void find_step(const tabi_model *model, int method, bool quick, limit *l,
                      tbi_series *series) {
  bool failed = false;
  for (int i = quick ? 3 : 0; i < TBI_DROP_STEPS; ++i) {
    double depth = 0;
    double step = tbi_drop_grid[i];
    tbi_drop_outcome outcome = tbi_drop_run(model, &tbi_drop_methods[method], step, &depth);
    const double row[NCOLUMN] = {method, step, outcome, depth};
    tbi_series_add(series, row);
    failed = failed || outcome != TBI_DROP_GOOD;
    if (!failed) l->step = step;
  }
}

static tabi_status time_drop(const tabi_model *model, int method, limit *l, tabi_error *err) {
  tabi_world *world = tbi_drop_open(model, &tbi_drop_methods[method], l->step);
  if (!world) return tbi_no_memory(err);
  double start = tbi_measure_clock();
  while (tabi_world_time(world) < tbi_drop_duration - 0.5 * l->step)
    if (tabi_world_step_or_grow(world, NULL) != TABI_OK) break;
  l->seconds = fmin(l->seconds, (tbi_measure_clock() - start) / tbi_drop_duration);
  tabi_world_destroy(world);
  return TABI_OK;
}

/* The minimum time of several drops; methods take turns, so that a slow moment of the machine falls
 * on all of them. */
static tabi_status time_drops(const tabi_model *model, limit *limits, tabi_error *err) {
  enum { REPEATS = 9 };
  tabi_status status = TABI_OK;
  for (int m = 0; m < TBI_DROP_METHODS; ++m)
    limits[m].seconds = INFINITY;
  for (int i = 0; i < REPEATS * TBI_DROP_METHODS && status == TABI_OK; ++i) {
    int m = i % TBI_DROP_METHODS;
    if (limits[m].step > 0) status = time_drop(model, m, &limits[m], err);
  }
  return status;
}

static const char *const time_reason =
    "an explicit step costs far less here than in the paper, where all integrators assemble: it "
    "needs neither Lambda nor P";

/* The paper: about 10 times the step of Euler, 3 times that of Runge-Kutta, a quarter of their
 * time.  The digits are hardly legible, so the least that may be read is asked for. */
static void check_implicit(tbi_trial *trial, const limit *limits, int method) {
  const limit *euler = &limits[EULER], *rk4 = &limits[RK4], *implicit = &limits[method];
  char steps[48];
  (void)snprintf(steps, sizeof steps, "%g < %g < %g", 1e3 * euler->step, 1e3 * rk4->step,
                 1e3 * implicit->step);
  tbi_expect_word(trial, "largest good steps [ms]: Euler, Runge-Kutta, implicit", "in this order",
                  steps, euler->step < rk4->step && rk4->step < implicit->step);
  tbi_expect_above(trial, "step of implicit against Euler (paper: about 10)", "times",
                   implicit->step / euler->step, 6);
  tbi_expect_above(trial, "step of implicit against Runge-Kutta (paper: about 3)", "times",
                   implicit->step / rk4->step, 2);
  tbi_may_differ(trial, time_reason, NULL);
  tbi_expect_below(trial, "time of implicit against Euler (paper: about 1/4)", "",
                   implicit->seconds / euler->seconds, 1.0 / 3);
  tbi_expect_below(trial, "time of implicit against Runge-Kutta (paper: about 1/4)", "",
                   implicit->seconds / rk4->seconds, 1.0 / 3);
  tbi_may_differ(trial, NULL, NULL);
}

/* Fig. 2 at its steps, and Euler at that of implicit integration. */
static void check_pictured(tbi_trial *trial, const tabi_model *model, int method) {
  static const char *const words[] = {"success", "unnatural", "diverged", "no memory"};
  double depth;
  tbi_drop_outcome outcome = tbi_drop_run(model, &tbi_drop_methods[method], implicit_step, &depth);
  tbi_expect_word(trial, "implicit, 2 ms", "success", words[outcome], outcome == TBI_DROP_GOOD);
  if (trial->variant != TBI_PUBLISHED) return;
  outcome = tbi_drop_run(model, &tbi_drop_methods[EULER], euler_step, &depth);
  tbi_expect_word(trial, "Euler, 0.25 ms", "success", words[outcome], outcome == TBI_DROP_GOOD);
  outcome = tbi_drop_run(model, &tbi_drop_methods[EULER], implicit_step, &depth);
  tbi_expect_word(trial, "Euler, 2 ms", "no success", words[outcome], outcome != TBI_DROP_GOOD);
}

static void check_drops(tbi_trial *trial, const tabi_model *model, const limit *limits) {
  trial->variant = TBI_PUBLISHED;
  check_pictured(trial, model, IMPLICIT_A);
  check_implicit(trial, limits, IMPLICIT_A);
  trial->variant = TBI_OURS;
  check_pictured(trial, model, IMPLICIT_B);
  check_implicit(trial, limits, IMPLICIT_B);
}

/* Pictures of a drop, one beside the other. */
static tabi_status draw_drop(const tabi_model *model, int method, double step, double height,
                             int *number, FILE *script, tabi_error *err) {
  static const double times[] = {0, 0.14, 0.2, 0.26, 0.32, 0.4, 0.6};
  tabi_world *world = tbi_drop_open(model, &tbi_drop_methods[method], step);
  if (!world) return tbi_no_memory(err);
  bool going = true;
  for (size_t i = 0; i < sizeof times / sizeof *times; ++i) {
    while (going && tabi_world_time(world) < times[i] - 0.5 * step)
      going = tabi_world_step_or_grow(world, NULL) == TABI_OK;
    tbi_camera camera = tbi_camera_side;
    camera.by_body = true;
    camera.shift[0] = 0.5 * (double)i;
    camera.shift[1] = height;
    *number = tbi_outline_draw(&camera, world, *number, script);
    (void)fprintf(script,
                  "set label '%g s' at %g,%g center\n"
                  "set arrow from %g,%g to %g,%g nohead lw 2 lc rgb '#666666'\n",
                  times[i], 0.5 * (double)i, height - 0.06, 0.5 * (double)i - 0.2, height,
                  0.5 * (double)i + 0.2, height);
  }
  tabi_world_destroy(world);
  return TABI_OK;
}

/* Fig. 2: pictures of the published drops and of ours. */
static tabi_status draw_pictures(const tabi_model *model, FILE *script, tabi_error *err) {
  static const struct {
    const char *title;
    int method;
    double step, height;
  } row[] = {
      {"implicit, 2 ms (paper's Fig. 2a)", IMPLICIT_A, implicit_step, 1.2},
      {"Euler, 0.25 ms (paper's Fig. 2b)", EULER,      euler_step,    0.6},
      {"ours, 2 ms",                       IMPLICIT_B, implicit_step, 0  }
  };
  int number = 1;
  for (size_t i = 0; i < sizeof row / sizeof *row; ++i) {
    (void)fprintf(script, "set label \"%s\" at -0.25,%g\n", row[i].title, row[i].height + 0.46);
    tabi_status status =
        draw_drop(model, row[i].method, row[i].step, row[i].height, &number, script, err);
    if (status != TABI_OK) return status;
  }
  return TABI_OK;
}

/* Table 1: the outcome of every drop. */
static tabi_status draw(tbi_trial *trial, const tabi_model *model, const tbi_series *series,
                        tabi_error *err) {
  tbi_figure figure;
  tabi_status status = tbi_figure_open(&figure, trial, 900, 820, err);
  if (status != TABI_OK) return status;
  FILE *script = figure.script;
  status = draw_pictures(model, script, err);
  if (status != TABI_OK) {
    tbi_figure_drop(&figure);
    return status;
  }
  tbi_figure_data(&figure, "run", series);
  (void)fputs(
      "set multiplot\nset size 1,0.62\nset origin 0,0.38\nunset key\nunset tics\nunset border\n"
      "unset grid\nset size ratio -1\nset lmargin 1\nset rmargin 1\nset xrange [-0.3:3.3]\n"
      "set yrange [-0.1:1.75]\nplot -10 notitle\nunset object\nunset arrow\nunset label\n"
      "set size noratio\nset size 1,0.38\nset origin 0,0\nset border\nunset lmargin\n"
      "unset rmargin\nset xrange [0.04:12]\nset logscale x\nset yrange [-0.6:3.6]\n"
      "set xtics nomirror (0.05,0.1,0.2,0.3,0.5,0.7,1,1.4,2,3,4,5,7,10)\n"
      "set ytics nomirror ('Euler' 0, 'Runge-Kutta' 1, 'implicit' 2, 'ours' 3)\n"
      "set grid lc rgb '#dddddd'\nset xlabel 'step [ms]'\nset key outside top center horizontal "
      "samplen 1 width -2\n"
      "$paper << END\n2 2\n0.25 0\nEND\n"
      "plot $run using ($3==0 ? $2*1e3 : NaN):1 with points pt 7 ps 1.2 lt 3 title 'success',\\\n"
      " '' using ($3==1 ? $2*1e3 : NaN):1 with points pt 9 ps 1.2 lt 4 title 'unnatural',\\\n"
      " '' using ($3>=2 ? $2*1e3 : NaN):1 with points pt 2 ps 0.9 lt 2 title 'diverged',\\\n"
      " $paper using 1:2 with points pt 6 ps 2 lw 2 lc rgb 'black' title \"paper's Fig. 2\"\n"
      "unset multiplot\n",
      script);
  return tbi_figure_close(&figure, ".svg", err);
}

static tabi_status run_drops(tbi_trial *trial, const tabi_model *model, tbi_series *series,
                             tabi_error *err) {
  limit limits[TBI_DROP_METHODS] = {0};
  for (int m = 0; m < TBI_DROP_METHODS; ++m) {
    tbi_trial_progress(trial, tbi_drop_methods[m].name);
    find_step(model, m, trial->quick, &limits[m], series);
  }
  tabi_status status = time_drops(model, limits, err);
  if (status != TABI_OK) return status;
  check_drops(trial, model, limits);
  status = tbi_p2_check_situations(trial, err);
  if (status == TABI_OK) status = tbi_series_write(series, trial, ".csv", err);
  if (status == TABI_OK) status = draw(trial, model, series, err);
  return status;
}

static tabi_status run(tbi_trial *trial, tabi_error *err) {
  tabi_model *model = tbi_drop_model(err);
  if (!model) return err->status;
  tbi_series series;
  tbi_series_init(&series, columns);
  tabi_status status = run_drops(trial, model, &series, err);
  tbi_series_free(&series);
  tabi_model_destroy(model);
  return status;
}

const tbi_experiment tbi_p2_box_drop = {
    .id = "p2/box-drop",
    .paper = "P2, Table 1, Fig. 2",
    .shows = "a box dropped on springs needs far smaller steps under Euler and Runge-Kutta than "
             "under implicit integration",
    .reconstructed = "box, springs and success; steps and ratios are hardly legible",
    .run = run,
};

/* p4_fall.c - 19 steps on rubber feet: without the stabiliser the robot falls, with it it does not,
 * and on rigid feet it needs none.
 *
 * The walk of walk_sim.h, under cone-paper and rk4 as published and under cone.  The published run
 * that falls is simulated twice: once to learn when it falls, and once more to draw the moments
 * before and after. */
#include "figure.h"
#include "outline.h"
#include "walk_sim.h"

#include <math.h>

enum { RUNS = 3, PICTURES = 6, QUICK_STEPS = 6 };

static const struct {
  const char *name, *data;
  bool bush, stabilised, falls;
} kinds[RUNS] = {
    {"rigid feet, no stabiliser",   "rigid",      false, false, false},
    {"rubber feet, no stabiliser",  "open_loop",  true,  false, true },
    {"rubber feet with stabiliser", "stabilised", true,  true,  false},
};
enum { RIGID, OPEN_LOOP, STABILISED };
static const char *const endings[TBI_VARIANTS][RUNS] = {
    [TBI_OURS] = {"-rigid.csv",           ".csv",           "-stabilised.csv"          },
    [TBI_PUBLISHED] = {"-published-rigid.csv", "-published.csv", "-published-stabilised.csv"}
};

typedef struct outcome {
  tbi_series series;
  double fell; /* s, or 0 */
  double slip; /* m */
} outcome;

static const double spacing = 1.5; /* m, between pictures */

static tbi_walk_sim_def walk_of(const tbi_trial *trial, tbi_variant variant, int kind) {
  tbi_walk_sim_def def = tbi_walk_sim_humanoid36();
  tbi_walk_sim_add_nineteen_steps(&def);
  if (trial->quick && !kinds[kind].falls) def.nstep = QUICK_STEPS;
  def.bush = kinds[kind].bush;
  def.stabilised = kinds[kind].stabilised;
  def.contact = TABI_CONTACT_CONE;
  if (variant == TBI_PUBLISHED) tbi_walk_sim_publish(&def);
  return def;
}

static tabi_status run_kind(tbi_trial *trial, tbi_variant variant, int kind, outcome *o,
                            tabi_error *err) {
  tbi_walk_sim_def def = walk_of(trial, variant, kind);
  tbi_walk_metrics metrics = {0};
  tbi_trial_progress(trial, kinds[kind].name);
  tabi_status status = tbi_walk_sim_run(&def, &o->series, &metrics, err);
  if (status != TABI_OK) return status;
  char says[48];
  if (metrics.fall_time > 0) {
    (void)snprintf(says, sizeof says, "falls in step %d, %.2f s", (int)metrics.fall_step,
                   metrics.fall_time);
  } else {
    (void)snprintf(says, sizeof says, "completes %d steps", (int)def.nstep);
  }
  trial->variant = variant;
  tbi_expect_word(trial, kinds[kind].name, kinds[kind].falls ? "falls" : "completes", says,
                  kinds[kind].falls == (metrics.fall_time > 0));
  o->fell = metrics.fall_time;
  o->slip = metrics.slip;
  return tbi_series_write(&o->series, trial, endings[variant][kind], err);
}

/* Of the runs that complete. */
static void check_slip(tbi_trial *trial, tbi_variant variant, const outcome o[RUNS]) {
  double slip = 0;
  for (int i = 0; i < RUNS; ++i)
    if (o[i].fell == 0) slip = fmax(slip, o[i].slip);
  trial->variant = variant;
  tbi_walk_expect_grip(trial, slip);
}

/* Pictures around the fall, seen from the side and from ahead. */
static tabi_status draw_fall(tbi_trial *trial, double fell, FILE *script, tabi_error *err) {
  tbi_walk_sim_def def = walk_of(trial, TBI_PUBLISHED, OPEN_LOOP);
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

static void plot_heights(FILE *script) {
  for (int i = 0; i < TBI_VARIANTS * RUNS; ++i) {
    bool published = i < RUNS;
    (void)fprintf(script, "%s $%s_%s using %d:%d with lines lt %d lw 2 dt %d title '%s, %s'%s",
                  i == 0 ? "plot" : "", published ? "published" : "ours", kinds[i % RUNS].data,
                  TBI_WALK_TIME + 1, TBI_WALK_COM_Z + 1, i % RUNS + 1, published ? 1 : 2,
                  kinds[i % RUNS].name, published ? "published" : "ours",
                  i < TBI_VARIANTS * RUNS - 1 ? ",\\\n" : "\n");
  }
}

static void add_data(tbi_figure *figure, outcome o[TBI_VARIANTS][RUNS]) {
  for (int v = 0; v < TBI_VARIANTS; ++v)
    for (int i = 0; i < RUNS; ++i) {
      char name[48];
      (void)snprintf(name, sizeof name, "%s_%s", v == TBI_PUBLISHED ? "published" : "ours",
                     kinds[i].data);
      tbi_figure_data(figure, name, &o[v][i].series);
    }
}

static tabi_status draw(tbi_trial *trial, outcome o[TBI_VARIANTS][RUNS], tabi_error *err) {
  tbi_figure figure;
  tabi_status status = tbi_figure_open(&figure, trial, 900, 760, err);
  if (status != TABI_OK) return status;
  status = draw_fall(trial, o[TBI_PUBLISHED][OPEN_LOOP].fell, figure.script, err);
  if (status != TABI_OK) {
    tbi_figure_drop(&figure);
    return status;
  }
  add_data(&figure, o);
  double right = spacing * PICTURES - 0.2;
  (void)fprintf(figure.script,
                "set multiplot\nset size 1,0.55\nset origin 0,0.45\nunset key\nunset tics\n"
                "unset border\nunset grid\nset size ratio -1\nset lmargin 1\nset rmargin 1\n"
                "set xrange [-0.6:%g]\nset yrange [-0.35:3.6]\n"
                "set label 'published, from the right' at -0.6,3.4\n"
                "set label 'from ahead' at -0.6,1.6\n"
                "set arrow 1 from -0.6,0 to %g,0 nohead lw 2 lc rgb '#666666'\n"
                "set arrow 2 from -0.6,1.8 to %g,1.8 nohead lw 2 lc rgb '#666666'\n"
                "plot -10 notitle\nunset object\nunset arrow\nunset label\nset size noratio\n"
                "set size 1,0.45\nset origin 0,0\nset border\nset tics nomirror\n"
                "set grid lc rgb '#dddddd'\nset lmargin 9\nset rmargin 2\nset xrange [0:21]\n"
                "set yrange [0.4:0.8]\nset key outside bottom center horizontal maxrows 3\n"
                "set xlabel 'time [s]'\nset ylabel 'centre of mass [m]'\n",
                right, right, right);
  plot_heights(figure.script);
  (void)fputs("unset multiplot\n", figure.script);
  return tbi_figure_close(&figure, ".svg", err);
}

static tabi_status run(tbi_trial *trial, tabi_error *err) {
  outcome o[TBI_VARIANTS][RUNS] = {0};
  tabi_status status = TABI_OK;
  for (int v = 0; v < TBI_VARIANTS; ++v)
    for (int i = 0; i < RUNS; ++i) {
      tbi_series_init(&o[v][i].series, tbi_walk_columns);
      if (status == TABI_OK) status = run_kind(trial, (tbi_variant)v, i, &o[v][i], err);
    }
  for (int v = 0; v < TBI_VARIANTS && status == TABI_OK; ++v)
    check_slip(trial, (tbi_variant)v, o[v]);
  if (status == TABI_OK) status = draw(trial, o, err);
  for (int v = 0; v < TBI_VARIANTS; ++v)
    for (int i = 0; i < RUNS; ++i)
      tbi_series_free(&o[v][i].series);
  return status;
}

const tbi_experiment tbi_p4_fall = {
    .id = "p4/fall",
    .paper = "P4, Fig. 6",
    .shows = "with rubber bushes and without its stabiliser the robot falls as the real one does; "
             "with both, or with neither, it completes 19 steps",
    .reconstructed =
        "robot, gains, walking pattern and stabiliser; rubber from the authors' sample",
    .run = run,
};

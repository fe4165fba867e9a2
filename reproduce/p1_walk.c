/* p1_walk.c - 19 steps of humanoid36, with turns and backwards, in three runs: on rigid feet; on
 * rubber feet, open loop; on rubber feet with the stabiliser.
 *
 * Each run is done with three time steps, under the paper's formulation and under exact.  Forces
 * and slip are those of the runs under lcp with steps of 1 ms that complete, the worst of them. */
#include "figure.h"
#include "walk_sim.h"

#include <math.h>
#include <string.h>

enum { RUNS = 3, TIMESTEPS = 3, REPEATS = 4, QUICK_STEPS = 8 };

typedef struct kind {
  const char *name;
  bool bush, stabilised, falls;
} kind;
static const kind kinds[RUNS] = {
    {"rigid feet, no stabiliser",   false, false, false},
    {"rubber feet, no stabiliser",  true,  false, true },
    {"rubber feet with stabiliser", true,  true,  false},
};
static const char *const data_names[RUNS] = {"rigid", "open_loop", "stabilised"};
static const double timesteps[TIMESTEPS] = {1e-3, 0.5e-3, 2e-3};

static tbi_walk_sim_def walk_of(const kind *k, tabi_contact_kind contact) {
  tbi_walk_sim_def def = tbi_walk_sim_humanoid36();
  tbi_walk_sim_add_nineteen_steps(&def);
  def.bush = k->bush;
  def.stabilised = k->stabilised;
  def.contact = contact;
  return def;
}

/* The worst of what is measured in runs that complete. */
typedef struct worst {
  double force_error, slip, noise;
} worst;

static void note_worst(worst *w, const tbi_walk_metrics *metrics) {
  w->force_error = fmax(w->force_error, metrics->force_error);
  w->slip = fmax(w->slip, metrics->slip);
  w->noise = fmax(w->noise, metrics->noise);
}

static bool as_expected(const kind *k, const tbi_walk_metrics *metrics) {
  return k->falls ? metrics->fall_time > 0 && metrics->fall_step <= 4 : metrics->fall_time == 0;
}

/* One kind of run with all time steps, the first of which is logged. */
static tabi_status run_kind(tbi_trial *trial, const kind *k, tabi_contact_kind contact,
                            tbi_series *series, worst *w, tabi_error *err) {
  char name[64], outcome[48] = "";
  bool pass = true;
  (void)snprintf(name, sizeof name, "%s, %s", k->name, tabi_contact_name(contact));
  for (int i = 0; i < (trial->quick ? 1 : TIMESTEPS); ++i) {
    tbi_walk_sim_def def = walk_of(k, contact);
    def.timestep = timesteps[i];
    if (trial->quick) def.nstep = QUICK_STEPS;
    tbi_walk_metrics metrics;
    tbi_trial_progress(trial, name);
    tabi_status status = tbi_walk_sim_run(&def, i == 0 ? series : NULL, &metrics, err);
    if (status != TABI_OK) return status;
    pass = pass && as_expected(k, &metrics);
    size_t end = strlen(outcome);
    if (metrics.fall_time > 0) {
      (void)snprintf(outcome + end, sizeof outcome - end, "%sfalls (%d)", i ? ", " : "",
                     (int)metrics.fall_step);
    } else {
      (void)snprintf(outcome + end, sizeof outcome - end, "%scompletes", i ? ", " : "");
      if (i == 0) note_worst(w, &metrics);
    }
  }
  tbi_expect_word(trial, name, k->falls ? "falls (steps 1 to 4)" : "completes", outcome, pass);
  return TABI_OK;
}

static tabi_status check_speed(tbi_trial *trial, tabi_error *err) {
  for (int i = 0; i < RUNS; ++i) {
    if (kinds[i].falls) continue;
    tbi_walk_sim_def def = walk_of(&kinds[i], TABI_CONTACT_LCP);
    char name[64];
    double seconds = 0;
    (void)snprintf(name, sizeof name, "speed of %s, lcp", kinds[i].name);
    tbi_trial_progress(trial, name);
    tabi_status status = tbi_walk_sim_step_cost(&def, REPEATS, &seconds, err);
    if (status != TABI_OK) return status;
    tbi_expect_above(trial, name, "x real time", def.timestep / seconds, 20);
  }
  return TABI_OK;
}

static tabi_status check_variants(tbi_trial *trial, tabi_error *err) {
  for (int i = 0; i < RUNS; ++i) {
    if (kinds[i].falls) continue;
    tbi_walk_sim_def def = walk_of(&kinds[i], TABI_CONTACT_LCP);
    char name[64];
    (void)snprintf(name, sizeof name, "%s: variants that complete", kinds[i].name);
    tabi_status status = tbi_walk_sim_check_variants(trial, &def, name, err);
    if (status != TABI_OK) return status;
  }
  return TABI_OK;
}

/* Columns of all runs, as in "5:6", in one plot. */
static void plot_columns(FILE *script, const char *columns) {
  for (int i = 0; i < RUNS; ++i)
    (void)fprintf(script, "%s $%s using %s with lines lt %d lw 2 title '%s'%s",
                  i == 0 ? "plot" : "", data_names[i], columns, i + 1, kinds[i].name,
                  i < RUNS - 1 ? ",\\\n" : "\n");
}

static tabi_status draw(tbi_trial *trial, const tbi_series *series, tabi_error *err) {
  tbi_figure figure;
  tabi_status status = tbi_figure_open(&figure, trial, 900, 760, err);
  if (status != TABI_OK) return status;
  for (int i = 0; i < RUNS; ++i)
    tbi_figure_data(&figure, data_names[i], &series[i]);
  (void)fputs("set multiplot\nset lmargin at screen 0.1\nset rmargin at screen 0.97\n"
              "set tmargin at screen 0.94\nset bmargin at screen 0.55\n"
              "set size ratio -1\nset xlabel 'x [m]'\nset ylabel 'y [m]'\n"
              "set key at screen 0.535,0.99 center top horizontal maxrows 1\n",
              figure.script);
  plot_columns(figure.script, "5:6");
  (void)fputs("set size noratio\nset tmargin at screen 0.44\nset bmargin at screen 0.08\n"
              "set xlabel 'time [s]'\nset ylabel 'height of the centre of mass [m]'\n"
              "set yrange [0.5:0.9]\nset xrange [0:20]\nunset key\n",
              figure.script);
  plot_columns(figure.script, "1:7");
  (void)fputs("unset multiplot\n", figure.script);
  return tbi_figure_close(&figure, ".svg", err);
}

static tabi_status write(tbi_trial *trial, const tbi_series *series, tabi_error *err) {
  static const char *const endings[RUNS] = {"-rigid.csv", "-open-loop.csv", "-stabilised.csv"};
  tabi_status status = TABI_OK;
  for (int i = 0; i < RUNS && status == TABI_OK; ++i)
    status = tbi_series_write(&series[i], trial, endings[i], err);
  return status == TABI_OK ? draw(trial, series, err) : status;
}

static tabi_status run_all(tbi_trial *trial, tbi_series *series, tabi_error *err) {
  worst w = {0}, other = w;
  tabi_status status = TABI_OK;
  for (int i = 0; i < RUNS && status == TABI_OK; ++i)
    status = run_kind(trial, &kinds[i], TABI_CONTACT_LCP, &series[i], &w, err);
  for (int i = 0; i < RUNS && status == TABI_OK; ++i)
    status = run_kind(trial, &kinds[i], TABI_CONTACT_EXACT, NULL, &other, err);
  if (status != TABI_OK) return status;
  tbi_expect_below(trial, "mean force over a step, error to the weight", "%", 100 * w.force_error,
                   0.5);
  tbi_expect_below(trial, "slip of the stance foot", "mm", 1e3 * w.slip, 0.1);
  tbi_expect_below(trial, "noise of the force in stance / weight", "%", 100 * w.noise, 2);
  if (!trial->quick) status = check_speed(trial, err);
  if (status == TABI_OK && !trial->quick) status = check_variants(trial, err);
  return status == TABI_OK ? write(trial, series, err) : status;
}

static tabi_status run(tbi_trial *trial, tabi_error *err) {
  tbi_series series[RUNS];
  for (int i = 0; i < RUNS; ++i)
    tbi_series_init(&series[i], tbi_walk_columns);
  tabi_status status = run_all(trial, series, err);
  for (int i = 0; i < RUNS; ++i)
    tbi_series_free(&series[i]);
  return status;
}

const tbi_experiment tbi_p1_walk = {
    .id = "p1/walk",
    .paper = "P1, three walks",
    .shows = "19 steps in 20 s with turns and backwards: completed on rigid feet; on rubber feet "
             "the robot falls in step 2 without the stabiliser and completes with it",
    .run = run,
};

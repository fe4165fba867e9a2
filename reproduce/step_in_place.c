/* step_in_place.c - humanoid36 on rubber feet steps in place (P1, Figs. 6 and 7; P4, Fig. 4).
 *
 * With the stabiliser, as each paper has it and under tabi's method.  Force and moment of the
 * figures are those of the sensor in the left ankle, as in the papers; what the floor gives is
 * judged too. */
#include "figure.h"
#include "walk_sim.h"

enum { STEPS = 12, QUICK_STEPS = 4 };

static tbi_walk_sim_def walk_of(const tbi_trial *trial, tbi_variant variant) {
  tbi_walk_sim_def def = tbi_walk_sim_humanoid36();
  tabi_footstep in_place = tabi_footstep_default();
  tbi_walk_sim_add_steps(&def, trial->quick ? QUICK_STEPS : STEPS, in_place);
  def.stand_after = 1;
  def.bush = def.stabilised = true;
  def.contact = trial->experiment->contact;
  if (variant == TBI_PUBLISHED) tbi_walk_sim_publish(&def);
  return def;
}

static void check(tbi_trial *trial, const tbi_walk_metrics *metrics) {
  tbi_expect_word(trial, "steps on to the end", "yes", metrics->fall_time > 0 ? "falls" : "yes",
                  metrics->fall_time == 0);
  tbi_expect_below(trial, "mean force over a step, error to the weight", "%",
                   100 * metrics->force_error, 0.5);
  tbi_expect_within(trial, "force on the swing foot", "N", metrics->swing_force, 0, 0);
  tbi_walk_expect_calm(trial, true, "", metrics->noise, metrics->jitter);
  tbi_walk_expect_grip(trial, metrics->slip);
  tbi_expect_above(trial, "load on the stance foot", "%", 100 * metrics->stance_load, 95);
}

/* Force, and for P1 the roll moment, of both variants. */
static tabi_status draw(tbi_trial *trial, const tbi_series series[TBI_VARIANTS], double weight,
                        tabi_error *err) {
  bool moment = trial->experiment->contact == TABI_CONTACT_LCP;
  tbi_figure figure;
  tabi_status status = tbi_figure_open(&figure, trial, 900, moment ? 640 : 360, err);
  if (status != TABI_OK) return status;
  tbi_figure_data(&figure, "published", &series[TBI_PUBLISHED]);
  tbi_figure_data(&figure, "ours", &series[TBI_OURS]);
  if (moment) (void)fputs("set multiplot layout 2,1\n", figure.script);
  (void)fprintf(figure.script,
                "set lmargin 9\nset xlabel 'time [s]'\nset xrange [0:*]\n"
                "set key outside top center horizontal\n"
                "set ylabel 'vertical force in the left ankle [N]'\nset yrange [-50:*]\n"
                "plot %g with lines lc rgb '#999999' dt 2 title 'weight',\\\n"
                " $published using 1:%d with lines lw 3 lc rgb '#f0b8bf' title 'published',\\\n"
                " $ours using 1:%d with lines lt 1 title 'ours'\n",
                weight, TBI_WALK_LEFT_SENSOR + 1, TBI_WALK_LEFT_SENSOR + 1);
  if (moment)
    (void)fprintf(figure.script,
                  "set ylabel 'roll moment in the left ankle [Nm]'\nset yrange [*:*]\nunset key\n"
                  "plot $published using 1:%d with lines lw 3 lc rgb '#f0b8bf',\\\n"
                  " $ours using 1:%d with lines lt 1\nunset multiplot\n",
                  TBI_WALK_LEFT_SENSOR_ROLL + 1, TBI_WALK_LEFT_SENSOR_ROLL + 1);
  return tbi_figure_close(&figure, ".svg", err);
}

static tabi_status run_variant(tbi_trial *trial, tbi_variant variant, tbi_series *series,
                               double *weight, tabi_error *err) {
  tbi_walk_sim_def def = walk_of(trial, variant);
  tbi_walk_metrics metrics;
  trial->variant = variant;
  tbi_trial_progress(trial, tabi_contact_name(def.contact));
  tabi_status status = tbi_walk_sim_run(&def, series, &metrics, err);
  if (status != TABI_OK) return status;
  *weight = metrics.weight;
  check(trial, &metrics);
  if (!trial->quick)
    status = tbi_walk_sim_check_variants(trial, &def, "variants that step to the end", err);
  if (status != TABI_OK) return status;
  return tbi_series_write(series, trial, variant == TBI_PUBLISHED ? "-published.csv" : ".csv", err);
}

static tabi_status run(tbi_trial *trial, tabi_error *err) {
  tbi_series series[TBI_VARIANTS];
  double weight = 0;
  tabi_status status = TABI_OK;
  for (int v = 0; v < TBI_VARIANTS; ++v) {
    tbi_series_init(&series[v], tbi_walk_columns);
    if (status == TABI_OK) status = run_variant(trial, (tbi_variant)v, &series[v], &weight, err);
  }
  if (status == TABI_OK) status = draw(trial, series, weight, err);
  for (int v = 0; v < TBI_VARIANTS; ++v)
    tbi_series_free(&series[v]);
  return status;
}

static const char reconstructed[] =
    "robot, gains, walking pattern and stabiliser; rubber from the authors' sample";

const tbi_experiment tbi_p1_stepping = {
    .id = "p1/stepping",
    .paper = "P1, Figs. 6, 7",
    .shows =
        "force and roll moment of a foot while the robot steps in place, as measured on the robot, "
        "with almost no noise",
    .reconstructed = reconstructed,
    .run = run,
    .contact = TABI_CONTACT_LCP,
};

const tbi_experiment tbi_p4_stepping = {
    .id = "p4/stepping",
    .paper = "P4, Fig. 4",
    .shows = "force of a foot while the robot steps in place, as measured on the robot",
    .reconstructed = reconstructed,
    .run = run,
    .contact = TABI_CONTACT_CONE,
};

/* step_in_place.c - humanoid36 on rubber feet steps in place (P1, Figs. 6 and 7; P4, Fig. 4).
 *
 * With the stabiliser, under the formulation of each paper and under exact.  Forces are those of
 * the floor on the left foot, the moment about the origin of its link, above the sole. */
#include "figure.h"
#include "walk_sim.h"

enum { STEPS = 12, QUICK_STEPS = 4 };

static tbi_walk_sim_def walk_of(const tbi_trial *trial, tabi_contact_kind contact) {
  tbi_walk_sim_def def = tbi_walk_sim_humanoid36();
  tabi_footstep in_place = tabi_footstep_default();
  tbi_walk_sim_add_steps(&def, trial->quick ? QUICK_STEPS : STEPS, in_place);
  def.stand_after = 1;
  def.bush = def.stabilised = true;
  def.contact = contact;
  return def;
}

static void check(tbi_trial *trial, tabi_contact_kind contact, const tbi_walk_metrics *metrics) {
  trial->method = tabi_contact_name(contact);
  tbi_expect_word(trial, "steps on to the end", "yes", metrics->fall_time > 0 ? "falls" : "yes",
                  metrics->fall_time == 0);
  tbi_expect_below(trial, "mean force over a step, error to the weight", "%",
                   100 * metrics->force_error, 0.5);
  tbi_expect_within(trial, "force on the swing foot", "N", metrics->swing_force, 0, 0);
  tbi_expect_below(trial, "noise of the force in stance / weight", "%", 100 * metrics->noise, 2);
  tbi_expect_above(trial, "load on the stance foot", "%", 100 * metrics->stance_load, 95);
  trial->method = NULL;
}

static tabi_status draw(tbi_trial *trial, const tbi_series *series, tabi_error *err) {
  tbi_figure figure;
  tabi_status status = tbi_figure_open(&figure, trial, 800, 620, err);
  if (status != TABI_OK) return status;
  tbi_figure_data(&figure, "run", series);
  (void)fputs("set multiplot layout 2,1\nset lmargin 9\nset xlabel 'time [s]'\nset xrange [0:*]\n"
              "set ylabel 'vertical force of the left foot [N]'\nset yrange [-50:750]\n"
              "plot $run using 1:2 with lines lt 1 notitle\n"
              "set ylabel 'roll moment of the left foot [Nm]'\nset yrange [*:*]\n"
              "plot $run using 1:4 with lines lt 2 notitle\nunset multiplot\n",
              figure.script);
  return tbi_figure_close(&figure, ".svg", err);
}

static tabi_status check_variants(tbi_trial *trial, tabi_contact_kind contact, tabi_error *err) {
  tbi_walk_sim_def def = walk_of(trial, contact);
  return tbi_walk_sim_check_variants(trial, &def, "variants that step to the end", err);
}

static tabi_status run(tbi_trial *trial, tabi_error *err) {
  const tabi_contact_kind contact = trial->experiment->contact;
  tbi_series series;
  tbi_series_init(&series, tbi_walk_columns);
  tbi_walk_sim_def def = walk_of(trial, contact);
  tbi_walk_metrics metrics;
  tabi_status status = tbi_walk_sim_run(&def, &series, &metrics, err);
  if (status == TABI_OK) {
    check(trial, contact, &metrics);
    def.contact = TABI_CONTACT_EXACT;
    status = tbi_walk_sim_run(&def, NULL, &metrics, err);
  }
  if (status == TABI_OK) check(trial, TABI_CONTACT_EXACT, &metrics);
  if (status == TABI_OK && !trial->quick) status = check_variants(trial, contact, err);
  if (status == TABI_OK) status = tbi_series_write(&series, trial, ".csv", err);
  if (status == TABI_OK) status = draw(trial, &series, err);
  tbi_series_free(&series);
  return status;
}

const tbi_experiment tbi_p1_stepping = {
    .id = "p1/stepping",
    .paper = "P1, Figs. 6, 7",
    .shows =
        "force and roll moment of a foot while the robot steps in place, as measured on the robot, "
        "with almost no noise",
    .run = run,
    .contact = TABI_CONTACT_LCP,
};

const tbi_experiment tbi_p4_stepping = {
    .id = "p4/stepping",
    .paper = "P4, Fig. 4",
    .shows = "force of a foot while the robot steps in place, as measured on the robot",
    .run = run,
    .contact = TABI_CONTACT_CONE,
};

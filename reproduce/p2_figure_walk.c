/* p2_figure_walk.c - a human figure walks under penalty, as published and ours (P2, Fig. 3).
 *
 * The paper shows pictures and the time of a step.  What can be checked is that the figure walks
 * with steps of 1 ms, carried by a floor that it hardly sinks into. */
#include "picture_strip.h"
#include "walk_sim.h"

#include <math.h>

enum { PICTURES = 8, REPEATS = 3, STEPS = 8, QUICK_STEPS = 3 };

static const double stature = 1.75;    /* m */
static const double paper_cost = 3e-3; /* s, of a step of the simulation in the paper */

static const tabi_contact_kind contacts[TBI_VARIANTS] = {
    [TBI_PUBLISHED] = TABI_CONTACT_PENALTY_PAPER, [TBI_OURS] = TABI_CONTACT_PENALTY};

static tbi_walk_sim_def walk_of(const tbi_trial *trial) {
  tbi_walk_sim_def def = tbi_walk_sim_figure40();
  tabi_footstep step = tabi_footstep_default();
  step.forward = 0.2;
  step.single_support = 0.6;
  tabi_footstep close = step;
  close.forward = 0;
  tbi_walk_sim_add_steps(&def, trial->quick ? QUICK_STEPS : STEPS, step);
  tbi_walk_sim_add_steps(&def, 1, close);
  def.contact = contacts[trial->variant];
  return def;
}

/* Pictures of two steps in the middle. */
static bool is_picture(const tbi_walk_sim *m, int32_t taken) {
  const tabi_footstep *step = &m->def.step[0];
  double period = step->double_support + step->single_support;
  double begin = m->def.stand_before + (m->def.nstep > 4 ? 2 : 1) * period;
  return tbi_simulation_time(&m->sim) >= begin + 2 * period * taken / (PICTURES - 1);
}

static tabi_status walk(const tbi_walk_sim_def *def, tbi_picture_strip *strip, tbi_series *series,
                        tbi_walk_metrics *metrics, tabi_error *err) {
  tbi_walk_sim m;
  tabi_status status = tbi_walk_sim_open(&m, def, err);
  while (status == TABI_OK && tbi_walk_sim_running(&m)) {
    if (strip->taken < PICTURES && is_picture(&m, strip->taken))
      tbi_picture_strip_take(strip, &m.sim, tabi_world_q(m.sim.world)[0]);
    status = tbi_walk_sim_step(&m, err);
    if (status == TABI_OK) tbi_walk_sim_record(&m, series);
  }
  *metrics = m.metrics;
  tbi_walk_sim_close(&m);
  return status;
}

static void check(tbi_trial *trial, const tbi_walk_metrics *metrics) {
  tbi_expect_word(trial, "walks to the end", "yes", metrics->fall_time > 0 ? "falls" : "yes",
                  metrics->fall_time == 0);
  tbi_expect_below(trial, "max penetration", "mm", 1e3 * metrics->penetration, 1);
  tbi_expect_below(trial, "mean force over a step, error to the weight", "%",
                   100 * metrics->force_error, 0.5);
}

/* Step time and variants, which take long. */
static tabi_status check_cost(tbi_trial *trial, const tbi_walk_sim_def *def, tabi_error *err) {
  double seconds = 0;
  tabi_status status = tbi_walk_sim_step_cost(def, REPEATS, &seconds, err);
  if (status != TABI_OK) return status;
  char name[64];
  (void)snprintf(name, sizeof name, "time per step: faster than the paper's %g ms",
                 1e3 * paper_cost);
  tbi_expect_above(trial, name, "times", paper_cost / seconds, TBI_CORE_TO_PENTIUM_4);
  return tbi_walk_sim_check_variants(trial, def, "variants that walk to the end", err);
}

/* One walk with its criteria; pictures of the first only. */
static tabi_status run_variant(tbi_trial *trial, tbi_variant variant, tbi_picture_strip *strip,
                               tbi_series *series, tabi_error *err) {
  trial->variant = variant;
  tbi_walk_sim_def def = walk_of(trial);
  tbi_walk_metrics metrics;
  tbi_trial_progress(trial, tabi_contact_name(def.contact));
  tabi_status status = walk(&def, strip, series, &metrics, err);
  if (status == TABI_OK) check(trial, &metrics);
  if (status == TABI_OK && !trial->quick) status = check_cost(trial, &def, err);
  return status;
}

static tabi_status run_both(tbi_trial *trial, tbi_picture_strip *strip, tbi_series *published,
                            tbi_series *ours, tabi_error *err) {
  tabi_status status = run_variant(trial, TBI_PUBLISHED, strip, published, err);
  if (status == TABI_OK) status = run_variant(trial, TBI_OURS, strip, ours, err);
  if (status == TABI_OK) status = tbi_series_write(published, trial, ".csv", err);
  return status == TABI_OK ? tbi_series_write(ours, trial, "-ours.csv", err) : status;
}

/* Feet of both walks over time, below the pictures. */
static tabi_status draw(tbi_picture_strip *strip, const tbi_series *published,
                        const tbi_series *ours, tabi_error *err) {
  tbi_figure_data(&strip->figure, "other", ours);
  return tbi_picture_strip_close(
      strip, published,
      "set key outside top center horizontal\nset ylabel 'vertical force [N]'\n"
      "plot $run using 1:2 with lines lt 1 lw 2 title 'left foot, published',\\\n"
      " $run using 1:3 with lines lt 2 lw 2 title 'right foot, published',\\\n"
      " $other using 1:2 with lines lc rgb 'black' dt 2 title 'left foot, ours',\\\n"
      " $other using 1:3 with lines lc rgb 'black' dt 3 title 'right foot, ours'",
      err);
}

static tabi_status run(tbi_trial *trial, tabi_error *err) {
  tbi_series published;
  tbi_series ours;
  tbi_series_init(&published, tbi_walk_columns);
  tbi_series_init(&ours, tbi_walk_columns);
  tbi_picture_strip strip;
  tabi_status status = tbi_picture_strip_open(&strip, trial, 0.75 * stature, stature, err);
  if (status == TABI_OK) status = run_both(trial, &strip, &published, &ours, err);
  if (status == TABI_OK) {
    status = draw(&strip, &published, &ours, err);
  } else {
    tbi_figure_drop(&strip.figure);
  }
  tbi_series_free(&published);
  tbi_series_free(&ours);
  return status;
}

const tbi_experiment tbi_p2_figure_walk = {
    .id = "p2/figure-walk",
    .paper = "P2, Fig. 3",
    .shows = "a human figure of about 40 degrees of freedom walks with steps of 1 ms, a few times "
             "slower than real time",
    .reconstructed =
        "the figure, its walk, its control and soles; degrees of freedom and times are "
        "hardly legible",
    .run = run,
};

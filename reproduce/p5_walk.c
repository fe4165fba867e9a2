/* p5_walk.c - a small humanoid walks, with restitution and two coefficients of friction.
 *
 * The paper shows pictures and the time of a step.  What can be checked is that the robot walks to
 * the end with steps of 1 ms, carried by a floor that it hardly sinks into. */
#include "p5_pictures.h"
#include "walk_sim.h"

#include <math.h>

enum { PICTURES = 8, REPEATS = 3 };

static tbi_walk_sim_def walk_of(const tbi_trial *trial, tbi_variant variant) {
  tbi_walk_sim_def def = tbi_walk_sim_humanoid20();
  tabi_footstep step = tabi_footstep_default(), close;
  step.forward = 0.05;
  step.single_support = 0.4;
  step.lift = 0.02;
  close = step;
  close.forward = 0;
  tbi_walk_sim_add_steps(&def, trial->quick ? 3 : 10, step);
  tbi_walk_sim_add_steps(&def, 1, close);
  def.contact = tbi_p5_contact(variant);
  def.friction = tbi_p5_floor.friction;
  def.kinetic = tbi_p5_floor.kinetic;
  def.restitution = tbi_p5_floor.restitution;
  return def;
}

/* Pictures of two steps in the middle. */
static bool is_picture(const tbi_walk_sim *m, int32_t taken) {
  double period = m->def.step[0].double_support + m->def.step[0].single_support;
  double begin = m->def.stand_before + (m->def.nstep > 4 ? 2 : 1) * period;
  return tbi_simulation_time(&m->sim) >= begin + 2 * period * taken / (PICTURES - 1);
}

static tabi_status walk(tbi_variant variant, const tbi_walk_sim_def *def, tbi_p5_pictures *pictures,
                        tbi_series *series, tbi_walk_metrics *metrics, tbi_p5_contacts *contacts,
                        tabi_error *err) {
  tbi_walk_sim m;
  tabi_status status = tbi_walk_sim_open(&m, def, err);
  while (status == TABI_OK && tbi_walk_sim_running(&m)) {
    int32_t taken = pictures->taken[variant];
    if (taken < PICTURES && is_picture(&m, taken))
      tbi_p5_pictures_take(pictures, variant, &m.sim, tabi_world_q(m.sim.world)[0]);
    status = tbi_walk_sim_step(&m, err);
    if (status != TABI_OK) break;
    tbi_walk_sim_record(&m, series);
    tbi_p5_watch(contacts, &m.sim);
  }
  *metrics = m.metrics;
  tbi_walk_sim_close(&m);
  return status;
}

static const char lands_softly[] =
    "feet land more slowly than the 10 mm/s from which on points rebound, so that e is not in "
    "force (it is in the fall, in the jump and in p5/restitution)";

static void check(tbi_trial *trial, const tbi_walk_metrics *metrics,
                  const tbi_p5_contacts *contacts) {
  tbi_expect_word(trial, "walks to the end", "yes", metrics->fall_time > 0 ? "falls" : "yes",
                  metrics->fall_time == 0);
  tbi_expect_below(trial, "max penetration", "mm", 1e3 * metrics->penetration, 1);
  tbi_p5_expect_impacts(trial, contacts, lands_softly);
  tbi_may_differ(trial, tbi_p5_least_norm, NULL);
  tbi_expect_below(trial, "mean force over a step, error to the weight", "%",
                   100 * metrics->force_error, 0.5);
  tbi_expect_below(trial, "slip of the stance foot", "mm", 1e3 * metrics->slip, 1);
  tbi_p5_expect_no_gain(trial, contacts);
}

/* Step time and variants, which take long. */
static tabi_status check_cost(tbi_trial *trial, const tbi_walk_sim_def *def, tabi_error *err) {
  double seconds = 0;
  tabi_status status = tbi_walk_sim_step_cost(def, REPEATS, &seconds, err);
  if (status != TABI_OK) return status;
  tbi_p5_expect_speed(trial, seconds);
  return tbi_walk_sim_check_variants(trial, def, "variants that walk to the end", err);
}

static tabi_status run_one(tbi_trial *trial, tbi_p5_pictures *pictures, tbi_series *series,
                           tabi_error *err) {
  tbi_walk_sim_def def = walk_of(trial, trial->variant);
  tbi_walk_metrics metrics;
  tbi_p5_contacts contacts = {0};
  tabi_status status = walk(trial->variant, &def, pictures, series, &metrics, &contacts, err);
  if (status != TABI_OK) return status;
  check(trial, &metrics, &contacts);
  return trial->quick ? TABI_OK : check_cost(trial, &def, err);
}

static void plot(FILE *script) {
  (void)fputs("set ylabel 'vertical force, mean over 10 ms [N]'\nset key top left maxrows 2\n"
              "set xrange [1.5:*]\nset yrange [0:150]\n"
              "plot $published using 1:2 with lines lt 1 title 'left foot, published',\\\n"
              " $published using 1:3 with lines lt 2 title 'right foot, published',\\\n"
              " $ours using 1:2 with lines lc rgb 'black' dt 1 title 'left foot, ours',\\\n"
              " $ours using 1:3 with lines lc rgb 'black' dt 2 title 'right foot, ours'\n",
              script);
}

static tabi_status run(tbi_trial *trial, tabi_error *err) {
  const tbi_p5_motion motion = {.columns = tbi_walk_columns,
                                .spacing = 0.36,
                                .height = 0.48,
                                .run = run_one,
                                .plot = plot,
                                .samples = 10};
  return tbi_p5_run_motion(trial, &motion, err);
}

const tbi_experiment tbi_p5_walk = {
    .id = "p5/walk",
    .paper = "P5, Fig. 4",
    .shows = "a small humanoid of 26 degrees of freedom walks, steps of 1 ms",
    .reconstructed = "e 0.3, friction 0.7 and 0.5, slip threshold 1 mm/s; robot, walking pattern, "
                     "gains; positions move with the new velocity",
    .run = run,
};

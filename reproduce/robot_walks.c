/* robot_walks.c - a human figure walks under penalty, as published and ours (P2, Fig. 3).
 *
 * The paper shows pictures and the time of a step.  What can be checked is that the figure walks
 * with steps of 1 ms, carried by a floor that it hardly sinks into. */
#include "picture_strip.h"
#include "walk_sim.h"

#include <math.h>

enum { PICTURES = 8, REPEATS = 3 };

/* What is asked of a paper's robot. */
typedef struct walker {
  tbi_walk_sim_def (*robot)(void);
  tabi_contact_kind contact;
  int32_t published; /* the contact method of the paper, or TABI_NONE: exact is shown instead */
  tabi_footstep step;
  int32_t nstep;
  double stature; /* m */
  double cost;    /* s, of a step of the simulation in the paper */
} walker;

/* How much faster a core is than the papers' (Pentium III, 1 GHz, and its like): about three times
 * the clock and as many times the work per cycle. */
static const double faster_core = 10;

static tbi_walk_sim_def walk_of(const tbi_trial *trial, const walker *w) {
  tbi_walk_sim_def def = w->robot();
  tabi_footstep close = w->step;
  close.forward = 0;
  tbi_walk_sim_add_steps(&def, trial->quick ? 3 : w->nstep, w->step);
  tbi_walk_sim_add_steps(&def, 1, close);
  def.contact = w->contact;
  return def;
}

/* Pictures of two steps in the middle. */
static bool is_picture(const tbi_walk_sim *m, const walker *w, int32_t taken) {
  double period = w->step.double_support + w->step.single_support;
  double begin = m->def.stand_before + (m->def.nstep > 4 ? 2 : 1) * period;
  return tbi_simulation_time(&m->sim) >= begin + 2 * period * taken / (PICTURES - 1);
}

static tabi_status walk(const tbi_walk_sim_def *def, const walker *w, tbi_picture_strip *strip,
                        tbi_series *series, tbi_walk_metrics *metrics, tabi_error *err) {
  tbi_walk_sim m;
  tabi_status status = tbi_walk_sim_open(&m, def, err);
  while (status == TABI_OK && tbi_walk_sim_running(&m)) {
    if (strip->taken < PICTURES && is_picture(&m, w, strip->taken))
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
static tabi_status check_cost(tbi_trial *trial, const tbi_walk_sim_def *def, double paper,
                              tabi_error *err) {
  double seconds = 0;
  tabi_status status = tbi_walk_sim_step_cost(def, REPEATS, &seconds, err);
  if (status != TABI_OK) return status;
  char name[64];
  (void)snprintf(name, sizeof name, "time per step: faster than the paper's %g ms", 1e3 * paper);
  tbi_expect_above(trial, name, "times", paper / seconds, faster_core);
  return tbi_walk_sim_check_variants(trial, def, "variants that walk to the end", err);
}

/* One walk with its criteria; pictures and series only of the first. */
static tabi_status run_one(tbi_trial *trial, const walker *w, tabi_contact_kind contact,
                           tbi_picture_strip *strip, tbi_series *series, tabi_error *err) {
  tbi_walk_sim_def def = walk_of(trial, w);
  tbi_walk_metrics metrics;
  def.contact = contact;
  trial->method = contact == TABI_CONTACT_EXACT ? tabi_contact_name(contact) : NULL;
  tbi_trial_progress(trial, tabi_contact_name(contact));
  tabi_status status = walk(&def, w, strip, series, &metrics, err);
  if (status == TABI_OK) check(trial, &metrics);
  if (status == TABI_OK && !trial->quick && contact != TABI_CONTACT_EXACT)
    status = check_cost(trial, &def, w->cost, err);
  trial->method = NULL;
  return status;
}

/* The walk of the paper, pictured, and ours; or ours, pictured, and exact. */
static tabi_status run_both(tbi_trial *trial, const walker *w, tbi_picture_strip *strip,
                            tbi_series *series, tabi_error *err) {
  bool published = w->published != TABI_NONE;
  trial->variant = published ? TBI_PUBLISHED : TBI_OURS;
  tabi_status status = run_one(trial, w, published ? (tabi_contact_kind)w->published : w->contact,
                               strip, &series[0], err);
  trial->variant = TBI_OURS;
  if (status == TABI_OK)
    status = run_one(trial, w, published ? w->contact : TABI_CONTACT_EXACT, strip, &series[1], err);
  if (status == TABI_OK) status = tbi_series_write(&series[0], trial, ".csv", err);
  return status == TABI_OK
             ? tbi_series_write(&series[1], trial, published ? "-ours.csv" : "-exact.csv", err)
             : status;
}

/* Feet of both walks over time, below the pictures. */
static tabi_status draw(tbi_picture_strip *strip, const walker *w, const tbi_series *series,
                        tabi_error *err) {
  bool published = w->published != TABI_NONE;
  const char *first = published ? "published" : tabi_contact_name(w->contact);
  const char *second = published ? "ours" : "exact";
  char plot[512];
  (void)snprintf(plot, sizeof plot,
                 "set key outside top center horizontal\nset ylabel 'vertical force [N]'\n"
                 "plot $run using 1:2 with lines lt 1 lw 2 title 'left foot, %s',\\\n"
                 " $run using 1:3 with lines lt 2 lw 2 title 'right foot, %s',\\\n"
                 " $other using 1:2 with lines lc rgb 'black' dt 2 title 'left foot, %s',\\\n"
                 " $other using 1:3 with lines lc rgb 'black' dt 3 title 'right foot, %s'",
                 first, first, second, second);
  tbi_figure_data(&strip->figure, "other", &series[1]);
  return tbi_picture_strip_close(strip, &series[0], plot, err);
}

static tabi_status run(tbi_trial *trial, const walker *w, tabi_error *err) {
  tbi_series series[2];
  for (int i = 0; i < 2; ++i)
    tbi_series_init(&series[i], tbi_walk_columns);
  tbi_picture_strip strip;
  tabi_status status = tbi_picture_strip_open(&strip, trial, 0.75 * w->stature, w->stature, err);
  if (status == TABI_OK) status = run_both(trial, w, &strip, series, err);
  if (status == TABI_OK) {
    status = draw(&strip, w, series, err);
  } else {
    tbi_figure_drop(&strip.figure);
  }
  for (int i = 0; i < 2; ++i)
    tbi_series_free(&series[i]);
  return status;
}

static tabi_status run_figure(tbi_trial *trial, tabi_error *err) {
  tabi_footstep step = tabi_footstep_default();
  step.forward = 0.2;
  step.single_support = 0.6;
  const walker w = {.robot = tbi_walk_sim_figure40,
                    .contact = TABI_CONTACT_PENALTY,
                    .published = TABI_CONTACT_PENALTY_PAPER,
                    .step = step,
                    .nstep = 8,
                    .stature = 1.75,
                    .cost = 3e-3};
  return run(trial, &w, err);
}

const tbi_experiment tbi_p2_figure_walk = {
    .id = "p2/figure-walk",
    .paper = "P2, Fig. 3",
    .shows = "a human figure of about 40 degrees of freedom walks with steps of 1 ms, a few times "
             "slower than real time",
    .reconstructed =
        "the figure, its walk, its control and soles; degrees of freedom and times are "
        "hardly legible",
    .run = run_figure,
};

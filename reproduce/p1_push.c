/* p1_push.c - humanoid36 on rubber feet stands and is pushed at the chest, with the stabiliser and
 * without: a table of falls.  Not in the paper.
 *
 * A robot that does not step cannot withstand any push.  A push J gives the centre of mass, h high,
 * the speed J / m; it comes to rest over the feet only if (J / m) sqrt(h / g) is less than the
 * distance to their edge, that is, if the capture point stays above the soles.  So it must not fall
 * under 10 N s, and must fall under a push that moves the capture point beyond the edge. */
#include "figure.h"
#include "walk_sim.h"

#include <math.h>

enum { SIDES = 3, SMALLEST = 10, LARGEST = 60, MAX_ROWS = 2 * SIDES };

typedef struct side {
  const char *name;
  double to[2];
  double edge; /* m, from the middle between the feet */
} side;
static const side sides[SIDES] = {
    {"forward",  {1, 0},  0.1225},
    {"backward", {-1, 0}, 0.1225},
    {"left",     {0, 1},  0.16  },
};

enum { STABILISED, DIRECTION, PUSH, FELL, NCOLUMN };
static const char *const columns[] = {"stabilised", "direction", "push_Ns", "fell_s", NULL};

typedef struct count {
  int32_t stood_small, small; /* pushes of 10 N s */
  int32_t stood_large, large; /* beyond the edge */
} count;

static tbi_walk_sim_def walk_of(bool stabilised, int s, double impulse) {
  tbi_walk_sim_def def = tbi_walk_sim_humanoid36();
  def.stand_before = 2;
  def.stand_after = 2;
  def.bush = true;
  def.stabilised = stabilised;
  def.contact = TABI_CONTACT_LCP;
  for (int k = 0; k < 2; ++k)
    def.push[k] = impulse * sides[s].to[k];
  return def;
}

static tabi_status push(bool stabilised, int s, double impulse, double *fell, tabi_error *err) {
  tbi_walk_sim_def def = walk_of(stabilised, s, impulse);
  tbi_walk_metrics metrics;
  tabi_status status = tbi_walk_sim_run(&def, NULL, &metrics, err);
  *fell = metrics.fall_time;
  return status;
}

/* Whether the capture point is beyond the edge. */
static bool is_lost(int s, double impulse) {
  const double mass = 58, height = 0.727;
  return impulse / mass * sqrt(height / 9.81) > sides[s].edge;
}

static tabi_status push_all(const tbi_trial *trial, tbi_series *series, count *c, tabi_error *err) {
  for (int i = 0; i < MAX_ROWS; ++i) {
    bool stabilised = i >= SIDES;
    for (int32_t impulse = SMALLEST; impulse <= LARGEST; impulse += trial->quick ? 25 : 5) {
      double fell = 0;
      tabi_status status = push(stabilised, i % SIDES, impulse, &fell, err);
      if (status != TABI_OK) return status;
      const double row[NCOLUMN] = {stabilised, i % SIDES, impulse, fell};
      tbi_series_add(series, row);
      c->small += impulse == SMALLEST;
      c->stood_small += impulse == SMALLEST && fell == 0;
      c->large += is_lost(i % SIDES, impulse);
      c->stood_large += is_lost(i % SIDES, impulse) && fell == 0;
    }
  }
  return TABI_OK;
}

static tabi_status check_variants(tbi_trial *trial, tabi_error *err) {
  for (int s = 0; s < SIDES; ++s) {
    tbi_walk_sim_def def = walk_of(true, s, SMALLEST);
    char name[64];
    (void)snprintf(name, sizeof name, "variants with stabiliser, no fall after 10 N s %s",
                   sides[s].name);
    tabi_status status = tbi_walk_sim_check_variants(trial, &def, name, err);
    if (status != TABI_OK) return status;
  }
  return TABI_OK;
}

static tabi_status draw(tbi_trial *trial, const tbi_series *series, tabi_error *err) {
  tbi_figure figure;
  tabi_status status = tbi_figure_open(&figure, trial, 800, 360, err);
  if (status != TABI_OK) return status;
  tbi_figure_data(&figure, "run", series);
  (void)fputs("set xlabel 'push at the chest [Ns]'\nset yrange [-0.6:6.2]\nset xrange [5:65]\n"
              "set ytics (",
              figure.script);
  for (int i = 0; i < MAX_ROWS; ++i)
    (void)fprintf(figure.script, "%s'%s, %s' %d", i ? ", " : "", sides[i % SIDES].name,
                  i < SIDES ? "open loop" : "stabilised", i);
  (void)fputs(")\nset lmargin 22\nset key top right horizontal\n"
              "plot $run using ($4 == 0 ? $3 : 1/0):(3*$1+$2) with points pt 7 ps 1.6"
              " lc rgb '#2e8b57' title 'stands',\\\n"
              " $run using ($4 > 0 ? $3 : 1/0):(3*$1+$2) with points pt 2 ps 1.2 lw 2"
              " lc rgb '#d1495b' title 'falls'\n",
              figure.script);
  return tbi_figure_close(&figure, ".svg", err);
}

static tabi_status run(tbi_trial *trial, tabi_error *err) {
  tbi_series series;
  tbi_series_init(&series, columns);
  count c = {0};
  tabi_status status = push_all(trial, &series, &c, err);
  if (status == TABI_OK) {
    tbi_expect_within(trial, "pushes of 10 N s without a fall", "", c.stood_small, c.small,
                      c.small);
    tbi_expect_within(trial, "pushes beyond the capture point without a fall", "", c.stood_large, 0,
                      0);
    if (!trial->quick) status = check_variants(trial, err);
  }
  if (status == TABI_OK) status = tbi_series_write(&series, trial, ".csv", err);
  if (status == TABI_OK) status = draw(trial, &series, err);
  tbi_series_free(&series);
  return status;
}

const tbi_experiment tbi_p1_push = {
    .id = "p1/push",
    .paper = "not in P1",
    .shows = "nothing; a standing robot is pushed at the chest",
    .run = run,
    .own = true,
};

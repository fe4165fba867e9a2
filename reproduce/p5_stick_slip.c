/* p5_stick_slip.c - a block is pulled across the floor by a spring whose end moves at a speed V.
 *
 * With w^2 = k / m and D = (mu_s - mu_k) m g / k, it sticks for 2 D / V and slips for
 * 2 / w (pi - atan(D w / V)), by 2 D more than the end of the spring moves meanwhile, and at most
 * with V + sqrt(V^2 + w^2 D^2).  The spring pulls at the height of the floor, where all corners
 * keep their loads, and at the height of the centre of mass, where those ahead get more. */
#include "figure.h"
#include "p5.h"
#include "p5_models.h"

#include <math.h>

static const double pi = 3.14159265358979324;
static const double mass = 2, stiffness = 200, speed = 0.1, gravity = 9.81;
static const double size[3] = {0.3, 0.2, 0.05};
static const tbi_p5_surface surface = {.friction = 0.6, .kinetic = 0.35};

enum { TIME, PLACE, SPEED, PULL, NCOLUMN, HEIGHTS = 2 };
static const char *const columns[] = {"time", "x_m", "speed_mps", "pull_N", NULL};
static const char *const height_name[HEIGHTS] = {"at the floor", "at the middle"};

typedef struct motion {
  double period, slip, fastest; /* s, m, m/s: of a slip and a stick */
  double pull;                  /* N, under which it breaks away */
} motion;

typedef struct block {
  tbi_series series;
  motion measured;
} block;

static motion theory(void) {
  double w = sqrt(stiffness / mass);
  double d = (surface.friction - surface.kinetic) * mass * gravity / stiffness;
  double slip = 2 / w * (pi - atan(d * w / speed));
  return (motion){.period = slip + 2 * d / speed,
                  .slip = speed * slip + 2 * d,
                  .fastest = speed + sqrt(speed * speed + w * w * d * d),
                  .pull = surface.friction * mass * gravity};
}

/* Pulls at the height of the floor or of the centre of mass; returns the force. */
static double pull(tbi_simulation *sim, int at_middle) {
  const double *q = tabi_world_q(sim->world), none[3] = {0};
  const double force[3] = {stiffness * (speed * tbi_simulation_time(sim) - q[0])};
  const double point[3] = {q[0], q[1], at_middle ? q[2] : 0};
  tabi_world_apply(sim->world, 0, force, none, point);
  return force[0];
}

static tabi_status start(tbi_simulation *sim, tabi_error *err) {
  const double q[7] = {0, 0, 0.5 * size[2], 1}, v[6] = {0};
  return tabi_world_set_state(sim->world, q, v, err);
}

static tabi_status simulate(tbi_simulation *sim, int at_middle, double duration, block *b,
                            tabi_error *err) {
  int64_t steps = llround(duration / sim->timestep);
  tabi_status status = start(sim, err);
  for (int64_t i = 0; i < steps && status == TABI_OK; ++i) {
    double force = pull(sim, at_middle);
    status = tbi_simulation_step(sim, err);
    const double row[NCOLUMN] = {tbi_simulation_time(sim), tabi_world_q(sim->world)[0],
                                 tabi_world_v(sim->world)[0], force};
    tbi_series_add(&b->series, row);
  }
  return status;
}

/* From the first slip on; a slip is faster than a tenth of V. */
static motion measure(const tbi_series *series) {
  motion m = {0};
  double first = 0, last = 0, place = 0;
  int32_t count = 0;
  bool slips = false;
  for (int32_t i = 1; i < series->nrow; ++i) {
    double now = tbi_series_at(series, i, SPEED);
    if (now > 0.1 * speed && !slips) {
      last = tbi_series_at(series, i, TIME);
      if (count++ == 0) {
        first = last;
        place = tbi_series_at(series, i - 1, PLACE);
        m.pull = tbi_series_at(series, i - 1, PULL);
      }
      m.slip = (tbi_series_at(series, i - 1, PLACE) - place) / (count > 1 ? count - 1 : 1);
    }
    slips = now > 0.1 * speed;
    m.fastest = fmax(m.fastest, now);
  }
  m.period = count > 1 ? (last - first) / (count - 1) : 0;
  return m;
}

static void check(tbi_trial *trial, int at_middle, const motion *m) {
  motion law = theory();
  char name[64];
  const char *where = height_name[at_middle];
  (void)snprintf(name, sizeof name, "period, pulled %s", where);
  tbi_expect_within(trial, name, "s", m->period, law.period - 2e-3, law.period + 2e-3);
  (void)snprintf(name, sizeof name, "way of a slip, pulled %s", where);
  tbi_expect_within(trial, name, "mm", 1e3 * m->slip, 0.99e3 * law.slip, 1.01e3 * law.slip);
  (void)snprintf(name, sizeof name, "fastest slip, pulled %s", where);
  tbi_expect_within(trial, name, "m/s", m->fastest, 0.99 * law.fastest, 1.01 * law.fastest);
  (void)snprintf(name, sizeof name, "breaks away / mu_s m g, %s", where);
  tbi_expect_within(trial, name, "", m->pull / law.pull, 0.99, 1.01);
}

static tabi_status run_one(tbi_trial *trial, int at_middle, block *b, tabi_error *err) {
  tbi_simulation sim;
  tabi_model *model = tbi_p5_body(TABI_SHAPE_BOX, size, mass, &surface, err);
  tabi_status status = tbi_p5_open(&sim, model, trial->variant, gravity, err);
  if (status == TABI_OK) status = simulate(&sim, at_middle, trial->quick ? 4 : 10, b, err);
  tbi_simulation_close(&sim);
  if (status != TABI_OK) return status;
  b->measured = measure(&b->series);
  tbi_may_differ(trial, at_middle ? tbi_p5_least_norm : NULL, NULL);
  check(trial, at_middle, &b->measured);
  tbi_may_differ(trial, NULL, NULL);
  return TABI_OK;
}

static void plot_speeds(FILE *script, int at_middle) {
  (void)fprintf(script,
                "set origin 0,%g\nset title 'pulled %s'\n"
                "plot %g with lines lc rgb '#999999' dt 2 title 'fastest, theory',\\\n"
                " NaN with lines lc rgb '#999999' dt 3 title 'breaks away, theory',\\\n"
                " $published%d using 1:3 with lines lt 2 title 'published',\\\n"
                " $ours%d using 1:3 with lines lt 1 title 'ours'\n",
                at_middle ? 0.0 : 0.5, height_name[at_middle], theory().fastest, at_middle,
                at_middle);
}

static tabi_status draw(tbi_trial *trial, block of[TBI_VARIANTS][HEIGHTS], tabi_error *err) {
  tbi_figure figure;
  tabi_status status = tbi_figure_open(&figure, trial, 900, 560, err);
  if (status != TABI_OK) return status;
  for (int v = 0; v < TBI_VARIANTS; ++v)
    for (int h = 0; h < HEIGHTS; ++h) {
      char name[16];
      (void)snprintf(name, sizeof name, "%s%d", tbi_p5_name((tbi_variant)v), h);
      tbi_figure_data(&figure, name, &of[v][h].series);
    }
  (void)fputs("set multiplot\nset size 1,0.5\nset xrange [0:4]\nset yrange [0:0.6]\n"
              "set xlabel 'time [s]'\nset ylabel 'speed [m/s]'\nset key top left maxrows 2\n",
              figure.script);
  motion law = theory();
  /* where the law has it break away */
  double begin = law.pull / stiffness / speed;
  for (int i = 0; begin + i * law.period < 4; ++i)
    (void)fprintf(figure.script, "set arrow %d from %g,0 to %g,0.36 nohead dt 3 lc rgb '#999999'\n",
                  i + 1, begin + i * law.period, begin + i * law.period);
  for (int h = 0; h < HEIGHTS; ++h)
    plot_speeds(figure.script, h);
  (void)fputs("unset multiplot\n", figure.script);
  return tbi_figure_close(&figure, ".svg", err);
}

static tabi_status run_all(tbi_trial *trial, block of[TBI_VARIANTS][HEIGHTS], tabi_error *err) {
  static const char *const endings[TBI_VARIANTS][HEIGHTS] = {
      [TBI_OURS] = {"-ours.csv", "-middle-ours.csv"},
      [TBI_PUBLISHED] = {".csv",      "-middle.csv"     },
  };
  for (int v = TBI_VARIANTS - 1; v >= 0; --v)
    for (int h = 0; h < HEIGHTS; ++h) {
      trial->variant = (tbi_variant)v;
      tabi_status status = run_one(trial, h, &of[v][h], err);
      if (status == TABI_OK) {
        status = tbi_series_write(&of[v][h].series, trial, endings[v][h], err);
      }
      if (status != TABI_OK) return status;
    }
  return draw(trial, of, err);
}

static tabi_status run(tbi_trial *trial, tabi_error *err) {
  block of[TBI_VARIANTS][HEIGHTS] = {0};
  for (int i = 0; i < TBI_VARIANTS * HEIGHTS; ++i)
    tbi_series_init(&of[i / HEIGHTS][i % HEIGHTS].series, columns);
  tabi_status status = run_all(trial, of, err);
  for (int i = 0; i < TBI_VARIANTS * HEIGHTS; ++i)
    tbi_series_free(&of[i / HEIGHTS][i % HEIGHTS].series);
  return status;
}

const tbi_experiment tbi_p5_stick_slip = {
    .id = "p5/stick-slip",
    .paper = "P5, (25) to (28)",
    .shows = "static and kinetic friction are told apart: points stick up to the one, and slide "
             "with the other",
    .reconstructed = "all: the paper prints the law",
    .run = run,
};

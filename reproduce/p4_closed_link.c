/* p4_closed_link.c - an open chain, closed into a parallelogram by a connection of two axes.
 *
 * scenes/closed_link.yaml, the authors' sample.  The loop has one degree of freedom, the angle of
 * its cranks from hanging, and swings like a pendulum: angle'' = -w2 sin(angle).  That equation,
 * solved with small steps, is what the simulation is compared with.
 *
 * Published: cone-paper, whose sweeps have both axes as rows.  Ours: the loop is eliminated, in
 * every stage of rk4. */
#include "figure.h"
#include "simulation.h"

#include <math.h>

/* both cranks about their ends, and the coupler, which only moves along a circle */
static const double crank_mass = 0.084823, crank_inertia = 7.3e-5, crank = 0.1;
static const double coupler_mass = 0.169646, base = 0.2, gravity = 9.8;

enum { TIME, ANGLE, LAW, GAP, DRIFT, SWEEPS, NCOLUMN };
static const char *const columns[] = {"time",         "angle",  "pendulum", "gap_m",
                                      "energy_drift", "sweeps", NULL};

typedef struct swing {
  double angle, rate;
} swing;

static double pendulum_w2(void) {
  double half = 0.5 * crank;
  double inertia = 2 * (crank_inertia + crank_mass * half * half) + coupler_mass * crank * crank;
  return (2 * crank_mass * half + coupler_mass * crank) * gravity / inertia;
}

/* One step of the classical Runge-Kutta method. */
static swing advance(swing s, double w2, double h) {
  swing k[4];
  const double at[4] = {0, 0.5, 0.5, 1};
  for (int i = 0; i < 4; ++i) {
    double angle = s.angle + (i > 0 ? at[i] * h * k[i - 1].angle : 0);
    double rate = s.rate + (i > 0 ? at[i] * h * k[i - 1].rate : 0);
    k[i] = (swing){rate, -w2 * sin(angle)};
  }
  s.angle += h / 6 * (k[0].angle + 2 * k[1].angle + 2 * k[2].angle + k[3].angle);
  s.rate += h / 6 * (k[0].rate + 2 * k[1].rate + 2 * k[2].rate + k[3].rate);
  return s;
}

/* The crank's angle from hanging: its joint counts from the base line. */
static double crank_angle(const tbi_simulation *sim) {
  int32_t joint = tbi_simulation_joint(sim, "link/left");
  double q = tabi_world_q(sim->world)[tabi_model_joint_q(sim->model, joint).first];
  return q + 0.5 * 3.14159265358979324;
}

static tabi_status simulate(tbi_simulation *sim, double duration, tbi_series *series,
                            tabi_error *err) {
  swing s = {crank_angle(sim), 0};
  double w2 = pendulum_w2(), start = tbi_simulation_energy(sim);
  /* energy is counted from the lowest point of the swing */
  double scale = (2 * crank_mass * 0.5 + coupler_mass) * crank * gravity * (1 - cos(s.angle));
  int64_t steps = llround(duration / sim->timestep);
  for (int64_t i = 0; i < steps; ++i) {
    tabi_status status = tbi_simulation_step(sim, err);
    if (status != TABI_OK) return status;
    for (int k = 0; k < 10; ++k)
      s = advance(s, w2, 0.1 * sim->timestep);
    const double row[NCOLUMN] = {tbi_simulation_time(sim),
                                 crank_angle(sim),
                                 s.angle,
                                 tabi_world_connection(sim->world, 0).gap,
                                 (tbi_simulation_energy(sim) - start) / scale,
                                 tabi_world_certificate(sim->world).iterations};
    tbi_series_add(series, row);
  }
  return TABI_OK;
}

static double largest(const tbi_series *series, int32_t column) {
  double max = 0;
  for (int32_t i = 0; i < series->nrow; ++i)
    max = fmax(max, fabs(tbi_series_at(series, i, column)));
  return max;
}

/* From the passages upward through zero. */
static double period(const tbi_series *series, int32_t column) {
  double first = 0, last = 0;
  int32_t count = 0;
  for (int32_t i = 1; i < series->nrow; ++i) {
    double a = tbi_series_at(series, i - 1, column), b = tbi_series_at(series, i, column);
    if (!(a < 0 && b >= 0)) continue;
    double t = tbi_series_at(series, i - 1, TIME), h = tbi_series_at(series, i, TIME) - t;
    last = t + h * a / (a - b);
    if (count++ == 0) first = last;
  }
  return count > 1 ? (last - first) / (count - 1) : (double)NAN;
}

static void check(tbi_trial *trial, tbi_variant variant, const tbi_series *series) {
  double worst = 0;
  for (int32_t i = 0; i < series->nrow; ++i)
    worst = fmax(worst, fabs(tbi_series_at(series, i, ANGLE) - tbi_series_at(series, i, LAW)));
  double law = period(series, LAW);
  trial->variant = variant;
  tbi_expect_below(trial, "gap of the closure", "mm", 1e3 * largest(series, GAP), 0.1);
  tbi_expect_below(trial, "angle against the pendulum, of the largest", "%",
                   100 * worst / largest(series, LAW), 1);
  tbi_expect_within(trial, "period", "s", period(series, ANGLE), 0.99 * law, 1.01 * law);
  tbi_expect_below(trial, "energy drift, of the swing's", "%", 100 * largest(series, DRIFT), 1);
  if (variant == TBI_PUBLISHED)
    tbi_expect_below(trial, "sweeps of a step, the most", "", largest(series, SWEEPS), 120);
}

/* -- figure: the linkage under the published solver, then angle, gap and energy of both */

enum { SHOTS = 6 };
static const double shot_spacing = 0.4; /* m */

static void write_linkage(FILE *script, double angle, double shift) {
  double x = crank * sin(angle), z = -crank * cos(angle);
  (void)fprintf(script, "%g 0\n%g %g\n\n%g %g\n%g 0\n\n", shift, shift + x, z, shift + base + x, z,
                shift + base);
}

static void write_shots(FILE *script, const tbi_series *series, double start) {
  double angle[SHOTS];
  (void)fputs("$cranks << END\n", script);
  for (int i = 0; i < SHOTS; ++i) {
    angle[i] = i == 0 ? start : tbi_series_at(series, 60 * i - 1, ANGLE);
    write_linkage(script, angle[i], shot_spacing * i);
  }
  (void)fputs("END\n$couplers << END\n", script);
  for (int i = 0; i < SHOTS; ++i) {
    double x = shot_spacing * i + crank * sin(angle[i]), z = -crank * cos(angle[i]);
    (void)fprintf(script, "%g %g\n%g %g\n\n", x, z, x + base, z);
  }
  (void)fputs("END\n", script);
  for (int i = 0; i < SHOTS; ++i) {
    double left = shot_spacing * i;
    (void)fprintf(script,
                  "set label %d '%.2f s' at %g,0.05 center\n"
                  "set arrow %d from %g,0 to %g,0 nohead lw 3 lc rgb '#666666'\n",
                  i + 1, 0.06 * i, left + 0.1, i + 1, left, left + base);
  }
}

static const char plots[] =
    "set multiplot\nset size 1,0.22\nset origin 0,0.78\nunset key\nunset tics\n"
    "unset border\nset lmargin 1\nset rmargin 1\nunset grid\nset size ratio -1\n"
    "set xrange [-0.15:2.35]\nset yrange [-0.16:0.08]\n"
    "plot $cranks with lines lw 5 lt 1, $couplers with lines lw 5 lt 2\n"
    "unset label\nunset arrow\nset size noratio\nset size 1,0.42\nset origin 0,0.36\n"
    "set lmargin 11\nset rmargin 2\nset border\nset tics nomirror\nset grid lc rgb '#dddddd'\n"
    "set key top right horizontal\nset xrange [0:5]\nset yrange [-1:1.2]\nset xlabel ''\n"
    "set ylabel 'angle of the cranks [rad]'\n"
    "plot $published using 1:3 with lines lw 6 lc rgb '#cccccc' title 'pendulum',\\\n"
    " $published using 1:2 with lines lt 2 title 'published',\\\n"
    " $ours using 1:2 with lines lt 1 dt 2 title 'ours'\n"
    "set size 1,0.36\nset origin 0,0\nset logscale y\nset yrange [1e-18:1e2]\n"
    "set format y '10^{%L}'\nset xlabel 'time [s]'\nset ylabel 'gap [m], energy drift'\n"
    "plot $published using 1:($4 + 1e-17) with lines lt 2 title 'gap, published',\\\n"
    " $ours using 1:($4 + 1e-17) with lines lt 1 title 'gap, ours',\\\n"
    " $published using 1:(abs($5) + 1e-17) with lines lt 2 dt 2 title 'energy, published',\\\n"
    " $ours using 1:(abs($5) + 1e-17) with lines lt 1 dt 2 title 'energy, ours'\n"
    "unset multiplot\n";

static tabi_status draw(tbi_trial *trial, const tbi_series series[TBI_VARIANTS], double start,
                        tabi_error *err) {
  tbi_figure figure;
  tabi_status status = tbi_figure_open(&figure, trial, 900, 720, err);
  if (status != TABI_OK) return status;
  tbi_figure_data(&figure, "published", &series[TBI_PUBLISHED]);
  tbi_figure_data(&figure, "ours", &series[TBI_OURS]);
  write_shots(figure.script, &series[TBI_PUBLISHED], start);
  (void)fputs(plots, figure.script);
  return tbi_figure_close(&figure, ".svg", err);
}

static tabi_status run_variant(tbi_trial *trial, tbi_variant variant, tbi_series *series,
                               double *start, tabi_error *err) {
  const char *const set[] = {variant == TBI_PUBLISHED ? "contact.model=cone-paper"
                                                      : "contact.model=cone",
                             "integrator=rk4", NULL};
  tbi_simulation sim;
  tabi_status status = tbi_simulation_open(&sim, "closed_link.yaml", set, err);
  if (status == TABI_OK) *start = crank_angle(&sim);
  if (status == TABI_OK) status = simulate(&sim, 5, series, err);
  tbi_simulation_close(&sim);
  if (status == TABI_OK) check(trial, variant, series);
  if (status != TABI_OK) return status;
  return tbi_series_write(series, trial, variant == TBI_PUBLISHED ? "-published.csv" : ".csv", err);
}

static tabi_status run(tbi_trial *trial, tabi_error *err) {
  tbi_series series[TBI_VARIANTS];
  double start = 0;
  tabi_status status = TABI_OK;
  for (int v = 0; v < TBI_VARIANTS; ++v) {
    tbi_series_init(&series[v], columns);
    if (status == TABI_OK) status = run_variant(trial, (tbi_variant)v, &series[v], &start, err);
  }
  if (status == TABI_OK) status = draw(trial, series, start, err);
  for (int v = 0; v < TBI_VARIANTS; ++v)
    tbi_series_free(&series[v]);
  return status;
}

const tbi_experiment tbi_p4_closed_link = {
    .id = "p4/closed-link",
    .paper = "P4, Fig. 3",
    .shows = "an open chain is closed into a loop by connecting two of its parts along two axes",
    .reconstructed = "sizes, masses and start from the authors' sample closedLink; positions are "
                     "corrected, which the paper does not mention",
    .run = run,
};

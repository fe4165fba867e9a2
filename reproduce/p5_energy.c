/* p5_energy.c - a robot is thrown at the floor, again and again: what do impacts do to its energy?
 *
 * Its joints are loose, its posture, orientation and velocities random.  It falls under `impulse`;
 * the published loop makes every impact from the same state, so that both are judged on the same
 * blows.  The work of impulses, r (u_f + u) / 2, is exactly the change of the kinetic energy. */
#include "figure.h"
#include "p5.h"
#include "p5_models.h"

#include <math.h>
#include <stdlib.h>

enum { THROWS = 200, QUICK_THROWS = 30, STEPS = 250, MAX_Q = 40 };
enum { PUBLISHED, OURS, LIMITED, NCOLUMN };
static const char *const columns[] = {"published", "ours", "limited", NULL};
static const double height = 0.5; /* m, of the pelvis */

/* Impacts: energy after relative to before. */
typedef struct impacts {
  tbi_series series;
  int32_t gains[TBI_VARIANTS];
  double most[TBI_VARIANTS]; /* largest ratio */
} impacts;

/* -1 to 1; a congruential generator is good enough to throw with */
static double random_unit(uint64_t *seed) {
  *seed = *seed * 6364136223846793005U + 1442695040888963407U;
  return 2 * (double)(*seed >> 11) * 0x1p-53 - 1;
}

static tabi_status throw_down(const tbi_simulation *sim, uint64_t *seed, tabi_error *err) {
  double q[MAX_Q] = {0}, v[MAX_Q] = {0}, size = 0;
  for (int32_t i = 7; i < tabi_model_nq(sim->model); ++i)
    q[i] = random_unit(seed);
  for (int i = 3; i < 7; ++i) {
    q[i] = random_unit(seed);
    size += q[i] * q[i];
  }
  if (size < 1e-6) q[3] = 1;
  for (int32_t i = 0; i < tabi_model_nv(sim->model); ++i)
    v[i] = 2 * random_unit(seed);
  q[2] = height;
  v[2] = -2;
  return tabi_world_set_state(sim->world, q, v, err);
}

/* A blow and no load: ten times what the weight does in a step. */
static bool is_impact(const tbi_simulation *sim) {
  int32_t count = 0;
  const tabi_contact *contact = tabi_world_contacts(sim->world, &count);
  double sum = 0;
  for (int32_t i = 0; i < count; ++i)
    sum += fabs(contact[i].impulse[2]);
  return sum > 10 * 9.81 * tabi_model_mass(sim->model) * sim->timestep;
}

/* A step of both from the state of ours, and a row if it was an impact. */
static tabi_status step(tbi_simulation *sim, impacts *all, tabi_error *err) {
  double before = tabi_world_energy(sim[TBI_OURS].world).kinetic, ratio[TBI_VARIANTS];
  tabi_status status = tabi_world_continue(sim[TBI_PUBLISHED].world, sim[TBI_OURS].world, err);
  if (status == TABI_OK) status = tbi_simulation_step(&sim[TBI_OURS], err);
  if (status != TABI_OK || !is_impact(&sim[TBI_OURS])) return status;
  status = tbi_simulation_step(&sim[TBI_PUBLISHED], err);
  if (status != TABI_OK) return status;
  for (int v = 0; v < TBI_VARIANTS; ++v) {
    double work = tabi_world_certificate(sim[v].world).contact_work;
    ratio[v] = 1 + work / before;
    all->gains[v] += work > 1e-9;
    all->most[v] = fmax(all->most[v], ratio[v]);
  }
  const double row[NCOLUMN] = {ratio[TBI_PUBLISHED], ratio[TBI_OURS],
                               tabi_world_certificate(sim[TBI_OURS].world).energy_limited};
  tbi_series_add(&all->series, row);
  return TABI_OK;
}

static tabi_status throw_all(const tbi_trial *trial, tbi_simulation *sim, impacts *all,
                             tabi_error *err) {
  int throws = trial->quick ? QUICK_THROWS : THROWS;
  uint64_t seed = 1;
  for (int i = 0; i < throws; ++i) {
    tabi_status status = throw_down(&sim[TBI_OURS], &seed, err);
    for (int k = 0; k < STEPS && status == TABI_OK; ++k)
      status = step(sim, all, err);
    if (status != TABI_OK) return status;
  }
  return TABI_OK;
}

static void check(tbi_trial *trial, const impacts *all) {
  for (int v = TBI_VARIANTS - 1; v >= 0; --v) {
    trial->variant = (tbi_variant)v;
    tbi_expect_above(trial, "impacts", "", all->series.nrow, trial->quick ? 100 : 1000);
    tbi_may_differ(trial, tbi_p5_cut, NULL);
    tbi_expect_within(trial, "impacts that add energy", "", all->gains[v], 0, 0);
    tbi_expect_below(trial, "energy after the worst impact / before", "", all->most[v], 1 + 1e-9);
    tbi_may_differ(trial, NULL, NULL);
  }
}

static int compare(const void *a, const void *b) {
  double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

/* A block of sorted ratios with the share of impacts below each. */
static tabi_status put_sorted(FILE *script, const impacts *all, int column, const char *name,
                              tabi_error *err) {
  int32_t n = all->series.nrow;
  double *sorted = malloc(sizeof *sorted * (size_t)(n > 0 ? n : 1));
  if (!sorted) return tbi_no_memory(err);
  for (int32_t i = 0; i < n; ++i)
    sorted[i] = tbi_series_at(&all->series, i, column);
  qsort(sorted, (size_t)n, sizeof *sorted, compare);
  (void)fprintf(script, "$%s << END\n", name);
  for (int32_t i = 0; i < n; ++i)
    (void)fprintf(script, "%.6g %.6g\n", (i + 1.0) / n, sorted[i]);
  (void)fputs("END\n", script);
  free(sorted);
  return TABI_OK;
}

static tabi_status draw(tbi_trial *trial, const impacts *all, tabi_error *err) {
  tbi_figure figure;
  tabi_status status = tbi_figure_open(&figure, trial, 900, 420, err);
  if (status == TABI_OK) status = put_sorted(figure.script, all, PUBLISHED, "published", err);
  if (status == TABI_OK) status = put_sorted(figure.script, all, OURS, "ours", err);
  if (status != TABI_OK) {
    tbi_figure_drop(&figure);
    return status;
  }
  (void)fputs("set logscale y\nset yrange [0.05:20]\nset xrange [0:1]\nset key top left\n"
              "set xlabel 'share of impacts, sorted'\nset ylabel 'energy after / before'\n"
              "plot 1 with lines lc rgb '#999999' dt 2 title 'nothing gained',\\\n"
              " $published using 1:2 with lines lt 2 title 'published',\\\n"
              " $ours using 1:2 with lines lt 1 title 'ours'\n",
              figure.script);
  return tbi_figure_close(&figure, ".svg", err);
}

static tabi_status run_all(tbi_trial *trial, impacts *all, tabi_error *err) {
  tbi_simulation sim[TBI_VARIANTS] = {{0}};
  tabi_status status = TABI_OK;
  for (int v = 0; v < TBI_VARIANTS && status == TABI_OK; ++v)
    status = tbi_p5_open(&sim[v], tbi_p5_robot(&tbi_p5_floor, err), (tbi_variant)v, 9.81, err);
  if (status == TABI_OK) status = throw_all(trial, sim, all, err);
  for (int v = 0; v < TBI_VARIANTS; ++v)
    tbi_simulation_close(&sim[v]);
  if (status != TABI_OK) return status;
  check(trial, all);
  status = tbi_series_write(&all->series, trial, ".csv", err);
  return status == TABI_OK ? draw(trial, all, err) : status;
}

static tabi_status run(tbi_trial *trial, tabi_error *err) {
  impacts all = {0};
  tbi_series_init(&all.series, columns);
  tabi_status status = run_all(trial, &all, err);
  tbi_series_free(&all.series);
  return status;
}

const tbi_experiment tbi_p5_energy = {
    .id = "p5/energy",
    .paper = "P5, (17) to (28)",
    .shows = "nothing about energy; a rigid floor at rest can only take it",
    .reconstructed = "all: the paper does not speak of it",
    .own = true,
    .run = run,
};

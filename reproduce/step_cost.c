/* step_cost.c - the time of a step against the number of contacts (P1, Fig. 8; P4, Fig. 7).
 *
 * humanoid36 stands on up to 64 points under its soles.  Published: the papers' dense matrix, made
 * column by column by forward dynamics under test forces, 120 sweeps and rk4.  The growth of the
 * sweeps is measured with the same matrix made by blocks, which costs little.  Ours: the same
 * number of sweeps on ports, whose cost is linear, and, drawn only, the method as it is by default.
 * As in the papers, the detection of contacts and the controller do not count. */
#include "figure.h"
#include "measure.h"
#include "scene.h"

#include <math.h>
#include <stdlib.h>

enum { STEPS = 5, BLOCKS = 30, SETTLE = 20, MAX_SIZES = 12 };
enum { FEWEST = 12 }; /* contacts from which on the growth is measured */

enum { PUBLISHED, MATRIX, PORTS, DEFAULT, JOBS };
enum { CONTACTS, STEP_TIME, SOLVE_TIME = STEP_TIME + JOBS, NCOLUMN = SOLVE_TIME + JOBS };
static const char *const columns[] = {
    "contacts",           "published_us",    "matrix_us",      "ports_us",         "default_us",
    "published_solve_us", "matrix_solve_us", "ports_solve_us", "default_solve_us", NULL};

static const int32_t sizes[MAX_SIZES] = {4, 8, 12, 16, 20, 24, 28, 32, 40, 48, 56, 64};
static const int32_t quick_sizes[] = {4, 12, 24, 48, 64};

typedef struct job {
  tabi_world *world;
  void *start;
  size_t size;
  double step, solve; /* s, the least of a step and of its solution */
} job;

static void close_job(job *j) {
  tabi_world_destroy(j->world);
  free(j->start);
}

static tabi_world_def def_of(const tabi_model *model, tabi_contact_kind contact, int kind) {
  tabi_world_def def = tabi_world_def_default(model);
  def.contact = contact;
  if (kind == DEFAULT) return def;
  def.tolerance = 0;
  def.iterations = 120;
  def.contact = (tabi_contact_kind)tabi_contact_describe(contact)->published;
  if (kind == PORTS) return def;
  def.cone.storage = def.lcp.storage =
      kind == PUBLISHED ? TABI_STORAGE_TEST_FORCES : TABI_STORAGE_DENSE;
  def.integrator = TABI_RK4;
  return def;
}

static tabi_status open_job(job *j, const tbi_bench_scene *scene, tabi_contact_kind contact,
                            int kind, tabi_error *err) {
  tabi_world_def def = def_of(scene->model, contact, kind);
  *j = (job){.world = tabi_world_create(scene->model, &def, err), .step = INFINITY};
  j->solve = INFINITY;
  if (!j->world) return err->status;
  tabi_status status = tbi_bench_scene_start(scene, j->world, err);
  for (int i = 0; i < SETTLE && status == TABI_OK; ++i)
    status = tabi_world_step_or_grow(j->world, NULL);
  if (status != TABI_OK) return status;
  j->size = tabi_world_snapshot_size(j->world);
  j->start = malloc(j->size);
  if (!j->start) return tbi_no_memory(err);
  tabi_world_save(j->world, j->start);
  return TABI_OK;
}

static double now(void *user) {
  (void)user;
  return tbi_measure_clock();
}

static void run_block(job *j) {
  (void)tabi_world_restore(j->world, j->start, j->size);
  tabi_world_set_clock(j->world, now, NULL);
  for (int i = 0; i < STEPS; ++i)
    (void)tabi_world_step_or_grow(j->world, NULL);
  tabi_stats stats = tabi_world_stats(j->world);
  double step = 0;
  for (int s = 0; s < TABI_STAGE_COUNT; ++s)
    if (s != TABI_STAGE_COLLISION && s != TABI_STAGE_SENSORS) step += stats.seconds[s];
  j->step = fmin(j->step, step / STEPS);
  j->solve = fmin(j->solve, stats.seconds[TABI_STAGE_SOLVE] / STEPS);
}

/* The least times of a step with so many contacts. */
static tabi_status measure(int32_t points, tabi_contact_kind contact, double row[NCOLUMN],
                           tabi_error *err) {
  char path[TBI_PATH_SIZE];
  tbi_shipped_path("models/humanoid36.urdf", path);
  tbi_bench_scene scene;
  tabi_status status = tbi_bench_scene_points(&scene, path, points, err);
  if (status != TABI_OK) return status;
  job jobs[JOBS] = {0};
  for (int k = 0; k < JOBS && status == TABI_OK; ++k)
    status = open_job(&jobs[k], &scene, contact, k, err);
  if (status == TABI_OK) {
    /* in turn, so that a slow moment of the machine falls on all */
    for (int i = 0; i < JOBS * BLOCKS; ++i)
      run_block(&jobs[i % JOBS]);
    int32_t touching = 0;
    (void)tabi_world_contacts(jobs[0].world, &touching);
    row[CONTACTS] = touching;
    for (int k = 0; k < JOBS; ++k) {
      row[STEP_TIME + k] = 1e6 * jobs[k].step;
      row[SOLVE_TIME + k] = 1e6 * jobs[k].solve;
    }
  }
  for (int k = 0; k < JOBS; ++k)
    close_job(&jobs[k]);
  tbi_bench_scene_free(&scene);
  return status;
}

/* n of t = c m^n by least squares over the logarithms. */
static double exponent(const tbi_series *s, int32_t column) {
  double n = 0, x = 0, y = 0, xx = 0, xy = 0;
  for (int32_t i = 0; i < s->nrow; ++i) {
    if (tbi_series_at(s, i, CONTACTS) < FEWEST) continue;
    double a = log(tbi_series_at(s, i, CONTACTS)), b = log(tbi_series_at(s, i, column));
    n += 1;
    x += a;
    y += b;
    xx += a * a;
    xy += a * b;
  }
  return (n * xy - x * y) / (n * xx - x * x);
}

/* Solves a 3 x 3 system of a symmetric positive matrix. */
static void solve3(double a[3][3], double x[3]) {
  for (int i = 0; i < 3; ++i)
    for (int j = i + 1; j < 3; ++j) {
      double factor = a[j][i] / a[i][i];
      for (int k = i; k < 3; ++k)
        a[j][k] -= factor * a[i][k];
      x[j] -= factor * x[i];
    }
  for (int i = 2; i >= 0; --i) {
    for (int k = i + 1; k < 3; ++k)
      x[i] -= a[i][k] * x[k];
    x[i] /= a[i][i];
  }
}

/* R^2 of a + b m + c m^2, fitted by least squares. */
static double fit_square(const tbi_series *s, int32_t column) {
  double a[3][3] = {{0}}, x[3] = {0}, mean = 0, left = 0, spread = 0;
  for (int32_t i = 0; i < s->nrow; ++i) {
    double m = tbi_series_at(s, i, CONTACTS) / 64, t = tbi_series_at(s, i, column);
    const double power[5] = {1, m, m * m, m * m * m, m * m * m * m};
    mean += t / s->nrow;
    for (int j = 0; j < 3; ++j) {
      x[j] += power[j] * t;
      for (int k = 0; k < 3; ++k)
        a[j][k] += power[j + k];
    }
  }
  solve3(a, x);
  for (int32_t i = 0; i < s->nrow; ++i) {
    double m = tbi_series_at(s, i, CONTACTS) / 64, t = tbi_series_at(s, i, column);
    left += (t - x[0] - x[1] * m - x[2] * m * m) * (t - x[0] - x[1] * m - x[2] * m * m);
    spread += (t - mean) * (t - mean);
  }
  return 1 - left / spread;
}

static const char beside_matrix[] =
    "with a dozen contacts what a sweep does for each row, in proportion to their number, still "
    "counts beside the matrix, and more so on a busy machine";

/* The growth that each algorithm has by its operations, and the papers' near real time. */
static void check(tbi_trial *trial, const tbi_series *series, int32_t at24) {
  for (int v = 0; v < TBI_VARIANTS; ++v) {
    bool published = v == TBI_PUBLISHED;
    trial->variant = (tbi_variant)v;
    double law = published ? 2 : 1;
    tbi_may_differ(trial, beside_matrix, NULL);
    tbi_expect_within(trial,
                      published ? "time of the sweeps: power of the contacts, matrix"
                                : "time of the sweeps: power of the contacts, ports",
                      "", exponent(series, SOLVE_TIME + (published ? MATRIX : PORTS)), law - 0.3,
                      law + 0.3);
    tbi_may_differ(trial, NULL, NULL);
    if (published)
      tbi_expect_above(trial, "time of a step by a + b m + c m^2, m contacts: R^2", "",
                       fit_square(series, STEP_TIME + PUBLISHED), 0.95);
    tbi_expect_above(trial, "speed with 24 contacts (paper: near real time)", "x real time",
                     1e3 / tbi_series_at(series, at24, STEP_TIME + (published ? PUBLISHED : PORTS)),
                     1);
  }
}

static tabi_status draw(tbi_trial *trial, const tbi_series *series, tabi_error *err) {
  tbi_figure figure;
  tabi_status status = tbi_figure_open(&figure, trial, 760, 480, err);
  if (status != TABI_OK) return status;
  tbi_figure_data(&figure, "run", series);
  (void)fputs(
      "set xlabel 'number of contact points'\nset ylabel 'time per step [ms]'\n"
      "set key top left\nset xrange [0:*]\nset yrange [0:*]\n"
      "plot 1 with lines lc rgb '#999999' dt 2 title 'real time: the papers, up to some tens "
      "of points',\\\n"
      " $run using 1:($2/1000) with linespoints lt 2 ps 0.9 title 'published: test "
      "forces, 120 sweeps, rk4',\\\n"
      " '' using 1:($4/1000) with linespoints lt 1 ps 0.9 title 'ours: ports, 120 sweeps',"
      "\\\n"
      " '' using 1:($5/1000) with linespoints lt 3 ps 0.9 title 'ours: default'\n",
      figure.script);
  return tbi_figure_close(&figure, ".svg", err);
}

static tabi_status run(tbi_trial *trial, tabi_error *err) {
  const tabi_contact_kind contact = trial->experiment->contact;
  int32_t count = trial->quick ? (int32_t)(sizeof quick_sizes / sizeof *quick_sizes) : MAX_SIZES;
  const int32_t *list = trial->quick ? quick_sizes : sizes;
  tbi_series series;
  tbi_series_init(&series, columns);
  tabi_status status = TABI_OK;
  int32_t at24 = 0;
  for (int32_t i = 0; i < count && status == TABI_OK; ++i) {
    double row[NCOLUMN] = {0};
    status = measure(list[i], contact, row, err);
    tbi_series_add(&series, row);
    if (list[i] == 24) at24 = i;
  }
  if (status == TABI_OK) {
    check(trial, &series, at24);
    status = tbi_series_write(&series, trial, ".csv", err);
  }
  if (status == TABI_OK) status = draw(trial, &series, err);
  tbi_series_free(&series);
  return status;
}

const tbi_experiment tbi_p1_cost = {
    .id = "p1/cost",
    .paper = "P1, Fig. 8",
    .shows = "the time of a step grows with the square of the contacts and is near real time up to "
             "some tens of them",
    .reconstructed = "robot, servos and the points under its soles",
    .run = run,
    .contact = TABI_CONTACT_LCP,
};

const tbi_experiment tbi_p4_cost = {
    .id = "p4/cost",
    .paper = "P4, Fig. 7",
    .shows = "the time of a step grows with the square of the contacts, of three unknowns each",
    .reconstructed = "robot, servos and the points under its soles",
    .run = run,
    .contact = TABI_CONTACT_CONE,
};

/* step_cost.c - the time of a step against the number of contacts (P1, Fig. 8; P4, Fig. 7).
 *
 * humanoid36 stands on up to 64 points under its soles.  Its joints are held by stiff servos,
 * which need semi-implicit steps; else contacts are solved as in the papers, with their dense
 * matrix and 120 sweeps.  Beside it stands tabi's own storage of the same problem, whose cost is
 * linear.  The papers do not count the detection of contacts and the controller; both are counted
 * here. */
#include "figure.h"
#include "measure.h"
#include "scene.h"

#include <math.h>
#include <stdlib.h>

enum { STEPS = 5, BLOCKS = 9, SETTLE = 20, MAX_SIZES = 12 };

enum { CONTACTS, DENSE, PORTS, NCOLUMN };
static const char *const columns[] = {"contacts", "dense_us", "ports_us", NULL};

static const int32_t sizes[MAX_SIZES] = {4, 8, 12, 16, 20, 24, 28, 32, 40, 48, 56, 64};
static const int32_t quick_sizes[] = {4, 8, 12, 16, 24, 32};

typedef struct job {
  tabi_world *world;
  void *start;
  size_t size;
  double best; /* s, of a step */
} job;

static void close_job(job *j) {
  tabi_world_destroy(j->world);
  free(j->start);
}

static tabi_status open_job(job *j, const tbi_bench_scene *scene, tabi_contact_kind contact,
                            bool dense, tabi_error *err) {
  tabi_world_def def = tabi_world_def_default(scene->model);
  def.contact = dense ? (tabi_contact_kind)tabi_contact_describe(contact)->published : contact;
  def.cone.storage = def.lcp.storage = dense ? TABI_STORAGE_DENSE : TABI_STORAGE_PORTS;
  def.tolerance = 0;
  def.iterations = 120;
  *j = (job){.world = tabi_world_create(scene->model, &def, err), .best = INFINITY};
  if (!j->world) return err->status;
  tabi_status status = tbi_bench_scene_start(scene, j->world, err);
  for (int i = 0; i < SETTLE && status == TABI_OK; ++i)
    status = tabi_world_step(j->world, NULL);
  if (status != TABI_OK) return status;
  j->size = tabi_world_snapshot_size(j->world);
  j->start = malloc(j->size);
  if (!j->start) return tbi_no_memory(err);
  tabi_world_save(j->world, j->start);
  return TABI_OK;
}

static void run_block(job *j) {
  (void)tabi_world_restore(j->world, j->start, j->size);
  double start = tbi_measure_clock();
  for (int i = 0; i < STEPS; ++i)
    (void)tabi_world_step(j->world, NULL);
  j->best = fmin(j->best, (tbi_measure_clock() - start) / STEPS);
}

/* The minimum time per step with so many contacts, for both storages of the problem. */
static tabi_status measure(int32_t points, tabi_contact_kind contact, double row[NCOLUMN],
                           tabi_error *err) {
  char path[TBI_PATH_SIZE];
  tbi_shipped_path("models/humanoid36.urdf", path);
  tbi_bench_scene scene;
  tabi_status status = tbi_bench_scene_points(&scene, path, points, err);
  if (status != TABI_OK) return status;
  job jobs[2] = {0};
  for (int k = 0; k < 2 && status == TABI_OK; ++k)
    status = open_job(&jobs[k], &scene, contact, k == 0, err);
  if (status == TABI_OK) {
    /* alternating, so that a slow moment of the machine falls on both */
    for (int i = 0; i < 2 * BLOCKS; ++i)
      run_block(&jobs[i % 2]);
    int32_t touching = 0;
    (void)tabi_world_contacts(jobs[0].world, &touching);
    row[CONTACTS] = touching;
    row[DENSE] = 1e6 * jobs[0].best;
    row[PORTS] = 1e6 * jobs[1].best;
  }
  for (int k = 0; k < 2; ++k)
    close_job(&jobs[k]);
  tbi_bench_scene_free(&scene);
  return status;
}

/* t = c0 + c1 m + c2 m^2 by least squares; returns R^2. */
static double fit(const tbi_series *s, int32_t column, double c[3]) {
  double a[3][4] = {{0}}, mean = 0, left = 0, spread = 0;
  for (int32_t i = 0; i < s->nrow; ++i) {
    double m = tbi_series_at(s, i, CONTACTS), t = tbi_series_at(s, i, column);
    const double power[5] = {1, m, m * m, m * m * m, m * m * m * m};
    for (int r = 0; r < 3; ++r) {
      for (int k = 0; k < 3; ++k)
        a[r][k] += power[r + k];
      a[r][3] += power[r] * t;
    }
    mean += t / s->nrow;
  }
  for (int p = 0; p < 3; ++p)
    for (int r = 0; r < 3; ++r)
      for (int k = 3; k >= p && r != p; --k)
        a[r][k] -= a[r][p] / a[p][p] * a[p][k];
  for (int p = 0; p < 3; ++p)
    c[p] = a[p][3] / a[p][p];
  for (int32_t i = 0; i < s->nrow; ++i) {
    double m = tbi_series_at(s, i, CONTACTS), t = tbi_series_at(s, i, column);
    left += pow(t - c[0] - c[1] * m - c[2] * m * m, 2);
    spread += pow(t - mean, 2);
  }
  return 1 - left / spread;
}

static tabi_status draw(tbi_trial *trial, const tbi_series *series, const double c[3],
                        tabi_error *err) {
  tbi_figure figure;
  tabi_status status = tbi_figure_open(&figure, trial, 700, 460, err);
  if (status != TABI_OK) return status;
  tbi_figure_data(&figure, "run", series);
  (void)fprintf(figure.script,
                "set xlabel 'number of contact points'\nset ylabel 'time per step [ms]'\n"
                "set key top left\nset xrange [0:*]\nset yrange [0:*]\n"
                "plot %g + %g*x + %g*x**2 with lines lt 1 lw 1 dt 2 title 'fit',\\\n"
                " $run using 1:($2/1000) with points lt 1 ps 0.9 title 'matrix, 120 sweeps',\\\n"
                " '' using 1:($3/1000) with linespoints lt 3 ps 0.9 title 'ports, 120 sweeps'\n",
                1e-3 * c[0], 1e-3 * c[1], 1e-3 * c[2]);
  return tbi_figure_close(&figure, ".svg", err);
}

static tabi_status run(tbi_trial *trial, tabi_error *err) {
  const tabi_contact_kind contact = trial->experiment->contact;
  int32_t count = trial->quick ? (int32_t)(sizeof quick_sizes / sizeof *quick_sizes) : MAX_SIZES;
  const int32_t *list = trial->quick ? quick_sizes : sizes;
  tbi_series series;
  tbi_series_init(&series, columns);
  tabi_status status = TABI_OK;
  double at24 = NAN;
  for (int32_t i = 0; i < count && status == TABI_OK; ++i) {
    double row[NCOLUMN] = {0};
    status = measure(list[i], contact, row, err);
    tbi_series_add(&series, row);
    if (list[i] == 24) at24 = row[DENSE];
  }
  double c[3];
  if (status == TABI_OK) {
    tbi_expect_above(trial, "fit of a + b m + c m^2: R^2", "", fit(&series, DENSE, c), 0.95);
    tbi_expect_below(trial, "time per step, 24 contacts", "ms", 1e-3 * at24, 1);
    status = tbi_series_write(&series, trial, ".csv", err);
  }
  if (status == TABI_OK) status = draw(trial, &series, c, err);
  tbi_series_free(&series);
  return status;
}

const tbi_experiment tbi_p1_cost = {
    .id = "p1/cost",
    .paper = "P1, Fig. 8",
    .shows = "the time of a step grows with the square of the contacts and is near real time up to "
             "some tens of them",
    .run = run,
    .contact = TABI_CONTACT_LCP,
};

const tbi_experiment tbi_p4_cost = {
    .id = "p4/cost",
    .paper = "P4, Fig. 7",
    .shows = "the time of a step grows with the square of the contacts, of three unknowns each",
    .run = run,
    .contact = TABI_CONTACT_CONE,
};

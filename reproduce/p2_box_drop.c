/* p2_box_drop.c - a box falls on a floor of springs: the largest time step at which each integrator
 * succeeds.
 *
 * The drops are those of bench/box_drop.c.  The last good step of a method is the largest of the
 * grid before the first that fails; whole drops with it are timed.  Beside it, as the paper claims
 * for a human figure, one of 40 degrees of freedom stands on such springs with steps of 1 ms. */
#include "box_drop.h"
#include "figure.h"
#include "measure.h"
#include "outline.h"
#include "simulation.h"

#include <math.h>

enum { EULER, RK4, IMPLICIT_A, IMPLICIT_B };
enum { METHOD, STEP, OUTCOME, DEPTH, NCOLUMN };
static const char *const columns[] = {"method", "step_s", "outcome", "depth_m", NULL};

static const double picture_step = 2e-3; /* s, of the drops that are drawn */

typedef struct limit {
  double step;    /* s, the last good one */
  double seconds; /* of CPU time, for a simulated second with it */
} limit;

static void find_step(const tabi_model *model, int method, bool quick, limit *l,
                      tbi_series *series) {
  bool failed = false;
  for (int i = quick ? 3 : 0; i < TBI_DROP_STEPS; ++i) {
    double depth = 0;
    double step = tbi_drop_grid[i];
    tbi_drop_outcome outcome = tbi_drop_run(model, &tbi_drop_methods[method], step, &depth);
    const double row[NCOLUMN] = {method, step, outcome, depth};
    tbi_series_add(series, row);
    failed = failed || outcome != TBI_DROP_GOOD;
    if (!failed) l->step = step;
  }
}

static tabi_status time_drop(const tabi_model *model, int method, limit *l, tabi_error *err) {
  tabi_world *world = tbi_drop_open(model, &tbi_drop_methods[method], l->step);
  if (!world) return tbi_no_memory(err);
  double start = tbi_measure_clock();
  while (tabi_world_time(world) < tbi_drop_duration - 0.5 * l->step)
    if (tabi_world_step(world, NULL) != TABI_OK) break;
  l->seconds = fmin(l->seconds, (tbi_measure_clock() - start) / tbi_drop_duration);
  tabi_world_destroy(world);
  return TABI_OK;
}

/* The minimum time of several drops; methods take turns, so that a slow moment of the machine falls
 * on all of them. */
static tabi_status time_drops(const tabi_model *model, limit *limits, tabi_error *err) {
  enum { REPEATS = 9 };
  tabi_status status = TABI_OK;
  for (int m = 0; m < TBI_DROP_METHODS; ++m)
    limits[m].seconds = INFINITY;
  for (int i = 0; i < REPEATS * TBI_DROP_METHODS && status == TABI_OK; ++i) {
    int m = i % TBI_DROP_METHODS;
    if (limits[m].step > 0) status = time_drop(model, m, &limits[m], err);
  }
  return status;
}

static void check_drops(tbi_trial *trial, const limit *limits) {
  const limit *euler = &limits[EULER], *rk4 = &limits[RK4], *a = &limits[IMPLICIT_A];
  char measured[80];
  (void)snprintf(measured, sizeof measured, "%g, %g, %g, %g ms", 1e3 * euler->step, 1e3 * rk4->step,
                 1e3 * a->step, 1e3 * limits[IMPLICIT_B].step);
  tbi_expect_word(trial, "largest good steps: euler, rk4, implicit A, B", "e < r < A <= B",
                  measured,
                  euler->step > 0 && euler->step < rk4->step && rk4->step < a->step &&
                      a->step <= limits[IMPLICIT_B].step);
  tbi_expect_within(trial, "implicit A against euler", "times", a->step / euler->step, 6, 100);
  tbi_expect_within(trial, "implicit A against rk4", "times", a->step / rk4->step, 2, 100);
  tbi_expect_below(trial, "time of implicit A against euler", "", a->seconds / euler->seconds,
                   1.0 / 3);
  tbi_expect_below(trial, "time of implicit A against rk4", "", a->seconds / rk4->seconds, 1.0 / 3);
}

/* A figure of 40 degrees of freedom: how far its base sinks and how fast it is in the end. */
static tabi_status check_figure(tbi_trial *trial, tabi_error *err) {
  const char *const set[] = {"contact.model=penalty", "contact.variant=paper", NULL};
  tbi_simulation sim;
  tabi_status status = tbi_simulation_open(&sim, "stand_figure40.yaml", set, err);
  double height = status == TABI_OK ? tabi_world_q(sim.world)[2] : 0;
  int64_t steps = llround((trial->quick ? 1 : 3) / 1e-3);
  for (int64_t i = 0; i < steps && status == TABI_OK; ++i)
    status = tbi_simulation_step(&sim, err);
  if (status == TABI_OK) {
    const double *v = tabi_world_v(sim.world);
    tbi_expect_within(trial, "figure40: degrees of freedom", "", tabi_model_nv(sim.model), 40, 40);
    tbi_expect_below(trial, "figure40 stands at 1 ms: sinks by", "mm",
                     1e3 * (height - tabi_world_q(sim.world)[2]), 20);
    tbi_expect_below(trial, "figure40: final speed", "m/s",
                     sqrt(v[0] * v[0] + v[1] * v[1] + v[2] * v[2]), 1e-2);
  }
  tbi_simulation_close(&sim);
  return status;
}

/* Balls in a row, each hinged to the one before, all on the floor. */
static tabi_model *snake_model(int32_t links, tabi_error *err) {
  tabi_builder *builder = tabi_builder_create();
  if (!builder) return NULL;
  const double radius = 0.05;
  tabi_shape_def shape = tabi_shape_def_default();
  shape.type = TABI_SHAPE_PLANE;
  shape.link = TABI_WORLD;
  (void)tabi_builder_add_shape(builder, &shape);
  tabi_link_def link = tabi_link_def_default();
  link.mass = 0.5;
  for (int k = 0; k < 3; ++k)
    link.inertia[k] = 0.4 * link.mass * radius * radius;
  tabi_joint_def joint = tabi_joint_def_default();
  joint.type = TABI_JOINT_FREE;
  joint.parent = TABI_WORLD;
  joint.initial_q[2] = radius;
  shape.type = TABI_SHAPE_SPHERE;
  shape.size[0] = radius;
  for (int32_t i = 0; i < links; ++i) {
    joint.child = shape.link = tabi_builder_add_link(builder, &link);
    (void)tabi_builder_add_joint(builder, &joint);
    (void)tabi_builder_add_shape(builder, &shape);
    joint = tabi_joint_def_default();
    joint.type = TABI_JOINT_CONTINUOUS;
    joint.parent = shape.link;
    joint.pos[0] = 2 * radius;
    for (int k = 0; k < 3; ++k)
      joint.axis[k] = k == 1 + i % 2;
  }
  tabi_model *model = tabi_builder_build(builder, err);
  tabi_builder_destroy(builder);
  return model;
}

/* The minimum time per step of such a chain, contacts solved together. */
static tabi_status time_snake(int32_t links, double *seconds, tabi_error *err) {
  enum { BLOCKS = 15, STEPS = 20 };
  tabi_model *model = snake_model(links, err);
  if (!model) return tbi_no_memory(err);
  tabi_world_def def = tabi_world_def_default(model);
  def.contact = TABI_CONTACT_PENALTY;
  tbi_simulation sim;
  tabi_status status = tbi_simulation_open_model(&sim, model, &def, err);
  *seconds = INFINITY;
  for (int b = 0; b < BLOCKS && status == TABI_OK; ++b) {
    double start = tbi_measure_clock();
    for (int i = 0; i < STEPS && status == TABI_OK; ++i)
      status = tbi_simulation_step(&sim, err);
    *seconds = fmin(*seconds, (tbi_measure_clock() - start) / STEPS);
  }
  tbi_simulation_close(&sim);
  return status;
}

static tabi_status check_growth(tbi_trial *trial, tabi_error *err) {
  double few = 0, many = 0;
  tabi_status status = time_snake(40, &few, err);
  if (status == TABI_OK) status = time_snake(80, &many, err);
  if (status != TABI_OK) return status;
  tbi_expect_below(trial, "time of 80 links in contact against 40", "times", many / few, 2.5);
  return TABI_OK;
}

/* Pictures of a drop, one beside the other. */
static tabi_status draw_drop(const tabi_model *model, int method, double height, int *number,
                             FILE *script, tabi_error *err) {
  static const double times[] = {0, 0.14, 0.2, 0.26, 0.32, 0.4, 0.6};
  tabi_world *world = tbi_drop_open(model, &tbi_drop_methods[method], picture_step);
  if (!world) return tbi_no_memory(err);
  bool going = true;
  for (size_t i = 0; i < sizeof times / sizeof *times; ++i) {
    while (going && tabi_world_time(world) < times[i] - 0.5 * picture_step)
      going = tabi_world_step(world, NULL) == TABI_OK;
    tbi_camera camera = tbi_camera_side;
    camera.by_body = true;
    camera.shift[0] = 0.5 * (double)i;
    camera.shift[1] = height;
    /* what has flown out of its picture is not drawn */
    const double *q = tabi_world_q(world);
    if (fabs(q[0]) < 0.25 && fabs(q[2]) < 0.5) {
      *number = tbi_outline_draw(&camera, world, *number, script);
    }
    (void)fprintf(script,
                  "set label '%g s' at %g,%g center\n"
                  "set arrow from %g,%g to %g,%g nohead lw 2 lc rgb '#666666'\n",
                  times[i], 0.5 * (double)i, height - 0.06, 0.5 * (double)i - 0.2, height,
                  0.5 * (double)i + 0.2, height);
  }
  tabi_world_destroy(world);
  return TABI_OK;
}

static tabi_status draw(tbi_trial *trial, const tabi_model *model, const tbi_series *series,
                        tabi_error *err) {
  tbi_figure figure;
  tabi_status status = tbi_figure_open(&figure, trial, 900, 640, err);
  if (status != TABI_OK) return status;
  FILE *script = figure.script;
  int number = 1;
  (void)fputs("set label 'implicit, 2 ms' at -0.25,1.05\nset label 'Euler, 2 ms' at -0.25,0.46\n",
              script);
  status = draw_drop(model, IMPLICIT_A, 0.6, &number, script, err);
  if (status == TABI_OK) status = draw_drop(model, EULER, 0, &number, script, err);
  if (status != TABI_OK) {
    tbi_figure_drop(&figure);
    return status;
  }
  tbi_figure_data(&figure, "run", series);
  (void)fputs(
      "set multiplot\nset size 1,0.55\nset origin 0,0.45\nunset key\nunset tics\nunset border\n"
      "unset grid\nset size ratio -1\nset lmargin 1\nset rmargin 1\nset xrange [-0.3:3.3]\n"
      "set yrange [-0.1:1.1]\nplot -10 notitle\nunset object\nunset arrow\nunset label\n"
      "set size noratio\nset size 1,0.45\nset origin 0,0\nset border\nunset lmargin\n"
      "unset rmargin\nset xrange [0.04:12]\nset logscale x\nset yrange [-0.6:3.6]\n"
      "set xtics nomirror (0.05,0.1,0.2,0.3,0.5,0.7,1,1.4,2,3,4,5,7,10)\n"
      "set ytics nomirror ('Euler' 0, 'Runge-Kutta' 1, 'implicit A' 2, 'implicit B' 3)\n"
      "set grid lc rgb '#dddddd'\nset xlabel 'step [ms]'\nset key outside top center horizontal\n"
      "plot $run using ($3==0 ? $2*1e3 : NaN):1 with points pt 7 ps 1.2 lt 3 title 'success',\\\n"
      " '' using ($3==1 ? $2*1e3 : NaN):1 with points pt 9 ps 1.2 lt 4 title 'unnatural',\\\n"
      " '' using ($3>=2 ? $2*1e3 : NaN):1 with points pt 2 ps 0.9 lt 2 title 'diverged'\n"
      "unset multiplot\n",
      script);
  return tbi_figure_close(&figure, ".svg", err);
}

static tabi_status run_drops(tbi_trial *trial, const tabi_model *model, tbi_series *series,
                             tabi_error *err) {
  limit limits[TBI_DROP_METHODS] = {0};
  for (int m = 0; m < TBI_DROP_METHODS; ++m) {
    tbi_trial_progress(trial, tbi_drop_methods[m].name);
    find_step(model, m, trial->quick, &limits[m], series);
  }
  tabi_status status = time_drops(model, limits, err);
  if (status != TABI_OK) return status;
  check_drops(trial, limits);
  status = check_figure(trial, err);
  if (status == TABI_OK) status = check_growth(trial, err);
  if (status == TABI_OK) status = tbi_series_write(series, trial, ".csv", err);
  if (status == TABI_OK) status = draw(trial, model, series, err);
  return status;
}

static tabi_status run(tbi_trial *trial, tabi_error *err) {
  tabi_model *model = tbi_drop_model(err);
  if (!model) return err->status;
  tbi_series series;
  tbi_series_init(&series, columns);
  tabi_status status = run_drops(trial, model, &series, err);
  tbi_series_free(&series);
  tabi_model_destroy(model);
  return status;
}

const tbi_experiment tbi_p2_box_drop = {
    .id = "p2/box-drop",
    .paper = "P2, Table 1, Fig. 2",
    .shows = "a box dropped on springs needs far smaller steps under Euler and Runge-Kutta than "
             "under implicit integration",
    .run = run,
};

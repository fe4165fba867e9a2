/* test_exact_steps.c - `exact` on problems of real steps: walking, standing with dry friction,
 * falling on joint limits, piles, stacks, sliding, closed loops.
 *
 * Scenes run under `cone`.  At steps spread over the run the same step is also made by two worlds
 * with `exact`: one that starts from the impulses of the step before, and one that starts from
 * zero.  The problem is then read from the world in full, and the residual of the impulses is
 * computed without the solver's help: at most 1e-10 in 999 of 1000, or what rounding allows.
 *
 *   test_scene_exact_steps [full [FOLDER]]
 *
 * `full` takes ten times as many problems and gives times; contacts of problems that were missed
 * are saved in FOLDER. */
#include "support/load.h"
#include "support/near.h"
#include "support/step_problem.h"
#include "support/walk.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define TOLERANCE 1e-10

static bool in_full;
static const char *folder;

/* A scene, how many problems are taken from how many steps in full and in short, and changes of the
 * scene. */
typedef struct source {
  const char *name, *scene;
  int32_t steps, problems;
  int32_t few_steps, few_problems;
  const char *const *set;
  int32_t nset;
} source;

static const char *const limp[] = {"robots.robot.controller.kp=0", "robots.robot.controller.kd=0"};
static const char *const flying[] = {"robots.robot.xyz=[0, 0, 1.2]", "robots.robot.lin=[1, 0.5, 1]",
                                     "robots.robot.ang=[2, 3, 1]"};
static const char *const heavy[] = {"bodies.box9.mass=100"};
static const char *const smooth[] = {"materials.wood.friction=0.15"};

static const source sources[] = {
    {"standing",        "stand",           2000,  60,  200, 6,  NULL,   0},
    {"falling",         "stand",           2000,  150, 600, 10, limp,   2},
    {"thrown",          "stand",           1500,  100, 700, 10, flying, 3},
    {"stack",           "stack",           1000,  80,  200, 8,  NULL,   0},
    {"heavy top",       "stack",           500,   40,  100, 4,  heavy,  1},
    {"pile",            "pile",            3000,  150, 900, 10, NULL,   0},
    {"slope",           "boxes_slope",     2000,  60,  600, 6,  NULL,   0},
    {"slippery slope",  "boxes_slope",     1500,  50,  600, 6,  smooth, 1},
    {"chain",           "chain",           3000,  60,  800, 8,  NULL,   0},
    {"shapes",          "drop",            1500,  40,  500, 6,  NULL,   0},
    {"rolling",         "rolling",         400,   20,  20,  2,  NULL,   0},
    {"parallel ankles", "parallel_ankles", 12000, 90,  400, 6,  NULL,   0},
};
enum { WALK_PROBLEMS = 200, FEW_WALK_STEPS = 1500, FEW_WALK_PROBLEMS = 20 };

/* Of the problems of one source, solved in one way. */
typedef struct tally {
  int problems, missed, iterations, max;
  double worst, seconds;
} tally;

/* of the processor, s */
static double now(void) { return (double)clock() / CLOCKS_PER_SEC; }

static tabi_world *make_world(tabi_scene *scene, tabi_contact_kind contact, double warm_start) {
  tabi_world_def def = tabi_scene_world_def(scene);
  def.contact = contact;
  def.tolerance = -1;
  def.iterations = 0;
  if (warm_start == 0) def.warm_start = 0;
  return open_world(scene, &def);
}

static double make_step(tabi_world *world) {
  double start = now();
  if (tabi_world_step(world, NULL) != TABI_OK) fail_msg("%s", tabi_world_error(world)->message);
  return now() - start;
}

static void save(const char *name, int32_t step, step_problem *s) {
  char path[512];
  (void)snprintf(path, sizeof path, "%s/%s-%d.dat", folder, name, (int)step);
  step_problem_fix_rows(s);
  if (s->ncontact > 0) step_problem_save(s, path);
}

/* Judges the step that `world` has just made. */
static void judge(const char *name, int32_t step, const char *start, const tabi_world *world,
                  tally *t) {
  tabi_certificate c = tabi_world_certificate(world);
  step_problem s = step_problem_read(world);
  double residual = step_problem_residual(&s, s.r);
  ++t->problems;
  t->iterations += c.iterations;
  if (c.iterations > t->max) t->max = c.iterations;
  t->worst = fmax(t->worst, residual);
  if (!(residual <= TOLERANCE)) {
    ++t->missed;
    print_message("missed: %s, step %d, %s: residual %.1e%s, %d iterations, %d contacts, %d rows, "
                  "rank %d of %d\n",
                  name, (int)step, start, residual, c.converged ? " (converged)" : "",
                  (int)c.iterations, (int)s.ncontact, (int)s.nrow, (int)step_problem_rank(&s),
                  (int)s.n);
    if (folder) save(name, step, &s);
  }
  step_problem_free(&s);
}

static void print_way(const char *way, const tally *t) {
  print_message("  %s: %d missed, worst %.1e, iterations %.1f, at most %d", way, t->missed,
                t->worst, (double)t->iterations / t->problems, t->max);
  if (in_full) print_message("; %.1f us", 1e6 * t->seconds / t->problems);
  print_message("\n");
}

typedef struct total {
  int problems, missed; /* cold and warm */
} total;

/* The world that goes on, and those that make single steps of it. */
typedef struct worlds {
  tabi_world *cone, *warm, *cold;
  void *snapshot;
  size_t size;
  tally by_cone, by_warm, by_cold;
} worlds;

static worlds open_worlds(tabi_scene *scene) {
  worlds w = {.cone = make_world(scene, TABI_CONTACT_CONE, 1),
              .warm = make_world(scene, TABI_CONTACT_EXACT, 1),
              .cold = make_world(scene, TABI_CONTACT_EXACT, 0)};
  w.size = tabi_world_snapshot_size(w.cone);
  w.snapshot = malloc(w.size);
  assert_non_null(w.snapshot);
  return w;
}

static void close_worlds(worlds *w) {
  tabi_world_destroy(w->cone);
  tabi_world_destroy(w->warm);
  tabi_world_destroy(w->cold);
  free(w->snapshot);
}

/* The step that w->cone has made from the snapshot, made again by the others. */
static void compare_step(worlds *w, const char *name, int32_t step) {
  assert_int_equal(tabi_world_restore(w->warm, w->snapshot, w->size), TABI_OK);
  w->by_warm.seconds += make_step(w->warm);
  judge(name, step, "warm", w->warm, &w->by_warm);
  assert_int_equal(tabi_world_restore(w->cold, w->snapshot, w->size), TABI_OK);
  w->by_cold.seconds += make_step(w->cold);
  judge(name, step, "cold", w->cold, &w->by_cold);
}

/* Problems without contacts that push are passed over for the next ones. */
static void run(const char *name, tabi_scene *scene, int32_t steps, int32_t problems, total *all) {
  worlds w = open_worlds(scene);
  for (int32_t step = 0; step < steps; ++step) {
    tabi_scene_control(scene, w.cone);
    tabi_world_save(w.cone, w.snapshot);
    double seconds = make_step(w.cone);
    bool due = step >= (int64_t)steps * w.by_cone.problems / problems;
    if (!due || tabi_world_certificate(w.cone).contacts == 0) continue;
    ++w.by_cone.problems;
    w.by_cone.seconds += seconds;
    compare_step(&w, name, step);
  }
  print_message("%s: %d problems\n", name, w.by_cone.problems);
  print_way("warm", &w.by_warm);
  print_way("cold", &w.by_cold);
  if (in_full) print_message("  cone: %.1f us\n", 1e6 * w.by_cone.seconds / w.by_cone.problems);
  all->problems += w.by_warm.problems + w.by_cold.problems;
  all->missed += w.by_warm.missed + w.by_cold.missed;
  close_worlds(&w);
}

static void expect_nearly_all(const total *all) {
  print_message("%d of %d missed\n", all->missed, all->problems);
  assert_true(1000 * all->missed <= all->problems);
}

static void test_shipped(void **state) {
  (void)state;
  total all = {0};
  for (size_t i = 0; i < sizeof sources / sizeof *sources; ++i) {
    const source *from = &sources[i];
    char path[512];
    tabi_error err = {0};
    tabi_scene_def def = tabi_scene_def_default();
    def.set = from->set;
    def.nset = from->nset;
    (void)snprintf(path, sizeof path, "%s/scenes/%s.yaml", TABI_SOURCE_DIR, from->scene);
    tabi_scene *scene = tabi_scene_load(path, &def, &err);
    if (!scene) fail_msg("%s:%d: %s", err.file, (int)err.line, err.message);
    run(from->name, scene, in_full ? from->steps : from->few_steps,
        in_full ? from->problems : from->few_problems, &all);
    tabi_scene_destroy(scene);
  }
  expect_nearly_all(&all);
}

static void test_walk(void **state) {
  (void)state;
  total all = {0};
  tabi_scene *scene = walk_load(NULL, 0);
  run("walking", scene, in_full ? WALK_STEPS : FEW_WALK_STEPS,
      in_full ? WALK_PROBLEMS : FEW_WALK_PROBLEMS, &all);
  tabi_scene_destroy(scene);
  expect_nearly_all(&all);
}

int main(int argc, char **argv) {
  in_full = argc > 1 && strcmp(argv[1], "full") == 0;
  folder = argc > 2 ? argv[2] : NULL;
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_walk),
      cmocka_unit_test(test_shipped),
  };
  return cmocka_run_group_tests_name("exact on steps", tests, NULL, NULL);
}

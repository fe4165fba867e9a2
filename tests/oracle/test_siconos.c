/* test_siconos.c - friction problems solved by Siconos and by tabi: stored ones, read by both from
 * the same file, and those of steps of the shipped scenes.
 *
 * Both answers are judged by one residual, made from W in full.  Where both are solutions they must
 * agree in what is unique: the velocities u, and the net impulses, for which (r - s)' W (r - s)
 * vanishes even where redundant contacts share a load differently.  Coulomb's law may have several
 * solutions (boxes that slide on more points than they need do), and Siconos may stop short of one:
 * where the answers differ, Siconos must stay at ours when it starts there, or ours must be the
 * better one, and the test says so. */
#include "support/load.h"
#include "support/near.h"
#include "support/step_problem.h"
#include "tabi/tabi_io.h"

#include <FrictionContactProblem.h>
#include <Friction_cst.h>
#include <NonSmoothDrivers.h>
#include <NumericsMatrix.h>
#include <SolverOptions.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define TOLERANCE    1e-10 /* of a residual */
#define SOLVE_TO     1e-14 /* u is less exact than this where a contact is about to slip */
#define SAME_SPEED   1e-7  /* relative to |q| */
#define SAME_IMPULSE 1e-6  /* relative to the net impulses, as energy */

/* It loses some memory; tabi's is still watched. */
/* NOLINTBEGIN(bugprone-reserved-identifier,cert-dcl37-c,cert-dcl51-cpp) */
/* NOLINTBEGIN(readability-identifier-naming) */
__attribute__((visibility("default"))) const char *__lsan_default_suppressions(void);
const char *__lsan_default_suppressions(void) { return "leak:libsiconos_numerics\n"; }
/* NOLINTEND(readability-identifier-naming) */
/* NOLINTEND(bugprone-reserved-identifier,cert-dcl37-c,cert-dcl51-cpp) */

static double *room(int32_t n) {
  double *block = calloc((size_t)n + 1, sizeof *block);
  assert_non_null(block);
  return block;
}

static double *copy(const double *x, int32_t n) {
  double *block = room(n);
  memcpy(block, x, sizeof *x * (size_t)n);
  return block;
}

/* In memory of its own: Siconos frees what it gets. */
static FrictionContactProblem *give(const step_problem *problem) {
  int32_t n = problem->n;
  FrictionContactProblem *theirs = frictionContactProblem_new();
  assert_non_null(theirs);
  theirs->dimension = 3;
  theirs->numberOfContacts = problem->ncontact;
  theirs->q = copy(problem->q, n);
  theirs->mu = room(problem->ncontact);
  theirs->M = NM_create(NM_DENSE, n, n);
  for (int32_t i = 0; i < n * n; ++i)
    theirs->M->matrix0[i] = problem->w[(ptrdiff_t)(i % n) * n + i / n];
  for (int32_t i = 0; i < problem->ncontact; ++i)
    theirs->mu[i] = problem->law[i].friction;
  return theirs;
}

static void run(const step_problem *problem, int solver, double *r) {
  FrictionContactProblem *theirs = give(problem);
  SolverOptions *options = solver_options_create(solver);
  double *u = room(problem->n);
  options->dparam[SICONOS_DPARAM_TOL] = 1e-13;
  options->iparam[SICONOS_IPARAM_MAX_ITER] = solver == SICONOS_FRICTION_3D_NSGS ? 20000 : 200;
  (void)fc3d_driver(theirs, r, u, options);
  free(u);
  solver_options_delete(options);
  free(options);
  frictionContactProblem_free(theirs);
}

/* From r: Newton's method inside a proximal one; where that stops short, Gauss-Seidel too.  The
 * residual of the better one. */
static double solve_theirs(const step_problem *problem, double *r) {
  static const int solvers[] = {SICONOS_FRICTION_3D_PROX, SICONOS_FRICTION_3D_NSGS};
  double *start = copy(r, problem->n);
  double *trial = room(problem->n);
  double best = (double)INFINITY;
  for (int i = 0; i < 2 && best > TOLERANCE; ++i) {
    memcpy(trial, start, sizeof *trial * (size_t)problem->n);
    run(problem, solvers[i], trial);
    double residual = step_problem_residual(problem, trial);
    if (!(residual < best)) continue;
    best = residual;
    memcpy(r, trial, sizeof *r * (size_t)problem->n);
  }
  free(start);
  free(trial);
  return best;
}

/* Two answers to one problem. */
typedef struct difference {
  double speed;   /* |W r - W s| / |q| */
  double impulse; /* by which net impulses differ, as a share of them */
} difference;

static difference compare_answers(const step_problem *problem, const double *r, const double *s) {
  int32_t n = problem->n;
  double *u = room(n);
  double *v = room(n);
  step_problem_velocity(problem, r, u);
  step_problem_velocity(problem, s, v);
  double square = 0;
  double size = 0;
  double energy = 0;
  double whole = 0;
  for (int32_t i = 0; i < n; ++i) {
    square += (u[i] - v[i]) * (u[i] - v[i]);
    size += problem->q[i] * problem->q[i];
    energy += (u[i] - v[i]) * (r[i] - s[i]);
    whole += (u[i] - problem->q[i]) * r[i];
  }
  free(u);
  free(v);
  return (difference){.speed = size > 0 ? sqrt(square / size) : 0,
                      .impulse = whole > 0 ? sqrt(fmax(energy, 0) / whole) : 0};
}

static bool is_same(difference d) { return d.speed <= SAME_SPEED && d.impulse <= SAME_IMPULSE; }

/* Whether Siconos takes our answer for a solution. */
static bool stays(const step_problem *problem, const double *ours) {
  double *r = copy(ours, problem->n);
  bool solved = solve_theirs(problem, r) <= TOLERANCE;
  difference d = compare_answers(problem, ours, r);
  free(r);
  return solved && is_same(d);
}

/* How many problems there were, and in how many the answers agreed. */
typedef struct tally {
  int problems, same;
} tally;

static void compare(const char *name, const step_problem *problem, const double *ours, tally *t) {
  double *theirs = room(problem->n);
  double their_residual = solve_theirs(problem, theirs);
  double our_residual = step_problem_residual(problem, ours);
  difference d = compare_answers(problem, ours, theirs);
  const char *note = "";
  bool other = !is_same(d) && stays(problem, ours);
  if (!is_same(d)) note = other ? ": two solutions" : ": they differ";
  print_message("%-22s %2d contacts, residual %7.1e, Siconos %7.1e; u %7.1e, r %7.1e%s\n", name,
                problem->ncontact, our_residual, their_residual, d.speed, d.impulse, note);
  assert_true(our_residual <= TOLERANCE);
  assert_true(is_same(d) || other || our_residual < their_residual);
  ++t->problems;
  t->same += is_same(d);
  free(theirs);
}

static void solve_ours(const tabi_friction_problem *problem, double *r) {
  tabi_error err = {0};
  tabi_friction_result result;
  tabi_friction_solve_def def = tabi_friction_solve_def_default();
  def.tolerance = SOLVE_TO;
  memset(r, 0, sizeof *r * 3 * (size_t)tabi_friction_problem_ncontact(problem));
  if (tabi_friction_problem_solve(problem, &def, r, &result, &err) != TABI_OK) {
    fail_msg("%s", err.message);
  }
}

/* W in full, as Siconos reads the file; what is stored as a full matrix it takes column by column,
 * where tabi's layout says row by row */
static step_problem read_theirs(const char *path) {
  FrictionContactProblem *read = frictionContact_new_from_filename(path);
  assert_non_null(read);
  int32_t n = 3 * read->numberOfContacts;
  step_problem s = {.ncontact = read->numberOfContacts, .n = n};
  s.law = calloc((size_t)n + 1, sizeof *s.law);
  assert_non_null(s.law);
  s.w = room(n * n);
  s.q = copy(read->q, n);
  s.r = room(n);
  bool turned = read->M->storageType == NM_DENSE;
  for (int32_t i = 0; i < n * n; ++i)
    s.w[i] = NM_get_value(read->M, turned ? i % n : i / n, turned ? i / n : i % n);
  for (int32_t i = 0; i < n; ++i) {
    tbi_law *law = &s.law[i / 3];
    law->at = i - i % 3;
    law->size = 3;
    law->friction = read->mu[i / 3];
    law->mobility += s.w[(ptrdiff_t)i * n + i] / 3;
  }
  frictionContactProblem_free(read);
  return s;
}

static void compare_stored(const char *name, tally *t) {
  char path[512];
  (void)snprintf(path, sizeof path, "%s/problems/%s.dat", TABI_EXTRA_DATA, name);
  if (TABI_EXTRA_DATA[0] == '\0' || access(path, R_OK) != 0) {
    print_message("no extra data\n");
    skip();
  }
  tabi_error err = {0};
  tabi_friction_problem *problem = tabi_friction_problem_load(path, &err);
  if (!problem) fail_msg("%s:%d: %s", err.file, (int)err.line, err.message);
  step_problem s = read_theirs(path);
  assert_int_equal(tabi_friction_problem_ncontact(problem), s.ncontact);
  solve_ours(problem, s.r);
  compare(name, &s, s.r, t);
  tabi_friction_problem_destroy(problem);
  step_problem_free(&s);
}

/* Without Capsules and BoxesStack, which cost Siconos three seconds each. */
static void test_stored(void **state) {
  (void)state;
  static const char *const names[] = {"Rover1039",
                                      "Rover1040",
                                      "Rover3865",
                                      "Rover4144",
                                      "NESpheres_10_1",
                                      "sliding_cube",
                                      "Confeti-ex03-Fc3D-SBM",
                                      "OneObject-i1028-138"};
  tally t = {0};
  for (size_t i = 0; i < sizeof names / sizeof *names; ++i)
    compare_stored(names[i], &t);
  assert_true(t.same >= t.problems - 1);
}

/* A scene, and the steps whose problems are taken. */
typedef struct source {
  const char *name;
  int32_t first, every, count;
  const char *set; /* a change of the scene, or NULL */
} source;

static const source sources[] = {
    {"stand",       5,   200, 3, NULL                               },
    {"stand",       60,  150, 5, "robots.robot.controller.kp=20"    },
    {"stack",       3,   20,  4, NULL                               },
    {"stack",       3,   40,  2, "bodies.box9.mass=1000"            },
    {"boxes_slope", 200, 150, 8, NULL                               },
    {"boxes_slope", 200, 150, 5, "materials.wood.friction=0.15"     },
    {"pile",        250, 150, 4, NULL                               },
    {"chain",       300, 250, 6, NULL                               },
    {"drop",        200, 50,  6, NULL                               },
    {"incline",     10,  10,  2, "materials.wood.friction=0.5773502"},
};

/* The contacts of the step just made, with the impulses of rows as they are: the answer of the
 * world, and that to the problem in full. */
static void compare_step(const source *from, const tabi_world *world, int32_t step, tally *t) {
  char name[64];
  (void)snprintf(name, sizeof name, "%s %d", from->name, (int)step);
  step_problem s = step_problem_read(world);
  step_problem_fix_rows(&s);
  if (s.ncontact > 0) {
    compare(name, &s, s.r, t);
    tabi_friction_problem *problem = step_problem_make(&s);
    solve_ours(problem, s.r);
    compare("  in full", &s, s.r, t);
    tabi_friction_problem_destroy(problem);
  }
  step_problem_free(&s);
}

static void compare_scene(const source *from, tally *t) {
  tabi_scene_def scene_def = tabi_scene_def_default();
  scene_def.set = &from->set;
  scene_def.nset = from->set ? 1 : 0;
  tabi_scene *scene = load_shipped_scene(from->name, &scene_def);
  tabi_world_def def = tabi_scene_world_def(scene);
  def.contact = TABI_CONTACT_EXACT;
  def.tolerance = SOLVE_TO;
  def.iterations = 0;
  tabi_world *world = open_world(scene, &def);
  int32_t last = from->first + (from->count - 1) * from->every;
  for (int32_t step = 0; step <= last; ++step) {
    step_world(scene, world);
    int32_t since = step - from->first;
    if (since >= 0 && since % from->every == 0) compare_step(from, world, step, t);
  }
  tabi_world_destroy(world);
  tabi_scene_destroy(scene);
}

static void test_scenes(void **state) {
  (void)state;
  tally t = {0};
  for (size_t i = 0; i < sizeof sources / sizeof *sources; ++i)
    compare_scene(&sources[i], &t);
  print_message("%d of %d agree\n", t.same, t.problems);
  assert_true(t.problems >= 80);
  assert_true(4 * t.same >= 3 * t.problems);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_stored),
      cmocka_unit_test(test_scenes),
  };
  return cmocka_run_group_tests_name("siconos", tests, NULL, NULL);
}

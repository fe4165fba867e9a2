/* test_newton_fallback.c - the fallback on what a few sweeps leave: no island may come out worse
 * than it went in, what is called converged must be, and the same start must give the same bits. */
#include "contact/factored.h"
#include "contact/newton_fallback.h"

#include "base/array.h"
#include "support/near.h"
#include "support/scene_build.h"
#include "world/world.h"

#include <stdlib.h>
#include <string.h>

#define SWEEPS  4
#define ISLANDS 64
/* factorisations, and sweeps before and after them, that exact may take */
#define JAM_ITERATIONS 4000

typedef struct bench {
  tbi_factored f;
  void *memory, *scratch;
  double *start, *first; /* impulses of points and rows */
  double *r, *u;
  int32_t handed, settled, better;
} bench;

static bench bench_make(tabi_world *w) {
  bench b = {0};
  tbi_layout at = {NULL, 0};
  int64_t points = w->def.max_contacts;
  int64_t rows = (int64_t)w->model->nv * TBI_ROW_KINDS;
  size_t unknowns = (size_t)(3 * points + rows);
  tbi_factored_place(&at, w->model, points, rows, &b.f);
  b.memory = tbi_block_alloc(at.used);
  b.scratch = tbi_block_alloc(tbi_newton_fallback_memsize(w->model, &w->def));
  at = (tbi_layout){b.memory, 0};
  tbi_factored_place(&at, w->model, points, rows, &b.f);
  b.start = calloc(4 * unknowns, sizeof *b.start);
  assert_true(b.memory && b.scratch && b.start);
  b.first = b.start + unknowns;
  b.r = b.first + unknowns;
  b.u = b.r + unknowns;
  return b;
}

static void bench_free(bench *b) {
  free(b->memory);
  free(b->scratch);
  free(b->start);
}

static int32_t read_impulses(const tbi_problem *p, double *to) {
  int32_t n = 0;
  for (int32_t i = 0; i < p->npoint; ++i, n += 3)
    memcpy(to + n, p->point[i].impulse, 3 * sizeof *to);
  for (int32_t i = 0; i < p->nrow; ++i)
    to[n++] = p->row[i].impulse;
  return n;
}

static void write_impulses(tbi_problem *p, const double *from) {
  for (int32_t i = 0; i < p->npoint; ++i, from += 3)
    memcpy(p->point[i].impulse, from, 3 * sizeof *from);
  for (int32_t i = 0; i < p->nrow; ++i)
    p->row[i].impulse = *from++;
  tbi_problem_start(p);
}

static int32_t measure(bench *b, tbi_problem *p, double residual[ISLANDS]) {
  tbi_factored_begin(&b->f, p);
  tbi_problem_sum(p);
  assert_true(b->f.nisland <= ISLANDS);
  for (int32_t i = 0; i < b->f.nisland; ++i) {
    const tbi_island *island = &b->f.island[i];
    tbi_island_read(island, b->r);
    tbi_island_velocity(island, b->u);
    residual[i] = tbi_newton_residual(&island->w, b->r, b->u);
  }
  return b->f.nisland;
}

static tbi_solution hand_over(bench *b, tabi_world *w) {
  tbi_solution solution = {.iterations = SWEEPS};
  tabi_world_def def = w->def;
  def.iterations = 120;
  assert_true(tbi_newton_fallback(&w->setup.problem, &def, false, b->scratch, &solution));
  assert_true(solution.fallback);
  /* jams go on by exact, which has its own budget */
  assert_true(solution.iterations >= SWEEPS);
  if (!solution.converged) assert_true(solution.iterations <= 120 + JAM_ITERATIONS);
  return solution;
}

/* the problem as the world's sweeps left it, solved twice */
static void check(bench *b, tabi_world *w) {
  tbi_problem *p = &w->setup.problem;
  double before[ISLANDS];
  double after[ISLANDS];
  int32_t n = read_impulses(p, b->start);
  tbi_solution solution = hand_over(b, w);
  assert_int_equal(read_impulses(p, b->first), n);
  int32_t islands = measure(b, p, after);
  write_impulses(p, b->start);
  assert_int_equal(measure(b, p, before), islands);
  tbi_solution again = hand_over(b, w);
  (void)read_impulses(p, b->r);
  assert_memory_equal(b->r, b->first, (size_t)n * sizeof *b->r);
  assert_int_equal(again.iterations, solution.iterations);
  double allowed = 10 * w->def.tolerance;
  for (int32_t i = 0; i < islands; ++i) {
    if (after[i] > before[i] * (1 + 1e-6) && after[i] > allowed)
      fail_msg("island %d: %g became %g", (int)i, before[i], after[i]);
    if (solution.converged && after[i] > allowed)
      fail_msg("island %d: %g is not converged", (int)i, after[i]);
    b->better += after[i] < 0.1 * before[i];
  }
  b->handed += islands;
  b->settled += solution.converged;
}

static void run(scene *s, int steps, const char *what) {
  bench b = bench_make(s->world);
  int32_t checked = 0;
  for (int k = 0; k < steps; ++k) {
    scene_run(s, 1);
    if (s->world->setup.problem.npoint == 0 || tabi_world_certificate(s->world).converged) continue;
    check(&b, s->world);
    ++checked;
  }
  print_message("%s: %d steps by the fallback, %d converged; %d of %d islands ten times better\n",
                what, (int)checked, (int)b.settled, (int)b.better, (int)b.handed);
  assert_true(checked > steps / 10);
  assert_true(b.settled > checked / 2);
  bench_free(&b);
}

/* bare sweeps, too few of them */
static void open_world(scene *s) {
  tabi_world_def def = scene_def(s);
  def.fallback = TABI_FALLBACK_NONE;
  def.iterations = SWEEPS;
  scene_open(s, &def);
}

static void stacks(void **state) {
  (void)state;
  scene s = scene_begin();
  int32_t wood = scene_material(&s, 0.5, 0);
  scene_plane(&s, 0, wood);
  for (int i = 0; i < 18; ++i) {
    int floor = i / 3;
    double side = 0.1 + 0.01 * (i % 4);
    v3 place = v3_make(0.5 * (i % 3), 0.02 * (i % 5), 0.08 + 0.15 * floor);
    (void)scene_box(&s, 1 + i % 7, v3_make(side, 0.1, 0.1), place, wood);
  }
  open_world(&s);
  run(&s, 500, "stacks");
  scene_close(&s);
}

/* forty boxes in one pile are more than Newton is asked to solve from afar */
static void pile(void **state) {
  (void)state;
  scene s = scene_begin();
  int32_t wood = scene_material(&s, 0.7, 0);
  scene_plane(&s, 0, wood);
  for (int i = 0; i < 40; ++i) {
    int row = i / 3 % 3;
    int floor = i / 9;
    v3 place = v3_make(0.09 * (i % 3), 0.09 * row, 0.06 + 0.11 * floor);
    (void)scene_box(&s, 1 + i % 3, v3_make(0.1, 0.085 + 0.01 * (i % 2), 0.1), place, wood);
  }
  open_world(&s);
  bench b = bench_make(s.world);
  for (int k = 0; k < 120; ++k) {
    scene_run(&s, 1);
    if (!tabi_world_certificate(s.world).converged) check(&b, s.world);
  }
  assert_true(b.handed > 0);
  bench_free(&b);
  scene_close(&s);
}

/* A heap that is too large for the memory of the fallback is not left in silence. */
static void large_heap(void **state) {
  (void)state;
  scene s = scene_begin();
  int32_t wood = scene_material(&s, 0.7, 0);
  scene_plane(&s, 0, wood);
  for (int i = 0; i < 125; ++i) {
    int row = i / 5 % 5;
    int layer = i / 25;
    v3 place = v3_make(0.09 * (i % 5), 0.09 * row, 0.045 + 0.09 * layer);
    (void)scene_box(&s, 1 + i % 3, v3_make(0.1, 0.1, 0.1), place, wood);
  }
  tabi_world_def def = scene_def(&s);
  def.iterations = 30;
  def.max_contacts = 5000;
  scene_open(&s, &def);
  scene_run(&s, 1);
  tabi_certificate c = tabi_world_certificate(s.world);
  assert_true(c.too_large && !c.converged);
  scene_close(&s);
}

/* one tree, with rows for its limits and its dry joints */
static void robot(void **state) {
  (void)state;
  scene s = scene_begin();
  int32_t wood = scene_material(&s, 0.8, 0);
  scene_plane(&s, 0, wood);
  (void)scene_humanoid(&s, 0.9);
  open_world(&s);
  run(&s, 800, "robot that falls");
  scene_close(&s);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(stacks),
      cmocka_unit_test(pile),
      cmocka_unit_test(large_heap),
      cmocka_unit_test(robot),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

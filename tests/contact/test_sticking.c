/* test_sticking.c - the direct solve of contacts that all stick.
 *
 * On random robots with patches of points under some of their bodies: what is called a solution
 * obeys Coulomb's law and the bounds of all rows, agrees with exact, and is told to the ports; what
 * is not leaves the impulses of points alone.  Bodies that would slide, tip or lift are not held.
 */
#include "contact/sticking.h"

#include "base/array.h"
#include "support/make_problem.h"
#include "support/near.h"

#include <stdlib.h>
#include <string.h>

enum { MOST_POINTS = 64, MOST_ROWS = 12, SEEDS = 400 };

/* what is stood on */
typedef struct ground {
  double friction; /* of all points */
  double slope;    /* rad */
  double sink;     /* m/s: bodies may sink and turn so fast, like on sand */
} ground;

typedef struct patches {
  tbi_candidate candidate[MOST_POINTS];
  int32_t count;
} patches;

static v3 up(double slope) { return v3_make(sin(slope), 0, cos(slope)); }

/* Points around a place, on a plane below it; the world is on either side of them. */
static void add_patch(patches *to, const made_problem *made, rng *r, int32_t body, double slope) {
  int32_t world = made->model->nbody;
  bool world_first = rng_below(r, 2) == 0;
  int32_t points = 3 + rng_below(r, 4);
  v3 normal = up(slope);
  v3 side = v3_make(cos(slope), 0, -sin(slope));
  v3 below = v3_axpy(tbi_tree_origin(made->d, body), -0.5, normal);
  double start = rng_between(r, 0, 6.28);
  for (int32_t i = 0; i < points; ++i) {
    double angle = start + 6.28 * i / points;
    double radius = rng_between(r, 2, 4);
    tbi_candidate *t = &to->candidate[to->count];
    *t = (tbi_candidate){.shape_a = world_first ? world : body,
                         .shape_b = world_first ? body : world,
                         .feature = (uint32_t)to->count};
    t->point =
        v3_axpy(v3_axpy(below, radius * cos(angle), side), radius * sin(angle), v3_make(0, 1, 0));
    t->normal = v3_scale(world_first ? 1 : -1, normal);
    ++to->count;
  }
}

/* under the first body of every tree, and sometimes another one */
static void add_patches(patches *to, const made_problem *made, rng *r, double slope) {
  const tabi_model *model = made->model;
  for (int32_t t = 0; t < model->ntree; ++t) {
    int32_t first = model->tree_body[t];
    int32_t end = t + 1 < model->ntree ? model->tree_body[t + 1] : model->nbody;
    int32_t last = first + rng_below(r, end - first);
    if (to->count + 12 > MOST_POINTS) return;
    add_patch(to, made, r, first, slope);
    if (last != first && rng_below(r, 2) == 0) add_patch(to, made, r, last, slope);
  }
}

static void set_surfaces(made_problem *made, rng *r, const ground *on) {
  double rate[3];
  rng_fill(r, on->sink, rate, 3);
  for (int32_t i = 0; i < made->p->npoint; ++i) {
    tbi_point *c = &made->p->point[i];
    v3 at = made->candidate[c->candidate].point;
    c->friction = on->friction;
    c->target = on->sink == 0 ? 0 : rate[0] + rate[1] * at.x + rate[2] * at.y;
  }
}

/* A random robot at rest, or almost, on the ground. */
static tabi_model *make(made_problem *made, uint64_t seed, const ground *on) {
  static random_plan plan;
  patches on_ground = {.count = 0};
  tbi_row row[MOST_ROWS];
  random_plan_make(&plan, seed, RANDOM_FLOATING);
  const double gravity[3] = {0, 0, -9.81};
  memcpy(plan.gravity, gravity, sizeof gravity);
  tabi_model *model = random_plan_build(&plan, NULL);
  double *q = calloc((size_t)model->nq + (size_t)model->nv, sizeof *q);
  double *v = q + model->nq;
  random_plan_state(&plan, model, q, NULL, NULL);
  made_open(made, model, q, v, 1e-3);
  rng r = rng_make(~seed);
  int32_t rows = rng_below(&r, MOST_ROWS);
  add_patches(&on_ground, made, &r, on->slope);
  made_random_rows(made, &r, row, rows);
  for (int32_t i = 0; i < rows; ++i) { /* that bind now and then */
    row[i].lower *= 0.1;
    row[i].target *= 0.1;
    if (isfinite(row[i].upper)) row[i].upper *= 0.1;
  }
  made_fill(made, on_ground.candidate, on_ground.count, row, rows);
  set_surfaces(made, &r, on);
  free(q);
  return model;
}

static bool stand(made_problem *made, const tabi_world_def *def) {
  void *scratch = tbi_block_alloc(tbi_sticking_memsize(made->model, def));
  assert_non_null(scratch);
  made_restart(made);
  bool stood = tbi_sticking_solve(made->p, def, scratch);
  free(scratch);
  return stood;
}

static void expect_law(made_problem *made, double tolerance) {
  tbi_problem *p = made->p;
  for (int32_t i = 0; i < p->npoint; ++i) {
    const tbi_point *c = &p->point[i];
    v3 u = made_point_velocity(made, i);
    assert_near(u.x, c->target, tolerance);
    assert_near(hypot(u.y, u.z), 0, tolerance);
    assert_true(c->impulse[0] >= 0);
    assert_true(hypot(c->impulse[1], c->impulse[2]) <= c->friction * c->impulse[0] * (1 + 1e-12));
  }
  tbi_problem_sum(p);
  for (int32_t i = 0; i < p->nrow; ++i) {
    assert_true(p->row[i].impulse >= p->row[i].lower && p->row[i].impulse <= p->row[i].upper);
    assert_true(tbi_row_misses(p, &p->row[i]) <= tolerance);
  }
}

/* the ports move as under exact, which begins from nothing */
static void expect_exact(made_problem *made) {
  tbi_problem *p = made->p;
  sv *velocity = tbi_block_alloc((size_t)(p->nport + 1) * sizeof *velocity);
  assert_non_null(velocity);
  memcpy(velocity, p->velocity, (size_t)p->nport * sizeof *velocity);
  for (int32_t i = 0; i < p->npoint; ++i)
    memset(p->point[i].impulse, 0, sizeof p->point[i].impulse);
  for (int32_t i = 0; i < p->nrow; ++i)
    p->row[i].impulse = 0;
  tabi_world_def def = made_def(p->npoint);
  def.tolerance = 1e-10;
  tbi_solution solution = made_solve(made, &def, tbi_exact.memsize, tbi_exact.solve);
  assert_true(solution.converged);
  for (int32_t k = 0; k < p->nport; ++k) {
    sv apart = sv_sub(velocity[k], p->velocity[k]);
    assert_near(sqrt(sv_dot(apart, apart)), 0, 1e-7);
  }
  free(velocity);
}

/* how many of the seeds stand */
static int32_t try_ground(const ground *on) {
  int32_t stood = 0;
  for (uint64_t seed = 1; seed <= SEEDS; ++seed) {
    made_problem made;
    tabi_model *model = make(&made, seed, on);
    tabi_world_def def = made_def(MOST_POINTS);
    def.tolerance = 1e-8;
    for (int32_t i = 0; i < made.p->npoint; ++i)
      made.p->point[i].impulse[0] = (double)i;
    if (stand(&made, &def)) {
      ++stood;
      expect_law(&made, 2e-9);
      made_expect_consistent(&made);
      expect_exact(&made);
    } else {
      for (int32_t i = 0; i < made.p->npoint; ++i)
        assert_true(made.p->point[i].impulse[0] == (double)i);
    }
    made_close(&made);
    tabi_model_destroy(model);
  }
  print_message("friction %g, slope %g, sink %g: %d of %d stand\n", on->friction, on->slope,
                on->sink, (int)stood, SEEDS);
  return stood;
}

static void test_level(void **state) {
  (void)state;
  assert_true(try_ground(&(ground){.friction = 1}) > SEEDS / 4);
}

static void test_slope(void **state) {
  (void)state;
  assert_true(try_ground(&(ground){.friction = 1, .slope = 0.3}) > SEEDS / 8);
}

/* the ground gives way, as one body can follow it */
static void test_sinking(void **state) {
  (void)state;
  assert_true(try_ground(&(ground){.friction = 1, .sink = 1e-6}) > SEEDS / 8);
}

/* Most would slide.  Some do not: what hangs from their joints falls straight down. */
static void test_steep(void **state) {
  (void)state;
  assert_true(try_ground(&(ground){.friction = 0.3, .slope = 0.32}) < SEEDS / 8);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_level),
      cmocka_unit_test(test_slope),
      cmocka_unit_test(test_sinking),
      cmocka_unit_test(test_steep),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

/* test_lanes.c - sweeps in vector lanes: every width gives the bits of the plain reference, what
 * they converge to is Coulomb's law, and heaps that stop at their budget gain no energy. */
#include "contact/lanes.h"

#include "support/near.h"
#include "support/rng.h"
#include "support/scene_build.h"
#include "world/world.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { PORTS = 40, PACKS = 6, ROWS = 3, SWEEPS = 12 };

typedef struct packs {
  double twist[PORTS + 1][8]; /* the last is the world's */
  tbi_lane_pack pack[PACKS];
  tbi_lane_row row[PACKS * ROWS];
} packs;

/* numbers as they may be, without a body that has them */
static void draw_row(rng *r, tbi_lane_row *row) {
  tbi_lane *at = (tbi_lane *)row;
  for (size_t k = 0; k < sizeof *row / sizeof *at; ++k)
    for (int lane = 0; lane < TBI_SWEEP_LANES; ++lane)
      at[k][lane] = rng_between(r, -0.3, 0.3);
  for (int lane = 0; lane < TBI_SWEEP_LANES; ++lane) {
    row->friction[lane] = rng_between(r, 0, 1);
    row->normal_inverse[lane] = rng_between(r, 0.1, 1);
    row->slide[lane] = rng_between(r, 0.1, 1);
    row->mobility[lane] = rng_between(r, 0.5, 2);
    row->impulse[0][lane] = rng_between(r, 0, 1);
    /* fewer than three freedoms */
    if (rng_unit(r) < 0.1) row->inverse[0][lane] = (double)NAN;
  }
}

static void draw_packs(rng *r, packs *p) {
  memset(p, 0, sizeof *p);
  for (int k = 0; k < PORTS; ++k)
    for (int i = 0; i < 7; ++i)
      p->twist[k][i] = i == 3 ? 0 : rng_between(r, -1, 1);
  for (int i = 0; i < PACKS; ++i) {
    int first = rng_below(r, PORTS);
    p->pack[i].row = i * ROWS;
    p->pack[i].rows = 1 + rng_below(r, ROWS);
    for (int lane = 0; lane < TBI_SWEEP_LANES; ++lane) {
      p->pack[i].a[lane] = p->twist[(first + 2 * lane) % PORTS];
      p->pack[i].b[lane] = p->twist[(first + 2 * lane + 1) % PORTS];
    }
    for (int k = 0; k < ROWS; ++k)
      draw_row(r, &p->row[i * ROWS + k]);
  }
}

/* of every width that this processor has, on 50 draws */
static void expect_of_every_width(void (*expect)(tbi_lanes_width width, uint64_t seed)) {
#ifdef TABI_NATIVE_BITS
  print_message("skipped: this build may fuse multiplications and additions\n");
  skip();
#endif
  const tbi_lanes_width two = {tbi_lanes_sweep2, tbi_lanes_respond2};
  for (uint64_t seed = 1; seed <= 50; ++seed) {
    expect(two, seed);
#if defined(__x86_64__)
    const tbi_lanes_width four = {tbi_lanes_sweep4, tbi_lanes_respond4};
    const tbi_lanes_width eight = {tbi_lanes_sweep8, tbi_lanes_respond8};
    if (__builtin_cpu_supports("avx2")) expect(four, seed);
    if (__builtin_cpu_supports("avx512f")) expect(eight, seed);
#endif
  }
}

static void expect_equal_sweeps(tbi_lanes_width width, uint64_t seed) {
  static packs expected;
  static packs actual;
  rng r = rng_make(seed);
  draw_packs(&r, &expected);
  r = rng_make(seed);
  draw_packs(&r, &actual);
  for (int i = 0; i < SWEEPS; ++i) {
    tbi_lanes_change a = tbi_lanes_sweep_plain(expected.pack, PACKS, expected.row);
    tbi_lanes_change b = width.sweep(actual.pack, PACKS, actual.row);
    assert_memory_equal(&a, &b, sizeof a);
    assert_memory_equal(expected.row, actual.row, sizeof expected.row);
    assert_memory_equal(expected.twist, actual.twist, sizeof expected.twist);
  }
}

static void test_every_width_gives_the_same_bits(void **state) {
  (void)state;
  expect_of_every_width(expect_equal_sweeps);
}

static v4 lane_vector(tbi_lane *from, int lane) {
  return v4_make(from[0][lane], from[1][lane], from[2][lane]);
}

static sv lane_twist(tbi_lane *from, int lane) {
  return (sv){lane_vector(from, lane), lane_vector(from + 3, lane)};
}

static void expect_same_bits(v4 a, v4 b) {
  v3 x = v4_to(a);
  v3 y = v4_to(b);
  assert_memory_equal(&x, &y, sizeof x);
}

/* of port a, which feels the opposite impulse, or b: as tbi_point_wrenches and tbi_problem_response
 */
static void expect_response(tbi_lane_port *port, tbi_lane_row *row, bool is_a, int lane) {
  sv column[6];
  v4 arm = lane_vector(port->arm, lane);
  for (int k = 0; k < 6; ++k)
    column[k] = lane_twist(port->block[k], lane);
  for (int i = 0; i < 3; ++i) {
    v4 f = lane_vector(row->axis[i], lane);
    sv on = sv_scale(is_a ? -1 : 1, (sv){f, v4_cross(arm, f)});
    sv expected = sv_combine(column, on);
    sv actual = lane_twist(is_a ? row->change_a[i] : row->change_b[i], lane);
    expect_same_bits(expected.lin, actual.lin);
    expect_same_bits(expected.ang, actual.ang);
    expect_same_bits(on.ang, lane_vector(is_a ? row->moment_a[i] : row->moment_b[i], lane));
  }
}

static void expect_responses(tbi_lanes_width width, uint64_t seed) {
  static tbi_lane_port port[2];
  static tbi_lane_row row;
  rng r = rng_make(seed);
  for (double *number = (double *)port; number < (double *)(port + 2); ++number)
    *number = rng_between(&r, -1, 1);
  draw_row(&r, &row);
  width.respond(&port[0], &port[1], &row);
  for (int lane = 0; lane < TBI_SWEEP_LANES; ++lane) {
    expect_response(&port[0], &row, true, lane);
    expect_response(&port[1], &row, false, lane);
  }
}

static void test_every_width_makes_the_same_rows(void **state) {
  (void)state;
  expect_of_every_width(expect_responses);
}

/* boxes of several sizes, each column a little beside the one below, so that they fall over */
static scene make_heap(int side) {
  scene s = scene_begin();
  int32_t wood = scene_material(&s, 0.5, 0);
  scene_plane(&s, 0, wood);
  for (int i = 0; i < side * side * side; ++i) {
    int x = i % side;
    int y = i / side % side;
    int z = i / (side * side);
    double size = 0.1 + 0.02 * (i % 3);
    v3 at = v3_make(0.13 * x + 0.02 * z, 0.13 * y - 0.01 * z, 0.075 + 0.15 * z);
    (void)scene_box(&s, 1 + i % 4, v3_make(size, 0.12, size), at, wood);
  }
  return s;
}

typedef struct outcome {
  int32_t most, early; /* contacts, and steps that did not converge */
  double gain;         /* J, the most that contacts have added in a step */
  tabi_certificate last;
} outcome;

static outcome run_heap(scene *s, int steps) {
  outcome o = {0};
  for (int i = 0; i < steps; ++i) {
    scene_run(s, 1);
    o.last = tabi_world_certificate(s->world);
    o.most = o.last.contacts > o.most ? o.last.contacts : o.most;
    o.early += !o.last.converged;
    o.gain = fmax(o.gain, o.last.contact_work);
  }
  return o;
}

static void test_a_heap_comes_to_rest(void **state) {
  (void)state;
  scene s = make_heap(3);
  scene_open(&s, NULL);
  outcome fall = run_heap(&s, 1500);
  outcome rest = run_heap(&s, 500);
  print_message("%d contacts, %d steps unsolved, then %d; gain %g J; complementarity %g m/s\n",
                (int)fall.most, (int)fall.early, (int)rest.early, fall.gain,
                rest.last.complementarity);
  assert_true(fall.most >= TBI_LANES_POINTS && fall.early > 0);
  assert_true(fmax(fall.gain, rest.gain) <= 1e-9);
  assert_true(rest.last.converged);
  assert_true(rest.last.complementarity <= 1e-6 && rest.last.dissipation <= 1e-6);
  for (int32_t k = 0; k < tabi_model_nv(s.model); ++k)
    assert_near(tabi_world_v(s.world)[k], 0, 1e-6);
  scene_close(&s);
}

static double fastest_centre(const scene *s) {
  const double *v = tabi_world_v(s->world);
  double fastest = 0;
  for (int32_t k = 0; k < tabi_model_nv(s->model); k += 6)
    fastest = fmax(fastest, v3_norm(v3_load(v + k)));
  return fastest;
}

static void test_a_heap_that_has_all_but_stopped_is_swept_on(void **state) {
  (void)state;
  scene s = make_heap(3);
  tabi_world_def def = scene_def(&s);
  scene_open(&s, &def);
  double slow = 0.5 * def.timestep * v3_norm(v3_load(def.gravity));
  int swept_on = 0;
  for (int i = 0; i < 1500; ++i) {
    outcome o = run_heap(&s, 1);
    if (o.last.contacts < TBI_LANES_POINTS) continue;
    if (o.last.iterations > 20) ++swept_on;
    if (!o.last.converged && fastest_centre(&s) <= slow) assert_int_equal(o.last.iterations, 120);
  }
  assert_true(swept_on > 0);
  scene_close(&s);
}

static void test_a_budget_bounds_the_sweeps_and_adds_no_energy(void **state) {
  (void)state;
  for (int budget = 1; budget <= 16; budget *= 4) {
    scene s = make_heap(3);
    tabi_world_def def = scene_def(&s);
    def.budget = budget;
    scene_open(&s, &def);
    double before = scene_energy(&s);
    for (int i = 0; i < 600; ++i) {
      outcome o = run_heap(&s, 1);
      /* a solution may then be exchanged for one that shares loads evenly */
      if (!o.last.converged) assert_true(o.last.iterations <= budget);
      assert_true(o.last.contact_work <= 1e-9);
    }
    /* what depth corrections have added is small */
    assert_true(scene_energy(&s) <= before);
    scene_close(&s);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_every_width_makes_the_same_rows),
      cmocka_unit_test(test_every_width_gives_the_same_bits),
      cmocka_unit_test(test_a_heap_comes_to_rest),
      cmocka_unit_test(test_a_heap_that_has_all_but_stopped_is_swept_on),
      cmocka_unit_test(test_a_budget_bounds_the_sweeps_and_adds_no_energy),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

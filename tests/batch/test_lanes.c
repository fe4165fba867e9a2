/* test_lanes.c - a world in lanes moves as tabi_world_step moves it, and has the same bits whatever
 * the width, its neighbours, the threads and the number of worlds are. */
#include "stand.h"
#include "support/near.h"

#include <stdlib.h>

#ifdef __OPTIMIZE__
#define STEPS 1000
#else
#define STEPS 300
#endif

static tabi_batch_def lanes_def(int32_t worlds, int32_t lanes) {
  tabi_batch_def def = tabi_batch_def_default();
  def.worlds = worlds;
  def.lanes = lanes;
  def.threads = 1;
  return def;
}

/* widths that this machine has, 1 among them */
static int32_t list_widths(const stand *t, int32_t *widths) {
  const int32_t all[] = {1, 2, 4, 8};
  int32_t n = 0;
  for (size_t i = 0; i < sizeof all / sizeof *all; ++i) {
    tabi_batch_def def = lanes_def(1, all[i]);
    tabi_batch *b = tabi_batch_create(t->model, &t->world_def, &def, NULL);
    if (b) widths[n++] = all[i];
    tabi_batch_destroy(b);
  }
  return n;
}

static void standing_agrees_with_world(void **state) {
  (void)state;
  stand t = stand_open();
  tabi_batch *b = stand_batch(&t, lanes_def(3, 0));
  assert_true(tabi_batch_lanes(b) > 0);
  assert_string_equal(tabi_batch_reason(b), "");
  const double *q = tabi_batch_array(b, TABI_BATCH_Q, NULL);
  double worst = 0;
  for (int i = 0; i < STEPS; ++i) {
    step_world(t.s.scene, t.s.world);
    tabi_batch_step(b, 1, NULL);
    for (int32_t k = 0; k < t.nq; ++k)
      worst = fmax(worst, fabs(q[k] - tabi_world_q(t.s.world)[k]));
  }
  print_message("[          ] %d steps, positions differ by %.1e\n", STEPS, worst);
  assert_true(worst < 1e-8);
  tabi_batch_destroy(b);
  stand_close(&t);
}

/* J, mean and spread over worlds */
typedef struct outcome {
  double energy, height, overlap, residual;
} outcome;

static void add_outcome(outcome *sum, tabi_world *w, double overlap, double residual, int n) {
  tabi_energy e = tabi_world_energy(w);
  sum->energy += (e.kinetic + e.potential) / n;
  sum->height += tabi_world_q(w)[2] / n;
  sum->overlap += overlap / n;
  sum->residual += residual / n;
}

static double deepest(const tabi_world *w) {
  int32_t count;
  const tabi_contact *c = tabi_world_contacts(w, &count);
  double depth = 0;
  for (int32_t i = 0; i < count; ++i)
    depth = fmax(depth, -c[i].gap);
  return depth;
}

/* limp robots fall over: each ends differently, all alike on average */
static void falling_has_the_same_statistics(void **state) {
  (void)state;
  enum { WORLDS = 24, FALL = 1200 };
  stand t = stand_open();
  for (int32_t k = 0; k < t.nv; ++k)
    t.kp[k] *= 0.01;
  tabi_batch *b = stand_batch(&t, lanes_def(WORLDS, 0));
  tabi_world *world = tabi_world_create(t.model, &t.world_def, NULL);
  stand_scatter(b, 0.15);
  outcome lanes = {0};
  outcome worlds = {0};
  for (int32_t i = 0; i < WORLDS; ++i) {
    assert_int_equal(tabi_batch_save(b, i, world, NULL), TABI_OK);
    for (int k = 0; k < FALL; ++k)
      assert_int_equal(tabi_world_step_or_grow(world, NULL), TABI_OK);
    add_outcome(&worlds, world, deepest(world), tabi_world_certificate(world).gap, WORLDS);
  }
  stand_run(&t, b, FALL, 1, 0);
  const double *told = tabi_batch_array(b, TABI_BATCH_CERTIFICATE, NULL);
  for (int32_t i = 0; i < WORLDS; ++i) {
    assert_int_equal(tabi_batch_status(b)[i], TABI_OK);
    assert_int_equal(tabi_batch_save(b, i, world, NULL), TABI_OK);
    const double *row = told + (ptrdiff_t)i * TABI_BATCH_TOLD;
    add_outcome(&lanes, world, row[TABI_BATCH_OVERLAP], row[TABI_BATCH_RESIDUAL], WORLDS);
  }
  print_message(
      "[          ] energy %.1f and %.1f J, height %.3f and %.3f m, overlap %.1e and %.1e "
      "m, residual %.1e m/s\n",
      lanes.energy, worlds.energy, lanes.height, worlds.height, lanes.overlap, worlds.overlap,
      lanes.residual);
  assert_near(lanes.energy, worlds.energy, 0.15 * fabs(worlds.energy));
  assert_near(lanes.height, worlds.height, 0.05);
  assert_true(lanes.overlap < 1e-4);
  tabi_world_destroy(world);
  tabi_batch_destroy(b);
  stand_close(&t);
}

/* joints at their limits, dry friction and soles that slip: hardly a step ends at its budget */
static void struggling_robots_are_solved(void **state) {
  (void)state;
  enum { WORLDS = 32, STRUGGLE = 500 };
  stand t = stand_open();
  tabi_batch *b = stand_batch(&t, lanes_def(WORLDS, 0));
  stand_scatter(b, 0.2);
  const double *told = tabi_batch_array(b, TABI_BATCH_CERTIFICATE, NULL);
  int exhausted = 0;
  int rough = 0;
  for (int step = 0; step < STRUGGLE; step += 20) {
    stand_run(&t, b, 1, 1, 1.0);
    for (int k = 0; k < 19; ++k) {
      stand_run(&t, b, 1, 1, 0);
      for (int32_t i = 0; i < WORLDS; ++i) {
        const double *row = told + (ptrdiff_t)i * TABI_BATCH_TOLD;
        exhausted += row[TABI_BATCH_SWEEPS] >= 40 * row[TABI_BATCH_ATTEMPTS];
        rough += row[TABI_BATCH_RESIDUAL] > 1e-3;
      }
    }
  }
  print_message("[          ] of %d steps %d at their budget, %d with a residual above 1e-3 m/s\n",
                WORLDS * STRUGGLE, exhausted, rough);
  assert_true(exhausted < WORLDS * STRUGGLE / 200);
  assert_true(rough < WORLDS * STRUGGLE / 1000);
  tabi_batch_destroy(b);
  stand_close(&t);
}

/* the outcome of a run with targets that move, one hash for each world */
static void run_hashes(const stand *t, tabi_batch_def def, int32_t k, uint64_t *hash) {
  tabi_batch *b = stand_batch(t, def);
  stand_scatter(b, 0.2);
  stand_run(t, b, 300, k, 0.5);
  for (int32_t i = 0; i < def.worlds; ++i)
    hash[i] = stand_hash(b, i);
  tabi_batch_destroy(b);
}

static void bits_do_not_depend_on_width(void **state) {
  (void)state;
  enum { WORLDS = 19 };
  stand t = stand_open();
  int32_t widths[4];
  int32_t n = list_widths(&t, widths);
  uint64_t first[WORLDS];
  uint64_t other[WORLDS];
  run_hashes(&t, lanes_def(WORLDS, 1), 1, first);
  for (int32_t i = 0; i < n; ++i) {
    run_hashes(&t, lanes_def(WORLDS, widths[i]), 1, other);
    print_message("[          ] %d lanes\n", (int)widths[i]);
    assert_memory_equal(first, other, sizeof first);
  }
  stand_close(&t);
}

static void bits_do_not_depend_on_threads_or_steps_of_a_call(void **state) {
  (void)state;
  enum { WORLDS = 37 };
  stand t = stand_open();
  uint64_t first[WORLDS];
  uint64_t other[WORLDS];
  run_hashes(&t, lanes_def(WORLDS, 0), 1, first);
  run_hashes(&t, lanes_def(WORLDS, 0), 20, other);
  assert_memory_equal(first, other, sizeof first);
  for (int32_t threads = 2; threads <= 5; ++threads) {
    tabi_batch_def def = lanes_def(WORLDS, 0);
    def.threads = threads;
    run_hashes(&t, def, 5, other);
    assert_memory_equal(first, other, sizeof first);
  }
  stand_close(&t);
}

/* a world among others, in another place, and alone */
static void bits_do_not_depend_on_neighbours(void **state) {
  (void)state;
  enum { WORLDS = 16 };
  stand t = stand_open();
  uint64_t first[WORLDS];
  run_hashes(&t, lanes_def(WORLDS, 0), 1, first);
  tabi_batch *b = stand_batch(&t, lanes_def(WORLDS, 0));
  for (int32_t i = 0; i < WORLDS; ++i)
    tabi_batch_scatter(b, (5 * i + 3) % WORLDS, (uint64_t)i + 1, 0.2, 2);
  stand_run(&t, b, 300, 1, 0.5);
  for (int32_t i = 0; i < WORLDS; ++i)
    assert_true(stand_hash(b, (5 * i + 3) % WORLDS) == first[i]);
  tabi_batch_destroy(b);
  tabi_batch *alone = stand_batch(&t, lanes_def(1, 0));
  tabi_batch_scatter(alone, 0, 7, 0.2, 2);
  stand_run(&t, alone, 300, 1, 0.5);
  assert_true(stand_hash(alone, 0) == first[6]);
  tabi_batch_destroy(alone);
  stand_close(&t);
}

/* one world leaves all bounds; its neighbours do not notice */
static void divergence_stays_alone(void **state) {
  (void)state;
  enum { WORLDS = 8 };
  stand t = stand_open();
  uint64_t first[WORLDS];
  run_hashes(&t, lanes_def(WORLDS, 0), 1, first);
  tabi_batch *b = stand_batch(&t, lanes_def(WORLDS, 0));
  stand_scatter(b, 0.2);
  double *v = tabi_batch_array(b, TABI_BATCH_V, NULL);
  v[3 * (ptrdiff_t)t.nv + 10] = 1e9;
  assert_int_equal(tabi_batch_step(b, 0, NULL), 0);
  stand_run(&t, b, 300, 1, 0.5);
  for (int32_t i = 0; i < WORLDS; ++i) {
    assert_int_equal(tabi_batch_status(b)[i], i == 3 ? TABI_ERR_DIVERGED : TABI_OK);
    if (i != 3) assert_true(stand_hash(b, i) == first[i]);
  }
  const int32_t third = 3;
  assert_int_equal(tabi_batch_reset(b, &third, 1, tabi_world_q(t.s.world), NULL, NULL), TABI_OK);
  assert_int_equal(tabi_batch_step(b, 1, NULL), 0);
  assert_int_equal(tabi_batch_status(b)[3], TABI_OK);
  tabi_batch_destroy(b);
  stand_close(&t);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(standing_agrees_with_world),
      cmocka_unit_test(falling_has_the_same_statistics),
      cmocka_unit_test(struggling_robots_are_solved),
      cmocka_unit_test(bits_do_not_depend_on_width),
      cmocka_unit_test(bits_do_not_depend_on_threads_or_steps_of_a_call),
      cmocka_unit_test(bits_do_not_depend_on_neighbours),
      cmocka_unit_test(divergence_stays_alone),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

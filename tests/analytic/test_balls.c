/* test_balls.c - SimBenchmark's pile of 6 x 6 x 6 balls: hard, without friction or bounce. */
#include "support/near.h"
#include "support/rng.h"
#include "support/scene_build.h"

/* the sum of the squared depths found at the start of the last step, m^2 */
static double depths(const scene *s) {
  int32_t count;
  const tabi_contact *contact = tabi_world_contacts(s->world, &count);
  double sum = 0;
  for (int32_t i = 0; i < count; ++i) {
    if (contact[i].gap < 0) sum += contact[i].gap * contact[i].gap;
  }
  return sum;
}

static void pile(void **state) {
  (void)state;
  scene s = scene_begin();
  rng r = rng_make(42);
  int32_t stuff = scene_material(&s, 0, 0);
  scene_plane(&s, 0, stuff);
  for (int i = 0; i < 216; ++i) {
    const int at[3] = {i / 36, i / 6 % 6, i % 6};
    double pos[3];
    for (int k = 0; k < 3; ++k)
      pos[k] = 0.21 * at[k] + 1e-3 * rng_unit(&r);
    scene_ball(&s, 10, 0.1, v3_make(pos[0], pos[1], pos[2] + 0.101), stuff);
  }
  scene_open(&s, NULL);
  const int64_t steps = TEST_SHORT ? 300 : 10000;
  double mean = 0;
  double deepest = 0;
  int64_t sweeps = 0;
  for (int64_t k = 0; k < steps; ++k) {
    scene_run(&s, 1);
    double now = depths(&s);
    mean += now / (double)steps;
    deepest = fmax(deepest, now);
    sweeps += tabi_world_certificate(s.world).iterations;
  }
  print_message("216 balls, %lld steps: mean sum of squared depths %.3g m2 (worst %.3g), "
                "%.1f sweeps a step\n",
                (long long)steps, mean, deepest, (double)sweeps / (double)steps);
  assert_true(mean <= 1e-4);
  scene_close(&s);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(pile)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}

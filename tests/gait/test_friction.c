/* test_friction.c - how far a foot of the published biped slips when it lands, and that it slips
 * the farther the less friction there is. */
#include "gait/biped.h"

#include <string.h>

static const double coefficient[] = {0.5, 0.4, 0.3, 0.2, 0.1};
#define COEFFICIENTS (sizeof coefficient / sizeof coefficient[0])

/* the first change of support */
static tabi_gait_event first_swap(biped *b) {
  for (;;) {
    int32_t count;
    assert_true(biped_step(b));
    const tabi_gait_event *event = tabi_world_gait_events(b->world, &count);
    for (int32_t i = 0; i < count; ++i) {
      if (strcmp(event[i].cause, "slip ends") == 0) return event[i];
    }
  }
}

static void slip_grows(void **state) {
  (void)state;
  double longest = 0;
  for (size_t i = 0; i < COEFFICIENTS; ++i) {
    biped b = biped_default();
    b.def.friction = coefficient[i];
    b.timestep = 5e-3;
    biped_open(&b);
    tabi_gait_event swap = first_swap(&b);
    print_message("friction %.1f: the first foot slips %+.4f m, step of %.4f m ends at %.3f s\n",
                  coefficient[i], swap.slip, swap.stride, swap.time);
    assert_true(fabs(swap.slip) > longest);
    longest = fabs(swap.slip);
    biped_close(&b);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(slip_grows),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

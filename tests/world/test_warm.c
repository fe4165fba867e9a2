/* test_warm.c - impulses from step to step: points that persist keep theirs, and what points had
 * whose names have changed goes to those that stand in their place, pair by pair. */
#include "support/near.h"
#include "support/scene_build.h"
#include "world/world.h"

#include <string.h>

#define BOXES 3

static scene open_stack(void) {
  scene s = scene_begin();
  int32_t stuff = scene_material(&s, 0.5, 0);
  scene_plane(&s, 0, stuff);
  for (int k = 0; k < BOXES; ++k)
    scene_box(&s, 1 + k, v3_make(0.3, 0.2, 0.1), v3_make(0.01 * k, 0, 0.05 + 0.1 * k), stuff);
  scene_open(&s, NULL);
  scene_run(&s, 500);
  return s;
}

/* of all points between the same two shapes, from the lists of the step before and of this one */
static v3 sum_before(const tabi_world *w, uint64_t pair) {
  v3 sum = v3_zero();
  for (int64_t i = 0; i < w->state.head->nwarm; ++i)
    if (w->state.warm[i].id >> 16 == pair) sum = v3_add(sum, w->state.warm[i].impulse);
  return sum;
}

static v3 world_impulse(const tbi_point *c) {
  return v4_to(m4_combine(&c->frame, c->impulse[0], c->impulse[1], c->impulse[2]));
}

static v3 sum_now(const tbi_problem *p, uint64_t pair) {
  v3 sum = v3_zero();
  for (int32_t i = 0; i < p->npoint; ++i)
    if (p->point[i].id >> 16 == pair) sum = v3_add(sum, world_impulse(&p->point[i]));
  return sum;
}

static void check_sums(const tabi_world *w) {
  const tbi_problem *p = &w->setup.problem;
  for (int32_t i = 0; i < p->npoint; ++i) {
    uint64_t pair = p->point[i].id >> 16;
    v3 off = v3_sub(sum_now(p, pair), sum_before(w, pair));
    assert_true(v3_norm(off) <= 1e-12 * v3_norm(sum_before(w, pair)));
  }
}

static void points_keep_theirs(void **state) {
  (void)state;
  scene s = open_stack();
  const tbi_problem *p = &s.world->setup.problem;
  assert_int_equal(p->npoint, 4 * BOXES);
  tbi_world_warm_start(s.world);
  for (int32_t i = 0; i < p->npoint; ++i) {
    const tbi_warm *old = &s.world->state.warm[p->point[i].candidate];
    assert_true(old->id == p->point[i].id);
    assert_true(v3_norm(v3_sub(world_impulse(&p->point[i]), old->impulse)) <=
                1e-12 * v3_norm(old->impulse));
  }
  scene_close(&s);
}

/* all points, and every other one, get other names that leave their order alone */
static void new_names_inherit(void **state) {
  (void)state;
  for (int every = 1; every <= 2; ++every) {
    scene s = open_stack();
    for (int64_t i = 0; i < s.world->state.head->nwarm; i += every)
      s.world->state.warm[i].id += 1;
    tbi_world_warm_start(s.world);
    check_sums(s.world);
    scene_close(&s);
  }
}

/* a pair that was not there before starts from nothing, whatever others had */
static void new_pairs_start_at_zero(void **state) {
  (void)state;
  scene s = open_stack();
  const tbi_problem *p = &s.world->setup.problem;
  uint64_t pair = s.world->state.warm[0].id >> 16;
  for (int64_t i = 0; i < s.world->state.head->nwarm; ++i)
    if (s.world->state.warm[i].id >> 16 == pair) s.world->state.warm[i].id &= 0xffff;
  for (int32_t i = 0; i < p->npoint; ++i)
    memset(s.world->setup.problem.point[i].impulse, 0, sizeof p->point[i].impulse);
  tbi_world_warm_start(s.world);
  assert_true(v3_norm(sum_now(p, pair)) == 0);
  check_sums(s.world);
  scene_close(&s);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(points_keep_theirs),
      cmocka_unit_test(new_names_inherit),
      cmocka_unit_test(new_pairs_start_at_zero),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

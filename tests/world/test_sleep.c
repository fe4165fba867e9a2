/* test_sleep.c - what rests falls asleep, wakes when it has to, and nobody could tell. */
#include "support/near.h"
#include "support/rng.h"
#include "support/scene_build.h"

#include <stdlib.h>
#include <string.h>

#define LONG_ENOUGH 520 /* steps of 1 ms, once at rest */

static tabi_world_def sleepy(scene *s, bool sleeps) {
  tabi_world_def def = scene_def(s);
  def.sleep = sleeps;
  return def;
}

static void open_sleepy(scene *s, bool sleeps) {
  tabi_world_def def = sleepy(s, sleeps);
  scene_open(s, &def);
}

/* a stack of three, and a ball 2 m beside it */
typedef struct stack {
  scene s;
  int32_t box[3], ball;
} stack;

static stack open_stack(bool sleeps) {
  stack k = {.s = scene_begin()};
  int32_t stuff = scene_material(&k.s, 0.6, 0);
  scene_plane(&k.s, 0, stuff);
  for (int i = 0; i < 3; ++i)
    k.box[i] =
        scene_box(&k.s, 1, v3_make(0.2, 0.2, 0.1), v3_make(0, 0, 0.0501 + 0.1002 * i), stuff);
  k.ball = scene_ball(&k.s, 0.5, 0.05, v3_make(-2, 0, 0.05), stuff);
  open_sleepy(&k.s, sleeps);
  return k;
}

static bool all_sleep(const stack *k) {
  bool all = true;
  for (int i = 0; i < 3; ++i)
    all = all && tabi_world_sleeps(k->s.world, k->box[i]);
  return all;
}

static bool none_sleep(const stack *k) {
  bool any = false;
  for (int i = 0; i < 3; ++i)
    any = any || tabi_world_sleeps(k->s.world, k->box[i]);
  return !any;
}

static double speed_of(const scene *s, int32_t link) {
  const double *v = scene_v(s, link);
  return sqrt(v[0] * v[0] + v[1] * v[1] + v[2] * v[2]);
}

static void rests_and_sleeps(void **state) {
  (void)state;
  stack k = open_stack(true);
  scene_run(&k.s, 300);
  assert_true(none_sleep(&k));
  scene_run(&k.s, 300 + LONG_ENOUGH);
  assert_true(all_sleep(&k));
  assert_int_equal(tabi_world_count_asleep(k.s.world), 4);
  const double before[] = {scene_q(&k.s, k.box[2])[0], scene_q(&k.s, k.box[2])[2]};
  scene_run(&k.s, 1000);
  /* nothing moves, and what it weighs is still there */
  assert_true(scene_q(&k.s, k.box[2])[0] == before[0] && scene_q(&k.s, k.box[2])[2] == before[1]);
  assert_true(speed_of(&k.s, k.box[0]) == 0);
  assert_near(scene_impulse(&k.s, k.box[2]).z, 1 * GRAVITY * 1e-3, 1e-9);
  int32_t count = 0;
  (void)tabi_world_contacts(k.s.world, &count);
  assert_int_equal(count, 13);
  assert_int_equal(tabi_world_certificate(k.s.world).contacts, 13);
  scene_close(&k.s);
}

/* the same list of contacts, in the same order */
static void lists_the_same(void **state) {
  (void)state;
  stack k = open_stack(true);
  stack other = open_stack(false);
  scene_run(&k.s, 600 + LONG_ENOUGH);
  scene_run(&other.s, 600 + LONG_ENOUGH);
  /* one awake among them */
  scene_push(&k.s, k.ball, v3_make(0, 0.5, 0));
  scene_push(&other.s, other.ball, v3_make(0, 0.5, 0));
  scene_run(&k.s, 5);
  scene_run(&other.s, 5);
  assert_true(all_sleep(&k) && !tabi_world_sleeps(k.s.world, k.ball));
  int32_t count = 0;
  int32_t expected = 0;
  const tabi_contact *a = tabi_world_contacts(k.s.world, &count);
  const tabi_contact *b = tabi_world_contacts(other.s.world, &expected);
  assert_int_equal(count, expected);
  for (int32_t i = 0; i < count; ++i) {
    assert_int_equal(a[i].shape_a, b[i].shape_a);
    assert_int_equal(a[i].shape_b, b[i].shape_b);
    for (int j = 0; j < 3; ++j) {
      assert_near(a[i].point[j], b[i].point[j], 1e-6);
      assert_near(a[i].impulse[j], b[i].impulse[j], 1e-8);
    }
  }
  scene_close(&k.s);
  scene_close(&other.s);
}

/* A ball hits a stack that sleeps and one that never slept: up to the hit the same, and for a while
 * after it, before chaos. */
static void a_hit_wakes(void **state) {
  (void)state;
  stack k[2] = {open_stack(true), open_stack(false)};
  for (int i = 0; i < 2; ++i) {
    scene_run(&k[i].s, 600 + LONG_ENOUGH);
    if (i == 0) assert_true(all_sleep(&k[i]));
    scene_push(&k[i].s, k[i].ball, v3_scale(0.5 / 1e-3, v3_make(5, 0.1, 2)));
  }
  bool slept_at_first = true;
  bool woke = false;
  double apart = 0;
  for (int step = 0; step < 450; ++step) {
    for (int i = 0; i < 2; ++i)
      scene_run(&k[i].s, 1);
    if (step == 100) slept_at_first = all_sleep(&k[0]);
    woke = woke || none_sleep(&k[0]);
    for (int b = 0; b < 3; ++b)
      for (int j = 0; j < 3; ++j)
        apart =
            fmax(apart, fabs(scene_q(&k[0].s, k[0].box[b])[j] - scene_q(&k[1].s, k[1].box[b])[j]));
  }
  assert_true(slept_at_first && woke);
  assert_true(fabs(scene_q(&k[1].s, k[1].box[2])[0]) > 0.01 ||
              fabs(scene_q(&k[1].s, k[1].box[1])[0]) > 0.01); /* they were hit indeed */
  print_message("boxes are apart by %g m\n", apart);
  assert_true(apart < 1e-8);
  scene_close(&k[0].s);
  scene_close(&k[1].s);
}

/* forces, joint forces, a new state */
static void commands_wake(void **state) {
  (void)state;
  stack k = open_stack(true);
  scene_run(&k.s, 600 + LONG_ENOUGH);
  assert_true(all_sleep(&k));
  scene_push(&k.s, k.box[1], v3_make(0, 0, 0));
  scene_run(&k.s, 1);
  assert_true(all_sleep(&k)); /* no force */
  scene_push(&k.s, k.box[1], v3_make(0.1, 0, 0));
  scene_run(&k.s, 1);
  assert_true(none_sleep(&k) && tabi_world_sleeps(k.s.world, k.ball));
  scene_run(&k.s, LONG_ENOUGH);
  assert_true(all_sleep(&k));
  double tau[64] = {0};
  tau[tabi_model_joint_v(k.s.model, scene_joint(&k.s, k.box[0])).first] = 30;
  assert_int_equal(tabi_world_step(k.s.world, tau), TABI_OK);
  assert_true(none_sleep(&k) && speed_of(&k.s, k.box[0]) > 0);
  scene_run(&k.s, 100 + LONG_ENOUGH);
  assert_true(all_sleep(&k));
  scene_set(&k.s, k.ball, NULL, NULL);
  assert_int_equal(tabi_world_count_asleep(k.s.world), 0);
  scene_close(&k.s);
}

/* A table that is told to stay holds a box asleep; when it is told to move, both do. */
static void a_table_wakes(void **state) {
  (void)state;
  for (int in_place = 0; in_place < 2; ++in_place) {
    scene s = scene_begin();
    int32_t stuff = scene_material(&s, 0.6, 0);
    tabi_joint_def slide =
        scene_hinge(TABI_JOINT_PRISMATIC, TABI_WORLD, v3_make(0, 0, 0.5), v3_make(1, 0, 0));
    int32_t table = scene_link(&s, 10, v3_zero(), v3_make(1, 1, 1), slide);
    scene_shape(&s, TABI_SHAPE_BOX, table, v3_make(1, 1, 0.1), stuff);
    int32_t box = scene_box(&s, 1, v3_make(0.1, 0.1, 0.1), v3_make(0, 0, 0.601), stuff);
    open_sleepy(&s, true);
    tabi_motion stays = {.v = {0}, .in_place = in_place};
    tabi_motion moves = {.v = {0.2}, .in_place = in_place};
    tabi_world_set_motion(s.world, scene_joint(&s, table), &stays);
    scene_run(&s, 200 + LONG_ENOUGH);
    assert_true(tabi_world_sleeps(s.world, box) && !tabi_world_sleeps(s.world, table));
    tabi_world_set_motion(s.world, scene_joint(&s, table), &moves);
    scene_run(&s, 1);
    assert_false(tabi_world_sleeps(s.world, box));
    scene_run(&s, 500);
    assert_near(scene_v(&s, box)[0], 0.2, 1e-6);
    scene_close(&s);
  }
}

/* what a servo holds, and what lies on it */
static void robots_stay_awake(void **state) {
  (void)state;
  scene s = scene_begin();
  int32_t stuff = scene_material(&s, 0.6, 0);
  tabi_joint_def lift =
      scene_hinge(TABI_JOINT_PRISMATIC, TABI_WORLD, v3_make(0, 0, 0.5), v3_make(0, 0, 1));
  int32_t table = scene_link(&s, 10, v3_zero(), v3_make(1, 1, 1), lift);
  scene_shape(&s, TABI_SHAPE_BOX, table, v3_make(1, 1, 0.1), stuff);
  int32_t box = scene_box(&s, 1, v3_make(0.1, 0.1, 0.1), v3_make(0, 0, 0.601), stuff);
  open_sleepy(&s, true);
  tabi_servo servo = {.kp = 1e5, .kd = 1e4, .implicit = true};
  tabi_world_set_servo(s.world, scene_joint(&s, table), &servo);
  scene_run(&s, 2000);
  assert_true(speed_of(&s, box) < 1e-6 && tabi_world_count_asleep(s.world) == 0);
  scene_close(&s);
}

/* what rolls slowly goes on, and what falls does not sleep at the top of its path */
static void the_slow_stay_awake(void **state) {
  (void)state;
  scene s = scene_begin();
  int32_t stuff = scene_material(&s, 0.6, 0);
  scene_plane(&s, 0, stuff);
  int32_t ball = scene_ball(&s, 1, 0.1, v3_make(0, 0, 0.1), stuff);
  int32_t flies = scene_ball(&s, 1, 0.1, v3_make(1, 0, 5), stuff);
  open_sleepy(&s, true);
  scene_set_velocity(&s, ball, v3_make(1e-4, 0, 0), v3_make(0, 1e-3, 0));
  scene_set_velocity(&s, flies, v3_make(0, 0, 1), v3_zero());
  scene_run(&s, 900);
  assert_int_equal(tabi_world_count_asleep(s.world), 0);
  assert_near(scene_q(&s, ball)[0], 0.9e-4, 1e-7);
  scene_close(&s);
}

/* -- from snapshots, in any world */

typedef struct heap {
  scene s;
  uint64_t seed;
  int32_t last; /* falls on the others when they rest */
} heap;

static heap open_heap(uint64_t seed, bool sleeps, tabi_contact_kind contact,
                      tabi_workspace **shared) {
  heap h = {.s = scene_begin(), .seed = seed};
  rng r = rng_make(seed);
  int32_t stuff = scene_material(&h.s, rng_between(&r, 0.3, 0.9), 0);
  scene_plane(&h.s, 0, stuff);
  for (int i = 0; i < 8; ++i) {
    v3 at = v3_make(rng_between(&r, -0.1, 0.1), rng_between(&r, -0.1, 0.1), 0.1 + 0.15 * i);
    v3 size = v3_make(rng_between(&r, 0.1, 0.3), rng_between(&r, 0.1, 0.3), 0.1);
    h.last = scene_box(&h.s, rng_between(&r, 0.5, 2), size, at, stuff);
  }
  h.last =
      scene_box(&h.s, 1, v3_make(0.1, 0.1, 0.1), v3_make(0, 0, 1.5 + 0.5 * GRAVITY * 25), stuff);
  tabi_world_def def = sleepy(&h.s, sleeps);
  def.contact = contact;
  if (shared) {
    def.max_contacts = 200;
    if (!*shared) *shared = tabi_workspace_create(h.s.model, &def, NULL);
    def.workspace = *shared;
  }
  scene_open(&h.s, &def);
  return h;
}

/* The heap rests and sleeps until a box falls on it after 5 s; all is in a snapshot. */
static void resumes(void **state) {
  (void)state;
  const tabi_contact_kind kinds[] = {TABI_CONTACT_CONE, TABI_CONTACT_EXACT, TABI_CONTACT_LCP,
                                     TABI_CONTACT_IMPULSE};
  for (uint64_t seed = 1; seed <= (TEST_SHORT ? 4 : 24); ++seed) {
    tabi_contact_kind contact = kinds[seed % 4];
    heap whole = open_heap(seed, true, contact, NULL);
    heap resumed = open_heap(seed, true, contact, NULL);
    size_t size = tabi_world_snapshot_size(whole.s.world);
    void *snapshot = calloc(1, size);
    int slept = 0;
    for (int i = 0; i < 10; ++i) {
      scene_run(&whole.s, 440 + 17 * i);
      tabi_world_save(whole.s.world, snapshot);
      assert_int_equal(tabi_world_restore(resumed.s.world, snapshot, size), TABI_OK);
      slept += tabi_world_count_asleep(whole.s.world) > 4;
      scene_run(&whole.s, 40);
      scene_run(&resumed.s, 40);
      assert_true(tabi_world_hash(whole.s.world) == tabi_world_hash(resumed.s.world));
      assert_int_equal(tabi_world_count_asleep(whole.s.world),
                       tabi_world_count_asleep(resumed.s.world));
    }
    print_message("seed %d: asleep at %d of 10 snapshots\n", (int)seed, slept);
    free(snapshot);
    scene_close(&whole.s);
    scene_close(&resumed.s);
  }
}

/* a byte of nonsense about sleep is refused */
static void refuses_nonsense(void **state) {
  (void)state;
  stack k = open_stack(true);
  scene_run(&k.s, 600 + LONG_ENOUGH);
  size_t size = tabi_world_snapshot_size(k.s.world);
  unsigned char *good = calloc(2, size);
  unsigned char *bad = good + size;
  tabi_world_save(k.s.world, good);
  int refused = 0;
  for (size_t at = 0; at < size; ++at) {
    memcpy(bad, good, size);
    bad[at] ^= 0xff;
    if (tabi_world_restore(k.s.world, bad, size) != TABI_OK)
      ++refused;
    else
      (void)tabi_world_step_or_grow(k.s.world, NULL);
  }
  assert_true(refused > 0);
  assert_int_equal(tabi_world_restore(k.s.world, good, size), TABI_OK);
  assert_true(all_sleep(&k));
  free(good);
  scene_close(&k.s);
}

/* Worlds that share a workspace, some of which sleep: the bits are those of worlds of their own. */
static void shares_a_workspace(void **state) {
  (void)state;
  enum { WORLDS = 3 };
  tabi_workspace *shared = NULL;
  heap alone[WORLDS];
  heap together[WORLDS];
  for (int i = 0; i < WORLDS; ++i) {
    alone[i] = open_heap(5, i < 2, TABI_CONTACT_CONE, NULL);
    together[i] = open_heap(5, i < 2, TABI_CONTACT_CONE, &shared);
  }
  for (int step = 0; step < 4000; ++step) {
    for (int i = 0; i < WORLDS; ++i) {
      if (step % (i + 1) != 0) continue;
      scene_run(&alone[i].s, 1);
      scene_run(&together[i].s, 1);
      assert_true(tabi_world_hash(alone[i].s.world) == tabi_world_hash(together[i].s.world));
    }
  }
  for (int i = 0; i < WORLDS; ++i) {
    scene_close(&alone[i].s);
    scene_close(&together[i].s);
  }
  tabi_workspace_destroy(shared);
}

/* For a second after a heap has fallen asleep, one that goes on awake stays where it is. */
static void nobody_can_tell(void **state) {
  (void)state;
  for (uint64_t seed = 1; seed <= (TEST_SHORT ? 3 : 12); ++seed) {
    heap slept = open_heap(seed, true, TABI_CONTACT_CONE, NULL);
    heap awake = open_heap(seed, false, TABI_CONTACT_CONE, NULL);
    for (int step = 0; step < 3900 && tabi_world_count_asleep(slept.s.world) < 8; ++step)
      scene_run(&slept.s, 1);
    int32_t asleep = tabi_world_count_asleep(slept.s.world);
    assert_int_equal(tabi_world_continue(awake.s.world, slept.s.world, NULL), TABI_OK);
    scene_run(&slept.s, 1000);
    scene_run(&awake.s, 1000);
    double apart = 0;
    for (int32_t i = 0; i < tabi_model_nq(slept.s.model); ++i)
      apart = fmax(apart, fabs(tabi_world_q(slept.s.world)[i] - tabi_world_q(awake.s.world)[i]));
    print_message("seed %d: %d asleep, apart by %g\n", (int)seed, asleep, apart);
    assert_true(asleep < 8 || apart < 5e-6);
    scene_close(&slept.s);
    scene_close(&awake.s);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(rests_and_sleeps),    cmocka_unit_test(lists_the_same),
      cmocka_unit_test(a_hit_wakes),         cmocka_unit_test(commands_wake),
      cmocka_unit_test(a_table_wakes),       cmocka_unit_test(robots_stay_awake),
      cmocka_unit_test(the_slow_stay_awake), cmocka_unit_test(resumes),
      cmocka_unit_test(refuses_nonsense),    cmocka_unit_test(shares_a_workspace),
      cmocka_unit_test(nobody_can_tell),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

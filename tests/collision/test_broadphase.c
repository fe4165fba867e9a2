/* test_broadphase.c - the pass over all shapes finds what testing every pair finds, in the same
 * order, whatever was there before. */
#include "collision/scene.h"
#include "collision/solids.h"
#include "support/near.h"

#include <string.h>

static const tabi_shape_type kinds[] = {TABI_SHAPE_SPHERE, TABI_SHAPE_CAPSULE, TABI_SHAPE_BOX};

/* free bodies with one shape each, over two planes, one of them tilted, and a large box */
static void make_crowd(scene *s, rng *r, int32_t count, double margin) {
  tabi_builder *builder = tabi_builder_create();
  for (int32_t i = 0; i < count; ++i) {
    int32_t link = scene_link(builder, TABI_WORLD, TABI_JOINT_FREE);
    scene_shape(builder, link, kinds[rng_below(r, 3)], rng_between(r, 0.05, 0.2),
                rng_between(r, 0.05, 0.2), rng_between(r, 0.05, 0.2));
  }
  scene_shape(builder, TABI_WORLD, TABI_SHAPE_PLANE, 0, 0, 0);
  scene_shape(builder, TABI_WORLD, TABI_SHAPE_BOX, 10, 10, 0.2);
  tabi_shape_def slope = tabi_shape_def_default();
  slope.type = TABI_SHAPE_PLANE;
  q_store(q_exp(v3_make(0.5, 0.1, 0)), slope.quat);
  tabi_builder_add_shape(builder, &slope);
  scene_make(s, builder, margin);
}

static void scatter(scene *s, rng *r, int32_t count, double x, double y, double z) {
  for (int32_t i = 0; i < count; ++i) {
    v3 pos = {rng_between(r, -x, x), rng_between(r, -y, y), rng_between(r, 0, z)};
    scene_put(s, i, pos, random_rotation(r));
  }
}

/* every pair, one after the other */
static int32_t collide_every_pair(const scene *s, tbi_candidate *candidate) {
  int32_t count = 0;
  int32_t nshape = s->model->nshape;
  for (int32_t k = 0; k < nshape; ++k) {
    for (int32_t l = k + 1; l < nshape; ++l) {
      int32_t a = s->model->shape_named[k];
      int32_t b = s->model->shape_named[l];
      if (s->model->shape[a].link == TABI_WORLD && s->model->shape[b].link == TABI_WORLD) continue;
      tbi_solid solid_a = scene_solid(s, a);
      tbi_solid solid_b = scene_solid(s, b);
      tbi_pair_point p[TBI_PAIR_ROOM];
      int32_t n = tbi_pair_collide(&solid_a, &solid_b, s->margin[a] + s->margin[b], p);
      for (int32_t i = 0; i < n; ++i) {
        assert_true(count < SCENE_CANDIDATES);
        candidate[count++] = (tbi_candidate){a, b, p[i].feature, p[i].point, p[i].normal, p[i].gap};
      }
    }
  }
  return count;
}

static void check_against_all(const scene *s) {
  static tbi_candidate candidate[SCENE_CANDIDATES];
  assert_int_equal(s->ncandidate, collide_every_pair(s, candidate));
  for (int32_t i = 0; i < s->ncandidate; ++i) {
    assert_int_equal(s->candidate[i].shape_a, candidate[i].shape_a);
    assert_int_equal(s->candidate[i].shape_b, candidate[i].shape_b);
    assert_int_equal(s->candidate[i].feature, candidate[i].feature);
    assert_near(s->candidate[i].gap, candidate[i].gap, 1e-9);
  }
}

static void test_all_pairs(void **state) {
  (void)state;
  rng r = rng_make(41);
  for (int trial = 0; trial < 20; ++trial) {
    scene s;
    int32_t count = 1 + rng_below(&r, 80);
    make_crowd(&s, &r, count, rng_between(&r, 0, 0.05));
    /* the longest side of the crowd changes, and with it the axis of the sweep */
    for (int i = 0; i < 4; ++i) {
      scatter(&s, &r, count, i == 0 ? 2 : 0.5, i == 1 ? 2 : 0.5, i == 2 ? 2 : 0.5);
      for (int32_t k = 0; k < s.model->nshape; ++k)
        s.margin[k] = rng_between(&r, 0, 0.1);
      scene_collide(&s);
      check_against_all(&s);
    }
    scene_free(&s);
  }
}

/* So crowded that pairs are not listed any more. */
static void test_crowded(void **state) {
  (void)state;
  rng r = rng_make(42);
  scene s;
  make_crowd(&s, &r, 120, 0.01);
  scatter(&s, &r, 120, 0.05, 0.05, 0.05);
  scene_collide(&s);
  check_against_all(&s);
  assert_true(s.ncandidate > 120 * 32);
  scene_free(&s);
}

/* The same state gives the same bits, whatever the workspace saw before. */
static void test_history(void **state) {
  (void)state;
  rng r = rng_make(43);
  scene s;
  make_crowd(&s, &r, 200, 0.02);
  scatter(&s, &r, 200, 1, 1, 1);
  scene_collide(&s);
  int32_t first = s.ncandidate;
  static tbi_candidate candidate[SCENE_CANDIDATES];
  memcpy(candidate, s.candidate, (size_t)first * sizeof *candidate);
  double q[1400];
  memcpy(q, s.q, sizeof q);
  for (int i = 0; i < 10; ++i) {
    scatter(&s, &r, 200, 1 + i % 3, 1 + i % 2, 3);
    scene_collide(&s);
  }
  memcpy(s.q, q, sizeof q);
  scene_collide(&s);
  assert_int_equal(s.ncandidate, first);
  for (int32_t i = 0; i < first; ++i) {
    assert_int_equal(s.candidate[i].shape_a, candidate[i].shape_a);
    assert_int_equal(s.candidate[i].shape_b, candidate[i].shape_b);
    assert_int_equal(s.candidate[i].feature, candidate[i].feature);
    assert_memory_equal(&s.candidate[i].point, &candidate[i].point, sizeof(v3));
    assert_memory_equal(&s.candidate[i].normal, &candidate[i].normal, sizeof(v3));
    assert_true(s.candidate[i].gap == candidate[i].gap);
  }
  scene_free(&s);
}

/* Pairs that were listed earlier are still all there are after small moves, or listed anew: things
 * creep, fly and are turned, margins change, and one plane is carried about. */
static void test_small_moves(void **state) {
  (void)state;
  rng r = rng_make(44);
  for (int trial = 0; trial < 6; ++trial) {
    tabi_builder *builder = tabi_builder_create();
    int32_t count = 30;
    for (int32_t i = 0; i < count; ++i) {
      int32_t link = scene_link(builder, TABI_WORLD, TABI_JOINT_FREE);
      scene_shape(builder, link, kinds[rng_below(&r, 3)], rng_between(&r, 0.05, 0.2),
                  rng_between(&r, 0.05, 0.2), rng_between(&r, 0.05, 0.2));
    }
    bool carried = trial % 2 == 1;
    int32_t tray = scene_link(builder, TABI_WORLD, TABI_JOINT_FREE);
    scene_shape(builder, carried ? tray : TABI_WORLD, TABI_SHAPE_PLANE, 0, 0, 0);
    scene s;
    scene_make(&s, builder, 1e-3);
    scatter(&s, &r, count, 0.4, 0.4, 0.4);
    double speed[31];
    for (int32_t i = 0; i <= count; ++i)
      speed[i] = i % 7 == trial ? 0.05 : 1e-4;
    for (int i = 0; i < 60; ++i) {
      for (int32_t k = 0; k <= count; ++k) {
        double *q = s.q + 7 * (ptrdiff_t)k;
        for (int j = 0; j < 3; ++j)
          q[j] += rng_between(&r, -speed[k], speed[k]);
        if (k % 5 == 0) q_store(q_mul(q_load(q + 3), q_exp(v3_make(0.02, 0, speed[k]))), q + 3);
      }
      s.margin[rng_below(&r, count)] = rng_between(&r, 0, 0.01);
      scene_collide(&s);
      check_against_all(&s);
    }
    scene_free(&s);
  }
}

static void test_limits(void **state) {
  (void)state;
  /* nothing at all */
  scene s;
  scene_make(&s, tabi_builder_create(), 0);
  scene_collide(&s);
  assert_int_equal(s.ncandidate, 0);
  scene_free(&s);

  /* a box on the ground has four points and not three */
  tabi_builder *builder = tabi_builder_create();
  int32_t box = scene_link(builder, TABI_WORLD, TABI_JOINT_FREE);
  scene_shape(builder, TABI_WORLD, TABI_SHAPE_PLANE, 0, 0, 0);
  scene_shape(builder, box, TABI_SHAPE_BOX, 0.2, 0.2, 0.2);
  scene_make(&s, builder, 1e-3);
  scene_put(&s, box, v3_make(5e5, -3, 0.1), q_identity());
  scene_collide(&s);
  assert_int_equal(s.ncandidate, 4);
  tbi_candidate candidate[4];
  assert_int_equal(tbi_collide(s.collision, s.dynamics, s.margin, candidate, 3), -1);
  assert_int_equal(tbi_collide(s.collision, s.dynamics, s.margin, candidate, 4), 4);
  /* what is not a number is nowhere, and breaks nothing */
  scene_put(&s, box, v3_make(NAN, 0, 0), q_identity());
  scene_collide(&s);
  assert_int_equal(s.ncandidate, 0);
  scene_put(&s, box, v3_make(0, 0, -1e300), q_identity());
  s.margin[0] = 1e12;
  scene_collide(&s);
  assert_true(s.ncandidate >= 0);
  scene_free(&s);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_all_pairs), cmocka_unit_test(test_crowded),
      cmocka_unit_test(test_history),   cmocka_unit_test(test_small_moves),
      cmocka_unit_test(test_limits),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

/* test_terrain.c - ground that is not flat: things come to rest on it and stay, a pile fills a
 * bowl, a robot stands on bumps, and what was put below is pushed up. */
#include "support/ground.h"
#include "support/near.h"
#include "support/scene_build.h"

#include <string.h>

/* how deep anything is in the ground */
static double deepest(const scene *s) {
  int32_t count;
  double depth = 0;
  const tabi_contact *contact = tabi_world_contacts(s->world, &count);
  for (int32_t i = 0; i < count; ++i) {
    if (contact[i].link_a == TABI_WORLD || contact[i].link_b == TABI_WORLD)
      depth = fmax(depth, -contact[i].gap);
  }
  return depth;
}

static double waves(double x, double y) { return 0.05 * sin(7 * x + 0.4) * sin(6 * y + 0.9); }

/* A box dropped on waves: after it has settled it stays where it is. */
static void box_rests_on_waves(void **state) {
  (void)state;
  for (int k = 0; k < (TEST_SHORT ? 2 : 8); ++k) {
    rng r = rng_make(20 + (uint64_t)k);
    scene s = scene_begin();
    int32_t stuff = scene_material(&s, 0.8, 0);
    v3 at = v3_make(rng_between(&r, -1, 1), rng_between(&r, -1, 1), 0.2);
    v3 size = k % 2 ? v3_make(0.3, 0.2, 0.1) : v3_make(0.8, 0.5, 0.1);
    int32_t box = scene_box(&s, 2, size, at, stuff);
    ground g = ground_grid(&r, 5, 5, 60, 60, 0, waves);
    ground_add(s.builder, &g, TABI_SHAPE_HEIGHTFIELD, NULL, stuff);
    scene_open(&s, NULL);
    double turn = rng_between(&r, 0, 3);
    scene_turn(&s, box, (q4){cos(turn), 0, 0, sin(turn)});
    double depth = 0;
    /* one of them rocks between two hills for 7 s */
    for (int i = 0; i < (TEST_SHORT ? 3000 : 9000); ++i) {
      scene_run(&s, 1);
      depth = fmax(depth, deepest(&s));
    }
    v3 start = v3_load(scene_q(&s, box));
    const int rest = 1000;
    scene_run(&s, rest);
    v3 end = v3_load(scene_q(&s, box));
    double creep = v3_norm(v3_sub(end, start)) / (1e-3 * rest);
    v3 bears = scene_impulse(&s, box);
    print_message("box %d on waves: creeps at %.1e m/s, was %.2e m deep at most, borne %.9f\n", k,
                  creep, depth, bears.z / (2 * GRAVITY * 1e-3));
    assert_true(creep < 1e-9);
    assert_true(depth < 1e-3);
    assert_near(bears.z, 2 * GRAVITY * 1e-3, 1e-6);
    scene_close(&s);
  }
}

static int32_t add_thing(scene *s, int index, v3 at, int32_t material) {
  static const tabi_shape_type type[4] = {TABI_SHAPE_SPHERE, TABI_SHAPE_CAPSULE,
                                          TABI_SHAPE_CYLINDER, TABI_SHAPE_BOX};
  if (index % 4 == 3) return scene_box(s, 1, v3_make(0.2, 0.15, 0.1), at, material);
  int32_t link = scene_free(s, 1, v3_make(0.004, 0.004, 0.004), at);
  scene_shape(s, type[index % 4], link, v3_make(0.07, 0.12, 0), material);
  return link;
}

/* Forty things of all kinds fall into a bowl: none goes through it, and they come to rest. */
static void pile_fills_bowl(void **state) {
  (void)state;
  enum { COUNT = TEST_SHORT ? 16 : 40 };
  rng r = rng_make(30);
  scene s = scene_begin();
  int32_t stuff = scene_material(&s, 0.5, 0);
  int32_t link[COUNT];
  for (int i = 0; i < COUNT; ++i) {
    double x = 0.28 * (i % 3 - 1) + rng_between(&r, -0.01, 0.01);
    double y = 0.28 * (i / 3 % 3 - 1) + rng_between(&r, -0.01, 0.01);
    double z = 0.35 + 0.26 * (i / 9); // NOLINT(bugprone-integer-division): in layers
    v3 at = v3_make(x, y, z);
    link[i] = add_thing(&s, i, at, stuff);
  }
  ground g = ground_bowl(1, 0.8, 48, 16);
  ground_add(s.builder, &g, TABI_SHAPE_TRIANGLES, NULL, stuff);
  scene_open(&s, NULL);
  double depth = 0;
  const int steps = TEST_SHORT ? 1500 : 8000;
  for (int i = 0; i < steps; ++i) {
    scene_run(&s, 1);
    depth = fmax(depth, deepest(&s));
  }
  double speed = 0;
  for (int i = 0; i < COUNT; ++i) {
    v3 p = v3_load(scene_q(&s, link[i]));
    speed = fmax(speed, v3_norm(v3_load(scene_v(&s, link[i]))));
    assert_true(v3_norm(v3_sub(p, v3_make(0, 0, 1))) < 1); /* inside the ball */
  }
  print_message("%d things in a bowl: %.2e m deep at most, moving at %.1e m/s, in the end %.2e m\n",
                COUNT, depth, speed, deepest(&s));
  assert_true(deepest(&s) < 1e-3);
  assert_true(depth < 1e-3);
  scene_close(&s);
}

static double bumps(double x, double y) {
  return 0.004 * sin(23 * x + 1) * sin(19 * y) + 0.01 * sin(2 * x);
}

/* rubber between ankles and soles that does not let the robot sway for long */
static void set_rubber(scene *s) {
  for (int32_t j = 0; j < tabi_model_njoint(s->model); ++j) {
    const char *name = tabi_model_joint(s->model, j).name;
    if (!strstr(name, "bush")) continue;
    bool slide = strstr(name, "bush_z") != NULL;
    tabi_servo servo = {.kp = slide ? 1e6 : 2.5e3, .kd = slide ? 1e3 : 200, .implicit = true};
    tabi_world_set_servo(s->world, j, &servo);
  }
}

/* humanoid36 stands on bumps of some millimetres. */
static void humanoid_stands_on_bumps(void **state) {
  (void)state;
  rng r = rng_make(40);
  scene s = scene_begin();
  int32_t stuff = scene_material(&s, 0.7, 0);
  ground g = ground_grid(&r, 2, 2, 80, 80, 0.2, bumps);
  ground_add(s.builder, &g, TABI_SHAPE_HEIGHTFIELD, NULL, stuff);
  int32_t pelvis = scene_humanoid(&s, 0.665);
  scene_open(&s, NULL);
  scene_crouch(&s, 2000, 50, true);
  set_rubber(&s);
  double depth = 0;
  for (int i = 0; i < (TEST_SHORT ? 600 : 5000); ++i) {
    scene_run(&s, 1);
    depth = fmax(depth, deepest(&s));
  }
  const double *q = scene_q(&s, pelvis);
  double start[3] = {q[0], q[1], q[2]};
  scene_run(&s, 500);
  q = scene_q(&s, pelvis);
  double creep = v3_norm(v3_sub(v3_load(q), v3_load(start))) / 0.5;
  print_message("humanoid on bumps: pelvis at %.4f m, %.1e m/s, feet %.1e m deep at most\n", q[2],
                creep, depth);
  assert_true(q[2] > 0.6);
  assert_true(q[3] > 0.98);
  assert_true(depth < 1e-3);
  if (!TEST_SHORT) assert_true(creep < 1e-6);
  scene_close(&s);
}

/* What begins below a height field comes up and lies on it. */
static void comes_up_from_below(void **state) {
  (void)state;
  rng r = rng_make(50);
  scene s = scene_begin();
  int32_t stuff = scene_material(&s, 0.5, 0);
  int32_t link[4];
  for (int i = 0; i < 4; ++i)
    link[i] = add_thing(&s, i, v3_make(-0.6 + 0.4 * i, 0, -0.5), stuff);
  ground g = ground_grid(&r, 5, 5, 60, 60, 0, waves);
  ground_add(s.builder, &g, TABI_SHAPE_HEIGHTFIELD, NULL, stuff);
  scene_open(&s, NULL);
  scene_run(&s, 4000);
  for (int i = 0; i < 4; ++i) {
    const double *q = scene_q(&s, link[i]);
    assert_true(q[2] > waves(q[0], q[1]) + 0.03);
  }
  assert_true(deepest(&s) < 1e-4);
  scene_close(&s);
}

/* What rolls or slides over the border of a floor falls, and is not pulled back up. */
static void falls_over_border(void **state) {
  (void)state;
  rng r = rng_make(70);
  scene s = scene_begin();
  int32_t stuff = scene_material(&s, 0.3, 0);
  int32_t link[4];
  for (int i = 0; i < 4; ++i)
    link[i] = add_thing(&s, i, v3_make(0.97, -0.6 + 0.4 * i, 0.13), stuff);
  ground g = ground_grid(&r, 2, 2, 12, 12, 0.3, NULL);
  ground_add(s.builder, &g, TABI_SHAPE_TRIANGLES, NULL, stuff);
  scene_open(&s, NULL);
  for (int i = 0; i < 4; ++i)
    scene_set_velocity(&s, link[i], v3_make(0.5, 0, 0), v3_zero());
  double energy = scene_energy(&s);
  for (int i = 0; i < 1500; ++i) {
    scene_run(&s, 1);
    assert_true(scene_energy(&s) < energy + 1e-6);
  }
  for (int i = 0; i < 4; ++i)
    assert_true(scene_q(&s, link[i])[2] < -1);
  scene_close(&s);
}

/* Triangles on what moves are refused, with a cure. */
static void refuses_to_move(void **state) {
  (void)state;
  rng r = rng_make(60);
  scene s = scene_begin();
  int32_t link = scene_free(&s, 1, v3_make(1, 1, 1), v3_zero());
  ground g = ground_grid(&r, 1, 1, 2, 2, 0, NULL);
  ground_add(s.builder, &g, TABI_SHAPE_TRIANGLES, NULL, TABI_NONE);
  tabi_shape_def shape = tabi_shape_def_default();
  shape.type = TABI_SHAPE_TRIANGLES;
  shape.name = "hill";
  shape.link = link;
  shape.mesh = 0;
  tabi_builder_add_shape(s.builder, &shape);
  tabi_error err;
  assert_null(tabi_builder_build(s.builder, &err));
  assert_int_equal(err.status, TABI_ERR_MODEL);
  assert_string_equal(err.message, "shape 'hill': triangles only stand in the world; use a mesh's "
                                   "convex hull (TABI_SHAPE_MESH) on what moves");
  scene_close(&s);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(box_rests_on_waves),       cmocka_unit_test(pile_fills_bowl),
      cmocka_unit_test(humanoid_stands_on_bumps), cmocka_unit_test(comes_up_from_below),
      cmocka_unit_test(refuses_to_move),          cmocka_unit_test(falls_over_border),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

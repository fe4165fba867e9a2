/* test_torture.c - starts that should not be: deep overlap, coincident bodies, bullets. */
#include "support/near.h"
#include "support/scene_build.h"

/* the fastest that any point of a free body moves away, roughly: its centre */
static double fastest_after(scene *s, int64_t steps, int32_t link) {
  double fastest = 0;
  for (int64_t k = 0; k < steps; ++k) {
    scene_run(s, 1);
    fastest = fmax(fastest, v3_norm(v3_load(scene_v(s, link))));
  }
  return fastest;
}

/* the deepest overlap found at the start of the last step, m */
static double depth_now(const scene *s) {
  int32_t count;
  const tabi_contact *contact = tabi_world_contacts(s->world, &count);
  double depth = 0;
  for (int32_t i = 0; i < count; ++i)
    depth = fmax(depth, -contact[i].gap);
  return depth;
}

/* a spring pressed by half a metre lets go with what was put into it: penalty is left out */
static void box_in_floor(void **state) {
  (void)state;
  for (int contact = 0; contact < TABI_CONTACT_GAIT; ++contact) {
    if (contact == TABI_CONTACT_PENALTY) continue;
    scene s = scene_begin();
    int32_t stuff = scene_material(&s, 0.5, 0);
    scene_plane(&s, 0, stuff);
    int32_t box = scene_box(&s, 5, v3_make(0.4, 0.4, 0.4), v3_make(0, 0, -0.3), stuff);
    tabi_world_def def = scene_def(&s);
    def.contact = (tabi_contact_kind)contact;
    scene_open(&s, &def);
    double fastest = fastest_after(&s, 2000, box);
    print_message("box 0.5 m in the floor, %s: leaves with %.3f m/s; after 2 s %.2g m deep\n",
                  tabi_contact_name(def.contact), fastest, depth_now(&s));
    assert_true(fastest <= 2);
    assert_true(depth_now(&s) < 2e-4);
    scene_close(&s);
  }
}

static void humanoid_in_floor(void **state) {
  (void)state;
  scene s = scene_begin();
  int32_t stuff = scene_material(&s, 0.7, 0);
  scene_plane(&s, 0, stuff);
  int32_t pelvis = scene_humanoid(&s, 0.705 - 0.5);
  scene_open(&s, NULL);
  scene_crouch(&s, 2000, 50, true);
  double fastest = fastest_after(&s, 2000, pelvis);
  print_message("humanoid 0.5 m in the floor: pelvis leaves with %.3f m/s; after 2 s %.2g m deep\n",
                fastest, depth_now(&s));
  assert_true(fastest <= 2);
  assert_true(depth_now(&s) < 1e-3);
  scene_close(&s);
}

/* two boxes in the very same place, with and without gravity */
static void coincident_boxes(void **state) {
  (void)state;
  for (int turned = 0; turned < 2; ++turned) {
    scene s = scene_begin();
    int32_t stuff = scene_material(&s, 0.5, 0);
    v3 size = v3_make(0.3, 0.3, 0.3);
    int32_t a = scene_box(&s, 1, size, v3_make(0, 0, 0), stuff);
    int32_t b = scene_box(&s, 1, size, v3_make(0, 0, 0), stuff);
    tabi_world_def def = scene_def(&s);
    def.gravity[2] = 0;
    scene_open(&s, &def);
    if (turned) scene_turn(&s, b, q_exp(v3_make(0.3, 0.2, -0.5)));
    double fastest = fastest_after(&s, 2000, a);
    fastest = fmax(fastest, v3_norm(v3_load(scene_v(&s, b))));
    double apart = v3_norm(v3_sub(v3_load(scene_q(&s, a)), v3_load(scene_q(&s, b))));
    print_message("coincident boxes%s: leave with %.3f m/s, %.3f m apart, %.2g m deep\n",
                  turned ? ", turned" : "", fastest, apart, depth_now(&s));
    assert_true(fastest <= 2);
    assert_true(apart > 0.29);
    assert_true(depth_now(&s) < 2e-4);
    scene_close(&s);
  }
}

static void coincident_balls(void **state) {
  (void)state;
  scene s = scene_begin();
  int32_t stuff = scene_material(&s, 0.5, 0);
  int32_t a = scene_ball(&s, 1, 0.1, v3_zero(), stuff);
  int32_t b = scene_ball(&s, 1, 0.1, v3_zero(), stuff);
  tabi_world_def def = scene_def(&s);
  def.gravity[2] = 0;
  scene_open(&s, &def);
  double fastest = fastest_after(&s, 2000, a);
  double apart = v3_norm(v3_sub(v3_load(scene_q(&s, a)), v3_load(scene_q(&s, b))));
  assert_true(fastest <= 2);
  assert_true(apart > 0.199);
  scene_close(&s);
}

/* A ball of 20 mm at 100 m/s goes 100 mm a step, ten times the plate's thickness. */
static void bullet(void **state) {
  (void)state;
  double deepest = 0;
  for (int i = 0; i < 50; ++i) {
    scene s = scene_begin();
    int32_t stuff = scene_material(&s, 0.3, i % 2 ? 0.5 : 0);
    int32_t plate = scene_box(&s, 50, v3_make(0.01, 2, 2), v3_make(1 + 0.0021 * i, 0, 0), stuff);
    int32_t ball = scene_ball(&s, 0.1, 0.01, v3_make(0, 0.02 * (i % 5), 0), stuff);
    tabi_world_def def = scene_def(&s);
    def.gravity[2] = 0;
    scene_open(&s, &def);
    scene_set_velocity(&s, ball, v3_make(100, 0, 0), v3_zero());
    for (int k = 0; k < 40; ++k) {
      scene_run(&s, 1);
      deepest = fmax(deepest, depth_now(&s));
      /* the plate turns a little when it is hit beside its centre */
      assert_true(scene_q(&s, ball)[0] - scene_q(&s, plate)[0] < -0.0145);
    }
    scene_close(&s);
  }
  print_message("ball of 100 m/s at a plate of 10 mm, 50 times: %.2g m deep at most\n", deepest);
  assert_true(deepest < 1e-6);
}

/* the same from a fixed plate, obliquely and spinning */
static void bullet_at_wall(void **state) {
  (void)state;
  for (int i = 0; i < 20; ++i) {
    scene s = scene_begin();
    int32_t stuff = scene_material(&s, 0.3, 0);
    scene_shape(&s, TABI_SHAPE_BOX, TABI_WORLD, v3_make(0.01, 4, 4), stuff);
    int32_t ball = scene_ball(&s, 0.1, 0.01, v3_make(-1 - 0.0047 * i, 0, 0), stuff);
    int32_t cube =
        scene_box(&s, 0.1, v3_make(0.02, 0.02, 0.02), v3_make(-1 - 0.0047 * i, 0.5, 0), stuff);
    scene_open(&s, NULL);
    scene_set_velocity(&s, ball, v3_make(100, 20, 5), v3_make(100, 50, -300));
    scene_set_velocity(&s, cube, v3_make(100, 20, 5), v3_make(10, 5, -30));
    for (int k = 0; k < 40; ++k) {
      scene_run(&s, 1);
      assert_true(scene_q(&s, ball)[0] < 0);
      assert_true(scene_q(&s, cube)[0] < 0);
    }
    scene_close(&s);
  }
}

/* a contact far from the origin is a contact */
static void far_away(void **state) {
  (void)state;
  scene s = scene_begin();
  int32_t stuff = scene_material(&s, 0.5, 0);
  scene_plane(&s, 0, stuff);
  v3 size = v3_make(0.2, 0.2, 0.2);
  int32_t here = scene_box(&s, 1, size, v3_make(0, 0, 0.2), stuff);
  int32_t there = scene_box(&s, 1, size, v3_make(1e6, 0, 0.2), stuff);
  scene_open(&s, NULL);
  scene_set_velocity(&s, here, v3_make(1, 0, 0), v3_zero());
  scene_set_velocity(&s, there, v3_make(1, 0, 0), v3_zero());
  scene_run(&s, 1000);
  double difference = scene_q(&s, there)[0] - 1e6 - scene_q(&s, here)[0];
  print_message("1e6 m away: ways differ by %.2g m\n", difference);
  assert_near(difference, 0, 1e-6);
  scene_close(&s);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(box_in_floor),     cmocka_unit_test(humanoid_in_floor),
      cmocka_unit_test(coincident_boxes), cmocka_unit_test(coincident_balls),
      cmocka_unit_test(bullet),           cmocka_unit_test(bullet_at_wall),
      cmocka_unit_test(far_away),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

/* test_balance.c - centre of mass, zero-moment point and support polygon, against closed forms,
 * against the sensor, and against the definition of a hull. */
#include "support/near.h"
#include "support/rng.h"
#include "support/scene_build.h"

static scene open_box(int32_t *box) {
  scene s = scene_begin();
  int32_t wood = scene_material(&s, 0.8, 0);
  scene_plane(&s, 0, wood);
  *box = scene_box(&s, 2, v3_make(0.2, 0.3, 0.1), v3_make(1, -2, 0.05), wood);
  scene_open(&s, NULL);
  return s;
}

/* A box stands on its four corners, the point below its centre. */
static void box_stands_on_its_corners(void **state) {
  (void)state;
  int32_t box = 0;
  scene s = open_box(&box);
  scene_run(&s, 200);
  tabi_balance b = tabi_world_balance(s.world, box);
  assert_near_n(b.com, scene_q(&s, box), 3, 1e-15);
  assert_near(b.force[2], 2 * GRAVITY, 1e-6);
  assert_near(b.zmp[0], 1, 1e-8);
  assert_near(b.zmp[1], -2, 1e-8);
  assert_near(b.zmp[2], 0, 2e-4);
  assert_near(b.margin, 0.1, 1e-6);
  assert_int_equal(b.ncorner, 4);
  for (int i = 0; i < 4; ++i) {
    assert_near(fabs(b.corner[i][0] - 1), 0.1, 1e-6);
    assert_near(fabs(b.corner[i][1] + 2), 0.15, 1e-6);
  }
  scene_close(&s);
}

/* A push F at its centre moves the point by F h / (m g), towards the edge. */
static void push_moves_the_point(void **state) {
  (void)state;
  int32_t box = 0;
  scene s = open_box(&box);
  for (int i = 0; i < 300; ++i) {
    scene_push(&s, box, v3_make(10, 0, 0));
    scene_run(&s, 1);
  }
  tabi_balance b = tabi_world_balance(s.world, box);
  double shift = 10 * b.com[2] / (2 * GRAVITY);
  assert_near(b.force[0], -10, 1e-6);
  assert_near(b.zmp[0], b.com[0] + shift, 1e-5);
  assert_near(b.margin, 0.1 - shift, 1e-5);
  scene_close(&s);
}

/* What stands on a box pushes it down, and a flying box has no polygon. */
static void counts_other_trees_only(void **state) {
  (void)state;
  scene s = scene_begin();
  int32_t wood = scene_material(&s, 0.8, 0);
  scene_plane(&s, 0, wood);
  v3 size = v3_make(0.2, 0.2, 0.2);
  int32_t low = scene_box(&s, 2, size, v3_make(0, 0, 0.1), wood);
  int32_t high = scene_box(&s, 3, size, v3_make(0.05, 0, 0.3), wood);
  int32_t flying = scene_box(&s, 1, size, v3_make(3, 0, 5), wood);
  scene_open(&s, NULL);
  scene_run(&s, 300);
  assert_near(tabi_world_balance(s.world, low).force[2], 2 * GRAVITY, 1e-4);
  tabi_balance b = tabi_world_balance(s.world, high);
  assert_near(b.force[2], 3 * GRAVITY, 1e-4);
  assert_near(b.margin, 0.05, 1e-3); // the lower one ends 5 cm from the upper one's centre
  b = tabi_world_balance(s.world, flying);
  assert_int_equal(b.ncorner, 0);
  assert_true(b.force[2] == 0 && b.margin == 0);
  b = tabi_world_balance(s.world, TABI_WORLD);
  assert_int_equal(b.ncorner, 0);
  scene_close(&s);
}

static double turn(const double o[2], const double a[2], const double b[2]) {
  return (a[0] - o[0]) * (b[1] - o[1]) - (a[1] - o[1]) * (b[0] - o[0]);
}

/* A corner is a point that pushes. */
static bool is_contact(const scene *s, const double corner[2]) {
  int32_t count = 0;
  const tabi_contact *contact = tabi_world_contacts(s->world, &count);
  for (int32_t i = 0; i < count; ++i) {
    bool here = contact[i].point[0] == corner[0] && contact[i].point[1] == corner[1];
    if (here && contact[i].impulse[2] != 0) return true;
  }
  return false;
}

/* A plate on balls. */
static scene open_plate(const double (*point)[2], int count, int32_t *plate) {
  scene s = scene_begin();
  int32_t wood = scene_material(&s, 0.5, 0);
  scene_plane(&s, 0, wood);
  *plate = scene_free(&s, 20, v3_make(2, 2, 4), v3_make(0, 0, 0.02));
  for (int i = 0; i < count; ++i) {
    tabi_shape_def ball = tabi_shape_def_default();
    ball.type = TABI_SHAPE_SPHERE;
    ball.link = *plate;
    ball.size[0] = 0.02;
    ball.pos[0] = point[i][0];
    ball.pos[1] = point[i][1];
    ball.material = wood;
    assert_true(tabi_builder_add_shape(s.builder, &ball) != TABI_NONE);
  }
  scene_open(&s, NULL);
  scene_run(&s, 1);
  return s;
}

/* All pushing points are within or on the polygon, whose corners are among them and go round to
 * the left. */
static void check_hull(const scene *s, const tabi_balance *b, double outside) {
  int32_t count = 0;
  const tabi_contact *contact = tabi_world_contacts(s->world, &count);
  for (int32_t k = 0; k < b->ncorner; ++k) {
    const double *from = b->corner[k];
    const double *to = b->corner[(k + 1) % b->ncorner];
    const double *after = b->corner[(k + 2) % b->ncorner];
    assert_true(is_contact(s, from));
    if (b->ncorner > 2) assert_true(turn(from, to, after) > 0);
    double length = hypot(to[0] - from[0], to[1] - from[1]);
    for (int32_t i = 0; i < count; ++i) {
      if (contact[i].impulse[2] != 0)
        assert_true(turn(from, to, contact[i].point) >= -outside * length);
    }
  }
}

static void polygon_is_the_hull(void **state) {
  (void)state;
  for (uint64_t seed = 0; seed < 200; ++seed) {
    rng r = rng_make(seed);
    double point[12][2];
    int count = 3 + rng_below(&r, 10);
    for (int i = 0; i < count; ++i)
      rng_fill(&r, 1, point[i], 2);
    int32_t plate = 0;
    scene s = open_plate((const double(*)[2])point, count, &plate);
    tabi_balance b = tabi_world_balance(s.world, plate);
    check_hull(&s, &b, 1e-9);
    scene_close(&s);
  }
}

/* Of a round foot there are sixteen corners, and what lies outside them is a sliver. */
static void round_foot_has_a_polygon_inside(void **state) {
  (void)state;
  double point[40][2];
  for (int i = 0; i < 40; ++i) {
    point[i][0] = cos(2 * M_PI * i / 40);
    point[i][1] = sin(2 * M_PI * i / 40);
  }
  int32_t plate = 0;
  scene s = open_plate((const double(*)[2])point, 40, &plate);
  tabi_balance b = tabi_world_balance(s.world, plate);
  assert_int_equal(b.ncorner, TABI_BALANCE_CORNERS);
  check_hull(&s, &b, 1 - cos(1.5 * M_PI / TABI_BALANCE_CORNERS));
  scene_close(&s);
}

/* A humanoid that still sways: as the sensor says. */
static void agrees_with_the_sensor(void **state) {
  (void)state;
  scene s = scene_begin();
  int32_t wood = scene_material(&s, 0.8, 0);
  scene_plane(&s, 0, wood);
  int32_t pelvis = scene_humanoid(&s, 0.66);
  tabi_sensor_def def = tabi_sensor_def_default();
  def.type = TABI_SENSOR_ZMP;
  def.link = pelvis;
  int32_t sensor = tabi_builder_add_sensor(s.builder, &def);
  scene_open(&s, NULL);
  scene_crouch(&s, 5000, 500, true);
  int stood = 0;
  for (int i = 0; i < 40; ++i) {
    scene_run(&s, 10);
    double value[TABI_SENSOR_MAX];
    double com[3];
    (void)tabi_world_sensor(s.world, sensor, value);
    tabi_dynamics_com(tabi_world_dynamics(s.world), com);
    tabi_balance b = tabi_world_balance(s.world, pelvis);
    assert_near_n(b.com, com, 3, 1e-13);
    assert_near_rel(b.force[2], value[3], 1e-12);
    if (value[3] > 0) assert_near_n(b.zmp, value, 3, 1e-9);
    stood += value[3] > 0 && b.ncorner > 3 && b.margin > 0;
  }
  assert_true(stood > 30);
  scene_close(&s);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(box_stands_on_its_corners),       cmocka_unit_test(push_moves_the_point),
      cmocka_unit_test(counts_other_trees_only),         cmocka_unit_test(polygon_is_the_hull),
      cmocka_unit_test(round_foot_has_a_polygon_inside), cmocka_unit_test(agrees_with_the_sensor),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

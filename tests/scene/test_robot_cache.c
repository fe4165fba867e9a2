/* test_robot_cache.c - robots that were read once: scenes with them move as those that read the
 * files, bit by bit, and other robots are read. */
#include "support/load.h"
#include "support/near.h"
#include "support/scratch.h"
#include "tabi/tabi_io.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static tabi_scene *load(const char *path, const char *set, tabi_builder_cache *cache) {
  tabi_error err = {0};
  tabi_scene_def def = tabi_scene_def_default();
  def.set = &set;
  def.nset = set ? 1 : 0;
  def.robots = cache;
  tabi_scene *scene = tabi_scene_load(path, &def, &err);
  if (!scene) fail_msg("%s:%d: %s", err.file, err.line, err.message);
  return scene;
}

/* The hash of the state after some steps. */
static uint64_t run(const char *path, const char *set, tabi_builder_cache *cache) {
  tabi_scene *scene = load(path, set, cache);
  tabi_world_def def = tabi_scene_world_def(scene);
  tabi_world *world = tabi_world_create(tabi_scene_model(scene), &def, NULL);
  assert_non_null(world);
  assert_int_equal(tabi_scene_reset(scene, world, NULL), TABI_OK);
  for (int i = 0; i < 100; ++i) {
    tabi_scene_control(scene, world);
    assert_int_equal(tabi_world_step_or_grow(world, NULL), TABI_OK);
  }
  uint64_t hash = tabi_world_hash(world);
  tabi_world_destroy(world);
  tabi_scene_destroy(scene);
  return hash;
}

static void expect_same(const char *path, const char *other) {
  tabi_builder_cache *cache = tabi_builder_cache_create();
  const char *const set[] = {NULL, NULL, other, other, NULL};
  for (size_t i = 0; i < sizeof set / sizeof *set; ++i) {
    uint64_t fresh = run(path, set[i], NULL);
    if (run(path, set[i], cache) != fresh) fail_msg("%s: load %zu differs", path, i);
  }
  tabi_builder_cache_destroy(cache);
}

static void test_shipped(void **state) {
  (void)state;
  static const char *const names[] = {"stand", "walk_bush", "parallel_ankles", "bricard",
                                      "andrews"};
  for (size_t i = 0; i < sizeof names / sizeof *names; ++i) {
    char path[600];
    (void)snprintf(path, sizeof path, "%s/scenes/%s.yaml", TABI_SOURCE_DIR, names[i]);
    expect_same(path, "gravity=[0.1, 0, -9]");
  }
}

/* A ball of many corners, whose hull is climbed. */
static void write_ball(const char *name) {
  enum { RINGS = 8, AROUND = 10, SIZE = 1 << 14 };
  char *text = calloc(SIZE, 1);
  for (int i = 1; i < RINGS; ++i) {
    for (int k = 0; k < AROUND; ++k) {
      double a = M_PI * i / RINGS;
      double b = 2 * M_PI * k / AROUND;
      scratch_append(text, SIZE, "v %.6f %.6f %.6f\n", 0.1 * sin(a) * cos(b), 0.1 * sin(a) * sin(b),
                     0.1 * cos(a));
    }
  }
  for (int i = 1; i < RINGS - 1; ++i) {
    for (int k = 0; k < AROUND; ++k) {
      int a = (i - 1) * AROUND + k + 1;
      int b = (i - 1) * AROUND + (k + 1) % AROUND + 1;
      scratch_append(text, SIZE, "f %d %d %d\nf %d %d %d\n", a, a + AROUND, b, b, a + AROUND,
                     b + AROUND);
    }
  }
  (void)scratch_text(name, text);
  free(text);
}

#define LINK(name)                                                                               \
  "<link name='" name "'><inertial><mass value='1'/><inertia ixx='0.01' iyy='0.01' izz='0.01'/>" \
  "</inertial><collision><geometry><mesh filename='ball.obj'/></geometry></collision></link>"

static const char urdf[] = "<robot name='r'>" LINK("a") LINK(
    "b") "<joint name='j' type='continuous'><parent link='a'/><child link='b'/><axis xyz='0 1 0'/>"
         "<origin xyz='0.3 0 0'/></joint></robot>";

static const char text[] =
    "materials: {floor: {friction: 0.5}, sole: {friction: 0.7}}\n"
    "bodies: [{name: floor, fixed: true, shape: {plane: {}}, material: floor}]\n"
    "robots:\n"
    "  - {name: one, model: r.urdf, xyz: [0, 0, 0.12], lin: [1, 0, 0], materials: {a: sole}}\n"
    "  - {name: two, model: r.urdf, xyz: [0, 0, 0.4], links: {a: {mass: 2}}}\n";

/* Two of one file, each at its place: meshes and materials of the second come behind the first's.
 */
static void test_meshes(void **state) {
  (void)state;
  write_ball("ball.obj");
  (void)scratch_text("r.urdf", urdf);
  const char *path = scratch_text("two.yaml", text);
  expect_same(path, "materials.sole.friction=0.1");
  expect_same(path, "robots.one.links.b.mass=3");
  expect_same(path, "robots.two.xyz.0=0.1");
  expect_same(path,
              "materials={floor: {friction: 0.1}, sole: {friction: 0.2}, more: {friction: 1}}");
}

/* MJCF pairs its materials; the second robot adds to those of the first. */
static void test_mjcf(void **state) {
  (void)state;
  (void)scratch_text("r.xml",
                     "<mujoco><option gravity='0 0 -5'/><worldbody><body name='b'>"
                     "<freejoint/><geom size='0.1' friction='0.3'/><geom type='box' "
                     "size='.1 .1 .1' pos='.3 0 0' friction='0.9'/></body></worldbody>"
                     "<keyframe><key name='up' qpos='0 0 1 1 0 0 0'/></keyframe></mujoco>");
  const char *path = scratch_text(
      "mj.yaml", "materials: {floor: {friction: 0.5}}\n"
                 "bodies: [{name: floor, fixed: true, shape: {plane: {}}, material: floor}]\n"
                 "robots:\n"
                 "  - {name: one, model: r.xml, xyz: [0, 0, 0.12], lin: [1, 0, 0]}\n"
                 "  - {name: two, model: r.xml, xyz: [1, 0, 0.12], lin: [0, 1, 0]}\n");
  expect_same(path, "materials.floor.friction=0.1");
  expect_same(path, "robots.one.lin=[2, 0, 0]");
}

/* What was read stays as it was; what was not is read now. */
static void test_files_change(void **state) {
  (void)state;
  write_ball("ball.obj");
  (void)scratch_text("r.urdf", urdf);
  const char *path = scratch_text("two.yaml", text);
  tabi_builder_cache *cache = tabi_builder_cache_create();
  uint64_t before = run(path, NULL, cache);
  (void)scratch_text("r.urdf", "<robot/>");
  assert_true(run(path, NULL, cache) == before);
  const char *set = "robots.two.xyz.2=0.5";
  tabi_scene_def def = tabi_scene_def_default();
  def.set = &set;
  def.nset = 1;
  def.robots = cache;
  tabi_error err = {0};
  assert_null(tabi_scene_load(path, &def, &err));
  assert_non_null(strstr(err.file, "r.urdf"));
  tabi_builder_cache_destroy(cache);
  tabi_builder_cache_destroy(NULL);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_shipped),
      cmocka_unit_test(test_meshes),
      cmocka_unit_test(test_mjcf),
      cmocka_unit_test(test_files_change),
  };
  return cmocka_run_group_tests(tests, scratch_begin, scratch_end);
}

/* test_shipped.c - the scenes that come with tabi: all load, and a short run of each is finite,
 * repeats itself bit by bit and gains no energy. */
#include "support/load.h"
#include "support/near.h"
#include "tabi/tabi_io.h"

typedef struct shipped {
  const char *name;
  int steps;
  int32_t nv, nrobot;
} shipped;

static const shipped scenes[] = {
    {"boxes_slope",      400, 24,   0},
    {"falling_boxes",    400, 24,   0},
    {"stack",            100, 60,   0},
    {"pile",             300, 120,  0},
    {"incline",          300, 6,    0},
    {"bouncing",         50,  294,  0},
    {"rolling",          50,  156,  0},
    {"balls666",         20,  1296, 0},
    {"chain",            400, 30,   1},
    {"drop",             500, 30,   0},
    {"stand",            100, 36,   1},
    {"stand_humanoid20", 100, 26,   1},
    {"stand_figure40",   100, 40,   1},
    {"parallel_ankles",  100, 54,   1},
    {"terrain",          400, 60,   1},
    {"walk",             100, 36,   1},
    {"walk_bush",        100, 42,   1},
    {"walk19",           100, 42,   1},
    {"bowl",             300, 108,  0},
    {"closed_link",      500, 3,    1},
    {"four_bar",         500, 5,    1},
    {"andrews",          500, 7,    1},
    {"bricard",          500, 5,    1},
    {"governor",         500, 4,    1},
    {"box_drop",         300, 6,    0},
    {"topple",           300, 6,    0},
    {"biped_walk",       300, 11,   1},
    {"biped_walk_long",  300, 11,   1},
    {"human_walk",       300, 11,   1},
};

static double energy(tabi_world *world) {
  tabi_energy e = tabi_world_energy(world);
  return e.kinetic + e.potential + e.spring - e.work;
}

/* The hash at the end. */
static uint64_t run(tabi_scene *scene, const shipped *s, tabi_contact_kind contact) {
  tabi_error err = {0};
  tabi_world_def def = tabi_scene_world_def(scene);
  def.contact = contact;
  tabi_world *world = tabi_world_create(tabi_scene_model(scene), &def, &err);
  if (!world || tabi_scene_reset(scene, world, &err) != TABI_OK) {
    fail_msg("%s: %s", s->name, err.message);
  }
  double before = energy(world);
  for (int i = 0; i < s->steps; ++i) {
    tabi_scene_control(scene, world);
    if (tabi_world_step(world, NULL) != TABI_OK) {
      fail_msg("%s, step %d: %s", s->name, i, tabi_world_error(world)->message);
    }
  }
  assert_true(energy(world) < before + 1e-3 * (1 + fabs(before)));
  uint64_t hash = tabi_world_hash(world);
  tabi_world_destroy(world);
  return hash;
}

static void test_all(void **state) {
  (void)state;
  for (size_t i = 0; i < sizeof scenes / sizeof *scenes; ++i) {
    tabi_scene *scene = load_shipped_scene(scenes[i].name, NULL);
    assert_int_equal(tabi_model_nv(tabi_scene_model(scene)), scenes[i].nv);
    assert_int_equal(tabi_scene_nrobot(scene), scenes[i].nrobot);
    assert_true(tabi_scene_name(scene)[0] != '\0');
    uint64_t hash = run(scene, &scenes[i], TABI_CONTACT_CONE);
    assert_true(run(scene, &scenes[i], TABI_CONTACT_CONE) == hash);
    (void)run(scene, &scenes[i], TABI_CONTACT_LCP);
    tabi_scene_destroy(scene);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_all)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}

/* test_memory.c - the n-th allocation fails, for every n: loading a scene says "out of memory" and
 * leaves no block behind.  Stepping one allocates nothing. */
#include "support/heap.h"
#include "support/load.h"
#include "support/near.h"
#include "support/scratch.h"
#include "tabi/tabi_io.h"

#include <stdio.h>

static const char arm[] =
    "<robot name='arm'><link name='upper'><inertial><mass value='1'/>"
    "<inertia ixx='1' iyy='1' izz='1'/></inertial></link><link name='lower'><inertial>"
    "<mass value='1'/><inertia ixx='1' iyy='1' izz='1'/></inertial></link>"
    "<joint name='elbow' type='continuous'><parent link='upper'/><child link='lower'/>"
    "<origin xyz='0 0 0.3'/><axis xyz='0 1 0'/></joint></robot>";

static const char text[] =
    "name: memory\n"
    "materials: {w: {friction: 0.5}}\n"
    "pairs: [[w, w, {friction: 0.4}]]\n"
    "bodies:\n"
    "  - {name: floor, fixed: true, shape: {plane: {}}, material: w}\n"
    "  - {name: box, mass: 1, shape: {box: [1, 1, 1]}, xyz: [3, 0, 0.5], material: w}\n"
    "  - {name: belt, shape: {box: [1, 1, 1]}, xyz: [3, 0, -0.5], motion: {table: v.csv}}\n"
    "robots:\n"
    "  - {name: a, model: arm.urdf, base: fixed, lock: [elbow], xyz: [0, 5, 0],\n"
    "     joints: {elbow: {damping: 1}}, links: {upper: {mass: 2}}}\n"
    "  - {name: b, model: arm.urdf, base: fixed, controller: {type: csv, file: t.csv, kp: 9}}\n"
    "connections: [{type: spring, a: box, b: b/lower, at: [0, 0, 0], at_b: [0, 0, 0], damping: "
    "1}]\n"
    "forces: [{body: box, force: [1, 0, 0]}, {body: box, table: f.csv}]\n"
    "log: {signals: [box, b/elbow]}\n";

static const char walk[] = "contact: {model: gait}\n"
                           "gait:\n"
                           "  feet:\n"
                           "    - {link: left_foot, heel: [-0.5, 0, -0.5], toe: [0.5, 0, -0.5]}\n"
                           "    - {link: right_foot, heel: [-0.5, 0, -0.5], toe: [0.5, 0, -0.5]}\n"
                           "  forces: [{link: head, amplitude: [4, 40]}]\n"
                           "  floors: [{link: head, height: 1}]\n"
                           "robots: [{name: b, model: " TABI_SOURCE_DIR "/models/biped9.urdf}]\n";

static tabi_scene *load_walk(const char *path, tabi_error *err) {
  return tabi_scene_load(path, NULL, err);
}

static tabi_scene *load(const char *path, tabi_error *err) {
  const char *const set[] = {"bodies.box.mass=3", "contact.model=lcp"};
  tabi_scene_def def = tabi_scene_def_default();
  def.set = set;
  def.nset = 2;
  return tabi_scene_load(path, &def, err);
}

/* A walk that is soon planned, and its stabiliser. */
static tabi_scene *load_walker(const char *path, tabi_error *err) {
#define CONTROLLER "robots.robot.controller."
  const char *const set[] = {CONTROLLER "steps=0", CONTROLLER "stand_before=0",
                             CONTROLLER "stand_after=0"};
  tabi_scene_def def = tabi_scene_def_default();
  def.set = set;
  def.nset = 3;
  return tabi_scene_load(path, &def, err);
#undef CONTROLLER
}

/* Twice, the second time with robots that were read before. */
static tabi_scene *load_again(const char *path, tabi_error *err) {
  tabi_scene_def def = tabi_scene_def_default();
  def.robots = tabi_builder_cache_create();
  if (!def.robots) {
    *err = (tabi_error){.status = TABI_ERR_MEMORY, .message = "out of memory"};
    return NULL;
  }
  tabi_scene *first = tabi_scene_load(path, &def, err);
  tabi_scene *second = first ? tabi_scene_load(path, &def, err) : NULL;
  tabi_scene_destroy(first);
  tabi_builder_cache_destroy(def.robots);
  return second;
}

static const char *write_files(void) {
  (void)scratch_text("arm.urdf", arm);
  (void)scratch_text("t.csv", "time,elbow\n0,0\n1,1\n");
  (void)scratch_text("f.csv", "time,fy\n0,1\n1,2\n");
  (void)scratch_text("v.csv", "time,vx\n0,0\n1,2\n");
  return scratch_text("s.yaml", text);
}

typedef struct load_job {
  tabi_scene *(*load)(const char *path, tabi_error *err);
  const char *path;
} load_job;

static tabi_status load_and_destroy(const void *context, tabi_error *err) {
  const load_job *job = context;
  tabi_scene *scene = job->load(job->path, err);
  tabi_status status = scene ? TABI_OK : err->status;
  tabi_scene_destroy(scene);
  return status;
}

static void starve(tabi_scene *load_one(const char *path, tabi_error *err), const char *path) {
  const load_job job = {load_one, path};
  assert_true(heap_starve(load_and_destroy, &job, false) > 99);
}

static void test_failing(void **state) {
  (void)state;
  starve(load, write_files());
  starve(load_again, write_files());
  starve(load_walk, scratch_text("walk.yaml", walk));
  starve(load_walker, TABI_SOURCE_DIR "/scenes/walk_bush.yaml");
}

static void step_without_memory(tabi_scene *scene, int steps) {
  tabi_world *world = open_world(scene, NULL);
  long before = heap_allocations();
  for (int i = 0; i < steps; ++i) {
    step_world(scene, world);
  }
  assert_int_equal(heap_allocations(), before);
  tabi_world_destroy(world);
  tabi_scene_destroy(scene);
}

static void test_steps(void **state) {
  (void)state;
  tabi_error err = {0};
  tabi_scene *scene = load(write_files(), &err);
  if (!scene) fail_msg("%s", err.message);
  step_without_memory(scene, 200);
}

static void test_steps_of_shipped_scenes(void **state) {
  (void)state;
  static const char *const names[] = {"balls666",        "biped_walk", "bouncing", "bowl",
                                      "boxes_slope",     "chain",      "drop",     "incline",
                                      "parallel_ankles", "pile",       "rolling",  "stack",
                                      "stand",           "terrain",    "walk_bush"};
  for (size_t i = 0; i < sizeof names / sizeof names[0]; ++i) {
    tabi_error err = {0};
    char path[512];
    (void)snprintf(path, sizeof path, "%s/scenes/%s.yaml", TABI_SOURCE_DIR, names[i]);
    tabi_scene *scene = tabi_scene_load(path, NULL, &err);
    if (!scene) fail_msg("%s", err.message);
    step_without_memory(scene, 40);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_failing),
      cmocka_unit_test(test_steps),
      cmocka_unit_test(test_steps_of_shipped_scenes),
  };
  return cmocka_run_group_tests(tests, scratch_begin, scratch_end);
}

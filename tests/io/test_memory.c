/* test_memory.c - the n-th allocation fails, for every n, once or for good: loading,
 * building, the dynamics and signals must say "out of memory", crash nowhere and leave no block
 * behind. */
#include "io/mesh/heightfield.h"
#include "io/mesh/mesh_file.h"
#include "support/heap.h"
#include "support/near.h"
#include "support/scratch.h"
#include "tabi/tabi_record.h"

#include <stdio.h>
#include <stdlib.h>

static void listen(void *user, const tabi_error *warning) {
  (void)user;
  (void)warning;
}

static tabi_status load_and_compute(const void *context, tabi_error *error) {
  tabi_load_def def = tabi_load_def_default();
  def.prefix = "p/";
  def.warn = listen;
  tabi_model *model = tabi_model_load(context, &def, error);
  if (!model) return error->status;
  tabi_dynamics *dynamics = tabi_dynamics_create(model, error);
  tabi_status status = dynamics ? TABI_OK : error->status;
  tabi_dynamics_destroy(dynamics);
  tabi_model_destroy(model);
  return status;
}

static const char stl[] =
    "solid s\nfacet normal 0 0 1\nouter loop\nvertex 0 0 0\nvertex 1 0 0\nvertex 0 1 0\nendloop\n"
    "endfacet\nfacet normal 0 0 1\nouter loop\nvertex 1 0 0\nvertex 1 1 0\nvertex 0 1 0\nendloop\n"
    "endfacet\nendsolid s\n";

static tabi_status parse_stl(const void *context, tabi_error *error) {
  (void)context;
  tbi_mesh mesh;
  tabi_status status =
      tbi_stl_parse(stl, sizeof stl - 1, "m.stl", (tabi_place){"r.urdf", 1}, &mesh, error);
  tbi_mesh_free(&mesh);
  return status;
}

static tabi_status parse_obj(const void *context, tabi_error *error) {
  (void)context;
  static const char text[] = "v 0 0 0\nv 1 0 0\nv 1 1 0\nv 0 1 0\nf 1 2 3 4\n";
  tbi_mesh mesh;
  tabi_status status =
      tbi_obj_parse(text, sizeof text - 1, "m.obj", (tabi_place){"r.urdf", 1}, &mesh, error);
  tbi_mesh_free(&mesh);
  return status;
}

/* A file among those that fuzzing starts from. */
typedef struct seed {
  const char *path;
  tbi_mesh_parse_fn *parse; /* NULL: glTF */
  char bytes[4096];
  size_t size;
} seed;

static tabi_status parse_seed(const void *context, tabi_error *error) {
  const seed *s = context;
  const tabi_place place = {"r.urdf", 1};
  tbi_mesh mesh;
  tabi_status status = s->parse ? s->parse(s->bytes, s->size, "m", place, &mesh, error)
                                : tbi_gltf_parse(s->bytes, s->size, "m", place, NULL, &mesh, error);
  tbi_mesh_free(&mesh);
  return status;
}

static tabi_status parse_heights(const void *context, tabi_error *error) {
  (void)context;
  static const char text[] = "0 1 2 3 4 5 6 7\n8 9 10 11 12 13 14 15\n1 2 3 4 5 6 7 8\n";
  const tbi_heightfield field = {.height = 1};
  tbi_mesh mesh;
  tabi_status status = tbi_heightfield_parse(text, sizeof text - 1, &field, "h.txt",
                                             (tabi_place){"s.yaml", 1}, &mesh, error);
  tbi_mesh_free(&mesh);
  return status;
}

static tabi_status solve_friction(const void *context, tabi_error *error) {
  (void)context;
  /* one contact that slips */
  static const char text[] = "3 1 0 3 3 3 3  2 1 0  1 2 0  0 0 1  -1 3 2  0.4";
  tabi_friction_problem *problem =
      tabi_friction_problem_load_text(text, sizeof text - 1, "p.dat", error);
  if (!problem) return error->status;
  double r[3] = {0};
  tabi_friction_result result;
  tabi_status status = tabi_friction_problem_solve(problem, NULL, r, &result, error);
  tabi_friction_problem_destroy(problem);
  return status;
}

static void starve(heap_job *job, const void *context) {
  assert_true(heap_starve(job, context, false) > 0);
  assert_true(heap_starve(job, context, true) > 0);
}

#define INERTIAL "<inertial><mass value='1'/><inertia ixx='1' iyy='1' izz='1'/></inertial>"

static void test_urdf(void **state) {
  (void)state;
  scratch_text("a.stl", stl);
  char text[65536] = "<robot name='r'><material name='red'><color rgba='1 0 0 1'/></material>"
                     "<gazebo/>";
  // enough links and names that every list and table has to grow
  for (int i = 0; i < 60; ++i) {
    scratch_append(text, sizeof text,
                   "<link name='link%d'>" INERTIAL "<visual name='v%d'><geometry>"
                   "<sphere radius='1'/></geometry><material name='c%d'><color rgba='0 0 0 1'/>"
                   "</material></visual></link>",
                   i, i, i);
  }
  scratch_append(text, sizeof text,
                 "<link name='link60'>" INERTIAL "<visual><geometry><mesh filename='a.stl'/>"
                 "</geometry></visual><visual><geometry><mesh filename='b.stl'/></geometry>"
                 "</visual></link>");
  for (int i = 1; i <= 60; ++i) {
    scratch_append(text, sizeof text,
                   "<joint name='joint%d' type='continuous'><parent link='link0'/>"
                   "<child link='link%d'/>%s</joint>",
                   i, i, i > 1 ? "<mimic joint='joint1'/>" : "");
  }
  scratch_append(text, sizeof text, "</robot>");
  const char *path = scratch_text("r.urdf", text);
  starve(load_and_compute, path);
}

static void test_sidecar(void **state) {
  (void)state;
  (void)scratch_text("s.tabi.yaml", "joints: {j: {stiffness: 1}}\n"
                                    "connections: [{type: ball, a: c, b: b, at: [0, 0, 1]}]\n");
  const char *path = scratch_text(
      "s.urdf",
      "<robot name='r'><link name='a'>" INERTIAL "</link><link name='b'>" INERTIAL
      "</link><link name='c'>" INERTIAL "</link>"
      "<joint name='j' type='continuous'><parent link='a'/><child link='b'/></joint>"
      "<joint name='k' type='continuous'><parent link='a'/><child link='c'/></joint></robot>");
  starve(load_and_compute, path);
}

static void test_mjcf(void **state) {
  (void)state;
  scratch_text("a.stl", stl);
  const char *path = scratch_text(
      "r.xml",
      "<mujoco><default><default class='c'><geom rgba='1 0 0 1'/></default></default>"
      "<asset><mesh name='m' file='a.stl'/></asset><worldbody><body name='a'><freejoint/>"
      "<geom type='box' size='1 1 1'/><geom class='c' type='mesh' mesh='m' mass='0'/>"
      "<body name='b'><joint name='j'/><joint name='k' axis='1 0 0'/><geom size='1'/></body>"
      "</body></worldbody><actuator><motor joint='j'/></actuator><equality>"
      "<joint joint1='j' joint2='k'/><weld body1='a' body2='b'/></equality>"
      "<contact><exclude body1='a' body2='b'/></contact>"
      "<keyframe><key qpos='0 0 0 1 0 0 0 1 2'/></keyframe></mujoco>");
  starve(load_and_compute, path);
}

static void test_mjcf_files(void **state) {
  (void)state;
  starve(load_and_compute, TABI_SOURCE_DIR "/tests/io/mjcf/arm.xml");
  starve(load_and_compute, TABI_SOURCE_DIR "/tests/io/mjcf/toys.xml");
  starve(load_and_compute, TABI_SOURCE_DIR "/tests/io/mjcf/crab.xml");
  starve(load_and_compute, TABI_SOURCE_DIR "/tests/io/sdf/arm.sdf");
  starve(load_and_compute, TABI_SOURCE_DIR "/tests/io/sdf/world.sdf");
}

static void test_stl(void **state) {
  (void)state;
  starve(parse_stl, NULL);
}

static void test_obj(void **state) {
  (void)state;
  starve(parse_obj, NULL);
}

static void test_other_meshes(void **state) {
  (void)state;
  static seed seeds[] = {
      {"ply/ascii.ply",        tbi_ply_parse, "", 0},
      {"ply/big.ply",          tbi_ply_parse, "", 0},
      {"dae/triangles.dae",    tbi_dae_parse, "", 0},
      {"dae/polylist.dae",     tbi_dae_parse, "", 0},
      {"gltf/data.gltf",       NULL,          "", 0},
      {"gltf/tetrahedron.glb", NULL,          "", 0},
  };
  for (size_t i = 0; i < sizeof seeds / sizeof *seeds; ++i) {
    char path[512];
    (void)snprintf(path, sizeof path, TABI_SOURCE_DIR "/tests/fuzz/corpus/%s", seeds[i].path);
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    seeds[i].size = fread(seeds[i].bytes, 1, sizeof seeds[i].bytes, file);
    (void)fclose(file);
    starve(parse_seed, &seeds[i]);
  }
}

static void test_heights(void **state) {
  (void)state;
  starve(parse_heights, NULL);
}

static void test_friction(void **state) {
  (void)state;
  starve(solve_friction, NULL);
}

static tabi_status name_signals(const void *context, tabi_error *error) {
  tabi_signals *signals = tabi_signals_create(context, error);
  tabi_status status = signals ? TABI_OK : error->status;
  tabi_signals_destroy(signals);
  return status;
}

/* Signals are made or not; once made, a world is seen and they are evaluated without memory. */
static void test_signals(void **state) {
  (void)state;
  tabi_error error = {0};
  tabi_scene *scene = tabi_scene_load(TABI_SOURCE_DIR "/scenes/stand.yaml", NULL, &error);
  if (!scene) fail_msg("%s", error.message);
  starve(name_signals, scene);
  tabi_world_def def = tabi_scene_world_def(scene);
  tabi_world *world = tabi_world_create(tabi_scene_model(scene), &def, &error);
  tabi_observer *observer = world ? tabi_observer_create(scene, world, &error) : NULL;
  tabi_signals *signals = tabi_signals_create(scene, &error);
  assert_true(observer && signals);
  double *value = calloc((size_t)tabi_signals_count(signals), sizeof *value);
  assert_non_null(value);
  heap_fail_after(0, true);
  tabi_signals_eval(signals, tabi_observer_look(observer), value);
  heap_recover();
  assert_false(heap_failed());
  free(value);
  tabi_signals_destroy(signals);
  tabi_observer_destroy(observer);
  tabi_world_destroy(world);
  tabi_scene_destroy(scene);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_urdf),         cmocka_unit_test(test_sidecar),
      cmocka_unit_test(test_mjcf),         cmocka_unit_test(test_mjcf_files),
      cmocka_unit_test(test_stl),          cmocka_unit_test(test_obj),
      cmocka_unit_test(test_other_meshes), cmocka_unit_test(test_heights),
      cmocka_unit_test(test_friction),     cmocka_unit_test(test_signals),
  };
  return cmocka_run_group_tests(tests, scratch_begin, scratch_end);
}

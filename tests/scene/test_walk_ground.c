/* test_walk_ground.c - SR1 walks (extra data) on a flat height field and on a plane cut into
 * triangles by chance as it does on a plane: the cuts do not catch its feet. */
#include "support/ground.h"
#include "support/load.h"
#include "support/near.h"
#include "support/scratch.h"
#include "tabi/tabi_io.h"

#include <stdio.h>
#include <unistd.h>

#define STEPS 13400

static const char *const arm_joints[] = {"SHOULDER_P", "SHOULDER_R", "SHOULDER_Y", "ELBOW",
                                         "WRIST_Y",    "WRIST_P",    "WRIST_R"};

static void write_scene(char *text, size_t size, const char *floor) {
  scratch_append(text, size,
                 "timestep: 1e-3\nmaterials: {ground: {friction: 0.5}}\n"
                 "bodies: [{name: floor, fixed: true, shape: {%s}, material: ground}]\n"
                 "robots:\n  - name: sr1\n    model: %s/models/sr1/SR1.urdf\n    base: free\n"
                 "    xyz: [0, 0, 0.7135]\n"
                 "    materials: {RLEG_ANKLE_R: ground, LLEG_ANKLE_R: ground}\n"
                 "    controller:\n      type: csv\n      file: %s/models/sr1/walk1.csv\n"
                 "      kp: 8000\n      kd: 100\n      joints:\n",
                 floor, TABI_EXTRA_DATA, TABI_EXTRA_DATA);
  for (size_t i = 0; i < sizeof arm_joints / sizeof *arm_joints; ++i)
    scratch_append(text, size, "        RARM_%s: {kp: 3000}\n        LARM_%s: {kp: 3000}\n",
                   arm_joints[i], arm_joints[i]);
}

static void write_grid(void) {
  static char text[40000];
  text[0] = '\0';
  for (int row = 0; row < 61; ++row) {
    for (int column = 0; column < 101; ++column)
      scratch_append(text, sizeof text, "0 ");
    scratch_append(text, sizeof text, "\n");
  }
  scratch_text("flat.txt", text);
}

static void write_cuts(void) {
  static char text[400000];
  rng r = rng_make(5);
  ground g = ground_grid(&r, 3, 2, 60, 40, 0.35, NULL);
  text[0] = '\0';
  for (int32_t i = 0; i < g.nvertex; ++i)
    scratch_append(text, sizeof text, "v %.17g %.17g 0\n", g.vertices[3 * (size_t)i],
                   g.vertices[3 * (size_t)i + 1]);
  for (int32_t i = 0; i < g.nface; ++i) {
    const int32_t *face = g.faces + 3 * (size_t)i;
    scratch_append(text, sizeof text, "f %d %d %d\n", face[0] + 1, face[1] + 1, face[2] + 1);
  }
  scratch_text("cuts.obj", text);
  ground_free(&g);
}

/* Where the base is after every 100 steps, and how deep the feet were at most. */
typedef struct track {
  double pos[STEPS / 100][3];
  double depth;
} track;

static void note(tabi_world *world, int32_t base, int step, track *t) {
  double quat[4];
  int32_t count = 0;
  const tabi_contact *contact = tabi_world_contacts(world, &count);
  for (int32_t i = 0; i < count; ++i)
    t->depth = fmax(t->depth, -contact[i].gap);
  if (step % 100 == 99)
    tabi_dynamics_link_pose(tabi_world_dynamics(world), base, t->pos[step / 100], quat);
}

static void walk(const char *floor, track *t) {
  static char text[8192];
  text[0] = '\0';
  write_scene(text, sizeof text, floor);
  const char *path = scratch_text("walk.yaml", text);
  tabi_scene *scene = load_scene(path, NULL);
  tabi_world *world = open_world(scene, NULL);
  *t = (track){.depth = 0};
  for (int i = 0; i < STEPS; ++i) {
    step_world(scene, world);
    note(world, tabi_scene_get_robot(scene, 0).base, i, t);
  }
  tabi_world_destroy(world);
  tabi_scene_destroy(scene);
}

static void test_walk(void **state) {
  (void)state;
  char path[512];
  (void)snprintf(path, sizeof path, "%s/models/sr1/SR1.urdf", TABI_EXTRA_DATA);
  if (TABI_EXTRA_DATA[0] == '\0' || access(path, R_OK) != 0) {
    print_message("no extra data\n");
    skip();
  }
  static track plane, other;
  write_grid();
  write_cuts();
  walk("plane: {}", &plane);
  const char *const floors[] = {"heightfield: {file: flat.txt, size: [3, 2]}", "mesh: cuts.obj"};
  for (int k = 0; k < 2; ++k) {
    walk(floors[k], &other);
    double apart = 0;
    for (int i = 0; i < STEPS / 100; ++i) {
      for (int j = 0; j < 3; ++j)
        apart = fmax(apart, fabs(other.pos[i][j] - plane.pos[i][j]));
    }
    const double *end = other.pos[STEPS / 100 - 1];
    print_message("%s: base at (%.4f, %.4f, %.4f), off the plane's by %.1e m; feet %.1e m deep\n",
                  floors[k], end[0], end[1], end[2], apart, other.depth);
    assert_true(end[2] > 0.68);
    assert_true(other.depth < 0.5e-3);
    assert_true(apart < 1e-9);
    assert_near(end[0], 0.45, 0.02);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_walk),
  };
  return cmocka_run_group_tests(tests, scratch_begin, scratch_end);
}

/* walk.c - see walk.h. */
#include "support/walk.h"

#include "support/near.h"

#include <stdio.h>
#include <unistd.h>

static const char scene_text[] =
    "timestep: 1e-3\n"
    "duration: 13.4\n"
    "materials: {ground: {friction: 0.5}}\n"
    "bodies: [{name: floor, fixed: true, shape: {plane: {}}, material: ground}]\n"
    "robots:\n"
    "  - name: sr1\n"
    "    model: SR1.urdf\n"
    "    base: free\n"
    "    xyz: [0, 0, 0.7135]\n"
    "    materials: {RLEG_ANKLE_R: ground, LLEG_ANKLE_R: ground}\n"
    "    controller:\n"
    "      type: csv\n"
    "      file: walk1.csv\n"
    "      kp: 8000\n"
    "      kd: 100\n"
    "      joints:\n";

static const char *const arm_joints[] = {"SHOULDER_P", "SHOULDER_R", "SHOULDER_Y", "ELBOW",
                                         "WRIST_Y",    "WRIST_P",    "WRIST_R"};

tabi_scene *walk_load(const char *const *set, int32_t nset) {
  static char text[4096];
  char path[512];
  (void)snprintf(path, sizeof path, "%s/models/sr1/SR1.urdf", TABI_EXTRA_DATA);
  if (TABI_EXTRA_DATA[0] == '\0' || access(path, R_OK) != 0) {
    print_message("no extra data\n");
    skip();
  }
  size_t used = (size_t)snprintf(text, sizeof text, "%s", scene_text);
  for (size_t i = 0; i < sizeof arm_joints / sizeof *arm_joints; ++i) {
    used += (size_t)snprintf(text + used, sizeof text - used,
                             "        RARM_%s: {kp: 3000}\n        LARM_%s: {kp: 3000}\n",
                             arm_joints[i], arm_joints[i]);
  }
  (void)snprintf(path, sizeof path, "%s/models/sr1/walk.yaml", TABI_EXTRA_DATA);
  tabi_error err = {0};
  tabi_scene_def def = tabi_scene_def_default();
  def.set = set;
  def.nset = nset;
  tabi_scene *scene = tabi_scene_load_text(text, used, path, &def, &err);
  if (!scene) fail_msg("%s:%d: %s", err.file, (int)err.line, err.message);
  return scene;
}

/* fuzz_scene.c - any text as a scene: it is refused with a message, or it starts and steps. */
#include "tabi/tabi_io.h"

#include <stdint.h>
#include <stdlib.h>

#define MAX_VELOCITIES 60 /* a hostile scene may be larger than a step is worth */

static void step(tabi_scene *scene) {
  tabi_error err = {0};
  const tabi_model *model = tabi_scene_model(scene);
  tabi_world_def def = tabi_scene_world_def(scene);
  if (tabi_model_nv(model) > MAX_VELOCITIES || def.max_contacts > 10000) return;
  if (def.iterations > 1000) def.iterations = 1000;
  tabi_world *world = tabi_world_create(model, &def, &err);
  if (!world) return;
  bool fine = tabi_scene_reset(scene, world, &err) == TABI_OK;
  for (int i = 0; i < 3 && fine; ++i) {
    tabi_scene_control(scene, world);
    fine = tabi_world_step(world, NULL) == TABI_OK;
  }
  tabi_world_destroy(world);
}

// the fuzzer's name, not ours
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size); // NOLINT

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) { // NOLINT
  tabi_error err = {0};
  tabi_scene *scene =
      tabi_scene_load_text((const char *)data, size, "/nonexistent/x.yaml", NULL, &err);
  if (!scene && err.message[0] == '\0') abort();
  if (scene) step(scene);
  tabi_scene_destroy(scene);
  return 0;
}

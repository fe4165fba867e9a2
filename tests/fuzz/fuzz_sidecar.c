/* fuzz_sidecar.c - any text as the file beside a URDF file: it is refused with a message, or the
 * robot steps. */
#include "file.h"

#include "tabi/tabi_io.h"

#include <stdlib.h>
#include <string.h>

#define LINK(name)                                                                      \
  "<link name='" name "'><inertial><mass value='1'/><inertia ixx='1' iyy='1' izz='1'/>" \
  "</inertial></link>"
#define JOINT(name, parent, child)                                                          \
  "<joint name='" name "' type='continuous'><parent link='" parent "'/><child link='" child \
  "'/><origin xyz='0 0 1'/><axis xyz='0 1 0'/></joint>"

static const char urdf[] = "<robot name='r'>" LINK("a") LINK("b") LINK("c") LINK("d")
    JOINT("j", "a", "b") JOINT("k", "a", "c") JOINT("l", "c", "d") "</robot>";

static void step(const tabi_model *model) {
  tabi_world_def def = tabi_world_def_default(model);
  tabi_world *world = tabi_world_create(model, &def, NULL);
  for (int i = 0; i < 2 && world; ++i) {
    if (tabi_world_step(world, NULL) != TABI_OK) break;
  }
  tabi_world_destroy(world);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) { // NOLINT: its name, not ours
  tabi_error err = {0};
  (void)fuzz_file("r.tabi.yaml", data, size);
  tabi_model *model = tabi_model_load(fuzz_file("r.urdf", urdf, sizeof urdf - 1), NULL, &err);
  if (!model && (err.message[0] == '\0' || strchr(err.message, '\n'))) abort();
  if (model) step(model);
  tabi_model_destroy(model);
  return 0;
}

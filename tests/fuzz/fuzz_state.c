/* fuzz_state.c - any text as the state of `tabi dynamics`: it is refused with a message, or fills
 * the state of a robot. */
#include "file.h"

#include "state.h"

#include <stdlib.h>

static const char robot[] =
    "<mujoco><worldbody><body name='a'><freejoint/><geom size='1'/>"
    "<body name='b'><joint name='hip'/><geom size='1'/>"
    "<body name='c'><joint name='knee' type='ball'/><geom size='1'/></body></body></body>"
    "</worldbody></mujoco>";

static tabi_model *model;

static void begin(void) {
  if (model) return;
  tabi_builder *builder = tabi_builder_create();
  if (!builder) abort();
  if (tabi_builder_load_text(builder, robot, sizeof robot - 1, "r.xml", NULL, NULL) != TABI_OK)
    abort();
  model = tabi_builder_build(builder, NULL);
  tabi_builder_destroy(builder);
  if (!model || tabi_model_nq(model) > 16) abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) { // NOLINT: its name, not ours
  double q[16], v[16], tau[16];
  tbi_state state;
  tabi_error err = {0};
  begin();
  bool read = tbi_state_read(&state, fuzz_file("s.json", data, size), &err);
  bool good = read && tbi_state_apply(&state, model, q, v, tau, &err);
  // line ends in names are hidden where the message is printed
  if (!good && err.message[0] == '\0') abort();
  if (read) tbi_state_free(&state);
  return 0;
}

/* fuzz_request.c - any text as messages of a viewer, one on each line: each is refused with a
 * reason, or done to a world, which then steps and is shown. */
#include "live_world.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_MESSAGES = 16 };

static const char scene[] =
    "timestep: 1e-3\n"
    "bodies:\n"
    "  - {name: floor, fixed: true, shape: {plane: {}}}\n"
    "  - {name: box, mass: 1, shape: {box: [0.2, 0.2, 0.2]}, xyz: [0, 0, 0.1], lin: [1, 0, 0]}\n";

static tabi_status obey(tbi_live_world *live, const tbi_request *request, tabi_error *err) {
  switch (request->kind) {
  case TBI_REQUEST_RESET:
    return tbi_live_world_reset(live, err);
  case TBI_REQUEST_PUSH:
    return tbi_live_world_push(live, request, err);
  case TBI_REQUEST_RELEASE:
    tbi_live_world_release(live);
    return TABI_OK;
  case TBI_REQUEST_SET:
    return tbi_live_world_set(live, request, err);
  default:
    return TABI_OK;
  }
}

static void receive(tbi_live_world *live, const char *text, size_t size) {
  tbi_request request;
  char problem[TBI_REQUEST_ERROR_SIZE] = "";
  if (!tbi_request_read(text, size, &request, problem)) {
    if (problem[0] == '\0') abort();
    return;
  }
  tabi_error err = {0};
  if (obey(live, &request, &err) != TABI_OK && err.message[0] == '\0') abort();
  (void)tbi_live_world_step(live, &err);
  tbi_message_drop(tbi_live_world_picture(live, 1, false));
}

// a name of the fuzzer's, not ours
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size); // NOLINT

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) { // NOLINT
  tabi_scene *made = tabi_scene_load_text(scene, sizeof scene - 1, "box.yaml", NULL, NULL);
  tbi_live_world live;
  tabi_error err = {0};
  if (!made || tbi_live_world_open(&live, made, "box.yaml", &err) != TABI_OK) abort();
  const char *at = (const char *)data;
  const char *end = at + size;
  for (int i = 0; i < MAX_MESSAGES && at < end; ++i) {
    const char *line = memchr(at, '\n', (size_t)(end - at));
    if (!line) line = end;
    receive(&live, at, (size_t)(line - at));
    at = line < end ? line + 1 : end;
  }
  tbi_live_world_close(&live);
  return 0;
}

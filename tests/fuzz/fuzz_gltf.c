/* fuzz_gltf.c - any bytes as a glTF file, whose buffers are any bytes, too; what is accepted must
 * be a mesh. */
#include "mesh.h"
#include "robot.h"

#include <stdlib.h>
#include <string.h>

typedef struct input {
  const uint8_t *data;
  size_t size;
} input;

static tabi_status open_input(void *user, const char *file, char **bytes, size_t *size,
                              tabi_error *err) {
  const input *in = user;
  (void)file;
  (void)err;
  *bytes = malloc(in->size + 1);
  if (!*bytes) abort();
  memcpy(*bytes, in->data, in->size);
  *size = in->size;
  return TABI_OK;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) { // NOLINT: its name, not ours
  tbi_mesh mesh;
  input in = {data, size};
  const tbi_mesh_opener opener = {open_input, &in};
  const tabi_place place = {"x.gltf", 1};
  if (tbi_gltf_parse(data, size, "x.gltf", place, &opener, &mesh, NULL) == TABI_OK)
    fuzz_mesh(&mesh);
  return 0;
}

/* test_gltf.c - glTF 2.0: buffers of every kind, accessors, nodes; good and bad. */
#include "io/mesh/mesh_file.h"
#include "support/near.h"
#include "support/scratch.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const tabi_place place = {"r.urdf", 3};

/* A tetrahedron: four points as floats, then indices as bytes for triangles, then a strip of
 * shorts that goes around three sides. */
typedef struct content {
  float points[12];
  uint8_t triangles[12];
  uint16_t strip[6];
  int8_t small[16]; /* the points as normalized bytes, four apart */
  uint8_t sparse_at[4];
  float sparse[3];
} content;

static const content tetrahedron = {
    .points = {0,  0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1},
    .triangles = {0, 2, 1, 0, 1, 3, 0, 3, 2, 1, 2, 3},
    .strip = {0, 2, 1, 3, 0, 2},
    .small = {0,  0,   0,   9, 127, 0, 0, 9, 0, 127, 0, 9, 0, 0, 127, 9},
    .sparse_at = {3},
    .sparse = {0, 0, 2},
};

static char *base64(const void *bytes, size_t size) {
  static const char digit[65] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  const unsigned char *b = bytes;
  static char text[1024];
  size_t n = 0;
  for (size_t i = 0; i < size; i += 3) {
    uint32_t bits = (uint32_t)b[i] << 16;
    if (i + 1 < size) bits |= (uint32_t)b[i + 1] << 8;
    if (i + 2 < size) bits |= b[i + 2];
    for (int k = 0; k < 4; ++k) {
      bool pad = i + (size_t)k > size;
      text[n++] = digit[bits >> (18 - 6 * k) & 63];
      if (pad) text[n - 1] = '=';
    }
  }
  text[n] = '\0';
  return text;
}

#define VIEWS                                                                              \
  "\"bufferViews\":[{\"buffer\":0,\"byteLength\":48},{\"buffer\":0,\"byteOffset\":48,"     \
  "\"byteLength\":12},{\"buffer\":0,\"byteOffset\":60,\"byteLength\":12},{\"buffer\":0,"   \
  "\"byteOffset\":72,\"byteLength\":16,\"byteStride\":4},{\"buffer\":0,\"byteOffset\":88," \
  "\"byteLength\":4},{\"buffer\":0,\"byteOffset\":92,\"byteLength\":12}],"
#define ACCESSORS                                                                                 \
  "\"accessors\":[{\"bufferView\":0,\"componentType\":5126,\"count\":4,\"type\":\"VEC3\"},"       \
  "{\"bufferView\":1,\"componentType\":5121,\"count\":12,\"type\":\"SCALAR\"},"                   \
  "{\"bufferView\":2,\"componentType\":5123,\"count\":6,\"type\":\"SCALAR\"},"                    \
  "{\"bufferView\":3,\"componentType\":5120,\"normalized\":true,\"count\":4,\"type\":\"VEC3\"},"  \
  "{\"bufferView\":0,\"componentType\":5126,\"count\":4,\"type\":\"VEC3\",\"sparse\":{\"count\":" \
  "1,"                                                                                            \
  "\"indices\":{\"bufferView\":4,\"componentType\":5121},\"values\":{\"bufferView\":5}}}],"
#define PLAIN            "{\"attributes\":{\"POSITION\":0},\"indices\":1}"
#define MESH(primitives) "\"meshes\":[{\"primitives\":[" primitives "]}],"
#define ASSET            "\"asset\":{\"version\":\"2.0\"}"

/* {buffers, rest}, with the content as a data: URI or in a file. */
static char *file_text(const char *uri, const char *rest) {
  static char text[8192];
  if (uri) {
    (void)snprintf(text, sizeof text,
                   "{\"buffers\":[{\"byteLength\":104,\"uri\":\"%s\"}],%s" ASSET "}", uri, rest);
  } else {
    (void)snprintf(
        text, sizeof text,
        "{\"buffers\":[{\"byteLength\":104,\"uri\":\"data:application/octet-stream;base64,"
        "%s\"}],%s" ASSET "}",
        base64(&tetrahedron, sizeof tetrahedron), rest);
  }
  return text;
}

static void check_bytes(const void *bytes, size_t size, double volume, const double com[3]) {
  tbi_mesh mesh;
  tbi_solid solid;
  tabi_error err = {0};
  if (tbi_gltf_parse(bytes, size, "m.gltf", place, NULL, &mesh, &err) != TABI_OK)
    fail_msg("%s", err.message);
  assert_int_equal(mesh.nvertex % 4, 0);
  assert_int_equal(mesh.nface % 4, 0);
  assert_int_equal(tbi_mesh_solid(&mesh, "m", place, &solid, &err), TABI_OK);
  tbi_mesh_free(&mesh);
  assert_near(solid.volume, volume, 1e-15);
  for (int k = 0; k < 3; ++k)
    assert_near(solid.com[k], com[k], 1e-15);
}

static void check(const char *rest, double volume, double x, double y, double z) {
  const char *text = file_text(NULL, rest);
  check_bytes(text, strlen(text), volume, (const double[3]){x, y, z});
}

static void test_accessors(void **state) {
  (void)state;
  check(VIEWS ACCESSORS MESH(PLAIN) "\"nodes\":[{\"mesh\":0}],", 1.0 / 6, 0.25, 0.25, 0.25);
  // a strip around all sides; normalized bytes; one number exchanged
  check(VIEWS ACCESSORS MESH(
            "{\"attributes\":{\"POSITION\":0},\"indices\":2,\"mode\":5}") "\"nodes\":[{"
                                                                          "\"mesh\":0}],",
        1.0 / 6, 0.25, 0.25, 0.25);
  check(VIEWS ACCESSORS MESH(
            "{\"attributes\":{\"POSITION\":3},\"indices\":1}") "\"nodes\":[{\"mesh\":0}],",
        1.0 / 6, 0.25, 0.25, 0.25);
  check(VIEWS ACCESSORS MESH(
            "{\"attributes\":{\"POSITION\":4},\"indices\":1}") "\"nodes\":[{\"mesh\":0}],",
        1.0 / 3, 0.25, 0.25, 0.5);
  // points and lines are left out
  check(VIEWS ACCESSORS MESH("{\"attributes\":{\"POSITION\":0},\"mode\":1}," PLAIN) "\"nodes\":[{"
                                                                                    "\"mesh\":0}],",
        1.0 / 6, 0.25, 0.25, 0.25);
}

static void test_nodes(void **state) {
  (void)state;
  check(VIEWS ACCESSORS MESH(
            PLAIN) "\"scene\":0,\"scenes\":[{\"nodes\":[1]}],\"nodes\":[{\"mesh\":0,"
                   "\"translation\":[0,0,1]},"
                   "{\"rotation\":[0,0,0.70710678118654752,0.70710678118654752],\"scale\":[2,1,1],"
                   "\"children\":[0]},{\"mesh\":0}],",
        1.0 / 3, -0.25, 0.5, 1.25);
  check(VIEWS ACCESSORS MESH(
            PLAIN) "\"nodes\":[{\"mesh\":0,\"matrix\":[-1,0,0,0,0,1,0,0,0,0,1,0,5,6,7,1]}],",
        1.0 / 6, 4.75, 6.25, 7.25);
}

static void put_u32(unsigned char *to, size_t value) {
  for (int i = 0; i < 4; ++i)
    to[i] = (unsigned char)(value >> (8 * i));
}

static void test_binary(void **state) {
  (void)state;
  const char *json = "{\"buffers\":[{\"byteLength\":104}]," VIEWS ACCESSORS MESH(
      PLAIN) "\"nodes\":[{\"mesh\":0}]," ASSET "}";
  static unsigned char bytes[4096];
  size_t length = (strlen(json) + 3) / 4 * 4;
  size_t size = 28 + length + sizeof tetrahedron;
  // "glTF", "JSON" and "BIN"
  put_u32(bytes, 0x46546c67);
  put_u32(bytes + 4, 2);
  put_u32(bytes + 8, size);
  put_u32(bytes + 12, length);
  put_u32(bytes + 16, 0x4e4f534a);
  memset(bytes + 20, ' ', length);
  for (size_t i = 0; json[i] != '\0'; ++i)
    bytes[20 + i] = (unsigned char)json[i];
  put_u32(bytes + 20 + length, sizeof tetrahedron);
  put_u32(bytes + 24 + length, 0x004e4942);
  memcpy(bytes + 28 + length, &tetrahedron, sizeof tetrahedron);
  check_bytes(bytes, size, 1.0 / 6, (const double[3]){0.25, 0.25, 0.25});
  for (size_t n = 0; n < size; ++n) {
    tbi_mesh mesh;
    assert_int_not_equal(tbi_gltf_parse(bytes, n, "m.glb", place, NULL, &mesh, NULL), TABI_OK);
    assert_null(mesh.vertices);
  }
}

/* Buffers of their own stay inside what the mesh may reach. */
static void test_files(void **state) {
  (void)state;
  const char *rest = VIEWS ACCESSORS MESH(PLAIN) "\"nodes\":[{\"mesh\":0}],";
  scratch_write("top/robot/meshes/my buffer.bin", &tetrahedron, sizeof tetrahedron);
  scratch_write("top/robot/b.bin", &tetrahedron, sizeof tetrahedron);
  scratch_write("b.bin", &tetrahedron, sizeof tetrahedron);
  scratch_text("top/robot/meshes/near.gltf", file_text("my%20buffer.bin", rest));
  scratch_text("top/robot/meshes/up.gltf", file_text("../b.bin", rest));
  scratch_text("top/robot/meshes/far.gltf", file_text("../../../b.bin", rest));
  scratch_text("top/robot/meshes/none.gltf", file_text("none.bin", rest));
  scratch_text("top/robot/meshes/etc.gltf", file_text("/etc/passwd", rest));
  scratch_text("top/robot/meshes/web.gltf", file_text("http://example.com/b.bin", rest));
  static const struct {
    const char *file, *words;
  } cases[] = {
      {"near.gltf", NULL                                                      },
      {"up.gltf",   NULL                                                      },
      {"far.gltf",  "buffer '../../../b.bin': path leaves the model's package"},
      {"none.gltf", "buffer 'none.bin' not found (looked in: "                },
      {"etc.gltf",  "buffer '/etc/passwd': path leaves the model's package"   },
      {"web.gltf",  "path leaves the model's package"                         },
  };
  tabi_load_def def = tabi_load_def_default();
  tabi_builder *builder = tabi_builder_create();
  tbi_meshes *meshes = tbi_meshes_create(builder, scratch_path("top/robot/urdf.urdf"), &def);
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; ++i) {
    char file[64];
    tbi_mesh mesh;
    tabi_error err = {0};
    (void)snprintf(file, sizeof file, "meshes/%s", cases[i].file);
    tabi_status status = tbi_meshes_read(meshes, file, place, &mesh, &err);
    if (cases[i].words) {
      assert_int_not_equal(status, TABI_OK);
      if (!strstr(err.message, cases[i].words)) fail_msg("%s", err.message);
    } else if (status != TABI_OK) {
      fail_msg("%s", err.message);
    }
    tbi_mesh_free(&mesh);
  }
  tbi_meshes_destroy(meshes);
  tabi_builder_destroy(builder);
}

static void refuse(const char *rest, const char *words) {
  tbi_mesh mesh;
  tabi_error err = {0};
  const char *text = file_text(NULL, rest);
  assert_int_equal(tbi_gltf_parse(text, strlen(text), "m.gltf", place, NULL, &mesh, &err),
                   TABI_ERR_PARSE);
  if (!strstr(err.message, words)) fail_msg("'%s' is not in '%s'", words, err.message);
  assert_null(mesh.vertices);
}

static void refuse_text(const char *text, const char *words) {
  tbi_mesh mesh;
  tabi_error err = {0};
  assert_int_equal(tbi_gltf_parse(text, strlen(text), "m.gltf", place, NULL, &mesh, &err),
                   TABI_ERR_PARSE);
  if (!strstr(err.message, words)) fail_msg("'%s' is not in '%s'", words, err.message);
}

static void test_refused(void **state) {
  (void)state;
  refuse_text("", "mesh 'm.gltf': glTF: line 1: ");
  refuse_text("[]", "JSON is not an object");
  refuse_text("{\"asset\":{\"version\":\"1.0\"}}", "version is not 2");
  refuse_text("{\"asset\":{\"version\":\"2.0\"}}", "no face with area");
  refuse_text(file_text("b.bin", VIEWS ACCESSORS MESH(PLAIN) "\"nodes\":[{\"mesh\":0}],"),
              "a buffer is in a file of its own");
  refuse_text(file_text("data:,x", VIEWS ACCESSORS MESH(PLAIN) "\"nodes\":[{\"mesh\":0}],"),
              "a data: URI is not base64");
  refuse(VIEWS ACCESSORS MESH(PLAIN) "\"nodes\":[{\"mesh\":1}],", "'mesh' is not one of meshes");
  refuse(VIEWS ACCESSORS MESH(PLAIN) "\"nodes\":[{\"children\":[0]}],\"scenes\":[{\"nodes\":[0]}],",
         "a node has two parents");
  refuse(VIEWS ACCESSORS MESH("{\"attributes\":{\"POSITION\":9}}") "\"nodes\":[{\"mesh\":0}],",
         "'POSITION' is not one of accessors");
  refuse(VIEWS ACCESSORS MESH("{\"attributes\":{\"POSITION\":1}}") "\"nodes\":[{\"mesh\":0}],",
         "an accessor has a wrong type");
  refuse(VIEWS "\"accessors\":[{\"bufferView\":0,\"componentType\":5126,\"count\":5,\"type\":"
               "\"VEC3\"}]," MESH("{\"attributes\":{\"POSITION\":0}}") "\"nodes\":[{\"mesh\":0}],",
         "an accessor is longer than its buffer");
  refuse("\"bufferViews\":[{\"buffer\":0,\"byteOffset\":90,\"byteLength\":99999999999}],"
         "\"accessors\":[{\"bufferView\":0,\"componentType\":5126,\"count\":3,\"type\":\"VEC3\"}]"
         "," MESH("{\"attributes\":{\"POSITION\":0}}") "\"nodes\":[{\"mesh\":0}],",
         "an accessor is longer than its buffer");
  refuse("\"accessors\":[{\"componentType\":5126,\"count\":999999999,\"type\":\"VEC3\"}]," MESH(
             "{\"attributes\":{\"POSITION\":0}}") "\"nodes\":[{\"mesh\":0}],",
         "too many corners");
  refuse("\"extensionsRequired\":[\"KHR_draco_mesh_compression\"]," VIEWS ACCESSORS MESH(
             PLAIN) "\"nodes\":[{\"mesh\":0}],",
         "KHR_draco_mesh_compression is not read; export without compression");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_accessors), cmocka_unit_test(test_nodes),
      cmocka_unit_test(test_binary),    cmocka_unit_test(test_files),
      cmocka_unit_test(test_refused),
  };
  return cmocka_run_group_tests(tests, scratch_begin, scratch_end);
}

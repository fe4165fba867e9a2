/* test_stl.c - binary and ASCII STL, good and bad. */
#include "io/mesh/mesh_file.h"
#include "support/near.h"
#include "support/scratch.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PLACE ((tabi_place){"r.urdf", 3})

/* A tetrahedron with its corner at the origin, seen from outside. */
static const float corners[4][9] = {
    {0, 0, 0, 0, 1, 0, 1, 0, 0},
    {0, 0, 0, 1, 0, 0, 0, 0, 1},
    {0, 0, 0, 0, 0, 1, 0, 1, 0},
    {1, 0, 0, 0, 1, 0, 0, 0, 1},
};

typedef struct binary {
  unsigned char bytes[84 + 50 * 8];
  size_t size;
} binary;

static binary make_binary(const char *head, uint32_t declared, size_t faces) {
  binary b = {.size = 84 + 50 * faces};
  memcpy(b.bytes, head, strlen(head));
  memcpy(b.bytes + 80, &declared, 4);
  for (size_t i = 0; i < faces; ++i)
    memcpy(b.bytes + 84 + 50 * i + 12, corners[i % 4], 36);
  return b;
}

/* Parses an exact copy, so that reading too far is seen by sanitizers. */
static tabi_status parse(const void *bytes, size_t size, tbi_mesh *mesh, tabi_error *error) {
  void *copy = malloc(size > 0 ? size : 1);
  assert_non_null(copy);
  if (size > 0) memcpy(copy, bytes, size);
  tabi_status status = tbi_stl_parse(copy, size, "m.stl", PLACE, mesh, error);
  free(copy);
  return status;
}

static void refuse(const void *bytes, size_t size, const char *message) {
  tbi_mesh mesh;
  tabi_error error = {0};
  assert_int_equal(parse(bytes, size, &mesh, &error), TABI_ERR_PARSE);
  assert_string_equal(error.message, message);
  assert_string_equal(error.file, "r.urdf");
  assert_int_equal(error.line, 3);
  assert_null(mesh.vertices);
}

static void check_tetrahedron(tbi_mesh *mesh) {
  assert_int_equal(mesh->nface, 4);
  assert_int_equal(mesh->nvertex, 4);
  for (int i = 0; i < 4; ++i) {
    for (int k = 0; k < 9; ++k) {
      int32_t vertex = mesh->faces[3 * i + k / 3];
      assert_near(mesh->vertices[3 * vertex + k % 3], (double)corners[i][k], 0);
    }
  }
  tbi_mesh_free(mesh);
}

static void test_binary(void **state) {
  (void)state;
  tbi_mesh mesh;
  tabi_error error;
  // the head says nothing, even where it says "solid"
  const char *heads[] = {"", "exported by a program", "solid but binary"};
  for (size_t i = 0; i < 3; ++i) {
    binary b = make_binary(heads[i], 4, 4);
    assert_int_equal(parse(b.bytes, b.size, &mesh, &error), TABI_OK);
    check_tetrahedron(&mesh);
  }
  // bytes behind the last face are allowed
  binary b = make_binary("", 4, 5);
  assert_int_equal(parse(b.bytes, b.size - 7, &mesh, &error), TABI_OK);
  check_tetrahedron(&mesh);
}

static void test_ascii(void **state) {
  (void)state;
  char text[4096] = "SOLID a name of words\n";
  for (int i = 0; i < 4; ++i) {
    const float *c = corners[i];
    scratch_append(text, sizeof text,
                   "facet normal 0 0 0\r\n outer loop\r\n vertex %.1f %.2e %.1f\n"
                   "VERTEX %g %g -%g vertex %g %g %g\n endloop\nendfacet\n",
                   (double)c[0], (double)c[1], (double)c[2], (double)c[3], (double)c[4],
                   (double)-c[5], (double)c[6], (double)c[7], (double)c[8]);
  }
  scratch_append(text, sizeof text, "endsolid a name of words\n");
  tbi_mesh mesh;
  tabi_error error = {0};
  assert_int_equal(parse(text, strlen(text), &mesh, &error), TABI_ERR_PARSE);
  assert_non_null(strstr(error.message, "expected a number")); // "--1"
  for (char *minus = text; (minus = strstr(minus, "--"));)
    memcpy(minus, " -", 2);
  for (char *minus = text; (minus = strstr(minus, "-1 "));)
    memcpy(minus, " 1 ", 3);
  assert_int_equal(parse(text, strlen(text), &mesh, &error), TABI_OK);
  check_tetrahedron(&mesh);
}

static void test_bad_binary(void **state) {
  (void)state;
  refuse("", 0, "mesh 'm.stl': STL file of 0 bytes is too short");
  refuse("short", 5, "mesh 'm.stl': STL file of 5 bytes is too short");
  binary b = make_binary("", 0xffffffffu, 0);
  refuse(b.bytes, b.size, "mesh 'm.stl': STL declares 4294967295 faces, file has room for 0");
  b = make_binary("", 3, 2);
  refuse(b.bytes, b.size, "mesh 'm.stl': STL declares 3 faces, file has room for 2");
  b = make_binary("", 0, 0);
  refuse(b.bytes, b.size, "mesh 'm.stl': no face with area");
  const uint32_t infinite = 0xff800000u;
  b = make_binary("", 2, 2);
  memcpy(&b.bytes[84 + 50 + 12 + 4 * 4], &infinite, 4);
  refuse(b.bytes, b.size, "mesh 'm.stl': vertex 5 not finite");
}

static void test_bad_ascii(void **state) {
  (void)state;
  static const struct {
    const char *text, *message;
  } cases[] = {
      {"solid\nendsolid\n",                    "no face with area"                     },
      {"solid\nfacet normal 0 0 1\nouter lop", "STL line 3: expected loop"             },
      {"solid\nfacet normal 0 0",              "STL line 2: expected a number"         },
      {"solid\nvertex 1 2 3 endfacet",         "STL line 2: expected facet or endsolid"},
      {"solid\nfacet normal 0 0 1 outer loop vertex 0 0 0 vertex 1 0 0 vertex 0 1e999 0 endloop "
       "endfacet",                      "vertex 3 not finite"                   },
      {"solid\nfacet normal 0 0 1 outer loop vertex 0 0 0 vertex 0,5 0 0 vertex 0 1 0 endloop "
       "endfacet",                      "STL line 2: expected a number"         },
      {"solid\nfacet normal 0 0 1 outer loop vertex 0 0 0 vertex 0 -0 0 vertex 0 1 0 endloop "
       "endfacet",                      "no face with area"                     },
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i) {
    char message[256];
    (void)snprintf(message, sizeof message, "mesh 'm.stl': %s", cases[i].message);
    refuse(cases[i].text, strlen(cases[i].text), message);
  }
}

/* The limit is judged before memory is asked for. */
static void test_too_many_faces(void **state) {
  (void)state;
  size_t size = 84 + 50 * ((size_t)TBI_MESH_MAX_FACES + 1);
  unsigned char *bytes = calloc(size, 1);
  assert_non_null(bytes);
  const uint32_t declared = TBI_MESH_MAX_FACES + 1;
  memcpy(bytes + 80, &declared, 4);
  tbi_mesh mesh;
  tabi_error error = {0};
  assert_int_equal(tbi_stl_parse(bytes, size, "m.stl", PLACE, &mesh, &error), TABI_ERR_PARSE);
  assert_string_equal(error.message, "mesh 'm.stl': 2000001 faces, limit 2000000");
  free(bytes);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_binary),         cmocka_unit_test(test_ascii),
      cmocka_unit_test(test_bad_binary),     cmocka_unit_test(test_bad_ascii),
      cmocka_unit_test(test_too_many_faces),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

/* test_ply.c - PLY in words and in bytes of either order, good and bad. */
#include "io/mesh/mesh_file.h"
#include "support/near.h"

#include <stdio.h>
#include <string.h>

static const tabi_place place = {"r.urdf", 3};

/* A tetrahedron with unit edges at the origin. */
static const double points[4][3] = {
    {0, 0, 0},
    {1, 0, 0},
    {0, 1, 0},
    {0, 0, 1}
};
static const int faces[4][3] = {
    {0, 2, 1},
    {0, 1, 3},
    {0, 3, 2},
    {1, 2, 3}
};

static void check_tetrahedron(const void *bytes, size_t size) {
  tbi_mesh mesh;
  tbi_solid solid;
  tabi_error err = {0};
  if (tbi_ply_parse(bytes, size, "m.ply", place, &mesh, &err) != TABI_OK)
    fail_msg("%s", err.message);
  assert_int_equal(mesh.nvertex, 4);
  assert_int_equal(mesh.nface, 4);
  assert_int_equal(tbi_mesh_solid(&mesh, "m", place, &solid, &err), TABI_OK);
  assert_near(solid.volume, 1.0 / 6, 1e-15);
  tbi_mesh_free(&mesh);
}

static void test_ascii(void **state) {
  (void)state;
  const char *text = "ply\nformat ascii 1.0\ncomment element vertex 9\nobj_info x\n"
                     "element vertex 4\nproperty float x\nproperty uchar red\nproperty double y\n"
                     "property float32 z\nproperty list uchar int more\n"
                     "element material 1\nproperty int a\n"
                     "element face 4\nproperty list uint8 int32 vertex_index\nproperty uchar q\n"
                     "element nothing 2\nend_header\n"
                     "0 9 0 0 0\n1 9 0 0 2 5 5\n0 9 1 0 0\n0 9 0 1e0 1 7\n"
                     "77\n3 0 2 1 0\n3 0 1 3 0\n3 0 3 2 0\n3 1 2 3 0\n";
  check_tetrahedron(text, strlen(text));
}

/* A square is two triangles. */
static void test_polygon(void **state) {
  (void)state;
  const char *text = "ply\r\nformat ascii 1.0\r\nelement vertex 5\r\nproperty float x\r\n"
                     "property float y\r\nproperty float z\r\nelement face 1\r\n"
                     "property list uchar uint vertex_indices\r\nend_header\r\n"
                     "0 0 0\r\n1 0 0\r\n1 1 0\r\n0 1 0\r\n8 8 8\r\n4 0 1 2 3\r\n";
  tbi_mesh mesh;
  assert_int_equal(tbi_ply_parse(text, strlen(text), "m.ply", place, &mesh, NULL), TABI_OK);
  assert_int_equal(mesh.nface, 2);
  assert_int_equal(mesh.nvertex, 4);
  tbi_mesh_free(&mesh);
}

static size_t put(unsigned char *to, const void *value, size_t bytes, bool big) {
  const unsigned char *from = value;
  const uint16_t one = 1;
  unsigned char little;
  memcpy(&little, &one, 1);
  for (size_t i = 0; i < bytes; ++i)
    to[i] = from[(little == 1) == big ? bytes - 1 - i : i];
  return bytes;
}

static size_t write_binary(unsigned char *to, size_t room, bool big) {
  int n = snprintf((char *)to, room,
                   "ply\nformat binary_%s_endian 1.0\nelement vertex 4\nproperty double x\n"
                   "property float y\nproperty short z\nelement face 4\n"
                   "property list ushort char vertex_indices\nend_header\n",
                   big ? "big" : "little");
  size_t at = (size_t)n;
  for (int i = 0; i < 4; ++i) {
    float y = (float)points[i][1];
    int16_t z = (int16_t)points[i][2];
    at += put(to + at, &points[i][0], sizeof points[i][0], big);
    at += put(to + at, &y, sizeof y, big);
    at += put(to + at, &z, sizeof z, big);
  }
  for (int i = 0; i < 4; ++i) {
    const uint16_t three = 3;
    at += put(to + at, &three, sizeof three, big);
    for (int k = 0; k < 3; ++k)
      to[at++] = (unsigned char)faces[i][k];
  }
  return at;
}

static void test_binary(void **state) {
  (void)state;
  unsigned char bytes[1024];
  for (int big = 0; big < 2; ++big) {
    size_t size = write_binary(bytes, sizeof bytes, big == 1);
    check_tetrahedron(bytes, size);
    // every cut is noticed
    for (size_t n = 0; n < size; ++n) {
      tbi_mesh mesh;
      assert_int_equal(tbi_ply_parse(bytes, n, "m.ply", place, &mesh, NULL), TABI_ERR_PARSE);
      assert_null(mesh.vertices);
    }
  }
}

static void refuse(const char *text, const char *message) {
  tbi_mesh mesh;
  tabi_error err = {0};
  assert_int_equal(tbi_ply_parse(text, strlen(text), "m.ply", place, &mesh, &err), TABI_ERR_PARSE);
  assert_string_equal(err.message, message);
  assert_string_equal(err.file, "r.urdf");
  assert_null(mesh.vertices);
}

#define HEAD                                                                               \
  "ply\nformat ascii 1.0\nelement vertex 3\nproperty float x\nproperty float y\nproperty " \
  "float z\nelement face 1\nproperty list uchar int vertex_indices\nend_header\n"

static void test_refused(void **state) {
  (void)state;
  refuse("", "mesh 'm.ply': not a PLY file");
  refuse("ply", "mesh 'm.ply': PLY header does not end");
  refuse("ply\nend_header\n", "mesh 'm.ply': PLY without a format");
  refuse("ply\nformat ebcdic 1.0\nend_header\n", "mesh 'm.ply': PLY format 'ebcdic' is unknown");
  refuse("ply\nformat ascii 1.0\nelement vertex 999999999999\nend_header\n",
         "mesh 'm.ply': PLY declares 999999999999 items, file has 60 bytes");
  refuse("ply\nformat ascii 1.0\nproperty float x\nend_header\n",
         "mesh 'm.ply': PLY property without an element, or too many");
  refuse("ply\nformat ascii 1.0\nelement vertex 3\nproperty quad x\nend_header\n",
         "mesh 'm.ply': PLY property type 'quad' is unknown");
  refuse("ply\nformat ascii 1.0\nelement vertex 3\nproperty float x\nend_header\n0 0 0\n",
         "mesh 'm.ply': PLY vertices need x, y and z, once");
  refuse("ply\nformat ascii 1.0\nelement face 0\nend_header\n",
         "mesh 'm.ply': PLY faces need vertices before them, and vertex_indices");
  refuse(HEAD "0 0 0 1 0 0 0 nan 0 3 0 1 2\n", "mesh 'm.ply': vertex 3 not finite");
  refuse(HEAD "0 0 0 1 0 0 0 1 0 3 0 1 3\n", "mesh 'm.ply': face 1 uses vertex 3 of 3 (from 0)");
  refuse(HEAD "0 0 0 1 0 0 0 1 0 3 0 1 -1\n", "mesh 'm.ply': face 1 uses vertex -1 of 3 (from 0)");
  refuse(HEAD "0 0 0 1 0 0 0 1 0 3 0 1 x\n", "mesh 'm.ply': 'x' is not a number");
  refuse(HEAD "0 0 0 1 0 0 0 1 0 99999 0 1 2\n", "mesh 'm.ply': a list of 99999 numbers");
  refuse(HEAD "0 0 0 1 0 0 0 1 0 3 0 1 1\n", "mesh 'm.ply': no face with area");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_ascii),
      cmocka_unit_test(test_polygon),
      cmocka_unit_test(test_binary),
      cmocka_unit_test(test_refused),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

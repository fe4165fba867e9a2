/* test_msh.c - MuJoCo's own mesh format, good and bad. */
#include "io/mesh/mesh_file.h"
#include "support/near.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static const tabi_place place = {"r.xml", 3};

typedef struct file {
  unsigned char bytes[512];
  size_t size;
} file;

static void put_u32(file *f, uint32_t x) {
  for (int i = 0; i < 4; ++i)
    f->bytes[f->size++] = (unsigned char)(x >> 8 * i);
}

static void put_f32(file *f, float x) {
  uint32_t bits;
  memcpy(&bits, &x, sizeof bits);
  put_u32(f, bits);
}

/* A tetrahedron with unit edges at the origin, with normals and texture coordinates. */
static file tetrahedron(uint32_t nface, uint32_t last) {
  static const float points[4][3] = {
      {0, 0, 0},
      {1, 0, 0},
      {0, 1, 0},
      {0, 0, 1}
  };
  const uint32_t faces[4][3] = {
      {0, 2, 1   },
      {0, 1, 3   },
      {0, 3, 2   },
      {1, 2, last}
  };
  file f = {.size = 0};
  const uint32_t head[4] = {4, 1, 2, nface};
  for (int i = 0; i < 4; ++i)
    put_u32(&f, head[i]);
  for (int i = 0; i < 12; ++i)
    put_f32(&f, points[i / 3][i % 3]);
  for (int i = 0; i < 3 + 4; ++i)
    put_f32(&f, 9);
  for (uint32_t i = 0; i < 3 * nface; ++i)
    put_u32(&f, faces[i / 3][i % 3]);
  return f;
}

static void check_tetrahedron(const file *f) {
  tbi_mesh mesh;
  tbi_solid solid;
  tabi_error err = {0};
  if (tbi_msh_parse(f->bytes, f->size, "m.msh", place, &mesh, &err) != TABI_OK)
    fail_msg("%s", err.message);
  assert_int_equal(mesh.nvertex, 4);
  assert_int_equal(mesh.nface, 4);
  assert_int_equal(tbi_mesh_solid(&mesh, "m", place, &solid, &err), TABI_OK);
  assert_near(solid.volume, 1.0 / 6, 1e-15);
  tbi_mesh_free(&mesh);
}

static void refuse(const file *f, const char *words) {
  tbi_mesh mesh;
  tabi_error err = {0};
  assert_int_not_equal(tbi_msh_parse(f->bytes, f->size, "m.msh", place, &mesh, &err), TABI_OK);
  if (!strstr(err.message, words)) fail_msg("'%s' is not in: %s", words, err.message);
  assert_int_equal(err.line, 3);
}

static void test_good(void **state) {
  (void)state;
  file f = tetrahedron(4, 3);
  check_tetrahedron(&f);
  f = tetrahedron(0, 3); // points only: their hull
  check_tetrahedron(&f);
}

static void test_bad(void **state) {
  (void)state;
  file f = tetrahedron(4, 4);
  refuse(&f, "mesh 'm.msh': face 4 uses vertex 4 of 4");
  f = tetrahedron(4, 3);
  --f.size;
  refuse(&f, "should have 140 bytes by its head, but has 139");
  f.size = 15;
  refuse(&f, "MSH file of 15 bytes is too short");
  f = (file){.size = 0};
  for (int i = 0; i < 4; ++i)
    put_u32(&f, UINT32_MAX);
  refuse(&f, "declares 4294967295 vertices");
  f = tetrahedron(4, 3);
  size_t size = f.size;
  f.size = 16 + 12; // the second vertex
  put_f32(&f, NAN);
  f.size = size;
  refuse(&f, "vertex 2 not finite");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_good),
      cmocka_unit_test(test_bad),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

/* test_obj.c - what OBJ files become, and what is wrong with those that become nothing. */
#include "io/mesh/mesh_file.h"
#include "support/near.h"
#include "support/scratch.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

static const tabi_place place = {"robot.urdf", 7};

static tabi_status parse(const char *text, tbi_mesh *mesh, tabi_error *err) {
  return tbi_obj_parse(text, strlen(text), "m.obj", place, mesh, err);
}

static const double *vertex_of(const tbi_mesh *mesh, int32_t i) {
  return mesh->vertices + 3 * (size_t)i;
}

static const double *corner_of(const tbi_mesh *mesh, int32_t face, int k) {
  return vertex_of(mesh, mesh->faces[3 * (size_t)face + (size_t)k]);
}

static void refuse(const char *text, const char *expected) {
  tbi_mesh mesh;
  tabi_error err = {0};
  assert_int_equal(parse(text, &mesh, &err), TABI_ERR_PARSE);
  assert_string_equal(err.message, expected);
  assert_string_equal(err.file, "robot.urdf");
  assert_int_equal(err.line, 7);
  assert_null(mesh.vertices);
}

#define SQUARE "v 0 0 0\nv 1 0 0\nv 1 1 0\nv 0 1 0\n"

/* Every way to write the corners of a face means the same square. */
static void test_faces(void **state) {
  (void)state;
  const char *const texts[] = {
      SQUARE "f 1 2 3 4\n",
      SQUARE "f 1/1 2/2 3/3 4/4",
      SQUARE "vn 0 0 1\nvt 0 0\nf 1/1/1 2/1/1 3/1/1 4/1/1\n",
      SQUARE "f 1//1 2//1 3//1 4//1\r\n",
      SQUARE "f -4 -3 -2 -1\n",
      "# before its vertices\nf 1 2 3 4 # so\n" SQUARE,
      "o thing\ng a b\n" SQUARE "s off\nusemtl red\nf 1 2 \\\n 3 4\n",
      "v 0 0 0 1.0\nv\t1 0 0\n  v 1 1 0 0.5 0.5 0.5\nv 0 1 0\nf 1 2 3 4\nl 1 2\np 1\n",
      SQUARE SQUARE "f 1 2 7\nf 1 3 8\n", /* the same places twice */
  };
  for (size_t i = 0; i < sizeof texts / sizeof *texts; ++i) {
    tbi_mesh mesh;
    tabi_error err = {0};
    if (parse(texts[i], &mesh, &err) != TABI_OK) fail_msg("%zu: %s", i, err.message);
    assert_int_equal(mesh.nvertex, 4);
    assert_int_equal(mesh.nface, 2);
    double area = 0;
    for (int32_t f = 0; f < mesh.nface; ++f) {
      const double *a = corner_of(&mesh, f, 0);
      const double *b = corner_of(&mesh, f, 1);
      const double *c = corner_of(&mesh, f, 2);
      area += 0.5 * ((b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0]));
    }
    assert_near(area, 1, 1e-15); /* and all look up */
    tbi_mesh_free(&mesh);
  }
}

/* Negative numbers count from where they stand. */
static void test_relative(void **state) {
  (void)state;
  tbi_mesh mesh;
  assert_int_equal(
      parse("v 0 0 0\nv 1 0 0\nv 0 1 0\nf -3 -2 -1\nv 0 0 5\nf -4 -3 -1\n", &mesh, NULL), TABI_OK);
  assert_int_equal(mesh.nvertex, 4);
  assert_near(corner_of(&mesh, 1, 2)[2], 5, 0);
  tbi_mesh_free(&mesh);
}

/* Exporters write edges as faces with two corners; they have no area. */
static void test_edges(void **state) {
  (void)state;
  tbi_mesh mesh;
  assert_int_equal(parse(SQUARE "f 1 2\nf 1 2 3\nf 4\nf\n", &mesh, NULL), TABI_OK);
  assert_int_equal(mesh.nface, 1);
  tbi_mesh_free(&mesh);
}

static void test_refused(void **state) {
  (void)state;
  refuse("", "mesh 'm.obj': OBJ file without a face");
  refuse("\x89PNG\r\n\x1a\n", "mesh 'm.obj': OBJ file without a face");
  refuse(SQUARE, "mesh 'm.obj': OBJ file without a face");
  refuse("v 0 0 0\nv 1 0 0\nv 0 nan 0\nf 1 2 3\n", "mesh 'm.obj': vertex 3 not finite");
  refuse("v 0 0 0\nv 1 0 0\nv 0 1e999 0\nf 1 2 3\n", "mesh 'm.obj': vertex 3 not finite");
  refuse("v 0 0 0\nv 1 0\nf 1 2 2\n", "mesh 'm.obj': vertex 2 needs three numbers");
  refuse("v 0,0 0 0\nf 1 1 1\n", "mesh 'm.obj': vertex 1 needs three numbers");
  refuse(SQUARE SQUARE "f 1 2 3\nf 1 2 3\nf 1 2 3\nf 1 2 3\nf 1 2 99\n",
         "mesh 'm.obj': face 5 uses vertex 99 of 8");
  refuse(SQUARE SQUARE "f 1 2 3\nf 0 2 3\n", "mesh 'm.obj': face 2 uses vertex 0 of 8");
  refuse(SQUARE "f 1 2 -5\n", "mesh 'm.obj': face 1 uses vertex -5 of 4");
  refuse(SQUARE "f 1 2 99999999999999999999\n", "mesh 'm.obj': face 1: '99999999999999999999' is "
                                                "no vertex");
  refuse(SQUARE "f 1 2 x\n", "mesh 'm.obj': face 1: 'x' is no vertex");
  refuse(SQUARE "f 1 2 /3\n", "mesh 'm.obj': face 1: '/3' is no vertex");
  refuse(SQUARE "f 1 2\n", "mesh 'm.obj': no face with area");
  refuse(SQUARE "f 1 1 2\n", "mesh 'm.obj': no face with area");
}

/* Found by its extension, wherever a mesh may be named. */
static void test_file(void **state) {
  (void)state;
  scratch_text("box.OBJ",
               "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n");
  tabi_builder *builder = tabi_builder_create();
  tabi_load_def def = tabi_load_def_default();
  tbi_meshes *meshes = tbi_meshes_create(builder, scratch_path("robot.urdf"), &def);
  const double scale[3] = {2, 2, 2};
  int32_t index = TABI_NONE;
  tabi_error err;
  assert_int_equal(tbi_meshes_add_hull(meshes, "box.OBJ", scale, place, &index, &err), TABI_OK);
  assert_int_equal(index, 0);
  tbi_mesh mesh;
  tbi_solid solid;
  assert_int_equal(tbi_meshes_read(meshes, "box.OBJ", place, &mesh, &err), TABI_OK);
  assert_int_equal(tbi_mesh_solid(&mesh, "box", place, &solid, &err), TABI_OK);
  assert_near(solid.volume, 1.0 / 6, 1e-15);
  tbi_mesh_free(&mesh);
  tbi_meshes_destroy(meshes);
  tabi_builder_destroy(builder);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_faces),   cmocka_unit_test(test_relative), cmocka_unit_test(test_edges),
      cmocka_unit_test(test_refused), cmocka_unit_test(test_file),
  };
  return cmocka_run_group_tests(tests, scratch_begin, scratch_end);
}

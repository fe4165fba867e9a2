/* test_mesh.c - where meshes are found, that each is added once, and what they weigh. */
#include "io/mesh/mesh.h"
#include "io/path.h"
#include "support/near.h"
#include "support/scratch.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define TRIANGLE                                                                               \
  "solid\nfacet normal 0 0 1\nouter loop\nvertex 0 0 0\nvertex 1 0 0\nvertex 0 1 0\nendloop\n" \
  "endfacet\nendsolid\n"

static tbi_path_result find(const char *model, const char *packages, const char *file,
                            const char *expected) {
  tbi_path_roots *roots = malloc(sizeof *roots);
  tbi_path *path = malloc(sizeof *path);
  assert_non_null(roots);
  assert_non_null(path);
  tbi_path_roots_init(roots, scratch_path(model), packages);
  tbi_path_result result = tbi_path_find(roots, file, path);
  if (expected) {
    char *real = realpath(scratch_path(expected), NULL);
    assert_non_null(real);
    assert_string_equal(path->found, real);
    free(real);
  }
  free(roots);
  free(path);
  return result;
}

static void test_plain_paths(void **state) {
  (void)state;
  scratch_text("a/robot/meshes/a b.stl", TRIANGLE);
  scratch_text("a/robot/a%20b.stl", TRIANGLE);
  scratch_text("a/meshes/beside.stl", TRIANGLE);
  scratch_text("other.stl", TRIANGLE);
  const char *model = "a/robot/r.urdf";
  const char *spaced = "a/robot/meshes/a b.stl";
  assert_int_equal(find(model, NULL, "meshes/a b.stl", spaced), TBI_PATH_FOUND);
  assert_int_equal(find(model, NULL, "./meshes/../meshes/a b.stl", spaced), TBI_PATH_FOUND);
  assert_int_equal(find(model, NULL, "a%20b.stl", "a/robot/a%20b.stl"), TBI_PATH_FOUND);
  assert_int_equal(find(model, NULL, "meshes/a%20b.stl", spaced), TBI_PATH_FOUND);
  assert_int_equal(find(model, NULL, "file://meshes/a%20b.stl", spaced), TBI_PATH_FOUND);
  assert_int_equal(find(model, NULL, scratch_path(spaced), spaced), TBI_PATH_FOUND);
  assert_int_equal(find(model, NULL, "none.stl", NULL), TBI_PATH_MISSING);
  // folders beside the model's own, and no further
  assert_int_equal(find(model, NULL, "../meshes/beside.stl", "a/meshes/beside.stl"),
                   TBI_PATH_FOUND);
  assert_int_equal(find(model, NULL, "../none.stl", NULL), TBI_PATH_MISSING);
  assert_int_equal(find(model, NULL, "../../other.stl", NULL), TBI_PATH_LEAVES);
  assert_int_equal(find(model, NULL, "../../a/none.stl", NULL), TBI_PATH_MISSING);
  assert_int_equal(find(model, NULL, "%2e%2e/%2e%2e/other.stl", NULL), TBI_PATH_LEAVES);
  assert_int_equal(find(model, NULL, "file://%2e%2e/../other.stl", NULL), TBI_PATH_LEAVES);
  assert_int_equal(find(model, NULL, "a%00b.stl", NULL), TBI_PATH_LEAVES);
  assert_int_equal(find(model, NULL, scratch_path("other.stl"), NULL), TBI_PATH_LEAVES);
  assert_int_equal(find(model, NULL, "file:///etc/passwd", NULL), TBI_PATH_LEAVES);
  // a folder whose name only begins like the allowed one is another folder
  scratch_text("a2/b.stl", TRIANGLE);
  assert_int_equal(find(model, NULL, scratch_path("a2/b.stl"), NULL), TBI_PATH_LEAVES);
  assert_int_equal(find("no/such/r.urdf", NULL, "a.stl", NULL), TBI_PATH_MISSING);
  assert_int_equal(find("no/such/r.urdf", NULL, "package://p/a.stl", NULL), TBI_PATH_MISSING);
}

/* Names written on another machine: what leads nowhere is looked for by its tail. */
static void test_foreign_paths(void **state) {
  (void)state;
  scratch_text("f/robot/urdf/r.urdf", "");
  scratch_text("f/robot/meshes/a.stl", TRIANGLE);
  const char *model = "f/robot/urdf/r.urdf";
  const char *found = "f/robot/meshes/a.stl";
  assert_int_equal(find(model, NULL, "/home/me/ws/robot/meshes/a.stl", found), TBI_PATH_FOUND);
  assert_int_equal(find(model, NULL, "file:///home/me/meshes/a.stl", found), TBI_PATH_FOUND);
  assert_int_equal(find(model, NULL, "/no/such.stl", NULL), TBI_PATH_MISSING);
  assert_int_equal(find(model, NULL, "C:\\robots\\meshes\\a.stl", found), TBI_PATH_FOUND);
  assert_int_equal(find(model, NULL, "..\\meshes\\a.stl", found), TBI_PATH_FOUND);
  assert_int_equal(find(model, NULL, "package://robot\\meshes\\a.stl", found), TBI_PATH_FOUND);
  assert_int_equal(find(model, NULL, "..\\..\\..\\other.stl", NULL), TBI_PATH_LEAVES);
  assert_int_equal(find(model, NULL, "\\etc\\passwd", NULL), TBI_PATH_LEAVES);
  // a mesh of another collection is missing, anything else is refused
  assert_int_equal(find(model, NULL, "../../../others/assets/foot.stl", NULL), TBI_PATH_MISSING);
  assert_int_equal(find(model, NULL, "../../../others/meshes/a.stl", found), TBI_PATH_FOUND);
  assert_int_equal(find(model, NULL, "../../../others/secret", NULL), TBI_PATH_LEAVES);
  assert_int_equal(find(model, NULL, "%2e%2e/%2e%2e/%2e%2e/a.stl", NULL), TBI_PATH_LEAVES);
  // package:// in front of a file beside the robot's
  scratch_text("f/robot/urdf/b.stl", TRIANGLE);
  assert_int_equal(find(model, NULL, "package://b.stl", "f/robot/urdf/b.stl"), TBI_PATH_FOUND);
  // every model has a model.config: that of this one is not another's
  scratch_text("f/robot/urdf/model.config", "");
  assert_int_equal(find(model, NULL, "model://sun/model.config", NULL), TBI_PATH_MISSING);
}

/* A robot within a Python package may use all of the package. */
static void test_python_package(void **state) {
  (void)state;
  scratch_text("py/sim/__init__.py", "");
  scratch_text("py/sim/arms/__init__.py", "");
  scratch_text("py/sim/arms/assets/deep/r.xml", "");
  scratch_text("py/sim/common/a.stl", TRIANGLE);
  scratch_text("py/b.stl", TRIANGLE);
  const char *model = "py/sim/arms/assets/deep/r.xml";
  assert_int_equal(find(model, NULL, "../../../common/a.stl", "py/sim/common/a.stl"),
                   TBI_PATH_FOUND);
  assert_int_equal(find(model, NULL, "../../../../b.stl", NULL), TBI_PATH_LEAVES);
  // a package below does not take away what is beside the file's folder
  assert_int_equal(find("py/sim/r.xml", NULL, "../b.stl", "py/b.stl"), TBI_PATH_FOUND);
}

/* A caller or the environment allows more folders. */
static void test_allowed(void **state) {
  (void)state;
  scratch_text("far/away/m.stl", TRIANGLE);
  scratch_text("near/urdf/r.urdf", "");
  char far[1024];
  (void)snprintf(far, sizeof far, "%s", scratch_path("far"));
  const char *model = "near/urdf/r.urdf";
  const char *file = "../../far/away/m.stl";
  assert_int_equal(find(model, NULL, file, NULL), TBI_PATH_LEAVES);
  assert_int_equal(find(model, far, file, "far/away/m.stl"), TBI_PATH_FOUND);
  assert_int_equal(find(model, far, scratch_path("far/away/m.stl"), "far/away/m.stl"),
                   TBI_PATH_FOUND);
  assert_int_equal(find(model, far, "../../other.stl", NULL), TBI_PATH_LEAVES);
  // the whole file system cannot be allowed
  assert_int_equal(find(model, "/", "/etc/passwd", NULL), TBI_PATH_LEAVES);
  (void)setenv("ROS_PACKAGE_PATH", far, 1);
  assert_int_equal(find(model, NULL, file, "far/away/m.stl"), TBI_PATH_FOUND);
  assert_int_equal(find(model, NULL, "package://away/m.stl", "far/away/m.stl"), TBI_PATH_FOUND);
  (void)unsetenv("ROS_PACKAGE_PATH");
  scratch_text("prefix/share/hand/m.stl", TRIANGLE);
  (void)setenv("AMENT_PREFIX_PATH", scratch_path("prefix"), 1);
  assert_int_equal(find(model, NULL, "package://hand/m.stl", "prefix/share/hand/m.stl"),
                   TBI_PATH_FOUND);
  (void)unsetenv("AMENT_PREFIX_PATH");
}

static void test_links(void **state) {
  (void)state;
  scratch_text("l/linked/in/a.stl", TRIANGLE);
  scratch_text("target.stl", TRIANGLE);
  assert_int_equal(symlink("in/a.stl", scratch_path("l/linked/inside.stl")), 0);
  assert_int_equal(symlink("../../target.stl", scratch_path("l/linked/outside.stl")), 0);
  assert_int_equal(symlink("../..", scratch_path("l/linked/up")), 0);
  const char *model = "l/linked/r.urdf";
  assert_int_equal(find(model, NULL, "inside.stl", "l/linked/in/a.stl"), TBI_PATH_FOUND);
  assert_int_equal(find(model, NULL, "outside.stl", NULL), TBI_PATH_LEAVES);
  assert_int_equal(find(model, NULL, "up/target.stl", NULL), TBI_PATH_LEAVES);
  assert_int_equal(find(model, NULL, "package://linked/up/target.stl", NULL), TBI_PATH_LEAVES);
}

/* A package.xml above the file says what plain names may reach. */
static void test_package_folder(void **state) {
  (void)state;
  scratch_text("arm/package.xml", "<package/>");
  scratch_text("arm/meshes/a.stl", TRIANGLE);
  scratch_text("arm/urdf/deep/r.urdf", "");
  const char *model = "arm/urdf/deep/r.urdf";
  assert_int_equal(find(model, NULL, "../../meshes/a.stl", "arm/meshes/a.stl"), TBI_PATH_FOUND);
  assert_int_equal(find(model, NULL, "../../../target.stl", NULL), TBI_PATH_LEAVES);
}

static void test_packages(void **state) {
  (void)state;
  scratch_text("ws/hand/meshes/a.stl", TRIANGLE);
  scratch_text("ws/hand/urdf/r.urdf", "");
  scratch_text("more/palm/p.stl", TRIANGLE);
  const char *model = "ws/hand/urdf/r.urdf";
  const char *file = "package://hand/meshes/a.stl";
  const char *found = "ws/hand/meshes/a.stl";
  // above the file, beside it, and where the caller says
  assert_int_equal(find(model, NULL, file, found), TBI_PATH_FOUND);
  assert_int_equal(find("ws/r.urdf", NULL, file, found), TBI_PATH_FOUND);
  assert_int_equal(find(model, NULL, "model://hand/meshes/a.stl", found), TBI_PATH_FOUND);
  assert_int_equal(find(model, NULL, "package:///hand/meshes/a.stl", found), TBI_PATH_FOUND);
  assert_int_equal(find(model, NULL, "package://palm/p.stl", NULL), TBI_PATH_MISSING);
  char packages[2048];
  (void)snprintf(packages, sizeof packages, "/no/such::%s/", scratch_path("more"));
  assert_int_equal(find(model, packages, "package://palm/p.stl", "more/palm/p.stl"),
                   TBI_PATH_FOUND);
  assert_int_equal(
      find(model, scratch_path("more/palm"), "package://palm/p.stl", "more/palm/p.stl"),
      TBI_PATH_FOUND);
  // never the whole file system, and never out of the package
  assert_int_equal(find(model, NULL, "package://etc/passwd", NULL), TBI_PATH_MISSING);
  assert_int_equal(find(model, NULL, "package:///etc/passwd", NULL), TBI_PATH_MISSING);
  assert_int_equal(find(model, NULL, "package://hand/../x.stl", NULL), TBI_PATH_LEAVES);
  assert_int_equal(find(model, NULL, "package://hand/%2e./%2e%2e/x", NULL), TBI_PATH_LEAVES);
  assert_int_equal(find(model, NULL, "package://../x", NULL), TBI_PATH_LEAVES);
  assert_int_equal(find(model, NULL, "package://hand", NULL), TBI_PATH_LEAVES);
}

/* The name of a package may be in its package.xml only; its neighbours are packages, too. */
static void test_noted_packages(void **state) {
  (void)state;
  scratch_text("n/folder/package.xml", "<package>\n  <name> arm </name></package>");
  scratch_text("n/folder/a.stl", TRIANGLE);
  scratch_text("n/folder/urdf/r.urdf", "");
  scratch_text("n/second/package.xml", "<package><name>hand</name></package>");
  scratch_text("n/second/b.stl", TRIANGLE);
  scratch_text("n/stack/leg/c.stl", TRIANGLE);
  const char *model = "n/folder/urdf/r.urdf";
  assert_int_equal(find(model, NULL, "package://arm/a.stl", "n/folder/a.stl"), TBI_PATH_FOUND);
  assert_int_equal(find(model, NULL, "package://hand/b.stl", "n/second/b.stl"), TBI_PATH_FOUND);
  assert_int_equal(find(model, NULL, "package://leg/c.stl", "n/stack/leg/c.stl"), TBI_PATH_FOUND);
  assert_int_equal(find(model, NULL, "package://foot/c.stl", NULL), TBI_PATH_MISSING);
}

/* One robot out of a collection: the tail of the path is what is here. */
static void test_tails(void **state) {
  (void)state;
  scratch_text("copy/talos/meshes/v2/a.stl", TRIANGLE);
  scratch_text("copy/talos/robots/r.urdf", "");
  scratch_text("copy/talos/robots/b.stl", TRIANGLE);
  scratch_text("copy/other/c.stl", TRIANGLE);
  const char *model = "copy/talos/robots/r.urdf";
  const char *found = "copy/talos/meshes/v2/a.stl";
  assert_int_equal(find(model, NULL, "package://data/robots/talos/meshes/v2/a.stl", found),
                   TBI_PATH_FOUND);
  assert_int_equal(find(model, NULL, "package:///data/robots/talos/meshes/v2/a.stl", found),
                   TBI_PATH_FOUND);
  assert_int_equal(find(model, NULL, "package://tals/meshes/v2/a.stl", found), TBI_PATH_FOUND);
  assert_int_equal(find(model, NULL, "package://x/y/b.stl", "copy/talos/robots/b.stl"),
                   TBI_PATH_FOUND);
  // but not a folder that the robot is not part of
  assert_int_equal(find(model, NULL, "package://data/other/c.stl", NULL), TBI_PATH_MISSING);
}

typedef struct heard {
  int count;
  tabi_error last;
} heard;

static void listen(void *user, const tabi_error *warning) {
  heard *h = user;
  ++h->count;
  h->last = *warning;
}

static void test_each_mesh_once(void **state) {
  (void)state;
  scratch_text("once/a.STL", TRIANGLE);
  scratch_text("once/a.xyz7", "");
  heard h = {0};
  tabi_load_def def = tabi_load_def_default();
  def.warn = listen;
  def.warn_user = &h;
  tabi_builder *builder = tabi_builder_create();
  char model[1024];
  (void)snprintf(model, sizeof model, "%s", scratch_path("once/r.urdf"));
  tbi_meshes *meshes = tbi_meshes_create(builder, model, &def);
  const tabi_place place = {"r.urdf", 5};
  const double one[3] = {1, 1, 1};
  const double mirror[3] = {-2, 1, 1};
  int32_t index[5];
  tabi_error error;
  assert_int_equal(tbi_meshes_add(meshes, "a.STL", one, place, &index[0], &error), TABI_OK);
  assert_int_equal(tbi_meshes_add(meshes, "a.STL", mirror, place, &index[1], &error), TABI_OK);
  assert_int_equal(tbi_meshes_add(meshes, "a.STL", one, place, &index[2], &error), TABI_OK);
  assert_int_equal(index[0], 0);
  assert_int_equal(index[1], 1);
  assert_int_equal(index[2], 0);
  assert_int_equal(h.count, 0);
  // the first missing mesh is reported at once, the others together
  assert_int_equal(tbi_meshes_add(meshes, "a.xyz7", one, place, &index[3], &error), TABI_OK);
  assert_int_equal(h.count, 1);
  assert_string_equal(h.last.message, "mesh 'a.xyz7': format not read; convert it to STL, OBJ, "
                                      "PLY, DAE or glTF; its shape is left out");
  assert_int_equal(tbi_meshes_add(meshes, "b.stl", one, place, &index[4], &error), TABI_OK);
  assert_int_equal(tbi_meshes_add(meshes, "b.stl", one, place, &index[4], &error), TABI_OK);
  assert_int_equal(tbi_meshes_add(meshes, "c.stl", one, place, &index[4], &error), TABI_OK);
  assert_int_equal(h.count, 1);
  tbi_meshes_report_missing(meshes);
  assert_int_equal(h.count, 2);
  assert_string_equal(h.last.message, "2 more meshes not found or not readable");
  assert_int_equal(index[3], TABI_NONE);
  assert_int_equal(index[4], TABI_NONE);
  tbi_meshes_destroy(meshes);
  tabi_builder_destroy(builder);
}

/* A box with full edges a, b, c and its middle at m, as twelve triangles. */
static const int32_t box_faces[36] = {0, 2, 1, 1, 2, 3, 4, 5, 6, 5, 7, 6, 0, 1, 4, 1, 5, 4,
                                      2, 6, 3, 3, 6, 7, 0, 4, 2, 2, 4, 6, 1, 3, 5, 3, 7, 5};

static tbi_mesh make_box(const double edge[3], const double middle[3]) {
  tbi_mesh mesh = {malloc(24 * sizeof(double)), malloc(sizeof box_faces), 8, 12};
  assert_non_null(mesh.vertices);
  assert_non_null(mesh.faces);
  memcpy(mesh.faces, box_faces, sizeof box_faces);
  for (int i = 0; i < 8; ++i) {
    for (int k = 0; k < 3; ++k) {
      double side = (i >> k) & 1 ? 0.5 : -0.5;
      mesh.vertices[3 * i + k] = middle[k] + side * edge[k];
    }
  }
  return mesh;
}

/* V = abc, I = V/12 (b^2 + c^2, ...) about the middle, wherever that is. */
static void check_box(const tbi_mesh *mesh, const double edge[3], const double middle[3]) {
  tbi_solid solid;
  tabi_error error;
  assert_int_equal(tbi_mesh_solid(mesh, "m", (tabi_place){"f", 1}, &solid, &error), TABI_OK);
  double volume = edge[0] * edge[1] * edge[2];
  assert_near(solid.volume, volume, 1e-14 * volume);
  double scale = volume * (edge[0] * edge[0] + edge[1] * edge[1] + edge[2] * edge[2]);
  for (int k = 0; k < 3; ++k) {
    double b = edge[(k + 1) % 3];
    double c = edge[(k + 2) % 3];
    assert_near(solid.com[k], middle[k], 1e-13);
    assert_near(solid.inertia[k], volume / 12 * (b * b + c * c), 1e-14 * scale);
    assert_near(solid.inertia[3 + k], 0, 1e-14 * scale);
  }
}

static void test_solid(void **state) {
  (void)state;
  const double edge[3] = {0.2, 0.3, 0.05};
  const double middle[3] = {1, -2, 3};
  tbi_mesh mesh = make_box(edge, middle);
  check_box(&mesh, edge, middle);
  // stretched and mirrored, the faces still look outwards
  const double scale[3] = {2, -1, 3};
  tbi_mesh_scale(&mesh, scale);
  check_box(&mesh, (const double[3]){0.4, 0.3, 0.15}, (const double[3]){2, 2, 9});
  // turned inside out it is the same solid
  for (int i = 0; i < 12; ++i) {
    int32_t *face = &mesh.faces[3 * (size_t)i];
    int32_t swap = face[0];
    face[0] = face[1];
    face[1] = swap;
  }
  check_box(&mesh, (const double[3]){0.4, 0.3, 0.15}, (const double[3]){2, 2, 9});
  tbi_mesh_free(&mesh);
}

/* A tetrahedron at the origin with unit edges: V = 1/6, com 1/4, and products of inertia. */
static void test_solid_products(void **state) {
  (void)state;
  double vertices[12] = {0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1};
  int32_t faces[12] = {0, 2, 1, 0, 1, 3, 0, 3, 2, 1, 2, 3};
  tbi_mesh mesh = {vertices, faces, 4, 4};
  tbi_solid solid;
  assert_int_equal(tbi_mesh_solid(&mesh, "m", (tabi_place){"f", 1}, &solid, NULL), TABI_OK);
  assert_near(solid.volume, 1.0 / 6, 1e-16);
  // integral of x^2 = 1/60, of xy = 1/120 about the corner
  for (int k = 0; k < 3; ++k) {
    assert_near(solid.com[k], 0.25, 1e-15);
    assert_near(solid.inertia[k], 2.0 / 60 - 2.0 / 6 / 16, 1e-16);
    assert_near(solid.inertia[3 + k], -(1.0 / 120 - 1.0 / 6 / 16), 1e-16);
  }
}

static void test_flat(void **state) {
  (void)state;
  double vertices[12] = {0, 0, 7, 1, 0, 7, 1, 1, 7, 0, 1, 7};
  int32_t faces[6] = {0, 1, 2, 0, 2, 3};
  tbi_mesh mesh = {vertices, faces, 4, 2};
  tbi_solid solid;
  tabi_error error = {0};
  assert_int_equal(tbi_mesh_solid(&mesh, "m", (tabi_place){"f", 1}, &solid, &error),
                   TABI_ERR_MODEL);
  assert_string_equal(error.message, "mesh 'm': volume is zero; give <inertial>");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_plain_paths),    cmocka_unit_test(test_foreign_paths),
      cmocka_unit_test(test_python_package), cmocka_unit_test(test_allowed),
      cmocka_unit_test(test_links),          cmocka_unit_test(test_package_folder),
      cmocka_unit_test(test_packages),       cmocka_unit_test(test_noted_packages),
      cmocka_unit_test(test_tails),          cmocka_unit_test(test_each_mesh_once),
      cmocka_unit_test(test_solid),          cmocka_unit_test(test_solid_products),
      cmocka_unit_test(test_flat),
  };
  return cmocka_run_group_tests(tests, scratch_begin, scratch_end);
}

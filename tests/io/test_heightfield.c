/* test_heightfield.c - the same heights from text and from pictures, where they lie, and what is
 * refused. */
#include "io/mesh/heightfield.h"
#include "support/near.h"

#include <string.h>

static const tabi_place place = {"scene.yaml", 3};

static tabi_status parse(const void *bytes, size_t size, double height, tbi_mesh *mesh,
                         tabi_error *err) {
  const tbi_heightfield field = {
      {4, 2},
      height
  };
  return tbi_heightfield_parse(bytes, size, &field, "h", place, mesh, err);
}

static const double *vertex_of(const tbi_mesh *mesh, int32_t i) {
  return mesh->vertices + 3 * (size_t)i;
}

static const double *corner_of(const tbi_mesh *mesh, int32_t face, int k) {
  return vertex_of(mesh, mesh->faces[3 * (size_t)face + (size_t)k]);
}

/* three columns, two rows: 0 1 2 at y = 1, and 3 4 5 at y = -1 */
static void check(const void *bytes, size_t size, double height) {
  tbi_mesh mesh;
  tabi_error err = {0};
  if (parse(bytes, size, height, &mesh, &err) != TABI_OK) fail_msg("%s", err.message);
  assert_int_equal(mesh.nvertex, 6);
  assert_int_equal(mesh.nface, 4);
  for (int i = 0; i < 6; ++i) {
    assert_near(vertex_of(&mesh, i)[0], -2 + 2 * (i % 3), 1e-15);
    assert_near(vertex_of(&mesh, i)[1], i < 3 ? 1 : -1, 1e-15);
    assert_near(vertex_of(&mesh, i)[2], i, 1e-12);
  }
  for (int32_t f = 0; f < mesh.nface; ++f) {
    const double *a = corner_of(&mesh, f, 0);
    const double *b = corner_of(&mesh, f, 1);
    const double *c = corner_of(&mesh, f, 2);
    double twice = (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0]);
    assert_near(twice, 4, 1e-12); /* half a cell each, and up */
  }
  tbi_mesh_free(&mesh);
}

static void test_forms(void **state) {
  (void)state;
  const char *const texts[] = {"0 1 2\n3 4 5\n", "# map\n0, 1, 2\n\n3;4;5",
                               "0\t1\t2 # top\r\n3 4 5\r\n"};
  for (size_t i = 0; i < sizeof texts / sizeof *texts; ++i)
    check(texts[i], strlen(texts[i]), 1);
  const char plain[] = "P2\n# made by hand\n3 2\n5\n0 1 2\n3 4 5\n";
  check(plain, strlen(plain), 5);
  const unsigned char raw8[] = {'P', '5', '\n', '3', ' ', '2', '\n', '5', '\n', 0, 1, 2, 3, 4, 5};
  check(raw8, sizeof raw8, 5);
  const char head[] = "P5 3 2 50000\n";
  unsigned char raw16[sizeof head - 1 + 12];
  memcpy(raw16, head, sizeof head - 1);
  for (int i = 0; i < 6; ++i) {
    raw16[sizeof head - 1 + 2 * (size_t)i] = (unsigned char)(10000 * i >> 8);
    raw16[sizeof head + 2 * (size_t)i] = (unsigned char)(10000 * i & 255);
  }
  check(raw16, sizeof raw16, 5);
}

static void refuse(const char *text, const char *expected) {
  tbi_mesh mesh;
  tabi_error err = {0};
  assert_int_equal(parse(text, strlen(text), 1, &mesh, &err), TABI_ERR_PARSE);
  assert_string_equal(err.message, expected);
  assert_int_equal(err.line, 3);
  assert_null(mesh.vertices);
}

static void test_refused(void **state) {
  (void)state;
  refuse("", "height field 'h': 0 x 0 heights; it needs 2 x 2 at least");
  refuse("1 2 3\n", "height field 'h': 3 x 1 heights; it needs 2 x 2 at least");
  refuse("1\n2\n", "height field 'h': 1 x 2 heights; it needs 2 x 2 at least");
  refuse("1 2 3\n4 5\n", "height field 'h': line 2 has 2 numbers, the first row 3");
  refuse("1 2\n3 x\n", "height field 'h': line 2: 'x' is not a finite number");
  refuse("1 2\n3 nan\n", "height field 'h': line 2: 'nan' is not a finite number");
  refuse("P2\n2 2\n", "height field 'h': PGM needs a width, a height (32767 at most) and a largest "
                      "value (65535 at most)");
  refuse("P5 2 2 99999\n", "height field 'h': PGM needs a width, a height (32767 at most) and a "
                           "largest value (65535 at most)");
  refuse("P5 2 2 255\nab", "height field 'h': PGM ends early, or a value is above its largest one");
  refuse("P2 2 2 3 1 2 3 4\n", "height field 'h': PGM ends early, or a value is above its largest "
                               "one");
  refuse("P5 30000 30000 255\n",
         "height field 'h': PGM ends early, or a value is above its largest "
         "one");
}

/* Without a size, neighbours are 1 m apart. */
static void test_plain_size(void **state) {
  (void)state;
  const tbi_heightfield field = {.height = 1};
  const char text[] = "0 0 0 0\n0 0 0 0\n0 0 0 0\n";
  tbi_mesh mesh;
  assert_int_equal(tbi_heightfield_parse(text, strlen(text), &field, "h", place, &mesh, NULL),
                   TABI_OK);
  assert_near(mesh.vertices[0], -1.5, 0);
  assert_near(mesh.vertices[1], 1, 0);
  assert_near(vertex_of(&mesh, 11)[0], 1.5, 0);
  assert_near(vertex_of(&mesh, 11)[1], -1, 0);
  tbi_mesh_free(&mesh);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_forms),
      cmocka_unit_test(test_refused),
      cmocka_unit_test(test_plain_size),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

/* test_scene_description.c - descriptions hold every link, shape, mesh and joint of a scene; robots
 * have their feet and their weight, links the boxes of their inertia. */
#include "geometry.h"
#include "pile.h"
#include "scene_description.h"
#include "scene_meshes.h"
#include "support/load.h"
#include "support/near.h"
#include "support/rng.h"
#include "support/scratch.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Numbers under a key, to seven digits. */
static void check_numbers(const json_t *object, const char *key, const double *expected,
                          size_t count) {
  json_t *array = json_object_get(object, key);
  if (json_array_size(array) != count) fail_msg("%s has %zu numbers", key, json_array_size(array));
  for (size_t i = 0; i < count; ++i)
    assert_near_rel(json_number_value(json_array_get(array, i)), expected[i], 1e-6);
}

static void check_shape(const json_t *json, const tabi_shape_def *s) {
  static const char *const types[] = {"plane", "sphere", "capsule", "cylinder", "box",
                                      "mesh",  "mesh",   "mesh",    "ellipsoid"};
  const double half[3] = {s->size[0] / 2, s->size[1] / 2, s->size[2] / 2};
  const double round[2] = {s->size[0], s->size[1] / 2};
  bool is_box = s->type == TABI_SHAPE_BOX;
  bool is_ellipsoid = s->type == TABI_SHAPE_ELLIPSOID;
  size_t nsize = is_box || is_ellipsoid ? 3 : 0;
  if (s->type == TABI_SHAPE_SPHERE) nsize = 1;
  if (s->type == TABI_SHAPE_CAPSULE || s->type == TABI_SHAPE_CYLINDER) nsize = 2;
  assert_string_equal(json_string_value(json_object_get(json, "type")), types[s->type]);
  assert_int_equal(json_integer_value(json_object_get(json, "link")), s->link);
  check_numbers(json, "pos", s->pos, 3);
  check_numbers(json, "quat", s->quat, 4);
  check_numbers(json, "size", is_box ? half : is_ellipsoid ? s->size : round, nsize);
  assert_int_equal(json_is_true(json_object_get(json, "collides")), s->collides);
  if (s->visible) assert_true(json_is_true(json_object_get(json, "visible")));
}

/* The bytes of a text in base64; *size tells how many. */
static unsigned char *decode(const json_t *text, size_t *size) {
  static const char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  assert_true(json_is_string(text) && json_string_length(text) % 4 == 0);
  unsigned char *bytes = malloc(json_string_length(text) + 1);
  assert_non_null(bytes);
  uint32_t group = 0;
  int bits = 0;
  *size = 0;
  for (const char *c = json_string_value(text); *c && *c != '='; ++c) {
    const char *letter = strchr(letters, *c);
    assert_non_null(letter);
    group = group << 6 | (uint32_t)(letter - letters);
    bits += 6;
    if (bits < 8) continue;
    bits -= 8;
    bytes[(*size)++] = (unsigned char)(group >> bits);
  }
  return bytes;
}

/* A mesh of a description, as numbers. */
typedef struct numbers {
  float *vertices;
  uint32_t *triangles;
  size_t nvertex, ntriangle;
} numbers;

/* Indices of more than 65 536 vertices have four bytes, others two. */
static numbers numbers_of(const json_t *json) {
  size_t nbyte = 0;
  numbers n = {.vertices = (float *)decode(json_object_get(json, "vertices"), &nbyte)};
  assert_int_equal(nbyte % (3 * sizeof(float)), 0);
  n.nvertex = nbyte / (3 * sizeof(float));
  unsigned char *bytes = decode(json_object_get(json, "triangles"), &nbyte);
  size_t size = n.nvertex > 65536 ? 4 : 2;
  assert_int_equal(nbyte % (3 * size), 0);
  n.ntriangle = nbyte / (3 * size);
  n.triangles = calloc(3 * n.ntriangle + 1, sizeof *n.triangles);
  assert_non_null(n.triangles);
  for (size_t i = 0; i < nbyte; ++i)
    n.triangles[i / size] |= (uint32_t)bytes[i] << 8 * (i % size);
  for (size_t i = 0; i < 3 * n.ntriangle; ++i)
    assert_true(n.triangles[i] < n.nvertex);
  free(bytes);
  return n;
}

static void numbers_free(numbers *n) {
  free(n->vertices);
  free(n->triangles);
}

/* The same triangles in the same order, to single precision. */
static void check_mesh(const json_t *json, const tabi_mesh_def *mesh) {
  numbers n = numbers_of(json);
  assert_true(mesh->nface > 0);
  assert_int_equal(n.ntriangle, mesh->nface);
  for (size_t i = 0; i < 3 * n.ntriangle; ++i) {
    for (size_t k = 0; k < 3; ++k)
      assert_near((double)n.vertices[3 * (size_t)n.triangles[i] + k],
                  (double)(float)mesh->vertices[3 * (size_t)mesh->faces[i] + k], 0);
  }
  numbers_free(&n);
}

/* Every moving body is to be seen by some shape, if it has any. */
static void check_seen(const run *r, const json_t *description) {
  for (int32_t link = 0; link < tabi_model_nlink(r->model); ++link) {
    int has = 0, seen = 0;
    for (int32_t i = 0; i < tabi_model_nshape(r->model); ++i) {
      int32_t other = tabi_model_shape(r->model, i).link;
      if (other == TABI_WORLD || tabi_model_link_body(r->model, other) == TABI_WORLD) continue;
      if (tabi_model_link_body(r->model, other) != tabi_model_link_body(r->model, link)) continue;
      ++has;
      seen += json_is_true(json_object_get(description_item(description, "shapes", i), "visible"));
    }
    assert_true(seen > 0 || has == 0);
  }
}

static void check_description(run *r) {
  json_t *description = description_of(r);
  int32_t moving = 0;
  assert_int_equal(description_length(description, "links"), tabi_model_nlink(r->model));
  assert_int_equal(description_length(description, "shapes"), tabi_model_nshape(r->model));
  assert_int_equal(description_length(description, "meshes"), tabi_model_nmesh(r->model));
  assert_int_equal(description_length(description, "robots"), tabi_scene_nrobot(r->scene));
  for (int32_t i = 0; i < tabi_model_nlink(r->model); ++i) {
    tabi_link_def link = tabi_model_link(r->model, i);
    assert_string_equal(
        json_string_value(json_object_get(description_item(description, "links", i), "name")),
        link.name);
    check_numbers(description_item(description, "links", i), "com", link.com, 3);
  }
  for (int32_t i = 0; i < tabi_model_nshape(r->model); ++i) {
    tabi_shape_def shape = tabi_model_shape(r->model, i);
    check_shape(description_item(description, "shapes", i), &shape);
  }
  for (int32_t i = 0; i < tabi_model_nmesh(r->model); ++i) {
    tabi_mesh_def mesh = tabi_model_mesh(r->model, i);
    check_mesh(description_item(description, "meshes", i), &mesh);
  }
  for (int32_t i = 0; i < tabi_model_njoint(r->model); ++i)
    moving += tabi_model_joint(r->model, i).type != TABI_JOINT_FIXED;
  assert_int_equal(description_length(description, "joints"), moving);
  check_seen(r, description);
  json_decref(description);
}

static void descriptions_hold_all(void **state) {
  (void)state;
  static const char *const names[] = {"walk",     "bowl",  "terrain",        "biped_walk",
                                      "four_bar", "stack", "parallel_ankles"};
  for (size_t i = 0; i < sizeof names / sizeof *names; ++i) {
    run r = run_shipped(names[i]);
    check_description(&r);
    run_end(&r);
  }
  for (uint64_t seed = 1; seed <= 5; ++seed) {
    char text[PILE_TEXT];
    pile_text(seed, 12, 2e-3, "", text);
    run r = run_text(text);
    check_description(&r);
    run_end(&r);
  }
}

static bool offers(const json_t *description, const char *method) {
  json_t *contacts = json_object_get(json_object_get(description, "settings"), "contacts");
  for (size_t i = 0; i < json_array_size(contacts); ++i) {
    if (strcmp(json_string_value(json_array_get(contacts, i)), method) == 0) return true;
  }
  return false;
}

/* All methods but gait, which the scene has no section for; of the variants only the present one.
 */
static void methods_to_choose_from(void **state) {
  (void)state;
  static const char text[] = "contact: {model: cone-paper}\n"
                             "bodies: [{name: a, mass: 1, shape: {sphere: 1}}]\n";
  run r = run_text(text);
  json_t *description = description_of(&r);
  assert_true(offers(description, "exact") && offers(description, "cone-paper"));
  assert_false(offers(description, "gait") || offers(description, "lcp-paper"));
  json_decref(description);
  run_end(&r);
}

static void robots_have_feet_and_weight(void **state) {
  (void)state;
  run r = run_shipped("walk");
  json_t *description = description_of(&r);
  json_t *robot = description_item(description, "robots", 0);
  json_t *feet = json_object_get(robot, "feet");
  assert_int_equal(json_array_size(feet), 2);
  assert_int_equal(json_integer_value(json_array_get(feet, 0)),
                   tabi_model_find_link(r.model, "robot/l_foot"));
  assert_int_equal(json_integer_value(json_array_get(feet, 1)),
                   tabi_model_find_link(r.model, "robot/r_foot"));
  assert_near_rel(json_number_value(json_object_get(robot, "weight")),
                  9.81 * tabi_model_mass(r.model), 1e-6);
  // soles and ground have 0.7; hands have the default, 0.5
  json_t *settings = json_object_get(description, "settings");
  assert_near(json_number_value(json_object_get(settings, "friction")), 0.7, 1e-6);
  assert_string_equal(json_string_value(json_object_get(settings, "contact")), "cone");
  json_decref(description);
  run_end(&r);
}

/* A solid box turned by q, which has unit length. */
static void box_inertia(double mass, const double q[4], const double edge[3], double inertia[6]) {
  static const int rows[6] = {0, 1, 2, 0, 0, 1}, columns[6] = {0, 1, 2, 1, 2, 2};
  double m[3][3];
  for (int i = 0; i < 3; ++i) {
    int j = (i + 1) % 3, k = (i + 2) % 3;
    m[i][i] = 1 - 2 * (q[1 + j] * q[1 + j] + q[1 + k] * q[1 + k]);
    m[i][j] = 2 * (q[1 + i] * q[1 + j] - q[0] * q[1 + k]);
    m[i][k] = 2 * (q[1 + i] * q[1 + k] + q[0] * q[1 + j]);
  }
  for (int e = 0; e < 6; ++e) {
    inertia[e] = 0;
    for (int axis = 0; axis < 3; ++axis) {
      double b = edge[(axis + 1) % 3], c = edge[(axis + 2) % 3];
      inertia[e] += m[rows[e]][axis] * m[columns[e]][axis] * mass * (b * b + c * c) / 12;
    }
  }
}

/* A box of random edges, turned: the box made of its inertia has the same inertia and edges. */
static void boxes_have_the_inertia(void **state) {
  (void)state;
  rng r = rng_make(11);
  for (int trial = 0; trial < 200; ++trial) {
    double edge[3], q[4], inertia[6];
    tabi_link_def link = tabi_link_def_default();
    link.mass = rng_between(&r, 0.1, 10);
    for (int i = 0; i < 3; ++i)
      edge[i] = rng_between(&r, 0.1, 1);
    rng_fill(&r, 1, q, 4);
    double size = sqrt(q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3]);
    for (int i = 0; i < 4; ++i)
      q[i] /= size;
    box_inertia(link.mass, q, edge, link.inertia);
    tbi_inertia_box box = tbi_inertia_box_of(&link);
    const double found[3] = {2 * box.half[0], 2 * box.half[1], 2 * box.half[2]};
    box_inertia(link.mass, box.quat, found, inertia);
    assert_near_n(inertia, link.inertia, 6, 1e-12);
    assert_near_rel(found[0] * found[1] * found[2], edge[0] * edge[1] * edge[2], 1e-9);
  }
  tabi_link_def none = tabi_link_def_default();
  tbi_inertia_box box = tbi_inertia_box_of(&none);
  assert_true(box.half[0] == 0 && box.half[1] == 0 && box.half[2] == 0);
}

/* m, of gentle hills */
static double height_at(double x, double y) { return 0.3 * sin(0.7 * x) * cos(0.5 * y); }

/* Fine ground of 400 x 400 cells: as many triangles as there may be, all of them of its corners, to
 * the same extent, and on the old surface. */
static void large_meshes_become_coarse(void **state) {
  (void)state;
  enum { SIDE = 401 };
  enum { ROOM = SIDE * SIDE * 8 + 1 };
  char *heights = malloc(ROOM);
  assert_non_null(heights);
  int used = 0;
  for (int i = 0; i < SIDE * SIDE; ++i) {
    int column = i % SIDE - SIDE / 2;
    int row = SIDE / 2 - i / SIDE;
    used += snprintf(heights + used, (size_t)(ROOM - used), "%.4f%c",
                     height_at(column / 20.0, row / 20.0), i % SIDE == SIDE - 1 ? '\n' : ' ');
  }
  (void)scratch_write("hills.txt", heights, (size_t)used);
  free(heights);
  const char *path =
      scratch_text("hills.yaml",
                   "bodies:\n  - {name: hills, fixed: true, shape: {heightfield: {file: hills.txt, "
                   "size: [20, 20]}}}\n");
  tabi_scene *scene = load_scene(path, NULL);
  run r = {scene, tabi_scene_model(scene), NULL};
  assert_true(tabi_model_mesh(r.model, 0).nface == 2 * (SIDE - 1) * (SIDE - 1));
  json_t *description = description_of(&r);
  numbers n = numbers_of(description_item(description, "meshes", 0));
  assert_in_range(n.ntriangle, 150000, TBI_MAX_TRIANGLES);
  double low = 0, high = 0;
  for (size_t i = 0; i < n.nvertex; ++i) {
    const float *p = n.vertices + 3 * i;
    // heights have four digits
    assert_near((double)p[2], height_at((double)p[0], (double)p[1]), 1e-4);
    low = fmin(low, (double)p[0]);
    high = fmax(high, (double)p[0]);
  }
  assert_near(low, -10, 1e-3);
  assert_near(high, 10, 1e-3);
  numbers_free(&n);
  json_decref(description);
  run_end(&r);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(descriptions_hold_all),       cmocka_unit_test(methods_to_choose_from),
      cmocka_unit_test(robots_have_feet_and_weight), cmocka_unit_test(boxes_have_the_inertia),
      cmocka_unit_test(large_meshes_become_coarse),
  };
  return cmocka_run_group_tests(tests, scratch_begin, scratch_end);
}

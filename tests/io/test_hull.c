/* test_hull.c - convex hulls: closed, outward, around all points, and what has none. */
#include "io/mesh/hull.h"
#include "support/near.h"
#include "support/rng.h"

#include "math/vec.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const tabi_place nowhere = {NULL, 0};

static tbi_mesh hull_of(const double *points, int32_t npoint) {
  tbi_mesh hull;
  tabi_error err;
  tabi_status status = tbi_hull_mesh(points, npoint, "points", nowhere, &hull, &err);
  if (status != TABI_OK) fail_msg("%s", err.message);
  return hull;
}

static v3 corner_of(const tbi_mesh *hull, int32_t face, int k) {
  return v3_load(hull->vertices + 3 * (size_t)hull->faces[3 * (size_t)face + (size_t)k]);
}

static v3 normal_of(const tbi_mesh *hull, int32_t face) {
  v3 p = corner_of(hull, face, 0);
  return v3_cross(v3_sub(corner_of(hull, face, 1), p), v3_sub(corner_of(hull, face, 2), p));
}

static int32_t count_edge(const tbi_mesh *hull, int32_t from, int32_t to) {
  int32_t count = 0;
  for (int32_t i = 0; i < 3 * hull->nface; ++i) {
    int32_t next = i % 3 == 2 ? i - 2 : i + 1;
    count += hull->faces[i] == from && hull->faces[next] == to;
  }
  return count;
}

/* every edge is met once each way: a closed surface that is oriented the same way everywhere */
static void check_closed(const tbi_mesh *hull) {
  assert_int_equal(hull->nvertex - 3 * hull->nface / 2 + hull->nface, 2);
  for (int32_t i = 0; i < 3 * hull->nface; ++i) {
    int32_t next = i % 3 == 2 ? i - 2 : i + 1;
    assert_int_equal(count_edge(hull, hull->faces[i], hull->faces[next]), 1);
    assert_int_equal(count_edge(hull, hull->faces[next], hull->faces[i]), 1);
  }
}

/* no point is beyond a face */
static void check_around(const tbi_mesh *hull, const double *points, int32_t npoint, double size) {
  for (int32_t i = 0; i < hull->nface; ++i) {
    v3 n = normal_of(hull, i);
    double area = v3_norm(n);
    if (area < 1e-9 * size * size) continue;
    for (int32_t k = 0; k < npoint; ++k) {
      v3 away = v3_sub(v3_load(points + 3 * (size_t)k), corner_of(hull, i, 0));
      assert_true(v3_dot(n, away) / area <= 1e-9 * size);
    }
  }
}

/* six times the volume */
static double volume_of(const tbi_mesh *hull) {
  tbi_solid solid;
  assert_int_equal(tbi_mesh_solid(hull, "hull", nowhere, &solid, NULL), TABI_OK);
  double sum = 0;
  for (int32_t i = 0; i < hull->nface; ++i)
    sum += v3_dot(corner_of(hull, i, 0), v3_cross(corner_of(hull, i, 1), corner_of(hull, i, 2)));
  /* outward faces make it positive, which tbi_mesh_solid does not ask for */
  assert_true(sum > 0);
  return solid.volume;
}

static void test_box(void **state) {
  (void)state;
  /* corners, and points inside, on faces and on edges */
  double points[3 * 27];
  size_t n = 0;
  for (int x = 0; x < 3; ++x) {
    for (int y = 0; y < 3; ++y) {
      for (int z = 0; z < 3; ++z) {
        points[n++] = 0.1 * x;
        points[n++] = 0.2 * y;
        points[n++] = 5 + 0.3 * z;
      }
    }
  }
  tbi_mesh hull = hull_of(points, 27);
  check_around(&hull, points, 27, 1);
  assert_near_rel(volume_of(&hull), 0.2 * 0.4 * 0.6, 1e-12);
  // each corner of the hull is one of the points, to the last bit
  for (int32_t i = 0; i < hull.nvertex; ++i) {
    bool found = false;
    for (size_t k = 0; k < 81 && !found; k += 3) {
      v3 away = v3_sub(v3_load(hull.vertices + 3 * (size_t)i), v3_load(points + k));
      found = v3_dot(away, away) == 0;
    }
    assert_true(found);
  }
  tbi_mesh_free(&hull);
}

static void test_random_points(void **state) {
  (void)state;
  for (uint64_t seed = 1; seed <= 60; ++seed) {
    rng r = rng_make(seed);
    double points[3 * 200];
    int32_t npoint = 4 + rng_below(&r, 197);
    double size = pow(10, rng_between(&r, -4, 3));
    double far[3];
    rng_fill(&r, 10 * size, far, 3);
    for (int32_t i = 0; i < npoint; ++i) {
      rng_direction(&r, points + 3 * (size_t)i, 3);
      double inside = i < 4 ? 1 : rng_unit(&r);
      for (size_t k = 0; k < 3; ++k)
        points[3 * (size_t)i + k] = far[k] + size * inside * points[3 * (size_t)i + k];
    }
    tbi_mesh hull = hull_of(points, npoint);
    check_closed(&hull);
    check_around(&hull, points, npoint, 10 * size);
    (void)volume_of(&hull);
    tbi_mesh_free(&hull);
  }
}

static void refuse(const double *points, int32_t npoint, const char *part) {
  tbi_mesh hull;
  tabi_error err;
  tabi_place place = {"robot.urdf", 7};
  assert_int_equal(tbi_hull_mesh(points, npoint, "sole", place, &hull, &err), TABI_ERR_MODEL);
  assert_non_null(strstr(err.message, part));
  assert_int_equal(err.line, 7);
  assert_null(hull.vertices);
  assert_null(hull.faces);
}

static int compare_points(const void *a, const void *b) { return memcmp(a, b, 3 * sizeof(double)); }

/* Of many points most are left out before; the corners are those of the outer ones alone. */
static void test_many_points(void **state) {
  (void)state;
  const int32_t npoint = 60000;
  double *points = malloc(3 * (size_t)npoint * sizeof *points);
  double *outer = malloc(3 * (size_t)npoint * sizeof *outer);
  int32_t nouter = 0;
  rng r = rng_make(7);
  assert_true(points && outer);
  for (int32_t i = 0; i < npoint; ++i) {
    v3 p;
    do {
      p = v3_make(rng_between(&r, -1, 1), rng_between(&r, -1, 1), rng_between(&r, -1, 1));
    } while (v3_norm(p) > 1);
    v3_store(p, points + 3 * (size_t)i);
    if (v3_norm(p) > 0.96) v3_store(p, outer + 3 * (size_t)nouter++);
  }
  assert_true(nouter < 20000);
  tbi_mesh all = hull_of(points, npoint);
  tbi_mesh shell = hull_of(outer, nouter);
  assert_int_equal(all.nvertex, shell.nvertex);
  assert_int_equal(all.nface, shell.nface);
  qsort(all.vertices, (size_t)all.nvertex, 3 * sizeof(double), compare_points);
  qsort(shell.vertices, (size_t)shell.nvertex, 3 * sizeof(double), compare_points);
  assert_memory_equal(all.vertices, shell.vertices, 3 * (size_t)all.nvertex * sizeof(double));
  tbi_mesh_free(&all);
  tbi_mesh_free(&shell);
  free(points);
  free(outer);
}

static void test_flat(void **state) {
  (void)state;
  rng r = rng_make(5);
  double points[3 * 50] = {0};
  refuse(points, 0, "flat");
  rng_fill(&r, 1, points, 150);
  refuse(points, 3, "flat");
  // a plane that is not one of the axes', with the noise of single precision
  for (size_t i = 0; i < 50; ++i) {
    points[3 * i + 2] = 0.3 * points[3 * i] - 0.7 * points[3 * i + 1];
    for (size_t k = 0; k < 3; ++k)
      points[3 * i + k] = (double)(float)points[3 * i + k];
  }
  refuse(points, 50, "'sole': its 50 points are flat");
  for (size_t i = 0; i < 50; ++i)
    v3_store(v3_scale((double)i, v3_make(1, 1, 1)), points + 3 * i);
  refuse(points, 50, "flat");
  for (size_t i = 0; i < 150; ++i)
    points[i] = 2;
  refuse(points, 50, "flat");
  points[31] = NAN;
  refuse(points, 50, "not finite");
  points[31] = 1e200;
  refuse(points, 50, "not finite");
}

/* nothing on stdout or stderr, even for what qhull complains of at length */
static void test_silence(void **state) {
  (void)state;
  FILE *caught = tmpfile();
  assert_non_null(caught);
  (void)fflush(stdout);
  (void)fflush(stderr);
  int out = dup(STDOUT_FILENO);
  int err = dup(STDERR_FILENO);
  assert_true(dup2(fileno(caught), STDOUT_FILENO) >= 0);
  assert_true(dup2(fileno(caught), STDERR_FILENO) >= 0);
  double points[12] = {0, 0, 0, 1, 0, 0, 0, 1, 0, 1, 1, 0};
  tbi_mesh hull;
  tabi_status flat = tbi_hull_mesh(points, 4, "flat", nowhere, &hull, NULL);
  points[11] = 1;
  tabi_status solid = tbi_hull_mesh(points, 4, "solid", nowhere, &hull, NULL);
  (void)fflush(stdout);
  (void)fflush(stderr);
  assert_true(dup2(out, STDOUT_FILENO) >= 0);
  assert_true(dup2(err, STDERR_FILENO) >= 0);
  (void)close(out);
  (void)close(err);
  assert_int_equal(flat, TABI_ERR_MODEL);
  assert_int_equal(solid, TABI_OK);
  assert_int_equal(fseek(caught, 0, SEEK_END), 0);
  assert_int_equal(ftell(caught), 0);
  (void)fclose(caught);
  assert_int_equal(hull.nvertex, 4);
  assert_int_equal(hull.nface, 4);
  tbi_mesh_free(&hull);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_box),         cmocka_unit_test(test_random_points),
      cmocka_unit_test(test_many_points), cmocka_unit_test(test_flat),
      cmocka_unit_test(test_silence),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

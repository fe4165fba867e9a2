/* test_hull_cache.c - a hull has the same bits from the cache, without it and beside a damaged one.
 */
#include "io/mesh/hull.h"
#include "support/near.h"
#include "support/scratch.h"

#include <dirent.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { NPOINT = 500 };
static const tabi_place place = {"r.urdf", 3};
static double points[3 * NPOINT];

/* Points on a spiral around a ball, and some inside it. */
static int make_points(void **state) {
  for (int i = 0; i < NPOINT; ++i) {
    double z = 2 * (i + 0.5) / NPOINT - 1;
    double radius = i % 5 == 0 ? 0.3 : 1;
    double r = sqrt(1 - z * z) * radius;
    double *point = points + 3 * (size_t)i;
    point[0] = r * cos(2.4 * i);
    point[1] = r * sin(2.4 * i);
    point[2] = z * radius;
  }
  return scratch_begin(state);
}

static tbi_mesh make_hull(void) {
  tbi_mesh hull;
  tabi_error err = {0};
  if (tbi_hull_mesh(points, NPOINT, "ball", place, &hull, &err) != TABI_OK)
    fail_msg("%s", err.message);
  return hull;
}

static void check_same(const tbi_mesh *expected) {
  tbi_mesh hull = make_hull();
  assert_int_equal(hull.nvertex, expected->nvertex);
  assert_int_equal(hull.nface, expected->nface);
  assert_memory_equal(hull.vertices, expected->vertices, 3 * (size_t)hull.nvertex * sizeof(double));
  assert_memory_equal(hull.faces, expected->faces, 3 * (size_t)hull.nface * sizeof(int32_t));
  tbi_mesh_free(&hull);
}

/* How many files there are, and the path of the last one. */
static int list_entries(const char *folder, char *path, size_t size) {
  int count = 0;
  DIR *dir = opendir(folder);
  const struct dirent *entry;
  while (dir && (entry = readdir(dir))) {
    if (entry->d_name[0] == '.') continue;
    (void)snprintf(path, size, "%s/%s", folder, entry->d_name);
    ++count;
  }
  if (dir) (void)closedir(dir);
  return count;
}

static size_t read_entry(const char *path, unsigned char *bytes, size_t room) {
  FILE *file = fopen(path, "rb");
  assert_non_null(file);
  size_t size = fread(bytes, 1, room, file);
  (void)fclose(file);
  return size;
}

static void write_entry(const char *path, const unsigned char *bytes, size_t size) {
  FILE *file = fopen(path, "wb");
  assert_non_null(file);
  assert_int_equal(fwrite(bytes, 1, size, file), size);
  (void)fclose(file);
}

static void test_same_bits(void **state) {
  (void)state;
  static unsigned char bytes[65536];
  static unsigned char again[65536];
  char path[2048] = "";
  (void)setenv("TABI_CACHE", "off", 1);
  tbi_mesh expected = make_hull();
  const char *folder = scratch_path("some/deep/cache");
  (void)setenv("TABI_CACHE", folder, 1);
  check_same(&expected);
  assert_int_equal(list_entries(folder, path, sizeof path), 1);
  check_same(&expected);
  size_t size = read_entry(path, bytes, sizeof bytes);
  // a byte turned over, a cut, nothing at all: the hull stays, and the entry is made anew
  for (size_t at = 0; at <= size; at += 1 + at / 4) {
    if (at < size) bytes[at] ^= 0x41;
    write_entry(path, bytes, at % 3 == 2 ? at : size + (at == size));
    if (at < size) bytes[at] ^= 0x41;
    check_same(&expected);
    assert_int_equal(list_entries(folder, path, sizeof path), 1);
    assert_int_equal(read_entry(path, again, sizeof again), size);
    // padding of the head is not read
    assert_memory_equal(again, bytes, size);
  }
  // other points are another entry
  points[0] += 1e-9;
  tbi_mesh other = make_hull();
  points[0] -= 1e-9;
  assert_int_equal(list_entries(folder, path, sizeof path), 2);
  tbi_mesh_free(&other);
  tbi_mesh_free(&expected);
}

static void test_no_folder(void **state) {
  (void)state;
  char path[2048];
  (void)setenv("TABI_CACHE", "off", 1);
  tbi_mesh expected = make_hull();
  // a file stands where the folder should be, and a pipe where an entry should be
  (void)setenv("TABI_CACHE", scratch_text("file", "x"), 1);
  check_same(&expected);
  (void)setenv("TABI_CACHE", "/proc/no/such", 1);
  check_same(&expected);
  const char *folder = scratch_path("pipes");
  (void)setenv("TABI_CACHE", folder, 1);
  check_same(&expected);
  assert_int_equal(list_entries(folder, path, sizeof path), 1);
  assert_int_equal(unlink(path), 0);
  assert_int_equal(mkfifo(path, 0600), 0);
  check_same(&expected);
  // the usual folders
  (void)unsetenv("TABI_CACHE");
  (void)setenv("XDG_CACHE_HOME", scratch_path("xdg"), 1);
  check_same(&expected);
  assert_int_equal(list_entries(scratch_path("xdg/tabi"), path, sizeof path), 1);
  (void)unsetenv("XDG_CACHE_HOME");
  (void)setenv("HOME", scratch_path("home"), 1);
  check_same(&expected);
  assert_int_equal(list_entries(scratch_path("home/.cache/tabi"), path, sizeof path), 1);
  tbi_mesh_free(&expected);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_same_bits),
      cmocka_unit_test(test_no_folder),
  };
  return cmocka_run_group_tests(tests, make_points, scratch_end);
}

/* test_export.c - what `tabi export` writes is what tabi_recording and tabi_signals read from the
 * same log, to the last bit: CSV by its digits, HDF5 by the library that others read it with. */
#include "support/scratch.h"
#include "tabi/tabi_record.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

static const char scene_path[] = TABI_SOURCE_DIR "/tests/export/data/pair.yaml";

/* A log that was written for these tests, read back. */
typedef struct fixture {
  tabi_recording *log;
  tabi_recording_info info;
  tabi_scene *scene;
  tabi_signals *signals;
  int32_t nsignal;
  double *value;
} fixture;

static fixture f;

static void run_tabi(const char *const *argument) {
  pid_t child = fork();
  assert_true(child >= 0);
  if (child == 0) {
    (void)execv(TABI_COMMAND, (char *const *)argument);
    _exit(127);
  }
  int status = 0;
  assert_int_equal(waitpid(child, &status, 0), child);
  assert_true(WIFEXITED(status));
  assert_int_equal(WEXITSTATUS(status), 0);
}

static const char *export_to(const char *name) {
  const char *path = scratch_path(name);
  run_tabi((const char *const[]){"tabi", "export", scratch_path("pair.tabi"), "-o", path, NULL});
  return path;
}

static int begin(void **state) {
  tabi_error err = {0};
  (void)scratch_begin(state);
  const char *path = scratch_path("pair.tabi");
  run_tabi((const char *const[]){"tabi", "run", scene_path, "--log", path, NULL});
  f.log = tabi_recording_open(path, &err);
  assert_non_null(f.log);
  f.info = tabi_recording_get_info(f.log);
  f.scene = tabi_recording_scene(f.log, NULL, &err);
  assert_non_null(f.scene);
  f.signals = tabi_signals_create(f.scene, &err);
  assert_non_null(f.signals);
  f.nsignal = tabi_signals_count(f.signals);
  f.value = calloc((size_t)f.nsignal, sizeof *f.value);
  assert_non_null(f.value);
  return 0;
}

static int end(void **state) {
  free(f.value);
  tabi_signals_destroy(f.signals);
  tabi_scene_destroy(f.scene);
  tabi_recording_close(f.log);
  return scratch_end(state);
}

static tabi_sample sample_at(int64_t index) {
  tabi_sample sample;
  assert_int_equal(tabi_recording_sample(f.log, index, &sample, NULL), TABI_OK);
  tabi_signals_eval(f.signals, &sample, f.value);
  return sample;
}

static bool same(double a, double b) { return (isnan(a) && isnan(b)) || a == b; }

/* -- CSV */

/* Reads the row as numbers in the order of the signals, of which time is the first. */
static void check_row(const char *row) {
  for (int32_t i = 0; i < f.nsignal; ++i) {
    char *after = NULL;
    bool empty = *row == ',' || *row == '\n';
    double read = empty ? (double)NAN : strtod(row, &after);
    if (!same(read, f.value[i])) fail_msg("%s", tabi_signals_get(f.signals, i).name);
    row = empty ? row : after;
    assert_int_equal(*row, i + 1 < f.nsignal ? ',' : '\n');
    ++row;
  }
  assert_int_equal(*row, '\0');
}

static void csv_has_the_numbers_of_the_log(void **state) {
  (void)state;
  FILE *file = fopen(export_to("pair.csv"), "r");
  assert_non_null(file);
  char *row = NULL;
  size_t size = 0;
  assert_true(getline(&row, &size, file) > 0);
  assert_int_equal(strncmp(row, "time,energy.kinetic,", 20), 0);
  assert_non_null(strstr(row, ",\"box, \"\"b\"\".x\","));
  for (int64_t i = 0; i < f.info.nsample; ++i) {
    assert_true(getline(&row, &size, file) > 0);
    (void)sample_at(i);
    check_row(row);
  }
  assert_true(getline(&row, &size, file) < 0);
  free(row);
  assert_int_equal(fclose(file), 0);
}

/* -- HDF5 */

#ifdef TABI_HAVE_HDF5
#include <hdf5.h>

/* All of an array, which must have so many numbers. */
static void *read_array(hid_t file, const char *name, hid_t type, size_t count) {
  hid_t dataset = H5Dopen2(file, name, H5P_DEFAULT);
  if (dataset < 0) fail_msg("no %s", name);
  hid_t space = H5Dget_space(dataset);
  assert_int_equal(H5Sget_simple_extent_npoints(space), count);
  void *number = malloc(H5Tget_size(type) * count + 1);
  assert_non_null(number);
  assert_true(H5Dread(dataset, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, number) >= 0);
  assert_true(H5Sclose(space) >= 0 && H5Dclose(dataset) >= 0);
  return number;
}

static void check_text(hid_t file, const char *object, const char *name, const char *wanted) {
  char *text = NULL;
  hid_t attribute = H5Aopen_by_name(file, object, name, H5P_DEFAULT, H5P_DEFAULT);
  assert_true(attribute >= 0);
  hid_t type = H5Aget_type(attribute);
  assert_true(H5Aread(attribute, type, &text) >= 0);
  assert_string_equal(text, wanted);
  assert_true(H5free_memory(text) >= 0 && H5Tclose(type) >= 0 && H5Aclose(attribute) >= 0);
}

static void check_signal(hid_t file, int32_t signal) {
  tabi_signal s = tabi_signals_get(f.signals, signal);
  char name[600];
  (void)snprintf(name, sizeof name, "signals/%s", s.name);
  double *number = read_array(file, name, H5T_NATIVE_DOUBLE, (size_t)f.info.nsample);
  for (int64_t i = 0; i < f.info.nsample; ++i) {
    (void)sample_at(i);
    if (!same(number[i], f.value[signal])) fail_msg("%s, sample %d", s.name, (int)i);
  }
  free(number);
  check_text(file, name, "unit", s.unit);
  check_text(file, name, "about", s.about);
}

static void check_state(hid_t file) {
  size_t nq = (size_t)f.info.nq;
  size_t nv = (size_t)f.info.nv;
  size_t nsample = (size_t)f.info.nsample;
  double *q = read_array(file, "q", H5T_NATIVE_DOUBLE, nsample * nq);
  double *v = read_array(file, "v", H5T_NATIVE_DOUBLE, nsample * nv);
  double *time = read_array(file, "time", H5T_NATIVE_DOUBLE, nsample);
  int64_t *step = read_array(file, "step", H5T_NATIVE_INT64, nsample);
  for (size_t i = 0; i < nsample; ++i) {
    tabi_sample sample = sample_at((int64_t)i);
    assert_memory_equal(q + nq * i, sample.q, sizeof *q * nq);
    assert_memory_equal(v + nv * i, sample.v, sizeof *v * nv);
    assert_true(time[i] == sample.time);
    assert_int_equal(step[i], sample.step);
  }
  free(q);
  free(v);
  free(time);
  free(step);
}

/* Columns of q and v tell their joints; those of a joint without a name its child. */
static void check_columns(hid_t file, const char *array, bool velocities) {
  const tabi_model *model = tabi_scene_model(f.scene);
  hid_t attribute = H5Aopen_by_name(file, array, "joints", H5P_DEFAULT, H5P_DEFAULT);
  assert_true(attribute >= 0);
  hid_t space = H5Aget_space(attribute);
  hid_t type = H5Aget_type(attribute);
  assert_int_equal(H5Sget_simple_extent_npoints(space), velocities ? f.info.nv : f.info.nq);
  char **name = calloc((size_t)f.info.nq + 1, sizeof *name);
  assert_non_null(name);
  assert_true(H5Aread(attribute, type, (void *)name) >= 0);
  int32_t knee = tabi_model_find_joint(model, "b/knee");
  int32_t base = tabi_model_link_joint(model, tabi_model_find_link(model, "b/trunk"));
  tabi_range one = velocities ? tabi_model_joint_v(model, knee) : tabi_model_joint_q(model, knee);
  tabi_range many = velocities ? tabi_model_joint_v(model, base) : tabi_model_joint_q(model, base);
  const char *called = tabi_model_joint(model, base).name;
  assert_string_equal(name[one.first], "b/knee");
  assert_string_equal(name[many.first + many.count - 1], called ? called : "b/trunk");
  assert_true(H5Dvlen_reclaim(type, space, H5P_DEFAULT, (void *)name) >= 0);
  free(name);
  assert_true(H5Sclose(space) >= 0 && H5Tclose(type) >= 0 && H5Aclose(attribute) >= 0);
}

/* The contacts of a sample stand between its start and the next one's. */
static void check_contacts(hid_t file) {
  size_t nsample = (size_t)f.info.nsample;
  int64_t *start = read_array(file, "contacts/start", H5T_NATIVE_INT64, nsample + 1);
  size_t count = (size_t)start[nsample];
  float *force = read_array(file, "contacts/force", H5T_NATIVE_FLOAT, 3 * count);
  float *gap = read_array(file, "contacts/gap", H5T_NATIVE_FLOAT, count);
  int *link = read_array(file, "contacts/link_b", H5T_NATIVE_INT, count);
  int *status = read_array(file, "contacts/status", H5T_NATIVE_INT, count);
  assert_true(count > nsample);
  for (size_t i = 0; i < nsample; ++i) {
    tabi_sample sample = sample_at((int64_t)i);
    assert_int_equal(start[i + 1] - start[i], sample.ncontact);
    for (int32_t k = 0; k < sample.ncontact; ++k) {
      size_t at = (size_t)start[i] + (size_t)k;
      const tabi_sample_contact *c = &sample.contact[k];
      assert_memory_equal(force + 3 * at, c->force, sizeof c->force);
      assert_memory_equal(gap + at, &c->gap, sizeof c->gap);
      assert_int_equal(link[at], c->link_b);
      assert_int_equal(status[at], (int)c->status);
    }
  }
  free(start);
  free(force);
  free(gap);
  free(link);
  free(status);
}

static void check_facts(hid_t file) {
  const tabi_model *model = tabi_scene_model(f.scene);
  check_text(file, "/", "scene", "a pair, and \"boxes\"");
  check_text(file, "/", "contact", "cone");
  check_text(file, "/", "complete", "true");
  hid_t type = H5Tcopy(H5T_C_S1);
  assert_true(H5Tset_size(type, H5T_VARIABLE) >= 0 && H5Tset_cset(type, H5T_CSET_UTF8) >= 0);
  size_t nlink = (size_t)tabi_model_nlink(model);
  char **name = read_array(file, "links", type, nlink);
  for (size_t i = 0; i < nlink; ++i) {
    assert_string_equal(name[i], tabi_model_link(model, (int32_t)i).name);
    assert_true(H5free_memory(name[i]) >= 0);
  }
  free(name);
  assert_true(H5Tclose(type) >= 0);
}

static void hdf5_has_the_numbers_of_the_log(void **state) {
  (void)state;
  hid_t file = H5Fopen(export_to("pair.h5"), H5F_ACC_RDONLY, H5P_DEFAULT);
  assert_true(file >= 0);
  check_facts(file);
  check_state(file);
  check_columns(file, "q", false);
  check_columns(file, "v", true);
  check_contacts(file);
  for (int32_t i = 1; i < f.nsignal; i += 7)
    check_signal(file, i);
  check_signal(file, f.nsignal - 1);
  assert_true(H5Fclose(file) >= 0);
}
#else
static void hdf5_has_the_numbers_of_the_log(void **state) {
  (void)state;
  print_message("tabi was built without HDF5\n");
  skip();
}
#endif

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(csv_has_the_numbers_of_the_log),
      cmocka_unit_test(hdf5_has_the_numbers_of_the_log),
  };
  return cmocka_run_group_tests(tests, begin, end);
}

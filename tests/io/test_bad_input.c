/* test_bad_input.c - every bad input is refused by the library with its message, in time, and
 * under a locale whose decimal sign is a comma as well. */
#include "bad_inputs.h"
#include "support/near.h"
#include "support/scratch.h"
#include "tabi/tabi_io.h"

#include <locale.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

static double now(void) {
  struct timespec t;
  (void)clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* The line that a user would see must begin with place and word and hold the expected words. */
static void check_line(const bad_input *input, const char *path, const char *word,
                       const tabi_error *error) {
  char text[1024];
  char start[1024];
  (void)tabi_error_text(error, word, text, sizeof text);
  if (input->line > 0) {
    (void)snprintf(start, sizeof start, "%s:%d: %s: ", path, input->line, word);
  } else {
    (void)snprintf(start, sizeof start, "%s/", TABI_SCRATCH_DIR);
  }
  if (strncmp(text, start, strlen(start)) != 0 || !strstr(text, input->words) ||
      strchr(text, '\n')) {
    fail_msg("%s\ngot      %s\nexpected %s...%s", input->file, text, start, input->words);
  }
}

static void refuse_all(void) {
  for (size_t i = 0; i < bad_input_count; ++i) {
    tabi_error error = {0};
    const char *path = bad_input_write(&bad_inputs[i]);
    double start = now();
    tabi_model *model = tabi_model_load(path, NULL, &error);
    if (model) fail_msg("%s was accepted", bad_inputs[i].file);
    assert_true(now() - start < BAD_INPUT_SECONDS);
    check_line(&bad_inputs[i], path, "error", &error);
    // a caller may pass no tabi_error
    assert_null(tabi_model_load(path, NULL, NULL));
  }
}

static void test_refused(void **state) {
  (void)state;
  refuse_all();
}

static void test_refused_german(void **state) {
  (void)state;
  scratch_need_german();
  refuse_all();
  (void)setlocale(LC_NUMERIC, "C");
}

typedef struct heard {
  const char *words;
  tabi_error warning;
  int count;
} heard;

static void listen(void *user, const tabi_error *warning) {
  heard *h = user;
  if (!strstr(warning->message, h->words)) return;
  h->warning = *warning;
  ++h->count;
}

static void test_warned(void **state) {
  (void)state;
  for (size_t i = 0; i < odd_input_count; ++i) {
    tabi_error error = {0};
    heard h = {.words = odd_inputs[i].words};
    tabi_load_def def = tabi_load_def_default();
    def.warn = listen;
    def.warn_user = &h;
    const char *path = bad_input_write(&odd_inputs[i]);
    tabi_model *model = tabi_model_load(path, &def, &error);
    if (!model) fail_msg("%s: %s", path, error.message);
    tabi_model_destroy(model);
    assert_int_equal(h.count, 1);
    check_line(&odd_inputs[i], path, "warning", &h.warning);
  }
}

/* One warning that says what was done, and a model; where the caller is strict, an error. */
static void check_repaired(const bad_input *input) {
  tabi_error error = {0};
  heard h = {.words = input->words};
  tabi_load_def def = tabi_load_def_default();
  def.warn = listen;
  def.warn_user = &h;
  const char *path = bad_input_write(input);
  tabi_model *model = tabi_model_load(path, &def, &error);
  if (!model) fail_msg("%s: %s", path, error.message);
  tabi_model_destroy(model);
  assert_int_equal(h.count, 1);
  check_line(input, path, "warning", &h.warning);
  assert_int_equal(h.warning.severity, TABI_SEVERITY_WARNING);
  assert_int_equal(strncmp(h.warning.message, h.warning.repair.item, strlen(h.warning.repair.item)),
                   0);
  assert_non_null(strstr(h.warning.message, h.warning.repair.what));
  assert_true(h.warning.repair.what[0] != '\0' && isfinite(h.warning.repair.size));
  def.strict = true;
  assert_null(tabi_model_load(path, &def, &error));
  assert_int_equal(h.count, 1);
  assert_int_equal(error.status, TABI_ERR_MODEL);
  assert_int_equal(error.severity, TABI_SEVERITY_ERROR);
  check_line(input, path, "error", &error);
}

static void test_repaired(void **state) {
  (void)state;
  for (size_t i = 0; i < repaired_input_count; ++i)
    check_repaired(&repaired_inputs[i]);
}

static void test_repaired_german(void **state) {
  (void)state;
  scratch_need_german();
  test_repaired(state);
  (void)setlocale(LC_NUMERIC, "C");
}

static void test_files_that_cannot_be_read(void **state) {
  (void)state;
  tabi_error error = {0};
  char text[1024];
  assert_null(tabi_model_load("no/such/file.urdf", NULL, &error));
  (void)tabi_error_text(&error, "error", text, sizeof text);
  assert_string_equal(text, "no/such/file.urdf:1: error: cannot open: No such file or directory");
  assert_int_equal(error.status, TABI_ERR_FILE);
  assert_null(tabi_model_load("/", NULL, &error));
  (void)tabi_error_text(&error, "error", text, sizeof text);
  assert_string_equal(text, "/:1: error: cannot read: Is a directory");
  assert_null(tabi_model_load("/dev/zero", NULL, &error));
  (void)tabi_error_text(&error, "error", text, sizeof text);
  assert_string_equal(text, "/dev/zero:1: error: not a regular file; copy what it holds into one");
  // a pipe without a writer would be waited for
  const char *pipe = scratch_path("pipe.urdf");
  assert_int_equal(mkfifo(pipe, 0600), 0);
  assert_null(tabi_model_load(pipe, NULL, &error));
  assert_non_null(strstr(error.message, "not a regular file"));
  const char *path = scratch_text(
      "pipe_mesh.urdf", "<robot name='r'><link name='a'><visual><geometry>\n"
                        "<mesh filename='pipe.stl'/></geometry></visual></link></robot>\n");
  assert_int_equal(mkfifo(scratch_path("pipe.stl"), 0600), 0);
  assert_null(tabi_model_load(path, NULL, &error));
  assert_non_null(strstr(error.message, "pipe.stl' is not a regular file"));
}

static void test_needed_mesh(void **state) {
  (void)state;
  tabi_error error = {0};
  tabi_load_def def = tabi_load_def_default();
  def.need_meshes = true;
  const char *path = bad_input_write(&odd_inputs[1]);
  assert_null(tabi_model_load(path, &def, &error));
  check_line(&odd_inputs[1], path, "error", &error);
  def.need_meshes = false;
  def.strict = true;
  assert_null(tabi_model_load(path, &def, &error));
  check_line(&odd_inputs[1], path, "error", &error);
}

static void test_raw_def(void **state) {
  (void)state;
  tabi_error error = {0};
  tabi_load_def def = {0};
  assert_null(tabi_model_load("x.urdf", &def, &error));
  assert_int_equal(error.status, TABI_ERR_ARGUMENT);
  def = tabi_load_def_default();
  def.place_base = true;
  def.base_quat[0] = 0;
  assert_null(tabi_model_load("x.urdf", &def, &error));
  assert_int_equal(error.status, TABI_ERR_ARGUMENT);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_refused),     cmocka_unit_test(test_refused_german),
      cmocka_unit_test(test_warned),      cmocka_unit_test(test_files_that_cannot_be_read),
      cmocka_unit_test(test_repaired),    cmocka_unit_test(test_repaired_german),
      cmocka_unit_test(test_needed_mesh), cmocka_unit_test(test_raw_def),
  };
  return cmocka_run_group_tests(tests, scratch_begin, scratch_end);
}

/* test_bad_command.c - every bad input given to the command: one line on stderr, nothing on
 * stdout, exit 3, in time; for odd inputs warnings and exit 0. */
#include "bad_inputs.h"
#include "support/near.h"
#include "support/scratch.h"

#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>

extern char **environ;

typedef struct outcome {
  int code; /* -1: it did not exit by itself */
  char out[65536], err[65536];
  double seconds;
} outcome;

static double now(void) {
  struct timespec t;
  (void)clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void slurp(const char *path, char *text, size_t size) {
  FILE *file = fopen(path, "rb");
  assert_non_null(file);
  size_t n = fread(text, 1, size - 1, file);
  text[n] = '\0';
  (void)fclose(file);
}

static void run(const char *command, const char *file, outcome *o) {
  char *argv[] = {(char *)TABI_COMMAND, (char *)command, (char *)file, NULL};
  const char *out = scratch_path("stdout");
  const char *err = scratch_path("stderr");
  posix_spawn_file_actions_t actions;
  assert_int_equal(posix_spawn_file_actions_init(&actions), 0);
  posix_spawn_file_actions_addopen(&actions, 1, out, O_WRONLY | O_CREAT | O_TRUNC, 0600);
  posix_spawn_file_actions_addopen(&actions, 2, err, O_WRONLY | O_CREAT | O_TRUNC, 0600);
  pid_t child = 0;
  int status = 0;
  double start = now();
  assert_int_equal(posix_spawn(&child, argv[0], &actions, NULL, argv, environ), 0);
  assert_int_equal(waitpid(child, &status, 0), child);
  o->seconds = now() - start;
  o->code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  posix_spawn_file_actions_destroy(&actions);
  slurp(out, o->out, sizeof o->out);
  slurp(err, o->err, sizeof o->err);
}

static void check_refused(const bad_input *input, const char *command, const char *path) {
  static outcome o;
  char start[1024];
  run(command, path, &o);
  const char *newline = strchr(o.err, '\n');
  bool one_line = newline && newline[1] == '\0';
  if (input->line > 0) {
    (void)snprintf(start, sizeof start, "%s:%d: error: ", path, input->line);
  } else {
    (void)snprintf(start, sizeof start, "%s/", TABI_SCRATCH_DIR);
  }
  bool says = strncmp(o.err, start, strlen(start)) == 0 && strstr(o.err, input->words);
  if (o.code != 3 || o.out[0] != '\0' || !one_line || !says || o.seconds > BAD_INPUT_SECONDS) {
    fail_msg("tabi %s %s: exit %d after %.2f s\nstdout: %s\nstderr: %s", command, input->file,
             o.code, o.seconds, o.out, o.err);
  }
}

static void refuse_all(void) {
  for (size_t i = 0; i < bad_input_count; ++i) {
    const char *path = bad_input_write(&bad_inputs[i]);
    check_refused(&bad_inputs[i], "dynamics", path);
    check_refused(&bad_inputs[i], "check", path);
  }
}

static void test_refused(void **state) {
  (void)state;
  refuse_all();
}

static void test_refused_german(void **state) {
  (void)state;
  scratch_need_german();
  assert_int_equal(setenv("LC_ALL", "de_DE.UTF-8", 1), 0);
  refuse_all();
  assert_int_equal(unsetenv("LC_ALL"), 0);
}

static void test_warned(void **state) {
  (void)state;
  static outcome o;
  for (size_t i = 0; i < odd_input_count; ++i) {
    const char *path = bad_input_write(&odd_inputs[i]);
    char start[1024];
    (void)snprintf(start, sizeof start, "%s:%d: warning: ", path, odd_inputs[i].line);
    run("dynamics", path, &o);
    if (o.code != 0 || !strstr(o.err, start) || !strstr(o.err, odd_inputs[i].words)) {
      fail_msg("tabi dynamics %s: exit %d\nstderr: %s", path, o.code, o.err);
    }
    assert_int_equal(o.out[0], '{');
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_refused),
      cmocka_unit_test(test_refused_german),
      cmocka_unit_test(test_warned),
  };
  return cmocka_run_group_tests(tests, scratch_begin, scratch_end);
}

/* gnuplot.c - starts gnuplot with a script on its input. */
#include "gnuplot.h"

#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>

extern char **environ;

/* Runs gnuplot with an option, or with a script on its input; its output goes to a file. */
static bool run_gnuplot(const char *option, FILE *script, const char *output) {
  char *argv[] = {(char *)"gnuplot", (char *)option, NULL};
  posix_spawn_file_actions_t actions;
  if (posix_spawn_file_actions_init(&actions) != 0) return false;
  int bad = 0;
  if (script) bad |= posix_spawn_file_actions_adddup2(&actions, fileno(script), 0);
  bad |= posix_spawn_file_actions_addopen(&actions, 1, output, O_WRONLY | O_CREAT | O_TRUNC, 0666);
  // it warns of curves that are constant
  bad |= posix_spawn_file_actions_addopen(&actions, 2, "/dev/null", O_WRONLY, 0);
  pid_t child = 0;
  int status = -1;
  bool started = !bad && posix_spawnp(&child, argv[0], &actions, NULL, argv, environ) == 0;
  (void)posix_spawn_file_actions_destroy(&actions);
  while (started && waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  return started && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

bool tbi_gnuplot_found(void) { return run_gnuplot("--version", NULL, "/dev/null"); }

bool tbi_gnuplot_draw(FILE *script, const char *path) {
  bool written = fflush(script) == 0 && ferror(script) == 0;
  rewind(script);
  return written && run_gnuplot(NULL, script, path);
}

void tbi_gnuplot_quote(FILE *script, const char *text) {
  (void)fputc('\'', script);
  for (; *text; ++text) {
    if (*text == '\'') (void)fputc('\'', script);
    (void)fputc((unsigned char)*text < ' ' ? ' ' : *text, script);
  }
  (void)fputc('\'', script);
}

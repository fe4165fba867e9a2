/* process.c - posix_spawn with two pipes. */
#include "process.h"

#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

static void close_pair(const int pair[2]) {
  (void)close(pair[0]);
  (void)close(pair[1]);
}

/* The child's ends of the pipes become its input and output; close-on-exec takes the rest. */
static bool spawn(pid_t *pid, const char *const *argv, int input, int output) {
  posix_spawn_file_actions_t actions;
  if (posix_spawn_file_actions_init(&actions) != 0) return false;
  bool ok = posix_spawn_file_actions_adddup2(&actions, input, STDIN_FILENO) == 0 &&
            posix_spawn_file_actions_adddup2(&actions, output, STDOUT_FILENO) == 0 &&
            posix_spawnp(pid, argv[0], &actions, NULL, (char *const *)argv, environ) == 0;
  (void)posix_spawn_file_actions_destroy(&actions);
  return ok;
}

bool tbi_process_start(tbi_process *process, const char *const *argv) {
  int down[2], up[2];
  *process = (tbi_process){0};
  if (pipe2(down, O_CLOEXEC) != 0) return false;
  if (pipe2(up, O_CLOEXEC) != 0) {
    close_pair(down);
    return false;
  }
  if (!spawn(&process->pid, argv, down[0], up[1])) {
    close_pair(down);
    close_pair(up);
    return false;
  }
  (void)close(down[0]);
  (void)close(up[1]);
  process->to = fdopen(down[1], "w");
  process->from = fdopen(up[0], "r");
  if (process->to && process->from) return true;
  if (!process->to) (void)close(down[1]);
  if (!process->from) (void)close(up[0]);
  (void)tbi_process_stop(process);
  return false;
}

bool tbi_process_stop(tbi_process *process) {
  // its input ends before its output is dropped, so that it can end of its own accord
  if (process->to) (void)fclose(process->to);
  int status = 0;
  pid_t got = 0;
  if (process->from) {
    while (fgetc(process->from) != EOF)
      continue;
    (void)fclose(process->from);
  }
  do {
    got = waitpid(process->pid, &status, 0);
  } while (got < 0 && errno == EINTR);
  *process = (tbi_process){0};
  return got > 0 && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

bool tbi_process_self(char *path, size_t size) {
  ssize_t length = readlink("/proc/self/exe", path, size - 1);
  if (length <= 0 || (size_t)length >= size - 1) return false;
  path[length] = '\0';
  return true;
}

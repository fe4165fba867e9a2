/* process.c - posix_spawn with two pipes, and the talk with a peer's program. */
#include "process.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

enum { PATIENCE = 200 }; /* s that an answer may take */

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

bool tbi_process_beside(const char *peer, char *path, size_t size) {
  bool known = tbi_process_self(path, size);
  char *slash = known ? strrchr(path, '/') : NULL;
  if (!slash) return false;
  (void)snprintf(slash + 1, size - (size_t)(slash + 1 - path), "tabi-bench-%s", peer);
  return access(path, X_OK) == 0;
}

/* Whether there is something to read; else the program is ended, so that the caller does not wait.
 */
static bool answers(tbi_process *process) {
  struct pollfd from = {.fd = fileno(process->from), .events = POLLIN};
  int got = 0;
  do {
    got = poll(&from, 1, 1000 * PATIENCE);
  } while (got < 0 && errno == EINTR);
  if (got <= 0) (void)kill(process->pid, SIGKILL);
  return got > 0;
}

bool tbi_process_greet(tbi_process *process, const char *const *argv, char engine[64],
                       char *trouble, size_t size) {
  char line[1024] = "";
  if (!tbi_process_start(process, argv)) {
    (void)snprintf(trouble, size, "%s does not start", argv[0]);
    return false;
  }
  bool late = !answers(process);
  if (!late && fgets(line, sizeof line, process->from)) line[strcspn(line, "\n")] = '\0';
  if (strncmp(line, "ready ", 6) == 0) {
    (void)snprintf(engine, 64, "%.60s", line + 6);
    return true;
  }
  const char *reason = late ? "it takes minutes to start" : "it ended early";
  (void)snprintf(trouble, size, "%s", strncmp(line, "error ", 6) ? reason : line + 6);
  (void)tbi_process_stop(process);
  return false;
}

bool tbi_process_ask(tbi_process *process, const char *question, double *x, int32_t n) {
  char line[256];
  char *rest = line;
  bool ok = fputs(question, process->to) >= 0 && fflush(process->to) == 0;
  ok = ok && answers(process) && fgets(line, sizeof line, process->from);
  for (int32_t i = 0; i < n && ok; ++i) {
    char *start = rest;
    x[i] = strtod(start, &rest);
    ok = rest > start;
  }
  return ok;
}

FILE *tbi_process_file(char name[256], const char *ending) {
  const char *folder = getenv("TMPDIR");
  (void)snprintf(name, 256, "%.200s/tabi-bench-XXXXXX%s", folder && *folder ? folder : "/tmp",
                 ending);
  int fd = mkstemps(name, (int)strlen(ending));
  FILE *file = fd < 0 ? NULL : fdopen(fd, "w");
  if (!file) name[0] = '\0';
  return file;
}

/* browser.c - xdg-open knows the browser that is preferred. */
#include "browser.h"

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

extern char **environ;

bool tbi_browser_has_display(void) {
  const char *x11 = getenv("DISPLAY");
  const char *wayland = getenv("WAYLAND_DISPLAY");
  return (x11 && x11[0]) || (wayland && wayland[0]);
}

/* It gets signals as any program does, though ours wait for theirs. */
static bool prepare(posix_spawnattr_t *attributes, posix_spawn_file_actions_t *actions) {
  sigset_t none;
  sigset_t default_set;
  (void)sigemptyset(&none);
  (void)sigemptyset(&default_set);
  (void)sigaddset(&default_set, SIGINT);
  (void)sigaddset(&default_set, SIGTERM);
  (void)sigaddset(&default_set, SIGPIPE);
  (void)sigaddset(&default_set, SIGCHLD);
  return posix_spawnattr_setsigmask(attributes, &none) == 0 &&
         posix_spawnattr_setsigdefault(attributes, &default_set) == 0 &&
         /* Ctrl-C is meant for us, not for a browser that was started first by this */
         posix_spawnattr_setpgroup(attributes, 0) == 0 &&
         posix_spawnattr_setflags(attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF |
                                                  POSIX_SPAWN_SETPGROUP) == 0 &&
         posix_spawn_file_actions_addopen(actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0) == 0 &&
         posix_spawn_file_actions_addopen(actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0) == 0 &&
         posix_spawn_file_actions_addopen(actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0) == 0;
}

bool tbi_browser_open(const char *url) {
  char program[] = "xdg-open";
  char address[256];
  int length = snprintf(address, sizeof address, "%s", url);
  if (length < 0 || (size_t)length >= sizeof address) return false;
  char *const arguments[] = {program, address, NULL};
  posix_spawnattr_t attributes;
  posix_spawn_file_actions_t actions;
  if (posix_spawnattr_init(&attributes) != 0) return false;
  if (posix_spawn_file_actions_init(&actions) != 0) {
    (void)posix_spawnattr_destroy(&attributes);
    return false;
  }
  pid_t child = 0;
  bool done = prepare(&attributes, &actions) &&
              posix_spawnp(&child, program, &actions, &attributes, arguments, environ) == 0;
  (void)posix_spawn_file_actions_destroy(&actions);
  (void)posix_spawnattr_destroy(&attributes);
  return done;
}

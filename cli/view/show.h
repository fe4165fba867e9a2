/* show.h - a scene that runs, or replays of logs, in the browser until the command is ended. */
#ifndef TBI_SHOW_H
#define TBI_SHOW_H

#include "common/cli.h"

enum { TBI_SHOW_LOGS = 2 };

typedef struct tbi_show_options {
  int port; /* 0: one that is free */
  bool no_browser;
  bool paused; /* a scene waits at its start */
} tbi_show_options;

/* All return an exit code. */

/* Takes over the scene; `path` names it for viewers. */
int tbi_show_scene(tabi_scene *scene, const char *path, const tbi_show_options *options);
int tbi_show_logs(const char *const *path, int count, const tbi_show_options *options);

/* Prints an error, at a file if it has no place of its own. */
int tbi_show_fail_at(tabi_error *err, const char *path);

#endif

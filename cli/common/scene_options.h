/* scene_options.h - options that `run`, `compare` and `view` share: changes to a scene, times, and
 * names from a list. */
#ifndef TBI_SCENE_OPTIONS_H
#define TBI_SCENE_OPTIONS_H

#include "common/cli.h"

enum { TBI_SCENE_OPTIONS = 4 };

/* Assignments to values of a scene, "path=value".  Must not be moved: `set` points into `text`. */
typedef struct tbi_scene_settings {
  const char *set[TBI_MAX_MANY + TBI_SCENE_OPTIONS];
  char text[TBI_SCENE_OPTIONS][96]; /* of options with a path of their own */
  int32_t count, ntext;
} tbi_scene_settings;

/* All that check print a usage error of the command and return false. */

/* Every value of --set reads path=value. */
bool tbi_check_settings(const char *command, const tbi_args *args);
/* A time in s, above 0 or, where `zero` says so, 0.  NULL is fine. */
bool tbi_check_seconds(const char *command, const char *option, const char *text, bool zero);
/* One of the names.  NULL is fine. */
bool tbi_check_name(const char *command, const char *what, const char *name,
                    const tbi_names *names);

/* Appends the values of --set. */
void tbi_settings_add_all(tbi_scene_settings *settings, const tbi_args *args);
/* Appends the value of an option for a path of the scene; NULL: nothing. */
bool tbi_settings_add(tbi_scene_settings *settings, const char *command, const char *path,
                      const char *value);
/* How the options ask to load a scene, its warnings collected; and the same with the settings and
 * with plugins.  The arguments must live as long as the result is used. */
tabi_scene_def tbi_args_scene_def(const tbi_args *args, tbi_findings *warnings);
tabi_scene_def tbi_settings_scene_def(const tbi_scene_settings *settings, const tbi_args *args,
                                      tbi_findings *warnings);

#endif

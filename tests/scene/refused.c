/* refused.c - see refused.h. */
#include "refused.h"

#include "support/near.h"
#include "tabi/tabi_io.h"

#include <string.h>

void refused_check(const char *path, const refused *scene, const char *blamed) {
  tabi_error err = {0};
  if (tabi_scene_load(path, NULL, &err)) fail_msg("not refused: %s", scene->text);
  if (!strstr(err.message, scene->words) || err.line != scene->line ||
      strcmp(err.file, blamed) != 0) {
    fail_msg("'%s'\n%s:%d: %s\nwanted line %d: %s", scene->text, err.file, (int)err.line,
             err.message, scene->line, scene->words);
  }
}

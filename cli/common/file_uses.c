/* file_uses.c - whether the outputs of a command would destroy each other or its inputs.
 *
 * A file that exists is known by its device and number.  One that does not is known by its folder
 * and its name in it, after links that lead nowhere yet were followed.  What scenes and robots name
 * in turn is not known here: no file is overwritten whose ending says that it is a robot, mesh or
 * scene. */
#include "common/output.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

#define MAX_LINKS 40

/* What a path leads to. */
typedef struct target {
  struct stat file; /* if it exists */
  struct stat folder;
  bool exists, has_folder;
  char name[PATH_MAX]; /* in the folder */
} target;

/* Follows one link that leads nowhere; false: it is none. */
static bool follow(char path[PATH_MAX]) {
  char to[PATH_MAX];
  ssize_t length = readlink(path, to, sizeof to - 1);
  if (length <= 0) return false;
  to[length] = '\0';
  const char *slash = to[0] == '/' ? NULL : strrchr(path, '/');
  size_t kept = slash ? (size_t)(slash - path) + 1 : 0;
  if (kept + (size_t)length >= PATH_MAX) return false;
  memcpy(path + kept, to, (size_t)length + 1);
  return true;
}

/* Splits a path into its folder, which is looked up, and the name in it. */
static void find_folder(char *path, target *t) {
  char *slash = strrchr(path, '/');
  const char *name = slash ? slash + 1 : path;
  (void)snprintf(t->name, sizeof t->name, "%s", name);
  if (slash) slash[slash == path ? 1 : 0] = '\0';
  t->has_folder = stat(slash ? path : ".", &t->folder) == 0;
}

static void find_target(const char *path, target *t) {
  *t = (target){.exists = false};
  char at[PATH_MAX];
  size_t length = strlen(path);
  if (length >= sizeof at) return;
  memcpy(at, path, length + 1);
  t->exists = stat(at, &t->file) == 0;
  for (int i = 0; !t->exists && i < MAX_LINKS && follow(at); ++i)
    continue;
  if (!t->exists) find_folder(at, t);
}

static bool is_same(const target *a, const target *b) {
  if (a->exists != b->exists) return false;
  if (a->exists) {
    return S_ISREG(a->file.st_mode) && a->file.st_dev == b->file.st_dev &&
           a->file.st_ino == b->file.st_ino;
  }
  return a->has_folder && b->has_folder && a->folder.st_dev == b->folder.st_dev &&
         a->folder.st_ino == b->folder.st_ino && strcmp(a->name, b->name) == 0;
}

static void tell(const char *command, const tbi_file_use *output, const tbi_file_use *other) {
  if (other->written) {
    tbi_usage_error(command, "%s and %s are the same file, %s; give another name", output->option,
                    other->option, output->path);
  } else {
    tbi_usage_error(command, "%s would overwrite %s, which is read; give another name",
                    output->option, other->path);
  }
}

/* Whether a path leads to a robot, mesh or scene, by its ending. */
static bool is_input(const char *path) {
  static const char *const endings[] = {".urdf", ".xml", ".mjcf", ".sdf",  ".world", ".wrl",
                                        ".body", ".stl", ".obj",  ".dae",  ".ply",   ".gltf",
                                        ".glb",  ".yml", ".yaml", ".xacro"};
  char *at = realpath(path, NULL);
  struct stat there;
  const char *dot = at && stat(at, &there) == 0 && S_ISREG(there.st_mode) ? strrchr(at, '.') : NULL;
  bool found = false;
  for (size_t i = 0; dot && i < sizeof endings / sizeof *endings; ++i)
    found |= strcasecmp(dot, endings[i]) == 0;
  free(at);
  return found;
}

bool tbi_check_files(const char *command, const tbi_file_use *use, int count) {
  target a;
  target b;
  for (int i = 0; i < count; ++i) {
    if (!use[i].path || !use[i].written) continue;
    find_target(use[i].path, &a);
    for (int k = 0; k < count; ++k) {
      if (k == i || !use[k].path) continue;
      find_target(use[k].path, &b);
      if (!is_same(&a, &b)) continue;
      tell(command, &use[i], &use[k]);
      return false;
    }
    if (is_input(use[i].path)) {
      tbi_usage_error(command,
                      "%s would overwrite %s, a robot, mesh or scene by its name; give "
                      "another name",
                      use[i].option, use[i].path);
      return false;
    }
  }
  return true;
}

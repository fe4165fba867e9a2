/* path.c - looks for files, twice careful: the name must not climb out as it is written, and the
 * real path of what exists must lie inside as well. */
#include "io/path.h"

#include "base/assertion.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

_Static_assert(TBI_PATH_SIZE >= PATH_MAX, "realpath writes up to PATH_MAX bytes");

static bool join(char *to, const char *folder, const char *file) {
  int n = snprintf(to, TBI_PATH_SIZE, "%s/%s", folder, file);
  return n > 0 && n < TBI_PATH_SIZE;
}

/* Cuts the last part off; false at the top. */
static bool climb(char *folder) {
  char *slash = strrchr(folder, '/');
  if (!slash || slash == folder) return false;
  *slash = '\0';
  return true;
}

static bool is_inside(const char *root, const char *path) {
  size_t n = strlen(root);
  return n > 0 && strncmp(path, root, n) == 0 && (path[n] == '/' || path[n] == '\0');
}

static int32_t count_parts(const char *path) {
  int32_t parts = 0;
  for (; *path != '\0'; ++path)
    parts += path[0] == '/' && path[1] != '/' && path[1] != '\0';
  return parts;
}

/* Whether a relative path, begun `depth` folders below the root, is ever above it. */
static bool leaves(const char *path, int32_t depth) {
  while (*path != '\0') {
    size_t n = strcspn(path, "/");
    if (n == 2 && path[0] == '.' && path[1] == '.') {
      if (--depth < 0) return true;
    } else if (n > 0 && !(n == 1 && path[0] == '.')) {
      ++depth;
    }
    path += n;
    path += strspn(path, "/");
  }
  return false;
}

static int hex(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

/* Undoes %2e and the like; false if the path is too long or holds a zero byte. */
static bool decode(const char *from, char *to) {
  size_t n = 0;
  for (; *from != '\0'; ++from) {
    int code = (unsigned char)*from;
    if (*from == '%' && hex(from[1]) >= 0 && hex(from[2]) >= 0) {
      code = 16 * hex(from[1]) + hex(from[2]);
      from += 2;
    }
    if (code == 0 || n + 1 == TBI_PATH_SIZE) return false;
    memcpy(&to[n++], &(unsigned char){(unsigned char)code}, 1);
  }
  to[n] = '\0';
  return true;
}

static void note_looked(tbi_path *path, const char *candidate) {
  size_t used = strlen(path->looked);
  size_t left = sizeof path->looked - used;
  size_t length = strlen(candidate);
  ++path->nlooked;
  // the first two in full, the others as a number
  if (path->nlooked > 2 || length + 24 > left) return;
  (void)snprintf(path->looked + used, left, "%s%s", used > 0 ? ", " : "", candidate);
}

static void finish_looked(tbi_path *path) {
  size_t used = strlen(path->looked);
  int32_t more = path->nlooked - 2;
  if (path->nlooked == 0) (void)snprintf(path->looked, sizeof path->looked, "no folder");
  if (more > 0) {
    (void)snprintf(path->looked + used, sizeof path->looked - used, " and %d more", (int)more);
  }
}

/* One place where the file could be. */
static tbi_path_result try_file(const char *root, const char *candidate, tbi_path *path) {
  note_looked(path, candidate);
  char real_root[TBI_PATH_SIZE];
  if (!realpath(candidate, path->found)) return TBI_PATH_MISSING;
  if (!realpath(root, real_root)) return TBI_PATH_MISSING;
  return is_inside(real_root, path->found) ? TBI_PATH_FOUND : TBI_PATH_LEAVES;
}

static tbi_path_result find_plain(const tbi_path_roots *roots, const char *file, tbi_path *path) {
  char candidate[TBI_PATH_SIZE];
  if (roots->folder[0] == '\0') return TBI_PATH_MISSING;
  if (file[0] == '/') {
    tbi_path_result result = try_file(roots->root, file, path);
    return result == TBI_PATH_MISSING && !is_inside(roots->root, file) ? TBI_PATH_LEAVES : result;
  }
  return join(candidate, roots->folder, file) ? try_file(roots->root, candidate, path)
                                              : TBI_PATH_MISSING;
}

/* folder/name/file; or folder/file, where the folder itself has the package's name. */
static tbi_path_result try_package(const char *folder, const char *name, const char *file,
                                   tbi_path *path) {
  char root[TBI_PATH_SIZE];
  char candidate[TBI_PATH_SIZE];
  tbi_path_result result = TBI_PATH_MISSING;
  const char *slash = strrchr(folder, '/');
  if (strcmp(slash ? slash + 1 : folder, name) == 0 && join(candidate, folder, file)) {
    result = try_file(folder, candidate, path);
  }
  if (result != TBI_PATH_MISSING || !join(root, folder, name)) return result;
  return join(candidate, root, file) ? try_file(root, candidate, path) : TBI_PATH_MISSING;
}

static tbi_path_result find_package(const tbi_path_roots *roots, const char *name, const char *file,
                                    tbi_path *path) {
  char folder[TBI_PATH_SIZE];
  tbi_path_result result = TBI_PATH_MISSING;
  // the folders above the robot file, but never the top of the file system
  memcpy(folder, roots->folder, sizeof folder);
  while (result == TBI_PATH_MISSING && count_parts(folder) > 0) {
    result = try_package(folder, name, file, path);
    if (!climb(folder)) break;
  }
  // then where the caller says
  const char *list = roots->packages ? roots->packages : "";
  while (result == TBI_PATH_MISSING && *list != '\0') {
    size_t n = strcspn(list, ":");
    if (n > 0 && n < sizeof folder) {
      memcpy(folder, list, n);
      folder[n] = '\0';
      while (n > 1 && folder[n - 1] == '/')
        folder[--n] = '\0';
      result = try_package(folder, name, file, path);
    }
    list += n;
    list += *list == ':';
  }
  return result;
}

static bool take_scheme(const char **file, const char *scheme) {
  size_t n = strlen(scheme);
  if (strncmp(*file, scheme, n) != 0) return false;
  *file += n;
  return true;
}

tbi_path_result tbi_path_find(const tbi_path_roots *roots, const char *file, tbi_path *path) {
  TBI_ASSERT(roots && file && path);
  char decoded[TBI_PATH_SIZE];
  path->found[0] = path->looked[0] = '\0';
  path->nlooked = 0;
  bool package = take_scheme(&file, "package://") || take_scheme(&file, "model://");
  bool uri = !package && take_scheme(&file, "file://");
  if (!decode(file, decoded)) return TBI_PATH_LEAVES;
  // a name that climbs out is refused whether or not anything is there
  int32_t slack = package ? -1 : count_parts(roots->folder) - count_parts(roots->root);
  if (leaves(decoded, slack)) return TBI_PATH_LEAVES;
  tbi_path_result result = TBI_PATH_MISSING;
  if (package) {
    char *inside = strchr(decoded, '/');
    if (!inside || decoded[0] == '.' || inside == decoded) return TBI_PATH_LEAVES;
    *inside++ = '\0';
    result = find_package(roots, decoded, inside, path);
  } else {
    result = find_plain(roots, uri ? decoded : file, path);
  }
  if (result == TBI_PATH_MISSING) finish_looked(path);
  return result;
}

char *tbi_path_beside(const char *path, const char *file) {
  TBI_ASSERT(path && file);
  const char *slash = strrchr(path, '/');
  size_t folder = slash && file[0] != '/' ? (size_t)(slash - path) + 1 : 0;
  size_t size = strlen(file) + 1;
  char *both = malloc(folder + size);
  if (!both) return NULL;
  memcpy(both, path, folder);
  memcpy(both + folder, file, size);
  return both;
}

void tbi_path_roots_init(tbi_path_roots *roots, const char *model_path, const char *packages) {
  char folder[TBI_PATH_SIZE];
  char note[TBI_PATH_SIZE];
  *roots = (tbi_path_roots){.packages = packages};
  // the folder of the file; "." for a bare name, "/" for a file at the top
  const char *slash = strrchr(model_path, '/');
  size_t n = slash ? (size_t)(slash - model_path) : 0;
  if (n >= sizeof folder) return;
  memcpy(folder, model_path, n);
  folder[n] = '\0';
  if (!slash) (void)strcpy(folder, ".");
  if (slash == model_path) (void)strcpy(folder, "/");
  if (!realpath(folder, roots->folder)) {
    roots->folder[0] = '\0';
    return;
  }
  memcpy(roots->root, roots->folder, sizeof roots->root);
  // a package allows more folders
  memcpy(folder, roots->folder, sizeof folder);
  do {
    if (join(note, folder, "package.xml") && access(note, F_OK) == 0) {
      memcpy(roots->root, folder, sizeof folder);
      return;
    }
  } while (climb(folder));
}

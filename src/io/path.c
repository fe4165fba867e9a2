/* path.c - looks for files, twice careful: the name must not climb out as it is written, and the
 * real path of what exists must lie inside as well.
 *
 * A package is looked for in the folders above the robot file, then in those that the caller and
 * the environment name, then among the neighbours of the robot's own package.  Where no folder has
 * its name, as in a copy of one robot out of a collection, the longest tail of the path that exists
 * around the robot file is taken. */
#include "io/path.h"

#include "base/assertion.h"
#include "io/file.h"

#include <dirent.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

_Static_assert(TBI_PATH_SIZE >= PATH_MAX, "realpath writes up to PATH_MAX bytes");

#define MAX_NOTE_BYTES ((size_t)256 * 1024) /* of a package.xml */
#define MAX_CHILDREN   512                  /* folders that are asked for their package's name */

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

/* Lists of folders in the environment, and what is put behind each of them. */
static const struct {
  const char *variable, *below;
} environment[] = {
    {"ROS_PACKAGE_PATH",     ""      },
    {"AMENT_PREFIX_PATH",    "/share"},
    {"GAZEBO_MODEL_PATH",    ""      },
    {"GZ_SIM_RESOURCE_PATH", ""      },
};

/* The folders that the caller names, then those of the environment. */
typedef struct given {
  const char *rest;  /* of the present list */
  const char *below; /* what its folders need */
  size_t next;       /* list of the environment */
} given;

static given given_begin(const tbi_path_roots *roots) {
  return (given){.rest = roots->packages ? roots->packages : "", .below = ""};
}

/* The next one that exists, without links; false at the end. */
static bool given_next(given *g, char folder[TBI_PATH_SIZE]) {
  char name[TBI_PATH_SIZE];
  for (;;) {
    if (*g->rest == '\0') {
      if (g->next == sizeof environment / sizeof environment[0]) return false;
      const char *list = getenv(environment[g->next].variable);
      g->rest = list ? list : "";
      g->below = environment[g->next++].below;
      continue;
    }
    size_t n = strcspn(g->rest, ":");
    const char *begin = g->rest;
    g->rest += n;
    g->rest += *g->rest == ':';
    int length = snprintf(name, sizeof name, "%.*s%s", (int)(n < INT_MAX ? n : 0), begin, g->below);
    // the top of the file system would allow everything
    bool usable = n > 0 && length > 0 && length < (int)sizeof name && realpath(name, folder);
    if (usable && count_parts(folder) > 0) return true;
  }
}

/* Whether a path without links or ".." lies where a robot file may name things. */
static bool is_allowed(const tbi_path_roots *roots, const char *path) {
  char folder[TBI_PATH_SIZE];
  if (is_inside(roots->root, path)) return true;
  for (given g = given_begin(roots); given_next(&g, folder);) {
    if (is_inside(folder, path)) return true;
  }
  return false;
}

/* One place where the file could be; `package` is what it may not leave, NULL: the roots. */
static tbi_path_result try_file(const tbi_path_roots *roots, const char *package,
                                const char *candidate, tbi_path *path) {
  note_looked(path, candidate);
  char real[TBI_PATH_SIZE];
  if (!realpath(candidate, path->found)) return TBI_PATH_MISSING;
  bool inside = package && realpath(package, real) && is_inside(real, path->found);
  return inside || is_allowed(roots, path->found) ? TBI_PATH_FOUND : TBI_PATH_LEAVES;
}

/* Takes "." and ".." out of an absolute path as it is written. */
static void flatten(const char *path, char *to) {
  size_t used = 0;
  to[0] = '\0';
  while (*path != '\0') {
    size_t n = strcspn(path, "/");
    if (n == 2 && path[0] == '.' && path[1] == '.') {
      char *slash = strrchr(to, '/');
      used = slash ? (size_t)(slash - to) : 0;
    } else if (n > 0 && !(n == 1 && path[0] == '.')) {
      to[used++] = '/';
      memcpy(to + used, path, n);
      used += n;
    }
    to[used] = '\0';
    path += n;
    path += strspn(path, "/");
  }
}

static const char *last_part(const char *folder) {
  const char *slash = strrchr(folder, '/');
  return slash ? slash + 1 : folder;
}

/* Whether the folder holds a package.xml with that <name>. */
static bool is_noted(const char *folder, const char *name) {
  char note[TBI_PATH_SIZE];
  char *text = NULL;
  size_t size = 0;
  if (!join(note, folder, "package.xml") || access(note, F_OK) != 0) return false;
  if (tbi_file_read(note, MAX_NOTE_BYTES, (tabi_place){0}, &text, &size, NULL) != TABI_OK)
    return false;
  const char *tag = strstr(text, "<name>");
  bool same = false;
  if (tag) {
    tag += strlen("<name>");
    tag += strspn(tag, " \t\r\n");
    size_t n = strcspn(tag, " \t\r\n<");
    same = n == strlen(name) && strncmp(tag, name, n) == 0;
  }
  free(text);
  return same;
}

/* A file of a package, by its place in a folder that belongs to it. */
typedef struct wanted {
  const tbi_path_roots *roots;
  const char *name, *file;
} wanted;

static tbi_path_result try_inside(const wanted *w, const char *folder, tbi_path *path) {
  char candidate[TBI_PATH_SIZE];
  return join(candidate, folder, w->file) ? try_file(w->roots, folder, candidate, path)
                                          : TBI_PATH_MISSING;
}

/* folder/name/file; or folder/file, where the folder itself is the package. */
static tbi_path_result try_package(const wanted *w, const char *folder, tbi_path *path) {
  char package[TBI_PATH_SIZE];
  tbi_path_result result = TBI_PATH_MISSING;
  bool itself = strcmp(last_part(folder), w->name) == 0 || is_noted(folder, w->name);
  if (itself) result = try_inside(w, folder, path);
  if (result != TBI_PATH_MISSING || !join(package, folder, w->name)) return result;
  return try_inside(w, package, path);
}

/* A package below a folder whose own folder is called otherwise, or one that is a folder deeper. */
static tbi_path_result try_children(const wanted *w, const char *folder, tbi_path *path) {
  char child[TBI_PATH_SIZE];
  char package[TBI_PATH_SIZE];
  tbi_path_result result = TBI_PATH_MISSING;
  DIR *dir = opendir(folder);
  if (!dir) return result;
  const struct dirent *entry;
  for (int i = 0; result == TBI_PATH_MISSING && i < MAX_CHILDREN && (entry = readdir(dir)); ++i) {
    if (entry->d_name[0] == '.' || !join(child, folder, entry->d_name)) continue;
    if (is_noted(child, w->name)) {
      result = try_inside(w, child, path);
    } else if (join(package, child, w->name) && access(package, F_OK) == 0) {
      result = try_inside(w, package, path);
    }
  }
  (void)closedir(dir);
  return result;
}

/* In the folders above the robot file, but never the top of the file system. */
static tbi_path_result find_above(const wanted *w, tbi_path *path) {
  char folder[TBI_PATH_SIZE];
  tbi_path_result result = TBI_PATH_MISSING;
  memcpy(folder, w->roots->folder, sizeof folder);
  while (result == TBI_PATH_MISSING && count_parts(folder) > 0) {
    result = try_package(w, folder, path);
    if (!climb(folder)) break;
  }
  return result;
}

/* Where the caller or the environment says, then beside the robot's own package. */
static tbi_path_result find_given(const wanted *w, tbi_path *path) {
  char folder[TBI_PATH_SIZE];
  tbi_path_result result = TBI_PATH_MISSING;
  given g = given_begin(w->roots);
  while (result == TBI_PATH_MISSING && given_next(&g, folder)) {
    result = try_package(w, folder, path);
    if (result == TBI_PATH_MISSING) result = try_children(w, folder, path);
  }
  if (result != TBI_PATH_MISSING || !w->roots->is_package) return result;
  memcpy(folder, w->roots->root, sizeof folder);
  return climb(folder) ? try_children(w, folder, path) : result;
}

/* A tail of the path: below a folder within the root, or below one above the robot file that is
 * called as the tail begins. */
static tbi_path_result try_tail(const tbi_path_roots *roots, const char *tail, tbi_path *path) {
  char folder[TBI_PATH_SIZE];
  char first[TBI_PATH_SIZE];
  size_t n = strcspn(tail, "/");
  tbi_path_result result = TBI_PATH_MISSING;
  memcpy(first, tail, n);
  first[n] = '\0';
  const wanted whole = {roots, "", tail};
  const wanted inner = {roots, "", tail + n + (tail[n] == '/')};
  memcpy(folder, roots->folder, sizeof folder);
  while (result == TBI_PATH_MISSING && count_parts(folder) > 0) {
    if (is_inside(roots->root, folder)) result = try_inside(&whole, folder, path);
    bool same = tail[n] == '/' && strcmp(last_part(folder), first) == 0;
    if (result == TBI_PATH_MISSING && same) result = try_inside(&inner, folder, path);
    if (!climb(folder)) break;
  }
  return result;
}

static tbi_path_result find_tail(const tbi_path_roots *roots, const char *file, tbi_path *path) {
  tbi_path_result result = TBI_PATH_MISSING;
  while (result == TBI_PATH_MISSING && *file != '\0') {
    if (!leaves(file, 0)) result = try_tail(roots, file, path);
    file += strcspn(file, "/");
    file += strspn(file, "/");
  }
  return result;
}

static bool is_mesh(const char *file) {
  static const char *const endings[] = {".stl", ".obj", ".dae", ".ply", ".msh", ".gltf", ".glb"};
  const char *dot = strrchr(file, '.');
  for (size_t i = 0; dot && i < sizeof endings / sizeof *endings; ++i) {
    if (strcasecmp(dot, endings[i]) == 0) return true;
  }
  return false;
}

/* A name that climbs out is refused.  One that leads nowhere was written on another machine or
 * beside another collection, if it is absolute or a mesh: its tail may be here. */
static tbi_path_result find_plain(const tbi_path_roots *roots, const char *file, tbi_path *path) {
  char candidate[TBI_PATH_SIZE];
  char flat[TBI_PATH_SIZE];
  if (roots->folder[0] == '\0') return TBI_PATH_MISSING;
  bool absolute = file[0] == '/';
  int length = snprintf(candidate, sizeof candidate, "%s%s%s", absolute ? "" : roots->folder,
                        absolute ? "" : "/", file);
  if (length < 0 || length >= (int)sizeof candidate) return TBI_PATH_MISSING;
  flatten(candidate, flat);
  bool foreign = !is_allowed(roots, flat);
  tbi_path_result result = try_file(roots, NULL, candidate, path);
  if (result != TBI_PATH_MISSING || !foreign) return result;
  return absolute || is_mesh(file) ? find_tail(roots, flat + (flat[0] == '/'), path)
                                   : TBI_PATH_LEAVES;
}

/* A file that every model has: without its package's name it says nothing. */
static bool is_common(const char *file) {
  return strcmp(file, "model.config") == 0 || strcmp(file, "model.sdf") == 0;
}

/* NAME/file, which is cut in two. */
static tbi_path_result find_package(const tbi_path_roots *roots, char *file, tbi_path *path) {
  if (leaves(file, -1)) return TBI_PATH_LEAVES;
  char *inside = strchr(file, '/');
  // package://foot.stl names no package: the file is beside the robot's
  if (!inside && file[0] != '.' && is_mesh(file)) return find_plain(roots, file, path);
  if (!inside || file[0] == '.') return TBI_PATH_LEAVES;
  *inside++ = '\0';
  inside += strspn(inside, "/");
  if (roots->folder[0] == '\0') return TBI_PATH_MISSING;
  const wanted w = {roots, file, inside};
  tbi_path_result result = find_above(&w, path);
  if (result == TBI_PATH_MISSING) result = find_given(&w, path);
  if (result == TBI_PATH_MISSING && !is_common(inside)) result = find_tail(roots, inside, path);
  return result;
}

static bool take_scheme(const char **file, const char *scheme) {
  size_t n = strlen(scheme);
  if (strncmp(*file, scheme, n) != 0) return false;
  *file += n;
  return true;
}

/* Whether %2e%2e climbs out, which nobody writes by mistake. */
static bool is_disguised(const tbi_path_roots *roots, const char *file, const char *decoded) {
  int32_t depth = count_parts(roots->folder) - count_parts(roots->root);
  return strstr(decoded, "..") && !strstr(file, "..") && leaves(decoded, depth);
}

static tbi_path_result find_uri(const tbi_path_roots *roots, const char *file, tbi_path *path) {
  char decoded[TBI_PATH_SIZE];
  bool package = take_scheme(&file, "package://") || take_scheme(&file, "model://");
  bool uri = !package && take_scheme(&file, "file://");
  if (!decode(file, decoded)) return TBI_PATH_LEAVES;
  // some write package:///NAME/file
  if (package) return find_package(roots, decoded + strspn(decoded, "/"), path);
  if (is_disguised(roots, file, decoded)) return TBI_PATH_LEAVES;
  tbi_path_result result = TBI_PATH_MISSING;
  // only a URI means %20 as a space; others may have meant it
  if (!uri) result = find_plain(roots, file, path);
  if (result == TBI_PATH_MISSING && (uri || strcmp(file, decoded) != 0))
    result = find_plain(roots, decoded, path);
  return result;
}

/* A path of Windows, "C:\meshes\a.stl", as "/meshes/a.stl"; false if it is none or too long. */
static bool turn_slashes(const char *file, char to[TBI_PATH_SIZE]) {
  if (!strchr(file, '\\') || strlen(file) >= TBI_PATH_SIZE) return false;
  bool drive = file[0] != '\0' && file[1] == ':' && file[2] == '\\';
  if (drive) file += 2;
  size_t n = 0;
  for (; file[n] != '\0'; ++n)
    to[n] = (char)(file[n] == '\\' ? '/' : file[n]);
  to[n] = '\0';
  return true;
}

tbi_path_result tbi_path_find(const tbi_path_roots *roots, const char *file, tbi_path *path) {
  TBI_ASSERT(roots && file && path);
  char turned[TBI_PATH_SIZE] = "";
  path->found[0] = path->looked[0] = '\0';
  path->nlooked = 0;
  tbi_path_result result = find_uri(roots, file, path);
  if (result == TBI_PATH_MISSING && turn_slashes(file, turned))
    result = find_uri(roots, turned, path);
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

/* The folder of a file, without links; "" if there is none. */
static void find_folder(const char *file, char real[TBI_PATH_SIZE]) {
  char folder[TBI_PATH_SIZE];
  // "." for a bare name, "/" for a file at the top
  const char *slash = strrchr(file, '/');
  size_t n = slash ? (size_t)(slash - file) : 0;
  real[0] = '\0';
  if (n >= sizeof folder) return;
  memcpy(folder, file, n);
  folder[n] = '\0';
  if (!slash) (void)strcpy(folder, ".");
  if (slash == file) (void)strcpy(folder, "/");
  if (!realpath(folder, real)) real[0] = '\0';
}

static bool holds(const char *folder, const char *file) {
  char note[TBI_PATH_SIZE];
  return join(note, folder, file) && access(note, F_OK) == 0;
}

/* Without a package the folder above, where meshes/ may stand beside urdf/; or the whole of the
 * Python package that the file comes with. */
static void find_root(const char folder[TBI_PATH_SIZE], char root[TBI_PATH_SIZE]) {
  char at[TBI_PATH_SIZE];
  memcpy(root, folder, TBI_PATH_SIZE);
  (void)climb(root);
  memcpy(at, folder, sizeof at);
  while (!holds(at, "__init__.py")) {
    if (!climb(at)) return;
  }
  while (holds(at, "__init__.py")) {
    if (is_inside(at, root)) memcpy(root, at, sizeof at);
    if (!climb(at)) return;
  }
}

bool tbi_path_ends_with(const char *path, const char *ending) {
  size_t length = strlen(path);
  size_t size = strlen(ending);
  return length > size && strcasecmp(path + length - size, ending) == 0;
}

void tbi_path_roots_init(tbi_path_roots *roots, const char *model_path, const char *packages) {
  char folder[TBI_PATH_SIZE];
  *roots = (tbi_path_roots){.packages = packages};
  find_folder(model_path, roots->folder);
  if (roots->folder[0] == '\0') return;
  find_root(roots->folder, roots->root);
  memcpy(folder, roots->folder, sizeof folder);
  do {
    if (holds(folder, "package.xml")) {
      memcpy(roots->root, folder, sizeof folder);
      roots->is_package = true;
      return;
    }
  } while (climb(folder));
}

void tbi_path_roots_below(tbi_path_roots *below, const tbi_path_roots *roots, const char *found) {
  *below = *roots;
  find_folder(found, below->folder);
  below->is_package = false;
  if (is_inside(roots->root, below->folder)) return;
  memcpy(below->root, below->folder, sizeof below->root);
}

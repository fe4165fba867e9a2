/* input.c - see input.h. */
#include "common/input.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

static FILE *fail(const char *path, const char *why, tabi_error *err) {
  tbi_fail(err, TABI_ERR_FILE, (tabi_place){path, 1}, "cannot open: %s", why);
  return NULL;
}

FILE *tbi_input_open(const char *path, tabi_error *err) {
  int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
  if (fd < 0) return fail(path, strerror(errno), err);
  struct stat there;
  const char *why = NULL;
  if (fstat(fd, &there) != 0) {
    why = strerror(errno);
  } else if (S_ISDIR(there.st_mode)) {
    why = strerror(EISDIR);
  } else if (!S_ISREG(there.st_mode)) {
    why = "not a regular file";
  }
  FILE *file = why ? NULL : fdopen(fd, "rb");
  if (file) return file;
  if (!why) why = strerror(errno);
  (void)close(fd);
  return fail(path, why, err);
}

/* Whether a line begins with a key that only scenes have. */
static bool has_scene_key(const char *text) {
  static const char *const keys[] = {
      "bodies:",  "robots:",     "timestep:",    "duration:", "contact:",
      "gravity:", "integrator:", "connections:", "materials:"};
  for (const char *line = text; line; line = strchr(line, '\n')) {
    line += *line == '\n';
    for (size_t i = 0; i < sizeof keys / sizeof *keys; ++i) {
      if (strncmp(line, keys[i], strlen(keys[i])) == 0) return true;
    }
  }
  return false;
}

static bool is_mesh_name(const char *path) {
  static const char *const endings[] = {".stl", ".obj", ".dae", ".ply", ".glb", ".gltf"};
  const char *dot = strrchr(path, '.');
  for (size_t i = 0; dot && i < sizeof endings / sizeof *endings; ++i) {
    if (strcasecmp(dot, endings[i]) == 0) return true;
  }
  return false;
}

tbi_input_kind tbi_input_kind_of(const char *path) {
  static const char magic[] = "tabi log";
  tabi_error err;
  FILE *file = tbi_input_open(path, &err);
  if (!file) return TBI_INPUT_UNKNOWN;
  char text[4096];
  size_t size = fread(text, 1, sizeof text - 1, file);
  (void)fclose(file);
  text[size] = '\0';
  const char *at =
      memcmp(text, "\xef\xbb\xbf", size < 3 ? size : 3) == 0 && size >= 3 ? text + 3 : text;
  while (isspace((unsigned char)*at))
    ++at;
  if (strncmp(text, magic, sizeof magic - 1) == 0) return TBI_INPUT_LOG;
  if (is_mesh_name(path)) return TBI_INPUT_MESH;
  bool hrp = strncmp(at, "#VRML", 5) == 0 || strstr(at, "format: ChoreonoidBody");
  if (*at == '<' && strstr(at, "<grxui")) return TBI_INPUT_SCENE; // a project of OpenHRP3
  if (*at == '<' || hrp) return TBI_INPUT_MODEL;
  return has_scene_key(at) ? TBI_INPUT_SCENE : TBI_INPUT_UNKNOWN;
}

void tbi_input_explain(const char *path, tbi_input_kind wanted, tabi_error *err) {
  static const char *const use[] = {
      [TBI_INPUT_SCENE] = "this is a scene; use tabi run or tabi view",
      // in brackets, since it goes on in a second line
      [TBI_INPUT_MODEL] = ("this is a robot and no scene; use tabi info, check or view, or name it "
                           "in the section robots of a scene"),
      [TBI_INPUT_MESH] = "this is a mesh; name it in a robot's or a body's shape",
      [TBI_INPUT_LOG] = "this is a log; use tabi view, plot or export, or tabi run --resume",
  };
  if (err->status != TABI_ERR_PARSE && err->status != TABI_ERR_MODEL) return;
  if (strncmp(err->file, path, sizeof err->file - 1) != 0) return;
  tbi_input_kind kind = tbi_input_kind_of(path);
  if (kind == TBI_INPUT_UNKNOWN || kind == wanted) return;
  tbi_fail(err, TABI_ERR_PARSE, (tabi_place){path, 1}, "%s", use[kind]);
}

/* robot_description.c - see robot_description.h. */
#include "export/robot_description.h"

#include "common/input.h"

#include <stdlib.h>
#include <string.h>

#define MAX_SIZE ((size_t)64 << 20) /* bytes; no robot has so many */

/* The whole file, with a zero behind it. */
static char *read_all(FILE *in) {
  size_t size = 0;
  size_t capacity = 1 << 16;
  char *text = malloc(capacity + 1);
  while (text) {
    size += fread(text + size, 1, capacity - size, in);
    if (size < capacity) break;
    capacity *= 2;
    char *more = capacity > MAX_SIZE ? NULL : realloc(text, capacity + 1);
    if (!more) free(text);
    text = more;
  }
  if (text) text[size] = '\0';
  return text;
}

/* Behind declarations and comments the first element is <robot>. */
static bool is_urdf(const char *text) {
  for (const char *at = strchr(text, '<'); at; at = strchr(at + 1, '<')) {
    const char *end = NULL;
    if (strncmp(at, "<!--", 4) == 0) {
      end = strstr(at, "-->");
    } else if (at[1] == '?' || at[1] == '!') {
      end = strchr(at, '>');
    } else {
      return strncmp(at, "<robot", 6) == 0 && (at[6] == '>' || strchr(" \t\r\n/", at[6]) != NULL);
    }
    if (!end) return false;
    at = end;
  }
  return false;
}

char *tbi_robot_description(const tabi_scene *scene, int32_t robot, const char **file) {
  int32_t base = tabi_scene_get_robot(scene, robot).base;
  tabi_error err = {0};
  *file = tabi_model_link(tabi_scene_model(scene), base).place.file;
  FILE *in = *file ? tbi_input_open(*file, &err) : NULL;
  if (!in) return NULL;
  char *text = read_all(in);
  (void)fclose(in);
  if (text && is_urdf(text)) return text;
  free(text);
  return NULL;
}

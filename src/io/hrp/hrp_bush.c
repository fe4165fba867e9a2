/* hrp_bush.c - see hrp_bush.h. */
#include "io/hrp/hrp_bush.h"

#include "base/error.h"
#include "base/text.h"
#include "io/file.h"
#include "io/first_error.h"
#include "io/number.h"
#include "io/path.h"
#include "io/report.h"
#include "model/builder.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MAX_BYTES ((size_t)1024 * 1024)

typedef struct bushes {
  tabi_builder *builder;
  const char *path, *prefix;
  int32_t first_joint;
  tbi_first_error error;
} bushes;

static bool has_one_coordinate(tabi_joint_type type) {
  return type == TABI_JOINT_REVOLUTE || type == TABI_JOINT_CONTINUOUS ||
         type == TABI_JOINT_PRISMATIC;
}

static tabi_joint_def *find_joint(bushes *b, const char *name, tabi_place place) {
  char *full = tbi_text_join(b->prefix, name);
  int32_t index = full ? tabi_builder_find_joint(b->builder, full) : TABI_NONE;
  if (!full) tbi_fail_memory(&b->error);
  free(full);
  tabi_joint_def *joint = index >= b->first_joint && index != TABI_NONE
                              ? (tabi_joint_def *)b->builder->joints.items + index
                              : NULL;
  if (joint && has_one_coordinate(joint->type)) return joint;
  tbi_fail_at(&b->error, TABI_ERR_MODEL, place,
              "bush '%.80s': the robot has no joint with one coordinate of this name", name);
  return NULL;
}

/* "NAME,stiffness,damping", cut at its commas. */
static void read_bush(bushes *b, char *item, tabi_place place) {
  char *parts[3] = {item, NULL, NULL};
  double values[2];
  for (int i = 1; i < 3; ++i) {
    char *comma = strchr(parts[i - 1], ',');
    parts[i] = comma ? comma + 1 : NULL;
    if (comma) *comma = '\0';
    double *value = &values[i - 1];
    if (!parts[i]) break;
    if (i == 2 && strchr(parts[i], ',')) *strchr(parts[i], ',') = '\0';
    size_t n = strcspn(parts[i], ",");
    if (!tbi_number_read(parts[i], n, value) || !isfinite(*value) || *value < 0) parts[i] = NULL;
    if (!parts[i]) break;
  }
  if (!parts[1] || !parts[2]) {
    tbi_fail_at(&b->error, TABI_ERR_PARSE, place,
                "bush '%.80s': expected NAME,stiffness,damping, both >= 0", item);
    return;
  }
  tabi_joint_def *joint = find_joint(b, item, place);
  if (!joint) return;
  joint->stiffness = values[0];
  joint->damping = values[1];
}

static void read_line(bushes *b, char *line, tabi_place place) {
  static const char key[] = "bush_config:";
  line += strspn(line, " \t");
  if (strncmp(line, key, sizeof key - 1) != 0) return;
  char *save = NULL;
  char *item = strtok_r(line + sizeof key - 1, " \t\r", &save);
  for (; item && tbi_ok(&b->error); item = strtok_r(NULL, " \t\r", &save))
    read_bush(b, item, place);
}

tabi_status tbi_hrp_bush_read(tabi_builder *builder, const char *path, const char *prefix,
                              int32_t first_joint, tabi_error *err) {
  bushes b = {builder, path, prefix, first_joint, {.err = err}};
  const tabi_place itself = {NULL, 0};
  char *text = NULL;
  size_t size = 0;
  char *save = NULL;
  int32_t number = 0;
  tabi_status status = tbi_file_read(path, MAX_BYTES, itself, &text, &size, err);
  if (status != TABI_OK) return status;
  for (char *line = text; line && tbi_ok(&b.error); line = save) {
    save = strchr(line, '\n');
    if (save) *save++ = '\0';
    read_line(&b, line, (tabi_place){path, ++number});
  }
  free(text);
  return b.error.status;
}

tabi_status tbi_hrp_bush_beside(tabi_builder *builder, const char *path, const tabi_load_def *def,
                                int32_t first_joint, tabi_error *err) {
  char found[TBI_PATH_SIZE];
  const char *dot = strrchr(path, '.');
  if (!dot || strchr(dot, '/')) return TABI_OK;
  int n = snprintf(found, sizeof found, "%.*s_customizer_param.conf", (int)(dot - path), path);
  if (n < 0 || (size_t)n >= sizeof found || access(found, F_OK) != 0) return TABI_OK;
  tbi_note(def, (tabi_place){found, 1}, "springs of bushes are taken from here");
  return tbi_hrp_bush_read(builder, found, def->prefix ? def->prefix : "", first_joint, err);
}

/* motion_file.c - tables of joint angles whose columns have numbers instead of names. */
#include "io/motion_file.h"

#include "base/array.h"
#include "base/assertion.h"
#include "base/error.h"
#include "io/file.h"
#include "io/first_error.h"
#include "io/number.h"
#include "io/path.h"
#include "io/yaml.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MAX_COLUMNS 4096

/* Rows so far. */
typedef struct table {
  const char *path;
  tbi_first_error *error;
  double *time, *value;
  int32_t nrow, ncolumn; /* ncolumn: of the first row, without the time */
  int32_t time_capacity, value_capacity;
} table;

bool tbi_motion_file_is(const char *path) {
  static const char *const endings[] = {".pos",    ".vel",    ".zmp",    ".seq",
                                        ".pos.gz", ".vel.gz", ".zmp.gz", ".seq.gz"};
  for (size_t i = 0; i < sizeof endings / sizeof *endings; ++i) {
    if (tbi_path_ends_with(path, endings[i])) return true;
  }
  return false;
}

/* ------------------------------------------------------------------------------------ rows */

static bool add_time(table *t, double time, tabi_place place) {
  void *items = t->time;
  bool room = tbi_array_reserve(&items, &t->time_capacity, t->nrow, 1, sizeof *t->time);
  t->time = items;
  if (!room) return tbi_fail_memory(t->error);
  if (!isfinite(time) || (t->nrow > 0 && !(time > t->time[t->nrow - 1])))
    return tbi_fail_at(t->error, TABI_ERR_PARSE, place, "time %g does not rise", time);
  t->time[t->nrow] = time;
  return true;
}

static bool add_value(table *t, int32_t column, double value, tabi_place place) {
  if (t->nrow == 0) t->ncolumn = column + 1;
  if (column >= MAX_COLUMNS || t->nrow >= INT32_MAX / (MAX_COLUMNS + 1))
    return tbi_fail_at(t->error, TABI_ERR_PARSE, place, "more than %d columns", MAX_COLUMNS);
  if (!isfinite(value))
    return tbi_fail_at(t->error, TABI_ERR_PARSE, place, "a value is not a finite number");
  void *items = t->value;
  int32_t at = t->nrow * t->ncolumn + column;
  bool room = tbi_array_reserve(&items, &t->value_capacity, at, 1, sizeof *t->value);
  t->value = items;
  if (!room) return tbi_fail_memory(t->error);
  t->value[at] = value;
  return true;
}

static bool end_row(table *t, int32_t count, tabi_place place) {
  if (count == 0 || count != t->ncolumn) {
    return tbi_fail_at(t->error, TABI_ERR_PARSE, place, "row has %d values, expected %d", count,
                       t->ncolumn > 0 ? t->ncolumn : 1);
  }
  ++t->nrow;
  return true;
}

/* ------------------------------------------------------------------------------------ .pos */

static bool read_line(table *t, const char *line, size_t size, tabi_place place) {
  int32_t count = -1; // the time comes first
  for (size_t at = 0; at < size && tbi_ok(t->error);) {
    size_t gap = strspn(line + at, " \t\r,");
    at += gap;
    size_t n = strcspn(line + at, " \t\r\n,");
    if (at >= size || n == 0) break;
    double value = 0;
    if (!tbi_number_read(line + at, n, &value)) {
      return tbi_fail_at(t->error, TABI_ERR_PARSE, place, "'%.*s' is not a number",
                         n > 40 ? 40 : (int)n, line + at);
    }
    if (count < 0 ? add_time(t, value, place) : add_value(t, count, value, place)) ++count;
    at += n;
  }
  return tbi_ok(t->error) && (count < 0 || end_row(t, count, place));
}

static void read_pos(table *t, const char *text, size_t size) {
  const char *end = text + size;
  int32_t line = 1;
  for (const char *at = text; at < end && tbi_ok(t->error); ++line) {
    const char *stop = memchr(at, '\n', (size_t)(end - at));
    size_t n = (size_t)((stop ? stop : end) - at);
    if (at[0] != '#') read_line(t, at, n, (tabi_place){t->path, line});
    at += n + 1;
  }
}

/* ------------------------------------------------------------------------------------ .seq */

static const char *word(const tbi_yaml_node *map, const char *key) {
  const tbi_yaml_node *node = tbi_yaml_child(map, key);
  return node && node->kind == TBI_YAML_SCALAR ? node->text : "";
}

static bool is_joints(const tbi_yaml_node *component) {
  const char *content = word(component, "content");
  if (content[0] == '\0') content = word(component, "purpose");
  return strcmp(word(component, "type"), "MultiValueSeq") == 0 &&
         (strcmp(content, "JointPosition") == 0 || strcmp(content, "JointDisplacement") == 0);
}

/* Itself, or one of its components. */
static const tbi_yaml_node *find_joints(const tbi_yaml_node *root) {
  if (is_joints(root)) return root;
  const tbi_yaml_node *list = tbi_yaml_child(root, "components");
  for (const tbi_yaml_node *n = list ? list->first : NULL; n; n = n->next) {
    if (is_joints(n)) return n;
  }
  return NULL;
}

static const tbi_yaml_node *inherited(const tbi_yaml_node *component, const tbi_yaml_node *root,
                                      const char *camel, const char *snake) {
  const tbi_yaml_node *const maps[] = {component, root};
  for (int i = 0; i < 2; ++i) {
    const tbi_yaml_node *found = tbi_yaml_child(maps[i], camel);
    if (!found) found = tbi_yaml_child(maps[i], snake);
    if (found) return found;
  }
  return NULL;
}

static bool read_frame(table *t, const tbi_yaml_node *frame, double rate, bool timed) {
  int32_t count = timed ? -1 : 0;
  if (frame->kind != TBI_YAML_LIST)
    return tbi_fail_at(t->error, TABI_ERR_PARSE, frame->place, "a frame is a list of numbers");
  if (!timed && !add_time(t, t->nrow / rate, frame->place)) return false;
  for (const tbi_yaml_node *n = frame->first; n; n = n->next, ++count) {
    double value = 0;
    if (n->kind != TBI_YAML_SCALAR || !tbi_number_read(n->text, strlen(n->text), &value))
      return tbi_fail_at(t->error, TABI_ERR_PARSE, n->place, "'%.40s' is not a number", n->text);
    if (!(count < 0 ? add_time(t, value, n->place) : add_value(t, count, value, n->place)))
      return false;
  }
  return end_row(t, count, frame->place);
}

static void read_frames(table *t, const tbi_yaml_node *root) {
  TBI_ASSERT(root);
  const tbi_yaml_node *joints = find_joints(root);
  if (!joints) {
    tbi_fail_at(t->error, TABI_ERR_PARSE, root->place,
                "no MultiValueSeq of JointPosition or JointDisplacement");
    return;
  }
  const tbi_yaml_node *given = inherited(joints, root, "frameRate", "frame_rate");
  const tbi_yaml_node *timed = inherited(joints, root, "hasFrameTime", "has_frame_time");
  const tbi_yaml_node *frames = tbi_yaml_child(joints, "frames");
  bool has_time = timed && strcmp(timed->text, "true") == 0;
  double rate = 0;
  if (given && given->kind == TBI_YAML_SCALAR)
    (void)tbi_number_read(given->text, strlen(given->text), &rate);
  if (!has_time && !(isfinite(rate) && rate > 0)) {
    tbi_fail_at(t->error, TABI_ERR_PARSE, joints->place, "frameRate must be a number > 0");
    return;
  }
  for (const tbi_yaml_node *n = frames ? frames->first : NULL; n && tbi_ok(t->error); n = n->next)
    read_frame(t, n, rate, has_time);
}

static void read_seq(table *t, const char *text, size_t size) {
  tbi_yaml *yaml = NULL;
  if (tbi_take(t->error, tbi_yaml_parse_aliases(text, size, t->path, &yaml, t->error->err)))
    read_frames(t, tbi_yaml_root(yaml));
  tbi_yaml_destroy(yaml);
}

/* ------------------------------------------------------------------------------------- all */

/* The columns that have a name. */
static void make_csv(table *t, const char *const *names, int32_t nname, tbi_csv *csv) {
  tabi_place place = {t->path, 1};
  if (t->nrow == 0) tbi_fail_at(t->error, TABI_ERR_PARSE, place, "no rows of numbers");
  if (t->ncolumn > nname) {
    tbi_fail_at(t->error, TABI_ERR_PARSE, place, "%d columns, but the robot has %d joints",
                t->ncolumn, nname);
  }
  csv->names = calloc((size_t)t->ncolumn + 1, sizeof *csv->names);
  if (!csv->names) tbi_fail_memory(t->error);
  if (!tbi_ok(t->error) || !csv->names) return;
  int32_t kept = 0;
  for (int32_t i = 0; i < t->ncolumn; ++i) {
    if (!names[i]) continue;
    for (int32_t row = 0; row < t->nrow; ++row) {
      // columns move left, rows stay where they are for now
      t->value[(size_t)row * (size_t)t->ncolumn + (size_t)kept] =
          t->value[(size_t)row * (size_t)t->ncolumn + (size_t)i];
    }
    csv->names[kept++] = names[i];
  }
  for (int32_t row = 1; row < t->nrow; ++row) {
    memmove(t->value + (size_t)row * (size_t)kept, t->value + (size_t)row * (size_t)t->ncolumn,
            (size_t)kept * sizeof *t->value);
  }
  csv->ncolumn = kept;
  if (kept == 0) {
    tbi_fail_at(t->error, TABI_ERR_PARSE, place, "no column is that of a joint");
    return;
  }
  csv->trajectory = tabi_trajectory_create(t->nrow, kept, t->time, t->value, t->error->err);
  if (!csv->trajectory) tbi_take(t->error, TABI_ERR_MEMORY);
}

/* Files that belong to the same motion and say less. */
static bool check_ending(const table *t) {
  const tabi_place place = {t->path, 1};
  if (tbi_path_ends_with(t->path, ".gz"))
    return tbi_fail_at(t->error, TABI_ERR_PARSE, place, "is compressed; run gunzip on it");
  if (tbi_path_ends_with(t->path, ".vel")) {
    return tbi_fail_at(t->error, TABI_ERR_PARSE, place,
                       "has speeds only; name the .pos file beside it, whose speeds they are");
  }
  if (tbi_path_ends_with(t->path, ".zmp")) {
    return tbi_fail_at(t->error, TABI_ERR_PARSE, place,
                       "has no joints; name the .pos file beside it");
  }
  return true;
}

static tabi_status read_text(table *t, const char *text, size_t size, const char *const *names,
                             int32_t nname, tbi_csv *csv) {
  *csv = (tbi_csv){0};
  if (tbi_path_ends_with(t->path, ".seq")) {
    read_seq(t, text, size);
  } else {
    read_pos(t, text, size);
  }
  if (tbi_ok(t->error)) make_csv(t, names, nname, csv);
  free(t->time);
  free(t->value);
  return t->error->status;
}

tabi_status tbi_motion_file_read_text(const char *text, size_t size, const char *path,
                                      const char *const *names, int32_t nname, tbi_csv *csv,
                                      tabi_error *err) {
  TBI_ASSERT(text && path && csv);
  tbi_first_error error = {.err = err};
  table t = {.path = path, .error = &error};
  *csv = (tbi_csv){0};
  return check_ending(&t) ? read_text(&t, text, size, names, nname, csv) : error.status;
}

tabi_status tbi_motion_file_read(const char *path, const char *const *names, int32_t nname,
                                 tbi_csv *csv, tabi_error *err) {
  const tabi_place itself = {NULL, 0};
  char *text = NULL;
  size_t size = 0;
  *csv = (tbi_csv){0};
  tabi_status status = tbi_file_read(path, TBI_CSV_MAX_BYTES, itself, &text, &size, err);
  if (status != TABI_OK) return status;
  status = tbi_motion_file_read_text(text, size, path, names, nname, csv, err);
  free(text);
  return status;
}

char *tbi_motion_file_beside(const char *path, const char *ending) {
  size_t n = strlen(path);
  if (!tbi_path_ends_with(path, ".pos")) return NULL;
  char *beside = strdup(path);
  if (!beside) return NULL;
  memcpy(beside + n - 4, ending, 4);
  if (access(beside, R_OK) == 0) return beside;
  free(beside);
  return NULL;
}

tabi_status tbi_motion_file_read_rates(const char *path, const char *const *names, int32_t nname,
                                       tbi_csv *csv, tabi_error *err) {
  const tabi_place itself = {NULL, 0};
  tbi_first_error error = {.err = err};
  table t = {.path = path, .error = &error};
  char *text = NULL;
  size_t size = 0;
  *csv = (tbi_csv){0};
  tabi_status status = tbi_file_read(path, TBI_CSV_MAX_BYTES, itself, &text, &size, err);
  if (status == TABI_OK) status = read_text(&t, text, size, names, nname, csv);
  free(text);
  return status;
}

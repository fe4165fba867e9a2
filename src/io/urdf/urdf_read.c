/* urdf_read.c - numbers and frames of URDF elements. */
#include "io/urdf/urdf_read.h"

#include "base/assertion.h"
#include "io/report.h"
#include "math/quat.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#define WHAT_SIZE  (TBI_OWNER_SIZE + 40)
#define MAX_VECTOR 4
#define MAX_GIVEN  16 /* numbers that a file may give too many of */

void tbi_urdf_owner(char owner[TBI_OWNER_SIZE], const char *kind, const char *name) {
  (void)snprintf(owner, TBI_OWNER_SIZE, "%s '%.120s'", kind, name);
}

bool tbi_urdf_number(tbi_first_error *error, tbi_xml_node *node, const char *attribute,
                     const char *owner, double *value) {
  char what[WHAT_SIZE];
  const char *text = tbi_xml_get(node, attribute);
  if (!text) return tbi_ok(error);
  // <mass value=...> is spoken of as the mass, <limit lower=...> as the lower
  bool is_value = strcmp(attribute, "value") == 0;
  (void)snprintf(what, sizeof what, "%s: %.30s", owner, is_value ? node->name : attribute);
  return tbi_xml_number(error, text, node->place, what, value);
}

/* "1, 2, 3" as "1 2 3": a comma before white space cannot be a decimal one.  A copy that the caller
 * frees, or NULL where there is no such comma, and after an error. */
static char *without_commas(tbi_first_error *error, const char *text) {
  bool found = false;
  for (const char *c = text; *c != '\0'; ++c)
    found = found || (*c == ',' && (c[1] == ' ' || c[1] == '\t' || c[1] == '\n'));
  size_t size = strlen(text) + 1;
  char *copy = found ? malloc(size) : NULL;
  if (found && !copy) tbi_fail_memory(error);
  if (!copy) return NULL;
  memcpy(copy, text, size);
  for (char *c = copy; *c != '\0'; ++c) {
    if (*c == ',' && (c[1] == ' ' || c[1] == '\t' || c[1] == '\n')) *c = ' ';
  }
  return copy;
}

/* Up to n numbers, and whether more followed. */
static int32_t read_some(tbi_urdf_reading r, const tbi_xml_node *node, const char *what,
                         const char *text, int32_t n, double *values) {
  double read[MAX_GIVEN];
  char instead[64];
  char *spaced = without_commas(r.error, text);
  int32_t count =
      tbi_xml_numbers(r.error, spaced ? spaced : text, node->place, what, read, MAX_GIVEN);
  if (spaced && tbi_ok(r.error)) {
    tbi_repaired(r.error, r.def, node->place, (tbi_repair){what, "taken as spaces", 0},
                 "commas between numbers");
  }
  free(spaced);
  if (count > n && tbi_ok(r.error)) {
    (void)snprintf(instead, sizeof instead, "the first %d taken", (int)n);
    tbi_repaired(r.error, r.def, node->place, (tbi_repair){what, instead, 0}, "%d numbers",
                 (int)count);
    count = n;
  }
  for (int32_t i = 0; i < count && i < n; ++i)
    values[i] = read[i];
  return count;
}

bool tbi_urdf_vector(tbi_urdf_reading r, tbi_xml_node *node, const char *attribute,
                     const char *owner, int32_t n, double *values) {
  char what[WHAT_SIZE];
  double read[MAX_VECTOR] = {0};
  TBI_ASSERT(n <= MAX_VECTOR);
  const char *text = tbi_xml_get(node, attribute);
  // empty attributes come from programs that found nothing to write
  if (!text || text[strspn(text, " \t\r\n")] == '\0') return tbi_ok(r.error);
  (void)snprintf(what, sizeof what, "%s: %.30s", owner, attribute);
  int32_t count = read_some(r, node, what, text, n, read);
  if (count != n) {
    return tbi_fail_at(r.error, TABI_ERR_PARSE, node->place, "%s needs %d numbers, got %d", what,
                       (int)n, (int)count);
  }
  if (!tbi_ok(r.error)) return false;
  for (int32_t i = 0; i < n; ++i)
    values[i] = read[i];
  return true;
}

bool tbi_urdf_bound(tbi_first_error *error, tbi_xml_node *node, const char *attribute,
                    const char *owner, double *value) {
  const char *text = tbi_xml_get(node, attribute);
  if (!text) return tbi_ok(error);
  const char *word = text + strspn(text, " +-");
  if (strcasecmp(word, "inf") != 0 && strcasecmp(word, "infinity") != 0)
    return tbi_urdf_number(error, node, attribute, owner, value);
  *value = strchr(text, '-') ? -(double)INFINITY : (double)INFINITY;
  return tbi_ok(error);
}

/* Roll about x, then pitch about y, then yaw about z, all fixed axes. */
static q4 from_rpy(const double rpy[3]) {
  q4 roll = {cos(0.5 * rpy[0]), sin(0.5 * rpy[0]), 0, 0};
  q4 pitch = {cos(0.5 * rpy[1]), 0, sin(0.5 * rpy[1]), 0};
  q4 yaw = {cos(0.5 * rpy[2]), 0, 0, sin(0.5 * rpy[2])};
  return q_mul(yaw, q_mul(pitch, roll));
}

void tbi_urdf_quat(const double rpy[3], double quat[4]) { q_store(from_rpy(rpy), quat); }

/* the rotation of URDF 1.2, in place of rpy */
static void read_xyzw(tbi_urdf_reading r, tbi_xml_node *origin, const char *owner, double quat[4]) {
  double xyzw[4] = {0, 0, 0, 1};
  tbi_urdf_vector(r, origin, "quat_xyzw", owner, 4, xyzw);
  q4 rot = {xyzw[3], xyzw[0], xyzw[1], xyzw[2]};
  if (!tbi_ok(r.error)) return;
  if (q_norm(rot) > 0) {
    q_store(q_normalize(rot), quat);
  } else {
    tbi_fail_at(r.error, TABI_ERR_PARSE, origin->place,
                "%s: quaternion has zero length; write 0 0 0 1 for no rotation", owner);
  }
}

bool tbi_urdf_origin(tbi_urdf_reading r, tbi_xml_node *node, const char *owner, double pos[3],
                     double quat[4]) {
  double rpy[3] = {0, 0, 0};
  pos[0] = pos[1] = pos[2] = 0;
  tbi_xml_node *origin = tbi_xml_child(node, "origin");
  if (origin) {
    tbi_urdf_vector(r, origin, "xyz", owner, 3, pos);
    tbi_urdf_vector(r, origin, "rpy", owner, 3, rpy);
  }
  q_store(from_rpy(rpy), quat);
  if (origin && tbi_xml_get(origin, "quat_xyzw")) read_xyzw(r, origin, owner, quat);
  return tbi_ok(r.error);
}

/* Whether the program is on the PATH; it is never run from here. */
static bool has_program(const char *name) {
  const char *list = getenv("PATH"); // NOLINT(concurrency-mt-unsafe): read only
  char file[1024];
  while (list && *list != '\0') {
    size_t n = strcspn(list, ":");
    int written = snprintf(file, sizeof file, "%.*s/%s", (int)n, list, name);
    bool fits = written > 0 && (size_t)written < sizeof file;
    if (n > 0 && fits && access(file, X_OK) == 0) return true;
    list += n;
    list += *list == ':';
  }
  return false;
}

static bool fail_xacro(tbi_first_error *error, const tbi_xml_node *node, const char *what) {
  const char *path = node->place.file ? node->place.file : "robot.urdf.xacro";
  const char *slash = strrchr(path, '/');
  const char *install = has_program("xacro") ? "" : " (pip install xacro)";
  return tbi_fail_at(error, TABI_ERR_PARSE, node->place,
                     "%s is not URDF; expand the file by xacro first: xacro %.100s > robot.urdf%s",
                     what, slash ? slash + 1 : path, install);
}

static bool check_expanded(tbi_first_error *error, const tbi_xml_node *node) {
  char what[64];
  (void)snprintf(what, sizeof what, "<%.40s>", node->name);
  if (strncmp(node->name, "xacro:", 6) == 0) return fail_xacro(error, node, what);
  for (const tbi_xml_attribute *a = node->attributes; a; a = a->next) {
    (void)snprintf(what, sizeof what, "'%.40s'", a->value);
    if (strstr(a->value, "${") || strstr(a->value, "$(")) return fail_xacro(error, node, what);
  }
  return true;
}

bool tbi_urdf_check_expanded(tbi_first_error *error, tbi_xml_node *robot) {
  const tbi_xml_node *node = robot;
  while (node) {
    if (!check_expanded(error, node)) return false;
    if (node->first) {
      node = node->first;
      continue;
    }
    while (node != robot && !node->next)
      node = node->parent;
    node = node == robot ? NULL : node->next;
  }
  return true;
}

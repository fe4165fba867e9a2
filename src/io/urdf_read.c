/* urdf_read.c - numbers and frames of URDF elements. */
#include "io/urdf_read.h"

#include "base/assertion.h"
#include "math/quat.h"

#include <stdio.h>
#include <string.h>

#define WHAT_SIZE  (TBI_OWNER_SIZE + 40)
#define MAX_VECTOR 4

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

bool tbi_urdf_vector(tbi_first_error *error, tbi_xml_node *node, const char *attribute,
                     const char *owner, int32_t n, double *values) {
  char what[WHAT_SIZE];
  double read[MAX_VECTOR];
  TBI_ASSERT(n <= MAX_VECTOR);
  const char *text = tbi_xml_get(node, attribute);
  if (!text) return tbi_ok(error);
  (void)snprintf(what, sizeof what, "%s: %.30s", owner, attribute);
  int32_t count = tbi_xml_numbers(error, text, node->place, what, read, n);
  if (count != n) {
    return tbi_fail_at(error, TABI_ERR_PARSE, node->place, "%s needs %d numbers, got %d", what,
                       (int)n, (int)count);
  }
  if (!tbi_ok(error)) return false;
  for (int32_t i = 0; i < n; ++i)
    values[i] = read[i];
  return true;
}

/* Roll about x, then pitch about y, then yaw about z, all fixed axes. */
static q4 from_rpy(const double rpy[3]) {
  q4 roll = {cos(0.5 * rpy[0]), sin(0.5 * rpy[0]), 0, 0};
  q4 pitch = {cos(0.5 * rpy[1]), 0, sin(0.5 * rpy[1]), 0};
  q4 yaw = {cos(0.5 * rpy[2]), 0, 0, sin(0.5 * rpy[2])};
  return q_mul(yaw, q_mul(pitch, roll));
}

bool tbi_urdf_origin(tbi_first_error *error, tbi_xml_node *node, const char *owner, double pos[3],
                     double quat[4]) {
  double rpy[3] = {0, 0, 0};
  pos[0] = pos[1] = pos[2] = 0;
  tbi_xml_node *origin = tbi_xml_child(node, "origin");
  if (origin) {
    tbi_urdf_vector(error, origin, "xyz", owner, 3, pos);
    tbi_urdf_vector(error, origin, "rpy", owner, 3, rpy);
  }
  q_store(from_rpy(rpy), quat);
  return tbi_ok(error);
}

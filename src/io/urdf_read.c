/* urdf_read.c - numbers and frames of URDF elements. */
#include "io/urdf_read.h"

#include "base/error.h"
#include "math/quat.h"

#include <stdio.h>
#include <string.h>

#define WHAT_SIZE (TBI_OWNER_SIZE + 40)

void tbi_urdf_owner(char owner[TBI_OWNER_SIZE], const char *kind, const char *name) {
  (void)snprintf(owner, TBI_OWNER_SIZE, "%s '%.120s'", kind, name);
}

tabi_status tbi_urdf_number(tbi_xml_node *node, const char *attribute, const char *owner,
                            double *value, tabi_error *err) {
  char what[WHAT_SIZE];
  const char *text = tbi_xml_get(node, attribute);
  if (!text) return TABI_OK;
  // <mass value=...> is spoken of as the mass, <limit lower=...> as the lower
  bool is_value = strcmp(attribute, "value") == 0;
  (void)snprintf(what, sizeof what, "%s: %.30s", owner, is_value ? node->name : attribute);
  return tbi_xml_number(text, node->place, what, value, err);
}

tabi_status tbi_urdf_vector(tbi_xml_node *node, const char *attribute, const char *owner, int32_t n,
                            double *values, tabi_error *err) {
  char what[WHAT_SIZE];
  double read[4];
  int32_t count = 0;
  const char *text = tbi_xml_get(node, attribute);
  if (!text) return TABI_OK;
  (void)snprintf(what, sizeof what, "%s: %.30s", owner, attribute);
  tabi_status status = tbi_xml_numbers(text, node->place, what, read, n, &count, err);
  if (status != TABI_OK) return status;
  if (count != n) {
    return tbi_error_set(err, TABI_ERR_PARSE, node->place, "%s needs %d numbers, got %d", what,
                         (int)n, (int)count);
  }
  for (int32_t i = 0; i < n; ++i)
    values[i] = read[i];
  return TABI_OK;
}

/* Roll about x, then pitch about y, then yaw about z, all fixed axes. */
static q4 from_rpy(const double rpy[3]) {
  q4 roll = {cos(0.5 * rpy[0]), sin(0.5 * rpy[0]), 0, 0};
  q4 pitch = {cos(0.5 * rpy[1]), 0, sin(0.5 * rpy[1]), 0};
  q4 yaw = {cos(0.5 * rpy[2]), 0, 0, sin(0.5 * rpy[2])};
  return q_mul(yaw, q_mul(pitch, roll));
}

tabi_status tbi_urdf_origin(tbi_xml_node *node, const char *owner, double pos[3], double quat[4],
                            tabi_error *err) {
  double rpy[3] = {0, 0, 0};
  pos[0] = pos[1] = pos[2] = 0;
  tbi_xml_node *origin = tbi_xml_child(node, "origin");
  if (origin) {
    tabi_status status = tbi_urdf_vector(origin, "xyz", owner, 3, pos, err);
    if (status == TABI_OK) status = tbi_urdf_vector(origin, "rpy", owner, 3, rpy, err);
    if (status != TABI_OK) return status;
  }
  q_store(from_rpy(rpy), quat);
  return TABI_OK;
}

/* urdf_limit.c - see urdf_limit.h. */
#include "io/urdf/urdf_limit.h"

#include "io/number.h"
#include "io/repair.h"
#include "io/report.h"
#include "io/urdf/urdf_read.h"

#include <string.h>

bool tbi_urdf_has_range(tabi_joint_type type) {
  return type == TABI_JOINT_REVOLUTE || type == TABI_JOINT_PRISMATIC;
}

/* The <limit> of a joint that may move. */
static tbi_xml_node *limit_of(tbi_xml_node *joint) {
  const char *type = tbi_xml_get(joint, "type");
  if (!type || strcmp(type, "fixed") == 0 || strcmp(type, "floating") == 0) return NULL;
  return tbi_xml_child(joint, "limit");
}

static bool is_zero(const char *text) {
  double value = 1;
  return tbi_number_read(text, strlen(text), &value) && value == 0;
}

/* Whether every joint that says something here says 0; `first` is one of them. */
static bool all_zero(tbi_xml_node *root, const char *attribute, tbi_xml_node **first) {
  *first = NULL;
  for (tbi_xml_node *j = tbi_xml_child(root, "joint"); j; j = tbi_xml_next(j)) {
    tbi_xml_node *limit = limit_of(j);
    const char *text = limit ? tbi_xml_get(limit, attribute) : NULL;
    if (!text) continue;
    if (!is_zero(text)) return false;
    if (!*first) *first = limit;
  }
  return *first != NULL;
}

void tbi_urdf_limits_init(tbi_urdf_limits *limits, tbi_xml_node *root) {
  tbi_xml_node *first;
  limits->no_velocity = all_zero(root, "velocity", &first);
  limits->no_effort = all_zero(root, "effort", &first);
  if (!limits->no_effort) return;
  tbi_note(limits->def, first->place,
           "effort is 0 at all joints, taken as no limit; give each joint its largest torque");
}

/* The joint starts at 0, which its limits exclude. */
static void warn_outside(const tbi_urdf_limits *limits, tbi_xml_node *limit, const char *owner,
                         const tabi_joint_def *def, bool swapped) {
  if (def->lower <= 0 && def->upper >= 0) return;
  const char *lower = tbi_xml_get(limit, swapped ? "upper" : "lower");
  const char *upper = tbi_xml_get(limit, swapped ? "lower" : "upper");
  tbi_warn(limits->def, limit->place,
           "%s: start 0 outside [%.40s,%.40s]; give the scene a posture inside", owner,
           lower ? lower : "0", upper ? upper : "0");
}

/* How strong or fast a joint may be; some files write -1 for one without a limit. */
static void read_capacity(const tbi_urdf_limits *limits, tbi_xml_node *limit, const char *attribute,
                          const char *owner, double *value) {
  double given = *value;
  if (!tbi_urdf_bound(limits->error, limit, attribute, owner, &given)) return;
  if (!(given < 0)) {
    *value = given;
    return;
  }
  tbi_repaired(limits->error, limits->def, limit->place,
               (tbi_repair){owner, "taken as no limit", 0}, "%s %g < 0", attribute, given);
}

static bool refuse_absent(const tbi_urdf_limits *limits, tbi_xml_node *joint, const char *owner,
                          tabi_joint_type type) {
  const char *missing = type == TABI_JOINT_REVOLUTE
                            ? "revolute needs <limit>; use 'continuous' for none"
                            : "prismatic needs <limit> with lower and upper";
  return tbi_fail_at(limits->error, TABI_ERR_MODEL, joint->place, "%s: %s", owner, missing);
}

bool tbi_urdf_limits_read(const tbi_urdf_limits *limits, tbi_xml_node *joint, const char *owner,
                          tabi_joint_def *def) {
  tbi_xml_node *limit = tbi_xml_child(joint, "limit");
  if (!limit) {
    return !tbi_urdf_has_range(def->type) || refuse_absent(limits, joint, owner, def->type);
  }
  if (!limits->no_effort) read_capacity(limits, limit, "effort", owner, &def->effort);
  if (!limits->no_velocity) read_capacity(limits, limit, "velocity", owner, &def->velocity);
  if (!tbi_urdf_has_range(def->type)) return tbi_ok(limits->error);
  def->lower = def->upper = 0;
  tbi_urdf_bound(limits->error, limit, "lower", owner, &def->lower);
  tbi_urdf_bound(limits->error, limit, "upper", owner, &def->upper);
  bool swapped = def->lower > def->upper;
  tbi_repair_limits(limits->error, limits->def, limit->place, owner, &def->lower, &def->upper);
  if (tbi_ok(limits->error)) warn_outside(limits, limit, owner, def, swapped);
  return tbi_ok(limits->error);
}

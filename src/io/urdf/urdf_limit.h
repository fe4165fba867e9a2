/* urdf_limit.h - the element <limit> of joints of URDF.
 *
 * `effort` and `velocity` must be there, so exporters write 0 where nobody gave them a number.  If
 * all joints of a file that may move say 0, that is no limit: a robot without any torque would be
 * of no use.  A 0 beside other numbers is meant, of a joint that nothing drives. */
#ifndef TBI_URDF_LIMIT_H
#define TBI_URDF_LIMIT_H

#include "io/first_error.h"
#include "io/xml.h"
#include "tabi/tabi_io.h"

typedef struct tbi_urdf_limits {
  const tabi_load_def *def;
  tbi_first_error *error;
  bool no_effort, no_velocity; /* all are 0, which says nothing */
} tbi_urdf_limits;

/* Looks at all joints; def and error are set already. */
void tbi_urdf_limits_init(tbi_urdf_limits *limits, tbi_xml_node *root);
/* Whether joints of this type have a lower and an upper end. */
bool tbi_urdf_has_range(tabi_joint_type type);
/* The limits of a joint whose type is in def. */
bool tbi_urdf_limits_read(const tbi_urdf_limits *limits, tbi_xml_node *joint, const char *owner,
                          tabi_joint_def *def);

#endif

/* urdf_read.h - the small readers that the parts of the URDF loader share.
 *
 * `owner` is who a message speaks of: "link 'a'".  An attribute that is not there leaves the
 * value as it was.  All keep the first error (first_error.h). */
#ifndef TBI_URDF_READ_H
#define TBI_URDF_READ_H

#include "io/xml.h"
#include "tabi/tabi_io.h"

#define TBI_OWNER_SIZE 160

/* "link 'a'", with a very long name cut. */
void tbi_urdf_owner(char owner[TBI_OWNER_SIZE], const char *kind, const char *name);

/* Who hears of errors, and of repairs. */
typedef struct tbi_urdf_reading {
  tbi_first_error *error;
  const tabi_load_def *def;
} tbi_urdf_reading;

bool tbi_urdf_number(tbi_first_error *error, tbi_xml_node *node, const char *attribute,
                     const char *owner, double *value);
/* A limit, which may be infinite. */
bool tbi_urdf_bound(tbi_first_error *error, tbi_xml_node *node, const char *attribute,
                    const char *owner, double *value);
/* n numbers, at most 4.  More than n, and commas and a space between them, are repaired; an
 * empty attribute is as one that is not there. */
bool tbi_urdf_vector(tbi_urdf_reading r, tbi_xml_node *node, const char *attribute,
                     const char *owner, int32_t n, double *values);
/* <origin xyz rpy> below node, or no displacement. */
bool tbi_urdf_origin(tbi_urdf_reading r, tbi_xml_node *node, const char *owner, double pos[3],
                     double quat[4]);

/* Roll, pitch and yaw as a quaternion. */
void tbi_urdf_quat(const double rpy[3], double quat[4]);

/* An error where macros of xacro are left, with the command that expands them. */
bool tbi_urdf_check_expanded(tbi_first_error *error, tbi_xml_node *robot);

#endif

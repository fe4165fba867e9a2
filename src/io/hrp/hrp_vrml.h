/* hrp_vrml.h - robots of OpenHRP3 in VRML, as calls to a builder. */
#ifndef TBI_HRP_VRML_H
#define TBI_HRP_VRML_H

#include "io/hrp/hrp_robot.h"
#include "io/hrp/vrml.h"

/* Adds the robot of a text.  Files that it names are looked for beside `path`.  What is not used is
 * reported to def->warn. */
tabi_status tbi_hrp_vrml_load(tabi_builder *builder, const char *text, size_t size,
                              const char *path, const tabi_load_def *def, tabi_error *err);
/* The same into a robot that is being gathered. */
bool tbi_hrp_vrml_read(tbi_hrp *hrp, const char *text, size_t size, const char *path);

/* ------------------------------------------------- shared by hrp_vrml.c and hrp_vrml_shape.c */

/* What stands where in a file: nodes below a link. */
typedef struct tbi_hrp_walk {
  tbi_hrp *hrp;
  tbi_vrml *vrml;
  int32_t link; /* TABI_NONE: none yet */
  tbi_hrp_frame frame;
  tbi_hrp_look look;
  bool has_joints; /* else Joint, Segment and sensors are only what is in them */
} tbi_hrp_walk;

/* Goes through a node and all below it. */
void tbi_hrp_walk_node(const tbi_hrp_walk *walk, const tbi_vrml_node *node);
void tbi_hrp_walk_nodes(const tbi_hrp_walk *walk, const tbi_vrml_node *node, const char *field);
/* Reports the fields of a node that are not used; `also` is a second owner to look under, or NULL.
 */
void tbi_hrp_vrml_check(tbi_hrp *hrp, const tbi_vrml_node *node, const char *also);
/* Exactly count finite numbers, or none: then the values stay as they are. */
bool tbi_hrp_vrml_numbers(tbi_hrp *hrp, const tbi_vrml_node *node, const char *field,
                          double *values, int32_t count);
/* The first node in a field, or NULL. */
const tbi_vrml_node *tbi_hrp_vrml_node(const tbi_vrml_node *node, const char *field);
void tbi_hrp_vrml_shape(const tbi_hrp_walk *walk, const tbi_vrml_node *shape);
void tbi_hrp_vrml_inline(const tbi_hrp_walk *walk, const char *file, tabi_place place);

#endif

/* hrp_project.h - OpenHRP3 projects as scenes. */
#ifndef TBI_HRP_PROJECT_H
#define TBI_HRP_PROJECT_H

#include "io/xml.h"
#include "tabi/tabi_io.h"

/* The text of the scene that a project describes, which the caller frees.  Models are looked for in
 * the project's folder and its parent, or its package.  What is not used is reported to def->warn.
 */
tabi_status tbi_hrp_project_scene(tbi_xml_node *root, const char *path, const tabi_scene_def *def,
                                  char **scene, size_t *size, tabi_error *err);

#endif

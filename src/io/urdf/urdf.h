/* urdf.h - from the XML tree of a URDF file to builder calls. */
#ifndef TBI_URDF_H
#define TBI_URDF_H

#include "io/xml.h"
#include "tabi/tabi_io.h"

/* Adds the robot below <robot> to the builder.  path is where relative files are looked for. */
tabi_status tbi_urdf_load(tabi_builder *builder, tbi_xml_node *root, const char *path,
                          const tabi_load_def *def, tabi_error *err);

#endif

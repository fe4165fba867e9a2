/* sdf.h - SDF 1.4 to 1.11: models and worlds of Gazebo. */
#ifndef TBI_SDF_H
#define TBI_SDF_H

#include "io/xml.h"
#include "tabi/tabi_io.h"

/* Adds what is below <sdf> to the builder: all its models, or the one that def->part names.  path
 * is where relative files are looked for.  A world brings its gravity and time step. */
tabi_status tbi_sdf_load(tabi_builder *builder, tbi_xml_node *root, const char *path,
                         const tabi_load_def *def, tabi_error *err);

/* The same as a scene in YAML, one robot for each of the outermost models; a single one where
 * joints join them or there are very many.  The caller frees *text. */
tabi_status tbi_sdf_write_scene(tbi_xml_node *root, const char *path, const tabi_load_def *def,
                                char **text, size_t *size, tabi_error *err);

#endif

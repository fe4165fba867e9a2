/* mjcf.h - MJCF, the model files of MuJoCo, as calls to a builder. */
#ifndef TBI_MJCF_H
#define TBI_MJCF_H

#include "io/xml.h"
#include "tabi/tabi_io.h"

/* Adds what the tree below root says.  Relative files are looked for beside `path`.  What is not
 * used is reported to def->warn.  Included files are spliced into the tree while it is read and
 * taken out again at the end. */
tabi_status tbi_mjcf_load(tabi_builder *builder, tbi_xml_node *root, const char *path,
                          const tabi_load_def *def, tabi_error *err);

#endif

/* urdf_shape.h - visual and collision shapes of URDF links, and their colours. */
#ifndef TBI_URDF_SHAPE_H
#define TBI_URDF_SHAPE_H

#include "base/names.h"
#include "io/mesh/mesh.h"
#include "io/urdf/urdf_extra.h"
#include "io/xml.h"

typedef struct tbi_urdf_shapes {
  tabi_builder *builder;
  tbi_meshes *meshes;
  tbi_urdf_extras *extras;
  const tabi_load_def *def;
  tbi_first_error *error;
  tbi_names names;        /* of colours */
  tbi_xml_node **colours; /* <color> by index of its name */
  int32_t ncolour, capacity;
} tbi_urdf_shapes;

/* Gathers the colours of the whole robot.  Free after an error as well. */
void tbi_urdf_shapes_init(tbi_urdf_shapes *shapes, tbi_xml_node *robot);
void tbi_urdf_shapes_free(tbi_urdf_shapes *shapes);

/* Adds all shapes of a link, by its place in the builder and its name in the file. */
void tbi_urdf_shapes_add(tbi_urdf_shapes *shapes, tbi_xml_node *link, int32_t index,
                         const char *name);

#endif

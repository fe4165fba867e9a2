/* connection.h - lists of connections in YAML, of a scene or of the file beside a URDF.
 *
 * A connection names two links and a frame on the first; the frame on the second is where the
 * first one's is in a posture, or what the file says. */
#ifndef TBI_CONNECTION_H
#define TBI_CONNECTION_H

#include "io/yaml.h"
#include "tabi/tabi_io.h"

/* Whose connections are read. */
typedef struct tbi_connections {
  tabi_builder *builder;   /* receives them, and knows the links */
  const tabi_model *model; /* made by the builder, to see where the links stand */
  const double *q;         /* [nq], the posture in which they do */
  const char *prefix;      /* before all names: "robot/"; "" for a scene */
  bool has_world;          /* `world` may be named */
  tabi_error *err;
} tbi_connections;

tabi_status tbi_connections_read(const tbi_connections *list, const tbi_yaml_node *nodes);

/* Warns of connections of a model that are open in a posture. */
tabi_status tbi_connections_warn(const tabi_model *model, const double *q, tabi_warning_fn *warn,
                                 void *user, tabi_error *err);

#endif

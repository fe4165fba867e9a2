/* connection.h - lists of connections in YAML, of a scene or of the file beside a URDF.
 *
 * A connection names two links and a frame on the first; the frame on the second is where the
 * first one's is in a posture, or what the file says. */
#ifndef TBI_CONNECTION_H
#define TBI_CONNECTION_H

#include "io/find.h"
#include "tabi/tabi_io.h"

/* Whose connections are read. */
typedef struct tbi_connections {
  tbi_finder find;         /* its builder receives them */
  const tabi_model *model; /* made by the builder, to see where the links are */
  const double *q;         /* [nq], the posture in which they are there */
  bool has_world;          /* `world` may be named */
} tbi_connections;

bool tbi_connections_read(const tbi_connections *list, const tbi_yaml_node *nodes);

/* Warns of connections of a model that are open in a posture, or that join what overlaps there. */
bool tbi_connections_warn(tbi_first_error *error, const tabi_model *model, const double *q,
                          tabi_warning_fn *warn, void *user);

#endif

/* sidecar.h - robot.tabi.yaml beside robot.urdf: loops, and numbers for which URDF has no word. */
#ifndef TBI_SIDECAR_H
#define TBI_SIDECAR_H

#include "tabi/tabi_io.h"

/* Reads the file beside the URDF at `path`, if there is one, and changes the robot that was just
 * added to the builder; its joints are those from first_joint on. */
tabi_status tbi_sidecar_load(tabi_builder *builder, const char *path, const tabi_load_def *def,
                             int32_t first_joint, tabi_error *err);

#endif

/* mesh.h - what the targets for mesh files share. */
#ifndef TABI_FUZZ_MESH_H
#define TABI_FUZZ_MESH_H

#include "io/mesh/mesh_file.h"

/* Aborts if something that a reader accepted is not a mesh; weighs it and frees it. */
void fuzz_mesh(tbi_mesh *mesh);

#endif

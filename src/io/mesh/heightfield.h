/* heightfield.h - heights over a grid, as text or as a grey picture. */
#ifndef TBI_HEIGHTFIELD_H
#define TBI_HEIGHTFIELD_H

#include "io/mesh/mesh.h"

#define TBI_HEIGHTFIELD_MAX_BYTES  ((size_t)64 * 1024 * 1024)
#define TBI_HEIGHTFIELD_MAX_POINTS 4000000

/* How a grid of numbers lies in the world. */
typedef struct tbi_heightfield {
  double size[2]; /* m, full width in x and y around the origin; 0: 1 m between neighbours */
  double height;  /* m for a 1 in a text, for white in a picture */
} tbi_heightfield;

/* Reads the bytes of a file: PGM, 8 or 16 bits, plain or raw, or rows of numbers with spaces,
 * commas or semicolons between them.  Rows run along x; the first one has the largest y, as a map
 * is drawn.  `name` is what messages call it, place is to blame.  The caller frees the mesh, two
 * triangles for a cell that look up; on an error there is none. */
tabi_status tbi_heightfield_parse(const void *bytes, size_t size, const tbi_heightfield *field,
                                  const char *name, tabi_place place, tbi_mesh *mesh,
                                  tabi_error *err);

#endif

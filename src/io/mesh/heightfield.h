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

/* A grid of numbers, row by row; the first row has the largest y, as a map is drawn. */
typedef struct tbi_heights {
  double *heights; /* the caller frees them */
  int32_t columns, rows;
} tbi_heights;

/* Reads the bytes of a file: PNG, or PGM with 8 or 16 bits, plain or raw, whose white is 1; or rows
 * of numbers with spaces, commas or semicolons between them, which run along x.  `name` is what
 * messages call it, place is to blame.  On an error there are none. */
tabi_status tbi_heights_read(const void *bytes, size_t size, const char *name, tabi_place place,
                             tbi_heights *heights, tabi_error *err);
/* MuJoCo's own format: counts of rows and columns, and as many numbers, all of 4 bytes; here the
 * first row has the smallest y. */
tabi_status tbi_heights_read_mujoco(const void *bytes, size_t size, const char *name,
                                    tabi_place place, tbi_heights *heights, tabi_error *err);

/* Two triangles for a cell that look up.  The caller frees the mesh; on an error there is none. */
tabi_status tbi_heights_mesh(const tbi_heights *heights, const tbi_heightfield *field,
                             tbi_mesh *mesh, tabi_error *err);
/* Both: the mesh of a file's bytes. */
tabi_status tbi_heightfield_parse(const void *bytes, size_t size, const tbi_heightfield *field,
                                  const char *name, tabi_place place, tbi_mesh *mesh,
                                  tabi_error *err);

#endif

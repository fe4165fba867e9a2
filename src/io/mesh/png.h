/* png.h - grey values of PNG pictures, for height fields. */
#ifndef TBI_PNG_H
#define TBI_PNG_H

#include "tabi/tabi_io.h"

/* A picture from the upper left corner, row by row, 0 black to 1 white. */
typedef struct tbi_png {
  double *grey; /* the caller frees it */
  int32_t columns, rows;
} tbi_png;

bool tbi_png_is(const void *bytes, size_t size);

/* Reads 1 to 16 bits of grey, of colours, which count by their brightness, or of a palette, without
 * interlacing; transparency is ignored.  At most max_points pixels.  `name` is what messages call
 * the picture, place is to blame.  After an error there is no picture. */
tabi_status tbi_png_read(const void *bytes, size_t size, int32_t max_points, const char *name,
                         tabi_place place, tbi_png *png, tabi_error *err);

#endif

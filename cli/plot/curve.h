/* curve.h - a signal over time with as few points as a picture needs.
 *
 * Time is cut into equal pieces.  Of each, the lowest and the highest value stay, so that an impact
 * of a single step is seen however long the run. */
#ifndef TBI_CURVE_H
#define TBI_CURVE_H

#include <stdbool.h>
#include <stdint.h>

typedef struct tbi_point {
  double time, value; /* NaN: the curve is interrupted */
} tbi_point;

typedef struct tbi_curve {
  double from, width; /* s, of the pieces */
  tbi_point *point;
  int32_t count, capacity;
  bool no_memory;
  /* the piece that is being filled */
  double piece;        /* which */
  bool begun, known;   /* something was added; a number was */
  tbi_point low, high; /* if known */
} tbi_curve;

/* At most 2 * pieces points between two times. */
void tbi_curve_begin(tbi_curve *curve, double from, double to, int32_t pieces);
void tbi_curve_free(tbi_curve *curve);
/* In the order of time; values may be NaN. */
void tbi_curve_add(tbi_curve *curve, double time, double value);
/* After the last. */
void tbi_curve_end(tbi_curve *curve);

#endif

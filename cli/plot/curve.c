/* curve.c - see curve.h. */
#include "plot/curve.h"

#include <math.h>
#include <stdlib.h>

void tbi_curve_begin(tbi_curve *curve, double from, double to, int32_t pieces) {
  *curve = (tbi_curve){.from = from, .width = fmax((to - from) / pieces, 1e-12)};
}

void tbi_curve_free(tbi_curve *curve) {
  free(curve->point);
  *curve = (tbi_curve){0};
}

static void keep(tbi_curve *curve, tbi_point point) {
  if (curve->count == curve->capacity) {
    int32_t capacity = curve->capacity ? 2 * curve->capacity : 256;
    tbi_point *grown = realloc(curve->point, (size_t)capacity * sizeof *grown);
    if (!grown) {
      curve->no_memory = true;
      return;
    }
    curve->point = grown;
    curve->capacity = capacity;
  }
  curve->point[curve->count++] = point;
}

/* One gap in a row is enough. */
static void interrupt(tbi_curve *curve, double time) {
  if (curve->count == 0 || isnan(curve->point[curve->count - 1].value)) return;
  keep(curve, (tbi_point){time, (double)NAN});
}

void tbi_curve_end(tbi_curve *curve) {
  if (!curve->begun) return;
  curve->begun = false;
  if (!curve->known) {
    interrupt(curve, curve->from + curve->piece * curve->width);
    return;
  }
  bool rises = curve->low.time <= curve->high.time;
  keep(curve, rises ? curve->low : curve->high);
  if (curve->low.time != curve->high.time) keep(curve, rises ? curve->high : curve->low);
}

void tbi_curve_add(tbi_curve *curve, double time, double value) {
  double piece = floor((time - curve->from) / curve->width);
  if (!curve->begun || piece != curve->piece) {
    tbi_curve_end(curve);
    curve->piece = piece;
    curve->begun = true;
    curve->known = false;
  }
  if (isnan(value)) return;
  if (!curve->known) curve->low = curve->high = (tbi_point){time, value};
  curve->known = true;
  if (value < curve->low.value) curve->low = (tbi_point){time, value};
  if (value > curve->high.value) curve->high = (tbi_point){time, value};
}

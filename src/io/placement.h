/* placement.h - where a node puts what hangs on it: any affine map, as mesh files use them. */
#ifndef TBI_PLACEMENT_H
#define TBI_PLACEMENT_H

#include "io/weld.h"
#include "math/mat.h"

typedef struct tbi_placement {
  m3 turn; /* and stretch, and mirror */
  v3 shift;
} tbi_placement;

static inline tbi_placement tbi_placement_none(void) {
  return (tbi_placement){m3_identity(), v3_zero()};
}

static inline v3 tbi_placement_point(const tbi_placement *p, v3 point) {
  return v3_add(m3_mulv(&p->turn, point), p->shift);
}

/* First inner, then outer. */
static inline tbi_placement tbi_placement_mul(const tbi_placement *outer,
                                              const tbi_placement *inner) {
  return (tbi_placement){m3_mul(&outer->turn, &inner->turn),
                         tbi_placement_point(outer, inner->shift)};
}

/* Whether it turns a face over. */
static inline bool tbi_placement_mirrors(const tbi_placement *p) {
  return v3_dot(m3_row(&p->turn, 0), v3_cross(m3_row(&p->turn, 1), m3_row(&p->turn, 2))) < 0;
}

/* Welds a triangle of the node; its corners must be finite and stay so.  False: it does not, or the
 * mesh has no more room. */
static inline bool tbi_placement_weld(const tbi_placement *p, tbi_weld *w, const v3 corner[3]) {
  bool mirrors = tbi_placement_mirrors(p);
  double corners[9];
  for (int k = 0; k < 3; ++k)
    v3_store(tbi_placement_point(p, corner[mirrors && k > 0 ? 3 - k : k]), corners + 3 * (size_t)k);
  for (int k = 0; k < 9; ++k) {
    if (!isfinite(corners[k])) return false;
  }
  return tbi_weld_face(w, corners);
}

#endif

/* overlap.h - links that are inside each other in a posture. */
#ifndef TBI_OVERLAP_H
#define TBI_OVERLAP_H

#include "collision/collision.h"

/* Collides the shapes of a model in one posture after another. */
typedef struct tbi_posture_pass {
  const tabi_model *model;
  double margin;           /* m up to which points are found */
  bool ignore_connections; /* lets bodies meet that connections join */
  tabi_dynamics *dynamics;
  tbi_collision *collision;
  double *numbers; /* q, v and margin, all in zeros but q */
  char *memory;    /* of the collision workspace */
  tbi_candidate *candidate;
  int32_t count, capacity; /* of candidates */
} tbi_posture_pass;

/* To be freed also when it fails. */
tabi_status tbi_posture_pass_make(tbi_posture_pass *pass, tabi_error *err);
/* Fills candidate[count] at q[nq]. */
tabi_status tbi_posture_pass_run(tbi_posture_pass *pass, const double *q, tabi_error *err);
void tbi_posture_pass_free(tbi_posture_pass *pass);

/* Two shapes of two links, the deepest of all such pairs of these links. */
typedef struct tbi_overlap {
  int32_t shape_a, shape_b;
  double depth;       /* m */
  int32_t connection; /* that joins their bodies, or TABI_NONE */
} tbi_overlap;

/* Pairs of links that overlap by more than `depth` at q[nq], or are nearer than -depth, and are not
 * excluded from contact, the deepest first.  Writes at most max of them and sets *count to their
 * full number. */
tabi_status tbi_overlaps_find(const tabi_model *model, const double *q, double depth,
                              tbi_overlap *overlap, int32_t max, int32_t *count, tabi_error *err);
/* Likewise the pairs of links that connections join, whether these let them collide or not. */
tabi_status tbi_overlaps_find_joined(const tabi_model *model, const double *q, double depth,
                                     tbi_overlap *overlap, int32_t max, int32_t *count,
                                     tabi_error *err);

#endif

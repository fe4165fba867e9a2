/* collision.h - where shapes meet or are about to.
 *
 *   poses --broadphase--> pairs of boxes that overlap --pair_table--> points of contact
 *         --manifold----> at most eight a pair, with ids that persist
 */
#ifndef TBI_COLLISION_H
#define TBI_COLLISION_H

#include "dynamics/dynamics.h"

#define TBI_PAIR_POINTS 8 /* contact points kept of one pair of shapes */

/* One point where two shapes meet. */
typedef struct tbi_candidate {
  int32_t shape_a, shape_b; /* shape_a first in model->shape_named */
  uint32_t feature; /* below 65536; tells the points of a pair apart; stays while they rest */
  v3 point;         /* world, halfway between the two surfaces */
  v3 normal;        /* unit, from a to b */
  double gap;       /* m along the normal, negative when the shapes overlap */
} tbi_candidate;

typedef struct tbi_collision tbi_collision;

/* Memory for the workspace, and its making in zeros on a cache line that the caller owns.  Scratch
 * is used inside tbi_collide only. */
size_t tbi_collision_memsize(const tabi_model *model);
size_t tbi_collision_scratch(const tabi_model *model);
tbi_collision *tbi_collision_make(const tabi_model *model, void *memory, void *scratch);
/* Puts the scratch elsewhere. */
void tbi_collision_place_scratch(tbi_collision *collision, void *scratch);
/* Pairs of shapes that may be near at once, at most. */
int32_t tbi_collision_max_pairs(const tabi_model *model);

/* Before the first pass: lets bodies meet that a connection joins. */
void tbi_collision_ignore_connections(tbi_collision *collision);
/* The connection that joins the bodies of two shapes, one that keeps them from colliding if there
 * are several; TABI_NONE if there is none. */
int32_t tbi_collision_connection(const tbi_collision *collision, int32_t shape_a, int32_t shape_b);

/* Whether the limits of the joints between two bodies of one tree keep their shapes apart; false
 * where that is not so or not known.  Measures about *budget distances, and lowers it. */
bool tbi_collision_never_meet(const tbi_collision *collision, int32_t body_a, int32_t body_b,
                              int32_t *budget);
/* Whether shapes of two bodies may meet at all. */
bool tbi_collision_allows(const tbi_collision *collision, int32_t body_a, int32_t body_b);

/* How far the points of a shape may come: at least so many m, and as far as the body's motion takes
 * its fastest point in so many s. */
typedef struct tbi_margin_rule {
  double min, time;
} tbi_margin_rule;

/* margin[nshape] of the shapes that collide, 0 where they stand in the world; radius[nshape] is
 * that of their farthest points from the origin of their body. */
void tbi_collision_margins(const tbi_collision *collision, const tabi_dynamics *d,
                           const double *radius, tbi_margin_rule rule, double *margin);

/* Trees that do not move are not paired with each other or with the world; idle[ntree], or NULL:
 * all may move. */
void tbi_collision_leave_idle(tbi_collision *collision, const bool *idle);

/* All points with a gap of at most margin[shape_a] + margin[shape_b], at the poses of d, ordered by
 * model->shape_rank of shape_a and shape_b, and by feature.  margin[nshape] >= 0 in m.  Returns
 * their number, or -1 when there are more than max.  Allocates nothing. */
int32_t tbi_collide(tbi_collision *collision, const tabi_dynamics *d, const double *margin,
                    tbi_candidate *candidate, int32_t max);

#endif

/* lanes.h - sweeps over the contacts of many bodies at once, in the lanes of vector instructions.
 *
 * Two groups that have no port in common do not feel each other, so Gauss-Seidel may visit both at
 * the same time.  Groups get colours such that groups of one colour have no port in common; a pack
 * is eight of them.  A row of a pack is one contact of each of its groups, and every number of a
 * row a vector of eight.  Ports must be the only ones of their clusters, without joint rows.
 *
 * Inside a sweep a contact that does not stick makes a projected step, of which the solution of
 * Coulomb's law is the fixed point: the normal by its own equation, then the tangent against its
 * slip, cut to the disk.  It needs no inner iteration, which lanes could not leave one by one.
 *
 * Lanes do not know of each other and do the operations of tbi_lanes_sweep_plain in its order: the
 * result has the same bits for any width of vectors. */
#ifndef TBI_LANES_H
#define TBI_LANES_H

#include "base/layout.h"
#include "contact/lane_rows.h"
#include "problem/problem.h"

enum { TBI_LANES_POINTS = 48 }; /* points of a problem from which lanes pay */

typedef struct tbi_lanes_width {
  tbi_lanes_sweep *sweep;
  tbi_lanes_respond *respond;
} tbi_lanes_width;

/* The widest that this processor has. */
tbi_lanes_width tbi_lanes_widest(void);

typedef struct tbi_lanes {
  tbi_problem *p;
  int32_t npack, nrow, nalone;
  tbi_lane_pack *pack;
  tbi_lane_row *row;
  int32_t *alone;    /* groups that are visited one by one */
  int32_t *lane_of;  /* of a point: row * TBI_SWEEP_LANES + lane, or TABI_NONE */
  uint64_t *colours; /* of a port, as bits */
  uint8_t *colour;   /* of a group */
  int32_t *sorted;   /* groups by colour, those with more points first */
  double *world;     /* twist of what stands */
  sv *before, *way;  /* of a port: twist before a sweep, and what the ways of its points do to it */
  int64_t max_rows;
  tbi_lanes_width width;
} tbi_lanes;

/* Whether a model may ever have enough bodies in contact. */
bool tbi_lanes_may_help(const tabi_model *model, const tabi_world_def *def);
void tbi_lanes_place(tbi_layout *at, const tabi_model *model, const tabi_world_def *def,
                     tbi_lanes *lanes);
/* Colours and packs a problem whose points have their responses.  False: it has too few contacts
 * for lanes, or none that lanes can take. */
bool tbi_lanes_begin(tbi_lanes *lanes, tbi_problem *p);
/* Sweeps over everything until no velocity changes by more than the tolerance, at most so many
 * times.  What is not in lanes goes on to its own limit, at least as large.
 *
 * From sweep to sweep the impulses also go on along the ways that led there, which are conjugate
 * gradients with the step of a sweep in place of the gradient (Silcowitz-Hansen, Niebe and Erleben,
 * A nonsmooth nonlinear conjugate gradient method for interactive contact force problems, 2010);
 * not after the last, which leaves them in their cones. */
typedef struct tbi_lanes_limits {
  double tolerance;      /* m/s */
  int32_t sweeps, alone; /* of lanes, and of what is not in them */
} tbi_lanes_limits;
/* Impulses, and what ports have received, are those of the solution afterwards.  Returns the number
 * of sweeps; *converged: fewer than the limit. */
int32_t tbi_lanes_solve(tbi_lanes *lanes, tbi_lanes_limits limits, bool *converged);

#endif

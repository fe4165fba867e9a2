/* depth.c - the least overlap of polyhedra, by a polytope that grows (van den Bergen, 2001).
 *
 * The differences x = a - b of all pairs of points form a polyhedron D, and the overlap along a
 * unit n is how far D reaches that way:  f(n) = max n.x.  A polytope P of some corners of D lies
 * inside of it, so that no overlap is less than the height of P's lowest face over the origin,
 * while f along the normal of any face bounds the least from above.
 *
 *        ___________ D            the lowest face gets the corner of D that is farthest
 *       /  _______  \             along its normal, until it is a face of D or no lower
 *      |  /   P   \  |            than the best so far
 *      |  \__ o __/--+-- f
 *       \___________/
 *
 * The origin need not be inside: where bodies almost touch, heights are negative at first. */
#include "collision/depth.h"

#include "base/assertion.h"

#define CORNERS 64 /* bits of a word */
#define FACETS  (2 * CORNERS)
#define SURE    1e-8  /* of the size, by which the least may be missed, */
#define NOISE   1e-12 /* and the rounding of heights */

typedef struct facet {
  v3 normal;
  double height; /* over the origin */
  int32_t corner[3];
  bool final; /* no corner of D is above */
} facet;

typedef struct polytope {
  const tbi_solid *a, *b;
  v3 corner[CORNERS];
  facet facet[FACETS];
  int32_t ncorner, nfacet;
  double noise; /* m */
} polytope;

static v3 farthest(const polytope *p, v3 n) {
  return v3_sub(tbi_support(p->a, n), tbi_support(p->b, v3_neg(n)));
}

/* Facets without area are noise of others: nothing is above them. */
static void add_facet(polytope *p, int32_t i, int32_t j, int32_t k) {
  TBI_ASSERT(p->nfacet < FACETS);
  v3 x = p->corner[i];
  v3 n = v3_cross(v3_sub(p->corner[j], x), v3_sub(p->corner[k], x));
  double length = v3_norm(n);
  facet *f = &p->facet[p->nfacet++];
  *f = (facet){
      .corner = {i, j, k},
        .final = !(length > 0)
  };
  if (f->final) return;
  f->normal = v3_scale(1 / length, n);
  f->height = v3_dot(f->normal, x);
}

/* the farther one of D's corners along n and against it */
static v3 far_either_way(const polytope *p, v3 n, v3 from) {
  v3 there = farthest(p, n);
  v3 back = farthest(p, v3_neg(n));
  return v3_dot(n, v3_sub(there, from)) > v3_dot(n, v3_sub(from, back)) ? there : back;
}

/* Four corners around some space; false where D is flat. */
static bool begin(polytope *p, v3 n) {
  v3 *x = p->corner;
  x[0] = farthest(p, n);
  x[1] = farthest(p, v3_neg(n));
  v3 line = v3_sub(x[1], x[0]);
  double size = v3_norm(line);
  v3 axis = fabs(line.x) < 0.7 * size ? v3_make(1, 0, 0) : v3_make(0, 1, 0);
  x[2] = far_either_way(p, v3_cross(line, axis), x[0]);
  v3 square = v3_cross(line, v3_sub(x[2], x[0]));
  x[3] = far_either_way(p, square, x[0]);
  double volume = v3_dot(square, v3_sub(x[3], x[0]));
  p->noise = NOISE * size;
  if (!(fabs(volume) > NOISE * size * size * size)) return false;

  p->ncorner = 4;
  /* counter-clockwise seen from outside */
  int32_t i = volume > 0 ? 1 : 2;
  add_facet(p, 0, 3 - i, i);
  add_facet(p, 0, i, 3);
  add_facet(p, i, 3 - i, 3);
  add_facet(p, 3 - i, 0, 3);
  return true;
}

static facet *lowest(polytope *p, double below) {
  facet *low = NULL;
  for (int32_t i = 0; i < p->nfacet; ++i) {
    facet *f = &p->facet[i];
    if (f->final || !(f->height < below)) continue;
    low = f;
    below = f->height;
  }
  return low;
}

/* Facets that see x give way to new ones between x and the rim of what they leave; false where
 * there is no room. */
static bool grow(polytope *p, v3 x) {
  uint64_t sides[CORNERS] = {0}; /* bit j of i: a facet that sees x has the side from i to j */
  int32_t kept = 0;
  for (int32_t i = 0; i < p->nfacet; ++i) {
    const facet *f = &p->facet[i];
    if (!(v3_dot(f->normal, x) > f->height + p->noise)) {
      p->facet[kept++] = *f;
      continue;
    }
    for (int k = 0; k < 3; ++k)
      sides[f->corner[k]] |= (uint64_t)1 << f->corner[(k + 1) % 3];
  }
  p->nfacet = kept;
  if (p->ncorner == CORNERS) return false;
  int32_t top = p->ncorner++;
  p->corner[top] = x;
  for (int32_t i = 0; i < top; ++i) {
    for (int32_t j = 0; j < top && sides[i] >> j != 0; ++j) {
      bool rim = (sides[i] >> j & 1) && !(sides[j] >> i & 1);
      if (rim && p->nfacet == FACETS) return false;
      if (rim) add_facet(p, i, j, top);
    }
  }
  return true;
}

bool tbi_least_overlap(const tbi_solid *a, const tbi_solid *b, v3 *n) {
  polytope p = {.a = a, .b = b, .nfacet = 0};
  if (!begin(&p, *n)) return false;
  double least = v3_dot(*n, p.corner[0]);
  double sure = SURE * v3_norm(v3_sub(p.corner[1], p.corner[0]));
  for (facet *f = lowest(&p, least - sure); f; f = lowest(&p, least - sure)) {
    v3 x = farthest(&p, f->normal);
    double overlap = v3_dot(f->normal, x);
    if (overlap < least) {
      least = overlap;
      *n = f->normal;
    }
    f->final = !(overlap > f->height + p.noise);
    if (!f->final && !grow(&p, x)) return false;
  }
  return true;
}

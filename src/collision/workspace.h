/* workspace.h - what collision keeps: the shapes that can meet anything, in the order of the model,
 * where they are, and the order of their boxes along one axis. */
#ifndef TBI_WORKSPACE_H
#define TBI_WORKSPACE_H

#include "collision/collision.h"
#include "collision/pair_table.h"
#include "collision/trimesh.h"

/* pairs of boxes that a shape may have on average before a plain search takes over */
#define TBI_PAIRS_PER_SHAPE 32

/* Decides which shapes may meet.  Its home is what a shape moves with: a moving body, or the links
 * that stand together in the world, numbered after the bodies. */
typedef struct tbi_filter {
  int32_t home, parent; /* parent: of the home, or TABI_NONE */
  uint32_t group, mask;
  bool excluded; /* some exclusion names the home */
} tbi_filter;

/* A shape's place in its body (in the world when that is TABI_WORLD), and a box around it. */
typedef struct tbi_fitting {
  tbi_frame frame;
  int32_t body, shape;
  v3 middle;      /* of the box, in the shape's axes */
  double half[3]; /* of the box */
} tbi_fitting;

/* axis-aligned, reach included; a plane has none, and a height field no end below */
typedef struct tbi_bounds {
  double low[3], high[3];
} tbi_bounds;

/* A box in the order of the sweep. */
typedef struct tbi_swept {
  tbi_bounds bounds;
  int32_t item;
} tbi_swept;

/* Two items, the lower one first. */
typedef struct tbi_item_pair {
  int32_t a, b;
} tbi_item_pair;

/* An item is a shape that collides; items are numbered as their shapes are. */
struct tbi_collision {
  const tabi_model *model;
  int32_t nitem, nplane, nground, nswept, npair, max_pairs, nexclusion;
  int32_t axis;                /* of the sweep */
  uint32_t turn;               /* passes since the axis was first chosen */
  tbi_fitting *fitting;        /* [nitem] */
  tbi_filter *filter;          /* [nitem] */
  tbi_solid *solid;            /* [nitem] */
  tbi_bounds *bounds;          /* [nitem] */
  int32_t *plane;              /* items that are planes */
  int32_t *ground;             /* items made of triangles */
  tbi_trimesh *trimesh;        /* [nground] */
  tbi_swept *swept;            /* the others, sorted along the axis */
  tbi_item_pair *pair, *spare; /* [max_pairs] */
  int32_t *bucket;             /* [nitem + 1] */
  uint64_t *exclusion;         /* pairs of homes, sorted, and a last one larger than all */
  bool *shaped;                /* whether a body has a shape: [nbody] */
};

/* filter.c */
void tbi_filter_make(tbi_collision *c);
bool tbi_filter_allows(const tbi_collision *c, int32_t a, int32_t b);

/* shapes.c */
void tbi_shapes_make(tbi_collision *c);
/* Moves solids and bounds to the poses of d. */
void tbi_shapes_place(tbi_collision *c, const tabi_dynamics *d, const double *reach);

/* broadphase.c */
void tbi_broadphase_make(tbi_collision *c);
/* Fills pair[npair] in order; false when there are more than max_pairs. */
bool tbi_broadphase_find(tbi_collision *c, const double *reach);
/* Whether two items are near and may meet. */
bool tbi_broadphase_near(const tbi_collision *c, const double *reach, int32_t a, int32_t b);

#endif

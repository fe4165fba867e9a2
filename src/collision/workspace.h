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
 * that stand together in the world, numbered after the bodies; or the first of those that
 * connections weld together. */
typedef struct tbi_filter {
  int32_t home, parent; /* parent: of the home, or TABI_NONE */
  uint32_t group, mask;
  bool stands;   /* in the world by its joints */
  bool excluded; /* some exclusion names the home */
} tbi_filter;

/* A shape's place in its body, in the world when that is TABI_WORLD. */
typedef struct tbi_fitting {
  tbi_frame frame;
  int32_t body, shape;
} tbi_fitting;

/* What is around a shape wherever its body is: a box in the axes of the body, and a radius around
 * that. */
typedef struct tbi_cover {
  v4 middle, half;
  double radius;
  double play; /* m that the shape may move before pairs are listed anew */
  int32_t body, tree, shape;
} tbi_cover;

/* Axis-aligned, margin included; a height field has no end below, and a plane has no box, only its
 * margin in all directions from zero. */
typedef struct tbi_bounds {
  v4 low, high;
} tbi_bounds;

/* A box in the order of the sweep. */
typedef struct tbi_swept {
  double low[3], high[3];
  int32_t item;
} tbi_swept;

/* Two items, the lower one first. */
typedef struct tbi_item_pair {
  int32_t a, b;
} tbi_item_pair;

/* How far a body has moved since the first pass: its origin, in m, and its axes, as a number that
 * times the distance from the origin is m. */
typedef struct tbi_travel {
  v4 pos;
  m4 rot;
  double moved, turned;
} tbi_travel;

/* Likewise the origin of a tree, from which positions of its bodies count. */
typedef struct tbi_tree_travel {
  v3 origin;
  double moved;
} tbi_tree_travel;

/* An item as separation.h sees it. */
typedef struct tbi_limb {
  double extent; /* the largest distance of its points from the body's origin */
  bool convex;
  bool articulated; /* joined by joints to other bodies */
} tbi_limb;

/* What is known of two items, see separation.h. */
typedef struct tbi_separation {
  int32_t a, b;    /* a is TABI_NONE where nothing is known */
  bool touched;    /* they had points: nothing below is valid */
  v3 axis;         /* unit, from a to b */
  double distance; /* m along it, when both had travelled so many m: */
  double travel;
} tbi_separation;

/* An item is a shape that collides; items are numbered as their shapes are. */
struct tbi_collision {
  const tabi_model *model;
  int32_t nitem, nplane, nground, nswept, npair, max_pairs, nexclusion, max_exclusions;
  int32_t nhome;
  int32_t axis;     /* of the sweep */
  uint32_t lists;   /* how often pairs were listed */
  uint64_t pass;    /* how often all shapes were looked at */
  bool listed;      /* the pairs serve while bounds are within the wide ones */
  bool plane_moves; /* some plane is part of a body */
  bool ignore_connections;
  bool leaves_idle;     /* some item is idle: */
  bool *idle;           /* it does not move: [nitem] */
  tbi_fitting *fitting; /* [nitem] */
  tbi_cover *cover;     /* [nitem] */
  tbi_filter *filter;   /* [nitem] */
  tbi_solid *solid;     /* where they are, if placed: [nitem] */
  uint64_t *placed;     /* the pass in which a solid was moved: [nitem] */
  tbi_bounds *wide;     /* around bounds, while the listed pairs are all there are: [nitem] */
  int32_t *plane;       /* items that are planes */
  int32_t *ground;      /* items made of triangles */
  tbi_trimesh *trimesh; /* [nground] */
  tbi_swept *swept;     /* the others' wide bounds, sorted along the axis */
  tbi_item_pair *pair;  /* those that may be near: [max_pairs] */
  uint64_t *exclusion;  /* pairs of homes, sorted, and a last one larger than all */
  bool *shaped;         /* whether a body has a shape: [nbody] */
  int32_t *welded;      /* the first of the homes that are welded to each: [nhome] */
  int32_t nseparation;  /* a power of two; 0: no limb can meet anything, and the next are empty */
  tbi_separation *separation;
  tbi_travel *travel;           /* [nbody] */
  tbi_tree_travel *tree_travel; /* [ntree] */
  tbi_limb *limb;               /* [nitem] */
  /* scratch */
  tbi_bounds *bounds;   /* [nitem] */
  tbi_item_pair *spare; /* [max_pairs] */
  int32_t *bucket;      /* [nitem + 1] */
};

/* The items of one body, up to the number that there is room for. */
#define TBI_BODY_ITEMS 64
typedef struct tbi_body_items {
  int32_t item[TBI_BODY_ITEMS], count;
  bool all; /* there are no more */
} tbi_body_items;

/* filter.c */
tbi_body_items tbi_filter_items(const tbi_collision *c, int32_t body);
void tbi_filter_make(tbi_collision *c);
bool tbi_filter_allows(const tbi_collision *c, int32_t a, int32_t b);

/* shapes.c */
void tbi_shapes_make(tbi_collision *c);
/* Moves bounds to the poses of d; whether all are within the wide ones. */
bool tbi_shapes_bound(tbi_collision *c, const tabi_dynamics *d, const double *margin);
/* Makes the wide bounds anew; tight ones are as the bounds. */
void tbi_shapes_widen(tbi_collision *c, const double *margin, bool tight);
/* An item at its pose; kept for the rest of the pass, and by itself. */
const tbi_solid *tbi_shapes_place(tbi_collision *c, const tabi_dynamics *d, int32_t item);
tbi_solid tbi_shapes_solid(const tbi_collision *c, const tabi_dynamics *d, int32_t item);

/* broadphase.c */
void tbi_broadphase_make(tbi_collision *c);
/* Fills pair[npair], in order, with all that may be near while bounds are within the wide ones;
 * false when there are more than max_pairs. */
bool tbi_broadphase_list(tbi_collision *c);
/* Whether two items are near. */
bool tbi_broadphase_near(const tbi_collision *c, tbi_item_pair pair);

#endif

/* foothold.h - where a sole can stand on the ground of a world: rays find heights and slopes. */
#ifndef TBI_FOOTHOLD_H
#define TBI_FOOTHOLD_H

#include "math/vec.h"
#include "tabi/tabi.h"

/* Who looks: rays pass through the links of one tree. */
typedef struct tbi_foothold_eye {
  tabi_world *world;
  int32_t tree;
  double above;   /* m, from where rays start */
  double half[2]; /* m, half length and width of the sole */
  double uneven;  /* m, of ground that is even enough */
  double ahead;   /* m, along the yaw, by which places ahead are preferred to those behind */
} tbi_foothold_eye;

typedef struct tbi_foothold {
  double place[2]; /* m, the middle of the sole */
  double height;   /* m */
  v3 normal;
} tbi_foothold;

/* A place along the sole's yaw where it stands on even ground: the nearest up to `ahead` in its
 * direction, else the nearest within half the sole's length; false: there is none, and nothing
 * changes. */
bool tbi_foothold_find(const tbi_foothold_eye *eye, double yaw, tbi_foothold *foothold);

#endif

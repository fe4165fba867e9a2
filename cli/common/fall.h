/* fall.h - whether robots have fallen. */
#ifndef TBI_FALL_H
#define TBI_FALL_H

#include "common/cli.h"

typedef struct tbi_fall {
  const tabi_scene *scene;
  double (*start)[4]; /* of every robot: height of its base, and its z axis */
} tbi_fall;

/* In the initial state; false: out of memory. */
bool tbi_fall_begin(tbi_fall *fall, const tabi_scene *scene, const tabi_dynamics *dynamics);
void tbi_fall_free(tbi_fall *fall);

/* Whether a robot has fallen: base below half its initial height, or tilted by more than 60
 * degrees. */
bool tbi_fall_lies(const tbi_fall *fall, const tabi_dynamics *dynamics);

#endif

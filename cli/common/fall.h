/* fall.h - whether robots have fallen. */
#ifndef TBI_FALL_H
#define TBI_FALL_H

#include "common/cli.h"

/* How a robot stands. */
typedef struct tbi_stance {
  double height;  /* m, of its centre of mass above the fixed ground */
  double ground;  /* m, z of the ground below it; without any, that at the start, or 0 */
  double axis[3]; /* z axis of its base */
} tbi_stance;

typedef struct tbi_fall {
  const tabi_scene *scene;
  tabi_world *ground; /* for rays; stays in its initial state, or NULL: there is no robot */
  tbi_stance *start;  /* of every robot */
} tbi_fall;

/* The initial state. */
typedef struct tbi_fall_state {
  const tabi_dynamics *dynamics;
  const double *q, *v;
} tbi_fall_state;

tabi_status tbi_fall_begin(tbi_fall *fall, const tabi_scene *scene, const tbi_fall_state *state,
                           tabi_error *err);
void tbi_fall_free(tbi_fall *fall);

/* How a robot stands now. */
tbi_stance tbi_fall_stance(const tbi_fall *fall, const tabi_dynamics *dynamics, int32_t robot);

/* Whether a robot with a floating base has fallen: its centre of mass at less than half its initial
 * height above the ground, or its base tilted by more than 60 degrees. */
bool tbi_fall_lies(const tbi_fall *fall, const tabi_dynamics *dynamics);

#endif

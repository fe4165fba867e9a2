/* biped.h - the planar biped of nine links on its feet, for the tests of gait. */
#ifndef TEST_BIPED_H
#define TEST_BIPED_H

#include "support/near.h"
#include "tabi/tabi_gait.h"
#include "tabi/tabi_io.h"

/* The angles q1 to q7 of the published numbering: ankle, knee and hip of the support leg, hip,
 * knee and ankle of the swing leg, torso. */
#define BIPED_ANGLES 7

typedef struct biped {
  tabi_model *model;
  tabi_gait *gait;
  tabi_world *world;
  tabi_gait_def def;
  tabi_gait_force force[2];
  tabi_gait_floor floor[2];
  double angle[BIPED_ANGLES];
  double timestep;
} biped;

/* The published torques and limits, located events, the published guards, 1 ms; change what you
 * like, then open.  The head is pushed by ten times what is printed. */
biped biped_default(void);
/* The sets of initial angles that walk five and six steps. */
extern const double biped_five[BIPED_ANGLES], biped_six[BIPED_ANGLES];
void biped_open(biped *b);
void biped_close(biped *b);
/* Takes one step; false: the gait has ended. */
bool biped_step(biped *b);
/* Kinetic and potential energy, less the work done, plus the energy absorbed: constant. */
double biped_balance(biped *b);

#endif

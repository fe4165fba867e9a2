/* block.h - one free body that touches the ground at its centre of mass: a point mass, for which
 * every law of contact can be worked out by hand. */
#ifndef TEST_BLOCK_H
#define TEST_BLOCK_H

#include "support/make_problem.h"

#define BLOCK_MASS 2.0
#define BLOCK_FALL 0.5 /* m/s, towards the ground without contact */

typedef struct block {
  tabi_model *model;
  made_problem made;
  tbi_point *point; /* its only contact; tangents are the frame's second and third axis */
} block;

/* The block moves along the tangents with `load` times BLOCK_FALL at an angle from the second
 * axis, before the step and after it if nothing stops it. */
void block_open(block *b, double load, double angle, double friction);
void block_close(block *b);

#endif

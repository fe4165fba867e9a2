/* test_force.h - the contact matrix A = J M^-1 J' written out: public Jacobians and the mass matrix
 * by crba.c and ltdl.c, neither of which takes part in a step. */
#ifndef TEST_TEST_FORCE_H
#define TEST_TEST_FORCE_H

#include "dynamics/dynamics.h"

/* One direction of a constraint: a force at a point of body b along the axis, its opposite on body
 * a; either may be TABI_WORLD.  Or, with dof >= 0, a force on that velocity and -slope times as
 * much on the leader's, which may be TABI_NONE. */
typedef struct test_force {
  int32_t a, b;
  v3 point, axis;
  int32_t dof, leader;
  double slope;
} test_force;

/* A, count x count.  Leaves the factor of ltdl.c in d. */
void test_force_matrix(tabi_dynamics *d, const test_force *force, int32_t count, double *A);

/* J, count x nv, through the public Jacobians. */
void test_force_jacobian(tabi_dynamics *d, const test_force *force, int32_t count, double *J);

#endif

/* oracle.h - rigid-body dynamics the plain way, to check the fast way against.
 *
 * Everything is rebuilt from the public defs with textbook vector kinematics in world axes: no
 * spatial vectors, no recursion over inertias, no merged links.  Nobody should use it for speed. */
#ifndef TEST_ORACLE_H
#define TEST_ORACLE_H

#include "tabi/tabi.h"

#include <stddef.h>

typedef struct oracle oracle;

oracle *oracle_create(const tabi_model *model, const double *q, const double *v);
void oracle_destroy(oracle *o);

/* Frame (rotation by rows) and velocities of a link's origin. */
void oracle_link_pose(const oracle *o, int32_t link, double pos[3], double rotation[9]);
void oracle_link_velocity(const oracle *o, int32_t link, double lin[3], double ang[3]);

/* 3 x nv */
void oracle_point_jacobian(const oracle *o, int32_t link, const double point[3], double *jacobian);
void oracle_angular_jacobian(const oracle *o, int32_t link, double *jacobian);

/* The sum over links of m J'J + W'IW, and rotors on the diagonal. */
void oracle_mass_matrix(const oracle *o, double *mass);
/* tau = sum of J'm(a - g) + W'(I alpha + w x I w), and rotors; qdd NULL for zero. */
void oracle_inverse(oracle *o, const double *qdd, double *tau);
/* Solves M qdd = tau - bias by Cholesky. */
void oracle_forward(oracle *o, const double *tau, double *qdd);

double oracle_mass(const oracle *o);
void oracle_com(const oracle *o, double com[3]);
double oracle_kinetic(const oracle *o);
double oracle_potential(const oracle *o);
/* Linear, and angular about the centre of mass. */
void oracle_momentum(const oracle *o, double lin[3], double ang[3]);
void oracle_momentum_matrix(const oracle *o, double *matrix); /* 6 x nv */
/* Rate of the momentum at qdd = 0. */
void oracle_momentum_bias(oracle *o, double lin[3], double ang[3]);

/* Dense helpers for the tests: a, n x n by rows, is overwritten by its Cholesky factor; false if
 * it is not positive definite. */
bool oracle_cholesky(double *a, size_t n);
void oracle_cholesky_solve(const double *factor, size_t n, double *x);
/* A = J M^-1 J' for the n rows of J; M, nv times nv, becomes its factor. */
void oracle_delassus(const double *J, size_t n, double *M, size_t nv, double *A);

#endif

/* hulls.h - convex meshes for the tests. */
#ifndef TEST_HULLS_H
#define TEST_HULLS_H

#include "support/rng.h"
#include "tabi/tabi.h"

/* The caller frees each by hull_free. */
tabi_mesh_def hull_make(const double *points, int32_t npoint);
void hull_free(tabi_mesh_def *hull);

/* A box of full edge lengths x, y, z, turned in the axes of its mesh by quat. */
tabi_mesh_def hull_box(double x, double y, double z, const double quat[4]);
/* Of points at random in a ball of that radius. */
tabi_mesh_def hull_random(rng *r, double radius);

#endif

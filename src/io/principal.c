/* principal.c - see principal.h. */
#include "io/principal.h"

#include <math.h>

/* The rotation in the plane (p, q) that makes a[p][q] zero, and its product with the axes. */
static void jacobi_turn(double a[3][3], m3 *axes, int p, int q) {
  if (a[p][q] == 0) return;
  double theta = (a[q][q] - a[p][p]) / (2 * a[p][q]);
  double t = (theta < 0 ? -1 : 1) / (fabs(theta) + sqrt(theta * theta + 1));
  double c = 1 / sqrt(t * t + 1);
  double s = t * c;
  for (int k = 0; k < 3; ++k) {
    double x = a[k][p];
    a[k][p] = c * x - s * a[k][q];
    a[k][q] = s * x + c * a[k][q];
  }
  for (int k = 0; k < 3; ++k) {
    double x = a[p][k];
    a[p][k] = c * x - s * a[q][k];
    a[q][k] = s * x + c * a[q][k];
    x = axes->m[k][p];
    axes->m[k][p] = c * x - s * axes->m[k][q];
    axes->m[k][q] = s * x + c * axes->m[k][q];
  }
  a[p][q] = a[q][p] = 0;
}

tbi_principal tbi_principal_of(s3 i) {
  double a[3][3] = {
      {i.xx, i.xy, i.xz},
      {i.xy, i.yy, i.yz},
      {i.xz, i.yz, i.zz}
  };
  tbi_principal result = {.axes = m3_identity()};
  // it converges quadratically; six sweeps are more than ever needed
  for (int sweep = 0; sweep < 6; ++sweep) {
    jacobi_turn(a, &result.axes, 0, 1);
    jacobi_turn(a, &result.axes, 0, 2);
    jacobi_turn(a, &result.axes, 1, 2);
  }
  for (int k = 0; k < 3; ++k)
    result.value[k] = a[k][k];
  return result;
}

s3 tbi_principal_inertia(const tbi_principal *p) {
  return s3_rotate(&p->axes, (s3){p->value[0], p->value[1], p->value[2], 0, 0, 0});
}

/* eigen.c - eigenvalues of a symmetric 3x3 matrix by Jacobi rotations, which are accurate for
 * small eigenvalues too, unlike the closed cubic formula. */
#include "math/mat.h"

#define SWEEPS 32

/* annihilate a[p][q] by a rotation in the plane (p, q) */
static void rotate(double a[3][3], int p, int q) {
  if (a[p][q] == 0) return;
  int r = 3 - p - q;
  double theta = (a[q][q] - a[p][p]) / (2 * a[p][q]);
  double t = (theta >= 0 ? 1.0 : -1.0) / (fabs(theta) + sqrt(theta * theta + 1));
  double c = 1 / sqrt(t * t + 1);
  double s = t * c;
  double arp = a[r][p];
  double arq = a[r][q];
  a[p][p] -= t * a[p][q];
  a[q][q] += t * a[p][q];
  a[p][q] = a[q][p] = 0;
  a[r][p] = a[p][r] = c * arp - s * arq;
  a[r][q] = a[q][r] = s * arp + c * arq;
}

static void sort_pair(double *a, double *b) {
  if (*a <= *b) return;
  double t = *a;
  *a = *b;
  *b = t;
}

void tbi_s3_eigenvalues(s3 s, double value[3]) {
  double a[3][3] = {
      {s.xx, s.xy, s.xz},
      {s.xy, s.yy, s.yz},
      {s.xz, s.yz, s.zz}
  };
  for (int sweep = 0; sweep < SWEEPS; ++sweep) {
    if (a[0][1] == 0 && a[0][2] == 0 && a[1][2] == 0) break;
    rotate(a, 0, 1);
    rotate(a, 0, 2);
    rotate(a, 1, 2);
  }
  for (int i = 0; i < 3; ++i)
    value[i] = a[i][i];
  sort_pair(&value[0], &value[1]);
  sort_pair(&value[1], &value[2]);
  sort_pair(&value[0], &value[1]);
}

/* mjcf_shell.c - geoms that weigh by their surface (shellinertia).
 *
 * The inertia of a thin layer is what a solid gains when it grows by it:
 *   sphere               2/3 r^2
 *   cylinder, capsule    wall and ends, each by its share of the area
 *   box                  three pairs of faces
 *   ellipsoid            grown by the same length along each axis, and with the area of K.
 * Thomsen's formula, which is off by up to 1 %: both as in MuJoCo */
#include "io/mjcf/mjcf_reader.h"

#include <math.h>

#define THOMSEN 1.6075

static s3 diagonal(double x, double y, double z) { return (s3){x, y, z, 0, 0, 0}; }

static double ellipsoid_area(const double s[3]) {
  double xy = pow(s[0] * s[1], THOMSEN);
  double yz = pow(s[1] * s[2], THOMSEN);
  double zx = pow(s[2] * s[0], THOMSEN);
  return 4 * M_PI * pow((xy + yz + zx) / 3, 1 / THOMSEN);
}

static s3 ellipsoid_inertia(const double s[3]) {
  double x = s[0];
  double y = s[1];
  double z = s[2];
  double growth = 2 * x * y * z / (x * y + y * z + z * x);
  return diagonal((y * y + z * z + growth * (y + z)) / 5, (z * z + x * x + growth * (z + x)) / 5,
                  (x * x + y * y + growth * (x + y)) / 5);
}

static s3 box_inertia(const double s[3]) {
  double face[3] = {s[1] * s[2], s[2] * s[0], s[0] * s[1]};
  double all = face[0] + face[1] + face[2];
  double square[3]; /* mean of the square of each coordinate */
  for (int i = 0; i < 3; ++i)
    square[i] = s[i] * s[i] * (face[i] + (all - face[i]) / 3) / all;
  return diagonal(square[1] + square[2], square[2] + square[0], square[0] + square[1]);
}

/* A wall of radius r and half length h with two ends: discs, or half balls whose centre of mass is
 * r/2 above their rim. */
static s3 round_inertia(double r, double h, bool caps) {
  double wall = 2 * h / (2 * h + (caps ? 2 * r : r)); /* share of the area */
  double ends = 1 - wall;
  double along = wall * r * r + ends * r * r * (caps ? 2.0 / 3 : 0.5);
  double across = wall * (r * r / 2 + h * h / 3) +
                  ends * (caps ? 2.0 / 3 * r * r + h * h + h * r : r * r / 4 + h * h);
  return diagonal(across, across, along);
}

tbi_mjcf_shell tbi_mjcf_shell_of(tabi_shape_type type, const double s[3]) {
  double r = s[0];
  double h = s[1];
  switch (type) {
  case TABI_SHAPE_SPHERE:
    return (tbi_mjcf_shell){4 * M_PI * r * r,
                            diagonal(r * r * 2 / 3, r * r * 2 / 3, r * r * 2 / 3)};
  case TABI_SHAPE_CAPSULE:
    return (tbi_mjcf_shell){4 * M_PI * r * (r + h), round_inertia(r, h, true)};
  case TABI_SHAPE_CYLINDER:
    return (tbi_mjcf_shell){2 * M_PI * r * (r + 2 * h), round_inertia(r, h, false)};
  case TABI_SHAPE_BOX:
    return (tbi_mjcf_shell){8 * (s[0] * s[1] + s[1] * s[2] + s[2] * s[0]), box_inertia(s)};
  case TABI_SHAPE_ELLIPSOID:
    return (tbi_mjcf_shell){ellipsoid_area(s), ellipsoid_inertia(s)};
  default:
    return (tbi_mjcf_shell){0, s3_zero()};
  }
}

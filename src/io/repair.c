/* repair.c - see repair.h.
 *
 * The inertias of bodies.  With principal moments A <= B <= C let s be the second moments of mass
 * along the principal axes,
 *
 *   s_k = (A + B + C)/2 - J_k,    A = s_b + s_c, ...,
 *
 * none of which can be negative: this is A + B >= C, and A >= 0 follows from it.  These inertias
 * are a convex cone that no rotation changes, so the nearest of them (Frobenius norm) has the same
 * principal axes, and its moments are the point of a cone with three faces in R^3 that is nearest
 * to (A, B, C).  The nearest point keeps the order of the moments, so that it is either on the face
 * A + B = C, or on the edge where s_b = 0, too, or at the apex: a plate, a rod, a point.
 *
 * No face is met exactly: each s_k is at least MARGIN of their sum.  So rounding cannot spoil the
 * result, and a repaired body can be turned about any of its axes by finite torques only. */
#include "io/repair.h"

#include "base/error.h"
#include "io/principal.h"
#include "io/report.h"
#include "math/quat.h"
#include "model/limits.h"

#include <math.h>
#include <string.h>

#define MARGIN 1e-6
/* what the builder accepts as rounding, relative to the largest moment */
#define ROUNDING 1e-6
/* a radius of gyration of 1 um is none: m^2 */
#define NO_AREA 1e-12

static void swap_if_greater(tbi_principal *p, int i, int k) {
  if (p->value[i] <= p->value[k]) return;
  double value = p->value[i];
  p->value[i] = p->value[k];
  p->value[k] = value;
  for (int row = 0; row < 3; ++row) {
    double x = p->axes.m[row][i];
    p->axes.m[row][i] = p->axes.m[row][k];
    p->axes.m[row][k] = x;
  }
}

/* Moments in ascending order. */
static tbi_principal sorted_principal(const double inertia[6]) {
  tbi_principal p = tbi_principal_of(s3_load(inertia));
  swap_if_greater(&p, 0, 1);
  swap_if_greater(&p, 1, 2);
  swap_if_greater(&p, 0, 1);
  return p;
}

/* By how much moments in ascending order miss A >= 0 and A + B >= C. */
static double fault_of(const double j[3]) { return fmax(-j[0], j[2] - j[0] - j[1]); }

/* The nearest moments to those in ascending order that violate A + B >= C. */
static void project(double j[3]) {
  // inwards from the face s_c = MARGIN (s_a + s_b + s_c)
  v3 moments = v3_load(j);
  const v3 face_c = {1 - MARGIN, 1 - MARGIN, -(1 + MARGIN)};
  const v3 face_b = {1 - MARGIN, -(1 + MARGIN), 1 - MARGIN};
  v3 plate = v3_axpy(moments, -v3_dot(face_c, moments) / v3_dot(face_c, face_c), face_c);
  if (v3_dot(face_b, plate) >= 0) {
    v3_store(plate, j);
    return;
  }
  const v3 edge = {2 * MARGIN, 1 - MARGIN, 1 - MARGIN};
  double along = v3_dot(edge, moments) / v3_dot(edge, edge);
  v3_store(v3_scale(fmax(0, along), edge), j);
}

/* "inertia not positive definite (eigenvalue -0.01)" */
static void name_fault(const double j[3], double rounding, char *text, size_t size) {
  if (j[0] < -rounding) {
    tbi_message_format(text, size, "inertia not positive definite (eigenvalue %.3g)", j[0]);
  } else {
    tbi_message_format(text, size, "inertia violates A+B>=C (%.3g+%.3g<%.3g)", fmax(0, j[0]),
                       fmax(0, j[1]), j[2]);
  }
}

/* |a - b| / |b|, of numbers of any size */
static double relative_change(const double a[3], const double b[3]) {
  double largest = fmax(fabs(b[0]), fabs(b[2]));
  v3 change = v3_sub(v3_scale(1 / largest, v3_load(a)), v3_scale(1 / largest, v3_load(b)));
  return v3_norm(change) / v3_norm(v3_scale(1 / largest, v3_load(b)));
}

bool tbi_repair_inertia(tbi_first_error *error, const tabi_load_def *def, tabi_place place,
                        const char *item, double mass, double inertia[6]) {
  for (int i = 0; i < 6; ++i) {
    if (!isfinite(inertia[i])) return tbi_ok(error);
  }
  tbi_principal p = sorted_principal(inertia);
  double given[3];
  memcpy(given, p.value, sizeof given);
  double fault = fault_of(given);
  double rounding = ROUNDING * fmax(0, given[2]);
  // short of the builder's bound, which other rounding may meet
  if (fault <= 0.9 * rounding) return tbi_ok(error);
  project(p.value);
  s3_store(tbi_principal_inertia(&p), inertia);
  if (fault <= fmax(rounding, NO_AREA * mass)) return tbi_ok(error);

  char named[96];
  char what[96];
  name_fault(given, rounding, named, sizeof named);
  tbi_message_format(what, sizeof what, "repaired by the nearest moments %.3g, %.3g, %.3g kg m^2",
                     p.value[0], p.value[1], p.value[2]);
  tbi_repair repair = {item, what, relative_change(p.value, given)};
  return tbi_repaired(error, def, place, repair, "%s", named);
}

bool tbi_repair_limits(tbi_first_error *error, const tabi_load_def *def, tabi_place place,
                       const char *item, double *lower, double *upper) {
  if (!(*lower > *upper)) return tbi_ok(error);
  double given[2] = {*lower, *upper};
  *lower = given[1];
  *upper = given[0];
  tbi_repair repair = {item, "swapped", 0};
  return tbi_repaired(error, def, place, repair, "lower %g > upper %g", given[0], given[1]);
}

bool tbi_repair_negative(tbi_first_error *error, const tabi_load_def *def, tabi_place place,
                         const char *item, const char *what, double *value) {
  if (!(*value < 0) || !isfinite(*value)) return tbi_ok(error);
  double given = *value;
  *value = 0;
  return tbi_repaired(error, def, place, (tbi_repair){item, "taken as 0", 0}, "%s %g < 0", what,
                      given);
}

bool tbi_repair_friction(tbi_first_error *error, const tabi_load_def *def, tabi_place place,
                         const char *item, double *friction) {
  if (!(*friction > TBI_MAX_COEFFICIENT) || !isfinite(*friction)) return tbi_ok(error);
  double given = *friction;
  *friction = TBI_MAX_COEFFICIENT;
  char what[64];
  tbi_message_format(what, sizeof what, "taken as %g", TBI_MAX_COEFFICIENT);
  return tbi_repaired(error, def, place, (tbi_repair){item, what, 0}, "friction %g", given);
}

bool tbi_repair_quat(tbi_first_error *error, const tabi_load_def *def, tabi_place place,
                     const char *item, const char *joint, double quat[4]) {
  if (!(q_norm(q_load(quat)) < 1e-14)) return tbi_ok(error);
  q_store(q_identity(), quat);
  tbi_repair repair = {item, "taken as no rotation", 0};
  return tbi_repaired(error, def, place, repair, "quaternion of joint '%.64s' has zero length",
                      joint);
}

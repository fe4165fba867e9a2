/* smooth.c - the contact normal of an ellipsoid, by Newton's method.
 *
 * The overlap along a unit direction n is f(n) = n.w, w = s_a(n) - s_b(-n) with the support points
 * s, and the normal is where it is least on the sphere: where the part of w square to n is zero.
 * With tangents T, that part changes by
 *
 *   T'(H_a + H_b) T - f,      H = (A - s s') / h,  h = sqrt(n A n),  A = sum of semi-axis^2 * axis
 * axis'
 *
 * for an ellipsoid, and H = 0 for a corner.  On an edge of a, n stays square to the edge and there
 * is one tangent; on a face, n is the face's normal. */
#include "collision/smooth.h"

#include "base/assertion.h"
#include "collision/closest.h"
#include "collision/support.h"

/* What n may do: turn about the axes square to it, all but some. */
typedef struct freedom {
  v3 along;  /* of the edge that n is square to */
  v3 normal; /* of the face */
  int count; /* of tangents: 0 on a face, 1 on an edge, 2 on a corner or where a is smooth */
} freedom;

static double part(v3 a, int i) { return i == 0 ? a.x : i == 1 ? a.y : a.z; }

/* the axes along which a point of a box is not at the end */
static freedom on_box(const tbi_solid *box, v3 local, v3 n) {
  freedom f = {.count = 2};
  int inner = 0;
  for (int i = 0; i < 3; ++i) {
    if (fabs(part(local, i)) > box->half[i] * (1 - 1e-9)) {
      f.normal = v3_scale(v3_dot(box->axis[i], n) < 0 ? -1 : 1, box->axis[i]);
    } else {
      f.along = box->axis[i];
      ++inner;
    }
  }
  f.count = inner > 1 ? 0 : 2 - inner;
  return f;
}

/* False where the feature of a cannot be told. */
static bool find_freedom(const tbi_solid *a, v3 on_a, v3 n, freedom *f) {
  v3 local = tbi_solid_local(a, v3_sub(on_a, a->pos));
  *f = (freedom){.count = 2};
  switch (a->type) {
  case TABI_SHAPE_SPHERE:
  case TABI_SHAPE_ELLIPSOID:
    return true;
  case TABI_SHAPE_CAPSULE:
    if (fabs(local.z) < a->half[2] * (1 - 1e-9)) *f = (freedom){a->axis[2], v3_zero(), 1};
    return true;
  case TABI_SHAPE_BOX:
    *f = on_box(a, local, n);
    return true;
  default:
    return false;
  }
}

/* t.H u of a support function at a direction, where s is the point from the middle */
static double curvature(const tbi_solid *solid, v3 n, v3 s, v3 t, v3 u) {
  if (solid->type != TABI_SHAPE_ELLIPSOID) return 0;
  double sum = -v3_dot(s, t) * v3_dot(s, u);
  for (int i = 0; i < 3; ++i)
    sum += solid->half[i] * solid->half[i] * v3_dot(solid->axis[i], t) * v3_dot(solid->axis[i], u);
  return sum / fabs(v3_dot(s, n));
}

static double overlap_along(const tbi_solid *a, const tbi_solid *b, v3 n) {
  return v3_dot(n, v3_sub(tbi_support(a, n), tbi_support(b, v3_neg(n))));
}

/* One step of Newton's method; false where there is no least overlap near. */
static bool newton_step(const tbi_solid *a, const tbi_solid *b, const freedom *f, v3 *n) {
  v3 across = f->count == 1 ? f->along : v3_make(0, 0, 0);
  v3 t = f->count == 1 ? v3_cross(*n, across) : tbi_perpendicular(*n);
  v3 u = v3_cross(*n, t);
  v3 s_a = v3_sub(tbi_support(a, *n), a->pos);
  v3 s_b = v3_sub(tbi_support(b, v3_neg(*n)), b->pos);
  v3 w = v3_sub(v3_add(a->pos, s_a), v3_add(b->pos, s_b));
  double overlap = v3_dot(w, *n);
  double tt = curvature(a, *n, s_a, t, t) + curvature(b, *n, s_b, t, t) - overlap;
  double g = v3_dot(w, t);
  if (f->count == 1) {
    if (!(tt > 0)) return false;
    *n = v3_axpy(*n, -g / tt, t);
  } else {
    double tu = curvature(a, *n, s_a, t, u) + curvature(b, *n, s_b, t, u);
    double uu = curvature(a, *n, s_a, u, u) + curvature(b, *n, s_b, u, u) - overlap;
    double h = v3_dot(w, u);
    double det = tt * uu - tu * tu;
    if (!(tt > 0 && det > 0)) return false;
    *n = v3_axpy(v3_axpy(*n, (tu * h - uu * g) / det, t), (tu * g - tt * h) / det, u);
  }
  *n = v3_scale(1 / v3_norm(*n), *n);
  return true;
}

bool tbi_smooth_refine(const tbi_solid *a, const tbi_solid *b, v3 on_a, v3 *n) {
  freedom f;
  if (b->type != TABI_SHAPE_ELLIPSOID || !find_freedom(a, on_a, *n, &f)) return false;
  v3 found = f.count == 0 ? f.normal : *n;
  if (f.count == 1) {
    found = v3_axpy(found, -v3_dot(found, f.along), f.along);
    double length = v3_norm(found);
    if (!(length > 0.5)) return false;
    found = v3_scale(1 / length, found);
  }
  for (int i = 0; i < 6 && f.count > 0; ++i) {
    v3 before = found;
    if (!newton_step(a, b, &f, &found)) return false;
    v3 turned = v3_sub(found, before);
    if (v3_dot(turned, turned) < 1e-30) break;
  }
  /* rounding of a minimum, and no more */
  double size = b->half[0] + b->half[1] + b->half[2];
  if (!(overlap_along(a, b, found) <= overlap_along(a, b, *n) + 1e-13 * size)) return false;
  *n = found;
  return true;
}

/* penalty_law.h - the spring and damper of one point of contact. */
#ifndef TBI_PENALTY_LAW_H
#define TBI_PENALTY_LAW_H

#include "math/vec.h"

#include "tabi/tabi.h"

#include <math.h>

/* The law between two surfaces at one point: x is normal, y and z are tangential. */
typedef struct tbi_spring_law {
  double stiffness, damping;   /* N/m, normal; N s/m, all directions */
  double tangential_stiffness; /* N/m */
  double stick_friction;       /* coefficient up to which the point sticks */
  double slip_friction;        /* coefficient of its friction beyond that, the same or less */
} tbi_spring_law;

/* Friction as of an elastic and perfectly plastic spring: beyond the cone it stays at it.
 * tangential_stiffness: a multiple of the normal stiffness */
static inline tbi_spring_law tbi_spring_law_of(const tabi_material_def *surface, double friction,
                                               double tangential_stiffness) {
  return (tbi_spring_law){surface->stiffness, surface->damping,
                          tangential_stiffness * surface->stiffness, friction, friction};
}

/* The same as published: beyond the cone friction drops at once to the kinetic one. */
static inline tbi_spring_law tbi_spring_law_dropping(tbi_spring_law law, double kinetic) {
  law.slip_friction = tbi_min(law.stick_friction, kinetic);
  return law;
}

/* A force, or impulse, that neither pulls nor leaves the cone. */
static inline v3 tbi_spring_law_cut(const tbi_spring_law *law, v3 f) {
  if (!(f.x > 0)) return v3_zero();
  double along = sqrt(f.y * f.y + f.z * f.z);
  if (along <= law->stick_friction * f.x) return f;
  double keep = law->slip_friction * f.x / along;
  return v3_make(f.x, keep * f.y, keep * f.z);
}

/* The force at a gap, a tangential deflection (x unused) and a velocity. */
static inline v3 tbi_spring_law_force(const tbi_spring_law *law, double gap, v3 deflection, v3 u) {
  if (gap >= 0) return v3_zero();
  v3 f = v3_make(-law->stiffness * gap - law->damping * u.x,
                 -law->tangential_stiffness * deflection.y - law->damping * u.y,
                 -law->tangential_stiffness * deflection.z - law->damping * u.z);
  return tbi_spring_law_cut(law, f);
}

#endif

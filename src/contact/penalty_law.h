/* penalty_law.h - the spring and damper of one point of contact. */
#ifndef TBI_PENALTY_LAW_H
#define TBI_PENALTY_LAW_H

#include "math/vec.h"

#include "tabi/tabi.h"

#include <math.h>

/* What two surfaces do at one point, across (x) and along (y, z): force per depth and per speed. */
typedef struct tbi_spring_law {
  double stiffness, damping;   /* across */
  double tangential_stiffness; /* stiffness along */
  double hold, slide;          /* friction coefficients */
} tbi_spring_law;

/* hold: the coefficient that a point which does not slide stands */
static inline tbi_spring_law tbi_spring_law_of(const tabi_material_def *surface, double hold,
                                               double tangential_stiffness) {
  double slide = surface->kinetic < 0 ? surface->friction : surface->kinetic;
  return (tbi_spring_law){surface->stiffness, surface->damping,
                          tangential_stiffness * surface->stiffness, hold, tbi_min(hold, slide)};
}

/* A force, or impulse, that neither pulls nor leaves the cone. */
static inline v3 tbi_spring_law_cut(const tbi_spring_law *law, v3 f) {
  if (!(f.x > 0)) return v3_zero();
  double along = sqrt(f.y * f.y + f.z * f.z);
  if (along <= law->hold * f.x) return f;
  double keep = law->slide * f.x / along;
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

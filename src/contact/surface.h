/* surface.h - the contact parameters of each pair of materials. */
#ifndef TBI_SURFACE_H
#define TBI_SURFACE_H

#include "problem/problem.h"

/* Number of pairs of materials, the default one being the last, in either order:
 * (nmaterial + 1) (nmaterial + 2) / 2. */
int64_t tbi_surface_count(const tabi_model *model);
/* Fills surface[tbi_surface_count].  A friction >= 0 replaces those of all pairs. */
void tbi_surface_fill(const tabi_model *model, double friction, tabi_material_def *surface);

/* Where a pair of materials stands: the lower triangle, row by row. */
static inline int64_t tbi_surface_index(int64_t a, int64_t b) {
  int64_t row = a > b ? a : b;
  return row * (row + 1) / 2 + (a > b ? b : a);
}

static inline const tabi_material_def *tbi_surface_of(const tabi_model *model,
                                                      const tabi_material_def *surface,
                                                      int32_t shape_a, int32_t shape_b) {
  int32_t a = model->shape[shape_a].material;
  int32_t b = model->shape[shape_b].material;
  return &surface[tbi_surface_index(a == TABI_NONE ? model->nmaterial : a,
                                    b == TABI_NONE ? model->nmaterial : b)];
}

/* The coefficient of friction: static or kinetic, and what is viscous in proportion to the slip,
 * m/s. */
static inline double tbi_surface_friction(const tabi_material_def *surface, bool slides,
                                          double slip) {
  bool kinetic = slides && surface->kinetic >= 0;
  return (kinetic ? surface->kinetic : surface->friction) + surface->viscous * slip;
}
/* That of a point, with its slip before the step. */
static inline double tbi_point_friction(const tbi_point *c, bool slides) {
  bool viscous = c->surface->viscous > 0;
  double slip = viscous ? sqrt(c->slip[0] * c->slip[0] + c->slip[1] * c->slip[1]) : 0;
  return tbi_surface_friction(c->surface, slides, slip);
}

#endif

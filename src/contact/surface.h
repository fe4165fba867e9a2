/* surface.h - the contact parameters of each pair of materials. */
#ifndef TBI_SURFACE_H
#define TBI_SURFACE_H

#include "problem/problem.h"

/* Number of pairs of materials, the default one being the last: (nmaterial + 1)^2. */
int64_t tbi_surface_count(const tabi_model *model);
/* Fills surface[tbi_surface_count].  A friction >= 0 replaces those of all pairs. */
void tbi_surface_fill(const tabi_model *model, double friction, tabi_material_def *surface);

static inline const tabi_material_def *tbi_surface_of(const tabi_model *model,
                                                      const tabi_material_def *surface,
                                                      int32_t shape_a, int32_t shape_b) {
  int32_t a = model->shape[shape_a].material;
  int32_t b = model->shape[shape_b].material;
  int64_t row = a == TABI_NONE ? model->nmaterial : a;
  int64_t column = b == TABI_NONE ? model->nmaterial : b;
  return &surface[row * (model->nmaterial + 1) + column];
}

/* The coefficient of a point that slides, or slid before the step: kinetic, and in proportion to
 * the speed of the slip what is viscous. */
static inline double tbi_surface_kinetic(const tabi_material_def *surface, double slip) {
  double kinetic = surface->kinetic < 0 ? surface->friction : surface->kinetic;
  return kinetic + surface->viscous * slip;
}
static inline double tbi_point_kinetic(const tbi_point *c) {
  bool viscous = c->surface->viscous > 0;
  return tbi_surface_kinetic(c->surface,
                             viscous ? sqrt(c->slip[0] * c->slip[0] + c->slip[1] * c->slip[1]) : 0);
}

#endif

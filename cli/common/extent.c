/* extent.c - an axis-aligned box around shapes. */
#include "common/extent.h"

#include <math.h>

static const tbi_extent nothing = {
    {HUGE_VAL,  HUGE_VAL,  HUGE_VAL },
    {-HUGE_VAL, -HUGE_VAL, -HUGE_VAL},
    true
};

static void include_shape(tbi_extent *e, const tabi_dynamics *dynamics, int32_t shape) {
  double lower[3];
  double upper[3];
  if (!tabi_dynamics_shape_bounds(dynamics, shape, lower, upper)) return;
  for (int axis = 0; axis < 3; ++axis) {
    e->lower[axis] = fmin(e->lower[axis], lower[axis]);
    e->upper[axis] = fmax(e->upper[axis], upper[axis]);
  }
  e->empty = false;
}

tbi_extent tbi_extent_of_shape(const tabi_dynamics *dynamics, int32_t shape) {
  tbi_extent e = nothing;
  include_shape(&e, dynamics, shape);
  return e;
}

tbi_extent tbi_extent_of(const tabi_model *model, const tabi_dynamics *dynamics) {
  tbi_extent e = nothing;
  for (int32_t i = 0; i < tabi_model_nshape(model); ++i)
    include_shape(&e, dynamics, i);
  return e;
}

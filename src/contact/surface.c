/* surface.c - material pairs given by the model, and tabi_material_combine for all others. */
#include "contact/surface.h"

#include "base/assertion.h"

int64_t tbi_surface_count(const tabi_model *model) {
  return ((int64_t)model->nmaterial + 1) * ((int64_t)model->nmaterial + 2) / 2;
}

void tbi_surface_fill(const tabi_model *model, double friction, tabi_material_def *surface) {
  TBI_ASSERT(surface);
  int64_t n = (int64_t)model->nmaterial + 1;
  tabi_material_def standard = tabi_material_def_default();
  for (int64_t i = 0; i < n; ++i) {
    for (int64_t j = 0; j <= i; ++j) {
      const tabi_material_def *a = i < n - 1 ? &model->material[i] : &standard;
      const tabi_material_def *b = j < n - 1 ? &model->material[j] : &standard;
      surface[tbi_surface_index(i, j)] = tabi_material_combine(a, b);
    }
  }
  for (int32_t k = 0; k < model->npair; ++k) {
    const tbi_material_pair *pair = &model->pair[k];
    surface[tbi_surface_index(pair->material_a, pair->material_b)] = pair->surface;
  }
  for (int64_t i = 0; i < tbi_surface_count(model) && friction >= 0; ++i) {
    surface[i].friction = friction;
    surface[i].kinetic = friction;
  }
}

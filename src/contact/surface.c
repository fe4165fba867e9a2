/* surface.c - pairs that are given, and the rule for all others: friction by the geometric mean,
 * restitution and speeds by the larger, stiffness and damping as springs in a row. */
#include "contact/surface.h"

static double in_series(double a, double b) { return a + b > 0 ? a * b / (a + b) : 0; }

static tabi_material_def combine(const tabi_material_def *a, const tabi_material_def *b) {
  tabi_material_def both = *a;
  both.name = NULL;
  both.friction = sqrt(a->friction * b->friction);
  both.kinetic = sqrt(a->kinetic * b->kinetic);
  both.restitution = fmax(a->restitution, b->restitution);
  both.stiffness = in_series(a->stiffness, b->stiffness);
  both.damping = in_series(a->damping, b->damping);
  both.slip_speed = fmax(a->slip_speed, b->slip_speed);
  both.rest_speed = fmax(a->rest_speed, b->rest_speed);
  return both;
}

int64_t tbi_surface_count(const tabi_model *model) {
  return ((int64_t)model->nmaterial + 1) * (model->nmaterial + 1);
}

void tbi_surface_fill(const tabi_model *model, tabi_material_def *surface) {
  int64_t n = (int64_t)model->nmaterial + 1;
  tabi_material_def standard = tabi_material_def_default();
  standard.kinetic = standard.friction;
  for (int64_t i = 0; i < n; ++i) {
    for (int64_t j = 0; j < n; ++j) {
      const tabi_material_def *a = i < n - 1 ? &model->material[i] : &standard;
      const tabi_material_def *b = j < n - 1 ? &model->material[j] : &standard;
      surface[i * n + j] = combine(a, b);
    }
  }
  for (int32_t k = 0; k < model->npair; ++k) {
    const tbi_material_pair *pair = &model->pair[k];
    surface[pair->material_a * n + pair->material_b] = pair->surface;
    surface[pair->material_b * n + pair->material_a] = pair->surface;
  }
}

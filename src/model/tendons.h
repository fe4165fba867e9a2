/* tendons.h - tendons of a model: memory, and which velocities move them. */
#ifndef TBI_TENDONS_H
#define TBI_TENDONS_H

#include "model/builder.h"

/* Adds the numbers of tendons to the model's sizes.  link_depth: how many velocities are between
 * the root and each link. */
void tbi_count_tendons(const tabi_builder *builder, const int32_t *link_depth, tabi_model *model);
/* The lists of the builder, and what follows from them; bodies are there already. */
void tbi_fill_tendons(const tabi_builder *builder, tabi_model *model);

/* The velocities that a tendon depends on, ascending. */
static inline const int32_t *tbi_tendon_dofs(const tabi_model *model, int32_t tendon) {
  return model->tendon_dof + model->tendon_first[tendon];
}
static inline int32_t tbi_tendon_ndof(const tabi_model *model, int32_t tendon) {
  return model->tendon_first[tendon + 1] - model->tendon_first[tendon];
}

#endif

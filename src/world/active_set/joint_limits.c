/* joint_limits.c - joint limits that a step does not reach.
 *
 * A limit far from the present position gets no row.  If the new velocity reaches one all the same,
 * the step is solved again with a row there. */
#include "world/active_set/active_set.h"

enum { LOWER = 1 << TBI_ROW_LOWER, UPPER = 1 << TBI_ROW_UPPER };

void tbi_predict_joint_limits(tabi_world *w, const double *v, double near) {
  const tabi_model *model = w->model;
  uint8_t *limited = w->active_set.limited;
  for (int32_t dof = 0; dof < model->nv; ++dof) {
    limited[dof] = 0;
    if (model->dof_q[dof] == TABI_NONE || w->state.told[dof]) continue;
    double q = w->state.q[model->dof_q[dof]];
    double ahead = near + 2 * w->def.timestep * tbi_max(fabs(w->state.v[dof]), fabs(v[dof]));
    if (q - model->dof_lower[dof] < ahead) limited[dof] |= LOWER;
    if (model->dof_upper[dof] - q < ahead) limited[dof] |= UPPER;
  }
}

bool tbi_verify_joint_limits(tabi_world *w) {
  const tabi_model *model = w->model;
  uint8_t *limited = w->active_set.limited;
  bool verified = true;
  for (int32_t dof = 0; dof < model->nv; ++dof) {
    if (model->dof_q[dof] == TABI_NONE || w->active_set.stuck[dof]) continue;
    double after = w->state.q[model->dof_q[dof]] + w->def.timestep * w->solution.v_new[dof];
    uint8_t reached = 0;
    if (after < model->dof_lower[dof]) reached |= LOWER;
    if (after > model->dof_upper[dof]) reached |= UPPER;
    if ((reached & ~limited[dof]) == 0) continue;
    limited[dof] |= reached;
    verified = false;
  }
  return verified;
}

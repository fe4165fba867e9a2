/* twist.h - twist and drift of a body from those of its parent, inline for the passes that need
 * them. */
#ifndef TBI_TWIST_H
#define TBI_TWIST_H

#include "dynamics/dynamics.h"

/* how many velocities of a joint translate, before the others turn */
static inline int tbi_translations(tabi_joint_type type) {
  return type == TABI_JOINT_FREE ? 3 : type == TABI_JOINT_PLANAR ? 2 : 0;
}

static inline sv tbi_sum_of_axes(const sv *axis, const double *v, int count) {
  sv sum = sv_zero();
  for (int i = 0; i < count; ++i)
    sum = sv_axpy(sum, v[i], axis[i]);
  return sum;
}

/* The twist of a body and its drift, unless that is NULL.  A planar or free joint translates along
 * axes of the parent and then turns about a point that has moved along.  A ball joint's axes turn
 * with the child, but the rotation they make together does not change its own axis: on the whole
 * they drift as if fixed in the parent. */
static inline void tbi_twist_compound(const tbi_body *body, const double *v, const sv *axis,
                                      const sv *parent, sv *vel, sv *drift) {
  sv moved = tbi_sum_of_axes(axis, v, tbi_translations(body->type));
  sv joint = tbi_sum_of_axes(axis, v, body->nv);
  *vel = sv_add(*parent, joint);
  if (drift) *drift = sv_add(sv_cross(*parent, joint), sv_cross(moved, sv_sub(joint, moved)));
}

/* the same for a joint with one velocity: the usual case */
static inline void tbi_twist_simple(double v, sv axis, const sv *parent, sv *vel, sv *drift) {
  sv joint = sv_scale(v, axis);
  *vel = sv_add(*parent, joint);
  if (drift) *drift = sv_cross(*parent, joint);
}

/* The twist of a body and its drift under velocities v[nv]. */
static inline void tbi_body_twist(const tabi_dynamics *d, int32_t index, const double *v,
                                  const sv *parent, sv *vel, sv *drift) {
  const tbi_body *body = &d->model->body[index];
  const sv *axis = d->axis + body->v;
  if (body->nv == 1) {
    tbi_twist_simple(v[body->v], *axis, parent, vel, drift);
  } else {
    tbi_twist_compound(body, v + body->v, axis, parent, vel, drift);
  }
}

#endif

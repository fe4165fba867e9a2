/* kinematics.c - from q and v to poses, motion axes, twists and world inertias, root to leaf.
 *
 * For every joint the axis S maps its velocities to the twist of the child against the parent;
 * the drift is dS/dt v.  An axis is carried along by some frame, so its rate is the cross product
 * with that frame's twist (axis_carrier). */
#include "dynamics/dynamics.h"

#include "base/assertion.h"
#include "math/trig.h"

#include <string.h>

/* Where a joint stands, in world axes from the tree's origin. */
typedef struct stand {
  m4 rot;
  v4 pos;
} stand;

/* turn about the own z axis: the third column stays */
static m4 turn_z(const m4 *r, double s, double c) {
  return (m4){v4_axpy(v4_scale(c, r->x), s, r->y), v4_axpy(v4_scale(c, r->y), -s, r->x), r->z};
}

static m4 turn_by(const m4 *r, const double *quat) {
  m3 turn = q_matrix(q_load(quat));
  return m4_mul3(r, &turn);
}

static sv rotation_about(v4 axis, v4 point) { return (sv){v4_cross(point, axis), axis}; }
static sv translation_along(v4 axis) { return (sv){axis, v4_zero()}; }

static void axes_of_rotation(const m4 *frame, v4 point, sv *axis) {
  axis[0] = rotation_about(frame->x, point);
  axis[1] = rotation_about(frame->y, point);
  axis[2] = rotation_about(frame->z, point);
}

/* pose and axes of a body whose joint frame stands at `at` */
static void place_body(const tabi_dynamics *d, const tbi_body *body, const stand *at,
                       tbi_body_state *state, sv *axis) {
  const double *q = d->q + body->q;
  const m4 *frame = &at->rot;
  state->rot = *frame;
  state->pos = at->pos;
  switch (body->type) {
  case TABI_JOINT_REVOLUTE:
  case TABI_JOINT_CONTINUOUS:
    state->rot = turn_z(frame, d->sine[body->q], d->cosine[body->q]);
    axis[0] = rotation_about(frame->z, at->pos);
    break;
  case TABI_JOINT_PRISMATIC:
    axis[0] = translation_along(frame->z);
    state->pos = v4_axpy(at->pos, q[0], frame->z);
    break;
  case TABI_JOINT_BALL:
    state->rot = turn_by(frame, q);
    axes_of_rotation(&state->rot, at->pos, axis);
    break;
  case TABI_JOINT_PLANAR:
    state->rot = turn_z(frame, d->sine[body->q + 2], d->cosine[body->q + 2]);
    state->pos = v4_axpy(v4_axpy(at->pos, q[0], frame->x), q[1], frame->y);
    axis[0] = translation_along(frame->x);
    axis[1] = translation_along(frame->y);
    axis[2] = rotation_about(frame->z, state->pos);
    break;
  case TABI_JOINT_FREE:
    state->rot = turn_by(frame, q + 3);
    /* under the world the displacement is in the tree's origin */
    if (body->parent != TABI_WORLD) state->pos = v4_add(at->pos, m4_mulv3(frame, v3_load(q)));
    axis[0] = translation_along(frame->x);
    axis[1] = translation_along(frame->y);
    axis[2] = translation_along(frame->z);
    axes_of_rotation(frame, state->pos, axis + 3);
    break;
  default:
    TBI_ASSERT(false);
  }
}

static sv twist_of_joint(const tbi_body *body, const sv *axis, const double *v) {
  sv twist = sv_scale(v[0], axis[0]);
  for (int i = 1; i < body->nv; ++i)
    twist = sv_axpy(twist, v[i], axis[i]);
  return twist;
}

/* the twist of the frame that carries the k-th axis of a joint, against that of the parent: a
 * planar or free joint first translates along axes of the parent, then turns about a point that
 * has moved along; a ball joint's axes turn with the child, but a rotation does not change its
 * own axis, so that on the whole they drift as if fixed in the parent */
static sv translation_part(const tbi_body *body, const sv *axis, const double *v) {
  sv twist = sv_zero();
  int translations = body->type == TABI_JOINT_FREE ? 3 : body->type == TABI_JOINT_PLANAR ? 2 : 0;
  for (int i = 0; i < translations; ++i)
    twist = sv_axpy(twist, v[i], axis[i]);
  return twist;
}

static sv drift_of_joint(const tbi_body *body, sv parent_vel, sv joint_vel, const sv *axis,
                         const double *v) {
  sv drift = sv_cross(parent_vel, joint_vel);
  if (body->nv == 1) return drift;
  sv moved = translation_part(body, axis, v);
  return sv_add(drift, sv_cross(moved, sv_sub(joint_vel, moved)));
}

static body_inertia world_inertia(const tbi_body *body, const tbi_body_state *state) {
  v4 com = v4_add(state->pos, m4_mulv3(&state->rot, body->com));
  m4 moment = m4_rotate_sym(&state->rot, body->inertia);
  return inertia_make(body->mass, com, &moment);
}

static void set_origins(tabi_dynamics *d) {
  const tabi_model *model = d->model;
  for (int32_t tree = 0; tree < model->ntree; ++tree) {
    const tbi_body *root = &model->body[model->tree_body[tree]];
    v3 origin = root->place.pos;
    if (root->type == TABI_JOINT_FREE) {
      origin = v3_add(origin, m3_mulv(&root->place.rot, v3_load(d->q + root->q)));
    }
    d->origin[tree] = origin;
  }
}

void tbi_kinematics(tabi_dynamics *d, const double *q, const double *v) {
  const tabi_model *model = d->model;
  memcpy(d->q, q, sizeof *q * (size_t)model->nq);
  memcpy(d->v, v, sizeof *v * (size_t)model->nv);
  tbi_sincos(model->nq, d->q, d->sine, d->cosine);
  set_origins(d);
  for (int32_t i = 0; i < model->nbody; ++i) {
    const tbi_body *body = &model->body[i];
    tbi_body_state *state = &d->body[i];
    sv *axis = d->axis + body->v;
    stand at = {m4_from(&body->place.rot), v4_zero()};
    sv parent_vel = sv_zero();
    if (body->parent != TABI_WORLD) {
      const tbi_body_state *parent = &d->body[body->parent];
      at.rot = m4_mul3(&parent->rot, &body->place.rot);
      at.pos = v4_add(parent->pos, m4_mulv3(&parent->rot, body->place.pos));
      parent_vel = parent->vel;
    }
    place_body(d, body, &at, state, axis);
    sv joint_vel = twist_of_joint(body, axis, d->v + body->v);
    state->vel = sv_add(parent_vel, joint_vel);
    state->drift = drift_of_joint(body, parent_vel, joint_vel, axis, d->v + body->v);
    state->inertia = world_inertia(body, state);
  }
}

sv tbi_axis_rate(const tabi_dynamics *d, int32_t dof) {
  const tbi_body *body = &d->model->body[d->model->dof_body[dof]];
  const tbi_body_state *state = &d->body[d->model->dof_body[dof]];
  sv carrier = state->vel;
  if (body->type == TABI_JOINT_PLANAR || body->type == TABI_JOINT_FREE) {
    carrier = body->parent == TABI_WORLD ? sv_zero() : d->body[body->parent].vel;
    int translations = body->type == TABI_JOINT_FREE ? 3 : 2;
    if (dof - body->v >= translations) {
      carrier = sv_add(carrier, translation_part(body, d->axis + body->v, d->v + body->v));
    }
  }
  return sv_cross(carrier, d->axis[dof]);
}

v3 tbi_tree_origin(const tabi_dynamics *d, int32_t body) {
  return body == TABI_WORLD ? v3_zero() : d->origin[d->model->body[body].tree];
}

tbi_frame tbi_link_frame(const tabi_dynamics *d, int32_t link) {
  const tbi_link_home *home = &d->model->link_home[link];
  if (home->body == TABI_WORLD) return home->frame;
  const tbi_body_state *state = &d->body[home->body];
  tbi_frame body = {m4_to(&state->rot), v3_add(v4_to(state->pos), tbi_tree_origin(d, home->body))};
  return tbi_frame_mul(&body, &home->frame);
}

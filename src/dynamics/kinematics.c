/* kinematics.c - from q and v to poses, motion axes, twists and world inertias, root to leaf.
 *
 * For every joint the axis S maps its velocities to the twist of the child against the parent;
 * the drift is dS/dt v.  An axis is carried along by some frame, so its rate is the cross product
 * with that frame's twist. */
#include "dynamics/dynamics.h"

#include "base/assertion.h"
#include "dynamics/twist.h"
#include "math/trig.h"

#include <string.h>

/* Where a joint stands, in world axes from the tree's origin. */
typedef struct stand {
  m4 rot;
  v4 pos;
} stand;

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

static void axes_of_translation(const m4 *frame, int count, sv *axis) {
  const v4 direction[3] = {frame->x, frame->y, frame->z};
  for (int i = 0; i < count; ++i)
    axis[i] = translation_along(direction[i]);
}

/* pose and axes of a body whose joint has several velocities and stands at `at` */
static void place_compound(const tabi_dynamics *d, const tbi_body *body, const stand *at,
                           tbi_body_state *state, sv *axis) {
  const double *q = d->q + body->q;
  const m4 *frame = &at->rot;
  /* under the world the displacement is in the tree's origin */
  bool rooted = body->parent == TABI_WORLD;
  axes_of_translation(frame, tbi_translations(body->type), axis);
  state->pos = at->pos;
  switch (body->type) {
  case TABI_JOINT_BALL:
    state->rot = turn_by(frame, q);
    axes_of_rotation(&state->rot, at->pos, axis);
    break;
  case TABI_JOINT_PLANAR:
    state->rot = m4_turn_z(frame, d->sine[body->q + 2], d->cosine[body->q + 2]);
    if (!rooted) state->pos = v4_axpy(v4_axpy(at->pos, q[0], frame->x), q[1], frame->y);
    axis[2] = rotation_about(frame->z, state->pos);
    break;
  case TABI_JOINT_FREE:
    state->rot = turn_by(frame, q + 3);
    if (!rooted) state->pos = v4_add(at->pos, m4_mulv3(frame, v3_load(q)));
    axes_of_rotation(frame, state->pos, axis + 3);
    break;
  default:
    TBI_ASSERT(false);
  }
}

static void move_compound(const tabi_dynamics *d, const tbi_body *body, const stand *at,
                          tbi_body_state *state, bool drifts) {
  sv *axis = d->axis + body->v;
  place_compound(d, body, at, state, axis);
  tbi_twist_compound(body, d->v + body->v, axis, &d->body[body->parent].vel, &state->vel,
                     drifts ? &state->drift : NULL);
}

static inline void move_simple(const tabi_dynamics *d, const tbi_body *body, const stand *at,
                               tbi_body_state *state, bool drifts) {
  sv axis;
  if (body->type == TABI_JOINT_PRISMATIC) {
    axis = translation_along(at->rot.z);
    state->rot = at->rot;
    state->pos = at->pos;
    if (body->parent != TABI_WORLD) state->pos = v4_axpy(at->pos, d->q[body->q], at->rot.z);
  } else {
    axis = rotation_about(at->rot.z, at->pos);
    state->rot = m4_turn_z(&at->rot, d->sine[body->q], d->cosine[body->q]);
    state->pos = at->pos;
  }
  d->axis[body->v] = axis;
  tbi_twist_simple(d->v[body->v], axis, &d->body[body->parent].vel, &state->vel,
                   drifts ? &state->drift : NULL);
}

static body_inertia world_inertia(const tbi_body *body, const tbi_body_state *state) {
  v4 com = v4_add(state->pos, m4_mulv3(&state->rot, body->com));
  m4 moment = m4_rotate_sym(&state->rot, body->inertia);
  return inertia_make(body->mass, com, &moment);
}

/* how far a joint moves its child's origin, in the axes of its own frame */
static v3 displacement(tabi_joint_type type, const double *q) {
  switch (type) {
  case TABI_JOINT_PRISMATIC:
    return v3_make(0, 0, q[0]);
  case TABI_JOINT_PLANAR:
    return v3_make(q[0], q[1], 0);
  case TABI_JOINT_FREE:
    return v3_load(q);
  default:
    return v3_zero();
  }
}

/* a tree's origin travels with its first body, so that arms stay short wherever it goes */
v3 tbi_tree_origin_at(const tabi_model *model, int32_t tree, const double *q) {
  const tbi_body *root = &model->body[model->tree_body[tree]];
  v3 moved = m3_mulv(&root->place.rot, displacement(root->type, q + root->q));
  return v3_add(model->tree_place[tree], moved);
}

/* bodies from first to end, whose coordinates and origins are set */
static inline void move_bodies(tabi_dynamics *d, int32_t first, int32_t end, bool drifts) {
  const tabi_model *model = d->model;
  for (int32_t i = first; i < end; ++i) {
    const tbi_body *body = &model->body[i];
    const tbi_body_state *parent = &d->body[body->parent];
    tbi_body_state *state = &d->body[i];
    stand at = {m4_mul3(&parent->rot, &body->place.rot),
                v4_add(parent->pos, m4_mulv3(&parent->rot, body->place.pos))};
    if (body->nv == 1) {
      move_simple(d, body, &at, state, drifts);
    } else {
      move_compound(d, body, &at, state, drifts);
    }
    state->inertia = world_inertia(body, state);
  }
}

static inline void set_state(tabi_dynamics *d, const double *q, const double *v, bool drifts) {
  const tabi_model *model = d->model;
  memcpy(d->q, q, sizeof *q * (size_t)model->nq);
  memcpy(d->v, v, sizeof *v * (size_t)model->nv);
  for (int32_t tree = 0; tree < model->ntree; ++tree)
    d->origin[tree] = tbi_tree_origin_at(model, tree, d->q);
  for (int32_t r = 0; r < d->nbusy; ++r) {
    int32_t end = d->busy[r].first + d->busy[r].count;
    int32_t q0 = model->body[d->busy[r].first].q;
    int32_t nq = (end < model->nbody ? model->body[end].q : model->nq) - q0;
    tbi_sincos(nq, d->q + q0, d->sine + q0, d->cosine + q0);
    move_bodies(d, d->busy[r].first, end, drifts);
  }
}

void tbi_kinematics(tabi_dynamics *d, const double *q, const double *v) {
  set_state(d, q, v, true);
}

void tbi_kinematics_without_drift(tabi_dynamics *d, const double *q, const double *v) {
  set_state(d, q, v, false);
}

void tbi_kinematics_of_tree(tabi_dynamics *d, int32_t tree, const double *q, const double *v) {
  const tabi_model *model = d->model;
  const tbi_body *root = &model->body[model->tree_body[tree]];
  bool last = tree + 1 == model->ntree;
  int32_t end = last ? model->nbody : model->tree_body[tree + 1];
  int32_t nq = (last ? model->nq : model->body[end].q) - root->q;
  int32_t nv = (last ? model->nv : model->body[end].v) - root->v;
  memcpy(d->q + root->q, q + root->q, (size_t)nq * sizeof *q);
  memcpy(d->v + root->v, v + root->v, (size_t)nv * sizeof *v);
  tbi_sincos(nq, d->q + root->q, d->sine + root->q, d->cosine + root->q);
  d->origin[tree] = tbi_tree_origin_at(model, tree, d->q);
  move_bodies(d, model->tree_body[tree], end, true);
}

void tbi_velocities_of_tree(tabi_dynamics *d, int32_t tree, const double *q, const double *v) {
  const tabi_model *model = d->model;
  const tbi_body *root = &model->body[model->tree_body[tree]];
  int32_t end = tree + 1 < model->ntree ? model->tree_body[tree + 1] : model->nbody;
  if (root->type == TABI_JOINT_FREE) memcpy(d->q + root->q, q + root->q, 3 * sizeof *q);
  int32_t dofs = (tree + 1 < model->ntree ? model->body[end].v : model->nv) - root->v;
  memcpy(d->v + root->v, v + root->v, (size_t)dofs * sizeof *v);
  d->origin[tree] = tbi_tree_origin_at(model, tree, d->q);
  for (int32_t i = model->tree_body[tree]; i < end; ++i) {
    tbi_body_state *state = &d->body[i];
    tbi_body_twist(d, i, d->v, &d->body[model->body[i].parent].vel, &state->vel, &state->drift);
  }
}

/* an axis is carried along by the child, but those of a planar or free joint by the parent, and
 * where they turn, also by the translation before */
sv tbi_axis_rate(const tabi_dynamics *d, int32_t dof) {
  TBI_ASSERT(dof >= 0 && dof < d->model->nv);
  const tbi_body *body = &d->model->body[d->model->dof_body[dof]];
  sv carrier = d->body[d->model->dof_body[dof]].vel;
  int moves = tbi_translations(body->type);
  if (moves > 0) {
    carrier = d->body[body->parent].vel;
    if (dof - body->v >= moves) {
      carrier = sv_add(carrier, tbi_sum_of_axes(d->axis + body->v, d->v + body->v, moves));
    }
  }
  return sv_cross(carrier, d->axis[dof]);
}

v3 tbi_tree_origin(const tabi_dynamics *d, int32_t body) {
  TBI_CHECK_SLOW(body >= TABI_WORLD && body < d->model->nbody);
  return body == TABI_WORLD ? v3_zero() : d->origin[d->model->body[body].tree];
}

tbi_frame tbi_link_frame(const tabi_dynamics *d, int32_t link) {
  TBI_ASSERT(link >= 0 && link < d->model->nlink);
  const tbi_link_home *home = &d->model->link_home[link];
  if (home->body == TABI_WORLD) return home->frame;
  const tbi_body_state *state = &d->body[home->body];
  tbi_frame body = {m4_to(&state->rot), v3_add(v4_to(state->pos), tbi_tree_origin(d, home->body))};
  return tbi_frame_mul(&body, &home->frame);
}

/* composites.c - see composites.h. */
#include "control/composites.h"

#include "base/assertion.h"
#include "base/error.h"
#include "math/trig.h"

#include <stdlib.h>
#include <string.h>

static bool is_moving(const tbi_body *body, const bool *moves) {
  return body->nv == 1 && moves[body->q];
}

static int32_t count_composites(const tabi_model *model, int32_t floating, const bool *moves) {
  int32_t count = 1;
  for (int32_t i = 0; i < model->nbody; ++i)
    count += model->body[i].tree == model->body[floating].tree && is_moving(&model->body[i], moves);
  return count;
}

/* The composite body that a body belongs to: that of the nearest moving joint above it. */
static int32_t composite_of(const tbi_composites *composites, const tabi_model *model,
                            int32_t body) {
  TBI_ASSERT(body == TABI_WORLD || (body >= 0 && body < model->nbody));
  for (; body != TABI_WORLD; body = model->body[body].parent) {
    for (int32_t i = composites->count - 1; i > 0; --i) {
      if (model->body[body].nv == 1 && model->body[body].q == composites->composite[i].q) return i;
    }
  }
  return 0;
}

static tbi_frame frame_of_body(const tabi_dynamics *d, int32_t body) {
  const tbi_body_state *state = &d->body[body];
  return (tbi_frame){m4_to(&state->rot), v3_add(tbi_tree_origin(d, body), v4_to(state->pos))};
}

/* The frame of a composite body in the world with all moving joints at zero. */
static tbi_frame zero_frame(const tbi_composites *composites, int32_t composite) {
  TBI_ASSERT(composite >= 0 && composite < composites->count);
  tbi_frame frame = tbi_frame_identity();
  for (; composite > 0; composite = composites->composite[composite].parent)
    frame = tbi_frame_mul(&composites->composite[composite].place, &frame);
  return tbi_frame_mul(&composites->zero_floating, &frame);
}

static void add_composite(tbi_composites *composites, const tabi_dynamics *d, int32_t body) {
  const tbi_body *own = &d->model->body[body];
  int32_t parent = composite_of(composites, d->model, own->parent);
  tbi_frame above = zero_frame(composites, parent);
  tbi_frame frame = frame_of_body(d, body);
  composites->composite[composites->count++] =
      (tbi_composite){.parent = parent,
                      .q = own->q,
                      .v = own->v,
                      .slides = own->type == TABI_JOINT_PRISMATIC,
                      .place = tbi_frame_relative(&above, &frame)};
}

static void add_mass(tbi_composites *composites, const tabi_dynamics *d, int32_t body) {
  const tbi_body *own = &d->model->body[body];
  int32_t index = composite_of(composites, d->model, body);
  tbi_composite *composite = &composites->composite[index];
  tbi_frame home = zero_frame(composites, index);
  tbi_frame frame = frame_of_body(d, body);
  frame = tbi_frame_relative(&home, &frame);
  v3 com = v3_add(frame.pos, m3_mulv(&frame.rot, own->com));
  composite->mass += own->mass;
  composite->moment = v3_axpy(composite->moment, own->mass, com);
  composite->inertia = s3_add(composite->inertia, s3_rotate(&frame.rot, own->inertia));
  composite->inertia = s3_add(composite->inertia, s3_point_mass(own->mass, com));
  composites->mass += own->mass;
}

/* The posture in which bodies are merged. */
static tabi_status set_posture(tabi_dynamics *d, int32_t floating, const double *q,
                               const bool *moves, tabi_error *err) {
  const tabi_model *model = d->model;
  double *posture = calloc((size_t)model->nq + (size_t)model->nv + 1, sizeof *posture);
  if (!posture) return tbi_error_memory(err);
  memcpy(posture, q, sizeof *q * (size_t)model->nq);
  for (int32_t i = 0; i < model->nbody; ++i) {
    if (is_moving(&model->body[i], moves)) posture[model->body[i].q] = 0;
  }
  double *base = posture + model->body[floating].q;
  v3_store(v3_zero(), base);
  q_store(q_identity(), base + 3);
  tabi_dynamics_set_state(d, posture, posture + model->nq);
  free(posture);
  return TABI_OK;
}

static bool allocate(tbi_composites *composites, int32_t count) {
  size_t rows = (size_t)count;
  composites->composite = calloc(rows, sizeof *composites->composite);
  composites->rot = aligned_alloc(64, (rows * sizeof *composites->rot + 63) / 64 * 64);
  composites->pos = aligned_alloc(64, (rows * sizeof *composites->pos + 63) / 64 * 64);
  composites->angle = calloc(3 * rows, sizeof *composites->angle);
  composites->motion = aligned_alloc(64, (rows * sizeof *composites->motion + 63) / 64 * 64);
  if (!composites->composite || !composites->rot || !composites->pos || !composites->angle ||
      !composites->motion)
    return false;
  composites->sine = composites->angle + rows;
  composites->cosine = composites->sine + rows;
  return true;
}

tabi_status tbi_composites_make(tbi_composites *composites, tabi_dynamics *d, int32_t floating,
                                const double *q, const bool *moves, tabi_error *err) {
  TBI_ASSERT(floating >= 0 && floating < d->model->nbody);
  TBI_ASSERT(d->model->body[floating].type == TABI_JOINT_FREE && q && moves);
  const tabi_model *model = d->model;
  *composites = (tbi_composites){.q = model->body[floating].q, .v = model->body[floating].v};
  if (!allocate(composites, count_composites(model, floating, moves))) return tbi_error_memory(err);
  tabi_status status = set_posture(d, floating, q, moves, err);
  if (status != TABI_OK) return status;
  composites->zero_floating = frame_of_body(d, floating);
  composites->composite[composites->count++] = (tbi_composite){.parent = -1};
  int32_t tree = model->body[floating].tree;
  for (int32_t i = 0; i < model->nbody; ++i) {
    if (model->body[i].tree == tree && is_moving(&model->body[i], moves))
      add_composite(composites, d, i);
  }
  for (int32_t i = 0; i < model->nbody; ++i) {
    if (model->body[i].tree == tree) add_mass(composites, d, i);
  }
  composites->rot[0] = (m4){v4_make(1, 0, 0), v4_make(0, 1, 0), v4_make(0, 0, 1)};
  composites->pos[0] = v4_zero();
  return TABI_OK;
}

void tbi_composites_free(tbi_composites *composites) {
  free(composites->composite);
  free(composites->rot);
  free(composites->pos);
  free(composites->angle);
  free(composites->motion);
  *composites = (tbi_composites){.count = 0};
}

tbi_composite_point tbi_composites_attach(const tbi_composites *composites, const tabi_dynamics *d,
                                          int32_t body, v3 point) {
  TBI_ASSERT(body >= 0 && body < d->model->nbody);
  int32_t composite = composite_of(composites, d->model, body);
  tbi_frame home = zero_frame(composites, composite);
  return (tbi_composite_point){composite, m3_tmulv(&home.rot, v3_sub(point, home.pos))};
}

v3 tbi_composites_com_at(tbi_composites *composites, const tbi_frame *floating, const double *q) {
  TBI_ASSERT(composites->count > 0 && composites->mass > 0);
  for (int32_t i = 1; i < composites->count; ++i)
    composites->angle[i] = q[composites->composite[i].q];
  tbi_sincos(composites->count, composites->angle, composites->sine, composites->cosine);
  const m3 *rot = &floating->rot;
  composites->rot[0] =
      (m4){v4_from(m3_column(rot, 0)), v4_from(m3_column(rot, 1)), v4_from(m3_column(rot, 2))};
  composites->origin = floating->pos;
  v4 moment = m4_mulv3(&composites->rot[0], composites->composite[0].moment);
  for (int32_t i = 1; i < composites->count; ++i) {
    const tbi_composite *composite = &composites->composite[i];
    const m4 *before = &composites->rot[composite->parent];
    m4 axes = m4_mul3(before, &composite->place.rot);
    v4 pos = v4_add(composites->pos[composite->parent], m4_mulv3(before, composite->place.pos));
    if (composite->slides) {
      pos = v4_axpy(pos, composites->angle[i], axes.z);
    } else {
      axes = m4_turn_z(&axes, composites->sine[i], composites->cosine[i]);
    }
    composites->rot[i] = axes;
    composites->pos[i] = pos;
    moment = v4_add(moment, v4_axpy(m4_mulv3(&axes, composite->moment), composite->mass, pos));
  }
  return v3_axpy(composites->origin, 1 / composites->mass, v4_to(moment));
}

v3 tbi_composites_com(tbi_composites *composites, const double *q) {
  tbi_frame moved = tbi_frame_load(q + composites->q, q + composites->q + 3);
  tbi_frame floating = tbi_frame_mul(&composites->zero_floating, &moved);
  return tbi_composites_com_at(composites, &floating, q);
}

v3 tbi_composites_point(const tbi_composites *composites, const tbi_composite_point *point) {
  TBI_ASSERT(point->composite >= 0 && point->composite < composites->count);
  v4 at = m4_mulv3(&composites->rot[point->composite], point->at);
  return v3_add(composites->origin, v4_to(v4_add(composites->pos[point->composite], at)));
}

/* Motion of a composite body by that of its parent and of its joint. */
static tbi_composite_motion motion_of(const tbi_composites *composites, int32_t index, double rate,
                                      double accel) {
  const tbi_composite *composite = &composites->composite[index];
  const tbi_composite_motion *before = &composites->motion[composite->parent];
  v4 axis = composites->rot[index].z;
  v4 offset = v4_sub(composites->pos[index], composites->pos[composite->parent]);
  v4 coriolis = v4_cross(before->omega, v4_scale(rate, axis));
  v4 centripetal = v4_cross(before->omega, v4_cross(before->omega, offset));
  tbi_composite_motion now = *before;
  now.acceleration = v4_add(now.acceleration, v4_add(v4_cross(before->alpha, offset), centripetal));
  if (composite->slides) {
    now.acceleration = v4_axpy(v4_axpy(now.acceleration, accel, axis), 2, coriolis);
  } else {
    now.omega = v4_axpy(now.omega, rate, axis);
    now.alpha = v4_add(v4_axpy(now.alpha, accel, axis), coriolis);
  }
  return now;
}

/* A vector of the world in the axes of a composite body. */
static v3 in_axes(const m4 *axes, v4 a) {
  return (v3){v4_dot(axes->x, a), v4_dot(axes->y, a), v4_dot(axes->z, a)};
}

/* Newton-Euler of one composite body about its joint: the force it requires, and its moment about
 * the floating body. */
static sv wrench_of(const tbi_composites *composites, int32_t index, v4 gravity) {
  const tbi_composite *composite = &composites->composite[index];
  const tbi_composite_motion *now = &composites->motion[index];
  const m4 *axes = &composites->rot[index];
  v4 h = m4_mulv3(axes, composite->moment);
  v4 felt = v4_sub(now->acceleration, gravity);
  v4 f = v4_scale(composite->mass, felt);
  f = v4_add(f, v4_cross(now->alpha, h));
  f = v4_add(f, v4_cross(now->omega, v4_cross(now->omega, h)));
  /* the inertia is constant in the axes of the composite body */
  v3 own = in_axes(axes, now->omega);
  v3 gyroscopic = v3_cross(own, s3_mulv(composite->inertia, own));
  v3 euler = s3_mulv(composite->inertia, in_axes(axes, now->alpha));
  v4 n = v4_add(m4_mulv3(axes, v3_add(euler, gyroscopic)), v4_cross(h, felt));
  return (sv){f, v4_add(n, v4_cross(composites->pos[index], f))};
}

void tbi_composites_wrench(const tbi_composites *composites, const double *v, const double *a,
                           v3 gravity, v3 *force, v3 *moment) {
  const m3 *rot = &composites->zero_floating.rot;
  composites->motion[0] =
      (tbi_composite_motion){v4_from(m3_mulv(rot, v3_load(v + composites->v + 3))),
                             v4_from(m3_mulv(rot, v3_load(a + composites->v + 3))),
                             v4_from(m3_mulv(rot, v3_load(a + composites->v)))};
  sv wrench = wrench_of(composites, 0, v4_from(gravity));
  for (int32_t i = 1; i < composites->count; ++i) {
    int32_t k = composites->composite[i].v;
    composites->motion[i] = motion_of(composites, i, v[k], a[k]);
    wrench = sv_add(wrench, wrench_of(composites, i, v4_from(gravity)));
  }
  *force = v4_to(wrench.lin);
  *moment = v4_to(wrench.ang);
}

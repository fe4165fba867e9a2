/* lumps.c - see lumps.h. */
#include "control/lumps.h"

#include "base/error.h"
#include "math/trig.h"

#include <stdlib.h>
#include <string.h>

static bool moves_own(const tbi_body *body, const bool *moves) {
  return body->nv == 1 && moves[body->q];
}

static int32_t count_lumps(const tabi_model *model, int32_t floating, const bool *moves) {
  int32_t count = 1;
  for (int32_t i = 0; i < model->nbody; i++)
    count += model->body[i].tree == model->body[floating].tree && moves_own(&model->body[i], moves);
  return count;
}

/* The lump of a body: that of the nearest joint above it which moves. */
static int32_t lump_of(const tbi_lumps *lumps, const tabi_model *model, int32_t body) {
  for (; body != TABI_WORLD; body = model->body[body].parent) {
    for (int32_t i = lumps->count - 1; i > 0; i--) {
      if (model->body[body].nv == 1 && model->body[body].q == lumps->lump[i].q) return i;
    }
  }
  return 0;
}

/* A vector of the world in the axes of the floating body. */
static v3 own_axes(const tbi_lumps *lumps, v4 vector) {
  return m3_tmulv(&lumps->floats.rot, v4_to(vector));
}

/* Where the joint of a lump is, from the floating body, all others that move being at zero. */
static v3 joint_of(const tbi_lumps *lumps, int32_t lump) {
  v3 at = v3_zero();
  for (; lump > 0; lump = lumps->lump[lump].parent)
    at = v3_add(at, lumps->lump[lump].way);
  return at;
}

static void add_lump(tbi_lumps *lumps, const tabi_dynamics *d, int32_t body) {
  const tbi_body *own = &d->model->body[body];
  int32_t parent = lump_of(lumps, d->model, own->parent);
  v3 at = own_axes(lumps, d->body[body].pos);
  lumps->lump[lumps->count++] = (tbi_lump){.parent = parent,
                                           .q = own->q,
                                           .v = own->v,
                                           .slides = own->type == TABI_JOINT_PRISMATIC,
                                           .way = v3_sub(at, joint_of(lumps, parent)),
                                           .axis = own_axes(lumps, d->body[body].rot.z)};
}

static void add_mass(tbi_lumps *lumps, const tabi_dynamics *d, int32_t body) {
  const tbi_body *own = &d->model->body[body];
  const tbi_body_state *state = &d->body[body];
  int32_t index = lump_of(lumps, d->model, body);
  tbi_lump *lump = &lumps->lump[index];
  m3 back = m3_transpose(&lumps->floats.rot);
  m3 axes = m4_to(&state->rot);
  m3 rot = m3_mul(&back, &axes);
  v3 centre = v3_add(own_axes(lumps, state->pos), m3_mulv(&rot, own->com));
  v3 arm = v3_sub(centre, joint_of(lumps, index));
  lump->mass += own->mass;
  lump->moment = v3_axpy(lump->moment, own->mass, arm);
  lump->inertia = s3_add(lump->inertia, s3_rotate(&rot, own->inertia));
  lump->inertia = s3_add(lump->inertia, s3_point_mass(own->mass, arm));
  lumps->mass += own->mass;
}

/* The posture from which lumps are taken. */
static tabi_status set_posture(tabi_dynamics *d, int32_t floating, const double *q,
                               const bool *moves, tabi_error *err) {
  const tabi_model *model = d->model;
  double *posture = calloc((size_t)model->nq + (size_t)model->nv + 1, sizeof *posture);
  if (!posture) return tbi_error_memory(err);
  memcpy(posture, q, sizeof *q * (size_t)model->nq);
  for (int32_t i = 0; i < model->nbody; i++) {
    if (moves_own(&model->body[i], moves)) posture[model->body[i].q] = 0;
  }
  double *base = posture + model->body[floating].q;
  v3_store(v3_zero(), base);
  q_store(q_identity(), base + 3);
  tabi_dynamics_set_state(d, posture, posture + model->nq);
  free(posture);
  return TABI_OK;
}

static bool allocate(tbi_lumps *lumps, int32_t count) {
  size_t rows = (size_t)count;
  lumps->lump = calloc(rows, sizeof *lumps->lump);
  lumps->rot = aligned_alloc(64, (rows * sizeof *lumps->rot + 63) / 64 * 64);
  lumps->pos = aligned_alloc(64, (rows * sizeof *lumps->pos + 63) / 64 * 64);
  lumps->angle = calloc(3 * rows, sizeof *lumps->angle);
  lumps->motion = calloc(rows, sizeof *lumps->motion);
  if (!lumps->lump || !lumps->rot || !lumps->pos || !lumps->angle || !lumps->motion) return false;
  lumps->sine = lumps->angle + rows;
  lumps->cosine = lumps->sine + rows;
  return true;
}

tabi_status tbi_lumps_make(tbi_lumps *lumps, tabi_dynamics *d, int32_t floating, const double *q,
                           const bool *moves, tabi_error *err) {
  const tabi_model *model = d->model;
  *lumps = (tbi_lumps){.q = model->body[floating].q, .v = model->body[floating].v};
  if (!allocate(lumps, count_lumps(model, floating, moves))) return tbi_error_memory(err);
  tabi_status status = set_posture(d, floating, q, moves, err);
  if (status != TABI_OK) return status;
  lumps->floats = (tbi_frame){m4_to(&d->body[floating].rot), tbi_tree_origin(d, floating)};
  lumps->lump[lumps->count++] = (tbi_lump){.parent = -1};
  int32_t tree = model->body[floating].tree;
  for (int32_t i = 0; i < model->nbody; i++) {
    if (model->body[i].tree == tree && moves_own(&model->body[i], moves)) add_lump(lumps, d, i);
  }
  for (int32_t i = 0; i < model->nbody; i++) {
    if (model->body[i].tree == tree) add_mass(lumps, d, i);
  }
  lumps->rot[0] = (m4){v4_make(1, 0, 0), v4_make(0, 1, 0), v4_make(0, 0, 1)};
  lumps->pos[0] = v4_zero();
  return TABI_OK;
}

void tbi_lumps_free(tbi_lumps *lumps) {
  free(lumps->lump);
  free(lumps->rot);
  free(lumps->pos);
  free(lumps->angle);
  free(lumps->motion);
  *lumps = (tbi_lumps){.count = 0};
}

tbi_lump_point tbi_lumps_attach(const tbi_lumps *lumps, const tabi_dynamics *d, int32_t body,
                                v3 point) {
  int32_t lump = lump_of(lumps, d->model, body);
  v3 at = own_axes(lumps, v4_from(v3_sub(point, lumps->floats.pos)));
  return (tbi_lump_point){lump, v3_sub(at, joint_of(lumps, lump))};
}

/* The floating body's axes in the world. */
static void place_floating(tbi_lumps *lumps, const double *q) {
  m3 turn = q_matrix(q_load(q + 3));
  m3 rot = m3_mul(&lumps->floats.rot, &turn);
  lumps->rot[0] =
      (m4){v4_from(m3_column(&rot, 0)), v4_from(m3_column(&rot, 1)), v4_from(m3_column(&rot, 2))};
  lumps->origin = v3_add(lumps->floats.pos, m3_mulv(&lumps->floats.rot, v3_load(q)));
}

v3 tbi_lumps_centre(tbi_lumps *lumps, const double *q) {
  for (int32_t i = 1; i < lumps->count; i++)
    lumps->angle[i] = q[lumps->lump[i].q];
  tbi_sincos(lumps->count, lumps->angle, lumps->sine, lumps->cosine);
  place_floating(lumps, q + lumps->q);
  v4 moment = m4_mulv3(&lumps->rot[0], lumps->lump[0].moment);
  for (int32_t i = 1; i < lumps->count; i++) {
    const tbi_lump *lump = &lumps->lump[i];
    const m4 *before = &lumps->rot[lump->parent];
    v3 way = lump->way;
    if (lump->slides) {
      way = v3_axpy(way, lumps->angle[i], lump->axis);
      lumps->rot[i] = *before;
    } else {
      m3 turn = m3_about(lump->axis, lumps->sine[i], lumps->cosine[i]);
      lumps->rot[i] = m4_mul3(before, &turn);
    }
    lumps->pos[i] = v4_add(lumps->pos[lump->parent], m4_mulv3(before, way));
    v4 own = m4_mulv3(&lumps->rot[i], lump->moment);
    moment = v4_add(moment, v4_axpy(own, lump->mass, lumps->pos[i]));
  }
  return v3_axpy(lumps->origin, 1 / lumps->mass, v4_to(moment));
}

v3 tbi_lumps_point(const tbi_lumps *lumps, const tbi_lump_point *point) {
  v4 at = m4_mulv3(&lumps->rot[point->lump], point->at);
  return v3_add(lumps->origin, v4_to(v4_add(lumps->pos[point->lump], at)));
}

/* How a lump moves with the one before it and against it. */
static tbi_lump_motion move(const tbi_lumps *lumps, int32_t index, double rate, double rising) {
  const tbi_lump *lump = &lumps->lump[index];
  const tbi_lump_motion *before = &lumps->motion[lump->parent];
  v3 axis = v4_to(m4_mulv3(&lumps->rot[lump->parent], lump->axis));
  v3 way = v4_to(v4_sub(lumps->pos[index], lumps->pos[lump->parent]));
  v3 carried = v3_cross(before->turn, v3_scale(rate, axis));
  v3 swing = v3_cross(before->turn, v3_cross(before->turn, way));
  tbi_lump_motion now = *before;
  now.acceleration = v3_add(now.acceleration, v3_add(v3_cross(before->turning, way), swing));
  if (lump->slides) {
    now.acceleration = v3_axpy(v3_axpy(now.acceleration, rising, axis), 2, carried);
  } else {
    now.turn = v3_axpy(now.turn, rate, axis);
    now.turning = v3_add(v3_axpy(now.turning, rising, axis), carried);
  }
  return now;
}

/* What one lump needs, by Newton and Euler about its joint. */
static void push_lump(const tbi_lumps *lumps, int32_t index, v3 gravity, v3 *force, v3 *moment) {
  const tbi_lump *lump = &lumps->lump[index];
  const tbi_lump_motion *now = &lumps->motion[index];
  m3 rot = m4_to(&lumps->rot[index]);
  v3 h = m3_mulv(&rot, lump->moment);
  v3 felt = v3_sub(now->acceleration, gravity);
  v3 f = v3_scale(lump->mass, felt);
  f = v3_add(f, v3_cross(now->turning, h));
  f = v3_add(f, v3_cross(now->turn, v3_cross(now->turn, h)));
  /* the inertia turns with the lump: what turns is taken into its axes and back */
  v3 own = m3_tmulv(&rot, now->turn);
  v3 spin = v3_cross(own, s3_mulv(lump->inertia, own));
  v3 n = m3_mulv(&rot, v3_add(s3_mulv(lump->inertia, m3_tmulv(&rot, now->turning)), spin));
  n = v3_add(n, v3_cross(h, felt));
  *force = v3_add(*force, f);
  *moment = v3_add(*moment, v3_add(n, v3_cross(v4_to(lumps->pos[index]), f)));
}

void tbi_lumps_push(const tbi_lumps *lumps, const double *v, const double *a, v3 gravity, v3 *force,
                    v3 *moment) {
  const m3 *rot = &lumps->floats.rot;
  lumps->motion[0] = (tbi_lump_motion){m3_mulv(rot, v3_load(v + lumps->v + 3)),
                                       m3_mulv(rot, v3_load(a + lumps->v + 3)),
                                       m3_mulv(rot, v3_load(a + lumps->v))};
  *force = *moment = v3_zero();
  for (int32_t i = 0; i < lumps->count; i++) {
    int32_t k = lumps->lump[i].v;
    if (i > 0) lumps->motion[i] = move(lumps, i, v[k], a[k]);
    push_lump(lumps, i, gravity, force, moment);
  }
}

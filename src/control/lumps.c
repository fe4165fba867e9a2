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
  for (int32_t i = 0; i < model->nbody; ++i)
    count += model->body[i].tree == model->body[floating].tree && moves_own(&model->body[i], moves);
  return count;
}

/* The lump of a body: that of the nearest joint above it which moves. */
static int32_t lump_of(const tbi_lumps *lumps, const tabi_model *model, int32_t body) {
  for (; body != TABI_WORLD; body = model->body[body].parent) {
    for (int32_t i = lumps->count - 1; i > 0; --i) {
      if (model->body[body].nv == 1 && model->body[body].q == lumps->lump[i].q) return i;
    }
  }
  return 0;
}

/* A frame of the world in that of another. */
static tbi_frame seen_from(const tbi_frame *from, const tbi_frame *frame) {
  m3 back = m3_transpose(&from->rot);
  return (tbi_frame){m3_mul(&back, &frame->rot), m3_mulv(&back, v3_sub(frame->pos, from->pos))};
}

static tbi_frame frame_of_body(const tabi_dynamics *d, int32_t body) {
  const tbi_body_state *state = &d->body[body];
  return (tbi_frame){m4_to(&state->rot), v3_add(tbi_tree_origin(d, body), v4_to(state->pos))};
}

/* Where a lump is in the world while all joints that move are at zero. */
static tbi_frame home_of(const tbi_lumps *lumps, int32_t lump) {
  tbi_frame frame = tbi_frame_identity();
  for (; lump > 0; lump = lumps->lump[lump].parent)
    frame = tbi_frame_mul(&lumps->lump[lump].place, &frame);
  return tbi_frame_mul(&lumps->floats, &frame);
}

static void add_lump(tbi_lumps *lumps, const tabi_dynamics *d, int32_t body) {
  const tbi_body *own = &d->model->body[body];
  int32_t parent = lump_of(lumps, d->model, own->parent);
  tbi_frame above = home_of(lumps, parent);
  tbi_frame frame = frame_of_body(d, body);
  lumps->lump[lumps->count++] = (tbi_lump){.parent = parent,
                                           .q = own->q,
                                           .v = own->v,
                                           .slides = own->type == TABI_JOINT_PRISMATIC,
                                           .place = seen_from(&above, &frame)};
}

static void add_mass(tbi_lumps *lumps, const tabi_dynamics *d, int32_t body) {
  const tbi_body *own = &d->model->body[body];
  int32_t index = lump_of(lumps, d->model, body);
  tbi_lump *lump = &lumps->lump[index];
  tbi_frame home = home_of(lumps, index);
  tbi_frame frame = frame_of_body(d, body);
  frame = seen_from(&home, &frame);
  v3 centre = v3_add(frame.pos, m3_mulv(&frame.rot, own->com));
  lump->mass += own->mass;
  lump->moment = v3_axpy(lump->moment, own->mass, centre);
  lump->inertia = s3_add(lump->inertia, s3_rotate(&frame.rot, own->inertia));
  lump->inertia = s3_add(lump->inertia, s3_point_mass(own->mass, centre));
  lumps->mass += own->mass;
}

/* The posture from which lumps are taken. */
static tabi_status set_posture(tabi_dynamics *d, int32_t floating, const double *q,
                               const bool *moves, tabi_error *err) {
  const tabi_model *model = d->model;
  double *posture = calloc((size_t)model->nq + (size_t)model->nv + 1, sizeof *posture);
  if (!posture) return tbi_error_memory(err);
  memcpy(posture, q, sizeof *q * (size_t)model->nq);
  for (int32_t i = 0; i < model->nbody; ++i) {
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
  lumps->motion = aligned_alloc(64, (rows * sizeof *lumps->motion + 63) / 64 * 64);
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
  lumps->floats = frame_of_body(d, floating);
  lumps->lump[lumps->count++] = (tbi_lump){.parent = -1};
  int32_t tree = model->body[floating].tree;
  for (int32_t i = 0; i < model->nbody; ++i) {
    if (model->body[i].tree == tree && moves_own(&model->body[i], moves)) add_lump(lumps, d, i);
  }
  for (int32_t i = 0; i < model->nbody; ++i) {
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
  tbi_frame home = home_of(lumps, lump);
  return (tbi_lump_point){lump, m3_tmulv(&home.rot, v3_sub(point, home.pos))};
}

v3 tbi_lumps_centre_at(tbi_lumps *lumps, const tbi_frame *floating, const double *q) {
  for (int32_t i = 1; i < lumps->count; ++i)
    lumps->angle[i] = q[lumps->lump[i].q];
  tbi_sincos(lumps->count, lumps->angle, lumps->sine, lumps->cosine);
  const m3 *rot = &floating->rot;
  lumps->rot[0] =
      (m4){v4_from(m3_column(rot, 0)), v4_from(m3_column(rot, 1)), v4_from(m3_column(rot, 2))};
  lumps->origin = floating->pos;
  v4 moment = m4_mulv3(&lumps->rot[0], lumps->lump[0].moment);
  for (int32_t i = 1; i < lumps->count; ++i) {
    const tbi_lump *lump = &lumps->lump[i];
    const m4 *before = &lumps->rot[lump->parent];
    m4 axes = m4_mul3(before, &lump->place.rot);
    v4 pos = v4_add(lumps->pos[lump->parent], m4_mulv3(before, lump->place.pos));
    if (lump->slides) {
      pos = v4_axpy(pos, lumps->angle[i], axes.z);
    } else {
      axes = m4_turn_z(&axes, lumps->sine[i], lumps->cosine[i]);
    }
    lumps->rot[i] = axes;
    lumps->pos[i] = pos;
    moment = v4_add(moment, v4_axpy(m4_mulv3(&axes, lump->moment), lump->mass, pos));
  }
  return v3_axpy(lumps->origin, 1 / lumps->mass, v4_to(moment));
}

v3 tbi_lumps_centre(tbi_lumps *lumps, const double *q) {
  tbi_frame moved = tbi_frame_load(q + lumps->q, q + lumps->q + 3);
  tbi_frame floating = tbi_frame_mul(&lumps->floats, &moved);
  return tbi_lumps_centre_at(lumps, &floating, q);
}

v3 tbi_lumps_point(const tbi_lumps *lumps, const tbi_lump_point *point) {
  v4 at = m4_mulv3(&lumps->rot[point->lump], point->at);
  return v3_add(lumps->origin, v4_to(v4_add(lumps->pos[point->lump], at)));
}

/* How a lump moves with the one before it and against it. */
static tbi_lump_motion move(const tbi_lumps *lumps, int32_t index, double rate, double rising) {
  const tbi_lump *lump = &lumps->lump[index];
  const tbi_lump_motion *before = &lumps->motion[lump->parent];
  v4 axis = lumps->rot[index].z;
  v4 way = v4_sub(lumps->pos[index], lumps->pos[lump->parent]);
  v4 carried = v4_cross(before->turn, v4_scale(rate, axis));
  v4 swing = v4_cross(before->turn, v4_cross(before->turn, way));
  tbi_lump_motion now = *before;
  now.acceleration = v4_add(now.acceleration, v4_add(v4_cross(before->turning, way), swing));
  if (lump->slides) {
    now.acceleration = v4_axpy(v4_axpy(now.acceleration, rising, axis), 2, carried);
  } else {
    now.turn = v4_axpy(now.turn, rate, axis);
    now.turning = v4_add(v4_axpy(now.turning, rising, axis), carried);
  }
  return now;
}

/* A vector of the world in the axes of a lump. */
static v3 into(const m4 *axes, v4 a) {
  return (v3){v4_dot(axes->x, a), v4_dot(axes->y, a), v4_dot(axes->z, a)};
}

/* What one lump needs, by Newton and Euler about its joint: force, and moment about the floating
 * body. */
static sv push_of(const tbi_lumps *lumps, int32_t index, v4 gravity) {
  const tbi_lump *lump = &lumps->lump[index];
  const tbi_lump_motion *now = &lumps->motion[index];
  const m4 *axes = &lumps->rot[index];
  v4 h = m4_mulv3(axes, lump->moment);
  v4 felt = v4_sub(now->acceleration, gravity);
  v4 f = v4_scale(lump->mass, felt);
  f = v4_add(f, v4_cross(now->turning, h));
  f = v4_add(f, v4_cross(now->turn, v4_cross(now->turn, h)));
  /* the inertia turns with the lump: what turns is taken into its axes and back */
  v3 own = into(axes, now->turn);
  v3 spin = v3_cross(own, s3_mulv(lump->inertia, own));
  v3 gain = s3_mulv(lump->inertia, into(axes, now->turning));
  v4 n = v4_add(m4_mulv3(axes, v3_add(gain, spin)), v4_cross(h, felt));
  return (sv){f, v4_add(n, v4_cross(lumps->pos[index], f))};
}

void tbi_lumps_push(const tbi_lumps *lumps, const double *v, const double *a, v3 gravity, v3 *force,
                    v3 *moment) {
  const m3 *rot = &lumps->floats.rot;
  lumps->motion[0] = (tbi_lump_motion){v4_from(m3_mulv(rot, v3_load(v + lumps->v + 3))),
                                       v4_from(m3_mulv(rot, v3_load(a + lumps->v + 3))),
                                       v4_from(m3_mulv(rot, v3_load(a + lumps->v)))};
  sv push = push_of(lumps, 0, v4_from(gravity));
  for (int32_t i = 1; i < lumps->count; ++i) {
    int32_t k = lumps->lump[i].v;
    lumps->motion[i] = move(lumps, i, v[k], a[k]);
    push = sv_add(push, push_of(lumps, i, v4_from(gravity)));
  }
  *force = v4_to(push.lin);
  *moment = v4_to(push.ang);
}

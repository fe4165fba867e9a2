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
                                           .slides = own->type == TABI_JOINT_PRISMATIC,
                                           .way = v3_sub(at, joint_of(lumps, parent)),
                                           .axis = own_axes(lumps, d->body[body].rot.z)};
}

static void add_mass(tbi_lumps *lumps, const tabi_dynamics *d, int32_t body) {
  int32_t index = lump_of(lumps, d->model, body);
  tbi_lump *lump = &lumps->lump[index];
  double mass = d->model->body[body].mass;
  v3 moment = own_axes(lumps, d->body[body].inertia.h);
  lump->mass += mass;
  lump->moment = v3_add(lump->moment, v3_axpy(moment, -mass, joint_of(lumps, index)));
  lumps->mass += mass;
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
  if (!lumps->lump || !lumps->rot || !lumps->pos || !lumps->angle) return false;
  lumps->sine = lumps->angle + rows;
  lumps->cosine = lumps->sine + rows;
  return true;
}

tabi_status tbi_lumps_make(tbi_lumps *lumps, tabi_dynamics *d, int32_t floating, const double *q,
                           const bool *moves, tabi_error *err) {
  const tabi_model *model = d->model;
  *lumps = (tbi_lumps){.q = model->body[floating].q};
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

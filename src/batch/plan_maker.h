/* plan_maker.h - what the parts share that make the slots of a plan. */
#ifndef TBI_PLAN_MAKER_H
#define TBI_PLAN_MAKER_H

#include "base/array.h"
#include "batch/plan.h"
#include "collision/workspace.h"

typedef struct tbi_plan_maker {
  tbi_plan *plan;
  tbi_collision *c;
  void *memory; /* of c */
  tabi_material_def *surface;
  int32_t pairs, points, planes, segments, couples, slots, paths, stands, patches; /* capacities */
  int32_t *segment_of; /* of items: [nitem] */
  bool rolls;          /* some surface has rolling or torsional friction */
} tbi_plan_maker;

#define TBI_PLAN_RESERVE(m, name, capacity, count, more)                                 \
  tbi_array_reserve((void **)&(m)->plan->name, &(m)->capacity, (m)->plan->count, (more), \
                    sizeof *(m)->plan->name)

/* Lanes do not have something; returns false. */
bool tbi_plan_refuse(tbi_plan *p, const char *why, const char *name);
/* Slots of a body's shape against a standing one.  False: a reason was found, or memory ran out. */
bool tbi_plan_add_world_slots(tbi_plan_maker *m, int32_t place, int32_t shape_a, int32_t shape_b,
                              int32_t count);
/* A bundle of the points of a body. */
tbi_plan_bundle tbi_plan_add_bundle(tbi_plan *p, int32_t place);

static inline const tabi_shape_def *tbi_plan_shape(const tbi_plan_maker *m, int32_t item) {
  return &m->plan->model->shape[m->c->fitting[item].shape];
}

/* An item in the frame of its body, or of the world. */
static inline tbi_solid tbi_plan_solid(const tbi_plan_maker *m, int32_t item) {
  const tbi_frame *frame = &m->c->fitting[item].frame;
  tbi_solid solid = m->c->solid[item];
  for (int i = 0; i < 3; ++i)
    solid.axis[i] = m3_column(&frame->rot, i);
  solid.pos = frame->pos;
  return solid;
}

#endif

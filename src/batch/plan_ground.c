/* plan_ground.c - which shapes stand in the world, and which moving ones may meet them. */
#include "batch/plan_ground.h"

#include "collision/support.h"
#include "contact/surface.h"
#include "model/model.h"

#include <stdlib.h>
#include <string.h>

#define ROUNDING 1e-6 /* m, added to distances that leave contacts out */

typedef tbi_plan_maker maker;

static bool is_standing(const maker *m, int32_t item) {
  return m->c->fitting[item].body == TABI_WORLD &&
         tbi_plan_shape(m, item)->type != TABI_SHAPE_PLANE;
}

/* the box around a standing shape; a height field has no end below */
static tbi_plan_stand box_of(const maker *m, int32_t item) {
  const tbi_cover *cover = &m->c->cover[item];
  double middle[3];
  double half[3];
  tbi_plan_stand stand;
  v3_store(v4_to(cover->middle), middle);
  v3_store(v4_to(cover->half), half);
  v3 up = m->c->solid[item].axis[2];
  const double axis[3] = {up.x, up.y, up.z};
  bool endless = tbi_plan_shape(m, item)->type == TABI_SHAPE_HEIGHTFIELD;
  for (int i = 0; i < 3; ++i) {
    stand.low[i] = middle[i] - half[i] - cover->radius;
    stand.high[i] = middle[i] + half[i] + cover->radius;
    if (endless && axis[i] > 1e-12) stand.low[i] = -HUGE_VAL;
    if (endless && axis[i] < -1e-12) stand.high[i] = HUGE_VAL;
  }
  return stand;
}

static bool list_stands(maker *m) {
  tbi_plan *p = m->plan;
  struct tbi_plan_ground *g = p->ground;
  for (int32_t item = 0; item < m->c->nitem; ++item) {
    if (!is_standing(m, item)) continue;
    if (!TBI_PLAN_RESERVE(m, stand, stands, nstand, 1)) return false;
    g->stand[p->nstand] = item;
    p->stand[p->nstand++] = box_of(m, item);
  }
  return true;
}

/* the farthest point of a shape, as far as the corners of the box around it */
static double reach_of(const tbi_solid *s, v3 centre) {
  double reach2 = 0;
  for (int i = 0; i < 3; ++i) {
    v3 out = v3_sub(tbi_support(s, s->axis[i]), centre);
    v3 back = v3_sub(tbi_support(s, v3_neg(s->axis[i])), centre);
    double far = fmax(fabs(v3_dot(out, s->axis[i])), fabs(v3_dot(back, s->axis[i])));
    reach2 += far * far;
  }
  return sqrt(reach2) + tbi_support_radius(s);
}

static bool is_ball_or_rod(const tbi_solid *s) {
  return s->type == TABI_SHAPE_SPHERE || s->type == TABI_SHAPE_CAPSULE ||
         s->type == TABI_SHAPE_ELLIPSOID;
}

/* false: a reason was found, or memory ran out */
static bool add_patch(maker *m, int32_t place, int32_t item, int32_t stand_shape) {
  tbi_plan *p = m->plan;
  struct tbi_plan_ground *g = p->ground;
  if (!TBI_PLAN_RESERVE(m, patch, patches, npatch, 1)) return false;
  if (!tbi_array_reserve((void **)&g->moving, &g->room, p->npatch, 1, sizeof *g->moving))
    return false;
  int32_t shape = m->c->fitting[item].shape;
  tbi_solid s = tbi_plan_solid(m, item);
  v3 centre = tbi_support_centre(&s);
  double reach = reach_of(&s, centre) + ROUNDING;
  g->moving[p->npatch] = (tbi_plan_moving){item, s};
  tbi_plan_patch *patch = &p->patch[p->npatch++];
  *patch = (tbi_plan_patch){.body = place,
                            .shape = shape,
                            .slot = p->nslot,
                            .bundle = {.index = TABI_NONE},
                            .reach = reach,
                            .margin_radius = v3_norm(centre) + reach};
  v3_store(centre, patch->centre);
  if (!is_ball_or_rod(&s)) patch->bundle = tbi_plan_add_bundle(p, place);
  p->body[place].keeps_pose = true;
  return tbi_plan_add_world_slots(m, place, stand_shape, shape, TBI_PATCH_SLOTS);
}

static const tabi_material_def *surface_of(const maker *m, int32_t stand, int32_t item) {
  return tbi_surface_of(m->plan->model, m->surface,
                        m->c->fitting[m->plan->ground->stand[stand]].shape,
                        m->c->fitting[item].shape);
}

static bool same_surface(const tabi_material_def *a, const tabi_material_def *b) {
  return a == b || (a->friction == b->friction && a->kinetic == b->kinetic &&
                    a->slip_speed == b->slip_speed && a->viscous == b->viscous &&
                    a->torsional_friction == b->torsional_friction &&
                    a->rolling_friction == b->rolling_friction && a->restitution == b->restitution);
}

/* the patch from `first` on with the surface of a standing shape, or TABI_NONE */
static int32_t find_patch(const maker *m, int32_t first, int32_t item, int32_t stand) {
  const tbi_plan *p = m->plan;
  for (int32_t i = first; i < p->npatch; ++i) {
    int32_t other = 0;
    while (!p->meets[(ptrdiff_t)i * p->nstand + other])
      ++other;
    if (same_surface(surface_of(m, other, item), surface_of(m, stand, item))) return i;
  }
  return TABI_NONE;
}

static bool reserve_meets(maker *m) {
  tbi_plan *p = m->plan;
  size_t rows = (size_t)p->npatch + 1;
  bool *grown = realloc(p->meets, rows * (size_t)p->nstand * sizeof *grown);
  if (!grown) return false;
  p->meets = grown;
  memset(p->meets + (rows - 1) * (size_t)p->nstand, 0, (size_t)p->nstand * sizeof *grown);
  return true;
}

static bool add_patches(maker *m, int32_t place, int32_t item) {
  tbi_plan *p = m->plan;
  int32_t first = p->npatch;
  for (int32_t stand = 0; stand < p->nstand; ++stand) {
    int32_t other = p->ground->stand[stand];
    if (!tbi_filter_allows(m->c, other, item)) continue;
    int32_t patch = find_patch(m, first, item, stand);
    if (patch == TABI_NONE) {
      patch = p->npatch;
      if (!reserve_meets(m) || !add_patch(m, place, item, m->c->fitting[other].shape)) return false;
    }
    p->meets[(ptrdiff_t)patch * p->nstand + stand] = true;
  }
  return true;
}

bool tbi_plan_ground_make(tbi_plan_maker *m) {
  tbi_plan *p = m->plan;
  bool stands = false;
  p->patch_slot = p->nslot;
  for (int32_t item = 0; item < m->c->nitem; ++item)
    stands = stands || is_standing(m, item);
  if (!stands) return true;
  p->ground = calloc(1, sizeof *p->ground);
  if (!p->ground) return false;
  p->ground->memory = m->memory;
  p->ground->c = m->c;
  m->memory = NULL;
  p->ground->stand = calloc((size_t)m->c->nitem, sizeof *p->ground->stand);
  if (!p->ground->stand || !list_stands(m)) return false;
  for (int32_t place = 0; place < p->nbody; ++place)
    for (int32_t item = 0; item < m->c->nitem; ++item)
      if (m->c->fitting[item].body == p->body[place].body && !add_patches(m, place, item))
        return false;
  return true;
}

void tbi_plan_ground_destroy(struct tbi_plan_ground *ground) {
  if (!ground) return;
  free(ground->memory);
  free(ground->stand);
  free(ground->moving);
  free(ground);
}

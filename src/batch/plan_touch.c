/* plan_touch.c - the slots of a plan.
 *
 *   sphere, capsule, box, hull on a plane   their centres, ends, corners, vertices, with a radius
 *   cylinder, ellipsoid on a plane          their lowest points, as collision/pair_plane.c has them
 *   two shapes of moving bodies             two rounded segments: spheres and capsules as they are,
 *                                           others as a capsule inscribed in them */
#include "batch/plan_touch.h"

#include "base/array.h"
#include "base/error.h"
#include "batch/plan_ground.h"
#include "collision/support.h"
#include "contact/surface.h"
#include "model/model.h"

#include <stdlib.h>
#include <string.h>

#define HULL_POINTS    48    /* vertices of a hull that may touch planes, at most */
#define DIRECTIONS     256   /* in which the extreme vertices of larger hulls are looked for */
#define MEET_BUDGET    20000 /* distances measured to prove that bodies never meet */
#define CYLINDER_SLOTS 18

typedef tbi_plan_maker maker;

bool tbi_plan_refuse(tbi_plan *p, const char *why, const char *name) {
  tbi_message_format(p->reason, sizeof p->reason, "%s%s%s%s", why, name ? " ('" : "",
                     name ? name : "", name ? "')" : "");
  return false;
}

/* directions spread over the sphere: Fibonacci's spiral */
static v3 direction(int i) {
  double z = 1 - (2 * i + 1) / (double)DIRECTIONS;
  double r = sqrt(1 - z * z);
  double turn = 2.399963229728653 * i;
  return v3_make(r * cos(turn), r * sin(turn), z);
}

/* -- slots */

/* false: lanes do not have what the surface asks for */
static bool check_surface(tbi_plan *p, const tabi_material_def *s) {
  return !(s->restitution > 0) || tbi_plan_refuse(p, "surfaces rebound", s->name);
}

static tbi_plan_slot *add_slot(maker *m, int32_t shape_a, int32_t shape_b) {
  tbi_plan *p = m->plan;
  const tabi_material_def *s = tbi_surface_of(p->model, m->surface, shape_a, shape_b);
  if (!check_surface(p, s)) return NULL;
  if (!TBI_PLAN_RESERVE(m, slot, slots, nslot, 1)) return NULL;
  tbi_plan_slot *slot = &p->slot[p->nslot++];
  *slot = (tbi_plan_slot){
      .shape_a = shape_a,
      .shape_b = shape_b,
      .body_a = TABI_WORLD,
      .column = p->ncolumn,
      .surface = {.friction = s->friction,
                  .kinetic = s->kinetic >= 0 ? s->kinetic : s->friction,
                  .slip_speed = s->slip_speed,
                  .viscous = s->viscous,
                  .torsional = s->torsional_friction,
                  .rolling = s->rolling_friction}
  };
  m->rolls = m->rolls || s->torsional_friction > 0 || s->rolling_friction > 0;
  return slot;
}

bool tbi_plan_add_world_slots(tbi_plan_maker *m, int32_t place, int32_t shape_a, int32_t shape_b,
                              int32_t count) {
  tbi_plan *p = m->plan;
  for (int32_t i = 0; i < count; ++i) {
    tbi_plan_slot *slot = add_slot(m, shape_a, shape_b);
    if (!slot) return false;
    slot->body_b = place;
    slot->path = p->body[place].path;
    slot->only_b = p->body[place].length;
    p->ncolumn += slot->only_b;
  }
  return true;
}

tbi_plan_bundle tbi_plan_add_bundle(tbi_plan *p, int32_t place) {
  tbi_plan_bundle bundle = {.index = p->nbundle++, .column = p->nbundle_column};
  p->nbundle_column += p->body[place].length;
  return bundle;
}

/* -- shapes on planes */

static bool add_point(maker *m, v3 at, double radius) {
  tbi_plan *p = m->plan;
  if (!TBI_PLAN_RESERVE(m, point, points, npoint, 1)) return false;
  tbi_plan_point *point = &p->point[p->npoint++];
  v3_store(at, point->pos);
  point->radius = radius;
  return true;
}

static bool add_corners(maker *m, const tbi_solid *s) {
  bool whole = true;
  for (int corner = 0; corner < 8; ++corner) {
    v3 at = s->pos;
    for (int i = 0; i < 3; ++i)
      at = v3_axpy(at, corner & 1 << i ? s->half[i] : -s->half[i], s->axis[i]);
    whole = whole && add_point(m, at, 0);
  }
  return whole;
}

static v3 vertex_of(const tbi_solid *s, int32_t i) {
  v3 local = v3_load(s->mesh->vertices + 3 * (size_t)i);
  return v3_add(s->pos, v3_axpy(v3_axpy(v3_scale(local.x, s->axis[0]), local.y, s->axis[1]),
                                local.z, s->axis[2]));
}

static bool is_listed(const tbi_plan *p, int32_t first, v3 at) {
  for (int32_t i = first; i < p->npoint; ++i) {
    v3 apart = v3_sub(at, v3_load(p->point[i].pos));
    if (v3_dot(apart, apart) == 0) return true;
  }
  return false;
}

/* all vertices, or of many those that are extreme in some direction */
static bool add_vertices(maker *m, const tbi_solid *s) {
  tbi_plan *p = m->plan;
  int32_t first = p->npoint;
  bool whole = true;
  bool few = s->mesh->nvertex <= HULL_POINTS;
  for (int32_t i = 0; few && i < s->mesh->nvertex; ++i)
    whole = whole && add_point(m, vertex_of(s, i), 0);
  for (int i = 0; !few && i < DIRECTIONS && p->npoint - first < HULL_POINTS; ++i) {
    /* every fifth, so that the first ones are spread over all sides */
    v3 at = tbi_support(s, direction(5 * i % DIRECTIONS));
    if (!is_listed(p, first, at)) whole = whole && add_point(m, at, 0);
  }
  return whole;
}

static bool add_touching(maker *m, const tbi_solid *s, tbi_plan_pair *pair) {
  switch (s->type) {
  case TABI_SHAPE_SPHERE:
    return add_point(m, s->pos, s->half[0]);
  case TABI_SHAPE_CAPSULE:
    return add_point(m, v3_axpy(s->pos, -s->half[2], s->axis[2]), s->half[0]) &&
           add_point(m, v3_axpy(s->pos, s->half[2], s->axis[2]), s->half[0]);
  case TABI_SHAPE_BOX:
    return add_corners(m, s);
  case TABI_SHAPE_MESH:
    return add_vertices(m, s);
  default:
    pair->kind = s->type == TABI_SHAPE_CYLINDER ? TBI_TOUCH_CYLINDER : TBI_TOUCH_ELLIPSOID;
    return true;
  }
}

/* the farthest point of a shape from a place, by the points that may touch */
static double reach_of(const maker *m, const tbi_plan_pair *pair, v3 from) {
  const tbi_plan *p = m->plan;
  double reach = 0;
  if (pair->kind == TBI_TOUCH_CYLINDER)
    reach = sqrt(pair->size[0] * pair->size[0] + pair->size[2] * pair->size[2]);
  if (pair->kind == TBI_TOUCH_ELLIPSOID)
    reach = fmax(pair->size[0], fmax(pair->size[1], pair->size[2]));
  if (pair->kind != TBI_TOUCH_POINTS) return reach + v3_norm(v3_sub(v3_load(pair->centre), from));
  for (int32_t i = 0; i < pair->nslot; ++i) {
    const tbi_plan_point *point = &p->point[pair->point + i];
    double far = v3_norm(v3_sub(v3_load(point->pos), from)) + point->radius;
    reach = fmax(reach, far);
  }
  return reach;
}

static bool is_round(tabi_shape_type type) {
  return type == TABI_SHAPE_SPHERE || type == TABI_SHAPE_CAPSULE || type == TABI_SHAPE_ELLIPSOID;
}

/* false: a reason was found, or memory ran out */
static bool add_pair(maker *m, int32_t place, int32_t item, int32_t plane) {
  tbi_plan *p = m->plan;
  int32_t shape = m->c->fitting[item].shape;
  if (!TBI_PLAN_RESERVE(m, pair, pairs, npair, 1)) return false;
  tbi_solid s = tbi_plan_solid(m, item);
  tbi_plan_pair *pair = &p->pair[p->npair++];
  *pair = (tbi_plan_pair){.kind = TBI_TOUCH_POINTS,
                          .plane = plane,
                          .shape = shape,
                          .slot = p->nslot,
                          .point = p->npoint,
                          .round = is_round(s.type)};
  v3_store(s.pos, pair->centre);
  for (int i = 0; i < 3; ++i)
    v3_store(s.axis[i], pair->axes + 3 * (ptrdiff_t)i);
  memcpy(pair->size, s.half, sizeof pair->size);
  if (!add_touching(m, &s, pair)) return false;
  pair->nslot = p->npoint - pair->point;
  if (pair->kind == TBI_TOUCH_CYLINDER) pair->nslot = CYLINDER_SLOTS;
  if (pair->kind == TBI_TOUCH_ELLIPSOID) pair->nslot = 1;
  pair->bundle.index = TABI_NONE;
  if (pair->nslot >= 3) pair->bundle = tbi_plan_add_bundle(p, place);
  pair->reach = reach_of(m, pair, s.pos);
  pair->margin_radius = reach_of(m, pair, v3_zero());
  tbi_plan_body *body = &p->body[place];
  body->radius = fmax(body->radius, pair->margin_radius);
  return tbi_plan_add_world_slots(m, place, p->plane[plane].shape, shape, pair->nslot);
}

static bool add_plane(maker *m, int32_t item) {
  tbi_plan *p = m->plan;
  const tbi_frame *frame = &m->c->fitting[item].frame;
  if (m->c->fitting[item].body != TABI_WORLD) return tbi_plan_refuse(p, "a plane moves", NULL);
  if (!TBI_PLAN_RESERVE(m, plane, planes, nplane, 1)) return false;
  tbi_plan_plane *plane = &p->plane[p->nplane++];
  plane->shape = m->c->fitting[item].shape;
  v3 normal = m3_column(&frame->rot, 2);
  m4 axes = tbi_contact_frame(normal);
  v3_store(v4_to(axes.x), plane->frame);
  v3_store(v4_to(axes.y), plane->frame + 3);
  v3_store(v4_to(axes.z), plane->frame + 6);
  plane->height = v3_dot(normal, frame->pos);
  return true;
}

static int32_t item_of_shape(const maker *m, int32_t shape) {
  for (int32_t i = 0; i < m->c->nitem; ++i)
    if (m->c->fitting[i].shape == shape) return i;
  return TABI_NONE;
}

/* in the order of the plan's bodies, so that a step meets them as it goes */
static bool add_pairs(maker *m) {
  tbi_plan *p = m->plan;
  for (int32_t place = 0; place < p->nbody; ++place) {
    tbi_plan_body *body = &p->body[place];
    body->first_pair = p->npair;
    for (int32_t item = 0; item < m->c->nitem; ++item) {
      if (m->c->fitting[item].body != body->body) continue;
      for (int32_t k = 0; k < p->nplane; ++k) {
        int32_t plane = item_of_shape(m, p->plane[k].shape);
        if (!tbi_filter_allows(m->c, plane, item)) continue;
        if (!add_pair(m, place, item, k)) return false;
      }
    }
    body->npair = p->npair - body->first_pair;
  }
  return true;
}

/* -- shapes of moving bodies */

/* The largest capsule about an axis through the centre that all directions leave inside. */
static double inscribe(const tbi_solid *s, v3 centre, v3 axis, double *radius) {
  double r = HUGE_VAL;
  double half = HUGE_VAL;
  for (int i = 0; i < DIRECTIONS; ++i) {
    v3 d = direction(i);
    double room = v3_dot(d, v3_sub(tbi_support(s, d), centre)) + tbi_support_radius(s);
    if (fabs(v3_dot(axis, d)) < 0.3) r = fmin(r, room);
  }
  r = fmax(r, 0);
  for (int i = 0; i < DIRECTIONS; ++i) {
    v3 d = direction(i);
    double along = fabs(v3_dot(axis, d));
    double room = v3_dot(d, v3_sub(tbi_support(s, d), centre)) + tbi_support_radius(s);
    r = fmin(r, fmax(room, 0));
    if (along > 0.1) half = fmin(half, (room - r) / along);
  }
  *radius = r;
  return fmax(half, 0);
}

static void fill_segment(maker *m, int32_t item, tbi_plan_segment *segment) {
  tbi_solid s = tbi_plan_solid(m, item);
  v3 centre = s.pos;
  v3 axis = s.axis[2];
  double half = s.type == TABI_SHAPE_CAPSULE ? s.half[2] : 0;
  segment->radius = s.half[0];
  if (s.type != TABI_SHAPE_SPHERE && s.type != TABI_SHAPE_CAPSULE) {
    m->plan->rounded = true;
    centre = tbi_support_centre(&s);
    double longest = -1;
    for (int i = 0; i < 3; ++i) {
      double radius;
      double found = inscribe(&s, centre, s.axis[i], &radius);
      if (found + radius <= longest) continue;
      longest = found + radius;
      axis = s.axis[i];
      half = found;
      segment->radius = radius;
    }
  }
  v3_store(v3_axpy(centre, -half, axis), segment->end[0]);
  v3_store(v3_axpy(centre, half, axis), segment->end[1]);
  segment->margin_radius = v3_norm(centre) + half + segment->radius;
}

static int32_t segment_of(maker *m, int32_t item) {
  tbi_plan *p = m->plan;
  if (m->segment_of[item] != TABI_NONE) return m->segment_of[item];
  if (!TBI_PLAN_RESERVE(m, segment, segments, nsegment, 1)) return TABI_NONE;
  tbi_plan_segment *segment = &p->segment[p->nsegment];
  *segment = (tbi_plan_segment){.body = p->place[m->c->fitting[item].body],
                                .shape = m->c->fitting[item].shape};
  fill_segment(m, item, segment);
  p->body[segment->body].keeps_pose = true;
  m->segment_of[item] = p->nsegment;
  return p->nsegment++;
}

static int32_t count_shared(const tbi_plan *p, const tbi_plan_body *a, const tbi_plan_body *b) {
  int32_t n = 0;
  while (n < a->length && n < b->length &&
         p->path[a->path + a->length - 1 - n] == p->path[b->path + b->length - 1 - n])
    ++n;
  return n;
}

/* b's own path, a's own path, and what both share */
static bool add_couple_slot(maker *m, const tbi_plan_segment *a, const tbi_plan_segment *b) {
  tbi_plan *p = m->plan;
  const tbi_plan_body *body_a = &p->body[a->body];
  const tbi_plan_body *body_b = &p->body[b->body];
  int32_t shared = count_shared(p, body_a, body_b);
  int32_t length = body_a->length + body_b->length - shared;
  tbi_plan_slot *slot = add_slot(m, a->shape, b->shape);
  if (!slot || !TBI_PLAN_RESERVE(m, path, paths, npath, length)) return false;
  slot->body_a = a->body;
  slot->body_b = b->body;
  slot->path = p->npath;
  slot->only_b = body_b->length - shared;
  slot->only_a = body_a->length - shared;
  slot->shared = shared;
  for (int32_t i = 0; i < slot->only_b; ++i)
    p->path[p->npath++] = p->path[body_b->path + i];
  for (int32_t i = 0; i < body_a->length; ++i)
    p->path[p->npath++] = p->path[body_a->path + i];
  p->ncolumn += length;
  return true;
}

static double reach_of_segment(const tbi_plan_segment *s) {
  return 0.5 * v3_norm(v3_sub(v3_load(s->end[1]), v3_load(s->end[0]))) + s->radius;
}

static bool add_couple(maker *m, int32_t item_a, int32_t item_b) {
  tbi_plan *p = m->plan;
  int32_t a = segment_of(m, item_a);
  int32_t b = segment_of(m, item_b);
  if (a == TABI_NONE || b == TABI_NONE || !TBI_PLAN_RESERVE(m, couple, couples, ncouple, 1))
    return false;
  p->couple[p->ncouple++] = (tbi_plan_couple){.a = a,
                                              .b = b,
                                              .reach = reach_of_segment(&p->segment[a]) +
                                                       reach_of_segment(&p->segment[b]) + 1e-6,
                                              .slot = p->nslot};
  return add_couple_slot(m, &p->segment[a], &p->segment[b]);
}

static bool add_couples(maker *m) {
  int32_t budget = MEET_BUDGET;
  for (int32_t a = 0; a < m->c->nitem; ++a) {
    int32_t body_a = m->c->fitting[a].body;
    for (int32_t b = a + 1; body_a != TABI_WORLD && b < m->c->nitem; ++b) {
      int32_t body_b = m->c->fitting[b].body;
      if (body_b == TABI_WORLD || !tbi_filter_allows(m->c, a, b)) continue;
      if (tbi_collision_never_meet(m->c, body_a, body_b, &budget)) continue;
      if (!add_couple(m, a, b)) return false;
    }
  }
  return true;
}

/* -- feet */

/* m, the lowest point of a shape along a direction, at the initial state */
static double lowest_along(const tabi_dynamics *d, int32_t shape, const double n[3]) {
  double lower[3];
  double upper[3];
  double height = 0;
  if (!tabi_dynamics_shape_bounds(d, shape, lower, upper)) return HUGE_VAL;
  for (int i = 0; i < 3; ++i)
    height += n[i] * (n[i] > 0 ? lower[i] : upper[i]);
  return height;
}

/* the bundles and how high they begin: pairs above their planes, patches above the lowest of them
 */
static void find_heights(const tbi_plan *p, const tabi_dynamics *d, double *height) {
  const double up[3] = {0, 0, 1};
  double least = HUGE_VAL;
  for (int32_t i = 0; i < p->npair; ++i) {
    const tbi_plan_plane *plane = &p->plane[p->pair[i].plane];
    height[i] = lowest_along(d, p->pair[i].shape, plane->frame) - plane->height;
  }
  for (int32_t i = 0; i < p->npatch; ++i) {
    height[p->npair + i] = lowest_along(d, p->patch[i].shape, up);
    least = fmin(least, height[p->npair + i]);
  }
  for (int32_t i = 0; i < p->npatch; ++i)
    height[p->npair + i] -= least;
}

static void mark_feet(tbi_plan *p, const double *height) {
  for (int n = 0; n < TBI_PLAN_FEET; ++n) {
    tbi_plan_bundle *lowest = NULL;
    double least = HUGE_VAL;
    for (int32_t i = 0; i < p->npair + p->npatch; ++i) {
      tbi_plan_bundle *bundle = i < p->npair ? &p->pair[i].bundle : &p->patch[i - p->npair].bundle;
      if (bundle->index == TABI_NONE || bundle->foot || !(height[i] < least)) continue;
      least = height[i];
      lowest = bundle;
    }
    if (lowest) lowest->foot = true;
  }
}

/* The lowest shapes at the initial state are what a robot mostly stands on.  Which they are is a
 * matter of the model, so that no world depends on what its neighbours touch. */
static bool choose_feet(tbi_plan *p) {
  if (p->nbundle == 0) return true;
  double *q = calloc((size_t)p->nq + (size_t)p->nv, sizeof *q);
  double *height = calloc((size_t)p->npair + (size_t)p->npatch, sizeof *height);
  tabi_dynamics *d = tabi_dynamics_create(p->model, NULL);
  bool whole = q && height && d;
  if (whole) {
    tabi_model_initial_q(p->model, q);
    tabi_dynamics_set_state(d, q, q + p->nq);
    find_heights(p, d, height);
    mark_feet(p, height);
  }
  tabi_dynamics_destroy(d);
  free(height);
  free(q);
  return whole;
}

/* -- all of them */

static bool check_items(maker *m) {
  for (int32_t i = 0; i < m->c->nitem; ++i) {
    const tabi_shape_def *shape = tbi_plan_shape(m, i);
    bool moves = m->c->fitting[i].body != TABI_WORLD;
    if (moves && (shape->type == TABI_SHAPE_TRIANGLES || shape->type == TABI_SHAPE_HEIGHTFIELD))
      return tbi_plan_refuse(m->plan, "a surface of triangles moves", shape->name);
    if (shape->type == TABI_SHAPE_PLANE && !add_plane(m, i)) return false;
  }
  return true;
}

static bool make(maker *m, bool self_collision) {
  tbi_plan *p = m->plan;
  tbi_surface_fill(p->model, p->def.friction, m->surface);
  for (int32_t i = 0; i < m->c->nitem; ++i)
    m->segment_of[i] = TABI_NONE;
  m->paths = p->npath;
  bool whole = check_items(m) && add_pairs(m) && tbi_plan_ground_make(m) && choose_feet(p) &&
               (!self_collision || add_couples(m));
  if (m->rolls) p->nroll = p->nslot;
  return whole;
}

bool tbi_plan_touch(tbi_plan *p, bool self_collision) {
  const tabi_model *model = p->model;
  maker m = {.plan = p};
  m.memory = tbi_block_alloc(tbi_collision_memsize(model) + 64);
  void *scratch = tbi_block_alloc(tbi_collision_scratch(model) + 64);
  m.surface = calloc((size_t)tbi_surface_count(model), sizeof *m.surface);
  m.segment_of = calloc((size_t)model->nshape + 1, sizeof *m.segment_of);
  bool whole = false;
  if (m.memory && scratch && m.surface && m.segment_of) {
    m.c = tbi_collision_make(model, m.memory, scratch);
    whole = make(&m, self_collision);
  }
  free(m.memory);
  free(scratch);
  free(m.surface);
  free(m.segment_of);
  return whole || p->reason[0] != '\0';
}

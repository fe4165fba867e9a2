/* separation.c - see separation.h. */
#include "collision/separation.h"

#include "base/assertion.h"
#include "collision/gjk.h"

/* m that pairs must be apart beyond their margin: more than the measurement of points may err when
 * it prefers the normal of a face */
#define GUARD 1e-4

#define MOST_PER_ITEM 16

static bool is_convex(const tabi_shape_def *shape) {
  return shape->type != TABI_SHAPE_PLANE && shape->type != TABI_SHAPE_TRIANGLES &&
         shape->type != TABI_SHAPE_HEIGHTFIELD;
}

static bool is_articulated(const tabi_model *model, int32_t body) {
  const tbi_body *b = &model->body[body];
  if (b->parent != TABI_WORLD || b->type != TABI_JOINT_FREE) return true;
  return body + 1 < model->nbody && model->body[body + 1].tree == b->tree;
}

static int32_t body_of(const tabi_model *model, const tabi_shape_def *shape) {
  return shape->link == TABI_WORLD ? TABI_WORLD : model->link_home[shape->link].body;
}

static bool is_limb(const tabi_model *model, const tabi_shape_def *shape) {
  int32_t body = body_of(model, shape);
  return shape->collides && is_convex(shape) && body != TABI_WORLD && is_articulated(model, body);
}

/* Limbs that the groups let meet some convex shape. */
int32_t tbi_separation_count(const tabi_model *model) {
  uint32_t groups = 0;
  int64_t nlimb = 0;
  for (int32_t i = 0; i < model->nshape; ++i) {
    const tabi_shape_def *shape = &model->shape[i];
    if (shape->collides && is_convex(shape)) groups |= shape->group;
  }
  for (int32_t i = 0; i < model->nshape; ++i)
    nlimb += is_limb(model, &model->shape[i]) && (model->shape[i].mask & groups);
  int64_t count = nlimb > 1 ? 64 : 0;
  while (count > 0 && count < MOST_PER_ITEM * nlimb && count < 1 << 20)
    count *= 2;
  return (int32_t)count;
}

double tbi_cover_extent(const tbi_cover *cover) {
  return sqrt(v4_dot(cover->middle, cover->middle)) + sqrt(v4_dot(cover->half, cover->half)) +
         cover->radius;
}

void tbi_separation_make(tbi_collision *c) {
  for (int32_t i = 0; i < c->nseparation; ++i)
    c->separation[i].a = TABI_NONE;
  for (int32_t item = 0; item < c->nitem && c->nseparation > 0; ++item) {
    const tbi_cover *cover = &c->cover[item];
    const tabi_shape_def *shape = &c->model->shape[cover->shape];
    c->limb[item] = (tbi_limb){.extent = tbi_cover_extent(cover),
                               .convex = is_convex(shape),
                               .articulated = is_limb(c->model, shape)};
  }
}

static double square(v4 a) { return v4_dot(a, a); }

/* A point at distance r from the body's origin has moved by at most |p' - p| + |R' - R| r. */
void tbi_separation_advance(tbi_collision *c, const tabi_dynamics *d) {
  if (c->nseparation == 0) return;
  for (int32_t i = 0; i < c->model->nbody; ++i) {
    if (!c->shaped[i]) continue;
    const tbi_body_state *now = &d->body[i];
    tbi_travel *travel = &c->travel[i];
    travel->moved += sqrt(square(v4_sub(now->pos, travel->pos)));
    travel->turned +=
        sqrt(square(v4_sub(now->rot.x, travel->rot.x)) + square(v4_sub(now->rot.y, travel->rot.y)) +
             square(v4_sub(now->rot.z, travel->rot.z)));
    travel->pos = now->pos;
    travel->rot = now->rot;
  }
  for (int32_t i = 0; i < c->model->ntree; ++i) {
    tbi_tree_travel *tree = &c->tree_travel[i];
    tree->moved += v3_norm(v3_sub(d->origin[i], tree->origin));
    tree->origin = d->origin[i];
  }
}

static double travel_of(const tbi_collision *c, int32_t item) {
  int32_t body = c->cover[item].body;
  if (body == TABI_WORLD) return 0;
  return c->travel[body].moved + c->limb[item].extent * c->travel[body].turned;
}

static double origin_travel(const tbi_collision *c, int32_t item) {
  int32_t tree = c->cover[item].tree;
  return tree == TABI_NONE ? 0 : c->tree_travel[tree].moved;
}

/* How far both have come, against each other if they are of one tree. */
static double travel_of_both(const tbi_collision *c, tbi_item_pair pair) {
  double travel = travel_of(c, pair.a) + travel_of(c, pair.b);
  if (c->cover[pair.a].tree == c->cover[pair.b].tree) return travel;
  return travel + origin_travel(c, pair.a) + origin_travel(c, pair.b);
}

static bool is_watched(const tbi_collision *c, tbi_item_pair pair) {
  if (c->nseparation == 0) return false;
  const tbi_limb *a = &c->limb[pair.a];
  const tbi_limb *b = &c->limb[pair.b];
  return a->convex && b->convex && (a->articulated || b->articulated);
}

static tbi_separation *entry_of(tbi_collision *c, tbi_item_pair pair) {
  uint32_t mixed = (uint32_t)pair.a * 0x9e3779b1u ^ (uint32_t)pair.b * 0x85ebca6bu;
  return &c->separation[(mixed ^ mixed >> 15) & (uint32_t)(c->nseparation - 1)];
}

static bool measure(tbi_collision *c, const tabi_dynamics *d, tbi_item_pair pair, double needed,
                    tbi_separation *s) {
  const tbi_solid *a = tbi_shapes_place(c, d, pair.a);
  const tbi_solid *b = tbi_shapes_place(c, d, pair.b);
  if (s->a == pair.a && s->b == pair.b) {
    s->distance = tbi_separation_along(a, b, s->axis);
    if (s->distance > needed) return true;
  } else {
    s->axis = v3_sub(tbi_support_centre(b), tbi_support_centre(a));
    if (!(v3_dot(s->axis, s->axis) > 0)) return false;
  }
  s->distance = tbi_shortest_separation(a, b, &s->axis);
  return s->distance > needed;
}

bool tbi_separation_holds(tbi_collision *c, const tabi_dynamics *d, tbi_item_pair pair,
                          double margin) {
  if (!is_watched(c, pair)) return false;
  tbi_separation *s = entry_of(c, pair);
  bool known = s->a == pair.a && s->b == pair.b;
  if (known && s->touched) return false;
  double travel = travel_of_both(c, pair);
  double needed = margin + GUARD + 1e-12 * travel;
  if (known && s->distance - (travel - s->travel) > needed) return true;
  tbi_separation found = *s;
  if (!measure(c, d, pair, needed, &found)) return false;
  *s = (tbi_separation){
      .a = pair.a, .b = pair.b, .axis = found.axis, .distance = found.distance, .travel = travel};
  return true;
}

void tbi_separation_learn(tbi_collision *c, tbi_item_pair pair, bool touches) {
  if (!is_watched(c, pair)) return;
  tbi_separation *s = entry_of(c, pair);
  if (touches) {
    *s = (tbi_separation){.a = pair.a, .b = pair.b, .touched = true};
  } else if (s->a == pair.a && s->b == pair.b) {
    s->a = TABI_NONE;
  }
}

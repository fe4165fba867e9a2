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

/* the tree of a shape that may meet others of its tree; TABI_NONE if it cannot */
static int32_t tree_of(const tabi_model *model, const tabi_shape_def *shape) {
  if (!shape->collides || shape->link == TABI_WORLD || !is_convex(shape)) return TABI_NONE;
  int32_t body = model->link_home[shape->link].body;
  return body == TABI_WORLD || !(shape->group & shape->mask) ? TABI_NONE : model->body[body].tree;
}

/* Shapes that share their tree with another one.  They follow one another in most files, so that
 * comparing with the one before is enough; what is missed is only measured more often. */
int32_t tbi_separation_count(const tabi_model *model) {
  int64_t nitem = 0;
  int32_t last = TABI_NONE;
  for (int32_t i = 0; i < model->nshape; ++i) {
    int32_t tree = tree_of(model, &model->shape[i]);
    nitem += tree != TABI_NONE && tree == last;
    if (tree != TABI_NONE) last = tree;
  }
  int64_t count = nitem > 0 ? 64 : 0;
  while (count > 0 && count < MOST_PER_ITEM * nitem && count < 1 << 20)
    count *= 2;
  return (int32_t)count;
}

void tbi_separation_make(tbi_collision *c) {
  for (int32_t i = 0; i < c->nseparation; ++i)
    c->separation[i].a = TABI_NONE;
  for (int32_t item = 0; item < c->nitem && c->nseparation > 0; ++item) {
    const tbi_cover *cover = &c->cover[item];
    bool convex = is_convex(&c->model->shape[cover->shape]);
    c->reach[item] = convex && cover->body != TABI_WORLD
                         ? sqrt(v4_dot(cover->middle, cover->middle)) +
                               sqrt(v4_dot(cover->half, cover->half)) + cover->radius
                         : -1;
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
}

static double travel_of(const tbi_collision *c, int32_t item) {
  const tbi_travel *travel = &c->travel[c->cover[item].body];
  return travel->moved + c->reach[item] * travel->turned;
}

static tbi_separation *entry_of(tbi_collision *c, tbi_item_pair pair) {
  uint32_t mixed = (uint32_t)pair.a * 0x9e3779b1u ^ (uint32_t)pair.b * 0x85ebca6bu;
  return &c->separation[(mixed ^ mixed >> 15) & (uint32_t)(c->nseparation - 1)];
}

/* Air along a unit direction from a to b. */
static double air_along(const tbi_solid *a, const tbi_solid *b, v3 n) {
  double between = v3_dot(n, v3_sub(tbi_support(b, v3_neg(n)), tbi_support(a, n)));
  return between - tbi_support_radius(a) - tbi_support_radius(b);
}

/* The direction of the shortest line, and the air along it; none where they overlap. */
static bool find_axis(const tbi_solid *a, const tbi_solid *b, tbi_separation *s) {
  v3 apart = tbi_gjk(a, b, v3_zero(), s->axis).apart;
  double length = v3_norm(apart);
  if (!(length > 0)) return false;
  s->axis = v3_scale(1 / length, apart);
  s->air = air_along(a, b, s->axis);
  return true;
}

static bool measure(tbi_collision *c, const tabi_dynamics *d, tbi_item_pair pair, double needed,
                    tbi_separation *s) {
  const tbi_solid *a = tbi_shapes_place(c, d, pair.a);
  const tbi_solid *b = tbi_shapes_place(c, d, pair.b);
  if (s->a == pair.a && s->b == pair.b) {
    s->air = air_along(a, b, s->axis);
    if (s->air > needed) return true;
  } else {
    s->axis = v3_sub(tbi_support_centre(b), tbi_support_centre(a));
    if (!(v3_dot(s->axis, s->axis) > 0)) return false;
  }
  return find_axis(a, b, s) && s->air > needed;
}

bool tbi_separation_holds(tbi_collision *c, const tabi_dynamics *d, tbi_item_pair pair,
                          double margin) {
  if (c->nseparation == 0 || c->cover[pair.a].tree != c->cover[pair.b].tree ||
      !(c->reach[pair.a] >= 0 && c->reach[pair.b] >= 0))
    return false;
  tbi_separation *s = entry_of(c, pair);
  bool known = s->a == pair.a && s->b == pair.b;
  if (known && s->touched) return false;
  double travel = travel_of(c, pair.a) + travel_of(c, pair.b);
  double needed = margin + GUARD + 1e-12 * travel;
  if (known && s->air - (travel - s->travel) > needed) return true;
  tbi_separation found = *s;
  if (!measure(c, d, pair, needed, &found)) return false;
  *s = (tbi_separation){
      .a = pair.a, .b = pair.b, .axis = found.axis, .air = found.air, .travel = travel};
  return true;
}

void tbi_separation_learn(tbi_collision *c, tbi_item_pair pair, bool touches) {
  if (c->nseparation == 0 || c->cover[pair.a].tree != c->cover[pair.b].tree) return;
  tbi_separation *s = entry_of(c, pair);
  if (touches) {
    *s = (tbi_separation){.a = pair.a, .b = pair.b, .touched = true};
  } else if (s->a == pair.a && s->b == pair.b) {
    s->a = TABI_NONE;
  }
}

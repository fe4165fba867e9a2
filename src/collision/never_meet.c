/* never_meet.c - bodies of one tree that their joint limits keep apart.
 *
 * Between two bodies lie joints with one coordinate each, up to the body that both hang from.  In
 * the middle of a box of coordinates the shapes are at some distance; within the box no point comes
 * nearer than that by more than the sum of  half width x arm  over the joints, where the arm of a
 * joint is the longest that reaches from it to a point of the shapes.  Boxes for which that leaves
 * a distance are done, others are cut in two. */
#include "collision/collision.h"

#include "base/assertion.h"
#include "collision/gjk.h"
#include "collision/separation.h"

#include <string.h>

#define MAX_JOINTS 8
#define MAX_BOXES  64
/* m that must be left: limits are kept to less */
#define CLEAR 0.005

/* A joint between the two bodies. */
typedef struct joint {
  int32_t body;
  double arm;
} joint;

/* The joints between a body and the one that both hang from, that one's first. */
typedef struct side {
  joint joint[MAX_JOINTS];
  int32_t njoint;
  tbi_body_items items;
} side;

/* Coordinates of all joints, those of side 0 first. */
typedef struct box {
  double middle[2 * MAX_JOINTS], half[2 * MAX_JOINTS];
} box;

typedef struct search {
  const tbi_collision *c;
  side side[2];
  int32_t *budget; /* distances that may still be measured */
} search;

/* A shape at its place, and a ball around it. */
typedef struct placed {
  tbi_solid solid;
  v3 middle;
  double radius;
} placed;

static bool is_simple(tabi_joint_type type) {
  return type == TABI_JOINT_REVOLUTE || type == TABI_JOINT_CONTINUOUS ||
         type == TABI_JOINT_PRISMATIC;
}

static int32_t depth_of(const tabi_model *model, int32_t body) {
  int32_t depth = 0;
  for (; model->body[body].parent != TABI_WORLD; body = model->body[body].parent)
    ++depth;
  return depth;
}

/* Puts a joint before those that are there. */
static bool add_joint(const tabi_model *model, side *s, int32_t *body) {
  if (s->njoint == MAX_JOINTS || !is_simple(model->body[*body].type)) return false;
  memmove(s->joint + 1, s->joint, (size_t)s->njoint * sizeof *s->joint);
  s->joint[0] = (joint){.body = *body};
  ++s->njoint;
  *body = model->body[*body].parent;
  return true;
}

/* The joints on the way to the body that both hang from; false if some are not simple, or many. */
static bool find_joints(const tabi_model *model, int32_t a, int32_t b, search *s) {
  int32_t depth_a = depth_of(model, a);
  int32_t depth_b = depth_of(model, b);
  while (a != b) {
    bool from_a = depth_a >= depth_b;
    if (!add_joint(model, &s->side[from_a ? 0 : 1], from_a ? &a : &b)) return false;
    if (from_a) {
      --depth_a;
    } else {
      --depth_b;
    }
  }
  return true;
}

static double farthest_travel(const tabi_model *model, const tbi_body *body) {
  if (body->type != TABI_JOINT_PRISMATIC) return 0;
  return fmax(fabs(model->dof_lower[body->v]), fabs(model->dof_upper[body->v]));
}

static void measure_arms(const tbi_collision *c, side *s) {
  double arm = 0;
  for (int32_t i = 0; i < s->items.count; ++i)
    arm = fmax(arm, tbi_cover_extent(&c->cover[s->items.item[i]]));
  for (int32_t i = s->njoint - 1; i >= 0; --i) {
    const tbi_body *body = &c->model->body[s->joint[i].body];
    bool slides = body->type == TABI_JOINT_PRISMATIC;
    s->joint[i].arm = slides ? 1 : arm;
    arm += v3_norm(body->place.pos) + farthest_travel(c->model, body);
  }
}

/* False where a joint that slides has no limit. */
static bool set_range(const tabi_model *model, const tbi_body *body, double *middle, double *half) {
  const double turn = 3.14159265358979323846;
  double low = model->dof_lower[body->v];
  double high = model->dof_upper[body->v];
  if (body->type != TABI_JOINT_PRISMATIC) {
    if (!(high - low < 2 * turn)) {
      low = -turn;
      high = turn;
    }
  }
  *middle = 0.5 * (low + high);
  *half = 0.5 * (high - low);
  return isfinite(*middle) && isfinite(*half);
}

static bool set_box(const search *s, box *b) {
  int32_t k = 0;
  for (int i = 0; i < 2; ++i) {
    for (int32_t j = 0; j < s->side[i].njoint; ++j, ++k) {
      const tbi_body *body = &s->c->model->body[s->side[i].joint[j].body];
      if (!set_range(s->c->model, body, &b->middle[k], &b->half[k])) return false;
    }
  }
  return true;
}

static tbi_frame joint_frame(const tbi_body *body, double q) {
  if (body->type == TABI_JOINT_PRISMATIC) {
    const tbi_frame slide = {
        m3_identity(), {0, 0, q}
    };
    return tbi_frame_mul(&body->place, &slide);
  }
  const q4 turn = q_exp(v3_make(0, 0, q));
  const tbi_frame turned = {q_matrix(turn), v3_zero()};
  return tbi_frame_mul(&body->place, &turned);
}

/* The frame of a side's body in the one that both hang from. */
static tbi_frame side_frame(const search *s, int i, const double *q) {
  tbi_frame frame = tbi_frame_identity();
  for (int32_t j = 0; j < s->side[i].njoint; ++j) {
    tbi_frame next = joint_frame(&s->c->model->body[s->side[i].joint[j].body], q[j]);
    frame = tbi_frame_mul(&frame, &next);
  }
  return frame;
}

static placed place(const tbi_collision *c, int32_t item, const tbi_frame *body) {
  const tbi_cover *cover = &c->cover[item];
  placed p = {.solid = c->solid[item],
              .middle = v3_add(body->pos, m3_mulv(&body->rot, v4_to(cover->middle))),
              .radius = sqrt(v4_dot(cover->half, cover->half)) + cover->radius};
  tbi_frame frame = tbi_frame_mul(body, &c->fitting[item].frame);
  for (int k = 0; k < 3; ++k)
    p.solid.axis[k] = m3_column(&frame.rot, k);
  p.solid.pos = frame.pos;
  return p;
}

/* A lower bound of the distance of two shapes, if that is not enough; 0 where they meet. */
static double distance(const search *s, const placed *a, const placed *b, double enough) {
  v3 axis = v3_sub(b->middle, a->middle);
  double between = v3_norm(axis);
  if (between - a->radius - b->radius >= enough) return enough;
  --*s->budget;
  return between > 0 ? fmax(tbi_shortest_separation(&a->solid, &b->solid, &axis), 0) : 0;
}

/* Of all shapes of both bodies in the middle of a box, up to a distance that is enough. */
static double nearest(const search *s, const box *b, double enough) {
  tbi_frame frame[2] = {side_frame(s, 0, b->middle),
                        side_frame(s, 1, b->middle + s->side[0].njoint)};
  const tbi_body_items *items[2] = {&s->side[0].items, &s->side[1].items};
  double min = enough;
  for (int32_t i = 0; i < items[0]->count; ++i) {
    placed first = place(s->c, items[0]->item[i], &frame[0]);
    for (int32_t j = 0; j < items[1]->count && min > 0; ++j) {
      placed second = place(s->c, items[1]->item[j], &frame[1]);
      min = fmin(min, distance(s, &first, &second, min));
    }
  }
  return min;
}

/* How much nearer points may come within a box, and the joint that allows most of it. */
static double motion_bound(const search *s, const box *b, int32_t *widest) {
  double sum = 0;
  double max = -1;
  int32_t k = 0;
  for (int i = 0; i < 2; ++i) {
    for (int32_t j = 0; j < s->side[i].njoint; ++j, ++k) {
      double bound = b->half[k] * s->side[i].joint[j].arm;
      if (bound > max) *widest = k;
      max = fmax(max, bound);
      sum += bound;
    }
  }
  return sum;
}

/* Cuts the last box in two. */
static void cut(box *last, int32_t k) {
  last->half[k] *= 0.5;
  last[1] = last[0];
  last[0].middle[k] -= last->half[k];
  last[1].middle[k] += last->half[k];
}

static bool search_all(const search *s, box *stack) {
  for (int32_t count = 1; count > 0;) {
    box *last = &stack[count - 1];
    int32_t widest = 0;
    double bound = motion_bound(s, last, &widest);
    double distance = nearest(s, last, bound + CLEAR);
    if (distance >= bound + CLEAR) {
      --count;
      continue;
    }
    if (!(distance > CLEAR) || count == MAX_BOXES || --*s->budget <= 0) return false;
    cut(last, widest);
    ++count;
  }
  return true;
}

static bool are_convex(const tbi_collision *c, const tbi_body_items *items) {
  for (int32_t i = 0; i < items->count; ++i) {
    const tbi_solid *solid = &c->solid[items->item[i]];
    if (solid->type == TABI_SHAPE_PLANE || solid->ground) return false;
  }
  return items->all;
}

bool tbi_collision_never_meet(const tbi_collision *c, int32_t body_a, int32_t body_b,
                              int32_t *budget) { // NOLINT: it is used up by the search
  const tabi_model *model = c->model;
  TBI_ASSERT(body_a >= 0 && body_a < model->nbody && body_b >= 0 && body_b < model->nbody);
  search s = {.c = c, .budget = budget};
  box stack[MAX_BOXES];
  if (model->body[body_a].tree != model->body[body_b].tree || body_a == body_b) return false;
  if (!find_joints(model, body_a, body_b, &s)) return false;
  s.side[0].items = tbi_filter_items(c, body_a);
  s.side[1].items = tbi_filter_items(c, body_b);
  if (!are_convex(c, &s.side[0].items) || !are_convex(c, &s.side[1].items)) return false;
  measure_arms(c, &s.side[0]);
  measure_arms(c, &s.side[1]);
  return set_box(&s, &stack[0]) && search_all(&s, stack);
}

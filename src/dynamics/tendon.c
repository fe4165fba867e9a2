/* tendon.c - see tendon.h.
 *
 * A straight piece from x_a to x_b has the length l = |x_b - x_a| and, with e its direction, the
 * rate e . (x_b' - x_a').  Its second derivative has what the ends accelerate along e, and the
 * square of their relative velocity across e, divided by l.
 *
 * Around an obstacle (wrap.h) a piece is straight to where it touches, and from there on.  Because
 * it is the shortest, its rate is that of both straight parts, as if they ended at points of the
 * obstacle. */
#include "dynamics/tendon.h"

#include "base/assertion.h"
#include "dynamics/wrap.h"
#include "math/quat.h"

#include <string.h>

#define NO_LENGTH 1e-12 /* m: a piece without a direction */

/* One end of a straight piece. */
typedef struct end {
  int32_t body;
  v3 arm; /* from the origin of its tree, world axes */
  v3 x;   /* m, world */
} end;

static end end_of(const tabi_dynamics *d, const tabi_tendon_point *point) {
  end e = {.body = TABI_WORLD, .x = v3_load(point->pos)};
  if (point->link != TABI_WORLD) {
    tbi_frame frame = tbi_link_frame(d, point->link);
    e.x = v3_add(frame.pos, m3_mulv(&frame.rot, e.x));
    e.body = d->model->link_home[point->link].body;
  }
  e.arm = v3_sub(e.x, tbi_tree_origin(d, e.body));
  return e;
}

static int32_t last_dof(const tabi_model *model, int32_t body) {
  return body == TABI_WORLD ? TABI_NONE : model->body[body].v + model->body[body].nv - 1;
}

static void add_arm(const tabi_model *model, int32_t tendon, int32_t dof, double more,
                    double *arm) {
  const int32_t *list = tbi_tendon_dofs(model, tendon);
  int32_t low = 0;
  int32_t high = tbi_tendon_ndof(model, tendon) - 1;
  while (low < high) {
    int32_t middle = low + (high - low) / 2;
    if (list[middle] < dof) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  TBI_ASSERT(list[low] == dof);
  arm[low] += more;
}

/* what a velocity moves the end along the direction e */
static double moved_along(const tabi_dynamics *d, int32_t dof, const end *at, v3 e) {
  return v4_dot(sv_at(d->axis[dof], v4_from(at->arm)), v4_from(e));
}

/* the joints between the ends; those above both move the piece as a whole */
static void add_arms(const tabi_dynamics *d, int32_t tendon, const end *a, const end *b, v3 pull,
                     double *arm) {
  const tabi_model *model = d->model;
  int32_t at_a = last_dof(model, a->body);
  int32_t at_b = last_dof(model, b->body);
  while (at_a != at_b) {
    if (at_a > at_b) {
      add_arm(model, tendon, at_a, -moved_along(d, at_a, a, pull), arm);
      at_a = model->dof_parent[at_a];
    } else {
      add_arm(model, tendon, at_b, moved_along(d, at_b, b, pull), arm);
      at_b = model->dof_parent[at_b];
    }
  }
}

/* -- obstacles */

/* An obstacle, and where it is. */
typedef struct obstacle {
  end centre;
  m3 rot; /* its axes in the world */
  tbi_obstacle shape;
} obstacle;

static v3 to_local(const obstacle *o, v3 x) { return m3_tmulv(&o->rot, v3_sub(x, o->centre.x)); }

static obstacle obstacle_of(const tabi_dynamics *d, const tabi_tendon_point *point) {
  obstacle o = {.centre = end_of(d, point), .rot = m3_identity()};
  bool cylinder = point->wrap == TABI_WRAP_CYLINDER;
  if (cylinder) {
    v3 axis = v3_load(point->axis);
    o.rot = q_matrix_to(v3_scale(1 / v3_norm(axis), axis));
  }
  if (point->link != TABI_WORLD) {
    tbi_frame frame = tbi_link_frame(d, point->link);
    o.rot = m3_mul(&frame.rot, &o.rot);
  }
  o.shape = (tbi_obstacle){point->radius, cylinder, point->sided, v3_zero()};
  if (point->sided) {
    tabi_tendon_point side = {.link = point->side_link};
    memcpy(side.pos, point->side, sizeof side.pos);
    o.shape.side = to_local(&o, end_of(d, &side).x);
  }
  return o;
}

/* a point of the obstacle's link, wherever it is */
static end end_on(const obstacle *o, v3 x) {
  v3 origin = v3_sub(o->centre.x, o->centre.arm);
  return (end){o->centre.body, v3_sub(x, origin), x};
}

static int32_t next_point(const tabi_tendon_def *def, int32_t i) {
  return def->points[i + 1].wrap == TABI_WRAP_NONE ? i + 1 : i + 2;
}

/* -- length */

static double measure_straight(const tabi_dynamics *d, int32_t tendon, const end *a, const end *b,
                               double share, double *arm) {
  v3 way = v3_sub(b->x, a->x);
  double distance = v3_norm(way);
  if (distance > NO_LENGTH) add_arms(d, tendon, a, b, v3_scale(share / distance, way), arm);
  return share * distance;
}

/* around the obstacle behind point i */
static double measure_bent(const tabi_dynamics *d, int32_t tendon, int32_t i, const end *a,
                           const end *b, double *arm) {
  const tabi_tendon_def *def = &d->model->tendon[tendon];
  double share = def->points[i].share;
  obstacle o = obstacle_of(d, &def->points[i + 1]);
  tbi_wrap wrap;
  if (!tbi_wrap_find(&o.shape, to_local(&o, a->x), to_local(&o, b->x), &wrap))
    return measure_straight(d, tendon, a, b, share, arm);
  end touch[2];
  for (int k = 0; k < 2; ++k)
    touch[k] = end_on(&o, v3_add(o.centre.x, m3_mulv(&o.rot, wrap.touch[k])));
  return measure_straight(d, tendon, a, &touch[0], share, arm) + share * wrap.length +
         measure_straight(d, tendon, &touch[1], b, share, arm);
}

double tbi_tendon_measure(const tabi_dynamics *d, int32_t tendon, double *arm) {
  const tabi_model *model = d->model;
  const tabi_tendon_def *def = &model->tendon[tendon];
  double length = 0;
  memset(arm, 0, sizeof *arm * (size_t)tbi_tendon_ndof(model, tendon));
  for (int32_t i = 0; i < def->njoint; ++i) {
    int32_t index = model->joint_body[def->joints[i].joint];
    if (index == TABI_NONE) continue;
    const tbi_body *body = &model->body[index];
    length += def->joints[i].coef * d->q[body->q];
    add_arm(model, tendon, body->v, def->joints[i].coef, arm);
  }
  for (int32_t i = 0; i + 1 < def->npoint; i = next_point(def, i)) {
    double share = def->points[i].share;
    if (share == 0) continue;
    int32_t next = next_point(def, i);
    end a = end_of(d, &def->points[i]);
    end b = end_of(d, &def->points[next]);
    length += next == i + 1 ? measure_straight(d, tendon, &a, &b, share, arm)
                            : measure_bent(d, tendon, i, &a, &b, arm);
  }
  return length;
}

/* -- drift */

/* velocity of an end, and its acceleration at zero joint acceleration */
static void motion_of(const tabi_dynamics *d, const end *at, v3 *velocity, v3 *acceleration) {
  v4 arm = v4_from(at->arm);
  sv twist = d->body[at->body].vel;
  *velocity = v4_to(sv_at(twist, arm));
  *acceleration =
      v3_add(v4_to(sv_at(d->acc[at->body], arm)), v3_cross(v4_to(twist.ang), *velocity));
}

static double straight_drift(const tabi_dynamics *d, const end *a, const end *b) {
  v3 way = v3_sub(b->x, a->x);
  double distance = v3_norm(way);
  if (!(distance > NO_LENGTH)) return 0;
  v3 v[2];
  v3 acc[2];
  motion_of(d, a, &v[0], &acc[0]);
  motion_of(d, b, &v[1], &acc[1]);
  v3 e = v3_scale(1 / distance, way);
  v3 across = v3_sub(v[1], v[0]);
  across = v3_axpy(across, -v3_dot(across, e), e);
  return v3_dot(e, v3_sub(acc[1], acc[0])) + v3_dot(across, across) / distance;
}

/* how an end moves as seen from the obstacle */
static tbi_wrap_end seen_from(const tabi_dynamics *d, const obstacle *o, const end *at) {
  end here = end_on(o, at->x);
  v3 v[2];
  v3 acc[2];
  motion_of(d, at, &v[0], &acc[0]);
  motion_of(d, &here, &v[1], &acc[1]);
  v3 spin = v4_to(d->body[o->centre.body].vel.ang);
  v3 relative = v3_sub(v[0], v[1]);
  v3 gained = v3_axpy(v3_sub(acc[0], acc[1]), -2, v3_cross(spin, relative));
  return (tbi_wrap_end){to_local(o, at->x), m3_tmulv(&o->rot, relative), m3_tmulv(&o->rot, gained)};
}

static double bent_drift(const tabi_dynamics *d, const tabi_tendon_point *point, const end *a,
                         const end *b) {
  obstacle o = obstacle_of(d, point);
  tbi_wrap wrap;
  tbi_wrap_end ends[2] = {seen_from(d, &o, a), seen_from(d, &o, b)};
  if (!tbi_wrap_find(&o.shape, ends[0].x, ends[1].x, &wrap)) return straight_drift(d, a, b);
  return tbi_wrap_drift(&o.shape, &wrap, &ends[0], &ends[1]);
}

double tbi_tendon_drift(const tabi_dynamics *d, int32_t tendon) {
  const tabi_tendon_def *def = &d->model->tendon[tendon];
  double drift = 0;
  for (int32_t i = 0; i + 1 < def->npoint; i = next_point(def, i)) {
    if (def->points[i].share == 0) continue;
    int32_t next = next_point(def, i);
    end a = end_of(d, &def->points[i]);
    end b = end_of(d, &def->points[next]);
    drift += def->points[i].share * (next == i + 1 ? straight_drift(d, &a, &b)
                                                   : bent_drift(d, &def->points[i + 1], &a, &b));
  }
  return drift;
}

double tabi_dynamics_tendon_length(const tabi_dynamics *d, int32_t tendon, double *jacobian) {
  TBI_ASSERT(d && tendon >= 0 && tendon < d->model->ntendon);
  const tabi_model *model = d->model;
  const int32_t *dof = tbi_tendon_dofs(model, tendon);
  int32_t count = tbi_tendon_ndof(model, tendon);
  double length = tbi_tendon_measure(d, tendon, d->rhs);
  if (!jacobian) return length;
  memset(jacobian, 0, sizeof *jacobian * (size_t)model->nv);
  for (int32_t k = 0; k < count; ++k)
    jacobian[dof[k]] = d->rhs[k];
  return length;
}

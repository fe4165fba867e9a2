/* lane_tree.h - kinematics and dynamics of trees in lanes: the algorithms of dynamics/, with the
 * ancestors of a body in a stack. */
#ifndef TBI_LANE_TREE_H
#define TBI_LANE_TREE_H

#include "batch/lane.h"
#include "batch/lane_work.h"

LANE_INLINE double *lane_at(double *array, int64_t i) { return array + i * TBI_LANES; }
LANE_INLINE ln lane_get(const double *array, int64_t i) { return ln_load(array + i * TBI_LANES); }
LANE_INLINE void lane_put(double *array, int64_t i, ln x) { ln_save(x, array + i * TBI_LANES); }
LANE_INLINE ln6 lane_axis(const tbi_lane_work *w, int64_t dof) {
  return ln6_load(w->axis + 6 * dof * TBI_LANES);
}
LANE_INLINE ln6 lane_response(const tbi_lane_work *w, int64_t dof) {
  return ln6_load(w->U + 6 * dof * TBI_LANES);
}

/* A body in the stack. */
typedef struct lane_pose {
  ln33 rot;
  ln3 pos; /* from the origin of its tree */
  ln6 vel, acc;
} lane_pose;

enum { LANE_POSE = 24 };

LANE_INLINE void pose_save(const lane_pose *a, double *to) {
  ln33_save(&a->rot, to);
  ln3_save(a->pos, to + (ptrdiff_t)9 * TBI_LANES);
  ln6_save(a->vel, to + (ptrdiff_t)12 * TBI_LANES);
  ln6_save(a->acc, to + (ptrdiff_t)18 * TBI_LANES);
}
LANE_INLINE lane_pose pose_load(const double *from) {
  return (lane_pose){ln33_load(from), ln3_load(from + (ptrdiff_t)9 * TBI_LANES),
                     ln6_load(from + (ptrdiff_t)12 * TBI_LANES),
                     ln6_load(from + (ptrdiff_t)18 * TBI_LANES)};
}

/* -- outward: poses, axes, twists, inertias, bias forces */

LANE_INLINE ln33 turn_matrix(ln a, ln b, ln c, ln d) {
  ln s = 2.0 / (a * a + b * b + c * c + d * d);
  ln x = s * b;
  ln y = s * c;
  ln z = s * d;
  return (ln33){
      {1 - (c * y + d * z), b * y + a * z,       b * z - a * y      },
      {b * y - a * z,       1 - (b * x + d * z), c * z + a * x      },
      {b * z + a * y,       c * z - a * x,       1 - (b * x + c * y)}
  };
}

LANE_INLINE ln33 ln33_mul(const ln33 *a, const ln33 *b) {
  return (ln33){ln33_mulv(a, b->x), ln33_mulv(a, b->y), ln33_mulv(a, b->z)};
}

/* a turn about the third axis, by the numbers of q */
LANE_INLINE ln33 turned_z(const tbi_lane_work *w, const ln33 *r, int64_t q) {
  ln s = lane_get(w->sine, q);
  ln c = lane_get(w->cosine, q);
  return (ln33){ln3_axpy(ln3_scale(c, r->x), s, r->y), ln3_axpy(ln3_scale(c, r->y), -s, r->x),
                r->z};
}

LANE_INLINE ln33 turned_quat(const tbi_lane_work *w, const ln33 *r, int64_t q) {
  ln33 turn = turn_matrix(lane_get(w->q, q), lane_get(w->q, q + 1), lane_get(w->q, q + 2),
                          lane_get(w->q, q + 3));
  return ln33_mul(r, &turn);
}

LANE_INLINE ln6 rotation_about(ln3 axis, ln3 point) { return (ln6){ln3_cross(point, axis), axis}; }

/* where the joint of a body stands */
LANE_INLINE ln33 joint_axes(const tbi_plan_body *b, const ln33 *parent) {
  if (!b->permutes)
    return (ln33){ln33_mul_splat(parent, b->rot), ln33_mul_splat(parent, b->rot + 3),
                  ln33_mul_splat(parent, b->rot + 6)};
  const ln3 column[3] = {parent->x, parent->y, parent->z};
  return (ln33){ln3_scale(ln_splat(b->sign[0]), column[b->axis[0]]),
                ln3_scale(ln_splat(b->sign[1]), column[b->axis[1]]),
                ln3_scale(ln_splat(b->sign[2]), column[b->axis[2]])};
}

/* pose, axes, twist and drift of a joint with one velocity */
LANE_INLINE void move_simple(tbi_lane_work *w, const tbi_plan_body *b, const lane_pose *parent,
                             const ln33 *at, lane_pose *pose) {
  ln6 axis;
  ln v = lane_get(w->v, b->v);
  if (b->type == TABI_JOINT_PRISMATIC) {
    axis = (ln6){at->z, ln3_zero()};
    pose->rot = *at;
    if (b->depth > 0) pose->pos = ln3_axpy(pose->pos, lane_get(w->q, b->q), at->z);
  } else {
    axis = rotation_about(at->z, pose->pos);
    pose->rot = turned_z(w, at, b->q);
  }
  ln6 joint = ln6_scale(v, axis);
  ln6_save(axis, lane_at(w->axis, 6 * (int64_t)b->v));
  pose->vel = ln6_add(parent->vel, joint);
  pose->acc = ln6_add(parent->acc, ln6_cross(parent->vel, joint));
}

static void place_compound(tbi_lane_work *w, const tbi_plan_body *b, const ln33 *at,
                           lane_pose *pose, ln6 *axis) {
  const ln3 direction[3] = {at->x, at->y, at->z};
  bool rooted = b->depth == 0;
  int moves = b->type == TABI_JOINT_FREE ? 3 : b->type == TABI_JOINT_PLANAR ? 2 : 0;
  for (int i = 0; i < moves; ++i) {
    axis[i] = (ln6){direction[i], ln3_zero()};
    if (!rooted) pose->pos = ln3_axpy(pose->pos, lane_get(w->q, b->q + i), direction[i]);
  }
  if (b->type == TABI_JOINT_BALL) {
    pose->rot = turned_quat(w, at, b->q);
    axis[0] = rotation_about(pose->rot.x, pose->pos);
    axis[1] = rotation_about(pose->rot.y, pose->pos);
    axis[2] = rotation_about(pose->rot.z, pose->pos);
  } else if (b->type == TABI_JOINT_PLANAR) {
    pose->rot = turned_z(w, at, b->q + 2);
    axis[2] = rotation_about(at->z, pose->pos);
  } else {
    pose->rot = turned_quat(w, at, b->q + 3);
    for (int i = 0; i < 3; ++i)
      axis[3 + i] = rotation_about(direction[i], pose->pos);
  }
}

/* the same of a joint with several, as dynamics/twist.h */
static void move_compound(tbi_lane_work *w, const tbi_plan_body *b, const lane_pose *parent,
                          const ln33 *at, lane_pose *pose) {
  ln6 axis[6];
  ln6 moved = ln6_zero();
  ln6 joint = ln6_zero();
  int moves = b->type == TABI_JOINT_FREE ? 3 : b->type == TABI_JOINT_PLANAR ? 2 : 0;
  place_compound(w, b, at, pose, axis);
  for (int i = 0; i < b->nv; ++i) {
    ln6 part = ln6_scale(lane_get(w->v, b->v + i), axis[i]);
    joint = ln6_add(joint, part);
    if (i < moves) moved = ln6_add(moved, part);
    ln6_save(axis[i], lane_at(w->axis, 6 * ((int64_t)b->v + i)));
  }
  ln6 drift = ln6_add(ln6_cross(parent->vel, joint), ln6_cross(moved, ln6_sub(joint, moved)));
  pose->vel = ln6_add(parent->vel, joint);
  pose->acc = ln6_add(parent->acc, drift);
}

/* Mass, first moment and moment of inertia about the origin of the tree, world axes. */
typedef struct lane_inertia {
  ln m;
  ln3 h;
  ln xx, yy, zz, xy, xz, yz;
} lane_inertia;

LANE_INLINE lane_inertia inertia_load(const double *from) {
  return (lane_inertia){lane_get(from, 0), ln3_load(from + TBI_LANES), lane_get(from, 4),
                        lane_get(from, 5), lane_get(from, 6),          lane_get(from, 7),
                        lane_get(from, 8), lane_get(from, 9)};
}

LANE_INLINE void inertia_save(const lane_inertia *a, double *to) {
  lane_put(to, 0, a->m);
  ln3_save(a->h, to + TBI_LANES);
  lane_put(to, 4, a->xx);
  lane_put(to, 5, a->yy);
  lane_put(to, 6, a->zz);
  lane_put(to, 7, a->xy);
  lane_put(to, 8, a->xz);
  lane_put(to, 9, a->yz);
}

LANE_INLINE ln3 moment_mulv(const lane_inertia *a, ln3 w) {
  return (ln3){a->xx * w.x + a->xy * w.y + a->xz * w.z, a->xy * w.x + a->yy * w.y + a->yz * w.z,
               a->xz * w.x + a->yz * w.y + a->zz * w.z};
}

LANE_INLINE ln6 inertia_times(const lane_inertia *a, ln6 v) {
  return (ln6){ln3_axpy(ln3_cross(v.ang, a->h), a->m, v.lin),
               ln3_add(ln3_cross(a->h, v.lin), moment_mulv(a, v.ang))};
}

/* from the body's own axes (mass, com, moment about the com) */
LANE_INLINE lane_inertia world_inertia(const double *own, const lane_pose *pose) {
  const ln33 *r = &pose->rot;
  lane_inertia body = inertia_load(own);
  ln3 com = ln3_add(pose->pos, ln33_mulv(r, body.h));
  /* the columns of R J; then the products of its rows with those of R */
  ln3 tx = ln33_mulv(r, (ln3){body.xx, body.xy, body.xz});
  ln3 ty = ln33_mulv(r, (ln3){body.xy, body.yy, body.yz});
  ln3 tz = ln33_mulv(r, (ln3){body.xz, body.yz, body.zz});
  lane_inertia to = {.m = body.m, .h = ln3_scale(body.m, com)};
  ln x = to.h.x * com.x;
  ln y = to.h.y * com.y;
  ln z = to.h.z * com.z;
  to.xx = tx.x * r->x.x + ty.x * r->y.x + tz.x * r->z.x + (y + z);
  to.yy = tx.y * r->x.y + ty.y * r->y.y + tz.y * r->z.y + (x + z);
  to.zz = tx.z * r->x.z + ty.z * r->y.z + tz.z * r->z.z + (x + y);
  to.xy = tx.x * r->x.y + ty.x * r->y.y + tz.x * r->z.y - to.h.x * com.y;
  to.xz = tx.x * r->x.z + ty.x * r->y.z + tz.x * r->z.z - to.h.x * com.z;
  to.yz = tx.y * r->x.z + ty.y * r->y.z + tz.y * r->z.z - to.h.y * com.z;
  return to;
}

/* N and N m times s: what gravity and the motion itself do to a body, with the sign of an impulse
 */
LANE_INLINE void bias_impulse(tbi_lane_work *w, int32_t i, const lane_pose *pose) {
  lane_inertia mass = world_inertia(lane_at(w->inertia, 10 * (int64_t)i), pose);
  ln6 momentum = inertia_times(&mass, pose->vel);
  ln6 force = ln6_add(inertia_times(&mass, pose->acc), ln6_cross_force(pose->vel, momentum));
  inertia_save(&mass, lane_at(w->mass, 10 * (int64_t)i));
  ln6_save(ln6_scale(ln_splat(-w->plan->h), force), lane_at(w->force, 6 * (int64_t)i));
}

static void lane_find_sines(tbi_lane_work *w) {
  for (int32_t i = 0; i < w->plan->nbody; ++i) {
    const tbi_plan_body *body = &w->plan->body[i];
    bool turns =
        body->nv == 1 ? body->type != TABI_JOINT_PRISMATIC : body->type == TABI_JOINT_PLANAR;
    int32_t q = body->q + (body->nv == 1 ? 0 : 2);
    ln s;
    ln c;
    if (!turns) continue;
    ln_sincos(lane_get(w->q, q), &s, &c);
    lane_put(w->sine, q, s);
    lane_put(w->cosine, q, c);
  }
}

/* the world position of the first body of a tree */
static void lane_find_origin(tbi_lane_work *w, const tbi_plan_body *root) {
  ln3 moved = ln3_zero();
  ln q = lane_get(w->q, root->q);
  if (root->type == TABI_JOINT_PRISMATIC) moved.z = q;
  if (root->type == TABI_JOINT_PLANAR || root->type == TABI_JOINT_FREE) {
    moved.x = q;
    moved.y = lane_get(w->q, root->q + 1);
  }
  if (root->type == TABI_JOINT_FREE) moved.z = lane_get(w->q, root->q + 2);
  const ln33 axes = {ln3_splat(root->rot), ln3_splat(root->rot + 3), ln3_splat(root->rot + 6)};
  ln3 origin =
      ln3_add(ln3_splat(w->plan->origin + 3 * (ptrdiff_t)root->tree), ln33_mulv(&axes, moved));
  ln3_save(origin, lane_at(w->origin, 3 * (int64_t)root->tree));
}

static void lane_begin_stack(tbi_lane_work *w) {
  lane_pose world = {.vel = ln6_zero(), .acc = ln6_zero(), .pos = ln3_zero()};
  const double unit[3][3] = {
      {1, 0, 0},
      {0, 1, 0},
      {0, 0, 1}
  };
  world.rot = (ln33){ln3_splat(unit[0]), ln3_splat(unit[1]), ln3_splat(unit[2])};
  world.acc.lin = ln3_neg(ln3_load(w->gravity));
  pose_save(&world, w->stack);
}

/* the pose of body i, from that of its parent in the stack */
LANE_INLINE lane_pose move_body(tbi_lane_work *w, int32_t i) {
  const tbi_plan_body *b = &w->plan->body[i];
  lane_pose parent = pose_load(lane_at(w->stack, LANE_POSE * (int64_t)b->depth));
  lane_pose pose;
  ln33 at = joint_axes(b, &parent.rot);
  pose.pos = ln3_zero();
  if (b->depth > 0) pose.pos = ln3_add(parent.pos, ln33_mul_splat(&parent.rot, b->pos));
  if (b->nv == 1) {
    move_simple(w, b, &parent, &at, &pose);
  } else {
    move_compound(w, b, &parent, &at, &pose);
  }
  if (!b->leaf) pose_save(&pose, lane_at(w->stack, LANE_POSE * ((int64_t)b->depth + 1)));
  if (b->keeps_pose) pose_save(&pose, lane_at(w->kept, LANE_POSE * (int64_t)i));
  return pose;
}

/* -- inward: articulated factor, and the joint impulses of free motion */

/* Symmetric 6x6 in blocks and a wrench. */
typedef struct lane_articulated {
  ln a[6]; /* lin lin: xx yy zz xy xz yz */
  ln b[9]; /* ang from lin, row by row */
  ln c[6]; /* ang ang */
  ln6 f;
} lane_articulated;

enum { LANE_ARTICULATED = 27 };

LANE_INLINE lane_articulated articulated_load(const double *from) {
  lane_articulated x;
  for (int i = 0; i < 6; ++i)
    x.a[i] = lane_get(from, i);
  for (int i = 0; i < 9; ++i)
    x.b[i] = lane_get(from, 6 + i);
  for (int i = 0; i < 6; ++i)
    x.c[i] = lane_get(from, 15 + i);
  x.f = ln6_load(from + (ptrdiff_t)21 * TBI_LANES);
  return x;
}

LANE_INLINE void articulated_save(const lane_articulated *x, double *to) {
  for (int i = 0; i < 6; ++i)
    lane_put(to, i, x->a[i]);
  for (int i = 0; i < 9; ++i)
    lane_put(to, 6 + i, x->b[i]);
  for (int i = 0; i < 6; ++i)
    lane_put(to, 15 + i, x->c[i]);
  ln6_save(x->f, to + (ptrdiff_t)21 * TBI_LANES);
}

LANE_INLINE void articulated_add(lane_articulated *x, const lane_articulated *y) {
  for (int i = 0; i < 6; ++i)
    x->a[i] += y->a[i];
  for (int i = 0; i < 9; ++i)
    x->b[i] += y->b[i];
  for (int i = 0; i < 6; ++i)
    x->c[i] += y->c[i];
  x->f = ln6_add(x->f, y->f);
}

/* a rigid body alone */
LANE_INLINE lane_articulated articulate(const lane_inertia *m, ln6 force) {
  ln o = ln_zero();
  ln3 h = m->h;
  return (lane_articulated){
      .a = {m->m, m->m, m->m, o,   o, o     },
      .b = {o,    -h.z, h.y,  h.z, o, -h.x,   -h.y, h.x, o},
      .c = {m->xx, m->yy,    m->zz,        m->xy,       m->xz,   m->yz},
      .f = force,
  };
}

LANE_INLINE ln3 sym_mulv(const ln *s, ln3 v) {
  return (ln3){s[0] * v.x + s[3] * v.y + s[4] * v.z, s[3] * v.x + s[1] * v.y + s[5] * v.z,
               s[4] * v.x + s[5] * v.y + s[2] * v.z};
}

LANE_INLINE ln6 articulated_times(const lane_articulated *x, ln6 v) {
  const ln *b = x->b;
  ln3 bt = {b[0] * v.ang.x + b[3] * v.ang.y + b[6] * v.ang.z,
            b[1] * v.ang.x + b[4] * v.ang.y + b[7] * v.ang.z,
            b[2] * v.ang.x + b[5] * v.ang.y + b[8] * v.ang.z};
  ln3 bv = {b[0] * v.lin.x + b[1] * v.lin.y + b[2] * v.lin.z,
            b[3] * v.lin.x + b[4] * v.lin.y + b[5] * v.lin.z,
            b[6] * v.lin.x + b[7] * v.lin.y + b[8] * v.lin.z};
  return (ln6){ln3_add(sym_mulv(x->a, v.lin), bt), ln3_add(bv, sym_mulv(x->c, v.ang))};
}

LANE_INLINE void sym_less(ln *s, ln3 u) {
  s[0] -= u.x * u.x;
  s[1] -= u.y * u.y;
  s[2] -= u.z * u.z;
  s[3] -= u.x * u.y;
  s[4] -= u.x * u.z;
  s[5] -= u.y * u.z;
}

/* x - u u' */
LANE_INLINE void articulated_less(lane_articulated *x, ln6 u) {
  sym_less(x->a, u.lin);
  sym_less(x->c, u.ang);
  const ln row[3] = {u.ang.x, u.ang.y, u.ang.z};
  for (int i = 0; i < 3; ++i) {
    ln *b = x->b + (ptrdiff_t)3 * i;
    b[0] -= row[i] * u.lin.x;
    b[1] -= row[i] * u.lin.y;
    b[2] -= row[i] * u.lin.z;
  }
}

/* take one velocity out */
LANE_INLINE void eliminate(tbi_lane_work *w, int64_t k, lane_articulated *x) {
  ln6 axis = lane_axis(w, k);
  ln6 U = articulated_times(x, axis);
  ln root = ln_sqrt(1.0 / (ln6_dot(axis, U) + lane_get(w->diagonal, k)));
  if (w->plan->any_friction) root = ln_where(~ln_bits(lane_get(w->stick, k)), root);
  ln z = root * (lane_get(w->joint, k) + ln6_dot(axis, x->f));
  U = ln6_scale(root, U);
  ln6_save(U, lane_at(w->U, 6 * k));
  lane_put(w->root, k, root);
  lane_put(w->z, k, z);
  articulated_less(x, U);
  x->f = ln6_axpy(x->f, -z, U);
}

/* M = L'DL and z = D^-1/2 L^-T of all impulses but constraints, as dynamics/aba.c */
static void lane_factor(tbi_lane_work *w) {
  const tbi_plan *p = w->plan;
  for (int32_t i = p->nbody - 1; i >= 0; --i) {
    const tbi_plan_body *b = &p->body[i];
    lane_inertia mass = inertia_load(lane_at(w->mass, 10 * (int64_t)i));
    lane_articulated x = articulate(&mass, ln6_load(lane_at(w->force, 6 * (int64_t)i)));
    if (!b->leaf) {
      lane_articulated below =
          articulated_load(lane_at(w->gather, LANE_ARTICULATED * ((int64_t)b->depth + 1)));
      articulated_add(&x, &below);
    }
    for (int32_t k = b->v + b->nv - 1; k >= b->v; --k)
      eliminate(w, k, &x);
    if (b->depth == 0) continue;
    double *to = lane_at(w->gather, LANE_ARTICULATED * (int64_t)b->depth);
    if (!b->last_child) {
      lane_articulated beside = articulated_load(to);
      articulated_add(&x, &beside);
    }
    articulated_save(&x, to);
  }
}

LANE_INLINE void keep_gain(tbi_lane_work *w, int32_t i, ln6 a, lm todo) {
  double *to = lane_at(w->gain, 6 * (int64_t)i);
  ln6 before = ln6_load(to);
  ln6 kept = {ln3_select(todo, a.lin, before.lin), ln3_select(todo, a.ang, before.ang)};
  ln6_save(kept, to);
}

/* v+ = v + L^-1 D^-1/2 z, of the lanes in the mask */
static void lane_new_velocity(tbi_lane_work *w, lm todo) {
  const tbi_plan *p = w->plan;
  ln6_save(ln6_zero(), w->stack);
  for (int32_t i = 0; i < p->nbody; ++i) {
    const tbi_plan_body *b = &p->body[i];
    ln6 a = b->depth == 0 ? ln6_zero() : ln6_load(lane_at(w->stack, 6 * (int64_t)b->depth));
    for (int32_t k = b->v; k < b->v + b->nv; ++k) {
      ln x = lane_get(w->root, k) * (lane_get(w->z, k) - ln6_dot(lane_response(w, k), a));
      a = ln6_axpy(a, x, lane_axis(w, k));
      ln after = lane_get(w->v, k) + x + 0.0; /* a zero has no sign */
      lane_put(w->v_new, k, ln_select(todo, after, lane_get(w->v_new, k)));
    }
    if (!b->leaf) ln6_save(a, lane_at(w->stack, 6 * ((int64_t)b->depth + 1)));
    if (b->keeps_pose || p->any_friction) keep_gain(w, i, a, todo);
  }
}

#endif

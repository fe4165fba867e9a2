/* walker.c - see walker.h.
 *
 * The motion of a floating robot requires a force f and a moment n at the origin o of its floating
 * link, known from inverse dynamics, which the ground must provide.  At the ZMP
 *
 *   p_x = o_x - (n_y + o_z f_x) / f_z,   p_y = o_y + (n_x - o_z f_y) / f_z
 *
 * they have no moment about a horizontal axis (o_z is over the ground). */
#include "control/walker.h"

#include "base/assertion.h"
#include "base/error.h"
#include "dynamics/dynamics.h"
#include "math/trig.h"

#include <stdlib.h>
#include <string.h>

static const tabi_place nowhere = {NULL, 0};

tbi_frame tbi_frame_of_place(const tbi_foot_place *place) {
  double sine;
  double cosine;
  tbi_sincos(1, &place->yaw, &sine, &cosine);
  return (tbi_frame){tbi_yaw_axes(sine, cosine), place->pos};
}

/* -- the floating base */

static tabi_status find_base(tbi_walker *walker, const tabi_walk_def *def, tabi_error *err) {
  const tabi_model *model = walker->model;
  int32_t nlink = tabi_model_nlink(model);
  for (int i = 0; i < 3; ++i) {
    int32_t link = i < 2 ? def->foot[i] : def->waist;
    if (link >= 0 && link < nlink) continue;
    return tbi_error_set(err, TABI_ERR_ARGUMENT, nowhere,
                         "walk: link %d of %s is none of the model", (int)link,
                         i < 2 ? "a foot" : "the waist");
  }
  walker->body = tabi_model_link_body(model, def->waist);
  bool is_floating =
      walker->body != TABI_WORLD && model->body[walker->body].type == TABI_JOINT_FREE;
  if (!is_floating) {
    return tbi_error_set(err, TABI_ERR_ARGUMENT, nowhere,
                         "walk: waist '%.80s' does not float; load the robot with a free base",
                         tabi_model_link(model, def->waist).name);
  }
  walker->floating = model->body[walker->body].joint;
  const tabi_joint_def *joint = &model->joint[walker->floating];
  tbi_frame own = tbi_frame_load(joint->pos, joint->quat);
  walker->joint_frame = own;
  if (joint->parent != TABI_WORLD)
    walker->joint_frame = tbi_frame_mul(&model->link_home[joint->parent].frame, &own);
  tbi_frame back = tbi_frame_inverse(&model->link_home[def->waist].frame);
  walker->in_waist = tbi_frame_mul(&back, &model->link_home[joint->child].frame);
  return TABI_OK;
}

/* -- soles */

typedef struct extent {
  double low[3], high[3];
} extent;

/* Around one vertex, or a ball of some size. */
static void include(extent *around, v3 point, const double *reach) {
  const double at[3] = {point.x, point.y, point.z};
  for (int i = 0; i < 3; ++i) {
    around->low[i] = fmin(around->low[i], at[i] - reach[i]);
    around->high[i] = fmax(around->high[i], at[i] + reach[i]);
  }
}

/* Half the edges of the box around a shape that is not a mesh. */
static v3 half_box(const tabi_shape_def *shape) {
  double r = shape->size[0];
  switch (shape->type) {
  case TABI_SHAPE_SPHERE:
    return (v3){r, r, r};
  case TABI_SHAPE_CAPSULE:
    return (v3){r, r, shape->size[1] / 2 + r};
  case TABI_SHAPE_CYLINDER:
    return (v3){r, r, shape->size[1] / 2};
  case TABI_SHAPE_ELLIPSOID:
    return v3_load(shape->size);
  default:
    return v3_scale(0.5, v3_load(shape->size));
  }
}

static void include_shape(const tabi_model *model, const tabi_shape_def *shape,
                          const tbi_frame *place, extent *around) {
  const double none[3] = {0, 0, 0};
  if (shape->type == TABI_SHAPE_MESH) {
    tabi_mesh_def mesh = tabi_model_mesh(model, shape->mesh);
    for (size_t i = 0; i < (size_t)mesh.nvertex; ++i) {
      v3 vertex = v3_load(mesh.vertices + 3 * i);
      include(around, v3_add(place->pos, m3_mulv(&place->rot, vertex)), none);
    }
    return;
  }
  v3 half = half_box(shape);
  double reach[3];
  for (int i = 0; i < 3; ++i) {
    v3 row = m3_row(&place->rot, i);
    reach[i] = fabs(row.x) * half.x + fabs(row.y) * half.y + fabs(row.z) * half.z;
  }
  include(around, place->pos, reach);
}

/* The box around a foot's shapes, from its origin along the axes of the waist. */
static tabi_status measure_foot(const tabi_model *model, int32_t foot, const m3 *level,
                                extent *around, tabi_error *err) {
  const double far = HUGE_VAL;
  *around = (extent){
      {far,  far,  far },
      {-far, -far, -far}
  };
  tbi_frame turned = {*level, v3_zero()};
  for (int32_t i = 0; i < tabi_model_nshape(model); ++i) {
    tabi_shape_def shape = tabi_model_shape(model, i);
    if (shape.link != foot || !shape.collides) continue;
    tbi_frame own = tbi_frame_load(shape.pos, shape.quat);
    tbi_frame place = tbi_frame_mul(&turned, &own);
    include_shape(model, &shape, &place, around);
  }
  if (around->low[0] <= around->high[0]) return TABI_OK;
  return tbi_error_set(err, TABI_ERR_ARGUMENT, nowhere,
                       "walk: foot '%.80s' has no shape that could touch the ground",
                       tabi_model_link(model, foot).name);
}

/* The leg of a side and the sole under it, both as the posture has them. */
static tabi_status find_foot(tbi_walker *walker, const tabi_walk_def *def, int side,
                             const double *posture, v3 *sole, tabi_error *err) {
  const tabi_model *model = walker->model;
  tbi_leg *leg = &walker->leg[side];
  walker->link[side] = def->foot[side];
  tabi_status status = tbi_leg_find(model, def->waist, def->foot[side], posture, leg, err);
  if (status != TABI_OK) return status;
  double angle[TBI_LEG_JOINTS];
  for (int i = 0; i < TBI_LEG_JOINTS; ++i)
    angle[i] = posture[leg->q[i]];
  tbi_frame foot = tbi_leg_forward(leg, angle);
  extent around;
  status = measure_foot(model, def->foot[side], &foot.rot, &around, err);
  if (status != TABI_OK) return status;
  v3 middle = {(around.low[0] + around.high[0]) / 2, (around.low[1] + around.high[1]) / 2,
               around.low[2]};
  walker->foot[side] = (tbi_frame){foot.rot, v3_neg(middle)};
  walker->length = fmin(walker->length, around.high[0] - around.low[0]);
  walker->width = fmin(walker->width, around.high[1] - around.low[1]);
  *sole = v3_add(foot.pos, middle);
  return TABI_OK;
}

static tabi_status add_scratch(tbi_walker *walker, tabi_error *err) {
  size_t nv = (size_t)tabi_model_nv(walker->model);
  tabi_error why = {0};
  walker->v = NULL; /* a copy still has the original's */
  walker->dynamics = tabi_dynamics_create(walker->model, &why);
  if (!walker->dynamics) {
    if (err) *err = why;
    return why.status;
  }
  walker->v = calloc(9 * nv, sizeof *walker->v);
  if (!walker->v) return tbi_error_memory(err);
  walker->tau = walker->v + 2 * nv;
  walker->jacobian = walker->tau + nv;
  return TABI_OK;
}

void tbi_walker_mark_legs(const tbi_walker *walker, bool *moves) {
  for (int side = 0; side < 2; ++side) {
    for (int i = 0; i < TBI_LEG_JOINTS; ++i)
      moves[walker->leg[side].q[i]] = true;
  }
}

static tabi_status add_composites(tbi_walker *walker, const double *posture, tabi_error *err) {
  bool *moves = calloc((size_t)tabi_model_nq(walker->model) + 1, sizeof *moves);
  if (!moves) return tbi_error_memory(err);
  tbi_walker_mark_legs(walker, moves);
  tabi_status status =
      tbi_composites_make(&walker->composites, walker->dynamics, walker->body, posture, moves, err);
  free(moves);
  return status;
}

tabi_status tbi_walker_make(tbi_walker *walker, const tabi_model *model, const tabi_walk_def *def,
                            const double *posture, tabi_error *err) {
  *walker = (tbi_walker){
      .model = model,
      .length = HUGE_VAL,
      .width = HUGE_VAL,
      .ground = def->place[2],
      .waist_per_com = {1.2, 1.2}
  };
  tabi_status status = find_base(walker, def, err);
  v3 sole[2];
  for (int side = 0; side < 2 && status == TABI_OK; ++side)
    status = find_foot(walker, def, side, posture, &sole[side], err);
  if (status != TABI_OK) return status;
  walker->spacing = sole[0].y - sole[1].y;
  walker->waist_height = -(sole[0].z + sole[1].z) / 2;
  if (walker->spacing <= 0) {
    return tbi_error_set(err, TABI_ERR_ARGUMENT, nowhere,
                         "walk: the left foot is not to the left of the right one");
  }
  status = add_scratch(walker, err);
  if (status == TABI_OK) status = add_composites(walker, posture, err);
  return status;
}

tabi_status tbi_walker_copy(tbi_walker *walker, const tbi_walker *from, tabi_error *err) {
  *walker = *from;
  walker->composites = (tbi_composites){.count = 0};
  return add_scratch(walker, err);
}

void tbi_walker_free(tbi_walker *walker) {
  tabi_dynamics_destroy(walker->dynamics);
  free(walker->v);
  tbi_composites_free(&walker->composites);
  walker->dynamics = NULL;
  walker->v = NULL;
}

/* -- postures */

void tbi_walker_set_waist(const tbi_walker *walker, const tbi_frame *waist, double *q) {
  TBI_CHECK_SLOW(fabs(v3_norm(m3_column(&waist->rot, 0)) - 1) < 1e-6);
  tbi_frame floating = tbi_frame_mul(waist, &walker->in_waist);
  tbi_frame from_joint = tbi_frame_inverse(&walker->joint_frame);
  floating = tbi_frame_mul(&from_joint, &floating);
  double *base = q + walker->model->body[walker->body].q;
  v3_store(floating.pos, base);
  q_store(q_from_matrix(&floating.rot), base + 3);
}

bool tbi_walker_set_foot(const tbi_walker *walker, tabi_side side, const tbi_frame *waist,
                         const tbi_frame *sole, bool search, double *q) {
  TBI_ASSERT(side == TABI_LEFT || side == TABI_RIGHT);
  const tbi_leg *leg = &walker->leg[side];
  double angle[TBI_LEG_JOINTS];
  for (int i = 0; i < TBI_LEG_JOINTS; ++i)
    angle[i] = q[leg->q[i]];
  tbi_frame link = tbi_frame_mul(sole, &walker->foot[side]);
  tbi_frame goal = tbi_frame_relative(waist, &link);
  bool reached = search ? tbi_leg_search(leg, &goal, angle) : tbi_leg_solve(leg, &goal, angle);
  for (int i = 0; i < TBI_LEG_JOINTS; ++i)
    q[leg->q[i]] = angle[i];
  return reached;
}

double tbi_walker_mass(const tbi_walker *walker) {
  const tabi_model *model = walker->model;
  double mass = 0;
  for (int32_t i = 0; i < model->nbody; ++i) {
    if (model->body[i].tree == model->body[walker->body].tree) mass += model->body[i].mass;
  }
  return mass;
}

v3 tbi_walker_com(tbi_walker *walker, const double *q) {
  tabi_dynamics *d = walker->dynamics;
  const tabi_model *model = walker->model;
  memset(walker->v, 0, (size_t)tabi_model_nv(model) * sizeof *walker->v);
  tabi_dynamics_set_state(d, q, walker->v);
  int32_t tree = model->body[walker->body].tree;
  v3 moment = v3_zero();
  for (int32_t i = 0; i < model->nbody; ++i) {
    if (model->body[i].tree != tree) continue;
    moment = v3_add(moment, v4_to(d->body[i].inertia.h));
  }
  return v3_add(tbi_tree_origin(d, walker->body), v3_scale(1 / tbi_walker_mass(walker), moment));
}

/* -- motion */

/* Velocity and acceleration of one number in the middle of three, from its rates before and after.
 */
static void differentiate(const tbi_walker *walker, int32_t dof, double before, double after,
                          double period) {
  walker->v[dof] = 0.5 * (before + after);
  walker->v[walker->model->nv + dof] = (after - before) / period;
}

/* The velocity of the floating body that leads from one posture to another in a time. */
static void base_difference(const tbi_walker *walker, const double *from, const double *to,
                            double time, double v[6]) {
  TBI_ASSERT(time > 0);
  const tbi_body *body = &walker->model->body[walker->body];
  for (int32_t k = 0; k < 3; ++k)
    v[k] = (to[body->q + k] - from[body->q + k]) / time;
  q4 back = q_load(from + body->q + 3);
  q4 turn = q_mul(q_load(to + body->q + 3), (q4){back.w, -back.x, -back.y, -back.z});
  /* 2 sin(angle / 2) for the angle: a period is short */
  double sign = turn.w < 0 ? -2 : 2;
  v3_store(v3_scale(sign / time, (v3){turn.x, turn.y, turn.z}), v + 3);
}

static void move_base(const tbi_walker *walker, const double *before, const double *now,
                      const double *after, double period) {
  double first[6];
  double second[6];
  base_difference(walker, before, now, period, first);
  base_difference(walker, now, after, period, second);
  for (int32_t k = 0; k < 6; ++k)
    differentiate(walker, walker->model->body[walker->body].v + k, first[k], second[k], period);
}

static void move_joint(const tbi_walker *walker, int32_t q, int32_t v, const double *const three[3],
                       double period) {
  double first = (three[1][q] - three[0][q]) / period;
  double second = (three[2][q] - three[1][q]) / period;
  differentiate(walker, v, first, second, period);
}

/* Force and moment at the floating link, in the world. */
static void base_wrench(const tbi_walker *walker, v3 *force, v3 *moment) {
  const double *tau = walker->tau + walker->model->body[walker->body].v;
  *force = m3_mulv(&walker->joint_frame.rot, v3_load(tau));
  *moment = m3_mulv(&walker->joint_frame.rot, v3_load(tau + 3));
}

static v3 base_origin(const tbi_walker *walker) {
  double pos[3];
  double quat[4];
  int32_t child = tabi_model_joint(walker->model, walker->floating).child;
  tabi_dynamics_link_pose(walker->dynamics, child, pos, quat);
  return v3_load(pos);
}

/* The ZMP of a force and moment at the floating link. */
static v3 zmp_of_wrench(const tbi_walker *walker, v3 origin, v3 f, v3 n) {
  double height = origin.z - walker->ground;
  return (v3){origin.x - (n.y + height * f.x) / f.z, origin.y + (n.x - height * f.y) / f.z,
              walker->ground};
}

v3 tbi_walker_zmp(tbi_walker *walker, const double *before, const double *now, const double *after,
                  double period) {
  TBI_ASSERT(period > 0);
  const tabi_model *model = walker->model;
  const double *const three[3] = {before, now, after};
  int32_t tree = model->body[walker->body].tree;
  memset(walker->v, 0, 2 * (size_t)model->nv * sizeof *walker->v);
  for (int32_t i = 0; i < model->nbody; ++i) {
    const tbi_body *body = &model->body[i];
    if (body->tree == tree && body->nv == 1) move_joint(walker, body->q, body->v, three, period);
  }
  move_base(walker, before, now, after, period);
  tabi_dynamics_set_state(walker->dynamics, now, walker->v);
  tabi_dynamics_inverse(walker->dynamics, walker->v + walker->model->nv, walker->tau);
  v3 f;
  v3 n;
  base_wrench(walker, &f, &n);
  return zmp_of_wrench(walker, base_origin(walker), f, n);
}

v3 tbi_walker_composite_zmp(tbi_walker *walker, const double *before, const double *now,
                            const double *after, double period) {
  TBI_ASSERT(period > 0 && walker->composites.count > 0);
  const double *const three[3] = {before, now, after};
  for (int32_t i = 1; i < walker->composites.count; ++i)
    move_joint(walker, walker->composites.composite[i].q, walker->composites.composite[i].v, three,
               period);
  move_base(walker, before, now, after, period);
  double gravity[3];
  tabi_model_gravity(walker->model, gravity);
  v3 f;
  v3 n;
  (void)tbi_composites_com(&walker->composites, now);
  tbi_composites_wrench(&walker->composites, walker->v, walker->v + walker->model->nv,
                        v3_load(gravity), &f, &n);
  return zmp_of_wrench(walker, walker->composites.origin, f, n);
}

/* Subtracts J' times a force at a point and a moment on a foot from the joint forces. */
static void subtract_foot_wrench(tbi_walker *walker, int side, v3 point, v3 force, v3 moment) {
  size_t nv = (size_t)tabi_model_nv(walker->model);
  const double push[6] = {force.x, force.y, force.z, moment.x, moment.y, moment.z};
  double at[3];
  v3_store(point, at);
  tabi_dynamics_point_jacobian(walker->dynamics, walker->link[side], at, walker->jacobian);
  tabi_dynamics_angular_jacobian(walker->dynamics, walker->link[side], walker->jacobian + 3 * nv);
  for (size_t i = 0; i < 6; ++i) {
    for (size_t k = 0; k < nv; ++k)
      walker->tau[k] -= walker->jacobian[i * nv + k] * push[i];
  }
}

void tbi_walker_add_ground_forces(tbi_walker *walker, const tbi_foot_place *foot, double left_share,
                                  v3 zmp) {
  TBI_ASSERT(left_share >= 0 && left_share <= 1);
  v3 f;
  v3 n;
  base_wrench(walker, &f, &n);
  v3 twist = v3_add(n, v3_cross(v3_sub(base_origin(walker), zmp), f));
  const double share[2] = {left_share, 1 - left_share};
  v3 middle = v3_axpy(v3_scale(share[0], foot[0].pos), share[1], foot[1].pos);
  v3 off = {zmp.x - middle.x, zmp.y - middle.y, 0};
  for (int side = 0; side < 2; ++side) {
    if (share[side] <= 0) continue;
    v3 point = {foot[side].pos.x + off.x, foot[side].pos.y + off.y, walker->ground};
    subtract_foot_wrench(walker, side, point, v3_scale(share[side], f),
                         v3_scale(share[side], twist));
  }
}

/* neutral_export.c - the bodies of a model are its links with those behind fixed joints merged,
 * their frames such that joints turn about z: as neutral scenes require. */
#include "neutral_export.h"

#include "model/model.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Which link a body's pose is asked by: the one its joint moves. */
static int32_t main_link(const tabi_model *model, int32_t body) {
  return model->joint[model->body[body].joint].child;
}

static tbi_frame body_frame(const tabi_model *model, const tabi_dynamics *dynamics, int32_t body) {
  int32_t link = main_link(model, body);
  double pos[3], quat[4];
  tabi_dynamics_link_pose(dynamics, link, pos, quat);
  tbi_frame at = tbi_frame_load(pos, quat), home = model->link_home[link].frame;
  m3 back = m3_transpose(&home.rot);
  m3 rot = m3_mul(&at.rot, &back);
  return (tbi_frame){rot, v3_sub(at.pos, m3_mulv(&rot, home.pos))};
}

/* The velocity of a point of a body, and how it turns, world axes. */
static v3 point_velocity(const tabi_model *model, const tabi_dynamics *dynamics, int32_t body,
                         v3 point, v3 *turn) {
  int32_t link = main_link(model, body);
  double pos[3], quat[4], lin[3], ang[3];
  tabi_dynamics_link_pose(dynamics, link, pos, quat);
  tabi_dynamics_link_velocity(dynamics, link, lin, ang);
  *turn = v3_load(ang);
  return v3_add(v3_load(lin), v3_cross(*turn, v3_sub(point, v3_load(pos))));
}

void tbi_neutral_states(const tabi_model *model, const tabi_dynamics *dynamics,
                        tbi_neutral_state *state) {
  for (int32_t i = 0; i < model->nbody; ++i) {
    tbi_frame frame = body_frame(model, dynamics, i);
    v3 turn, com = v3_add(frame.pos, m3_mulv(&frame.rot, model->body[i].com));
    v3_store(com, state[i].com);
    q_store(q_from_matrix(&frame.rot), state[i].quat);
    v3_store(point_velocity(model, dynamics, i, com, &turn), state[i].linear);
    v3_store(turn, state[i].angular);
  }
}

static const char *fill_joint(tbi_neutral_body *to, const tabi_model *model, int32_t body,
                              const tabi_servo *servo) {
  const tbi_body *b = &model->body[body];
  const tabi_joint_def *joint = &model->joint[b->joint];
  switch (b->type) {
  case TABI_JOINT_FREE:
    to->joint = TBI_NEUTRAL_FREE;
    to->lower = -HUGE_VAL;
    to->upper = HUGE_VAL;
    return b->parent == TABI_WORLD ? NULL : "a free joint under another link";
  case TABI_JOINT_REVOLUTE:
  case TABI_JOINT_CONTINUOUS:
    to->joint = TBI_NEUTRAL_HINGE;
    break;
  case TABI_JOINT_PRISMATIC:
    to->joint = TBI_NEUTRAL_SLIDE;
    break;
  default:
    return "a ball or planar joint";
  }
  to->armature = model->dof_rotor[b->v];
  to->damping = joint->damping;
  to->dry = joint->friction;
  to->lower = model->dof_lower[b->v];
  to->upper = model->dof_upper[b->v];
  if (servo) {
    to->kp = servo[b->joint].kp;
    to->kd = servo[b->joint].kd;
    to->target = servo[b->joint].target;
  }
  return joint->stiffness > 0 ? "springs in joints" : NULL;
}

static void fill_start(tbi_neutral_body *to, const tabi_model *model, const tabi_dynamics *dynamics,
                       int32_t body) {
  tbi_frame frame = body_frame(model, dynamics, body);
  v3 turn, velocity = point_velocity(model, dynamics, body, frame.pos, &turn);
  v3_store(frame.pos, to->start_pos);
  q_store(q_from_matrix(&frame.rot), to->start_quat);
  v3_store(velocity, to->start_linear);
  v3_store(turn, to->start_angular);
}

static void fill_body(tbi_neutral_body *to, const tabi_model *model, int32_t body) {
  const tbi_body *b = &model->body[body];
  v3 place = b->parent == TABI_WORLD ? model->tree_place[b->tree] : b->place.pos;
  to->parent = b->parent;
  to->link = main_link(model, body);
  v3_store(place, to->pos);
  q_store(q_from_matrix(&b->place.rot), to->quat);
  to->mass = b->mass;
  v3_store(b->com, to->com);
  s3_store(b->inertia, to->inertia);
}

static const char *fill_shape(tbi_neutral_scene *neutral, const tabi_model *model, int32_t index) {
  static const int32_t kinds[TABI_SHAPE_COUNT] = {[TABI_SHAPE_PLANE] = TBI_NEUTRAL_PLANE,
                                                  [TABI_SHAPE_SPHERE] = TBI_NEUTRAL_SPHERE,
                                                  [TABI_SHAPE_CAPSULE] = TBI_NEUTRAL_CAPSULE,
                                                  [TABI_SHAPE_BOX] = TBI_NEUTRAL_BOX,
                                                  [TABI_SHAPE_CYLINDER] = TBI_NEUTRAL_CYLINDER,
                                                  [TABI_SHAPE_MESH] = TABI_NONE,
                                                  [TABI_SHAPE_TRIANGLES] = TABI_NONE,
                                                  [TABI_SHAPE_HEIGHTFIELD] = TABI_NONE,
                                                  [TABI_SHAPE_ELLIPSOID] = TABI_NONE};
  const tabi_shape_def *shape = &model->shape[index];
  if (!shape->collides) return NULL;
  if (kinds[shape->type] == TABI_NONE) return "ellipsoids and shapes made of a mesh";
  tabi_material_def material = tabi_material_def_default();
  if (shape->material != TABI_NONE) material = model->material[shape->material];
  tbi_neutral_shape *to = &neutral->shape[neutral->nshape++];
  *to = (tbi_neutral_shape){.body = TABI_WORLD,
                            .kind = kinds[shape->type],
                            .friction = material.friction,
                            .restitution = material.restitution,
                            .group = shape->group,
                            .mask = shape->mask};
  tbi_frame at = tbi_frame_load(shape->pos, shape->quat);
  if (shape->link != TABI_WORLD) {
    const tbi_link_home *home = &model->link_home[shape->link];
    at = tbi_frame_mul(&home->frame, &at);
    to->body = home->body;
  }
  v3_store(at.pos, to->pos);
  q_store(q_from_matrix(&at.rot), to->quat);
  v3_store(v3_load(shape->size), to->size);
  return NULL;
}

static void fill_exclusions(tbi_neutral_scene *neutral, const tabi_model *model) {
  for (int32_t i = 0; i < model->nexclusion2 / 2; ++i) {
    const int32_t *link = model->exclusion + 2 * (size_t)i;
    int32_t a = model->link_home[link[0]].body, b = model->link_home[link[1]].body;
    if (a == TABI_WORLD || b == TABI_WORLD) continue;
    neutral->exclusion[neutral->nexclusion][0] = a;
    neutral->exclusion[neutral->nexclusion++][1] = b;
  }
}

/* One end of a connection: its body, and its point there. */
static int32_t fill_end(const tabi_model *model, int32_t link, const double pos[3],
                        double point[3]) {
  memcpy(point, pos, 3 * sizeof(double));
  if (link == TABI_WORLD) return TABI_WORLD;
  const tbi_link_home *home = &model->link_home[link];
  v3_store(v3_add(home->frame.pos, m3_mulv(&home->frame.rot, v3_load(pos))), point);
  return home->body;
}

static const char *fill_ties(tbi_neutral_scene *neutral, const tabi_model *model) {
  for (int32_t i = 0; i < model->nconnection; ++i) {
    const tabi_connection_def *c = &model->connection[i];
    tbi_neutral_connection *to = &neutral->connection[neutral->nconnection++];
    if (c->type != TABI_CONNECTION_BALL) return "connections that are not balls";
    to->body[0] = fill_end(model, c->a, c->pos_a, to->pos[0]);
    to->body[1] = fill_end(model, c->b, c->pos_b, to->pos[1]);
    if (to->body[0] == TABI_WORLD) return "a connection that starts in the world";
  }
  return NULL;
}

const char *tbi_neutral_scene_from_model(tbi_neutral_scene *neutral, const tabi_model *model,
                                         tabi_dynamics *dynamics, const double *q, const double *v,
                                         const tabi_servo *servo) {
  *neutral = (tbi_neutral_scene){.nbody = model->nbody, .timestep = model->timestep};
  neutral->body = calloc((size_t)model->nbody + 1, sizeof *neutral->body);
  neutral->shape = calloc((size_t)model->nshape + 1, sizeof *neutral->shape);
  neutral->exclusion = calloc((size_t)model->nexclusion2 / 2 + 1, sizeof *neutral->exclusion);
  neutral->connection = calloc((size_t)model->nconnection + 1, sizeof *neutral->connection);
  if (!neutral->body || !neutral->shape || !neutral->exclusion || !neutral->connection)
    return "too many bodies for the memory";
  if (model->ncoupling > 0) return "couplings";
  v3_store(v3_load(model->gravity), neutral->gravity);
  tabi_dynamics_set_state(dynamics, q, v);
  const char *trouble = NULL;
  for (int32_t i = 0; i < model->nbody && !trouble; ++i) {
    tbi_neutral_body *to = &neutral->body[i];
    const tbi_body *b = &model->body[i];
    fill_body(to, model, i);
    fill_start(to, model, dynamics, i);
    trouble = fill_joint(to, model, i, servo);
    if (b->type == TABI_JOINT_FREE) continue;
    to->q = q[b->q];
    to->v = v[b->v];
  }
  for (int32_t i = 0; i < model->nshape && !trouble; ++i)
    trouble = fill_shape(neutral, model, i);
  fill_exclusions(neutral, model);
  return trouble ? trouble : fill_ties(neutral, model);
}

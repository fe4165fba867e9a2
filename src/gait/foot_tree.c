/* foot_tree.c - the robot as a tree that starts at one of its feet (P3, the tree of its model).
 *
 * A joint that is passed from child to parent is reversed: where  P -> T -> turn(axis, q) -> C
 * took the parent's frame to the child's, C -> turn(-axis, q) -> T^-1 -> P  takes it back.  The
 * coordinate keeps its value.  A link of the tree has its frame where its new joint is; `at` is the
 * robot's own frame of the link in that frame. */
#include "base/assertion.h"
#include "base/error.h"
#include "gait/gait.h"

#include <stdlib.h>
#include <string.h>

/* What the traversal of the robot needs. */
typedef struct maker {
  const tabi_model *model;
  tabi_builder *builder;
  tbi_foot_tree *tree;
  int32_t *joint; /* for each joint of the robot: that of the tree, or TABI_NONE */
} maker;

/* a link whose frame is that of its new joint */
static int32_t add_link(const maker *m, int32_t link, const tbi_frame *at) {
  const tabi_link_def *old = &m->model->link[link];
  tabi_link_def def = *old;
  v3_store(v3_add(at->pos, m3_mulv(&at->rot, v3_load(old->com))), def.com);
  s3_store(s3_rotate(&at->rot, s3_load(old->inertia)), def.inertia);
  m->tree->at[link] = *at;
  m->tree->link[link] = tabi_builder_add_link(m->builder, &def);
  return m->tree->link[link];
}

static tabi_joint_def joint_at(tabi_joint_type type, int32_t parent, int32_t child,
                               const tbi_frame *frame, v3 axis) {
  tabi_joint_def def = tabi_joint_def_default();
  def.type = type == TABI_JOINT_REVOLUTE ? TABI_JOINT_CONTINUOUS : type;
  def.parent = parent;
  def.child = child;
  v3_store(frame->pos, def.pos);
  q_store(q_from_matrix(&frame->rot), def.quat);
  v3_store(axis, def.axis);
  return def;
}

/* the link on the far side of a joint of the robot */
static void pass_joint(const maker *m, int32_t joint) {
  TBI_ASSERT((m->tree->link[m->model->joint[joint].parent] == TABI_NONE) !=
             (m->tree->link[m->model->joint[joint].child] == TABI_NONE));
  const tabi_joint_def *old = &m->model->joint[joint];
  tbi_frame own = tbi_frame_load(old->pos, old->quat);
  bool back = m->tree->link[old->child] != TABI_NONE;
  int32_t from = back ? old->child : old->parent;
  int32_t to = back ? old->parent : old->child;
  tbi_frame at = back ? tbi_frame_inverse(&own) : tbi_frame_identity();
  tbi_frame place = m->tree->at[from];
  if (!back) place = tbi_frame_mul(&m->tree->at[from], &own);
  v3 axis = v3_load(old->axis);
  int32_t child = add_link(m, to, &at);
  tabi_joint_def def =
      joint_at(old->type, m->tree->link[from], child, &place, back ? v3_neg(axis) : axis);
  def.rotor_inertia = old->rotor_inertia;
  def.gear = old->gear;
  def.name = old->name;
  m->joint[joint] = tabi_builder_add_joint(m->builder, &def);
}

/* Passes a joint that leads from a link of the tree to one that is not; false: there is none. */
static bool grow(const maker *m) {
  const tabi_model *model = m->model;
  for (int32_t j = 0; j < model->njoint; ++j) {
    const tabi_joint_def *joint = &model->joint[j];
    if (m->joint[j] != TABI_NONE || joint->type == TABI_JOINT_PLANAR) continue;
    if (joint->parent == TABI_WORLD) continue;
    bool above = m->tree->link[joint->parent] != TABI_NONE;
    bool below = m->tree->link[joint->child] != TABI_NONE;
    if (above == below) continue;
    pass_joint(m, j);
    return true;
  }
  return false;
}

/* The foot's link in a frame at its heel, with x along the sole and the y axis of the world.  All
 * joints turn about that, so that it is constant in the link. */
static tbi_frame level(const tabi_gait_foot *foot, const tbi_frame *frame, double *length) {
  TBI_ASSERT(frame && length);
  v3 heel = v3_load(foot->heel);
  v3 across = m3_tmulv(&frame->rot, v3_make(0, 1, 0));
  v3 along = v3_sub(v3_load(foot->toe), heel);
  *length = v3_norm(along);
  along = v3_scale(1 / *length, along);
  v3 up = v3_cross(along, across);
  tbi_frame at = {
      {{{along.x, along.y, along.z}, {across.x, across.y, across.z}, {up.x, up.y, up.z}}},
      v3_zero(),
  };
  at.pos = v3_neg(m3_mulv(&at.rot, heel));
  return at;
}

/* the four joints between the ground and the sole, and the foot at their end */
static void add_ground(const maker *m, const tabi_gait_foot *foot, const tbi_frame *frame) {
  tbi_frame at = level(foot, frame, &m->tree->sole);
  const v3 axis[TBI_GROUND_JOINTS] = {v3_make(1, 0, 0), v3_make(0, 0, 1), v3_make(0, -1, 0),
                                      v3_make(0, -1, 0)};
  int32_t parent = TABI_WORLD;
  for (int i = 0; i < TBI_GROUND_JOINTS; ++i) {
    tbi_frame place = tbi_frame_identity();
    tabi_link_def empty = tabi_link_def_default();
    /* the robot stays in its plane */
    if (i == TBI_ALONG_X)
      place.pos.y = v3_add(frame->pos, m3_mulv(&frame->rot, v3_load(foot->heel))).y;
    if (i == TBI_ABOUT_HEEL) place.pos.x = -m->tree->sole;
    int32_t child = i == TBI_ABOUT_HEEL ? add_link(m, foot->link, &at)
                                        : tabi_builder_add_link(m->builder, &empty);
    tabi_joint_type type = i <= TBI_ALONG_Z ? TABI_JOINT_PRISMATIC : TABI_JOINT_CONTINUOUS;
    tabi_joint_def def = joint_at(type, parent, child, &place, axis[i]);
    tabi_builder_add_joint(m->builder, &def);
    parent = child;
  }
}

/* Maps the robot's velocities to those of the tree. */
static void match_velocities(const maker *m) {
  const tabi_model *model = m->model;
  const tabi_model *made = m->tree->model;
  for (int32_t k = 0; k < model->nv; ++k)
    m->tree->dof[k] = TABI_NONE;
  for (int32_t j = 0; j < model->njoint; ++j) {
    if (m->joint[j] == TABI_NONE || model->joint_body[j] == TABI_NONE) continue;
    int32_t body = made->joint_body[m->joint[j]];
    m->tree->dof[model->body[model->joint_body[j]].v] = made->body[body].v;
  }
}

static bool make(maker *m, const tabi_gait_foot *foot, const tbi_frame *frame, tabi_error *err) {
  m->builder = tabi_builder_create();
  m->joint = malloc(sizeof *m->joint * (size_t)(m->model->njoint + 1));
  if (!m->builder || !m->joint) {
    (void)tbi_error_memory(err);
    return false;
  }
  for (int32_t j = 0; j < m->model->njoint; ++j)
    m->joint[j] = TABI_NONE;
  add_ground(m, foot, frame);
  while (!tabi_builder_error(m->builder) && grow(m)) {
  }
  m->tree->model = tabi_builder_build(m->builder, err);
  if (m->tree->model) match_velocities(m);
  return m->tree->model != NULL;
}

bool tbi_foot_tree_create(tbi_foot_tree *tree, const tabi_model *model, const tabi_gait_foot *foot,
                          const tbi_frame *frame, tabi_error *err) {
  for (int32_t i = 0; i < model->nlink; ++i)
    tree->link[i] = TABI_NONE;
  maker m = {.model = model, .tree = tree};
  bool good = make(&m, foot, frame, err);
  tabi_builder_destroy(m.builder);
  free(m.joint);
  return good;
}

void tbi_foot_tree_destroy(tbi_foot_tree *tree) { tabi_model_destroy(tree->model); }

tbi_gait_point tbi_foot_tree_point(const tbi_foot_tree *tree, int32_t link, const double *pos) {
  TBI_ASSERT(tree->link[link] != TABI_NONE);
  const tbi_frame *at = &tree->at[link];
  return (tbi_gait_point){tree->link[link], v3_add(at->pos, m3_mulv(&at->rot, v3_load(pos)))};
}

/* tendons.c - tendons: what a builder takes, and what a model makes of it.
 *
 * The length of a tendon depends on the joints that it lists and, for each straight piece between
 * two points, on all joints between their links; those of an obstacle between them, too.  Joints
 * that carry both links move the piece as a whole.  A model lists these velocities once: moment
 * arms are numbers beside them. */
#include "model/tendons.h"

#include "base/assertion.h"
#include "model/limits.h"

#include <math.h>
#include <string.h>

/* -- builder */

static const char *obstacle_complaint(const tabi_builder *builder, const tabi_tendon_def *def,
                                      int32_t index) {
  const tabi_tendon_point *point = &def->points[index];
  if (point->wrap < TABI_WRAP_NONE || point->wrap >= TABI_WRAP_COUNT) return "no such wrap";
  if (point->wrap == TABI_WRAP_NONE) return NULL;
  bool between = index > 0 && index + 1 < def->npoint && point[-1].wrap == TABI_WRAP_NONE &&
                 point[1].wrap == TABI_WRAP_NONE && point[-1].share > 0 && point->share > 0;
  if (!between) return "an obstacle must be between two points of one branch";
  if (!(point->radius > 0 && isfinite(point->radius))) return "a radius must be > 0";
  if (point->wrap == TABI_WRAP_CYLINDER &&
      (!tbi_all_finite(point->axis, 3) || !(v3_norm(v3_load(point->axis)) > 1e-12)))
    return "an axis is zero";
  if (!point->sided) return NULL;
  if (!tbi_builder_is_link_or_world(builder, point->side_link)) return "no such link";
  return tbi_all_finite(point->side, 3) ? NULL : "a point is not finite";
}

static const char *list_complaint(const tabi_builder *builder, const tabi_tendon_def *def) {
  if (def->njoint < 0 || def->npoint < 0) return "impossible number of joints or points";
  if ((def->njoint > 0 && !def->joints) || (def->npoint > 0 && !def->points))
    return "joints or points is NULL";
  for (int32_t i = 0; i < def->njoint; ++i) {
    int32_t joint = def->joints[i].joint;
    if (!tbi_builder_is_joint(builder, joint) ||
        tbi_joint_nq(tbi_builder_joint(builder, joint)->type) != 1)
      return "needs joints with one coordinate";
    if (!isfinite(def->joints[i].coef)) return "coefficients must be finite";
  }
  for (int32_t i = 0; i < def->npoint; ++i) {
    const tabi_tendon_point *point = &def->points[i];
    if (!tbi_builder_is_link_or_world(builder, point->link)) return "no such link";
    if (!tbi_all_finite(point->pos, 3)) return "a point is not finite";
    if (!(point->share >= 0 && isfinite(point->share))) return "a share must be >= 0";
    const char *wrong = obstacle_complaint(builder, def, i);
    if (wrong) return wrong;
  }
  return NULL;
}

static const char *law_complaint(const tabi_tendon_def *def) {
  const double positive[] = {def->stiffness, def->damping, def->friction, def->inertia};
  for (size_t i = 0; i < sizeof positive / sizeof *positive; ++i)
    if (!(positive[i] >= 0 && isfinite(positive[i])))
      return "stiffness, damping, friction and inertia must be >= 0";
  if (!(def->lower <= def->upper)) return "its limits are swapped";
  if (!isfinite(def->rest_lower) || !(def->rest_lower <= def->rest_upper) ||
      !isfinite(def->rest_upper))
    return "its rest lengths are swapped or not finite";
  return NULL;
}

static bool keep_parts(tabi_builder *builder, const tabi_tendon_def *def) {
  for (int32_t i = 0; i < def->njoint; ++i)
    if (tbi_builder_append(builder, &builder->tendon_joints, &def->joints[i],
                           sizeof *def->joints) == TABI_NONE)
      return false;
  for (int32_t i = 0; i < def->npoint; ++i)
    if (tbi_builder_append(builder, &builder->tendon_points, &def->points[i],
                           sizeof *def->points) == TABI_NONE)
      return false;
  return true;
}

int32_t tabi_builder_add_tendon(tabi_builder *builder, const tabi_tendon_def *def) {
  if (!tbi_builder_begin(builder, def, sizeof *def, "tendon")) return TABI_NONE;
  tabi_tendon_def kept = *def;
  const char *wrong = list_complaint(builder, def);
  if (!wrong) wrong = law_complaint(def);
  if (wrong) {
    tbi_builder_fail(builder, TABI_ERR_MODEL, def->place, "tendon '%s': %s", tbi_shown(def->name),
                     wrong);
    return TABI_NONE;
  }
  if (!tbi_tendon_within(builder, &kept) || !keep_parts(builder, def) ||
      !tbi_builder_keep(builder, &kept.name, &kept.place))
    return TABI_NONE;
  /* the lists are the builder's, one tendon after another */
  kept.joints = NULL;
  kept.points = NULL;
  return tbi_builder_append(builder, &builder->tendons, &kept, sizeof kept);
}

/* -- model */

void tbi_count_tendons(const tabi_builder *builder, const int32_t *link_depth, tabi_model *model) {
  const tabi_tendon_def *tendon = builder->tendons.items;
  const tabi_tendon_point *point = builder->tendon_points.items;
  model->ntendon = builder->tendons.count;
  model->ntendon1 = model->ntendon + 1;
  model->ntendon_joint = builder->tendon_joints.count;
  model->ntendon_point = builder->tendon_points.count;
  for (int32_t i = 0; i < model->ntendon; ++i) {
    int64_t dofs = tendon[i].njoint;
    for (int32_t k = 0; k < tendon[i].npoint; ++k, ++point)
      dofs += point->link == TABI_WORLD ? 0 : link_depth[point->link];
    model->ntendon_dof += dofs < model->nv ? dofs : model->nv;
  }
}

/* into the ascending list of the tendon that is being filled, once */
static void add_dof(tabi_model *model, int32_t tendon, int32_t dof) {
  int32_t first = model->tendon_first[tendon];
  int32_t *end = &model->tendon_first[tendon + 1];
  int32_t at = *end;
  while (at > first && model->tendon_dof[at - 1] > dof)
    --at;
  if (at > first && model->tendon_dof[at - 1] == dof) return;
  for (int32_t k = (*end)++; k > at; --k)
    model->tendon_dof[k] = model->tendon_dof[k - 1];
  model->tendon_dof[at] = dof;
}

static int32_t last_dof(const tabi_model *model, int32_t link) {
  int32_t body = link == TABI_WORLD ? TABI_WORLD : model->link_home[link].body;
  return body == TABI_WORLD ? TABI_NONE : model->body[body].v + model->body[body].nv - 1;
}

/* all between two links, without what carries both */
static void add_between(tabi_model *model, int32_t tendon, int32_t link_a, int32_t link_b) {
  int32_t a = last_dof(model, link_a);
  int32_t b = last_dof(model, link_b);
  while (a != b) {
    int32_t *farther = a > b ? &a : &b;
    add_dof(model, tendon, *farther);
    *farther = model->dof_parent[*farther];
  }
}

static void find_dofs(tabi_model *model, int32_t index) {
  const tabi_tendon_def *def = &model->tendon[index];
  model->tendon_first[index + 1] = model->tendon_first[index];
  for (int32_t i = 0; i < def->njoint; ++i) {
    int32_t body = model->joint_body[def->joints[i].joint];
    if (body != TABI_NONE) add_dof(model, index, model->body[body].v);
  }
  for (int32_t i = 0; i + 1 < def->npoint; ++i)
    if (def->points[i].share > 0)
      add_between(model, index, def->points[i].link, def->points[i + 1].link);
}

/* Whether it asks for a loop constraint of its own: what acts along it depends on the velocity at
 * the end of a step. */
static bool has_loop(const tabi_model *model, int32_t index) {
  const tabi_tendon_def *def = &model->tendon[index];
  if (def->stiffness > 0 || def->damping > 0 || def->friction > 0 || def->inertia > 0) return true;
  if (isfinite(def->lower) || isfinite(def->upper)) return true;
  for (int32_t a = 0; a < model->nactuator; ++a) {
    const tabi_actuator_def *actuator = &model->actuator[a];
    if (actuator->tendon == index && (actuator->bias[1] != 0 || actuator->bias[2] != 0))
      return true;
  }
  return false;
}

void tbi_fill_tendons(const tabi_builder *builder, tabi_model *model) {
  if (model->ntendon == 0) return;
  size_t njoint = (size_t)model->ntendon_joint;
  size_t npoint = (size_t)model->ntendon_point;
  memcpy(model->tendon, builder->tendons.items, sizeof *model->tendon * (size_t)model->ntendon);
  if (njoint > 0)
    memcpy(model->tendon_joint, builder->tendon_joints.items, njoint * sizeof *model->tendon_joint);
  if (npoint > 0)
    memcpy(model->tendon_point, builder->tendon_points.items, npoint * sizeof *model->tendon_point);
  const tabi_tendon_joint *joints = model->tendon_joint;
  const tabi_tendon_point *points = model->tendon_point;
  for (int32_t i = 0; i < model->ntendon; ++i) {
    tabi_tendon_def *def = &model->tendon[i];
    def->joints = joints;
    def->points = points;
    joints += def->njoint;
    points += def->npoint;
    find_dofs(model, i);
    model->tendon_loops[i] = has_loop(model, i) ? 1 : 0;
  }
  TBI_ASSERT(model->tendon_first[model->ntendon] <= model->ntendon_dof);
}

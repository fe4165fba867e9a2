/* random_model.c - draws forests of links that a builder must accept: physical inertias, a
 * positive definite mass matrix, and everything else as odd as the definitions allow. */
#include "support/random_model.h"

#include "support/near.h"
#include "support/rng.h"

#include <stdio.h>
#include <string.h>

static const double PI = 3.14159265358979323846;

typedef enum tree_shape {
  SHAPE_CHAIN,
  SHAPE_STAR,
  SHAPE_BINARY,
  SHAPE_RANDOM,
  SHAPE_COUNT,
} tree_shape;

int32_t random_joint_nq(tabi_joint_type type) {
  static const int32_t nq[TABI_JOINT_COUNT] = {0, 1, 1, 1, 4, 3, 7};
  return nq[type];
}

int32_t random_joint_nv(tabi_joint_type type) {
  static const int32_t nv[TABI_JOINT_COUNT] = {0, 1, 1, 1, 3, 3, 6};
  return nv[type];
}

/* Rows of the rotation that a unit quaternion stands for. */
static void rotation(const double q[4], double R[3][3]) {
  double w = q[0], x = q[1], y = q[2], z = q[3];
  double rows[3][3] = {
      {1 - 2 * (y * y + z * z), 2 * (x * y - w * z),     2 * (x * z + w * y)    },
      {2 * (x * y + w * z),     1 - 2 * (x * x + z * z), 2 * (y * z - w * x)    },
      {2 * (x * z - w * y),     2 * (y * z + w * x),     1 - 2 * (x * x + y * y)}
  };
  memcpy(R, rows, sizeof rows);
}

/* A solid ellipsoid, turned and shifted at random: always a physical inertia. */
static void draw_link(rng *r, random_link *item) {
  tabi_link_def *link = &item->link;
  link->mass = 0.1 * pow(100.0, rng_unit(r));
  rng_fill(r, 0.2, link->com, 3);
  double axes[3], moment[3], quat[4], R[3][3];
  for (int i = 0; i < 3; ++i)
    axes[i] = rng_between(r, 0.05, 0.3);
  for (int i = 0; i < 3; ++i) {
    double b = axes[(i + 1) % 3], c = axes[(i + 2) % 3];
    moment[i] = link->mass / 5.0 * (b * b + c * c);
  }
  rng_direction(r, quat, 4);
  rotation(quat, R);
  static const int row[6] = {0, 1, 2, 0, 0, 1}, column[6] = {0, 1, 2, 1, 2, 2};
  for (int k = 0; k < 6; ++k) {
    link->inertia[k] = 0.0;
    for (int i = 0; i < 3; ++i)
      link->inertia[k] += R[row[k]][i] * moment[i] * R[column[k]][i];
  }
}

static void make_massless(random_link *item) {
  item->link.mass = 0.0;
  memset(item->link.inertia, 0, sizeof item->link.inertia);
}

static bool has_one_dof(tabi_joint_type type) { return random_joint_nv(type) == 1; }

/* What a joint of one coordinate may carry besides; none of it but the rotor enters dynamics. */
static void draw_drive(rng *r, tabi_joint_def *joint) {
  if (!has_one_dof(joint->type)) return;
  if (joint->type == TABI_JOINT_REVOLUTE || rng_unit(r) < 0.5) {
    joint->lower = joint->type == TABI_JOINT_CONTINUOUS ? joint->lower : -4.0;
    joint->upper = joint->type == TABI_JOINT_CONTINUOUS ? joint->upper : 4.0;
  }
  if (rng_unit(r) < 0.3) {
    joint->gear = rng_between(r, 1.0, 100.0);
    joint->rotor_inertia = rng_between(r, 1e-4, 1.0) / (joint->gear * joint->gear);
  }
  if (rng_unit(r) < 0.2) {
    joint->stiffness = rng_between(r, 0.0, 100.0);
    joint->damping = rng_between(r, 0.0, 10.0);
    joint->friction = rng_unit(r);
    joint->effort = 1.0;
  }
}

static void draw_state(rng *r, random_link *item) {
  tabi_joint_type type = item->joint.type;
  rng_fill(r, 2.0, item->v, 6);
  rng_fill(r, 10.0, item->tau, 6);
  switch (type) {
  case TABI_JOINT_PRISMATIC:
    rng_fill(r, 0.5, item->q, 1);
    break;
  case TABI_JOINT_BALL:
    rng_direction(r, item->q, 4);
    break;
  case TABI_JOINT_PLANAR:
    rng_fill(r, 1.0, item->q, 3);
    break;
  case TABI_JOINT_FREE:
    /* far apart in the world; within a tree long arms would spoil the condition of M */
    rng_fill(r, item->joint.parent == TABI_WORLD ? 5.0 : 0.5, item->q, 3);
    rng_direction(r, item->q + 3, 4);
    break;
  default:
    rng_fill(r, PI, item->q, 1);
    break;
  }
}

static void draw_joint(rng *r, random_link *item, tabi_joint_type type) {
  tabi_joint_def *joint = &item->joint;
  joint->type = type;
  rng_fill(r, 0.5, joint->pos, 3);
  if (rng_unit(r) < 0.7) rng_direction(r, joint->quat, 4);
  if (rng_unit(r) < 0.7) {
    rng_direction(r, joint->axis, 3);
  } else {
    memset(joint->axis, 0, sizeof joint->axis);
    joint->axis[rng_below(r, 3)] = rng_unit(r) < 0.5 ? 1.0 : -1.0;
  }
  draw_drive(r, joint);
  draw_state(r, item);
}

static tabi_joint_type draw_type(rng *r, bool root) {
  double x = rng_unit(r);
  if (root && x < 0.4) return TABI_JOINT_FREE;
  if (x < 0.45) return TABI_JOINT_REVOLUTE;
  if (x < 0.58) return TABI_JOINT_CONTINUOUS;
  if (x < 0.70) return TABI_JOINT_PRISMATIC;
  if (x < 0.78) return TABI_JOINT_BALL;
  if (x < 0.83) return TABI_JOINT_PLANAR;
  if (x < 0.86) return TABI_JOINT_FREE;
  return TABI_JOINT_FIXED;
}

static int32_t draw_parent(rng *r, tree_shape shape, int32_t first, int32_t index) {
  int32_t k = index - first;
  switch (shape) {
  case SHAPE_CHAIN:
    return index - 1;
  case SHAPE_STAR:
    return first;
  case SHAPE_BINARY:
    return first + (k - 1) / 2;
  default:
    return first + rng_below(r, k);
  }
}

static random_link *start_link(random_plan *plan, int32_t parent) {
  int32_t index = plan->nlink++;
  random_link *item = &plan->links[index];
  memset(item, 0, sizeof *item);
  (void)snprintf(item->name, sizeof item->name, "link%d", (int)index);
  (void)snprintf(item->joint_name, sizeof item->joint_name, "joint%d", (int)index);
  item->jointed = true;
  item->link = tabi_link_def_default();
  item->joint = tabi_joint_def_default();
  item->joint.parent = parent;
  item->joint.child = index;
  return item;
}

static tabi_joint_type draw_single(rng *r) {
  static const tabi_joint_type types[3] = {TABI_JOINT_REVOLUTE, TABI_JOINT_CONTINUOUS,
                                           TABI_JOINT_PRISMATIC};
  return types[rng_below(r, 3)];
}

/* Two joints of one coordinate on one body, as MJCF writes them: a link without mass between
 * them.  Their axes stand at right angles, or the mass matrix would be nearly singular. */
static void add_massless_pair(rng *r, random_plan *plan, int32_t parent) {
  int32_t index = plan->nlink;
  random_link *upper = start_link(plan, parent);
  draw_joint(r, upper, draw_single(r));
  random_link *lower = start_link(plan, index);
  draw_link(r, lower);
  draw_joint(r, lower, draw_single(r));
  static const double none[4] = {1, 0, 0, 0};
  memcpy(lower->joint.quat, none, sizeof none);
  const double *a = upper->joint.axis;
  int min = 0;
  for (int i = 1; i < 3; ++i)
    if (fabs(a[i]) < fabs(a[min])) min = i;
  int j = (min + 1) % 3, k = (min + 2) % 3;
  double length = hypot(a[j], a[k]);
  lower->joint.axis[min] = 0.0;
  lower->joint.axis[j] = -a[k] / length;
  lower->joint.axis[k] = a[j] / length;
}

static void add_root(rng *r, random_plan *plan, random_kind kind) {
  random_link *item = start_link(plan, TABI_WORLD);
  draw_link(r, item);
  if (kind == RANDOM_FLOATING) {
    draw_joint(r, item, TABI_JOINT_FREE);
    memset(item->tau, 0, sizeof item->tau);
    return;
  }
  draw_joint(r, item, draw_type(r, true));
  if (rng_unit(r) < 0.05) {
    item->jointed = false;
    item->joint.type = TABI_JOINT_FIXED;
  }
}

static void add_tree(rng *r, random_plan *plan, int32_t size, random_kind kind) {
  int32_t first = plan->nlink;
  tree_shape shape = (tree_shape)rng_below(r, SHAPE_COUNT);
  add_root(r, plan, kind);
  while (plan->nlink < first + size) {
    int32_t parent = draw_parent(r, shape, first, plan->nlink);
    /* a link without mass that moves carries one child only, the next link */
    bool full = plan->links[parent].link.mass == 0.0 && has_one_dof(plan->links[parent].joint.type);
    if (full) ++parent;
    if (plan->nlink + 1 < first + size && rng_unit(r) < 0.05) {
      add_massless_pair(r, plan, parent);
      continue;
    }
    random_link *item = start_link(plan, parent);
    draw_link(r, item);
    draw_joint(r, item, draw_type(r, false));
    if (item->joint.type == TABI_JOINT_FIXED && rng_unit(r) < 0.2) make_massless(item);
  }
}

void random_plan_make(random_plan *plan, uint64_t seed, random_kind kind) {
  rng r = rng_make(seed);
  plan->nlink = 0;
  memset(plan->gravity, 0, sizeof plan->gravity);
  double x = rng_unit(&r);
  if (x < 0.7) {
    plan->gravity[2] = -9.81;
  } else if (x < 0.9) {
    rng_fill(&r, 10.0, plan->gravity, 3);
  }
  /* small forests are as common as large ones */
  double u = rng_unit(&r);
  int32_t total = 1 + (int32_t)(u * u * RANDOM_LINKS);
  while (plan->nlink < total) {
    int32_t left = total - plan->nlink;
    int32_t size = rng_unit(&r) < 0.6 ? left : 1 + rng_below(&r, left);
    add_tree(&r, plan, size, kind);
  }
}

void random_plan_append(random_plan *plan, const random_plan *other, char letter) {
  int32_t first = plan->nlink;
  assert_true(first + other->nlink <= RANDOM_MAX_LINKS);
  for (int32_t i = 0; i < other->nlink; ++i) {
    random_link *item = &plan->links[plan->nlink++];
    *item = other->links[i];
    (void)snprintf(item->name, sizeof item->name, "%clink%d", letter, (int)i);
    (void)snprintf(item->joint_name, sizeof item->joint_name, "%cjoint%d", letter, (int)i);
    item->joint.child += first;
    if (item->joint.parent != TABI_WORLD) item->joint.parent += first;
  }
}

static void add_all(tabi_builder *builder, const random_plan *plan, const int32_t *order) {
  int32_t place[RANDOM_MAX_LINKS] = {0}; /* of the plan's links in the builder */
  for (int32_t i = 0; i < plan->nlink; ++i) {
    int32_t from = order ? order[i] : i;
    tabi_link_def link = plan->links[from].link;
    link.name = plan->links[from].name;
    place[from] = tabi_builder_add_link(builder, &link);
  }
  for (int32_t i = plan->nlink - 1; i >= 0; --i) {
    const random_link *item = &plan->links[order ? order[i] : i];
    if (!item->jointed) continue;
    tabi_joint_def joint = item->joint;
    joint.name = item->joint_name;
    joint.child = place[joint.child];
    if (joint.parent != TABI_WORLD) joint.parent = place[joint.parent];
    (void)tabi_builder_add_joint(builder, &joint);
  }
}

tabi_model *random_plan_build(const random_plan *plan, const int32_t *order) {
  tabi_builder *builder = tabi_builder_create();
  assert_non_null(builder);
  tabi_builder_set_gravity(builder, plan->gravity);
  add_all(builder, plan, order);
  tabi_error err;
  tabi_model *model = tabi_builder_build(builder, &err);
  tabi_builder_destroy(builder);
  if (!model) {
    print_error("%s\n", err.message);
    fail();
  }
  return model;
}

void random_plan_state(const random_plan *plan, const tabi_model *model, double *q, double *v,
                       double *tau) {
  for (int32_t i = 0; i < plan->nlink; ++i) {
    const random_link *item = &plan->links[i];
    if (!item->jointed || item->joint.type == TABI_JOINT_FIXED) continue;
    int32_t joint = tabi_model_find_joint(model, item->joint_name);
    assert_true(joint != TABI_NONE);
    tabi_range in_q = tabi_model_joint_q(model, joint), in_v = tabi_model_joint_v(model, joint);
    assert_int_equal(in_q.count, random_joint_nq(item->joint.type));
    assert_int_equal(in_v.count, random_joint_nv(item->joint.type));
    if (q) memcpy(q + in_q.first, item->q, (size_t)in_q.count * sizeof *q);
    if (v) memcpy(v + in_v.first, item->v, (size_t)in_v.count * sizeof *v);
    if (tau) memcpy(tau + in_v.first, item->tau, (size_t)in_v.count * sizeof *tau);
  }
}

int32_t random_add_link(tabi_builder *builder, rng *r) {
  tabi_link_def link = tabi_link_def_default();
  link.mass = rng_between(r, 0.3, 2);
  rng_fill(r, 0.1, link.com, 3);
  for (int i = 0; i < 3; ++i)
    link.inertia[i] = rng_between(r, 0.02, 0.03);
  return tabi_builder_add_link(builder, &link);
}

void random_place(rng *r, tabi_joint_def *joint) {
  rng_fill(r, 0.3, joint->pos, 3);
  rng_direction(r, joint->quat, 4);
  rng_direction(r, joint->axis, 3);
}

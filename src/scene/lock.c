/* lock.c - joints that a scene fixes at their start.
 *
 * What follows a locked joint stands still with it, and so does what a locked joint follows: all
 * joints that couplings tie together are locked, each follower where its leader puts it. */
#include "scene/lock.h"

#include "base/assertion.h"
#include "base/error.h"
#include "io/values.h"
#include "math/quat.h"
#include "model/builder.h"

#include <stdlib.h>
#include <string.h>

typedef struct locking {
  tbi_scene_reader *r;
  int32_t index; /* of the robot */
  const char *what;
  double *value; /* [njoint] where it is locked */
  bool *locked;  /* [njoint] */
} locking;

/* Moves the frame of a joint to where a value of its coordinate puts it. */
static void displace(tabi_joint_def *joint, double value) {
  v3 axis = v3_scale(value, v3_load(joint->axis));
  q4 rotation = q_load(joint->quat);
  if (joint->type == TABI_JOINT_PRISMATIC) {
    m3 turn = q_matrix(rotation);
    v3_store(v3_add(v3_load(joint->pos), m3_mulv(&turn, axis)), joint->pos);
  } else {
    q_store(q_normalize(q_mul(rotation, q_exp(axis))), joint->quat);
  }
}

/* Takes an actuator out, also of postures; those behind it move up. */
static void remove_actuator(tabi_builder *builder, int32_t actuator) {
  TBI_ASSERT(actuator >= 0 && actuator < builder->actuators.count);
  tabi_actuator_def *def = builder->actuators.items;
  tbi_posture_control *control = builder->controls.items;
  int32_t kept = 0;
  for (int32_t i = 0; i < builder->controls.count; ++i) {
    if (control[i].actuator == actuator) continue;
    control[kept] = control[i];
    control[kept++].actuator -= control[i].actuator > actuator;
  }
  builder->controls.count = kept;
  int32_t behind = --builder->actuators.count - actuator;
  memmove(def + actuator, def + actuator + 1, (size_t)behind * sizeof *def);
}

static bool has_one_coordinate(const tabi_joint_def *joint) {
  return joint->type == TABI_JOINT_REVOLUTE || joint->type == TABI_JOINT_CONTINUOUS ||
         joint->type == TABI_JOINT_PRISMATIC;
}

/* The same joint, fixed at a value. */
static tabi_joint_def fixed_at(tabi_joint_def joint, double value) {
  displace(&joint, value);
  tabi_joint_def fixed = tabi_joint_def_default();
  fixed.name = joint.name;
  fixed.parent = joint.parent;
  fixed.child = joint.child;
  fixed.place = joint.place;
  memcpy(fixed.pos, joint.pos, sizeof fixed.pos);
  memcpy(fixed.quat, joint.quat, sizeof fixed.quat);
  fixed.initial_q[0] = value; /* what its encoder reads */
  return fixed;
}

/* -- couplings */

static bool is_tied(const locking *l, const tabi_coupling_def *c) {
  return c->joint != TABI_NONE &&
         (l->locked[c->joint] || (c->leader != TABI_NONE && l->locked[c->leader]));
}

/* Both ends of couplings, until nothing is added; each round adds a joint at least. */
static void spread(const locking *l) {
  const tabi_coupling_def *c = l->r->builder->couplings.items;
  bool more = true;
  while (more) {
    more = false;
    for (int32_t i = 0; i < l->r->builder->couplings.count; ++i) {
      if (!is_tied(l, &c[i])) continue;
      bool leads = c[i].leader != TABI_NONE;
      more = more || !l->locked[c[i].joint] || (leads && !l->locked[c[i].leader]);
      l->locked[c[i].joint] = true;
      if (leads) l->locked[c[i].leader] = true;
    }
  }
}

/* As often as there are couplings: leaders may follow others. */
static void follow(const locking *l) {
  const tabi_coupling_def *c = l->r->builder->couplings.items;
  int32_t count = l->r->builder->couplings.count;
  bool changed = true;
  for (int32_t pass = 0; pass < count && changed; ++pass) {
    changed = false;
    for (int32_t i = 0; i < count; ++i) {
      if (!is_tied(l, &c[i])) continue;
      double x = c[i].leader == TABI_NONE ? 0 : l->value[c[i].leader];
      double y = 0;
      for (int k = 4; k >= 0; --k)
        y = y * x + c[i].coef[k];
      changed = changed || y != l->value[c[i].joint];
      l->value[c[i].joint] = y;
    }
  }
}

static void drop_couplings(const locking *l) {
  tbi_list *couplings = &l->r->builder->couplings;
  tabi_coupling_def *c = couplings->items;
  int32_t kept = 0;
  for (int32_t i = 0; i < couplings->count; ++i) {
    if (!is_tied(l, &c[i])) c[kept++] = c[i];
  }
  couplings->count = kept;
}

/* -- joints */

static bool mark(const locking *l, const tbi_yaml_node *item) {
  int32_t index = tbi_scene_find_joint(l->r, l->index, item, l->what, item->text);
  if (index == TABI_NONE) return false;
  if (!has_one_coordinate(tbi_builder_joint(l->r->builder, index))) {
    return tbi_fail_about(l->r->error, item->place, l->what,
                          "lock: joint '%.60s' is not one with one coordinate", item->text);
  }
  l->locked[index] = true;
  return true;
}

static bool is_in_tendon(const tabi_builder *builder, int32_t joint) {
  const tabi_tendon_joint *pulled = builder->tendon_joints.items;
  for (int32_t i = 0; i < builder->tendon_joints.count; ++i) {
    if (pulled[i].joint == joint) return true;
  }
  return false;
}

static bool find_start(const locking *l, int32_t joint, const tbi_yaml_node *list) {
  const tabi_joint_def *def = tbi_builder_joint(l->r->builder, joint);
  l->value[joint] = def->initial_q[0];
  if (is_in_tendon(l->r->builder, joint)) {
    return tbi_fail_about(l->r->error, list->place, l->what,
                          "lock: joint '%.60s' is part of a tendon; leave it free",
                          def->name ? def->name : "(unnamed)");
  }
  return tbi_scene_joint_start(l->r, l->index, joint, l->what, &l->value[joint]);
}

/* Its motors go with it. */
static void fix(const locking *l, int32_t joint) {
  tabi_builder *builder = l->r->builder;
  tabi_joint_def *def = (tabi_joint_def *)builder->joints.items + joint;
  for (int32_t i = builder->actuators.count - 1; i >= 0; --i) {
    if (((const tabi_actuator_def *)builder->actuators.items)[i].joint == joint)
      remove_actuator(builder, i);
  }
  *def = fixed_at(*def, l->value[joint]);
}

static bool lock_all(const locking *l, const tbi_yaml_node *list) {
  int32_t njoint = l->r->builder->joints.count;
  for (const tbi_yaml_node *item = list->first; item; item = item->next) {
    if (!mark(l, item)) return false;
  }
  spread(l);
  for (int32_t i = 0; i < njoint; ++i) {
    if (l->locked[i] && !find_start(l, i, list)) return false;
  }
  follow(l);
  drop_couplings(l);
  for (int32_t i = 0; i < njoint; ++i)
    if (l->locked[i]) fix(l, i);
  return true;
}

bool tbi_scene_lock(tbi_scene_reader *r, int32_t index, const char *what,
                    const tbi_yaml_node *list) {
  TBI_ASSERT(list);
  size_t count = (size_t)r->builder->joints.count + 1;
  locking l = {r, index, what, calloc(count, sizeof(double)), calloc(count, sizeof(bool))};
  bool good = l.value && l.locked ? lock_all(&l, list) : tbi_fail_memory(r->error);
  free(l.value);
  free(l.locked);
  return good;
}

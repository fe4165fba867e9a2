/* values.c - numbers of joints and links over those in the builder. */
#include "io/values.h"

#include "base/assertion.h"
#include "io/fields.h"
#include "model/builder.h"

#include <stdio.h>
#include <string.h>

#define WHAT_SIZE 200

static const tbi_field joint_fields[] = {
    {"stiffness",     TBI_FIELD_NOT_NEGATIVE, offsetof(tabi_joint_def, stiffness)    },
    {"rest",          TBI_FIELD_NUMBER,       offsetof(tabi_joint_def, rest_position)},
    {"damping",       TBI_FIELD_NOT_NEGATIVE, offsetof(tabi_joint_def, damping)      },
    {"friction",      TBI_FIELD_NOT_NEGATIVE, offsetof(tabi_joint_def, friction)     },
    {"rotor_inertia", TBI_FIELD_NOT_NEGATIVE, offsetof(tabi_joint_def, rotor_inertia)},
    {"gear",          TBI_FIELD_NUMBER,       offsetof(tabi_joint_def, gear)         },
    {"effort",        TBI_FIELD_NOT_NEGATIVE, offsetof(tabi_joint_def, effort)       },
};

static const tbi_field link_fields[] = {
    {"mass", TBI_FIELD_NOT_NEGATIVE, offsetof(tabi_link_def, mass)},
    {"com",  TBI_FIELD_VECTOR,       offsetof(tabi_link_def, com) },
};

static bool has_one_coordinate(tabi_joint_type type) {
  return type == TABI_JOINT_REVOLUTE || type == TABI_JOINT_CONTINUOUS ||
         type == TABI_JOINT_PRISMATIC;
}

/* Items of other robots in the builder are none of its own. */
static int32_t find_own(const tbi_values *values, tbi_named kind, const tbi_yaml_node *node) {
  TBI_ASSERT(values->what && node->key);
  int32_t first = kind == TBI_JOINT ? values->first_joint : values->first_link;
  int32_t index = tbi_find(&values->find, kind, node->key);
  if (index >= first) return index;
  char what[WHAT_SIZE];
  (void)snprintf(what, sizeof what, "%s%s: ", values->what, kind == TBI_JOINT ? "joints" : "links");
  tbi_find_fail(&values->find, kind, node, what, node->key, NULL);
  return TABI_NONE;
}

static bool read_joint(const tbi_values *values, const tbi_yaml_node *node) {
  tbi_first_error *error = values->find.error;
  int32_t index = find_own(values, TBI_JOINT, node);
  if (index == TABI_NONE) return false;
  tabi_joint_def *joint = (tabi_joint_def *)values->find.builder->joints.items + index;
  char what[WHAT_SIZE];
  (void)snprintf(what, sizeof what, "%sjoint '%.60s': ", values->what, node->key);
  if (joint->type == TABI_JOINT_FIXED)
    return tbi_fail_about(error, node->place, what, "it is fixed");
  tbi_fields_read(error, node, what, TBI_FIELDS(joint_fields), joint);
  if (joint->stiffness == 0 || has_one_coordinate(joint->type)) return tbi_ok(error);
  return tbi_fail_about(error, node->place, what, "only joints with one coordinate have a spring");
}

/* A link of another mass is made of other material: its inertia is in proportion. */
static bool read_link(const tbi_values *values, const tbi_yaml_node *node) {
  int32_t index = find_own(values, TBI_LINK, node);
  if (index == TABI_NONE) return false;
  tabi_link_def *link = (tabi_link_def *)values->find.builder->links.items + index;
  char what[WHAT_SIZE];
  (void)snprintf(what, sizeof what, "%slink '%.60s': ", values->what, node->key);
  double before = link->mass;
  if (!tbi_fields_read(values->find.error, node, what, TBI_FIELDS(link_fields), link)) return false;
  if (!(before > 0) || link->mass == before) return true;
  for (int i = 0; i < 6; ++i)
    link->inertia[i] *= link->mass / before;
  return true;
}

bool tbi_values_read_joints(const tbi_values *values, const tbi_yaml_node *map) {
  const tbi_yaml_node *node = map ? map->first : NULL;
  for (; node && tbi_ok(values->find.error); node = node->next)
    read_joint(values, node);
  return tbi_ok(values->find.error);
}

bool tbi_values_read_links(const tbi_values *values, const tbi_yaml_node *map) {
  const tbi_yaml_node *node = map ? map->first : NULL;
  for (; node && tbi_ok(values->find.error); node = node->next)
    read_link(values, node);
  return tbi_ok(values->find.error);
}

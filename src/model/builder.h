/* builder.h - what a builder holds: checked copies of the defs, in the order they came. */
#ifndef TBI_BUILDER_H
#define TBI_BUILDER_H

#include "base/names.h"
#include "base/text.h"
#include "model/model.h"

typedef struct tbi_posture_entry {
  int32_t posture, joint;
  double q[7], v[6];
} tbi_posture_entry;

/* One growing array; items is typed where it is used. */
typedef struct tbi_list {
  void *items;
  int32_t count, capacity;
} tbi_list;

struct tabi_builder {
  tabi_error error; /* the first; status TABI_OK: none */
  tbi_text_pool text;
  const char *file; /* the last file named, so that one copy serves many places */
  tbi_list links, joints, shapes, meshes, materials, actuators, couplings, connections;
  tbi_list pairs;           /* tbi_material_pair */
  tbi_list exclusions;      /* int32_t[2] */
  tbi_list postures;        /* const char * */
  tbi_list posture_entries; /* tbi_posture_entry */
  tbi_list link_joint;      /* int32_t: the joint above each link, or TABI_NONE */
  tbi_names link_names, joint_names, material_names;
  double gravity[3], timestep;
};

static inline const tabi_link_def *tbi_builder_link(const tabi_builder *b, int32_t i) {
  return (const tabi_link_def *)b->links.items + i;
}
static inline const tabi_joint_def *tbi_builder_joint(const tabi_builder *b, int32_t i) {
  return (const tabi_joint_def *)b->joints.items + i;
}
static inline int32_t tbi_builder_link_joint(const tabi_builder *b, int32_t i) {
  return ((const int32_t *)b->link_joint.items)[i];
}

/* A name for messages: what was given, or a word for the unnamed. */
static inline const char *tbi_shown(const char *name) { return name ? name : "(unnamed)"; }

#endif

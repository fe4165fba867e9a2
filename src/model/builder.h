/* builder.h - what a builder holds: checked copies of the defs, in the order they came. */
#ifndef TBI_BUILDER_H
#define TBI_BUILDER_H

#include "base/names.h"
#include "base/text.h"
#include "math/quat.h"
#include "model/model.h"

typedef struct tbi_posture_entry {
  int32_t posture, joint;
  double q[7], v[6];
} tbi_posture_entry;

typedef struct tbi_posture_control {
  int32_t posture, actuator;
  double u;
} tbi_posture_control;

/* One growing array; items is typed where it is used. */
typedef struct tbi_list {
  void *items;
  int32_t count, capacity;
} tbi_list;

#define TBI_BUILDER_LISTS 20 /* at most, of a builder */

/* What a builder holds at some time. */
typedef struct tbi_builder_mark {
  int32_t count[TBI_BUILDER_LISTS];
  double gravity[3], timestep;
} tbi_builder_mark;

/* Where a mesh comes from. */
typedef struct tbi_mesh_store {
  bool borrowed; /* from an addition to many builders (builder_addition.h): not for this one to free
                  */
  int32_t *graph; /* of its hull (hull_graph.h), or NULL: not made yet */
} tbi_mesh_store;

struct tabi_builder {
  tabi_error error; /* the first; status TABI_OK: none */
  tbi_text_pool text;
  const char *file; /* the last file named, so that one copy serves many places */
  tbi_list links, joints, shapes, meshes, materials, actuators, couplings, connections, sensors;
  tbi_list mesh_stores; /* tbi_mesh_store, of each mesh */
  tbi_list tendons, tendon_joints, tendon_points;
  tbi_list pairs;           /* tbi_material_pair */
  tbi_list exclusions;      /* int32_t[2] */
  tbi_list postures;        /* const char * */
  tbi_list posture_entries; /* tbi_posture_entry */
  tbi_list controls;        /* tbi_posture_control */
  tbi_list link_joint;      /* int32_t: the joint above each link, or TABI_NONE */
  tbi_names link_names, joint_names, material_names, sensor_names;
  double gravity[3], timestep;
  tbi_builder_mark mark; /* since when tabi_builder_keep keeps */
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

static inline bool tbi_all_finite(const double *a, int n) {
  for (int i = 0; i < n; ++i) {
    if (!isfinite(a[i])) return false;
  }
  return true;
}

/* A usable quaternion, made unit. */
static inline bool tbi_unit_quat(double quat[4]) {
  double norm = q_norm(q_load(quat));
  if (!isfinite(norm) || norm < 1e-12) return false;
  if (fabs(norm - 1) > 1e-15) q_store(q_scale(1 / norm, q_load(quat)), quat);
  return true;
}

static inline bool tbi_builder_is_link(const tabi_builder *builder, int32_t link) {
  return link >= 0 && link < builder->links.count;
}
static inline bool tbi_builder_is_link_or_world(const tabi_builder *builder, int32_t link) {
  return link == TABI_WORLD || tbi_builder_is_link(builder, link);
}
static inline bool tbi_builder_is_joint(const tabi_builder *builder, int32_t joint) {
  return joint >= 0 && joint < builder->joints.count;
}

/* How many sizes a shape of that type has. */
int tbi_shape_sizes(tabi_shape_type type);

/* The checks that every def has in common, all of which begin with def_size; `what` is "link" for a
 * tabi_link_def. */
bool tbi_builder_begin(tabi_builder *builder, const void *def, size_t size, const char *what);
/* Keeps the error, if it is the first; always false. */
bool tbi_builder_fail(tabi_builder *builder, tabi_status status, tabi_place place,
                      const char *format, ...) __attribute__((format(printf, 4, 5)));
/* Lets a name and a place point to the builder's own text. */
bool tbi_builder_keep(tabi_builder *builder, const char **name, tabi_place *place);
/* Appends one item; its index, or TABI_NONE. */
int32_t tbi_builder_append(tabi_builder *builder, tbi_list *list, const void *item, size_t size);
/* Makes an item known by its name, if it has both; its index, or TABI_NONE. */
int32_t tbi_builder_list(tabi_builder *builder, tbi_names *names, const char *name, int32_t index);

#endif

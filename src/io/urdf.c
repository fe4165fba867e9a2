/* urdf.c - URDF: a flat list of links and joints becomes a tree.
 *
 * Links come first, so that joints can name them in any order; then the root is found, hung in the
 * world by a joint called "base", and the joints follow.  What a message can say only with
 * knowledge of the file is checked here, what holds for every robot in the builder. */
#include "io/urdf.h"

#include "base/array.h"
#include "base/error.h"
#include "base/names.h"
#include "io/mesh.h"
#include "io/urdf_read.h"
#include "io/urdf_shape.h"
#include "math/quat.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A joint element that was understood so far. */
typedef struct joint {
  tbi_xml_node *node;
  const char *name;
  tabi_joint_type type;
  int32_t parent, child; /* places in urdf.links */
  int32_t index;         /* in the builder */
} joint;

typedef struct link {
  tbi_xml_node *node;
  const char *name;
  int32_t index; /* in the builder */
  bool has_parent;
} link;

typedef struct urdf {
  tabi_builder *builder;
  tbi_xml_node *root;
  const tabi_load_def *def;
  tabi_error *err;
  tbi_meshes *meshes;
  tbi_urdf_shapes shapes;
  link *links;
  joint *joints;
  int32_t nlink, link_capacity, njoint, joint_capacity;
  tbi_names link_names, joint_names; /* without the prefix */
  char *name;                        /* the last name with its prefix */
  size_t name_size;
  int32_t world; /* the link that is the world itself, or -1 */
  bool planar;   /* the base stands in the world: what moves is below planar joints */
  bool placed;   /* the placement that def asks for is done */
} urdf;

/* The name with the caller's prefix, until the next call; NULL: out of memory. */
static const char *full_name(urdf *u, const char *name) {
  const char *prefix = u->def->prefix ? u->def->prefix : "";
  size_t needed = strlen(prefix) + strlen(name) + 1;
  if (needed > u->name_size) {
    char *more = realloc(u->name, 2 * needed);
    if (!more) return NULL;
    u->name = more;
    u->name_size = 2 * needed;
  }
  (void)snprintf(u->name, u->name_size, "%s%s", prefix, name);
  return u->name;
}

static tabi_status builder_status(const urdf *u) {
  const tabi_error *error = tabi_builder_error(u->builder);
  if (!error) return TABI_OK;
  if (u->err) *u->err = *error;
  return error->status;
}

static tabi_status need_name(const urdf *u, tbi_xml_node *node, const char **name) {
  *name = tbi_xml_get(node, "name");
  if (*name && (*name)[0] != '\0') return TABI_OK;
  return tbi_error_set(u->err, TABI_ERR_PARSE, node->place, "%s without 'name'", node->name);
}

static tabi_status need_child(const urdf *u, tbi_xml_node *node, const char *name,
                              const char *owner, tbi_xml_node **child) {
  *child = tbi_xml_child(node, name);
  if (*child) return TABI_OK;
  return tbi_error_set(u->err, TABI_ERR_PARSE, node->place, "%s: <%s> without <%s>", owner,
                       node->name, name);
}

/* Six moments about the centre of mass, in the axes of <origin>. */
static tabi_status read_moments(const urdf *u, tbi_xml_node *node, const char *owner,
                                double inertia[6]) {
  static const char *const names[6] = {"ixx", "iyy", "izz", "ixy", "ixz", "iyz"};
  for (int i = 0; i < 6; ++i) {
    inertia[i] = 0;
    if (i < 3 && !tbi_xml_get(node, names[i])) {
      return tbi_error_set(u->err, TABI_ERR_PARSE, node->place, "%s: <inertia> without '%s'", owner,
                           names[i]);
    }
    tabi_status status = tbi_urdf_number(node, names[i], owner, &inertia[i], u->err);
    if (status != TABI_OK) return status;
  }
  return TABI_OK;
}

static tabi_status read_inertial(const urdf *u, tbi_xml_node *node, const char *owner,
                                 tabi_link_def *def) {
  tbi_xml_node *mass = NULL;
  tbi_xml_node *inertia = NULL;
  double moments[6] = {0};
  double axes[4] = {1, 0, 0, 0};
  tabi_status status = tbi_urdf_origin(node, owner, def->com, axes, u->err);
  if (status == TABI_OK) status = need_child(u, node, "mass", owner, &mass);
  if (status == TABI_OK && !tbi_xml_get(mass, "value")) {
    status =
        tbi_error_set(u->err, TABI_ERR_PARSE, mass->place, "%s: <mass> without 'value'", owner);
  }
  if (status == TABI_OK) status = tbi_urdf_number(mass, "value", owner, &def->mass, u->err);
  if (status == TABI_OK) status = need_child(u, node, "inertia", owner, &inertia);
  if (status == TABI_OK) status = read_moments(u, inertia, owner, moments);
  if (status != TABI_OK) return status;
  m3 r = q_matrix(q_load(axes));
  s3_store(s3_rotate(&r, s3_load(moments)), def->inertia);
  return TABI_OK;
}

static tabi_status add_link(urdf *u, tbi_xml_node *node) {
  char owner[TBI_OWNER_SIZE];
  tabi_link_def def = tabi_link_def_default();
  link added = {.node = node};
  tabi_status status = need_name(u, node, &added.name);
  if (status != TABI_OK) return status;
  tbi_urdf_owner(owner, "link", added.name);
  tbi_xml_node *inertial = tbi_xml_child(node, "inertial");
  if (inertial) status = read_inertial(u, inertial, owner, &def);
  if (status != TABI_OK) return status;
  def.place = node->place;
  def.name = full_name(u, added.name);
  if (!def.name) return tbi_error_memory(u->err);
  added.index = tabi_builder_add_link(u->builder, &def);
  status = builder_status(u);
  if (status != TABI_OK) return status;
  // remember it under its name in the file
  void *items = u->links;
  bool room = tbi_array_reserve(&items, &u->link_capacity, u->nlink, 1, sizeof(link));
  u->links = items;
  if (!room || !tbi_names_add(&u->link_names, added.name, u->nlink))
    return tbi_error_memory(u->err);
  u->links[u->nlink++] = added;
  return tbi_urdf_shapes_add(&u->shapes, node, added.index, owner);
}

static tabi_status add_links(urdf *u) {
  tabi_status status = TABI_OK;
  tbi_xml_node *node = tbi_xml_child(u->root, "link");
  if (!node) {
    return tbi_error_set(u->err, TABI_ERR_MODEL, u->root->place, "robot without links");
  }
  for (; node && status == TABI_OK; node = tbi_xml_next(node))
    status = add_link(u, node);
  return status;
}

static tabi_status read_type(const urdf *u, tbi_xml_node *node, const char *owner,
                             tabi_joint_type *type) {
  static const struct {
    const char *name;
    tabi_joint_type type;
  } types[] = {
      {"revolute",   TABI_JOINT_REVOLUTE  },
      {"continuous", TABI_JOINT_CONTINUOUS},
      {"prismatic",  TABI_JOINT_PRISMATIC },
      {"fixed",      TABI_JOINT_FIXED     },
      {"floating",   TABI_JOINT_FREE      },
      {"planar",     TABI_JOINT_PLANAR    },
  };
  const char *text = tbi_xml_get(node, "type");
  for (size_t i = 0; text && i < sizeof types / sizeof *types; ++i) {
    if (strcmp(text, types[i].name) != 0) continue;
    *type = types[i].type;
    return TABI_OK;
  }
  return tbi_error_set(u->err, TABI_ERR_PARSE, node->place,
                       "%s: unknown type '%.60s' (revolute, continuous, prismatic, fixed, "
                       "floating, planar)",
                       owner, text ? text : "");
}

/* The link that <parent> or <child> names. */
static tabi_status read_end(const urdf *u, tbi_xml_node *node, const char *end, const char *owner,
                            int32_t *found) {
  tbi_xml_node *child = tbi_xml_child(node, end);
  const char *name = child ? tbi_xml_get(child, "link") : NULL;
  if (!name) {
    return tbi_error_set(u->err, TABI_ERR_PARSE, node->place, "%s: no <%s link=\"...\"/>", owner,
                         end);
  }
  *found = tbi_names_find(&u->link_names, name);
  if (*found >= 0) return TABI_OK;
  return tbi_error_set(u->err, TABI_ERR_MODEL, child->place, "%s: %s link '%.100s' does not exist",
                       owner, end, name);
}

static tabi_status list_joint(urdf *u, tbi_xml_node *node) {
  char owner[TBI_OWNER_SIZE];
  joint j = {.node = node, .index = TABI_NONE};
  tabi_status status = need_name(u, node, &j.name);
  if (status != TABI_OK) return status;
  tbi_urdf_owner(owner, "joint", j.name);
  status = read_type(u, node, owner, &j.type);
  if (status == TABI_OK) status = read_end(u, node, "parent", owner, &j.parent);
  if (status == TABI_OK) status = read_end(u, node, "child", owner, &j.child);
  if (status != TABI_OK) return status;
  if (j.parent == j.child) {
    return tbi_error_set(u->err, TABI_ERR_MODEL, node->place, "%s: parent and child are both '%s'",
                         owner, u->links[j.parent].name);
  }
  u->links[j.child].has_parent = true;
  void *items = u->joints;
  bool room = tbi_array_reserve(&items, &u->joint_capacity, u->njoint, 1, sizeof(joint));
  u->joints = items;
  if (!room) return tbi_error_memory(u->err);
  // the builder tells of a second joint with the same name
  if (tbi_names_find(&u->joint_names, j.name) < 0 &&
      !tbi_names_add(&u->joint_names, j.name, u->njoint)) {
    return tbi_error_memory(u->err);
  }
  u->joints[u->njoint++] = j;
  return TABI_OK;
}

static tabi_status list_joints(urdf *u) {
  tabi_status status = TABI_OK;
  tbi_xml_node *node = tbi_xml_child(u->root, "joint");
  for (; node && status == TABI_OK; node = tbi_xml_next(node))
    status = list_joint(u, node);
  return status;
}

/* The first link without a joint above it, after a given one; -1 if there is none. */
static int32_t next_root(const urdf *u, int32_t after) {
  for (int32_t i = after + 1; i < u->nlink; ++i) {
    if (!u->links[i].has_parent) return i;
  }
  return -1;
}

/* Has the root no mass, and are all joints below it of this type? */
static bool is_weightless(const urdf *u, int32_t root, tabi_joint_type type) {
  int32_t below = 0;
  for (int32_t i = 0; i < u->njoint; ++i) {
    if (u->joints[i].parent != root) continue;
    if (u->joints[i].type != type) return false;
    ++below;
  }
  return below > 0 && !tbi_xml_child(u->links[root].node, "inertial");
}

/* Hangs a joint in the world, in the way and at the place that the caller asks for.  A free one
 * starts where its frame would be, so that its coordinates are those of the world. */
static void make_base(urdf *u, tabi_joint_def *base) {
  const tabi_load_def *def = u->def;
  base->parent = TABI_WORLD;
  if (def->place_base && !u->placed) {
    memcpy(base->pos, def->base_pos, sizeof base->pos);
    memcpy(base->quat, def->base_quat, sizeof base->quat);
    u->placed = true;
  }
  base->type = TABI_JOINT_FIXED;
  if (def->base == TABI_BASE_FIXED || u->planar) return;
  base->type = TABI_JOINT_FREE;
  memcpy(base->initial_q, base->pos, sizeof base->pos);
  memcpy(base->initial_q + 3, base->quat, sizeof base->quat);
  v3_store(v3_zero(), base->pos);
  q_store(q_identity(), base->quat);
}

static tabi_status add_base(urdf *u, const link *root) {
  tabi_joint_def base = tabi_joint_def_default();
  make_base(u, &base);
  base.child = root->index;
  base.place = root->node->place;
  // a joint of the file may have the name already
  base.name = full_name(u, tbi_names_find(&u->joint_names, "base") < 0 ? "base" : "base_root");
  if (!base.name) return tbi_error_memory(u->err);
  (void)tabi_builder_add_joint(u->builder, &base);
  return builder_status(u);
}

static tabi_status check_one_root(const urdf *u, int32_t root) {
  int32_t second = root >= 0 ? next_root(u, root) : -1;
  if (second < 0) return TABI_OK;
  return tbi_error_set(u->err, TABI_ERR_MODEL, u->links[second].node->place,
                       "two root links: '%.100s', '%.100s'; join them by a joint",
                       u->links[root].name, u->links[second].name);
}

static bool has_range(tabi_joint_type type) {
  return type == TABI_JOINT_REVOLUTE || type == TABI_JOINT_PRISMATIC;
}

static void warn_start(const urdf *u, tbi_xml_node *limit, const char *owner,
                       const tabi_joint_def *def) {
  if (!u->def->warn || (def->lower <= 0 && def->upper >= 0) || def->lower > def->upper) return;
  const char *lower = tbi_xml_get(limit, "lower");
  const char *upper = tbi_xml_get(limit, "upper");
  tabi_error warning;
  (void)tbi_error_set(&warning, TABI_OK, limit->place, "%s: start 0 outside [%.40s,%.40s]", owner,
                      lower ? lower : "0", upper ? upper : "0");
  u->def->warn(u->def->warn_user, &warning);
}

static tabi_status read_limit(const urdf *u, const joint *j, const char *owner,
                              tabi_joint_def *def) {
  tbi_xml_node *limit = tbi_xml_child(j->node, "limit");
  if (!limit && j->type == TABI_JOINT_REVOLUTE) {
    return tbi_error_set(u->err, TABI_ERR_MODEL, j->node->place,
                         "%s: revolute needs <limit>; use 'continuous' for none", owner);
  }
  if (!limit && j->type == TABI_JOINT_PRISMATIC) {
    return tbi_error_set(u->err, TABI_ERR_MODEL, j->node->place,
                         "%s: prismatic needs <limit> with lower and upper", owner);
  }
  if (!limit) return TABI_OK;
  tabi_status status = tbi_urdf_number(limit, "effort", owner, &def->effort, u->err);
  if (status == TABI_OK) status = tbi_urdf_number(limit, "velocity", owner, &def->velocity, u->err);
  if (status != TABI_OK || !has_range(j->type)) return status;
  def->lower = def->upper = 0;
  status = tbi_urdf_number(limit, "lower", owner, &def->lower, u->err);
  if (status == TABI_OK) status = tbi_urdf_number(limit, "upper", owner, &def->upper, u->err);
  if (status == TABI_OK) warn_start(u, limit, owner, def);
  return status;
}

/* Many files give fixed and floating joints an axis and limits, which say nothing there. */
static void skip_motion(tbi_xml_node *node) {
  static const char *const names[] = {"axis", "limit", "dynamics"};
  for (size_t i = 0; i < sizeof names / sizeof *names; ++i) {
    tbi_xml_node *child = tbi_xml_child(node, names[i]);
    for (tbi_xml_attribute *a = child ? child->attributes : NULL; a; a = a->next)
      a->used = true;
  }
}

static tabi_status read_motion(const urdf *u, const joint *j, const char *owner,
                               tabi_joint_def *def) {
  def->axis[0] = 1;
  def->axis[1] = def->axis[2] = 0;
  if (j->type == TABI_JOINT_FIXED || j->type == TABI_JOINT_FREE) {
    skip_motion(j->node);
    return TABI_OK;
  }
  tbi_xml_node *axis = tbi_xml_child(j->node, "axis");
  tbi_xml_node *dynamics = tbi_xml_child(j->node, "dynamics");
  tabi_status status = TABI_OK;
  if (axis) status = tbi_urdf_vector(axis, "xyz", owner, 3, def->axis, u->err);
  if (status == TABI_OK && dynamics) {
    status = tbi_urdf_number(dynamics, "damping", owner, &def->damping, u->err);
    if (status != TABI_OK) return status;
    status = tbi_urdf_number(dynamics, "friction", owner, &def->friction, u->err);
  }
  return status == TABI_OK ? read_limit(u, j, owner, def) : status;
}

static tabi_status add_joint(urdf *u, joint *j) {
  char owner[TBI_OWNER_SIZE];
  tabi_joint_def def = tabi_joint_def_default();
  tbi_urdf_owner(owner, "joint", j->name);
  def.type = j->type;
  def.parent = u->links[j->parent].index;
  def.child = u->links[j->child].index;
  def.place = j->node->place;
  tabi_status status = tbi_urdf_origin(j->node, owner, def.pos, def.quat, u->err);
  if (status == TABI_OK) status = read_motion(u, j, owner, &def);
  if (status != TABI_OK) return status;
  if (j->parent == u->world) make_base(u, &def);
  def.name = full_name(u, j->name);
  if (!def.name) return tbi_error_memory(u->err);
  j->index = tabi_builder_add_joint(u->builder, &def);
  return builder_status(u);
}

static tabi_status add_mimic(urdf *u, const joint *j) {
  tbi_xml_node *mimic = tbi_xml_child(j->node, "mimic");
  if (!mimic) return TABI_OK;
  char owner[TBI_OWNER_SIZE];
  tbi_urdf_owner(owner, "joint", j->name);
  const char *leader = tbi_xml_get(mimic, "joint");
  int32_t found = leader ? tbi_names_find(&u->joint_names, leader) : -1;
  if (found < 0) {
    return tbi_error_set(u->err, TABI_ERR_MODEL, mimic->place,
                         "%s: joint '%.100s' to mimic does not exist", owner, leader ? leader : "");
  }
  tabi_coupling_def def = tabi_coupling_def_default();
  def.joint = j->index;
  def.leader = u->joints[found].index;
  def.place = mimic->place;
  tabi_status status = tbi_urdf_number(mimic, "offset", owner, &def.coef[0], u->err);
  if (status == TABI_OK) status = tbi_urdf_number(mimic, "multiplier", owner, &def.coef[1], u->err);
  if (status != TABI_OK) return status;
  def.name = full_name(u, j->name);
  if (!def.name) return tbi_error_memory(u->err);
  (void)tabi_builder_add_coupling(u->builder, &def);
  return builder_status(u);
}

static tabi_status check_not_xacro(const urdf *u) {
  for (const tbi_xml_node *node = u->root->first; node; node = node->next) {
    if (strncmp(node->name, "xacro:", 6) != 0) continue;
    return tbi_error_set(u->err, TABI_ERR_PARSE, node->place,
                         "<%.40s> is not URDF; expand the file by xacro first", node->name);
  }
  return TABI_OK;
}

static tabi_status load_robot(urdf *u) {
  (void)tbi_xml_get(u->root, "name");
  (void)tbi_xml_get(u->root, "version");
  tabi_status status = check_not_xacro(u);
  if (status == TABI_OK) status = tbi_urdf_shapes_init(&u->shapes, u->root);
  if (status == TABI_OK) status = add_links(u);
  if (status == TABI_OK) status = list_joints(u);
  if (status != TABI_OK) return status;
  // without any root there is a loop, which the builder describes
  int32_t root = next_root(u, -1);
  // many files write out a massless link, mostly called "world", and a floating joint below it:
  // that link is the world and its joint the base; with planar joints below it can only stand in
  // the world
  u->world = root >= 0 && is_weightless(u, root, TABI_JOINT_FREE) ? root : -1;
  u->planar =
      root >= 0 && u->def->base == TABI_BASE_AS_FILE && is_weightless(u, root, TABI_JOINT_PLANAR);
  if (root >= 0 && u->world < 0) status = add_base(u, &u->links[root]);
  for (int32_t i = 0; i < u->njoint && status == TABI_OK; ++i)
    status = add_joint(u, &u->joints[i]);
  for (int32_t i = 0; i < u->njoint && status == TABI_OK; ++i)
    status = add_mimic(u, &u->joints[i]);
  return status == TABI_OK ? check_one_root(u, root) : status;
}

tabi_status tbi_urdf_load(tabi_builder *builder, tbi_xml_node *root, const char *path,
                          const tabi_load_def *def, tabi_error *err) {
  urdf u = {.builder = builder, .root = root, .def = def, .err = err, .world = -1};
  u.meshes = tbi_meshes_create(builder, path, def);
  if (!u.meshes) return tbi_error_memory(err);
  u.shapes = (tbi_urdf_shapes){.builder = builder, .meshes = u.meshes, .def = def, .err = err};
  tabi_status status = load_robot(&u);
  if (status == TABI_OK) {
    tbi_meshes_report_missing(u.meshes);
    tbi_xml_report_ignored(root, def->warn, def->warn_user);
  }
  tbi_urdf_shapes_free(&u.shapes);
  tbi_meshes_destroy(u.meshes);
  tbi_names_free(&u.link_names);
  tbi_names_free(&u.joint_names);
  free(u.links);
  free(u.joints);
  free(u.name);
  return status;
}

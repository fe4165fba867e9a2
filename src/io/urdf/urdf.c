/* urdf.c - URDF: a flat list of links and joints becomes a tree.
 *
 * Links come first, so that joints can name them in any order; then the root is found, hung in the
 * world by a joint called "base", and the joints follow.  Checks whose
 * message needs knowledge of the file are made here, those that hold for every robot in the
 * builder. */
#include "io/urdf/urdf.h"

#include "base/array.h"
#include "base/assertion.h"
#include "base/error.h"
#include "base/names.h"
#include "io/format.h"
#include "io/mesh/mesh.h"
#include "io/repair.h"
#include "io/report.h"
#include "io/urdf/urdf_extra.h"
#include "io/urdf/urdf_limit.h"
#include "io/urdf/urdf_read.h"
#include "io/urdf/urdf_sensor.h"
#include "io/urdf/urdf_shape.h"
#include "io/weigh.h"
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
  bool has_mass;
} link;

typedef struct urdf {
  tabi_builder *builder;
  tbi_xml_node *root;
  const tabi_load_def *def;
  tbi_first_error *error;
  tbi_meshes *meshes;
  tbi_urdf_extras extras;
  tbi_urdf_shapes shapes;
  tbi_urdf_limits limits;
  link *links;
  joint *joints;
  int32_t nlink, link_capacity, njoint, joint_capacity;
  tbi_names link_names, joint_names; /* without the prefix */
  char *name;                        /* the last name with its prefix */
  size_t name_size;
  int32_t world; /* the link that is the world itself, or -1 */
  bool stands;   /* the root is fixed in the world, whatever the caller says of others */
  bool placed;   /* the placement that def asks for is done */
} urdf;

/* The name with the caller's prefix, until the next call; NULL after an error. */
static const char *full_name(urdf *u, const char *name) {
  const char *prefix = u->def->prefix ? u->def->prefix : "";
  size_t needed = strlen(prefix) + strlen(name) + 1;
  if (needed > u->name_size) {
    char *more = realloc(u->name, 2 * needed);
    if (!more) {
      tbi_fail_memory(u->error);
      return NULL;
    }
    u->name = more;
    u->name_size = 2 * needed;
  }
  (void)snprintf(u->name, u->name_size, "%s%s", prefix, name);
  return u->name;
}

static tbi_urdf_reading reading_of(const urdf *u) { return (tbi_urdf_reading){u->error, u->def}; }

static bool need_name(const urdf *u, tbi_xml_node *node, const char **name) {
  *name = tbi_xml_get(node, "name");
  if (*name && (*name)[0] != '\0') return tbi_ok(u->error);
  return tbi_fail_at(u->error, TABI_ERR_PARSE, node->place, "%s without 'name'", node->name);
}

/* NULL where it is not there, which is told, and after an error. */
static tbi_xml_node *may_lack(const urdf *u, tbi_xml_node *node, const char *name,
                              const char *owner, const char *instead) {
  tbi_xml_node *child = tbi_xml_child(node, name);
  if (!child) {
    tbi_repaired(u->error, u->def, node->place, (tbi_repair){owner, instead, 0},
                 "<%s> without <%s>", node->name, name);
  }
  return tbi_ok(u->error) ? child : NULL;
}

static void need_number(const urdf *u, tbi_xml_node *node, const char *attribute, const char *owner,
                        double *value) {
  if (tbi_xml_get(node, attribute)) {
    tbi_urdf_number(u->error, node, attribute, owner, value);
  } else {
    tbi_fail_at(u->error, TABI_ERR_PARSE, node->place, "%s: <%s> without '%s'", owner, node->name,
                attribute);
  }
}

/* Six moments about the centre of mass, in the axes of <origin>. */
static void read_moments(const urdf *u, tbi_xml_node *node, const char *owner, double inertia[6]) {
  static const char *const names[6] = {"ixx", "iyy", "izz", "ixy", "ixz", "iyz"};
  for (int i = 0; i < 3; ++i)
    need_number(u, node, names[i], owner, &inertia[i]);
  for (int i = 3; i < 6; ++i)
    tbi_urdf_number(u->error, node, names[i], owner, &inertia[i]);
}

static void read_inertial(const urdf *u, tbi_xml_node *node, const char *owner,
                          tabi_link_def *def) {
  double moments[6] = {0};
  double axes[4] = {1, 0, 0, 0};
  tbi_urdf_origin(reading_of(u), node, owner, def->com, axes);
  tbi_xml_node *mass = may_lack(u, node, "mass", owner, "taken as no mass");
  if (mass) need_number(u, mass, "value", owner, &def->mass);
  tbi_xml_node *inertia = may_lack(u, node, "inertia", owner, "taken as none");
  if (inertia) read_moments(u, inertia, owner, moments);
  m3 r = q_matrix(q_load(axes));
  s3_store(s3_rotate(&r, s3_load(moments)), def->inertia);
  tabi_place place = inertia ? inertia->place : node->place;
  tbi_repair_inertia(u->error, u->def, place, owner, def->mass, def->inertia);
}

/* Remembers a link under its name in the file. */
static bool list_link(urdf *u, const link *added) {
  void *items = u->links;
  bool room = tbi_array_reserve(&items, &u->link_capacity, u->nlink, 1, sizeof(link));
  u->links = items;
  if (!room || !tbi_names_add(&u->link_names, added->name, u->nlink))
    return tbi_fail_memory(u->error);
  u->links[u->nlink++] = *added;
  return true;
}

static void add_link(urdf *u, tbi_xml_node *node) {
  char owner[TBI_OWNER_SIZE];
  tabi_link_def def = tabi_link_def_default();
  link added = {.node = node};
  if (!need_name(u, node, &added.name)) return;
  tbi_urdf_owner(owner, "link", added.name);
  tbi_xml_node *inertial = tbi_xml_child(node, "inertial");
  if (inertial) read_inertial(u, inertial, owner, &def);
  if (tbi_urdf_extras_is_weightless(&u->extras, added.name)) def.buoyancy = 1;
  def.place = node->place;
  def.name = full_name(u, added.name);
  if (!tbi_ok(u->error)) return;
  added.has_mass = def.mass > 0;
  added.index = tabi_builder_add_link(u->builder, &def);
  if (tbi_take_builder(u->error, u->builder) && list_link(u, &added))
    tbi_urdf_shapes_add(&u->shapes, node, added.index, added.name);
}

static void add_links(urdf *u) {
  tbi_xml_node *node = tbi_xml_child(u->root, "link");
  if (!node) tbi_fail_at(u->error, TABI_ERR_MODEL, u->root->place, "robot without links");
  for (; node && tbi_ok(u->error); node = tbi_xml_next(node))
    add_link(u, node);
}

static bool read_type(const urdf *u, tbi_xml_node *node, const char *owner, tabi_joint_type *type) {
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
      {"spherical",  TABI_JOINT_BALL      },
  };
  const char *text = tbi_xml_get(node, "type");
  for (size_t i = 0; text && i < sizeof types / sizeof *types; ++i) {
    if (strcmp(text, types[i].name) != 0) continue;
    *type = types[i].type;
    return tbi_ok(u->error);
  }
  return tbi_fail_at(u->error, TABI_ERR_PARSE, node->place,
                     "%s: unknown type '%.60s' (revolute, continuous, prismatic, fixed, "
                     "floating, planar, spherical)",
                     owner, text ? text : "");
}

/* A joint may hang from "world" without a link of that name, as Drake and Simbody read it. */
static int32_t add_world(urdf *u, tbi_xml_node *node) {
  tabi_link_def def = tabi_link_def_default();
  link added = {.node = node, .name = "world"};
  def.place = node->place;
  def.name = full_name(u, added.name);
  if (!tbi_ok(u->error)) return -1;
  tbi_note(u->def, node->place, "there is no link 'world'; the world is taken");
  added.index = tabi_builder_add_link(u->builder, &def);
  if (!tbi_take_builder(u->error, u->builder) || !list_link(u, &added)) return -1;
  return u->nlink - 1;
}

/* The link that <parent> or <child> names; -1 after an error. */
static int32_t read_end(urdf *u, tbi_xml_node *node, const char *end, const char *owner) {
  tbi_xml_node *child = tbi_xml_child(node, end);
  const char *name = child ? tbi_xml_get(child, "link") : NULL;
  if (!name) {
    tbi_fail_at(u->error, TABI_ERR_PARSE, node->place, "%s: no <%s link=\"...\"/>", owner, end);
    return -1;
  }
  int32_t found = tbi_names_find(&u->link_names, name);
  if (found < 0 && strcmp(end, "parent") == 0 && strcmp(name, "world") == 0)
    return add_world(u, child);
  if (found < 0) {
    tbi_fail_at(u->error, TABI_ERR_MODEL, child->place, "%s: %s link '%.100s' does not exist",
                owner, end, name);
  }
  return found;
}

static bool keep_joint(urdf *u, const joint *j) {
  void *items = u->joints;
  bool room = tbi_array_reserve(&items, &u->joint_capacity, u->njoint, 1, sizeof(joint));
  u->joints = items;
  if (!room) return tbi_fail_memory(u->error);
  // the builder reports a second joint with the same name
  if (tbi_names_find(&u->joint_names, j->name) < 0 &&
      !tbi_names_add(&u->joint_names, j->name, u->njoint)) {
    return tbi_fail_memory(u->error);
  }
  u->joints[u->njoint++] = *j;
  return true;
}

static void list_joint(urdf *u, tbi_xml_node *node) {
  char owner[TBI_OWNER_SIZE];
  joint j = {.node = node, .index = TABI_NONE};
  if (!need_name(u, node, &j.name)) return;
  tbi_urdf_owner(owner, "joint", j.name);
  read_type(u, node, owner, &j.type);
  if (u->extras.is_static) j.type = TABI_JOINT_FIXED;
  j.parent = read_end(u, node, "parent", owner);
  j.child = read_end(u, node, "child", owner);
  if (!tbi_ok(u->error)) return;
  if (j.parent == j.child) {
    tbi_fail_at(u->error, TABI_ERR_MODEL, node->place, "%s: parent and child are both '%s'", owner,
                u->links[j.parent].name);
    return;
  }
  u->links[j.child].has_parent = true;
  keep_joint(u, &j);
}

static void list_joints(urdf *u) {
  tbi_xml_node *node = tbi_xml_child(u->root, "joint");
  for (; node && tbi_ok(u->error); node = tbi_xml_next(node))
    list_joint(u, node);
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
  if (def->base == TABI_BASE_FIXED || u->stands) return;
  base->type = TABI_JOINT_FREE;
  memcpy(base->initial_q, base->pos, sizeof base->pos);
  memcpy(base->initial_q + 3, base->quat, sizeof base->quat);
  v3_store(v3_zero(), base->pos);
  q_store(q_identity(), base->quat);
}

static void add_base(urdf *u, const link *root) {
  tabi_joint_def base = tabi_joint_def_default();
  make_base(u, &base);
  base.child = root->index;
  base.place = root->node->place;
  // a joint of the file may have the name already
  base.name = full_name(u, tbi_names_find(&u->joint_names, "base") < 0 ? "base" : "base_root");
  if (!base.name) return;
  (void)tabi_builder_add_joint(u->builder, &base);
  tbi_take_builder(u->error, u->builder);
}

static void check_one_root(const urdf *u, int32_t root) {
  int32_t second = root >= 0 ? next_root(u, root) : -1;
  if (second < 0) return;
  tbi_fail_at(u->error, TABI_ERR_MODEL, u->links[second].node->place,
              "two root links: '%.100s', '%.100s'; join them by a joint", u->links[root].name,
              u->links[second].name);
}

/* Whether a link is fixed to the root, walking up where nobody has been. */
static bool reaches(const urdf *u, int32_t root, int32_t at, const int32_t *above, bool *seen) {
  while (at != root && !seen[at]) {
    seen[at] = true;
    const joint *j = above[at] >= 0 ? &u->joints[above[at]] : NULL;
    if (!j || j->type != TABI_JOINT_FIXED) return false;
    at = j->parent;
  }
  return at == root;
}

/* Whether the root, with all that is fixed to it, weighs something. */
static bool is_heavy(const urdf *u, int32_t root) {
  int32_t *above = malloc((size_t)u->nlink * sizeof *above);
  bool *seen = calloc((size_t)u->nlink, sizeof *seen);
  bool heavy = !above || !seen;
  if (heavy) tbi_fail_memory(u->error);
  for (int32_t i = 0; i < u->nlink && !heavy; ++i)
    above[i] = TABI_NONE;
  for (int32_t i = 0; i < u->njoint && !heavy; ++i)
    above[u->joints[i].child] = i;
  for (int32_t i = 0; i < u->nlink && !heavy; ++i)
    heavy = u->links[i].has_mass && reaches(u, root, i, above, seen);
  free(above);
  free(seen);
  return heavy;
}

/* A root without mass cannot float: planes, tables, and what many files call "world", to which even
 * heavy links are fixed. */
static void settle_root(urdf *u, int32_t root) {
  const link *base = &u->links[root];
  bool as_file = u->def->base == TABI_BASE_AS_FILE;
  bool is_world = !base->has_mass && strcmp(base->name, "world") == 0;
  bool planar = is_weightless(u, root, TABI_JOINT_PLANAR);
  u->stands = u->extras.is_static || (as_file && (planar || is_world));
  if (u->stands || !as_file || is_heavy(u, root)) return;
  u->stands = true;
  char owner[TBI_OWNER_SIZE];
  tbi_urdf_owner(owner, "link", base->name);
  tbi_repaired(u->error, u->def, base->node->place, (tbi_repair){owner, "fixed in the world", 0},
               "root without mass");
}

static bool has_one_coordinate(tabi_joint_type type) {
  return tbi_urdf_has_range(type) || type == TABI_JOINT_CONTINUOUS;
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

static void read_motion(const urdf *u, const joint *j, const char *owner, tabi_joint_def *def) {
  def->axis[0] = 1;
  def->axis[1] = def->axis[2] = 0;
  if (j->type == TABI_JOINT_FIXED || j->type == TABI_JOINT_FREE || j->type == TABI_JOINT_BALL) {
    skip_motion(j->node);
    return;
  }
  tbi_xml_node *axis = tbi_xml_child(j->node, "axis");
  tbi_xml_node *dynamics = tbi_xml_child(j->node, "dynamics");
  if (axis) tbi_urdf_vector(reading_of(u), axis, "xyz", owner, 3, def->axis);
  if (dynamics) {
    tbi_urdf_number(u->error, dynamics, "damping", owner, &def->damping);
    tbi_urdf_number(u->error, dynamics, "friction", owner, &def->friction);
    tbi_repair_negative(u->error, u->def, dynamics->place, owner, "damping", &def->damping);
    tbi_repair_negative(u->error, u->def, dynamics->place, owner, "friction", &def->friction);
  }
  tbi_urdf_limits_read(&u->limits, j->node, owner, def);
}

static void add_joint(urdf *u, joint *j) {
  TBI_ASSERT(j->parent >= 0 && j->parent < u->nlink && j->child >= 0 && j->child < u->nlink);
  char owner[TBI_OWNER_SIZE];
  tabi_joint_def def = tabi_joint_def_default();
  tbi_urdf_owner(owner, "joint", j->name);
  def.type = j->type;
  def.parent = u->links[j->parent].index;
  def.child = u->links[j->child].index;
  def.place = j->node->place;
  tbi_urdf_origin(reading_of(u), j->node, owner, def.pos, def.quat);
  read_motion(u, j, owner, &def);
  if (has_one_coordinate(j->type)) tbi_urdf_extras_joint(&u->extras, j->name, &def);
  if (j->parent == u->world) make_base(u, &def);
  def.name = full_name(u, j->name);
  if (!tbi_ok(u->error)) return;
  j->index = tabi_builder_add_joint(u->builder, &def);
  tbi_take_builder(u->error, u->builder);
}

/* The joint that another one follows, by itself or through others that follow in turn. */
typedef struct following {
  const joint *leader;
  double offset, multiplier;
} following;

/* A coupling that cannot be is left out, and told. */
static bool skip_mimic(const urdf *u, const joint *j, tbi_xml_node *mimic, const char *why,
                       const char *leader) {
  char owner[TBI_OWNER_SIZE];
  tbi_urdf_owner(owner, "joint", j->name);
  tbi_repaired(u->error, u->def, mimic->place, (tbi_repair){owner, "coupling left out", 0},
               "mimics '%.100s', which %s", leader ? leader : "", why);
  tbi_xml_use_all(mimic);
  return false;
}

/* One step of a chain: what j follows. */
static bool read_mimic(const urdf *u, const joint *j, following *f) {
  char owner[TBI_OWNER_SIZE];
  tbi_xml_node *mimic = tbi_xml_child(j->node, "mimic");
  tbi_urdf_owner(owner, "joint", j->name);
  const char *leader = tbi_xml_get(mimic, "joint");
  int32_t found = leader ? tbi_names_find(&u->joint_names, leader) : -1;
  *f = (following){.multiplier = 1};
  tbi_urdf_number(u->error, mimic, "offset", owner, &f->offset);
  tbi_urdf_number(u->error, mimic, "multiplier", owner, &f->multiplier);
  if (!tbi_ok(u->error)) return false;
  if (found < 0) return skip_mimic(u, j, mimic, "does not exist", leader);
  f->leader = &u->joints[found];
  if (!has_one_coordinate(f->leader->type)) return skip_mimic(u, j, mimic, "does not move", leader);
  return true;
}

/* q = a (a' q' + b') + b until a joint that follows nobody. */
static bool follow(const urdf *u, const joint *j, following *f) {
  if (!read_mimic(u, j, f)) return false;
  tbi_xml_node *mimic = tbi_xml_child(j->node, "mimic");
  for (int32_t steps = 0; tbi_xml_child(f->leader->node, "mimic"); ++steps) {
    if (f->leader == j || steps > u->njoint)
      return skip_mimic(u, j, mimic, "follows it", tbi_xml_get(mimic, "joint"));
    following next;
    if (!read_mimic(u, f->leader, &next)) return tbi_ok(u->error);
    f->offset += f->multiplier * next.offset;
    f->multiplier *= next.multiplier;
    f->leader = next.leader;
  }
  return true;
}

static void add_mimic(urdf *u, const joint *j) {
  tbi_xml_node *mimic = tbi_xml_child(j->node, "mimic");
  following f;
  if (!mimic || u->extras.is_static) return;
  if (!has_one_coordinate(j->type)) {
    const char *why = j->type == TABI_JOINT_FIXED
                          ? "it cannot follow since it is fixed"
                          : "it cannot follow since it moves in several ways";
    skip_mimic(u, j, mimic, why, tbi_xml_get(mimic, "joint"));
    return;
  }
  if (!follow(u, j, &f)) return;
  tabi_coupling_def def = tabi_coupling_def_default();
  def.joint = j->index;
  def.leader = f.leader->index;
  def.coef[0] = f.offset;
  def.coef[1] = f.multiplier;
  def.place = mimic->place;
  def.name = full_name(u, j->name);
  if (!tbi_ok(u->error)) return;
  (void)tabi_builder_add_coupling(u->builder, &def);
  tbi_take_builder(u->error, u->builder);
}

/* Hangs the root in the world and adds all joints. */
static void add_joints(urdf *u) {
  // without any root there is a loop, which the builder describes
  int32_t root = next_root(u, -1);
  // many files write out a massless link, mostly called "world", and a floating joint below it:
  // that link is the world and its joint the base; with planar joints below it can only be
  // fixed to the world
  u->world = root >= 0 && is_weightless(u, root, TABI_JOINT_FREE) ? root : -1;
  if (root >= 0 && u->world < 0) settle_root(u, root);
  if (root >= 0 && u->world < 0 && tbi_ok(u->error)) add_base(u, &u->links[root]);
  for (int32_t i = 0; i < u->njoint && tbi_ok(u->error); ++i)
    add_joint(u, &u->joints[i]);
  for (int32_t i = 0; i < u->njoint && tbi_ok(u->error); ++i)
    add_mimic(u, &u->joints[i]);
  check_one_root(u, root);
}

static void add_sensors(urdf *u) {
  for (int32_t i = 0; i < u->nlink && tbi_ok(u->error); ++i)
    tbi_urdf_sensors_add(&u->extras, u->links[i].name, u->links[i].index, TABI_NONE);
  for (int32_t i = 0; i < u->njoint && tbi_ok(u->error); ++i)
    tbi_urdf_sensors_add(&u->extras, u->joints[i].name, TABI_NONE, u->joints[i].index);
}

/* What the file leaves out, and the robot cannot move without. */
static void add_masses(urdf *u) {
  bool *has_shapes = malloc((size_t)u->nlink * sizeof *has_shapes);
  if (!has_shapes) {
    tbi_fail_memory(u->error);
    return;
  }
  for (int32_t i = 0; i < u->nlink; ++i) {
    tbi_xml_node *node = u->links[i].node;
    has_shapes[i] = tbi_xml_child(node, "visual") || tbi_xml_child(node, "collision");
  }
  tbi_weigh weigh = {u->builder, u->def, u->links[0].index, has_shapes};
  if (tbi_weigh_massless(&weigh, u->error)) (void)tbi_weigh_singular(&weigh, u->error);
  free(has_shapes);
}

static void load_robot(urdf *u) {
  (void)tbi_xml_get(u->root, "name");
  (void)tbi_xml_get(u->root, "version");
  if (!tbi_urdf_check_expanded(u->error, u->root)) return;
  tbi_urdf_extras_init(&u->extras, u->root);
  tbi_urdf_shapes_init(&u->shapes, u->root);
  if (tbi_ok(u->error)) add_links(u);
  if (tbi_ok(u->error)) list_joints(u);
  tbi_urdf_limits_init(&u->limits, u->root);
  if (tbi_ok(u->error)) add_joints(u);
  if (tbi_ok(u->error)) add_sensors(u);
  if (tbi_ok(u->error)) add_masses(u);
}

tabi_status tbi_urdf_load(tabi_builder *builder, tbi_xml_node *root, const char *path,
                          const tabi_load_def *def, tabi_error *err) {
  tbi_first_error error = {.err = err};
  urdf u = {.builder = builder, .root = root, .def = def, .error = &error, .world = -1};
  u.meshes = tbi_meshes_create(builder, path, def);
  if (!u.meshes) return tbi_error_memory(err);
  u.extras = (tbi_urdf_extras){.builder = builder, .path = path, .def = def, .error = &error};
  u.shapes = (tbi_urdf_shapes){
      .builder = builder, .meshes = u.meshes, .extras = &u.extras, .def = def, .error = &error};
  u.limits = (tbi_urdf_limits){.def = def, .error = &error};
  load_robot(&u);
  if (tbi_ok(&error)) {
    tbi_meshes_report_missing(u.meshes);
    tbi_format_tell_ignored(&tbi_urdf_format, root, def);
  }
  tbi_urdf_shapes_free(&u.shapes);
  tbi_urdf_extras_free(&u.extras);
  tbi_meshes_destroy(u.meshes);
  tbi_names_free(&u.link_names);
  tbi_names_free(&u.joint_names);
  free(u.links);
  free(u.joints);
  free(u.name);
  return error.status;
}

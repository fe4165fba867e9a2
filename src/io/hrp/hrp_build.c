/* hrp_build.c - a gathered robot becomes links, joints, shapes, sensors and connections. */
#include "base/array.h"
#include "base/assertion.h"
#include "base/error.h"
#include "io/hrp/hrp_robot.h"
#include "io/repair.h"
#include "io/report.h"
#include "io/weigh.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NAME_SIZE 512

const char *tbi_hrp_keep(tbi_hrp *hrp, const char *text) {
  const char *kept = tbi_text_add(&hrp->text, text);
  if (!kept) tbi_fail_memory(&hrp->error);
  return kept;
}

/* ------------------------------------------------------------------------------- gathering */

static bool reserve(tbi_hrp *hrp, void **items, int32_t *capacity, int32_t count, size_t size) {
  if (!tbi_ok(&hrp->error)) return false;
  return tbi_array_reserve(items, capacity, count, 1, size) || tbi_fail_memory(&hrp->error);
}

tbi_hrp_link *tbi_hrp_add_link(tbi_hrp *hrp, const char *name, tabi_place place) {
  const char *kept = tbi_ok(&hrp->error) ? tbi_hrp_keep(hrp, name) : NULL;
  if (!kept) return NULL;
  if (hrp->nlink == TBI_HRP_MAX_LINKS) {
    tbi_fail_at(&hrp->error, TABI_ERR_MODEL, place, "more than %d links", TBI_HRP_MAX_LINKS);
    return NULL;
  }
  int32_t first = tbi_names_find(&hrp->link_names, name);
  if (first >= 0) {
    tbi_fail_at(&hrp->error, TABI_ERR_MODEL, place,
                "link '%.100s' defined twice (first at line %d); give each its own name", name,
                hrp->links[first].place.line);
    return NULL;
  }
  void *items = hrp->links;
  bool room = reserve(hrp, &items, &hrp->cap_link, hrp->nlink, sizeof *hrp->links);
  hrp->links = items;
  if (!room) return NULL;
  if (!tbi_names_add(&hrp->link_names, kept, hrp->nlink)) {
    tbi_fail_memory(&hrp->error);
    return NULL;
  }
  tbi_hrp_link *link = &hrp->links[hrp->nlink++];
  *link = (tbi_hrp_link){.name = kept,
                         .parent = TABI_NONE,
                         .place = place,
                         .joint = tabi_joint_def_default(),
                         .index = TABI_NONE};
  link->joint.place = place;
  return link;
}

void tbi_hrp_add_mass(tbi_hrp *hrp, int32_t link, double mass, v3 com, s3 inertia) {
  tbi_hrp_link *to = &hrp->links[link];
  double sum = to->mass + mass;
  v3 both = com;
  if (sum > 0) both = v3_scale(1 / sum, v3_axpy(v3_scale(to->mass, to->com), mass, com));
  s3 old = s3_add(to->inertia, s3_point_mass(to->mass, v3_sub(to->com, both)));
  to->inertia = s3_add(old, s3_add(inertia, s3_point_mass(mass, v3_sub(com, both))));
  to->mass = sum;
  to->com = both;
}

/* Two sensors with one name would be an error of the builder; files have them. */
static const char *sensor_name(tbi_hrp *hrp, int32_t link, const char *name) {
  char made[NAME_SIZE];
  if (!name || name[0] == '\0') name = hrp->links[link].name;
  (void)snprintf(made, sizeof made, "%.400s", name);
  for (int i = 2; tbi_names_find(&hrp->sensor_names, made) >= 0; ++i)
    (void)snprintf(made, sizeof made, "%.400s_%d", name, i);
  const char *kept = tbi_hrp_keep(hrp, made);
  if (kept && !tbi_names_add(&hrp->sensor_names, kept, hrp->nsensor)) {
    tbi_fail_memory(&hrp->error);
    return NULL;
  }
  return kept;
}

tbi_hrp_sensor *tbi_hrp_add_sensor(tbi_hrp *hrp, int32_t link, tabi_sensor_type type,
                                   const char *name, tabi_place place) {
  const char *kept = tbi_ok(&hrp->error) ? sensor_name(hrp, link, name) : NULL;
  void *items = hrp->sensors;
  bool room = kept && reserve(hrp, &items, &hrp->cap_sensor, hrp->nsensor, sizeof *hrp->sensors);
  hrp->sensors = items;
  if (!room) return NULL;
  tbi_hrp_sensor *sensor = &hrp->sensors[hrp->nsensor++];
  *sensor = (tbi_hrp_sensor){link, tabi_sensor_def_default()};
  sensor->def.type = type;
  sensor->def.name = kept;
  sensor->def.place = place;
  return sensor;
}

tbi_hrp_extra *tbi_hrp_add_extra(tbi_hrp *hrp, const char *name, tabi_place place) {
  const char *kept = name && tbi_ok(&hrp->error) ? tbi_hrp_keep(hrp, name) : NULL;
  void *items = hrp->extras;
  bool room = reserve(hrp, &items, &hrp->cap_extra, hrp->nextra, sizeof *hrp->extras);
  hrp->extras = items;
  if (!room) return NULL;
  tbi_hrp_extra *extra = &hrp->extras[hrp->nextra++];
  *extra = (tbi_hrp_extra){
      .name = kept, .axis = {0, 0, 1},
           .type = TABI_CONNECTION_BALL, .place = place
  };
  return extra;
}

void tbi_hrp_set_axis_joint(tabi_joint_def *joint, bool slides, double lower, double upper) {
  bool free = isinf(lower) && isinf(upper);
  joint->type =
      slides ? TABI_JOINT_PRISMATIC : (free ? TABI_JOINT_CONTINUOUS : TABI_JOINT_REVOLUTE);
  joint->lower = lower;
  joint->upper = upper;
}

const tbi_format_row *tbi_hrp_find_row(const tbi_format *format, const char *owner,
                                       const char *name) {
  const tbi_xml_node node = {.name = owner};
  return tbi_format_find(format, &node, name);
}

void tbi_hrp_tell(tbi_hrp *hrp, tabi_place place, const tbi_format_row *row, const char *kind,
                  const char *name) {
  char both[NAME_SIZE];
  if (row && row->use <= TBI_APPROXIMATED) return;
  (void)snprintf(both, sizeof both, "%.100s %.100s", kind, name);
  if (!tbi_ok(&hrp->error) || tbi_names_find(&hrp->told, both) >= 0) return;
  const char *kept = tbi_hrp_keep(hrp, both);
  if (!kept) return;
  char why[160] = "tabi does not know it";
  if (row) tbi_format_plain(row->how ? row->how : "", why, sizeof why);
  const char *colon = why[0] ? ": " : "";
  if (!tbi_names_add(&hrp->told, kept, 0)) {
    tbi_fail_memory(&hrp->error);
  } else if (row && row->use == TBI_COSMETIC) {
    tbi_note(hrp->def, place, "%s is ignored%s%s", both, colon, why);
  } else {
    tbi_warn(hrp->def, place, "%s is ignored%s%s", both, colon, why);
  }
}

/* ------------------------------------------------------------------------------------ tree */

/* Parents that are known by name; one link must be left without. */
static int32_t find_root(tbi_hrp *hrp) {
  int32_t root = TABI_NONE;
  for (int32_t i = 0; i < hrp->nlink; ++i) {
    tbi_hrp_link *link = &hrp->links[i];
    if (link->parent_name) {
      link->parent = tbi_names_find(&hrp->link_names, link->parent_name);
      if (link->parent < 0) {
        tbi_fail_at(&hrp->error, TABI_ERR_MODEL, link->place,
                    "link '%.100s': parent '%.100s' does not exist", link->name, link->parent_name);
        return TABI_NONE;
      }
    } else if (link->parent == TABI_NONE && root == TABI_NONE) {
      root = i;
    } else if (link->parent == TABI_NONE) {
      tbi_fail_at(&hrp->error, TABI_ERR_MODEL, link->place,
                  "two root links: '%.100s', '%.100s'; give one a parent", hrp->links[root].name,
                  link->name);
      return TABI_NONE;
    }
  }
  if (root == TABI_NONE)
    tbi_fail_at(&hrp->error, TABI_ERR_MODEL, (tabi_place){hrp->path, 1}, "no root link");
  return root;
}

/* Parents before children; false after an error: links in a circle. */
static bool order_links(tbi_hrp *hrp, int32_t *order) {
  int32_t count = 0;
  for (bool more = true; more;) {
    more = false;
    for (int32_t i = 0; i < hrp->nlink; ++i) {
      tbi_hrp_link *link = &hrp->links[i];
      if (link->index != TABI_NONE) continue;
      if (link->parent != TABI_NONE && hrp->links[link->parent].index == TABI_NONE) continue;
      link->index = 0; // replaced by the builder's
      order[count++] = i;
      more = true;
    }
  }
  for (int32_t i = 0; i < hrp->nlink; ++i) {
    if (hrp->links[i].index != TABI_NONE) continue;
    return tbi_fail_at(&hrp->error, TABI_ERR_MODEL, hrp->links[i].place,
                       "link '%.100s' is its own ancestor", hrp->links[i].name);
  }
  return true;
}

static char *full_name(tbi_hrp *hrp, const char *name) {
  const char *prefix = hrp->def->prefix ? hrp->def->prefix : "";
  char *full = tbi_text_join(prefix, name);
  if (!full) tbi_fail_memory(&hrp->error);
  return full;
}

/* How the root hangs in the world, and where: as the caller wants it, or else the file. */
static void place_root(const tbi_hrp *hrp, tabi_joint_def *joint) {
  const tabi_load_def *def = hrp->def;
  if (def->place_base) {
    memcpy(joint->pos, def->base_pos, sizeof joint->pos);
    memcpy(joint->quat, def->base_quat, sizeof joint->quat);
  }
  if (def->base != TABI_BASE_AS_FILE)
    joint->type = def->base == TABI_BASE_FREE ? TABI_JOINT_FREE : TABI_JOINT_FIXED;
  if (joint->type != TABI_JOINT_FREE) return;
  memcpy(joint->initial_q, joint->pos, sizeof joint->pos);
  memcpy(joint->initial_q + 3, joint->quat, sizeof joint->quat);
  v3_store(v3_zero(), joint->pos);
  q_store(q_identity(), joint->quat);
}

/* Faults that files often have. */
static void repair(tbi_hrp *hrp, const tbi_hrp_link *link, tabi_link_def *def,
                   tabi_joint_def *joint) {
  char item[NAME_SIZE];
  (void)snprintf(item, sizeof item, "link '%.80s'", link->name);
  tbi_repair_inertia(&hrp->error, hrp->def, link->place, item, def->mass, def->inertia);
  (void)snprintf(item, sizeof item, "joint '%.80s'", link->name);
  tbi_repair_limits(&hrp->error, hrp->def, link->place, item, &joint->lower, &joint->upper);
}

static void build_link(tbi_hrp *hrp, tbi_hrp_link *link) {
  tabi_link_def def = tabi_link_def_default();
  tabi_joint_def joint = link->joint;
  char *name = full_name(hrp, link->name);
  def.name = joint.name = name;
  def.mass = link->mass;
  v3_store(link->com, def.com);
  s3_store(link->inertia, def.inertia);
  def.place = link->place;
  repair(hrp, link, &def, &joint);
  if (tbi_ok(&hrp->error)) link->index = tabi_builder_add_link(hrp->builder, &def);
  joint.child = link->index;
  joint.parent = link->parent == TABI_NONE ? TABI_WORLD : hrp->links[link->parent].index;
  if (link->parent == TABI_NONE) place_root(hrp, &joint);
  if (tbi_take_builder(&hrp->error, hrp->builder)) {
    link->joint = joint;
    (void)tabi_builder_add_joint(hrp->builder, &joint);
    tbi_take_builder(&hrp->error, hrp->builder);
  }
  free(name);
}

static bool stands(const tbi_hrp *hrp, int32_t link) {
  for (; link != TABI_NONE; link = hrp->links[link].parent) {
    if (hrp->links[link].joint.type != TABI_JOINT_FIXED) return false;
  }
  return true;
}

/* --------------------------------------------------------------------------------- sensors */

static void build_sensor(tbi_hrp *hrp, tbi_hrp_sensor *sensor) {
  const tbi_hrp_link *link = &hrp->links[sensor->link];
  if (sensor->def.type == TABI_SENSOR_FORCE_TORQUE && link->parent == TABI_NONE) {
    tbi_warn(hrp->def, sensor->def.place,
             "sensor '%.100s': no joint above the root link carries a force; left out",
             sensor->def.name);
    return;
  }
  char *name = full_name(hrp, sensor->def.name);
  char *joint = full_name(hrp, link->name);
  sensor->def.name = name;
  sensor->def.link = link->index;
  if (name && joint) {
    if (sensor->def.type == TABI_SENSOR_FORCE_TORQUE) {
      sensor->def.joint = tabi_builder_find_joint(hrp->builder, joint);
      sensor->def.link = TABI_NONE;
    }
    (void)tabi_builder_add_sensor(hrp->builder, &sensor->def);
    tbi_take_builder(&hrp->error, hrp->builder);
  }
  free(name);
  free(joint);
}

/* ------------------------------------------------------------------------------- connections */

/* The frame of a link's child side, moved by the joint's initial position. */
static tbi_hrp_frame joint_frame(const tbi_hrp_link *link) {
  const tabi_joint_def *joint = &link->joint;
  v3 one = {1, 1, 1};
  tbi_hrp_frame frame = tbi_hrp_frame_make(v3_load(joint->pos), q_load(joint->quat), one);
  tbi_hrp_frame moved = tbi_hrp_frame_identity();
  double norm = v3_norm(v3_load(joint->axis));
  v3 axis = norm > 0 ? v3_scale(1 / norm, v3_load(joint->axis)) : v3_zero();
  v3 by = v3_scale(joint->initial_q[0], axis);
  if (joint->type == TABI_JOINT_FREE) {
    moved = tbi_hrp_frame_make(v3_load(joint->initial_q), q_load(joint->initial_q + 3), one);
  } else if (joint->type == TABI_JOINT_PRISMATIC) {
    moved.offset = by;
  } else if (joint->type != TABI_JOINT_FIXED) {
    moved.linear = q_matrix(q_exp(by));
  }
  return tbi_hrp_frame_mul(&frame, &moved);
}

/* Where a link is in the pose of the file. */
static tbi_hrp_frame world_frame(const tbi_hrp *hrp, int32_t link) {
  tbi_hrp_frame frame = tbi_hrp_frame_identity();
  for (; link != TABI_NONE; link = hrp->links[link].parent) {
    tbi_hrp_frame above = joint_frame(&hrp->links[link]);
    frame = tbi_hrp_frame_mul(&above, &frame);
  }
  return frame;
}

static bool find_ends(tbi_hrp *hrp, const tbi_hrp_extra *extra, int32_t ends[2]) {
  for (int i = 0; i < 2; ++i) {
    const char *name = extra->links[i] ? extra->links[i] : "";
    ends[i] = tbi_names_find(&hrp->link_names, name);
    if (ends[i] >= 0) continue;
    return tbi_fail_at(&hrp->error, TABI_ERR_MODEL, extra->place,
                       "extra joint '%.60s': link '%.100s' does not exist",
                       extra->name ? extra->name : "", name);
  }
  return true;
}

/* Both frames have the joint's axis as their z, and agree in the pose of the file. */
static void build_extra(tbi_hrp *hrp, const tbi_hrp_extra *extra) {
  int32_t ends[2] = {TABI_WORLD, TABI_WORLD};
  if (!find_ends(hrp, extra, ends)) return;
  double norm = v3_norm(extra->axis);
  if (!(norm > 0)) {
    tbi_fail_at(&hrp->error, TABI_ERR_MODEL, extra->place, "extra joint '%.60s': axis is zero",
                extra->name ? extra->name : "");
    return;
  }
  m3 on_a = q_matrix_to(v3_scale(1 / norm, extra->axis));
  tbi_hrp_frame a = world_frame(hrp, ends[0]);
  tbi_hrp_frame b = world_frame(hrp, ends[1]);
  m3 from_b = m3_transpose(&b.linear);
  m3 between = m3_mul(&from_b, &a.linear);
  m3 on_b = m3_mul(&between, &on_a);
  tabi_connection_def def = tabi_connection_def_default();
  def.type = extra->type;
  def.axes = extra->axes;
  def.a = hrp->links[ends[0]].index;
  def.b = hrp->links[ends[1]].index;
  v3_store(extra->points[0], def.pos_a);
  v3_store(extra->points[1], def.pos_b);
  q_store(q_from_matrix(&on_a), def.quat_a);
  q_store(q_from_matrix(&on_b), def.quat_b);
  def.place = extra->place;
  char *name = extra->name ? full_name(hrp, extra->name) : NULL;
  def.name = name;
  if (tbi_ok(&hrp->error)) (void)tabi_builder_add_connection(hrp->builder, &def);
  free(name);
  tbi_take_builder(&hrp->error, hrp->builder);
}

/* ------------------------------------------------------------------------------------- all */

static void build_links(tbi_hrp *hrp) {
  int32_t *order = calloc((size_t)hrp->nlink + 1, sizeof *order);
  if (!order) tbi_fail_memory(&hrp->error);
  if (order && find_root(hrp) != TABI_NONE && order_links(hrp, order)) {
    for (int32_t i = 0; i < hrp->nlink && tbi_ok(&hrp->error); ++i)
      build_link(hrp, &hrp->links[order[i]]);
  }
  free(order);
}

/* the jointId of a link that a joint moves */
typedef struct moved {
  int32_t id, link;
} moved;

static int by_id(const void *a, const void *b) {
  const moved *x = a;
  const moved *y = b;
  if (x->id != y->id) return x->id < y->id ? -1 : 1;
  return x->link < y->link ? -1 : x->link > y->link;
}

static void tell_id(const tbi_hrp *hrp, const moved *first, const moved *second) {
  const tbi_hrp_link *a = &hrp->links[first->link];
  const tbi_hrp_link *b = &hrp->links[second->link];
  tbi_warn(hrp->def, b->place,
           "joint '%.100s': jointId %d is that of '%.100s', too (line %d): a file of motion moves "
           "both alike; give each its own",
           b->name, (int)first->id, a->name, (int)a->place.line);
}

/* Files of motion would move both joints by one column. */
static void check_ids(tbi_hrp *hrp) {
  moved *all = calloc((size_t)hrp->nlink + 1, sizeof *all);
  int32_t count = 0;
  if (!all) tbi_fail_memory(&hrp->error);
  for (int32_t i = 0; all && i < hrp->nlink; ++i) {
    const tabi_joint_def *joint = &hrp->links[i].joint;
    bool moves = joint->type != TABI_JOINT_FIXED && joint->type != TABI_JOINT_FREE;
    if (moves && joint->id != TABI_NONE) all[count++] = (moved){joint->id, i};
  }
  if (count > 0) qsort(all, (size_t)count, sizeof *all, by_id);
  for (int32_t i = 1; i < count; ++i)
    if (all[i].id == all[i - 1].id) tell_id(hrp, &all[i - 1], &all[i]);
  free(all);
}

/* What the file leaves out, and the robot cannot move without. */
static void add_masses(tbi_hrp *hrp, int32_t first_link) {
  bool *has_shapes = calloc((size_t)hrp->nlink + 1, sizeof *has_shapes);
  if (!has_shapes) {
    tbi_fail_memory(&hrp->error);
    return;
  }
  for (int32_t i = 0; i < hrp->nshape; ++i)
    has_shapes[hrp->links[hrp->shapes[i].link].index - first_link] = true;
  tbi_weigh weigh = {hrp->builder, hrp->def, first_link, has_shapes};
  if (tbi_weigh_massless(&weigh, &hrp->error)) (void)tbi_weigh_singular(&weigh, &hrp->error);
  free(has_shapes);
}

static void build_all(tbi_hrp *hrp) {
  int32_t first_link = tabi_builder_nlink(hrp->builder);
  build_links(hrp);
  for (int32_t i = 0; i < hrp->nshape && tbi_ok(&hrp->error); ++i)
    tbi_hrp_build_shape(hrp, &hrp->shapes[i], stands(hrp, hrp->shapes[i].link));
  for (int32_t i = 0; i < hrp->nsensor && tbi_ok(&hrp->error); ++i)
    build_sensor(hrp, &hrp->sensors[i]);
  for (int32_t i = 0; i < hrp->nextra && tbi_ok(&hrp->error); ++i)
    build_extra(hrp, &hrp->extras[i]);
  if (tbi_ok(&hrp->error)) check_ids(hrp);
  if (tbi_ok(&hrp->error)) add_masses(hrp, first_link);
}

static void free_all(tbi_hrp *hrp) {
  for (int32_t i = 0; i < hrp->nshape; ++i)
    tbi_mesh_free(&hrp->shapes[i].mesh);
  tbi_meshes_destroy(hrp->files);
  free(hrp->links);
  free(hrp->shapes);
  free(hrp->sensors);
  free(hrp->extras);
  tbi_names_free(&hrp->link_names);
  tbi_names_free(&hrp->sensor_names);
  tbi_names_free(&hrp->told);
  tbi_text_free(&hrp->text);
}

tabi_status tbi_hrp_load(tabi_builder *builder, const char *path, const tabi_load_def *def,
                         bool (*read)(tbi_hrp *hrp, void *source), void *source, tabi_error *err) {
  TBI_ASSERT(builder && path && def && read);
  tbi_hrp *hrp = calloc(1, sizeof *hrp);
  if (!hrp) return tbi_error_memory(err);
  *hrp = (tbi_hrp){.builder = builder, .path = path, .def = def, .error = {.err = err}};
  hrp->files = tbi_meshes_create(builder, path, def);
  tbi_path_roots_init(&hrp->roots, path, def->package_path);
  if (!hrp->files) {
    tbi_fail_memory(&hrp->error);
  } else if (read(hrp, source)) {
    build_all(hrp);
  }
  // the builder may have found what the reader did not
  if (tbi_take_builder(&hrp->error, builder)) tbi_meshes_report_missing(hrp->files);
  tabi_status status = hrp->error.status;
  free_all(hrp);
  free(hrp);
  return status;
}

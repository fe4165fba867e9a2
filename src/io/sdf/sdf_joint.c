/* sdf_joint.c - joints of SDF, which make any graph of links, become a tree and connections.
 *
 * Joints with what stands in the world come first, then all in the order of the file.  A joint
 * whose child has one already, or that joins what is joined, closes a loop.  tabi's joints put the
 * frame of the child where the joint is; where SDF has it elsewhere a link without mass stands
 * between. */
#include "base/array.h"
#include "io/report.h"
#include "io/sdf/sdf_reader.h"
#include "model/builder.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* -- the plan */

/* The set that a frame is in: everything joined to it so far. */
static int32_t set_of(int32_t *sets, int32_t i) {
  while (sets[i] != i) {
    sets[i] = sets[sets[i]];
    i = sets[i];
  }
  return i;
}

static bool fail_end(const tbi_sdf *s, int32_t frame, const char *end) {
  char what[TBI_SDF_WHAT];
  tbi_sdf_what(&s->frames[frame], what);
  return tbi_fail_at(s->error, TABI_ERR_MODEL, s->frames[frame].node->place,
                     "%s: <%s> leads to no link", what, end);
}

/* The links at both ends; false for an error, and for a joint that joins nothing that moves. */
static bool find_ends(tbi_sdf *s, int32_t frame, tbi_sdf_joint *joint) {
  tbi_sdf_frame *f = &s->frames[frame];
  char what[TBI_SDF_WHAT];
  tbi_sdf_what(f, what);
  tbi_xml_node *node = tbi_xml_child(f->node, "parent");
  if (!node || node->text[0] == '\0') {
    return tbi_fail_at(s->error, TABI_ERR_PARSE, f->node->place, "%s: no <parent>", what);
  }
  int32_t parent = tbi_sdf_need(s, f->model, node, node->text, what);
  if (parent == TABI_NONE) return false;
  *joint = (tbi_sdf_joint){.frame = frame, .index = TABI_NONE};
  joint->parent = tbi_sdf_link_of(s, parent);
  joint->child = tbi_sdf_link_of(s, f->attached);
  if (joint->parent == TABI_NONE) return fail_end(s, frame, "parent");
  if (joint->child == TABI_NONE) return fail_end(s, frame, "child");
  if (joint->parent == joint->child && joint->child != 0) {
    return tbi_fail_at(s->error, TABI_ERR_MODEL, f->node->place,
                       "%s: parent and child are both '%.100s'", what,
                       s->frames[joint->child].name);
  }
  // what stands in the world is never a child
  bool child_stands = tbi_sdf_is_static(s, joint->child);
  if (child_stands && tbi_sdf_is_static(s, joint->parent)) return false;
  if (child_stands) {
    int32_t swapped = joint->parent;
    joint->parent = joint->child;
    joint->child = swapped;
    joint->reversed = true;
  }
  return true;
}

static void list_joint(tbi_sdf *s, int32_t frame) {
  tbi_sdf_joint joint;
  void *items = s->joints;
  bool room = tbi_array_reserve(&items, &s->joint_capacity, s->njoint, 1, sizeof *s->joints);
  s->joints = items;
  if (!room) {
    tbi_fail_memory(s->error);
    return;
  }
  const char *type = tbi_xml_get(s->frames[frame].node, "type");
  if (!find_ends(s, frame, &joint)) return;
  joint.is_gearbox = type && strcmp(type, "gearbox") == 0;
  s->joints[s->njoint++] = joint;
}

/* Whether the joint may become the one above its child, and if so makes it that. */
static void settle_joint(tbi_sdf *s, int32_t index, int32_t *sets) {
  tbi_sdf_joint *joint = &s->joints[index];
  if (joint->is_gearbox) return;
  bool grounded = tbi_sdf_is_static(s, joint->parent);
  int32_t parent = grounded ? 0 : set_of(sets, joint->parent);
  int32_t child = set_of(sets, joint->child);
  joint->closes = s->above[joint->child] != TABI_NONE || parent == child;
  if (joint->closes) return;
  s->above[joint->child] = index;
  sets[child] = parent;
}

static void settle_joints(tbi_sdf *s) {
  int32_t *sets = malloc((size_t)s->nframe * sizeof *sets);
  s->above = malloc((size_t)s->nframe * sizeof *s->above);
  if (!sets || !s->above) {
    tbi_fail_memory(s->error);
    free(sets);
    return;
  }
  for (int32_t i = 0; i < s->nframe; ++i) {
    sets[i] = i;
    s->above[i] = TABI_NONE;
  }
  for (int pass = 0; pass < 2; ++pass) {
    for (int32_t i = 0; i < s->njoint; ++i) {
      bool grounded = tbi_sdf_is_static(s, s->joints[i].parent);
      if (grounded == (pass == 0)) settle_joint(s, i, sets);
    }
  }
  free(sets);
}

/* The link at the top of the tree of the first link. */
static int32_t first_root(const tbi_sdf *s) {
  for (int32_t i = 1; i < s->nframe; ++i) {
    if (s->frames[i].kind != TBI_SDF_LINK || !tbi_sdf_is_wanted(s, i)) continue;
    while (s->above[i] != TABI_NONE && !tbi_sdf_is_static(s, s->joints[s->above[i]].parent))
      i = s->joints[s->above[i]].parent;
    return i;
  }
  return TABI_NONE;
}

/* Puts the root where the caller wants it, and everything with it. */
static void move_all(tbi_sdf *s) {
  int32_t root = s->def->place_base ? first_root(s) : TABI_NONE;
  if (root == TABI_NONE) return;
  const tbi_pose wanted = {v3_load(s->def->base_pos), q_normalize(q_load(s->def->base_quat))};
  tbi_pose move = tbi_pose_compose(wanted, tbi_pose_inverse(s->frames[root].world));
  for (int32_t i = 1; i < s->nframe; ++i)
    s->frames[i].world = tbi_pose_compose(move, s->frames[i].world);
  // exactly there
  s->frames[root].world = wanted;
}

void tbi_sdf_plan_joints(tbi_sdf *s) {
  for (int32_t i = 1; i < s->nframe && tbi_ok(s->error); ++i) {
    if (s->frames[i].kind == TBI_SDF_JOINT && tbi_sdf_is_wanted(s, i)) list_joint(s, i);
  }
  if (tbi_ok(s->error)) settle_joints(s);
  if (tbi_ok(s->error)) move_all(s);
}

/* -- what goes into the builder */

static int32_t add_joint(tbi_sdf *s, const tabi_joint_def *def) {
  if (!tbi_ok(s->error)) return TABI_NONE;
  int32_t index = tabi_builder_add_joint(s->builder, def);
  return tbi_take_builder(s->error, s->builder) ? index : TABI_NONE;
}

/* "base", as in URDF, for the first that floats; a joint of the file may have the name already. */
static const char *base_name(tbi_sdf *s, int32_t link, bool first) {
  const tbi_sdf_model *top = &s->models[s->models[s->frames[link].model].top];
  if (!first) return tbi_sdf_output_name(s, link, "_base");
  bool short_name = s->def->part || s->ntop == 1;
  int32_t same = tbi_sdf_find(s, s->models[s->frames[link].model].top, "base");
  bool taken = same != TABI_NONE && s->frames[same].kind == TBI_SDF_JOINT;
  const char *prefix = s->def->prefix ? s->def->prefix : "";
  char *before = tbi_text_join(prefix, short_name ? "" : top->path);
  char *name = before ? tbi_text_join(before, taken ? "base_root" : "base") : NULL;
  const char *kept = name ? tbi_text_add(&s->text, name) : NULL;
  free(before);
  free(name);
  if (!kept) tbi_fail_memory(s->error);
  return kept;
}

/* Hangs a link in the world: fixed, or free to move from where it is. */
static void add_root(tbi_sdf *s, int32_t link, bool first) {
  const tbi_sdf_frame *f = &s->frames[link];
  tabi_joint_def def = tabi_joint_def_default();
  bool stands = tbi_sdf_is_static(s, link) || s->def->base == TABI_BASE_FIXED;
  def.parent = TABI_WORLD;
  def.child = f->link;
  def.place = f->node->place;
  def.type = stands ? TABI_JOINT_FIXED : TABI_JOINT_FREE;
  if (stands) {
    tbi_pose_store(f->world, def.pos, def.quat);
  } else {
    tbi_pose_store(f->world, def.initial_q, def.initial_q + 3);
    def.name = base_name(s, link, first);
  }
  (void)add_joint(s, &def);
}

/* Links without a joint above them. */
static void add_roots(tbi_sdf *s) {
  int32_t last_top = TABI_NONE;
  for (int32_t i = 1; i < s->nframe && tbi_ok(s->error); ++i) {
    if (s->frames[i].link == TABI_NONE || s->above[i] != TABI_NONE) continue;
    int32_t top = s->models[s->frames[i].model].top;
    bool floats = !tbi_sdf_is_static(s, i);
    add_root(s, i, top != last_top);
    if (floats) last_top = top;
  }
}

static int32_t builder_link(const tbi_sdf *s, int32_t frame) {
  return frame == 0 ? TABI_WORLD : s->frames[frame].link;
}

static bool is_near(tbi_pose a) {
  return v3_norm(a.pos) < 1e-12 && fabs(a.rot.x) < 1e-12 && fabs(a.rot.y) < 1e-12 &&
         fabs(a.rot.z) < 1e-12;
}

/* A link without mass or name, between two joints. */
static int32_t add_between(tbi_sdf *s, tabi_place place) {
  tabi_link_def def = tabi_link_def_default();
  def.place = place;
  int32_t index = tabi_builder_add_link(s->builder, &def);
  return tbi_take_builder(s->error, s->builder) ? index : TABI_NONE;
}

/* The follower of a screw's turn. */
static void couple_screw(tbi_sdf *s, const tbi_sdf_joint *joint, double lead) {
  tabi_coupling_def def = tabi_coupling_def_default();
  if (lead == 0 || !tbi_ok(s->error)) return;
  def.joint = joint->index;
  def.leader = joint->first;
  def.coef[0] = 0;
  def.coef[1] = lead;
  def.name = tbi_sdf_output_name(s, joint->frame, "");
  def.place = s->frames[joint->frame].node->place;
  if (!tbi_ok(s->error)) return;
  (void)tabi_builder_add_coupling(s->builder, &def);
  tbi_take_builder(s->error, s->builder);
}

static void add_tree_joint(tbi_sdf *s, tbi_sdf_joint *joint, tbi_sdf_motion *motion) {
  const tbi_sdf_frame *child = &s->frames[joint->child];
  tbi_pose to_parent = tbi_pose_inverse(s->frames[joint->parent].world);
  tbi_pose at = s->frames[joint->frame].world;
  bool fixed = motion->count == 1 && motion->def[0].type == TABI_JOINT_FIXED;
  tbi_pose rest = tbi_pose_compose(tbi_pose_inverse(at), child->world);
  bool same = fixed || is_near(rest);
  if (same) at = child->world;
  int32_t parent = builder_link(s, joint->parent);
  for (int32_t i = 0; i < motion->count && tbi_ok(s->error); ++i) {
    tabi_joint_def *def = &motion->def[i];
    bool last = i + 1 == motion->count;
    const char *second = motion->lead != 0 ? "_slide" : "_2";
    if (i == 0) tbi_pose_store(tbi_pose_compose(to_parent, at), def->pos, def->quat);
    def->name = tbi_sdf_output_name(s, joint->frame, i == 0 ? "" : second);
    def->parent = parent;
    def->child = last && same ? child->link : add_between(s, def->place);
    joint->index = add_joint(s, def);
    if (i == 0) joint->first = joint->index;
    parent = def->child;
  }
  couple_screw(s, joint, motion->lead);
  if (same || !tbi_ok(s->error)) return;
  tabi_joint_def link = tabi_joint_def_default();
  link.parent = parent;
  link.child = child->link;
  link.place = s->frames[joint->frame].node->place;
  tbi_pose_store(rest, link.pos, link.quat);
  (void)add_joint(s, &link);
}

/* A fixed joint with the world is what the caller may set free. */
static bool is_freed(const tbi_sdf *s, const tbi_sdf_joint *joint, const tbi_sdf_motion *motion) {
  return s->def->base == TABI_BASE_FREE && joint->parent == 0 && motion->count == 1 &&
         motion->def[0].type == TABI_JOINT_FIXED;
}

static void add_element(tbi_sdf *s, tbi_sdf_joint *joint) {
  tbi_sdf_motion motion;
  if (joint->is_gearbox || !tbi_sdf_read_motion(s, joint, &motion)) return;
  if (joint->closes) {
    tbi_sdf_add_connection(s, joint, &motion);
  } else if (is_freed(s, joint, &motion)) {
    add_root(s, joint->child, true);
  } else {
    add_tree_joint(s, joint, &motion);
  }
}

/* -- couplings */

static bool has_one_coordinate(const tbi_sdf *s, int32_t joint) {
  tabi_joint_type type = tbi_builder_joint(s->builder, joint)->type;
  return type == TABI_JOINT_REVOLUTE || type == TABI_JOINT_CONTINUOUS ||
         type == TABI_JOINT_PRISMATIC;
}

static tbi_sdf_joint *joint_of(const tbi_sdf *s, int32_t frame) {
  for (int32_t i = 0; i < s->njoint; ++i) {
    if (s->joints[i].frame == frame) return &s->joints[i];
  }
  return NULL;
}

/* The joint in the builder for an axis of a joint element; TABI_NONE if there is none. */
static int32_t coordinate(const tbi_sdf *s, const tbi_sdf_joint *joint, const char *axis) {
  if (!joint || joint->index == TABI_NONE) return TABI_NONE;
  int32_t index = axis && strcmp(axis, "axis2") == 0 ? joint->index : joint->first;
  return has_one_coordinate(s, index) ? index : TABI_NONE;
}

static void add_mimic(tbi_sdf *s, const tbi_sdf_joint *joint, const char *element) {
  tbi_xml_node *axis = tbi_xml_child(s->frames[joint->frame].node, element);
  tbi_xml_node *mimic = axis ? tbi_xml_child(axis, "mimic") : NULL;
  const char *leader = mimic ? tbi_xml_get(mimic, "joint") : NULL;
  if (!mimic || !tbi_ok(s->error)) return;
  char what[TBI_SDF_WHAT];
  tbi_sdf_what(&s->frames[joint->frame], what);
  int32_t found = leader ? tbi_sdf_find(s, s->frames[joint->frame].model, leader) : TABI_NONE;
  const tbi_sdf_joint *other = found == TABI_NONE ? NULL : joint_of(s, found);
  double multiplier = 1;
  double offset = 0;
  double reference = 0;
  (void)tbi_sdf_number(s, mimic, "multiplier", &multiplier);
  (void)tbi_sdf_number(s, mimic, "offset", &offset);
  (void)tbi_sdf_number(s, mimic, "reference", &reference);
  tabi_coupling_def def = tabi_coupling_def_default();
  def.joint = coordinate(s, joint, element);
  def.leader = coordinate(s, other, tbi_xml_get(mimic, "axis"));
  def.coef[0] = offset - multiplier * reference;
  def.coef[1] = multiplier;
  def.place = mimic->place;
  if (def.joint == TABI_NONE || def.leader == TABI_NONE || def.joint == def.leader) {
    tbi_repaired(s->error, s->def, mimic->place, (tbi_repair){what, "coupling left out", 0},
                 "mimics '%.100s', which does not exist or move", leader ? leader : "");
    return;
  }
  def.name = tbi_sdf_output_name(s, joint->frame, "");
  if (!tbi_ok(s->error)) return;
  (void)tabi_builder_add_coupling(s->builder, &def);
  tbi_take_builder(s->error, s->builder);
}

/* The turn of a link against another about an axis: its joint, and with which sign. */
static int32_t turn_between(const tbi_sdf *s, int32_t from, int32_t link, v3 axis, double *sign) {
  int32_t up = s->above[link];
  int32_t down = from == 0 ? TABI_NONE : s->above[from];
  const tbi_sdf_joint *joint = NULL;
  if (up != TABI_NONE && s->joints[up].parent == from) joint = &s->joints[up];
  *sign = 1;
  if (!joint && down != TABI_NONE && s->joints[down].parent == link) {
    joint = &s->joints[down];
    *sign = -1;
  }
  int32_t index = coordinate(s, joint, "axis");
  if (index == TABI_NONE) return TABI_NONE;
  m3 turn = q_matrix(s->frames[joint->frame].world.rot);
  v3 own = m3_mulv(&turn, v3_load(tbi_builder_joint(s->builder, index)->axis));
  if (v3_dot(own, axis) < 0) *sign = -*sign;
  return index;
}

/* The axis in the world by which a gearbox counts the angle of one of its wheels. */
static v3 gear_axis(tbi_sdf *s, int32_t frame, const char *element) {
  double axis[3] = {0, 0, 1};
  tbi_xml_node *node = tbi_xml_child(s->frames[frame].node, element);
  if (node) (void)tbi_sdf_numbers(s, node, "xyz", 3, axis);
  m3 turn = q_matrix(s->frames[frame].world.rot);
  return m3_mulv(&turn, v3_load(axis));
}

/* theta_2 = -ratio theta_1, both against the reference body. */
static void add_gearbox(tbi_sdf *s, const tbi_sdf_joint *joint) {
  tbi_xml_node *node = s->frames[joint->frame].node;
  char what[TBI_SDF_WHAT];
  double ratio = 1;
  double sign[2];
  tbi_sdf_what(&s->frames[joint->frame], what);
  (void)tbi_sdf_number(s, node, "gearbox_ratio", &ratio);
  const char *body = tbi_sdf_text(node, "gearbox_reference_body");
  int32_t frame = body ? tbi_sdf_find(s, s->frames[joint->frame].model, body) : TABI_NONE;
  int32_t from = frame == TABI_NONE ? TABI_NONE : tbi_sdf_link_of(s, frame);
  tabi_coupling_def def = tabi_coupling_def_default();
  if (from != TABI_NONE) {
    v3 first = gear_axis(s, joint->frame, "axis");
    v3 second = gear_axis(s, joint->frame, "axis2");
    def.leader =
        joint->parent == 0 ? TABI_NONE : turn_between(s, from, joint->parent, first, &sign[0]);
    def.joint = turn_between(s, from, joint->child, second, &sign[1]);
  }
  bool found = from != TABI_NONE && def.leader != TABI_NONE && def.joint != TABI_NONE;
  if (!found || def.leader == def.joint) {
    tbi_warn(s->def, node->place,
             "%s: no joints turn its wheels against the reference body; it is left out", what);
    return;
  }
  def.coef[0] = 0;
  def.coef[1] = -ratio * sign[0] * sign[1];
  def.place = node->place;
  def.name = tbi_sdf_output_name(s, joint->frame, "");
  if (!tbi_ok(s->error)) return;
  (void)tabi_builder_add_coupling(s->builder, &def);
  tbi_take_builder(s->error, s->builder);
}

void tbi_sdf_add_joints(tbi_sdf *s) {
  add_roots(s);
  for (int32_t i = 0; i < s->njoint && tbi_ok(s->error); ++i)
    add_element(s, &s->joints[i]);
  for (int32_t i = 0; i < s->njoint && tbi_ok(s->error); ++i) {
    const tbi_sdf_joint *joint = &s->joints[i];
    add_mimic(s, joint, "axis");
    add_mimic(s, joint, "axis2");
    if (joint->is_gearbox) add_gearbox(s, joint);
    if (joint->index != TABI_NONE) tbi_sdf_add_sensors(s, joint->frame, joint->index);
  }
  for (int32_t i = 1; i < s->nframe && tbi_ok(s->error); ++i) {
    if (s->frames[i].link != TABI_NONE) tbi_sdf_add_sensors(s, i, TABI_NONE);
  }
}

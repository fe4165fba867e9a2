/* mjcf_equality.c - loops (connect, weld), coupled joints and tendons, and excluded contact pairs.
 */
#include "io/mjcf/mjcf_reader.h"

#include <string.h>

/* Body 2 may be left out: then it is the world. */
static bool read_pair(const tbi_mjcf_item *item, int32_t pair[2]) {
  const tbi_mjcf *reader = item->reader;
  pair[0] = tbi_mjcf_reference(item, "body1", &reader->body_names, "body", true);
  pair[1] = tbi_mjcf_reference(item, "body2", &reader->body_names, "body", false);
  if (!tbi_ok(&reader->error)) return false;
  if (pair[1] == TABI_NONE) pair[1] = 0;
  return true;
}

/* a point of body a in the frame of body b, in the pose that the file gives */
static v3 seen_from(const tbi_mjcf_body *a, const tbi_mjcf_body *b, v3 point) {
  v3 world = v3_add(a->world_pos, tbi_mjcf_turn(a->world_rot, point));
  return tbi_mjcf_turn(tbi_mjcf_quat_inverse(b->world_rot), v3_sub(world, b->world_pos));
}

static tabi_connection_def start_connection(const tbi_mjcf_item *item, const int32_t pair[2]) {
  tbi_mjcf *reader = item->reader;
  tabi_connection_def def = tabi_connection_def_default();
  if (item->name) def.name = tbi_mjcf_full_name(reader, item->name, NULL, 0);
  def.a = reader->bodies[pair[0]].link;
  def.b = reader->bodies[pair[1]].link;
  def.place = item->node->place;
  return def;
}

static void finish_connection(const tbi_mjcf_item *item, const tabi_connection_def *def) {
  if (tbi_ok(&item->reader->error)) (void)tabi_builder_add_connection(item->reader->builder, def);
}

static bool has_sites(const tbi_mjcf_item *item) {
  return tbi_xml_get(item->node, "site1") || tbi_xml_get(item->node, "site2");
}

/* Two sites that shall coincide, wherever the file puts them. */
static void join_sites(const tbi_mjcf_item *item, tabi_connection_type type) {
  const tbi_mjcf *reader = item->reader;
  int32_t a = tbi_mjcf_reference(item, "site1", &reader->site_names, "site", true);
  int32_t b = tbi_mjcf_reference(item, "site2", &reader->site_names, "site", true);
  if (!tbi_ok(&reader->error)) return;
  const int32_t pair[2] = {reader->sites[a].body, reader->sites[b].body};
  tabi_connection_def def = start_connection(item, pair);
  def.type = type;
  v3_store(reader->sites[a].pos, def.pos_a);
  v3_store(reader->sites[b].pos, def.pos_b);
  q_store(q_normalize(reader->sites[a].rot), def.quat_a);
  q_store(q_normalize(reader->sites[b].rot), def.quat_b);
  finish_connection(item, &def);
}

static void read_connect(const tbi_mjcf_item *item) {
  const tbi_mjcf *reader = item->reader;
  int32_t pair[2];
  double anchor[3] = {0, 0, 0};
  if (has_sites(item)) {
    join_sites(item, TABI_CONNECTION_BALL);
    return;
  }
  if (!read_pair(item, pair)) return;
  if (tbi_mjcf_numbers(item, "anchor", 3, 3, anchor) == 0) {
    tbi_mjcf_fail(item, "attribute 'anchor' is missing; give a point in the frame of body1");
  }
  tabi_connection_def def = start_connection(item, pair);
  def.type = TABI_CONNECTION_BALL;
  v3 point = v3_load(anchor);
  q4 rot = q_identity();
  tbi_mjcf_inward(item, pair[0], &point, &rot);
  v3_store(point, def.pos_a);
  v3_store(seen_from(&reader->bodies[pair[0]], &reader->bodies[pair[1]], point), def.pos_b);
  finish_connection(item, &def);
}

/* The anchor is a point of body 2.  relpose says where it and the axes of body 2 are in body 1;
 * without one they are where the file puts them. */
static void read_weld(const tbi_mjcf_item *item) {
  const tbi_mjcf *reader = item->reader;
  int32_t pair[2];
  double anchor[3] = {0, 0, 0};
  double pose[7] = {0, 0, 0, 0, 0, 0, 0};
  if (has_sites(item)) {
    join_sites(item, TABI_CONNECTION_FIXED);
    return;
  }
  if (!read_pair(item, pair)) return;
  (void)tbi_mjcf_numbers(item, "anchor", 3, 3, anchor);
  (void)tbi_mjcf_numbers(item, "relpose", 7, 7, pose);
  const tbi_mjcf_body *a = &reader->bodies[pair[0]];
  const tbi_mjcf_body *b = &reader->bodies[pair[1]];
  if (q_norm(q_load(pose + 3)) < 1e-14) {
    v3_store(seen_from(b, a, v3_load(anchor)), pose);
    q_store(q_mul(tbi_mjcf_quat_inverse(a->world_rot), b->world_rot), pose + 3);
  }
  tabi_connection_def def = start_connection(item, pair);
  def.type = TABI_CONNECTION_FIXED;
  v3_store(v3_load(pose), def.pos_a);
  q_store(q_normalize(q_load(pose + 3)), def.quat_a);
  v3_store(v3_load(anchor), def.pos_b);
  finish_connection(item, &def);
}

/* p(x - shift) as a polynomial in x, by Horner's rule on polynomials */
static void shift_polynomial(const double p[5], double shift, double out[5]) {
  memset(out, 0, 5 * sizeof *out);
  for (int k = 4; k >= 0; --k) {
    for (int i = 4; i > 0; --i)
      out[i] = out[i - 1] - shift * out[i];
    out[0] = p[k] - shift * out[0];
  }
}

static bool has_one_coordinate(const tbi_mjcf_item *item, const tbi_mjcf_joint *joint) {
  if (joint->type == TBI_MJCF_SLIDE || joint->type == TBI_MJCF_HINGE) return true;
  tbi_mjcf_fail(item, "only hinge and slide joints can be coupled");
  return false;
}

/* MJCF couples deviations: q1 - ref1 = p(q2 - ref2). */
static void read_coupling(const tbi_mjcf_item *item) {
  const tbi_mjcf *reader = item->reader;
  double p[5] = {0, 1, 0, 0, 0};
  int32_t joint = tbi_mjcf_reference(item, "joint1", &reader->joint_names, "joint", true);
  int32_t leader = tbi_mjcf_reference(item, "joint2", &reader->joint_names, "joint", false);
  (void)tbi_mjcf_numbers(item, "polycoef", 1, 5, p);
  if (!tbi_ok(&reader->error) || !has_one_coordinate(item, &reader->joints[joint])) return;
  tabi_coupling_def def = tabi_coupling_def_default();
  memset(def.coef, 0, sizeof def.coef);
  def.leader = TABI_NONE;
  def.coef[0] = p[0];
  if (leader != TABI_NONE) {
    if (!has_one_coordinate(item, &reader->joints[leader])) return;
    def.leader = reader->joints[leader].index;
    shift_polynomial(p, reader->joints[leader].ref, def.coef);
  }
  def.coef[0] += reader->joints[joint].ref;
  def.joint = reader->joints[joint].index;
  if (item->name) def.name = tbi_mjcf_full_name(item->reader, item->name, NULL, 0);
  def.place = item->node->place;
  if (tbi_ok(&reader->error)) (void)tabi_builder_add_coupling(reader->builder, &def);
}

/* MJCF couples deviations of the lengths from those at ref. */
static void couple_tendons(const tbi_mjcf_item *item) {
  const tbi_mjcf *reader = item->reader;
  double p[5] = {0, 1, 0, 0, 0};
  int32_t tendon = tbi_mjcf_reference(item, "tendon1", &reader->tendon_names, "tendon", true);
  int32_t leader = tbi_mjcf_reference(item, "tendon2", &reader->tendon_names, "tendon", false);
  (void)tbi_mjcf_numbers(item, "polycoef", 1, 5, p);
  if (!tbi_ok(&reader->error)) return;
  tabi_coupling_def def = tabi_coupling_def_default();
  memset(def.coef, 0, sizeof def.coef);
  def.coef[0] = p[0];
  if (leader != TABI_NONE) {
    def.tendon_leader = reader->tendons[leader].index;
    shift_polynomial(p, reader->tendons[leader].length, def.coef);
  }
  def.coef[0] += reader->tendons[tendon].length;
  def.tendon = reader->tendons[tendon].index;
  if (item->name) def.name = tbi_mjcf_full_name(item->reader, item->name, NULL, 0);
  def.place = item->node->place;
  if (tbi_ok(&reader->error)) (void)tabi_builder_add_coupling(reader->builder, &def);
}

static void read_one(tbi_mjcf *reader, tbi_xml_node *node) {
  static const char *const switches[] = {"false", "true", NULL};
  bool is_joint = strcmp(node->name, "joint") == 0;
  bool is_weld = strcmp(node->name, "weld") == 0;
  bool is_connect = strcmp(node->name, "connect") == 0;
  bool is_tendon = strcmp(node->name, "tendon") == 0;
  if (!is_joint && !is_weld && !is_connect && !is_tendon) return; /* stays unused and is reported */
  node->used = true;
  tbi_mjcf_item item = tbi_mjcf_item_of(reader, node, "equality", 0);
  if (tbi_mjcf_word(&item, "active", switches, 1) == 0 || reader->disabled.equality) {
    tbi_mjcf_warn(reader, node->place, "%s is ignored: it is not active", item.label);
    tbi_xml_use_all(node);
    return;
  }
  if (is_tendon) {
    couple_tendons(&item);
  } else if (is_joint) {
    read_coupling(&item);
  } else if (is_weld) {
    read_weld(&item);
  } else {
    read_connect(&item);
  }
}

static void read_exclude(tbi_mjcf *reader, tbi_xml_node *node) {
  tbi_mjcf_item item = tbi_mjcf_item_of(reader, node, NULL, 0);
  int32_t a = tbi_mjcf_reference(&item, "body1", &reader->body_names, "body", true);
  int32_t b = tbi_mjcf_reference(&item, "body2", &reader->body_names, "body", true);
  if (!tbi_ok(&reader->error)) return;
  (void)tabi_builder_add_exclusion(reader->builder, reader->bodies[a].link, reader->bodies[b].link);
}

void tbi_mjcf_read_equality(tbi_mjcf *reader) {
  tbi_xml_node *section = tbi_xml_child(reader->root, "equality");
  for (; section; section = tbi_xml_next(section)) {
    tbi_xml_node *node = section->first;
    for (; node && tbi_ok(&reader->error); node = node->next)
      read_one(reader, node);
  }
  section = tbi_xml_child(reader->root, "contact");
  for (; section; section = tbi_xml_next(section)) {
    tbi_xml_node *node = tbi_xml_child(section, "exclude");
    for (; node && tbi_ok(&reader->error); node = tbi_xml_next(node))
      read_exclude(reader, node);
  }
}

/* mjcf_keyframe.c - keyframes become postures, with the inputs of actuators.
 *
 * A key lists the coordinates of all joints, and the inputs of all actuators, in MuJoCo's order.
 * The one difference in meaning is the angular velocity of a free body: MuJoCo's in body axes,
 * tabi's in world axes. */
#include "io/mjcf/mjcf_reader.h"
#include "io/repair.h"

#include <stdlib.h>
#include <string.h>

static const int32_t nq_of[] = {7, 4, 1, 1}; /* by tbi_mjcf_joint_type */
static const int32_t nv_of[] = {6, 3, 1, 1};

typedef struct counts {
  int32_t nq, nv, nu;
} counts;

static counts count_coordinates(const tbi_mjcf *reader) {
  counts sum = {0, 0, reader->nactuator};
  for (int32_t i = 0; i < reader->njoint; ++i) {
    sum.nq += nq_of[reader->joints[i].type];
    sum.nv += nv_of[reader->joints[i].type];
  }
  return sum;
}

static int32_t count_numbers(const char *text) {
  int32_t count = 0;
  for (text += strspn(text, " "); *text; text += strspn(text, " ")) {
    text += strcspn(text, " ");
    ++count;
  }
  return count;
}

/* `what` numbers of a key, `count` of them or none; others are told and left out. */
static bool read_list(const tbi_mjcf_item *item, const char *what, int32_t count, double *values) {
  const char *text = tbi_mjcf_text(item, what, NULL);
  if (!text) return false;
  int32_t found = count_numbers(text);
  if (found != count) {
    const tbi_repair repair = {.item = item->label, .what = "ignored"};
    tbi_repaired(&item->reader->error, item->reader->def, item->node->place, repair,
                 "%s has %d numbers instead of %d", what, (int)found, (int)count);
    return false;
  }
  return tbi_mjcf_numbers(item, what, count, count, values) > 0;
}

static void set_joint(const tbi_mjcf_item *item, int32_t posture, const tbi_mjcf_joint *joint,
                      double *q, const double *v) {
  tbi_mjcf *reader = item->reader;
  double turned[6];
  int quat_at = joint->type == TBI_MJCF_FREE ? 3 : joint->type == TBI_MJCF_BALL ? 0 : -1;
  if (quat_at >= 0) {
    tbi_repair_quat(&reader->error, reader->def, item->node->place, item->label,
                    joint->name ? joint->name : "unnamed", q + quat_at);
  }
  if (v && joint->type == TBI_MJCF_FREE) {
    memcpy(turned, v, sizeof turned);
    v3_store(tbi_mjcf_turn(q_load(q + 3), v3_load(v + 3)), turned + 3);
    v = turned;
  }
  tabi_builder_set_posture(reader->builder, posture, joint->index, q, v);
}

/* where a joint is when the key does not say */
static void start_of(const tbi_mjcf *reader, const tbi_mjcf_joint *joint, double q[7]) {
  const tbi_mjcf_body *body = &reader->bodies[joint->body];
  memset(q, 0, 7 * sizeof *q);
  q[0] = joint->type == TBI_MJCF_BALL ? 1 : joint->ref;
  if (joint->type != TBI_MJCF_FREE) return;
  v3_store(body->pos, q);
  q_store(body->rot, q + 3);
}

/* u[n.nu]; actuators that tabi left out have numbers in the key too */
static void set_controls(tbi_mjcf *reader, int32_t posture, const double *u) {
  for (int32_t i = 0; i < reader->nactuator; ++i) {
    if (reader->actuators[i] == TABI_NONE) continue;
    tabi_builder_set_posture_control(reader->builder, posture, reader->actuators[i], u[i]);
  }
}

static void read_key(tbi_mjcf *reader, tbi_xml_node *node, int32_t number, double *buffer) {
  tbi_mjcf_item item = tbi_mjcf_item_of(reader, node, NULL, 0);
  (void)tbi_xml_get(node, "time");
  counts n = count_coordinates(reader);
  double *q = buffer;
  double *v = buffer + n.nq;
  double *u = v + n.nv;
  bool has_q = read_list(&item, "qpos", n.nq, q);
  bool has_v = read_list(&item, "qvel", n.nv, v);
  bool has_u = read_list(&item, "ctrl", n.nu, u);
  const char *name = tbi_mjcf_full_name(reader, item.name, "key", number);
  if (!tbi_ok(&reader->error)) return;
  int32_t posture = tabi_builder_add_posture(reader->builder, name);
  if (posture == TABI_NONE) return;
  if (has_u) set_controls(reader, posture, u);
  for (int32_t i = 0; i < reader->njoint && tbi_ok(&reader->error); ++i) {
    const tbi_mjcf_joint *joint = &reader->joints[i];
    double start[7];
    start_of(reader, joint, start);
    // a base fixed by request has numbers in the key, but no joint
    if (joint->index != TABI_NONE) {
      set_joint(&item, posture, joint, has_q ? q : start, has_v ? v : NULL);
    }
    q += nq_of[joint->type];
    v += nv_of[joint->type];
  }
}

void tbi_mjcf_read_keyframes(tbi_mjcf *reader) {
  tbi_xml_node *section = tbi_xml_child(reader->root, "keyframe");
  if (!section || !tbi_ok(&reader->error)) return;
  counts n = count_coordinates(reader);
  double *buffer = calloc((size_t)n.nq + (size_t)n.nv + (size_t)n.nu + 1, sizeof *buffer);
  if (!buffer) {
    tbi_fail_memory(&reader->error);
    return;
  }
  int32_t number = 0;
  for (; section; section = tbi_xml_next(section)) {
    tbi_xml_node *node = tbi_xml_child(section, "key");
    for (; node && tbi_ok(&reader->error); node = tbi_xml_next(node)) {
      read_key(reader, node, number++, buffer);
    }
  }
  free(buffer);
}

/* mjcf_frame.c - the frame of an element: pos, and one of five spellings of a rotation. */
#include "io/mjcf/mjcf_reader.h"

#include <math.h>
#include <string.h>

#define SHORTEST 1e-14 /* below this length a direction is none; as MuJoCo */

static const char *const spellings[] = {"quat", "axisangle", "xyaxes", "zaxis", "euler"};

v3 tbi_mjcf_turn(q4 rot, v3 a) {
  m3 r = q_matrix(rot);
  return m3_mulv(&r, a);
}

q4 tbi_mjcf_quat_inverse(q4 a) { return (q4){a.w, -a.x, -a.y, -a.z}; }

static q4 about(v3 axis, double angle) {
  double s = sin(0.5 * angle);
  return (q4){cos(0.5 * angle), s * axis.x, s * axis.y, s * axis.z};
}

q4 tbi_mjcf_quat_z(v3 direction) {
  v3 d = v3_scale(1 / v3_norm(direction), direction);
  v3 axis = v3_make(-d.y, d.x, 0);
  double s = v3_norm(axis);
  // straight up or down: turn about x
  axis = s < 1e-10 ? v3_make(1, 0, 0) : v3_scale(1 / s, axis);
  return about(axis, atan2(s, d.z));
}

static q4 from_euler(const tbi_mjcf_compiler *c, const double angles[3]) {
  q4 rot = q_identity();
  for (int i = 0; i < 3; ++i) {
    char letter = c->euler_seq[i];
    char lower = (char)(letter | 0x20);
    v3 axis = v3_make(lower == 'x', lower == 'y', lower == 'z');
    q4 turn = about(axis, angles[i] * c->angle_unit);
    rot = letter == lower ? q_mul(rot, turn) : q_mul(turn, rot);
  }
  return rot;
}

/* A direction of length one, or an error that names it. */
static v3 direction(const tbi_mjcf_item *item, const char *what, const double *a) {
  v3 d = v3_load(a);
  double length = v3_norm(d);
  if (length >= SHORTEST) return v3_scale(1 / length, d);
  tbi_mjcf_fail(item, "%s has zero length; give a direction", what);
  return v3_make(0, 0, 1);
}

static q4 from_axes(const tbi_mjcf_item *item, const double a[6]) {
  v3 x = direction(item, "the x axis of xyaxes", a);
  v3 y = v3_load(a + 3);
  double square[3];
  v3_store(v3_axpy(y, -v3_dot(x, y), x), square);
  y = direction(item, "the y axis of xyaxes, across x,", square);
  m3 r = m3_from_columns(x, y, v3_cross(x, y));
  return q_from_matrix(&r);
}

static q4 read_rotation(const tbi_mjcf_item *item, int spelling) {
  static const int32_t counts[] = {4, 4, 6, 3, 3};
  double a[6] = {0, 0, 0, 0, 0, 0};
  int32_t n = counts[spelling];
  (void)tbi_mjcf_numbers(item, spellings[spelling], n, n, a);
  if (!tbi_ok(&item->reader->error)) return q_identity();
  const tbi_mjcf_compiler *c = tbi_mjcf_compiler_of(item->reader, item->node);
  switch (spelling) {
  case 0:
    if (q_norm(q_load(a)) >= SHORTEST) return q_normalize(q_load(a));
    tbi_mjcf_fail(item, "quaternion has zero length; write 1 0 0 0 for no rotation");
    return q_identity();
  case 1:
    return about(direction(item, "the axis of axisangle", a), a[3] * c->angle_unit);
  case 2:
    return from_axes(item, a);
  case 3:
    return tbi_mjcf_quat_z(direction(item, "zaxis", a));
  default:
    return from_euler(c, a);
  }
}

bool tbi_mjcf_frame(const tbi_mjcf_item *item, v3 *pos, q4 *rot) {
  double p[3] = {0, 0, 0};
  (void)tbi_mjcf_numbers(item, "pos", 3, 3, p);
  *pos = v3_load(p);
  *rot = q_identity();
  // the spelling closest to the element counts, and there only one may be
  int found = -1;
  int32_t nearest = INT32_MAX;
  for (int i = 0; i < 5; ++i) {
    int32_t distance = 0;
    if (!tbi_mjcf_text(item, spellings[i], &distance) || distance > nearest) continue;
    if (found >= 0 && distance == nearest) {
      tbi_mjcf_fail(item, "has both %s and %s; keep one", spellings[found], spellings[i]);
      return false;
    }
    found = i;
    nearest = distance;
  }
  if (found >= 0) *rot = read_rotation(item, found);
  return found >= 0;
}

q4 tbi_mjcf_euler(const tbi_mjcf_item *item, int32_t times) {
  double angles[3] = {0, 0, 0};
  (void)tbi_mjcf_numbers(item, "euler", 3, 3, angles);
  for (int i = 0; i < 3; ++i)
    angles[i] *= times;
  return from_euler(tbi_mjcf_compiler_of(item->reader, item->node), angles);
}

static bool is_frame(const tbi_xml_node *node) { return node && strcmp(node->name, "frame") == 0; }

void tbi_mjcf_inward(const tbi_mjcf_item *item, int32_t body, v3 *pos, q4 *rot) {
  if (!tbi_mjcf_compiler_of(item->reader, item->node)->global) return;
  const tbi_mjcf_body *home = &item->reader->bodies[body];
  q4 back = tbi_mjcf_quat_inverse(home->file_rot);
  *pos = tbi_mjcf_turn(back, v3_sub(*pos, home->file_pos));
  *rot = q_mul(back, *rot);
}

void tbi_mjcf_outward(const tbi_mjcf_item *item, int32_t body, v3 *pos, q4 *rot) {
  for (tbi_xml_node *node = item->node->parent; is_frame(node); node = node->parent) {
    tbi_mjcf_item frame = tbi_mjcf_item_of(item->reader, node, NULL, 0);
    v3 origin;
    q4 turn;
    (void)tbi_mjcf_frame(&frame, &origin, &turn);
    *pos = v3_add(origin, tbi_mjcf_turn(turn, *pos));
    *rot = q_mul(turn, *rot);
  }
  tbi_mjcf_inward(item, body, pos, rot);
}

int32_t tbi_mjcf_class_around(tbi_mjcf *reader, const tbi_xml_node *child, int32_t inherited) {
  for (tbi_xml_node *node = child->parent; is_frame(node); node = node->parent) {
    if (!tbi_xml_get(node, "childclass")) continue;
    tbi_mjcf_item frame = tbi_mjcf_item_of(reader, node, NULL, 0);
    int32_t c =
        tbi_mjcf_reference(&frame, "childclass", &reader->class_names, "default class", false);
    return c == TABI_NONE ? inherited : c;
  }
  return inherited;
}

/* sdf_read.c - values of SDF elements: the text of a child. */
#include "io/sdf/sdf_reader.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool tbi_sdf_numbers(const tbi_sdf *s, tbi_xml_node *node, const char *child, int32_t n,
                     double *values) {
  double read[8];
  tbi_xml_node *found = tbi_xml_child(node, child);
  if (!found || !tbi_ok(s->error)) return false;
  int32_t count = tbi_xml_numbers(s->error, found->text, found->place, child, read, n);
  if (!tbi_ok(s->error)) return false;
  if (count != n) {
    return tbi_fail_at(s->error, TABI_ERR_PARSE, found->place, "<%s> needs %d number%s, got %d",
                       child, (int)n, n == 1 ? "" : "s", (int)count);
  }
  memcpy(values, read, (size_t)n * sizeof *values);
  return true;
}

bool tbi_sdf_number(const tbi_sdf *s, tbi_xml_node *node, const char *child, double *value) {
  return tbi_sdf_numbers(s, node, child, 1, value);
}

static bool is_true(const char *text) {
  return strcmp(text, "true") == 0 || strcmp(text, "1") == 0 || strcmp(text, "True") == 0 ||
         strcmp(text, "TRUE") == 0;
}

bool tbi_sdf_flag(tbi_xml_node *node, const char *child, bool otherwise) {
  tbi_xml_node *found = tbi_xml_child(node, child);
  return found && found->text[0] != '\0' ? is_true(found->text) : otherwise;
}

const char *tbi_sdf_text(tbi_xml_node *node, const char *child) {
  tbi_xml_node *found = tbi_xml_child(node, child);
  return found && found->text[0] != '\0' ? found->text : NULL;
}

/* Roll about x, then pitch about y, then yaw about z, all fixed axes. */
static q4 from_euler(const double *angle, double unit) {
  double half[3] = {0.5 * unit * angle[0], 0.5 * unit * angle[1], 0.5 * unit * angle[2]};
  q4 roll = {cos(half[0]), sin(half[0]), 0, 0};
  q4 pitch = {cos(half[1]), 0, sin(half[1]), 0};
  q4 yaw = {cos(half[2]), 0, 0, sin(half[2])};
  return q_mul(yaw, q_mul(pitch, roll));
}

static bool read_quaternion(const tbi_sdf *s, tbi_xml_node *pose, const double *xyzw, q4 *rot) {
  q4 given = {xyzw[3], xyzw[0], xyzw[1], xyzw[2]};
  double norm = q_norm(given);
  if (!isfinite(norm) || norm < 1e-12) {
    return tbi_fail_at(s->error, TABI_ERR_MODEL, pose->place, "<pose>: quaternion has zero length");
  }
  *rot = q_scale(1 / norm, given);
  return true;
}

bool tbi_sdf_read_pose(const tbi_sdf *s, tbi_xml_node *pose, tbi_pose *value) {
  *value = tbi_pose_identity();
  if (!pose || !tbi_ok(s->error)) return tbi_ok(s->error);
  const char *format = tbi_xml_get(pose, "rotation_format");
  const char *degrees = tbi_xml_get(pose, "degrees");
  bool quaternion = format && strcmp(format, "quat_xyzw") == 0;
  double unit = degrees && is_true(degrees) ? 3.14159265358979323846 / 180 : 1;
  int32_t n = quaternion ? 7 : 6;
  double read[7];
  int32_t count = tbi_xml_numbers(s->error, pose->text, pose->place, "<pose>", read, n);
  if (!tbi_ok(s->error)) return false;
  if (count == 0) return true;
  if (count != n) {
    return tbi_fail_at(s->error, TABI_ERR_PARSE, pose->place, "<pose> needs %d numbers, got %d",
                       (int)n, (int)count);
  }
  value->pos = v3_load(read);
  if (quaternion) return read_quaternion(s, pose, read + 3, &value->rot);
  value->rot = from_euler(read + 3, unit);
  return true;
}

void tbi_sdf_what(const tbi_sdf_frame *frame, char what[TBI_SDF_WHAT]) {
  static const char *const kinds[] = {"world", "model", "link", "joint", "frame"};
  (void)snprintf(what, TBI_SDF_WHAT, "%s '%.160s'", kinds[frame->kind], frame->name);
}

/* A file with one model, or a part of one, has names without that model's. */
const char *tbi_sdf_output_name(tbi_sdf *s, int32_t frame, const char *ending) {
  const tbi_sdf_frame *f = &s->frames[frame];
  const tbi_sdf_model *top = &s->models[s->models[f->model].top];
  bool short_name = s->def->part || s->ntop == 1;
  size_t skip = short_name && f->model != 0 ? strlen(top->path) : 0;
  if (strncmp(f->name, top->path, skip) != 0) skip = 0;
  char *first = tbi_text_join(s->def->prefix ? s->def->prefix : "", f->name + skip);
  char *full = first ? tbi_text_join(first, ending) : NULL;
  const char *kept = full ? tbi_text_add(&s->text, full) : NULL;
  free(first);
  free(full);
  if (!kept) tbi_fail_memory(s->error);
  return kept;
}

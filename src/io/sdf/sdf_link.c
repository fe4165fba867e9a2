/* sdf_link.c - links of SDF: inertia and sensors.
 *
 * A link that says nothing of its inertia has the format's defaults, 1 kg and 1 kg m^2. */
#include "io/repair.h"
#include "io/report.h"
#include "io/sdf/sdf_reader.h"

#include <stdio.h>
#include <string.h>

static void read_moments(const tbi_sdf *s, tbi_xml_node *inertia, double moments[6]) {
  static const char *const names[6] = {"ixx", "iyy", "izz", "ixy", "ixz", "iyz"};
  for (int i = 0; i < 6; ++i)
    (void)tbi_sdf_number(s, inertia, names[i], &moments[i]);
}

static bool is_auto(tbi_xml_node *inertial) {
  const char *text = tbi_xml_get(inertial, "auto");
  return text && (strcmp(text, "true") == 0 || strcmp(text, "1") == 0);
}

static void read_inertial(tbi_sdf *s, int32_t frame, tabi_link_def *def) {
  double moments[6] = {1, 1, 1, 0, 0, 0};
  tbi_pose pose = tbi_pose_identity();
  tbi_xml_node *inertial = tbi_xml_child(s->frames[frame].node, "inertial");
  def->mass = 1;
  if (inertial && is_auto(inertial)) {
    double density = 1000;
    (void)tbi_sdf_number(s, inertial, "density", &density);
    tbi_sdf_weigh(s, frame, density, def);
    return;
  }
  if (inertial) {
    tbi_xml_node *inertia = tbi_xml_child(inertial, "inertia");
    (void)tbi_sdf_number(s, inertial, "mass", &def->mass);
    if (inertia) read_moments(s, inertia, moments);
    pose = tbi_sdf_pose_in(s, frame, inertial);
  }
  m3 r = q_matrix(pose.rot);
  v3_store(pose.pos, def->com);
  s3_store(s3_rotate(&r, s3_load(moments)), def->inertia);
  char what[TBI_SDF_WHAT];
  tbi_sdf_what(&s->frames[frame], what);
  tabi_place place = inertial ? inertial->place : def->place;
  tbi_repair_inertia(s->error, s->def, place, what, def->mass, def->inertia);
}

/* What is switched on is told as ignored. */
static void check_flags(tbi_xml_node *link) {
  tbi_xml_node *kinematic = tbi_xml_child(link, "kinematic");
  if (kinematic && tbi_sdf_flag(link, "kinematic", false)) kinematic->used = false;
}

static void add_link(tbi_sdf *s, int32_t frame) {
  tabi_link_def def = tabi_link_def_default();
  def.place = s->frames[frame].node->place;
  // what stands in the world needs no mass, and often gives nonsense
  if (!tbi_sdf_is_static(s, frame)) read_inertial(s, frame, &def);
  if (!tbi_sdf_flag(s->frames[frame].node, "gravity", true)) def.buoyancy = 1;
  def.name = tbi_sdf_output_name(s, frame, "");
  if (!tbi_ok(s->error)) return;
  s->frames[frame].link = tabi_builder_add_link(s->builder, &def);
  if (!tbi_take_builder(s->error, s->builder)) return;
  check_flags(s->frames[frame].node);
  tbi_sdf_add_shapes(s, frame);
}

void tbi_sdf_add_links(tbi_sdf *s) {
  for (int32_t i = 1; i < s->nframe && tbi_ok(s->error); ++i) {
    if (s->frames[i].kind == TBI_SDF_LINK && tbi_sdf_is_wanted(s, i)) add_link(s, i);
  }
}

/* One of tabi's sensors. */
static void add_sensor(tbi_sdf *s, int32_t frame, const tabi_sensor_def *def, const char *ending) {
  tabi_sensor_def named = *def;
  named.name = tbi_sdf_output_name(s, frame, ending);
  if (!tbi_ok(s->error)) return;
  (void)tabi_builder_add_sensor(s->builder, &named);
  tbi_take_builder(s->error, s->builder);
}

static void add_imu(tbi_sdf *s, int32_t frame, tabi_sensor_def *def, const char *ending) {
  static const struct {
    tabi_sensor_type type;
    const char *name;
  } parts[] = {
      {TABI_SENSOR_GYRO,          "_gyro"         },
      {TABI_SENSOR_ACCELEROMETER, "_accelerometer"},
  };
  for (size_t i = 0; i < 2; ++i) {
    char name[TBI_SDF_WHAT];
    (void)snprintf(name, sizeof name, "%.150s%s", ending, parts[i].name);
    def->type = parts[i].type;
    add_sensor(s, frame, def, name);
  }
}

/* Sensors that measure no motion or force are told by the table, once for each kind. */
static void read_sensor(tbi_sdf *s, int32_t frame, int32_t joint, tbi_xml_node *node) {
  tabi_sensor_def def = tabi_sensor_def_default();
  char ending[TBI_SDF_WHAT];
  const char *type = tbi_xml_get(node, "type");
  const char *name = tbi_xml_get(node, "name");
  const tbi_sdf_frame *f = &s->frames[frame];
  (void)snprintf(ending, sizeof ending, "::%.150s", name ? name : "sensor");
  def.link = f->link;
  def.joint = joint;
  def.place = node->place;
  tbi_pose pose = tbi_sdf_pose_in(s, frame, node);
  tbi_pose_store(pose, def.pos, def.quat);
  bool at_link = f->kind == TBI_SDF_LINK;
  if (type && strcmp(type, "imu") == 0 && at_link) {
    add_imu(s, frame, &def, ending);
  } else if (type && strcmp(type, "force_torque") == 0 && joint != TABI_NONE) {
    def.type = TABI_SENSOR_FORCE_TORQUE;
    add_sensor(s, frame, &def, ending);
  } else if (type && strcmp(type, "contact") == 0 && at_link) {
    def.type = TABI_SENSOR_CONTACT;
    add_sensor(s, frame, &def, ending);
  } else {
    node->used = false;
  }
}

void tbi_sdf_add_sensors(tbi_sdf *s, int32_t frame, int32_t joint) {
  tbi_xml_node *node = tbi_xml_child(s->frames[frame].node, "sensor");
  for (; node && tbi_ok(s->error); node = tbi_xml_next(node))
    read_sensor(s, frame, joint, node);
}

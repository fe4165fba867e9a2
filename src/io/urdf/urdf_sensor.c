/* urdf_sensor.c - see urdf_sensor.h. */
#include "io/urdf/urdf_sensor.h"

#include "base/text.h"
#include "io/number.h"
#include "io/report.h"
#include "io/urdf/urdf_read.h"
#include "model/builder.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* One sensor under a name with this ending; one whose name is taken is left out. */
static void add_sensor(const tbi_urdf_extras *x, const char *name, const char *ending,
                       const tabi_sensor_def *def) {
  char text[256];
  tabi_sensor_def named = *def;
  const char *prefix = x->def->prefix ? x->def->prefix : "";
  (void)snprintf(text, sizeof text, "%.60s%.150s%s", prefix, name, ending);
  if (tbi_names_find(&x->builder->sensor_names, text) >= 0) {
    tbi_warn(x->def, def->place, "sensor '%s' defined twice; the second is left out", text);
    return;
  }
  named.name = text;
  (void)tabi_builder_add_sensor(x->builder, &named);
  tbi_take_builder(x->error, x->builder);
}

/* <pose>x y z roll pitch yaw</pose> in the frame of the link. */
static void read_pose(const tbi_urdf_extras *x, tbi_xml_node *node, tabi_sensor_def *def) {
  double numbers[6] = {0};
  tbi_xml_node *pose = tbi_xml_child(node, "pose");
  if (!pose || pose->text[0] == '\0') return;
  int32_t count = tbi_xml_numbers(x->error, pose->text, pose->place, "pose", numbers, 6);
  if (!tbi_ok(x->error)) return;
  if (count != 6) {
    tbi_warn(x->def, pose->place, "pose of a sensor has %d numbers instead of 6; ignored",
             (int)count);
    return;
  }
  memcpy(def->pos, numbers, sizeof def->pos);
  tbi_urdf_quat(numbers + 3, def->quat);
}

static bool is_type(const char *type, const char *word) { return type && strcmp(type, word) == 0; }

static void read_sensor(const tbi_urdf_extras *x, tbi_xml_node *node, int32_t link, int32_t joint) {
  tabi_sensor_def def = tabi_sensor_def_default();
  const char *type = tbi_xml_get(node, "type");
  const char *name = tbi_xml_get(node, "name");
  if (!name || name[0] == '\0') name = "sensor";
  def.link = link;
  def.joint = joint;
  def.place = node->place;
  read_pose(x, node, &def);
  if (link != TABI_NONE && (is_type(type, "imu") || is_type(type, "imu_sensor"))) {
    def.type = TABI_SENSOR_GYRO;
    add_sensor(x, name, "_gyro", &def);
    def.type = TABI_SENSOR_ACCELEROMETER;
    add_sensor(x, name, "_accelerometer", &def);
  } else if (link != TABI_NONE && is_type(type, "contact")) {
    def.type = TABI_SENSOR_CONTACT;
    add_sensor(x, name, "", &def);
  } else if (joint != TABI_NONE && is_type(type, "force_torque")) {
    def.type = TABI_SENSOR_FORCE_TORQUE;
    add_sensor(x, name, "", &def);
  } else {
    node->used = false;
  }
}

void tbi_urdf_sensors_add(const tbi_urdf_extras *x, const char *name, int32_t link, int32_t joint) {
  int32_t i = tbi_names_find(&x->gazebo, name);
  for (; i >= 0 && tbi_ok(x->error); i = x->items[i].before) {
    tbi_xml_node *node = tbi_xml_child(x->items[i].node, "sensor");
    for (; node && tbi_ok(x->error); node = tbi_xml_next(node))
      read_sensor(x, node, link, joint);
  }
}

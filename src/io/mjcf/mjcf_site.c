/* mjcf_site.c - sites: named frames in bodies, for what refers to them; and sensors on them.
 *
 * Sensors that tabi has are made, the others named in one note. */
#include "io/mjcf/mjcf_reader.h"

#include "base/array.h"
#include "model/builder.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

void tbi_mjcf_read_site(tbi_mjcf *reader, tbi_xml_node *node, int32_t body) {
  int32_t around = tbi_mjcf_class_around(reader, node, reader->bodies[body].child_class);
  tbi_mjcf_item item = tbi_mjcf_item_of(reader, node, "site", around);
  tbi_mjcf_site site = {.body = body, .place = node->place};
  double ends[6];
  (void)tbi_mjcf_frame(&item, &site.pos, &site.rot);
  if (tbi_mjcf_numbers(&item, "fromto", 6, 6, ends) > 0) {
    v3 along = v3_sub(v3_load(ends), v3_load(ends + 3));
    site.pos = v3_scale(0.5, v3_add(v3_load(ends), v3_load(ends + 3)));
    if (v3_norm(along) > 0) site.rot = tbi_mjcf_quat_z(along);
  }
  tbi_mjcf_outward(&item, body, &site.pos, &site.rot);
  if (tbi_mjcf_add_name(&item, &reader->site_names, reader->nsite) >= 0) {
    tbi_mjcf_fail(&item, "defined twice");
  }
  if (!tbi_ok(&reader->error)) return;
  if (!tbi_array_reserve((void **)&reader->sites, &reader->cap_site, reader->nsite, 1,
                         sizeof *reader->sites)) {
    tbi_fail_memory(&reader->error);
    return;
  }
  reader->sites[reader->nsite++] = site;
}

static const struct {
  const char *tag;
  tabi_sensor_type type;
  const char *told; /* how it differs, or NULL */
} kinds[] = {
    {"gyro",             TABI_SENSOR_GYRO,          NULL                                     },
    {"accelerometer",    TABI_SENSOR_ACCELEROMETER, NULL                                     },
    {"force",            TABI_SENSOR_FORCE_TORQUE,  "is force and torque of parent on child" },
    {"torque",           TABI_SENSOR_FORCE_TORQUE,  "is force and torque of parent on child" },
    {"touch",            TABI_SENSOR_CONTACT,       "feels its whole body, not only its site"},
    {"jointpos",         TABI_SENSOR_ENCODER,       NULL                                     },
    {"jointactuatorfrc", TABI_SENSOR_JOINT_TORQUE,  NULL                                     },
};

#define NKIND ((int)(sizeof kinds / sizeof *kinds))

static int kind_of(const char *tag) {
  int k = 0;
  while (k < NKIND && strcmp(kinds[k].tag, tag) != 0)
    ++k;
  return k;
}

static bool mount_on_joint(const tbi_mjcf_item *item, tabi_sensor_def *def) {
  const tbi_mjcf *reader = item->reader;
  int32_t index = tbi_mjcf_reference(item, "joint", &reader->joint_names, "joint", true);
  if (index == TABI_NONE) return false;
  int type = reader->joints[index].type;
  def->joint = reader->joints[index].index;
  return def->joint != TABI_NONE && (type == TBI_MJCF_HINGE || type == TBI_MJCF_SLIDE);
}

/* On the link of a site; what a joint transmits is felt at the one above it. */
static bool mount_on_site(const tbi_mjcf_item *item, tabi_sensor_def *def) {
  const tbi_mjcf *reader = item->reader;
  int32_t index = tbi_mjcf_reference(item, "site", &reader->site_names, "site", true);
  if (index == TABI_NONE) return false;
  const tbi_mjcf_site *site = &reader->sites[index];
  v3_store(site->pos, def->pos);
  q_store(q_normalize(site->rot), def->quat);
  def->link = reader->bodies[site->body].link;
  if (def->link == TABI_WORLD) return false;
  if (def->type != TABI_SENSOR_FORCE_TORQUE) return true;
  def->joint = tbi_builder_link_joint(reader->builder, def->link);
  return def->joint != TABI_NONE;
}

static void read_noise(const tbi_mjcf_item *item, tabi_sensor_def *def) {
  double noise = 0;
  double cutoff = 0;
  (void)tbi_mjcf_number(item, "noise", &noise);
  (void)tbi_mjcf_number(item, "cutoff", &cutoff);
  int32_t first = def->type == TABI_SENSOR_CONTACT ? 1 : 0;
  for (int32_t i = first; i < tabi_sensor_type_size(def->type); ++i) {
    def->noise[i] = fmax(0, noise);
    if (cutoff > 0) def->range[i] = cutoff;
  }
}

static bool read_sensor(tbi_mjcf *reader, tbi_xml_node *node, int32_t number) {
  int k = kind_of(node->name);
  if (k == NKIND) return false;
  tbi_mjcf_item item = tbi_mjcf_item_of(reader, node, NULL, 0);
  tabi_sensor_def def = tabi_sensor_def_default();
  def.type = kinds[k].type;
  bool at_joint = def.type == TABI_SENSOR_ENCODER || def.type == TABI_SENSOR_JOINT_TORQUE;
  bool mounted = at_joint ? mount_on_joint(&item, &def) : mount_on_site(&item, &def);
  if (!mounted || !tbi_ok(&reader->error)) return false;
  read_noise(&item, &def);
  def.name = tbi_mjcf_full_name(reader, item.name, "sensor", number);
  def.place = node->place;
  if (kinds[k].told) tbi_note(reader->def, node->place, "%s %s", item.label, kinds[k].told);
  if (tbi_ok(&reader->error)) (void)tabi_builder_add_sensor(reader->builder, &def);
  return true;
}

void tbi_mjcf_read_sensors(tbi_mjcf *reader) {
  int32_t number = 0;
  tbi_xml_node *section = tbi_xml_child(reader->root, "sensor");
  for (; section; section = tbi_xml_next(section)) {
    tbi_xml_node *node = section->first;
    for (; node && tbi_ok(&reader->error); node = node->next)
      node->used = read_sensor(reader, node, number++);
  }
}

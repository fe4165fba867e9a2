/* mjcf_compiler.c - <compiler> and <option>: how to read the file, gravity and time step. */
#include "io/mjcf/mjcf_reader.h"

#include <math.h>
#include <string.h>

static const char *const yes_no[] = {"false", "true", NULL};

static bool flag(const tbi_mjcf_item *item, const char *attribute, bool before) {
  return tbi_mjcf_word(item, attribute, yes_no, before) != 0;
}

static void read_angles(const tbi_mjcf_item *item, tbi_mjcf_compiler *c) {
  static const char *const units[] = {"radian", "degree", NULL};
  static const char *const frames[] = {"local", "global", NULL};
  int unit = tbi_mjcf_word(item, "angle", units, c->angle_unit != 1);
  c->angle_unit = unit == 0 ? 1 : M_PI / 180;
  c->global = tbi_mjcf_word(item, "coordinate", frames, c->global) != 0;
  const char *sequence = tbi_mjcf_text(item, "eulerseq", NULL);
  if (!sequence) return;
  if (strlen(sequence) != 3 || strspn(sequence, "xyzXYZ") != 3) {
    tbi_mjcf_fail(item, "eulerseq '%.20s' must be three of x, y, z, X, Y, Z", sequence);
    return;
  }
  memcpy(c->euler_seq, sequence, 4);
}

static void read_inertia_rules(const tbi_mjcf_item *item, tbi_mjcf_compiler *c) {
  static const char *const rules[] = {"false", "true", "auto", NULL};
  c->inertia_rule = tbi_mjcf_word(item, "inertiafromgeom", rules, c->inertia_rule);
  c->balance = flag(item, "balanceinertia", c->balance);
  c->exact_mesh = flag(item, "exactmeshinertia", c->exact_mesh);
  (void)tbi_mjcf_numbers(item, "inertiagrouprange", 2, 2, c->group_range);
  (void)tbi_mjcf_number(item, "boundmass", &c->bound_mass);
  (void)tbi_mjcf_number(item, "boundinertia", &c->bound_inertia);
  (void)tbi_mjcf_number(item, "settotalmass", &c->total_mass);
}

static void read_one_compiler(tbi_mjcf *reader, tbi_xml_node *node, tbi_mjcf_compiler *c) {
  tbi_mjcf_item item = tbi_mjcf_item_of(reader, node, NULL, 0);
  read_angles(&item, c);
  read_inertia_rules(&item, c);
  c->limited_by_range = tbi_mjcf_word(&item, "autolimits", yes_no, c->limited_by_range);
  c->strip_path = flag(&item, "strippath", c->strip_path);
  c->fit_aabb = flag(&item, "fitaabb", c->fit_aabb);
  // assetdir means meshdir and texturedir; the narrower one wins
  const char *assets = tbi_mjcf_text(&item, "assetdir", NULL);
  const char *meshes = tbi_mjcf_text(&item, "meshdir", NULL);
  if (assets) c->mesh_dir = assets;
  if (meshes) c->mesh_dir = meshes;
}

static bool is_disabled(const tbi_mjcf_item *flags, const char *name) {
  static const char *const switches[] = {"disable", "enable", NULL};
  return tbi_mjcf_word(flags, name, switches, 1) == 0;
}

/* `constraint` and `passive` stand for several; what a flag enables is the default. */
static void read_flags(const tbi_mjcf_item *flags, tbi_mjcf_disabled *off) {
  bool constraint = is_disabled(flags, "constraint");
  bool passive = is_disabled(flags, "passive");
  off->contact |= is_disabled(flags, "contact") || constraint;
  off->limit |= is_disabled(flags, "limit") || constraint;
  off->equality |= is_disabled(flags, "equality") || constraint;
  off->friction |= is_disabled(flags, "frictionloss") || constraint;
  off->spring |= is_disabled(flags, "spring") || passive;
  off->damper |= is_disabled(flags, "damper") || passive;
}

static void read_option(tbi_mjcf *reader, tbi_xml_node *node) {
  tbi_mjcf_item item = tbi_mjcf_item_of(reader, node, NULL, 0);
  double gravity[3] = {0, 0, 0};
  double timestep = 0;
  bool has_gravity = tbi_mjcf_numbers(&item, "gravity", 3, 3, gravity) > 0;
  bool has_timestep = tbi_mjcf_number(&item, "timestep", &timestep);
  if (has_timestep && !(timestep > 0)) {
    tbi_mjcf_fail(&item, "timestep %g must be > 0", timestep);
  }
  tbi_xml_node *flags = tbi_xml_child(node, "flag");
  for (; flags; flags = tbi_xml_next(flags)) {
    tbi_mjcf_item each = tbi_mjcf_item_of(reader, flags, NULL, 0);
    read_flags(&each, &reader->disabled);
    if (!is_disabled(&each, "gravity")) continue;
    memset(gravity, 0, sizeof gravity);
    has_gravity = true;
  }
  if (!tbi_ok(&reader->error)) return;
  if (has_gravity) tabi_builder_set_gravity(reader->builder, gravity);
  if (has_timestep) tabi_builder_set_timestep(reader->builder, timestep);
}

void tbi_mjcf_read_compiler_of(tbi_mjcf *reader, int32_t model) {
  tbi_mjcf_compiler c = {
      .angle_unit = M_PI / 180,
      .euler_seq = "xyz",
      .limited_by_range = -1,
      .inertia_rule = TBI_MJCF_INERTIA_AUTO,
      .group_range = {0, 5},
      .total_mass = -1
  };
  tbi_xml_node *node = tbi_xml_child(reader->models[model].root, "compiler");
  for (; node && tbi_ok(&reader->error); node = tbi_xml_next(node))
    read_one_compiler(reader, node, &c);
  reader->models[model].compiler = c;
}

void tbi_mjcf_read_compiler(tbi_mjcf *reader) {
  tbi_mjcf_read_compiler_of(reader, 0);
  tbi_xml_node *node = tbi_xml_child(reader->root, "option");
  for (; node && tbi_ok(&reader->error); node = tbi_xml_next(node))
    read_option(reader, node);
}

/* mjcf_contact.c - which geoms meet, and with how much friction.
 *
 * MuJoCo lets two geoms meet if contype of one shares a bit with conaffinity of the other, which
 * are tabi's group and mask, or if a <pair> says so.  For pairs we take bits that no geom uses:
 * the geom that most pairs share gets one in its group, its partners get it in their masks.
 *
 * Friction of two geoms is that of the higher priority, or else the larger, of as many dimensions
 * as the larger condim says.  tabi's materials combine otherwise, so every two materials of a file
 * get a pair of their own.  What is of no MJCF file counts as condim 3: a geom of condim 1 slides
 * without friction on its like only. */
#include "io/mjcf/mjcf_reader.h"

#include "base/array.h"
#include "base/assertion.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_MATERIALS 64 /* whose pairs are all made */

/* The friction of a geom on what is of no MJCF file. */
#define FOREIGN_CONDIM 3

/* Coefficients that count under a condim. */
static void cut(double condim, double friction[3]) {
  static const double least[3] = {3, 4, 6};
  for (int i = 0; i < 3; ++i)
    if (condim < least[i]) friction[i] = 0;
}

/* What the material of a geom has by itself. */
static void own_friction(const tbi_mjcf_geom *geom, double friction[3]) {
  memcpy(friction, geom->friction, sizeof geom->friction);
  cut(fmax(geom->condim, FOREIGN_CONDIM), friction);
}

/* "mjcf friction 0.8", or with torsional and rolling friction "mjcf friction 0.8 0.005 0.0001";
 * what acts in pairs only shows behind it */
static void write_friction(const tbi_mjcf *reader, const tbi_mjcf_geom *geom, char *name,
                           size_t size) {
  char number[4][40];
  double friction[3];
  own_friction(geom, friction);
  for (int i = 0; i < 3; ++i)
    tbi_mjcf_write_number(friction[i], number[i], sizeof number[i]);
  bool all = friction[1] > 0 || friction[2] > 0;
  (void)snprintf(name, size, "mjcf friction %s%s%s%s%s", number[0], all ? " " : "",
                 all ? number[1] : "", all ? " " : "", all ? number[2] : "");
  size_t used = strlen(name);
  if (geom->condim == 1 || geom->priority != 0) {
    tbi_mjcf_write_number(geom->priority, number[3], sizeof number[3]);
    (void)snprintf(name + used, size - used, ", condim %d priority %s", (int)geom->condim,
                   number[3]);
    used = strlen(name);
  }
  if (geom->paired) {
    (void)snprintf(name + used, size - used, ", geom %d", (int)(geom - reader->geoms));
  }
}

static void keep_friction(tbi_mjcf *reader, const tbi_mjcf_geom *geom, int32_t material) {
  if (!tbi_array_reserve((void **)&reader->frictions, &reader->cap_friction, reader->nfriction, 1,
                         sizeof *reader->frictions)) {
    tbi_fail_memory(&reader->error);
    return;
  }
  tbi_mjcf_friction kept = {
      .material = material, .condim = geom->condim, .priority = geom->priority};
  memcpy(kept.friction, geom->friction, sizeof kept.friction);
  reader->frictions[reader->nfriction++] = kept;
}

static void set_friction(const double friction[3], tabi_material_def *def) {
  def->friction = friction[0];
  def->torsional_friction = friction[1];
  def->rolling_friction = friction[2];
}

int32_t tbi_mjcf_material_for(tbi_mjcf *reader, tbi_mjcf_geom *geom) {
  char name[320];
  write_friction(reader, geom, name, sizeof name);
  tabi_material_def def = tabi_material_def_default();
  int32_t known = tbi_names_find(&reader->friction_names, name);
  if (known >= 0) return reader->frictions[known].material;
  const char *kept = tbi_text_add(&reader->text, name);
  double friction[3];
  own_friction(geom, friction);
  set_friction(friction, &def);
  def.name = tbi_mjcf_full_name(reader, name, NULL, 0);
  def.place = geom->shape.place;
  int32_t index = tabi_builder_add_material(reader->builder, &def);
  if (index == TABI_NONE) return index;
  if (!kept || !tbi_names_add(&reader->friction_names, kept, reader->nfriction))
    tbi_fail_memory(&reader->error);
  keep_friction(reader, geom, index);
  return index;
}

static void combine(const tbi_mjcf_friction *a, const tbi_mjcf_friction *b, double friction[3]) {
  const tbi_mjcf_friction *one = a->priority > b->priority   ? a
                                 : b->priority > a->priority ? b
                                                             : NULL;
  for (int i = 0; i < 3; ++i)
    friction[i] = one ? one->friction[i] : fmax(a->friction[i], b->friction[i]);
  cut(one ? one->condim : fmax(a->condim, b->condim), friction);
}

static void add_pair(tbi_mjcf *reader, int32_t a, int32_t b, const double friction[3]) {
  tabi_material_def def = tabi_material_def_default();
  set_friction(friction, &def);
  (void)tabi_builder_add_pair(reader->builder, a, b, &def);
}

/* The friction of a <pair>: two sliding, torsional, two rolling coefficients. */
static void add_given(tbi_mjcf *reader, tbi_xml_node *node) {
  tbi_mjcf_item item = tbi_mjcf_item_of(reader, node, "pair", 0);
  double given[5] = {1, 1, 0.005, 0.0001, 0.0001};
  double condim = 3;
  int32_t a = tbi_mjcf_reference(&item, "geom1", &reader->geom_names, "geom", true);
  int32_t b = tbi_mjcf_reference(&item, "geom2", &reader->geom_names, "geom", true);
  (void)tbi_mjcf_numbers(&item, "friction", 1, 5, given);
  (void)tbi_mjcf_number(&item, "condim", &condim);
  if (!tbi_ok(&reader->error)) return;
  double friction[3] = {fmax(0, given[0]), fmax(0, given[2]), fmax(0, given[3])};
  if (given[0] != given[1]) {
    tbi_warn(reader->def, node->place, "%s: friction %g is taken in every direction", item.label,
             given[0]);
  }
  cut(condim, friction);
  int32_t material_a = reader->geoms[a].shape.material;
  int32_t material_b = reader->geoms[b].shape.material;
  if (!reader->geoms[a].has_shape || !reader->geoms[b].has_shape || material_a == material_b)
    return;
  if (material_a == TABI_NONE || material_b == TABI_NONE) return;
  add_pair(reader, material_a, material_b, friction);
}

static tbi_xml_node *next_pair(tbi_mjcf *reader, tbi_xml_node *node) {
  tbi_xml_node *next = node ? tbi_xml_next(node) : NULL;
  if (next) return next;
  tbi_xml_node *section =
      node ? tbi_xml_next(node->parent) : tbi_xml_child(reader->root, "contact");
  for (; section && !next; section = tbi_xml_next(section))
    next = tbi_xml_child(section, "pair");
  return next;
}

/* Between two geoms of one material, where that is not its own friction. */
static void add_alike(tbi_mjcf *reader, const tbi_mjcf_friction *one) {
  if (one->condim >= FOREIGN_CONDIM) return;
  double friction[3];
  combine(one, one, friction);
  add_pair(reader, one->material, one->material, friction);
}

void tbi_mjcf_add_frictions(tbi_mjcf *reader) {
  for (int32_t i = 0; i < reader->nfriction && tbi_ok(&reader->error); ++i)
    add_alike(reader, &reader->frictions[i]);
  int32_t count = reader->nfriction < MAX_MATERIALS ? reader->nfriction : 0;
  for (int32_t i = 0; i < count; ++i) {
    for (int32_t j = i + 1; j < count && tbi_ok(&reader->error); ++j) {
      double friction[3];
      combine(&reader->frictions[i], &reader->frictions[j], friction);
      add_pair(reader, reader->frictions[i].material, reader->frictions[j].material, friction);
    }
  }
  tbi_xml_node *node = next_pair(reader, NULL);
  for (; node && tbi_ok(&reader->error); node = next_pair(reader, node))
    add_given(reader, node);
}

/* bits that no geom of the file uses */
static uint32_t free_bits(const tbi_mjcf *reader) {
  uint32_t used = 0;
  for (int32_t i = 0; i < reader->ngeom; ++i)
    used |= reader->geoms[i].shape.group | reader->geoms[i].shape.mask;
  return ~used;
}

static void let_meet(tbi_mjcf *reader, int32_t hub, int32_t partner, uint32_t bit) {
  tabi_shape_def *a = &reader->geoms[hub].shape;
  tabi_shape_def *b = &reader->geoms[partner].shape;
  reader->geoms[hub].paired = reader->geoms[partner].paired = true;
  a->collides = b->collides = true;
  a->group |= bit;
  b->mask |= bit;
}

static void let_pair_meet(tbi_mjcf *reader, tbi_xml_node *node, const int32_t *uses,
                          uint32_t *bit_of, uint32_t *left) {
  tbi_mjcf_item item = tbi_mjcf_item_of(reader, node, "pair", 0);
  int32_t a = tbi_mjcf_reference(&item, "geom1", &reader->geom_names, "geom", true);
  int32_t b = tbi_mjcf_reference(&item, "geom2", &reader->geom_names, "geom", true);
  if (!tbi_ok(&reader->error)) return;
  TBI_ASSERT(uses && bit_of);
  int32_t hub = uses[a] >= uses[b] ? a : b;
  if (bit_of[hub] == 0) {
    // the last free bit is shared: more meets than the file says
    uint32_t lowest = *left & (~*left + 1);
    if (*left & (*left - 1)) *left &= ~lowest;
    bit_of[hub] = lowest ? lowest : UINT32_C(1) << 31;
  }
  let_meet(reader, hub, hub == a ? b : a, bit_of[hub]);
}

static void count_uses(tbi_mjcf *reader, tbi_xml_node *node, int32_t *uses) {
  const char *const names[2] = {tbi_xml_get(node, "geom1"), tbi_xml_get(node, "geom2")};
  for (int i = 0; i < 2; ++i) {
    int32_t geom = names[i] ? tbi_names_find(&reader->geom_names, names[i]) : TABI_NONE;
    if (geom >= 0) ++uses[geom];
  }
}

void tbi_mjcf_read_pairs(tbi_mjcf *reader) {
  tbi_xml_node *first = next_pair(reader, NULL);
  if (!first || reader->disabled.contact) return;
  size_t n = (size_t)reader->ngeom + 1;
  int32_t *uses = calloc(n, sizeof *uses);
  uint32_t *bit_of = calloc(n, sizeof *bit_of);
  uint32_t left = free_bits(reader);
  if (!uses || !bit_of) tbi_fail_memory(&reader->error);
  for (tbi_xml_node *node = first; node && uses && bit_of; node = next_pair(reader, node))
    count_uses(reader, node, uses);
  for (tbi_xml_node *node = first; node && tbi_ok(&reader->error); node = next_pair(reader, node))
    let_pair_meet(reader, node, uses, bit_of, &left);
  free(uses);
  free(bit_of);
}

/* urdf_shape.c - <visual> and <collision>: geometry, place and colour.
 *
 * A colour may be given where it is used, or by the name of a material defined anywhere in the
 * file; the first definition of a name counts. */
#include "io/urdf/urdf_shape.h"

#include "base/array.h"
#include "io/number.h"
#include "io/report.h"
#include "io/urdf/urdf_read.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static tbi_urdf_reading reading_of(const tbi_urdf_shapes *shapes) {
  return (tbi_urdf_reading){shapes->error, shapes->def};
}

static void keep_colour(tbi_urdf_shapes *shapes, tbi_xml_node *material) {
  const char *name = tbi_xml_get(material, "name");
  tbi_xml_node *colour = tbi_xml_child(material, "color");
  if (colour) tbi_xml_use_all(colour); // that no shape takes it is no fault
  if (!name || !colour || tbi_names_find(&shapes->names, name) >= 0) return;
  void *items = shapes->colours;
  bool room =
      tbi_array_reserve(&items, &shapes->capacity, shapes->ncolour, 1, sizeof(tbi_xml_node *));
  shapes->colours = items;
  if (room && tbi_names_add(&shapes->names, name, shapes->ncolour)) {
    shapes->colours[shapes->ncolour++] = colour;
  } else {
    tbi_fail_memory(shapes->error);
  }
}

static void keep_local_colours(tbi_urdf_shapes *shapes, tbi_xml_node *link) {
  tbi_xml_node *visual = tbi_xml_child(link, "visual");
  for (; visual && tbi_ok(shapes->error); visual = tbi_xml_next(visual)) {
    tbi_xml_node *material = tbi_xml_child(visual, "material");
    if (material) keep_colour(shapes, material);
  }
}

void tbi_urdf_shapes_init(tbi_urdf_shapes *shapes, tbi_xml_node *robot) {
  tbi_xml_node *material = tbi_xml_child(robot, "material");
  for (; material && tbi_ok(shapes->error); material = tbi_xml_next(material))
    keep_colour(shapes, material);
  tbi_xml_node *link = tbi_xml_child(robot, "link");
  for (; link && tbi_ok(shapes->error); link = tbi_xml_next(link))
    keep_local_colours(shapes, link);
}

void tbi_urdf_shapes_free(tbi_urdf_shapes *shapes) {
  tbi_names_free(&shapes->names);
  free(shapes->colours);
}

static void read_colour(const tbi_urdf_shapes *shapes, tbi_xml_node *visual, const char *owner,
                        double rgba[4]) {
  tbi_xml_node *material = tbi_xml_child(visual, "material");
  if (!material) return;
  const char *name = tbi_xml_get(material, "name");
  tbi_xml_node *colour = tbi_xml_child(material, "color");
  if (!colour && name) {
    int32_t known = tbi_names_find(&shapes->names, name);
    if (known >= 0) colour = shapes->colours[known];
  }
  const char *text = colour ? tbi_xml_get(colour, "rgba") : NULL;
  if (!text) return;
  // a colour that is none does not matter to a robot
  tabi_error why = {0};
  tbi_first_error error = {.err = &why};
  double numbers[4];
  int32_t count = tbi_xml_numbers(&error, text, colour->place, owner, numbers, 4);
  if (tbi_ok(&error) && count >= 3) {
    memcpy(rgba, numbers, (size_t)count * sizeof *rgba);
  } else {
    tbi_note(shapes->def, colour->place, "%s: rgba '%.60s' is no colour; ignored", owner, text);
  }
}

/* A shape without extent is left out; false. */
static bool leave_out(const tbi_urdf_shapes *shapes, const tbi_xml_node *node, const char *owner,
                      const char *what) {
  tbi_repaired(shapes->error, shapes->def, node->place, (tbi_repair){owner, "left out", 0},
               "%.40s has a %s of 0", node->name, what);
  return false;
}

/* A length that must be there and positive; a sphere of none is a point that can touch. */
static bool read_length(const tbi_urdf_shapes *shapes, tbi_xml_node *node, const char *attribute,
                        const char *owner, double *value) {
  const char *text = tbi_xml_get(node, attribute);
  if (!text) {
    return tbi_fail_at(shapes->error, TABI_ERR_PARSE, node->place, "%s: %.40s needs '%s'", owner,
                       node->name, attribute);
  }
  double length = 0;
  bool number = tbi_number_read(text, strlen(text), &length);
  bool is_point = strcmp(node->name, "sphere") == 0 && length == 0;
  if (number && !is_point && length == 0) return leave_out(shapes, node, owner, attribute);
  if (number && !is_point && !(isfinite(length) && length > 0)) {
    return tbi_fail_at(shapes->error, TABI_ERR_MODEL, node->place, "%s: %s must be > 0 (got %.40s)",
                       owner, attribute, text);
  }
  return tbi_urdf_number(shapes->error, node, attribute, owner, value);
}

static bool read_box(const tbi_urdf_shapes *shapes, tbi_xml_node *node, const char *owner,
                     double size[3]) {
  char what[TBI_OWNER_SIZE + 16];
  const char *text = tbi_xml_get(node, "size");
  (void)snprintf(what, sizeof what, "%s: size", owner);
  int32_t count = tbi_xml_numbers(shapes->error, text ? text : "", node->place, what, size, 3);
  if (count != 3) {
    return tbi_fail_at(shapes->error, TABI_ERR_PARSE, node->place, "%s: box needs 3 sizes, got %d",
                       owner, (int)count);
  }
  for (int i = 0; i < 3; ++i) {
    if (size[i] > 0) continue;
    if (size[i] == 0) return leave_out(shapes, node, owner, "size");
    return tbi_fail_at(shapes->error, TABI_ERR_MODEL, node->place, "%s: box size %g must be > 0",
                       owner, size[i]);
  }
  return tbi_ok(shapes->error);
}

static bool read_round(const tbi_urdf_shapes *shapes, tbi_xml_node *node, const char *owner,
                       double size[3]) {
  return read_length(shapes, node, "radius", owner, &size[0]) &&
         read_length(shapes, node, "length", owner, &size[1]);
}

/* Three numbers, or one for all. */
static bool read_scale(const tbi_urdf_shapes *shapes, tbi_xml_node *node, const char *owner,
                       double scale[3]) {
  const char *text = tbi_xml_get(node, "scale");
  double one = 0;
  if (!text || !tbi_number_read(text, strlen(text), &one) || !isfinite(one))
    return tbi_urdf_vector(reading_of(shapes), node, "scale", owner, 3, scale);
  scale[0] = scale[1] = scale[2] = one;
  return tbi_repaired(shapes->error, shapes->def, node->place,
                      (tbi_repair){owner, "taken for all axes", 0}, "one number as scale");
}

/* What collides is the mesh's hull. */
static bool read_mesh(tbi_urdf_shapes *shapes, tbi_xml_node *node, const char *owner, bool collides,
                      int32_t *mesh) {
  double scale[3] = {1, 1, 1};
  const char *file = tbi_xml_get(node, "filename");
  if (!file || file[0] == '\0') {
    tbi_repaired(shapes->error, shapes->def, node->place, (tbi_repair){owner, "left out", 0},
                 "mesh without 'filename'");
    return false;
  }
  if (!read_scale(shapes, node, owner, scale)) return false;
  if (scale[0] == 0 || scale[1] == 0 || scale[2] == 0) {
    return leave_out(shapes, node, owner, "scale");
  }
  tabi_error *err = shapes->error->err;
  char *moved = tbi_urdf_extras_mesh(shapes->extras, file);
  if (moved) file = moved;
  tabi_status status =
      collides ? tbi_meshes_add_hull(shapes->meshes, file, scale, node->place, mesh, err)
               : tbi_meshes_add(shapes->meshes, file, scale, node->place, mesh, err);
  free(moved);
  return tbi_take(shapes->error, status);
}

/* Fills type and size; false for geometry that is unknown or missing. */
static bool read_geometry(tbi_urdf_shapes *shapes, tbi_xml_node *geometry, const char *owner,
                          tabi_shape_def *def) {
  tbi_xml_node *node;
  if ((node = tbi_xml_child(geometry, "box"))) {
    def->type = TABI_SHAPE_BOX;
    return read_box(shapes, node, owner, def->size);
  }
  if ((node = tbi_xml_child(geometry, "sphere"))) {
    def->type = TABI_SHAPE_SPHERE;
    return read_length(shapes, node, "radius", owner, &def->size[0]);
  }
  if ((node = tbi_xml_child(geometry, "cylinder"))) {
    def->type = TABI_SHAPE_CYLINDER;
    return read_round(shapes, node, owner, def->size);
  }
  if ((node = tbi_xml_child(geometry, "capsule"))) {
    def->type = TABI_SHAPE_CAPSULE;
    return read_round(shapes, node, owner, def->size);
  }
  if ((node = tbi_xml_child(geometry, "mesh"))) {
    def->type = TABI_SHAPE_MESH;
    return read_mesh(shapes, node, owner, def->collides, &def->mesh) && def->mesh != TABI_NONE;
  }
  if (geometry->first) return false; // left unread, so it is reported as ignored
  tbi_repaired(shapes->error, shapes->def, geometry->place, (tbi_repair){owner, "left out", 0},
               "<geometry> is empty");
  return false;
}

/* The prefix and the name in one string that the caller frees; NULL: out of memory. */
static char *with_prefix(const char *prefix, const char *name) {
  size_t size = strlen(prefix) + strlen(name) + 1;
  char *both = malloc(size);
  if (both) (void)snprintf(both, size, "%s%s", prefix, name);
  return both;
}

static void add_named(tbi_urdf_shapes *shapes, tabi_shape_def *def, const char *name) {
  const char *prefix = shapes->def->prefix ? shapes->def->prefix : "";
  char *full = name ? with_prefix(prefix, name) : NULL;
  if (name && !full) {
    tbi_fail_memory(shapes->error);
    return;
  }
  def->name = full;
  (void)tabi_builder_add_shape(shapes->builder, def);
  free(full);
  tbi_take_builder(shapes->error, shapes->builder);
}

/* Reads a shape into a def that says where it belongs, and adds it. */
static bool add_shape(tbi_urdf_shapes *shapes, tbi_xml_node *node, const char *owner,
                      tabi_shape_def def) {
  bool collides = def.collides;
  def.visible = !collides;
  def.place = node->place;
  tbi_xml_node *geometry = tbi_xml_child(node, "geometry");
  if (!geometry) {
    return tbi_repaired(shapes->error, shapes->def, node->place, (tbi_repair){owner, "left out", 0},
                        "<%s> without <geometry>", node->name);
  }
  tbi_urdf_origin(reading_of(shapes), node, owner, def.pos, def.quat);
  bool known = tbi_ok(shapes->error) && read_geometry(shapes, geometry, owner, &def);
  if (!collides) read_colour(shapes, node, owner, def.rgba);
  const char *name = tbi_xml_get(node, "name");
  if (known && tbi_ok(shapes->error)) add_named(shapes, &def, name);
  return tbi_ok(shapes->error);
}

void tbi_urdf_shapes_add(tbi_urdf_shapes *shapes, tbi_xml_node *link, int32_t index,
                         const char *name) {
  char owner[TBI_OWNER_SIZE];
  tabi_shape_def def = tabi_shape_def_default();
  tbi_urdf_owner(owner, "link", name);
  def.link = index;
  def.collides = false;
  tbi_xml_node *node = tbi_xml_child(link, "visual");
  for (; node && tbi_ok(shapes->error); node = tbi_xml_next(node))
    add_shape(shapes, node, owner, def);
  node = tbi_xml_child(link, "collision");
  def.collides = true;
  if (node && tbi_ok(shapes->error))
    def.material = tbi_urdf_extras_material(shapes->extras, link, name);
  if (!node) tbi_urdf_extras_no_surface(shapes->extras, link, name);
  for (; node && tbi_ok(shapes->error); node = tbi_xml_next(node))
    add_shape(shapes, node, owner, def);
}

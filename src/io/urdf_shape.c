/* urdf_shape.c - <visual> and <collision>: geometry, place and colour.
 *
 * A colour may be given where it is used, or by the name of a material defined anywhere in the
 * file; the first definition of a name counts. */
#include "io/urdf_shape.h"

#include "base/array.h"
#include "base/error.h"
#include "io/number.h"
#include "io/urdf_read.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static tabi_status keep_colour(tbi_urdf_shapes *shapes, tbi_xml_node *material) {
  const char *name = tbi_xml_get(material, "name");
  tbi_xml_node *colour = tbi_xml_child(material, "color");
  if (!name || !colour || tbi_names_find(&shapes->names, name) >= 0) return TABI_OK;
  void *items = shapes->colours;
  bool room =
      tbi_array_reserve(&items, &shapes->capacity, shapes->ncolour, 1, sizeof(tbi_xml_node *));
  shapes->colours = items;
  if (!room || !tbi_names_add(&shapes->names, name, shapes->ncolour)) {
    return tbi_error_memory(shapes->err);
  }
  shapes->colours[shapes->ncolour++] = colour;
  return TABI_OK;
}

static tabi_status keep_local_colours(tbi_urdf_shapes *shapes, tbi_xml_node *link) {
  tabi_status status = TABI_OK;
  tbi_xml_node *visual = tbi_xml_child(link, "visual");
  for (; visual && status == TABI_OK; visual = tbi_xml_next(visual)) {
    tbi_xml_node *material = tbi_xml_child(visual, "material");
    if (material) status = keep_colour(shapes, material);
  }
  return status;
}

tabi_status tbi_urdf_shapes_init(tbi_urdf_shapes *shapes, tbi_xml_node *robot) {
  tabi_status status = TABI_OK;
  tbi_xml_node *material = tbi_xml_child(robot, "material");
  for (; material && status == TABI_OK; material = tbi_xml_next(material)) {
    status = keep_colour(shapes, material);
  }
  tbi_xml_node *link = tbi_xml_child(robot, "link");
  for (; link && status == TABI_OK; link = tbi_xml_next(link)) {
    status = keep_local_colours(shapes, link);
  }
  return status;
}

void tbi_urdf_shapes_free(tbi_urdf_shapes *shapes) {
  tbi_names_free(&shapes->names);
  free(shapes->colours);
}

static tabi_status read_colour(tbi_urdf_shapes *shapes, tbi_xml_node *visual, const char *owner,
                               double rgba[4]) {
  tbi_xml_node *material = tbi_xml_child(visual, "material");
  if (!material) return TABI_OK;
  const char *name = tbi_xml_get(material, "name");
  tbi_xml_node *colour = tbi_xml_child(material, "color");
  if (!colour && name) {
    int32_t known = tbi_names_find(&shapes->names, name);
    if (known >= 0) colour = shapes->colours[known];
  }
  return colour ? tbi_urdf_vector(colour, "rgba", owner, 4, rgba, shapes->err) : TABI_OK;
}

/* A length that must be there and positive; a sphere of none is a point that can touch. */
static tabi_status read_length(tbi_urdf_shapes *shapes, tbi_xml_node *node, const char *attribute,
                               const char *owner, double *value) {
  const char *text = tbi_xml_get(node, attribute);
  if (!text) {
    return tbi_error_set(shapes->err, TABI_ERR_PARSE, node->place, "%s: %.40s needs '%s'", owner,
                         node->name, attribute);
  }
  double length = 0;
  bool number = tbi_number_read(text, strlen(text), &length);
  bool is_point = strcmp(node->name, "sphere") == 0 && length == 0;
  if (number && !is_point && !(isfinite(length) && length > 0)) {
    return tbi_error_set(shapes->err, TABI_ERR_MODEL, node->place, "%s: %s must be > 0 (got %.40s)",
                         owner, attribute, text);
  }
  return tbi_urdf_number(node, attribute, owner, value, shapes->err);
}

static tabi_status read_box(tbi_urdf_shapes *shapes, tbi_xml_node *node, const char *owner,
                            double size[3]) {
  char what[TBI_OWNER_SIZE + 16];
  int32_t count = 0;
  const char *text = tbi_xml_get(node, "size");
  (void)snprintf(what, sizeof what, "%s: size", owner);
  tabi_status status =
      tbi_xml_numbers(text ? text : "", node->place, what, size, 3, &count, shapes->err);
  if (status != TABI_OK) return status;
  if (count != 3) {
    return tbi_error_set(shapes->err, TABI_ERR_PARSE, node->place, "%s: box needs 3 sizes, got %d",
                         owner, (int)count);
  }
  for (int i = 0; i < 3; ++i) {
    if (size[i] > 0) continue;
    return tbi_error_set(shapes->err, TABI_ERR_MODEL, node->place, "%s: box size %g must be > 0",
                         owner, size[i]);
  }
  return TABI_OK;
}

static tabi_status read_round(tbi_urdf_shapes *shapes, tbi_xml_node *node, const char *owner,
                              double size[3]) {
  tabi_status status = read_length(shapes, node, "radius", owner, &size[0]);
  if (status != TABI_OK) return status;
  return read_length(shapes, node, "length", owner, &size[1]);
}

/* What collides is the mesh's hull. */
static tabi_status read_mesh(tbi_urdf_shapes *shapes, tbi_xml_node *node, const char *owner,
                             bool collides, int32_t *mesh) {
  double scale[3] = {1, 1, 1};
  const char *file = tbi_xml_get(node, "filename");
  if (!file || file[0] == '\0') {
    return tbi_error_set(shapes->err, TABI_ERR_PARSE, node->place, "%s: mesh without 'filename'",
                         owner);
  }
  tabi_status status = tbi_urdf_vector(node, "scale", owner, 3, scale, shapes->err);
  if (status != TABI_OK) return status;
  if (scale[0] == 0 || scale[1] == 0 || scale[2] == 0) {
    return tbi_error_set(shapes->err, TABI_ERR_MODEL, node->place,
                         "%s: mesh scale must not be zero", owner);
  }
  if (collides) {
    return tbi_meshes_add_hull(shapes->meshes, file, scale, node->place, mesh, shapes->err);
  }
  return tbi_meshes_add(shapes->meshes, file, scale, node->place, mesh, shapes->err);
}

/* Fills type and size; *known is false for geometry that cannot be had. */
static tabi_status read_geometry(tbi_urdf_shapes *shapes, tbi_xml_node *geometry, const char *owner,
                                 tabi_shape_def *def, bool *known) {
  tbi_xml_node *node;
  *known = true;
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
    tabi_status status = read_mesh(shapes, node, owner, def->collides, &def->mesh);
    *known = def->mesh != TABI_NONE;
    return status;
  }
  *known = false;
  if (geometry->first) return TABI_OK; // left unread, so it is reported as ignored
  return tbi_error_set(shapes->err, TABI_ERR_PARSE, geometry->place, "%s: <geometry> is empty",
                       owner);
}

/* The prefix and the name in one string that the caller frees; NULL: out of memory. */
static char *with_prefix(const char *prefix, const char *name) {
  size_t size = strlen(prefix) + strlen(name) + 1;
  char *both = malloc(size);
  if (both) (void)snprintf(both, size, "%s%s", prefix, name);
  return both;
}

static tabi_status add_named(tbi_urdf_shapes *shapes, tabi_shape_def *def, const char *name) {
  const char *prefix = shapes->def->prefix ? shapes->def->prefix : "";
  char *full = name ? with_prefix(prefix, name) : NULL;
  if (name && !full) return tbi_error_memory(shapes->err);
  def->name = full;
  (void)tabi_builder_add_shape(shapes->builder, def);
  free(full);
  const tabi_error *error = tabi_builder_error(shapes->builder);
  if (!error) return TABI_OK;
  if (shapes->err) *shapes->err = *error;
  return error->status;
}

static tabi_status add_shape(tbi_urdf_shapes *shapes, tbi_xml_node *node, int32_t link,
                             bool collides, const char *owner) {
  tabi_shape_def def = tabi_shape_def_default();
  def.link = link;
  def.collides = collides;
  def.visible = !collides;
  def.place = node->place;
  tbi_xml_node *geometry = tbi_xml_child(node, "geometry");
  if (!geometry) {
    return tbi_error_set(shapes->err, TABI_ERR_PARSE, node->place, "%s: <%s> without <geometry>",
                         owner, node->name);
  }
  bool known = false;
  tabi_status status = tbi_urdf_origin(node, owner, def.pos, def.quat, shapes->err);
  if (status == TABI_OK) status = read_geometry(shapes, geometry, owner, &def, &known);
  if (status == TABI_OK && !collides) status = read_colour(shapes, node, owner, def.rgba);
  const char *name = tbi_xml_get(node, "name");
  return status == TABI_OK && known ? add_named(shapes, &def, name) : status;
}

tabi_status tbi_urdf_shapes_add(tbi_urdf_shapes *shapes, tbi_xml_node *link, int32_t index,
                                const char *owner) {
  tabi_status status = TABI_OK;
  tbi_xml_node *node = tbi_xml_child(link, "visual");
  for (; node && status == TABI_OK; node = tbi_xml_next(node)) {
    status = add_shape(shapes, node, index, false, owner);
  }
  node = tbi_xml_child(link, "collision");
  for (; node && status == TABI_OK; node = tbi_xml_next(node)) {
    status = add_shape(shapes, node, index, true, owner);
  }
  return status;
}

/* choreonoid_shape.c - elements of links in .body files: transforms, masses, shapes and devices. */
#include "io/hrp/choreonoid.h"
#include "io/hrp/hrp_vrml.h"
#include "io/number.h"
#include "io/report.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define MAX_DEPTH 64

/* ------------------------------------------------------------------------------------ mass */

static void add_rigid_body(const tbi_choreonoid *c, const tbi_yaml_node *map,
                           tbi_body_place *place) {
  double mass = 0;
  double com[3] = {0};
  s3 inertia = s3_zero();
  tbi_body_number(c, map, "mass", &mass);
  tbi_body_numbers(c, map, "center_of_mass", com, 3);
  tbi_body_inertia(c, map, &inertia);
  if (!tbi_ok(&c->hrp->error)) return;
  m3 turn = q_matrix(tbi_hrp_frame_rotation(&place->frame));
  v3 at = v3_add(place->frame.offset, m3_mulv(&place->frame.linear, v3_load(com)));
  tbi_hrp_add_mass(c->hrp, place->link, mass, at, s3_rotate(&turn, inertia));
  place->has_mass = true;
}

/* --------------------------------------------------------------------------------- devices */

typedef struct device {
  const char *type;
  const char *ending;     /* of the sensor's name: one device may be two sensors */
  const char *largest[2]; /* keys with three ranges each */
  tabi_sensor_type sensor;
  bool angular; /* in the file's unit of angles */
} device;

static const device devices[] = {
    {"ForceSensor",        "",       {"max_force", "max_torque"},    TABI_SENSOR_FORCE_TORQUE,  false},
    {"RateGyroSensor",     "",       {"max_angular_velocity", NULL}, TABI_SENSOR_GYRO,          true },
    {"AccelerationSensor", "",       {"max_acceleration", NULL},     TABI_SENSOR_ACCELEROMETER, false},
    {"IMU",                "_gyro",  {"max_angular_velocity", NULL}, TABI_SENSOR_GYRO,          true },
    {"IMU",                "_accel", {"max_acceleration", NULL},     TABI_SENSOR_ACCELEROMETER, false},
};

static void add_sensor(const tbi_choreonoid *c, const device *d, const tbi_yaml_node *map,
                       const tbi_body_place *place) {
  const char *given = tbi_body_word(map, "name");
  char *name = tbi_text_join(given ? given : d->type, d->ending);
  tbi_hrp_sensor *sensor =
      name ? tbi_hrp_add_sensor(c->hrp, place->link, d->sensor, name, map->place) : NULL;
  if (!name) tbi_fail_memory(&c->hrp->error);
  free(name);
  if (!sensor) return;
  v3_store(place->frame.offset, sensor->def.pos);
  q_store(tbi_hrp_frame_rotation(&place->frame), sensor->def.quat);
  for (int k = 0; k < 2 && d->largest[k]; ++k) {
    double range[3];
    if (!tbi_body_numbers(c, map, d->largest[k], range, 3)) continue;
    for (int i = 0; i < 3; ++i) {
      if (range[i] > 0) sensor->def.range[3 * k + i] = range[i] * (d->angular ? c->angle_unit : 1);
    }
  }
}

static bool add_device(const tbi_choreonoid *c, const char *type, const tbi_yaml_node *map,
                       const tbi_body_place *place) {
  bool found = false;
  for (size_t i = 0; i < sizeof devices / sizeof *devices; ++i) {
    if (strcmp(type, devices[i].type) != 0) continue;
    add_sensor(c, &devices[i], map, place);
    found = true;
  }
  return found;
}

/* ---------------------------------------------------------------------------------- shapes */

static void read_appearance(const tbi_choreonoid *c, const tbi_yaml_node *shape, double rgba[4]) {
  const tbi_yaml_node *appearance = tbi_yaml_child(shape, "appearance");
  const tbi_yaml_node *material = appearance ? tbi_yaml_child(appearance, "material") : NULL;
  double transparency = 0;
  if (appearance) tbi_body_check(c, appearance, "appearance", NULL);
  if (!material) return;
  tbi_body_check(c, material, "material", NULL);
  if (!tbi_body_numbers(c, material, "diffuse", rgba, 3))
    tbi_body_numbers(c, material, "diffuse_color", rgba, 3);
  tbi_body_number(c, material, "transparency", &transparency);
  for (int i = 0; i < 3; ++i)
    rgba[i] = tbi_max(0, tbi_min(1, rgba[i]));
  rgba[3] = 1 - tbi_max(0, tbi_min(1, transparency));
}

/* A list of numbers, of any length; the caller frees.  NULL: none, or after an error. */
static double *read_list(const tbi_choreonoid *c, const tbi_yaml_node *map, const char *const *keys,
                         int32_t *count) {
  const tbi_yaml_node *list = NULL;
  *count = 0;
  for (; *keys && !list; ++keys)
    list = tbi_yaml_child(map, *keys);
  if (!list || list->kind != TBI_YAML_LIST || list->count == 0) return NULL;
  double *values = calloc((size_t)list->count, sizeof *values);
  if (!values) tbi_fail_memory(&c->hrp->error);
  for (const tbi_yaml_node *n = list->first; n && values; n = n->next) {
    double *to = &values[(*count)++];
    if (n->kind == TBI_YAML_SCALAR && tbi_number_read(n->text, strlen(n->text), to)) continue;
    tbi_fail_at(&c->hrp->error, TABI_ERR_PARSE, n->place, "%s'%.40s' is not a number", c->what,
                n->text);
    free(values);
    values = NULL;
  }
  return values;
}

/* Three indices a face, as polygons that end with -1. */
static double *end_triangles(double *indices, int32_t *count) {
  int32_t faces = *count / 3;
  double *ended = calloc((size_t)faces + 1, 4 * sizeof *ended);
  for (int32_t i = 0; ended && i < faces; ++i) {
    memcpy(ended + 4 * (size_t)i, indices + 3 * (size_t)i, 3 * sizeof *ended);
    ended[4 * (size_t)i + 3] = -1;
  }
  free(indices);
  *count = 4 * faces;
  return ended;
}

static void add_faces(const tbi_choreonoid *c, const tbi_yaml_node *geometry,
                      const tbi_body_place *place) {
  static const char *const points[] = {"coordinates", "vertices", NULL};
  static const char *const polygons[] = {"coord_index", "faces", NULL};
  static const char *const triangles[] = {"triangles", NULL};
  const char *ccw = tbi_body_word(geometry, "ccw");
  tbi_hrp_polygons all = {.clockwise = ccw && strcmp(ccw, "false") == 0};
  int32_t npoint = 0;
  double *at = read_list(c, geometry, points, &npoint);
  double *indices = read_list(c, geometry, polygons, &all.nindex);
  if (!indices) {
    indices = read_list(c, geometry, triangles, &all.nindex);
    if (indices) indices = end_triangles(indices, &all.nindex);
  }
  if (at && indices && tbi_ok(&c->hrp->error)) {
    all.points = at;
    all.indices = indices;
    all.npoint = npoint / 3;
    tbi_hrp_add_polygons(c->hrp, place->link, &all, &place->frame, &place->look);
  }
  free(at);
  free(indices);
}

static void add_file(const tbi_choreonoid *c, const char *file, tabi_place at,
                     const tbi_body_place *place) {
  const tbi_hrp_walk walk = {
      .hrp = c->hrp, .link = place->link, .frame = place->frame, .look = place->look};
  tbi_hrp_vrml_inline(&walk, file, at);
}

static bool add_solid(const tbi_choreonoid *c, const char *type, const tbi_yaml_node *geometry,
                      const tbi_body_place *place) {
  static const struct {
    const char *type;
    tbi_hrp_solid solid;
  } solids[] = {
      {"Box",      TBI_HRP_BOX     },
      {"Sphere",   TBI_HRP_SPHERE  },
      {"Cylinder", TBI_HRP_CYLINDER},
      {"Capsule",  TBI_HRP_CAPSULE },
      {"Cone",     TBI_HRP_CONE    },
  };
  for (size_t i = 0; i < sizeof solids / sizeof *solids; ++i) {
    if (strcmp(type, solids[i].type) != 0) continue;
    double size[3] = {1, 1, 1};
    if (solids[i].solid == TBI_HRP_BOX) {
      tbi_body_numbers(c, geometry, "size", size, 3);
    } else {
      tbi_body_number(c, geometry, "radius", &size[0]);
      tbi_body_number(c, geometry, "height", &size[1]);
    }
    if (tbi_ok(&c->hrp->error))
      tbi_hrp_add_solid(c->hrp, place->link, solids[i].solid, size, &place->frame, &place->look);
    return true;
  }
  return false;
}

static void add_geometry(const tbi_choreonoid *c, const tbi_yaml_node *geometry,
                         const tbi_body_place *place) {
  const char *type = tbi_body_word(geometry, "type");
  const char *file = tbi_body_word(geometry, "uri");
  if (!type) type = file ? "Resource" : "";
  const tbi_format_row *row = tbi_hrp_find_row(&tbi_body_format, type, NULL);
  tbi_body_check(c, geometry, "geometry", NULL);
  if (add_solid(c, type, geometry, place)) return;
  if (file && (strcmp(type, "Resource") == 0 || strcmp(type, "Mesh") == 0)) {
    add_file(c, file, geometry->place, place);
  } else if (strcmp(type, "Mesh") == 0 || strcmp(type, "IndexedFaceSet") == 0) {
    add_faces(c, geometry, place);
  } else {
    tbi_hrp_tell(c->hrp, geometry->place, row, "geometry", type);
  }
}

static void add_shape(const tbi_choreonoid *c, const tbi_yaml_node *map, tbi_body_place *place) {
  const tbi_yaml_node *geometry = tbi_yaml_child(map, "geometry");
  tbi_body_place own = *place;
  own.look.place = map->place;
  read_appearance(c, map, own.look.rgba);
  if (geometry && geometry->kind == TBI_YAML_MAP) add_geometry(c, geometry, &own);
}

static void add_resource(const tbi_choreonoid *c, const tbi_yaml_node *map,
                         const tbi_body_place *place) {
  const char *file = tbi_body_word(map, "uri");
  if (!file) file = tbi_body_word(map, "url");
  if (!file) {
    tbi_fail_at(&c->hrp->error, TABI_ERR_PARSE, map->place, "%sResource without uri", c->what);
    return;
  }
  add_file(c, file, map->place, place);
}

/* -------------------------------------------------------------------------------- elements */

static void add_view(const tbi_choreonoid *c, const tbi_yaml_node *map, tbi_body_place *place) {
  const tbi_yaml_node *shape = tbi_yaml_child(map, "shape");
  const tbi_yaml_node *resource = tbi_yaml_child(map, "resource");
  if (shape) add_shape(c, shape, place);
  if (resource) add_resource(c, resource, place);
}

// NOLINTBEGIN(misc-no-recursion): at most MAX_DEPTH deep
static void read_element(const tbi_choreonoid *c, const char *type, const tbi_yaml_node *map,
                         const tbi_body_place *above, tbi_body_place *found, int32_t depth) {
  tbi_body_place place = *above;
  tbi_hrp_frame local = tbi_body_frame(c, map);
  place.frame = tbi_hrp_frame_mul(&above->frame, &local);
  const tbi_format_row *row = tbi_hrp_find_row(&tbi_body_format, type, NULL);
  if (strcmp(type, "Skip") == 0 || !tbi_ok(&c->hrp->error)) return;
  if (row && row->use <= TBI_APPROXIMATED) tbi_body_check(c, map, type, "element");
  if (strcmp(type, "RigidBody") == 0) {
    add_rigid_body(c, map, &place);
  } else if (strcmp(type, "Shape") == 0) {
    add_shape(c, map, &place);
  } else if (strcmp(type, "Resource") == 0) {
    add_resource(c, map, &place);
  } else if (strcmp(type, "Visual") == 0) {
    place.look.collides = false;
    add_view(c, map, &place);
  } else if (strcmp(type, "Collision") == 0) {
    place.look.visible = false;
    add_view(c, map, &place);
  } else if (!add_device(c, type, map, &place)) {
    tbi_hrp_tell(c->hrp, map->place, row, "element", type);
  }
  const tbi_yaml_node *elements = tbi_yaml_child(map, "elements");
  if (elements) tbi_body_elements(c, elements, &place, depth + 1);
  found->has_mass = found->has_mass || place.has_mass;
}

/* The type is a key of the element, or the key that the element has in a map. */
static void read_item(const tbi_choreonoid *c, const tbi_yaml_node *map, tbi_body_place *place,
                      int32_t depth) {
  const char *type = tbi_body_word(map, "type");
  if (!type) type = map->key;
  if (map->kind != TBI_YAML_MAP || !type) {
    tbi_fail_at(&c->hrp->error, TABI_ERR_PARSE, map->place, "%sa map with a type is needed here",
                c->what);
    return;
  }
  read_element(c, type, map, place, place, depth);
}

void tbi_body_elements(const tbi_choreonoid *c, const tbi_yaml_node *elements,
                       tbi_body_place *place, int32_t depth) {
  if (depth > MAX_DEPTH || !tbi_ok(&c->hrp->error)) return;
  if (elements->kind == TBI_YAML_MAP && tbi_yaml_child(elements, "type")) {
    read_item(c, elements, place, depth);
    return;
  }
  for (const tbi_yaml_node *n = elements->first; n && tbi_ok(&c->hrp->error); n = n->next)
    read_item(c, n, place, depth);
}
// NOLINTEND(misc-no-recursion)

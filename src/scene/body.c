/* body.c - bodies of a scene: one shape each, solid, fixed or free. */
#include "scene/scene.h"

#include "base/assertion.h"
#include "io/mesh/heightfield.h"
#include "io/mesh/hull.h"
#include "math/quat.h"
#include "model/builder.h"
#include "model/limits.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct body_keys {
  const char *name, *material;
  bool fixed;
  double mass, density; /* NAN: not given */
  double xyz[3], lin[3], ang[3];
  const tbi_yaml_node *rpy, *quat, *shape, *inertia, *com, *motion;
} body_keys;

static const tbi_field body_fields[] = {
    {"name",     TBI_FIELD_WORD,     offsetof(body_keys, name)    },
    {"fixed",    TBI_FIELD_BOOL,     offsetof(body_keys, fixed)   },
    {"mass",     TBI_FIELD_POSITIVE, offsetof(body_keys, mass)    },
    {"density",  TBI_FIELD_POSITIVE, offsetof(body_keys, density) },
    {"inertia",  TBI_FIELD_NODE,     offsetof(body_keys, inertia) },
    {"com",      TBI_FIELD_NODE,     offsetof(body_keys, com)     },
    {"shape",    TBI_FIELD_MAP,      offsetof(body_keys, shape)   },
    {"material", TBI_FIELD_WORD,     offsetof(body_keys, material)},
    {"xyz",      TBI_FIELD_VECTOR,   offsetof(body_keys, xyz)     },
    {"rpy",      TBI_FIELD_NODE,     offsetof(body_keys, rpy)     },
    {"quat",     TBI_FIELD_NODE,     offsetof(body_keys, quat)    },
    {"lin",      TBI_FIELD_VECTOR,   offsetof(body_keys, lin)     },
    {"ang",      TBI_FIELD_VECTOR,   offsetof(body_keys, ang)     },
    {"motion",   TBI_FIELD_MAP,      offsetof(body_keys, motion)  },
};

/* A body on its way into the builder. */
typedef struct body {
  tbi_scene_reader *r;
  const tbi_yaml_node *node;
  char what[TBI_WHAT_SIZE];
  body_keys keys;
  tabi_shape_def shape;
  bool has_shape;
  tbi_solid solid; /* of density 1; volume 0: the shape is none */
} body;

static void box_solid(const double size[3], tbi_solid *solid) {
  double volume = size[0] * size[1] * size[2];
  *solid = (tbi_solid){.volume = volume};
  for (int i = 0; i < 3; ++i) {
    double a = size[(i + 1) % 3];
    double b = size[(i + 2) % 3];
    solid->inertia[i] = volume * (a * a + b * b) / 12;
  }
}

static void sphere_solid(double radius, tbi_solid *solid) {
  double volume = 4 * M_PI / 3 * radius * radius * radius;
  double inertia = 0.4 * volume * radius * radius;
  *solid = (tbi_solid){
      .volume = volume, .inertia = {inertia, inertia, inertia}
  };
}

static void ellipsoid_solid(const double semi[3], tbi_solid *solid) {
  *solid = (tbi_solid){.volume = 4 * M_PI / 3 * semi[0] * semi[1] * semi[2]};
  for (int i = 0; i < 3; ++i) {
    double a = semi[(i + 1) % 3];
    double b = semi[(i + 2) % 3];
    solid->inertia[i] = solid->volume * (a * a + b * b) / 5;
  }
}

static void cylinder_solid(double radius, double length, tbi_solid *solid) {
  double volume = M_PI * radius * radius * length;
  double across = volume * (3 * radius * radius + length * length) / 12;
  *solid = (tbi_solid){
      .volume = volume, .inertia = {across, across, volume * radius * radius / 2}
  };
}

/* A cylinder and two half balls, whose centres lie 3/8 of the radius beyond the cylinder's ends. */
static void capsule_solid(double radius, double length, tbi_solid *solid) {
  tbi_solid ball;
  cylinder_solid(radius, length, solid);
  sphere_solid(radius, &ball);
  double own = ball.inertia[0] - ball.volume * 9 * radius * radius / 64;
  double arm = length / 2 + 3 * radius / 8;
  solid->volume += ball.volume;
  solid->inertia[0] += own + ball.volume * arm * arm;
  solid->inertia[1] = solid->inertia[0];
  solid->inertia[2] += ball.inertia[2];
}

static void primitive_solid(const tabi_shape_def *shape, tbi_solid *solid) {
  const double *size = shape->size;
  if (shape->type == TABI_SHAPE_BOX) box_solid(size, solid);
  if (shape->type == TABI_SHAPE_SPHERE) sphere_solid(size[0], solid);
  if (shape->type == TABI_SHAPE_CYLINDER) cylinder_solid(size[0], size[1], solid);
  if (shape->type == TABI_SHAPE_CAPSULE) capsule_solid(size[0], size[1], solid);
  if (shape->type == TABI_SHAPE_ELLIPSOID) ellipsoid_solid(size, solid);
}

static const struct {
  const char *key;
  tabi_shape_type type;
  int32_t nsize; /* numbers after the key; a single one is no list */
} primitives[] = {
    {"plane",     TABI_SHAPE_PLANE,     0},
    {"sphere",    TABI_SHAPE_SPHERE,    1},
    {"capsule",   TABI_SHAPE_CAPSULE,   2},
    {"cylinder",  TABI_SHAPE_CYLINDER,  2},
    {"box",       TABI_SHAPE_BOX,       3},
    {"ellipsoid", TABI_SHAPE_ELLIPSOID, 3},
};
#define NPRIMITIVE (sizeof primitives / sizeof *primitives)

static bool read_primitive(body *b, const tbi_yaml_node *node, size_t index) {
  TBI_ASSERT(index < NPRIMITIVE);
  tbi_first_error *error = b->r->error;
  const char *key = primitives[index].key;
  int32_t nsize = primitives[index].nsize;
  double *size = b->shape.size;
  b->shape.type = primitives[index].type;
  if (nsize == 0) {
    bool empty = node->kind == TBI_YAML_MAP ? node->count == 0 : node->text[0] == '\0';
    return empty ||
           tbi_fail_about(error, node->place, b->what, "%s takes nothing: %s: {}", key, key);
  }
  bool read = nsize == 1 ? tbi_fields_number(error, node, b->what, key, size)
                         : tbi_fields_numbers(error, node, b->what, key, size, nsize);
  for (int32_t i = 0; i < nsize && read; ++i) {
    if (size[i] >= TBI_MIN_SIZE && size[i] <= TBI_MAX_LENGTH) continue;
    if (!(size[i] > 0))
      return tbi_fail_about(error, node->place, b->what, "%s: size %g must be > 0", key, size[i]);
    bool large = size[i] > 1;
    return tbi_fail_about(error, node->place, b->what, "%s: size %g m is %s the limit of %g m", key,
                          size[i], large ? "beyond" : "below",
                          large ? TBI_MAX_LENGTH : TBI_MIN_SIZE);
  }
  if (read) primitive_solid(&b->shape, &b->solid);
  return read;
}

static void add_mesh(body *b, const tbi_yaml_node *node, const tbi_mesh *mesh,
                     tabi_shape_type type) {
  tbi_scene_reader *r = b->r;
  tabi_mesh_def def = tabi_mesh_def_default();
  def.name = b->keys.name;
  def.nvertex = mesh->nvertex;
  def.nface = mesh->nface;
  def.vertices = mesh->vertices;
  def.faces = mesh->faces;
  def.place = node->place;
  b->shape.type = type;
  b->shape.mesh = tabi_builder_add_mesh(r->builder, &def);
  tbi_take_builder(r->error, r->builder);
}

/* What moves collides as its hull.  A mesh has its own mass, a hull that of all inside it. */
static void take_points(body *b, const tbi_yaml_node *node, const tbi_mesh *mesh) {
  tbi_first_error *error = b->r->error;
  const char *name = node->text[0] != '\0' ? node->text : b->keys.name;
  bool solid = mesh->nface > 0 && strcmp(node->key, "mesh") == 0;
  tbi_mesh hull = {0};
  if (tbi_take(error, tbi_hull_mesh(mesh->vertices, mesh->nvertex, name, node->place, &hull,
                                    error->err)) &&
      tbi_take(error,
               tbi_mesh_solid(solid ? mesh : &hull, name, node->place, &b->solid, error->err)))
    add_mesh(b, node, &hull, TABI_SHAPE_MESH);
  tbi_mesh_free(&hull);
}

/* What is fixed collides by its faces, and may have no inside that could weigh something. */
static void take_faces(body *b, const tbi_yaml_node *node, const tbi_mesh *mesh) {
  (void)tbi_mesh_solid(mesh, b->keys.name, node->place, &b->solid, NULL);
  add_mesh(b, node, mesh, TABI_SHAPE_TRIANGLES);
}

static bool read_points(body *b, const tbi_yaml_node *node) {
  tbi_first_error *error = b->r->error;
  tbi_mesh points = {.nvertex = node->count};
  points.vertices = calloc(3 * (size_t)node->count + 1, sizeof *points.vertices);
  if (!points.vertices) return tbi_fail_memory(error);
  double *to = points.vertices;
  for (const tbi_yaml_node *item = node->first; item; item = item->next, to += 3)
    tbi_fields_numbers(error, item, b->what, "point of the hull", to, 3);
  if (tbi_ok(error)) take_points(b, node, &points);
  tbi_mesh_free(&points);
  return tbi_ok(error);
}

/* where a scene's files are looked for, none of which may be missing */
static tabi_load_def file_rules(const tbi_scene_reader *r) {
  tabi_load_def def = tabi_load_def_default();
  def.package_path = r->def->package_path;
  def.strict = r->def->strict;
  def.need_meshes = true;
  return def;
}

static bool read_mesh(body *b, const tbi_yaml_node *node) {
  tbi_scene_reader *r = b->r;
  if (node->kind == TBI_YAML_LIST && strcmp(node->key, "hull") == 0) return read_points(b, node);
  if (node->kind != TBI_YAML_SCALAR || node->text[0] == '\0') {
    return tbi_fail_about(r->error, node->place, b->what, "%s needs the name of a mesh file",
                          node->key);
  }
  tabi_load_def def = file_rules(r);
  tbi_meshes *meshes = tbi_meshes_create(r->builder, r->path, &def);
  if (!meshes) return tbi_fail_memory(r->error);
  tbi_mesh mesh = {0};
  bool ground = b->keys.fixed && strcmp(node->key, "mesh") == 0;
  tbi_take(r->error, tbi_meshes_read(meshes, node->text, node->place, &mesh, r->error->err));
  if (tbi_ok(r->error) && ground) take_faces(b, node, &mesh);
  if (tbi_ok(r->error) && !ground) take_points(b, node, &mesh);
  tbi_mesh_free(&mesh);
  tbi_meshes_destroy(meshes);
  return tbi_ok(r->error);
}

typedef struct field_keys {
  const char *file;
  const tbi_yaml_node *size;
  double height;
} field_keys;

static const tbi_field field_fields[] = {
    {"file",   TBI_FIELD_WORD,     offsetof(field_keys, file)  },
    {"size",   TBI_FIELD_NODE,     offsetof(field_keys, size)  },
    {"height", TBI_FIELD_POSITIVE, offsetof(field_keys, height)},
};

/* `heightfield: file`, or a map with the file and how it lies; the file, or NULL. */
static const char *read_field(body *b, const tbi_yaml_node *node, tbi_heightfield *field) {
  tbi_first_error *error = b->r->error;
  bool map = node->kind == TBI_YAML_MAP;
  field_keys keys = {.file = map ? NULL : node->text, .height = 1};
  *field = (tbi_heightfield){.height = 1};
  if (map) tbi_fields_read(error, node, b->what, TBI_FIELDS(field_fields), &keys);
  if (keys.size) tbi_fields_numbers(error, keys.size, b->what, "size", field->size, 2);
  if (node->kind == TBI_YAML_LIST || !keys.file || keys.file[0] == '\0')
    tbi_fail_about(error, node->place, b->what, "heightfield needs the name of a file");
  if (keys.size && !(field->size[0] > 0 && field->size[1] > 0))
    tbi_fail_about(error, keys.size->place, b->what, "size of a heightfield must be > 0");
  field->height = keys.height;
  return tbi_ok(error) ? keys.file : NULL;
}

static bool read_heightfield(body *b, const tbi_yaml_node *node) {
  tbi_scene_reader *r = b->r;
  tbi_heightfield field;
  const char *file = read_field(b, node, &field);
  if (!file) return false;
  tabi_load_def def = file_rules(r);
  tbi_meshes *meshes = tbi_meshes_create(r->builder, r->path, &def);
  if (!meshes) return tbi_fail_memory(r->error);
  tbi_mesh mesh = {0};
  if (tbi_take(r->error,
               tbi_meshes_read_heights(meshes, file, &field, node->place, &mesh, r->error->err)))
    add_mesh(b, node, &mesh, TABI_SHAPE_HEIGHTFIELD);
  tbi_mesh_free(&mesh);
  tbi_meshes_destroy(meshes);
  return tbi_ok(r->error);
}

static bool read_shape(body *b) {
  tbi_scene_reader *r = b->r;
  const tbi_yaml_node *map = b->keys.shape;
  if (map->count != 1)
    return tbi_fail_about(r->error, map->place, b->what, "shape must have exactly one key");
  const tbi_yaml_node *node = map->first;
  b->has_shape = true;
  b->shape = tabi_shape_def_default();
  // the groups of a robot's file tell its own shapes apart; what the scene adds meets them all
  b->shape.mask = UINT32_MAX;
  b->shape.name = b->keys.name;
  b->shape.place = map->place;
  for (size_t i = 0; i < NPRIMITIVE; ++i) {
    if (strcmp(primitives[i].key, node->key) == 0) return read_primitive(b, node, i);
  }
  if (strcmp(node->key, "mesh") == 0 || strcmp(node->key, "hull") == 0) return read_mesh(b, node);
  if (strcmp(node->key, "heightfield") == 0) return read_heightfield(b, node);
  return tbi_fail_about(
      r->error, node->place, b->what,
      "unknown shape '%.40s' (box, sphere, capsule, cylinder, ellipsoid, plane, mesh, "
      "hull, heightfield)",
      node->key);
}

static bool read_inertia(const body *b, tabi_link_def *link) {
  tbi_first_error *error = b->r->error;
  double moments[3];
  if (!tbi_fields_numbers(error, b->keys.inertia, b->what, "inertia", moments, 3)) return false;
  for (int i = 0; i < 3; ++i) {
    if (!(moments[i] > 0)) {
      return tbi_fail_about(error, b->keys.inertia->place, b->what, "inertia %g must be > 0",
                            moments[i]);
    }
    link->inertia[i] = moments[i];
  }
  return true;
}

/* A body that moves as told needs no mass: no force depends on it. */
static void weigh_told(const body *b, tabi_link_def *link) {
  if (!b->keys.motion || !isnan(b->keys.mass) || !isnan(b->keys.density)) return;
  link->mass = 1;
}

/* Without a shape: that of a sphere of radius 1 m or so. */
static bool weigh_point(tabi_link_def *link) {
  for (int i = 0; i < 3; ++i)
    link->inertia[i] = link->mass;
  return true;
}

static bool weigh(const body *b, tabi_link_def *link) {
  tbi_scene_reader *r = b->r;
  const body_keys *keys = &b->keys;
  bool solid = b->solid.volume > 0;
  weigh_told(b, link);
  if (!isnan(keys->mass) && !isnan(keys->density)) {
    return tbi_fail_about(r->error, b->node->place, b->what, "give mass or density, not both");
  }
  if (!isnan(keys->mass)) link->mass = keys->mass;
  if (!isnan(keys->density)) {
    if (!solid)
      return tbi_fail_about(r->error, b->node->place, b->what, "density needs a solid shape");
    link->mass = keys->density * b->solid.volume;
  }
  if (!(link->mass > 0)) {
    if (keys->fixed) return true;
    return tbi_fail_about(r->error, b->node->place, b->what,
                          "a body that moves needs mass or density");
  }
  if (!keys->inertia && !solid) {
    if (keys->fixed) return true;
    if (keys->motion) return weigh_point(link);
    return tbi_fail_about(r->error, b->node->place, b->what,
                          "without a solid shape it needs inertia");
  }
  memcpy(link->com, b->solid.com, sizeof link->com);
  // moments are about the centre of mass, wherever that is
  if (keys->com && !tbi_fields_numbers(r->error, keys->com, b->what, "com", link->com, 3))
    return false;
  if (keys->inertia) return read_inertia(b, link);
  for (int i = 0; i < 6; ++i)
    link->inertia[i] = b->solid.inertia[i] * link->mass / b->solid.volume;
  return true;
}

static bool add_joint(body *b, int32_t link, const double rotation[4]) {
  TBI_ASSERT(tbi_builder_is_link(b->r->builder, link));
  tbi_scene_reader *r = b->r;
  const body_keys *keys = &b->keys;
  tabi_joint_def def = tabi_joint_def_default();
  def.name = keys->name;
  def.child = link;
  def.place = b->node->place;
  double *pos = def.pos;
  double *quat = def.quat;
  if (!keys->fixed) {
    // its coordinates are those of the world
    def.type = TABI_JOINT_FREE;
    pos = def.initial_q;
    quat = def.initial_q + 3;
  }
  memcpy(pos, keys->xyz, sizeof keys->xyz);
  memcpy(quat, rotation, 4 * sizeof *rotation);
  int32_t joint = tabi_builder_add_joint(r->builder, &def);
  if (!tbi_take_builder(r->error, r->builder) || keys->fixed) return tbi_ok(r->error);
  if (keys->motion) return tbi_scene_read_body_motion(r, joint, keys->motion, b->what);
  return tbi_scene_add_velocity(r, joint, keys->lin, keys->ang);
}

static bool add_shape(body *b, int32_t link) {
  tbi_scene_reader *r = b->r;
  b->shape.link = link;
  if (b->keys.material) {
    b->shape.material =
        tbi_scene_material(r, tbi_yaml_child(b->node, "material"), b->what, b->keys.material);
  }
  if (!tbi_ok(r->error)) return false;
  (void)tabi_builder_add_shape(r->builder, &b->shape);
  return tbi_take_builder(r->error, r->builder);
}

static bool add_body(body *b) {
  tbi_scene_reader *r = b->r;
  double rotation[4];
  tabi_link_def link = tabi_link_def_default();
  link.name = b->keys.name;
  link.place = b->node->place;
  tbi_fields_rotation(r->error, b->keys.rpy, b->keys.quat, b->what, rotation);
  if (!tbi_ok(r->error) || !weigh(b, &link)) return false;
  int32_t index = tabi_builder_add_link(r->builder, &link);
  return tbi_take_builder(r->error, r->builder) && add_joint(b, index, rotation) &&
         (!b->has_shape || add_shape(b, index));
}

static bool is_moving(const double a[3]) { return a[0] != 0 || a[1] != 0 || a[2] != 0; }

/* What a body may not be. */
static bool check_body(const body *b) {
  tbi_first_error *error = b->r->error;
  if (b->keys.fixed && (is_moving(b->keys.lin) || is_moving(b->keys.ang)))
    return tbi_fail_about(error, b->node->place, b->what, "a fixed body has no velocity");
  if (b->keys.motion && (b->keys.fixed || is_moving(b->keys.lin) || is_moving(b->keys.ang))) {
    return tbi_fail_about(error, b->keys.motion->place, b->what,
                          "what has motion is not fixed, and lin and ang follow from it");
  }
  if (!b->has_shape || b->keys.fixed) return tbi_ok(error);
  if (b->shape.type == TABI_SHAPE_PLANE)
    return tbi_fail_about(error, b->node->place, b->what, "a plane needs fixed: true");
  if (b->shape.type == TABI_SHAPE_HEIGHTFIELD)
    return tbi_fail_about(error, b->node->place, b->what, "a heightfield needs fixed: true");
  return tbi_ok(error);
}

static bool read_body(tbi_scene_reader *r, const tbi_yaml_node *node) {
  body b = {
      .r = r, .node = node, .keys = {.mass = NAN, .density = NAN}
  };
  const tbi_yaml_node *name = tbi_yaml_child(node, "name");
  (void)snprintf(b.what, sizeof b.what, "body '%.60s': ", name ? name->text : "");
  if (!name) (void)snprintf(b.what, sizeof b.what, "body: ");
  if (!tbi_fields_read(r->error, node, b.what, TBI_FIELDS(body_fields), &b.keys)) return false;
  if (!b.keys.name) return tbi_fail_about(r->error, node->place, b.what, "name is missing");
  if (b.keys.shape) read_shape(&b);
  return check_body(&b) && add_body(&b);
}

void tbi_scene_read_bodies(tbi_scene_reader *r, const tbi_yaml_node *list) {
  const tbi_yaml_node *node = list ? list->first : NULL;
  for (; node && tbi_ok(r->error); node = node->next)
    read_body(r, node);
}

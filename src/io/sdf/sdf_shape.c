/* sdf_shape.c - <visual> and <collision>: geometry, colour and surface.
 *
 * Gazebo takes the smaller of the friction coefficients of two surfaces.  Equal surfaces share one
 * material, and every two materials of SDF become a pair with that rule. */
#include "io/repair.h"
#include "io/report.h"
#include "io/sdf/sdf_reader.h"
#include "io/shape_solid.h"
#include "model/builder.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PI           3.14159265358979323846
#define MAX_SURFACES 200 /* different ones that are paired */
#define CONE_SIDES   32

static const char surface_name[] = "sdf surface ";

/* -- geometry */

/* A shape without extent is left out; false. */
static bool leave_out(const tbi_sdf *s, const tbi_xml_node *node, const char *child) {
  tbi_repaired(s->error, s->def, node->place, (tbi_repair){node->name, "left out", 0}, "%s of 0",
               child);
  return false;
}

static bool read_length(const tbi_sdf *s, tbi_xml_node *node, const char *child, double *value) {
  *value = 0;
  if (!tbi_sdf_number(s, node, child, value) && tbi_ok(s->error)) *value = 1;
  if (!tbi_ok(s->error) || *value > 0) return tbi_ok(s->error);
  if (*value == 0) return leave_out(s, node, child);
  return tbi_fail_at(s->error, TABI_ERR_MODEL, node->place, "%s: %s must be > 0 (got %g)",
                     node->name, child, *value);
}

static bool read_sizes(const tbi_sdf *s, tbi_xml_node *node, const char *child, double size[3]) {
  size[0] = size[1] = size[2] = 1;
  (void)tbi_sdf_numbers(s, node, child, 3, size);
  for (int i = 0; i < 3 && tbi_ok(s->error); ++i) {
    if (size[i] > 0) continue;
    if (size[i] == 0) return leave_out(s, node, child);
    tbi_fail_at(s->error, TABI_ERR_MODEL, node->place, "%s: %s %g must be > 0", node->name, child,
                size[i]);
  }
  return tbi_ok(s->error);
}

static bool read_round(const tbi_sdf *s, tbi_xml_node *node, tabi_shape_type type,
                       tabi_shape_def *def) {
  def->type = type;
  return read_length(s, node, "radius", &def->size[0]) &&
         read_length(s, node, "length", &def->size[1]);
}

/* A cone is the hull of its tip and of a polygon at its foot. */
static bool read_cone(tbi_sdf *s, tbi_xml_node *node, tabi_shape_def *def) {
  double vertices[CONE_SIDES + 1][3];
  int32_t faces[2 * CONE_SIDES - 2][3];
  double radius = 1;
  double length = 1;
  if (!read_length(s, node, "radius", &radius) || !read_length(s, node, "length", &length))
    return false;
  for (int32_t i = 0; i < CONE_SIDES; ++i) {
    double angle = 2 * PI * i / CONE_SIDES;
    v3_store(v3_make(radius * cos(angle), radius * sin(angle), -0.5 * length), vertices[i]);
  }
  v3_store(v3_make(0, 0, 0.5 * length), vertices[CONE_SIDES]);
  int32_t n = 0;
  for (int32_t i = 0; i < CONE_SIDES; ++i)
    memcpy(faces[n++], ((int32_t[3]){i, (i + 1) % CONE_SIDES, CONE_SIDES}), sizeof faces[0]);
  for (int32_t i = 1; i + 1 < CONE_SIDES; ++i)
    memcpy(faces[n++], ((int32_t[3]){0, i + 1, i}), sizeof faces[0]);
  tabi_mesh_def mesh = tabi_mesh_def_default();
  mesh.nvertex = CONE_SIDES + 1;
  mesh.nface = n;
  mesh.vertices = &vertices[0][0];
  mesh.faces = &faces[0][0];
  mesh.place = node->place;
  def->type = TABI_SHAPE_MESH;
  def->mesh = tabi_builder_add_mesh(s->builder, &mesh);
  return tbi_take_builder(s->error, s->builder);
}

/* A plane has no end here; it can only stand. */
static bool read_plane(tbi_sdf *s, int32_t frame, tbi_xml_node *node, tabi_shape_def *def) {
  double normal[3] = {0, 0, 1};
  (void)tbi_sdf_numbers(s, node, "normal", 3, normal);
  double norm = v3_norm(v3_load(normal));
  if (tbi_ok(s->error) && !(norm > 0)) {
    return tbi_fail_at(s->error, TABI_ERR_MODEL, node->place, "plane: normal has zero length");
  }
  if (!tbi_ok(s->error)) return false;
  (void)tbi_xml_child(node, "size");
  if (!tbi_sdf_is_static(s, frame)) {
    node->used = false;
    return false;
  }
  m3 turn = q_matrix_to(v3_scale(1 / norm, v3_load(normal)));
  q_store(q_mul(q_load(def->quat), q_from_matrix(&turn)), def->quat);
  def->type = TABI_SHAPE_PLANE;
  return true;
}

static bool read_scale(const tbi_sdf *s, tbi_xml_node *node, double scale[3]) {
  scale[0] = scale[1] = scale[2] = 1;
  (void)tbi_sdf_numbers(s, node, "scale", 3, scale);
  if (!tbi_ok(s->error)) return false;
  if (scale[0] != 0 && scale[1] != 0 && scale[2] != 0) return true;
  return tbi_fail_at(s->error, TABI_ERR_MODEL, node->place, "mesh: scale must not be zero");
}

static bool read_mesh(tbi_sdf *s, int32_t frame, tbi_xml_node *node, tabi_shape_def *def) {
  double scale[3];
  const char *uri = tbi_sdf_text(node, "uri");
  if (!uri) return tbi_fail_at(s->error, TABI_ERR_PARSE, node->place, "mesh without <uri>");
  if (!read_scale(s, node, scale)) return false;
  tbi_meshes *meshes = s->sources[s->models[s->frames[frame].model].source].meshes;
  tabi_error *err = s->error->err;
  def->type = TABI_SHAPE_MESH;
  tabi_status status = def->collides
                           ? tbi_meshes_add_hull(meshes, uri, scale, node->place, &def->mesh, err)
                           : tbi_meshes_add(meshes, uri, scale, node->place, &def->mesh, err);
  return tbi_take(s->error, status) && def->mesh != TABI_NONE;
}

bool tbi_sdf_read_geometry(tbi_sdf *s, int32_t frame, tbi_xml_node *shape, tabi_shape_def *def) {
  tbi_xml_node *geometry = tbi_xml_child(shape, "geometry");
  tbi_xml_node *node;
  if (!geometry) return false;
  if ((node = tbi_xml_child(geometry, "box"))) {
    def->type = TABI_SHAPE_BOX;
    return read_sizes(s, node, "size", def->size);
  }
  if ((node = tbi_xml_child(geometry, "sphere"))) {
    def->type = TABI_SHAPE_SPHERE;
    return read_length(s, node, "radius", &def->size[0]);
  }
  if ((node = tbi_xml_child(geometry, "ellipsoid"))) {
    def->type = TABI_SHAPE_ELLIPSOID;
    return read_sizes(s, node, "radii", def->size);
  }
  if ((node = tbi_xml_child(geometry, "cylinder")))
    return read_round(s, node, TABI_SHAPE_CYLINDER, def);
  if ((node = tbi_xml_child(geometry, "capsule")))
    return read_round(s, node, TABI_SHAPE_CAPSULE, def);
  if ((node = tbi_xml_child(geometry, "cone"))) return read_cone(s, node, def);
  if ((node = tbi_xml_child(geometry, "plane"))) return read_plane(s, frame, node, def);
  if ((node = tbi_xml_child(geometry, "mesh"))) return read_mesh(s, frame, node, def);
  (void)tbi_xml_child(geometry, "empty");
  return false; // what is left unread is told as ignored
}

/* -- mass */

/* Adds a shape's mass: def->inertia is about the origin of the link until the end. */
static void add_mass(tbi_sdf *s, int32_t frame, tbi_xml_node *node, double density,
                     tabi_link_def *def) {
  tabi_shape_def shape = tabi_shape_def_default();
  shape.place = node->place;
  (void)tbi_sdf_number(s, node, "density", &density);
  tbi_pose pose = tbi_sdf_pose_in(s, frame, node);
  if (!tbi_sdf_read_geometry(s, frame, node, &shape)) return;
  tbi_solid part;
  if (!tbi_take(s->error, tbi_shape_solid(s->builder, &shape, &part, s->error->err))) return;
  double pos[3];
  double quat[4];
  v3_store(pose.pos, pos);
  q_store(pose.rot, quat);
  tbi_solid_add(&part, density, pos, quat, def);
}

void tbi_sdf_weigh(tbi_sdf *s, int32_t frame, double density, tabi_link_def *def) {
  def->mass = 0;
  tbi_xml_node *node = tbi_xml_child(s->frames[frame].node, "collision");
  for (; node && tbi_ok(s->error); node = tbi_xml_next(node))
    add_mass(s, frame, node, density, def);
  if (!tbi_ok(s->error)) return;
  if (!(def->mass > 0)) {
    tbi_fail_at(s->error, TABI_ERR_MODEL, s->frames[frame].node->place,
                "link '%.100s': inertial auto=\"true\" needs collision shapes",
                s->frames[frame].name);
    return;
  }
  tbi_solid_finish(def);
}

/* -- surfaces */

static tbi_xml_node *below(tbi_xml_node *node, const char *name) {
  return node ? tbi_xml_child(node, name) : NULL;
}

static void read_friction(const tbi_sdf *s, tbi_xml_node *friction, tabi_material_def *def) {
  double mu[2] = {1, 1};
  tbi_xml_node *ode = below(friction, "ode");
  tbi_xml_node *bullet = below(friction, "bullet");
  if (ode) {
    bool one = tbi_sdf_number(s, ode, "mu", &mu[0]);
    bool two = tbi_sdf_number(s, ode, "mu2", &mu[1]);
    if (one && !two) mu[1] = mu[0];
  } else if (bullet) {
    bool one = tbi_sdf_number(s, bullet, "friction", &mu[0]);
    bool two = tbi_sdf_number(s, bullet, "friction2", &mu[1]);
    if (one && !two) mu[1] = mu[0];
  }
  def->friction = mu[0] == mu[1] ? mu[0] : sqrt(fmax(0, mu[0]) * fmax(0, mu[1]));
  tbi_repair_friction(s->error, s->def, friction->place, "surface", &def->friction);
}

/* ODE's moment about the normal is 3 pi / 16 times patch radius, coefficient and normal force. */
static void read_torsion(const tbi_sdf *s, tbi_xml_node *torsional, tabi_material_def *def) {
  double coefficient = 1;
  double radius = 0;
  if (!torsional) return;
  (void)tbi_sdf_number(s, torsional, "coefficient", &coefficient);
  (void)tbi_sdf_number(s, torsional, "patch_radius", &radius);
  bool by_patch = tbi_sdf_flag(torsional, "use_patch_radius", true);
  if (by_patch) def->torsional_friction = 3 * PI / 16 * coefficient * radius;
}

static void read_contact(const tbi_sdf *s, tbi_xml_node *ode, tabi_material_def *def) {
  double stiffness = 0;
  double damping = -1;
  if (!ode) return;
  if (tbi_sdf_number(s, ode, "kp", &stiffness) && stiffness > 0) def->stiffness = stiffness;
  if (tbi_sdf_number(s, ode, "kd", &damping) && damping >= 0) def->damping = damping;
}

static tabi_material_def read_surface(const tbi_sdf *s, tbi_xml_node *surface) {
  tabi_material_def def = tabi_material_def_default();
  tbi_xml_node *friction = below(surface, "friction");
  tbi_xml_node *bounce = below(surface, "bounce");
  def.friction = 1;
  if (friction) read_friction(s, friction, &def);
  read_torsion(s, below(friction, "torsional"), &def);
  if (bounce) (void)tbi_sdf_number(s, bounce, "restitution_coefficient", &def.restitution);
  read_contact(s, below(below(surface, "contact"), "ode"), &def);
  if (def.friction < 0) def.friction = 1;
  if (def.restitution < 0) def.restitution = 0;
  if (def.restitution > 1) def.restitution = 1;
  if (surface) def.place = surface->place;
  return def;
}

/* With each of the surfaces before it, the smaller friction counts. */
static void pair_surface(tbi_sdf *s, int32_t added) {
  tabi_builder *builder = s->builder;
  for (int32_t i = 0; i < added && tbi_ok(s->error); ++i) {
    const tabi_material_def *materials = builder->materials.items;
    const tabi_material_def *a = &materials[i];
    const tabi_material_def *b = &materials[added];
    bool ours = a->name && strncmp(a->name, surface_name, sizeof surface_name - 1) == 0;
    if (!ours || a->friction == b->friction) continue;
    tabi_material_def pair = tabi_material_combine(a, b);
    pair.friction = fmin(a->friction, b->friction);
    pair.kinetic = -1;
    pair.place = b->place;
    (void)tabi_builder_add_pair(builder, i, added, &pair);
    tbi_take_builder(s->error, builder);
  }
}

/* Surfaces with equal numbers are one material, known by a name made of them. */
static int32_t add_surface(tbi_sdf *s, tbi_xml_node *collision) {
  char name[200];
  tabi_material_def def = read_surface(s, tbi_xml_child(collision, "surface"));
  if (!tbi_ok(s->error)) return TABI_NONE;
  (void)snprintf(name, sizeof name, "%s%.9g %.9g %.9g %.9g %.9g", surface_name, def.friction,
                 def.restitution, def.torsional_friction, def.stiffness, def.damping);
  int32_t known = tbi_names_find(&s->builder->material_names, name);
  if (known >= 0) return known;
  def.name = name;
  int32_t added = tabi_builder_add_material(s->builder, &def);
  if (!tbi_take_builder(s->error, s->builder)) return TABI_NONE;
  if (s->builder->materials.count <= MAX_SURFACES) pair_surface(s, added);
  return added;
}

/* -- shapes */

static void read_colour(const tbi_sdf *s, tbi_xml_node *visual, double rgba[4]) {
  double transparency = 0;
  tbi_xml_node *material = tbi_xml_child(visual, "material");
  if (material) {
    (void)tbi_xml_child(material, "ambient");
    (void)tbi_xml_child(material, "specular");
    tbi_xml_node *diffuse = tbi_xml_child(material, "diffuse");
    double read[4] = {0.7, 0.7, 0.7, 1};
    int32_t count =
        diffuse ? tbi_xml_numbers(s->error, diffuse->text, diffuse->place, "diffuse", read, 4) : 0;
    if (count >= 3) memcpy(rgba, read, sizeof read);
  }
  (void)tbi_sdf_number(s, visual, "transparency", &transparency);
  if (transparency > 0 && transparency <= 1) rgba[3] *= 1 - transparency;
  for (int i = 0; i < 4; ++i)
    rgba[i] = fmin(1, fmax(0, rgba[i]));
}

/* The surfaces of two shapes meet if their bit masks do. */
static void read_bits(tbi_xml_node *collision, tabi_shape_def *def) {
  tbi_xml_node *contact = below(tbi_xml_child(collision, "surface"), "contact");
  const char *text = contact ? tbi_sdf_text(contact, "collide_bitmask") : NULL;
  if (!text) return;
  unsigned long bits = strtoul(text, NULL, 0);
  def->group = def->mask = (uint32_t)bits & 0xffff;
  if (def->group == 0) def->collides = false;
}

static void add_shape(tbi_sdf *s, int32_t frame, tbi_xml_node *node, bool collides) {
  tabi_shape_def def = tabi_shape_def_default();
  def.link = s->frames[frame].link;
  def.collides = collides;
  def.visible = !collides;
  def.place = node->place;
  tbi_pose_store(tbi_sdf_pose_in(s, frame, node), def.pos, def.quat);
  const char *name = tbi_xml_get(node, "name");
  char ending[TBI_SDF_WHAT];
  (void)snprintf(ending, sizeof ending, "::%.150s", name ? name : "shape");
  if (!tbi_sdf_read_geometry(s, frame, node, &def) || !tbi_ok(s->error)) return;
  if (collides) {
    def.material = add_surface(s, node);
    read_bits(node, &def);
  } else {
    read_colour(s, node, def.rgba);
  }
  def.name = tbi_sdf_output_name(s, frame, ending);
  if (!tbi_ok(s->error)) return;
  (void)tabi_builder_add_shape(s->builder, &def);
  tbi_take_builder(s->error, s->builder);
}

void tbi_sdf_add_shapes(tbi_sdf *s, int32_t frame) {
  tbi_xml_node *link = s->frames[frame].node;
  tbi_xml_node *node = tbi_xml_child(link, "visual");
  for (; node && tbi_ok(s->error); node = tbi_xml_next(node))
    add_shape(s, frame, node, false);
  node = tbi_xml_child(link, "collision");
  for (; node && tbi_ok(s->error); node = tbi_xml_next(node))
    add_shape(s, frame, node, true);
}

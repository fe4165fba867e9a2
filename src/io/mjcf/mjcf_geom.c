/* mjcf_geom.c - geoms: shapes for contact and view, and masses for the inertia of their body.
 *
 * MJCF gives half sizes, tabi full ones.  A mesh keeps the frame of its file, whatever frame
 * MuJoCo moves it to inside. */
#include "io/mjcf/mjcf_reader.h"

#include "base/array.h"
#include "base/assertion.h"
#include "io/repair.h"

#include <math.h>
#include <string.h>
#include <strings.h>

typedef enum geom_type {
  GEOM_PLANE,
  GEOM_HFIELD,
  GEOM_SPHERE,
  GEOM_CAPSULE,
  GEOM_ELLIPSOID,
  GEOM_CYLINDER,
  GEOM_BOX,
  GEOM_MESH,
} geom_type;

static const char *const type_names[] = {"plane",    "hfield", "sphere", "capsule", "ellipsoid",
                                         "cylinder", "box",    "mesh",   NULL};
static const tabi_shape_type shape_types[] = {
    TABI_SHAPE_PLANE,     TABI_SHAPE_HEIGHTFIELD, TABI_SHAPE_SPHERE, TABI_SHAPE_CAPSULE,
    TABI_SHAPE_ELLIPSOID, TABI_SHAPE_CYLINDER,    TABI_SHAPE_BOX,    TABI_SHAPE_MESH};
static const char *const yes_no[] = {"false", "true", NULL};
/* how many sizes a type needs, alone and beside fromto; 0: it has none */
static const int32_t sizes_alone[] = {0, 0, 1, 2, 3, 2, 3, 0};
static const int32_t sizes_fromto[] = {0, 0, 0, 1, 1, 1, 1, 0};

/* what a geom element says, before it becomes a shape */
typedef struct reading {
  const tbi_mjcf_item *item;
  int type;
  double size[3]; /* half sizes */
  v3 pos;         /* in the body */
  q4 rot;
} reading;

static bool is_round(int type) {
  return type == GEOM_SPHERE || type == GEOM_CAPSULE || type == GEOM_CYLINDER;
}

/* The z axis points from the second point to the first. */
static void read_fromto(reading *r, const double ends[6]) {
  v3 from = v3_load(ends);
  v3 to = v3_load(ends + 3);
  v3 along = v3_sub(from, to);
  double half = 0.5 * v3_norm(along);
  if (!(half > 0)) {
    tbi_mjcf_fail(r->item, "the two points of fromto are the same");
    return;
  }
  r->pos = v3_scale(0.5, v3_add(from, to));
  r->rot = tbi_mjcf_quat_z(along);
  if (r->type == GEOM_BOX || r->type == GEOM_ELLIPSOID) {
    r->size[1] = r->size[0];
    r->size[2] = half;
  } else {
    r->size[1] = half;
  }
}

static void read_size(reading *r, bool fromto) {
  const tbi_mjcf_item *item = r->item;
  int32_t needed = fromto ? sizes_fromto[r->type] : sizes_alone[r->type];
  if (fromto && needed == 0) {
    tbi_mjcf_fail(item, "a %s cannot have fromto", type_names[r->type]);
    return;
  }
  // the number reader would call nan a bad number; here it is a bad radius
  const char *text = tbi_mjcf_text(item, "size", NULL);
  if (text && is_round(r->type) && strncasecmp(text + strspn(text, " "), "nan", 3) == 0) {
    tbi_mjcf_fail(item, "radius must be > 0, not nan");
    return;
  }
  int32_t count = tbi_mjcf_numbers(item, "size", 1, 3, r->size);
  if (count < needed) {
    tbi_mjcf_fail(item, "%s needs %d size%s, got %d", type_names[r->type], (int)needed,
                  needed == 1 ? "" : "s", (int)count);
    return;
  }
  for (int32_t i = 0; i < needed; ++i) {
    if (r->size[i] > 0) continue;
    const char *what = is_round(r->type) ? (i == 0 ? "radius" : "half length") : "every size";
    tbi_mjcf_fail(item, "%s must be > 0, not %g", what, r->size[i]);
    return;
  }
}

static double volume_of(const reading *r, const tbi_mjcf_mesh *mesh) {
  const double *s = r->size;
  switch (r->type) {
  case GEOM_SPHERE:
    return 4 * M_PI / 3 * s[0] * s[0] * s[0];
  case GEOM_CAPSULE:
    return M_PI * s[0] * s[0] * (2 * s[1] + 4.0 / 3 * s[0]);
  case GEOM_ELLIPSOID:
    return 4 * M_PI / 3 * s[0] * s[1] * s[2];
  case GEOM_CYLINDER:
    return M_PI * s[0] * s[0] * 2 * s[1];
  case GEOM_BOX:
    return 8 * s[0] * s[1] * s[2];
  case GEOM_MESH:
    return mesh ? mesh->volume : 0;
  default:
    return 0;
  }
}

/* Two half balls with their flat sides at distance h from the centre: a half ball's centre is
 * 3/8 r above its flat side. */
static s3 capsule_inertia(double r, double h) {
  double ball = 4 * r / (4 * r + 6 * h); /* share of the mass in the caps */
  double rod = 1 - ball;
  double across = rod * (r * r / 4 + h * h / 3) + ball * (0.4 * r * r + h * h + 0.75 * r * h);
  double along = rod * r * r / 2 + ball * 0.4 * r * r;
  return (s3){across, across, along, 0, 0, 0};
}

/* per kg, about the centre, in the geom's axes */
static s3 inertia_of(const reading *r, const tbi_mjcf_mesh *mesh) {
  const double *s = r->size;
  double x = s[0] * s[0];
  double y = s[1] * s[1];
  double z = s[2] * s[2];
  switch (r->type) {
  case GEOM_SPHERE:
    return (s3){0.4 * x, 0.4 * x, 0.4 * x, 0, 0, 0};
  case GEOM_CAPSULE:
    return capsule_inertia(s[0], s[1]);
  case GEOM_ELLIPSOID:
    return (s3){(y + z) / 5, (x + z) / 5, (x + y) / 5, 0, 0, 0};
  case GEOM_CYLINDER:
    return (s3){x / 4 + y / 3, x / 4 + y / 3, x / 2, 0, 0, 0};
  case GEOM_BOX:
    return (s3){(y + z) / 3, (x + z) / 3, (x + y) / 3, 0, 0, 0};
  case GEOM_MESH:
    return mesh ? mesh->inertia : s3_zero();
  default:
    return s3_zero();
  }
}

static s3 s3_times(double f, s3 a) {
  return (s3){f * a.xx, f * a.yy, f * a.zz, f * a.xy, f * a.xz, f * a.yz};
}

/* Whether a joint moves the body of a geom, or a body that it is in. */
static bool is_moved(tbi_xml_node *node) {
  for (tbi_xml_node *body = node->parent; body; body = body->parent) {
    if (tbi_xml_child(body, "joint") || tbi_xml_child(body, "freejoint")) return true;
  }
  return false;
}

static void weigh(const reading *r, tbi_mjcf_geom *geom) {
  const tbi_mjcf_item *item = r->item;
  double density = 1000;
  double mass = -1;
  (void)tbi_mjcf_number(item, "density", &density);
  bool given = tbi_mjcf_number(item, "mass", &mass);
  if (given && mass < 0) tbi_mjcf_fail(item, "mass %g must be >= 0", mass);
  if (density < 0) tbi_mjcf_fail(item, "density %g must be >= 0", density);
  if (!tbi_ok(&item->reader->error) || (given ? mass : density) == 0) return;
  tbi_mjcf_mesh *mesh = NULL;
  if (geom->mesh != TABI_NONE) {
    mesh = &item->reader->meshes[geom->mesh];
    if (mesh->triangles.nface == 0) {
      // what stands in the world needs no mass
      if (!is_moved(item->node)) return;
      tbi_mjcf_fail(item, "its mesh is missing, and with it the mass; give <inertial>");
      return;
    }
    tbi_mjcf_measure_mesh(item->reader, mesh);
    if (!tbi_ok(&item->reader->error)) return;
  }
  bool shell = !mesh && tbi_mjcf_word(item, "shellinertia", yes_no, 0) != 0;
  tbi_mjcf_shell surface = tbi_mjcf_shell_of(shape_types[r->type], r->size);
  double extent = shell ? surface.area : volume_of(r, mesh);
  if (!geom->has_shape || !(extent > 0)) return;
  geom->mass = given ? mass : density * extent;
  m3 rot = q_matrix(r->rot);
  geom->com = v3_add(r->pos, mesh ? m3_mulv(&rot, mesh->com) : v3_zero());
  s3 inertia = shell ? surface.inertia : inertia_of(r, mesh);
  geom->inertia = s3_rotate(&rot, s3_times(geom->mass, inertia));
}

static bool is_plain(const double rgba[4]) {
  return rgba[0] == 0.5 && rgba[1] == 0.5 && rgba[2] == 0.5 && rgba[3] == 1;
}

/* A colour that is missing keeps no robot from moving; TABI_NONE. */
static int32_t find_material(const tbi_mjcf_item *item) {
  const char *name = tbi_mjcf_text(item, "material", NULL);
  int32_t found = name ? tbi_names_find(&item->reader->material_names, name) : TABI_NONE;
  if (name && found < 0) {
    const tbi_repair repair = {.item = item->label, .what = "left out"};
    tbi_repaired(&item->reader->error, item->reader->def, item->node->place, repair,
                 "material '%.64s' does not exist", name);
  }
  return found < 0 ? TABI_NONE : found;
}

static void read_colour(const tbi_mjcf_item *item, double rgba[4]) {
  rgba[0] = rgba[1] = rgba[2] = 0.5;
  rgba[3] = 1;
  (void)tbi_mjcf_numbers(item, "rgba", 1, 4, rgba);
  int32_t material = find_material(item);
  // a colour of its own goes before the material's
  if (material == TABI_NONE || !is_plain(rgba)) return;
  memcpy(rgba, item->reader->materials[material].rgba, 4 * sizeof *rgba);
}

/* bits of a contact mask, which MJCF writes as a signed integer */
static uint32_t read_bits(const tbi_mjcf_item *item, const char *attribute) {
  double bits = 1;
  (void)tbi_mjcf_number(item, attribute, &bits);
  if (bits != floor(bits) || bits < INT32_MIN || bits > UINT32_MAX) {
    tbi_mjcf_fail(item, "%s %g must be an integer of 32 bits", attribute, bits);
    return 0;
  }
  return (uint32_t)(int64_t)bits;
}

static void read_friction(const tbi_mjcf_item *item, tbi_mjcf_geom *geom) {
  geom->condim = 3;
  geom->friction[0] = 1;
  geom->friction[1] = 0.005;
  geom->friction[2] = 0.0001;
  (void)tbi_mjcf_numbers(item, "friction", 1, 3, geom->friction);
  (void)tbi_mjcf_number(item, "condim", &geom->condim);
  (void)tbi_mjcf_number(item, "priority", &geom->priority);
  for (int i = 0; i < 3; ++i) {
    if (geom->friction[i] < 0) tbi_mjcf_fail(item, "friction %g must be >= 0", geom->friction[i]);
  }
}

static void read_contact(const tbi_mjcf_item *item, tbi_mjcf_geom *geom) {
  geom->shape.group = read_bits(item, "contype");
  geom->shape.mask = read_bits(item, "conaffinity");
  if (item->reader->disabled.contact) geom->shape.group = geom->shape.mask = 0;
  geom->shape.collides = geom->shape.group != 0 || geom->shape.mask != 0;
  read_friction(item, geom);
}

static void make_shape(const reading *r, tbi_mjcf_geom *geom) {
  tabi_shape_def *shape = &geom->shape;
  shape->type = shape_types[r->type];
  geom->has_shape = geom->has_shape && shape->type != TABI_SHAPE_COUNT;
  v3_store(r->pos, shape->pos);
  q_store(r->rot, shape->quat);
  v3_store(v3_zero(), shape->size);
  switch (r->type) {
  case GEOM_CAPSULE:
  case GEOM_CYLINDER:
    shape->size[1] = 2 * r->size[1];
    shape->size[0] = r->size[0];
    break;
  case GEOM_SPHERE:
    shape->size[0] = r->size[0];
    break;
  case GEOM_BOX:
    v3_store(v3_scale(2, v3_load(r->size)), shape->size);
    break;
  case GEOM_ELLIPSOID:
    v3_store(v3_load(r->size), shape->size);
    break;
  default:
    break;
  }
}

/* A primitive that names a mesh takes its place, moved and sized to fit. */
static void fit(reading *r, tbi_mjcf_mesh *mesh, tbi_mjcf_geom *geom) {
  static const tbi_mjcf_fit fits[] = {TBI_MJCF_FIT_BOX,     TBI_MJCF_FIT_BOX, TBI_MJCF_FIT_SPHERE,
                                      TBI_MJCF_FIT_CAPSULE, TBI_MJCF_FIT_BOX, TBI_MJCF_FIT_CYLINDER,
                                      TBI_MJCF_FIT_BOX,     TBI_MJCF_FIT_BOX};
  if (mesh->triangles.nface == 0) {
    tbi_warn(r->item->reader->def, r->item->node->place,
             "%s is ignored: its mesh is missing, and nothing to fit it to", r->item->label);
    geom->has_shape = false;
    return;
  }
  tbi_mjcf_fitted fitted = {.rot = q_identity()};
  tbi_mjcf_fit_mesh(r->item, mesh, fits[r->type], &fitted);
  r->pos = v3_add(r->pos, tbi_mjcf_turn(r->rot, fitted.pos));
  r->rot = q_mul(r->rot, fitted.rot);
  v3_store(v3_load(fitted.size), r->size);
}

static bool stands_still(const tbi_mjcf *reader, int32_t body) {
  for (; body > 0; body = reader->bodies[body].parent) {
    if (reader->bodies[body].njoint > 0) return false;
  }
  return true;
}

static void read_type(reading *r, tbi_mjcf_geom *geom) {
  const tbi_mjcf_item *item = r->item;
  r->type = tbi_mjcf_word(item, "type", type_names, GEOM_SPHERE);
  geom->mesh =
      tbi_mjcf_reference(item, "mesh", &item->reader->mesh_names, "mesh", r->type == GEOM_MESH);
  geom->hfield =
      r->type != GEOM_HFIELD
          ? TABI_NONE
          : tbi_mjcf_reference(item, "hfield", &item->reader->hfield_names, "height field", true);
  bool ground = r->type == GEOM_PLANE || r->type == GEOM_HFIELD;
  geom->has_shape = !ground || stands_still(item->reader, geom->body);
  if (!geom->has_shape) {
    tbi_warn(item->reader->def, item->node->place, "%s is ignored: a %s may not move", item->label,
             type_names[r->type]);
  }
}

void tbi_mjcf_read_geom(tbi_mjcf *reader, tbi_xml_node *node, int32_t body) {
  TBI_ASSERT(body >= 0 && body < reader->nbody);
  int32_t around = tbi_mjcf_class_around(reader, node, reader->bodies[body].child_class);
  tbi_mjcf_item item = tbi_mjcf_item_of(reader, node, "geom", around);
  tbi_mjcf_geom geom = {
      .name = item.name, .body = body, .hfield = TABI_NONE, .shape = tabi_shape_def_default()};
  reading r = {
      .item = &item, .size = {0, 0, 0}
  };
  double ends[6] = {0, 0, 0, 0, 0, 0};
  read_type(&r, &geom);
  (void)tbi_mjcf_frame(&item, &r.pos, &r.rot);
  bool fromto = tbi_mjcf_numbers(&item, "fromto", 6, 6, ends) > 0;
  bool fitted = r.type != GEOM_MESH && geom.mesh != TABI_NONE;
  if (fitted) {
    (void)tbi_mjcf_text(&item, "size", NULL);
    if (tbi_ok(&reader->error)) fit(&r, &reader->meshes[geom.mesh], &geom);
    geom.mesh = TABI_NONE;
  } else if (r.type != GEOM_HFIELD) {
    read_size(&r, fromto);
  }
  if (fromto && !fitted && tbi_ok(&reader->error)) read_fromto(&r, ends);
  tbi_mjcf_outward(&item, body, &r.pos, &r.rot);
  read_contact(&item, &geom);
  read_colour(&item, geom.shape.rgba);
  (void)tbi_mjcf_number(&item, "group", &geom.group);
  // hidden groups are those that MuJoCo's viewer hides at first
  geom.shape.visible = geom.group < 3 && geom.shape.rgba[3] > 0;
  geom.shape.place = node->place;
  make_shape(&r, &geom);
  const double *groups = tbi_mjcf_compiler_of(reader, node)->group_range;
  if (reader->bodies[body].weighs_geoms && geom.group >= groups[0] && geom.group <= groups[1]) {
    geom.counts = true;
    weigh(&r, &geom);
  } else {
    (void)tbi_mjcf_text(&item, "mass", NULL);
    (void)tbi_mjcf_text(&item, "density", NULL);
  }
  if (!tbi_ok(&reader->error)) return;
  int32_t before = tbi_mjcf_add_name(&item, &reader->geom_names, reader->ngeom);
  if (before >= 0) {
    tbi_mjcf_fail(&item, "defined twice (first at line %d)",
                  (int)reader->geoms[before].shape.place.line);
    return;
  }
  if (!tbi_array_reserve((void **)&reader->geoms, &reader->cap_geom, reader->ngeom, 1,
                         sizeof *reader->geoms)) {
    tbi_fail_memory(&reader->error);
    return;
  }
  reader->geoms[reader->ngeom++] = geom;
}

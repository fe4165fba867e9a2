/* mjcf_build.c - bodies, joints and geoms become links, joints and shapes.
 *
 * The joints of an MJCF body act one after the other, each with its anchor and axis in the body's
 * frame as the joints before it have left it.  So a body hangs on a chain of links without mass:
 *
 *   parent --joint 1--> (at anchor 1) --joint 2--> (at anchor 2) --fixed--> body
 *
 * and the last, fixed step falls away when the last anchor is the body's origin.  A joint's
 * coordinate is `ref` in the pose that the file gives: its frame is rotated back by that much. */
#include "io/mjcf/mjcf_reader.h"

#include "base/assertion.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool is_zero(v3 a) { return a.x == 0 && a.y == 0 && a.z == 0; }

static int32_t add_link(tbi_mjcf *reader, const tbi_mjcf_body *body, const char *name) {
  tabi_link_def def = tabi_link_def_default();
  def.name = name;
  def.place = body->place;
  if (name) {
    def.mass = body->mass;
    v3_store(body->com, def.com);
    s3_store(body->inertia, def.inertia);
    def.buoyancy = body->buoyancy;
  }
  return tabi_builder_add_link(reader->builder, &def);
}

static void add_fixed(tbi_mjcf *reader, int32_t parent, int32_t child, v3 pos, q4 rot,
                      tabi_place place) {
  tabi_joint_def def = tabi_joint_def_default();
  def.parent = parent;
  def.child = child;
  v3_store(pos, def.pos);
  q_store(rot, def.quat);
  def.place = place;
  (void)tabi_builder_add_joint(reader->builder, &def);
}

/* "joint7" for a joint without a name, or "joint7_" where the file has one of that name. */
static const char *name_for(tbi_mjcf *reader, const char *given, const tbi_names *names,
                            const char *kind, int32_t number) {
  char text[64];
  if (given) return tbi_mjcf_full_name(reader, given, NULL, 0);
  int length = snprintf(text, sizeof text, "%s%d", kind, (int)number);
  while (tbi_names_find(names, text) >= 0 && (size_t)length + 2 < sizeof text) {
    text[length++] = '_';
    text[length] = '\0';
  }
  return tbi_mjcf_full_name(reader, text, NULL, 0);
}

static const char *joint_name(tbi_mjcf *reader, int32_t joint) {
  return name_for(reader, reader->joints[joint].name, &reader->joint_names, "joint", joint);
}

/* A free body: its joint frame is the world's, its pose is the initial q. */
static int32_t add_free(tbi_mjcf *reader, const tbi_mjcf_body *body, tabi_joint_def def,
                        const char *name) {
  def.name = name;
  def.type = TABI_JOINT_FREE;
  def.parent = TABI_WORLD;
  def.child = body->link;
  v3_store(body->pos, def.initial_q);
  q_store(body->rot, def.initial_q + 3);
  return tabi_builder_add_joint(reader->builder, &def);
}

/* One joint of a chain.  (pos, rot) is the frame in `parent` of the body's axes, with its
 * origin at the joint's anchor. */
static int32_t add_moving(tbi_mjcf *reader, int32_t index, int32_t parent, int32_t child, v3 pos,
                          q4 rot) {
  const tbi_mjcf_joint *joint = &reader->joints[index];
  tabi_joint_def def = joint->def;
  def.name = joint_name(reader, index);
  def.parent = parent;
  def.child = child;
  if (joint->type == TBI_MJCF_SLIDE) {
    pos = v3_sub(pos, tbi_mjcf_turn(rot, v3_scale(joint->ref, joint->axis)));
  } else if (joint->type == TBI_MJCF_HINGE && joint->ref != 0) {
    rot = q_mul(rot, q_exp(v3_scale(-joint->ref, joint->axis)));
  }
  v3_store(pos, def.pos);
  q_store(rot, def.quat);
  v3_store(joint->axis, def.axis);
  def.initial_q[0] = joint->type == TBI_MJCF_BALL ? 1 : joint->ref;
  return tabi_builder_add_joint(reader->builder, &def);
}

static void add_chain(tbi_mjcf *reader, const tbi_mjcf_body *body, int32_t parent) {
  v3 pos = body->pos;
  q4 rot = body->rot;
  v3 before = v3_zero(); /* anchor of the joint above */
  for (int32_t k = 0; k < body->njoint; ++k) {
    int32_t index = body->first_joint + k;
    v3 anchor = reader->joints[index].anchor;
    bool ends = k == body->njoint - 1 && is_zero(anchor);
    int32_t child = ends ? body->link : add_link(reader, body, NULL);
    pos = v3_add(pos, tbi_mjcf_turn(rot, v3_sub(anchor, before)));
    reader->joints[index].index = add_moving(reader, index, parent, child, pos, rot);
    parent = child;
    pos = v3_zero();
    rot = q_identity();
    before = anchor;
  }
  if (!is_zero(before)) {
    add_fixed(reader, parent, body->link, v3_neg(before), rot, body->place);
  }
}

static bool is_free(const tbi_mjcf *reader, const tbi_mjcf_body *body) {
  return body->njoint == 1 && reader->joints[body->first_joint].type == TBI_MJCF_FREE;
}

static void add_base(tbi_mjcf *reader, const tbi_mjcf_body *body) {
  tabi_base base = reader->def->base;
  if (is_free(reader, body) && base != TABI_BASE_FIXED) {
    tbi_mjcf_joint *joint = &reader->joints[body->first_joint];
    joint->index = add_free(reader, body, joint->def, joint_name(reader, body->first_joint));
  } else if (is_free(reader, body) || (body->njoint == 0 && base != TABI_BASE_FREE)) {
    add_fixed(reader, TABI_WORLD, body->link, body->pos, body->rot, body->place);
  } else if (body->njoint == 0) {
    tabi_joint_def def = tabi_joint_def_default();
    def.place = body->place;
    // a joint of the file may have the name already
    bool taken = tbi_names_find(&reader->joint_names, "base") >= 0;
    const char *name = tbi_mjcf_full_name(reader, taken ? "base_root" : "base", NULL, 0);
    (void)add_free(reader, body, def, name);
  } else {
    if (base == TABI_BASE_FREE) {
      tbi_fail_at(&reader->error, TABI_ERR_MODEL, body->place,
                  "body '%.64s' has joints of its own and cannot be a free base",
                  body->name ? body->name : "body1");
    }
    add_chain(reader, body, TABI_WORLD);
  }
}

static void add_body(tbi_mjcf *reader, int32_t index) {
  tbi_mjcf_body *body = &reader->bodies[index];
  const char *name = name_for(reader, body->name, &reader->body_names, "body", index);
  if (!name) return;
  body->link = add_link(reader, body, name);
  int32_t parent = reader->bodies[body->parent].link;
  if (index == reader->base) {
    add_base(reader, body);
  } else if (is_free(reader, body)) {
    tbi_mjcf_joint *joint = &reader->joints[body->first_joint];
    joint->index = add_free(reader, body, joint->def, joint_name(reader, body->first_joint));
  } else if (body->njoint == 0) {
    add_fixed(reader, parent, body->link, body->pos, body->rot, body->place);
  } else {
    add_chain(reader, body, parent);
  }
}

static int32_t add_mesh(tbi_mjcf *reader, const tbi_mjcf_mesh *mesh, const tbi_mesh *triangles) {
  tabi_mesh_def def = tabi_mesh_def_default();
  def.name = tbi_mjcf_full_name(reader, mesh->name, NULL, 0);
  def.nvertex = triangles->nvertex;
  def.nface = triangles->nface;
  def.vertices = triangles->vertices;
  def.faces = triangles->faces;
  def.place = mesh->place;
  return tabi_builder_add_mesh(reader->builder, &def);
}

static int32_t mesh_for(tbi_mjcf *reader, tbi_mjcf_mesh *mesh) {
  if (mesh->index == TABI_NONE) mesh->index = add_mesh(reader, mesh, &mesh->triangles);
  return mesh->index;
}

/* What collides; TABI_NONE for a mesh without volume, and reported. */
static int32_t hull_for(tbi_mjcf *reader, tbi_mjcf_mesh *mesh) {
  if (mesh->has_hull || !tbi_ok(&reader->error)) return mesh->hull;
  mesh->has_hull = true;
  tbi_mesh hull = {0};
  tbi_take(&reader->error, tbi_mesh_hull(&mesh->triangles, mesh->name, mesh->place, reader->def,
                                         &hull, reader->error.err));
  if (tbi_ok(&reader->error) && hull.nface > 0) mesh->hull = add_mesh(reader, mesh, &hull);
  tbi_mesh_free(&hull);
  return mesh->hull;
}

/* A mesh is seen as it is and touched as its hull: two shapes. */
static void add_mesh_shapes(tbi_mjcf *reader, tbi_mjcf_geom *geom) {
  TBI_ASSERT(geom->mesh >= 0 && geom->mesh < reader->nmesh);
  tbi_mjcf_mesh *mesh = &reader->meshes[geom->mesh];
  tabi_shape_def touched = geom->shape;
  touched.visible = false;
  if (touched.collides) touched.mesh = hull_for(reader, mesh);
  if (touched.collides && touched.mesh != TABI_NONE) {
    (void)tabi_builder_add_shape(reader->builder, &touched);
    if (!geom->shape.visible) return;
    geom->shape.name = NULL;
  }
  geom->shape.collides = false;
  geom->shape.mesh = mesh_for(reader, mesh);
  if (!tbi_ok(&reader->error)) return;
  (void)tabi_builder_add_shape(reader->builder, &geom->shape);
}

/* Solid ground below without end, as MuJoCo's base of the field is thick. */
static void add_hfield(tbi_mjcf *reader, tbi_mjcf_geom *geom) {
  tbi_mjcf_hfield *field = &reader->hfields[geom->hfield];
  if (field->triangles.nface == 0) return;
  if (field->index == TABI_NONE) {
    const tbi_mjcf_mesh named = {.name = field->name, .place = field->place};
    field->index = add_mesh(reader, &named, &field->triangles);
  }
  geom->shape.mesh = field->index;
  if (field->index != TABI_NONE) (void)tabi_builder_add_shape(reader->builder, &geom->shape);
}

static void add_shape(tbi_mjcf *reader, int32_t index) {
  tbi_mjcf_geom *geom = &reader->geoms[index];
  // a missing mesh has been reported
  bool missing = geom->mesh != TABI_NONE && reader->meshes[geom->mesh].triangles.nface == 0;
  if (!geom->has_shape || missing) return;
  geom->shape.link = reader->bodies[geom->body].link;
  geom->shape.material = tbi_mjcf_material_for(reader, geom);
  if (geom->name) geom->shape.name = tbi_mjcf_full_name(reader, geom->name, NULL, 0);
  if (geom->hfield != TABI_NONE) {
    add_hfield(reader, geom);
  } else if (geom->mesh != TABI_NONE) {
    add_mesh_shapes(reader, geom);
  } else {
    (void)tabi_builder_add_shape(reader->builder, &geom->shape);
  }
}

void tbi_mjcf_add_bodies(tbi_mjcf *reader) {
  for (int32_t i = 1; i < reader->nbody && tbi_ok(&reader->error); ++i)
    add_body(reader, i);
  for (int32_t i = 0; i < reader->ngeom && tbi_ok(&reader->error); ++i)
    add_shape(reader, i);
}

/* builder.c - takes defs one by one, checks each as far as it can be checked alone, and keeps a
 * copy.  The first error stays; everything after it is a no-op. */
#include "model/builder.h"

#include "base/array.h"
#include "base/assertion.h"
#include "base/error.h"
#include "math/quat.h"
#include "model/limits.h"
#include "model/model.h"

#include <float.h>
#include <stdlib.h>
#include <string.h>

#define MAX_BUOYANCY       1e6
#define TRIANGLE_TOLERANCE 1e-6

tabi_builder *tabi_builder_create(void) {
  tabi_builder *builder = calloc(1, sizeof *builder);
  if (!builder) return NULL;
  builder->gravity[2] = -9.81;
  builder->timestep = 1e-3;
  return builder;
}

static void free_meshes(tabi_builder *builder) {
  tabi_mesh_def *mesh = builder->meshes.items;
  const tbi_mesh_store *store = builder->mesh_stores.items;
  for (int32_t i = 0; i < builder->mesh_stores.count; ++i) {
    if (store[i].borrowed) continue;
    free((void *)mesh[i].vertices);
    free((void *)mesh[i].faces);
    free(store[i].graph);
  }
}

void tabi_builder_destroy(tabi_builder *builder) {
  if (!builder) return;
  free_meshes(builder);
  tbi_list *lists[] = {&builder->links,      &builder->joints,        &builder->shapes,
                       &builder->meshes,     &builder->materials,     &builder->actuators,
                       &builder->couplings,  &builder->connections,   &builder->exclusions,
                       &builder->pairs,      &builder->postures,      &builder->posture_entries,
                       &builder->controls,   &builder->link_joint,    &builder->sensors,
                       &builder->tendons,    &builder->tendon_joints, &builder->tendon_points,
                       &builder->mesh_stores};
  for (size_t i = 0; i < sizeof lists / sizeof lists[0]; ++i)
    free(lists[i]->items);
  tbi_names_free(&builder->link_names);
  tbi_names_free(&builder->joint_names);
  tbi_names_free(&builder->material_names);
  tbi_names_free(&builder->sensor_names);
  tbi_text_free(&builder->text);
  free(builder);
}

void tabi_builder_fail(tabi_builder *builder, const tabi_error *error) {
  TBI_ASSERT(builder && error && error->status != TABI_OK);
  if (builder->error.status == TABI_OK) builder->error = *error;
}

const tabi_error *tabi_builder_error(const tabi_builder *builder) {
  TBI_ASSERT(builder);
  return builder->error.status == TABI_OK ? NULL : &builder->error;
}

bool tbi_builder_fail(tabi_builder *builder, tabi_status status, tabi_place place,
                      const char *format, ...) {
  if (builder->error.status != TABI_OK) return false;
  va_list args;
  va_start(args, format);
  tbi_error_vset(&builder->error, status, place, format, args);
  va_end(args);
  return false;
}

static bool fail_memory(tabi_builder *builder) {
  if (builder->error.status == TABI_OK) tbi_error_memory(&builder->error);
  return false;
}

bool tbi_builder_begin(tabi_builder *builder, const void *def, size_t size, const char *what) {
  TBI_ASSERT(builder && def);
  if (builder->error.status != TABI_OK) return false;
  uint32_t def_size;
  memcpy(&def_size, def, sizeof def_size);
  if (def_size == size) return true;
  return tbi_builder_fail(builder, TABI_ERR_ARGUMENT, (tabi_place){NULL, 0},
                          "tabi_%s_def was not made by tabi_%s_def_default()", what, what);
}

static bool keep_string(tabi_builder *builder, const char **string) {
  if (!*string) return true;
  *string = tbi_text_add(&builder->text, *string);
  return *string ? true : fail_memory(builder);
}

static bool keep_place(tabi_builder *builder, tabi_place *place) {
  if (!place->file) return true;
  if (!builder->file || strcmp(builder->file, place->file) != 0) {
    builder->file = tbi_text_add(&builder->text, place->file);
    if (!builder->file) return fail_memory(builder);
  }
  place->file = builder->file;
  return true;
}

bool tbi_builder_keep(tabi_builder *builder, const char **name, tabi_place *place) {
  return keep_string(builder, name) && keep_place(builder, place);
}

int32_t tbi_builder_append(tabi_builder *builder, tbi_list *list, const void *item, size_t size) {
  TBI_ASSERT(list->count >= 0 && list->count <= list->capacity && size > 0);
  if (!tbi_array_reserve(&list->items, &list->capacity, list->count, 1, size)) {
    fail_memory(builder);
    return TABI_NONE;
  }
  memcpy((char *)list->items + (size_t)list->count * size, item, size);
  return list->count++;
}

int32_t tbi_builder_list(tabi_builder *builder, tbi_names *names, const char *name, int32_t index) {
  if (index == TABI_NONE || !name || tbi_names_add(names, name, index)) return index;
  fail_memory(builder);
  return TABI_NONE;
}

static bool check_inertia(tabi_builder *builder, const tabi_link_def *def) {
  const char *name = tbi_shown(def->name);
  double e[3];
  tbi_s3_eigenvalues(s3_load(def->inertia), e);
  if (e[0] < -TRIANGLE_TOLERANCE * e[2] || e[2] < 0) {
    return tbi_builder_fail(builder, TABI_ERR_MODEL, def->place,
                            "link '%s': inertia not positive definite (eigenvalue %.3g); "
                            "check the signs and the products of inertia",
                            name, e[0]);
  }
  if (e[0] + e[1] < e[2] * (1 - TRIANGLE_TOLERANCE)) {
    return tbi_builder_fail(
        builder, TABI_ERR_MODEL, def->place,
        "link '%s': inertia violates A+B>=C (%.3g+%.3g<%.3g); no body has such moments", name, e[0],
        e[1], e[2]);
  }
  return true;
}

static bool check_link(tabi_builder *builder, const tabi_link_def *def) {
  const char *name = tbi_shown(def->name);
  if (!isfinite(def->mass)) {
    return tbi_builder_fail(builder, TABI_ERR_MODEL, def->place,
                            "link '%s': mass '%g' is not a finite number", name, def->mass);
  }
  if (def->mass < 0) {
    return tbi_builder_fail(builder, TABI_ERR_MODEL, def->place, "link '%s': mass %g must be >= 0",
                            name, def->mass);
  }
  if (!tbi_all_finite(def->com, 3) || !tbi_all_finite(def->inertia, 6)) {
    return tbi_builder_fail(builder, TABI_ERR_MODEL, def->place,
                            "link '%s': centre of mass and inertia must be finite numbers", name);
  }
  if (!(fabs(def->buoyancy) <= MAX_BUOYANCY)) {
    return tbi_builder_fail(builder, TABI_ERR_MODEL, def->place,
                            "link '%s': buoyancy %g must be a number of at most %g", name,
                            def->buoyancy, MAX_BUOYANCY);
  }
  int32_t first = def->name ? tbi_names_find(&builder->link_names, def->name) : TABI_NONE;
  if (first != TABI_NONE) {
    return tbi_builder_fail(
        builder, TABI_ERR_MODEL, def->place,
        "link '%s' defined twice (first at line %d); give each link its own name", name,
        tbi_builder_link(builder, first)->place.line);
  }
  return tbi_link_within(builder, def) && check_inertia(builder, def);
}

int32_t tabi_builder_add_link(tabi_builder *builder, const tabi_link_def *def) {
  if (!tbi_builder_begin(builder, def, sizeof *def, "link") || !check_link(builder, def))
    return TABI_NONE;
  tabi_link_def kept = *def;
  if (!tbi_builder_keep(builder, &kept.name, &kept.place)) return TABI_NONE;
  const int32_t none = TABI_NONE;
  if (tbi_builder_append(builder, &builder->link_joint, &none, sizeof none) == TABI_NONE)
    return TABI_NONE;
  int32_t link = tbi_builder_append(builder, &builder->links, &kept, sizeof kept);
  return tbi_builder_list(builder, &builder->link_names, kept.name, link);
}

static bool has_axis(tabi_joint_type type) {
  return type == TABI_JOINT_REVOLUTE || type == TABI_JOINT_CONTINUOUS ||
         type == TABI_JOINT_PRISMATIC || type == TABI_JOINT_PLANAR;
}

static bool check_joint_links(tabi_builder *builder, const tabi_joint_def *def) {
  const char *name = tbi_shown(def->name);
  if (!tbi_builder_is_link_or_world(builder, def->parent) ||
      !tbi_builder_is_link(builder, def->child)) {
    return tbi_builder_fail(builder, TABI_ERR_MODEL, def->place,
                            "joint '%s': parent or child is no link", name);
  }
  if (def->parent == def->child) {
    return tbi_builder_fail(builder, TABI_ERR_MODEL, def->place,
                            "joint '%s': parent and child are both '%s'", name,
                            tbi_shown(tbi_builder_link(builder, def->child)->name));
  }
  int32_t first = def->name ? tbi_names_find(&builder->joint_names, def->name) : TABI_NONE;
  if (first != TABI_NONE) {
    return tbi_builder_fail(
        builder, TABI_ERR_MODEL, def->place,
        "joint '%s' defined twice (first at line %d); give each joint its own name", name,
        tbi_builder_joint(builder, first)->place.line);
  }
  int32_t other = tbi_builder_link_joint(builder, def->child);
  if (other != TABI_NONE) {
    return tbi_builder_fail(
        builder, TABI_ERR_MODEL, def->place,
        "link '%s' has two parent joints: '%s','%s'; close loops by a connection",
        tbi_shown(tbi_builder_link(builder, def->child)->name),
        tbi_shown(tbi_builder_joint(builder, other)->name), name);
  }
  return true;
}

static bool check_joint_numbers(tabi_builder *builder, const tabi_joint_def *def) {
  const char *name = tbi_shown(def->name);
  if (isnan(def->lower) || isnan(def->upper) || isnan(def->effort) || isnan(def->velocity)) {
    return tbi_builder_fail(builder, TABI_ERR_MODEL, def->place,
                            "joint '%s': a limit is not a number", name);
  }
  if (def->lower > def->upper) {
    return tbi_builder_fail(builder, TABI_ERR_MODEL, def->place,
                            "joint '%s': lower %g > upper %g; swap them", name, def->lower,
                            def->upper);
  }
  const struct {
    const char *what;
    double value;
  } positive[] = {
      {"effort limit",   def->effort > DBL_MAX ? 0 : def->effort    },
      {"velocity limit", def->velocity > DBL_MAX ? 0 : def->velocity},
      {"rotor inertia",  def->rotor_inertia                         },
      {"stiffness",      def->stiffness                             },
      {"damping",        def->damping                               },
      {"friction",       def->friction                              },
  };
  for (size_t i = 0; i < sizeof positive / sizeof *positive; ++i) {
    if (!isfinite(positive[i].value) || positive[i].value < 0) {
      return tbi_builder_fail(builder, TABI_ERR_MODEL, def->place, "joint '%s': %s %g must be >= 0",
                              name, positive[i].what, positive[i].value);
    }
  }
  if (!isfinite(def->gear) || !isfinite(def->rest_position) || !tbi_all_finite(def->initial_q, 7)) {
    return tbi_builder_fail(builder, TABI_ERR_MODEL, def->place,
                            "joint '%s': gear, rest_position and initial_q must be finite numbers",
                            name);
  }
  return true;
}

static bool check_joint_frame(tabi_builder *builder, tabi_joint_def *def) {
  const char *name = tbi_shown(def->name);
  if (!tbi_all_finite(def->pos, 3) || !tbi_unit_quat(def->quat)) {
    return tbi_builder_fail(builder, TABI_ERR_MODEL, def->place,
                            "joint '%s': its frame is not finite or no rotation", name);
  }
  if (!has_axis(def->type)) return true;
  double length = v3_norm(v3_load(def->axis));
  if (!isfinite(length)) {
    return tbi_builder_fail(builder, TABI_ERR_MODEL, def->place, "joint '%s': axis is not finite",
                            name);
  }
  if (length < 1e-12) {
    return tbi_builder_fail(builder, TABI_ERR_MODEL, def->place,
                            "joint '%s': axis has zero length; give a direction, e.g. 0 0 1", name);
  }
  v3_store(v3_scale(1 / length, v3_load(def->axis)), def->axis);
  return true;
}

/* where a quaternion stands in q, or -1 */
static int quat_at(tabi_joint_type type) {
  if (type == TABI_JOINT_BALL) return 0;
  return type == TABI_JOINT_FREE ? 3 : -1;
}

/* an unset start orientation means none; a set one is made unit */
static bool settle_quat(tabi_joint_type type, double *q) {
  int at = quat_at(type);
  if (at < 0) return true;
  double *quat = q + at;
  if (quat[0] == 0 && quat[1] == 0 && quat[2] == 0 && quat[3] == 0) quat[0] = 1;
  return tbi_unit_quat(quat);
}

static bool check_joint(tabi_builder *builder, tabi_joint_def *def) {
  if ((int)def->type < 0 || def->type >= TABI_JOINT_COUNT) {
    return tbi_builder_fail(builder, TABI_ERR_ARGUMENT, def->place, "joint '%s': unknown type %d",
                            tbi_shown(def->name), (int)def->type);
  }
  if (!check_joint_links(builder, def) || !check_joint_numbers(builder, def) ||
      !check_joint_frame(builder, def) || !tbi_joint_within(builder, def)) {
    return false;
  }
  if (!settle_quat(def->type, def->initial_q)) {
    return tbi_builder_fail(builder, TABI_ERR_MODEL, def->place,
                            "joint '%s': initial_q is no unit quaternion", tbi_shown(def->name));
  }
  return true;
}

int32_t tabi_builder_add_joint(tabi_builder *builder, const tabi_joint_def *def) {
  if (!tbi_builder_begin(builder, def, sizeof *def, "joint")) return TABI_NONE;
  tabi_joint_def kept = *def;
  if (!check_joint(builder, &kept)) return TABI_NONE;
  if (!tbi_builder_keep(builder, &kept.name, &kept.place)) return TABI_NONE;
  int32_t joint = tbi_builder_append(builder, &builder->joints, &kept, sizeof kept);
  joint = tbi_builder_list(builder, &builder->joint_names, kept.name, joint);
  if (joint == TABI_NONE) return TABI_NONE;
  ((int32_t *)builder->link_joint.items)[kept.child] = joint;
  return joint;
}

int tbi_shape_sizes(tabi_shape_type type) {
  TBI_ASSERT((unsigned)type < TABI_SHAPE_COUNT); /* check_shape() */
  static const int sizes[TABI_SHAPE_COUNT] = {[TABI_SHAPE_SPHERE] = 1,
                                              [TABI_SHAPE_CAPSULE] = 2,
                                              [TABI_SHAPE_CYLINDER] = 2,
                                              [TABI_SHAPE_BOX] = 3,
                                              [TABI_SHAPE_ELLIPSOID] = 3};
  return sizes[type];
}

static bool check_shape(tabi_builder *builder, tabi_shape_def *def) {
  const char *name = tbi_shown(def->name);
  if ((int)def->type < 0 || def->type >= TABI_SHAPE_COUNT) {
    return tbi_builder_fail(builder, TABI_ERR_ARGUMENT, def->place, "shape '%s': unknown type %d",
                            name, (int)def->type);
  }
  if (!tbi_builder_is_link_or_world(builder, def->link)) {
    return tbi_builder_fail(builder, TABI_ERR_MODEL, def->place, "shape '%s': no such link", name);
  }
  // a sphere without radius is a point that can touch
  bool may_be_zero = def->type == TABI_SHAPE_SPHERE;
  for (int i = 0; i < tbi_shape_sizes(def->type); ++i) {
    if (!isfinite(def->size[i]) || def->size[i] < 0 || (def->size[i] == 0 && !may_be_zero)) {
      return tbi_builder_fail(builder, TABI_ERR_MODEL, def->place,
                              "shape '%s': size %g must be > 0", name, def->size[i]);
    }
  }
  if (!tbi_all_finite(def->pos, 3) || !tbi_unit_quat(def->quat) || !tbi_all_finite(def->rgba, 4)) {
    return tbi_builder_fail(builder, TABI_ERR_MODEL, def->place,
                            "shape '%s': its frame or colour is not finite or no rotation", name);
  }
  bool of_mesh = def->type == TABI_SHAPE_MESH || def->type == TABI_SHAPE_TRIANGLES ||
                 def->type == TABI_SHAPE_HEIGHTFIELD;
  if (of_mesh && (def->mesh < 0 || def->mesh >= builder->meshes.count)) {
    return tbi_builder_fail(builder, TABI_ERR_MODEL, def->place, "shape '%s': no such mesh", name);
  }
  if (def->material != TABI_NONE &&
      (def->material < 0 || def->material >= builder->materials.count)) {
    return tbi_builder_fail(builder, TABI_ERR_MODEL, def->place, "shape '%s': no such material",
                            name);
  }
  return tbi_shape_within(builder, def);
}

int32_t tabi_builder_add_shape(tabi_builder *builder, const tabi_shape_def *def) {
  if (!tbi_builder_begin(builder, def, sizeof *def, "shape")) return TABI_NONE;
  tabi_shape_def kept = *def;
  if (!check_shape(builder, &kept)) return TABI_NONE;
  if (!tbi_builder_keep(builder, &kept.name, &kept.place)) return TABI_NONE;
  return tbi_builder_append(builder, &builder->shapes, &kept, sizeof kept);
}

static bool check_mesh(tabi_builder *builder, const tabi_mesh_def *def) {
  const char *name = tbi_shown(def->name);
  if (def->nvertex < 0 || def->nface < 0 || def->nvertex > INT32_MAX / 3 ||
      def->nface > INT32_MAX / 3) {
    return tbi_builder_fail(builder, TABI_ERR_ARGUMENT, def->place,
                            "mesh '%s': impossible number of vertices", name);
  }
  if ((def->nvertex > 0 && !def->vertices) || (def->nface > 0 && !def->faces)) {
    return tbi_builder_fail(
        builder, TABI_ERR_ARGUMENT, def->place,
        "mesh '%s': has %d vertices and %d faces, but vertices or faces is NULL", name,
        def->nvertex, def->nface);
  }
  for (int32_t i = 0; i < def->nvertex; ++i) {
    if (!tbi_all_finite(def->vertices + 3 * (size_t)i, 3)) {
      return tbi_builder_fail(builder, TABI_ERR_MODEL, def->place,
                              "mesh '%s': vertex %d not finite", name, i + 1);
    }
  }
  for (size_t i = 0; i < 3 * (size_t)def->nface; ++i) {
    if (def->faces[i] < 0 || def->faces[i] >= def->nvertex) {
      return tbi_builder_fail(builder, TABI_ERR_MODEL, def->place,
                              "mesh '%s': face %zu uses vertex %d of %d", name, i / 3 + 1,
                              def->faces[i] + 1, def->nvertex);
    }
  }
  return tbi_mesh_within(builder, def);
}

static void *copy_of(const void *items, size_t size) {
  void *copy = malloc(size > 0 ? size : 1);
  if (copy && size > 0) memcpy(copy, items, size);
  return copy;
}

/* It owns its numbers from then on. */
static int32_t append_mesh(tabi_builder *builder, const tabi_mesh_def *mesh) {
  const tbi_mesh_store own = {.borrowed = false};
  tbi_list *stores = &builder->mesh_stores;
  if (!tbi_array_reserve(&stores->items, &stores->capacity, stores->count, 1, sizeof own)) {
    fail_memory(builder);
    return TABI_NONE;
  }
  int32_t index = tbi_builder_append(builder, &builder->meshes, mesh, sizeof *mesh);
  if (index != TABI_NONE) (void)tbi_builder_append(builder, stores, &own, sizeof own);
  return index;
}

int32_t tabi_builder_add_mesh(tabi_builder *builder, const tabi_mesh_def *def) {
  if (!tbi_builder_begin(builder, def, sizeof *def, "mesh") || !check_mesh(builder, def))
    return TABI_NONE;
  tabi_mesh_def kept = *def;
  if (!tbi_builder_keep(builder, &kept.name, &kept.place)) return TABI_NONE;
  double *vertices = copy_of(def->vertices, 3 * sizeof(double) * (size_t)def->nvertex);
  int32_t *faces = copy_of(def->faces, 3 * sizeof(int32_t) * (size_t)def->nface);
  kept.vertices = vertices;
  kept.faces = faces;
  int32_t mesh = TABI_NONE;
  if (vertices && faces) {
    mesh = append_mesh(builder, &kept);
  } else {
    fail_memory(builder);
  }
  if (mesh == TABI_NONE) {
    free(vertices);
    free(faces);
  }
  return mesh;
}

static bool check_surface(tabi_builder *builder, const tabi_material_def *def) {
  const char *name = tbi_shown(def->name);
  const struct {
    const char *what;
    double value;
  } positive[] = {
      {"friction",           def->friction          },
      {"restitution",        def->restitution       },
      {"stiffness",          def->stiffness         },
      {"damping",            def->damping           },
      {"viscous",            def->viscous           },
      {"slip_speed",         def->slip_speed        },
      {"rest_speed",         def->rest_speed        },
      {"rolling_friction",   def->rolling_friction  },
      {"torsional_friction", def->torsional_friction},
  };
  for (size_t i = 0; i < sizeof positive / sizeof *positive; ++i) {
    if (!isfinite(positive[i].value) || positive[i].value < 0) {
      return tbi_builder_fail(builder, TABI_ERR_MODEL, def->place,
                              "material '%s': %s %g must be >= 0", name, positive[i].what,
                              positive[i].value);
    }
  }
  if (!isfinite(def->kinetic) || def->restitution > 1) {
    return tbi_builder_fail(
        builder, TABI_ERR_MODEL, def->place,
        "material '%s': kinetic friction must be finite and restitution at most 1", name);
  }
  return tbi_surface_within(builder, def);
}

static bool check_material(tabi_builder *builder, const tabi_material_def *def) {
  if (def->name && tbi_names_find(&builder->material_names, def->name) != TABI_NONE) {
    return tbi_builder_fail(builder, TABI_ERR_MODEL, def->place, "material '%s' defined twice",
                            def->name);
  }
  return check_surface(builder, def);
}

/* a copy that is the builder's own, with the kinetic coefficient settled */
static bool keep_material(tabi_builder *builder, tabi_material_def *kept) {
  if (kept->kinetic < 0) kept->kinetic = kept->friction;
  return tbi_builder_keep(builder, &kept->name, &kept->place);
}

int32_t tabi_builder_add_material(tabi_builder *builder, const tabi_material_def *def) {
  if (!tbi_builder_begin(builder, def, sizeof *def, "material")) return TABI_NONE;
  tabi_material_def kept = *def;
  if (!check_material(builder, def) || !keep_material(builder, &kept)) return TABI_NONE;
  int32_t material = tbi_builder_append(builder, &builder->materials, &kept, sizeof kept);
  return tbi_builder_list(builder, &builder->material_names, kept.name, material);
}

int32_t tabi_builder_add_pair(tabi_builder *builder, int32_t material_a, int32_t material_b,
                              const tabi_material_def *def) {
  if (!tbi_builder_begin(builder, def, sizeof *def, "material")) return TABI_NONE;
  int32_t count = builder->materials.count;
  tbi_material_pair pair = {material_a, material_b, *def};
  if (material_a < 0 || material_a >= count || material_b < 0 || material_b >= count) {
    tbi_builder_fail(builder, TABI_ERR_MODEL, def->place, "pair '%s': no such material",
                     tbi_shown(def->name));
  } else if (check_surface(builder, def) && keep_material(builder, &pair.surface)) {
    return tbi_builder_append(builder, &builder->pairs, &pair, sizeof pair);
  }
  return TABI_NONE;
}

int32_t tabi_builder_add_exclusion(tabi_builder *builder, int32_t link_a, int32_t link_b) {
  TBI_ASSERT(builder);
  if (builder->error.status != TABI_OK) return TABI_NONE;
  if (!tbi_builder_is_link_or_world(builder, link_a) ||
      !tbi_builder_is_link_or_world(builder, link_b)) {
    tbi_builder_fail(builder, TABI_ERR_ARGUMENT, (tabi_place){NULL, 0}, "exclusion: no such link");
    return TABI_NONE;
  }
  const int32_t pair[2] = {link_a, link_b};
  return tbi_builder_append(builder, &builder->exclusions, pair, sizeof pair);
}

int32_t tabi_builder_add_posture(tabi_builder *builder, const char *name) {
  TBI_ASSERT(builder);
  if (builder->error.status != TABI_OK || !keep_string(builder, &name)) return TABI_NONE;
  return tbi_builder_append(builder, &builder->postures, (const void *)&name, sizeof name);
}

static bool posture_within(tabi_builder *builder, int32_t joint, const tbi_posture_entry *entry) {
  const tabi_joint_def *def = tbi_builder_joint(builder, joint);
  const tbi_item item = {"joint", def->name, def->place};
  const tbi_limit position = {"position of a posture", TBI_MAX_LENGTH, 0, ""};
  const tbi_limit speed = {"velocity of a posture", TBI_MAX_SPEED, 0, ""};
  return tbi_within(builder, item, position, entry->q, 7) &&
         tbi_within(builder, item, speed, entry->v, 6);
}

void tabi_builder_set_posture(tabi_builder *builder, int32_t posture, int32_t joint,
                              const double *q, const double *v) {
  TBI_ASSERT(builder);
  if (builder->error.status != TABI_OK) return;
  if (posture < 0 || posture >= builder->postures.count || !tbi_builder_is_joint(builder, joint)) {
    tbi_builder_fail(builder, TABI_ERR_ARGUMENT, (tabi_place){NULL, 0},
                     "posture: no such posture or joint");
    return;
  }
  tabi_joint_type type = tbi_builder_joint(builder, joint)->type;
  tbi_posture_entry entry = {.posture = posture, .joint = joint};
  TBI_ASSERT(q || tbi_joint_nq(type) == 0);
  if (q) memcpy(entry.q, q, sizeof(double) * (size_t)tbi_joint_nq(type));
  if (v) memcpy(entry.v, v, sizeof(double) * (size_t)tbi_joint_nv(type));
  if (!tbi_all_finite(entry.q, 7) || !tbi_all_finite(entry.v, 6) || !settle_quat(type, entry.q)) {
    tbi_builder_fail(builder, TABI_ERR_MODEL, tbi_builder_joint(builder, joint)->place,
                     "joint '%s': a posture is not finite or no rotation",
                     tbi_shown(tbi_builder_joint(builder, joint)->name));
    return;
  }
  if (!posture_within(builder, joint, &entry)) return;
  tbi_builder_append(builder, &builder->posture_entries, &entry, sizeof entry);
}

void tabi_builder_set_posture_control(tabi_builder *builder, int32_t posture, int32_t actuator,
                                      double u) {
  TBI_ASSERT(builder);
  if (builder->error.status != TABI_OK) return;
  const tbi_posture_control control = {posture, actuator, u};
  if (posture < 0 || posture >= builder->postures.count || actuator < 0 ||
      actuator >= builder->actuators.count || !isfinite(u)) {
    tbi_builder_fail(builder, TABI_ERR_ARGUMENT, (tabi_place){NULL, 0},
                     "posture: no such posture or actuator, or an input that is not finite");
    return;
  }
  tbi_builder_append(builder, &builder->controls, &control, sizeof control);
}

void tabi_builder_set_gravity(tabi_builder *builder, const double gravity[3]) {
  TBI_ASSERT(builder && gravity);
  if (!(v3_norm(v3_load(gravity)) <= TBI_MAX_GRAVITY)) {
    tbi_builder_fail(builder, TABI_ERR_ARGUMENT, (tabi_place){NULL, 0},
                     "gravity of %g m/s^2 is beyond the limit of %g m/s^2",
                     v3_norm(v3_load(gravity)), TBI_MAX_GRAVITY);
    return;
  }
  memcpy(builder->gravity, gravity, sizeof builder->gravity);
}

void tabi_builder_set_timestep(tabi_builder *builder, double timestep) {
  TBI_ASSERT(builder);
  if (!isfinite(timestep) || timestep <= 0) {
    tbi_builder_fail(builder, TABI_ERR_ARGUMENT, (tabi_place){NULL, 0}, "timestep %g must be > 0",
                     timestep);
    return;
  }
  builder->timestep = timestep;
}

int32_t tabi_builder_nlink(const tabi_builder *builder) {
  TBI_ASSERT(builder);
  return builder->links.count;
}

int32_t tabi_builder_njoint(const tabi_builder *builder) {
  TBI_ASSERT(builder);
  return builder->joints.count;
}

int32_t tabi_builder_find_link(const tabi_builder *builder, const char *name) {
  TBI_ASSERT(builder && name);
  return tbi_names_find(&builder->link_names, name);
}

int32_t tabi_builder_find_joint(const tabi_builder *builder, const char *name) {
  TBI_ASSERT(builder && name);
  return tbi_names_find(&builder->joint_names, name);
}

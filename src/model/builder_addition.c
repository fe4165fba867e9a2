/* builder_addition.c - see builder_addition.h.  An addition is a builder that holds the new items
 * alone, beside another with the materials and postures that were there before. */
#include "model/builder_addition.h"

#include "base/array.h"
#include "base/assertion.h"
#include "base/error.h"
#include "model/hull_graph.h"

#include <stdlib.h>
#include <string.h>

#define NO_STRING SIZE_MAX

/* The lists of a builder: where they are, and of their items the size, the name and the place. */
typedef struct list_kind {
  size_t list, size, name, place;
} list_kind;

#define LIST(list) offsetof(tabi_builder, list)
#define NAMED(list, type) \
  { LIST(list), sizeof(type), offsetof(type, name), offsetof(type, place) }
#define PLAIN(list, type) \
  { LIST(list), sizeof(type), NO_STRING, NO_STRING }

enum { LINKS, JOINTS, SENSORS, MATERIALS, MESHES, PAIRS, POSTURES }; /* those that are named here */

static const list_kind kinds[] = {
    [LINKS] = NAMED(links, tabi_link_def),
    [JOINTS] = NAMED(joints, tabi_joint_def),
    [SENSORS] = NAMED(sensors, tabi_sensor_def),
    [MATERIALS] = NAMED(materials, tabi_material_def),
    [MESHES] = NAMED(meshes, tabi_mesh_def),
    [PAIRS] = {LIST(pairs),     sizeof(tbi_material_pair), offsetof(tbi_material_pair, surface.name),
               offsetof(tbi_material_pair, surface.place)},
    [POSTURES] = {LIST(postures), sizeof(const char *),                          0,                                       NO_STRING                               },
    NAMED(shapes, tabi_shape_def),
    NAMED(tendons, tabi_tendon_def),
    NAMED(actuators, tabi_actuator_def),
    NAMED(couplings, tabi_coupling_def),
    NAMED(connections, tabi_connection_def),
    PLAIN(tendon_joints, tabi_tendon_joint),
    PLAIN(tendon_points, tabi_tendon_point),
    PLAIN(exclusions, int32_t[2]),
    PLAIN(posture_entries, tbi_posture_entry),
    PLAIN(controls, tbi_posture_control),
    PLAIN(link_joint, int32_t),
};
enum { NKIND = sizeof kinds / sizeof *kinds };
_Static_assert((int)NKIND <= TBI_BUILDER_LISTS, "has place in a mark");

struct tbi_addition {
  tabi_builder *added;  /* the new items */
  tabi_builder *before; /* materials and postures */
  tbi_builder_mark mark;
};

static const tbi_list *list_of(const tabi_builder *builder, size_t kind) {
  return (const tbi_list *)((const char *)builder + kinds[kind].list);
}

static char *item_of(const tbi_list *list, size_t kind, int32_t index) {
  return (char *)list->items + (size_t)index * kinds[kind].size;
}

tbi_builder_mark tbi_builder_mark_now(const tabi_builder *builder) {
  tbi_builder_mark mark = {.timestep = builder->timestep};
  memcpy(mark.gravity, builder->gravity, sizeof mark.gravity);
  for (size_t kind = 0; kind < NKIND; ++kind)
    mark.count[kind] = list_of(builder, kind)->count;
  return mark;
}

/* -- copies */

static bool keep_strings(tabi_builder *to, size_t kind, char *item) {
  tabi_place nowhere = {NULL, 0};
  const char *none = NULL;
  bool named = kinds[kind].name != NO_STRING;
  bool placed = kinds[kind].place != NO_STRING;
  /* NOLINTNEXTLINE(bugprone-casting-through-void): the offset is that of a name */
  const char **name = named ? (const char **)(void *)(item + kinds[kind].name) : &none;
  tabi_place *place = placed ? (tabi_place *)(void *)(item + kinds[kind].place) : &nowhere;
  return tbi_builder_keep(to, name, place);
}

static tbi_names *names_of(tabi_builder *builder, size_t kind) {
  return kind == LINKS       ? &builder->link_names
         : kind == JOINTS    ? &builder->joint_names
         : kind == SENSORS   ? &builder->sensor_names
         : kind == MATERIALS ? &builder->material_names
                             : NULL;
}

/* Items of a list from `first` on. */
static bool copy_list(tabi_builder *to, const tabi_builder *from, size_t kind, int32_t first) {
  const tbi_list *source = list_of(from, kind);
  tbi_list *list = (tbi_list *)((char *)to + kinds[kind].list);
  tbi_names *names = names_of(to, kind);
  for (int32_t i = first; i < source->count; ++i) {
    int32_t index = tbi_builder_append(to, list, item_of(source, kind, i), kinds[kind].size);
    if (index == TABI_NONE) return false;
    char *item = item_of(list, kind, index);
    if (!keep_strings(to, kind, item)) return false;
    const char *name = names ? *(const char **)(void *)(item + kinds[kind].name) : NULL;
    if (names && tbi_builder_list(to, names, name, index) == TABI_NONE) return false;
  }
  return true;
}

/* -- meshes */

/* From `first` on: `to` has numbers and names of them already. */
static bool borrow_meshes(tabi_builder *to, const tabi_builder *from, int32_t first) {
  const tbi_mesh_store *store = from->mesh_stores.items;
  for (int32_t i = first; i < from->mesh_stores.count; ++i) {
    const tbi_mesh_store borrowed = {.borrowed = true, .graph = store[i].graph};
    if (tbi_builder_append(to, &to->mesh_stores, &borrowed, sizeof borrowed) == TABI_NONE)
      return false;
  }
  return true;
}

/* Those of an addition are its own, with their graphs. */
static bool own_meshes(tabi_builder *added, int32_t first) {
  tabi_mesh_def *mesh = added->meshes.items;
  tbi_mesh_store *store = added->mesh_stores.items;
  for (int32_t i = 0; i < added->meshes.count; ++i) {
    size_t vertices = 3 * sizeof(double) * (size_t)mesh[i].nvertex;
    size_t faces = 3 * sizeof(int32_t) * (size_t)mesh[i].nface;
    double *vertex = malloc(vertices + 1);
    int32_t *face = malloc(faces + 1);
    if (!vertex || !face) {
      free(vertex);
      free(face);
      return false;
    }
    memcpy(vertex, mesh[i].vertices, vertices);
    memcpy(face, mesh[i].faces, faces);
    mesh[i].vertices = vertex;
    mesh[i].faces = face;
    store[i] = (tbi_mesh_store){.borrowed = false};
  }
  return tbi_keep_hull_graphs(added, first);
}

/* -- additions */

static bool fill(tbi_addition *addition, const tabi_builder *builder) {
  const int32_t first = addition->mark.count[MESHES];
  for (size_t kind = 0; kind < NKIND; ++kind) {
    if (!copy_list(addition->added, builder, kind, addition->mark.count[kind])) return false;
  }
  memcpy(addition->added->gravity, builder->gravity, sizeof builder->gravity);
  addition->added->timestep = builder->timestep;
  return borrow_meshes(addition->added, builder, first) && own_meshes(addition->added, first) &&
         copy_list(addition->before, builder, MATERIALS, 0) &&
         copy_list(addition->before, builder, POSTURES, 0);
}

tbi_addition *tbi_addition_create(const tabi_builder *builder, const tbi_builder_mark *since) {
  TBI_ASSERT(builder && since && builder->error.status == TABI_OK);
  tbi_addition *addition = calloc(1, sizeof *addition);
  if (!addition) return NULL;
  addition->mark = *since;
  addition->added = tabi_builder_create();
  addition->before = tabi_builder_create();
  if (addition->added && addition->before && fill(addition, builder)) return addition;
  tbi_addition_destroy(addition);
  return NULL;
}

void tbi_addition_destroy(tbi_addition *addition) {
  if (!addition) return;
  tabi_builder_destroy(addition->added);
  tabi_builder_destroy(addition->before);
  free(addition);
}

static bool same_name(const char *a, const char *b) {
  return a == b || (a && b && strcmp(a, b) == 0);
}

static bool same_vector(const double a[3], const double b[3]) {
  return a[0] == b[0] && a[1] == b[1] && a[2] == b[2];
}

/* between the name and the place of a material there are numbers alone */
static bool same_numbers(const tabi_material_def *a, const tabi_material_def *b) {
  const char *from = (const char *)&a->friction;
  return memcmp(from, &b->friction, (size_t)((const char *)&a->place - from)) == 0;
}

/* Whether a material that was there before has a part in a pair that was added. */
static bool is_paired(const tbi_addition *addition, int32_t material) {
  const tbi_material_pair *pair = addition->added->pairs.items;
  for (int32_t i = 0; i < addition->added->pairs.count; ++i) {
    if (pair[i].material_a == material || pair[i].material_b == material) return true;
  }
  return false;
}

static bool same_materials(const tbi_addition *addition, const tabi_builder *builder) {
  const tabi_material_def *a = addition->before->materials.items;
  const tabi_material_def *b = builder->materials.items;
  for (int32_t i = 0; i < builder->materials.count; ++i) {
    if (!same_name(a[i].name, b[i].name)) return false;
    if (is_paired(addition, i) && !same_numbers(&a[i], &b[i])) return false;
  }
  return true;
}

static bool same_postures(const tbi_addition *addition, const tabi_builder *builder) {
  const char *const *a = addition->before->postures.items;
  const char *const *b = builder->postures.items;
  for (int32_t i = 0; i < builder->postures.count; ++i) {
    if (!same_name(a[i], b[i])) return false;
  }
  return true;
}

bool tbi_addition_fits(const tbi_addition *addition, const tabi_builder *builder) {
  const tbi_builder_mark now = tbi_builder_mark_now(builder);
  const tbi_builder_mark *then = &addition->mark;
  return memcmp(now.count, then->count, sizeof now.count) == 0 && now.timestep == then->timestep &&
         same_vector(now.gravity, then->gravity) && same_materials(addition, builder) &&
         same_postures(addition, builder);
}

bool tbi_addition_add(const tbi_addition *addition, tabi_builder *builder) {
  TBI_ASSERT(tbi_addition_fits(addition, builder));
  for (size_t kind = 0; kind < NKIND; ++kind) {
    if (!copy_list(builder, addition->added, kind, 0)) return false;
  }
  if (!borrow_meshes(builder, addition->added, 0)) return false;
  memcpy(builder->gravity, addition->added->gravity, sizeof builder->gravity);
  builder->timestep = addition->added->timestep;
  return true;
}

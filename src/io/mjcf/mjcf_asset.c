/* mjcf_asset.c - meshes and the colours of materials. */
#include "io/mjcf/mjcf_reader.h"

#include "base/array.h"
#include "io/mesh/heightfield.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *last_part(const char *path) {
  const char *slash = strrchr(path, '/');
  return slash ? slash + 1 : path;
}

/* meshdir/file, in the pool */
static const char *mesh_path(tbi_mjcf *reader, const tbi_xml_node *node, const char *file) {
  const tbi_mjcf_compiler *c = tbi_mjcf_compiler_of(reader, node);
  const char *folder = c->mesh_dir;
  if (c->strip_path) file = last_part(file);
  if (file[0] == '/' || strstr(file, "://")) return file;
  if (!folder || folder[0] == '\0') return tbi_mjcf_beside_model(reader, node, file);
  size_t room = strlen(folder) + strlen(file) + 2;
  char *path = malloc(room);
  const char *kept = NULL;
  if (path) {
    const char *slash = folder[strlen(folder) - 1] == '/' ? "" : "/";
    (void)snprintf(path, room, "%s%s%s", folder, slash, file);
    kept = tbi_text_add(&reader->text, path);
  }
  free(path);
  if (!kept) tbi_fail_memory(&reader->error);
  return kept ? tbi_mjcf_beside_model(reader, node, kept) : NULL;
}

/* A mesh without a name is called after its file, less the ending. */
static const char *name_of_file(tbi_mjcf *reader, const char *file) {
  size_t size = strlen(last_part(file)) + 1;
  char *name = malloc(size);
  const char *kept = NULL;
  if (name) {
    memcpy(name, last_part(file), size);
    char *dot = strrchr(name, '.');
    if (dot) *dot = '\0';
    kept = tbi_text_add(&reader->text, name);
  }
  free(name);
  if (!kept) tbi_fail_memory(&reader->error);
  return kept;
}

/* The asset's own frame: subtract refpos, turn back by refquat, then scale. */
static void place_triangles(const tbi_mjcf_item *item, tbi_mesh *mesh) {
  double scale[3] = {1, 1, 1};
  double pos[3] = {0, 0, 0};
  double rot[4] = {1, 0, 0, 0};
  (void)tbi_mjcf_numbers(item, "scale", 3, 3, scale);
  (void)tbi_mjcf_numbers(item, "refpos", 3, 3, pos);
  (void)tbi_mjcf_numbers(item, "refquat", 4, 4, rot);
  if (q_norm(q_load(rot)) == 0) tbi_mjcf_fail(item, "refquat: quaternion has zero length");
  if (scale[0] * scale[1] * scale[2] == 0) tbi_mjcf_fail(item, "scale must not be zero");
  if (!tbi_ok(&item->reader->error)) return;
  m3 r = q_matrix(q_load(rot));
  for (int32_t i = 0; i < mesh->nvertex; ++i) {
    double *vertex = mesh->vertices + 3 * (size_t)i;
    v3_store(m3_tmulv(&r, v3_sub(v3_load(vertex), v3_load(pos))), vertex);
  }
  tbi_mesh_scale(mesh, scale);
}

void tbi_mjcf_name_asset(tbi_mjcf *reader, tbi_xml_node *node) {
  const char *file = tbi_xml_get(node, "file");
  const char *name = tbi_xml_get(node, "name");
  if (!file || file[0] == '\0' || (name && name[0] != '\0')) return;
  name = name_of_file(reader, file);
  if (name) tbi_mjcf_set(reader, node, "name", name);
}

/* All numbers of a text, in memory that the caller frees. */
static double *read_all(const tbi_mjcf_item *item, const char *attribute, int32_t *count) {
  tbi_mjcf *reader = item->reader;
  const char *text = tbi_mjcf_text(item, attribute, NULL);
  *count = 0;
  if (!text) return NULL;
  // there are no more numbers than half the characters
  size_t room = strlen(text) / 2 + 1;
  double *values = room < INT32_MAX ? malloc(room * sizeof *values) : NULL;
  if (!values) {
    tbi_fail_memory(&reader->error);
    return NULL;
  }
  char what[128];
  (void)snprintf(what, sizeof what, "%s: %.24s", item->label, attribute);
  *count = tbi_xml_numbers(&reader->error, text, item->node->place, what, values, (int32_t)room);
  return values;
}

static void fill_faces(const tbi_mjcf_item *item, const double *values, tbi_mesh *mesh) {
  for (int32_t i = 0; i < 3 * mesh->nface; ++i) {
    double index = values[i];
    if (!(index >= 0 && index < mesh->nvertex && index == floor(index))) {
      tbi_mjcf_fail(item, "face: vertex %g does not exist", index);
      return;
    }
    mesh->faces[i] = (int32_t)index;
  }
}

/* Vertices and faces of the element itself; without faces it is the hull of the vertices. */
static void read_inline(const tbi_mjcf_item *item, tbi_mjcf_mesh *mesh) {
  tbi_mjcf *reader = item->reader;
  int32_t nvertex = 0;
  int32_t nface = 0;
  double *vertices = read_all(item, "vertex", &nvertex);
  double *faces = read_all(item, "face", &nface);
  tbi_mesh *to = &mesh->triangles;
  if (tbi_ok(&reader->error) && (nvertex < 12 || nvertex % 3 != 0 || nface % 3 != 0)) {
    const char *kind = tbi_mjcf_text(item, "builtin", NULL);
    (void)tbi_mjcf_text(item, "params", NULL);
    tbi_warn(reader->def, item->node->place, "%s is empty: %s", item->label,
             kind ? "built-in meshes are not made" : "it needs a file, or vertices and faces");
  } else if (tbi_ok(&reader->error) && nface == 0) {
    const tbi_mesh points = {.vertices = vertices, .nvertex = nvertex / 3};
    tbi_take(&reader->error,
             tbi_mesh_hull(&points, mesh->name, mesh->place, reader->def, to, reader->error.err));
  } else if (tbi_ok(&reader->error)) {
    *to = (tbi_mesh){.vertices = vertices,
                     .faces = calloc((size_t)nface, sizeof *to->faces),
                     .nvertex = nvertex / 3,
                     .nface = nface / 3};
    vertices = NULL;
    if (to->faces) {
      fill_faces(item, faces, to);
    } else {
      tbi_fail_memory(&reader->error);
    }
  }
  free(vertices);
  free(faces);
}

static void read_mesh(tbi_mjcf *reader, tbi_xml_node *node) {
  tbi_mjcf_item item = tbi_mjcf_item_of(reader, node, "mesh", 0);
  const char *file = tbi_mjcf_text(&item, "file", NULL);
  if (!item.name && file) item.name = name_of_file(reader, file);
  const char *path = file ? mesh_path(reader, node, file) : NULL;
  if (!item.name) tbi_mjcf_fail(&item, "has neither a name nor a file");
  if (!tbi_ok(&reader->error)) return;
  if (!tbi_array_reserve((void **)&reader->meshes, &reader->cap_mesh, reader->nmesh, 1,
                         sizeof *reader->meshes)) {
    tbi_fail_memory(&reader->error);
    return;
  }
  int32_t before = tbi_mjcf_add_name(&item, &reader->mesh_names, reader->nmesh);
  if (before >= 0) {
    tbi_fail_at(&reader->error, TABI_ERR_MODEL, node->place,
                "mesh '%.64s' defined twice (first at line %d)", item.name,
                (int)reader->meshes[before].place.line);
    return;
  }
  tbi_mjcf_mesh *mesh = &reader->meshes[reader->nmesh++];
  *mesh = (tbi_mjcf_mesh){.name = item.name,
                          .place = node->place,
                          .index = TABI_NONE,
                          .hull = TABI_NONE,
                          .rule = tbi_mjcf_compiler_of(reader, node)->exact_mesh
                                      ? TBI_MJCF_MESH_EXACT
                                      : TBI_MJCF_MESH_LEGACY};
  static const char *const rules[] = {"convex", "exact", "legacy", "shell", NULL};
  mesh->rule = tbi_mjcf_word(&item, "inertia", rules, mesh->rule);
  if (!tbi_ok(&reader->error)) return;
  if (path) {
    tbi_take(&reader->error, tbi_meshes_read(reader->files, path, node->place, &mesh->triangles,
                                             reader->error.err));
  } else {
    read_inline(&item, mesh);
  }
  if (tbi_ok(&reader->error) && mesh->triangles.nvertex > 0)
    place_triangles(&item, &mesh->triangles);
}

static void read_material(tbi_mjcf *reader, tbi_xml_node *node) {
  tbi_mjcf_item item = tbi_mjcf_item_of(reader, node, "material", 0);
  tbi_mjcf_material material = {
      .name = item.name, .place = node->place, .rgba = {1, 1, 1, 1}
  };
  (void)tbi_mjcf_numbers(&item, "rgba", 4, 4, material.rgba);
  if (!tbi_array_reserve((void **)&reader->materials, &reader->cap_material, reader->nmaterial, 1,
                         sizeof *reader->materials)) {
    tbi_fail_memory(&reader->error);
    return;
  }
  int32_t before = tbi_mjcf_add_name(&item, &reader->material_names, reader->nmaterial);
  if (before >= 0) {
    tbi_mjcf_fail(&item, "defined twice (first at line %d)",
                  (int)reader->materials[before].place.line);
  }
  reader->materials[reader->nmaterial++] = material;
}

/* To [0, 1], as MuJoCo does. */
static void normalise(tbi_heights *field) {
  int32_t count = field->rows * field->columns;
  double low = INFINITY;
  double high = -INFINITY;
  for (int32_t i = 0; i < count; ++i) {
    low = fmin(low, field->heights[i]);
    high = fmax(high, field->heights[i]);
  }
  double scale = high > low ? 1 / (high - low) : 0;
  for (int32_t i = 0; i < count; ++i)
    field->heights[i] = (field->heights[i] - low) * scale;
}

static void make_field(const tbi_mjcf_item *item, tbi_heights *heights, tbi_mjcf_hfield *field) {
  tbi_mjcf *reader = item->reader;
  double extent[4] = {1, 1, 1, 1};
  (void)tbi_mjcf_numbers(item, "size", 4, 4, extent);
  if (!tbi_ok(&reader->error)) return;
  const tbi_heightfield lies = {
      .size = {2 * extent[0], 2 * extent[1]},
      .height = extent[2],
  };
  normalise(heights);
  tbi_take(&reader->error, tbi_heights_mesh(heights, &lies, &field->triangles, reader->error.err));
}

/* A field of which nothing is known is flat. */
static void make_flat(const tbi_mjcf_item *item, tbi_mjcf_hfield *field, const char *why) {
  double zeros[4] = {0, 0, 0, 0};
  tbi_heights flat = {zeros, 2, 2};
  tbi_warn(item->reader->def, field->place, "%s is flat: %s", item->label, why);
  make_field(item, &flat, field);
}

/* Heights in the element. */
static void read_elevation(const tbi_mjcf_item *item, tbi_mjcf_hfield *field) {
  double n[2] = {0, 0};
  int32_t count = 0;
  (void)tbi_mjcf_number(item, "nrow", &n[0]);
  (void)tbi_mjcf_number(item, "ncol", &n[1]);
  double *heights = read_all(item, "elevation", &count);
  if (tbi_ok(&item->reader->error)) {
    if (count > 0 && n[0] >= 2 && n[1] >= 2 && n[0] * n[1] == count) {
      tbi_heights given = {heights, (int32_t)n[1], (int32_t)n[0]};
      make_field(item, &given, field);
    } else {
      make_flat(item, field, "it has no elevation of nrow times ncol numbers");
    }
  }
  free(heights);
}

/* Heights in a file of their own: PNG, or MuJoCo's format. */
static void read_heights_file(const tbi_mjcf_item *item, const char *file, tbi_mjcf_hfield *field) {
  tbi_mjcf *reader = item->reader;
  tbi_heights heights = {0};
  const char *path = mesh_path(reader, item->node, file);
  (void)tbi_mjcf_text(item, "nrow", NULL); // the file tells
  (void)tbi_mjcf_text(item, "ncol", NULL);
  if (!path ||
      !tbi_take(&reader->error, tbi_meshes_read_grid(reader->files, path, true, item->node->place,
                                                     &heights, reader->error.err)))
    return;
  if (heights.heights) {
    make_field(item, &heights, field);
  } else {
    make_flat(item, field, "its file is missing");
  }
  free(heights.heights);
}

static void read_hfield(tbi_mjcf *reader, tbi_xml_node *node) {
  tbi_mjcf_item item = tbi_mjcf_item_of(reader, node, NULL, 0);
  const char *file = tbi_mjcf_text(&item, "file", NULL);
  if (!item.name && file) item.name = name_of_file(reader, file);
  if (!item.name) tbi_mjcf_fail(&item, "has neither a name nor a file");
  if (tbi_mjcf_add_name(&item, &reader->hfield_names, reader->nhfield) >= 0) {
    tbi_mjcf_fail(&item, "defined twice");
  }
  if (!tbi_ok(&reader->error)) return;
  if (!tbi_array_reserve((void **)&reader->hfields, &reader->cap_hfield, reader->nhfield, 1,
                         sizeof *reader->hfields)) {
    tbi_fail_memory(&reader->error);
    return;
  }
  tbi_mjcf_hfield *field = &reader->hfields[reader->nhfield++];
  *field = (tbi_mjcf_hfield){.name = item.name, .place = node->place, .index = TABI_NONE};
  if (file) {
    read_heights_file(&item, file, field);
  } else {
    read_elevation(&item, field);
  }
}

void tbi_mjcf_read_assets(tbi_mjcf *reader) {
  tbi_xml_node *section = tbi_xml_child(reader->root, "asset");
  for (; section; section = tbi_xml_next(section)) {
    tbi_xml_node *node = tbi_xml_child(section, "mesh");
    for (; node && tbi_ok(&reader->error); node = tbi_xml_next(node))
      read_mesh(reader, node);
    node = tbi_xml_child(section, "hfield");
    for (; node && tbi_ok(&reader->error); node = tbi_xml_next(node))
      read_hfield(reader, node);
    node = tbi_xml_child(section, "material");
    for (; node && tbi_ok(&reader->error); node = tbi_xml_next(node))
      read_material(reader, node);
  }
}

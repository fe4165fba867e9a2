/* mjcf_asset.c - meshes and the colours of materials. */
#include "io/mjcf_reader.h"

#include "base/array.h"

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

static void read_mesh(tbi_mjcf *reader, tbi_xml_node *node) {
  tbi_mjcf_item item = tbi_mjcf_item_of(reader, node, "mesh", 0);
  const char *file = tbi_mjcf_text(&item, "file", NULL);
  if (!file || file[0] == '\0') {
    tbi_mjcf_fail(&item, "attribute 'file' is missing; tabi reads meshes from files");
    return;
  }
  if (!item.name) item.name = name_of_file(reader, file);
  const char *path = mesh_path(reader, node, file);
  if (!tbi_ok(&reader->error) || !item.name || !path) return;
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
                          .exact = tbi_mjcf_compiler_of(reader, node)->exact_mesh};
  if (!tbi_ok(&reader->error)) return;
  tbi_take(&reader->error,
           tbi_meshes_read(reader->files, path, node->place, &mesh->triangles, reader->error.err));
  if (tbi_ok(&reader->error)) place_triangles(&item, &mesh->triangles);
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

void tbi_mjcf_read_assets(tbi_mjcf *reader) {
  tbi_xml_node *section = tbi_xml_child(reader->root, "asset");
  for (; section; section = tbi_xml_next(section)) {
    tbi_xml_node *node = tbi_xml_child(section, "mesh");
    for (; node && tbi_ok(&reader->error); node = tbi_xml_next(node))
      read_mesh(reader, node);
    node = tbi_xml_child(section, "material");
    for (; node && tbi_ok(&reader->error); node = tbi_xml_next(node))
      read_material(reader, node);
  }
}

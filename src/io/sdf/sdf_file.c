/* sdf_file.c - the files of <include>: a model file, or a folder whose model.config names it.
 *
 * A file that several include is read once.  The two models that nearly every world includes
 * without bringing them, Gazebo's ground and sun, are known by name. */
#include "base/array.h"
#include "io/path.h"
#include "io/report.h"
#include "io/sdf/sdf_reader.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define MAX_SOURCES 1000

static const char ground[] =
    "<sdf version='1.7'><model name='ground_plane'><static>true</static><link name='link'>"
    "<collision name='collision'><geometry><plane><normal>0 0 1</normal></plane></geometry>"
    "<surface><friction><ode><mu>1</mu><mu2>1</mu2></ode></friction></surface></collision>"
    "<visual name='visual'><geometry><plane><normal>0 0 1</normal></plane></geometry></visual>"
    "</link></model></sdf>";

int32_t tbi_sdf_add_source(tbi_sdf *s, tbi_xml *xml, const char *path) {
  void *items = s->sources;
  bool room = tbi_array_reserve(&items, &s->source_capacity, s->nsource, 1, sizeof *s->sources);
  s->sources = items;
  tbi_sdf_source added = {.xml = xml, .path = tbi_text_add(&s->text, path)};
  if (room && added.path) added.meshes = tbi_meshes_create(s->builder, added.path, s->def);
  if (!added.meshes || !tbi_names_add(&s->files, added.path, s->nsource)) {
    tbi_meshes_destroy(added.meshes);
    tbi_xml_destroy(xml);
    tbi_fail_memory(s->error);
    return TABI_NONE;
  }
  s->sources[s->nsource] = added;
  return s->nsource++;
}

/* Places where files are looked for, on the heap because they are large. */
typedef struct search {
  tbi_path_roots roots;
  tbi_path path;
} search;

static bool find(tbi_sdf *s, search *look, const char *folder, const char *file) {
  char *name = tbi_text_join(folder, file);
  if (!name) return tbi_fail_memory(s->error);
  bool found = tbi_path_find(&look->roots, name, &look->path) == TBI_PATH_FOUND;
  free(name);
  return found;
}

/* The model file that a model.config names: the one for the latest version. */
static bool read_config(tbi_sdf *s, search *look, const char *folder) {
  tbi_xml *xml = NULL;
  tabi_status status = tbi_xml_read(look->path.found, &xml, s->error->err);
  if (!tbi_take(s->error, status)) return false;
  const char *best = NULL;
  double best_version = -1;
  tbi_xml_node *node = tbi_xml_child(tbi_xml_root(xml), "sdf");
  for (; node; node = tbi_xml_next(node)) {
    const char *version = tbi_xml_get(node, "version");
    const char *point = version ? strchr(version, '.') : NULL;
    double number = point ? (double)strtol(point + 1, NULL, 10) : 0;
    if (node->text[0] == '\0' || number < best_version) continue;
    best = node->text;
    best_version = number;
  }
  bool found = best && find(s, look, folder, best);
  tbi_xml_destroy(xml);
  return found;
}

/* Where the file of a URI is: itself, or what the folder holds. */
static bool find_model(tbi_sdf *s, search *look, const char *uri) {
  size_t length = strlen(uri);
  bool is_file = length > 4 && (strcmp(uri + length - 4, ".sdf") == 0 ||
                                (length > 6 && strcmp(uri + length - 6, ".world") == 0));
  if (is_file && find(s, look, uri, "")) return true;
  char *folder = tbi_text_join(uri, length > 0 && uri[length - 1] == '/' ? "" : "/");
  if (!folder) return tbi_fail_memory(s->error);
  bool found = find(s, look, folder, "model.config") && read_config(s, look, folder);
  if (!found && tbi_ok(s->error)) found = find(s, look, folder, "model.sdf");
  free(folder);
  return found;
}

/* The source of a file, read before or now. */
static int32_t open_source(tbi_sdf *s, tbi_xml_node *include, const char *path) {
  int32_t known = tbi_names_find(&s->files, path);
  if (known >= 0 || !tbi_ok(s->error)) return known;
  if (s->nsource >= MAX_SOURCES) {
    tbi_fail_at(s->error, TABI_ERR_MODEL, include->place, "more than %d files are included",
                MAX_SOURCES);
    return TABI_NONE;
  }
  tbi_xml *xml = NULL;
  if (!tbi_take(s->error, tbi_xml_read(path, &xml, s->error->err))) return TABI_NONE;
  return tbi_sdf_add_source(s, xml, path);
}

/* Who loads a file part by part has heard of its includes before. */
static bool is_told_here(const tbi_sdf *s) { return !s->def->part; }

static int32_t make_ground(tbi_sdf *s, tbi_xml_node *include) {
  const char *name = "ground_plane";
  int32_t known = tbi_names_find(&s->files, name);
  if (is_told_here(s)) {
    tbi_warn(s->def, include->place, "include: 'model://ground_plane' not found; a plane is taken");
  }
  if (known >= 0) return known;
  tbi_xml *xml = NULL;
  tabi_status status = tbi_xml_parse(ground, sizeof ground - 1, name, &xml, s->error->err);
  return tbi_take(s->error, status) ? tbi_sdf_add_source(s, xml, name) : TABI_NONE;
}

/* The last part of a URI: the name of the model. */
static bool is_named(const char *uri, const char *name) {
  size_t length = strlen(uri);
  while (length > 0 && uri[length - 1] == '/')
    --length;
  size_t n = strlen(name);
  if (length < n || strncasecmp(uri + length - n, name, n) != 0) return false;
  return length == n || uri[length - n - 1] == '/';
}

static int32_t do_without(tbi_sdf *s, tbi_xml_node *include, const char *uri, const search *look) {
  if (is_named(uri, "ground_plane") || is_named(uri, "Ground Plane"))
    return make_ground(s, include);
  if (is_named(uri, "sun") && !is_told_here(s)) return TABI_NONE;
  if (is_named(uri, "sun")) {
    tbi_note(s->def, include->place, "include: '%.100s' is a light, and ignored", uri);
    return TABI_NONE;
  }
  if (s->def->strict) {
    tbi_fail_at(s->error, TABI_ERR_FILE, include->place,
                "include: '%.100s' not found (looked in: %s)", uri, look->path.looked);
  } else if (is_told_here(s)) {
    tbi_warn(s->def, include->place,
             "include: '%.100s' not found (looked in: %s); the model is left out", uri,
             look->path.looked);
  }
  return TABI_NONE;
}

static int32_t source_of(tbi_sdf *s, tbi_xml_node *include, const char *uri, int32_t from) {
  search *look = malloc(sizeof *look);
  if (!look) {
    tbi_fail_memory(s->error);
    return TABI_NONE;
  }
  tbi_path_roots_init(&look->roots, s->sources[from].path, s->def->package_path);
  int32_t source = TABI_NONE;
  if (find_model(s, look, uri)) {
    source = open_source(s, include, look->path.found);
  } else if (tbi_ok(s->error)) {
    source = do_without(s, include, uri, look);
  }
  free(look);
  return source;
}

tbi_xml_node *tbi_sdf_include(tbi_sdf *s, tbi_xml_node *include, int32_t from, int32_t *source) {
  const char *uri = tbi_sdf_text(include, "uri");
  if (!uri) {
    tbi_fail_at(s->error, TABI_ERR_PARSE, include->place, "include without <uri>");
    return NULL;
  }
  int32_t found = source_of(s, include, uri, from);
  if (found == 0) {
    tbi_fail_at(s->error, TABI_ERR_MODEL, include->place, "include: the file includes itself");
  }
  if (found <= 0) return NULL;
  tbi_xml_node *root = tbi_xml_root(s->sources[found].xml);
  tbi_xml_node *model = strcmp(root->name, "sdf") == 0 ? tbi_xml_child(root, "model") : NULL;
  if (!model && is_told_here(s)) {
    bool light = strcmp(root->name, "sdf") == 0 && tbi_xml_child(root, "light");
    tbi_note(s->def, include->place, "include: '%.100s' holds %s, and is ignored", uri,
             light ? "a light" : "no model");
  }
  *source = found;
  return model;
}

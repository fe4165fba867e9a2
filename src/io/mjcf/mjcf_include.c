/* mjcf_include.c - puts the elements of included files in the place of the <include>.
 *
 * A model may include a file once, as in MuJoCo: that rules out cycles, and files that double
 * themselves.  Paths are relative to the folder of the model, or else to that of the file that
 * says <include>, and may not leave the folder of the main file.  Every element knows its file,
 * every file who included it and which model it is part of: the main one, or one to attach. */
#include "io/mjcf/mjcf_reader.h"

#include "base/array.h"
#include "io/path.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_DEPTH 32 /* files within files */

static const char *last_part(const char *path) {
  const char *slash = strrchr(path, '/');
  return slash ? slash + 1 : path;
}

/* the file that an element is in */
static int32_t source_of(const tbi_mjcf *reader, const tbi_xml_node *node) {
  int32_t i = reader->nsource - 1;
  while (i > 0 && reader->sources[i].places != node->place.file)
    --i;
  return i;
}

/* "a.xml -> b.xml", from the main file to the given one; returns how many there are */
static int write_trail(const tbi_mjcf *reader, int32_t file, char *text, size_t size) {
  int32_t trail[MAX_DEPTH + 1];
  int depth = 0;
  for (; file != TABI_NONE && depth <= MAX_DEPTH; file = reader->sources[file].from) {
    trail[depth++] = file;
  }
  text[0] = '\0';
  for (int i = depth - 1; i >= 0; --i) {
    size_t used = strlen(text);
    (void)snprintf(text + used, size - used, "%.60s -> ",
                   last_part(reader->sources[trail[i]].name));
  }
  return depth;
}

static bool is_cycle(const tbi_mjcf *reader, int32_t from, const char *found) {
  for (; from != TABI_NONE; from = reader->sources[from].from) {
    if (strcmp(reader->sources[from].found, found) == 0) return true;
  }
  return false;
}

/* "folder/of/base/file", in the pool; the folder of the main file is "". */
static const char *beside(tbi_mjcf *reader, const char *base, const char *file) {
  const char *slash = strrchr(base, '/');
  if (!slash || file[0] == '/' || strstr(file, "://")) return file;
  size_t room = (size_t)(slash - base) + strlen(file) + 2;
  char *text = malloc(room);
  if (text) (void)snprintf(text, room, "%.*s/%s", (int)(slash - base), base, file);
  const char *kept = text ? tbi_text_add(&reader->text, text) : NULL;
  free(text);
  if (!kept) tbi_fail_memory(&reader->error);
  return kept ? kept : file;
}

/* A path of Windows as others write it. */
static const char *with_slashes(tbi_mjcf *reader, const char *file) {
  if (!strchr(file, '\\')) return file;
  size_t size = strlen(file) + 1;
  char *text = malloc(size);
  for (size_t i = 0; text && i < size; ++i)
    text[i] = (char)(file[i] == '\\' ? '/' : file[i]);
  const char *kept = text ? tbi_text_add(&reader->text, text) : NULL;
  free(text);
  if (!kept) tbi_fail_memory(&reader->error);
  return kept ? kept : file;
}

/* Finds a file that an element of file `from` names: *name is its path from the main folder. */
static bool find_file(const tbi_mjcf_item *item, int32_t from, const char **name, tbi_path *path) {
  tbi_mjcf *reader = item->reader;
  tbi_path_roots roots;
  const char *file = *name;
  if (!file || file[0] == '\0') {
    tbi_mjcf_fail(item, "attribute 'file' is missing; name a file");
    return false;
  }
  file = with_slashes(reader, file);
  tbi_path_roots_init(&roots, reader->path, NULL);
  *name = beside(reader, reader->models[reader->sources[from].model].name, file);
  if (tbi_path_find(&roots, *name, path) == TBI_PATH_FOUND) return true;
  const char *nested = from == 0 ? *name : beside(reader, reader->sources[from].name, file);
  if (strcmp(nested, *name) != 0 && tbi_path_find(&roots, nested, path) == TBI_PATH_FOUND) {
    *name = nested;
    return true;
  }
  switch (tbi_path_find(&roots, *name, path)) {
  case TBI_PATH_FOUND:
    return true;
  case TBI_PATH_MISSING:
    tbi_mjcf_fail(item, "file '%.100s' not found (looked in: %s)", file, path->looked);
    return false;
  default:
    tbi_mjcf_fail(item, "file '%.100s': " TBI_PATH_LEAVES_TEXT, file);
    return false;
  }
}

static bool may_include(const tbi_mjcf_item *item, int32_t from, const char *found) {
  const tbi_mjcf *reader = item->reader;
  char trail[300];
  int depth = write_trail(reader, from, trail, sizeof trail);
  if (is_cycle(reader, from, found)) {
    tbi_fail_at(&item->reader->error, TABI_ERR_MODEL, item->node->place, "include cycle: %s%.60s",
                trail, last_part(found));
    return false;
  }
  for (int32_t i = 0; i < reader->nsource; ++i) {
    if (reader->sources[i].model != reader->sources[from].model ||
        strcmp(reader->sources[i].found, found) != 0) {
      continue;
    }
    tbi_mjcf_fail(item, "file '%.60s' is included twice", last_part(found));
  }
  if (depth > MAX_DEPTH) tbi_mjcf_fail(item, "files nested deeper than %d", MAX_DEPTH);
  return tbi_ok(&reader->error);
}

static void add_source(tbi_mjcf *reader, const tbi_mjcf_file *file) {
  if (!tbi_array_reserve((void **)&reader->sources, &reader->cap_source, reader->nsource, 1,
                         sizeof *reader->sources)) {
    tbi_xml_destroy(file->xml);
    tbi_fail_memory(&reader->error);
    return;
  }
  reader->sources[reader->nsource++] = *file;
}

/* The root of an included file, or NULL.  Its path in messages is the short one, as the user
 * would write it. */
static tbi_xml_node *read_file(tbi_mjcf *reader, const char *name, const char *found, int32_t from,
                               int32_t model) {
  tbi_mjcf_file file = {.name = name, .from = from, .model = model};
  file.found = tbi_text_add(&reader->text, found);
  char *path = file.found ? tbi_path_beside(reader->path, name) : NULL;
  if (!path) {
    tbi_fail_memory(&reader->error);
    return NULL;
  }
  tbi_take(&reader->error, tbi_xml_read(path, &file.xml, reader->error.err));
  free(path);
  if (!tbi_ok(&reader->error)) return NULL;
  tbi_xml_node *root = tbi_xml_root(file.xml);
  file.places = root->place.file;
  add_source(reader, &file);
  return tbi_ok(&reader->error) ? root : NULL;
}

/* Puts the children of `from` in the place of the include.  Returns the first of them, or what
 * follows the include. */
static tbi_xml_node *replace(tbi_xml_node *include, tbi_xml_node *from) {
  tbi_xml_node *parent = include->parent;
  tbi_xml_node *before = NULL;
  for (tbi_xml_node *child = parent->first; child != include; child = child->next)
    before = child;
  for (tbi_xml_node *child = from->first; child; child = child->next)
    child->parent = parent;
  tbi_xml_node *first = from->first ? from->first : include->next;
  if (from->last) from->last->next = include->next;
  if (before) {
    before->next = first;
  } else {
    parent->first = first;
  }
  if (parent->last == include) parent->last = from->last ? from->last : before;
  from->first = from->last = NULL;
  return first;
}

/* The next element in reading order that is not below this one. */
static tbi_xml_node *behind(tbi_xml_node *node, const tbi_xml_node *root) {
  while (node != root && !node->next)
    node = node->parent;
  return node == root ? NULL : node->next;
}

/* Returns where to read on. */
static tbi_xml_node *splice(tbi_mjcf *reader, tbi_xml_node *include, const tbi_xml_node *root) {
  tbi_mjcf_item item = tbi_mjcf_item_of(reader, include, NULL, 0);
  const char *file = tbi_xml_get(include, "file");
  int32_t from = source_of(reader, include);
  tbi_path path;
  if (!find_file(&item, from, &file, &path) || !may_include(&item, from, path.found)) return NULL;
  tbi_xml_node *contents = read_file(reader, file, path.found, from, reader->sources[from].model);
  if (!contents) return NULL;
  tbi_xml_node *parent = include->parent;
  tbi_xml_node *next = replace(include, contents);
  return next ? next : behind(parent, root);
}

static void include_in(tbi_mjcf *reader, tbi_xml_node *root) {
  tbi_xml_node *node = root->first;
  while (node && tbi_ok(&reader->error)) {
    if (strcmp(node->name, "include") == 0) {
      node = splice(reader, node, root);
    } else {
      node = node->first ? node->first : behind(node, root);
    }
  }
}

static int32_t add_model(tbi_mjcf *reader, tbi_xml_node *asset, tbi_xml_node *root,
                         const char *name) {
  if (!tbi_array_reserve((void **)&reader->models, &reader->cap_model, reader->nmodel, 1,
                         sizeof *reader->models)) {
    tbi_fail_memory(&reader->error);
    return TABI_NONE;
  }
  reader->models[reader->nmodel] = (tbi_mjcf_model){.asset = asset, .root = root, .name = name};
  return reader->nmodel++;
}

tbi_mjcf_compiler *tbi_mjcf_compiler_of(tbi_mjcf *reader, const tbi_xml_node *node) {
  int32_t model = reader->nmodel > 1 ? reader->sources[source_of(reader, node)].model : 0;
  return &reader->models[model].compiler;
}

/* Whether a path from the main folder leads to a file. */
static bool exists(tbi_mjcf *reader, const char *name) {
  struct search {
    tbi_path_roots roots;
    tbi_path path;
  } *search = malloc(sizeof *search);
  if (!search) return tbi_fail_memory(&reader->error);
  tbi_path_roots_init(&search->roots, reader->path, reader->def->package_path);
  bool found = tbi_path_find(&search->roots, name, &search->path) == TBI_PATH_FOUND;
  free(search);
  return found;
}

const char *tbi_mjcf_beside_model(tbi_mjcf *reader, const tbi_xml_node *node, const char *file) {
  const tbi_mjcf_file *source = &reader->sources[source_of(reader, node)];
  const char *name = beside(reader, reader->models[source->model].name, file);
  const char *nested = beside(reader, source->name, file);
  bool same = strcmp(name, nested) == 0;
  return same || exists(reader, name) || !exists(reader, nested) ? name : nested;
}

static tbi_xml_node *known_model(const tbi_mjcf *reader, const tbi_xml_node *asset) {
  for (int32_t i = 1; i < reader->nmodel; ++i) {
    if (reader->models[i].asset == asset) return reader->models[i].root;
  }
  return NULL;
}

tbi_xml_node *tbi_mjcf_model_root(tbi_mjcf *reader, tbi_xml_node *asset) {
  tbi_xml_node *root = known_model(reader, asset);
  if (root || !tbi_ok(&reader->error)) return root;
  tbi_mjcf_item item = tbi_mjcf_item_of(reader, asset, NULL, 0);
  const char *file = tbi_xml_get(asset, "file");
  int32_t from = source_of(reader, asset);
  tbi_path path;
  (void)tbi_xml_get(asset, "content_type");
  if (!find_file(&item, from, &file, &path)) return NULL;
  if (is_cycle(reader, from, path.found)) {
    tbi_mjcf_fail(&item, "the model attaches itself");
    return NULL;
  }
  root = read_file(reader, file, path.found, from, reader->nmodel);
  int32_t model = root ? add_model(reader, asset, root, file) : TABI_NONE;
  if (model == TABI_NONE) return NULL;
  include_in(reader, root);
  tbi_mjcf_read_compiler_of(reader, model);
  tbi_mjcf_expand_model(reader, root);
  return root;
}

void tbi_mjcf_include(tbi_mjcf *reader) {
  tbi_path_roots roots;
  tbi_path_roots_init(&roots, reader->path, NULL);
  // the main file under the name by which it could include itself
  tbi_path path;
  tbi_mjcf_file main_file = {
      .name = reader->path, .places = reader->root->place.file, .from = TABI_NONE};
  bool exists = tbi_path_find(&roots, last_part(reader->path), &path) == TBI_PATH_FOUND;
  main_file.found = tbi_text_add(&reader->text, exists ? path.found : "");
  if (!main_file.found) tbi_fail_memory(&reader->error);
  add_source(reader, &main_file);
  if (add_model(reader, NULL, reader->root, "") != TABI_NONE) include_in(reader, reader->root);
}

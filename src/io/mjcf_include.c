/* mjcf_include.c - puts the elements of included files where the <include> stands.
 *
 * A file may be included once, as in MuJoCo: that rules out cycles, and files that double
 * themselves.  Paths are relative to the folder of the main file and may not leave it. */
#include "io/mjcf_reader.h"

#include "base/array.h"
#include "io/path.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_DEPTH 32 /* files within files */

/* the files being read, from the main one inwards */
typedef struct trail {
  const struct trail *outer;
  const char *file;  /* as named by whoever includes it */
  const char *found; /* without links, to compare */
  int32_t depth;
} trail;

typedef struct including {
  tbi_mjcf *reader;
  tbi_path_roots roots;
} including;

static void splice_children(const including *in, tbi_xml_node *node, const trail *inside);

static const char *last_part(const char *path) {
  const char *slash = strrchr(path, '/');
  return slash ? slash + 1 : path;
}

/* "a.xml -> b.xml -> a.xml", from the outermost */
static void write_trail(const trail *t, char *text, size_t size) {
  if (t->outer) write_trail(t->outer, text, size);
  size_t used = strlen(text);
  (void)snprintf(text + used, size - used, "%s%.60s", used > 0 ? " -> " : "", last_part(t->file));
}

static bool is_cycle(const tbi_mjcf_item *item, const trail *here) {
  for (const trail *t = here->outer; t; t = t->outer) {
    if (strcmp(t->found, here->found) != 0) continue;
    char text[300] = "";
    write_trail(here, text, sizeof text);
    tbi_mjcf_fail_at(item->reader, item->node->place, "include cycle: %s", text);
    return true;
  }
  return false;
}

static bool find_file(const including *in, const tbi_mjcf_item *item, const char *file,
                      tbi_path *path) {
  if (!file || file[0] == '\0') {
    tbi_mjcf_fail(item, "attribute 'file' is missing; name a file");
    return false;
  }
  switch (tbi_path_find(&in->roots, file, path)) {
  case TBI_PATH_FOUND:
    return true;
  case TBI_PATH_MISSING:
    tbi_mjcf_fail(item, "file '%.100s' not found (looked in: %s)", file, path->looked);
    return false;
  default:
    tbi_mjcf_fail(item, "path '%.100s' leaves the model folder; put the file beside the model",
                  file);
    return false;
  }
}

static bool may_include(const tbi_mjcf_item *item, const trail *here) {
  const tbi_mjcf *reader = item->reader;
  if (is_cycle(item, here)) return false;
  for (int32_t i = 0; i < reader->ninclude; ++i) {
    if (strcmp(reader->include_paths[i], here->found) != 0) continue;
    tbi_mjcf_fail(item, "file '%.100s' is included twice", here->file);
    return false;
  }
  if (here->depth > MAX_DEPTH) tbi_mjcf_fail(item, "files nested deeper than %d", MAX_DEPTH);
  return tbi_mjcf_ok(reader);
}

/* The text of folder(main file)/file, to be freed. */
static char *beside(const char *main_file, const char *file) {
  size_t folder = (size_t)(last_part(main_file) - main_file);
  char *path = malloc(folder + strlen(file) + 1);
  if (!path) return NULL;
  memcpy(path, main_file, folder);
  strcpy(path + folder, file);
  return path;
}

static bool make_room(tbi_mjcf *reader) {
  return tbi_array_reserve((void **)&reader->includes, &reader->cap_include, reader->ninclude, 1,
                           sizeof(tbi_xml *)) &&
         tbi_array_reserve((void **)&reader->include_paths, &reader->cap_include_path,
                           reader->ninclude, 1, sizeof(char *));
}

/* The path in messages is the short one, as the user would write it. */
static tbi_xml *read_file(tbi_mjcf *reader, const trail *here) {
  const char *kept = tbi_text_add(&reader->text, here->found);
  char *path = kept && make_room(reader) ? beside(reader->path, here->file) : NULL;
  if (!path) {
    tbi_mjcf_fail_memory(reader);
    return NULL;
  }
  tbi_xml *xml = NULL;
  reader->status = tbi_xml_read(path, &xml, reader->err);
  free(path);
  if (!tbi_mjcf_ok(reader)) return NULL;
  reader->include_paths[reader->ninclude] = kept;
  reader->includes[reader->ninclude++] = xml;
  return xml;
}

/* Put the children of `from` into the list of `parent`, behind `before` (NULL: in front), in
 * place of the include that stood there. */
static void replace(tbi_xml_node *parent, tbi_xml_node *before, tbi_xml_node *include,
                    tbi_xml_node *from) {
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
}

/* Returns the last node that came in, or what stood before the include. */
static tbi_xml_node *splice_file(const including *in, tbi_xml_node *before, tbi_xml_node *include,
                                 const trail *inside) {
  tbi_mjcf_item item = tbi_mjcf_item_of(in->reader, include, NULL, 0);
  const char *file = tbi_xml_get(include, "file");
  tbi_path path;
  if (!find_file(in, &item, file, &path)) return before;
  const trail here = {inside, file, path.found, inside->depth + 1};
  tbi_xml *xml = may_include(&item, &here) ? read_file(in->reader, &here) : NULL;
  if (!xml) return before;
  tbi_xml_node *root = tbi_xml_root(xml);
  splice_children(in, root, &here);
  tbi_xml_node *last = root->last ? root->last : before;
  replace(include->parent, before, include, root);
  return last;
}

static void splice_children(const including *in, tbi_xml_node *node, const trail *inside) {
  tbi_xml_node *before = NULL;
  tbi_xml_node *next = NULL;
  for (tbi_xml_node *child = node->first; child && tbi_mjcf_ok(in->reader); child = next) {
    next = child->next;
    if (strcmp(child->name, "include") == 0) {
      before = splice_file(in, before, child, inside);
    } else {
      splice_children(in, child, inside);
      before = child;
    }
  }
}

void tbi_mjcf_include(tbi_mjcf *reader) {
  including in = {.reader = reader};
  tbi_path_roots_init(&in.roots, reader->path, NULL);
  // the main file under the name by which it could include itself
  tbi_path path;
  const char *name = last_part(reader->path);
  if (tbi_path_find(&in.roots, name, &path) != TBI_PATH_FOUND) path.found[0] = '\0';
  const trail main_file = {NULL, name, path.found, 0};
  splice_children(&in, reader->root, &main_file);
}

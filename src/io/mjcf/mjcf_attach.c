/* mjcf_attach.c - <attach>: a body, a frame or the whole world of another model, with all names
 * behind a prefix.
 *
 * The other model's defaults become a class below ours, its assets are ours, and of its other
 * sections comes along what refers to nothing but the attached part.  Every element keeps the file
 * that it is from, and with it the compiler settings of its model.  Keyframes stay behind. */
#include "io/mjcf/mjcf_reader.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_DEPTH 8 /* models attached within models */

/* one <attach> */
typedef struct attachment {
  tbi_mjcf *reader;
  const tbi_mjcf_item *item;
  tbi_xml_node *root; /* of the other model, or our own */
  const char *prefix;
  const char *main_class; /* of what names none, with the prefix */
} attachment;

static const char *prefixed(const attachment *a, const char *name) {
  char *text = tbi_text_join(a->prefix, name);
  const char *kept = text ? tbi_text_add(&a->reader->text, text) : NULL;
  free(text);
  if (!kept) tbi_fail_memory(&a->reader->error);
  return kept;
}

// NOLINTNEXTLINE(misc-no-recursion): as deep as the XML, TBI_XML_MAX_DEPTH
static tbi_xml_node *find_named(tbi_xml_node *node, const char *tag, const char *name) {
  for (tbi_xml_node *child = node->first; child; child = child->next) {
    const char *own = strcmp(child->name, tag) == 0 ? tbi_xml_get(child, "name") : NULL;
    tbi_xml_node *found = own && strcmp(own, name) == 0 ? child : find_named(child, tag, name);
    if (found) return found;
  }
  return NULL;
}

/* The asset that an attachment names, by its name or that of the model in it. */
static tbi_xml_node *find_model(const tbi_mjcf_item *item, const char *name) {
  tbi_xml_node *section = tbi_xml_child(item->reader->root, "asset");
  for (; section; section = tbi_xml_next(section)) {
    tbi_xml_node *model = tbi_xml_child(section, "model");
    for (; model; model = tbi_xml_next(model)) {
      tbi_xml_node *root = tbi_mjcf_model_root(item->reader, model);
      const char *own = tbi_xml_get(model, "name");
      if (!own && root) own = tbi_xml_get(root, "model");
      if (root && own && strcmp(own, name) == 0) return root;
    }
  }
  tbi_mjcf_fail(item, "model '%.64s' does not exist; name it in <asset>", name);
  return NULL;
}

/* What is attached: copies in a frame of our own, whose class is the other model's outermost. */
static tbi_xml_node *copy_tree(const attachment *a) {
  tbi_mjcf *reader = a->reader;
  tbi_xml_node *frame = tbi_mjcf_make(reader, "frame", a->item->node->place);
  if (!frame) return NULL;
  const char *body = tbi_mjcf_text(a->item, "body", NULL);
  const char *part = tbi_mjcf_text(a->item, "frame", NULL);
  const char *wanted = body ? body : part;
  tbi_xml_node *world = tbi_xml_child(a->root, "worldbody");
  tbi_xml_node *found = NULL;
  for (; world && tbi_ok(&reader->error); world = tbi_xml_next(world)) {
    if (wanted && !found) found = find_named(world, body ? "body" : "frame", wanted);
    for (tbi_xml_node *each = wanted ? NULL : world->first; each; each = each->next) {
      tbi_xml_node *copy = tbi_mjcf_copy(reader, each);
      if (copy) tbi_xml_append(frame, copy);
    }
  }
  if (wanted && !found) {
    tbi_mjcf_fail(a->item, "%s '%.64s' does not exist in the model", body ? "body" : "frame",
                  wanted);
  }
  tbi_xml_node *copy = found ? tbi_mjcf_copy(reader, found) : NULL;
  if (copy) tbi_xml_append(frame, copy);
  return tbi_ok(&reader->error) ? frame : NULL;
}

/* A section of ours; made if there is none. */
static tbi_xml_node *own_section(tbi_mjcf *reader, const char *name) {
  tbi_xml_node *section = tbi_xml_child(reader->root, name);
  if (section) return section;
  section = tbi_mjcf_make(reader, name, reader->root->place);
  if (section) tbi_xml_append(reader->root, section);
  return section;
}

static bool is_in(const char *name, const char *const *list) {
  while (*list && strcmp(*list, name) != 0)
    ++list;
  return *list != NULL;
}

static void copy_assets(const attachment *a) {
  tbi_mjcf *reader = a->reader;
  static const char *const kinds[] = {"mesh", "material", "hfield", "texture", NULL};
  tbi_xml_node *section = tbi_xml_child(a->root, "asset");
  for (; section && tbi_ok(&reader->error); section = tbi_xml_next(section)) {
    tbi_xml_node *to = own_section(reader, "asset");
    for (tbi_xml_node *each = section->first; each && to; each = each->next) {
      if (!is_in(each->name, kinds)) continue;
      tbi_xml_node *copy = tbi_mjcf_copy(reader, each);
      if (!copy) return;
      tbi_mjcf_name_asset(reader, copy);
      tbi_xml_node around = {.name = "asset", .first = copy};
      tbi_mjcf_rename(reader, &around, a->prefix, "");
      tbi_mjcf_rename_assets(reader, copy, a->prefix);
      if (!tbi_xml_get(copy, "class")) tbi_mjcf_set(reader, copy, "class", a->main_class);
      tbi_xml_append(to, copy);
    }
  }
}

/* All outermost defaults of the other model as one class within ours. */
static void copy_defaults(const attachment *a) {
  tbi_mjcf *reader = a->reader;
  tbi_xml_node *merged = tbi_mjcf_make(reader, "default", a->item->node->place);
  tbi_xml_node *to = own_section(reader, "default");
  if (!merged || !to) return;
  tbi_xml_node *section = tbi_xml_child(a->root, "default");
  for (; section; section = tbi_xml_next(section)) {
    for (tbi_xml_node *each = section->first; each; each = each->next) {
      tbi_xml_node *copy = tbi_mjcf_copy(reader, each);
      if (!copy) return;
      tbi_mjcf_rename_assets(reader, copy, a->prefix);
      tbi_xml_append(merged, copy);
    }
  }
  tbi_mjcf_set(reader, merged, "class", a->main_class);
  tbi_xml_append(to, merged);
}

/* Names and classes of a copy from another section; our own elements keep their assets. */
static void adapt(const attachment *a, tbi_xml_node *copy, const char *section) {
  tbi_mjcf *reader = a->reader;
  tbi_xml_node around = {.name = section, .first = copy};
  copy->parent = &around;
  tbi_mjcf_collect_names(reader, &around, &reader->renamed);
  tbi_mjcf_rename(reader, &around, a->prefix, "");
  if (a->root == reader->root) return;
  tbi_mjcf_rename_assets(reader, copy, a->prefix);
  if (!tbi_xml_get(copy, "class")) tbi_mjcf_set(reader, copy, "class", a->main_class);
}

/* What the attached part alone explains; names of tendons and actuators join the set. */
static void copy_section(const attachment *a, const char *name) {
  tbi_mjcf *reader = a->reader;
  tbi_xml_node *section = tbi_xml_child(a->root, name);
  for (; section && tbi_ok(&reader->error); section = tbi_xml_next(section)) {
    for (tbi_xml_node *each = section->first; each && tbi_ok(&reader->error); each = each->next) {
      if (!tbi_mjcf_refers(&reader->renamed, each, true)) continue;
      tbi_xml_node *copy = tbi_mjcf_copy(reader, each);
      tbi_xml_node *to = own_section(reader, name);
      if (!copy || !to) return;
      adapt(a, copy, name);
      tbi_xml_append(to, copy);
    }
  }
}

static const char *class_of_model(const attachment *a) {
  tbi_xml_node *outermost = tbi_xml_child(a->root, "default");
  const char *name = outermost ? tbi_xml_get(outermost, "class") : NULL;
  return prefixed(a, name && name[0] ? name : "main");
}

static void attach_model(attachment *a, tbi_xml_node *node) {
  static const char *const sections[] = {"tendon", "contact", "equality", "actuator", "sensor"};
  tbi_mjcf *reader = a->reader;
  a->main_class = class_of_model(a);
  tbi_xml_node *frame = copy_tree(a);
  if (!frame || !a->main_class) return;
  bool foreign = a->root != reader->root;
  tbi_mjcf_collect_names(reader, frame, &reader->renamed);
  tbi_mjcf_rename(reader, frame, a->prefix, "");
  if (foreign) {
    tbi_mjcf_rename_assets(reader, frame, a->prefix);
    tbi_mjcf_set(reader, frame, "childclass", a->main_class);
    copy_defaults(a);
    copy_assets(a);
    if (tbi_xml_child(a->root, "keyframe")) {
      tbi_note(reader->def, node->place, "keyframes of an attached model are ignored");
    }
  }
  for (size_t i = 0; i < sizeof sections / sizeof *sections; ++i)
    copy_section(a, sections[i]);
  tbi_mjcf_end_references(reader);
  frame->parent = node->parent;
  tbi_mjcf_replace(node->parent, node, frame, frame);
}

void tbi_mjcf_attach(tbi_mjcf *reader, tbi_xml_node *node) {
  tbi_mjcf_item item = tbi_mjcf_item_of(reader, node, NULL, 0);
  const char *model = tbi_mjcf_text(&item, "model", NULL);
  const char *prefix = tbi_mjcf_text(&item, "prefix", NULL);
  attachment a = {.reader = reader, .item = &item, .prefix = prefix ? prefix : ""};
  if (++reader->attach_depth > MAX_DEPTH) {
    tbi_mjcf_fail(&item, "models attached deeper than %d", MAX_DEPTH);
    return;
  }
  a.root = model ? find_model(&item, model) : reader->root;
  if (!model && !tbi_xml_get(node, "body") && !tbi_xml_get(node, "frame")) {
    tbi_mjcf_fail(&item, "names neither a model nor a body nor a frame");
  }
  if (tbi_ok(&reader->error) && a.root) attach_model(&a, node);
  --reader->attach_depth;
}

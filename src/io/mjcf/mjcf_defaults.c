/* mjcf_defaults.c - default classes.
 *
 * A <default> is a class; the ones nested in it refine it.  The outermost needs no name and is
 * the class of everything that names none.  The settings stay in the XML tree, where
 * mjcf_item.c looks them up. */
#include "io/mjcf/mjcf_reader.h"

#include "base/array.h"
#include "io/format.h"

/* Settings of a class that is not used are not told as ignored, if the table says that they are
 * read. */
static void mark_settings(tbi_xml_node *node) {
  for (tbi_xml_node *element = node->first; element; element = element->next) {
    const tbi_format_row *row = tbi_format_find(&tbi_mjcf_format, element, NULL);
    element->used = element->used || !row || row->use == TBI_USED || row->use == TBI_APPROXIMATED;
    for (tbi_xml_attribute *a = element->attributes; a; a = a->next) {
      row = tbi_format_find(&tbi_mjcf_format, element, a->name);
      a->used = a->used || (row && (row->use == TBI_USED || row->use == TBI_APPROXIMATED));
    }
  }
}

static void add_class(tbi_mjcf *reader, const char *name, int32_t parent, tbi_xml_node *node) {
  if (!tbi_array_reserve((void **)&reader->classes, &reader->cap_class, reader->nclass, 1,
                         sizeof *reader->classes) ||
      !tbi_names_add(&reader->class_names, name, reader->nclass)) {
    tbi_fail_memory(&reader->error);
    return;
  }
  int32_t depth = parent == TABI_NONE ? 0 : reader->classes[parent].depth + 1;
  reader->classes[reader->nclass++] = (tbi_mjcf_class){name, parent, depth, node};
  if (node) mark_settings(node);
}

static void read_nested(tbi_mjcf *reader, tbi_xml_node *node, int32_t parent) {
  const char *name = tbi_xml_get(node, "class");
  if (!name || name[0] == '\0') {
    tbi_fail_at(&reader->error, TABI_ERR_MODEL, node->place, "nested default without 'class'");
    return;
  }
  int32_t before = tbi_names_find(&reader->class_names, name);
  if (before >= 0) {
    const tbi_xml_node *first = reader->classes[before].node;
    tbi_fail_at(&reader->error, TABI_ERR_MODEL, node->place,
                "default class '%.64s' defined twice (first at line %d)", name,
                first ? (int)first->place.line : 1);
    return;
  }
  add_class(reader, name, parent, node);
}

/* The list of classes is its own queue: what is nested in one comes behind it. */
static void read_queue(tbi_mjcf *reader) {
  for (int32_t c = 0; c < reader->nclass && tbi_ok(&reader->error); ++c) {
    tbi_xml_node *node = reader->classes[c].node;
    tbi_xml_node *child = node ? tbi_xml_child(node, "default") : NULL;
    for (; child && tbi_ok(&reader->error); child = tbi_xml_next(child)) {
      read_nested(reader, child, c);
    }
  }
}

/* Several outermost sections, from included files, are one class: move them into the first. */
static void merge_sections(tbi_xml_node *first) {
  tbi_xml_node *section = tbi_xml_next(first);
  for (; section; section = tbi_xml_next(section)) {
    (void)tbi_xml_get(section, "class");
    for (tbi_xml_node *child = section->first; child; child = child->next)
      child->parent = first;
    if (!section->first) continue;
    if (first->last) {
      first->last->next = section->first;
    } else {
      first->first = section->first;
    }
    first->last = section->last;
    section->first = section->last = NULL;
  }
}

void tbi_mjcf_read_defaults(tbi_mjcf *reader) {
  tbi_xml_node *node = tbi_xml_child(reader->root, "default");
  const char *name = node ? tbi_xml_get(node, "class") : NULL;
  if (node) merge_sections(node);
  add_class(reader, name ? name : "main", TABI_NONE, node);
  read_queue(reader);
}

/* mjcf_names.c - names and what refers to them, for copies of parts of a model.
 *
 * Each kind of thing has its own names: a body and a joint may share one.  A set of names holds
 * "joint/knee" for the joint 'knee'. */
#include "io/mjcf/mjcf_reader.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct reference {
  const char *attribute, *kind;
} reference;

/* NULL: told by the attribute objtype or reftype */
static const reference references[] = {
    {"joint",         "joint"   },
    {"joint1",        "joint"   },
    {"joint2",        "joint"   },
    {"jointinparent", "joint"   },
    {"body",          "body"    },
    {"body1",         "body"    },
    {"body2",         "body"    },
    {"subtree1",      "body"    },
    {"subtree2",      "body"    },
    {"target",        "body"    },
    {"geom",          "geom"    },
    {"geom1",         "geom"    },
    {"geom2",         "geom"    },
    {"site",          "site"    },
    {"site1",         "site"    },
    {"site2",         "site"    },
    {"sidesite",      "site"    },
    {"refsite",       "site"    },
    {"cranksite",     "site"    },
    {"slidersite",    "site"    },
    {"tendon",        "tendon"  },
    {"tendon1",       "tendon"  },
    {"tendon2",       "tendon"  },
    {"actuator",      "actuator"},
    {"camera",        "camera"  },
    {"objname",       NULL      },
    {"refname",       NULL      },
};

/* references that a copy of a whole model has beside those */
static const char *const assets[] = {"mesh",    "hfield", "material",
                                     "texture", "class",  "childclass"};

#define NREFERENCE ((int)(sizeof references / sizeof *references))
#define NASSET     ((int)(sizeof assets / sizeof *assets))

static const char *const sections[] = {"tendon", "contact", "equality", "actuator", "sensor", NULL};

static const char *kind_of(const reference *r, tbi_xml_node *node) {
  if (r->kind) return r->kind;
  const char *type =
      tbi_xml_get(node, strcmp(r->attribute, "objname") == 0 ? "objtype" : "reftype");
  if (!type) return "body";
  return strcmp(type, "xbody") == 0 ? "body" : type;
}

/* what kind of thing an element's own name is of */
static const char *own_kind(const tbi_xml_node *node) {
  const char *section = node->parent ? node->parent->name : "";
  if (strcmp(section, "actuator") == 0 || strcmp(section, "tendon") == 0) return section;
  return strcmp(node->name, "freejoint") == 0 ? "joint" : node->name;
}

static bool in_set(const tbi_names *set, const char *kind, const char *name) {
  char key[320];
  (void)snprintf(key, sizeof key, "%.40s/%.256s", kind, name);
  return tbi_names_find(set, key) >= 0;
}

static void add_to_set(tbi_mjcf *reader, tbi_names *set, const char *kind, const char *name) {
  char key[320];
  if (in_set(set, kind, name)) return;
  (void)snprintf(key, sizeof key, "%.40s/%.256s", kind, name);
  const char *kept = tbi_text_add(&reader->text, key);
  if (!kept || !tbi_names_add(set, kept, set->count)) tbi_fail_memory(&reader->error);
}

/* The names of all that is in an element. */
// NOLINTNEXTLINE(misc-no-recursion): as deep as the XML, TBI_XML_MAX_DEPTH
void tbi_mjcf_collect_names(tbi_mjcf *reader, tbi_xml_node *node, tbi_names *set) {
  for (tbi_xml_node *child = node->first; child && tbi_ok(&reader->error); child = child->next) {
    const char *name = tbi_xml_get(child, "name");
    if (name) add_to_set(reader, set, own_kind(child), name);
    tbi_mjcf_collect_names(reader, child, set);
  }
}

static void put_around(tbi_mjcf *reader, tbi_xml_node *node, const char *attribute,
                       const char *prefix, const char *suffix) {
  const char *value = tbi_xml_get(node, attribute);
  if (!value || value[0] == '\0') return;
  size_t room = strlen(prefix) + strlen(value) + strlen(suffix) + 1;
  char *text = malloc(room);
  if (!text) {
    tbi_fail_memory(&reader->error);
    return;
  }
  (void)snprintf(text, room, "%s%s%s", prefix, value, suffix);
  tbi_mjcf_set(reader, node, attribute, text);
  free(text);
}

static void rename_references(tbi_mjcf *reader, tbi_xml_node *node, const char *prefix,
                              const char *suffix) {
  for (int i = 0; i < NREFERENCE; ++i) {
    const char *name = tbi_xml_get(node, references[i].attribute);
    if (name && in_set(&reader->renamed, kind_of(&references[i], node), name)) {
      put_around(reader, node, references[i].attribute, prefix, suffix);
    }
  }
}

/* Gives the names within an element, and references to them, a prefix and a suffix.  Names that
 * count are those in reader->renamed. */
// NOLINTNEXTLINE(misc-no-recursion): as deep as the XML, TBI_XML_MAX_DEPTH
void tbi_mjcf_rename(tbi_mjcf *reader, tbi_xml_node *node, const char *prefix, const char *suffix) {
  for (tbi_xml_node *child = node->first; child && tbi_ok(&reader->error); child = child->next) {
    put_around(reader, child, "name", prefix, suffix);
    rename_references(reader, child, prefix, suffix);
    tbi_mjcf_rename(reader, child, prefix, suffix);
  }
}

// NOLINTNEXTLINE(misc-no-recursion): as deep as the XML, TBI_XML_MAX_DEPTH
void tbi_mjcf_rename_assets(tbi_mjcf *reader, tbi_xml_node *node, const char *prefix) {
  for (int i = 0; i < NASSET; ++i)
    put_around(reader, node, assets[i], prefix, "");
  for (tbi_xml_node *child = node->first; child && tbi_ok(&reader->error); child = child->next)
    tbi_mjcf_rename_assets(reader, child, prefix);
}

// NOLINTNEXTLINE(misc-no-recursion): as deep as the XML, TBI_XML_MAX_DEPTH
bool tbi_mjcf_refers(const tbi_names *set, tbi_xml_node *node, bool to_all) {
  int count[2] = {0, 0};
  for (int i = 0; i < NREFERENCE; ++i) {
    const char *name = tbi_xml_get(node, references[i].attribute);
    if (name) ++count[in_set(set, kind_of(&references[i], node), name)];
  }
  for (tbi_xml_node *child = node->first; child; child = child->next)
    ++count[tbi_mjcf_refers(set, child, to_all)];
  return count[1] > 0 && (!to_all || count[0] == 0);
}

/* Elements of other sections that refer to what is replicated are taken out of them, and named in
 * the set themselves, since a sensor may refer to an actuator. */
static void take_references(tbi_mjcf *reader, tbi_xml_node *section, tbi_xml_node *to) {
  tbi_xml_node *next = NULL;
  for (tbi_xml_node *child = section->first; child && tbi_ok(&reader->error); child = next) {
    next = child->next;
    if (!tbi_mjcf_refers(&reader->renamed, child, false)) continue;
    const char *name = tbi_xml_get(child, "name");
    if (name) add_to_set(reader, &reader->renamed, own_kind(child), name);
    tbi_mjcf_replace(section, child, NULL, NULL);
    child->next = NULL;
    tbi_xml_append(to, child);
  }
}

void tbi_mjcf_begin_references(tbi_mjcf *reader, tbi_xml_node *node) {
  tbi_mjcf_collect_names(reader, node, &reader->renamed);
  for (int i = 0; sections[i]; ++i) {
    reader->taken[i] = (tbi_xml_node){.name = sections[i]};
    tbi_xml_node *section = tbi_xml_child(reader->root, sections[i]);
    for (; section; section = tbi_xml_next(section)) {
      reader->taken[i].parent = section;
      take_references(reader, section, &reader->taken[i]);
    }
  }
}

void tbi_mjcf_copy_references(tbi_mjcf *reader, const char *suffix) {
  for (int i = 0; sections[i]; ++i) {
    tbi_xml_node *section = reader->taken[i].parent;
    for (tbi_xml_node *child = reader->taken[i].first; child; child = child->next) {
      tbi_xml_node *copy = tbi_mjcf_copy(reader, child);
      if (!copy) return;
      tbi_xml_node around = {.name = section->name, .first = copy};
      tbi_mjcf_rename(reader, &around, "", suffix);
      tbi_xml_append(section, copy);
    }
  }
}

void tbi_mjcf_end_references(tbi_mjcf *reader) {
  tbi_names_free(&reader->renamed);
  reader->renamed = (tbi_names){0};
}

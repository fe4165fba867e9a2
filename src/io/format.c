/* format.c - see format.h. */
#include "io/format.h"

#include "io/report.h"
#include "io/suggest.h"

#include <stdio.h>
#include <string.h>

#define MAX_KINDS 64 /* of ignored things that are told one by one */
#define WHY_SIZE  256

/* Whether the part of a row's name up to `end` is this element. */
static bool is_element(const char *part, const char *end, const tbi_xml_node *node) {
  size_t length = (size_t)(end - part);
  if (length == 1 && part[0] == '*') return true;
  return node && strncmp(node->name, part, length) == 0 && node->name[length] == '\0';
}

static bool row_fits(const char *name, const tbi_xml_node *node, const char *attribute) {
  const char *at = strchr(name, '@');
  if (!at != !attribute) return false;
  if (at && strcmp(at + 1, "*") != 0 && strcmp(at + 1, attribute) != 0) return false;
  const char *end = at ? at : name + strlen(name);
  const char *slash = strchr(name, '/');
  if (slash && !is_element(name, slash, node->parent)) return false;
  return is_element(slash ? slash + 1 : name, end, node);
}

const tbi_format_row *tbi_format_find(const tbi_format *format, const tbi_xml_node *node,
                                      const char *attribute) {
  for (size_t i = 0; format && i < format->nrow; ++i) {
    if (row_fits(format->rows[i].name, node, attribute)) return &format->rows[i];
  }
  return NULL;
}

void tbi_format_plain(const char *how, char *text, size_t size) {
  (void)snprintf(text, size, "%s", how);
  for (char *at = text; *at; ++at) {
    if (*at == '`') *at = '\'';
  }
}

typedef struct kind {
  const tbi_xml_node *node; /* the first; its attributes, or the element itself if NULL: */
  const char *attribute;
  const tbi_format_row *row; /* NULL: no table knows it */
  tabi_severity severity;
  int count;
} kind;

typedef struct kinds {
  kind item[MAX_KINDS];
  int count;
  kind others; /* all beyond MAX_KINDS */
} kinds;

/* What belongs to another program has a prefix: drake:diffuse. */
static bool is_foreign(const kind *k) {
  return strchr(k->attribute ? k->attribute : k->node->name, ':') != NULL;
}

static tabi_severity severity_of(const kind *k) {
  bool cosmetic = k->row ? k->row->use == TBI_COSMETIC : is_foreign(k);
  return cosmetic ? TABI_SEVERITY_NOTE : TABI_SEVERITY_WARNING;
}

static bool is_kind(const kind *k, const kind *other) {
  if (strcmp(k->node->name, other->node->name) != 0 || !k->attribute != !other->attribute)
    return false;
  if (k->attribute && strcmp(k->attribute, other->attribute) != 0) return false;
  return k->severity == other->severity;
}

static void count_kind(kinds *k, const kind *found) {
  kind *slot = NULL;
  for (int i = 0; i < k->count && !slot; ++i) {
    if (is_kind(&k->item[i], found)) slot = &k->item[i];
  }
  if (!slot) slot = k->count < MAX_KINDS ? &k->item[k->count++] : &k->others;
  int before = slot->count;
  if (before == 0) *slot = *found;
  // the others are as grave as the gravest of them
  if (found->severity == TABI_SEVERITY_WARNING) slot->severity = found->severity;
  slot->count = before + 1;
}

static void count_ignored(kinds *k, const tbi_format *format, const tbi_xml_node *node,
                          const char *attribute) {
  kind found = {.node = node, .attribute = attribute};
  found.row = tbi_format_find(format, node, attribute);
  found.severity = severity_of(&found);
  count_kind(k, &found);
}

/* The next element in reading order that is not below `node` unless inside is true. */
static tbi_xml_node *after(tbi_xml_node *node, const tbi_xml_node *root, bool inside) {
  if (inside && node->first) return node->first;
  while (node != root && !node->next)
    node = node->parent;
  return node == root ? NULL : node->next;
}

static void tell_text(const tabi_load_def *def, const kind *k, const char *text) {
  if (k->severity == TABI_SEVERITY_NOTE) {
    tbi_note(def, k->node->place, "%s", text);
  } else {
    tbi_warn(def, k->node->place, "%s", text);
  }
}

/* Whether an element of the same name stands before this one and was used instead. */
static bool repeats_a_used_one(const tbi_xml_node *node) {
  const tbi_xml_node *other = node->parent ? node->parent->first : NULL;
  for (; other && other != node; other = other->next) {
    if (other->used && strcmp(other->name, node->name) == 0) return true;
  }
  return false;
}

/* The element or attribute that a row speaks of, if it is one of what `k` is; else "". */
static void known_name(const tbi_format_row *row, const kind *k, char *name, size_t size) {
  const char *slash = strchr(row->name, '/');
  const char *element = slash ? slash + 1 : row->name;
  const char *at = strchr(element, '@');
  name[0] = '\0';
  if (!k->attribute) {
    int length = at ? (int)(at - element) : (int)strlen(element);
    (void)snprintf(name, size, "%.*s", length, element);
  } else if (at && is_element(element, at, k->node)) {
    (void)snprintf(name, size, "%s", at + 1);
  }
}

/* The name in the table that is nearest to one that no table knows. */
static void suggest(const tbi_format *format, const kind *k, char hint[TBI_HINT_SIZE]) {
  char nearest[64] = "";
  char name[64];
  tbi_suggestion found = tbi_suggest_begin(k->attribute ? k->attribute : k->node->name);
  for (size_t i = 0; i < format->nrow; ++i) {
    known_name(&format->rows[i], k, name, sizeof name);
    // the right name in the wrong place is no mistyped one
    if (strcmp(name, found.typed) == 0) return;
    tbi_suggest_add(&found, name);
    if (found.nearest != name) continue;
    memcpy(nearest, name, sizeof nearest);
    found.nearest = nearest;
  }
  (void)tbi_suggest_hint(&found, hint);
}

static const char *owner_of(const tbi_xml_node *node) {
  return node->parent ? node->parent->name : "the file";
}

/* Why something is not read, or what holds instead; "" if there is nothing to say. */
static void explain(const tbi_format *format, const kind *k, char why[WHY_SIZE]) {
  char hint[TBI_HINT_SIZE] = "";
  why[0] = '\0';
  if (k->row && k->row->how && k->row->use > TBI_APPROXIMATED) {
    tbi_format_plain(k->row->how, why, WHY_SIZE);
  } else if (!k->attribute && repeats_a_used_one(k->node)) {
    (void)snprintf(why, WHY_SIZE, "only the first in <%.64s> counts", owner_of(k->node));
  } else if (k->row) {
    bool used = k->row->use <= TBI_APPROXIMATED;
    (void)snprintf(why, WHY_SIZE, "%s", used ? "it is not used in this place" : "");
  } else if (format && !is_foreign(k)) {
    suggest(format, k, hint);
    if (k->attribute) {
      (void)snprintf(why, WHY_SIZE, "no such attribute in %.64s%s", format->name, hint);
    } else {
      (void)snprintf(why, WHY_SIZE, "no such element in <%.64s> of %.64s%s", owner_of(k->node),
                     format->name, hint);
    }
  }
}

static void tell_kind(const tabi_load_def *def, const tbi_format *format, const kind *k) {
  char times[32] = "";
  char why[WHY_SIZE];
  char text[WHY_SIZE + 240];
  explain(format, k, why);
  if (k->count > 1) (void)snprintf(times, sizeof times, " (%d times)", k->count);
  const char *colon = why[0] ? ": " : "";
  if (k->attribute) {
    (void)snprintf(text, sizeof text, "attribute '%.64s' of <%.64s> is ignored%s%s%s", k->attribute,
                   k->node->name, times, colon, why);
  } else {
    (void)snprintf(text, sizeof text, "<%.64s> is ignored%s%s%s", k->node->name, times, colon, why);
  }
  tell_text(def, k, text);
}

static void tell_kinds(const tabi_load_def *def, const tbi_format *format, const kinds *k) {
  for (int i = 0; i < k->count; ++i)
    tell_kind(def, format, &k->item[i]);
  if (k->others.count == 0) return;
  char text[96];
  (void)snprintf(text, sizeof text, "%d more elements and attributes of other kinds are ignored",
                 k->others.count);
  tell_text(def, &k->others, text);
}

void tbi_format_tell_ignored(const tbi_format *format, tbi_xml_node *root,
                             const tabi_load_def *def) {
  if (!def->warn) return;
  kinds k = {.count = 0};
  for (tbi_xml_node *node = root; node; node = after(node, root, node->used)) {
    if (!node->used) {
      count_ignored(&k, format, node, NULL);
      continue;
    }
    for (tbi_xml_attribute *a = node->attributes; a; a = a->next) {
      if (!a->used) count_ignored(&k, format, node, a->name);
    }
  }
  tell_kinds(def, format, &k);
}

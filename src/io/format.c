/* format.c - see format.h. */
#include "io/format.h"

#include "io/report.h"

#include <stdio.h>
#include <string.h>

#define MAX_KINDS 64 /* of ignored things that are told one by one */

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

typedef struct kind {
  const char *element, *attribute; /* attribute NULL: the element itself */
  tabi_place place;                /* of the first */
  tabi_severity severity;
  int count;
} kind;

typedef struct kinds {
  kind item[MAX_KINDS];
  int count;
  kind others; /* all beyond MAX_KINDS */
} kinds;

static tabi_severity severity_of(const tbi_format *format, const tbi_xml_node *node,
                                 const char *attribute) {
  const tbi_format_row *row = tbi_format_find(format, node, attribute);
  bool foreign = strchr(attribute ? attribute : node->name, ':');
  bool cosmetic = row ? row->use == TBI_COSMETIC : foreign;
  return cosmetic ? TABI_SEVERITY_NOTE : TABI_SEVERITY_WARNING;
}

static bool is_kind(const kind *k, const kind *other) {
  if (strcmp(k->element, other->element) != 0 || !k->attribute != !other->attribute) return false;
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
  const kind found = {node->name, attribute, node->place, severity_of(format, node, attribute), 0};
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
    tbi_note(def, k->place, "%s", text);
  } else {
    tbi_warn(def, k->place, "%s", text);
  }
}

static void tell_kind(const tabi_load_def *def, const kind *k) {
  char times[32] = "";
  char text[240];
  if (k->count > 1) (void)snprintf(times, sizeof times, " (%d times)", k->count);
  if (k->attribute) {
    (void)snprintf(text, sizeof text, "attribute '%.64s' of <%.64s> is ignored%s", k->attribute,
                   k->element, times);
  } else {
    (void)snprintf(text, sizeof text, "<%.64s> is ignored%s", k->element, times);
  }
  tell_text(def, k, text);
}

static void tell_kinds(const tabi_load_def *def, const kinds *k) {
  for (int i = 0; i < k->count; ++i)
    tell_kind(def, &k->item[i]);
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
  tell_kinds(def, &k);
}

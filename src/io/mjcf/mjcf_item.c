/* mjcf_item.c - attributes of an element, with its default classes behind it.
 *
 * MuJoCo copies the values of a class into a new element and then reads the element over them,
 * number by number: size="0.1" over a class's size="1 2 3" leaves 0.1 2 3.  We keep the texts and
 * lay them over each other when asked. */
#include "io/mjcf/mjcf_reader.h"
#include "io/repair.h"

#include "base/assertion.h"
#include "base/error.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_DEFAULTS 10 /* numbers in the longest list that a class may hold */

void tbi_mjcf_fail(const tbi_mjcf_item *item, const char *format, ...) {
  if (!tbi_ok(&item->reader->error)) return;
  tabi_error reason;
  va_list args;
  va_start(args, format);
  (void)tbi_error_vset(&reason, TABI_ERR_MODEL, item->node->place, format, args);
  va_end(args);
  tbi_fail_at(&item->reader->error, TABI_ERR_MODEL, item->node->place, "%s: %.383s", item->label,
              reason.message);
}

void tbi_mjcf_warn(tbi_mjcf *reader, tabi_place place, const char *format, ...) {
  if (!reader->def->warn) return;
  tabi_error warning;
  va_list args;
  va_start(args, format);
  (void)tbi_error_vset(&warning, TABI_OK, place, format, args);
  va_end(args);
  reader->def->warn(reader->def->warn_user, &warning);
}

/* The text of an attribute; one that is empty is not given. */
static const char *given(tbi_xml_node *node, const char *attribute) {
  const char *text = tbi_xml_get(node, attribute);
  return text && text[strspn(text, " ")] != '\0' ? text : NULL;
}

tbi_mjcf_item tbi_mjcf_item_of(tbi_mjcf *reader, tbi_xml_node *node, const char *kind,
                               int32_t inherited) {
  tbi_mjcf_item item = {.reader = reader, .node = node, .kind = kind, .default_class = inherited};
  item.name = given(node, "name");
  if (item.name && item.name[0] == '\0') item.name = NULL;
  if (item.name) {
    (void)snprintf(item.label, sizeof item.label, "%.24s '%.64s'", node->name, item.name);
  } else {
    (void)snprintf(item.label, sizeof item.label, "%.24s", node->name);
  }
  const char *wanted = kind ? given(node, "class") : NULL;
  if (!wanted) return item;
  item.default_class = tbi_names_find(&reader->class_names, wanted);
  if (item.default_class < 0) {
    item.default_class = 0;
    tbi_mjcf_fail(&item, "default class '%.64s' does not exist", wanted);
  }
  return item;
}

int32_t tbi_mjcf_class_at(const tbi_mjcf *reader, int32_t c, int32_t depth) {
  TBI_ASSERT(c >= 0 && c < reader->nclass && depth >= 0);
  while (reader->classes[c].depth > depth)
    c = reader->classes[c].parent;
  return c;
}

/* The last element of the kind within a class that has the attribute. */
static tbi_xml_node *class_setting(const tbi_mjcf_item *item, int32_t c, const char *attribute) {
  tbi_xml_node *node = item->reader->classes[c].node;
  tbi_xml_node *last = NULL;
  tbi_xml_node *setting = node ? tbi_xml_child(node, item->kind) : NULL;
  for (; setting; setting = tbi_xml_next(setting)) {
    if (given(setting, attribute)) last = setting;
  }
  return last;
}

const char *tbi_mjcf_text(const tbi_mjcf_item *item, const char *attribute, int32_t *distance) {
  int32_t away = 0;
  const char *text = given(item->node, attribute);
  if (!text && item->kind) {
    for (int32_t c = item->default_class; c >= 0 && !text; c = item->reader->classes[c].parent) {
      tbi_xml_node *setting = class_setting(item, c, attribute);
      if (setting) text = given(setting, attribute);
      ++away;
    }
  }
  if (distance) *distance = away;
  return text;
}

/* The list of one element; returns its length. */
static int32_t read_list(const tbi_mjcf_item *item, tbi_xml_node *node, const char *attribute,
                         const int32_t limits[2], double *values) {
  const char *text = given(node, attribute);
  tbi_mjcf *reader = item->reader;
  if (!text || !tbi_ok(&reader->error)) return 0;
  char what[128];
  (void)snprintf(what, sizeof what, "%s: %.24s", item->label, attribute);
  int32_t count = tbi_xml_numbers(&reader->error, text, node->place, what, values, limits[1]);
  if (count < limits[0]) {
    tbi_fail_at(&reader->error, TABI_ERR_MODEL, node->place, "%s needs %d number%s, got %d", what,
                (int)limits[0], limits[0] == 1 ? "" : "s", (int)count);
  }
  return count;
}

/* Outwards from the element: what is further out shows only beyond the end of what is before. */
int32_t tbi_mjcf_numbers(const tbi_mjcf_item *item, const char *attribute, int32_t min, int32_t max,
                         double *values) {
  const tbi_mjcf *reader = item->reader;
  const int32_t limits[2] = {min, max};
  int32_t filled = read_list(item, item->node, attribute, limits, values);
  int32_t c = item->kind ? item->default_class : TABI_NONE;
  for (; c >= 0 && tbi_ok(&reader->error); c = reader->classes[c].parent) {
    double behind[MAX_DEFAULTS] = {0};
    tbi_xml_node *setting = class_setting(item, c, attribute);
    if (!setting) continue;
    TBI_ASSERT(max <= MAX_DEFAULTS);
    int32_t count = read_list(item, setting, attribute, limits, behind);
    for (; filled < count; ++filled)
      values[filled] = behind[filled];
  }
  return filled;
}

bool tbi_mjcf_number(const tbi_mjcf_item *item, const char *attribute, double *value) {
  return tbi_mjcf_numbers(item, attribute, 1, 1, value) > 0;
}

void tbi_mjcf_read_linear(const tbi_mjcf_item *item, const char *attribute, double *value) {
  double terms[3] = {*value, 0, 0};
  (void)tbi_mjcf_numbers(item, attribute, 1, 3, terms);
  *value = terms[0];
  if (terms[1] == 0 && terms[2] == 0) return;
  tbi_warn(item->reader->def, item->node->place, "%s: %s is taken as linear", item->label,
           attribute);
}

int tbi_mjcf_word(const tbi_mjcf_item *item, const char *attribute, const char *const *words,
                  int otherwise) {
  const char *text = tbi_mjcf_text(item, attribute, NULL);
  if (!text) return otherwise;
  char known[200] = "";
  for (int i = 0; words[i]; ++i) {
    if (strcmp(text, words[i]) == 0) return i;
    size_t used = strlen(known);
    (void)snprintf(known + used, sizeof known - used, "%s%s", i > 0 ? ", " : "", words[i]);
  }
  tbi_mjcf_fail(item, "unknown %s '%.40s' (%s)", attribute, text, known);
  return otherwise;
}

int32_t tbi_mjcf_reference(const tbi_mjcf_item *item, const char *attribute, const tbi_names *names,
                           const char *kind, bool needed) {
  const char *text = tbi_mjcf_text(item, attribute, NULL);
  if (!text) {
    if (needed) tbi_mjcf_fail(item, "attribute '%s' is missing; name a %s", attribute, kind);
    return TABI_NONE;
  }
  int32_t index = tbi_names_find(names, text);
  if (index < 0) tbi_mjcf_fail(item, "%s '%.64s' does not exist", kind, text);
  return index < 0 ? TABI_NONE : index;
}

void tbi_mjcf_read_range(const tbi_mjcf_item *item, const char *range, const char *limited,
                         tbi_mjcf_limits *limits) {
  static const char *const words[] = {"false", "true", "auto", NULL};
  (void)tbi_mjcf_numbers(item, range, 2, 2, limits->range);
  limits->on = tbi_mjcf_word(item, limited, words, limits->on);
}

/* Lower above upper is swapped; of equal ones MuJoCo makes no limits. */
static bool mend_range(const tbi_mjcf_item *item, const char *range, double bounds[2]) {
  tbi_mjcf *reader = item->reader;
  tabi_place place = item->node->place;
  char owner[sizeof item->label + 40];
  // "joint 'knee'", but "general 'knee': ctrlrange"
  bool own = strcmp(range, "range") == 0;
  (void)snprintf(owner, sizeof owner, "%s%s%s", item->label, own ? "" : ": ", own ? "" : range);
  if (bounds[0] != bounds[1]) {
    return tbi_repair_limits(&reader->error, reader->def, place, owner, &bounds[0], &bounds[1]);
  }
  const tbi_repair repair = {.item = owner, .what = "not limited"};
  tbi_repaired(&reader->error, reader->def, place, repair, "lower %g must be less than upper %g",
               bounds[0], bounds[1]);
  return false;
}

void tbi_mjcf_settle_range(const tbi_mjcf_item *item, const char *range,
                           const tbi_mjcf_limits *limits, double bounds[2]) {
  tbi_mjcf *reader = item->reader;
  memcpy(bounds, limits->range, 2 * sizeof *bounds);
  bool given = bounds[0] != 0 || bounds[1] != 0;
  bool by_range = limits->on == TBI_MJCF_LIMITS_AUTO && given;
  bool on = limits->on == TBI_MJCF_LIMITS_ON || by_range;
  if (by_range && tbi_mjcf_compiler_of(reader, item->node)->limited_by_range == 0) {
    tbi_warn(reader->def, item->node->place,
             "%s: %s does not limit, since autolimits is false and it is not said to", item->label,
             range);
    on = false;
  }
  if (on && !(bounds[0] < bounds[1])) on = mend_range(item, range, bounds);
  if (on) return;
  bounds[0] = -(double)INFINITY;
  bounds[1] = (double)INFINITY;
}

int32_t tbi_mjcf_add_name(const tbi_mjcf_item *item, tbi_names *names, int32_t index) {
  if (!item->name) return TABI_NONE;
  int32_t before = tbi_names_find(names, item->name);
  if (before >= 0) return before;
  if (!tbi_names_add(names, item->name, index)) tbi_fail_memory(&item->reader->error);
  return TABI_NONE;
}

const char *tbi_mjcf_full_name(tbi_mjcf *reader, const char *name, const char *kind,
                               int32_t number) {
  const char *prefix = reader->def->prefix ? reader->def->prefix : "";
  size_t room = strlen(prefix) + (name ? strlen(name) : strlen(kind) + 12) + 1;
  char *full = malloc(room);
  const char *kept = NULL;
  if (full && name) (void)snprintf(full, room, "%s%s", prefix, name);
  if (full && !name) (void)snprintf(full, room, "%s%s%d", prefix, kind, (int)number);
  if (full) kept = tbi_text_add(&reader->text, full);
  free(full);
  if (!kept) tbi_fail_memory(&reader->error);
  return kept;
}

void tbi_mjcf_write_number(double value, char *number, size_t size) {
  int digits = 3;
  do {
    (void)snprintf(number, size, "%.*g", digits, value);
  } while (strtod(number, NULL) != value && ++digits <= 17);
  char *comma = strchr(number, ',');
  if (comma) *comma = '.';
}

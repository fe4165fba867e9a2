/* fields.c - reads a map by its table: every key looks itself up. */
#include "io/fields.h"

#include "base/assertion.h"
#include "base/error.h"
#include "io/number.h"
#include "io/suggest.h"
#include "math/quat.h"

#include <limits.h>
#include <math.h>
#include <string.h>

/* What is being read, for messages. */
typedef struct context {
  tbi_first_error *error;
  const char *what, *key;
} context;

static const char *kind_name(tbi_yaml_kind kind) {
  static const char *const names[] = {[TBI_YAML_SCALAR] = "a single value",
                                      [TBI_YAML_LIST] = "a list [..]",
                                      [TBI_YAML_MAP] = "a map {key: value}"};
  return names[kind];
}

static bool need_kind(const context *c, const tbi_yaml_node *node, tbi_yaml_kind kind) {
  if (node->kind == kind) return tbi_ok(c->error);
  return tbi_fail_at(c->error, TABI_ERR_PARSE, node->place, "%s%s must be %s", c->what, c->key,
                     kind_name(kind));
}

/* YAML spells what is not finite with a point before it. */
static bool parse_number(const char *text, double *value) {
  const char *digits = text[0] == '-' || text[0] == '+' ? text + 1 : text;
  if (strcmp(digits, ".nan") == 0 || strcmp(digits, ".inf") == 0) {
    *value = NAN;
    return true;
  }
  return tbi_number_read(text, strlen(text), value);
}

static bool any_number(const context *c, const tbi_yaml_node *node, double *value) {
  if (!need_kind(c, node, TBI_YAML_SCALAR)) return false;
  if (parse_number(node->text, value)) return true;
  const char *hint = strchr(node->text, ',') ? " (use a point)" : "";
  return tbi_fail_at(c->error, TABI_ERR_PARSE, node->place, "%s%s '%.40s' is not a number%s",
                     c->what, c->key, node->text, hint);
}

static bool finite_number(const context *c, const tbi_yaml_node *node, double *value) {
  if (!any_number(c, node, value)) return false;
  if (isfinite(*value)) return true;
  return tbi_fail_at(c->error, TABI_ERR_PARSE, node->place, "%s%s '%.40s' is not a finite number",
                     c->what, c->key, node->text);
}

static bool ranged_number(const context *c, const tbi_yaml_node *node, tbi_field_kind kind,
                          double *value) {
  if (!finite_number(c, node, value)) return false;
  const char *range = NULL;
  if (kind == TBI_FIELD_POSITIVE && !(*value > 0)) range = "> 0";
  if (kind == TBI_FIELD_NOT_NEGATIVE && !(*value >= 0)) range = ">= 0";
  if (kind == TBI_FIELD_SHARE && !(*value >= 0 && *value <= 1)) range = "in [0, 1]";
  if (!range) return true;
  return tbi_fail_at(c->error, TABI_ERR_PARSE, node->place, "%s%s %s must be %s", c->what, c->key,
                     node->text, range);
}

static bool numbers(const context *c, const tbi_yaml_node *node, double *values, int32_t count) {
  if (!need_kind(c, node, TBI_YAML_LIST)) return false;
  if (node->count != count) {
    return tbi_fail_at(c->error, TABI_ERR_PARSE, node->place, "%s%s needs %d numbers, got %d",
                       c->what, c->key, count, node->count);
  }
  for (const tbi_yaml_node *item = node->first; item; item = item->next)
    (void)finite_number(c, item, values++);
  return tbi_ok(c->error);
}

static bool whole_number(const context *c, const tbi_yaml_node *node, int32_t *value) {
  double number = 0;
  if (!finite_number(c, node, &number)) return false;
  if (number < 0 || number > INT32_MAX || number != floor(number)) {
    return tbi_fail_at(c->error, TABI_ERR_PARSE, node->place, "%s%s %s must be a whole number >= 0",
                       c->what, c->key, node->text);
  }
  *value = (int32_t)number;
  return true;
}

static bool truth(const context *c, const tbi_yaml_node *node, bool *value) {
  if (!need_kind(c, node, TBI_YAML_SCALAR)) return false;
  *value = strcmp(node->text, "true") == 0 || strcmp(node->text, "on") == 0;
  if (*value || strcmp(node->text, "false") == 0 || strcmp(node->text, "off") == 0) return true;
  return tbi_fail_at(c->error, TABI_ERR_PARSE, node->place,
                     "%s%s must be true or false, not '%.40s'", c->what, c->key, node->text);
}

static bool word(const context *c, const tbi_yaml_node *node, const char **value) {
  if (!need_kind(c, node, TBI_YAML_SCALAR)) return false;
  *value = node->text;
  if (node->text[0] != '\0') return true;
  return tbi_fail_at(c->error, TABI_ERR_PARSE, node->place, "%s%s is empty", c->what, c->key);
}

static bool read_field(const context *c, const tbi_yaml_node *node, const tbi_field *field,
                       void *to) {
  void *at = (char *)to + field->offset;
  switch (field->kind) {
  case TBI_FIELD_ANY_NUMBER:
    return any_number(c, node, at);
  case TBI_FIELD_NUMBER:
  case TBI_FIELD_POSITIVE:
  case TBI_FIELD_NOT_NEGATIVE:
  case TBI_FIELD_SHARE:
    return ranged_number(c, node, field->kind, at);
  case TBI_FIELD_VECTOR:
    return numbers(c, node, at, 3);
  case TBI_FIELD_COUNT:
    return whole_number(c, node, at);
  case TBI_FIELD_BOOL:
    return truth(c, node, at);
  case TBI_FIELD_WORD:
    return word(c, node, at);
  case TBI_FIELD_MAP:
  case TBI_FIELD_LIST:
  case TBI_FIELD_NODE:
    break;
  }
  *(const tbi_yaml_node **)at = node;
  if (field->kind == TBI_FIELD_MAP) return need_kind(c, node, TBI_YAML_MAP);
  return field->kind == TBI_FIELD_LIST ? need_kind(c, node, TBI_YAML_LIST) : true;
}

static const tbi_field *find_field(const char *key, const tbi_field *fields, size_t count) {
  for (size_t i = 0; i < count; ++i) {
    if (strcmp(fields[i].key, key) == 0) return &fields[i];
  }
  return NULL;
}

/* "a, b, c", as many as there is room for. */
static void list_keys(const tbi_field *fields, size_t count, char *list, size_t size) {
  size_t used = 0;
  list[0] = '\0';
  for (size_t i = 0; i < count && used + strlen(fields[i].key) + 3 < size; ++i) {
    if (i > 0) list[used++] = ',', list[used++] = ' ';
    size_t length = strlen(fields[i].key);
    memcpy(list + used, fields[i].key, length + 1);
    used += length;
  }
}

static bool fail_unknown(tbi_first_error *error, const tbi_yaml_node *node, const char *what,
                         const tbi_field *fields, size_t count) {
  tbi_suggestion nearest = tbi_suggest_begin(node->key);
  for (size_t i = 0; i < count; ++i)
    tbi_suggest_add(&nearest, fields[i].key);
  char hint[TBI_HINT_SIZE];
  if (nearest.nearest) {
    return tbi_fail_at(error, TABI_ERR_PARSE, node->place, "%sunknown key '%.60s'%s", what,
                       node->key, tbi_suggest_hint(&nearest, hint));
  }
  char list[256];
  list_keys(fields, count, list, sizeof list);
  return tbi_fail_at(error, TABI_ERR_PARSE, node->place, "%sunknown key '%.60s' (%s)", what,
                     node->key, list);
}

bool tbi_fields_read(tbi_first_error *error, const tbi_yaml_node *map, const char *what,
                     const tbi_field *fields, size_t count, void *to) {
  if (map->kind != TBI_YAML_MAP) {
    return tbi_fail_at(error, TABI_ERR_PARSE, map->place, "%sexpected a map {key: value}", what);
  }
  for (const tbi_yaml_node *node = map->first; node && tbi_ok(error); node = node->next) {
    TBI_ASSERT(node->key);
    const tbi_field *field = find_field(node->key, fields, count);
    if (!field) return fail_unknown(error, node, what, fields, count);
    context c = {error, what, node->key};
    (void)read_field(&c, node, field, to);
  }
  return tbi_ok(error);
}

static void rename_key(tbi_first_error *error, const tbi_yaml_node *map, const char *what,
                       const tbi_renamed_key *key, tabi_warning_fn *warn, void *warn_user) {
  tbi_yaml_node *node = tbi_yaml_child(map, key->old);
  if (!node) return;
  tbi_yaml_node *now = tbi_yaml_child(map, key->now);
  if (now && now->place.file == node->place.file) {
    tbi_fail_at(error, TABI_ERR_PARSE, node->place,
                "%s'%s' is the old name of '%s', which is given too; leave one out", what, key->old,
                key->now);
    return;
  }
  tbi_tell(warn, warn_user, TABI_SEVERITY_WARNING, node->place,
           "%s'%s' is now called '%s'; the old name is understood until 1.0", what, key->old,
           key->now);
  if (now) tbi_yaml_remove(now);
  node->key = key->now;
}

bool tbi_fields_rename(tbi_first_error *error, const tbi_yaml_node *map, const char *what,
                       const tbi_renamed_key *keys, size_t count, tabi_warning_fn *warn,
                       void *warn_user) {
  for (size_t i = 0; i < count && tbi_ok(error); ++i)
    rename_key(error, map, what, &keys[i], warn, warn_user);
  return tbi_ok(error);
}

bool tbi_fields_one(tbi_first_error *error, const tbi_yaml_node *node, const char *what,
                    const tbi_field *field, void *to) {
  context c = {error, what, field->key};
  return tbi_ok(error) && read_field(&c, node, field, to);
}

bool tbi_fields_numbers(tbi_first_error *error, const tbi_yaml_node *node, const char *what,
                        const char *key, double *values, int32_t count) {
  TBI_ASSERT(count >= 0 && (count == 0 || values));
  context c = {error, what, key};
  return numbers(&c, node, values, count);
}

bool tbi_fields_number(tbi_first_error *error, const tbi_yaml_node *node, const char *what,
                       const char *key, double *value) {
  context c = {error, what, key};
  return finite_number(&c, node, value);
}

/* Roll, pitch, yaw about fixed axes: about x first, then y, then z. */
static void from_rpy(const double rpy[3], double quat[4]) {
  q4 x = q_exp(v3_make(rpy[0], 0, 0));
  q4 y = q_exp(v3_make(0, rpy[1], 0));
  q4 z = q_exp(v3_make(0, 0, rpy[2]));
  q_store(q_normalize(q_mul(z, q_mul(y, x))), quat);
}

static bool read_quat(tbi_first_error *error, const tbi_yaml_node *quat, const char *what,
                      double rotation[4]) {
  if (!tbi_fields_numbers(error, quat, what, quat->key, rotation, 4)) return false;
  double length = q_norm(q_load(rotation));
  if (!(fabs(length - 1) <= 0.02)) {
    return tbi_fail_at(error, TABI_ERR_PARSE, quat->place,
                       "%s%s has length %.3g; give a unit quaternion (w, x, y, z)", what, quat->key,
                       length);
  }
  q_store(q_scale(1 / length, q_load(rotation)), rotation);
  return true;
}

bool tbi_fields_rotation(tbi_first_error *error, const tbi_yaml_node *rpy,
                         const tbi_yaml_node *quat, const char *what, double rotation[4]) {
  q_store(q_identity(), rotation);
  if (rpy && quat) {
    return tbi_fail_at(error, TABI_ERR_PARSE, quat->place, "%sgive %s or %s, not both", what,
                       rpy->key, quat->key);
  }
  if (quat) return read_quat(error, quat, what, rotation);
  if (!rpy) return tbi_ok(error);
  double angles[3] = {0, 0, 0};
  if (!tbi_fields_numbers(error, rpy, what, rpy->key, angles, 3)) return false;
  from_rpy(angles, rotation);
  return true;
}

/* fields.c - reads a map by its table: every key looks itself up. */
#include "io/fields.h"

#include "base/error.h"
#include "io/number.h"
#include "io/suggest.h"
#include "math/quat.h"

#include <limits.h>
#include <math.h>
#include <string.h>

/* What is being read, for messages. */
typedef struct context {
  const char *what, *key;
  tabi_error *err;
} context;

static const char *kind_name(tbi_yaml_kind kind) {
  static const char *const names[] = {[TBI_YAML_SCALAR] = "a single value",
                                      [TBI_YAML_LIST] = "a list [..]",
                                      [TBI_YAML_MAP] = "a map {key: value}"};
  return names[kind];
}

static tabi_status need_kind(const context *c, const tbi_yaml_node *node, tbi_yaml_kind kind) {
  if (node->kind == kind) return TABI_OK;
  return tbi_error_set(c->err, TABI_ERR_PARSE, node->place, "%s%s must be %s", c->what, c->key,
                       kind_name(kind));
}

/* YAML spells what is not finite with a point before it. */
static bool read_number(const char *text, double *value) {
  const char *digits = text[0] == '-' || text[0] == '+' ? text + 1 : text;
  if (strcmp(digits, ".nan") == 0 || strcmp(digits, ".inf") == 0) {
    *value = NAN;
    return true;
  }
  return tbi_number_read(text, strlen(text), value);
}

static tabi_status any_number(const context *c, const tbi_yaml_node *node, double *value) {
  tabi_status status = need_kind(c, node, TBI_YAML_SCALAR);
  if (status != TABI_OK) return status;
  if (read_number(node->text, value)) return TABI_OK;
  const char *hint = strchr(node->text, ',') ? " (use a point)" : "";
  return tbi_error_set(c->err, TABI_ERR_PARSE, node->place, "%s%s '%.40s' is not a number%s",
                       c->what, c->key, node->text, hint);
}

static tabi_status finite_number(const context *c, const tbi_yaml_node *node, double *value) {
  tabi_status status = any_number(c, node, value);
  if (status != TABI_OK || isfinite(*value)) return status;
  return tbi_error_set(c->err, TABI_ERR_PARSE, node->place, "%s%s '%.40s' is not a finite number",
                       c->what, c->key, node->text);
}

static tabi_status ranged_number(const context *c, const tbi_yaml_node *node, tbi_field_kind kind,
                                 double *value) {
  tabi_status status = finite_number(c, node, value);
  if (status != TABI_OK) return status;
  const char *range = NULL;
  if (kind == TBI_FIELD_POSITIVE && !(*value > 0)) range = "> 0";
  if (kind == TBI_FIELD_NOT_NEGATIVE && !(*value >= 0)) range = ">= 0";
  if (kind == TBI_FIELD_SHARE && !(*value >= 0 && *value <= 1)) range = "in [0, 1]";
  if (!range) return TABI_OK;
  return tbi_error_set(c->err, TABI_ERR_PARSE, node->place, "%s%s %s must be %s", c->what, c->key,
                       node->text, range);
}

static tabi_status numbers(const context *c, const tbi_yaml_node *node, double *values,
                           int32_t count) {
  tabi_status status = need_kind(c, node, TBI_YAML_LIST);
  if (status != TABI_OK) return status;
  if (node->count != count) {
    return tbi_error_set(c->err, TABI_ERR_PARSE, node->place, "%s%s needs %d numbers, got %d",
                         c->what, c->key, count, node->count);
  }
  for (const tbi_yaml_node *item = node->first; item && status == TABI_OK; item = item->next)
    status = finite_number(c, item, values++);
  return status;
}

static tabi_status whole_number(const context *c, const tbi_yaml_node *node, int32_t *value) {
  double number = 0;
  tabi_status status = finite_number(c, node, &number);
  if (status != TABI_OK) return status;
  if (number < 0 || number > INT32_MAX || number != floor(number)) {
    return tbi_error_set(c->err, TABI_ERR_PARSE, node->place, "%s%s %s must be a whole number >= 0",
                         c->what, c->key, node->text);
  }
  *value = (int32_t)number;
  return TABI_OK;
}

static tabi_status truth(const context *c, const tbi_yaml_node *node, bool *value) {
  tabi_status status = need_kind(c, node, TBI_YAML_SCALAR);
  if (status != TABI_OK) return status;
  *value = strcmp(node->text, "true") == 0 || strcmp(node->text, "on") == 0;
  if (*value || strcmp(node->text, "false") == 0 || strcmp(node->text, "off") == 0) return TABI_OK;
  return tbi_error_set(c->err, TABI_ERR_PARSE, node->place,
                       "%s%s must be true or false, not '%.40s'", c->what, c->key, node->text);
}

static tabi_status word(const context *c, const tbi_yaml_node *node, const char **value) {
  tabi_status status = need_kind(c, node, TBI_YAML_SCALAR);
  *value = node->text;
  if (status != TABI_OK || node->text[0] != '\0') return status;
  return tbi_error_set(c->err, TABI_ERR_PARSE, node->place, "%s%s is empty", c->what, c->key);
}

static tabi_status read_field(const context *c, const tbi_yaml_node *node, const tbi_field *field,
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
  return field->kind == TBI_FIELD_LIST ? need_kind(c, node, TBI_YAML_LIST) : TABI_OK;
}

static const tbi_field *find_field(const char *key, const tbi_field *fields, size_t count) {
  for (size_t i = 0; i < count; ++i) {
    if (strcmp(fields[i].key, key) == 0) return &fields[i];
  }
  return NULL;
}

static tabi_status fail_unknown(const tbi_yaml_node *node, const char *what,
                                const tbi_field *fields, size_t count, tabi_error *err) {
  tbi_suggestion nearest = tbi_suggest_begin(node->key);
  for (size_t i = 0; i < count; ++i)
    tbi_suggest_add(&nearest, fields[i].key);
  char hint[TBI_HINT_SIZE];
  if (nearest.nearest) {
    return tbi_error_set(err, TABI_ERR_PARSE, node->place, "%sunknown key '%.60s'%s", what,
                         node->key, tbi_suggest_hint(&nearest, hint));
  }
  // nothing is near, so all that is known is listed
  char list[256] = "";
  size_t used = 0;
  for (size_t i = 0; i < count && used + strlen(fields[i].key) + 3 < sizeof list; ++i) {
    if (i > 0) list[used++] = ',', list[used++] = ' ';
    size_t length = strlen(fields[i].key);
    memcpy(list + used, fields[i].key, length + 1);
    used += length;
  }
  return tbi_error_set(err, TABI_ERR_PARSE, node->place, "%sunknown key '%.60s' (%s)", what,
                       node->key, list);
}

tabi_status tbi_fields_read(const tbi_yaml_node *map, const char *what, const tbi_field *fields,
                            size_t count, void *to, tabi_error *err) {
  if (map->kind != TBI_YAML_MAP) {
    return tbi_error_set(err, TABI_ERR_PARSE, map->place, "%sexpected a map {key: value}", what);
  }
  tabi_status status = TABI_OK;
  for (const tbi_yaml_node *node = map->first; node && status == TABI_OK; node = node->next) {
    const tbi_field *field = find_field(node->key, fields, count);
    if (!field) return fail_unknown(node, what, fields, count, err);
    context c = {what, node->key, err};
    status = read_field(&c, node, field, to);
  }
  return status;
}

static tabi_status rename_key(const tbi_yaml_node *map, const char *what,
                              const tbi_renamed_key *key, tabi_error *warning, tabi_error *err) {
  tbi_yaml_node *node = tbi_yaml_child(map, key->old);
  if (!node) return TABI_OK;
  if (tbi_yaml_child(map, key->now)) {
    return tbi_error_set(err, TABI_ERR_PARSE, node->place,
                         "%s'%s' is the old name of '%s', which is given too; leave one out", what,
                         key->old, key->now);
  }
  (void)tbi_error_set(warning, TABI_OK, node->place,
                      "%s'%s' is now called '%s'; the old name is understood until 1.0", what,
                      key->old, key->now);
  node->key = key->now;
  return TABI_OK;
}

tabi_status tbi_fields_rename(const tbi_yaml_node *map, const char *what,
                              const tbi_renamed_key *keys, size_t count, tabi_warning_fn *warn,
                              void *warn_user, tabi_error *err) {
  tabi_status status = TABI_OK;
  for (size_t i = 0; i < count && status == TABI_OK; ++i) {
    tabi_error warning = {0};
    status = rename_key(map, what, &keys[i], &warning, err);
    if (status == TABI_OK && warning.message[0] != '\0' && warn) warn(warn_user, &warning);
  }
  return status;
}

tabi_status tbi_fields_one(const tbi_yaml_node *node, const char *what, const tbi_field *field,
                           void *to, tabi_error *err) {
  context c = {what, field->key, err};
  return read_field(&c, node, field, to);
}

tabi_status tbi_fields_numbers(const tbi_yaml_node *node, const char *what, const char *key,
                               double *values, int32_t count, tabi_error *err) {
  context c = {what, key, err};
  return numbers(&c, node, values, count);
}

tabi_status tbi_fields_number(const tbi_yaml_node *node, const char *what, const char *key,
                              double *value, tabi_error *err) {
  context c = {what, key, err};
  return finite_number(&c, node, value);
}

tabi_status tbi_fields_need_kind(const tbi_yaml_node *node, const char *what, const char *key,
                                 tbi_yaml_kind kind, tabi_error *err) {
  context c = {what, key, err};
  return need_kind(&c, node, kind);
}

/* Roll, pitch, yaw about fixed axes: about x first, then y, then z. */
static void from_rpy(const double rpy[3], double quat[4]) {
  q4 x = q_exp(v3_make(rpy[0], 0, 0));
  q4 y = q_exp(v3_make(0, rpy[1], 0));
  q4 z = q_exp(v3_make(0, 0, rpy[2]));
  q_store(q_normalize(q_mul(z, q_mul(y, x))), quat);
}

tabi_status tbi_fields_rotation(const tbi_yaml_node *rpy, const tbi_yaml_node *quat,
                                const char *what, double rotation[4], tabi_error *err) {
  q_store(q_identity(), rotation);
  if (rpy && quat) {
    return tbi_error_set(err, TABI_ERR_PARSE, quat->place, "%sgive %s or %s, not both", what,
                         rpy->key, quat->key);
  }
  if (rpy) {
    double angles[3] = {0, 0, 0};
    tabi_status status = tbi_fields_numbers(rpy, what, rpy->key, angles, 3, err);
    if (status == TABI_OK) from_rpy(angles, rotation);
    return status;
  }
  if (!quat) return TABI_OK;
  tabi_status status = tbi_fields_numbers(quat, what, quat->key, rotation, 4, err);
  if (status != TABI_OK) return status;
  double length = q_norm(q_load(rotation));
  if (!(fabs(length - 1) <= 0.02)) {
    return tbi_error_set(err, TABI_ERR_PARSE, quat->place,
                         "%s%s has length %.3g; give a unit quaternion (w, x, y, z)", what,
                         quat->key, length);
  }
  q_store(q_scale(1 / length, q_load(rotation)), rotation);
  return TABI_OK;
}

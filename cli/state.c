/* state.c - from the JSON of a state to q, v and tau.
 *
 * The file is checked strictly: a key or a joint that is not known is an error with a suggestion,
 * since a state that is silently zero in one joint is worse than none.  jansson does not keep
 * lines, so the line of a key is looked up in the text when a message needs it. */
#include "state.h"

#include "common/input.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_BYTES = 64 << 20 };

static bool read_stream(FILE *file, const char *path, char **text, size_t *size, tabi_error *err) {
  size_t capacity = 0;
  *size = 0;
  for (;;) {
    if (*size == capacity) {
      capacity = capacity ? 2 * capacity : 4096;
      char *larger = realloc(*text, capacity + 1);
      if (!larger) {
        tbi_fail(err, TABI_ERR_MEMORY, (tabi_place){NULL, 0}, "out of memory");
        return false;
      }
      *text = larger;
    }
    size_t got = fread(*text + *size, 1, capacity - *size, file);
    *size += got;
    if (got == 0) break;
    if (*size > MAX_BYTES) {
      tbi_fail(err, TABI_ERR_FILE, (tabi_place){path, 1},
               "state is larger than the limit of 64 MB");
      return false;
    }
  }
  (*text)[*size] = '\0';
  if (!ferror(file)) return true;
  tbi_fail(err, TABI_ERR_FILE, (tabi_place){path, 1}, "cannot read: %s", strerror(errno));
  return false;
}

static bool read_text(tbi_state *state, const char *path, size_t *size, tabi_error *err) {
  if (strcmp(path, "-") == 0) return read_stream(stdin, state->path, &state->text, size, err);
  FILE *file = tbi_input_open(path, err);
  if (!file) return false;
  bool ok = read_stream(file, path, &state->text, size, err);
  (void)fclose(file);
  return ok;
}

/* A step through well-formed JSON text: brackets, keys and lines. */
typedef struct cursor {
  const char *at;
  int32_t line, depth;
} cursor;

/* Moves over the string that starts at the cursor; its end, and whether it is a key. */
static bool skip_string(cursor *c, const char **end) {
  const char *p = c->at + 1;
  while (*p != '"' && *p != '\0')
    p += *p == '\\' && p[1] != '\0' ? 2 : 1;
  *end = p;
  if (*p == '"') ++p;
  c->at = p;
  while (*p == ' ' || *p == '\t' || *p == '\r' || *p == '\n')
    ++p;
  return *p == ':';
}

static bool is_word(const char *start, const char *end, const char *word) {
  size_t length = (size_t)(end - start);
  return strlen(word) == length && memcmp(start, word, length) == 0;
}

/* The line of a member of the root object, or of a key inside that member; 1 when not found (a
 * key written with escapes). */
static int32_t line_of(const char *text, const char *member, const char *key) {
  cursor c = {text, 1, 0};
  int32_t member_line = 1;
  bool inside = false;
  while (*c.at) {
    if (*c.at == '"') {
      const char *start = c.at + 1;
      const char *end;
      if (!skip_string(&c, &end)) continue;
      if (c.depth == 1) inside = is_word(start, end, member);
      if (c.depth == 1 && inside) member_line = c.line;
      if (c.depth == 1 && inside && !key) return c.line;
      if (c.depth == 2 && inside && key && is_word(start, end, key)) return c.line;
      continue;
    }
    if (*c.at == '\n') ++c.line;
    if (*c.at == '{' || *c.at == '[') ++c.depth;
    if (*c.at == '}' || *c.at == ']') --c.depth;
    ++c.at;
  }
  return member_line;
}

static tabi_place place_of(const tbi_state *state, const char *member, const char *key) {
  return (tabi_place){state->path, line_of(state->text, member, key)};
}

/* "; did you mean 'x'?" or nothing, in the buffer. */
static const char *suggestion(const char *name, const char *const *names, size_t count,
                              char *buffer, size_t size) {
  const char *nearest = tabi_nearest_name(name, names, count);
  buffer[0] = '\0';
  if (nearest) (void)snprintf(buffer, size, "; did you mean '%s'?", nearest);
  return buffer;
}

/* Every key of the member (NULL: of the root) is one of the names. */
static bool check_keys(const tbi_state *state, const char *member, const char *const *names,
                       size_t count, tabi_error *err) {
  json_t *object = member ? json_object_get(state->root, member) : state->root;
  for (void *i = json_object_iter(object); i; i = json_object_iter_next(object, i)) {
    const char *key = json_object_iter_key(i);
    bool known = false;
    for (size_t k = 0; k < count; ++k)
      known = known || strcmp(key, names[k]) == 0;
    if (known) continue;
    tabi_place place = member ? place_of(state, member, key) : place_of(state, key, NULL);
    char hint[128];
    tbi_fail(err, TABI_ERR_PARSE, place, "unknown key '%s'%s%s%s%s", key, member ? " in '" : "",
             member ? member : "", member ? "'" : "",
             suggestion(key, names, count, hint, sizeof hint));
    return false;
  }
  return true;
}

static bool check_object(const tbi_state *state, const char *member, tabi_error *err) {
  json_t *value = json_object_get(state->root, member);
  if (!value || json_is_object(value)) return true;
  tbi_fail(err, TABI_ERR_PARSE, place_of(state, member, NULL), "'%s' must be an object {...}",
           member);
  return false;
}

/* A number, or an array of `count` numbers when count is not 1. */
static bool read_numbers(const tbi_state *state, const char *member, const char *key, int32_t count,
                         double *to, tabi_error *err) {
  json_t *value = json_object_get(json_object_get(state->root, member), key);
  if (count == 1) {
    to[0] = json_number_value(value);
    if (json_is_number(value)) return true;
    tbi_fail(err, TABI_ERR_PARSE, place_of(state, member, key), "%s '%s' must be a number", member,
             key);
    return false;
  }
  bool ok = json_is_array(value) && json_array_size(value) == (size_t)count;
  for (int32_t i = 0; ok && i < count; ++i) {
    json_t *item = json_array_get(value, (size_t)i);
    ok = json_is_number(item);
    to[i] = json_number_value(item);
  }
  if (ok) return true;
  tbi_fail(err, TABI_ERR_PARSE, place_of(state, member, key),
           "%s '%s' must be an array of %d numbers", member, key, count);
  return false;
}

/* Rounded quaternions are made unit; others are a mistake. */
static bool normalise(const tbi_state *state, const char *member, const char *key, double *quat,
                      tabi_error *err) {
  double length = hypot(hypot(quat[0], quat[1]), hypot(quat[2], quat[3]));
  if (length == 0 || fabs(length - 1) > 0.02) {
    char is[48] = "zero length";
    if (length != 0) (void)snprintf(is, sizeof is, "length %g", length);
    tbi_fail(err, TABI_ERR_PARSE, place_of(state, member, key),
             "%s '%s': quaternion has %s; give a unit quaternion (w, x, y, z)", member, key, is);
    return false;
  }
  for (int i = 0; i < 4; ++i)
    quat[i] /= length;
  return true;
}

static bool read_base(tbi_state *state, tabi_error *err) {
  static const char *const names[] = {"pos", "quat", "lin", "ang"};
  double *const to[] = {state->pos, state->quat, state->lin, state->ang};
  if (!check_keys(state, "base", names, 4, err)) return false;
  json_t *base = json_object_get(state->root, "base");
  for (int i = 0; i < 4; ++i) {
    if (!json_object_get(base, names[i])) continue;
    if (!read_numbers(state, "base", names[i], i == 1 ? 4 : 3, to[i], err)) return false;
  }
  state->has_pos = json_object_get(base, "pos") != NULL;
  state->has_quat = json_object_get(base, "quat") != NULL;
  return !state->has_quat || normalise(state, "base", "quat", state->quat, err);
}

static bool parse_text(tbi_state *state, size_t size, tabi_error *err) {
  json_error_t json;
  if (strspn(state->text, " \t\r\n") == size) {
    tbi_fail(err, TABI_ERR_PARSE, (tabi_place){state->path, 1}, "state is empty; give at least {}");
    return false;
  }
  state->root = json_loadb(state->text, size, JSON_REJECT_DUPLICATES, &json);
  if (!state->root) {
    tbi_fail(err, TABI_ERR_PARSE, (tabi_place){state->path, json.line}, "not well-formed JSON: %s",
             json.text);
    return false;
  }
  if (json_is_object(state->root)) return true;
  tbi_fail(err, TABI_ERR_PARSE, (tabi_place){state->path, 1}, "state must be an object {...}");
  return false;
}

bool tbi_state_read(tbi_state *state, const char *path, tabi_error *err) {
  *state = (tbi_state){
      .quat = {1, 0, 0, 0}
  };
  if (!path) return true;
  state->path = strcmp(path, "-") == 0 ? "<stdin>" : path;
  static const char *const names[] = {"base", "q", "v", "tau"};
  size_t size;
  bool ok = read_text(state, path, &size, err) && parse_text(state, size, err);
  ok = ok && check_keys(state, NULL, names, 4, err);
  for (int i = 0; ok && i < 4; ++i)
    ok = check_object(state, names[i], err);
  ok = ok && read_base(state, err);
  if (!ok) tbi_state_free(state);
  return ok;
}

void tbi_state_free(tbi_state *state) {
  json_decref(state->root);
  free(state->text);
  state->root = NULL;
  state->text = NULL;
}

static bool is_free_root(const tabi_model *model, int32_t joint) {
  tabi_joint_def def = tabi_model_joint(model, joint);
  return def.type == TABI_JOINT_FREE && def.parent == TABI_WORLD;
}

/* The joint that goes by a key, one that moves if there are two; or TABI_NONE. */
static int32_t find_key(const tabi_model *model, const char *key) {
  int32_t found = TABI_NONE;
  for (int32_t j = 0; j < tabi_model_njoint(model); ++j) {
    char buffer[TBI_KEY_SIZE];
    if (strcmp(tbi_joint_key(model, j, buffer), key) != 0) continue;
    if (tabi_model_joint_v(model, j).count > 0) return j;
    found = j;
  }
  return found;
}

/* The name nearest to a wrong key, among the joints that can be set. */
static void fail_unknown(const tbi_state *state, const tabi_model *model, const char *member,
                         const char *key, tabi_error *err) {
  int32_t base = tbi_base_joint(model);
  size_t njoint = (size_t)tabi_model_njoint(model);
  const char **names = malloc((njoint + 1) * sizeof *names);
  char(*buffers)[TBI_KEY_SIZE] = malloc((njoint + 1) * sizeof *buffers);
  size_t count = 0;
  for (int32_t j = 0; names && buffers && j < (int32_t)njoint; ++j) {
    if (j == base || tabi_model_joint_v(model, j).count == 0) continue;
    names[count] = tbi_joint_key(model, j, buffers[count]);
    ++count;
  }
  char hint[192];
  tbi_fail(err, TABI_ERR_PARSE, place_of(state, member, key), "%s: the model has no joint '%s'%s",
           member, key, suggestion(key, names, count, hint, sizeof hint));
  free(buffers);
  free(names);
}

/* Whether a key may be set here at all. */
static bool check_settable(const tbi_state *state, const tabi_model *model, const char *member,
                           const char *key, tabi_error *err) {
  int32_t joint = find_key(model, key);
  if (joint == TABI_NONE) {
    fail_unknown(state, model, member, key, err);
    return false;
  }
  tabi_place place = place_of(state, member, key);
  if (tabi_model_joint_v(model, joint).count == 0) {
    tbi_fail(err, TABI_ERR_PARSE, place, "%s: joint '%s' is fixed and has no coordinate", member,
             key);
    return false;
  }
  if (strcmp(member, "tau") == 0 && is_free_root(model, joint)) {
    tbi_fail(err, TABI_ERR_PARSE, place, "tau: '%s' is a free base and has no motor; leave it out",
             key);
    return false;
  }
  if (joint == tbi_base_joint(model)) {
    tbi_fail(err, TABI_ERR_PARSE, place,
             "%s: the base is set by \"base\": {\"pos\", \"quat\", \"lin\", \"ang\"}", member);
    return false;
  }
  return true;
}

/* Fills the numbers of one member, "q", "v" or "tau". */
static bool apply_member(const tbi_state *state, const tabi_model *model, const char *member,
                         double *to, tabi_error *err) {
  json_t *object = json_object_get(state->root, member);
  bool is_q = strcmp(member, "q") == 0;
  for (void *i = json_object_iter(object); i; i = json_object_iter_next(object, i)) {
    const char *key = json_object_iter_key(i);
    if (!check_settable(state, model, member, key, err)) return false;
    int32_t joint = find_key(model, key);
    tabi_range range = is_q ? tabi_model_joint_q(model, joint) : tabi_model_joint_v(model, joint);
    double *numbers = to + range.first;
    if (!read_numbers(state, member, key, range.count, numbers, err)) return false;
    tabi_joint_type type = tabi_model_joint(model, joint).type;
    double *quat = type == TABI_JOINT_BALL ? numbers : numbers + 3;
    bool turns = type == TABI_JOINT_BALL || type == TABI_JOINT_FREE;
    if (is_q && turns && !normalise(state, member, key, quat, err)) return false;
  }
  return true;
}

static bool apply_base(const tbi_state *state, const tabi_model *model, double *q, double *v,
                       tabi_error *err) {
  int32_t base = tbi_base_joint(model);
  if (base != TABI_NONE) {
    memcpy(q + tabi_model_joint_q(model, base).first, state->pos, sizeof state->pos);
    memcpy(q + tabi_model_joint_q(model, base).first + 3, state->quat, sizeof state->quat);
    memcpy(v, state->lin, sizeof state->lin);
    memcpy(v + 3, state->ang, sizeof state->ang);
    return true;
  }
  for (int i = 0; i < 3; ++i) {
    if (state->lin[i] == 0 && state->ang[i] == 0) continue;
    const char *key = state->lin[i] != 0 ? "lin" : "ang";
    tbi_fail(err, TABI_ERR_PARSE, place_of(state, "base", key),
             "base '%s' must be zero or left out: the base is fixed (try --base free)", key);
    return false;
  }
  return true;
}

/* q = 0 in every joint, which for quaternions means no rotation. */
static void zero_posture(const tabi_model *model, double *q) {
  memset(q, 0, (size_t)tabi_model_nq(model) * sizeof *q);
  for (int32_t j = 0; j < tabi_model_njoint(model); ++j) {
    tabi_joint_type type = tabi_model_joint(model, j).type;
    int32_t first = tabi_model_joint_q(model, j).first;
    if (type == TABI_JOINT_BALL) q[first] = 1;
    if (type == TABI_JOINT_FREE) q[first + 3] = 1;
  }
}

bool tbi_state_apply(const tbi_state *state, const tabi_model *model, double *q, double *v,
                     double *tau, tabi_error *err) {
  size_t nv = (size_t)tabi_model_nv(model);
  zero_posture(model, q);
  memset(v, 0, nv * sizeof *v);
  memset(tau, 0, nv * sizeof *tau);
  return apply_base(state, model, q, v, err) && apply_member(state, model, "q", q, err) &&
         apply_member(state, model, "v", v, err) && apply_member(state, model, "tau", tau, err);
}

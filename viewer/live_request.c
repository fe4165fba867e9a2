/* live_request.c - requests from JSON.  Everything is checked that can be without the world: what
 * is left is an order that makes sense. */
#include "live_request.h"

#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#define SLOWEST  0.03125
#define FASTEST  8.0
#define FARTHEST 1e4 /* m */

/* Reads the members of an order; false and what is wrong. */
typedef bool reader(const json_t *order, tbi_request *request, char *problem);

static bool refuse(char *problem, const char *text) {
  (void)snprintf(problem, TBI_REQUEST_ERROR_SIZE, "%s", text);
  return false;
}

/* -- orders with something to them */

static bool read_speed(const json_t *order, tbi_request *request, char *problem) {
  const json_t *value = json_object_get(order, "value");
  request->speed = json_number_value(value);
  if (json_is_number(value) && request->speed >= SLOWEST && request->speed <= FASTEST) return true;
  return refuse(problem, "speed: value must be in [1/32, 8]");
}

static bool read_vector(const json_t *order, const char *key, double vector[3]) {
  const json_t *list = json_object_get(order, key);
  if (json_array_size(list) != 3) return false;
  for (size_t i = 0; i < 3; ++i) {
    const json_t *number = json_array_get(list, i);
    vector[i] = json_number_value(number);
    if (!json_is_number(number) || !(fabs(vector[i]) <= FARTHEST)) return false;
  }
  return true;
}

static bool read_push(const json_t *order, tbi_request *request, char *problem) {
  const json_t *link = json_object_get(order, "link");
  const json_t *gain = json_object_get(order, "gain");
  json_int_t index = json_integer_value(link);
  if (!json_is_integer(link) || index < 0 || index > INT32_MAX)
    return refuse(problem, "push: link must be the index of a link");
  if (!read_vector(order, "point", request->point) ||
      !read_vector(order, "target", request->target)) {
    return refuse(problem, "push: point and target must be three numbers, at most 10 km");
  }
  request->link = (int32_t)index;
  request->gain = json_number_value(gain);
  if (request->gain == 1 || request->gain == 4 || request->gain == 16) return true;
  return refuse(problem, "push: gain must be 1, 4 or 16");
}

static bool read_walk(const json_t *order, tbi_request *request, char *problem) {
  bool good = read_vector(order, "velocity", request->walk);
  for (int i = 0; i < 3; ++i)
    good = good && fabs(request->walk[i]) <= 1;
  if (good) return true;
  return refuse(problem, "walk: velocity must be three numbers, -1 to 1");
}

static bool read_model(const json_t *value, tbi_request *request, char *problem) {
  const char *name = json_string_value(value);
  if (!name || tabi_contact_find(name) == TABI_NONE)
    return refuse(problem, "set: contact.model must be the name of a contact method");
  (void)snprintf(request->assignment, sizeof request->assignment, "contact.model=%s", name);
  return true;
}

static bool read_set(const json_t *order, tbi_request *request, char *problem) {
  const char *path = json_string_value(json_object_get(order, "path"));
  const json_t *value = json_object_get(order, "value");
  if (path && strcmp(path, "contact.model") == 0) {
    request->setting = TBI_SETTING_CONTACT;
    return read_model(value, request, problem);
  }
  bool friction = path && strcmp(path, "contact.friction") == 0;
  if (!friction && !(path && strcmp(path, "timestep") == 0)) {
    return refuse(problem,
                  "set: path must be contact.model, contact.friction or timestep; others are set "
                  "when the viewer is started, with --set");
  }
  double number = json_number_value(value);
  if (!json_is_number(value) || !(number >= 0 && number <= 1e3))
    return refuse(problem, "set: value must be a number that is not negative");
  request->setting = friction ? TBI_SETTING_FRICTION : TBI_SETTING_TIMESTEP;
  (void)snprintf(request->assignment, sizeof request->assignment, "%s=%.17g", path, number);
  return true;
}

/* -- all orders */

static const struct {
  const char *name;
  tbi_request_kind kind;
  size_t members;
  reader *read; /* NULL: it says all */
} orders[] = {
    {"pause",   TBI_REQUEST_PAUSE,   1, NULL      },
    {"play",    TBI_REQUEST_PLAY,    1, NULL      },
    {"step",    TBI_REQUEST_STEP,    1, NULL      },
    {"reset",   TBI_REQUEST_RESET,   1, NULL      },
    {"speed",   TBI_REQUEST_SPEED,   2, read_speed},
    {"push",    TBI_REQUEST_PUSH,    5, read_push },
    {"release", TBI_REQUEST_RELEASE, 1, NULL      },
    {"walk",    TBI_REQUEST_WALK,    2, read_walk },
    {"set",     TBI_REQUEST_SET,     3, read_set  },
};

static bool read_order(const json_t *order, tbi_request *request, char *problem) {
  const char *name = json_string_value(json_object_get(order, "do"));
  if (!name) return refuse(problem, "a message must be {\"do\": ...}");
  for (size_t i = 0; i < sizeof orders / sizeof *orders; ++i) {
    if (strcmp(name, orders[i].name) != 0) continue;
    request->kind = orders[i].kind;
    if (json_object_size(order) != orders[i].members) {
      (void)snprintf(problem, TBI_REQUEST_ERROR_SIZE, "%s: %zu members are expected", name,
                     orders[i].members);
      return false;
    }
    return !orders[i].read || orders[i].read(order, request, problem);
  }
  (void)snprintf(problem, TBI_REQUEST_ERROR_SIZE, "unknown command '%.40s'", name);
  return false;
}

/* Orders are two deep.  The parser calls itself for every level, and threads of the server have
 * small stacks: it must not see what is deep.  Brackets in names count too, for no name has any. */
static bool is_deep(const char *text, size_t size) {
  int depth = 0;
  for (size_t i = 0; i < size; ++i) {
    if (text[i] == '{' || text[i] == '[') ++depth;
    if (text[i] == '}' || text[i] == ']') --depth;
    if (depth > 2) return true;
  }
  return false;
}

bool tbi_request_read(const char *text, size_t size, tbi_request *request,
                      char problem[TBI_REQUEST_ERROR_SIZE]) {
  *request = (tbi_request){0};
  json_error_t error;
  json_t *order =
      is_deep(text, size) ? NULL : json_loadb(text, size, JSON_REJECT_DUPLICATES, &error);
  if (!order) return refuse(problem, "a message must be one JSON object");
  bool good = read_order(order, request, problem);
  json_decref(order);
  return good;
}

/* parameter.c - what a study varies, and how. */
#include "base/assertion.h"
#include "base/error.h"
#include "study/statistics.h"
#include "study/study.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct parameter_keys {
  const tbi_yaml_node *set, *uniform, *log, *normal, *choices, *grid;
} parameter_keys;

static const tbi_field parameter_fields[] = {
    {"set",     TBI_FIELD_NODE, offsetof(parameter_keys, set)    },
    {"uniform", TBI_FIELD_LIST, offsetof(parameter_keys, uniform)},
    {"log",     TBI_FIELD_LIST, offsetof(parameter_keys, log)    },
    {"normal",  TBI_FIELD_LIST, offsetof(parameter_keys, normal) },
    {"choices", TBI_FIELD_LIST, offsetof(parameter_keys, choices)},
    {"grid",    TBI_FIELD_LIST, offsetof(parameter_keys, grid)   },
};

static bool keep_text(tbi_first_error *error, tbi_text_pool *pool, const tbi_yaml_node *node,
                      const char *what, const char **to) {
  if (node->kind != TBI_YAML_SCALAR || node->text[0] == '\0')
    return tbi_fail_about(error, node->place, what, "a text or number is expected here");
  *to = tbi_text_add(pool, node->text);
  return *to || tbi_fail_memory(error);
}

/* One text, or a list of them. */
static bool read_texts(tbi_first_error *error, tbi_text_pool *pool, const tbi_yaml_node *node,
                       const char *what, const char ***to, int32_t *count) {
  bool list = node->kind == TBI_YAML_LIST;
  if (list && node->count == 0)
    return tbi_fail_about(error, node->place, what, "nothing is listed");
  *to = calloc(list ? (size_t)node->count : 1, sizeof **to);
  if (!*to) return tbi_fail_memory(error);
  if (!list) return keep_text(error, pool, node, what, &(*to)[(*count)++]);
  for (const tbi_yaml_node *item = node->first; item; item = item->next) {
    if (!keep_text(error, pool, item, what, &(*to)[(*count)++])) return false;
  }
  return true;
}

static bool read_choices(tbi_first_error *error, tbi_text_pool *pool, const tbi_yaml_node *node,
                         const char *what, tbi_parameter *p) {
  p->distribution = TBI_DISTRIBUTION_CHOICES;
  return read_texts(error, pool, node, what, &p->choice, &p->levels);
}

static bool read_grid(tbi_first_error *error, const tbi_yaml_node *node, const char *what,
                      tbi_parameter *p) {
  double value[3] = {0};
  p->distribution = TBI_DISTRIBUTION_GRID;
  if (!tbi_fields_numbers(error, node, what, "grid", value, 3)) return false;
  if (!(value[2] >= 1 && value[2] <= TBI_STUDY_MAX_LEVELS && value[2] == floor(value[2]))) {
    return tbi_fail_about(error, node->place, what,
                          "grid is [from, to, number], and the number must be in [1, %d]",
                          TBI_STUDY_MAX_LEVELS);
  }
  p->a = value[0];
  p->b = value[1];
  p->levels = (int32_t)value[2];
  return true;
}

/* uniform, log and normal: two numbers */
static bool read_range(tbi_first_error *error, const tbi_yaml_node *node, const char *what,
                       tbi_distribution distribution, tbi_parameter *p) {
  double value[2] = {0};
  p->distribution = distribution;
  if (!tbi_fields_numbers(error, node, what, node->key, value, 2)) return false;
  p->a = value[0];
  p->b = value[1];
  if (distribution == TBI_DISTRIBUTION_NORMAL && !(p->b >= 0))
    return tbi_fail_about(error, node->place, what, "normal is [mean, standard deviation >= 0]");
  if (distribution == TBI_DISTRIBUTION_LOG && !(p->a > 0 && p->b > 0))
    return tbi_fail_about(error, node->place, what, "log needs two numbers above 0");
  if (distribution != TBI_DISTRIBUTION_NORMAL && !(p->a <= p->b)) {
    return tbi_fail_about(error, node->place, what, "%s is [from, to], and %g is above %g",
                          node->key, p->a, p->b);
  }
  return true;
}

static bool read_distribution(tbi_first_error *error, tbi_text_pool *pool,
                              const parameter_keys *keys, const tbi_yaml_node *node,
                              const char *what, tbi_parameter *p) {
  int count = (keys->uniform != NULL) + (keys->log != NULL) + (keys->normal != NULL) +
              (keys->choices != NULL) + (keys->grid != NULL);
  if (count != 1) {
    return tbi_fail_about(error, node->place, what,
                          "give one of uniform: [from, to], log: [from, to], normal: [mean, sd], "
                          "choices: [..] and grid: [from, to, number]");
  }
  if (keys->choices) return read_choices(error, pool, keys->choices, what, p);
  if (keys->grid) return read_grid(error, keys->grid, what, p);
  if (keys->uniform) return read_range(error, keys->uniform, what, TBI_DISTRIBUTION_UNIFORM, p);
  if (keys->log) return read_range(error, keys->log, what, TBI_DISTRIBUTION_LOG, p);
  return read_range(error, keys->normal, what, TBI_DISTRIBUTION_NORMAL, p);
}

bool tbi_parameter_read(tbi_first_error *error, tbi_text_pool *pool, const tbi_yaml_node *node,
                        tbi_parameter *parameter) {
  char what[96];
  parameter_keys keys = {0};
  tbi_message_format(what, sizeof what, "parameter '%.60s': ", node->key);
  parameter->name = tbi_text_add(pool, node->key);
  parameter->line = node->place.line;
  if (!parameter->name) return tbi_fail_memory(error);
  if (node->kind != TBI_YAML_MAP)
    return tbi_fail_about(error, node->place, what,
                          "a map with set and a distribution is expected");
  if (!tbi_fields_read(error, node, what, TBI_FIELDS(parameter_fields), &keys)) return false;
  if (!keys.set)
    return tbi_fail_about(error, node->place, what, "set is missing: the path in the scene");
  return read_texts(error, pool, keys.set, what, &parameter->path, &parameter->npath) &&
         read_distribution(error, pool, &keys, node, what, parameter);
}

void tbi_parameter_free(tbi_parameter *parameter) {
  free(parameter->path);
  free(parameter->choice);
}

double tbi_parameter_value(const tbi_parameter *p, double u) {
  TBI_ASSERT(u > 0 && u < 1);
  double level = p->levels > 0 ? fmin(floor(u * p->levels), p->levels - 1) : 0;
  switch (p->distribution) {
  case TBI_DISTRIBUTION_UNIFORM:
    return p->a + (p->b - p->a) * u;
  case TBI_DISTRIBUTION_LOG:
    return p->a * pow(p->b / p->a, u);
  case TBI_DISTRIBUTION_NORMAL:
    return p->a + p->b * tbi_normal_quantile(u);
  case TBI_DISTRIBUTION_GRID:
    return p->levels == 1 ? p->a : p->a + (p->b - p->a) * (level / (p->levels - 1));
  default:
    return level;
  }
}

bool tbi_parameter_setting(const tbi_parameter *p, int32_t path, double value, char *text,
                           size_t size) {
  TBI_ASSERT(path >= 0 && path < p->npath);
  if (p->choice) {
    tbi_message_format(text, size, "%s=%s", p->path[path], p->choice[(int32_t)value]);
  } else {
    tbi_message_format(text, size, "%s=%.17g", p->path[path], value);
  }
  return strlen(text) + 1 < size;
}

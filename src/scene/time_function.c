/* time_function.c - constants, sines and tables over time. */
#include "scene/time_function.h"

#include "base/assertion.h"
#include "io/csv.h"
#include "io/suggest.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct sine_keys {
  double frequency, phase;
} sine_keys;

static const tbi_field sine_fields[] = {
    {"frequency", TBI_FIELD_POSITIVE, offsetof(sine_keys, frequency)},
    {"phase",     TBI_FIELD_NUMBER,   offsetof(sine_keys, phase)    },
};

static bool read_sine(tbi_scene_reader *r, const tbi_yaml_node *node, const char *what,
                      tbi_time_function *function) {
  sine_keys keys = {.frequency = 0};
  if (!tbi_fields_read(r->error, node, what, TBI_FIELDS(sine_fields), &keys)) return false;
  if (keys.frequency == 0)
    return tbi_fail_about(r->error, node->place, what, "sine needs a frequency, Hz");
  function->frequency = keys.frequency;
  function->phase = keys.phase;
  return true;
}

/* The component of a column, and whether the column has its integral; -1: none. */
static int32_t find_component(const tbi_time_keys *keys, const char *name, bool *integral) {
  for (int32_t i = 0; i < keys->count; ++i) {
    const tbi_component *c = &keys->components[i];
    *integral = c->integral && strcmp(c->integral, name) == 0;
    if (*integral || strcmp(c->value, name) == 0) return i;
  }
  return -1;
}

static bool fail_column(tbi_scene_reader *r, const tbi_time_keys *keys, const char *what,
                        const char *name) {
  tbi_suggestion nearest = tbi_suggest_begin(name);
  for (int32_t i = 0; i < keys->count; ++i) {
    tbi_suggest_add(&nearest, keys->components[i].value);
    if (keys->components[i].integral) tbi_suggest_add(&nearest, keys->components[i].integral);
  }
  char hint[TBI_HINT_SIZE];
  return tbi_fail_about(r->error, keys->table->place, what,
                        "column '%.40s' of '%.100s' has no meaning here%s", name, keys->table->text,
                        tbi_suggest_hint(&nearest, hint));
}

static bool assign_columns(tbi_scene_reader *r, const tbi_time_keys *keys, const char *what,
                           const tbi_csv *csv, tbi_time_function *function) {
  for (int32_t i = 0; i < csv->ncolumn; ++i) {
    bool integral = false;
    int32_t component = find_component(keys, csv->names[i], &integral);
    if (component < 0) return fail_column(r, keys, what, csv->names[i]);
    if (function->column[component] != TABI_NONE) {
      return tbi_fail_about(r->error, keys->table->place, what,
                            "two columns of '%.100s' give '%.40s'", keys->table->text,
                            keys->components[component].value);
    }
    function->column[component] = i;
    function->integral[component] = integral;
  }
  return true;
}

/* A file that cannot be opened is the scene's mistake. */
static bool read_table(tbi_scene_reader *r, const tbi_time_keys *keys, const char *what,
                       tbi_time_function *function) {
  const tbi_yaml_node *table = keys->table;
  if (table->kind != TBI_YAML_SCALAR || table->text[0] == '\0')
    return tbi_fail_about(r->error, table->place, what, "table needs the name of a CSV file");
  char *path = tbi_scene_path(r, table->text);
  if (!path) return false;
  tbi_csv csv = {0};
  tabi_error err = {0};
  tabi_status status = tbi_csv_read(path, (tabi_place){NULL, 0}, &csv, &err);
  if (status == TABI_ERR_FILE) {
    tbi_fail_about(r->error, table->place, what, "table '%.100s': %.200s", path, err.message);
  } else if (status != TABI_OK) {
    tbi_fail_as(r->error, &err);
  } else if (assign_columns(r, keys, what, &csv, function)) {
    function->ncolumn = csv.ncolumn;
    function->table = csv.trajectory;
    csv.trajectory = NULL;
  }
  tbi_csv_free(&csv);
  free(path);
  return tbi_ok(r->error);
}

bool tbi_time_function_read(tbi_scene_reader *r, const tbi_yaml_node *node, const char *what,
                            const tbi_time_keys *keys, tbi_time_function *function) {
  TBI_ASSERT(keys->count > 0 && keys->count <= TBI_TIME_MAX);
  function->count = keys->count;
  for (int32_t i = 0; i < TBI_TIME_MAX; ++i)
    function->column[i] = TABI_NONE;
  if (keys->table && (keys->sine || keys->constant))
    return tbi_fail_about(r->error, node->place, what,
                          "a table stands alone, without other values");
  if (keys->sine && !keys->constant)
    return tbi_fail_about(r->error, keys->sine->place, what, "a sine needs an amplitude");
  if (keys->table) return read_table(r, keys, what, function);
  return !keys->sine || read_sine(r, keys->sine, what, function);
}

void tbi_time_function_free(tbi_time_function *function) {
  tabi_trajectory_destroy(function->table);
  function->table = NULL;
}

/* The columns of a table; there are at most as many as components. */
static void sample(const tbi_time_function *function, double time, double *column) {
  TBI_ASSERT(function->ncolumn <= TBI_TIME_MAX);
  tabi_trajectory_sample(function->table, time, column, NULL);
}

static void scale(const tbi_time_function *function, double factor, double *value) {
  for (int32_t i = 0; i < function->count; ++i)
    value[i] = factor * function->constant[i];
}

static double angle_at(const tbi_time_function *function, double time) {
  return 2 * M_PI * function->frequency * time + function->phase;
}

void tbi_time_function_value(const tbi_time_function *function, double time, double *value) {
  if (!function->table) {
    scale(function, function->frequency > 0 ? sin(angle_at(function, time)) : 1, value);
    return;
  }
  double column[TBI_TIME_MAX];
  sample(function, time, column);
  for (int32_t i = 0; i < function->count; ++i)
    value[i] = function->column[i] == TABI_NONE ? 0 : column[function->column[i]];
}

/* The mean of a sine over a step: that at its middle, times sin(x) / x of half its angle. */
static double sine_mean(const tbi_time_function *function, double time, double step) {
  double half = M_PI * function->frequency * step;
  return sin(angle_at(function, time + step / 2)) * (sin(half) / half);
}

void tbi_time_function_mean(const tbi_time_function *function, double time, double step,
                            double *value) {
  TBI_ASSERT(step > 0);
  if (!function->table) {
    scale(function, function->frequency > 0 ? sine_mean(function, time, step) : 1, value);
    return;
  }
  double start[TBI_TIME_MAX];
  double middle[TBI_TIME_MAX];
  double end[TBI_TIME_MAX];
  sample(function, time, start);
  sample(function, time + step / 2, middle);
  sample(function, time + step, end);
  for (int32_t i = 0; i < function->count; ++i) {
    int32_t k = function->column[i];
    value[i] = 0;
    if (k != TABI_NONE) value[i] = function->integral[i] ? (end[k] - start[k]) / step : middle[k];
  }
}

/* fit.c - a fit from its file: scene, parameters with bounds, recordings. */
#include "study/fit.h"

#include "base/assertion.h"
#include "base/error.h"
#include "io/csv.h"
#include "io/file.h"
#include "io/path.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct fit_keys {
  const char *scene, *loss;
  int32_t starts, seed;
  const tbi_yaml_node *parameters, *data;
} fit_keys;

static const tbi_field fit_fields[] = {
    {"scene",      TBI_FIELD_WORD,  offsetof(fit_keys, scene)     },
    {"parameters", TBI_FIELD_MAP,   offsetof(fit_keys, parameters)},
    {"data",       TBI_FIELD_LIST,  offsetof(fit_keys, data)      },
    {"loss",       TBI_FIELD_WORD,  offsetof(fit_keys, loss)      },
    {"starts",     TBI_FIELD_COUNT, offsetof(fit_keys, starts)    },
    {"seed",       TBI_FIELD_COUNT, offsetof(fit_keys, seed)      },
};

typedef struct data_keys {
  const char *file;
  const tbi_yaml_node *signals, *set;
  double sigma;
} data_keys;

static const tbi_field data_fields[] = {
    {"file",    TBI_FIELD_WORD,     offsetof(data_keys, file)   },
    {"signals", TBI_FIELD_MAP,      offsetof(data_keys, signals)},
    {"set",     TBI_FIELD_LIST,     offsetof(data_keys, set)    },
    {"sigma",   TBI_FIELD_POSITIVE, offsetof(data_keys, sigma)  },
};

/* -- recordings */

static int32_t find_column(const tbi_csv *csv, const char *name) {
  for (int32_t i = 0; i < csv->ncolumn; ++i) {
    if (strcmp(csv->names[i], name) == 0) return i;
  }
  return TABI_NONE;
}

static bool take_signal(tbi_first_error *error, tbi_text_pool *pool, const tbi_csv *csv,
                        const tbi_yaml_node *node, tbi_fit_signal *signal) {
  const char *column = node->text && node->text[0] ? node->text : node->key;
  signal->index = node->kind == TBI_YAML_SCALAR ? find_column(csv, column) : TABI_NONE;
  signal->name = tbi_text_add(pool, node->key);
  signal->column = tbi_text_add(pool, column);
  signal->value = calloc((size_t)csv->nrow + 1, sizeof *signal->value);
  if (!signal->name || !signal->column || !signal->value) return tbi_fail_memory(error);
  if (signal->index == TABI_NONE) {
    const char *near = tabi_nearest_name(column, csv->names, (size_t)csv->ncolumn);
    return tbi_fail_about(error, node->place, "data: ", "no column '%.60s'%s%s%s", column,
                          near ? "; did you mean '" : "", near ? near : "", near ? "'?" : "");
  }
  for (int32_t row = 0; row < csv->nrow; ++row)
    signal->value[row] = csv->value[(size_t)row * (size_t)csv->ncolumn + (size_t)signal->index];
  return true;
}

static bool take_table(tbi_first_error *error, tbi_text_pool *pool, const tbi_csv *csv,
                       const tbi_yaml_node *signals, tbi_fit_recording *r) {
  r->nrow = csv->nrow;
  r->time = calloc((size_t)csv->nrow + 1, sizeof *r->time);
  r->signal = calloc((size_t)signals->count + 1, sizeof *r->signal);
  if (!r->time || !r->signal) return tbi_fail_memory(error);
  memcpy(r->time, csv->time, (size_t)csv->nrow * sizeof *r->time);
  for (const tbi_yaml_node *node = signals->first; node; node = node->next) {
    if (!take_signal(error, pool, csv, node, &r->signal[r->nsignal++])) return false;
  }
  return true;
}

/* -- recordings that are no tables */

static bool check_column(tbi_first_error *error, const tbi_yaml_node *node, const tabi_column *c) {
  bool good = c->count > 0 && c->count <= INT32_MAX;
  for (int64_t i = 0; i < c->count && good; ++i) {
    good = isfinite(c->value[i]) && isfinite(c->time[i]) && (i == 0 || c->time[i] > c->time[i - 1]);
  }
  return good ||
         tbi_fail_about(error, node->place,
                        "data: ", "'%.60s' is empty, its times do not rise, or it is not finite",
                        node->key);
}

/* By straight lines; NAN outside of the column. */
static double at_time(const tabi_column *c, int64_t *from, double time) {
  while (*from + 2 < c->count && c->time[*from + 1] < time)
    ++*from;
  const double *t = c->time + *from;
  const double *v = c->value + *from;
  if (c->count == 1 || time < t[0] || time > t[1]) return time == t[0] ? v[0] : (double)NAN;
  return v[0] + (time - t[0]) / (t[1] - t[0]) * (v[1] - v[0]);
}

static bool take_column(tbi_first_error *error, tbi_text_pool *pool, const tabi_column *column,
                        const tbi_yaml_node *node, tbi_fit_recording *r) {
  tbi_fit_signal *signal = &r->signal[r->nsignal++];
  int64_t from = 0;
  if (!check_column(error, node, column)) return false;
  if (r->nsignal == 1) {
    r->nrow = column->count;
    r->time = calloc((size_t)r->nrow, sizeof *r->time);
    if (r->time) memcpy(r->time, column->time, (size_t)r->nrow * sizeof *r->time);
  }
  signal->name = tbi_text_add(pool, node->key);
  signal->column = tbi_text_add(pool, node->text);
  signal->value = calloc((size_t)r->nrow + 1, sizeof *signal->value);
  if (!r->time || !signal->name || !signal->column || !signal->value) return tbi_fail_memory(error);
  for (int64_t row = 0; row < r->nrow; ++row) {
    signal->value[row] = at_time(column, &from, r->time[row]);
    if (isnan(signal->value[row])) {
      return tbi_fail_about(error, node->place, "data: ",
                            "'%.60s' has no value at %g s, where the first signal has one",
                            node->key, r->time[row]);
    }
  }
  return true;
}

static bool read_columns(tbi_first_error *error, tabi_fit *fit, const char *path,
                         const tbi_yaml_node *signals, tbi_fit_recording *r) {
  if (!fit->reader)
    return tbi_fail_about(error, signals->place, "data: ", "only CSV tables can be read here");
  r->signal = calloc((size_t)signals->count + 1, sizeof *r->signal);
  if (!r->signal) return tbi_fail_memory(error);
  bool good = true;
  for (const tbi_yaml_node *node = signals->first; node && good; node = node->next) {
    tabi_column column = {0};
    tabi_error err = {0};
    if (node->kind != TBI_YAML_SCALAR)
      return tbi_fail_about(error, node->place, "data: ", "the name of a column is expected");
    const char *name = node->text[0] ? node->text : node->key;
    good = fit->reader(fit->reader_user, path, name, &column, &err) == TABI_OK
               ? take_column(error, &fit->study.pool, &column, node, r)
               : tbi_fail_as(error, &err);
    free(column.time);
    free(column.value);
  }
  return good;
}

static bool read_csv(tbi_first_error *error, tabi_fit *fit, const char *path,
                     const tbi_yaml_node *node, const tbi_yaml_node *signals,
                     tbi_fit_recording *r) {
  tbi_csv csv;
  tabi_error err = {0};
  bool good = tbi_csv_read(path, node->place, &csv, &err) == TABI_OK || tbi_fail_as(error, &err);
  good = good && take_table(error, &fit->study.pool, &csv, signals, r);
  tbi_csv_free(&csv);
  return good;
}

static bool read_set(tbi_first_error *error, tbi_text_pool *pool, const tbi_yaml_node *list,
                     tbi_fit_recording *r) {
  if (!list) return true;
  r->set = calloc((size_t)list->count + 1, sizeof *r->set);
  if (!r->set) return tbi_fail_memory(error);
  for (const tbi_yaml_node *node = list->first; node; node = node->next) {
    if (node->kind != TBI_YAML_SCALAR || !strchr(node->text, '='))
      return tbi_fail_about(error, node->place, "data: ", "set lists changes path=value");
    r->set[r->nset] = tbi_text_add(pool, node->text);
    if (!r->set[r->nset++]) return tbi_fail_memory(error);
  }
  return true;
}

static bool read_recording(tbi_first_error *error, tabi_fit *fit, const tbi_yaml_node *node,
                           tbi_fit_recording *r) {
  char path[TBI_PATH_SIZE];
  data_keys keys = {0};
  tbi_text_pool *pool = &fit->study.pool;
  if (!tbi_fields_read(error, node, "data: ", TBI_FIELDS(data_fields), &keys)) return false;
  if (!keys.file || !keys.signals || keys.signals->count == 0) {
    return tbi_fail_about(error, node->place, "data: ",
                          "give file and signals, as in {file: run.csv, signals: {com.z: z}}");
  }
  const char *slash = keys.file[0] == '/' ? NULL : strrchr(fit->study.path, '/');
  tbi_message_format(path, sizeof path, "%.*s%s", slash ? (int)(slash - fit->study.path) + 1 : 0,
                     fit->study.path, keys.file);
  r->file = tbi_text_add(pool, keys.file);
  r->place = (tabi_place){fit->study.path, node->place.line};
  r->sigma = keys.sigma;
  if (!r->file) return tbi_fail_memory(error);
  bool columns = tbi_path_ends_with(path, ".mcap") || tbi_path_ends_with(path, ".h5") ||
                 tbi_path_ends_with(path, ".hdf5");
  bool good = columns ? read_columns(error, fit, path, keys.signals, r)
                      : read_csv(error, fit, path, node, keys.signals, r);
  return good && read_set(error, pool, keys.set, r);
}

static bool same_changes(const tbi_fit_recording *a, const tbi_fit_recording *b) {
  bool same = a->nset == b->nset;
  for (int32_t i = 0; i < a->nset && same; ++i)
    same = strcmp(a->set[i], b->set[i]) == 0;
  return same;
}

/* Recordings of one run, as of sensors that were recorded apart. */
static void find_trial(tabi_fit *fit, tbi_fit_recording *r) {
  r->trial = TABI_NONE;
  for (const tbi_fit_recording *other = fit->recording; other < r; ++other) {
    if (r->trial == TABI_NONE && same_changes(other, r)) r->trial = other->trial;
  }
  if (r->trial == TABI_NONE) r->trial = fit->ntrial++;
}

static bool read_data(tbi_first_error *error, tabi_fit *fit, const tbi_yaml_node *list) {
  fit->recording = calloc((size_t)list->count + 1, sizeof *fit->recording);
  if (!fit->recording) return tbi_fail_memory(error);
  fit->absolute = true;
  for (const tbi_yaml_node *node = list->first; node; node = node->next) {
    tbi_fit_recording *r = &fit->recording[fit->nrecording++];
    if (!read_recording(error, fit, node, r)) return false;
    find_trial(fit, r);
    r->first = fit->nresidual;
    fit->nresidual += r->nrow * r->nsignal;
    fit->absolute = fit->absolute && r->sigma > 0;
  }
  if (fit->nresidual == 0) return tbi_fail_about(error, list->place, "", "data has no rows");
  return fit->absolute || !fit->huber ||
         tbi_fail_about(error, list->place, "",
                        "loss: huber counts in sigma what is far away; give sigma of all data");
}

/* -- parameters */

static bool read_parameters(tbi_first_error *error, tabi_fit *fit, const tbi_yaml_node *map) {
  tabi_study *study = &fit->study;
  size_t count = (size_t)map->count;
  if (map->count > TBI_STUDY_MAX_PARAMETERS)
    return tbi_fail_about(error, map->place, "", "at most %d parameters", TBI_STUDY_MAX_PARAMETERS);
  study->parameter = calloc(count + 1, sizeof *study->parameter);
  fit->parameter = calloc(count + 1, sizeof *fit->parameter);
  fit->correlation = calloc(count * count + 1, sizeof *fit->correlation);
  if (!study->parameter || !fit->parameter || !fit->correlation) return tbi_fail_memory(error);
  for (const tbi_yaml_node *node = map->first; node; node = node->next) {
    tbi_parameter *p = &study->parameter[study->nparameter++];
    if (!tbi_parameter_read(error, &study->pool, node, p)) return false;
    bool bounded =
        p->distribution == TBI_DISTRIBUTION_UNIFORM || p->distribution == TBI_DISTRIBUTION_LOG;
    if (!bounded || !(p->a < p->b)) {
      return tbi_fail_about(error, node->place, "",
                            "parameter '%s': give its bounds by uniform: [from, to] or log: [from, "
                            "to]",
                            p->name);
    }
  }
  return true;
}

/* -- the whole */

static bool read_fit(tbi_first_error *error, tabi_fit *fit, const tbi_yaml_node *root) {
  fit_keys keys = {.starts = 1, .seed = 1};
  if (!tbi_fields_read(error, root, "", TBI_FIELDS(fit_fields), &keys)) return false;
  const char *missing = !keys.scene        ? "scene is missing"
                        : !keys.parameters ? "parameters are missing"
                        : !keys.data       ? "data is missing: recordings to fit to"
                                           : NULL;
  if (missing) return tbi_fail_about(error, root->place, "", "%s", missing);
  if (keys.starts < 1 || keys.starts > 1000)
    return tbi_fail_about(error, tbi_yaml_child(root, "starts")->place, "",
                          "starts must be in [1, 1000]");
  if (keys.loss && strcmp(keys.loss, "squares") != 0 && strcmp(keys.loss, "huber") != 0)
    return tbi_fail_about(error, tbi_yaml_child(root, "loss")->place, "",
                          "loss is squares or huber");
  fit->huber = keys.loss && strcmp(keys.loss, "huber") == 0;
  fit->starts = keys.starts;
  fit->seed = (uint64_t)keys.seed;
  return tbi_study_find_scene(&fit->study, error, tbi_yaml_child(root, "scene"), keys.scene) &&
         read_parameters(error, fit, keys.parameters) && read_data(error, fit, keys.data);
}

static bool load(tbi_first_error *error, tabi_fit *fit, const char *path,
                 const tabi_scene_def *def) {
  char *text = NULL;
  size_t size = 0;
  tbi_yaml *yaml = NULL;
  if (!tbi_take(error, tbi_file_read(path, TBI_YAML_MAX_BYTES, (tabi_place){NULL, 0}, &text, &size,
                                     error->err)))
    return false;
  bool good = tbi_study_begin(&fit->study, error, text, path, def) &&
              tbi_take(error, tbi_yaml_parse(text, size, path, &yaml, error->err)) &&
              read_fit(error, fit, tbi_yaml_root(yaml));
  tbi_yaml_destroy(yaml);
  free(text);
  if (!good) return false;
  fit->residual = calloc((size_t)fit->nresidual + 1, sizeof *fit->residual);
  return fit->residual || tbi_fail_memory(error);
}

tabi_fit *tabi_fit_load(const char *path, const tabi_scene_def *def, tabi_column_reader *reader,
                        void *user, tabi_error *err) {
  TBI_ASSERT(path);
  tabi_fit *fit = calloc(1, sizeof *fit);
  tbi_first_error error = {.err = err};
  if (!fit) {
    tbi_fail_memory(&error);
    return NULL;
  }
  fit->reader = reader;
  fit->reader_user = user;
  if (load(&error, fit, path, def)) return fit;
  tabi_fit_destroy(fit);
  return NULL;
}

void tabi_fit_destroy(tabi_fit *fit) {
  if (!fit) return;
  for (int32_t i = 0; i < fit->nrecording; ++i) {
    tbi_fit_recording *r = &fit->recording[i];
    for (int32_t k = 0; k < r->nsignal; ++k)
      free(r->signal[k].value);
    free(r->signal);
    free(r->time);
    free(r->set);
  }
  free(fit->recording);
  free(fit->parameter);
  free(fit->correlation);
  free(fit->residual);
  tbi_study_end(&fit->study);
  free(fit);
}

/* -- what came out */

int32_t tabi_fit_nparameter(const tabi_fit *fit) {
  TBI_ASSERT(fit);
  return fit->study.nparameter;
}

tabi_fit_parameter tabi_fit_get(const tabi_fit *fit, int32_t parameter) {
  TBI_ASSERT(fit && parameter >= 0 && parameter < fit->study.nparameter);
  return fit->parameter[parameter];
}

double tabi_fit_correlation(const tabi_fit *fit, int32_t a, int32_t b) {
  TBI_ASSERT(fit && a >= 0 && a < fit->study.nparameter && b >= 0 && b < fit->study.nparameter);
  return fit->correlation[a * fit->study.nparameter + b];
}

double tabi_fit_rms(const tabi_fit *fit) {
  TBI_ASSERT(fit);
  return fit->rms;
}

bool tabi_fit_converged(const tabi_fit *fit) {
  TBI_ASSERT(fit);
  return fit->converged;
}

bool tabi_fit_get_curve(const tabi_fit *fit, int32_t curve, tabi_fit_curve *to) {
  TBI_ASSERT(fit && curve >= 0 && to);
  for (int32_t i = 0; i < fit->nrecording; ++i) {
    const tbi_fit_recording *r = &fit->recording[i];
    if (curve < r->nsignal) {
      const tbi_fit_signal *s = &r->signal[curve];
      *to = (tabi_fit_curve){
          r->file, s->name, r->time, s->value, fit->residual + r->first + (int64_t)curve * r->nrow,
          r->nrow};
      return true;
    }
    curve -= r->nsignal;
  }
  return false;
}

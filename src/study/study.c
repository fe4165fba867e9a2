/* study.c - a study from its file. */
#include "study/study.h"

#include "base/assertion.h"
#include "base/error.h"
#include "io/file.h"
#include "io/path.h"
#include "record/record.h"
#include "study/lanes.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define MAX_SCENE_BYTES TBI_YAML_MAX_BYTES

typedef struct study_keys {
  const char *scene, *sampling, *until, *engine;
  int32_t runs, seed;
  const tbi_yaml_node *parameters, *measures, *stop;
} study_keys;

static const tbi_field study_fields[] = {
    {"scene",      TBI_FIELD_WORD,  offsetof(study_keys, scene)     },
    {"runs",       TBI_FIELD_COUNT, offsetof(study_keys, runs)      },
    {"seed",       TBI_FIELD_COUNT, offsetof(study_keys, seed)      },
    {"sampling",   TBI_FIELD_WORD,  offsetof(study_keys, sampling)  },
    {"parameters", TBI_FIELD_MAP,   offsetof(study_keys, parameters)},
    {"measures",   TBI_FIELD_MAP,   offsetof(study_keys, measures)  },
    {"stop",       TBI_FIELD_MAP,   offsetof(study_keys, stop)      },
    {"until",      TBI_FIELD_WORD,  offsetof(study_keys, until)     },
    {"engine",     TBI_FIELD_WORD,  offsetof(study_keys, engine)    },
};

typedef struct study_reader {
  tabi_study *study;
  tbi_first_error *error;
} study_reader;

static const char *keep(tabi_study *study, tbi_first_error *error, const char *text) {
  const char *kept = tbi_text_add(&study->pool, text);
  if (!kept) tbi_fail_memory(error);
  return kept;
}

/* -- the scene */

bool tbi_study_find_scene(tabi_study *study, tbi_first_error *error, const tbi_yaml_node *node,
                          const char *scene) {
  char path[TBI_PATH_SIZE];
  char whole[TBI_PATH_SIZE];
  const char *slash = scene[0] == '/' ? NULL : strrchr(study->path, '/');
  size_t folder = slash ? (size_t)(slash - study->path) + 1 : 0;
  if (folder + strlen(scene) >= sizeof path)
    return tbi_fail_about(error, node->place, "scene: ", "the path is too long");
  memcpy(path, study->path, folder);
  memcpy(path + folder, scene, strlen(scene) + 1);
  study->scene = keep(study, error, realpath(path, whole) ? whole : path);
  if (!study->scene) return false;
  char *bytes = NULL;
  tabi_error err = {0};
  tabi_status status =
      tbi_file_read(study->scene, MAX_SCENE_BYTES, node->place, &bytes, &study->scene_size, &err);
  if (status != TABI_OK) {
    return tbi_fail_at(error, status, node->place, "scene '%.200s': %s", scene, err.message);
  }
  study->scene_text = keep(study, error, bytes);
  free(bytes);
  return study->scene_text != NULL;
}

/* -- how many runs, and which */

static bool read_sampling(study_reader *r, const tbi_yaml_node *root, const char *word) {
  tbi_design *design = &r->study->design;
  if (!word) return true;
  for (int32_t i = 0; i < TBI_SAMPLING_COUNT; ++i) {
    if (strcmp(word, tbi_sampling_name(i)) != 0) continue;
    design->sampling = (tbi_sampling)i;
    return true;
  }
  return tbi_fail_about(r->error, tbi_yaml_child(root, "sampling")->place, "",
                        "sampling '%.40s' is none of random, latin, sobol, grid, saltelli", word);
}

/* all combinations; 0 after an error */
static int64_t grid_size(study_reader *r, const tbi_yaml_node *parameters) {
  int64_t size = 1;
  const tbi_yaml_node *node = parameters->first;
  for (int32_t i = 0; i < r->study->nparameter; ++i, node = node->next) {
    int32_t levels = r->study->parameter[i].levels;
    r->study->levels[i] = levels;
    if (levels == 0) {
      tbi_fail_about(r->error, node->place, "",
                     "parameter '%s': sampling: grid needs grid or "
                     "choices",
                     r->study->parameter[i].name);
      return 0;
    }
    size *= levels;
    if (size > TBI_STUDY_MAX_RUNS) {
      tbi_fail_about(r->error, node->place, "", "the grid has more than %d combinations",
                     TBI_STUDY_MAX_RUNS);
      return 0;
    }
  }
  return size;
}

/* Runs that belong together: all combinations of a grid, a group of saltelli, or one. */
static int64_t run_unit(study_reader *r, const tbi_yaml_node *parameters) {
  if (r->study->design.sampling == TBI_SAMPLING_GRID) return grid_size(r, parameters);
  if (r->study->design.sampling == TBI_SAMPLING_SALTELLI) return r->study->nparameter + 2;
  return 1;
}

static bool check_dimension(study_reader *r, const tbi_yaml_node *root) {
  tbi_sampling sampling = r->study->design.sampling;
  int32_t most = sampling == TBI_SAMPLING_SOBOL      ? TBI_SOBOL_DIMENSIONS
                 : sampling == TBI_SAMPLING_SALTELLI ? TBI_SOBOL_DIMENSIONS / 2
                                                     : TBI_STUDY_MAX_PARAMETERS;
  if (r->study->nparameter <= most) return true;
  return tbi_fail_about(r->error, tbi_yaml_child(root, "parameters")->place, "",
                        "%d parameters are too many for sampling: %s, at most %d",
                        r->study->nparameter, tbi_sampling_name((int32_t)sampling), most);
}

static bool read_design(study_reader *r, const tbi_yaml_node *root, const study_keys *keys) {
  tbi_design *design = &r->study->design;
  design->seed = (uint64_t)keys->seed;
  design->dimension = r->study->nparameter;
  design->levels = r->study->levels;
  if (!read_sampling(r, root, keys->sampling) || !check_dimension(r, root)) return false;
  int64_t unit = run_unit(r, keys->parameters);
  if (unit == 0) return false;
  bool whole_grid = design->sampling == TBI_SAMPLING_GRID && keys->runs == 0;
  design->runs = whole_grid ? unit : keys->runs;
  const tbi_yaml_node *runs = tbi_yaml_child(root, "runs");
  tabi_place place = runs ? runs->place : root->place;
  if (design->runs < 1 || design->runs > TBI_STUDY_MAX_RUNS)
    return tbi_fail_about(r->error, place, "", "runs must be in [1, %d]", TBI_STUDY_MAX_RUNS);
  if (design->runs % unit != 0) {
    return tbi_fail_about(
        r->error, place, "",
        "runs must be a multiple of %" PRId64 " under sampling: %s, as %" PRId64 " is", unit,
        tbi_sampling_name((int32_t)design->sampling), unit * (1 + design->runs / unit));
  }
  return true;
}

/* -- parameters and measures */

/* Names become columns of a table: p_NAME, m_NAME. */
static bool check_name(study_reader *r, const tbi_yaml_node *node, const tbi_yaml_node *map) {
  for (const tbi_yaml_node *other = map->first; other != node; other = other->next) {
    if (strcasecmp(other->key, node->key) != 0) continue;
    return tbi_fail_about(r->error, node->place, "",
                          "'%.60s' and '%.60s' are one name in a table of results", other->key,
                          node->key);
  }
  size_t letters = strspn(node->key, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                     "0123456789_");
  if (node->key[letters] == '\0' && letters > 0 && letters <= 60) return true;
  return tbi_fail_about(r->error, node->place, "",
                        "'%.60s': a name has up to 60 letters, digits and underscores", node->key);
}

static bool read_parameters(study_reader *r, const tbi_yaml_node *map) {
  tabi_study *study = r->study;
  study->parameter = calloc((size_t)map->count + 1, sizeof *study->parameter);
  study->levels = calloc((size_t)map->count + 1, sizeof *study->levels);
  if (!study->parameter || !study->levels) return tbi_fail_memory(r->error);
  for (const tbi_yaml_node *node = map->first; node; node = node->next) {
    if (!check_name(r, node, map) ||
        !tbi_parameter_read(r->error, &study->pool, node, &study->parameter[study->nparameter++]))
      return false;
  }
  return true;
}

static bool read_measures(study_reader *r, const tbi_yaml_node *map) {
  tabi_study *study = r->study;
  study->measure = calloc((size_t)map->count + 1, sizeof *study->measure);
  if (!study->measure) return tbi_fail_memory(r->error);
  if (map->count > TBI_STUDY_MAX_MEASURES) {
    return tbi_fail_about(r->error, map->place, "", "at most %d measures", TBI_STUDY_MAX_MEASURES);
  }
  for (const tbi_yaml_node *node = map->first; node; node = node->next) {
    tbi_measure *measure = &study->measure[study->nmeasure++];
    if (!check_name(r, node, map) || !tbi_measure_read(r->error, &study->pool, node, measure))
      return false;
    measure->place.file = study->path;
  }
  return true;
}

/* -- when it is known well enough */

typedef struct stop_keys {
  const char *measure;
  double width;
} stop_keys;

static const tbi_field stop_fields[] = {
    {"measure", TBI_FIELD_WORD,     offsetof(stop_keys, measure)},
    {"width",   TBI_FIELD_POSITIVE, offsetof(stop_keys, width)  },
};

/* Of these the first n runs of a study are as good a sample as n runs alone. */
static bool can_stop(tbi_sampling sampling) {
  return sampling == TBI_SAMPLING_RANDOM || sampling == TBI_SAMPLING_SOBOL;
}

static bool read_stop(study_reader *r, const tbi_yaml_node *map) {
  stop_keys keys = {0};
  tabi_study *study = r->study;
  if (!map) return true;
  if (!tbi_fields_read(r->error, map, "stop: ", TBI_FIELDS(stop_fields), &keys)) return false;
  if (!keys.measure || keys.width <= 0)
    return tbi_fail_about(r->error, map->place, "stop: ", "give measure and width of its interval");
  if (!can_stop(study->design.sampling)) {
    return tbi_fail_about(r->error, map->place, "stop: ",
                          "the first runs under sampling: %s are no sample by themselves; take "
                          "random or sobol",
                          tbi_sampling_name((int32_t)study->design.sampling));
  }
  for (int32_t i = 0; i < study->nmeasure; ++i) {
    if (strcmp(study->measure[i].name, keys.measure) != 0) continue;
    study->stop = (tbi_stop){i, keys.width};
    return true;
  }
  return tbi_fail_about(r->error, map->place, "stop: ", "no measure is called '%.60s'",
                        keys.measure);
}

static bool read_engine(study_reader *r, const tbi_yaml_node *root, const char *word) {
  r->study->engine = TABI_ENGINE_WORLD;
  for (int engine = TABI_ENGINE_WORLD; word && engine <= TABI_ENGINE_BATCH; ++engine) {
    if (strcmp(word, tabi_engine_name((tabi_engine)engine)) != 0) continue;
    r->study->engine = (tabi_engine)engine;
    return true;
  }
  return !word || tbi_fail_about(r->error, tbi_yaml_child(root, "engine")->place, "",
                                 "engine '%.40s' is none of world, batch", word);
}

static bool read_study(study_reader *r, const tbi_yaml_node *root) {
  study_keys keys = {.seed = 1};
  if (!tbi_fields_read(r->error, root, "", TBI_FIELDS(study_fields), &keys)) return false;
  const char *missing = !keys.scene        ? "scene is missing: the file whose runs are varied"
                        : !keys.parameters ? "parameters are missing"
                        : !keys.measures   ? "measures are missing, as in {fell: fell}"
                                           : NULL;
  if (missing) return tbi_fail_about(r->error, root->place, "", "%s", missing);
  if (keys.until && strcmp(keys.until, "fall") != 0) {
    return tbi_fail_about(r->error, tbi_yaml_child(root, "until")->place, "",
                          "until '%.40s' is not fall; without it a run takes the scene's duration",
                          keys.until);
  }
  r->study->until_fall = keys.until != NULL;
  return read_engine(r, root, keys.engine) &&
         tbi_study_find_scene(r->study, r->error, tbi_yaml_child(root, "scene"), keys.scene) &&
         read_parameters(r, keys.parameters) && read_measures(r, keys.measures) &&
         read_design(r, root, &keys) && read_stop(r, keys.stop);
}

/* -- life */

/* Settings and the package path are copied, the rest of the def is plain. */
static bool keep_def(tabi_study *study, tbi_first_error *error, const tabi_scene_def *def) {
  tabi_scene_def *kept = &study->def;
  *kept = def ? *def : tabi_scene_def_default();
  kept->warn = NULL; /* by many threads, once for each run: of no use */
  kept->set = NULL;
  kept->nset = 0;
  study->robots = tabi_builder_cache_create();
  if (!study->robots) return tbi_fail_memory(error);
  kept->robots = study->robots;
  if (kept->package_path) kept->package_path = keep(study, error, kept->package_path);
  return tbi_ok(error);
}

bool tbi_study_begin(tabi_study *study, tbi_first_error *error, const char *text, const char *path,
                     const tabi_scene_def *def) {
  char whole[TBI_PATH_SIZE];
  study->path = keep(study, error, realpath(path, whole) ? whole : path);
  study->text = study->path ? keep(study, error, text) : NULL;
  return study->text && keep_def(study, error, def);
}

static bool read_text(study_reader *r, const char *text, size_t size, const char *path,
                      const tabi_scene_def *def) {
  tbi_yaml *yaml = NULL;
  if (!tbi_study_begin(r->study, r->error, text, path, def) ||
      !tbi_take(r->error, tbi_yaml_parse(text, size, path, &yaml, r->error->err)))
    return false;
  bool good = read_study(r, tbi_yaml_root(yaml));
  tbi_yaml_destroy(yaml);
  return good;
}

/* What is wrong with the scene or a measure shows before anything runs. */
static bool try_first_run(study_reader *r) {
  tabi_error err = {0};
  tabi_scene *scene = tbi_study_scene(r->study, 0, &err);
  tabi_world_def def = {0};
  tabi_world *world = NULL;
  tbi_measuring *measuring = NULL;
  if (scene) {
    r->study->model = tbi_model_hash(tabi_scene_model(scene));
    def = tabi_scene_world_def(scene);
    world = tabi_world_create(tabi_scene_model(scene), &def, &err);
  }
  if (world && tabi_scene_reset(scene, world, &err) == TABI_OK) {
    measuring = tbi_measuring_create(r->study->measure, r->study->nmeasure, scene, world, &err);
  }
  bool good = measuring != NULL;
  tbi_measuring_destroy(measuring);
  tabi_world_destroy(world);
  tabi_scene_destroy(scene);
  return good || tbi_fail_as(r->error, &err);
}

tabi_status tabi_study_check_engine(const tabi_study *study, tabi_engine engine, tabi_error *err) {
  TBI_ASSERT(study);
  tabi_error failed = {0};
  if (engine == TABI_ENGINE_OF_STUDY) engine = study->engine;
  if (engine == TABI_ENGINE_BATCH) tbi_run_lanes_destroy(tbi_run_lanes_create(study, &failed));
  if (err && failed.status != TABI_OK) *err = failed;
  return failed.status;
}

static bool try_engine(study_reader *r) {
  tabi_error err = {0};
  return tabi_study_check_engine(r->study, TABI_ENGINE_OF_STUDY, &err) == TABI_OK ||
         tbi_fail_as(r->error, &err);
}

tabi_study *tabi_study_load_text(const char *text, size_t size, const char *path,
                                 const tabi_scene_def *def, tabi_error *err) {
  TBI_ASSERT(text && path);
  tabi_study *study = calloc(1, sizeof *study);
  tbi_first_error error = {.err = err};
  study_reader reader = {study, &error};
  if (!study) {
    tbi_fail_memory(&error);
    return NULL;
  }
  if (read_text(&reader, text, size, path, def) && try_first_run(&reader) && try_engine(&reader))
    return study;
  tabi_study_destroy(study);
  return NULL;
}

tabi_study *tabi_study_load(const char *path, const tabi_scene_def *def, tabi_error *err) {
  TBI_ASSERT(path);
  char *text = NULL;
  size_t size = 0;
  if (tbi_file_read(path, TBI_YAML_MAX_BYTES, (tabi_place){NULL, 0}, &text, &size, err) != TABI_OK)
    return NULL;
  tabi_study *study = tabi_study_load_text(text, size, path, def, err);
  free(text);
  return study;
}

void tbi_study_end(tabi_study *study) {
  for (int32_t i = 0; i < study->nparameter; ++i)
    tbi_parameter_free(&study->parameter[i]);
  free(study->parameter);
  free(study->levels);
  free(study->measure);
  tabi_builder_cache_destroy(study->robots);
  tbi_text_free(&study->pool);
}

void tabi_study_destroy(tabi_study *study) {
  if (!study) return;
  tbi_study_end(study);
  free(study);
}

/* -- what it has */

const char *tabi_engine_name(tabi_engine engine) {
  return engine == TABI_ENGINE_BATCH ? "batch" : "world";
}

tabi_engine tabi_study_engine(const tabi_study *study) {
  TBI_ASSERT(study);
  return study->engine;
}

int64_t tabi_study_nrun(const tabi_study *study) {
  TBI_ASSERT(study);
  return study->design.runs;
}

bool tabi_study_may_stop(const tabi_study *study) {
  TBI_ASSERT(study);
  return study->stop.width > 0;
}

int32_t tabi_study_nparameter(const tabi_study *study) {
  TBI_ASSERT(study);
  return study->nparameter;
}

int32_t tabi_study_nmeasure(const tabi_study *study) {
  TBI_ASSERT(study);
  return study->nmeasure;
}

const char *tabi_study_parameter_name(const tabi_study *study, int32_t parameter) {
  TBI_ASSERT(study && parameter >= 0 && parameter < study->nparameter);
  return study->parameter[parameter].name;
}

const char *tabi_study_measure_name(const tabi_study *study, int32_t measure) {
  TBI_ASSERT(study && measure >= 0 && measure < study->nmeasure);
  return study->measure[measure].name;
}

bool tabi_study_measure_is_boolean(const tabi_study *study, int32_t measure) {
  TBI_ASSERT(study && measure >= 0 && measure < study->nmeasure);
  return study->measure[measure].kind == TBI_MEASURE_FELL;
}

double tabi_study_value(const tabi_study *study, int64_t run, int32_t parameter) {
  TBI_ASSERT(study && parameter >= 0 && parameter < study->nparameter);
  double u = tbi_design_point(&study->design, run, parameter);
  return tbi_parameter_value(&study->parameter[parameter], u);
}

const char *tabi_study_choice(const tabi_study *study, int64_t run, int32_t parameter) {
  double value = tabi_study_value(study, run, parameter);
  const char **choice = study->parameter[parameter].choice;
  return choice ? choice[(int32_t)value] : NULL;
}

/* positive, as the scene's key wants it */
int32_t tabi_study_seed(const tabi_study *study, int64_t run) {
  TBI_ASSERT(study);
  return 1 + (int32_t)(tbi_hash2(study->design.seed + 0x5eed, (uint64_t)run) % 2147483646U);
}

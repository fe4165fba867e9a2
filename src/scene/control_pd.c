/* control_pd.c - controllers that hold the posture (pd) or follow a table (csv). */
#include "base/error.h"
#include "io/csv.h"
#include "scene/control.h"

#include <math.h>
#include <stdlib.h>

typedef struct keys {
  const char *type, *file;
  tbi_drive_keys drive;
} keys;

static const tbi_field fields[] = {
    {"type",     TBI_FIELD_WORD,         offsetof(keys, type)          },
    {"file",     TBI_FIELD_WORD,         offsetof(keys, file)          },
    {"kp",       TBI_FIELD_NOT_NEGATIVE, offsetof(keys, drive.kp)      },
    {"kd",       TBI_FIELD_NOT_NEGATIVE, offsetof(keys, drive.kd)      },
    {"implicit", TBI_FIELD_BOOL,         offsetof(keys, drive.implicit)},
    {"joints",   TBI_FIELD_MAP,          offsetof(keys, drive.joints)  },
    {"springs",  TBI_FIELD_MAP,          offsetof(keys, drive.springs) },
};

typedef struct controller {
  tabi_trajectory *trajectory; /* or NULL */
  tabi_pd *pd;
} controller;

static void warn_locked(const tabi_options *options, const char *name) {
  const tabi_scene_def *def = options->r->def;
  if (!def->warn) return;
  tabi_error warning;
  (void)tbi_error_set(&warning, TABI_OK, options->node->place,
                      "%scolumn '%.60s' is of a joint that does not move and is not used",
                      options->what, name);
  def->warn(def->warn_user, &warning);
}

/* Columns find their joints, which start on the first row unless the posture says otherwise. */
static tabi_status assign_columns(tbi_drive *drive, const tbi_csv *csv, const double *start) {
  tabi_options *options = drive->options;
  tbi_scene_reader *r = options->r;
  const tbi_yaml_node *posture = r->robots[options->index].posture;
  for (int32_t i = 0; i < csv->ncolumn; ++i) {
    int32_t joint = TABI_NONE;
    tabi_status status = tbi_scene_find_joint(r, options->index, options->node, options->what,
                                              csv->names[i], &joint);
    if (status != TABI_OK) return status;
    tabi_pd_joint *own = &drive->joint[joint - tbi_options_robot(options)->first_joint];
    if (own->joint == TABI_NONE) {
      warn_locked(options, csv->names[i]);
      continue;
    }
    if (own->column != TABI_NONE)
      return tbi_options_fail(options, NULL, "two columns are called '%.60s'", csv->names[i]);
    own->column = i;
    if (posture && tbi_yaml_child(posture, csv->names[i])) continue;
    r->scene->q[tabi_model_joint_q(r->scene->model, joint).first] = start[i];
  }
  return TABI_OK;
}

static tabi_status use_csv(tbi_drive *drive, tbi_csv *csv, controller *made) {
  double *start = calloc((size_t)csv->ncolumn, sizeof *start);
  if (!start) return tbi_error_memory(drive->options->r->err);
  tabi_trajectory_sample(csv->trajectory, tabi_trajectory_start(csv->trajectory), start, NULL);
  tabi_status status = assign_columns(drive, csv, start);
  free(start);
  if (status != TABI_OK) return status;
  made->trajectory = csv->trajectory;
  csv->trajectory = NULL;
  return TABI_OK;
}

static tabi_status read_csv(tbi_drive *drive, const char *file, controller *made) {
  tabi_options *options = drive->options;
  tbi_scene_reader *r = options->r;
  if (!file) return tbi_options_fail(options, NULL, "file is missing");
  char *path = tbi_scene_path(r, file);
  if (!path) return tbi_error_memory(r->err);
  tbi_csv csv;
  const tabi_place itself = {NULL, 0};
  tabi_status status = tbi_csv_read(path, itself, &csv, r->err);
  if (status == TABI_ERR_FILE) {
    tabi_error cause = *r->err;
    status = tbi_options_fail(options, "file", "file '%.100s': %.200s", path, cause.message);
  }
  if (status == TABI_OK) status = use_csv(drive, &csv, made);
  tbi_csv_free(&csv);
  free(path);
  return status;
}

static void destroy(void *made) {
  controller *c = made;
  tabi_pd_destroy(c->pd);
  tabi_trajectory_destroy(c->trajectory);
  free(c);
}

static tabi_status fill(tabi_options *options, const keys *given, bool csv, controller *made) {
  tbi_drive drive;
  tabi_status status = tbi_drive_begin(&drive, options, &given->drive);
  if (status == TABI_OK && csv) status = read_csv(&drive, given->file, made);
  tabi_pd_def def = tabi_pd_def_default();
  def.trajectory = made->trajectory;
  if (status == TABI_OK) made->pd = tbi_drive_make(&drive, &def);
  tbi_drive_free(&drive);
  return made->pd ? TABI_OK : TABI_ERR_PARSE;
}

static void *create(tabi_options *options, bool csv, tabi_error *err) {
  keys given = {
      .drive = {.kp = NAN, .kd = NAN}
  };
  tabi_status status = tbi_fields_read(options->node, options->what, fields,
                                       sizeof fields / sizeof *fields, &given, err);
  if (status != TABI_OK) return NULL;
  controller *made = calloc(1, sizeof *made);
  if (!made) {
    (void)tbi_error_memory(err);
    return NULL;
  }
  if (fill(options, &given, csv, made) == TABI_OK) return made;
  destroy(made);
  return NULL;
}

static void *create_pd(const tabi_controller_site *site, tabi_error *err) {
  return create(site->options, false, err);
}

static void *create_csv(const tabi_controller_site *site, tabi_error *err) {
  return create(site->options, true, err);
}

static void update(void *made, tabi_world *world, double timestep) {
  tabi_pd_apply(((controller *)made)->pd, world, timestep);
}

const tabi_controller_type tbi_controller_pd = {.version = TABI_PLUGIN_VERSION,
                                                .name = "pd",
                                                .create = create_pd,
                                                .update = update,
                                                .destroy = destroy};

const tabi_controller_type tbi_controller_csv = {.version = TABI_PLUGIN_VERSION,
                                                 .name = "csv",
                                                 .create = create_csv,
                                                 .update = update,
                                                 .destroy = destroy};

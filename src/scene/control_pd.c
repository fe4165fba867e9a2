/* control_pd.c - controllers that hold the posture (pd) or follow a table (csv). */
#include "base/assertion.h"
#include "base/error.h"
#include "io/csv.h"
#include "io/motion_file.h"
#include "model/builder.h"
#include "scene/control.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define MAX_NUMBER 4096 /* of joints in files of motion */

typedef struct keys {
  const char *type, *file;
  tbi_gain_keys gains;
} keys;

static const tbi_field fields[] = {
    {"type",     TBI_FIELD_WORD,         offsetof(keys, type)          },
    {"file",     TBI_FIELD_WORD,         offsetof(keys, file)          },
    {"kp",       TBI_FIELD_NOT_NEGATIVE, offsetof(keys, gains.kp)      },
    {"kd",       TBI_FIELD_NOT_NEGATIVE, offsetof(keys, gains.kd)      },
    {"implicit", TBI_FIELD_BOOL,         offsetof(keys, gains.implicit)},
    {"joints",   TBI_FIELD_MAP,          offsetof(keys, gains.joints)  },
    {"springs",  TBI_FIELD_MAP,          offsetof(keys, gains.springs) },
};

typedef struct controller {
  tabi_trajectory *trajectory; /* or NULL */
  tabi_trajectory *rate;       /* its speeds, or NULL: its slope */
  tabi_pd *pd;
} controller;

static void warn_locked(const tabi_options *options, const char *name) {
  const tabi_scene_def *def = options->r->def;
  tbi_tell(def->warn, def->warn_user, TABI_SEVERITY_WARNING, options->node->place,
           "%scolumn '%.60s' is of a joint that does not move and is not used", options->what,
           name);
}

/* The joint of a column, which starts at the first value unless the posture says otherwise. */
static bool assign_column(tbi_gains *gains, const tbi_csv *csv, int32_t column, double first) {
  TBI_ASSERT(column >= 0 && column < csv->ncolumn);
  const tabi_options *options = gains->options;
  const tbi_scene_reader *r = options->r;
  const char *name = csv->names[column];
  int32_t joint = tbi_scene_find_joint(r, options->index, options->node, options->what, name);
  if (joint == TABI_NONE) return false;
  tabi_pd_joint *own = &gains->joint[joint - tbi_options_robot(options)->first_joint];
  if (own->joint == TABI_NONE) {
    warn_locked(options, name);
    return true;
  }
  if (own->column != TABI_NONE) {
    return tbi_fail_about(r->error, options->node->place, options->what,
                          "two columns are called '%.60s'", name);
  }
  own->column = column;
  const tbi_yaml_node *posture = r->robots[options->index].posture;
  if (!posture || !tbi_yaml_child(posture, name))
    r->scene->q[tabi_model_joint_q(r->scene->model, joint).first] = first;
  return true;
}

static bool use_csv(tbi_gains *gains, tbi_csv *csv, controller *made) {
  const tbi_first_error *error = gains->options->r->error;
  double *first = calloc((size_t)csv->ncolumn + 1, sizeof *first);
  if (!first) return tbi_fail_memory(gains->options->r->error);
  tabi_trajectory_sample(csv->trajectory, tabi_trajectory_start(csv->trajectory), first, NULL);
  for (int32_t i = 0; i < csv->ncolumn && tbi_ok(error); ++i)
    assign_column(gains, csv, i, first[i]);
  free(first);
  made->trajectory = csv->trajectory;
  csv->trajectory = NULL;
  return tbi_ok(error);
}

static bool has_one_coordinate(const tabi_joint_def *joint) {
  return joint->type == TABI_JOINT_REVOLUTE || joint->type == TABI_JOINT_CONTINUOUS ||
         joint->type == TABI_JOINT_PRISMATIC;
}

/* The robot's joints by their numbers, or in the order of its file if none has a number; how
 * many. */
static int32_t number_joints(const tabi_options *options, const char **names) {
  const tbi_scene_robot *robot = tbi_options_robot(options);
  const tabi_builder *builder = options->r->builder;
  size_t prefix = strlen(robot->prefix);
  int32_t numbered = 0;
  int32_t count = 0;
  for (int32_t i = robot->first_joint; i < robot->first_joint + robot->njoint; ++i) {
    const tabi_joint_def *joint = tbi_builder_joint(builder, i);
    if (!joint->name || joint->id < 0 || joint->id >= MAX_NUMBER) continue;
    names[joint->id] = joint->name + prefix;
    if (joint->id >= numbered) numbered = joint->id + 1;
  }
  if (numbered > 0) return numbered;
  for (int32_t i = robot->first_joint; i < robot->first_joint + robot->njoint; ++i) {
    const tabi_joint_def *joint = tbi_builder_joint(builder, i);
    if (joint->name && has_one_coordinate(joint) && count < MAX_NUMBER)
      names[count++] = joint->name + prefix;
  }
  return count;
}

/* The speeds beside positions, which must have the same columns. */
static tabi_status load_rates(const char *path, const char *const *names, int32_t count,
                              const tbi_csv *csv, tabi_trajectory **rate, tabi_error *err) {
  char *beside = tbi_motion_file_beside(path, ".vel");
  if (!beside) return TABI_OK;
  tbi_csv rates = {0};
  tabi_status status = tbi_motion_file_read_rates(beside, names, count, &rates, err);
  if (status == TABI_OK && rates.ncolumn != csv->ncolumn) {
    status = tbi_error_set(err, TABI_ERR_PARSE, (tabi_place){beside, 1},
                           "%d columns of joints, but the .pos file beside it has %d",
                           rates.ncolumn, csv->ncolumn);
  }
  if (status == TABI_OK) {
    *rate = rates.trajectory;
    rates.trajectory = NULL;
  }
  tbi_csv_free(&rates);
  free(beside);
  return status;
}

static void tell_unused(const tabi_options *options, const char *path) {
  const tabi_scene_def *def = options->r->def;
  char *beside = tbi_motion_file_beside(path, ".zmp");
  if (beside) {
    tbi_tell(def->warn, def->warn_user, TABI_SEVERITY_NOTE, options->node->place,
             "%s'%.200s' is not used: the joints follow the .pos file beside it", options->what,
             beside);
  }
  free(beside);
}

static tabi_status load_motion(const tabi_options *options, const char *path, tbi_csv *csv,
                               tabi_trajectory **rate, tabi_error *err) {
  const char **names = calloc(MAX_NUMBER, sizeof *names);
  if (!names) return tbi_error_memory(err);
  int32_t count = number_joints(options, names);
  tabi_status status = tbi_motion_file_read(path, names, count, csv, err);
  if (status == TABI_OK) status = load_rates(path, names, count, csv, rate, err);
  if (status == TABI_OK) tell_unused(options, path);
  free(names);
  return status;
}

/* A file that cannot be opened is the scene's mistake. */
static bool load_csv(const tabi_options *options, const char *path, tbi_csv *csv,
                     tabi_trajectory **rate) {
  tbi_first_error *error = options->r->error;
  const tabi_place itself = {NULL, 0};
  tabi_error err = {0};
  tabi_status status = tbi_motion_file_is(path) ? load_motion(options, path, csv, rate, &err)
                                                : tbi_csv_read(path, itself, csv, &err);
  if (status == TABI_OK) return true;
  if (status != TABI_ERR_FILE) return tbi_fail_as(error, &err);
  return tbi_fail_about(error, tbi_options_place(options, "file"), options->what,
                        "file '%.100s': %.200s", path, err.message);
}

static bool read_csv(tbi_gains *gains, const char *file, controller *made) {
  const tabi_options *options = gains->options;
  if (!file) {
    return tbi_fail_about(options->r->error, options->node->place, options->what,
                          "file is missing");
  }
  char *path = tbi_scene_path(options->r, file);
  if (!path) return false;
  tbi_csv csv = {0};
  if (load_csv(options, path, &csv, &made->rate)) use_csv(gains, &csv, made);
  tbi_csv_free(&csv);
  free(path);
  return tbi_ok(options->r->error);
}

static void destroy(void *made) {
  controller *c = made;
  tabi_pd_destroy(c->pd);
  tabi_trajectory_destroy(c->trajectory);
  tabi_trajectory_destroy(c->rate);
  free(c);
}

static void fill(tabi_options *options, const keys *given, bool csv, controller *made) {
  tbi_gains gains;
  if (tbi_gains_read(&gains, options, &given->gains) && csv) read_csv(&gains, given->file, made);
  tabi_pd_def def = tabi_pd_def_default();
  def.trajectory = made->trajectory;
  def.rate = made->rate;
  made->pd = tbi_gains_make_pd(&gains, &def);
  tbi_gains_free(&gains);
}

static void *create(tabi_options *options, bool csv) {
  tbi_first_error *error = options->r->error;
  keys given = {
      .gains = {.kp = NAN, .kd = NAN}
  };
  controller *made = calloc(1, sizeof *made);
  if (!made) tbi_fail_memory(error);
  tbi_fields_read(error, options->node, options->what, TBI_FIELDS(fields), &given);
  if (made && tbi_ok(error)) fill(options, &given, csv, made);
  return tbi_controller_made(options, made, destroy);
}

static void *create_pd(const tabi_controller_setup *setup, tabi_error *err) {
  (void)err;
  return create(setup->options, false);
}

static void *create_csv(const tabi_controller_setup *setup, tabi_error *err) {
  (void)err;
  return create(setup->options, true);
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

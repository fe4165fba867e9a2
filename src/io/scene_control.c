/* scene_control.c - controllers of robots: which joints, with which gains, to which targets.
 *
 * Every joint with one coordinate is driven, unless it follows another by a coupling.  Joints that
 * the model drives by position actuators take their target from there and no gains. */
#include "io/scene.h"

#include "base/error.h"
#include "io/csv.h"
#include "model/builder.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* NAN: not given */
typedef struct gains {
  double kp, kd;
  bool implicit;
} gains;

typedef struct controller_keys {
  const char *type, *file;
  gains gains;
  const tbi_yaml_node *joints;
} controller_keys;

static const tbi_field controller_fields[] = {
    {"type",     TBI_FIELD_WORD,         offsetof(controller_keys, type)          },
    {"file",     TBI_FIELD_WORD,         offsetof(controller_keys, file)          },
    {"kp",       TBI_FIELD_NOT_NEGATIVE, offsetof(controller_keys, gains.kp)      },
    {"kd",       TBI_FIELD_NOT_NEGATIVE, offsetof(controller_keys, gains.kd)      },
    {"joints",   TBI_FIELD_MAP,          offsetof(controller_keys, joints)        },
    {"implicit", TBI_FIELD_BOOL,         offsetof(controller_keys, gains.implicit)},
};

static const tbi_field gain_fields[] = {
    {"kp",       TBI_FIELD_NOT_NEGATIVE, offsetof(gains, kp)      },
    {"kd",       TBI_FIELD_NOT_NEGATIVE, offsetof(gains, kd)      },
    {"implicit", TBI_FIELD_BOOL,         offsetof(gains, implicit)},
};

/* A controller on its way. */
typedef struct controller {
  tbi_scene_reader *r;
  const tbi_yaml_node *node;
  int32_t index; /* of the robot */
  tbi_scene_robot *robot;
  controller_keys keys;
  char what[TBI_WHAT_SIZE];
  tabi_pd_joint *joints; /* one for each of the robot's; joint TABI_NONE: not driven */
} controller;

static bool follows(const tabi_model *model, int32_t joint) {
  for (int32_t i = 0; i < tabi_model_ncoupling(model); i++) {
    if (tabi_model_coupling(model, i).joint == joint) return true;
  }
  return false;
}

/* The actuator that takes a position, or TABI_NONE. */
static int32_t position_actuator(const tabi_model *model, int32_t joint) {
  for (int32_t i = 0; i < tabi_model_nactuator(model); i++) {
    tabi_actuator_def actuator = tabi_model_actuator(model, i);
    if (actuator.joint == joint && actuator.bias[1] != 0) return i;
  }
  return TABI_NONE;
}

static void begin_joints(controller *c) {
  const tabi_model *model = c->r->scene->model;
  for (int32_t i = 0; i < c->robot->njoint; i++) {
    int32_t joint = c->robot->first_joint + i;
    tabi_range range = tabi_model_joint_q(model, joint);
    bool driven = range.count == 1 && !follows(model, joint);
    c->joints[i] = (tabi_pd_joint){.joint = driven ? joint : TABI_NONE,
                                   .actuator = position_actuator(model, joint),
                                   .column = TABI_NONE,
                                   .kp = c->keys.gains.kp,
                                   .kd = c->keys.gains.kd,
                                   .implicit = c->keys.gains.implicit};
  }
}

/* What `joints` says about single ones. */
static tabi_status read_gains(controller *c, const tbi_yaml_node *node) {
  tbi_scene_reader *r = c->r;
  int32_t joint = TABI_NONE;
  tabi_status status = tbi_scene_find_joint(r, c->index, node, c->what, node->key, &joint);
  if (status != TABI_OK) return status;
  tabi_pd_joint *own = &c->joints[joint - c->robot->first_joint];
  char what[TBI_WHAT_SIZE];
  (void)snprintf(what, sizeof what, "%.90sjoint '%.40s': ", c->what, node->key);
  gains given = {own->kp, own->kd, own->implicit};
  status = tbi_fields_read(node, what, gain_fields, 3, &given, r->err);
  if (status != TABI_OK) return status;
  own->kp = given.kp;
  own->kd = given.kd;
  own->implicit = given.implicit;
  return TABI_OK;
}

/* Gains for what has no actuator, and none for what has. */
static tabi_status settle_joint(controller *c, tabi_pd_joint *joint) {
  const char *name = tbi_shown(tabi_model_joint(c->r->scene->model, joint->joint).name);
  bool gained = !isnan(joint->kp) || !isnan(joint->kd);
  if (joint->actuator != TABI_NONE && gained) {
    return tbi_scene_fail(c->r, c->node, c->what,
                          "the model drives joint '%.80s' itself; leave kp and kd out", name);
  }
  if (joint->actuator == TABI_NONE && isnan(joint->kp)) {
    return tbi_scene_fail(c->r, c->node, c->what, "kp is missing (joint '%.80s')", name);
  }
  if (isnan(joint->kp)) joint->kp = 0;
  if (isnan(joint->kd)) joint->kd = 0;
  return TABI_OK;
}

static void warn_locked(const controller *c, const char *name) {
  const tabi_scene_def *def = c->r->def;
  if (!def->warn) return;
  tabi_error warning;
  (void)tbi_error_set(&warning, TABI_OK, c->node->place,
                      "%scolumn '%.60s' is of a joint that does not move and is not used", c->what,
                      name);
  def->warn(def->warn_user, &warning);
}

/* Columns find their joints, which start on the first row unless the posture says otherwise. */
static tabi_status assign_columns(controller *c, const tbi_csv *csv, const double *start) {
  tbi_scene_reader *r = c->r;
  const tbi_yaml_node *posture = r->robots[c->index].posture;
  for (int32_t i = 0; i < csv->ncolumn; i++) {
    int32_t joint = TABI_NONE;
    tabi_status status = tbi_scene_find_joint(r, c->index, c->node, c->what, csv->names[i], &joint);
    if (status != TABI_OK) return status;
    tabi_pd_joint *own = &c->joints[joint - c->robot->first_joint];
    if (own->joint == TABI_NONE) {
      warn_locked(c, csv->names[i]);
      continue;
    }
    if (own->column != TABI_NONE) {
      return tbi_scene_fail(r, c->node, c->what, "two columns are called '%.60s'", csv->names[i]);
    }
    own->column = i;
    if (posture && tbi_yaml_child(posture, csv->names[i])) continue;
    r->scene->q[tabi_model_joint_q(r->scene->model, joint).first] = start[i];
  }
  return TABI_OK;
}

static tabi_status use_csv(controller *c, tbi_csv *csv) {
  double *start = calloc((size_t)csv->ncolumn, sizeof *start);
  if (!start) return tbi_error_memory(c->r->err);
  tabi_trajectory_sample(csv->trajectory, tabi_trajectory_start(csv->trajectory), start, NULL);
  tabi_status status = assign_columns(c, csv, start);
  free(start);
  if (status != TABI_OK) return status;
  c->robot->trajectory = csv->trajectory;
  csv->trajectory = NULL;
  return TABI_OK;
}

static tabi_status read_csv(controller *c) {
  tbi_scene_reader *r = c->r;
  if (!c->keys.file) return tbi_scene_fail(r, c->node, c->what, "file is missing");
  char *path = tbi_scene_path(r, c->keys.file);
  if (!path) return tbi_error_memory(r->err);
  tbi_csv csv;
  const tabi_place itself = {NULL, 0};
  tabi_status status = tbi_csv_read(path, itself, &csv, r->err);
  if (status == TABI_ERR_FILE && r->err) {
    tabi_error cause = *r->err;
    status = tbi_scene_fail(r, tbi_yaml_child(c->node, "file"), c->what, "file '%.100s': %.200s",
                            path, cause.message);
  }
  if (status == TABI_OK) status = use_csv(c, &csv);
  tbi_csv_free(&csv);
  free(path);
  return status;
}

static tabi_status make_pd(controller *c) {
  tabi_scene *scene = c->r->scene;
  tabi_pd_def def = tabi_pd_def_default();
  def.joint = c->joints;
  def.trajectory = c->robot->trajectory;
  for (int32_t i = 0; i < c->robot->njoint; i++) {
    tabi_pd_joint joint = c->joints[i];
    if (joint.joint == TABI_NONE) continue;
    tabi_status status = settle_joint(c, &joint);
    if (status != TABI_OK) return status;
    joint.target = scene->q[tabi_model_joint_q(scene->model, joint.joint).first];
    c->joints[def.njoint++] = joint;
  }
  tabi_error err = {0};
  c->robot->pd = tabi_pd_create(scene->model, &def, &err);
  if (c->robot->pd) return TABI_OK;
  if (c->r->err) *c->r->err = err;
  return err.status;
}

static tabi_status read_type(const controller *c, bool *csv) {
  const char *type = c->keys.type;
  if (!type) return tbi_scene_fail(c->r, c->node, c->what, "type is missing (pd, csv)");
  *csv = strcmp(type, "csv") == 0;
  if (*csv || strcmp(type, "pd") == 0) return TABI_OK;
  return tbi_scene_fail(c->r, tbi_yaml_child(c->node, "type"), c->what,
                        "unknown type '%.40s' (pd, csv)", type);
}

static tabi_status fill(controller *c) {
  bool csv = false;
  tabi_status status = read_type(c, &csv);
  if (status != TABI_OK) return status;
  begin_joints(c);
  const tbi_yaml_node *node = c->keys.joints ? c->keys.joints->first : NULL;
  for (; node && status == TABI_OK; node = node->next)
    status = read_gains(c, node);
  if (status == TABI_OK && csv) status = read_csv(c);
  return status == TABI_OK ? make_pd(c) : status;
}

tabi_status tbi_scene_read_controller(tbi_scene_reader *r, int32_t index) {
  const tbi_yaml_node *node = r->robots[index].controller;
  if (!node) return TABI_OK;
  controller c = {.r = r, .node = node, .index = index, .robot = &r->scene->robots[index]};
  c.keys.gains = (gains){NAN, NAN, false};
  (void)snprintf(c.what, sizeof c.what, "robot '%.60s': controller: ", c.robot->name);
  tabi_status status =
      tbi_fields_read(node, c.what, controller_fields,
                      sizeof controller_fields / sizeof *controller_fields, &c.keys, r->err);
  if (status != TABI_OK) return status;
  c.joints = calloc((size_t)c.robot->njoint + 1, sizeof *c.joints);
  if (!c.joints) return tbi_error_memory(r->err);
  status = fill(&c);
  free(c.joints);
  return status;
}

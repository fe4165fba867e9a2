/* drive.c - how the joints of a robot are driven: which, with which gains.
 *
 * Every joint with one coordinate is driven, unless it follows another by a coupling.  Joints that
 * the model drives by position actuators take their target from there and no gains. */
#include "base/error.h"
#include "model/builder.h"
#include "scene/control.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

/* NAN: not given */
typedef struct gains {
  double kp, kd;
  bool implicit;
} gains;

static const tbi_field gain_fields[] = {
    {"kp",       TBI_FIELD_NOT_NEGATIVE, offsetof(gains, kp)      },
    {"kd",       TBI_FIELD_NOT_NEGATIVE, offsetof(gains, kd)      },
    {"implicit", TBI_FIELD_BOOL,         offsetof(gains, implicit)},
};

static bool follows(const tabi_model *model, int32_t joint) {
  for (int32_t i = 0; i < tabi_model_ncoupling(model); ++i) {
    if (tabi_model_coupling(model, i).joint == joint) return true;
  }
  return false;
}

/* The actuator that takes a position, or TABI_NONE. */
static int32_t position_actuator(const tabi_model *model, int32_t joint) {
  for (int32_t i = 0; i < tabi_model_nactuator(model); ++i) {
    tabi_actuator_def actuator = tabi_model_actuator(model, i);
    if (actuator.joint == joint && actuator.bias[1] != 0) return i;
  }
  return TABI_NONE;
}

static void begin_joints(tbi_drive *drive, const tbi_drive_keys *keys) {
  const tabi_model *model = drive->options->r->scene->model;
  const tbi_scene_robot *robot = tbi_options_robot(drive->options);
  for (int32_t i = 0; i < robot->njoint; ++i) {
    int32_t joint = robot->first_joint + i;
    tabi_range range = tabi_model_joint_q(model, joint);
    bool driven = range.count == 1 && !follows(model, joint);
    drive->joint[i] = (tabi_pd_joint){.joint = driven ? joint : TABI_NONE,
                                      .actuator = position_actuator(model, joint),
                                      .column = TABI_NONE,
                                      .kp = keys->kp,
                                      .kd = keys->kd,
                                      .implicit = keys->implicit};
  }
}

/* The robot's joint that is the key of a node, counted from its first. */
static tabi_status find_own(const tbi_drive *drive, const tbi_yaml_node *node, int32_t *own) {
  const tabi_options *options = drive->options;
  int32_t joint = TABI_NONE;
  tabi_status status =
      tbi_scene_find_joint(options->r, options->index, node, options->what, node->key, &joint);
  if (status == TABI_OK) *own = joint - tbi_options_robot(options)->first_joint;
  return status;
}

/* What `joints` says about one. */
static tabi_status read_gains(const tbi_drive *drive, const tbi_yaml_node *node) {
  int32_t own = 0;
  tabi_status status = find_own(drive, node, &own);
  if (status != TABI_OK) return status;
  tabi_pd_joint *joint = &drive->joint[own];
  char what[TBI_WHAT_SIZE];
  (void)snprintf(what, sizeof what, "%.90sjoint '%.40s': ", drive->options->what, node->key);
  gains given = {joint->kp, joint->kd, joint->implicit};
  status = tbi_fields_read(node, what, gain_fields, 3, &given, drive->options->r->err);
  if (status != TABI_OK) return status;
  joint->kp = given.kp;
  joint->kd = given.kd;
  joint->implicit = given.implicit;
  return TABI_OK;
}

/* What `springs` says about one; locked ones are let be. */
static tabi_status read_spring(const tbi_drive *drive, const tbi_yaml_node *node) {
  int32_t own = 0;
  tabi_status status = find_own(drive, node, &own);
  if (status != TABI_OK) return status;
  tabi_pd_joint *joint = &drive->joint[own];
  char what[TBI_WHAT_SIZE];
  (void)snprintf(what, sizeof what, "%.90ssprings: ", drive->options->what);
  const tbi_field field = {node->key, TBI_FIELD_NOT_NEGATIVE, 0};
  status = tbi_fields_one(node, what, &field, &joint->kp, drive->options->r->err);
  joint->kd = 0;
  joint->implicit = true;
  drive->spring[own] = true;
  return status;
}

tabi_status tbi_drive_begin(tbi_drive *drive, tabi_options *options, const tbi_drive_keys *keys) {
  size_t count = (size_t)tbi_options_robot(options)->njoint + 1;
  *drive = (tbi_drive){.options = options};
  drive->joint = calloc(count, sizeof *drive->joint);
  drive->spring = calloc(count, sizeof *drive->spring);
  if (!drive->joint || !drive->spring) return tbi_error_memory(options->r->err);
  begin_joints(drive, keys);
  tabi_status status = TABI_OK;
  const tbi_yaml_node *node = keys->joints ? keys->joints->first : NULL;
  for (; node && status == TABI_OK; node = node->next)
    status = read_gains(drive, node);
  node = keys->springs ? keys->springs->first : NULL;
  for (; node && status == TABI_OK; node = node->next)
    status = read_spring(drive, node);
  return status;
}

void tbi_drive_free(tbi_drive *drive) {
  free(drive->joint);
  free(drive->spring);
}

/* Gains for what has no actuator, and none for what has. */
static tabi_status settle_joint(const tbi_drive *drive, tabi_pd_joint *joint) {
  tabi_options *options = drive->options;
  const char *name = tbi_shown(tabi_model_joint(options->r->scene->model, joint->joint).name);
  bool gained = !isnan(joint->kp) || !isnan(joint->kd);
  if (joint->actuator != TABI_NONE && gained) {
    return tbi_options_fail(options, NULL,
                            "the model drives joint '%.80s' itself; leave kp and kd out", name);
  }
  if (joint->actuator == TABI_NONE && isnan(joint->kp))
    return tbi_options_fail(options, NULL, "kp is missing (joint '%.80s')", name);
  if (isnan(joint->kp)) joint->kp = 0;
  if (isnan(joint->kd)) joint->kd = 0;
  return TABI_OK;
}

tabi_pd *tbi_drive_make(tbi_drive *drive, tabi_pd_def *def) {
  const tabi_scene *scene = drive->options->r->scene;
  def->joint = drive->joint;
  def->njoint = 0;
  for (int32_t i = 0; i < tbi_options_robot(drive->options)->njoint; ++i) {
    tabi_pd_joint joint = drive->joint[i];
    if (joint.joint == TABI_NONE) continue;
    if (settle_joint(drive, &joint) != TABI_OK) return NULL;
    joint.target = scene->q[tabi_model_joint_q(scene->model, joint.joint).first];
    drive->joint[def->njoint++] = joint;
  }
  return tabi_pd_create(scene->model, def, drive->options->r->err);
}

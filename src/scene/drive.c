/* drive.c - how the joints of a robot are driven: which, with which gains.
 *
 * Every joint with one coordinate is driven, unless it follows another by a coupling.  Joints that
 * the model drives by position actuators take their target from there and no gains. */
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

/* What the key of a node names: the place of the joint in the drive, or -1 after an error. */
static int32_t find_own(const tbi_drive *drive, const tbi_yaml_node *node) {
  const tabi_options *options = drive->options;
  int32_t joint = tbi_scene_find_joint(options->r, options->index, node, options->what, node->key);
  return joint == TABI_NONE ? -1 : joint - tbi_options_robot(options)->first_joint;
}

/* What `joints` says about one. */
static void read_gains(const tbi_drive *drive, const tbi_yaml_node *node) {
  int32_t own = find_own(drive, node);
  if (own < 0) return;
  tabi_pd_joint *joint = &drive->joint[own];
  char what[TBI_WHAT_SIZE];
  (void)snprintf(what, sizeof what, "%.90sjoint '%.40s': ", drive->options->what, node->key);
  gains given = {joint->kp, joint->kd, joint->implicit};
  tbi_fields_read(drive->options->r->error, node, what, TBI_FIELDS(gain_fields), &given);
  joint->kp = given.kp;
  joint->kd = given.kd;
  joint->implicit = given.implicit;
}

/* What `springs` says about one; locked ones are let be. */
static void read_spring(const tbi_drive *drive, const tbi_yaml_node *node) {
  int32_t own = find_own(drive, node);
  if (own < 0) return;
  tabi_pd_joint *joint = &drive->joint[own];
  char what[TBI_WHAT_SIZE];
  (void)snprintf(what, sizeof what, "%.90ssprings: ", drive->options->what);
  const tbi_field field = {node->key, TBI_FIELD_NOT_NEGATIVE, 0};
  tbi_fields_one(drive->options->r->error, node, what, &field, &joint->kp);
  joint->kd = 0;
  joint->implicit = true;
  drive->spring[own] = true;
}

bool tbi_drive_begin(tbi_drive *drive, tabi_options *options, const tbi_drive_keys *keys) {
  const tbi_first_error *error = options->r->error;
  size_t count = (size_t)tbi_options_robot(options)->njoint + 1;
  *drive = (tbi_drive){.options = options};
  drive->joint = calloc(count, sizeof *drive->joint);
  drive->spring = calloc(count, sizeof *drive->spring);
  if (!drive->joint || !drive->spring) return tbi_fail_memory(options->r->error);
  begin_joints(drive, keys);
  const tbi_yaml_node *node = keys->joints ? keys->joints->first : NULL;
  for (; node && tbi_ok(error); node = node->next)
    read_gains(drive, node);
  node = keys->springs ? keys->springs->first : NULL;
  for (; node && tbi_ok(error); node = node->next)
    read_spring(drive, node);
  return tbi_ok(error);
}

void tbi_drive_free(tbi_drive *drive) {
  free(drive->joint);
  free(drive->spring);
}

/* Gains for what has no actuator, and none for what has. */
static bool settle_joint(const tbi_drive *drive, tabi_pd_joint *joint) {
  const tabi_options *options = drive->options;
  const char *name = tbi_shown(tabi_model_joint(options->r->scene->model, joint->joint).name);
  bool gained = !isnan(joint->kp) || !isnan(joint->kd);
  if (joint->actuator != TABI_NONE && gained) {
    return tbi_fail_about(options->r->error, options->node->place, options->what,
                          "the model drives joint '%.80s' itself; leave kp and kd out", name);
  }
  if (joint->actuator == TABI_NONE && isnan(joint->kp)) {
    return tbi_fail_about(options->r->error, options->node->place, options->what,
                          "kp is missing (joint '%.80s')", name);
  }
  if (isnan(joint->kp)) joint->kp = 0;
  if (isnan(joint->kd)) joint->kd = 0;
  return true;
}

tabi_pd *tbi_drive_make(tbi_drive *drive, tabi_pd_def *def) {
  const tabi_scene *scene = drive->options->r->scene;
  tbi_first_error *error = drive->options->r->error;
  if (!tbi_ok(error)) return NULL;
  def->joint = drive->joint;
  def->njoint = 0;
  for (int32_t i = 0; i < tbi_options_robot(drive->options)->njoint; ++i) {
    tabi_pd_joint joint = drive->joint[i];
    if (joint.joint == TABI_NONE) continue;
    if (!settle_joint(drive, &joint)) return NULL;
    joint.target = scene->q[tabi_model_joint_q(scene->model, joint.joint).first];
    drive->joint[def->njoint++] = joint;
  }
  tabi_error err = {0};
  tabi_pd *pd = tabi_pd_create(scene->model, def, &err);
  if (!pd) tbi_fail_as(error, &err);
  return pd;
}

/* control_gains.c - which joints of a robot are driven, and with which gains.
 *
 * Every joint with one coordinate is driven, unless it follows another by a coupling.  Joints that
 * the model drives by position actuators take their target from there and no gains. */
#include "base/array.h"
#include "base/assertion.h"
#include "model/builder.h"
#include "scene/control.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* NAN: not given */
typedef struct joint_gains {
  double kp, kd;
  bool implicit;
} joint_gains;

static const tbi_field gain_fields[] = {
    {"kp",       TBI_FIELD_NOT_NEGATIVE, offsetof(joint_gains, kp)      },
    {"kd",       TBI_FIELD_NOT_NEGATIVE, offsetof(joint_gains, kd)      },
    {"implicit", TBI_FIELD_BOOL,         offsetof(joint_gains, implicit)},
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

static void begin_joints(tbi_gains *gains, const tbi_gain_keys *keys) {
  const tabi_model *model = gains->options->r->scene->model;
  const tbi_scene_robot *robot = tbi_options_robot(gains->options);
  for (int32_t i = 0; i < robot->njoint; ++i) {
    int32_t joint = robot->first_joint + i;
    tabi_range range = tabi_model_joint_q(model, joint);
    bool driven = range.count == 1 && !follows(model, joint);
    // gains for all joints are for those that the file leaves alone
    int32_t actuator = position_actuator(model, joint);
    bool own = actuator != TABI_NONE;
    gains->joint[i] = (tabi_pd_joint){.joint = driven ? joint : TABI_NONE,
                                      .actuator = actuator,
                                      .column = TABI_NONE,
                                      .kp = own ? (double)NAN : keys->kp,
                                      .kd = own ? (double)NAN : keys->kd,
                                      .implicit = keys->implicit};
  }
}

/* What the key of a node names: the place of the joint in the gains, or -1 after an error. */
static int32_t find_own(const tbi_gains *gains, const tbi_yaml_node *node) {
  const tabi_options *options = gains->options;
  int32_t joint = tbi_scene_find_joint(options->r, options->index, node, options->what, node->key);
  if (joint == TABI_NONE) return -1;
  const tbi_scene_robot *robot = tbi_options_robot(options);
  TBI_ASSERT(joint >= robot->first_joint && joint < robot->first_joint + robot->njoint);
  return joint - robot->first_joint;
}

/* What `joints` says about one. */
static void read_gains(const tbi_gains *gains, const tbi_yaml_node *node) {
  int32_t own = find_own(gains, node);
  if (own < 0) return;
  tabi_pd_joint *joint = &gains->joint[own];
  char what[TBI_WHAT_SIZE];
  (void)snprintf(what, sizeof what, "%.90sjoint '%.40s': ", gains->options->what, node->key);
  joint_gains given = {joint->kp, joint->kd, joint->implicit};
  tbi_fields_read(gains->options->r->error, node, what, TBI_FIELDS(gain_fields), &given);
  joint->kp = given.kp;
  joint->kd = given.kd;
  joint->implicit = given.implicit;
}

/* What `springs` says about one; locked joints are ignored. */
static void read_spring(const tbi_gains *gains, const tbi_yaml_node *node) {
  int32_t own = find_own(gains, node);
  if (own < 0) return;
  tabi_pd_joint *joint = &gains->joint[own];
  char what[TBI_WHAT_SIZE];
  (void)snprintf(what, sizeof what, "%.90ssprings: ", gains->options->what);
  const tbi_field field = {node->key, TBI_FIELD_NOT_NEGATIVE, 0};
  tbi_fields_one(gains->options->r->error, node, what, &field, &joint->kp);
  joint->kd = 0;
  joint->implicit = true;
  gains->spring[own] = true;
}

bool tbi_gains_read(tbi_gains *gains, tabi_options *options, const tbi_gain_keys *keys) {
  const tbi_first_error *error = options->r->error;
  size_t count = (size_t)tbi_options_robot(options)->njoint + 1;
  *gains = (tbi_gains){.options = options};
  gains->joint = calloc(count, sizeof *gains->joint);
  gains->spring = calloc(count, sizeof *gains->spring);
  if (!gains->joint || !gains->spring) return tbi_fail_memory(options->r->error);
  begin_joints(gains, keys);
  const tbi_yaml_node *node = keys->joints ? keys->joints->first : NULL;
  for (; node && tbi_ok(error); node = node->next)
    read_gains(gains, node);
  node = keys->springs ? keys->springs->first : NULL;
  for (; node && tbi_ok(error); node = node->next)
    read_spring(gains, node);
  return tbi_ok(error);
}

void tbi_gains_free(tbi_gains *gains) {
  free(gains->joint);
  free(gains->spring);
}

/* Gains for what has no actuator, and none for what has. */
static bool settle_joint(const tbi_gains *gains, tabi_pd_joint *joint) {
  const tabi_options *options = gains->options;
  const char *name = tbi_shown(tabi_model_joint(options->r->scene->model, joint->joint).name);
  bool gained = !isnan(joint->kp) || !isnan(joint->kd);
  if (joint->actuator != TABI_NONE && gained) {
    return tbi_fail_about(
        options->r->error, options->node->place, options->what,
        "the model drives joint '%.80s' itself; leave it out of joints and springs", name);
  }
  if (joint->actuator == TABI_NONE && isnan(joint->kp)) {
    return tbi_fail_about(options->r->error, options->node->place, options->what,
                          "kp is missing (joint '%.80s'%s)", name,
                          tabi_model_nactuator(options->r->scene->model) > 0
                              ? ", which its file does not drive; kp: 0 leaves it passive"
                              : "");
  }
  if (isnan(joint->kp)) joint->kp = 0;
  if (isnan(joint->kd)) joint->kd = 0;
  return true;
}

/* for servo_check.c */
static bool note_servos(tbi_scene_reader *r, const tabi_pd_def *def) {
  void *items = r->servos;
  bool room =
      tbi_array_reserve(&items, &r->servo_capacity, r->nservo, def->njoint, sizeof *r->servos);
  r->servos = items;
  if (!room) return tbi_fail_memory(r->error);
  for (int32_t i = 0; i < def->njoint; ++i)
    r->servos[r->nservo++] = def->joint[i];
  return true;
}

/* An actuator that no column moves keeps the input that the keyframe gives it. */
static bool keeps_input(const tabi_scene *scene, const tabi_pd_joint *joint) {
  return joint->actuator != TABI_NONE && joint->column == TABI_NONE &&
         !isnan(scene->u[joint->actuator]);
}

static bool is_tendon_servo(const tabi_actuator_def *actuator, const tbi_scene_robot *robot) {
  bool own = actuator->name && strncmp(actuator->name, robot->prefix, strlen(robot->prefix)) == 0;
  return own && actuator->tendon != TABI_NONE && actuator->bias[1] != 0 && actuator->gain != 0;
}

/* Servos of tendons hold the length that the posture gives them, as those of joints hold their
 * angle, unless the keyframe gives them an input. */
static bool hold_tendons(const tbi_gains *gains) {
  tabi_scene *scene = gains->options->r->scene;
  const tabi_model *model = scene->model;
  const tbi_scene_robot *robot = tbi_options_robot(gains->options);
  tabi_dynamics *d = tabi_dynamics_create(model, NULL);
  if (!d) return tbi_fail_memory(gains->options->r->error);
  tabi_dynamics_set_state(d, scene->q, scene->v);
  for (int32_t i = 0; i < tabi_model_nactuator(model); ++i) {
    tabi_actuator_def a = tabi_model_actuator(model, i);
    if (!is_tendon_servo(&a, robot) || !isnan(scene->u[i])) continue;
    double length = a.gear * tabi_dynamics_tendon_length(d, a.tendon, NULL);
    scene->u[i] = -(a.bias[0] + a.bias[1] * length) / a.gain;
  }
  tabi_dynamics_destroy(d);
  return true;
}

tabi_pd *tbi_gains_make_pd(tbi_gains *gains, tabi_pd_def *def) {
  TBI_ASSERT(gains->options && def);
  const tabi_scene *scene = gains->options->r->scene;
  tbi_first_error *error = gains->options->r->error;
  if (!tbi_ok(error) || !hold_tendons(gains)) return NULL;
  def->joint = gains->joint;
  def->njoint = 0;
  for (int32_t i = 0; i < tbi_options_robot(gains->options)->njoint; ++i) {
    tabi_pd_joint joint = gains->joint[i];
    if (joint.joint == TABI_NONE) continue;
    if (!settle_joint(gains, &joint)) return NULL;
    if (keeps_input(scene, &joint)) continue;
    joint.target = scene->q[tabi_model_joint_q(scene->model, joint.joint).first];
    gains->joint[def->njoint++] = joint;
  }
  if (!note_servos(gains->options->r, def)) return NULL;
  tabi_error err = {0};
  tabi_pd *pd = tabi_pd_create(scene->model, def, &err);
  if (!pd) tbi_fail_as(error, &err);
  return pd;
}

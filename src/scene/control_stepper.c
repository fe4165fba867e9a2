/* control_stepper.c - `type: walk` with a velocity: legs, soles and front are found by themselves,
 * and the robot walks online (docs/balance.md).
 *
 *   controller: {type: walk, velocity: [0.3, 0, 0], steps: 10, sensors: true}
 *
 * Sensors are put in by themselves: encoders in all joints, a gyro and an accelerometer in the
 * base, force sensors above the feet, with noise and delay; the model is built anew with them. */
#include "scene/control.h"

#include "base/assertion.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct keys {
  const char *type, *front;
  const tbi_yaml_node *velocity, *sensors;
  int32_t steps;
  double knee_bend, friction, stand_before;
  bool sees_ground;
} keys;

static const tbi_field fields[] = {
    {"type",         TBI_FIELD_WORD,         offsetof(keys, type)        },
    {"velocity",     TBI_FIELD_NODE,         offsetof(keys, velocity)    },
    {"steps",        TBI_FIELD_COUNT,        offsetof(keys, steps)       },
    {"front",        TBI_FIELD_WORD,         offsetof(keys, front)       },
    {"knee_bend",    TBI_FIELD_NOT_NEGATIVE, offsetof(keys, knee_bend)   },
    {"friction",     TBI_FIELD_POSITIVE,     offsetof(keys, friction)    },
    {"stand_before", TBI_FIELD_NOT_NEGATIVE, offsetof(keys, stand_before)},
    {"sensors",      TBI_FIELD_NODE,         offsetof(keys, sensors)     },
    {"sees_ground",  TBI_FIELD_BOOL,         offsetof(keys, sees_ground) },
};

/* Standard deviations and delay of the sensors. */
typedef struct sensor_keys {
  double encoder, gyro, accelerometer, force, torque, delay; /* rad, rad/s, m/s^2, N, N m, s */
} sensor_keys;

static const tbi_field sensor_fields[] = {
    {"encoder",       TBI_FIELD_NOT_NEGATIVE, offsetof(sensor_keys, encoder)      },
    {"gyro",          TBI_FIELD_NOT_NEGATIVE, offsetof(sensor_keys, gyro)         },
    {"accelerometer", TBI_FIELD_NOT_NEGATIVE, offsetof(sensor_keys, accelerometer)},
    {"force",         TBI_FIELD_NOT_NEGATIVE, offsetof(sensor_keys, force)        },
    {"torque",        TBI_FIELD_NOT_NEGATIVE, offsetof(sensor_keys, torque)       },
    {"delay",         TBI_FIELD_NOT_NEGATIVE, offsetof(sensor_keys, delay)        },
};

typedef struct controller {
  tabi_stepper *stepper;
  tabi_stepper_command command;
  double stand_before; /* s */
} controller;

static void destroy(void *made) {
  controller *c = made;
  tabi_stepper_destroy(c->stepper);
  free(c);
}

static void reset(void *made) {
  controller *c = made;
  tabi_stepper_reset(c->stepper);
  tabi_stepper_set_command(c->stepper, &(tabi_stepper_command){0});
}

static void update(void *made, tabi_world *world, double timestep) {
  controller *c = made;
  int64_t start = (int64_t)round(c->stand_before / timestep);
  if (tabi_world_steps(world) == start) tabi_stepper_set_command(c->stepper, &c->command);
  tabi_stepper_update(c->stepper, world, timestep);
}

static const tabi_controller_type online = {.version = TABI_PLUGIN_VERSION,
                                            .name = "walk",
                                            .reset = reset,
                                            .update = update,
                                            .destroy = destroy};

tabi_stepper *tabi_scene_stepper(const tabi_scene *scene, int32_t robot) {
  TBI_ASSERT(scene && robot >= 0 && robot < scene->nrobot);
  const tbi_scene_robot *r = &scene->robots[robot];
  return r->controller && r->control == &online ? ((controller *)r->controller)->stepper : NULL;
}

/* -- sensors */

static int32_t add_sensor(const tabi_options *options, tabi_sensor_def *def, double delay) {
  def->delay = delay;
  return tabi_builder_add_sensor(options->r->builder, def);
}

static int32_t add_at_link(const tabi_options *options, tabi_sensor_type type, int32_t link,
                           double noise, double delay) {
  tabi_sensor_def def = tabi_sensor_def_default();
  def.type = type;
  def.link = link;
  for (int i = 0; i < 3; ++i)
    def.noise[i] = noise;
  return add_sensor(options, &def, delay);
}

static int32_t add_at_joint(const tabi_options *options, tabi_sensor_type type, int32_t joint,
                            const double noise[2], double delay) {
  tabi_sensor_def def = tabi_sensor_def_default();
  def.type = type;
  def.joint = joint;
  for (int i = 0; i < tabi_sensor_type_size(type); ++i)
    def.noise[i] = noise[i / 3];
  return add_sensor(options, &def, delay);
}

/* true, false, or a map of noise and delay. */
static bool read_sensors(const tabi_options *options, const tbi_yaml_node *node,
                         sensor_keys *given) {
  *given = (sensor_keys){0};
  if (!node) return false;
  char what[TBI_WHAT_SIZE];
  (void)snprintf(what, sizeof what, "%.120ssensors: ", options->what);
  if (node->kind == TBI_YAML_MAP)
    return tbi_fields_read(options->r->error, node, what, TBI_FIELDS(sensor_fields), given);
  bool on = false;
  const tbi_field field = {"sensors", TBI_FIELD_BOOL, 0};
  return tbi_fields_one(options->r->error, node, options->what, &field, &on) && on;
}

/* All that the estimate needs; encoder[njoint] of the model. */
static void add_sensors(const tabi_options *options, const sensor_keys *given,
                        const tabi_biped *biped, int32_t *encoder, tabi_stepper_def *def) {
  const tabi_model *model = options->r->scene->model;
  const tbi_scene_robot *robot = tbi_options_robot(options);
  int32_t base = tabi_model_joint(model, biped->base).child;
  const double angle[2] = {given->encoder, 0};
  const double wrench[2] = {given->force, given->torque};
  for (int32_t i = 0; i < tabi_model_njoint(model); ++i)
    encoder[i] = TABI_NONE;
  for (int32_t i = robot->first_joint; i < robot->first_joint + robot->njoint; ++i) {
    if (tabi_model_joint_q(model, i).count != 1) continue;
    encoder[i] = add_at_joint(options, TABI_SENSOR_ENCODER, i, angle, given->delay);
  }
  def->encoder = encoder;
  def->gyro = add_at_link(options, TABI_SENSOR_GYRO, base, given->gyro, given->delay);
  def->accelerometer =
      add_at_link(options, TABI_SENSOR_ACCELEROMETER, base, given->accelerometer, given->delay);
  for (int side = 0; side < 2; ++side) {
    const tabi_leg *leg = &biped->leg[side];
    def->force[side] = add_at_joint(options, TABI_SENSOR_FORCE_TORQUE, leg->joint[leg->njoint - 1],
                                    wrench, given->delay);
  }
  options->r->rebuild = true;
}

/* -- making */

static bool read_front(const tabi_options *options, const char *word, double front[3]) {
  static const struct {
    const char *word;
    double x, y;
  } known[] = {
      {"x",  1,  0 },
      {"-x", -1, 0 },
      {"y",  0,  1 },
      {"-y", 0,  -1}
  };
  for (size_t i = 0; i < sizeof known / sizeof *known; ++i) {
    if (strcmp(word, known[i].word) != 0) continue;
    front[0] = known[i].x;
    front[1] = known[i].y;
    front[2] = 0;
    return true;
  }
  return tbi_fail_about(options->r->error, tbi_options_place(options, "front"), options->what,
                        "front must be x, -x, y or -y, not '%.40s'", word);
}

/* Stands on what is below it. */
static bool stand(const tabi_options *options, const keys *given, tabi_biped *biped) {
  tabi_scene *scene = options->r->scene;
  double front[3];
  if (given->front && !read_front(options, given->front, front)) return false;
  tabi_error err = {0};
  const double up[3] = {0, 0, 1};
  double rise = 0;
  const tbi_scene_robot *robot = tbi_options_robot(options);
  int32_t link = robot->moving == TABI_NONE ? robot->base : robot->moving;
  bool good =
      tabi_biped_find(scene->model, link, scene->q, given->front ? front : NULL, biped, &err) ==
          TABI_OK &&
      tabi_biped_stand(scene->model, biped, given->knee_bend, 0, scene->q, &err) == TABI_OK &&
      tabi_model_find_rise(scene->model, scene->q, biped->base, up, &rise, &err) == TABI_OK;
  if (!good) {
    return tbi_fail_about(options->r->error, options->node->place, options->what, "%.400s",
                          err.message);
  }
  if (isfinite(rise)) scene->q[tabi_model_joint_q(scene->model, biped->base).first + 2] += rise;
  return true;
}

static bool make(const tabi_options *options, const keys *given, controller *made) {
  const tabi_model *model = options->r->scene->model;
  tbi_first_error *error = options->r->error;
  tabi_biped biped;
  sensor_keys sensors;
  if (!stand(options, given, &biped)) return false;
  tabi_stepper_def def = tabi_stepper_def_default();
  def.biped = &biped;
  def.posture = options->r->scene->q;
  if (given->friction > 0) def.friction = given->friction;
  def.sees_ground = given->sees_ground;
  bool sensed = read_sensors(options, given->sensors, &sensors);
  int32_t *encoder = calloc((size_t)tabi_model_njoint(model) + 1, sizeof *encoder);
  if (!encoder) return tbi_fail_memory(error);
  if (sensed && tbi_ok(error)) add_sensors(options, &sensors, &biped, encoder, &def);
  tabi_error err = {0};
  if (tbi_ok(error)) made->stepper = tabi_stepper_create(model, &def, &err);
  free(encoder);
  if (!made->stepper && tbi_ok(error)) tbi_fail_as(error, &err);
  return made->stepper;
}

void *tbi_stepper_controller(const tabi_controller_setup *setup) {
  tabi_options *options = setup->options;
  tbi_first_error *error = options->r->error;
  keys given = {.steps = -1, .stand_before = 0.5};
  controller *made = calloc(1, sizeof *made);
  if (!made) tbi_fail_memory(error);
  if (tbi_fields_read(error, options->node, options->what, TBI_FIELDS(fields), &given) && made &&
      tbi_fields_numbers(error, given.velocity, options->what, "velocity", made->command.velocity,
                         3) &&
      make(options, &given, made)) {
    made->command.steps = given.steps;
    made->stand_before = given.stand_before;
    tbi_options_robot(options)->control = &online;
  }
  return tbi_controller_made(options, made, destroy);
}

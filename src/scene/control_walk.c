/* control_walk.c - a controller that walks: a plan of steps, made when the scene is read,
 * joint control along it, and a stabiliser that reads the robot's sensors. */
#include "scene/control.h"

#include "base/assertion.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_STAND  600.0  /* s */
#define MIN_SAMPLE 2.5e-4 /* s, between samples of the plan, which take memory */
#define MAX_SAMPLE 2e-3

typedef struct keys {
  const char *type, *waist, *first;
  const tbi_yaml_node *feet, *place, *stabiliser;
  double height, spacing, yaw, stand_before, stand_after;
  bool feed_forward;
  tbi_footstep_keys steps;
  tbi_gain_keys gains;
} keys;

static const tbi_field fields[] = {
    {"type",           TBI_FIELD_WORD,         offsetof(keys, type)                     },
    {"steps",          TBI_FIELD_NODE,         offsetof(keys, steps.steps)              },
    {"stride",         TBI_FIELD_NUMBER,       offsetof(keys, steps.each.forward)       },
    {"sideways",       TBI_FIELD_NUMBER,       offsetof(keys, steps.each.sideways)      },
    {"turn",           TBI_FIELD_NUMBER,       offsetof(keys, steps.each.turn)          },
    {"arc",            TBI_FIELD_NUMBER,       offsetof(keys, steps.arc)                },
    {"double_support", TBI_FIELD_POSITIVE,     offsetof(keys, steps.each.double_support)},
    {"single_support", TBI_FIELD_POSITIVE,     offsetof(keys, steps.each.single_support)},
    {"lift",           TBI_FIELD_NOT_NEGATIVE, offsetof(keys, steps.each.lift)          },
    {"first",          TBI_FIELD_WORD,         offsetof(keys, first)                    },
    {"waist",          TBI_FIELD_WORD,         offsetof(keys, waist)                    },
    {"feet",           TBI_FIELD_LIST,         offsetof(keys, feet)                     },
    {"waist_height",   TBI_FIELD_POSITIVE,     offsetof(keys, height)                   },
    {"spacing",        TBI_FIELD_POSITIVE,     offsetof(keys, spacing)                  },
    {"place",          TBI_FIELD_NODE,         offsetof(keys, place)                    },
    {"yaw",            TBI_FIELD_NUMBER,       offsetof(keys, yaw)                      },
    {"stand_before",   TBI_FIELD_NOT_NEGATIVE, offsetof(keys, stand_before)             },
    {"stand_after",    TBI_FIELD_NOT_NEGATIVE, offsetof(keys, stand_after)              },
    {"feed_forward",   TBI_FIELD_BOOL,         offsetof(keys, feed_forward)             },
    {"stabiliser",     TBI_FIELD_NODE,         offsetof(keys, stabiliser)               },
    {"kp",             TBI_FIELD_NOT_NEGATIVE, offsetof(keys, gains.kp)                 },
    {"kd",             TBI_FIELD_NOT_NEGATIVE, offsetof(keys, gains.kd)                 },
    {"implicit",       TBI_FIELD_BOOL,         offsetof(keys, gains.implicit)           },
    {"joints",         TBI_FIELD_MAP,          offsetof(keys, gains.joints)             },
    {"springs",        TBI_FIELD_MAP,          offsetof(keys, gains.springs)            },
};

typedef struct stabiliser_keys {
  const char *gyro, *accelerometer;
  const tbi_yaml_node *force, *pole;
  tabi_stabiliser_def def;
} stabiliser_keys;

static const tbi_field stabiliser_fields[] = {
    {"force",           TBI_FIELD_LIST,     offsetof(stabiliser_keys, force)              },
    {"gyro",            TBI_FIELD_WORD,     offsetof(stabiliser_keys, gyro)               },
    {"accelerometer",   TBI_FIELD_WORD,     offsetof(stabiliser_keys, accelerometer)      },
    {"pole",            TBI_FIELD_NODE,     offsetof(stabiliser_keys, pole)               },
    {"delay",           TBI_FIELD_POSITIVE, offsetof(stabiliser_keys, def.delay)          },
    {"foot_damping",    TBI_FIELD_POSITIVE, offsetof(stabiliser_keys, def.foot_damping)   },
    {"height_damping",  TBI_FIELD_POSITIVE, offsetof(stabiliser_keys, def.height_damping) },
    {"return_standing", TBI_FIELD_POSITIVE, offsetof(stabiliser_keys, def.return_standing)},
    {"return_lifted",   TBI_FIELD_POSITIVE, offsetof(stabiliser_keys, def.return_lifted)  },
    {"speed_filter",    TBI_FIELD_POSITIVE, offsetof(stabiliser_keys, def.speed_filter)   },
    {"attitude_time",   TBI_FIELD_POSITIVE, offsetof(stabiliser_keys, def.attitude_time)  },
};

typedef struct controller {
  tabi_walk *walk;
  tabi_stabiliser *stabiliser; /* or NULL */
  tabi_pd *pd;
} controller;

static void destroy(void *made) {
  controller *c = made;
  tabi_pd_destroy(c->pd);
  tabi_stabiliser_destroy(c->stabiliser);
  tabi_walk_destroy(c->walk);
  free(c);
}

/* A link or sensor of the robot by the name in its file, or TABI_NONE. */
static int32_t find(const tabi_options *options,
                    int32_t (*find_in)(const tabi_model *model, const char *name),
                    const char *name) {
  char *full = tbi_text_join(tbi_options_robot(options)->prefix, name);
  if (!full) tbi_fail_memory(options->r->error);
  int32_t found = full ? find_in(options->r->scene->model, full) : TABI_NONE;
  free(full);
  return found;
}

/* Two names of a list, left and right; those of our own robots if there is none. */
static bool read_sides(const tabi_options *options, const tbi_yaml_node *list, const char *key,
                       const char *name[2]) {
  if (!list) return true;
  bool two = list->count == 2 && list->first->kind == TBI_YAML_SCALAR &&
             list->last->kind == TBI_YAML_SCALAR;
  if (!two) {
    return tbi_fail_about(options->r->error, list->place, options->what, "%s must be [left, right]",
                          key);
  }
  name[0] = list->first->text;
  name[1] = list->last->text;
  return true;
}

static bool find_links(const tabi_options *options, const keys *given, tabi_walk_def *def) {
  const char *feet[2] = {"l_foot", "r_foot"};
  read_sides(options, given->feet, "feet", feet);
  for (int side = 0; side < 2; ++side) {
    def->foot[side] = find(options, tabi_model_find_link, feet[side]);
    if (def->foot[side] != TABI_NONE) continue;
    return tbi_fail_about(options->r->error, tbi_options_place(options, "feet"), options->what,
                          "no link is called '%.60s'; name both soles, feet: [left, right]",
                          feet[side]);
  }
  def->waist = tbi_options_robot(options)->base;
  if (given->waist) def->waist = find(options, tabi_model_find_link, given->waist);
  if (def->waist != TABI_NONE) return tbi_ok(options->r->error);
  return tbi_fail_about(options->r->error, tbi_options_place(options, "waist"), options->what,
                        "no link is called '%.60s'; name the one that floats", given->waist);
}

/* Under the waist of the robot as it was put, on the ground, and looking the same way. */
static bool read_place(const tabi_options *options, const keys *given, tabi_walk_def *def) {
  const tabi_scene *scene = options->r->scene;
  tabi_error err = {0};
  tabi_dynamics *dynamics = tabi_dynamics_create(scene->model, &err);
  if (!dynamics) return tbi_fail_as(options->r->error, &err);
  double quat[4];
  tabi_dynamics_set_state(dynamics, scene->q, scene->v);
  tabi_dynamics_link_pose(dynamics, def->waist, def->place, quat);
  tabi_dynamics_destroy(dynamics);
  def->place[2] = 0;
  def->yaw = 2 * atan2(quat[3], quat[0]);
  if (!isnan(given->yaw)) def->yaw = given->yaw;
  if (!given->place) return true;
  return tbi_fields_numbers(options->r->error, given->place, options->what, "place", def->place, 3);
}

static bool read_first(const tabi_options *options, const char *first, tabi_side *side) {
  *side = TABI_LEFT;
  if (!first || strcmp(first, "left") == 0) return true;
  *side = TABI_RIGHT;
  if (strcmp(first, "right") == 0) return true;
  return tbi_fail_about(options->r->error, tbi_options_place(options, "first"), options->what,
                        "first must be left or right, not '%.40s'", first);
}

static bool check_stand(const tabi_options *options, const keys *given) {
  if (given->stand_before <= MAX_STAND && given->stand_after <= MAX_STAND) return true;
  const char *key = given->stand_before > MAX_STAND ? "stand_before" : "stand_after";
  return tbi_fail_about(options->r->error, tbi_options_place(options, key), options->what,
                        "%s must be at most %g s", key, MAX_STAND);
}

static bool plan(tabi_options *options, const keys *given, controller *made) {
  const tabi_scene *scene = options->r->scene;
  tabi_walk_def def = tabi_walk_def_default();
  tabi_footstep *step = NULL;
  def.waist_height = given->height;
  def.spacing = given->spacing;
  def.stand_before = given->stand_before;
  def.stand_after = given->stand_after;
  def.posture = scene->q;
  // a sample for every step: rates that jump between coarser samples shake the robot
  def.sample_period = fmin(fmax(tabi_model_timestep(scene->model), MIN_SAMPLE), MAX_SAMPLE);
  check_stand(options, given);
  find_links(options, given, &def);
  read_first(options, given->first, &def.first);
  tabi_error err = {0};
  if (tbi_ok(options->r->error) && read_place(options, given, &def) &&
      tbi_footsteps_read(options, &given->steps, &step, &def.nstep)) {
    def.step = step;
    made->walk = tabi_walk_create(scene->model, &def, &err);
    if (!made->walk) tbi_fail_as(options->r->error, &err);
  }
  free(step);
  if (made->walk) tabi_walk_initial_q(made->walk, scene->q);
  return made->walk;
}

static bool follow(tabi_options *options, const keys *given, controller *made) {
  TBI_ASSERT(made->walk);
  tbi_gains gains;
  tbi_gains_read(&gains, options, &given->gains);
  int32_t njoint = tbi_options_robot(options)->njoint;
  for (int32_t i = 0; i < njoint && tbi_ok(options->r->error); ++i) {
    if (!gains.spring[i]) gains.joint[i].column = gains.joint[i].joint;
  }
  tabi_pd_def def = tabi_pd_def_default();
  def.trajectory = tabi_walk_trajectory(made->walk);
  if (given->feed_forward) def.torque = tabi_walk_torque(made->walk);
  made->pd = tbi_gains_make_pd(&gains, &def);
  tbi_gains_free(&gains);
  return made->pd;
}

static int32_t find_sensor(const tabi_options *options, const char *name, tabi_sensor_type type,
                           const char *place) {
  int32_t sensor = find(options, tabi_model_find_sensor, name);
  if (sensor != TABI_NONE) return sensor;
  tbi_fail_about(options->r->error, tbi_options_place(options, "stabiliser"), options->what,
                 "stabiliser: no sensor is called '%.40s'; add {name: %.40s, type: %s, %s} to the "
                 "robot's sensors",
                 name, name, tabi_sensor_type_name(type), place);
  return TABI_NONE;
}

static bool find_sensors(const tabi_options *options, const stabiliser_keys *given,
                         tabi_stabiliser_def *def) {
  static const char *const ankle[2] = {"joint: (left ankle)", "joint: (right ankle)"};
  const char *force[2] = {"l_ft", "r_ft"};
  read_sides(options, given->force, "force", force);
  for (int side = 0; side < 2; ++side)
    def->force[side] = find_sensor(options, force[side], TABI_SENSOR_FORCE_TORQUE, ankle[side]);
  def->gyro = find_sensor(options, given->gyro, TABI_SENSOR_GYRO, "link: (waist)");
  def->accelerometer =
      find_sensor(options, given->accelerometer, TABI_SENSOR_ACCELEROMETER, "link: (waist)");
  return tbi_ok(options->r->error);
}

/* With defaults, or not at all. */
static bool read_switch(const tabi_options *options, const tbi_yaml_node *node) {
  if (node->kind == TBI_YAML_MAP) return true;
  bool on = true;
  const tbi_field field = {"stabiliser", TBI_FIELD_BOOL, 0};
  return tbi_fields_one(options->r->error, node, options->what, &field, &on) && on;
}

/* `node` is on, off, or a map. */
static void stabilise(const tabi_options *options, const tbi_yaml_node *node, controller *made) {
  TBI_ASSERT(made->walk && made->pd);
  tbi_first_error *error = options->r->error;
  if (!read_switch(options, node)) return;
  char what[TBI_WHAT_SIZE];
  (void)snprintf(what, sizeof what, "%.120sstabiliser: ", options->what);
  stabiliser_keys given = {
      .gyro = "gyro", .accelerometer = "accelerometer", .def = tabi_stabiliser_def_default()};
  if (node->kind == TBI_YAML_MAP)
    tbi_fields_read(error, node, what, TBI_FIELDS(stabiliser_fields), &given);
  given.def.walk = made->walk;
  if (given.pole) tbi_fields_numbers(error, given.pole, what, "pole", given.def.pole, 2);
  if (!tbi_ok(error) || !find_sensors(options, &given, &given.def)) return;
  tabi_error err = {0};
  made->stabiliser = tabi_stabiliser_create(options->r->scene->model, &given.def, &err);
  if (!made->stabiliser) tbi_fail_as(error, &err);
}

static void reset(void *made) {
  controller *c = made;
  tabi_stabiliser_reset(c->stabiliser);
}

static void update(void *made, tabi_world *world, double timestep) {
  controller *c = made;
  if (!c->stabiliser) {
    tabi_pd_apply(c->pd, world, timestep);
    return;
  }
  tabi_stabiliser_update(c->stabiliser, world, timestep);
  tabi_pd_apply_targets(c->pd, world, tabi_stabiliser_target(c->stabiliser),
                        tabi_stabiliser_rate(c->stabiliser));
}

const tabi_controller_type tbi_controller_planned_walk = {
    .version = TABI_PLUGIN_VERSION, .name = "walk", .update = update, .destroy = destroy};

static keys default_keys(void) {
  tabi_walk_def def = tabi_walk_def_default();
  return (keys){
      .yaw = NAN,
      .stand_before = def.stand_before,
      .stand_after = def.stand_after,
      .feed_forward = true,
      .steps = {.each = tabi_footstep_default(), .arc = NAN      },
      .gains = { .kp = NAN,                      .kd = NAN, .implicit = true},
  };
}

static void *create(const tabi_controller_setup *setup, tabi_error *err) {
  (void)err;
  tabi_options *options = setup->options;
  if (tbi_yaml_child(options->node, "velocity")) return tbi_stepper_controller(setup);
  tbi_first_error *error = options->r->error;
  keys given = default_keys();
  controller *made = calloc(1, sizeof *made);
  if (!made) tbi_fail_memory(error);
  tbi_fields_read(error, options->node, options->what, TBI_FIELDS(fields), &given);
  if (made && tbi_ok(error) && plan(options, &given, made) && follow(options, &given, made) &&
      given.stabiliser)
    stabilise(options, given.stabiliser, made);
  if (made && tbi_ok(error) && !made->stabiliser)
    tbi_options_robot(options)->control = &tbi_controller_planned_walk;
  return tbi_controller_made(options, made, destroy);
}

const tabi_controller_type tbi_controller_walk = {.version = TABI_PLUGIN_VERSION,
                                                  .name = "walk",
                                                  .create = create,
                                                  .reset = reset,
                                                  .update = update,
                                                  .destroy = destroy};

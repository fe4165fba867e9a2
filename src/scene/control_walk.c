/* control_walk.c - a controller that walks: a plan of steps, made when the scene is read,
 * joint control along it, and a stabiliser that feels with the robot's sensors. */
#include "base/error.h"
#include "scene/control.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_STAND  600.0  /* s */
#define MIN_SAMPLE 2.5e-4 /* s, between rows of the plan, which take room */
#define MAX_SAMPLE 2e-3

typedef struct keys {
  const char *type, *waist, *first;
  const tbi_yaml_node *feet, *place, *stabiliser;
  double height, spacing, yaw, stand_before, stand_after;
  bool feed_forward;
  tbi_step_keys steps;
  tbi_drive_keys drive;
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
    {"kp",             TBI_FIELD_NOT_NEGATIVE, offsetof(keys, drive.kp)                 },
    {"kd",             TBI_FIELD_NOT_NEGATIVE, offsetof(keys, drive.kd)                 },
    {"implicit",       TBI_FIELD_BOOL,         offsetof(keys, drive.implicit)           },
    {"joints",         TBI_FIELD_MAP,          offsetof(keys, drive.joints)             },
    {"springs",        TBI_FIELD_MAP,          offsetof(keys, drive.springs)            },
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

/* A link, joint or sensor of the robot by the name in its file, or TABI_NONE. */
static int32_t find(const tabi_options *options,
                    int32_t (*find_in)(const tabi_model *model, const char *name),
                    const char *name) {
  char full[256];
  int n = snprintf(full, sizeof full, "%s/%s", tbi_options_robot(options)->name, name);
  if (n < 0 || (size_t)n >= sizeof full) return TABI_NONE;
  return find_in(options->r->scene->model, full);
}

/* Two names of a list, left and right; those of our own robots if there is none. */
static tabi_status read_sides(tabi_options *options, const tbi_yaml_node *list, const char *key,
                              const char *name[2]) {
  if (!list) return TABI_OK;
  bool two = list->count == 2 && list->first->kind == TBI_YAML_SCALAR &&
             list->last->kind == TBI_YAML_SCALAR;
  if (!two) return tbi_scene_fail(options->r, list, options->what, "%s must be [left, right]", key);
  name[0] = list->first->text;
  name[1] = list->last->text;
  return TABI_OK;
}

static tabi_status find_links(tabi_options *options, const keys *given, tabi_walk_def *def) {
  const char *feet[2] = {"l_foot", "r_foot"};
  tabi_status status = read_sides(options, given->feet, "feet", feet);
  if (status != TABI_OK) return status;
  for (int side = 0; side < 2; ++side) {
    def->foot[side] = find(options, tabi_model_find_link, feet[side]);
    if (def->foot[side] != TABI_NONE) continue;
    return tbi_options_fail(options, "feet",
                            "no link is called '%.60s'; name both soles, feet: [left, right]",
                            feet[side]);
  }
  def->waist = tbi_options_robot(options)->base;
  if (given->waist) def->waist = find(options, tabi_model_find_link, given->waist);
  if (def->waist != TABI_NONE) return TABI_OK;
  return tbi_options_fail(options, "waist", "no link is called '%.60s'; name the one that floats",
                          given->waist);
}

/* Under the waist of the robot as it was put, on the ground, and looking the same way. */
static tabi_status read_place(tabi_options *options, const keys *given, tabi_walk_def *def) {
  const tabi_scene *scene = options->r->scene;
  tabi_dynamics *dynamics = tabi_dynamics_create(scene->model, options->r->err);
  if (!dynamics) return TABI_ERR_MEMORY;
  double quat[4];
  tabi_dynamics_set_state(dynamics, scene->q, scene->v);
  tabi_dynamics_link_pose(dynamics, def->waist, def->place, quat);
  tabi_dynamics_destroy(dynamics);
  def->place[2] = 0;
  def->yaw = 2 * atan2(quat[3], quat[0]);
  if (!isnan(given->yaw)) def->yaw = given->yaw;
  if (!given->place) return TABI_OK;
  return tbi_fields_numbers(given->place, options->what, "place", def->place, 3, options->r->err);
}

static tabi_status read_first(tabi_options *options, const char *first, tabi_side *side) {
  *side = TABI_LEFT;
  if (!first || strcmp(first, "left") == 0) return TABI_OK;
  *side = TABI_RIGHT;
  if (strcmp(first, "right") == 0) return TABI_OK;
  return tbi_options_fail(options, "first", "first must be left or right, not '%.40s'", first);
}

static tabi_status check_stand(tabi_options *options, const keys *given) {
  if (given->stand_before <= MAX_STAND && given->stand_after <= MAX_STAND) return TABI_OK;
  const char *key = given->stand_before > MAX_STAND ? "stand_before" : "stand_after";
  return tbi_options_fail(options, key, "%s must be at most %g s", key, MAX_STAND);
}

static tabi_status plan(tabi_options *options, const keys *given, controller *made) {
  tabi_walk_def def = tabi_walk_def_default();
  tabi_footstep *step = NULL;
  def.waist_height = given->height;
  def.spacing = given->spacing;
  def.stand_before = given->stand_before;
  def.stand_after = given->stand_after;
  def.posture = options->r->scene->q;
  /* a row for every step: rates that jump between the rows of coarser ones shake the robot */
  double timestep = tabi_model_timestep(options->r->scene->model);
  def.sample_period = fmin(fmax(timestep, MIN_SAMPLE), MAX_SAMPLE);
  tabi_status status = check_stand(options, given);
  if (status == TABI_OK) status = find_links(options, given, &def);
  if (status == TABI_OK) status = read_first(options, given->first, &def.first);
  if (status == TABI_OK) status = read_place(options, given, &def);
  if (status == TABI_OK) status = tbi_steps_read(options, &given->steps, &step, &def.nstep);
  def.step = step;
  if (status == TABI_OK)
    made->walk = tabi_walk_create(options->r->scene->model, &def, options->r->err);
  free(step);
  if (!made->walk) return TABI_ERR_PARSE;
  tabi_walk_initial_q(made->walk, options->r->scene->q);
  return TABI_OK;
}

static tabi_status follow(tabi_options *options, const keys *given, controller *made) {
  tbi_drive drive;
  tabi_status status = tbi_drive_begin(&drive, options, &given->drive);
  int32_t njoint = tbi_options_robot(options)->njoint;
  for (int32_t i = 0; i < njoint && status == TABI_OK; ++i) {
    if (!drive.spring[i]) drive.joint[i].column = drive.joint[i].joint;
  }
  tabi_pd_def def = tabi_pd_def_default();
  def.trajectory = tabi_walk_trajectory(made->walk);
  if (given->feed_forward) def.torque = tabi_walk_torque(made->walk);
  if (status == TABI_OK) made->pd = tbi_drive_make(&drive, &def);
  tbi_drive_free(&drive);
  return made->pd ? TABI_OK : TABI_ERR_PARSE;
}

static tabi_status find_sensor(tabi_options *options, const char *name, tabi_sensor_type type,
                               const char *place, int32_t *sensor) {
  *sensor = find(options, tabi_model_find_sensor, name);
  if (*sensor != TABI_NONE) return TABI_OK;
  return tbi_options_fail(options, "stabiliser",
                          "stabiliser: no sensor is called '%.40s'; add {name: %.40s, type: %s, "
                          "%s} to the robot's sensors",
                          name, name, tabi_sensor_type_name(type), place);
}

static tabi_status find_sensors(tabi_options *options, const stabiliser_keys *given,
                                tabi_stabiliser_def *def) {
  static const char *const ankle[2] = {"joint: (left ankle)", "joint: (right ankle)"};
  const char *force[2] = {"l_ft", "r_ft"};
  tabi_status status = read_sides(options, given->force, "force", force);
  for (int side = 0; side < 2 && status == TABI_OK; ++side)
    status =
        find_sensor(options, force[side], TABI_SENSOR_FORCE_TORQUE, ankle[side], &def->force[side]);
  if (status == TABI_OK)
    status = find_sensor(options, given->gyro, TABI_SENSOR_GYRO, "link: (waist)", &def->gyro);
  if (status == TABI_OK)
    status = find_sensor(options, given->accelerometer, TABI_SENSOR_ACCELEROMETER, "link: (waist)",
                         &def->accelerometer);
  return status;
}

/* With defaults, or not at all. */
static tabi_status read_switch(tabi_options *options, const tbi_yaml_node *node, bool *on) {
  *on = true;
  if (node->kind == TBI_YAML_MAP) return TABI_OK;
  const tbi_field field = {"stabiliser", TBI_FIELD_BOOL, 0};
  return tbi_fields_one(node, options->what, &field, on, options->r->err);
}

/* `node` is on, off, or a map. */
static tabi_status stabilise(tabi_options *options, const tbi_yaml_node *node, controller *made) {
  bool on = true;
  tabi_status status = read_switch(options, node, &on);
  if (status != TABI_OK || !on) return status;
  char what[TBI_WHAT_SIZE];
  (void)snprintf(what, sizeof what, "%.120sstabiliser: ", options->what);
  stabiliser_keys given = {
      .gyro = "gyro", .accelerometer = "accelerometer", .def = tabi_stabiliser_def_default()};
  if (node->kind == TBI_YAML_MAP)
    status = tbi_fields_read(node, what, stabiliser_fields,
                             sizeof stabiliser_fields / sizeof *stabiliser_fields, &given,
                             options->r->err);
  given.def.walk = made->walk;
  if (status == TABI_OK && given.pole)
    status = tbi_fields_numbers(given.pole, what, "pole", given.def.pole, 2, options->r->err);
  if (status == TABI_OK) status = find_sensors(options, &given, &given.def);
  if (status != TABI_OK) return status;
  made->stabiliser = tabi_stabiliser_create(options->r->scene->model, &given.def, options->r->err);
  return made->stabiliser ? TABI_OK : TABI_ERR_PARSE;
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

/* The plan depends on the time alone. */
static const tabi_controller_type without_memory = {
    .version = TABI_PLUGIN_VERSION, .name = "walk", .update = update, .destroy = destroy};

static keys usual_keys(void) {
  tabi_walk_def def = tabi_walk_def_default();
  return (keys){
      .yaw = NAN,
      .stand_before = def.stand_before,
      .stand_after = def.stand_after,
      .feed_forward = true,
      .steps = {.each = tabi_footstep_default(), .arc = NAN      },
      .drive = { .kp = NAN,                      .kd = NAN, .implicit = true},
  };
}

static void *create(const tabi_controller_site *site, tabi_error *err) {
  tabi_options *options = site->options;
  keys given = usual_keys();
  tabi_status status = tbi_fields_read(options->node, options->what, fields,
                                       sizeof fields / sizeof *fields, &given, err);
  if (status != TABI_OK) return NULL;
  controller *made = calloc(1, sizeof *made);
  if (!made) {
    (void)tbi_error_memory(err);
    return NULL;
  }
  status = plan(options, &given, made);
  if (status == TABI_OK) status = follow(options, &given, made);
  if (status == TABI_OK && given.stabiliser) status = stabilise(options, given.stabiliser, made);
  if (status != TABI_OK) {
    destroy(made);
    return NULL;
  }
  if (!made->stabiliser) tbi_options_robot(options)->control = &without_memory;
  return made;
}

const tabi_controller_type tbi_controller_walk = {.version = TABI_PLUGIN_VERSION,
                                                  .name = "walk",
                                                  .create = create,
                                                  .reset = reset,
                                                  .update = update,
                                                  .destroy = destroy};

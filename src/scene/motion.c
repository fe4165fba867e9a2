/* motion.c - bodies and joints of a scene that move as told, whatever pushes.
 *
 *   motion: {velocity: [0.5, 0, 0], in_place: true}     a belt
 *   motion: {angular: [0, 0, 2]}                        a turntable
 *   motion: {velocity: [0.1, 0, 0], sine: {frequency: 3}}
 *   motion: {table: lift.csv}
 *
 * The velocity of a step is the mean of what is given over it, so that positions at its end are
 * those of the table. */
#include "base/array.h"
#include "base/assertion.h"
#include "scene/time_function.h"

#include <stdlib.h>
#include <string.h>

typedef struct motion_keys {
  const tbi_yaml_node *velocity, *angular, *table, *sine;
  bool in_place;
} motion_keys;

static const tbi_field body_fields[] = {
    {"velocity", TBI_FIELD_NODE, offsetof(motion_keys, velocity)},
    {"angular",  TBI_FIELD_NODE, offsetof(motion_keys, angular) },
    {"table",    TBI_FIELD_NODE, offsetof(motion_keys, table)   },
    {"sine",     TBI_FIELD_MAP,  offsetof(motion_keys, sine)    },
    {"in_place", TBI_FIELD_BOOL, offsetof(motion_keys, in_place)},
};

static const tbi_field joint_fields[] = {
    {"velocity", TBI_FIELD_NODE, offsetof(motion_keys, velocity)},
    {"table",    TBI_FIELD_NODE, offsetof(motion_keys, table)   },
    {"sine",     TBI_FIELD_MAP,  offsetof(motion_keys, sine)    },
};

/* what columns of tables are called */
static const tbi_component body_components[] = {
    {"vx", "x" },
    {"vy", "y" },
    {"vz", "z" },
    {"wx", NULL},
    {"wy", NULL},
    {"wz", NULL},
};
static const tbi_component joint_components[] = {
    {"velocity", "position"},
};

static tbi_scene_motion *add_motion(tbi_scene_reader *r, int32_t joint) {
  tabi_scene *scene = r->scene;
  void *items = scene->motions;
  bool room =
      tbi_array_reserve(&items, &scene->motion_capacity, scene->nmotion, 1, sizeof *scene->motions);
  scene->motions = items;
  if (!room) {
    tbi_fail_memory(r->error);
    return NULL;
  }
  scene->motions[scene->nmotion] = (tbi_scene_motion){.joint = joint};
  return &scene->motions[scene->nmotion++];
}

static bool read_function(tbi_scene_reader *r, const tbi_yaml_node *node, const char *what,
                          const motion_keys *keys, tbi_time_keys time,
                          tbi_time_function *velocity) {
  time.table = keys->table;
  time.sine = keys->sine;
  time.constant = keys->velocity || keys->angular;
  if (!time.table && !time.constant)
    return tbi_fail_about(r->error, node->place, what, "motion needs a velocity or a table");
  return tbi_ok(r->error) && tbi_time_function_read(r, node, what, &time, velocity);
}

bool tbi_scene_read_body_motion(tbi_scene_reader *r, int32_t joint, const tbi_yaml_node *node,
                                const char *what) {
  motion_keys keys = {.velocity = NULL};
  if (!tbi_fields_read(r->error, node, what, TBI_FIELDS(body_fields), &keys)) return false;
  tbi_scene_motion *motion = add_motion(r, joint);
  if (!motion) return false;
  double *to = motion->velocity.constant;
  if (keys.velocity) tbi_fields_numbers(r->error, keys.velocity, what, "velocity", to, 3);
  if (keys.angular) tbi_fields_numbers(r->error, keys.angular, what, "angular", to + 3, 3);
  motion->in_place = keys.in_place;
  const tbi_time_keys time = {.components = body_components, .count = 6};
  return read_function(r, node, what, &keys, time, &motion->velocity);
}

bool tbi_scene_read_joint_motion(tbi_scene_reader *r, int32_t joint, const tbi_yaml_node *node,
                                 const char *what) {
  if (tabi_model_joint_q(r->scene->model, joint).count != 1) {
    return tbi_fail_about(r->error, node->place, what,
                          "motion: joint '%.60s' is not one with one coordinate that moves",
                          node->key);
  }
  motion_keys keys = {.velocity = NULL};
  if (!tbi_fields_read(r->error, node, what, TBI_FIELDS(joint_fields), &keys)) return false;
  tbi_scene_motion *motion = add_motion(r, joint);
  if (!motion) return false;
  double *to = motion->velocity.constant;
  if (keys.velocity) tbi_fields_number(r->error, keys.velocity, what, "velocity", to);
  const tbi_time_keys time = {.components = joint_components, .count = 1};
  return read_function(r, node, what, &keys, time, &motion->velocity);
}

void tbi_scene_start_motions(tbi_scene_reader *r, double timestep) {
  const tabi_scene *scene = r->scene;
  for (int32_t i = 0; i < scene->nmotion; ++i) {
    const tbi_scene_motion *motion = &scene->motions[i];
    tabi_range dofs = tabi_model_joint_v(scene->model, motion->joint);
    TBI_ASSERT(dofs.count == motion->velocity.count);
    tbi_time_function_mean(&motion->velocity, 0, timestep, scene->v + dofs.first);
  }
}

void tbi_scene_apply_motions(const tabi_scene *scene, tabi_world *world) {
  double time = tabi_world_time(world);
  for (int32_t i = 0; i < scene->nmotion; ++i) {
    const tbi_scene_motion *motion = &scene->motions[i];
    tabi_motion told = {.in_place = motion->in_place};
    tbi_time_function_mean(&motion->velocity, time, scene->world.timestep, told.v);
    tabi_world_set_motion(world, motion->joint, &told);
  }
}

void tbi_scene_free_motions(tabi_scene *scene) {
  for (int32_t i = 0; i < scene->nmotion; ++i)
    tbi_time_function_free(&scene->motions[i].velocity);
  free(scene->motions);
}

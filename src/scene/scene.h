/* scene.h - a scene and the readers of its parts.
 *
 *   scene.c           the file, its materials and its log; the order in which all is read
 *   body.c            bodies and their shapes
 *   robot.c           robots: loading, locking, materials, initial state
 *   control.h         controllers of robots
 *   contact.c         integrator and contact method
 *   gait.c            the planar biped of contact method gait
 *   external_force.c  forces on links
 *   no_collision.c    pairs that do not collide
 *   run.c             the scene in a world: reset and control
 *   source.c          what it was read from */
#ifndef TBI_SCENE_H
#define TBI_SCENE_H

#include "base/text.h"
#include "io/fields.h"
#include "tabi/tabi_control.h"
#include "tabi/tabi_gait.h"
#include "tabi/tabi_io.h"
#include "tabi/tabi_plugin.h"

#define TBI_WHAT_SIZE 160 /* "robot 'a': controller: " */

typedef struct tbi_scene_force {
  int32_t link;
  double force[3], torque[3]; /* world axes */
  double at[3];               /* link frame */
  double from, to;            /* s */
} tbi_scene_force;

/* The initial velocity of a body or of the base of a robot. */
typedef struct tbi_scene_velocity {
  int32_t joint; /* free */
  double v[6];
} tbi_scene_velocity;

typedef struct tbi_scene_robot {
  const char *name, *prefix; /* prefix: "name/", before the names of its links and joints */
  int32_t base, moving;
  int32_t first_link, nlink; /* in the model */
  int32_t first_joint, njoint;
  const tabi_controller_type *control;
  void *controller; /* of that type, or NULL */
} tbi_scene_robot;

struct tabi_scene {
  tbi_text_pool text;
  const char *name;
  tabi_model *model;
  tabi_model *draft; /* the same without connections, which controllers look at; or NULL */
  tabi_world_def world;
  tabi_gait *gait; /* or NULL */
  double duration;
  double *q, *v; /* initial state */
  tbi_scene_robot *robots;
  tbi_scene_force *forces;
  const char **signals;
  int32_t nrobot, nforce;
  tabi_scene_log log;
  char *source; /* what it was read from */
  const char **set;
  tabi_scene_source read;
};

/* Keys of a robot that are read in several passes. */
typedef struct tbi_robot_keys {
  const char *name, *model, *base;
  const tbi_yaml_node *place[3]; /* xyz, rpy, quat as given */
  const tbi_yaml_node *moves[2]; /* lin, ang as given */
  const tbi_yaml_node *posture, *velocity, *lock, *materials, *controller, *sensors;
  bool self_collision;
} tbi_robot_keys;

/* A scene that is being read. */
typedef struct tbi_scene_reader {
  tabi_scene *scene;
  tabi_builder *builder;
  const tabi_scene_def *def;
  const char *path;
  tbi_first_error *error;
  tbi_scene_velocity *velocities;
  int32_t nvelocity, velocity_capacity;
  tbi_robot_keys *robots; /* as many as scene->robots */
} tbi_scene_reader;

/* Before the section `contact` is read: its old keys get their new names, each with a warning. */
bool tbi_scene_rename_contact(const tbi_scene_reader *r, const tbi_yaml_node *map);
/* A file named in the scene, relative to it; the caller frees.  NULL after an error. */
char *tbi_scene_path(const tbi_scene_reader *r, const char *file);
/* The index of a material; TABI_NONE after an error at the node, with a suggestion. */
int32_t tbi_scene_material(const tbi_scene_reader *r, const tbi_yaml_node *node, const char *what,
                           const char *name);
/* The initial velocity of a free joint. */
bool tbi_scene_add_velocity(tbi_scene_reader *r, int32_t joint, const double lin[3],
                            const double ang[3]);
/* The index of "robot/link" or "body"; TABI_NONE after an error, with a suggestion. */
int32_t tbi_scene_find_link(const tbi_scene_reader *r, const tbi_yaml_node *node, const char *what,
                            const char *name);

void tbi_scene_read_bodies(tbi_scene_reader *r, const tbi_yaml_node *list);
bool tbi_scene_read_robots(tbi_scene_reader *r, const tbi_yaml_node *list);
/* When there is a model: postures, velocities, controllers. */
void tbi_scene_finish_robots(tbi_scene_reader *r);
bool tbi_scene_read_controller(tbi_scene_reader *r, int32_t index);
void tbi_scene_free_controller(tbi_scene_robot *robot);
/* A joint of the robot at an index by its name in the robot's file; TABI_NONE after an error, with
 * a suggestion. */
int32_t tbi_scene_find_joint(const tbi_scene_reader *r, int32_t index, const tbi_yaml_node *node,
                             const char *what, const char *name);
/* Integrator and contact method over the defaults in scene->world; either node may be NULL. */
bool tbi_scene_read_world(tbi_scene_reader *r, const tbi_yaml_node *integrator,
                          const tbi_yaml_node *contact);
/* When the settings of the world are known; either node may be NULL. */
bool tbi_scene_read_gait(tbi_scene_reader *r, const tbi_yaml_node *map,
                         const tbi_yaml_node *contact);
/* When all links are in the builder. */
void tbi_scene_read_no_collision(tbi_scene_reader *r, const tbi_yaml_node *list);
bool tbi_scene_read_forces(tbi_scene_reader *r, const tbi_yaml_node *list);
/* Those of the next step. */
void tbi_scene_apply_forces(const tabi_scene *scene, tabi_world *world);
void tbi_scene_free_robots(tabi_scene *scene);
/* Keeps the text and the settings. */
bool tbi_scene_keep_source(tbi_scene_reader *r, const char *text, size_t size);

#endif

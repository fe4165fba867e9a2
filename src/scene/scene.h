/* scene.h - a scene and the readers of its parts.
 *
 *   scene.c           the file, its materials and its log; the order in which all is read
 *   body.c            bodies and their shapes
 *   robot.c           robots: loading, locking, materials
 *   posture.c         robots: initial state, and the ground below them
 *   control.h         controllers of robots
 *   servo_check.c     servos that are unstable at the time step
 *   contact.c         integrator and contact method
 *   gait.c            the planar biped of contact method gait
 *   external_force.c  forces on links
 *   motion.c          bodies and joints that move as told
 *   time_function.h   numbers that depend on the time
 *   no_collision.c    pairs that do not collide
 *   run.c             the scene in a world: reset and control
 *   world_file.c      worlds of other programs, as the same in YAML
 *   hrp_project.h     those of OpenHRP3 among them
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

#define TBI_TIME_MAX 6 /* components of a function of the time */

/* Numbers that depend on the time (time_function.h). */
typedef struct tbi_time_function {
  int32_t count;                 /* of components */
  double constant[TBI_TIME_MAX]; /* values, or amplitudes of a sine */
  double frequency, phase;       /* Hz, rad, of a sine; frequency 0: constant */
  tabi_trajectory *table;        /* or NULL */
  int32_t ncolumn;
  int32_t column[TBI_TIME_MAX]; /* of the table, by component; TABI_NONE: 0 */
  bool integral[TBI_TIME_MAX];  /* the column has the integral over time */
} tbi_time_function;

typedef struct tbi_scene_force {
  int32_t link;
  tbi_time_function wrench; /* force, then torque: world axes */
  double at[3];             /* link frame */
  double from, to;          /* s */
} tbi_scene_force;

typedef struct tbi_scene_motion {
  int32_t joint;
  tbi_time_function velocity; /* as in v: of a body linear, then angular, world axes */
  bool in_place;
} tbi_scene_motion;

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
  double *u;     /* inputs of actuators at the start, NAN where none are given: [nactuator] */
  tbi_scene_robot *robots;
  tbi_scene_force *forces;
  tbi_scene_motion *motions;
  const char **signals;
  int32_t nrobot, nforce, nmotion, motion_capacity;
  tabi_scene_log log;
  tabi_scene_check check;
  char *source; /* what it was read from */
  const char **set;
  tabi_scene_source read;
};

/* Keys of a robot that are read in several passes. */
typedef struct tbi_robot_keys {
  const char *name, *model, *part, *base, *bush, *put_on;
  const tbi_yaml_node *place[3]; /* xyz, rpy, quat as given */
  const tbi_yaml_node *moves[2]; /* lin, ang as given */
  const tbi_yaml_node *posture, *velocity, *motion, *joints, *links, *lock, *materials, *controller,
      *sensors;
  double settle; /* s */
  bool self_collision;
  tabi_place place_of_robot;
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
  bool rebuild;           /* a controller has added to the builder */
  tabi_pd_joint *servos;  /* of controllers pd, csv and walk: [nservo] */
  int32_t nservo, servo_capacity;
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
/* When the initial posture is known: excludes pairs of links that a robot's self-collision leaves
 * out; true if there are any, so that the model has to be built anew. */
bool tbi_scene_part_robots(tbi_scene_reader *r);
/* posture.c.  Of the robot at an index; what begins messages. */
void tbi_scene_read_posture(tbi_scene_reader *r, int32_t index, const char *what);
/* On what is below it, if asked; a keyframe just inside the ground is lifted out of it. */
bool tbi_scene_place_robot(tbi_scene_reader *r, int32_t index, const char *what);
/* settle.c: lets robots that ask for it settle: scene->q.  After everything else was read. */
bool tbi_scene_settle(tbi_scene_reader *r);
/* Where a joint with one coordinate starts, before there is a model; *value stays if the posture
 * does not say. */
bool tbi_scene_joint_start(const tbi_scene_reader *r, int32_t index, int32_t joint,
                           const char *what, double *value);
bool tbi_scene_read_controller(tbi_scene_reader *r, int32_t index);
void tbi_scene_free_controller(tbi_scene_robot *robot);
/* A joint of the robot at an index by its name in the robot's file; TABI_NONE after an error, with
 * a suggestion. */
int32_t tbi_scene_find_joint(const tbi_scene_reader *r, int32_t index, const tbi_yaml_node *node,
                             const char *what, const char *name);
/* Integrator and contact method over the defaults in scene->world; either node may be NULL. */
bool tbi_scene_read_world(tbi_scene_reader *r, const tbi_yaml_node *integrator,
                          const tbi_yaml_node *contact);
/* When they are known: a warning if the contact method ignores rolling or torsional friction. */
void tbi_scene_warn_couples(const tbi_scene_reader *r);
/* When the settings of the world are known; either node may be NULL. */
bool tbi_scene_read_gait(tbi_scene_reader *r, const tbi_yaml_node *map,
                         const tbi_yaml_node *contact);
/* When integrator and time step are known: warns of r->servos that are unstable with them. */
bool tbi_scene_check_servos(const tbi_scene_reader *r);
/* When all links are in the builder. */
void tbi_scene_read_no_collision(tbi_scene_reader *r, const tbi_yaml_node *list);
bool tbi_scene_read_forces(tbi_scene_reader *r, const tbi_yaml_node *list);
void tbi_scene_free_forces(tabi_scene *scene);
/* Those of the next step. */
void tbi_scene_apply_forces(const tabi_scene *scene, tabi_world *world);
/* Motion of a body by its free joint, or of a joint with one coordinate when there is a model; what
 * begins messages.  The initial velocity follows from it. */
bool tbi_scene_read_body_motion(tbi_scene_reader *r, int32_t joint, const tbi_yaml_node *node,
                                const char *what);
bool tbi_scene_read_joint_motion(tbi_scene_reader *r, int32_t joint, const tbi_yaml_node *node,
                                 const char *what);
void tbi_scene_start_motions(tbi_scene_reader *r, double timestep);
/* Those of the next step. */
void tbi_scene_apply_motions(const tabi_scene *scene, tabi_world *world);
void tbi_scene_free_motions(tabi_scene *scene);
void tbi_scene_free_robots(tabi_scene *scene);
/* Whether a text is XML; then it is written as YAML, which the caller frees.  NULL after an error.
 */
bool tbi_scene_is_xml(const char *text, size_t size);
char *tbi_scene_from_xml(const tbi_scene_reader *r, const char *text, size_t size, size_t *length);
/* Keeps the text and the settings. */
bool tbi_scene_keep_source(tbi_scene_reader *r, const char *text, size_t size);

#endif

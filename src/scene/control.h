/* control.h - controllers of robots while their scene is read.
 *
 *   control.c            the table of all types; making one, and what its errors say
 *   control_options.c    what a plugin may ask for: tabi_options, tabi_setup
 *   control_gains.c      gains of joints, shared by those below
 *   control_pd.c         pd and csv
 *   control_walk.c       walk
 *   control_stepper.c    walk with a velocity
 *   control_footsteps.c  the list of footsteps of a walk
 *   control_plugin.c     plugin: a shared object */
#ifndef TBI_SCENE_CONTROL_H
#define TBI_SCENE_CONTROL_H

#include "scene/scene.h"
#include "tabi/tabi_plugin.h"

/* What built-in types look into; the robot is r->scene->robots[index]. */
struct tabi_options {
  tbi_scene_reader *r;
  const tbi_yaml_node *node; /* the map of the controller */
  int32_t index;
  char what[TBI_WHAT_SIZE]; /* begins messages */
  bool *asked;              /* of a plugin: [node->count] keys that it knows */
};

extern const tabi_controller_type tbi_controller_pd, tbi_controller_csv, tbi_controller_walk,
    tbi_controller_plugin;
/* What `walk` is without a stabiliser: its plan depends on the time alone. */
extern const tabi_controller_type tbi_controller_planned_walk;

/* Whether what controllers do depends on the time alone. */
bool tbi_scene_is_open_loop(const tabi_scene *scene);

/* Where a key of the controller is, or the whole controller if the key is not there. */
tabi_place tbi_options_place(const tabi_options *options, const char *key);
tbi_scene_robot *tbi_options_robot(const tabi_options *options);
/* What create returns: what was made, or NULL after an error, when destroy frees it. */
void *tbi_controller_made(const tabi_options *options, void *made, void (*destroy)(void *));
/* The child of a key that is now known, or NULL. */
const tbi_yaml_node *tbi_options_ask(tabi_options *options, const char *key);

/* What create of `type: walk` returns where a velocity is given. */
void *tbi_stepper_controller(const tabi_controller_setup *setup);

/* -- gains */

typedef struct tbi_gain_keys {
  double kp, kd; /* NAN: not given */
  bool implicit;
  const tbi_yaml_node *joints, *springs;
} tbi_gain_keys;

/* How every joint of a robot is driven; all columns are TABI_NONE at first. */
typedef struct tbi_gains {
  tabi_options *options;
  tabi_pd_joint *joint; /* [njoint of the robot]; joint TABI_NONE: not driven */
  bool *spring; /* [njoint of the robot] keeps its posture as target, whatever the others do */
} tbi_gains;

bool tbi_gains_read(tbi_gains *gains, tabi_options *options, const tbi_gain_keys *keys);
/* With the trajectories of the def, and the posture as targets of joints without a column; NULL
 * after an error. */
tabi_pd *tbi_gains_make_pd(tbi_gains *gains, tabi_pd_def *def);
void tbi_gains_free(tbi_gains *gains);

/* -- footsteps of a walk */

typedef struct tbi_footstep_keys {
  const tbi_yaml_node *steps; /* how many, or a list */
  tabi_footstep each;         /* what is common to all of them ... */
  double arc;                 /* ... and leads all of them that have no stride; NAN: none */
} tbi_footstep_keys;

/* The caller frees *step, which is NULL for none. */
bool tbi_footsteps_read(tabi_options *options, const tbi_footstep_keys *keys, tabi_footstep **step,
                        int32_t *count);

#endif

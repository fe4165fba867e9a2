/* tabi_plugin.h - controllers of robots in scenes, as a table of functions.
 *
 * The built-in controllers go through this table, and so do those that users bring as a shared
 * object:
 *
 *   controller: {type: plugin, file: ./swing.so, amplitude: 0.5}
 *
 * The object exports one thing, the table itself, and links nothing of tabi:
 *
 *   const tabi_controller_type tabi_plugin = {
 *     .version = TABI_PLUGIN_VERSION, .name = "swing", .create = ..., .update = ..., .destroy = ...
 *   };
 */
#ifndef TABI_PLUGIN_H
#define TABI_PLUGIN_H

#include "tabi.h"

TABI_BEGIN

#define TABI_PLUGIN_VERSION 2 /* of all that is in this file */

/* The keys that the scene gives the controller beside type and file. */
typedef struct tabi_options tabi_options;

/* What a controller is made of: its robot in the model of the scene, and its options. */
typedef struct tabi_controller_setup {
  const tabi_model *model; /* of the whole scene; outlives the controller */
  const char *robot;       /* its name; in the model its links and joints are "robot/link" */
  int32_t first_link, nlink;
  int32_t first_joint, njoint;
  double *q;       /* [nq] initial state of the scene; create may change that of its own robot */
  double timestep; /* s */
  tabi_options *options;
} tabi_controller_setup;

typedef struct tabi_controller_type {
  uint32_t version; /* TABI_PLUGIN_VERSION */
  const char *name;
  /* NULL and a message in err when it cannot be made.  A question below that had no valid answer
   * refuses the scene in any case, so that create need not test for it. */
  void *(*create)(const tabi_controller_setup *setup, tabi_error *err);
  /* Before a run from the initial state; NULL for a controller without state of its own. */
  void (*reset)(void *controller);
  /* Before every step, which takes `timestep` s: sets servos, inputs of actuators and forces of the
   * world.  Must not allocate. */
  void (*update)(void *controller, tabi_world *world, double timestep);
  void (*destroy)(void *controller);
} tabi_controller_type;

/* What a shared object defines. */
extern TABI_API const tabi_controller_type tabi_plugin;

/* For create only.  A key that is not there gives the default; a value that cannot be read, and a
 * key that was given and never asked for, refuse the scene, with their line. */
TABI_API double tabi_options_number(tabi_options *options, const char *key, double default_value);
TABI_API bool tabi_options_bool(tabi_options *options, const char *key, bool default_value);
/* Lives as long as create runs. */
TABI_API const char *tabi_options_text(tabi_options *options, const char *key,
                                       const char *default_value);
/* Fills value[count] and returns true; left alone, and false, if the key is not there. */
TABI_API bool tabi_options_numbers(tabi_options *options, const char *key, double *value,
                                   int32_t count);

/* For create only: an index in the model by the name in the robot's file.  A name that is not there
 * refuses the scene and gives TABI_NONE. */
TABI_API int32_t tabi_setup_link(const tabi_controller_setup *setup, const char *name);
TABI_API int32_t tabi_setup_joint(const tabi_controller_setup *setup, const char *name);
TABI_API int32_t tabi_setup_sensor(const tabi_controller_setup *setup, const char *name);

TABI_END

#endif

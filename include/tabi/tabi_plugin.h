/* tabi_plugin.h - controllers of robots in scenes, as a table of functions.
 *
 * What tabi has built in goes through this table, and so does what users bring as a shared object:
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

#define TABI_PLUGIN_VERSION 1 /* of all that is in this file */

/* What the scene says about a controller beside its type and file. */
typedef struct tabi_options tabi_options;

/* Whom a controller drives. */
typedef struct tabi_controller_site {
  const tabi_model *model; /* of the whole scene; outlives the controller */
  const char *robot;       /* its name; in the model its links and joints are "robot/link" */
  int32_t first_link, nlink;
  int32_t first_joint, njoint;
  double *q;       /* [nq] where the scene starts; create may put its own robot elsewhere */
  double timestep; /* s */
  tabi_options *options;
} tabi_controller_site;

typedef struct tabi_controller_type {
  uint32_t version; /* TABI_PLUGIN_VERSION */
  const char *name;
  /* NULL and a message in err when it cannot be had.  Whatever it was asked for in vain (below) is
   * an error without its doing. */
  void *(*create)(const tabi_controller_site *site, tabi_error *err);
  /* A run starts anew; may be NULL. */
  void (*reset)(void *controller);
  /* Before every step, which takes `timestep` s: sets servos, inputs of actuators and forces of the
   * world.  Must not allocate. */
  void (*update)(void *controller, tabi_world *world, double timestep);
  void (*destroy)(void *controller);
} tabi_controller_type;

/* What a shared object defines. */
extern TABI_API const tabi_controller_type tabi_plugin;

/* For create only.  A key that is not there gives the fallback; one that cannot be read, and one
 * that was given and never asked for, refuses the scene, with its line. */
TABI_API double tabi_options_number(tabi_options *options, const char *key, double fallback);
TABI_API bool tabi_options_bool(tabi_options *options, const char *key, bool fallback);
/* Lives as long as create runs. */
TABI_API const char *tabi_options_text(tabi_options *options, const char *key,
                                       const char *fallback);
/* value[count], left alone if the key is not there; false then. */
TABI_API bool tabi_options_numbers(tabi_options *options, const char *key, double *value,
                                   int32_t count);

/* For create only, by names of the robot's file.  One that is not there refuses the scene; the
 * answer is then TABI_NONE. */
TABI_API int32_t tabi_site_link(const tabi_controller_site *site, const char *name);
TABI_API int32_t tabi_site_joint(const tabi_controller_site *site, const char *name);
TABI_API int32_t tabi_site_sensor(const tabi_controller_site *site, const char *name);

TABI_END

#endif

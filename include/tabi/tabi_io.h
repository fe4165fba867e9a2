/* tabi_io.h - robots and scenes from files.
 *
 * URDF, MJCF and SDF become calls to a tabi_builder.  Elements and attributes that tabi does not
 * use are reported to the warning function, once for each kind.  A scene, in YAML, holds robots,
 * bodies, materials, controllers and the settings of a simulation; so does a world in SDF. */
#ifndef TABI_IO_H
#define TABI_IO_H

#include "tabi.h"

TABI_BEGIN

typedef enum tabi_base {
  TABI_BASE_AS_FILE, /* what an MJCF file says; URDF: free, but a massless root above planar joints
                        is fixed */
  TABI_BASE_FREE,
  TABI_BASE_FIXED,
} tabi_base;

typedef struct tabi_load_def {
  uint32_t def_size; /* set by the default function */
  tabi_base base;
  bool place_base; /* put the root link at base_pos, base_quat */
  double base_pos[3], base_quat[4];
  const char *prefix;       /* put before every name, "robot/"; NULL: none */
  const char *package_path; /* folders, separated by ':', in which package:// is looked for and from
                               which the file may read; then come those of ROS_PACKAGE_PATH */
  const char *part;         /* the model to load of an SDF file with several; NULL: all */
  bool need_meshes;         /* a missing mesh is an error, not a warning */
  bool strict;              /* what would be repaired with a warning, and a missing mesh, is an
                               error */
  tabi_warning_fn *warn;    /* may be NULL */
  void *warn_user;
} tabi_load_def;

TABI_API tabi_load_def tabi_load_def_default(void);

/* Load a robot; the root element tells the format.  def may be NULL. */
TABI_API tabi_model *tabi_model_load(const char *path, const tabi_load_def *def, tabi_error *err);

/* Add a robot to a builder, which may hold others. */
TABI_API tabi_status tabi_builder_load(tabi_builder *builder, const char *path,
                                       const tabi_load_def *def, tabi_error *err);
/* The same from memory; `path` names it in messages, and relative files are looked for beside it.
 * No sidecar is read. */
TABI_API tabi_status tabi_builder_load_text(tabi_builder *builder, const char *text, size_t size,
                                            const char *path, const tabi_load_def *def,
                                            tabi_error *err);

/* The sidecar of a URDF file: robot.tabi.yaml beside robot.urdf, for loops, springs and sensors.
 * Writes its path and returns true if there is one. */
TABI_API bool tabi_sidecar_find(const char *path, char *found, size_t size);

/* -------------------------------------------------------------------------------- scenes */

/* A model with its initial state, its controllers, its external forces and the settings of its
 * world:
 *
 *   tabi_scene *scene = tabi_scene_load("stand.yaml", NULL, &err);
 *   tabi_world_def def = tabi_scene_world_def(scene);
 *   tabi_world *world = tabi_world_create(tabi_scene_model(scene), &def, &err);
 *   tabi_scene_reset(scene, world, &err);
 *   while (tabi_world_time(world) < tabi_scene_duration(scene)) {
 *     tabi_scene_control(scene, world);
 *     tabi_world_step_or_grow(world, NULL);
 *   }
 *
 * A scene serves one world at a time. */
typedef struct tabi_scene tabi_scene;

typedef struct tabi_scene_def {
  uint32_t def_size; /* set by the default function */
  /* changes made before the scene is read, "bodies.box.mass=3"; items of lists by name */
  const char *const *set;
  int32_t nset;
  const char *package_path; /* as in tabi_load_def, and */
  bool strict;              /* likewise */
  bool plugins;             /* load shared objects that the scene names, and run their code */
  bool skip_plugins;        /* without `plugins`: read the scene with plugin controllers that do
                               nothing instead of refusing it; to look at, not to run */
  tabi_warning_fn *warn;    /* may be NULL */
  void *warn_user;
  tabi_builder_cache *robots; /* those read before: the files of a robot are read once, and as they
                                 were then; not where warnings are heard.  May be NULL */
} tabi_scene_def;

TABI_API tabi_scene_def tabi_scene_def_default(void);

/* Whether a file is a scene, and not a robot alone: YAML, or XML with a world in it. */
TABI_API bool tabi_scene_recognise(const char *path);
/* NULL and err when it cannot be read.  def may be NULL. */
TABI_API tabi_scene *tabi_scene_load(const char *path, const tabi_scene_def *def, tabi_error *err);
/* The same from memory; `path` names it in messages, and other files are looked for beside it. */
TABI_API tabi_scene *tabi_scene_load_text(const char *text, size_t size, const char *path,
                                          const tabi_scene_def *def, tabi_error *err);
TABI_API void tabi_scene_destroy(tabi_scene *scene); /* NULL is fine */

/* What is returned lives as long as the scene. */
TABI_API const tabi_model *tabi_scene_model(const tabi_scene *scene);
TABI_API const char *tabi_scene_name(const tabi_scene *scene); /* "" if it has none */
TABI_API tabi_world_def tabi_scene_world_def(const tabi_scene *scene);
TABI_API double tabi_scene_duration(const tabi_scene *scene); /* s */

typedef struct tabi_scene_robot {
  const char *name;
  int32_t base;   /* its root link */
  int32_t moving; /* its first link that moves: the base if that floats; TABI_NONE if none does */
} tabi_scene_robot;
TABI_API int32_t tabi_scene_nrobot(const tabi_scene *scene);
TABI_API tabi_scene_robot tabi_scene_get_robot(const tabi_scene *scene, int32_t robot);

/* What a log of the scene should hold. */
typedef struct tabi_scene_log {
  int32_t every;              /* steps between two samples */
  bool forces;                /* sums of contact forces */
  const char *const *signals; /* names of links and joints */
  int32_t nsignal;
} tabi_scene_log;
TABI_API tabi_scene_log tabi_scene_get_log(const tabi_scene *scene);

/* What a run of the scene should keep, in any of its steps; infinite: anything goes. */
typedef struct tabi_scene_check {
  double penetration; /* m */
  double energy_gain; /* above the lowest energy before, as a share of the range of the energy */
  double residual;    /* m/s, of complementarity and dissipation */
} tabi_scene_check;
TABI_API tabi_scene_check tabi_scene_get_check(const tabi_scene *scene);

/* Puts a world into the initial state of the scene and resets the controllers.  A world of another
 * model is refused. */
TABI_API tabi_status tabi_scene_reset(const tabi_scene *scene, tabi_world *world, tabi_error *err);
/* Applies controllers and external forces of the next step to a world of the scene's model;
 * allocates nothing. */
TABI_API void tabi_scene_control(tabi_scene *scene, tabi_world *world);
/* What walks a robot by a velocity (tabi_control.h): its state, and commands while it runs.  NULL
 * if the robot has no such controller. */
TABI_API struct tabi_stepper *tabi_scene_stepper(const tabi_scene *scene, int32_t robot);

/* What the scene was read from: its text, the path of its file, and the changes made to it. */
typedef struct tabi_scene_source {
  const char *text, *path;
  size_t size;
  const char *const *set;
  int32_t nset;
} tabi_scene_source;
TABI_API tabi_scene_source tabi_scene_get_source(const tabi_scene *scene);
/* Whether some controller has state of its own (a walk with a stabiliser, a plugin), so that a
 * snapshot of the world alone does not determine how a run continues. */
TABI_API bool tabi_scene_is_stateful(const tabi_scene *scene);
/* Exchanges the controllers of two scenes with the same robots, with their state.  Both scenes must
 * then live as long as either runs. */
TABI_API tabi_status tabi_scene_swap_controllers(tabi_scene *scene, tabi_scene *other,
                                                 tabi_error *err);

/* Of the known names the one nearest to a mistyped one, for "did you mean"; NULL if none is near.
 */
TABI_API const char *tabi_nearest_name(const char *typed, const char *const *known, size_t count);

/* --------------------------------------------------------------------- friction problems */

/* A stored problem in the text layout of docs/solve.md; NULL and err when it cannot be read. */
TABI_API tabi_friction_problem *tabi_friction_problem_load(const char *path, tabi_error *err);
/* The same from memory; `path` names it in messages. */
TABI_API tabi_friction_problem *tabi_friction_problem_load_text(const char *text, size_t size,
                                                                const char *path, tabi_error *err);

TABI_END

#endif

/* tabi_io.h - robots and scenes from files, and logs of what they did.
 *
 * URDF and MJCF become calls to a tabi_builder.  What a file says and tabi does not use is
 * reported to the warning function, once for each kind of thing.  A scene, in YAML, holds robots,
 * bodies, materials, controllers and the settings of a simulation. */
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
  const char *package_path; /* folders to search for package://, separated by ':'; NULL: only
                               the folders above the file */
  bool need_meshes;         /* a missing mesh is an error, not a warning */
  tabi_warning_fn *warn;    /* may be NULL */
  void *warn_user;
} tabi_load_def;

TABI_API tabi_load_def tabi_load_def_default(void);

/* Load a robot; the kind of file is told by its root element.  def may be NULL. */
TABI_API tabi_model *tabi_model_load(const char *path, const tabi_load_def *def, tabi_error *err);

/* Add a robot to others in a builder. */
TABI_API tabi_status tabi_builder_load(tabi_builder *builder, const char *path,
                                       const tabi_load_def *def, tabi_error *err);
/* The same from memory; `path` names it in messages and is where relative files are looked for.
 * Nothing beside it is read. */
TABI_API tabi_status tabi_builder_load_text(tabi_builder *builder, const char *text, size_t size,
                                            const char *path, const tabi_load_def *def,
                                            tabi_error *err);

/* The file that is read with a URDF file: robot.tabi.yaml beside robot.urdf, for loops and springs.
 * Writes its path and returns true if there is one. */
TABI_API bool tabi_sidecar_find(const char *path, char *found, size_t size);

/* -------------------------------------------------------------------------------- scenes */

/* A model with its start, its controllers, its external forces and the settings of its world:
 *
 *   tabi_scene *scene = tabi_scene_load("stand.yaml", NULL, &err);
 *   tabi_world_def def = tabi_scene_world_def(scene);
 *   tabi_world *world = tabi_world_create(tabi_scene_model(scene), &def, &err);
 *   tabi_scene_reset(scene, world, &err);
 *   while (tabi_world_time(world) < tabi_scene_duration(scene)) {
 *     tabi_scene_control(scene, world);
 *     tabi_world_step(world, NULL);
 *   }
 *
 * A scene serves one world at a time. */
typedef struct tabi_scene tabi_scene;

typedef struct tabi_scene_def {
  uint32_t def_size; /* set by the default function */
  /* changes made before the scene is read, "bodies.box.mass=3"; items of lists by name */
  const char *const *set;
  int32_t nset;
  const char *package_path; /* as in tabi_load_def */
  bool plugins;             /* load shared objects that the scene names, and run their code */
  tabi_warning_fn *warn;    /* may be NULL */
  void *warn_user;
} tabi_scene_def;

TABI_API tabi_scene_def tabi_scene_def_default(void);

/* NULL and err when it cannot be had.  def may be NULL. */
TABI_API tabi_scene *tabi_scene_load(const char *path, const tabi_scene_def *def, tabi_error *err);
/* The same from memory; `path` names it in messages and is where other files are looked for. */
TABI_API tabi_scene *tabi_scene_load_text(const char *text, size_t size, const char *path,
                                          const tabi_scene_def *def, tabi_error *err);
TABI_API void tabi_scene_destroy(tabi_scene *scene); /* NULL is fine */

/* What is returned lives as long as the scene. */
TABI_API const tabi_model *tabi_scene_model(const tabi_scene *scene);
TABI_API const char *tabi_scene_name(const tabi_scene *scene); /* "" if it has none */
TABI_API tabi_world_def tabi_scene_world_def(const tabi_scene *scene);
TABI_API double tabi_scene_duration(const tabi_scene *scene); /* s */

/* A robot's name and the link on which it hangs or that floats. */
typedef struct tabi_scene_robot {
  const char *name;
  int32_t base;
} tabi_scene_robot;
TABI_API int32_t tabi_scene_nrobot(const tabi_scene *scene);
TABI_API tabi_scene_robot tabi_scene_get_robot(const tabi_scene *scene, int32_t robot);

/* What a log of the scene should hold. */
typedef struct tabi_scene_log {
  int32_t every;              /* steps between two rows */
  bool forces;                /* sums of contact forces */
  const char *const *signals; /* names of links and joints */
  int32_t nsignal;
} tabi_scene_log;
TABI_API tabi_scene_log tabi_scene_get_log(const tabi_scene *scene);

/* Puts a world of the scene's model into the scene's start. */
TABI_API tabi_status tabi_scene_reset(const tabi_scene *scene, tabi_world *world, tabi_error *err);
/* Controllers and external forces of the next step; allocates nothing. */
TABI_API void tabi_scene_control(tabi_scene *scene, tabi_world *world);

/* What the scene was read from: its text, where that stood, and the changes made to it. */
typedef struct tabi_scene_source {
  const char *text, *path;
  size_t size;
  const char *const *set;
  int32_t nset;
} tabi_scene_source;
TABI_API tabi_scene_source tabi_scene_get_source(const tabi_scene *scene);
/* Whether some controller may remember more than the world does (a walk with a stabiliser, a
 * plugin), so that a snapshot of the world alone does not tell how it goes on. */
TABI_API bool tabi_scene_remembers(const tabi_scene *scene);
/* Exchanges the controllers of two scenes with the same robots, and all that they remember with
 * them.  Both scenes must then live as long as either runs. */
TABI_API tabi_status tabi_scene_swap_controllers(tabi_scene *scene, tabi_scene *other,
                                                 tabi_error *err);

/* ---------------------------------------------------------------------------------- logs */

/* Writes what a world does to a file (docs/log.md), from which it can be played, continued or
 * branched.  What was written lasts when the program dies; at most half a second of it is held back
 * in memory. */
typedef struct tabi_recorder tabi_recorder;

/* Begins a file with the present state.  Scene and world must outlive the recorder. */
TABI_API tabi_recorder *tabi_recorder_create(const char *path, const tabi_scene *scene,
                                             tabi_world *world, tabi_error *err);
/* After every step; writes every so many as the scene's log says.  Allocates nothing.  After an
 * error it does nothing but return it again. */
TABI_API tabi_status tabi_recorder_step(tabi_recorder *recorder, tabi_error *err);
/* Writes the end, and frees the recorder in any case.  NULL is fine. */
TABI_API tabi_status tabi_recorder_close(tabi_recorder *recorder, tabi_error *err);

typedef enum tabi_contact_status {
  TABI_CONTACT_SEPARATING, /* no force */
  TABI_CONTACT_STICK,      /* slower than 1 mm/s along the surface */
  TABI_CONTACT_SLIP,
} tabi_contact_status;

typedef struct tabi_frame_contact {
  int32_t shape_a, shape_b;
  tabi_contact_status status;
  float point[3], normal[3]; /* m, world; the normal points from a to b */
  float force[3];            /* N on b, mean over the step, world */
  float gap;                 /* m at the start of the step, negative when overlapping */
  float slip;                /* m/s along the surface at the end of the step */
} tabi_frame_contact;

/* A world after a step.  The arrays live until the next call for the same recording. */
typedef struct tabi_frame {
  int64_t step;
  double time;                  /* s */
  const double *q, *v, *sensor; /* exactly as in the world; sensors one after another */
  tabi_energy energy;           /* J */
  tabi_certificate certificate; /* of the step */
  const tabi_frame_contact *contact;
  int32_t ncontact;
} tabi_frame;

/* A log that is read. */
typedef struct tabi_recording tabi_recording;

typedef struct tabi_recording_info {
  uint32_t tabi_version; /* that wrote it */
  tabi_scene_source source;
  const char *scene; /* its name */
  tabi_contact_kind contact;
  tabi_integrator integrator;
  double timestep;         /* s */
  int32_t every;           /* steps between frames */
  int32_t nq, nv, nsensor; /* numbers of a frame */
  size_t snapshot_size;    /* bytes */
  uint64_t model_hash;
  int64_t first, last; /* steps of the first and last frame */
  int64_t nframe, nsnapshot;
  bool complete; /* it has an end; otherwise the run was killed, and this is what it left */
} tabi_recording_info;

/* Checks every byte: a damaged file is refused with the place of the damage; one that was cut off
 * is read as far as it goes. */
TABI_API tabi_recording *tabi_recording_open(const char *path, tabi_error *err);
/* The same from memory, which must outlive it; `path` names it in messages. */
TABI_API tabi_recording *tabi_recording_open_bytes(const void *bytes, size_t size, const char *path,
                                                   tabi_error *err);
TABI_API void tabi_recording_close(tabi_recording *recording); /* NULL is fine */
TABI_API tabi_recording_info tabi_recording_get_info(const tabi_recording *recording);

/* The frame at an index from 0.  Reading one after another is fastest. */
TABI_API tabi_status tabi_recording_frame(tabi_recording *recording, int64_t index,
                                          tabi_frame *frame, tabi_error *err);
/* The index of the last frame at or before a step, or TABI_NONE. */
TABI_API int64_t tabi_recording_find(tabi_recording *recording, int64_t step);
/* The last snapshot at or before a step, for tabi_world_restore: snapshot[snapshot_size].  *at is
 * its step. */
TABI_API tabi_status tabi_recording_snapshot(tabi_recording *recording, int64_t step,
                                             void *snapshot, int64_t *at, tabi_error *err);
/* The scene of the log; def->set is changed on top of what was when it was written.  Robots and
 * meshes are read from their files, and refused if they are not what they were, unless def->set
 * changes something.  def may be NULL. */
TABI_API tabi_scene *tabi_recording_scene(const tabi_recording *recording,
                                          const tabi_scene_def *def, tabi_error *err);

/* --------------------------------------------------------------------- friction problems */

/* A stored problem in the text layout of docs/solve.md; NULL and err when it cannot be had. */
TABI_API tabi_friction_problem *tabi_friction_problem_load(const char *path, tabi_error *err);
/* The same from memory; `path` names it in messages. */
TABI_API tabi_friction_problem *tabi_friction_problem_load_text(const char *text, size_t size,
                                                                const char *path, tabi_error *err);

TABI_END

#endif

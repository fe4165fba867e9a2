/* tabi_batch.h - many worlds of one model, stepped together.
 *
 *   tabi_model, tabi_world_def ---> tabi_batch    arrays of shape (worlds, n), one thread at a time
 *
 * Worlds of a model that lanes can step (docs/batch.md) are stepped four or eight at once by the
 * vector unit, others one by one; tabi_batch_reason tells which and why.  A world's result depends
 * on its own numbers only: neither on the width of lanes nor on the number of worlds, on threads or
 * on its neighbours.  A world that diverges says so in its status and stops; the others go on. */
#ifndef TABI_BATCH_H
#define TABI_BATCH_H

#include "tabi/tabi.h"

TABI_BEGIN

typedef struct tabi_batch tabi_batch;

/* Arrays of a batch, each (worlds, n) row by row, in memory that lives as long as the batch.  Those
 * that are read by a step may be written at any time between steps.  The last ones exist only where
 * def.vary asks for them, and begin with the values of the model. */
typedef enum tabi_batch_field {
  TABI_BATCH_Q,           /* [nq] positions */
  TABI_BATCH_V,           /* [nv] velocities */
  TABI_BATCH_TARGET,      /* [nv] rad or m, of the servos of joints with one coordinate */
  TABI_BATCH_TORQUE,      /* [nv] N m or N, joint forces held over steps */
  TABI_BATCH_CONTROL,     /* [nactuator] inputs of actuators */
  TABI_BATCH_SENSOR,      /* [all values of all sensors] after the last step */
  TABI_BATCH_FOOT,        /* [6 nfoot] N and N m on each foot by its contacts, about the origin of
                             its link, world axes, mean over the last step */
  TABI_BATCH_CERTIFICATE, /* [TABI_BATCH_TOLD] of the last step, see below */
  TABI_BATCH_PUSH,        /* [6] N and N m on def.push_link at its origin, world axes; stays */
  TABI_BATCH_MASS,        /* [nbody] kg */
  TABI_BATCH_COM,         /* [3 nbody] m, in the frame of the link that the body's joint moves */
  TABI_BATCH_INERTIA,     /* [6 nbody] kg m^2 about the com in the axes of that link: xx yy zz xy xz
                             yz */
  TABI_BATCH_FRICTION,    /* [1] factor of all coefficients of friction between surfaces */
  TABI_BATCH_KP,          /* [nv] N m/rad or N/m, of servos */
  TABI_BATCH_KD,          /* [nv] N m s/rad or N s/m */
  TABI_BATCH_EFFORT,      /* [nv] N m or N, limits of joints */
  TABI_BATCH_GRAVITY,     /* [3] m/s^2 */
  TABI_BATCH_DELAY,       /* [1] s, after which a target acts, up to def.max_delay */
  TABI_BATCH_FIELDS,
} tabi_batch_field;

/* Numbers of TABI_BATCH_CERTIFICATE. */
enum {
  TABI_BATCH_RESIDUAL, /* m/s, change of velocities in the last sweep; below def.tolerance:
                          converged */
  TABI_BATCH_OVERLAP,  /* m, of the deepest contact at the start of the step */
  TABI_BATCH_CONTACTS, /* that push */
  TABI_BATCH_SWEEPS,   /* of the solver */
  TABI_BATCH_ATTEMPTS, /* solutions until all drives were within their limits */
  TABI_BATCH_TOLD,
};

typedef struct tabi_batch_def {
  uint32_t def_size;
  int32_t worlds;
  int32_t threads;       /* 0: one for each processor */
  int32_t lanes;         /* 0: what this machine is fastest with; 1, 4, 8; others are refused */
  bool scalar;           /* all worlds by tabi_world_step, whatever lanes could do */
  bool self_collision;   /* shapes of moving bodies meet, as the model says; in lanes as spheres and
                            capsules */
  const double *kp, *kd; /* [nv] of implicit servos of joints with one coordinate; NULL: none */
  int32_t nfoot;
  const int32_t *foot; /* [nfoot] links whose contact forces are told */
  int32_t push_link;   /* or TABI_NONE */
  double max_delay;    /* s, of TABI_BATCH_DELAY */
  uint32_t vary;       /* 1 << TABI_BATCH_MASS and the like: values that differ between worlds */
} tabi_batch_def;

/* 1 world, all processors, self-collision on. */
TABI_API tabi_batch_def tabi_batch_def_default(void);

/* The model must outlive the batch.  world NULL: the default; its workspace is not used, and its
 * iterations, if 0, are 40.  NULL and err on an error. */
TABI_API tabi_batch *tabi_batch_create(const tabi_model *model, const tabi_world_def *world,
                                       const tabi_batch_def *def, tabi_error *err);
TABI_API void tabi_batch_destroy(tabi_batch *batch); /* NULL is fine */

TABI_API const tabi_model *tabi_batch_model(const tabi_batch *batch);
TABI_API int32_t tabi_batch_worlds(const tabi_batch *batch);
TABI_API int32_t tabi_batch_threads(const tabi_batch *batch);
/* How many worlds a vector holds; 0: they are stepped one by one by tabi_world_step. */
TABI_API int32_t tabi_batch_lanes(const tabi_batch *batch);
/* Why worlds are stepped one by one, or what lanes do otherwise than a world would; "" for
 * nothing. */
TABI_API const char *tabi_batch_reason(const tabi_batch *batch);
TABI_API size_t tabi_batch_memory(const tabi_batch *batch); /* bytes of a world */

/* An array, and its n; NULL and 0 for one that the batch does not have. */
TABI_API double *tabi_batch_array(tabi_batch *batch, tabi_batch_field field, int32_t *n);
/* "q", "v", "target" and so on. */
TABI_API const char *tabi_batch_field_name(tabi_batch_field field);
/* [worlds]: tabi_status of each, as long as it is not reset; and how many steps it has made. */
TABI_API const int32_t *tabi_batch_status(const tabi_batch *batch);
TABI_API const int64_t *tabi_batch_steps(const tabi_batch *batch);

/* k steps of all worlds whose status is TABI_OK and, unless active is NULL, whose active[world] is
 * not 0.  Returns how many worlds have failed in this call. */
TABI_API int32_t tabi_batch_step(tabi_batch *batch, int32_t k, const uint8_t *active);

/* Begins count worlds anew: world[count], or NULL for the first count.  q[count][nq] and
 * v[count][nv]; NULL: those of the initial state, and zero.  TABI_ERR_ARGUMENT for numbers that are
 * no state; the worlds before it are begun. */
TABI_API tabi_status tabi_batch_reset(tabi_batch *batch, const int32_t *world, int32_t count,
                                      const double *q, const double *v, tabi_error *err);
/* Moves the joints of a world from where they are, each by up to `position` (rad or m), within its
 * limits, and each velocity by up to `speed`, evenly at random; free bases turn by up to
 * `position`.  The same seed gives the same numbers. */
TABI_API void tabi_batch_scatter(tabi_batch *batch, int32_t world, uint64_t seed, double position,
                                 double speed);

/* What drives each step of a rollout: [world][step][n], with n as in the array of that name; NULL:
 * the array stays as it is. */
typedef struct tabi_batch_inputs {
  const double *target, *torque, *control;
} tabi_batch_inputs;

/* Open loop: `count` steps of all worlds with these inputs (NULL: none), and the states after each
 * to q[world][step][nq] and v[world][step][nv], either of which may be NULL.  Returns how many
 * worlds have failed; their states stay as they were. */
TABI_API int32_t tabi_batch_rollout(tabi_batch *batch, int32_t count,
                                    const tabi_batch_inputs *inputs, double *q, double *v);

/* The state, targets and inputs of one world into a world of the same model, to look at it, and
 * back.  Warm starts are not copied. */
TABI_API tabi_status tabi_batch_save(const tabi_batch *batch, int32_t index, tabi_world *world,
                                     tabi_error *err);
TABI_API tabi_status tabi_batch_load(tabi_batch *batch, int32_t index, const tabi_world *world,
                                     tabi_error *err);

TABI_END

#endif

/* tabi_record.h - what worlds did: samples, the signals in them, and logs.
 *
 * Pointers must not be NULL unless it is said; scene, world and sample must belong together, or the
 * functions that can tell so return TABI_ERR_ARGUMENT.
 *
 * A sample is a world after a step, complete enough to be drawn, plotted and judged.  It comes from
 * a world (tabi_observer) or from a log (tabi_recording), and whatever reads samples serves both:
 *
 *   tabi_recording *log = tabi_recording_open("walk.tabi", &err);
 *   tabi_scene *scene = tabi_recording_scene(log, NULL, &err);
 *   tabi_signals *signals = tabi_signals_create(scene, &err);
 *   for (int64_t i = 0; i < tabi_recording_get_info(log).nsample; ++i) {
 *     tabi_recording_sample(log, i, &sample, &err);
 *     tabi_signals_eval(signals, &sample, value);
 *   } */
#ifndef TABI_RECORD_H
#define TABI_RECORD_H

#include "tabi_io.h"

TABI_BEGIN

/* -------------------------------------------------------------------------------- samples */

typedef enum tabi_contact_status {
  TABI_CONTACT_SEPARATING, /* no force */
  TABI_CONTACT_STICK,      /* slower than 1 mm/s along the surface */
  TABI_CONTACT_SLIP,
} tabi_contact_status;

typedef struct tabi_sample_contact {
  int32_t shape_a, shape_b; /* TABI_NONE under contact method gait, which has none */
  int32_t link_a, link_b;   /* may be TABI_WORLD */
  tabi_contact_status status;
  float point[3], normal[3]; /* m, world; the normal points from a to b */
  float force[3];            /* N on b, mean over the step, world */
  float velocity[3];         /* m/s, of b against a at the end of the step, world */
  float gap;                 /* m at the start of the step, negative when overlapping */
  float friction;            /* the coefficient that was used */
  /* what follows from these */
  float slip;     /* m/s along the surface */
  float power;    /* W dissipated by friction */
  float residual; /* m/s, violation of the contact laws: separation under force (a rebound counts
                     too), or friction that does not oppose slip */
} tabi_sample_contact;

/* tabi_effort of a joint with one coordinate; zeros of others. */
typedef struct tabi_sample_effort {
  float commanded, applied, limit; /* N m or N */
} tabi_sample_effort;

/* A world after a step.  The arrays live until the next sample of the same observer or recording.
 */
typedef struct tabi_sample {
  int64_t step;
  double time;                  /* s */
  const double *q, *v, *sensor; /* exactly as in the world; sensors one after another */
  tabi_energy energy;           /* J */
  tabi_certificate certificate; /* of the step */
  const tabi_sample_contact *contact;
  int32_t ncontact;
  const tabi_balance *balance; /* of the scene's robots */
  int32_t nrobot;
  const tabi_sample_effort *effort; /* of the model's joints */
  int32_t njoint;
} tabi_sample;

/* Takes samples of a world.  The world is one of the scene's model; both must outlive the
 * observer. */
typedef struct tabi_observer tabi_observer;
TABI_API tabi_observer *tabi_observer_create(const tabi_scene *scene, tabi_world *world,
                                             tabi_error *err);
TABI_API void tabi_observer_destroy(tabi_observer *observer); /* NULL is fine */
/* A sample of the present state.  Allocates only after the world has grown; contacts for which
 * there is no memory then are left out. */
TABI_API const tabi_sample *tabi_observer_look(tabi_observer *observer);
/* The balance of robots takes half of the time of a sample.  While it is skipped, samples repeat
 * the last one. */
TABI_API void tabi_observer_skip_balance(tabi_observer *observer, bool skip);

/* ------------------------------------------------------------------------------- signals */

/* Numbers of a sample by name: "l_knee.q", "com.x", "ground.fz", "certificate.gap". docs/signals.md
 * lists them all. */
typedef struct tabi_signal {
  const char *name;
  const char *unit;  /* "m", "N m"; "" for counts */
  const char *about; /* what it is, in a few words; the label of an axis */
} tabi_signal;

typedef struct tabi_signals tabi_signals;

/* Those of a scene, which must outlive them: its world's, its robots', joints', links' and, last,
 * its sensors'. */
TABI_API tabi_signals *tabi_signals_create(const tabi_scene *scene, tabi_error *err);
TABI_API void tabi_signals_destroy(tabi_signals *signals); /* NULL is fine */
TABI_API int32_t tabi_signals_count(const tabi_signals *signals);
TABI_API tabi_signal tabi_signals_get(const tabi_signals *signals, int32_t signal);
/* value[count] of a sample; NaN where it has none, as the ZMP of a robot in flight.
 * Allocates nothing. */
TABI_API void tabi_signals_eval(tabi_signals *signals, const tabi_sample *sample, double *value);
/* From now on only signals with wanted[i] need be evaluated, which saves time; the values of others
 * may stay as they were.  NULL: all. */
TABI_API void tabi_signals_want(tabi_signals *signals, const bool *wanted);
/* Sets chosen[i] of all that a pattern means: a name, a group ("com" for "com.x" and its like), or
 * a name with '*' for any text; "robot/" may be left out.  Returns how many. */
TABI_API int32_t tabi_signals_match(const tabi_signals *signals, const char *pattern, bool *chosen);
/* The name nearest to a mistyped one, or NULL. */
TABI_API const char *tabi_signals_nearest(const tabi_signals *signals, const char *name);

/* --------------------------------------------------------------------------------- checks */

/* The worst so far, and when. */
typedef struct tabi_worst {
  double value, time;
} tabi_worst;

/* What a run should not have done, to be read at any time. */
typedef struct tabi_run_checks {
  tabi_scene_check bound; /* of the scene */
  tabi_worst penetration; /* m, at the start of any step after the first */
  tabi_worst gain;        /* J, above the lowest energy before */
  tabi_worst residual;    /* m/s */
  int32_t link[2];        /* that overlap most */
  int32_t joint;          /* that began farthest outside its limits, or TABI_NONE */
  double outside;         /* rad or m, how far */
  int64_t steps;
  double lowest;       /* J, energy without the work of drives and with that of elastic contacts */
  double kinetic;      /* J, most so far */
  double stored[2];    /* J, least and most of potential energy and springs */
  double least_range;  /* J, what lifts everything by a millimetre */
  double contact_gain; /* J, sum of what contact impulses added in steps */
  double correction_work;              /* J, of depth corrections */
  double balance_taken, balance_given; /* J, by which velocities were scaled */
} tabi_run_checks;

/* Which bounds were exceeded. */
typedef struct tabi_run_excess {
  bool penetration, energy_gain, residual;
} tabi_run_excess;

/* In the initial state. */
TABI_API void tabi_run_checks_begin(tabi_run_checks *checks, const tabi_scene *scene,
                                    tabi_world *world);
/* After every step, with the energy of the world then. */
TABI_API void tabi_run_checks_step(tabi_run_checks *checks, const tabi_world *world,
                                   const tabi_energy *energy);
/* The gain as a share of the range of the energy. */
TABI_API double tabi_run_checks_gain(const tabi_run_checks *checks);
TABI_API tabi_run_excess tabi_run_checks_judge(const tabi_run_checks *checks);

/* ---------------------------------------------------------------------------------- falls */

/* How a robot stands. */
typedef struct tabi_stance {
  double height;  /* m, of its centre of mass above the fixed ground */
  double ground;  /* m, z of the ground below it; without any, that at the start, or 0 */
  double axis[3]; /* z axis of its base */
} tabi_stance;

/* Whether robots have fallen since a state q[nq], v[nv] of the scene, which must outlive it. */
typedef struct tabi_fall tabi_fall;
TABI_API tabi_fall *tabi_fall_create(const tabi_scene *scene, const double *q, const double *v,
                                     tabi_error *err);
TABI_API void tabi_fall_destroy(tabi_fall *fall); /* NULL is fine */
/* How a robot stood then and stands now. */
TABI_API tabi_stance tabi_fall_start(const tabi_fall *fall, int32_t robot);
TABI_API tabi_stance tabi_fall_stance(const tabi_fall *fall, const tabi_dynamics *dynamics,
                                      int32_t robot);
/* Whether a robot with a floating base has fallen: its centre of mass at less than half its initial
 * height above the ground, or its base tilted by more than 60 degrees. */
TABI_API bool tabi_fall_lies(const tabi_fall *fall, const tabi_dynamics *dynamics);

/* -------------------------------------------------------------------------------- ledger */

/* An interval in which a link stuck or slipped on what does not belong to its tree. */
typedef struct tabi_ledger_entry {
  int32_t link;
  tabi_contact_status status; /* stick or slip */
  double start, end;          /* s */
  double distance;            /* m, that the centre of its contact forces slid along the surface */
  double energy;              /* J dissipated by friction */
  double impulse;             /* N s along the normals */
} tabi_ledger_entry;

typedef struct tabi_ledger tabi_ledger;
TABI_API tabi_ledger *tabi_ledger_create(const tabi_model *model, tabi_error *err);
TABI_API void tabi_ledger_destroy(tabi_ledger *ledger); /* NULL is fine */
/* Samples of the model, in the order of time; others are refused. */
TABI_API tabi_status tabi_ledger_add(tabi_ledger *ledger, const tabi_sample *sample,
                                     tabi_error *err);
/* In the order of their starts; those that last at the last sample end there. */
TABI_API const tabi_ledger_entry *tabi_ledger_entries(const tabi_ledger *ledger, int32_t *count);

/* ---------------------------------------------------------------------------------- logs */

/* Writes what a world does to a file (docs/log.md), from which it can be played, continued or
 * branched.  What was written lasts when the program dies; at most half a second of it is held back
 * in memory. */
typedef struct tabi_recorder tabi_recorder;

/* Begins a file with the present state.  The world must be one of the scene's model, or it is
 * refused; both must outlive the recorder. */
TABI_API tabi_recorder *tabi_recorder_create(const char *path, const tabi_scene *scene,
                                             tabi_world *world, tabi_error *err);
/* After every step; writes every so many as the scene's log says.  A step that is not after the
 * last one written is an error.  Allocates only after the world has grown.  After an error it does
 * nothing but return it again. */
TABI_API tabi_status tabi_recorder_step(tabi_recorder *recorder, tabi_error *err);
/* Writes the end, and frees the recorder in any case.  NULL is fine. */
TABI_API tabi_status tabi_recorder_close(tabi_recorder *recorder, tabi_error *err);

/* A log that is read. */
typedef struct tabi_recording tabi_recording;

typedef struct tabi_recording_info {
  uint32_t tabi_version; /* that wrote it */
  tabi_scene_source source;
  const char *scene; /* its name */
  tabi_contact_kind contact;
  tabi_integrator integrator;
  double timestep;         /* s */
  int32_t every;           /* steps between samples */
  int32_t nq, nv, nsensor; /* numbers of a sample */
  int32_t nrobot;
  size_t snapshot_size; /* bytes, of the largest */
  uint64_t model_hash;
  int64_t first, last; /* steps of the first and last sample */
  int64_t nsample, nsnapshot;
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

/* The sample at an index from 0.  Reading one after another is fastest. */
TABI_API tabi_status tabi_recording_sample(tabi_recording *recording, int64_t index,
                                           tabi_sample *sample, tabi_error *err);
/* The index of the last sample at or before a step, or TABI_NONE. */
TABI_API int64_t tabi_recording_find(tabi_recording *recording, int64_t step);
/* The last snapshot at or before a step, for tabi_world_restore: snapshot[snapshot_size].  *at is
 * its step. */
TABI_API tabi_status tabi_recording_snapshot(tabi_recording *recording, int64_t step,
                                             void *snapshot, int64_t *at, tabi_error *err);
/* The scene of the log; def->set is changed on top of what was when it was written.  Robots and
 * meshes are read from their files, and refused if they are not what they were, unless def->set
 * changes something.  Without def->plugins they are idle: a log from elsewhere can be read without
 * running its code, but not be continued.  def may be NULL. */
TABI_API tabi_scene *tabi_recording_scene(const tabi_recording *recording,
                                          const tabi_scene_def *def, tabi_error *err);

TABI_END

#endif

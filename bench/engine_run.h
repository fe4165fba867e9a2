/* engine_run.h - a scene that several engines step, and one of the engines in it, whether it is
 * tabi in this process or a peer in its own. */
#ifndef TBI_BENCH_ENGINE_RUN_H
#define TBI_BENCH_ENGINE_RUN_H

#include "engine.h"
#include "process.h"
#include "scene.h"

/* A scene from a given state, and where servos aim in each step. */
typedef struct tbi_engine_scene {
  tbi_bench_scene base; /* model, servos, start */
  double *v;            /* velocity at the start */
  double timestep;
  int32_t contacts; /* contact capacity for the engines; 0: not known */
  int32_t nstep;
  double *aim; /* nstep rows of nbody; NULL: targets are constant */
  tbi_neutral_scene neutral;
} tbi_engine_scene;

/* Takes the base over, also when it fails, with room for the velocity, which is zero. */
tabi_status tbi_engine_scene_init(tbi_engine_scene *scene, tbi_bench_scene *base, double timestep,
                                  tabi_error *err);
/* Starts from the state of a world of its model. */
void tbi_engine_scene_move(tbi_engine_scene *scene, const tabi_world *world);
/* Writes it down as an engine-neutral scene, once it is complete. */
tabi_status tbi_engine_scene_finish(tbi_engine_scene *scene, tabi_error *err);
void tbi_engine_scene_free(tbi_engine_scene *scene);

/* Which engine, how set up. */
typedef struct tbi_engine_config {
  const char *name;     /* "bullet-fine" */
  const char *program;  /* "bullet"; NULL: tabi */
  const char *settings; /* as the program knows them; see tabi_engine.c for tabi's */
  const char *package;  /* Debian package that contains it */
} tbi_engine_config;

typedef struct tbi_engine_run {
  const tbi_engine_config *who;
  const tbi_engine_scene *scene;
  char engine[64];              /* name and version */
  tbi_engine_instance instance; /* tabi */
  tbi_process process;
  char file[2][256]; /* what the peer was given */
} tbi_engine_run;

/* Whether the program of a peer stands beside this one. */
bool tbi_engine_config_available(const tbi_engine_config *who);

/* On failure the run needs no close, and the reason is in `trouble`. */
bool tbi_engine_run_open(tbi_engine_run *c, const tbi_engine_config *who,
                         const tbi_engine_scene *scene, char *trouble, size_t size);
void tbi_engine_run_close(tbi_engine_run *c);

/* As the functions of an instance; false or no steps: the peer has gone. */
bool tbi_engine_run_reset(tbi_engine_run *c);
tbi_engine_time tbi_engine_run_step(tbi_engine_run *c, int32_t steps, double budget);
bool tbi_engine_run_push(tbi_engine_run *c, int32_t body, const double force[3]);
bool tbi_engine_run_state(tbi_engine_run *c, tbi_neutral_state *state);
/* Instructions of a step from here, of tabi; of a peer, by valgrind, if it is there, over `steps`
 * from the start and so many not counted before them.  NAN: not available. */
double tbi_engine_run_count(tbi_engine_run *c, int32_t warm, int32_t steps);
/* The world of tabi; NULL: a peer. */
tabi_world *tbi_engine_run_world(const tbi_engine_run *c);

#endif

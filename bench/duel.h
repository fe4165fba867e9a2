/* duel.h - a scene that several engines step, and one of the engines in it, whether it is tabi in
 * this process or a peer in its own. */
#ifndef TBI_BENCH_DUEL_H
#define TBI_BENCH_DUEL_H

#include "host.h"
#include "process.h"
#include "scene.h"

/* A scene from a given state, and where servos aim in each step. */
typedef struct tbi_duel_scene {
  tbi_bench_scene base; /* model, servos, start */
  double *v;            /* velocity at the start */
  double timestep;
  int32_t contacts; /* that engines should have room for; 0: not known */
  int32_t nstep;
  double *aim; /* nstep rows of nbody; NULL: servos stand */
  tbi_plain plain;
} tbi_duel_scene;

/* Takes the base over, also when it fails, with room for the velocity, which is zero. */
tabi_status tbi_duel_scene_init(tbi_duel_scene *scene, tbi_bench_scene *base, double timestep,
                                tabi_error *err);
/* Goes on from where a world of its model is. */
void tbi_duel_scene_move(tbi_duel_scene *scene, const tabi_world *world);
/* Writes it down in plain numbers, once it is complete. */
tabi_status tbi_duel_scene_finish(tbi_duel_scene *scene, tabi_error *err);
void tbi_duel_scene_free(tbi_duel_scene *scene);

/* Which engine, how set up. */
typedef struct tbi_duellist {
  const char *name;     /* "bullet-fine" */
  const char *program;  /* "bullet"; NULL: tabi */
  const char *settings; /* as the program knows them; see tabi_engine.c for tabi's */
  const char *package;  /* of Debian, that brings it */
} tbi_duellist;

typedef struct tbi_contender {
  const tbi_duellist *who;
  const tbi_duel_scene *scene;
  char engine[64]; /* name and version */
  tbi_host host;   /* tabi */
  tbi_process process;
  char file[2][256]; /* what the peer was given */
} tbi_contender;

/* Whether the program of a peer stands beside this one. */
bool tbi_duellist_there(const tbi_duellist *who);

/* On failure the contender needs no close, and the reason is in `trouble`. */
bool tbi_contender_open(tbi_contender *c, const tbi_duellist *who, const tbi_duel_scene *scene,
                        char *trouble, size_t size);
void tbi_contender_close(tbi_contender *c);

/* As the functions of a host; false or no steps: the peer has gone. */
bool tbi_contender_reset(tbi_contender *c);
tbi_host_time tbi_contender_step(tbi_contender *c, int32_t steps, double budget);
bool tbi_contender_push(tbi_contender *c, int32_t body, const double force[3]);
bool tbi_contender_state(tbi_contender *c, tbi_plain_state *state);
/* Instructions of a step from here, of tabi; of a peer, by valgrind, if it is there, over `steps`
 * from the start and so many not counted before them.  NAN: not to be had. */
double tbi_contender_count(tbi_contender *c, int32_t warm, int32_t steps);
/* The world of tabi; NULL: a peer. */
tabi_world *tbi_contender_world(const tbi_contender *c);

#endif

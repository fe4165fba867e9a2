/* host.h - an engine in one scene: the same few calls for tabi and for every peer. */
#ifndef TBI_BENCH_HOST_H
#define TBI_BENCH_HOST_H

#include "plain.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct tbi_host tbi_host;

/* What an engine does.  `self` is what open returned. */
typedef struct tbi_engine {
  const char *name; /* and version */
  /* A world at the start of the host's scene, or NULL and the reason in *trouble. */
  void *(*open)(const tbi_host *host, const char **trouble);
  void (*close)(void *self);
  /* One step, the servos aiming at target[nbody]; NULL: where they aimed before. */
  void (*step)(void *self, const double *target);
  int32_t (*contacts)(void *self); /* points of the last step */
  /* A force at a body's com in all steps from now on. */
  void (*push)(void *self, int32_t body, const double force[3]);
  void (*state)(void *self, tbi_plain_state *state); /* of all bodies */
} tbi_engine;

struct tbi_host {
  const tbi_engine *engine;
  const tbi_plain *plain;
  const char *settings;
  const void *more; /* what only this engine wants to know of the scene */
  void *self;
  int32_t at; /* steps made since the start */
};

/* Starts anew; returns NULL or what hinders it. */
const char *tbi_host_reset(tbi_host *host);
void tbi_host_close(tbi_host *host);

typedef struct tbi_host_time {
  int32_t steps;   /* made */
  double seconds;  /* of CPU time */
  double contacts; /* mean */
} tbi_host_time;

/* Steps, fewer if they take more CPU time than the budget. */
tbi_host_time tbi_host_step(tbi_host *host, int32_t steps, double budget);

/* Instructions of a step, or NAN. */
double tbi_host_count(tbi_host *host);

#ifdef __cplusplus
}
#endif

#endif

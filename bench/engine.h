/* engine.h - an engine in one scene: the same few calls for tabi and for every peer. */
#ifndef TBI_BENCH_ENGINE_H
#define TBI_BENCH_ENGINE_H

#include "neutral_scene.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct tbi_engine_instance tbi_engine_instance;

/* What an engine does.  `self` is what open returned. */
typedef struct tbi_engine {
  const char *name; /* and version */
  /* A world at the start of the instance's scene, or NULL and the reason in *trouble. */
  void *(*open)(const tbi_engine_instance *instance, const char **trouble);
  void (*close)(void *self);
  /* One step, the servos aiming at target[nbody]; NULL: where they aimed before. */
  void (*step)(void *self, const double *target);
  int32_t (*contacts)(void *self); /* points of the last step */
  /* A force at a body's com in all steps from now on. */
  void (*push)(void *self, int32_t body, const double force[3]);
  void (*state)(void *self, tbi_neutral_state *state); /* of all bodies */
} tbi_engine;

struct tbi_engine_instance {
  const tbi_engine *engine;
  const tbi_neutral_scene *neutral;
  const char *settings;
  const void *more; /* data of the scene for this engine only */
  void *self;
  int32_t at; /* steps made since the start */
};

/* Starts again; returns NULL or why it cannot. */
const char *tbi_engine_reset(tbi_engine_instance *instance);
void tbi_engine_close(tbi_engine_instance *instance);

typedef struct tbi_engine_time {
  int32_t steps;   /* made */
  double seconds;  /* of CPU time */
  double contacts; /* mean */
} tbi_engine_time;

/* Steps, fewer if they take more CPU time than the budget. */
tbi_engine_time tbi_engine_step(tbi_engine_instance *instance, int32_t steps, double budget);

/* Instructions of a step, or NAN. */
double tbi_engine_count(tbi_engine_instance *instance);

#ifdef __cplusplus
}
#endif

#endif

/* stand.h - batches of the humanoid of scenes/stand.yaml, with its servos. */
#ifndef TEST_STAND_H
#define TEST_STAND_H

#include "support/load.h"
#include "tabi/tabi_batch.h"

typedef struct stand {
  scene_world s;
  const tabi_model *model;
  tabi_world_def world_def;
  int32_t nq, nv;
  double *kp, *kd, *target; /* [nv] */
} stand;

stand stand_open(void);
/* The same robot on other bodies, as a scene has them, with its root so high. */
stand stand_open_on(const char *ground, double height);
void stand_close(stand *t);
/* A batch in the posture of the scene; def's gains are set. */
tabi_batch *stand_batch(const stand *t, tabi_batch_def def);
/* World i scattered by its own seed: some fall, all differ. */
void stand_scatter(tabi_batch *b, double position);
/* Steps that every world makes with targets of its own. */
void stand_run(const stand *t, tabi_batch *b, int32_t steps, int32_t k, double sway);
/* A hash of q and v of one world. */
uint64_t stand_hash(tabi_batch *b, int32_t world);

#endif

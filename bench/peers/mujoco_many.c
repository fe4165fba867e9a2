#include "mujoco_many.h"

#include <math.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <time.h>

enum { PERIOD = 20, BLOCKS = 3 };

/* The worlds of one thread. */
typedef struct share {
  const mjModel *model;
  const tbi_many *many;
  mjData **data;
  int first, end, steps;
  int done; /* steps before these */
  uint64_t seed;
  double contacts;
} share;

static double draw(uint64_t *state) {
  *state = *state * 6364136223846793005U + 1442695040888963407U;
  return (double)(*state >> 40) / (double)(1 << 24) - 0.5;
}

static double process_clock(void) {
  struct timespec now;
  (void)clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* by the plan, or around that of the first keyframe, from which worlds start */
static double input_of(share *s, int u, int step) {
  const tbi_many *many = s->many;
  if (many->plan) return many->plan[(long)(step % many->nplan) * s->model->nu + u];
  double held = s->model->nkey > 0 ? s->model->key_ctrl[u] : 0;
  return held + many->sway * draw(&s->seed);
}

static void *step_worlds(void *argument) {
  share *s = argument;
  s->contacts = 0;
  int together = s->many->plan ? 1 : PERIOD;
  for (int i = 0; i < s->steps; i += together) {
    for (int w = s->first; w < s->end; ++w) {
      mjData *d = s->data[w];
      for (int u = 0; u < s->model->nu; ++u)
        d->ctrl[u] = input_of(s, u, s->done + i);
      for (int k = 0; k < together; ++k) {
        mj_step(s->model, d);
        s->contacts += d->ncon;
      }
    }
  }
  s->done += s->steps;
  return NULL;
}

/* all threads for so many steps; s of all processors */
static double run(share *shares, int threads, int steps) {
  pthread_t thread[256];
  bool started[256] = {false};
  double start = process_clock();
  for (int t = 0; t < threads; ++t) {
    shares[t].steps = steps;
    started[t] = t > 0 && pthread_create(&thread[t], NULL, step_worlds, &shares[t]) == 0;
  }
  for (int t = 0; t < threads; ++t)
    if (!started[t]) (void)step_worlds(&shares[t]);
  for (int t = 0; t < threads; ++t)
    if (started[t]) pthread_join(thread[t], NULL);
  return process_clock() - start;
}

static mjData *make_world(const mjModel *model, const tbi_many *many, int world) {
  mjData *d = mj_makeData(model);
  uint64_t seed = (uint64_t)world + 1;
  if (!d) return NULL;
  if (model->nkey > 0) mj_resetDataKeyframe(model, d, 0);
  for (int k = 0; k < model->nv; ++k)
    d->qvel[k] += 10 * many->scatter * draw(&seed);
  for (int j = 0; j < model->njnt; ++j) {
    bool single = model->jnt_type[j] == mjJNT_HINGE || model->jnt_type[j] == mjJNT_SLIDE;
    if (single) d->qpos[model->jnt_qposadr[j]] += 2 * many->scatter * draw(&seed);
  }
  return d;
}

double tbi_mujoco_many(const mjModel *model, const tbi_many *many, double *contacts) {
  share shares[256] = {{0}};
  int threads = many->threads < 256 ? many->threads : 256;
  mjData **data = calloc((size_t)many->worlds, sizeof(void *));
  bool whole = data != NULL;
  for (int i = 0; whole && i < many->worlds; ++i)
    whole = (data[i] = make_world(model, many, i)) != NULL;
  double best = -1;
  for (int t = 0; t < threads; ++t)
    shares[t] = (share){.model = model,
                        .many = many,
                        .data = data,
                        .first = (int)((int64_t)many->worlds * t / threads),
                        .end = (int)((int64_t)many->worlds * (t + 1) / threads),
                        .seed = (uint64_t)t + 1};
  if (whole) (void)run(shares, threads, many->warm_up);
  for (int i = 0; whole && i < BLOCKS; ++i) {
    double time = run(shares, threads, many->stretch) / many->stretch / many->worlds;
    if (best < 0 || time < best) best = time;
  }
  *contacts = 0;
  for (int t = 0; t < threads; ++t)
    *contacts += shares[t].contacts / many->stretch / many->worlds;
  for (int i = 0; data && i < many->worlds; ++i)
    mj_deleteData(data[i]);
  free((void *)data);
  return best;
}

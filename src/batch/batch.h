/* batch.h - the memory of a batch.
 *
 *   field    what the user reads and writes, world by world
 *   warm     what a world's next step starts from, world by world
 *   work     of each thread: a group of worlds in lanes (lane_work.h), filled and emptied by
 *            batch_lanes.c
 *
 * Worlds that lanes cannot step are tabi_world of their own, with one workspace for each thread
 * (batch_scalar.c). */
#ifndef TBI_BATCH_H
#define TBI_BATCH_H

#include "batch/lane_work.h"
#include "batch/team.h"
#include "tabi/tabi_batch.h"

/* contacts whose impulses a world keeps for its next step */
enum { TBI_KEPT_CONTACTS = 64 };

/* What a world's next step starts from. */
typedef struct tbi_warm_world {
  int32_t ncontact;
  uint16_t *slot;    /* [kept] */
  double *impulse;   /* [kept][3] */
  double *roll;      /* [kept][3], or none */
  uint32_t *mark;    /* which point of a patch: [kept], or NULL */
  double *row;       /* [3 nv] */
  double *change;    /* of v in the step before: [nv] */
  int8_t *saturated; /* [nv + nactuator] */
  int8_t *doubt;     /* [nv] */
} tbi_warm_world;

typedef struct tbi_field {
  int32_t n;
  double *data; /* [worlds][n], or NULL */
} tbi_field;

struct tabi_batch {
  const tabi_model *model;
  tabi_world_def world_def;
  tabi_batch_def def;
  tbi_plan *plan;
  int32_t worlds, lanes; /* lanes 0: scalar */
  tbi_lane_step_fn *step;
  tbi_field field[TABI_BATCH_FIELDS];
  double *kp, *kd, *effort; /* [nv], of all worlds where they do not vary */
  int32_t *foot;
  int32_t *status;
  int64_t *steps;
  tbi_warm_world *warm;
  void *warm_memory;
  int32_t kept;
  double *delayed; /* [worlds][delay_steps][nv]: targets of the steps before */
  int32_t delay_steps;
  int32_t nsensor;     /* values of all sensors */
  int64_t nlate;       /* numbers of the delayed readings of a world */
  double *late;        /* [worlds][nlate] */
  int32_t *order;      /* worlds as they step together: [2 worlds], the second half to sort in */
  uint64_t *key;       /* what they are sorted by: [worlds] */
  int32_t since_order; /* steps since they were sorted */
  tbi_team *team;
  tbi_lane_work *work; /* [threads] */
  void **work_memory;
  tabi_world **world; /* [worlds], of scalar batches */
  void *fresh;        /* snapshot of such a world that has not stepped */
  size_t fresh_size;  /* bytes: snapshots of worlds that have grown are larger */
  tabi_workspace **workspace;
  size_t memory;
  char reason[200];
};

/* What all threads do at once. */
typedef struct tbi_batch_job {
  tabi_batch *batch;
  int32_t count;        /* steps in all */
  int32_t first, steps; /* of these, now */
  const uint8_t *active;
  bool rollout;
  tabi_batch_inputs inputs; /* of a rollout: [worlds][count][..], or NULL */
  double *q, *v;            /* [worlds][count][..], or NULL */
} tbi_batch_job;

/* The inputs of a step of a rollout, to the arrays of a world. */
void tbi_batch_take_inputs(const tbi_batch_job *job, int32_t world, int32_t step);

/* Memory of the lanes of each thread. */
bool tbi_lanes_create(tabi_batch *b);
void tbi_lanes_destroy(tabi_batch *b);
/* One group of worlds, through all steps of a job. */
void tbi_lanes_run(const tbi_batch_job *job, int32_t thread, int32_t index);
int32_t tbi_lanes_groups(const tabi_batch *b);
/* The widest lanes of this machine, and the step of a width; NULL: there is none. */
int32_t tbi_lanes_best(void);
tbi_lane_step_fn *tbi_lanes_step(int32_t lanes);

bool tbi_scalar_create(tabi_batch *b, tabi_error *err);
void tbi_scalar_destroy(tabi_batch *b);
/* The worlds of one thread. */
void tbi_scalar_run(const tbi_batch_job *job, int32_t part);
tabi_status tbi_scalar_reset(tabi_batch *b, int32_t index, tabi_error *err);

/* A row of an array, or NULL. */
static inline double *tbi_batch_row(const tabi_batch *b, tabi_batch_field field, int32_t world) {
  const tbi_field *f = &b->field[field];
  return f->data ? f->data + (ptrdiff_t)world * f->n : NULL;
}

#endif

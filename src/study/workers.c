/* workers.c - threads that take tasks from a counter.  This thread works, too. */
#include "study/workers.h"

#include "base/error.h"

#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

#define MAX_JOBS 1024

typedef struct queue {
  tbi_task_fn *task;
  void *of;
  pthread_mutex_t lock; /* of what follows */
  int64_t next, count;
  tabi_error failed; /* the first */
} queue;

int32_t tbi_workers_count(int32_t jobs) {
  long processors = sysconf(_SC_NPROCESSORS_ONLN);
  if (jobs <= 0) jobs = (int32_t)(processors > 0 ? processors : 1);
  return jobs < MAX_JOBS ? jobs : MAX_JOBS;
}

static int64_t take(queue *q, const tabi_error *err) {
  (void)pthread_mutex_lock(&q->lock);
  if (err->status != TABI_OK && q->failed.status == TABI_OK) q->failed = *err;
  int64_t task = q->failed.status == TABI_OK && q->next < q->count ? q->next++ : -1;
  (void)pthread_mutex_unlock(&q->lock);
  return task;
}

static void *work(void *of) {
  queue *q = of;
  tabi_error err = {0};
  for (int64_t task = take(q, &err); task >= 0; task = take(q, &err))
    (void)q->task(q->of, task, &err);
  return NULL;
}

tabi_status tbi_workers_run(tbi_task_fn *task, void *of, int64_t count, int32_t jobs,
                            tabi_error *err) {
  queue q = {.task = task, .of = of, .count = count};
  int64_t others = tbi_workers_count(jobs) - 1;
  if (others > count - 1) others = count > 0 ? count - 1 : 0;
  pthread_t *thread = calloc((size_t)others + 1, sizeof *thread);
  if (!thread || pthread_mutex_init(&q.lock, NULL) != 0) {
    free(thread);
    return tbi_error_memory(err);
  }
  int64_t started = 0;
  while (started < others && pthread_create(&thread[started], NULL, work, &q) == 0)
    ++started;
  (void)work(&q);
  for (int64_t i = 0; i < started; ++i)
    (void)pthread_join(thread[i], NULL);
  (void)pthread_mutex_destroy(&q.lock);
  free(thread);
  if (err && q.failed.status != TABI_OK) *err = q.failed;
  return q.failed.status;
}

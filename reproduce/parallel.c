/* parallel.c - see parallel.h. */
#include "parallel.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>

enum { MAX_THREADS = 64 };

typedef struct queue {
  tbi_parallel_work *work;
  void *user;
  int32_t count;
  atomic_int next;
} queue;

static void *take_all(void *argument) {
  queue *q = argument;
  for (int32_t i = atomic_fetch_add(&q->next, 1); i < q->count; i = atomic_fetch_add(&q->next, 1))
    q->work(q->user, i);
  return NULL;
}

static int32_t processors(void) {
  cpu_set_t set;
  return sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set) : 1;
}

static int32_t least(int32_t a, int32_t b) { return a < b ? a : b; }

/* The caller works too, so that everything is done even if no thread can be made. */
void tbi_parallel(int32_t count, int32_t threads, tbi_parallel_work *work, void *user) {
  queue q = {.work = work, .user = user, .count = count};
  pthread_t thread[MAX_THREADS];
  int32_t wanted = least(threads > 0 ? threads : processors(), least(count, MAX_THREADS));
  int32_t made = 0;
  while (made < wanted - 1 && pthread_create(&thread[made], NULL, take_all, &q) == 0)
    ++made;
  (void)take_all(&q);
  for (int32_t i = 0; i < made; ++i)
    (void)pthread_join(thread[i], NULL);
}

/* team.c - a team of threads that lives as long as its batch.
 *
 * Parts are handed out by a counter, so that the thread that is free takes the next one; what a
 * part does must not depend on the thread.  A thread that finds no work spins for a moment, for the
 * next step mostly follows at once, and then sleeps. */
#include "batch/team.h"

#include "base/assertion.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>

enum { SPINS = 4000 };

typedef struct member {
  tbi_team *team;
  pthread_t thread;
  int32_t index;
} member;

struct tbi_team {
  int32_t threads; /* the caller's included */
  member *member;  /* [threads - 1] */
  tbi_team_fn *run;
  void *work;
  int32_t parts;
  atomic_int next;   /* part */
  atomic_int busy;   /* members that have not finished this work */
  atomic_uint round; /* of work; odd bits have no meaning */
  bool ends;
  pthread_mutex_t mutex;
  pthread_cond_t begun, done;
};

static void take_parts(tbi_team *team, int32_t thread) {
  for (;;) {
    int part = atomic_fetch_add(&team->next, 1);
    if (part >= team->parts) return;
    team->run(team->work, thread, part);
  }
}

/* waits for a round other than the last; false: the team ends */
static bool wait_for_round(tbi_team *team, unsigned last) {
  for (int i = 0; i < SPINS; ++i)
    if (atomic_load(&team->round) != last) break;
  pthread_mutex_lock(&team->mutex);
  while (atomic_load(&team->round) == last && !team->ends)
    pthread_cond_wait(&team->begun, &team->mutex);
  bool goes_on = !team->ends;
  pthread_mutex_unlock(&team->mutex);
  return goes_on;
}

static void *work_on(void *argument) {
  member *m = argument;
  tbi_team *team = m->team;
  unsigned round = 0;
  while (wait_for_round(team, round)) {
    ++round;
    take_parts(team, m->index);
    if (atomic_fetch_sub(&team->busy, 1) != 1) continue;
    pthread_mutex_lock(&team->mutex);
    pthread_cond_signal(&team->done);
    pthread_mutex_unlock(&team->mutex);
  }
  return NULL;
}

static void end_members(tbi_team *team, int32_t count) {
  pthread_mutex_lock(&team->mutex);
  team->ends = true;
  pthread_cond_broadcast(&team->begun);
  pthread_mutex_unlock(&team->mutex);
  for (int32_t i = 0; i < count; ++i)
    pthread_join(team->member[i].thread, NULL);
}

static void free_team(tbi_team *team) {
  pthread_mutex_destroy(&team->mutex);
  pthread_cond_destroy(&team->begun);
  pthread_cond_destroy(&team->done);
  free(team->member);
  free(team);
}

tbi_team *tbi_team_create(int32_t threads) {
  TBI_ASSERT(threads >= 1);
  tbi_team *team = calloc(1, sizeof *team);
  if (!team) return NULL;
  team->threads = threads;
  team->member = calloc((size_t)threads, sizeof *team->member);
  pthread_mutex_init(&team->mutex, NULL);
  pthread_cond_init(&team->begun, NULL);
  pthread_cond_init(&team->done, NULL);
  bool whole = team->member != NULL;
  int32_t made = 0;
  for (; whole && made < threads - 1; ++made) {
    team->member[made] = (member){.team = team, .index = made + 1};
    if (pthread_create(&team->member[made].thread, NULL, work_on, &team->member[made]) != 0) {
      whole = false;
      break;
    }
  }
  if (whole) return team;
  end_members(team, made);
  free_team(team);
  return NULL;
}

void tbi_team_destroy(tbi_team *team) {
  if (!team) return;
  end_members(team, team->threads - 1);
  free_team(team);
}

void tbi_team_run(tbi_team *team, tbi_team_fn *run, void *work, int32_t parts) {
  team->run = run;
  team->work = work;
  team->parts = parts;
  atomic_store(&team->next, 0);
  bool alone = team->threads == 1 || parts <= 1;
  if (!alone) {
    atomic_store(&team->busy, team->threads - 1);
    pthread_mutex_lock(&team->mutex);
    atomic_fetch_add(&team->round, 1);
    pthread_cond_broadcast(&team->begun);
    pthread_mutex_unlock(&team->mutex);
  }
  take_parts(team, 0);
  if (alone) return;
  for (int i = 0; i < SPINS && atomic_load(&team->busy) > 0; ++i)
    continue;
  pthread_mutex_lock(&team->mutex);
  while (atomic_load(&team->busy) > 0)
    pthread_cond_wait(&team->done, &team->mutex);
  pthread_mutex_unlock(&team->mutex);
}

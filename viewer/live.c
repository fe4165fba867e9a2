/* live.c - the thread that owns scene and world.
 *
 * Sixty times a second it takes the requests that have come, does the steps that are due by the
 * clock, and sends a picture.  The world is never ahead of the clock; when steps take longer than
 * they last, the clock is set back instead of being chased, and the factor tells. */
#include "live.h"

#include "live_world.h"
#include "viewer_error.h"

#include <jansson.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { QUEUE = 64 };

#define PERIOD  (1.0 / 60) /* s, between pictures */
#define LAG     0.1        /* s, that may be caught up */
#define MEASURE 0.5        /* s, over which the factor is measured */

struct tbi_live {
  pthread_t thread;
  tbi_server *server;

  /* shared by the threads */
  pthread_mutex_t lock;
  pthread_cond_t changed;
  tbi_request request[QUEUE];
  int32_t nrequest;
  int32_t viewers;
  bool stop;
  bool steered; /* a viewer has asked a robot to walk */
  tbi_message *description;

  /* of the thread alone */
  tbi_live_world world;
  bool playing;
  double speed;
  double wall, simulated;              /* s: at this time of the clock the world was there */
  double measured_wall, measured_time; /* likewise, since when the factor is measured */
  double factor;
  bool stale; /* there is something that no picture shows yet */
};

static double now(void) {
  struct timespec t;
  (void)clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* -- messages */

/* {"error": "..."} or the like; NULL: out of memory. */
static tbi_message *make_message(const char *key, const char *text) {
  json_t *object = json_pack("{s:s}", key, text);
  char *line = object ? json_dumps(object, JSON_COMPACT) : NULL;
  json_decref(object);
  tbi_message *message = line ? tbi_message_of(line, strlen(line)) : NULL;
  free(line);
  return message;
}

static tbi_message *description_message(const tbi_message *description, bool reset) {
  static const char head[] = "{\"scene\":";
  const char *tail = reset ? ",\"reset\":true}" : "}";
  size_t size = sizeof head - 1;
  tbi_message *message = tbi_message_create(size + description->size + strlen(tail));
  if (!message) return NULL;
  memcpy(message->bytes, head, size);
  memcpy(message->bytes + size, description->bytes, description->size);
  memcpy(message->bytes + size + description->size, tail, strlen(tail));
  return message;
}

static void tell(tbi_live *live, const char *key, const tabi_error *err) {
  char text[800];
  (void)snprintf(text, sizeof text, "%s", err->message);
  if (err->file[0]) (void)tabi_error_text(err, "error", text, sizeof text);
  tbi_server_send(live->server, make_message(key, text), NULL);
}

static void send_picture(tbi_live *live, tbi_message *text) {
  bool paused = !live->playing;
  tbi_message *picture = tbi_live_world_picture(&live->world, paused ? 0 : live->factor, paused);
  tbi_server_send(live->server, text, picture);
  live->stale = false;
}

/* The settings or the start have changed, and what is shown with them. */
static void send_description(tbi_live *live, bool reset) {
  tbi_message *description = tbi_live_world_description(&live->world);
  if (!description) return;
  tbi_message *text = description_message(description, reset);
  (void)pthread_mutex_lock(&live->lock);
  tbi_message_drop(live->description);
  live->description = description;
  (void)pthread_mutex_unlock(&live->lock);
  send_picture(live, text);
}

/* -- the clock */

static void set_clock(tbi_live *live) {
  live->wall = now();
  live->simulated = tabi_world_time(live->world.world);
}

static void begin_measure(tbi_live *live) {
  live->measured_wall = now();
  live->measured_time = tabi_world_time(live->world.world);
}

static void measure(tbi_live *live) {
  double elapsed = now() - live->measured_wall;
  if (elapsed < MEASURE) return;
  live->factor = (tabi_world_time(live->world.world) - live->measured_time) / elapsed;
  begin_measure(live);
}

static void play(tbi_live *live) {
  live->playing = true;
  live->factor = live->speed;
  set_clock(live);
  begin_measure(live);
}

static void fail(tbi_live *live, const tabi_error *err) {
  live->playing = false;
  tell(live, err->status == TABI_ERR_ENDED ? "notice" : "error", err);
}

static bool step(tbi_live *live) {
  tabi_error err = {0};
  live->stale = true;
  if (tbi_live_world_step(&live->world, &err) == TABI_OK) return true;
  fail(live, &err);
  return false;
}

/* The steps that are due, for no longer than a picture lasts. */
static void advance(tbi_live *live) {
  double begun = now();
  double due = live->simulated + live->speed * (begun - live->wall);
  double timestep = tabi_scene_world_def(live->world.scene).timestep;
  while (tabi_world_time(live->world.world) + timestep <= due) {
    if (now() - begun > PERIOD) break;
    if (!step(live)) return;
  }
  if (due - tabi_world_time(live->world.world) > timestep + LAG * live->speed) set_clock(live);
  measure(live);
}

/* -- requests */

static void reset(tbi_live *live) {
  tabi_error err = {0};
  if (tbi_live_world_reset(&live->world, &err) != TABI_OK) fail(live, &err);
  set_clock(live);
  begin_measure(live);
  send_description(live, true);
}

static void set(tbi_live *live, const tbi_request *request) {
  tabi_error err = {0};
  if (tbi_live_world_set(&live->world, request, &err) != TABI_OK) {
    tell(live, "error", &err);
    return;
  }
  set_clock(live);
  begin_measure(live);
  send_description(live, false);
}

static void push(tbi_live *live, const tbi_request *request) {
  tabi_error err = {0};
  if (tbi_live_world_push(&live->world, request, &err) != TABI_OK) tell(live, "error", &err);
}

static void walk(tbi_live *live, const tbi_request *request) {
  tabi_error err = {0};
  if (tbi_live_world_walk(&live->world, request, &err) != TABI_OK) tell(live, "error", &err);
}

static void handle(tbi_live *live, const tbi_request *request) {
  live->stale = true;
  switch (request->kind) {
  case TBI_REQUEST_PAUSE:
    live->playing = false;
    break;
  case TBI_REQUEST_PLAY:
    play(live);
    break;
  case TBI_REQUEST_STEP:
    live->playing = false;
    (void)step(live);
    break;
  case TBI_REQUEST_RESET:
    reset(live);
    break;
  case TBI_REQUEST_SPEED:
    live->speed = request->speed;
    set_clock(live);
    begin_measure(live);
    break;
  case TBI_REQUEST_PUSH:
    push(live, request);
    break;
  case TBI_REQUEST_RELEASE:
    tbi_live_world_release(&live->world);
    break;
  case TBI_REQUEST_WALK:
    walk(live, request);
    break;
  case TBI_REQUEST_SET:
    set(live, request);
    break;
  }
}

/* A pointer or a slider that moves sends many requests of one kind: the last one counts. */
static bool replaces(const tbi_request *last, const tbi_request *request) {
  if (last->kind != request->kind) return false;
  return request->kind == TBI_REQUEST_PUSH || request->kind == TBI_REQUEST_RELEASE ||
         request->kind == TBI_REQUEST_SPEED || request->kind == TBI_REQUEST_WALK ||
         (request->kind == TBI_REQUEST_SET && request->setting == last->setting);
}

static bool put_request(tbi_live *live, const tbi_request *request) {
  (void)pthread_mutex_lock(&live->lock);
  int32_t n = live->nrequest;
  if (n > 0 && replaces(&live->request[n - 1], request)) --n;
  /* the last place is for a release: without it the spring would pull for ever */
  live->steered = live->steered || request->kind == TBI_REQUEST_WALK;
  bool room = n < (request->kind == TBI_REQUEST_RELEASE ? QUEUE : QUEUE - 1);
  if (room) {
    live->request[n] = *request;
    live->nrequest = n + 1;
  }
  (void)pthread_cond_signal(&live->changed);
  (void)pthread_mutex_unlock(&live->lock);
  return room;
}

tbi_message *tbi_live_receive(void *user, const char *text, size_t size) {
  tbi_request request;
  char problem[TBI_REQUEST_ERROR_SIZE];
  if (!tbi_request_read(text, size, &request, problem)) return make_message("error", problem);
  if (!put_request(user, &request))
    return make_message("error", "too many requests at once; this one was dropped");
  return NULL;
}

void tbi_live_set_viewers(void *user, int32_t viewers) {
  tbi_live *live = user;
  (void)pthread_mutex_lock(&live->lock);
  bool left = viewers < live->viewers;
  bool steered = live->steered;
  live->viewers = viewers;
  (void)pthread_cond_signal(&live->changed);
  (void)pthread_mutex_unlock(&live->lock);
  if (!left) return;
  /* the viewer that pushed or steered may be the one that left */
  const tbi_request release = {.kind = TBI_REQUEST_RELEASE};
  (void)put_request(live, &release);
  const tbi_request stop = {.kind = TBI_REQUEST_WALK};
  if (steered) (void)put_request(live, &stop);
}

tbi_message *tbi_live_get_description(void *user) {
  tbi_live *live = user;
  (void)pthread_mutex_lock(&live->lock);
  tbi_message *description = tbi_message_hold(live->description);
  (void)pthread_mutex_unlock(&live->lock);
  return description;
}

/* -- the thread */

typedef struct turn {
  tbi_request request[QUEUE];
  int32_t nrequest;
  bool watched, stop;
} turn;

static struct timespec timespec_of(double time) {
  struct timespec t = {.tv_sec = (time_t)time};
  t.tv_nsec = (long)(1e9 * (time - (double)t.tv_sec));
  return t;
}

/* Waits for a time, or for a request; without anything to do for a request alone. */
static void wait_for(tbi_live *live, double until, bool was_watched, turn *t) {
  struct timespec end = timespec_of(until);
  (void)pthread_mutex_lock(&live->lock);
  while (!live->stop && live->nrequest == 0) {
    bool watched = live->viewers > 0;
    if (!live->playing || !watched) {
      if (watched != was_watched) break;
      (void)pthread_cond_wait(&live->changed, &live->lock);
    } else if (!was_watched || pthread_cond_timedwait(&live->changed, &live->lock, &end) != 0) {
      break;
    }
  }
  t->nrequest = live->nrequest;
  memcpy(t->request, live->request, sizeof *t->request * (size_t)live->nrequest);
  live->nrequest = 0;
  t->watched = live->viewers > 0;
  t->stop = live->stop;
  (void)pthread_mutex_unlock(&live->lock);
}

static void *run(void *user) {
  tbi_live *live = user;
  turn t = {0};
  double next = now();
  for (;;) {
    bool was_watched = t.watched;
    wait_for(live, next, was_watched, &t);
    if (t.stop) return NULL;
    if (t.watched && !was_watched) {
      set_clock(live);
      begin_measure(live);
    }
    for (int32_t i = 0; i < t.nrequest; ++i)
      handle(live, &t.request[i]);
    /* a request does not bring the next picture forward */
    double time = now();
    bool due = time >= next;
    if (due && live->playing && t.watched) advance(live);
    if (live->stale && (due || !live->playing)) send_picture(live, NULL);
    if (due) next = next + PERIOD > time ? next + PERIOD : time;
  }
}

/* -- life */

static void init_locks(tbi_live *live) {
  pthread_condattr_t attributes;
  (void)pthread_mutex_init(&live->lock, NULL);
  (void)pthread_condattr_init(&attributes);
  (void)pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
  (void)pthread_cond_init(&live->changed, &attributes);
  (void)pthread_condattr_destroy(&attributes);
}

tbi_live *tbi_live_create(tabi_scene *scene, const char *path, tabi_error *err) {
  tbi_live *live = calloc(1, sizeof *live);
  if (!live) {
    tabi_scene_destroy(scene);
    (void)tbi_memory_error(err);
    return NULL;
  }
  init_locks(live);
  live->speed = 1;
  tabi_status status = tbi_live_world_open(&live->world, scene, path, err);
  if (status == TABI_OK) live->description = tbi_live_world_description(&live->world);
  if (status == TABI_OK && !live->description) status = tbi_memory_error(err);
  if (status == TABI_OK) return live;
  tbi_live_destroy(live);
  return NULL;
}

tabi_status tbi_live_start(tbi_live *live, tbi_server *server, bool paused, tabi_error *err) {
  live->server = server;
  if (!paused) play(live);
  send_picture(live, NULL);
  if (pthread_create(&live->thread, NULL, run, live) == 0) return TABI_OK;
  return tbi_memory_error(err);
}

void tbi_live_stop(tbi_live *live) {
  (void)pthread_mutex_lock(&live->lock);
  live->stop = true;
  (void)pthread_cond_signal(&live->changed);
  (void)pthread_mutex_unlock(&live->lock);
  (void)pthread_join(live->thread, NULL);
}

void tbi_live_destroy(tbi_live *live) {
  if (!live) return;
  tbi_live_world_close(&live->world);
  tbi_message_drop(live->description);
  (void)pthread_cond_destroy(&live->changed);
  (void)pthread_mutex_destroy(&live->lock);
  free(live);
}

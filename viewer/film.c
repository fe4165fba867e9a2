/* film.c - reels.
 *
 * Picture k is due at the step nearest to k periods after the first sample, of those steps that a
 * log of the scene has.  The period is never shorter than the time between these, so no two
 * pictures are of the same step. */
#include "film.h"

#include "memory_error.h"
#include "picture_encoder.h"
#include "stage.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct tbi_reel {
  const tabi_scene *scene;
  tabi_scene *own; /* of a log */
  tabi_recording *recording;
  tabi_world *world; /* or these, of a run */
  tabi_observer *observer;
  tbi_picture_encoder *encoder;
  char *path; /* of the scene or the log */

  double rate;         /* pictures per second before any was thrown away */
  double steps_each;   /* steps from picture to picture at that rate */
  int32_t every;       /* steps between samples */
  int64_t first, next; /* step of the first picture and of the one due next */
  int64_t number;      /* k of the next */
  int64_t skip;        /* numbers from picture to picture, a power of two */
  double begin;        /* s, of the first picture */

  unsigned char *bytes;
  size_t used, capacity;
};

static void set_due(tbi_reel *reel, int64_t number) {
  double step = (double)reel->first + (double)number * reel->steps_each;
  reel->number = number;
  reel->next = (int64_t)llround(step / reel->every) * reel->every;
}

static uint32_t word_at(const unsigned char *bytes) {
  return bytes[0] | (uint32_t)bytes[1] << 8 | (uint32_t)bytes[2] << 16 | (uint32_t)bytes[3] << 24;
}

/* Every second picture goes. */
static void thin(tbi_reel *reel) {
  size_t kept = 0;
  bool keep = true;
  for (size_t at = 0; at < reel->used; keep = !keep) {
    size_t size = word_at(reel->bytes + at + 4);
    if (keep) {
      memmove(reel->bytes + kept, reel->bytes + at, size);
      kept += size;
    }
    at += size;
  }
  reel->used = kept;
  reel->skip *= 2;
}

static tabi_status make_room(tbi_reel *reel, size_t size, tabi_error *err) {
  if (size <= reel->capacity - reel->used) return TABI_OK;
  size_t capacity = 2 * (reel->used + size);
  unsigned char *more = realloc(reel->bytes, capacity);
  if (!more) return tbi_memory_error(err);
  reel->bytes = more;
  reel->capacity = capacity;
  return TABI_OK;
}

/* Takes the picture that is due. */
static tabi_status take(tbi_reel *reel, const tabi_sample *sample, tabi_error *err) {
  size_t size = tbi_picture_size(reel->encoder, sample->ncontact);
  while (reel->used > 0 && reel->used + size > TBI_REEL_BYTES) {
    thin(reel);
    if (reel->number % reel->skip == 0) continue;
    set_due(reel, (reel->number / reel->skip + 1) * reel->skip);
    return TABI_OK;
  }
  tabi_status status = make_room(reel, size, err);
  if (status != TABI_OK) return status;
  reel->used += tbi_picture_encode(reel->encoder, sample, 0, 0, reel->bytes + reel->used);
  set_due(reel, reel->number + reel->skip);
  return TABI_OK;
}

static tabi_status take_first(tbi_reel *reel, const tabi_sample *sample, tabi_error *err) {
  reel->first = sample->step;
  reel->begin = sample->time;
  return take(reel, sample, err);
}

static char *copy_text(const char *text) {
  char *copy = malloc(strlen(text) + 1);
  if (copy) memcpy(copy, text, strlen(text) + 1);
  return copy;
}

/* NULL and err when it cannot be had. */
static tbi_reel *create(const tabi_scene *scene, const char *path, double timestep, int32_t every,
                        tabi_error *err) {
  tbi_reel *reel = calloc(1, sizeof *reel);
  if (!reel) {
    (void)tbi_memory_error(err);
    return NULL;
  }
  reel->scene = scene;
  reel->every = every;
  reel->skip = 1;
  reel->rate = fmin(TBI_REEL_RATE, 1 / (timestep * every));
  reel->steps_each = fmax(1 / (reel->rate * timestep), every);
  reel->path = copy_text(path);
  if (!reel->path) (void)tbi_memory_error(err);
  if (reel->path) reel->encoder = tbi_picture_encoder_create(scene, err);
  if (reel->encoder) return reel;
  tbi_reel_destroy(reel);
  return NULL;
}

tbi_reel *tbi_reel_create(const tabi_scene *scene, tabi_world *world, tabi_error *err) {
  tbi_reel *reel = create(scene, tabi_scene_get_source(scene).path,
                          tabi_world_get_def(world).timestep, tabi_scene_get_log(scene).every, err);
  if (!reel) return NULL;
  reel->world = world;
  reel->observer = tabi_observer_create(scene, world, err);
  if (reel->observer && take_first(reel, tabi_observer_look(reel->observer), err) == TABI_OK)
    return reel;
  tbi_reel_destroy(reel);
  return NULL;
}

tabi_status tbi_reel_step(tbi_reel *reel, tabi_error *err) {
  if (tabi_world_steps(reel->world) != reel->next) return TABI_OK;
  return take(reel, tabi_observer_look(reel->observer), err);
}

static tabi_status take_log(tbi_reel *reel, tabi_error *err) {
  tabi_recording_info info = tabi_recording_get_info(reel->recording);
  tabi_sample sample;
  tabi_status status = tabi_recording_sample(reel->recording, 0, &sample, err);
  if (status == TABI_OK) status = take_first(reel, &sample, err);
  while (status == TABI_OK && reel->next <= info.last) {
    int64_t index = tabi_recording_find(reel->recording, reel->next);
    status = tabi_recording_sample(reel->recording, index, &sample, err);
    if (status == TABI_OK) status = take(reel, &sample, err);
  }
  return status;
}

static tbi_reel *load(tabi_recording *recording, tabi_scene *scene, const char *path,
                      tabi_error *err) {
  tabi_recording_info info = tabi_recording_get_info(recording);
  tbi_reel *reel = create(scene, path, info.timestep, info.every, err);
  if (!reel) return NULL;
  reel->recording = recording;
  if (take_log(reel, err) == TABI_OK) {
    reel->own = scene;
    return reel;
  }
  reel->recording = NULL;
  tbi_reel_destroy(reel);
  return NULL;
}

tbi_reel *tbi_reel_load(const char *path, const tabi_scene_def *def, tabi_error *err) {
  tabi_recording *recording = tabi_recording_open(path, err);
  tabi_scene *scene = recording ? tabi_recording_scene(recording, def, err) : NULL;
  tbi_reel *reel = scene ? load(recording, scene, path, err) : NULL;
  if (reel) return reel;
  tabi_scene_destroy(scene);
  tabi_recording_close(recording);
  return NULL;
}

void tbi_reel_destroy(tbi_reel *reel) {
  if (!reel) return;
  tbi_picture_encoder_destroy(reel->encoder);
  tabi_observer_destroy(reel->observer);
  tabi_recording_close(reel->recording);
  tabi_scene_destroy(reel->own);
  free(reel->path);
  free(reel->bytes);
  free(reel);
}

const void *tbi_reel_film(const tbi_reel *reel, size_t *size) {
  *size = reel->used;
  return reel->bytes;
}

/* s, of the last picture */
static double end_of(const tbi_reel *reel) {
  size_t at = 0, next = 0;
  for (; next < reel->used; next += word_at(reel->bytes + at + 4))
    at = next;
  uint64_t bits = word_at(reel->bytes + at + 8) | (uint64_t)word_at(reel->bytes + at + 12) << 32;
  double time = 0;
  memcpy(&time, &bits, sizeof time);
  return time;
}

json_t *tbi_reel_stage(const tbi_reel *reel, tabi_error *err) {
  tbi_stage_about about = {.path = reel->path,
                           .rate = reel->rate / (double)reel->skip,
                           .start = reel->begin,
                           .duration = end_of(reel) - reel->begin};
  return tbi_stage_json(reel->scene, &about, err);
}

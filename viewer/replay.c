/* replay.c - when pictures of a replay are due, and how their number is halved.
 *
 * Picture k is due at the step nearest to k periods after the first sample, of those steps that a
 * log of the scene has.  The period is never shorter than the time between these, so no two
 * pictures are of the same step. */
#include "replay.h"

#include "picture_encoder.h"
#include "scene_description.h"
#include "viewer_error.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct tbi_replay {
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

static void set_due(tbi_replay *replay, int64_t number) {
  double step = (double)replay->first + (double)number * replay->steps_each;
  replay->number = number;
  replay->next = (int64_t)llround(step / replay->every) * replay->every;
}

static uint32_t word_at(const unsigned char *bytes) {
  return bytes[0] | (uint32_t)bytes[1] << 8 | (uint32_t)bytes[2] << 16 | (uint32_t)bytes[3] << 24;
}

/* Every second picture goes. */
static void thin(tbi_replay *replay) {
  size_t kept = 0;
  bool keep = true;
  for (size_t at = 0; at < replay->used; keep = !keep) {
    size_t size = word_at(replay->bytes + at + 4);
    if (keep) {
      memmove(replay->bytes + kept, replay->bytes + at, size);
      kept += size;
    }
    at += size;
  }
  replay->used = kept;
  replay->skip *= 2;
}

static tabi_status make_room(tbi_replay *replay, size_t size, tabi_error *err) {
  if (size <= replay->capacity - replay->used) return TABI_OK;
  size_t capacity = 2 * (replay->used + size);
  unsigned char *more = realloc(replay->bytes, capacity);
  if (!more) return tbi_memory_error(err);
  replay->bytes = more;
  replay->capacity = capacity;
  return TABI_OK;
}

/* Takes the picture that is due. */
static tabi_status take(tbi_replay *replay, const tabi_sample *sample, tabi_error *err) {
  size_t size = tbi_picture_size(replay->encoder, sample->ncontact);
  while (replay->used > 0 && replay->used + size > TBI_REPLAY_BYTES) {
    thin(replay);
    if (replay->number % replay->skip == 0) continue;
    set_due(replay, (replay->number / replay->skip + 1) * replay->skip);
    return TABI_OK;
  }
  tabi_status status = make_room(replay, size, err);
  if (status != TABI_OK) return status;
  replay->used += tbi_picture_encode(replay->encoder, sample, 0, 0, replay->bytes + replay->used);
  set_due(replay, replay->number + replay->skip);
  return TABI_OK;
}

static tabi_status take_first(tbi_replay *replay, const tabi_sample *sample, tabi_error *err) {
  replay->first = sample->step;
  replay->begin = sample->time;
  return take(replay, sample, err);
}

static char *copy_text(const char *text) {
  char *copy = malloc(strlen(text) + 1);
  if (copy) memcpy(copy, text, strlen(text) + 1);
  return copy;
}

/* NULL and err when it cannot be had. */
static tbi_replay *create(const tabi_scene *scene, const char *path, double timestep, int32_t every,
                          tabi_error *err) {
  tbi_replay *replay = calloc(1, sizeof *replay);
  if (!replay) {
    (void)tbi_memory_error(err);
    return NULL;
  }
  replay->scene = scene;
  replay->every = every;
  replay->skip = 1;
  replay->rate = fmin(TBI_REPLAY_RATE, 1 / (timestep * every));
  replay->steps_each = fmax(1 / (replay->rate * timestep), every);
  replay->path = copy_text(path);
  if (!replay->path) (void)tbi_memory_error(err);
  if (replay->path) replay->encoder = tbi_picture_encoder_create(scene, err);
  if (replay->encoder) return replay;
  tbi_replay_destroy(replay);
  return NULL;
}

tbi_replay *tbi_replay_create(const tabi_scene *scene, tabi_world *world, tabi_error *err) {
  tbi_replay *replay =
      create(scene, tabi_scene_get_source(scene).path, tabi_world_get_def(world).timestep,
             tabi_scene_get_log(scene).every, err);
  if (!replay) return NULL;
  replay->world = world;
  replay->observer = tabi_observer_create(scene, world, err);
  if (replay->observer && take_first(replay, tabi_observer_look(replay->observer), err) == TABI_OK)
    return replay;
  tbi_replay_destroy(replay);
  return NULL;
}

tabi_status tbi_replay_step(tbi_replay *replay, tabi_error *err) {
  if (tabi_world_steps(replay->world) != replay->next) return TABI_OK;
  return take(replay, tabi_observer_look(replay->observer), err);
}

static tabi_status take_log(tbi_replay *replay, tabi_error *err) {
  tabi_recording_info info = tabi_recording_get_info(replay->recording);
  tabi_sample sample;
  tabi_status status = tabi_recording_sample(replay->recording, 0, &sample, err);
  if (status == TABI_OK) status = take_first(replay, &sample, err);
  while (status == TABI_OK && replay->next <= info.last) {
    int64_t index = tabi_recording_find(replay->recording, replay->next);
    status = tabi_recording_sample(replay->recording, index, &sample, err);
    if (status == TABI_OK) status = take(replay, &sample, err);
  }
  return status;
}

static tbi_replay *load(tabi_recording *recording, tabi_scene *scene, const char *path,
                        tabi_error *err) {
  tabi_recording_info info = tabi_recording_get_info(recording);
  tbi_replay *replay = create(scene, path, info.timestep, info.every, err);
  if (!replay) return NULL;
  replay->recording = recording;
  if (take_log(replay, err) == TABI_OK) {
    replay->own = scene;
    return replay;
  }
  replay->recording = NULL;
  tbi_replay_destroy(replay);
  return NULL;
}

tbi_replay *tbi_replay_load(const char *path, const tabi_scene_def *def, tabi_error *err) {
  tabi_recording *recording = tabi_recording_open(path, err);
  tabi_scene *scene = recording ? tabi_recording_scene(recording, def, err) : NULL;
  tbi_replay *replay = scene ? load(recording, scene, path, err) : NULL;
  if (replay) return replay;
  tabi_scene_destroy(scene);
  tabi_recording_close(recording);
  return NULL;
}

void tbi_replay_destroy(tbi_replay *replay) {
  if (!replay) return;
  tbi_picture_encoder_destroy(replay->encoder);
  tabi_observer_destroy(replay->observer);
  tabi_recording_close(replay->recording);
  tabi_scene_destroy(replay->own);
  free(replay->path);
  free(replay->bytes);
  free(replay);
}

const void *tbi_replay_pictures(const tbi_replay *replay, size_t *size) {
  *size = replay->used;
  return replay->bytes;
}

/* s, of the last picture */
static double end_of(const tbi_replay *replay) {
  size_t at = 0, next = 0;
  for (; next < replay->used; next += word_at(replay->bytes + at + 4))
    at = next;
  uint64_t bits = word_at(replay->bytes + at + 8) | (uint64_t)word_at(replay->bytes + at + 12)
                                                        << 32;
  double time = 0;
  memcpy(&time, &bits, sizeof time);
  return time;
}

json_t *tbi_replay_description(const tbi_replay *replay, tabi_error *err) {
  tbi_run_about about = {.path = replay->path,
                         .rate = replay->rate / (double)replay->skip,
                         .start = replay->begin,
                         .duration = end_of(replay) - replay->begin};
  return tbi_scene_description_json(replay->scene, &about, err);
}

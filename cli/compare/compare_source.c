/* compare_source.c - samples of a scene that is run now, or of a log. */
#include "compare/compare.h"

#include "common/input.h"
#include "tabi/tabi_gait.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define MAX_STEPS 1e12

static int fail(tabi_error *err, const char *path) {
  if (err->file[0] == '\0') {
    (void)snprintf(err->file, sizeof err->file, "%s", path);
    err->line = 1;
  }
  return err->status == TABI_ERR_MEMORY ? TBI_EXIT_INTERNAL : TBI_EXIT_INPUT;
}

bool tbi_source_is_log(const char *path) { return tbi_input_kind_of(path) == TBI_INPUT_LOG; }

int tbi_source_open_scene(tbi_source *s, const char *path, const tabi_scene_def *def,
                          tabi_error *err) {
  *s = (tbi_source){.path = path};
  s->scene = tabi_scene_load(path, def, err);
  if (!s->scene) {
    tbi_input_explain(path, TBI_INPUT_SCENE, err);
    return fail(err, path);
  }
  tabi_world_def world = tabi_scene_world_def(s->scene);
  double steps = fmax(1, round(tabi_scene_duration(s->scene) / world.timestep));
  if (steps > MAX_STEPS) {
    tbi_fail(err, TABI_ERR_ARGUMENT, (tabi_place){path, 1},
             "%g steps are too many; give a shorter --time", steps);
    return TBI_EXIT_INPUT;
  }
  s->contact = world.contact;
  s->integrator = world.integrator;
  s->timestep = s->spacing = world.timestep;
  s->count = (int64_t)steps + 1;
  s->world = tabi_world_create(tabi_scene_model(s->scene), &world, err);
  if (!s->world || tabi_scene_reset(s->scene, s->world, err) != TABI_OK) return fail(err, path);
  s->observer = tabi_observer_create(s->scene, s->world, err);
  return s->observer ? TBI_EXIT_OK : fail(err, path);
}

int tbi_source_open_log(tbi_source *s, const char *path, const tabi_scene_def *def, double time,
                        tabi_error *err) {
  *s = (tbi_source){.path = path};
  s->recording = tabi_recording_open(path, err);
  if (!s->recording) return fail(err, path);
  s->scene = tabi_recording_scene(s->recording, def, err);
  if (!s->scene) return fail(err, path);
  tabi_recording_info info = tabi_recording_get_info(s->recording);
  s->contact = info.contact;
  s->integrator = info.integrator;
  s->timestep = info.timestep;
  s->spacing = info.timestep * info.every;
  s->count = info.nsample;
  if (time > 0) {
    double step = fmin(round(time / info.timestep), (double)info.last);
    int64_t last = tabi_recording_find(s->recording, (int64_t)step);
    s->count = last + 1; /* of a log that begins later: none */
  }
  if (s->count > 0) return TBI_EXIT_OK;
  tbi_fail(err, TABI_ERR_ARGUMENT, (tabi_place){path, 1},
           "holds nothing of the time before %g s; give a longer --time", time);
  return TBI_EXIT_INPUT;
}

void tbi_source_close(tbi_source *s) {
  tabi_observer_destroy(s->observer);
  tabi_world_destroy(s->world);
  tabi_recording_close(s->recording);
  tabi_scene_destroy(s->scene);
  *s = (tbi_source){0};
}

static double now(void) {
  struct timespec t;
  (void)clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static bool step(tbi_source *s) {
  double before = now();
  tabi_scene_control(s->scene, s->world);
  tabi_status status = tabi_world_step_or_grow(s->world, NULL);
  s->seconds += now() - before;
  if (status != TABI_OK && status != TABI_ERR_ENDED) s->failure = *tabi_world_error(s->world);
  return status == TABI_OK;
}

const tabi_sample *tbi_source_next(tbi_source *s, tabi_error *err) {
  if (s->next == s->count) return NULL;
  if (s->recording) {
    tabi_status status = tabi_recording_sample(s->recording, s->next, &s->sample, err);
    if (status != TABI_OK) return NULL;
    ++s->next;
    return &s->sample;
  }
  if (s->next > 0 && !step(s)) return NULL;
  ++s->next;
  return tabi_observer_look(s->observer);
}

/* What a log knows of it is in its last snapshot. */
static bool gait_ended_in_log(const tbi_source *s) {
  tabi_recording_info info = tabi_recording_get_info(s->recording);
  tabi_world_def def = tabi_scene_world_def(s->scene);
  tabi_world *world = tabi_world_create(tabi_scene_model(s->scene), &def, NULL);
  void *snapshot = malloc(info.snapshot_size + 1);
  int64_t at = 0;
  bool known = world && snapshot && s->sample.step == info.last &&
               tabi_recording_snapshot(s->recording, info.last, snapshot, &at, NULL) == TABI_OK &&
               tabi_world_restore(world, snapshot, info.snapshot_size) == TABI_OK;
  bool over = known && tabi_world_gait_state(world).outcome != TABI_GAIT_ONGOING;
  free(snapshot);
  tabi_world_destroy(world);
  return over;
}

bool tbi_source_gait_ended(tbi_source *s) {
  if (!tabi_contact_describe(s->contact)->planar_biped) return false;
  if (s->recording) return gait_ended_in_log(s);
  return tabi_world_gait_state(s->world).outcome != TABI_GAIT_ONGOING;
}

/* live_world.c - a scene in a world, and how a changed scene replaces it.
 *
 * To change a setting, the scene is read again with it, a world of the new scene continues the old
 * one, and the old one is destroyed.  Controllers with a state of their own are carried over; they
 * refer to the scene that they were made in, which therefore is kept until the next reset.  At the
 * start itself there is nothing to carry over, and everything can be changed. */
#include "live_world.h"

#include "scene_description.h"
#include "scene_meshes.h"
#include "tabi/tabi_control.h"
#include "viewer_error.h"

#include <stdlib.h>
#include <string.h>

enum { MAX_KEPT = 64, RATE = 60 };

/* -- from a scene to a world of it */

/* Everything but the scene. */
static void close_world(tbi_live_world *live) {
  tbi_picture_encoder_destroy(live->encoder);
  tabi_observer_destroy(live->observer);
  tabi_world_destroy(live->world);
  free(live->start.bytes);
  free(live->before.bytes);
  live->encoder = NULL;
  live->observer = NULL;
  live->world = NULL;
  live->start = live->before = (tbi_live_snapshot){0};
}

bool tbi_live_world_save(const tabi_world *world, tbi_live_snapshot *snapshot) {
  size_t size = tabi_world_snapshot_size(world);
  void *bytes = size > snapshot->size ? realloc(snapshot->bytes, size) : snapshot->bytes;
  if (!bytes) return false;
  *snapshot = (tbi_live_snapshot){bytes, size};
  tabi_world_save(world, bytes);
  return true;
}

static tabi_status open_world(tbi_live_world *live, tabi_error *err) {
  tabi_world_def def = tabi_scene_world_def(live->scene);
  live->world = tabi_world_create(tabi_scene_model(live->scene), &def, err);
  if (!live->world) return err->status;
  tabi_status status = tabi_scene_reset(live->scene, live->world, err);
  if (status != TABI_OK) return status;
  live->observer = tabi_observer_create(live->scene, live->world, err);
  if (!live->observer) return err->status;
  live->encoder = tbi_picture_encoder_create(live->scene, err);
  if (!live->encoder) return err->status;
  return tbi_live_world_save(live->world, &live->start) ? TABI_OK : tbi_memory_error(err);
}

static void close_kept(tbi_live_world *live) {
  for (int32_t i = 0; i < live->nkept; ++i)
    tabi_scene_destroy(live->kept[i]);
  free(live->kept);
  live->kept = NULL;
  live->nkept = 0;
}

void tbi_live_world_close(tbi_live_world *live) {
  close_world(live);
  tabi_scene_destroy(live->scene);
  close_kept(live);
  json_decref(live->meshes);
  *live = (tbi_live_world){0};
}

tabi_status tbi_live_world_open(tbi_live_world *live, tabi_scene *scene, const char *path,
                                tabi_error *err) {
  *live = (tbi_live_world){.path = path, .scene = scene};
  tabi_status status = open_world(live, err);
  if (status != TABI_OK) tbi_live_world_close(live);
  return status;
}

tabi_status tbi_live_world_reset(tbi_live_world *live, tabi_error *err) {
  tbi_live_world_release(live);
  live->failed = false;
  tabi_status status = tabi_scene_reset(live->scene, live->world, err);
  if (status != TABI_OK) return status;
  return tabi_world_restore(live->world, live->start.bytes, live->start.size);
}

/* -- changes */

/* The settings of the scene with another one: those of its source, less what the new one replaces.
 * NULL: out of memory. */
static const char **settings_with(const tabi_scene_source *source, const char *assignment,
                                  int32_t *count) {
  const char **set = calloc((size_t)source->nset + 1, sizeof *set);
  if (!set) return NULL;
  size_t path = (size_t)(strchr(assignment, '=') - assignment) + 1;
  *count = 0;
  for (int32_t i = 0; i < source->nset; ++i) {
    if (strncmp(source->set[i], assignment, path) != 0) set[(*count)++] = source->set[i];
  }
  set[(*count)++] = assignment;
  return set;
}

static tabi_scene *read_again(const tabi_scene *scene, const char *assignment, tabi_error *err) {
  tabi_scene_source source = tabi_scene_get_source(scene);
  tabi_scene_def def = tabi_scene_def_default();
  const char **set = settings_with(&source, assignment, &def.nset);
  if (!set) {
    (void)tbi_memory_error(err);
    return NULL;
  }
  def.set = set;
  def.plugins = true;
  tabi_scene *changed = tabi_scene_load_text(source.text, source.size, source.path, &def, err);
  free(set);
  return changed;
}

/* Whether controllers can go on; they may have been made for a time step. */
static tabi_status check_controllers(const tbi_live_world *live, const tbi_request *request,
                                     tabi_error *err) {
  if (!tabi_scene_is_stateful(live->scene)) return TABI_OK;
  if (request->setting == TBI_SETTING_TIMESTEP) {
    return tbi_argument_error(
        err, "a controller with a state of its own cannot continue with another time step; "
             "pause, reset, then change it");
  }
  if (live->nkept == MAX_KEPT)
    return tbi_argument_error(err, "too many changes in one run; pause and reset before the next");
  return TABI_OK;
}

static tabi_status keep_scene(tbi_live_world *live, tabi_scene *scene, tabi_error *err) {
  tabi_scene **kept = realloc(live->kept, sizeof(tabi_scene *) * (size_t)(live->nkept + 1));
  if (!kept) return tbi_memory_error(err);
  live->kept = kept;
  kept[live->nkept++] = scene;
  return TABI_OK;
}

/* The new world continues from the state of the old one. */
static tabi_status carry_over(tbi_live_world *live, tbi_live_world *next, tabi_error *err) {
  tabi_status status = tabi_world_continue(next->world, live->world, err);
  if (status != TABI_OK || !tabi_scene_is_stateful(live->scene)) return status;
  status = keep_scene(live, live->scene, err);
  if (status != TABI_OK) return status;
  status = tabi_scene_swap_controllers(next->scene, live->scene, err);
  if (status != TABI_OK) {
    --live->nkept;
    return status;
  }
  live->scene = NULL; /* it is kept */
  return TABI_OK;
}

tabi_status tbi_live_world_set(tbi_live_world *live, const tbi_request *request, tabi_error *err) {
  bool anew = tabi_world_steps(live->world) == 0;
  tabi_status status = anew ? TABI_OK : check_controllers(live, request, err);
  if (status != TABI_OK) return status;
  tabi_scene *scene = read_again(live->scene, request->assignment, err);
  if (!scene) return err->status;
  tbi_live_world next;
  status = tbi_live_world_open(&next, scene, live->path, err);
  if (status != TABI_OK) return status;
  if (!anew) status = carry_over(live, &next, err);
  if (status != TABI_OK) {
    tbi_live_world_close(&next);
    return status;
  }
  next.push = live->push;
  next.meshes = json_incref(live->meshes);
  if (!anew) {
    next.kept = live->kept;
    next.nkept = live->nkept;
    live->kept = NULL;
    live->nkept = 0;
  }
  tbi_live_world_close(live);
  *live = next;
  return TABI_OK;
}

/* -- steering */

tabi_status tbi_live_world_walk(tbi_live_world *live, const tbi_request *request, tabi_error *err) {
  bool stops = request->walk[0] == 0 && request->walk[1] == 0 && request->walk[2] == 0;
  bool found = false;
  for (int32_t i = 0; i < tabi_scene_nrobot(live->scene); ++i) {
    tabi_stepper *stepper = tabi_scene_stepper(live->scene, i);
    if (!stepper) continue;
    tabi_stepper_limits limits = tabi_stepper_get_limits(stepper);
    tabi_stepper_command command = {.steps = stops ? 0 : -1};
    for (int k = 0; k < 3; ++k)
      command.velocity[k] = request->walk[k] * limits.velocity[k];
    tabi_stepper_set_command(stepper, &command);
    found = true;
  }
  if (found || stops) return TABI_OK;
  return tbi_argument_error(err, "no robot here walks by a velocity: controller: {type: walk, "
                                 "velocity: [0, 0, 0]}");
}

/* -- what viewers get */

tbi_message *tbi_live_world_picture(tbi_live_world *live, double factor, bool paused) {
  const tabi_sample *sample = tabi_observer_look(live->observer);
  tbi_message *picture = tbi_message_create(tbi_picture_size(live->encoder, sample->ncontact));
  if (!picture) return NULL;
  uint32_t flags = paused ? TBI_PICTURE_PAUSED : 0;
  if (live->failed) flags |= TBI_PICTURE_DIVERGED;
  (void)tbi_picture_encode(live->encoder, sample, (float)factor, flags, picture->bytes);
  return picture;
}

tbi_message *tbi_live_world_description(tbi_live_world *live) {
  tabi_error err = {0};
  if (!live->meshes) live->meshes = tbi_scene_meshes_json(tabi_scene_model(live->scene));
  if (!live->meshes) return NULL;
  const tbi_run_about about = {
      .path = live->path, .live = true, .rate = RATE, .meshes = live->meshes};
  json_t *description = tbi_scene_description_json(live->scene, &about, &err);
  char *text = description ? tbi_scene_description_text(description) : NULL;
  json_decref(description);
  tbi_message *message = text ? tbi_message_of(text, strlen(text)) : NULL;
  free(text);
  return message;
}

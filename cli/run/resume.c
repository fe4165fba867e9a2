/* resume.c - restores a world from a log.
 *
 * The last snapshot before the time is restored, and steps lead from there to the time.  If a
 * controller has state of its own, the run is repeated from its start instead.  When the scene was
 * changed, all this happens in a world of the old scene, from which the new one continues. */
#include "run/resume.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static int fail(const tbi_resume *resume, const char *message) {
  tabi_error err;
  tbi_fail(&err, TABI_ERR_MODEL, (tabi_place){resume->path, 1}, "%s", message);
  return tbi_print_error(&err);
}

static int fail_as(const tbi_resume *resume, tabi_error *err) {
  if (err->file[0] == '\0') {
    (void)snprintf(err->file, sizeof err->file, "%s", resume->path);
    err->line = 1;
  }
  return tbi_print_error(err);
}

static int find_step(tbi_resume *resume, const char *at) {
  const tabi_recording_info *info = &resume->info;
  resume->step = info->last;
  if (!at) return TBI_EXIT_OK;
  double step = round(strtod(at, NULL) / info->timestep);
  if (step < (double)info->first || step > (double)info->last) {
    return tbi_usage_error("run", "--at %s is outside the log, which goes from %g s to %g s", at,
                           (double)info->first * info->timestep,
                           (double)info->last * info->timestep);
  }
  resume->step = (int64_t)step;
  return TBI_EXIT_OK;
}

int tbi_resume_open(tbi_resume *resume, const char *path, const char *at, const char *const *set,
                    int32_t nset) {
  tabi_error err = {0};
  *resume = (tbi_resume){.path = path, .changed = nset > 0, .plugins = true};
  for (int32_t i = 0; i < nset; ++i) {
    if (strncmp(set[i], "robots.", 7) == 0) resume->robots = true;
  }
  resume->recording = tabi_recording_open(path, &err);
  if (!resume->recording) return tbi_print_error(&err);
  resume->info = tabi_recording_get_info(resume->recording);
  if (resume->info.tabi_version != TABI_VERSION) {
    return fail(resume,
                "written by another version of tabi, which may step differently; run the scene "
                "again with this one");
  }
  return find_step(resume, at);
}

void tbi_resume_close(tbi_resume *resume) {
  tabi_recording_close(resume->recording);
  tabi_scene_destroy(resume->before);
  *resume = (tbi_resume){0};
}

/* Restores the state from which steps lead to the time. */
static int begin(tbi_resume *resume, tabi_scene *scene, tabi_world *world) {
  tabi_error err = {0};
  const tabi_recording_info *info = &resume->info;
  if (tabi_scene_is_stateful(scene)) {
    if (info->first > 0) {
      return fail(resume,
                  "a controller with a state of its own has to run from the start, and "
                  "this log begins later; resume the log of the run from which it was branched");
    }
    if (tabi_scene_reset(scene, world, &err) != TABI_OK) return fail_as(resume, &err);
    return TBI_EXIT_OK;
  }
  int64_t at = 0;
  void *snapshot = malloc(info->snapshot_size + 1);
  if (!snapshot) return tbi_out_of_memory();
  tabi_status status =
      tabi_recording_snapshot(resume->recording, resume->step, snapshot, &at, &err);
  if (status == TABI_OK) {
    status = tabi_world_restore(world, snapshot, info->snapshot_size);
    if (status != TABI_OK) {
      tbi_fail(&err, TABI_ERR_MODEL, (tabi_place){resume->path, 1},
               "its snapshots do not fit the scene; run the scene again");
    }
  }
  free(snapshot);
  return status == TABI_OK ? TBI_EXIT_OK : fail_as(resume, &err);
}

/* Whether the world is, to the last bit, where the log says it was. */
static int compare(const tbi_resume *resume, const tabi_world *world, const tabi_sample *sample) {
  size_t nq = sizeof(double) * (size_t)resume->info.nq;
  size_t nv = sizeof(double) * (size_t)resume->info.nv;
  if (memcmp(sample->q, tabi_world_q(world), nq) == 0 &&
      memcmp(sample->v, tabi_world_v(world), nv) == 0) {
    return TBI_EXIT_OK;
  }
  tabi_error err;
  tbi_fail(
      &err, TABI_ERR_MODEL, (tabi_place){resume->path, 1},
      "the steps do not reproduce the log at %g s: files of its scene, its plugins or the build "
      "of tabi have changed; run the scene again",
      sample->time);
  return tbi_print_error(&err);
}

static int step_once(const tbi_resume *resume, tabi_scene *scene, tabi_world *world) {
  tabi_scene_control(scene, world);
  if (tabi_world_step_or_grow(world, NULL) == TABI_OK) return TBI_EXIT_OK;
  tabi_error err = *tabi_world_error(world);
  return fail_as(resume, &err);
}

static int rewind_world(tbi_resume *resume, tabi_scene *scene, tabi_world *world) {
  int code = begin(resume, scene, world);
  tabi_error err = {0};
  tabi_sample sample = {.step = -1};
  int64_t index = -1;
  if (code == TBI_EXIT_OK) {
    index = tabi_recording_find(resume->recording, tabi_world_steps(world));
  }
  while (code == TBI_EXIT_OK) {
    int64_t step = tabi_world_steps(world);
    while (sample.step < step && index >= 0 && index < resume->info.nsample) {
      if (tabi_recording_sample(resume->recording, index++, &sample, &err) != TABI_OK)
        return fail_as(resume, &err);
    }
    if (sample.q && sample.step == step) code = compare(resume, world, &sample);
    if (code != TBI_EXIT_OK || step >= resume->step) break;
    code = step_once(resume, scene, world);
  }
  return code;
}

/* The old scene in a world of its own, which the new one takes over. */
static int branch(tbi_resume *resume, tabi_scene *scene, tabi_world *world) {
  tabi_error err = {0};
  tabi_scene_def def_before = tabi_scene_def_default();
  def_before.plugins = resume->plugins;
  resume->before = tabi_recording_scene(resume->recording, &def_before, &err);
  if (!resume->before) return fail_as(resume, &err);
  bool remembers = tabi_scene_is_stateful(resume->before);
  if (remembers && resume->robots) {
    return fail(resume, "a robot whose controller has a state cannot be changed in the middle of a "
                        "run; run the scene from its start with this --set");
  }
  tabi_world_def def = tabi_scene_world_def(resume->before);
  tabi_world *old = tabi_world_create(tabi_scene_model(resume->before), &def, &err);
  if (!old) return fail_as(resume, &err);
  int code = TBI_EXIT_OK;
  if (tabi_scene_reset(resume->before, old, &err) != TABI_OK) code = fail_as(resume, &err);
  if (code == TBI_EXIT_OK) code = rewind_world(resume, resume->before, old);
  if (code == TBI_EXIT_OK && tabi_world_continue(world, old, &err) != TABI_OK)
    code = fail_as(resume, &err);
  if (code == TBI_EXIT_OK && remembers &&
      tabi_scene_swap_controllers(scene, resume->before, &err) != TABI_OK) {
    code = fail_as(resume, &err);
  }
  tabi_world_destroy(old);
  return code;
}

int tbi_resume_enter(tbi_resume *resume, tabi_scene *scene, tabi_world *world) {
  if (!resume->recording) return TBI_EXIT_OK;
  return resume->changed ? branch(resume, scene, world) : rewind_world(resume, scene, world);
}

/* replay.h - replays: the pictures of a run, one after another.
 *
 * Pictures are taken at multiples of 1/60 s, each of the sample nearest in time.  When a replay
 * is full, every second picture is dropped, and from then on only half as many are taken; so a
 * replay is as fine as its length allows, and the same from a run as from the log of it. */
#ifndef TBI_VIEWER_REPLAY_H
#define TBI_VIEWER_REPLAY_H

#include "tabi/tabi_record.h"

#include <jansson.h>

enum { TBI_REPLAY_RATE = 60, TBI_REPLAY_BYTES = 2800000 };

typedef struct tbi_replay tbi_replay;

/* From a running world, which must outlive it, as must the scene.  The first picture is of the
 * present state. */
tbi_replay *tbi_replay_create(const tabi_scene *scene, tabi_world *world, tabi_error *err);
/* After every step; takes a picture when one is due. */
tabi_status tbi_replay_step(tbi_replay *replay, tabi_error *err);

/* From a log, whole.  def as in tabi_recording_scene; may be NULL. */
tbi_replay *tbi_replay_load(const char *path, const tabi_scene_def *def, tabi_error *err);

void tbi_replay_destroy(tbi_replay *replay); /* NULL is fine */

/* The pictures so far; they live until the next step. */
const void *tbi_replay_pictures(const tbi_replay *replay, size_t *size);
/* The description of its scene (scene_description.h), which the caller releases; NULL and err when
 * there is no memory. */
json_t *tbi_replay_description(const tbi_replay *replay, tabi_error *err);

#endif

/* film.h - films: pictures of a run, one after another, on a reel.
 *
 * Pictures are taken at multiples of 1/60 s, each of the sample nearest in time.  When the reel is
 * full, every second one is thrown away, and from then on only half as many are taken; so a film
 * is as fine as its length allows, and the same from a run as from the log of it. */
#ifndef TBI_VIEWER_FILM_H
#define TBI_VIEWER_FILM_H

#include "tabi/tabi_record.h"

#include <jansson.h>

enum { TBI_REEL_RATE = 60, TBI_REEL_BYTES = 2800000 };

typedef struct tbi_reel tbi_reel;

/* From a running world, which must outlive it, as must the scene.  The first picture is of the
 * present state. */
tbi_reel *tbi_reel_create(const tabi_scene *scene, tabi_world *world, tabi_error *err);
/* After every step; takes a picture when one is due. */
tabi_status tbi_reel_step(tbi_reel *reel, tabi_error *err);

/* From a log, whole.  def as in tabi_recording_scene; may be NULL. */
tbi_reel *tbi_reel_load(const char *path, const tabi_scene_def *def, tabi_error *err);

void tbi_reel_destroy(tbi_reel *reel); /* NULL is fine */

/* The film so far; lives until the next step. */
const void *tbi_reel_film(const tbi_reel *reel, size_t *size);
/* Its stage (stage.h), which the caller releases; NULL and err when there is no memory. */
json_t *tbi_reel_stage(const tbi_reel *reel, tabi_error *err);

#endif

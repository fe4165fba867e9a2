/* scene_description.h - all that stays the same during a replay, as JSON (docs/viewer.md): links,
 * shapes, joints, robots, the names of signals, settings. */
#ifndef TBI_VIEWER_SCENE_DESCRIPTION_H
#define TBI_VIEWER_SCENE_DESCRIPTION_H

#include "tabi/tabi_record.h"

#include <jansson.h>

/* What a scene does not tell of itself. */
typedef struct tbi_run_about {
  const char *path; /* of the scene or the log */
  bool live;
  double rate;            /* pictures per second */
  double start, duration; /* s, of the replay; 0 when live */
  json_t *meshes;         /* made before (scene_meshes.h), not taken over; NULL: to be made */
} tbi_run_about;

/* The caller releases it.  NULL and err when there is no memory. */
json_t *tbi_scene_description_json(const tabi_scene *scene, const tbi_run_about *about,
                                   tabi_error *err);
/* As text, numbers to seven digits, every '<' escaped so that no name can end the element of a page
 * in which it stands.  The caller frees it; NULL when there is no memory. */
char *tbi_scene_description_text(const json_t *description);

#endif

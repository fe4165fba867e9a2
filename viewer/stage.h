/* stage.h - all that stays the same during a film, as JSON (docs/viewer.md): links, shapes, joints,
 * robots, the names of signals, settings. */
#ifndef TBI_VIEWER_STAGE_H
#define TBI_VIEWER_STAGE_H

#include "tabi/tabi_record.h"

#include <jansson.h>

/* Where meshes have more triangles than this together, each gets coarser. */
enum { TBI_STAGE_TRIANGLES = 15000 };

/* What a scene does not tell of itself. */
typedef struct tbi_stage_about {
  const char *path; /* of the scene or the log */
  bool live;
  double rate;            /* pictures per second */
  double start, duration; /* s, of the film; 0 when live */
} tbi_stage_about;

/* The caller releases it.  NULL and err when there is no memory. */
json_t *tbi_stage_json(const tabi_scene *scene, const tbi_stage_about *about, tabi_error *err);
/* As text, numbers to seven digits, every '<' escaped so that no name can end the element of a page
 * in which it stands.  The caller frees it; NULL when there is no memory. */
char *tbi_stage_text(const json_t *stage);

#endif

/* resume.h - `tabi run --resume`: restores a world at any time of a log. */
#ifndef TBI_RESUME_H
#define TBI_RESUME_H

#include "common/cli.h"
#include "tabi/tabi_record.h"

typedef struct tbi_resume {
  const char *path;          /* of the log; NULL: nothing is resumed */
  tabi_recording *recording; /* NULL likewise */
  tabi_recording_info info;
  int64_t step; /* from which the run continues */
  bool changed; /* the scene is not that of the log */
  bool robots;  /* the changes concern robots */
  bool plugins;
  tabi_scene *before; /* scene of the log, if that is another one */
} tbi_resume;

/* Opens the log.  `at` is a time in s, or NULL for its end; set[nset] are changes to its scene.
 * Prints what is wrong and returns the exit code. */
int tbi_resume_open(tbi_resume *resume, const char *path, const char *at, const char *const *set,
                    int32_t nset);
/* Steps a world of the scene to the time.  On the way it must reproduce every sample of the log. */
int tbi_resume_enter(tbi_resume *resume, tabi_scene *scene, tabi_world *world);
/* After the scene's last step. */
void tbi_resume_close(tbi_resume *resume);

#endif

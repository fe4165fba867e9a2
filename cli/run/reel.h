/* reel.h - the film that `tabi run --html` makes of its run. */
#ifndef TBI_CLI_REEL_H
#define TBI_CLI_REEL_H

#include "common/cli.h"
#include "html.h"

/* All zero: no film is wanted. */
typedef struct tbi_filming {
  const char *path;
  tbi_reel *reel;
} tbi_filming;

/* All print what is wrong and return false then.  Whether the file can be written is found out at
 * once, not after the run.  path NULL: no film. */
bool tbi_filming_open(tbi_filming *filming, const char *path, const tabi_scene *scene,
                      tabi_world *world);
bool tbi_filming_step(tbi_filming *filming);
/* Writes what there is, whatever became of the run. */
bool tbi_filming_close(tbi_filming *filming);

#endif

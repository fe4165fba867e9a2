/* run_html.h - the replay that `tabi run --html` makes of its run. */
#ifndef TBI_RUN_HTML_H
#define TBI_RUN_HTML_H

#include "common/cli.h"
#include "html.h"

/* All zero: no replay is wanted. */
typedef struct tbi_run_html {
  const char *path;
  tbi_replay *replay;
} tbi_run_html;

/* All print what is wrong and return false then.  The file is checked before the run, not after it.
 * path NULL: no replay. */
bool tbi_run_html_open(tbi_run_html *html, const char *path, const tabi_scene *scene,
                       tabi_world *world);
bool tbi_run_html_step(tbi_run_html *html);
/* Writes the replay, also of a run that failed. */
bool tbi_run_html_close(tbi_run_html *html);

#endif

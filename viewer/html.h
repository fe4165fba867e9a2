/* html.h - the page, and runs in one file with it that plays anywhere, without a server. */
#ifndef TBI_VIEWER_HTML_H
#define TBI_VIEWER_HTML_H

#include "replay.h"

/* The page as it was built, which is not terminated by a zero. */
const char *tbi_page(size_t *size);

/* Whether a file can be written there, which stays as it is. */
tabi_status tbi_html_check(const char *path, tabi_error *err);
/* The page with some runs; the second is the ghost of the first.  The file appears when it is
 * whole.  Errors name it. */
tabi_status tbi_html_write(const char *path, tbi_replay *const *replay, int32_t count,
                           tabi_error *err);
/* The same of logs.  def as in tabi_recording_scene; may be NULL. */
tabi_status tbi_html_write_logs(const char *path, const char *const *log, int32_t count,
                                const tabi_scene_def *def, tabi_error *err);

#endif

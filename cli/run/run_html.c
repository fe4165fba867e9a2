/* run_html.c - the replay of a run. */
#include "run/run_html.h"

static bool print(const tabi_error *err) {
  tbi_print_diagnostic(err, "error");
  return false;
}

bool tbi_run_html_open(tbi_run_html *html, const char *path, const tabi_scene *scene,
                       tabi_world *world) {
  *html = (tbi_run_html){.path = path};
  if (!path) return true;
  tabi_error err = {0};
  if (tbi_html_check(path, &err) != TABI_OK) return print(&err);
  html->replay = tbi_replay_create(scene, world, &err);
  return html->replay || print(&err);
}

bool tbi_run_html_step(tbi_run_html *html) {
  tabi_error err = {0};
  return !html->replay || tbi_replay_step(html->replay, &err) == TABI_OK || print(&err);
}

bool tbi_run_html_close(tbi_run_html *html) {
  if (!html->replay) return true;
  tabi_error err = {0};
  bool good = tbi_html_write(html->path, &html->replay, 1, &err) == TABI_OK || print(&err);
  tbi_replay_destroy(html->replay);
  *html = (tbi_run_html){0};
  return good;
}

/* reel.c - the film of a run. */
#include "run/reel.h"

static bool print(const tabi_error *err) {
  tbi_print_diagnostic(err, "error");
  return false;
}

bool tbi_filming_open(tbi_filming *filming, const char *path, const tabi_scene *scene,
                      tabi_world *world) {
  *filming = (tbi_filming){.path = path};
  if (!path) return true;
  tabi_error err = {0};
  if (tbi_html_check(path, &err) != TABI_OK) return print(&err);
  filming->reel = tbi_reel_create(scene, world, &err);
  return filming->reel || print(&err);
}

bool tbi_filming_step(tbi_filming *filming) {
  tabi_error err = {0};
  return !filming->reel || tbi_reel_step(filming->reel, &err) == TABI_OK || print(&err);
}

bool tbi_filming_close(tbi_filming *filming) {
  if (!filming->reel) return true;
  tabi_error err = {0};
  bool good = tbi_html_write(filming->path, &filming->reel, 1, &err) == TABI_OK || print(&err);
  tbi_reel_destroy(filming->reel);
  *filming = (tbi_filming){0};
  return good;
}

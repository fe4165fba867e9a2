/* signal_selection.c - the signals that replays hold.
 *
 * A link's signals are told by their names: the link's, a dot, and one of a few endings. */
#include "signal_selection.h"

#include "geometry.h"
#include "viewer_error.h"

#include <stdlib.h>
#include <string.h>

/* that many bodies besides the robots are followed one by one */
enum { MAX_BODIES = 16 };

static bool is_named_in_log(const tabi_scene *scene, const char *name) {
  tabi_scene_log log = tabi_scene_get_log(scene);
  for (int32_t i = 0; i < log.nsignal; ++i) {
    if (strcmp(log.signals[i], name) == 0) return true;
  }
  return false;
}

static bool is_base(const tabi_scene *scene, int32_t link) {
  int32_t robot = tbi_robot_of(scene, link);
  return robot != TABI_NONE && tabi_scene_get_robot(scene, robot).base == link;
}

static bool is_body(const tabi_scene *scene, int32_t link) {
  return tabi_model_link_body(tabi_scene_model(scene), link) != TABI_WORLD &&
         tbi_robot_of(scene, link) == TABI_NONE;
}

/* wanted[nlink], which is set for feet already */
static void want_links(const tabi_scene *scene, bool *wanted) {
  const tabi_model *model = tabi_scene_model(scene);
  int32_t nlink = tabi_model_nlink(model), nbody = 0;
  for (int32_t i = 0; i < nlink; ++i)
    nbody += is_body(scene, i);
  for (int32_t i = 0; i < nlink; ++i) {
    const char *name = tabi_model_link(model, i).name;
    if (is_base(scene, i) || (nbody <= MAX_BODIES && is_body(scene, i)) ||
        (name && is_named_in_log(scene, name)))
      wanted[i] = true;
  }
}

/* The link whose signal has this name, or TABI_NONE. */
static int32_t link_of(const tabi_model *model, const char *name) {
  static const char *const endings[] = {"x",  "y",  "z",  "qw", "qx", "qy", "qz", "vx",  "vy",
                                        "vz", "wx", "wy", "wz", "fx", "fy", "fz", "slip"};
  const char *dot = strrchr(name, '.');
  char link[512];
  if (!dot || (size_t)(dot - name) >= sizeof link) return TABI_NONE;
  for (size_t i = 0; i < sizeof endings / sizeof *endings; ++i) {
    if (strcmp(dot + 1, endings[i]) != 0) continue;
    memcpy(link, name, (size_t)(dot - name));
    link[dot - name] = '\0';
    return tabi_model_find_link(model, link);
  }
  return TABI_NONE;
}

static void choose(tbi_signal_selection *selection, const tabi_model *model, const bool *wanted) {
  for (int32_t i = 0; i < tabi_signals_count(selection->signals); ++i) {
    int32_t link = link_of(model, tabi_signals_get(selection->signals, i).name);
    if (link == TABI_NONE || wanted[link]) selection->index[selection->count++] = i;
  }
}

tabi_status tbi_signal_selection_open(tbi_signal_selection *selection, const tabi_scene *scene,
                                      tabi_error *err) {
  *selection = (tbi_signal_selection){.signals = tabi_signals_create(scene, err)};
  if (!selection->signals) return TABI_ERR_MEMORY;
  const tabi_model *model = tabi_scene_model(scene);
  tbi_feet feet = {0};
  selection->index =
      calloc((size_t)tabi_signals_count(selection->signals) + 1, sizeof *selection->index);
  bool room = selection->index && tbi_feet_find(&feet, scene);
  if (room) {
    want_links(scene, feet.link);
    choose(selection, model, feet.link);
  }
  tbi_feet_free(&feet);
  if (room) return TABI_OK;
  tbi_signal_selection_close(selection);
  return tbi_memory_error(err);
}

void tbi_signal_selection_close(tbi_signal_selection *selection) {
  tabi_signals_destroy(selection->signals);
  free(selection->index);
  *selection = (tbi_signal_selection){0};
}

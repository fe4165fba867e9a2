/* choice.c - the signals that films hold.
 *
 * A link's signals are told by their names: the link's, a dot, and one of a few endings. */
#include "choice.h"

#include "fault.h"
#include "geometry.h"

#include <stdlib.h>
#include <string.h>

/* that many bodies besides the robots are followed one by one */
enum { MOST_BODIES = 16 };

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
    if (is_base(scene, i) || (nbody <= MOST_BODIES && is_body(scene, i)) ||
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

static void choose(tbi_choice *choice, const tabi_model *model, const bool *wanted) {
  for (int32_t i = 0; i < tabi_signals_count(choice->signals); ++i) {
    int32_t link = link_of(model, tabi_signals_get(choice->signals, i).name);
    if (link == TABI_NONE || wanted[link]) choice->index[choice->count++] = i;
  }
}

tabi_status tbi_choice_open(tbi_choice *choice, const tabi_scene *scene, tabi_error *err) {
  *choice = (tbi_choice){.signals = tabi_signals_create(scene, err)};
  if (!choice->signals) return TABI_ERR_MEMORY;
  const tabi_model *model = tabi_scene_model(scene);
  bool *wanted = calloc((size_t)tabi_model_nlink(model) + 1, sizeof *wanted);
  choice->index = calloc((size_t)tabi_signals_count(choice->signals) + 1, sizeof *choice->index);
  bool room = wanted && choice->index && tbi_find_feet(scene, wanted);
  if (room) {
    want_links(scene, wanted);
    choose(choice, model, wanted);
  }
  free(wanted);
  if (room) return TABI_OK;
  tbi_choice_close(choice);
  return tbi_no_memory(err);
}

void tbi_choice_close(tbi_choice *choice) {
  tabi_signals_destroy(choice->signals);
  free(choice->index);
  *choice = (tbi_choice){0};
}

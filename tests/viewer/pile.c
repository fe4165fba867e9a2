/* pile.c - see pile.h. */
#include "pile.h"

#include "scene_description.h"
#include "support/load.h"
#include "support/near.h"
#include "support/rng.h"
#include "support/scratch.h"

#include <stdlib.h>
#include <string.h>

static run begin(tabi_scene *scene) {
  return (run){scene, tabi_scene_model(scene), open_world(scene, NULL)};
}

run run_text(const char *text) { return begin(load_scene_text(text, "some/test.yaml", NULL)); }

run run_shipped(const char *name) { return begin(load_shipped_scene(name, NULL)); }

void run_end(run *r) {
  tabi_world_destroy(r->world);
  tabi_scene_destroy(r->scene);
}

void run_step(run *r) { step_world(r->scene, r->world); }

void pile_text(uint64_t seed, int count, double timestep, const char *head, char text[PILE_TEXT]) {
  static const char *const shapes[] = {"sphere: 0.1", "capsule: [0.05, 0.2]",
                                       "cylinder: [0.1, 0.1]", "box: [0.1, 0.2, 0.3]",
                                       "hull: [[0, 0, 0], [0.3, 0, 0], [0, 0.2, 0], [0, 0, 0.2]]"};
  rng r = rng_make(seed);
  text[0] = '\0';
  scratch_append(text, PILE_TEXT,
                 "timestep: %g\n%s"
                 "bodies:\n  - {name: slope, fixed: true, shape: {plane: {}}, rpy: [0, 0.2, 0]}\n",
                 timestep, head);
  for (int i = 0; i < count; ++i) {
    double spot[3], turn[3];
    rng_fill(&r, 0.4, spot, 3);
    rng_fill(&r, 3, turn, 3);
    scratch_append(
        text, PILE_TEXT,
        "  - {name: body%d, mass: %.3f, shape: {%s}, xyz: [%.4f, %.4f, %.4f], rpy: [%.4f, "
        "%.4f, %.4f], ang: [%.4f, 0, 1]}\n",
        i, rng_between(&r, 0.5, 3), shapes[rng_below(&r, 5)], spot[0], spot[1], 0.7 + spot[2],
        turn[0], turn[1], turn[2], turn[1]);
  }
}

json_t *description_of(const run *r) {
  tabi_error err = {0};
  const tbi_run_about about = {.path = "some/test.yaml", .rate = 60, .duration = 2};
  json_t *made = tbi_scene_description_json(r->scene, &about, &err);
  if (!made) fail_msg("%s", err.message);
  char *text = tbi_scene_description_text(made);
  json_decref(made);
  assert_non_null(text);
  assert_null(strchr(text, '<'));
  json_t *description = json_loads(text, JSON_REJECT_DUPLICATES, NULL);
  free(text);
  assert_non_null(description);
  return description;
}

size_t description_length(const json_t *description, const char *key) {
  json_t *array = json_object_get(description, key);
  assert_true(json_is_array(array));
  return json_array_size(array);
}

json_t *description_item(const json_t *description, const char *key, int32_t index) {
  return json_array_get(json_object_get(description, key), (size_t)index);
}

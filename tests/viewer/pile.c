/* pile.c - see pile.h. */
#include "pile.h"

#include "scene_description.h"
#include "support/near.h"
#include "support/rng.h"
#include "support/scratch.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static run begin(tabi_scene *scene, const tabi_error *error) {
  if (!scene) fail_msg("%s:%d: %s", error->file, (int)error->line, error->message);
  tabi_error err = {0};
  tabi_world_def def = tabi_scene_world_def(scene);
  run r = {scene, tabi_scene_model(scene), NULL};
  r.world = tabi_world_create(r.model, &def, &err);
  if (!r.world) fail_msg("%s", err.message);
  assert_int_equal(tabi_scene_reset(scene, r.world, &err), TABI_OK);
  return r;
}

run run_text(const char *text) {
  tabi_error err = {0};
  return begin(tabi_scene_load_text(text, strlen(text), "some/test.yaml", NULL, &err), &err);
}

run run_shipped(const char *name) {
  char path[512];
  tabi_error err = {0};
  (void)snprintf(path, sizeof path, "%s/scenes/%s.yaml", TABI_SOURCE_DIR, name);
  return begin(tabi_scene_load(path, NULL, &err), &err);
}

void run_end(run *r) {
  tabi_world_destroy(r->world);
  tabi_scene_destroy(r->scene);
}

void run_step(run *r) {
  tabi_scene_control(r->scene, r->world);
  assert_int_equal(tabi_world_step(r->world, NULL), TABI_OK);
}

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

/* states.c - a head of text that names every number, then frames of equal size, each with a hash
 * of its own so that a flipped byte is found. */
#include "states.h"

#include <errno.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#define MAGIC   "tabi log"
#define VERSION 1u

static bool fail(const tbi_states *states, const char *action) {
  tabi_error err;
  tbi_fail(&err, TABI_ERR_FILE, (tabi_place){states->path, 1}, "cannot %s: %s", action,
           strerror(errno));
  tbi_print_diagnostic(&err, "error");
  return false;
}

/* where each joint's numbers stand */
static json_t *list_joints(const tabi_model *model) {
  json_t *joints = json_array();
  for (int32_t i = 0; i < tabi_model_njoint(model); ++i) {
    tabi_range q = tabi_model_joint_q(model, i);
    tabi_range v = tabi_model_joint_v(model, i);
    const char *name = tabi_model_joint(model, i).name;
    if (q.count == 0 || !name) continue;
    json_array_append_new(joints, json_pack("{s:s, s:i, s:i, s:i, s:i}", "name", name, "q", q.first,
                                            "nq", q.count, "v", v.first, "nv", v.count));
  }
  return joints;
}

/* the head as text, filled with spaces to whole words; NULL when memory runs out */
static char *make_head(const tbi_states *states, const tabi_scene *scene) {
  const tabi_model *model = tabi_scene_model(scene);
  tabi_world_def def = tabi_scene_world_def(scene);
  json_t *head = json_pack("{s:s, s:s, s:s, s:f, s:i, s:i, s:i, s:o}", "scene",
                           tabi_scene_name(scene), "contact", tabi_contact_name(def.contact),
                           "integrator", tabi_integrator_name(def.integrator), "timestep",
                           def.timestep, "every", states->every, "nq", tabi_model_nq(model), "nv",
                           tabi_model_nv(model), "joints", list_joints(model));
  char *text = head ? json_dumps(head, JSON_COMPACT | JSON_REAL_PRECISION(17)) : NULL;
  json_decref(head);
  if (!text) return NULL;
  size_t length = strlen(text);
  size_t whole = (length + 8) / 8 * 8;
  char *padded = malloc(whole + 1);
  if (padded) {
    memcpy(padded, text, length);
    memset(padded + length, ' ', whole - length);
    padded[whole] = '\0';
  }
  free(text);
  return padded;
}

/* FNV-1a */
static uint64_t hash_of(const char *bytes, size_t size) {
  uint64_t hash = 0xcbf29ce484222325U;
  for (size_t i = 0; i < size; ++i)
    hash = (hash ^ (unsigned char)bytes[i]) * 0x100000001b3U;
  return hash;
}

static void write_frame(tbi_states *states) {
  const tabi_model *model = tabi_world_model(states->world);
  size_t nq = sizeof(double) * (size_t)tabi_model_nq(model);
  size_t nv = sizeof(double) * (size_t)tabi_model_nv(model);
  int64_t step = tabi_world_steps(states->world);
  char *at = states->frame;
  memcpy(at, &step, sizeof step);
  at += sizeof step;
  memcpy(at, tabi_world_q(states->world), nq);
  at += nq;
  memcpy(at, tabi_world_v(states->world), nv);
  at += nv;
  uint64_t hash = hash_of(states->frame, (size_t)(at - states->frame));
  memcpy(at, &hash, sizeof hash);
  (void)fwrite(states->frame, 1, states->size, states->file);
}

bool tbi_states_open(tbi_states *states, const char *path, const tabi_scene *scene,
                     tabi_world *world) {
  const tabi_model *model = tabi_world_model(world);
  size_t numbers = 2 + (size_t)tabi_model_nq(model) + (size_t)tabi_model_nv(model);
  *states = (tbi_states){.path = path, .world = world, .size = numbers * sizeof(double)};
  if (!path) return true;
  states->every = tabi_scene_get_log(scene).every;
  states->frame = malloc(states->size);
  char *head = make_head(states, scene);
  bool fine = states->frame && head;
  if (!fine) {
    (void)tbi_out_of_memory();
  } else {
    states->file = fopen(path, "wb");
    if (!states->file) fine = fail(states, "open");
  }
  if (fine) {
    const uint32_t sizes[2] = {VERSION, (uint32_t)strlen(head)};
    (void)fwrite(MAGIC, 1, strlen(MAGIC), states->file);
    (void)fwrite(sizes, sizeof sizes[0], 2, states->file);
    (void)fwrite(head, 1, strlen(head), states->file);
    write_frame(states);
  } else {
    free(states->frame);
  }
  free(head);
  return fine;
}

void tbi_states_step(tbi_states *states) {
  if (states->file && tabi_world_steps(states->world) % states->every == 0) write_frame(states);
}

bool tbi_states_close(tbi_states *states) {
  if (!states->file) return true;
  bool bad = ferror(states->file) != 0;
  bool fine = fclose(states->file) == 0 && !bad;
  states->file = NULL;
  free(states->frame);
  return fine || fail(states, "write");
}

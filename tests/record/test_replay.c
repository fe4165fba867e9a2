/* test_replay.c - the log of a run is the run: under every formulation each sample has the hash of
 * the state it was taken from, and every second of it, done again from the log, meets the same
 * hashes. A walk with a stabiliser remembers more than the world and is done again from its start;
 * one without does not. A log of a humanoid with 42 degrees of freedom that walks is small. */
#include "support/load.h"
#include "support/near.h"
#include "support/scratch.h"
#include "tabi/tabi_record.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { MAX_SETS = 6, MAX_STEPS = 3000 };

typedef struct replay_case {
  const char *scene;
  const char *set; /* settings, separated by | */
  double seconds;  /* under sanitizers half of it */
  bool remembers;
} replay_case;

#define SHORT(more)                                                                 \
  more "robots.robot.controller.steps=1|robots.robot.controller.stand_before=0.05|" \
       "robots.robot.controller.stand_after=0.1"

static replay_case cases[] = {
    {"stand_humanoid20", "contact.model=cone",                       2,   false},
    {"stand_humanoid20", "contact.model=lcp",                        2,   false},
    {"stand_humanoid20", "contact.model=exact",                      2,   false},
    {"stand_humanoid20", "contact.model=penalty",                    2,   false},
    {"stand_humanoid20", "contact.model=impulse",                    2,   false},
    {"stand_humanoid20", "integrator=rk4",                           2,   false},
    {"stack",            "contact.model=lcp|contact.fallback=exact", 2,   false},
    {"four_bar",         "log.every=3",                              2,   false},
    {"biped_walk",       "",                                         3,   false},
    {"human_walk",       "",                                         2,   false},
    {"walk",             SHORT("log.every=1|"),                      1.2, false},
    {"walk_bush",        SHORT("log.every=1|"),                      1.2, true },
};

static scene_world load_run(const replay_case *c) {
  const char *set[MAX_SETS];
  char text[512];
  tabi_scene_def def = tabi_scene_def_default();
  def.set = set;
  (void)snprintf(text, sizeof text, "%s", c->set);
  for (char *at = text; *at != '\0' && def.nset < MAX_SETS; ++def.nset) {
    set[def.nset] = at;
    at += strcspn(at, "|");
    if (*at == '|') *at++ = '\0';
  }
  return scene_world_open(load_shipped_scene(c->scene, &def));
}

static void step(scene_world *r) { step_world(r->scene, r->world); }

/* As tabi_world_hash does it. */
static uint64_t hash_of(const tabi_sample *sample, const tabi_recording_info *info) {
  uint64_t hash = 0xcbf29ce484222325U;
  const void *bytes[] = {sample->q, sample->v, &sample->step};
  const size_t size[] = {sizeof(double) * (size_t)info->nq, sizeof(double) * (size_t)info->nv,
                         sizeof sample->step};
  for (size_t i = 0; i < 3; ++i) {
    const unsigned char *at = bytes[i];
    for (size_t k = 0; k < size[i]; ++k)
      hash = (hash ^ at[k]) * 0x100000001b3U;
  }
  return hash;
}

static int steps_of(const replay_case *c, const scene_world *r) {
  double seconds = TEST_SHORT ? c->seconds / 2 : c->seconds;
  return (int)(seconds / tabi_world_get_def(r->world).timestep + 0.5);
}

/* Runs and logs; hash[] gets that of every state. */
static const char *write_log(scene_world *r, int steps, uint64_t *hash) {
  tabi_error err = {0};
  const char *path = scratch_path("replay.tabi");
  assert_true(steps <= MAX_STEPS);
  tabi_recorder *recorder = tabi_recorder_create(path, r->scene, r->world, &err);
  if (!recorder) fail_msg("%s", err.message);
  hash[0] = tabi_world_hash(r->world);
  for (int i = 1; i <= steps; ++i) {
    step(r);
    hash[i] = tabi_world_hash(r->world);
    assert_int_equal(tabi_recorder_step(recorder, &err), TABI_OK);
  }
  assert_int_equal(tabi_recorder_close(recorder, &err), TABI_OK);
  return path;
}

static void check_samples(tabi_recording *log, const uint64_t *hash) {
  tabi_recording_info info = tabi_recording_get_info(log);
  for (int64_t i = 0; i < info.nsample; ++i) {
    tabi_sample sample;
    tabi_error err = {0};
    if (tabi_recording_sample(log, i, &sample, &err) != TABI_OK) fail_msg("%s", err.message);
    if (hash_of(&sample, &info) != hash[sample.step])
      fail_msg("sample of step %" PRId64, sample.step);
  }
}

/* From the last snapshot at or before a step up to another step. */
static void again_from(tabi_recording *log, int from, int to, const uint64_t *hash) {
  tabi_error err = {0};
  tabi_recording_info info = tabi_recording_get_info(log);
  tabi_scene *scene = tabi_recording_scene(log, NULL, &err);
  if (!scene) fail_msg("%s", err.message);
  scene_world r = scene_world_open(scene);
  void *snapshot = malloc(info.snapshot_size);
  int64_t at = 0;
  assert_non_null(snapshot);
  if (!tabi_scene_is_stateful(r.scene)) {
    assert_int_equal(tabi_recording_snapshot(log, from, snapshot, &at, &err), TABI_OK);
    assert_int_equal(tabi_world_restore(r.world, snapshot, info.snapshot_size), TABI_OK);
    assert_true(at <= from);
  }
  for (int64_t i = at; i <= to; ++i) {
    if (i > at) step(&r);
    if (tabi_world_hash(r.world) != hash[i]) fail_msg("from %d: step %" PRId64, from, i);
  }
  free(snapshot);
  scene_world_close(&r);
}

/* 20 s of a walk at 1 ms are to take 25 MB at most. */
static void check_size(const char *path, int steps) {
  struct stat info;
  assert_int_equal(stat(path, &info), 0);
  print_message("%.0f bytes a step\n", (double)info.st_size / steps);
  assert_true((double)info.st_size / steps < 25e6 / 20000);
}

static void replays(void **state) {
  const replay_case *c = *state;
  static uint64_t hash[MAX_STEPS + 1];
  tabi_error err = {0};
  scene_world r = load_run(c);
  int steps = steps_of(c, &r);
  assert_int_equal(tabi_scene_is_stateful(r.scene), c->remembers);
  const char *path = write_log(&r, steps, hash);
  if (tabi_scene_nrobot(r.scene) > 0) check_size(path, steps);
  tabi_recording *log = tabi_recording_open(path, &err);
  if (!log) fail_msg("%s", err.message);
  check_samples(log, hash);
  int second = (int)(1 / tabi_world_get_def(r.world).timestep + 0.5);
  for (int from = 0; from < steps; from += second) {
    int to = from + second < steps ? from + second : steps;
    again_from(log, from, to, hash);
    if (c->remembers) break;
  }
  tabi_recording_close(log);
  scene_world_close(&r);
}

int main(void) {
  enum { COUNT = sizeof cases / sizeof *cases };
  struct CMUnitTest tests[COUNT];
  char name[COUNT][128];
  for (int i = 0; i < COUNT; ++i) {
    (void)snprintf(name[i], sizeof name[i], "%s %.60s", cases[i].scene, cases[i].set);
    tests[i] =
        (struct CMUnitTest){.name = name[i], .test_func = replays, .initial_state = &cases[i]};
  }
  return cmocka_run_group_tests_name("replay", tests, scratch_begin, scratch_end);
}

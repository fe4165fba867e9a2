/* test_memory.c - the n-th allocation fails, for every n, once or for good: whatever writes or
 * reads logs and samples says "out of memory", leaves no block behind and goes on where it can.
 * What happens in every step allocates nothing. */
#include "support/heap.h"
#include "support/near.h"
#include "support/scratch.h"
#include "tabi/tabi_record.h"

#include <stdio.h>
#include <stdlib.h>

static const char text[] =
    "timestep: 1e-3\n"
    "contact: {max_contacts: 24}\n"
    "bodies:\n"
    "  - {name: floor, fixed: true, shape: {plane: {}}}\n"
    "  - {name: box, mass: 1, shape: {box: [0.2, 0.2, 0.2]}, xyz: [0, 0, 0.1], lin: [1, 0, 0]}\n"
    "  - {name: ball, mass: 1, shape: {sphere: 0.1}, xyz: [1, 0, 0.1]}\n";

static tabi_scene *scene;
static tabi_world *world;

static void begin_world(void) {
  tabi_error err = {0};
  scene = tabi_scene_load_text(text, sizeof text - 1, "starved.yaml", NULL, &err);
  if (!scene) fail_msg("%s", err.message);
  tabi_world_def def = tabi_scene_world_def(scene);
  world = tabi_world_create(tabi_scene_model(scene), &def, &err);
  assert_non_null(world);
}

static tabi_status write_log(const void *context, tabi_error *err) {
  (void)context;
  assert_int_equal(tabi_scene_reset(scene, world, NULL), TABI_OK);
  tabi_recorder *recorder = tabi_recorder_create(scratch_path("starved.tabi"), scene, world, err);
  if (!recorder) return err->status;
  tabi_status status = TABI_OK;
  for (int i = 0; i < 30 && status == TABI_OK; ++i) {
    assert_int_equal(tabi_world_step(world, NULL), TABI_OK);
    status = tabi_recorder_step(recorder, err);
  }
  tabi_status closed = tabi_recorder_close(recorder, status == TABI_OK ? err : NULL);
  return status == TABI_OK ? closed : status;
}

/* All that can be asked of a log; the first failure is what counts. */
static tabi_status use_log(tabi_recording *log, tabi_error *err) {
  tabi_recording_info info = tabi_recording_get_info(log);
  static char snapshot[1 << 16];
  int64_t at = 0;
  assert_true(info.snapshot_size <= sizeof snapshot);
  for (int64_t i = 0; i < info.nsample; ++i) {
    tabi_sample sample;
    tabi_status status = tabi_recording_sample(log, i, &sample, err);
    if (status != TABI_OK) return status;
  }
  return tabi_recording_snapshot(log, info.last, snapshot, &at, err);
}

static tabi_status read_log(const void *context, tabi_error *err) {
  (void)context;
  tabi_recording *log = tabi_recording_open(scratch_path("whole.tabi"), err);
  if (!log) return err->status;
  tabi_status status = use_log(log, err);
  // it is good for another try
  if (heap_failed()) heap_recover();
  if (status != TABI_OK) assert_int_equal(use_log(log, NULL), TABI_OK);
  tabi_recording_close(log);
  return status;
}

static tabi_status scene_of_log(const void *context, tabi_error *err) {
  (void)context;
  tabi_recording *log = tabi_recording_open(scratch_path("whole.tabi"), err);
  if (!log) return err->status;
  tabi_scene *other = tabi_recording_scene(log, NULL, err);
  tabi_status status = other ? TABI_OK : err->status;
  tabi_scene_destroy(other);
  tabi_recording_close(log);
  return status;
}

static tabi_status observe(const void *context, tabi_error *err) {
  (void)context;
  tabi_observer *observer = tabi_observer_create(scene, world, err);
  if (!observer) return err->status;
  assert_non_null(tabi_observer_look(observer));
  tabi_observer_destroy(observer);
  return TABI_OK;
}

static tabi_status name_signals(const void *context, tabi_error *err) {
  (void)context;
  tabi_signals *signals = tabi_signals_create(scene, err);
  if (!signals) return err->status;
  tabi_signals_destroy(signals);
  return TABI_OK;
}

/* A body that is here and away again and again, so that its entries have to grow. */
static tabi_status keep_ledger(const void *context, tabi_error *err) {
  (void)context;
  tabi_ledger *ledger = tabi_ledger_create(tabi_scene_model(scene), err);
  if (!ledger) return err->status;
  tabi_status status = TABI_OK;
  for (int i = 1; i <= 400 && status == TABI_OK; ++i) {
    tabi_sample_contact c = {
        .link_a = 0,
        .link_b = 1,
        .status = TABI_CONTACT_STICK,
        .normal = {0, 0, 1},
        .force = {0, 0, 1}
    };
    tabi_sample sample = {.step = i, .time = i, .contact = &c, .ncontact = i % 4 < 2};
    status = tabi_ledger_add(ledger, &sample, err);
  }
  tabi_ledger_destroy(ledger);
  return status;
}

static void starves(void **state) {
  heap_job *const jobs[] = {write_log, read_log, scene_of_log, observe, name_signals, keep_ledger};
  (void)state;
  for (size_t i = 0; i < sizeof jobs / sizeof *jobs; ++i) {
    assert_true(heap_starve(jobs[i], NULL, false) > 0);
    assert_true(heap_starve(jobs[i], NULL, true) > 0);
  }
}

static void steps_allocate_nothing(void **state) {
  (void)state;
  tabi_error err = {0};
  assert_int_equal(tabi_scene_reset(scene, world, NULL), TABI_OK);
  tabi_recorder *recorder = tabi_recorder_create(scratch_path("steps.tabi"), scene, world, &err);
  tabi_observer *observer = tabi_observer_create(scene, world, &err);
  tabi_signals *signals = tabi_signals_create(scene, &err);
  assert_true(recorder && observer && signals);
  double *value = malloc(sizeof *value * ((size_t)tabi_signals_count(signals) + 1));
  assert_non_null(value);
  long before = heap_allocations();
  for (int i = 0; i < 2000; ++i) {
    assert_int_equal(tabi_world_step(world, NULL), TABI_OK);
    assert_int_equal(tabi_recorder_step(recorder, &err), TABI_OK);
    tabi_signals_eval(signals, tabi_observer_look(observer), value);
  }
  assert_int_equal(heap_allocations(), before);
  free(value);
  tabi_signals_destroy(signals);
  tabi_observer_destroy(observer);
  assert_int_equal(tabi_recorder_close(recorder, &err), TABI_OK);
}

static int begin(void **state) {
  tabi_error err = {0};
  (void)scratch_begin(state);
  begin_world();
  (void)write_log(NULL, &err);
  return rename(scratch_path("starved.tabi"), scratch_path("whole.tabi"));
}

static int end(void **state) {
  tabi_world_destroy(world);
  tabi_scene_destroy(scene);
  return scratch_end(state);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(starves),
      cmocka_unit_test(steps_allocate_nothing),
  };
  return cmocka_run_group_tests_name("memory", tests, begin, end);
}

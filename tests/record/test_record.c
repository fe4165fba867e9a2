/* test_record.c - logs of runs: what is written is read back to the last bit; a run goes on from
 * any snapshot, under every contact method, as if nothing had happened; no damaged byte gets
 * through; a log that was cut off is read as far as it goes; a full disk, a world of another scene
 * and steps out of order are errors. */
#include "support/load.h"
#include "support/near.h"
#include "support/scratch.h"
#include "tabi/tabi_record.h"

#include <fcntl.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char boxes[] =
    "name: boxes\n"
    "timestep: 2e-3\n"
    "contact: {max_contacts: 24}\n"
    "bodies:\n"
    "  - {name: floor, fixed: true, shape: {plane: {}}, rpy: [0, 0.05, 0]}\n"
    "  - {name: low, mass: 2, shape: {box: [0.2, 0.3, 0.2]}, xyz: [0, 0, 0.11], rpy: [0, 0.05, "
    "0]}\n"
    "  - {name: high, mass: 1, shape: {box: [0.2, 0.2, 0.1]}, xyz: [0.03, 0, 0.3], ang: [1, 2, "
    "0]}\n"
    "forces:\n"
    "  - {body: low, force: [8, 2, 0], from: 0.3, to: 0.5}\n";

static scene_world load_run(const char *text, const char *set) {
  tabi_scene_def def = tabi_scene_def_default();
  def.set = &set;
  def.nset = set ? 1 : 0;
  return scene_world_open(load_scene_text(text, "boxes.yaml", &def));
}

static void step(scene_world *r) { step_world(r->scene, r->world); }

/* Runs and logs; hash[] gets the hash of every state from the start on. */
static const char *log_run(scene_world *r, const char *name, int steps, uint64_t *hash) {
  tabi_error err = {0};
  const char *path = scratch_path(name);
  tabi_recorder *recorder = tabi_recorder_create(path, r->scene, r->world, &err);
  if (!recorder) fail_msg("%s", err.message);
  for (int i = 0; i <= steps; ++i) {
    if (i > 0) {
      step(r);
      assert_int_equal(tabi_recorder_step(recorder, &err), TABI_OK);
    }
    if (hash) hash[i] = tabi_world_hash(r->world);
  }
  assert_int_equal(tabi_recorder_close(recorder, &err), TABI_OK);
  return path;
}

static tabi_recording *open_log(const char *path) {
  tabi_error err = {0};
  tabi_recording *log = tabi_recording_open(path, &err);
  if (!log) fail_msg("%s", err.message);
  return log;
}

/* A sample against the world it was taken from. */
static void check_sample(const tabi_sample *sample, tabi_world *world, double timestep) {
  const tabi_model *model = tabi_world_model(world);
  int32_t count = 0;
  const tabi_contact *contact = tabi_world_contacts(world, &count);
  tabi_certificate c = tabi_world_certificate(world);
  tabi_energy e = tabi_world_energy(world);
  assert_int_equal(sample->step, tabi_world_steps(world));
  assert_memory_equal(sample->q, tabi_world_q(world),
                      sizeof(double) * (size_t)tabi_model_nq(model));
  assert_memory_equal(sample->v, tabi_world_v(world),
                      sizeof(double) * (size_t)tabi_model_nv(model));
  assert_true(sample->energy.kinetic == e.kinetic && sample->energy.work == e.work);
  assert_true(sample->certificate.gap == c.gap && sample->certificate.dissipation == c.dissipation);
  assert_int_equal(sample->certificate.iterations, c.iterations);
  assert_int_equal(sample->certificate.converged, c.converged);
  assert_int_equal(sample->ncontact, count);
  for (int32_t i = 0; i < count; ++i) {
    const tabi_sample_contact *f = &sample->contact[i];
    assert_int_equal(f->shape_a, contact[i].shape_a);
    assert_int_equal(f->shape_b, contact[i].shape_b);
    bool pushes =
        contact[i].impulse[0] != 0 || contact[i].impulse[1] != 0 || contact[i].impulse[2] != 0;
    assert_int_equal(f->status != TABI_CONTACT_SEPARATING, pushes);
    for (int k = 0; k < 3; ++k) {
      assert_true(f->point[k] == (float)contact[i].point[k]);
      assert_true(f->force[k] == (float)(contact[i].impulse[k] / timestep));
    }
  }
}

static void reads_what_was_written(void **state) {
  (void)state;
  scene_world r = load_run(boxes, NULL);
  const char *path = log_run(&r, "plain.tabi", 600, NULL);
  tabi_recording *log = open_log(path);
  tabi_recording_info info = tabi_recording_get_info(log);
  assert_true(info.complete);
  assert_int_equal(info.nsample, 601);
  assert_int_equal(info.first, 0);
  assert_int_equal(info.last, 600);
  assert_string_equal(info.scene, "boxes");
  assert_string_equal(info.source.text, boxes);
  assert_true(info.timestep == 2e-3);
  scene_world again = load_run(boxes, NULL);
  bool sticks = false;
  bool slips = false;
  for (int i = 0; i <= 600; ++i) {
    tabi_sample sample;
    if (i > 0) step(&again);
    assert_int_equal(tabi_recording_sample(log, i, &sample, NULL), TABI_OK);
    check_sample(&sample, again.world, 2e-3);
    for (int32_t k = 0; k < sample.ncontact; ++k) {
      sticks = sticks || sample.contact[k].status == TABI_CONTACT_STICK;
      slips = slips || sample.contact[k].status == TABI_CONTACT_SLIP;
    }
  }
  assert_true(sticks && slips);
  // in any order
  for (int64_t i = 600; i >= 0; i -= 37) {
    tabi_sample sample;
    assert_int_equal(tabi_recording_sample(log, i, &sample, NULL), TABI_OK);
    assert_int_equal(sample.step, i);
    assert_int_equal(tabi_recording_find(log, i), i);
  }
  tabi_sample sample;
  assert_int_equal(tabi_recording_sample(log, 601, &sample, NULL), TABI_ERR_ARGUMENT);
  assert_int_equal(tabi_recording_find(log, -1), TABI_NONE);
  tabi_recording_close(log);
  scene_world_close(&again);
  scene_world_close(&r);
}

static void writes_every_so_many(void **state) {
  (void)state;
  scene_world r = load_run(boxes, "log.every=7");
  const char *path = log_run(&r, "seventh.tabi", 100, NULL);
  tabi_recording *log = open_log(path);
  tabi_recording_info info = tabi_recording_get_info(log);
  // every seventh, and the last
  assert_int_equal(info.nsample, 16);
  assert_int_equal(info.last, 100);
  assert_int_equal(tabi_recording_find(log, 13), 1);
  assert_int_equal(tabi_recording_find(log, 14), 2);
  assert_int_equal(info.source.nset, 1);
  assert_string_equal(info.source.set[0], "log.every=7");
  tabi_recording_close(log);
  scene_world_close(&r);
}

/* From the snapshot before a step on, all states are those of the run that was not interrupted. */
static void resume_at(tabi_recording *log, int at, int steps, const uint64_t *hash) {
  tabi_error err = {0};
  tabi_recording_info info = tabi_recording_get_info(log);
  tabi_scene *scene = tabi_recording_scene(log, NULL, &err);
  if (!scene) fail_msg("%s", err.message);
  scene_world r = scene_world_open(scene);
  void *snapshot = malloc(info.snapshot_size);
  assert_non_null(snapshot);
  int64_t from = -1;
  assert_int_equal(tabi_recording_snapshot(log, at, snapshot, &from, &err), TABI_OK);
  assert_true(from <= at && at - from <= 250);
  assert_int_equal(tabi_world_restore(r.world, snapshot, info.snapshot_size), TABI_OK);
  assert_int_equal(tabi_world_steps(r.world), from);
  for (int64_t i = from; i <= steps; ++i) {
    if (i > from) step(&r);
    if (tabi_world_hash(r.world) != hash[i]) fail_msg("from %d: step %" PRId64, at, i);
  }
  free(snapshot);
  scene_world_close(&r);
}

static void goes_on_under_every_method(void **state) {
  (void)state;
  static const char *const methods[] = {"lcp", "cone", "exact", "penalty", "impulse"};
  enum { STEPS = 560 };
  uint64_t hash[STEPS + 1];
  for (size_t i = 0; i < sizeof methods / sizeof *methods; ++i) {
    char set[64];
    char name[64];
    (void)snprintf(set, sizeof set, "contact.model=%s", methods[i]);
    (void)snprintf(name, sizeof name, "%s.tabi", methods[i]);
    scene_world r = load_run(boxes, set);
    tabi_recording *log = open_log(log_run(&r, name, STEPS, hash));
    const int times[] = {0, 1, 249, 250, 333, 520, STEPS};
    for (size_t k = 0; k < sizeof times / sizeof *times; ++k)
      resume_at(log, times[k], STEPS, hash);
    tabi_recording_close(log);
    scene_world_close(&r);
  }
}

/* Another world that goes on from this one does the same under the same settings, and keeps time
 * and motion under others. */
static void continues_in_another_world(void **state) {
  (void)state;
  tabi_error err = {0};
  scene_world a = load_run(boxes, NULL);
  scene_world b = load_run(boxes, "contact.max_contacts=40");
  scene_world c = load_run(boxes, "contact.model=exact");
  scene_world d = load_run(boxes, "timestep=1e-3");
  for (int i = 0; i < 200; ++i)
    step(&a);
  assert_int_equal(tabi_world_continue(b.world, a.world, &err), TABI_OK);
  assert_int_equal(tabi_world_continue(c.world, a.world, &err), TABI_OK);
  assert_true(tabi_world_hash(c.world) == tabi_world_hash(a.world));
  for (int i = 0; i < 200; ++i) {
    step(&a);
    step(&b);
    step(&c);
    assert_true(tabi_world_hash(b.world) == tabi_world_hash(a.world));
  }
  assert_near(tabi_world_q(c.world)[0], tabi_world_q(a.world)[0], 0.02);
  assert_true(tabi_world_hash(c.world) != tabi_world_hash(a.world));
  assert_int_equal(tabi_world_continue(d.world, a.world, &err), TABI_OK);
  assert_true(tabi_world_steps(d.world) == 800);
  assert_near(tabi_world_time(d.world), tabi_world_time(a.world), 1e-12);
  for (int i = 0; i < 100; ++i) {
    step(&a);
    step(&d);
    step(&d);
  }
  assert_near(tabi_world_q(d.world)[0], tabi_world_q(a.world)[0], 0.002);
  scene_world_close(&a);
  scene_world_close(&b);
  scene_world_close(&c);
  scene_world_close(&d);
}

/* Delayed readings are as many steps old as the delay has; a world with other steps has no place
 * for them. */
static void refuses_delays_under_another_step(void **state) {
  (void)state;
  static const char robot[] =
      "robots:\n  - {name: r, model: " TABI_SOURCE_DIR
      "/models/humanoid20.urdf, sensors: [{name: s, type: encoder, joint: l_knee, delay: 5e-3}]}\n";
  tabi_error err = {0};
  scene_world a = load_run(robot, NULL);
  scene_world b = load_run(robot, "timestep=5e-4");
  assert_int_equal(tabi_world_continue(b.world, a.world, &err), TABI_ERR_ARGUMENT);
  assert_non_null(strstr(err.message, "delay"));
  scene_world_close(&a);
  scene_world_close(&b);
}

/* -- damage */

static unsigned char *read_bytes(const char *path, size_t *size) {
  FILE *file = fopen(path, "rb");
  assert_non_null(file);
  unsigned char *bytes = malloc(1 << 20);
  assert_non_null(bytes);
  *size = fread(bytes, 1, 1 << 20, file);
  assert_int_equal(fclose(file), 0);
  return bytes;
}

static unsigned char *small_log(size_t *size) {
  scene_world r = load_run(boxes, NULL);
  unsigned char *bytes = read_bytes(log_run(&r, "small.tabi", 12, NULL), size);
  scene_world_close(&r);
  return bytes;
}

static void refuses_every_flipped_byte(void **state) {
  (void)state;
  size_t size = 0;
  unsigned char *bytes = small_log(&size);
  assert_true(size < 16384);
  for (size_t i = 0; i < size; ++i) {
    tabi_error err = {0};
    const unsigned char flips[] = {0xff, (unsigned char)(1U << (i % 8))};
    for (int k = 0; k < 2; ++k) {
      bytes[i] ^= flips[k];
      tabi_recording *log = tabi_recording_open_bytes(bytes, size, "small.tabi", &err);
      if (log) fail_msg("byte %zu of %zu", i, size);
      assert_int_equal(err.status, TABI_ERR_PARSE);
      assert_non_null(strstr(err.message, i < 16 ? "first 16 bytes" : "damaged at byte"));
      bytes[i] ^= flips[k];
    }
  }
  tabi_recording *log = tabi_recording_open_bytes(bytes, size, "small.tabi", NULL);
  assert_non_null(log);
  tabi_recording_close(log);
  free(bytes);
}

/* Cut anywhere it is refused as too short, or gives some first samples as they were. */
static void reads_what_is_left(void **state) {
  (void)state;
  size_t size = 0;
  unsigned char *bytes = small_log(&size);
  int64_t max = 0;
  for (size_t cut = 0; cut < size; ++cut) {
    tabi_error err = {0};
    // a copy of just that length, so that reading beyond it is found
    unsigned char *part = malloc(cut + 1);
    assert_non_null(part);
    memcpy(part, bytes, cut);
    tabi_recording *log = tabi_recording_open_bytes(part, cut, "cut.tabi", &err);
    if (!log) {
      assert_int_equal(err.status, TABI_ERR_PARSE);
      assert_int_equal(max, 0);
    } else {
      tabi_recording_info info = tabi_recording_get_info(log);
      tabi_sample sample;
      assert_false(info.complete);
      assert_true(info.nsample >= max);
      max = info.nsample;
      assert_int_equal(tabi_recording_sample(log, max - 1, &sample, &err), TABI_OK);
      assert_int_equal(sample.step, max - 1);
    }
    tabi_recording_close(log);
    free(part);
  }
  assert_int_equal(max, 13);
  free(bytes);
}

/* Chunks that are all right, but one is missing or more follow. */
static void refuses_other_orders(void **state) {
  (void)state;
  size_t size = 0;
  tabi_error err = {0};
  unsigned char *bytes = small_log(&size);
  uint32_t head = 0;
  uint32_t samples = 0;
  memcpy(&head, bytes + 20, sizeof head);
  size_t first = 16 + 20 + (size_t)head;
  memcpy(&samples, bytes + first + 4, sizeof samples);
  size_t second = first + 20 + samples;
  unsigned char *other = malloc(2 * size);
  assert_non_null(other);
  memcpy(other, bytes, first);
  memcpy(other + first, bytes + second, size - second);
  assert_null(tabi_recording_open_bytes(other, size - (second - first), "x.tabi", &err));
  assert_non_null(strstr(err.message, "missing"));
  memcpy(other, bytes, size);
  memcpy(other + size, bytes + first, second - first);
  assert_null(tabi_recording_open_bytes(other, size + second - first, "x.tabi", &err));
  assert_non_null(strstr(err.message, "more follows"));
  free(other);
  free(bytes);
}

static void tells_a_full_disk(void **state) {
  (void)state;
  tabi_error err = {0};
  scene_world r = load_run(boxes, NULL);
  assert_null(tabi_recorder_create("/dev/full", r.scene, r.world, &err));
  assert_int_equal(err.status, TABI_ERR_FILE);
  assert_string_equal(err.file, "/dev/full");
  assert_non_null(strstr(err.message, "No space left"));
  assert_null(tabi_recorder_create(scratch_path("none/x.tabi"), r.scene, r.world, &err));
  assert_non_null(strstr(err.message, "cannot open"));
  scene_world_close(&r);
}

static void refuses_changed_robots(void **state) {
  (void)state;
  static const char pole[] = "<robot name='p'><link name='p'><inertial><mass value='%d'/>"
                             "<inertia ixx='1' iyy='1' izz='1'/></inertial></link></robot>";
  static const char scene[] = "robots:\n  - {name: p, model: pole.urdf}\n";
  char text[300];
  tabi_error err = {0};
  (void)snprintf(text, sizeof text, pole, 1);
  (void)scratch_text("pole.urdf", text);
  const char *path = scratch_text("pole.yaml", scene);
  scene_world r = scene_world_open(load_scene(path, NULL));
  tabi_recording *log = open_log(log_run(&r, "pole.tabi", 3, NULL));
  tabi_scene *same = tabi_recording_scene(log, NULL, &err);
  assert_non_null(same);
  (void)snprintf(text, sizeof text, pole, 2);
  (void)scratch_text("pole.urdf", text);
  assert_null(tabi_recording_scene(log, NULL, &err));
  assert_non_null(strstr(err.message, "not what they were"));
  tabi_scene_destroy(same);
  tabi_recording_close(log);
  scene_world_close(&r);
}

/* The scenes have the same text, but each has a model of its own. */
static void refuses_a_foreign_scene(void **state) {
  (void)state;
  tabi_error err = {0};
  scene_world a = load_run(boxes, NULL);
  scene_world b = load_run(boxes, NULL);
  const char *path = scratch_path("foreign.tabi");
  assert_null(tabi_recorder_create(path, a.scene, b.world, &err));
  assert_int_equal(err.status, TABI_ERR_ARGUMENT);
  assert_non_null(strstr(err.message, "not one of the scene 'boxes'"));
  assert_int_not_equal(access(path, F_OK), 0);
  err = (tabi_error){0};
  assert_null(tabi_observer_create(b.scene, a.world, &err));
  assert_int_equal(err.status, TABI_ERR_ARGUMENT);
  assert_null(tabi_observer_create(b.scene, a.world, NULL));
  scene_world_close(&a);
  scene_world_close(&b);
}

/* A world that was not stepped or went back; what was written before stays good. */
static void refuses_steps_out_of_order(void **state) {
  (void)state;
  tabi_error err = {0};
  scene_world r = load_run(boxes, NULL);
  const char *path = scratch_path("order.tabi");
  void *start = malloc(tabi_world_snapshot_size(r.world));
  assert_non_null(start);
  tabi_world_save(r.world, start);
  tabi_recorder *recorder = tabi_recorder_create(path, r.scene, r.world, &err);
  assert_non_null(recorder);
  for (int i = 0; i < 3; ++i) {
    step(&r);
    assert_int_equal(tabi_recorder_step(recorder, &err), TABI_OK);
  }
  assert_int_equal(tabi_world_restore(r.world, start, tabi_world_snapshot_size(r.world)), TABI_OK);
  assert_int_equal(tabi_recorder_step(recorder, &err), TABI_ERR_ARGUMENT);
  assert_non_null(strstr(err.message, "step 0 after one of step 3"));
  assert_int_equal(tabi_recorder_close(recorder, &err), TABI_ERR_ARGUMENT);
  tabi_recording *log = open_log(path);
  assert_false(tabi_recording_get_info(log).complete);
  assert_int_equal(tabi_recording_get_info(log).nsample, 1);
  tabi_recording_close(log);
  free(start);
  scene_world_close(&r);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(reads_what_was_written),
      cmocka_unit_test(writes_every_so_many),
      cmocka_unit_test(goes_on_under_every_method),
      cmocka_unit_test(continues_in_another_world),
      cmocka_unit_test(refuses_delays_under_another_step),
      cmocka_unit_test(refuses_every_flipped_byte),
      cmocka_unit_test(reads_what_is_left),
      cmocka_unit_test(refuses_other_orders),
      cmocka_unit_test(tells_a_full_disk),
      cmocka_unit_test(refuses_changed_robots),
      cmocka_unit_test(refuses_a_foreign_scene),
      cmocka_unit_test(refuses_steps_out_of_order),
  };
  return cmocka_run_group_tests_name("record", tests, scratch_begin, scratch_end);
}

/* test_replay.c - pictures decode to the numbers of their samples; replays are the same from a run
 * as from its log, whatever their length; and pages hold both intact, whatever names there are. */
#include "html.h"
#include "picture_encoder.h"
#include "pile.h"
#include "replay.h"
#include "support/near.h"
#include "support/scratch.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* -- pictures */

static uint32_t word_at(const unsigned char *at) {
  return at[0] | (uint32_t)at[1] << 8 | (uint32_t)at[2] << 16 | (uint32_t)at[3] << 24;
}

static float float_at(const unsigned char *at) {
  uint32_t bits = word_at(at);
  float number = 0;
  memcpy(&number, &bits, sizeof number);
  return number;
}

static double double_at(const unsigned char *at) {
  uint64_t bits = word_at(at) | (uint64_t)word_at(at + 4) << 32;
  double number = 0;
  memcpy(&number, &bits, sizeof number);
  return number;
}

/* Floats that follow, equal to the last bit; NaN is NaN. */
static const unsigned char *expect_floats(const unsigned char *at, const float *expected,
                                          int count) {
  for (int i = 0; i < count; ++i, at += 4) {
    float number = float_at(at);
    bool both_nan = number != number && expected[i] != expected[i];
    if (number != expected[i] && !both_nan)
      fail_msg("%.9g, not %.9g", (double)number, (double)expected[i]);
  }
  return at;
}

static const unsigned char *expect_reals(const unsigned char *at, const double *expected,
                                         int count) {
  for (int i = 0; i < count; ++i) {
    const float rounded = (float)expected[i];
    at = expect_floats(at, &rounded, 1);
  }
  return at;
}

static const unsigned char *expect_contact(const unsigned char *at, const tabi_sample_contact *c,
                                           const tabi_model *model) {
  assert_int_equal((int32_t)word_at(at), tabi_model_shape(model, c->shape_a).link);
  assert_int_equal((int32_t)word_at(at + 4), tabi_model_shape(model, c->shape_b).link);
  assert_int_equal(word_at(at + 8), c->status);
  at = expect_floats(at + 12, c->point, 3);
  at = expect_floats(at, c->normal, 3);
  at = expect_floats(at, c->force, 3);
  const float rest[4] = {c->friction, c->slip, c->residual, c->gap};
  return expect_floats(at, rest, 4);
}

static const unsigned char *expect_robot(const unsigned char *at, const tabi_balance *b) {
  const double one[2] = {b->force[2], b->margin};
  at = expect_reals(at, b->com, 3);
  at = expect_reals(at, b->zmp, 3);
  at = expect_reals(at, one, 2);
  assert_int_equal(word_at(at), b->ncorner);
  at = expect_reals(at + 4, b->corner[0], 2 * b->ncorner);
  static const double none[2] = {0, 0};
  for (int i = b->ncorner; i < TABI_BALANCE_CORNERS; ++i)
    at = expect_reals(at, none, 2);
  return at;
}

/* The signals that the description names, in its order. */
static const unsigned char *expect_signals(const unsigned char *at, const json_t *description,
                                           tabi_signals *signals, const tabi_sample *sample) {
  size_t all = (size_t)tabi_signals_count(signals);
  double *value = calloc(all, sizeof *value);
  assert_non_null(value);
  tabi_signals_eval(signals, sample, value);
  size_t next = 0;
  for (size_t i = 0; i < description_length(description, "signals"); ++i) {
    const char *name = json_string_value(
        json_object_get(description_item(description, "signals", (int32_t)i), "name"));
    while (next < all && strcmp(tabi_signals_get(signals, (int32_t)next).name, name) != 0)
      ++next;
    if (next == all) fail_msg("no signal %s", name);
    at = expect_reals(at, &value[next], 1);
  }
  free(value);
  return at;
}

static void check_picture(run *r, const unsigned char *at, size_t size, const tabi_sample *sample,
                          const json_t *description) {
  tabi_error err = {0};
  const unsigned char *start = at;
  assert_int_equal(word_at(at), TBI_PICTURE_MAGIC);
  assert_int_equal(word_at(at + 4), size);
  assert_true(double_at(at + 8) == tabi_world_time(r->world));
  assert_true(double_at(at + 16) == (double)tabi_world_steps(r->world));
  assert_int_equal(word_at(at + 24), tabi_model_nlink(r->model));
  assert_int_equal(word_at(at + 28), description_length(description, "signals"));
  assert_int_equal(word_at(at + 32), sample->ncontact);
  assert_int_equal(word_at(at + 36), tabi_scene_nrobot(r->scene));
  assert_true(float_at(at + 40) == 0.5F);
  /* at the start there was nothing to solve */
  bool converged = tabi_world_steps(r->world) == 0 || tabi_world_certificate(r->world).converged;
  assert_int_equal(word_at(at + 44), TBI_PICTURE_PAUSED | (converged ? 2U : 0U));
  at += TBI_PICTURE_HEAD;
  for (int32_t i = 0; i < tabi_model_nlink(r->model); ++i) {
    double pose[7];
    tabi_dynamics_link_pose(tabi_world_dynamics(r->world), i, pose, pose + 3);
    at = expect_reals(at, pose, 7);
  }
  tabi_signals *signals = tabi_signals_create(r->scene, &err);
  assert_non_null(signals);
  at = expect_signals(at, description, signals, sample);
  tabi_signals_destroy(signals);
  for (int32_t i = 0; i < sample->ncontact; ++i)
    at = expect_contact(at, &sample->contact[i], r->model);
  for (int32_t i = 0; i < sample->nrobot; ++i)
    at = expect_robot(at, &sample->balance[i]);
  assert_int_equal(at - start, size);
}

/* Pictures of a run now and then; returns the contacts they had. */
static int check_pictures(run *r, int steps, int every) {
  tabi_error err = {0};
  tabi_observer *observer = tabi_observer_create(r->scene, r->world, &err);
  tbi_picture_encoder *encoder = tbi_picture_encoder_create(r->scene, &err);
  json_t *description = description_of(r);
  assert_true(observer && encoder);
  int contacts = 0;
  for (int i = 0; i <= steps; ++i) {
    if (i > 0) run_step(r);
    if (i % every != 0) continue;
    const tabi_sample *sample = tabi_observer_look(observer);
    size_t size = tbi_picture_size(encoder, sample->ncontact);
    unsigned char *picture = malloc(size);
    assert_non_null(picture);
    assert_int_equal(tbi_picture_encode(encoder, sample, 0.5F, TBI_PICTURE_PAUSED, picture), size);
    check_picture(r, picture, size, sample, description);
    contacts += sample->ncontact;
    free(picture);
  }
  json_decref(description);
  tbi_picture_encoder_destroy(encoder);
  tabi_observer_destroy(observer);
  return contacts;
}

static void pictures_decode_to_samples(void **state) {
  (void)state;
  for (uint64_t seed = 1; seed <= 6; ++seed) {
    char text[PILE_TEXT];
    // beyond 16 bodies their signals are left out
    pile_text(seed, seed < 4 ? 8 : 20, 2e-3, "", text);
    run r = run_text(text);
    assert_true(check_pictures(&r, 300, 25) > 20);
    run_end(&r);
  }
  run r = run_shipped("walk");
  assert_true(check_pictures(&r, 30, 10) > 0);
  run_end(&r);
}

/* -- replays */

typedef struct replay_copy {
  unsigned char *bytes;
  size_t size;
  json_t *description;
} replay_copy;

static replay_copy copy_replay(const tbi_replay *replay) {
  tabi_error err = {0};
  replay_copy f = {0};
  const void *bytes = tbi_replay_pictures(replay, &f.size);
  f.bytes = malloc(f.size);
  assert_non_null(f.bytes);
  memcpy(f.bytes, bytes, f.size);
  f.description = tbi_replay_description(replay, &err);
  assert_non_null(f.description);
  return f;
}

static void free_replay(replay_copy *f) {
  free(f->bytes);
  json_decref(f->description);
}

/* The replay of a run that goes on from where it is, which is logged, too. */
static replay_copy replay_of_run(run *r, const char *log, int steps) {
  tabi_error err = {0};
  tbi_replay *replay = tbi_replay_create(r->scene, r->world, &err);
  tabi_recorder *recorder = tabi_recorder_create(log, r->scene, r->world, &err);
  if (!replay || !recorder) fail_msg("%s", err.message);
  for (int i = 0; i < steps; ++i) {
    run_step(r);
    assert_int_equal(tabi_recorder_step(recorder, &err), TABI_OK);
    assert_int_equal(tbi_replay_step(replay, &err), TABI_OK);
  }
  assert_int_equal(tabi_recorder_close(recorder, &err), TABI_OK);
  replay_copy f = copy_replay(replay);
  tbi_replay_destroy(replay);
  return f;
}

static replay_copy replay_of_log(const char *log) {
  tabi_error err = {0};
  tbi_replay *replay = tbi_replay_load(log, NULL, &err);
  if (!replay) fail_msg("%s: %s", err.file, err.message);
  replay_copy f = copy_replay(replay);
  tbi_replay_destroy(replay);
  return f;
}

static double number_of(const json_t *description, const char *key) {
  return json_number_value(json_object_get(description, key));
}

/* Pictures stand where the description says, each of the step nearest to its time, up to the end.
 */
static void check_times(const replay_copy *f, double stride, double last) {
  double rate = number_of(f->description, "rate"), start = number_of(f->description, "start");
  double time = start;
  int count = 0;
  assert_true(f->size <= TBI_REPLAY_BYTES && rate <= TBI_REPLAY_RATE + 1e-9);
  for (size_t at = 0; at < f->size; at += word_at(f->bytes + at + 4), ++count) {
    time = double_at(f->bytes + at + 8);
    assert_near(time, start + count / rate, stride / 2 + 1e-9);
  }
  assert_near(time, start + number_of(f->description, "duration"), 1e-9);
  assert_in_range((int)floor((last - start) * rate + 0.51) + 1 - count, 0, 1);
}

/* From a run and from its log: the same; returns the rate. */
static double compare_replays(run r, int skip, int steps, double stride) {
  for (int i = 0; i < skip; ++i)
    run_step(&r);
  const char *log = scratch_path("replay.tabi");
  replay_copy a = replay_of_run(&r, log, steps);
  replay_copy b = replay_of_log(log);
  check_times(&a, stride, tabi_world_time(r.world));
  assert_int_equal(a.size, b.size);
  assert_memory_equal(a.bytes, b.bytes, a.size);
  // all but where it comes from, which names it, is the same
  assert_string_equal(json_string_value(json_object_get(b.description, "path")), log);
  assert_int_equal(json_object_set(b.description, "path", json_object_get(a.description, "path")),
                   0);
  assert_int_equal(json_object_set(b.description, "title", json_object_get(a.description, "title")),
                   0);
  assert_true(json_equal(a.description, b.description));
  double rate = number_of(a.description, "rate");
  free_replay(&a);
  free_replay(&b);
  run_end(&r);
  return rate;
}

static void logs_give_the_replay_of_the_run(void **state) {
  (void)state;
  char text[PILE_TEXT];
  pile_text(3, 6, 2e-3, "", text);
  assert_near(compare_replays(run_text(text), 0, 400, 2e-3), 60, 0);
  // where samples are rarer than pictures there are as many
  pile_text(4, 6, 2e-3, "log: {every: 20}\n", text);
  assert_near(compare_replays(run_text(text), 0, 400, 0.04), 25, 1e-9);
  // begun between two samples of the log
  pile_text(5, 6, 2e-3, "log: {every: 7}\n", text);
  assert_near(compare_replays(run_text(text), 10, 401, 0.014), 60, 0);
  pile_text(5, 6, 2e-3, "log: {every: 9}\n", text);
  assert_near(compare_replays(run_text(text), 5, 300, 0.018), 1 / 0.018, 1e-9);
  // a robot with sensors, and one whose time is not that of its steps
  assert_near(compare_replays(run_shipped("walk_bush"), 0, 100, 5e-3), 60, 0);
  assert_near(compare_replays(run_shipped("biped_walk"), 0, 200, 5e-3), 60, 0);
}

/* Pictures of 200 bodies are large: a replay is full after 8 s, and again after 16 s. */
static void full_replays_lose_every_second_picture(void **state) {
  (void)state;
  char text[PILE_TEXT];
  (void)snprintf(text, sizeof text, "timestep: 0.01\ngravity: [0, 0, 0]\nbodies:\n");
  for (int i = 0; i < 200; ++i) {
    scratch_append(
        text, sizeof text,
        "  - {name: ball%d, mass: 1, shape: {sphere: 0.1}, xyz: [%d, 0, 0], ang: [%d, 1, "
        "2]}\n",
        i, i, i % 7);
  }
  assert_near(compare_replays(run_text(text), 0, 900, 0.01), 30, 0);
  assert_near(compare_replays(run_text(text), 0, 1700, 0.01), 15, 0);
}

/* -- pages */

static char *read_whole(const char *path, size_t *size) {
  FILE *file = fopen(path, "rb");
  assert_non_null(file);
  (void)fseek(file, 0, SEEK_END);
  *size = (size_t)ftell(file);
  rewind(file);
  char *text = malloc(*size + 1);
  assert_non_null(text);
  assert_int_equal(fread(text, 1, *size, file), *size);
  text[*size] = '\0';
  (void)fclose(file);
  return text;
}

/* What a browser finds in a script element: all up to the first end tag. */
static char *element(const char *page, const char *id) {
  char tag[64];
  (void)snprintf(tag, sizeof tag, "id=\"%s\">", id);
  const char *from = strstr(page, tag);
  const char *to = from ? strstr(from, "</script") : NULL;
  if (!from || !to) {
    fail_msg("no element %s", id);
    return NULL;
  }
  from += strlen(tag);
  size_t length = (size_t)(to - from);
  char *text = malloc(length + 1);
  assert_non_null(text);
  memcpy(text, from, length);
  text[length] = '\0';
  return text;
}

static unsigned letter(char c) {
  static const char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  const char *at = strchr(letters, c);
  assert_non_null(at);
  return (unsigned)(at - letters);
}

static void check_base64(const char *text, const replay_copy *f) {
  size_t length = strlen(text);
  assert_int_equal(length, (f->size + 2) / 3 * 4);
  for (size_t i = 0; i < f->size; ++i) {
    size_t group = i / 3 * 4, shift = i % 3;
    unsigned high = letter(text[group + shift]), low = letter(text[group + shift + 1]);
    unsigned byte = (high << (2 * shift + 2) | low >> (4 - 2 * shift)) & 255U;
    if (byte != f->bytes[i]) fail_msg("byte %zu is %u, not %u", i, byte, f->bytes[i]);
  }
  for (size_t i = 0; i < (3 - f->size % 3) % 3; ++i)
    assert_int_equal(text[length - 1 - i], '=');
}

static void check_run_in(const char *page, int number, const replay_copy *f) {
  char id[32];
  (void)snprintf(id, sizeof id, "tabi-scene-%d", number);
  char *text = element(page, id);
  json_t *description = json_loads(text, 0, NULL);
  assert_non_null(description);
  json_t *title = json_object_get(description, "title");
  assert_true(json_equal(title, json_object_get(f->description, "title")));
  assert_int_equal(description_length(description, "links"),
                   description_length(f->description, "links"));
  json_decref(description);
  free(text);
  (void)snprintf(id, sizeof id, "tabi-replay-%d", number);
  text = element(page, id);
  check_base64(text, f);
  free(text);
}

/* The page as it was built, with the runs at the end of its body. */
static void check_page_start(const char *page, size_t size) {
  size_t plain = 0;
  const char *empty = tbi_page(&plain);
  const char *runs = strstr(page, "<script type=\"application/json\" id=\"tabi-scene-0\">");
  assert_non_null(runs);
  size_t before = (size_t)(runs - page), after = plain - before;
  assert_memory_equal(page, empty, before);
  assert_memory_equal(page + size - after, empty + before, after);
  assert_memory_equal(empty + before, "</body>", 7);
}

/* Names that would end the element, or open one that swallows its end, stay names. */
static void pages_hold_runs(void **state) {
  (void)state;
  static const char *const heads[] = {
      "name: \"</script><script>alert(1)</script>\"\n",
      "name: \"<!--<script>\"\n",
      "name: plain\n",
  };
  enum { RUNS = 3 };
  const char *logs[RUNS];
  replay_copy replays[RUNS];
  for (int i = 0; i < RUNS; ++i) {
    char text[PILE_TEXT], name[32];
    pile_text((uint64_t)i + 20, 3 + i, 2e-3, heads[i], text);
    (void)snprintf(name, sizeof name, "run%d.tabi", i);
    logs[i] = scratch_path(name);
    run r = run_text(text);
    replays[i] = replay_of_run(&r, logs[i], 50 + i);
    run_end(&r);
  }
  tabi_error err = {0};
  const char *path = scratch_path("runs.html");
  tabi_status status = tbi_html_write_logs(path, logs, RUNS, NULL, &err);
  if (status != TABI_OK) fail_msg("%s: %s", err.file, err.message);
  size_t size = 0;
  char *page = read_whole(path, &size);
  check_page_start(page, size);
  assert_null(strstr(page, "alert(1)</script"));
  assert_null(strstr(page, "<!--<script"));
  for (int i = 0; i < RUNS; ++i) {
    check_run_in(page, i, &replays[i]);
    free_replay(&replays[i]);
  }
  free(page);
}

/* What cannot be written is told with its path, and nothing half done is left. */
static void failures_name_the_file(void **state) {
  (void)state;
  char text[PILE_TEXT];
  pile_text(1, 2, 2e-3, "", text);
  run r = run_text(text);
  const char *log = scratch_path("short.tabi");
  replay_copy f = replay_of_run(&r, log, 30);
  tabi_error err = {0};
  const char *missing = scratch_path("nowhere/replay.html");
  assert_int_equal(tbi_html_check(missing, &err), TABI_ERR_FILE);
  assert_int_equal(tbi_html_write_logs(missing, &log, 1, NULL, &err), TABI_ERR_FILE);
  assert_string_equal(err.file, missing);
  assert_non_null(strstr(err.message, "No such file"));
  assert_int_equal(tbi_html_check("/dev/full", &err), TABI_OK);
  assert_int_equal(tbi_html_write_logs("/dev/full", &log, 1, NULL, &err), TABI_ERR_FILE);
  assert_string_equal(err.file, "/dev/full");
  assert_non_null(strstr(err.message, "No space"));
  const char *kept = scratch_text("kept.html", "as it was");
  const char *wrong = scratch_text("wrong.tabi", "no log");
  assert_int_not_equal(tbi_html_write_logs(kept, &wrong, 1, NULL, &err), TABI_OK);
  assert_string_equal(err.file, wrong);
  size_t size = 0;
  char *left = read_whole(kept, &size);
  assert_string_equal(left, "as it was");
  free(left);
  free_replay(&f);
  run_end(&r);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(pictures_decode_to_samples),
      cmocka_unit_test(logs_give_the_replay_of_the_run),
      cmocka_unit_test(full_replays_lose_every_second_picture),
      cmocka_unit_test(pages_hold_runs),
      cmocka_unit_test(failures_name_the_file),
  };
  return cmocka_run_group_tests(tests, scratch_begin, scratch_end);
}

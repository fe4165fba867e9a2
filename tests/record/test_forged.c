/* test_forged.c - logs whose checksums are right and whose contents are not: someone made them up.
 * Whatever number stands where, opening, reading, replaying and restoring refuse it or go on with
 * what can be, and touch no memory that is not theirs (sanitizers watch). What would be read beyond
 * an array, or is not finite where worlds are, has to be refused. */
#include "record/record.h"
#include "support/load.h"
#include "support/near.h"
#include "support/rng.h"
#include "support/scratch.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char hinge[] =
    "<robot name='r'><link name='base'><inertial><mass value='2'/><inertia ixx='0.01' iyy='0.01' "
    "izz='0.01'/></inertial><collision><geometry><box size='0.2 0.2 0.1'/></geometry></collision>"
    "</link><link name='arm'><inertial><mass value='1'/><inertia ixx='0.01' iyy='0.01' "
    "izz='0.01'/></inertial></link><joint name='j' type='revolute'><parent link='base'/><child "
    "link='arm'/><axis xyz='0 1 0'/><limit lower='-1' upper='1' effort='9' velocity='9'/></joint>"
    "</robot>";
static const char scene_text[] =
    "timestep: 1e-3\n"
    "contact: {max_contacts: 12}\n"
    "bodies:\n"
    "  - {name: floor, fixed: true, shape: {plane: {}}}\n"
    "  - {name: ball, mass: 1, shape: {sphere: 0.1}, xyz: [1, 0, 0.1], lin: [1, 0, 0]}\n"
    "robots:\n"
    "  - {name: r, model: hinge.urdf, base: free, xyz: [0, 0, 0.05],\n"
    "     sensors: [{name: s, type: force_torque, joint: j, delay: 2e-3}],\n"
    "     controller: {type: pd, kp: 10, kd: 1}}\n";

static scene_world load_run(void) {
  (void)scratch_text("hinge.urdf", hinge);
  return scene_world_open(load_scene(scratch_text("forged.yaml", scene_text), NULL));
}

static tabi_status step(scene_world *r) {
  tabi_scene_control(r->scene, r->world);
  return tabi_world_step(r->world, NULL);
}

/* -- a log in pieces */

enum { MAX_PIECES = 8, STEPS = 12 };

typedef struct piece {
  uint32_t kind;
  size_t size;
  unsigned char *payload;
} piece;

typedef struct pieces {
  piece item[MAX_PIECES]; /* head, first sample, snapshot, samples, snapshot, end */
  int count;
  tbi_sample_shape shape;
  size_t snapshot_size;
} pieces;

enum { HEAD, SAMPLES = 3, SNAPSHOT };

static unsigned char *copy_of(const void *bytes, size_t size) {
  unsigned char *copy = malloc(size + 1);
  assert_non_null(copy);
  memcpy(copy, bytes, size);
  return copy;
}

static pieces take_apart(const unsigned char *bytes, size_t size) {
  pieces p = {0};
  tbi_crc crc;
  tbi_chunk chunk;
  tbi_crc_init(&crc);
  for (size_t at = TBI_START_SIZE; at < size; at += TBI_CHUNK_SIZE + (size_t)chunk.size) {
    assert_true(tbi_chunk_open(&crc, bytes + at, &chunk) && p.count < MAX_PIECES);
    p.item[p.count++] =
        (piece){chunk.kind, chunk.size, copy_of(bytes + at + TBI_CHUNK_SIZE, chunk.size)};
  }
  assert_int_equal(p.count, 6);
  assert_true(p.item[SAMPLES].kind == TBI_CHUNK_SAMPLES);
  assert_true(p.item[SNAPSHOT].kind == TBI_CHUNK_SNAPSHOT);
  return p;
}

static pieces write_pieces(void) {
  tabi_error err = {0};
  scene_world r = load_run();
  const char *path = scratch_path("forged.tabi");
  tabi_recorder *recorder = tabi_recorder_create(path, r.scene, r.world, &err);
  if (!recorder) fail_msg("%s", err.message);
  for (int i = 0; i < STEPS; ++i) {
    assert_int_equal(step(&r), TABI_OK);
    assert_int_equal(tabi_recorder_step(recorder, &err), TABI_OK);
  }
  assert_int_equal(tabi_recorder_close(recorder, &err), TABI_OK);
  static unsigned char bytes[1 << 16];
  FILE *file = fopen(path, "rb");
  assert_non_null(file);
  size_t size = fread(bytes, 1, sizeof bytes, file);
  (void)fclose(file);
  pieces p = take_apart(bytes, size);
  p.shape = tbi_sample_shape_of(r.scene);
  p.snapshot_size = tabi_world_snapshot_size(r.world);
  scene_world_close(&r);
  return p;
}

static void free_pieces(pieces *p) {
  for (int i = 0; i < p->count; ++i)
    free(p->item[i].payload);
}

/* A log of them, with one exchanged; the caller frees it. */
static unsigned char *put_together(const pieces *p, int which, const piece *other, size_t *size) {
  tbi_crc crc;
  tbi_crc_init(&crc);
  *size = TBI_START_SIZE;
  for (int i = 0; i < p->count; ++i)
    *size += TBI_CHUNK_SIZE + (i == which ? other : &p->item[i])->size;
  unsigned char *bytes = malloc(*size);
  assert_non_null(bytes);
  tbi_record_start(&crc, bytes);
  unsigned char *at = bytes + TBI_START_SIZE;
  for (int i = 0; i < p->count; ++i) {
    const piece *item = i == which ? other : &p->item[i];
    tbi_chunk chunk = {.kind = item->kind, .size = (uint32_t)item->size, .number = (uint32_t)i};
    tbi_chunk_seal(&crc, chunk, item->payload, at);
    memcpy(at + TBI_CHUNK_SIZE, item->payload, item->size);
    at += TBI_CHUNK_SIZE + item->size;
  }
  return bytes;
}

/* -- all that can be done with a log */

/* The scene of the log with its samples and its last snapshot; false: something was refused. */
static bool play(tabi_recording *log) {
  tabi_recording_info info = tabi_recording_get_info(log);
  tabi_scene *scene = tabi_recording_scene(log, NULL, NULL);
  if (!scene) return false;
  scene_world r = scene_world_open(scene);
  tabi_ledger *ledger = tabi_ledger_create(tabi_scene_model(scene), NULL);
  tabi_signals *signals = tabi_signals_create(scene, NULL);
  assert_true(ledger && signals);
  double *value = calloc((size_t)tabi_signals_count(signals) + 1, sizeof *value);
  void *snapshot = malloc(info.snapshot_size + 1);
  assert_true(value && snapshot);
  bool good = true;
  for (int64_t i = 0; i < info.nsample && good; ++i) {
    tabi_sample sample;
    good = tabi_recording_sample(log, i, &sample, NULL) == TABI_OK;
    if (!good) break;
    tabi_signals_eval(signals, &sample, value);
    good = tabi_ledger_add(ledger, &sample, NULL) == TABI_OK;
  }
  int64_t at = 0;
  good = good && tabi_recording_snapshot(log, info.last, snapshot, &at, NULL) == TABI_OK &&
         tabi_world_restore(r.world, snapshot, info.snapshot_size) == TABI_OK;
  for (int i = 0; i < 2 && good; ++i)
    (void)step(&r);
  free(snapshot);
  free(value);
  tabi_signals_destroy(signals);
  tabi_ledger_destroy(ledger);
  scene_world_close(&r);
  return good;
}

/* With another payload; false: refused. */
static bool accepts(const pieces *p, int which, const piece *other) {
  size_t size = 0;
  unsigned char *bytes = put_together(p, which, other, &size);
  tabi_recording *log = tabi_recording_open_bytes(bytes, size, scratch_path("x.tabi"), NULL);
  bool good = false;
  if (log) {
    tabi_recording_info info = tabi_recording_get_info(log);
    good = info.snapshot_size <= 1 << 20 && play(log);
    (void)tabi_recording_find(log, info.last);
  }
  tabi_recording_close(log);
  free(bytes);
  return good;
}

static void takes_the_true_one(void **state) {
  const pieces *p = *state;
  assert_true(accepts(p, -1, NULL));
}

/* -- the head */

enum {
  TIMESTEP_AT = 4 * TBI_HEAD_NUMBERS,
  CONTACT_AT = TIMESTEP_AT + 16 + 4 /* its length is before it */
};

static void numbers_of_the_head(void **state) {
  const pieces *p = *state;
  static const int32_t values[] = {-1, 0, 1, 3, 1000, 1 << 23, INT32_MAX, INT32_MIN};
  // any number may stand for the version of tabi, and for the steps between samples
  static const bool may_change[TBI_HEAD_NUMBERS] = {
      [TBI_HEAD_TABI_VERSION] = true,
      [TBI_HEAD_EVERY] = true,
  };
  piece head = p->item[HEAD];
  head.payload = copy_of(head.payload, head.size);
  for (size_t i = 0; i < TBI_HEAD_NUMBERS; ++i) {
    for (size_t k = 0; k < sizeof values / sizeof *values; ++k) {
      int32_t was = 0;
      memcpy(&was, head.payload + 4 * i, sizeof was);
      memcpy(head.payload + 4 * i, &values[k], sizeof values[k]);
      bool good = accepts(p, HEAD, &head);
      if (good && values[k] != was && !may_change[i]) fail_msg("number %zu, %d", i, values[k]);
      memcpy(head.payload + 4 * i, &was, sizeof was);
    }
  }
  static const double times[] = {0, -1, (double)NAN, HUGE_VAL, 1e300};
  for (size_t i = 0; i < sizeof times / sizeof *times; ++i) {
    memcpy(head.payload + TIMESTEP_AT, &times[i], sizeof times[i]);
    assert_false(accepts(p, HEAD, &head));
  }
  free(head.payload);
}

static void size_of_the_snapshot(void **state) {
  const pieces *p = *state;
  static const uint64_t values[] = {0, 1, 8, 1 << 16, 1 << 29, UINT64_MAX, UINT64_MAX - 6};
  piece snapshot = p->item[SNAPSHOT];
  snapshot.payload = copy_of(snapshot.payload, snapshot.size);
  for (size_t i = 0; i < sizeof values / sizeof *values; ++i) {
    memcpy(snapshot.payload + 8, &values[i], sizeof values[i]); // after its step
    assert_false(accepts(p, SNAPSHOT, &snapshot));
  }
  free(snapshot.payload);
}

static void expect_refusal(const unsigned char *bytes, size_t size, const char *says) {
  tabi_error err = {0};
  assert_null(tabi_recording_open_bytes(bytes, size, scratch_path("x.tabi"), &err));
  assert_int_equal(err.status, TABI_ERR_PARSE);
  if (!strstr(err.message, says)) fail_msg("'%s' does not say '%s'", err.message, says);
}

/* A method that this tabi does not have is named. */
static void unknown_method(void **state) {
  const pieces *p = *state;
  piece head = p->item[HEAD];
  size_t size = 0;
  head.payload = copy_of(head.payload, head.size);
  head.payload[CONTACT_AT] = 'X';
  unsigned char *bytes = put_together(p, HEAD, &head, &size);
  expect_refusal(bytes, size, "under contact method 'X");
  free(bytes);
  free(head.payload);
}

/* Other formats are refused with both versions, the reason and the cure. */
static void other_formats(void **state) {
  size_t size = 0;
  unsigned char *bytes = put_together(*state, -1, NULL, &size);
  char says[200];
  tbi_crc crc;
  tbi_crc_init(&crc);
  static const uint32_t versions[] = {3, TBI_RECORD_VERSION - 1, TBI_RECORD_VERSION + 1};
  for (size_t i = 0; i < sizeof versions / sizeof *versions; ++i) {
    memcpy(bytes + 8, &versions[i], sizeof versions[i]);
    uint32_t checksum = tbi_crc_of(&crc, bytes, 12);
    memcpy(bytes + 12, &checksum, sizeof checksum);
    (void)snprintf(says, sizeof says, "a log of format %u, this tabi reads format %u", versions[i],
                   TBI_RECORD_VERSION);
    expect_refusal(bytes, size, says);
    bool older = versions[i] < TBI_RECORD_VERSION;
    expect_refusal(bytes, size,
                   older ? TBI_RECORD_CHANGE "; run the scene again" : "or a newer one");
  }
  free(bytes);
}

/* -- samples */

enum { MAX_WORDS = 400, PACKED_ROOM = TBI_SAMPLES_SIZE + STEPS * (4 + 9 * MAX_WORDS) };

typedef struct samples {
  unsigned char start[TBI_SAMPLES_SIZE];
  uint64_t word[STEPS][MAX_WORDS];
  uint32_t count[STEPS];
} samples;

static void unpack(const piece *from, samples *to) {
  uint64_t word[MAX_WORDS] = {0};
  memcpy(to->start, from->payload, sizeof to->start);
  size_t at = TBI_SAMPLES_SIZE;
  for (int i = 0; i < STEPS; ++i) {
    memcpy(&to->count[i], from->payload + at, sizeof to->count[i]);
    size_t count = to->count[i];
    assert_true(count <= MAX_WORDS);
    at += sizeof to->count[i];
    at += tbi_unpack(from->payload + at, from->size - at, word, count);
    memset(word + count, 0, sizeof *word * (MAX_WORDS - count));
    memcpy(to->word[i], word, sizeof word);
  }
  assert_int_equal(at, from->size);
}

static void pack(const samples *from, piece *to) {
  const uint64_t zero[MAX_WORDS] = {0};
  memcpy(to->payload, from->start, sizeof from->start);
  to->size = TBI_SAMPLES_SIZE;
  for (int i = 0; i < STEPS; ++i) {
    memcpy(to->payload + to->size, &from->count[i], sizeof from->count[i]);
    to->size += sizeof from->count[i];
    to->size += tbi_pack(from->word[i], i > 0 ? from->word[i - 1] : zero, from->count[i],
                         to->payload + to->size);
  }
}

static const uint64_t oddities[] = {
    0,
    1,
    0x7ff8000000000000U, /* not a number */
    0xffffffffffffffffU, /* that too, and -1 */
    0x7ff0000000000000U, /* infinite */
    0x7e37e43c8800759cU, /* 1e300 */
    0x8000000000000000U, /* -0, and the least integer */
    0x7fffffff7fffffffU, /* two large integers */
    0x0000000d0000000dU, /* two that are a little too large */
};
enum { LARGEST = 5, NODD = sizeof oddities / sizeof *oddities };

static bool is_finite(uint64_t word) {
  double number = 0;
  memcpy(&number, &word, sizeof number);
  return isfinite(number);
}

static void words_of_a_sample(void **state) {
  const pieces *p = *state;
  static samples f;
  piece made = {TBI_CHUNK_SAMPLES, 0, malloc(PACKED_ROOM)};
  unpack(&p->item[SAMPLES], &f);
  pack(&f, &made);
  assert_int_equal(made.size, p->item[SAMPLES].size);
  assert_memory_equal(made.payload, p->item[SAMPLES].payload, made.size);
  // in the fourth sample, which has contacts
  size_t first = tbi_sample_words(&p->shape, 0);
  size_t motion = 12 + (size_t)p->shape.nq + (size_t)p->shape.nv;
  assert_true(f.count[3] > first);
  for (size_t i = 0; i < f.count[3]; ++i) {
    for (int k = 0; k < NODD; ++k) {
      uint64_t was = f.word[3][i];
      f.word[3][i] = oddities[k];
      pack(&f, &made);
      bool good = accepts(p, SAMPLES, &made);
      bool indexes = i == 0 || i == 1 || (i >= first && (i - first) % 9 < 2);
      bool wrong = (i >= 12 && i < motion && !is_finite(oddities[k])) || (indexes && k >= 7);
      if (good && wrong) fail_msg("word %zu, oddity %d", i, k);
      f.word[3][i] = was;
    }
  }
  free(made.payload);
}

/* How many samples and words there are said to be. */
static void counts_of_samples(void **state) {
  const pieces *p = *state;
  static samples f;
  piece made = {TBI_CHUNK_SAMPLES, 0, malloc(PACKED_ROOM)};
  unpack(&p->item[SAMPLES], &f);
  static const uint32_t values[] = {0, 1, 11, 13, 1000, 0x7fffffff, 0xffffffff};
  for (size_t at = 0; at < TBI_SAMPLES_SIZE - 4; at += 4) {
    for (size_t k = 0; k < sizeof values / sizeof *values; ++k) {
      samples g = f;
      memcpy(g.start + at, &values[k], sizeof values[k]);
      pack(&g, &made);
      if (memcmp(&g, &f, sizeof g) != 0) assert_false(accepts(p, SAMPLES, &made));
    }
  }
  pack(&f, &made);
  for (size_t k = 0; k < sizeof values / sizeof *values; ++k) {
    memcpy(made.payload + TBI_SAMPLES_SIZE, &values[k], sizeof values[k]);
    assert_false(accepts(p, SAMPLES, &made));
  }
  free(made.payload);
}

/* -- any bytes of any payload */

static void bytes_by_chance(void **state) {
  const pieces *p = *state;
  rng r = rng_make(5);
  int accepted = 0;
  for (int i = 0; i < 1500; ++i) {
    int which = rng_below(&r, p->count);
    piece other = p->item[which];
    other.payload = copy_of(other.payload, other.size);
    // the text of the scene has fuzzers of its own
    int32_t reach = which == HEAD ? 80 : (int32_t)other.size;
    for (int32_t n = 1 + rng_below(&r, 3); n > 0; --n)
      other.payload[rng_below(&r, reach)] = (unsigned char)rng_below(&r, 256);
    if (rng_below(&r, 8) == 0) other.size -= (size_t)rng_below(&r, (int32_t)other.size);
    accepted += accepts(p, which, &other);
    free(other.payload);
  }
  print_message("%d of 1500 accepted\n", accepted);
}

/* -- snapshots */

static const char *find_bytes(const char *in, size_t size, const void *what, size_t length) {
  for (size_t i = 0; i + length <= size; i += 8) {
    if (memcmp(in + i, what, length) == 0) return in + i;
  }
  return NULL;
}

/* Every word of a snapshot: refused, or a world that steps or says why not. */
static void try_words(scene_world *r, bool huge) {
  size_t size = tabi_world_snapshot_size(r->world);
  const tabi_model *model = tabi_world_model(r->world);
  size_t nq = sizeof(double) * (size_t)tabi_model_nq(model);
  size_t nv = sizeof(double) * (size_t)tabi_model_nv(model);
  char *snapshot = malloc(size);
  char *other = malloc(size);
  assert_true(snapshot && other);
  tabi_world_save(r->world, snapshot);
  uint64_t hash = tabi_world_hash(r->world);
  const char *q = find_bytes(snapshot, size, tabi_world_q(r->world), nq);
  const char *v = find_bytes(snapshot, size, tabi_world_v(r->world), nv);
  assert_true(q && v);
  int refused = 0;
  for (size_t i = 0; i + 8 <= size; i += 8) {
    for (int k = 0; k < NODD; ++k) {
      if (k == LARGEST && !huge) continue;
      memcpy(other, snapshot, size);
      memcpy(other + i, &oddities[k], 8);
      bool good = tabi_world_restore(r->world, other, size) == TABI_OK;
      const char *at = snapshot + i;
      bool motion = (at >= q && at < q + nq) || (at >= v && at < v + nv);
      if (motion && good && !is_finite(oddities[k])) fail_msg("byte %zu, oddity %d", i, k);
      refused += !good;
      if (!good && tabi_world_hash(r->world) != hash) fail_msg("byte %zu changed the world", i);
      if (good) (void)step(r);
      assert_int_equal(tabi_world_restore(r->world, snapshot, size), TABI_OK);
    }
  }
  print_message("%d of %zu refused\n", refused, size / 8 * NODD);
  free(other);
  free(snapshot);
}

static void words_of_a_snapshot(void **state) {
  (void)state;
  scene_world r = load_run();
  for (int i = 0; i < STEPS; ++i)
    assert_int_equal(step(&r), TABI_OK);
  try_words(&r, true);
  scene_world_close(&r);
}

/* Its memory has the modes and feet by which tables are read. Gains of 1e300 are left out: a walk
 * takes them, and steps of it then take forever. */
static void words_of_a_walk(void **state) {
  (void)state;
  const char *set[] = {"contact.max_contacts=8"};
  tabi_scene_def def = tabi_scene_def_default();
  def.set = set;
  def.nset = 1;
  scene_world r = scene_world_open(load_shipped_scene("biped_walk", &def));
  for (int i = 0; i < STEPS; ++i)
    assert_int_equal(step(&r), TABI_OK);
  try_words(&r, false);
  scene_world_close(&r);
}

static pieces all;

static int begin(void **state) {
  (void)scratch_begin(state);
  all = write_pieces();
  *state = &all;
  return 0;
}

static int end(void **state) {
  free_pieces(&all);
  return scratch_end(state);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(takes_the_true_one),   cmocka_unit_test(numbers_of_the_head),
      cmocka_unit_test(size_of_the_snapshot), cmocka_unit_test(unknown_method),
      cmocka_unit_test(other_formats),        cmocka_unit_test(words_of_a_sample),
      cmocka_unit_test(counts_of_samples),    cmocka_unit_test(bytes_by_chance),
      cmocka_unit_test(words_of_a_snapshot),  cmocka_unit_test(words_of_a_walk),
  };
  return cmocka_run_group_tests_name("forged", tests, begin, end);
}

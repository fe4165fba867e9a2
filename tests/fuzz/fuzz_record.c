/* fuzz_record.c - any bytes as a log.  Checksums are put right first, so that what is behind them
 * is reached; what is accepted must be readable from end to end without a wrong access, and what is
 * read is put to use: samples go into the ledger and signals of a scene, snapshots into its world,
 * which then steps.  The corpus has a log of that scene. */
#include "record/record.h"

#include <stdlib.h>
#include <string.h>

static const char text[] =
    "timestep: 1e-3\n"
    "duration: 0.01\n"
    "contact: {max_contacts: 8}\n"
    "bodies:\n"
    "  - {name: floor, fixed: true, shape: {plane: {}}}\n"
    "  - {name: box, mass: 1, shape: {box: [0.2, 0.2, 0.2]}, xyz: [0, 0, 0.1], lin: [1, 0, 0]}\n"
    "  - {name: ball, mass: 1, shape: {sphere: 0.1}, xyz: [1, 0, 0.3]}\n";

static tabi_scene *scene;
static tabi_world *world;
static tabi_signals *signals;

static void begin(void) {
  if (scene) return;
  scene = tabi_scene_load_text(text, sizeof text - 1, "box.yaml", NULL, NULL);
  if (!scene) abort();
  tabi_world_def def = tabi_scene_world_def(scene);
  world = tabi_world_create(tabi_scene_model(scene), &def, NULL);
  signals = tabi_signals_create(scene, NULL);
  if (!world || !signals) abort();
}

/* Makes the start and the heads of all whole chunks good; their sizes stay. */
static void put_right(uint8_t *bytes, size_t size) {
  tbi_crc crc;
  tbi_crc_init(&crc);
  if (size < TBI_START_SIZE) return;
  tbi_record_start(&crc, bytes);
  uint32_t number = 0;
  for (size_t at = TBI_START_SIZE; size - at >= TBI_CHUNK_SIZE;) {
    tbi_chunk chunk;
    memcpy(&chunk, bytes + at, sizeof chunk);
    if (chunk.size > size - at - TBI_CHUNK_SIZE) return;
    chunk.number = number++;
    tbi_chunk_seal(&crc, chunk, bytes + at + TBI_CHUNK_SIZE, bytes + at);
    at += TBI_CHUNK_SIZE + (size_t)chunk.size;
  }
}

static bool fits(const tabi_recording_info *info) {
  const tabi_model *model = tabi_scene_model(scene);
  return info->nq == tabi_model_nq(model) && info->nv == tabi_model_nv(model) &&
         info->nsensor == 0 && info->nrobot == 0 &&
         info->snapshot_size == tabi_world_snapshot_size(world);
}

static void use_sample(const tabi_sample *sample, tabi_ledger *ledger) {
  static double value[4096];
  if (tabi_signals_count(signals) > 4096) abort();
  // signals trust the links of a log that belongs to the scene, and the ledger tells
  if (tabi_ledger_add(ledger, sample, NULL) == TABI_OK) tabi_signals_eval(signals, sample, value);
}

static void read_through(tabi_recording *log) {
  tabi_recording_info info = tabi_recording_get_info(log);
  tabi_ledger *ledger = tabi_ledger_create(tabi_scene_model(scene), NULL);
  tabi_sample sample;
  double sum = 0;
  for (int64_t i = 0; i < info.nsample && i < 1000; ++i) {
    if (tabi_recording_sample(log, i, &sample, NULL) != TABI_OK) break;
    for (int32_t k = 0; k < info.nq; ++k)
      sum += sample.q[k];
    for (int32_t k = 0; k < sample.ncontact; ++k)
      sum += (double)sample.contact[k].slip;
    for (int32_t k = 0; k < sample.nrobot; ++k)
      sum += sample.balance[k].corner[0][0];
    if (ledger && fits(&info)) use_sample(&sample, ledger);
  }
  volatile double used = sum;
  (void)used;
  tabi_ledger_destroy(ledger);
  (void)tabi_recording_find(log, info.last);
}

static void go_on(tabi_recording *log) {
  tabi_recording_info info = tabi_recording_get_info(log);
  if (info.snapshot_size > 1 << 20) return;
  void *snapshot = malloc(info.snapshot_size + 1);
  int64_t at = 0;
  if (snapshot && tabi_recording_snapshot(log, info.last, snapshot, &at, NULL) == TABI_OK &&
      tabi_world_restore(world, snapshot, info.snapshot_size) == TABI_OK) {
    (void)tabi_world_step(world, NULL);
    (void)tabi_world_step(world, NULL);
  }
  free(snapshot);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) { // NOLINT: its name, not ours
  uint8_t *bytes = malloc(size + 1);
  if (!bytes) return 0;
  begin();
  if (size > 0) memcpy(bytes, data, size);
  put_right(bytes, size);
  tabi_recording *log = tabi_recording_open_bytes(bytes, size, "x.tabi", NULL);
  if (log) read_through(log);
  if (log) go_on(log);
  tabi_recording_close(log);
  free(bytes);
  return 0;
}

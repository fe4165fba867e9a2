/* fuzz_record.c - any bytes as a log.  Checksums are put right first, so that what is behind them
 * is reached; what is accepted must be readable from end to end without a wrong access. */
#include "record/record.h"

#include <stdlib.h>
#include <string.h>

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

static void read_through(tabi_recording *log) {
  tabi_recording_info info = tabi_recording_get_info(log);
  tabi_frame frame;
  double sum = 0;
  for (int64_t i = 0; i < info.nframe && i < 1000; ++i) {
    if (tabi_recording_frame(log, i, &frame, NULL) != TABI_OK) break;
    for (int32_t k = 0; k < info.nq; ++k)
      sum += frame.q[k];
    for (int32_t k = 0; k < frame.ncontact; ++k)
      sum += (double)frame.contact[k].slip;
  }
  volatile double used = sum;
  (void)used;
  (void)tabi_recording_find(log, info.last);
  if (info.snapshot_size > 1 << 20) return;
  void *snapshot = malloc(info.snapshot_size + 1);
  int64_t at = 0;
  if (snapshot) (void)tabi_recording_snapshot(log, info.last, snapshot, &at, NULL);
  free(snapshot);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) { // NOLINT: its name, not ours
  uint8_t *bytes = malloc(size + 1);
  if (!bytes) return 0;
  if (size > 0) memcpy(bytes, data, size);
  put_right(bytes, size);
  tabi_recording *log = tabi_recording_open_bytes(bytes, size, "x.tabi", NULL);
  if (log) read_through(log);
  tabi_recording_close(log);
  free(bytes);
  return 0;
}

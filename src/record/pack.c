/* pack.c - checksums of logs, and numbers that change little from sample to sample in few
 * bytes. */
#include "base/assertion.h"
#include "record/record.h"

#include <string.h>

#define POLYNOMIAL 0x82f63b78U /* of CRC-32C, lowest bit first */

void tbi_crc_init(tbi_crc *crc) {
  for (uint32_t i = 0; i < 256; ++i) {
    uint32_t value = i;
    for (int bit = 0; bit < 8; ++bit)
      value = (value >> 1) ^ (value & 1U ? POLYNOMIAL : 0U);
    crc->table[0][i] = value;
  }
  // table[k] is that of a byte with k zeros behind it
  for (uint32_t i = 0; i < 256; ++i) {
    for (int k = 1; k < 8; ++k) {
      uint32_t value = crc->table[k - 1][i];
      crc->table[k][i] = (value >> 8) ^ crc->table[0][value & 255U];
    }
  }
}

uint32_t tbi_crc_of(const tbi_crc *crc, const void *bytes, size_t size) {
  TBI_ASSERT(crc->table[0][1] != 0); // tbi_crc_init()
  const unsigned char *at = bytes;
  uint32_t value = 0xffffffffU;
  for (; size >= 8; size -= 8, at += 8) {
    value ^= (uint32_t)at[0] | (uint32_t)at[1] << 8 | (uint32_t)at[2] << 16 | (uint32_t)at[3] << 24;
    value = crc->table[7][value & 255U] ^ crc->table[6][value >> 8 & 255U] ^
            crc->table[5][value >> 16 & 255U] ^ crc->table[4][value >> 24] ^ crc->table[3][at[4]] ^
            crc->table[2][at[5]] ^ crc->table[1][at[6]] ^ crc->table[0][at[7]];
  }
  for (; size > 0; --size, ++at)
    value = (value >> 8) ^ crc->table[0][(value ^ *at) & 255U];
  return ~value;
}

void tbi_record_start(const tbi_crc *crc, unsigned char bytes[TBI_START_SIZE]) {
  const uint32_t version = TBI_RECORD_VERSION;
  for (size_t i = 0; i < 8; ++i)
    bytes[i] = (unsigned char)TBI_RECORD_MAGIC[i];
  memcpy(bytes + 8, &version, sizeof version);
  uint32_t checksum = tbi_crc_of(crc, bytes, 12);
  memcpy(bytes + 12, &checksum, sizeof checksum);
}

void tbi_chunk_seal(const tbi_crc *crc, tbi_chunk chunk, const void *payload,
                    unsigned char bytes[TBI_CHUNK_SIZE]) {
  TBI_ASSERT(chunk.size == 0 || payload);
  chunk.checksum = tbi_crc_of(crc, payload, chunk.size);
  memcpy(bytes, &chunk, sizeof chunk);
  uint32_t own = tbi_crc_of(crc, bytes, sizeof chunk);
  memcpy(bytes + sizeof chunk, &own, sizeof own);
}

bool tbi_chunk_open(const tbi_crc *crc, const unsigned char bytes[TBI_CHUNK_SIZE],
                    tbi_chunk *chunk) {
  uint32_t own = 0;
  memcpy(chunk, bytes, sizeof *chunk);
  memcpy(&own, bytes + sizeof *chunk, sizeof own);
  return own == tbi_crc_of(crc, bytes, sizeof *chunk);
}

size_t tbi_pack_bound(size_t count) { return (count + 1) / 2 + 8 * count; }

static unsigned significant_bytes(uint64_t word) {
  unsigned count = 0;
  for (; word != 0; word >>= 8)
    ++count;
  return count;
}

size_t tbi_pack(const uint64_t *word, const uint64_t *before, size_t count, unsigned char *bytes) {
  size_t used = (count + 1) / 2;
  memset(bytes, 0, used);
  for (size_t i = 0; i < count; ++i) {
    uint64_t change = word[i] ^ before[i];
    unsigned length = significant_bytes(change);
    bytes[i / 2] = (unsigned char)(bytes[i / 2] | length << (i % 2 * 4));
    for (unsigned k = 0; k < length; ++k)
      bytes[used++] = (unsigned char)(change >> 8 * k);
  }
  TBI_ASSERT(used <= tbi_pack_bound(count));
  return used;
}

size_t tbi_unpack(const unsigned char *bytes, size_t size, uint64_t *word, size_t count) {
  size_t used = (count + 1) / 2;
  if (used > size) return 0;
  for (size_t i = 0; i < count; ++i) {
    unsigned length = (unsigned)bytes[i / 2] >> (i % 2 * 4) & 15U;
    if (length > 8 || length > size - used) return 0;
    uint64_t change = 0;
    for (unsigned k = 0; k < length; ++k)
      change |= (uint64_t)bytes[used++] << 8 * k;
    word[i] ^= change;
  }
  return used;
}

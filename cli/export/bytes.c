/* bytes.c - a growing array of bytes, and their CRC-32 by a table of the 256 remainders. */
#include "export/bytes.h"

#include <stdlib.h>
#include <string.h>

unsigned char *tbi_bytes_reserve(tbi_bytes *bytes, size_t size) {
  if (bytes->no_memory) return NULL;
  if (bytes->capacity - bytes->size < size) {
    size_t capacity = 2 * bytes->capacity + size + 64;
    unsigned char *data = realloc(bytes->data, capacity);
    bytes->no_memory = !data;
    if (!data) return NULL;
    bytes->data = data;
    bytes->capacity = capacity;
  }
  return bytes->data + bytes->size;
}

void tbi_bytes_put(tbi_bytes *bytes, const void *data, size_t size) {
  unsigned char *at = tbi_bytes_reserve(bytes, size);
  if (!at || size == 0) return;
  memcpy(at, data, size);
  bytes->size += size;
}

static void put_number(tbi_bytes *bytes, uint64_t number, int size) {
  unsigned char byte[8];
  for (int i = 0; i < size; ++i)
    byte[i] = (unsigned char)(number >> (8 * i) & 0xff);
  tbi_bytes_put(bytes, byte, (size_t)size);
}

void tbi_bytes_put_u8(tbi_bytes *bytes, uint8_t number) { put_number(bytes, number, 1); }
void tbi_bytes_put_u16(tbi_bytes *bytes, uint16_t number) { put_number(bytes, number, 2); }
void tbi_bytes_put_u32(tbi_bytes *bytes, uint32_t number) { put_number(bytes, number, 4); }
void tbi_bytes_put_u64(tbi_bytes *bytes, uint64_t number) { put_number(bytes, number, 8); }

void tbi_bytes_free(tbi_bytes *bytes) {
  free(bytes->data);
  *bytes = (tbi_bytes){0};
}

/* The remainder of one byte by the polynomial, lowest bit first. */
static uint32_t remainder_of(uint32_t byte) {
  for (int bit = 0; bit < 8; ++bit)
    byte = byte & 1 ? byte >> 1 ^ 0xedb88320U : byte >> 1;
  return byte;
}

uint32_t tbi_crc32(uint32_t crc, const void *data, size_t size) {
  uint32_t table[256];
  for (uint32_t i = 0; i < 256; ++i)
    table[i] = remainder_of(i);
  const unsigned char *at = data;
  crc = ~crc;
  for (size_t i = 0; i < size; ++i)
    crc = crc >> 8 ^ table[(crc ^ at[i]) & 0xff];
  return ~crc;
}

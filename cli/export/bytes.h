/* bytes.h - bytes that grow in memory, with numbers in little-endian order. */
#ifndef TBI_BYTES_H
#define TBI_BYTES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct tbi_bytes {
  unsigned char *data;
  size_t size, capacity;
  bool no_memory; /* then nothing is added any more */
} tbi_bytes;

void tbi_bytes_put(tbi_bytes *bytes, const void *data, size_t size);
void tbi_bytes_put_u8(tbi_bytes *bytes, uint8_t number);
void tbi_bytes_put_u16(tbi_bytes *bytes, uint16_t number);
void tbi_bytes_put_u32(tbi_bytes *bytes, uint32_t number);
void tbi_bytes_put_u64(tbi_bytes *bytes, uint64_t number);
/* Room for so many more; NULL without memory. */
unsigned char *tbi_bytes_reserve(tbi_bytes *bytes, size_t size);
void tbi_bytes_free(tbi_bytes *bytes);

/* The CRC-32 of Ethernet and zip, continued from that of what was before; 0 for nothing. */
uint32_t tbi_crc32(uint32_t crc, const void *data, size_t size);

#endif

/* recording.h - a log while it is read. */
#ifndef TBI_RECORDING_H
#define TBI_RECORDING_H

#include "record/record.h"

/* A chunk of samples or a snapshot in the file. */
typedef struct tbi_piece {
  uint64_t offset;     /* of its payload */
  uint32_t size;       /* of it */
  int64_t first, last; /* steps; of a snapshot both are its own */
  int64_t sample;      /* index of its first sample */
  int64_t count;       /* of samples */
} tbi_piece;

typedef struct tbi_pieces {
  tbi_piece *item;
  int64_t count, capacity;
} tbi_pieces;

struct tabi_recording {
  int fd; /* or -1: it is in memory */
  const unsigned char *bytes;
  uint64_t size;
  char *path;
  tbi_crc crc;
  tabi_recording_info info;
  tbi_sample_shape shape;
  unsigned char *head; /* its payload, which holds the texts of info */
  const char **set;
  tbi_pieces samples, snapshots;

  /* the chunk that is being read: its payload, and the sample that was unpacked last */
  unsigned char *chunk;
  size_t chunk_capacity;
  int64_t piece; /* which, or -1 */
  int64_t at;    /* index of the next sample in it */
  size_t used;   /* bytes of it that were unpacked */
  uint64_t *word;
  size_t word_capacity, word_count;
  tbi_sample_buffers buffers;
};

/* Bytes of the file; an error when it cannot be read or has become shorter. */
tabi_status tbi_recording_fetch(const tabi_recording *r, uint64_t offset, void *bytes, size_t size,
                                tabi_error *err);
/* Room for a payload in r->chunk. */
tabi_status tbi_recording_reserve_chunk(tabi_recording *r, uint32_t size, tabi_error *err);
/* Names the place in the file. */
tabi_status tbi_recording_damaged(const tabi_recording *r, uint64_t offset, const char *what,
                                  tabi_error *err);

#endif

/* record.h - the log of a run: how its bytes are made and checked.
 *
 *   file   = start, then chunks: one head, then samples and snapshots, then an end
 *   start  = magic, version, checksum of both
 *   chunk  = kind, size, number, checksum of the payload, checksum of these four; payload
 *
 *   pack.c        checksums and packed words
 *   model_hash.c  what tells one model from another
 *   observer.c    samples of a world
 *   run_checks.c  the worst that a run did
 *   sample.c      a sample as words and back
 *   write.c       tabi_recorder
 *   read.c        tabi_recording (recording.h): opening, which checks every byte
 *   seek.c        samples and snapshots of an open recording */
#ifndef TBI_RECORD_H
#define TBI_RECORD_H

#include "tabi/tabi_record.h"

#define TBI_RECORD_MAGIC "tabi log"
/* The format.  Whoever changes what the bytes mean raises the version here, says in
 * TBI_RECORD_CHANGE what is new in it, which readers of older logs are told (read.c), and corrects
 * docs/log.md.  A log holds no tabi_world_def: it has the text of the scene, its settings, and of
 * the def only what tabi_recording_info shows, method and integrator by their names.  So a new
 * field or a renamed one changes the format only if it becomes one of tabi_recording_info. */
#define TBI_RECORD_VERSION 6U
#define TBI_RECORD_CHANGE  "samples have the efforts of joints"

enum { TBI_START_SIZE = 16, TBI_CHUNK_SIZE = 20, TBI_SAMPLES_SIZE = 24, TBI_SNAPSHOT_SIZE = 16 };

/* The numbers with which the payload of a head begins, 32 bits each.  After them: time step, hash
 * of the model (64 bits each); then texts: contact method, integrator, path, name and text of the
 * scene, settings. */
typedef enum tbi_head_number {
  TBI_HEAD_TABI_VERSION,
  TBI_HEAD_NQ,
  TBI_HEAD_NV,
  TBI_HEAD_SENSORS,
  TBI_HEAD_EVERY,
  TBI_HEAD_SETTINGS,
  TBI_HEAD_ROBOTS,
  TBI_HEAD_SHAPES,
  TBI_HEAD_LINKS,
  TBI_HEAD_JOINTS,
  TBI_HEAD_NUMBERS,
} tbi_head_number;

typedef enum tbi_chunk_kind {
  TBI_CHUNK_HEAD = 1,
  TBI_CHUNK_SAMPLES,
  TBI_CHUNK_SNAPSHOT,
  TBI_CHUNK_END,
} tbi_chunk_kind;

typedef struct tbi_chunk {
  uint32_t kind, size, number, checksum;
} tbi_chunk;

/* CRC-32C, eight bytes at a time. */
typedef struct tbi_crc {
  uint32_t table[8][256];
} tbi_crc;
void tbi_crc_init(tbi_crc *crc);
uint32_t tbi_crc_of(const tbi_crc *crc, const void *bytes, size_t size);

/* The first bytes of a file, and those before a payload. */
void tbi_record_start(const tbi_crc *crc, unsigned char bytes[TBI_START_SIZE]);
void tbi_chunk_seal(const tbi_crc *crc, tbi_chunk chunk, const void *payload,
                    unsigned char bytes[TBI_CHUNK_SIZE]);
/* False: they are not what was written. */
bool tbi_chunk_open(const tbi_crc *crc, const unsigned char bytes[TBI_CHUNK_SIZE],
                    tbi_chunk *chunk);

/* Packs words as differences from the words before them: the leading zero bytes of each difference
 * are left out, and a half byte says how many bytes remain. */
size_t tbi_pack_bound(size_t count);
/* Returns the number of bytes; `before` has as many words. */
size_t tbi_pack(const uint64_t *word, const uint64_t *before, size_t count, unsigned char *bytes);
/* `word` has the words before and gets the unpacked ones; returns the bytes used, or 0 when there
 * are too few or tbi_pack did not make them. */
size_t tbi_unpack(const unsigned char *bytes, size_t size, uint64_t *word, size_t count);

/* Hash of all numbers of a model that its motion depends on, and of the names of links and joints.
 */
uint64_t tbi_model_hash(const tabi_model *model);

/* The sizes of the parts of a sample; `sensors` counts numbers, and contacts are between `shapes`
 * of `links`. */
typedef struct tbi_sample_shape {
  int32_t nq, nv, sensors, robots, shapes, links, joints;
} tbi_sample_shape;

tbi_sample_shape tbi_sample_shape_of(const tabi_scene *scene);
/* Words of a sample, and how many contacts there can be in so many. */
size_t tbi_sample_words(const tbi_sample_shape *shape, size_t ncontact);
size_t tbi_sample_contacts(size_t words);
void tbi_sample_encode(const tbi_sample_shape *shape, const tabi_sample *sample, uint64_t *word);

/* Memory for the arrays of a decoded sample. */
typedef struct tbi_sample_buffers {
  double *state; /* [nq + nv + sensors] */
  tabi_balance *balance;
  tabi_sample_effort *effort;   /* [joints] */
  tabi_sample_contact *contact; /* as many as there may be in the words */
} tbi_sample_buffers;
/* False: these words are no sample. */
bool tbi_sample_decode(const tbi_sample_shape *shape, const uint64_t *word, size_t count,
                       double timestep, const tbi_sample_buffers *buffers, tabi_sample *sample);

/* TABI_ERR_ARGUMENT if the world is not one of the scene's model. */
tabi_status tbi_record_check_world(const tabi_scene *scene, const tabi_world *world,
                                   tabi_error *err);

/* Derives status, slip, power and residual from the other fields. */
void tbi_sample_contact_derive(tabi_sample_contact *c, double timestep);

#endif

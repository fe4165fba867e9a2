/* mcap.c - the records of an MCAP file, version 0, in the order in which they stand:
 *
 *   magic, header, metadata, (chunk, message indexes)..., data end,
 *   schemas, channels, statistics, chunk indexes, metadata indexes, summary offsets, footer, magic
 *
 * A record is a byte that tells its kind, its length in 64 bits, and its content.  Texts, lists and
 * maps have their length in bytes before them, in 32 bits. */
#include "export/mcap.h"

#include <stdlib.h>
#include <string.h>
#ifdef TABI_HAVE_ZSTD
#include <zstd.h>
#endif

enum {
  HEADER = 1,
  FOOTER,
  SCHEMA,
  CHANNEL,
  MESSAGE,
  CHUNK,
  MESSAGE_INDEX,
  CHUNK_INDEX,
  STATISTICS = 11,
  METADATA,
  METADATA_INDEX,
  SUMMARY_OFFSET,
  DATA_END,
};

/* enough for zstd to find what repeats from sample to sample, little enough to seek in */
enum { CHUNK_SIZE = 1 << 20 };

static const unsigned char magic[8] = {0x89, 'M', 'C', 'A', 'P', '0', '\r', '\n'};

/* What is known of a channel. */
typedef struct stream {
  uint64_t nmessage;
  tbi_bytes index; /* times and places of its messages in the chunk */
} stream;

/* When the first and last of some messages were. */
typedef struct span {
  uint64_t first, last;
  bool any;
} span;

struct tbi_mcap {
  tbi_output *output;
  uint64_t offset; /* bytes written */
  uint32_t crc;    /* of them */
  bool no_memory;
  stream *channel;
  int nchannel, channel_capacity, nschema;
  uint32_t nchunk, nmetadata;
  uint64_t nmessage;
  span all, now;                                 /* of the file and of the chunk */
  tbi_bytes chunk;                               /* the one that is being filled */
  tbi_bytes schemas, channels, chunks, metadata; /* records of the summary */
  tbi_bytes record, packed;                      /* room for what is being written */
#ifdef TABI_HAVE_ZSTD
  ZSTD_CCtx *zstd;
#endif
};

/* -- parts of records */

static void put_text(tbi_bytes *bytes, const char *text) {
  size_t size = strlen(text);
  tbi_bytes_put_u32(bytes, (uint32_t)size);
  tbi_bytes_put(bytes, text, size);
}

static void set_number(tbi_bytes *bytes, size_t at, uint64_t number, size_t size) {
  if (bytes->no_memory) return;
  for (size_t i = 0; i < size; ++i)
    bytes->data[at + i] = (unsigned char)(number >> (8 * i) & 0xff);
}

/* Begins a record or list whose length is known at its end; both work with the place where the
 * content begins. */
static size_t begin_record(tbi_bytes *bytes, uint8_t kind) {
  tbi_bytes_put_u8(bytes, kind);
  tbi_bytes_put_u64(bytes, 0);
  return bytes->size;
}

static void end_record(tbi_bytes *bytes, size_t begin) {
  set_number(bytes, begin - 8, bytes->size - begin, 8);
}

static size_t begin_list(tbi_bytes *bytes) {
  tbi_bytes_put_u32(bytes, 0);
  return bytes->size;
}

static void end_list(tbi_bytes *bytes, size_t begin) {
  set_number(bytes, begin - 4, bytes->size - begin, 4);
}

static void put_map(tbi_bytes *bytes, const tbi_mcap_entry *entry, int count) {
  size_t begin = begin_list(bytes);
  for (int i = 0; i < count; ++i) {
    put_text(bytes, entry[i].key);
    put_text(bytes, entry[i].value);
  }
  end_list(bytes, begin);
}

static void put_span(tbi_bytes *bytes, const span *s) {
  tbi_bytes_put_u64(bytes, s->first);
  tbi_bytes_put_u64(bytes, s->last);
}

static void widen(span *s, uint64_t time) {
  if (!s->any || time < s->first) s->first = time;
  if (!s->any || time > s->last) s->last = time;
  s->any = true;
}

static void write_bytes(tbi_mcap *m, const void *data, size_t size) {
  tbi_output_put(m->output, data, size);
  m->crc = tbi_crc32(m->crc, data, size);
  m->offset += size;
}

/* Writes and empties. */
static void write_out(tbi_mcap *m, tbi_bytes *bytes) {
  m->no_memory |= bytes->no_memory;
  write_bytes(m, bytes->data, bytes->size);
  bytes->size = 0;
}

/* -- the data section */

tbi_mcap *tbi_mcap_create(tbi_output *output, const char *profile) {
  tbi_mcap *m = calloc(1, sizeof *m);
  if (!m) return NULL;
  m->output = output;
#ifdef TABI_HAVE_ZSTD
  m->zstd = ZSTD_createCCtx();
  m->no_memory = !m->zstd;
#endif
  char library[32];
  (void)snprintf(library, sizeof library, "tabi %d.%d.%d", TABI_VERSION / 10000,
                 TABI_VERSION / 100 % 100, TABI_VERSION % 100);
  tbi_bytes_put(&m->record, magic, sizeof magic);
  size_t begin = begin_record(&m->record, HEADER);
  put_text(&m->record, profile);
  put_text(&m->record, library);
  end_record(&m->record, begin);
  write_out(m, &m->record);
  return m;
}

void tbi_mcap_destroy(tbi_mcap *mcap) {
  if (!mcap) return;
  for (int i = 0; i < mcap->nchannel; ++i)
    tbi_bytes_free(&mcap->channel[i].index);
  free(mcap->channel);
  tbi_bytes *const all[] = {&mcap->chunk,  &mcap->schemas,  &mcap->channels, &mcap->chunks,
                            &mcap->record, &mcap->metadata, &mcap->packed};
  for (size_t i = 0; i < sizeof all / sizeof all[0]; ++i)
    tbi_bytes_free(all[i]);
#ifdef TABI_HAVE_ZSTD
  (void)ZSTD_freeCCtx(mcap->zstd);
#endif
  free(mcap);
}

void tbi_mcap_put_metadata(tbi_mcap *mcap, const char *name, const tbi_mcap_entry *entry,
                           int count) {
  size_t begin = begin_record(&mcap->record, METADATA);
  put_text(&mcap->record, name);
  put_map(&mcap->record, entry, count);
  end_record(&mcap->record, begin);

  begin = begin_record(&mcap->metadata, METADATA_INDEX);
  tbi_bytes_put_u64(&mcap->metadata, mcap->offset);
  tbi_bytes_put_u64(&mcap->metadata, mcap->record.size);
  put_text(&mcap->metadata, name);
  end_record(&mcap->metadata, begin);
  ++mcap->nmetadata;
  write_out(mcap, &mcap->record);
}

/* Schemas and channels stand in the chunk where they are first needed, and in the summary. */
static void put_twice(tbi_mcap *m, tbi_bytes *summary) {
  tbi_bytes_put(&m->chunk, m->record.data, m->record.size);
  tbi_bytes_put(summary, m->record.data, m->record.size);
  m->no_memory |= m->record.no_memory;
  m->record.size = 0;
}

uint16_t tbi_mcap_add_schema(tbi_mcap *mcap, const char *name, const char *encoding,
                             const char *text) {
  if (mcap->nschema == UINT16_MAX) return 0;
  uint16_t id = (uint16_t)(mcap->nschema + 1);
  ++mcap->nschema;
  size_t begin = begin_record(&mcap->record, SCHEMA);
  tbi_bytes_put_u16(&mcap->record, id);
  put_text(&mcap->record, name);
  put_text(&mcap->record, encoding);
  put_text(&mcap->record, text);
  end_record(&mcap->record, begin);
  put_twice(mcap, &mcap->schemas);
  return id;
}

static bool add_channel(tbi_mcap *m) {
  if (m->nchannel == UINT16_MAX) return false;
  if (m->nchannel == m->channel_capacity) {
    int capacity = 2 * m->channel_capacity + 16;
    stream *more = realloc(m->channel, sizeof *more * (size_t)capacity);
    m->no_memory |= !more;
    if (!more) return false;
    m->channel = more;
    m->channel_capacity = capacity;
  }
  m->channel[m->nchannel++] = (stream){0};
  return true;
}

uint16_t tbi_mcap_add_channel(tbi_mcap *mcap, uint16_t schema, const char *topic,
                              const char *encoding, const tbi_mcap_entry *entry) {
  if (!add_channel(mcap)) return 0;
  uint16_t id = (uint16_t)mcap->nchannel;
  size_t begin = begin_record(&mcap->record, CHANNEL);
  tbi_bytes_put_u16(&mcap->record, id);
  tbi_bytes_put_u16(&mcap->record, schema);
  put_text(&mcap->record, topic);
  put_text(&mcap->record, encoding);
  put_map(&mcap->record, entry, entry ? 1 : 0);
  end_record(&mcap->record, begin);
  put_twice(mcap, &mcap->channels);
  return id;
}

/* -- chunks */

#ifdef TABI_HAVE_ZSTD
static const char compression[] = "zstd";

/* What stands in the file for a chunk. */
static const tbi_bytes *pack(tbi_mcap *m) {
  size_t bound = ZSTD_compressBound(m->chunk.size);
  m->packed.size = 0;
  unsigned char *room = tbi_bytes_reserve(&m->packed, bound);
  if (!room) {
    m->no_memory = true;
    return &m->packed;
  }
  size_t size = ZSTD_compressCCtx(m->zstd, room, bound, m->chunk.data, m->chunk.size, 3);
  /* given this room, only memory can be missing */
  m->no_memory |= ZSTD_isError(size) != 0;
  m->packed.size = ZSTD_isError(size) ? 0 : size;
  return &m->packed;
}
#else
static const char compression[] = "";

static const tbi_bytes *pack(tbi_mcap *m) { return &m->chunk; }
#endif

static void write_chunk(tbi_mcap *m, const tbi_bytes *packed) {
  size_t begin = begin_record(&m->record, CHUNK);
  put_span(&m->record, &m->now);
  tbi_bytes_put_u64(&m->record, m->chunk.size);
  tbi_bytes_put_u32(&m->record, tbi_crc32(0, m->chunk.data, m->chunk.size));
  put_text(&m->record, compression);
  tbi_bytes_put_u64(&m->record, packed->size);
  set_number(&m->record, begin - 8, m->record.size - begin + packed->size, 8);
  write_out(m, &m->record);
  write_bytes(m, packed->data, packed->size);
}

/* Writes where a chunk has the messages of each channel, and where that is written into its own
 * entry in the summary. */
static void write_message_indexes(tbi_mcap *m) {
  size_t map = begin_list(&m->chunks);
  for (int i = 0; i < m->nchannel; ++i) {
    stream *c = &m->channel[i];
    if (c->index.size == 0) continue;
    tbi_bytes_put_u16(&m->chunks, (uint16_t)(i + 1));
    tbi_bytes_put_u64(&m->chunks, m->offset + m->record.size);
    size_t begin = begin_record(&m->record, MESSAGE_INDEX);
    tbi_bytes_put_u16(&m->record, (uint16_t)(i + 1));
    size_t list = begin_list(&m->record);
    tbi_bytes_put(&m->record, c->index.data, c->index.size);
    end_list(&m->record, list);
    end_record(&m->record, begin);
    m->no_memory |= c->index.no_memory;
    c->index.size = 0;
  }
  end_list(&m->chunks, map);
  tbi_bytes_put_u64(&m->chunks, m->record.size);
  write_out(m, &m->record);
}

static void end_chunk(tbi_mcap *m) {
  m->no_memory |= m->chunk.no_memory;
  if (m->chunk.size == 0 || m->no_memory) return;
  const tbi_bytes *packed = pack(m);
  uint64_t start = m->offset;
  size_t packed_size = packed->size;
  write_chunk(m, packed);

  size_t begin = begin_record(&m->chunks, CHUNK_INDEX);
  put_span(&m->chunks, &m->now);
  tbi_bytes_put_u64(&m->chunks, start);
  tbi_bytes_put_u64(&m->chunks, m->offset - start);
  write_message_indexes(m);
  put_text(&m->chunks, compression);
  tbi_bytes_put_u64(&m->chunks, packed_size);
  tbi_bytes_put_u64(&m->chunks, m->chunk.size);
  end_record(&m->chunks, begin);

  ++m->nchunk;
  m->chunk.size = 0;
  m->now = (span){0};
}

void tbi_mcap_put_message(tbi_mcap *mcap, uint16_t channel, uint64_t time, const tbi_bytes *data) {
  if (channel == 0 || channel > mcap->nchannel) return;
  mcap->no_memory |= data->no_memory;
  stream *c = &mcap->channel[channel - 1];
  tbi_bytes_put_u64(&c->index, time);
  tbi_bytes_put_u64(&c->index, mcap->chunk.size);

  size_t begin = begin_record(&mcap->chunk, MESSAGE);
  tbi_bytes_put_u16(&mcap->chunk, channel);
  tbi_bytes_put_u32(&mcap->chunk, (uint32_t)c->nmessage);
  tbi_bytes_put_u64(&mcap->chunk, time);
  tbi_bytes_put_u64(&mcap->chunk, time);
  tbi_bytes_put(&mcap->chunk, data->data, data->size);
  end_record(&mcap->chunk, begin);

  ++c->nmessage;
  ++mcap->nmessage;
  widen(&mcap->now, time);
  widen(&mcap->all, time);
  if (mcap->chunk.size >= CHUNK_SIZE) end_chunk(mcap);
}

/* -- the summary */

static void put_statistics(tbi_mcap *m, tbi_bytes *bytes) {
  size_t begin = begin_record(bytes, STATISTICS);
  tbi_bytes_put_u64(bytes, m->nmessage);
  tbi_bytes_put_u16(bytes, (uint16_t)m->nschema);
  tbi_bytes_put_u32(bytes, (uint32_t)m->nchannel);
  tbi_bytes_put_u32(bytes, 0); /* attachments */
  tbi_bytes_put_u32(bytes, m->nmetadata);
  tbi_bytes_put_u32(bytes, m->nchunk);
  put_span(bytes, &m->all);
  size_t map = begin_list(bytes);
  for (int i = 0; i < m->nchannel; ++i) {
    tbi_bytes_put_u16(bytes, (uint16_t)(i + 1));
    tbi_bytes_put_u64(bytes, m->channel[i].nmessage);
  }
  end_list(bytes, map);
  end_record(bytes, begin);
}

/* A group of the summary, and where it stands. */
static void write_group(tbi_mcap *m, uint8_t kind, tbi_bytes *group, tbi_bytes *offsets) {
  if (group->size > 0) {
    size_t begin = begin_record(offsets, SUMMARY_OFFSET);
    tbi_bytes_put_u8(offsets, kind);
    tbi_bytes_put_u64(offsets, m->offset);
    tbi_bytes_put_u64(offsets, group->size);
    end_record(offsets, begin);
  }
  write_out(m, group);
}

static void write_footer(tbi_mcap *m, uint64_t summary, uint64_t offsets) {
  /* the checksum is of the summary and of the footer up to the checksum */
  tbi_bytes *r = &m->record;
  tbi_bytes_put_u8(r, FOOTER);
  tbi_bytes_put_u64(r, 20);
  tbi_bytes_put_u64(r, summary);
  tbi_bytes_put_u64(r, offsets);
  write_out(m, r);
  tbi_bytes_put_u32(r, m->crc);
  tbi_bytes_put(r, magic, sizeof magic);
  write_out(m, r);
}

bool tbi_mcap_finish(tbi_mcap *mcap) {
  end_chunk(mcap);
  size_t begin = begin_record(&mcap->record, DATA_END);
  tbi_bytes_put_u32(&mcap->record, mcap->crc);
  end_record(&mcap->record, begin);
  write_out(mcap, &mcap->record);

  uint64_t summary = mcap->offset;
  tbi_bytes offsets = {0};
  mcap->crc = 0;
  write_group(mcap, SCHEMA, &mcap->schemas, &offsets);
  write_group(mcap, CHANNEL, &mcap->channels, &offsets);
  put_statistics(mcap, &mcap->record);
  write_group(mcap, STATISTICS, &mcap->record, &offsets);
  write_group(mcap, CHUNK_INDEX, &mcap->chunks, &offsets);
  write_group(mcap, METADATA_INDEX, &mcap->metadata, &offsets);
  uint64_t start = mcap->offset;
  write_out(mcap, &offsets);
  tbi_bytes_free(&offsets);
  write_footer(mcap, summary, start);
  return !mcap->no_memory;
}

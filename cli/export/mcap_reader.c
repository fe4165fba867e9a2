/* mcap_reader.c - see mcap_reader.h; mcap.c tells what the records are. */
#include "export/mcap_reader.h"

#include <stdlib.h>
#include <string.h>
#ifdef TABI_HAVE_ZSTD
#include <zstd.h>
#endif

enum { SCHEMA = 3, CHANNEL = 4, MESSAGE = 5, CHUNK = 6, DATA_END = 15 };
enum { NCHANNEL = 65536, RECORD_HEAD = 9 };
#define MAX_CHUNK ((uint64_t)256 << 20)

static const unsigned char magic[8] = {0x89, 'M', 'C', 'A', 'P', '0', '\r', '\n'};

/* Bytes that are left; short: more was wanted than there is. */
typedef struct cursor {
  const unsigned char *at;
  size_t left;
  bool is_short;
} cursor;

/* Texts of schemas and channels are copied, since chunks do not last. */
typedef struct channel {
  char *topic, *encoding;
  uint16_t schema;
} channel;

typedef struct reader {
  char **schema;    /* names: [NCHANNEL] */
  channel *channel; /* [NCHANNEL] */
  int top;          /* numbers of all are below */
  tbi_mcap_message_fn *take;
  void *user;
  bool done;
  const char *wrong;
} reader;

static cursor part(cursor *c, uint64_t size) {
  bool is_short = size > c->left;
  cursor inside = {c->at, is_short ? c->left : (size_t)size, false};
  c->is_short = c->is_short || is_short;
  c->at += inside.left;
  c->left -= inside.left;
  return inside;
}

static uint64_t number(cursor *c, size_t size) {
  uint64_t value = 0;
  cursor bytes = part(c, size);
  for (size_t i = 0; i < bytes.left; ++i)
    value |= (uint64_t)bytes.at[i] << (8 * i);
  return value;
}

/* The caller frees; NULL without memory or if it is not there. */
static char *text(cursor *c) {
  cursor bytes = part(c, number(c, 4));
  char *copy = c->is_short ? NULL : malloc(bytes.left + 1);
  if (!copy) return NULL;
  memcpy(copy, bytes.at, bytes.left);
  copy[bytes.left] = '\0';
  return copy;
}

static bool fail(reader *r, const char *why) {
  if (!r->wrong) r->wrong = why;
  r->done = true;
  return false;
}

static void count_number(reader *r, uint16_t id) {
  if (id >= r->top) r->top = id + 1;
}

/* The first of a number counts; it is repeated in the summary. */
static bool read_schema(reader *r, cursor c) {
  uint16_t id = (uint16_t)number(&c, 2);
  char *name = text(&c);
  count_number(r, id);
  if (!name) return fail(r, "a schema is cut off");
  if (r->schema[id]) {
    free(name);
  } else {
    r->schema[id] = name;
  }
  return true;
}

static bool read_channel(reader *r, cursor c) {
  uint16_t id = (uint16_t)number(&c, 2);
  channel made = {.schema = (uint16_t)number(&c, 2)};
  made.topic = text(&c);
  made.encoding = text(&c);
  count_number(r, id);
  if (made.topic && made.encoding && !r->channel[id].topic) {
    r->channel[id] = made;
    return true;
  }
  bool whole = made.topic && made.encoding;
  free(made.topic);
  free(made.encoding);
  return whole || fail(r, "a channel is cut off");
}

static bool read_message(reader *r, cursor c) {
  const channel *of = &r->channel[(uint16_t)number(&c, 2)];
  (void)number(&c, 4); // its number in the channel
  uint64_t time = number(&c, 8);
  (void)number(&c, 8); // when it was published
  if (c.is_short) return fail(r, "a message is cut off");
  if (!of->topic) return fail(r, "a message has no channel");
  const char *schema = r->schema[of->schema];
  tbi_mcap_message message = {.topic = of->topic,
                              .schema = schema ? schema : "",
                              .encoding = of->encoding,
                              .time = time,
                              .data = c.at,
                              .size = c.left};
  r->done = !r->take(r->user, &message);
  return true;
}

/* A record that may stand in a chunk, and outside; others are passed over. */
static bool read_record(reader *r, uint64_t kind, cursor c) {
  if (kind == SCHEMA) return read_schema(r, c);
  if (kind == CHANNEL) return read_channel(r, c);
  return kind != MESSAGE || read_message(r, c);
}

/* Its kind; 0: none is left, or it is cut off. */
static uint64_t next_record(reader *r, cursor *c, cursor *content) {
  if (r->done || c->left < RECORD_HEAD) return 0;
  uint64_t kind = number(c, 1);
  *content = part(c, number(c, 8));
  if (!c->is_short) return kind;
  (void)fail(r, "a record is cut off");
  return 0;
}

static bool read_unpacked(reader *r, cursor c) {
  cursor content;
  for (uint64_t kind = next_record(r, &c, &content); kind > 0;
       kind = next_record(r, &c, &content)) {
    if (kind == CHUNK) return fail(r, "a chunk is in a chunk");
    if (!read_record(r, kind, content)) return false;
  }
  return !r->wrong;
}

static bool read_packed(reader *r, cursor packed, uint64_t size) {
#ifdef TABI_HAVE_ZSTD
  unsigned char *room = malloc((size_t)size + 1);
  if (!room) return fail(r, "out of memory");
  size_t got = ZSTD_decompress(room, (size_t)size, packed.at, packed.left);
  bool good = got == size || fail(r, "a chunk cannot be unpacked");
  cursor inside = {room, (size_t)size, false};
  good = good && read_unpacked(r, inside);
  free(room);
  return good;
#else
  (void)packed;
  (void)size;
  return fail(r, "this tabi was built without zstd, which its chunks are packed by");
#endif
}

static bool read_chunk(reader *r, cursor c) {
  (void)number(&c, 8); // times of the first and last message
  (void)number(&c, 8);
  uint64_t size = number(&c, 8);
  (void)number(&c, 4); // checksum
  char *packing = text(&c);
  cursor packed = part(&c, number(&c, 8));
  if (!packing || c.is_short || size > MAX_CHUNK) {
    free(packing);
    return fail(r, size > MAX_CHUNK ? "a chunk is larger than 256 MB" : "a chunk is cut off");
  }
  bool plain = packing[0] == '\0';
  bool zstd = strcmp(packing, "zstd") == 0;
  free(packing);
  if (plain) return read_unpacked(r, packed);
  return zstd ? read_packed(r, packed, size) : fail(r, "chunks are packed by other than zstd");
}

static void read_file(reader *r, cursor c) {
  cursor content;
  bool good = true;
  for (uint64_t kind = next_record(r, &c, &content); kind > 0 && good;
       kind = next_record(r, &c, &content)) {
    r->done = kind == DATA_END;
    good = kind == CHUNK ? read_chunk(r, content) : read_record(r, kind, content);
  }
}

const char *tbi_mcap_read(const unsigned char *bytes, size_t size, tbi_mcap_message_fn *take,
                          void *user) {
  if (size < sizeof magic || memcmp(bytes, magic, sizeof magic) != 0) return "it is no MCAP file";
  reader r = {.take = take, .user = user};
  r.schema = calloc(NCHANNEL, sizeof *r.schema);
  r.channel = calloc(NCHANNEL, sizeof *r.channel);
  cursor all = {bytes + sizeof magic, size - sizeof magic, false};
  if (!r.schema || !r.channel) {
    r.wrong = "out of memory";
  } else {
    read_file(&r, all);
  }
  for (int i = 0; i < r.top; ++i) {
    free(r.schema[i]);
    free(r.channel[i].topic);
    free(r.channel[i].encoding);
  }
  free(r.schema);
  free(r.channel);
  return r.wrong;
}

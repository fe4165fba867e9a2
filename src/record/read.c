/* read.c - opens a log: reads all of it once, checks every byte, and remembers where samples
 * and snapshots are.
 *
 * Every byte is under some checksum and chunks are numbered, so what passes is what was written.
 * Only an incomplete last chunk, as a killed run leaves it, is ignored. */
#include "base/assertion.h"
#include "base/error.h"
#include "io/file.h"
#include "record/recording.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define MAX_CHUNK    ((uint32_t)1 << 30)
#define MAX_COUNT    (1 << 24) /* of positions, sensors, settings */
#define MAX_ROBOTS   (1 << 16)
#define MAX_TIMESTEP 1.0 /* s */

tabi_status tbi_recording_damaged(const tabi_recording *r, uint64_t offset, const char *what,
                                  tabi_error *err) {
  return tbi_error_set(err, TABI_ERR_PARSE, (tabi_place){r->path, 1},
                       "damaged at byte %llu: %s; this log cannot be used, run the scene again",
                       (unsigned long long)offset, what);
}

tabi_status tbi_recording_fetch(const tabi_recording *r, uint64_t offset, void *bytes, size_t size,
                                tabi_error *err) {
  TBI_ASSERT(offset <= r->size && size <= r->size - offset);
  if (r->fd < 0) {
    if (size > 0) memcpy(bytes, r->bytes + offset, size);
    return TABI_OK;
  }
  unsigned char *at = bytes;
  while (size > 0) {
    ssize_t n = pread(r->fd, at, size, (off_t)offset);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return tbi_file_fail(err, (tabi_place){r->path, 1}, "read", errno);
    if (n == 0) return tbi_recording_damaged(r, offset, "the file became shorter", err);
    at += n;
    offset += (uint64_t)n;
    size -= (size_t)n;
  }
  return TABI_OK;
}

tabi_status tbi_recording_reserve_chunk(tabi_recording *r, uint32_t size, tabi_error *err) {
  if (size <= r->chunk_capacity && r->chunk) return TABI_OK;
  unsigned char *more = realloc(r->chunk, (size_t)size + 1);
  if (!more) return tbi_error_memory(err);
  r->chunk = more;
  r->chunk_capacity = size;
  return TABI_OK;
}

/* -- the head */

typedef struct cursor {
  const unsigned char *at;
  size_t left;
  bool failed;
} cursor;

static void take(cursor *c, void *bytes, size_t size) {
  c->failed = c->failed || size > c->left;
  if (c->failed) {
    memset(bytes, 0, size);
    return;
  }
  memcpy(bytes, c->at, size);
  c->at += size;
  c->left -= size;
}

static const char *take_text(cursor *c, size_t *size) {
  uint32_t length = 0;
  take(c, &length, sizeof length);
  c->failed = c->failed || length >= c->left || c->at[length] != '\0';
  if (c->failed) return "";
  const char *text = (const char *)c->at;
  c->at += (size_t)length + 1;
  c->left -= (size_t)length + 1;
  *size = length;
  return text;
}

static bool in_range(int32_t number, int32_t min, int32_t max) {
  return number >= min && number <= max;
}

/* Whether a head may have these numbers. */
static bool are_sound(const int32_t n[TBI_HEAD_NUMBERS]) {
  return in_range(n[TBI_HEAD_NQ], 0, MAX_COUNT) && in_range(n[TBI_HEAD_NV], 0, MAX_COUNT) &&
         in_range(n[TBI_HEAD_SENSORS], 0, MAX_COUNT) && n[TBI_HEAD_EVERY] >= 1 &&
         in_range(n[TBI_HEAD_SETTINGS], 0, MAX_COUNT) &&
         in_range(n[TBI_HEAD_ROBOTS], 0, MAX_ROBOTS) &&
         in_range(n[TBI_HEAD_SHAPES], 0, MAX_COUNT) && in_range(n[TBI_HEAD_LINKS], 0, MAX_COUNT) &&
         in_range(n[TBI_HEAD_JOINTS], 0, MAX_COUNT);
}

static bool read_numbers(tabi_recording *r, cursor *c) {
  int32_t n[TBI_HEAD_NUMBERS];
  uint64_t hash = 0;
  tabi_recording_info *info = &r->info;
  take(c, n, sizeof n);
  take(c, &info->timestep, sizeof info->timestep);
  take(c, &hash, sizeof hash);
  if (c->failed || !are_sound(n) || !(info->timestep > 0 && info->timestep <= MAX_TIMESTEP))
    return false;
  r->shape = (tbi_sample_shape){.nq = n[TBI_HEAD_NQ],
                                .nv = n[TBI_HEAD_NV],
                                .sensors = n[TBI_HEAD_SENSORS],
                                .robots = n[TBI_HEAD_ROBOTS],
                                .shapes = n[TBI_HEAD_SHAPES],
                                .links = n[TBI_HEAD_LINKS],
                                .joints = n[TBI_HEAD_JOINTS]};
  info->tabi_version = (uint32_t)n[TBI_HEAD_TABI_VERSION];
  info->nq = r->shape.nq;
  info->nv = r->shape.nv;
  info->nsensor = r->shape.sensors;
  info->nrobot = r->shape.robots;
  info->every = n[TBI_HEAD_EVERY];
  info->source.nset = n[TBI_HEAD_SETTINGS];
  info->model_hash = hash;
  return true;
}

/* Contact method and integrator.  A newer tabi may have written names that this one does not know.
 */
static tabi_status read_methods(tabi_recording *r, cursor *c, tabi_error *err) {
  size_t unused = 0;
  const char *contact = take_text(c, &unused);
  const char *integrator = take_text(c, &unused);
  if (c->failed) return TABI_OK; // the caller reports it
  int32_t kind = tabi_contact_find(contact);
  int32_t scheme = tabi_integrator_find(integrator);
  if (kind == TABI_NONE || scheme == TABI_NONE) {
    return tbi_error_set(err, TABI_ERR_PARSE, (tabi_place){r->path, 1},
                         "a run under %s '%.80s', which this tabi does not know; use the tabi that "
                         "wrote it",
                         kind == TABI_NONE ? "contact method" : "integrator",
                         kind == TABI_NONE ? contact : integrator);
  }
  r->info.contact = (tabi_contact_kind)kind;
  r->info.integrator = (tabi_integrator)scheme;
  return TABI_OK;
}

static tabi_status read_source(tabi_recording *r, cursor *c, tabi_error *err) {
  tabi_scene_source *source = &r->info.source;
  size_t unused = 0;
  source->path = take_text(c, &unused);
  r->info.scene = take_text(c, &unused);
  source->text = take_text(c, &source->size);
  r->set = calloc((size_t)source->nset + 1, sizeof *r->set);
  if (!r->set) return tbi_error_memory(err);
  for (int32_t i = 0; i < source->nset; ++i)
    r->set[i] = take_text(c, &unused);
  source->set = r->set;
  return TABI_OK;
}

static tabi_status read_head(tabi_recording *r, uint64_t offset, size_t size, tabi_error *err) {
  TBI_ASSERT(r->head && !r->set);
  const char *bad = "the head is not one of a log";
  cursor c = {r->head, size, false};
  if (!read_numbers(r, &c) || (size_t)r->info.source.nset > c.left) {
    return tbi_recording_damaged(r, offset, bad, err);
  }
  tabi_status status = read_methods(r, &c, err);
  if (status == TABI_OK) status = read_source(r, &c, err);
  if (status != TABI_OK) return status;
  if (c.failed || c.left > 0) return tbi_recording_damaged(r, offset, bad, err);
  size_t numbers = (size_t)r->shape.nq + (size_t)r->shape.nv + (size_t)r->shape.sensors;
  r->buffers.state = calloc(numbers + 1, sizeof *r->buffers.state);
  r->buffers.balance = calloc((size_t)r->shape.robots + 1, sizeof *r->buffers.balance);
  r->buffers.effort = calloc((size_t)r->shape.joints + 1, sizeof *r->buffers.effort);
  bool made = r->buffers.state && r->buffers.balance && r->buffers.effort;
  return made ? TABI_OK : tbi_error_memory(err);
}

/* -- the chunks */

static tabi_status add_piece(tbi_pieces *pieces, tbi_piece piece, tabi_error *err) {
  if (pieces->count == pieces->capacity) {
    int64_t capacity = pieces->capacity > 0 ? 2 * pieces->capacity : 64;
    tbi_piece *item = realloc(pieces->item, sizeof *item * (size_t)capacity);
    if (!item) return tbi_error_memory(err);
    pieces->item = item;
    pieces->capacity = capacity;
  }
  pieces->item[pieces->count++] = piece;
  return TABI_OK;
}

static tabi_status add_samples(tabi_recording *r, tbi_piece piece, tabi_error *err) {
  uint32_t count = 0;
  if (piece.size >= TBI_SAMPLES_SIZE) {
    memcpy(&piece.first, r->chunk, sizeof piece.first);
    memcpy(&piece.last, r->chunk + 8, sizeof piece.last);
    memcpy(&count, r->chunk + 16, sizeof count);
  }
  int64_t before = r->samples.count > 0 ? r->info.last : -1;
  if (count == 0 || count > piece.size || piece.first <= before || piece.last < piece.first ||
      piece.last - piece.first < (int64_t)count - 1) {
    return tbi_recording_damaged(r, piece.offset, "steps are out of order", err);
  }
  piece.count = count;
  piece.sample = r->info.nsample;
  if (r->samples.count == 0) r->info.first = piece.first;
  r->info.last = piece.last;
  r->info.nsample += piece.count;
  return add_piece(&r->samples, piece, err);
}

/* Words of a snapshot take half a byte at least, so no size can be made up. */
static tabi_status add_snapshot(tabi_recording *r, tbi_piece piece, tabi_error *err) {
  int64_t step = -1;
  uint64_t bytes = 0;
  if (piece.size >= TBI_SNAPSHOT_SIZE) {
    memcpy(&step, r->chunk, sizeof step);
    memcpy(&bytes, r->chunk + sizeof step, sizeof bytes);
  }
  if (bytes == 0 || bytes / 16 > piece.size)
    return tbi_recording_damaged(r, piece.offset, "the size of a snapshot is wrong", err);
  if (step < 0 || step != r->info.last) {
    return tbi_recording_damaged(r, piece.offset, "a snapshot is out of order", err);
  }
  piece.first = piece.last = step;
  if (bytes > r->info.snapshot_size) r->info.snapshot_size = (size_t)bytes;
  ++r->info.nsnapshot;
  return add_piece(&r->snapshots, piece, err);
}

static tabi_status add_end(tabi_recording *r, tbi_piece piece, tabi_error *err) {
  int64_t samples = -1;
  if (piece.size == sizeof samples) memcpy(&samples, r->chunk, sizeof samples);
  if (samples != r->info.nsample) {
    return tbi_recording_damaged(r, piece.offset, "samples are missing", err);
  }
  r->info.complete = true;
  if (piece.offset + piece.size < r->size) {
    return tbi_recording_damaged(r, piece.offset + piece.size, "more follows the end", err);
  }
  return TABI_OK;
}

static tabi_status add_chunk(tabi_recording *r, const tbi_chunk *chunk, uint64_t offset,
                             tabi_error *err) {
  tbi_piece piece = {.offset = offset, .size = chunk->size};
  if ((chunk->kind == TBI_CHUNK_HEAD) != (chunk->number == 0)) {
    return tbi_recording_damaged(r, offset, "the head is not at the beginning", err);
  }
  switch (chunk->kind) {
  case TBI_CHUNK_HEAD:
    r->head = r->chunk;
    r->chunk = NULL;
    r->chunk_capacity = 0;
    return read_head(r, offset, chunk->size, err);
  case TBI_CHUNK_SAMPLES:
    return add_samples(r, piece, err);
  case TBI_CHUNK_SNAPSHOT:
    return add_snapshot(r, piece, err);
  case TBI_CHUNK_END:
    return add_end(r, piece, err);
  default:
    return tbi_recording_damaged(r, offset, "unknown kind of chunk", err);
  }
}

/* The next chunk, and where the one after it is; *offset stays where it is when this one is not
 * whole. */
static tabi_status read_chunk(tabi_recording *r, uint32_t number, uint64_t *offset,
                              tabi_error *err) {
  unsigned char bytes[TBI_CHUNK_SIZE];
  tbi_chunk chunk;
  if (r->size - *offset < TBI_CHUNK_SIZE) return TABI_OK;
  tabi_status status = tbi_recording_fetch(r, *offset, bytes, sizeof bytes, err);
  if (status != TABI_OK) return status;
  if (!tbi_chunk_open(&r->crc, bytes, &chunk)) {
    return tbi_recording_damaged(r, *offset, "the checksum of a chunk's head is wrong", err);
  }
  if (chunk.number != number || chunk.size > MAX_CHUNK) {
    return tbi_recording_damaged(r, *offset, "a chunk is missing", err);
  }
  uint64_t payload = *offset + TBI_CHUNK_SIZE;
  if (r->size - payload < chunk.size) return TABI_OK;
  status = tbi_recording_reserve_chunk(r, chunk.size, err);
  if (status == TABI_OK) status = tbi_recording_fetch(r, payload, r->chunk, chunk.size, err);
  if (status != TABI_OK) return status;
  if (tbi_crc_of(&r->crc, r->chunk, chunk.size) != chunk.checksum) {
    return tbi_recording_damaged(r, payload, "the checksum of a chunk is wrong", err);
  }
  *offset = payload + chunk.size;
  return add_chunk(r, &chunk, payload, err);
}

/* The only place where the version of a log is checked. */
static tabi_status check_version(uint32_t version, tabi_place place, tabi_error *err) {
  if (version == TBI_RECORD_VERSION) return TABI_OK;
  if (version > TBI_RECORD_VERSION) {
    return tbi_error_set(
        err, TABI_ERR_PARSE, place,
        "a log of format %u, this tabi reads format %u; use the tabi that wrote it "
        "or a newer one",
        (unsigned)version, (unsigned)TBI_RECORD_VERSION);
  }
  return tbi_error_set(err, TABI_ERR_PARSE, place,
                       "a log of format %u, this tabi reads format %u, which differs from older "
                       "ones: " TBI_RECORD_CHANGE
                       "; run the scene again, or use the tabi that wrote "
                       "the log",
                       (unsigned)version, (unsigned)TBI_RECORD_VERSION);
}

static tabi_status read_start(const tabi_recording *r, tabi_error *err) {
  unsigned char bytes[TBI_START_SIZE] = {0};
  uint32_t version = 0;
  uint32_t checksum = 0;
  const tabi_place place = {r->path, 1};
  size_t size = r->size < sizeof bytes ? (size_t)r->size : sizeof bytes;
  tabi_status status = tbi_recording_fetch(r, 0, bytes, size, err);
  if (status != TABI_OK) return status;
  memcpy(&version, bytes + 8, sizeof version);
  memcpy(&checksum, bytes + 12, sizeof checksum);
  if (memcmp(bytes, TBI_RECORD_MAGIC, 8) == 0 && checksum == tbi_crc_of(&r->crc, bytes, 12))
    return check_version(version, place, err);
  return tbi_error_set(err, TABI_ERR_PARSE, place,
                       "no log of tabi, or damaged in its first %d bytes; such files are written "
                       "by tabi run --log",
                       TBI_START_SIZE);
}

static tabi_status read_all(tabi_recording *r, tabi_error *err) {
  tabi_status status = read_start(r, err);
  uint64_t offset = TBI_START_SIZE;
  for (uint32_t number = 0; status == TABI_OK && offset < r->size; ++number) {
    uint64_t before = offset;
    status = read_chunk(r, number, &offset, err);
    if (offset == before) break;
  }
  if (status != TABI_OK) return status;
  if (r->samples.count > 0 && r->snapshots.count > 0) return TABI_OK;
  return tbi_error_set(err, TABI_ERR_PARSE, (tabi_place){r->path, 1},
                       "cut off before its first snapshot; run the scene again");
}

/* -- opening and closing */

static tabi_recording *opened(tabi_recording *r, const char *path, tabi_error *err) {
  r->piece = -1;
  tbi_crc_init(&r->crc);
  r->path = malloc(strlen(path) + 1);
  if (r->path) memcpy(r->path, path, strlen(path) + 1);
  tabi_status status = r->path ? read_all(r, err) : tbi_error_memory(err);
  if (status == TABI_OK) return r;
  tabi_recording_close(r);
  return NULL;
}

tabi_recording *tabi_recording_open_bytes(const void *bytes, size_t size, const char *path,
                                          tabi_error *err) {
  TBI_ASSERT(path && (bytes || size == 0));
  tabi_recording *r = calloc(1, sizeof *r);
  if (!r) {
    (void)tbi_error_memory(err);
    return NULL;
  }
  r->fd = -1;
  r->bytes = bytes;
  r->size = size;
  return opened(r, path, err);
}

tabi_recording *tabi_recording_open(const char *path, tabi_error *err) {
  TBI_ASSERT(path);
  const tabi_place place = {path, 1};
  tabi_recording *r = calloc(1, sizeof *r);
  if (!r) {
    (void)tbi_error_memory(err);
    return NULL;
  }
  struct stat info;
  r->fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (r->fd < 0) {
    (void)tbi_file_fail(err, place, "open", errno);
  } else if (fstat(r->fd, &info) != 0) {
    (void)tbi_file_fail(err, place, "read", errno);
  } else if (!S_ISREG(info.st_mode)) {
    (void)tbi_error_set(err, TABI_ERR_FILE, place, "cannot read: not a regular file");
  } else {
    r->size = (uint64_t)info.st_size;
    return opened(r, path, err);
  }
  tabi_recording_close(r);
  return NULL;
}

void tabi_recording_close(tabi_recording *r) {
  if (!r) return;
  if (r->fd >= 0) (void)close(r->fd);
  free(r->path);
  free(r->head);
  free(r->set);
  free(r->samples.item);
  free(r->snapshots.item);
  free(r->chunk);
  free(r->word);
  free(r->buffers.state);
  free(r->buffers.balance);
  free(r->buffers.effort);
  free(r->buffers.contact);
  free(r);
}

tabi_recording_info tabi_recording_get_info(const tabi_recording *r) {
  TBI_ASSERT(r);
  return r->info;
}

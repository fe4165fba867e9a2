/* write.c - a log while it is written.
 *
 * Samples are gathered in memory as one chunk, which is written when it is full, when half a second
 * has passed, and before a snapshot.  A chunk is written by one system call if possible, so a
 * killed run leaves whole chunks and at most one incomplete chunk, which readers ignore. */
#include "base/assertion.h"
#include "base/error.h"
#include "io/file.h"
#include "record/record.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define CHUNK_BYTES    ((size_t)128 * 1024)
#define FLUSH_SECONDS  0.5
#define MAGIC_BYTES    8   /* with which logs of all versions begin */
#define SNAPSHOT_EVERY 0.5 /* s of the simulation */

struct tabi_recorder {
  int fd;
  char *path;
  tabi_world *world;
  tabi_observer *observer;
  int32_t every;
  int64_t snapshot_every; /* steps */
  tbi_sample_shape shape;
  tbi_crc crc;
  tabi_error error; /* the first, which stays */
  uint32_t number;  /* of the next chunk */
  int64_t samples;  /* written in all */
  double flushed;   /* s, time of the last flush */

  /* the chunk of samples: room for its head, then its payload */
  unsigned char *chunk;
  size_t used, capacity;
  int64_t first, last;
  uint32_t count;
  uint64_t *word, *before; /* this sample and the one before it in the chunk, then zeros */
  size_t nword, nbefore;   /* words of them that may be other than zero */
  size_t max_contacts;

  uint64_t *state, *zero; /* of a snapshot */
  unsigned char *packed;
  size_t state_words;
  int64_t saved; /* step of the last snapshot */
};

static double now(void) {
  struct timespec t;
  (void)clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static tabi_status fail(tabi_recorder *r, const char *action, int code) {
  return tbi_file_fail(&r->error, (tabi_place){r->path, 1}, action, code);
}

/* A world that was restored or reset, or not stepped, has no place in the log. */
static tabi_status fail_order(tabi_recorder *r, int64_t step) {
  return tbi_error_set(
      &r->error, TABI_ERR_ARGUMENT, (tabi_place){r->path, 1},
      "a sample of step %lld after one of step %lld; a log needs its steps in their "
      "order: close it before the world goes back",
      (long long)step, (long long)r->last);
}

static tabi_status write_all(tabi_recorder *r, const unsigned char *bytes, size_t size) {
  while (size > 0) {
    ssize_t n = write(r->fd, bytes, size);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return fail(r, "write", errno);
    if (n == 0) return fail(r, "write", ENOSPC);
    bytes += n;
    size -= (size_t)n;
  }
  return TABI_OK;
}

/* A payload with room for the chunk's head before it. */
static tabi_status write_chunk(tabi_recorder *r, tbi_chunk_kind kind, unsigned char *bytes,
                               size_t payload) {
  TBI_ASSERT(r->fd >= 0 && payload <= UINT32_MAX);
  tbi_chunk chunk = {.kind = kind, .size = (uint32_t)payload, .number = r->number++};
  tbi_chunk_seal(&r->crc, chunk, bytes + TBI_CHUNK_SIZE, bytes);
  return write_all(r, bytes, TBI_CHUNK_SIZE + payload);
}

/* -- the head */

/* Bytes that grow at their end. */
typedef struct buffer {
  unsigned char *bytes;
  size_t used, capacity;
  bool failed;
} buffer;

static void append(buffer *g, const void *bytes, size_t size) {
  if (g->failed) return;
  if (size > g->capacity - g->used) {
    size_t capacity = 2 * (g->used + size);
    unsigned char *more = realloc(g->bytes, capacity);
    g->failed = !more;
    if (!more) return;
    g->bytes = more;
    g->capacity = capacity;
  }
  memcpy(g->bytes + g->used, bytes, size);
  g->used += size;
}

/* Its length, the text, and a zero byte. */
static void append_bytes(buffer *g, const char *text, size_t size) {
  const uint32_t length = (uint32_t)size;
  append(g, &length, sizeof length);
  append(g, text, size);
  append(g, "", 1);
}

static void append_text(buffer *g, const char *text) { append_bytes(g, text, strlen(text)); }

static tabi_status write_head(tabi_recorder *r, const tabi_scene *scene) {
  tabi_scene_source source = tabi_scene_get_source(scene);
  tabi_world_def def = tabi_world_get_def(r->world);
  const int32_t numbers[TBI_HEAD_NUMBERS] = {
      [TBI_HEAD_TABI_VERSION] = TABI_VERSION,
      [TBI_HEAD_NQ] = r->shape.nq,
      [TBI_HEAD_NV] = r->shape.nv,
      [TBI_HEAD_SENSORS] = r->shape.sensors,
      [TBI_HEAD_EVERY] = r->every,
      [TBI_HEAD_SETTINGS] = source.nset,
      [TBI_HEAD_ROBOTS] = r->shape.robots,
      [TBI_HEAD_SHAPES] = r->shape.shapes,
      [TBI_HEAD_LINKS] = r->shape.links,
      [TBI_HEAD_JOINTS] = r->shape.joints,
  };
  const uint64_t hash = tbi_model_hash(tabi_scene_model(scene));
  static const unsigned char room[TBI_CHUNK_SIZE] = {0};
  buffer g = {0};
  append(&g, room, sizeof room);
  append(&g, numbers, sizeof numbers);
  append(&g, &def.timestep, sizeof def.timestep);
  append(&g, &hash, sizeof hash);
  append_text(&g, tabi_contact_name(def.contact));
  append_text(&g, tabi_integrator_name(def.integrator));
  append_text(&g, source.path);
  append_text(&g, tabi_scene_name(scene));
  append_bytes(&g, source.text, source.size);
  for (int32_t i = 0; i < source.nset; ++i)
    append_text(&g, source.set[i]);
  unsigned char start[TBI_START_SIZE];
  tbi_record_start(&r->crc, start);
  tabi_status status = g.failed ? tbi_error_memory(&r->error) : write_all(r, start, sizeof start);
  if (status == TABI_OK) status = write_chunk(r, TBI_CHUNK_HEAD, g.bytes, g.used - TBI_CHUNK_SIZE);
  free(g.bytes);
  return status;
}

/* -- samples and snapshots */

/* bytes of a chunk in which there is room for a sample of so many words */
static size_t chunk_capacity(size_t words) {
  size_t min = TBI_CHUNK_SIZE + TBI_SAMPLES_SIZE + sizeof(uint32_t) + tbi_pack_bound(words);
  return min > CHUNK_BYTES ? min : CHUNK_BYTES;
}

static tabi_status flush_samples(tabi_recorder *r) {
  r->flushed = now();
  if (r->count == 0) return TABI_OK;
  unsigned char *payload = r->chunk + TBI_CHUNK_SIZE;
  const uint32_t counts[2] = {r->count, 0};
  memcpy(payload, &r->first, sizeof r->first);
  memcpy(payload + 8, &r->last, sizeof r->last);
  memcpy(payload + 16, counts, sizeof counts);
  tabi_status status = write_chunk(r, TBI_CHUNK_SAMPLES, r->chunk, r->used - TBI_CHUNK_SIZE);
  r->used = TBI_CHUNK_SIZE + TBI_SAMPLES_SIZE;
  r->count = 0;
  memset(r->before, 0, sizeof *r->before * r->nbefore);
  r->nbefore = 0;
  return status;
}

/* Memory for samples of a world that has grown: what is there stays. */
static bool grow_samples(tabi_recorder *r) {
  size_t contacts = (size_t)tabi_world_get_def(r->world).max_contacts;
  size_t words = tbi_sample_words(&r->shape, contacts);
  size_t capacity = chunk_capacity(words);
  unsigned char *chunk = capacity > r->capacity ? realloc(r->chunk, capacity) : r->chunk;
  if (!chunk) return false;
  r->chunk = chunk;
  if (capacity > r->capacity) r->capacity = capacity;
  uint64_t **list[] = {&r->word, &r->before};
  for (int i = 0; i < 2; ++i) {
    size_t had = tbi_sample_words(&r->shape, r->max_contacts);
    uint64_t *grown = realloc(*list[i], words * sizeof *grown);
    if (!grown) return false;
    memset(grown + had, 0, (words - had) * sizeof *grown);
    *list[i] = grown;
  }
  r->max_contacts = contacts;
  return true;
}

static tabi_status add_sample(tabi_recorder *r) {
  const tabi_sample *sample = tabi_observer_look(r->observer);
  if (r->samples > 0 && sample->step <= r->last) return fail_order(r, sample->step);
  size_t count = tbi_sample_words(&r->shape, (size_t)sample->ncontact);
  if ((size_t)sample->ncontact > r->max_contacts && !grow_samples(r))
    return tbi_error_memory(&r->error);
  if (r->capacity - r->used < sizeof(uint32_t) + tbi_pack_bound(count)) {
    tabi_status status = flush_samples(r);
    if (status != TABI_OK) return status;
  }
  tbi_sample_encode(&r->shape, sample, r->word);
  const uint32_t words = (uint32_t)count;
  memcpy(r->chunk + r->used, &words, sizeof words);
  r->used += sizeof words;
  r->used += tbi_pack(r->word, r->before, count, r->chunk + r->used);
  TBI_ASSERT(r->used <= r->capacity);
  // words of contacts that ended become zero, against which new contacts are packed
  if (r->nword > count) memset(r->word + count, 0, sizeof *r->word * (r->nword - count));
  uint64_t *taken = r->word;
  r->word = r->before;
  r->before = taken;
  r->nword = r->nbefore;
  r->nbefore = count;
  r->last = sample->step;
  if (r->count == 0) r->first = r->last;
  ++r->count;
  ++r->samples;
  return TABI_OK;
}

/* Memory for a snapshot as large as the world is. */
static bool have_snapshot(tabi_recorder *r) {
  size_t words = (tabi_world_snapshot_size(r->world) + 7) / 8;
  if (words == r->state_words) return true;
  free(r->state);
  free(r->zero);
  free(r->packed);
  r->state = calloc(words, sizeof *r->state);
  r->zero = calloc(words, sizeof *r->zero);
  r->packed = malloc(TBI_CHUNK_SIZE + TBI_SNAPSHOT_SIZE + tbi_pack_bound(words));
  r->state_words = words;
  return r->state && r->zero && r->packed;
}

static tabi_status add_snapshot(tabi_recorder *r) {
  tabi_status status = flush_samples(r);
  if (status != TABI_OK) return status;
  if (!have_snapshot(r)) return tbi_error_memory(&r->error);
  const uint64_t bytes = tabi_world_snapshot_size(r->world);
  r->saved = tabi_world_steps(r->world);
  tabi_world_save(r->world, r->state);
  unsigned char *payload = r->packed + TBI_CHUNK_SIZE;
  memcpy(payload, &r->saved, sizeof r->saved);
  memcpy(payload + sizeof r->saved, &bytes, sizeof bytes);
  size_t size = tbi_pack(r->state, r->zero, r->state_words, payload + TBI_SNAPSHOT_SIZE);
  return write_chunk(r, TBI_CHUNK_SNAPSHOT, r->packed, TBI_SNAPSHOT_SIZE + size);
}

tabi_status tabi_recorder_step(tabi_recorder *r, tabi_error *err) {
  TBI_ASSERT(r);
  tabi_status status = r->error.status;
  int64_t step = tabi_world_steps(r->world);
  if (status == TABI_OK && step % r->every == 0) status = add_sample(r);
  if (status == TABI_OK && step % r->snapshot_every == 0) status = add_snapshot(r);
  if (status == TABI_OK && now() - r->flushed > FLUSH_SECONDS) status = flush_samples(r);
  if (status != TABI_OK && err) *err = r->error;
  return status;
}

/* -- beginning and end */

static bool take_memory(tabi_recorder *r, const char *path) {
  size_t words = tbi_sample_words(&r->shape, r->max_contacts);
  r->capacity = chunk_capacity(words);
  r->used = TBI_CHUNK_SIZE + TBI_SAMPLES_SIZE;
  r->path = malloc(strlen(path) + 1);
  if (r->path) memcpy(r->path, path, strlen(path) + 1);
  r->chunk = malloc(r->capacity);
  r->word = calloc(words, sizeof *r->word);
  r->before = calloc(words, sizeof *r->before);
  return r->path && r->chunk && r->word && r->before && have_snapshot(r);
}

static void destroy(tabi_recorder *r) {
  if (r->fd >= 0) (void)close(r->fd);
  tabi_observer_destroy(r->observer);
  free(r->path);
  free(r->chunk);
  free(r->word);
  free(r->before);
  free(r->state);
  free(r->zero);
  free(r->packed);
  free(r);
}

static tabi_status refuse(tabi_recorder *r, const char *why) {
  return tbi_error_set(&r->error, TABI_ERR_ARGUMENT, (tabi_place){r->path, 1}, "%s", why);
}

/* Whether what the file holds may be lost: nothing, or the beginning of a log. */
static bool may_replace(const tabi_recorder *r) {
  unsigned char wanted[TBI_START_SIZE];
  unsigned char found[TBI_START_SIZE];
  tbi_record_start(&r->crc, wanted);
  ssize_t size = pread(r->fd, found, MAGIC_BYTES, 0);
  return size <= 0 || memcmp(found, wanted, (size_t)size) == 0;
}

/* Opens the file without touching what is in it, until it is known to be ours.  A file system
 * without locks is trusted. */
static tabi_status open_file(tabi_recorder *r) {
  struct stat there;
  r->fd = open(r->path, O_RDWR | O_CREAT | O_CLOEXEC | O_NONBLOCK | O_NOCTTY, 0666);
  if (r->fd < 0 && errno == EACCES) {
    /* what may be written but not read cannot be looked at */
    r->fd = open(r->path, O_WRONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
  }
  if (r->fd < 0) return fail(r, "open", errno);
  if (fstat(r->fd, &there) != 0) return fail(r, "open", errno);
  if (S_ISCHR(there.st_mode)) return TABI_OK;
  if (!S_ISREG(there.st_mode)) return refuse(r, "is no regular file; a log is read again");
  if (flock(r->fd, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK)
    return refuse(r, "is being written by another process; wait for it, or give another name");
  if (!may_replace(r)) return refuse(r, "exists and is no log; remove it, or give another name");
  return ftruncate(r->fd, 0) == 0 ? TABI_OK : fail(r, "write", errno);
}

static tabi_status begin(tabi_recorder *r, const tabi_scene *scene) {
  tabi_status status = open_file(r);
  if (status == TABI_OK) status = write_head(r, scene);
  if (status == TABI_OK) status = add_sample(r);
  return status == TABI_OK ? add_snapshot(r) : status;
}

tabi_recorder *tabi_recorder_create(const char *path, const tabi_scene *scene, tabi_world *world,
                                    tabi_error *err) {
  TBI_ASSERT(path && scene && world);
  if (tbi_record_check_world(scene, world, err) != TABI_OK) return NULL;
  tabi_world_def def = tabi_world_get_def(world);
  tabi_recorder *r = calloc(1, sizeof *r);
  if (!r) {
    (void)tbi_error_memory(err);
    return NULL;
  }
  r->fd = -1;
  r->world = world;
  r->every = tabi_scene_get_log(scene).every;
  r->shape = tbi_sample_shape_of(scene);
  r->max_contacts = (size_t)def.max_contacts;
  TBI_ASSERT(r->every >= 1 && def.timestep > 0);
  double interval = ceil(SNAPSHOT_EVERY / def.timestep / r->every);
  r->snapshot_every = (int64_t)interval * r->every;
  tbi_crc_init(&r->crc);
  r->observer = tabi_observer_create(scene, world, &r->error);
  tabi_status status = r->observer ? TABI_OK : r->error.status;
  if (r->observer) status = take_memory(r, path) ? begin(r, scene) : tbi_error_memory(&r->error);
  if (status == TABI_OK) return r;
  if (err) *err = r->error;
  destroy(r);
  return NULL;
}

/* The last state is written whatever its step is, so that a run can be resumed from it. */
static tabi_status finish(tabi_recorder *r) {
  int64_t step = tabi_world_steps(r->world);
  tabi_status status = r->error.status;
  if (status == TABI_OK && step % r->every != 0) status = add_sample(r);
  if (status == TABI_OK && r->saved != step) status = add_snapshot(r);
  if (status != TABI_OK) return status;
  unsigned char end[TBI_CHUNK_SIZE + sizeof r->samples];
  memcpy(end + TBI_CHUNK_SIZE, &r->samples, sizeof r->samples);
  status = write_chunk(r, TBI_CHUNK_END, end, sizeof r->samples);
  if (status != TABI_OK) return status;
  int code = close(r->fd);
  r->fd = -1;
  return code == 0 ? TABI_OK : fail(r, "write", errno);
}

tabi_status tabi_recorder_close(tabi_recorder *r, tabi_error *err) {
  if (!r) return TABI_OK;
  tabi_status status = finish(r);
  if (status != TABI_OK && err) *err = r->error;
  destroy(r);
  return status;
}

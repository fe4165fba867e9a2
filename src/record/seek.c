/* seek.c - samples, snapshots and the scene of a log that is open.
 *
 * A sample is stored as the difference from the one before it in its chunk, so a chunk is unpacked
 * from its start up to the sample that is wanted; further samples are unpacked from there. */
#include "base/assertion.h"
#include "base/error.h"
#include "record/recording.h"

#include <stdlib.h>
#include <string.h>

typedef int64_t key_fn(const tbi_piece *piece);

static int64_t first_step(const tbi_piece *piece) { return piece->first; }
static int64_t first_sample(const tbi_piece *piece) { return piece->sample; }

/* The last piece whose key, by which they are sorted, is at most a value, or -1. */
static int64_t find_last(const tbi_pieces *pieces, key_fn *key, int64_t value) {
  int64_t low = 0;
  int64_t high = pieces->count;
  while (low < high) {
    int64_t middle = low + (high - low) / 2;
    if (key(&pieces->item[middle]) <= value) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low - 1;
}

/* The payload of a piece, checked again: the file may have changed since it was opened. */
static tabi_status fetch_piece(tabi_recording *r, const tbi_piece *piece, tabi_error *err) {
  unsigned char bytes[TBI_CHUNK_SIZE];
  tbi_chunk chunk = {0};
  r->piece = -1;
  TBI_ASSERT(piece->offset >= TBI_START_SIZE + TBI_CHUNK_SIZE);
  tabi_status status = tbi_recording_reserve_chunk(r, piece->size, err);
  if (status != TABI_OK) return status;
  status = tbi_recording_fetch(r, piece->offset - TBI_CHUNK_SIZE, bytes, sizeof bytes, err);
  if (status == TABI_OK) status = tbi_recording_fetch(r, piece->offset, r->chunk, piece->size, err);
  if (status != TABI_OK) return status;
  if (!tbi_chunk_open(&r->crc, bytes, &chunk) || chunk.size != piece->size ||
      chunk.checksum != tbi_crc_of(&r->crc, r->chunk, piece->size)) {
    return tbi_recording_damaged(r, piece->offset, "the file changed while it was read", err);
  }
  return TABI_OK;
}

/* Memory for a sample of so many words and for its contacts; new words are zero. */
static tabi_status reserve_words(tabi_recording *r, size_t count, tabi_error *err) {
  if (count <= r->word_capacity) return TABI_OK;
  size_t capacity = 2 * count;
  uint64_t *word = realloc(r->word, sizeof *word * capacity);
  if (word) r->word = word;
  size_t contacts = tbi_sample_contacts(capacity) + 1;
  tabi_sample_contact *contact = realloc(r->buffers.contact, sizeof *contact * contacts);
  if (contact) r->buffers.contact = contact;
  if (!word || !contact) return tbi_error_memory(err);
  memset(r->word + r->word_capacity, 0, sizeof *word * (capacity - r->word_capacity));
  r->word_capacity = capacity;
  return TABI_OK;
}

static tabi_status unpack_next(tabi_recording *r, const tbi_piece *piece, tabi_error *err) {
  uint32_t count = 0;
  TBI_ASSERT(r->used <= piece->size);
  size_t left = piece->size - r->used;
  const char *bad = "this is no sample";
  if (left < sizeof count) return tbi_recording_damaged(r, piece->offset + r->used, bad, err);
  memcpy(&count, r->chunk + r->used, sizeof count);
  left -= sizeof count;
  if (count / 2 > left) return tbi_recording_damaged(r, piece->offset + r->used, bad, err);
  tabi_status status = reserve_words(r, count, err);
  if (status != TABI_OK) return status;
  size_t used = tbi_unpack(r->chunk + r->used + sizeof count, left, r->word, count);
  if (used == 0) return tbi_recording_damaged(r, piece->offset + r->used, bad, err);
  memset(r->word + count, 0, sizeof *r->word * (r->word_capacity - count));
  r->word_count = count;
  r->used += sizeof count + used;
  ++r->at;
  return TABI_OK;
}

static tabi_status begin_piece(tabi_recording *r, int64_t index, tabi_error *err) {
  TBI_ASSERT(index >= 0 && index < r->samples.count);
  tabi_status status = fetch_piece(r, &r->samples.item[index], err);
  if (status != TABI_OK) return status;
  r->piece = index;
  r->at = r->samples.item[index].sample;
  r->used = TBI_SAMPLES_SIZE;
  if (r->word) memset(r->word, 0, sizeof *r->word * r->word_capacity);
  return TABI_OK;
}

tabi_status tabi_recording_sample(tabi_recording *r, int64_t index, tabi_sample *sample,
                                  tabi_error *err) {
  TBI_ASSERT(r && sample);
  if (index < 0 || index >= r->info.nsample) {
    return tbi_error_set(err, TABI_ERR_ARGUMENT, (tabi_place){r->path, 1},
                         "sample %lld of a log with %lld", (long long)index,
                         (long long)r->info.nsample);
  }
  int64_t piece = find_last(&r->samples, first_sample, index);
  TBI_ASSERT(piece >= 0 && index < r->samples.item[piece].sample + r->samples.item[piece].count);
  tabi_status status = TABI_OK;
  if (piece != r->piece || r->at > index) status = begin_piece(r, piece, err);
  const tbi_piece *from = &r->samples.item[piece];
  while (status == TABI_OK && r->at <= index)
    status = unpack_next(r, from, err);
  bool good = status == TABI_OK && tbi_sample_decode(&r->shape, r->word, r->word_count,
                                                     r->info.timestep, &r->buffers, sample);
  if (good) good = sample->step >= from->first && sample->step <= from->last;
  if (status == TABI_OK && !good) {
    status = tbi_recording_damaged(r, from->offset, "this is no sample", err);
  }
  if (status != TABI_OK) r->piece = -1;
  return status;
}

int64_t tabi_recording_find(tabi_recording *r, int64_t step) {
  TBI_ASSERT(r);
  int64_t piece = find_last(&r->samples, first_step, step);
  if (piece < 0) return TABI_NONE;
  int64_t found = r->samples.item[piece].sample;
  int64_t end = found + r->samples.item[piece].count;
  tabi_sample sample = {0};
  for (int64_t i = found; i < end; ++i) {
    if (tabi_recording_sample(r, i, &sample, NULL) != TABI_OK || sample.step > step) break;
    found = i;
  }
  return found;
}

tabi_status tabi_recording_snapshot(tabi_recording *r, int64_t step, void *snapshot, int64_t *at,
                                    tabi_error *err) {
  TBI_ASSERT(r && snapshot && at);
  int64_t index = find_last(&r->snapshots, first_step, step);
  if (index < 0) {
    return tbi_error_set(err, TABI_ERR_ARGUMENT, (tabi_place){r->path, 1}, "the log begins at %g s",
                         (double)r->info.first * r->info.timestep);
  }
  const tbi_piece *piece = &r->snapshots.item[index];
  tabi_status status = fetch_piece(r, piece, err);
  if (status != TABI_OK) return status;
  uint64_t bytes = 0;
  memcpy(&bytes, r->chunk + sizeof(int64_t), sizeof bytes);
  size_t words = ((size_t)bytes + 7) / 8;
  uint64_t *state = calloc(words + 1, sizeof *state);
  if (!state) return tbi_error_memory(err);
  size_t size = piece->size - TBI_SNAPSHOT_SIZE;
  if (tbi_unpack(r->chunk + TBI_SNAPSHOT_SIZE, size, state, words) != size) {
    status = tbi_recording_damaged(r, piece->offset, "this is no snapshot", err);
  } else {
    memset(snapshot, 0, r->info.snapshot_size);
    memcpy(snapshot, state, (size_t)bytes);
    *at = piece->first;
  }
  free(state);
  return status;
}

static bool same_shape(const tbi_sample_shape *a, const tbi_sample_shape *b) {
  return a->nq == b->nq && a->nv == b->nv && a->sensors == b->sensors && a->robots == b->robots &&
         a->shapes == b->shapes && a->links == b->links && a->joints == b->joints;
}

static tabi_status check_model(const tabi_recording *r, const tabi_scene *scene, tabi_error *err) {
  tbi_sample_shape shape = tbi_sample_shape_of(scene);
  if (same_shape(&shape, &r->shape) &&
      tbi_model_hash(tabi_scene_model(scene)) == r->info.model_hash) {
    return TABI_OK;
  }
  return tbi_error_set(err, TABI_ERR_MODEL, (tabi_place){r->path, 1},
                       "the robots or meshes of '%.150s' are not what they were when the log was "
                       "written; put the old files back or run the scene again",
                       r->info.source.path);
}

tabi_scene *tabi_recording_scene(const tabi_recording *r, const tabi_scene_def *def,
                                 tabi_error *err) {
  TBI_ASSERT(r);
  tabi_scene_def whole = def ? *def : tabi_scene_def_default();
  const tabi_scene_source *source = &r->info.source;
  int32_t more = def ? def->nset : 0;
  const char **set = calloc((size_t)source->nset + (size_t)more + 1, sizeof *set);
  if (!set) {
    (void)tbi_error_memory(err);
    return NULL;
  }
  for (int32_t i = 0; i < source->nset; ++i)
    set[i] = source->set[i];
  for (int32_t i = 0; i < more; ++i)
    set[source->nset + i] = def->set[i];
  whole.skip_plugins = true;
  whole.set = set;
  whole.nset = source->nset + more;
  tabi_scene *scene = tabi_scene_load_text(source->text, source->size, source->path, &whole, err);
  free(set);
  if (!scene || more > 0 || check_model(r, scene, err) == TABI_OK) return scene;
  tabi_scene_destroy(scene);
  return NULL;
}

/* results.c - rows of a study in an SQLite file.
 *
 *   table study   key, value: text of the study and of its scene, their paths, a digest of both, a
 *                 hash of the model
 *   table runs    id, seed, status, hash, engine, version, seconds, p_NAME .., m_NAME ..
 *
 * Every row is a transaction in the write-ahead log: it lasts when the process is killed. */
#include "study/results.h"

#include "base/assertion.h"
#include "base/error.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SQL_SIZE ((size_t)1 << 16) /* of the longest statement */

/* -- SQL */

tabi_status tbi_results_fail(const tabi_results *results, tabi_error *err) {
  return tbi_error_set(err, TABI_ERR_FILE, (tabi_place){results->path, 1}, "%s",
                       results->db ? sqlite3_errmsg(results->db) : "out of memory");
}

static bool execute(const tabi_results *r, const char *sql, tabi_error *err) {
  if (sqlite3_exec(r->db, sql, NULL, NULL, NULL) == SQLITE_OK) return true;
  tbi_results_fail(r, err);
  return false;
}

static sqlite3_stmt *prepare(const tabi_results *r, const char *sql, tabi_error *err) {
  sqlite3_stmt *statement = NULL;
  if (sqlite3_prepare_v2(r->db, sql, -1, &statement, NULL) != SQLITE_OK) tbi_results_fail(r, err);
  return statement;
}

static bool put_text(const tabi_results *r, const char *key, const char *value, tabi_error *err) {
  sqlite3_stmt *s = prepare(r, "INSERT INTO study VALUES (?, ?)", err);
  if (!s) return false;
  sqlite3_bind_text(s, 1, key, -1, SQLITE_STATIC);
  sqlite3_bind_text(s, 2, value, -1, SQLITE_STATIC);
  bool good = sqlite3_step(s) == SQLITE_DONE;
  if (!good) tbi_results_fail(r, err);
  sqlite3_finalize(s);
  return good;
}

/* The caller frees; NULL: there is none. */
static char *get_text(const tabi_results *r, const char *key) {
  char *copy = NULL;
  sqlite3_stmt *s = NULL;
  if (sqlite3_prepare_v2(r->db, "SELECT value FROM study WHERE key = ?", -1, &s, NULL) != SQLITE_OK)
    return NULL;
  sqlite3_bind_text(s, 1, key, -1, SQLITE_STATIC);
  if (sqlite3_step(s) == SQLITE_ROW) {
    const char *text = (const char *)sqlite3_column_text(s, 0);
    size_t size = text ? strlen(text) + 1 : 0;
    copy = text ? malloc(size) : NULL;
    if (copy) memcpy(copy, text, size);
  }
  sqlite3_finalize(s);
  return copy;
}

/* A statement that grows; what does not fit shows as a length beyond the size. */
typedef struct sql_text {
  char *text;
  size_t used;
} sql_text;

static void append(sql_text *sql, const char *before, const char *name, const char *after) {
  int n = sql->used < SQL_SIZE
              ? snprintf(sql->text + sql->used, SQL_SIZE - sql->used, "%s%s%s", before, name, after)
              : 0;
  sql->used += n > 0 ? (size_t)n : 0;
}

static void append_columns(sql_text *sql, const tabi_study *study, const char *type) {
  for (int32_t i = 0; i < study->nparameter; ++i)
    append(sql, ", p_", study->parameter[i].name, type);
  for (int32_t i = 0; i < study->nmeasure; ++i)
    append(sql, ", m_", study->measure[i].name, type);
}

/* -- what a file has */

static uint64_t digest(const tabi_study *study) {
  uint64_t hash = 0xcbf29ce484222325U;
  const char *texts[] = {study->text, study->scene_text};
  for (int i = 0; i < 2; ++i) {
    for (const char *at = texts[i]; *at; ++at)
      hash = (hash ^ (unsigned char)*at) * 0x100000001b3U;
    hash *= 0x100000001b3U;
  }
  return hash;
}

static void hash_text(uint64_t hash, char text[24]) {
  (void)snprintf(text, 24, "%016" PRIx64, hash);
}

/* In a transaction. */
static bool make_tables(tabi_results *r, tabi_error *err) {
  char text[24];
  char model[24];
  sql_text sql = {.text = malloc(SQL_SIZE)};
  if (!sql.text) return tbi_error_memory(err) == TABI_OK;
  hash_text(digest(r->study), text);
  hash_text(r->study->model, model);
  append(&sql, "CREATE TABLE runs (id INTEGER PRIMARY KEY, seed INTEGER, status TEXT, hash TEXT, ",
         "engine TEXT, version TEXT, seconds REAL", "");
  append_columns(&sql, r->study, "");
  append(&sql, ")", "", "");
  bool good = sql.used < SQL_SIZE &&
              execute(r, "CREATE TABLE study (key TEXT PRIMARY KEY, value TEXT)", err) &&
              execute(r, sql.text, err) && put_text(r, "digest", text, err) &&
              put_text(r, "model", model, err) && put_text(r, "study", r->study->text, err) &&
              put_text(r, "study_path", r->study->path, err) &&
              put_text(r, "scene", r->study->scene_text, err) &&
              put_text(r, "scene_path", r->study->scene, err);
  free(sql.text);
  return good;
}

static bool is_empty(const tabi_results *r) {
  sqlite3_stmt *s = NULL;
  if (sqlite3_prepare_v2(r->db, "SELECT 1 FROM sqlite_master", -1, &s, NULL) != SQLITE_OK)
    return false;
  bool empty = sqlite3_step(s) == SQLITE_DONE;
  sqlite3_finalize(s);
  return empty;
}

/* Why the file cannot be read as one of results. */
static tabi_status fail_to_read(const tabi_results *r, tabi_error *err) {
  int code = sqlite3_errcode(r->db);
  bool foreign = code == SQLITE_OK || code == SQLITE_DONE || code == SQLITE_ERROR ||
                 code == SQLITE_NOTADB; /* there is no such table, or no row in it */
  if (!foreign) return tbi_results_fail(r, err);
  return tbi_error_set(err, TABI_ERR_FILE, (tabi_place){r->path, 1}, "is no file of results");
}

static bool check_digest(const tabi_results *r, tabi_error *err) {
  char text[24];
  char *stored = get_text(r, "digest");
  hash_text(digest(r->study), text);
  bool same = stored && strcmp(stored, text) == 0;
  if (!stored) {
    (void)fail_to_read(r, err);
  } else if (!same) {
    tbi_error_set(err, TABI_ERR_FILE, (tabi_place){r->path, 1},
                  "holds results of another study, or of another state of its scene; give another "
                  "file");
  }
  free(stored);
  return same;
}

tabi_status tbi_results_check_model(const tabi_results *r, tabi_error *err) {
  char text[24];
  char *stored = r->count > 0 ? get_text(r, "model") : NULL;
  hash_text(r->study->model, text);
  bool same = !stored || strcmp(stored, text) == 0;
  free(stored);
  if (same) return TABI_OK;
  return tbi_error_set(err, TABI_ERR_FILE, (tabi_place){r->path, 1},
                       "holds runs of other robots: files of the scene have changed since; give "
                       "another file");
}

/* A new file gets its tables, by one of the processes that begin at the same time. */
static bool begin_file(tabi_results *r, tabi_error *err) {
  return execute(r, "BEGIN IMMEDIATE", err) &&
         (is_empty(r) ? make_tables(r, err) : check_digest(r, err)) && execute(r, "COMMIT", err);
}

static bool prepare_rows(tabi_results *r, tabi_error *err) {
  sql_text sql = {.text = malloc(SQL_SIZE)};
  if (!sql.text) return tbi_error_memory(err) == TABI_OK;
  append(&sql, "INSERT INTO runs (id, seed, status, hash, engine, version, seconds", "", "");
  append_columns(&sql, r->study, "");
  append(&sql, ") VALUES (?, ?, ?, ?, ?, ?, ?", "", "");
  for (int32_t i = 0; i < r->study->nparameter + r->study->nmeasure; ++i)
    append(&sql, ", ?", "", "");
  /* a row that another process has added meanwhile is the same */
  append(&sql, ") ON CONFLICT (id) DO NOTHING", "", "");
  r->insert = prepare(r, sql.text, err);
  sql.used = 0;
  append(&sql, "SELECT status, hash, seconds, engine, version", "", "");
  for (int32_t i = 0; i < r->study->nmeasure; ++i)
    append(&sql, ", m_", r->study->measure[i].name, "");
  append(&sql, " FROM runs WHERE id = ?", "", "");
  r->select = r->insert ? prepare(r, sql.text, err) : NULL;
  free(sql.text);
  return r->select != NULL;
}

static bool find_done(tabi_results *r, tabi_error *err) {
  int64_t runs = r->study->design.runs;
  r->done = calloc((size_t)(runs / 8 + 1), 1);
  if (!r->done) return tbi_error_memory(err) == TABI_OK;
  sqlite3_stmt *s = prepare(r, "SELECT id FROM runs", err);
  if (!s) return false;
  while (sqlite3_step(s) == SQLITE_ROW) {
    int64_t run = sqlite3_column_int64(s, 0);
    if (run < 0 || run >= runs) continue;
    r->done[run / 8] |= (uint8_t)(1U << (run % 8));
    ++r->count;
  }
  sqlite3_finalize(s);
  return true;
}

/* -- life */

static tabi_results *open_file(const char *path, int flags, tabi_error *err) {
  tabi_results *r = calloc(1, sizeof *r);
  size_t size = strlen(path) + 1;
  char *copy = malloc(size);
  if (!r || !copy) {
    free(r);
    free(copy);
    tbi_error_memory(err);
    return NULL;
  }
  r->path = memcpy(copy, path, size);
  if (sqlite3_open_v2(path, &r->db, flags | SQLITE_OPEN_FULLMUTEX, NULL) == SQLITE_OK &&
      sqlite3_busy_timeout(r->db, 30000) == SQLITE_OK)
    return r;
  tbi_results_fail(r, err);
  tabi_results_close(r);
  return NULL;
}

tabi_results *tabi_results_create(const char *path, const tabi_study *study, tabi_error *err) {
  TBI_ASSERT(path && study);
  tabi_results *r = open_file(path, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, err);
  if (!r) return NULL;
  r->study = study;
  /* a file that is not SQLite's fails at the first statement */
  if (execute(r, "PRAGMA journal_mode = WAL", err) &&
      execute(r, "PRAGMA synchronous = NORMAL", err) && begin_file(r, err) &&
      prepare_rows(r, err) && find_done(r, err))
    return r;
  tabi_results_close(r);
  return NULL;
}

/* The study as it was, also where its files have changed since. */
static tabi_study *stored_study(const tabi_results *r, const tabi_scene_def *def, tabi_error *err) {
  char *text = get_text(r, "study");
  char *path = text ? get_text(r, "study_path") : NULL;
  tabi_study *study = NULL;
  if (!path) {
    (void)fail_to_read(r, err);
  } else {
    study = tabi_study_load_text(text, strlen(text), path, def, err);
  }
  free(text);
  free(path);
  return study;
}

tabi_results *tabi_results_open(const char *path, const tabi_scene_def *def, tabi_error *err) {
  TBI_ASSERT(path);
  tabi_results *r = open_file(path, SQLITE_OPEN_READWRITE, err);
  if (!r) return NULL;
  r->study = r->own = stored_study(r, def, err);
  if (r->study && check_digest(r, err) && prepare_rows(r, err) && find_done(r, err)) return r;
  tabi_results_close(r);
  return NULL;
}

/* The file alone then has all rows, and may be read where nobody may write.  While another process
 * has it open, the log stays for that one to fold. */
static void fold_log(sqlite3 *db) {
  (void)sqlite3_busy_timeout(db, 0);
  (void)sqlite3_exec(db, "PRAGMA journal_mode = DELETE", NULL, NULL, NULL);
}

void tabi_results_close(tabi_results *results) {
  if (!results) return;
  sqlite3_finalize(results->insert);
  sqlite3_finalize(results->select);
  if (results->db) fold_log(results->db);
  sqlite3_close(results->db);
  tabi_study_destroy(results->own);
  free(results->done);
  free(results->path);
  free(results);
}

const tabi_study *tabi_results_study(const tabi_results *results) {
  TBI_ASSERT(results);
  return results->study;
}

/* -- rows */

bool tabi_results_has(const tabi_results *results, int64_t run) {
  TBI_ASSERT(results && run >= 0 && run < results->study->design.runs);
  return results->done[run / 8] >> (run % 8) & 1;
}

int64_t tabi_results_count(const tabi_results *results) {
  TBI_ASSERT(results);
  return results->count;
}

static void bind_number(sqlite3_stmt *s, int place, double value) {
  if (isnan(value)) {
    sqlite3_bind_null(s, place);
  } else {
    sqlite3_bind_double(s, place, value);
  }
}

static void bind_values(sqlite3_stmt *s, const tabi_study *study, const tabi_study_row *row) {
  int place = 8;
  for (int32_t i = 0; i < study->nparameter; ++i) {
    const char *choice = tabi_study_choice(study, row->run, i);
    if (choice) {
      sqlite3_bind_text(s, place++, choice, -1, SQLITE_STATIC);
    } else {
      bind_number(s, place++, tabi_study_value(study, row->run, i));
    }
  }
  for (int32_t i = 0; i < study->nmeasure; ++i)
    bind_number(s, place++, row->measure[i]);
}

tabi_status tabi_results_add(tabi_results *results, const tabi_study_row *row, tabi_error *err) {
  TBI_ASSERT(results && row && row->status && row->measure);
  if (tabi_results_has(results, row->run)) return TABI_OK;
  char hash[24];
  char version[24];
  sqlite3_stmt *s = results->insert;
  (void)snprintf(hash, sizeof hash, "%016" PRIx64, row->hash);
  (void)snprintf(version, sizeof version, "%d.%d.%d", TABI_VERSION / 10000,
                 TABI_VERSION / 100 % 100, TABI_VERSION % 100);
  sqlite3_bind_int64(s, 1, row->run);
  sqlite3_bind_int(s, 2, tabi_study_seed(results->study, row->run));
  sqlite3_bind_text(s, 3, row->status, -1, SQLITE_STATIC);
  sqlite3_bind_text(s, 4, hash, -1, SQLITE_STATIC);
  sqlite3_bind_text(s, 5, tabi_engine_name(row->engine), -1, SQLITE_STATIC);
  sqlite3_bind_text(s, 6, row->version[0] ? row->version : version, -1, SQLITE_STATIC);
  sqlite3_bind_double(s, 7, row->seconds);
  bind_values(s, results->study, row);
  bool good = sqlite3_step(s) == SQLITE_DONE;
  tabi_status status = good ? TABI_OK : tbi_results_fail(results, err);
  sqlite3_reset(s);
  if (!good) return status;
  results->done[row->run / 8] |= (uint8_t)(1U << (row->run % 8));
  ++results->count;
  return TABI_OK;
}

/* the word of the library, which lives as long as it */
static const char *known_status(const char *text) {
  static const char *const known[] = {"ok", "diverged", "failed"};
  for (int i = 0; i < 3; ++i) {
    if (text && strcmp(text, known[i]) == 0) return known[i];
  }
  return "failed";
}

static tabi_engine known_engine(const char *text) {
  bool batch = text && strcmp(text, tabi_engine_name(TABI_ENGINE_BATCH)) == 0;
  return batch ? TABI_ENGINE_BATCH : TABI_ENGINE_WORLD;
}

bool tabi_results_get(tabi_results *results, int64_t run, tabi_study_row *row) {
  TBI_ASSERT(results && row && row->measure);
  sqlite3_stmt *s = results->select;
  sqlite3_bind_int64(s, 1, run);
  bool found = sqlite3_step(s) == SQLITE_ROW;
  if (found) {
    const char *hash = (const char *)sqlite3_column_text(s, 1);
    row->run = run;
    row->status = known_status((const char *)sqlite3_column_text(s, 0));
    row->hash = hash ? strtoull(hash, NULL, 16) : 0;
    row->seconds = sqlite3_column_double(s, 2);
    row->engine = known_engine((const char *)sqlite3_column_text(s, 3));
    const char *version = (const char *)sqlite3_column_text(s, 4);
    (void)snprintf(row->version, sizeof row->version, "%s", version ? version : "");
    for (int32_t i = 0; i < results->study->nmeasure; ++i) {
      bool none = sqlite3_column_type(s, 5 + i) == SQLITE_NULL;
      row->measure[i] = none ? (double)NAN : sqlite3_column_double(s, 5 + i);
    }
  }
  sqlite3_reset(s);
  return found;
}

/* -- merging */

static bool equal(const tabi_study_row *a, const tabi_study_row *b, int32_t nmeasure) {
  for (int32_t i = 0; i < nmeasure; ++i) {
    bool same = a->measure[i] == b->measure[i] || (isnan(a->measure[i]) && isnan(b->measure[i]));
    if (!same) return false;
  }
  return a->hash == b->hash && a->engine == b->engine && strcmp(a->status, b->status) == 0;
}

static tabi_status merge_row(tabi_results *to, tabi_results *from, int64_t run,
                             tabi_study_row row[2], tabi_error *err) {
  if (!tabi_results_get(from, run, &row[0])) return tbi_results_fail(from, err);
  if (!tabi_results_has(to, run)) return tabi_results_add(to, &row[0], err);
  if (!tabi_results_get(to, run, &row[1])) return tbi_results_fail(to, err);
  if (equal(&row[0], &row[1], to->study->nmeasure)) return TABI_OK;
  return tbi_error_set(err, TABI_ERR_FILE, (tabi_place){from->path, 1},
                       "run %" PRId64 " differs from that in %s; both are kept as they are", run,
                       to->path);
}

/* All rows or none. */
static tabi_status merge_rows(tabi_results *to, tabi_results *from, tabi_error *err) {
  size_t width = (size_t)to->study->nmeasure;
  double *measure = calloc(2 * width + 1, sizeof *measure);
  tabi_study_row row[2] = {{.measure = measure}, {.measure = measure ? measure + width : NULL}};
  if (!measure) return tbi_error_memory(err);
  tabi_status status = execute(to, "BEGIN IMMEDIATE", err) ? TABI_OK : TABI_ERR_FILE;
  for (int64_t run = 0; run < to->study->design.runs && status == TABI_OK; ++run) {
    if (tabi_results_has(from, run)) status = merge_row(to, from, run, row, err);
  }
  if (status == TABI_OK && !execute(to, "COMMIT", err)) status = TABI_ERR_FILE;
  if (status != TABI_OK) {
    (void)sqlite3_exec(to->db, "ROLLBACK", NULL, NULL, NULL);
    free(to->done);
    to->done = NULL;
    to->count = 0;
    (void)find_done(to, NULL);
  }
  free(measure);
  return status;
}

tabi_status tabi_results_merge(tabi_results *results, const char *path, tabi_error *err) {
  TBI_ASSERT(results && path);
  tabi_error failed = {0};
  tabi_results *from = open_file(path, SQLITE_OPEN_READWRITE, &failed);
  if (from) from->study = results->study;
  bool good = from && check_digest(from, &failed) && prepare_rows(from, &failed) &&
              find_done(from, &failed);
  if (good) (void)merge_rows(results, from, &failed);
  tabi_results_close(from);
  if (err && failed.status != TABI_OK) *err = failed;
  return failed.status;
}

/* -- columns */

double *tbi_results_measure(tabi_results *results, int32_t measure, int64_t **run, int64_t *count,
                            tabi_error *err) {
  TBI_ASSERT(results && measure >= 0 && measure < results->study->nmeasure);
  char sql[256];
  const char *name = results->study->measure[measure].name;
  (void)snprintf(sql, sizeof sql, "SELECT id, m_%s FROM runs WHERE m_%s IS NOT NULL ORDER BY id",
                 name, name);
  double *value = calloc((size_t)results->count + 1, sizeof *value);
  *run = calloc((size_t)results->count + 1, sizeof **run);
  *count = 0;
  sqlite3_stmt *s = value && *run ? prepare(results, sql, err) : NULL;
  if (!s) {
    if (!value || !*run) tbi_error_memory(err);
    free(value);
    free(*run);
    return NULL;
  }
  while (*count < results->count && sqlite3_step(s) == SQLITE_ROW) {
    (*run)[*count] = sqlite3_column_int64(s, 0);
    value[(*count)++] = sqlite3_column_double(s, 1);
  }
  sqlite3_finalize(s);
  return value;
}

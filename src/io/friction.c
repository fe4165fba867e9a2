/* friction.c - stored friction problems, in the text layout of the Fclib and Siconos collections.
 *
 *   3                       spatial dimension
 *   nc                      contacts
 *   0 | 1                   W dense, row by row | as sparse 3x3 blocks
 *   rows  columns           3 nc each; dense storage says them twice
 *   ...                     W
 *   q (3 nc)  mu (nc)       what follows is not read
 *
 * Blocks: their number, rows and columns of blocks; cumulative row sizes; cumulative column sizes;
 * the lengths of the two index arrays, both arrays (row pointer, column index); then for each block
 * its running number and nine values, column by column.
 *
 * Line ends mean nothing.  Counts are held against the size of the file before memory is taken: a
 * number takes two bytes at least. */
#include "tabi/tabi_io.h"

#include "base/error.h"
#include "io/file.h"
#include "io/number.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define MAX_BYTES  ((size_t)512 * 1024 * 1024)
#define MAX_SHOWN  40
#define MAX_BLOCKS (INT32_MAX / 9)

typedef struct reading {
  const char *path;
  tabi_error *err;
  const char *at;  /* what is not read yet */
  int32_t line;    /* of the last number read */
  int32_t numbers; /* that can be in the file at most */
  int32_t nc, nblock, capacity;
  int32_t *row, *column;
  double *block, *q, *friction;
} reading;

static tabi_place here(const reading *r) { return (tabi_place){r->path, r->line}; }

static bool is_space(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }

/* The next number; `what` it is, and of which of them, for messages. */
static tabi_status next_number(reading *r, const char *what, int64_t which, double *value) {
  int32_t line = r->line;
  while (is_space(*r->at)) {
    line += *r->at == '\n';
    ++r->at;
  }
  r->line = line;
  size_t n = 0;
  while (r->at[n] != '\0' && !is_space(r->at[n]))
    n++;
  if (n == 0) {
    return tbi_error_set(r->err, TABI_ERR_PARSE, here(r),
                         "file ends before %s %lld; its counts do not fit what follows", what,
                         (long long)which);
  }
  int shown = (int)(n < MAX_SHOWN ? n : MAX_SHOWN);
  if (!tbi_number_read(r->at, n, value)) {
    return tbi_error_set(r->err, TABI_ERR_PARSE, here(r), "%s %lld: '%.*s' is not a number", what,
                         (long long)which, shown, r->at);
  }
  if (!isfinite(*value)) {
    return tbi_error_set(r->err, TABI_ERR_PARSE, here(r), "%s %lld: '%.*s' is not finite", what,
                         (long long)which, shown, r->at);
  }
  r->at += n;
  return TABI_OK;
}

static tabi_status next_numbers(reading *r, const char *what, double *values, int64_t count) {
  tabi_status status = TABI_OK;
  for (int64_t i = 0; i < count && status == TABI_OK; ++i)
    status = next_number(r, what, i, &values[i]);
  return status;
}

/* A whole number between low and high. */
static tabi_status next_count(reading *r, const char *what, int64_t low, int64_t high,
                              int32_t *count) {
  double value = 0;
  tabi_status status = next_number(r, what, 0, &value);
  if (status != TABI_OK) return status;
  if (value < (double)low || value > (double)high || value != floor(value)) {
    if (low == high) {
      return tbi_error_set(r->err, TABI_ERR_PARSE, here(r), "%s is %g, expected %lld", what, value,
                           (long long)low);
    }
    return tbi_error_set(r->err, TABI_ERR_PARSE, here(r),
                         "%s is %g, expected a whole number from %lld to %lld", what, value,
                         (long long)low, (long long)high);
  }
  *count = (int32_t)value;
  return TABI_OK;
}

/* The same number several times over. */
static tabi_status expect_count(reading *r, const char *what, int32_t expected) {
  int32_t count = 0;
  return next_count(r, what, expected, expected, &count);
}

/* Memory for nc contacts and nblock blocks, all zero. */
static tabi_status make_room(reading *r, int32_t nblock) {
  size_t nc = (size_t)r->nc;
  r->capacity = nblock;
  r->row = calloc(nc + 1, sizeof *r->row);
  r->column = calloc((size_t)nblock + 1, sizeof *r->column);
  r->block = calloc(9 * (size_t)nblock + 1, sizeof *r->block);
  r->q = calloc(3 * nc + 1, sizeof *r->q);
  r->friction = calloc(nc + 1, sizeof *r->friction);
  bool room = r->row && r->column && r->block && r->q && r->friction;
  return room ? TABI_OK : tbi_error_memory(r->err);
}

static bool is_zero(const double *block) {
  for (int k = 0; k < 9; ++k) {
    if (block[k] != 0) return false;
  }
  return true;
}

/* Three rows of a dense W, cut into blocks; blocks of zeros are dropped. */
static tabi_status read_dense_contact(reading *r, double *rows) {
  int64_t width = 3 * (int64_t)r->nc;
  tabi_status status = next_numbers(r, "value of W", rows, 3 * width);
  if (status != TABI_OK) return status;
  for (int32_t j = 0; j < r->nc; ++j) {
    double *block = r->block + 9 * (ptrdiff_t)r->nblock;
    for (int k = 0; k < 3; ++k)
      memcpy(block + (ptrdiff_t)3 * k, rows + k * width + 3 * (ptrdiff_t)j, 3 * sizeof *block);
    r->column[r->nblock] = j;
    if (!is_zero(block)) ++r->nblock;
  }
  return TABI_OK;
}

static tabi_status read_dense(reading *r) {
  tabi_status status = expect_count(r, "number of rows of W", 3 * r->nc);
  if (status == TABI_OK) status = expect_count(r, "number of columns of W", 3 * r->nc);
  if (status != TABI_OK) return status;
  /* a block more, as each is tried in its place */
  int64_t nblock = (int64_t)r->nc * r->nc + 1;
  if (nblock > MAX_BLOCKS || 9 * nblock - 9 > r->numbers) {
    return tbi_error_set(r->err, TABI_ERR_PARSE, here(r),
                         "a dense W of %d contacts does not fit into this file", r->nc);
  }
  status = make_room(r, (int32_t)nblock);
  if (status != TABI_OK) return status;
  double *rows = calloc(9 * (size_t)r->nc + 1, sizeof *rows);
  if (!rows) return tbi_error_memory(r->err);
  for (int32_t i = 0; i < r->nc && status == TABI_OK; ++i) {
    status = read_dense_contact(r, rows);
    r->row[i + 1] = r->nblock;
  }
  free(rows);
  return status;
}

static tabi_status expect_threes(reading *r, const char *what) {
  tabi_status status = TABI_OK;
  for (int32_t i = 1; i <= r->nc && status == TABI_OK; ++i)
    status = expect_count(r, what, 3 * i);
  return status;
}

static tabi_status read_index(reading *r) {
  tabi_status status = expect_count(r, "length of the row pointer", r->nc + 1);
  if (status == TABI_OK) status = expect_count(r, "length of the column index", r->nblock);
  if (status == TABI_OK) status = expect_count(r, "begin of the row pointer", 0);
  for (int32_t i = 0; i < r->nc && status == TABI_OK; ++i)
    status = next_count(r, "row pointer", r->row[i], r->nblock, &r->row[i + 1]);
  if (status == TABI_OK && r->row[r->nc] != r->nblock) {
    return tbi_error_set(r->err, TABI_ERR_PARSE, here(r),
                         "the row pointer ends with %d, expected the number of blocks, %d",
                         r->row[r->nc], r->nblock);
  }
  for (int32_t b = 0; b < r->nblock && status == TABI_OK; ++b)
    status = next_count(r, "column index", 0, r->nc - 1, &r->column[b]);
  return status;
}

static tabi_status read_blocks(reading *r) {
  int64_t most = r->numbers / 10;
  if (most > MAX_BLOCKS) most = MAX_BLOCKS;
  tabi_status status = next_count(r, "number of blocks", 0, most, &r->nblock);
  if (status == TABI_OK) status = expect_count(r, "number of block rows", r->nc);
  if (status == TABI_OK) status = expect_count(r, "number of block columns", r->nc);
  if (status == TABI_OK) status = make_room(r, r->nblock);
  if (status == TABI_OK) status = expect_threes(r, "cumulative row size");
  if (status == TABI_OK) status = expect_threes(r, "cumulative column size");
  if (status == TABI_OK) status = read_index(r);
  for (int32_t b = 0; b < r->nblock && status == TABI_OK; ++b) {
    double by_column[9];
    status = expect_count(r, "number of a block", b);
    if (status == TABI_OK) status = next_numbers(r, "value of a block", by_column, 9);
    for (int k = 0; k < 9 && status == TABI_OK; ++k)
      r->block[9 * (ptrdiff_t)b + k] = by_column[3 * (k % 3) + k / 3];
  }
  return status;
}

static tabi_status read_friction(reading *r) {
  tabi_status status = TABI_OK;
  for (int32_t i = 0; i < r->nc && status == TABI_OK; ++i) {
    status = next_number(r, "friction of contact", i, &r->friction[i]);
    if (status == TABI_OK && r->friction[i] < 0) {
      status = tbi_error_set(r->err, TABI_ERR_PARSE, here(r),
                             "friction of contact %d is %g; give a number >= 0", i, r->friction[i]);
    }
  }
  return status;
}

static tabi_status read_problem(reading *r) {
  int32_t storage = 0;
  tabi_status status = expect_count(r, "spatial dimension", 3);
  /* q and mu alone take four numbers a contact */
  if (status == TABI_OK) status = next_count(r, "number of contacts", 0, r->numbers / 4, &r->nc);
  if (status == TABI_OK) status = next_count(r, "storage of W (0 dense, 1 blocks)", 0, 1, &storage);
  if (status == TABI_OK) status = expect_count(r, "number of rows of W", 3 * r->nc);
  if (status == TABI_OK) status = expect_count(r, "number of columns of W", 3 * r->nc);
  if (status == TABI_OK) status = storage == 0 ? read_dense(r) : read_blocks(r);
  if (status == TABI_OK) status = next_numbers(r, "value of q", r->q, 3 * (int64_t)r->nc);
  if (status == TABI_OK) status = read_friction(r);
  return status;
}

static void release(reading *r) {
  free(r->row);
  free(r->column);
  free(r->block);
  free(r->q);
  free(r->friction);
}

tabi_friction_problem *tabi_friction_problem_load_text(const char *text, size_t size,
                                                       const char *path, tabi_error *err) {
  if (size > MAX_BYTES || memchr(text, '\0', size)) {
    tbi_error_set(err, TABI_ERR_PARSE, (tabi_place){path, 1}, "not a text file of at most %zu MB",
                  tbi_file_megabytes(MAX_BYTES));
    return NULL;
  }
  /* the number at the end needs no space after it */
  reading r = {.path = path, .err = err, .line = 1, .numbers = (int32_t)((size + 1) / 2)};
  char *copy = malloc(size + 1);
  if (!copy) {
    (void)tbi_error_memory(err);
    return NULL;
  }
  memcpy(copy, text, size);
  copy[size] = '\0';
  r.at = copy;
  tabi_friction_problem *problem = NULL;
  if (read_problem(&r) == TABI_OK) {
    tabi_friction_problem_def def = tabi_friction_problem_def_default();
    def.ncontact = r.nc;
    def.row = r.row;
    def.column = r.column;
    def.block = r.block;
    def.q = r.q;
    def.friction = r.friction;
    def.place = (tabi_place){path, 1};
    problem = tabi_friction_problem_create(&def, err);
  }
  release(&r);
  free(copy);
  return problem;
}

tabi_friction_problem *tabi_friction_problem_load(const char *path, tabi_error *err) {
  char *text = NULL;
  size_t size = 0;
  if (tbi_file_read(path, MAX_BYTES, (tabi_place){NULL, 0}, &text, &size, err) != TABI_OK) {
    return NULL;
  }
  tabi_friction_problem *problem = tabi_friction_problem_load_text(text, size, path, err);
  free(text);
  return problem;
}

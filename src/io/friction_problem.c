/* friction_problem.c - stored friction problems, in the text layout of the Fclib and Siconos
 * collections.
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
 * Line ends mean nothing.  Counts are compared with the size of the file before memory is
 * allocated: a number takes two bytes at least. */
#include "tabi/tabi_io.h"

#include "base/assertion.h"
#include "base/error.h"
#include "io/file.h"
#include "io/first_error.h"
#include "io/number.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define MAX_BYTES  ((size_t)512 * 1024 * 1024)
#define MAX_SHOWN  40
#define MAX_BLOCKS (INT32_MAX / 9)

typedef struct reading {
  const char *path;
  tbi_first_error error;
  const char *at;  /* what is not read yet */
  int32_t line;    /* of the last number read */
  int32_t numbers; /* that can be in the file at most */
  int32_t nc, nblock;
  int32_t *row, *column;
  double *block, *q, *friction;
} reading;

static tabi_place here(const reading *r) { return (tabi_place){r->path, r->line}; }

static bool is_space(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }

/* The next number, or 0 after an error; `what` it is, and of which of them, for messages. */
static double next_number(reading *r, const char *what, int64_t which) {
  if (!tbi_ok(&r->error)) return 0;
  for (; is_space(*r->at); ++r->at)
    r->line += *r->at == '\n';
  const char *word = r->at;
  while (*r->at != '\0' && !is_space(*r->at))
    ++r->at;
  size_t n = (size_t)(r->at - word);
  int shown = (int)(n < MAX_SHOWN ? n : MAX_SHOWN);
  double value = 0;
  if (n == 0) {
    tbi_fail_at(&r->error, TABI_ERR_PARSE, here(r),
                "file ends before %s %lld; its counts do not fit what follows", what,
                (long long)which);
  } else if (!tbi_number_read(word, n, &value)) {
    tbi_fail_at(&r->error, TABI_ERR_PARSE, here(r), "%s %lld: '%.*s' is not a number", what,
                (long long)which, shown, word);
  } else if (!isfinite(value)) {
    tbi_fail_at(&r->error, TABI_ERR_PARSE, here(r), "%s %lld: '%.*s' is not finite", what,
                (long long)which, shown, word);
  }
  return tbi_ok(&r->error) ? value : 0;
}

static void next_numbers(reading *r, const char *what, double *values, int64_t count) {
  for (int64_t i = 0; i < count && tbi_ok(&r->error); ++i)
    values[i] = next_number(r, what, i);
}

/* A whole number between low and high; low after an error. */
static int32_t next_count(reading *r, const char *what, int64_t low, int64_t high) {
  TBI_ASSERT(low <= high && high <= INT32_MAX);
  double value = next_number(r, what, 0);
  bool fits = value >= (double)low && value <= (double)high && value == floor(value);
  if (!fits && low == high) {
    tbi_fail_at(&r->error, TABI_ERR_PARSE, here(r), "%s is %g, expected %lld", what, value,
                (long long)low);
  } else if (!fits) {
    tbi_fail_at(&r->error, TABI_ERR_PARSE, here(r),
                "%s is %g, expected a whole number from %lld to %lld", what, value, (long long)low,
                (long long)high);
  }
  return tbi_ok(&r->error) ? (int32_t)value : (int32_t)low;
}

/* The same number several times over. */
static void expect_count(reading *r, const char *what, int32_t expected) {
  (void)next_count(r, what, expected, expected);
}

/* Memory for nc contacts and nblock blocks, all zero. */
static bool make_room(reading *r, int32_t nblock) {
  if (!tbi_ok(&r->error)) return false;
  size_t nc = (size_t)r->nc;
  r->row = calloc(nc + 1, sizeof *r->row);
  r->column = calloc((size_t)nblock + 1, sizeof *r->column);
  r->block = calloc(9 * (size_t)nblock + 1, sizeof *r->block);
  r->q = calloc(3 * nc + 1, sizeof *r->q);
  r->friction = calloc(nc + 1, sizeof *r->friction);
  bool room = r->row && r->column && r->block && r->q && r->friction;
  return room || tbi_fail_memory(&r->error);
}

static bool is_zero(const double *block) {
  for (int k = 0; k < 9; ++k) {
    if (block[k] != 0) return false;
  }
  return true;
}

/* Three rows of a dense W, cut into blocks; blocks of zeros are dropped. */
static void read_dense_contact(reading *r, double *rows) {
  int64_t width = 3 * (int64_t)r->nc;
  next_numbers(r, "value of W", rows, 3 * width);
  if (!tbi_ok(&r->error)) return;
  for (int32_t j = 0; j < r->nc; ++j) {
    double *block = r->block + 9 * (ptrdiff_t)r->nblock;
    for (int k = 0; k < 3; ++k)
      memcpy(block + (ptrdiff_t)3 * k, rows + k * width + 3 * (ptrdiff_t)j, 3 * sizeof *block);
    r->column[r->nblock] = j;
    if (!is_zero(block)) ++r->nblock;
  }
}

static bool read_dense(reading *r) {
  expect_count(r, "number of rows of W", 3 * r->nc);
  expect_count(r, "number of columns of W", 3 * r->nc);
  /* a block more, as each is tried in its place */
  int64_t nblock = (int64_t)r->nc * r->nc + 1;
  if (nblock > MAX_BLOCKS || 9 * nblock - 9 > r->numbers) {
    return tbi_fail_at(&r->error, TABI_ERR_PARSE, here(r),
                       "a dense W of %d contacts does not fit into this file", r->nc);
  }
  if (!make_room(r, (int32_t)nblock)) return false;
  double *rows = calloc(9 * (size_t)r->nc + 1, sizeof *rows);
  if (!rows) return tbi_fail_memory(&r->error);
  for (int32_t i = 0; i < r->nc && tbi_ok(&r->error); ++i) {
    read_dense_contact(r, rows);
    r->row[i + 1] = r->nblock;
  }
  free(rows);
  return tbi_ok(&r->error);
}

static void expect_threes(reading *r, const char *what) {
  for (int32_t i = 1; i <= r->nc && tbi_ok(&r->error); ++i)
    expect_count(r, what, 3 * i);
}

static bool read_index(reading *r) {
  expect_count(r, "length of the row pointer", r->nc + 1);
  expect_count(r, "length of the column index", r->nblock);
  expect_count(r, "begin of the row pointer", 0);
  for (int32_t i = 0; i < r->nc && tbi_ok(&r->error); ++i)
    r->row[i + 1] = next_count(r, "row pointer", r->row[i], r->nblock);
  if (r->row[r->nc] != r->nblock) {
    return tbi_fail_at(&r->error, TABI_ERR_PARSE, here(r),
                       "the row pointer ends with %d, expected the number of blocks, %d",
                       r->row[r->nc], r->nblock);
  }
  for (int32_t b = 0; b < r->nblock && tbi_ok(&r->error); ++b)
    r->column[b] = next_count(r, "column index", 0, r->nc - 1);
  return tbi_ok(&r->error);
}

static bool read_blocks(reading *r) {
  int64_t most = r->numbers / 10;
  if (most > MAX_BLOCKS) most = MAX_BLOCKS;
  r->nblock = next_count(r, "number of blocks", 0, most);
  expect_count(r, "number of block rows", r->nc);
  expect_count(r, "number of block columns", r->nc);
  if (!make_room(r, r->nblock)) return false;
  expect_threes(r, "cumulative row size");
  expect_threes(r, "cumulative column size");
  read_index(r);
  for (int32_t b = 0; b < r->nblock && tbi_ok(&r->error); ++b) {
    double by_column[9] = {0};
    expect_count(r, "number of a block", b);
    next_numbers(r, "value of a block", by_column, 9);
    for (int k = 0; k < 9; ++k)
      r->block[9 * (ptrdiff_t)b + k] = by_column[3 * (k % 3) + k / 3];
  }
  return tbi_ok(&r->error);
}

static void read_friction(reading *r) {
  for (int32_t i = 0; i < r->nc && tbi_ok(&r->error); ++i) {
    r->friction[i] = next_number(r, "friction of contact", i);
    if (r->friction[i] < 0) {
      tbi_fail_at(&r->error, TABI_ERR_PARSE, here(r),
                  "friction of contact %d is %g; give a number >= 0", i, r->friction[i]);
    }
  }
}

static bool read_problem(reading *r) {
  expect_count(r, "spatial dimension", 3);
  /* q and mu alone take four numbers a contact */
  r->nc = next_count(r, "number of contacts", 0, r->numbers / 4);
  int32_t storage = next_count(r, "storage of W (0 dense, 1 blocks)", 0, 1);
  expect_count(r, "number of rows of W", 3 * r->nc);
  expect_count(r, "number of columns of W", 3 * r->nc);
  bool read = storage == 0 ? read_dense(r) : read_blocks(r);
  if (!read) return false;
  next_numbers(r, "value of q", r->q, 3 * (int64_t)r->nc);
  read_friction(r);
  return tbi_ok(&r->error);
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
  TBI_ASSERT(path && (text || size == 0));
  if (size > MAX_BYTES || memchr(text, '\0', size)) {
    tbi_error_set(err, TABI_ERR_PARSE, (tabi_place){path, 1}, "not a text file of at most %zu MB",
                  tbi_file_megabytes(MAX_BYTES));
    return NULL;
  }
  /* the number at the end needs no space after it */
  reading r = {.path = path, .error = {.err = err}, .line = 1};
  r.numbers = (int32_t)((size + 1) / 2);
  char *copy = malloc(size + 1);
  if (!copy) {
    (void)tbi_error_memory(err);
    return NULL;
  }
  memcpy(copy, text, size);
  copy[size] = '\0';
  r.at = copy;
  tabi_friction_problem *problem = NULL;
  if (read_problem(&r)) {
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

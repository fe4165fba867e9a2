/* test_blocklu.c - sparse LU by blocks against dense LU with full pivoting of rows, on random
 * patterns of every size; and what it does with singular matrices and too little memory. */
#include "math/blocklu.h"

#include "support/near.h"
#include "support/rng.h"

#include <stdlib.h>
#include <string.h>

#define MEMORY ((size_t)8 << 20)

typedef struct made {
  int32_t nnode, total, npair;
  int32_t size[50], start[50];
  int32_t pair[200][2];
  double *dense; /* total x total */
} made;

static void *memory;

static int setup(void **state) {
  (void)state;
  memory = malloc(MEMORY);
  return memory ? 0 : -1;
}

static int teardown(void **state) {
  (void)state;
  free(memory);
  return 0;
}

static double *entry(const made *m, int32_t i, int32_t j) {
  return &m->dense[(size_t)i * (size_t)m->total + (size_t)j];
}

/* numbers of both signs, so that a diagonal block needs its exchange of rows */
static void fill_block(made *m, rng *r, int32_t a, int32_t b) {
  for (int32_t i = 0; i < m->size[a]; ++i) {
    for (int32_t j = 0; j < m->size[b]; ++j)
      *entry(m, m->start[a] + i, m->start[b] + j) = rng_between(r, -1, 1);
  }
}

static made make(rng *r, int32_t nnode) {
  made m = {.nnode = nnode};
  for (int32_t i = 0; i < nnode; ++i) {
    m.size[i] = 1 + rng_below(r, 7);
    m.start[i] = m.total;
    m.total += m.size[i];
  }
  m.dense = calloc((size_t)m.total * (size_t)m.total, sizeof *m.dense);
  assert_non_null(m.dense);
  m.npair = rng_below(r, 3 * nnode);
  for (int32_t k = 0; k < m.npair; ++k) {
    for (int e = 0; e < 2; ++e)
      m.pair[k][e] = rng_below(r, nnode);
    fill_block(&m, r, m.pair[k][0], m.pair[k][1]);
    fill_block(&m, r, m.pair[k][1], m.pair[k][0]);
  }
  for (int32_t i = 0; i < nnode; ++i) {
    fill_block(&m, r, i, i);
    /* large enough that rows need not be exchanged between blocks, on the other diagonal */
    for (int32_t k = 0; k < m.size[i]; ++k)
      *entry(&m, m.start[i] + k, m.start[i] + m.size[i] - 1 - k) += 40;
  }
  return m;
}

/* what has a value is in the pattern */
static void copy_block(const made *m, int32_t a, int32_t b, double *block) {
  for (int32_t i = 0; i < m->size[a]; ++i) {
    for (int32_t j = 0; j < m->size[b]; ++j) {
      double value = *entry(m, m->start[a] + i, m->start[b] + j);
      if (!block) assert_true(value == 0);
      if (block) block[i * m->size[b] + j] = value;
    }
  }
}

static void copy_blocks(const made *m, tbi_blocklu *lu) {
  for (int32_t a = 0; a < m->nnode; ++a) {
    for (int32_t b = 0; b < m->nnode; ++b)
      copy_block(m, a, b, tbi_blocklu_block(lu, a, b));
  }
}

/* elimination with the largest pivot of the whole column */
static void solve_dense(made *m, double *x) {
  for (int32_t k = 0; k < m->total; ++k) {
    int32_t best = k;
    for (int32_t i = k + 1; i < m->total; ++i) {
      if (fabs(*entry(m, i, k)) > fabs(*entry(m, best, k))) best = i;
    }
    for (int32_t j = 0; j < m->total; ++j) {
      double t = *entry(m, k, j);
      *entry(m, k, j) = *entry(m, best, j);
      *entry(m, best, j) = t;
    }
    double t = x[k];
    x[k] = x[best];
    x[best] = t;
    for (int32_t i = k + 1; i < m->total; ++i) {
      double l = *entry(m, i, k) / *entry(m, k, k);
      for (int32_t j = k; j < m->total; ++j)
        *entry(m, i, j) -= l * *entry(m, k, j);
      x[i] -= l * x[k];
    }
  }
  for (int32_t i = m->total - 1; i >= 0; --i) {
    for (int32_t j = i + 1; j < m->total; ++j)
      x[i] -= *entry(m, i, j) * x[j];
    x[i] /= *entry(m, i, i);
  }
}

static tbi_blocklu *begin(const made *m, size_t size) {
  return tbi_blocklu_begin(memory, size, m->nnode, m->size, m->npair, (const int32_t(*)[2])m->pair);
}

/* The same solution as dense elimination for 1 to 50 nodes of 1 to 7 rows; a second factorisation
 * in the same pattern starts from zero blocks. */
static void agrees_with_dense(void **state) {
  (void)state;
  for (int32_t nnode = 1; nnode <= 50; ++nnode) {
    rng r = rng_make((uint64_t)nnode);
    made m = make(&r, nnode);
    tbi_blocklu *lu = begin(&m, MEMORY);
    assert_non_null(lu);
    double x[350];
    double again[350];
    double expected[350];
    rng_fill(&r, 1, x, m.total);
    memcpy(expected, x, sizeof x);
    memcpy(again, x, sizeof x);
    copy_blocks(&m, lu);
    assert_true(tbi_blocklu_factor(lu));
    tbi_blocklu_solve(lu, x);
    tbi_blocklu_clear(lu);
    copy_blocks(&m, lu);
    assert_true(tbi_blocklu_factor(lu));
    tbi_blocklu_solve(lu, again);
    solve_dense(&m, expected);
    assert_near_n(x, expected, (size_t)m.total, 1e-13);
    assert_memory_equal(x, again, (size_t)m.total * sizeof *x);
    free(m.dense);
  }
}

/* A chain fills in nothing: no block between nodes that are not neighbours is made, in whatever
 * order the nodes are numbered. */
static void chain_has_no_fill(void **state) {
  (void)state;
  made m = {.nnode = 49, .npair = 48};
  for (int32_t i = 0; i < m.nnode; ++i)
    m.size[i] = 3;
  /* steps of 20 modulo 49 visit every node */
  for (int32_t k = 0; k < m.npair; ++k) {
    m.pair[k][0] = 20 * k % 49;
    m.pair[k][1] = 20 * (k + 1) % 49;
  }
  tbi_blocklu *lu = begin(&m, MEMORY);
  assert_non_null(lu);
  int blocks = 0;
  for (int32_t a = 0; a < m.nnode; ++a) {
    for (int32_t b = 0; b < m.nnode; ++b)
      blocks += tbi_blocklu_block(lu, a, b) != NULL;
  }
  assert_int_equal(blocks, 49 + 2 * 48);
}

static void singular_is_told(void **state) {
  (void)state;
  made m = {
      .nnode = 2, .npair = 1, .size = {2, 1},
              .pair = {{0, 1}}
  };
  tbi_blocklu *lu = begin(&m, MEMORY);
  assert_non_null(lu);
  double *block = tbi_blocklu_block(lu, 0, 0);
  block[0] = block[1] = block[2] = block[3] = 2;
  tbi_blocklu_block(lu, 1, 1)[0] = 1;
  assert_false(tbi_blocklu_factor(lu));
}

/* Whatever the size of the memory, it either suffices or NULL is returned; sanitizers see writes
 * beyond it. */
static void little_memory(void **state) {
  (void)state;
  rng r = rng_make(7);
  made m = make(&r, 12);
  void *whole = memory;
  bool sufficed = false;
  for (size_t size = 1; size < 100000; size += 97) {
    memory = malloc(size);
    assert_non_null(memory);
    tbi_blocklu *lu = begin(&m, size);
    assert_true(lu || !sufficed);
    sufficed = lu != NULL;
    if (lu) copy_blocks(&m, lu);
    free(memory);
  }
  memory = whole;
  assert_true(sufficed);
  free(m.dense);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(agrees_with_dense),
      cmocka_unit_test(chain_has_no_fill),
      cmocka_unit_test(singular_is_told),
      cmocka_unit_test(little_memory),
  };
  return cmocka_run_group_tests_name("blocklu", tests, setup, teardown);
}

/* test_pseudo.c - systems of less than full rank: pseudo-inverses that are known, the four
 * conditions of Moore and Penrose on random matrices of every rank, and what the equations of the
 * pivots alone give. */
#include "math/pseudo.h"

#include "support/near.h"
#include "support/rng.h"

#include <string.h>

#define MOST  40
#define SHARE 1e-9

typedef struct made {
  int32_t n, rank;
  double a[MOST * MOST];
  double plus[MOST * MOST]; /* A^+, column by column of the unit vectors */
  double room[3 * MOST * MOST + 3 * MOST];
  tbi_pseudo pseudo;
} made;

static void factor(made *m, int32_t first) {
  assert_true(tbi_pseudo_room(m->n) <= sizeof m->room / sizeof *m->room);
  m->pseudo = tbi_pseudo_make(m->n, m->room);
  tbi_pseudo_factor(&m->pseudo, m->a, first, SHARE);
}

static void invert(made *m) {
  for (int32_t j = 0; j < m->n; ++j) {
    double x[MOST] = {0};
    x[j] = 1;
    tbi_pseudo_solve(&m->pseudo, x);
    for (int32_t i = 0; i < m->n; ++i)
      m->plus[i * m->n + j] = x[i];
  }
}

/* A = G G' with G of n x rank */
static void make(made *m, rng *r, int32_t n, int32_t rank) {
  double g[MOST * MOST];
  m->n = n;
  m->rank = rank;
  rng_fill(r, 1, g, n * rank);
  for (int32_t i = 0; i < n; ++i) {
    for (int32_t j = 0; j < n; ++j) {
      double sum = 0;
      for (int32_t k = 0; k < rank; ++k)
        sum += g[i * rank + k] * g[j * rank + k];
      m->a[i * n + j] = sum;
    }
  }
}

static void product(int32_t n, const double *a, const double *b, double *c) {
  for (int32_t i = 0; i < n; ++i) {
    for (int32_t j = 0; j < n; ++j) {
      c[i * n + j] = 0;
      for (int32_t k = 0; k < n; ++k)
        c[i * n + j] += a[i * n + k] * b[k * n + j];
    }
  }
}

static double largest(const double *a, int32_t n) {
  double max = 0;
  for (int32_t i = 0; i < n; ++i)
    max = fmax(max, fabs(a[i]));
  return max;
}

/* all ones: A^+ = A / n^2; a diagonal with a zero: the inverse with a zero; a full matrix of two:
 * its inverse; none: none */
static void known(void **state) {
  (void)state;
  static made m;
  m.n = 4;
  for (int i = 0; i < 16; ++i)
    m.a[i] = 1;
  factor(&m, 4);
  invert(&m);
  assert_int_equal(m.pseudo.rank, 1);
  for (int i = 0; i < 16; ++i)
    assert_near(m.plus[i], 1.0 / 16, 1e-16);
  m.n = 3;
  const double diagonal[9] = {4, 0, 0, 0, 0, 0, 0, 0, 0.5};
  const double inverse[9] = {0.25, 0, 0, 0, 0, 0, 0, 0, 2};
  memcpy(m.a, diagonal, sizeof diagonal);
  factor(&m, 1);
  invert(&m);
  assert_int_equal(m.pseudo.rank, 2);
  assert_near_n(m.plus, inverse, 9, 1e-15);
  m.n = 2;
  const double full[4] = {2, 1, 1, 3};
  const double full_inverse[4] = {0.6, -0.2, -0.2, 0.4};
  memcpy(m.a, full, sizeof full);
  factor(&m, 0);
  invert(&m);
  assert_near_n(m.plus, full_inverse, 4, 1e-15);
  memset(m.a, 0, sizeof m.a);
  factor(&m, 2);
  invert(&m);
  assert_int_equal(m.pseudo.rank, 0);
  assert_true(largest(m.plus, 4) == 0);
}

/* A A+ A = A, A+ A A+ = A+, and A A+ symmetric (A+ A with it, for A is) */
static void conditions(void **state) {
  (void)state;
  static made m;
  static double b[MOST * MOST];
  static double c[MOST * MOST];
  double worst = 0;
  rng r = rng_make(3);
  for (int k = 0; k < 300; ++k) {
    int32_t n = 1 + rng_below(&r, MOST);
    make(&m, &r, n, rng_below(&r, 1 + (n * 3) / 4));
    factor(&m, rng_below(&r, n + 1));
    assert_int_equal(m.pseudo.rank, m.rank);
    invert(&m);
    product(n, m.a, m.plus, b);
    product(n, b, m.a, c);
    for (int32_t i = 0; i < n * n; ++i)
      c[i] -= m.a[i];
    worst = fmax(worst, largest(c, n * n) / fmax(largest(m.a, n * n), 1e-300));
    for (int32_t i = 0; i < n; ++i) {
      for (int32_t j = 0; j < i; ++j)
        worst = fmax(worst, fabs(b[i * n + j] - b[j * n + i]));
    }
    product(n, m.plus, b, c);
    for (int32_t i = 0; i < n * n; ++i)
      c[i] -= m.plus[i];
    worst = fmax(worst, largest(c, n * n) / fmax(largest(m.plus, n * n), 1e-300));
  }
  print_message("300 matrices of rank 0 to 30: conditions of Moore and Penrose to %.2g\n", worst);
  assert_true(worst < 1e-8);
}

/* where b fits both ways of solving are one; where it does not, the pivots' equations hold to the
 * letter, and those that were to come first are among them as far as they are independent */
static void pivots(void **state) {
  (void)state;
  static made m;
  double off = 0;
  double missed = 0;
  rng r = rng_make(4);
  for (int k = 0; k < 100; ++k) {
    make(&m, &r, 20, 8);
    factor(&m, 5);
    for (int i = 0; i < 5; ++i)
      assert_true(m.pseudo.pivot[i] < 5);
    double y[MOST];
    double x[MOST] = {0};
    double b[MOST];
    rng_fill(&r, 1, y, m.n);
    for (int32_t i = 0; i < m.n; ++i) {
      for (int32_t j = 0; j < m.n; ++j)
        x[i] += m.a[i * m.n + j] * y[j];
    }
    memcpy(b, x, sizeof b);
    tbi_pseudo_solve(&m.pseudo, x);
    tbi_pseudo_solve_pivots(&m.pseudo, b);
    for (int32_t i = 0; i < m.n; ++i)
      off = fmax(off, fabs(x[i] - b[i]));
    memcpy(x, y, sizeof x);
    tbi_pseudo_solve_pivots(&m.pseudo, x);
    for (int32_t p = 0; p < m.pseudo.rank; ++p) {
      double sum = -y[m.pseudo.pivot[p]];
      for (int32_t j = 0; j < m.n; ++j)
        sum += m.a[m.pseudo.pivot[p] * m.n + j] * x[j];
      missed = fmax(missed, fabs(sum));
    }
  }
  print_message("pivots alone: off by %.2g where b fits, equations missed by %.2g\n", off, missed);
  assert_true(off < 1e-9);
  assert_true(missed < 1e-9);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(known),
      cmocka_unit_test(conditions),
      cmocka_unit_test(pivots),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

/* test_coulomb_newton.c - problems made of random Jacobians: contacts and bounded rows together,
 * far more of them than there are freedoms.  The law is checked by its own words, contact by
 * contact, not by the residual that the solver looks at. */
#include "friction/coulomb_newton_work.h"

#include "friction/coulomb.h"
#include "math/blocklu.h"
#include "support/near.h"
#include "support/rng.h"

#include <stdlib.h>
#include <string.h>

#define FREEDOMS 30
#define BUDGET   2000
#define MEMORY   ((size_t)4 << 20)

/* W in full, one node for the factorisation. */
typedef struct dense {
  int32_t n, nlaw;
  tbi_law *law;
  double *w, *q;
  tbi_blocklu *lu;
  void *memory;
  int factorisations;
} dense;

static void multiply(void *self, const double *r, double *wr) {
  const dense *d = self;
  for (int32_t i = 0; i < d->n; ++i) {
    double sum = 0;
    for (int32_t j = 0; j < d->n; ++j)
      sum += d->w[i * d->n + j] * r[j];
    wr[i] = sum;
  }
}

static double velocity_of(const dense *d, const double *r, int32_t i) {
  double sum = d->q[i];
  for (int32_t j = 0; j < d->n; ++j)
    sum += d->w[i * d->n + j] * r[j];
  return sum;
}

static void sweep_contact(const dense *d, const tbi_law *law, double *r) {
  double own[3][3];
  double b[3];
  for (int k = 0; k < 3; ++k) {
    b[k] = velocity_of(d, r, law->at + k);
    for (int l = 0; l < 3; ++l) {
      own[k][l] = d->w[(law->at + k) * d->n + law->at + l];
      b[k] -= own[k][l] * r[law->at + l];
    }
  }
  v3_store(tbi_coulomb((const double(*)[3])own, v3_load(b), law->friction), r + law->at);
}

static void sweep(void *self, double *r) {
  const dense *d = self;
  for (int32_t i = 0; i < d->nlaw; ++i) {
    const tbi_law *law = &d->law[i];
    if (law->size == 3) {
      sweep_contact(d, law, r);
    } else {
      double wanted = r[law->at] - velocity_of(d, r, law->at) / law->mobility;
      r[law->at] = fmin(fmax(wanted, law->lower), law->upper);
    }
  }
}

static bool newton(void *self, const tbi_law_block *block, const double *g, double *dr) {
  dense *d = self;
  ++d->factorisations;
  double *a = tbi_blocklu_block(d->lu, 0, 0);
  tbi_blocklu_clear(d->lu);
  for (int32_t i = 0; i < d->nlaw; ++i) {
    const tbi_law *law = &d->law[i];
    for (int32_t k = 0; k < law->size; ++k) {
      double *row = a + (ptrdiff_t)(law->at + k) * d->n;
      row[law->at + k] = 1;
      for (int32_t l = 0; l < law->size; ++l) {
        const double *from = d->w + (ptrdiff_t)(law->at + l) * d->n;
        for (int32_t j = 0; j < d->n; ++j)
          row[j] += block[i].m[law->size * k + l] * from[j];
      }
    }
  }
  memcpy(dr, g, (size_t)d->n * sizeof *dr);
  if (!tbi_blocklu_factor(d->lu)) return false;
  tbi_blocklu_solve(d->lu, dr);
  return true;
}

static tbi_delassus operator_of(dense *d) {
  return (tbi_delassus){.self = d,
                        .nlaw = d->nlaw,
                        .nunknown = d->n,
                        .law = d->law,
                        .q = d->q,
                        .multiply = multiply,
                        .sweep = sweep,
                        .newton = newton};
}

/* W = J J' with J of FREEDOMS columns, each law feeling twelve of them as a limb does. */
static void fill_matrix(dense *d, rng *r) {
  double(*j)[FREEDOMS] = calloc((size_t)d->n, sizeof *j);
  assert_non_null(j);
  for (int32_t i = 0; i < d->nlaw; ++i) {
    int32_t limb = rng_below(r, 4);
    for (int32_t k = 0; k < d->law[i].size; ++k) {
      double *row = j[d->law[i].at + k];
      rng_fill(r, 1, row, 6);
      rng_fill(r, 1, row + 6 + (ptrdiff_t)6 * limb, 6);
    }
  }
  for (int32_t a = 0; a < d->n; ++a) {
    for (int32_t b = 0; b < d->n; ++b) {
      for (int k = 0; k < FREEDOMS; ++k)
        d->w[a * d->n + b] += j[a][k] * j[b][k];
    }
  }
  /* the free motion is one of the bodies, towards the contacts on the whole */
  double v[FREEDOMS];
  rng_fill(r, 1, v, FREEDOMS);
  for (int32_t a = 0; a < d->n; ++a) {
    for (int k = 0; k < FREEDOMS; ++k)
      d->q[a] += j[a][k] * v[k];
  }
  free(j);
}

/* Rows: held at rest, one-sided, two-sided, in turn. */
static tbi_law make_row(rng *r, int32_t kind) {
  tbi_law law = {.size = 1, .lower = -INFINITY, .upper = INFINITY};
  if (kind % 3 >= 1) law.lower = rng_between(r, -0.1, 0);
  if (kind % 3 == 2) law.upper = rng_between(r, 0, 0.1);
  return law;
}

static dense make(uint64_t seed, int32_t ncontact, int32_t nrow) {
  rng r = rng_make(seed);
  dense d = {.n = 3 * ncontact + nrow, .nlaw = ncontact + nrow};
  size_t n = (size_t)d.n;
  d.law = calloc((size_t)d.nlaw, sizeof *d.law);
  d.w = calloc(n * n, sizeof *d.w);
  d.q = calloc(n, sizeof *d.q);
  d.memory = malloc(MEMORY);
  assert_true(d.law && d.w && d.q && d.memory);
  int32_t at = 0;
  for (int32_t i = 0; i < d.nlaw; ++i) {
    d.law[i] = (tbi_law){.size = 3, .friction = rng_between(&r, 0, 1.2)};
    if (i >= ncontact) d.law[i] = make_row(&r, i);
    d.law[i].at = at;
    at += d.law[i].size;
  }
  fill_matrix(&d, &r);
  for (int32_t i = 0; i < d.nlaw; ++i) {
    double trace = 0;
    for (int32_t k = d.law[i].at; k < d.law[i].at + d.law[i].size; ++k)
      trace += d.w[k * d.n + k];
    d.law[i].mobility = trace / d.law[i].size;
  }
  d.lu = tbi_blocklu_begin(d.memory, MEMORY, 1, &d.n, 0, NULL);
  assert_non_null(d.lu);
  return d;
}

static void release(dense *d) {
  free(d->law);
  free(d->w);
  free(d->q);
  free(d->memory);
}

static tbi_newton_result solve(dense *d, double tolerance, int32_t budget, double *r) {
  void *scratch = malloc(tbi_newton_memsize(d->nlaw, d->n));
  assert_non_null(scratch);
  tbi_delassus w = operator_of(d);
  tbi_newton_result result = tbi_newton_solve(&w, tolerance, budget, r, scratch);
  free(scratch);
  return result;
}

/* r within its bounds; u of the other sign where one holds, zero between */
static void expect_row(const tbi_law *law, double r, double u, double small) {
  double error = small / law->mobility;
  assert_true(r >= law->lower && r <= law->upper);
  if (r > law->lower + error) assert_true(u <= small);
  if (r < law->upper - error) assert_true(u >= -small);
}

/* Signorini: nothing sinks in, nothing pulls, what pushes does not part.  Coulomb: in the cone;
 * where it slips, on its border and against the slip.  Impulses up to `small` / w may be errors. */
static void expect_contact(const tbi_law *law, const double *r, const double *u, double small) {
  double error = small / law->mobility;
  double force = sqrt(r[1] * r[1] + r[2] * r[2]);
  double slip = sqrt(u[1] * u[1] + u[2] * u[2]);
  assert_true(u[0] >= -small && r[0] >= 0);
  if (r[0] > error) assert_true(u[0] <= small);
  assert_true(force <= law->friction * r[0] * (1 + 1e-12));
  if (slip > small) {
    assert_near(force, law->friction * r[0], 2 * error);
    assert_near((r[1] * u[1] + r[2] * u[2]) / slip, -force, 2 * error);
  }
}

static void expect_law(const dense *d, const double *r, double small) {
  for (int32_t i = 0; i < d->nlaw; ++i) {
    const tbi_law *law = &d->law[i];
    double u[3] = {0};
    for (int32_t k = 0; k < law->size; ++k)
      u[k] = velocity_of(d, r, law->at + k);
    if (law->size == 3) {
      expect_contact(law, r + law->at, u, small);
    } else {
      expect_row(law, r[law->at], u[0], small);
    }
  }
}

/* Up to six times as many unknowns as freedoms, solved to 1e-10 of velocities about one. */
static void redundant_contacts(void **state) {
  (void)state;
  for (int32_t ncontact = 4; ncontact <= 64; ncontact *= 2) {
    for (uint64_t seed = 1; seed <= 6; ++seed) {
      dense d = make(seed + 100 * (uint64_t)ncontact, ncontact, 0);
      double r[192] = {0};
      tbi_newton_result result = solve(&d, 1e-10, BUDGET, r);
      assert_true(result.converged);
      assert_true(result.residual <= 1e-10);
      expect_law(&d, r, 1e-9);
      release(&d);
    }
  }
}

/* Rows that hold, limit on one side or on both: beside contacts, and alone. */
static void rows_and_contacts(void **state) {
  (void)state;
  for (uint64_t seed = 1; seed <= 24; ++seed) {
    dense d = seed % 2 ? make(seed, 8, 9) : make(seed, 0, 33);
    double r[33] = {0};
    tbi_newton_result result = solve(&d, 1e-10, BUDGET, r);
    assert_true(result.converged);
    expect_law(&d, r, 1e-9);
    release(&d);
  }
}

/* Newton alone, from zero, on either function: no other stage hides what it cannot do.  It need not
 * always get there, but nearly so. */
static void newton_alone(void **state) {
  (void)state;
  const tbi_newton_map maps[] = {TBI_ALART_CURNIER, TBI_NATURAL_MAP};
  for (int m = 0; m < 2; ++m) {
    int met = 0;
    for (uint64_t seed = 1; seed <= 20; ++seed) {
      dense d = make(seed, 8, 3);
      tbi_delassus w = operator_of(&d);
      void *scratch = malloc(tbi_newton_memsize(d.nlaw, d.n));
      assert_non_null(scratch);
      tbi_newton_work e = tbi_newton_begin(&w, 1e-10, 300, scratch);
      memset(e.start, 0, (size_t)d.n * sizeof *e.start);
      if (tbi_newton_proximal(&e, maps[m], 1e-5, 300)) {
        ++met;
        expect_law(&d, e.best, 1e-9);
      }
      free(scratch);
      release(&d);
    }
    assert_true(met >= 18);
  }
}

/* q that impulses well inside the cones stop altogether */
static void let_stick(dense *d, rng *r) {
  double *impulse = calloc((size_t)d->n, sizeof *impulse);
  assert_non_null(impulse);
  for (int32_t i = 0; i < d->nlaw; ++i) {
    double *own = impulse + d->law[i].at;
    if (d->law[i].size == 1) continue;
    d->law[i].friction = 0.5;
    own[0] = rng_between(r, 0.5, 1);
    own[1] = rng_between(r, -0.1, 0.1);
    own[2] = rng_between(r, -0.1, 0.1);
  }
  multiply(d, impulse, d->q);
  for (int32_t i = 0; i < d->n; ++i)
    d->q[i] = -d->q[i];
  free(impulse);
}

/* Where nothing slips the convex problem has the same solution, and the interior point comes near
 * to it by itself; rows with their bounds, too. */
static void interior_alone(void **state) {
  (void)state;
  for (uint64_t seed = 1; seed <= 20; ++seed) {
    dense d = make(seed, seed % 2 ? 6 : 0, seed % 2 ? 6 : 30);
    rng r = rng_make(seed);
    if (seed % 2) let_stick(&d, &r);
    tbi_delassus w = operator_of(&d);
    void *scratch = malloc(tbi_newton_memsize(d.nlaw, d.n));
    assert_non_null(scratch);
    tbi_newton_work e = tbi_newton_begin(&w, 1e-10, 80, scratch);
    tbi_newton_interior(&e);
    tbi_newton_velocity(&e, e.start, e.u);
    assert_true(tbi_newton_measure(&e, e.start, e.u) < 1e-3);
    free(scratch);
    release(&d);
  }
}

/* Without factorisations it stops after its sweeps and says how far it came; the number that it
 * returns is the residual of what it returns. */
static void honest_when_short(void **state) {
  (void)state;
  dense d = make(5, 32, 0);
  double r[96] = {0};
  tbi_newton_result result = solve(&d, 1e-10, 0, r);
  assert_false(result.converged);
  assert_int_equal(result.factorisations, 0);
  tbi_delassus w = operator_of(&d);
  double u[96];
  for (int32_t i = 0; i < d.n; ++i)
    u[i] = velocity_of(&d, r, i);
  assert_true(result.residual > 1e-10);
  assert_near(tbi_newton_residual(&w, r, u), result.residual, 1e-14);
  assert_true(result.factorisations == d.factorisations);

  /* what is reported is what was done */
  result = solve(&d, 1e-10, BUDGET, r);
  assert_true(result.converged);
  assert_int_equal(result.factorisations, d.factorisations);
  release(&d);
}

/* From the solution nothing is done; from the solution of a problem nearby, fewer factorisations
 * are needed than from zero, over some problems together. */
static void warm_start(void **state) {
  (void)state;
  int cold = 0;
  int warm = 0;
  for (uint64_t seed = 1; seed <= 8; ++seed) {
    dense d = make(seed, 16, 0);
    double r[48] = {0};
    cold += solve(&d, 1e-10, BUDGET, r).factorisations;
    double again[48];
    memcpy(again, r, sizeof r);
    tbi_newton_result result = solve(&d, 1e-10, BUDGET, again);
    assert_true(result.converged && result.factorisations == 0);
    assert_memory_equal(again, r, sizeof r);
    for (int32_t i = 0; i < d.n; ++i)
      d.q[i] *= 1.01;
    result = solve(&d, 1e-10, BUDGET, r);
    assert_true(result.converged);
    warm += result.factorisations;
    release(&d);
  }
  assert_true(warm < cold);
}

static bool share(dense *d, double *r) {
  void *scratch = malloc(tbi_newton_refine_memsize(d->nlaw, d->n));
  assert_non_null(scratch);
  tbi_delassus w = operator_of(d);
  tbi_newton_result result = tbi_newton_share_load(&w, 1e-10, 60, r, scratch);
  free(scratch);
  if (result.converged) expect_law(d, r, 1e-9);
  return result.converged;
}

static double distance(const double *a, const double *b, int32_t n) {
  double max = 0;
  for (int32_t i = 0; i < n; ++i)
    max = fmax(max, fabs(a[i] - b[i]));
  return max;
}

/* A box of 1 kg on its four corners, which slides, turns and falls by `v`. */
static dense make_box(rng *r) {
  dense d = make(1, 4, 0);
  double v[6] = {rng_between(r, -1, 1), rng_between(r, -1, 1), -0.01, 0, 0, rng_between(r, -3, 3)};
  double j[12][6] = {0};
  memset(d.w, 0, 144 * sizeof *d.w);
  memset(d.q, 0, 12 * sizeof *d.q);
  for (int i = 0; i < 4; ++i) {
    double x = i % 2 ? 0.1 : -0.1;
    double y = i / 2 ? 0.15 : -0.15;
    double z = -0.05;
    const double axis[3][6] = {
        {0, 0, 1, y,  -x, 0 },
        {1, 0, 0, 0,  z,  -y},
        {0, 1, 0, -z, 0,  x }
    };
    memcpy(j[(ptrdiff_t)3 * i], axis, sizeof axis);
    d.law[i].friction = 0.2 + 0.1 * i;
  }
  for (int a = 0; a < 12; ++a) {
    for (int k = 0; k < 6; ++k) {
      d.q[a] += j[a][k] * v[k];
      for (int b = 0; b < 12; ++b)
        d.w[12 * a + b] += j[a][k] * j[b][k] / (k < 3 ? 1 : 0.01);
    }
  }
  for (int i = 0; i < 4; ++i) {
    const double *own = d.w + (ptrdiff_t)39 * i;
    d.law[i].mobility = (own[0] + own[13] + own[26]) / 3;
  }
  return d;
}

/* Two solutions, from two starts, share the load of the box differently; with equal springs they
 * become one. */
static void equal_springs(void **state) {
  (void)state;
  int apart = 0;
  for (uint64_t seed = 1; seed <= 20; ++seed) {
    rng random = rng_make(seed);
    dense d = make_box(&random);
    double a[12] = {0};
    double b[12] = {0};
    b[0] = b[9] = 0.02;
    assert_true(solve(&d, 1e-10, BUDGET, a).converged && solve(&d, 1e-10, BUDGET, b).converged);
    apart += distance(a, b, d.n) > 1e-4 ? 1 : 0;
    assert_true(share(&d, a) && share(&d, b));
    assert_near(distance(a, b, d.n), 0, 1e-9);
    release(&d);
  }
  assert_true(apart >= 15);
}

/* What is not found leaves the given impulses as they are. */
static void springs_too_short(void **state) {
  (void)state;
  dense d = make(3, 16, 0);
  double r[48];
  double before[48];
  for (int i = 0; i < 48; ++i)
    r[i] = before[i] = 0.01 * i;
  void *scratch = malloc(tbi_newton_refine_memsize(d.nlaw, d.n));
  assert_non_null(scratch);
  tbi_delassus w = operator_of(&d);
  assert_false(tbi_newton_share_load(&w, 1e-10, 1, r, scratch).converged);
  assert_memory_equal(r, before, sizeof r);
  free(scratch);
  release(&d);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(redundant_contacts), cmocka_unit_test(rows_and_contacts),
      cmocka_unit_test(newton_alone),       cmocka_unit_test(interior_alone),
      cmocka_unit_test(honest_when_short),  cmocka_unit_test(warm_start),
      cmocka_unit_test(equal_springs),      cmocka_unit_test(springs_too_short),
  };
  return cmocka_run_group_tests_name("coulomb_newton", tests, NULL, NULL);
}

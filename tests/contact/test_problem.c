/* test_problem.c - ports against the papers' construction: A = J M^-1 J' by unit forces through
 * the articulated-body algorithm, and by Jacobians and a Cholesky factor, over random models. */
#include "problem/sweep.h"

#include "support/make_problem.h"
#include "support/near.h"
#include "support/oracle.h"
#include "support/test_force.h"

#include <stdlib.h>
#include <string.h>

#define MODELS     60
#define POINTS     12
#define ROWS       8
#define DIRECTIONS (3 * POINTS + ROWS)

/* the directions of the problem: three a point, in the order of the points, then the rows */
static int32_t list_forces(const made_problem *made, test_force *force) {
  const tbi_problem *p = made->p;
  int32_t count = 0;
  for (int32_t i = 0; i < p->npoint; ++i) {
    const tbi_point *c = &p->point[i];
    const tbi_candidate *candidate = &made->candidate[c->candidate];
    const v4 axis[3] = {c->frame.x, c->frame.y, c->frame.z};
    for (int k = 0; k < 3; ++k) {
      force[count++] = (test_force){.a = made->setup.shape_body[candidate->shape_a],
                                    .b = made->setup.shape_body[candidate->shape_b],
                                    .point = candidate->point,
                                    .axis = v4_to(axis[k]),
                                    .dof = TABI_NONE};
    }
  }
  for (int32_t i = 0; i < p->nrow; ++i) {
    force[count++] = (test_force){.dof = p->row[i].dof, .leader = TABI_NONE};
  }
  return count;
}

/* all velocities in the same order */
static void read_all(const made_problem *made, double *to) {
  for (int32_t i = 0; i < made->p->npoint; ++i)
    v3_store(made_point_velocity(made, i), to + 3 * (ptrdiff_t)i);
  for (int32_t i = 0; i < made->p->nrow; ++i)
    to[3 * made->p->npoint + i] = made_row_velocity(made, i);
}

/* one more unit of impulse, by the means that solvers have */
static void push_one(made_problem *made, int32_t j) {
  tbi_problem *p = made->p;
  if (j < 3 * p->npoint) {
    tbi_point *c = &p->point[j / 3];
    double d[3] = {0};
    d[j % 3] = 1.0;
    tbi_group alone = {c->port_a, c->port_b, j / 3, 1};
    tbi_visit visit = tbi_visit_begin(p, &alone);
    tbi_visit_push(&visit, c, v3_load(d));
    tbi_visit_end(p, &alone, &visit);
  } else {
    /* a row alone, asked for the velocity that one unit brings */
    tbi_row *all = p->row;
    int32_t count = p->nrow;
    tbi_row asked = all[j - 3 * p->npoint];
    asked.lower = -INFINITY;
    asked.upper = INFINITY;
    asked.target = asked.w;
    asked.impulse = 0.0;
    p->row = &asked;
    p->nrow = 1;
    tbi_rows_sweep(p);
    p->row = all;
    p->nrow = count;
  }
}

/* The papers' matrix of one model, and what its entries are measured against: |A_ij| is at most
 * sqrt(size_i size_j), with the mobility of the whole point for each of its three directions. */
typedef struct expected {
  uint64_t seed;
  int32_t n;
  test_force force[DIRECTIONS];
  double A[DIRECTIONS * DIRECTIONS], size[DIRECTIONS];
} expected;

static void make_expected(made_problem *made, uint64_t seed, expected *e) {
  int32_t points = made->p->npoint;
  e->seed = seed;
  e->n = list_forces(made, e->force);
  test_force_matrix(made->d, e->force, e->n, e->A);
  for (int32_t i = 0; i < e->n; ++i) {
    int32_t first = i < 3 * points ? i / 3 * 3 : i;
    int32_t count = i < 3 * points ? 3 : 1;
    e->size[i] = 0.0;
    for (int32_t k = first; k < first + count; ++k)
      e->size[i] += e->A[k * e->n + k];
  }
}

static void expect_matrix(const expected *e, const char *what, const double *found) {
  for (int32_t i = 0; i < e->n; ++i) {
    for (int32_t j = 0; j < e->n; ++j) {
      double own = found[i * e->n + j];
      double right = e->A[i * e->n + j];
      double error = fabs(own - right) / sqrt(e->size[i] * e->size[j]);
      if (error <= 1e-10) continue;
      fail_msg("seed %llu: %s: entry %d %d is %.17g, not %.17g (%.3g)", (unsigned long long)e->seed,
               what, (int)i, (int)j, own, right, error);
    }
  }
}

static void check_symmetry(const expected *e) {
  double *transposed = calloc((size_t)(e->n * e->n) + 1, sizeof *transposed);
  for (int32_t i = 0; i < e->n; ++i) {
    for (int32_t j = 0; j < e->n; ++j)
      transposed[i * e->n + j] = e->A[j * e->n + i];
  }
  expect_matrix(e, "A'", transposed);
  free(transposed);
}

/* positive semidefinite: a little more on the diagonal and there is a Cholesky factor */
static void check_definite(const expected *e) {
  size_t n = (size_t)e->n;
  double *scaled = calloc(n * n + 1, sizeof *scaled);
  for (size_t i = 0; i < n; ++i) {
    for (size_t j = 0; j < n; ++j)
      scaled[i * n + j] = e->A[i * n + j] / sqrt(e->size[i] * e->size[j]);
    scaled[i * n + i] += 1e-10;
  }
  assert_true(oracle_cholesky(scaled, n));
  free(scaled);
}

/* J M^-1 J' by the textbook */
static void check_textbook(made_problem *made, const expected *e) {
  size_t nv = (size_t)made->model->nv;
  size_t n = (size_t)e->n;
  double *J = calloc(n * nv + 1, sizeof *J);
  double *M = calloc(nv * nv + 1, sizeof *M);
  double *found = calloc(n * n + 1, sizeof *found);
  oracle *o = oracle_create(made->model, made->d->q, made->d->v);
  test_force_jacobian(made->d, e->force, e->n, J);
  oracle_mass_matrix(o, M);
  oracle_delassus(J, n, M, nv, found);
  expect_matrix(e, "J M^-1 J'", found);
  oracle_destroy(o);
  free(found);
  free(M);
  free(J);
}

static void check_ports(made_problem *made, const expected *e) {
  int32_t n = e->n;
  double *found = calloc((size_t)(n * n) + 1, sizeof *found);
  double after[DIRECTIONS];
  /* from rest: a small answer must not drown in the free velocity */
  for (int32_t k = 0; k < made->p->nport; ++k)
    made->p->free[k] = sv_zero();
  for (int32_t i = 0; i < made->p->nrow; ++i)
    made->p->row[i].base = 0.0;
  for (int32_t j = 0; j < n; ++j) {
    made_clear(made);
    push_one(made, j);
    read_all(made, after);
    for (int32_t i = 0; i < n; ++i)
      found[i * n + j] = after[i];
  }
  expect_matrix(e, "ports", found);
  free(found);
}

/* the 3x3 responses, which carry a small shift against immobile directions, and those of rows */
static void check_local(const made_problem *made, const expected *e) {
  for (int32_t i = 0; i < made->p->npoint; ++i) {
    const tbi_point *c = &made->p->point[i];
    int32_t first = 3 * i;
    for (int r = 0; r < 3; ++r) {
      for (int s = 0; s < 3; ++s)
        assert_near(c->w[r][s], e->A[(first + r) * e->n + first + s], 1e-10 * e->size[first]);
    }
  }
  for (int32_t i = 0; i < made->p->nrow; ++i) {
    int32_t k = 3 * made->p->npoint + i;
    assert_near(made->p->row[i].w, e->A[k * e->n + k], 1e-10 * e->size[k]);
  }
}

static void check_model(uint64_t seed, random_kind kind) {
  static expected e;
  made_problem made;
  tabi_model *model = made_random(&made, seed, kind, POINTS, ROWS);
  make_expected(&made, seed, &e);
  check_symmetry(&e);
  check_definite(&e);
  check_textbook(&made, &e);
  check_local(&made, &e);
  check_ports(&made, &e);
  made_close(&made);
  tabi_model_destroy(model);
}

static void any_model(void **state) {
  (void)state;
  for (uint64_t seed = 1; seed <= MODELS; ++seed)
    check_model(seed, RANDOM_ANY);
}

static void floating_model(void **state) {
  (void)state;
  for (uint64_t seed = 1; seed <= MODELS; ++seed)
    check_model(seed, RANDOM_FLOATING);
}

/* ports move with v + M^-1 (impulses of other forces), and with J M^-1 J' of a warm start */
static void starts_with_free_and_warm_velocity(void **state) {
  (void)state;
  for (uint64_t seed = 1; seed <= MODELS; ++seed) {
    made_problem made;
    tabi_model *model = made_random(&made, seed, RANDOM_ANY, POINTS, ROWS);
    tbi_problem *p = made.p;
    test_force force[DIRECTIONS];
    double impulse[DIRECTIONS] = {0};
    double found[DIRECTIONS];
    int32_t n = list_forces(&made, force);
    size_t nv = (size_t)model->nv;
    rng r = rng_make(seed);
    rng_fill(&r, 1.0, impulse, n);
    for (int32_t i = 0; i < p->npoint; ++i)
      memcpy(p->point[i].impulse, impulse + 3 * (ptrdiff_t)i, sizeof p->point[i].impulse);
    for (int32_t i = 0; i < p->nrow; ++i)
      p->row[i].impulse = impulse[3 * p->npoint + i];

    double *J = calloc((size_t)n * nv + 1, sizeof *J);
    double *x = calloc(nv + 1, sizeof *x);
    test_force_jacobian(made.d, force, n, J);
    for (size_t k = 0; k < nv; ++k) {
      x[k] = made.rhs[k];
      for (int32_t i = 0; i < n; ++i)
        x[k] += J[(size_t)i * nv + k] * impulse[i];
    }
    tbi_crba(made.d, model->dof_rotor);
    tbi_ltdl_factor(made.d);
    tbi_ltdl_solve(made.d, x);
    made_restart(&made);
    read_all(&made, found);
    for (int32_t i = 0; i < n; ++i) {
      double right = 0.0;
      double size = 1.0;
      for (size_t k = 0; k < nv; ++k) {
        double part = J[(size_t)i * nv + k] * (made.d->v[k] + x[k]);
        right += part;
        size += fabs(part);
      }
      assert_near(found[i], right, 1e-9 * size);
    }
    free(x);
    free(J);
    made_close(&made);
    tabi_model_destroy(model);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(any_model),
      cmocka_unit_test(floating_model),
      cmocka_unit_test(starts_with_free_and_warm_velocity),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

/* step_problem.c - see step_problem.h. */
#include "support/step_problem.h"

#include "problem/sweep.h"
#include "support/near.h"
#include "world/world.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void *room(size_t count, size_t size) {
  void *block = calloc(count + 1, size);
  assert_non_null(block);
  return block;
}

static size_t at(const step_problem *s, int32_t row, int32_t column) {
  return (size_t)row * (size_t)s->n + (size_t)column;
}

/* what a unit impulse at an unknown adds to the sum of all impulses */
static void push(const tbi_problem *p, int32_t unknown, double *sum) {
  if (unknown >= 3 * p->npoint) {
    tbi_row_push(p, &p->row[unknown - 3 * p->npoint], 1, sum);
    return;
  }
  const tbi_point *c = &p->point[unknown / 3];
  const v4 axes[3] = {c->frame.x, c->frame.y, c->frame.z};
  v4 axis = axes[unknown % 3];
  if (c->port_a != TABI_NONE) {
    tbi_port_push(p, c->port_a, sv_scale(-1, tbi_wrench(c->arm_a, axis)), sum);
  }
  if (c->port_b != TABI_NONE) tbi_port_push(p, c->port_b, tbi_wrench(c->arm_b, axis), sum);
}

/* the velocity that a sum of impulses makes at every unknown, into a column of W */
static void answer(const step_problem *s, const tbi_problem *p, const double *sum, int32_t column) {
  for (int32_t i = 0; i < p->npoint; ++i) {
    const tbi_point *c = &p->point[i];
    sv a = c->port_a == TABI_NONE ? sv_zero() : tbi_port_response(p, c->port_a, sum);
    sv b = c->port_b == TABI_NONE ? sv_zero() : tbi_port_response(p, c->port_b, sum);
    double u[3];
    v3_store(tbi_point_velocity(c, a, b), u);
    for (int k = 0; k < 3; ++k)
      s->w[at(s, 3 * i + k, column)] = u[k];
  }
  for (int32_t i = 0; i < p->nrow; ++i)
    s->w[at(s, 3 * p->npoint + i, column)] = tbi_row_response(p, &p->row[i], sum);
}

static void fill_matrix(const step_problem *s, const tbi_problem *p) {
  double *sum = room((size_t)p->nsum, sizeof *sum);
  for (int32_t k = 0; k < s->n; ++k) {
    memset(sum, 0, sizeof *sum * (size_t)p->nsum);
    push(p, k, sum);
    answer(s, p, sum, k);
  }
  free(sum);
}

static void read_point(step_problem *s, const tbi_problem *p, int32_t i) {
  const tbi_point *c = &p->point[i];
  sv a = c->port_a == TABI_NONE ? sv_zero() : p->free[c->port_a];
  sv b = c->port_b == TABI_NONE ? sv_zero() : p->free[c->port_b];
  double *q = s->q + (ptrdiff_t)3 * i;
  v3_store(tbi_point_velocity(c, a, b), q);
  q[0] -= c->target;
  memcpy(s->r + (ptrdiff_t)3 * i, c->impulse, sizeof c->impulse);
  s->law[i] = (tbi_law){.at = 3 * i, .size = 3, .friction = c->friction};
}

static void read_row(step_problem *s, const tbi_problem *p, int32_t i) {
  const tbi_row *row = &p->row[i];
  int32_t k = 3 * p->npoint + i;
  s->q[k] = row->base - row->target;
  s->r[k] = row->impulse;
  s->law[p->npoint + i] = (tbi_law){.at = k, .size = 1, .lower = row->lower, .upper = row->upper};
}

step_problem step_problem_read(const tabi_world *world) {
  const tbi_problem *p = &world->setup.problem;
  step_problem s = {.ncontact = p->npoint, .nrow = p->nrow, .n = 3 * p->npoint + p->nrow};
  size_t n = (size_t)s.n;
  s.law = room(n, sizeof *s.law);
  s.w = room(n * n, sizeof *s.w);
  s.q = room(n, sizeof *s.q);
  s.r = room(n, sizeof *s.r);
  fill_matrix(&s, p);
  for (int32_t i = 0; i < p->npoint; ++i)
    read_point(&s, p, i);
  for (int32_t i = 0; i < p->nrow; ++i)
    read_row(&s, p, i);
  for (int32_t i = 0; i < s.ncontact + s.nrow; ++i) {
    tbi_law *law = &s.law[i];
    for (int32_t k = law->at; k < law->at + law->size; ++k)
      law->mobility += s.w[at(&s, k, k)] / law->size;
  }
  return s;
}

void step_problem_free(step_problem *problem) {
  free(problem->law);
  free(problem->w);
  free(problem->q);
  free(problem->r);
  *problem = (step_problem){0};
}

void step_problem_fix_rows(step_problem *problem) {
  int32_t n = 3 * problem->ncontact;
  for (int32_t i = 0; i < n; ++i) {
    for (int32_t k = n; k < problem->n; ++k)
      problem->q[i] += problem->w[at(problem, i, k)] * problem->r[k];
  }
  for (int32_t i = 0; i < n; ++i)
    memmove(problem->w + (size_t)i * (size_t)n, problem->w + at(problem, i, 0),
            sizeof *problem->w * (size_t)n);
  problem->nrow = 0;
  problem->n = n;
}

void step_problem_velocity(const step_problem *problem, const double *r, double *u) {
  for (int32_t i = 0; i < problem->n; ++i) {
    u[i] = problem->q[i];
    for (int32_t k = 0; k < problem->n; ++k)
      u[i] += problem->w[at(problem, i, k)] * r[k];
  }
}

/* the nearest point of the cone |t| <= mu n */
static void project(double mu, const double z[3], double p[3]) {
  double t = hypot(z[1], z[2]);
  double along = z[0];
  double across = t;
  if (t > mu * z[0]) {
    along = fmax(0, (z[0] + mu * t) / (1 + mu * mu));
    across = mu * along;
  }
  double share = t > 0 ? across / t : 0;
  p[0] = along;
  p[1] = share * z[1];
  p[2] = share * z[2];
}

static double breach(const tbi_law *law, const double *r, const double *u) {
  double w = law->mobility;
  if (w <= 0) return 0;
  if (law->size == 1) return w * (r[0] - fmin(fmax(r[0] - u[0] / w, law->lower), law->upper));
  double shift = law->friction * hypot(u[1], u[2]);
  const double z[3] = {r[0] - (u[0] + shift) / w, r[1] - u[1] / w, r[2] - u[2] / w};
  double p[3];
  project(law->friction, z, p);
  return w * hypot(hypot(r[0] - p[0], r[1] - p[1]), r[2] - p[2]);
}

double step_problem_residual(const step_problem *problem, const double *r) {
  double *u = room((size_t)problem->n, sizeof *u);
  double sum = 0;
  double size = 0;
  step_problem_velocity(problem, r, u);
  for (int32_t i = 0; i < problem->ncontact + problem->nrow; ++i) {
    const tbi_law *law = &problem->law[i];
    double own = breach(law, r + law->at, u + law->at);
    sum += own * own;
  }
  for (int32_t i = 0; i < problem->n; ++i)
    size += problem->q[i] * problem->q[i];
  free(u);
  return size > 0 ? sqrt(sum / size) : sqrt(sum);
}

/* Symmetric elimination, the largest pivot first. */
int32_t step_problem_rank(const step_problem *problem) {
  int32_t n = problem->n;
  double *a = room((size_t)n * (size_t)n, sizeof *a);
  memcpy(a, problem->w, sizeof *a * (size_t)n * (size_t)n);
  double first = 0;
  int32_t rank = 0;
  for (; rank < n; ++rank) {
    int32_t best = 0;
    for (int32_t i = 0; i < n; ++i)
      if (a[at(problem, i, i)] > a[at(problem, best, best)]) best = i;
    double pivot = a[at(problem, best, best)];
    if (rank == 0) first = pivot;
    if (pivot <= 1e-12 * first) break;
    for (int32_t i = 0; i < n; ++i) {
      double share = a[at(problem, i, best)] / pivot;
      if (i == best) continue;
      for (int32_t k = 0; k < n; ++k)
        a[at(problem, i, k)] -= share * a[at(problem, best, k)];
    }
    for (int32_t i = 0; i < n; ++i)
      a[at(problem, i, best)] = a[at(problem, best, i)] = 0;
  }
  free(a);
  return rank;
}

static bool is_empty(const double block[9]) {
  for (int k = 0; k < 9; ++k) {
    if (block[k] != 0) return false;
  }
  return true;
}

static void get_block(const step_problem *s, int32_t i, int32_t j, double block[9]) {
  for (int32_t k = 0; k < 9; ++k)
    block[k] = s->w[at(s, 3 * i + k / 3, 3 * j + k % 3)];
}

tabi_friction_problem *step_problem_make(const step_problem *problem) {
  size_t n = (size_t)problem->ncontact;
  int32_t *row = room(n, sizeof *row);
  int32_t *column = room(n * n, sizeof *column);
  double *block = room(9 * n * n, sizeof *block);
  double *friction = room(n, sizeof *friction);
  int32_t count = 0;
  for (int32_t i = 0; i < problem->ncontact; ++i) {
    friction[i] = problem->law[i].friction;
    for (int32_t j = 0; j < problem->ncontact; ++j) {
      get_block(problem, i, j, block + (ptrdiff_t)9 * count);
      if (is_empty(block + (ptrdiff_t)9 * count)) continue;
      column[count++] = j;
    }
    row[i + 1] = count;
  }
  tabi_friction_problem_def def = tabi_friction_problem_def_default();
  def.ncontact = problem->ncontact;
  def.row = row;
  def.column = column;
  def.block = block;
  def.q = problem->q;
  def.friction = friction;
  tabi_error err = {0};
  tabi_friction_problem *made = tabi_friction_problem_create(&def, &err);
  if (!made) fail_msg("%s", err.message);
  free(row);
  free(column);
  free(block);
  free(friction);
  return made;
}

void step_problem_save(const step_problem *problem, const char *path) {
  FILE *file = fopen(path, "w");
  assert_non_null(file);
  int32_t n = 3 * problem->ncontact;
  (void)fprintf(file, "3\n%d\n0\n%d\n%d\n%d %d\n", problem->ncontact, n, n, n, n);
  for (int32_t i = 0; i < n; ++i) {
    for (int32_t k = 0; k < n; ++k)
      (void)fprintf(file, "%.17g%c", problem->w[at(problem, i, k)], k < n - 1 ? ' ' : '\n');
  }
  for (int32_t i = 0; i < n; ++i)
    (void)fprintf(file, "%.17g\n", problem->q[i]);
  for (int32_t i = 0; i < problem->ncontact; ++i)
    (void)fprintf(file, "%.17g\n", problem->law[i].friction);
  assert_int_equal(fclose(file), 0);
}

/* joint_rows.c - constraints of single joint coordinates in the contact problem. */
#include "problem/ports.h"

#include "base/assertion.h"
#include "math/linalg.h"
#include "problem/half_solve.h"
#include "problem/loop_rows.h"

#include <string.h>

static int32_t tree_of(const tabi_model *model, int32_t dof) {
  return model->body[model->dof_body[dof]].tree;
}

/* fill_row has put zeros behind a path, up to a whole vector */
static double square(const double *y, int32_t n) {
  v4 sum = v4_zero();
  for (int32_t j = 0; j < n; j += 4)
    sum = v4_add(sum, v4_mul(v4_load(y + j), v4_load(y + j)));
  return v4_sum(sum);
}

/* T = Q' Y */
static void fill_tail(const tbi_setup *s, const tbi_row *row) {
  const tabi_model *model = s->model;
  const int32_t *path = model->dof_path + model->dof_row[row->dof];
  const double *y = s->y + row->y;
  for (int32_t t = 0; t < s->problem.cluster_loops[row->cluster]; ++t) {
    const double *q = tbi_loops_basis(&s->loops, row->cluster, t);
    double sum = 0;
    for (int32_t j = 0; j <= model->dof_depth[row->dof]; ++j)
      sum += y[j] * q[model->dof_local[path[j]]];
    s->y[row->tail + t] = sum;
  }
}

static void fill_row(const tbi_setup *s, tbi_row *row, int64_t tail) {
  TBI_ASSERT(row->dof >= 0 && row->dof < s->model->nv);
  TBI_ASSERT(row->lower <= row->upper);
  const tabi_model *model = s->model;
  int32_t loops = s->problem.cluster_loops[row->cluster];
  row->y = model->dof_row[row->dof];
  row->tail = tail;
  const double *y = s->y + row->y;
  int32_t length = model->dof_depth[row->dof] + 1;
  tbi_half_solve_joint(s->d, s->pivot_root, row->dof, s->y + row->y);
  for (int32_t j = length; j % 4 != 0; ++j)
    s->y[row->y + j] = 0;
  fill_tail(s, row);
  row->base = s->d->v[row->dof] + tbi_path_dot(model->dof_path + row->y, y, length, s->z);
  double loose = square(y, length);
  row->w = loose - tbi_dot(s->y + row->tail, s->y + row->tail, loops);
  row->inverse = row->w > 1e-12 * loose ? 1 / row->w : 0; /* loop constraints may fix it */
}

void tbi_rows_fill(tbi_setup *s) {
  const tabi_model *model = s->model;
  tbi_problem *p = &s->problem;
  int64_t tail = model->nrow;
  for (int32_t i = 0; i < p->nrow; ++i) {
    tbi_row *row = &p->row[i];
    row->cluster = model->tree_cluster[tree_of(model, row->dof)];
    fill_row(s, row, tail);
    tail += p->cluster_loops[row->cluster];
  }
}

/* -- updates */

/* Most robots have no loop constraints, so tails come last and are skipped if empty. */
static inline double row_response(const tbi_problem *p, const tbi_row *row, const double *sum) {
  const int32_t *path = p->model->dof_path + row->y;
  double u = tbi_path_dot(path, p->y + row->y, p->model->dof_depth[row->dof] + 1, sum);
  int32_t loops = p->cluster_loops[row->cluster];
  if (loops == 0) return u;
  const double *tail = p->y + row->tail;
  const double *loop = sum + tbi_loop_offset(p, row->cluster);
  for (int32_t t = 0; t < loops; ++t)
    u -= tail[t] * loop[t];
  return u;
}

static inline void row_push(const tbi_problem *p, const tbi_row *row, double impulse, double *sum) {
  const int32_t *path = p->model->dof_path + row->y;
  const double *y = p->y + row->y;
  for (int32_t j = 0; j <= p->model->dof_depth[row->dof]; ++j)
    sum[path[j]] += impulse * y[j];
  int32_t loops = p->cluster_loops[row->cluster];
  if (loops == 0) return;
  const double *tail = p->y + row->tail;
  double *loop = sum + tbi_loop_offset(p, row->cluster);
  for (int32_t t = 0; t < loops; ++t)
    loop[t] += impulse * tail[t];
}

double tbi_row_response(const tbi_problem *p, const tbi_row *row, const double *sum) {
  return row_response(p, row, sum);
}

double tbi_row_velocity(const tbi_problem *p, const tbi_row *row) {
  TBI_CHECK_SLOW(row >= p->row && row < p->row + p->nrow);
  return row->base + row_response(p, row, p->sum);
}

void tbi_row_push(const tbi_problem *p, const tbi_row *row, double impulse, double *sum) {
  if (impulse != 0) row_push(p, row, impulse, sum);
}

/* the impulse that brings it to its target within its bounds */
static inline double row_wanted(const tbi_problem *p, const tbi_row *row) {
  double impulse =
      row->impulse + (row->target - (row->base + row_response(p, row, p->sum))) * row->inverse;
  return tbi_min(tbi_max(impulse, row->lower), row->upper);
}

double tbi_row_misses(const tbi_problem *p, const tbi_row *row) {
  return fabs((row_wanted(p, row) - row->impulse) * row->w);
}

static inline double row_visit(tbi_problem *p, tbi_row *row) {
  double impulse = row_wanted(p, row);
  double change = impulse - row->impulse;
  if (change == 0) return 0;
  row->impulse = impulse;
  row_push(p, row, change, p->sum);
  return fabs(change * row->w);
}

double tbi_row_visit(tbi_problem *p, tbi_row *row) { return row_visit(p, row); }

/* let the ports feel what rows have added to the sum since it was `before` */
static void tell_ports(tbi_problem *p) {
  for (int32_t k = 0; k < p->nsum; ++k)
    p->before[k] = p->sum[k] - p->before[k];
  for (int32_t i = 0; i < p->nport; ++i)
    p->velocity[i] = sv_add(p->velocity[i], tbi_port_response(p, i, p->before));
}

double tbi_rows_sweep(tbi_problem *p) {
  TBI_ASSERT(p->nrow == 0 || p->nsum >= p->model->nv);
  if (p->nrow + p->nloop == 0) return 0;
  tbi_problem_sum(p);
  memcpy(p->before, p->sum, sizeof *p->sum * (size_t)p->nsum);
  double change = 0;
  for (int32_t i = 0; i < p->nrow; ++i)
    change = tbi_max(change, row_visit(p, &p->row[i]));
  change = tbi_max(change, tbi_loop_rows_visit(p));
  if (change > 0) tell_ports(p);
  return change;
}

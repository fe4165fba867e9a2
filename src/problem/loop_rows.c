/* loop_rows.c - loop constraints as rows of the sweeps: constraint vectors without bounds among the
 * unknowns (P4, sections 2.1 and 2.4).
 *
 * A row has Y of its unit impulse along the paths of its two sides, so that a visit costs their
 * length, whatever else belongs to the cluster. */
#include "problem/loop_rows.h"

#include "math/linalg.h"
#include "problem/half_solve.h"
#include "problem/ports.h"

#include <string.h>

/* share of the most mobile row's mobility below which a row moves by rounding only: Y has errors of
 * 1e-16, and mobility is its square */
#define IMMOBILE 1e-20

/* Y of a unit impulse on a body, or at a joint; the last velocity of its path, or TABI_NONE */
static int32_t half_solve(const tbi_setup *s, int32_t body, sv wrench, int32_t joint, double *y) {
  if (joint != TABI_NONE) {
    tbi_half_solve_joint(s->d, s->pivot_root, joint, y);
    return joint;
  }
  if (body == TABI_WORLD) return TABI_NONE;
  int32_t dof = tbi_last_dof(&s->model->body[body]);
  tbi_half_solve_wrench(s->d, s->pivot_root, dof, wrench, y);
  return dof;
}

static int32_t length_of(const tabi_model *model, int32_t dof) {
  return dof == TABI_NONE ? 0 : model->dof_depth[dof] + 1;
}

static const int32_t *path_of(const tabi_model *model, int32_t dof) {
  return dof == TABI_NONE ? model->dof_path : model->dof_path + model->dof_row[dof];
}

/* what both paths share is in the first */
static void fill_path(const tbi_setup *s, const tbi_loop *loop, double *y, tbi_loop_row *row) {
  const tabi_model *model = s->model;
  const double *other = s->scratch;
  double sign = loop->leader == TABI_NONE ? -1 : -loop->slope;
  int32_t b = half_solve(s, loop->body_b, loop->wrench_b, loop->dof, y);
  int32_t a = half_solve(s, loop->body_a, loop->wrench_a, loop->leader, s->scratch);
  int32_t shared = tbi_paths_shared(model, a, b);
  int32_t length = length_of(model, b);
  for (int32_t j = 0; j < shared; ++j)
    y[j] += sign * other[j];
  for (int32_t j = shared; j < length_of(model, a); ++j)
    y[length + j - shared] = sign * other[j];
  row->y = y;
  row->path[0] = path_of(model, b);
  row->length[0] = length;
  row->path[1] = path_of(model, a) + shared;
  row->length[1] = length_of(model, a) - shared;
}

static void add_arms(const tbi_setup *s, const tbi_arms *arms, double *y) {
  const tabi_model *model = s->model;
  for (int32_t i = 0; i < arms->count; ++i) {
    int32_t dof = arms->dof[i];
    const int32_t *path = path_of(model, dof);
    tbi_half_solve_joint(s->d, s->pivot_root, dof, s->scratch);
    for (int32_t j = 0; j < length_of(model, dof); ++j)
      y[model->dof_local[path[j]]] += arms->share * arms->arm[i] * s->scratch[j];
  }
}

/* tendons may move many paths: their rows have all velocities of the cluster */
static void fill_tendon(const tbi_setup *s, const tbi_loop *loop, double *y, tbi_loop_row *row) {
  const tabi_model *model = s->model;
  row->y = y;
  row->path[0] = row->path[1] = model->dof_order + model->cluster_dof[loop->cluster];
  row->length[0] = tbi_cluster_dofs(model, loop->cluster);
  row->length[1] = 0;
  memset(y, 0, sizeof *y * (size_t)row->length[0]);
  add_arms(s, &loop->tendon[0], y);
  add_arms(s, &loop->tendon[1], y);
}

static double response(const tbi_loop_row *row, const double *sum) {
  return tbi_path_dot(row->path[0], row->y, row->length[0], sum) +
         tbi_path_dot(row->path[1], row->y + row->length[0], row->length[1], sum);
}

static void push(const tbi_loop_row *row, double impulse, double *sum) {
  const double *y = row->y;
  for (int side = 0; side < 2; ++side)
    for (int32_t j = 0; j < row->length[side]; ++j)
      sum[row->path[side][j]] += impulse * *y++;
}

static void fill_row(const tbi_setup *s, tbi_loop *loop, double *y, tbi_loop_row *row) {
  if (loop->tendon[0].count + loop->tendon[1].count > 0) {
    fill_tendon(s, loop, y, row);
  } else {
    fill_path(s, loop, y, row);
  }
  row->w = tbi_dot(y, y, row->length[0] + row->length[1]);
  tbi_loop_give_way(loop, s->loops.timestep, row->w);
  row->base = loop->velocity + response(row, s->z);
  row->compliance = loop->compliance;
  row->target = loop->target;
  row->impulse = 0;
}

void tbi_loop_rows_fill(tbi_setup *s) {
  const tabi_model *model = s->model;
  tbi_loops *loops = &s->loops;
  tbi_problem *p = &s->problem;
  double largest = 0;
  p->nloop = 0;
  for (int32_t c = 0; c < model->ncluster; ++c) {
    loops->first[c] = p->nloop;
    loops->rank[c] = 0;
    loops->inconsistent[c] = false;
    for (int32_t t = 0; p->nloop < loops->count && loops->loop[p->nloop].cluster == c; ++t) {
      tbi_loop_row *row = &p->loop_row[p->nloop];
      fill_row(s, &loops->loop[p->nloop++], tbi_loops_column(loops, c, t), row);
      largest = tbi_max(largest, row->w);
    }
  }
  for (int32_t i = 0; i < p->nloop; ++i) {
    tbi_loop_row *row = &p->loop_row[i];
    row->inverse = row->w > IMMOBILE * largest ? 1 / (row->w + row->compliance) : 0;
  }
}

void tbi_loop_rows_start(tbi_problem *p) {
  for (int32_t i = 0; i < p->nloop; ++i)
    if (p->loop_row[i].impulse != 0) push(&p->loop_row[i], p->loop_row[i].impulse, p->sum);
}

/* what the velocity still misses of the target */
static double missed_by(const tbi_problem *p, const tbi_loop_row *row) {
  return row->target - (row->base + response(row, p->sum) + row->compliance * row->impulse);
}

double tbi_loop_rows_visit(tbi_problem *p) {
  double change = 0;
  for (int32_t i = 0; i < p->nloop; ++i) {
    tbi_loop_row *row = &p->loop_row[i];
    double more = missed_by(p, row) * row->inverse;
    if (more == 0) continue;
    row->impulse += more;
    push(row, more, p->sum);
    change = tbi_max(change, fabs(more * row->w));
  }
  return change;
}

void tbi_loop_rows_finish(tbi_setup *s) {
  for (int32_t i = 0; i < s->problem.nloop; ++i) {
    const tbi_loop_row *row = &s->problem.loop_row[i];
    s->loops.loop[i].impulse = row->impulse;
    s->loops.loop[i].missed = missed_by(&s->problem, row);
    if (s->loops.loop[i].open) s->loops.loop[i].missed += row->compliance * row->impulse;
    s->loops.loop[i].redundant = false;
  }
}

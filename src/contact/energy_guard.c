/* energy_guard.c - the work of impulses s r, with u_f the velocities without them and c those that
 * take back depth, is
 *
 *   s r.(u_f - c) + s^2 r.W r / 2
 *
 * which is below zero for all s from 0 to twice the s where it is least. */
#include "contact/energy_guard.h"

#include "base/assertion.h"
#include "problem/couples.h"

#define ROUNDING 1e-11 /* share of the energy that flows through an island */

/* Of an island, kept at the cluster that leads it. */
typedef struct work {
  double linear, square; /* r.(u_f - c) and r.W r */
  double flow;           /* sum of absolute values */
  double scale;          /* of the impulses */
} work;

typedef struct memory {
  int32_t *leader; /* of a cluster: another one of its island, or itself */
  work *work;
} memory;

static size_t place(memory *to, void *block, const tabi_model *model) {
  tbi_layout at = {block, 0};
  to->leader = tbi_layout_take(&at, model->ncluster, sizeof *to->leader);
  to->work = tbi_layout_take(&at, model->ncluster, sizeof *to->work);
  return at.used;
}

size_t tbi_energy_guard_memsize(const tabi_model *model) {
  memory m;
  return place(&m, NULL, model);
}

static int32_t find(int32_t *leader, int32_t c) {
  while (leader[c] != c) {
    leader[c] = leader[leader[c]];
    c = leader[c];
  }
  return c;
}

static void find_islands(const tbi_problem *p, const memory *m) {
  for (int32_t c = 0; c < p->model->ncluster; ++c) {
    m->leader[c] = c;
    m->work[c] = (work){.scale = 1};
  }
  for (int32_t g = 0; g < p->ngroup; ++g) {
    const tbi_group *group = &p->group[g];
    if (group->port_a == TABI_NONE || group->port_b == TABI_NONE) continue;
    int32_t a = find(m->leader, p->port[group->port_a].cluster);
    int32_t b = find(m->leader, p->port[group->port_b].cluster);
    m->leader[a > b ? a : b] = a < b ? a : b;
  }
}

static work *work_of(const memory *m, int32_t cluster) {
  return &m->work[find(m->leader, cluster)];
}

static int32_t cluster_of(const tbi_problem *p, const tbi_point *c) {
  return p->port[c->port_b != TABI_NONE ? c->port_b : c->port_a].cluster;
}

static void add(work *to, double impulse_by_free, double impulse_by_change) {
  to->linear += impulse_by_free;
  to->square += impulse_by_change;
  to->flow += fabs(impulse_by_free) + fabs(impulse_by_change);
}

static void add_work(const tbi_problem *p, const memory *m) {
  for (int32_t k = 0; k < p->nport; ++k)
    add(work_of(m, p->port[k].cluster), sv_dot(p->received[k], p->free[k]),
        sv_dot(p->received[k], sv_sub(p->velocity[k], p->free[k])));
  for (int32_t i = 0; i < p->npoint; ++i) {
    const tbi_point *c = &p->point[i];
    work_of(m, cluster_of(p, c))->linear -= c->impulse[0] * tbi_max(c->resting_target, 0);
  }
  for (int32_t i = 0; i < p->nrow; ++i) {
    const tbi_row *row = &p->row[i];
    work *to = work_of(m, row->cluster);
    add(to, row->impulse * row->base, row->impulse * (tbi_row_velocity(p, row) - row->base));
    to->linear -= tbi_max(row->impulse * row->target, 0);
  }
}

static bool gains(const work *w) { return w->linear + 0.5 * w->square > ROUNDING * w->flow; }

static bool find_scales(const tbi_problem *p, const memory *m) {
  bool any = false;
  for (int32_t c = 0; c < p->model->ncluster; ++c) {
    work *w = &m->work[c];
    if (m->leader[c] != c || !gains(w)) continue;
    w->scale = w->square > 0 ? tbi_min(tbi_max(-w->linear / w->square, 0), 1) : 0;
    any = true;
  }
  return any;
}

static void scale_impulses(tbi_problem *p, const memory *m) {
  for (int32_t i = 0; i < p->npoint; ++i) {
    tbi_point *c = &p->point[i];
    for (int k = 0; k < 3; ++k)
      c->impulse[k] *= work_of(m, cluster_of(p, c))->scale;
  }
  for (int32_t i = 0; i < p->nrow; ++i)
    p->row[i].impulse *= work_of(m, p->row[i].cluster)->scale;
  for (int32_t k = 0; k < p->ncouple; ++k) {
    tbi_couple *c = &p->couple[k];
    for (int i = 0; i < 2; ++i)
      c->impulse[i] *= work_of(m, cluster_of(p, &p->point[c->point]))->scale;
  }
}

bool tbi_energy_guard(tbi_problem *p, void *scratch) {
  TBI_ASSERT(scratch);
  memory m;
  (void)place(&m, scratch, p->model);
  if (p->nrow > 0) tbi_problem_sum(p);
  find_islands(p, &m);
  add_work(p, &m);
  if (!find_scales(p, &m)) return false;
  scale_impulses(p, &m);
  tbi_problem_start(p);
  return true;
}

/* small_island.c - W from the blocks between ports: an impulse at a point moves the ports of its
 * clusters, and those move their points.  Rows, of which there are few, are multiplied out. */
#include "contact/small_island.h"

#include "math/lu.h"
#include "problem/ports.h"
#include "problem/sweep.h"

#include <string.h>

void tbi_small_island_place(tbi_layout *at, tbi_small_island *small) {
  int64_t n = TBI_SMALL_ISLAND_UNKNOWNS;
  small->matrix = tbi_layout_take(at, n * n, sizeof *small->matrix);
  small->lu = tbi_layout_take(at, n * n, sizeof *small->lu);
  small->pivot = tbi_layout_take(at, n, sizeof *small->pivot);
}

static void multiply(void *self, const double *r, double *wr) {
  const tbi_small_island *small = self;
  int32_t n = small->w.nunknown;
  memset(wr, 0, sizeof *wr * (size_t)n);
  for (int32_t j = 0; j < n; ++j) {
    const double *column = small->matrix + (ptrdiff_t)j * n; /* as W is symmetric */
    for (int32_t i = 0; i < n; ++i)
      wr[i] += r[j] * column[i];
  }
}

/* rows at .. at + size of 1 + D W */
static void add_law(const tbi_small_island *small, const tbi_law *law, const double *d) {
  ptrdiff_t n = small->w.nunknown;
  for (int32_t k = 0; k < law->size; ++k) {
    double *row = small->lu + (law->at + k) * n;
    memset(row, 0, sizeof *row * (size_t)n);
    for (int32_t l = 0; l < law->size; ++l) {
      double share = d[3 * k + l];
      const double *w = small->matrix + (law->at + l) * n;
      if (share == 0) continue;
      for (ptrdiff_t j = 0; j < n; ++j)
        row[j] += share * w[j];
    }
    row[law->at + k] += 1;
  }
}

static bool newton(void *self, const tbi_law_block *d, const double *g, double *dr) {
  const tbi_small_island *small = self;
  int32_t n = small->w.nunknown;
  for (int32_t i = 0; i < small->w.nlaw; ++i)
    add_law(small, &small->w.law[i], d[i].m);
  if (!tbi_lu_factor(n, small->lu, small->pivot)) return false;
  memcpy(dr, g, sizeof *dr * (size_t)n);
  tbi_lu_solve(n, small->lu, small->pivot, dr);
  return true;
}

/* what a wrench at one port does to all ports of its cluster */
static void push_port(const tbi_problem *p, int32_t port, sv wrench, sv *velocity) {
  if (port == TABI_NONE) return;
  int32_t cluster = p->port[port].cluster;
  int32_t first = p->cluster_port[cluster];
  for (int32_t k = first; k < first + p->cluster_ports[cluster]; ++k)
    velocity[k] = sv_add(velocity[k], tbi_problem_response(p, k, port, wrench));
}

/* the velocities of all points by an impulse along one axis at one of them */
static void fill_column(const tbi_island *island, const tbi_point *c, v4 axis, double *column) {
  const tbi_problem *p = island->all->p;
  sv *velocity = island->all->port;
  for (int32_t i = 0; i < island->ncluster; ++i) {
    int32_t cluster = island->cluster[i];
    for (int32_t k = 0; k < p->cluster_ports[cluster]; ++k)
      velocity[p->cluster_port[cluster] + k] = sv_zero();
  }
  push_port(p, c->port_a, sv_scale(-1, tbi_wrench(c->arm_a, axis)), velocity);
  push_port(p, c->port_b, tbi_wrench(c->arm_b, axis), velocity);
  for (int32_t i = 0; i < island->npoint; ++i, column += 3) {
    const tbi_point *at = tbi_island_point(island, i);
    sv a = at->port_a == TABI_NONE ? sv_zero() : velocity[at->port_a];
    sv b = at->port_b == TABI_NONE ? sv_zero() : velocity[at->port_b];
    v3_store(tbi_point_velocity(at, a, b), column);
  }
}

static void fill_row(const tbi_island *island, tbi_small_island *small, int32_t at) {
  int32_t n = island->w.nunknown;
  double *unit = small->lu;
  double *row = small->matrix + (ptrdiff_t)at * n;
  memset(unit, 0, sizeof *unit * (size_t)n);
  unit[at] = 1;
  island->w.multiply(island->w.self, unit, row);
  for (int32_t i = 0; i < n; ++i)
    small->matrix[(ptrdiff_t)i * n + at] = row[i];
}

bool tbi_small_island_make(tbi_small_island *small, const tbi_island *island) {
  int32_t n = island->w.nunknown;
  if (n > TBI_SMALL_ISLAND_UNKNOWNS || island->ncouple > 0) return false;
  small->w = island->w;
  small->w.self = small;
  small->w.multiply = multiply;
  small->w.sweep = NULL;
  small->w.newton = newton;
  for (int32_t i = 0; i < island->npoint; ++i) {
    const tbi_point *c = tbi_island_point(island, i);
    double *column = small->matrix + (ptrdiff_t)3 * i * n;
    fill_column(island, c, c->frame.x, column);
    fill_column(island, c, c->frame.y, column + n);
    fill_column(island, c, c->frame.z, column + (ptrdiff_t)2 * n);
  }
  for (int32_t i = 3 * island->npoint; i < n; ++i)
    fill_row(island, small, i);
  return true;
}

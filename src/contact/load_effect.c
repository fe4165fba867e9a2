/* load_effect.c - which loads are open, and what friction makes of them.
 *
 * In coordinates in which M is the unit matrix, N are the directions in which impulses may change
 * while their contact keeps its law: the normal of a point that slides, all three of one that
 * sticks, joint rows within their bounds.  Loads are open along v with  N v = 0.  Along it friction
 * of the points that slide changes by  T (-mu c v_n), c the unit vectors of their slips; what N
 * does not take up of that moves something.
 *
 *   a direction  --> less its shares of those before it  --> one more unit vector of the basis
 *   nothing is left of it: the same combination of friction is an effect
 *   effects      --> less their shares of the whole basis --> their size
 *
 * Sticking points and rows come first, as it does not matter how they share theirs. */
#include "contact/load_effect.h"

#include "base/assertion.h"
#include "math/padded.h"
#include "problem/bundles.h"
#include "problem/sweep.h"

#include <string.h>

/* Squares of the sine of the angle between a direction and those before it.  Below one it depends
 * on them.  Below another rounding is projected out by a second pass, as Kahan and Parlett found,
 * until nothing else is left. */
#define DEPENDENT 1e-8
#define NARROW    1e-2
#define NOTHING   1e-20

typedef struct space {
  const tbi_island *island;
  tbi_load_memory at;
  int32_t velocities, loops; /* coordinates: velocities, then loop constraints */
  int32_t size;              /* of a vector, with its padding */
  int32_t count, effects; /* vectors of the basis; effects may be more than there is memory for */
  int32_t sticking;       /* the first of them, which have no friction */
} space;

void tbi_load_memory_place(tbi_layout *at, int64_t coordinates, tbi_load_memory *memory) {
  coordinates = tbi_padded_size(coordinates);
  int64_t square = coordinates * coordinates;
  memory->basis = tbi_layout_take(at, square, sizeof *memory->basis);
  memory->friction = tbi_layout_take(at, square, sizeof *memory->friction);
  memory->effect = tbi_layout_take(at, TBI_LOAD_EFFECTS * coordinates, sizeof *memory->effect);
  memory->direction = tbi_layout_take(at, coordinates, sizeof *memory->direction);
  memory->own = tbi_layout_take(at, coordinates, sizeof *memory->own);
  memory->share = tbi_layout_take(at, coordinates, sizeof *memory->share);
}

static space make_space(const tbi_load_memory *memory, const tbi_island *island) {
  const tbi_problem *p = island->all->p;
  space s = {.island = island, .at = *memory};
  for (int32_t c = 0; c < island->ncluster; ++c) {
    s.velocities += tbi_cluster_dofs(p->model, island->cluster[c]);
    s.loops += p->cluster_loops[island->cluster[c]];
  }
  s.size = (int32_t)tbi_padded_size(s.velocities + s.loops);
  memset(s.at.direction, 0, (size_t)s.size * sizeof *s.at.direction);
  memset(s.at.own, 0, (size_t)s.size * sizeof *s.at.own);
  return s;
}

/* -- vectors */

/* loop constraints take motion away */
static double product(const space *s, const double *a, const double *b) {
  double all = tbi_padded_dot(a, b, s->size);
  for (int32_t i = s->velocities; i < s->velocities + s->loops; ++i)
    all -= 2 * a[i] * b[i];
  return all;
}

static double *vector(const space *s, double *of, int32_t i) { return of + (ptrdiff_t)i * s->size; }

/* takes the island's coordinates out of a sum over all, and leaves zeros there */
static void take(const space *s, double *to) {
  const tbi_problem *p = s->island->all->p;
  const tabi_model *model = p->model;
  double *sum = s->island->all->sum;
  for (int32_t c = 0; c < s->island->ncluster; ++c) {
    int32_t cluster = s->island->cluster[c];
    for (int32_t k = model->cluster_dof[cluster]; k < model->cluster_dof[cluster + 1]; ++k) {
      *to++ = sum[model->dof_order[k]];
      sum[model->dof_order[k]] = 0;
    }
  }
  for (int32_t c = 0; c < s->island->ncluster; ++c) {
    int32_t cluster = s->island->cluster[c];
    double *loop = sum + model->nv + model->cluster_loop[cluster];
    for (int32_t k = 0; k < p->cluster_loops[cluster]; ++k) {
      *to++ = loop[k];
      loop[k] = 0;
    }
  }
}

/* of a unit impulse at a point along a world axis */
static void take_axis(const space *s, const tbi_point *c, v4 axis, double *to) {
  const tbi_problem *p = s->island->all->p;
  tbi_sides on = tbi_point_wrenches(c, axis);
  if (c->port_a != TABI_NONE) tbi_port_push(p, c->port_a, on.a, s->island->all->sum);
  if (c->port_b != TABI_NONE) tbi_port_push(p, c->port_b, on.b, s->island->all->sum);
  take(s, to);
}

/* -- the basis */

/* x less so many times each vector from `first` on as at.share says; sums stay in registers */
static void subtract(const space *s, const double *of, int32_t first, double *x) {
  for (int32_t i = 0; i < s->size; i += TBI_PADDING) {
    double left[TBI_PADDING];
    memcpy(left, x + i, sizeof left);
    for (int32_t k = first; k < s->count; ++k) {
      const double *v = of + (ptrdiff_t)k * s->size + i;
      for (int32_t j = 0; j < TBI_PADDING; ++j)
        left[j] -= s->at.share[k] * v[j];
    }
    memcpy(x + i, left, sizeof left);
  }
}

/* Takes its shares of the basis from at.direction, and their friction from at.own; returns the
 * square of what is left.  Shares that do not wait for each other are several times faster. */
static double project(space *s, bool slides) {
  double *d = s->at.direction;
  for (int32_t k = 0; k < s->count; ++k)
    s->at.share[k] = product(s, d, vector(s, s->at.basis, k));
  subtract(s, s->at.basis, 0, d);
  if (slides) subtract(s, s->at.friction, s->sticking, s->at.own);
  return product(s, d, d);
}

/* at.direction joins the basis, unless it depends on it; at.own is its friction */
static void add_direction(space *s, bool slides) {
  double *d = s->at.direction;
  double *own = s->at.own;
  double whole = product(s, d, d);
  double left = project(s, slides);
  if (left < NARROW * whole && left > NOTHING * whole) left = project(s, slides);
  size_t bytes = (size_t)s->size * sizeof *d;
  if (left > DEPENDENT * whole && s->count < s->size) {
    double scale = 1 / sqrt(left);
    double *basis = vector(s, s->at.basis, s->count);
    double *friction = vector(s, s->at.friction, s->count++);
    for (int32_t i = 0; i < s->size; ++i)
      basis[i] = scale * d[i];
    for (int32_t i = 0; slides && i < s->size; ++i)
      friction[i] = scale * own[i];
  } else if (slides && s->effects++ < TBI_LOAD_EFFECTS) {
    memcpy(vector(s, s->at.effect, s->effects - 1), own, bytes);
  }
}

static void add_rows(space *s) {
  const tbi_problem *p = s->island->all->p;
  for (int32_t i = 0; i < s->island->nrow; ++i) {
    const tbi_row *row = &p->row[s->island->row[i]];
    if (row->impulse <= row->lower || row->impulse >= row->upper) continue;
    tbi_row_push(p, row, 1, s->island->all->sum);
    take(s, s->at.direction);
    add_direction(s, false);
  }
}

/* whether a point touches, so that it may carry a load */
static bool touches(const tbi_point *c, const double *u, double solved) {
  return !c->immobile && (c->impulse[0] > 0 || u[0] <= solved);
}

/* friction for a unit of load, if it slides faster than what is solved */
static bool slip(const tbi_point *c, const double *u, double solved, v4 *friction) {
  double speed = sqrt(u[1] * u[1] + u[2] * u[2]);
  double share = speed > solved ? -c->friction / speed : 0;
  *friction = m4_combine(&c->frame, 0, share * u[1], share * u[2]);
  return speed > solved || c->friction == 0;
}

static void add_points(space *s, const double *u, double solved, bool sliding) {
  for (int32_t i = 0; i < s->island->npoint; ++i) {
    const tbi_point *c = tbi_island_point(s->island, i);
    const double *own = u + s->island->w.law[i].at;
    v4 friction;
    if (!touches(c, own, solved) || slip(c, own, solved, &friction) != sliding) continue;
    if (sliding) take_axis(s, c, friction, s->at.own);
    take_axis(s, c, c->frame.x, s->at.direction);
    add_direction(s, sliding);
    if (sliding) continue;
    take_axis(s, c, c->frame.y, s->at.direction);
    add_direction(s, false);
    take_axis(s, c, c->frame.z, s->at.direction);
    add_direction(s, false);
  }
}

/* -- effects */

/* sqrt(J) for a unit of load */
static double largest_effect(const space *s) {
  double most = 0;
  for (int32_t i = 0; i < s->effects; ++i) {
    double *effect = vector(s, s->at.effect, i);
    for (int32_t k = 0; k < s->count; ++k) {
      const double *basis = vector(s, s->at.basis, k);
      tbi_padded_axpy(-product(s, effect, basis), basis, effect, s->size);
    }
    most = tbi_max(most, product(s, effect, effect));
  }
  return sqrt(most);
}

double tbi_load_effect(const tbi_load_memory *memory, const tbi_island *island, const double *u,
                       double solved) {
  TBI_ASSERT(memory && island && u && solved >= 0);
  space s = make_space(memory, island);
  double *sum = island->all->sum;
  memset(sum, 0, (size_t)island->all->p->nsum * sizeof *sum);
  add_rows(&s);
  add_points(&s, u, solved, false);
  s.sticking = s.count;
  add_points(&s, u, solved, true);
  if (s.effects > TBI_LOAD_EFFECTS) return INFINITY;
  double load = 0;
  double mobility = 0;
  for (int32_t i = 0; i < island->npoint; ++i) {
    const tbi_point *c = tbi_island_point(island, i);
    load = tbi_max(load, c->impulse[0]);
    mobility = tbi_max(mobility, c->mobility);
  }
  return sqrt(mobility) * load * largest_effect(&s);
}

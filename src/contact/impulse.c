/* impulse.c - multi-point rigid collision with restitution (P5, Sugihara and Nakamura).
 *
 * Whatever touches is a set of points.  Points that hold ask for velocities: the normal one
 * rebounds (the point's target), the tangential ones of a point that sticks are zero.  The impulses
 * that give them, M f = -q, are taken by the pseudo-inverse of M, because with four points under a
 * sole M is singular: the load is spread with the least norm.  Then, one change at a time until
 * nothing is wrong:
 *
 *   a point that pulls                      is let go, the worst first
 *   a point that sticks beyond static mu    slides, with kinetic mu, against where it was pulled
 *   a point let go that would go in         holds again
 *
 * Points that slid before the step slide with kinetic mu against the slip.  Their friction follows
 * their normal impulse, which a small system of these normals alone takes into account.
 *
 * Newton's restitution with friction may give energy.  If it would, all rebounds are taken back by
 * one factor, and if that is not enough friction by another.  Joint rows are points without
 * tangents: they hold, or push with a bound.
 *
 * When the changes go in circles they start again with all points sticking, whatever their slip:
 * the friction that opposes a slip may leave no answer, as Painleve's rod shows.  If that fails
 * too, or an island is too large, the problem is left to cone, and the solution says that it has
 * not converged. */
#include "contact/cone.h"
#include "contact/factored.h"
#include "contact/formulation.h"
#include "math/pseudo.h"

#include <stdlib.h>
#include <string.h>

#define MAX_UNKNOWNS 1200  /* of one island; larger ones go to cone */
#define RANK         1e-9  /* of its own diagonal: what is left of a dependent unknown */
#define GOES_IN      1e-10 /* m/s or rad/s: slower than this nothing has to be held */
#define TOUCHES      1e-9  /* m: what is nearer takes part in the published loop */

enum { ENERGY_HALVINGS = 30 };

typedef enum hold { FREE, STICKS, SLIDES, BOUND } hold;

/* what a point or row does */
typedef struct part {
  hold hold;
  double along[2]; /* of the friction of a point that slides */
  bool turned;     /* slid, and was stopped */
  bool let_go;     /* pulled; only going in brings it back */
  double bound;    /* impulse of a row at a bound */
} part;

typedef struct crowd {
  const tbi_island *island;
  part *part; /* by law */
  int32_t n;
  double *m;       /* M, n x n */
  double *q;       /* velocities without impulses, targets taken off */
  double *f, *u;   /* impulses, and velocities with them */
  double *last;    /* impulses of the step before */
  double friction; /* share of all coefficients */
  bool stops;      /* slip before the step does not count */
  int32_t *held, nheld;
  struct {
    int32_t law, held; /* the point's law, and which of held its normal is */
  } * sliding;         /* points that slide */
  int32_t nsliding;
  double *a, *x; /* of the held unknowns */
  tbi_pseudo pseudo;
} crowd;

/* NULL: a row */
static const tbi_point *point_of(const crowd *c, int32_t law) {
  return tbi_island_point(c->island, law);
}

static double *row_of(const crowd *c, int32_t i) { return c->m + (size_t)i * (size_t)c->n; }

static void take_memory(crowd *c, tbi_layout *at, int64_t most) {
  int64_t n = most < MAX_UNKNOWNS ? most : MAX_UNKNOWNS;
  c->part = tbi_layout_take(at, n, sizeof *c->part);
  c->held = tbi_layout_take(at, n, sizeof *c->held);
  c->sliding = tbi_layout_take(at, n, sizeof *c->sliding);
  c->m = tbi_layout_take(at, n * n, sizeof *c->m);
  c->a = tbi_layout_take(at, n * n, sizeof *c->a);
  c->q = tbi_layout_take(at, n, sizeof *c->q);
  c->f = tbi_layout_take(at, n, sizeof *c->f);
  c->u = tbi_layout_take(at, n, sizeof *c->u);
  c->x = tbi_layout_take(at, n, sizeof *c->x);
  c->last = tbi_layout_take(at, n, sizeof *c->last);
  c->pseudo.l = tbi_layout_take(at, (int64_t)tbi_pseudo_room(n), sizeof(double));
}

/* M by unit impulses */
static void begin(crowd *c, const tbi_island *island) {
  const tbi_delassus *w = &island->w;
  c->island = island;
  c->n = w->nunknown;
  tbi_island_read(island, c->last);
  c->friction = 1;
  c->stops = false;
  memset(c->f, 0, sizeof *c->f * (size_t)c->n);
  for (int32_t j = 0; j < c->n; ++j) {
    c->f[j] = 1;
    w->multiply(w->self, c->f, c->u);
    c->f[j] = 0;
    for (int32_t i = 0; i < c->n; ++i)
      row_of(c, i)[j] = c->u[i];
  }
}

static double mu_kinetic(const crowd *c, const tbi_point *point) {
  const tabi_material_def *s = point->surface;
  return c->friction * (s->kinetic < 0 ? s->friction : s->kinetic);
}

/* a point by its slip before the step */
static part held_point(const crowd *c, const tbi_point *point) {
  double slip = sqrt(point->slip[0] * point->slip[0] + point->slip[1] * point->slip[1]);
  part p = {.hold = STICKS};
  if (slip > point->surface->slip_speed && !c->stops) {
    p.hold = SLIDES;
    for (int k = 0; k < 2; ++k)
      p.along[k] = -point->slip[k] / slip;
  }
  return p;
}

/* a row by where it was in the step before */
static part held_row(const tbi_law *law, double last) {
  bool holds = last > law->lower && last < law->upper;
  return (part){.hold = holds ? STICKS : BOUND,
                .bound = last <= law->lower ? law->lower : law->upper};
}

/* what would go in holds, and what held in the step before */
static void start(crowd *c, double rebound) {
  const tbi_delassus *w = &c->island->w;
  memcpy(c->q, w->q, sizeof *c->q * (size_t)c->n);
  for (int32_t i = 0; i < w->nlaw; ++i) {
    const tbi_point *point = point_of(c, i);
    int32_t at = w->law[i].at;
    if (point) {
      c->q[at] += (1 - rebound) * (point->target - point->rest);
      bool holds = c->q[at] < -GOES_IN || c->last[at] > 0;
      c->part[i] = holds ? held_point(c, point) : (part){.hold = FREE};
    } else {
      c->part[i] = held_row(&w->law[i], c->last[at]);
    }
  }
}

/* the unknowns whose velocities are asked for, normals first, and the factor of their M */
static void factor_held(crowd *c) {
  const tbi_delassus *w = &c->island->w;
  int32_t normals = 0;
  c->nheld = c->nsliding = 0;
  for (int32_t k = 0; k < 3; ++k) {
    for (int32_t i = 0; i < w->nlaw; ++i) {
      if (c->part[i].hold == SLIDES && k == 0) {
        c->sliding[c->nsliding].law = i;
        c->sliding[c->nsliding++].held = c->nheld;
      }
      bool asked = c->part[i].hold == STICKS || (c->part[i].hold == SLIDES && k == 0);
      if (asked && k < w->law[i].size) c->held[c->nheld++] = w->law[i].at + k;
    }
    if (k == 0) normals = c->nheld;
  }
  for (int32_t i = 0; i < c->nheld; ++i) {
    for (int32_t j = 0; j < c->nheld; ++j)
      c->a[(size_t)i * (size_t)c->nheld + (size_t)j] = row_of(c, c->held[i])[c->held[j]];
  }
  c->pseudo = tbi_pseudo_make(c->nheld, c->pseudo.l);
  tbi_pseudo_factor(&c->pseudo, c->a, normals, RANK);
}

/* impulses that follow from others or from a bound */
static void follow(crowd *c) {
  const tbi_delassus *w = &c->island->w;
  for (int32_t i = 0; i < w->nlaw; ++i) {
    const part *p = &c->part[i];
    double *f = c->f + w->law[i].at;
    if (p->hold == FREE) memset(f, 0, sizeof *f * (size_t)w->law[i].size);
    if (p->hold == BOUND) f[0] = p->bound;
    if (p->hold != SLIDES) continue;
    double most = mu_kinetic(c, point_of(c, i)) * f[0];
    f[1] = most * p->along[0];
    f[2] = most * p->along[1];
  }
}

static void multiply(crowd *c) {
  for (int32_t i = 0; i < c->n; ++i) {
    const double *row = row_of(c, i);
    double sum = c->q[i];
    for (int32_t j = 0; j < c->n; ++j)
      sum += row[j] * c->f[j];
    c->u[i] = sum;
  }
}

/* the impulses of the held that take away what is left of their velocities */
static void answer(crowd *c) {
  for (int32_t i = 0; i < c->nheld; ++i)
    c->x[i] = -c->u[c->held[i]];
  tbi_pseudo_solve(&c->pseudo, c->x);
}

/* Gauss, rows exchanged: n equations, row by row with their right sides behind; false: singular */
static bool eliminate(double *a, int32_t n) {
  size_t width = (size_t)n + 1;
  for (int32_t k = 0; k < n; ++k) {
    int32_t best = k;
    for (int32_t i = k + 1; i < n; ++i) {
      if (fabs(a[(size_t)i * width + (size_t)k]) > fabs(a[(size_t)best * width + (size_t)k]))
        best = i;
    }
    double *top = a + (size_t)k * width;
    double *swap = a + (size_t)best * width;
    if (!(fabs(swap[k]) > 1e-12)) return false;
    for (size_t j = (size_t)k; j < width && best != k; ++j) {
      double kept = top[j];
      top[j] = swap[j];
      swap[j] = kept;
    }
    for (int32_t i = 0; i < n; ++i) {
      double *row = a + (size_t)i * width;
      double share = i == k ? 0 : row[k] / top[k];
      for (size_t j = (size_t)k; j < width && share != 0; ++j)
        row[j] -= share * top[j];
    }
  }
  for (int32_t k = 0; k < n; ++k)
    a[(size_t)k * width + (size_t)n] /= a[(size_t)k * width + (size_t)k];
  return true;
}

/* Normal impulses of the points that slide, whose friction acts back on them: x = g + X x, g being
 * the impulses without friction (in c->x) and X what friction of unit impulses calls for. */
static bool solve_sliding(crowd *c) {
  const tbi_law *law = c->island->w.law;
  int32_t n = c->nsliding;
  size_t width = (size_t)n + 1;
  for (int32_t i = 0; i < n; ++i)
    c->a[(size_t)i * width + (size_t)n] = c->x[c->sliding[i].held];
  for (int32_t j = 0; j < n; ++j) {
    const part *p = &c->part[c->sliding[j].law];
    double mu = mu_kinetic(c, point_of(c, c->sliding[j].law));
    int32_t at = law[c->sliding[j].law].at;
    for (int32_t i = 0; i < c->nheld; ++i) {
      const double *row = row_of(c, c->held[i]) + at;
      c->x[i] = -mu * (row[1] * p->along[0] + row[2] * p->along[1]);
    }
    tbi_pseudo_solve(&c->pseudo, c->x);
    for (int32_t i = 0; i < n; ++i)
      c->a[(size_t)i * width + (size_t)j] = (i == j ? 1 : 0) - c->x[c->sliding[i].held];
  }
  if (!eliminate(c->a, n)) return false;
  for (int32_t i = 0; i < n; ++i)
    c->f[law[c->sliding[i].law].at] = c->a[(size_t)i * width + (size_t)n];
  return true;
}

/* M f = -q for the held, with the friction that goes with it; false: there is none */
static bool solve_held(crowd *c) {
  factor_held(c);
  memset(c->f, 0, sizeof *c->f * (size_t)c->n);
  follow(c);
  multiply(c);
  answer(c);
  if (c->nsliding > 0) {
    if (!solve_sliding(c)) return false;
    follow(c);
    /* of least norm is what comes from nothing */
    for (int32_t i = 0; i < c->nheld; ++i)
      c->f[c->held[i]] = 0;
    multiply(c);
    answer(c);
  }
  for (int32_t i = 0; i < c->nheld; ++i)
    c->f[c->held[i]] = c->x[i];
  return true;
}

/* let go of the point that pulls most, or leave the row that is farthest beyond a bound there */
static bool release(crowd *c) {
  const tbi_delassus *w = &c->island->w;
  int32_t worst = -1;
  double most = 0;
  for (int32_t i = 0; i < w->nlaw; ++i) {
    const tbi_law *law = &w->law[i];
    double f = c->f[law->at];
    if (c->part[i].hold != STICKS && c->part[i].hold != SLIDES) continue;
    double beyond = point_of(c, i) ? -f : tbi_max(law->lower - f, f - law->upper);
    if (beyond * law->mobility <= most) continue;
    most = beyond * law->mobility;
    worst = i;
  }
  if (worst < 0 || most <= GOES_IN) return false;
  const tbi_law *law = &w->law[worst];
  if (point_of(c, worst)) {
    c->part[worst] = (part){.hold = FREE, .let_go = true};
  } else {
    c->part[worst] =
        (part){.hold = BOUND, .bound = c->f[law->at] < law->lower ? law->lower : law->upper};
  }
  return true;
}

/* points beyond static friction slide the way they were pulled; those that friction would turn
 * back stick */
static bool change_friction(crowd *c) {
  const tbi_delassus *w = &c->island->w;
  bool changed = false;
  for (int32_t i = 0; i < w->nlaw; ++i) {
    if (!point_of(c, i)) continue;
    part *p = &c->part[i];
    const double *f = c->f + w->law[i].at;
    const double *u = c->u + w->law[i].at;
    double tangent = sqrt(f[1] * f[1] + f[2] * f[2]);
    double most = c->friction * point_of(c, i)->surface->friction * f[0];
    if (p->hold == STICKS && tangent > most * (1 + 1e-12) + 1e-300) {
      p->hold = SLIDES;
      p->along[0] = f[1] / tangent;
      p->along[1] = f[2] / tangent;
      changed = true;
    } else if (p->hold == SLIDES && !p->turned && most > 0 &&
               u[1] * p->along[0] + u[2] * p->along[1] > GOES_IN) {
      p->hold = STICKS;
      p->turned = true;
      changed = true;
    }
  }
  return changed;
}

/* A point that pulls if it sticks, and goes in if it is free, has to slide: as before the step, or
 * against where it goes without being held.  It does not stick any more, to end the circle. */
static void slide_in(crowd *c, int32_t law) {
  part *p = &c->part[law];
  const double *u = c->u + c->island->w.law[law].at;
  double slip = sqrt(u[1] * u[1] + u[2] * u[2]);
  for (int k = 0; k < 2 && p->hold == STICKS && slip > 0; ++k)
    p->along[k] = -u[1 + k] / slip;
  p->hold = SLIDES;
  p->turned = p->let_go = true;
}

/* hold again what would go in, the worst first */
static bool admit(crowd *c) {
  const tbi_delassus *w = &c->island->w;
  int32_t worst = -1;
  double most = GOES_IN;
  for (int32_t i = 0; i < w->nlaw; ++i) {
    const part *p = &c->part[i];
    if (p->hold != FREE && p->hold != BOUND) continue;
    double u = c->u[w->law[i].at];
    bool at_upper = p->hold == BOUND && p->bound == w->law[i].upper;
    double in = at_upper ? u : -u;
    if (in <= most) continue;
    most = in;
    worst = i;
  }
  if (worst < 0) return false;
  const tbi_point *point = point_of(c, worst);
  bool was_let_go = c->part[worst].let_go;
  c->part[worst] = point ? held_point(c, point) : (part){.hold = STICKS};
  if (point && was_let_go) slide_in(c, worst);
  return true;
}

/* Points that are free and yet neither part nor go in take their share of the load: boxes on boxes
 * fall together until impulses hold the lowest, so that one by one only as many points of each as
 * fix its place would be held. */
static bool share_load(crowd *c) {
  const tbi_delassus *w = &c->island->w;
  bool more = false;
  for (int32_t i = 0; i < w->nlaw; ++i) {
    part *p = &c->part[i];
    if (!point_of(c, i) || p->hold != FREE || p->let_go || point_of(c, i)->held) continue;
    if (c->u[w->law[i].at] > GOES_IN) continue;
    *p = held_point(c, point_of(c, i));
    more = true;
  }
  return more;
}

/* passes it took, negative if they went in circles */
static int32_t settle(crowd *c, double rebound, double friction) {
  int32_t most = 2 * c->island->w.nlaw + 8;
  c->friction = friction;
  start(c, rebound);
  for (int32_t pass = 1; pass <= most; ++pass) {
    if (!solve_held(c)) return -pass;
    if (release(c)) continue;
    follow(c);
    multiply(c);
    if (!change_friction(c) && !admit(c) && !share_load(c)) return pass;
  }
  return -most;
}

/* J: what the impulses add to the energy, beyond what taking back overlap does on purpose */
static double energy_gain(const crowd *c) {
  const tbi_delassus *w = &c->island->w;
  double gain = 0;
  for (int32_t i = 0; i < w->nlaw; ++i) {
    const tbi_law *law = &w->law[i];
    const tbi_point *point = point_of(c, i);
    for (int32_t k = law->at; k < law->at + law->size; ++k)
      gain += 0.5 * c->f[k] * (c->u[k] + w->q[k]);
    if (!point) continue;
    /* q and u count from targets: w->q from that with the whole rebound, u from the present one */
    double present = point->target - (c->q[law->at] - w->q[law->at]);
    gain += 0.5 * c->f[law->at] * (point->target + present);
    gain -= c->f[law->at] * tbi_max(point->rest, 0);
  }
  return gain;
}

/* the largest share of rebounds, or of friction without any, that gives no energy */
static int32_t temper(crowd *c) {
  double low = 0;
  double high = 1;
  int32_t passes = settle(c, 0, 1);
  bool by_friction = passes < 0 || energy_gain(c) > 0;
  for (int k = 0; k < ENERGY_HALVINGS; ++k) {
    double middle = 0.5 * (low + high);
    passes = by_friction ? settle(c, 0, middle) : settle(c, middle, 1);
    if (passes > 0 && energy_gain(c) <= 0) {
      low = middle;
    } else {
      high = middle;
    }
  }
  return by_friction ? settle(c, 0, low) : settle(c, low, 1);
}

static bool release_all(crowd *c) {
  const tbi_delassus *w = &c->island->w;
  bool pulls = false;
  for (int32_t i = 0; i < w->nlaw; ++i) {
    if (!point_of(c, i) || c->part[i].hold == FREE || c->f[w->law[i].at] > 0) continue;
    c->part[i].hold = FREE;
    pulls = true;
  }
  return pulls;
}

/* beyond static friction, or sliding before: as much as kinetic friction gives */
static void cut_friction(crowd *c) {
  const tbi_delassus *w = &c->island->w;
  for (int32_t i = 0; i < w->nlaw; ++i) {
    const tbi_point *point = point_of(c, i);
    if (!point || c->part[i].hold == FREE) continue;
    double *f = c->f + w->law[i].at;
    part before = held_point(c, point);
    double tangent = sqrt(f[1] * f[1] + f[2] * f[2]);
    if (before.hold == STICKS && tangent <= point->surface->friction * f[0]) continue;
    double most = mu_kinetic(c, point) * f[0];
    for (int k = 0; k < 2; ++k)
      f[1 + k] = most * (before.hold == SLIDES ? before.along[k] : f[1 + k] / tangent);
  }
}

/* The published loop to the letter: every point that touches holds and asks for its tangential
 * velocity before the step, points that pull are let go together and for good, and friction is cut
 * to its cone at the end, whatever that does to the normals. */
static int32_t settle_as_published(crowd *c) {
  const tbi_delassus *w = &c->island->w;
  start(c, 1);
  for (int32_t i = 0; i < w->nlaw; ++i) {
    part *p = &c->part[i];
    const tbi_point *point = point_of(c, i);
    if (!point) continue;
    if (p->hold == FREE && point->gap <= TOUCHES) *p = held_point(c, point);
    if (p->hold != SLIDES) continue;
    for (int k = 0; k < 2; ++k)
      c->q[w->law[i].at + 1 + k] -= point->slip[k];
    p->hold = STICKS;
  }
  bool pulls = true;
  int32_t passes = 0;
  for (; pulls && passes <= w->nlaw; ++passes) {
    factor_held(c);
    memset(c->f, 0, sizeof *c->f * (size_t)c->n);
    follow(c);
    multiply(c);
    for (int32_t i = 0; i < c->nheld; ++i)
      c->x[i] = -c->u[c->held[i]];
    tbi_pseudo_solve_pivots(&c->pseudo, c->x);
    for (int32_t i = 0; i < c->nheld; ++i)
      c->f[c->held[i]] = c->x[i];
    pulls = release_all(c);
  }
  cut_friction(c);
  return passes;
}

typedef struct work {
  tbi_factored factored;
  crowd crowd;
} work;

static size_t place(work *to, void *memory, const tabi_model *model, const tabi_world_def *def) {
  tbi_layout at = {memory, 0};
  int64_t points = def->max_contacts;
  int64_t rows = (int64_t)model->nv * TBI_ROW_KINDS;
  tbi_factored_place(&at, model, points, rows, &to->factored);
  take_memory(&to->crowd, &at, 3 * points + rows);
  return at.used;
}

static size_t memsize(const tabi_model *model, const tabi_world_def *def) {
  work w;
  return place(&w, NULL, model, def);
}

/* what is left of pulls, below what counts */
static void drop_pulls(crowd *c) {
  const tbi_delassus *w = &c->island->w;
  for (int32_t i = 0; i < w->nlaw; ++i) {
    if (point_of(c, i) && c->f[w->law[i].at] < 0) memset(c->f + w->law[i].at, 0, 3 * sizeof *c->f);
  }
}

/* passes; negative: left to cone */
static int32_t solve_island(crowd *c, const tbi_island *island, bool paper, bool *tempered) {
  if (island->w.nunknown > MAX_UNKNOWNS) return -1;
  begin(c, island);
  int32_t passes = paper ? settle_as_published(c) : settle(c, 1, 1);
  int32_t in_vain = passes < 0 ? -passes : 0;
  if (passes < 0) {
    c->stops = true;
    passes = settle(c, 1, 1);
  }
  if (!paper && passes > 0 && energy_gain(c) > 1e-12 * c->island->w.nlaw) {
    passes = temper(c);
    *tempered = true;
  }
  if (passes <= 0) return passes - in_vain;
  drop_pulls(c);
  tbi_island_write(island, c->f);
  return passes + in_vain;
}

/* what the impulses of all points add to the energy, as energy_gain */
static double gain_of_all(const tbi_problem *p) {
  double gain = 0;
  for (int32_t i = 0; i < p->npoint; ++i) {
    const tbi_point *c = &p->point[i];
    sv a = sv_zero();
    sv b = sv_zero();
    if (c->port_a != TABI_NONE) a = sv_add(p->free[c->port_a], p->velocity[c->port_a]);
    if (c->port_b != TABI_NONE) b = sv_add(p->free[c->port_b], p->velocity[c->port_b]);
    gain += 0.5 * v3_dot(v3_load(c->impulse), tbi_point_velocity(c, a, b));
    gain -= c->impulse[0] * tbi_max(c->rest, 0);
  }
  return gain;
}

static void sweep(tbi_problem *p, const tabi_world_def *def, tbi_solution *all) {
  double change = INFINITY;
  for (int32_t i = 0; i < def->iterations && change > def->tolerance; ++i) {
    change = tbi_cone_sweep(p);
    ++all->iterations;
  }
}

/* Cone takes over where impulse stands, without rebounds if these would give energy.  That is told:
 * the solution has not converged, however close cone comes. */
static void leave_to_cone(tbi_problem *p, const tabi_world_def *def, tbi_solution *all) {
  sweep(p, def, all);
  if (gain_of_all(p) <= 1e-12 * p->npoint) return;
  all->tempered = true;
  for (int32_t i = 0; i < p->npoint; ++i)
    p->point[i].target = p->point[i].rest;
  sweep(p, def, all);
}

static tbi_solution solve(tbi_problem *p, const tabi_world_def *def, void *scratch) {
  work w;
  (void)place(&w, scratch, p->model, def);
  tbi_factored_begin(&w.factored, p);
  tbi_solution all = {.converged = true};
  for (int32_t i = 0; i < w.factored.nisland; ++i) {
    int32_t passes = solve_island(&w.crowd, &w.factored.island[i], def->paper, &all.tempered);
    all.converged = all.converged && passes > 0;
    if (abs(passes) > all.iterations) all.iterations = abs(passes);
  }
  tbi_problem_start(p);
  if (!all.converged) leave_to_cone(p, def, &all);
  return all;
}

const tbi_formulation tbi_impulse = {.name = "impulse", .memsize = memsize, .solve = solve};

/* penalty.c - springs and dampers between surfaces (P2, Yamane and Nakamura), stable at large
 * steps.
 *
 * A point that overlaps (gap g < 0, tangential deflection s since it stuck) pushes with
 *     -k g - d u across,   -k_t s - d u along,
 * never pulls, and slides where friction does not suffice.  Taken at the end of the step, with
 * g + h u and s + h u, that is an impulse
 *     r = cut(r0 - S u),   r0 = -h (k g, k_t s),   S = h d + h^2 k.
 * A point that closes within the step (g > 0) has its damper as far as it gets into the surface:
 *     r0 = -(h k + d) g across.
 *
 * All points are solved together, by Newton's method on  r = cut(r0 - S (q + W r)): the limit of
 * stiffness is then a rigid contact, and no order matters (penalty_paper.c has the published loop
 * over single points).  Where Newton's method cycles, it begins with springs so soft that it
 * cannot, and follows the solution while they harden; where that fails, too, the solver of exact
 * takes over (penalty_soft.c).  Joint limits and dry friction are springs
 * too, so stiff that their error is rounding.  Steps in which bodies touch nothing but the ground
 * are not solved here but along the trees (penalty_tree.c), by the same law.
 *
 * Under rk4 and euler the forces are those at the start of the step, as springs have them. */
#include "contact/factored.h"
#include "contact/formulation.h"
#include "contact/penalty_soft.h"
#include "contact/penalty_tree.h"
#include "math/linalg.h"
#include "problem/sweep.h"

#include <string.h>

enum { NEWTON_STEPS = 40, HALVINGS = 6, SOFTER = 256 };

#define ROUNDING 1e-12 /* of velocities without impulses */

/* forces at the start of the step, constant over it */
static tbi_solution solve_explicit(tbi_problem *p, const tabi_world_def *def) {
  for (int32_t i = 0; i < p->npoint; ++i) {
    tbi_point *c = &p->point[i];
    tbi_spring_law law =
        tbi_spring_law_of(c->surface, c->friction, def->penalty.tangential_stiffness);
    v4 deflection = v4_from(c->deflection);
    v3 s = v3_make(0, v4_dot(deflection, c->frame.y), v4_dot(deflection, c->frame.z));
    v3 u = v3_make(c->approach, c->slip[0], c->slip[1]);
    v3_store(v3_scale(def->timestep, tbi_spring_law_force(&law, c->gap, s, u)), c->impulse);
  }
  tbi_problem_start(p);
  (void)tbi_rows_sweep(p);
  return (tbi_solution){.iterations = 1, .converged = true};
}

typedef struct work {
  tbi_factored factored;
  const tabi_world_def *def;
  double share;     /* of r0 and S: 1, or less while springs harden */
  double *r, *u;    /* impulses, and velocities less targets */
  double *f;        /* cut(r0 - S u) - r */
  double *dr;       /* Newton step */
  double *trial;    /* r + share of dr */
  double *best;     /* r that missed least so far, with all of the springs' stiffness */
  double least;     /* m/s, by which */
  tbi_law_block *d; /* slope -d/du of cut(r0 - S u) */
  tbi_soft_island soft;
} work;

static size_t place(work *to, void *memory, const tabi_model *model, const tabi_world_def *def) {
  tbi_layout at = {memory, 0};
  int64_t points = tbi_point_laws(model, def->max_contacts);
  int64_t rows = (int64_t)model->nv * TBI_ROW_KINDS;
  int64_t n = 3 * points + rows;
  tbi_factored_place(&at, model, points, rows, &to->factored);
  to->d = tbi_layout_take(&at, points + rows, sizeof *to->d);
  double **vectors[] = {&to->r, &to->u, &to->f, &to->dr, &to->trial, &to->best};
  for (size_t i = 0; i < sizeof vectors / sizeof vectors[0]; ++i)
    *vectors[i] = tbi_layout_take(&at, n, sizeof(double));
  tbi_soft_island_place(&at, points, rows, &to->soft);
  to->def = def;
  return at.used;
}

/* a step uses either this solver or that along the trees (world/penalty_step.c) */
static size_t memsize(const tabi_model *model, const tabi_world_def *def) {
  work w;
  tbi_penalty_tree tree;
  size_t here = place(&w, NULL, model, def);
  size_t there = tbi_penalty_tree_place(&tree, NULL, model, def);
  return here > there ? here : there;
}

/* F = cut(r0 - S u) - r of one law, and its slope; the size of F as a velocity */
static double miss(const work *w, const tbi_island *island, int32_t i, const double *r,
                   const double *u, double *f, double *d) {
  const tbi_law *law = &island->w.law[i];
  const tbi_point *c = tbi_island_point(island, i);
  const tbi_couple *couple = tbi_island_couple(island, i);
  if (!c && !couple) return tbi_row_miss(law, r[0], u[0], f, d);
  if (couple) {
    tbi_couple_spring s = tbi_couple_spring_of(island->all->p, couple, w->def, w->share);
    return tbi_couple_miss(&s, r, u, f, d);
  }
  v3 missed = v3_scale(-1, v3_load(r));
  memset(d, 0, 9 * sizeof *d);
  if (tbi_spring_acts(c)) {
    tbi_spring s = tbi_spring_of(c, w->def, w->share);
    missed = tbi_spring_miss(&s, v3_make(u[0] + c->target, u[1], u[2]), v3_load(r), d);
  }
  v3_store(missed, f);
  return v3_norm(missed) * law->mobility;
}

/* the worst F at r, with u, f and d filled */
static double miss_all(const work *w, const tbi_island *island, const double *r) {
  const tbi_delassus *m = &island->w;
  double worst = 0;
  m->multiply(m->self, r, w->u);
  for (int32_t i = 0; i < m->nunknown; ++i)
    w->u[i] += m->q[i];
  for (int32_t i = 0; i < m->nlaw; ++i) {
    int32_t at = m->law[i].at;
    worst = tbi_max(worst, miss(w, island, i, r + at, w->u + at, w->f + at, w->d[i].m));
  }
  return worst;
}

/* Newton's method from w->r; a step that does not help is halved */
static tbi_solution follow_newton(work *w, const tbi_island *island) {
  const tbi_delassus *m = &island->w;
  size_t bytes = sizeof *w->r * (size_t)m->nunknown;
  double size = miss_all(w, island, w->r);
  tbi_solution solution = {.iterations = 0};
  while (size > w->def->tolerance && solution.iterations < NEWTON_STEPS) {
    ++solution.iterations;
    if (!m->newton(m->self, w->d, w->f, w->dr)) break;
    double share = 1;
    for (int k = 0; k < HALVINGS; ++k) {
      for (int32_t i = 0; i < m->nunknown; ++i)
        w->trial[i] = w->r[i] + share * w->dr[i];
      double now = miss_all(w, island, w->trial);
      if (now < size || k == HALVINGS - 1) {
        size = now;
        break;
      }
      share *= 0.5;
    }
    memcpy(w->r, w->trial, bytes);
  }
  solution.converged = size <= w->def->tolerance;
  if (w->share == 1 && size < w->least) {
    w->least = size;
    memcpy(w->best, w->r, bytes);
  }
  return solution;
}

/* from zero impulses, with springs that harden to their full stiffness */
static tbi_solution harden(work *w, const tbi_island *island) {
  tbi_solution solution = {.iterations = 0};
  memset(w->r, 0, sizeof *w->r * (size_t)island->w.nunknown);
  for (int softer = SOFTER; softer > 0; softer /= 2) {
    w->share = 1.0 / softer;
    tbi_solution own = follow_newton(w, island);
    solution.iterations += own.iterations;
    solution.converged = own.converged;
  }
  return solution;
}

/* as Coulomb's law, from where the springs have led */
static tbi_solution solve_soft(work *w, const tbi_island *island) {
  int32_t steps = tbi_soft_island_solve(&w->soft, island, w->def, w->r);
  w->share = 1;
  tbi_solution solution = follow_newton(w, island);
  solution.iterations += steps;
  return solution;
}

/* what was not solved shall at least neither pull nor leave the cone */
static void cut_all(const work *w, const tbi_island *island) {
  for (int32_t i = 0; i < island->w.nlaw; ++i) {
    const tbi_point *c = tbi_island_point(island, i);
    if (!c) continue;
    double *r = w->r + island->w.law[i].at;
    tbi_spring_law law =
        tbi_spring_law_of(c->surface, c->friction, w->def->penalty.tangential_stiffness);
    v3_store(tbi_spring_acts(c) ? tbi_spring_law_cut(&law, v3_load(r)) : v3_zero(), r);
  }
  const tbi_spring_law unit = {.stick_friction = 1, .slip_friction = 1};
  for (int32_t k = 0; k < island->ncouple; ++k) {
    int32_t law = island->npoint + island->nrow + k;
    double *r = w->r + island->w.law[law].at;
    r[0] = tbi_couple_share(tbi_island_couple(island, law)) * w->r[island->couple_normal[k]];
    v3_store(tbi_spring_law_cut(&unit, v3_load(r)), r);
  }
}

/* Whether the least miss is more than rounding: errors of velocities, times S and the mobility. */
static bool is_far(const work *w, const tbi_island *island) {
  double square = 0;
  double stiff = 1;
  for (int32_t i = 0; i < island->w.nunknown; ++i)
    square += island->w.q[i] * island->w.q[i];
  for (int32_t i = 0; i < island->npoint; ++i) {
    tbi_spring s = tbi_spring_of(tbi_island_point(island, i), w->def, 1);
    stiff = tbi_max(stiff, s.added_mass.x * island->w.law[i].mobility);
  }
  return !(w->least <= ROUNDING * stiff * sqrt(square));
}

/* Without friction the problem is convex, and its solution adds no energy.  That the step did not
 * obey the law is said by its certificate. */
static int32_t drop_friction(work *w, const tbi_island *island) {
  tbi_point *point = island->all->p->point;
  for (int32_t i = 0; i < island->npoint; ++i)
    point[island->law_point[i]].friction = 0;
  int32_t steps = harden(w, island).iterations;
  return steps + solve_soft(w, island).iterations;
}

/* from the impulses of the step before */
static tbi_solution solve_island(work *w, const tbi_island *island) {
  tbi_solution (*const stage[])(work *, const tbi_island *) = {follow_newton, harden, solve_soft};
  tbi_solution solution = {.converged = false};
  tbi_island_read(island, w->r);
  w->share = 1;
  w->least = INFINITY;
  for (size_t i = 0; i < sizeof stage / sizeof stage[0] && !solution.converged; ++i) {
    tbi_solution own = stage[i](w, island);
    solution.iterations += own.iterations;
    solution.converged = own.converged;
  }
  if (!solution.converged) {
    memcpy(w->r, w->best, sizeof *w->r * (size_t)island->w.nunknown);
    if (is_far(w, island)) solution.iterations += drop_friction(w, island);
    cut_all(w, island);
  }
  tbi_island_write(island, w->r);
  return solution;
}

static tbi_solution solve_together(tbi_problem *p, const tabi_world_def *def, void *scratch) {
  work w;
  (void)place(&w, scratch, p->model, def);
  tbi_factored_begin(&w.factored, p);
  tbi_solution all = {.converged = true};
  for (int32_t i = 0; i < w.factored.nisland; ++i) {
    tbi_solution own = solve_island(&w, &w.factored.island[i]);
    all.converged = all.converged && own.converged;
    if (own.iterations > all.iterations) all.iterations = own.iterations;
  }
  tbi_problem_start(p);
  return all;
}

static tbi_solution solve(tbi_problem *p, const tabi_world_def *def, void *scratch) {
  tbi_solution solution;
  if (def->integrator == TABI_RK4 || def->integrator == TABI_EULER) {
    solution = solve_explicit(p, def);
  } else {
    solution = solve_together(p, def, scratch);
  }
  tbi_spring_energy energy = tbi_springs_update(p, def, false);
  tbi_couple_springs_update(p, def, &energy);
  solution.stored = energy.stored;
  solution.found = energy.found;
  solution.elastic = energy.after;
  return solution;
}

const tbi_formulation tbi_penalty = {
    .info = {.name = "penalty",
             .summary = "implicit springs and dampers between surfaces",
             .method = TABI_CONTACT_PENALTY,
             .published = TABI_CONTACT_PENALTY_PAPER,
             .compliant = true,
             .couples = true},
    .tolerance = 1e-8,
    .iterations = 120,
    .memsize = memsize,
    .solve = solve,
    .advance_velocity = tbi_penalty_advance_velocity,
};

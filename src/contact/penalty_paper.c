/* penalty_paper.c - `penalty-paper`: springs and dampers, one point after another (P2, Yamane and
 * Nakamura).
 *
 * The law is that of penalty.c, but friction beyond the cone is kinetic at once.  Points come one
 * after another, once, from zero impulses: each knows what its own spring does to its velocity, W
 * r, and what the points before it have done. What comes later is felt in the next step only, which
 * bounds the stiffness that a time step stands, and the result depends on the order of the points.
 *
 * The step is that of the paper, by assembly and disassembly (penalty_assembly.c).  Where the
 * assembly cannot have it (prescribed motion, massless links that branch, many loops), the same
 * points are taken in turn on the world's contact problem.
 *
 * Only for implicit integrators: under rk4 and euler springs are explicit forces (penalty.c). */
#include "contact/formulation.h"
#include "contact/penalty_assembly.h"
#include "contact/penalty_spring.h"
#include "problem/sweep.h"

#include <string.h>

/* (I + S W) r = r0 - S u, cut */
v3 tbi_penalty_paper_impulse(const tbi_point *c, const tabi_world_def *def, v3 u) {
  tbi_spring s = tbi_spring_of(c, def, 1);
  s.law = tbi_spring_law_dropping(s.law, tbi_point_friction(c, true));
  const double added[3] = {s.added_mass.x, s.added_mass.y, s.added_mass.z};
  double a[3][3];
  for (int i = 0; i < 3; ++i) {
    for (int j = 0; j < 3; ++j)
      a[i][j] = added[i] * c->w[i][j] + (i == j ? 1 : 0);
  }
  const v3 column[3] = {v3_make(a[0][0], a[1][0], a[2][0]), v3_make(a[0][1], a[1][1], a[2][1]),
                        v3_make(a[0][2], a[1][2], a[2][2])};
  return tbi_spring_law_cut(&s.law, v3_solve(column, tbi_spring_uncut(&s, u)));
}

/* rows, then points, each once */
static void solve_in_turn(tbi_problem *p, const tabi_world_def *def) {
  (void)tbi_rows_sweep(p);
  for (int32_t g = 0; g < p->ngroup; ++g) {
    const tbi_group *group = &p->group[g];
    tbi_visit visit = tbi_visit_begin(p, group);
    for (int32_t i = group->first; i < group->first + group->count; ++i) {
      tbi_point *c = &p->point[i];
      if (c->gap >= 0 || c->immobile) continue;
      v3 u = tbi_point_velocity(c, visit.a, visit.b);
      tbi_visit_push(&visit, c, tbi_penalty_paper_impulse(c, def, u));
    }
    tbi_visit_end(p, group, &visit);
  }
}

static void forget_impulses(tbi_problem *p) {
  for (int32_t i = 0; i < p->npoint; ++i)
    memset(p->point[i].impulse, 0, sizeof p->point[i].impulse);
  tbi_problem_start(p);
}

static tbi_solution solve(tbi_problem *p, const tabi_world_def *def, void *scratch) {
  (void)scratch;
  forget_impulses(p);
  solve_in_turn(p, def);
  tbi_spring_energy energy = tbi_springs_update(p, def, true);
  return (tbi_solution){.iterations = 1,
                        .converged = true,
                        .stored = energy.stored,
                        .found = energy.found,
                        .elastic = energy.after};
}

static size_t memsize(const tabi_model *model, const tabi_world_def *def) {
  tbi_penalty_assembly assembly;
  return tbi_penalty_assembly_place(&assembly, NULL, model, def);
}

const tbi_formulation tbi_penalty_paper = {
    .info = {.name = "penalty-paper",
             .summary = "springs and dampers as joints of an assembly, as published (P2)",
             .method = TABI_CONTACT_PENALTY,
             .published = TABI_NONE,
             .compliant = true,
             .implicit_only = true},
    .tolerance = 1e-8,
    .iterations = 120,
    .as_published = true,
    .memsize = memsize,
    .solve = solve,
    .advance_velocity = tbi_penalty_paper_advance_velocity,
};

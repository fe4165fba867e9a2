/* penalty_paper.c - `penalty-paper`: springs and dampers, one point after another (P2, Yamane and
 * Nakamura).
 *
 * The law is that of penalty.c.  Points come one after another, once, from zero impulses: each
 * knows what its own spring does to its velocity, W r, and what the points before it have done.
 * What comes later is felt in the next step only, which bounds the stiffness that a time step
 * stands, and the result depends on the order of the points.
 *
 * Only for implicit integrators: under rk4 and euler springs are explicit forces (penalty.c). */
#include "contact/formulation.h"
#include "contact/penalty_spring.h"
#include "problem/sweep.h"

#include <string.h>

/* (I + S W) r = r0 - S b, cut: b is the velocity of the point without its own impulse. */
static v3 solve_alone(const tbi_spring *s, const tbi_point *c, v3 b) {
  double a[9];
  const double give[3] = {s->give.x, s->give.y, s->give.z};
  for (int i = 0; i < 3; ++i) {
    for (int j = 0; j < 3; ++j)
      a[3 * i + j] = give[i] * c->w[i][j] + (i == j ? 1 : 0);
  }
  v3 column[3] = {v3_make(a[0], a[3], a[6]), v3_make(a[1], a[4], a[7]), v3_make(a[2], a[5], a[8])};
  v3 rhs = tbi_spring_uncut(s, b);
  double det = v3_dot(column[0], v3_cross(column[1], column[2]));
  v3 r = v3_make(v3_dot(rhs, v3_cross(column[1], column[2])) / det,
                 v3_dot(column[0], v3_cross(rhs, column[2])) / det,
                 v3_dot(column[0], v3_cross(column[1], rhs)) / det);
  return tbi_spring_law_cut(&s->soft, r);
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
      tbi_spring s = tbi_spring_of(c, def, 1);
      tbi_visit_push(&visit, c, solve_alone(&s, c, tbi_point_velocity(c, visit.a, visit.b)));
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
  tbi_springs_update(p, def);
  return (tbi_solution){.iterations = 1, .converged = true};
}

const tbi_formulation tbi_penalty_paper = {
    .info = {.name = "penalty-paper",
             .summary = "springs and dampers, one point after another, as published (P2)",
             .method = TABI_CONTACT_PENALTY,
             .published = TABI_NONE,
             .compliant = true,
             .implicit_only = true},
    .tolerance = 1e-8,
    .iterations = 120,
    .solve = solve,
};

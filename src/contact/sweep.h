/* sweep.h - visiting the points of one group: its two ports are held at hand, every impulse is felt
 * by both at once, and what they received is handed on when the visit ends. */
#ifndef TBI_SWEEP_H
#define TBI_SWEEP_H

#include "contact/problem.h"

typedef struct tbi_visit {
  sv a, b;         /* velocities of the two ports; zero for the world */
  sv got_a, got_b; /* impulses received during the visit */
} tbi_visit;

static inline tbi_visit tbi_visit_begin(const tbi_problem *p, const tbi_group *group) {
  return (tbi_visit){
      .a = group->port_a == TABI_NONE ? sv_zero() : p->velocity[group->port_a],
      .b = group->port_b == TABI_NONE ? sv_zero() : p->velocity[group->port_b],
      .got_a = sv_zero(),
      .got_b = sv_zero(),
  };
}

/* the wrench about a tree's origin of an impulse at a point */
static inline sv tbi_wrench(v4 arm, v4 impulse) { return (sv){impulse, v4_cross(arm, impulse)}; }

/* more impulse at a point, in its frame */
static inline void tbi_visit_push(tbi_visit *visit, tbi_point *c, v3 d) {
  const double part[3] = {d.x, d.y, d.z};
  for (int i = 0; i < 3; ++i) {
    visit->a = sv_axpy(visit->a, part[i], c->answer_a[i]);
    visit->b = sv_axpy(visit->b, part[i], c->answer_b[i]);
    c->impulse[i] += part[i];
  }
  v4 impulse = m4_mulv3(&c->frame, d);
  visit->got_a = sv_sub(visit->got_a, tbi_wrench(c->arm_a, impulse));
  visit->got_b = sv_add(visit->got_b, tbi_wrench(c->arm_b, impulse));
}

static inline void tbi_visit_end(tbi_problem *p, const tbi_group *group, const tbi_visit *visit) {
  if (group->port_a != TABI_NONE) {
    p->velocity[group->port_a] = visit->a;
    p->received[group->port_a] = sv_add(p->received[group->port_a], visit->got_a);
    tbi_problem_spread(p, group->port_a, group->port_b, visit->got_a);
  }
  if (group->port_b != TABI_NONE) {
    p->velocity[group->port_b] = visit->b;
    p->received[group->port_b] = sv_add(p->received[group->port_b], visit->got_b);
    tbi_problem_spread(p, group->port_b, group->port_a, visit->got_b);
  }
}

#endif

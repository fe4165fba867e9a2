/* sweep.h - visiting the points of one group: its two ports are held at hand, every impulse is felt
 * by both at once, and what they received is handed on when the visit ends. */
#ifndef TBI_SWEEP_H
#define TBI_SWEEP_H

#include "problem/problem.h"

/* Of the tolerance: what may be missed where nothing is swept twice.  What is missed in every step
 * adds up to a creep. */
#define TBI_SETTLED 0.1

/* Whether sweeps may end with one that changed velocities by so much.  One sweep alone is enough
 * only where the impulses of the step before were as good as right. */
static inline bool tbi_is_settled(double change, int32_t sweeps, double tolerance) {
  return change <= (sweeps > 1 ? tolerance : TBI_SETTLED * tolerance);
}

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

/* what a port feels and receives of an impulse d at a point, w being its force in world axes */
static inline void tbi_visit_side(sv *velocity, sv *got, const sv answer[3], v3 d, sv w) {
  *velocity = sv_axpy(*velocity, d.x, answer[0]);
  *velocity = sv_axpy(*velocity, d.y, answer[1]);
  *velocity = sv_axpy(*velocity, d.z, answer[2]);
  *got = sv_add(*got, w);
}

/* more impulse at a point, in its frame; the world takes it without moving */
static inline void tbi_visit_push(tbi_visit *visit, tbi_point *c, v3 d) {
  v4 impulse = m4_mulv3(&c->frame, d);
  c->impulse[0] += d.x;
  c->impulse[1] += d.y;
  c->impulse[2] += d.z;
  if (c->port_a != TABI_NONE) {
    sv wrench = sv_scale(-1, tbi_wrench(c->arm_a, impulse));
    tbi_visit_side(&visit->a, &visit->got_a, c->answer_a, d, wrench);
  }
  if (c->port_b != TABI_NONE) {
    sv wrench = tbi_wrench(c->arm_b, impulse);
    tbi_visit_side(&visit->b, &visit->got_b, c->answer_b, d, wrench);
  }
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

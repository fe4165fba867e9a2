/* sweep.h - visiting the points of one group: the velocities of its two ports are local variables,
 * which every impulse updates at once; the other ports of a cluster follow when the visit ends. */
#ifndef TBI_SWEEP_H
#define TBI_SWEEP_H

#include "problem/problem.h"

/* Share of the tolerance that a solution without a second sweep may miss.  Errors of the same sign
 * in every step would add up to a creep. */
#define TBI_SETTLED 0.1

/* Whether sweeps may end with one that changed velocities by so much.  One sweep alone is enough
 * only where the impulses of the step before were as good as right. */
static inline bool tbi_is_settled(double change, int32_t sweeps, double tolerance) {
  return change <= (sweeps > 1 ? tolerance : TBI_SETTLED * tolerance);
}

/* Wrenches on both sides of a contact, or changes of their velocities. */
typedef struct tbi_sides {
  sv a, b;
} tbi_sides;

/* the wrench about a tree's origin of an impulse at a point */
static inline sv tbi_wrench(v4 arm, v4 impulse) { return (sv){impulse, v4_cross(arm, impulse)}; }

/* the wrenches of an impulse on b, given in world axes */
static inline tbi_sides tbi_point_wrenches(const tbi_point *c, v4 impulse) {
  return (tbi_sides){sv_scale(-1, tbi_wrench(c->arm_a, impulse)), tbi_wrench(c->arm_b, impulse)};
}

/* how two ports respond to wrenches on them; the world does not */
static inline tbi_sides tbi_sides_response(const tbi_problem *p, int32_t port_a, int32_t port_b,
                                           tbi_sides on) {
  tbi_sides change = {sv_zero(), sv_zero()};
  if (port_a != TABI_NONE) change.a = tbi_problem_response(p, port_a, port_a, on.a);
  if (port_b != TABI_NONE) change.b = tbi_problem_response(p, port_b, port_b, on.b);
  if (port_a == TABI_NONE || port_b == TABI_NONE) return change;
  if (p->port[port_a].cluster != p->port[port_b].cluster) return change;
  change.a = sv_add(change.a, tbi_problem_response(p, port_a, port_b, on.b));
  change.b = sv_add(change.b, tbi_problem_response(p, port_b, port_a, on.a));
  return change;
}

typedef struct tbi_visit {
  const tbi_problem *p;
  int32_t port_a, port_b;
  sv a, b;         /* velocities of the two ports; zero for the world */
  sv got_a, got_b; /* impulses received during the visit */
} tbi_visit;

static inline tbi_visit tbi_visit_begin(const tbi_problem *p, const tbi_group *group) {
  return (tbi_visit){
      .p = p,
      .port_a = group->port_a,
      .port_b = group->port_b,
      .a = group->port_a == TABI_NONE ? sv_zero() : p->velocity[group->port_a],
      .b = group->port_b == TABI_NONE ? sv_zero() : p->velocity[group->port_b],
      .got_a = sv_zero(),
      .got_b = sv_zero(),
  };
}

/* more impulse at a point, in its frame; the world takes it without moving */
static inline void tbi_visit_push(tbi_visit *visit, tbi_point *c, v3 d) {
  tbi_sides on = tbi_point_wrenches(c, m4_mulv3(&c->frame, d));
  tbi_sides change = tbi_sides_response(visit->p, visit->port_a, visit->port_b, on);
  c->impulse[0] += d.x;
  c->impulse[1] += d.y;
  c->impulse[2] += d.z;
  visit->a = sv_add(visit->a, change.a);
  visit->b = sv_add(visit->b, change.b);
  visit->got_a = sv_add(visit->got_a, on.a);
  visit->got_b = sv_add(visit->got_b, on.b);
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

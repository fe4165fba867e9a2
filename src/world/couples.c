/* couples.c - couples of rolling and torsional friction from step to step.  Both couples of a point
 * are kept as one vector, since they act along its normal and across. */
#include "problem/couples.h"

#include "base/assertion.h"
#include "world/world.h"

/* what the step before has left of a point, or NULL */
static const tbi_warm_couple *find_warm(const tabi_world *w, uint64_t id) {
  int64_t at = tbi_world_find_warm(w, id);
  return at < 0 ? NULL : &w->state.couple[at];
}

void tbi_world_make_couples(tabi_world *w) {
  tbi_problem *p = &w->setup.problem;
  if (!w->has_couples) return;
  tbi_couples_list(p);
  for (int32_t k = 0; k < p->ncouple; ++k) {
    tbi_couple *c = &p->couple[k];
    const tbi_warm_couple *warm = find_warm(w, p->point[c->point].id);
    if (!warm) continue;
    for (int i = 0; i < 2; ++i) {
      c->impulse[i] = w->def.warm_start * v4_dot(v4_from(warm->impulse), c->axis[i]);
      c->deflection[i] = v4_dot(v4_from(warm->deflection), c->axis[i]);
    }
  }
}

void tbi_world_keep_couples(tabi_world *w) {
  const tbi_problem *p = &w->setup.problem;
  if (!w->has_couples) return;
  TBI_ASSERT(p->npoint <= w->def.max_contacts);
  for (int32_t i = 0; i < p->npoint; ++i)
    w->state.couple[tbi_contact_slot(w, i)] = (tbi_warm_couple){v3_zero(), v3_zero()};
  for (int32_t k = 0; k < p->ncouple; ++k) {
    const tbi_couple *c = &p->couple[k];
    int32_t slot = tbi_contact_slot(w, p->point[c->point].candidate);
    tbi_warm_couple *warm = &w->state.couple[slot];
    warm->impulse = v3_add(warm->impulse, v4_to(tbi_couple_moment(c, c->impulse)));
    warm->deflection = v3_add(warm->deflection, v4_to(tbi_couple_moment(c, c->deflection)));
  }
}

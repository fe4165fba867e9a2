/* warm.c - impulses from step to step.  Both lists are sorted by id, so one walk along both finds
 * what persists.  Impulses are kept in world axes: frames may turn. */
#include "base/random.h"
#include "world/world.h"

#define TURN 6.283185307179586 /* 2 pi */

void tbi_world_warm_start(tabi_world *w) {
  tbi_problem *p = &w->setup.problem;
  const tbi_warm *old = w->warm;
  const tbi_warm *end = old + w->head->nwarm;
  /* the points in the order of their touches, which is that of their ids */
  for (int32_t i = 0; i < p->npoint; ++i)
    w->setup.order[p->point[i].touch] = i;
  for (int32_t t = 0; t < p->npoint; ++t) {
    tbi_point *c = &p->point[w->setup.order[t]];
    while (old < end && old->id < c->id)
      ++old;
    if (old < end && old->id == c->id) {
      v4 impulse = v4_from(v3_scale(w->def.warm_start, old->impulse));
      c->impulse[0] = v4_dot(impulse, c->frame.x);
      c->impulse[1] = v4_dot(impulse, c->frame.y);
      c->impulse[2] = v4_dot(impulse, c->frame.z);
      c->angle = old->angle;
      c->stretch = old->stretch;
    } else if (w->def.contact == TABI_CONTACT_LCP) {
      c->angle = TURN * tbi_random_unit(&w->head->random);
    }
  }
}

void tbi_world_keep_warm(tabi_world *w) {
  const tbi_problem *p = &w->setup.problem;
  w->head->nwarm = p->npoint;
  for (int32_t i = 0; i < p->npoint; ++i) {
    const tbi_point *c = &p->point[i];
    v4 impulse = m4_combine(&c->frame, c->impulse[0], c->impulse[1], c->impulse[2]);
    w->warm[c->touch] = (tbi_warm){c->id, v4_to(impulse), c->angle, c->stretch};
  }
}

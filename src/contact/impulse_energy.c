/* impulse_energy.c - Newton's restitution with friction may add energy: how much, and the largest
 * shares of rebound and friction that add none, by bisection. */
#include "contact/impulse_work.h"

enum { HALVINGS = 30 };

double tbi_impulse_gain(const tbi_island *island, const double *f, const double *q,
                        const double *u) {
  const tbi_delassus *w = &island->w;
  double gain = 0;
  for (int32_t i = 0; i < w->nlaw; ++i) {
    const tbi_law *law = &w->law[i];
    const tbi_point *point = tbi_island_point(island, i);
    /* w->q is relative to the point's target, q and u to a target that may be reduced */
    for (int32_t k = law->at; k < law->at + law->size; ++k)
      gain += 0.5 * f[k] * (2 * w->q[k] + (u[k] - q[k]));
    if (point) gain += f[law->at] * (point->target - tbi_max(point->resting_target, 0));
  }
  return gain;
}

static double gain_of(const tbi_impulse_island *c) {
  return tbi_impulse_gain(c->island, c->f, c->q, c->u);
}

int32_t tbi_impulse_limit_energy(tbi_impulse_island *c) {
  double low = 0;
  double high = 1;
  int32_t passes = tbi_impulse_settle(c, 0, 1);
  bool by_friction = passes < 0 || gain_of(c) > 0;
  for (int k = 0; k < HALVINGS; ++k) {
    double middle = 0.5 * (low + high);
    passes = by_friction ? tbi_impulse_settle(c, 0, middle) : tbi_impulse_settle(c, middle, 1);
    if (passes > 0 && gain_of(c) <= 0) {
      low = middle;
    } else {
      high = middle;
    }
  }
  return by_friction ? tbi_impulse_settle(c, 0, low) : tbi_impulse_settle(c, low, 1);
}

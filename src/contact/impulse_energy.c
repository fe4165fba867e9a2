/* impulse_energy.c - Newton's restitution with friction may add energy: the largest shares of
 * rebound and friction that add none, by bisection. */
#include "contact/impulse_work.h"

enum { HALVINGS = 30 };

static double gain_of(const tbi_impulse_island *c) {
  return tbi_island_gain(c->island, c->f, c->q, c->u);
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

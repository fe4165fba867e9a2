/* impulse_energy.c - Newton's restitution with friction may give energy: how much, and the shares
 * of rebound and friction that give none, by halving. */
#include "contact/impulse_work.h"

enum { HALVINGS = 30 };

double tbi_impulse_gain(const tbi_crowd *c) {
  const tbi_delassus *w = &c->island->w;
  double gain = 0;
  for (int32_t i = 0; i < w->nlaw; ++i) {
    const tbi_law *law = &w->law[i];
    const tbi_point *point = tbi_crowd_point(c, i);
    for (int32_t k = law->at; k < law->at + law->size; ++k)
      gain += 0.5 * c->f[k] * (c->u[k] + w->q[k]);
    if (!point) continue;
    /* q and u count from targets: w->q from that with the whole rebound, u from the present one */
    double present = point->target - (c->q[law->at] - w->q[law->at]);
    gain += 0.5 * c->f[law->at] * (point->target + present);
    gain -= c->f[law->at] * tbi_max(point->rest, 0);
  }
  return gain;
}

int32_t tbi_impulse_temper(tbi_crowd *c) {
  double low = 0;
  double high = 1;
  int32_t passes = tbi_impulse_settle(c, 0, 1);
  bool by_friction = passes < 0 || tbi_impulse_gain(c) > 0;
  for (int k = 0; k < HALVINGS; ++k) {
    double middle = 0.5 * (low + high);
    passes = by_friction ? tbi_impulse_settle(c, 0, middle) : tbi_impulse_settle(c, middle, 1);
    if (passes > 0 && tbi_impulse_gain(c) <= 0) {
      low = middle;
    } else {
      high = middle;
    }
  }
  return by_friction ? tbi_impulse_settle(c, 0, low) : tbi_impulse_settle(c, low, 1);
}

double tbi_impulse_gain_of_all(const tbi_problem *p) {
  double gain = 0;
  for (int32_t i = 0; i < p->npoint; ++i) {
    const tbi_point *c = &p->point[i];
    sv a = sv_zero();
    sv b = sv_zero();
    if (c->port_a != TABI_NONE) a = sv_add(p->free[c->port_a], p->velocity[c->port_a]);
    if (c->port_b != TABI_NONE) b = sv_add(p->free[c->port_b], p->velocity[c->port_b]);
    gain += 0.5 * v3_dot(v3_load(c->impulse), tbi_point_velocity(c, a, b));
    gain -= c->impulse[0] * tbi_max(c->rest, 0);
  }
  return gain;
}

/* residual.c - per contact, with the mean force f = impulse / h, the velocity u at the end of the
 * step and the gap predicted from it, g+ = g + h u_n (h/2, if g is that of the middle):
 *
 *   gap              max(0, -g+)
 *   complementarity  max(0, g+) / h, or on a rebound u_n above its target, where f_n pushes
 *   cone             max(0, |f_t| - mu f_n)
 *   dissipation      |u_t| + f_t . u_t / (mu f_n), where f_n > 0: zero if friction opposes slip
 *
 * A contact pushes if f_n is above 1e-6 of the weight of all that moves. */
#include "problem/residual.h"

#include "base/assertion.h"

#define PUSHES 1e-6 /* of the weight of all that moves */

static void add_point(const tbi_problem *p, const tbi_point *c, double weight,
                      tabi_certificate *worst) {
  TBI_ASSERT(p->timestep > 0);
  double h = p->timestep;
  double gap = c->gap;
  sv a = c->port_a == TABI_NONE ? sv_zero() : p->velocity[c->port_a];
  sv b = c->port_b == TABI_NONE ? sv_zero() : p->velocity[c->port_b];
  v3 u = tbi_point_velocity(c, a, b);
  double normal = c->impulse[0] / h;
  double tangent = sqrt(c->impulse[1] * c->impulse[1] + c->impulse[2] * c->impulse[2]) / h;
  u.y -= c->still[0];
  u.z -= c->still[1];
  double slip = sqrt(u.y * u.y + u.z * u.z);
  double after = gap + p->remaining * u.x;
  bool rebound = c->target > 0 && gap >= 0;

  worst->gap = tbi_max(worst->gap, -after);
  if (normal > PUSHES * weight) {
    double parting = rebound ? u.x - c->target : after / h;
    worst->complementarity = tbi_max(worst->complementarity, parting);
    ++worst->contacts;
  }
  worst->cone = tbi_max(worst->cone, tangent - c->friction * normal);
  if (normal > 0 && c->friction > 0) {
    double power = (c->impulse[1] * u.y + c->impulse[2] * u.z) / h;
    worst->dissipation = tbi_max(worst->dissipation, slip + power / (c->friction * normal));
  }
}

tabi_certificate tbi_residual(const tbi_problem *p, double weight) {
  TBI_ASSERT(weight >= 0);
  tabi_certificate worst = {0};
  for (int32_t i = 0; i < p->npoint; ++i)
    add_point(p, &p->point[i], weight, &worst);
  return worst;
}

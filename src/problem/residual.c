/* residual.c - per contact, with the mean force f = impulse / h, the velocity u at the end of the
 * step and the gap predicted from it, g+ = g + h u_n (h/2, if g is that of the middle):
 *
 *   gap              max(0, -g+)
 *   complementarity  max(0, g+) / h, or on a rebound u_n above its target, where f_n pushes
 *   cone             max(0, |f_t| - mu f_n)
 *   dissipation      |u_t| + f_t . u_t / (mu f_n), where f_n > 0: zero if friction opposes slip
 *
 * A contact pushes if f_n is above 1e-6 of the weight of all that moves.  Complementarity and
 * dissipation count at most as the velocity that the whole impulse gives its own contact: dropping
 * the impulse would set both right, so a trace of one on a contact that opens is no violation.
 *
 * Couples of rolling and torsional friction (couples.h) count alike, with the force l / (h rho) and
 * the velocity w at the lever:
 *
 *   cone             max(0, |l| / (h rho) - f_n)
 *   dissipation      lever (|w| + l . w / (rho p_n))
 *
 * Work: impulses r that take velocities from u_f (free motion) to u change the kinetic energy by
 * r . (u_f + u) / 2, summed over the ports, which have received the wrenches r of all their points,
 * and over rows.  The part r_n c that brings about the velocity c of a depth correction is
 * meant to be positive, and is counted apart; that of a swept loop constraint, which its motion
 * asks for, is not counted. */
#include "problem/residual.h"

#include "base/assertion.h"
#include "problem/couples.h"

#define PUSHES 1e-6 /* of the weight of all that moves */

static v3 velocity_of(const tbi_point *c, const sv *port) {
  sv a = c->port_a == TABI_NONE ? sv_zero() : port[c->port_a];
  sv b = c->port_b == TABI_NONE ? sv_zero() : port[c->port_b];
  return tbi_point_velocity(c, a, b);
}

/* m/s, what the impulse of a point does to its own velocity; where no responses were made (a direct
 * solution, which is verified) unknown, and no bound */
static double effect_of(const tbi_point *c) {
  return c->mobility > 0 ? c->mobility * v3_norm(v3_load(c->impulse)) : (double)INFINITY;
}

static void add_point(const tbi_problem *p, const tbi_point *c, double weight,
                      tabi_certificate *worst) {
  TBI_ASSERT(p->timestep > 0);
  double h = p->timestep;
  double gap = c->gap;
  v3 u = velocity_of(c, p->velocity);
  double normal = c->impulse[0] / h;
  double tangent = sqrt(c->impulse[1] * c->impulse[1] + c->impulse[2] * c->impulse[2]) / h;
  const double *still = p->still ? p->still[c - p->point] : NULL;
  if (still) u = v3_sub(u, v3_make(0, still[0], still[1]));
  double slip = sqrt(u.y * u.y + u.z * u.z);
  double after = gap + p->remaining * u.x;
  bool rebound = c->target > 0 && gap >= 0;

  worst->gap = tbi_max(worst->gap, -after);
  if (normal > PUSHES * weight) {
    double parting = rebound ? u.x - c->target : after / h;
    if (parting > worst->complementarity)
      worst->complementarity = tbi_max(worst->complementarity, tbi_min(parting, effect_of(c)));
    ++worst->contacts;
  }
  worst->cone = tbi_max(worst->cone, tangent - c->friction * normal);
  if (normal > 0 && c->friction > 0) {
    double power = (c->impulse[1] * u.y + c->impulse[2] * u.z) / h;
    double along = slip + power / (c->friction * normal);
    if (along > worst->dissipation)
      worst->dissipation = tbi_max(worst->dissipation, tbi_min(along, effect_of(c)));
  }
}

static void add_couple(const tbi_problem *p, const tbi_couple *c, tabi_certificate *worst) {
  double w[2];
  double bound = tbi_couple_bound(p, c);
  double size = sqrt(c->impulse[0] * c->impulse[0] + c->impulse[1] * c->impulse[1]);
  tbi_couple_velocity(p, c, p->velocity, w);
  worst->cone = tbi_max(worst->cone, (size - bound) / (p->timestep * c->friction));
  if (!(bound > 0)) return;
  double along =
      sqrt(w[0] * w[0] + w[1] * w[1]) + (c->impulse[0] * w[0] + c->impulse[1] * w[1]) / bound;
  worst->dissipation =
      tbi_max(worst->dissipation, tbi_min(c->lever * along, effect_of(&p->point[c->point])));
}

tabi_certificate tbi_residual(const tbi_problem *p, double weight) {
  TBI_ASSERT(weight >= 0);
  tabi_certificate worst = {0};
  for (int32_t i = 0; i < p->npoint; ++i)
    add_point(p, &p->point[i], weight, &worst);
  for (int32_t k = 0; k < p->ncouple; ++k)
    add_couple(p, &p->couple[k], &worst);
  return worst;
}

tbi_work tbi_residual_work(const tbi_problem *p, const double *v, bool compliant) {
  TBI_ASSERT(p->npoint == 0 || (p->free && p->velocity));
  tbi_work work = {0};
  for (int32_t k = 0; k < p->nport; ++k)
    work.all += 0.5 * sv_dot(p->received[k], sv_add(p->free[k], p->velocity[k]));
  for (int32_t i = 0; !compliant && i < p->npoint; ++i)
    work.correction += p->point[i].impulse[0] * tbi_max(p->point[i].resting_target, 0);
  for (int32_t i = 0; i < p->nrow; ++i) {
    const tbi_row *row = &p->row[i];
    if (row->impulse == 0) continue;
    work.all += 0.5 * row->impulse * (row->base + v[row->dof]);
    work.correction += tbi_max(row->impulse * row->target, 0);
  }
  for (int32_t i = 0; i < p->nloop; ++i) {
    const tbi_loop_row *row = &p->loop_row[i];
    if (row->compliance > 0) continue; /* springs store what they take */
    work.all += 0.5 * row->impulse * (row->base - row->target);
  }
  return work;
}

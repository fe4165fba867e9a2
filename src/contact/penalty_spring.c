/* penalty_spring.c - the law of one point or row, its slope, and the deflection after the step. */
#include "contact/penalty_spring.h"

#include "base/assertion.h"

#include <string.h>

#define SOLVED   1e-4 /* relative error of friction that a solution surely stays below */
#define ROUNDING 1e-9 /* of energies */

tbi_spring tbi_spring_of(const tbi_point *c, const tabi_world_def *def, double share) {
  TBI_ASSERT(c->surface && def->timestep > 0);
  double h = def->timestep;
  tbi_spring_law law =
      tbi_spring_law_of(c->surface, c->friction, def->penalty.tangential_stiffness);
  v4 s = v4_from(c->deflection);
  double across = h * law.damping + h * h * law.stiffness;
  double along = h * law.damping + h * h * law.tangential_stiffness;
  /* the damper of a point that closes acts as far as it gets into the surface: f = -(k + d/h)(g + h
   * u) */
  double closing = c->gap > 0 ? law.damping : 0;
  v3 start = v3_make(-(h * law.stiffness + closing) * c->gap,
                     -h * law.tangential_stiffness * v4_dot(s, c->frame.y),
                     -h * law.tangential_stiffness * v4_dot(s, c->frame.z));
  return (tbi_spring){.law = law,
                      .start = v3_scale(share, start),
                      .added_mass = v3_scale(share, v3_make(across, along, along))};
}

/* -dr/du of a point whose impulse before the cut is t */
static void slope_at(const tbi_spring *s, v3 t, double d[9]) {
  memset(d, 0, 9 * sizeof *d);
  if (!(t.x > 0)) return;
  d[0] = s->added_mass.x;
  double along = sqrt(t.y * t.y + t.z * t.z);
  if (along <= s->law.stick_friction * t.x) {
    d[4] = d[8] = s->added_mass.y;
    return;
  }
  const double c[2] = {t.y / along, t.z / along};
  double mu = s->law.slip_friction;
  for (int i = 0; i < 2; ++i) {
    double *row = d + 3 * (ptrdiff_t)(i + 1);
    row[0] = mu * c[i] * s->added_mass.x;
    for (int j = 0; j < 2; ++j)
      row[j + 1] = mu * t.x / along * s->added_mass.y * ((i == j ? 1 : 0) - c[i] * c[j]);
  }
}

v3 tbi_spring_miss(const tbi_spring *s, v3 u, v3 r, double slope[9]) {
  v3 t = tbi_spring_uncut(s, u);
  slope_at(s, t, slope);
  return v3_sub(tbi_spring_law_cut(&s->law, t), r);
}

/* For so stiff a spring the velocity alone nearly always means a bound; whether the impulse is
 * between its bounds follows from impulse and velocity together. */
double tbi_row_miss(const tbi_law *law, double r, double u, double *f, double *slope) {
  double added_mass = TBI_ROW_STIFF / law->mobility;
  double to = r - (u + r / added_mass) / law->mobility;
  double cut = tbi_min(tbi_max(to, law->lower), law->upper);
  bool between = to > law->lower && to < law->upper;
  *slope = between ? added_mass : 0;
  *f = between ? -added_mass * u - r : cut - r;
  return fabs(cut - r) * law->mobility;
}

/* A point that slides has exactly kinetic friction; with more it sticks by static friction. */
static bool slides(const tbi_spring_law *law, double normal, double along) {
  double max = law->slip_friction * normal;
  if (along < max * (1 - 1e-12)) return false;
  return law->stick_friction <= law->slip_friction || along <= max * (1 + SOLVED);
}

static v3 velocity_of(const tbi_problem *p, const tbi_point *c) {
  sv a = c->port_a == TABI_NONE ? sv_zero() : p->velocity[c->port_a];
  sv b = c->port_b == TABI_NONE ? sv_zero() : p->velocity[c->port_b];
  return tbi_point_velocity(c, a, b);
}

static double square_along(v3 x) { return x.y * x.y + x.z * x.z; }

/* What a spring may store, of the deflection `to` after that of s: no more than it had and friction
 * has done.  A point that slides has part of its friction by its damper; and where the solution is
 * as good as its tolerance, one that slides may look as if it stuck. */
static v3 limit_deflection(const tbi_spring_law *law, v3 to, v3 s, v3 r, v3 u) {
  double all = 0.5 * law->tangential_stiffness * square_along(to);
  double had = 0.5 * law->tangential_stiffness * square_along(s);
  double most = tbi_max(had - r.y * u.y - r.z * u.z, 0);
  return all > (1 + ROUNDING) * most ? v3_scale(sqrt(most / all), to) : to;
}

/* free: as published, without that limit */
static v3 deflection_after(const tbi_point *c, const tbi_spring_law *law, v3 u, double h,
                           bool free) {
  v3 r = v3_load(c->impulse);
  bool pushes = r.x > 0 && law->tangential_stiffness > 0;
  if (!pushes) return v3_zero();
  v4 before = v4_from(c->deflection);
  v3 s = v3_make(0, v4_dot(before, c->frame.y), v4_dot(before, c->frame.z));
  double back = -1 / (h * law->tangential_stiffness);
  v3 to = slides(law, r.x, sqrt(square_along(r))) ? v3_make(0, back * r.y, back * r.z)
                                                  : v3_make(0, s.y + h * u.y, s.z + h * u.z);
  if (!free) to = limit_deflection(law, to, s, r, u);
  return v4_to(m4_combine(&c->frame, 0, to.y, to.z));
}

static double energy_of(const tbi_spring_law *law, double gap, v3 deflection) {
  double depth = tbi_min(gap, 0);
  return 0.5 * law->stiffness * depth * depth +
         0.5 * law->tangential_stiffness * v3_dot(deflection, deflection);
}

tbi_spring_energy tbi_springs_update(tbi_problem *p, const tabi_world_def *def, bool drops) {
  double h = def->timestep;
  tbi_spring_energy sum = {0};
  for (int32_t i = 0; i < p->npoint; ++i) {
    tbi_point *c = &p->point[i];
    tbi_spring_law law =
        tbi_spring_law_of(c->surface, c->friction, def->penalty.tangential_stiffness);
    if (drops) law = tbi_spring_law_dropping(law, tbi_point_friction(c, true));
    v3 u = velocity_of(p, c);
    c->spring.before = energy_of(&law, c->gap, c->deflection);
    c->deflection = deflection_after(c, &law, u, h, drops);
    c->spring.after = energy_of(&law, c->gap + h * u.x, c->deflection);
    bool acts = tbi_spring_acts(c) && (!drops || c->gap < 0); /* the published ones overlap */
    *(acts ? &sum.stored : &sum.found) += c->spring.after - c->spring.before;
    sum.after += c->spring.after;
  }
  return sum;
}

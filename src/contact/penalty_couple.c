/* penalty_couple.c - the law of one couple, and its deflection after the step.  A deflection never
 * stores more than the couple's bound has done against it, so the springs add no energy. */
#include "contact/penalty_couple.h"

#include "base/assertion.h"

#include <string.h>

static double square(const double x[2]) { return x[0] * x[0] + x[1] * x[1]; }

static double stiffness_of(const tbi_problem *p, const tbi_couple *c, const tabi_world_def *def) {
  const tabi_material_def *surface = p->point[c->point].surface;
  double tangential = def->penalty.tangential_stiffness * surface->stiffness;
  return tangential * c->friction * c->friction;
}

tbi_couple_spring tbi_couple_spring_of(const tbi_problem *p, const tbi_couple *c,
                                       const tabi_world_def *def, double share) {
  TBI_ASSERT(c->lever > 0 && def->timestep > 0);
  const tbi_point *at = &p->point[c->point];
  double h = def->timestep;
  double k = stiffness_of(p, c, def);
  double mobility = 0.5 * (c->w[0][0] + c->w[1][1]);
  double d = at->surface->damping * c->friction * c->friction + 2 * sqrt(k / mobility);
  double start = -share * h * k / c->lever;
  return (tbi_couple_spring){
      .start = {start * c->deflection[0], start * c->deflection[1]},
      .added_mass = share * (h * d + h * h * k) / (c->lever * c->lever),
      .mobility = at->mobility,
  };
}

/* A Newton step brings a to its bound but for its own change / TBI_ROW_STIFF, and l follows a where
 * it slips. */
double tbi_couple_miss(const tbi_couple_spring *s, const double r[3], const double u[3],
                       double f[3], double slope[9]) {
  double stiff = TBI_ROW_STIFF / s->mobility;
  double bound = tbi_max(r[0] - u[0] / s->mobility, 0);
  double t[2] = {s->start[0] - s->added_mass * u[1], s->start[1] - s->added_mass * u[2]};
  double along = sqrt(square(t));
  bool inside = along <= bound;
  double keep = inside ? 1 : bound / along;
  double missed[2];
  memset(slope, 0, 9 * sizeof *slope);
  slope[0] = stiff;
  f[0] = -stiff * u[0];
  for (ptrdiff_t i = 0; i < 2; ++i) {
    double c = inside ? 0 : t[i] / along;
    missed[i] = keep * t[i] - r[i + 1];
    f[i + 1] = inside ? missed[i] : c * (r[0] - stiff * u[0]) - r[i + 1];
    slope[3 * (i + 1)] = c * stiff;
    for (ptrdiff_t j = 0; j < 2; ++j) {
      double across = (i == j ? 1 : 0) - (inside ? 0 : c * t[j] / along);
      slope[3 * (i + 1) + j + 1] = keep * s->added_mass * across;
    }
  }
  double off = r[0] - bound;
  return s->mobility * sqrt(off * off + square(missed));
}

void tbi_couple_springs_update(tbi_problem *p, const tabi_world_def *def, tbi_spring_energy *sum) {
  double h = def->timestep;
  for (int32_t i = 0; i < p->ncouple; ++i) {
    tbi_couple *c = &p->couple[i];
    double k = stiffness_of(p, c, def);
    double most = k > 0 ? tbi_couple_bound(p, c) / (h * k) : 0;
    double before = 0.5 * k * square(c->deflection);
    double w[2];
    tbi_couple_velocity(p, c, p->velocity, w);
    for (int j = 0; j < 2; ++j)
      c->deflection[j] += h * w[j];
    double size = sqrt(square(c->deflection));
    for (int j = 0; j < 2 && size > most; ++j)
      c->deflection[j] *= most / size;
    double after = 0.5 * k * square(c->deflection);
    sum->stored += after - before;
    sum->after += after;
  }
}

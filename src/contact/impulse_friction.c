/* impulse_friction.c - which points stick, which slide, and in which direction.
 *
 * A point that slid before the step, or faster than slip_speed, slides with kinetic friction
 * against its slip; any other sticks up to static friction, and beyond it slides with kinetic
 * friction in the same direction. */
#include "base/assertion.h"
#include "contact/impulse_work.h"
#include "contact/surface.h"

#define DRIVEN 1e-4 /* m/s along its own friction, more than rounding leaves */

double tbi_impulse_kinetic(const tbi_impulse_island *c, const tbi_point *point) {
  return c->friction * tbi_point_friction(point, true);
}

tbi_part tbi_impulse_fixed_point(const tbi_impulse_island *c, const tbi_point *point) {
  double slip = sqrt(point->slip[0] * point->slip[0] + point->slip[1] * point->slip[1]);
  tbi_part p = {.mode = TBI_STICKS};
  bool slides = slip > (point->slipping == TBI_SLIDING ? 0 : point->surface->slip_speed);
  if (slides && !c->stops) {
    p.mode = TBI_SLIDES;
    for (int k = 0; k < 2; ++k)
      p.along[k] = -point->slip[k] / slip;
  }
  return p;
}

bool tbi_impulse_change_friction(tbi_impulse_island *c) {
  const tbi_delassus *w = &c->island->w;
  bool changed = false;
  for (int32_t i = 0; i < w->nlaw; ++i) {
    if (!tbi_impulse_point(c, i)) continue;
    tbi_part *p = &c->part[i];
    const double *f = c->f + w->law[i].at;
    const double *u = c->u + w->law[i].at;
    double tangent = sqrt(f[1] * f[1] + f[2] * f[2]);
    double max = c->friction * tbi_impulse_point(c, i)->surface->friction * f[0];
    if (p->mode == TBI_STICKS && tangent > max * (1 + 1e-12) + 1e-300) {
      p->mode = TBI_SLIDES;
      p->along[0] = f[1] / tangent;
      p->along[1] = f[2] / tangent;
      changed = true;
    } else if (p->mode == TBI_SLIDES && !p->turned && max > 0 &&
               u[1] * p->along[0] + u[2] * p->along[1] > TBI_MIN_APPROACH) {
      p->mode = TBI_STICKS;
      p->turned = true;
      changed = true;
    }
  }
  return changed;
}

bool tbi_impulse_drives(const tbi_impulse_island *c) {
  const tbi_delassus *w = &c->island->w;
  for (int32_t i = 0; i < w->nlaw; ++i) {
    const tbi_part *p = &c->part[i];
    if (p->mode != TBI_SLIDES || !(c->f[w->law[i].at] > 0)) continue;
    const double *u = c->u + w->law[i].at;
    if (u[1] * p->along[0] + u[2] * p->along[1] > DRIVEN) return true;
  }
  return false;
}

void tbi_impulse_slide_in(tbi_impulse_island *c, int32_t law) {
  TBI_ASSERT(law >= 0 && law < c->island->w.nlaw);
  tbi_part *p = &c->part[law];
  const double *u = c->u + c->island->w.law[law].at;
  double slip = sqrt(u[1] * u[1] + u[2] * u[2]);
  for (int k = 0; k < 2 && p->mode == TBI_STICKS && slip > 0; ++k)
    p->along[k] = -u[1 + k] / slip;
  p->mode = TBI_SLIDES;
  p->turned = p->let_go = true;
}

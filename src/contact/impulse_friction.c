/* impulse_friction.c - which points stick, which slide, and in which direction.
 *
 * A point that slid before the step, or faster than slip_speed, slides with kinetic friction
 * against its slip; any other sticks up to static friction, and beyond it slides with kinetic
 * friction in the same direction.
 *
 * Coulomb's law wants friction against the slip u after the step.  So when nothing else is wrong,
 * its directions e follow  e <- (R e - u) / |R e - u|,  with R what friction does to the slip.  A
 * point alone whose slip friction changes alike in all directions is there after one turn: R e - u
 * is against the slip that it has without friction. */
#include "base/assertion.h"
#include "contact/impulse_work.h"
#include "contact/surface.h"

#define ASKEW 1e-5 /* m/s, by which friction may miss the opposite of the slip */
#define MISS  1e-4 /* m/s, by which a solution may miss the law */

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

static double slip_of(const double *u) { return sqrt(u[1] * u[1] + u[2] * u[2]); }

/* m/s, slip along the friction of a point that slides */
static double slip_along(const tbi_part *p, const double *u) {
  return u[1] * p->along[0] + u[2] * p->along[1];
}

/* m/s, what friction of one sliding point does to the slip of another, along the friction there */
static double effect_on(const tbi_impulse_island *c, int32_t law, int32_t other) {
  const double *to = c->part[law].along;
  const double *from = c->part[other].along;
  int32_t k = c->island->w.law[other].at;
  const double *y = tbi_impulse_row(c, c->island->w.law[law].at + 1) + k;
  const double *z = tbi_impulse_row(c, c->island->w.law[law].at + 2) + k;
  double bound = tbi_impulse_kinetic(c, tbi_impulse_point(c, other)) * c->f[k];
  return bound *
         (to[0] * (y[1] * from[0] + y[2] * from[1]) + to[1] * (z[1] * from[0] + z[2] * from[1]));
}

/* m/s, what friction does to the slip of a point: its own, or that of all sliding points */
static double reach_of(const tbi_impulse_island *c, int32_t law) {
  double all = 0;
  for (int32_t j = 0; j < c->nsliding; ++j)
    all += effect_on(c, law, c->sliding[j].law);
  return tbi_max(all, effect_on(c, law, law));
}

/* whether friction drives a point, which no turn of others will cure */
static bool drives(const tbi_impulse_island *c) {
  for (int32_t k = 0; k < c->nsliding; ++k) {
    int32_t law = c->sliding[k].law;
    const double *f = c->f + c->island->w.law[law].at;
    const double *u = c->u + c->island->w.law[law].at;
    if (f[0] > 0 && slip_along(&c->part[law], u) > MISS) return true;
  }
  return false;
}

bool tbi_impulse_turn_friction(tbi_impulse_island *c) {
  bool turned = false;
  for (int32_t k = 0; k < c->nsliding && !drives(c); ++k) {
    int32_t law = c->sliding[k].law;
    tbi_part *p = &c->part[law];
    const double *f = c->f + c->island->w.law[law].at;
    const double *u = c->u + c->island->w.law[law].at;
    double along = slip_along(p, u);
    if (!(f[0] > 0) || along > 0 || slip_of(u) + along <= ASKEW) continue;
    double reach = reach_of(c, law);
    double y = reach * p->along[0] - u[1];
    double z = reach * p->along[1] - u[2];
    double size = sqrt(y * y + z * z);
    p->along[0] = y / size;
    p->along[1] = z / size;
    turned = true;
  }
  return turned;
}

/* m/s, by which velocities of a point miss what its mode asks for */
static double miss_of(const tbi_impulse_island *c, int32_t law) {
  const tbi_part *p = &c->part[law];
  const double *f = c->f + c->island->w.law[law].at;
  const double *u = c->u + c->island->w.law[law].at;
  if (p->mode == TBI_FREE) return -u[0];
  double along = slip_of(u);
  if (p->mode == TBI_SLIDES)
    along = tbi_impulse_kinetic(c, tbi_impulse_point(c, law)) > 0 ? along + slip_along(p, u) : 0;
  double mobility = c->island->w.law[law].mobility;
  return tbi_min(fabs(u[0]) + along, mobility * sqrt(f[0] * f[0] + f[1] * f[1] + f[2] * f[2]));
}

bool tbi_impulse_misses(const tbi_impulse_island *c) {
  for (int32_t i = 0; i < c->island->w.nlaw; ++i)
    if (tbi_impulse_point(c, i) && miss_of(c, i) > MISS) return true;
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

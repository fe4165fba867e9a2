/* penalty_soft.c - W + C as an operator, and Newton steps with it by those of W:
 *
 *   dr + D (W + C) dr = g   is   dr + D' W dr = (1 + D C)^-1 g,   D' = (1 + D C)^-1 D. */
#include "contact/penalty_soft.h"

#include "base/assertion.h"

#include <string.h>

enum { BUDGET = 200 };
#define SHARE  0.1 /* of the tolerance, that the residual may have */
#define UNUSED (-1.0)

void tbi_soft_island_place(tbi_layout *at, int64_t points, int64_t rows, tbi_soft_island *soft) {
  int64_t laws = points + rows;
  int64_t unknowns = 3 * points + rows;
  soft->law = tbi_layout_take(at, laws, sizeof *soft->law);
  soft->d = tbi_layout_take(at, laws, sizeof *soft->d);
  soft->q = tbi_layout_take(at, unknowns, sizeof *soft->q);
  soft->softness = tbi_layout_take(at, unknowns, sizeof *soft->softness);
  soft->g = tbi_layout_take(at, unknowns, sizeof *soft->g);
  size_t newton = tbi_newton_refine_memsize((int32_t)laws, (int32_t)unknowns);
  soft->newton = tbi_layout_take(at, (int64_t)newton, 1);
}

/* -- the operator */

static bool is_used(const tbi_soft_island *soft, int32_t law) {
  return soft->softness[soft->law[law].at] >= 0;
}

static void multiply(void *self, const double *r, double *wr) {
  const tbi_soft_island *soft = self;
  const tbi_delassus *hard = &soft->island->w;
  hard->multiply(hard->self, r, wr);
  for (int32_t i = 0; i < hard->nunknown; ++i)
    wr[i] = soft->softness[i] < 0 ? 0 : wr[i] + soft->softness[i] * r[i];
}

/* x -> (1 + D C)^-1 x for one law of three unknowns, by its adjugate */
static m3 inverse_of(const double d[9], const double c[3]) {
  v3 x = v3_make(1 + d[0] * c[0], d[1] * c[1], d[2] * c[2]);
  v3 y = v3_make(d[3] * c[0], 1 + d[4] * c[1], d[5] * c[2]);
  v3 z = v3_make(d[6] * c[0], d[7] * c[1], 1 + d[8] * c[2]);
  v3 yz = v3_cross(y, z);
  double scale = 1 / v3_dot(x, yz);
  return m3_from_columns(v3_scale(scale, yz), v3_scale(scale, v3_cross(z, x)),
                         v3_scale(scale, v3_cross(x, y)));
}

static void soften(const tbi_soft_island *soft, int32_t i, const double *d, const double *g) {
  int32_t at = soft->law[i].at;
  double *to = soft->d[i].m;
  m3 inverse = inverse_of(d, soft->softness + at);
  for (ptrdiff_t k = 0; k < 3; ++k) {
    v3 column = m3_mulv(&inverse, v3_make(d[k], d[3 + k], d[6 + k]));
    to[k] = column.x;
    to[3 + k] = column.y;
    to[6 + k] = column.z;
  }
  v3_store(m3_mulv(&inverse, v3_load(g + at)), soft->g + at);
}

static bool newton(void *self, const tbi_law_block *d, const double *g, double *dr) {
  const tbi_soft_island *soft = self;
  const tbi_delassus *hard = &soft->island->w;
  memcpy(soft->d, d, sizeof *d * (size_t)hard->nlaw);
  memcpy(soft->g, g, sizeof *g * (size_t)hard->nunknown);
  for (int32_t i = 0; i < hard->nlaw; ++i) {
    if (!is_used(soft, i)) memset(&soft->d[i], 0, sizeof soft->d[i]);
    if (is_used(soft, i) && soft->law[i].size == 3) soften(soft, i, d[i].m, g);
  }
  return hard->newton(hard->self, soft->d, soft->g, dr);
}

/* -- its laws */

/* u + C (r - r0) in law i: how soft it is, and what that adds to q */
static void set_law(const tbi_soft_island *soft, int32_t i, v3 softness, v3 start) {
  tbi_law *law = &soft->law[i];
  const double added[3] = {start.x, start.y, start.z};
  v3_store(softness, soft->softness + law->at);
  for (int32_t k = 0; k < 3; ++k)
    soft->q[law->at + k] -= soft->softness[law->at + k] * added[k];
  law->mobility += (softness.x + softness.y + softness.z) / 3;
}

static void set_point(const tbi_soft_island *soft, int32_t i, const tbi_point *c,
                      const tabi_world_def *def) {
  double *q = soft->q + soft->law[i].at;
  if (!tbi_spring_acts(c)) {
    v3_store(v3_make(UNUSED, UNUSED, UNUSED), soft->softness + soft->law[i].at);
    v3_store(v3_make(1, 0, 0), q);
    return;
  }
  tbi_spring s = tbi_spring_of(c, def, 1);
  soft->law[i].friction = s.law.stick_friction;
  q[0] += c->target;
  v3 c3 = v3_make(1 / s.added_mass.x, 1 / s.added_mass.y, 1 / s.added_mass.z);
  set_law(soft, i, c3, s.start);
}

static void set_couple(const tbi_soft_island *soft, int32_t i, const tbi_couple *couple,
                       const tabi_world_def *def) {
  tbi_couple_spring s = tbi_couple_spring_of(soft->island->all->p, couple, def, 1);
  double c = 1 / s.added_mass;
  set_law(soft, i, v3_make(0, c, c), v3_make(0, s.start[0], s.start[1]));
}

static void make(tbi_soft_island *soft, const tbi_island *island, const tabi_world_def *def) {
  const tbi_delassus *hard = &island->w;
  soft->island = island;
  soft->w = *hard;
  soft->w.self = soft;
  soft->w.law = soft->law;
  soft->w.q = soft->q;
  soft->w.multiply = multiply;
  soft->w.sweep = NULL;
  soft->w.newton = newton;
  memcpy(soft->law, hard->law, sizeof *soft->law * (size_t)hard->nlaw);
  memcpy(soft->q, hard->q, sizeof *soft->q * (size_t)hard->nunknown);
  memset(soft->softness, 0, sizeof *soft->softness * (size_t)hard->nunknown);
  for (int32_t i = 0; i < hard->nlaw; ++i) {
    const tbi_point *c = tbi_island_point(island, i);
    const tbi_couple *couple = tbi_island_couple(island, i);
    if (c) set_point(soft, i, c, def);
    if (couple) set_couple(soft, i, couple, def);
  }
}

int32_t tbi_soft_island_solve(tbi_soft_island *soft, const tbi_island *island,
                              const tabi_world_def *def, double *r) {
  TBI_ASSERT(def->tolerance >= 0);
  make(soft, island, def);
  tbi_newton_result result =
      tbi_newton_refine(&soft->w, SHARE * def->tolerance,
                        (tbi_newton_effort){.factorisations = BUDGET}, r, soft->newton);
  return result.factorisations;
}

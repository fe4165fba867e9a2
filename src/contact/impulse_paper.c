/* impulse_paper.c - `impulse-paper`: the loop as published (P5, Sugihara and Nakamura).
 *
 * Every point in contact is active and keeps its tangential velocity before the step (17).  The
 * impulses follow by the pseudo-inverse; points that pull are released together and for good, and
 * the others are solved again.  Friction is cut to its cone at the end (27), whatever that does to
 * the normals, and nothing is done about energy: impulse.c does both better.
 *
 * The paper has no joint limits and no dry friction in joints.  Their rows keep within their bounds
 * in the same passes, and once more under the final contact forces, which are then given as in the
 * paper's last steps: a row beyond a bound goes there, and returns once if it would move on. */
#include "contact/impulse_work.h"

#include <string.h>

#define IN_CONTACT  1e-9 /* m: points with a smaller gap are active */
#define ROW_CHANGES 3    /* of one row at most; of a point 1 */

static bool release_all(tbi_impulse_island *c) {
  const tbi_delassus *w = &c->island->w;
  bool pulls = false;
  for (int32_t i = 0; i < w->nlaw; ++i) {
    if (!tbi_impulse_point(c, i) || c->part[i].mode == TBI_FREE || c->f[w->law[i].at] > 0) continue;
    c->part[i].mode = TBI_FREE;
    pulls = true;
  }
  return pulls;
}

/* How a row should go on: beyond a bound it goes there, and a row at a bound returns once. */
static tbi_part next_row(const tbi_law *law, tbi_part p, double f, double u) {
  if (p.mode == TBI_STICKS && (f < law->lower || f > law->upper)) {
    p.mode = TBI_BOUND;
    p.bound = f < law->lower ? law->lower : law->upper;
  } else if (p.mode == TBI_BOUND && !p.turned &&
             (p.bound == law->upper ? u : -u) > TBI_MIN_APPROACH) {
    p.mode = TBI_STICKS;
    p.turned = true;
  }
  return p;
}

static bool change_rows(tbi_impulse_island *c) {
  const tbi_delassus *w = &c->island->w;
  bool changed = false;
  tbi_impulse_multiply(c);
  for (int32_t i = 0; i < w->nlaw; ++i) {
    if (tbi_impulse_point(c, i)) continue;
    tbi_contact_mode before = c->part[i].mode;
    int32_t at = w->law[i].at;
    c->part[i] = next_row(&w->law[i], c->part[i], c->f[at], c->u[at]);
    changed = changed || c->part[i].mode != before;
  }
  return changed;
}

/* friction beyond the static cone, or of a point that slid before the step, becomes kinetic */
static void cut_friction(tbi_impulse_island *c) {
  const tbi_delassus *w = &c->island->w;
  for (int32_t i = 0; i < w->nlaw; ++i) {
    const tbi_point *point = tbi_impulse_point(c, i);
    if (!point || c->part[i].mode == TBI_FREE) continue;
    double *f = c->f + w->law[i].at;
    tbi_part before = tbi_impulse_fixed_point(c, point);
    double tangent = sqrt(f[1] * f[1] + f[2] * f[2]);
    if (before.mode == TBI_STICKS && tangent <= point->surface->friction * f[0]) continue;
    double max = tbi_impulse_kinetic(c, point) * f[0];
    for (int k = 0; k < 2; ++k)
      f[1 + k] = max * (before.mode == TBI_SLIDES ? before.along[k] : f[1 + k] / tangent);
  }
}

/* Impulses that give the active points and rows the velocities they ask for; the others stay. */
static void solve_active(tbi_impulse_island *c) {
  tbi_impulse_factor(c);
  for (int32_t i = 0; i < c->nfixed; ++i)
    c->f[c->fixed[i]] = 0;
  tbi_impulse_follow(c);
  tbi_impulse_multiply(c);
  for (int32_t i = 0; i < c->nfixed; ++i)
    c->x[i] = -c->u[c->fixed[i]];
  tbi_pseudo_solve_pivots(&c->pseudo, c->x);
  for (int32_t i = 0; i < c->nfixed; ++i)
    c->f[c->fixed[i]] = c->x[i];
}

/* Every point in contact asks for its rebound and for its tangential velocity before the step. */
static void activate(tbi_impulse_island *c) {
  const tbi_delassus *w = &c->island->w;
  tbi_impulse_start(c, 1);
  memset(c->f, 0, sizeof *c->f * (size_t)c->n);
  for (int32_t i = 0; i < w->nlaw; ++i) {
    tbi_part *p = &c->part[i];
    const tbi_point *point = tbi_impulse_point(c, i);
    if (!point) continue;
    if (p->mode == TBI_FREE && point->gap <= IN_CONTACT) *p = tbi_impulse_fixed_point(c, point);
    if (p->mode != TBI_SLIDES) continue;
    for (int k = 0; k < 2; ++k)
      c->q[w->law[i].at + 1 + k] -= point->slip[k];
    p->mode = TBI_STICKS;
  }
}

/* The contact forces are final; rows answer to them. */
static int32_t answer_by_rows(tbi_impulse_island *c) {
  const tbi_delassus *w = &c->island->w;
  bool changed = false;
  for (int32_t i = 0; i < w->nlaw; ++i) {
    bool row = !tbi_impulse_point(c, i);
    changed = changed || row;
    c->part[i].turned = false;
    if (!row) c->part[i] = (tbi_part){.mode = TBI_BOUND, .bound = c->f[w->law[i].at]};
  }
  int32_t passes = 0;
  for (; changed && passes <= ROW_CHANGES * w->nlaw; ++passes) {
    solve_active(c);
    changed = change_rows(c);
  }
  return passes;
}

static int32_t exclude_pulling(tbi_impulse_island *c) {
  const tbi_delassus *w = &c->island->w;
  bool changed = true;
  int32_t passes = 0;
  activate(c);
  for (; changed && passes <= ROW_CHANGES * w->nlaw; ++passes) {
    solve_active(c);
    changed = release_all(c) || change_rows(c);
  }
  cut_friction(c);
  return passes + answer_by_rows(c);
}

static tbi_solution solve(tbi_problem *p, const tabi_world_def *def, void *scratch) {
  return tbi_impulse_solve(p, def, scratch, exclude_pulling);
}

const tbi_formulation tbi_impulse_paper = {
    .info = {.name = "impulse-paper",
             .summary = "restitution by pseudo-inverse, pulling points released together (P5)",
             .method = TABI_CONTACT_IMPULSE,
             .published = TABI_NONE,
             .rebounds = true},
    .tolerance = 1e-8,
    .iterations = 120,
    .as_published = true,
    .memsize = tbi_impulse_memsize,
    .solve = solve,
};

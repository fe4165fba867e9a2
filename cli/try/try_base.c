/* try_base.c - a robot that can stand is free, an arm is fixed.
 *
 * URDF and SDF do not say whether a robot is bolted down.  One that stands by itself does so on two
 * limbs or wheels at least: links near the ground of which neither carries the other, and whose
 * common root is no hand at the end of an arm.  Its centre of mass is above what it stands on. */
#include "try/try_base.h"

#include "common/extent.h"
#include "try/try_posture.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define NEAR_GROUND 0.05 /* m above the lowest shape .. */
#define NEAR_SHARE  0.1  /* .. and at most this share of the height, where a limb still stands */
#define TRUNK       0.25 /* share of the mass at and behind the root of two legs, at least */

typedef struct footing {
  const tabi_model *model;
  const tabi_dynamics *d;
  bool *touches; /* [nlink] */
  tbi_extent area;
  int32_t ncollides;
} footing;

static bool counts(const tabi_model *model, int32_t i) {
  tabi_shape_def shape = tabi_model_shape(model, i);
  return shape.collides && shape.link != TABI_WORLD && shape.type != TABI_SHAPE_PLANE;
}

static void widen(tbi_extent *e, const tbi_extent *by) {
  for (int k = 0; k < 3; ++k) {
    e->lower[k] = e->empty ? by->lower[k] : fmin(e->lower[k], by->lower[k]);
    e->upper[k] = e->empty ? by->upper[k] : fmax(e->upper[k], by->upper[k]);
  }
  e->empty = false;
}

static void find_touching(footing *f) {
  tbi_extent all = {.empty = true};
  f->area.empty = true;
  for (int32_t i = 0; i < tabi_model_nshape(f->model); ++i) {
    if (!counts(f->model, i)) continue;
    tbi_extent e = tbi_extent_of_shape(f->d, i);
    widen(&all, &e);
    f->ncollides++;
  }
  double near = all.lower[2] + fmin(NEAR_GROUND, NEAR_SHARE * (all.upper[2] - all.lower[2]));
  for (int32_t i = 0; i < tabi_model_nshape(f->model); ++i) {
    if (!counts(f->model, i)) continue;
    tbi_extent e = tbi_extent_of_shape(f->d, i);
    if (e.lower[2] > near) continue;
    f->touches[tabi_model_shape(f->model, i).link] = true;
    widen(&f->area, &e);
  }
}

/* Whether a link is part of the body of another one, or moves with it. */
static bool is_carried(const tabi_model *model, int32_t link, int32_t by) {
  int32_t body = tabi_model_link_body(model, by);
  while (link != TABI_WORLD && tabi_model_link_body(model, link) != body)
    link = tbi_parent_link(model, link);
  return link != TABI_WORLD;
}

static double mass_carried(const tabi_model *model, int32_t by) {
  double sum = 0;
  for (int32_t i = 0; i < tabi_model_nlink(model); ++i)
    if (is_carried(model, i, by)) sum += tabi_model_link(model, i).mass;
  return sum;
}

static bool are_legs(const tabi_model *model, int32_t a, int32_t b) {
  if (is_carried(model, a, b) || is_carried(model, b, a)) return false;
  int32_t root = a;
  while (root != TABI_WORLD && !is_carried(model, b, root))
    root = tbi_parent_link(model, root);
  return root != TABI_WORLD && mass_carried(model, root) >= TRUNK * tabi_model_mass(model);
}

static bool has_legs(const footing *f) {
  int32_t nlink = tabi_model_nlink(f->model);
  for (int32_t a = 0; a < nlink; ++a) {
    for (int32_t b = a + 1; f->touches[a] && b < nlink; ++b)
      if (f->touches[b] && are_legs(f->model, a, b)) return true;
  }
  return false;
}

static bool is_above(const footing *f) {
  double com[3];
  tabi_dynamics_com(f->d, com);
  bool above = true;
  for (int k = 0; k < 2; ++k)
    above = above && com[k] >= f->area.lower[k] && com[k] <= f->area.upper[k];
  return above;
}

/* Where a file has no other way to say so, the ground is a link of this name. */
static bool hangs_on_world(const tabi_model *model) {
  int32_t base = tbi_base_joint(model);
  const char *name =
      base == TABI_NONE ? NULL : tabi_model_link(model, tabi_model_joint(model, base).child).name;
  return name && strcmp(name, "world") == 0;
}

static tbi_try_base decide(const footing *f) {
  if (hangs_on_world(f->model)) return (tbi_try_base){false, "its root is called 'world'"};
  if (f->ncollides == 0) return (tbi_try_base){false, "none of its shapes collides"};
  if (tabi_model_nv(f->model) == 6) return (tbi_try_base){true, "it has no joints"};
  if (!has_legs(f)) return (tbi_try_base){false, "it has no two limbs that reach the ground"};
  if (!is_above(f))
    return (tbi_try_base){false, "its centre of mass is not above what reaches the ground"};
  return (tbi_try_base){true, "it stands on two limbs or more"};
}

/* The loader's own joint has the place of the link; one of the file has its own. */
bool tbi_try_base_is_open(const tabi_model *model) {
  int32_t roots = 0;
  for (int32_t i = 0; i < tabi_model_njoint(model); ++i) {
    tabi_joint_def joint = tabi_model_joint(model, i);
    roots += joint.parent == TABI_WORLD && joint.type == TABI_JOINT_FREE;
  }
  int32_t base = tbi_base_joint(model);
  if (roots != 1 || base == TABI_NONE) return false;
  tabi_joint_def joint = tabi_model_joint(model, base);
  return joint.place.line == tabi_model_link(model, joint.child).place.line;
}

bool tbi_try_base_decide(const tabi_model *model, tbi_try_base *base) {
  tabi_dynamics *d = tabi_dynamics_create(model, NULL);
  double *q = calloc((size_t)tabi_model_nq(model) + 1, sizeof *q);
  double *v = calloc((size_t)tabi_model_nv(model) + 1, sizeof *v);
  footing f = {.model = model, .d = d};
  f.touches = calloc((size_t)tabi_model_nlink(model) + 1, sizeof *f.touches);
  bool good = d && q && v && f.touches;
  if (good) {
    (void)tbi_try_posture(model, TABI_NONE, q, NULL);
    tabi_dynamics_set_state(d, q, v);
    find_touching(&f);
    *base = decide(&f);
  }
  free(q);
  free(v);
  free(f.touches);
  tabi_dynamics_destroy(d);
  return good;
}

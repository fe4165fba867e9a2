/* check_links.c - masses, inertias and centres of mass that nobody can have meant. */
#include "base/assertion.h"
#include "doctor/doctor.h"
#include "math/quat.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

typedef struct box {
  double lower[3], upper[3]; /* link frame; lower > upper: empty */
} box;

static bool box_is_empty(const box *b) { return b->lower[0] > b->upper[0]; }

static void box_include(box *b, const double point[3], double margin) {
  for (int i = 0; i < 3; ++i) {
    b->lower[i] = fmin(b->lower[i], point[i] - margin);
    b->upper[i] = fmax(b->upper[i], point[i] + margin);
  }
}

/* The ball around a shape of closed form is good enough to judge sizes by. */
static double shape_radius(const tabi_shape_def *s) {
  switch (s->type) {
  case TABI_SHAPE_SPHERE:
    return s->size[0];
  case TABI_SHAPE_CAPSULE:
    return s->size[0] + s->size[1] / 2;
  case TABI_SHAPE_CYLINDER:
    return hypot(s->size[0], s->size[1] / 2);
  case TABI_SHAPE_ELLIPSOID:
    return fmax(fmax(s->size[0], s->size[1]), s->size[2]);
  default:
    return v3_norm(v3_load(s->size)) / 2;
  }
}

static box link_box(const tabi_model *model, int32_t link) {
  box b = {
      {DBL_MAX,  DBL_MAX,  DBL_MAX },
      {-DBL_MAX, -DBL_MAX, -DBL_MAX}
  };
  for (int32_t i = 0; i < tabi_model_nshape(model); ++i) {
    tabi_shape_def s = tabi_model_shape(model, i);
    if (s.link != link || s.type == TABI_SHAPE_PLANE) continue;
    if (s.type != TABI_SHAPE_MESH) {
      box_include(&b, s.pos, shape_radius(&s));
      continue;
    }
    tabi_mesh_def mesh = tabi_model_mesh(model, s.mesh);
    m3 rot = q_matrix(q_load(s.quat));
    for (int32_t k = 0; k < mesh.nvertex; ++k) {
      double point[3];
      v3 vertex = v3_load(mesh.vertices + 3 * (size_t)k);
      v3_store(v3_add(v3_load(s.pos), m3_mulv(&rot, vertex)), point);
      box_include(&b, point, 0);
    }
  }
  return b;
}

/* Distance from a point to the nearest (sign -1) or farthest (sign +1) place of a box. */
static double box_distance(const box *b, const double point[3], int sign) {
  double d[3];
  for (int i = 0; i < 3; ++i) {
    double below = b->lower[i] - point[i];
    double above = point[i] - b->upper[i];
    d[i] = sign > 0 ? fmax(fabs(below), fabs(above)) : fmax(0, fmax(below, above));
  }
  return v3_norm(v3_load(d));
}

static double box_edge(const box *b) {
  double edge = 0;
  for (int i = 0; i < 3; ++i)
    edge = fmax(edge, b->upper[i] - b->lower[i]);
  return edge;
}

static void check_mass(tbi_doctor *d, int32_t i, const tabi_link_def *link) {
  (void)i;
  if (link->mass > 1e4) {
    tbi_doctor_find(d, TBI_PROBLEM, link->place,
                    "link '%s': mass is %g kg; check that it is not in grams",
                    tbi_doctor_shown(link->name), link->mass);
  }
}

/* Principal moments A <= B <= C: A near zero, or A + B near C. */
static void check_inertia(tbi_doctor *d, int32_t i, const tabi_link_def *link) {
  (void)i;
  double p[3];
  tbi_s3_eigenvalues(s3_load(link->inertia), p);
  if (link->mass == 0) return;
  if (p[2] <= 0) {
    tbi_doctor_find(
        d, TBI_ADVICE, link->place,
        "link '%s': has a mass of %g kg but no inertia; give it that of a solid of its size",
        tbi_doctor_shown(link->name), link->mass);
  } else if (p[0] < 1e-5 * p[2]) {
    tbi_doctor_find(
        d, TBI_PROBLEM, link->place,
        "link '%s': smallest principal moment is %.3g of the largest (%.3g, %.3g, %.3g kg m^2); "
        "even a thin rod has m r^2/2",
        tbi_doctor_shown(link->name), p[0] / p[2], p[0], p[1], p[2]);
  } else if (p[0] + p[1] < (1 + 1e-4) * p[2]) {
    tbi_doctor_find(
        d, TBI_ADVICE, link->place,
        "link '%s': inertia is that of an infinitely thin plate (%.6g + %.6g = %.6g kg m^2); "
        "check the moments",
        tbi_doctor_shown(link->name), p[0], p[1], p[2]);
  }
}

/* An inertia that nobody computed: exactly 1 1 1, or far too large for the size of the link. */
static void check_placeholder(tbi_doctor *d, int32_t i, const tabi_link_def *link) {
  double p[3];
  tbi_s3_eigenvalues(s3_load(link->inertia), p);
  if (link->mass == 0 || p[2] <= 0) return;
  double gyration = sqrt(p[2] / link->mass);
  box b = link_box(d->model, i);
  double extent = box_is_empty(&b) ? 0 : box_distance(&b, link->com, 1);
  bool ones = p[0] == 1 && p[2] == 1 && gyration > 0.1;
  bool far = extent > 0 ? gyration > 3 * extent : gyration > 1 && link->mass < 10;
  if (!ones && !far) return;
  char size[80] = "";
  char cure[64] = "";
  if (extent > 0) {
    (void)snprintf(size, sizeof size, "; its shapes extend %.2g m from the centre of mass", extent);
    (void)snprintf(cure, sizeof cure, ", about %.1g kg m^2", link->mass * extent * extent / 5);
  }
  tbi_doctor_find(
      d, TBI_PROBLEM, link->place,
      "link '%s': inertia is %s (radius of gyration %.2g m%s); compute it from its solids%s",
      tbi_doctor_shown(link->name), ones ? "exactly 1 1 1, a placeholder" : "far too large",
      gyration, size, cure);
}

static void check_com(tbi_doctor *d, int32_t i, const tabi_link_def *link) {
  box b = link_box(d->model, i);
  if (link->mass == 0 || box_is_empty(&b)) return;
  double away = box_distance(&b, link->com, -1);
  if (away > box_edge(&b) && away > 0.02) {
    tbi_doctor_find(
        d, TBI_ADVICE, link->place,
        "link '%s': centre of mass is %.3g m outside its shapes; check <origin> and units",
        tbi_doctor_shown(link->name), away);
  }
}

/* Whether name with `from` replaced by `to` at `at` is another link; its index or TABI_NONE. */
static int32_t find_swapped(const tabi_model *model, const char *name, const char *at,
                            const char *from, const char *to) {
  char other[256];
  int n = snprintf(other, sizeof other, "%.*s%s%s", (int)(at - name), name, to, at + strlen(from));
  if (n < 0 || (size_t)n >= sizeof other) return TABI_NONE;
  return tabi_model_find_link(model, other);
}

/* The right twin of a left link, by its name. */
static int32_t find_twin(const tabi_model *model, const char *name) {
  static const char *const words[][2] = {
      {"left", "right"},
      {"LEFT", "RIGHT"},
      {"Left", "Right"}
  };
  for (int w = 0; w < 3; ++w) {
    const char *at = strstr(name, words[w][0]);
    if (at) return find_swapped(model, name, at, words[w][0], words[w][1]);
  }
  if (name[0] == 'l') return find_swapped(model, name, name, "l", "r");
  if (name[0] == 'L') return find_swapped(model, name, name, "L", "R");
  return TABI_NONE;
}

static void check_twin(tbi_doctor *d, int32_t i, const tabi_link_def *link) {
  (void)i;
  int32_t twin = link->name ? find_twin(d->model, link->name) : TABI_NONE;
  if (twin == TABI_NONE) return;
  tabi_link_def other = tabi_model_link(d->model, twin);
  if (fabs(link->mass - other.mass) <= 0.01 * fmax(link->mass, other.mass)) return;
  tbi_doctor_find(d, TBI_ADVICE, link->place,
                  "link '%s': mass is %g kg, but '%s' has %g kg; left and right should agree",
                  link->name, link->mass, other.name, other.mass);
}

static void (*const checks[])(tbi_doctor *d, int32_t i, const tabi_link_def *link) = {
    check_mass, check_inertia, check_placeholder, check_com, check_twin,
};

void tbi_doctor_check_link(tbi_doctor *d, int32_t i) {
  TBI_ASSERT(i >= 0 && i < tabi_model_nlink(d->model));
  tabi_link_def link = tabi_model_link(d->model, i);
  for (size_t k = 0; k < sizeof checks / sizeof checks[0]; ++k)
    checks[k](d, i, &link);
}

/* mjcf_inertia.c - mass, centre and inertia of bodies: as given, or from geoms, then bounded and
 * balanced as the compiler section asks. */
#include "io/mjcf_reader.h"

#include "base/assertion.h"

#include <math.h>

/* principal inertias and the rotation to their axes (columns) */
typedef struct principal {
  double value[3];
  m3 axes;
} principal;

/* The rotation in the plane (p, q) that makes a[p][q] zero, and its product with the axes. */
static void jacobi_turn(double a[3][3], m3 *axes, int p, int q) {
  if (a[p][q] == 0) return;
  double theta = (a[q][q] - a[p][p]) / (2 * a[p][q]);
  double t = (theta < 0 ? -1 : 1) / (fabs(theta) + sqrt(theta * theta + 1));
  double c = 1 / sqrt(t * t + 1);
  double s = t * c;
  for (int k = 0; k < 3; ++k) {
    double x = a[k][p];
    a[k][p] = c * x - s * a[k][q];
    a[k][q] = s * x + c * a[k][q];
  }
  for (int k = 0; k < 3; ++k) {
    double x = a[p][k];
    a[p][k] = c * x - s * a[q][k];
    a[q][k] = s * x + c * a[q][k];
    x = axes->m[k][p];
    axes->m[k][p] = c * x - s * axes->m[k][q];
    axes->m[k][q] = s * x + c * axes->m[k][q];
  }
  a[p][q] = a[q][p] = 0;
}

static principal diagonalise(s3 i) {
  double a[3][3] = {
      {i.xx, i.xy, i.xz},
      {i.xy, i.yy, i.yz},
      {i.xz, i.yz, i.zz}
  };
  principal result = {.axes = m3_identity()};
  // it converges quadratically; six sweeps are more than ever needed
  for (int sweep = 0; sweep < 6; ++sweep) {
    jacobi_turn(a, &result.axes, 0, 1);
    jacobi_turn(a, &result.axes, 0, 2);
    jacobi_turn(a, &result.axes, 1, 2);
  }
  for (int k = 0; k < 3; ++k)
    result.value[k] = a[k][k];
  return result;
}

static bool is_balanced(const double value[3]) {
  double a = value[0];
  double b = value[1];
  double c = value[2];
  return a + b >= c && a + c >= b && b + c >= a;
}

/* boundmass, boundinertia and balanceinertia act on the principal values */
static void apply_bounds(const tbi_mjcf_compiler *c, tbi_mjcf_body *body) {
  body->mass = fmax(body->mass, c->bound_mass);
  if (!c->balance && !(c->bound_inertia > 0)) return;
  principal p = diagonalise(body->inertia);
  bool changed = false;
  for (int k = 0; k < 3; ++k) {
    changed = changed || p.value[k] < c->bound_inertia;
    p.value[k] = fmax(p.value[k], c->bound_inertia);
  }
  if (c->balance && !is_balanced(p.value)) {
    p.value[0] = p.value[1] = p.value[2] = (p.value[0] + p.value[1] + p.value[2]) / 3;
    changed = true;
  }
  if (!changed) return;
  body->inertia = s3_rotate(&p.axes, (s3){p.value[0], p.value[1], p.value[2], 0, 0, 0});
}

static void read_given(tbi_mjcf *reader, tbi_xml_node *node, tbi_mjcf_body *body) {
  tbi_mjcf_item item = tbi_mjcf_item_of(reader, node, NULL, 0);
  q4 rot;
  double full[6] = {0, 0, 0, 0, 0, 0};
  bool turned = tbi_mjcf_frame(&item, &body->com, &rot);
  bool has_mass = tbi_mjcf_number(&item, "mass", &body->mass);
  bool has_diagonal = tbi_mjcf_numbers(&item, "diaginertia", 3, 3, full) > 0;
  bool has_full = tbi_xml_get(node, "fullinertia") != NULL;
  if (!has_mass) tbi_mjcf_fail(&item, "attribute 'mass' is missing");
  if (body->mass < 0) tbi_mjcf_fail(&item, "mass %g must be >= 0", body->mass);
  if (has_full && has_diagonal) {
    tbi_mjcf_fail(&item, "has both diaginertia and fullinertia; keep one");
  }
  if (has_full && turned) {
    tbi_mjcf_fail(&item, "fullinertia is given in body axes; remove the orientation");
  }
  if (has_full) (void)tbi_mjcf_numbers(&item, "fullinertia", 6, 6, full);
  m3 r = q_matrix(rot);
  body->inertia = s3_rotate(&r, s3_load(full));
}

static void sum_geoms(const tbi_mjcf *reader, tbi_mjcf_body *body) {
  if (body->ngeom == 0) return;
  const tbi_mjcf_geom *geoms = reader->geoms + body->first_geom;
  int32_t counted = 0;
  double mass = 0;
  v3 moment = v3_zero();
  for (int32_t i = 0; i < body->ngeom; ++i) {
    if (!geoms[i].counts) continue;
    ++counted;
    mass += geoms[i].mass;
    moment = v3_axpy(moment, geoms[i].mass, geoms[i].com);
  }
  // without geoms the given inertia is used
  if (counted == 0) return;
  body->mass = mass;
  body->com = mass > 0 ? v3_scale(1 / mass, moment) : v3_zero();
  body->inertia = s3_zero();
  for (int32_t i = 0; i < body->ngeom; ++i) {
    if (!geoms[i].counts) continue;
    s3 at = s3_point_mass(geoms[i].mass, v3_sub(geoms[i].com, body->com));
    body->inertia = s3_add(body->inertia, s3_add(geoms[i].inertia, at));
  }
}

void tbi_mjcf_read_inertia(tbi_mjcf *reader, int32_t body_index) {
  TBI_ASSERT(body_index > 0 && body_index < reader->nbody);
  tbi_mjcf_body *body = &reader->bodies[body_index];
  tbi_xml_node *inertial = tbi_xml_child(body->node, "inertial");
  if (inertial) read_given(reader, inertial, body);
  if (body->weighs_geoms) sum_geoms(reader, body);
  apply_bounds(&reader->compiler, body);
}

void tbi_mjcf_scale_masses(tbi_mjcf *reader) {
  double wanted = reader->compiler.total_mass;
  double total = 0;
  for (int32_t i = 1; i < reader->nbody; ++i)
    total += reader->bodies[i].mass;
  if (!(wanted > 0) || !(total > 0)) return;
  double f = wanted / total;
  for (int32_t i = 1; i < reader->nbody; ++i) {
    tbi_mjcf_body *body = &reader->bodies[i];
    s3 a = body->inertia;
    body->mass *= f;
    body->inertia = (s3){f * a.xx, f * a.yy, f * a.zz, f * a.xy, f * a.xz, f * a.yz};
  }
}

/* mjcf_inertia.c - mass, centre and inertia of bodies: as given, or from geoms, then bounded and
 * balanced as the compiler section asks. */
#include "io/mjcf/mjcf_reader.h"

#include "base/assertion.h"
#include "io/principal.h"
#include "io/repair.h"

#include <math.h>
#include <stdio.h>

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
  tbi_principal p = tbi_principal_of(body->inertia);
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
  body->inertia = tbi_principal_inertia(&p);
}

static void read_given(tbi_mjcf *reader, tbi_xml_node *node, int32_t index) {
  tbi_mjcf_body *body = &reader->bodies[index];
  tbi_mjcf_item item = tbi_mjcf_item_of(reader, node, NULL, 0);
  q4 rot;
  double full[6] = {0, 0, 0, 0, 0, 0};
  bool turned = tbi_mjcf_frame(&item, &body->com, &rot);
  tbi_mjcf_outward(&item, index, &body->com, &rot);
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

/* What MuJoCo itself refuses. */
static void repair(tbi_mjcf *reader, tbi_mjcf_body *body, tabi_place place) {
  char label[96];
  (void)snprintf(label, sizeof label, "body '%.64s'", body->name ? body->name : "unnamed");
  double moments[6];
  s3_store(body->inertia, moments);
  tbi_repair_inertia(&reader->error, reader->def, place, label, body->mass, moments);
  body->inertia = s3_load(moments);
}

void tbi_mjcf_read_inertia(tbi_mjcf *reader, int32_t body_index) {
  TBI_ASSERT(body_index > 0 && body_index < reader->nbody);
  tbi_mjcf_body *body = &reader->bodies[body_index];
  tbi_xml_node *inertial = tbi_xml_child(body->node, "inertial");
  if (inertial) read_given(reader, inertial, body_index);
  if (body->weighs_geoms) sum_geoms(reader, body);
  apply_bounds(tbi_mjcf_compiler_of(reader, body->node), body);
  repair(reader, body, inertial ? inertial->place : body->place);
}

void tbi_mjcf_scale_masses(tbi_mjcf *reader) {
  double wanted = reader->models[0].compiler.total_mass;
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

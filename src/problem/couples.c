/* couples.c - couples of rolling and torsional friction, and sweeps over them. */
#include "problem/couples.h"

#include "base/assertion.h"
#include "friction/coulomb.h"
#include "problem/sweep.h"

/* of the turning of its bodies, if nothing constrained them: a couple that turns them less is left
 * out, since the couple that stops them would be without bounds */
#define IMMOBILE 1e-10
/* of its mobility, added: keeps divisors above zero where bodies turn about one tangent only */
#define WEAK 1e-9

bool tbi_model_has_couples(const tabi_model *model) {
  for (int32_t i = 0; i < model->nmaterial; ++i)
    if (tbi_has_couples(&model->material[i])) return true;
  for (int32_t i = 0; i < model->npair; ++i)
    if (tbi_has_couples(&model->pair[i].surface)) return true;
  return false;
}

static tbi_sides moment_on(v4 moment) {
  return (tbi_sides){
      {v4_zero(), v4_scale(-1, moment)},
      {v4_zero(),         moment           }
  };
}

v4 tbi_couple_moment(const tbi_couple *c, const double l[2]) {
  return v4_add(v4_scale(l[0], c->axis[0]), v4_scale(l[1], c->axis[1]));
}

static void read_velocity(const tbi_couple *c, sv a, sv b, double w[2]) {
  v4 turning = v4_sub(b.ang, a.ang);
  for (int k = 0; k < 2; ++k)
    w[k] = v4_dot(turning, c->axis[k]);
}

void tbi_couple_velocity(const tbi_problem *p, const tbi_couple *c, const sv *port, double w[2]) {
  const tbi_point *at = &p->point[c->point];
  read_velocity(c, at->port_a == TABI_NONE ? sv_zero() : port[at->port_a],
                at->port_b == TABI_NONE ? sv_zero() : port[at->port_b], w);
}

/* false: its bodies cannot turn about its axes */
static bool fill_response(const tbi_problem *p, tbi_couple *c, bool rolling) {
  const tbi_point *at = &p->point[c->point];
  for (int j = 0; j < 2; ++j) {
    tbi_sides change = tbi_sides_response(p, at->port_a, at->port_b, moment_on(c->axis[j]));
    double w[2];
    read_velocity(c, change.a, change.b, w);
    c->w[0][j] = w[0];
    c->w[1][j] = w[1];
  }
  if (!rolling) c->w[1][1] = c->w[0][0];
  double loose = (at->port_a == TABI_NONE ? 0 : p->port[at->port_a].loose_ang) +
                 (at->port_b == TABI_NONE ? 0 : p->port[at->port_b].loose_ang);
  double trace = c->w[0][0] + c->w[1][1];
  c->w[0][0] += WEAK * trace;
  c->w[1][1] += WEAK * trace;
  return trace > IMMOBILE * loose;
}

static void add(tbi_problem *p, int32_t i, double friction, bool rolling) {
  const m4 *frame = &p->point[i].frame;
  tbi_couple *c = &p->couple[p->ncouple];
  *c = (tbi_couple){
      .point = i,
      .friction = friction,
      .axis = {rolling ? frame->y : frame->x, rolling ? frame->z : v4_zero()}
  };
  if (fill_response(p, c, rolling)) ++p->ncouple;
}

void tbi_couples_list(tbi_problem *p) {
  TBI_ASSERT(p->couple);
  p->ncouple = 0;
  for (int32_t i = 0; i < p->npoint; ++i) {
    const tabi_material_def *surface = p->point[i].surface;
    if (surface->torsional_friction > 0) add(p, i, surface->torsional_friction, false);
    if (surface->rolling_friction > 0) add(p, i, surface->rolling_friction, true);
  }
}

static double mobility_of(const tbi_couple *c) { return 0.5 * (c->w[0][0] + c->w[1][1]); }

void tbi_couples_respond(tbi_problem *p) {
  for (int32_t k = 0; k < p->ncouple; ++k) {
    tbi_couple *c = &p->couple[k];
    c->lever = sqrt(p->point[c->point].mobility / mobility_of(c));
  }
}

void tbi_couples_receive(tbi_problem *p) {
  for (int32_t k = 0; k < p->ncouple; ++k) {
    const tbi_couple *c = &p->couple[k];
    const tbi_point *at = &p->point[c->point];
    tbi_sides on = moment_on(tbi_couple_moment(c, c->impulse));
    if (at->port_a != TABI_NONE) p->received[at->port_a] = sv_add(p->received[at->port_a], on.a);
    if (at->port_b != TABI_NONE) p->received[at->port_b] = sv_add(p->received[at->port_b], on.b);
  }
}

/* the couple that the law asks for, w being the velocity at present */
static v3 wanted(const tbi_couple *c, const double w[2], double bound) {
  double mobility = mobility_of(c);
  const double own[3][3] = {
      {mobility, 0,          0         },
      {0,        c->w[0][0], c->w[0][1]},
      {0,        c->w[1][0], c->w[1][1]}
  };
  const double *l = c->impulse;
  v3 without = v3_make(-mobility * bound, w[0] - (c->w[0][0] * l[0] + c->w[0][1] * l[1]),
                       w[1] - (c->w[1][0] * l[0] + c->w[1][1] * l[1]));
  return tbi_coulomb(own, without, 1);
}

double tbi_couple_visit(tbi_problem *p, tbi_couple *c) {
  TBI_ASSERT(c->lever > 0);
  const tbi_point *at = &p->point[c->point];
  const tbi_group group = {at->port_a, at->port_b, c->point, 1};
  tbi_visit visit = tbi_visit_begin(p, &group);
  double w[2];
  read_velocity(c, visit.a, visit.b, w);
  v3 to = wanted(c, w, tbi_couple_bound(p, c));
  const double d[2] = {to.y - c->impulse[0], to.z - c->impulse[1]};
  if (d[0] == 0 && d[1] == 0) return 0;
  tbi_sides on = moment_on(tbi_couple_moment(c, d));
  tbi_sides change = tbi_sides_response(p, group.port_a, group.port_b, on);
  visit.a = sv_add(visit.a, change.a);
  visit.b = sv_add(visit.b, change.b);
  visit.got_a = on.a;
  visit.got_b = on.b;
  tbi_visit_end(p, &group, &visit);
  c->impulse[0] = to.y;
  c->impulse[1] = to.z;
  return c->lever * tbi_max(fabs(c->w[0][0] * d[0] + c->w[0][1] * d[1]),
                            fabs(c->w[1][0] * d[0] + c->w[1][1] * d[1]));
}

double tbi_couples_sweep(tbi_problem *p) {
  double change = 0;
  for (int32_t k = 0; k < p->ncouple; ++k)
    change = tbi_max(change, tbi_couple_visit(p, &p->couple[k]));
  return change;
}

/* run_checks.c - the worst that a run did: overlaps, energy from nowhere, contact laws missed.
 *
 * Energy is gained where E - work rises above its lowest value before.  The springs of elastic
 * contacts may give back what they hold, so the lowest value includes them and E does not: energy
 * that only went through a spring is no gain.  The gain is compared with the range of the energy:
 * from rest to the largest kinetic energy, or from the lowest to the highest potential. */
#include "base/assertion.h"
#include "tabi/tabi_record.h"

#include <math.h>

#define LIFT    1e-3 /* m: a scene at rest has hardly any range of its own */
#define OUTSIDE 1e-6 /* rad or m: a joint nearer to its limit than this is at it */

static void raise_to(tabi_worst *worst, double value, double time) {
  if (!(value > worst->value)) return;
  *worst = (tabi_worst){value, time};
}

static double weight_of(const tabi_scene *scene) {
  const double *g = tabi_scene_world_def(scene).gravity;
  return tabi_model_mass(tabi_scene_model(scene)) * sqrt(g[0] * g[0] + g[1] * g[1] + g[2] * g[2]);
}

static void count_energy(tabi_run_checks *checks, const tabi_energy *e, double elastic,
                         double time) {
  double stored = e->potential + e->spring;
  double now = e->kinetic + stored - e->work;
  checks->kinetic = fmax(checks->kinetic, e->kinetic);
  checks->stored[0] = fmin(checks->stored[0], stored);
  checks->stored[1] = fmax(checks->stored[1], stored);
  checks->lowest = fmin(checks->lowest, now + elastic);
  raise_to(&checks->gain, now - checks->lowest, time);
}

/* Limits push such a joint back, which is work of depth correction. */
static void find_outside(tabi_run_checks *checks, const tabi_model *model, const double *q) {
  for (int32_t i = 0; i < tabi_model_njoint(model); ++i) {
    tabi_joint_def def = tabi_model_joint(model, i);
    tabi_range range = tabi_model_joint_q(model, i);
    if (range.count != 1 || !(def.lower <= def.upper)) continue;
    double outside = fmax(def.lower - q[range.first], q[range.first] - def.upper);
    if (!(outside > fmax(checks->outside, OUTSIDE))) continue;
    checks->outside = outside;
    checks->joint = i;
  }
}

void tabi_run_checks_begin(tabi_run_checks *checks, const tabi_scene *scene, tabi_world *world) {
  TBI_ASSERT(checks && scene && world);
  tabi_energy e = tabi_world_energy(world);
  double stored = e.potential + e.spring;
  *checks = (tabi_run_checks){
      .bound = tabi_scene_get_check(scene),
      .link = {TABI_WORLD, TABI_WORLD},
      .joint = TABI_NONE,
      .lowest = e.kinetic + stored - e.work,
      .kinetic = e.kinetic,
      .stored = {stored,     stored    },
      .least_range = LIFT * weight_of(scene),
  };
  find_outside(checks, tabi_scene_model(scene), tabi_world_q(world));
}

static void count_contacts(tabi_run_checks *checks, const tabi_world *world, double time) {
  int32_t count = 0;
  const tabi_contact *contact = tabi_world_contacts(world, &count);
  for (int32_t i = 0; i < count; ++i) {
    if (-contact[i].gap <= checks->penetration.value) continue;
    raise_to(&checks->penetration, -contact[i].gap, time);
    checks->link[0] = contact[i].link_a;
    checks->link[1] = contact[i].link_b;
  }
}

void tabi_run_checks_step(tabi_run_checks *checks, const tabi_world *world,
                          const tabi_energy *energy) {
  TBI_ASSERT(checks && world && energy);
  const tabi_certificate c = tabi_world_certificate(world);
  double time = tabi_world_time(world);
  // an overlap at the start is the scene's
  if (checks->steps++ > 0) count_contacts(checks, world, time);
  raise_to(&checks->residual, fmax(c.complementarity, c.dissipation), time);
  count_energy(checks, energy, c.elastic, time);
  checks->contact_gain += fmax(c.contact_work, 0);
  checks->correction_work += c.correction_work;
  checks->balance_taken += fmax(-c.balance_work, 0);
  checks->balance_given += fmax(c.balance_work, 0);
}

double tabi_run_checks_gain(const tabi_run_checks *checks) {
  TBI_ASSERT(checks);
  double range = fmax(checks->kinetic, checks->stored[1] - checks->stored[0]);
  range = fmax(range, checks->least_range);
  return range > 0 ? checks->gain.value / range : 0;
}

tabi_run_excess tabi_run_checks_judge(const tabi_run_checks *checks) {
  TBI_ASSERT(checks);
  const tabi_scene_check *bound = &checks->bound;
  return (tabi_run_excess){.penetration = checks->penetration.value > bound->penetration,
                           .energy_gain = tabi_run_checks_gain(checks) > bound->energy_gain,
                           .residual = checks->residual.value > bound->residual};
}

/* run_checks.c - see run_checks.h.
 *
 * Energy is gained where E - work rises above its lowest value before.  The springs of elastic
 * contacts may give back what they hold, so the lowest value includes them and E does not: energy
 * that only went through a spring is no gain.  The gain is compared with the range of the energy:
 * from rest to the largest kinetic energy, or from the lowest to the highest potential. */
#include "run/run_checks.h"

#include <math.h>

#define LIFT 1e-3 /* m: a scene at rest has hardly any range of its own */

static void raise_to(tbi_worst *worst, double value, double time) {
  if (!(value > worst->value)) return;
  *worst = (tbi_worst){value, time};
}

static double weight_of(const tabi_scene *scene) {
  const double *g = tabi_scene_world_def(scene).gravity;
  return tabi_model_mass(tabi_scene_model(scene)) * sqrt(g[0] * g[0] + g[1] * g[1] + g[2] * g[2]);
}

static void count_energy(tbi_run_checks *checks, const tabi_energy *e, double elastic,
                         double time) {
  double stored = e->potential + e->spring;
  double now = e->kinetic + stored - e->work;
  checks->kinetic = fmax(checks->kinetic, e->kinetic);
  checks->stored[0] = fmin(checks->stored[0], stored);
  checks->stored[1] = fmax(checks->stored[1], stored);
  checks->lowest = fmin(checks->lowest, now + elastic);
  raise_to(&checks->gain, now - checks->lowest, time);
}

void tbi_run_checks_begin(tbi_run_checks *checks, const tabi_scene *scene, tabi_world *world) {
  tabi_energy e = tabi_world_energy(world);
  double stored = e.potential + e.spring;
  *checks = (tbi_run_checks){
      .bound = tabi_scene_get_check(scene),
      .link = {TABI_WORLD, TABI_WORLD},
      .lowest = e.kinetic + stored - e.work,
      .kinetic = e.kinetic,
      .stored = {stored,     stored    },
      .least_range = LIFT * weight_of(scene),
  };
}

static void count_contacts(tbi_run_checks *checks, const tabi_world *world, double time) {
  int32_t count = 0;
  const tabi_contact *contact = tabi_world_contacts(world, &count);
  for (int32_t i = 0; i < count; ++i) {
    if (-contact[i].gap <= checks->penetration.value) continue;
    raise_to(&checks->penetration, -contact[i].gap, time);
    checks->link[0] = contact[i].link_a;
    checks->link[1] = contact[i].link_b;
  }
}

void tbi_run_checks_step(tbi_run_checks *checks, const tabi_world *world, const tabi_sample *sample,
                         int64_t steps) {
  const tabi_certificate *c = &sample->certificate;
  double time = tabi_world_time(world);
  if (steps > 1) count_contacts(checks, world, time);
  raise_to(&checks->residual, fmax(c->complementarity, c->dissipation), time);
  count_energy(checks, &sample->energy, c->elastic, time);
  checks->contact_gain += fmax(c->contact_work, 0);
  checks->correction_work += c->correction_work;
  checks->balance_taken += fmax(-c->balance_work, 0);
  checks->balance_given += fmax(c->balance_work, 0);
}

void tbi_run_checks_set_gain(tbi_run_checks *checks, double gain) { checks->gain.value = gain; }

double tbi_run_checks_gain(const tbi_run_checks *checks) {
  double range = fmax(checks->kinetic, checks->stored[1] - checks->stored[0]);
  range = fmax(range, checks->least_range);
  return range > 0 ? checks->gain.value / range : 0;
}

static bool penetrates(const tbi_run_checks *checks) {
  return checks->penetration.value > checks->bound.penetration;
}

static bool gains(const tbi_run_checks *checks) {
  return tbi_run_checks_gain(checks) > checks->bound.energy_gain;
}

static bool misses(const tbi_run_checks *checks) {
  return checks->residual.value > checks->bound.residual;
}

bool tbi_run_checks_ok(const tbi_run_checks *checks) {
  return !penetrates(checks) && !gains(checks) && !misses(checks);
}

json_t *tbi_run_checks_json(const tbi_run_checks *checks) {
  const tabi_scene_check *bound = &checks->bound;
  return json_pack(
      "{so so so sb s{so so so}}", "penetration", tbi_json_number(checks->penetration.value),
      "energy_gain", tbi_json_number(tbi_run_checks_gain(checks)), "residual",
      tbi_json_number(checks->residual.value), "ok", (int)tbi_run_checks_ok(checks), "bounds",
      "penetration", tbi_json_number(bound->penetration), "energy_gain",
      tbi_json_number(bound->energy_gain), "residual", tbi_json_number(bound->residual));
}

static const char *link_name(const tabi_scene *scene, int32_t link) {
  if (link == TABI_WORLD) return "the world";
  const char *name = tabi_model_link(tabi_scene_model(scene), link).name;
  return name ? name : "(unnamed)";
}

void tbi_run_checks_find(const tbi_run_checks *checks, const tabi_scene *scene, const char *path,
                         tbi_findings *findings) {
  tabi_place place = {path, 0};
  const tabi_scene_check *bound = &checks->bound;
  if (penetrates(checks)) {
    tbi_findings_tell(
        findings, TABI_SEVERITY_WARNING, place,
        "'%.100s' and '%.100s' overlapped by %.3g mm at %.4g s, more than %.3g mm; take a "
        "smaller timestep, part what starts inside each other, or raise check.penetration",
        link_name(scene, checks->link[0]), link_name(scene, checks->link[1]),
        1e3 * checks->penetration.value, checks->penetration.time, 1e3 * bound->penetration);
  }
  if (gains(checks)) {
    tbi_findings_tell(
        findings, TABI_SEVERITY_WARNING, place,
        "energy from nowhere: up to %.3g J at %.4g s, %.2g of its range, more than %.2g (depth "
        "correction in all: %.3g J); take a smaller timestep, integrator: midpoint or softer "
        "gains, part what starts inside each other, or raise check.energy_gain",
        checks->gain.value, checks->gain.time, tbi_run_checks_gain(checks), bound->energy_gain,
        checks->correction_work);
  }
  if (misses(checks)) {
    bool compliant = tabi_contact_describe(tabi_scene_world_def(scene).contact)->compliant;
    tbi_findings_tell(
        findings, TABI_SEVERITY_WARNING, place,
        "contacts missed their law by %.3g m/s at %.4g s, more than %.3g m/s; take %s or a "
        "smaller timestep, or raise check.residual",
        checks->residual.value, checks->residual.time, bound->residual,
        compliant ? "a higher tangential_stiffness" : "contact: {model: exact}");
  }
}

/* run_checks.c - see run_checks.h. */
#include "run/run_checks.h"

bool tbi_run_checks_ok(const tabi_run_checks *checks) {
  tabi_run_excess excess = tabi_run_checks_judge(checks);
  return !excess.penetration && !excess.energy_gain && !excess.residual;
}

json_t *tbi_run_checks_json(const tabi_run_checks *checks) {
  const tabi_scene_check *bound = &checks->bound;
  return json_pack(
      "{so so so sb s{so so so}}", "penetration", tbi_json_number(checks->penetration.value),
      "energy_gain", tbi_json_number(tabi_run_checks_gain(checks)), "residual",
      tbi_json_number(checks->residual.value), "ok", (int)tbi_run_checks_ok(checks), "bounds",
      "penetration", tbi_json_number(bound->penetration), "energy_gain",
      tbi_json_number(bound->energy_gain), "residual", tbi_json_number(bound->residual));
}

static const char *link_name(const tabi_scene *scene, int32_t link) {
  if (link == TABI_WORLD) return "the world";
  const char *name = tabi_model_link(tabi_scene_model(scene), link).name;
  return name ? name : "(unnamed)";
}

/* what to do about the work of depth correction */
static void say_cure(const tabi_run_checks *checks, const tabi_scene *scene, char *text,
                     size_t size) {
  if (checks->joint == TABI_NONE || !(checks->correction_work > 0)) {
    (void)snprintf(text, size, "part what starts inside each other");
    return;
  }
  tabi_joint_def joint = tabi_model_joint(tabi_scene_model(scene), checks->joint);
  (void)snprintf(text, size,
                 "start joint '%.100s' within its limits, which push it back by %.3g %s",
                 joint.name ? joint.name : "(unnamed)", checks->outside,
                 joint.type == TABI_JOINT_PRISMATIC ? "m" : "rad");
}

void tbi_run_checks_find(const tabi_run_checks *checks, const tabi_scene *scene, const char *path,
                         tbi_findings *findings) {
  tabi_place place = {path, 0};
  const tabi_scene_check *bound = &checks->bound;
  tabi_run_excess excess = tabi_run_checks_judge(checks);
  if (excess.penetration) {
    tbi_findings_tell(
        findings, TABI_SEVERITY_WARNING, place,
        "'%.100s' and '%.100s' overlapped by %.3g mm at %.4g s, more than %.3g mm; take a "
        "smaller timestep, part what starts inside each other, or raise check.penetration",
        link_name(scene, checks->link[0]), link_name(scene, checks->link[1]),
        1e3 * checks->penetration.value, checks->penetration.time, 1e3 * bound->penetration);
  }
  if (excess.energy_gain) {
    char cure[256];
    say_cure(checks, scene, cure, sizeof cure);
    tbi_findings_tell(
        findings, TABI_SEVERITY_WARNING, place,
        "energy from nowhere: up to %.3g J at %.4g s, %.2g of its range, more than %.2g (depth "
        "correction in all: %.3g J); take a smaller timestep, integrator: midpoint or softer "
        "gains, %s, or raise check.energy_gain",
        checks->gain.value, checks->gain.time, tabi_run_checks_gain(checks), bound->energy_gain,
        checks->correction_work, cure);
  }
  if (excess.residual) {
    bool compliant = tabi_contact_describe(tabi_scene_world_def(scene).contact)->compliant;
    tbi_findings_tell(
        findings, TABI_SEVERITY_WARNING, place,
        "contacts missed their law by %.3g m/s at %.4g s, more than %.3g m/s; take %s or a "
        "smaller timestep, or raise check.residual",
        checks->residual.value, checks->residual.time, bound->residual,
        compliant ? "a higher tangential_stiffness" : "contact: {model: exact}");
  }
}

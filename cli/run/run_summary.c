/* run_summary.c - the summary of a run as text and as JSON. */
#include "run/run_summary.h"

#include "common/sensors.h"
#include "run/stage_timing.h"

#include <inttypes.h>
#include <math.h>

#define MAX_SHOWN 24 /* bodies in the table */

static double total(tabi_energy e) { return e.kinetic + e.potential + e.spring; }

tabi_status tbi_run_summary_begin(tbi_run_summary *summary, const tabi_scene *scene,
                                  tabi_world *world, tabi_error *err) {
  *summary = (tbi_run_summary){.scene = scene, .world = world};
  summary->fall = tabi_fall_create(scene, tabi_world_q(world), tabi_world_v(world), err);
  if (!summary->fall) return err->status;
  summary->observer = tabi_observer_create(scene, world, err);
  if (summary->observer && !tbi_slip_ledger_begin(&summary->slip_ledger, scene))
    tbi_fail(err, TABI_ERR_MEMORY, (tabi_place){NULL, 0}, "out of memory");
  if (err->status != TABI_OK) {
    tbi_run_summary_free(summary);
    return err->status;
  }
  tbi_gait_summary_begin(&summary->gait, scene, world);
  tabi_energy energy = tabi_world_energy(world);
  summary->energy_start = total(energy) - energy.work;
  summary->energy_end = total(energy);
  tabi_run_checks_begin(&summary->checks, scene, world);
  return TABI_OK;
}

void tbi_run_summary_free(tbi_run_summary *summary) {
  tbi_gait_summary_free(&summary->gait);
  tbi_slip_ledger_free(&summary->slip_ledger);
  tabi_observer_destroy(summary->observer);
  tabi_fall_destroy(summary->fall);
}

void tbi_run_summary_step(tbi_run_summary *summary) {
  ++summary->steps;
  summary->sample = tabi_observer_look(summary->observer);
  tbi_slip_ledger_step(&summary->slip_ledger, summary->sample);
  tabi_run_checks_step(&summary->checks, summary->world, &summary->sample->energy);
  tbi_connection_summary_step(summary);
  tbi_gait_summary_step(&summary->gait, summary->world);
  tabi_certificate c = summary->sample->certificate;
  tabi_certificate *worst = &summary->worst;
  summary->contacts += c.contacts;
  summary->iterations += c.iterations;
  if (c.contacts > summary->contacts_max) summary->contacts_max = c.contacts;
  if (!c.converged) ++summary->stalled;
  if (c.fallback) ++summary->fallbacks;
  if (c.energy_limited) ++summary->energy_limited;
  if (c.too_large) ++summary->too_large;
  worst->gap = fmax(worst->gap, c.gap);
  worst->complementarity = fmax(worst->complementarity, c.complementarity);
  worst->cone = fmax(worst->cone, c.cone);
  worst->dissipation = fmax(worst->dissipation, c.dissipation);
  summary->energy_end = total(summary->sample->energy);
}

static void add_note(tbi_findings *findings, const char *path, int64_t count, const char *what) {
  if (count == 0) return;
  tbi_findings_tell(findings, TABI_SEVERITY_NOTE, (tabi_place){path, 0}, "%" PRId64 " step%s %s",
                    count, count == 1 ? "" : "s", what);
}

void tbi_run_summary_find(tbi_run_summary *summary, const char *path, tbi_findings *findings) {
  /* gait accounts for what its impacts and dampers dissipate */
  if (summary->gait.active) summary->checks.gain.value = summary->gait.energy_gap;
  tbi_connection_summary_find(summary, findings);
  tbi_run_checks_find(&summary->checks, summary->scene, path, findings);
  add_note(findings, path, summary->stalled, "ended above the tolerance of the contact method");
  add_note(findings, path, summary->fallbacks, "went to the fallback of the contact method");
  add_note(findings, path, summary->energy_limited,
           "would have gained energy at contacts, and were limited");
  add_note(
      findings, path, summary->too_large,
      "had islands too large for the fallback, left as sweeps had solved them; contact: {model: "
      "exact} has memory for them");
}

bool tbi_run_summary_fell(const tbi_run_summary *summary) {
  if (summary->gait.active)
    return tabi_world_gait_state(summary->world).outcome != TABI_GAIT_ONGOING;
  return tabi_fall_lies(summary->fall, tabi_world_dynamics(summary->world));
}

static double mean(const tbi_run_summary *summary, double sum) {
  return summary->steps > 0 ? sum / (double)summary->steps : 0;
}

static double realtime_factor(const tbi_run_summary *summary) {
  double simulated = tabi_world_time(summary->world) - summary->from;
  return summary->seconds > 0 ? simulated / summary->seconds : 0;
}

/* gait integrates between its events by itself. */
static const char *scheme(const tbi_run_summary *summary) {
  if (summary->gait.active) return tbi_gait_summary_events_name(&summary->gait);
  return tabi_integrator_name(tabi_scene_world_def(summary->scene).integrator);
}

/* Free bodies and the bases of robots, with their final speed. */
static void print_bodies(const tbi_run_summary *summary, FILE *out) {
  const tabi_model *model = tabi_scene_model(summary->scene);
  const tabi_dynamics *d = tabi_world_dynamics(summary->world);
  int shown = 0;
  for (int32_t i = 0; i < tabi_model_nlink(model) && shown <= MAX_SHOWN; ++i) {
    int32_t joint = tabi_model_link_joint(model, i);
    if (joint == TABI_NONE || tabi_model_joint(model, joint).type != TABI_JOINT_FREE) continue;
    if (shown == 0)
      (void)fprintf(out, "\n  %-24s %30s %12s\n", "final state", "position [m]", "speed [m/s]");
    if (shown++ == MAX_SHOWN) {
      (void)fprintf(out, "  ...\n");
      break;
    }
    double pos[3];
    double quat[4];
    double lin[3];
    double ang[3];
    tabi_dynamics_link_pose(d, i, pos, quat);
    tabi_dynamics_link_velocity(d, i, lin, ang);
    const char *name = tabi_model_link(model, i).name;
    (void)fprintf(out, "  %-24s %9.4f %9.4f %9.4f %13.2e\n", name ? name : "", pos[0], pos[1],
                  pos[2], sqrt(lin[0] * lin[0] + lin[1] * lin[1] + lin[2] * lin[2]));
  }
}

static void print_steps(FILE *out, int64_t count, const char *which) {
  if (count == 0) return;
  (void)fprintf(out, "; %" PRId64 " step%s %s", count, count == 1 ? "" : "s", which);
}

void tbi_run_summary_print(const tbi_run_summary *summary, FILE *out) {
  tabi_world_def def = tabi_scene_world_def(summary->scene);
  const tabi_certificate *worst = &summary->worst;
  const char *name = tabi_scene_name(summary->scene);
  (void)fprintf(out, "%s%s%g s in %" PRId64 " steps of %g ms, %s, %s\n", name, name[0] ? ": " : "",
                tabi_world_time(summary->world), summary->steps, 1e3 * def.timestep,
                tabi_contact_name(def.contact), scheme(summary));
  (void)fprintf(out, "  speed         %.4g x real time, %.3g us per step\n",
                realtime_factor(summary), 1e6 * mean(summary, summary->seconds));
  (void)fprintf(out, "  memory        %.4g kB\n",
                (double)tabi_world_stats(summary->world).memory / 1024);
  (void)fprintf(out, "  contacts      %.1f mean, %d max\n", mean(summary, summary->contacts),
                summary->contacts_max);
  if (tabi_scene_world_def(summary->scene).sleep)
    (void)fprintf(out, "  asleep        %d moving links at the end\n",
                  tabi_world_count_asleep(summary->world));
  (void)fprintf(out, "  iterations    %.1f mean", mean(summary, summary->iterations));
  print_steps(out, summary->fallbacks, "by the fallback");
  print_steps(out, summary->energy_limited, "energy-limited");
  print_steps(out, summary->stalled, "above the tolerance");
  (void)fprintf(out, "\n  penetration   %.3g mm max\n", 1e3 * summary->checks.penetration.value);
  (void)fprintf(out,
                "  residual      gap %.2g m, complementarity %.2g m/s, cone %.2g N, "
                "dissipation %.2g m/s\n",
                worst->gap, worst->complementarity, worst->cone, worst->dissipation);
  tbi_connection_summary_print(summary, out);
  (void)fprintf(out, "  energy        %.6g J initial, %.6g J final, %.3g J max gain\n",
                summary->energy_start, summary->energy_end, summary->checks.gain.value);
  (void)fprintf(out, "  contacts gave %.3g J by impulses, %.3g J by depth correction\n",
                summary->checks.contact_gain, summary->checks.correction_work);
  if (summary->checks.balance_taken > 0 || summary->checks.balance_given > 0)
    (void)fprintf(out, "  balance       %.3g J taken, %.3g J given to what nothing drives\n",
                  summary->checks.balance_taken, summary->checks.balance_given);
  (void)fprintf(out, "  state hash    %016" PRIx64 "\n", tabi_world_hash(summary->world));
  if (tabi_scene_nrobot(summary->scene) > 0) {
    (void)fprintf(out, "  fell          %s\n", tbi_run_summary_fell(summary) ? "yes" : "no");
  }
  tbi_gait_summary_print(&summary->gait, summary->world, out);
  tbi_slip_ledger_print(&summary->slip_ledger, out);
  print_bodies(summary, out);
}

static json_t *json_residual(const tabi_certificate *worst) {
  return json_pack("{so so so so}", "gap_m", tbi_json_number(worst->gap), "complementarity_mps",
                   tbi_json_number(worst->complementarity), "cone_N", tbi_json_number(worst->cone),
                   "dissipation_mps", tbi_json_number(worst->dissipation));
}

static json_t *json_energy(const tbi_run_summary *summary) {
  const tabi_run_checks *checks = &summary->checks;
  return json_pack("{so so so so so so so}", "start", tbi_json_number(summary->energy_start), "end",
                   tbi_json_number(summary->energy_end), "max_gain",
                   tbi_json_number(checks->gain.value), "contact_gain",
                   tbi_json_number(checks->contact_gain), "correction_work",
                   tbi_json_number(checks->correction_work), "balance_taken",
                   tbi_json_number(checks->balance_taken), "balance_given",
                   tbi_json_number(checks->balance_given));
}

static json_t *json_warnings(const tbi_findings *loaded, const tbi_findings *found) {
  json_t *all = tbi_json_findings(loaded);
  json_t *more = tbi_json_findings(found);
  int bad = json_array_extend(all, more);
  json_decref(more);
  if (bad == 0) return all;
  json_decref(all);
  return NULL;
}

int tbi_run_summary_print_json(const tbi_run_summary *summary, const char *path,
                               const tbi_findings *loaded, const tbi_findings *found, FILE *out) {
  tabi_world_def def = tabi_scene_world_def(summary->scene);
  tabi_stats stats = tabi_world_stats(summary->world);
  char hash[24];
  (void)snprintf(hash, sizeof hash, "%016" PRIx64, tabi_world_hash(summary->world));
  json_t *o = json_object();
  int bad = json_object_set_new(o, "scene", tbi_json_text(path));
  bad |= json_object_set_new(o, "contact", json_string(tabi_contact_name(def.contact)));
  bad |= json_object_set_new(o, "integrator", json_string(scheme(summary)));
  bad |= json_object_set_new(o, "dt", tbi_json_number(def.timestep));
  bad |= json_object_set_new(o, "steps", json_integer(summary->steps));
  bad |= json_object_set_new(o, "time", tbi_json_number(tabi_world_time(summary->world)));
  bad |= json_object_set_new(o, "wall_seconds", tbi_json_number(summary->seconds));
  bad |= json_object_set_new(o, "realtime_factor", tbi_json_number(realtime_factor(summary)));
  bad |= json_object_set_new(o, "memory_bytes", json_integer((json_int_t)stats.memory));
  bad |=
      json_object_set_new(o, "stages_us", tbi_stage_timing_json(summary->world, summary->seconds));
  bad |= json_object_set_new(o, "contacts_mean", tbi_json_number(mean(summary, summary->contacts)));
  bad |= json_object_set_new(o, "contacts_max", json_integer(summary->contacts_max));
  bad |=
      json_object_set_new(o, "penetration_max", tbi_json_number(summary->checks.penetration.value));
  bad |= json_object_set_new(o, "asleep", json_integer(tabi_world_count_asleep(summary->world)));
  bad |= json_object_set_new(o, "iterations_mean",
                             tbi_json_number(mean(summary, summary->iterations)));
  bad |= json_object_set_new(o, "fallbacks", json_integer(summary->fallbacks));
  bad |=
      json_object_set_new(o, "handed_over", json_integer(summary->fallbacks)); /* alias until 1.0 */
  bad |= json_object_set_new(o, "energy_limited", json_integer(summary->energy_limited));
  bad |= json_object_set_new(o, "unsettled", json_integer(summary->stalled));
  bad |= json_object_set_new(o, "residual_max", json_residual(&summary->worst));
  bad |= json_object_set_new(o, "connections", tbi_connection_summary_json(summary));
  bad |= json_object_set_new(o, "energy", json_energy(summary));
  bad |= json_object_set_new(o, "state_hash", json_string(hash));
  bad |= json_object_set_new(o, "fell", json_boolean(tbi_run_summary_fell(summary)));
  bad |= json_object_set_new(o, "gait", tbi_gait_summary_json(&summary->gait, summary->world));
  bad |= json_object_set_new(o, "ledger", tbi_slip_ledger_json(&summary->slip_ledger));
  bad |= json_object_set_new(
      o, "bodies",
      tbi_json_links(tabi_scene_model(summary->scene), tabi_world_dynamics(summary->world), true));
  bad |= json_object_set_new(o, "sensors", tbi_sensor_json(summary->world));
  bad |= json_object_set_new(o, "checks", tbi_run_checks_json(&summary->checks));
  bad |= json_object_set_new(o, "warnings", json_warnings(loaded, found));
  bad |= json_object_set_new(o, "repairs", tbi_json_repairs(loaded));
  if (bad) {
    json_decref(o);
    o = NULL;
  }
  return tbi_json_print(out, o);
}

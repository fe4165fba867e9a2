/* tally.c - the figures of a run, as a table and as JSON. */
#include "run/tally.h"

#include "common/sensors.h"
#include "run/stats.h"

#include <inttypes.h>
#include <math.h>

#define MAX_SHOWN 24 /* bodies in the table */

static double total(tabi_energy e) { return e.kinetic + e.potential + e.spring; }

bool tbi_tally_begin(tbi_tally *tally, const tabi_scene *scene, tabi_world *world) {
  *tally = (tbi_tally){.scene = scene, .world = world};
  if (!tbi_fall_begin(&tally->fall, scene, tabi_world_dynamics(world))) return false;
  tally->observer = tabi_observer_create(scene, world, NULL);
  if (!tbi_slips_begin(&tally->slips, scene) || !tally->observer) {
    tbi_tally_free(tally);
    return false;
  }
  tbi_gait_begin(&tally->gait, scene, world);
  tabi_energy energy = tabi_world_energy(world);
  tally->energy_start = total(energy) - energy.work;
  tally->energy_end = total(energy);
  return true;
}

void tbi_tally_free(tbi_tally *tally) {
  tbi_gait_free(&tally->gait);
  tbi_slips_free(&tally->slips);
  tabi_observer_destroy(tally->observer);
  tbi_fall_free(&tally->fall);
}

static void count_contacts(tbi_tally *tally) {
  int32_t count = 0;
  const tabi_contact *contact = tabi_world_contacts(tally->world, &count);
  if (tally->steps > 1) {
    for (int32_t i = 0; i < count; ++i)
      tally->penetration_max = fmax(tally->penetration_max, -contact[i].gap);
  }
}

void tbi_tally_step(tbi_tally *tally) {
  ++tally->steps;
  tally->sample = tabi_observer_look(tally->observer);
  tbi_slips_step(&tally->slips, tally->sample);
  count_contacts(tally);
  tbi_loops_step(tally);
  tbi_gait_step(&tally->gait, tally->world);
  tabi_certificate c = tally->sample->certificate;
  tabi_certificate *worst = &tally->worst;
  tally->contacts += c.contacts;
  tally->iterations += c.iterations;
  if (c.contacts > tally->contacts_max) tally->contacts_max = c.contacts;
  if (!c.converged) ++tally->stalled;
  if (c.handed_over) ++tally->handed_over;
  worst->gap = fmax(worst->gap, c.gap);
  worst->complementarity = fmax(worst->complementarity, c.complementarity);
  worst->cone = fmax(worst->cone, c.cone);
  worst->dissipation = fmax(worst->dissipation, c.dissipation);
  tabi_energy energy = tally->sample->energy;
  tally->energy_end = total(energy);
  tally->energy_gain = fmax(tally->energy_gain, total(energy) - energy.work - tally->energy_start);
}

bool tbi_tally_fell(const tbi_tally *tally) {
  if (tally->gait.walks) return tabi_world_gait(tally->world).outcome != TABI_GAIT_WALKS;
  return tbi_fall_lies(&tally->fall, tabi_world_dynamics(tally->world));
}

static double mean(const tbi_tally *tally, double sum) {
  return tally->steps > 0 ? sum / (double)tally->steps : 0;
}

static double realtime_factor(const tbi_tally *tally) {
  double simulated = tabi_world_time(tally->world) - tally->from;
  return tally->seconds > 0 ? simulated / tally->seconds : 0;
}

/* Under gait the motion between events is its own. */
static const char *scheme(const tbi_tally *tally) {
  if (tally->gait.walks) return tbi_gait_events_name(&tally->gait);
  return tabi_integrator_name(tabi_scene_world_def(tally->scene).integrator);
}

/* Free bodies and the bases of robots, with how fast they are at the end. */
static void print_bodies(const tbi_tally *tally, FILE *out) {
  const tabi_model *model = tabi_scene_model(tally->scene);
  tabi_dynamics *d = tabi_world_dynamics(tally->world);
  int shown = 0;
  for (int32_t i = 0; i < tabi_model_nlink(model) && shown <= MAX_SHOWN; ++i) {
    int32_t joint = tabi_model_link_joint(model, i);
    if (joint == TABI_NONE || tabi_model_joint(model, joint).type != TABI_JOINT_FREE) continue;
    if (shown == 0)
      (void)fprintf(out, "\n  %-24s %30s %12s\n", "at the end", "position [m]", "m/s");
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

void tbi_tally_print(const tbi_tally *tally, FILE *out) {
  tabi_world_def def = tabi_scene_world_def(tally->scene);
  const tabi_certificate *worst = &tally->worst;
  const char *name = tabi_scene_name(tally->scene);
  (void)fprintf(out, "%s%s%g s in %" PRId64 " steps of %g ms, %s, %s\n", name, name[0] ? ": " : "",
                tabi_world_time(tally->world), tally->steps, 1e3 * def.timestep,
                tabi_contact_name(def.contact), scheme(tally));
  (void)fprintf(out, "  speed         %.4g times real time, %.3g us a step\n",
                realtime_factor(tally), 1e6 * mean(tally, tally->seconds));
  (void)fprintf(out, "  memory        %.4g kB\n",
                (double)tabi_world_stats(tally->world).memory / 1024);
  (void)fprintf(out, "  contacts      %.1f on average, %d at most\n", mean(tally, tally->contacts),
                tally->contacts_max);
  (void)fprintf(out, "  iterations    %.1f on average", mean(tally, tally->iterations));
  if (tally->handed_over > 0) {
    (void)fprintf(out, "; %" PRId64 " steps handed over", tally->handed_over);
  }
  if (tally->stalled > 0) {
    (void)fprintf(out, "; %" PRId64 " steps above the tolerance", tally->stalled);
  }
  (void)fprintf(out, "\n  penetration   %.3g mm at most\n", 1e3 * tally->penetration_max);
  (void)fprintf(out,
                "  residual      gap %.2g m, complementarity %.2g m/s, cone %.2g N, "
                "dissipation %.2g m/s\n",
                worst->gap, worst->complementarity, worst->cone, worst->dissipation);
  tbi_loops_print(tally, out);
  (void)fprintf(out, "  energy        %.6g J at first, %.6g J at last, gained at most %.3g J\n",
                tally->energy_start, tally->energy_end, tally->energy_gain);
  (void)fprintf(out, "  state         %016" PRIx64 "\n", tabi_world_hash(tally->world));
  if (tabi_scene_nrobot(tally->scene) > 0) {
    (void)fprintf(out, "  fell          %s\n", tbi_tally_fell(tally) ? "yes" : "no");
  }
  tbi_gait_print(&tally->gait, tally->world, out);
  tbi_slips_print(&tally->slips, out);
  print_bodies(tally, out);
}

static json_t *json_bodies(const tbi_tally *tally) {
  const tabi_model *model = tabi_scene_model(tally->scene);
  tabi_dynamics *d = tabi_world_dynamics(tally->world);
  json_t *bodies = json_object();
  int bad = 0;
  for (int32_t i = 0; i < tabi_model_nlink(model); ++i) {
    const char *name = tabi_model_link(model, i).name;
    if (!name) continue;
    double pos[3];
    double quat[4];
    double lin[3];
    double ang[3];
    tabi_dynamics_link_pose(d, i, pos, quat);
    tabi_dynamics_link_velocity(d, i, lin, ang);
    json_t *body = json_object();
    bad |= json_object_set_new(body, "pos", tbi_json_numbers(pos, 3));
    bad |= json_object_set_new(body, "quat", tbi_json_numbers(quat, 4));
    bad |= json_object_set_new(body, "lin", tbi_json_numbers(lin, 3));
    bad |= json_object_set_new(body, "ang", tbi_json_numbers(ang, 3));
    bad |= json_object_set_new(bodies, name, body);
  }
  if (!bad) return bodies;
  json_decref(bodies);
  return NULL;
}

static json_t *json_residual(const tabi_certificate *worst) {
  return json_pack("{so so so so}", "gap_m", tbi_json_number(worst->gap), "complementarity_mps",
                   tbi_json_number(worst->complementarity), "cone_N", tbi_json_number(worst->cone),
                   "dissipation_mps", tbi_json_number(worst->dissipation));
}

static json_t *json_energy(const tbi_tally *tally) {
  return json_pack("{so so so}", "start", tbi_json_number(tally->energy_start), "end",
                   tbi_json_number(tally->energy_end), "max_gain",
                   tbi_json_number(tally->energy_gain));
}

int tbi_tally_print_json(const tbi_tally *t, const char *path, FILE *out) {
  tabi_world_def def = tabi_scene_world_def(t->scene);
  tabi_stats stats = tabi_world_stats(t->world);
  char hash[24];
  (void)snprintf(hash, sizeof hash, "%016" PRIx64, tabi_world_hash(t->world));
  json_t *o = json_object();
  int bad = json_object_set_new(o, "scene", tbi_json_text(path));
  bad |= json_object_set_new(o, "contact", json_string(tabi_contact_name(def.contact)));
  bad |= json_object_set_new(o, "integrator", json_string(scheme(t)));
  bad |= json_object_set_new(o, "dt", tbi_json_number(def.timestep));
  bad |= json_object_set_new(o, "steps", json_integer(t->steps));
  bad |= json_object_set_new(o, "time", tbi_json_number(tabi_world_time(t->world)));
  bad |= json_object_set_new(o, "wall_seconds", tbi_json_number(t->seconds));
  bad |= json_object_set_new(o, "realtime_factor", tbi_json_number(realtime_factor(t)));
  bad |= json_object_set_new(o, "memory_bytes", json_integer((json_int_t)stats.memory));
  bad |= json_object_set_new(o, "stages_us", tbi_stats_json(t->world, t->seconds));
  bad |= json_object_set_new(o, "contacts_mean", tbi_json_number(mean(t, t->contacts)));
  bad |= json_object_set_new(o, "contacts_max", json_integer(t->contacts_max));
  bad |= json_object_set_new(o, "penetration_max", tbi_json_number(t->penetration_max));
  bad |= json_object_set_new(o, "iterations_mean", tbi_json_number(mean(t, t->iterations)));
  bad |= json_object_set_new(o, "handed_over", json_integer(t->handed_over));
  bad |= json_object_set_new(o, "residual_max", json_residual(&t->worst));
  bad |= json_object_set_new(o, "connections", tbi_loops_json(t));
  bad |= json_object_set_new(o, "energy", json_energy(t));
  bad |= json_object_set_new(o, "state_hash", json_string(hash));
  bad |= json_object_set_new(o, "fell", json_boolean(tbi_tally_fell(t)));
  bad |= json_object_set_new(o, "gait", tbi_gait_json(&t->gait, t->world));
  bad |= json_object_set_new(o, "ledger", tbi_slips_json(&t->slips));
  bad |= json_object_set_new(o, "bodies", json_bodies(t));
  bad |= json_object_set_new(o, "sensors", tbi_sensor_json(t->world));
  if (bad) {
    json_decref(o);
    o = NULL;
  }
  return tbi_json_print(out, o);
}

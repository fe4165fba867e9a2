/* gait_summary.c - a gait (P3) as a table, as JSON and as columns of the CSV file. */
#include "run/gait_summary.h"

#include "common/csv.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

bool tbi_scene_uses_gait(const tabi_scene *scene) {
  return tabi_contact_describe(tabi_scene_world_def(scene).contact)->planar_biped;
}

/* Without springs, which count as dissipation. */
static double energy_of(tabi_world *world) {
  tabi_energy e = tabi_world_energy(world);
  return e.kinetic + e.potential;
}

/* x of a point of a link. */
static double point_x(const tabi_dynamics *d, int32_t link, const double point[3]) {
  double pos[3];
  double q[4];
  tabi_dynamics_link_pose(d, link, pos, q);
  return pos[0] + (1 - 2 * (q[2] * q[2] + q[3] * q[3])) * point[0] +
         2 * (q[1] * q[2] - q[0] * q[3]) * point[1] + 2 * (q[1] * q[3] + q[0] * q[2]) * point[2];
}

void tbi_gait_summary_begin(tbi_gait_summary *gait, const tabi_scene *scene, tabi_world *world) {
  *gait = (tbi_gait_summary){.active = tbi_scene_uses_gait(scene)};
  if (!gait->active) return;
  gait->def = tabi_gait_get_def(tabi_scene_world_def(scene).gait.biped);
  gait->energy_start = energy_of(world);
  const tabi_gait_foot *foot = &gait->def.foot[tabi_world_gait_state(world).support];
  gait->heel_start = point_x(tabi_world_dynamics(world), foot->link, foot->heel);
}

static void add_event(tbi_gait_summary *gait, const tabi_gait_event *event) {
  if (gait->nevent == gait->capacity) {
    int32_t capacity = gait->capacity ? 2 * gait->capacity : 64;
    tabi_gait_event *grown = realloc(gait->event, (size_t)capacity * sizeof *grown);
    if (!grown) {
      gait->no_memory = true;
      return;
    }
    gait->event = grown;
    gait->capacity = capacity;
  }
  gait->event[gait->nevent++] = *event;
}

void tbi_gait_summary_step(tbi_gait_summary *gait, tabi_world *world) {
  if (!gait->active) return;
  int32_t count = 0;
  const tabi_gait_event *event = tabi_world_gait_events(world, &count);
  for (int32_t i = 0; i < count; ++i)
    add_event(gait, &event[i]);
  tabi_gait_state state = tabi_world_gait_state(world);
  double gap = energy_of(world) - gait->energy_start - state.work + state.absorbed;
  gait->energy_gap = fmax(gait->energy_gap, fabs(gap));
}

void tbi_gait_summary_free(tbi_gait_summary *gait) {
  free(gait->event);
  gait->event = NULL;
}

const char *tbi_gait_summary_events_name(const tbi_gait_summary *gait) {
  return gait->def.events == TABI_GAIT_LOCATED ? "located" : "step";
}

/* Strides are given with changes of support alone. */
const tabi_gait_event *tbi_gait_summary_next_step(const tbi_gait_summary *gait, int32_t *index) {
  while (*index < gait->nevent) {
    const tabi_gait_event *event = &gait->event[(*index)++];
    if (event->stride != 0) return event;
  }
  return NULL;
}

static double pulled_share(const tabi_world *world) {
  double time = tabi_world_time(world);
  return time > 0 ? tabi_world_gait_state(world).pulled / time : 0;
}

void tbi_gait_summary_print(const tbi_gait_summary *gait, const tabi_world *world, FILE *out) {
  if (!gait->active) return;
  tabi_gait_state state = tabi_world_gait_state(world);
  bool over = state.outcome != TABI_GAIT_ONGOING;
  (void)fprintf(out, "  gait          %d step%s, %s%s\n", state.steps, state.steps == 1 ? "" : "s",
                over ? "ended: " : "ongoing in mode ",
                over ? tabi_gait_outcome_text(state.outcome) : state.mode);
  (void)fprintf(out, "  pulling       stance foot pulls on the ground %.1f %% of the time\n",
                100 * pulled_share(world));
  (void)fprintf(out, "  energy error  %.2g J max (initial + work - dissipated - energy)\n",
                gait->energy_gap);
  if (state.zeno_holds > 0)
    (void)fprintf(out, "  zeno holds    %d: too many events in one step\n", state.zeno_holds);
  if (state.steps == 0) return;
  (void)fprintf(out, "\n  %4s %10s %10s %14s %10s %10s %16s\n", "step", "time [s]", "period [s]",
                "touchdown [m]", "slip [m]", "stride [m]", "mean normal [N]");
  int32_t index = 0;
  double last = 0;
  const tabi_gait_event *step = tbi_gait_summary_next_step(gait, &index);
  for (int k = 1; step; ++k, step = tbi_gait_summary_next_step(gait, &index)) {
    (void)fprintf(out, "  %4d %10.4f %10.4f %14.3f %10.3f %10.3f %16.1f\n", k, step->time,
                  step->time - last, step->touchdown, step->slip, step->stride, step->mean_normal);
    last = step->time;
  }
}

static json_t *json_steps(const tbi_gait_summary *gait) {
  json_t *steps = json_array();
  int32_t index = 0;
  int bad = 0;
  const tabi_gait_event *step = tbi_gait_summary_next_step(gait, &index);
  for (; step; step = tbi_gait_summary_next_step(gait, &index)) {
    bad |= json_array_append_new(
        steps,
        json_pack("{so so so so so}", "time", tbi_json_number(step->time), "touchdown",
                  tbi_json_number(step->touchdown), "stride", tbi_json_number(step->stride), "slip",
                  tbi_json_number(step->slip), "push", tbi_json_number(step->mean_normal)));
  }
  if (!bad) return steps;
  json_decref(steps);
  return NULL;
}

static json_t *json_events(const tbi_gait_summary *gait) {
  json_t *events = json_array();
  int bad = 0;
  for (int32_t i = 0; i < gait->nevent; ++i) {
    const tabi_gait_event *event = &gait->event[i];
    bad |= json_array_append_new(
        events, json_pack("{so ss ss ss so}", "time", tbi_json_number(event->time), "from",
                          event->from, "to", event->to, "cause", event->cause, "lost",
                          tbi_json_number(event->dissipated)));
  }
  if (!bad) return events;
  json_decref(events);
  return NULL;
}

json_t *tbi_gait_summary_json(const tbi_gait_summary *gait, const tabi_world *world) {
  if (!gait->active) return json_null();
  tabi_gait_state state = tabi_world_gait_state(world);
  return json_pack("{ss ss si so so so so si}", "outcome", tabi_gait_outcome_text(state.outcome),
                   "mode", state.mode, "support", (int)state.support, "steps", json_steps(gait),
                   "events", json_events(gait), "pulled_share",
                   tbi_json_number(pulled_share(world)), "energy_gap",
                   tbi_json_number(gait->energy_gap), "rested", (int)state.zeno_holds);
}

void tbi_gait_csv_names(FILE *file, const tabi_scene *scene) {
  if (!tbi_scene_uses_gait(scene)) return;
  const tabi_model *model = tabi_scene_model(scene);
  (void)fputs(",gait.mode,gait.support,gait.heel_N,gait.toe_N,gait.support_friction_N,"
              "gait.normal_N,gait.friction_N,gait.slip_mps",
              file);
  for (int32_t i = 0; i < tabi_model_njoint(model); ++i) {
    if (tabi_model_joint_v(model, i).count != 1) continue;
    char name[512];
    char quoted[TBI_CSV_NAME];
    (void)snprintf(name, sizeof name, "%.400s.tau", tabi_model_joint(model, i).name);
    (void)fprintf(file, ",%s", tbi_csv_name(name, quoted));
  }
}

/* A mode on the heel has a quote in its name. */
static void put_text(FILE *file, const char *text) {
  (void)fputs(",\"", file);
  for (; *text; ++text) {
    if (*text == '"') (void)fputc('"', file);
    (void)fputc(*text, file);
  }
  (void)fputc('"', file);
}

void tbi_gait_csv_row(FILE *file, const tabi_scene *scene, const tabi_world *world,
                      double *torque) {
  if (!tbi_scene_uses_gait(scene)) return;
  const tabi_model *model = tabi_scene_model(scene);
  const tabi_gait_def def = tabi_gait_get_def(tabi_scene_world_def(scene).gait.biped);
  tabi_gait_state state = tabi_world_gait_state(world);
  const char *foot = tabi_model_link(model, def.foot[state.support].link).name;
  put_text(file, state.mode);
  put_text(file, foot ? foot : "");
  const double values[] = {state.heel_force, state.toe_force, state.support_friction,
                           state.normal,     state.friction,  state.slip};
  for (size_t i = 0; i < sizeof values / sizeof *values; ++i)
    (void)fprintf(file, ",%.12g", values[i]);
  tabi_world_gait_torque(world, torque);
  for (int32_t i = 0; i < tabi_model_njoint(model); ++i) {
    tabi_range range = tabi_model_joint_v(model, i);
    if (range.count == 1) (void)fprintf(file, ",%.12g", torque[range.first]);
  }
}

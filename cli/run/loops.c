/* loops.c - how well a run kept its connections, and which of them contradict each other. */
#include "run/tally.h"

#include <math.h>

/* m/s or rad/s: connections that miss their closing speed by more pull at each other */
#define CONTRADICTION 1e-4

static int32_t connections(const tbi_tally *tally) {
  return tabi_model_nconnection(tabi_scene_model(tally->scene));
}

void tbi_loops_step(tbi_tally *tally) {
  const tabi_model *model = tabi_scene_model(tally->scene);
  for (int32_t i = 0; i < connections(tally); ++i) {
    if (tabi_model_connection(model, i).type == TABI_CONNECTION_SPRING) continue;
    tabi_connection_state state = tabi_world_connection(tally->world, i);
    tally->loop_gap = fmax(tally->loop_gap, state.gap);
    tally->loop_turn = fmax(tally->loop_turn, state.turn);
    tally->loop_missed = fmax(tally->loop_missed, state.missed);
  }
}

void tbi_loops_print(const tbi_tally *tally, FILE *out) {
  if (connections(tally) == 0) return;
  (void)fprintf(out, "  connections   %d, open by %.2g m, %.2g rad at most\n", connections(tally),
                tally->loop_gap, tally->loop_turn);
}

json_t *tbi_loops_json(const tbi_tally *tally) {
  return json_pack("{si so so so}", "count", (int)connections(tally), "gap_m",
                   tbi_json_number(tally->loop_gap), "turn_rad", tbi_json_number(tally->loop_turn),
                   "missed", tbi_json_number(tally->loop_missed));
}

void tbi_loops_warn(const tbi_tally *tally) {
  const tabi_model *model = tabi_scene_model(tally->scene);
  for (int32_t i = 0; i < connections(tally); ++i) {
    double missed = tabi_world_connection(tally->world, i).missed;
    if (missed <= CONTRADICTION) continue;
    tabi_connection_def def = tabi_model_connection(model, i);
    tabi_error err = {.status = TABI_ERR_MODEL, .line = def.place.line};
    (void)snprintf(err.file, sizeof err.file, "%s", def.place.file ? def.place.file : "");
    (void)snprintf(err.message, sizeof err.message,
                   "connection '%s' contradicts others: it is met in the sense of least squares, "
                   "short by %.3g m/s or rad/s; remove one of them or correct their frames",
                   def.name ? def.name : "(unnamed)", missed);
    tbi_print_diagnostic(&err, "warning");
  }
}

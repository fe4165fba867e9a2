/* connection_summary.c - gaps of connections over a run; a warning for those that contradict
 * others. */
#include "run/run_summary.h"

#include <math.h>

/* m/s or rad/s: connections that miss their closing speed by more pull at each other */
#define CONTRADICTION 1e-4

static int32_t connections(const tbi_run_summary *summary) {
  return tabi_model_nconnection(tabi_scene_model(summary->scene));
}

void tbi_connection_summary_step(tbi_run_summary *summary) {
  const tabi_model *model = tabi_scene_model(summary->scene);
  for (int32_t i = 0; i < connections(summary); ++i) {
    if (tabi_model_connection(model, i).type == TABI_CONNECTION_SPRING) continue;
    tabi_connection_state state = tabi_world_connection(summary->world, i);
    summary->loop_gap = fmax(summary->loop_gap, state.gap);
    summary->loop_turn = fmax(summary->loop_turn, state.turn);
    summary->loop_missed = fmax(summary->loop_missed, state.missed);
  }
}

void tbi_connection_summary_print(const tbi_run_summary *summary, FILE *out) {
  if (connections(summary) == 0) return;
  (void)fprintf(out, "  connections   %d, max gap %.2g m, %.2g rad\n", connections(summary),
                summary->loop_gap, summary->loop_turn);
}

json_t *tbi_connection_summary_json(const tbi_run_summary *summary) {
  return json_pack("{si so so so}", "count", (int)connections(summary), "gap_m",
                   tbi_json_number(summary->loop_gap), "turn_rad",
                   tbi_json_number(summary->loop_turn), "missed",
                   tbi_json_number(summary->loop_missed));
}

void tbi_connection_summary_find(const tbi_run_summary *summary, tbi_findings *findings) {
  const tabi_model *model = tabi_scene_model(summary->scene);
  for (int32_t i = 0; i < connections(summary); ++i) {
    double missed = tabi_world_connection(summary->world, i).missed;
    if (missed <= CONTRADICTION) continue;
    tabi_connection_def def = tabi_model_connection(model, i);
    tbi_findings_tell(findings, TABI_SEVERITY_WARNING, def.place,
                      "connection '%s' contradicts others or joint limits, or is out of reach: it "
                      "misses the speed that would close it by %.3g m/s or rad/s; remove it, or "
                      "correct frames, limits or the initial posture",
                      def.name ? def.name : "(unnamed)", missed);
  }
}

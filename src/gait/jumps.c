/* jumps.c - jumps of the state at an event: impacts, friction that begins or ends, change of
 * support.
 *
 * An impact (P3, eqs. 15 to 19) projects the velocity, in the metric of kinetic energy, onto those
 * that the new mode allows:  M (q'+ - q'-) = J' I,  J q'+ = 0.  P3's eq. (19) imposes the row of
 * the pitch alone; here all rows of the mode hold together, as its eq. (17) demands. */
#include "base/assertion.h"
#include "gait/gait.h"

#include <string.h>

/* m/s; a slower point sticks */
#define AT_REST 1e-9
/* maximum of changes at one event */
#define MAX_CHAIN 8

bool tbi_gait_change_applies(const tbi_gait_run *run, const tbi_gait_change *change, double t) {
  TBI_ASSERT(change->from == TBI_ANY_MODE || (change->from >= 0 && change->from < TBI_GAIT_MODES));
  const tbi_gait_phase *phase = &run->memory->phase;
  if (change->from != TBI_ANY_MODE && change->from != phase->mode) return false;
  if (change->strict && run->gait->def.guards == TABI_GAIT_PAPER) return false;
  return change->jump != TBI_RELEASE || t >= run->memory->hold_until;
}

static void update(tbi_gait_run *run) {
  tbi_gait_select_dofs(run);
  tbi_gait_update_kinematics(run, tbi_gait_swing_sticks(run));
}

static bool evaluate(tbi_gait_run *run, double t) {
  tbi_gait_select_dofs(run);
  return tbi_gait_evaluate(run, t);
}

static void end(tbi_gait_run *run, tabi_gait_outcome outcome) {
  run->memory->outcome = (int32_t)outcome;
}

static int32_t sign(double x) { return x > 0 ? 1 : -1; }

/* The contact point of the swing foot slips if it moves; at rest it sticks if friction suffices. */
static void choose_slip(tbi_gait_run *run, double t) {
  tbi_gait_phase *phase = &run->memory->phase;
  double slip = tbi_gait_slip(run);
  if (fabs(slip) > AT_REST) {
    phase->slip_sign = sign(slip);
    return;
  }
  phase->slip_sign = 0;
  if (tbi_gait_mode_now(run)->swing == TBI_BY_FACE || !evaluate(run, t)) return;
  const tbi_gait_forces *f = &run->forces;
  if (fabs(f->friction) > run->gait->def.friction * f->normal)
    phase->slip_sign = -sign(f->friction);
}

static void choose_support_slip(tbi_gait_run *run, double t) {
  tbi_gait_phase *phase = &run->memory->phase;
  if (fabs(run->v[TBI_ALONG_X]) > AT_REST) {
    phase->support_slip_sign = sign(run->v[TBI_ALONG_X]);
    return;
  }
  phase->support_slip_sign = 0;
  run->v[TBI_ALONG_X] = 0;
  if (!evaluate(run, t)) return;
  const tbi_gait_forces *f = &run->forces;
  if (fabs(f->along) > run->gait->def.support_friction * f->load)
    phase->support_slip_sign = -sign(f->along);
}

/* Slip or stick of both feet after a change.  A foot that begins to slip moves against the friction
 * that has just reached its limit. */
static void choose_friction(tbi_gait_run *run, const tbi_gait_change *change, double t) {
  tbi_gait_phase *phase = &run->memory->phase;
  if (tbi_gait_mode_now(run)->swing == TBI_AWAY) {
    phase->slip_sign = 0;
  } else if (change->guard == TBI_POINT_SLIPS) {
    phase->slip_sign = -sign(run->forces.friction);
  } else if (change->jump == TBI_IMPACT || change->jump == TBI_SWAP ||
             change->guard == TBI_POINT_STOPS) {
    choose_slip(run, t);
  }
  if (change->guard == TBI_SUPPORT_SLIPS) {
    phase->support_slip_sign = -sign(run->forces.along);
  } else if (phase->support_slip_sign) {
    choose_support_slip(run, t);
  }
}

/* With friction (beyond P3): the contact point stops if friction suffices, else it slips on. */
static bool impact_with_friction(tbi_gait_run *run) {
  TBI_ASSERT(tbi_gait_mode_now(run)->swing != TBI_AWAY);
  tbi_gait_phase *phase = &run->memory->phase;
  int32_t nv = tbi_gait_tree(run)->model->nv;
  const double *impulse = run->rhs + run->nactive;
  memcpy(run->v_before, run->v, sizeof *run->v * (size_t)nv);
  tbi_gait_update_kinematics(run, true);
  if (!tbi_gait_project(run, NULL, false, run->v)) return false;
  phase->slip_sign = 0;
  if (fabs(impulse[1]) <= run->gait->def.friction * impulse[0]) return true;
  phase->slip_sign = -sign(impulse[1]);
  memcpy(run->v, run->v_before, sizeof *run->v * (size_t)nv);
  tbi_gait_update_kinematics(run, false);
  return tbi_gait_project(run, NULL, true, run->v);
}

/* The support sole comes down while the swing foot may touch.  That one slips on with friction,
 * unless its normal impulse would be negative. */
static bool impact_of_sole(tbi_gait_run *run) {
  size_t bytes = sizeof *run->v * (size_t)tbi_gait_tree(run)->model->nv;
  bool friction = run->gait->def.impact == TABI_GAIT_COULOMB && run->memory->phase.slip_sign != 0;
  memcpy(run->v_before, run->v, bytes);
  tbi_gait_update_kinematics(run, tbi_gait_swing_sticks(run));
  if (!tbi_gait_project(run, NULL, friction, run->v)) return false;
  if (!friction || run->rhs[run->nactive] >= 0) return true;
  memcpy(run->v, run->v_before, bytes);
  return tbi_gait_project(run, NULL, false, run->v);
}

/* P3, eqs. (15) to (19), without restitution; a landing foot has no tangential impulse there. */
static bool impact(tbi_gait_run *run, bool lands) {
  tbi_gait_select_dofs(run);
  if (!lands) return impact_of_sole(run);
  if (run->gait->def.impact == TABI_GAIT_COULOMB) return impact_with_friction(run);
  tbi_gait_update_kinematics(run, false);
  return tbi_gait_project(run, NULL, false, run->v);
}

/* The swing foot has landed by its heel. */
static void begin_landing(tbi_gait_run *run, tabi_gait_event *event, double t) {
  TBI_ASSERT(t >= run->memory->landed_at);
  const tbi_foot_tree *tree = tbi_gait_tree(run);
  double pos[3], swing[3], vel[3];
  run->memory->landed_at = t;
  run->memory->ledger[TBI_NORMAL_IMPULSE] = run->memory->ledger[TBI_SLIP_DISTANCE] = 0;
  tbi_gait_point_motion(run, &tree->heel[0], pos, vel);
  tbi_gait_point_motion(run, &tree->heel[1], swing, vel);
  event->touchdown = run->memory->touchdown = swing[0] - pos[0];
  if (event->touchdown < run->gait->def.min_stride) end(run, TABI_GAIT_BEHIND);
}

/* The swing foot becomes the support foot (P3, change of support): the state moves to the tree that
 * starts there.  Joints keep their angles and rates; the remaining slip velocity is taken from the
 * whole robot. */
static bool swap_support(tbi_gait_run *run, tabi_gait_event *event, double t) {
  TBI_ASSERT(tbi_gait_mode_now(run)->swing == TBI_BY_FACE);
  const tabi_model *robot = run->gait->model;
  tbi_gait_memory *memory = run->memory;
  const tbi_foot_tree *from = tbi_gait_tree(run);
  const tbi_foot_tree *to = &run->gait->tree[1 - memory->phase.support];
  size_t bytes = sizeof(double) * (size_t)to->model->nv;
  double toe[3], heel[3], old[3], vel[3];
  tbi_gait_point_motion(run, &from->toe[1], toe, vel);
  tbi_gait_point_motion(run, &from->heel[1], heel, vel);
  tbi_gait_point_motion(run, &from->heel[0], old, vel);
  event->touchdown = memory->touchdown;
  event->stride = heel[0] - old[0];
  event->slip = memory->ledger[TBI_SLIP_DISTANCE];
  event->mean_normal = memory->ledger[TBI_NORMAL_IMPULSE] / fmax(t - memory->landed_at, 1e-12);
  memcpy(run->q_before, run->q, bytes);
  memcpy(run->v_before, run->v, bytes);
  memset(run->q, 0, bytes);
  memset(run->v, 0, bytes);
  for (int32_t k = 0; k < robot->nv; ++k) {
    if (to->dof[k] == TABI_NONE) continue;
    run->q[to->dof[k]] = run->q_before[from->dof[k]];
    run->v[to->dof[k]] = run->v_before[from->dof[k]];
  }
  run->q[TBI_ALONG_X] = toe[0];
  memory->phase =
      (tbi_gait_phase){.support = 1 - memory->phase.support, .mode = memory->phase.mode};
  memory->support_since = t;
  memory->risen = false;
  ++memory->steps;
  return true;
}

/* The outcome when a guard ends the gait. */
static tabi_gait_outcome outcome_of(const tbi_gait_run *run, tbi_gait_guard guard) {
  const tbi_foot_tree *tree = tbi_gait_tree(run);
  double toe[3], support[3], vel[3];
  switch (guard) {
  case TBI_LOAD_ENDS:
    return TABI_GAIT_FLEW;
  case TBI_HEEL_SINKS:
    return TABI_GAIT_SANK;
  case TBI_JOINT_ENDS:
    return TABI_GAIT_JOINT_LIMIT;
  case TBI_LINK_FALLS:
    return TABI_GAIT_FELL;
  default:
    tbi_gait_point_motion(run, &tree->toe[1], toe, vel);
    tbi_gait_point_motion(run, &tree->toe[0], support, vel);
    return toe[0] > support[0] ? TABI_GAIT_TOE_FIRST : TABI_GAIT_SCUFFED;
  }
}

static bool jump(tbi_gait_run *run, const tbi_gait_change *change, tabi_gait_event *event,
                 double t) {
  tbi_gait_phase *phase = &run->memory->phase;
  bool lands = change->guard == TBI_HEEL_LANDS || change->guard == TBI_TOE_LANDS;
  if (change->guard == TBI_HEEL_LANDS) begin_landing(run, event, t);
  if (change->jump == TBI_SWAP && !swap_support(run, event, t)) return false;
  if (change->to != TBI_SAME_MODE) phase->mode = change->to;
  switch (change->jump) {
  case TBI_IMPACT:
    if (!impact(run, lands)) return false;
    break;
  case TBI_END:
    end(run, outcome_of(run, change->guard));
    break;
  default:
    break;
  }
  update(run);
  choose_friction(run, change, t);
  return evaluate(run, t);
}

static void change_once(tbi_gait_run *run, const tbi_gait_change *change, double t) {
  TBI_ASSERT(tbi_gait_change_applies(run, change, t));
  tbi_gait_memory *memory = run->memory;
  tabi_gait_event event = {.time = t, .cause = tbi_gait_guard_infos[change->guard].name};
  event.from = tbi_gait_phase_name(&memory->phase);
  update(run);
  double before = tbi_gait_kinetic_energy(run);
  if (!jump(run, change, &event, t)) {
    end(run, TABI_GAIT_JAMMED);
    return;
  }
  event.to = tbi_gait_phase_name(&memory->phase);
  event.dissipated = before - tbi_gait_kinetic_energy(run);
  memory->impact_loss += event.dissipated;
  if (run->nevent < TBI_GAIT_MAX_EVENTS) run->event[run->nevent++] = event;
}

/* The first change that is due at once in the new phase. */
static const tbi_gait_change *due(const tbi_gait_run *run, tbi_gait_guard last, double t) {
  for (int32_t i = 0; i < tbi_gait_change_count; ++i) {
    const tbi_gait_change *change = &tbi_gait_changes[i];
    if (!tbi_gait_change_applies(run, change, t)) continue;
    double value = tbi_gait_guard_value(run, change->guard);
    bool ends = change->jump == TBI_END;
    if ((ends || tbi_gait_guard_infos[change->guard].level) && value < 0) return change;
    /* a foot that comes down flat */
    if (change->guard == TBI_TOE_LANDS && last == TBI_HEEL_LANDS &&
        value <= tbi_gait_guard_infos[TBI_TOE_LANDS].leave)
      return change;
  }
  return NULL;
}

void tbi_gait_apply_change(tbi_gait_run *run, const tbi_gait_change *change, double t) {
  if (!change) change = due(run, TBI_GAIT_GUARDS, t);
  for (int i = 0; i < MAX_CHAIN && change; ++i) {
    tbi_gait_guard guard = change->guard;
    change_once(run, change, t);
    if (run->memory->outcome != TABI_GAIT_ONGOING) return;
    change = due(run, guard, t);
  }
}

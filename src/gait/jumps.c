/* jumps.c - what happens at an event: impacts, friction that begins or ends, change of support.
 *
 * An impact takes the velocity to the nearest one, in the sense of kinetic energy, that the new
 * mode allows:  M (q'+ - q'-) = J' I,  J q'+ = 0,  all rows of the mode together. */
#include "gait/gait.h"

#include <string.h>

/* m/s; slower is at rest */
#define AT_REST 1e-9
/* changes that follow from one event at once, at most */
#define CHAIN 8

bool tbi_walk_applies(const tbi_walk *w, const tbi_gait_change *change, double t) {
  const tbi_phase *phase = &w->memory->phase;
  if (change->from != TBI_ANY && change->from != phase->mode) return false;
  if (change->strict && w->gait->def.guards == TABI_GAIT_PAPER) return false;
  return change->jump != TBI_RELEASE || t >= w->memory->hold_until;
}

static void look(tbi_walk *w) {
  tbi_walk_activate(w);
  tbi_walk_look(w, tbi_walk_sticks(w));
}

static bool look_and_accelerate(tbi_walk *w, double t) {
  look(w);
  return tbi_walk_accelerate(w, t);
}

static void end(tbi_walk *w, tabi_gait_outcome outcome) { w->memory->outcome = (int32_t)outcome; }

static int32_t sign(double x) { return x > 0 ? 1 : -1; }

/* How the touching point goes on from its present speed: it slides, or sticks if that needs no more
 * than friction. */
static void choose_slide(tbi_walk *w, double t) {
  tbi_phase *phase = &w->memory->phase;
  double slip = tbi_walk_slip(w);
  if (fabs(slip) > AT_REST) {
    phase->slide = sign(slip);
    return;
  }
  phase->slide = 0;
  if (tbi_walk_mode(w)->other == TBI_BY_FACE || !look_and_accelerate(w, t)) return;
  const tbi_gait_forces *f = &w->forces;
  if (fabs(f->friction) > w->gait->def.friction * f->normal) phase->slide = -sign(f->friction);
}

static void choose_support_slide(tbi_walk *w, double t) {
  tbi_phase *phase = &w->memory->phase;
  if (fabs(w->v[TBI_ALONG_X]) > AT_REST) {
    phase->support_slide = sign(w->v[TBI_ALONG_X]);
    return;
  }
  phase->support_slide = 0;
  w->v[TBI_ALONG_X] = 0;
  if (!look_and_accelerate(w, t)) return;
  const tbi_gait_forces *f = &w->forces;
  if (fabs(f->along) > w->gait->def.support_friction * f->load)
    phase->support_slide = -sign(f->along);
}

/* How both feet go on along the ground after a change.  One that begins to slip goes against the
 * friction that has just reached its limit. */
static void choose_friction(tbi_walk *w, const tbi_gait_change *change, double t) {
  tbi_phase *phase = &w->memory->phase;
  if (tbi_walk_mode(w)->other == TBI_AWAY) {
    phase->slide = 0;
  } else if (change->signal == TBI_POINT_SLIPS) {
    phase->slide = -sign(w->forces.friction);
  } else if (change->jump == TBI_IMPACT || change->jump == TBI_SWAP ||
             change->signal == TBI_POINT_STOPS) {
    choose_slide(w, t);
  }
  if (change->signal == TBI_SUPPORT_SLIPS) {
    phase->support_slide = -sign(w->forces.along);
  } else if (phase->support_slide) {
    choose_support_slide(w, t);
  }
}

/* With friction: the point stops if that needs no more than friction, else it slides on. */
static bool impact_with_friction(tbi_walk *w) {
  tbi_phase *phase = &w->memory->phase;
  int32_t nv = tbi_walk_view(w)->model->nv;
  const double *impulse = w->rhs + w->nactive;
  memcpy(w->acceleration, w->v, sizeof *w->v * (size_t)nv);
  tbi_walk_look(w, true);
  if (!tbi_walk_project(w, NULL, false, w->v)) return false;
  phase->slide = 0;
  if (fabs(impulse[1]) <= w->gait->def.friction * impulse[0]) return true;
  phase->slide = -sign(impulse[1]);
  memcpy(w->v, w->acceleration, sizeof *w->v * (size_t)nv);
  tbi_walk_look(w, false);
  return tbi_walk_project(w, NULL, true, w->v);
}

/* The supporting sole comes down while the other foot may touch: that slides on with friction, if
 * it is not to be held back. */
static bool impact_of_sole(tbi_walk *w) {
  size_t bytes = sizeof *w->v * (size_t)tbi_walk_view(w)->model->nv;
  bool rub = w->gait->def.impact == TABI_GAIT_COULOMB && w->memory->phase.slide != 0;
  memcpy(w->acceleration, w->v, bytes);
  tbi_walk_look(w, tbi_walk_sticks(w));
  if (!tbi_walk_project(w, NULL, rub, w->v)) return false;
  if (!rub || w->rhs[w->nactive] >= 0) return true;
  memcpy(w->v, w->acceleration, bytes);
  return tbi_walk_project(w, NULL, false, w->v);
}

static bool impact(tbi_walk *w, bool lands) {
  tbi_walk_activate(w);
  if (!lands) return impact_of_sole(w);
  if (w->gait->def.impact == TABI_GAIT_COULOMB) return impact_with_friction(w);
  tbi_walk_look(w, false);
  return tbi_walk_project(w, NULL, false, w->v);
}

/* The other foot has come down by its heel. */
static void begin_landing(tbi_walk *w, double t) {
  const tbi_view *view = tbi_walk_view(w);
  double pos[3], other[3], vel[3];
  w->memory->landed = t;
  w->memory->ledger[TBI_PUSH] = w->memory->ledger[TBI_SLIDE] = 0;
  tbi_walk_point(w, &view->heel[0], pos, vel);
  tbi_walk_point(w, &view->heel[1], other, vel);
  if (other[0] - pos[0] < w->gait->def.least_stride) end(w, TABI_GAIT_BEHIND);
}

/* The foot that has landed becomes the root of the other view, and supports.  Joints keep their
 * rates: what was left of the slip is taken from the whole robot. */
static bool swap_support(tbi_walk *w, tabi_gait_event *event, double t) {
  const tabi_model *robot = w->gait->model;
  tbi_gait_memory *memory = w->memory;
  const tbi_view *from = tbi_walk_view(w);
  const tbi_view *to = &w->gait->view[1 - memory->phase.support];
  size_t bytes = sizeof(double) * (size_t)to->model->nv;
  double toe[3], heel[3], old[3], vel[3];
  tbi_walk_point(w, &from->toe[1], toe, vel);
  tbi_walk_point(w, &from->heel[1], heel, vel);
  tbi_walk_point(w, &from->heel[0], old, vel);
  event->stride = heel[0] - old[0];
  event->slip = memory->ledger[TBI_SLIDE];
  event->push = memory->ledger[TBI_PUSH] / fmax(t - memory->landed, 1e-12);
  memcpy(w->drive, w->q, bytes);
  memcpy(w->passive, w->v, bytes);
  memset(w->q, 0, bytes);
  memset(w->v, 0, bytes);
  for (int32_t k = 0; k < robot->nv; ++k) {
    if (to->dof[k] == TABI_NONE) continue;
    w->q[to->dof[k]] = w->drive[from->dof[k]];
    w->v[to->dof[k]] = w->passive[from->dof[k]];
  }
  w->q[TBI_ALONG_X] = toe[0];
  memory->phase = (tbi_phase){.support = 1 - memory->phase.support, .mode = memory->phase.mode};
  memory->since = t;
  memory->risen = false;
  ++memory->steps;
  return true;
}

/* How a walk ends when a guard says that the biped cannot go on like this. */
static tabi_gait_outcome outcome_of(const tbi_walk *w, tbi_signal signal) {
  const tbi_view *view = tbi_walk_view(w);
  double toe[3], support[3], vel[3];
  switch (signal) {
  case TBI_LOAD_ENDS:
    return TABI_GAIT_FLEW;
  case TBI_HEEL_SINKS:
    return TABI_GAIT_SANK;
  case TBI_JOINT_ENDS:
    return TABI_GAIT_JOINT_LIMIT;
  case TBI_LINK_FALLS:
    return TABI_GAIT_FELL;
  default:
    tbi_walk_point(w, &view->toe[1], toe, vel);
    tbi_walk_point(w, &view->toe[0], support, vel);
    return toe[0] > support[0] ? TABI_GAIT_TOE_FIRST : TABI_GAIT_SCUFFED;
  }
}

static bool jump(tbi_walk *w, const tbi_gait_change *change, tabi_gait_event *event, double t) {
  tbi_phase *phase = &w->memory->phase;
  bool lands = change->signal == TBI_HEEL_LANDS || change->signal == TBI_TOE_LANDS;
  if (change->signal == TBI_HEEL_LANDS) begin_landing(w, t);
  if (change->jump == TBI_SWAP && !swap_support(w, event, t)) return false;
  if (change->to != TBI_SAME) phase->mode = change->to;
  switch (change->jump) {
  case TBI_IMPACT:
    if (!impact(w, lands)) return false;
    break;
  case TBI_END:
    end(w, outcome_of(w, change->signal));
    break;
  default:
    break;
  }
  look(w);
  choose_friction(w, change, t);
  return look_and_accelerate(w, t);
}

static void change_once(tbi_walk *w, const tbi_gait_change *change, double t) {
  tbi_gait_memory *memory = w->memory;
  tabi_gait_event event = {.time = t, .cause = tbi_signals[change->signal].name};
  event.from = tbi_phase_name(&memory->phase);
  look(w);
  double before = tbi_walk_kinetic(w);
  if (!jump(w, change, &event, t)) {
    end(w, TABI_GAIT_JAMMED);
    return;
  }
  event.to = tbi_phase_name(&memory->phase);
  event.lost = before - tbi_walk_kinetic(w);
  memory->lost += event.lost;
  if (w->nevent < TBI_MAX_EVENTS) w->event[w->nevent++] = event;
}

/* the first change that the new phase asks for at once */
static const tbi_gait_change *due(const tbi_walk *w, tbi_signal last, double t) {
  for (int32_t i = 0; i < tbi_gait_change_count; ++i) {
    const tbi_gait_change *change = &tbi_gait_changes[i];
    if (!tbi_walk_applies(w, change, t)) continue;
    double value = tbi_walk_signal(w, change->signal);
    bool ends = change->jump == TBI_END;
    if ((ends || tbi_signals[change->signal].level) && value < 0) return change;
    /* a foot that comes down flat */
    if (change->signal == TBI_TOE_LANDS && last == TBI_HEEL_LANDS &&
        value <= tbi_signals[TBI_TOE_LANDS].leave)
      return change;
  }
  return NULL;
}

void tbi_walk_change(tbi_walk *w, const tbi_gait_change *change, double t) {
  if (!change) change = due(w, TBI_SIGNALS, t);
  for (int i = 0; i < CHAIN && change; ++i) {
    tbi_signal signal = change->signal;
    change_once(w, change, t);
    if (w->memory->outcome != TABI_GAIT_WALKS) return;
    change = due(w, signal, t);
  }
}

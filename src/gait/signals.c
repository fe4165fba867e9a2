/* signals.c - what is watched while a mode lasts.  A signal is positive as long as nothing happens;
 * one that has no meaning in a phase is infinite. */
#include "gait/gait.h"

static double height(const tbi_walk *w, const tbi_gait_point *point) {
  double pos[3], vel[3];
  tbi_walk_point(w, point, pos, vel);
  return pos[2];
}

/* speed along the ground of the point by which the other foot touches */
double tbi_walk_slip(const tbi_walk *w) {
  const tbi_view *view = tbi_walk_view(w);
  double pos[3], vel[3];
  tbi_walk_point(w, tbi_walk_mode(w)->other == TBI_BY_TOE ? &view->toe[1] : &view->heel[1], pos,
                 vel);
  return vel[0];
}

/* the end of the supporting sole that is in the air */
static double sole_height(const tbi_walk *w) {
  const tbi_view *view = tbi_walk_view(w);
  switch (tbi_walk_mode(w)->support) {
  case TBI_ON_TOE:
    return height(w, &view->heel[0]);
  case TBI_ON_HEEL:
    return height(w, &view->toe[0]);
  default:
    return HUGE_VAL;
  }
}

static double foot_angle(const tbi_walk *w) {
  const tbi_view *view = tbi_walk_view(w);
  double heel[3], toe[3], vel[3];
  tbi_walk_point(w, &view->heel[1], heel, vel);
  tbi_walk_point(w, &view->toe[1], toe, vel);
  return atan2(toe[2] - heel[2], toe[0] - heel[0]);
}

static double slip_signal(const tbi_walk *w, tbi_signal signal) {
  const tbi_phase *phase = &w->memory->phase;
  tbi_touch_kind other = tbi_walk_mode(w)->other;
  bool point = other == TBI_BY_HEEL || other == TBI_BY_TOE;
  double slip = tbi_walk_slip(w);
  double forward = phase->slide ? slip * phase->slide : fabs(slip);
  switch (signal) {
  case TBI_SLIP_ENDS:
    return other == TBI_BY_FACE ? forward - w->gait->def.slip_stop : HUGE_VAL;
  case TBI_POINT_STOPS:
    return point && phase->slide ? forward : HUGE_VAL;
  default:
    return point && !phase->slide
               ? w->gait->def.friction * w->forces.normal - fabs(w->forces.friction)
               : HUGE_VAL;
  }
}

static double support_signal(const tbi_walk *w, tbi_signal signal) {
  const tbi_phase *phase = &w->memory->phase;
  double friction = w->gait->def.support_friction;
  if (signal == TBI_SUPPORT_STOPS)
    return phase->support_slide ? phase->support_slide * w->v[TBI_ALONG_X] : HUGE_VAL;
  if (phase->support_slide || isinf(friction)) return HUGE_VAL;
  return friction * w->forces.load - fabs(w->forces.along);
}

/* Two feet may share a load as they like where soles may pull; one must carry it. */
static double load_signal(const tbi_walk *w) {
  bool shared = tbi_walk_mode(w)->other != TBI_AWAY;
  return shared && w->gait->def.guards == TABI_GAIT_PAPER ? HUGE_VAL : w->forces.load;
}

/* the other foot in the air, against the ground it may not meet like that */
static double clearance(const tbi_walk *w, tbi_signal signal) {
  const tbi_view *view = tbi_walk_view(w);
  tbi_touch_kind other = tbi_walk_mode(w)->other;
  if (signal == TBI_TOE_SCUFFS)
    return other == TBI_AWAY ? height(w, &view->toe[1]) + w->gait->def.scuff : HUGE_VAL;
  bool heel_free = other == TBI_AWAY || other == TBI_BY_TOE;
  if (!heel_free) return HUGE_VAL;
  /* one that has risen lands */
  if (other == TBI_AWAY && w->memory->risen) return 1;
  return height(w, &view->heel[1]) + w->gait->def.sink;
}

static double joint_margin(const tbi_walk *w) {
  const tabi_model *robot = w->gait->model;
  const tbi_view *view = tbi_walk_view(w);
  double margin = HUGE_VAL;
  for (int32_t k = 0; k < robot->nv; ++k) {
    if (view->dof[k] == TABI_NONE) continue;
    double q = w->q[view->dof[k]];
    margin = fmin(margin, fmin(q - robot->dof_lower[k], robot->dof_upper[k] - q));
  }
  return margin;
}

static double link_margin(const tbi_walk *w) {
  const tabi_gait *gait = w->gait;
  const tbi_view *view = tbi_walk_view(w);
  const double origin[3] = {0};
  double margin = HUGE_VAL;
  for (int32_t i = 0; i < gait->def.nfloor; ++i) {
    tbi_gait_point point = tbi_view_point(view, gait->floor[i].link, origin);
    margin = fmin(margin, height(w, &point) - gait->floor[i].height);
  }
  return margin;
}

/* forces by which the landed foot stands on its ends */
static double landed_signal(const tbi_walk *w, tbi_signal signal) {
  if (tbi_walk_mode(w)->other != TBI_BY_FACE) return HUGE_VAL;
  double toe = w->forces.turn / w->gait->view[1 - w->memory->phase.support].sole;
  return signal == TBI_FOOT_TOE_UNLOADS ? toe : w->forces.normal - toe;
}

double tbi_walk_signal(const tbi_walk *w, tbi_signal signal) {
  switch (signal) {
  case TBI_HEEL_LANDS:
    return w->memory->risen ? height(w, &tbi_walk_view(w)->heel[1]) : 1;
  case TBI_TOE_LANDS:
    return foot_angle(w);
  case TBI_HEEL_UNLOADS:
    return w->forces.heel;
  case TBI_TOE_UNLOADS:
    return w->forces.toe;
  case TBI_FOOT_UNLOADS:
    return w->forces.normal;
  case TBI_FOOT_TOE_UNLOADS:
  case TBI_FOOT_HEEL_UNLOADS:
    return landed_signal(w, signal);
  case TBI_SLIP_ENDS:
  case TBI_POINT_STOPS:
  case TBI_POINT_SLIPS:
    return slip_signal(w, signal);
  case TBI_SOLE_RETURNS:
    return sole_height(w);
  case TBI_SUPPORT_STOPS:
  case TBI_SUPPORT_SLIPS:
    return support_signal(w, signal);
  case TBI_LOAD_ENDS:
    return load_signal(w);
  case TBI_TOE_SCUFFS:
  case TBI_HEEL_SINKS:
    return clearance(w, signal);
  case TBI_JOINT_ENDS:
    return joint_margin(w);
  case TBI_LINK_FALLS:
    return link_margin(w);
  default:
    return HUGE_VAL;
  }
}

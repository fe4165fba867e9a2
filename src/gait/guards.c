/* guards.c - guard functions of the modes (P3, table of transitions and eq. 14).  A guard function
 * is positive while its mode lasts; one without meaning in a phase is infinite. */
#include "base/assertion.h"
#include "gait/gait.h"

static double height(const tbi_gait_run *run, const tbi_gait_point *point) {
  double pos[3], vel[3];
  tbi_gait_point_motion(run, point, pos, vel);
  return pos[2];
}

double tbi_gait_slip(const tbi_gait_run *run) {
  double pos[3], vel[3];
  tbi_gait_point_motion(run, tbi_gait_contact_point(run), pos, vel);
  return vel[0];
}

/* The height of the end of the support sole that is in the air. */
static double sole_height(const tbi_gait_run *run) {
  const tbi_foot_tree *tree = tbi_gait_tree(run);
  switch (tbi_gait_mode_now(run)->support) {
  case TBI_ON_TOE:
    return height(run, &tree->heel[0]);
  case TBI_ON_HEEL:
    return height(run, &tree->toe[0]);
  default:
    return HUGE_VAL;
  }
}

/* Slip of the swing foot: a flat one stops at slip_stop, epsilon of P3. */
static double slip_guard(const tbi_gait_run *run, tbi_gait_guard guard) {
  const tbi_gait_phase *phase = &run->memory->phase;
  tbi_swing_contact swing = tbi_gait_mode_now(run)->swing;
  bool point = swing == TBI_BY_HEEL || swing == TBI_BY_TOE;
  double slip = tbi_gait_slip(run);
  double forward = phase->slip_sign ? slip * phase->slip_sign : fabs(slip);
  switch (guard) {
  case TBI_SLIP_ENDS:
    return swing == TBI_BY_FACE ? forward - run->gait->def.slip_stop : HUGE_VAL;
  case TBI_POINT_STOPS:
    return point && phase->slip_sign ? forward : HUGE_VAL;
  default:
    return point && !phase->slip_sign
               ? run->gait->def.friction * run->forces.normal - fabs(run->forces.friction)
               : HUGE_VAL;
  }
}

static double support_guard(const tbi_gait_run *run, tbi_gait_guard guard) {
  const tbi_gait_phase *phase = &run->memory->phase;
  double friction = run->gait->def.support_friction;
  if (guard == TBI_SUPPORT_STOPS)
    return phase->support_slip_sign ? phase->support_slip_sign * run->v[TBI_ALONG_X] : HUGE_VAL;
  if (phase->support_slip_sign || isinf(friction)) return HUGE_VAL;
  return friction * run->forces.load - fabs(run->forces.along);
}

/* A single foot must carry the load.  Where soles may pull, two feet may share it in any way. */
static double load_guard(const tbi_gait_run *run) {
  bool shared = tbi_gait_mode_now(run)->swing != TBI_AWAY;
  return shared && run->gait->def.guards == TABI_GAIT_PAPER ? HUGE_VAL : run->forces.load;
}

/* Heights of toe and heel of the swing foot above where the gait ends. */
static double clearance(const tbi_gait_run *run, tbi_gait_guard guard) {
  const tbi_foot_tree *tree = tbi_gait_tree(run);
  tbi_swing_contact swing = tbi_gait_mode_now(run)->swing;
  if (guard == TBI_TOE_SCUFFS)
    return swing == TBI_AWAY ? height(run, &tree->toe[1]) + run->gait->def.scuff : HUGE_VAL;
  bool heel_free = swing == TBI_AWAY || swing == TBI_BY_TOE;
  if (!heel_free) return HUGE_VAL;
  /* a heel that has risen lands instead */
  if (swing == TBI_AWAY && run->memory->risen) return 1;
  return height(run, &tree->heel[1]) + run->gait->def.sink;
}

static double joint_margin(const tbi_gait_run *run) {
  const tabi_model *robot = run->gait->model;
  const tbi_foot_tree *tree = tbi_gait_tree(run);
  double margin = HUGE_VAL;
  for (int32_t k = 0; k < robot->nv; ++k) {
    if (tree->dof[k] == TABI_NONE) continue;
    double q = run->q[tree->dof[k]];
    margin = fmin(margin, fmin(q - robot->dof_lower[k], robot->dof_upper[k] - q));
  }
  return margin;
}

static double link_margin(const tbi_gait_run *run) {
  const tabi_gait *gait = run->gait;
  const tbi_foot_tree *tree = tbi_gait_tree(run);
  const double origin[3] = {0};
  double margin = HUGE_VAL;
  for (int32_t i = 0; i < gait->def.nfloor; ++i) {
    tbi_gait_point point = tbi_foot_tree_point(tree, gait->floor[i].link, origin);
    margin = fmin(margin, height(run, &point) - gait->floor[i].height);
  }
  return margin;
}

/* Normal forces on toe and heel of a flat swing foot, as in P3's eq. (14). */
static double landed_guard(const tbi_gait_run *run, tbi_gait_guard guard) {
  if (tbi_gait_mode_now(run)->swing != TBI_BY_FACE) return HUGE_VAL;
  double toe = run->forces.turn / run->gait->tree[1 - run->memory->phase.support].sole;
  return guard == TBI_FOOT_TOE_UNLOADS ? toe : run->forces.normal - toe;
}

double tbi_gait_guard_value(const tbi_gait_run *run, tbi_gait_guard guard) {
  TBI_ASSERT((unsigned)guard < TBI_GAIT_GUARDS);
  switch (guard) {
  case TBI_HEEL_LANDS:
    return run->memory->risen ? height(run, &tbi_gait_tree(run)->heel[1]) : 1;
  case TBI_TOE_LANDS:
    return tbi_gait_swing_pitch(run);
  case TBI_HEEL_UNLOADS:
    return run->forces.heel;
  case TBI_TOE_UNLOADS:
    return run->forces.toe;
  case TBI_FOOT_UNLOADS:
    return run->forces.normal;
  case TBI_FOOT_TOE_UNLOADS:
  case TBI_FOOT_HEEL_UNLOADS:
    return landed_guard(run, guard);
  case TBI_SLIP_ENDS:
  case TBI_POINT_STOPS:
  case TBI_POINT_SLIPS:
    return slip_guard(run, guard);
  case TBI_SOLE_RETURNS:
    return sole_height(run);
  case TBI_SUPPORT_STOPS:
  case TBI_SUPPORT_SLIPS:
    return support_guard(run, guard);
  case TBI_LOAD_ENDS:
    return load_guard(run);
  case TBI_TOE_SCUFFS:
  case TBI_HEEL_SINKS:
    return clearance(run, guard);
  case TBI_JOINT_ENDS:
    return joint_margin(run);
  case TBI_LINK_FALLS:
    return link_margin(run);
  default:
    return HUGE_VAL;
  }
}

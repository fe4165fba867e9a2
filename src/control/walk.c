/* walk.c - pattern generator: from footsteps to the motion of all joints (Kajita et al. 2003,
 * "Biped walking pattern generation by using preview control of zero-moment point").
 *
 *   steps --plan--> feet, desired ZMP --preview control--> CoM --inverse kinematics--> joints
 *                                          ^                                              |
 *                                          +--preview control-- error <--whole-body ZMP---+
 *
 * The cart-table model of preview control has neither legs that swing nor a CoM that rises and
 * falls.  Each pass of the dynamic filter computes the ZMP of the motion of all bodies and puts its
 * error through the same preview control, whose output corrects the CoM.  Splines lead through the
 * finished samples. */
#include "control/walk.h"

#include "base/assertion.h"
#include "base/error.h"
#include "control/preview.h"
#include "control/trajectory.h"

#include <stdlib.h>
#include <string.h>

#define MIN_SAMPLES    3
#define MAX_SAMPLES    10000000
#define COM_TOLERANCE  1e-9 /* m */
#define MAX_CORRECTION 50

static const tabi_place nowhere = {NULL, 0};

/* A walk in the making, in samples of the pattern generator. */
typedef struct pattern {
  tabi_walk *walk;
  const tabi_walk_def *def;
  tbi_preview preview;
  int32_t count;           /* of samples */
  tbi_plan_state *plan;    /* [count] */
  double *zmp[2];          /* [count] planned, x and y */
  double *motion_zmp[2];   /* [count] of all bodies */
  double *zmp_error;       /* [count] scratch */
  double (*com[2])[3];     /* [count] position, velocity, acceleration */
  double (*com_change)[3]; /* [count] scratch */
  tbi_foot_place *waist;   /* [count] */
  double *q;               /* [count x nq] */
  double *tau;             /* [count x nv] */
} pattern;

tabi_walk_def tabi_walk_def_default(void) {
  return (tabi_walk_def){
      .def_size = sizeof(tabi_walk_def),
      .waist = TABI_NONE,
      .foot = {TABI_NONE, TABI_NONE},
      .stand_before = 2,
      .stand_after = 2,
      .period = 5e-3,
      .horizon = 1.6,
      .jerk_weight = 1e-6,
      .passes = 2,
      .sample_period = 1e-3
  };
}

static bool positive(double value) { return isfinite(value) && value > 0; }
static bool not_negative(double value) { return isfinite(value) && value >= 0; }

static tabi_status check(const tabi_walk_def *def, tabi_error *err) {
  if (def->def_size != sizeof *def) {
    return tbi_error_set(err, TABI_ERR_ARGUMENT, nowhere,
                         "tabi_walk_def was not made by tabi_walk_def_default()");
  }
  if (def->nstep < 0 || (def->nstep > 0 && !def->step)) {
    return tbi_error_set(err, TABI_ERR_ARGUMENT, nowhere,
                         "walk: nstep must be >= 0, and step have nstep items");
  }
  if (!positive(def->period) || !positive(def->horizon) || !positive(def->sample_period) ||
      !positive(def->jerk_weight) || def->passes < 0) {
    return tbi_error_set(
        err, TABI_ERR_ARGUMENT, nowhere,
        "walk: period, horizon, sample_period and jerk_weight must be positive, passes "
        "not negative");
  }
  if (def->first != TABI_LEFT && def->first != TABI_RIGHT) {
    return tbi_error_set(err, TABI_ERR_ARGUMENT, nowhere,
                         "walk: first must be TABI_LEFT or TABI_RIGHT");
  }
  bool placed = isfinite(def->yaw);
  for (int i = 0; i < 3; ++i)
    placed = placed && isfinite(def->place[i]);
  if (placed && not_negative(def->waist_height) && not_negative(def->spacing) &&
      not_negative(def->stand_before) && not_negative(def->stand_after))
    return TABI_OK;
  return tbi_error_set(err, TABI_ERR_ARGUMENT, nowhere,
                       "walk: place must be finite; heights, spacing and times finite and >= 0");
}

/* -- whole-body motion */

static tabi_status fail_reach(double time, int32_t side, tabi_error *err) {
  return tbi_error_set(err, TABI_ERR_ARGUMENT, nowhere,
                       "walk: at %.3f s the %s leg cannot reach its place within the limits of its "
                       "joints; change waist_height or take shorter or lower steps",
                       time, side == TABI_LEFT ? "left" : "right");
}

/* Learns from a correction of the waist how far the CoM followed (a secant step per axis). */
static void update_waist_gain(tbi_walker *walker, const double way[2], v3 before, v3 after) {
  const double came[2] = {before.x - after.x, before.y - after.y};
  for (int i = 0; i < 2; ++i) {
    if (fabs(way[i]) < 1e-7 || came[i] * way[i] <= 0) continue;
    walker->waist_per_com[i] = fmin(fmax(way[i] / came[i], 0.5), 3);
  }
}

/* Joints for given feet and CoM: moves the waist until the CoM is where it should be. */
static tabi_status solve_posture(tbi_walker *walker, double time, const tbi_foot_place *foot,
                                 v3 com, tbi_foot_place *waist, double *q, tabi_error *err) {
  double way[2] = {0, 0};
  v3 before = v3_zero();
  waist->yaw = 0.5 * (foot[0].yaw + foot[1].yaw);
  const tbi_frame sole[2] = {tbi_frame_of_place(&foot[0]), tbi_frame_of_place(&foot[1])};
  tbi_frame frame = tbi_frame_of_place(waist);
  for (int i = 0; i < MAX_CORRECTION; ++i) {
    frame.pos = waist->pos;
    for (int side = 0; side < 2; ++side) {
      bool search = time <= 0 && i == 0;
      if (!tbi_walker_set_foot(walker, (tabi_side)side, &frame, &sole[side], search, q))
        return fail_reach(time, side, err);
    }
    tbi_frame floating = tbi_frame_mul(&frame, &walker->in_waist);
    v3 missed = v3_sub(com, tbi_composites_com_at(&walker->composites, &floating, q));
    if (fabs(missed.x) < COM_TOLERANCE && fabs(missed.y) < COM_TOLERANCE) break;
    if (i > 0) update_waist_gain(walker, way, before, missed);
    way[0] = walker->waist_per_com[0] * missed.x;
    way[1] = walker->waist_per_com[1] * missed.y;
    waist->pos.x += way[0];
    waist->pos.y += way[1];
    before = missed;
  }
  tbi_walker_set_waist(walker, &frame, q);
  return TABI_OK;
}

/* The next value of a cubic through four, the last one first. */
static double extrapolate(double a, double b, double c, double d) {
  return 4 * (a + c) - 6 * b - d;
}

/* Initial guess of a sample: extrapolates those before. */
static void extrapolate_posture(const pattern *p, int32_t k, double *q, tbi_foot_place *waist) {
  TBI_ASSERT(k >= 0 && k < p->count);
  const tbi_walker *walker = &p->walk->walker;
  ptrdiff_t nq = tabi_model_nq(p->walk->model);
  if (k < 4) return;
  for (int side = 0; side < 2; ++side) {
    for (int i = 0; i < TBI_LEG_JOINTS; ++i) {
      double *at = q + walker->leg[side].q[i];
      *at = extrapolate(at[-nq], at[-2 * nq], at[-3 * nq], at[-4 * nq]);
    }
  }
  const tbi_foot_place *last = p->waist + k;
  waist->pos.x = extrapolate(last[-1].pos.x, last[-2].pos.x, last[-3].pos.x, last[-4].pos.x);
  waist->pos.y = extrapolate(last[-1].pos.y, last[-2].pos.y, last[-3].pos.y, last[-4].pos.y);
}

static tabi_status move_joints(const pattern *p, tabi_error *err) {
  tabi_walk *walk = p->walk;
  size_t nq = (size_t)tabi_model_nq(walk->model);
  const double *last = walk->initial_q;
  tbi_foot_place waist = p->waist[0];
  v3 last_com = {p->com[0][0][0], p->com[1][0][0], 0};
  for (int32_t k = 0; k < p->count; ++k) {
    double *q = p->q + (size_t)k * nq;
    double time = k * p->def->period;
    v3 com = {p->com[0][k][0], p->com[1][k][0], 0};
    memcpy(q, last, nq * sizeof *q);
    waist.pos = v3_add(waist.pos, v3_sub(com, last_com));
    extrapolate_posture(p, k, q, &waist);
    tabi_status status = solve_posture(&walk->walker, time, p->plan[k].foot, com, &waist, q, err);
    if (status != TABI_OK) return status;
    p->waist[k] = waist;
    last_com = com;
    last = q;
  }
  return TABI_OK;
}

/* Joint forces of the motion at a sample, with the ground under the feet. */
static void find_torques(const pattern *p, int32_t k, int32_t inner, v3 zmp) {
  size_t nv = (size_t)tabi_model_nv(p->walk->model);
  tbi_walker *walker = &p->walk->walker;
  const tbi_plan_state *plan = &p->plan[inner];
  double left = tbi_plan_left_share(plan, (const double[]){zmp.x, zmp.y});
  tbi_walker_add_ground_forces(walker, plan->foot, left, zmp);
  memcpy(p->tau + (size_t)k * nv, walker->tau, nv * sizeof *p->tau);
}

/* ZMP of the whole-body motion, and after the last pass joint forces.  The first and last sample,
 * which lack a neighbour, take the values of theirs. */
static void measure_zmp(const pattern *p, bool last) {
  TBI_ASSERT(p->count >= MIN_SAMPLES);
  size_t nq = (size_t)tabi_model_nq(p->walk->model);
  tbi_walker *walker = &p->walk->walker;
  for (int32_t k = 0; k < p->count; ++k) {
    int32_t inner = k == 0 ? 1 : k < p->count - 1 ? k : p->count - 2;
    const double *now = p->q + (size_t)inner * nq;
    v3 zmp = last ? tbi_walker_zmp(walker, now - nq, now, now + nq, p->def->period)
                  : tbi_walker_composite_zmp(walker, now - nq, now, now + nq, p->def->period);
    if (last) find_torques(p, k, inner, zmp);
    p->motion_zmp[0][k] = zmp.x;
    p->motion_zmp[1][k] = zmp.y;
  }
}

/* The dynamic filter (Kajita et al. 2003): preview control of the ZMP error corrects the
 * CoM.  While the robot stands before the walk the correction fades in, since it must start at rest
 * whatever the preview horizon holds. */
static void apply_dynamic_filter(const pattern *p) {
  double before = fmax(p->def->stand_before, p->def->period);
  for (int axis = 0; axis < 2; ++axis) {
    for (int32_t k = 0; k < p->count; ++k) {
      double share = tbi_ease(k * p->def->period / before);
      p->zmp_error[k] = share * (p->zmp[axis][k] - p->motion_zmp[axis][k]);
    }
    tbi_preview_follow(&p->preview, p->count, p->zmp_error, p->com_change);
    for (int32_t k = 0; k < p->count; ++k) {
      for (int i = 0; i < 3; ++i)
        p->com[axis][k][i] += p->com_change[k][i];
    }
  }
}

/* -- making a pattern */

static bool allocate(pattern *p, tabi_error *err) {
  double count = fmax(p->walk->plan.end / p->def->period + 1, MIN_SAMPLES);
  if (!(count < MAX_SAMPLES)) {
    (void)tbi_error_set(err, TABI_ERR_ARGUMENT, nowhere,
                        "walk: more than %d samples; take a longer period", MAX_SAMPLES);
    return false;
  }
  p->count = (int32_t)ceil(count);
  size_t samples = (size_t)p->count;
  double *numbers = calloc(samples * 5, sizeof *numbers);
  p->com[0] = calloc(samples * 3, sizeof *p->com[0]);
  p->plan = malloc(samples * sizeof *p->plan);
  p->waist = calloc(samples, sizeof *p->waist);
  p->q = calloc(samples * (size_t)tabi_model_nq(p->walk->model), sizeof *p->q);
  p->tau = calloc(samples * (size_t)tabi_model_nv(p->walk->model), sizeof *p->tau);
  p->zmp[0] = numbers;
  if (!numbers || !p->com[0] || !p->plan || !p->waist || !p->q || !p->tau) {
    (void)tbi_error_memory(err);
    return false;
  }
  p->zmp[1] = numbers + samples;
  p->motion_zmp[0] = numbers + 2 * samples;
  p->motion_zmp[1] = numbers + 3 * samples;
  p->zmp_error = numbers + 4 * samples;
  p->com[1] = p->com[0] + samples;
  p->com_change = p->com[0] + 2 * samples;
  return true;
}

static void release(pattern *p) {
  tbi_preview_free(&p->preview);
  free(p->zmp[0]);
  free(p->com[0]);
  free(p->plan);
  free(p->waist);
  free(p->q);
  free(p->tau);
}

/* The initial posture, and the height of its CoM. */
static tabi_status solve_initial_posture(pattern *p, const double *posture, tabi_error *err) {
  tabi_walk *walk = p->walk;
  const tbi_walker *walker = &walk->walker;
  size_t nq = (size_t)tabi_model_nq(walk->model);
  walk->initial_q = malloc((nq + 1) * sizeof *walk->initial_q);
  if (!walk->initial_q) return tbi_error_memory(err);
  memcpy(walk->initial_q, posture, nq * sizeof *walk->initial_q);
  tbi_plan_state plan = tbi_plan_at(&walk->plan, 0);
  double height = p->def->waist_height > 0 ? p->def->waist_height : walker->waist_height;
  v3 com = {plan.zmp[0], plan.zmp[1], 0};
  p->waist[0].pos = (v3){com.x, com.y, walker->ground + height};
  tabi_status status =
      solve_posture(&walk->walker, 0, plan.foot, com, &p->waist[0], walk->initial_q, err);
  if (status != TABI_OK) return status;
  walk->com_height = tbi_walker_com(&walk->walker, walk->initial_q).z - walker->ground;
  return TABI_OK;
}

static tabi_status make_preview(pattern *p, tabi_error *err) {
  double gravity[3];
  tabi_model_gravity(p->walk->model, gravity);
  p->walk->gravity = -gravity[2];
  double horizon = fmin(ceil(p->def->horizon / p->def->period - 1e-9), MAX_SAMPLES);
  const tbi_preview_def def = {.height = p->walk->com_height,
                               .gravity = p->walk->gravity,
                               .period = p->def->period,
                               .horizon = (int32_t)horizon,
                               .error_weight = 1,
                               .jerk_weight = p->def->jerk_weight};
  return tbi_preview_make(&p->preview, &def, err);
}

static tabi_status generate(pattern *p, tabi_error *err) {
  for (int32_t k = 0; k < p->count; ++k) {
    p->plan[k] = tbi_plan_at(&p->walk->plan, k * p->def->period);
    p->zmp[0][k] = p->plan[k].zmp[0];
    p->zmp[1][k] = p->plan[k].zmp[1];
  }
  for (int axis = 0; axis < 2; ++axis)
    tbi_preview_follow(&p->preview, p->count, p->zmp[axis], p->com[axis]);
  for (int32_t pass = 0;; ++pass) {
    tabi_status status = move_joints(p, err);
    if (status != TABI_OK) return status;
    measure_zmp(p, pass == p->def->passes);
    if (pass == p->def->passes) return TABI_OK;
    apply_dynamic_filter(p);
  }
}

/* -- trajectories */

/* Columns of `from` [count x columns] as a trajectory, sampled every sample_period. */
static tabi_trajectory *make_trajectory(const pattern *p, const double *from, int32_t columns,
                                        tabi_error *err) {
  const tbi_spline_def def = {.nknot = p->count,
                              .ncolumn = columns,
                              .period = p->def->period,
                              .sample_period = p->def->sample_period,
                              .knot = from};
  return tbi_trajectory_along(&def, err);
}

/* One column for each joint with one coordinate, from q or from joint forces. */
static tabi_trajectory *keep_joints(const pattern *p, bool torque, tabi_error *err) {
  const tabi_model *model = p->walk->model;
  int32_t njoint = tabi_model_njoint(model);
  size_t width = (size_t)(torque ? tabi_model_nv(model) : tabi_model_nq(model));
  const double *from = torque ? p->tau : p->q;
  double *samples = calloc((size_t)p->count * (size_t)njoint, sizeof *samples);
  if (!samples) {
    (void)tbi_error_memory(err);
    return NULL;
  }
  double *to = samples;
  for (int32_t k = 0; k < p->count; ++k, from += width) {
    for (int32_t j = 0; j < njoint; ++j, ++to) {
      tabi_range range = torque ? tabi_model_joint_v(model, j) : tabi_model_joint_q(model, j);
      if (range.count == 1) *to = from[range.first];
    }
  }
  tabi_trajectory *dense = make_trajectory(p, samples, njoint, err);
  free(samples);
  return dense;
}

static tabi_trajectory *keep_reference(const pattern *p, tabi_error *err) {
  const tabi_walk *walk = p->walk;
  double *samples = calloc((size_t)p->count * TBI_REF_COLUMNS, sizeof *samples);
  if (!samples) {
    (void)tbi_error_memory(err);
    return NULL;
  }
  for (size_t k = 0; k < (size_t)p->count; ++k) {
    double *sample = samples + k * TBI_REF_COLUMNS;
    for (int axis = 0; axis < 2; ++axis) {
      sample[TBI_REF_COM + axis] = p->com[axis][k][0];
      sample[TBI_REF_COM_RATE + axis] = p->com[axis][k][1];
      sample[TBI_REF_MOTION_ZMP + axis] = p->motion_zmp[axis][k];
    }
    sample[TBI_REF_COM + 2] = walk->walker.ground + walk->com_height;
    v3_store(p->waist[k].pos, sample + TBI_REF_WAIST);
    sample[TBI_REF_WAIST + 3] = p->waist[k].yaw;
  }
  tabi_trajectory *dense = make_trajectory(p, samples, TBI_REF_COLUMNS, err);
  free(samples);
  return dense;
}

static tabi_status keep(const pattern *p, tabi_error *err) {
  tabi_walk *walk = p->walk;
  walk->joints = keep_joints(p, false, err);
  if (walk->joints) walk->torque = keep_joints(p, true, err);
  if (walk->torque) walk->reference = keep_reference(p, err);
  return walk->reference ? TABI_OK : TABI_ERR_MEMORY;
}

/* -- the walk */

static tabi_status lay_out(tabi_walk *walk, const tabi_walk_def *def, tabi_error *err) {
  const tbi_walker *walker = &walk->walker;
  tbi_plan_def plan_def = {
      .middle = {v3_load(def->place), def->yaw},
      .spacing = def->spacing > 0 ? def->spacing : walker->spacing,
      .clearance = walker->width,
      .walk = def
  };
  return tbi_plan_make(&walk->plan, &plan_def, err);
}

static tabi_status make_pattern(tabi_walk *walk, const tabi_walk_def *def, const double *posture,
                                tabi_error *err) {
  pattern p = {.walk = walk, .def = def};
  tabi_status status = TABI_ERR_ARGUMENT;
  if (allocate(&p, err)) {
    status = solve_initial_posture(&p, posture, err);
    if (status == TABI_OK) status = make_preview(&p, err);
    if (status == TABI_OK) status = generate(&p, err);
    if (status == TABI_OK) status = keep(&p, err);
  }
  release(&p);
  return status;
}

tabi_walk *tabi_walk_create(const tabi_model *model, const tabi_walk_def *def, tabi_error *err) {
  TBI_ASSERT(model && def);
  if (check(def, err) != TABI_OK) return NULL;
  tabi_walk *walk = calloc(1, sizeof *walk);
  double *posture = malloc(((size_t)tabi_model_nq(model) + 1) * sizeof *posture);
  if (!walk || !posture) {
    free(walk);
    free(posture);
    (void)tbi_error_memory(err);
    return NULL;
  }
  walk->model = model;
  tabi_model_initial_q(model, posture);
  if (def->posture) memcpy(posture, def->posture, (size_t)tabi_model_nq(model) * sizeof *posture);
  tabi_status status = tbi_walker_make(&walk->walker, model, def, posture, err);
  if (status == TABI_OK) status = lay_out(walk, def, err);
  if (status == TABI_OK) status = make_pattern(walk, def, posture, err);
  free(posture);
  if (status == TABI_OK) return walk;
  tabi_walk_destroy(walk);
  return NULL;
}

void tabi_walk_destroy(tabi_walk *walk) {
  if (!walk) return;
  tbi_walker_free(&walk->walker);
  tbi_plan_free(&walk->plan);
  tabi_trajectory_destroy(walk->joints);
  tabi_trajectory_destroy(walk->torque);
  tabi_trajectory_destroy(walk->reference);
  free(walk->initial_q);
  free(walk);
}

void tabi_walk_initial_q(const tabi_walk *walk, double *q) {
  TBI_ASSERT(walk && q);
  memcpy(q, walk->initial_q, (size_t)tabi_model_nq(walk->model) * sizeof *q);
}

double tabi_walk_duration(const tabi_walk *walk) {
  TBI_ASSERT(walk);
  return walk->plan.end;
}

const tabi_trajectory *tabi_walk_trajectory(const tabi_walk *walk) {
  TBI_ASSERT(walk);
  return walk->joints;
}

const tabi_trajectory *tabi_walk_torque(const tabi_walk *walk) {
  TBI_ASSERT(walk);
  return walk->torque;
}

tabi_walk_state tabi_walk_at(const tabi_walk *walk, double time) {
  TBI_ASSERT(walk);
  double sample[TBI_REF_COLUMNS];
  tabi_trajectory_sample(walk->reference, time, sample, NULL);
  tbi_plan_state plan = tbi_plan_at(&walk->plan, time);
  tabi_walk_state now = {.waist_yaw = sample[TBI_REF_WAIST + 3]};
  memcpy(now.com, sample + TBI_REF_COM, sizeof now.com);
  memcpy(now.com_rate, sample + TBI_REF_COM_RATE, sizeof now.com_rate);
  memcpy(now.waist, sample + TBI_REF_WAIST, sizeof now.waist);
  memcpy(now.motion_zmp, sample + TBI_REF_MOTION_ZMP, sizeof now.motion_zmp);
  memcpy(now.zmp, plan.zmp, sizeof now.zmp);
  for (int side = 0; side < 2; ++side) {
    v3_store(plan.foot[side].pos, now.foot[side]);
    now.foot_yaw[side] = plan.foot[side].yaw;
    now.lifted[side] = plan.lifted[side];
  }
  return now;
}

/* crouch.c - see crouch.h.
 *
 * Thigh t, shin s and the knee bent by b give the distance sqrt(t^2 + s^2 + 2 t s cos b) from hip
 * to ankle, and a leg that stands alone carries the robot with the torque of its weight on the
 * height h of that triangle, t s sin b over this distance, in its knee.  Unless b is given, the
 * knee bends by DEFAULT_BEND, or less where that torque would be more than KNEE_SHARE of its limit.
 *
 * The legs then reach their soles by damped Gauss-Newton over whatever joints they have,
 *
 *   (J' W J + damping) step = J' W r
 *
 * with W = 1 for positions and the square of a length for rotations: a leg of five joints leaves
 * the rotation that it lacks.  Soles go below the centre of mass, which moves with the legs: a few
 * rounds. */
#include "control/crouch.h"

#include "base/assertion.h"
#include "base/error.h"
#include "control/drive.h"
#include "math/linalg.h"

#include <stdlib.h>
#include <string.h>

enum { ROUNDS = 12, ITERATIONS = 60 };
#define DEFAULT_BEND 1.0  /* rad */
#define LEAST_BEND   0.4  /* rad, at which a step still finds some length of leg to stretch */
#define KNEE_SHARE   0.6  /* of the knee's effort limit; the rest is for what moves */
#define LIMIT_SHARE  0.8  /* of the knee's range that may be used */
#define NEAR         2e-3 /* m, how far from its place a sole may end */
#define TILT         0.05 /* rad, likewise about its pitch axis */
#define LEVER        0.3  /* m: what a radian counts */

static const tabi_place nowhere = {NULL, 0};

static v3 left_of(const tabi_biped *biped) {
  return v3_cross((v3){0, 0, 1}, v3_load(biped->front));
}

static v3 point_of(const tabi_dynamics *d, int32_t joint) {
  int32_t body = d->model->joint_body[joint];
  return v3_add(v4_to(d->body[body].pos), tbi_tree_origin(d, body));
}

static double along_left(const tabi_dynamics *d, const tabi_biped *biped, int32_t joint) {
  int32_t dof = d->model->body[d->model->joint_body[joint]].v;
  return v3_dot(v4_to(d->axis[dof].ang), left_of(biped));
}

tbi_frame tbi_crouch_sole(const tabi_dynamics *d, const tabi_leg *leg) {
  tbi_frame link = tbi_link_frame(d, leg->foot);
  tbi_frame own = tbi_frame_load(leg->pos, leg->quat);
  return tbi_frame_mul(&link, &own);
}

bool tbi_crouch_pitch_joints(const tabi_dynamics *d, const tabi_biped *biped, int side,
                             int32_t pitch[3]) {
  const tabi_leg *leg = &biped->leg[side];
  int32_t found[TABI_LEG_MAX];
  int32_t n = 0;
  for (int32_t i = 0; i < leg->njoint; ++i) {
    if (fabs(along_left(d, biped, leg->joint[i])) > 0.8) found[n++] = leg->joint[i];
  }
  if (n < 3) return false;
  double longest = 0;
  pitch[0] = found[0];
  pitch[1] = found[1];
  pitch[2] = found[n - 1];
  for (int32_t i = 1; i + 1 < n; ++i) {
    double length = v3_norm(v3_sub(point_of(d, found[i]), point_of(d, pitch[0]))) +
                    v3_norm(v3_sub(point_of(d, pitch[2]), point_of(d, found[i])));
    if (length <= longest) continue;
    longest = length;
    pitch[1] = found[i];
  }
  return true;
}

typedef struct lengths {
  double thigh, shin, ankle; /* m; the ankle over the sole */
} lengths;

static lengths measure(const tabi_dynamics *d, const tabi_biped *biped, int side) {
  int32_t pitch[3];
  tbi_frame sole = tbi_crouch_sole(d, &biped->leg[side]);
  lengths l = {0};
  if (!tbi_crouch_pitch_joints(d, biped, side, pitch)) {
    l.thigh = v3_norm(v3_sub(point_of(d, biped->leg[side].joint[0]), sole.pos));
    return l;
  }
  v3 left = left_of(biped);
  v3 part[2] = {v3_sub(point_of(d, pitch[1]), point_of(d, pitch[0])),
                v3_sub(point_of(d, pitch[2]), point_of(d, pitch[1]))};
  for (int i = 0; i < 2; ++i)
    part[i] = v3_axpy(part[i], -v3_dot(part[i], left), left);
  l.thigh = v3_norm(part[0]);
  l.shin = v3_norm(part[1]);
  v3 normal = m3_column(&sole.rot, 2);
  l.ankle = v3_dot(v3_sub(point_of(d, pitch[2]), sole.pos), normal);
  return l;
}

double tbi_crouch_reach(const tabi_dynamics *d, const tabi_biped *biped, int side) {
  lengths l = measure(d, biped, side);
  return l.thigh + l.shin + l.ankle;
}

/* -- inverse kinematics */

typedef struct crouch {
  const tabi_model *model;
  tabi_dynamics *d;
  tabi_biped *biped;
  double *q, *zero;
} crouch;

static v3 rotation_to(const m3 *from, const m3 *to) {
  v3 sum = v3_zero();
  for (int i = 0; i < 3; ++i)
    sum = v3_add(sum, v3_cross(m3_column(from, i), m3_column(to, i)));
  return v3_scale(0.5, sum);
}

static void clamp_joint(const tabi_model *model, int32_t joint, double *angle) {
  const tabi_joint_def *def = &model->joint[joint];
  if (def->type == TABI_JOINT_REVOLUTE) *angle = fmin(fmax(*angle, def->lower), def->upper);
}

/* One damped step of a leg towards a place; returns the position error before it. */
static double step_leg(crouch *c, int side, const tbi_frame *target) {
  const tabi_leg *leg = &c->biped->leg[side];
  tbi_kinematics(c->d, c->q, c->zero);
  tbi_frame sole = tbi_crouch_sole(c->d, leg);
  v3 shift = v3_sub(target->pos, sole.pos);
  v3 turn = v3_scale(LEVER, rotation_to(&sole.rot, &target->rot));
  int32_t body = c->model->joint_body[leg->joint[0]];
  v4 at = v4_from(v3_sub(sole.pos, tbi_tree_origin(c->d, body)));
  double column[TABI_LEG_MAX][6];
  double matrix[TABI_LEG_MAX][TABI_LEG_MAX];
  double step[TABI_LEG_MAX];
  const double r[6] = {shift.x, shift.y, shift.z, turn.x, turn.y, turn.z};
  for (int32_t i = 0; i < leg->njoint; ++i) {
    sv axis = c->d->axis[c->model->body[c->model->joint_body[leg->joint[i]]].v];
    v3_store(v4_to(sv_at(axis, at)), column[i]);
    v3_store(v3_scale(LEVER, v4_to(axis.ang)), column[i] + 3);
    step[i] = tbi_dot(column[i], r, 6);
    for (int32_t j = 0; j <= i; ++j)
      matrix[i][j] = tbi_dot(column[i], column[j], 6);
    matrix[i][i] += 1e-6;
  }
  tbi_cholesky(leg->njoint, matrix[0], TABI_LEG_MAX);
  tbi_cholesky_solve(leg->njoint, matrix[0], TABI_LEG_MAX, step);
  for (int32_t i = 0; i < leg->njoint; ++i) {
    double *angle = &c->q[c->model->body[c->model->joint_body[leg->joint[i]]].q];
    *angle += fmin(fmax(step[i], -0.3), 0.3);
    clamp_joint(c->model, leg->joint[i], angle);
  }
  return v3_norm(shift);
}

/* The position error that remains, and the rotation error about the left. */
static double reach_for(crouch *c, int side, const tbi_frame *target, double *tilt) {
  double error = HUGE_VAL;
  for (int i = 0; i < ITERATIONS; ++i)
    error = step_leg(c, side, target);
  tbi_kinematics(c->d, c->q, c->zero);
  tbi_frame sole = tbi_crouch_sole(c->d, &c->biped->leg[side]);
  *tilt = fabs(v3_dot(rotation_to(&sole.rot, &target->rot), left_of(c->biped)));
  return error;
}

/* Bends a leg about its three pitch joints so that thigh and shin share the angle; the way by the
 * larger side of the knee's range. */
static double bend_leg(crouch *c, int side, double bend) {
  int32_t pitch[3];
  if (!tbi_crouch_pitch_joints(c->d, c->biped, side, pitch)) return 0;
  const tabi_joint_def *knee = &c->model->joint[pitch[1]];
  double *at = &c->q[c->model->body[c->model->joint_body[pitch[1]]].q];
  double sign = along_left(c->d, c->biped, pitch[1]) > 0 ? 1 : -1;
  bool limited = knee->type == TABI_JOINT_REVOLUTE && isfinite(knee->upper - knee->lower);
  double way = !limited || sign * 0.5 * (knee->lower + knee->upper) >= -1e-9 ? 1 : -1;
  double most = limited ? LIMIT_SHARE * (sign * way > 0 ? knee->upper : -knee->lower) : bend;
  double angle = way * fmin(bend, most);
  lengths l = measure(c->d, c->biped, side);
  const double share[3] = {-l.shin / (l.thigh + l.shin), 1, -l.thigh / (l.thigh + l.shin)};
  for (int i = 0; i < 3; ++i) {
    double *joint = &c->q[c->model->body[c->model->joint_body[pitch[i]]].q];
    double turn = along_left(c->d, c->biped, pitch[i]) > 0 ? 1 : -1;
    *joint = turn * share[i] * angle;
    clamp_joint(c->model, pitch[i], joint);
  }
  return fabs(*at);
}

/* -- the posture */

static void tree_com(const tabi_dynamics *d, int32_t tree, v3 *com) {
  const tabi_model *model = d->model;
  int32_t end = tree + 1 < model->ntree ? model->tree_body[tree + 1] : model->nbody;
  v4 sum = v4_zero();
  double mass = 0;
  for (int32_t i = model->tree_body[tree]; i < end; ++i) {
    sum = v4_add(sum, d->body[i].inertia.h);
    mass += d->body[i].inertia.mass;
  }
  *com = v3_add(d->origin[tree], v4_to(v4_scale(1 / mass, sum)));
}

/* Puts both soles below the waist and the CoM; returns the larger error. */
static double place_soles(crouch *c, double height, double *tilt) {
  const tabi_biped *b = c->biped;
  v3 forward = v3_load(b->front);
  v3 left = left_of(b);
  const m3 axes = m3_from_columns(forward, left, (v3){0, 0, 1});
  int32_t tree = c->model->body[c->model->joint_body[b->base]].tree;
  double ahead = 0;
  double error = 0;
  for (int round = 0; round < ROUNDS; ++round) {
    v3 hip[2] = {point_of(c->d, b->leg[0].joint[0]), point_of(c->d, b->leg[1].joint[0])};
    v3 middle = v3_scale(0.5, v3_add(hip[0], hip[1]));
    error = *tilt = 0;
    for (int i = 0; i < 2; ++i) {
      double own = 0;
      v3 place = v3_axpy(v3_axpy(middle, ahead, forward), (i == 0 ? 0.5 : -0.5) * b->spacing, left);
      place.z = middle.z - height;
      error = fmax(error, reach_for(c, i, &(tbi_frame){axes, place}, &own));
      *tilt = fmax(*tilt, own);
    }
    v3 com;
    tree_com(c->d, tree, &com);
    ahead += 0.8 * (v3_dot(v3_sub(com, middle), forward) - ahead);
  }
  return error;
}

/* Moves the base so that the lower sole is on the ground. */
static void lower_base(crouch *c, double ground) {
  tbi_kinematics(c->d, c->q, c->zero);
  double low = HUGE_VAL;
  for (int i = 0; i < 2; ++i)
    low = fmin(low, tbi_crouch_sole(c->d, &c->biped->leg[i]).pos.z);
  int32_t base = c->model->joint_body[c->biped->base];
  v3 down = m3_tmulv(&c->model->body[base].place.rot, (v3){0, 0, ground - low});
  double *pos = c->q + c->model->body[base].q;
  v3_store(v3_add(v3_load(pos), down), pos);
}

/* The bend at which h, the lever of the weight on the knee, is what its effort limit allows. */
static double bend_for_effort(const crouch *c, int side) {
  int32_t pitch[3];
  double weight = c->biped->mass * v3_norm(v3_load(c->model->gravity));
  if (!tbi_crouch_pitch_joints(c->d, c->biped, side, pitch)) return DEFAULT_BEND;
  double h = KNEE_SHARE * tbi_drive_effort(c->model, pitch[1]) / weight;
  lengths l = measure(c->d, c->biped, side);
  double t = l.thigh;
  double s = l.shin;
  if (!(h < t && h < s)) return DEFAULT_BEND;
  double bend = acos((sqrt((t * t - h * h) * (s * s - h * h)) - h * h) / (t * s));
  return fmin(fmax(bend, LEAST_BEND), DEFAULT_BEND);
}

static double default_bend(crouch *c) {
  tbi_kinematics(c->d, c->q, c->zero);
  return fmin(bend_for_effort(c, 0), bend_for_effort(c, 1));
}

static tabi_status stand(crouch *c, double bend, double ground, tabi_error *err) {
  tabi_biped *b = c->biped;
  double height = HUGE_VAL;
  tbi_kinematics(c->d, c->q, c->zero);
  for (int i = 0; i < 2; ++i) {
    lengths l = measure(c->d, b, i);
    int32_t pitch[3];
    bool knee = tbi_crouch_pitch_joints(c->d, b, i, pitch);
    v3 top = point_of(c->d, b->leg[i].joint[0]);
    double above = knee ? top.z - point_of(c->d, pitch[0]).z : 0;
    b->leg[i].knee_bend = bend_leg(c, i, bend);
    double bent = sqrt(l.thigh * l.thigh + l.shin * l.shin +
                       2 * l.thigh * l.shin * cos(fmin(b->leg[i].knee_bend, bend)));
    height = fmin(height, above + l.ankle + (knee ? bent : 0.95 * l.thigh));
  }
  double tilt = 0;
  double error = place_soles(c, height, &tilt);
  lower_base(c, ground);
  if (error <= NEAR && tilt <= TILT) return TABI_OK;
  return tbi_error_set(
      err, TABI_ERR_MODEL, nowhere,
      "with %.2f m from hip to ground the soles stay %.1f mm and %.1f degrees off "
      "their places: the legs' limits are too narrow to bend the knees by %.2f rad",
      height, 1e3 * error, tilt * 57.29578, bend);
}

tabi_status tabi_biped_stand(const tabi_model *model, tabi_biped *biped, double bend, double ground,
                             double *q, tabi_error *err) {
  TBI_ASSERT(model && biped && q && bend >= 0);
  crouch c = {.model = model, .biped = biped, .d = tabi_dynamics_create(model, err)};
  c.q = q;
  if (!c.d) return TABI_ERR_MODEL;
  c.zero = calloc((size_t)model->nv + 1, sizeof *c.zero);
  tabi_status status =
      c.zero ? stand(&c, bend > 0 ? bend : default_bend(&c), ground, err) : tbi_error_memory(err);
  free(c.zero);
  tabi_dynamics_destroy(c.d);
  return status;
}

/* stepper_limits.c - what steps a robot makes: tunings that follow from its size, its soles, and
 * the limits of its joints (docs/balance.md has them as a table). */
#include "control/stepper.h"

#define ANKLE_SHARE 0.9  /* of the effort limit of an ankle that balance may ask for */
#define RATE_SHARE  0.95 /* of velocity limits that the longest steps may need */
#define LONG_STEP   0.3  /* of the leg, that a command can ask for at least where T allows */

/* Angle that the ankle can roll: of the leg's joints behind the knee, the one about the front. */
static double ankle_roll(const tabi_stepper *s) {
  const tabi_leg *leg = &s->biped.leg[0];
  const tbi_balance *b = &s->balance;
  v3 front = m3_column(&b->at[0].frame.rot, 0);
  double most = 0.3;
  for (int32_t i = leg->njoint / 2; i < leg->njoint; ++i) {
    const tabi_joint_def *joint = &s->model->joint[leg->joint[i]];
    int32_t dof = s->model->body[s->model->joint_body[leg->joint[i]]].v;
    double along = fabs(v3_dot(v4_to(b->d->axis[dof].ang), front));
    if (along > 0.8 && joint->type == TABI_JOINT_REVOLUTE)
      most = tbi_min(0.6, tbi_min(-joint->lower, joint->upper));
  }
  return tbi_max(most, 0.1);
}

/* rad/s, the lowest velocity limit of the joints that swing a leg forward. */
static double slowest_joint(const tabi_stepper *s) {
  const tbi_balance *b = &s->balance;
  v3 left = m3_column(&b->at[0].frame.rot, 1);
  double slowest = HUGE_VAL;
  for (int32_t i = 0; i < s->biped.leg[0].njoint; ++i) {
    int32_t joint = s->biped.leg[0].joint[i];
    int32_t dof = s->model->body[s->model->joint_body[joint]].v;
    double limit = s->model->joint[joint].velocity;
    if (fabs(v3_dot(v4_to(b->d->axis[dof].ang), left)) < 0.8) continue;
    if (limit > 0) slowest = tbi_min(slowest, limit);
  }
  return slowest;
}

/* How far from the ankle, along the sole, its effort limit lets the centre of pressure go that
 * carries a share of the weight. */
static void ankle_range(const tabi_stepper *s, int side, double share, double range[2]) {
  const tabi_leg *leg = &s->biped.leg[side];
  const tbi_balance *b = &s->balance;
  const tbi_frame *sole = &b->at[side].frame;
  range[0] = -HUGE_VAL;
  range[1] = HUGE_VAL;
  for (int32_t i = leg->njoint / 2; i < leg->njoint; ++i) {
    const tbi_body *body = &s->model->body[s->model->joint_body[leg->joint[i]]];
    double along = fabs(v3_dot(v4_to(b->d->axis[body->v].ang), m3_column(&sole->rot, 1)));
    double effort = tbi_drive_effort(s->model, leg->joint[i]);
    if (along < 0.8 || !isfinite(effort)) continue;
    v3 ankle =
        v3_add(v4_to(b->d->body[s->model->joint_body[leg->joint[i]]].pos), b->d->origin[b->tree]);
    double at = v3_dot(v3_sub(ankle, sole->pos), m3_column(&sole->rot, 0));
    double lever = ANKLE_SHARE * effort / (share * b->mass * b->gravity);
    range[0] = at - lever;
    range[1] = at + lever;
  }
}

/* The outline of a sole less a margin, and what the ankle can hold. */
static void set_outline(tabi_stepper *s, int side, double z) {
  const tabi_leg *leg = &s->biped.leg[side];
  double range[2];
  double own = tbi_max(0.1 * leg->width, 0.008 * z);
  const double size[2] = {tbi_max(leg->length, 1e-3), tbi_max(leg->width, 1e-3)};
  const double margin[2] = {tbi_min(own + 0.05 * size[0], 0.4 * size[0]),
                            tbi_min(own, 0.4 * size[1])};
  for (int both = 1; both >= 0; --both) {
    ankle_range(s, side, both ? 0.5 : 1, range);
    for (int32_t i = 0; i < leg->ncorner; ++i) {
      double *to = s->corner[both][side][i];
      for (int k = 0; k < 2; ++k)
        to[k] = leg->corner[i][k] * (1 - 2 * margin[k] / size[k]);
      to[0] = tbi_min(tbi_max(to[0], range[0]), range[1]);
    }
  }
  double front = tbi_min(0.5 * size[0] - margin[0], range[1]);
  double back = tbi_min(0.5 * size[0] - margin[0], -range[0]);
  s->limits.half[0] = tbi_min(s->limits.half[0], tbi_max(tbi_min(front, back), 0.1 * size[0]));
  s->limits.half[1] = tbi_min(s->limits.half[1], 0.5 * size[1] - margin[1]);
}

/* A leg swings about its hip: with the centre of pressure held, a mass m_i at height y_i, which has
 * the share 1 - y_i / y_hip of the foot's acceleration, accelerates the CoM at height z by the
 * share m_i / m (1 - y_i / z) of its own. */
static double swing_reaction(const tabi_stepper *s, double z) {
  const tbi_balance *b = &s->balance;
  double ground = b->at[0].frame.pos.z - b->d->origin[b->tree].z;
  double hip = v4_z(b->d->body[b->hip[0]].pos) - ground;
  double sum = 0;
  for (int32_t i = 0; i < s->biped.leg[0].njoint; ++i) {
    const body_inertia *own = &b->d->body[s->model->joint_body[s->biped.leg[0].joint[i]]].inertia;
    if (!(own->mass > 0)) continue;
    double y = v4_z(own->h) / own->mass - ground;
    sum += own->mass * tbi_max(1 - y / hip, 0) * tbi_max(1 - y / z, 0);
  }
  return sum / b->mass;
}

void tbi_stepper_set_limits(tabi_stepper *s) {
  tbi_balance *b = &s->balance;
  tbi_step_limits *l = &s->limits;
  double z = b->com.z - 0.5 * (b->at[0].frame.pos.z + b->at[1].frame.pos.z);
  double reach = 0.5 * (s->biped.leg[0].reach + s->biped.leg[1].reach);
  double width = tbi_max(s->biped.leg[0].width, s->biped.leg[1].width);
  double omega = sqrt(b->gravity / z);
  double fastest = RATE_SHARE * slowest_joint(s);
  /* rad/s, of hips and knees: 0.55 / T to lift the foot, 3.75 / T for a stride of one leg */
  double swing = tbi_max(1.15 / omega, (0.55 + 3.75 * LONG_STEP) / fastest);
  swing = tbi_min(swing, 1.9 / omega);
  double stride = tbi_min(tbi_max((fastest * swing - 0.55) / 3.75, 0.1), 0.35);
  b->size = z;
  tbi_balance_measure_legs(b, &s->biped);
  s->stretch = tbi_max(tbi_balance_stretch(b, 0), tbi_balance_stretch(b, 1));
  *l = (tbi_step_limits){
      .omega = omega,
      .swing_time = swing,
      .double_support = 0.18 / omega,
      .min_time = 0.65 * swing,
      .max_time = 1.9 * swing,
      .spacing = s->biped.spacing,
      .min_spacing = tbi_min(width + 0.03 * reach, s->biped.spacing),
      .max_spacing = s->biped.spacing + reach * tan(ankle_roll(s)),
      .max_stride = 0.75 * reach,
      .speed = omega * reach,
      .acceleration = 4.5 * b->gravity,
      .reach = reach,
  };
  l->reaction = swing_reaction(s, z);
  l->half[0] = l->half[1] = HUGE_VAL;
  for (int side = 0; side < 2; ++side)
    set_outline(s, side, z);
  s->foot_rate = 6 * omega;
  s->waist_rate = 2 * omega;
  double t = l->swing_time + l->double_support;
  s->said = (tabi_stepper_limits){
      .height = z,
      .omega = omega,
      .step_time = t,
      .lift = 0.045 * z,
      .velocity = {stride * reach / t, 0.25 * (l->max_spacing - l->min_spacing) / t, 0.3 / t},
      .stride = l->max_stride,
      .spacing = {l->min_spacing,                  l->max_spacing                                                },
  };
}

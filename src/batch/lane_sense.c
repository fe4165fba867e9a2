/* lane_sense.c - readings of one world of a group: a few numbers, made one by one, as
 * world/sensor_truth.c makes them.  Forces and accelerations are means over the step, at the
 * posture of its start; positions and rates are those after it. */
#include "batch/lane_sense.h"

#include "base/assertion.h"
#include "base/random.h"
#include "math/trig.h"
#include "model/model.h"

#include <math.h>

/* number i of an array, in one lane */
static double at(const tbi_lane_work *w, const double *array, int64_t i, int32_t lane) {
  return array[i * w->lanes + lane];
}

static v3 at3(const tbi_lane_work *w, const double *array, int64_t i, int32_t lane) {
  return v3_make(at(w, array, i, lane), at(w, array, i + 1, lane), at(w, array, i + 2, lane));
}

/* A body at the start of the step. */
typedef struct pose {
  m3 rot;
  v3 pos;                        /* from the origin of its tree */
  v3 lin, ang, acc_lin, acc_ang; /* accelerations minus gravity */
} pose;

static pose pose_of(const tbi_lane_work *w, int32_t place, int32_t lane) {
  TBI_ASSERT(w->plan->body[place].keeps_pose);
  int64_t from = 24 * (int64_t)place;
  double per_s = 1 / w->plan->h;
  v3 gain_lin = at3(w, w->gain, 6 * (int64_t)place, lane);
  v3 gain_ang = at3(w, w->gain, 6 * (int64_t)place + 3, lane);
  return (pose){
      .rot = m3_from_columns(at3(w, w->kept, from, lane), at3(w, w->kept, from + 3, lane),
                             at3(w, w->kept, from + 6, lane)),
      .pos = at3(w, w->kept, from + 9, lane),
      .lin = at3(w, w->kept, from + 12, lane),
      .ang = at3(w, w->kept, from + 15, lane),
      .acc_lin = v3_axpy(at3(w, w->kept, from + 18, lane), per_s, gain_lin),
      .acc_ang = v3_axpy(at3(w, w->kept, from + 21, lane), per_s, gain_ang),
  };
}

static int32_t link_of_shape(const tabi_model *model, int32_t shape) {
  return model->shape[shape].link;
}

/* -- contacts */

/* N s or N m s in the frame of each slot; world axes, on b */
static v3 impulse_of(const tbi_lane_work *w, const double *impulse, int32_t slot, int32_t lane) {
  const double *record = w->slot + (ptrdiff_t)TBI_SLOT_SIZE * slot * w->lanes;
  v3 sum = v3_zero();
  for (int i = 0; i < 3; ++i) {
    v3 axis = at3(w, record, TBI_SLOT_FRAME + 3 * i, lane);
    sum = v3_axpy(sum, at(w, impulse, 3 * (int64_t)slot + i, lane), axis);
  }
  return sum;
}

/* whether a slot pushes a link, and on which side */
static double side_on(const tbi_lane_work *w, int32_t slot, int32_t link, int32_t lane) {
  const tabi_model *model = w->plan->model;
  const tbi_plan_slot *s = &w->plan->slot[slot];
  if (!(at(w, w->impulse, 3 * (int64_t)slot, lane) > 0)) return 0;
  if (link_of_shape(model, s->shape_b) == link) return 1;
  return s->body_a != TABI_WORLD && link_of_shape(model, s->shape_a) == link ? -1 : 0;
}

void tbi_lane_foot(const tbi_lane_work *w, int32_t link, int32_t lane, double six[6]) {
  const tbi_link_home *home = &w->plan->model->link_home[link];
  v3 force = v3_zero();
  v3 torque = v3_zero();
  v3 origin = v3_zero();
  if (home->body != TABI_WORLD) {
    pose body = pose_of(w, w->plan->place[home->body], lane);
    origin = v3_add(body.pos, m3_mulv(&body.rot, home->frame.pos));
  }
  for (int32_t i = 0; i < w->nheld; ++i) {
    double side = side_on(w, w->held[i], link, lane);
    if (side == 0) continue;
    const double *record = w->slot + (ptrdiff_t)TBI_SLOT_SIZE * w->held[i] * w->lanes;
    double per_s = side / w->plan->h;
    v3 f = v3_scale(per_s, impulse_of(w, w->impulse, w->held[i], lane));
    if (w->plan->nroll > 0)
      torque = v3_axpy(torque, per_s, impulse_of(w, w->roll_impulse, w->held[i], lane));
    v3 arm = at3(w, record, side > 0 ? TBI_SLOT_ARM_B : TBI_SLOT_ARM_A, lane);
    force = v3_add(force, f);
    torque = v3_add(torque, v3_cross(v3_sub(arm, origin), f));
  }
  v3_store(force, six);
  v3_store(torque, six + 3);
}

static void read_contact(const tbi_lane_work *w, int32_t link, int32_t lane, double *value) {
  double sum = 0;
  for (int32_t i = 0; i < w->nheld; ++i)
    if (side_on(w, w->held[i], link, lane) != 0)
      sum += at(w, w->impulse, 3 * (int64_t)w->held[i], lane) / w->plan->h;
  value[0] = sum > 0 ? 1 : 0;
  value[1] = sum;
}

/* -- motion */

/* the turn of a joint, and its angular velocity in the axes of the child */
static m3 joint_turn(const tbi_lane_work *w, const tbi_plan_body *b, int32_t lane, v3 *rate) {
  double sine = 0;
  double cosine = 1;
  double angle = 0;
  *rate = v3_zero();
  switch (b->type) {
  case TABI_JOINT_BALL:
  case TABI_JOINT_FREE: {
    int32_t q = b->q + (b->type == TABI_JOINT_FREE ? 3 : 0);
    m3 turn = q_matrix((q4){at(w, w->q, q, lane), at(w, w->q, q + 1, lane),
                            at(w, w->q, q + 2, lane), at(w, w->q, q + 3, lane)});
    *rate = at3(w, w->v, b->v + (b->type == TABI_JOINT_FREE ? 3 : 0), lane);
    if (b->type == TABI_JOINT_FREE) *rate = m3_tmulv(&turn, *rate);
    return turn;
  }
  case TABI_JOINT_PRISMATIC:
    return m3_identity();
  default: {
    int32_t last = b->nv - 1; /* of planar joints the angle is the last */
    angle = at(w, w->q, b->q + last, lane);
    rate->z = at(w, w->v, b->v + last, lane);
    tbi_sincos(1, &angle, &sine, &cosine);
    return (m3){
        {{cosine, -sine, 0}, {sine, cosine, 0}, {0, 0, 1}}
    };
  }
  }
}

/* rad/s, of a body after the step, in its own axes: what each joint up to the root adds */
static v3 spin_after(const tbi_lane_work *w, int32_t place, int32_t lane) {
  const tbi_plan *p = w->plan;
  m3 down = m3_identity(); /* from the axes of the joint's child to those of the body */
  v3 sum = v3_zero();
  for (int32_t body = p->body[place].body; body != TABI_WORLD; body = p->model->body[body].parent) {
    const tbi_plan_body *b = &p->body[p->place[body]];
    v3 rate;
    m3 turn = joint_turn(w, b, lane, &rate);
    const m3 fixed = m3_from_columns(v3_load(b->rot), v3_load(b->rot + 3), v3_load(b->rot + 6));
    m3 whole = m3_mul(&fixed, &turn);
    m3 back = m3_transpose(&whole);
    sum = v3_add(sum, m3_mulv(&down, rate));
    down = m3_mul(&down, &back);
  }
  return sum;
}

static m3 sensor_axes(const tbi_lane_work *w, const tabi_sensor_def *def) {
  m3 own = q_matrix(q_load(def->quat));
  return m3_mul(&w->plan->model->link_home[def->link].frame.rot, &own);
}

static void read_gyro(const tbi_lane_work *w, const tabi_sensor_def *def, int32_t lane,
                      double *value) {
  int32_t body = w->plan->model->link_home[def->link].body;
  m3 axes = sensor_axes(w, def);
  v3 spin = body == TABI_WORLD ? v3_zero() : spin_after(w, w->plan->place[body], lane);
  v3_store(m3_tmulv(&axes, spin), value);
}

static void read_accelerometer(const tbi_lane_work *w, const tabi_sensor_def *def, int32_t lane,
                               double *value) {
  const tbi_link_home *home = &w->plan->model->link_home[def->link];
  m3 axes = sensor_axes(w, def);
  v3 sum = v3_neg(at3(w, w->gravity, 0, lane));
  if (home->body != TABI_WORLD) {
    pose body = pose_of(w, w->plan->place[home->body], lane);
    v3 local = v3_add(home->frame.pos, m3_mulv(&home->frame.rot, v3_load(def->pos)));
    v3 arm = v3_add(body.pos, m3_mulv(&body.rot, local));
    v3 velocity = v3_add(body.lin, v3_cross(body.ang, arm));
    sum = v3_add(v3_add(body.acc_lin, v3_cross(body.acc_ang, arm)), v3_cross(body.ang, velocity));
    axes = m3_mul(&body.rot, &axes);
  }
  v3_store(m3_tmulv(&axes, sum), value);
}

static int32_t dof_of(const tabi_model *model, int32_t joint) {
  int32_t body = model->joint_body[joint];
  return body == TABI_NONE ? TABI_NONE : model->body[body].v;
}

/* -- readings */

/* normal distribution, by Box and Muller */
static double gauss(uint64_t *random) {
  double radius = sqrt(-2 * log(1 - tbi_random_unit(random)));
  return radius * cos(6.283185307179586 * tbi_random_unit(random));
}

/* noise is added, then the value is rounded and cut to its range */
static void spoil(const tabi_sensor_def *def, uint64_t *random, double *value) {
  for (int32_t k = 0; k < tabi_sensor_type_size(def->type); ++k) {
    double step = def->resolution[k];
    if (def->noise[k] > 0) value[k] += def->noise[k] * gauss(random);
    if (step > 0) value[k] = step * round(value[k] / step);
    value[k] = fmin(fmax(value[k], -def->range[k]), def->range[k]);
  }
}

void tbi_lane_sensors(const tbi_lane_work *w, int32_t lane, uint64_t random, double *value) {
  const tabi_model *model = w->plan->model;
  for (int32_t i = 0; i < model->nsensor; ++i) {
    const tabi_sensor_def *def = &model->sensor[i];
    int32_t dof = TABI_NONE;
    switch (def->type) {
    case TABI_SENSOR_ENCODER:
      dof = dof_of(model, def->joint);
      value[0] = dof == TABI_NONE ? 0 : at(w, w->q, model->dof_q[dof], lane);
      break;
    case TABI_SENSOR_JOINT_TORQUE:
      dof = dof_of(model, def->joint);
      value[0] = dof == TABI_NONE ? 0 : at(w, w->applied, dof, lane);
      break;
    case TABI_SENSOR_GYRO:
      read_gyro(w, def, lane, value);
      break;
    case TABI_SENSOR_ACCELEROMETER:
      read_accelerometer(w, def, lane, value);
      break;
    default:
      read_contact(w, def->link, lane, value);
    }
    spoil(def, &random, value);
    value += tabi_sensor_type_size(def->type);
  }
}

/* -- what a plan must keep */

const char *tbi_lane_sensor_refusal(const tabi_sensor_def *def) {
  bool known = def->type == TABI_SENSOR_ENCODER || def->type == TABI_SENSOR_JOINT_TORQUE ||
               def->type == TABI_SENSOR_GYRO || def->type == TABI_SENSOR_ACCELEROMETER ||
               def->type == TABI_SENSOR_CONTACT;
  if (!known) return "a sensor of forces through joints, pressure or ZMP";
  return def->delay > 0 ? "a sensor has a delay" : NULL;
}

static void keep(tbi_plan *p, int32_t link) {
  int32_t body = p->model->link_home[link].body;
  if (body != TABI_WORLD) p->body[p->place[body]].keeps_pose = true;
}

void tbi_lane_sense_plan(tbi_plan *p, const int32_t *foot, int32_t nfoot) {
  for (int32_t i = 0; i < nfoot; ++i)
    keep(p, foot[i]);
  for (int32_t i = 0; i < p->model->nsensor; ++i)
    if (p->model->sensor[i].type == TABI_SENSOR_ACCELEROMETER) keep(p, p->model->sensor[i].link);
}

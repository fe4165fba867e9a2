/* lane_sense.c - readings of one world of a group: a few numbers, made one by one, as
 * world/sensor_truth.c makes them.  Forces and accelerations are means over the step, at the
 * posture of its start; positions and rates are those after it. */
#include "batch/lane_sense.h"

#include "base/random.h"
#include "batch/lane_feel.h"
#include "batch/lane_read.h"
#include "math/trig.h"

#include <math.h>
#include <string.h>

#define MAX_DELAY 1000000 /* steps, as world/sensors.c */

static double at(const tbi_lane_work *w, const double *array, int64_t i, int32_t lane) {
  return tbi_lane_at(w, array, i, lane);
}

static v3 at3(const tbi_lane_work *w, const double *array, int64_t i, int32_t lane) {
  return tbi_lane_at3(w, array, i, lane);
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
  int32_t place = home->body == TABI_WORLD ? TABI_WORLD : w->plan->place[home->body];
  tbi_lane_pose body = tbi_lane_pose_of(w, place, lane);
  v3 local = v3_add(home->frame.pos, m3_mulv(&home->frame.rot, v3_load(def->pos)));
  v3 arm = v3_add(body.pos, m3_mulv(&body.rot, local));
  m3 own = sensor_axes(w, def);
  m3 axes = m3_mul(&body.rot, &own);
  v3_store(m3_tmulv(&axes, tbi_lane_acceleration(&body, arm)), value);
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

/* the state alone, as it is now */
static void read_state(const tbi_lane_work *w, const tabi_sensor_def *def, int32_t lane,
                       double *value) {
  const tabi_model *model = w->plan->model;
  memset(value, 0, sizeof *value * (size_t)tabi_sensor_type_size(def->type));
  if (def->type == TABI_SENSOR_GYRO) read_gyro(w, def, lane, value);
  if (def->type != TABI_SENSOR_ENCODER) return;
  /* a joint that was locked stands where it was */
  int32_t dof = dof_of(model, def->joint);
  value[0] = dof == TABI_NONE ? model->joint[def->joint].initial_q[0]
                              : at(w, w->q, model->dof_q[dof], lane);
}

static void read_step(const tbi_lane_work *w, const tabi_sensor_def *def, int32_t lane,
                      double *value) {
  int32_t dof;
  switch (def->type) {
  case TABI_SENSOR_JOINT_TORQUE:
    dof = dof_of(w->plan->model, def->joint);
    value[0] = dof == TABI_NONE ? 0 : at(w, w->applied, dof, lane);
    break;
  case TABI_SENSOR_ACCELEROMETER:
    read_accelerometer(w, def, lane, value);
    break;
  case TABI_SENSOR_FORCE_TORQUE:
    tbi_lane_feel_joint(w, def, lane, value);
    break;
  case TABI_SENSOR_CONTACT:
    tbi_lane_feel_contact(w, def->link, lane, value);
    break;
  case TABI_SENSOR_PRESSURE_CENTRE:
    tbi_lane_feel_pressure(w, def, lane, value);
    break;
  case TABI_SENSOR_ZMP:
    tbi_lane_feel_zmp(w, def->link, lane, value);
    break;
  default:
    read_state(w, def, lane, value);
  }
}

void tbi_lane_sensors(const tbi_lane_work *w, int32_t lane, uint64_t random, bool stepped,
                      double *value) {
  const tabi_model *model = w->plan->model;
  for (int32_t i = 0; i < model->nsensor; ++i) {
    const tabi_sensor_def *def = &model->sensor[i];
    if (stepped) {
      read_step(w, def, lane, value);
    } else {
      read_state(w, def, lane, value);
    }
    spoil(def, &random, value);
    value += tabi_sensor_type_size(def->type);
  }
}

/* -- delays: a ring of readings for each sensor that has one, as world/sensors.c */

static int64_t ring_of(const tabi_sensor_def *def, double h) {
  return 1 + (int64_t)fmin(round(def->delay / h), MAX_DELAY);
}

int64_t tbi_lane_late(const tabi_model *model, double h) {
  int64_t late = 0;
  for (int32_t i = 0; i < model->nsensor; ++i) {
    int64_t length = ring_of(&model->sensor[i], h);
    if (length > 1) late += length * tabi_sensor_type_size(model->sensor[i].type);
  }
  return late;
}

void tbi_lane_delay(const tbi_plan *p, int64_t step, double *ring, double *value) {
  for (int32_t i = 0; i < p->model->nsensor; ++i) {
    const tabi_sensor_def *def = &p->model->sensor[i];
    int32_t size = tabi_sensor_type_size(def->type);
    int64_t length = ring_of(def, p->h);
    size_t bytes = sizeof *value * (size_t)size;
    for (int64_t k = 0; step == 0 && length > 1 && k < length; ++k)
      memcpy(ring + k * size, value, bytes);
    if (length > 1) {
      memcpy(ring + step % length * size, value, bytes);
      memcpy(value, ring + (step + 1) % length * size, bytes);
      ring += length * size;
    }
    value += size;
  }
}

/* -- what a plan must keep */

const char *tbi_lane_sensor_refusal(const tabi_model *model, const tabi_sensor_def *def,
                                    bool heavy) {
  bool inside = def->type == TABI_SENSOR_FORCE_TORQUE && tbi_lane_feels_inside(model, def->joint);
  return heavy && inside ? "a force sensor parts a body whose mass varies" : NULL;
}

static void keep(tbi_plan *p, int32_t link) {
  int32_t body = link == TABI_WORLD ? TABI_WORLD : p->model->link_home[link].body;
  if (body != TABI_WORLD) p->body[p->place[body]].keeps_pose = true;
}

void tbi_lane_sense_plan(tbi_plan *p, const int32_t *foot, int32_t nfoot) {
  for (int32_t i = 0; i < nfoot; ++i)
    keep(p, foot[i]);
  for (int32_t i = 0; i < p->model->nsensor; ++i) {
    const tabi_sensor_def *def = &p->model->sensor[i];
    if (def->type == TABI_SENSOR_ACCELEROMETER || def->type == TABI_SENSOR_PRESSURE_CENTRE)
      keep(p, def->link);
    if (def->type == TABI_SENSOR_FORCE_TORQUE)
      tbi_lane_feel_plan(p, p->model->joint[def->joint].child);
  }
}

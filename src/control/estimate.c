/* estimate.c - see estimate.h.
 *
 * Attitude: the gyro, corrected in 2 s towards the direction of gravity, which is what remains of
 * the accelerometer's reading without the acceleration that was asked for, by no more than an error
 * of 0.03 rad would: a push is an acceleration that nobody asked for.  Joints: encoders, and their
 * differences with a lag of 2 ms.  Base: the accelerometer is integrated; the velocity returns in
 * 50 ms, and the position in 20 ms, to those with which the soles that stand are still. A foot is
 * anchored where it lands, so nothing else is known of the ground.
 *
 * All this was so a delay d ago.  The state now follows by q + d v + d^2 a / 2 and v + d a, with
 * the accelerations a that were asked for since: the stiff servo of a joint that turns with 3 rad/s
 * would else answer the 6 mrad by which it is 2 ms late. */
#include "control/estimate.h"

#include "base/assertion.h"

#include <string.h>

#define ATTITUDE_TIME 2.0  /* s */
#define ATTITUDE_STEP 0.03 /* rad: what is farther off is no error, but a push */
#define RATE_LAG      2e-3
#define VELOCITY_TIME 0.05
#define POSITION_TIME 0.02
#define LEVEL         0.02 /* of the CoM's height: steps of less are taken for level ground */
#define LEAST_LOAD    0.05 /* share of the weight, of a foot that tells where the robot is */

static const tbi_body *base_of(const tbi_estimator *e) { return &e->model->body[e->base]; }

/* From what the robot was last told to be. */
static void start(const tbi_estimator *e, tbi_estimate *now, const double *q, const double *v) {
  const tbi_body *base = base_of(e);
  m3 own = q_matrix(q_load(q + base->q + 3));
  now->rot = m3_mul(&base->place.rot, &own);
  now->pos =
      v3_add(e->model->tree_place[base->tree], m3_mulv(&base->place.rot, v3_load(q + base->q)));
  now->vel = m3_mulv(&base->place.rot, v3_load(v + base->v));
  now->started = true;
}

static void read_joints(const tbi_estimator *e, const tabi_world *world, bool first,
                        double timestep, double *q, double *v) {
  double share = timestep / (RATE_LAG + timestep);
  for (int32_t i = 0; i < e->model->nbody; ++i) {
    const tbi_body *body = &e->model->body[i];
    int32_t encoder = body->nv == 1 ? e->encoder[body->joint] : TABI_NONE;
    if (encoder == TABI_NONE) continue;
    double angle = *tbi_world_reading(world, encoder);
    double rate = first ? 0 : (angle - q[body->q]) / timestep;
    v[body->v] += share * (rate - v[body->v]);
    q[body->q] = angle;
  }
}

/* Integrates gyro and accelerometer; returns the angular velocity, world. */
static v3 integrate(const tbi_estimator *e, tbi_estimate *now, const tabi_world *world, v3 push,
                    double timestep) {
  v3 rate = v3_load(tbi_world_reading(world, e->gyro));
  v3 specific = v3_load(tbi_world_reading(world, e->accelerometer));
  m3 turn = q_matrix(q_exp(v3_scale(timestep, rate)));
  now->rot = m3_mul(&now->rot, &turn);
  v3 force = m3_mulv(&now->rot, specific);
  v3 up = v3_sub(force, push);
  double size = v3_norm(up);
  if (size > 0) {
    v3 off = v3_cross(v3_scale(1 / size, up), (v3){0, 0, 1});
    double most = tbi_max(v3_norm(off) / ATTITUDE_STEP, 1);
    m3 back = q_matrix(q_exp(v3_scale(timestep / (ATTITUDE_TIME * most), off)));
    now->rot = m3_mul(&back, &now->rot);
  }
  if (v3_norm(specific) > 0)
    now->vel = v3_axpy(now->vel, timestep, v3_add(force, v3_load(e->model->gravity)));
  now->pos = v3_axpy(now->pos, timestep, now->vel);
  return m3_mulv(&now->rot, rate);
}

static void write_base(const tbi_estimator *e, const tbi_estimate *now, v3 rate, double *q,
                       double *v) {
  const tbi_body *base = base_of(e);
  m3 back = m3_transpose(&base->place.rot);
  m3 own = m3_mul(&back, &now->rot);
  v3 from = v3_sub(now->pos, e->model->tree_place[base->tree]);
  v3_store(m3_mulv(&back, from), q + base->q);
  q_store(q_from_matrix(&own), q + base->q + 3);
  v3_store(m3_mulv(&back, now->vel), v + base->v);
  v3_store(m3_mulv(&back, rate), v + base->v + 3);
}

/* The ground's force on a foot: the sensor measures that of the leg. */
static double load_of(const tbi_estimator *e, const tbi_balance *b, const tabi_world *world,
                      int side) {
  v3 force = v3_load(tbi_world_reading(world, e->force[side]));
  int32_t link = e->model->joint[e->model->body[e->ankle[side]].joint].child;
  tbi_frame frame = tbi_link_frame(b->d, link);
  return e->below[side] * b->gravity - m3_mulv(&frame.rot, force).z;
}

/* Moves the base so that the soles that stand are where they were, and still. */
static void correct(tbi_estimate *now, const tbi_balance *b, const double load[2],
                    double timestep) {
  double weight[2];
  for (int side = 0; side < 2; ++side) {
    double least = LEAST_LOAD * b->mass * b->gravity;
    weight[side] = now->stands[side] ? tbi_max(load[side] - least, 0) : 0;
  }
  double sum = weight[0] + weight[1];
  if (!(sum > 0)) return;
  for (int side = 0; side < 2; ++side) {
    double share = weight[side] / sum;
    v3 off = v3_sub(now->anchor[side], b->at[side].frame.pos);
    now->pos = v3_axpy(now->pos, share * timestep / (POSITION_TIME + timestep), off);
    now->vel =
        v3_axpy(now->vel, -share * timestep / (VELOCITY_TIME + timestep), b->at[side].velocity);
  }
}

void tbi_estimate_update(const tbi_estimator *e, tbi_estimate *now, const tabi_world *world,
                         tbi_balance *b, double timestep, tbi_seen *seen) {
  TBI_ASSERT(e->encoder && timestep > 0);
  bool first = !now->started;
  v3 push = m3_mulv(&base_of(e)->place.rot, v3_load(seen->asked + base_of(e)->v));
  if (first) start(e, now, seen->q, seen->v);
  read_joints(e, world, first, timestep, seen->q, seen->v);
  v3 rate = integrate(e, now, world, push, timestep);
  write_base(e, now, rate, seen->q, seen->v);
  tbi_balance_set(b, seen->q, seen->v);
  for (int side = 0; side < 2; ++side) {
    seen->load[side] = load_of(e, b, world, side);
    if (first) now->anchor[side] = b->at[side].frame.pos;
    if (first) now->stands[side] = true;
  }
  correct(now, b, seen->load, timestep);
  write_base(e, now, rate, seen->q, seen->v);
}

static void predict_joints(const tbi_estimator *e, const tabi_world *world, const tbi_seen *seen,
                           double *q, double *v) {
  for (int32_t i = 0; i < e->model->nbody; ++i) {
    const tbi_body *body = &e->model->body[i];
    int32_t encoder = body->nv == 1 ? e->encoder[body->joint] : TABI_NONE;
    if (encoder == TABI_NONE) continue;
    double d = world->model->sensor[encoder].delay;
    v[body->v] += d * seen->asked[body->v];
    q[body->q] += 0.5 * d * (seen->v[body->v] + v[body->v]);
  }
}

void tbi_estimate_predict(const tbi_estimator *e, const tbi_estimate *now, const tabi_world *world,
                          const tbi_seen *seen, double *q, double *v) {
  const tbi_body *base = base_of(e);
  const m3 *place = &base->place.rot;
  memcpy(q, seen->q, sizeof *q * (size_t)e->model->nq);
  memcpy(v, seen->v, sizeof *v * (size_t)e->model->nv);
  predict_joints(e, world, seen, q, v);
  double d = world->model->sensor[e->accelerometer].delay;
  v3 asked = m3_mulv(place, v3_load(seen->asked + base->v));
  tbi_estimate then = *now;
  then.pos = v3_axpy(v3_axpy(now->pos, d, now->vel), 0.5 * d * d, asked);
  then.vel = v3_axpy(now->vel, d, asked);
  d = world->model->sensor[e->gyro].delay;
  v3 rate = m3_mulv(place, v3_load(seen->v + base->v + 3));
  v3 end = v3_axpy(rate, d, m3_mulv(place, v3_load(seen->asked + base->v + 3)));
  m3 turn = q_matrix(q_exp(v3_scale(0.5 * d, v3_add(rate, end))));
  then.rot = m3_mul(&turn, &now->rot);
  write_base(e, &then, end, q, v);
}

/* Small differences of height, to the ground that was seen or else to the other foot, are errors of
 * the estimate, and would add up step by step. */
static void settle_height(tbi_estimate *now, const tbi_balance *b, int side, double ground) {
  double level = isnan(ground) ? now->anchor[1 - side].z : ground;
  bool known = !isnan(ground) || now->stands[1 - side];
  if (known && fabs(now->anchor[side].z - level) <= LEVEL * b->size) now->anchor[side].z = level;
}

void tbi_estimate_set_stance(tbi_estimate *now, const tbi_balance *b, const bool stands[2],
                             double ground) {
  for (int side = 0; side < 2; ++side) {
    if (!stands[side] || now->stands[side]) continue;
    now->anchor[side] = b->at[side].frame.pos;
    settle_height(now, b, side, ground);
  }
  now->stands[0] = stands[0];
  now->stands[1] = stands[1];
}

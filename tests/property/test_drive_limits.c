/* test_drive_limits.c - implicit servos and actuators with limits of force, at random models.
 *
 * In every step the torque of each joint is within its limit, and is what the law asks for at the
 * end of the step,
 *     clamp(servo(q + h v+, v+) + sum of clamp(actuator(q + h v+, v+)), -effort, effort).
 * It is also what the equation of motion has received, by inverse dynamics; and where no limit is
 * reached a step has the same bits as one of the model without limits. */
#include "property/property.h"

#include <stdlib.h>
#include <string.h>

#define H     1e-3
#define STEPS 20
#define FAST  300.0 /* rad/s or m/s */

static double magnitude(rng *r, double low, double high) {
  return low * pow(high / low, rng_unit(r));
}

static bool is_single(const tabi_model *model, int32_t joint) {
  return tabi_model_joint_v(model, joint).count == 1;
}

/* efforts of all joints; they have no springs, friction or limits, which inverse dynamics would
 * have to know */
static void draw_efforts(random_plan *plan, rng *r) {
  for (int32_t i = 0; i < plan->nlink; ++i) {
    tabi_joint_def *joint = &plan->links[i].joint;
    joint->effort = rng_unit(r) < 0.2 ? HUGE_VAL : magnitude(r, 0.01, 1000);
    joint->stiffness = joint->damping = joint->friction = 0;
    joint->lower = -INFINITY;
    joint->upper = INFINITY;
  }
}

/* whether inverse dynamics gives the torque of a joint: momentum of what floats is restored by its
 * base after the step */
static bool is_based(const tabi_model *model, int32_t joint) {
  tabi_joint_def def = tabi_model_joint(model, joint);
  while (def.type != TABI_JOINT_FREE && def.parent != TABI_WORLD) {
    int32_t above = tabi_model_link_joint(model, def.parent);
    if (above == TABI_NONE) return true;
    def = tabi_model_joint(model, above);
  }
  return def.type != TABI_JOINT_FREE;
}

static double servo_at(const tabi_servo *servo, double q, double v) {
  return servo->kp * (servo->target - q) + servo->kd * (servo->target_rate - v);
}

typedef struct step {
  subject *s;
  tabi_world *world;
  const tabi_servo *servo; /* [njoint] */
  double *q, *v;           /* before it */
  double *torque;          /* by inverse dynamics */
} step;

/* the law at the end of the step, or for explicit servos at its start */
static double law_of(const step *at, int32_t joint) {
  const tabi_model *model = at->s->model;
  double q = at->q[tabi_model_joint_q(model, joint).first];
  int32_t k = tabi_model_joint_v(model, joint).first;
  const tabi_servo *servo = &at->servo[joint];
  if (!servo->implicit) return servo_at(servo, q, at->v[k]);
  double v = tabi_world_v(at->world)[k];
  return servo_at(servo, q + H * v, v);
}

static void check_joint(const step *at, int32_t joint, int32_t *limited) {
  const tabi_model *model = at->s->model;
  int32_t k = tabi_model_joint_v(model, joint).first;
  double limit = tabi_model_joint(model, joint).effort;
  tabi_effort effort = tabi_world_effort(at->world, joint);
  double law = law_of(at, joint);
  double scale = 1 + fabs(law);
  double wanted = fmax(-limit, fmin(limit, law));
  /* a drive at its limit may be short of it by what the tolerance of the method makes */
  double slack = 1e-9 * scale + (at->servo[joint].kd + H * at->servo[joint].kp) * 1e-5;
  property_expect(at->s, "torque beyond its limit", fabs(effort.applied) - limit, 1e-12 * limit);
  property_expect(at->s, "torque against its law", fabs(effort.applied - wanted), slack);
  property_expect(at->s, "command against its law", fabs(effort.commanded - law), 1e-9 * scale);
  if (is_based(model, joint))
    property_expect(at->s, "torque against inverse dynamics", fabs(effort.applied - at->torque[k]),
                    1e-7 * (scale + property_largest(at->torque, at->s->nv)));
  *limited += fabs(effort.applied) == limit;
}

static void find_torques(step *at) {
  subject *s = at->s;
  double *qdd = subject_room(s, s->nv);
  for (size_t k = 0; k < s->nv; ++k)
    qdd[k] = (tabi_world_v(at->world)[k] - at->v[k]) / H;
  tabi_dynamics_set_state(s->dynamics, at->q, at->v);
  tabi_dynamics_inverse(s->dynamics, qdd, at->torque);
  free(s->blocks[--s->nblock]);
}

static int32_t total_limited, total_free;

static void check_world(subject *s, tabi_world *world, const tabi_servo *servo) {
  step at = {
      s, world, servo, subject_room(s, s->nq), subject_room(s, s->nv), subject_room(s, s->nv)};
  for (int k = 0; k < STEPS; ++k) {
    memcpy(at.q, tabi_world_q(world), s->nq * sizeof *at.q);
    memcpy(at.v, tabi_world_v(world), s->nv * sizeof *at.v);
    tabi_status status = tabi_world_step(world, NULL);
    /* the strongest motors at the lightest links turn faster than steps of 1 ms can follow */
    if (status == TABI_ERR_DIVERGED || property_largest(tabi_world_v(world), s->nv) > FAST) break;
    assert_int_equal(status, TABI_OK);
    find_torques(&at);
    int32_t limited = 0;
    for (int32_t j = 0; j < tabi_model_njoint(s->model); ++j)
      if (servo[j].kp > 0) check_joint(&at, j, &limited);
    total_limited += limited;
    total_free += limited == 0;
  }
}

static const tabi_servo *draw_servos(subject *s, rng *r) {
  size_t njoint = (size_t)tabi_model_njoint(s->model);
  tabi_servo *servo = (tabi_servo *)(void *)subject_room(s, 5 * njoint);
  for (size_t j = 0; j < njoint; ++j) {
    if (!is_single(s->model, (int32_t)j) || rng_unit(r) < 0.2) continue;
    servo[j] = (tabi_servo){.kp = magnitude(r, 1, 1e5),
                            .kd = magnitude(r, 0.01, 1e4),
                            .target = rng_between(r, -2, 2),
                            .target_rate = rng_between(r, -1, 1),
                            .implicit = rng_unit(r) < 0.8};
    /* explicit ones that are stable */
    if (!servo[j].implicit) servo[j].kp = servo[j].kd = 0.01;
  }
  return servo;
}

static tabi_world *open_at(const subject *s, const tabi_model *model, const tabi_servo *servo) {
  tabi_world_def def = tabi_world_def_default(model);
  tabi_error err = {0};
  def.timestep = H;
  tabi_world *world = tabi_world_create(model, &def, &err);
  if (!world) print_error("%s\n", err.message);
  assert_non_null(world);
  assert_int_equal(tabi_world_set_state(world, s->q, s->v, NULL), TABI_OK);
  for (int32_t j = 0; j < tabi_model_njoint(model); ++j)
    if (servo[j].kp > 0) tabi_world_set_servo(world, j, &servo[j]);
  return world;
}

/* without limits the same bits, up to the first step in which one is reached */
static void compare_unlimited(subject *s, const tabi_servo *servo) {
  random_plan *plan = s->plan;
  for (int32_t i = 0; i < plan->nlink; ++i)
    plan->links[i].joint.effort = INFINITY;
  tabi_model *free_model = random_plan_build(plan, NULL);
  tabi_world *limited = open_at(s, s->model, servo);
  tabi_world *unlimited = open_at(s, free_model, servo);
  bool any = false;
  for (int k = 0; k < STEPS && !any; ++k) {
    assert_int_equal(tabi_world_step(limited, NULL), TABI_OK);
    assert_int_equal(tabi_world_step(unlimited, NULL), TABI_OK);
    for (int32_t j = 0; j < tabi_model_njoint(s->model); ++j) {
      if (!is_single(s->model, j)) continue;
      tabi_effort effort = tabi_world_effort(limited, j);
      any = any || fabs(effort.commanded) >= effort.limit;
    }
    bool same = tabi_world_hash(limited) == tabi_world_hash(unlimited);
    property_expect(s, "bits without limits", any || same ? 0 : 1, 0);
  }
  tabi_world_destroy(limited);
  tabi_world_destroy(unlimited);
  tabi_model_destroy(free_model);
}

static void check_model(subject *s) {
  rng r = rng_make(s->seed);
  subject drawn = {.seed = s->seed, .plan = s->plan};
  draw_efforts(s->plan, &r);
  subject_open(&drawn, s->plan, NULL);
  const tabi_servo *servo = draw_servos(&drawn, &r);
  tabi_world *world = open_at(&drawn, drawn.model, servo);
  check_world(&drawn, world, servo);
  tabi_world_destroy(world);
  compare_unlimited(&drawn, servo);
  subject_close(&drawn);
}

static void test_drives_keep_limits(void **state) {
  (void)state;
  property_run(RANDOM_ANY, check_model);
  print_message("%d torques at their limits; no limit reached in %d steps\n", total_limited,
                total_free);
  if (!getenv("TABI_SEED")) assert_true(total_limited > 1000 && total_free > 1000);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_drives_keep_limits)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}

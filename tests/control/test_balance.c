/* test_balance.c - the accelerations that are asked of a robot: whatever feet, waist and centre of
 * mass want, the ground can give them. */
#include "control/balance.h"
#include "support/load.h"
#include "support/near.h"
#include "support/rng.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { GOALS = 2000 };

static v3 random_vector(rng *r, double level, double up) {
  return (v3){rng_between(r, -level, level), rng_between(r, -level, level),
              rng_between(r, -up, up)};
}

/* On the left foot, with the sole as its support. */
static tbi_balance_goal random_goal(const tbi_balance *b, rng *r) {
  const tbi_frame *sole = &b->at[0].frame;
  tbi_balance_goal goal = {
      .stance = {true, false},
        .ground = sole->pos.z, .ncorner = 4
  };
  const double side[4][2] = {
      {1,  1 },
      {-1, 1 },
      {-1, -1},
      {1,  -1}
  };
  for (int i = 0; i < 4; ++i) {
    goal.corner[i][0] = sole->pos.x + side[i][0] * b->half[0][0];
    goal.corner[i][1] = sole->pos.y + side[i][1] * b->half[0][1];
  }
  goal.com = random_vector(r, 5, 3);
  goal.waist = random_vector(r, 30, 30);
  goal.foot[1] = random_vector(r, 60, 60);
  goal.turn[1] = random_vector(r, 100, 100);
  return goal;
}

/* humanoid36 on both feet, and its balance there. */
typedef struct standing {
  tabi_model *model;
  double *q, *v;
  tbi_balance balance;
} standing;

static standing stand(void) {
  tabi_error err = {0};
  standing s = {.model = load_shipped_model("humanoid36")};
  s.q = calloc((size_t)tabi_model_nq(s.model), sizeof *s.q);
  s.v = calloc((size_t)tabi_model_nv(s.model), sizeof *s.v);
  tabi_biped biped;
  tabi_model_initial_q(s.model, s.q);
  assert_int_equal(tabi_biped_find(s.model, TABI_NONE, s.q, NULL, &biped, &err), TABI_OK);
  assert_int_equal(tabi_biped_stand(s.model, &biped, 0, 0, s.q, &err), TABI_OK);
  assert_int_equal(tbi_balance_make(&s.balance, s.model, &biped, &err), TABI_OK);
  s.balance.friction = 0.5;
  tbi_balance_set(&s.balance, s.q, s.v);
  return s;
}

static void leave(standing *s) {
  tbi_balance_free(&s->balance);
  free(s->q);
  free(s->v);
  tabi_model_destroy(s->model);
}

/* Goals that the ground cannot give are given up as far as it takes: limits weigh so much that the
 * centre of pressure is in the sole but for millimetres. */
static void test_support(void **state) {
  (void)state;
  standing s = stand();
  tbi_balance *b = &s.balance;
  rng r = rng_make(1);
  double worst = 0;
  int32_t off = 0;
  for (int i = 0; i < GOALS; ++i) {
    tbi_balance_goal goal = random_goal(b, &r);
    tbi_balance_result result = tbi_balance_solve(b, &goal);
    double out = 0;
    for (int k = 0; k < 2; ++k) {
      double middle = k ? b->at[0].frame.pos.y : b->at[0].frame.pos.x;
      out = fmax(out, fabs(result.cop[k] - middle) - b->half[0][k]);
    }
    worst = fmax(worst, out);
    off += out > 0.01;
  }
  print_message(
      "centre of pressure out of the sole by %.4f m at most; %d of %d by more than 1 cm\n", worst,
      off, GOALS);
  assert_int_equal(off, 0);
  leave(&s);
}

/* The largest torque of a leg over its limit. */
static double largest_share(const tbi_balance *b) {
  double most = 0;
  for (int32_t i = 6; i < b->n; ++i)
    most = fmax(most, fabs(b->tau[b->dof[i]]) / b->effort[i]);
  return most;
}

/* Goals that the motors cannot give are given up too: torques stay within the limits but for a part
 * in a hundred, where without limits they are more than twice as large.  The motors are made weaker
 * for it: 0.6 of what they are. */
static void test_effort(void **state) {
  (void)state;
  standing s = stand();
  tbi_balance *b = &s.balance;
  for (int32_t k = 6; k < b->n; ++k)
    b->effort[k] *= 0.6;
  rng r = rng_make(2);
  double worst = 0;
  double unlimited = 0;
  for (int i = 0; i < GOALS; ++i) {
    tbi_balance_goal goal = random_goal(b, &r);
    tbi_balance_solve(b, &goal);
    worst = fmax(worst, largest_share(b));
    double own[TBI_BALANCE_MAX];
    memcpy(own, b->effort, sizeof own);
    for (int32_t k = 6; k < b->n; ++k)
      b->effort[k] = HUGE_VAL;
    tbi_balance_solve(b, &goal);
    memcpy(b->effort, own, sizeof own);
    unlimited = fmax(unlimited, largest_share(b));
  }
  print_message("torques of %.3f of the limits at most, %.1f without them\n", worst, unlimited);
  assert_true(unlimited > 2);
  assert_true(worst < 1.01);
  leave(&s);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_support), cmocka_unit_test(test_effort)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}

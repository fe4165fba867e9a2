/* test_residual.c - the certificate of one contact: what counts as a violation, and the work. */
#include "problem/residual.h"

#include "support/block.h"
#include "support/near.h"

#define WEIGHT 1e-6 /* N, so that any force counts as a push */

/* the block leaves the ground at that speed, with so much impulse left at its contact */
static tabi_certificate leave(double speed, double impulse, double friction) {
  block b;
  block_open(&b, 1, 0, friction);
  tbi_problem *p = b.made.p;
  tbi_problem_respond(p);
  b.point->impulse[0] = impulse;
  b.point->impulse[1] = friction * impulse; /* along the slip: drives it */
  p->remaining = p->timestep;
  tbi_problem_start(p);
  v4 up = v4_scale(speed + BLOCK_FALL - impulse / BLOCK_MASS, b.point->frame.x);
  int32_t port = b.point->port_b == TABI_NONE ? b.point->port_a : b.point->port_b;
  p->velocity[port].lin = v4_add(p->velocity[port].lin, up);
  tabi_certificate c = tbi_residual(p, WEIGHT);
  block_close(&b);
  return c;
}

/* parting at 0.2 m/s: a trace counts as the velocity that it gives the contact, 1e-7 / 2 kg m/s; a
 * whole push counts as what it is */
static void traces_are_no_violations(void **state) {
  (void)state;
  tabi_certificate trace = leave(0.2, 1e-7, 0.5);
  assert_true(trace.contacts == 1);
  assert_true(trace.complementarity > 0 && trace.complementarity < 1e-7);
  assert_true(trace.dissipation > 0 && trace.dissipation < 1e-7);
  tabi_certificate push = leave(0.2, 2, 0.5);
  assert_near(push.complementarity, 0.2, 1e-12);
  assert_true(push.dissipation > 0.5);
}

/* an impulse that stops the block takes its kinetic energy, one twice as large gives it back */
static void work_is_kinetic_energy(void **state) {
  (void)state;
  block b;
  block_open(&b, 0, 0, 0.5);
  for (int i = 0; i <= 3; ++i) {
    double impulse = BLOCK_MASS * BLOCK_FALL * i;
    double u = BLOCK_FALL * (i - 1);
    b.point->impulse[0] = impulse;
    b.point->target = b.point->resting_target = i == 3 ? 0.1 : 0;
    tbi_problem_start(b.made.p);
    tbi_work work = tbi_residual_work(b.made.p, NULL, false);
    double change = 0.5 * BLOCK_MASS * (u * u - BLOCK_FALL * BLOCK_FALL);
    assert_near(work.all, change, 1e-14);
    assert_near(work.correction, i == 3 ? 0.1 * impulse : 0, 1e-14);
    assert_near(tbi_residual_work(b.made.p, NULL, true).correction, 0, 0);
  }
  block_close(&b);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(traces_are_no_violations),
      cmocka_unit_test(work_is_kinetic_energy),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

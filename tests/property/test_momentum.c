/* test_momentum.c - steps of random floating trees, joints driven, damped and limited: gravity
 * alone changes their momentum, and the centre of mass falls along its parabola. */
#include "property/property.h"

#define STEPS 10

typedef struct motion {
  double lin[3], ang[3], com[3];
} motion;

static motion motion_of(tabi_world *world) {
  const tabi_dynamics *d = tabi_world_dynamics(world);
  motion m;
  tabi_dynamics_momentum(d, m.lin, m.ang);
  tabi_dynamics_com(d, m.com);
  return m;
}

/* what rounding is relative to: bodies of all masses with the speed of the fastest joint */
static double momentum_scale(const subject *s, const motion *m) {
  return 1 + property_largest(m->lin, 3) + property_largest(m->ang, 3) +
         tabi_model_mass(s->model) * (1 + property_largest(s->v, s->nv));
}

static void check_step(const subject *s, tabi_world *world, const double *tau) {
  tabi_world_def def = tabi_world_get_def(world);
  motion before = motion_of(world);
  assert_int_equal(tabi_world_step(world, tau), TABI_OK);
  motion after = motion_of(world);
  double scale = momentum_scale(s, &before);
  double mass = tabi_model_mass(s->model);
  double worst[3] = {0, 0, 0};
  double share = def.integrator == TABI_MIDPOINT ? 0.5 : 1;
  for (int i = 0; i < 3; ++i) {
    double fall = def.timestep * def.gravity[i];
    double path = def.timestep * (before.lin[i] / mass + share * fall);
    worst[0] = fmax(worst[0], fabs(after.lin[i] - before.lin[i] - mass * fall));
    worst[1] = fmax(worst[1], fabs(after.ang[i] - before.ang[i]));
    worst[2] = fmax(worst[2], fabs(after.com[i] - before.com[i] - path));
  }
  property_expect(s, "linear momentum of a step", worst[0] / scale, 1e-12);
  property_expect(s, "angular momentum of a step", worst[1] / scale, 1e-12);
  property_expect(s, "path of the centre of mass, m", worst[2], 1e-12);
}

static void check_motion(subject *s, tabi_integrator integrator) {
  tabi_world_def def = tabi_world_def_default(s->model);
  def.integrator = integrator;
  tabi_world *world = tabi_world_create(s->model, &def, NULL);
  assert_non_null(world);
  assert_int_equal(tabi_world_set_state(world, s->q, s->v, NULL), TABI_OK);
  for (int k = 0; k < STEPS; ++k)
    check_step(s, world, s->tau);
  tabi_world_destroy(world);
}

static void check_semi_implicit(subject *s) { check_motion(s, TABI_SEMI_IMPLICIT); }
static void check_midpoint(subject *s) { check_motion(s, TABI_MIDPOINT); }

static void test_semi_implicit_keeps_momentum(void **state) {
  (void)state;
  property_run(RANDOM_FLOATING, check_semi_implicit);
}

static void test_midpoint_keeps_momentum(void **state) {
  (void)state;
  property_run(RANDOM_FLOATING, check_midpoint);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_semi_implicit_keeps_momentum),
      cmocka_unit_test(test_midpoint_keeps_momentum),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

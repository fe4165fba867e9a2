/* test_momentum.c - steps of random floating trees, joints driven, damped and limited: gravity
 * alone changes their momentum, and the centre of mass falls along its parabola; and crowds of
 * floating trees that push one another. */
#include "property/property.h"
#include "support/rng.h"
#include "support/scene_build.h"

#include <string.h>

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

/* -- trees that push one another */

enum { CROWDS = 60, THINGS = 4, CROWD_STEPS = 150, MOST_Q = 200 };

/* a box with an arm of two links, around which others fly */
static void add_thing(scene *s, rng *r, v3 at, int32_t stuff) {
  v3 size = v3_make(0.2, 0.15, 0.1);
  v3 inertia = v3_make(0.002, 0.003, 0.004);
  int32_t link = scene_free(s, rng_between(r, 0.5, 2), inertia, at);
  scene_shape(s, TABI_SHAPE_BOX, link, size, stuff);
  int links = rng_below(r, 3);
  for (int i = 0; i < links; ++i) {
    v3 axis = i == 0 ? v3_make(0, 1, 0) : v3_make(0, 0, 1);
    tabi_joint_def hinge = scene_hinge(TABI_JOINT_REVOLUTE, link, v3_make(0.15, 0, 0), axis);
    int32_t parent = link;
    link = scene_link(s, rng_between(r, 0.2, 1), v3_make(0.05, 0, 0), inertia, hinge);
    scene_shape(s, TABI_SHAPE_SPHERE, link, v3_make(0.05, 0, 0), stuff);
    tabi_builder_add_exclusion(s->builder, parent, link);
  }
}

static scene open_crowd(uint64_t seed, rng *r) {
  const tabi_contact_kind kind[] = {TABI_CONTACT_CONE, TABI_CONTACT_EXACT, TABI_CONTACT_IMPULSE,
                                    TABI_CONTACT_LCP, TABI_CONTACT_PENALTY};
  scene s = scene_begin();
  double friction = rng_unit(r);
  int32_t stuff = scene_material(&s, friction, seed % 3 == 0 ? 0 : 0.8);
  for (int i = 0; i < THINGS; ++i) {
    const int row = i / 2;
    add_thing(&s, r, v3_make(0.5 * (i % 2), 0.5 * row, 0.1 * i), stuff);
  }
  tabi_world_def def = scene_def(&s);
  def.contact = kind[seed % 5];
  def.integrator = seed % 2 ? TABI_MIDPOINT : TABI_SEMI_IMPLICIT;
  def.max_contacts = 100;
  memset(def.gravity, 0, sizeof def.gravity);
  scene_open(&s, &def);
  return s;
}

/* all fly towards the middle, turning */
static void set_off(scene *s, rng *r) {
  double v[MOST_Q];
  const double *q = tabi_world_q(s->world);
  assert_true(tabi_model_nv(s->model) <= MOST_Q);
  rng_fill(r, 2, v, tabi_model_nv(s->model));
  for (int32_t j = 0; j < tabi_model_njoint(s->model); ++j) {
    tabi_range at = tabi_model_joint_v(s->model, j);
    if (at.count != 6) continue;
    const double *x = q + tabi_model_joint_q(s->model, j).first;
    v3_store(v3_scale(8, v3_sub(v3_make(0.25, 0.25, 0.15), v3_load(x))), v + at.first);
  }
  assert_int_equal(tabi_world_set_state(s->world, q, v, NULL), TABI_OK);
}

/* the largest change of a step, relative to the momentum of what moves */
static double worst_change(scene *s, int *touches) {
  double worst = 0;
  motion start = motion_of(s->world);
  double mass = tabi_model_mass(s->model);
  double scale = mass * sqrt(2 * scene_energy(s) / mass);
  for (int k = 0; k < CROWD_STEPS; ++k) {
    motion before = motion_of(s->world);
    scene_run(s, 1);
    motion after = motion_of(s->world);
    *touches += tabi_world_certificate(s->world).contacts > 0;
    for (int i = 0; i < 3; ++i) {
      worst = fmax(worst, fabs(after.lin[i] - before.lin[i]) / scale);
      worst = fmax(worst, fabs(after.ang[i] - before.ang[i]) / scale);
      worst = fmax(worst, 0.01 * fabs(after.lin[i] - start.lin[i]) / scale);
    }
  }
  return worst;
}

static void test_collisions_keep_momentum(void **state) {
  (void)state;
  double worst = 0;
  int touches = 0;
  for (uint64_t seed = 0; seed < CROWDS; ++seed) {
    rng r = rng_make(seed);
    scene s = open_crowd(seed, &r);
    set_off(&s, &r);
    double change = worst_change(&s, &touches);
    if (change > 1e-12) print_message("seed %d: %.3g\n", (int)seed, change);
    worst = fmax(worst, change);
    scene_close(&s);
  }
  print_message("crowds: %d steps with contact, momentum of a step off by %.2g\n", touches, worst);
  assert_true(touches > 500);
  assert_true(worst < 1e-12);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_semi_implicit_keeps_momentum),
      cmocka_unit_test(test_midpoint_keeps_momentum),
      cmocka_unit_test(test_collisions_keep_momentum),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

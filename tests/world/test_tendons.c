/* test_tendons.c - what acts along tendons: springs, dampers, limits, friction, inertia, actuators
 * and couplings, against the same at joints or against a formula. */
#include "support/near.h"
#include "tabi/tabi.h"

#include <stdio.h>
#include <string.h>

#define H 1e-3

enum { SLIDES = 3 };

/* Masses on slides along x, side by side, each in the world. */
typedef struct rig {
  tabi_builder *builder;
  int32_t link[SLIDES], joint[SLIDES];
} rig;

static rig make_rig(const double mass[SLIDES]) {
  rig r = {.builder = tabi_builder_create()};
  assert_non_null(r.builder);
  tabi_builder_set_gravity(r.builder, (const double[3]){0, 0, 0});
  for (int i = 0; i < SLIDES; ++i) {
    tabi_link_def link = tabi_link_def_default();
    link.mass = mass[i];
    for (int k = 0; k < 3; ++k)
      link.inertia[k] = 0.1 * mass[i];
    r.link[i] = tabi_builder_add_link(r.builder, &link);
    tabi_joint_def joint = tabi_joint_def_default();
    joint.type = TABI_JOINT_PRISMATIC;
    joint.child = r.link[i];
    joint.pos[1] = i;
    joint.axis[0] = 1;
    joint.axis[2] = 0;
    r.joint[i] = tabi_builder_add_joint(r.builder, &joint);
  }
  return r;
}

static const double equal_masses[SLIDES] = {1, 1, 1};

/* q[0] + coef q[1] */
static int32_t add_sum(const rig *r, double coef, tabi_tendon_def def) {
  const tabi_tendon_joint parts[2] = {
      {r->joint[0], 1   },
      {r->joint[1], coef}
  };
  def.njoint = coef == 0 ? 1 : 2;
  def.joints = parts;
  int32_t tendon = tabi_builder_add_tendon(r->builder, &def);
  assert_true(tendon >= 0);
  return tendon;
}

static tabi_world *make_world(const rig *r, tabi_contact_kind method, tabi_integrator integrator) {
  tabi_error error = {0};
  tabi_model *model = tabi_builder_build(r->builder, &error);
  if (!model) fail_msg("%s", error.message);
  tabi_world_def def = tabi_world_def_default(model);
  def.contact = method;
  def.integrator = integrator;
  def.timestep = H;
  tabi_world *world = tabi_world_create(model, &def, &error);
  if (!world) fail_msg("%s", error.message);
  return world;
}

static void end(tabi_world *world, const rig *r) {
  tabi_model *model = (tabi_model *)tabi_world_model(world);
  tabi_world_destroy(world);
  tabi_model_destroy(model);
  tabi_builder_destroy(r->builder);
}

static void set(tabi_world *world, double q0, double v0) {
  const double q[SLIDES] = {q0, 0, 0};
  const double v[SLIDES] = {v0, 0, 0};
  assert_int_equal(tabi_world_set_state(world, q, v, NULL), TABI_OK);
}

static void run(tabi_world *world, int steps) {
  for (int i = 0; i < steps; ++i) {
    if (tabi_world_step(world, NULL) != TABI_OK) fail_msg("%s", tabi_world_error(world)->message);
  }
}

static double energy_of(tabi_world *world) {
  tabi_energy e = tabi_world_energy(world);
  return e.kinetic + e.potential + e.spring;
}

/* A spring along q0 + 2 q1: omega^2 = k (1/m0 + 4/m1); it swings and keeps its energy. */
static void test_spring(void **state) {
  (void)state;
  const double mass[SLIDES] = {1, 2, 1};
  for (int i = 0; i < 3; ++i) {
    rig r = make_rig(mass);
    tabi_tendon_def def = tabi_tendon_def_default();
    def.stiffness = 100;
    def.rest_lower = def.rest_upper = 0.3;
    int32_t tendon = add_sum(&r, 2, def);
    const tabi_integrator integrator[3] = {TABI_SEMI_IMPLICIT, TABI_MIDPOINT, TABI_RK4};
    tabi_world *world = make_world(&r, TABI_CONTACT_CONE, integrator[i]);
    set(world, 0.4, 0);
    double before = energy_of(world);
    assert_near(before, 0.5 * 100 * 0.01, 1e-12);
    double omega = sqrt(100 * (1 / 1.0 + 4 / 2.0));
    double worst = 0;
    for (int step = 1; step <= 10000; ++step) {
      run(world, 1);
      worst = fmax(worst, fabs(energy_of(world) - before));
    }
    printf("integrator %d: energy of a spring off by %.2e of %.2g J in 10 s, length %.4f at 10 s, "
           "exact %.4f\n",
           integrator[i], worst, before, tabi_world_tendon(world, tendon).length,
           0.3 + 0.1 * cos(10 * omega));
    assert_true(worst < (integrator[i] == TABI_SEMI_IMPLICIT ? 0.02 : 1e-3) * before);
    assert_near(tabi_world_tendon(world, tendon).length, 0.3 + 0.1 * cos(10 * omega), 5e-3);
    end(world, &r);
  }
}

static const tabi_contact_kind methods[] = {
    TABI_CONTACT_CONE,      TABI_CONTACT_EXACT,         TABI_CONTACT_LCP,
    TABI_CONTACT_IMPULSE,   TABI_CONTACT_PENALTY,       TABI_CONTACT_CONE_PAPER,
    TABI_CONTACT_LCP_PAPER, TABI_CONTACT_PENALTY_PAPER, TABI_CONTACT_IMPULSE_PAPER};
enum { METHODS = sizeof methods / sizeof *methods };

/* Springs and dampers far too stiff for explicit steps. */
static void test_stiff(void **state) {
  (void)state;
  for (int m = 0; m < METHODS; ++m) {
    rig r = make_rig(equal_masses);
    tabi_tendon_def def = tabi_tendon_def_default();
    def.stiffness = 1e9;
    add_sum(&r, 1, def);
    def.stiffness = 0;
    def.damping = 1e7;
    add_sum(&r, -1, def);
    tabi_world *world = make_world(&r, methods[m], TABI_SEMI_IMPLICIT);
    set(world, 0, 1);
    run(world, 2000);
    /* the damper makes both velocities the same, the spring keeps the sum of positions */
    assert_near(tabi_world_v(world)[0] - tabi_world_v(world)[1], 0, 1e-6);
    assert_near(tabi_world_q(world)[0] + tabi_world_q(world)[1], 0, 2e-3);
    assert_true(energy_of(world) < 0.5 + 1e-9);
    end(world, &r);
  }
}

/* A tendon of one joint is that joint. */
static void test_same_as_joint(void **state) {
  (void)state;
  double end_q[2][2];
  for (int by_tendon = 0; by_tendon < 2; ++by_tendon) {
    rig r = make_rig(equal_masses);
    tabi_actuator_def a = tabi_actuator_def_default();
    a.gear = by_tendon ? 2 : 3;
    a.gain = 50;
    a.bias[1] = -50;
    a.bias[2] = -3;
    a.force_min = -4;
    a.force_max = 5;
    if (by_tendon) {
      const tabi_tendon_joint part = {r.joint[0], 1.5};
      tabi_tendon_def def = tabi_tendon_def_default();
      def.njoint = 1;
      def.joints = &part;
      a.tendon = tabi_builder_add_tendon(r.builder, &def);
    } else {
      a.joint = r.joint[0];
    }
    assert_true(tabi_builder_add_actuator(r.builder, &a) >= 0);
    tabi_world *world = make_world(&r, TABI_CONTACT_CONE, TABI_SEMI_IMPLICIT);
    tabi_world_set_control(world, 0, 0.9);
    set(world, 0.1, 0);
    run(world, 100);
    end_q[by_tendon][0] = tabi_world_q(world)[0];
    run(world, 2000);
    end_q[by_tendon][1] = tabi_world_energy(world).work;
    assert_near(tabi_world_q(world)[0], 0.9 / 3, 1e-3);
    end(world, &r);
  }
  assert_near(end_q[0][0], end_q[1][0], 1e-9);
  /* where the force leaves its limit is estimated for joints, and found for tendons */
  assert_near(end_q[0][1], end_q[1][1], 1e-5);
}

/* Work of an actuator along a tendon is the energy that the masses gain. */
static void test_work(void **state) {
  (void)state;
  rig r = make_rig(equal_masses);
  tabi_actuator_def a = tabi_actuator_def_default();
  a.tendon = add_sum(&r, -0.5, tabi_tendon_def_default());
  a.gear = 3;
  assert_true(tabi_builder_add_actuator(r.builder, &a) >= 0);
  tabi_world *world = make_world(&r, TABI_CONTACT_CONE, TABI_SEMI_IMPLICIT);
  tabi_world_set_control(world, 0, 2);
  run(world, 1000);
  assert_near(tabi_world_v(world)[0], 6, 1e-9);
  assert_near(tabi_world_v(world)[1], -3, 1e-9);
  tabi_energy e = tabi_world_energy(world);
  assert_near(e.kinetic, 0.5 * 36 + 0.5 * 9, 1e-9);
  assert_near(e.work, e.kinetic, 2e-3 * e.kinetic); /* moves along the new velocity: first order */
  end(world, &r);
}

/* Limits stop the tendon and let it go. */
static void test_limits(void **state) {
  (void)state;
  for (int m = 0; m < METHODS; ++m) {
    for (int side = 0; side < 2; ++side) {
      double sign = side ? 1 : -1;
      rig r = make_rig(equal_masses);
      tabi_tendon_def def = tabi_tendon_def_default();
      def.lower = -0.2;
      def.upper = 0.2;
      int32_t tendon = add_sum(&r, 1, def);
      tabi_world *world = make_world(&r, methods[m], TABI_SEMI_IMPLICIT);
      set(world, 0, sign);
      double tau[SLIDES] = {sign * 5, sign * 5, 0};
      for (int i = 0; i < 1000; ++i)
        assert_int_equal(tabi_world_step(world, tau), TABI_OK);
      tabi_tendon_state t = tabi_world_tendon(world, tendon);
      assert_near(t.length, sign * 0.2, 1e-6);
      assert_near(t.rate, 0, 1e-6);
      assert_near(t.force, -sign * 5, 1e-6);
      /* momentum along q0 - q1 is not the limit's business */
      assert_near(tabi_world_v(world)[0] - tabi_world_v(world)[1], sign, 1e-6);
      for (int i = 0; i < 100; ++i) {
        tau[0] = tau[1] = -sign;
        assert_int_equal(tabi_world_step(world, tau), TABI_OK);
      }
      t = tabi_world_tendon(world, tendon);
      assert_near(t.rate, -sign * 2 * 0.1, 1e-6);
      assert_near(t.force, 0, 1e-9);
      end(world, &r);
    }
  }
}

/* Dry friction along a tendon: 3 N against the sum, masses of 1 kg. */
static void test_friction(void **state) {
  (void)state;
  for (int m = 0; m < METHODS; ++m) {
    rig r = make_rig(equal_masses);
    tabi_tendon_def def = tabi_tendon_def_default();
    def.friction = 3;
    int32_t tendon = add_sum(&r, 1, def);
    tabi_world *world = make_world(&r, methods[m], TABI_SEMI_IMPLICIT);
    const double held[SLIDES] = {2.9, 2.9, 0};
    const double moved[SLIDES] = {4, 4, 0};
    for (int i = 0; i < 100; ++i)
      assert_int_equal(tabi_world_step(world, held), TABI_OK);
    assert_near(tabi_world_tendon(world, tendon).rate, 0, 1e-9);
    assert_near(tabi_world_tendon(world, tendon).force, -2.9, 1e-9);
    for (int i = 0; i < 100; ++i)
      assert_int_equal(tabi_world_step(world, moved), TABI_OK);
    assert_near(tabi_world_v(world)[0], 0.1, 1e-9);
    run(world, 20);
    assert_near(tabi_world_v(world)[0], 0.1 - 0.06, 1e-9);
    run(world, 50);
    assert_near(tabi_world_tendon(world, tendon).rate, 0, 1e-9);
    end(world, &r);
  }
}

/* Inertia along a tendon adds to the mass matrix. */
static void test_inertia(void **state) {
  (void)state;
  const tabi_integrator integrator[] = {TABI_SEMI_IMPLICIT, TABI_MIDPOINT, TABI_EULER, TABI_RK4};
  for (int i = 0; i < 4; ++i) {
    rig r = make_rig(equal_masses);
    tabi_tendon_def def = tabi_tendon_def_default();
    def.inertia = 2;
    add_sum(&r, -1, def);
    tabi_world *world = make_world(&r, TABI_CONTACT_CONE, integrator[i]);
    /* (1 + 2) a0 - 2 a1 = 1,  -2 a0 + 3 a1 = 0 */
    const double tau[SLIDES] = {1, 0, 0};
    for (int k = 0; k < 100; ++k)
      assert_int_equal(tabi_world_step(world, tau), TABI_OK);
    assert_near(tabi_world_v(world)[0], 0.1 * 3 / 5, 1e-12);
    assert_near(tabi_world_v(world)[1], 0.1 * 2 / 5, 1e-12);
    double kinetic = 0.5 * (0.06 * 0.06 + 0.04 * 0.04) + 0.5 * 2 * 0.02 * 0.02;
    assert_near(tabi_world_energy(world).kinetic, kinetic, 1e-12);
    end(world, &r);
  }
}

/* (q0 - q1) = 0.1 + 2 q2 */
static void test_coupling(void **state) {
  (void)state;
  for (int m = 0; m < METHODS; ++m) {
    rig r = make_rig(equal_masses);
    const tabi_tendon_joint part = {r.joint[2], 1};
    tabi_tendon_def single = tabi_tendon_def_default();
    single.njoint = 1;
    single.joints = &part;
    tabi_coupling_def def = tabi_coupling_def_default();
    def.tendon = add_sum(&r, -1, tabi_tendon_def_default());
    def.tendon_leader = tabi_builder_add_tendon(r.builder, &single);
    def.coef[0] = 0.1;
    def.coef[1] = 2;
    assert_true(tabi_builder_add_coupling(r.builder, &def) >= 0);
    tabi_world *world = make_world(&r, methods[m], TABI_SEMI_IMPLICIT);
    set(world, 0.1, 0);
    const double tau[SLIDES] = {1, 0.5, -0.3};
    for (int k = 0; k < 1000; ++k)
      assert_int_equal(tabi_world_step(world, tau), TABI_OK);
    const double *q = tabi_world_q(world);
    assert_near(q[0] - q[1], 0.1 + 2 * q[2], 1e-6);
    /* constraint c = (1, -1, -2): a = tau - c (c.tau) / (c.c) */
    double push = (1 - 0.5 + 0.6) / 6;
    assert_near(tabi_world_v(world)[0], 1 - push, 1e-4);
    assert_near(tabi_world_v(world)[2], -0.3 + 2 * push, 1e-4);
    end(world, &r);
  }
}

/* A pendulum of a ball on a rope from the world: a spatial tendon with an upper limit. */
static void test_rope(void **state) {
  (void)state;
  tabi_builder *builder = tabi_builder_create();
  rig r = {.builder = builder};
  tabi_link_def link = tabi_link_def_default();
  link.mass = 2;
  for (int k = 0; k < 3; ++k)
    link.inertia[k] = 0.01;
  tabi_joint_def joint = tabi_joint_def_default();
  joint.type = TABI_JOINT_FREE;
  joint.child = tabi_builder_add_link(builder, &link);
  joint.initial_q[0] = 0.6;
  joint.initial_q[2] = -0.8;
  joint.initial_q[3] = 1;
  assert_true(tabi_builder_add_joint(builder, &joint) >= 0);
  tabi_tendon_def def = tabi_tendon_def_default();
  const tabi_tendon_point points[2] = {
      {.link = TABI_WORLD,  .share = 1},
      {.link = joint.child, .share = 0}
  };
  def.npoint = 2;
  def.points = points;
  def.upper = 1;
  int32_t rope = tabi_builder_add_tendon(builder, &def);
  tabi_world *world = make_world(&r, TABI_CONTACT_CONE, TABI_SEMI_IMPLICIT);
  double before = energy_of(world);
  double stretch = 0;
  double least = 0;
  for (int i = 0; i < 5000; ++i) {
    run(world, 1);
    stretch = fmax(stretch, tabi_world_tendon(world, rope).length - 1);
    least = fmax(least, tabi_world_tendon(world, rope).force);
  }
  printf("rope: stretched by %.1e m at most, energy %.4f of %.4f J after 5 s\n", stretch,
         energy_of(world), before);
  assert_true(stretch < 1e-4);
  assert_true(least <= 0); /* it pulls only */
  assert_near(energy_of(world), before, 0.05 * fabs(before));
  /* thrown up it is slack */
  const double q[7] = {0, 0, -0.5, 1, 0, 0, 0};
  const double v[6] = {0, 0, 1, 0, 0, 0};
  assert_int_equal(tabi_world_set_state(world, q, v, NULL), TABI_OK);
  run(world, 100);
  assert_near(tabi_world_v(world)[2], 1 - 0.981, 1e-9);
  end(world, &r);
}

/* The state that a snapshot keeps decides all that follows. */
static void test_snapshot(void **state) {
  (void)state;
  rig r = make_rig(equal_masses);
  tabi_tendon_def def = tabi_tendon_def_default();
  def.upper = 0.05;
  def.friction = 0.5;
  def.stiffness = 30;
  add_sum(&r, 1, def);
  tabi_world *world = make_world(&r, TABI_CONTACT_CONE, TABI_SEMI_IMPLICIT);
  set(world, 0, 1);
  run(world, 60);
  static char kept[65536];
  size_t size = tabi_world_snapshot_size(world);
  assert_true(size <= sizeof kept);
  tabi_world_save(world, kept);
  run(world, 500);
  double q[SLIDES];
  memcpy(q, tabi_world_q(world), sizeof q);
  assert_int_equal(tabi_world_restore(world, kept, size), TABI_OK);
  run(world, 500);
  assert_memory_equal(q, tabi_world_q(world), sizeof q);
  end(world, &r);
}

static void test_refused(void **state) {
  (void)state;
  rig r = make_rig(equal_masses);
  tabi_tendon_def def = tabi_tendon_def_default();
  const tabi_tendon_joint part = {99, 1};
  def.njoint = 1;
  def.joints = &part;
  assert_int_equal(tabi_builder_add_tendon(r.builder, &def), TABI_NONE);
  assert_int_equal(tabi_builder_error(r.builder)->status, TABI_ERR_MODEL);
  tabi_builder_destroy(r.builder);
  r = make_rig(equal_masses);
  def = tabi_tendon_def_default();
  def.stiffness = -1;
  assert_int_equal(tabi_builder_add_tendon(r.builder, &def), TABI_NONE);
  tabi_builder_destroy(r.builder);
  r = make_rig(equal_masses);
  tabi_actuator_def a = tabi_actuator_def_default();
  a.tendon = 0;
  assert_int_equal(tabi_builder_add_actuator(r.builder, &a), TABI_NONE);
  tabi_builder_destroy(r.builder);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_spring),        cmocka_unit_test(test_stiff),
      cmocka_unit_test(test_same_as_joint), cmocka_unit_test(test_work),
      cmocka_unit_test(test_limits),        cmocka_unit_test(test_friction),
      cmocka_unit_test(test_inertia),       cmocka_unit_test(test_coupling),
      cmocka_unit_test(test_rope),          cmocka_unit_test(test_snapshot),
      cmocka_unit_test(test_refused),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

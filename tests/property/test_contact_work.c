/* test_contact_work.c - over random scenes and every method but the published variants, contact
 * impulses bring no energy: no step's contact_work is above 1e-9 of the energy at its start, with
 * rebounds and friction at many points at once, masses 1e4 apart, and chains with joint limits.
 * That holds for steps that penalty leaves unsolved, too, which their certificate says; they are at
 * most one in 10000.
 *
 * What nothing drives and nothing throws back gains no energy either: in 3 s it rises above its
 * lowest so far by at most 1e-3 of its range, under midpoint 1e-6, depth correction apart.
 *
 * That the figure is the energy is proved by scenes without gravity: the kinetic energy of a single
 * body then changes by contact_work, correction_work and balance_work alone. */
#include "support/near.h"
#include "support/rng.h"
#include "support/scene_build.h"

enum { SCENES = 60, STEPS = 400, MOST_BODIES = 7 };
enum { PASSIVE_SCENES = TEST_SHORT ? 2 : 8, PASSIVE_STEPS = 3000 };

#define SHARE 1e-9 /* of the energy, that impulses may add in a step */

static double pick(rng *r, const double *from, int32_t n) { return from[rng_below(r, n)]; }

static v3 random_vector(rng *r, double size) {
  double x[3];
  rng_fill(r, size, x, 3);
  return v3_load(x);
}

static int32_t add_round(scene *s, rng *r, double mass, v3 at, int32_t stuff) {
  static const tabi_shape_type types[] = {TABI_SHAPE_CYLINDER, TABI_SHAPE_CAPSULE,
                                          TABI_SHAPE_ELLIPSOID};
  double moment = 0.01 * mass;
  int32_t link = scene_free(s, mass, v3_make(moment, 1.2 * moment, 0.9 * moment), at);
  double radius = rng_between(r, 0.05, 0.2);
  v3 size = v3_make(radius, rng_between(r, 0.05, 0.3), rng_between(r, 0.05, 0.2));
  scene_shape(s, types[rng_below(r, 3)], link, size, stuff);
  return link;
}

static int32_t add_body(scene *s, rng *r, double mass, v3 at, int32_t stuff) {
  int kind = rng_below(r, 6);
  if (kind < 2) return scene_ball(s, mass, rng_between(r, 0.05, 0.2), at, stuff);
  if (kind < 4) return add_round(s, r, mass, at, stuff);
  v3 size = v3_make(rng_between(r, 0.05, 0.4), rng_between(r, 0.05, 0.4), 0);
  size.z = rng_between(r, 0.05, 0.4);
  return scene_box(s, mass, size, at, stuff);
}

/* a flail behind a body: a hinge with limits, which become rows */
static void add_flail(scene *s, rng *r, int32_t parent, int32_t stuff) {
  tabi_joint_def hinge =
      scene_hinge(TABI_JOINT_REVOLUTE, parent, v3_make(0.35, 0, 0), v3_make(0, 1, 0));
  hinge.lower = -0.3;
  hinge.upper = 0.3;
  hinge.friction = rng_between(r, 0, 0.2);
  int32_t link = scene_link(s, 0.5, v3_zero(), v3_make(0.002, 0.002, 0.002), hinge);
  scene_shape(s, TABI_SHAPE_BOX, link, v3_make(0.2, 0.1, 0.1), stuff);
  tabi_builder_add_exclusion(s->builder, parent, link);
}

typedef struct settings {
  tabi_contact_kind contact;
  tabi_integrator integrator;
  bool passive; /* three bodies at most, and no rebounds */
} settings;

/* the same seed, the same scene */
static scene open_scene(uint64_t seed, settings set) {
  static const double frictions[] = {0, 0.2, 0.5, 1, 1.5};
  static const double rebounds[] = {0, 0.5, 0.9, 1};
  static const double steps[] = {1e-3, 5e-3};
  rng r = rng_make(seed);
  scene s = scene_begin();
  double friction = pick(&r, frictions, 5);
  double rebound = pick(&r, rebounds, set.passive ? 1 : 4);
  int32_t stuff = scene_material(&s, friction, rebound);
  int32_t link[MOST_BODIES];
  int32_t n = 1 + rng_below(&r, set.passive ? 3 : MOST_BODIES);
  double timestep = pick(&r, steps, set.passive ? 1 : 2);
  scene_plane(&s, 0, stuff);
  for (int32_t i = 0; i < n; ++i) {
    double mass = seed % 3 == 0 ? pow(10, rng_between(&r, -2, 2)) : rng_between(&r, 0.5, 2);
    v3 at = v3_make(rng_between(&r, -0.2, 0.2), rng_between(&r, -0.2, 0.2), 0.3 + 0.35 * i);
    link[i] = add_body(&s, &r, mass, at, stuff);
    if (rng_below(&r, 3) == 0) add_flail(&s, &r, link[i], stuff);
  }
  tabi_world_def def = scene_def(&s);
  def.contact = set.contact;
  def.integrator = set.integrator;
  def.timestep = timestep;
  scene_open(&s, &def);
  for (int32_t i = 0; i < n; ++i)
    scene_set_velocity(&s, link[i], random_vector(&r, 3), random_vector(&r, 5));
  return s;
}

typedef struct count {
  int64_t contacts, limited, unsolved;
  double worst; /* share of the energy */
} count;

static void run(uint64_t seed, tabi_contact_kind contact, count *sum) {
  scene s = open_scene(seed, (settings){.contact = contact});
  for (int k = 0; k < STEPS; ++k) {
    double energy = scene_energy(&s);
    scene_run(&s, 1);
    tabi_certificate c = tabi_world_certificate(s.world);
    double share = c.contact_work / energy;
    sum->contacts += c.contacts;
    sum->limited += c.energy_limited;
    bool unsolved = contact == TABI_CONTACT_PENALTY && !c.converged;
    sum->unsolved += unsolved;
    sum->worst = fmax(sum->worst, share);
    if (share > SHARE) {
      fail_msg("seed %d, %s, step %d: contacts added %g J to %g J", (int)seed,
               tabi_contact_name(contact), k, c.contact_work, energy);
    }
  }
  scene_close(&s);
}

static void adds_no_energy(tabi_contact_kind contact) {
  count sum = {0};
  for (uint64_t seed = 0; seed < SCENES; ++seed)
    run(seed, contact, &sum);
  print_message("%s: %d contacts, %d steps energy-limited, worst gain %g of the energy\n",
                tabi_contact_name(contact), (int)sum.contacts, (int)sum.limited, sum.worst);
  assert_true(sum.contacts > 10000);
  assert_true(10000 * sum.unsolved < (int64_t)SCENES * STEPS);
}

static void cone(void **state) {
  (void)state;
  adds_no_energy(TABI_CONTACT_CONE);
}

static void lcp(void **state) {
  (void)state;
  adds_no_energy(TABI_CONTACT_LCP);
}

static void exact(void **state) {
  (void)state;
  adds_no_energy(TABI_CONTACT_EXACT);
}

static void impulse(void **state) {
  (void)state;
  adds_no_energy(TABI_CONTACT_IMPULSE);
}

static void penalty(void **state) {
  (void)state;
  adds_no_energy(TABI_CONTACT_PENALTY);
}

/* the most that its energy rose above the lowest so far, as a share of what it fell; counted from
 * the first step on, which tells what springs of penalty hold where bodies begin in each other */
static double largest_rise(uint64_t seed, settings set) {
  scene s = open_scene(seed, set);
  scene_run(&s, 1);
  double start = scene_energy(&s) + tabi_world_certificate(s.world).elastic;
  double correction = 0;
  double lowest = start;
  double rise = 0;
  for (int k = 0; k < PASSIVE_STEPS; ++k) {
    scene_run(&s, 1);
    tabi_certificate c = tabi_world_certificate(s.world);
    correction += c.correction_work;
    double energy = scene_energy(&s) + c.elastic - correction;
    lowest = fmin(lowest, energy);
    rise = fmax(rise, energy - lowest);
  }
  scene_close(&s);
  return rise / (start - lowest);
}

static void passive(void **state) {
  (void)state;
  static const tabi_contact_kind methods[] = {TABI_CONTACT_CONE, TABI_CONTACT_LCP,
                                              TABI_CONTACT_EXACT, TABI_CONTACT_IMPULSE,
                                              TABI_CONTACT_PENALTY};
  for (uint64_t seed = 100; seed < 100 + PASSIVE_SCENES; ++seed) {
    for (size_t i = 0; i < sizeof methods / sizeof *methods; ++i) {
      settings set = {.contact = methods[i], .passive = true};
      assert_true(largest_rise(seed, set) <= 1e-3);
      set.integrator = TABI_MIDPOINT;
      /* of penalty 5e-6 was measured, where springs catch what falls within a step */
      double most = methods[i] == TABI_CONTACT_PENALTY ? 1e-5 : 1e-6;
      assert_true(largest_rise(seed, set) <= most);
    }
  }
}

/* Soft ground with strong dampers: while a box slides, most of its friction is the damper's, and
 * the springs along the ground store only what their own deflection does. */
static void sliding_over_soft_ground(void **state) {
  (void)state;
  static const double speeds[] = {0.01, 0.1, 1};
  for (size_t i = 0; i < sizeof speeds / sizeof speeds[0]; ++i) {
    scene s = scene_begin();
    tabi_material_def mud = tabi_material_def_default();
    mud.name = "mud";
    mud.stiffness = 1e3;
    mud.damping = 200;
    int32_t stuff = tabi_builder_add_material(s.builder, &mud);
    scene_plane(&s, 0, stuff);
    int32_t box = scene_box(&s, 1, v3_make(0.3, 0.3, 0.1), v3_make(0, 0, 0.048), stuff);
    tabi_world_def def = scene_def(&s);
    def.contact = TABI_CONTACT_PENALTY;
    scene_open(&s, &def);
    scene_set_velocity(&s, box, v3_make(speeds[i], 0, 0), v3_zero());
    for (int k = 0; k < 400; ++k) {
      double energy = scene_energy(&s);
      scene_run(&s, 1);
      tabi_certificate c = tabi_world_certificate(s.world);
      assert_true(c.converged);
      if (c.contact_work > SHARE * energy)
        fail_msg("%g m/s, step %d: springs added %g J to %g J", speeds[i], k, c.contact_work,
                 energy);
    }
    scene_close(&s);
  }
}

/* no gravity, no spin before the impact: kinetic energy changes by contacts only */
static void is_the_energy(void **state) {
  (void)state;
  for (uint64_t seed = 0; seed < 40; ++seed) {
    rng r = rng_make(seed);
    scene s = scene_begin();
    int32_t stuff = scene_material(&s, rng_unit(&r), rng_unit(&r));
    scene_plane(&s, 0, stuff);
    bool deep = seed % 2 == 0;
    int32_t ball = scene_ball(&s, 2, 0.1, v3_make(0, 0, deep ? 0.095 : 0.1005), stuff);
    tabi_world_def def = scene_def(&s);
    def.gravity[2] = 0;
    scene_open(&s, &def);
    v3 lin = random_vector(&r, 2);
    lin.z = deep ? 0 : -1 - fabs(lin.z);
    scene_set_velocity(&s, ball, lin, random_vector(&r, 3));
    double before = tabi_world_energy(s.world).kinetic;
    scene_run(&s, 1);
    tabi_certificate c = tabi_world_certificate(s.world);
    double change = tabi_world_energy(s.world).kinetic - before;
    assert_true(c.contacts == 1);
    assert_true(deep ? c.correction_work > 0 : c.correction_work == 0);
    double sum = c.contact_work + c.correction_work + c.balance_work;
    assert_near(sum, change, 1e-12 * fmax(before, 1));
    scene_close(&s);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(is_the_energy), cmocka_unit_test(cone),
      cmocka_unit_test(lcp),           cmocka_unit_test(exact),
      cmocka_unit_test(impulse),       cmocka_unit_test(penalty),
      cmocka_unit_test(passive),       cmocka_unit_test(sliding_over_soft_ground),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

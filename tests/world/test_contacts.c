/* test_contacts.c - what a world tells about its contacts, and the laws they keep: weight,
 * momentum, energy. */
#include "support/near.h"
#include "support/rng.h"
#include "support/scene_build.h"

#include <string.h>

#define H 1e-3

/* five boxes on each other; the link of the k-th is k */
static scene open_stack(tabi_contact_kind contact, tabi_integrator integrator) {
  scene s = scene_begin();
  int32_t stuff = scene_material(&s, 0.5, 0);
  scene_plane(&s, 0, stuff);
  for (int k = 0; k < 5; ++k)
    scene_box(&s, 1 + k, v3_make(0.3, 0.2, 0.1), v3_make(0, 0, 0.05 + 0.1 * k), stuff);
  tabi_world_def def = scene_def(&s);
  def.contact = contact;
  def.integrator = integrator;
  scene_open(&s, &def);
  return s;
}

/* at rest every box gets from below what weighs above it, and the certificate of rigid methods is
 * small */
static void stack_weighs(void **state) {
  (void)state;
  for (int i = 0; i < TABI_CONTACT_GAIT * TABI_INTEGRATOR_COUNT; ++i) {
    tabi_contact_kind contact = (tabi_contact_kind)(i % TABI_CONTACT_GAIT);
    tabi_integrator integrator = (tabi_integrator)(i / TABI_CONTACT_GAIT);
    if (contact == TABI_CONTACT_PENALTY) continue;
    scene s = open_stack(contact, integrator);
    scene_run(&s, 1000);
    double worst = 0;
    for (int k = 0; k < 5; ++k) {
      v3 sum = scene_impulse(&s, k);
      v3 off = v3_sub(sum, v3_make(0, 0, (1 + k) * GRAVITY * H));
      worst = fmax(worst, v3_norm(off) / (15 * GRAVITY * H));
    }
    tabi_certificate c = tabi_world_certificate(s.world);
    print_message("stack, %s, %s: forces off by %.2g of the weight; gap %.1g m, complementarity "
                  "%.1g m/s, cone %.1g N, dissipation %.1g m/s, %d sweeps\n",
                  tabi_contact_name(contact), tabi_integrator_name(integrator), worst, c.gap,
                  c.complementarity, c.cone, c.dissipation, c.iterations);
    assert_true(worst < 1e-6);
    assert_true(c.gap < 1.1e-5);
    assert_true(c.complementarity < 1e-7);
    assert_true(c.cone < 1e-9);
    assert_true(c.dissipation < 1e-7);
    /* how four corners share a load is not unique: three can carry a box */
    assert_in_range(c.contacts, 15, 20);
    assert_true(c.converged);
    scene_close(&s);
  }
}

/* the fields of a contact, with the plane under one box */
static void contacts_tell(void **state) {
  (void)state;
  scene s = scene_begin();
  int32_t stuff = scene_material(&s, 0.4, 0);
  scene_plane(&s, 0, stuff);
  int32_t box = scene_box(&s, 2, v3_make(0.4, 0.2, 0.1), v3_make(0, 0, 0.05), stuff);
  scene_open(&s, NULL);
  scene_set_velocity(&s, box, v3_make(0, 1, 0), v3_zero());
  scene_run(&s, 10);
  double y = scene_q(&s, box)[1];
  double speed = scene_v(&s, box)[1];
  scene_run(&s, 1);
  int32_t count;
  const tabi_contact *contact = tabi_world_contacts(s.world, &count);
  assert_int_equal(count, 4);
  v3 sum = v3_zero();
  v3 middle = v3_zero();
  for (int32_t i = 0; i < count; ++i) {
    const tabi_contact *c = &contact[i];
    bool down = c->link_a == box;
    assert_true(down || c->link_b == box);
    assert_true((down ? c->link_b : c->link_a) == TABI_WORLD);
    assert_near(c->normal[2], down ? -1 : 1, 1e-12);
    assert_near(c->gap, 0, 1e-9);
    assert_near(c->friction, 0.4, 1e-15);
    assert_near(down ? -c->velocity[1] : c->velocity[1], speed - 0.4 * GRAVITY * H, 1e-9);
    assert_near(fabs(c->point[0]), 0.2, 1e-6);
    assert_near(fabs(c->point[1] - y), 0.1, 1e-6);
    middle = v3_add(middle, v3_scale(0.25, v3_load(c->point)));
    sum = v3_add(sum, v3_scale(down ? -1 : 1, v3_load(c->impulse)));
  }
  assert_near(middle.x, 0, 1e-6);
  assert_near(sum.y, -0.4 * 2 * GRAVITY * H, 1e-10);
  assert_near(sum.z, 2 * GRAVITY * H, 1e-10);
  tabi_certificate c = tabi_world_certificate(s.world);
  assert_true(c.dissipation < 1e-6);
  assert_true(c.cone < 1e-6);
  scene_close(&s);
}

/* the wrench of the contacts on a link about a point, summed from the list of contacts */
static void sum_contacts(const scene *s, int32_t link, v3 about, v3 *force, v3 *torque) {
  int32_t count;
  const tabi_contact *contact = tabi_world_contacts(s->world, &count);
  *force = *torque = v3_zero();
  for (int32_t i = 0; i < count; ++i) {
    const tabi_contact *c = &contact[i];
    double sign = (c->link_b == link) - (c->link_a == link);
    v3 f = v3_scale(sign / H, v3_load(c->impulse));
    *force = v3_add(*force, f);
    *torque = v3_add(*torque, v3_cross(v3_sub(v3_load(c->point), about), f));
  }
}

/* Two boxes at rest on each other, a horizontal push at the centre of the lower one: the contacts
 * on either balance its weight and the push, without moment about the centre.  So about any point p
 * their moment is (c - p) x f. */
static void contact_wrench_balances(void **state) {
  (void)state;
  for (int i = 0; i < TABI_CONTACT_COUNT; ++i) {
    if (tabi_contact_describe((tabi_contact_kind)i)->planar_biped) continue;
    scene s = scene_begin();
    int32_t stuff = scene_material(&s, 0.5, 0);
    scene_plane(&s, 0, stuff);
    const double mass[2] = {2, 3};
    const v3 push = v3_make(4, -3, 0); /* friction holds up to 24.5 N */
    for (int k = 0; k < 2; ++k)
      scene_box(&s, mass[k], v3_make(0.3, 0.2, 0.1), v3_make(0.1, 0.2, 0.05 + 0.1 * k), stuff);
    tabi_world_def def = scene_def(&s);
    def.contact = (tabi_contact_kind)i;
    scene_open(&s, &def);
    for (int k = 0; k < 2000; ++k) {
      scene_push(&s, 0, push);
      scene_run(&s, 1);
    }
    double worst = 0;
    for (int32_t link = 0; link < 2; ++link) {
      const v3 about = v3_make(-0.4, 0.7, 0.3);
      double force[3], torque[3];
      v3 f, t;
      tabi_world_contact_wrench(s.world, link, (const double[3]){-0.4, 0.7, 0.3}, force, torque);
      sum_contacts(&s, link, about, &f, &t);
      assert_true(v3_norm(v3_sub(v3_load(force), f)) < 1e-12);
      assert_true(v3_norm(v3_sub(v3_load(torque), t)) < 1e-12);
      v3 weight = v3_make(0, 0, mass[link] * GRAVITY);
      v3 f0 = link == 0 ? v3_sub(weight, push) : weight;
      v3 t0 = v3_cross(v3_sub(v3_load(scene_q(&s, link)), about), f0);
      worst = fmax(worst, v3_norm(v3_sub(f, f0)));
      worst = fmax(worst, v3_norm(v3_sub(t, t0)));
    }
    print_message("wrench, %s: off by %.2g N or N m\n", tabi_contact_name(def.contact), worst);
    assert_true(worst < 1e-6);
    scene_close(&s);
  }
}

/* Two cubes about to touch, turned at random and moving towards each other. */
static void open_impact(scene *s, rng *r, double friction, double restitution,
                        tabi_contact_kind contact) {
  *s = scene_begin();
  int32_t stuff = scene_material(s, friction, restitution);
  v3 size = v3_make(0.2, 0.2, 0.2);
  scene_box(s, rng_between(r, 0.5, 2), size, v3_zero(), stuff);
  double away[3];
  rng_direction(r, away, 3);
  v3 apart = v3_scale(0.36, v3_load(away));
  scene_box(s, rng_between(r, 0.5, 2), size, apart, stuff);
  tabi_world_def def = scene_def(s);
  def.gravity[2] = 0;
  def.contact = contact;
  def.tolerance = 1e-12;
  def.iterations = 2000;
  def.correction = 0;
  scene_open(s, &def);
  for (int32_t link = 0; link < 2; ++link) {
    double turn[3];
    double v[6];
    rng_fill(r, 3, turn, 3);
    scene_turn(s, link, q_exp(v3_load(turn)));
    rng_fill(r, 0.5, v, 6);
    v3_store(v3_axpy(v3_load(v), link == 0 ? 5 : -5, apart), v);
    scene_set(s, link, NULL, v);
  }
}

/* action and reaction: an impact changes neither momentum nor moment of momentum */
static void impacts_keep_momentum(void **state) {
  (void)state;
  double worst = 0;
  int hits = 0;
  for (uint64_t seed = 0; seed < 100; ++seed) {
    rng r = rng_make(seed);
    scene s;
    open_impact(&s, &r, 0.5, seed % 2 ? 0.7 : 0, (tabi_contact_kind)(seed % 3 == 0));
    for (int k = 0; k < 150; ++k) {
      double before[6];
      double after[6];
      tabi_dynamics_momentum(tabi_world_dynamics(s.world), before, before + 3);
      scene_run(&s, 1);
      tabi_dynamics_momentum(tabi_world_dynamics(s.world), after, after + 3);
      if (tabi_world_certificate(s.world).contacts > 0) ++hits;
      for (int i = 0; i < 6; ++i)
        worst = fmax(worst, fabs(after[i] - before[i]));
    }
    scene_close(&s);
  }
  print_message("impacts: %d steps with contact, momentum off by %.2g\n", hits, worst);
  assert_true(hits > 50);
  assert_true(worst < 1e-12);
}

/* the largest gain of energy in a step, as a share of the energy at the start */
static double largest_gain(double restitution, double friction, int *hits, int *gains) {
  double largest = 0;
  *hits = *gains = 0;
  for (uint64_t seed = 0; seed < 200; ++seed) {
    rng r = rng_make(seed);
    scene s;
    open_impact(&s, &r, friction, restitution, TABI_CONTACT_CONE);
    double start = scene_energy(&s);
    double before = start;
    for (int k = 0; k < 100; ++k) {
      scene_run(&s, 1);
      double now = scene_energy(&s);
      if (tabi_world_certificate(s.world).contacts > 0) ++*hits;
      if (now > before * (1 + 1e-9)) ++*gains;
      largest = fmax(largest, (now - before) / start);
      before = now;
    }
    scene_close(&s);
  }
  print_message("impacts, e %g, mu %g: %d of %d gain energy, at most %.2g of it\n", restitution,
                friction, *gains, *hits, largest);
  return largest;
}

/* Inelastic contact never gains.  Newton's law of restitution with friction may: the impulse that
 * reverses the normal velocity can do more work than the impact brought in.  Without friction it
 * cannot, but for a second corner that is about to close: it is only kept from passing. */
static void impacts_gain_nothing(void **state) {
  (void)state;
  int hits;
  int gains;
  assert_true(largest_gain(0, 0.5, &hits, &gains) < 1e-9);
  assert_true(largest_gain(0, 0, &hits, &gains) < 1e-9);
  assert_true(largest_gain(0.8, 0, &hits, &gains) < 1e-9);
  assert_true(largest_gain(1, 0, &hits, &gains) < 1e-3);
  (void)largest_gain(0.8, 0.5, &hits, &gains);
  assert_true(10 * gains < hits);
}

/* a pile comes to rest and never gains energy on the way */
static void pile_gains_nothing(void **state) {
  (void)state;
  scene s = scene_begin();
  rng r = rng_make(7);
  int32_t stuff = scene_material(&s, 0.5, 0);
  scene_plane(&s, 0, stuff);
  for (int i = 0; i < 10; ++i) {
    double x = rng_between(&r, -0.1, 0.1);
    double y = rng_between(&r, -0.1, 0.1);
    v3 at = v3_make(x, y, 0.3 + 0.3 * i);
    scene_box(&s, 1, v3_make(0.2, 0.15, 0.1), at, stuff);
  }
  scene_open(&s, NULL);
  double before = scene_energy(&s);
  double gain = 0;
  const int64_t steps = TEST_SHORT ? 1000 : 4000;
  for (int64_t k = 0; k < steps; ++k) {
    scene_run(&s, 1);
    double now = scene_energy(&s);
    gain = fmax(gain, now - before);
    before = now;
  }
  tabi_certificate c = tabi_world_certificate(s.world);
  double kinetic = tabi_world_energy(s.world).kinetic;
  print_message(
      "pile of 10: largest gain in a step %.2g J, at the end %.2g J kinetic, %d contacts\n", gain,
      kinetic, c.contacts);
  assert_true(gain < 1e-3);
  if (!TEST_SHORT) assert_true(kinetic < 1e-9);
  scene_close(&s);
}

/* A humanoid on the rubber of its feet sways for a long time; the floor bears its weight. */
static void humanoid_weighs(void **state) {
  (void)state;
  scene s = scene_begin();
  int32_t stuff = scene_material(&s, 0.7, 0);
  scene_plane(&s, 0, stuff);
  (void)scene_humanoid(&s, 0.64869739811465);
  scene_open(&s, NULL);
  scene_crouch(&s, 2000, 50, true);
  scene_run(&s, TEST_SHORT ? 1000 : 4000);
  double weight = tabi_model_mass(s.model) * GRAVITY;
  double noise = 0;
  double before = 0;
  double force = 0;
  for (int k = 0; k < 100; ++k) {
    scene_run(&s, 1);
    int32_t count;
    const tabi_contact *contact = tabi_world_contacts(s.world, &count);
    force = 0;
    for (int32_t i = 0; i < count; ++i)
      force += (contact[i].link_b == TABI_WORLD ? -1 : 1) * contact[i].impulse[2] / H;
    if (k > 0) noise = fmax(noise, fabs(force - before) / weight);
    before = force;
  }
  tabi_certificate c = tabi_world_certificate(s.world);
  print_message(
      "humanoid: force off by %.2g of the weight, noise %.2g; %d contacts, %d sweeps, gap "
      "%.2g m\n",
      force / weight - 1, noise, c.contacts, c.iterations, c.gap);
  assert_near(force / weight, 1, TEST_SHORT ? 1e-2 : 1e-4);
  assert_true(noise < 1e-3);
  scene_close(&s);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(stack_weighs),
      cmocka_unit_test(contacts_tell),
      cmocka_unit_test(impacts_keep_momentum),
      cmocka_unit_test(impacts_gain_nothing),
      cmocka_unit_test(pile_gains_nothing),
      cmocka_unit_test(humanoid_weighs),
      cmocka_unit_test(contact_wrench_balances),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

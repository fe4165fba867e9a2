/* test_impulse_energy.c - over more than 1000 random impacts at several points at once, impulse
 * never gives energy and always finds an answer, whatever e from 0 to 1 and mu from 0 to 1.
 *
 * Boxes, balls and chains of boxes on hinges are thrown at the ground and at each other.  Every
 * step with contact is judged at the place where it begins, by the energy that its impulses p give:
 * with u the velocities of the contacts after them, p'u - p' J M^-1 J' p / 2.  The published loop
 * makes the same steps from the same states. */
#include "support/near.h"
#include "support/rng.h"
#include "support/scene_build.h"

#include <string.h>

#define H 1e-3

enum { MOST_Q = 80, STEPS = 500, IMPACTS_EACH = 12 };

typedef struct count {
  int impacts, energy_limited, unsolved, gains, published_gains;
  double worst, worst_published; /* gain as a share of the energy before */
} count;

typedef struct trial {
  scene world, published;
  tabi_dynamics *dynamics;
  double weight;
} trial;

/* links on hinges, each 0.2 m from the next */
static void add_chain(scene *s, rng *r, v3 at, int32_t stuff) {
  v3 size = v3_make(0.16, 0, 0);
  size.y = rng_between(r, 0.04, 0.12);
  size.z = rng_between(r, 0.04, 0.12);
  v3 inertia = v3_make(0.002, 0.003, 0.003);
  int32_t link[5] = {scene_free(s, 1, inertia, at)};
  scene_shape(s, TABI_SHAPE_BOX, link[0], size, stuff);
  for (int i = 1; i < 5; ++i) {
    v3 axis = i % 2 ? v3_make(0, 1, 0) : v3_make(0, 0, 1);
    tabi_joint_def hinge = scene_hinge(TABI_JOINT_REVOLUTE, link[i - 1], v3_make(0.2, 0, 0), axis);
    hinge.initial_q[0] = rng_between(r, -1, 1);
    link[i] = scene_link(s, rng_between(r, 0.3, 1), v3_zero(), inertia, hinge);
    scene_shape(s, TABI_SHAPE_BOX, link[i], size, stuff);
    for (int k = 0; k < i; ++k)
      tabi_builder_add_exclusion(s->builder, link[i], link[k]);
  }
}

static void add_body(scene *s, rng *r, v3 at, int32_t stuff) {
  int kind = rng_below(r, 3);
  double mass = rng_between(r, 0.5, 3);
  if (kind == 0) {
    add_chain(s, r, at, stuff);
    return;
  }
  v3 size;
  size.x = rng_between(r, 0.1, 0.4);
  size.y = rng_between(r, 0.1, 0.4);
  size.z = rng_between(r, 0.1, 0.4);
  double moment = mass * 0.01;
  int32_t link = scene_free(s, mass, v3_make(moment, 1.2 * moment, 0.9 * moment), at);
  scene_shape(s, TABI_SHAPE_BOX, link, size, stuff);
  if (kind == 2) scene_shape(s, TABI_SHAPE_SPHERE, link, v3_make(0.12, 0, 0), stuff);
}

/* three things above each other; the same seed, the same scene */
static scene open_scene(uint64_t seed, bool paper) {
  rng r = rng_make(seed);
  scene s = scene_begin();
  double rebound = rng_unit(&r);
  double friction = rng_unit(&r);
  int32_t stuff = scene_material(&s, friction, seed % 10 == 0 ? 1 : rebound);
  scene_plane(&s, 0, stuff);
  for (int i = 0; i < 3; ++i)
    add_body(&s, &r, v3_make(0.1 * i, 0, 0.5 + 0.55 * i), stuff);
  tabi_world_def def = scene_def(&s);
  def.contact = paper ? TABI_CONTACT_IMPULSE_PAPER : TABI_CONTACT_IMPULSE;
  def.correction = 0;
  def.max_contacts = 100;
  scene_open(&s, &def);
  return s;
}

/* half of them land flat, the others turned at random */
static void throw_down(trial *t, uint64_t seed) {
  rng r = rng_make(seed + 1000000);
  const double *start = tabi_world_q(t->world.world);
  double q[MOST_Q];
  double v[MOST_Q];
  int32_t nv = tabi_model_nv(t->world.model);
  assert_true(tabi_model_nq(t->world.model) <= MOST_Q);
  memcpy(q, start, sizeof *q * (size_t)tabi_model_nq(t->world.model));
  rng_fill(&r, 1, v, nv);
  for (int32_t j = 0; j < tabi_model_njoint(t->world.model); ++j) {
    tabi_range at_q = tabi_model_joint_q(t->world.model, j);
    tabi_range at_v = tabi_model_joint_v(t->world.model, j);
    if (at_q.count != 7) continue;
    double turn[3];
    rng_fill(&r, 2, turn, 3);
    if (seed % 2 == 0) q_store(q_exp(v3_load(turn)), q + at_q.first + 3);
    if (seed % 2 == 1) memset(v + at_v.first, 0, 6 * sizeof *v);
    v[at_v.first + 2] = -1 - 2 * q[at_q.first + 2];
  }
  assert_int_equal(tabi_world_set_state(t->world.world, q, v, NULL), TABI_OK);
}

/* adds J' p of an impulse on a link to the joint forces */
static void add_push(const tabi_dynamics *d, int32_t nv, int32_t link, const double *point,
                     v3 impulse, double *tau) {
  double jacobian[3 * MOST_Q];
  if (link == TABI_WORLD) return;
  tabi_dynamics_point_jacobian(d, link, point, jacobian);
  for (int32_t k = 0; k < nv; ++k) {
    tau[k] +=
        jacobian[k] * impulse.x + jacobian[nv + k] * impulse.y + jacobian[2 * nv + k] * impulse.z;
  }
}

/* what the impulses of the last step of a world gave, as a share of the kinetic energy before */
static double gain_of(trial *t, const scene *s, const double *q, const double *v) {
  int32_t nv = tabi_model_nv(s->model);
  int32_t n;
  double tau[MOST_Q] = {0};
  double still[MOST_Q];
  double pushed[MOST_Q];
  double gain = 0;
  const tabi_contact *contact = tabi_world_contacts(s->world, &n);
  tabi_dynamics_set_state(t->dynamics, q, v);
  for (int32_t i = 0; i < n; ++i) {
    v3 impulse = v3_load(contact[i].impulse);
    gain += v3_dot(impulse, v3_load(contact[i].velocity));
    add_push(t->dynamics, nv, contact[i].link_b, contact[i].point, impulse, tau);
    add_push(t->dynamics, nv, contact[i].link_a, contact[i].point, v3_neg(impulse), tau);
  }
  tabi_dynamics_forward(t->dynamics, NULL, still);
  tabi_dynamics_forward(t->dynamics, tau, pushed);
  for (int32_t k = 0; k < nv; ++k)
    gain -= 0.5 * tau[k] * (pushed[k] - still[k]);
  return gain / tabi_dynamics_kinetic(t->dynamics);
}

static bool is_impact(const trial *t) {
  int32_t n;
  const tabi_contact *contact = tabi_world_contacts(t->world.world, &n);
  double sum = 0;
  for (int32_t i = 0; i < n; ++i)
    sum += v3_norm(v3_load(contact[i].impulse));
  return sum > 10 * t->weight * H;
}

/* one step; true: an impact at two points or more */
static bool judge_step(trial *t, count *all) {
  double q[MOST_Q];
  double v[MOST_Q];
  memcpy(q, tabi_world_q(t->world.world), sizeof *q * (size_t)tabi_model_nq(t->world.model));
  memcpy(v, tabi_world_v(t->world.world), sizeof *v * (size_t)tabi_model_nv(t->world.model));
  scene_run(&t->world, 1);
  tabi_certificate c = tabi_world_certificate(t->world.world);
  if (c.contacts == 0) return false;
  double gain = gain_of(t, &t->world, q, v);
  all->worst = fmax(all->worst, gain);
  all->gains += gain > 1e-9;
  if (c.contacts < 2 || !is_impact(t)) return false;
  ++all->impacts;
  all->energy_limited += c.energy_limited;
  all->unsolved += !c.converged;
  assert_int_equal(tabi_world_set_state(t->published.world, q, v, NULL), TABI_OK);
  scene_run(&t->published, 1);
  gain = gain_of(t, &t->published, q, v);
  all->worst_published = fmax(all->worst_published, gain);
  all->published_gains += gain > 1e-9;
  return true;
}

static void impacts_gain_nothing(void **state) {
  (void)state;
  count all = {0};
  for (uint64_t seed = 0; all.impacts < 1000; ++seed) {
    trial t = {open_scene(seed, false), open_scene(seed, true), NULL, 0};
    t.dynamics = tabi_dynamics_create(t.world.model, NULL);
    assert_non_null(t.dynamics);
    t.weight = tabi_model_mass(t.world.model) * GRAVITY;
    throw_down(&t, seed);
    int impacts = 0;
    for (int k = 0; k < STEPS && impacts < IMPACTS_EACH; ++k)
      impacts += judge_step(&t, &all);
    scene_close(&t.world);
    tabi_dynamics_destroy(t.dynamics);
    scene_close(&t.published);
  }
  print_message("%d impacts: energy rule acted in %d, unsolved %d; largest gain of a step "
                "%.2g\n",
                all.impacts, all.energy_limited, all.unsolved, all.worst);
  print_message("published loop: %d gain energy, the worst %.3g times what there was\n",
                all.published_gains, all.worst_published);
  assert_int_equal(all.gains, 0);
  assert_true(all.energy_limited > 0);
  assert_int_equal(all.unsolved, 0);
  assert_true(all.published_gains > 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(impacts_gain_nothing)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
